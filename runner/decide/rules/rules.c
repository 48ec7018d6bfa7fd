/* The rules in order, what several of them do, and A/B runs: see rules.h. */
#include <math.h>
#include <stdio.h>

#include "decide/rules/rules.h"

#define SUGGESTIVE_P 0.01
#define LEFT_MAX 0.1        /* of an alert's change, where the level counts as the one before it */
#define CONVINCING_PAIRS 12 /* that show no trace of a change */

bool tk_evidence_exceeds_threshold(const struct tk_evidence *e, double before, double after)
{
	return fabs(after - before) >= e->min_effect_ns &&
	       fabs(log(after / before)) > log1p(e->min_effect);
}

static bool exceeds_noise(const struct tk_level_change *change)
{
	return fabs(change->after - change->before) > TK_NOISE_STANDARD_ERRORS * change->se;
}

bool tk_evidence_is_large(const struct tk_evidence *e, const struct tk_level_change *change)
{
	return tk_evidence_exceeds_threshold(e, exp(change->before), exp(change->after)) &&
	       exceeds_noise(change);
}

bool tk_evidence_is_below_floor(const struct tk_evidence *e, const struct tk_level_change *change)
{
	return exceeds_noise(change) && change->p <= SUGGESTIVE_P &&
	       fabs(change->after - change->before) > log1p(e->min_effect) &&
	       !tk_evidence_exceeds_threshold(e, exp(change->before), exp(change->after));
}

bool tk_evidence_is_suggestive(const struct tk_evidence *e, const struct tk_level_change *change)
{
	return tk_evidence_is_large(e, change) && change->p <= SUGGESTIVE_P;
}

const struct tk_step_evidence *tk_evidence_ab_step(const struct tk_evidence *e)
{
	return e->has_code_step ? &e->code_step : &e->step;
}

double tk_evidence_sign(const struct tk_evidence *e)
{
	return e->better == TK_BETTER_HIGHER ? -1 : 1;
}

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

void tk_verdict_add_number(struct tk_verdict *v, enum tk_fact_kind kind, double a, double b)
{
	tk_verdict_add_fact(v, (struct tk_fact){.kind = kind, .number = {a, b}}, NULL);
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
	const struct tk_monitor_step *m = &e->monitor.step;
	tk_verdict_add_fact(v,
	        m->is_drift ? (struct tk_fact){.kind = TK_FACT_DRIFT,
	                              .time_s = m->first_s,
	                              .number = {(double)(m->known_s - m->first_s), m->log_lr}}
	                    : (struct tk_fact){.kind = TK_FACT_MONITOR_STEP,
	                              .time_s = s->start_s,
	                              .number = {m->log_lr}},
	        NULL);
	if (!isnan(s->median_change))
		tk_verdict_add_number(v, TK_FACT_NIGHTLY_MEDIANS, s->median_change, 0);
}

/* ---- alerts ---- */

static double alert_tolerance(const struct tk_evidence *e)
{
	return fmax(log1p(e->min_effect), LEFT_MAX * fabs(log1p(e->alert.change)));
}

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
	const double tolerance =
	        fmin(fmin(threshold, alert_tolerance(e)), fabs(log1p(a->change)) / 2);

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

static void add_step_together(int64_t time_s, double change, struct tk_verdict *v)
{
	tk_verdict_add_fact(v,
	        (struct tk_fact){.kind = TK_FACT_SHARED_STEP, .time_s = time_s, .number = {change}},
	        NULL);
}

void tk_verdict_add_shared_step(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_monitor_step *step = &e->monitor.machine_step;

	add_step_together(step->first_s, step->after / step->before - 1, v);
}

void tk_verdict_add_shared_shift(const struct tk_step_evidence *s, struct tk_verdict *v)
{
	const struct tk_shared_shift_evidence *shared = &s->shared;

	if (!shared->exists || !shared->significant)
		return;
	if (shared->unknown_code) {
		add_step_together(s->start_s, expm1(shared->shift), v);
		return;
	}
	tk_verdict_add_fact(v,
	        (struct tk_fact){.kind = TK_FACT_SHARED_SHIFT,
	                .number = {(double)shared->series, (double)shared->controls,
	                        expm1(shared->shift), expm1(shared->remaining)}},
	        NULL);
}

