/* `tracker ab`: what is compared where, how the time is shared, and what is concluded. */
#include "compare_rig.h"

static int compare(struct rig *r, struct tk_error *err)
{
	tk_ab_report_free(&r->report);
	memset(world.pairs, 0, sizeof world.pairs);
	world.checks = world.order_count = 0;
	return tk_ab_compare(&r->config, &r->options, &r->request, &r->report, err);
}

static void expect_failure(struct rig *r, int status, const char *message)
{
	struct tk_error err = {0};

	assert_int_equal(compare(r, &err), status);
	if (!strstr(err.message, message))
		fail_msg("%s", err.message);
}

/* "m verdict;" for each row. */
static void expect_rows(const struct rig *r, const char *expected)
{
	char text[400] = "";

	for (size_t i = 0; i < r->report.count; i++)
		sprintf(text + strlen(text), "%d %s;",
		        problem_number(r->report.rows[i].problem) + 1,
		        tk_ab_verdict_name(r->report.rows[i].verdict));
	assert_string_equal(text, expected);
}

/* ---- verdicts ---- */

/* The most severe first, of equal ones the largest change. */
static void rows_come_by_severity(void **state)
{
	struct rig *r = *state;

	request_problems(r, 9);
	world.problems[0].ns[TK_AB_HEAD] = 1100;
	world.problems[1].ns[TK_AB_HEAD] = 900;
	world.problems[3].ns[TK_AB_HEAD] = 1300;
	world.problems[4].outcome[TK_AB_HEAD] = TK_OUTCOME_WRONG;
	world.problems[5].outcome[TK_AB_BASE] = TK_OUTCOME_CRASHED;
	world.problems[6].outcome[0] = world.problems[6].outcome[1] = TK_OUTCOME_OUT_OF_MEMORY;
	world.problems[7].outcome[0] = world.problems[7].outcome[1] = TK_OUTCOME_UNSUPPORTED;
	world.problems[8].ns[TK_AB_HEAD] = 800;
	MUST(compare(r, &err));
	expect_rows(r,
	        "5 newly-failed;4 slower;1 slower;7 failing;9 faster;2 faster;6 fixed;3 same;"
	        "8 unsupported;");
	assert_int_equal(r->report.by_verdict[TK_AB_VERDICT_SLOWER], 2);
	assert_int_equal(r->report.by_verdict[TK_AB_VERDICT_SAME], 1);
	assert_false(r->report.budget_spent);
	const struct tk_ab_row *row = &r->report.rows[0];
	assert_string_equal(row->message, "head: wrong: as the test says");
	assert_int_equal(row->outcome[TK_AB_BASE], TK_OUTCOME_OK);
	assert_true(isnan(row->level_ns[TK_AB_HEAD]));
	row = &r->report.rows[1];
	assert_float_equal(row->result.change, 0.3, 0.01);
	assert_float_equal(row->level_ns[TK_AB_BASE], 1000, 5);
	assert_float_equal(row->level_ns[TK_AB_HEAD], 1300, 6);
	assert_string_equal(row->backend, "blas");
	assert_string_equal(row->device, "cpu");
	assert_int_equal(world.pairs[4] + world.pairs[5] + world.pairs[6] + world.pairs[7], 0);
}

static void one_side_that_does_not_do_it_is_a_failure(void **state)
{
	struct rig *r = *state;

	request_problems(r, 2);
	world.problems[0].outcome[TK_AB_BASE] = TK_OUTCOME_UNSUPPORTED;
	world.problems[1].outcome[TK_AB_HEAD] = TK_OUTCOME_UNSUPPORTED;
	MUST(compare(r, &err));
	expect_rows(r, "2 newly-failed;1 fixed;");
}

/* The side without timings is to blame. */
static void pairs_that_fail_in_a_row_decide(void **state)
{
	struct rig *r = *state;

	request_problems(r, 3);
	world.problems[0].ns[TK_AB_BASE] = NAN;
	world.problems[1].ns[TK_AB_HEAD] = NAN;
	world.problems[2].ns[0] = world.problems[2].ns[1] = NAN;
	MUST(compare(r, &err));
	expect_rows(r, "2 newly-failed;3 failing;1 fixed;");
	assert_string_equal(r->report.rows[0].message, "head: 4 A/B runs in a row failed");
	assert_string_equal(r->report.rows[1].message, "both: 4 A/B runs in a row failed");
	assert_string_equal(r->report.rows[2].message, "base: 4 A/B runs in a row failed");
	assert_int_equal(r->report.pairs, 3 * TK_AB_FAILURES_MAX);
}

