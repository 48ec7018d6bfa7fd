/* Alerts with the names of their revisions, what people decided about them, and what the monitor
 * stores. */
#include "history.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct tk_alert_row alert(const struct history *h, const char *uid, int64_t opened_s)
{
	return (struct tk_alert_row){.uid = uid,
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = h->machine,
	        .upstream_id = h->upstream,
	        .series_id = h->series,
	        .night_id = h->night,
	        .status = TK_ALERT_OPEN,
	        .opened_s = opened_s,
	        .change = 0.5,
	        .cause = TK_CAUSE_CODE,
	        .title = "slower"};
}

/* ---- alerts ---- */

static void alerts_are_listed_newest_first(void **state)
{
	struct history *h = *state;
	struct tk_rows rows;
	const struct tk_alert_row alerts[] = {
	        alert(h, "b", 100), alert(h, "a", 100), alert(h, "c", 200)};

	for (size_t i = 0; i < 3; i++)
		MUST(tk_store_put_alert(h->store, &alerts[i], &err));
	MUST(tk_store_list_alerts(h->store, &rows, &err));
	assert_int_equal(rows.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(TK_ROWS_AT(&rows, struct tk_alert_row, i)->uid,
		        ((const char *const[]){"c", "a", "b"})[i]);
	tk_rows_free(&rows);
}

/* An alert is stored once; what is put again replaces it. */
static void an_alert_is_replaced(void **state)
{
	struct history *h = *state;
	struct tk_rows rows;
	struct tk_alert_row row = alert(h, "a", 100);

	MUST(tk_store_put_alert(h->store, &row, &err));
	row.status = TK_ALERT_CLOSED;
	row.closed_s = 300;
	row.group_uid = "g";
	MUST(tk_store_put_alert(h->store, &row, &err));
	MUST(tk_store_list_alerts(h->store, &rows, &err));
	assert_int_equal(rows.count, 1);
	const struct tk_alert_row *stored = TK_ROWS_AT(&rows, struct tk_alert_row, 0);
	assert_int_equal(stored->status, TK_ALERT_CLOSED);
	assert_int_equal(stored->closed_s, 300);
	assert_string_equal(stored->group_uid, "g");
	tk_rows_free(&rows);
}

/* Alone, it is its own group. */
static void an_alert_without_a_group_is_its_own(void **state)
{
	struct history *h = *state;
	struct tk_rows rows;
	const struct tk_alert_row row = alert(h, "a", 100);

	MUST(tk_store_put_alert(h->store, &row, &err));
	MUST(tk_store_list_alerts(h->store, &rows, &err));
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_alert_row, 0)->group_uid, "a");
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_alert_row, 0)->good_rev, "");
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_alert_row, 0)->bad_revision_id, 0);
	tk_rows_free(&rows);
}

/* A revision is found by its name; one that is unknown becomes a row, of the upstream that the
 * alert or its series names. */
static void revisions_are_looked_up_by_name(void **state)
{
	struct history *h = *state;
	struct tk_rows rows;
	struct tk_alert_row row = alert(h, "a", 100);

	row.good_rev = "0123abcd"; /* of the history */
	row.bad_rev = "feedbeef";
	for (int of_series = 0; of_series < 2; of_series++) {
		if (of_series)
			row.upstream_id = 0;
		MUST(tk_store_put_alert(h->store, &row, &err));
		MUST(tk_store_list_alerts(h->store, &rows, &err));
		const struct tk_alert_row *stored = TK_ROWS_AT(&rows, struct tk_alert_row, 0);
		assert_int_equal(stored->good_revision_id, h->revision);
		assert_string_equal(stored->good_rev, "0123abcd");
		assert_string_equal(stored->bad_rev, "feedbeef");
		assert_true(stored->bad_revision_id > h->revision);
		tk_rows_free(&rows);
		assert_int_equal(history_count(h, "revision"), 2);
	}
}

