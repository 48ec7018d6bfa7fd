/* lists/, and the matrix of devices and operations that the overview and machines share. */
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

#define PAGE "lists/index.html"

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "list", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
}

static void put_point_of(struct site_lab *lab, const struct tk_problem_row *p, double value)
{
	struct tk_series_row s = {.backend = "b",
	        .config = "",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};

	assert_int_equal(tk_store_put_problem(lab->w.store, p, &s.problem_id, &lab->w.err), 0);
	lab_put_point(lab, &s, value, "{}");
}

/* A point of a problem with an operation of its own. */
static void put_point(struct site_lab *lab, const char *op, const char *title, double value)
{
	const struct tk_problem_row p = {.text = title,
	        .op = op,
	        .dtype = "f32",
	        .title = title,
	        .flops = 1e9,
	        .bytes = 1e6,
	        .source = "",
	        .family = ""};

	put_point_of(lab, &p, value);
}

/* ---- the list ---- */

static void the_list_has_a_group_for_each_operation(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{count}}{{#many}} many{{/many}}{{#part}} part{{/part}}\n{{#groups}}{{name}} "
	           "{{count}} {{#page}}{{group_href}}{{/page}}:{{#rows}} {{title}} {{dtype}} "
	           "{{backend}} {{value}} {{href}}{{/rows}}\n{{/groups}}");
	put_point(lab, "softmax", "s1", 500);
	put_point(lab, "gemm", "p2", 2000);
	put_point(lab, "gemm", "p1", 1000);
	lab_expect(lab, PAGE,
	        "3\n"
	        "GEMM 2 ../kernels/gemm.html: p1 f32 b 1.000 µs "
	        "../series/box.cpu.self.b.p1.cold.html "
	        "p2 f32 b 2.000 µs ../series/box.cpu.self.b.p2.cold.html\n"
	        "softmax 1 ../kernels/softmax.html: s1 f32 b 500.0 ns "
	        "../series/box.cpu.self.b.s1.cold.html\n");
}

/* A benchmark that was imported has a time, and no work. */
static void a_group_without_a_rate_has_no_column_for_it(void **state)
{
	struct site_lab *lab = *state;
	struct tk_problem_row p = {.text = "t",
	        .op = "foreign",
	        .dtype = "",
	        .title = "t",
	        .source = "",
	        .family = ""};

	begin(lab, "{{#groups}}{{name}}{{^has_rate}} no-rate{{/has_rate}}\n{{/groups}}");
	put_point(lab, "gemm", "p1", 1000);
	put_point_of(lab, &p, 500);
	lab_expect(lab, PAGE, "GEMM\nforeign no-rate\n");
}

/* Within a group what became worse is first, then what became better. */
static void changed_series_are_first(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_SAME, 1000, 1000),
	        lab_verdict(2, TK_VERDICT_IMPROVED, 1000, 500),
	        lab_verdict(3, TK_VERDICT_REGRESSED, 1000, 2000),
	        lab_verdict(4, TK_VERDICT_UNSURE, 1000, 1100),
	        lab_verdict(5, TK_VERDICT_REGRESSED, 1000, 1500)};

	begin(lab,
	        "{{#groups}}{{#rows}}{{title}} {{status}} {{tone}} {{change}}{{glyph}}\n{{/rows}}"
	        "{{/groups}}");
	for (int i = 1; i <= 5; i++)
		put_point(lab, "gemm", (const char *const[]){"p1", "p2", "p3", "p4", "p5"}[i - 1],
		        1000);
	lab_put_verdicts(lab, rows, 5);
	lab_expect(lab, PAGE,
	        "p3 regressed bad 2.0×▲\np5 regressed bad +50.0 %▲\np2 improved good −50.0 %▼\n"
	        "p1 same quiet ±0.0 %\np4 unsure note +10.0 %▲\n");
}

/* A series that has neither a point nor a failure that counts is not listed. */
static void unsupported_problems_are_not_listed(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{count}}:{{#groups}}{{#any}}{{name}} {{/any}}{{#rows}}{{title}} {{outcome}} "
	           "{{outcome_tone}} {{value}};{{/rows}}{{/groups}}");
	world_fail(&lab->w, "b", "p1", "unsupported", "");
	world_fail(&lab->w, "b", "p2", "crashed", "");
	lab_expect(lab, PAGE, "1:GEMM p2 crashed bad –;");
}

/* Controls and the like carry their role. */
static void other_roles_are_named(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#groups}}{{#rows}}{{title}} {{role}};{{/rows}}{{/groups}}");
	world_point(&lab->w, "b", "p1", 1000);
	lab->w.role = "control";
	world_point(&lab->w, "b", "p2", 1000);
	lab_expect(lab, PAGE, "p1 ;p2 control;");
}

/* ---- the matrix ---- */

#define MATRIX \
	"{{#matrix_heads}}{{name}} {{kernel_href}};{{/matrix_heads}}\n{{#matrix}}{{device}} " \
	"{{device_name}} {{machine_href}}:{{#cells}} [{{#any}}{{count}} w{{worse}} b{{better}} " \
	"f{{failing}}{{#missing}} m{{missing}}{{/missing}} {{unchanged}}{{efficiency}}{{/any}}]" \
	"{{/cells}}\n{{/matrix}}"

