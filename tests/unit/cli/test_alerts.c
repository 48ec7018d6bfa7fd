/* Alerts in groups, and series as people name them: by a part of the name, or by an alert. */
#include "../store/history.h"
#include "capture.h"

#include "cli/series_ref.h"
#include "cli/triage/alert_groups.h"

/* ---- alerts ---- */

static struct tk_alert_row alert(const struct history *h, const char *uid, const char *group,
        int64_t opened_s, double change)
{
	return (struct tk_alert_row){.uid = uid,
	        .group_uid = group,
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = h->machine,
	        .upstream_id = h->upstream,
	        .series_id = h->series,
	        .night_id = h->night,
	        .status = TK_ALERT_OPEN,
	        .opened_s = opened_s,
	        .change = change,
	        .cause = TK_CAUSE_CODE,
	        .good_rev = "",
	        .bad_rev = "",
	        .title = uid};
}

static void put_alert(struct history *h, struct tk_alert_row row)
{
	MUST(tk_store_put_alert(h->store, &row, &err));
}

static void decide(
        struct history *h, const char *alert_uid, int64_t at_s, enum tk_triage_action action)
{
	const struct tk_triage_row row = {.alert_uid = alert_uid,
	        .at_s = at_s,
	        .author = "ada",
	        .action = action,
	        .note = ""};

	MUST(tk_store_append_triage(h->store, &row, &err));
}

static void load_alerts(struct history *h, struct tk_alerts *a)
{
	const struct tk_detect_options options = {0};

	MUST(tk_alerts_load(h->store, &options, a, &err));
}

/* The newest group first, in it the largest change. */
static void alerts_come_in_groups(void **state)
{
	struct history *h = *state;
	struct tk_alerts a;
	char text[200];

	put_alert(h, alert(h, "small", "g1", 100, 0.1));
	put_alert(h, alert(h, "large", "g1", 50, -0.5));
	put_alert(h, alert(h, "alone", "g2", 200, 0.2));
	load_alerts(h, &a);
	assert_int_equal(a.count, 2);
	assert_string_equal(a.groups[0].uid, "g2");
	assert_string_equal(tk_alert_group_title(&a.groups[0], text, sizeof text), "alone");
	assert_int_equal(a.groups[1].count, 2);
	assert_string_equal(a.groups[1].alerts[0]->uid, "large");
	assert_int_equal(a.groups[1].opened_s, 50); /* the first one */
	assert_string_equal(
	        tk_alert_group_title(&a.groups[1], text, sizeof text), "2 series, worst: large");
	assert_string_equal(tk_alert_group_machines(&a, &a.groups[1], text, sizeof text), "box");
	tk_alerts_free(&a);
}

/* As urgent as its most urgent alert; open while one of its alerts is. */
static void the_state_of_a_group(void **state)
{
	struct history *h = *state;
	struct tk_alert_row closed = alert(h, "closed", "g", 100, 0.1);
	struct tk_alerts a;

	closed.status = TK_ALERT_CLOSED;
	closed.closed_s = 400;
	put_alert(h, closed);
	load_alerts(h, &a);
	assert_int_equal(a.groups[0].state, TK_TRIAGE_RECOVERED);
	assert_false(a.groups[0].open);
	assert_null(a.groups[0].decision);
	tk_alerts_free(&a);
	put_alert(h, alert(h, "open", "g", 100, 0.2));
	decide(h, "open", 150, TK_ACTION_ACK);
	decide(h, "open", 160, TK_ACTION_LINK);
	load_alerts(h, &a);
	assert_int_equal(a.groups[0].state, TK_TRIAGE_ACKED);
	assert_true(a.groups[0].open);
	assert_int_equal(a.groups[0].closed_s, 400);
	assert_int_equal(a.groups[0].decision->action, TK_ACTION_ACK);
	assert_int_equal(a.groups[0].link->action, TK_ACTION_LINK);
	tk_alerts_free(&a);
	decide(h, "g", 170, TK_ACTION_REOPEN); /* of the whole group */
	load_alerts(h, &a);
	assert_int_equal(a.groups[0].state, TK_TRIAGE_NEW);
	const struct tk_alert_group one = tk_alert_group_from_one(&a, &a.groups[0].alerts[1]);
	assert_int_equal(one.count, 1);
	assert_string_equal(one.uid, "g");
	tk_alerts_free(&a);
}

static void alerts_are_found_by_the_start_of_an_id(void **state)
{
	struct history *h = *state;
	const struct tk_alert_group *group;
	const struct tk_alert_row *one;
	struct tk_alerts a;

	put_alert(h, alert(h, "abc111", "fff000", 100, 0.1));
	put_alert(h, alert(h, "abd222", "fff000", 100, 0.2));
	load_alerts(h, &a);
	MUST(tk_alerts_find(&a, "fff", &group, &one, &err));
	assert_null(one); /* the whole group */
	assert_int_equal(group->count, 2);
	MUST(tk_alerts_find(&a, "abd", &group, &one, &err));
	assert_string_equal(one->uid, "abd222");
	MUST_FAIL(TK_EUSAGE, "\"ab\" is ambiguous: 2 alerts",
	        tk_alerts_find(&a, "ab", &group, &one, &err));
	MUST_FAIL(TK_ENOTFOUND, "no alert \"x\"", tk_alerts_find(&a, "x", &group, &one, &err));
	MUST_FAIL(TK_ENOTFOUND, "no alert \"\"", tk_alerts_find(&a, "", &group, &one, &err));
	tk_alerts_free(&a);
}

