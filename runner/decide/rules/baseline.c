/* Rules for series without a baseline. */
#include "decide/rules/evidence.h"
#include "decide/rules/rules.h"

static bool lacks_chosen_baseline(const struct tk_evidence *e)
{
	return e->lacks_baseline;
}

static void decide_baseline_not_measured(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_fact fact = {.kind = TK_FACT_BASELINE_NOT_MEASURED};

	v->status = TK_VERDICT_NOT_COMPARABLE;
	tk_verdict_add_fact(v, fact, e->options->baseline_name);
}

static bool is_first_timing(const struct tk_evidence *e)
{
	return !e->has_baseline;
}

static bool is_first_timing_after_failure(const struct tk_evidence *e)
{
	return is_first_timing(e) && e->previous.exists && !e->previous.has_timing;
}

static void decide_first_timing_after_failure(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_FIXED;
	tk_verdict_add_outcome(&e->previous, TK_FACT_OUTCOME_BEFORE, v);
}

static void decide_first_timing(const struct tk_evidence *e, struct tk_verdict *v)
{
	(void)e;
	v->status = TK_VERDICT_NEW;
}

const struct tk_rule tk_rules_baseline[] = {
        {TK_RULE_BASELINE_NOT_MEASURED, lacks_chosen_baseline, NULL, decide_baseline_not_measured},
        {TK_RULE_FIRST_TIMING_AFTER_FAILURE, is_first_timing_after_failure,
                tk_verdict_set_new_value, decide_first_timing_after_failure},
        {TK_RULE_FIRST_TIMING, is_first_timing, tk_verdict_set_new_value, decide_first_timing},
        {0},
};
