/* Night after night: alerts open once and close, verdicts and change points are kept, flat noise
 * raises next to no alarm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "detect/report/reason.h"
#include "world.h"

static struct tk_rows alerts(struct world *w)
{
	struct tk_rows a;

	assert_int_equal(tk_store_list_alerts(w->store, &a, &w->err), 0);
	return a;
}

static void expect_alerts(struct world *w, size_t open, size_t closed)
{
	struct tk_rows a = alerts(w);
	size_t is_open = 0;

	for (size_t i = 0; i < a.count; i++)
		is_open += TK_ROWS_AT(&a, struct tk_alert_row, i)->status == TK_ALERT_OPEN;
	assert_int_equal(is_open, open);
	assert_int_equal(a.count - is_open, closed);
	tk_rows_free(&a);
}

/* One night of one series of a new revision; returns its word. */
static enum tk_verdict_status live(
        struct world *w, int day, double value, char reason[TK_REASON_SIZE])
{
	struct tk_diff_report r;
	enum tk_verdict_status s;
	char rev[16];

	snprintf(rev, sizeof rev, "rev%d", day);
	world_build(w, rev, day + 1, "b", rev, "A change");
	world_night(w, day, "nightly");
	world_point(w, "b", "p", value);
	r = world_detect_night(w);
	assert_int_equal(r.count, 1);
	s = r.rows[0].verdict.status;
	snprintf(reason, TK_REASON_SIZE, "%s", world_reason(&r.rows[0]));
	tk_diff_report_free(&r);
	return s;
}

static void a_step_is_one_alert_until_it_recovers(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_rows a, cp, v;
	char reason[TK_REASON_SIZE];

	tk_rng_seed(&rng, 11);
	world_open(&w, NULL);
	for (int day = 0; day < 45; day++) {
		double level = day < 25 ? 1e6 : day < 35 ? 1.1e6 : 1.001e6;
		enum tk_verdict_status s =
		        live(&w, day, level * (1 + 0.003 * tk_rng_normal(&rng)), reason);
		enum tk_verdict_status want = day == 0    ? TK_VERDICT_NEW
		                              : day == 25 ? TK_VERDICT_REGRESSED
		                              : day == 35 ? TK_VERDICT_RECOVERED
		                                          : TK_VERDICT_SAME;

		if (s != want)
			fail_msg("night %d: %s (%s), expected %s", day, tk_verdict_status_name(s),
			        reason, tk_verdict_status_name(want));
		expect_alerts(&w, day >= 25 && day < 35, day >= 35);
		if (day == 26)
			assert_non_null(strstr(
			        reason, "still at the level of the alert of 2026-01-26 (rev25)"));
	}
	a = alerts(&w);
	assert_string_equal(TK_ROWS_AT(&a, struct tk_alert_row, 0)->bad_rev, "rev25");
	assert_string_equal(TK_ROWS_AT(&a, struct tk_alert_row, 0)->good_rev, "rev24");
	assert_int_equal(
	        TK_ROWS_AT(&a, struct tk_alert_row, 0)->opened_s, WORLD_START + 25 * WORLD_DAY);
	assert_int_equal(
	        TK_ROWS_AT(&a, struct tk_alert_row, 0)->closed_s, WORLD_START + 35 * WORLD_DAY);
	tk_rows_free(&a);
	assert_int_equal(tk_store_list_change_points(w.store, 0, &cp, &w.err), 0);
	assert_int_equal(cp.count, 2);
	assert_int_equal(TK_ROWS_AT(&cp, struct tk_change_point_row, 0)->as_of_s,
	        WORLD_START + 25 * WORLD_DAY);
	assert_int_equal(TK_ROWS_AT(&cp, struct tk_change_point_row, 0)->cause, TK_CAUSE_CODE);
	tk_rows_free(&cp);
	assert_int_equal(tk_store_list_verdicts(w.store, w.night, &v, &w.err), 0);
	assert_int_equal(v.count, 1);
	assert_int_equal(TK_ROWS_AT(&v, struct tk_verdict_row, 0)->status, TK_VERDICT_SAME);
	tk_rows_free(&v);
	world_close(&w);
}

