/* One pair of an A/B test: which way both processes are measured, and how each way ends. */
#include "pair_rig.h"

#include <dirent.h>

#define SEQUENCE "measure g;end g;measure b;end b;"

/* ---- which way ---- */

/* 'Q': one after the other, 'S': in time slices, 'T': with a token. */
static char way_of_pair(struct pair_rig *r)
{
	must_measure_pair(r);
	if (strstr(tk_buf_cstr(&pair_world.log), "measure"))
		return 'Q';
	return pair_world.spec[0].token_fd ? 'T' : 'S';
}

/* Each device, each mode and each pair before: none, a short kernel, a long one, one that
 * failed. */
static void every_device_mode_and_history_has_its_way(void **state)
{
	static const double before[] = {0, 1000, 1e7, NAN};
	static const struct {
		const char *kind, *mode, *ways;
	} cases[] = {{"cpu", "cold", "QSQQ"}, {"cpu", "hot", "QSQQ"}, {"cpu", "paced", "QSQQ"},
	        {"cpu", "sustained", "QSQQ"}, {"cpu", "contended", "QSQQ"},
	        {"cpu", "sequence:layer", "QSQQ"}, {"null", "cold", "QSQQ"},
	        {"null", "hot", "QSQQ"}, {"null", "paced", "TTTQ"}, {"null", "sustained", "QSQQ"},
	        {"null", "contended", "TTTQ"}, {"null", "sequence:layer", "QSQQ"},
	        {"cuda", "cold", "QQQQ"}, {"cuda", "hot", "QQQQ"}, {"cuda", "paced", "TTTQ"},
	        {"cuda", "sustained", "QQQQ"}, {"cuda", "contended", "TTTQ"},
	        {"cuda", "sequence:layer", "QQQQ"}, {"hip", "cold", "QQQQ"}, {"hip", "hot", "QQQQ"},
	        {"hip", "paced", "TTTQ"}, {"hip", "sustained", "QQQQ"},
	        {"hip", "contended", "TTTQ"}, {"hip", "sequence:layer", "QQQQ"},
	        {"hip", "no mode", "QQQQ"}, {"npu", "paced", "TTTQ"}, {"npu", "cold", "QQQQ"}};
	struct pair_rig *r = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char ways[5] = "";
		use_mode(r, cases[i].kind, cases[i].mode);
		for (int k = 0; k < 4; k++) {
			use_last(r, before[k], before[k]);
			r->test.is_sequential = false;
			ways[k] = way_of_pair(r);
			r->test.is_sequential = true; /* nothing else works */
			assert_int_equal(way_of_pair(r), 'Q');
		}
		if (strcmp(ways, cases[i].ways))
			fail_msg("%s %s: %s instead of %s", cases[i].kind, cases[i].mode, ways,
			        cases[i].ways);
	}
}

/* A slice has twenty launches of the mean of both builds, and at least 10 ms; where that is more
 * than 40 ms there are none. */
static void the_kernel_decides_the_slice(void **state)
{
	static const struct {
		double good_ns, bad_ns;
		int slice_ms; /* 0: none */
	} cases[] = {{1, 1, 10}, {499999, 500001, 10}, {550000, 550000, 11}, {500000, 700000, 12},
	        {1e6, 1e6, 20}, {1, 3999999, 40}, {2e6, 2e6, 40}, {2.001e6, 2.001e6, 0},
	        {1000, 1e9, 0}, {1000, NAN, 0}, {NAN, 1000, 0}};
	struct pair_rig *r = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		use_last(r, cases[i].good_ns, cases[i].bad_ns);
		must_measure_pair(r);
		if (pair_world.longest_poll_ms != cases[i].slice_ms)
			fail_msg("%g and %g: %d ms", cases[i].good_ns, cases[i].bad_ns,
			        pair_world.longest_poll_ms);
	}
}

