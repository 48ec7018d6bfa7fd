/* What changed, grouped by cause: which events share a line, in which order, and what is blamed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/error.h"
#include "site_gen/model/causes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400
#define EVENTS_MAX 16

struct lab {
	struct made_model made;
	struct tk_verdict_row verdicts[EVENTS_MAX];
	char details[EVENTS_MAX][160];
	size_t verdict_count;
	const struct tk_upstream_row *upstream;
	const struct tk_problem_row *problem;
	const struct tk_site_device *device, *other_device;
	struct tk_site_causes causes;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	made_init(&lab->made);
	lab->upstream = made_add_upstream(&lab->made, "lib", "git");
	lab->problem = made_add_problem(&lab->made, "gemm", "f16", 1e9, 1e6);
	lab->device = made_add_device(&lab->made, "gpu", "a", "sm_90");
	lab->other_device = made_add_device(&lab->made, "gpu", "b", "sm_90");
	for (int i = 1; i <= 4; i++) {
		static const char *const revs[] = {"", "r1", "r2", "r3", "r4"};
		made_add_build(&lab->made, lab->upstream, revs[i]);
	}
	made_add_night(&lab->made, lab->made.machines, 10 * DAY_S);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	tk_site_causes_free(&lab->causes);
	made_free(&lab->made);
	free(lab);
	return 0;
}

/* A series whose last points are of the builds `before` and `after` (0: none), with a verdict. */
static struct tk_site_series *add_verdict(struct lab *lab, const struct tk_site_device *device,
        enum tk_verdict_status status, double change, int64_t before, int64_t after)
{
	struct tk_site_series *s =
	        made_add_series(&lab->made, device, lab->upstream, lab->problem, "lib");
	struct tk_verdict_row *v = &lab->verdicts[lab->verdict_count++];

	if (before)
		made_add_point(s, 9 * DAY_S, 100, 0, before, 0);
	if (after)
		made_add_point(s, 10 * DAY_S, 100 * (1 + change), 0, after, 0);
	*v = (struct tk_verdict_row){.night_id = 1,
	        .series_id = s->row->id,
	        .status = status,
	        .before_value = 100,
	        .after_value = 100 * (1 + change),
	        .change = change,
	        .change_lo = NAN,
	        .change_hi = NAN,
	        .reason = "",
	        .detail = "{}"};
	s->verdict = v;
	return s;
}

static void load(struct lab *lab, int64_t since_s)
{
	struct tk_error err = {0};

	lab->made.machines[0].verdicts =
	        (struct tk_rows){.rows = lab->verdicts, .count = lab->verdict_count};
	made_join(&lab->made);
	if (tk_site_causes_load(&lab->made.model, &(struct tk_site_period){.since_s = since_s},
	            &lab->causes, &err))
		fail_msg("%s", err.message);
}

static void statuses_become_kinds(void **state)
{
	static const struct {
		enum tk_verdict_status status;
		enum tk_site_cause_kind kind; /* TK_SITE_CAUSE_KINDS: no line */
	} cases[] = {{TK_VERDICT_REGRESSED, TK_SITE_CAUSE_WORSE},
	        {TK_VERDICT_NEWLY_FAILED, TK_SITE_CAUSE_FAILED},
	        {TK_VERDICT_MISSING, TK_SITE_CAUSE_MISSING},
	        {TK_VERDICT_IMPROVED, TK_SITE_CAUSE_BETTER},
	        {TK_VERDICT_RECOVERED, TK_SITE_CAUSE_BETTER},
	        {TK_VERDICT_FIXED, TK_SITE_CAUSE_FIXED},
	        {TK_VERDICT_ENVIRONMENT, TK_SITE_CAUSE_ENVIRONMENT},
	        {TK_VERDICT_SAME, TK_SITE_CAUSE_KINDS}, {TK_VERDICT_NEW, TK_SITE_CAUSE_KINDS}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct lab *lab = *state;

		add_verdict(lab, lab->device, cases[i].status, 0.1, 1, 1);
		load(lab, 0);
		assert_int_equal(lab->causes.count, cases[i].kind != TK_SITE_CAUSE_KINDS);
		assert_int_equal(lab->causes.compared, 1);
		for (int k = 0; k < TK_SITE_CAUSE_KINDS; k++)
			assert_int_equal(lab->causes.of_kind[k], k == (int)cases[i].kind);
		teardown(state);
		setup(state);
	}
}