static void an_acknowledged_step_is_acked(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_rows a;
	struct tk_triage_row t = {.at_s = WORLD_START,
	        .author = "me",
	        .action = TK_ACTION_ACK,
	        .note = "wanted: more accurate"};
	struct tk_diff_report r;
	char reason[TK_REASON_SIZE];
	int64_t id;

	tk_rng_seed(&rng, 12);
	world_open(&w, NULL);
	for (int day = 0; day < 22; day++)
		live(&w, day, (day < 20 ? 1e6 : 1.2e6) * (1 + 0.003 * tk_rng_normal(&rng)), reason);
	r = world_diff(&w, 15);
	assert_int_equal(r.rows[0].verdict.status, TK_VERDICT_REGRESSED);
	tk_diff_report_free(&r);
	a = alerts(&w);
	t.alert_uid = TK_ROWS_AT(&a, struct tk_alert_row, 0)->uid;
	assert_int_equal(tk_store_put_triage(w.store, &t, &id, &w.err), 0);
	r = world_diff(&w, 15);
	assert_int_equal(r.rows[0].verdict.status, TK_VERDICT_ACKED);
	assert_non_null(
	        strstr(world_reason(&r.rows[0]), "regressed, acked by me: wanted: more accurate"));
	tk_diff_report_free(&r);
	t.action = TK_ACTION_REOPEN;
	t.at_s++;
	assert_int_equal(tk_store_put_triage(w.store, &t, &id, &w.err), 0);
	r = world_diff(&w, 15);
	assert_int_equal(r.rows[0].verdict.status, TK_VERDICT_REGRESSED);
	tk_diff_report_free(&r);
	tk_rows_free(&a);
	world_close(&w);
}

static void an_improvement_is_news_once(void **state)
{
	struct world w;
	struct tk_rng rng;
	char reason[TK_REASON_SIZE];

	tk_rng_seed(&rng, 13);
	world_open(&w, NULL);
	for (int day = 0; day < 32; day++) {
		enum tk_verdict_status s = live(&w, day,
		        (day < 25 ? 1e6 : 0.9e6) * (1 + 0.003 * tk_rng_normal(&rng)), reason);

		if (day)
			assert_int_equal(s, day == 25 ? TK_VERDICT_IMPROVED : TK_VERDICT_SAME);
	}
	expect_alerts(&w, 0, 0);
	world_close(&w);
}

/* A small step that one night cannot prove is found when the next ones bear it out, and blamed on
 * the right revision.
 */
/* The newest night asked for again says what it said, though an alert of the night before it is
 * known by then. */
static void the_latest_night_is_reported_as_it_was(void **state)
{
	static const double p[] = {1, 1.2, 1.6}, q[] = {1, 1, 0.8};
	const struct tk_diff_range range = {.until_s = INT64_MAX};
	size_t regressed = 0, improved = 0;
	struct tk_detect_options o;
	struct world w;
	struct tk_rng rng;

	tk_rng_seed(&rng, 5);
	world_open(&w, NULL);
	for (int day = 0; day < 26; day++) {
		const int step = (day >= 23) + (day >= 24);
		struct tk_diff_report said, again;
		char rev[16];

		snprintf(rev, sizeof rev, "rev%d", step);
		world_build(&w, rev, step + 1, "b", rev, "A change");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", 1e6 * p[step] * (1 + 0.003 * tk_rng_normal(&rng)));
		world_point(&w, "b", "q", 1e6 * q[step] * (1 + 0.003 * tk_rng_normal(&rng)));
		said = world_detect_night(&w);
		o = world_options(&w);
		assert_int_equal(tk_store_finish_night(w.store, w.night, TK_NIGHT_COMPLETE, "{}",
		                         w.as_of_s + 60, &w.err),
		        0);
		assert_int_equal(tk_detect_latest_nights(w.store, &o, &range, &again, &w.err), 0);
		assert_int_equal(again.count, said.count);
		for (size_t i = 0; i < said.count; i++) {
			assert_string_equal(again.rows[i].series, said.rows[i].series);
			assert_int_equal(again.rows[i].verdict.status, said.rows[i].verdict.status);
			assert_memory_equal(again.rows[i].verdict.facts, said.rows[i].verdict.facts,
			        again.rows[i].verdict.fact_count *
			                sizeof again.rows[i].verdict.facts[0]);
		}
		regressed += said.by_status[TK_VERDICT_REGRESSED];
		improved += said.by_status[TK_VERDICT_IMPROVED];
		tk_diff_report_free(&said);
		tk_diff_report_free(&again);
	}
	assert_int_equal(regressed, 2);
	assert_int_equal(improved, 1);
	world_close(&w);
}

