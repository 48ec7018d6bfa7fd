/* The formats of `tracker ab`: one report, written in each of them. */
#include "capture.h"

#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "cli/ab/format.h"
#include "cli/globals.h"

/* A slower problem, one with the same speed, a newly failed and an unsupported one. */
struct fixture {
	struct tk_globals globals;
	struct tk_ab_row rows[4];
	struct tk_ab_report report;
	struct capture capture;
};

static struct tk_ab_row row(const char *title, enum tk_ab_verdict verdict, double change)
{
	struct tk_ab_row r = {.verdict = verdict,
	        .backend = "openblas",
	        .device = "cpu",
	        .mode = "hot",
	        .result = {.change = change,
	                .lo = change - 0.001,
	                .hi = change + 0.001,
	                .count = 16},
	        .level_ns = {1000, 1000 * (1 + change)},
	        .wall_s = 2.5};

	snprintf(r.problem, sizeof r.problem, "%s m=64", title);
	snprintf(r.title, sizeof r.title, "%s", title);
	if (isnan(change)) {
		r.level_ns[0] = r.level_ns[1] = NAN;
		r.result.count = 0;
	}
	return r;
}

static void count_verdicts(struct tk_ab_report *r)
{
	memset(r->by_verdict, 0, sizeof r->by_verdict);
	for (size_t i = 0; i < r->count; i++)
		r->by_verdict[r->rows[i].verdict]++;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	f->globals.no_color = true;
	f->rows[0] = row("gemm", TK_AB_VERDICT_SLOWER, 0.031);
	f->rows[1] = row("axpy", TK_AB_VERDICT_SAME, 0);
	f->rows[2] = row("conv", TK_AB_VERDICT_NEWLY_FAILED, NAN);
	f->rows[2].outcome[TK_AB_HEAD] = TK_OUTCOME_CRASHED;
	strcpy(f->rows[2].message, "head: killed by signal 11");
	f->rows[3] = row("fft", TK_AB_VERDICT_UNSUPPORTED, NAN);
	f->rows[3].outcome[0] = f->rows[3].outcome[1] = TK_OUTCOME_UNSUPPORTED;
	f->report = (struct tk_ab_report){.upstream = "blas",
	        .machine = "rig",
	        .side = {{.name = "base", .spec = "main", .toolchain = "gcc 14"},
	                {.name = "head", .spec = "worktree", .is_worktree = true}},
	        .rows = f->rows,
	        .count = 4,
	        .pairs = 60,
	        .wall_s = 31,
	        .min_effect = 0.01};
	strcpy(f->report.side[0].revision.id, "0123456789abcdef");
	strcpy(f->report.side[0].revision.subject, "add a check");
	count_verdicts(&f->report);
	capture_open(&f->capture);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	capture_free(&f->capture);
	free(f);
	return 0;
}

static const char *written(struct fixture *f, const char *format)
{
	struct tk_error err = {0};

	assert_int_equal(
	        tk_ab_format_find(format)->write(&f->globals, &f->report, f->capture.out, &err),
	        TK_OK);
	return capture_text(&f->capture);
}

/* ---- phrases ---- */

static void formats_have_names(void **state)
{
	assert_ptr_equal(tk_ab_format_find("md")->write, tk_ab_format_find("markdown")->write);
	assert_ptr_equal(tk_ab_format_find("json")->write, tk_ab_write_json);
	assert_null(tk_ab_format_find("yaml"));
	assert_null(tk_ab_format_find(""));
}

static void a_change_has_its_interval(void **state)
{
	struct fixture *f = *state;
	char text[TK_AB_TEXT_SIZE];

	assert_string_equal(
	        tk_ab_format_change(&f->rows[0], text), "+3.1\u00a0% (+3.0 to +3.2\u00a0%)");
	strcpy(text, "left over");
	assert_string_equal(tk_ab_format_change(&f->rows[2], text), "");
	f->rows[0].result.change = 2;
	f->rows[0].result.lo = 1.8;
	f->rows[0].result.hi = 2.2;
	assert_string_equal(tk_ab_format_change(&f->rows[0], text), "3.0× (2.8× to 3.2×)");
}