static void the_matrix_has_devices_and_operations(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "overview", MATRIX);
	put_point(lab, "gemm", "p1", 1000);
	put_point(lab, "gemm", "p2", 1000);
	put_point(lab, "softmax", "s1", 1000);
	world_machine(&lab->w, "two", "gpu");
	lab_expect(lab, "index.html",
	        "GEMM kernels/gemm.html;softmax kernels/softmax.html;\n"
	        "box/cpu cpu machines/box.html: [2 w0 b0 f0 not compared] [1 w0 b0 f0 not "
	        "compared]\n"
	        "two/gpu gpu machines/two.html: [] []\n");
}

static void cells_count_what_changed(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_SAME, 1000, 1000),
	        lab_verdict(2, TK_VERDICT_IMPROVED, 1000, 500),
	        lab_verdict(3, TK_VERDICT_REGRESSED, 1000, 2000),
	        lab_verdict(4, TK_VERDICT_NEWLY_FAILED, NAN, NAN),
	        lab_verdict(5, TK_VERDICT_MISSING, NAN, NAN)};

	begin(lab, "-");
	lab_set_template(lab, "overview", MATRIX);
	for (int i = 1; i <= 3; i++)
		put_point(lab, "gemm", (const char *const[]){"p1", "p2", "p3"}[i - 1], 1000);
	world_fail(&lab->w, "b", "p4", "crashed", "");
	world_fail(&lab->w, "b", "p5", "no_device", "");
	lab_put_verdicts(lab, rows, 5);
	lab_build(lab);
	lab_assert_has(lab, "index.html", "[5 w2 b1 f2 m1 ]");
}

static void a_quiet_cell_has_no_change(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row row = lab_verdict(1, TK_VERDICT_SAME, 1000, 1000);

	begin(lab, "-");
	lab_set_template(lab, "overview", MATRIX);
	put_point(lab, "gemm", "p1", 1000);
	lab_put_verdicts(lab, &row, 1);
	lab_build(lab);
	lab_assert_has(lab, "index.html", "[1 w0 b0 f0 no change]");
}

static void skipped_series_are_counted(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "overview", MATRIX);
	world_point(&lab->w, "b", "p1", 1000);
	world_night(&lab->w, 1, "nightly");
	world_fail(&lab->w, "b", "p1", "skipped", "");
	lab_build(lab);
	lab_assert_has(lab, "index.html", "[1 w0 b0 f0 1 skipped ]");
}

/* 1 TFLOP in 1000 ns against a ceiling of 2e6 GFLOP/s; the median of 50 %, 25 % and 10 %. */
static void a_cell_has_the_median_efficiency(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "-");
	lab_set_template(
	        lab, "overview", "{{#matrix}}{{#cells}}{{efficiency}}{{/cells}}{{/matrix}}");
	put_point(lab, "gemm", "p1", 1000);
	put_point(lab, "gemm", "p2", 2000);
	put_point(lab, "gemm", "p3", 5000);
	const struct tk_ceiling_row ceilings[] = {
	        {w->night, w->device, "f32", TK_CEILING_MEASURED, "gflop_per_s", 2e6},
	        {w->night, w->device, "copy", TK_CEILING_MEASURED, "gb_per_s", 1e6}};
	for (int i = 0; i < 2; i++)
		assert_int_equal(tk_store_put_ceiling(w->store, &ceilings[i], &w->err), 0);
	lab_build(lab);
	assert_string_equal(lab_read(lab, "index.html"), "25 %");
	/* a night later that does not measure them, they are not of the last night */
	world_night(w, 1, "nightly");
	put_point(lab, "softmax", "s1", 1000);
	lab_build(lab);
	assert_null(strstr(lab_read(lab, "index.html"), "25 %"));
}

/* ---- many series: a page for each device and operation ---- */

static void long_lists_are_pages_of_their_own(void **state)
{
	struct site_lab *lab = *state;
	char title[16];

	begin(lab, "{{title}} {{count}}{{#part}} part{{/part}}");
	lab_set_template(
	        lab, "lists", "{{count}}{{#matrix}}{{#cells}} {{href}}{{/cells}}{{/matrix}}");
	for (int i = 0; i < 1000; i++) {
		snprintf(title, sizeof title, "p%d", i);
		world_point(&lab->w, "b", title, 1000);
	}
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE), "Series 1,000");
	world_night(&lab->w, 1, "nightly");
	put_point(lab, "softmax", "s1", 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE),
	        "1,001 ../lists/box.cpu.gemm.html ../lists/box.cpu.softmax.html");
	assert_string_equal(lab_read(lab, "lists/box.cpu.gemm.html"), "GEMM on box/cpu 1,000 part");
	assert_string_equal(
	        lab_read(lab, "lists/box.cpu.softmax.html"), "softmax on box/cpu 1 part");
}

static void short_lists_are_linked_with_their_filter(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "overview",
	        "{{#matrix}}{{#cells}}{{href}} {{roofline_href}}{{/cells}}{{/matrix}}");
	put_point(lab, "gemm", "p1", 1000);
	lab_expect(lab, "index.html",
	        "lists/index.html#op=GEMM&amp;device=box%2Fcpu roofline/box.cpu.html");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_list_has_a_group_for_each_operation),
	        TEST(a_group_without_a_rate_has_no_column_for_it),
	        TEST(changed_series_are_first),
	        TEST(unsupported_problems_are_not_listed),
	        TEST(other_roles_are_named),
	        TEST(the_matrix_has_devices_and_operations),
	        TEST(cells_count_what_changed),
	        TEST(a_quiet_cell_has_no_change),
	        TEST(skipped_series_are_counted),
	        TEST(a_cell_has_the_median_efficiency),
	        TEST(long_lists_are_pages_of_their_own),
	        TEST(short_lists_are_linked_with_their_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
