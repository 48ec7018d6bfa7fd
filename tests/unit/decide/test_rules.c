/* Every rule of decide/rules on plain evidence, without a history. */
#include "evidence_samples.h"

static void absent_series(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.within = e.newest = e.previous = (struct tk_run_evidence){.exists = false};
	e.point_count = 0;
	v = decide(&e, TK_RULE_NEVER_MEASURED, TK_VERDICT_NEW);
	expect_fact(&v, TK_FACT_NOT_MEASURED);
	assert_true(isnan(v.before.value));

	e.newest = e.previous = run(TK_OUTCOME_UNSUPPORTED, 90);
	decide(&e, TK_RULE_GONE_UNSUPPORTED, TK_VERDICT_UNSUPPORTED);

	e.newest = e.previous = run(TK_OUTCOME_OK, 90);
	e.point_count = 5;
	v = decide(&e, TK_RULE_NOT_MEASURED_RECENTLY, TK_VERDICT_STALE);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_DATA_AGE)->number[0], 10.0 * DAY, 1e-9);

	e.was_left_out = true;
	v = decide(&e, TK_RULE_MISSING, TK_VERDICT_MISSING);
	assert_int_equal(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->time_s, 90 * DAY);
	assert_int_equal(v.cause, TK_CAUSE_MISSING_DATA);
	assert_true(v.before.value == 1e6);

	e.is_too_old = true;
	decide(&e, TK_RULE_NOT_MEASURED_RECENTLY, TK_VERDICT_STALE);
}

/* Between two turns of a rotation a series is as its newest run left it. */
static void series_between_two_turns(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	(void)state;
	e.within = (struct tk_run_evidence){.exists = false};
	e.is_not_due = true;
	e.newest = e.previous = run(TK_OUTCOME_OK, 90);
	v = decide(&e, TK_RULE_NOT_DUE, TK_VERDICT_SAME);
	assert_int_equal(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->time_s, 90 * DAY);
	assert_true(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->number[1] == 0);
	assert_true(v.before.value == 1e6);

	e.rotate_nights = 7;
	e.nights_ago = 2;
	v = decide(&e, TK_RULE_NOT_DUE, TK_VERDICT_SAME);
	assert_true(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->number[0] == 2);
	assert_true(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->number[1] == 7);

	e.newest = run(TK_OUTCOME_CRASHED, 90);
	v = decide(&e, TK_RULE_NOT_DUE, TK_VERDICT_FAILING);
	expect_fact(&v, TK_FACT_OUTCOME);
	e.newest = run(TK_OUTCOME_UNSUPPORTED, 90);
	decide(&e, TK_RULE_NOT_DUE, TK_VERDICT_UNSUPPORTED);

	e.newest = run(TK_OUTCOME_OK, 90);
	e.is_too_old = true;
	decide(&e, TK_RULE_NOT_MEASURED_RECENTLY, TK_VERDICT_STALE);
}

/* The verdict of a range says how old the newest point of a rotated series is; that of a series
 * which the last night measured does not. */
static void range_that_ends_between_two_turns(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	(void)state;
	e.newest = e.within = run(TK_OUTCOME_OK, 90);
	e.rotate_nights = 7;
	tk_rules_decide(&e, &v);
	assert_null(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED));
	e.nights_ago = 3;
	tk_rules_decide(&e, &v);
	assert_int_equal(v.status, TK_VERDICT_SAME);
	assert_int_equal(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->time_s, 90 * DAY);
	assert_true(tk_verdict_find_fact(&v, TK_FACT_LAST_MEASURED)->number[0] == 3);
}

static void skipped_series(void **state)
{
	static const enum tk_outcome outcomes[] = {TK_OUTCOME_SKIPPED, TK_OUTCOME_NO_DEVICE};

	for (size_t i = 0; i < 2; i++) {
		struct tk_evidence e = quiet_series();

		e.within = e.newest = run(outcomes[i], 99);
		decide(&e, TK_RULE_SKIPPED, TK_VERDICT_MISSING);
		e.point_count = 0;
		decide(&e, TK_RULE_SKIPPED_NEW, TK_VERDICT_NEW);
	}
}

