/* Where like devices share the problems: which of them measures which.
 *
 * A problem stays on the device that has measured it, so that its series go on. What is new goes,
 * the longest first, to the device that has least to do. How long it will take is not known, only
 * estimated: so the shorter half of what is new is measured at the end, when devices that are done
 * take it over (execute.c). */
#include "base/error.h"
#include "core/problem.h"
#include "nightly/night.h"
#include "nightly/plan/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of all backends together: setting up and verifying; what is made, uploaded and looked at; some 25
 * bursts with rests of seven times their length, 100 ms at most. The numbers fit what the core
 * suites took on an H200 with four backends.
 */
double tk_plan_estimate_seconds(const struct tk_problem_spec *p)
{
	const char *type = tk_problem_dtype_name(p);
	bool wide = strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0;
	double launch_s = tk_problem_flops(p) / (wide ? 5e13 : 8e14), seconds = 0.6;
	seconds += tk_problem_bytes(p) / 1e9 + 25 * fmin(8 * launch_s, launch_s + 0.1);
	return isfinite(seconds) ? seconds : 0.6;
}

bool tk_night_device_is_same_model(const struct tk_night_device *a, const struct tk_night_device *b)
{
	json_t *x = json_object_get(a->info, "name"), *y = json_object_get(b->info, "name");
	return a->layer == b->layer && json_equal(x, y) &&
	       json_equal(json_object_get(a->info, "arch"), json_object_get(b->info, "arch"));
}

/* What the history has of a problem on a device. Planned there, but taken over by another, is less
 * than measured. */
enum had { NOTHING, SERIES, POINTS };

int tk_night_series_has_points(
        struct tk_night *n, int64_t series_id, bool *out, struct tk_error *err)
{
	struct tk_rows points = {0};
	int status = tk_store_list_points(n->store, series_id, INT64_MIN, 1, &points, err);
	*out = points.count > 0;
	tk_rows_free(&points);
	return status;
}

/* had[device * count + problem] */
static int look_back(struct tk_night *n, const struct tk_plan_problem *p, size_t count,
        enum had *had, struct tk_error *err)
{
	struct tk_rows all = {0};
	int status = tk_store_list_series(n->store, &all, err);
	for (size_t i = 0; status == TK_OK && i < all.count; i++) {
		const struct tk_series_row *r = TK_ROWS_AT(&all, struct tk_series_row, i);
		for (size_t d = 0; d < n->device_count; d++)
			for (size_t k = 0; status == TK_OK &&
			                   n->devices[d].device_id == r->device_id && k < count;
			        k++) {
				enum had *h = &had[d * count + k];
				bool has_points;
				if (p[k].id != r->problem_id || r->role != TK_ROLE_SUITE ||
				        *h == POINTS)
					continue;
				if ((status = tk_night_series_has_points(
				             n, r->id, &has_points, err)) == TK_OK)
					*h = has_points ? POINTS : SERIES;
			}
	}
	tk_rows_free(&all);
	return status;
}

/* What the problems are shared with. */
struct sharing {
	const struct tk_night *n;
	struct tk_plan_problem *problems;
	const struct tk_plan_problem **order; /* the longest first */
	size_t count;
	double *load; /* of each device, in seconds */
	enum had *had;
	bool *mine;
};

/* Of the devices like `first`, those that have most of the problem, the one with least to do. */
static void give(struct sharing *s, size_t first, size_t problem)
{
	const struct tk_night *n = s->n;
	size_t to = n->device_count;
	for (size_t d = first; d < n->device_count; d++) {
		if (!tk_night_device_is_same_model(&n->devices[first], &n->devices[d]))
			continue;
		enum had has = s->had[d * s->count + problem],
		         best = to < n->device_count ? s->had[to * s->count + problem] : NOTHING;
		if (to == n->device_count || has > best ||
		        (has == best && s->load[d] < s->load[to]))
			to = d;
	}
	s->mine[to * s->count + problem] = true;
	s->load[to] += s->problems[problem].seconds;
}

static int longest_first(const void *a, const void *b)
{
	const struct tk_plan_problem *const *x = a, *const *y = b;
	if ((*x)->seconds != (*y)->seconds)
		return (*x)->seconds < (*y)->seconds ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static bool is_new(const struct sharing *s, size_t first, size_t problem)
{
	bool any = false;
	for (size_t d = first; d < s->n->device_count; d++)
		any |= s->had[d * s->count + problem] != NOTHING &&
		       tk_night_device_is_same_model(&s->n->devices[first], &s->n->devices[d]);
	return !any;
}

/* All devices like `first`: what is known already, then what is new. */
static void share_among(struct sharing *s, size_t first)
{
	size_t fresh = 0, seen = 0;
	for (size_t i = 0; i < s->count; i++)
		fresh += is_new(s, first, i);
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < s->count; i++) {
			size_t problem = (size_t)(s->order[i] - s->problems);
			if (is_new(s, first, problem) != (turn == 1))
				continue;
			give(s, first, problem);
			if (turn == 1 && ++seen > fresh / 2)
				s->problems[problem].last = (int64_t)seen;
		}
}

static int share(struct sharing *s, struct tk_night *n, struct tk_error *err)
{
	int status = look_back(n, s->problems, s->count, s->had, err);
	for (size_t i = 0; status == TK_OK && i < s->count; i++)
		s->order[i] = &s->problems[i];
	if (status == TK_OK)
		qsort(s->order, s->count, sizeof *s->order, longest_first);
	for (size_t d = 0; status == TK_OK && d < n->device_count; d++) {
		bool seen = false; /* with one before it */
		for (size_t before = 0; before < d; before++)
			seen |= tk_night_device_is_same_model(&n->devices[before], &n->devices[d]);
		if (!seen)
			share_among(s, d);
	}
	return status;
}

int tk_plan_share_problems(struct tk_night *n, struct tk_plan_problem *problems, size_t count,
        bool *mine, struct tk_error *err)
{
	struct sharing s = {.n = n,
	        .problems = problems,
	        .order = calloc(count + 1, sizeof *s.order),
	        .count = count,
	        .load = calloc(n->device_count + 1, sizeof *s.load),
	        .had = calloc(n->device_count * count + 1, sizeof *s.had),
	        .mine = mine};
	int status = s.order && s.load && s.had ? share(&s, n, err)
	                                        : tk_fail(err, TK_ENOMEM, "out of memory");
	free(s.order);
	free(s.load);
	free(s.had);
	return status;
}
