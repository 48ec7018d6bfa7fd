/* Rules for series whose nights show no step: not measured, failed or too old; nothing to compare
 * with; steady, other events, and changes too small to detect. */
#include <math.h>

#include "decide/rules/rules.h"

#define TOO_NOISY 0.25 /* minimum detectable change above which "same" would claim too much */
#define MORE_NIGHTS_MAX 60
#define NIGHTS_BEFORE 3 /* a step from 0 or to 0 */

/* ---- absence ---- */

static bool is_unsupported(const struct tk_run_evidence *run)
{
	return run->exists && run->outcome == TK_OUTCOME_UNSUPPORTED;
}

/* The night had no time or no device for it, which is not a property of the series. */
static bool was_skipped(const struct tk_run_evidence *run)
{
	return run->outcome == TK_OUTCOME_SKIPPED || run->outcome == TK_OUTCOME_NO_DEVICE;
}

static bool is_absent(const struct tk_evidence *e)
{
	return !e->within.exists || e->was_left_out;
}

static bool is_never_measured(const struct tk_evidence *e)
{
	return is_absent(e) && !e->newest.exists;
}

static void add_not_measured(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_NOT_MEASURED, 0, 0);
}

/* What nobody measures any more is not missing. */
static bool is_retired(const struct tk_evidence *e)
{
	return e->is_retired && is_absent(e);
}

static void decide_retired(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_RETIRED, 0, 0);
	tk_verdict_add_last_measured(e, v);
}

/* A series that never had a timing cannot miss one. */
static bool is_gone_unsupported(const struct tk_evidence *e)
{
	return is_absent(e) && !e->point_count && is_unsupported(&e->newest);
}

static void add_was_unsupported(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_WAS_UNSUPPORTED, 0, 0);
}

/* A night that skipped it was its turn. */
static bool is_not_due(const struct tk_evidence *e)
{
	return e->is_not_due && !e->is_too_old && e->newest.exists && !was_skipped(&e->newest);
}

static void decide_not_due(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (!e->newest.has_timing) {
		v->status =
		        is_unsupported(&e->newest) ? TK_VERDICT_UNSUPPORTED : TK_VERDICT_FAILING;
		tk_verdict_add_outcome(&e->newest, TK_FACT_OUTCOME, v);
	}
	tk_verdict_add_last_measured(e, v);
}

static bool is_missing(const struct tk_evidence *e)
{
	return e->was_left_out && !e->is_too_old;
}

static bool has_no_timing(const struct tk_evidence *e)
{
	return !e->within.has_timing;
}

static bool is_skipped(const struct tk_evidence *e)
{
	return has_no_timing(e) && was_skipped(&e->within) && e->point_count;
}

static void add_outcome(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_outcome(&e->within, TK_FACT_OUTCOME, v);
}

static bool is_skipped_new(const struct tk_evidence *e)
{
	return has_no_timing(e) && was_skipped(&e->within);
}

static void decide_skipped_new(const struct tk_evidence *e, struct tk_verdict *v)
{
	add_outcome(e, v);
	tk_verdict_add_number(v, TK_FACT_NO_TIMING_YET, 0, 0);
}

/* It failed before, and did not work in between. */
static bool is_still_failing(const struct tk_evidence *e)
{
	const struct tk_run_evidence *before = &e->previous;
	bool worked_since = e->point_count && e->last_point_s > before->as_of_s;

	return has_no_timing(e) && before->exists && !before->has_timing && !was_skipped(before) &&
	       !worked_since;
}

/* A problem that a backend never supported, or no longer supports, is not a failure. */
static void decide_still_failing(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (is_unsupported(&e->within))
		v->status = TK_VERDICT_UNSUPPORTED;
	add_outcome(e, v);
}

static bool is_never_timed(const struct tk_evidence *e)
{
	return has_no_timing(e) && !e->point_count;
}

/* An implausible time is said at once: somebody would else believe the kernel's own figures. */
static void decide_never_timed(const struct tk_evidence *e, struct tk_verdict *v)
{
	decide_still_failing(e, v);
	if (e->within.outcome == TK_OUTCOME_IMPLAUSIBLE) {
		v->status = TK_VERDICT_NEWLY_FAILED;
		v->bad_build_id = e->within.build_id;
		v->first_bad_run_id = e->within.run_id;
	}
	tk_verdict_add_number(v, TK_FACT_NEVER_TIMED, 0, 0);
}

