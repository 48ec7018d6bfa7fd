/* The phrases that the formats of `tracker diff` share. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/diff/view.h"

static void commits_are_a_range_or_the_one_that_was_found(void **state)
{
	struct tk_diff_row row = {.commits_between = 3};
	char text[320];

	assert_string_equal(tk_diff_describe_commits(&row, text, sizeof text), "");
	strcpy(row.bad_rev, "bbbbbbbbbbbbbb");
	row.commits_between = -1;
	assert_string_equal(tk_diff_describe_commits(&row, text, sizeof text), "bbbbbbbbbbbb");
	strcpy(row.good_rev, "aaaaaaaaaaaaaa");
	row.commits_between = 1;
	assert_string_equal(tk_diff_describe_commits(&row, text, sizeof text),
	        "aaaaaaaaaaaa..bbbbbbbbbbbb (1 commit)");
	strcpy(row.first_bad_commit, "cccccccccccccc");
	strcpy(row.first_bad_subject, "found");
	strcpy(row.bad_subject, "measured");
	row.commits_between = 3;
	assert_string_equal(tk_diff_describe_commits(&row, text, sizeof text),
	        "cccccccccccc, of aaaaaaaaaaaa..bbbbbbbbbbbb (3 commits)");
	assert_string_equal(tk_diff_first_bad_subject(&row), "found");
}

static void backends_show_their_upstream_only_if_it_tells_them_apart(void **state)
{
	struct tk_diff_row rows[2] = {0};
	const struct tk_diff_report report = {.rows = rows, .count = 2};
	struct tk_diff_view v = {.report = &report};
	char text[200];

	strcpy(rows[0].backend, "openblas");
	strcpy(rows[0].upstream, "system");
	strcpy(rows[1].backend, "openblas");
	strcpy(rows[1].upstream, "system");
	strcpy(rows[1].mode, "hot");
	assert_int_equal(tk_diff_view_init(&v, true, NULL), 0);
	assert_string_equal(
	        tk_diff_describe_backend(&v, &rows[1], text, sizeof text), "openblas, hot");
	tk_diff_view_free(&v);
	strcpy(rows[1].upstream, "git");
	assert_int_equal(tk_diff_view_init(&v, true, NULL), 0);
	assert_string_equal(
	        tk_diff_describe_backend(&v, &rows[0], text, sizeof text), "openblas (system)");
	tk_diff_view_free(&v);
}

static void an_empty_report_says_why(void **state)
{
	struct tk_diff_report report = {.until_s = INT64_MAX};
	char text[1024];

	tk_diff_explain_empty(&report, text, sizeof text);
	assert_non_null(strstr(text, "nothing was compared: no series matches"));
	report.count = 2;
	report.by_status[TK_VERDICT_NEW] = 2;
	tk_diff_explain_empty(&report, text, sizeof text);
	assert_non_null(strstr(text, "none of 2 series"));
	assert_non_null(strstr(text, "(2 new); new series can be compared"));
}

static void formats_are_found_by_name(void **state)
{
	assert_non_null(tk_diff_format_find("sarif"));
	assert_null(tk_diff_format_find("yaml"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(commits_are_a_range_or_the_one_that_was_found),
	        cmocka_unit_test(backends_show_their_upstream_only_if_it_tells_them_apart),
	        cmocka_unit_test(an_empty_report_says_why),
	        cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
