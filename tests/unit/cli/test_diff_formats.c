/* The formats of `tracker diff` for people: text, Markdown and GitHub. */
#include "diff_rig.h"

#include "config/config.h"

#define NB "\u00a0"

/* ---- text ---- */

static void the_table_lists_news(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "text");

	expect_contains(
	        text, "time: lower is better; CHANGE is after/before - 1 (A/B: by A/B runs)");
	expect_contains(text, "+ regressed    gemm    openblas rig/cpu 1.000 us +-1.0 %");
	expect_contains(text, "! newly-failed conv");
	expect_contains(text, "-20.0 % A/B");
	expect_contains(text, "aaaaaaaaaaaa..bbbbbbbbbbbb (3 commits)");
	expect_contains(text, "crashed: signal 11\n");
	expect_lacks(text, "fft");
	expect_lacks(text, "METRIC"); /* all rows have the same */
	expect_contains(text, "diff: 5 series on 1 machine: 1 regressed (worst +10.0 % openblas "
	                      "gemm rig), 1 improved, 1 same, 0 unsure, 1 newly-failed, 0 missing, "
	                      "0 acked, 1 environment; geomean ");
	expect_contains(text, "; window 1970-01-11..1970-01-18 vs 7-night median\n");
}

/* Nights and A/B runs have different levels: a step of A/B runs has no difference in time. */
static void the_difference_in_time_is_that_of_nights(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "text");

	expect_contains(text, "+100.0 ns");
	expect_lacks(text, "-400");
	f->rows[FASTER].ab.decision = TK_AB_NONE;
	text = diff_written(f, "text");
	expect_contains(text, "-400.0 ns");
	expect_lacks(text, " A/B");
}

static void one_sample_has_no_width(void **state)
{
	struct diff_rig *f = *state;

	f->report.count = 1;
	f->rows[SLOWER].samples_before = 1;
	const char *text = diff_written(f, "text");
	expect_contains(text, "rig/cpu 1.000 us 1.100 us +-1.0 %");
	expect_contains(text, " 1/3 ");
}

static void several_metrics_have_a_column(void **state)
{
	struct diff_rig *f = *state;

	strcpy(f->rows[FASTER].metric, "energy");
	f->rows[FASTER].lower_is_better = false;
	const char *text = diff_written(f, "text");
	expect_contains(text, "METRIC");
	expect_contains(text, "time: lower is better, energy: higher is better;");
}

/* Changes of a machine are one line; --only and --all list its series. */
static void series_that_moved_with_the_machine_are_folded(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "text");

	expect_contains(
	        text, "e environment: 1 series on rig/cpu changed with the machine (+5.0 %)");
	expect_lacks(text, "sort");
	set_row(&f->rows[SAME], "fft", TK_VERDICT_ENVIRONMENT, 3000, 0.08);
	diff_count(f);
	expect_contains(diff_written(f, "text"),
	        "e environment: 2 series on rig/cpu changed with the machine (+5.0 to +8.0 %); the "
	        "first: ");
	strcpy(f->rows[SAME].device, "cuda");
	text = diff_written(f, "text");
	expect_contains(text, "1 series on rig/cpu changed");
	expect_contains(text, "1 series on rig/cuda changed");
	f->view.explicit_statuses = true;
	memset(f->view.chosen, true, sizeof f->view.chosen);
	text = diff_written(f, "text");
	expect_contains(text, "sort");
	expect_lacks(text, "e environment: ");
}

static void groups_have_a_heading(void **state)
{
	struct diff_rig *f = *state;

	f->view.group = TK_DIFF_GROUP_KERNEL;
	strcpy(f->rows[FAILED].backend, "blis");
	const char *text = diff_written(f, "text");
	expect_contains(text, "blis gemm: 1 series\n");
	expect_contains(text, "openblas gemm: 3 series of 4, geomean ");
	f->view.group = TK_DIFF_GROUP_REVISION;
	text = diff_written(f, "text");
	expect_contains(text, "bbbbbbbbbbbbbbbb: 1 series, geomean +10.0 %\n");
	expect_contains(text, "no revision: 3 series of 4, geomean ");
}

