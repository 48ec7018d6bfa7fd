/* alerts.html and feed.xml: which alerts stand where, and what is said of each group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "alerts.html"

/* Two nights, with the revisions r1 and r2; p1, p2 and p3 are the series 1, 2 and 3. */
static void begin(struct site_lab *lab, const char *template)
{
	static const char *const problems[] = {"p1", "p2", "p3"};

	lab_set_template(lab, "alerts", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
	for (int i = 0; i < 3; i++)
		world_point(&lab->w, "b", problems[i], 1000);
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	world_night(&lab->w, 1, "nightly");
	for (int i = 0; i < 3; i++)
		world_point(&lab->w, "b", problems[i], 1500);
}

/* An open one of a series, opened in the second night. */
static struct tk_alert_row alert(const char *uid, const char *group, int64_t series_id)
{
	return (struct tk_alert_row){.uid = uid,
	        .group_uid = group,
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = 1,
	        .upstream_id = 1,
	        .series_id = series_id,
	        .night_id = 2,
	        .status = TK_ALERT_OPEN,
	        .opened_s = WORLD_START + WORLD_DAY,
	        .change = 0.5,
	        .cause = TK_CAUSE_CODE,
	        .title = "slower",
	        .good_rev = "r1",
	        .bad_rev = "r2"};
}

static void put(struct site_lab *lab, struct tk_alert_row row)
{
	struct tk_error err = {0};

	if (tk_store_put_alert(lab->w.store, &row, &err))
		fail_msg("%s", err.message);
}

static void put_closed(struct site_lab *lab, struct tk_alert_row row, int day)
{
	row.status = TK_ALERT_CLOSED;
	row.closed_s = WORLD_START + day * WORLD_DAY;
	put(lab, row);
}

static void triage(struct site_lab *lab, const char *uid, enum tk_triage_action action,
        const char *author, const char *note)
{
	const struct tk_triage_row row = {.alert_uid = uid,
	        .at_s = WORLD_START + 2 * WORLD_DAY,
	        .author = author,
	        .action = action,
	        .note = note};
	struct tk_error err = {0};

	if (tk_store_append_triage(lab->w.store, &row, &err))
		fail_msg("%s", err.message);
}

static void expect(struct site_lab *lab, const char *text)
{
	lab_expect(lab, PAGE, text);
}

#define ALL "{{#open}}{{group_uid}} {{/open}}|{{#closed}}{{group_uid}} {{/closed}}"

/* ---- which, and in which order ---- */

static void open_and_closed_alerts_are_two_lists(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, ALL);
	put(lab, alert("a1", "g1", 1));
	put_closed(lab, alert("a2", "g2", 2), 3);
	expect(lab, "g1 |g2 ");
}

/* As long as one of its members is open. */
static void a_group_is_open_with_one_open_member(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#open}}{{group_uid}} {{series_word}} {{#several}}several {{/several}}{{opened}} "
	        "{{#is_closed}}closed{{/is_closed}}{{/open}}|{{#closed}}{{group_uid}}{{/closed}}");
	put_closed(lab, alert("a1", "g1", 1), 3);
	struct tk_alert_row later = alert("a2", "g1", 2);
	later.opened_s += 3600;
	put(lab, later);
	expect(lab, "g1 2 series several 2026-01-02 00:00 |");
}

static void a_closed_group_has_its_last_time(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#closed}}{{opened}} {{#is_closed}}{{closed}}{{/is_closed}} {{state}} "
	           "{{state_tone}}{{/closed}}");
	put_closed(lab, alert("a1", "g1", 1), 3);
	put_closed(lab, alert("a2", "g1", 2), 5);
	expect(lab, "2026-01-02 00:00 2026-01-06 00:00 recovered quiet");
}

/* New ones first, then by the time of their beginning, then by size, then by name. */
static void the_order_of_open_groups(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, ALL);
	struct tk_alert_row old = alert("old", "old", 1), large = alert("large", "large", 2),
	                    small = alert("small", "small", 3), acked = alert("acked", "acked", 1);
	old.opened_s -= WORLD_DAY;
	large.change = -0.9;
	small.change = 0.1;
	acked.opened_s += WORLD_DAY;
	put(lab, old);
	put(lab, large);
	put(lab, small);
	put(lab, acked);
	put(lab, alert("x2", "x2", 3));
	put(lab, alert("x1", "x1", 2));
	triage(lab, "acked", TK_ACTION_ACK, "ann", "");
	expect(lab, "large x1 x2 small old acked |");
}

