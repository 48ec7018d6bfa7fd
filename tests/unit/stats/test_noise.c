/* The noise of a series: neither steps nor spikes are part of it. */
#include "stats_checks.h"

#include "stats/summary/noise.h"

static double work[4001];

static void noise_ignores_steps_and_spikes(void **state)
{
	static double x[600];
	struct tk_rng r;
	struct tk_noise noise;

	tk_rng_seed(&r, 3);
	for (int i = 0; i < 600; i++)
		x[i] = 0.01 * tk_rng_normal(&r) + (i >= 200 ? 0.3 : 0) - (i >= 450 ? 0.1 : 0) +
		       (i % 50 == 17 ? 0.5 : 0);
	assert_int_equal(tk_noise_estimate(x, 600, work, &noise), TK_OK);
	near_by(noise.sigma, 0.01, 0.002);
	near_by(noise.rho, 0, 0.25);
	assert_true(noise.tau >= noise.sigma && noise.tau < 0.03);
	assert_true(tk_noise_mad(x, 600, work) > 0.05);
}

static void noise_sees_autocorrelation(void **state)
{
	static double x[2000];
	struct tk_rng r;
	struct tk_noise noise;

	tk_rng_seed(&r, 4);
	for (int i = 1; i < 2000; i++)
		x[i] = 0.8 * x[i - 1] + tk_rng_normal(&r);
	assert_int_equal(tk_noise_estimate(x, 2000, work, &noise), TK_OK);
	near_by(noise.rho, 0.8, 0.1);
	assert_true(noise.tau > 3.5); /* 1 / (1 - 0.8) = 5 in the limit */
}

static void noise_of_little(void **state)
{
	const double constant[] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, nan[] = {1, 2, NAN};
	struct tk_noise noise;

	assert_int_equal(tk_noise_estimate(NULL, 0, work, &noise), TK_OK);
	near(noise.sigma, 0), near(noise.tau, 0);
	assert_int_equal(tk_noise_estimate(constant, 12, work, &noise), TK_OK);
	near(noise.sigma, 0), near(noise.rho, 0), near(tk_noise_mad(constant, 12, work), 0);
	assert_int_equal(tk_noise_estimate(nan, 3, work, &noise), TK_EDATA);
	assert_int_equal(tk_noise_estimate_sigma(nan, 3, work, &noise.sigma), TK_EDATA);
}

static void parts_of_the_noise_are_those_of_the_whole(void **state)
{
	double x[100];
	struct tk_rng r;

	tk_rng_seed(&r, 5);
	for (size_t i = 0; i < 100; i++)
		x[i] = tk_rng_normal(&r);
	for (size_t n = 0; n <= 100; n++) {
		struct tk_noise noise;
		double sigma, again, tau;

		assert_int_equal(tk_noise_estimate(x, n, work, &noise), TK_OK);
		assert_int_equal(tk_noise_estimate_sigma(x, n, work, &sigma), TK_OK);
		assert_int_equal(tk_noise_estimate_scale(x, n, work, &again, &tau), TK_OK);
		assert_true(sigma == noise.sigma && again == sigma && tau == noise.tau);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(noise_ignores_steps_and_spikes),
	        cmocka_unit_test(noise_sees_autocorrelation),
	        cmocka_unit_test(noise_of_little),
	        cmocka_unit_test(parts_of_the_noise_are_those_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