static void what_is_left_out_is_counted(void **state)
{
	struct diff_rig *f = *state;

	f->view.limit = 1;
	const char *text = diff_written(f, "text");
	expect_contains(text, "gemm");
	expect_lacks(text, "conv");
	expect_contains(text, "... and 3 more (--limit=0 shows all)\n");
	f->view.limit = 4;
	expect_lacks(diff_written(f, "text"), "more (");
}

static void nothing_to_compare_is_explained(void **state)
{
	struct diff_rig *f = *state;

	f->report.count = 0;
	diff_count(f);
	assert_string_equal(diff_written(f, "text"),
	        "diff: nothing was compared: no series matches, or the history is empty; window "
	        "1970-01-11..1970-01-18 vs 7-night median\n");
	/* A status of --fail-on is news, also where nothing was compared. */
	f->view.fail_on[TK_VERDICT_MISSING] = true;
	f->report.by_status[TK_VERDICT_MISSING] = 1;
	expect_contains(diff_written(f, "text"), "diff: 0 series on 1 machine: 0 regressed, ");
}

/* ---- --explain ---- */

static void details_have_the_numbers(void **state)
{
	struct diff_rig *f = *state;

	f->view.explain = true;
	f->view.site_url = "https://example.org/perf";
	strcpy(f->rows[SLOWER].first_bad_commit, "cccccccccccccccc");
	strcpy(f->rows[SLOWER].first_bad_subject, "found");
	strcpy(f->rows[SLOWER].first_bad_author, "Ada");
	f->rows[SLOWER].first_bad_time_s = 86400;
	f->rows[SLOWER].first_bad_change = 0.095;
	f->rows[SLOWER].first_bad_confidence = 0.997;
	const char *text = diff_written(f, "text");
	expect_contains(text, "\n+ rig/cpu/openblas/gemm\n  regressed: worse by more than");
	expect_contains(text, "  change +10.00 % (95 % CI +9.00 to +11.00), threshold 2.00 %; p "
	                      "0.001, q 0.004 (FDR 0.05); machine code changed or unknown\n");
	expect_contains(text,
	        "  A/B runs: lower, -20.00 % (95 % CI -21.00 to -19.00), median of 16 "
	        "pairs\n");
	expect_contains(text, "  first bad bbbbbbbbbbbbbbbb unroll; last good aaaaaaaaaaaaaaaa\n");
	expect_contains(text, "  found by bisection: cccccccccccc found (Ada, 1970-01-02): +9.5 % "
	                      "against its parent, 99.7 % confidence\n");
	expect_contains(text, "  https://example.org/perf/series/");
	expect_contains(text, "\n  crashed: signal 11\n");
	f->rows[SLOWER].same_code = true;
	expect_contains(diff_written(f, "text"), "; machine code unchanged\n");
}

/* ---- --first-bad ---- */

static void each_range_has_one_hint(void **state)
{
	struct diff_rig *f = *state;
	static char db[] = "/tmp/t.db", root[] = "/tmp", program[] = "/bin/tracker";
	const struct tk_config config = {.db = db, .root = root};

	f->globals.program = program;
	f->view.first_bad_config = &config;
	set_slower(&f->rows[FAILED]);
	set_slower(&f->rows[FASTER]);
	strcpy(f->rows[FASTER].bad_rev, "dddddddddddddddd");
	f->rows[FASTER].commits_between = 1;
	strcpy(f->rows[FASTER].bad_subject, "the only one");
	diff_count(f);
	const char *text = diff_written(f, "text");
	expect_contains(text, "\nblas aaaaaaaaaaaa..bbbbbbbbbbbb: 2 series\n");
	expect_contains(
	        text, "\nblas aaaaaaaaaaaa..dddddddddddd: 1 series, only commit: the only one\n");
	assert_int_equal(count_of(text, "git bisect start"), 2);
	strcpy(f->rows[SLOWER].first_bad_commit, "cccccccccccccccc");
	strcpy(f->rows[SLOWER].first_bad_subject, "found");
	expect_contains(
	        diff_written(f, "text"), ": 2 series, first bad commit cccccccccccc found\n");
}

