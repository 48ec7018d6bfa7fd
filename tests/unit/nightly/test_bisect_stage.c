/* The stage "bisect": which regressions of the night are bisected, in which order, and for how
 * long. */
#include "ab_rig.h"

static struct tk_diff_row rows[4];

static int set_up(void **state)
{
	ab_set_up(state);
	struct ab_rig *r = *state;

	memset(rows, 0, sizeof rows);
	ab_world.rows = rows;
	r->config.budgets.bisect_s = 1e6;
	make_commits(9, 5, 0.1);
	return 0;
}

/* A regression between the first and the last commit. */
static struct tk_diff_row *add_regression(struct ab_rig *r, int64_t series_id)
{
	struct tk_diff_row *row = &rows[ab_world.row_count++];

	*row = (struct tk_diff_row){.series_id = series_id, .commits_between = 8};
	tk_verdict_init(&row->verdict);
	row->verdict.status = TK_VERDICT_REGRESSED;
	strcpy(row->metric, "time");
	strcpy(row->upstream, "blas");
	strcpy(row->good_rev, "c00");
	strcpy(row->bad_rev, "c08");
	return row;
}

static void put_alert(
        struct ab_rig *r, const char *uid, int64_t series_id, enum tk_alert_status status)
{
	const struct tk_alert_row row = {.uid = uid,
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = r->h.machine,
	        .upstream_id = r->h.upstream,
	        .series_id = series_id,
	        .night_id = r->h.night,
	        .status = status,
	        .opened_s = 100,
	        .change = 0.1,
	        .cause = TK_CAUSE_CODE,
	        .good_rev = "c00",
	        .bad_rev = "c08",
	        .title = "slower"};

	MUST(tk_store_put_alert(r->h.store, &row, &err));
}

static void put_bisection(struct ab_rig *r, enum tk_bisect_outcome outcome)
{
	const struct tk_bisection_row row = {.series_id = r->h.series,
	        .night_id = r->h.night,
	        .outcome = outcome,
	        .good_rev = "c00",
	        .bad_rev = "c08",
	        .first_bad_rev = "",
	        .last_good_rev = "",
	        .subject = "",
	        .author = "",
	        .change = NAN,
	        .change_lo = NAN,
	        .change_hi = NAN,
	        .confidence = NAN};

	MUST(tk_store_put_bisection(r->h.store, &row, &err));
}

static size_t run_stage(struct ab_rig *r)
{
	r->report.first_bad_commits = 0;
	MUST(tk_night_bisect(&r->night, &err));
	return r->report.first_bad_commits;
}

static void a_new_regression_is_bisected(void **state)
{
	struct ab_rig *r = *state;
	struct tk_rows stored;

	add_regression(r, r->h.series);
	assert_int_equal(run_stage(r), 1);
	assert_int_equal(ab_world.detections, 1); /* the verdicts show what the pairs say */
	MUST(tk_store_list_bisections(r->h.store, &stored, &err));
	assert_string_equal(TK_ROWS_AT(&stored, struct tk_bisection_row, 0)->first_bad_rev, "c05");
	tk_rows_free(&stored);
	assert_int_equal(run_stage(r), 0); /* it is decided now */
	assert_int_equal(ab_world.detections, 1);
}

/* The second series of a range tests the commit that the first one found, and its parent. */
static void series_of_one_range_share_what_is_found(void **state)
{
	struct ab_rig *r = *state;
	const int64_t second = history_put_series(&r->h, "blas", "hot", "time");
	int64_t first = r->h.series, id;

	make_commits(33, 20, 0.1);
	r->h.series = second;
	MUST(history_put_run(&r->h, 1, 1000, 3, &id, &err));
	r->h.series = first;
	add_regression(r, first);
	add_regression(r, second);
	strcpy(rows[0].bad_rev, "c32");
	strcpy(rows[1].bad_rev, "c32");
	assert_int_equal(run_stage(r), 2);
	size_t requests = 0;
	for (size_t i = 0; i < ab_world.count; i++)
		requests += (size_t)ab_world.commits[i].requests;
	/* Two ends and five halvings; then the ends, the hint and its parent. */
	assert_true(requests <= 7 + 4);
	assert_int_equal(ab_world.commits[20].requests, 2);
	assert_int_equal(ab_world.commits[19].requests, 2);
}

