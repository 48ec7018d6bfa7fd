/* Charts as SVG: ticks of dates and values, lines over dates and versions, marks, timelines and
 * bars of intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render_groups.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/rng.h"
#include "site_gen/model/model.h"
#include "site_gen/model/perf_index.h"
#include "site_gen/model/timeline.h"
#include "site_gen/render/date_chart.h"
#include "site_gen/render/line_chart.h"
#include "site_gen/render/mark.h"
#include "site_gen/render/overview_svg.h"
#include "site_gen/render/svg.h"
#include "site_gen/render/timeline_svg.h"
#include "site_gen/render/trend_axes.h"
#include "site_gen/render/version_chart.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drawings go here; the next one begins at an empty text. */
static struct tk_buf drawing;

static struct tk_buf *begin(void)
{
	tk_buf_clear(&drawing);
	return &drawing;
}

static size_t count(const char *text)
{
	size_t found = 0;

	for (const char *at = tk_buf_cstr(&drawing); (at = strstr(at, text)); at += strlen(text))
		found++;
	return found;
}

static void expect(const char *text)
{
	if (!strstr(tk_buf_cstr(&drawing), text))
		fail_msg("`%s` is not in %s", text, tk_buf_cstr(&drawing));
}

/* ---- ticks ----------------------------------------------------------------------------------- */

/* The cases that the script of the charts passes as well (tests/site/scripts/axes.test.mjs). */
static void dates_as_in_the_script(void **state)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_error err = {0};
	size_t cases = 0;

	(void)state;
	assert_int_equal(tk_file_read(TK_TEST_DATA "/date_ticks.tsv", 1 << 16, &text, &err), 0);
	for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
		long long from, to, ticks[TK_DATE_TICKS_MAX + 1];
		int room, by_day, at = 0, n;
		size_t expected = 0;
		int64_t got[TK_DATE_TICKS_MAX];
		bool got_by_day;

		if (*line == '#')
			continue;
		assert_int_equal(
		        sscanf(line, "%lld %lld %d %d%n", &from, &to, &room, &by_day, &at), 4);
		for (; sscanf(line + at, "%lld%n", &ticks[expected], &n) == 1; at += n)
			expected++;
		size_t found = tk_date_choose_ticks(from, to, (size_t)room, got, &got_by_day);

		if (found != expected || got_by_day != by_day)
			fail_msg("%s: %zu ticks", line, found);
		for (size_t i = 0; i < found; i++)
			if (got[i] != ticks[i])
				fail_msg("%s: %lld", line, (long long)got[i]);
		cases++;
	}
	assert_true(cases > 20);
	tk_buf_free(&text);
}

static void any_range_of_dates(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 5);
	for (int round = 0; round < 2000; round++) {
		int64_t from = (int64_t)tk_rng_below(&rng, 2000000000),
		        span = (int64_t)1 << tk_rng_below(&rng, 31), ticks[TK_DATE_TICKS_MAX],
		        to = from + span + (int64_t)tk_rng_below(&rng, 1000);
		size_t max = 3 + (size_t)tk_rng_below(&rng, 6);
		bool by_day;
		size_t found = tk_date_choose_ticks(from, to, max, ticks, &by_day);

		assert_true(found <= max);
		assert_true(found >= 1 || span < 600 || span > 100000);
		for (size_t i = 0; i < found; i++) {
			assert_true(ticks[i] >= from && ticks[i] <= to && ticks[i] % 60 == 0);
			assert_true(!i || ticks[i] > ticks[i - 1]);
			assert_true(!by_day || ticks[i] % 86400 == 0);
		}
	}
}

static void round_steps(void **state)
{
	static const struct {
		double range;
		int max;
		double step;
	} cases[] = {{10, 5, 2}, {10, 10, 1}, {10, 4, 2.5}, {10, 3, 5}, {10, 1, 10}, {1, 5, 0.2},
	        {1, 4, 0.25}, {0.003, 7, 0.0005}, {12345, 5, 2500}, {99, 7, 20}, {1e9, 6, 2e8}};
	struct tk_rng rng;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_float_equal(
		        tk_chart_choose_step(cases[i].range, cases[i].max) / cases[i].step, 1,
		        1e-9);
	tk_rng_seed(&rng, 6);
	for (int round = 0; round < 2000; round++) {
		double range = exp(40 * tk_rng_uniform(&rng) - 20);
		int max = 1 + (int)tk_rng_below(&rng, 12);
		double steps = range / tk_chart_choose_step(range, max);

		assert_true(steps <= max * (1 + 1e-9) && steps > max / 2.5 / 1.0001);
	}
}

