/* The roofline as SVG: its axes, the ceilings and their names, marks and measured intensities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/model/model.h"
#include "site_gen/render/roofline.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 8

static const struct tk_ceiling_row f16 = {1, 1, "f16", TK_CEILING_MEASURED, "gflop_per_s", 1000},
                                   sheet_f16 = {1, 1, "f16", TK_CEILING_DATASHEET, "gflop_per_s",
                                           2000},
                                   f32 = {1, 1, "f32", TK_CEILING_MEASURED, "gflop_per_s", 100},
                                   copy = {1, 1, "copy", TK_CEILING_MEASURED, "gb_per_s", 10},
                                   sheet_copy = {1, 1, "copy", TK_CEILING_DATASHEET, "gb_per_s",
                                           11},
                                   l2 = {1, 1, "l2 read", TK_CEILING_MEASURED, "gb_per_s", 100};

struct lab {
	struct tk_problem_row problem;
	struct tk_site_series series[2]; /* of the labels */
	struct tk_roofline_point at[POINTS_MAX];
	const char *labels[2];
	size_t looks[2];
	struct tk_roofline_points points;
	struct tk_ceiling_set ceilings;
	struct tk_buf out;
};

static void begin(struct lab *lab)
{
	*lab = (struct lab){
	        .problem = {.dtype = "f16"}, .labels = {"blas", "own"}, .looks = {1, 4}};
	for (size_t i = 0; i < 2; i++)
		lab->series[i] = (struct tk_site_series){
		        .problem = &lab->problem, .label = (char *)lab->labels[i]};
	lab->points = (struct tk_roofline_points){
	        .at = lab->at, .labels = lab->labels, .looks = lab->looks, .label_count = 2};
}

static struct tk_roofline_point *add_point(
        struct lab *lab, size_t label, double intensity, double rate)
{
	struct tk_roofline_point *p = &lab->at[lab->points.count++];

	assert_true(lab->points.count <= POINTS_MAX);
	*p = (struct tk_roofline_point){.series = &lab->series[label],
	        .intensity = intensity,
	        .rate = rate,
	        .measured = {NAN, NAN, NAN}};
	return p;
}

/* With points on both sides of the ridge. */
static void begin_wide(struct lab *lab)
{
	begin(lab);
	add_point(lab, 0, 1, 5);
	add_point(lab, 0, 1000, 900);
}

static void add_ceiling(struct lab *lab, const struct tk_ceiling_row *row)
{
	lab->ceilings.rows[lab->ceilings.count++] = row;
}

static const char *draw(struct lab *lab)
{
	struct tk_error err;

	tk_buf_clear(&lab->out);
	assert_int_equal(tk_roofline_draw(&lab->out, &lab->points, &lab->ceilings, &err), 0);
	return tk_buf_cstr(&lab->out);
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		found++;
	return found;
}

/* The end points of the line of a ceiling, the one numbered `skip` of its kind. */
static void read_line(const char *svg, const char *kind, size_t skip, double line[4])
{
	char start[80];

	snprintf(start, sizeof start, "<path class=\"ceiling ceiling-%s\" d=\"M", kind);
	for (size_t i = 0; i <= skip; i++) {
		svg = strstr(svg, start);
		assert_non_null(svg);
		svg += strlen(start);
	}
	assert_int_equal(sscanf(svg, "%lf %lfL%lf %lf", &line[0], &line[1], &line[2], &line[3]), 4);
}

/* Where the name of a ceiling is. */
static void read_name(const char *svg, const char *name, double *x, double *y)
{
	char end[80];

	snprintf(end, sizeof end, ">%s</text>", name);
	const char *at = strstr(svg, end);
	assert_non_null(at);
	while (strncmp(at, " x=\"", 4) != 0)
		assert_true(--at > svg);
	assert_int_equal(sscanf(at, " x=\"%lf\" y=\"%lf\"", x, y), 2);
}

/* ---- axes ---- */

static void axes_have_a_tick_at_each_power_of_ten(void **state)
{
	struct lab lab;

	(void)state;
	begin(&lab);
	add_point(&lab, 0, 1, 20);
	add_point(&lab, 0, 500, 900);
	add_ceiling(&lab, &f16);
	add_ceiling(&lab, &copy);
	const char *svg = draw(&lab);
	/* x from 0.25 to 1000, y from 10 to 1585 */
	assert_int_equal(count(svg, "text-anchor=\"middle\">"), 3 + 2); /* and two titles */
	assert_non_null(strstr(svg, ">1</text>"));
	assert_non_null(strstr(svg, ">10</text>"));
	assert_non_null(strstr(svg, ">100</text>"));
	assert_non_null(strstr(svg, ">FLOP per byte</text>"));
	assert_non_null(strstr(svg, "rotate(-90)"));
	assert_non_null(strstr(svg, "FLOP/s</text>"));
	assert_non_null(strstr(svg, "viewBox=\"0 0 960 436\""));
	tk_buf_free(&lab.out);
}

