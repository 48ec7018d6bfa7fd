/* Every word of a diff on a real history, with the reason that goes with it. */
#include "verdict_checks.h"

static void two_nights_over_two_revisions(void **state)
{
	struct world w;
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 10, "b", "h1", "Good");
	world_night(&w, 0, "nightly");
	world_point(&w, "b", "slower", 1e6), world_point(&w, "b", "faster", 1e6),
	        world_point(&w, "b", "same", 1e6);
	world_build(&w, "bbb", 13, "b", "h2", "Spoil the blocking");
	world_night(&w, 1, "nightly");
	world_point(&w, "b", "slower", 1.4e6), world_point(&w, "b", "faster", 0.6e6),
	        world_point(&w, "b", "same", 1.008e6);
	world_point(&w, "b", "new", 1e6);
	for (int since = -5; since <= 1;
	        since += 6) { /* both nights in the range; only the second */
		const struct tk_diff_row *row;

		r = world_diff(&w, since);
		expect(&r, "slower", TK_VERDICT_REGRESSED);
		expect(&r, "faster", TK_VERDICT_IMPROVED);
		expect(&r, "same", TK_VERDICT_SAME);
		expect(&r, "new", TK_VERDICT_NEW);
		row = world_row(&r, "b", "slower");
		assert_string_equal(row->good_rev, "aaa");
		assert_string_equal(row->bad_rev, "bbb");
		assert_string_equal(row->bad_subject, "Spoil the blocking");
		assert_int_equal(row->commits_between, 3);
		assert_true(fabs(row->verdict.change.value - 0.4) < 1e-9 &&
		            row->verdict.change.lo < 0.4 && row->verdict.change.hi > 0.4 &&
		            row->verdict.q < 0.05);
		assert_int_equal(r.compared, 3);
		assert_int_equal(r.by_status[TK_VERDICT_REGRESSED], 1);
		assert_ptr_equal(row, &r.rows[0]);
		tk_diff_report_free(&r);
	}
	world_close(&w);
}

static void outcomes(void **state)
{
	struct world w;
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly");
	world_point(&w, "b", "breaks", 1e6), world_point(&w, "b", "wrong", 1e6),
	        world_point(&w, "b", "gone", 1e6);
	world_point(&w, "b", "late", 1e6);
	world_fail(&w, "b", "mended", "crashed", "signal 11"),
	        world_fail(&w, "b", "broken", "timeout", "");
	world_point(&w, "b", "dropped", 1e6),
	        world_fail(&w, "b", "undone", "unsupported", "no bf16");
	world_build(&w, "bbb", 2, "b", "h2", "");
	world_night(&w, 1, "nightly");
	world_fail(&w, "b", "breaks", "crashed", "signal 6\nat once"),
	        world_fail(&w, "b", "wrong", "wrong", "row 3: got nan");
	world_point(&w, "b", "mended", 1e6), world_fail(&w, "b", "broken", "timeout", "no answer"),
	        world_fail(&w, "b", "never", "failed", "");
	world_fail(&w, "b", "none", "unsupported", ""),
	        world_fail(&w, "b", "undone", "unsupported", "no bf16");
	world_fail(&w, "b", "dropped", "unsupported", "no bf16");
	world_fail(&w, "b", "late", "skipped", "the budget was spent"),
	        world_fail(&w, "b", "later", "skipped", "");
	r = world_diff(&w, 1);
	expect(&r, "breaks", TK_VERDICT_NEWLY_FAILED),
	        expect_reason(&r, "breaks", "crashed: signal 6 at once");
	assert_string_equal(world_row(&r, "b", "breaks")->bad_rev, "bbb");
	expect(&r, "wrong", TK_VERDICT_NEWLY_FAILED),
	        expect_reason(&r, "wrong", "wrong: row 3: got nan");
	expect(&r, "gone", TK_VERDICT_MISSING),
	        expect_reason(&r, "gone", "last measured 2026-01-01");
	expect(&r, "mended", TK_VERDICT_FIXED),
	        expect_reason(&r, "mended", "no timing before: crashed: signal 11");
	expect(&r, "broken", TK_VERDICT_FAILING), expect_reason(&r, "broken", "timeout: no answer");
	expect(&r, "never", TK_VERDICT_FAILING), expect_reason(&r, "never", "never had a timing");
	expect(&r, "none", TK_VERDICT_UNSUPPORTED), expect_reason(&r, "none", "never had a timing");
	expect(&r, "undone", TK_VERDICT_UNSUPPORTED),
	        expect_reason(&r, "undone", "unsupported: no bf16");
	expect(&r, "dropped", TK_VERDICT_NEWLY_FAILED);
	expect(&r, "late", TK_VERDICT_MISSING),
	        expect_reason(&r, "late", "skipped: the budget was spent");
	expect(&r, "later", TK_VERDICT_NEW), expect_reason(&r, "later", "no timing yet");
	assert_int_equal(r.count, 11);
	tk_diff_report_free(&r);
	world_close(&w);
}

