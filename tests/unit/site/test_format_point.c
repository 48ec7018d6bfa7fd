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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_sample_has_no_interval)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
