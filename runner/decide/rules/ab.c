/* A/B runs overrule the nights: they compare both builds on the same night, one right after the
 * other. */
#include <math.h>

#include "decide/rules/evidence.h"
#include "decide/rules/rules.h"

#define CONVINCING_PAIRS 12 /* that show no trace of a change */

static void add_ab_fact(const struct tk_ab_result *ab, enum tk_fact_kind kind, struct tk_verdict *v)
{
	const struct tk_fact fact = {
	        .kind = kind, .number = {ab->change, ab->lo, ab->hi, ab->count}};

	tk_verdict_add_fact(v, fact, ab->fastest ? "min" : NULL);
}

static void add_nightly_estimate(struct tk_verdict *v, double change)
{
	tk_verdict_add_fact(
	        v, (struct tk_fact){.kind = TK_FACT_NIGHTLY_ESTIMATE, .number = {change}}, NULL);
}

static bool is_reported_change(enum tk_verdict_status status)
{
	return status == TK_VERDICT_REGRESSED || status == TK_VERDICT_IMPROVED;
}

static bool is_confirmed(const struct tk_evidence *e, const struct tk_verdict *nightly)
{
	(void)nightly;
	return tk_ab_result_is_changed(&e->ab);
}

static void set_ab_change(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_ab_result *ab = &e->ab;

	v->change = (struct tk_estimate){ab->change, ab->lo, ab->hi};
	v->threshold = e->options->min_effect;
	v->severity = v->threshold > 0 ? fabs(ab->change) / v->threshold : 0;
}

static void set_ab_builds(const struct tk_evidence *e, struct tk_verdict *v)
{
	if (e->has_code_step) {
		v->good_build_id = e->code_step.good_build_id;
		v->bad_build_id = e->code_step.bad_build_id;
	} else if (!v->bad_build_id) {
		v->good_build_id = e->step.newest_good_build_id;
		v->bad_build_id = e->step.newest_bad_build_id;
	}
}

/* The pairs give the size of the change; the nights do not count. */
static void decide_confirmed(const struct tk_evidence *e, struct tk_verdict *v)
{
	const struct tk_step_evidence *s = tk_evidence_ab_step(e);
	const double level = s->levels.before + log1p(e->ab.change),
	             threshold = log1p(e->options->min_effect);
	const bool worse = tk_evidence_sign(e) * e->ab.change > 0;

	if (e->has_code_step)
		tk_verdict_set_levels(s, v);
	set_ab_builds(e, v);
	tk_verdict_clear_facts(v);
	add_ab_fact(&e->ab, TK_FACT_AB_CHANGE, v);
	add_nightly_estimate(v, v->change.value);
	set_ab_change(e, v);
	v->decided_by = TK_RULE_AB_CONFIRMED;
	if (worse && tk_evidence_is_at_alert(e, s->start_s, level, threshold)) {
		v->status = TK_VERDICT_SAME;
		tk_verdict_add_alert_fact(e, TK_FACT_STILL_AT_ALERT, v);
	} else if (worse) {
		v->status = TK_VERDICT_REGRESSED;
	} else if (tk_evidence_is_recovered(e, level, threshold)) {
		v->status = TK_VERDICT_RECOVERED;
		tk_verdict_add_alert_fact(e, TK_FACT_BACK_TO_BASELINE, v);
	} else {
		v->status = TK_VERDICT_IMPROVED;
	}
}

/* The nights found a change, or could not decide; the pairs show that the code did not cause it. */
static bool is_refuted(const struct tk_evidence *e, const struct tk_verdict *nightly)
{
	return e->ab.decision == TK_AB_SAME &&
	       (is_reported_change(nightly->status) || nightly->status == TK_VERDICT_UNSURE ||
	               nightly->status == TK_VERDICT_NOT_COMPARABLE);
}

static void decide_refuted(const struct tk_evidence *e, struct tk_verdict *v)
{
	const bool was_change = is_reported_change(v->status);

	tk_verdict_clear_facts(v);
	add_ab_fact(&e->ab, was_change ? TK_FACT_AB_RETRACTED : TK_FACT_AB_NO_CHANGE, v);
	add_nightly_estimate(v, v->change.value);
	v->good_build_id = v->bad_build_id = 0;
	v->status =
	        v->status == TK_VERDICT_NOT_COMPARABLE ? TK_VERDICT_ENVIRONMENT : TK_VERDICT_SAME;
	v->decided_by = TK_RULE_AB_REFUTED;
}

static bool agrees(const struct tk_evidence *e, const struct tk_verdict *nightly)
{
	(void)nightly;
	return e->ab.decision == TK_AB_SAME;
}

static void add_agreement(const struct tk_evidence *e, struct tk_verdict *v)
{
	add_ab_fact(&e->ab, TK_FACT_AB_NO_CHANGE, v);
}

static bool is_inconclusive(const struct tk_evidence *e, const struct tk_verdict *nightly)
{
	(void)nightly;
	return e->ab.decision == TK_AB_INCONCLUSIVE && e->ab.count;
}

/* The pairs cannot rule the change out, but a dozen of them show no trace of it. */
static bool is_not_reproduced(const struct tk_evidence *e, const struct tk_verdict *nightly)
{
	return is_inconclusive(e, nightly) && e->ab.count >= CONVINCING_PAIRS && e->ab.lo < 0 &&
	       e->ab.hi > 0 && is_reported_change(nightly->status);
}

static void add_inconclusive(const struct tk_evidence *e, struct tk_verdict *v)
{
	add_ab_fact(&e->ab, TK_FACT_AB_INCONCLUSIVE, v);
}

static void decide_not_reproduced(const struct tk_evidence *e, struct tk_verdict *v)
{
	add_inconclusive(e, v);
	v->status = TK_VERDICT_UNSURE;
	v->decided_by = TK_RULE_AB_NOT_REPRODUCED;
}

const struct tk_ab_rule tk_rules_ab[] = {
        {is_confirmed, decide_confirmed},
        {is_refuted, decide_refuted},
        {agrees, add_agreement},
        {is_not_reproduced, decide_not_reproduced},
        {is_inconclusive, add_inconclusive},
        {0},
};
