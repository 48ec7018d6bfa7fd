/* Pictures draw what the charts have, and leave out what they do not know. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/render/picture.h"
#include "site_gen/render/picture_svg.h"

static const struct tk_picture_box box = {10, 20, 200, 100};

/* Whether a markup draws anything; its length must be all of it. */
static bool draws(const char *svg)
{
	struct tk_picture *p = tk_picture_new(), *blank = tk_picture_new();
	assert_non_null(p);
	assert_non_null(blank);
	assert_int_equal(tk_picture_draw_svg(p, svg, &box), strlen(svg));
	bool drawn = !tk_picture_equals(p, blank);
	tk_picture_free(p);
	tk_picture_free(blank);
	return drawn;
}

static void draws_elements_of_charts(void **state)
{
	assert_true(draws(
	        "<svg viewBox=\"0 0 100 50\"><path class=\"line\" d=\"M1 2l3-4 5 6\"/></svg>"));
	assert_true(
	        draws("<svg viewBox=\"0 0 100 50\"><path class=\"band\" d=\"M1 2L40 2L40 30z\"/>"
	              "</svg>"));
	assert_true(draws(
	        "<svg class=\"y-labels\"><text x=\"100%\" y=\"50%\">1.5 \xc2\xb5s</text></svg>"));
	assert_true(draws("<svg viewBox=\"0 0 9 9\"><rect class=\"does-load\" x=\"1\" y=\"1\" "
	                  "width=\"2\" height=\"2\"/></svg>"));
	assert_true(draws("<svg viewBox=\"0 0 100 50\"><path class=\"mark mark-3\" "
	                  "d=\"M9 9m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z\"/></svg>"));
	assert_false(draws(
	        "<svg viewBox=\"0 0 100 50\"><path class=\"unknown\" d=\"M1 2l3-4\"/></svg>"));
	assert_false(draws("<svg></svg>"));
}

static void survives_anything(void **state)
{
	static const char *const texts[] = {"", "<", "<svg", "<svg>", "<p></p>", "<svg><path</svg>",
	        "<svg viewBox=\"0 0 0 0\"><path class=\"line\" d=\"M1e999 1l-1e999 3\"/></svg>",
	        "<svg viewBox=\"0 0 1 1\"><path class=\"line\" d=\"M1\"/></svg>",
	        "<svg viewBox=\"0 0 1 1\"><path class=\"ceiling-cache\" d=\"M0 "
	        "0H1e300V1e9\"/></svg>",
	        "<svg viewBox=\"0 0 1 1\"><path class=\"band\" d=\"M0 0L-1e9 5L1e9 1e9z\"/></svg>",
	        "<svg><text x=\"1e300\" y=\"-1e300%\" dy=\"q\">\xf0\xc3&amp</text></svg>",
	        "<svg><rect class=\"does-idle\" x=\"-1e99\" width=\"1e99\" "
	        "height=\"1e99\"/></svg>"};
	struct tk_picture *p = tk_picture_new();
	assert_non_null(p);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_true(tk_picture_draw_svg(p, texts[i], &box) <= strlen(texts[i]));
	tk_picture_free(p);
}

static void encodes(void **state)
{
	struct tk_picture *p = tk_picture_new();
	struct tk_buf png = TK_BUF_INIT;
	struct tk_error err = {0};
	assert_non_null(p);
	int status = tk_picture_encode(p, &png, &err);
	assert_int_equal(status, tk_picture_is_supported() ? TK_OK : TK_EUNSUPPORTED);
	if (!status)
		assert_memory_equal(png.data, "\x89PNG\r\n\x1a\n", 8);
	tk_buf_free(&png);
	tk_picture_free(p);
}

static void measures_texts(void **state)
{
	double one = tk_picture_text_width("a", 1, 20), two = tk_picture_text_width("ab", 2, 20);
	assert_true(one > 5 && one < 20 && two > one);
	/* one letter, whatever its bytes */
	assert_true(tk_picture_text_width("\xc3\x97", 2, 20) == tk_picture_text_width("x", 1, 20));
}

