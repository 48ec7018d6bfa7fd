/* The table of rules as a whole: its order, where one rule ends and the next begins, and what must
 * hold for any evidence, drawn at random. */
#include "evidence_samples.h"

#include <stdio.h>

#include "base/rng.h"

/* ---- the table ---- */

static const struct tk_rule *const parts[] = {
        tk_rules_absence, tk_rules_baseline, tk_rules_step, tk_rules_steady};
#define PARTS (sizeof parts / sizeof *parts)

/* Their order in the table is that of the list in core/verdict.h, which the manual prints. */
static void rules_are_tried_in_the_order_of_their_list(void **state)
{
	int next = 0;

	(void)state;
	for (size_t i = 0; i < PARTS; i++)
		for (const struct tk_rule *rule = parts[i]; rule->decide; rule++) {
			assert_int_equal(rule->id, next++);
			assert_non_null(rule->applies);
		}
	assert_int_equal(next, TK_RULE_AB_CONFIRMED); /* those after it overrule them */
}

static enum tk_rule_id first_that_applies(const struct tk_evidence *e)
{
	for (size_t i = 0; i < PARTS; i++)
		for (const struct tk_rule *rule = parts[i]; rule->decide; rule++)
			if (rule->applies(e))
				return rule->id;
	return TK_RULE_COUNT;
}

static void the_last_rule_applies_to_anything(void **state)
{
	const struct tk_evidence nothing = {.options = &options,
	        .within = {.exists = true, .has_timing = true, .message = ""},
	        .has_baseline = true};
	struct tk_verdict v;

	(void)state;
	assert_int_equal(first_that_applies(&nothing), TK_RULE_NO_CHANGE);
	tk_rules_decide(&nothing, &v);
	assert_int_equal(v.status, TK_VERDICT_SAME);
	assert_int_equal(v.cause, TK_CAUSE_UNKNOWN);
}

/* ---- where two rules apply, the earlier one decides ---- */

static void absence_comes_before_everything(void **state)
{
	struct tk_evidence e = with_step(0.5);

	(void)state;
	e.lacks_baseline = true;
	decide(&e, TK_RULE_BASELINE_NOT_MEASURED, TK_VERDICT_NOT_COMPARABLE);
	e.is_too_old = true;
	decide(&e, TK_RULE_STALE, TK_VERDICT_STALE);
	e.within = run(TK_OUTCOME_CRASHED, 99);
	decide(&e, TK_RULE_NEWLY_FAILED, TK_VERDICT_NEWLY_FAILED);
	e.within.outcome = TK_OUTCOME_SKIPPED;
	decide(&e, TK_RULE_SKIPPED, TK_VERDICT_MISSING);
	e.within.exists = false;
	decide(&e, TK_RULE_NOT_MEASURED_RECENTLY, TK_VERDICT_STALE);
	e.is_too_old = false;
	e.was_left_out = true;
	decide(&e, TK_RULE_MISSING, TK_VERDICT_MISSING);
	e.is_not_due = true;
	decide(&e, TK_RULE_NOT_DUE, TK_VERDICT_SAME);
	e.newest.exists = false;
	decide(&e, TK_RULE_NEVER_MEASURED, TK_VERDICT_NEW);
}

