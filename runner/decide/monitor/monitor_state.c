/* The state of the monitor as numbers, for the next night: written and read by the same code. */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/serializer.h"
#include "decide/monitor/monitor_internal.h"

#define NIGHTS_MAX ((size_t)1 << 24) /* more cannot be a state */

static int64_t *column_at(struct monitored_series *s, size_t i, size_t offset)
{
	return (int64_t *)(void *)((char *)point_at(s, i) + offset);
}

/* A column of the points, as runs of equal differences: most nights are a day after the one before,
 * in the same environment. */
static void serialize_column(struct monitored_series *s, size_t offset, struct tk_serializer *io)
{
	int64_t last = 0;

	for (size_t i = first_kept_point(s), count; i < s->n && !io->failed; i += count) {
		int64_t by = io->reading ? 0 : *column_at(s, i, offset) - last;

		for (count = 1; !io->reading && i + count < s->n; count++)
			if (*column_at(s, i + count, offset) -
			                *column_at(s, i + count - 1, offset) !=
			        by)
				break;
		tk_serialize_int(io, &by);
		tk_serialize_size(io, &count, s->n - i);
		io->failed |= !count;
		for (size_t k = 0; !io->failed && k < count; k++)
			*column_at(s, i + k, offset) = last += by;
	}
}

/* Only the adjusted values that differ from the values, each with its number. */
static void serialize_adjusted(struct monitored_series *s, struct tk_serializer *io)
{
	size_t left = 0;

	for (size_t i = first_kept_point(s); i < s->n; i++) {
		left += point_at(s, i)->adjusted != point_at(s, i)->y;
		if (io->reading)
			point_at(s, i)->adjusted = point_at(s, i)->y;
	}
	tk_serialize_size(io, &left, WINDOW);
	for (size_t i = first_kept_point(s); left && i < s->n && !io->failed; i++, left--) {
		while (!io->reading && i + 1 < s->n &&
		        point_at(s, i)->adjusted == point_at(s, i)->y)
			i++;
		tk_serialize_size(io, &i, s->n - 1);
		io->failed |= i < first_kept_point(s);
		if (!io->failed)
			tk_serialize_double(io, &point_at(s, i)->adjusted);
	}
}

static void serialize_points(struct monitored_series *s, struct tk_serializer *io)
{
	for (size_t i = first_kept_point(s); i < s->n; i++)
		tk_serialize_double(io, &point_at(s, i)->y);
	serialize_adjusted(s, io);
	serialize_column(s, offsetof(struct point, at), io);
	serialize_column(s, offsetof(struct point, day), io);
	serialize_column(s, offsetof(struct point, environment), io);
}

static void serialize_steps(struct monitored_series *s, struct tk_serializer *io)
{
	tk_serialize_size(io, &s->step_count, NIGHTS_MAX);
	for (size_t i = first_kept_step(s); i < s->step_count && !io->failed; i++) {
		tk_serialize_int(io, &s->steps[i % REMEMBERED_STEPS].day);
		tk_serialize_double(io, &s->steps[i % REMEMBERED_STEPS].change);
	}
	tk_serialize_size(io, &s->alarm_count, NIGHTS_MAX);
	tk_serialize_int(io, &s->alarm_first);
	tk_serialize_int(io, &s->alarm_last_good);
}

static int serialize_series(
        struct tk_monitor *m, struct monitored_series *s, struct tk_serializer *io)
{
	tk_serialize_size(io, &s->n, NIGHTS_MAX);
	if (!io->failed && io->reading && !tk_monitor_reserve(m, s, s->n))
		return TK_ENOMEM;
	if (io->reading && !io->failed && s->points)
		memset(s->points, 0, s->capacity * sizeof *s->points);
	serialize_points(s, io);
	serialize_steps(s, io);
	return io->failed ? TK_EDATA : tk_level_monitor_serialize(s->model, s->n, io);
}

/* Number i of the series: the next one of a state that is read. *out NULL: this is not a state. */
static int find_series(struct tk_monitor *m, size_t i, struct tk_serializer *io,
        struct monitored_series **out, struct tk_error *err)
{
	int64_t id = io->reading ? 0 : m->series[i].id;

	*out = NULL;
	tk_serialize_int(io, &id);
	if (io->failed)
		return TK_OK;
	if (!io->reading)
		*out = &m->series[i];
	else if (!tk_monitor_find_series(m, id))
		return tk_monitor_add_series(m, id, out, err);
	return TK_OK;
}

/* Writing fails for want of memory only. */
static int not_a_state(const struct tk_serializer *io, struct tk_error *err)
{
	return io->reading ? tk_fail(err, TK_EDATA, "the stored state of the monitor is damaged")
	                   : tk_monitor_out_of_memory(err);
}

int tk_monitor_serialize(struct tk_monitor *m, struct tk_serializer *io, struct tk_error *err)
{
	size_t count = m->count;

	tk_serialize_size(io, &count, (size_t)TK_MONITOR_SERIES_MAX);
	for (size_t i = 0; !io->failed && i < count; i++) {
		struct monitored_series *s;
		int status = find_series(m, i, io, &s, err);

		if (status)
			return status;
		status = s ? serialize_series(m, s, io) : TK_EDATA;
		if (status)
			return status == TK_ENOMEM ? tk_monitor_out_of_memory(err)
			                           : not_a_state(io, err);
	}
	if (io->failed || (io->reading && count && io->next != io->count))
		return not_a_state(io, err);
	return TK_OK;
}
