/* The search for the first bad commit, in upstreams whose commits have known times. */
#include "ab_rig.h"

static struct tk_bisect_request request(const struct ab_rig *r)
{
	static char last[24];

	snprintf(last, sizeof last, "c%02zu", ab_world.count - 1);
	return (struct tk_bisect_request){.series_id = r->h.series, .good = "c00", .bad = last};
}

static struct tk_bisect_report bisect(struct ab_rig *r, const char *hint, double budget_s)
{
	struct tk_bisect_request q = request(r);
	struct tk_bisect_report report;

	q.hint = hint;
	q.budget_s = budget_s;
	MUST(tk_bisect_run_in_night(&r->night, &q, &report, &err));
	return report;
}

/* ---- found ---- */

/* Wherever the step is, in ranges of any length, for both directions of the change. */
static void the_first_bad_commit_is_found(void **state)
{
	struct ab_rig *r = *state;
	char id[24];

	for (size_t count = 2; count <= 17; count += count < 6 ? 1 : 5)
		for (size_t step = 1; step < count; step++) {
			const double change = step % 2 ? 0.1 : -0.1;
			make_commits(count, step, change);
			struct tk_bisect_report report = bisect(r, NULL, 0);
			snprintf(id, sizeof id, "c%02zu", step);
			assert_int_equal(report.outcome, TK_BISECT_FOUND);
			assert_string_equal(report.first_bad.id, id);
			snprintf(id, sizeof id, "c%02zu", step - 1);
			assert_string_equal(report.last_good.id, id);
			assert_int_equal(report.candidates, 1);
			assert_int_equal(report.revisions, count - 1);
			assert_true(report.confidence > 0.98);
			assert_float_equal(report.step_result.change, change, 0.005);
			/* Both ends, and one for each halving. */
			assert_true((double)report.builds <= 2 + ceil(log2((double)count - 1)));
			assert_int_equal(report.built, report.builds);
		}
}

static void the_result_is_stored(void **state)
{
	struct ab_rig *r = *state;
	struct tk_rows rows;

	make_commits(9, 3, 0.2);
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.night_id, r->h.night);
	assert_true(report.wall_s >= (double)(report.pairs * PAIR_S) - 1);
	MUST(tk_store_list_bisections(r->h.store, &rows, &err));
	assert_int_equal(rows.count, 1);
	const struct tk_bisection_row *row = TK_ROWS_AT(&rows, struct tk_bisection_row, 0);
	assert_int_equal(row->outcome, TK_BISECT_FOUND);
	assert_string_equal(row->good_rev, "c00");
	assert_string_equal(row->bad_rev, "c08");
	assert_string_equal(row->first_bad_rev, "c03");
	assert_string_equal(row->last_good_rev, "c02");
	assert_string_equal(row->subject, "change 3");
	assert_string_equal(row->author, "author 3");
	assert_int_equal(row->author_time_s, 3007);
	assert_int_equal(row->pair_count, report.pairs);
	assert_int_equal(row->build_count, report.builds);
	assert_int_equal(row->comparison_count, report.comparisons);
	assert_float_equal(row->change, 0.2, 0.01);
	assert_true(row->change_lo <= row->change && row->change <= row->change_hi);
	assert_float_equal(row->confidence, report.confidence, 0);
	tk_rows_free(&rows);
}

/* A range of two commits needs no further pairs: those of its ends show the step. */
static void neighbours_are_measured_once(void **state)
{
	struct ab_rig *r = *state;

	make_commits(2, 1, 0.1);
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.comparisons, 1);
	assert_int_equal(report.pairs, ab_world.pairs);
	assert_float_equal(report.step_result.change, report.range_result.change, 0);
}

/* The first bad commit of another series is tested first, with its parent. */
static void a_right_hint_ends_the_search(void **state)
{
	struct ab_rig *r = *state;

	make_commits(33, 29, 0.1);
	struct tk_bisect_report report = bisect(r, "c29", 0);
	assert_string_equal(report.first_bad.id, "c29");
	assert_int_equal(report.builds, 4);
	make_commits(33, 29, 0.1);
	report = bisect(r, "c05", 0); /* wrong, but harmless */
	assert_string_equal(report.first_bad.id, "c29");
	make_commits(33, 29, 0.1);
	report = bisect(r, "c99", 0); /* not in the range */
	assert_string_equal(report.first_bad.id, "c29");
}

