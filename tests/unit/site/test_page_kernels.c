/* kernels/ and roofline/: backends ranked on problems and their families, and how near each is to
 * what the device can do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "kernels/gemm.html"

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "kernel", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
}

static void put_family(struct site_lab *lab, const char *problem, const char *family)
{
	char sql[200];

	snprintf(sql, sizeof sql, "UPDATE problem SET family = '%s' WHERE title = '%s'", family,
	        problem);
	lab_run_sql(lab, sql);
}

/* ---- tables of a kernel ---- */

#define TABLE \
	"{{#devices}}{{device}} {{mode}}:{{#heads}} {{name}} {{wins}}/{{shared}} " \
	"{{#mean}}{{geomean}}{{/mean}}{{/heads}}\n{{#rows}}{{problem}}:{{#cells}} " \
	"{{#is_there}}{{#measured}}{{value}}{{#best}}*{{/best}} {{ratio}} {{width}}{{/measured}}" \
	"{{^measured}}{{outcome}} {{tone}}{{/measured}}{{/is_there}}{{^is_there}}-{{/is_there}};" \
	"{{/cells}}\n{{/rows}}{{/devices}}"

static void backends_are_ranked_on_each_problem(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, TABLE);
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 2000);
	world_point(w, "a", "p2", 4000);
	world_point(w, "b", "p2", 1000);
	/* a: 1 and 4 times the best, 2 on average; b: 2 and 1 */
	lab_expect(lab, PAGE,
	        "box/cpu : a 1/2 2.00× b 1/2 1.41×\n"
	        "p1: 1.000 µs* best 100; 2.000 µs 2.00× 50;\n"
	        "p2: 4.000 µs 4.00× 26; 1.000 µs* best 100;\n");
}

/* Times within the tie, or whose intervals overlap, have no winner. */
static void near_times_are_a_tie(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, TABLE);
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 1009);
	world_point(w, "a", "p2", 1000);
	world_point(w, "b", "p2", 1011);
	lab_expect(lab, PAGE,
	        "box/cpu : a 1/2 1.00× b 0/2 1.01×\n"
	        "p1: 1.000 µs tie 100; 1.009 µs tie 100;\n"
	        "p2: 1.000 µs* best 100; 1.011 µs 1.01× 98;\n");
}

static void intervals_that_overlap_are_no_win(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#devices}}{{#rows}}{{#cells}}{{ratio}} {{/cells}}{{/rows}}{{/devices}}");
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 1100);
	world_end_night(w);
	lab_run_sql(lab, "UPDATE measurement SET hi = 1150 WHERE value = 1000");
	lab_expect(lab, PAGE, "tie 1.10× ");
}

/* What failed or was not measured has no place in the ranking. */
static void failures_are_not_ranked(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, TABLE);
	world_point(w, "a", "p1", 1000);
	world_fail(w, "b", "p1", "crashed", "");
	world_point(w, "b", "p2", 1000);
	lab_expect(lab, PAGE,
	        "box/cpu : a 0/0  b 0/0 \n"
	        "p1: 1.000 µs nan× 0; crashed bad;\n"
	        "p2: -; 1.000 µs nan× 0;\n");
}

static void metrics_beside_the_median_are_for_the_script(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{metrics}}|{{tie}}|{{tie_text}}|{{#devices}}{{#rows}}{{#cells}}{{more}}|{{data}};"
	        "{{/cells}}{{/rows}}{{/devices}}");
	world_point(&lab->w, "b", "p1", 1000); /* p95 is 1010 */
	lab_expect(lab, PAGE, "p50 p95|0.01|1.0 %|1000 1010 - - - - - -|1e+06 9.99e+05 1.001e+06;");
}

/* A table shows at most 96 problems; a page of its own has them all. */
static void long_tables_have_a_page_of_their_own(void **state)
{
	struct site_lab *lab = *state;
	char name[16];

	begin(lab, "{{#whole}}whole {{/whole}}{{#devices}}{{problems}} {{all_href}}{{#long}} long"
	           "{{/long}}:{{#rows}}x{{/rows}}{{/devices}}");
	for (int i = 0; i < 97; i++) {
		snprintf(name, sizeof name, "p%02d", i);
		world_point(&lab->w, "b", name, 1000);
	}
	lab_build(lab);
	const char *text = lab_read(lab, PAGE);
	assert_int_equal(strncmp(text, "97 ../kernels/gemm@box.cpu.html long:x", 38), 0);
	assert_int_equal(strlen(text), 37 + 96);
	text = lab_read(lab, "kernels/gemm@box.cpu.html");
	assert_int_equal(strncmp(text, "whole 97  long:x", 16), 0);
	assert_int_equal(strlen(text), 15 + 97);
}

