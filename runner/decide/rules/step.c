/* Rules for series whose level changed: is the code the cause, and is the change new? */
#include <math.h>

#include "decide/rules/rules.h"

#define LASTING_NIGHTS 3   /* equal code at another level for so long: the machine, not chance */
#define SEPARABLE_SERIES 5 /* unchanged series tell a change of the machine from one of the code */
#define BACK_SHARE 3 /* one of so many nights at the level before: the new level does not last */

static bool is_visible(const struct tk_evidence *e)
{
	return tk_evidence_exceeds_threshold(e, e->step.before.value, e->step.after.value);
}

static bool is_back_after_step(const struct tk_evidence *e)
{
	return e->is_step && tk_evidence_is_recovered(e, e->step.levels.after, e->step.threshold);
}

/* The alert is over: a new build brought the level of before back, or A/B runs against a build from
 * before the alert find no difference, however noisy the nights are. */
static bool has_undone_alert(const struct tk_evidence *e)
{
	return (e->back.is_clear && e->back.is_new_build) ||
	       (e->alert.exists && !e->alert.is_closed && e->ab.decision == TK_AB_SAME &&
	               e->step.start_s <= e->alert.opened_s);
}

/* The newest nights are at the level before the step, and that is no accident: the newest code is
 * that of before, A/B runs find no difference between the two, or a night of the range closed the
 * alert about it. */
static bool is_back_again(const struct tk_evidence *e)
{
	const struct tk_step_evidence *s = &e->step;

	if (has_undone_alert(e) && !is_back_after_step(e))
		return true;
	if (!e->is_step)
		return e->ended.exists && !is_visible(e);
	return s->newest_back && tk_evidence_sign(e) * (s->levels.after - s->levels.before) > 0 &&
	       (e->ended.exists ||
	               (e->alert.exists && (!s->new_code || e->ab.decision == TK_AB_SAME)));
}

static void set_back_levels(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_set_levels(&e->step, v);
	if (e->back.nights && has_undone_alert(e)) {
		v->before = e->back.before;
		v->after = e->back.after;
		v->change = e->back.change;
		return;
	}
	if (!e->is_step || !e->step.newest_back)
		return;
	v->after = e->step.back;
	v->change = e->step.back_change;
	v->severity = fabs(log1p(v->change.value)) / e->step.threshold;
}

static void decide_back_again(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_alert_evidence *a = e->ended.exists ? &e->ended : &e->alert;

	tk_verdict_add_fact(v,
	        (struct tk_fact){.kind = TK_FACT_BACK_TO_BASELINE, .time_s = a->opened_s},
	        a->bad_rev);
}

/* With the machine's shift removed there is a step, but the timings themselves show none, or the
 * opposite. */
static bool only_machine_moved(const struct tk_evidence *e)
{
	const struct tk_step_evidence *s = &e->step;
	bool same_direction = s->change.value * (s->levels.after - s->levels.before) > 0;

	return e->is_step && !e->by_monitor && !s->same_code_at_step &&
	       !(is_visible(e) && same_direction);
}

static void decide_only_machine(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = is_visible(e) ? TK_VERDICT_ENVIRONMENT : TK_VERDICT_SAME;
	tk_verdict_add_shared_shift(&e->step, v);
	tk_verdict_add_number(v, TK_FACT_UNADJUSTED, e->step.change.value, 0);
}

/* A few nights are no evidence if the code is not known to be new and the monitor, which has seen
 * the same nights, reports no step yet. */
static bool is_too_early(const struct tk_evidence *e)
{
	return e->is_step && !e->by_monitor && (e->monitor.is_monitored || e->is_night) &&
	       !e->step.same_code_at_step && !e->step.is_new_build;
}

/* Nor will it: the other series of the machine made the step too. */
static bool is_shared_step(const struct tk_evidence *e)
{
	const struct tk_monitor_step *step = &e->monitor.machine_step;

	return is_too_early(e) && step->exists &&
	       log(step->after / step->before) * (e->step.levels.after - e->step.levels.before) > 0;
}

static void add_too_early(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_TOO_EARLY, e->step.change.value, (double)e->step.nights);
}

static bool has_few_nights(const struct tk_evidence *e)
{
	return e->is_step && e->step.nights < e->options->confirm_nights;
}

static void decide_few_nights(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_fact fact = {.kind = TK_FACT_FEW_NIGHTS,
	        .number = {v->change.value, (double)e->step.nights, e->options->confirm_nights}};

	tk_verdict_add_fact(v, fact, NULL);
	tk_verdict_set_unsure(e, v);
}

static bool has_few_samples(const struct tk_evidence *e)
{
	const uint32_t least = e->options->min_samples;

	return e->is_step && (e->step.samples_before < least || e->step.samples_after < least);
}

static void decide_few_samples(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_fact fact = {.kind = TK_FACT_FEW_SAMPLES,
	        .number = {v->change.value, e->step.samples_before, e->step.samples_after,
	                e->options->min_samples}};

	tk_verdict_add_fact(v, fact, NULL);
	tk_verdict_set_unsure(e, v);
}

static bool is_unchanged_code(const struct tk_evidence *e)
{
	return e->is_step && e->step.same_code_at_step;
}