/* A revision by 12 digits and its subject; a changed work tree by the revision under it. */
static void a_side_is_what_was_asked_and_found(void **state)
{
	struct fixture *f = *state;
	struct tk_ab_side_report *s = &f->report.side[0];
	char text[TK_AB_SIDE_TEXT_SIZE];

	assert_string_equal(tk_ab_format_side(s, text), "main (0123456789ab add a check)");
	s->revision.dirty = true;
	strcpy(s->revision.parent, "fedcba9876543210");
	strcpy(s->revision.subject, "2 changed files");
	assert_string_equal(tk_ab_format_side(s, text), "main (fedcba987654 with 2 changed files)");
	s->revision.id[0] = '\0';
	assert_string_equal(tk_ab_format_side(s, text), "main");
}

static void the_summary_counts_what_there_is(void **state)
{
	struct fixture *f = *state;
	char text[TK_AB_SUMMARY_SIZE];

	assert_string_equal(tk_ab_summarize(&f->report, text),
	        "1 newly-failed, 1 slower, 1 same, 1 unsupported; 60 A/B pairs in 31 s");
	f->report.count = 0;
	f->report.pairs = 1;
	f->report.budget_spent = true;
	count_verdicts(&f->report);
	/* How many are slower is the question, so 0 is an answer. */
	assert_string_equal(tk_ab_summarize(&f->report, text),
	        "0 slower; 1 A/B pair in 31 s; the budget was spent");
	f->report.pairs = 0;
	f->report.budget_spent = false;
	assert_string_equal(tk_ab_summarize(&f->report, text), "0 slower; 0 A/B pairs");
}

static void columns_show_only_what_differs(void **state)
{
	struct fixture *f = *state;

	assert_false(tk_ab_has_several_backends(&f->report));
	assert_false(tk_ab_has_several_devices(&f->report));
	strcpy(f->rows[3].backend, "blis");
	assert_true(tk_ab_has_several_backends(&f->report));
	assert_false(tk_ab_has_several_devices(&f->report));
	strcpy(f->rows[1].device, "cuda");
	assert_true(tk_ab_has_several_devices(&f->report));
	f->report.count = 1;
	assert_false(tk_ab_has_several_backends(&f->report));
	f->report.count = 0;
	assert_false(tk_ab_has_several_devices(&f->report));
}

/* ---- text ---- */

static void the_table_lists_what_was_compared(void **state)
{
	struct fixture *f = *state;
	const char *text = written(f, "text");

	expect_contains(text, "base: main (0123456789ab add a check)\nhead: worktree\n");
	expect_contains(text, "PROBLEM");
	expect_contains(text, "gemm");
	expect_contains(text, "+3.1 % (+3.0 to +3.2 %)");
	expect_contains(text, "newly-failed head: killed by signal 11");
	expect_lacks(text, "fft"); /* unsupported: only counted */
	expect_lacks(text, "BACKEND");
	expect_lacks(text, "DEVICE");
	expect_contains(text, "1 unsupported; 60 A/B pairs in 31 s\n");
	expect_lacks(text, "same machine code");
}

static void the_table_names_backends_and_devices_that_differ(void **state)
{
	struct fixture *f = *state;

	strcpy(f->rows[1].backend, "blis");
	strcpy(f->rows[1].device, "cuda:1");
	const char *text = written(f, "text");
	expect_contains(text, "BACKEND");
	expect_contains(text, "blis");
	expect_contains(text, "cuda:1");
}

static void equal_machine_code_is_said_once(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 4; i++)
		f->rows[i].verdict = TK_AB_VERDICT_SAME_CODE;
	count_verdicts(&f->report);
	const char *text = written(f, "text");
	expect_contains(text, "nothing was measured (--all measures it)\n");
	expect_lacks(text, "gemm");
	assert_int_equal(count_of(text, "\n"), 4);
}

