/* The data of the charts, as text: what a column holds, in which steps, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/buf.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_internal.h"
#include "site_gen/pages/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

struct lab {
	struct made_model made;
	struct tk_site_series *s;
	struct tk_buf out;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	made_init(&lab->made);
	const struct tk_upstream_row *u = made_add_upstream(&lab->made, "lib", "git");
	const struct tk_site_device *d = made_add_device(&lab->made, "gpu", "a", "sm_90");
	const struct tk_problem_row *p = made_add_problem(&lab->made, "gemm", "f16", 4e6, 2e3);
	lab->s = made_add_series(&lab->made, d, u, p, "s");
	made_add_build(&lab->made, u, "r1");
	made_add_build(&lab->made, u, "r2");
	made_add_night(&lab->made, lab->made.machines, 3 * DAY_S);
	made_add_night(&lab->made, lab->made.machines, 2 * DAY_S);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	tk_buf_free(&lab->out);
	made_free(&lab->made);
	free(lab);
	return 0;
}

/* Points of the nights 2 and 1. */
static void make_points(struct tk_point points[2])
{
	for (int i = 0; i < 2; i++)
		points[i] = (struct tk_point){.series_id = 1,
		        .as_of_s = (2 + i) * DAY_S,
		        .night_id = 2 - i,
		        .run_id = 70 + i,
		        .build_id = 1 + i,
		        .environment_id = 5,
		        .value = i ? 1234.56 : 1200,
		        .lo = NAN,
		        .hi = NAN,
		        .min = NAN,
		        .q25 = NAN,
		        .q75 = NAN,
		        .p95 = NAN,
		        .n = 20};
}

static void older_points_have_four_digits_and_no_details(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[2];

	make_points(points);
	made_join(&lab->made);
	tk_shard_add_points(&lab->out, &lab->made.model, lab->s, points, 2, false);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"s\",{\"exp\":0,\"value\":[1200,35],\"night\":[2,-1],"
	        "\"revision\":[[0,1],[1,2]],\"environment\":[[0,5]],\"flags\":[]});\n");
}

static void recent_points_have_five_digits_and_details(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[2];

	make_points(points);
	points[0].lo = 1190;
	points[0].hi = 1210;
	points[0].p95 = 1230;
	points[1].min = 1200.26;
	points[1].q25 = 1230;
	points[1].q75 = 1240.06;
	points[1].flags = TK_POINT_UNSTABLE;
	points[1].n = 21;
	made_join(&lab->made);
	tk_shard_add_points(&lab->out, &lab->made.model, lab->s, points, 2, true);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"s\",{\"exp\":-1,\"value\":[12000,346],\"lo\":[100,-1],"
	        "\"hi\":[100,-1],\"p95\":[300,-1],\"min\":[-1,343],\"q25\":[-1,46],"
	        "\"q75\":[-1,55],\"night\":[2,-1],\"run\":[70,1],\"n\":[20,1],"
	        "\"revision\":[[0,1],[1,2]],\"environment\":[[0,5]],\"flags\":[[1,2]]});\n");
}

/* Times stand in the file only where they are not those of the nights. */
static void times_are_written_where_no_night_has_them(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[2];

	make_points(points);
	points[1].as_of_s += 7;
	made_join(&lab->made);
	tk_shard_add_points(&lab->out, &lab->made.model, lab->s, points, 2, false);
	assert_non_null(strstr(tk_buf_cstr(&lab->out), "\"time\":[172800,86407]"));
	tk_buf_clear(&lab->out);
	points[1].as_of_s -= 7;
	points[1].night_id = 99; /* no such night */
	tk_shard_add_points(&lab->out, &lab->made.model, lab->s, points, 2, false);
	assert_non_null(strstr(tk_buf_cstr(&lab->out), "\"time\":[172800,86400]"));
}