static void values_of_a_trend(void **state)
{
	const struct tk_svg_range range = {950, 1050, 1000, 2000};
	double ticks[TK_CHART_TICKS_MAX];

	(void)state;
	assert_int_equal(tk_svg_choose_ticks(&range, 1, ticks), 5);
	assert_float_equal(ticks[0], 960, 1e-9);
	assert_float_equal(ticks[4], 1040, 1e-9);
	/* In units of 1,000 they are the same values, since these are round there, too. */
	assert_true(tk_svg_choose_ticks(&range, 1000, ticks) >= 3);
	assert_float_equal(tk_svg_y_percent(&range, 1050), 100.0 * 4 / 240, 1e-9);
	assert_float_equal(tk_svg_y_percent(&range, 950), 100.0 * 236 / 240, 1e-9);
	assert_float_equal(tk_svg_y_percent(&range, 1000), 50, 1e-9);
	assert_float_equal(tk_svg_x_percent(&range, 1000), 0.4, 1e-9);
	assert_float_equal(tk_svg_x_percent(&range, 2000), 99.6, 1e-9);
}

static void labels_beside_a_trend(void **state)
{
	const struct tk_svg_range range = {
	        900, 1100, 1767225600, 1767225600 + 5 * 86400}; /* five days */

	(void)state;
	tk_trend_axes_draw_y(begin(), &range, (struct tk_format_scale){1000, "µs"});
	expect("<svg class=\"y-labels\"");
	expect(">1</text>");
	expect(">0.95</text>");
	tk_trend_axes_draw_x(begin(), &range);
	expect("text-anchor=\"start\">2026-01-01</text>");
	expect("text-anchor=\"middle\">2026-01-03</text>");
	expect("text-anchor=\"end\">2026-01-06</text>");
	const struct tk_svg_range hours = {900, 1100, 1767225600, 1767225600 + 4 * 3600};

	tk_trend_axes_draw_x(begin(), &hours);
	expect(">01-01 02:00</text>");
}

/* ---- lines over dates ------------------------------------------------------------------------ */

static void lines_over_dates(void **state)
{
	const struct tk_date_point points[] = {{1767225600, 100}, {1767225600 + 86400, 110},
	        {1767225600 + 10 * 86400, 90}},
	                           flat[] = {{1767225600, 100}, {1767225600 + 86400, 100}};
	const struct tk_date_line line = {2, points, 3}, even = {0, flat, 2}, one = {0, points, 1};
	const struct tk_date_mark marks[] = {
	        {1767225600 + 86400, 1, true}, {1767225600 + 2 * 86400, 2, false}, {1, 3, true}};

	(void)state;
	tk_date_chart_draw(begin(), &line, 1, marks, 3, "a < b");
	expect("viewBox=\"0 0 760 240\"");
	/* from 58 to 746, a tenth of the time to the second one; 90 to 110 around 100 */
	expect("class=\"sized-line mark-2\" d=\"M58 118L127 29L746 207\"/>");
	expect("<path class=\"step-bad\" d=\"M127 22V214\"/>");
	expect("class=\"text-good\">2</text>");
	assert_int_equal(count("step-"), 2); /* the third is outside */
	expect(">a &lt; b</text>");
	expect(">2026-01-03</text>");
	/* Noise looks like noise: two to either side. */
	tk_date_chart_draw(begin(), &even, 1, NULL, 0, "y");
	expect(">101</text>");
	expect("d=\"M58 118L746 118\"");
	tk_date_chart_draw(begin(), &one, 1, NULL, 0, "y");
	assert_int_equal(drawing.len, 0);
	tk_date_chart_draw(begin(), NULL, 0, NULL, 0, "y");
	assert_int_equal(drawing.len, 0);
}

/* Of many points at most one for each pixel is drawn, and the last one in any case. */
static void many_points_over_dates(void **state)
{
	enum { POINTS = 5000 };
	static struct tk_date_point points[POINTS];
	const struct tk_date_line line = {0, points, POINTS};

	(void)state;
	for (int i = 0; i < POINTS; i++)
		points[i] = (struct tk_date_point){1767225600 + 3600 * i, 100 + i % 7};
	tk_date_chart_draw(begin(), &line, 1, NULL, 0, "y");
	const char *path = strstr(tk_buf_cstr(&drawing), "sized-line");
	size_t steps = 0;

	for (const char *at = path; (at = strchr(at, 'L')); at++)
		steps++;
	assert_true(steps > 600 && steps <= 746 - 58 + 1);
	assert_non_null(strstr(path, "L746 "));
}

/* ---- lines over versions --------------------------------------------------------------------- */

