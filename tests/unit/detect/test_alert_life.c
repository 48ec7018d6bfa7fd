/* The life of alerts where revisions come and go: reverts and second attempts, siblings of one
 * commit, failures of several kinds; and the newest night of each machine, whatever came after. */
#include "verdict_checks.h"

static struct tk_rng rng;

/* A night of a revision: each series of backend "b", named by one letter, takes `ms`. */
static void measure(struct world *w, int day, const char *rev, int64_t position,
        const char *problems, double ms)
{
	world_night(w, day, "nightly");
	world_build(w, rev, position, "b", rev, "subject");
	for (const char *p = problems; *p; p++)
		world_point(w, "b", (const char[]){*p, '\0'}, quiet(&rng, ms * 1e6));
}

/* Analyses the night; its status of the first problem. */
static enum tk_verdict_status detect(struct world *w, const char *problem)
{
	struct tk_diff_report r = world_detect_night(w);
	const enum tk_verdict_status s = world_row(&r, "b", problem)->verdict.status;

	tk_diff_report_free(&r);
	return s;
}

static struct tk_rows list_alerts(struct world *w)
{
	struct tk_rows alerts;

	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	return alerts;
}

/* The only alert, which is of this status and kind. */
static void expect_alert(struct world *w, enum tk_alert_kind kind, enum tk_alert_status status,
        int opened_day, int closed_day)
{
	struct tk_rows alerts = list_alerts(w);
	const struct tk_alert_row *a = alerts.rows;

	assert_int_equal(alerts.count, 1);
	assert_int_equal(a->kind, kind);
	assert_int_equal(a->status, status);
	assert_int_equal(a->opened_s, WORLD_START + opened_day * WORLD_DAY);
	assert_int_equal(a->closed_s, closed_day < 0 ? 0 : WORLD_START + closed_day * WORLD_DAY);
	tk_rows_free(&alerts);
}

/* ---- changes ---- */

/* r2 is slower, is reverted, and comes again: the same commit, the same alert. */
static void a_revert_closes_and_a_second_attempt_opens_again(void **state)
{
	struct world *w = *state;

	tk_rng_seed(&rng, 1);
	for (int day = 0; day < 45; day++) {
		const bool is_slow = (day >= 20 && day < 27) || day >= 36;
		const int64_t position = day < 20 ? 1 : day < 27 ? 2 : day < 36 ? 3 : 4;

		measure(w, day,
		        is_slow    ? "r2"
		        : day < 20 ? "r1"
		                   : "r3",
		        is_slow ? 2 : position, "p", is_slow ? 1.2 : 1);
		detect(w, "p");
		if (day >= 21 && day < 27)
			expect_alert(w, TK_ALERT_CHANGE, TK_ALERT_OPEN, 20, -1);
		if (day >= 29 && day < 36)
			expect_alert(w, TK_ALERT_CHANGE, TK_ALERT_CLOSED, 20, 27);
	}
	struct tk_rows alerts = list_alerts(w);
	size_t open = 0;
	for (size_t i = 0; i < alerts.count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&alerts, struct tk_alert_row, i);

		assert_string_equal(a->bad_rev, "r2");
		open += a->status == TK_ALERT_OPEN;
	}
	assert_int_equal(open, 1);
	tk_rows_free(&alerts);
}

/* Three series become slower by one commit, a fourth does not: one group of three. */
static void siblings_of_a_commit_are_one_group(void **state)
{
	struct world *w = *state;
	struct tk_rows alerts;

	tk_rng_seed(&rng, 2);
	for (int day = 0; day < 24; day++) {
		measure(w, day, day < 20 ? "r1" : "r2", day < 20 ? 1 : 2, "pqr",
		        day < 20 ? 1 : 1.15);
		world_point(w, "b", "s", quiet(&rng, 1e6));
		detect(w, "p");
	}
	alerts = list_alerts(w);
	assert_int_equal(alerts.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&alerts, struct tk_alert_row, i),
		                          *first = TK_ROWS_AT(&alerts, struct tk_alert_row, 0);

		assert_string_equal(a->group_uid, first->group_uid);
		assert_true(i == 0 || strcmp(a->uid, first->uid) != 0);
		assert_string_equal(a->bad_rev, "r2");
		assert_string_equal(a->good_rev, "r1");
		assert_float_equal(a->change, 0.15, 0.02);
		assert_int_equal(a->cause, TK_CAUSE_CODE);
		assert_non_null(strstr(a->title, "on box: +1"));
		assert_true(a->series_id != world_series(w, "b", "s"));
	}
	tk_rows_free(&alerts);
}