static void without_points_the_axes_are_still_there(void **state)
{
	struct lab lab;

	(void)state;
	begin(&lab);
	const char *svg = draw(&lab);
	assert_int_equal(count(svg, "class=\"grid\""), 3 + 3); /* 1, 10, 100 */
	assert_int_equal(count(svg, "class=\"mark"), 0);
	assert_int_equal(count(svg, "nan"), 0);
	tk_buf_free(&lab.out);
}

/* ---- ceilings ---- */

/* Memory limits up to the ridge, where the lines meet; the rate from there on. */
static void ceilings_meet_at_the_ridge(void **state)
{
	struct lab lab;
	double slope[4], flat[4];

	(void)state;
	begin_wide(&lab);
	add_ceiling(&lab, &f16);
	add_ceiling(&lab, &copy);
	const char *svg = draw(&lab);
	read_line(svg, "measured", 0, flat);
	read_line(svg, "measured", 1, slope);
	assert_true(flat[1] == flat[3]);
	assert_true(flat[2] > flat[0]);
	assert_true(slope[3] < slope[1]);            /* upwards */
	assert_float_equal(slope[2], flat[0], 0.11); /* at 100 FLOP per byte */
	assert_float_equal(slope[3], flat[1], 0.11);
	tk_buf_free(&lab.out);
}

static void kinds_of_ceilings_look_different(void **state)
{
	struct lab lab;

	(void)state;
	begin_wide(&lab);
	add_ceiling(&lab, &f16);
	add_ceiling(&lab, &sheet_f16);
	add_ceiling(&lab, &copy);
	add_ceiling(&lab, &sheet_copy);
	add_ceiling(&lab, &l2);
	const char *svg = draw(&lab);
	assert_int_equal(count(svg, "ceiling-measured"), 2);
	assert_int_equal(count(svg, "ceiling-datasheet"), 2);
	assert_int_equal(count(svg, "ceiling-cache"), 1);
	assert_int_equal(count(svg, ", datasheet</text>"), 2);
	assert_non_null(strstr(svg, ">copy 10.00"));
	assert_non_null(strstr(svg, ">l2 read 100.0"));
	tk_buf_free(&lab.out);
}

/* A rate is drawn for the types of the points; the highest always, as other types use it. */
static void rates_of_other_types_are_left_out(void **state)
{
	struct lab lab;

	(void)state;
	begin_wide(&lab);
	add_ceiling(&lab, &f16);
	add_ceiling(&lab, &f32);
	assert_int_equal(count(draw(&lab), "ceiling-measured"), 1);
	lab.problem.dtype = "f32";
	assert_int_equal(count(draw(&lab), "ceiling-measured"), 2);
	lab.problem.dtype = "bf16";
	const char *svg = draw(&lab);
	assert_int_equal(count(svg, "ceiling-measured"), 1);
	assert_non_null(strstr(svg, ">f16 1"));
	tk_buf_free(&lab.out);
}

/* Names of lines that are close to each other are side by side. */
static void names_do_not_overlap(void **state)
{
	static const struct tk_ceiling_row near = {
	        1, 1, "f16", TK_CEILING_DATASHEET, "gflop_per_s", 1010};
	struct lab lab;
	double x1, y1, x2, y2;

	(void)state;
	begin_wide(&lab);
	add_ceiling(&lab, &f16);
	add_ceiling(&lab, &near);
	const char *svg = draw(&lab);
	read_name(svg, "f16 1.000\u00a0TFLOP/s", &x1, &y1);
	read_name(svg, "f16 1.010\u00a0TFLOP/s, datasheet", &x2, &y2);
	assert_true(fabs(y1 - y2) < 13);
	assert_float_equal(x1, 950, 0.1);                               /* at the right end */
	assert_true(x2 < x1 - 6 * (double)strlen("f16 1.000 TFLOP/s")); /* to the left of it */
	tk_buf_free(&lab.out);
}