/* Code that was measured before the step, or that came later, cannot have caused it. */
static void decide_unchanged_code(const struct tk_evidence *e, struct tk_verdict *v)
{
	const bool same = e->step.same_code, environment = *e->step.environment.text;

	tk_verdict_add_number(v, same ? TK_FACT_SAME_CODE : TK_FACT_CODE_CHANGED_LATER, 0, 0);
	v->status = environment || (same && e->step.nights >= LASTING_NIGHTS)
	                    ? TK_VERDICT_ENVIRONMENT
	            : same ? TK_VERDICT_SAME
	                   : TK_VERDICT_UNSURE;
}

/* The monitor reports a step of its own only where flat series clear the environment. */
static bool can_separate(const struct tk_evidence *e)
{
	const struct tk_shared_shift_evidence *s = &e->step.shared;

	return e->by_monitor ||
	       (s->exists && !s->unknown_code && (s->controls || s->series >= SEPARABLE_SERIES));
}

static bool is_other_environment(const struct tk_evidence *e)
{
	return e->is_step && e->step.environment.hard && !can_separate(e);
}

static void add_no_control(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_NO_CONTROL, 0, 0);
}

static double worsening(const struct tk_evidence *e)
{
	return tk_evidence_sign(e) * (e->step.levels.after - e->step.levels.before);
}

/* The step is a single night, no larger than an earlier spike of the series. */
static bool is_spike(const struct tk_evidence *e)
{
	return e->is_step && e->adjusted.spike && !e->by_monitor;
}

static void add_spike(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_number(v, TK_FACT_SPIKE, worsening(e) > 0 ? 1 : -1, 0);
}

static bool is_worse(const struct tk_evidence *e)
{
	return e->is_step && worsening(e) > 0;
}

/* The newest night, or a part of all since the step, is at the level before. What the monitor
 * reports tonight is not put off: it reports a step once. */
static bool is_back_since(const struct tk_evidence *e)
{
	const struct tk_step_evidence *s = &e->step;

	return is_worse(e) && !(e->is_night && e->by_monitor) &&
	       (s->newest_back || (s->nights_back && BACK_SHARE * s->nights_back >= s->nights));
}

static void decide_back_since(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_step_evidence *s = &e->step;
	const struct tk_fact fact = {.kind = TK_FACT_BACK_SINCE,
	        .number = {(double)s->nights_back, (double)s->nights, (double)s->newest_back}};

	tk_verdict_add_fact(v, fact, NULL);
	tk_verdict_set_unsure(e, v);
}

static bool is_still_at_alert(const struct tk_evidence *e)
{
	const struct tk_step_evidence *s = &e->step;

	return is_worse(e) && tk_evidence_is_at_alert(e, s->start_s, s->levels.after, s->threshold);
}

static void add_still_at_alert(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_alert_fact(e, TK_FACT_STILL_AT_ALERT, v);
}

static bool is_undirected(const struct tk_evidence *e)
{
	return e->is_step && e->better == TK_BETTER_UNKNOWN;
}

static void add_back_after_step(const struct tk_evidence *e, struct tk_verdict *v)
{
	tk_verdict_add_alert_fact(e, TK_FACT_BACK_TO_BASELINE, v);
}

static bool is_improved(const struct tk_evidence *e)
{
	return e->is_step;
}

const struct tk_rule tk_rules_step[] = {
        {TK_RULE_BACK_AGAIN, is_back_again, set_back_levels, TK_VERDICT_RECOVERED,
                .decide = decide_back_again},
        {TK_RULE_MACHINE_MOVED_ALONE, only_machine_moved, tk_verdict_set_step,
                TK_VERDICT_ENVIRONMENT, .decide = decide_only_machine},
        {TK_RULE_SHARED_STEP, is_shared_step, tk_verdict_set_step, TK_VERDICT_ENVIRONMENT,
                .decide = tk_verdict_add_shared_step},
        {TK_RULE_TOO_EARLY, is_too_early, tk_verdict_set_step, TK_VERDICT_UNSURE, true, false,
                add_too_early},
        {TK_RULE_FEW_NIGHTS, has_few_nights, tk_verdict_set_step, TK_VERDICT_UNSURE, true, false,
                decide_few_nights},
        {TK_RULE_FEW_SAMPLES, has_few_samples, tk_verdict_set_step, TK_VERDICT_UNSURE, true, false,
                decide_few_samples},
        {TK_RULE_UNCHANGED_CODE, is_unchanged_code, tk_verdict_set_step, TK_VERDICT_UNSURE, true,
                true, decide_unchanged_code},
        {TK_RULE_ENVIRONMENT_CHANGED, is_other_environment, tk_verdict_set_step,
                TK_VERDICT_NOT_COMPARABLE, true, true, add_no_control},
        {TK_RULE_SPIKE, is_spike, tk_verdict_set_step, TK_VERDICT_UNSURE, true, true, add_spike},
        {TK_RULE_BACK_SINCE, is_back_since, tk_verdict_set_step, TK_VERDICT_UNSURE, true, true,
                decide_back_since},
        {TK_RULE_STILL_AT_ALERT, is_still_at_alert, tk_verdict_set_step, TK_VERDICT_SAME, true,
                true, add_still_at_alert},
        {TK_RULE_CHANGED, is_undirected, tk_verdict_set_step, TK_VERDICT_CHANGED, true, true},
        {TK_RULE_REGRESSED, is_worse, tk_verdict_set_step, TK_VERDICT_REGRESSED, true, true},
        {TK_RULE_BACK_AFTER_STEP, is_back_after_step, tk_verdict_set_step, TK_VERDICT_RECOVERED,
                true, true, add_back_after_step},
        {TK_RULE_IMPROVED, is_improved, tk_verdict_set_step, TK_VERDICT_IMPROVED, true, true},
        {0},
};
