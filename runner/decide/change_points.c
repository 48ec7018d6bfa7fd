/* Change points of the whole history of a series, with what caused them as far as is known. */
#include "base/base.h"
#include "decide/internal.h"
#include "stats/levels.h"
#include "store/store.h"

#define DAY_S 86400
#define YOUNG_POINTS 20
#define SERIES_AT_ONCE 512 /* whose points are in memory */
#define SERIES_PER_PART 8  /* at least: a thread is not worth it for fewer */

/* A series, and what was found in it. */
struct search {
	const struct tk_series_row *series;
	struct tk_rows points;
	struct tk_changepoint *found;
	size_t count;
	bool is_done;
};

/* One thread reads and searches some of them. */
struct searches {
	struct search *at;
	struct tk_store_readers *readers;
	double min_effect;
};

static enum tk_cause find_cause(const struct tk_catalog *c, const struct tk_point *good,
        const struct tk_point *bad, const char *backend)
{
	const bool environment = good->environment_id != bad->environment_id;

	if (tk_catalog_is_same_code(c, good->build_id, bad->build_id, backend))
		return environment ? TK_CAUSE_ENVIRONMENT : TK_CAUSE_UNKNOWN;
	return environment ? TK_CAUSE_CODE_OR_ENVIRONMENT : TK_CAUSE_CODE;
}

/* The points of one version of a benchmark, from `first` on. */
static void search_version(struct search *f, const double *values, const int64_t *days,
        size_t first, size_t n, double min_effect)
{
	struct tk_changepoint *found;
	size_t count;

	tk_changepoint_find(values, days, n, min_effect, &found, &count);
	f->found = tk_reallocarray(f->found, f->count + count + 1, sizeof *f->found);
	for (size_t i = 0; i < count; i++) {
		found[i].index += first;
		f->found[f->count++] = found[i];
	}
	free(found);
}

static int read_and_search(
        struct tk_store *s, struct search *f, double min_effect, struct tk_error *err)
{
	TRY(tk_store_list_points(s, f->series->id, INT64_MIN, 0, &f->points, err));

	const struct tk_point *points = f->points.rows;
	double *values = tk_calloc(f->points.count + 1, sizeof *values);
	int64_t *days = tk_calloc(f->points.count + 1, sizeof *days);

	for (size_t i = 0; i < f->points.count; i++) {
		values[i] = points[i].value;
		days[i] = points[i].as_of_s / DAY_S;
	}
	for (size_t i = 0, end; i < f->points.count; i = end) {
		for (end = i + 1;
		        end < f->points.count &&
		        !tk_point_is_new_version(points[end - 1].flags, points[end].flags);)
			end++;
		search_version(f, values + i, days + i, i, end - i, min_effect);
	}
	f->is_done = true;
	free(days);
	free(values);
	return TK_OK;
}

/* Where a night reported that the level of a young series changed; SIZE_MAX: it did not. A step
 * from 0 has no size. */
static size_t find_reported(const struct search *f, const struct tk_verdict_row *v)
{
	const bool is_change =
	        (v->status == TK_VERDICT_REGRESSED || v->status == TK_VERDICT_IMPROVED) &&
	        v->rule != TK_RULE_ZERO;

	for (size_t i = 1; is_change && i < f->points.count; i++)
		if (TK_ROWS_AT(&f->points, struct tk_point, i)->run_id == v->first_bad_run_id)
			return i;
	return SIZE_MAX;
}

/* A search over all points needs many of them; what nights reported of a young series, with the
 * noise of its device, counts as well. */