/* Of a range with several steps, one that has more than half of the change. */
static void the_largest_of_several_steps_is_found(void **state)
{
	struct ab_rig *r = *state;

	make_commits(12, 5, 0.3);
	for (size_t i = 9; i < 12; i++)
		ab_world.commits[i].ns *= 1.03;
	assert_string_equal(bisect(r, NULL, 0).first_bad.id, "c05");
}

/* Between two equal steps no side is right: the search still ends at one of them, whatever the
 * noise. */
static void the_search_ends_at_one_of_equal_steps(void **state)
{
	struct ab_rig *r = *state;

	ab_world.stored = 126;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		make_commits(9, 3, seed % 2 ? 0.1 : -0.1);
		for (size_t i = 6; i < 9; i++)
			ab_world.commits[i].ns *= seed % 2 ? 1.1 : 0.9;
		ab_world.random = seed;
		const struct tk_bisect_report report = bisect(r, NULL, 0);
		assert_int_equal(report.outcome, TK_BISECT_FOUND);
		assert_true(strcmp(report.first_bad.id, "c03") == 0 ||
		            strcmp(report.first_bad.id, "c06") == 0);
		assert_true(report.confidence > 0.9);
	}
}

/* ---- machine code ---- */

static void equal_machine_code_is_not_measured(void **state)
{
	struct ab_rig *r = *state;

	make_commits(17, 9, 0.1);
	for (size_t i = 0; i < 17; i++)
		ab_world.commits[i].code = i < 9 ? "old" : "new";
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_string_equal(report.first_bad.id, "c09");
	assert_int_equal(report.comparisons, 2); /* the ends, and the step */
	assert_int_equal(report.same_code, report.builds - 2);
}

static void unknown_machine_code_is_measured(void **state)
{
	struct ab_rig *r = *state;

	make_commits(17, 9, 0.1);
	for (size_t i = 0; i < 17; i++)
		ab_world.commits[i].code = "";
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_string_equal(report.first_bad.id, "c09");
	assert_int_equal(report.same_code, 0);
}

/* ---- commits that cannot be decided ---- */

static void broken_commits_around_the_step_leave_a_range(void **state)
{
	struct ab_rig *r = *state;

	make_commits(12, 6, 0.1);
	for (size_t i = 4; i < 8; i++)
		ab_world.commits[i].is_broken = true;
	ab_world.commits[5].is_broken = false;
	ab_world.commits[5].build_status = TK_EIO; /* counts as one that does not build */
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.outcome, TK_BISECT_RANGE);
	assert_string_equal(report.last_good.id, "c03");
	assert_string_equal(report.first_bad.id, "c08");
	assert_int_equal(report.candidates, 5);
	assert_int_equal(report.builds_failed, 4);
	assert_non_null(strstr(report.explanation, "one of 5 revisions; those before c08 do not"));
	assert_true(report.confidence > 0.9);
}

static void broken_commits_elsewhere_do_no_harm(void **state)
{
	struct ab_rig *r = *state;

	make_commits(12, 10, 0.1);
	for (size_t i = 2; i < 8; i++)
		ab_world.commits[i].is_broken = true;
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.outcome, TK_BISECT_FOUND);
	assert_string_equal(report.first_bad.id, "c10");
}

static void a_build_without_the_backend_is_skipped(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 6, 0.1);
	ab_world.commits[4].lacks_backend = true;
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.outcome, TK_BISECT_FOUND);
	assert_string_equal(report.first_bad.id, "c06");
}

/* ---- nothing found ---- */

static void ends_without_a_difference(void **state)
{
	struct ab_rig *r = *state;
	struct tk_rows rows;

	make_commits(9, 9, 0);
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.outcome, TK_BISECT_NO_CHANGE);
	assert_int_equal(report.candidates, 8);
	assert_int_equal(report.builds, 2);
	assert_non_null(strstr(report.explanation, "A/B runs of good and bad show no change: "));
	MUST(tk_store_list_bisections(r->h.store, &rows, &err));
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_bisection_row, 0)->first_bad_rev, "");
	assert_true(isnan(TK_ROWS_AT(&rows, struct tk_bisection_row, 0)->change));
	tk_rows_free(&rows);
}