/* An id that is given counts, not the name. */
static void a_revision_by_id_is_not_looked_up(void **state)
{
	struct history *h = *state;
	struct tk_rows rows;
	struct tk_alert_row row = alert(h, "a", 100);

	row.good_revision_id = h->revision;
	row.good_rev = "another name";
	MUST(tk_store_put_alert(h->store, &row, &err));
	MUST(tk_store_list_alerts(h->store, &rows, &err));
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_alert_row, 0)->good_rev, "0123abcd");
	assert_int_equal(history_count(h, "revision"), 1);
	tk_rows_free(&rows);
}

static void a_uid_is_made_of_series_and_commit(void **state)
{
	struct history *h = *state;
	struct tk_alert_row row = alert(h, NULL, 100);

	row.bad_rev = "one";
	MUST(tk_store_put_alert(h->store, &row, &err));
	row.opened_s = 200; /* the same fact */
	MUST(tk_store_put_alert(h->store, &row, &err));
	assert_int_equal(history_count(h, "alert"), 1);
	row.bad_rev = "two";
	MUST(tk_store_put_alert(h->store, &row, &err));
	assert_int_equal(history_count(h, "alert"), 2);
}

/* ---- triage ---- */

static struct tk_triage_row triage(const char *uid, enum tk_triage_action action, const char *note)
{
	return (struct tk_triage_row){
	        .alert_uid = uid, .at_s = 100, .author = "ann", .action = action, .note = note};
}

