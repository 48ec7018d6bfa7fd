/* Where like devices share the problems: which of them measures which.
 *
 * A problem stays on the device that has series of it, so that they go on. What is new goes, the longest first, to the
 * device that has least to do. How long it will take is not known, only estimated: that decides how evenly they are at
 * work, nothing else. */
#include "base/error.h"
#include "nightly/night.h"
#include "nightly/plan.h"
#include "problem/problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of all backends together: setting up and verifying; what is made, uploaded and looked at; some 25 bursts with rests
 * of seven times their length, 100 ms at most. The numbers fit what the core suites took on an H200 with four backends.
 */
double tk_plan_seconds(const struct tk_problem_spec *p)
{
	const char *type = tk_problem_dtype_word(p);
	bool wide = strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0;
	double launch_s = tk_problem_flops(p) / (wide ? 5e13 : 8e14), seconds = 0.6;
	seconds += tk_problem_bytes(p) / 1e9 + 25 * fmin(8 * launch_s, launch_s + 0.1);
	return isfinite(seconds) ? seconds : 0.6;
}

bool tk_night_alike(const struct tk_night_device *a, const struct tk_night_device *b)
{
	json_t *x = json_object_get(a->info, "name"), *y = json_object_get(b->info, "name");
	return a->layer == b->layer && json_equal(x, y) &&
	       json_equal(json_object_get(a->info, "arch"), json_object_get(b->info, "arch"));
}

/* mine[device * count + problem]: the device has a series of the problem. */
static int mark_measured(
        struct tk_night *n, const struct tk_plan_problem *p, size_t count, bool *mine, struct tk_error *err)
{
	struct tk_rows all = {0};
	int status = tk_store_all_series(n->store, &all, err);
	for (size_t i = 0; status == TK_OK && i < all.count; i++) {
		const struct tk_series_row *r = TK_ROWS_AT(&all, struct tk_series_row, i);
		for (size_t d = 0; d < n->device_count; d++)
			for (size_t k = 0; n->devices[d].device_id == r->device_id && k < count; k++)
				mine[d * count + k] |= p[k].id == r->problem_id && strcmp(r->role, "suite") == 0;
	}
	tk_rows_free(&all);
	return status;
}

/* Of the devices like `first`, those that have the problem where there are any, the one with least to do; it alone
 * keeps the problem. */
static void give(
        const struct tk_night *n, size_t first, size_t problem, size_t count, double seconds, double *load, bool *mine)
{
	size_t to = n->device_count;
	for (size_t d = first; d < n->device_count; d++) {
		if (!tk_night_alike(&n->devices[first], &n->devices[d]))
			continue;
		bool has = mine[d * count + problem], best_has = to < n->device_count && mine[to * count + problem];
		if (to == n->device_count || has > best_has || (has == best_has && load[d] < load[to]))
			to = d;
	}
	for (size_t d = first; d < n->device_count; d++)
		if (tk_night_alike(&n->devices[first], &n->devices[d]))
			mine[d * count + problem] = d == to;
	load[to] += seconds;
}

static int longest_first(const void *a, const void *b)
{
	const struct tk_plan_problem *const *x = a, *const *y = b;
	if ((*x)->seconds != (*y)->seconds)
		return (*x)->seconds < (*y)->seconds ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static bool measured(const struct tk_night *n, size_t first, size_t problem, size_t count, const bool *mine)
{
	bool any = false;
	for (size_t d = first; d < n->device_count; d++)
		any |= mine[d * count + problem] && tk_night_alike(&n->devices[first], &n->devices[d]);
	return any;
}

/* All devices like `first`: what is measured already, then what is new. */
static void share_among(const struct tk_night *n, size_t first, const struct tk_plan_problem *problems,
        const struct tk_plan_problem *const *order, size_t count, double *load, bool *mine, bool *old)
{
	for (size_t i = 0; i < count; i++)
		old[i] = measured(n, first, i, count, mine);
	for (int turn = 1; turn >= 0; turn--)
		for (size_t i = 0; i < count; i++) {
			size_t problem = (size_t)(order[i] - problems);
			if (old[problem] == (turn == 1))
				give(n, first, problem, count, order[i]->seconds, load, mine);
		}
}

int tk_plan_share(
        struct tk_night *n, const struct tk_plan_problem *problems, size_t count, bool *mine, struct tk_error *err)
{
	const struct tk_plan_problem **order = calloc(count + 1, sizeof *order);
	double *load = calloc(n->device_count + 1, sizeof *load);
	bool *old = calloc(count + 1, sizeof *old);
	int status = order && load && old ? mark_measured(n, problems, count, mine, err)
	                                  : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; status == TK_OK && i < count; i++)
		order[i] = &problems[i];
	if (status == TK_OK)
		qsort(order, count, sizeof *order, longest_first);
	for (size_t d = 0; status == TK_OK && d < n->device_count; d++) {
		bool seen = false; /* with one before it */
		for (size_t before = 0; before < d; before++)
			seen |= tk_night_alike(&n->devices[before], &n->devices[d]);
		if (!seen)
			share_among(n, d, problems, order, count, load, mine, old);
	}
	free(order);
	free(load);
	free(old);
	return status;
}
