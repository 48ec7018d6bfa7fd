/* What several rules share: thresholds, levels of alerts, and the facts about a step. */
#include "evidence_samples.h"

#include <stdio.h>

/* ---- is a change large enough? ---- */

static void a_change_must_exceed_both_thresholds(void **state)
{
	static const struct {
		double before, after, least_ns;
		bool is_time_ns, exceeds;
	} cases[] = {
	        {100, 102.1, 0, true, true}, {100, 101.9, 0, true, false},
	        {102.1, 100, 0, true, true}, /* in either direction, as a ratio */
	        {100, 98.1, 0, true, false}, {100, 110, 11, true, false},
	        {100, 110, 10, true, true}, {110, 100, 11, true, false},
	        {100, 110, 11, false, true}, /* energies have no nanoseconds */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_detect_options o = options;
		struct tk_evidence e = quiet_series();
		o.min_effect_ns = cases[i].least_ns;
		e.options = &o;
		e.is_time_ns = cases[i].is_time_ns;
		if (tk_evidence_exceeds_threshold(&e, cases[i].before, cases[i].after) !=
		        cases[i].exceeds)
			fail_msg("case %zu", i);
	}
}

static void a_large_change_exceeds_the_noise(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_level_change *c = &e.step.levels;

	c->se = 0.03;
	c->p = 0.001;
	assert_true(tk_evidence_is_large(&e, c));
	assert_true(tk_evidence_is_suggestive(&e, c));
	c->p = 0.5;
	assert_true(tk_evidence_is_large(&e, c));
	assert_false(tk_evidence_is_suggestive(&e, c));
	c->se = 0.033; /* log(1.1) is not three of them */
	c->p = 0.001;
	assert_false(tk_evidence_is_large(&e, c));
	assert_false(tk_evidence_is_suggestive(&e, c));
	c->se = 0;
	c->after = c->before + log(1.019);
	assert_false(tk_evidence_is_large(&e, c));
}

static void ab_runs_test_the_step_of_the_code(void **state)
{
	struct tk_evidence e = with_step(0.1);

	assert_ptr_equal(tk_evidence_ab_step(&e), &e.step);
	e.has_code_step = true;
	assert_ptr_equal(tk_evidence_ab_step(&e), &e.code_step);
}

/* ---- the level of an alert ---- */

/* An alert of 10 % on day 50, from a level of 100. */
static struct tk_evidence with_alert(bool lower_is_better)
{
	struct tk_evidence e = quiet_series();

	e.lower_is_better = lower_is_better;
	e.alert = (struct tk_alert_evidence){.exists = true,
	        .opened_s = 50 * DAY,
	        .bad_rev = "bad",
	        .baseline = log(100),
	        .change = lower_is_better ? 0.1 : -0.1};
	return e;
}

