/* What pairs say: medians first, the fastest samples where the medians cannot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "detect/detect.h"
#include "detect/rules/ab_result.h"
#include "store/store.h"

#define PAIRS 32
static const struct tk_detect_options options = {.min_effect = 0.005};

/* Medians of the new build are `median` times those of the old one, give or take `noise`; the
 * fastest samples `fastest` times. */
static void fill(struct tk_ab_pair_row *rows, double median, double noise, double fastest)
{
	struct tk_rng rng;

	tk_rng_seed(&rng, 3);
	for (int i = 0; i < PAIRS; i++)
		rows[i] = (struct tk_ab_pair_row){.good_median = 1e6,
		        .bad_median = 1e6 * median * exp(noise * tk_rng_normal(&rng)),
		        .good_min = 9e5,
		        .bad_min = 9e5 * fastest * exp(0.0002 * tk_rng_normal(&rng))};
}

static struct tk_ab_result judged(double median, double noise, double fastest)
{
	struct tk_ab_pair_row rows[PAIRS];
	struct tk_ab_result p;

	fill(rows, median, noise, fastest);
	assert_int_equal(tk_ab_result_evaluate(rows, PAIRS, &options, &p), 0);
	return p;
}

static void medians_decide_where_they_can(void **state)
{
	struct tk_ab_result p = judged(1.01, 0.001, 1);

	assert_int_equal(p.decision, TK_AB_HIGHER);
	assert_false(p.fastest);
	assert_true(p.lo > 0.009 && p.hi < 0.011);
	p = judged(0.95, 0.002, 1);
	assert_int_equal(p.decision, TK_AB_LOWER);
	p = judged(1, 0.001, 1.2);
	assert_int_equal(p.decision, TK_AB_SAME);
	assert_false(p.fastest);
}

static void fastest_samples_decide_where_medians_jump(void **state)
{
	char text[TK_AB_RESULT_TEXT_SIZE];
	struct tk_ab_result p = judged(1.01, 0.1, 1.01);

	assert_int_equal(p.decision, TK_AB_HIGHER);
	assert_true(p.fastest);
	assert_string_equal(tk_ab_result_format(&p, text),
	        "+1.0 % (95 % CI 1.0 to 1.0, 32 pairs, fastest samples)");
	assert_string_equal(tk_ab_result_statistic_name(&p), "min");
	p = judged(1, 0.1, 1);
	assert_int_equal(p.decision, TK_AB_SAME);
	assert_true(p.fastest);
	/* against the medians they do not: these lean the other way, or are not nothing */
	p = judged(0.97, 0.02, 1.01);
	assert_int_not_equal(p.decision, TK_AB_HIGHER);
	p = judged(1.02, 0.015, 1);
	assert_int_not_equal(p.decision, TK_AB_SAME);
}

/* A launch of 3 ms is interrupted by a busy machine in each of its samples, one of 0.7 ms is not:
 * the medians say 69 times, the fastest samples 4. */
static void fastest_samples_limit_the_size_of_a_change(void **state)
{
	struct tk_ab_pair_row rows[PAIRS];
	struct tk_ab_result p = judged(69, 0.3, 4);

	assert_int_equal(p.decision, TK_AB_HIGHER);
	assert_true(p.fastest);
	assert_true(fabs(p.change - 3) < 0.1);
	/* the slower launches alone may have changed: that is for the medians to say */
	p = judged(1.05, 0.002, 1);
	assert_int_equal(p.decision, TK_AB_HIGHER);
	assert_true(fabs(p.change - 0.05) < 0.005);
	/* one says worse, the other better */
	p = judged(1.05, 0.002, 0.9);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
	fill(rows, 69, 0.3, 4);
	assert_int_equal(tk_ab_result_compare_level(rows, PAIRS, 7, &p), 0);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(tk_ab_result_compare_level(rows, PAIRS, 1.5, &p), 0);
	assert_int_equal(p.decision, TK_AB_HIGHER);
}

static void relative_and_absolute_thresholds(void **state)
{
	struct tk_ab_pair_row rows[PAIRS];
	struct tk_detect_options o = options;
	struct tk_ab_result p;

	fill(rows, 1.01, 0.001, 1.01);
	o.min_effect_ns = 2e4; /* 2 % of the old median */
	assert_int_equal(tk_ab_result_evaluate(rows, PAIRS, &o, &p), 0);
	assert_int_equal(p.decision, TK_AB_SAME);
}