static void decide_newly_failed(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->good_build_id = e->last_point_build_id;
	v->bad_build_id = e->within.build_id;
	v->last_good_run_id = e->last_point_run_id;
	v->first_bad_run_id = e->within.run_id;
	add_outcome(e, v);
}

static void add_age(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(
	        v, TK_FACT_DATA_AGE, (double)(e->options->now_s - e->newest.as_of_s), 0);
}

static bool is_stale(const struct tk_evidence *e)
{
	return e->is_too_old;
}

const struct tk_rule tk_rules_absence[] = {
        {TK_RULE_NEVER_MEASURED, is_never_measured, tk_verdict_set_last_value, TK_VERDICT_NEW,
                .decide = add_not_measured},
        {TK_RULE_RETIRED, is_retired, tk_verdict_set_last_value, TK_VERDICT_RETIRED,
                .decide = decide_retired},
        {TK_RULE_GONE_UNSUPPORTED, is_gone_unsupported, tk_verdict_set_last_value,
                TK_VERDICT_UNSUPPORTED, .decide = add_was_unsupported},
        {TK_RULE_NOT_DUE, is_not_due, tk_verdict_set_last_value, TK_VERDICT_SAME,
                .decide = decide_not_due},
        {TK_RULE_MISSING, is_missing, tk_verdict_set_last_value, TK_VERDICT_MISSING,
                .decide = tk_verdict_add_last_measured},
        {TK_RULE_NOT_MEASURED_RECENTLY, is_absent, tk_verdict_set_last_value, TK_VERDICT_STALE,
                .decide = add_age},
        {TK_RULE_SKIPPED, is_skipped, tk_verdict_set_last_value, TK_VERDICT_MISSING,
                .decide = add_outcome},
        {TK_RULE_SKIPPED_NEW, is_skipped_new, tk_verdict_set_last_value, TK_VERDICT_NEW,
                .decide = decide_skipped_new},
        {TK_RULE_STILL_FAILING, is_still_failing, tk_verdict_set_last_value, TK_VERDICT_FAILING,
                .decide = decide_still_failing},
        {TK_RULE_NEVER_TIMED, is_never_timed, tk_verdict_set_last_value, TK_VERDICT_FAILING,
                .decide = decide_never_timed},
        {TK_RULE_NEWLY_FAILED, has_no_timing, tk_verdict_set_last_value, TK_VERDICT_NEWLY_FAILED,
                .decide = decide_newly_failed},
        {TK_RULE_STALE, is_stale, NULL, TK_VERDICT_STALE, .decide = add_age},
        {0},
};

/* ---- baseline ---- */

static bool lacks_chosen_baseline(const struct tk_evidence *e)
{
	return e->lacks_baseline;
}

static void add_missing_baseline(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_BASELINE_NOT_MEASURED},
	        e->options->baseline_name);
}

static bool is_at_zero(const struct tk_evidence *e)
{
	return e->zero.exists;
}

static enum tk_verdict_status find_zero_status(const struct tk_evidence *e)
{
	const bool is_worse = tk_evidence_sign(e) * (e->zero.after - e->zero.before) > 0;

	if (!e->zero.is_changed || (is_worse && e->alert.exists && !e->alert.is_closed))
		return TK_VERDICT_SAME;
	if (!is_worse && e->alert.exists)
		return TK_VERDICT_RECOVERED;
	/* A night does not know yet what later ones are compared with. */
	const bool is_early = e->is_night && e->zero.nights_before < NIGHTS_BEFORE;

	return e->zero.is_open || is_early      ? TK_VERDICT_UNSURE
	       : e->better == TK_BETTER_UNKNOWN ? TK_VERDICT_CHANGED
	       : is_worse                       ? TK_VERDICT_REGRESSED
	                                        : TK_VERDICT_IMPROVED;
}