/* All at once, and then one reason after the other is taken away. */
static void the_rules_of_a_step_in_their_order(void **state)
{
	struct tk_detect_options required = options;
	struct tk_evidence e = with_step(0.1);

	(void)state;
	e.options = &required;
	required.confirm_nights = 9;
	required.min_samples = 500;
	e.is_night = true;
	e.step.after.value = e.step.before.value;
	e.step.is_new_build = false;
	e.step.environment.hard = true;
	e.adjusted.spike = true;
	e.step.nights_back = e.step.newest_back = 2;
	e.alert = alert(0.1);
	decide(&e, TK_RULE_MACHINE_MOVED_ALONE, TK_VERDICT_SAME);
	e.step.after.value = 1.1e6;
	decide(&e, TK_RULE_TOO_EARLY, TK_VERDICT_UNSURE);
	e.step.is_new_build = true;
	decide(&e, TK_RULE_FEW_NIGHTS, TK_VERDICT_UNSURE);
	required.confirm_nights = 0;
	decide(&e, TK_RULE_FEW_SAMPLES, TK_VERDICT_UNSURE);
	required.min_samples = 0;
	e.step.same_code_at_step = true;
	decide(&e, TK_RULE_UNCHANGED_CODE, TK_VERDICT_UNSURE);
	e.step.same_code_at_step = false;
	decide(&e, TK_RULE_ENVIRONMENT_CHANGED, TK_VERDICT_NOT_COMPARABLE);
	e.step.environment.hard = false;
	decide(&e, TK_RULE_SPIKE, TK_VERDICT_UNSURE);
	e.adjusted.spike = false;
	decide(&e, TK_RULE_BACK_SINCE, TK_VERDICT_UNSURE);
	e.step.nights_back = e.step.newest_back = 0;
	decide(&e, TK_RULE_STILL_AT_ALERT, TK_VERDICT_SAME);
	e.alert.exists = false;
	decide(&e, TK_RULE_REGRESSED, TK_VERDICT_REGRESSED);
}

static void the_rules_of_a_steady_series_in_their_order(void **state)
{
	struct tk_evidence e = quiet_series();

	(void)state;
	e.adjusted.whole.se = 1, e.step.change.hi = 3;
	e.adjusted.best.after = log(1.1e6), e.adjusted.best.p = 0.001;
	e.raw.best = e.adjusted.best;
	e.raw_step.shared = (struct tk_shared_shift_evidence){.exists = true, .significant = true};
	e.previous = run(TK_OUTCOME_CRASHED, 96);
	e.alert = alert(0.1);
	e.adjusted.earlier = true;
	e.monitor.machine_step = (struct tk_monitor_step){.exists = true, .before = 1, .after = 2};
	e.monitor.retracted.exists = true;
	decide(&e, TK_RULE_RETRACTED, TK_VERDICT_RECOVERED);
	e.monitor.retracted.exists = false;
	decide(&e, TK_RULE_SHARED_STEP, TK_VERDICT_ENVIRONMENT);
	e.monitor.machine_step.exists = false;
	decide(&e, TK_RULE_CHANGED_BEFORE, TK_VERDICT_SAME);
	e.adjusted.earlier = false;
	decide(&e, TK_RULE_BACK, TK_VERDICT_RECOVERED);
	e.alert.exists = false;
	decide(&e, TK_RULE_FIXED, TK_VERDICT_FIXED);
	e.previous = run(TK_OUTCOME_OK, 96);
	decide(&e, TK_RULE_SHARED_SHIFT, TK_VERDICT_ENVIRONMENT);
	e.raw_step.shared.exists = false;
	decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_UNSURE);
	e.adjusted.best.p = 1;
	decide(&e, TK_RULE_TOO_NOISY, TK_VERDICT_UNSURE);
	e.adjusted.whole.se = 0;
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
}

/* ---- just applied, and just not ---- */

static void a_third_of_the_nights_back_is_too_much(void **state)
{
	(void)state;
	for (size_t nights = 1; nights <= 12; nights++)
		for (size_t back = 0; back <= nights; back++) {
			struct tk_evidence e = with_step(0.1);
			const bool over = back && 3 * back >= nights;

			e.step.nights = nights;
			e.step.nights_back = back;
			decide(&e, over ? TK_RULE_BACK_SINCE : TK_RULE_REGRESSED,
			        over ? TK_VERDICT_UNSURE : TK_VERDICT_REGRESSED);
		}
}

static void equal_code_is_the_machine_after_three_nights(void **state)
{
	(void)state;
	for (size_t nights = 1; nights <= 5; nights++) {
		struct tk_evidence e = with_step(0.1);

		e.step.same_code_at_step = e.step.same_code = true;
		e.step.nights = nights;
		decide(&e, TK_RULE_UNCHANGED_CODE,
		        nights >= 3 ? TK_VERDICT_ENVIRONMENT : TK_VERDICT_SAME);
	}
}