static void missing_series_count_only_when_they_were_due(void **state)
{
	struct lab *lab = *state;
	struct tk_site_series *skipped = add_verdict(lab, lab->device, TK_VERDICT_MISSING, 0, 1, 1);
	struct tk_site_series *unplanned =
	        add_verdict(lab, lab->device, TK_VERDICT_MISSING, 0, 1, 1);

	add_verdict(lab, lab->device, TK_VERDICT_MISSING, 0, 1, 1);
	made_fail(&lab->made, skipped, TK_OUTCOME_SKIPPED, "");
	unplanned->is_unplanned = true;
	load(lab, 0);
	assert_int_equal(lab->causes.of_kind[TK_SITE_CAUSE_MISSING], 1);
}

static void a_series_without_earlier_value_was_not_compared(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_NEWLY_FAILED, 0, 1, 0);
	lab->verdicts[0].before_value = NAN;
	load(lab, 0);
	assert_int_equal(lab->causes.compared, 0);
	assert_int_equal(lab->causes.count, 1);
	assert_int_equal(lab->causes.events[0].at_s, 10 * DAY_S);
}

/* Series that changed with one commit are one cause; the largest change comes first. */
static void one_commit_is_one_cause(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.05, 1, 2);
	add_verdict(lab, lab->other_device, TK_VERDICT_REGRESSED, 0.20, 1, 2);
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.10, 2, 3);
	load(lab, 0);
	assert_int_equal(lab->causes.count, 2);
	const struct tk_site_cause *first = &lab->causes.at[0], *second = &lab->causes.at[1];
	assert_int_equal(first->count, 2);
	assert_string_equal(first->good->rev, "r1");
	assert_string_equal(first->bad->rev, "r2");
	assert_float_equal(first->events[0].change, 0.20, 1e-9);
	assert_float_equal(first->events[1].change, 0.05, 1e-9);
	assert_int_equal(second->count, 1);
	assert_string_equal(second->bad->rev, "r3");
	assert_null(first->first_bad);
	assert_int_equal(lab->causes.of_kind[TK_SITE_CAUSE_WORSE], 3);
}

/* A slowdown of 10 % and a speed-up to 1/1.1 are of one size. */
static void size_is_the_logarithm_of_the_ratio(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.5, 1, 2);
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 1.1, 2, 3);
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, -0.5, 3, 4);
	load(lab, 0);
	assert_float_equal(lab->causes.at[0].events[0].change, 1.1, 1e-9);
	assert_float_equal(lab->causes.at[1].events[0].change, -0.5, 1e-9);
	assert_float_equal(lab->causes.at[2].events[0].change, 0.5, 1e-9);
}

static void without_a_commit_each_regression_is_alone(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.1, 1, 1);
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.2, 1, 1);
	load(lab, 0);
	assert_int_equal(lab->causes.count, 2);
	assert_null(lab->causes.at[0].good);
	assert_null(lab->causes.at[0].bad);
}

static void environments_are_grouped_by_device(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_ENVIRONMENT, 0.1, 1, 1);
	add_verdict(lab, lab->other_device, TK_VERDICT_ENVIRONMENT, 0.3, 1, 1);
	add_verdict(lab, lab->device, TK_VERDICT_ENVIRONMENT, 0.2, 1, 1);
	load(lab, 0);
	assert_int_equal(lab->causes.count, 2);
	assert_int_equal(lab->causes.at[0].count, 1);
	assert_int_equal(lab->causes.at[1].count, 2);
}

static void failures_are_grouped_by_device_and_reason(void **state)
{
	struct lab *lab = *state;
	static const char *const reasons[] = {"crashed", "timeout", "crashed"};

	for (size_t i = 0; i < 3; i++) {
		add_verdict(lab, lab->device, TK_VERDICT_NEWLY_FAILED, NAN, 1, 1);
		lab->verdicts[i].reason = reasons[i];
	}
	add_verdict(lab, lab->other_device, TK_VERDICT_NEWLY_FAILED, NAN, 1, 1);
	lab->verdicts[3].reason = "crashed";
	load(lab, 0);
	assert_int_equal(lab->causes.count, 3);
	assert_int_equal(lab->causes.at[0].count, 2); /* more series first */
	assert_string_equal(lab->causes.at[0].events[0].reason, "crashed");
}

/* A failure that unchanged code shares is the device's, not a commit's. */
static void a_commit_is_not_blamed_for_the_device(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_NEWLY_FAILED, NAN, 1, 2);
	add_verdict(lab, lab->device, TK_VERDICT_NEWLY_FAILED, NAN, 3, 3);
	add_verdict(lab, lab->other_device, TK_VERDICT_NEWLY_FAILED, NAN, 1, 2);
	load(lab, 0);
	assert_int_equal(lab->causes.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct tk_site_cause *c = &lab->causes.at[i];
		const bool is_shared = c->count == 2;
		assert_true(c->events[0].series->device ==
		            (is_shared ? lab->device : lab->other_device));
		assert_true(is_shared ? !c->bad : c->bad != NULL);
	}
}