static int add_reported(struct tk_catalog *c, struct search *f, struct tk_error *err)
{
	for (size_t i = 1; i < f->points.count && f->points.count < YOUNG_POINTS; i++) {
		const struct tk_point *point = TK_ROWS_AT(&f->points, struct tk_point, i);
		AUTO(tk_rows) verdicts = {0};
		TRY(tk_store_find_verdict(
		        c->store, point->night_id, f->series->id, &verdicts, err));

		const struct tk_verdict_row *v = verdicts.rows;
		const size_t at = verdicts.count ? find_reported(f, v) : SIZE_MAX;
		bool is_known = at == SIZE_MAX;

		for (size_t k = 0; k < f->count; k++)
			is_known |= f->found[k].index + 1 >= at && f->found[k].index <= at + 1;
		if (is_known)
			continue;
		f->found = tk_reallocarray(f->found, f->count + 1, sizeof *f->found);
		f->found[f->count++] = (struct tk_changepoint){.index = at,
		        .before = v->before_value,
		        .after = v->after_value,
		        .lo = v->change_lo,
		        .hi = v->change_hi,
		        .p = v->p};
	}
	return TK_OK;
}

/* Stores what was found, and frees it. */
static int store(struct tk_catalog *c, struct search *f, struct tk_error *err)
{
	const int reported = add_reported(c, f, err);
	struct tk_change_point_row *rows = tk_calloc(f->count + 1, sizeof *rows);

	for (size_t i = 0; i < f->count; i++) {
		const struct tk_changepoint *found = &f->found[i];
		const struct tk_point *bad = TK_ROWS_AT(&f->points, struct tk_point, found->index),
		                      *good = bad - 1;

		rows[i] = (struct tk_change_point_row){.series_id = f->series->id,
		        .as_of_s = bad->as_of_s,
		        .run_id = bad->run_id,
		        .previous_run_id = good->run_id,
		        .before_value = found->before,
		        .after_value = found->after,
		        .change_lo = found->lo,
		        .change_hi = found->hi,
		        .p = found->p,
		        .cause = find_cause(c, good, bad, f->series->backend),
		        .confidence = 1 - found->p,
		        .detail = "{}"};
	}
	const int status = reported ? reported
	                            : tk_store_replace_change_points(
	                                      c->store, f->series->id, rows, f->count, err);

	free(rows);
	free(f->found);
	tk_rows_free(&f->points);
	return status;
}

int tk_detect_change_points(struct tk_catalog *c, const struct tk_series_row *series,
        double min_effect, struct tk_error *err)
{
	struct search one = {.series = series};

	TRY(read_and_search(c->store, &one, min_effect, err));
	return store(c, &one, err);
}

/* What a thread cannot read with a connection of its own, it leaves to the caller. */
static void search_part(void *arg, int64_t first, int64_t count)
{
	struct searches *f = arg;
	struct tk_store *s = tk_store_readers_take(f->readers);
	struct tk_error unused;

	for (int64_t i = first; s && i < first + count; i++)
		read_and_search(s, &f->at[i], f->min_effect, &unused);
	tk_store_readers_give(f->readers, s);
}

/* Searches together, and stores in turn. */
static int search_some(struct tk_catalog *c, struct searches *f, size_t count, struct tk_error *err)
{
	int status = TK_OK;

	tk_parallel_for((int64_t)count, SERIES_PER_PART, search_part, f);
	for (size_t i = 0; i < count; i++) { /* after a failure, the rest is freed only */
		if (!status && !f->at[i].is_done)
			status = read_and_search(c->store, &f->at[i], f->min_effect, err);
		if (!status)
			status = store(c, &f->at[i], err);
		else
			free(f->at[i].found), tk_rows_free(&f->at[i].points);
	}
	return status;
}

int tk_detect_all_change_points(struct tk_catalog *c, double min_effect, struct tk_error *err)
{
	const struct tk_rows *series = &c->series.rows;
	struct search some[SERIES_AT_ONCE];
	struct searches f = {
	        .at = some, .readers = tk_store_readers_new(c->store), .min_effect = min_effect};
	int status = TK_OK;

	for (size_t i = 0, count; !status && i < series->count; i += count) {
		for (count = 0; count < SERIES_AT_ONCE && i + count < series->count; count++)
			some[count] = (struct search){
			        .series = TK_ROWS_AT(series, struct tk_series_row, i + count)};
		status = search_some(c, &f, count, err);
	}
	tk_store_readers_free(f.readers);
	return status;
}