static void the_newest_decision_counts(void **state)
{
	const struct tk_triage_row rows[] = {triage("a", TK_ACTION_ACK, "1"),
	        triage("b", TK_ACTION_IGNORE, "2"), triage("a", TK_ACTION_LINK, "3"),
	        triage("g", TK_ACTION_EXPECT, "4"), triage("a", TK_ACTION_NOTE, "5"),
	        triage("a", TK_ACTION_REOPEN, "6")};
	static const struct {
		size_t count;
		enum tk_triage_state state;
		const char *decision, *link; /* notes; NULL: none */
	} cases[] = {{0, TK_TRIAGE_NEW, NULL, NULL}, {1, TK_TRIAGE_ACKED, "1", NULL},
	        {2, TK_TRIAGE_ACKED, "1", NULL}, {3, TK_TRIAGE_ACKED, "1", "3"},
	        {4, TK_TRIAGE_EXPECTED, "4", "3"}, {5, TK_TRIAGE_EXPECTED, "4", "3"},
	        {6, TK_TRIAGE_NEW, NULL, "3"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_rows list = {.rows = (void *)rows, .count = cases[i].count};
		const struct tk_alert_triage t = tk_alert_compute_triage(&list, "a", "g");
		assert_int_equal(t.state, cases[i].state);
		assert_int_equal(t.decision != NULL, cases[i].decision != NULL);
		assert_int_equal(t.link != NULL, cases[i].link != NULL);
		if (t.decision)
			assert_string_equal(t.decision->note, cases[i].decision);
		if (t.link)
			assert_string_equal(t.link->note, cases[i].link);
	}
}

static void triage_of_a_group_needs_the_group(void **state)
{
	const struct tk_triage_row rows[] = {triage("g", TK_ACTION_ACK, "")};
	const struct tk_rows list = {.rows = (void *)rows, .count = 1};

	(void)state;
	assert_int_equal(tk_alert_compute_triage(&list, "a", NULL).state, TK_TRIAGE_NEW);
	assert_int_equal(tk_alert_compute_triage(&list, "a", "h").state, TK_TRIAGE_NEW);
	assert_int_equal(tk_alert_compute_triage(&list, "g", NULL).state, TK_TRIAGE_ACKED);
}

/* What ended by itself is recovered, unless it was expected or ignored. */
static void a_closed_alert_is_recovered(void **state)
{
	static const struct {
		enum tk_triage_action action;
		enum tk_triage_state open, closed;
	} cases[] = {{TK_ACTION_NOTE, TK_TRIAGE_NEW, TK_TRIAGE_RECOVERED},
	        {TK_ACTION_ACK, TK_TRIAGE_ACKED, TK_TRIAGE_RECOVERED},
	        {TK_ACTION_EXPECT, TK_TRIAGE_EXPECTED, TK_TRIAGE_EXPECTED},
	        {TK_ACTION_IGNORE, TK_TRIAGE_IGNORED, TK_TRIAGE_IGNORED}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_triage_row row = triage("a", cases[i].action, "");
		const struct tk_rows list = {.rows = (void *)&row, .count = 1};
		struct tk_alert_row a = {.uid = "a", .status = TK_ALERT_OPEN};
		assert_int_equal(tk_alert_compute_state(&list, &a), cases[i].open);
		a.status = TK_ALERT_CLOSED;
		assert_int_equal(tk_alert_compute_state(&list, &a), cases[i].closed);
	}
}

/* The time of the row with this note. */
static int64_t time_of(struct history *h, const char *note)
{
	struct tk_rows rows;
	int64_t at_s = -1;

	MUST(tk_store_list_triage(h->store, &rows, &err));
	for (size_t i = 0; i < rows.count; i++)
		if (!strcmp(TK_ROWS_AT(&rows, struct tk_triage_row, i)->note, note))
			at_s = TK_ROWS_AT(&rows, struct tk_triage_row, i)->at_s;
	tk_rows_free(&rows);
	return at_s;
}

static void append(struct history *h, const char *uid, int64_t at_s, const char *note)
{
	struct tk_triage_row row = triage(uid, TK_ACTION_NOTE, note);

	row.at_s = at_s;
	MUST(tk_store_append_triage(h->store, &row, &err));
}

/* Rows about one alert, about a group and about its members are a second apart at least. */
static void triage_is_in_the_order_in_which_it_is_appended(void **state)
{
	struct history *h = *state;
	struct tk_alert_row rows[] = {alert(h, "a1", 1), alert(h, "a2", 2), alert(h, "b1", 3)};

	rows[0].group_uid = rows[1].group_uid = "g";
	for (size_t i = 0; i < 3; i++)
		MUST(tk_store_put_alert(h->store, &rows[i], &err));
	append(h, "a1", 100, "first");
	append(h, "a1", 100, "same alert");
	append(h, "g", 90, "its group");
	append(h, "a2", 100, "another member");
	append(h, "b1", 100, "another alert");
	append(h, "a1", 500, "later");
	assert_int_equal(time_of(h, "first"), 100);
	assert_int_equal(time_of(h, "same alert"), 101);
	assert_int_equal(time_of(h, "its group"), 102);
	assert_int_equal(time_of(h, "another member"), 103); /* after that of its group */
	assert_int_equal(time_of(h, "another alert"), 100);
	assert_int_equal(time_of(h, "later"), 500);
}

/* ---- the monitor ---- */

/* In a night of its own unless it is of the time 1000; another one of that night replaces it. */
static void put_event(struct history *h, int64_t as_of_s)
{
	const struct tk_night_row later = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = as_of_s,
	        .started_s = as_of_s,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};
	int64_t night = h->night;

	if (as_of_s != 1000)
		MUST(tk_store_begin_night(h->store, &later, &night, &err));
	const struct tk_monitor_event_row row = {.series_id = h->series,
	        .night_id = night,
	        .as_of_s = as_of_s,
	        .kind = TK_MONITOR_STEP,
	        .first_after_s = as_of_s,
	        .last_before_s = as_of_s - 1,
	        .before_value = 1,
	        .after_value = 2,
	        .log_lr = 30,
	        .q = 0.001};

	MUST(tk_store_put_monitor_event(h->store, &row, &err));
}

static size_t count_events(struct history *h, int64_t since_s, int64_t until_s)
{
	struct tk_rows rows;

	MUST(tk_store_list_monitor_events(h->store, since_s, until_s, &rows, &err));
	const size_t count = rows.count;
	tk_rows_free(&rows);
	return count;
}

static void events_of_a_time_are_listed(void **state)
{
	struct history *h = *state;

	put_event(h, 1000);
	put_event(h, 1000); /* the same one */
	put_event(h, 2000);
	assert_int_equal(count_events(h, 1000, 2000), 2);
	assert_int_equal(count_events(h, 1001, 2000), 1);
	assert_int_equal(count_events(h, 1000, 1999), 1);
	assert_int_equal(count_events(h, 1001, 1999), 0);
}

