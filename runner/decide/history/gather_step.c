/* Which step a case has, if any: see gather_step.h. The numbers and the circumstances of a step are
 * step_evidence.c. */
#include "decide/history/gather_step.h"

#include <math.h>

#include "base/error.h"
#include "base/try.h"
#include "decide/history/case_set.h"
#include "decide/history/step_evidence.h"
#include "decide/rules/evidence.h"
#include "stats/levels.h"

/* Where the machine code changed near a step that may be a night or two off. */
static int snap_to_code_change(struct tk_case_set *set, const struct tk_series_case *k, size_t base,
        size_t *split, struct tk_error *err)
{
	static const int nearby[] = {0, 1, -1, 2, -2};

	for (size_t i = 0; i < sizeof nearby / sizeof *nearby; i++) {
		const size_t at = *split + (size_t)nearby[i];
		bool same = true;

		if (at <= base || at >= k->count)
			continue;
		TRY(tk_series_case_is_same_code(set, k, at - 1, at, &same, err));
		if (!same) {
			*split = at;
			return TK_OK;
		}
	}
	return TK_OK;
}

/* A step for the better that the monitor reported is outdated where later nights are worse. */
static bool is_outdated(const struct tk_series_case *k, const struct tk_evidence *e)
{
	const struct tk_level_change *best = &e->adjusted.best;
	const struct tk_monitor_step *step = &e->monitor.step;
	const double sign = tk_evidence_sign(e);

	return sign * (step->after - step->before) < 0 &&
	       (e->adjusted.worse_again ||
	               (sign * (best->after - best->before) > 0 && tk_evidence_is_large(e, best) &&
	                       k->points[best->split].as_of_s > step->first_s));
}

/* The step that the monitor reported, if it is large enough. */
static bool has_monitor_step(const struct tk_series_case *k, const struct tk_evidence *e)
{
	const struct tk_monitor_step *step = &e->monitor.step;

	return step->exists && tk_evidence_exceeds_threshold(e, step->before, step->after) &&
	       step->q <= e->options->fdr && !is_outdated(k, e);
}

static int locate_monitor_step(struct tk_case_set *set, const struct tk_series_case *k,
        struct tk_evidence *e, struct tk_error *err)
{
	struct tk_level_change *levels = &e->step.levels;
	size_t split = 1;

	while (split + 1 < k->count && k->points[split].as_of_s < e->monitor.step.first_s)
		split++;

	const size_t base = tk_series_case_base(set, k, split);
	TRY(snap_to_code_change(set, k, base, &split, err));
	tk_series_case_split(set, k, base, split, levels);
	levels->p = tk_level_monitor_p_value(e->monitor.step.log_lr);
	return TK_OK;
}

/* Of a level that drifts the monitor knows where it began and where it is; the medians of the
 * nights before and since may leave less than the threshold between them. Then its levels replace
 * them. */
static void use_monitor_levels(struct tk_evidence *e)
{
	const struct tk_monitor_step *m = &e->monitor.step;
	struct tk_step_evidence *s = &e->step;

	if (tk_evidence_exceeds_threshold(e, s->before.value, s->after.value) &&
	        tk_evidence_exceeds_threshold(e, exp(s->levels.before), exp(s->levels.after)))
		return;

	const double before = m->before / s->before.value, after = m->after / s->after.value,
	             by = after / before;

	s->median_change = s->change.value;
	s->before = (struct tk_estimate){
	        s->before.value * before, s->before.lo * before, s->before.hi * before};
	s->after = (struct tk_estimate){
	        s->after.value * after, s->after.lo * after, s->after.hi * after};
	s->change = (struct tk_estimate){(1 + s->change.value) * by - 1,
	        (1 + s->change.lo) * by - 1, (1 + s->change.hi) * by - 1};
	s->levels.before = log(m->before);
	s->levels.after = log(m->after);
}

static int choose_step(struct tk_case_set *set, const struct tk_series_case *k,
        struct tk_evidence *e, struct tk_error *err)
{
	const struct tk_level_test *test = &e->adjusted;
	struct tk_step_evidence *s = &e->step;

	s->q = k->q;
	e->by_monitor = has_monitor_step(k, e);
	if (e->by_monitor) {
		e->is_step = true;
		s->q = e->monitor.step.q;
		s->threshold = log1p(e->options->min_effect);
		return locate_monitor_step(set, k, e, err);
	}
	e->is_step =
	        !test->earlier && tk_evidence_is_large(e, &test->best) && k->q <= e->options->fdr;
	s->levels = e->is_step ? test->best : test->whole;
	s->threshold = fmax(log1p(e->options->min_effect), TK_NOISE_STANDARD_ERRORS * s->levels.se);
	return TK_OK;
}

/* ---- A/B runs ---- */

/* A/B runs found a change, and the step joins equal code: the change is where the newest code came
 * in. */
static int gather_code_step(struct tk_case_set *set, const struct tk_series_case *k,
        struct tk_evidence *e, struct tk_error *err)
{
	size_t split = k->count - 1;
	bool same = true;
	int status = TK_OK;

	while (!status && same && split > 0) {
		status = tk_series_case_is_same_code(set, k, split - 1, k->count - 1, &same, err);
		split -= !status && same;
	}
	if (status || !split)
		return status;
	e->code_step.q = k->q;
	e->code_step.threshold = e->step.threshold;
	tk_series_case_split(
	        set, k, tk_series_case_base(set, k, split), split, &e->code_step.levels);
	status = tk_step_evidence_describe(set, k, &e->code_step, err);
	e->has_code_step = !status;
	return status;
}

static int gather_ab(struct tk_case_set *set, const struct tk_series_case *k, struct tk_evidence *e,
        struct tk_error *err)
{
	int status = tk_series_case_evaluate_ab(set, k, &e->step.levels, &e->ab, err);

	if (!status && e->step.same_code_at_step && tk_ab_result_is_changed(&e->ab))
		status = gather_code_step(set, k, e, err);
	return status;
}

int tk_evidence_gather_step(struct tk_case_set *set, const struct tk_series_case *k,
        struct tk_evidence *e, struct tk_error *err)
{
	int status = choose_step(set, k, e, err);

	if (!status)
		status = tk_step_evidence_describe(set, k, &e->step, err);
	if (status)
		return status;
	if (e->by_monitor)
		use_monitor_levels(e);
	if (e->is_step) {
		tk_step_evidence_count_back(k, &e->step);
		tk_step_evidence_add_context(set, k, &e->step);
	} else if (tk_evidence_is_suggestive(
	                   e, &e->raw.best)) { /* reading it for others would be wasted */
		e->raw_step.levels = e->raw.best;
		tk_step_evidence_add_context(set, k, &e->raw_step);
	}
	return gather_ab(set, k, e, err);
}
