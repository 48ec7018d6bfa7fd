/* The points of one case. */
#include "decide/history/series_case.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "decide/history/analysis.h"
#include "store/point_logs.h"

#define DAY_S INT64_C(86400)
#define REACH_S (120 * DAY_S) /* of history before a step: what its level is estimated from */
#define INTERVAL_TO_SE 3.92   /* a 95 % interval is 2 * 1.96 standard errors wide */

void tk_series_case_compute_logs(struct tk_series_case *k)
{
	const struct tk_point_logs *known = k->window && !k->owned_points ? k->window->logs : NULL;

	for (size_t i = 0; i < k->count; i++) {
		const struct tk_point_logs logs =
		        known ? known[i] : tk_point_find_logs(&k->points[i]);

		k->adjusted_y[i] = k->y[i] = logs.value;
		k->se[i] = logs.interval / INTERVAL_TO_SE;
	}
}

bool tk_series_case_has_timing(const struct tk_series_case *k, const struct tk_run_summary *run)
{
	for (size_t i = k->count; run->run_id && i-- > 0;)
		if (k->points[i].run_id == run->run_id)
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

/* Takes `owned`, memory for `count` points and three numbers for each. */
static void use_points(struct tk_series_case *k, struct tk_point *owned, size_t count)
{
	k->points = k->owned_points = owned;
	k->y = (double *)(void *)(owned + count);
	k->adjusted_y = k->y + count;
	k->se = k->adjusted_y + count;
	k->count = count;
	tk_series_case_compute_logs(k);
}

/* Copies the points with a positive value up to a time. Returns how many there are. */
static size_t copy_points(const struct tk_rows *points, int64_t last_s, struct tk_point *to)
{
	size_t count = 0;

	for (size_t i = 0; i < points->count; i++) {
		const struct tk_point *p = TK_ROWS_AT(points, struct tk_point, i);

		if (isfinite(p->value) && p->value > 0 && p->as_of_s <= last_s)
			to[count++] = *p;
	}
	return count;
}

int tk_series_case_extend_history(
        struct tk_analysis *c, struct tk_series_case *k, int64_t at_s, struct tk_error *err)
{
	struct tk_rows points;
	struct tk_point *owned;

	if (!k->range || k->owned_points || k->points[0].as_of_s <= at_s)
		return TK_OK;

	const int64_t last_s = k->points[k->count - 1].as_of_s,
	              range_s = k->points[k->range].as_of_s;
	TRY(tk_store_list_points(c->catalog.store, k->series->id, at_s - REACH_S, 0, &points, err));
	owned = tk_malloc((points.count + 1) * (sizeof *owned + 3 * sizeof *k->y));
	use_points(k, owned, copy_points(&points, last_s, owned));
	tk_rows_free(&points);
	for (k->range = 0; k->range < k->count && owned[k->range].as_of_s < range_s;)
		k->range++;
	k->earlier = k->range;
	if (k->range == k->count) /* another process has removed the points of the range */
		k->range = 0;
	tk_level_find_baseline(k->y, k->range, &k->base);
	return TK_OK;
}
