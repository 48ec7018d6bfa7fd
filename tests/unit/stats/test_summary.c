/* Summaries, the interval of the median and the stopping rule: known answers, and coverage on
 * seeded samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "stats/summary/interval.h"
#include "stats/summary/quantile.h"
#include "stats/summary/stopping.h"
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

static void ranks_are_those_of_the_tables(void **state)
{
	/* one-based ranks of the tables (Le Boudec 2010, table A.1): 6: 1,6; 10: 2,9; 20: 6,15; 50:
	 * 18,33; 70: 27,44 */
	static const size_t known[][3] = {
	        {6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {50, 18, 33}, {70, 27, 44}};
	size_t lo, hi;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		assert_true(tk_median_ranks(known[i][0], 0.95, &lo, &hi));
		assert_int_equal(lo + 1, known[i][1]);
		assert_int_equal(hi + 1, known[i][2]);
	}
	for (size_t n = 0; n < 6; n++)
		assert_false(tk_median_ranks(n, 0.95, &lo, &hi));
	assert_true(tk_median_ranks(1000000, 0.95, &lo, &hi));
	assert_in_range(lo, 499015, 499025); /* n / 2 - 1.96 sqrt(n) / 2 */
	assert_false(tk_median_ranks(100, NAN, &lo, &hi));
}

static void too_few_samples_give_the_extremes(void **state)
{
	const double x[] = {1, 2, 4};
	double lo, hi;

	assert_false(tk_median_interval(x, 3, 0.95, &lo, &hi));
	near(lo, 1), near(hi, 4);
	assert_false(tk_median_interval(x, 0, 0.95, &lo, &hi));
	assert_true(isnan(lo) && isnan(hi));
}

static void stops_for_the_right_reason(void **state)
{
	const struct tk_stop_rule rule = {0.95, 0.01, 8, 20, 1.0};
	double tight[20], loose[20];

	for (int i = 0; i < 20; i++)
		tight[i] = 100 + i * 0.01, loose[i] = 100 + i * 5;
	assert_int_equal(tk_stop_check(&rule, tight, 7, 0.1), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, tight, 8, 0.1), TK_STOP_TIGHT);
	assert_int_equal(tk_stop_check(&rule, loose, 19, 0.1), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, loose, 20, 0.1), TK_STOP_MAX_SAMPLES);
	assert_int_equal(tk_stop_check(&rule, loose, 19, 1.0), TK_STOP_BUDGET);
	assert_int_equal(tk_stop_check(&rule, NULL, 0, 2.0), TK_STOP_BUDGET);
	assert_string_equal(tk_stop_name(TK_STOP_TIGHT), "tight");
	assert_string_equal(tk_stop_name(TK_STOP_MAX_SAMPLES), "max_samples");
	assert_string_equal(tk_stop_name(TK_STOP_BUDGET), "budget");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(summary_known_answers),
	        cmocka_unit_test(summary_of_one_and_of_constants),
	        cmocka_unit_test(summary_refuses_nothing_and_non_finite),
	        cmocka_unit_test(sort_puts_nan_last),
	        cmocka_unit_test(sorting_is_right),
	        cmocka_unit_test(quantiles_without_sorting),
	        cmocka_unit_test(ranks_are_those_of_the_tables),
	        cmocka_unit_test(too_few_samples_give_the_extremes),
	        cmocka_unit_test(stops_for_the_right_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