/* ---- what is drawn, stroke by stroke --------------------------------------------------------- */

/* In a box of 200 by 100 at 10, 20: twice as large as the view. */
#define VIEW "<svg viewBox=\"0 0 100 50\">"

static void expect_picture(const char *svg, const struct tk_picture *expected, bool same)
{
	struct tk_picture *p = tk_picture_new();

	assert_non_null(p);
	assert_int_equal(tk_picture_draw_svg(p, svg, &box), strlen(svg));
	if (tk_picture_equals(p, expected) != same)
		fail_msg("%s: %s", same ? "another picture" : "the same picture", svg);
	tk_picture_free(p);
}

/* Paths that are this one: from 20, 30 to 40, 30, 40, 50 and 20, 50 of the picture. */
static void paths_of_one_shape(void **state)
{
	static const char *const same[] = {"M5 5L15 5L15 15L5 15z", "M5 5L15 5 15 15 5 15Z",
	        "M5,5 15,5 15,15 5,15z", "m5 5 10 0 0 10-10 0z", "M5 5H15V15H5z", "M5 5h10v10h-10z",
	        "M5 5Q9 9 15 5V15H5z", "M5 5q.5.5 10 0v10H5z", "M 5 5 l 1e1 0 l 0 1e1 l -1e1 0 Z",
	        "?M5 5!H15V15H5z"},
	                         *const other[] = {"M5 5L15 5L15 15L5 15", "M5 5L15 5L15 15z",
	                                 "M5 5L15 5L15 16L5 15z", "M5 5L15 5M15 15L5 15z", "M5"};
	const struct tk_picture_point points[] = {{20, 30}, {40, 30}, {40, 50}, {20, 50}, {20, 30}};
	const struct tk_pen pen = {0, 1, 3.4, 0, 0};
	struct tk_picture *expected = tk_picture_new();
	char svg[256];

	assert_non_null(expected);
	tk_picture_draw_line(expected, points, 5, &pen);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		snprintf(svg, sizeof svg, VIEW "<path class=\"line\" d=\"%s\"/></svg>", same[i]);
		expect_picture(svg, expected, true);
	}
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		snprintf(svg, sizeof svg, VIEW "<path class=\"line\" d=\"%s\"/></svg>", other[i]);
		expect_picture(svg, expected, false);
	}
	tk_picture_free(expected);
}

/* The first style whose name begins a word of the class; a mark's look comes first. */
static void pens_of_classes(void **state)
{
	static const struct {
		const char *class;
		struct tk_pen pen;
	} cases[] = {
	        {"grid", {TK_INK_TEXT, 0.14, 1.2, 0, 0}},
	        {"big line", {0, 1, 3.4, 0, 0}},
	        {"lines", {0, 1, 3.4, 0, 0}},
	        {"step-bad", {TK_INK_BAD, 1, 2.4, 8, 6}},
	        {"step-good", {TK_INK_GOOD, 1, 2.4, 8, 6}},
	        {"night-mark text-bad", {TK_INK_BAD, 1, 2, 0, 0}},
	        {"night-mark text-good", {TK_INK_TEXT, 0.7, 2, 0, 0}},
	        {"ceiling ceiling-datasheet", {TK_INK_TEXT, 0.7, 2, 9, 7}},
	        {"ceiling ceiling-cache", {TK_INK_TEXT, 0.6, 1.6, 2, 4}},
	        {"ceiling ceiling-memory", {TK_INK_TEXT, 1, 2.4, 0, 0}},
	        {"mark-3", {3, 1, 2.4, 0, 0}},
	        {"sized-line mark-3", {3, 1, 3, 0, 0}},
	        {"line mark-10 faint", {10, 0.5, 2.4, 0, 0}},
	        {"mark-12", {0, 1, 2.4, 0, 0}},
	};
	const struct tk_picture_point points[] = {{20, 30}, {110, 90}};
	char svg[256];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_picture *expected = tk_picture_new();

		assert_non_null(expected);
		tk_picture_draw_line(expected, points, 2, &cases[i].pen);
		snprintf(svg, sizeof svg, VIEW "<path d=\"M5 5L50 35\" class=\"%s\"/></svg>",
		        cases[i].class);
		expect_picture(svg, expected, true);
		tk_picture_free(expected);
	}
	assert_false(draws(VIEW "<path class=\"a-line\" d=\"M5 5L50 35\"/></svg>"));
	assert_false(draws(VIEW "<path data-class=\"line\" d=\"M5 5L50 35\"/></svg>"));
	assert_false(draws(VIEW "<pathology class=\"line\" d=\"M5 5L50 35\"/></svg>"));
}