/* A night that goes on, or was killed, is not the one that left out what it has not come to. */
static void an_unfinished_night_reports_nothing_missing(void **state)
{
	const struct tk_diff_range newest = {.until_s = INT64_MAX},
	                           all = {.until_s = INT64_MAX, .since_s = WORLD_START};
	struct tk_detect_options o;
	struct tk_diff_report r;
	struct world w;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	for (int day = 0; day < 3; day++) {
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", 1e6);
		if (day < 2)
			world_point(&w, "b", "q", 1e6);
	}
	assert_int_equal(tk_store_commit(w.store, &w.err), 0);
	w.open = false;
	o = world_options(&w);
	assert_int_equal(tk_detect_diff(w.store, &o, &all, &r, &w.err), 0);
	assert_int_equal(r.by_status[TK_VERDICT_SAME], 2);
	tk_diff_report_free(&r);
	assert_int_equal(tk_detect_latest_nights(w.store, &o, &newest, &r, &w.err), 0);
	assert_int_equal(r.by_status[TK_VERDICT_SAME], 2);
	tk_diff_report_free(&r);
	world_end_night(&w);
	assert_int_equal(tk_detect_latest_nights(w.store, &o, &newest, &r, &w.err), 0);
	assert_int_equal(r.by_status[TK_VERDICT_MISSING], 1);
	tk_diff_report_free(&r);
	world_close(&w);
}

static enum tk_verdict_status status_of(struct world *w, const char *problem)
{
	struct tk_diff_report r = world_detect_night(w);
	enum tk_verdict_status status = world_row(&r, "b", problem)->verdict.status;

	tk_diff_report_free(&r);
	return status;
}

/* Measured on one of three nights. After a turn that did not come it is missing. */
static void a_rotated_series_waits_for_its_turn(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, NULL);
	w.rotate_nights = 3;
	world_build(&w, "aaa", 1, "b", "h1", "");
	for (int day = 0; day < 9; day++) {
		world_night(&w, day, "nightly");
		world_point(&w, "b", day % 3 ? "other" : "p", 1e6);
		if (day % 3)
			assert_int_equal(status_of(&w, "p"), TK_VERDICT_SAME);
	}
	world_night(&w, 9, "nightly");
	world_point(&w, "b", "other", 1e6);
	assert_int_equal(status_of(&w, "p"), TK_VERDICT_MISSING);
	world_close(&w);
}

static void late_evidence_counts(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_rows a;
	char reason[TK_REASON_SIZE];
	int found = 0;

	tk_rng_seed(&rng, 14);
	world_open(&w, NULL);
	for (int day = 0; day < 30; day++)
		found += live(&w, day,
		                 (day < 25 ? 1e6 : 1.035e6) * (1 + 0.008 * tk_rng_normal(&rng)),
		                 reason) == TK_VERDICT_REGRESSED;
	assert_int_equal(found, 1);
	a = alerts(&w);
	assert_int_equal(a.count, 1);
	assert_string_equal(TK_ROWS_AT(&a, struct tk_alert_row, 0)->bad_rev, "rev25");
	tk_rows_free(&a);
	world_close(&w);
}

static void a_backfilled_night_is_no_reason_to_miss_the_others(void **state)
{
	struct world w;
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly");
	world_point(&w, "b", "p", 1e6), world_point(&w, "c", "p", 1e6);
	world_night(&w, 1, "backfill");
	world_point(&w, "b", "p", 1e6);
	r = world_detect_night(&w);
	assert_int_equal(r.count, 1);
	tk_diff_report_free(&r);
	world_night(&w, 2, "nightly");
	world_point(&w, "b", "p", 1e6);
	r = world_detect_night(&w);
	assert_int_equal(world_row(&r, "c", "p")->verdict.status, TK_VERDICT_MISSING);
	tk_diff_report_free(&r);
	assert_int_equal(tk_detect_night(w.store, 77, &(struct tk_detect_options){0}, NULL, &w.err),
	        TK_ENOTFOUND);
	assert_string_equal(w.err.message, "no night has the id 77");
	world_close(&w);
}

/* 300 flat series, each with a noise of its own, every night a new revision: thirty nights of
 * verdicts. */
