/* One series in an analysis: its names, points, and the baseline that they are compared with. */
#include <math.h>

#include "base/base.h"
#include "decide/internal.h"
#include "stats/levels.h"
#include "store/store.h"

#define DAY_S INT64_C(86400)
#define REACH_S (120 * DAY_S) /* of history before a step: what its level is estimated from */
#define INTERVAL_TO_SE 3.92   /* a 95 % interval is 2 * 1.96 standard errors wide */

bool tk_series_case_find_names(
        const struct tk_catalog *c, int64_t series_id, struct tk_series_case *k)
{
	k->series = tk_id_table_find(&c->series, series_id);
	k->device = k->series ? tk_id_table_find(&c->devices, k->series->device_id) : NULL;
	k->machine = k->device ? tk_id_table_find(&c->machines, k->device->machine_id) : NULL;
	k->upstream = k->series ? tk_id_table_find(&c->upstreams, k->series->upstream_id) : NULL;
	k->problem = k->series ? tk_id_table_find(&c->problems, k->series->problem_id) : NULL;
	return k->machine && k->upstream && k->problem;
}

bool tk_series_case_is_chosen(const struct tk_series_case *k, const struct tk_diff_range *range)
{
	const struct tk_filter_fields fields = tk_series_case_filter_fields(k);

	return tk_filter_match(range->filters, &fields) &&
	       !tk_filter_match_any(range->ignored, &fields);
}

void tk_series_case_compute_logs(struct tk_series_case *k)
{
	const struct tk_point_logs *known = k->window && !k->owned_points && k->window->logs
	                                            ? k->window->logs + k->skipped
	                                            : NULL;

	for (size_t i = 0; i < k->count; i++) {
		const struct tk_point_logs logs =
		        known ? known[i] : tk_point_find_logs(&k->points[i]);

		k->adjusted_y[i] = k->y[i] = logs.value;
		k->se[i] = logs.interval / INTERVAL_TO_SE;
	}
}

bool tk_series_case_has_timing(const struct tk_series_case *k, const struct tk_run_summary *run)
{
	const size_t skipped = k->owned_points ? 0 : k->skipped;

	for (size_t i = k->count + skipped; run->run_id && i-- > 0;)
		if ((k->points - skipped)[i].run_id == run->run_id)
			return true;
	for (size_t i = k->zero_count; run->run_id && i-- > 0;)
		if (k->zeros[i].run_id == run->run_id)
			return true;
	return false;
}

static const char *text(const char *s)
{
	return s ? s : "";
}

struct tk_filter_fields tk_series_case_filter_fields(const struct tk_series_case *k)
{
	return (struct tk_filter_fields){
	        .backend = text(k->series->backend),
	        .problem = text(k->problem->text),
	        .title = text(k->problem->title),
	        .op = text(k->problem->op),
	        .dtype = text(k->problem->dtype),
	        .device = text(k->device->slug),
	        .device_name = text(k->device->name),
	        .machine = text(k->machine->name),
	        .upstream = text(k->upstream->name),
	        .metric = text(k->series->metric),
	        .mode = text(k->series->mode),
	        .config = text(k->series->config),
	        .role = tk_series_role_name(k->series->role),
	        .series = text(k->series->slug),
	};
}

/* Memory of its own for `count` points and three numbers for each. */
static struct tk_point *own_points(struct tk_series_case *k, size_t count)
{
	struct tk_point *owned = tk_malloc((count + 1) * (sizeof *owned + 3 * sizeof *k->y));

	k->points = k->owned_points = owned;
	k->y = (double *)(void *)(owned + count + 1);
	k->adjusted_y = k->y + count;
	k->se = k->adjusted_y + count;
	return owned;
}

static bool has_logarithm(const struct tk_point *p)
{
	return isfinite(p->value) && p->value > 0;
}

int tk_series_case_extend_history(
        struct tk_analysis *c, struct tk_series_case *k, int64_t at_s, struct tk_error *err)
{
	AUTO(tk_rows) points = {0};

	if (!k->range || k->owned_points || k->points[0].as_of_s <= at_s)
		return TK_OK;

	const int64_t last_s = k->points[k->count - 1].as_of_s,
	              range_s = k->points[k->range].as_of_s;
	TRY(tk_store_list_points(c->catalog.store, k->series->id, at_s - REACH_S, 0, &points, err));
	struct tk_point *owned = own_points(k, points.count);

