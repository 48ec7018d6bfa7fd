/* The table of rules, in order: see rules.h. */
#include "decide/rules/rules.h"

#include <math.h>

#include "decide/rules/evidence.h"

#define SUGGESTIVE_P 0.01

bool tk_evidence_exceeds_threshold(const struct tk_evidence *e, double before, double after)
{
	if (e->is_time_ns && fabs(after - before) < e->options->min_effect_ns)
		return false;
	return fabs(log(after / before)) > log1p(e->options->min_effect);
}

bool tk_evidence_is_large(const struct tk_evidence *e, const struct tk_level_change *change)
{
	return tk_evidence_exceeds_threshold(e, exp(change->before), exp(change->after)) &&
	       fabs(change->after - change->before) > TK_NOISE_STANDARD_ERRORS * change->se;
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
	return e->lower_is_better ? 1 : -1;
}

static const struct tk_rule *const parts[] = {
        tk_rules_absence, tk_rules_baseline, tk_rules_step, tk_rules_steady};

static const struct tk_rule *find_rule(const struct tk_evidence *e)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (const struct tk_rule *rule = parts[i]; rule->decide; rule++)
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
	rule->decide(e, out);
	for (const struct tk_ab_rule *ab = tk_rules_ab; ab->decide; ab++)
		if (e->ab.decision != TK_AB_NONE && ab->applies(e, out)) {
			ab->decide(e, out);
			break;
		}
	if (waits_for_turn(e))
		tk_verdict_add_last_measured(e, out);
	out->cause = cause_of(out);
	out->status_before_ack = out->status;
}