static void lines_over_versions(void **state)
{
	static const char *const names[] = {"1.0", "1.1", "2.0.0.dev20260101", "2.1"};
	const double y[] = {100, NAN, 120, 110}, slower[] = {100, 100, 100, 100};
	const struct tk_version_line lines[] = {{1, y}, {4, slower}};
	struct tk_version_axes axes = {names, 4, "speed", NULL, NAN};

	(void)state;
	tk_version_chart_draw(begin(), lines, 2, &axes);
	expect("viewBox=\"0 0 560 260\"");
	/* four columns from 58 to 546; a gap where a version was not measured */
	expect("class=\"sized-line mark-1\" d=\"M58 226H180M302 20H424V123H546\"");
	assert_int_equal(count("class=\"mark mark-1\""), 1);
	expect(">2.0.0.dev2…</text>");
	expect(">2.1</text>");
	expect(">speed</text>");
	assert_int_equal(count("class=\"peak\""), 0);
	axes.reference = 150; /* widens the axis */
	tk_version_chart_draw(begin(), lines, 2, &axes);
	assert_int_equal(count("class=\"peak\""), 1);
	axes.count = 1;
	tk_version_chart_draw(begin(), lines, 2, &axes);
	assert_int_equal(drawing.len, 0);
}

/* A range that begins a little below zero: its first tick is 0, not -0. */
static void zero_has_no_sign(void **state)
{
	static const char *const names[] = {"1", "2"};
	const double y[] = {-0.5, 9};
	const struct tk_version_line line = {0, y};
	const struct tk_version_axes axes = {names, 2, "% change", NULL, NAN};
	const struct tk_date_point points[] = {{1767225600, -0.5}, {1767225600 + 86400, 9}};
	const struct tk_date_line dates = {0, points, 2};

	(void)state;
	tk_version_chart_draw(begin(), &line, 1, &axes);
	expect(">0</text>");
	assert_null(strstr(tk_buf_cstr(&drawing), ">-0"));
	tk_date_chart_draw(begin(), &dates, 1, NULL, 0, "% change");
	expect(">0</text>");
	assert_null(strstr(tk_buf_cstr(&drawing), ">-0"));
}

/* With a unit the axis begins at 0, in the unit that reads well. */
static void times_over_versions(void **state)
{
	static const char *const names[] = {"1", "2"};
	const double y[] = {2e9, 3e9}, none[] = {NAN, NAN};
	const struct tk_version_line line = {0, y}, empty = {0, none};
	const struct tk_version_axes axes = {names, 2, "compile time", "ns", NAN};

	(void)state;
	tk_version_chart_draw(begin(), &line, 1, &axes);
	expect(">compile time, s</text>");
	expect(">0</text>");
	expect(">3</text>");
	tk_version_chart_draw(begin(), &empty, 1, &axes);
	assert_int_equal(drawing.len, 0);
}