static void failed_series(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.within = e.newest = run(TK_OUTCOME_CRASHED, 99);
	e.within.message = "signal 6";
	e.last_point_s = 96 * DAY;
	e.last_point_run_id = e.last_point_build_id = 96;
	v = decide(&e, TK_RULE_NEWLY_FAILED, TK_VERDICT_NEWLY_FAILED);
	assert_string_equal(
	        tk_fact_text(&v, tk_verdict_find_fact(&v, TK_FACT_OUTCOME)), "crashed: signal 6");
	assert_int_equal(v.good_build_id, 96), assert_int_equal(v.bad_build_id, 99);
	assert_int_equal(v.last_good_run_id, 96), assert_int_equal(v.first_bad_run_id, 99);
	assert_int_equal(v.cause, TK_CAUSE_FAILURE);

	e.previous = run(TK_OUTCOME_TIMEOUT, 97);
	decide(&e, TK_RULE_STILL_FAILING, TK_VERDICT_FAILING);
	e.last_point_s = 98 * DAY; /* it worked in between */
	decide(&e, TK_RULE_NEWLY_FAILED, TK_VERDICT_NEWLY_FAILED);

	e.previous = run(TK_OUTCOME_SKIPPED, 97); /* says nothing about the series */
	e.last_point_s = 96 * DAY;
	decide(&e, TK_RULE_NEWLY_FAILED, TK_VERDICT_NEWLY_FAILED);

	e.point_count = 0;
	decide(&e, TK_RULE_NEVER_TIMED, TK_VERDICT_FAILING);
	e.within.outcome = TK_OUTCOME_UNSUPPORTED;
	decide(&e, TK_RULE_NEVER_TIMED, TK_VERDICT_UNSUPPORTED);
	e.within.outcome = TK_OUTCOME_IMPLAUSIBLE; /* an alert, though nothing was fine before */
	v = decide(&e, TK_RULE_NEVER_TIMED, TK_VERDICT_NEWLY_FAILED);
	assert_int_equal(v.first_bad_run_id, 99);
	e.previous = run(TK_OUTCOME_IMPLAUSIBLE, 97); /* once */
	decide(&e, TK_RULE_STILL_FAILING, TK_VERDICT_FAILING);
}

/* ---- baseline ---- */

static void series_without_a_baseline(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.has_baseline = false;
	v = decide(&e, TK_RULE_FIRST_TIMING, TK_VERDICT_NEW);
	assert_true(v.after.value == 1e6 && isnan(v.before.value));
	e.previous = run(TK_OUTCOME_CRASHED, 96);
	v = decide(&e, TK_RULE_FIRST_TIMING_AFTER_FAILURE, TK_VERDICT_FIXED);
	expect_fact(&v, TK_FACT_OUTCOME_BEFORE);
	e.lacks_baseline = true;
	v = decide(&e, TK_RULE_BASELINE_NOT_MEASURED, TK_VERDICT_NOT_COMPARABLE);
	assert_string_equal(tk_fact_text(&v, &v.facts[0]), "pinned:v1");
	e.is_too_old = true;
	decide(&e, TK_RULE_STALE, TK_VERDICT_STALE);
}

/* ---- steps ---- */

static void steps_of_the_code(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v = decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);

	assert_int_equal(v.cause, TK_CAUSE_CODE);
	assert_int_equal(v.good_build_id, 96), assert_int_equal(v.bad_build_id, 97);
	assert_float_equal(v.change.value, 0.1, 1e-12);
	assert_float_equal(v.threshold, 0.02, 1e-12);
	assert_float_equal(v.severity, log(1.1) / log(1.02), 1e-9);
	assert_float_equal(v.q, 0.001, 1e-12);

	e = with_step(-0.1);
	decide(&e, TK_RULE_IMPROVED, TK_VERDICT_IMPROVED);
	e.better = TK_BETTER_HIGHER;
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
}

static void step_in_a_changed_environment(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	strcpy(e.step.environment.text, "kernel 6.8 -> 6.9");
	v = decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	assert_int_equal(v.cause, TK_CAUSE_CODE_OR_ENVIRONMENT);

	e.step.environment.hard = true;
	v = decide(&e, TK_RULE_ENVIRONMENT_CHANGED, TK_VERDICT_NOT_COMPARABLE);
	expect_fact(&v, TK_FACT_NO_CONTROL);

	e.step.shared = (struct tk_shared_shift_evidence){.exists = true, .series = 4};
	decide(&e, TK_RULE_ENVIRONMENT_CHANGED, TK_VERDICT_NOT_COMPARABLE);
	e.step.shared.series = 5; /* enough unchanged series to separate it from the code */
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	e.step.shared =
	        (struct tk_shared_shift_evidence){.exists = true, .series = 1, .controls = 1};
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
}

