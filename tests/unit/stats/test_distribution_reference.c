/* Distributions and ranks that rest on them against slow references: numerical integration, exact
 * binomial sums, and the definitions. */
#include "stats_checks.h"

#include "stats/compare.h"
#include "stats/summary.h"

/* ---- Student's t and the normal distribution ---- */

static double normal_density(double x)
{
	return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double student_density(double x, double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI) *
	       pow(1 + x * x / df, -(df + 1) / 2);
}

/* Two-sided p of t: 1 minus the integral from -t to t, by Simpson's rule. df 0: normal. */
static double integrated_p(double t, double df)
{
	enum { STEPS = 2000 };
	const double h = t / STEPS;
	double sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		const double x = h * i, f = df > 0 ? student_density(x, df) : normal_density(x);

		sum += f * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
	}
	return 1 - 2 * sum * h / 3;
}

static void student_p_is_the_integral_of_the_density(void **state)
{
	static const double dfs[] = {1, 1.5, 2, 3, 4.7, 8, 20, 55.5, 200};

	(void)state;
	for (size_t k = 0; k < 9; k++)
		for (double t = 0.125; t < 8; t *= 2) {
			near_by(tk_student_p(t, dfs[k]), integrated_p(t, dfs[k]), 1e-8);
			near_by(tk_student_p(-t, dfs[k]), tk_student_p(t, dfs[k]), 0);
		}
}

static void normal_p_is_the_integral_of_the_density(void **state)
{
	(void)state;
	for (double z = 0.0625; z < 6; z += 0.4375) {
		near_by(tk_normal_p(z), integrated_p(z, 0), 1e-10);
		near_by(tk_normal_p(-z), tk_normal_p(z), 0);
		near(tk_normal_z(tk_normal_p(z)), z);
	}
	near(tk_normal_p(0), 1);
	near(tk_normal_z(2), 0);
	assert_true(tk_normal_z(1e-300) > 37); /* far into the tail */
}

/* With one and two degrees of freedom the distribution has a closed form. */
static void closed_forms(void **state)
{
	(void)state;
	for (double t = 1e-3; t < 1e7; t *= 7) {
		const double one = 2 * atan(1 / t) / M_PI,
		             two = 2 / (t * t + 2 + t * sqrt(t * t + 2));

		near(tk_student_p(t, 1) / one, 1);
		near(tk_student_p(t, 2) / two, 1);
	}
}

static void deviates_invert_p(void **state)
{
	static const double dfs[] = {0.7, 1, 2, 3.3, 6, 17, 80, 1000};

	(void)state;
	for (size_t k = 0; k < 8; k++)
		for (double p = 0.999; p > 1e-12; p *= 0.31) {
			const double t = tk_student_t(p, dfs[k]);

			assert_true(t > 0);
			near_by(tk_student_p(t, dfs[k]) / p, 1, 1e-9);
		}
	/* asked again, after many others that share a place in the memory of results */
	near(tk_student_t(0.05, 10), 2.2281388519862753);
	for (double df = 1; df < 200; df += 0.2)
		tk_student_t(0.01, df);
	near(tk_student_t(0.05, 10), 2.2281388519862753);
	near(tk_student_t(0.01, 10), 3.169272672616873);
}

static void tails_are_heavier_with_fewer_degrees(void **state)
{
	(void)state;
	for (double t = 0.5; t < 50; t *= 1.7)
		for (double df = 1; df < 500; df *= 1.9) {
			assert_true(tk_student_p(t, df) > tk_student_p(t, df * 1.9));
			assert_true(tk_student_p(t, df) > tk_student_p(t * 1.7, df));
			assert_true(tk_student_p(t, df) > tk_normal_p(t));
		}
}

/* ---- the interval of the median ---- */

/* P(k or fewer heads in n throws), exact in a double for n <= 50. */
static double heads_up_to(size_t n, size_t k)
{
	double ways = 1, sum = 0;

	for (size_t i = 0; i <= k; i++) {
		sum += ways;
		ways = ways * (double)(n - i) / (double)(i + 1);
	}
	return ldexp(sum, -(int)n);
}

