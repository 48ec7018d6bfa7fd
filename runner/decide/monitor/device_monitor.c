/* One device, up to one night: see device_monitor.h. */
#include "decide/monitor/device_monitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/serializer.h"
#include "decide/monitor/monitor.h"
#include "decide/monitor/monitor_session.h"
#include "stats/summary.h"

#define DAY_S 86400
#define EQUAL_VALUES 1e-9 /* relative difference */

/* A point of the history in the order of time. */
struct timed_point {
	int64_t as_of_s, night_id, run_id;
	struct tk_monitor_point point;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while monitoring series");
}

static bool environments_differ(void *context, int64_t a, int64_t b)
{
	char changed[300];
	bool hard;

	tk_catalog_diff_environments(context, a, b, changed, sizeof changed, &hard);
	return hard;
}

static int new_monitor(struct tk_device_monitor *d, struct tk_error *err)
{
	const struct tk_monitor_options o = {.min_effect = d->set->options.min_effect,
	        .fdr = d->set->options.fdr,
	        .differ = environments_differ,
	        .context = d->set->scope.catalog ? d->set->scope.catalog : &d->set->catalog};

	return tk_monitor_new(&o, &d->monitor, err);
}

static void drop_monitor(struct tk_device_monitor *d)
{
	tk_monitor_free(d->monitor);
	d->monitor = NULL;
}

/* ---- nights ---- */

/* Nights of the machine in ]after_s, until_s]. */
static size_t count_nights(const struct tk_device_monitor *d, int64_t after_s, int64_t until_s)
{
	const struct tk_rows *nights = &d->set->catalog.nights.rows;
	size_t count = 0;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		count += n->machine_id == d->night->machine_id && n->as_of_s > after_s &&
		         n->as_of_s <= until_s;
	}
	return count;
}

/* Sorted here: the catalog lists nights by their start, not by the time that they measure. */
static int find_rebuild_start(
        const struct tk_device_monitor *d, int64_t *from_s, struct tk_error *err)
{
	const struct tk_rows *nights = &d->set->catalog.nights.rows;
	double *times = tk_malloc((nights->count + 1) * sizeof *times);
	size_t count = 0;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == d->night->machine_id && n->as_of_s < d->night->as_of_s)
			times[count++] = (double)n->as_of_s;
	}
	tk_sort_values(times, count);
	*from_s = count > TK_MONITOR_REBUILD_NIGHTS
	                  ? (int64_t)times[count - TK_MONITOR_REBUILD_NIGHTS]
	                  : INT64_MIN;
	free(times);
	return TK_OK;
}

static int by_night(const void *a, const void *b)
{
	const struct tk_monitored_night_row *x = a, *y = b;

	return (x->night_id > y->night_id) - (x->night_id < y->night_id);
}

bool tk_monitored_nights_contain(const struct tk_rows *nights, int64_t night_id)
{
	const struct tk_monitored_night_row key = {.night_id = night_id};

	return nights->count && bsearch(&key, nights->rows, nights->count, sizeof key, by_night);
}

/* ---- events ---- */

int tk_event_list_add(struct tk_event_list *list, const struct tk_monitor_event_row *event)
{
	if (list->count == list->capacity) {
		const size_t capacity = list->capacity ? 2 * list->capacity : 16;
		list->at = tk_realloc(list->at, capacity * sizeof *list->at);
		list->capacity = capacity;
	}
	list->at[list->count++] = *event;
	return TK_OK;
}

static int take_events(struct tk_device_monitor *d, const struct tk_monitor_events *events,
        int64_t night_id, int64_t as_of_s, struct tk_error *err)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct tk_monitor_event *e = &events->at[i];
		const struct tk_monitor_event_row row = {.series_id = e->series,
		        .night_id = night_id,
		        .as_of_s = as_of_s,
		        .kind = e->kind,
		        .first_after_s = e->first,
		        .last_before_s = e->last_good,
		        .before_value = e->before,
		        .after_value = e->after,
		        .log_lr = e->log_lr,
		        .q = e->q};

		if (tk_event_list_add(&d->events, &row))
			return out_of_memory(err);
	}
	return TK_OK;
}

/* ---- points ---- */

/* All points of one night. `work` has room for `count` points. */
static int add_night(struct tk_device_monitor *d, const struct timed_point *m, size_t count,
        struct tk_monitor_point *work, struct tk_error *err)
{
	struct tk_monitor_events events = {0};
	struct tk_monitored_night_row *grown =
	        tk_realloc(d->nights, (d->night_count + 1) * sizeof *grown);
	int status;

	d->nights = grown;
	d->nights[d->night_count++] = (struct tk_monitored_night_row){m->night_id, (int64_t)count};
	for (size_t i = 0; i < count; i++)
		work[i] = m[i].point;
	status = tk_monitor_add_night(d->monitor, work, count, &events, err);
	if (!status)
		status = take_events(d, &events, m->night_id, m->as_of_s, err);
	tk_monitor_events_free(&events);
	return status;
}

