/* A step beside a spike is moved to the night where it is. */
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
#include "stats/changepoint/locate.h"

static void a_spike_does_not_hide_the_step(void **state)
{
	double y[40], sum[41] = {0};
	size_t bounds[] = {0, 22, 40};

	(void)state;
	for (size_t i = 0; i < 40; i++)
		y[i] = i >= 20;
	y[19] = 9;
	for (size_t i = 0; i < 40; i++) /* two good nights were pulled in to the new level */
		sum[i + 1] = sum[i] + (i == 19 ? 0 : i == 20 || i == 21 ? 0 : y[i]);
	tk_changepoint_locate(y, sum, 0.05, 3, bounds, 2);
	assert_int_equal(bounds[1], 20);
}

/* Values that were not winsorized stay as the partition has them, even if the step is not there. */
static void without_a_spike_nothing_moves(void **state)
{
	double y[40], sum[41] = {0};

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		y[i] = 13 + (i >= 20);
		sum[i + 1] = sum[i] + (y[i] - y[0]);
	}
	for (size_t bound = 18; bound <= 22; bound++) {
		size_t bounds[] = {0, bound, 40};

		tk_changepoint_locate(y, sum, 0.05, 3, bounds, 2);
		assert_int_equal(bounds[1], bound);
	}
}

/* Steps up and down in noise, with the bound a few nights off beside a spike at any place near. */
static void any_spike_beside_any_step(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 3);
	for (int try = 0; try < 2000; try++) {
		double y[60], sum[61] = {0}, step = try % 2 ? 0.5 : -0.5;
		size_t at = 20 + tk_rng_below(&rng, 20), spike = at - 4 + tk_rng_below(&rng, 9),
		       bounds[] = {0, at - 4 + tk_rng_below(&rng, 9), 60};

		if (spike == at)
			continue; /* the first night of the level cannot be told from noise */
		for (size_t i = 0; i < 60; i++)
			y[i] = 13 * (try % 3) + (i >= at ? step : 0) + 0.02 * tk_rng_normal(&rng);
		y[spike] += try % 4 < 2 ? 5 : -5;
		for (size_t i = 0; i < 60; i++) /* the nights around the bound were pulled in */
			sum[i + 1] = sum[i] +
			             (i + 5 > bounds[1] && i < bounds[1] + 5 ? 99 : y[i] - y[0]);
		tk_changepoint_locate(y, sum, 0.02, 3, bounds, 2);
		assert_int_equal(bounds[0], 0);
		assert_int_equal(bounds[1], at);
		assert_int_equal(bounds[2], 60);
	}
}

/* A step moves by four nights at most, and short segments keep a night: for any values, many
 * bounds stay in ascending order. */
static void bounds_stay_apart(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 5);
	for (int try = 0; try < 2000; try++) {
		double y[64], sum[65] = {0};
		size_t bounds[33] = {0}, before[33], segments = 0;

		for (size_t i = 0; i < 64; i++) {
			y[i] = tk_rng_normal(&rng) * (tk_rng_below(&rng, 8) ? 1 : 1e6);
			sum[i + 1] = sum[i] + tk_rng_normal(&rng);
		}
		for (size_t at = 0; at < 64 && segments < 32; at += 1 + tk_rng_below(&rng, 12))
			bounds[segments++] = at;
		bounds[segments] = 64;
		memcpy(before, bounds, sizeof before);
		tk_changepoint_locate(y, sum, 0.1, 3, bounds, segments);
		assert_int_equal(bounds[0], 0);
		assert_int_equal(bounds[segments], 64);
		for (size_t i = 1; i <= segments; i++) {
			assert_true(bounds[i] > bounds[i - 1]);
			assert_true(bounds[i] <= before[i] + 4 && bounds[i] + 4 >= before[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_spike_does_not_hide_the_step),
	        cmocka_unit_test(without_a_spike_nothing_moves),
	        cmocka_unit_test(any_spike_beside_any_step),
	        cmocka_unit_test(bounds_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
