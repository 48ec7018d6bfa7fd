/* Points of all series for ranges that move forward in time: see point_reader.h. */
#include "store/query/point_reader.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/db/id_map.h"
#include "store/db/internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 32  /* points that are read at once */
#define BEHIND 16 /* that are kept although no range has asked for them: machines take turns */

#define NEXT_POINTS \
	TK_SELECT_POINTS \
	"WHERE series_id=?1 AND as_of_s>=?2 AND (as_of_s>?2 OR run_id>?3) " \
	"ORDER BY as_of_s, run_id LIMIT ?4"

struct stretch {
	struct tk_point *at;        /* by (as_of_s, run_id), without a gap */
	struct tk_point_logs *logs; /* of the first `log_count` points */
	size_t count, capacity, log_count, log_capacity;
	bool is_read;   /* something of it, or that there is nothing */
	bool has_first; /* the oldest point of the series is in it, or there is none */
	bool has_last;
	bool has_others; /* points without a positive value have been read */
};

struct tk_point_reader {
	struct tk_id_map index; /* series id -> 1 + place in `series` */
	struct stretch *series;
	size_t count, capacity;
	struct tk_store_readers *connections; /* NULL: none yet */
};

struct tk_point_reader *tk_point_reader_new(void)
{
	return tk_calloc(1, sizeof(struct tk_point_reader));
}

void tk_point_reader_free(struct tk_point_reader *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		free(p->series[i].at);
		free(p->series[i].logs);
	}
	free(p->series);
	tk_id_map_free(&p->index);
	tk_store_readers_free(p->connections);
	free(p);
}

static int no_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while reading the history");
}

static struct tk_point *add_point(struct stretch *s)
{
	if (s->count == s->capacity) {
		const size_t capacity = s->capacity + s->capacity / 2 + AHEAD;
		s->at = tk_realloc(s->at, capacity * sizeof *s->at);
		s->capacity = capacity;
	}
	return memset(&s->at[s->count++], 0, sizeof *s->at);
}

static int find_stretch(
        struct tk_point_reader *p, int64_t series_id, struct stretch **out, struct tk_error *err)
{
	const int64_t known = tk_id_map_get(&p->index, series_id);

	if (known) {
		*out = &p->series[known - 1];
		return TK_OK;
	}
	if (p->count == p->capacity) {
		const size_t capacity = p->capacity ? 2 * p->capacity : 64;
		struct stretch *grown = tk_realloc(p->series, capacity * sizeof *grown);

		if (!grown)
			return no_memory(err);
		p->series = grown;
		p->capacity = capacity;
	}
	TRY(tk_id_map_set(&p->index, series_id, (int64_t)p->count + 1, err));
	p->series[p->count] = (struct stretch){0};
	*out = &p->series[p->count++];
	return TK_OK;
}

static bool has_logarithm(const struct tk_point *p)
{
	return p->value > 0 && p->value < INFINITY;
}

/* The range, and what is before it. */
static int read_first(struct tk_store *s, const struct tk_window_query *w, int64_t series_id,
        struct stretch *out, struct tk_error *err)
{
	const int64_t args[] = {series_id, w->until_s};
	size_t before = 0;
	sqlite3_stmt *q;
	int rc = SQLITE_DONE, status = tk_db_prepare_args(s, TK_POINTS_NEWEST_FIRST,
	                              TK_ARGS(args[0], args[1]), &q, err);

	if (status)
		return status;
	while (before < w->before && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct tk_point *p = add_point(out);

		if (!p) {
			status = no_memory(err);
			break;
		}
		tk_point_read(q, series_id, p);
		out->has_others |= !has_logarithm(p);
		before += p->as_of_s < w->since_s;
	}
	if (!status && rc != SQLITE_DONE && rc != SQLITE_ROW)
		status = tk_db_fail(s, rc, err, "cannot read the points of a series");
	sqlite3_reset(q);
	tk_points_reverse(out->at, out->count);
	out->is_read = true;
	out->has_first = rc == SQLITE_DONE && before < w->before;
	return status;
}

/* Forgets what no range will ask for. */
static void drop_old(struct stretch *s, const struct tk_window_query *w)
{
	size_t older = 0, drop;

	while (older < s->count && s->at[older].as_of_s < w->since_s)
		older++;
	drop = older > w->before + BEHIND ? older - w->before - BEHIND : 0;
	if (drop) {
		memmove(s->at, s->at + drop, (s->count - drop) * sizeof *s->at);
		memmove(s->logs, s->logs + drop, (s->count - drop) * sizeof *s->logs);
		s->count -= drop;
		s->log_count = s->count;
		s->has_first = false;
	}
}

