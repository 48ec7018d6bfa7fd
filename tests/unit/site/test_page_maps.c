/* The page of a kernel: maps, charts over size, the dispatch table and its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page_groups.h"
#include "site_lab.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAGE "kernels/gemm.html"

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "kernel", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
}

/* Both backends on a product of m rows; its keys are those of the problem's text. */
static void measure(struct site_lab *lab, int m, int n, double a_ns, double b_ns)
{
	char problem[64];

	snprintf(problem, sizeof problem, "gemm:k=64,m=%d,n=%d", m, n);
	if (a_ns > 0)
		world_point(&lab->w, "a", problem, a_ns);
	if (b_ns > 0)
		world_point(&lab->w, "b", problem, b_ns);
}

/* ---- maps ------------------------------------------------------------------------------------ */

#define MAPS \
	"{{#devices}}{{#maps}}{{row_name}} / {{column_name}} {{rest}}:{{#columns}} {{column}}" \
	"{{/columns}}\n{{#rows}}{{row}}:{{#cells}} {{#any}}{{best}} {{lead}} {{class}};{{/any}}" \
	"{{^any}}-;{{/any}}{{/cells}}\n{{/rows}}{{/maps}}{{/devices}}"

/* Two sizes of n, three of m: the fastest, its lead and the class of its colour. */
static void a_map_of_two_sizes(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, MAPS);
	measure(lab, 128, 256, 1000, 2000);
	measure(lab, 256, 256, 1000, 1200);
	measure(lab, 512, 256, 1000, 1050);
	measure(lab, 128, 512, 1000, 1005); /* a tie */
	measure(lab, 256, 512, 3000, 1000);
	measure(lab, 512, 512, 1000, 0); /* nobody else */
	lab_build(lab);
	const char *text = lab_read(lab, PAGE);

	assert_non_null(strstr(text, ": 128 256 512\n"));
	assert_non_null(strstr(text, "a 2.00× map-0-3; a 1.20× map-0-2; a 1.05× map-0-1;\n"));
	assert_non_null(strstr(text, "tie a, b map-tie; b 3.00× map-1-3; a alone map-0-0;\n"));
}

static void points_of_one_sample_have_no_interval(void **state)
{
	struct site_lab *lab = *state;

	lab->w.samples = 1;
	begin(lab, MAPS);
	for (int m = 128; m <= 256; m *= 2)
		for (int n = 128; n <= 256; n *= 2)
			measure(lab, m, n, 1000, 1500);
	lab_build(lab);
	lab_assert_has(lab, PAGE, "a 1.50×, no interval map-tie;");
}

/* What the script of the maps reads: times, and ends of intervals in hundredths of a percent. */
static void data_of_the_script(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#devices}}{{#maps}}{{#rows}}{{#cells}}{{times}}|{{ends}}|{{href}}\n{{/cells}}"
	           "{{/rows}}{{/maps}}{{/devices}}");
	for (int m = 128; m <= 256; m *= 2)
		for (int n = 128; n <= 256; n *= 2)
			measure(lab, m, n, 1000 + m, 2000);
	lab_build(lab);
	/* ends are 0.1 % to either side */
	lab_assert_has(lab, PAGE, "1128 2000|10,10 10,10|../series/");
}

/* One backend, or problems that nobody else has, are no map. */
static void nothing_to_map(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, MAPS "none");
	for (int m = 128; m <= 256; m *= 2)
		for (int n = 128; n <= 256; n *= 2)
			measure(lab, m, n, 1000, 0);
	lab_expect(lab, PAGE, "none");
	world_night(&lab->w, 1, "nightly");
	measure(lab, 1, 1, 0, 1000);
	lab_expect(lab, PAGE, "none");
}

/* ---- charts over size ------------------------------------------------------------------------ */

#define CHARTS \
	"{{#devices}}{{#sweep_charts}}{{number}} {{sweep_title}} {{top}} {{peak}} {{peak_text}}:" \
	"{{#keys}} {{label}}{{/keys}}\n{{/sweep_charts}}{{#rows}}{{problem}} {{x}} {{batch}} " \
	"{{sweeps}};{{/rows}}{{/devices}}"

static void put_peak(struct site_lab *lab, double gflop_per_s)
{
	struct world *w = &lab->w;
	const struct tk_ceiling_row row = {
	        w->night, w->device, "f32", TK_CEILING_DATASHEET, "gflop_per_s", gflop_per_s};

	assert_int_equal(tk_store_put_ceiling(w->store, &row, &w->err), 0);
}