/* An alert of a series that is not in the model is not shown, one about missing data is. */
static void alerts_without_a_series(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}{{group_uid}} {{href}} {{alert_tone}} {{change}}{{sizes}} "
	           "{{#members}}{{#has_series}}series{{/has_series}}{{/members}}\n{{/open}}");
	struct tk_alert_row missing = alert("m1", "m1", 0);
	missing.kind = TK_ALERT_MISSING_DATA;
	missing.change = 0;
	put(lab, missing);
	expect(lab, "m1 alerts.html#m1 bad  \n");
}

/* ---- the head of a group ---- */

static void the_head_is_about_the_largest_change(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#open}}{{title}}|{{label}}|{{alert_title}}|{{change}}|{{direction}}|{{sizes}}|"
	        "{{range}}|{{between}}|{{cause}}|{{of_upstream}}|{{id}}|{{state}}|{{state_tone}}|"
	        "{{opened_iso}}{{/open}}");
	struct tk_alert_row small = alert("a1", "0123456789ab", 1);
	small.change = 0.058;
	struct tk_alert_row large = alert("a2", "0123456789ab", 2);
	large.change = 0.093;
	large.title = "slower by much";
	put(lab, small);
	put(lab, large);
	expect(lab, "p2|b|slower by much|+9.3 %|slower|+5.8 % to +9.3 %|r1 → r2|Between|code|self|"
	            "01234567|new|bad|2026-01-02T00:00:00Z");
}

static void one_size_is_said_once(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}{{sizes}}{{/open}}");
	put(lab, alert("a1", "g1", 1));
	put(lab, alert("a2", "g1", 2));
	expect(lab, "+50.0 %");
}

/* A failure has no size. */
static void a_failure_has_no_size(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}[{{change}}{{direction}}{{glyph}}{{sizes}}] {{alert_tone}} "
	           "{{between}}{{/open}}");
	struct tk_alert_row failed = alert("a1", "g1", 1);
	failed.kind = TK_ALERT_FAILURE;
	failed.change = 0;
	failed.good_rev = "r2";
	put(lab, failed);
	expect(lab, "[] bad At");
}

static void an_improvement_is_good(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}{{alert_tone}} {{direction}} {{glyph}}{{/open}}");
	struct tk_alert_row faster = alert("a1", "g1", 1);
	faster.change = -0.5;
	put(lab, faster);
	expect(lab, "good faster ▼");
}

static void more_is_better_for_some_series(void **state)
{
	struct site_lab *lab = *state;

	lab->w.higher_is_better = true;
	begin(lab, "{{#open}}{{alert_tone}} {{direction}} {{glyph}}{{/open}}");
	put(lab, alert("a1", "g1", 1));
	expect(lab, "good faster ▲");
}