static void step_that_only_the_machine_made(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.step.shared = (struct tk_shared_shift_evidence){.exists = true,
	        .significant = true,
	        .series = 12,
	        .controls = 1,
	        .shift = log(0.9),
	        .remaining = log(1.1)};
	e.step.after.value = 1e6, e.step.change.value = 0; /* its timings show nothing */
	v = decide(&e, TK_RULE_MACHINE_MOVED_ALONE, TK_VERDICT_SAME);
	expect_fact(&v, TK_FACT_SHARED_SHIFT), expect_fact(&v, TK_FACT_UNADJUSTED);
	assert_int_equal(v.bad_build_id, 0);
	e.step.after.value = 0.9e6, e.step.change.value = -0.1; /* or the opposite */
	decide(&e, TK_RULE_MACHINE_MOVED_ALONE, TK_VERDICT_ENVIRONMENT);
}

static void step_that_is_too_young(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.step.is_new_build = false;
	decide(&e, TK_RULE_REGRESSED,
	        TK_VERDICT_REGRESSED); /* a range without a monitor: nights are all there is */
	e.is_night = true;
	v = decide(&e, TK_RULE_TOO_EARLY, TK_VERDICT_UNSURE);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_TOO_EARLY)->number[1], 3, 0);
	e.is_night = false;
	e.monitor.is_monitored = true;
	decide(&e, TK_RULE_TOO_EARLY, TK_VERDICT_UNSURE);
}

static void step_without_the_evidence_that_is_required(void **state)
{
	struct tk_detect_options strict = options;
	struct tk_evidence e = with_step(0.1);

	e.options = &strict;
	strict.confirm_nights = 4;
	decide(&e, TK_RULE_FEW_NIGHTS, TK_VERDICT_UNSURE);
	strict.confirm_nights = 3;
	strict.min_samples = 31;
	decide(&e, TK_RULE_FEW_SAMPLES, TK_VERDICT_UNSURE);
	e.step.same_code = true; /* the code did not change, however few samples there are */
	decide(&e, TK_RULE_FEW_SAMPLES, TK_VERDICT_SAME);
	strict.min_samples = 30;
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
}

static void step_of_equal_code(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.step.same_code_at_step = e.step.same_code = true;
	v = decide(&e, TK_RULE_UNCHANGED_CODE, TK_VERDICT_ENVIRONMENT); /* it lasts */
	expect_fact(&v, TK_FACT_SAME_CODE);
	e.step.nights = 2;
	decide(&e, TK_RULE_UNCHANGED_CODE, TK_VERDICT_SAME);
	e.step.same_code = false;
	v = decide(&e, TK_RULE_UNCHANGED_CODE, TK_VERDICT_UNSURE);
	expect_fact(&v, TK_FACT_CODE_CHANGED_LATER);
	strcpy(e.step.environment.text, "kernel 6.8 -> 6.9");
	decide(&e, TK_RULE_UNCHANGED_CODE, TK_VERDICT_ENVIRONMENT);
}

static void step_no_larger_than_a_spike(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.adjusted.spike = true;
	v = decide(&e, TK_RULE_SPIKE, TK_VERDICT_UNSURE);
	assert_float_equal(v.facts[0].number[0], 1, 0);
	e.by_monitor = true; /* which knows the spikes of the series */
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
}

static void step_that_is_over_or_alternates(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.step.nights = 5;
	e.step.nights_back = 1; /* one night of five, not the newest */
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	e.step.nights_back = 2;
	v = decide(&e, TK_RULE_BACK_SINCE, TK_VERDICT_UNSURE);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_BACK_SINCE)->number[0], 2, 0);
	e.step.nights_back = e.step.newest_back = 1;
	v = decide(&e, TK_RULE_BACK_SINCE, TK_VERDICT_UNSURE);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_BACK_SINCE)->number[2], 1, 0);
	e.alert = alert(0.1); /* it is not still at that level */
	e.step.new_code = true;
	decide(&e, TK_RULE_BACK_SINCE, TK_VERDICT_UNSURE);
	e.step.back = e.step.before;
	e.ab.decision = TK_AB_SAME; /* the newest code and that before the step */
	v = decide(&e, TK_RULE_BACK_AGAIN, TK_VERDICT_RECOVERED);
	assert_float_equal(v.after.value, e.step.before.value, 0);
	e.ab.decision = TK_AB_NONE;
	e.step.new_code = false; /* the code of before the step */
	decide(&e, TK_RULE_BACK_AGAIN, TK_VERDICT_RECOVERED);
	e.alert.exists = false;
	e.by_monitor = true;
	decide(&e, TK_RULE_BACK_SINCE, TK_VERDICT_UNSURE);
	e.is_night = true; /* it reports the step tonight only */
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);

	e = with_step(-0.1);
	e.step.nights = 5;
	e.step.nights_back = e.step.newest_back = 1;
	decide(&e, TK_RULE_IMPROVED, TK_VERDICT_IMPROVED);
}