static void decide_zero(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_zero_step *z = &e->zero;

	v->status = find_zero_status(e);
	v->before = (struct tk_estimate){z->before, z->before, z->before};
	v->after = (struct tk_estimate){z->after, z->after, z->after};
	v->change.value = z->before > 0 ? z->after / z->before - 1 : z->after > 0 ? NAN : 0;
	v->good_build_id = z->good_build_id;
	v->bad_build_id = z->bad_build_id;
	v->last_good_run_id = z->last_good_run_id;
	v->first_bad_run_id = z->first_bad_run_id;
	if (v->status == TK_VERDICT_UNSURE)
		tk_verdict_add_number(v, TK_FACT_ZERO_OPEN, 0, 0);
	else if (v->status == TK_VERDICT_RECOVERED)
		tk_verdict_add_alert_fact(e, TK_FACT_BACK_TO_BASELINE, v);
	else if (z->is_changed && v->status == TK_VERDICT_SAME)
		tk_verdict_add_alert_fact(e, TK_FACT_STILL_AT_ALERT, v);
	else if (z->is_changed)
		tk_verdict_add_fact(v,
		        (struct tk_fact){.kind = TK_FACT_ZERO_STEP,
		                .time_s = z->start_s,
		                .number = {z->before}},
		        NULL);
}

static bool is_first_timing(const struct tk_evidence *e)
{
	return !e->has_baseline;
}

static bool is_first_timing_after_failure(const struct tk_evidence *e)
{
	return is_first_timing(e) && e->previous.exists && !e->previous.has_timing;
}

static void add_outcome_before(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_outcome(&e->previous, TK_FACT_OUTCOME_BEFORE, v);
}

const struct tk_rule tk_rules_baseline[] = {
        {TK_RULE_BASELINE_NOT_MEASURED, lacks_chosen_baseline, NULL, TK_VERDICT_NOT_COMPARABLE,
                .decide = add_missing_baseline},
        {TK_RULE_ZERO, is_at_zero, NULL, TK_VERDICT_SAME, .decide = decide_zero},
        {TK_RULE_FIRST_TIMING_AFTER_FAILURE, is_first_timing_after_failure,
                tk_verdict_set_new_value, TK_VERDICT_FIXED, .decide = add_outcome_before},
        {TK_RULE_FIRST_TIMING, is_first_timing, tk_verdict_set_new_value, TK_VERDICT_NEW},
        {0},
};

/* ---- steady ---- */

static bool had_alert(const struct tk_evidence *e)
{
	return e->alert.exists && e->alert.opened_s >= e->monitor.retracted.first_s;
}

/* The monitor took a step back that lasted a few nights. */
static bool is_retracted(const struct tk_evidence *e)
{
	return e->monitor.retracted.exists &&
	       (!had_alert(e) ||
	               tk_evidence_is_at_baseline(e, e->step.levels.after, e->step.threshold));
}

static void decide_retracted(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_fact fact = {
	        .kind = TK_FACT_STEP_RETRACTED, .time_s = e->monitor.retracted.first_s};

	if (had_alert(e))
		v->status = TK_VERDICT_RECOVERED;
	tk_verdict_add_fact(v, fact, NULL);
}

static bool is_shared_step(const struct tk_evidence *e)
{
	return e->monitor.machine_step.exists;
}

static bool is_changed_before(const struct tk_evidence *e)
{
	return e->adjusted.earlier;
}

static void add_changed_before(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_CHANGED_BEFORE, e->is_night, 0);
}

/* According to the monitor, if there is one, the series has left the level of the alert. If its
 * level is unknown, the night that closed the alert had decided so. */
static bool has_left_alert(const struct tk_evidence *e)
{
	if (!e->monitor.is_monitored || !e->alert.exists)
		return true;
	if (isnan(e->monitor.level))
		return e->alert.is_closed;
	return tk_evidence_sign(e) * (log(e->monitor.level) - e->alert.baseline) <=
	       e->step.threshold;
}

static bool is_back(const struct tk_evidence *e)
{
	return has_left_alert(e) &&
	       tk_evidence_is_recovered(e, e->step.levels.after, e->step.threshold);
}

static void add_back(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_alert_fact(e, TK_FACT_BACK_TO_BASELINE, v);
}

static bool is_fixed(const struct tk_evidence *e)
{
	return e->previous.exists && !e->previous.has_timing;
}

/* The timings changed together with the machine's other series. */
static bool is_shared_shift(const struct tk_evidence *e)
{
	return tk_evidence_is_suggestive(e, &e->raw.best) && e->raw_step.shared.exists &&
	       e->raw_step.shared.significant;
}

static void set_raw_step(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_set_levels(&e->raw_step, v);
}