static void thresholds_of_the_noise(void **state)
{
	struct tk_evidence e = quiet_series();
	struct tk_verdict v;

	(void)state;
	/* three standard errors make 25 % */
	e.step.change.hi = 0.3;
	e.adjusted.whole.se = log(1.25) / 3 * 1.0001;
	v = decide(&e, TK_RULE_TOO_NOISY, TK_VERDICT_UNSURE);
	assert_float_equal(tk_verdict_find_fact(&v, TK_FACT_TOO_NOISY)->number[1], 0.25, 0.0001);
	e.adjusted.whole.se = log(1.25) / 3 * 0.9999;
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.adjusted.whole.se = 1;
	e.step.change.hi = 0.0199; /* its interval is within the threshold */
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.step.change.hi = 0.0201;
	decide(&e, TK_RULE_TOO_NOISY, TK_VERDICT_UNSURE);
	e.step.change = (struct tk_estimate){0, -0.0201, 0};
	decide(&e, TK_RULE_TOO_NOISY, TK_VERDICT_UNSURE);
}

static void what_is_suggestive(void **state)
{
	struct tk_evidence e = quiet_series();

	(void)state;
	e.adjusted.best.after = e.adjusted.best.before + log(1.03);
	e.adjusted.best.se = 0.0098; /* log(1.03) is 3.02 of them */
	e.adjusted.best.p = 0.01;
	decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_UNSURE);
	e.adjusted.best.p = 0.0101;
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.adjusted.best.p = 0.001;
	e.adjusted.best.se = 0.0099;
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
	e.adjusted.best.se = 0.001;
	e.adjusted.best.after = e.adjusted.best.before + log(1.0199);
	decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
}

/* The evidence for a change grows with the nights at the new level: the fewer there are, or the
 * noisier they are, the more are needed. */
static void nights_that_are_still_needed(void **state)
{
	double before = 0;

	(void)state;
	for (double sigma = 0.005; sigma < 0.04; sigma *= 1.3) {
		struct tk_evidence e = quiet_series();
		struct tk_verdict v;

		e.adjusted.best.after = e.adjusted.best.before + log(1.03);
		e.adjusted.best.p = 0.005;
		e.adjusted.sigma = sigma;
		v = decide(&e, TK_RULE_SUGGESTIVE, TK_VERDICT_UNSURE);
		const struct tk_fact *f = tk_verdict_find_fact(&v, TK_FACT_MORE_NIGHTS);
		if (!f) {
			assert_true(before > 20); /* it had been many */
			assert_non_null(tk_verdict_find_fact(&v, TK_FACT_WITHIN_NOISE));
			continue;
		}
		assert_float_equal(f->number[0], 0.03, 1e-9);
		assert_true(f->number[1] >= 1 && f->number[1] <= 60 && f->number[1] >= before);
		before = f->number[1];
	}
	assert_true(before > 1);
}

/* Outcomes of all kinds without a timing, after nights with one. */
static void every_outcome_without_a_timing(void **state)
{
	(void)state;
	for (int o = 0; o < TK_OUTCOME_COUNT; o++) {
		struct tk_evidence e = quiet_series();
		const enum tk_outcome outcome = (enum tk_outcome)o;
		const bool skipped =
		        outcome == TK_OUTCOME_SKIPPED || outcome == TK_OUTCOME_NO_DEVICE;

		e.within = e.newest = run(outcome, 99);
		e.last_point_s = 96 * DAY;
		if (tk_outcome_has_timing(outcome)) {
			decide(&e, TK_RULE_NO_CHANGE, TK_VERDICT_SAME);
			continue;
		}
		decide(&e, skipped ? TK_RULE_SKIPPED : TK_RULE_NEWLY_FAILED,
		        skipped ? TK_VERDICT_MISSING : TK_VERDICT_NEWLY_FAILED);
		e.previous = run(outcome, 97);
		if (!skipped)
			decide(&e, TK_RULE_STILL_FAILING,
			        outcome == TK_OUTCOME_UNSUPPORTED ? TK_VERDICT_UNSUPPORTED
			                                          : TK_VERDICT_FAILING);
	}
}

