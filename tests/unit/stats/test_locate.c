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

static void without_a_spike_nothing_moves(void **state)
{
	double y[40], sum[41] = {0};
	size_t bounds[] = {0, 20, 40};

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		y[i] = i >= 20;
		sum[i + 1] = sum[i] + y[i];
	}
	tk_changepoint_locate(y, sum, 0.05, 3, bounds, 2);
	assert_int_equal(bounds[1], 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_spike_does_not_hide_the_step),
	        cmocka_unit_test(without_a_spike_nothing_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