static void names_of_slopes_follow_each_other(void **state)
{
	struct lab lab;

	(void)state;
	begin_wide(&lab);
	add_ceiling(&lab, &f16);
	add_ceiling(&lab, &copy);
	add_ceiling(&lab, &sheet_copy);
	add_ceiling(&lab, &l2);
	const char *svg = draw(&lab);
	double x[3], y[3];
	read_name(svg, "copy 10.00\u00a0GB/s", &x[0], &y[0]);
	read_name(svg, "copy 11.00\u00a0GB/s, datasheet", &x[1], &y[1]);
	read_name(svg, "l2 read 100.0\u00a0GB/s", &x[2], &y[2]);
	assert_true(x[0] == 14 && y[0] == 14);         /* below its line */
	assert_true(x[1] > 14 + 6 * 10 && y[1] == -5); /* after it, above its own */
	assert_true(x[2] == 14 && y[2] == -5);         /* far from both */
	tk_buf_free(&lab.out);
}

/* ---- marks ---- */

/* Each label has one path for its new marks and one for the old, which are drawn first. */
static void marks_of_a_label_are_one_path(void **state)
{
	struct lab lab;

	(void)state;
	begin(&lab);
	add_point(&lab, 0, 1, 5);
	add_point(&lab, 0, 10, 50);
	add_point(&lab, 1, 100, 500)->old = true;
	add_point(&lab, 1, 1000, 900);
	add_ceiling(&lab, &f16);
	const char *svg = draw(&lab);
	assert_int_equal(count(svg, "mark-1\""), 1);
	assert_int_equal(count(svg, "mark-4"), 2);
	tk_buf_free(&lab.out);
}

static void marks_on_each_other_are_drawn_once(void **state)
{
	struct lab lab;
	struct tk_buf once = TK_BUF_INIT;

	(void)state;
	begin_wide(&lab);
	tk_buf_add_str(&once, draw(&lab));
	add_point(&lab, 0, 1.0001, 5.0001);
	add_point(&lab, 0, 1000, 900);
	assert_string_equal(draw(&lab), tk_buf_cstr(&once));
	add_point(&lab, 0, 30, 5);
	assert_string_not_equal(draw(&lab), tk_buf_cstr(&once));
	tk_buf_free(&once);
	tk_buf_free(&lab.out);
}

static void measured_levels_have_ticks_on_a_line(void **state)
{
	struct lab lab;

	(void)state;
	begin(&lab);
	struct tk_roofline_point *p = add_point(&lab, 0, 100, 500);
	add_point(&lab, 0, 1, 5);
	assert_int_equal(count(draw(&lab), "class=\"measured\""), 0);
	p->measured[TK_PROFILED_DRAM] = 90;
	p->measured[TK_PROFILED_L1] = 10;
	const char *svg = draw(&lab);
	assert_int_equal(count(svg, "class=\"measured\""), 3); /* two ticks, one line */
	assert_int_equal(count(svg, ">DRAM</text>"), 1);
	assert_int_equal(count(svg, ">L2</text>"), 0);
	assert_int_equal(count(svg, ">L1</text>"), 1);
	tk_buf_free(&lab.out);
}

/* An intensity that was measured widens the axis. */
static void the_axis_reaches_measured_intensities(void **state)
{
	struct lab lab;

	(void)state;
	begin(&lab);
	add_point(&lab, 0, 100, 500)->measured[TK_PROFILED_L1] = 0.1;
	assert_non_null(strstr(draw(&lab), ">0.1</text>"));
	lab.at[0].measured[TK_PROFILED_L1] = NAN;
	assert_null(strstr(draw(&lab), ">0.1</text>"));
	tk_buf_free(&lab.out);
}

static void names_are_escaped(void **state)
{
	static const struct tk_ceiling_row odd = {
	        1, 1, "<b>&", TK_CEILING_MEASURED, "gflop_per_s", 1000};
	struct lab lab;

	(void)state;
	begin(&lab);
	add_point(&lab, 0, 1, 5);
	add_ceiling(&lab, &odd);
	const char *svg = draw(&lab);
	assert_null(strstr(svg, "<b>"));
	assert_non_null(strstr(svg, "&lt;b&gt;&amp; 1.000"));
	tk_buf_free(&lab.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(axes_have_a_tick_at_each_power_of_ten),
	        cmocka_unit_test(without_points_the_axes_are_still_there),
	        cmocka_unit_test(ceilings_meet_at_the_ridge),
	        cmocka_unit_test(kinds_of_ceilings_look_different),
	        cmocka_unit_test(rates_of_other_types_are_left_out),
	        cmocka_unit_test(names_do_not_overlap),
	        cmocka_unit_test(names_of_slopes_follow_each_other),
	        cmocka_unit_test(marks_of_a_label_are_one_path),
	        cmocka_unit_test(marks_on_each_other_are_drawn_once),
	        cmocka_unit_test(measured_levels_have_ticks_on_a_line),
	        cmocka_unit_test(the_axis_reaches_measured_intensities),
	        cmocka_unit_test(names_are_escaped)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
