/* Straight lines replace levels only where a few of them explain the series far better. */
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
#include "stats/changepoint/trend.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { N = 200 };

static void a_ramp_is_one_line(void **state)
{
	double y[N], tau = 0.01;
	size_t bounds[N + 1], segments = 0;

	(void)state;
	tk_rng_seed(&rng, 2);
	for (size_t i = 0; i < N; i++)
		y[i] = 0.01 * (double)i;
	add_noise(y, N, 0.01);
	for (size_t i = 0; i <= N; i += 20) /* the levels that the ramp was cut into */
		bounds[segments++] = i;
	segments--;
	assert_int_equal(tk_trend_fit(y, N, bounds, &segments, &tau), TK_OK);
	assert_true(segments <= 2);
	assert_int_equal(bounds[segments], N);
}

static void levels_stay_levels(void **state)
{
	double y[N], tau = 0.01;
	size_t bounds[N + 1] = {0, 100, N}, segments = 2;

	(void)state;
	tk_rng_seed(&rng, 2);
	for (size_t i = 0; i < N; i++)
		y[i] = i >= 100;
	add_noise(y, N, 0.01);
	assert_int_equal(tk_trend_fit(y, N, bounds, &segments, &tau), TK_OK);
	assert_int_equal(segments, 2);
	assert_int_equal(bounds[1], 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_ramp_is_one_line),
	        cmocka_unit_test(levels_stay_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
