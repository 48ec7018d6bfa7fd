/* A/B runs of the old and the new build overrule what the nights alone show. */
#include "verdict_checks.h"

static const struct tk_diff_row *by_pairs(struct world *w, struct tk_diff_report *r,
        const char *problem, enum tk_verdict_status want, const char *reason)
{
	*r = world_diff(w, 1);
	expect(r, problem, want), expect_reason(r, problem, reason);
	return world_row(r, "b", problem);
}

/* Two nights of a noisy machine say one thing, pairs of both builds another. */
static void ab_runs_decide(void **state)
{
	static const struct {
		const char *name;
		double second, pairs;
		enum tk_verdict_status nights, both;
		const char *reason;
	} cases[] = {
	        {"hidden", 0.99e6, 1.03, TK_VERDICT_SAME, TK_VERDICT_REGRESSED,
	                "A/B confirmed: +3.0 % (95 % CI 3.0 to 3.0, 12 pairs)"},
	        {"noise", 1.4e6, 1.001, TK_VERDICT_REGRESSED, TK_VERDICT_SAME,
	                "retracted: A/B runs show no change: +0.1 %"},
	        {"gain", 0.6e6, 0.999, TK_VERDICT_IMPROVED, TK_VERDICT_SAME, "retracted"},
	        {"faster", 1.01e6, 0.9, TK_VERDICT_SAME, TK_VERDICT_IMPROVED,
	                "A/B confirmed: -10.0 %"},
	};
	struct world w;
	struct tk_diff_report r;
	int64_t good;

	world_open(&w, NULL);
	world_build(&w, "aaa", 10, "b", "h1", "Good"), good = w.build;
	world_night(&w, 0, "nightly");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		world_point(&w, "b", cases[i].name, 1e6);
	world_build(&w, "bbb", 13, "b", "h2", "Change something");
	world_night(&w, 1, "nightly");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		world_point(&w, "b", cases[i].name, cases[i].second);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_diff_row *row =
		        by_pairs(&w, &r, cases[i].name, cases[i].nights, "");

		assert_int_equal(row->ab.decision, TK_AB_NONE);
		assert_int_equal(row->good_build_id, good);
		assert_int_equal(row->new_build_id, w.build);
		tk_diff_report_free(&r);
		for (int k = 0; k < 12; k++)
			world_pair(&w, cases[i].name, good, w.build, k, 1e6 + k,
			        (1e6 + k) * cases[i].pairs);
		row = by_pairs(&w, &r, cases[i].name, cases[i].both, cases[i].reason);
		assert_true(
		        fabs(row->ab.change - (cases[i].pairs - 1)) < 1e-9 && row->ab.count == 12);
		if (cases[i].both == TK_VERDICT_REGRESSED) {
			assert_string_equal(row->good_rev, "aaa");
			assert_string_equal(row->bad_rev, "bbb");
			assert_string_equal(row->bad_subject, "Change something");
			assert_true(row->verdict.change.value == row->ab.change &&
			            row->verdict.severity > 1);
		} else if (cases[i].both == TK_VERDICT_SAME) {
			assert_string_equal(row->bad_rev, "");
		}
		tk_diff_report_free(&r);
	}
	world_close(&w);
}

/* Nights of the build `aaa` that took `before`, nights of `bbb`, three commits on, that took
 * `after` (both end with 0), and pairs of both in which the second takes `times` as long: the diff
 * since night `since` has the step between them. level_before: what it takes as the level until
 * then; 0: whatever that is. */
static void expect_step_of_pairs(
        const double *before, const double *after, double times, int since, double level_before)
{
	struct world w;
	struct tk_diff_report r;
	int64_t good;
	int night = 0;

	world_open(&w, NULL);
	world_build(&w, "aaa", 10, "b", "h1", "Good"), good = w.build;
	for (; *before; before++)
		world_night(&w, night++, "nightly"), world_point(&w, "b", "p", *before);
	world_build(&w, "bbb", 13, "b", "h2", "Change something");
	for (; *after; after++)
		world_night(&w, night++, "nightly"), world_point(&w, "b", "p", *after);
	for (int k = 0; k < 12; k++)
		world_pair(&w, "p", good, w.build, k, 1e6 + k, (1e6 + k) * times);
	r = world_diff(&w, since);
	const struct tk_diff_row *row = world_row(&r, "b", "p");
	expect(&r, "p", TK_VERDICT_REGRESSED);
	assert_string_equal(row->good_rev, "aaa");
	assert_string_equal(row->bad_rev, "bbb");
	assert_int_equal(row->commits_between, 3);
	assert_true(!level_before || fabs(row->verdict.before.value / level_before - 1) < 1e-9);
	assert_false(row->same_code);
	tk_diff_report_free(&r);
	world_close(&w);
}