static void a_sweep_has_a_chart(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, CHARTS);
	for (int m = 128; m <= 1024; m *= 2)
		measure(lab, m, 256, 1e6 / m, 2e6 / m);
	put_peak(lab, 2e6);
	lab_build(lab);
	/* 1 GFLOP in 977 ns are 1,024 TFLOP/s, more than 0.3 of the peak: it is drawn. */
	lab_assert_has(lab, PAGE, " 2e+06 2e+06 2000 TFLOP/s: a b\n");
	lab_assert_has(lab, PAGE, "gemm:k=64,m=1024,n=256 1024 ");
	lab_assert_lacks(lab, PAGE, "\n1 ");
}

/* A peak far above the rates would press them against the axis. */
static void a_peak_far_above_is_not_drawn(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, CHARTS);
	for (int m = 128; m <= 1024; m *= 2)
		measure(lab, m, 256, 1e6 / m, 2e6 / m);
	put_peak(lab, 4e6);
	lab_build(lab);
	lab_assert_has(lab, PAGE, " 1.024e+06  : a b\n");
}

static void two_sizes_are_no_sweep(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#devices}}{{#sweep_charts}}chart{{/sweep_charts}}{{/devices}}");
	measure(lab, 128, 256, 1000, 2000);
	measure(lab, 256, 256, 1000, 2000);
	lab_expect(lab, PAGE, "");
}

/* ---- the dispatch table ---------------------------------------------------------------------- */

#define TABLE \
	"{{#devices}}{{#dispatch}}{{dispatch_problems}} {{dispatch_used}}{{#dispatch_several}} " \
	"several{{/dispatch_several}} {{single}} {{single_count}} {{single_ratio}} " \
	"{{dispatch_href}}\n{{#dispatch_rows}}{{problem}} {{backend}} {{value}} {{rate}} " \
	"{{share}} [{{tied}}] {{next}} {{lead}}{{#alone}}alone{{/alone}}\n{{/dispatch_rows}}" \
	"{{/dispatch}}{{/devices}}"
#define FILES "dispatch/gemm@box.cpu"

/* p1: a; p2: b; p3: a and c tie; p4: only c. */
static void put_contest(struct site_lab *lab)
{
	struct world *w = &lab->w;

	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 2000);
	world_point(w, "a", "p2", 3100);
	world_point(w, "b", "p2", 1000);
	world_point(w, "a", "p3", 1000);
	world_point(w, "c", "p3", 1001);
	world_point(w, "b", "p3", 1500);
	world_point(w, "c", "p4", 1000);
}

static void the_table_names_a_backend_for_each_problem(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, TABLE);
	put_contest(lab);
	put_peak(lab, 2e6);
	lab_expect(lab, PAGE,
	        "4 3 several b 3 1.44× ../" FILES "\n"
	        "p1 a 1.000 µs 1000 TFLOP/s 50 % [] b 2.00×\n"
	        "p2 b 1.000 µs 1000 TFLOP/s 50 % [] a 3.10×\n"
	        "p3 a 1.000 µs 1000 TFLOP/s 50 % [c] b 1.50×\n"
	        "p4 c 1.000 µs 1000 TFLOP/s 50 % []  alone\n");
}

static void many_backends_that_tie(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	struct site_lab *lab = *state;

	begin(lab, TABLE);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		world_point(&lab->w, names[i], "p1", 1000 + (double)i);
	lab_build(lab);
	lab_assert_has(lab, PAGE, "[b, c, d and 2 more]");
	lab_assert_lacks(lab, PAGE, "several");
}

static void one_backend_has_no_table(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, TABLE);
	world_point(&lab->w, "a", "p1", 1000);
	world_point(&lab->w, "b", "p2", 1000);
	lab_expect(lab, PAGE, "");
	assert_false(lab_has(lab, FILES ".json"));
}

/* ---- its files ------------------------------------------------------------------------------- */

