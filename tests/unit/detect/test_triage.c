/* Alerts in groups, what people make of them, failures, and data that did not come. */
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

static struct tk_rng rng;

static double quiet(double level)
{
	return level * (1 + 0.003 * tk_rng_normal(&rng));
}

static struct tk_rows alerts(struct world *w)
{
	struct tk_rows a;

	assert_int_equal(tk_store_list_alerts(w->store, &a, &w->err), 0);
	return a;
}

static size_t count(struct world *w, const char *kind, const char *status)
{
	struct tk_rows a = alerts(w);
	size_t n = 0;

	for (size_t i = 0; i < a.count; i++) {
		const struct tk_alert_row *row = TK_ROWS_AT(&a, struct tk_alert_row, i);

		n += strcmp(tk_alert_kind_name(row->kind), kind) == 0 &&
		     strcmp(tk_alert_status_name(row->status), status) == 0;
	}
	tk_rows_free(&a);
	return n;
}

static enum tk_verdict_status judge(
        struct world *w, const char *problem, char reason[TK_REASON_SIZE])
{
	struct tk_diff_report r = world_detect_night(w);
	const struct tk_diff_row *row = world_row(&r, "b", problem);
	enum tk_verdict_status s = row->verdict.status;

	snprintf(reason, TK_REASON_SIZE, "%s", world_reason(row));
	tk_diff_report_free(&r);
	return s;
}

static void triage_alert(
        struct world *w, const char *uid, enum tk_triage_action action, const char *note)
{
	const struct tk_triage_row t = {.alert_uid = uid,
	        .at_s = w->as_of_s,
	        .author = "me",
	        .action = action,
	        .note = note};

	assert_int_equal(tk_store_append_triage(w->store, &t, &w->err), 0);
}

/* Two machines with the same card, both made slower by one commit; a third one has another card. */
static void two_machines_night(struct world *w, int day, bool slow)
{
	static const char *const machines[][2] = {
	        {"node-a", "h200"}, {"node-b", "h200"}, {"node-c", "mi300x"}};

	for (size_t m = 0; m < 3; m++) {
		char reason[TK_REASON_SIZE];

		world_machine(w, machines[m][0], machines[m][1]);
		world_night(w, day, "nightly");
		world_build(w, slow ? "bad" : "good", slow ? 2 : 1, "b", slow ? "h2" : "h1", "");
		world_point(w, "b", "p", quiet(slow ? 1.2e6 : 1e6));
		world_point(w, "b", "q", quiet(slow ? 2.3e6 : 2e6));
		judge(w, "p", reason);
	}
}

