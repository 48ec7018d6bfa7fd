/* A weekly pattern is taken out where it is beyond doubt, and only there. */
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
#include "stats/summary/weekday.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { NIGHTS = 140 };

static void fill(double *y, int64_t *day, double weekend)
{
	for (size_t i = 0; i < NIGHTS; i++) {
		day[i] = (int64_t)(20000 + i);
		y[i] = tk_weekday_from_day(day[i]) >= 5 ? weekend : 0;
	}
	tk_rng_seed(&rng, 8);
	add_noise(y, NIGHTS, 0.01);
}

static void seven_days_are_a_week(void **state)
{
	(void)state;
	for (int64_t day = -20; day < 20; day++) {
		assert_true(tk_weekday_from_day(day) < 7);
		assert_int_equal(tk_weekday_from_day(day), tk_weekday_from_day(day + 7));
		assert_int_not_equal(tk_weekday_from_day(day), tk_weekday_from_day(day + 1));
	}
}

static void a_pattern_is_removed(void **state)
{
	double y[NIGHTS];
	int64_t day[NIGHTS];
	bool removed;

	(void)state;
	fill(y, day, -0.05);
	assert_int_equal(tk_weekday_remove(y, day, NIGHTS, &removed), TK_OK);
	assert_true(removed);
	for (size_t i = 1; i < NIGHTS; i++)
		assert_true(fabs(y[i] - y[i - 1]) < 0.05);
}

static void noise_is_no_pattern(void **state)
{
	double y[NIGHTS], before[NIGHTS], work[2 * NIGHTS], pattern[7];
	int64_t day[NIGHTS];
	bool removed;

	(void)state;
	fill(y, day, 0);
	memcpy(before, y, sizeof y);
	assert_int_equal(tk_weekday_remove(y, day, NIGHTS, &removed), TK_OK);
	assert_false(removed);
	assert_memory_equal(before, y, sizeof y);
	assert_false(tk_weekday_estimate(y, day, NIGHTS, work, pattern));
	assert_int_equal(tk_weekday_remove(y, day, 10, &removed), TK_OK); /* under six weeks */
	assert_false(removed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(seven_days_are_a_week),
	        cmocka_unit_test(a_pattern_is_removed),
	        cmocka_unit_test(noise_is_no_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