void tk_verdict_add_environment(const struct tk_step_evidence *s, struct tk_verdict *v)
{
	if (*s->environment.text)
		tk_verdict_add_fact(
		        v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, s->environment.text);
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

/* ---- A/B runs ---- */

static void add_ab_fact(const struct tk_ab_result *ab, enum tk_fact_kind kind, struct tk_verdict *v)
{
	const struct tk_fact fact = {
	        .kind = kind, .number = {ab->change, ab->lo, ab->hi, ab->count}};

	tk_verdict_add_fact(v, fact, ab->fastest ? "min" : NULL);
}

static bool is_reported_change(enum tk_verdict_status status)
{
	return status == TK_VERDICT_REGRESSED || status == TK_VERDICT_IMPROVED ||
	       status == TK_VERDICT_CHANGED;
}

static void set_ab_change(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_ab_result *ab = &e->ab;

	v->change = (struct tk_estimate){ab->change, ab->lo, ab->hi};
	v->threshold = e->min_effect;
	v->severity = v->threshold > 0 ? fabs(ab->change) / v->threshold : 0;
}

static void set_ab_builds(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (e->has_code_step) {
		v->good_build_id = e->code_step.good_build_id;
		v->bad_build_id = e->code_step.bad_build_id;
	} else if (!v->bad_build_id) {
		/* The pairs say no more than that it is one of the commits between. */
		v->good_build_id = e->step.good_build_id;
		v->bad_build_id = e->step.newest_bad_build_id;
	}
}

/* What A/B runs confirmed, A/B runs have taken back. */
static bool undoes_alert(const struct tk_evidence *e)
{
	const struct tk_alert_evidence *a = &e->alert;
	const double left = log1p(a->change) + log1p(e->ab.change);

	return a->exists && !a->is_closed && a->change * e->ab.change < 0 &&
	       fabs(left) <= alert_tolerance(e);
}

/* Against a build from before the alert: what it reports, and no more. */
static bool repeats_alert(const struct tk_evidence *e, const struct tk_step_evidence *s)
{
	const struct tk_alert_evidence *a = &e->alert;
	const double more = log1p(e->ab.change) - log1p(a->change);

	return a->exists && !a->is_closed && s->start_s <= a->opened_s &&
	       tk_evidence_sign(e) * more <= alert_tolerance(e);
}

/* The pairs give the size of the change; the nights do not count. */
static void decide_confirmed(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_step_evidence *s = tk_evidence_ab_step(e);
	const double level = s->levels.before + log1p(e->ab.change),
	             threshold = log1p(e->min_effect);
	const bool worse = tk_evidence_sign(e) * e->ab.change > 0;

	if (e->has_code_step)
		tk_verdict_set_levels(s, v);
	set_ab_builds(e, v);
	tk_verdict_clear_facts(v);
	add_ab_fact(&e->ab, TK_FACT_AB_CHANGE, v);
	tk_verdict_add_number(v, TK_FACT_NIGHTLY_ESTIMATE, v->change.value, 0);
	set_ab_change(e, v);
	v->decided_by = TK_RULE_AB_CONFIRMED;
	if (e->better == TK_BETTER_UNKNOWN) {
		v->status = TK_VERDICT_CHANGED;
	} else if (worse && (tk_evidence_is_at_alert(e, s->start_s, level, threshold) ||
	                            repeats_alert(e, s))) {
		v->status = TK_VERDICT_SAME;
		tk_verdict_add_alert_fact(e, TK_FACT_STILL_AT_ALERT, v);
	} else if (worse) {
		v->status = TK_VERDICT_REGRESSED;
	} else if (tk_evidence_is_recovered(e, level, threshold) || undoes_alert(e)) {
		v->status = TK_VERDICT_RECOVERED;
		tk_verdict_add_alert_fact(e, TK_FACT_BACK_TO_BASELINE, v);
	} else {
		v->status = TK_VERDICT_IMPROVED;
	}
}

/* The nights found a change, or could not decide; the pairs show that the code did not cause it. */
static void decide_refuted(const struct tk_evidence *e, struct tk_verdict *v)
{
	const bool was_change = is_reported_change(v->status);

	tk_verdict_clear_facts(v);
	add_ab_fact(&e->ab, was_change ? TK_FACT_AB_RETRACTED : TK_FACT_AB_NO_CHANGE, v);
	tk_verdict_add_number(v, TK_FACT_NIGHTLY_ESTIMATE, v->change.value, 0);
	v->good_build_id = v->bad_build_id = 0;
	v->status =
	        v->status == TK_VERDICT_NOT_COMPARABLE ? TK_VERDICT_ENVIRONMENT : TK_VERDICT_SAME;
	v->decided_by = TK_RULE_AB_REFUTED;
}

static void apply_same(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (is_reported_change(v->status) || v->status == TK_VERDICT_UNSURE ||
	        v->status == TK_VERDICT_NOT_COMPARABLE)
		decide_refuted(e, v);
	else
		add_ab_fact(&e->ab, TK_FACT_AB_NO_CHANGE, v);
}

/* The pairs cannot rule the change out, but a dozen of them may show no trace of it. */
static void apply_inconclusive(const struct tk_evidence *e, struct tk_verdict *v)
{
	add_ab_fact(&e->ab, TK_FACT_AB_INCONCLUSIVE, v);
	if (e->ab.count < CONVINCING_PAIRS || e->ab.lo >= 0 || e->ab.hi <= 0 ||
	        !is_reported_change(v->status))
		return;
	v->status = TK_VERDICT_UNSURE;
	v->decided_by = TK_RULE_AB_NOT_REPRODUCED;
}

/* A/B runs overrule the nights: they compare both builds on the same night, one right after the
 * other. */
static void apply_ab(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (tk_ab_result_is_changed(&e->ab))
		decide_confirmed(e, v);
	else if (e->ab.decision == TK_AB_SAME)
		apply_same(e, v);
	else if (e->ab.decision == TK_AB_INCONCLUSIVE && e->ab.count)
		apply_inconclusive(e, v);
}

/* ---- the table ---- */

static const struct tk_rule *const parts[] = {
        tk_rules_absence, tk_rules_baseline, tk_rules_step, tk_rules_steady};

static const struct tk_rule *find_rule(const struct tk_evidence *e)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (const struct tk_rule *rule = parts[i]; rule->applies; rule++)
			if (rule->applies(e))
				return rule;
	return NULL; /* not reached: the last rule always applies */
}

