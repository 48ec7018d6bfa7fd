/* Intervals of measurements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_gen/render/format_point.h"
#include "store/store.h"

static void one_sample_has_no_interval(void **state)
{
	char text[TK_FORMAT_SIZE];
	struct tk_point one = {.value = 100, .lo = 100, .hi = 100, .n = 1},
	                two = {.value = 100, .lo = 99, .hi = 101, .n = 2};
	assert_string_equal(tk_format_point_half_width(&one, text), "");
	assert_string_equal(tk_format_point_half_width(&two, text), "±1.0\u00a0%");
}

static void close_times_tie(void **state)
{
	struct tk_point best = {.value = 100, .lo = 99.9, .hi = 100.1, .n = 9},
	                near = {.value = 100.5, .lo = 100.4, .hi = 100.6, .n = 9},
	                far = {.value = 103, .lo = 102, .hi = 104, .n = 9},
	                wide = {.value = 103, .lo = 99, .hi = 107, .n = 9},
	                alone = {.value = 103, .lo = 103, .hi = 103, .n = 1};
	assert_int_equal(tk_point_compare(&best, &near, 0.01), TK_POINTS_TIE);
	assert_int_equal(tk_point_compare(&best, &near, 0.001), TK_POINTS_DIFFER);
	assert_int_equal(tk_point_compare(&best, &far, 0.01), TK_POINTS_DIFFER);
	assert_int_equal(tk_point_compare(&best, &wide, 0.01), TK_POINTS_TIE);
	assert_int_equal(tk_point_compare(&best, &alone, 0.01), TK_POINTS_NO_INTERVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_sample_has_no_interval), cmocka_unit_test(close_times_tie)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
