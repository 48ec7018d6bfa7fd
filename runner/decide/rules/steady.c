/* Rules for series whose nights show no step: other events, and changes too small to detect. */
#include <math.h>

#include "decide/rules/evidence.h"
#include "decide/rules/rules.h"

#define TOO_NOISY 0.25 /* minimum detectable change above which "same" would claim too much */
#define MORE_NIGHTS_MAX 60

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

	v->status = had_alert(e) ? TK_VERDICT_RECOVERED : TK_VERDICT_SAME;
	tk_verdict_add_fact(v, fact, NULL);
}

static bool is_shared_step(const struct tk_evidence *e)
{
	return e->monitor.machine_step.exists;
}

static void decide_shared_step(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_monitor_step *step = &e->monitor.machine_step;
	const struct tk_fact fact = {.kind = TK_FACT_SHARED_STEP,
	        .time_s = step->first_s,
	        .number = {step->after / step->before - 1}};

	v->status = TK_VERDICT_ENVIRONMENT;
	tk_verdict_add_fact(v, fact, NULL);
}

static bool is_changed_before(const struct tk_evidence *e)
{
	return e->adjusted.earlier;
}

static void decide_changed_before(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_SAME;
	tk_verdict_add_fact(
	        v, (struct tk_fact){.kind = TK_FACT_CHANGED_BEFORE, .number = {e->is_night}}, NULL);
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

static void decide_back(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_RECOVERED;
	tk_verdict_add_alert_fact(e, TK_FACT_BACK_TO_BASELINE, v);
}

static bool is_fixed(const struct tk_evidence *e)
{
	return e->previous.exists && !e->previous.has_timing;
}

static void decide_fixed(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_FIXED;
	tk_verdict_add_outcome(&e->previous, TK_FACT_OUTCOME_BEFORE, v);
}

/* The timings changed together with the machine's other series. */
static bool is_shared_shift(const struct tk_evidence *e)
{
	return tk_evidence_is_suggestive(e, &e->raw.best) && e->raw_step.shared.exists &&
	       e->raw_step.shared.significant;
}

static void decide_shared_shift(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_ENVIRONMENT;
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
	struct tk_fact fact = {.kind = TK_FACT_MORE_NIGHTS, .number = {change, nights}};

	if (!(nights <= MORE_NIGHTS_MAX))
		fact = (struct tk_fact){
		        .kind = TK_FACT_WITHIN_NOISE, .number = {change, e->adjusted.sigma}};
	tk_verdict_add_fact(v, fact, NULL);
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
	const struct tk_fact fact = {
	        .kind = TK_FACT_TOO_NOISY, .number = {e->adjusted.sigma, expm1(detectable(e))}};

	tk_verdict_add_fact(v, fact, NULL);
	tk_verdict_set_unsure(e, v);
}

static bool is_otherwise(const struct tk_evidence *e)
{
	(void)e;
	return true;
}

static void decide_no_change(const struct tk_evidence *e, struct tk_verdict *v)
{
	(void)e;
	v->status = TK_VERDICT_SAME;
}

const struct tk_rule tk_rules_steady[] = {
        {TK_RULE_RETRACTED, is_retracted, tk_verdict_set_step, decide_retracted},
        {TK_RULE_SHARED_STEP, is_shared_step, tk_verdict_set_step, decide_shared_step},
        {TK_RULE_CHANGED_BEFORE, is_changed_before, tk_verdict_set_step, decide_changed_before},
        {TK_RULE_BACK, is_back, tk_verdict_set_step, decide_back},
        {TK_RULE_FIXED, is_fixed, tk_verdict_set_step, decide_fixed},
        {TK_RULE_SHARED_SHIFT, is_shared_shift, tk_verdict_set_step, decide_shared_shift},
        {TK_RULE_SUGGESTIVE, is_suggestive, tk_verdict_set_step, decide_suggestive},
        {TK_RULE_TOO_NOISY, is_too_noisy, tk_verdict_set_step, decide_too_noisy},
        {TK_RULE_NO_CHANGE, is_otherwise, tk_verdict_set_step, decide_no_change},
        {0},
};
