/* Data that did not arrive: from which night on it is missing, whose it is, and its alerts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "detect/triage/missing_data_search.h"
#include "world.h"

#define MISSING 3 /* nights without data that are reported */

static int setup(void **state)
{
	struct world *w;

	world_setup(state);
	w = *state;
	w->missing_data_nights = MISSING;
	world_build(w, "a", 1, "b", "h1", "");
	return 0;
}

/* A night that measures these problems, one letter each. */
static void measure(struct world *w, int day, const char *kind, const char *problems)
{
	world_night(w, day, kind);
	for (const char *p = problems; *p; p++)
		world_point(w, "b", (const char[]){*p, '\0'}, 1e6);
	world_end_night(w);
}

static void measure_days(struct world *w, int first, int last, const char *problems)
{
	for (int day = first; day <= last; day++)
		measure(w, day, "nightly", problems);
}

static struct tk_missing_data_list find_at(struct world *w, int64_t now_s, int64_t night_id)
{
	struct tk_detect_options o = world_options(w);
	struct tk_missing_data_list list = {0};

	o.now_s = now_s;
	assert_int_equal(tk_missing_data_find(w->store, &o, night_id, &list, &w->err), 0);
	return list;
}

/* How much is missing a minute after the newest night. */
static size_t count_now(struct world *w)
{
	struct tk_missing_data_list list = find_at(w, w->as_of_s + 60, 0);
	const size_t count = list.count;

	tk_missing_data_list_free(&list);
	return count;
}

/* One entry, of this series; last measured that day. */
static void expect_series(struct world *w, const char *problem, int last_day)
{
	struct tk_missing_data_list list = find_at(w, w->as_of_s + 60, 0);

	assert_int_equal(list.count, 1);
	assert_int_equal(list.at[0].series_id, world_series(w, "b", problem));
	assert_int_equal(list.at[0].last_s, WORLD_START + last_day * WORLD_DAY);
	assert_int_equal(list.at[0].machine_id, w->machine);
	assert_int_equal(list.at[0].upstream_id, w->upstream);
	assert_non_null(strstr(list.at[0].title, "no timing since"));
	tk_missing_data_list_free(&list);
}

/* ---- series ---- */

static void a_series_is_missing_from_the_third_night_on(void **state)
{
	struct world *w = *state;

	measure_days(w, 0, 4, "pq");
	measure_days(w, 5, 6, "p");
	assert_int_equal(count_now(w), 0);
	measure(w, 7, "nightly", "p");
	expect_series(w, "q", 4);
	measure(w, 8, "nightly", "pq");
	assert_int_equal(count_now(w), 0);
}

/* Nights by hand, of the past or imported measure what they like. */
static void only_full_nights_count(void **state)
{
	struct world *w = *state;

	measure_days(w, 0, 4, "pq");
	measure_days(w, 5, 6, "p");
	measure(w, 7, "run", "p");
	measure(w, 7, "backfill", "p");
	measure(w, 8, "import", "p");
	assert_int_equal(count_now(w), 0);
	measure(w, 9, "nightly", "p");
	expect_series(w, "q", 4);
}

/* A series may be measured in one of four nights: it lacks data after three nights more. */
static void rotated_series_have_a_round_more(void **state)
{
	struct world *w = *state;

	w->rotate_nights = 4;
	measure(w, 0, "nightly", "q");
	w->rotate_nights = 0;
	measure_days(w, 1, 5, "p");
	assert_int_equal(count_now(w), 0);
	measure(w, 6, "nightly", "p");
	w->rotate_nights = 4; /* the same series, for the check */
	expect_series(w, "q", 0);
}

/* A night of one upstream is no turn of a rotation. */
static void nights_of_one_upstream_are_no_turn(void **state)
{
	struct world *w = *state;

	w->rotate_nights = 4;
	measure(w, 0, "nightly", "q");
	w->rotate_nights = 0;
	measure_days(w, 1, 5, "p");
	w->summary = "{\"request\":{\"upstream\":\"self\"}}";
	measure_days(w, 6, 9, "p");
	assert_int_equal(count_now(w), 0);
	w->summary = "{}";
	measure(w, 10, "nightly", "p");
	w->rotate_nights = 4;
	expect_series(w, "q", 0);
}