/* Half a circle, as marks have it, in eight parts: over the lower side to the right. */
static void half_circles(void **state)
{
	const struct tk_pen pen = {3, 1, 2.4, 0, 0};
	struct tk_picture_point points[9];
	struct tk_picture *expected = tk_picture_new();

	assert_non_null(expected);
	for (int i = 0; i < 9; i++) {
		double turn = 3.14159265358979323846 * i / 8;

		points[i] = (struct tk_picture_point){110 - 40 * cos(turn), 70 + 40 * sin(turn)};
	}
	tk_picture_draw_line(expected, points, 9, &pen);
	expect_picture(VIEW "<path class=\"mark-3\" d=\"M30 25a20 20 0 1 0 40 0\"/></svg>",
	        expected, true);
	expect_picture(VIEW "<path class=\"mark-3\" d=\"M30 25A20 20 0 1 0 70 25\"/></svg>",
	        expected, true);
	tk_picture_free(expected);
}

/* A rectangle is at least as wide as one dot, and an area has no outline. */
static void areas(void **state)
{
	static const struct {
		const char *svg;
		int ink;
		double strength, left, top, right, bottom;
	} cases[] = {
	        {VIEW "<rect class=\"does-load\" x=\"5\" y=\"10\" width=\"20\" "
	              "height=\"4\"/></svg>",
	                0, 1, 20, 40, 60, 48},
	        {VIEW "<rect class=\"does-idle\" x=\"5\" y=\"10\" width=\"0.1\" "
	              "height=\"9\"/></svg>",
	                TK_INK_TEXT, 0.07, 20, 40, 21, 58},
	        {VIEW "<path class=\"band\" d=\"M5 10H25V14H5z\"/></svg>", 0, 0.2, 20, 40, 60, 48},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const double left = cases[i].left, right = cases[i].right, top = cases[i].top,
		             bottom = cases[i].bottom;
		const struct tk_picture_point points[] = {
		        {left, top}, {right, top}, {right, bottom}, {left, bottom}};
		struct tk_picture *expected = tk_picture_new();

		assert_non_null(expected);
		tk_picture_fill(expected, points, 4, cases[i].ink, cases[i].strength);
		expect_picture(cases[i].svg, expected, true);
		tk_picture_free(expected);
	}
}

/* The smaller scale for both directions, in the middle of the box; a trend fills it. */
static void views_are_fitted(void **state)
{
	static const struct {
		const char *svg;
		struct tk_picture_point to; /* from the middle of the view at 110, 70 */
	} cases[] = {
	        {"<svg viewBox=\"0 0 100 100\"><path class=\"line\" d=\"M50 50l20 10\"/></svg>",
	                {130, 80}},
	        {"<svg viewBox=\"0 0 100 50\"><path class=\"line\" d=\"M50 25l20 10\"/></svg>",
	                {150, 90}},
	        {"<svg class=\"trend\" viewBox=\"0 0 100 100\"><path class=\"line\" "
	         "d=\"M50 50l20 10\"/></svg>",
	                {150, 80}},
	        {"<svg viewBox=\"0 0 0 50\"><path class=\"line\" d=\"M100 50l20 10\"/></svg>",
	                {130, 80}},
	        {"<svg viewBox=\"0 0 50 0\"><path class=\"line\" d=\"M100 50l20 10\"/></svg>",
	                {130, 80}},
	        {"<svg viewBox=\"0 0 1 1\"><path class=\"line\" d=\"M.5.5l.2.1\"/></svg>",
	                {130, 80}},
	        {"<svg viewBox=\"0 0 9\"><path class=\"line\" d=\"M100 50l20 10\"/></svg>",
	                {130, 80}},
	};
	const struct tk_pen pen = {0, 1, 3.4, 0, 0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_picture_point points[] = {{110, 70}, cases[i].to};
		struct tk_picture *expected = tk_picture_new();

		assert_non_null(expected);
		tk_picture_draw_line(expected, points, 2, &pen);
		expect_picture(cases[i].svg, expected, true);
		tk_picture_free(expected);
	}
}

