/* Two levels against one in few nights: what is a step, what is drift or a spike, and what other
 * series tell about the noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "stats/monitor/level_monitor.h"
#include "stats/monitor/young_level.h"

#define N 60
#define MIN_SHIFT 0.005

static const struct tk_noise_prior no_prior;

static void make(double *y, size_t n, uint64_t seed, double sigma, size_t at, double step)
{
	struct tk_rng r;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < n; i++)
		y[i] = 3 + sigma * tk_rng_normal(&r) + (i >= at ? step : 0);
}

static bool is_step(const double *y, size_t n, const struct tk_noise_prior *prior)
{
	return tk_young_step_find(y, n, MIN_SHIFT, prior).log_lr >= TK_MONITOR_LOG_LR_MIN;
}

static void large_steps_are_found_after_four_nights(void **state)
{
	double y[N];

	for (size_t at = TK_YOUNG_BEFORE_MIN; at + 4 <= N; at++) {
		struct tk_young_step s;

		make(y, at + 4, at, 0.01, at, 0.2);
		assert_false(is_step(y, at + TK_YOUNG_AFTER_MIN - 1, &no_prior));
		s = tk_young_step_find(y, at + 4, MIN_SHIFT, &no_prior);
		assert_true(s.log_lr >= TK_MONITOR_LOG_LR_MIN);
		assert_int_equal(s.split, at);
		assert_true(fabs(s.before - 3) < 0.02 && fabs(s.after - 3.2) < 0.03);
	}
}

static void white_noise_has_no_step(void **state)
{
	double y[N];
	size_t found = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		make(y, N, seed, 0.01, N, 0);
		for (size_t n = 0; n < N; n++)
			found += is_step(y, n, &no_prior);
	}
	assert_in_range(found, 0, 6); /* of 12,000 series-nights */
}

static void drift_is_no_step(void **state)
{
	double y[N];
	size_t found = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct tk_rng r;
		double x = 0;

		make(y, N, seed, 0.003, N, 0);
		tk_rng_seed(&r, 1000 + seed);
		for (size_t i = 0; i < N; i++)
			y[i] += x = 0.93 * x + 0.015 * sqrt(1 - 0.93 * 0.93) * tk_rng_normal(&r);
		found += is_step(y, N / 2, &no_prior);
	}
	assert_in_range(found, 0, 4);
}

static void a_spike_of_two_nights_is_no_step(void **state)
{
	double y[N];

	make(y, N, 5, 0.005, N, 0);
	y[20] += 0.4;
	y[21] += 0.3;
	for (size_t n = 0; n <= N; n++)
		assert_false(is_step(y, n, &no_prior));
}

static void steps_below_the_minimum_are_left_out(void **state)
{
	double y[N];

	make(y, N, 5, 0.0001, 30, 0.004);
	assert_true(tk_young_step_find(y, N, MIN_SHIFT, &no_prior).log_lr == 0);
	assert_true(tk_young_step_find(y, N, 0.003, &no_prior).log_lr > TK_MONITOR_LOG_LR_MIN);
}

static void equal_nights_are_fine(void **state)
{
	double y[N], df;

	make(y, N, 1, 0, N, 0);
	assert_true(tk_young_step_find(y, N, MIN_SHIFT, &no_prior).log_lr == 0);
	assert_true(isfinite(tk_noise_log_variance(y, 10, &df)));
	make(y, N, 1, 0, 8, 0.1);
	assert_int_equal(tk_young_step_find(y, 12, MIN_SHIFT, &no_prior).split, 8);
}

/* ---- the prior ---- */

static struct tk_noise_prior prior_of(size_t series, size_t nights, double sigma, double factor)
{
	double log_variance[64], df[64], y[N];

	for (size_t i = 0; i < series; i++) {
		make(y, nights, 77 + i, sigma * pow(factor, (double)(i % 5)), nights / 2,
		        i ? 0 : 0.2);
		log_variance[i] = tk_noise_log_variance(y, nights, &df[i]);
	}
	return tk_noise_prior_estimate(log_variance, df, series);
}

static void series_that_agree_are_worth_more(void **state)
{
	const struct tk_noise_prior equal = prior_of(40, 10, 0.01, 1), /* one of them has a step */
	        different = prior_of(40, 10, 0.003, 2.5), few = prior_of(4, 10, 0.01, 1);

	assert_true(fabs(sqrt(equal.variance) - 0.01) < 0.002);
	assert_true(equal.df > 8);
	assert_true(different.df > 0 && different.df < 4);
	assert_true(few.df == 0);
}

static void a_prior_makes_smaller_steps_visible(void **state)
{
	const struct tk_noise_prior prior = {1e-4, 20};
	size_t alone = 0, together = 0;
	double y[N];

	for (uint64_t seed = 1; seed <= 100; seed++) {
		make(y, 10, seed, 0.01, 6, 0.05);
		alone += is_step(y, 10, &no_prior);
		together += is_step(y, 10, &prior);
	}
	assert_true(together > alone);
	assert_in_range(together, 70, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(large_steps_are_found_after_four_nights),
	        cmocka_unit_test(white_noise_has_no_step),
	        cmocka_unit_test(drift_is_no_step),
	        cmocka_unit_test(a_spike_of_two_nights_is_no_step),
	        cmocka_unit_test(steps_below_the_minimum_are_left_out),
	        cmocka_unit_test(equal_nights_are_fine),
	        cmocka_unit_test(series_that_agree_are_worth_more),
	        cmocka_unit_test(a_prior_makes_smaller_steps_visible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