/* A night in two parts ends twice: it is one night, and one more is allowed, for the parts do not
 * end together. */
static void parts_of_a_night_are_one_night(void **state)
{
	static const char *const parts[] = {
	        "{\"request\":{\"part\":\"1/2\"}}", "{\"request\":{\"part\":\"2/2\"}}"};
	struct world *w = *state;

	for (int day = 0; day < 9; day++)
		for (int part = 0; part < 2; part++) {
			w->summary = parts[part];
			measure(w, day, "nightly", part ? day < 4 ? "qr" : "r" : "p");
			if (day < 7)
				assert_int_equal(count_now(w), 0);
		}
	expect_series(w, "q", 3);
}

static void failures_are_not_missing_and_skipped_runs_are(void **state)
{
	static const struct {
		const char *outcome;
		bool is_missing;
	} cases[] = {{"crashed", false}, {"wrong", false}, {"unsupported", false},
	        {"timeout", false}, {"skipped", true}, {"no_device", true}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world w;

		world_open(&w, NULL);
		w.missing_data_nights = MISSING;
		world_build(&w, "a", 1, "b", "h1", "");
		measure_days(&w, 0, 2, "pq");
		for (int day = 3; day < 7; day++) {
			world_night(&w, day, "nightly");
			world_point(&w, "b", "p", 1e6);
			world_fail(&w, "b", "q", cases[i].outcome, "");
			world_end_night(&w);
		}
		if (count_now(&w) != cases[i].is_missing)
			fail_msg("%s", cases[i].outcome);
		world_close(&w);
	}
}

/* A night that still runs counts where it is the one that is analysed. */
static void the_night_that_is_analysed_counts(void **state)
{
	struct world *w = *state;
	struct tk_missing_data_list list;

	measure_days(w, 0, 4, "pq");
	measure_days(w, 5, 6, "p");
	world_night(w, 7, "nightly");
	world_point(w, "b", "p", 1e6);
	assert_int_equal(tk_store_commit(w->store, &w->err), 0);
	w->open = false;
	list = find_at(w, w->as_of_s, 0);
	assert_int_equal(list.count, 0);
	tk_missing_data_list_free(&list);
	list = find_at(w, w->as_of_s, w->night);
	assert_int_equal(list.count, 1);
	tk_missing_data_list_free(&list);
}

/* ---- upstreams and machines ---- */

/* All series of an upstream are one entry; one of several is its own. */
static void an_upstream_is_reported_as_a_whole(void **state)
{
	struct world *w = *state;
	const int64_t self = w->upstream;
	struct tk_missing_data_list list;

	for (int day = 0; day < 8; day++) {
		w->upstream = self;
		world_build(w, "a", 1, "b", "h1", "");
		measure(w, day, "nightly", "pqr");
		if (day < 4) {
			world_night(w, day, "nightly");
			world_upstream(w, "other");
			world_build(w, "v1", 1, "b", "h1", "");
			world_point(w, "b", "p", 1e6);
			world_point(w, "b", "q", 1e6);
			world_end_night(w);
		}
	}
	list = find_at(w, w->as_of_s + 60, 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.at[0].series_id, 0);
	assert_true(list.at[0].upstream_id != self && list.at[0].upstream_id != 0);
	assert_int_equal(list.at[0].last_s, WORLD_START + 3 * WORLD_DAY);
	assert_non_null(strstr(list.at[0].title, "other on box"));
	tk_missing_data_list_free(&list);
}

/* Machines are on their own: one is silent, the other one lacks a series. */
static void machines_are_apart(void **state)
{
	struct world *w = *state;
	struct tk_missing_data_list list;
	const int64_t box = w->machine;

	measure_days(w, 0, 3, "pq");
	world_machine(w, "second", "cpu2");
	world_environment(w, "{}");
	measure_days(w, 0, 5, "pq");
	measure_days(w, 6, 9, "p");
	list = find_at(w, w->as_of_s + 60, 0);
	assert_int_equal(list.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const bool is_box = list.at[i].machine_id == box;

		assert_int_equal(list.at[i].series_id != 0, !is_box);
		assert_int_equal(list.at[i].upstream_id != 0, !is_box);
		assert_int_equal(list.at[i].last_s, WORLD_START + (is_box ? 3 : 5) * WORLD_DAY);
	}
	assert_string_not_equal(list.at[0].uid, list.at[1].uid);
	tk_missing_data_list_free(&list);
}