static void a_level_is_compared_with_that_of_the_alert(void **state)
{
	static const struct {
		bool lower_is_better;
		double level;
		bool at_alert, at_baseline, recovered;
	} cases[] = {
	        {true, 100, true, true, true},
	        {true, 90, true, true, true}, /* better than ever */
	        {true, 110, true, false, false},
	        {true, 112, true, false, false},
	        {true, 113, false, false, false}, /* worse than the alert reported */
	        {true, 101.9, true, true, true},
	        {true, 102.1, true, false, false},
	        {false, 100, true, true, true},
	        {false, 90, true, false, false},
	        {false, 98.1, true, true, true},
	        {false, 97.9, true, false, false},
	        {false, 110, true, true, true},
	        {false, 87, false, false, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_evidence e = with_alert(cases[i].lower_is_better);
		const double level = log(cases[i].level), threshold = log(1.02);
		if (tk_evidence_is_at_alert(&e, 60 * DAY, level, threshold) != cases[i].at_alert ||
		        tk_evidence_is_at_baseline(&e, level, threshold) != cases[i].at_baseline ||
		        tk_evidence_is_recovered(&e, level, threshold) != cases[i].recovered)
			fail_msg("case %zu", i);
	}
}

/* A tenth of the change may be left, or the least effect; a noisy series does not widen that. */
static void what_counts_as_the_level_before(void **state)
{
	struct tk_evidence e = with_alert(true);

	e.alert.change = 1; /* a tenth of it in logarithms is 0.0693 */
	assert_true(tk_evidence_is_at_baseline(&e, log(100) + 0.069, 0.5));
	assert_false(tk_evidence_is_at_baseline(&e, log(100) + 0.070, 0.5));
	assert_false(tk_evidence_is_at_baseline(&e, log(100) + 0.069, 0.05));
	e.alert.change = 0.03;
	assert_true(tk_evidence_is_at_baseline(&e, log(100) + 0.0197, 0.5));
	assert_false(tk_evidence_is_at_baseline(&e, log(100) + 0.0199, 0.5));
}

static void an_alert_needs_a_level(void **state)
{
	struct tk_evidence e = with_alert(true);

	e.alert.baseline = NAN;
	assert_false(tk_evidence_is_at_alert(&e, 60 * DAY, log(110), 0.02));
	assert_true(tk_evidence_is_at_baseline(&e, log(110), 0.02)); /* nothing contradicts it */
	assert_false(tk_evidence_is_recovered(&e, log(100), 0.02));
	e = with_alert(true);
	e.alert.exists = false;
	assert_false(tk_evidence_is_at_alert(&e, 60 * DAY, log(110), 0.02));
	assert_false(tk_evidence_is_recovered(&e, log(100), 0.02));
}

/* An alert about less than the threshold would count as recovered at once. */
static void small_alerts_do_not_recover(void **state)
{
	const struct tk_evidence e = with_alert(true);

	assert_true(tk_evidence_is_recovered(&e, log(100), 0.095));
	assert_false(tk_evidence_is_recovered(&e, log(100), 0.096)); /* log(1.1) is between */
}

/* A step that the monitor found after the alert is another one. */
static void a_later_step_is_not_that_of_the_alert(void **state)
{
	struct tk_evidence e = with_alert(true);

	e.by_monitor = true;
	assert_false(tk_evidence_is_at_alert(&e, 60 * DAY, log(110), 0.02));
	assert_true(tk_evidence_is_at_alert(&e, 50 * DAY, log(110), 0.02));
}

/* ---- facts ---- */

static const struct tk_fact *only_fact(const struct tk_verdict *v, enum tk_fact_kind kind)
{
	assert_int_equal(v->fact_count, 1);
	assert_int_equal(v->facts[0].kind, kind);
	return &v->facts[0];
}

static void a_shared_shift_is_a_fact_where_it_is_significant(void **state)
{
	struct tk_step_evidence s = {.shared = {.exists = true,
	                                     .significant = true,
	                                     .series = 12,
	                                     .controls = 2,
	                                     .shift = log(1.08),
	                                     .remaining = log(0.99)}};
	struct tk_verdict v;

	tk_verdict_init(&v);
	assert_true(tk_verdict_add_shared_shift(&s, &v));
	const struct tk_fact *f = only_fact(&v, TK_FACT_SHARED_SHIFT);
	assert_float_equal(f->number[0], 12, 0);
	assert_float_equal(f->number[1], 2, 0);
	assert_float_equal(f->number[2], 0.08, 1e-6);
	assert_float_equal(f->number[3], -0.01, 1e-6);
	s.shared.significant = false;
	assert_false(tk_verdict_add_shared_shift(&s, &v));
	s.shared = (struct tk_shared_shift_evidence){.significant = true};
	assert_false(tk_verdict_add_shared_shift(&s, &v));
	assert_int_equal(v.fact_count, 1);
}

static void a_changed_environment_is_a_fact(void **state)
{
	struct tk_step_evidence s = {.environment = {.text = "driver 550 -> 555"}};
	struct tk_verdict v;

	tk_verdict_init(&v);
	assert_true(tk_verdict_add_environment(&s, &v));
	assert_string_equal(
	        tk_fact_text(&v, only_fact(&v, TK_FACT_ENVIRONMENT)), "driver 550 -> 555");
	s.environment.text[0] = '\0';
	assert_false(tk_verdict_add_environment(&s, &v));
	assert_int_equal(v.fact_count, 1);
}

static void an_outcome_has_its_message(void **state)
{
	struct tk_run_evidence r = run(TK_OUTCOME_CRASHED, 3);
	struct tk_verdict v;
	char long_message[400];

	tk_verdict_init(&v);
	tk_verdict_add_outcome(&r, TK_FACT_OUTCOME, &v);
	assert_string_equal(tk_fact_text(&v, only_fact(&v, TK_FACT_OUTCOME)), "crashed");
	tk_verdict_init(&v);
	r.message = "signal 11";
	tk_verdict_add_outcome(&r, TK_FACT_OUTCOME_BEFORE, &v);
	assert_string_equal(
	        tk_fact_text(&v, only_fact(&v, TK_FACT_OUTCOME_BEFORE)), "crashed: signal 11");
	tk_verdict_init(&v);
	memset(long_message, 'm', sizeof long_message - 1);
	long_message[sizeof long_message - 1] = '\0';
	r.message = long_message;
	tk_verdict_add_outcome(&r, TK_FACT_OUTCOME, &v);
	assert_int_equal(strlen(tk_fact_text(&v, &v.facts[0])), strlen("crashed: ") + 200);
}

static void equal_code_is_not_unsure(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	tk_verdict_init(&v);
	tk_verdict_set_unsure(&e, &v);
	assert_int_equal(v.status, TK_VERDICT_UNSURE);
	assert_int_equal(v.fact_count, 0);
	e.step.same_code = true;
	tk_verdict_set_unsure(&e, &v);
	assert_int_equal(v.status, TK_VERDICT_SAME);
	only_fact(&v, TK_FACT_SAME_CODE);
}

static void a_rotation_is_named_with_the_last_run(void **state)
{
	static const struct {
		uint32_t rotate_nights;
		double ago, nights;
	} cases[] = {{0, 0, 0}, {1, 0, 0}, {2, 5, 2}, {7, 5, 7}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_evidence e = quiet_series();
		struct tk_verdict v;
		tk_verdict_init(&v);
		e.rotate_nights = cases[i].rotate_nights;
		e.nights_ago = 5;
		tk_verdict_add_last_measured(&e, &v);
		const struct tk_fact *f = only_fact(&v, TK_FACT_LAST_MEASURED);
		assert_int_equal(f->time_s, 99 * DAY);
		assert_float_equal(f->number[0], cases[i].ago, 0);
		assert_float_equal(f->number[1], cases[i].nights, 0);
	}
}

/* ---- numbers ---- */

static void a_step_of_the_monitor_names_itself(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	tk_verdict_init(&v);
	tk_verdict_set_step(&e, &v);
	assert_float_equal(v.change.value, 0.1, 1e-6);
	assert_float_equal(v.threshold, 0.02, 1e-6);
	assert_float_equal(v.severity, log(1.1) / log(1.02), 1e-4);
	assert_int_equal(v.last_good_run_id, 96);
	assert_int_equal(v.first_bad_run_id, 97);
	assert_int_equal(v.fact_count, 0);
	e.by_monitor = true;
	e.monitor.step.log_lr = 42;
	tk_verdict_set_step(&e, &v);
	const struct tk_fact *f = only_fact(&v, TK_FACT_MONITOR_STEP);
	assert_float_equal(f->number[0], 42, 0);
	assert_int_equal(f->time_s, 97 * DAY);
	tk_verdict_clear_facts(&v);
	e.step.median_change = 0.09;
	tk_verdict_set_step(&e, &v);
	assert_int_equal(v.fact_count, 2);
	assert_float_equal(
	        tk_verdict_find_fact(&v, TK_FACT_NIGHTLY_MEDIANS)->number[0], 0.09, 1e-6);
}

static void without_a_threshold_there_is_no_severity(void **state)
{
	struct tk_evidence e = with_step(0.1);
	struct tk_verdict v;

	tk_verdict_init(&v);
	e.step.threshold = 0;
	tk_verdict_set_levels(&e.step, &v);
	assert_float_equal(v.severity, 0, 0);
}

static void values_of_the_newest_point(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	tk_verdict_init(&v);
	tk_verdict_set_last_value(&e, &v);
	assert_float_equal(v.before.value, 1e6, 0);
	assert_true(isnan(v.after.value));
	tk_verdict_set_new_value(&e, &v);
	assert_float_equal(v.after.hi, 1.01e6, 1);
	tk_verdict_init(&v);
	e.point_count = 0;
	tk_verdict_set_last_value(&e, &v);
	assert_true(isnan(v.before.value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_change_must_exceed_both_thresholds),
	        cmocka_unit_test(a_large_change_exceeds_the_noise),
	        cmocka_unit_test(ab_runs_test_the_step_of_the_code),
	        cmocka_unit_test(a_level_is_compared_with_that_of_the_alert),
	        cmocka_unit_test(what_counts_as_the_level_before),
	        cmocka_unit_test(an_alert_needs_a_level),
	        cmocka_unit_test(small_alerts_do_not_recover),
	        cmocka_unit_test(a_later_step_is_not_that_of_the_alert),
	        cmocka_unit_test(a_shared_shift_is_a_fact_where_it_is_significant),
	        cmocka_unit_test(a_changed_environment_is_a_fact),
	        cmocka_unit_test(an_outcome_has_its_message),
	        cmocka_unit_test(equal_code_is_not_unsure),
	        cmocka_unit_test(a_rotation_is_named_with_the_last_run),
	        cmocka_unit_test(a_step_of_the_monitor_names_itself),
	        cmocka_unit_test(without_a_threshold_there_is_no_severity),
	        cmocka_unit_test(values_of_the_newest_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
