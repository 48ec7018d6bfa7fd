/* The chart over size: its shared axis and the line of the peak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "site_gen/render/line_chart.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tk_chart_point points[] = {{512, 100e3}, {1024, 200e3}};

static char *draw(size_t count, double top, double peak)
{
	struct tk_buf b = TK_BUF_INIT;
	struct tk_chart_line line = {3, points, 2};
	struct tk_chart_axes axes = {"Length", "gflop_per_s", top, peak};
	tk_line_chart_draw(&b, &line, count, &axes);
	char *text = strdup(tk_buf_cstr(&b));
	assert_non_null(text);
	tk_buf_free(&b);
	return text;
}

static void panels_with_one_top_have_one_axis(void **state)
{
	char *alone = draw(1, 0, NAN), *shared = draw(1, 989e3, NAN);
	assert_non_null(strstr(alone, ">200</text>"));
	assert_null(strstr(alone, ">1000</text>"));
	assert_non_null(strstr(shared, ">1000</text>"));
	assert_non_null(strstr(shared, ">TFLOP/s</text>"));
	assert_non_null(strstr(shared, ">Length</text>"));
	assert_null(strstr(shared, "class=\"peak\""));
	free(alone);
	free(shared);
}

static void the_peak_is_drawn_within_the_axis(void **state)
{
	char *with = draw(1, 989e3, 989e3), *above = draw(1, 300e3, 989e3), *empty = draw(0, 1, 1);
	assert_non_null(strstr(with, "class=\"peak\""));
	assert_null(strstr(above, "class=\"peak\""));
	assert_string_equal(empty, "");
	free(with);
	free(above);
	free(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(panels_with_one_top_have_one_axis),
	        cmocka_unit_test(the_peak_is_drawn_within_the_axis)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
