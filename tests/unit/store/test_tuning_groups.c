/* Results of `tracker tune` by group, and the rules that they give. No history: rows alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/tuning_groups.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Problem i is a GEMM of 16 * 2^i rows. */
static const struct tk_problem_row problems[] = {{.id = 1, .text = "gemm:a=f32,k=512,m=16,n=512"},
        {.id = 2, .text = "gemm:a=f32,k=512,m=32,n=512"},
        {.id = 3, .text = "gemm:a=f32,k=512,m=64,n=512"},
        {.id = 4, .text = "gemm:a=f32,k=512,m=128,n=512"}};

/* A result of device 1 that decided for `config`, which took `candidates` times. */
static struct tk_tuning_row tuning(const char *uid, int64_t problem_id, const char *config)
{
	return (struct tk_tuning_row){.uid = uid,
	        .device_id = 1,
	        .problem_id = problem_id,
	        .upstream = "lib",
	        .backend = "b",
	        .options = "",
	        .mode = "cold",
	        .started_s = 100,
	        .verdict = TK_TUNE_VERDICT_FASTER,
	        .config = config,
	        .winner = config,
	        .candidates = "[]"};
}

static struct tk_tuning_groups make(struct tk_tuning_row *rows, size_t count)
{
	const struct tk_rows list = {.rows = rows, .count = count};
	struct tk_tuning_groups groups;
	struct tk_error err;

	assert_int_equal(tk_tuning_groups_make(&list, &groups, &err), 0);
	return groups;
}

/* "uid uid|uid": the rows of each group. */
static void expect_groups(struct tk_tuning_row *rows, size_t count, const char *expected)
{
	struct tk_tuning_groups groups = make(rows, count);
	char text[200] = "";

	for (size_t i = 0; i < groups.count; i++)
		for (size_t k = 0; k < groups.at[i].count; k++) {
			strcat(text, k ? " " : i ? "|" : "");
			strcat(text, groups.at[i].rows[k]->uid);
		}
	assert_string_equal(text, expected);
	tk_tuning_groups_free(&groups);
	assert_null(groups.at);
	assert_int_equal(groups.count, 0);
}

/* ---- groups ---- */

static void nothing_is_no_group(void **state)
{
	(void)state;
	expect_groups(NULL, 0, "");
}

static void a_group_has_one_row_of_each_problem(void **state)
{
	struct tk_tuning_row rows[] = {
	        tuning("c", 3, "x"), tuning("a", 1, "x"), tuning("b", 2, "x")};

	(void)state;
	expect_groups(rows, 3, "a b c"); /* in the order of the problems */
}

