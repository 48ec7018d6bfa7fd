/* Suspected changes are measured again: by the stage "confirm" and by `tracker confirm`. */
#include "ab_rig.h"

#define ROWS_MAX 12

static struct tk_diff_row rows[ROWS_MAX];

/* A suspect of tonight: its builds are those of two commits. */
static struct tk_diff_row *add_row(
        struct ab_rig *r, const char *name, enum tk_verdict_status status, size_t good, size_t bad)
{
	struct tk_diff_row *row = &rows[ab_world.row_count++];

	*row = (struct tk_diff_row){.series_id = r->h.series + (int64_t)ab_world.row_count - 1,
	        .new_code = true,
	        .newest_s = r->night.as_of_s,
	        .good_build_id = ab_world.commits[good].build_id,
	        .new_build_id = ab_world.commits[bad].build_id};
	snprintf(row->series, sizeof row->series, "%s", name);
	tk_verdict_init(&row->verdict);
	row->verdict.status = status;
	row->verdict.p = 0.5;
	return row;
}

static int set_up(void **state)
{
	ab_set_up(state);
	struct ab_rig *r = *state;

	memset(rows, 0, sizeof rows);
	ab_world.rows = rows;
	r->night.as_of_s = 5000;
	r->config.budgets.confirm_s = 1e6;
	make_commits(4, 2, 0.1); /* c00 and c01 are equal, c02 and c03 are slower */
	build_commits();
	return 0;
}

static void confirm(struct ab_rig *r)
{
	MUST(tk_night_confirm(&r->night, &err));
}

/* ---- the stage ---- */

static void changes_are_confirmed_or_refuted(void **state)
{
	struct ab_rig *r = *state;

	add_row(r, "slower", TK_VERDICT_REGRESSED, 0, 2);
	add_row(r, "equal", TK_VERDICT_REGRESSED, 0, 1);
	add_row(r, "faster", TK_VERDICT_UNSURE, 3, 0);
	confirm(r);
	assert_int_equal(r->report.suspects, 3);
	assert_int_equal(r->report.confirmed, 2);
	assert_int_equal(r->report.refuted, 1);
	assert_int_equal(r->report.pairs, ab_world.pairs);
}

static void a_night_without_a_budget_confirms_nothing(void **state)
{
	static char revision[] = "c01";
	struct ab_rig *r = *state;

	add_row(r, "slower", TK_VERDICT_REGRESSED, 0, 2);
	r->config.budgets.confirm_s = 0;
	confirm(r);
	r->config.budgets.confirm_s = 100;
	r->options.backfill_revision = revision; /* of the past: nobody waits for it */
	confirm(r);
	assert_int_equal(ab_world.pairs, 0);
	assert_int_equal(r->report.suspects, 0);
}

/* Statuses, with the half-width of the interval for one that is `same`. */
static void what_is_a_suspect(void **state)
{
	static const struct {
		enum tk_verdict_status status;
		bool is_suspect;
	} cases[] = {
	        {TK_VERDICT_REGRESSED, true},
	        {TK_VERDICT_ACKED, true},
	        {TK_VERDICT_UNSURE, true},
	        {TK_VERDICT_NOT_COMPARABLE, true},
	        {TK_VERDICT_IMPROVED, true},
	        {TK_VERDICT_ENVIRONMENT, true},
	        {TK_VERDICT_NEW, false},
	        {TK_VERDICT_NEWLY_FAILED, false},
	        {TK_VERDICT_FAILING, false},
	        {TK_VERDICT_MISSING, false},
	        {TK_VERDICT_STALE, false},
	        {TK_VERDICT_RECOVERED, false},
	        {TK_VERDICT_FIXED, false},
	};
	struct ab_rig *r = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ab_world.row_count = r->report.suspects = 0;
		add_row(r, "s", cases[i].status, 0, 2);
		confirm(r);
		if (r->report.suspects != cases[i].is_suspect)
			fail_msg("%s", tk_verdict_status_name(cases[i].status));
	}
}

static void a_same_that_nights_cannot_exclude_is_a_suspect(void **state)
{
	static const struct {
		double lo, hi;
		size_t suspects;
	} cases[] = {{-0.005, 0.005, 0}, {-0.005, 0.02, 1}, {-0.02, 0.005, 1}, {-0.01, 0.01, 0}};
	struct ab_rig *r = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ab_world.row_count = r->report.suspects = 0;
		struct tk_diff_row *row = add_row(r, "s", TK_VERDICT_SAME, 0, 1);
		row->verdict.change = (struct tk_estimate){0, cases[i].lo, cases[i].hi};
		confirm(r);
		assert_int_equal(r->report.suspects, cases[i].suspects);
	}
}