static void ranks_are_the_tightest_that_cover(void **state)
{
	static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99, 0.999};

	(void)state;
	for (size_t c = 0; c < 6; c++)
		for (size_t n = 1; n <= 50; n++) {
			const double half_alpha = (1 - confidences[c]) / 2;
			size_t lo = 99, hi = 99;

			if (!tk_median_ranks(n, confidences[c], &lo, &hi)) {
				assert_true(ldexp(1, -(int)n) > half_alpha - 1e-12);
				assert_int_equal(lo, 99); /* written on success only */
				continue;
			}
			assert_int_equal(lo + hi, n - 1);
			assert_true(lo < hi);
			assert_true(heads_up_to(n, lo) <= half_alpha + 1e-12);
			if (lo + 1 < n / 2)
				assert_true(heads_up_to(n, lo + 1) > half_alpha - 1e-12);
		}
}

static void more_samples_or_less_confidence_narrow_it(void **state)
{
	size_t lo, hi, lo2, hi2;

	(void)state;
	for (size_t n = 12; n < 20000; n = n * 5 / 3) {
		assert_true(tk_median_ranks(n, 0.95, &lo, &hi));
		assert_true(tk_median_ranks(n, 0.9, &lo2, &hi2));
		assert_true(lo2 >= lo && hi2 <= hi);
		assert_true(tk_median_ranks(4 * n, 0.95, &lo2, &hi2));
		assert_true((double)(hi2 - lo2) / (double)(4 * n) < (double)(hi - lo) / (double)n);
	}
}

/* The interval covers the true median as often as it says. */
static void the_interval_covers_the_median(void **state)
{
	static const size_t sizes[] = {6, 9, 20, 51};

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		size_t covered = 0;

		for (uint64_t seed = 1; seed <= 1000; seed++) {
			double x[51], lo, hi;

			fill_normal(x, sizes[k], seed, 3, 1);
			for (size_t i = 0; i < sizes[k]; i++)
				x[i] = exp(x[i]); /* whatever the distribution */
			sort_plainly(x, sizes[k]);
			assert_true(tk_median_interval(x, sizes[k], 0.95, &lo, &hi));
			covered += lo <= exp(3) && exp(3) <= hi;
		}
		assert_in_range(covered, 935, 995);
	}
}

/* ---- when to stop ---- */

static void the_order_of_reasons(void **state)
{
	const struct tk_stop_rule rule = {0.95, 0.1, 6, 10, 1};
	double tight[12], loose[12];

	(void)state;
	for (int i = 0; i < 12; i++)
		tight[i] = 100 + i, loose[i] = 100 + 50 * i;
	/* all three at once: the best reason is named */
	assert_int_equal(tk_stop_check(&rule, tight, 10, 2), TK_STOP_TIGHT);
	assert_int_equal(tk_stop_check(&rule, loose, 10, 2), TK_STOP_MAX_SAMPLES);
	assert_int_equal(tk_stop_check(&rule, loose, 9, 2), TK_STOP_BUDGET);
	assert_int_equal(tk_stop_check(&rule, loose, 9, 0.999), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, tight, 5, 2), TK_STOP_BUDGET); /* no interval */
	assert_int_equal(tk_stop_check(&rule, loose, 12, 0), TK_STOP_MAX_SAMPLES);
}

/* The half width may be exactly the target. Of nine values the interval is from the second to the
 * eighth. */
static void the_target_may_be_met_exactly(void **state)
{
	double x[9] = {97, 98, 99, 100, 100, 100, 101, 102, 103};
	struct tk_stop_rule rule = {0.95, 0.02, 6, 100, 1};

	(void)state;
	assert_int_equal(tk_stop_check(&rule, x, 9, 0), TK_STOP_TIGHT);
	rule.relative_half_width = 0.0199;
	assert_int_equal(tk_stop_check(&rule, x, 9, 0), TK_STOP_CONTINUE);
	rule.relative_half_width = 0.02;
	x[0] = 0, x[8] = 1e9; /* outside the interval */
	assert_int_equal(tk_stop_check(&rule, x, 9, 0), TK_STOP_TIGHT);
	rule.confidence = 0.999; /* nine values do not reach it */
	assert_int_equal(tk_stop_check(&rule, x, 9, 0), TK_STOP_CONTINUE);
}

