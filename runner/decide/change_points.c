/* Change points of the whole history of a series, with what caused them as far as is known. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "decide/night.h"
#include "stats/levels.h"
#include "store/readers.h"

#define DAY_S 86400
#define SERIES_AT_ONCE 512 /* whose points are in memory */
#define SERIES_PER_PART 8  /* at least: a thread is not worth it for fewer */

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while searching change points");
}

static int find_cause(struct tk_catalog *c, const struct tk_point *good, const struct tk_point *bad,
        const char *backend, enum tk_cause *cause, struct tk_error *err)
{
	const bool environment = good->environment_id != bad->environment_id;
	bool same;
	int status = tk_catalog_is_same_code(c, good->build_id, bad->build_id, backend, &same, err);

	if (!status && same)
		*cause = environment ? TK_CAUSE_ENVIRONMENT : TK_CAUSE_UNKNOWN;
	else if (!status)
		*cause = environment ? TK_CAUSE_CODE_OR_ENVIRONMENT : TK_CAUSE_CODE;
	return status;
}

static int store(struct tk_store *s, struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_rows *points, const struct tk_changepoint *found, size_t count,
        struct tk_error *err)
{
	struct tk_change_point_row *rows = tk_calloc(count + 1, sizeof *rows);
	int status = TK_OK;

	for (size_t i = 0; !status && i < count; i++) {
		const struct tk_point *bad = TK_ROWS_AT(points, struct tk_point, found[i].index),
		                      *good = bad - 1;
		enum tk_cause cause = TK_CAUSE_UNKNOWN;

		status = find_cause(c, good, bad, series->backend, &cause, err);
		rows[i] = (struct tk_change_point_row){.series_id = series->id,
		        .as_of_s = bad->as_of_s,
		        .run_id = bad->run_id,
		        .previous_run_id = good->run_id,
		        .before_value = found[i].before,
		        .after_value = found[i].after,
		        .change_lo = found[i].lo,
		        .change_hi = found[i].hi,
		        .p = found[i].p,
		        .cause = cause,
		        .confidence = 1 - found[i].p,
		        .detail = "{}"};
	}
	if (!status)
		status = tk_store_replace_change_points(s, series->id, rows, count, err);
	free(rows);
	return status;
}

/* A series, and what was found in it. */
struct search {
	const struct tk_series_row *series;
	struct tk_rows points;
	struct tk_changepoint *found;
	size_t count;
	bool is_read;
};

/* One thread reads and searches some of them. */
struct searches {
	struct search *at;
	struct tk_store_readers *readers;
	double min_effect;
	struct tk_parallel_failure failure;
};

static bool search(struct search *f, double min_effect)
{
	const struct tk_rows *points = &f->points;
	struct tk_changepoint_options o = tk_changepoint_defaults;
	double *values = tk_calloc(points->count + 1, sizeof *values);
	int64_t *days = tk_calloc(points->count + 1, sizeof *days);
	bool ok = values && days;

	o.min_effect = min_effect;
	for (size_t i = 0; ok && i < points->count; i++) {
		values[i] = TK_ROWS_AT(points, struct tk_point, i)->value;
		days[i] = TK_ROWS_AT(points, struct tk_point, i)->as_of_s / DAY_S;
	}
	tk_changepoint_find(values, days, points->count, &o, &f->found, &f->count);
	free(days);
	free(values);
	return ok;
}

static int read_points(struct tk_store *s, struct search *f, struct tk_error *err)
{
	int status = tk_store_list_points(s, f->series->id, INT64_MIN, 0, &f->points, err);

	f->is_read = !status;
	return status;
}

static int read_and_search(
        struct tk_store *s, struct search *f, double min_effect, struct tk_error *err)
{
	int status = f->is_read ? TK_OK : read_points(s, f, err);

	if (!status && !search(f, min_effect))
		status = out_of_memory(err);
	return status;
}

/* Without a connection of its own, a thread leaves its series to the caller. */
static void search_part(void *arg, int64_t first, int64_t count)
{
	struct searches *f = arg;
	struct tk_store *s = tk_store_readers_take(f->readers);
	struct tk_error err = {0};
	int status = TK_OK;

	for (int64_t i = first; s && !status && i < first + count; i++)
		status = read_and_search(s, &f->at[i], f->min_effect, &err);
	tk_parallel_set_failure(&f->failure, status, &err);
	tk_store_readers_give(f->readers, s);
}

static int store_found(
        struct tk_store *s, struct tk_catalog *c, struct search *f, struct tk_error *err)
{
	int status = store(s, c, f->series, &f->points, f->found, f->count, err);

	free(f->found);
	tk_rows_free(&f->points);
	*f = (struct search){.series = f->series};
	return status;
}

static void free_searches(struct search *at, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(at[i].found);
		tk_rows_free(&at[i].points);
	}
}

int tk_detect_change_points(struct tk_store *s, struct tk_catalog *c,
        const struct tk_series_row *series, double min_effect, struct tk_error *err)
{
	struct search one = {.series = series};
	int status = read_and_search(s, &one, min_effect, err);

	if (!status)
		status = store_found(s, c, &one, err);
	free_searches(&one, 1);
	return status;
}

/* Searches together, and stores in turn. */
static int search_some(struct tk_store *s, struct tk_catalog *c, struct searches *f, size_t count,
        struct tk_error *err)
{
	int status;

	tk_parallel_for((int64_t)count, SERIES_PER_PART, search_part, f);
	status = tk_parallel_get_failure(&f->failure, err);
	for (size_t i = 0; !status && i < count; i++) {
		if (!f->at[i].is_read)
			status = read_and_search(s, &f->at[i], f->min_effect, err);
		if (!status)
			status = store_found(s, c, &f->at[i], err);
	}
	free_searches(f->at, count);
	return status;
}

int tk_detect_all_change_points(
        struct tk_store *s, struct tk_catalog *c, double min_effect, struct tk_error *err)
{
	const struct tk_rows *series = &c->series.rows;
	struct search some[SERIES_AT_ONCE];
	struct searches f = {
	        .at = some, .readers = tk_store_readers_new(s), .min_effect = min_effect};
	int status = TK_OK;

	for (size_t i = 0, count; !status && i < series->count; i += count) {
		const size_t left = series->count - i;

		count = left < SERIES_AT_ONCE ? left : SERIES_AT_ONCE;
		for (size_t j = 0; j < count; j++)
			some[j] = (struct search){
			        .series = TK_ROWS_AT(series, struct tk_series_row, i + j)};
		status = search_some(s, c, &f, count, err);
	}
	tk_store_readers_free(f.readers);
	return status;
}