/* The newest pair decides, not the first one. */
static void the_last_pair_decides(void **state)
{
	struct tk_ab_pair_row rows[] = {
	        {.good_median = NAN, .bad_median = NAN}, {.good_median = 1000, .bad_median = 1000}};
	struct pair_rig *r = *state;

	r->test.rows = rows;
	r->test.count = 2;
	assert_int_equal(way_of_pair(r), 'S');
	rows[0] = rows[1];
	rows[1].bad_median = NAN;
	assert_int_equal(way_of_pair(r), 'Q');
	use_mode(r, "cuda", "paced");
	assert_int_equal(way_of_pair(r), 'Q');
	rows[1] = rows[0];
	assert_int_equal(way_of_pair(r), 'T');
}

/* ---- what a process is told ---- */

static void expect_request(int side, double measure_s, double deadline_s, double token_wait_s)
{
	const struct tk_job_request *q = &pair_world.request[side];

	assert_float_equal(q->measure_s, measure_s, 1e-9);
	assert_float_equal(q->deadline_s, deadline_s, 1e-9);
	assert_float_equal(q->token_wait_s, token_wait_s, 1e-9);
	assert_false(q->verify); /* the night has verified both builds */
	assert_string_equal(q->backend_options, side ? "o=2" : "o=1");
	assert_string_equal(q->config, side ? "tile" : "own");
	assert_int_equal(pair_world.spec[side].threads, side ? 0 : 2);
}

static void one_after_the_other_has_the_time_of_a_process(void **state)
{
	struct pair_rig *r = *state;

	must_measure_pair(r);
	expect_calls(SEQUENCE);
	for (int side = 0; side < 2; side++) {
		expect_request(side, 0.25, 60, 0);
		assert_null(pair_world.spec[side].name); /* the log file of all workers */
		assert_int_equal(pair_world.spec[side].token_fd, 0);
		assert_ptr_equal(pair_world.request[side].limits, &r->device.limits);
	}
	r->config.budgets.measure_s = 0.1; /* less than that */
	must_measure_pair(r);
	expect_request(0, 0.1, 60, 0);
}

/* The clocks of a measurement and its deadline go on while it is paused. */
static void slices_take_twice_the_time(void **state)
{
	struct pair_rig *r = *state;

	use_last(r, 1000, 1000);
	must_measure_pair(r);
	for (int side = 0; side < 2; side++) {
		expect_request(side, 0.5, 120, 0);
		assert_string_equal(pair_world.spec[side].name, side ? "bad" : "good");
		assert_int_equal(pair_world.spec[side].token_fd, 0);
	}
}

/* Each waits a quarter of its job's time for the other, and has its own end of the socket. */
static void a_token_makes_the_deadline_longer(void **state)
{
	struct pair_rig *r = *state;

	use_mode(r, "cuda", "paced");
	must_measure_pair(r);
	for (int side = 0; side < 2; side++) {
		expect_request(side, 0.25, 120, 15);
		assert_string_equal(pair_world.spec[side].name, side ? "bad" : "good");
		assert_true(pair_world.spec[side].token_fd > 0);
	}
	assert_int_not_equal(pair_world.spec[0].token_fd, pair_world.spec[1].token_fd);
}

/* ---- slices ---- */

/* The second process waits from its start on; then they take turns. */
static void slices_alternate(void **state)
{
	struct pair_rig *r = *state;

	use_last(r, 1000, 1000);
	pair_world.answers[0][0].polls = pair_world.answers[1][0].polls = 1;
	must_measure_pair(r);
	expect_calls("start b;pause b;start g;"
	             "pause g;go b;pause b;go g;"
	             "answer g;pause g;go b;"
	             "answer b;end g;end b;");
	assert_int_equal(pair_world.most_at_once, 1);
	assert_float_equal(r->good.median, 1000, 1e-9);
	assert_float_equal(r->bad.median, 1001, 1e-9);
}

/* What is left of the other one is not interrupted. */
static void the_slower_process_ends_alone(void **state)
{
	struct pair_rig *r = *state;

	use_last(r, 1000, 1000);
	pair_world.answers[1][0].polls = 3;
	must_measure_pair(r);
	expect_calls("start b;pause b;start g;answer g;pause g;go b;answer b;end g;end b;");
	pair_world.answers[1][0].polls = 0;
	pair_world.answers[0][0].polls = 3;
	must_measure_pair(r);
	expect_calls("start b;pause b;start g;pause g;go b;answer b;pause b;go g;answer g;"
	             "end g;end b;");
}