/* The newest version has a label, whatever the others have room for. */
static void labels_of_many_versions(void **state)
{
	enum { VERSIONS = 40 };
	static char texts[VERSIONS][16];
	const char *names[VERSIONS];
	double y[VERSIONS];
	const struct tk_version_line line = {0, y};

	(void)state;
	for (int i = 0; i < VERSIONS; i++) {
		snprintf(texts[i], sizeof texts[i], "v%d", i);
		names[i] = texts[i];
		y[i] = 100 + i;
	}
	tk_version_chart_draw(
	        begin(), &line, 1, &(struct tk_version_axes){names, VERSIONS, "y", NULL, NAN});
	expect(">v39</text>");
	/* 12.2 pixels each, and 48 between labels: every fourth one */
	expect(">v35</text>");
	assert_null(strstr(tk_buf_cstr(&drawing), ">v36</text>"));
	assert_int_equal(count(">v"), 10);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void marks_of_looks(void **state)
{
	char seen[24][128];

	(void)state;
	for (size_t look = 0; look < 24; look++) {
		tk_mark_draw_key(begin(), look);
		expect("M8 8m");
		snprintf(seen[look], sizeof seen[look], "%zu %.100s", look % TK_LOOKS,
		        strstr(tk_buf_cstr(&drawing), "M8 8m"));
		for (size_t k = 0; k < look; k++)
			assert_string_not_equal(seen[k], seen[look]);
	}
	tk_mark_begin(begin(), TK_LOOKS + 1, true);
	assert_string_equal(tk_buf_cstr(&drawing), "<path class=\"mark mark-1 faint\" d=\"");
}

/* ---- timelines ------------------------------------------------------------------------------- */

static void timelines(void **state)
{
	struct tk_timeline_group groups[] = {{.lane = 0}, {.lane = 1}};
	struct tk_timeline_span spans[302] = {{0, 0, 0, 500, false}, {1, 1, 500, 1000, true}};
	struct tk_timeline t = {.duration_ns = 1000,
	        .region_count = 2,
	        .does = {TK_DOES_TENSOR, TK_DOES_LOAD},
	        .lanes = {"a < b", "a lane with a long name"},
	        .lane_count = 2,
	        .groups = groups,
	        .group_count = 2,
	        .spans = spans,
	        .span_count = 2};

	(void)state;
	assert_int_equal(tk_timeline_draw(begin(), &t), 1000);
	expect("viewBox=\"0 0 960 60\"");
	expect("<text x=\"0\" y=\"18\">a &lt; b</text>");
	expect("<text x=\"0\" y=\"48\">a lane with a long</text>");
	expect("class=\"does-tensor\" x=\"120.0\" y=\"1\" width=\"420.0\" height=\"13\"");
	expect("class=\"does-load\" x=\"540.0\" y=\"45\" width=\"420.0\" height=\"13\"");
	/* Of more spans than fit the drawing ends where the first that is left out begins. */
	for (int i = 0; i < 302; i++)
		spans[i] = (struct tk_timeline_span){0, 0, 2 * i, 2 * i + 1, false};
	t.span_count = 302;
	assert_int_equal(tk_timeline_draw(begin(), &t), 600);
	assert_int_equal(count("<rect"), 300);
	t.span_count = 0;
	assert_int_equal(tk_timeline_draw(begin(), &t), 0);
	assert_int_equal(drawing.len, 0);
}

/* ---- bars of intervals, and the index -------------------------------------------------------- */

static void bars_share_an_axis(void **state)
{
	struct tk_interval_axis axis = {0, 0};

	(void)state;
	tk_interval_axis_add(&axis, 0.1, 0.05, 0.15);
	tk_interval_axis_add(&axis, -0.1, NAN, NAN);
	assert_float_equal(axis.lo, log(0.9), 1e-12);
	assert_float_equal(axis.hi, log(1.15), 1e-12);
	tk_svg_draw_interval(begin(), &axis, 0.1, 0.05, 0.15, "bad");
	expect("class=\"bad\"");
	expect("class=\"ends\"");
	double zero = 4 + 152 * -log(0.9) / (log(1.15) - log(0.9)), at;

	assert_int_equal(sscanf(strstr(tk_buf_cstr(&drawing), "d=\"M"), "d=\"M%lf", &at), 1);
	assert_float_equal(at, zero, 0.06);
	tk_svg_draw_interval(begin(), &axis, -0.1, NAN, NAN, "good");
	expect("4H4.0V10"); /* the left end of the axis */
	assert_int_equal(count("class=\"ends\""), 0);
	tk_svg_draw_interval(begin(), &axis, -1, 0, 0, "bad"); /* has no logarithm */
	assert_int_equal(drawing.len, 0);
	tk_svg_draw_interval(begin(), &(struct tk_interval_axis){0, 0}, 0, NAN, NAN, "even");
	expect("d=\"M4.0 4H4.0V10H4.0z\""); /* an axis without a width */
}

static void the_line_of_an_index(void **state)
{
	struct tk_perf_index index = {.count = 1};

	(void)state;
	tk_svg_draw_index(begin(), &index);
	assert_int_equal(drawing.len, 0);
	index.count = 2;
	index.at[0].as_of_s = 1000;
	index.at[0].value = 1;
	index.at[1].as_of_s = 2000;
	index.at[1].value = 1;
	tk_svg_draw_index(begin(), &index);
	expect("d=\"M2 18.0L178 18.0\""); /* in the middle */
	index.at[1].value = 1.08;
	tk_svg_draw_index(begin(), &index);
	expect("L178 2.0\"");
}

int render_chart_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(dates_as_in_the_script),
	        cmocka_unit_test(any_range_of_dates),
	        cmocka_unit_test(round_steps),
	        cmocka_unit_test(values_of_a_trend),
	        cmocka_unit_test(labels_beside_a_trend),
	        cmocka_unit_test(lines_over_dates),
	        cmocka_unit_test(many_points_over_dates),
	        cmocka_unit_test(lines_over_versions),
	        cmocka_unit_test(zero_has_no_sign),
	        cmocka_unit_test(times_over_versions),
	        cmocka_unit_test(labels_of_many_versions),
	        cmocka_unit_test(marks_of_looks),
	        cmocka_unit_test(timelines),
	        cmocka_unit_test(bars_share_an_axis),
	        cmocka_unit_test(the_line_of_an_index),
	};
	int failed = cmocka_run_group_tests_name("charts", tests, NULL, NULL);

	tk_buf_free(&drawing);
	return failed;
}