/* As many times the usual gap, to the second; the usual gap is the median, at least a day. */
static void a_machine_is_silent_after_three_usual_gaps(void **state)
{
	static const struct {
		int days[6];
		size_t count;
		int gap; /* days */
	} cases[] = {
	        {{0}, 1, 1}, {{0, 1, 2, 3}, 4, 1}, {{0, 2, 4, 6}, 4, 2}, {{0, 7, 14, 21, 22}, 5, 7},
	        {{0, 10, 11, 12, 13}, 5, 1}, /* one holiday is not usual */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world w;

		world_open(&w, NULL);
		w.missing_data_nights = MISSING;
		world_build(&w, "a", 1, "b", "h1", "");
		for (size_t k = 0; k < cases[i].count; k++)
			measure(&w, cases[i].days[k], "nightly", "p");
		const int64_t due_s = w.as_of_s + MISSING * cases[i].gap * WORLD_DAY;
		for (int late = 0; late < 2; late++) {
			struct tk_missing_data_list list = find_at(&w, due_s + late, 0);

			if (list.count != (size_t)late)
				fail_msg("case %zu, %d s late: %zu", i, late, list.count);
			tk_missing_data_list_free(&list);
		}
		world_close(&w);
	}
}

static void ninety_days_are_the_end(void **state)
{
	struct world *w = *state;
	const int64_t day90_s = WORLD_START + 2 * WORLD_DAY + 90 * WORLD_DAY;
	const struct tk_missing_data m = {.last_s = 1000};
	struct tk_missing_data_list list;

	measure_days(w, 0, 2, "p");
	list = find_at(w, day90_s, 0);
	assert_int_equal(list.count, 1);
	tk_missing_data_list_free(&list);
	list = find_at(w, day90_s + 1, 0);
	assert_int_equal(list.count, 0);
	tk_missing_data_list_free(&list);
	assert_false(tk_missing_data_is_history(&m, 1000 + 90 * WORLD_DAY));
	assert_true(tk_missing_data_is_history(&m, 1001 + 90 * WORLD_DAY));
}

static void an_empty_history_lacks_nothing(void **state)
{
	struct world *w = *state;
	struct tk_missing_data_list list = find_at(w, WORLD_START + 50 * WORLD_DAY, 0);

	assert_int_equal(list.count, 0);
	tk_missing_data_list_free(&list);
}

/* ---- alerts ---- */

static void update(struct world *w, int64_t now_s)
{
	struct tk_detect_options o = world_options(w);

	o.now_s = now_s;
	assert_int_equal(tk_missing_data_update_alerts(w->store, &o, 0, &w->err), 0);
}

/* The alerts are these: "open series, closed machine". */
static void expect_alerts(struct world *w, const char *expected)
{
	char got[300] = "";
	struct tk_rows alerts;

	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	for (size_t i = alerts.count; i-- > 0;) {
		const struct tk_alert_row *a = TK_ROWS_AT(&alerts, struct tk_alert_row, i);

		assert_int_equal(a->kind, TK_ALERT_MISSING_DATA);
		assert_int_equal(a->cause, TK_CAUSE_MISSING_DATA);
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s %s", *got ? ", " : "",
		        tk_alert_status_name(a->status),
		        a->series_id     ? "series"
		        : a->upstream_id ? "upstream"
		                         : "machine");
	}
	tk_rows_free(&alerts);
	assert_string_equal(got, expected);
}

/* Again and again it is the same alert, opened then; data closes it; the next gap is another. */
static void an_alert_lasts_as_long_as_the_gap(void **state)
{
	struct world *w = *state;
	struct tk_rows alerts;

	measure_days(w, 0, 4, "pq");
	measure_days(w, 5, 7, "p");
	const int64_t opened_s = w->as_of_s + 60;
	for (int again = 0; again < 3; again++)
		update(w, opened_s + again);
	expect_alerts(w, "open series");
	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	assert_int_equal(TK_ROWS_AT(&alerts, struct tk_alert_row, 0)->opened_s, opened_s);
	tk_rows_free(&alerts);
	measure(w, 8, "nightly", "pq");
	update(w, w->as_of_s + 60);
	expect_alerts(w, "closed series");
	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	assert_int_equal(TK_ROWS_AT(&alerts, struct tk_alert_row, 0)->closed_s, w->as_of_s + 60);
	tk_rows_free(&alerts);
	measure_days(w, 9, 11, "p");
	update(w, w->as_of_s + 60);
	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	assert_int_equal(alerts.count, 2);
	tk_rows_free(&alerts);
}

