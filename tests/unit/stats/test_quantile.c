/* Quantiles without sorting are those of the sorted sample. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "stats/summary/noise.h"
#include "stats/summary/quantile.h"
#include "stats/summary/summary.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

/* Whatever the values look like: spread, ties, a few far away, all equal, in order; more of them
 * than bins are kept of.
 */
static double sample(struct tk_rng *r, int kind, size_t i)
{
	double v = tk_rng_normal(r);

	return kind == 0   ? v
	       : kind == 1 ? round(3 * v)
	       : kind == 2 ? fabs(v) * (tk_rng_below(r, 20) ? 1 : 1e6)
	       : kind == 3 ? -7.5
	       : kind == 4 ? (double)i
	                   : (i % 97 ? 1e-9 * v : 1e9);
}

static void quantiles_without_sorting(void **state)
{
	static const size_t sizes[] = {1, 2, 13, 96, 97, 100, 365, 1440, 4096, 4097, 6000};
	static const double parts[] = {0, 0.1, 0.5, 0.8, 0.9, 1};
	static double x[6000], work[6000];
	struct tk_rng r;

	tk_rng_seed(&r, 3);
	for (size_t k = 0; k < 6 * sizeof sizes / sizeof *sizes; k++) {
		size_t n = sizes[k / 6];
		double got[6], width;

		for (size_t i = 0; i < n; i++)
			work[i] = x[i] = sample(&r, (int)(k % 6), i);
		tk_quantile_select_many(work, n, parts, 6, got);
		tk_sort_values(x, n);
		for (size_t i = 0; i < 6; i++)
			near(got[i], tk_quantile_sorted(x, n, parts[i]));
		tk_quantile_estimate_many(work, n, parts, 6, got);
		width = tk_quantile_sorted(x, n, 0.9) - x[0];
		for (size_t i = 1; i < 5; i++)
			assert_true(fabs(got[i] - tk_quantile_sorted(x, n, parts[i])) <=
			            0.02 * width + 1e-12);
	}
}

/* Every rank of up to twelve values in many orders, some of them equal. */
static void few_values_in_any_order(void **state)
{
	struct tk_rng r;

	(void)state;
	tk_rng_seed(&r, 4);
	for (size_t k = 0; k < 20000; k++) {
		const size_t n = 1 + tk_rng_below(&r, 12);
		const double p = (double)tk_rng_below(&r, n) / (double)(n > 1 ? n - 1 : 1);
		double x[12], sorted[12];

		for (size_t i = 0; i < n; i++)
			sorted[i] = x[i] = (double)tk_rng_below(&r, 9) - 4.5;
		tk_sort_values(sorted, n);
		assert_true(tk_quantile_select(x, n, p) == tk_quantile_sorted(sorted, n, p));
	}
}

static void the_scale_of_differences_is_that_of_the_noise(void **state)
{
	double x[400], work[400];
	struct tk_rng r;

	(void)state;
	tk_rng_seed(&r, 5);
	for (size_t i = 0; i < 400; i++)
		x[i] = 3 * tk_rng_normal(&r) + (i >= 200 ? 1000 : 0);
	assert_true(fabs(tk_noise_lag_scale(x, 400, 1, work) - 3) < 0.6);
	assert_true(tk_noise_lag_scale(x, 1, 1, work) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(quantiles_without_sorting),
	        cmocka_unit_test(few_values_in_any_order),
	        cmocka_unit_test(the_scale_of_differences_is_that_of_the_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