/* A subject comes from an upstream: it must not steer the terminal. */
static void subjects_do_not_steer_the_terminal(void **state)
{
	struct fixture *f = *state;

	strcpy(f->report.side[0].revision.subject, "\033[2Jgone");
	strcpy(f->rows[2].message, "a\033[31mb");
	expect_lacks(written(f, "text"), "\033");
}

/* ---- csv ---- */

static void csv_has_raw_numbers(void **state)
{
	struct fixture *f = *state;

	f->report.count = 3;
	strcpy(f->rows[2].message, "said \"no\", twice");
	assert_string_equal(written(f, "csv"),
	        "verdict,problem,backend,device,mode,base_ns,head_ns,change,change_lo,change_hi,"
	        "pairs,base_outcome,head_outcome,message\r\n"
	        "slower,\"gemm m=64\",\"openblas\",\"cpu\",\"hot\",1000,1031,0.031,0.03,"
	        "0.032,16,ok,ok,\"\"\r\n"
	        "same,\"axpy m=64\",\"openblas\",\"cpu\",\"hot\",1000,1000,0,-0.001,0.001,"
	        "16,ok,ok,\"\"\r\n"
	        "newly-failed,\"conv m=64\",\"openblas\",\"cpu\",\"hot\",,,,,,0,ok,crashed,"
	        "\"said \"\"no\"\", twice\"\r\n");
}

static void a_formula_in_csv_is_text(void **state)
{
	struct fixture *f = *state;

	f->report.count = 1;
	strcpy(f->rows[0].message, "=1+1");
	expect_contains(written(f, "csv"), ",\"'=1+1\"\r\n");
}

/* ---- json ---- */

static void json_has_everything(void **state)
{
	struct fixture *f = *state;

	f->report.rows[0].result.failed = 2;
	json_t *o = json_loads(written(f, "json"), 0, NULL), *r, *change;

	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "tracker-ab/1");
	assert_true(json_is_null(json_object_get(o, "budget_s"))); /* without a limit */
	assert_true(json_is_false(json_object_get(o, "budget_spent")));
	assert_int_equal(json_integer_value(json_object_get(o, "pairs")), 60);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 4);
	r = json_array_get(json_object_get(o, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(r, "verdict")), "slower");
	assert_int_equal(json_integer_value(json_object_get(r, "failed_pairs")), 2);
	change = json_object_get(r, "change");
	assert_float_equal(json_real_value(json_object_get(change, "value")), 0.031, 0);
	assert_float_equal(json_real_value(json_object_get(change, "hi")), 0.032, 0);
	r = json_array_get(json_object_get(o, "rows"), 2);
	assert_true(json_is_null(json_object_get(r, "change")));
	assert_true(json_is_null(json_object_get(json_object_get(r, "head"), "value")));
	assert_string_equal(
	        json_string_value(json_object_get(json_object_get(r, "head"), "outcome")),
	        "crashed");
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(o, "counts"), "newly-failed")),
	        1);
	r = json_object_get(o, "head");
	assert_true(json_is_true(json_object_get(r, "worktree")));
	assert_true(json_is_false(json_object_get(r, "dirty")));
	assert_string_equal(json_string_value(json_object_get(r, "spec")), "worktree");
	json_decref(o);
}

static void json_has_the_limit(void **state)
{
	struct fixture *f = *state;

	f->report.budget_s = 300;
	json_t *o = json_loads(written(f, "json"), 0, NULL);
	assert_float_equal(json_number_value(json_object_get(o, "budget_s")), 300, 0);
	json_decref(o);
}

/* ---- Markdown ---- */