static void a_bisection_belongs_to_its_range(void **state)
{
	struct history *h = *state;
	struct tk_alert_row row = alert(h, "a", "a", 100, 0.1);
	struct tk_bisection_row found = {.uid = "b",
	        .series_id = h->series,
	        .night_id = h->night,
	        .outcome = TK_BISECT_FOUND,
	        .good_rev = "good",
	        .bad_rev = "bad",
	        .first_bad_rev = "first",
	        .last_good_rev = "",
	        .subject = "",
	        .author = ""};
	struct tk_alerts a;

	MUST(tk_store_put_bisection(h->store, &found, &err));
	load_alerts(h, &a);
	MUST(tk_alerts_load_evidence(h->store, &a, &err));
	row.good_rev = "good";
	row.bad_rev = "bad";
	assert_string_equal(tk_alert_find_first_bad(&a, &row)->first_bad_rev, "first");
	row.bad_rev = "other";
	assert_null(tk_alert_find_first_bad(&a, &row));
	row.bad_rev = "bad";
	row.good_rev = "other";
	assert_null(tk_alert_find_first_bad(&a, &row));
	row.good_rev = "good";
	row.series_id = 0; /* missing data of a machine */
	assert_null(tk_alert_find_first_bad(&a, &row));
	tk_alerts_free(&a);
}

/* ---- a series, or an alert that stands for one ---- */

static void series_are_named_by_any_unique_part(void **state)
{
	struct history *h = *state;
	struct tk_series_row second = {.device_id = h->device,
	        .upstream_id = h->upstream,
	        .problem_id = h->problem,
	        .backend = "blas",
	        .config = "",
	        .mode = "hot",
	        .metric = "time",
	        .unit = "ns",
	        .role = TK_ROLE_SUITE};
	struct tk_series_ref ref;
	struct tk_rows rows;
	char text[180];
	int64_t id;

	MUST(tk_store_list_series(h->store, &rows, &err));
	snprintf(text, sizeof text, "%s", TK_ROWS_AT(&rows, struct tk_series_row, 0)->slug);
	tk_rows_free(&rows);
	MUST(tk_series_ref_resolve(h->store, "BLAS", &ref, &err)); /* a part, in any case */
	assert_int_equal(ref.series_id, h->series);
	assert_string_equal(ref.slug, text);
	assert_string_equal(ref.good, "");
	MUST(tk_store_put_series(h->store, &second, &id, &err));
	MUST_FAIL(TK_EUSAGE, "\"blas\" is ambiguous: it matches 2 series: ",
	        tk_series_ref_resolve(h->store, "blas", &ref, &err));
	MUST(tk_series_ref_resolve(h->store, "*hot*", &ref, &err));
	assert_int_equal(ref.series_id, id);
	MUST(tk_series_ref_resolve(h->store, text, &ref, &err)); /* the whole name is one */
	assert_int_equal(ref.series_id, h->series);
	MUST_FAIL(TK_EUSAGE, "no series or alert matches \"nothing\"",
	        tk_series_ref_resolve(h->store, "nothing", &ref, &err));
}

static void an_alert_stands_for_its_series(void **state)
{
	struct history *h = *state;
	struct tk_alert_row row = alert(h, "aaaa1111", "gggg", 100, 0.1);
	struct tk_series_ref ref;

	row.good_rev = "good1";
	row.bad_rev = "bad1";
	put_alert(h, row);
	row.uid = "bbbb2222";
	row.opened_s = 90;
	row.change = 0.3;
	row.good_rev = "good2";
	row.bad_rev = "bad2";
	put_alert(h, row);
	MUST(tk_series_ref_resolve(h->store, "aaaa", &ref, &err));
	assert_int_equal(ref.series_id, h->series);
	assert_string_equal(ref.bad, "bad1");
	MUST(tk_series_ref_resolve(h->store, "gggg", &ref, &err)); /* its largest change */
	assert_string_equal(ref.good, "good2");
	MUST(tk_series_ref_resolve(h->store, "blas", &ref, &err)); /* its newest alert */
	assert_string_equal(ref.good, "good1");
	MUST_FAIL(TK_EUSAGE, "no series or alert matches \"aaa\"", /* too short for an alert */
	        tk_series_ref_resolve(h->store, "aaa", &ref, &err));
}

static void missing_data_of_a_machine_is_no_series(void **state)
{
	struct history *h = *state;
	struct tk_alert_row row = alert(h, "aaaa1111", "aaaa1111", 100, 0);
	struct tk_series_ref ref;

	row.kind = TK_ALERT_MISSING_DATA;
	row.series_id = row.upstream_id = 0;
	put_alert(h, row);
	MUST_FAIL(TK_EUSAGE, "alert aaaa does not belong to one series",
	        tk_series_ref_resolve(h->store, "aaaa", &ref, &err));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(alerts_come_in_groups),
	        TEST(the_state_of_a_group),
	        TEST(alerts_are_found_by_the_start_of_an_id),
	        TEST(a_bisection_belongs_to_its_range),
	        TEST(series_are_named_by_any_unique_part),
	        TEST(an_alert_stands_for_its_series),
	        TEST(missing_data_of_a_machine_is_no_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