static void json_of_the_table(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	put_contest(lab);
	put_peak(lab, 2e6);
	lab_build(lab);
	json_t *root = json_loads(lab_read(lab, FILES ".json"), 0, NULL);
	const json_t *problems = json_object_get(root, "problems");

	assert_int_equal(json_integer_value(json_object_get(root, "format")), 1);
	assert_string_equal(json_string_value(json_object_get(root, "op")), "gemm");
	assert_string_equal(json_string_value(json_object_get(root, "machine")), "box");
	assert_string_equal(
	        json_string_value(json_object_get(root, "newest")), "2026-01-01T00:00:00Z");
	assert_float_equal(json_number_value(json_object_get(root, "tie")), 0.01, 0);
	assert_int_equal(json_array_size(problems), 4);
	const json_t *third = json_array_get(problems, 2);
	static const struct {
		const char *key, *text;
	} texts[] = {{"problem", "p3"}, {"title", "p3"}, {"dtype", "f32"}, {"label", "a"},
	        {"backend", "a"}, {"config", ""}, {"upstream", "self"},
	        {"series", "box.cpu.self.a.p3.cold"}, {"rate_unit", "gflop_per_s"}, {"next", "b"}};
	static const struct {
		const char *key;
		double number;
	} numbers[] = {{"time_ns", 1000}, {"lo_ns", 999}, {"hi_ns", 1001}, {"rate", 1e6},
	        {"share_of_datasheet_peak", 0.5}, {"next_ratio", 1.5}};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_string_equal(
		        json_string_value(json_object_get(third, texts[i].key)), texts[i].text);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		assert_float_equal(json_number_value(json_object_get(third, numbers[i].key)),
		        numbers[i].number, 1e-9);
	assert_string_equal(
	        json_string_value(json_array_get(json_object_get(third, "tied"), 0)), "c");
	const json_t *fourth = json_array_get(problems, 3);

	assert_string_equal(json_string_value(json_object_get(fourth, "next")), "");
	assert_true(json_is_null(json_object_get(fourth, "next_ratio")));
	json_decref(root);
}

static void csv_of_the_table(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	put_contest(lab);
	lab_build(lab);
	assert_string_equal(lab_read(lab, FILES ".csv"),
	        "problem,title,label,backend,config,upstream,time_ns,lo_ns,hi_ns,rate,rate_unit,"
	        "share_of_datasheet_peak,tied,next,next_ratio\r\n"
	        "\"p1\",\"p1\",\"a\",\"a\",\"\",\"self\",1000,999,1001,1000000,"
	        "\"gflop_per_s\",,\"\",\"b\",2\r\n"
	        "\"p2\",\"p2\",\"b\",\"b\",\"\",\"self\",1000,999,1001,1000000,"
	        "\"gflop_per_s\",,\"\",\"a\",3.1\r\n"
	        "\"p3\",\"p3\",\"a\",\"a\",\"\",\"self\",1000,999,1001,1000000,"
	        "\"gflop_per_s\",,\"c\",\"b\",1.5\r\n"
	        "\"p4\",\"p4\",\"c\",\"c\",\"\",\"self\",1000,999,1001,1000000,"
	        "\"gflop_per_s\",,\"\",\"\",\r\n");
}

/* Sorted by the text of the problem, so that a program finds an entry by halving. */
static void header_of_the_table(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	put_contest(lab);
	world_end_night(&lab->w);
	lab_run_sql(lab, "UPDATE problem SET text='p0\"*/' WHERE title='p4'");
	lab_build(lab);
	lab_assert_has(lab, FILES ".h",
	        "/* The backend to use for each problem of gemm on cpu (box/cpu), by medians up to "
	        "2026-01-01.\n * Backends tie within 1.0 % of the fastest");
	lab_assert_has(lab, FILES ".h",
	        "#ifndef TRACKER_DISPATCH_gemm_box_cpu\n"
	        "#define TRACKER_DISPATCH_gemm_box_cpu\n");
	lab_assert_has(lab, FILES ".h",
	        "static const struct tracker_dispatch_entry tracker_dispatch_gemm_box_cpu[] = {\n"
	        "\t{\"p0\\\"*/\", \"c\", \"\", 1000, 0},\n"
	        "\t{\"p1\", \"a\", \"\", 1000, 0},\n"
	        "\t{\"p2\", \"b\", \"\", 1000, 0},\n"
	        "\t{\"p3\", \"a\", \"\", 1000, 1},\n"
	        "};\n");
}

int page_map_tests(void)
{
	const struct CMUnitTest tests[] = {
	        LAB_TEST(a_map_of_two_sizes),
	        LAB_TEST(points_of_one_sample_have_no_interval),
	        LAB_TEST(data_of_the_script),
	        LAB_TEST(nothing_to_map),
	        LAB_TEST(a_sweep_has_a_chart),
	        LAB_TEST(a_peak_far_above_is_not_drawn),
	        LAB_TEST(two_sizes_are_no_sweep),
	        LAB_TEST(the_table_names_a_backend_for_each_problem),
	        LAB_TEST(many_backends_that_tie),
	        LAB_TEST(one_backend_has_no_table),
	        LAB_TEST(json_of_the_table),
	        LAB_TEST(csv_of_the_table),
	        LAB_TEST(header_of_the_table),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