/* ---- any evidence ---- */

static bool chance(struct tk_rng *r, unsigned of)
{
	return tk_rng_below(r, of) == 0;
}

static double near_level(struct tk_rng *r)
{
	return 1e6 * exp(0.1 * tk_rng_normal(r));
}

static struct tk_estimate draw_change(struct tk_rng *r)
{
	const double c = 0.06 * tk_rng_normal(r), width = 0.03 * tk_rng_uniform(r);

	return (struct tk_estimate){c, c - width, c + width};
}

static void draw_levels(struct tk_rng *r, struct tk_level_change *l)
{
	l->before = log(near_level(r));
	l->after = log(near_level(r));
	l->se = 0.03 * tk_rng_uniform(r);
	l->p = chance(r, 2) ? 0.001 : tk_rng_uniform(r);
}

static struct tk_run_evidence draw_run(struct tk_rng *r, int64_t day)
{
	struct tk_run_evidence out = run(
	        chance(r, 2) ? TK_OUTCOME_OK : (enum tk_outcome)tk_rng_below(r, TK_OUTCOME_COUNT),
	        day);

	out.exists = !chance(r, 8);
	out.has_timing &= out.exists;
	return out;
}

static void draw_step(struct tk_rng *r, struct tk_step_evidence *s)
{
	draw_levels(r, &s->levels);
	s->before.value = near_level(r);
	s->after.value = near_level(r);
	s->change = draw_change(r);
	s->threshold = 0.02 + 0.1 * tk_rng_uniform(r);
	s->start_s = (int64_t)tk_rng_below(r, 100) * DAY;
	s->nights = 1 + tk_rng_below(r, 9);
	s->nights_back = tk_rng_below(r, 3);
	s->newest_back = s->nights_back && chance(r, 3);
	s->same_code_at_step = chance(r, 4);
	s->same_code = s->same_code_at_step && chance(r, 2);
	s->is_new_build = chance(r, 2);
	s->environment.hard = chance(r, 5);
	snprintf(s->environment.text, sizeof s->environment.text, "%s",
	        chance(r, 4) ? "driver 1 -> 2" : "");
	s->shared = (struct tk_shared_shift_evidence){.exists = chance(r, 2),
	        .significant = chance(r, 2),
	        .series = tk_rng_below(r, 9),
	        .controls = tk_rng_below(r, 2)};
}

static const struct tk_detect_options strict = {.min_effect = 0.02,
        .fdr = 0.05,
        .min_samples = 31,
        .confirm_nights = 4,
        .now_s = NOW,
        .baseline_name = "pinned:v1"};

/* What gather.c could gather: A/B runs and steps only where a timing is compared. */
static struct tk_evidence draw(struct tk_rng *r)
{
	static const enum tk_ab_decision decisions[] = {
	        TK_AB_NONE, TK_AB_SAME, TK_AB_HIGHER, TK_AB_LOWER, TK_AB_INCONCLUSIVE};
	struct tk_evidence e = quiet_series();
	const struct tk_estimate ab = draw_change(r);