static struct timed_point timed_point(const struct tk_point *p)
{
	return (struct timed_point){.as_of_s = p->as_of_s,
	        .night_id = p->night_id,
	        .run_id = p->run_id,
	        .point = {
	                p->series_id, p->value, p->as_of_s, p->as_of_s / DAY_S, p->environment_id}};
}

static int by_time(const void *a, const void *b)
{
	const struct timed_point *x = a, *y = b;

	if (x->as_of_s != y->as_of_s)
		return x->as_of_s < y->as_of_s ? -1 : 1;
	if (x->point.series != y->point.series)
		return x->point.series < y->point.series ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

/* Those of a night mostly are already: by series. */
static void sort_by_time(struct timed_point *m, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (by_time(&m[i - 1], &m[i]) > 0) {
			qsort(m, count, sizeof *m, by_time);
			return;
		}
}

/* Appends the points of a series before tonight. *capacity: of *list. */
static int append_points(const struct tk_device_monitor *d, const struct tk_rows *points,
        struct timed_point **list, size_t *count, size_t *capacity)
{
	if (*count + points->count > *capacity) {
		const size_t wanted = *count + points->count + *capacity / 2;
		*list = tk_realloc(*list, wanted * sizeof **list);
		*capacity = wanted;
	}
	for (size_t i = 0; i < points->count; i++) {
		const struct tk_point *p = TK_ROWS_AT(points, struct tk_point, i);

		if (p->as_of_s < d->night->as_of_s)
			(*list)[(*count)++] = timed_point(p);
	}
	return TK_OK;
}

/* Points of the device since a time, before tonight. Caller frees *out, in any case. */
static int read_points(const struct tk_device_monitor *d, int64_t since_s, struct timed_point **out,
        size_t *count, struct tk_error *err)
{
	const struct tk_rows *series = &d->set->catalog.series.rows;
	size_t capacity = 0;
	int status = TK_OK;

	*out = NULL;
	*count = 0;
	for (size_t i = 0; !status && i < series->count; i++) {
		const struct tk_series_row *s = TK_ROWS_AT(series, struct tk_series_row, i);
		struct tk_rows points;

		if (s->device_id != d->device_id)
			continue;
		status = tk_store_list_points(
		        d->set->catalog.store, s->id, since_s, 0, &points, err);
		if (status)
			break;
		if (append_points(d, &points, out, count, &capacity))
			status = out_of_memory(err);
		tk_rows_free(&points);
	}
	return status;
}

/* Adds the nights since a time up to tonight that the monitor has not seen. */
static int catch_up(struct tk_device_monitor *d, int64_t since_s, struct tk_error *err)
{
	struct timed_point *m = NULL;
	struct tk_monitor_point *work;
	size_t count = 0;
	int status = read_points(d, since_s, &m, &count, err);
	work = tk_malloc((count + 1) * sizeof *work);
	if (!status && !work)
		status = out_of_memory(err);
	if (!status)
		sort_by_time(m, count);
	for (size_t i = 0, next; !status && i < count; i = next) {
		for (next = i; next < count && m[next].as_of_s == m[i].as_of_s; next++)
			;
		status = add_night(d, m + i, next - i, work, err);
	}
	free(work);
	free(m);
	return status;
}

/* ---- tonight ---- */

bool tk_device_monitor_is_tonight(
        const struct tk_night_row *night, const struct tk_series_case *k, const struct tk_point *p)
{
	return p->as_of_s == night->as_of_s && p->night_id == night->id && !k->owned_points;
}

static bool is_tonight(
        const struct tk_device_monitor *d, const struct tk_series_case *k, const struct tk_point *p)
{
	return k->device->id == d->device_id && tk_device_monitor_is_tonight(d->night, k, p);
}

/* The first of its points that may be of tonight: they are by time. */
static size_t first_of_tonight(const struct tk_device_monitor *d, const struct tk_series_case *k)
{
	size_t first = k->count;

	while (first && k->points[first - 1].as_of_s >= d->night->as_of_s)
		first--;
	return first;
}

static int add_tonight(struct tk_device_monitor *d, struct tk_error *err)
{
	size_t count = 0;
	struct timed_point *m = tk_malloc((d->set->point_count + 1) * sizeof *m);
	struct tk_monitor_point *work = tk_malloc((d->set->point_count + 1) * sizeof *work);
	int status = TK_OK;

	for (size_t i = 0; !status && i < d->set->count; i++) {
		const struct tk_series_case *k = &d->set->at[i];

		if (k->device->id != d->device_id)
			continue;
		for (size_t j = first_of_tonight(d, k); j < k->count; j++)
			if (is_tonight(d, k, &k->points[j]))
				m[count++] = timed_point(&k->points[j]);
	}
	if (!status && count) {
		sort_by_time(m, count);
		status = add_night(d, m, count, work, err);
	}
	free(m);
	free(work);
	return status;
}

/* The monitor has seen the night before, with the points that it has now. */
static bool has_seen_tonight(const struct tk_device_monitor *d)
{
	for (size_t i = 0; i < d->set->count; i++) {
		const struct tk_series_case *k = &d->set->at[i];
		const struct tk_point *p = k->count ? &k->points[k->count - 1] : NULL;
		int64_t at;
		double value;

		if (!p || !is_tonight(d, k, p))
			continue;
		if (!tk_monitor_find_last_point(d->monitor, k->series->id, &at, &value) ||
		        at != p->as_of_s || fabs(value / p->value - 1) > EQUAL_VALUES)
			return false;
	}
	return true;
}

/* ---- the stored state ---- */

/* It is of this history and of these options. */
static bool fits(const struct tk_device_monitor *d, const struct tk_monitor_state_row *row)
{
	return strcmp(row->options, d->options) == 0 &&
	       count_nights(d, INT64_MIN, row->as_of_s) == (size_t)row->nights;
}

/* Sets d->monitor if a replay has kept it. *as_of_s: its night. */
static bool take_kept(struct tk_device_monitor *d, int64_t *as_of_s)
{
	struct tk_kept_monitor *kept = tk_kept_monitors_find(d->set->scope.monitors, d->device_id);

	if (!kept)
		return false;
	d->monitor = kept->monitor;
	kept->monitor = NULL;
	*as_of_s = kept->state.as_of_s;
	return true;
}

/* Of a night that does not change it. */
static void give_back(struct tk_device_monitor *d)
{
	struct tk_kept_monitor *kept = tk_kept_monitors_find(d->set->scope.monitors, d->device_id);

	if (kept && !kept->monitor) {
		kept->monitor = d->monitor;
		d->monitor = NULL;
	}
	drop_monitor(d);
}

/* Sets d->monitor if the stored state can be used. *as_of_s: its night. */
static int resume(struct tk_device_monitor *d, int64_t *as_of_s, struct tk_error *err)
{
	struct tk_monitor_state_row row = {0};
	struct tk_serializer io = {.reading = true};
	struct tk_error why = {0};
	int status = tk_store_read_monitor_state(d->set->catalog.store, d->device_id, &row, &why);
	*as_of_s = status ? INT64_MIN : row.as_of_s;
	io.at = (double *)row.numbers;
	io.count = row.count;
	if (!status && fits(d, &row)) {
		status = new_monitor(d, err);
		if (!status && tk_monitor_serialize(d->monitor, &io, &why))
			drop_monitor(d);
	} else if (status) {
		status = status == TK_ENOTFOUND ? TK_OK : tk_fail(err, status, "%s", why.message);
	}
	free((void *)row.options);
	free((void *)row.numbers);
	return status;
}

static int rebuild(struct tk_device_monitor *d, struct tk_error *err)
{
	int status = find_rebuild_start(d, &d->from_s, err);

	drop_monitor(d);
	d->is_rebuilt = true;
	if (!status)
		status = new_monitor(d, err);
	return status ? status : catch_up(d, d->from_s, err);
}

/* The night is not the newest: its stored events hold, if there are any. */
static int use_stored_events(struct tk_device_monitor *d, struct tk_error *err)
{
	struct tk_rows nights = {0};
	int status = tk_store_list(
	        d->set->catalog.store, TK_TABLE_monitored_night, NULL, TK_NO_ARGS, &nights, err);
	d->is_monitored = !status && tk_monitored_nights_contain(&nights, d->night->id);
	tk_rows_free(&nights);
	give_back(d);
	return status;
}

int tk_device_monitor_run(struct tk_device_monitor *d, struct tk_error *err)
{
	int64_t known_s;
	int status = take_kept(d, &known_s) ? TK_OK : resume(d, &known_s, err);

	if (status)
		return status;
	d->is_monitored = true;
	if (known_s > d->night->as_of_s ||
	        (d->monitor && known_s == d->night->as_of_s && has_seen_tonight(d)))
		return use_stored_events(d, err);
	if (!d->monitor || known_s == d->night->as_of_s)
		status = rebuild(d, err);
	else if (count_nights(d, known_s, d->night->as_of_s - 1))
		status = catch_up(d, known_s + 1, err);
	return status ? status : add_tonight(d, err);
}

int tk_device_monitor_save(struct tk_device_monitor *d, struct tk_store *s, struct tk_error *err)
{
	const struct tk_monitor_state_row row = {.device_id = d->device_id,
	        .as_of_s = d->night->as_of_s,
	        .nights = (int64_t)count_nights(d, INT64_MIN, d->night->as_of_s),
	        .options = d->options};
	int status =
	        d->is_rebuilt ? tk_store_reset_monitor(s, d->device_id, d->from_s, err) : TK_OK;

	for (size_t i = 0; !status && i < d->night_count; i++)
		status = tk_store_put(s, TK_TABLE_monitored_night, &d->nights[i], NULL, err);
	for (size_t i = 0; !status && i < d->events.count; i++)
		status = tk_store_put(s, TK_TABLE_monitor_event, &d->events.at[i], NULL, err);
	if (status)
		return status;
	if (!d->set->scope.monitors)
		return tk_monitor_store_state(d->monitor, &row, s, err);
	status = tk_kept_monitors_put(d->set->scope.monitors, &row, d->monitor, err);
	if (!status)
		d->monitor = NULL;
	return status;
}

void tk_device_monitor_free(struct tk_device_monitor *d)
{
	tk_monitor_free(d->monitor);
	free(d->events.at);
	free(d->nights);
}
