/* The numbers and the circumstances of a step between two points of a case. */
#include <math.h>

#include "core/vocabulary.h"
#include "decide/internal.h"
#include "decide/rules/ab_result.h"
#include "stats/summary.h"

#define BACK_SIGMAS 2       /* of a night, from the new level */
#define RARE_BUILD_NIGHTS 3 /* nights of one build after which another one is an event */

bool tk_series_case_is_same_code(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t a, size_t b)
{
	return tk_catalog_is_same_code(
	        &set->catalog, k->points[a].build_id, k->points[b].build_id, k->series->backend);
}

static struct tk_level_test_input test_input(
        const struct tk_analysis *set, const struct tk_series_case *k)
{
	return (struct tk_level_test_input){.y = k->adjusted_y,
	        .se = k->se,
	        .n = k->count,
	        .range = k->range,
	        .window = set->options.window ? set->options.window : 1,
	        .prior_sigma = k->adjusted.sigma};
}

size_t tk_series_case_base(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t split)
{
	const size_t window = test_input(set, k).window;

	if (k->base < split)
		return k->base;
	return split > window ? split - window : 0;
}

void tk_series_case_split(const struct tk_analysis *set, const struct tk_series_case *k,
        size_t base, size_t split, struct tk_level_change *out)
{
	const struct tk_level_test_input in = test_input(set, k);

	tk_level_test_split(&in, base, split, out);
}

/* ---- numbers ---- */

/* A level of one night has the interval of its samples, one of several the interval between
 * nights. */
static struct tk_estimate estimate_level(
        const struct tk_series_case *k, size_t from, size_t to, double se, double t)
{
	const double y = tk_level_estimate(k->y + from, to - from);

	if (to - from == 1)
		return (struct tk_estimate){exp(y), k->points[from].lo, k->points[from].hi};
	return (struct tk_estimate){exp(y), exp(y - t * se), exp(y + t * se)};
}