static void other_rows_are_not_bisected(void **state)
{
	struct ab_rig *r = *state;
	struct tk_diff_row *row = add_regression(r, r->h.series);
	const struct tk_diff_row regression = *row;

	row->verdict.status = TK_VERDICT_ACKED;
	assert_int_equal(run_stage(r), 0);
	*row = regression;
	row->commits_between = 1; /* that one it is */
	assert_int_equal(run_stage(r), 0);
	row->commits_between = -1;
	assert_int_equal(run_stage(r), 0);
	*row = regression;
	strcpy(row->metric, "energy");
	assert_int_equal(run_stage(r), 0);
	*row = regression;
	row->good_rev[0] = '\0';
	assert_int_equal(run_stage(r), 0);
	*row = regression;
	row->bad_rev[0] = '\0';
	assert_int_equal(run_stage(r), 0);
	assert_int_equal(ab_world.pairs, 0);
	assert_int_equal(ab_world.detections, 0);
}

static void other_nights_do_not_bisect(void **state)
{
	static char text[] = "x";
	struct ab_rig *r = *state;

	add_regression(r, r->h.series);
	r->options.backfill_revision = text;
	assert_int_equal(run_stage(r), 0);
	r->options.backfill_revision = NULL;
	r->options.import_file = text;
	assert_int_equal(run_stage(r), 0);
	r->options.import_file = NULL;
	r->config.budgets.bisect_s = 0;
	assert_int_equal(run_stage(r), 0);
	r->config.budgets.bisect_s = 1e6;
	r->config.budgets.night_s = 10;
	r->night.started_mono_ns = ab_world.now_ns - INT64_C(11000000000);
	assert_int_equal(run_stage(r), 0);
	assert_int_equal(ab_world.pairs, 0);
}

/* ---- a bisection that an earlier night did not finish ---- */

static void an_open_alert_continues_its_bisection(void **state)
{
	struct ab_rig *r = *state;

	add_regression(r, r->h.series)->verdict.status = TK_VERDICT_UNSURE; /* tonight */
	put_bisection(r, TK_BISECT_INCONCLUSIVE);
	assert_int_equal(run_stage(r), 0); /* without an alert nobody asks */
	put_alert(r, "other", history_put_series(&r->h, "blas", "hot", "time"), TK_ALERT_OPEN);
	assert_int_equal(run_stage(r), 0);
	put_alert(r, "a", r->h.series, TK_ALERT_OPEN);
	assert_int_equal(run_stage(r), 1);
	assert_int_equal(run_stage(r), 0);
}

static void a_closed_or_triaged_alert_does_not(void **state)
{
	struct ab_rig *r = *state;
	const struct tk_triage_row ack = {.alert_uid = "a",
	        .at_s = 200,
	        .author = "ada",
	        .action = TK_ACTION_ACK,
	        .note = ""};

	add_regression(r, r->h.series)->verdict.status = TK_VERDICT_UNSURE;
	put_bisection(r, TK_BISECT_INCONCLUSIVE);
	put_alert(r, "a", r->h.series, TK_ALERT_CLOSED);
	assert_int_equal(run_stage(r), 0);
	put_alert(r, "a", r->h.series, TK_ALERT_OPEN);
	MUST(tk_store_append_triage(r->h.store, &ack, &err));
	assert_int_equal(run_stage(r), 0);
}

static void finished_bisections_are_not_repeated(void **state)
{
	struct ab_rig *r = *state;

	add_regression(r, r->h.series);
	put_alert(r, "a", r->h.series, TK_ALERT_OPEN);
	put_bisection(r, TK_BISECT_NO_CHANGE);
	assert_int_equal(run_stage(r), 0);
	assert_int_equal(ab_world.pairs, 0);
}

/* ---- budgets and failures ---- */

static void the_budget_is_for_all_ranges(void **state)
{
	struct ab_rig *r = *state;
	const int64_t second = history_put_series(&r->h, "blas", "hot", "time");

	add_regression(r, r->h.series);
	add_regression(r, second);
	r->config.budgets.bisect_s = PAIR_S;
	assert_int_equal(run_stage(r), 0);
	assert_true(ab_world.pairs <= 2); /* none for the second one */
}

static void a_failed_bisection_costs_only_itself(void **state)
{
	struct ab_rig *r = *state;
	const int64_t without_points = history_put_series(&r->h, "blas", "hot", "time");

	add_regression(r, without_points);
	add_regression(r, r->h.series);
	assert_int_equal(run_stage(r), 1);
	ab_world.commits[0].build_status = TK_ENOSPC;
	strcpy(rows[1].bad_rev, "c07");
	MUST_FAIL(TK_ENOSPC, "cannot try c00", tk_night_bisect(&r->night, &err));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, ab_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_new_regression_is_bisected),
	        TEST(series_of_one_range_share_what_is_found),
	        TEST(other_rows_are_not_bisected),
	        TEST(other_nights_do_not_bisect),
	        TEST(an_open_alert_continues_its_bisection),
	        TEST(a_closed_or_triaged_alert_does_not),
	        TEST(finished_bisections_are_not_repeated),
	        TEST(the_budget_is_for_all_ranges),
	        TEST(a_failed_bisection_costs_only_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