	e.options = chance(r, 4) ? &strict : &options;
	e.within = e.newest = draw_run(r, 99);
	e.previous = draw_run(r, 96);
	e.is_night = chance(r, 2), e.is_step = chance(r, 2), e.by_monitor = chance(r, 3);
	e.was_left_out = chance(r, 9), e.is_not_due = chance(r, 9), e.is_too_old = chance(r, 9);
	e.point_count = chance(r, 6) ? 0 : 40;
	e.has_baseline = !chance(r, 6), e.lacks_baseline = chance(r, 9);
	draw_levels(r, &e.adjusted.best), draw_levels(r, &e.raw.best);
	e.adjusted.whole.se = 0.15 * tk_rng_uniform(r);
	e.adjusted.spike = chance(r, 5), e.adjusted.earlier = chance(r, 5);
	draw_step(r, &e.step), draw_step(r, &e.raw_step), e.code_step = e.step,
	                                                  draw_step(r, &e.code_step);
	e.has_code_step = e.step.same_code_at_step && chance(r, 2);
	e.alert = (struct tk_alert_evidence){.exists = chance(r, 2),
	        .is_closed = chance(r, 2),
	        .opened_s = (int64_t)tk_rng_below(r, 100) * DAY,
	        .bad_rev = "bbb",
	        .baseline = chance(r, 4) ? NAN : log(near_level(r)),
	        .change = 0.2 * tk_rng_normal(r)};
	if (e.alert.change < -0.5)
		e.alert.change = -0.5;
	e.monitor.is_monitored = chance(r, 2);
	e.monitor.level = chance(r, 2) ? NAN : near_level(r);
	e.monitor.retracted = (struct tk_monitor_step){
	        .exists = chance(r, 6), .first_s = (int64_t)tk_rng_below(r, 100) * DAY};
	e.monitor.machine_step = (struct tk_monitor_step){
	        .exists = chance(r, 6), .before = near_level(r), .after = near_level(r)};
	e.ab = (struct tk_ab_result){.decision = decisions[tk_rng_below(r, 5)],
	        .count = (uint32_t)tk_rng_below(r, 20),
	        .change = ab.value,
	        .lo = ab.lo,
	        .hi = ab.hi};
	if (!e.has_baseline || !e.within.has_timing || e.was_left_out || e.is_too_old ||
	        e.lacks_baseline) {
		e.ab = (struct tk_ab_result){.decision = TK_AB_NONE};
		e.is_step = e.has_code_step = false;
	}
	return e;
}

#define TRIES 20000

/* The same evidence, the same verdict: the first rule that applies, or A/B runs. */
static void a_verdict_is_a_function_of_its_evidence(void **state)
{
	size_t decided[TK_RULE_COUNT] = {0};
	struct tk_rng r;

	(void)state;
	tk_rng_seed(&r, 1);
	for (int i = 0; i < TRIES; i++) {
		const struct tk_evidence e = draw(&r);
		struct tk_verdict v, again;

		tk_rules_decide(&e, &v);
		tk_rules_decide(&e, &again);
		assert_int_equal(v.decided_by, again.decided_by);
		assert_int_equal(v.status, again.status);
		assert_int_equal(v.cause, again.cause);
		assert_int_equal(v.status_before_ack, v.status);
		assert_int_equal(v.fact_count, again.fact_count);
		if (v.decided_by < TK_RULE_AB_CONFIRMED)
			assert_int_equal(v.decided_by, first_that_applies(&e));
		else
			assert_true(e.ab.decision != TK_AB_NONE);
		decided[v.decided_by]++;
	}
	for (int rule = 0; rule <= TK_RULE_AB_NOT_REPRODUCED; rule++)
		if (!decided[rule])
			fail_msg("%s decided nothing", tk_rule_id_name((enum tk_rule_id)rule));
}

static double invert_change(double c)
{
	return 1 / (1 + c) - 1;
}

static void invert_estimate(struct tk_estimate *c)
{
	*c = (struct tk_estimate){
	        invert_change(c->value), invert_change(c->hi), invert_change(c->lo)};
}

static void invert_step(struct tk_step_evidence *s)
{
	s->levels.before = -s->levels.before, s->levels.after = -s->levels.after;
	s->before.value = 1 / s->before.value, s->after.value = 1 / s->after.value;
	invert_estimate(&s->change);
}

/* Rates instead of times. */
static struct tk_evidence invert(struct tk_evidence e)
{
	struct tk_level_change *const levels[] = {&e.adjusted.best, &e.raw.best};

