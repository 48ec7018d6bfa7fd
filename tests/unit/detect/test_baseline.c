/* What the newest night is compared with: the nights before it, the first ones, the best level of
 * the whole history, or the nights of pinned revisions. */
#include "verdict_checks.h"

#define NIGHTS 36

/* Three levels of twelve nights, each of a revision of its own, and noise of 0.3 %. */
struct levels {
	double level[3];
	bool higher_is_better;
};

static void make(struct world *w, const struct levels *l)
{
	static const char *const revs[] = {"aaa", "bbb", "ccc"};
	struct tk_rng rng;

	tk_rng_seed(&rng, 3);
	world_open(w, NULL);
	w->higher_is_better = l->higher_is_better;
	for (int day = 0; day < NIGHTS; day++) {
		if (day % 12 == 0)
			world_build(w, revs[day / 12], day / 12 + 1, "b", revs[day / 12], "");
		world_night(w, day, "nightly");
		world_point(w, "b", "p", quiet(&rng, l->level[day / 12]));
	}
	world_end_night(w);
}

/* The level before, and the status, of the newest night. */
static double compare(struct world *w, struct tk_detect_options o, enum tk_verdict_status *status)
{
	const struct tk_diff_range range = {
	        .since_s = WORLD_START + (NIGHTS - 1) * WORLD_DAY, .until_s = INT64_MAX};
	struct tk_diff_report r;

	assert_int_equal(tk_detect_diff(w->store, &o, &range, &r, &w->err), 0);
	assert_int_equal(r.count, 1);
	const double before = r.rows[0].verdict.before.value;
	*status = r.rows[0].verdict.status;
	tk_diff_report_free(&r);
	return before;
}

static void each_baseline_has_its_level(void **state)
{
	static const struct {
		struct levels levels;
		enum tk_baseline baseline;
		double before;
		enum tk_verdict_status status;
	} cases[] = {
	        {{{1e6, 0.8e6, 0.9e6}, false}, TK_BASELINE_WINDOW, 0.9e6, TK_VERDICT_SAME},
	        {{{1e6, 0.8e6, 0.9e6}, false}, TK_BASELINE_FIRST, 1e6, TK_VERDICT_IMPROVED},
	        {{{1e6, 0.8e6, 0.9e6}, false}, TK_BASELINE_BEST, 0.8e6, TK_VERDICT_REGRESSED},
	        /* the best may be the first level, or the newest */
	        {{{0.7e6, 0.8e6, 0.9e6}, false}, TK_BASELINE_BEST, 0.7e6, TK_VERDICT_REGRESSED},
	        {{{1e6, 0.9e6, 0.8e6}, false}, TK_BASELINE_BEST, 0.8e6, TK_VERDICT_SAME},
	        {{{1e6, 0.8e6, 0.9e6}, true}, TK_BASELINE_BEST, 1e6, TK_VERDICT_REGRESSED},
	        {{{0.8e6, 1e6, 0.9e6}, true}, TK_BASELINE_BEST, 1e6, TK_VERDICT_REGRESSED},
	        {{{0.8e6, 1e6, 0.9e6}, true}, TK_BASELINE_FIRST, 0.8e6, TK_VERDICT_IMPROVED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum tk_verdict_status status;
		struct world w;

		make(&w, &cases[i].levels);
		struct tk_detect_options o = world_options(&w);
		o.baseline = cases[i].baseline;
		o.window = 10;
		const double before = compare(&w, o, &status);
		if (fabs(before / cases[i].before - 1) > 0.004 || status != cases[i].status)
			fail_msg("case %zu: %.4g before and %s, expected %.4g and %s", i, before,
			        tk_verdict_status_name(status), cases[i].before,
			        tk_verdict_status_name(cases[i].status));
		world_close(&w);
	}
}

static void pinned_revisions_are_the_baseline(void **state)
{
	static const struct levels levels = {{1e6, 0.8e6, 0.9e6}, false};
	static const double before[] = {1e6, 0.8e6, 0.9e6};
	struct tk_rows revisions = {0};
	enum tk_verdict_status status;
	struct world w;

	(void)state;
	make(&w, &levels);
	assert_int_equal(tk_store_list_revisions(w.store, &revisions, &w.err), 0);
	for (int level = 0; level < 3; level++) {
		static const char *const revs[] = {"aaa", "bbb", "ccc"};
		struct tk_detect_options o = world_options(&w);
		int64_t id = 0;

		for (size_t i = 0; i < revisions.count; i++) {
			const struct tk_revision_row *r =
			        TK_ROWS_AT(&revisions, struct tk_revision_row, i);
			id = strcmp(r->rev, revs[level]) ? id : r->id;
		}
		o.baseline = TK_BASELINE_PINNED;
		o.baseline_revisions = &id;
		o.baseline_revision_count = 1;
		assert_true(fabs(compare(&w, o, &status) / before[level] - 1) < 0.004);
		assert_int_equal(status, level == 0   ? TK_VERDICT_IMPROVED
		                         : level == 1 ? TK_VERDICT_REGRESSED
		                                      : TK_VERDICT_SAME);
	}
	tk_rows_free(&revisions);
	world_close(&w);
}

/* One lucky night is no level. */
static void a_single_night_is_not_the_best_level(void **state)
{
	enum tk_verdict_status status;
	struct tk_rng rng;
	struct world w;

	(void)state;
	tk_rng_seed(&rng, 4);
	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "aaa", "");
	for (int day = 0; day < NIGHTS; day++) {
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", quiet(&rng, day == 0 ? 0.5e6 : 1e6));
	}
	world_end_night(&w);
	struct tk_detect_options o = world_options(&w);
	o.baseline = TK_BASELINE_BEST;
	assert_true(fabs(compare(&w, o, &status) / 1e6 - 1) < 0.004);
	assert_int_equal(status, TK_VERDICT_SAME);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_baseline_has_its_level),
	        cmocka_unit_test(pinned_revisions_are_the_baseline),
	        cmocka_unit_test(a_single_night_is_not_the_best_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