static void changes_of_one_commit_are_a_group(void **state)
{
	struct world w;
	struct tk_rows a;
	const char *h200 = NULL, *other = NULL;
	struct tk_rows triage;

	tk_rng_seed(&rng, 1);
	world_open(&w, NULL);
	for (int day = 0; day < 16; day++)
		two_machines_night(&w, day, day >= 15);
	a = alerts(&w);
	assert_int_equal(a.count, 6);
	for (size_t i = 0; i < a.count; i++) {
		const struct tk_alert_row *row = TK_ROWS_AT(&a, struct tk_alert_row, i);
		const char **group = strstr(row->title, "node-c") ? &other : &h200;

		assert_int_equal(row->kind, TK_ALERT_CHANGE);
		assert_true(row->machine_id && row->upstream_id && row->series_id);
		*group = *group ? *group : row->group_uid;
		assert_string_equal(*group, row->group_uid);
	}
	assert_string_not_equal(h200, other);

	/* triage of the group applies to each of its alerts */
	triage_alert(&w, h200, TK_ACTION_ACK, "on it");
	triage_alert(&w, TK_ROWS_AT(&a, struct tk_alert_row, 0)->uid, TK_ACTION_NOTE,
	        "a remark changes nothing");
	assert_int_equal(tk_store_list_triage(w.store, &triage, &w.err), 0);
	for (size_t i = 0; i < a.count; i++) {
		const struct tk_alert_row *row = TK_ROWS_AT(&a, struct tk_alert_row, i);

		assert_int_equal(tk_alert_compute_state(&triage, row),
		        strcmp(row->group_uid, h200) == 0 ? TK_TRIAGE_ACKED : TK_TRIAGE_NEW);
	}
	tk_rows_free(&triage);

	/* in the same second: the group's word, that of one of it, the group's again; also of one
	 * that closed itself */
	struct tk_alert_row *one = NULL;
	for (size_t i = 0; i < a.count; i++)
		if (strcmp(TK_ROWS_AT(&a, struct tk_alert_row, i)->group_uid, h200) == 0)
			one = (struct tk_alert_row *)a.rows + i;
	static const enum tk_triage_action actions[] = {TK_ACTION_EXPECT, TK_ACTION_REOPEN,
	        TK_ACTION_IGNORE, TK_ACTION_REOPEN, TK_ACTION_ACK};
	static const enum tk_triage_state while_open[] = {TK_TRIAGE_EXPECTED, TK_TRIAGE_NEW,
	        TK_TRIAGE_IGNORED, TK_TRIAGE_NEW, TK_TRIAGE_ACKED};
	static const enum tk_triage_state when_closed[] = {TK_TRIAGE_EXPECTED, TK_TRIAGE_RECOVERED,
	        TK_TRIAGE_IGNORED, TK_TRIAGE_RECOVERED, TK_TRIAGE_RECOVERED};
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
		triage_alert(&w, i % 2 ? one->uid : h200, actions[i], "why");
		assert_int_equal(tk_store_list_triage(w.store, &triage, &w.err), 0);
		one->status = TK_ALERT_OPEN;
		assert_int_equal(tk_alert_compute_state(&triage, one), while_open[i]);
		one->status = TK_ALERT_CLOSED;
		assert_int_equal(tk_alert_compute_state(&triage, one), when_closed[i]);
		tk_rows_free(&triage);
	}
	tk_rows_free(&a);
	world_close(&w);
}

/* The order in which people say things in one second is kept. */
static void the_newest_triage_action_counts(void **state)
{
	struct world w;
	struct tk_rows triage;
	struct tk_alert_triage s;

	world_open(&w, NULL);
	w.as_of_s = WORLD_START;
	triage_alert(&w, "x", TK_ACTION_ACK, "");
	triage_alert(&w, "x", TK_ACTION_EXPECT, "wanted");
	triage_alert(&w, "x", TK_ACTION_LINK, "https://example.org/1");
	assert_int_equal(tk_store_list_triage(w.store, &triage, &w.err), 0);
	s = tk_alert_compute_triage(&triage, "x", NULL);
	assert_int_equal(s.state, TK_TRIAGE_EXPECTED);
	assert_string_equal(s.decision->note, "wanted");
	assert_string_equal(s.link->note, "https://example.org/1");
	tk_rows_free(&triage);
	triage_alert(&w, "x", TK_ACTION_REOPEN, "");
	assert_int_equal(tk_store_list_triage(w.store, &triage, &w.err), 0);
	s = tk_alert_compute_triage(&triage, "x", NULL);
	assert_int_equal(s.state, TK_TRIAGE_NEW);
	assert_null(s.decision);
	assert_non_null(s.link);
	tk_rows_free(&triage);
	world_close(&w);
}

static void failures_open_and_close(void **state)
{
	struct world w;
	char reason[TK_REASON_SIZE];

	tk_rng_seed(&rng, 2);
	world_open(&w, NULL);
	world_build(&w, "a", 1, "b", "h1", "");
	for (int day = 0; day < 6; day++) {
		world_night(&w, day, "nightly");
		if (day == 2)
			world_build(&w, "b", 2, "b", "h2", "");
		if (day == 2 || day == 4)
			world_fail(&w, "b", "p", "crashed", "signal 11");
		else if (day == 3)
			world_fail(&w, "b", "p", "skipped", "no time left");
		else
			world_point(&w, "b", "p", quiet(1e6));
		switch (judge(&w, "p", reason)) {
		case TK_VERDICT_NEWLY_FAILED:
			assert_int_equal(day, 2);
			break;
		case TK_VERDICT_MISSING: /* no turn: neither fixed nor failed anew */
			assert_int_equal(day, 3);
			break;
		case TK_VERDICT_FAILING:
			assert_int_equal(day, 4);
			break;
		case TK_VERDICT_FIXED:
			assert_int_equal(day, 5);
			break;
		default:
			assert_in_range(day, 0, 1);
		}
		assert_int_equal(count(&w, "failure", "open"), day >= 2 && day < 5);
		assert_int_equal(count(&w, "failure", "closed"), day >= 5);
	}
	world_close(&w);
}

