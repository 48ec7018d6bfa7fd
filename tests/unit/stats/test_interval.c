/* The interval of the median: ranks of the published tables, too few samples. */
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
#include "stats/summary/interval.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
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

static void ranks_of_other_confidences(void **state)
{
	/* n, confidence, one-based ranks; SciPy 1.17: the largest j with
	 * 1 - 2 * binom.cdf(j - 1, n, 0.5) >= confidence, and n + 1 - j */
	static const struct {
		size_t n;
		double confidence;
		size_t lo, hi;
	} known[] = {{15, 0.99, 3, 13}, {30, 0.99, 8, 23}, {100, 0.99, 37, 64}, {25, 0.9, 8, 18},
	        {100, 0.95, 40, 61}, {9, 0.95, 2, 8}, {8, 0.99, 1, 8}, {5, 0.9, 1, 5}};
	size_t lo, hi;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		assert_true(tk_median_ranks(known[i].n, known[i].confidence, &lo, &hi));
		assert_int_equal(lo + 1, known[i].lo);
		assert_int_equal(hi + 1, known[i].hi);
	}
	assert_false(tk_median_ranks(7, 0.99, &lo, &hi));
	assert_false(tk_median_ranks(4, 0.9, &lo, &hi));
}

static void the_interval_holds_the_values_at_its_ranks(void **state)
{
	const double x[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
	double lo, hi;

	assert_true(tk_median_interval(x, 9, 0.95, &lo, &hi));
	near(lo, 2), near(hi, 128);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ranks_are_those_of_the_tables),
	        cmocka_unit_test(ranks_of_other_confidences),
	        cmocka_unit_test(the_interval_holds_the_values_at_its_ranks),
	        cmocka_unit_test(too_few_samples_give_the_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