/* A line of more points than are kept at once has no gap and no second beginning. */
static void a_long_line(void **state)
{
	struct tk_picture_point points[1500];
	const struct tk_pen pen = {TK_INK_TEXT, 1, 2.4, 0, 0};
	struct tk_picture *expected = tk_picture_new();
	struct tk_buf svg = TK_BUF_INIT;

	tk_buf_add_str(&svg, VIEW "<path class=\"ceiling\" d=\"M0 0");
	for (size_t i = 0; i < 1500; i++) {
		points[i] =
		        (struct tk_picture_point){10 + (double)(i % 100) * 2, 20 + (double)i / 15};
		tk_buf_add_printf(&svg, "%c%zu %.8f", i ? 'L' : 'M', i % 100, (double)i / 30);
	}
	tk_buf_add_str(&svg, "\"/></svg>");
	tk_picture_draw_line(expected, points, 1024, &pen);
	tk_picture_draw_line(expected, points + 1023, 1500 - 1023, &pen);
	expect_picture(tk_buf_cstr(&svg), expected, true);
	tk_buf_free(&svg);
	tk_picture_free(expected);
}

/* The letters are at least 15 high, so that they can be read in a small picture. */
static void texts_of_charts(void **state)
{
	static const struct {
		const char *svg;
		struct tk_picture_text text;
	} cases[] = {
	        {VIEW "<text x=\"10\" y=\"20\">a &lt; b &amp;&#39;c&quot; &gt; &x</text></svg>",
	                {30, 60, 24, 0, TK_TEXT_START, TK_INK_TEXT, 0.8, "a < b &'c\" > &x", 0}},
	        {"<svg><text x=\"50%\" y=\"100%\" dy=\"-4\" "
	         "text-anchor=\"middle\">mid</text></svg>",
	                {110, 116, 15, 0, TK_TEXT_MIDDLE, TK_INK_TEXT, 0.8, "mid", 0}},
	        {VIEW "<text x=\"90\" y=\"5\" text-anchor=\"end\" "
	              "class=\"text-bad\">7</text></svg>",
	                {190, 30, 24, 0, TK_TEXT_END, TK_INK_BAD, 1, "7", 0}},
	        {VIEW "<text x=\"9\" y=\"5\" text-anchor=\"start\" "
	              "class=\"text-good\">7</text></svg>",
	                {28, 30, 24, 0, TK_TEXT_START, TK_INK_GOOD, 1, "7", 0}},
	        {VIEW "<text transform=\"translate(10 20)\" x=\"3\" y=\"-5\">t</text></svg>",
	                {36, 50, 24, 0, TK_TEXT_START, TK_INK_TEXT, 0.8, "t", 0}},
	        /* turned to the right: along the line is down, across it to the left */
	        {VIEW "<text transform=\"translate(10 20) rotate(90)\" x=\"3\" "
	              "y=\"-5\">t</text></svg>",
	                {40, 66, 24, 1.57079632679489661923, TK_TEXT_START, TK_INK_TEXT, 0.8, "t",
	                        0}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_picture_text text = cases[i].text;
		struct tk_picture *expected = tk_picture_new();

		assert_non_null(expected);
		text.len = strlen(text.text);
		tk_picture_draw_text(expected, &text);
		expect_picture(cases[i].svg, expected, true);
		tk_picture_free(expected);
	}
	assert_false(draws(VIEW "<text x=\"9\" y=\"9\"></text></svg>"));
}

/* Only the first drawing of a markup is read, and its length tells where it ends. */
static void one_drawing_of_several(void **state)
{
	static const char svg[] = VIEW "</svg>",
	                  line[] = VIEW "<path class=\"line\" d=\"M5 5L50 35\"/></svg>";
	struct tk_picture *p = tk_picture_new(), *blank = tk_picture_new();
	char both[256];

	assert_non_null(p);
	assert_non_null(blank);
	snprintf(both, sizeof both, "%s%s", svg, line);
	assert_int_equal(tk_picture_draw_svg(p, both, &box), sizeof svg - 1);
	assert_true(tk_picture_equals(p, blank));
	snprintf(both, sizeof both, "%s%s", line, svg);
	assert_int_equal(tk_picture_draw_svg(p, both, &box), sizeof line - 1);
	assert_false(tk_picture_equals(p, blank));
	tk_picture_clear(p);
	assert_true(tk_picture_equals(p, blank));
	assert_int_equal(tk_picture_draw_svg(p, "<p>text</p></svg>", &box), 0);
	assert_int_equal(tk_picture_draw_svg(p, VIEW, &box), 0);
	tk_picture_free(p);
	tk_picture_free(blank);
}

/* ---- letters --------------------------------------------------------------------------------- */

/* Letters that the font lacks are one box; those that look alike are drawn as one that it has. */
static void letters_of_the_font(void **state)
{
	static const char *const alike[][2] = {
	        {"\xc2\xa0", " "}, {"\xc3\x97", "x"}, {"\xe4\xb8\xad", "\xf0\x9f\x98\x80"}};

	for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
		struct tk_picture *pictures[2];

		for (size_t j = 0; j < 2; j++) {
			const struct tk_picture_text text = {50, 50, 20, 0, TK_TEXT_START,
			        TK_INK_TEXT, 1, alike[i][j], strlen(alike[i][j])};

			pictures[j] = tk_picture_new();
			assert_non_null(pictures[j]);
			tk_picture_draw_text(pictures[j], &text);
		}
		assert_true(tk_picture_equals(pictures[0], pictures[1]));
		for (size_t j = 0; j < 2; j++)
			tk_picture_free(pictures[j]);
	}
}