static void a_skipped_night_is_not_a_failure(void **state)
{
	struct world w;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 3);
	world_open(&w, NULL);
	world_build(&w, "a", 1, "b", "h1", "");
	for (int day = 0; day < 12; day++) {
		world_night(&w, day, "nightly");
		if (day == 10)
			world_fail(&w, "b", "p", "skipped", "no time left");
		else
			world_point(&w, "b", "p", quiet(1e6));
	}
	r = world_diff(&w, 11);
	assert_int_equal(world_row(&r, "b", "p")->verdict.status, TK_VERDICT_SAME);
	tk_diff_report_free(&r);
	world_close(&w);
}

/* Two steps up, then all the way back: both alerts close. */
static void all_steps_that_are_undone_close(void **state)
{
	struct world w;
	char reason[TK_REASON_SIZE];

	tk_rng_seed(&rng, 4);
	world_open(&w, NULL);
	for (int day = 0; day < 60; day++) {
		double level = day < 20 ? 1e6 : day < 40 ? 1.1e6 : day < 55 ? 1.25e6 : 1e6;
		char rev[16];

		snprintf(rev, sizeof rev, "rev%d", day);
		world_build(&w, rev, day + 1, "b", rev, "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", quiet(level));
		judge(&w, "p", reason);
		assert_int_equal(count(&w, "change", "open"), day < 20 || day >= 55 ? 0
		                                              : day < 40            ? 1
		                                                                    : 2);
	}
	assert_int_equal(count(&w, "change", "closed"), 2);
	world_close(&w);
}

static void acks_file_acknowledges(void **state)
{
	static const char *const on_box[] = {"backend:b", "problem:p", NULL}, *const on_q[] = {
	                                                                              "problem:q",
	                                                                              NULL};
	const struct tk_ack_rule rules[] = {
	        {.filters = on_q, .action = TK_ACTION_ACK, .author = "x", .note = "n"},
	        {.filters = on_box,
	                .rev = "zzz",
	                .action = TK_ACTION_ACK,
	                .author = "x",
	                .note = "another step"},
	        {.filters = on_box,
	                .action = TK_ACTION_IGNORE,
	                .author = "x",
	                .note = "too late",
	                .until_s = WORLD_START},
	        {.filters = on_box,
	                .rev = "rev1",
	                .action = TK_ACTION_EXPECT,
	                .author = "jane",
	                .note = "more accurate"},
	};
	struct world w;
	struct tk_rows a, triage;
	struct tk_alert_triage s;
	char reason[TK_REASON_SIZE];

	tk_rng_seed(&rng, 5);
	world_open(&w, NULL);
	w.acks = rules;
	w.ack_count = sizeof rules / sizeof *rules;
	for (int day = 0; day < 18; day++) {
		char rev[16];

		snprintf(rev, sizeof rev, "rev%d", day);
		world_build(&w, rev, day + 1, "b", rev, "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", quiet(day < 15 ? 1e6 : 1.2e6));
		assert_int_equal(judge(&w, "p", reason) == TK_VERDICT_ACKED, day == 15);
		if (day == 15)
			assert_non_null(
			        strstr(reason, "regressed, expected by jane: more accurate"));
	}
	a = alerts(&w);
	assert_int_equal(a.count, 1);
	assert_int_equal(tk_store_list_triage(w.store, &triage, &w.err), 0);
	assert_int_equal(triage.count, 1); /* said once, however many nights see it */
	s = tk_alert_compute_triage(&triage, TK_ROWS_AT(&a, struct tk_alert_row, 0)->uid, NULL);
	assert_int_equal(s.state, TK_TRIAGE_EXPECTED);
	assert_string_equal(s.decision->author, "jane");
	tk_rows_free(&a);
	tk_rows_free(&triage);
	world_close(&w);
}