/* What is better opens nothing, and of a rate more is better. */
static void good_news_opens_nothing(void **state)
{
	struct world *w = *state;

	tk_rng_seed(&rng, 3);
	for (int day = 0; day < 24; day++) {
		const char *rev = day < 20 ? "r1" : "r2";

		w->higher_is_better = false;
		measure(w, day, rev, day < 20 ? 1 : 2, "p", day < 20 ? 1 : 0.8);
		w->higher_is_better = true;
		world_point(w, "rate", "q", quiet(&rng, day < 20 ? 100 : 120));
		world_point(w, "rate", "worse", quiet(&rng, day < 20 ? 100 : 80));
		detect(w, "p");
	}
	struct tk_rows alerts = list_alerts(w);
	assert_int_equal(alerts.count, 1);
	assert_true(((const struct tk_alert_row *)alerts.rows)->change < -0.15);
	tk_rows_free(&alerts);
}

/* ---- failures ---- */

static void fail_night(struct world *w, int day, const char *rev, const char *outcome)
{
	world_night(w, day, "nightly");
	world_build(w, rev, day + 1, "b", rev, "subject");
	world_fail(w, "b", "p", outcome, "why");
}

/* It crashes, then its result is wrong: one failure. It works, and fails again: another one. */
static void a_failure_lasts_until_there_is_a_timing(void **state)
{
	struct world *w = *state;

	tk_rng_seed(&rng, 4);
	for (int day = 0; day < 3; day++) {
		measure(w, day, "r1", 1, "p", 1);
		detect(w, "p");
	}
	fail_night(w, 3, "r2", "crashed");
	assert_int_equal(detect(w, "p"), TK_VERDICT_NEWLY_FAILED);
	expect_alert(w, TK_ALERT_FAILURE, TK_ALERT_OPEN, 3, -1);
	fail_night(w, 4, "r3", "wrong");
	assert_int_equal(detect(w, "p"), TK_VERDICT_FAILING);
	fail_night(w, 5, "r3", "skipped");
	assert_int_equal(detect(w, "p"), TK_VERDICT_MISSING);
	expect_alert(w, TK_ALERT_FAILURE, TK_ALERT_OPEN, 3, -1);
	measure(w, 6, "r4", 7, "p", 1);
	assert_int_equal(detect(w, "p"), TK_VERDICT_FIXED);
	expect_alert(w, TK_ALERT_FAILURE, TK_ALERT_CLOSED, 3, 6);
	fail_night(w, 7, "r5", "timeout");
	assert_int_equal(detect(w, "p"), TK_VERDICT_NEWLY_FAILED);
	struct tk_rows alerts = list_alerts(w);
	assert_int_equal(alerts.count, 2);
	tk_rows_free(&alerts);
}

/* The title of a failure is its outcome; its cause and its revisions are known. */
static void a_failure_names_its_outcome(void **state)
{
	struct world *w = *state;

	tk_rng_seed(&rng, 5);
	measure(w, 0, "r1", 1, "p", 1);
	detect(w, "p");
	fail_night(w, 1, "r2", "out_of_memory");
	detect(w, "p");
	struct tk_rows alerts = list_alerts(w);
	const struct tk_alert_row *a = alerts.rows;
	assert_int_equal(alerts.count, 1);
	assert_non_null(strstr(a->title, "b p on box: out_of_memory"));
	assert_int_equal(a->cause, TK_CAUSE_FAILURE);
	assert_string_equal(a->good_rev, "r1");
	assert_string_equal(a->bad_rev, "r2");
	assert_true(a->change == 0);
	tk_rows_free(&alerts);
}

/* ---- the newest night ---- */

static struct tk_diff_report latest(struct world *w, const char *machine)
{
	const struct tk_detect_options o = world_options(w);
	const struct tk_diff_range range = {.until_s = INT64_MAX, .machine = machine};
	struct tk_diff_report r = {0};

	world_end_night(w);
	assert_int_equal(tk_detect_latest_nights(w->store, &o, &range, &r, &w->err), 0);
	return r;
}