	e.lower_is_better = !e.lower_is_better;
	for (size_t i = 0; i < 2; i++)
		levels[i]->before = -levels[i]->before, levels[i]->after = -levels[i]->after;
	invert_step(&e.step), invert_step(&e.raw_step), invert_step(&e.code_step);
	e.alert.baseline = -e.alert.baseline;
	e.alert.change = invert_change(e.alert.change);
	e.monitor.level = 1 / e.monitor.level;
	const struct tk_estimate ab = {
	        invert_change(e.ab.change), invert_change(e.ab.hi), invert_change(e.ab.lo)};
	e.ab.change = ab.value, e.ab.lo = ab.lo, e.ab.hi = ab.hi;
	e.ab.decision = e.ab.decision == TK_AB_HIGHER  ? TK_AB_LOWER
	                : e.ab.decision == TK_AB_LOWER ? TK_AB_HIGHER
	                                               : e.ab.decision;
	return e;
}

/* Whether times or rates were measured does not change what is said of the code. */
static void times_and_rates_have_the_same_verdict(void **state)
{
	struct tk_rng r;

	(void)state;
	tk_rng_seed(&r, 2);
	for (int i = 0; i < TRIES; i++) {
		const struct tk_evidence times = draw(&r), rates = invert(times);
		struct tk_verdict v, w;

		tk_rules_decide(&times, &v);
		tk_rules_decide(&rates, &w);
		if (v.decided_by != w.decided_by || v.status != w.status || v.cause != w.cause)
			fail_msg("%d: %s by %s, and %s by %s", i, tk_verdict_status_name(v.status),
			        tk_rule_id_name(v.decided_by), tk_verdict_status_name(w.status),
			        tk_rule_id_name(w.decided_by));
	}
}

/* A change is the code's, the machine's or unknown; a regression names the builds it lies
 * between. */
static void causes_follow_the_status(void **state)
{
	struct tk_rng r;

	(void)state;
	tk_rng_seed(&r, 3);
	for (int i = 0; i < TRIES; i++) {
		const struct tk_evidence e = draw(&r);
		struct tk_verdict v;

		tk_rules_decide(&e, &v);
		const bool is_change =
		        v.status == TK_VERDICT_REGRESSED || v.status == TK_VERDICT_IMPROVED;
		assert_int_equal(
		        v.cause == TK_CAUSE_CODE || v.cause == TK_CAUSE_CODE_OR_ENVIRONMENT,
		        is_change);
		assert_int_equal(
		        v.cause == TK_CAUSE_ENVIRONMENT, v.status == TK_VERDICT_ENVIRONMENT);
		assert_int_equal(v.cause == TK_CAUSE_MISSING_DATA, v.status == TK_VERDICT_MISSING);
		if (v.status == TK_VERDICT_REGRESSED)
			assert_true(v.good_build_id && v.bad_build_id);
		assert_true(v.fact_count <= TK_VERDICT_FACTS_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rules_are_tried_in_the_order_of_their_list),
	        cmocka_unit_test(the_last_rule_applies_to_anything),
	        cmocka_unit_test(absence_comes_before_everything),
	        cmocka_unit_test(the_rules_of_a_step_in_their_order),
	        cmocka_unit_test(the_rules_of_a_steady_series_in_their_order),
	        cmocka_unit_test(a_third_of_the_nights_back_is_too_much),
	        cmocka_unit_test(equal_code_is_the_machine_after_three_nights),
	        cmocka_unit_test(thresholds_of_the_noise),
	        cmocka_unit_test(what_is_suggestive),
	        cmocka_unit_test(nights_that_are_still_needed),
	        cmocka_unit_test(every_outcome_without_a_timing),
	        cmocka_unit_test(a_verdict_is_a_function_of_its_evidence),
	        cmocka_unit_test(times_and_rates_have_the_same_verdict),
	        cmocka_unit_test(causes_follow_the_status),
	};

	return cmocka_run_group_tests_name("order of rules", tests, NULL, NULL);
}