static void old_data_is_stale(void **state)
{
	struct world w;
	struct tk_detect_options o;
	struct tk_diff_range range = {.since_s = WORLD_START, .until_s = INT64_MAX};
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1e6);
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 1e6);
	o = world_options(&w);
	o.now_s = WORLD_START + 40 * WORLD_DAY;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "p", TK_VERDICT_STALE), expect_reason(&r, "p", "old");
	tk_diff_report_free(&r);
	range.since_s = o.now_s - 7 * WORLD_DAY; /* nothing at all in the range */
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "p", TK_VERDICT_STALE);
	assert_int_equal(r.compared, 0);
	tk_diff_report_free(&r);
	world_close(&w);
}

static void a_past_night_is_never_stale(void **state)
{
	struct world w;
	struct tk_detect_options o;
	struct tk_diff_range range = {.until_s = INT64_MAX};
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1e6);
	range.base_night_id = w.night;
	world_build(&w, "bbb", 2, "b", "h2", "");
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 2e6);
	range.head_night_id = w.night;
	world_night(&w, 30, "nightly"), world_point(&w, "b", "p", 1e6);
	o = world_options(&w);
	o.now_s += 100 * WORLD_DAY;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "p", TK_VERDICT_REGRESSED);
	tk_diff_report_free(&r);
	range.head_night_id = range.base_night_id;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), TK_EUSAGE);
	assert_string_equal(w.err.message, "the base night is not earlier than the head night");
	range.head_night_id = 999;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), TK_EUSAGE);
	assert_string_equal(w.err.message, "no night has the id 999");
	world_close(&w);
}

