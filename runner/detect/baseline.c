/* Another baseline than the nights before the range: the first ones, the best level, or a certain revision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/case.h"
#include "stats/changepoint.h"

struct choice {
	const struct tk_point **at; /* of the points before the range, in the order of time */
	size_t count;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while choosing a baseline");
}

static bool is_pinned(const struct tk_cases *c, const struct tk_point *p)
{
	const struct tk_revision_row *revision = tk_catalog_revision(&c->catalog, p->build_id);

	for (size_t i = 0; revision && i < c->options.baseline_revision_count; i++)
		if (c->options.baseline_revisions[i] == revision->id)
			return true;
	return false;
}

static double median_of(const struct choice *all, size_t from, size_t to, double *work)
{
	for (size_t i = from; i < to; i++)
		work[i - from] = log(all->at[i]->value);
	return tk_level(work, to - from);
}

/* The best of the levels that change points make of the history; one night alone is no level where there are others. */
static int take_best(struct choice *all, bool lower, double *values, int64_t *days, struct tk_error *err)
{
	struct tk_changepoint *found = NULL;
	size_t count = 0, best = 0, best_end = all->count;
	double level = NAN;

	for (size_t i = 0; i < all->count; i++) {
		values[i] = all->at[i]->value;
		days[i] = all->at[i]->as_of_s / 86400;
	}
	if (tk_changepoints(values, days, all->count, NULL, &found, &count))
		return out_of_memory(err);
	for (size_t i = 0; i <= count; i++) {
		size_t from = i ? found[i - 1].index : 0, to = i < count ? found[i].index : all->count;
		double here = to > from ? median_of(all, from, to, values) : NAN;

		if (to - from < 2 && all->count > 1)
			continue;
		if (isnan(level) || (lower ? here < level : here > level)) {
			level = here;
			best = from;
			best_end = to;
		}
	}
	free(found);
	memmove(all->at, all->at + best, (best_end - best) * sizeof(*all->at));
	all->count = best_end - best;
	return TK_OK;
}

static int choose(struct tk_cases *c, const struct tk_case *k, struct choice *all, struct tk_error *err)
{
	size_t window = c->options.window ? c->options.window : 1, n = 0;
	double *values;
	int64_t *days;
	int rc;

	if (c->options.baseline == TK_BASELINE_FIRST) {
		all->count = all->count < window ? all->count : window;
		return TK_OK;
	}
	if (c->options.baseline == TK_BASELINE_PINNED) {
		for (size_t i = 0; i < all->count; i++)
			if (is_pinned(c, all->at[i]))
				all->at[n++] = all->at[i];
		all->count = n;
		return TK_OK;
	}
	values = calloc(all->count + 1, sizeof *values);
	days = calloc(all->count + 1, sizeof *days);
	rc = values && days ? take_best(all, strcmp(k->series->better, "higher") != 0, values, days, err)
	                    : out_of_memory(err);
	free(values);
	free(days);
	return rc;
}

/* History, baseline, range, one behind the other: the first for the noise, the others for the levels. */
static int arrange(struct tk_case *k, const struct choice *baseline, struct tk_error *err)
{
	size_t within = k->count - k->range, count = k->range + baseline->count + within;
	struct tk_point *points = malloc(count * (sizeof *points + 3 * sizeof *k->y));

	if (!points)
		return out_of_memory(err);
	memcpy(points, k->points, k->range * sizeof *points);
	for (size_t i = 0; i < baseline->count; i++)
		points[k->range + i] = *baseline->at[i];
	memcpy(points + k->range + baseline->count, k->points + k->range, within * sizeof *points);
	k->points = k->own_points = points;
	k->y = (double *)(void *)(points + count);
	k->net = k->y + count;
	k->se = k->net + count;
	k->base = k->range;
	k->range += baseline->count;
	k->count = count;
	tk_case_take_logarithms(k);
	return TK_OK;
}

int tk_case_set_baseline(struct tk_cases *c, struct tk_case *k, struct tk_error *err)
{
	struct choice all = {0};
	struct tk_rows points;
	int rc = tk_store_points(c->catalog.store, k->series->id, INT64_MIN, 0, &points, err);

	if (rc)
		return rc;
	all.at = calloc(points.count + 1, sizeof(*all.at));
	for (size_t i = 0; all.at && i < points.count; i++) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, i);

		if (p->as_of_s < k->points[k->range].as_of_s && isfinite(p->value) && p->value > 0)
			all.at[all.count++] = p;
	}
	rc = all.at ? choose(c, k, &all, err) : out_of_memory(err);
	k->unpinned = !rc && !all.count;
	if (!rc && all.count)
		rc = arrange(k, &all, err);
	free(all.at);
	tk_rows_free(&points);
	return rc;
}