static void a_verdict_names_its_revisions(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.1, 3, 4);
	lab->verdicts[0].detail = "{\"good_rev\":\"r1\",\"bad_rev\":\"r2\","
	                          "\"pairs\":{\"word\":\"higher\"}}";
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.05, 3, 4);
	lab->verdicts[1].detail = "{\"good_rev\":\"r1\",\"bad_rev\":\"unknown\","
	                          "\"pairs\":{\"word\":\"inconclusive\"}}";
	load(lab, 0);
	const struct tk_site_event *named = lab->causes.at[0].events,
	                           *unknown = lab->causes.at[1].events;
	assert_string_equal(named->good->rev, "r1");
	assert_string_equal(named->bad->rev, "r2");
	assert_true(named->has_ab_result);
	assert_string_equal(unknown->good->rev, "r3"); /* of its points */
	assert_string_equal(unknown->bad->rev, "r4");
	assert_false(unknown->has_ab_result);
}

static void causes_come_by_urgency(void **state)
{
	struct lab *lab = *state;

	add_verdict(lab, lab->device, TK_VERDICT_ENVIRONMENT, 0.9, 1, 1);
	add_verdict(lab, lab->device, TK_VERDICT_IMPROVED, -0.9, 1, 2);
	add_verdict(lab, lab->device, TK_VERDICT_NEWLY_FAILED, NAN, 1, 1);
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.01, 1, 2);
	load(lab, 0);
	static const enum tk_site_cause_kind expected[] = {TK_SITE_CAUSE_WORSE,
	        TK_SITE_CAUSE_FAILED, TK_SITE_CAUSE_BETTER, TK_SITE_CAUSE_ENVIRONMENT};
	assert_int_equal(lab->causes.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(lab->causes.at[i].kind, expected[i]);
}

static void a_bisection_names_the_first_bad_commit(void **state)
{
	struct lab *lab = *state;
	struct tk_bisection_row rows[] = {
	        {.series_id = 1, .good_rev = "r1", .bad_rev = "r4", .outcome = TK_BISECT_FOUND},
	        {.series_id = 1,
	                .good_rev = "r1",
	                .bad_rev = "r3",
	                .outcome = TK_BISECT_INCONCLUSIVE},
	        {.series_id = 9, .good_rev = "r1", .bad_rev = "r3", .outcome = TK_BISECT_FOUND},
	        {.series_id = 1, .good_rev = "r1", .bad_rev = "r3", .outcome = TK_BISECT_FOUND}};

	lab->made.model.bisection_rows = (struct tk_rows){.rows = rows, .count = 4};
	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.1, 1, 3);
	load(lab, 0);
	assert_ptr_equal(lab->causes.at[0].first_bad, &rows[3]);
}

/* ---- change points ---- */

static void set_change(struct lab *lab, struct tk_site_change *out, size_t series, int64_t at_s,
        int64_t good, int64_t bad, double after)
{
	*out = (struct tk_site_change){.series = &lab->made.series[series],
	        .change_point =
	                made_add_change(&lab->made, &lab->made.series[series], at_s, 100, after),
	        .good = good ? &lab->made.revisions[good - 1] : NULL,
	        .bad = bad ? &lab->made.revisions[bad - 1] : NULL,
	        .worse = after > 100};
}

static void change_points_of_the_period_are_events(void **state)
{
	struct lab *lab = *state;
	struct tk_site_change changes[4];

	made_add_series(&lab->made, lab->device, lab->upstream, lab->problem, "lib");
	set_change(lab, &changes[0], 0, 1 * DAY_S, 1, 2, 150); /* before the period */
	set_change(lab, &changes[1], 0, 2 * DAY_S, 1, 2, 125);
	set_change(lab, &changes[2], 0, 3 * DAY_S, 2, 3, 80);
	set_change(lab, &changes[3], 0, 4 * DAY_S, 3, 3, 110);
	changes[3].environment = &lab->made.environments[1];
	lab->made.model.revision_changes = (struct tk_site_changes){.all = changes, .count = 4};
	load(lab, 2 * DAY_S);
	assert_int_equal(lab->causes.count, 3);
	assert_int_equal(lab->causes.of_kind[TK_SITE_CAUSE_WORSE], 1);
	assert_int_equal(lab->causes.of_kind[TK_SITE_CAUSE_BETTER], 1);
	assert_int_equal(lab->causes.of_kind[TK_SITE_CAUSE_ENVIRONMENT], 1);
	const struct tk_site_event *worse = lab->causes.at[0].events;
	assert_float_equal(worse->change, 0.25, 1e-9);
	assert_float_equal(worse->before, 100, 0);
	assert_float_equal(worse->after, 125, 0);
	assert_int_equal(worse->at_s, 2 * DAY_S);
	assert_int_equal(lab->causes.compared, 0);
	lab->made.model.revision_changes = (struct tk_site_changes){0};
}