static void flat_noise_raises_few_alarms(void **state)
{
	enum { SERIES = 300, FIRST = 30, NIGHTS = 45 };
	struct world w;
	struct tk_rng rng;
	double noise[SERIES];
	size_t alarms = 0, unsure = 0, words = 0;

	tk_rng_seed(&rng, 15);
	world_open(&w, NULL);
	for (int i = 0; i < SERIES; i++)
		noise[i] = 0.001 * pow(30, tk_rng_uniform(&rng));
	for (int day = 0; day < NIGHTS; day++) {
		char rev[16], problem[16];

		snprintf(rev, sizeof rev, "rev%d", day);
		world_build(&w, rev, day + 1, "b", rev, "");
		world_night(&w, day, "nightly");
		for (int i = 0; i < SERIES; i++) {
			snprintf(problem, sizeof problem, "p%d", i);
			world_point(&w, "b", problem, 1e6 * (1 + noise[i] * tk_rng_normal(&rng)));
		}
		if (day >= FIRST) {
			struct tk_diff_report r = world_diff(&w, day);

			alarms += r.by_status[TK_VERDICT_REGRESSED] +
			          r.by_status[TK_VERDICT_IMPROVED];
			unsure += r.by_status[TK_VERDICT_UNSURE];
			words += r.count;
			tk_diff_report_free(&r);
		}
	}
	assert_int_equal(words, SERIES * (NIGHTS - FIRST));
	assert_in_range(alarms, 0, 4); /* under 1 in 1,000 series-nights */
	assert_in_range(unsure, 0, words / 50);
	world_close(&w);
}

/* Twelve series of unchanged code beside the one that is looked at. */
static struct tk_diff_report a_night(
        struct world *w, struct tk_rng *rng, int day, double value, const char *kind)
{
	world_night(w, day, kind);
	world_point(w, "b", "p", value);
	for (int i = 0; i < 12; i++) {
		char name[] = "other-a";

		name[6] = (char)('a' + i);
		world_point(w, "b", name, 1e6 * (1 + 0.003 * tk_rng_normal(rng)));
	}
	return world_detect_night(w);
}

/* 2.5 % in noise of 1.5 %: no three nights can prove it, all of them together do, and the one new
 * build is blamed. */
static void a_small_step_is_reported_after_some_nights(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_rows a, said;
	int found = -1;

	tk_rng_seed(&rng, 21);
	world_open(&w, NULL);
	for (int day = 0; day < 90; day++) {
		struct tk_diff_report r;
		const struct tk_diff_row *row;

		world_build(&w, day < 60 ? "old" : "new", day < 60 ? 1 : 5, "b",
		        day < 60 ? "h1" : "h2", "Be careful");
		r = a_night(&w, &rng, day,
		        (day < 60 ? 1e6 : 1.025e6) * (1 + 0.015 * tk_rng_normal(&rng)), "nightly");
		row = world_row(&r, "b", "p");
		if (row->verdict.status == TK_VERDICT_REGRESSED) {
			assert_int_equal(found, -1);
			found = day;
			assert_non_null(strstr(world_reason(row), "level changed on 2026-03-02"));
			assert_string_equal(row->bad_rev, "new");
			assert_string_equal(row->good_rev, "old");
			assert_true(row->verdict.change.value > 0.01 &&
			            row->verdict.change.value < 0.04);
		} else if (row->verdict.status != TK_VERDICT_NEW &&
		           row->verdict.status != TK_VERDICT_UNSURE) {
			assert_int_equal(row->verdict.status, TK_VERDICT_SAME);
		}
		tk_diff_report_free(&r);
		r = world_detect_night(&w); /* again: the same */
		if (found == day)
			assert_int_equal(
			        world_row(&r, "b", "p")->verdict.status, TK_VERDICT_REGRESSED);
		tk_diff_report_free(&r);
	}
	assert_in_range(found, 64, 89);
	a = alerts(&w);
	assert_int_equal(a.count, 1);
	tk_rows_free(&a);
	assert_int_equal(
	        tk_store_list_monitor_events(w.store, INT64_MIN, INT64_MAX, &said, &w.err), 0);
	assert_int_equal(said.count, 1);
	assert_int_equal(TK_ROWS_AT(&said, struct tk_monitor_event_row, 0)->kind, TK_MONITOR_STEP);
	tk_rows_free(&said);
	world_close(&w);
}

/* Every night another revision whose code nobody knows: one night alone is no alarm, the third is.
 * A diff says what the nights have said. */