static void a_shared_shift_is_the_environment(void **state)
{
	struct world w;
	const char *only_b[] = {"backend:b", NULL}, *others_too[] = {"backend:o", NULL};
	struct tk_diff_range range = {
	        .since_s = WORLD_START + 24 * WORLD_DAY, .until_s = INT64_MAX};
	struct tk_detect_options o;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 1);
	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	for (int day = 0; day < 25; day++) {
		world_night(&w, day, "nightly");
		world_build(&w, day < 24 ? "aaa" : "bbb", day < 24 ? 1 : 2, "b",
		        day < 24 ? "h1" : "h2", "Change b");
		world_point(&w, "b", "with", quiet(&rng, day < 24 ? 1e6 : 1.08e6));
		world_point(&w, "b", "more", quiet(&rng, day < 24 ? 1e6 : 1.30e6));
		if (day == 24)
			world_environment(&w, "{\"driver\":\"555\"}");
		world_build(&w, "ooo", 1, "o", "same", "");
		others(&w, &rng, day < 24 ? 1 : 1.08);
	}
	r = world_diff(&w, 24);
	expect(&r, "with", TK_VERDICT_ENVIRONMENT), expect_reason(&r, "with", "shifted by +8");
	expect_reason(&r, "with", "without that +0.");
	expect(&r, "more", TK_VERDICT_REGRESSED), expect_reason(&r, "more", "without that +2");
	for (size_t i = 0; i < r.count; i++)
		if (strcmp(r.rows[i].backend, "o") == 0)
			assert_int_equal(r.rows[i].verdict.status, TK_VERDICT_ENVIRONMENT);
	tk_diff_report_free(&r);
	/* what is looked at changes nothing of what the machine did */
	o = world_options(&w);
	for (int ignoring = 0; ignoring < 2; ignoring++) {
		range.filters = ignoring ? NULL : only_b;
		range.ignored = ignoring ? others_too : NULL;
		assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
		assert_int_equal(r.count, 2);
		expect(&r, "with", TK_VERDICT_ENVIRONMENT),
		        expect(&r, "more", TK_VERDICT_REGRESSED);
		assert_int_equal(r.by_status[TK_VERDICT_ENVIRONMENT], 1);
		assert_int_equal(r.compared, 2);
		assert_true(r.mean.change > 0.25); /* of `more` alone: the mean is of the code */
		tk_diff_report_free(&r);
	}
	world_close(&w);
}

/* The machine became 8 % faster or slower, and new code did not follow: less the machine it moved,
 * but no timing did.
 */
static void a_change_that_no_timing_shows(void **state)
{
	for (int faster = 0; faster < 2; faster++) {
		struct world w;
		struct tk_rng rng;
		struct tk_diff_report r;
		double shift = faster ? 0.92 : 1.08;

		tk_rng_seed(&rng, 6);
		world_open(&w, NULL);
		for (int day = 0; day < 25; day++) {
			double by = day < 24 ? 1 : shift;

			world_night(&w, day, "nightly");
			world_build(&w, day < 24 ? "aaa" : "bbb", day < 24 ? 1 : 2, "b",
			        day < 24 ? "h1" : "h2", "");
			world_point(&w, "b", "stayed", quiet(&rng, 1e6));
			world_point(&w, "b", "half", quiet(&rng, 1e6 * sqrt(by)));
			world_point(&w, "b", "moved", quiet(&rng, 1e6 / by));
			world_build(&w, "ooo", 1, "o", "same", "");
			others(&w, &rng, by);
		}
		r = world_diff(&w, 24);
		expect(&r, "stayed", TK_VERDICT_SAME),
		        expect_reason(&r, "stayed", "its timings changed by ");
		expect(&r, "half", TK_VERDICT_ENVIRONMENT),
		        expect_reason(&r, "half", faster ? "changed by -" : "changed by +");
		expect(&r, "moved", faster ? TK_VERDICT_REGRESSED : TK_VERDICT_IMPROVED);
		tk_diff_report_free(&r);
		world_close(&w);
	}
}

static void same_machine_code_cannot_be_the_code(void **state)
{
	struct world w;
	struct tk_diff_range range = {
	        .since_s = WORLD_START + 24 * WORLD_DAY, .until_s = INT64_MAX};
	struct tk_detect_options o;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 2);
	world_open(&w, NULL);
	for (int day = 0; day < 25; day++) {
		world_build(&w, day < 24 ? "aaa" : "bbb", day < 24 ? 1 : 2, "b", "h1",
		        "Touch the manual");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "alone", quiet(&rng, day < 24 ? 1e6 : 1.2e6));
		others(&w, &rng, 1);
		if (day == 24)
			world_environment(&w, "{\"driver\":\"550\",\"kernel\":\"6.9\"}");
		world_point(&w, "b", "kernel", quiet(&rng, day < 24 ? 1e6 : 1.2e6));
	}
	r = world_diff(&w, 24);
	expect(&r, "alone", TK_VERDICT_SAME),
	        expect_reason(&r, "alone", "same machine code before and after");
	assert_true(world_row(&r, "b", "alone")->same_code);
	expect(&r, "kernel", TK_VERDICT_ENVIRONMENT),
	        expect_reason(&r, "kernel", "environment changed: kernel none -> 6.9");
	tk_diff_report_free(&r);
	/* nor does it become doubtful where more evidence is asked for */
	o = world_options(&w);
	o.confirm_nights = 2;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "alone", TK_VERDICT_SAME), expect_reason(&r, "alone", "seen on 1 of 2 nights");
	tk_diff_report_free(&r);
	world_close(&w);
}

