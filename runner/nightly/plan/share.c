/* See share.h.
 *
 * A problem stays on the device that has measured it, so that its series continue. New problems go,
 * the longest first, to the device with the least to do. Their time is only an estimate, so the
 * shorter half of them is measured at the end, where idle devices can steal them (schedule/). */
#include "nightly/plan/share.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/problem.h"
#include "nightly/night.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The terms: set-up and verification; making, uploading and checking the data; some 25 bursts
 * with idle gaps of seven times their length, 100 ms at most. The constants fit what the core
 * suites took on an H200 with four backends. */
double tk_plan_estimate_seconds(const struct tk_problem_spec *p)
{
	const char *type = tk_problem_dtype_name(p);
	bool is_wide = strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0;
	double launch_s = tk_problem_flops(p) / (is_wide ? 5e13 : 8e14), seconds = 0.6;
	seconds += tk_problem_bytes(p) / 1e9 + 25 * fmin(8 * launch_s, launch_s + 0.1);
	return isfinite(seconds) ? seconds : 0.6;
}

int tk_night_series_has_points(
        struct tk_night *n, int64_t series_id, bool *out, struct tk_error *err)
{
	struct tk_rows points = {0};
	int status = tk_store_list_points(n->store, series_id, INT64_MIN, 1, &points, err);
	*out = points.count > 0;
	tk_rows_free(&points);
	return status;
}

/* What the history has of a problem on a device; a higher value has a stronger claim to the
 * problem. A series without points was planned there and measured by another device. */
enum history { NO_HISTORY, HAS_SERIES, HAS_POINTS };

struct sharing {
	struct tk_night *n;
	struct tk_plan_problem *problems;
	const struct tk_plan_problem **order; /* the longest first */
	size_t count;
	double *load_s;        /* of each device */
	enum history *history; /* [device * count + problem] */
	bool *is_mine;         /* the same */
};

/* ---- what the history has ---- */

static size_t find_problem(const struct sharing *s, int64_t id)
{
	size_t i = 0;
	while (i < s->count && s->problems[i].id != id)
		i++;
	return i;
}

static int read_series_history(
        struct sharing *s, const struct tk_series_row *row, struct tk_error *err)
{
	size_t device = tk_night_find_device_index(s->n, row->device_id);
	size_t problem = find_problem(s, row->problem_id);
	bool has_points;
	if (device == s->n->device_count || problem == s->count || row->role != TK_ROLE_SUITE)
		return TK_OK;
	enum history *h = &s->history[device * s->count + problem];
	if (*h == HAS_POINTS)
		return TK_OK;
	int status = tk_night_series_has_points(s->n, row->id, &has_points, err);
	if (!status)
		*h = has_points ? HAS_POINTS : HAS_SERIES;
	return status;
}

static int read_history(struct sharing *s, struct tk_error *err)
{
	struct tk_rows all = {0};
	int status = tk_store_list(s->n->store, TK_TABLE_series, NULL, TK_NO_ARGS, &all, err);
	for (size_t i = 0; !status && i < all.count; i++)
		status = read_series_history(s, TK_ROWS_AT(&all, struct tk_series_row, i), err);
	tk_rows_free(&all);
	return status;
}

/* ---- devices of one model ---- */

static bool is_same_model(const struct sharing *s, size_t a, size_t b)
{
	return tk_night_device_is_same_model(&s->n->devices[a], &s->n->devices[b]);
}

/* Of the devices with the strongest claim to the problem, the one with the least to do. */
static void give(struct sharing *s, size_t first, size_t problem)
{
	size_t to = first;
	for (size_t d = first + 1; d < s->n->device_count; d++) {
		enum history claim = s->history[d * s->count + problem];
		enum history best = s->history[to * s->count + problem];
		if (is_same_model(s, first, d) &&
		        (claim > best || (claim == best && s->load_s[d] < s->load_s[to])))
			to = d;
	}
	s->is_mine[to * s->count + problem] = true;
	s->load_s[to] += s->problems[problem].seconds;
}

static bool is_new(const struct sharing *s, size_t first, size_t problem)
{
	for (size_t d = first; d < s->n->device_count; d++)
		if (s->history[d * s->count + problem] != NO_HISTORY && is_same_model(s, first, d))
			return false;
	return true;
}

static size_t count_new(const struct sharing *s, size_t first)
{
	size_t count = 0;
	for (size_t i = 0; i < s->count; i++)
		count += is_new(s, first, i);
	return count;
}

static size_t problem_at(const struct sharing *s, size_t position)
{
	return (size_t)(s->order[position] - s->problems);
}

/* Known problems go first: they count as load when the new ones are distributed. */
static void share_among_model(struct sharing *s, size_t first)
{
	size_t new_count = count_new(s, first), given = 0;
	for (size_t i = 0; i < s->count; i++)
		if (!is_new(s, first, problem_at(s, i)))
			give(s, first, problem_at(s, i));
	for (size_t i = 0; i < s->count; i++) {
		size_t problem = problem_at(s, i);
		if (!is_new(s, first, problem))
			continue;
		give(s, first, problem);
		if (++given > new_count / 2)
			s->problems[problem].last = (int64_t)given;
	}
}

static bool is_first_of_model(const struct sharing *s, size_t device)
{
	for (size_t d = 0; d < device; d++)
		if (is_same_model(s, d, device))
			return false;
	return true;
}

static int compare_longest_first(const void *a, const void *b)
{
	const struct tk_plan_problem *const *x = a, *const *y = b;
	if ((*x)->seconds != (*y)->seconds)
		return (*x)->seconds < (*y)->seconds ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static int share(struct sharing *s, struct tk_error *err)
{
	TRY(read_history(s, err));
	for (size_t i = 0; i < s->count; i++)
		s->order[i] = &s->problems[i];
	qsort(s->order, s->count, sizeof *s->order, compare_longest_first);
	for (size_t d = 0; d < s->n->device_count; d++)
		if (is_first_of_model(s, d))
			share_among_model(s, d);
	return TK_OK;
}

int tk_plan_share_problems(struct tk_night *n, struct tk_plan_problem *problems, size_t count,
        bool *is_mine, struct tk_error *err)
{
	struct sharing s = {.n = n,
	        .problems = problems,
	        .order = tk_calloc(count + 1, sizeof *s.order),
	        .count = count,
	        .load_s = tk_calloc(n->device_count + 1, sizeof *s.load_s),
	        .history = tk_calloc(n->device_count * count + 1, sizeof *s.history),
	        .is_mine = is_mine};
	int status = s.order && s.load_s && s.history ? share(&s, err)
	                                              : tk_fail(err, TK_ENOMEM, "out of memory");
	free(s.order);
	free(s.load_s);
	free(s.history);
	return status;
}