/* A range ends with a night that was not the turn of this series. */
static bool waits_for_turn(const struct tk_evidence *e)
{
	return e->rotate_nights > 1 && e->nights_ago && e->within.exists;
}

static enum tk_cause cause_of(const struct tk_verdict *v)
{
	const bool environment = tk_verdict_find_fact(v, TK_FACT_ENVIRONMENT) != NULL;

	switch (v->status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_CHANGED:
		return environment ? TK_CAUSE_CODE_OR_ENVIRONMENT : TK_CAUSE_CODE;
	case TK_VERDICT_ENVIRONMENT:
		return TK_CAUSE_ENVIRONMENT;
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_FAILING:
		return TK_CAUSE_FAILURE;
	case TK_VERDICT_MISSING:
		return TK_CAUSE_MISSING_DATA;
	default:
		return TK_CAUSE_UNKNOWN;
	}
}

void tk_rules_decide(const struct tk_evidence *e, struct tk_verdict *out)
{
	const struct tk_rule *rule = find_rule(e);

	tk_verdict_init(out);
	out->decided_by = rule->id;
	if (rule->set_levels)
		rule->set_levels(e, out);
	out->status = rule->status;
	if (rule->has_builds) {
		out->good_build_id = e->step.good_build_id;
		out->bad_build_id = e->step.bad_build_id;
	}
	if (rule->has_context) {
		tk_verdict_add_shared_shift(&e->step, out);
		tk_verdict_add_environment(&e->step, out);
	}
	if (rule->decide)
		rule->decide(e, out);
	apply_ab(e, out);
	if (waits_for_turn(e))
		tk_verdict_add_last_measured(e, out);
	out->cause = cause_of(out);
	out->status_before_ack = out->status;
}