static void ends_that_are_too_noisy(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 5, 0.02);
	ab_world.noise = 0.9;
	ab_world.stored = TK_AB_PAIRS_MAX - 2; /* by an earlier part of the bisection */
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.outcome, TK_BISECT_INCONCLUSIVE);
	assert_int_equal(report.pairs, TK_AB_PAIRS_MAX); /* then it gives up */
	assert_int_equal(ab_world.pairs, 2);
	assert_non_null(strstr(report.explanation, "are inconclusive: "));
}

static void ends_without_timings(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 5, 0.1);
	ab_world.commits[8].ns = NAN;
	const struct tk_bisect_report report = bisect(r, NULL, 0);
	assert_int_equal(report.outcome, TK_BISECT_INCONCLUSIVE);
	assert_int_equal(report.pairs, TK_AB_FAILURES_MAX);
	assert_non_null(strstr(report.explanation, "no timings"));
}

static void a_spent_budget_leaves_revisions(void **state)
{
	struct ab_rig *r = *state;

	make_commits(33, 20, 0.1);
	const double ends_s = bisect(r, NULL, 1).wall_s; /* less than one pair */
	assert_true(ends_s >= PAIR_S);
	make_commits(33, 20, 0.1);
	struct tk_bisect_report report = bisect(r, NULL, 12 * PAIR_S);
	assert_int_equal(report.outcome, TK_BISECT_INCONCLUSIVE);
	assert_non_null(strstr(report.explanation, "the budget was spent"));
	assert_true(report.wall_s <= 14 * PAIR_S);
}

/* ---- requests that cannot be answered ---- */

static void expect_refusal(
        struct ab_rig *r, struct tk_bisect_request q, int status, const char *message)
{
	struct tk_bisect_report report;
	struct tk_rows rows;

	MUST_FAIL(status, message, tk_bisect_run_in_night(&r->night, &q, &report, &err));
	MUST(tk_store_list_bisections(r->h.store, &rows, &err));
	assert_int_equal(rows.count, 0);
	tk_rows_free(&rows);
}

static void ends_must_be_a_range(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 5, 0.1);
	struct tk_bisect_request q = request(r);
	q.good = "nonsense";
	expect_refusal(r, q, TK_EUSAGE, "no revision nonsense");
	q = request(r);
	q.bad = "c00";
	q.good = "c04";
	expect_refusal(r, q, TK_EUSAGE, "the good revision c04 is not older than the bad one, c00");
	q.bad = "c04";
	expect_refusal(r, q, TK_EUSAGE, "is not older than");
	ab_world.merged = 4;
	q = request(r);
	q.good = "c04";
	expect_refusal(r, q, TK_EUSAGE, "c04 is not in the first-parent history of upstream blas");
	r->upstream.path = blas_url;
	q = request(r);
	q.bad = "c04";
	expect_refusal(r, q, TK_EUSAGE, "of upstream blas that touches u");
}

static void ends_must_build(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 5, 0.1);
	ab_world.commits[0].is_broken = true;
	expect_refusal(
	        r, request(r), TK_EUSAGE, "the good revision c00 does not build: error: broken");
	ab_world.commits[0].is_broken = false;
	ab_world.commits[8].build_status = TK_EIO;
	expect_refusal(r, request(r), TK_EUSAGE, "the bad revision c08 does not build: cannot try");
}

static void a_series_needs_revisions(void **state)
{
	struct ab_rig *r = *state;
	struct tk_bisect_request q;

	make_commits(9, 5, 0.1);
	q = request(r);
	q.series_id = r->h.series + 1;
	expect_refusal(r, q, TK_EUSAGE, "this series has no measurements");
	ab_world.adapter_status = TK_ENOTFOUND;
	expect_refusal(r, request(r), TK_ENOTFOUND, "blas: no adapter");
	r->upstream.kind = TK_UPSTREAM_SYSTEM;
	expect_refusal(r, request(r), TK_EUSAGE, "upstream blas has no revisions to bisect");
	r->config.upstream_count = 0;
	expect_refusal(r, request(r), TK_EUSAGE, "upstream blas has no revisions to bisect");
}