static void devices_are_named_once(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}{{#on}}{{comma}}{{on_device}} {{on_href}}{{/on}}{{on_more}}{{/open}}");
	put(lab, alert("a1", "g1", 1));
	put(lab, alert("a2", "g1", 2));
	expect(lab, "box/cpu machines/box.html");
}

/* Three, then "and more". */
static void at_most_three_devices_are_named(void **state)
{
	struct site_lab *lab = *state;
	char name[8] = "m1", uid[8] = "a1";

	begin(lab, "{{#open}}{{#on}}{{comma}}{{on_device}}{{/on}}{{on_more}}{{/open}}");
	put(lab, alert("a0", "g1", 1));
	for (int i = 1; i <= 3; i++) {
		name[1] = uid[1] = (char)('0' + i);
		world_machine(&lab->w, name, "cpu");
		world_environment(&lab->w, "{}");
		world_night(&lab->w, 1, "nightly");
		const int64_t series = world_series(&lab->w, "b", "p1");
		world_point(&lab->w, "b", "p1", 1000);
		struct tk_alert_row row = alert(uid, "g1", series);
		row.machine_id = lab->w.machine;
		if (i == 3) {
			lab_build(lab);
			assert_string_equal(lab_read(lab, PAGE), "box/cpu, m1/cpu, m2/cpu");
		}
		put(lab, row);
	}
	expect(lab, "box/cpu, m1/cpu, m2/cpu and more");
}

/* ---- triage ---- */

static void notes_are_those_of_the_group_and_its_members(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}{{group_uid}} {{state}} {{state_tone}} {{triaged_by}}:{{#notes}} "
	           "{{author}} {{action}} {{note}}{{#note_href}} ->{{note_href}}{{/note_href}}"
	           "{{#of}} of {{of}}{{/of}};{{/notes}}\n{{/open}}");
	put(lab, alert("a1", "g1", 1));
	put(lab, alert("a2", "g1", 2));
	put(lab, alert("b1", "g2", 3));
	triage(lab, "a1", TK_ACTION_LINK, "bob", "issue 3");
	triage(lab, "g1", TK_ACTION_ACK, "ann", "mine");
	triage(lab, "a2", TK_ACTION_NOTE, "bob", "https://example.org/1");
	triage(lab, "a2", TK_ACTION_LINK, "bob", "https://example.org/2");
	expect(lab, "g2 new bad :\n"
	            "g1 acked note ann: bob link issue 3 of p1; ann ack mine; "
	            "bob note https://example.org/1 of p2; "
	            "bob link https://example.org/2 ->https://example.org/2 of p2;\n");
}

/* A member shows its own state only where it differs from that of the group. */
static void a_member_with_a_state_of_its_own(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#open}}{{state}}:{{#members}} {{uid}} {{own_state}}{{anchor}} {{opened_day}} "
	           "{{closed_day}};{{/members}}{{/open}}");
	put(lab, alert("g1", "g1", 1));
	put_closed(lab, alert("a2", "g1", 2), 4);
	expect(lab, "new: a2 recovereda2 2026-01-02 2026-01-05; g1  2026-01-02 ;");
}

/* ---- values and A/B runs of a member ---- */

#define MEMBERS \
	"{{#open}}{{#members}}{{uid}} {{before}} {{after}} {{pairs}} {{pairs_change}}" \
	"{{pairs_interval}}\n{{/members}}{{/open}}"

static void a_member_has_the_levels_of_its_change_point(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row verdict = lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1500);

	begin(lab, MEMBERS);
	put(lab, alert("a1", "g1", 1));
	lab_put_verdicts(lab, &verdict, 1);
	lab_build_now(lab);
	assert_string_equal(lab_read(lab, PAGE), "a1 1.000 µs 1.500 µs  \n");
	lab_put_change_point(lab, 1, 4, 1, 1010, 1490, TK_CAUSE_CODE);
	expect(lab, "a1 1.010 µs 1.490 µs  \n");
}

static void a_member_without_levels(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, MEMBERS);
	put(lab, alert("a1", "g1", 1));
	expect(lab, "a1  –  \n");
}

/* Eight pairs, 10 % slower without noise. */
static void a_member_has_the_result_of_its_pairs(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#open}}{{#members}}{{pairs}} pairs {{pairs_failed}} failed {{pairs_change}} "
	           "{{fastest_change}}{{/members}}{{/open}}");
	put(lab, alert("a1", "g1", 1));
	for (int i = 0; i < 8; i++)
		world_pair(w, "p1", 1, 2, i, 1000 + i, 1.1 * (1000 + i));
	world_pair(w, "p1", 1, 2, 8, 1000, NAN);
	expect(lab, "8 pairs 1 failed +10.0 % ");
}

/* ---- bisections ---- */

#define BISECTION \
	"{{#open}}{{first_bad}}|{{bisected}}|{{narrowed}}|{{#first_bad}}{{first_bad_subject}}|" \
	"{{first_bad_author}}|{{first_bad_day}}|{{first_bad_change}}{{first_bad_interval}}|" \
	"{{first_bad_confidence}}|{{bisection_pairs}}|{{bisection_builds}}{{/first_bad}}{{/open}}"

