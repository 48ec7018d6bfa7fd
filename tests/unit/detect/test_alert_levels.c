/* Levels that are kept for alerts: found while the alert is about the same change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "detect/history/alert_levels.h"
#include "store/store.h"

static struct tk_alert_row alert(int64_t series, int64_t night, const char *bad_rev)
{
	return (struct tk_alert_row){.series_id = series, .night_id = night, .bad_rev = bad_rev};
}

static void put(struct tk_alert_levels *levels, int64_t series, int64_t night, double level)
{
	const struct tk_alert_row a = alert(series, night, "abc");

	assert_int_equal(tk_alert_levels_put(levels, &a, level), 0);
}

static double find(
        const struct tk_alert_levels *levels, int64_t series, int64_t night, const char *bad_rev)
{
	const struct tk_alert_row a = alert(series, night, bad_rev);
	double level = -1;

	return tk_alert_levels_find(levels, &a, &level) ? level : -1;
}

static void levels_are_found_by_series(void **state)
{
	struct tk_alert_levels levels = {0};
	(void)state;

	assert_float_equal(find(&levels, 3, 1, "abc"), -1, 0);
	for (int64_t i = 0; i < 200; i++) /* in no order */
		put(&levels, i * 37 % 200, 1, (double)(i * 37 % 200));
	for (int64_t i = 0; i < 200; i++)
		assert_float_equal(find(&levels, i, 1, "abc"), (double)i, 0);
	assert_float_equal(find(&levels, 200, 1, "abc"), -1, 0);
	tk_alert_levels_free(&levels);
	assert_float_equal(find(&levels, 3, 1, "abc"), -1, 0);
}

static void another_change_has_another_level(void **state)
{
	struct tk_alert_levels levels = {0};
	(void)state;

	put(&levels, 5, 1, 2.5);
	assert_float_equal(find(&levels, 5, 2, "abc"), -1, 0);
	assert_float_equal(find(&levels, 5, 1, "abd"), -1, 0);
	put(&levels, 5, 2, 3.5);
	assert_float_equal(find(&levels, 5, 2, "abc"), 3.5, 0);
	assert_float_equal(find(&levels, 5, 1, "abc"), -1, 0);
	tk_alert_levels_free(&levels);
}

static void an_unknown_level_is_kept(void **state)
{
	struct tk_alert_levels levels = {0};
	(void)state;

	put(&levels, 5, 1, NAN);
	assert_true(isnan(find(&levels, 5, 1, "abc")));
	tk_alert_levels_free(&levels);
}

static void nothing_is_kept_without_a_list(void **state)
{
	(void)state;
	assert_float_equal(find(NULL, 5, 1, "abc"), -1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(levels_are_found_by_series),
	        cmocka_unit_test(another_change_has_another_level),
	        cmocka_unit_test(an_unknown_level_is_kept),
	        cmocka_unit_test(nothing_is_kept_without_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