/* It moved on a night of the old code, and new code came on the next: neither of them is known to
 * be why. */
static void new_code_after_the_step_is_unsure(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 9);
	world_open(&w, NULL);
	for (int day = 0; day < 26; day++) {
		world_build(&w,
		        day < 24   ? "aaa"
		        : day < 25 ? "bbb"
		                   : "ccc",
		        day, "b", day < 25 ? "h1" : "h2", "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", quiet(&rng, day < 24 ? 1e6 : 1.2e6));
		others(&w, &rng, 1);
	}
	r = world_diff(&w, 24);
	expect(&r, "p", TK_VERDICT_UNSURE), expect_reason(&r, "p", "changed only after that night");
	assert_false(world_row(&r, "b", "p")->same_code);
	tk_diff_report_free(&r);
	world_close(&w);
}

/* Noise that would hide a change of 25 %, and a threshold far beyond all that it may be: nothing to
 * be unsure of. */
static void noise_below_the_threshold_is_the_same(void **state)
{
	static const double relative[] = {0.02, 0.02, 0.02, 10}, absolute[] = {0, 1e5, 3e7, 0};
	struct tk_diff_range range = {
	        .since_s = WORLD_START + 24 * WORLD_DAY, .until_s = INT64_MAX};
	struct tk_detect_options o;
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 10);
	world_open(&w, NULL);
	for (int day = 0; day < 25; day++) {
		world_build(&w, day < 24 ? "aaa" : "bbb", day < 24 ? 1 : 2, "b",
		        day < 24 ? "h1" : "h2", "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "loud", 1e6 * exp(0.5 * tk_rng_normal(&rng)));
		others(&w, &rng, 1);
	}
	o = world_options(&w);
	for (int i = 0; i < 4; i++) {
		o.min_effect = relative[i];
		o.min_effect_ns = absolute[i];
		assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
		expect(&r, "loud", i < 2 ? TK_VERDICT_UNSURE : TK_VERDICT_SAME);
		expect_reason(&r, "loud", i < 2 ? "minimum detectable change" : "");
		tk_diff_report_free(&r);
	}
	world_close(&w);
}

/* One night of it may be chance; the third is the machine's. */
static void a_lasting_level_of_equal_code_is_the_environment(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 5);
	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	for (int day = 0; day < 25; day++) {
		world_night(&w, day, "nightly");
		world_point(&w, "b", "lasting", quiet(&rng, day < 22 ? 1e6 : 1.2e6));
		world_point(&w, "b", "loud", 1e6 * (1 + 0.15 * tk_rng_normal(&rng)));
		others(&w, &rng, 1);
	}
	r = world_diff(&w, 20);
	expect(&r, "lasting", TK_VERDICT_ENVIRONMENT),
	        expect_reason(&r, "lasting", "same machine code");
	tk_diff_report_free(&r);
	r = world_diff(&w, 24);
	expect(&r, "loud", TK_VERDICT_SAME), expect_reason(&r, "loud", "minimum detectable change");
	expect_reason(&r, "loud", "same machine code");
	tk_diff_report_free(&r);
	world_close(&w);
}

/* Beside a median of nights that are mostly of the old level; the step itself is from the night
 * before the range. */