static void tabs_name_all_kernels(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{title}}:{{#tabs}} {{name}} {{href}}{{#current}} current{{/current}};{{/tabs}}");
	world_point(&lab->w, "b", "p1", 1000);
	world_point(&lab->w, "b", "p2", 1000);
	world_end_night(&lab->w);
	lab_run_sql(lab, "UPDATE problem SET op = 'softmax' WHERE title = 'p2'");
	lab_build(lab);
	assert_string_equal(
	        lab_read(lab, PAGE), "GEMM: GEMM gemm.html current; softmax softmax.html;");
	assert_string_equal(lab_read(lab, "kernels/softmax.html"),
	        "softmax: GEMM gemm.html; softmax softmax.html current;");
}

/* ---- families ---- */

#define GROUPS \
	"{{#devices}}{{#group_rows}}{{group_kind}} {{group_name}} {{group_problems}}:" \
	"{{#group_cells}} {{#group_known}}{{group_ratio}} {{group_wins}}/{{group_shared}}" \
	"{{#group_best}}*{{/group_best}}{{/group_known}};{{/group_cells}}\n{{/group_rows}}{{/" \
	"devices}}"

static void families_compare_backends(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, GROUPS);
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 4000);
	world_point(w, "a", "p2", 1000);
	world_point(w, "b", "p2", 1000);
	world_point(w, "a", "p3", 2000);
	world_point(w, "b", "p3", 1000);
	world_end_night(w);
	put_family(lab, "p1", "square");
	put_family(lab, "p2", "square");
	put_family(lab, "p3", "tall");
	/* square: b takes 4 and 1 times as long as a, 2 on average */
	lab_expect(lab, PAGE,
	        "family square 2: 1.00× 2/2*; 2.00× 1/2;\n"
	        "family tall 1: 2.00× 0/1; 1.00× 1/1*;\n");
}

/* One family, or one backend, compares nothing. */
static void one_group_is_no_table(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, GROUPS);
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 4000);
	world_point(w, "a", "p2", 1000);
	lab_build_now(lab);
	put_family(lab, "p1", "square");
	put_family(lab, "p2", "square");
	lab_expect(lab, PAGE, "");
	put_family(lab, "p2", "tall"); /* where one backend alone was measured */
	lab_expect(lab, PAGE, "family square 1: 1.00× 1/1*; 4.00× 0/1;\n");
}

static void aspects_of_a_product(void **state)
{
	static const struct {
		const char *problem, *aspect; /* NULL: none */
	} cases[] = {{"gemm:k=512,m=512,n=512", "square"}, {"gemm:k=512,m=128,n=512", "skinny"},
	        {"gemm:k=512,m=512,n=128", "skinny"}, {"gemm:k=512,m=129,n=512", "other"},
	        {"gemm:k=1024,m=512,n=500", "deep k"}, {"gemm:k=1023,m=512,n=500", "other"},
	        {"gemm:k=512,m=512", NULL}};
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#devices}}{{#group_rows}}{{group_kind}} {{group_name}} {{group_problems}}\n"
	           "{{/group_rows}}{{/devices}}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		world_point(w, "a", cases[i].problem, 1000);
		world_point(w, "b", cases[i].problem, 2000);
	}
	lab_expect(
	        lab, PAGE, "aspect deep k 1\naspect other 2\naspect skinny 2\naspect square 1\n");
}

/* Faster than the others by more than a tie, and known for all contested problems. */
static void a_group_without_a_clear_winner(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, GROUPS);
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 1005);
	world_point(w, "a", "p2", 1000);
	world_point(w, "b", "p2", 2000);
	world_point(w, "c", "p2", 500);
	world_point(w, "a", "p3", 1000);
	world_point(w, "b", "p3", 2000);
	world_end_night(w);
	put_family(lab, "p1", "even");
	put_family(lab, "p2", "mixed");
	put_family(lab, "p3", "mixed");
	/* c is the fastest where it is known, which is not everywhere: then a, which c beats */
	lab_expect(lab, PAGE,
	        "family even 1: 1.00× 1/1; 1.00× 1/1; ;\n"
	        "family mixed 2: 1.41× 1/2; 2.83× 0/2; 1.00× 1/1;\n");
}

/* ---- roofline ---- */

#define ROOFLINE "roofline/box.cpu.html"
#define ROOFLINE_DATA "data/roofline-box.cpu.js"