static void equal_neighbours_are_one_run(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[4], two[2];

	make_points(two);
	for (int i = 0; i < 4; i++)
		points[i] = two[0];
	points[1].environment_id = points[2].environment_id = 6;
	points[2].build_id = points[3].build_id = 77; /* unknown */
	points[0].flags = points[1].flags = TK_POINT_THROTTLED;
	made_join(&lab->made);
	tk_shard_add_points(&lab->out, &lab->made.model, lab->s, points, 4, false);
	const char *text = tk_buf_cstr(&lab->out);
	assert_non_null(strstr(text, "\"environment\":[[0,5],[1,6],[3,5]]"));
	assert_non_null(strstr(text, "\"revision\":[[0,1],[2,0]]"));
	assert_non_null(strstr(text, "\"flags\":[[0,1],[2,0]]"));
}

/* ---- hot files ---- */

static void a_night_is_a_line_of_columns(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[2];
	const struct tk_point *of_night[] = {&points[0], &points[1]};
	static const size_t places[] = {1, 4};

	make_points(points);
	points[1].as_of_s = points[0].as_of_s;
	points[1].night_id = points[0].night_id;
	points[1].value = 0.5;
	points[1].lo = 0.4;
	points[1].flags = 3;
	points[1].environment_id = 9;
	made_join(&lab->made);
	tk_shard_add_hot_night(&lab->out, &lab->made.model, 7, of_night, places, 2);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"hot\",{\"shard\":7,\"night\":2,\"places\":[1,3],"
	        "\"exp\":[-1,-5],\"value\":[12000,50000],\"lo\":[-1,10000],\"run\":[70,1],"
	        "\"n\":[20,0],\"revision\":[1,2],\"environment\":[5,4],\"flags\":[0,3]});\n");
}

/* A quantity that one series has is a column, whichever series that is. */
static void a_column_of_a_night_is_there_for_any_series(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[2];
	const struct tk_point *of_night[] = {&points[0], &points[1]};
	static const size_t places[] = {0, 1};

	made_join(&lab->made);
	for (int with = 0; with < 2; with++) {
		make_points(points);
		points[with].p95 = points[with].value + 100;
		tk_buf_clear(&lab->out);
		tk_shard_add_hot_night(&lab->out, &lab->made.model, 0, of_night, places, 2);
		assert_non_null(strstr(
		        tk_buf_cstr(&lab->out), with ? "\"p95\":[-1,1000]" : "\"p95\":[1000,-1]"));
		assert_null(strstr(tk_buf_cstr(&lab->out), "\"lo\""));
	}
}

static void a_night_with_another_time_names_it(void **state)
{
	struct lab *lab = *state;
	struct tk_point points[2];
	const struct tk_point *of_night[] = {&points[0]};
	static const size_t places[] = {0};

	make_points(points);
	made_join(&lab->made);
	points[0].as_of_s += 1;
	tk_shard_add_hot_night(&lab->out, &lab->made.model, 0, of_night, places, 1);
	assert_non_null(strstr(tk_buf_cstr(&lab->out), "\"night\":2,\"time\":172801,"));
	tk_buf_clear(&lab->out);
	points[0].as_of_s -= 1;
	points[0].night_id = 99;
	tk_shard_add_hot_night(&lab->out, &lab->made.model, 0, of_night, places, 1);
	assert_non_null(strstr(tk_buf_cstr(&lab->out), "\"night\":99,\"time\":172800,"));
}

static void a_hot_file_begins_with_its_series(void **state)
{
	struct lab *lab = *state;

	tk_shard_begin_hot(&lab->out, 12);
	tk_shard_add_hot_id(&lab->out, lab->s, 0);
	tk_shard_add_hot_id(&lab->out, lab->s, 1);
	tk_shard_end_hot(&lab->out);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"hot\",{\"shard\":12,\"ids\":[\n\"s\",\n\"s\"]});\n");
}

/* ---- steps ---- */

