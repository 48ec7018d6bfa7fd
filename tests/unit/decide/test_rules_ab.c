/* The rules that A/B runs decide, on plain evidence. */
#include "evidence_samples.h"

static struct tk_ab_result ab(enum tk_ab_decision decision, uint32_t count, double change)
{
	return (struct tk_ab_result){.decision = decision,
	        .count = count,
	        .change = change,
	        .lo = change - 0.01,
	        .hi = change + 0.01};
}

static void change_that_ab_runs_confirm(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.ab = ab(TK_AB_HIGHER, 16, 0.095);
	v = decide(&e, TK_RULE_AB_CONFIRMED, TK_VERDICT_REGRESSED);
	assert_float_equal(v.change.value, 0.095, 1e-12);
	assert_float_equal(v.threshold, 0.02, 1e-12);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_NIGHTLY_ESTIMATE)->number[0], 0, 1e-12);
	assert_int_equal(v.good_build_id, 96), assert_int_equal(v.bad_build_id, 99);

	e = with_step(0.1);
	e.ab = ab(TK_AB_HIGHER, 16, 0.095);
	v = decide(&e, TK_RULE_AB_CONFIRMED, TK_VERDICT_REGRESSED);
	assert_int_equal(v.good_build_id, 96), assert_int_equal(v.bad_build_id, 97);
	e.alert = alert(0.095);
	v = decide(&e, TK_RULE_AB_CONFIRMED, TK_VERDICT_SAME);
	expect_fact(&v, TK_FACT_STILL_AT_ALERT);
	e.better = TK_BETTER_HIGHER;
	e.alert.exists = false;
	decide(&e, TK_RULE_AB_CONFIRMED, TK_VERDICT_IMPROVED);
	e.alert = alert(0.1);
	v = decide(&e, TK_RULE_AB_CONFIRMED, TK_VERDICT_RECOVERED);
	expect_fact(&v, TK_FACT_BACK_TO_BASELINE);
}

/* The nights' step joins equal code: the change is where the newest code came in. */
static void change_of_the_newest_code(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.step.same_code_at_step = true;
	e.has_code_step = true;
	e.code_step = e.step;
	e.code_step.good_build_id = 97, e.code_step.bad_build_id = 98;
	e.code_step.before.value = 2e6;
	e.ab = ab(TK_AB_HIGHER, 16, 0.095);
	v = decide(&e, TK_RULE_AB_CONFIRMED, TK_VERDICT_REGRESSED);
	assert_int_equal(v.good_build_id, 97), assert_int_equal(v.bad_build_id, 98);
	assert_true(v.before.value == 2e6);
}

static void change_that_ab_runs_refute(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.ab = ab(TK_AB_SAME, 16, 0.001);
	v = decide(&e, TK_RULE_AB_REFUTED, TK_VERDICT_SAME);
	expect_fact(&v, TK_FACT_AB_RETRACTED);
	assert_int_equal(v.bad_build_id, 0);
	assert_float_equal(v.change.value, 0.1, 1e-12);

	e.adjusted.spike = true; /* unsure before: there was nothing to retract */
	v = decide(&e, TK_RULE_AB_REFUTED, TK_VERDICT_SAME);
	expect_fact(&v, TK_FACT_AB_NO_CHANGE);

	e.step.environment.hard = true;
	decide(&e, TK_RULE_AB_REFUTED, TK_VERDICT_ENVIRONMENT);

	e = quiet_series();
	e.ab = ab(TK_AB_SAME, 16, 0.001);
	v = decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME); /* they agree */
	expect_fact(&v, TK_FACT_AB_NO_CHANGE);
}

/* The night saw nothing, and neither did the pairs: they are named beside the verdict. */
static void ab_runs_that_agree_with_the_night(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	(void)state;
	e.ab = ab(TK_AB_SAME, 16, 0.001);
	v = decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	assert_int_equal(v.status, TK_VERDICT_SAME);
	const struct tk_fact *fact = tk_verdict_find_fact(&v, TK_FACT_AB_NO_CHANGE);
	assert_non_null(fact);
	assert_float_equal(fact->number[0], 0.001, 1e-12);
	assert_float_equal(fact->number[3], 16, 0);
	assert_null(tk_verdict_find_fact(&v, TK_FACT_AB_RETRACTED));
}

static void ab_runs_without_a_decision(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.ab = ab(TK_AB_INCONCLUSIVE, 0, NAN);
	v = decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	assert_null(tk_verdict_find_fact(&v, TK_FACT_AB_INCONCLUSIVE));
	e.ab = ab(TK_AB_INCONCLUSIVE, 11, 0.001);
	v = decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	expect_fact(&v, TK_FACT_AB_INCONCLUSIVE);
	e.ab.count = 12; /* a dozen pairs without a trace of it */
	decide(&e, TK_RULE_AB_NOT_REPRODUCED, TK_VERDICT_UNSURE);
	e.ab.lo = 0.001;
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	e.ab.lo = -0.01;
	e.ab.hi = -0.001;
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	e.ab.hi = 0.01;
	e.is_step = false;
	decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_UNSURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(change_that_ab_runs_confirm),
	        cmocka_unit_test(change_of_the_newest_code),
	        cmocka_unit_test(change_that_ab_runs_refute),
	        cmocka_unit_test(ab_runs_that_agree_with_the_night),
	        cmocka_unit_test(ab_runs_without_a_decision),
	};

	return cmocka_run_group_tests_name("rules of A/B runs", tests, NULL, NULL);
}