/* Only what got worse between two different revisions can be bisected. */
static void other_rows_have_no_hint(void **state)
{
	struct diff_rig *f = *state;
	const struct tk_config config = {0};

	f->view.first_bad_config = &config;
	f->rows[SLOWER].verdict.status = TK_VERDICT_UNSURE;
	expect_lacks(diff_written(f, "text"), "git bisect");
	f->rows[SLOWER].verdict.status = TK_VERDICT_REGRESSED;
	strcpy(f->rows[SLOWER].good_rev, f->rows[SLOWER].bad_rev);
	expect_lacks(diff_written(f, "text"), "git bisect");
	f->rows[SLOWER].good_rev[0] = '\0';
	expect_lacks(diff_written(f, "text"), "git bisect");
}

/* ---- Markdown ---- */

static void the_comment_starts_with_its_news(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "md");

	assert_ptr_equal(
	        strstr(text, "<!-- tracker-diff -->\n### 1 regressed, 1 newly failed\n"), text);
	f->report.by_status[TK_VERDICT_REGRESSED] = f->report.by_status[TK_VERDICT_NEWLY_FAILED] =
	        0;
	expect_contains(diff_written(f, "md"), "### No regression\n");
	f->report.compared = 0;
	expect_contains(diff_written(f, "md"), "### Nothing was compared\n");
	expect_contains(capture_text(&f->capture), "diff: nothing was compared: none of 5 series");
}

/* Regressions and statuses of --fail-on come first, the rest is behind a fold. */
static void the_rest_of_the_comment_is_folded(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "md");
	const char *fold = strstr(text, "<details><summary>3 more series</summary>");

	assert_non_null(fold);
	assert_true(strstr(text, "| gemm |") < fold);
	assert_true(strstr(text, "| conv |") > fold);
	f->view.fail_on[TK_VERDICT_NEWLY_FAILED] = true;
	text = diff_written(f, "md");
	fold = strstr(text, "<details><summary>2 more series</summary>");
	assert_non_null(fold);
	assert_true(strstr(text, "| conv |") < fold);
}

static void a_row_of_the_comment(void **state)
{
	struct diff_rig *f = *state;

	f->view.site_url = "https://example.org/";
	const char *text = diff_written(f, "md");
	expect_contains(text, "| regressed | [gemm](<https://example.org/series/rig");
	expect_contains(text, " | openblas | rig | 1.000" NB "µs | 1.100" NB "µs | +10.0" NB "% | "
	                      "aaaaaaaaaaaa..bbbbbbbbbbbb (3 commits) unroll |  |\n");
	expect_contains(text, " | –"
	                      " | –"
	                      " | –"
	                      " |  | crashed: signal 11 |\n");
	expect_contains(text, " | −20.0" NB "% (A/B confirmed) | ");
	f->view.explicit_statuses = true;
	f->view.chosen[TK_VERDICT_SAME] = true;
	expect_contains(diff_written(f, "md"), "| &#126; same | ");
}

static void a_long_comment_is_cut_between_rows(void **state)
{
	enum { MANY = 400 };
	struct diff_rig *f = *state;
	struct tk_diff_row *rows = calloc(MANY, sizeof *rows);

	assert_non_null(rows);
	for (int i = 0; i < MANY; i++) {
		set_slower(&rows[i]);
		memset(rows[i].bad_subject, 's', 200);
	}
	f->report.rows = rows;
	f->report.count = MANY;
	diff_count(f);
	const char *text = diff_written(f, "md");
	const char *more = strstr(text, "\n... and ");
	assert_non_null(more);
	assert_true(strlen(text) < 65536);
	assert_true(strlen(text) > 55000);
	assert_int_equal(count_of(text, "| regressed |") + strtoul(more + 9, NULL, 10), MANY);
	f->view.limit = 10; /* those that the limit leaves out count too */
	expect_contains(diff_written(f, "md"), "\n... and 390 more\n");
	free(rows);
}

/* ---- GitHub ---- */

static void each_kind_of_change_is_a_command(void **state)
{
	struct diff_rig *f = *state;

	job_files_unset();
	const char *text = diff_written(f, "github");
	expect_contains(text,
	        "::error title=1 regressed%3A openblas on rig::gemm +10.0 %25; first bad "
	        "aaaaaaaaaaaa..bbbbbbbbbbbb (3 commits) unroll\n");
	expect_contains(text, "::warning title=1 newly-failed%3A openblas on rig::conv; crashed: "
	                      "signal 11\n");
	expect_contains(text, "::notice title=1 improved%3A openblas on rig::axpy -20.0 %25 (A/B "
	                      "confirmed)\n");
	expect_contains(text, "::warning title=1 environment");
	expect_lacks(text, "fft");
	expect_lacks(text, "more kinds of change");
}