static void one_night_of_unknown_code_is_not_an_alarm(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;
	enum tk_verdict_status words[64] = {0};

	tk_rng_seed(&rng, 22);
	world_open(&w, NULL);
	for (int day = 0; day < 44; day++) {
		char rev[16];

		snprintf(rev, sizeof rev, "rev%d", day);
		world_build(&w, rev, day + 1, "b", NULL, "");
		r = a_night(&w, &rng, day,
		        (day < 40 ? 1e6 : 1.05e6) * (1 + 0.003 * tk_rng_normal(&rng)), "import");
		words[day] = world_row(&r, "b", "p")->verdict.status;
		tk_diff_report_free(&r);
	}
	assert_int_equal(words[40], TK_VERDICT_UNSURE);
	assert_int_equal(words[41], TK_VERDICT_UNSURE);
	assert_int_equal(words[42], TK_VERDICT_REGRESSED);
	assert_int_equal(words[43], TK_VERDICT_SAME);
	r = world_diff(&w, 41);
	assert_int_equal(world_row(&r, "b", "p")->verdict.status, TK_VERDICT_REGRESSED);
	assert_string_equal(world_row(&r, "b", "p")->bad_rev, "rev40");
	tk_diff_report_free(&r);
	world_close(&w);
}

/* Each time a drift has carried the level by the threshold it is said, with a change that exceeds
 * it; so does a diff.
 */
static void a_drift_is_reported_with_its_size(void **state)
{
	struct world w;
	struct tk_rng rng;
	int said = 0;

	tk_rng_seed(&rng, 24);
	world_open(&w, NULL);
	for (int day = 0; day < 75; day++) {
		double level = 1e6 * (1 + (day < 40 ? 0 : 0.002 * (day - 40)));
		char rev[16];

		snprintf(rev, sizeof rev, "rev%d", day);
		world_build(&w, rev, day + 1, "b", NULL, "");
		for (int diff = 0; diff < 2; diff++) {
			struct tk_diff_report r =
			        diff ? world_diff(&w, day - 8)
			             : a_night(&w, &rng, day,
			                       level * (1 + 0.003 * tk_rng_normal(&rng)), "import");
			const struct tk_diff_row *row = world_row(&r, "b", "p");

			if (row->verdict.status == TK_VERDICT_REGRESSED) {
				assert_true(row->verdict.change.value > 0.02 &&
				            row->verdict.severity > 1);
				assert_true(
				        fabs(row->verdict.after.value / row->verdict.before.value -
				                1 - row->verdict.change.value) < 1e-9);
				assert_true(row->verdict.change.lo < row->verdict.change.value &&
				            row->verdict.change.value < row->verdict.change.hi);
				said += !diff;
			}
			tk_diff_report_free(&r);
		}
	}
	assert_in_range(said, 1, 4);
	world_close(&w);
}

/* What comes to the history from before the newest night is learnt with the next one. */
static void nights_that_arrive_late_are_monitored(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;
	struct tk_rows watched;

	tk_rng_seed(&rng, 23);
	world_open(&w, NULL);
	world_build(&w, "rev", 1, "b", "h", "");
	for (int day = 30; day < 40; day++) {
		r = a_night(&w, &rng, day, 1e6 * (1 + 0.003 * tk_rng_normal(&rng)), "nightly");
		tk_diff_report_free(&r);
	}
	for (int day = 5; day < 30; day++) {
		r = a_night(&w, &rng, day, 1e6 * (1 + 0.003 * tk_rng_normal(&rng)), "backfill");
		tk_diff_report_free(&r);
	}
	assert_int_equal(tk_store_list_monitored_nights(w.store, &watched, &w.err), 0);
	assert_int_equal(watched.count, 10);
	tk_rows_free(&watched);
	r = a_night(&w, &rng, 40, 1e6, "nightly");
	tk_diff_report_free(&r);
	assert_int_equal(tk_store_list_monitored_nights(w.store, &watched, &w.err), 0);
	assert_int_equal(watched.count, 36);
	tk_rows_free(&watched);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_step_is_one_alert_until_it_recovers),
	        cmocka_unit_test(an_acknowledged_step_is_acked),
	        cmocka_unit_test(an_improvement_is_news_once),
	        cmocka_unit_test(the_latest_night_is_reported_as_it_was),
	        cmocka_unit_test(an_unfinished_night_reports_nothing_missing),
	        cmocka_unit_test(a_rotated_series_waits_for_its_turn),
	        cmocka_unit_test(late_evidence_counts),
	        cmocka_unit_test(a_backfilled_night_is_no_reason_to_miss_the_others),
	        cmocka_unit_test(flat_noise_raises_few_alarms),
	        cmocka_unit_test(a_small_step_is_reported_after_some_nights),
	        cmocka_unit_test(one_night_of_unknown_code_is_not_an_alarm),
	        cmocka_unit_test(a_drift_is_reported_with_its_size),
	        cmocka_unit_test(nights_that_arrive_late_are_monitored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