static void a_stop_ends_the_search(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 5, 0.1);
	ab_world.commits[4].build_status = TK_ECANCELED;
	expect_refusal(r, request(r), TK_ECANCELED, "cannot try c04");
	make_commits(9, 5, 0.1);
	ab_world.pair_status = TK_EIO;
	expect_refusal(r, request(r), TK_EIO, "no worker");
}

/* ---- in a session of its own ---- */

static void verdicts_follow_the_pairs(void **state)
{
	struct ab_rig *r = *state;
	struct tk_bisect_report report;
	struct tk_bisect_request q;

	make_commits(5, 2, 0.1);
	q = request(r);
	MUST(tk_bisect_run(&r->config, r->h.store, &r->options, &q, &report, &err));
	assert_string_equal(report.first_bad.id, "c02");
	assert_int_equal(ab_world.detections, 1);
	q.good = "nonsense";
	MUST_FAIL(TK_EUSAGE, "nonsense",
	        tk_bisect_run(&r->config, r->h.store, &r->options, &q, &report, &err));
	assert_int_equal(ab_world.detections, 1);
}

/* ---- one step of git bisect ---- */

static int mark(struct ab_rig *r, const char *rev)
{
	struct tk_bisect_request q = request(r);
	struct tk_bisect_report report;
	enum tk_bisect_mark m = TK_BISECT_MARK_SKIP;

	MUST(tk_bisect_mark_revision(
	        &r->config, r->h.store, &r->options, &q, rev, &m, &report, &err));
	return (int)m;
}

/* The exit codes of `git bisect run`. */
static void git_is_told_the_side_of_a_revision(void **state)
{
	struct ab_rig *r = *state;

	make_commits(9, 5, 0.1);
	ab_world.commits[6].is_broken = true;
	assert_int_equal(mark(r, "c02"), 0);
	assert_int_equal(mark(r, "c05"), 1);
	assert_int_equal(mark(r, "c06"), 125);
	ab_world.merged = 3; /* git tests those too */
	assert_int_equal(mark(r, "c03"), 0);
}

static void git_is_told_that_nothing_differs(void **state)
{
	struct ab_rig *r = *state;
	struct tk_bisect_report report;
	struct tk_bisect_request q;
	enum tk_bisect_mark m;

	make_commits(9, 9, 0);
	q = request(r);
	MUST_FAIL(TK_EUSAGE, "there is nothing to bisect",
	        tk_bisect_mark_revision(
	                &r->config, r->h.store, &r->options, &q, "c03", &m, &report, &err));
	MUST_FAIL(TK_ENOTFOUND, "no revision c77",
	        tk_bisect_mark_revision(
	                &r->config, r->h.store, &r->options, &q, "c77", &m, &report, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        AB_TEST(the_first_bad_commit_is_found),
	        AB_TEST(the_result_is_stored),
	        AB_TEST(neighbours_are_measured_once),
	        AB_TEST(a_right_hint_ends_the_search),
	        AB_TEST(the_largest_of_several_steps_is_found),
	        AB_TEST(the_search_ends_at_one_of_equal_steps),
	        AB_TEST(equal_machine_code_is_not_measured),
	        AB_TEST(unknown_machine_code_is_measured),
	        AB_TEST(broken_commits_around_the_step_leave_a_range),
	        AB_TEST(broken_commits_elsewhere_do_no_harm),
	        AB_TEST(a_build_without_the_backend_is_skipped),
	        AB_TEST(ends_without_a_difference),
	        AB_TEST(ends_that_are_too_noisy),
	        AB_TEST(ends_without_timings),
	        AB_TEST(a_spent_budget_leaves_revisions),
	        AB_TEST(ends_must_be_a_range),
	        AB_TEST(ends_must_build),
	        AB_TEST(a_series_needs_revisions),
	        AB_TEST(a_stop_ends_the_search),
	        AB_TEST(verdicts_follow_the_pairs),
	        AB_TEST(git_is_told_the_side_of_a_revision),
	        AB_TEST(git_is_told_that_nothing_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