static void the_threshold_is_requested_or_configured(void **state)
{
	struct rig *r = *state;

	request_problems(r, 1);
	world.problems[0].ns[TK_AB_HEAD] = 1030;
	MUST(compare(r, &err));
	expect_rows(r, "1 slower;");
	assert_float_equal(r->report.min_effect, 0.01, 1e-6);
	r->request.min_effect = 0.1;
	MUST(compare(r, &err));
	expect_rows(r, "1 same;");
	assert_float_equal(r->report.min_effect, 0.1, 1e-6);
}

static void equal_code_is_not_measured(void **state)
{
	struct rig *r = *state;

	request_problems(r, 2);
	world.hash[TK_AB_HEAD] = world.hash[TK_AB_BASE];
	MUST(compare(r, &err));
	expect_rows(r, "1 same-code;2 same-code;");
	assert_int_equal(world.checks, 0);
	assert_int_equal(r->report.rows[0].outcome[0], TK_OUTCOME_SKIPPED);
	r->request.all = true;
	MUST(compare(r, &err));
	expect_rows(r, "1 same;2 same;");
}

static void both_sides_are_verified_once(void **state)
{
	struct rig *r = *state;

	request_problems(r, 1);
	MUST(compare(r, &err));
	assert_int_equal(world.checks, 2);
	assert_true(world.last_check.verify);
	assert_true(world.last_check.measure_s <= 0.021); /* only the result is of interest */
	r->request.no_verify = true;
	MUST(compare(r, &err));
	assert_false(world.last_check.verify);
}

/* ---- time ---- */

static void undecided_problems_share_the_time(void **state)
{
	struct rig *r = *state;

	request_problems(r, 3);
	world.noise = 0.5;
	r->request.budget_s = 33;
	MUST(compare(r, &err));
	assert_true(r->report.budget_spent);
	expect_rows(r, "1 inconclusive;2 inconclusive;3 inconclusive;");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(world.pairs[i], 11);
		assert_int_equal(
		        world.order[i], i + 1); /* in the order in which they were planned */
	}
	assert_int_equal(r->report.pairs, 33);
	assert_float_equal(r->report.wall_s, 33, 1e-3);
	assert_float_equal(r->report.rows[0].wall_s, 11, 1e-3);
}

static void decided_problems_leave_their_time_to_others(void **state)
{
	struct rig *r = *state;

	request_problems(r, 2);
	world.problems[0].ns[TK_AB_HEAD] = 2000;
	world.problems[1].ns[TK_AB_HEAD] = NAN;
	r->request.budget_s = 1000;
	MUST(compare(r, &err));
	assert_false(r->report.budget_spent);
	assert_int_equal(world.pairs[1], TK_AB_FAILURES_MAX);
	assert_true(world.pairs[0] > TK_AB_FAILURES_MAX);
	assert_true(r->report.wall_s < 60);
}

/* Each problem gets so many pairs before the next one gets any; what they show at the end of the
 * budget decides. */
static void first_pairs_go_to_one_problem_after_the_other(void **state)
{
	struct rig *r = *state;

	request_problems(r, 3);
	world.problems[1].ns[TK_AB_HEAD] = 1100;
	r->request.first_pairs = 8;
	r->request.budget_s = 19;
	MUST(compare(r, &err));
	assert_int_equal(world.order[7], 1);
	assert_int_equal(world.order[8], 2);
	assert_int_equal(world.order[15], 2);
	assert_int_equal(world.order[16], 3);
	expect_rows(r, "2 slower;3 inconclusive;1 same;"); /* three pairs are too few */
	assert_true(r->report.budget_spent);
}

static void observe(void *arg, size_t done, size_t total, const char *current)
{
	assert_true(done < total);
	assert_true(*current);
	world.progress_calls++;
}

static void progress_never_reaches_its_end(void **state)
{
	const struct tk_night_observer observer = {.progress = observe};
	struct rig *r = *state;

	request_problems(r, 2);
	r->options.observer = &observer;
	r->request.budget_s = 5; /* less than the pairs that the problems need */
	world.noise = 0.5;
	MUST(compare(r, &err));
	r->request.budget_s = 0;
	world.noise = 0.002;
	MUST(compare(r, &err));
	assert_int_equal(world.progress_calls, 5 + 4 + r->report.pairs);
}

static size_t totals[80]; /* after so many pairs */

static void note_total(void *arg, size_t done, size_t total, const char *current)
{
	if (done < sizeof totals / sizeof *totals)
		totals[done] = total;
}

/* Pairs until the next look at which the problem can be decided. */
static void progress_counts_to_the_next_look(void **state)
{
	static const size_t looks[] = {12, 16, 20, 24, 32, 40, 48, 64, 85};
	const struct tk_night_observer observer = {.progress = note_total};
	struct rig *r = *state;

	request_problems(r, 1);
	memset(totals, 0, sizeof totals);
	r->options.observer = &observer;
	r->request.budget_s = 90; /* a second a pair: room for more than the looks below */
	world.noise = 0.9;
	MUST(compare(r, &err));
	assert_true(r->report.pairs > 70);
	for (size_t done = 0, i = 0; done < 70; done++) {
		i += done >= looks[i];
		assert_int_equal(totals[done], looks[i]);
	}
}