static void put_ceilings(struct site_lab *lab)
{
	struct world *w = &lab->w;
	const struct tk_ceiling_row rows[] = {
	        {w->night, w->device, "f32", TK_CEILING_MEASURED, "gflop_per_s", 2e6},
	        {w->night, w->device, "f32", TK_CEILING_DATASHEET, "gflop_per_s", 4e6},
	        {w->night, w->device, "copy", TK_CEILING_MEASURED, "gb_per_s", 1e6}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(tk_store_put_ceiling(w->store, &rows[i], &w->err), 0);
}

/* 1 GFLOP and 1 MB: 1000 FLOP/B, under the ceiling of f32. */
static void points_are_compared_with_the_ceiling(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "roofline",
	        "{{device_name}} {{night}} {{data}}\n{{#ceilings}}{{name}} {{source}} {{value}};"
	        "{{/ceilings}}\n{{#rows}}{{title}} {{label}} {{type}} {{intensity}} {{under}} "
	        "{{rate}} "
	        "{{efficiency}} {{peak}}{{#over}} over{{/over}} {{measured}}{{old}}\n{{/rows}}"
	        "{{#any_older}}older{{/any_older}}");
	world_point(&lab->w, "b", "p1", 1000);
	world_point(&lab->w, "b", "p2", 4000);
	world_fail(&lab->w, "b", "p3", "crashed", "");
	put_ceilings(lab);
	lab_build(lab);
	lab_assert_has(lab, ROOFLINE, "cpu 2026-01-01 00:00 " ROOFLINE_DATA "\n");
	lab_assert_has(lab, ROOFLINE, "f32 measured 2000 TFLOP/s;");
	lab_assert_has(lab, ROOFLINE,
	        "p1 b f32 1000 f32 1000 TFLOP/s 50 % 25 % –\n"
	        "p2 b f32 1000 f32 250.0 TFLOP/s 12 % 6.2 % –\n");
	lab_assert_lacks(lab, ROOFLINE, "p3");
	lab_assert_lacks(lab, ROOFLINE, "older");
}

static void points_above_the_ceiling_are_marked(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "roofline",
	        "{{#rows}}{{title}}{{#over}} over{{/over}}{{#over_peak}} "
	        "peak{{/over_peak}};{{/rows}}");
	world_point(&lab->w, "b", "p1", 491); /* 1.02 times 2e6 is 490.2 ns */
	world_point(&lab->w, "b", "p2", 489);
	world_point(&lab->w, "b", "p3", 244);
	put_ceilings(lab);
	lab_build(lab);
	assert_string_equal(lab_read(lab, ROOFLINE), "p3 over peak;p2 over;p1;");
}

/* Points of an earlier night are marked; the trail has the nights before. */
static void earlier_points_and_trails(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "roofline",
	        "{{#rows}}{{title}} {{old}} {{trail_change}} {{since}};{{/rows}}"
	        "{{#any_older}}older{{/any_older}}");
	world_point(&lab->w, "b", "p1", 1000);
	world_point(&lab->w, "b", "p2", 1000);
	put_ceilings(lab);
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 800);
	lab_build(lab);
	lab_assert_has(lab, ROOFLINE, "p1  +25.0 % 2026-01-01;");
	lab_assert_has(lab, ROOFLINE, "p2 2026-01-01  ;");
	lab_assert_has(lab, ROOFLINE, "older");
	lab_assert_has(lab, ROOFLINE_DATA,
	        "{\"x\":1000,\"y\":1.25e+06,\"efficiency\":0.625,\"peak\":0.3125,\"title\":\"p1\","
	        "\"label\":\"b\",\"type\":\"f32\",\"op\":\"GEMM\",\"look\":0,"
	        "\"href\":\"series/box.cpu.self.b.p1.cold.html\",\"trail\":[[1767225600,1e+06]]}");
	lab_assert_has(lab, ROOFLINE_DATA, "p2.cold.html\",\"older_s\":1767225600}");
	lab_assert_has(lab, ROOFLINE_DATA,
	        "\n{\"value\":2e+06,\"name\":\"f32\",\"unit\":\"gflop_per_s\",\"source\":"
	        "\"measured\"}");
}

/* Tables have both ends of many points. */
static void devices_are_tabs(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "roofline",
	        "{{#any}}points{{/any}}:{{#tabs}} {{name}} {{href}}{{#current}}*"
	        "{{/current}}{{/tabs}}");
	world_point(&lab->w, "b", "p1", 1000);
	world_machine(&lab->w, "idle", "gpu");
	lab_build(lab);
	assert_string_equal(
	        lab_read(lab, ROOFLINE), "points: box/cpu box.cpu.html* idle/gpu idle.gpu.html");
	assert_string_equal(lab_read(lab, "roofline/idle.gpu.html"),
	        ": box/cpu box.cpu.html idle/gpu idle.gpu.html*");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(backends_are_ranked_on_each_problem),
	        TEST(near_times_are_a_tie),
	        TEST(intervals_that_overlap_are_no_win),
	        TEST(failures_are_not_ranked),
	        TEST(metrics_beside_the_median_are_for_the_script),
	        TEST(long_tables_have_a_page_of_their_own),
	        TEST(tabs_name_all_kernels),
	        TEST(families_compare_backends),
	        TEST(one_group_is_no_table),
	        TEST(aspects_of_a_product),
	        TEST(a_group_without_a_clear_winner),
	        TEST(points_are_compared_with_the_ceiling),
	        TEST(points_above_the_ceiling_are_marked),
	        TEST(earlier_points_and_trails),
	        TEST(devices_are_tabs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