static void changes_before_the_range_do_not_count_in_the_mean(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 8);
	world_open(&w, NULL);
	for (int day = 0; day < 8; day++) {
		char rev[16];

		snprintf(rev, sizeof rev, "rev%d", day);
		world_build(&w, rev, day + 1, "b", NULL, "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", quiet(&rng, day < 4 ? 1e6 : 1.5e6));
		others(&w, &rng, 1);
	}
	r = world_diff(&w, 5);
	expect(&r, "p", TK_VERDICT_SAME), expect_reason(&r, "p", "changed before the range");
	assert_true(world_row(&r, "b", "p")->verdict.decided_by == TK_RULE_CHANGED_BEFORE &&
	            world_row(&r, "b", "p")->verdict.change.value > 0.4);
	assert_true(fabs(r.mean.change) < 0.01);
	tk_diff_report_free(&r);
	world_close(&w);
}

static void a_new_driver_alone_is_not_comparable(void **state)
{
	struct world w;
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1e6);
	world_environment(&w, "{\"driver\":\"555\"}");
	world_build(&w, "bbb", 2, "b", "h2", "");
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 1.5e6);
	r = world_diff(&w, 1);
	expect(&r, "p", TK_VERDICT_NOT_COMPARABLE), expect_reason(&r, "p", "driver 550 -> 555");
	tk_diff_report_free(&r);
	world_close(&w);
}

static void the_first_slow_night_of_a_quiet_series_is_reported(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 3);
	world_open(&w, NULL);
	for (int day = 0; day < 30; day++) {
		char rev[16];

		snprintf(rev, sizeof rev, "r%d", day);
		world_build(&w, rev, day + 1, "b", rev, "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "quiet", quiet(&rng, day < 29 ? 1e6 : 1.04e6));
		world_point(&w, "b", "spiky", quiet(&rng, day == 29 || day == 9 ? 1.2e6 : 1e6));
		world_point(&w, "b", "step", quiet(&rng, day < 26 ? 1e6 : 1.04e6));
		world_point(&w, "b", "before", quiet(&rng, day < 20 ? 1e6 : 1.1e6));
		world_point(&w, "b", "noisy", 1e6 * (1 + 0.15 * tk_rng_normal(&rng)));
	}
	r = world_diff(&w, 23);
	expect(&r, "quiet", TK_VERDICT_REGRESSED);
	assert_string_equal(world_row(&r, "b", "quiet")->bad_rev, "r29");
	expect(&r, "spiky", TK_VERDICT_UNSURE),
	        expect_reason(&r, "spiky", "earlier spike of this series");
	expect(&r, "step", TK_VERDICT_REGRESSED);
	assert_string_equal(world_row(&r, "b", "step")->bad_rev, "r26");
	assert_string_equal(world_row(&r, "b", "step")->good_rev, "r25");
	expect(&r, "before", TK_VERDICT_SAME);
	expect(&r, "noisy", TK_VERDICT_UNSURE),
	        expect_reason(&r, "noisy", "minimum detectable change");
	tk_diff_report_free(&r);
	world_close(&w);
}

static void higher_can_be_better(void **state)
{
	struct world w;
	struct tk_diff_report r;

	world_open(&w, NULL);
	w.higher_is_better = true;
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1e6);
	world_build(&w, "bbb", 2, "b", "h2", "");
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 1.5e6);
	r = world_diff(&w, 1);
	expect(&r, "p", TK_VERDICT_IMPROVED);
	assert_false(r.rows[0].lower_is_better);
	tk_diff_report_free(&r);
	world_close(&w);
}

static void both_thresholds_must_be_exceeded(void **state)
{
	struct world w;
	struct tk_detect_options o;
	const struct tk_diff_range range = {
	        .since_s = WORLD_START + WORLD_DAY, .until_s = INT64_MAX};
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly"), world_point(&w, "b", "p", 1000);
	world_build(&w, "bbb", 2, "b", "h2", "");
	world_night(&w, 1, "nightly"), world_point(&w, "b", "p", 1300);
	o = world_options(&w);
	o.min_effect_ns = 500;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "p", TK_VERDICT_SAME);
	tk_diff_report_free(&r);
	o.min_effect_ns = 100;
	o.min_effect = 0.5;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "p", TK_VERDICT_SAME);
	tk_diff_report_free(&r);
	o.min_effect = 0.02;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	expect(&r, "p", TK_VERDICT_REGRESSED);
	tk_diff_report_free(&r);
	world_close(&w);
}

