/* Alerts in groups, and series as people name them: by a part of the name, or by an alert. */
#include "../store/history.h"
#include "capture.h"

#include "cli/series_ref.h"
#include "cli/triage/alert.h"
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

/* ---- lists, one in full, and what people decide ---- */

static const struct tk_globals globals = {.no_color = true};

/* What an action prints; *status: how it ended. */
static const char *printed(struct history *h, const struct tk_alert_options *o, int *status,
        struct tk_error *failure, struct capture *c)
{
	FILE *terminal = stdout;
	struct tk_alerts a;

	load_alerts(h, &a);
	MUST(tk_alerts_load_evidence(h->store, &a, &err));
	stdout = capture_open(c);
	if (o->yaml)
		*status = tk_alert_print_ack_rules(o, &a, failure);
	else if (o->by)
		*status = tk_alert_record(&globals, h->store, o, &a, "acked", failure);
	else if (o->id_count)
		*status = tk_alert_show(&globals, o, &a, failure);
	else
		*status = tk_alert_list(&globals, o, &a, failure);
	stdout = terminal;
	tk_alerts_free(&a);
	return capture_text(c);
}

static const char *printed_well(
        struct history *h, const struct tk_alert_options *o, struct capture *c)
{
	struct tk_error err = {0};
	int status;
	const char *text = printed(h, o, &status, &err, c);

	if (status)
		fail_msg("%s", err.message);
	return text;
}

/* One that is new, one that somebody works on, one that was ignored, one that ended. */
static void put_four(struct history *h)
{
	struct tk_alert_row ended = alert(h, "ended", "ended", 100, 0.1);

	ended.status = TK_ALERT_CLOSED;
	ended.closed_s = 200;
	put_alert(h, alert(h, "fresh", "fresh", 100, 0.1));
	put_alert(h, alert(h, "taken", "taken", 100, 0.1));
	put_alert(h, alert(h, "false", "false", 100, 0.1));
	put_alert(h, ended);
	decide(h, "taken", 150, TK_ACTION_ACK);
	decide(h, "false", 150, TK_ACTION_IGNORE);
}

static void the_list_has_what_needs_work(void **state)
{
	struct history *h = *state;
	struct tk_alert_options o = {0};
	struct capture c;

	assert_string_equal(printed_well(h, &o, &c), "No alerts yet.\n");
	capture_free(&c);
	put_four(h);
	const char *text = printed_well(h, &o, &c);
	expect_contains(text, "fresh new ");
	expect_contains(text, "taken acked ");
	expect_contains(text, " ada\n"); /* who decided */
	expect_lacks(text, "false");
	expect_lacks(text, "ended");
	capture_free(&c);
	o.all = true;
	text = printed_well(h, &o, &c);
	expect_contains(text, "false ignored ");
	expect_contains(text, "ended recovered ");
	capture_free(&c);
	o = (struct tk_alert_options){.has_state = true, .state = TK_TRIAGE_IGNORED};
	text = printed_well(h, &o, &c);
	expect_contains(text, "false ignored ");
	expect_lacks(text, "fresh");
	capture_free(&c);
	o.state = TK_TRIAGE_EXPECTED;
	expect_contains(printed_well(h, &o, &c), "No open alerts (--all lists the others).");
	capture_free(&c);
}

static void the_list_as_json(void **state)
{
	struct history *h = *state;
	const struct tk_alert_options o = {.json = true, .all = true};
	struct capture c;

	put_four(h);
	json_t *list = json_loads(printed_well(h, &o, &c), 0, NULL);
	capture_free(&c);
	assert_int_equal(json_array_size(list), 4);
	for (size_t i = 0; i < 4; i++) {
		const json_t *g = json_array_get(list, i), *a, *history;
		const char *id = json_string_value(json_object_get(g, "id"));
		a = json_array_get(json_object_get(g, "alerts"), 0);
		history = json_object_get(g, "history");
		assert_string_equal(json_string_value(json_object_get(a, "uid")), id);
		assert_string_equal(json_string_value(json_object_get(a, "machine")), "box");
		assert_true(json_is_null(json_object_get(a, "ab_test")));
		assert_int_equal(
		        json_is_null(json_object_get(a, "closed_s")), strcmp(id, "ended") != 0);
		assert_int_equal(json_array_size(history),
		        strcmp(id, "taken") == 0 || strcmp(id, "false") == 0);
	}
	json_decref(list);
}