/* ---- many tests ---- */

/* The definition: the least of p_(j) n / j over all p_(j) >= p_i, at most 1. */
static double plain_q(const double *p, size_t n, size_t i)
{
	double least = 1;
	size_t tests = 0;

	for (size_t j = 0; j < n; j++)
		tests += !isnan(p[j]);
	for (size_t j = 0; j < n; j++) {
		size_t rank = 0;

		if (isnan(p[j]) || p[j] < p[i])
			continue;
		for (size_t k = 0; k < n; k++)
			rank += p[k] <= p[j];
		least = fmin(least, p[j] * (double)tests / (double)rank);
	}
	return least;
}

static void q_values_follow_the_definition(void **state)
{
	struct tk_rng r;

	(void)state;
	tk_rng_seed(&r, 12);
	for (size_t n = 1; n <= 40; n++) {
		double p[40], q[40];

		for (size_t i = 0; i < n; i++)
			p[i] = tk_rng_below(&r, 9) == 0 ? NAN
			       : tk_rng_below(&r, 3)    ? pow(tk_rng_uniform(&r), 4)
			                                : (double)tk_rng_below(&r, 5) / 4;
		tk_fdr_adjust(p, n, q);
		for (size_t i = 0; i < n; i++) {
			if (isnan(p[i])) {
				assert_true(isnan(q[i]));
				continue;
			}
			near(q[i], plain_q(p, n, i));
			assert_true(q[i] >= p[i] && q[i] <= 1);
		}
	}
}

/* The order of the tests does not count, and a smaller p never has a larger q. */
static void q_values_do_not_depend_on_the_order(void **state)
{
	double p[30], q[30], reversed[30], q2[30];

	(void)state;
	fill_normal(p, 30, 3, 0, 1);
	for (size_t i = 0; i < 30; i++)
		p[i] = tk_normal_p(p[i] * 2);
	reverse(p, 30, reversed);
	tk_fdr_adjust(p, 30, q);
	tk_fdr_adjust(reversed, 30, q2);
	for (size_t i = 0; i < 30; i++) {
		near_by(q2[29 - i], q[i], 0);
		for (size_t k = 0; k < 30; k++)
			assert_true(p[i] > p[k] || q[i] <= q[k]);
	}
}

/* Tests that find nothing make the discoveries of others less certain; NaN does not. */
static void more_tests_raise_q(void **state)
{
	double p[] = {0.001, 0.01, NAN, NAN}, alone[2], q[4];

	(void)state;
	tk_fdr_adjust(p, 2, alone);
	near(alone[0], 0.002), near(alone[1], 0.01);
	tk_fdr_adjust(p, 4, q);
	near(q[0], alone[0]), near(q[1], alone[1]);
	p[2] = p[3] = 0.9;
	tk_fdr_adjust(p, 4, q);
	near(q[0], 0.004), near(q[1], 0.02), near(q[2], 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(student_p_is_the_integral_of_the_density),
	        cmocka_unit_test(normal_p_is_the_integral_of_the_density),
	        cmocka_unit_test(closed_forms),
	        cmocka_unit_test(deviates_invert_p),
	        cmocka_unit_test(tails_are_heavier_with_fewer_degrees),
	        cmocka_unit_test(ranks_are_the_tightest_that_cover),
	        cmocka_unit_test(more_samples_or_less_confidence_narrow_it),
	        cmocka_unit_test(the_interval_covers_the_median),
	        cmocka_unit_test(the_order_of_reasons),
	        cmocka_unit_test(the_target_may_be_met_exactly),
	        cmocka_unit_test(q_values_follow_the_definition),
	        cmocka_unit_test(q_values_do_not_depend_on_the_order),
	        cmocka_unit_test(more_tests_raise_q),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