static void steps_beside_an_alert(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.alert = alert(0.1);
	v = decide(&e, TK_RULE_STILL_AT_ALERT, TK_VERDICT_SAME);
	assert_string_equal(
	        tk_fact_text(&v, tk_verdict_find_fact(&v, TK_FACT_STILL_AT_ALERT)), "bbb");
	e.alert.change = 0.05; /* now it is worse than that */
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	e.alert = alert(0.1);
	e.alert.baseline = NAN;
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	e.alert = alert(0.1);
	e.by_monitor = true; /* a later step, by the monitor */
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);

	e = with_step(-0.1);
	e.alert = alert(0.1);
	v = decide(&e, TK_RULE_BACK_AFTER_STEP, TK_VERDICT_RECOVERED);
	expect_fact(&v, TK_FACT_BACK_TO_BASELINE);
	e.alert.change = 0.01; /* less than the threshold: it would be back from the start */
	decide(&e, TK_RULE_IMPROVED, TK_VERDICT_IMPROVED);
	e.alert = alert(0.1);
	e.step.threshold = 0.2; /* a noisy series, and a quarter of the alert's change is left */
	e.alert.baseline = e.step.levels.after - log1p(0.025);
	decide(&e, TK_RULE_IMPROVED, TK_VERDICT_IMPROVED);
	e.alert.change = 0.3; /* a twelfth */
	decide(&e, TK_RULE_BACK_AFTER_STEP, TK_VERDICT_RECOVERED);
}

static void step_of_the_monitor(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	e.by_monitor = true;
	e.monitor.step = (struct tk_monitor_step){.exists = true, .log_lr = 14.5};
	v = decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_MONITOR_STEP)->number[0], 14.5, 0);
	assert_null(tk_verdict_find_fact(&v, TK_FACT_NIGHTLY_MEDIANS));
	e.step.median_change = 0.01;
	v = decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
	expect_fact(&v, TK_FACT_NIGHTLY_MEDIANS);
}

/* ---- no step ---- */

static void steady_series(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v = decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);

	assert_int_equal(v.fact_count, 0);
	assert_true(v.before.value == 1e6 && v.after.value == 1e6);
	e.previous = run(TK_OUTCOME_CRASHED, 96);
	decide(&e, TK_RULE_FIXED, TK_VERDICT_FIXED);
	e.adjusted.earlier = true;
	v = decide(&e, TK_RULE_CHANGED_BEFORE, TK_VERDICT_SAME);
	expect_fact(&v, TK_FACT_CHANGED_BEFORE);
}

static void what_the_monitor_explains(void **state)
{
	struct tk_evidence e = quiet_series();

	e.monitor.machine_step =
	        (struct tk_monitor_step){.exists = true, .before = 1e6, .after = 1.1e6};
	struct tk_verdict v = decide(&e, TK_RULE_SHARED_STEP, TK_VERDICT_ENVIRONMENT);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_SHARED_STEP)->number[0], 0.1, 1e-9);
	e.monitor.retracted = (struct tk_monitor_step){.exists = true, .first_s = 89 * DAY};
	decide(&e, TK_RULE_RETRACTED, TK_VERDICT_SAME);
	e.alert = alert(0.1); /* opened by the step that is retracted */
	decide(&e, TK_RULE_RETRACTED, TK_VERDICT_RECOVERED);
	e.alert.baseline = log(0.9e6); /* another level than before it */
	decide(&e, TK_RULE_SHARED_STEP, TK_VERDICT_ENVIRONMENT);
	e.alert = alert(0.1);
	e.monitor.retracted.first_s = 91 * DAY;
	decide(&e, TK_RULE_RETRACTED, TK_VERDICT_SAME);
}