static void old_code_and_old_runs_are_no_suspects(void **state)
{
	struct ab_rig *r = *state;

	add_row(r, "old code", TK_VERDICT_REGRESSED, 0, 2)->new_code = false;
	add_row(r, "of yesterday", TK_VERDICT_REGRESSED, 0, 2)->newest_s--;
	confirm(r);
	assert_int_equal(r->report.suspects, 0);
}

/* Alarms, then possible ones, then what nights cannot exclude; of each the surest first. */
static void alarms_come_first(void **state)
{
	struct ab_rig *r = *state;
	struct tk_diff_row *row;

	ab_world.noise = 0.9; /* none is decided within its first pairs */
	row = add_row(r, "e", TK_VERDICT_SAME, 0, 1);
	row->verdict.change = (struct tk_estimate){0, -1, 1};
	row->verdict.p = 0;
	add_row(r, "d", TK_VERDICT_UNSURE, 0, 1)->verdict.p = 0.01;
	add_row(r, "b", TK_VERDICT_REGRESSED, 0, 1);
	add_row(r, "a", TK_VERDICT_REGRESSED, 0, 1);
	add_row(r, "c", TK_VERDICT_REGRESSED, 0, 1)->verdict.p = 0.1;
	r->config.budgets.confirm_s = (5 * 24 + 1) * PAIR_S;
	confirm(r);
	assert_int_equal(ab_world.pairs, 5 * 24 + 1);
	static const int expected[] = {4, 3, 2, 1, 0, 4}; /* c a b d e, and c again */
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		assert_int_equal(ab_world.order[24 * i], rows[expected[i]].series_id);
	assert_int_equal(r->report.suspects, 5);
}

static void the_night_may_end_first(void **state)
{
	struct ab_rig *r = *state;

	ab_world.noise = 0.9;
	add_row(r, "a", TK_VERDICT_REGRESSED, 0, 1);
	r->night.started_mono_ns = ab_world.now_ns;
	r->config.budgets.night_s = 5 * PAIR_S;
	confirm(r);
	assert_int_equal(ab_world.pairs, 6); /* the pair that reached the limit is kept */
}

static void pairs_without_timings_end_the_test(void **state)
{
	struct ab_rig *r = *state;

	ab_world.commits[2].ns = NAN;
	add_row(r, "fails", TK_VERDICT_REGRESSED, 0, 2);
	add_row(r, "slower", TK_VERDICT_REGRESSED, 0, 3);
	confirm(r);
	assert_int_equal(ab_world.order[TK_AB_FAILURES_MAX], rows[1].series_id);
	assert_int_equal(r->report.confirmed, 1);
	assert_int_equal(r->report.suspects, 2);
	assert_int_equal(r->report.pairs, ab_world.pairs);
}

/* The verdict of the nights stays; other suspects are measured. */
static void a_suspect_that_cannot_be_measured_is_left_out(void **state)
{
	struct ab_rig *r = *state;

	ab_world.commits[2].lacks_backend = true;
	add_row(r, "gone", TK_VERDICT_REGRESSED, 0, 2);
	add_row(r, "slower", TK_VERDICT_REGRESSED, 0, 3);
	confirm(r);
	assert_int_equal(r->report.suspects, 1);
	assert_int_equal(r->report.confirmed, 1);
}

/* A resumed night goes on where it stopped: what was measured counts for the budget. */
static void earlier_pairs_of_the_night_count(void **state)
{
	struct ab_rig *r = *state;

	ab_world.stored = 30;
	add_row(r, "slower", TK_VERDICT_REGRESSED, 0, 2);
	confirm(r);
	assert_int_equal(ab_world.pairs, 0); /* they decide */
	assert_int_equal(r->report.pairs, 30);
	assert_int_equal(r->report.confirmed, 1);
}

static char announced[400];

static void announce(void *arg, const char *stage, const char *detail)
{
	snprintf(announced + strlen(announced), sizeof announced - strlen(announced), "%s %s;",
	        stage, detail);
}