	k->count = 0;
	for (size_t i = 0; i < points.count; i++) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, i);

		if (!has_logarithm(p) || p->as_of_s > last_s)
			continue;
		if (k->count && tk_point_is_new_version(owned[k->count - 1].flags, p->flags))
			k->count = 0;
		owned[k->count++] = *p;
	}
	tk_series_case_compute_logs(k);
	for (k->range = 0; k->range < k->count && owned[k->range].as_of_s < range_s;)
		k->range++;
	k->earlier = k->range;
	if (k->range == k->count) /* another process has removed the points of the range */
		k->range = 0;
	tk_level_find_baseline(k->y, k->range, &k->base);
	return TK_OK;
}

/* ---- baselines other than the nights before the range ---------------------------------------- */

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

/* The best level of a history that is split by change points, points [*from, *to). One night alone
 * is not a level if there are others. */
static void find_best(
        const struct tk_timed_value *at, size_t n, bool lower, size_t *from, size_t *to)
{
	double *values = tk_calloc(n + 1, sizeof *values), best = NAN;
	int64_t *days = tk_calloc(n + 1, sizeof *days);
	struct tk_changepoint *found;
	size_t count;

	for (size_t i = 0; i < n; i++) {
		values[i] = at[i].value;
		days[i] = at[i].as_of_s / DAY_S;
	}
	tk_changepoint_find(values, days, n, TK_CHANGEPOINT_MIN_EFFECT, &found, &count);
	*from = 0;
	*to = n;
	for (size_t i = 0; i <= count; i++) {
		const size_t first = i ? found[i - 1].index : 0,
		             end = i < count ? found[i].index : n;

		if (end == first || (end - first < 2 && n > 1))
			continue;

		const double level = level_of(at, first, end, values);

		if (isnan(best) || (lower ? level < best : level > best)) {
			best = level;
			*from = first;
			*to = end;
		}
	}
	free(values);
	free(days);
	free(found);
}

/* Reads two numbers a night of the whole history, and full points only of the best level. */
static int read_best(struct tk_analysis *c, const struct tk_series_case *k, int64_t before_s,
        struct tk_rows *out, struct tk_error *err)
{
	AUTO(tk_rows) all = {0};
	size_t from, to, skip = 0, most = points_max(c);
	TRY(tk_store_list_values(c->catalog.store, k->series->id, before_s, &all, err));
	const struct tk_timed_value *at = all.rows;

	find_best(at, all.count, k->series->better != TK_BETTER_HIGHER, &from, &to);
	if (to == from)
		return TK_OK;
	while (to + skip < all.count && at[to + skip].as_of_s == at[to - 1].as_of_s)
		skip++;
	return tk_store_list_last_points(c->catalog.store, k->series->id, at[to - 1].as_of_s, skip,
	        to - from < most ? to - from : most, out, err);
}

static int read_pinned(struct tk_analysis *c, const struct tk_series_case *k, int64_t before_s,
        struct tk_rows *out, struct tk_error *err)
{
	size_t n = 0;
	TRY(tk_store_list_points(c->catalog.store, k->series->id, INT64_MIN, 0, out, err));
	struct tk_point *p = out->rows;

	for (size_t i = 0; i < out->count; i++)
		if (p[i].as_of_s < before_s && has_logarithm(&p[i]) && is_pinned(c, &p[i]))
			p[n++] = p[i];
	out->count = n;
	return TK_OK;
}

/* History, baseline, range, one behind the other: the first for the noise, the others for the
 * levels. */
static void arrange(struct tk_series_case *k, const struct tk_rows *baseline)
{
	const struct tk_point *old = k->points;
	const size_t before = k->range, within = k->count - k->range;

	k->count += baseline->count;
	struct tk_point *points = own_points(k, k->count);

	memcpy(points, old, before * sizeof *points);
	memcpy(points + before, baseline->rows, baseline->count * sizeof *points);
	memcpy(points + before + baseline->count, old + before, within * sizeof *points);
	k->base = before;
	k->range += baseline->count;
	tk_series_case_compute_logs(k);
}

int tk_series_case_set_baseline(
        struct tk_analysis *c, struct tk_series_case *k, struct tk_error *err)
{
	AUTO(tk_rows) points = {0};
	const int64_t before_s = k->points[k->range].as_of_s;

	if (c->options.baseline == TK_BASELINE_PINNED)
		TRY(read_pinned(c, k, before_s, &points, err));
	else if (c->options.baseline == TK_BASELINE_BEST)
		TRY(read_best(c, k, before_s, &points, err));
	else
		TRY(tk_store_list_first_points(c->catalog.store, k->series->id, before_s,
		        c->options.window ? c->options.window : 1, &points, err));
	k->lacks_baseline = !points.count;
	if (points.count)
		arrange(k, &points);
	return TK_OK;
}