static void steps_leave_the_smallest_value_its_digits(void **state)
{
	static const struct {
		double a, b;
		int digits, exponent;
	} cases[] = {{1234, 9e9, 4, 0}, {1234, 9e9, 5, -1}, {9e9, 1234, 4, 0}, {0, 1234, 4, 0},
	        {1, 1, 4, -3}, {0.05, 1, 5, -6}, {99999, 99999, 5, 0}, {100000, 100000, 5, 1},
	        {0, 0, 5, 0}, {NAN, NAN, 5, 0}, {-3, -3, 4, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_point points[] = {{.value = cases[i].a}, {.value = cases[i].b}};
		assert_int_equal(tk_shard_exponent(points, 2, cases[i].digits), cases[i].exponent);
	}
}

static void steps_are_rounded_to_the_nearest(void **state)
{
	static const struct {
		double value, factor;
		int64_t steps;
	} cases[] = {{1.4, 1, 1}, {1.5, 1, 2}, {-1.5, 1, -2}, {-1.4, 1, -1}, {0.26, 10, 3},
	        {123.4, 0.1, 12}, {125, 0.1, 13}, {9e15, 1, 0}, {-9e15, 1, 0},
	        {8e15, 1, 8000000000000000}, {NAN, 1, 0}, {INFINITY, 1, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(
		        tk_shard_quantise(cases[i].value, cases[i].factor), cases[i].steps);
}

static void numbers_are_json(void **state)
{
	struct lab *lab = *state;

	tk_shard_add_number(&lab->out, 1234567.8);
	tk_buf_add_char(&lab->out, ' ');
	tk_shard_add_number(&lab->out, NAN);
	tk_buf_add_char(&lab->out, ' ');
	tk_shard_add_number(&lab->out, -INFINITY);
	tk_buf_add_char(&lab->out, ' ');
	tk_shard_add_text(&lab->out, "a\"b\xc3\xa4", 4); /* does not cut a character */
	assert_string_equal(tk_buf_cstr(&lab->out), "1.23457e+06 null null \"a\\\"b\"");
}

/* ---- about a series ---- */

static void about_names_limits_work_and_changes(void **state)
{
	struct lab *lab = *state;
	struct tk_ceiling_row ceilings[] = {{1, 1, "f16", TK_CEILING_MEASURED, "gflop_per_s", 1000},
	        {1, 1, "f16", TK_CEILING_DATASHEET, "gflop_per_s", 2000},
	        {1, 1, "copy", TK_CEILING_MEASURED, "gb_per_s", 100},
	        {1, 1, "copy", TK_CEILING_DATASHEET, "gb_per_s", 100}};
	struct tk_rows list = {.rows = ceilings, .count = 4};
	const struct tk_change_point_row *changes[2];

	lab->made.model.ceiling_lists = &list;
	lab->made.model.ceiling_list_count = 1;
	changes[0] = made_add_change(&lab->made, lab->s, DAY_S, 100, 110);
	changes[1] = made_add_change(&lab->made, lab->s, 2 * DAY_S, 110, NAN);
	lab->made.changes[0].cause = TK_CAUSE_CODE;
	lab->s->changes = changes;
	lab->s->change_count = 2;
	tk_shard_add_about(&lab->out, &lab->made.model, lab->s);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"s\",{\"title\":\"gemm\",\"label\":\"s\",\"unit\":\"ns\","
	        "\"ceiling\":4000,\"peak\":2000,\"work\":[4e+06,\"gflop_per_s\"],"
	        "\"lower_is_better\":true,\"changes\":[{\"time\":86400,\"before\":100,"
	        "\"after\":110,\"cause\":\"code\"},{\"time\":172800,\"before\":110,"
	        "\"after\":null,\"cause\":\"unknown\"}]});\n");
}

static void what_is_no_time_has_no_limits(void **state)
{
	struct lab *lab = *state;

	lab->s->unit = TK_UNIT_JOULE;
	lab->made.series_rows[0].unit = "J";
	lab->made.series_rows[0].better = TK_BETTER_HIGHER;
	tk_shard_add_about(&lab->out, &lab->made.model, lab->s);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"s\",{\"title\":\"gemm\",\"label\":\"s\",\"unit\":\"J\","
	        "\"ceiling\":null,\"peak\":null,\"lower_is_better\":false,\"changes\":[]});\n");
}

/* ---- catalogs ---- */

static void nights_are_differences_with_their_pages(void **state)
{
	struct lab *lab = *state;

	made_join(&lab->made);
	lab->made.nights[1].file = (char *)"1970-01-03";
	tk_shard_add_nights(&lab->out, &lab->made.model);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"nights\",{\"id\":[1,1],\"time\":[259200,-86400],\"page\":{\n"
	        "\"2\":\"nights/1970-01-03.html\"}});\n");
}