static void one_in_full(void **state)
{
	struct history *h = *state;
	struct tk_alert_row row = alert(h, "aaaa1111", "gggg", 86400, 0.1);
	const struct tk_bisection_row found = {.series_id = h->series,
	        .night_id = h->night,
	        .outcome = TK_BISECT_FOUND,
	        .good_rev = "0122",
	        .bad_rev = "0123abcd",
	        .first_bad_rev = "0123000000000000",
	        .last_good_rev = "",
	        .subject = "unroll",
	        .author = "Ada",
	        .author_time_s = 86400,
	        .change = 0.095,
	        .confidence = 0.98};
	struct tk_alert_options o = {.ids = {"gggg"}, .id_count = 1};
	struct capture c;

	row.good_rev = "0122";
	row.bad_rev = "0123abcd";
	put_alert(h, row);
	put_alert(h, alert(h, "bbbb2222", "gggg", 86400, -0.3));
	decide(h, "aaaa1111", 86460, TK_ACTION_ACK);
	decide(h, "gggg", 86520, TK_ACTION_REOPEN);
	MUST(tk_store_put_bisection(h->store, &found, &err));
	const char *text = printed_well(h, &o, &c);
	expect_contains(text, "2 series, worst: bbbb2222\nnew since 1970-01-02\n");
	expect_contains(text, "+10.0 %");
	expect_contains(text, "-30.0 %");
	expect_contains(text, "0122..0123abcd");
	expect_contains(text,
	        "\nFound by bisection: 012300000000 unroll, by Ada (1970-01-02): +9.5 % "
	        "against its parent, 98.0 % confidence\n");
	expect_contains(text, "\nHistory:\n  1970-01-02 00:01  ack (aaaa1111) by ada\n"
	                      "  1970-01-02 00:02  reopen by ada\n");
	capture_free(&c);
	o.ids[0] = "aaaa"; /* one of the group */
	text = printed_well(h, &o, &c);
	expect_contains(text, "aaaa1111\n");
	expect_contains(text, "; first bad 0123abcd gemm: unroll, by A. N. Other\n");
	expect_lacks(text, "bbbb2222");
	capture_free(&c);
}

static void decisions_are_recorded_for_all_or_none(void **state)
{
	struct history *h = *state;
	struct tk_alert_options o = {.triage = TK_ACTION_EXPECT,
	        .ids = {"fresh", "nothing"},
	        .id_count = 2,
	        .by = "ada",
	        .note = "wanted"};
	struct tk_error err = {0};
	struct capture c;
	int status;

	put_four(h);
	assert_string_equal(printed(h, &o, &status, &err, &c), "");
	capture_free(&c);
	assert_int_equal(status, TK_EUSAGE);
	expect_contains(err.message, "no alert \"nothing\"");
	assert_int_equal(history_count(h, "triage"), 2);
	o.ids[1] = "taken";
	assert_string_equal(printed_well(h, &o, &c), "acked: fresh fresh\nacked: taken taken\n");
	capture_free(&c);
	assert_int_equal(history_count(h, "triage"), 4);
}

/* One rule of acks.yml for each first bad revision of a group. */
static void decisions_as_rules(void **state)
{
	struct history *h = *state;
	struct tk_alert_row row = alert(h, "aaaa1111", "gggg", 100, 0.1);
	struct tk_alert_options o = {.triage = TK_ACTION_ACK,
	        .ids = {"gggg"},
	        .id_count = 1,
	        .by = "ada",
	        .note = "it's\nknown",
	        .yaml = true};
	struct tk_error err = {0};
	struct capture c;
	int status;

	row.bad_rev = "r1";
	put_alert(h, row);
	row.uid = "bbbb2222";
	row.change = 0.05;
	put_alert(h, row);
	row.uid = "cccc3333";
	row.bad_rev = "r2";
	row.change = 0.01;
	put_alert(h, row);
	const char *text = printed_well(h, &o, &c);
	assert_int_equal(count_of(text, "- series:"), 2);
	assert_int_equal(count_of(text, "\n    - "), 3);
	expect_contains(text, "  rev: 'r1'\n  action: ack\n  by: 'ada'\n  note: 'it''s known'\n");
	expect_contains(text, "  rev: 'r2'\n");
	capture_free(&c);
	row.uid = row.group_uid = "dddd4444";
	row.kind = TK_ALERT_MISSING_DATA;
	put_alert(h, row);
	o.ids[0] = "dddd";
	printed(h, &o, &status, &err, &c);
	capture_free(&c);
	assert_int_equal(status, TK_EUSAGE);
	expect_contains(err.message, "record it without --yaml");
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
	        TEST(the_list_has_what_needs_work),
	        TEST(the_list_as_json),
	        TEST(one_in_full),
	        TEST(decisions_are_recorded_for_all_or_none),
	        TEST(decisions_as_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