/* The nights put the step a night late, between two of the same build: pairs of the builds know
 * where it is. */
static void a_change_by_ab_runs_is_where_the_code_changed(void **state)
{
	expect_step_of_pairs(
	        (const double[]){1e6, 0}, (const double[]){1.1e6, 2.2e6, 0}, 2, 0, 1e6);
}

/* The range begins before the newest code came in, and its nights alone tell nothing: the step is
 * not put before it. */
static void a_change_by_ab_runs_is_not_before_its_code(void **state)
{
	expect_step_of_pairs((const double[]){1e6, 1.3e6, 1e6, 1.3e6, 1e6, 1.3e6, 0},
	        (const double[]){1.2e6, 0}, 1.1, 4, 0);
}

/* Pairs too noisy to decide, that show nothing: the alarm of the nights does not stand. Those that
 * lean its way let it.
 */
static void a_change_that_ab_runs_do_not_reproduce(void **state)
{
	struct world w;
	struct tk_diff_report r;
	int64_t good;

	world_open(&w, NULL);
	world_build(&w, "aaa", 10, "b", "h1", ""), good = w.build;
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1e6),
	        world_point(&w, "b", "q", 1e6);
	world_build(&w, "bbb", 13, "b", "h2", "");
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 1.4e6),
	        world_point(&w, "b", "q", 1.4e6);
	for (int k = 0; k < 14; k++) {
		world_pair(&w, "p", good, w.build, k, 1e6, k % 2 ? 1.2e6 : 0.82e6);
		world_pair(&w, "q", good, w.build, k, 1e6, k % 3 ? 1.4e6 : 0.99e6);
	}
	by_pairs(&w, &r, "p", TK_VERDICT_UNSURE, "A/B inconclusive: ");
	tk_diff_report_free(&r);
	by_pairs(&w, &r, "q", TK_VERDICT_REGRESSED, "A/B inconclusive: +");
	tk_diff_report_free(&r);
	world_close(&w);
}

/* Eleven are too few; those of other builds, or without a timing, say nothing. */
static void inconclusive_ab_runs(void **state)
{
	struct world w;
	struct tk_diff_report r;
	const struct tk_diff_row *row;
	int64_t good, old;

	world_open(&w, NULL);
	world_build(&w, "old", 9, "b", "h0", ""), old = w.build;
	world_build(&w, "aaa", 10, "b", "h1", ""), good = w.build;
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1e6);
	world_build(&w, "bbb", 13, "b", "h2", "");
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 1.4e6);
	for (int k = 0; k < 12; k++)
		world_pair(&w, "p", old, w.build, k, 1e6, 1e6);
	row = by_pairs(&w, &r, "p", TK_VERDICT_REGRESSED, "");
	assert_int_equal(row->ab.decision, TK_AB_NONE);
	tk_diff_report_free(&r);
	for (int k = 0; k < 11; k++)
		world_pair(&w, "p", good, w.build, k, 1e6, 1e6);
	world_pair(&w, "p", good, w.build, 11, 1e6, NAN);
	row = by_pairs(&w, &r, "p", TK_VERDICT_REGRESSED, "A/B inconclusive: +0.0 %");
	assert_int_equal(row->ab.decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(row->ab.failed, 1);
	tk_diff_report_free(&r);
	world_pair(&w, "p", good, w.build, 12, 1e6, 1e6);
	row = by_pairs(&w, &r, "p", TK_VERDICT_SAME, "retracted");
	tk_diff_report_free(&r);
	/* a build with the same machine code is the same build */
	world_build(&w, "ccc", 14, "b", "h2", "");
	world_night(&w, 2, "nightly"), world_point(&w, "b", "p", 1.5e6);
	row = by_pairs(&w, &r, "p", TK_VERDICT_SAME, "retracted");
	tk_diff_report_free(&r);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ab_runs_decide),
	        cmocka_unit_test(a_change_by_ab_runs_is_where_the_code_changed),
	        cmocka_unit_test(a_change_by_ab_runs_is_not_before_its_code),
	        cmocka_unit_test(a_change_that_ab_runs_do_not_reproduce),
	        cmocka_unit_test(inconclusive_ab_runs),
	};

	return cmocka_run_group_tests_name("verdicts by A/B runs", tests, NULL, NULL);
}