static void put_state(struct history *h, int64_t as_of_s, const double *numbers, size_t count)
{
	const struct tk_monitor_state_row row = {.device_id = h->device,
	        .as_of_s = as_of_s,
	        .nights = 5,
	        .options = "o",
	        .numbers = numbers,
	        .count = count};

	MUST(tk_store_put_monitor_state(h->store, &row, &err));
}

static void a_state_is_read_as_it_was_put(void **state)
{
	static const double numbers[] = {1.5, -INFINITY, 0, 1e300};
	struct history *h = *state;
	struct tk_monitor_state_row row;

	MUST_FAIL(TK_ENOTFOUND, "no state",
	        tk_store_read_monitor_state(h->store, h->device, &row, &err));
	put_state(h, 900, numbers, 1);
	put_state(h, 1000, numbers, 4); /* replaces it */
	MUST(tk_store_read_monitor_state(h->store, h->device, &row, &err));
	assert_int_equal(row.device_id, h->device);
	assert_int_equal(row.as_of_s, 1000);
	assert_int_equal(row.nights, 5);
	assert_string_equal(row.options, "o");
	assert_int_equal(row.count, 4);
	assert_memory_equal(row.numbers, numbers, sizeof numbers);
	free((void *)row.options);
	free((void *)row.numbers);
	MUST_FAIL(TK_ENOTFOUND, "no state",
	        tk_store_read_monitor_state(h->store, h->device + 1, &row, &err));
}

static void a_state_that_is_broken_is_not_found(void **state)
{
	static const double numbers[] = {1, 2, 3};
	struct history *h = *state;
	struct tk_monitor_state_row row;

	put_state(h, 1000, numbers, 3);
	history_run_sql(h, "UPDATE monitor_state SET state = x'00112233'");
	MUST_FAIL(TK_ENOTFOUND, "cannot be read",
	        tk_store_read_monitor_state(h->store, h->device, &row, &err));
}

/* The state, and the events and nights since a time. */
static void a_reset_forgets_what_came_since(void **state)
{
	static const double numbers[] = {1};
	struct history *h = *state;
	struct tk_monitor_state_row row;
	const struct tk_monitored_night_row night = {.night_id = h->night, .series_count = 7};

	put_event(h, 1000);
	put_event(h, 2000);
	put_state(h, 2000, numbers, 1);
	MUST(tk_store_put_monitored_night(h->store, &night, &err));     /* of the time 1000 */
	MUST(tk_store_reset_monitor(h->store, h->device + 1, 0, &err)); /* of another device */
	assert_int_equal(count_events(h, 0, 9999), 2);
	assert_int_equal(history_count(h, "monitor_state"), 1);
	MUST(tk_store_reset_monitor(h->store, h->device, 1001, &err));
	assert_int_equal(count_events(h, 0, 9999), 1);
	assert_int_equal(history_count(h, "monitored_night"), 1);
	MUST_FAIL(TK_ENOTFOUND, "no state",
	        tk_store_read_monitor_state(h->store, h->device, &row, &err));
	MUST(tk_store_reset_monitor(h->store, h->device, 1000, &err));
	assert_int_equal(count_events(h, 0, 9999), 0);
	assert_int_equal(history_count(h, "monitored_night"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(alerts_are_listed_newest_first),
	        TEST(an_alert_is_replaced),
	        TEST(an_alert_without_a_group_is_its_own),
	        TEST(revisions_are_looked_up_by_name),
	        TEST(a_revision_by_id_is_not_looked_up),
	        TEST(a_uid_is_made_of_series_and_commit),
	        cmocka_unit_test(the_newest_decision_counts),
	        cmocka_unit_test(triage_of_a_group_needs_the_group),
	        cmocka_unit_test(a_closed_alert_is_recovered),
	        TEST(triage_is_in_the_order_in_which_it_is_appended),
	        TEST(events_of_a_time_are_listed),
	        TEST(a_state_is_read_as_it_was_put),
	        TEST(a_state_that_is_broken_is_not_found),
	        TEST(a_reset_forgets_what_came_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