/* The most severe news is the headline. */
static void the_headline_is_the_news(void **state)
{
	static const struct {
		size_t slower, failed, open;
		const char *headline;
	} cases[] = {
	        {2, 1, 5, "### 2 slower, 1 newly failed\n"},
	        {0, 3, 0, "### 0 slower, 3 newly failed\n"},
	        {1, 0, 0, "### 1 slower, 0 newly failed\n"},
	        {0, 0, 4, "### No slow-down found, 4 inconclusive\n"},
	        {0, 0, 0, "### No slow-down\n"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		f->report.by_verdict[TK_AB_VERDICT_SLOWER] = cases[i].slower;
		f->report.by_verdict[TK_AB_VERDICT_NEWLY_FAILED] = cases[i].failed;
		f->report.by_verdict[TK_AB_VERDICT_INCONCLUSIVE] = cases[i].open;
		capture_free(&f->capture);
		capture_open(&f->capture);
		expect_contains(written(f, "md"), cases[i].headline);
	}
}

static void markdown_is_one_table(void **state)
{
	struct fixture *f = *state;

	strcpy(f->rows[2].message, "a|b");
	const char *text = written(f, "md");
	assert_ptr_equal(strstr(text, "<!-- tracker-ab -->\n"), text);
	expect_contains(text, "base: main (0123456789ab add a check)  \n");
	expect_contains(text, "| gemm | openblas | 1.000\u00a0µs | 1.031\u00a0µs | "
	                      "+3.1\u00a0% (+3.0 to +3.2\u00a0%) | slower |\n");
	expect_contains(text, "| conv | openblas | – | – | – | newly-failed: a\\|b |\n");
	expect_lacks(text, "| fft");
	assert_int_equal(count_of(text, "| problem | backend |"), 1);
}

static void without_rows_there_is_no_table(void **state)
{
	struct fixture *f = *state;

	f->report.count = 0;
	expect_lacks(written(f, "md"), "|");
}

/* GitHub refuses comments that are too long: the rest of the rows is counted. */
static void a_long_comment_is_cut_between_rows(void **state)
{
	enum { ROWS = 600 };
	struct fixture *f = *state;

	f->report.rows = calloc(ROWS, sizeof *f->report.rows);
	assert_non_null(f->report.rows);
	for (int i = 0; i < ROWS; i++) {
		f->report.rows[i] = row("p", TK_AB_VERDICT_NEWLY_FAILED, NAN);
		memset(f->report.rows[i].message, 'm', 200);
	}
	f->report.count = ROWS;
	const char *text = written(f, "md");
	const char *more = strstr(text, "\n... and ");
	assert_non_null(more);
	assert_true(strlen(text) < 65536);
	assert_int_equal(count_of(text, "| p | ") + strtoul(more + 9, NULL, 10), ROWS);
	free(f->report.rows);
}

/* ---- GitHub ---- */

static void each_news_is_a_workflow_command(void **state)
{
	struct fixture *f = *state;

	job_files_unset();
	strcpy(f->rows[2].message, "50 % lost\nat once");
	const char *text = written(f, "github");
	expect_contains(text, "::error title=slower%3A openblas on cpu::gemm +3.1\u00a0%25 (");
	expect_contains(
	        text, "::error title=newly-failed%3A openblas on cpu::conv; 50 %25 lost%0Aat");
	expect_lacks(text, "axpy");
	assert_int_equal(count_of(text, "\n"), 3);
}

static void levels_follow_the_verdict(void **state)
{
	static const struct {
		enum tk_ab_verdict verdict;
		const char *level;
	} cases[] = {
	        {TK_AB_VERDICT_NEWLY_FAILED, "::error "},
	        {TK_AB_VERDICT_SLOWER, "::error "},
	        {TK_AB_VERDICT_INCONCLUSIVE, "::warning "},
	        {TK_AB_VERDICT_FAILING, "::warning "},
	        {TK_AB_VERDICT_FASTER, "::notice "},
	        {TK_AB_VERDICT_FIXED, "::notice "},
	        {TK_AB_VERDICT_SAME, NULL},
	        {TK_AB_VERDICT_SAME_CODE, NULL},
	        {TK_AB_VERDICT_UNSUPPORTED, NULL},
	};
	struct fixture *f = *state;

	job_files_unset();
	f->report.count = 1;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		f->rows[0].verdict = cases[i].verdict;
		capture_free(&f->capture);
		capture_open(&f->capture);
		const char *text = written(f, "github");
		if (cases[i].level)
			assert_ptr_equal(strstr(text, cases[i].level), text);
		else
			expect_lacks(text, "::");
	}
}