static void revisions_of_an_upstream_have_subject_link_and_page(void **state)
{
	struct lab *lab = *state;
	struct tk_model *m = &lab->made.model;
	const struct tk_upstream_row *other = made_add_upstream(&lab->made, "other", "git");
	struct tk_site_revision pages[3] = {{0}};

	made_add_build(&lab->made, other, "o1");
	lab->made.upstreams[0].url = "https://github.com/a/b";
	lab->made.revisions[1].rev = "0123456789abcdef0123456789abcdef01234567";
	lab->made.revisions[1].subject = "say \"hello\"";
	made_join(&lab->made);
	pages[1].file = (char *)"lib-r2";
	m->revision_changes = (struct tk_site_changes){.revisions = pages, .revision_count = 3};
	tk_shard_add_revisions(&lab->out, m, &lab->made.upstreams[0]);
	assert_string_equal(tk_buf_cstr(&lab->out),
	        "tracker.data.add(\"revisions\",{\n"
	        "\"1\":[\"r1\",\"r1\",\"\"],\n"
	        "\"2\":[\"0123456789abcdef0123456789abcdef01234567\","
	        "\"say \\\"hello\\\"\","
	        "\"https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567\","
	        "\"revisions/lib-r2.html\"]});\n"
	        "tracker.data.add(\"data/revisions-1.js\",{\"ids\":[1,2]});\n");
	m->revision_changes = (struct tk_site_changes){0};
}

static void environments_name_their_difference_to_the_one_before(void **state)
{
	struct lab *lab = *state;
	const struct tk_site_device *d = lab->made.devices;

	made_add_environment(&lab->made, d, "{\"driver\":\"1\"}");
	made_add_environment(&lab->made, d, "{\"driver\":\"2\"}");
	made_join(&lab->made);
	int64_t since[] = {DAY_S, 2 * DAY_S};
	lab->made.model.environment_since = since;
	tk_shard_add_environments(&lab->out, &lab->made.model);
	const char *text = tk_buf_cstr(&lab->out);
	assert_non_null(strstr(text, "{\n\"1\":\"\",\n\"2\":\""));
	assert_non_null(strstr(text, "driver"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(older_points_have_four_digits_and_no_details),
	        TEST(recent_points_have_five_digits_and_details),
	        TEST(times_are_written_where_no_night_has_them),
	        TEST(equal_neighbours_are_one_run),
	        TEST(a_night_is_a_line_of_columns),
	        TEST(a_column_of_a_night_is_there_for_any_series),
	        TEST(a_night_with_another_time_names_it),
	        TEST(a_hot_file_begins_with_its_series),
	        cmocka_unit_test(steps_leave_the_smallest_value_its_digits),
	        cmocka_unit_test(steps_are_rounded_to_the_nearest),
	        TEST(numbers_are_json),
	        TEST(about_names_limits_work_and_changes),
	        TEST(what_is_no_time_has_no_limits),
	        TEST(nights_are_differences_with_their_pages),
	        TEST(revisions_of_an_upstream_have_subject_link_and_page),
	        TEST(environments_name_their_difference_to_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