static void add_shared_shift(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_shared_shift(&e->raw_step, v);
	tk_verdict_add_environment(&e->raw_step, v);
}

static bool is_suggestive(const struct tk_evidence *e)
{
	return tk_evidence_is_suggestive(e, &e->adjusted.best);
}

/* Nights at the new level after which a change of this size would exceed the series' own
 * threshold. */
static double nights_still_needed(const struct tk_evidence *e)
{
	const struct tk_level_change *best = &e->adjusted.best;
	const double sigma = e->adjusted.sigma;
	const double error = (best->after - best->before) / TK_NOISE_STANDARD_ERRORS;
	const double variance = pow(error, 2) - best->se_before * best->se_before;
	const double needed = variance > 0 ? ceil(sigma * sigma / variance) : INFINITY;

	return fmax(1, needed - (double)(e->point_count - best->split));
}

static void decide_suggestive(const struct tk_evidence *e, struct tk_verdict *v)
{
	const double change = expm1(e->adjusted.best.after - e->adjusted.best.before);
	const double nights = nights_still_needed(e);

	if (nights <= MORE_NIGHTS_MAX)
		tk_verdict_add_number(v, TK_FACT_MORE_NIGHTS, change, nights);
	else
		tk_verdict_add_number(v, TK_FACT_WITHIN_NOISE, change, e->adjusted.sigma);
	tk_verdict_set_unsure(e, v);
}

/* However noisy the series is, its whole interval is below the threshold. */
static bool is_surely_small(const struct tk_evidence *e)
{
	const double before = e->step.before.value;

	return !tk_evidence_exceeds_threshold(e, before, before * (1 + e->step.change.lo)) &&
	       !tk_evidence_exceeds_threshold(e, before, before * (1 + e->step.change.hi));
}

static double detectable(const struct tk_evidence *e)
{
	return TK_NOISE_STANDARD_ERRORS * e->adjusted.whole.se;
}

static bool is_too_noisy(const struct tk_evidence *e)
{
	return detectable(e) > log1p(TOO_NOISY) && !is_surely_small(e);
}

static void decide_too_noisy(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_TOO_NOISY, e->adjusted.sigma, expm1(detectable(e)));
	tk_verdict_set_unsure(e, v);
}

static bool is_below_floor(const struct tk_evidence *e)
{
	return tk_evidence_is_below_floor(e, &e->adjusted.best);
}

static void add_floor(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_level_change *best = &e->adjusted.best;
	const double by = exp(best->after) - exp(best->before);

	tk_verdict_add_number(v, TK_FACT_BELOW_MIN_TIME, fabs(by), e->min_effect_ns);
}

static bool is_otherwise(const struct tk_evidence *e)
{
	return true;
}

const struct tk_rule tk_rules_steady[] = {
        {TK_RULE_RETRACTED, is_retracted, tk_verdict_set_step, TK_VERDICT_SAME,
                .decide = decide_retracted},
        {TK_RULE_SHARED_STEP, is_shared_step, tk_verdict_set_step, TK_VERDICT_ENVIRONMENT,
                .decide = tk_verdict_add_shared_step},
        {TK_RULE_CHANGED_BEFORE, is_changed_before, tk_verdict_set_step, TK_VERDICT_SAME,
                .decide = add_changed_before},
        {TK_RULE_BACK, is_back, tk_verdict_set_step, TK_VERDICT_RECOVERED, .decide = add_back},
        {TK_RULE_FIXED, is_fixed, tk_verdict_set_step, TK_VERDICT_FIXED,
                .decide = add_outcome_before},
        {TK_RULE_SHARED_SHIFT, is_shared_shift, set_raw_step, TK_VERDICT_ENVIRONMENT,
                .decide = add_shared_shift},
        {TK_RULE_BELOW_FLOOR, is_below_floor, tk_verdict_set_step, TK_VERDICT_SAME,
                .decide = add_floor},
        {TK_RULE_SUGGESTIVE, is_suggestive, tk_verdict_set_step, TK_VERDICT_UNSURE,
                .decide = decide_suggestive},
        {TK_RULE_TOO_NOISY, is_too_noisy, tk_verdict_set_step, TK_VERDICT_UNSURE,
                .decide = decide_too_noisy},
        {TK_RULE_NO_CHANGE, is_otherwise, tk_verdict_set_step, TK_VERDICT_SAME},
        {0},
};