/* GitHub shows ten of each: further ones are counted. */
static void ten_commands_of_each_verdict(void **state)
{
	enum { ROWS = 23 };
	struct fixture *f = *state;
	struct tk_ab_row rows[ROWS];

	job_files_unset();
	for (int i = 0; i < ROWS; i++)
		rows[i] = row("p", i < 12 ? TK_AB_VERDICT_SLOWER : TK_AB_VERDICT_FASTER, 0.1);
	f->report.rows = rows;
	f->report.count = ROWS;
	const char *text = written(f, "github");
	assert_int_equal(count_of(text, "::error "), 10);
	assert_int_equal(count_of(text, "::notice "), 10);
	expect_contains(text, "\n... and 3 more: see the summary\n");
}

static void the_job_gets_summary_and_counts(void **state)
{
	struct fixture *f = *state;
	struct job_files files;

	job_files_open(&files);
	written(f, "github");
	char *text = read_whole_file(files.summary);
	expect_contains(text, "### 1 slower, 1 newly failed");
	free(text);
	text = read_whole_file(files.outputs);
	expect_contains(text, "slower=1\n");
	expect_contains(text, "faster=0\n");
	assert_int_equal(count_of(text, "\n"), TK_AB_VERDICT_COUNT);
	free(text);
	job_files_close(&files);
}

static void a_summary_that_cannot_be_written_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct tk_error err = {0};

	job_files_unset();
	setenv("GITHUB_STEP_SUMMARY", "/nonexistent/summary", 1);
	assert_int_equal(
	        tk_ab_write_github(&f->globals, &f->report, f->capture.out, &err), TK_ENOTFOUND);
	expect_contains(err.message, "$GITHUB_STEP_SUMMARY: /nonexistent/summary");
	job_files_unset();
}

/* ---- a full disk ---- */

static void formats_report_a_full_disk(void **state)
{
	static const char *const names[] = {"csv", "json", "md"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tk_error err = {0};
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		setvbuf(full, NULL, _IONBF, 0);
		assert_int_equal(
		        tk_ab_format_find(names[i])->write(&f->globals, &f->report, full, &err),
		        TK_ENOSPC);
		expect_contains(err.message, "No space left");
		fclose(full);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(formats_have_names),
	        TEST(a_change_has_its_interval),
	        TEST(a_side_is_what_was_asked_and_found),
	        TEST(the_summary_counts_what_there_is),
	        TEST(columns_show_only_what_differs),
	        TEST(the_table_lists_what_was_compared),
	        TEST(the_table_names_backends_and_devices_that_differ),
	        TEST(equal_machine_code_is_said_once),
	        TEST(subjects_do_not_steer_the_terminal),
	        TEST(csv_has_raw_numbers),
	        TEST(a_formula_in_csv_is_text),
	        TEST(json_has_everything),
	        TEST(json_has_the_limit),
	        TEST(the_headline_is_the_news),
	        TEST(markdown_is_one_table),
	        TEST(without_rows_there_is_no_table),
	        TEST(a_long_comment_is_cut_between_rows),
	        TEST(each_news_is_a_workflow_command),
	        TEST(levels_follow_the_verdict),
	        TEST(ten_commands_of_each_verdict),
	        TEST(the_job_gets_summary_and_counts),
	        TEST(a_summary_that_cannot_be_written_is_an_error),
	        TEST(formats_report_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