/* Which suspect of how many: it may take minutes. */
static void each_suspect_is_announced(void **state)
{
	const struct tk_night_observer observer = {.stage = announce};
	struct ab_rig *r = *state;

	announced[0] = 0;
	r->options.observer = &observer;
	add_row(r, "second", TK_VERDICT_UNSURE, 0, 2);
	add_row(r, "first", TK_VERDICT_REGRESSED, 0, 2);
	confirm(r);
	assert_string_equal(announced, "confirm 1 of 2: first;confirm 2 of 2: second;");
	assert_int_equal(ab_world.last_night_id, r->h.night);
}

/* Of equal priority the smaller p-value, then the name: the same in every night. */
static void equal_suspects_have_an_order(void **state)
{
	struct ab_rig *r = *state;

	ab_world.noise = 0.9;
	add_row(r, "c", TK_VERDICT_REGRESSED, 0, 1)->verdict.p = 0.2;
	add_row(r, "b", TK_VERDICT_REGRESSED, 0, 1)->verdict.p = 0.2;
	add_row(r, "a", TK_VERDICT_REGRESSED, 0, 1)->verdict.p = 0.3;
	r->config.budgets.confirm_s = 3 * 24 * PAIR_S;
	confirm(r);
	assert_int_equal(ab_world.order[0], rows[1].series_id);
	assert_int_equal(ab_world.order[24], rows[0].series_id);
	assert_int_equal(ab_world.order[48], rows[2].series_id);
	assert_int_equal(ab_world.pairs, 72);
}

static void a_stop_ends_the_stage(void **state)
{
	struct ab_rig *r = *state;

	add_row(r, "slower", TK_VERDICT_REGRESSED, 0, 2);
	ab_world.pair_status = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "no worker", tk_night_confirm(&r->night, &err));
}

/* ---- tracker confirm ---- */

/* Nights 1 to 4 measured commits 0 to 3. */
static void put_points(struct ab_rig *r)
{
	int64_t id;

	for (size_t i = 0; i < ab_world.count; i++) {
		r->h.build = ab_world.commits[i].build_id;
		MUST(history_put_run(&r->h, (int64_t)i + 1, ab_world.commits[i].ns, 3, &id, &err));
	}
}

static int run_confirm(struct ab_rig *r, const char *good, const char *bad,
        struct tk_confirm_report *out, struct tk_error *err)
{
	const struct tk_bisect_request q = {
	        .series_id = r->h.series, .good = good, .bad = bad, .budget_s = 100 * PAIR_S};

	return tk_confirm_run(&r->config, r->h.store, &r->options, &q, out, err);
}

static void two_measured_revisions_are_compared(void **state)
{
	struct ab_rig *r = *state;
	struct tk_confirm_report report;

	put_points(r);
	struct tk_diff_row *row = add_row(r, "s", TK_VERDICT_REGRESSED, 0, 2);
	tk_verdict_add_fact(&row->verdict, (struct tk_fact){.kind = TK_FACT_NEVER_TIMED}, NULL);
	MUST(run_confirm(r, "c01", "c02", &report, &err));
	assert_string_equal(report.good, "c01");
	assert_string_equal(report.bad, "c02");
	assert_int_equal(report.pairs.decision, TK_AB_HIGHER);
	assert_true(report.worse);
	assert_int_equal(report.night_s, 1004); /* of the newest point */
	assert_int_equal(report.status, TK_VERDICT_REGRESSED);
	assert_true(*report.reason);
	assert_true(*report.series);
	assert_int_equal(ab_world.detections, 1);
	MUST(run_confirm(r, "c02", "c01", &report, &err));
	assert_int_equal(report.pairs.decision, TK_AB_LOWER);
	assert_false(report.worse);
	ab_world.better = TK_BETTER_HIGHER;
	MUST(run_confirm(r, "c02", "c01", &report, &err));
	assert_true(report.worse);
}

/* Without revisions: the newest build against the last one with other machine code. */
static void the_last_good_build_is_the_default(void **state)
{
	struct ab_rig *r = *state;
	struct tk_confirm_report report;

	put_points(r);
	struct tk_diff_row *row = add_row(r, "s", TK_VERDICT_REGRESSED, 0, 3);
	MUST(run_confirm(r, NULL, NULL, &report, &err));
	assert_string_equal(report.good, "c00");
	assert_string_equal(report.bad, "c03");
	assert_true(report.worse);
	row->new_code = false;
	MUST_FAIL(TK_EUSAGE, "with other machine code than the newest; choose one with --good",
	        run_confirm(r, NULL, NULL, &report, &err));
	row->new_code = true;
	row->series_id++;
	MUST_FAIL(TK_EUSAGE, "no older build of", run_confirm(r, NULL, NULL, &report, &err));
}