static uint32_t count_samples(const struct tk_series_case *k, size_t from, size_t to)
{
	int64_t n = 0;

	for (size_t i = from; i < to; i++)
		n += k->points[i].n;
	return n < 0 || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static bool is_unstable(const struct tk_series_case *k, size_t from, size_t to)
{
	size_t unstable = 0;

	for (size_t i = from; i < to; i++)
		unstable += (k->points[i].flags & TK_POINT_UNSTABLE) != 0;
	return tk_outcome_is_night_unreliable(unstable, to - from);
}

static void set_levels(const struct tk_series_case *k, struct tk_step_evidence *s)
{
	const struct tk_level_change *c = &s->levels;
	const double t = tk_student_t(0.05, k->adjusted.df);

	s->before = estimate_level(k, c->base, c->split, c->se_before, t);
	s->after = estimate_level(k, c->split, k->count, c->se_after, t);

	const double change = log(s->after.value / s->before.value);

	s->change = (struct tk_estimate){
	        expm1(change), expm1(change - t * c->se), expm1(change + t * c->se)};
	s->median_change = NAN;
	s->samples_before = count_samples(k, c->base, c->split);
	s->samples_after = count_samples(k, c->split, k->count);
	s->is_unstable = is_unstable(k, c->base, c->split) || is_unstable(k, c->split, k->count);
}

static size_t count_nights(const struct tk_series_case *k, size_t from)
{
	size_t nights = 1;

	for (size_t i = from + 1; i < k->count; i++)
		nights += k->points[i].night_id != k->points[i - 1].night_id;
	return nights;
}

static bool is_back(const struct tk_series_case *k, const struct tk_level_change *levels, size_t i)
{
	const double y = k->adjusted_y[i], left = fabs(y - levels->before),
	             gone = fabs(y - levels->after);

	return left < gone && gone > BACK_SIGMAS * k->adjusted.sigma;
}

/* The level of the newest points, from one on, against the level before the step. */
static void set_back(const struct tk_series_case *k, size_t from, struct tk_step_evidence *s)
{
	const double t = tk_student_t(0.05, k->adjusted.df),
	             se = k->adjusted.sigma / sqrt((double)(k->count - from));

	s->back = estimate_level(k, from, k->count, se, t);

	const double change = log(s->back.value / s->before.value),
	             half = t * hypot(se, s->levels.se_before);

	s->back_change =
	        (struct tk_estimate){expm1(change), expm1(change - half), expm1(change + half)};
}

void tk_step_evidence_count_back(const struct tk_series_case *k, struct tk_step_evidence *s)
{
	size_t from = s->levels.split;

	s->nights_back = s->newest_back = 0;
	for (size_t i = s->levels.split; i < k->count; i++) {
		if (i + 1 < k->count && k->points[i + 1].night_id == k->points[i].night_id)
			continue;

		const bool back = is_back(k, &s->levels, i);

		s->nights_back += back;
		s->newest_back = back ? s->newest_back + 1 : 0;
		from = back ? from : i + 1;
	}
	if (s->newest_back)
		set_back(k, from, s);
}

/* ---- builds ---- */

static void set_builds(const struct tk_series_case *k, struct tk_step_evidence *s)
{
	const size_t split = s->levels.split;

	s->start_s = k->points[split].as_of_s;
	s->good_build_id = k->points[split - 1].build_id;
	s->bad_build_id = k->points[split].build_id;
	s->newest_bad_build_id = k->points[k->count - 1].build_id;
	s->last_good_run_id = k->points[split - 1].run_id;
	s->first_bad_run_id = k->points[split].run_id;
}

/* A new build after nights of one build. */
static bool is_rare_build(const struct tk_series_case *k, size_t split)
{
	bool rare = split >= RARE_BUILD_NIGHTS &&
	            k->points[split].build_id != k->points[split - 1].build_id;

	for (size_t i = 2; rare && i <= RARE_BUILD_NIGHTS; i++)
		rare = k->points[split - i].build_id == k->points[split - 1].build_id;
	return rare;
}

bool tk_series_case_is_new_build(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t split)
{
	return is_rare_build(k, split) ||
	       tk_catalog_is_new_code(&set->catalog, k->points[split - 1].build_id,
	               k->points[split].build_id, k->series->backend);
}

static void compare_code(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s)
{
	const size_t split = s->levels.split;

	s->same_code = s->same_code_at_step = tk_series_case_is_same_code(set, k, split - 1, split);
	for (size_t i = split + 1; s->same_code && i < k->count; i++)
		s->same_code = tk_series_case_is_same_code(set, k, split - 1, i);
	s->new_code = !tk_series_case_is_same_code(set, k, split - 1, k->count - 1);
	s->is_new_build = tk_series_case_is_new_build(set, k, split);
}

void tk_step_evidence_describe(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s)
{
	set_levels(k, s);
	s->nights = count_nights(k, s->levels.split);
	set_builds(k, s);
	compare_code(set, k, s);
}

/* ---- context ---- */

static void gather_shared_shift(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s)
{
	const size_t base = s->levels.base, split = s->levels.split;
	const struct tk_common_mode_shift *shift =
	        tk_analysis_find_shift(set, k->device->id, k->points[split].night_id);

	if (!shift)
		return;
	s->shared = (struct tk_shared_shift_evidence){.exists = true,
	        .significant = shift->significant,
	        .series = shift->series,
	        .controls = shift->controls,
	        .unknown_code = shift->unknown_code,
	        .shift = shift->shift,
	        .remaining = tk_level_estimate(k->adjusted_y + split, k->count - split) -
	                     tk_level_estimate(k->adjusted_y + base, split - base)};
}

void tk_step_evidence_add_context(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s)
{
	const size_t split = s->levels.split;

	s->start_s = k->points[split].as_of_s;
	gather_shared_shift(set, k, s);
	tk_catalog_diff_environments(&set->catalog, k->points[split - 1].environment_id,
	        k->points[split].environment_id, s->environment.text, sizeof s->environment.text,
	        &s->environment.hard);
}

/* ---- ab evidence ---- */

#define ROW(c, i) TK_ROWS_AT(&(c)->ab_pairs, struct tk_ab_pair_row, i)

static size_t first_of_series(const struct tk_analysis *c, int64_t series_id)
{
	return TK_FIND_FIRST(c->ab_pairs.count, i, ROW(c, i)->series_id < series_id);
}

/* All pairs of these two codes, whichever builds they are of. */
static size_t find_pairs(const struct tk_analysis *c, const struct tk_series_case *k, int64_t good,
        int64_t bad, struct tk_ab_pair_row *found)
{
	const char *backend = k->series->backend;
	size_t count = 0;

	for (size_t i = first_of_series(c, k->series->id);
	        i < c->ab_pairs.count && ROW(c, i)->series_id == k->series->id; i++)
		if (tk_catalog_is_same_code(&c->catalog, ROW(c, i)->base_build_id, good, backend) &&
		        tk_catalog_is_same_code(
		                &c->catalog, ROW(c, i)->head_build_id, bad, backend))
			found[count++] = *ROW(c, i);
	return count;
}

struct tk_ab_result tk_series_case_evaluate_ab(const struct tk_analysis *c,
        const struct tk_series_case *k, const struct tk_level_change *step)
{
	const size_t first = first_of_series(c, k->series->id);
	size_t all = 0, count = 0;

	while (first + all < c->ab_pairs.count && ROW(c, first + all)->series_id == k->series->id)
		all++;
	if (!all)
		return (struct tk_ab_result){.decision = TK_AB_NONE};

	struct tk_ab_pair_row *found = tk_malloc(all * sizeof *found);

	for (size_t i = step->split; !count && i-- > step->base;)
		if (i + 1 == step->split || k->points[i].build_id != k->points[i + 1].build_id)
			count = find_pairs(c, k, k->points[i].build_id,
			        k->points[k->count - 1].build_id, found);

	struct tk_detect_options options = c->options;

	options.min_effect = tk_series_case_sensitivity(c, k)->min_effect;
	const struct tk_ab_result result = tk_ab_result_evaluate_stored(found, count, &options);

	free(found);
	return result;
}
