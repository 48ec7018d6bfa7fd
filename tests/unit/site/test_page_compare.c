/* compare.html: the data of its script, and the order of a roofline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page_groups.h"
#include "site_lab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void begin(struct site_lab *lab)
{
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
}

static void contenders_are_backends_on_devices(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab);
	world_point(w, "b", "p1", 1000);
	world_point(w, "a", "p1", 2000);
	world_point(w, "b", "p2", 3000);
	world_fail(w, "c", "p1", "crashed", ""); /* was never timed */
	world_machine(w, "zoo", "gpu");
	world_environment(w, "{}");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 500);
	lab_build(lab);
	assert_string_equal(lab_read(lab, "data/compare.js"),
	        "tracker.data.add(\"compare\",{\"contenders\":["
	        "\n[\"a\",\"box/cpu\",\"data/revisions-1.js\",\"compare-0\",\"data/compare-0.js\"],"
	        "\n[\"b\",\"box/cpu\",\"data/revisions-1.js\",\"compare-0\",\"data/compare-0.js\"],"
	        "\n[\"b\",\"zoo/gpu\",\"data/revisions-1.js\",\"compare-0\",\"data/"
	        "compare-0.js\"]],"
	        "\"tie\":0.01,\"pair\":[0,1],\"manifest\":\"data/manifest.js\",\"problems\":["
	        "\n[\"GEMM\",\"p1\",\"f32\"],\n[\"GEMM\",\"p2\",\"f32\"]]});\n");
}

/* The two that have the most problems in common. */
static void the_pair_at_first(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab);
	world_point(w, "a", "p1", 1000);
	world_point(w, "b", "p1", 1000);
	world_point(w, "b", "p2", 1000);
	world_point(w, "c", "p1", 1000);
	world_point(w, "c", "p2", 1000);
	lab_build(lab);
	lab_assert_has(lab, "data/compare.js", "\"pair\":[1,2]");
}

static void one_backend_has_nobody_to_compare_with(void **state)
{
	struct site_lab *lab = *state;

	lab_set_template(lab, "compare", "{{#any}}any{{/any}}{{^any}}none{{/any}}");
	begin(lab);
	world_fail(&lab->w, "b", "p1", "crashed", "");
	lab_build(lab);
	assert_string_equal(lab_read(lab, "compare.html"), "none");
	lab_assert_has(lab, "data/compare.js", "\"contenders\":[],");
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, "compare.html"), "any");
	lab_assert_has(lab, "data/compare.js", "\"pair\":[0,0]");
}

/* The entry of the only series, from its exponent on. */
static const char *entry_of(struct site_lab *lab)
{
	static char text[256];
	const char *data, *start, *end;

	lab_build(lab);
	data = lab_read(lab, "data/compare-0.js");
	start = strstr(data, "\n[0,0,\"box.cpu.self.b.p1.cold\",0,0,");
	end = start ? strstr(start, "]}") : NULL;
	assert_true(start && end);
	start += strlen("\n[0,0,\"box.cpu.self.b.p1.cold\",0,0,");
	snprintf(text, sizeof text, "%.*s", (int)(end - start), start);
	return text;
}

/* Five digits, differences to the age before, distances of the interval's ends. */
static void times_of_the_newest_night(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	world_point(&lab->w, "b", "p1", 12345.678);
	assert_string_equal(entry_of(lab), "0,[12346,13,12],0,0]");
	lab->w.samples = 1;
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 0.5);
	/* An interval of no width is none, and the exponent follows the smallest time. */
	assert_string_equal(entry_of(lab), "-5,[50000],0,0]");
}

static void times_of_a_week_and_a_month_before(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	world_point(&lab->w, "b", "p1", 1000);
	for (int day = 1; day <= 30; day++) {
		world_night(&lab->w, day, "nightly");
		world_point(&lab->w, "b", "p1", 1000 + day);
	}
	/* 1030, a week before 1023, a month before 1000 */
	assert_string_equal(entry_of(lab), "-1,[10300,10,10],[-70,10,10],[-230,10,10]]");
}

/* Nothing fills a gap: a point that is more than twice as old and a week is too old. */
static void gaps_stay_gaps(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	world_point(&lab->w, "b", "p1", 1000);
	world_night(&lab->w, 21, "nightly");
	world_point(&lab->w, "b", "p1", 2000);
	assert_string_equal(entry_of(lab), "-1,[20000,20,20],[-10000,10,10],0]");
	world_night(&lab->w, 43, "nightly");
	world_point(&lab->w, "b", "p1", 3000);
	/* 22 days before is too old for a week, 43 days are a month */
	assert_string_equal(entry_of(lab), "-1,[30000,30,30],0,[-20000,10,10]]");
}

/* A series that fails now has no newest time. */
static void a_failure_has_no_time(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	world_point(&lab->w, "b", "p1", 1000);
	world_night(&lab->w, 7, "nightly");
	world_point(&lab->w, "b", "p1", 2000);
	world_night(&lab->w, 8, "nightly");
	world_fail(&lab->w, "b", "p1", "crashed", "");
	assert_string_equal(entry_of(lab), "-1,0,[10000,10,10],0]");
}

/* ---- roofline -------------------------------------------------------------------------------- */

/* The nearest to its ceiling first; a type without one is held against the highest. */
static void points_are_ordered_by_efficiency(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	const char *const names[] = {"p1", "p2", "p3", "p4", "p5"};

	begin(lab);
	lab_set_template(lab, "roofline", "{{#rows}}{{title}} {{efficiency}};{{/rows}}");
	for (int i = 0; i < 5; i++)
		world_point(w, "b", names[i], 5000 - 800 * i);
	const struct tk_ceiling_row row = {
	        w->night, w->device, "f32", TK_CEILING_MEASURED, "gflop_per_s", 1e6};

	assert_int_equal(tk_store_put_ceiling(w->store, &row, &w->err), 0);
	world_end_night(w);
	lab_run_sql(lab, "UPDATE problem SET dtype='f16' WHERE title IN ('p2', 'p4')");
	lab_build(lab);
	assert_string_equal(
	        lab_read(lab, "roofline/box.cpu.html"), "p5 56 %;p4 38 %;p3 29 %;p2 24 %;p1 20 %;");
}

int page_compare_tests(void)
{
	const struct CMUnitTest tests[] = {
	        LAB_TEST(contenders_are_backends_on_devices),
	        LAB_TEST(the_pair_at_first),
	        LAB_TEST(one_backend_has_nobody_to_compare_with),
	        LAB_TEST(times_of_the_newest_night),
	        LAB_TEST(times_of_a_week_and_a_month_before),
	        LAB_TEST(gaps_stay_gaps),
	        LAB_TEST(a_failure_has_no_time),
	        LAB_TEST(points_are_ordered_by_efficiency),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
