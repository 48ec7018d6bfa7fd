/* A pattern of any period is taken out where it is beyond doubt. */
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
#include "stats/changepoint/season.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { N = 200 };

static void a_period_is_found_and_removed(void **state)
{
	double y[N];
	size_t period;

	(void)state;
	tk_rng_seed(&rng, 9);
	for (size_t i = 0; i < N; i++)
		y[i] = i % 5 == 0 ? 1 : 0;
	add_noise(y, N, 0.02);
	assert_int_equal(tk_season_remove(y, N, &period), TK_OK);
	assert_int_equal(period % 5, 0);
	assert_true(period > 0);
	for (size_t i = 1; i < N; i++)
		assert_true(fabs(y[i] - y[i - 1]) < 0.3);
}

static void noise_has_no_period(void **state)
{
	double y[N] = {0}, before[N];
	size_t period;

	(void)state;
	tk_rng_seed(&rng, 9);
	add_noise(y, N, 1);
	memcpy(before, y, sizeof y);
	assert_int_equal(tk_season_remove(y, N, &period), TK_OK);
	assert_int_equal(period, 0);
	assert_memory_equal(before, y, sizeof y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_period_is_found_and_removed),
	        cmocka_unit_test(noise_has_no_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