static void above_or_below_a_level(void **state)
{
	struct tk_ab_pair_row rows[PAIRS];
	struct tk_ab_result p;

	fill(rows, 1.06, 0.004, 1.06);
	assert_int_equal(tk_ab_result_compare_level(rows, PAIRS, 0.03, &p), 0);
	assert_int_equal(p.decision, TK_AB_HIGHER);
	assert_true(fabs(p.change - 0.06) < 0.005); /* not less the level */
	assert_int_equal(tk_ab_result_compare_level(rows, PAIRS, 0.10, &p), 0);
	assert_int_equal(p.decision, TK_AB_LOWER);
	assert_int_equal(tk_ab_result_compare_level(rows, 5, 0.03, &p), 0);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
}

static void pairs_without_timings_do_not_count(void **state)
{
	struct tk_ab_pair_row rows[PAIRS] = {0};
	struct tk_ab_result p;
	char text[TK_AB_RESULT_TEXT_SIZE];

	assert_int_equal(tk_ab_result_evaluate(rows, 0, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_NONE);
	fill(rows, 1.01, 0.001, 1.01);
	for (int i = 0; i < PAIRS; i++)
		rows[i].good_median = NAN;
	assert_int_equal(tk_ab_result_evaluate(rows, PAIRS, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(p.count, 0);
	assert_int_equal(p.failed, PAIRS);
	assert_true(isnan(p.change));
	assert_string_equal(tk_ab_result_format(&p, text), "no timings");
	/* a backend that says no fastest sample is judged by its medians alone */
	fill(rows, 1.01, 0.001, 1.01);
	rows[3].bad_min = NAN;
	assert_int_equal(tk_ab_result_evaluate(rows, PAIRS, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_HIGHER);
}

/* Seven pairs at the end of a budget; with five, or where they show too little, nothing. */
static void few_pairs_decide_at_the_end_of_a_budget(void **state)
{
	struct tk_ab_pair_row rows[PAIRS];
	struct tk_ab_result p;

	fill(rows, 0.9, 0.001, 0.9);
	assert_int_equal(tk_ab_result_evaluate(rows, 7, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(tk_ab_result_evaluate_last(rows, 7, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_LOWER);
	assert_true(p.count == 7 && p.hi < -0.09 && !p.fastest);
	assert_int_equal(tk_ab_result_evaluate_last(rows, 5, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(tk_ab_result_evaluate_last(rows, 0, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_NONE);
	fill(rows, 1, 0.001, 1);
	assert_int_equal(tk_ab_result_evaluate_last(rows, 8, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_SAME);
	fill(rows, 0.99, 0.05, 0.99);
	assert_int_equal(tk_ab_result_evaluate_last(rows, 8, &options, &p), 0);
	assert_int_equal(p.decision, TK_AB_INCONCLUSIVE);
}

/* Old and new in each other's place, or another unit: the opposite decision, or the same. */
static void exchanged_builds_and_other_units(void **state)
{
	static const double medians[] = {1.01, 0.98, 1, 1.004, 1.06}, noises[] = {0.001, 0.02, 0.1};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 3; k++) {
			struct tk_ab_pair_row rows[PAIRS], exchanged[PAIRS], scaled[PAIRS];
			struct tk_ab_result a, b, c;

			fill(rows, medians[i], noises[k], medians[i]);
			for (int r = 0; r < PAIRS; r++) {
				exchanged[r] =
				        (struct tk_ab_pair_row){.good_median = rows[r].bad_median,
				                .bad_median = rows[r].good_median,
				                .good_min = rows[r].bad_min,
				                .bad_min = rows[r].good_min};
				scaled[r] = rows[r];
				scaled[r].good_median *= 1e-3, scaled[r].bad_median *= 1e-3;
				scaled[r].good_min *= 1e-3, scaled[r].bad_min *= 1e-3;
			}
			assert_int_equal(tk_ab_result_evaluate(rows, PAIRS, &options, &a), 0);
			assert_int_equal(tk_ab_result_evaluate(exchanged, PAIRS, &options, &b), 0);
			assert_int_equal(tk_ab_result_evaluate(scaled, PAIRS, &options, &c), 0);
			assert_int_equal(b.decision, a.decision == TK_AB_HIGHER  ? TK_AB_LOWER
			                             : a.decision == TK_AB_LOWER ? TK_AB_HIGHER
			                                                         : a.decision);
			assert_int_equal(a.fastest, b.fastest);
			assert_true(fabs((1 + a.change) * (1 + b.change) - 1) < 1e-9);
			assert_true(fabs((1 + a.lo) * (1 + b.hi) - 1) < 1e-9);
			assert_int_equal(c.decision, a.decision);
			assert_true(fabs(c.change - a.change) < 1e-9);
		}
}

/* At the end of a budget all pairs count, in whichever order they were measured. */
static void the_order_of_pairs_does_not_count_at_the_end(void **state)
{
	struct tk_ab_pair_row rows[PAIRS], reversed[PAIRS];
	struct tk_ab_result a, b;

	(void)state;
	for (size_t n = 6; n <= PAIRS; n += 5) {
		fill(rows, 1.02, 0.02, 1);
		for (size_t i = 0; i < n; i++)
			reversed[n - 1 - i] = rows[i];
		assert_int_equal(tk_ab_result_evaluate_last(rows, n, &options, &a), 0);
		assert_int_equal(tk_ab_result_evaluate_last(reversed, n, &options, &b), 0);
		assert_int_equal(a.decision, b.decision);
		assert_true(a.change == b.change && a.lo == b.lo && a.hi == b.hi);
		assert_int_equal(a.count, n);
	}
}

static void levels_are_medians_over_the_pairs(void **state)
{
	const struct tk_ab_pair_row rows[] = {
	        {.good_median = 10, .bad_median = 20, .good_min = 1, .bad_min = 2},
	        {.good_median = 30, .bad_median = 60, .good_min = 3, .bad_min = 6},
	        {.good_median = 99, .bad_median = NAN, .good_min = 9, .bad_min = 9},
	        {.good_median = 0, .bad_median = 70, .good_min = 9, .bad_min = 9},
	        {.good_median = 20, .bad_median = 90, .good_min = 2, .bad_min = 9}};
	struct tk_ab_result result = {.fastest = false};
	double good, bad;

	(void)state;
	assert_int_equal(tk_ab_result_levels(rows, 5, &result, &good, &bad), 0);
	assert_true(good == 20 && bad == 60);
	result.fastest = true;
	assert_int_equal(tk_ab_result_levels(rows, 5, &result, &good, &bad), 0);
	assert_true(good == 2 && bad == 6);
	assert_int_equal(tk_ab_result_levels(rows, 2, &result, &good, &bad), 0);
	assert_true(good == 2 && bad == 4);
	assert_int_equal(tk_ab_result_levels(rows + 2, 2, &result, &good, &bad), 0);
	assert_true(isnan(good) && isnan(bad));
	assert_int_equal(tk_ab_result_levels(NULL, 0, &result, &good, &bad), 0);
	assert_true(isnan(good) && isnan(bad));
}

static void results_as_text(void **state)
{
	static const struct {
		struct tk_ab_result result;
		const char *text;
	} cases[] = {
	        {{.change = 0.012, .lo = 0.009, .hi = 0.015, .count = 16},
	                "+1.2 % (95 % CI 0.9 to 1.5, 16 pairs)"},
	        {{.change = -0.5, .lo = -0.6, .hi = -0.4, .count = 1},
	                "-50.0 % (95 % CI -60.0 to -40.0, 1 pair)"},
	        {{.change = -0.0004, .lo = -0.0004, .hi = 0.0004, .count = 12},
	                "+0.0 % (95 % CI 0.0 to 0.0, 12 pairs)"},
	        {{.change = 0, .lo = -0.0006, .hi = 0.0006, .count = 12, .fastest = true},
	                "+0.0 % (95 % CI -0.1 to 0.1, 12 pairs, fastest samples)"},
	        {{.change = NAN, .lo = NAN, .hi = NAN}, "no timings"},
	};
	char text[TK_AB_RESULT_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(tk_ab_result_format(&cases[i].result, text), cases[i].text);
	assert_string_equal(tk_ab_result_statistic_name(&cases[0].result), "median");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(medians_decide_where_they_can),
	        cmocka_unit_test(fastest_samples_decide_where_medians_jump),
	        cmocka_unit_test(fastest_samples_limit_the_size_of_a_change),
	        cmocka_unit_test(relative_and_absolute_thresholds),
	        cmocka_unit_test(above_or_below_a_level),
	        cmocka_unit_test(pairs_without_timings_do_not_count),
	        cmocka_unit_test(few_pairs_decide_at_the_end_of_a_budget),
	        cmocka_unit_test(exchanged_builds_and_other_units),
	        cmocka_unit_test(the_order_of_pairs_does_not_count_at_the_end),
	        cmocka_unit_test(levels_are_medians_over_the_pairs),
	        cmocka_unit_test(results_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