static void back_at_the_level_before_an_alert(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.alert = alert(0.1);
	v = decide(&e, TK_RULE_BACK, TK_VERDICT_RECOVERED);
	assert_int_equal(tk_verdict_find_fact(&v, TK_FACT_BACK_TO_BASELINE)->time_s, 90 * DAY);
	e.monitor.is_monitored = true; /* its level is not at hand: the alert's own state decides */
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.alert.is_closed = true;
	decide(&e, TK_RULE_BACK, TK_VERDICT_RECOVERED);
	e.monitor.level = 1.1e6;
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.monitor.level = 1e6;
	decide(&e, TK_RULE_BACK, TK_VERDICT_RECOVERED);
}

static void shift_that_the_machine_shares(void **state)
{
	struct tk_evidence e = quiet_series();

	e.raw.best.after = log(1.1e6);
	e.raw.best.p = 0.001;
	e.raw_step.shared =
	        (struct tk_shared_shift_evidence){.exists = true, .series = 12, .shift = log(1.1)};
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.raw_step.shared.significant = true;
	struct tk_verdict v = decide(&e, TK_RULE_SHARED_SHIFT, TK_VERDICT_ENVIRONMENT);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_SHARED_SHIFT)->number[2], 0.1, 1e-9);
	assert_int_equal(v.cause, TK_CAUSE_ENVIRONMENT);
}

static void change_that_may_be_noise(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.adjusted.best.after = log(1.03e6);
	e.adjusted.best.p = 0.001;
	v = decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_UNSURE);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_MORE_NIGHTS)->number[1], 1, 0);
	e.adjusted.best.se_before = 0.1; /* no number of nights would do */
	v = decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_UNSURE);
	expect_fact(&v, TK_FACT_WITHIN_NOISE);
	e.step.same_code = true;
	decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_SAME);
	e.adjusted.best.p = 0.02;
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
}

static void series_too_noisy_to_tell(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	e.adjusted.whole.se = 0.1;
	decide(&e, TK_RULE_NO_CHANGE,
	        TK_VERDICT_SAME); /* its interval is surely below the threshold */
	e.step.change.hi = 0.3;
	v = decide(&e, TK_RULE_TOO_NOISY, TK_VERDICT_UNSURE);
	assert_float_equal(
	        tk_verdict_find_fact(&v, TK_FACT_TOO_NOISY)->number[1], expm1(0.3), 1e-9);
	e.step.same_code = true;
	decide(&e, TK_RULE_TOO_NOISY, TK_VERDICT_SAME);
}

static void absolute_threshold(void **state)
{
	struct tk_evidence e = quiet_series();

	assert_true(tk_evidence_exceeds_threshold(&e, 100, 110));
	e.min_effect_ns = 20;
	assert_false(tk_evidence_exceeds_threshold(&e, 100, 110));
}

/* ---- A/B runs ---- */

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(absent_series),
	        cmocka_unit_test(series_between_two_turns),
	        cmocka_unit_test(range_that_ends_between_two_turns),
	        cmocka_unit_test(skipped_series),
	        cmocka_unit_test(failed_series),
	        cmocka_unit_test(series_without_a_baseline),
	        cmocka_unit_test(steps_of_the_code),
	        cmocka_unit_test(step_in_a_changed_environment),
	        cmocka_unit_test(step_that_only_the_machine_made),
	        cmocka_unit_test(step_that_is_too_young),
	        cmocka_unit_test(step_without_the_evidence_that_is_required),
	        cmocka_unit_test(step_of_equal_code),
	        cmocka_unit_test(step_no_larger_than_a_spike),
	        cmocka_unit_test(step_that_is_over_or_alternates),
	        cmocka_unit_test(steps_beside_an_alert),
	        cmocka_unit_test(step_of_the_monitor),
	        cmocka_unit_test(steady_series),
	        cmocka_unit_test(what_the_monitor_explains),
	        cmocka_unit_test(back_at_the_level_before_an_alert),
	        cmocka_unit_test(shift_that_the_machine_shares),
	        cmocka_unit_test(change_that_may_be_noise),
	        cmocka_unit_test(series_too_noisy_to_tell),
	        cmocka_unit_test(absolute_threshold),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