/* While the machine is silent nothing is known of its series: their alerts stay open. */
static void a_silent_machine_closes_nothing(void **state)
{
	struct world *w = *state;
	struct tk_rows alerts;
	size_t open = 0;

	measure_days(w, 0, 4, "pq");
	measure_days(w, 5, 7, "p");
	update(w, w->as_of_s + 60);
	update(w, w->as_of_s + 4 * WORLD_DAY);
	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	for (size_t i = 0; i < alerts.count; i++)
		open += TK_ROWS_AT(&alerts, struct tk_alert_row, i)->status == TK_ALERT_OPEN;
	assert_int_equal(open, 2);
	tk_rows_free(&alerts);
	measure_days(w, 12, 12, "pq");
	update(w, w->as_of_s + 60);
	assert_int_equal(tk_store_list_alerts(w->store, &alerts, &w->err), 0);
	for (size_t i = 0; i < alerts.count; i++)
		assert_int_equal(
		        TK_ROWS_AT(&alerts, struct tk_alert_row, i)->status, TK_ALERT_CLOSED);
	tk_rows_free(&alerts);
}

/* The names of alerts are the same on every machine that has the history, and of what is missing
 * and since when. */
static void uids_name_what_is_missing(void **state)
{
	static const struct {
		const char *machine, *upstream, *slug;
		int64_t last_s;
	} cases[] = {{"box", NULL, NULL, 1}, {"box", NULL, NULL, 2}, {"box", "self", NULL, 1},
	        {"box", "self", "box.p", 1}, {"box", "self", "box.q", 1}, {"box2", NULL, NULL, 1}};
	char uids[6][TK_ALERT_UID_SIZE], groups[6][TK_ALERT_UID_SIZE];

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		char again[TK_ALERT_UID_SIZE], group[TK_ALERT_UID_SIZE];

		tk_missing_data_make_uids(cases[i].machine, cases[i].upstream, cases[i].slug,
		        cases[i].last_s, uids[i], groups[i]);
		tk_missing_data_make_uids(cases[i].machine, cases[i].upstream, cases[i].slug,
		        cases[i].last_s, again, group);
		assert_string_equal(uids[i], again);
		assert_string_equal(groups[i], group);
		assert_string_not_equal(uids[i], groups[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(uids[i], uids[k]);
	}
	/* series and the whole of one upstream that stopped in one night are a group */
	assert_string_equal(groups[2], groups[3]);
	assert_string_equal(groups[3], groups[4]);
	assert_string_not_equal(groups[0], groups[2]);
	assert_string_not_equal(groups[0], groups[1]);
}

#define MEASURED(test) cmocka_unit_test_setup_teardown(test, setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        MEASURED(a_series_is_missing_from_the_third_night_on),
	        MEASURED(only_full_nights_count),
	        MEASURED(rotated_series_have_a_round_more),
	        MEASURED(nights_of_one_upstream_are_no_turn),
	        MEASURED(parts_of_a_night_are_one_night),
	        cmocka_unit_test(failures_are_not_missing_and_skipped_runs_are),
	        MEASURED(the_night_that_is_analysed_counts),
	        MEASURED(an_upstream_is_reported_as_a_whole),
	        MEASURED(machines_are_apart),
	        cmocka_unit_test(a_machine_is_silent_after_three_usual_gaps),
	        MEASURED(ninety_days_are_the_end),
	        MEASURED(an_empty_history_lacks_nothing),
	        MEASURED(an_alert_lasts_as_long_as_the_gap),
	        MEASURED(a_silent_machine_closes_nothing),
	        cmocka_unit_test(uids_name_what_is_missing),
	};

	return cmocka_run_group_tests_name("missing data", tests, NULL, NULL);
}