/* ---- what is compared ---- */

static void problems_are_compared_once(void **state)
{
	struct rig *r = *state;

	request_problems(r, 2);
	strcpy(r->problems[1], "gemm:k=64,n=64,m=1"); /* the first one, written otherwise */
	MUST(compare(r, &err));
	expect_rows(r, "1 same;");
	strcpy(r->problems[1], "gemm:m=nonsense");
	expect_failure(r, TK_EUSAGE, "nonsense");
	r->request.problem_count = 0;
	r->request.suite = "no-such-suite";
	expect_failure(r, TK_EUSAGE, "no-such-suite");
}

static void the_mode_is_requested_or_configured(void **state)
{
	static char hot[] = "cpu:hot", cold[] = "cold";
	static char *modes[] = {hot, cold, NULL};
	struct rig *r = *state;

	request_problems(r, 1);
	r->config.measure.modes = modes;
	MUST(compare(r, &err));
	assert_string_equal(r->report.rows[0].mode, "hot");
	assert_string_equal(world.last_mode, "hot");
	r->request.mode = TK_MODE_COLD;
	MUST(compare(r, &err));
	assert_string_equal(r->report.rows[0].mode, "cold");
}

/* The first device of the kind, or all that were selected. */
static void devices_are_of_the_kind_of_the_backend(void **state)
{
	static char cuda[] = "cuda";
	static char *selected[] = {cuda, NULL};
	struct rig *r = *state;

	request_problems(r, 1);
	world.kinds[0][0] = world.kinds[1][0] = "cuda";
	MUST(compare(r, &err));
	assert_int_equal(r->report.count, 1);
	assert_string_equal(r->report.rows[0].device, "cuda-0");
	r->options.devices = selected;
	MUST(compare(r, &err));
	assert_int_equal(r->report.count, 2);
	assert_string_equal(r->report.rows[1].device, "cuda-1");
	world.device_count = 1; /* the CPU alone */
	expect_failure(r, TK_EUSAGE, "nothing to compare");
	world.kinds[0][0] = "cpu";
	expect_failure(r, TK_EUSAGE, "base needs a device of kind cpu and head one of kind cuda");
}

static void one_backend_can_be_chosen(void **state)
{
	struct rig *r = *state;

	request_problems(r, 1);
	for (int k = 0; k < TK_AB_SIDES; k++) {
		world.backends[k][1] = "other";
		world.kinds[k][1] = "cpu";
	}
	MUST(compare(r, &err));
	assert_int_equal(r->report.count, 2);
	r->request.backend = "other";
	MUST(compare(r, &err));
	assert_int_equal(r->report.count, 1);
	assert_string_equal(r->report.rows[0].backend, "other");
	r->request.backend = "none";
	expect_failure(r, TK_EUSAGE, "no backend in common");
}

/* ---- failures ---- */

static void a_side_that_cannot_be_loaded_ends_it(void **state)
{
	struct rig *r = *state;

	request_problems(r, 1);
	world.load_status = TK_EUSAGE;
	expect_failure(r, TK_EUSAGE, "no such side");
	assert_string_equal(r->report.side[TK_AB_BASE].option, "--base=");
	assert_string_equal(r->report.side[TK_AB_HEAD].option, "--head=");
	assert_string_equal(r->report.machine, "rig");
}

static void a_replaced_file_ends_the_comparison(void **state)
{
	struct rig *r = *state;

	request_problems(r, 1);
	world.file_status = TK_EDATA;
	expect_failure(r, TK_EDATA, "was replaced");
	world.file_status = 0;
	world.pair_status = TK_ECANCELED;
	expect_failure(r, TK_ECANCELED, "no worker");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(rows_come_by_severity),
	        TEST(one_side_that_does_not_do_it_is_a_failure),
	        TEST(pairs_that_fail_in_a_row_decide),
	        TEST(the_threshold_is_requested_or_configured),
	        TEST(equal_code_is_not_measured),
	        TEST(both_sides_are_verified_once),
	        TEST(undecided_problems_share_the_time),
	        TEST(decided_problems_leave_their_time_to_others),
	        TEST(first_pairs_go_to_one_problem_after_the_other),
	        TEST(progress_never_reaches_its_end),
	        TEST(progress_counts_to_the_next_look),
	        TEST(problems_are_compared_once),
	        TEST(the_mode_is_requested_or_configured),
	        TEST(devices_are_of_the_kind_of_the_backend),
	        TEST(one_backend_can_be_chosen),
	        TEST(a_side_that_cannot_be_loaded_ends_it),
	        TEST(a_replaced_file_ends_the_comparison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
