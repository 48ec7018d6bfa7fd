/* Spikes are pulled in; steps and noise are left as they are. */
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
#include "stats/summary/winsorize.h"

static void only_spikes_are_pulled_in(void **state)
{
	double y[20], out[20];

	(void)state;
	for (size_t i = 0; i < 20; i++)
		y[i] = i >= 10;
	y[4] = 9;
	tk_winsorize(y, 20, 0.5, out);
	for (size_t i = 0; i < 20; i++)
		assert_true(fabs(out[i] - (i == 4 ? 0.5 : i >= 10)) < 1e-12);
}

/* The median of the seven by counting: as slow and plain as it can be. */
static double plain_median(const double *y, size_t n, size_t i)
{
	size_t from = i < 3 ? 0 : i - 3, to = i + 4 > n ? n : i + 4, count = to - from;
	double lower = NAN, upper = NAN;

	for (size_t a = from; a < to; a++) {
		size_t below = 0, equal = 0;

		for (size_t b = from; b < to; b++)
			below += y[b] < y[a], equal += y[b] == y[a];
		if (below <= (count - 1) / 2 && (count - 1) / 2 < below + equal)
			lower = y[a];
		if (below <= count / 2 && count / 2 < below + equal)
			upper = y[a];
	}
	return (lower + upper) / 2;
}

/* All 5,040 orders of seven values, by Heap's algorithm. */
static void every_order_has_its_median(void **state)
{
	double y[7] = {1, 2, 3, 4, 5, 6, 7}, out[7];
	size_t count[7] = {0}, orders = 1;

	(void)state;
	for (size_t i = 1; i < 7;) {
		size_t from = i % 2 ? count[i] : 0;
		double kept = y[from];

		if (count[i] == i) {
			count[i++] = 0;
			continue;
		}
		y[from] = y[i], y[i] = kept;
		count[i]++, orders++;
		i = 1;
		tk_winsorize(y, 7, 0, out);
		assert_true(out[3] == 4);
	}
	assert_int_equal(orders, 5040);
}

/* Medians are computed 256 at a time: lengths around that have each kind of last stretch. */
static void long_series_have_no_seams(void **state)
{
	double y[600], out[600];
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 7);
	for (size_t i = 0; i < 600; i++)
		y[i] = tk_rng_uniform(&rng);
	for (size_t n = 1; n <= 600; n += n > 20 && (n < 250 || n > 265) && n < 505 ? 5 : 1) {
		tk_winsorize(y, n, 0.1, out);
		for (size_t i = 0; i < n; i++) {
			double m = plain_median(y, n, i);
			double known = fmin(fmax(y[i], m - 0.1), m + 0.1);

			assert_true(fabs(out[i] - known) < 1e-12);
		}
	}
}

static void short_series_are_fine(void **state)
{
	const double y[] = {5, 1};
	double out[2];

	(void)state;
	tk_winsorize(y, 0, 1, out);
	tk_winsorize(y, 1, 1, out);
	assert_true(out[0] == 5);
	tk_winsorize(y, 2, 100, out);
	assert_true(out[0] == 5 && out[1] == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_spikes_are_pulled_in),
	        cmocka_unit_test(every_order_has_its_median),
	        cmocka_unit_test(long_series_have_no_seams),
	        cmocka_unit_test(short_series_are_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