/* All lengths of both: nobody waits for a process that is paused or has answered, at most one runs,
 * and both end. The rig refuses the rest. */
static void slices_of_any_length_end(void **state)
{
	struct pair_rig *r = *state;

	use_last(r, 1000, 1000);
	for (int good = 0; good < 7; good++)
		for (int bad = 0; bad < 7; bad++) {
			pair_world.answers[0][0].polls = good;
			pair_world.answers[1][0].polls = bad;
			must_measure_pair(r);
			assert_true(r->good.done && r->bad.done);
			assert_int_equal(pair_world.most_at_once, 1);
			assert_int_equal(live_processes(), 0);
		}
}

/* A failed pair in slices is a failed pair: it is measured again as the next one, in sequence. */
static void a_crash_between_slices_is_an_outcome(void **state)
{
	struct pair_rig *r = *state;

	use_last(r, 1000, 1000);
	pair_world.answers[1][0] = (struct pair_answer){
	        TK_OUTCOME_CRASHED, 5, 4, 0, "signal 11"}; /* its figures do not count */
	must_measure_pair(r);
	assert_int_equal(pair_world.count, 2);
	assert_int_equal(r->bad.outcome, TK_OUTCOME_CRASHED);
	assert_true(isnan(r->bad.median) && isnan(r->bad.min));
	assert_string_equal(r->bad.message, "signal 11");
	assert_float_equal(r->good.median, 1000, 1e-9);
	assert_false(r->test.is_sequential);
}

/* ---- a token ---- */

/* A process that has answered ends at once: it may hold the token that the other one waits for. */
static void a_process_with_its_answer_ends_at_once(void **state)
{
	struct pair_rig *r = *state;

	use_mode(r, "cuda", "paced");
	pair_world.answers[1][0].polls = 2;
	must_measure_pair(r);
	expect_calls("start g;start b;answer g;end g;answer b;end b;");
	pair_world.answers[0][0].polls = 2;
	pair_world.answers[1][0].polls = 0;
	must_measure_pair(r);
	expect_calls("start g;start b;answer b;end b;answer g;end g;");
	assert_int_equal(pair_world.most_at_once, 2);
	assert_true(pair_world.longest_poll_ms > 0 && pair_world.longest_poll_ms <= 100);
}

static void with_a_token_of_any_length_both_end(void **state)
{
	struct pair_rig *r = *state;

	use_mode(r, "cuda", "contended");
	for (int good = 0; good < 6; good++)
		for (int bad = 0; bad < 6; bad++) {
			pair_world.answers[0][0].polls = good;
			pair_world.answers[1][0].polls = bad;
			must_measure_pair(r);
			assert_true(r->good.done && r->bad.done);
			assert_int_equal(live_processes(), 0);
			assert_int_equal(pair_world.count, 2);
		}
}

/* Two processes at once may not fit: then this pair and all later ones are in sequence. */
static void a_pair_that_fails_at_once_is_repeated_in_sequence(void **state)
{
	static const enum tk_outcome outcomes[] = {
	        TK_OUTCOME_OUT_OF_MEMORY, TK_OUTCOME_CRASHED, TK_OUTCOME_TIMEOUT};
	struct pair_rig *r = *state;

	use_mode(r, "cuda", "paced");
	for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
		for (int side = 0; side < 2; side++) {
			clear_pair_world();
			r->test.is_sequential = false;
			pair_world.answers[side][0] =
			        (struct pair_answer){outcomes[i], NAN, NAN, 0, "no room"};
			must_measure_pair(r);
			assert_non_null(strstr(tk_buf_cstr(&pair_world.log), SEQUENCE));
			assert_int_equal(pair_world.count, 4);
			assert_true(r->test.is_sequential);
			assert_int_equal(r->good.outcome, TK_OUTCOME_OK);
			assert_int_equal(r->bad.outcome, TK_OUTCOME_OK);
			assert_string_equal(r->good.message, "");
			assert_string_equal(r->bad.message, "");
			assert_float_equal(r->good.median, 1000, 1e-9);
			assert_int_equal(way_of_pair(r), 'Q');
		}
}