static void a_bisection_names_the_first_bad_commit(void **state)
{
	static const struct {
		enum tk_bisect_outcome outcome;
		const char *shown;
	} cases[] = {{TK_BISECT_FOUND,
	                     "r15|||unroll|Ann|2026-01-01|+50.0 % (+48.0 to +52.0 %)|99.9|40|5"},
	        {TK_BISECT_RANGE, "|narrowed the range to|r14 → r15|"},
	        {TK_BISECT_NO_CHANGE, "|did not reproduce the change||"},
	        {TK_BISECT_INCONCLUSIVE, "|is unfinished||"}};
	struct site_lab *lab = *state;
	struct tk_error err;

	begin(lab, BISECTION);
	put(lab, alert("a1", "g1", 1));
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE), "|||");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_bisection_row row = lab_bisection(cases[i].outcome);
		assert_int_equal(tk_store_put_bisection(lab->w.store, &row, &err), 0);
		expect(lab, cases[i].shown);
	}
}

/* Of other commits, or of a series that is not of the group. */
static void another_bisection_is_not_shown(void **state)
{
	struct site_lab *lab = *state;
	struct tk_bisection_row rows[] = {lab_bisection(TK_BISECT_FOUND),
	        lab_bisection(TK_BISECT_FOUND), lab_bisection(TK_BISECT_FOUND)};
	struct tk_error err;

	begin(lab, BISECTION);
	put(lab, alert("a1", "g1", 1));
	rows[0].series_id = 2;
	rows[1].good_rev = "r0";
	rows[2].bad_rev = "r3";
	for (int i = 0; i < 3; i++) {
		rows[i].uid = (const char *const[]){"b0", "b1", "b2"}[i];
		assert_int_equal(tk_store_put_bisection(lab->w.store, &rows[i], &err), 0);
	}
	expect(lab, "|||");
}

/* ---- the feed ---- */

static void the_feed_has_open_alerts(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "feed", "{{base}} {{updated}}:{{#open}} {{uid}} {{href}}{{/open}}");
	put(lab, alert("a1", "g1", 1));
	put_closed(lab, alert("a2", "g2", 2), 3);
	lab_build(lab);
	assert_false(lab_has(lab, "feed.xml"));
	lab->options.base_url = "https://example.org/perf//";
	lab_build(lab);
	assert_string_equal(lab_read(lab, "feed.xml"),
	        "https://example.org/perf 2026-01-03T00:00:00Z: a1 "
	        "series/box.cpu.self.b.p1.cold.html");
}

static void the_feed_has_at_most_fifty_alerts(void **state)
{
	struct site_lab *lab = *state;
	char uid[16];
	int entries = 0;

	begin(lab, "{{#open}}{{members_more}}|{{#members}}x{{/members}}{{/open}}");
	lab_set_template(lab, "feed", "{{#open}}x{{/open}}");
	for (int i = 0; i < 51; i++) {
		snprintf(uid, sizeof uid, "a%d", i);
		put(lab, alert(uid, "g1", 1));
	}
	lab->options.base_url = "https://example.org";
	lab_build(lab);
	for (const char *c = lab_read(lab, "feed.xml"); *c; c++)
		entries += *c == 'x';
	assert_int_equal(entries, 50);
	/* nor does a group list more members */
	const char *text = lab_read(lab, PAGE);
	assert_int_equal(strncmp(text, "1|", 2), 0);
	assert_int_equal(strlen(text), 2 + 50);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(open_and_closed_alerts_are_two_lists),
	        TEST(a_group_is_open_with_one_open_member),
	        TEST(a_closed_group_has_its_last_time),
	        TEST(the_order_of_open_groups),
	        TEST(alerts_without_a_series),
	        TEST(the_head_is_about_the_largest_change),
	        TEST(one_size_is_said_once),
	        TEST(a_failure_has_no_size),
	        TEST(an_improvement_is_good),
	        TEST(more_is_better_for_some_series),
	        TEST(devices_are_named_once),
	        TEST(at_most_three_devices_are_named),
	        TEST(notes_are_those_of_the_group_and_its_members),
	        TEST(a_member_with_a_state_of_its_own),
	        TEST(a_member_has_the_levels_of_its_change_point),
	        TEST(a_member_without_levels),
	        TEST(a_member_has_the_result_of_its_pairs),
	        TEST(a_bisection_names_the_first_bad_commit),
	        TEST(another_bisection_is_not_shown),
	        TEST(the_feed_has_open_alerts),
	        TEST(the_feed_has_at_most_fifty_alerts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