/* ---- data that did not come ------------------------------------------------------------------ */

static struct tk_missing_data_list missing_data(struct world *w, int day)
{
	struct tk_detect_options o = world_options(w);
	struct tk_missing_data_list list;

	world_end_night(w);
	o.now_s = WORLD_START + day * WORLD_DAY;
	assert_int_equal(tk_missing_data_find(w->store, &o, 0, &list, &w->err), 0);
	return list;
}

static void expect_missing_data(struct world *w, int day, const char *title)
{
	struct tk_missing_data_list list = missing_data(w, day);

	assert_int_equal(list.count, title ? 1 : 0);
	if (title && strcmp(list.at[0].title, title) != 0)
		fail_msg("\"%s\", expected \"%s\"", list.at[0].title, title);
	tk_missing_data_list_free(&list);
}

static void put_missing_data(struct world *w, int day)
{
	struct tk_detect_options o = world_options(w);

	o.now_s = WORLD_START + day * WORLD_DAY;
	assert_int_equal(tk_missing_data_update_alerts(w->store, &o, 0, &w->err), 0);
}

static void a_silent_machine(void **state)
{
	struct world w;

	world_open(&w, NULL);
	w.missing_data_nights = 3;
	world_build(&w, "a", 1, "b", "h1", "");
	for (int day = 0; day < 5; day++) {
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", 1e6);
	}
	expect_missing_data(&w, 7, NULL);
	expect_missing_data(&w, 8, "box: no night for 4 d (last: 2026-01-05)");
	/* what was retired is forgotten, what an alert was opened for is not */
	expect_missing_data(&w, 94, "box: no night for 90 d (last: 2026-01-05)");
	expect_missing_data(&w, 95, NULL);
	put_missing_data(&w, 95);
	assert_int_equal(count(&w, "missing-data", "open"), 0);
	put_missing_data(&w, 94);
	put_missing_data(&w, 200);
	assert_int_equal(count(&w, "missing-data", "open"), 1);
	w.missing_data_nights = 0;
	expect_missing_data(&w, 8, NULL);
	world_close(&w);

	/* who measures once a week is not late after three days */
	world_open(&w, NULL);
	w.missing_data_nights = 3;
	world_build(&w, "a", 1, "b", "h1", "");
	for (int week = 0; week < 5; week++) {
		world_night(&w, 7 * week, "nightly");
		world_point(&w, "b", "p", 1e6);
	}
	expect_missing_data(&w, 28 + 20, NULL);
	expect_missing_data(&w, 28 + 22, "box: no night for 22 d (last: 2026-01-29)");
	world_close(&w);
}

static void missing_upstreams_and_series(void **state)
{
	struct world w;
	char reason[TK_REASON_SIZE];

	tk_rng_seed(&rng, 6);
	world_open(&w, NULL);
	w.missing_data_nights = 3;
	for (int day = 0; day < 12; day++) {
		world_night(&w, day, "nightly");
		world_upstream(&w, "self");
		world_build(&w, "a", 1, "b", "h1", "");
		world_point(&w, "b", "p", quiet(1e6));
		if (day < 3) /* never fits the budget from then on */
			world_point(&w, "b", "q", quiet(1e6));
		else if (day < 9)
			world_fail(&w, "b", "q", "skipped", "no time left");
		else
			world_point(&w, "b", "q", quiet(1e6));
		if (day < 3) /* fails from then on: that is not silence */
			world_point(&w, "b", "r", quiet(1e6));
		else
			world_fail(&w, "b", "r", "crashed", "signal 11");
		world_upstream(&w, "other");
		world_build(&w, "v1", 1, "c", "h1", "");
		if (day < 5) {
			world_point(&w, "c", "p", quiet(1e6));
			world_point(&w, "c", "q", quiet(1e6));
		}
		judge(&w, "p", reason);
		assert_int_equal(
		        count(&w, "missing-data", "open"), (day >= 5 && day < 9) + (day >= 7));
		if (day == 6)
			expect_missing_data(
			        &w, 7, "box.cpu.self.b.q.cold: no timing since 2026-01-03");
		if (day == 11)
			expect_missing_data(
			        &w, 12, "other on box: no timing of any series since 2026-01-05");
	}
	assert_int_equal(count(&w, "missing-data", "closed"), 1);
	assert_int_equal(count(&w, "failure", "open"), 1);
	world_close(&w);
}