/* The build itself fails: that says nothing about two processes at once. */
static void a_pair_that_fails_both_ways_may_alternate_again(void **state)
{
	struct pair_rig *r = *state;

	use_mode(r, "cuda", "paced");
	for (int i = 0; i < 2; i++)
		pair_world.answers[1][i] =
		        (struct pair_answer){TK_OUTCOME_WRONG, NAN, NAN, 0, "differs"};
	must_measure_pair(r);
	assert_int_equal(pair_world.count, 4);
	assert_false(r->test.is_sequential);
	assert_int_equal(r->bad.outcome, TK_OUTCOME_WRONG);
	assert_string_equal(r->bad.message, "differs");
	assert_float_equal(r->good.median, 1000, 1e-9); /* of the second try */
}

static size_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* A copy of the socket that stays open would keep the end of a process from its peer. */
static void the_ends_of_the_token_are_closed(void **state)
{
	struct pair_rig *r = *state;
	struct tk_error err = {0};
	const size_t before = open_files();

	use_mode(r, "cuda", "paced");
	must_measure_pair(r);
	assert_int_equal(open_files(), before);
	pair_world.fail_at = 2;
	pair_world.start_status = TK_EIO;
	assert_int_equal(measure_pair(r, &err), TK_EIO);
	assert_int_equal(open_files(), before);
}

/* ---- outcomes ---- */

/* Each outcome on either side and each way: a timing only from those that have one. */
static void every_outcome_has_its_timing_or_none(void **state)
{
	struct pair_rig *r = *state;

	for (int slices = 0; slices < 2; slices++)
		for (int o = 0; o < TK_OUTCOME_COUNT; o++) {
			const enum tk_outcome outcome = (enum tk_outcome)o;
			use_last(r, slices ? 1000 : 0, slices ? 1000 : 0);
			pair_world.answers[0][0].outcome = outcome;
			must_measure_pair(r);
			assert_int_equal(r->good.outcome, outcome);
			assert_int_equal(isfinite(r->good.median), tk_outcome_has_timing(outcome));
			assert_int_equal(isfinite(r->good.min), tk_outcome_has_timing(outcome));
			assert_float_equal(r->bad.median, 1001, 1e-9);
		}
}

static void an_answer_without_figures_is_no_timing(void **state)
{
	struct pair_rig *r = *state;

	pair_world.answers[0][0].median = NAN;
	pair_world.answers[1][0].min = NAN;
	must_measure_pair(r);
	assert_true(isnan(r->good.median));
	assert_float_equal(r->good.min, 900, 1e-9);
	assert_float_equal(r->bad.median, 1001, 1e-9);
	assert_true(isnan(r->bad.min));
}

/* Nothing of the pair before is left in a run. */
static void runs_begin_anew(void **state)
{
	struct pair_rig *r = *state;

	pair_world.answers[0][0] = (struct pair_answer){TK_OUTCOME_FAILED, NAN, NAN, 0, "no"};
	must_measure_pair(r);
	assert_string_equal(r->good.message, "no");
	pair_world.answers[0][0] = (struct pair_answer){TK_OUTCOME_OK, 7, 6, 0, NULL};
	must_measure_pair(r);
	assert_string_equal(r->good.message, "");
	assert_int_equal(r->good.outcome, TK_OUTCOME_OK);
	assert_float_equal(r->good.min, 6, 1e-9);
	assert_ptr_equal(r->good.variant, &r->test.good);
	assert_string_equal(r->good.name, "good");
}

static void a_long_message_is_cut(void **state)
{
	struct pair_rig *r = *state;
	char text[900];

	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = 0;
	pair_world.answers[0][0] = (struct pair_answer){TK_OUTCOME_FAILED, NAN, NAN, 0, text};
	must_measure_pair(r);
	assert_int_equal(strlen(r->good.message), sizeof r->good.message - 1);
	assert_int_equal(strspn(r->good.message, "x"), sizeof r->good.message - 1);
}

/* ---- errors ---- */

static void clear_statuses(void)
{
	pair_world.limits_status = pair_world.new_status = pair_world.start_status = 0;
	pair_world.poll_status = pair_world.measure_status = 0;
	pair_world.fail_at = 0;
}

