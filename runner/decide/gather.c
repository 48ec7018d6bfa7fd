/* Gathers the evidence of one case; its step: step_evidence.c. */
#include <math.h>

#include "core/night.h"
#include "core/vocabulary.h"
#include "decide/internal.h"
#include "stats/levels.h"
#include "stats/summary.h"

/* ---- gather step ---- */

/* Where the machine code changed near a step that may be a night or two off. */
static size_t snap_to_code_change(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t base, size_t split)
{
	static const int nearby[] = {0, 1, -1, 2, -2};

	for (size_t i = 0; i < sizeof nearby / sizeof *nearby; i++) {
		const size_t at = split + (size_t)nearby[i];

		if (at > base && at < k->count && !tk_series_case_is_same_code(set, k, at - 1, at))
			return at;
	}
	return split;
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

static void locate_monitor_step(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	struct tk_level_change *levels = &e->step.levels;
	size_t split = 1;

	while (split + 1 < k->count && k->points[split].as_of_s < e->monitor.step.first_s)
		split++;

	const size_t base = tk_series_case_base(set, k, split);
	tk_series_case_split(set, k, base, snap_to_code_change(set, k, base, split), levels);
	levels->p = tk_level_monitor_p_value(e->monitor.step.log_lr);
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

static void choose_step(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	const struct tk_level_test *test = &e->adjusted;
	struct tk_step_evidence *s = &e->step;

	s->q = k->q;
	e->by_monitor = has_monitor_step(k, e);
	if (e->by_monitor) {
		e->is_step = true;
		s->q = e->monitor.step.q;
		s->threshold = log1p(e->min_effect);
		locate_monitor_step(set, k, e);
		return;
	}
	e->is_step =
	        !test->earlier && tk_evidence_is_large(e, &test->best) && k->q <= e->options->fdr;
	s->levels = e->is_step ? test->best : test->whole;
	s->threshold = fmax(log1p(e->min_effect), TK_NOISE_STANDARD_ERRORS * s->levels.se);
}

/* ---- A/B runs ---- */

/* A/B runs found a change, and the step joins equal code: the change is where the newest code came
 * in. */
static void gather_code_step(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	size_t split = k->count - 1;

	while (split > 0 && tk_series_case_is_same_code(set, k, split - 1, k->count - 1))
		split--;
	if (!split)
		return;
	e->code_step.q = k->q;
	e->code_step.threshold = e->step.threshold;
	tk_series_case_split(
	        set, k, tk_series_case_base(set, k, split), split, &e->code_step.levels);
	tk_step_evidence_describe(set, k, &e->code_step);
	e->has_code_step = true;
}

static void gather_step(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	choose_step(set, k, e);
	tk_step_evidence_describe(set, k, &e->step);
	if (e->by_monitor)
		use_monitor_levels(e);
	if (e->is_step) {
		tk_step_evidence_count_back(k, &e->step);
		if (e->by_monitor && e->monitor.step.is_drift) {
			/* Half of its nights are nearer to the old level; any build may be its. */
			e->step.nights_back = e->step.newest_back;
			e->step.same_code_at_step = e->step.same_code;
		}
		tk_step_evidence_add_context(set, k, &e->step);
	} else if (tk_evidence_is_suggestive(
	                   e, &e->raw.best)) { /* reading it for others would be wasted */
		e->raw_step.levels = e->raw.best;
		e->raw_step.threshold = e->step.threshold;
		e->raw_step.q = k->q;
		tk_step_evidence_describe(set, k, &e->raw_step);
		tk_step_evidence_add_context(set, k, &e->raw_step);
	}
	e->ab = tk_series_case_evaluate_ab(set, k, &e->step.levels);
	if (e->step.same_code_at_step && tk_ab_result_is_changed(&e->ab))
		gather_code_step(set, k, e);
}

/* ---- runs ---- */

static struct tk_run_evidence run_evidence(
        const struct tk_series_case *k, const struct tk_run_summary *run)
{
	return (struct tk_run_evidence){.exists = run->run_id != 0,
	        .has_timing = tk_series_case_has_timing(k, run),
	        .outcome = run->outcome,
	        .message = run->message,
	        .as_of_s = run->as_of_s,
	        .run_id = run->run_id,
	        .build_id = run->build_id};
}

/* The run before the range, or the first one of the range where that is all there is. */
static const struct tk_run_summary *previous_run(const struct tk_series_case *k)
{
	const struct tk_history_window *w = k->window;
	bool use_before = w->last_before.run_id || w->first_within.run_id == w->last_within.run_id;

	return use_before ? &w->last_before : &w->first_within;
}

/* The newest full night of the machine measured this upstream, and not this series. */
static bool was_left_out(const struct tk_analysis *set, const struct tk_series_case *k)
{
	const struct tk_expected_series *expected = tk_analysis_find_expected(set, k->machine->id);
	const struct tk_run_summary *last = &k->window->last_within;

	if (!expected || !expected->night ||
	        (last->run_id && last->as_of_s >= expected->night->as_of_s))
		return false;
	for (size_t i = 0; i < expected->resolutions.count; i++)
		if (TK_ROWS_AT(&expected->resolutions, struct tk_resolution_row, i)->upstream_id ==
		        k->upstream->id)
			return true;
	return expected->resolutions.count == 0;
}

/* Its turn comes again within the nights of a round, counted from its newest run. `is_part`: the
 * newest night measured a part of the problems, and the part of this series may be one night older:
 * the parts of a night do not end at the same time. */
static bool is_not_due(const struct tk_evidence *e, bool is_part)
{
	const uint32_t round = e->rotate_nights > 1 ? e->rotate_nights : 1;

	return e->newest.exists && (round > 1 || is_part) && e->nights_ago < round + is_part;
}

/* Ceilings are not measured every night, and of what a backend does not do there is no run while
 * that stays so. */
static bool is_measured_by_need(const struct tk_series_case *k, const struct tk_evidence *e)
{
	return k->series->role == TK_ROLE_CEILING ||
	       (e->newest.exists && e->newest.outcome == TK_OUTCOME_UNSUPPORTED);
}

static bool is_newest_night_part(const struct tk_analysis *set, const struct tk_series_case *k)
{
	const struct tk_expected_series *expected = tk_analysis_find_expected(set, k->machine->id);

	return expected && expected->night && tk_night_read_coverage(expected->night->summary).part;
}

/* Of a series that waits for its turn, the newest night must not be too old. */
static bool is_too_old(const struct tk_analysis *set, const struct tk_series_case *k,
        const struct tk_evidence *e, bool is_not_due)
{
	const struct tk_expected_series *expected = tk_analysis_find_expected(set, k->machine->id);
	const int64_t as_of_s = is_not_due && expected && expected->night ? expected->night->as_of_s
	                                                                  : e->newest.as_of_s;
	const int64_t age_s = set->options.now_s - as_of_s;

	return e->newest.exists && set->open_ended && set->options.stale_days &&
	       age_s > (int64_t)set->options.stale_days * 86400;
}

static void gather_runs(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	e->within = run_evidence(k, &k->window->last_within);
	e->newest = e->within.exists ? e->within : run_evidence(k, &k->window->last_before);
	e->previous = run_evidence(k, previous_run(k));
	const bool is_part = is_newest_night_part(set, k);
	e->is_retired = k->series->rotate_nights == TK_SERIES_RETIRED;
	e->rotate_nights = e->is_retired ? 0 : (uint32_t)k->series->rotate_nights;
	if ((e->rotate_nights > 1 || is_part) && e->newest.exists)
		e->nights_ago = (uint32_t)tk_analysis_count_nights_since(
		        set, k->machine->id, e->newest.as_of_s);
	const bool waits = is_not_due(e, is_part) || is_measured_by_need(k, e);
	e->was_left_out = was_left_out(set, k);
	if (e->was_left_out && waits) {
		e->was_left_out = false; /* its runs in the range, if any, are compared */
		e->is_not_due = !e->within.exists;
	}
	e->is_too_old = is_too_old(set, k, e, waits);
}

static void gather_last_point(const struct tk_series_case *k, struct tk_evidence *e)
{
	const struct tk_point *p = k->count ? &k->points[k->count - 1] : NULL;

	e->point_count = k->count;
	e->last_value = (struct tk_estimate){NAN, NAN, NAN};
	if (k->zero_count && (!p || k->zeros[k->zero_count - 1].as_of_s > p->as_of_s)) {
		p = &k->zeros[k->zero_count - 1];
		e->point_count += k->zero_count;
	}
	if (!p)
		return;
	e->last_value = (struct tk_estimate){p->value, p->lo, p->hi};
	e->last_point_s = p->as_of_s;
	e->last_point_build_id = p->build_id;
	e->last_point_run_id = p->run_id;
	e->last_point_samples = (uint32_t)p->n;
}

/* ---- alert and monitor ---- */

static void gather_alert(const struct tk_series_case *k, struct tk_evidence *e)
{
	const struct tk_alert_row *a = k->alert;

	e->alert.baseline = k->alert_baseline;
	if (k->ended)
		e->ended = (struct tk_alert_evidence){.exists = true,
		        .is_closed = true,
		        .opened_s = k->ended->opened_s,
		        .bad_rev = k->ended->bad_rev};
	if (!a)
		return;
	e->alert.exists = true;
	e->alert.is_closed = a->status == TK_ALERT_CLOSED;
	e->alert.opened_s = a->opened_s;
	e->alert.bad_rev = a->bad_rev;
	e->alert.change = k->alert_change;
}

static bool is_back_at(const struct tk_series_case *k, size_t i)
{
	const double left = k->adjusted_y[i] - k->alert_baseline;

	return fabs(left) < fabs(left - log1p(k->alert_change));
}

static void gather_back(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	struct tk_back_evidence *b = &e->back;
	size_t from = k->count;

	if (!e->alert.exists || e->alert.is_closed || !isfinite(e->alert.baseline) ||
	        !(tk_evidence_sign(e) * e->alert.change > 0))
		return;
	while (from > 0 && is_back_at(k, from - 1)) {
		from--;
		b->nights += !from || k->points[from - 1].night_id != k->points[from].night_id;
	}
	if (!b->nights || !from)
		return;

	const double se = k->adjusted.sigma / sqrt((double)b->nights),
	             level = tk_level_estimate(k->adjusted_y + from, k->count - from),
	             gone = fabs(level - e->alert.baseline - log1p(e->alert.change)),
	             before = exp(e->alert.baseline), after = exp(level),
	             half = tk_student_t(0.05, k->adjusted.df) * se;

	b->is_clear = gone > TK_NOISE_STANDARD_ERRORS * se &&
	              tk_evidence_is_at_baseline(
	                      e, level, fmax(log1p(e->min_effect), TK_NOISE_STANDARD_ERRORS * se));
	b->is_new_build = tk_series_case_is_new_build(set, k, from);
	b->before = (struct tk_estimate){before, NAN, NAN};
	b->after = (struct tk_estimate){after, after * exp(-half), after * exp(half)};
	b->change = (struct tk_estimate){after / before - 1, after * exp(-half) / before - 1,
	        after * exp(half) / before - 1};
}

static struct tk_monitor_step monitor_step(const struct tk_monitor_event_row *event)
{
	if (!event)
		return (struct tk_monitor_step){.exists = false};
	return (struct tk_monitor_step){.exists = true,
	        .is_drift = event->kind == TK_MONITOR_DRIFT,
	        .first_s = event->first_after_s,
	        .known_s = event->as_of_s,
	        .before = event->before_value,
	        .after = event->after_value,
	        .log_lr = event->log_lr,
	        .q = event->q};
}

static void gather_monitor(const struct tk_series_case *k, struct tk_evidence *e)
{
	e->monitor = (struct tk_monitor_evidence){.is_monitored = k->is_monitored,
	        .level = k->level,
	        .step = monitor_step(k->monitor_step),
	        .machine_step = monitor_step(k->machine_step),
	        .retracted = monitor_step(k->retracted)};
}

/* A least change in time is about launches and clocks that the tracker knows: the results of other
 * tools, which have a mode of their own, may be of any scale. */
static double find_floor(const struct tk_analysis *set, const struct tk_series_case *k)
{
	enum tk_mode unused;

	return tk_unit_from_name(k->series->unit) == TK_UNIT_NS &&
	                       !tk_mode_parse(k->series->mode, &unused)
	               ? set->options.min_effect_ns
	               : 0;
}

void tk_evidence_gather(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *out)
{
	*out = (struct tk_evidence){.options = &set->options,
	        .better = k->series->better,
	        .min_effect_ns = find_floor(set, k),
	        .min_effect = tk_series_case_sensitivity(set, k)->min_effect,
	        .is_night = set->scope.night_id != 0,
	        .lacks_baseline = k->lacks_baseline,
	        .zero = k->zero,
	        .has_baseline = k->range != 0};
	gather_runs(set, k, out);
	gather_last_point(k, out);
	gather_alert(k, out);
	gather_monitor(k, out);
	if (!k->range || !out->within.has_timing || out->was_left_out || out->is_too_old ||
	        k->lacks_baseline)
		return;
	out->raw = k->raw;
	out->adjusted = k->adjusted;
	gather_step(set, k, out);
	gather_back(set, k, out);
}
