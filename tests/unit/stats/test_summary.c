/* Summaries: known answers from NumPy, degenerate input. */
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
#include "stats/summary/summary.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static void summary_known_answers(void **state)
{
	/* quantiles and standard deviation from NumPy */
	const double x[] = {7, 1, 3, 9, 4};
	struct tk_summary s;

	assert_int_equal(tk_summary_compute(x, 5, &s), TK_OK);
	assert_int_equal(s.n, 5);
	near(s.min, 1), near(s.max, 9), near(s.median, 4), near(s.q25, 3), near(s.q75, 7);
	near(s.p05, 1.4), near(s.p95, 8.6), near(s.mean, 4.8), near(s.mad, 3);
	near(s.stddev, 3.1937438845342623);
	near(x[0], 7);
}

static void summary_of_one_and_of_constants(void **state)
{
	const double x[] = {2.5, 2.5, 2.5};
	struct tk_summary s;

	assert_int_equal(tk_summary_compute(x, 1, &s), TK_OK);
	near(s.median, 2.5), near(s.p05, 2.5), near(s.stddev, 0), near(s.mad, 0);
	assert_int_equal(tk_summary_compute(x, 3, &s), TK_OK);
	near(s.q75, 2.5), near(s.stddev, 0);
}

static void summary_refuses_nothing_and_non_finite(void **state)
{
	const double bad[] = {1, NAN, 2}, worse[] = {1, INFINITY};
	struct tk_summary s;

	assert_int_equal(tk_summary_compute(NULL, 0, &s), TK_EDATA);
	assert_int_equal(tk_summary_compute(bad, 3, &s), TK_EDATA);
	assert_int_equal(tk_summary_compute(worse, 2, &s), TK_EDATA);
	assert_true(isnan(tk_median(NULL, 0)));
}

static void medians_need_no_order(void **state)
{
	double odd[] = {5, 1, 4, 2, 3, 9, 7, 8, 6}, even[] = {3, 1, 2, 4}, alike[] = {2, 2, 2, 2};
	double unknown[] = {NAN, 1, 3};

	near(tk_median(odd, 9), 5), near(tk_median(odd, 1), odd[0]), near(tk_median(even, 4), 2.5);
	near(tk_median(alike, 4), 2);
	assert_true(isnan(tk_median(unknown, 3)));
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

static void sorting_is_right(void **state)
{
	static double x[5000];
	struct tk_rng r;

	tk_rng_seed(&r, 4);
	for (int kind = 0; kind < 6; kind++)
		for (size_t n = 0; n < 5000; n = 2 * n + 7) {
			double sum = 0, after = 0;

			for (size_t i = 0; i < n; i++)
				sum += fabs(x[i] = sample(&r, kind, i));
			tk_sort_values(x, n);
			for (size_t i = 0; i < n; i++) {
				after += fabs(x[i]);
				assert_true(i == 0 || x[i - 1] <= x[i]);
			}
			assert_true(fabs(after - sum) <= 1e-9 * sum);
		}
}

static void sort_puts_nan_last(void **state)
{
	double x[] = {NAN, 3, -1, NAN, 2};

	tk_sort_values(x, 5);
	near(x[0], -1), near(x[1], 2), near(x[2], 3);
	assert_true(isnan(x[3]) && isnan(x[4]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(summary_known_answers),
	        cmocka_unit_test(summary_of_one_and_of_constants),
	        cmocka_unit_test(summary_refuses_nothing_and_non_finite),
	        cmocka_unit_test(medians_need_no_order),
	        cmocka_unit_test(sorting_is_right),
	        cmocka_unit_test(sort_puts_nan_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
