/* See plan_internal.h.
 *
 * A problem stays on the device that has measured it, so that its series continue. New problems go,
 * the longest first, to the device with the least to do. Their time is only an estimate, so the
 * shorter half of them is measured at the end, where idle devices can steal them (schedule/). */
#include "base/base.h"
#include "config/suite.h"
#include "core/night.h"
#include "core/problem.h"
#include "nightly/night.h"
#include "nightly/plan/plan_internal.h"
#include "store/store.h"
#include <math.h>

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

/* A higher value has a stronger claim to the problem. A series without points was planned there and
 * measured by another device. */
enum history { NO_HISTORY, HAS_SERIES, HAS_POINTS };

struct sharing {
	struct tk_night *n;
	struct tk_plan_problem *problems;
	struct tk_plan_problem **order; /* the longest first */
	size_t count;
	double *load_s;        /* of each device */
	enum history *history; /* [device * count + problem] */
	bool *is_mine;         /* the same */
};

static int read_history(struct sharing *s, struct tk_error *err)
{
	struct known {
		int64_t device_id, problem_id;
		bool has_points;
	};
	static const struct tk_db_column columns[] = {TK_MEMBER(struct known, device_id),
	        TK_MEMBER(struct known, problem_id), TK_MEMBER(struct known, has_points)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct known, columns);
	AUTO(tk_rows) all = {0};
	TRY(tk_store_select(s->n->store,
	        "SELECT device_id, problem_id, max(EXISTS (SELECT 1 FROM measurement m WHERE"
	        " m.series_id=s.id)) AS has_points FROM series s WHERE role='suite' GROUP BY 1, 2",
	        TK_NO_ARGS, &type, &all, err));
	for (size_t i = 0; i < all.count; i++) {
		const struct known *h = TK_ROWS_AT(&all, struct known, i);
		size_t device = tk_night_find_device_index(s->n, h->device_id), problem = 0;
		while (problem < s->count && s->problems[problem].id != h->problem_id)
			problem++;
		if (device < s->n->device_count && problem < s->count)
			s->history[device * s->count + problem] =
			        h->has_points ? HAS_POINTS : HAS_SERIES;
	}
	return TK_OK;
}

/* ---- devices of one model ---- */

/* Of the devices with the strongest claim to the problem, the one with the least to do. */
static void give(struct sharing *s, size_t model, size_t problem)
{
	size_t to = model;
	for (size_t d = model + 1; d < s->n->device_count; d++) {
		enum history claim = s->history[d * s->count + problem];
		enum history best = s->history[to * s->count + problem];
		if (tk_night_find_model(s->n, d) == model &&
		        (claim > best || (claim == best && s->load_s[d] < s->load_s[to])))
			to = d;
	}
	s->is_mine[to * s->count + problem] = true;
	s->load_s[to] += s->problems[problem].seconds;
}

static bool is_new(const struct sharing *s, size_t model, size_t problem)
{
	for (size_t d = model; d < s->n->device_count; d++)
		if (s->history[d * s->count + problem] != NO_HISTORY &&
		        tk_night_find_model(s->n, d) == model)
			return false;
	return true;
}

/* Known problems go first: they count as load when the new ones are distributed. */
static void share_among_model(struct sharing *s, size_t model)
{
	size_t new_count = 0, given = 0;
	for (size_t i = 0; i < s->count; i++)
		new_count += is_new(s, model, i);
	for (int are_new = 0; are_new <= 1; are_new++)
		for (size_t i = 0; i < s->count; i++) {
			size_t problem = (size_t)(s->order[i] - s->problems);
			if (is_new(s, model, problem) != are_new)
				continue;
			give(s, model, problem);
			if (are_new && ++given > new_count / 2)
				s->order[i]->last = (int64_t)given;
		}
}

static int compare_longest_first(const void *a, const void *b)
{
	const struct tk_plan_problem *const *x = a, *const *y = b;
	if ((*x)->seconds != (*y)->seconds)
		return (*x)->seconds < (*y)->seconds ? 1 : -1;
	return (*x > *y) - (*x < *y);
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
	int status = read_history(&s, err);
	for (size_t i = 0; i < count; i++)
		s.order[i] = &problems[i];
	tk_sort(s.order, count, sizeof *s.order, compare_longest_first);
	for (size_t d = 0; !status && d < n->device_count; d++)
		if (tk_night_find_model(n, d) == d)
			share_among_model(&s, d);
	free(s.order);
	free(s.load_s);
	free(s.history);
	return status;
}

/* ---- rotated suites ---- */

/* Nights of this machine that completed before. One that was killed, or of one upstream alone, does
 * not use up a turn. Of a split night, which part counts does not matter, as long as it is the same
 * in all parts: the other parts of this night may have been merged already. */
static int count_nights(struct tk_night *n, uint64_t *out, struct tk_error *err)
{
	AUTO(tk_rows) nights = {0};
	struct tk_night_tally count = {0};
	TRY(tk_store_list(n->store, TK_TABLE_night,
	        "machine_id=?1 AND id<>?2 AND kind='nightly' AND status IN ('complete', "
	        "'incomplete')",
	        TK_ARGS(n->machine_id, n->night_id), &nights, err));
	for (size_t i = 0; i < nights.count; i++)
		tk_night_tally_add(
		        &count, tk_night_read_coverage(
		                        TK_ROWS_AT(&nights, struct tk_night_row, i)->summary));
	*out = n->options->part ? count.whole + count.of_part[n->options->part]
	                        : tk_night_tally_total(&count);
	return TK_OK;
}

static int update_series(struct tk_night *n, const struct tk_plan_problem *p, struct tk_error *err)
{
	AUTO(tk_rows) series = {0};
	TRY(tk_store_list(n->store, TK_TABLE_series,
	        "problem_id=?1 AND role='suite' AND rotate_nights NOT IN (?2, ?3)",
	        TK_ARGS(p->id, (int64_t)p->rotate_nights, (int64_t)TK_SERIES_RETIRED), &series,
	        err));
	for (size_t i = 0; i < series.count; i++) {
		struct tk_series_row row = *TK_ROWS_AT(&series, struct tk_series_row, i);
		row.rotate_nights = p->rotate_nights;
		if (tk_night_find_device(n, row.device_id))
			TRY(tk_store_put(n->store, TK_TABLE_series, &row, NULL, err));
	}
	return TK_OK;
}

int tk_plan_rotate(
        struct tk_night *n, struct tk_plan_problem *problems, size_t *count, struct tk_error *err)
{
	uint64_t number = 0;
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++)
		TRY(update_series(n, &problems[i], err));
	TRY(count_nights(n, &number, err));
	for (size_t i = 0; i < *count; i++)
		if (tk_rotation_is_due(problems[i].rotation_key, problems[i].rotate_nights, number))
			problems[kept++] = problems[i];
	*count = kept;
	return TK_OK;
}