/* The anchor moves a text by its width, which grows with its size and by each letter. */
static void anchors(void **state)
{
	static const char letters[] = "1.25 ms";
	const size_t len = sizeof letters - 1;
	const double width = tk_picture_text_width(letters, len, 20);
	static const double parts[] = {0, 0.5, 1}; /* start, middle, end */
	double sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += tk_picture_text_width(letters + i, 1, 20);
	assert_float_equal(width, sum, 1e-6);
	assert_float_equal(tk_picture_text_width(letters, len, 40), 2 * width, 1e-6);
	assert_float_equal(tk_picture_text_width(letters, 0, 20), 0, 0);
	for (int i = 0; i < 3; i++) {
		const struct tk_picture_text at = {300 + width * parts[i], 50, 20, 0,
		                                     (enum tk_text_anchor)i, TK_INK_TEXT, 1,
		                                     letters, len},
		                             start = {300, 50, 20, 0, TK_TEXT_START, TK_INK_TEXT, 1,
		                                     letters, len};
		struct tk_picture *one = tk_picture_new(), *other = tk_picture_new();

		tk_picture_draw_text(one, &at);
		tk_picture_draw_text(other, &start);
		assert_true(tk_picture_equals(one, other));
		tk_picture_free(one);
		tk_picture_free(other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(draws_elements_of_charts),
	        cmocka_unit_test(survives_anything), cmocka_unit_test(encodes),
	        cmocka_unit_test(measures_texts), cmocka_unit_test(paths_of_one_shape),
	        cmocka_unit_test(pens_of_classes), cmocka_unit_test(half_circles),
	        cmocka_unit_test(areas), cmocka_unit_test(views_are_fitted),
	        cmocka_unit_test(a_long_line), cmocka_unit_test(texts_of_charts),
	        cmocka_unit_test(one_drawing_of_several), cmocka_unit_test(letters_of_the_font),
	        cmocka_unit_test(anchors)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