/* Each of these sets results apart; groups are in their order. */
static void what_sets_groups_apart(void **state)
{
	struct tk_tuning_row rows[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		rows[i] = tuning((const char *const[]){"f", "e", "d", "c", "b", "a"}[i], 1, "x");
	rows[0].device_id = 2;
	rows[1].backend = "c";
	rows[2].upstream = "other";
	rows[3].mode = "hot";
	rows[4].options = "threads=2";
	expect_groups(rows, 6, "a|b|c|d|e|f");
	for (int i = 0; i < 5; i++)
		assert_false(tk_tuning_is_same_group(&rows[i], &rows[5]));
	assert_true(tk_tuning_is_same_group(&rows[5], &rows[5]));
}

/* The newest result that decided; where none did, the newest. */
static void the_newest_decided_result_counts(void **state)
{
	struct tk_tuning_row rows[] = {tuning("newest", 1, ""), tuning("newer", 1, "x"),
	        tuning("old", 1, "y"), tuning("open2", 2, ""), tuning("open1", 2, "")};

	(void)state;
	rows[0].verdict = rows[3].verdict = rows[4].verdict = TK_TUNE_VERDICT_INCONCLUSIVE;
	rows[0].started_s = 300;
	rows[1].started_s = 200;
	rows[4].started_s = 50;
	expect_groups(rows, 5, "newer open2");
}

/* Of two of one second, the order is that of their uids, whichever comes first. */
static void equal_times_are_ordered_by_uid(void **state)
{
	struct tk_tuning_row rows[] = {tuning("b", 1, "x"), tuning("a", 1, "y")};

	(void)state;
	expect_groups(rows, 2, "a");
}

static void the_first_group_of_a_device_and_mode(void **state)
{
	struct tk_tuning_row rows[] = {
	        tuning("1", 1, "x"), tuning("2", 1, "x"), tuning("3", 1, "x"), tuning("4", 1, "x")};
	static const bool first[] = {true, true, false, true};

	(void)state;
	rows[0].backend = "a";
	rows[1].backend = "b";
	rows[1].mode = "hot";
	rows[2].backend = "c";
	rows[3].device_id = 2;
	struct tk_tuning_groups groups = make(rows, 4);
	assert_int_equal(groups.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(tk_tuning_groups_is_first_at_place(&groups, i), first[i]);
	tk_tuning_groups_free(&groups);
}

/* ---- times ---- */

static void the_time_of_a_configuration(void **state)
{
	static const struct {
		const char *candidates, *config;
		double ns; /* 0: unknown */
	} cases[] = {{"[{\"config\":\"x\",\"median_ns\":5},{\"config\":\"y\",\"median_ns\":7.5}]",
	                     "y", 7.5},
	        {"[{\"config\":\"x\",\"median_ns\":5}]", "y", 0}, {"[]", "x", 0}, {"", "x", 0},
	        {"{", "x", 0}, {"[{\"config\":\"x\"}]", "x", 0},
	        {"[{\"config\":\"x\",\"median_ns\":null}]", "x", 0},
	        {"[{\"config\":\"x\",\"median_ns\":\"5\"}]", "x", 0},
	        {"[{\"config\":\"x\",\"median_ns\":0}]", "x", 0},
	        {"[{\"config\":\"x\",\"median_ns\":-5}]", "x", 0},
	        {"[{\"median_ns\":5},{\"config\":7,\"median_ns\":5}]", "x", 0},
	        {"[{\"config\":\"\",\"median_ns\":3}]", "", 3}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_tuning_row row = {.candidates = cases[i].candidates};
		const double ns = tk_tuning_read_time_ns(&row, cases[i].config);
		if (cases[i].ns > 0)
			assert_float_equal(ns, cases[i].ns, 0);
		else
			assert_true(isnan(ns));
	}
}

/* ---- rules ---- */

static void expect_rules(int (*find)(const struct tk_tuning_groups *, const struct tk_row_index *,
                                 struct tk_tune_rules *, struct tk_error *),
        struct tk_tuning_row *rows, size_t count, const char *expected)
{
	struct tk_tuning_groups groups = make(rows, count);
	struct tk_row_index index;
	struct tk_tune_rules rules;
	struct tk_error err;
	char text[200] = "";

	assert_int_equal(tk_row_index_build(&index, problems, sizeof problems / sizeof *problems,
	                         sizeof *problems, &err),
	        0);
	assert_int_equal(find(&groups, &index, &rules, &err), 0);
	if (rules.count)
		tk_tune_rule_format(&rules.at[0], text, sizeof text);
	assert_string_equal(text, expected);
	tk_tune_rules_free(&rules);
	tk_row_index_free(&index);
	tk_tuning_groups_free(&groups);
}

static int find_first(const struct tk_tuning_groups *groups, const struct tk_row_index *index,
        struct tk_tune_rules *out, struct tk_error *err)
{
	return tk_tuning_group_find_rules(&groups->at[0], index, out, err);
}

static int find_backends(const struct tk_tuning_groups *groups, const struct tk_row_index *index,
        struct tk_tune_rules *out, struct tk_error *err)
{
	return tk_tuning_groups_find_backend_rules(groups, &groups->at[0], index, out, err);
}

static void the_configuration_by_size(void **state)
{
	struct tk_tuning_row rows[] = {tuning("1", 1, "small"), tuning("2", 2, "small"),
	        tuning("3", 3, "large"), tuning("4", 4, "large")};

	(void)state;
	expect_rules(find_first, rows, 4, "small up to m = 32, large from m = 64");
	expect_rules(find_first, rows, 2, ""); /* two sizes are no sweep */
}

/* A result that did not decide, or that found no configuration, gives no rule. */
static void undecided_results_give_no_rule(void **state)
{
	struct tk_tuning_row rows[] = {tuning("1", 1, "small"), tuning("2", 2, "small"),
	        tuning("3", 3, "small"), tuning("4", 4, "large")};

	(void)state;
	rows[3].verdict = TK_TUNE_VERDICT_INCONCLUSIVE;
	expect_rules(find_first, rows, 4, "small from m = 16 to 64");
	rows[3] = tuning("4", 4, "");
	expect_rules(find_first, rows, 4, "small from m = 16 to 64");
	rows[3] = tuning("4", 77, "large"); /* of an unknown problem */
	expect_rules(find_first, rows, 4, "small from m = 16 to 64");
}

/* The backend whose configuration to use took the least time, of problems with several. */
static void the_backend_by_size(void **state)
{
	struct tk_tuning_row rows[8];
	static const char *const uids[] = {"1", "2", "3", "4", "5", "6", "7", "8"};

	(void)state;
	for (int i = 0; i < 8; i++) {
		rows[i] = tuning(uids[i], i % 4 + 1, "x");
		rows[i].backend = i < 4 ? "a" : "b";
		/* a is faster for the first two sizes */
		rows[i].candidates = (i < 4) == (i % 4 < 2)
		                             ? "[{\"config\":\"x\",\"median_ns\":5}]"
		                             : "[{\"config\":\"x\",\"median_ns\":6}]";
	}
	expect_rules(find_backends, rows, 8, "a up to m = 32, b from m = 64");
	expect_rules(find_backends, rows, 4, ""); /* one backend alone */
	rows[7].mode = "hot"; /* of another place: size 4 has one backend left */
	expect_rules(find_backends, rows, 8, "a up to m = 32, b from m = 64");
	rows[7].mode = "cold";
	rows[7].candidates = "[]"; /* its time is unknown */
	rows[6].candidates = "[]";
	expect_rules(find_backends, rows, 8, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_is_no_group),
	        cmocka_unit_test(a_group_has_one_row_of_each_problem),
	        cmocka_unit_test(what_sets_groups_apart),
	        cmocka_unit_test(the_newest_decided_result_counts),
	        cmocka_unit_test(equal_times_are_ordered_by_uid),
	        cmocka_unit_test(the_first_group_of_a_device_and_mode),
	        cmocka_unit_test(the_time_of_a_configuration),
	        cmocka_unit_test(the_configuration_by_size),
	        cmocka_unit_test(undecided_results_give_no_rule),
	        cmocka_unit_test(the_backend_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
