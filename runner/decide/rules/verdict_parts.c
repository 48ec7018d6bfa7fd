/* What several rules do: numbers, the level of an alert, facts about the night of a step. */
#include <math.h>
#include <stdio.h>

#include "decide/rules/evidence.h"
#include "decide/rules/rules.h"

#define LEFT_MAX 0.1 /* of an alert's change, where the level counts as the one before it */

/* ---- levels ---- */

void tk_verdict_set_last_value(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (e->point_count)
		v->before = e->last_value;
}

void tk_verdict_set_new_value(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->after = e->last_value;
}

void tk_verdict_set_levels(const struct tk_step_evidence *s, struct tk_verdict *v)
{
	v->before = s->before;
	v->after = s->after;
	v->change = s->change;
	v->threshold = expm1(s->threshold);
	v->severity =
	        s->threshold > 0 ? fabs(s->levels.after - s->levels.before) / s->threshold : 0;
	v->p = s->levels.p;
	v->q = s->q;
	v->last_good_run_id = s->last_good_run_id;
	v->first_bad_run_id = s->first_bad_run_id;
}

void tk_verdict_set_step(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_step_evidence *s = &e->step;

	tk_verdict_set_levels(s, v);
	if (!e->by_monitor)
		return;
	tk_verdict_add_fact(v,
	        (struct tk_fact){.kind = TK_FACT_MONITOR_STEP,
	                .time_s = s->start_s,
	                .number = {e->monitor.step.log_lr}},
	        NULL);
	if (!isnan(s->median_change))
		tk_verdict_add_fact(v,
		        (struct tk_fact){
		                .kind = TK_FACT_NIGHTLY_MEDIANS, .number = {s->median_change}},
		        NULL);
}

/* ---- alerts ---- */

bool tk_evidence_is_at_alert(
        const struct tk_evidence *e, int64_t start_s, double level, double threshold)
{
	const struct tk_alert_evidence *a = &e->alert;
	const bool is_later = e->by_monitor && start_s > a->opened_s;

	return a->exists && !is_later && isfinite(a->baseline) &&
	       tk_evidence_sign(e) * (level - a->baseline - log1p(a->change)) <= threshold;
}

bool tk_evidence_is_at_baseline(const struct tk_evidence *e, double level, double threshold)
{
	const struct tk_alert_evidence *a = &e->alert;
	/* Levels that moved often make the noise look large, and the threshold with it. */
	const double tolerance = fmin(
	        threshold, fmax(log1p(e->options->min_effect), LEFT_MAX * fabs(log1p(a->change))));

	return !isfinite(a->baseline) || tk_evidence_sign(e) * (level - a->baseline) <= tolerance;
}

bool tk_evidence_is_recovered(const struct tk_evidence *e, double level, double threshold)
{
	const struct tk_alert_evidence *a = &e->alert;

	/* An alert about a change below the threshold would count as recovered at once. */
	return a->exists && isfinite(a->baseline) &&
	       tk_evidence_is_at_baseline(e, level, threshold) &&
	       fabs(log1p(a->change)) > threshold;
}

void tk_verdict_add_alert_fact(
        const struct tk_evidence *e, enum tk_fact_kind kind, struct tk_verdict *v)
{
	tk_verdict_add_fact(
	        v, (struct tk_fact){.kind = kind, .time_s = e->alert.opened_s}, e->alert.bad_rev);
}

/* ---- context ---- */

bool tk_verdict_add_shared_shift(const struct tk_step_evidence *s, struct tk_verdict *v)
{
	const struct tk_shared_shift_evidence *shared = &s->shared;

	if (!shared->exists || !shared->significant)
		return false;
	tk_verdict_add_fact(v,
	        (struct tk_fact){.kind = TK_FACT_SHARED_SHIFT,
	                .number = {(double)shared->series, (double)shared->controls,
	                        expm1(shared->shift), expm1(shared->remaining)}},
	        NULL);
	return true;
}

bool tk_verdict_add_environment(const struct tk_step_evidence *s, struct tk_verdict *v)
{
	if (!*s->environment.text)
		return false;
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, s->environment.text);
	return true;
}

void tk_verdict_add_outcome(
        const struct tk_run_evidence *run, enum tk_fact_kind kind, struct tk_verdict *v)
{
	char text[300];

	snprintf(text, sizeof text, "%.40s%s%.200s", tk_outcome_name(run->outcome),
	        *run->message ? ": " : "", run->message);
	tk_verdict_add_fact(v, (struct tk_fact){.kind = kind}, text);
}

/* Unsure, unless the code is the same: then the code did not change, however noisy the nights
 * are. */
void tk_verdict_set_unsure(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = e->step.same_code ? TK_VERDICT_SAME : TK_VERDICT_UNSURE;
	if (e->step.same_code)
		tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_SAME_CODE}, NULL);
}

void tk_verdict_add_last_measured(const struct tk_evidence *e, struct tk_verdict *v)
{
	struct tk_fact fact = {.kind = TK_FACT_LAST_MEASURED, .time_s = e->newest.as_of_s};

	if (e->rotate_nights > 1) {
		fact.number[0] = e->nights_ago;
		fact.number[1] = e->rotate_nights;
	}
	tk_verdict_add_fact(v, fact, NULL);
}