/* Rows with one cause are one command that names three of them. */
static void a_family_is_one_command(void **state)
{
	struct diff_rig *f = *state;

	job_files_unset();
	f->rows[FASTER].ab.decision = TK_AB_NONE;
	for (int i = 0; i < ROWS; i++)
		set_slower(&f->rows[i]);
	diff_count(f);
	const char *text = diff_written(f, "github");
	assert_int_equal(count_of(text, "::error"), 1);
	expect_contains(text, "::error title=5 regressed%3A openblas on rig::gemm +10.0 %25, gemm "
	                      "+10.0 %25, gemm +10.0 %25 and 2 more; first bad ");
	strcpy(f->rows[1].backend, "blis");
	strcpy(f->rows[2].machine, "other");
	strcpy(f->rows[3].bad_rev, "dddd");
	strcpy(f->rows[4].first_bad_commit, "eeee");
	assert_int_equal(count_of(diff_written(f, "github"), "::error title=1 regressed"), 5);
}

static void ten_families_of_each_level(void **state)
{
	enum { MANY = 24 };
	struct diff_rig *f = *state;
	struct tk_diff_row *rows = calloc(MANY, sizeof *rows);

	job_files_unset();
	assert_non_null(rows);
	for (int i = 0; i < MANY; i++) {
		set_slower(&rows[i]);
		snprintf(rows[i].bad_rev, sizeof rows[i].bad_rev, "rev%d", i);
		if (i >= 12)
			rows[i].verdict.status = TK_VERDICT_IMPROVED;
	}
	f->report.rows = rows;
	f->report.count = MANY;
	diff_count(f);
	const char *text = diff_written(f, "github");
	assert_int_equal(count_of(text, "::error "), 10);
	assert_int_equal(count_of(text, "::notice "), 10);
	expect_contains(text, "... and 4 more kinds of change: see the summary\n");
	free(rows);
}

static void nothing_compared_is_an_error(void **state)
{
	struct diff_rig *f = *state;

	job_files_unset();
	f->report.count = 0;
	diff_count(f);
	const char *text = diff_written(f, "github");
	assert_ptr_equal(strstr(text, "::error title=tracker::diff: nothing was compared"), text);
	assert_int_equal(count_of(text, "nothing was compared"), 2);
}

static void the_job_gets_summary_and_counts(void **state)
{
	struct diff_rig *f = *state;
	struct job_files files;

	job_files_open(&files);
	diff_written(f, "github");
	f->view.fail_on[TK_VERDICT_REGRESSED] = false;
	diff_written(f, "github"); /* appended */
	char *text = read_whole_file(files.summary);
	assert_int_equal(count_of(text, "### 1 regressed"), 2);
	free(text);
	text = read_whole_file(files.outputs);
	expect_contains(text, "regressed=1\nnewly-failed=1\n");
	expect_contains(text, "series=5\ncompared=4\nfound=true\n");
	expect_contains(text, "found=false\n");
	free(text);
	job_files_close(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        DIFF_TEST(the_table_lists_news),
	        DIFF_TEST(the_difference_in_time_is_that_of_nights),
	        DIFF_TEST(one_sample_has_no_width),
	        DIFF_TEST(several_metrics_have_a_column),
	        DIFF_TEST(series_that_moved_with_the_machine_are_folded),
	        DIFF_TEST(groups_have_a_heading),
	        DIFF_TEST(what_is_left_out_is_counted),
	        DIFF_TEST(nothing_to_compare_is_explained),
	        DIFF_TEST(details_have_the_numbers),
	        DIFF_TEST(each_range_has_one_hint),
	        DIFF_TEST(other_rows_have_no_hint),
	        DIFF_TEST(the_comment_starts_with_its_news),
	        DIFF_TEST(the_rest_of_the_comment_is_folded),
	        DIFF_TEST(a_row_of_the_comment),
	        DIFF_TEST(a_long_comment_is_cut_between_rows),
	        DIFF_TEST(each_kind_of_change_is_a_command),
	        DIFF_TEST(a_family_is_one_command),
	        DIFF_TEST(ten_families_of_each_level),
	        DIFF_TEST(nothing_compared_is_an_error),
	        DIFF_TEST(the_job_gets_summary_and_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
