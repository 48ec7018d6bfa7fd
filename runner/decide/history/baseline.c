/* Baselines other than the nights before the range: the first nights, the best level, or a certain
 * revision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "decide/history/analysis.h"
#include "stats/levels.h"

#define DAY_S 86400

static bool is_pinned(const struct tk_analysis *c, const struct tk_point *p)
{
	const struct tk_revision_row *revision = tk_catalog_find_revision(&c->catalog, p->build_id);

	for (size_t i = 0; revision && i < c->options.baseline_revision_count; i++)
		if (c->options.baseline_revisions[i] == revision->id)
			return true;
	return false;
}

static size_t points_max(const struct tk_analysis *c)
{
	return c->options.window > TK_LEVEL_POINTS_MAX ? c->options.window : TK_LEVEL_POINTS_MAX;
}

static double level_of(const struct tk_timed_value *at, size_t from, size_t to, double *work)
{
	size_t first = to - from > TK_LEVEL_POINTS_MAX ? to - TK_LEVEL_POINTS_MAX : from;

	for (size_t i = first; i < to; i++)
		work[i - first] = log(at[i].value);
	return tk_level_estimate(work, to - first);
}

/* A history split by change points. */
struct levels {
	double *values; /* also work space */
	int64_t *days;
	struct tk_changepoint *found;
	size_t count;
};

static void free_levels(struct levels *l)
{
	free(l->values);
	free(l->days);
	free(l->found);
}

static void split_levels(const struct tk_timed_value *at, size_t n, struct levels *out)
{
	out->values = tk_calloc(n + 1, sizeof *out->values);
	out->days = tk_calloc(n + 1, sizeof *out->days);
	for (size_t i = 0; i < n; i++) {
		out->values[i] = at[i].value;
		out->days[i] = at[i].as_of_s / DAY_S;
	}
	tk_changepoint_find(out->values, out->days, n, NULL, &out->found, &out->count);
}

/* The best level, points [*from, *to). One night alone is not a level if there are others. */
static void find_best(const struct tk_timed_value *at, size_t n, bool lower, struct levels *l,
        size_t *from, size_t *to)
{
	double best = NAN;

	*from = 0;
	*to = n;
	for (size_t i = 0; i <= l->count; i++) {
		const size_t first = i ? l->found[i - 1].index : 0,
		             end = i < l->count ? l->found[i].index : n;

		if (end == first || (end - first < 2 && n > 1))
			continue;

		const double level = level_of(at, first, end, l->values);

		if (isnan(best) || (lower ? level < best : level > best)) {
			best = level;
			*from = first;
			*to = end;
		}
	}
}

/* Reads two numbers a night of the whole history, and full points only of the best level. */
static int read_best(struct tk_analysis *c, const struct tk_series_case *k, int64_t before_s,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows all = {0};
	struct levels levels = {0};
	size_t from = 0, to = 0, skip = 0, most = points_max(c);
	int status = tk_store_list_values(c->catalog.store, k->series->id, before_s, &all, err);
	const struct tk_timed_value *at = all.rows;

	if (status)
		return status;
	split_levels(at, all.count, &levels);
	find_best(at, all.count, k->series->better != TK_BETTER_HIGHER, &levels, &from, &to);
	if (to > from) {
		while (to + skip < all.count && at[to + skip].as_of_s == at[to - 1].as_of_s)
			skip++;
		most = to - from < most ? to - from : most;
		status = tk_store_list_last_points(
		        c->catalog.store, k->series->id, at[to - 1].as_of_s, skip, most, out, err);
	}
	free_levels(&levels);
	tk_rows_free(&all);
	return status;
}

static int read_pinned(struct tk_analysis *c, const struct tk_series_case *k, int64_t before_s,
        struct tk_rows *out, struct tk_error *err)
{
	size_t n = 0;
	int status = tk_store_list_points(c->catalog.store, k->series->id, INT64_MIN, 0, out, err);
	struct tk_point *p = out->rows;

	for (size_t i = 0; !status && i < out->count; i++)
		if (p[i].as_of_s < before_s && isfinite(p[i].value) && p[i].value > 0 &&
		        is_pinned(c, &p[i]))
			p[n++] = p[i];
	out->count = n;
	return status;
}

/* History, baseline, range, one behind the other: the first for the noise, the others for the
 * levels. */
static int arrange(struct tk_series_case *k, const struct tk_rows *baseline, struct tk_error *err)
{
	size_t within = k->count - k->range, count = k->range + baseline->count + within;
	struct tk_point *points = tk_malloc(count * (sizeof *points + 3 * sizeof *k->y));

	memcpy(points, k->points, k->range * sizeof *points);
	memcpy(points + k->range, baseline->rows, baseline->count * sizeof *points);
	memcpy(points + k->range + baseline->count, k->points + k->range, within * sizeof *points);
	k->points = k->owned_points = points;
	k->y = (double *)(void *)(points + count);
	k->adjusted_y = k->y + count;
	k->se = k->adjusted_y + count;
	k->base = k->range;
	k->range += baseline->count;
	k->count = count;
	tk_series_case_compute_logs(k);
	return TK_OK;
}

int tk_series_case_set_baseline(
        struct tk_analysis *c, struct tk_series_case *k, struct tk_error *err)
{
	struct tk_rows points = {0};
	int64_t before_s = k->points[k->range].as_of_s;
	int status = c->options.baseline == TK_BASELINE_PINNED
	                     ? read_pinned(c, k, before_s, &points, err)
	             : c->options.baseline == TK_BASELINE_BEST
	                     ? read_best(c, k, before_s, &points, err)
	                     : tk_store_list_first_points(c->catalog.store, k->series->id, before_s,
	                               c->options.window ? c->options.window : 1, &points, err);

	k->lacks_baseline = !status && !points.count;
	if (!status && points.count)
		status = arrange(k, &points, err);
	tk_rows_free(&points);
	return status;
}