static void filters_choose_rows(void **state)
{
	struct world w;
	struct tk_detect_options o;
	const char *filters[] = {"backend:B", "problem:p*", "problem:q", NULL},
	           *bad[] = {"backnd:x", NULL}, *no_key[] = {"x", NULL};
	struct tk_diff_range range = {.since_s = 0, .until_s = INT64_MAX, .filters = filters};
	struct tk_diff_report r;

	world_open(&w, NULL);
	world_build(&w, "aaa", 1, "b", "h1", "");
	world_night(&w, 0, "nightly");
	world_point(&w, "b", "p1", 1e6), world_point(&w, "b", "q", 1e6),
	        world_point(&w, "b", "r", 1e6), world_point(&w, "c", "p1", 1e6);
	o = world_options(&w);
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), 0);
	assert_int_equal(r.count, 2);
	tk_diff_report_free(&r);
	range.filters = bad;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), TK_EUSAGE);
	assert_non_null(strstr(w.err.message, "unknown key \"backnd\", did you mean \"backend\"?"));
	range.filters = no_key;
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), TK_EUSAGE);
	assert_non_null(strstr(w.err.message, "expected KEY:GLOB"));
	range.filters = NULL;
	range.machine = "nowhere";
	assert_int_equal(tk_detect_diff(w.store, &o, &range, &r, &w.err), TK_EUSAGE);
	assert_string_equal(w.err.message, "no machine \"nowhere\" in the history");
	world_close(&w);
}

static void names_and_marks(void **state)
{
	enum tk_verdict_status s;

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++) {
		assert_int_equal(tk_verdict_status_parse(
		                         tk_verdict_status_name((enum tk_verdict_status)i), &s),
		        0);
		assert_int_equal(s, i);
		assert_true(*tk_verdict_status_mark(s) && *tk_verdict_status_meaning(s));
	}
	assert_int_equal(tk_verdict_status_parse("slower", &s), TK_EDATA);
}

static void an_empty_history(void **state)
{
	struct world w;
	struct tk_diff_report r;

	world_open(&w, NULL);
	r = world_diff(&w, 0);
	assert_int_equal(r.count, 0);
	assert_int_equal(r.compared, 0);
	assert_true(isnan(r.mean.change));
	tk_diff_report_free(&r);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(two_nights_over_two_revisions),
	        cmocka_unit_test(outcomes),
	        cmocka_unit_test(old_data_is_stale),
	        cmocka_unit_test(a_past_night_is_never_stale),
	        cmocka_unit_test(a_shared_shift_is_the_environment),
	        cmocka_unit_test(a_change_that_no_timing_shows),
	        cmocka_unit_test(same_machine_code_cannot_be_the_code),
	        cmocka_unit_test(new_code_after_the_step_is_unsure),
	        cmocka_unit_test(noise_below_the_threshold_is_the_same),
	        cmocka_unit_test(a_lasting_level_of_equal_code_is_the_environment),
	        cmocka_unit_test(changes_before_the_range_do_not_count_in_the_mean),
	        cmocka_unit_test(a_new_driver_alone_is_not_comparable),
	        cmocka_unit_test(the_first_slow_night_of_a_quiet_series_is_reported),
	        cmocka_unit_test(higher_can_be_better),
	        cmocka_unit_test(both_thresholds_must_be_exceeded),
	        cmocka_unit_test(filters_choose_rows),
	        cmocka_unit_test(names_and_marks),
	        cmocka_unit_test(an_empty_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