static int read_next(
        struct tk_store *s, int64_t series_id, struct stretch *out, struct tk_error *err)
{
	const struct tk_point *last = out->count ? &out->at[out->count - 1] : NULL;
	const int64_t args[] = {series_id, last ? last->as_of_s : INT64_MIN,
	        last ? last->run_id : INT64_MIN, AHEAD};
	size_t count = 0;
	sqlite3_stmt *q;
	int rc, status = tk_db_prepare_args(
	                s, NEXT_POINTS, TK_ARGS(args[0], args[1], args[2], args[3]), &q, err);

	if (status)
		return status;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct tk_point *p = add_point(out);

		if (!p) {
			status = no_memory(err);
			break;
		}
		tk_point_read(q, series_id, p);
		out->has_others |= !has_logarithm(p);
		count++;
	}
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot read the points of a series");
	sqlite3_reset(q);
	out->has_last = count < AHEAD;
	return status;
}

struct tk_point_logs tk_point_find_logs(const struct tk_point *p)
{
	const bool has_interval = p->lo > 0 && p->hi >= p->lo && isfinite(p->hi);

	return (struct tk_point_logs){log(p->value), has_interval ? log(p->hi / p->lo) : 0};
}

static int find_logs(struct stretch *s, struct tk_error *err)
{
	if (s->count > s->log_capacity) {
		struct tk_point_logs *grown = tk_realloc(s->logs, s->capacity * sizeof *grown);

		if (!grown)
			return no_memory(err);
		s->logs = grown;
		s->log_capacity = s->capacity;
	}
	for (; s->log_count < s->count; s->log_count++)
		s->logs[s->log_count] = tk_point_find_logs(&s->at[s->log_count]);
	return TK_OK;
}

static bool is_read_up_to(const struct stretch *s, int64_t until_s)
{
	return s->is_read && (s->has_last || (s->count && s->at[s->count - 1].as_of_s > until_s));
}

static int read_up_to_end(struct tk_store *s, const struct tk_window_query *w, int64_t series_id,
        struct stretch *out, struct tk_error *err)
{
	int status = out->is_read ? TK_OK : read_first(s, w, series_id, out, err);

	if (!status)
		status = find_logs(out, err);
	while (!status && !is_read_up_to(out, w->until_s)) {
		drop_old(out, w);
		status = read_next(s, series_id, out, err);
		if (!status)
			status = find_logs(out, err);
	}
	return status;
}

int tk_point_reader_add(struct tk_point_reader *p, int64_t series_id, struct tk_error *err)
{
	struct stretch *unused;

	return find_stretch(p, series_id, &unused, err);
}

bool tk_point_reader_has(const struct tk_window_query *w, int64_t series_id)
{
	const int64_t known = tk_id_map_get(&w->reader->index, series_id);

	return known && is_read_up_to(&w->reader->series[known - 1], w->until_s);
}

struct tk_store_readers *tk_point_reader_connections(
        struct tk_point_reader *p, const struct tk_store *s)
{
	if (!p->connections)
		p->connections = tk_store_readers_new(s);
	return p->connections;
}

int tk_point_reader_find(struct tk_store *s, const struct tk_window_query *w, int64_t series_id,
        struct tk_point_span *out, struct tk_error *err)
{
	struct stretch *stretch = NULL;
	size_t end, within = 0, most;
	int status = find_stretch(w->reader, series_id, &stretch, err);

	if (!status)
		status = read_up_to_end(s, w, series_id, stretch, err);
	if (status)
		return status;
	end = stretch->count;
	while (end && stretch->at[end - 1].as_of_s > w->until_s)
		end--;
	while (within < end && stretch->at[end - 1 - within].as_of_s >= w->since_s)
		within++;
	most = tk_window_before_max(w, within);
	*out = (struct tk_point_span){.within = within,
	        .before = end - within < most ? end - within : most,
	        .all_positive = !stretch->has_others};
	out->is_known = stretch->has_first || (end > within && out->before == most);
	out->at = stretch->at + end - within - out->before;
	out->logs = stretch->logs + end - within - out->before;
	return TK_OK;
}