static void other_revisions_were_not_measured(void **state)
{
	struct ab_rig *r = *state;
	struct tk_confirm_report report;

	put_points(r);
	MUST_FAIL(TK_EUSAGE, "at c77: `tracker bisect` builds what it needs",
	        run_confirm(r, "c77", "c02", &report, &err));
	MUST_FAIL(TK_EUSAGE, "at d: ", run_confirm(r, "c00", "d", &report, &err));
	assert_int_equal(ab_world.pairs, 0);
	const struct tk_bisect_request q = {.series_id = r->h.series + 7};
	MUST_FAIL(TK_EUSAGE, "this series has no measurements",
	        tk_confirm_run(&r->config, r->h.store, &r->options, &q, &report, &err));
}

static void the_budget_ends_a_confirmation(void **state)
{
	struct ab_rig *r = *state;
	struct tk_confirm_report report;

	put_points(r);
	ab_world.noise = 0.9;
	MUST(run_confirm(r, "c00", "c01", &report, &err));
	assert_int_equal(report.pairs.decision, TK_AB_INCONCLUSIVE);
	assert_false(report.worse);
	assert_true(ab_world.pairs >= 100 && ab_world.pairs <= 101);
	assert_float_equal(report.wall_s, (double)(ab_world.pairs * PAIR_S), 0.01);
	assert_int_equal(report.status, TK_VERDICT_STATUS_COUNT); /* not in the analysis */
}

/* Without a budget, so many pairs with timings; they are stored with the night of the newest
 * point. */
static void so_many_pairs_are_inconclusive(void **state)
{
	const struct tk_night_observer observer = {.stage = announce};
	struct ab_rig *r = *state;
	struct tk_confirm_report report;
	const struct tk_bisect_request q = {.series_id = r->h.series, .good = "c00", .bad = "c01"};

	put_points(r);
	announced[0] = 0;
	r->options.observer = &observer;
	ab_world.noise = 0.9;
	ab_world.stored = TK_AB_PAIRS_MAX - 3; /* by an earlier part */
	MUST(tk_confirm_run(&r->config, r->h.store, &r->options, &q, &report, &err));
	assert_int_equal(ab_world.pairs, 3);
	assert_int_equal(report.pairs.decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(ab_world.last_night_id, r->h.night);
	assert_memory_equal(announced, "confirm box.", 12);
}

static void a_confirmation_needs_timings(void **state)
{
	struct ab_rig *r = *state;
	struct tk_confirm_report report;

	put_points(r);
	ab_world.commits[3].ns = NAN;
	MUST(run_confirm(r, "c00", "c03", &report, &err));
	assert_int_equal(ab_world.pairs, TK_AB_FAILURES_MAX);
	assert_int_equal(report.pairs.failed, TK_AB_FAILURES_MAX);
	ab_world.commits[3].lacks_backend = true;
	MUST_FAIL(TK_ENOTFOUND, "no backend", run_confirm(r, "c00", "c03", &report, &err));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, ab_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(changes_are_confirmed_or_refuted),
	        TEST(a_night_without_a_budget_confirms_nothing),
	        TEST(what_is_a_suspect),
	        TEST(a_same_that_nights_cannot_exclude_is_a_suspect),
	        TEST(old_code_and_old_runs_are_no_suspects),
	        TEST(alarms_come_first),
	        TEST(the_night_may_end_first),
	        TEST(pairs_without_timings_end_the_test),
	        TEST(a_suspect_that_cannot_be_measured_is_left_out),
	        TEST(earlier_pairs_of_the_night_count),
	        TEST(each_suspect_is_announced),
	        TEST(equal_suspects_have_an_order),
	        TEST(a_stop_ends_the_stage),
	        TEST(two_measured_revisions_are_compared),
	        TEST(the_last_good_build_is_the_default),
	        TEST(other_revisions_were_not_measured),
	        TEST(the_budget_ends_a_confirmation),
	        TEST(so_many_pairs_are_inconclusive),
	        TEST(a_confirmation_needs_timings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
