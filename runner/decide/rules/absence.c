/* Rules for series without a recent timing: not measured, skipped, failed or too old. */
#include "decide/rules/evidence.h"
#include "decide/rules/rules.h"

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

static void decide_never_measured(const struct tk_evidence *e, struct tk_verdict *v)
{
	(void)e;
	v->status = TK_VERDICT_NEW;
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_NOT_MEASURED}, NULL);
}

/* A series that never had a timing cannot miss one. */
static bool is_gone_unsupported(const struct tk_evidence *e)
{
	return is_absent(e) && !e->point_count && is_unsupported(&e->newest);
}

static void decide_gone_unsupported(const struct tk_evidence *e, struct tk_verdict *v)
{
	(void)e;
	v->status = TK_VERDICT_UNSUPPORTED;
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_WAS_UNSUPPORTED}, NULL);
}

/* A night that skipped it was its turn. */
static bool is_not_due(const struct tk_evidence *e)
{
	return e->is_not_due && !e->is_too_old && e->newest.exists && !was_skipped(&e->newest);
}

static void decide_not_due(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = e->newest.has_timing         ? TK_VERDICT_SAME
	            : is_unsupported(&e->newest) ? TK_VERDICT_UNSUPPORTED
	                                         : TK_VERDICT_FAILING;
	if (!e->newest.has_timing)
		tk_verdict_add_outcome(&e->newest, TK_FACT_OUTCOME, v);
	tk_verdict_add_last_measured(e, v);
}

static bool is_missing(const struct tk_evidence *e)
{
	return e->was_left_out && !e->is_too_old;
}

static void decide_missing(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_MISSING;
	tk_verdict_add_last_measured(e, v);
}

static bool has_no_timing(const struct tk_evidence *e)
{
	return !e->within.has_timing;
}

static bool is_skipped(const struct tk_evidence *e)
{
	return has_no_timing(e) && was_skipped(&e->within) && e->point_count;
}

static void decide_skipped(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_MISSING;
	tk_verdict_add_outcome(&e->within, TK_FACT_OUTCOME, v);
}

static bool is_skipped_new(const struct tk_evidence *e)
{
	return has_no_timing(e) && was_skipped(&e->within);
}

static void decide_skipped_new(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_NEW;
	tk_verdict_add_outcome(&e->within, TK_FACT_OUTCOME, v);
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_NO_TIMING_YET}, NULL);
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
	v->status = is_unsupported(&e->within) ? TK_VERDICT_UNSUPPORTED : TK_VERDICT_FAILING;
	tk_verdict_add_outcome(&e->within, TK_FACT_OUTCOME, v);
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
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_NEVER_TIMED}, NULL);
}

static void decide_newly_failed(const struct tk_evidence *e, struct tk_verdict *v)
{
	v->status = TK_VERDICT_NEWLY_FAILED;
	v->good_build_id = e->last_point_build_id;
	v->bad_build_id = e->within.build_id;
	v->last_good_run_id = e->last_point_run_id;
	v->first_bad_run_id = e->within.run_id;
	tk_verdict_add_outcome(&e->within, TK_FACT_OUTCOME, v);
}

static void decide_stale(const struct tk_evidence *e, struct tk_verdict *v)
{
	const double age_s = (double)(e->options->now_s - e->newest.as_of_s);

	v->status = TK_VERDICT_STALE;
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_DATA_AGE, .number = {age_s}}, NULL);
}

static bool is_stale(const struct tk_evidence *e)
{
	return e->is_too_old;
}

const struct tk_rule tk_rules_absence[] = {
        {TK_RULE_NEVER_MEASURED, is_never_measured, tk_verdict_set_last_value,
                decide_never_measured},
        {TK_RULE_GONE_UNSUPPORTED, is_gone_unsupported, tk_verdict_set_last_value,
                decide_gone_unsupported},
        {TK_RULE_NOT_DUE, is_not_due, tk_verdict_set_last_value, decide_not_due},
        {TK_RULE_MISSING, is_missing, tk_verdict_set_last_value, decide_missing},
        {TK_RULE_NOT_MEASURED_RECENTLY, is_absent, tk_verdict_set_last_value, decide_stale},
        {TK_RULE_SKIPPED, is_skipped, tk_verdict_set_last_value, decide_skipped},
        {TK_RULE_SKIPPED_NEW, is_skipped_new, tk_verdict_set_last_value, decide_skipped_new},
        {TK_RULE_STILL_FAILING, is_still_failing, tk_verdict_set_last_value, decide_still_failing},
        {TK_RULE_NEVER_TIMED, is_never_timed, tk_verdict_set_last_value, decide_never_timed},
        {TK_RULE_NEWLY_FAILED, has_no_timing, tk_verdict_set_last_value, decide_newly_failed},
        {TK_RULE_STALE, is_stale, NULL, decide_stale},
        {0},
};

/* ---- baseline ---- */

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