static void a_change_point_that_its_verdict_tells_is_no_second_event(void **state)
{
	struct lab *lab = *state;
	struct tk_site_change changes[2];

	add_verdict(lab, lab->device, TK_VERDICT_REGRESSED, 0.1, 1, 2);
	set_change(lab, &changes[0], 0, 10 * DAY_S, 1, 2, 110); /* the night of the verdict */
	set_change(lab, &changes[1], 0, 5 * DAY_S, 3, 4, 105);
	lab->made.model.revision_changes = (struct tk_site_changes){.all = changes, .count = 2};
	load(lab, DAY_S);
	assert_int_equal(lab->causes.event_count, 2);
	lab->made.model.revision_changes = (struct tk_site_changes){0};
}

static void a_change_from_nothing_is_no_event(void **state)
{
	struct lab *lab = *state;
	struct tk_site_change change;

	made_add_series(&lab->made, lab->device, lab->upstream, lab->problem, "lib");
	set_change(lab, &change, 0, 5 * DAY_S, 1, 2, 110);
	lab->made.changes[0].before_value = 0;
	lab->made.model.revision_changes = (struct tk_site_changes){.all = &change, .count = 1};
	load(lab, DAY_S);
	assert_int_equal(lab->causes.event_count, 0);
	lab->made.model.revision_changes = (struct tk_site_changes){0};
}

static void nights_since_the_last_regression_are_counted(void **state)
{
	struct lab *lab = *state;
	struct tk_model *m = &lab->made.model;
	struct tk_site_change changes[3];

	made_add_night(&lab->made, lab->made.machines, 9 * DAY_S);
	made_add_night(&lab->made, lab->made.machines, 8 * DAY_S);
	lab->made.night_rows[1].kind = TK_NIGHT_BACKFILL;
	struct tk_site_machine *second = made_add_machine(&lab->made, "second");
	made_add_night(&lab->made, second, 7 * DAY_S);
	made_add_night(&lab->made, second, 4 * DAY_S);
	made_add_series(&lab->made, lab->device, lab->upstream, lab->problem, "lib");
	assert_true(tk_model_count_nights_since_regression(m) == SIZE_MAX);
	set_change(lab, &changes[0], 0, 3 * DAY_S, 1, 2, 110);
	set_change(lab, &changes[1], 0, 7 * DAY_S, 1, 2, 110);
	set_change(lab, &changes[2], 0, 9 * DAY_S, 1, 2, 90); /* an improvement */
	m->revision_changes = (struct tk_site_changes){.all = changes, .count = 3};
	assert_int_equal(tk_model_count_nights_since_regression(m), 2);
	m->revision_changes = (struct tk_site_changes){0};
}

static void words_follow_their_number(void **state)
{
	(void)state;
	assert_string_equal(tk_site_cause_word(TK_SITE_CAUSE_WORSE, 1), "regression");
	assert_string_equal(tk_site_cause_word(TK_SITE_CAUSE_WORSE, 0), "regressions");
	assert_string_equal(tk_site_cause_word(TK_SITE_CAUSE_FIXED, 2), "fixes");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(statuses_become_kinds),
	        TEST(missing_series_count_only_when_they_were_due),
	        TEST(a_series_without_earlier_value_was_not_compared),
	        TEST(one_commit_is_one_cause),
	        TEST(size_is_the_logarithm_of_the_ratio),
	        TEST(without_a_commit_each_regression_is_alone),
	        TEST(environments_are_grouped_by_device),
	        TEST(failures_are_grouped_by_device_and_reason),
	        TEST(a_commit_is_not_blamed_for_the_device),
	        TEST(a_verdict_names_its_revisions),
	        TEST(causes_come_by_urgency),
	        TEST(a_bisection_names_the_first_bad_commit),
	        TEST(change_points_of_the_period_are_events),
	        TEST(a_change_point_that_its_verdict_tells_is_no_second_event),
	        TEST(a_change_from_nothing_is_no_event),
	        TEST(nights_since_the_last_regression_are_counted),
	        cmocka_unit_test(words_follow_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