/* An error of either process in each way ends the pair, and no process is left. */
static void an_error_leaves_no_process(void **state)
{
	static const struct {
		const char *kind, *mode;
		double before;
	} ways[] = {{"cpu", "cold", 0}, {"cpu", "cold", 1000}, {"cuda", "paced", 0}};
	int *const statuses[] = {&pair_world.limits_status, &pair_world.new_status,
	        &pair_world.start_status, &pair_world.poll_status, &pair_world.measure_status};
	struct pair_rig *r = *state;
	size_t errors = 0;

	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
		for (size_t s = 0; s < sizeof statuses / sizeof *statuses; s++)
			for (size_t at = 1; at <= 2; at++) {
				struct tk_error err = {0};
				clear_statuses();
				use_mode(r, ways[w].kind, ways[w].mode);
				use_last(r, ways[w].before, ways[w].before);
				*statuses[s] = TK_ECANCELED;
				pair_world.fail_at = at;
				const int status = measure_pair(r, &err);
				const bool is_sequence = w == 0;
				/* starts and polls, or the measurement of a whole job */
				const bool happens = s < 2 || is_sequence == (s == 4);
				assert_int_equal(status, happens ? TK_ECANCELED : TK_OK);
				assert_int_equal(*err.message != 0, happens);
				assert_int_equal(live_processes(), 0);
				errors += happens;
			}
	assert_int_equal(errors, 3 * 2 * 2 + 2 + 2 * 2 * 2);
}

/* A request to stop is no failure of the build: it is not repeated in sequence. */
static void an_error_is_not_repeated_in_sequence(void **state)
{
	struct pair_rig *r = *state;
	struct tk_error err = {0};

	use_mode(r, "cuda", "paced");
	pair_world.poll_status = TK_ECANCELED;
	pair_world.fail_at = 1;
	assert_int_equal(measure_pair(r, &err), TK_ECANCELED);
	assert_int_equal(pair_world.count, 2);
	assert_null(strstr(tk_buf_cstr(&pair_world.log), "measure"));
	assert_false(r->test.is_sequential);
}

/* The second process of a sequence does not start after an error of the first. */
static void a_sequence_ends_at_its_first_error(void **state)
{
	struct pair_rig *r = *state;
	struct tk_error err = {0};

	pair_world.measure_status = TK_EIO;
	pair_world.fail_at = 1;
	assert_int_equal(measure_pair(r, &err), TK_EIO);
	expect_calls("measure g;end g;");
	pair_world.limits_status = TK_EIO;
	assert_int_equal(measure_pair(r, &err), TK_EIO);
	expect_calls("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        PAIR_TEST(every_device_mode_and_history_has_its_way),
	        PAIR_TEST(the_kernel_decides_the_slice),
	        PAIR_TEST(the_last_pair_decides),
	        PAIR_TEST(one_after_the_other_has_the_time_of_a_process),
	        PAIR_TEST(slices_take_twice_the_time),
	        PAIR_TEST(a_token_makes_the_deadline_longer),
	        PAIR_TEST(slices_alternate),
	        PAIR_TEST(the_slower_process_ends_alone),
	        PAIR_TEST(slices_of_any_length_end),
	        PAIR_TEST(a_crash_between_slices_is_an_outcome),
	        PAIR_TEST(a_process_with_its_answer_ends_at_once),
	        PAIR_TEST(with_a_token_of_any_length_both_end),
	        PAIR_TEST(a_pair_that_fails_at_once_is_repeated_in_sequence),
	        PAIR_TEST(a_pair_that_fails_both_ways_may_alternate_again),
	        PAIR_TEST(the_ends_of_the_token_are_closed),
	        PAIR_TEST(every_outcome_has_its_timing_or_none),
	        PAIR_TEST(an_answer_without_figures_is_no_timing),
	        PAIR_TEST(runs_begin_anew),
	        PAIR_TEST(a_long_message_is_cut),
	        PAIR_TEST(an_error_leaves_no_process),
	        PAIR_TEST(an_error_is_not_repeated_in_sequence),
	        PAIR_TEST(a_sequence_ends_at_its_first_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