/* Each machine has its own newest night; one of them can be chosen by its name. */
static void each_machine_has_its_newest_night(void **state)
{
	struct world *w = *state;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 6);
	for (int day = 0; day < 5; day++)
		measure(w, day, "r1", 1, "pq", 1);
	world_machine(w, "second", "cpu2");
	world_environment(w, "{}");
	for (int day = 0; day < 3; day++)
		measure(w, day, "r1", 1, "p", 1);
	r = latest(w, NULL);
	assert_int_equal(r.machines, 2);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.newest_s, WORLD_START + 4 * WORLD_DAY);
	tk_diff_report_free(&r);
	r = latest(w, "second");
	assert_int_equal(r.count, 1);
	assert_string_equal(r.rows[0].machine, "second");
	assert_int_equal(r.rows[0].newest_s, WORLD_START + 2 * WORLD_DAY);
	tk_diff_report_free(&r);

	const struct tk_detect_options o = world_options(w);
	const struct tk_diff_range unknown = {.until_s = INT64_MAX, .machine = "third"};
	assert_int_equal(tk_detect_latest_nights(w->store, &o, &unknown, &r, &w->err), TK_EUSAGE);
	assert_non_null(strstr(w->err.message, "\"third\""));
}

/* Nights that failed, that still run, and runs by hand are not the newest night. */
static void nights_that_are_none_do_not_count(void **state)
{
	struct world *w = *state;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 7);
	for (int day = 0; day < 4; day++)
		measure(w, day, "r1", 1, "p", 1);
	world_night(w, 4, "run");
	world_point(w, "b", "p", 9e6);
	world_end_night(w);
	w->status = TK_NIGHT_FAILED;
	world_night(w, 5, "nightly");
	world_point(w, "b", "p", 8e6);
	world_end_night(w);
	w->status = TK_NIGHT_COMPLETE;
	r = latest(w, NULL);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.rows[0].newest_s, WORLD_START + 3 * WORLD_DAY);
	tk_diff_report_free(&r);
	w->status = TK_NIGHT_INCOMPLETE; /* what it measured counts */
	measure(w, 6, "r1", 1, "p", 1);
	r = latest(w, NULL);
	assert_int_equal(r.rows[0].newest_s, WORLD_START + 6 * WORLD_DAY);
	tk_diff_report_free(&r);
}

static void a_history_without_nights_has_no_newest_one(void **state)
{
	struct tk_diff_report r = latest(*state, NULL);

	assert_int_equal(r.count, 0);
	assert_int_equal(r.machines, 0);
	tk_diff_report_free(&r);
}

/* Filters choose the rows of a night, not what it is compared with. */
static void filters_choose_rows(void **state)
{
	static const char *const q[] = {"problem:q", NULL}, *const none[] = {"problem:z", NULL},
	                         *const typo[] = {"problm:q", NULL};
	struct world *w = *state;
	const struct {
		const char *const *filters, *const *ignored;
		size_t count;
	} cases[] = {{NULL, NULL, 3}, {q, NULL, 1}, {NULL, q, 2}, {none, NULL, 0}, {q, q, 0}};
	struct tk_diff_report r;

	tk_rng_seed(&rng, 8);
	for (int day = 0; day < 4; day++)
		measure(w, day, "r1", 1, "pqr", 1);
	world_end_night(w);
	const struct tk_detect_options o = world_options(w);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_diff_range range = {.until_s = INT64_MAX,
		        .filters = cases[i].filters,
		        .ignored = cases[i].ignored};

		assert_int_equal(tk_detect_latest_nights(w->store, &o, &range, &r, &w->err), 0);
		assert_int_equal(r.count, cases[i].count);
		tk_diff_report_free(&r);
	}
	const struct tk_diff_range bad = {.until_s = INT64_MAX, .filters = typo};
	assert_int_equal(tk_detect_latest_nights(w->store, &o, &bad, &r, &w->err), TK_EUSAGE);
	assert_non_null(strstr(w->err.message, "\"problem\"?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_WORLD(a_revert_closes_and_a_second_attempt_opens_again),
	        IN_WORLD(siblings_of_a_commit_are_one_group),
	        IN_WORLD(good_news_opens_nothing),
	        IN_WORLD(a_failure_lasts_until_there_is_a_timing),
	        IN_WORLD(a_failure_names_its_outcome),
	        IN_WORLD(each_machine_has_its_newest_night),
	        IN_WORLD(nights_that_are_none_do_not_count),
	        IN_WORLD(a_history_without_nights_has_no_newest_one),
	        IN_WORLD(filters_choose_rows),
	};

	return cmocka_run_group_tests_name("the life of alerts", tests, NULL, NULL);
}