/* p and q are measured every night, at a new revision each; s and t only now and then. */
static void night_of_ranges(struct world *w, int day)
{
	char rev[16], hash[16], reason[TK_REASON_SIZE];

	world_night(w, day, "nightly");
	snprintf(rev, sizeof rev, "r%d", day);
	snprintf(hash, sizeof hash, "h%d", day);
	world_build(w, rev, day + 1, "b", hash, "");
	world_point(w, "b", "p", quiet(day >= 16 ? 1.2e6 : 1e6));
	world_point(w, "b", "q", quiet(day >= 20 ? 2.5e6 : 2e6));
	if (day <= 15 || day >= 18)
		world_point(w, "b", "s", quiet(day >= 16 ? 3.6e6 : 3e6));
	if (day <= 15 || day >= 22)
		world_point(w, "b", "t", quiet(day >= 16 ? 4.8e6 : 4e6));
	judge(w, "p", reason);
}

static const struct tk_alert_row *alert_of(const struct tk_rows *a, int64_t series)
{
	const struct tk_alert_row *found = NULL;

	for (size_t i = 0; i < a->count; i++)
		if (TK_ROWS_AT(a, struct tk_alert_row, i)->series_id == series)
			found = TK_ROWS_AT(a, struct tk_alert_row, i);
	assert_non_null(found);
	return found;
}

static void overlapping_ranges_are_a_group(void **state)
{
	const struct tk_alert_row *p, *q, *s, *t;
	struct world w;
	struct tk_rows a;

	(void)state;
	tk_rng_seed(&rng, 1);
	world_open(&w, NULL);
	world_machine(&w, "node-a", "h200");
	for (int day = 0; day < 24; day++)
		night_of_ranges(&w, day);
	a = alerts(&w);
	assert_int_equal(a.count, 4);
	p = alert_of(&a, world_series(&w, "b", "p"));
	q = alert_of(&a, world_series(&w, "b", "q"));
	s = alert_of(&a, world_series(&w, "b", "s"));
	t = alert_of(&a, world_series(&w, "b", "t"));
	assert_string_equal(p->bad_rev, "r16");
	assert_string_equal(q->bad_rev, "r20");
	assert_string_not_equal(p->group_uid, q->group_uid);
	/* r15..r18 has r16 in it, and nothing else that is known */
	assert_string_equal(s->good_rev, "r15");
	assert_string_equal(s->bad_rev, "r18");
	assert_string_equal(s->group_uid, p->group_uid);
	/* r15..r22 has both: nothing says which it was */
	assert_string_equal(t->bad_rev, "r22");
	assert_string_not_equal(t->group_uid, p->group_uid);
	assert_string_not_equal(t->group_uid, q->group_uid);

	/* what was said of the group holds for the one that joined it, when it is judged again */
	triage_alert(&w, p->group_uid, TK_ACTION_ACK, "on it");
	night_of_ranges(&w, 24);
	struct tk_rows again = alerts(&w);
	for (size_t i = 0; i < a.count; i++)
		assert_string_equal(TK_ROWS_AT(&a, struct tk_alert_row, i)->group_uid,
		        TK_ROWS_AT(&again, struct tk_alert_row, i)->group_uid);
	tk_rows_free(&again);
	tk_rows_free(&a);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(changes_of_one_commit_are_a_group),
	        cmocka_unit_test(overlapping_ranges_are_a_group),
	        cmocka_unit_test(the_newest_triage_action_counts),
	        cmocka_unit_test(failures_open_and_close),
	        cmocka_unit_test(a_skipped_night_is_not_a_failure),
	        cmocka_unit_test(all_steps_that_are_undone_close),
	        cmocka_unit_test(acks_file_acknowledges),
	        cmocka_unit_test(a_silent_machine),
	        cmocka_unit_test(missing_upstreams_and_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
