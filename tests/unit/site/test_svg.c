/* Small drawings: bars, and the trend as a sparkline. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "site_gen/model/model.h"
#include "site_gen/render/svg.h"

#define DAY 86400

static struct tk_trace trace;
static const struct tk_series_row row = {.better = TK_BETTER_LOWER};
static struct tk_site_series series = {.row = &row, .trace = &trace};

static void set_points(size_t count, const struct tk_trace_point *points)
{
	trace.count = (uint32_t)count;
	memcpy(trace.at, points, count * sizeof *points);
	series.changes = NULL;
	series.change_count = 0;
}

static void assert_drawn(struct tk_buf *out, const char *text)
{
	if (!strstr(tk_buf_cstr(out), text))
		fail_msg("\"%s\" is not in %s", text, tk_buf_cstr(out));
}

static void a_bar_is_as_wide_as_its_share(void **state)
{
	static const struct {
		double ratio;
		const char *width;
	} cases[] = {{0.62, "width=\"62.0\""}, {0, "width=\"0.0\""}, {7, "width=\"100.0\""},
	        {-1, "width=\"0.0\""}, {NAN, "width=\"0.0\""}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_buf out = TK_BUF_INIT;

		tk_svg_draw_bar(&out, cases[i].ratio, "peak");
		assert_drawn(&out, "class=\"bar-peak\"");
		assert_drawn(&out, cases[i].width);
		tk_buf_free(&out);
	}
}

/* Equal factors up and down are equally long, and an unknown one has no length. */
static void a_change_grows_from_the_middle(void **state)
{
	static const struct {
		double ratio;
		bool worse;
		const char *path;
	} cases[] = {{1.25, true, "class=\"bad\" d=\"M50 2H100.0V"},
	        {0.8, false, "class=\"good\" d=\"M50 2H0.0V"},
	        {3, true, "class=\"bad\" d=\"M50 2H100.0V"},
	        {1, false, "class=\"good\" d=\"M50 2H50.0V"},
	        {-2, true, "class=\"bad\" d=\"M50 2H50.0V"},
	        {NAN, true, "class=\"bad\" d=\"M50 2H50.0V"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_buf out = TK_BUF_INIT;

		tk_svg_draw_change(&out, cases[i].ratio, cases[i].worse);
		assert_drawn(&out, cases[i].path);
		tk_buf_free(&out);
	}
}

static void one_night_is_no_trend(void **state)
{
	static const struct tk_trace_point night[] = {{DAY, 5, 4, 6}, {DAY, 6, 5, 7}};
	struct tk_buf out = TK_BUF_INIT;

	for (size_t count = 0; count < 3; count++) {
		set_points(count, night);
		assert_false(tk_svg_has_trend(&series));
		tk_svg_draw_sparkline(&out, &series);
		assert_true(isnan(tk_svg_draw_trend(&out, &series, NULL, 1).lo));
	}
	assert_int_equal(out.len, 0);
	tk_buf_free(&out);
}

/* 120 wide and 28 high, with a margin of 3: the lowest value is at y 25, the highest at 3. */
static void a_sparkline_spans_its_box(void **state)
{
	static const struct tk_trace_point nights[] = {
	        {0, 100, NAN, NAN}, {DAY, 50, NAN, NAN}, {2 * DAY, 150, NAN, NAN}};
	struct tk_buf out = TK_BUF_INIT;

	set_points(3, nights);
	tk_svg_draw_sparkline(&out, &series);
	assert_drawn(&out, "class=\"line\" d=\"M3 14l57 11 57-22\"");
	assert_drawn(&out, "<circle cx=\"117\" cy=\"3\"");
	tk_buf_free(&out);
}

/* 5 % of the median to either side: noise of 0.1 % does not fill the box. */
static void noise_looks_like_noise(void **state)
{
	static const struct tk_trace_point nights[] = {
	        {0, 1000, 999, 1001}, {DAY, 1001, 1000, 1002}, {2 * DAY, 1000, 999, 1001}};
	struct tk_buf out = TK_BUF_INIT;
	struct tk_svg_range y;

	set_points(3, nights);
	y = tk_svg_draw_trend(&out, &series, NULL, 1);
	assert_true(y.lo == 950 && y.hi == 1050);
	tk_buf_free(&out);
}

static void an_unknown_interval_has_no_band(void **state)
{
	static const struct tk_trace_point nights[] = {
	        {0, 1000, 1000, 1000}, {DAY, 1000, NAN, NAN}, {2 * DAY, 1000, 1000, 1000}};
	struct tk_buf out = TK_BUF_INIT;

	set_points(3, nights);
	tk_svg_draw_trend(&out, &series, NULL, 1);
	assert_drawn(&out, "class=\"band\" d=\"M4 120L500 120L996 120L996 120L500 120L4 120z\"");
	tk_buf_free(&out);
}

static void steps_are_marked_within_the_range(void **state)
{
	static const struct tk_trace_point nights[] = {
	        {10 * DAY, 100, NAN, NAN}, {20 * DAY, 150, NAN, NAN}};
	static const struct tk_change_point_row before = {.as_of_s = 5 * DAY,
	                                                .before_value = 1,
	                                                .after_value = 2},
	                                        worse = {.as_of_s = 15 * DAY,
	                                                .before_value = 100,
	                                                .after_value = 150};
	const struct tk_change_point_row *changes[] = {&before, &worse};
	struct tk_buf out = TK_BUF_INIT;
	const char *first;

	set_points(2, nights);
	series.changes = changes;
	series.change_count = 2;
	tk_svg_draw_sparkline(&out, &series);
	first = strstr(tk_buf_cstr(&out), "class=\"step-bad\" d=\"M60 0v28\"");
	assert_non_null(first);
	assert_null(strstr(first + strlen("class=\"step-bad"), "step-"));
	tk_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_bar_is_as_wide_as_its_share),
	        cmocka_unit_test(a_change_grows_from_the_middle),
	        cmocka_unit_test(one_night_is_no_trend),
	        cmocka_unit_test(a_sparkline_spans_its_box),
	        cmocka_unit_test(noise_looks_like_noise),
	        cmocka_unit_test(an_unknown_interval_has_no_band),
	        cmocka_unit_test(steps_are_marked_within_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
