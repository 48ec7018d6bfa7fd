/* Rows of a comparison: names, revisions, first bad commits and acknowledgements; what is stored of
 * a verdict; and what one machine's series did together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/history/case_set.h"
#include "detect/report/verdict_detail.h"
#include "world.h"

/* Ten nights of r1 (position 5) at 1 ms, then four of r2 (position 8), this many times as slow. */
static void write_step(struct world *w, double factor)
{
	world_build(w, "r1", 5, "b", "h1", "first");
	for (int day = 0; day < 10; day++) {
		world_night(w, day, "nightly");
		world_point(w, "b", "p", 1e6 * (1 + 0.0005 * (day % 3)));
	}
	world_build(w, "r2", 8, "b", "h2", "second");
	for (int day = 10; day < 14; day++) {
		world_night(w, day, "nightly");
		world_point(w, "b", "p", factor * 1e6 * (1 + 0.0005 * (day % 3)));
	}
}

/* ---- rows ---- */

static void a_row_names_its_series(void **state)
{
	struct world *w = *state;

	write_step(w, 1.1);
	struct tk_diff_report r = world_diff(w, 10);
	const struct tk_diff_row *row = world_row(&r, "b", "p");
	assert_string_equal(row->series, "box.cpu.self.b.p.cold");
	assert_string_equal(row->device, "cpu");
	assert_string_equal(row->machine, "box");
	assert_string_equal(row->upstream, "self");
	assert_string_equal(row->problem, "p");
	assert_string_equal(row->op, "gemm");
	assert_string_equal(row->metric, "time");
	assert_string_equal(row->unit, "ns");
	assert_string_equal(row->mode, ""); /* the default of a CPU */
	assert_true(row->lower_is_better);
	assert_true(row->flops == 1e9);
	assert_int_equal(row->newest_s, WORLD_START + 13 * WORLD_DAY);
	tk_diff_report_free(&r);
}

static void a_step_lies_between_two_revisions(void **state)
{
	struct world *w = *state;

	write_step(w, 1.1);
	struct tk_diff_report r = world_diff(w, 10);
	const struct tk_diff_row *row = world_row(&r, "b", "p");
	assert_int_equal(row->verdict.status, TK_VERDICT_REGRESSED);
	assert_string_equal(row->good_rev, "r1");
	assert_string_equal(row->bad_rev, "r2");
	assert_string_equal(row->bad_subject, "second");
	assert_int_equal(row->commits_between, 3);
	assert_false(row->same_code);
	assert_true(row->new_code);
	assert_int_equal(row->samples_after, 120); /* 30 in each of four nights */
	assert_true(row->good_build_id && row->new_build_id > row->good_build_id);
	assert_true(isnan(row->first_bad_change));
	tk_diff_report_free(&r);
}

/* Revisions without a place in the order of their upstream are not counted. */
static void commits_between_unordered_revisions_are_unknown(void **state)
{
	struct world *w = *state;

	world_build(w, "r1", 0, "b", "h1", "first");
	for (int day = 0; day < 10; day++) {
		world_night(w, day, "nightly");
		world_point(w, "b", "p", 1e6 * (1 + 0.0005 * (day % 3)));
	}
	world_build(w, "r2", 0, "b", "h2", "second");
	for (int day = 10; day < 14; day++) {
		world_night(w, day, "nightly");
		world_point(w, "b", "p", 1.1e6);
	}
	struct tk_diff_report r = world_diff(w, 10);
	assert_int_equal(world_row(&r, "b", "p")->commits_between, -1);
	tk_diff_report_free(&r);
}

static struct tk_bisection_row bisection(const struct world *w, const char *uid)
{
	return (struct tk_bisection_row){.uid = uid,
	        .series_id = 1,
	        .night_id = w->night,
	        .outcome = TK_BISECT_FOUND,
	        .good_rev = "r1",
	        .bad_rev = "r2",
	        .first_bad_rev = "r17",
	        .last_good_rev = "r16",
	        .subject = "unroll",
	        .author = "Ann",
	        .author_time_s = 77,
	        .change = 0.1,
	        .change_lo = 0.09,
	        .change_hi = 0.11,
	        .confidence = 0.99};
}

static void a_bisection_of_the_range_names_the_commit(void **state)
{
	struct world *w = *state;

	write_step(w, 1.1);
	struct tk_bisection_row rows[] = {
	        bisection(w, "b1"), bisection(w, "b2"), bisection(w, "b3"), bisection(w, "b4")};
	rows[1].bad_rev = "r3"; /* of another range */
	rows[2].good_rev = "r0";
	rows[3].outcome = TK_BISECT_RANGE;
	for (int i = 1; i < 4; i++) {
		rows[i].first_bad_rev = "wrong";
		assert_int_equal(tk_store_put_bisection(w->store, &rows[i], &w->err), 0);
	}
	struct tk_diff_report r = world_diff(w, 10);
	assert_string_equal(world_row(&r, "b", "p")->first_bad_commit, "");
	tk_diff_report_free(&r);
	assert_int_equal(tk_store_put_bisection(w->store, &rows[0], &w->err), 0);
	r = world_diff(w, 10);
	const struct tk_diff_row *row = world_row(&r, "b", "p");
	assert_string_equal(row->first_bad_commit, "r17");
	assert_string_equal(row->first_bad_subject, "unroll");
	assert_string_equal(row->first_bad_author, "Ann");
	assert_int_equal(row->first_bad_time_s, 77);
	assert_true(row->first_bad_change == 0.1 && row->first_bad_confidence == 0.99);
	tk_diff_report_free(&r);
}

/* ---- acknowledgements in a file ---- */

static void expect_status(struct world *w, const struct tk_ack_rule *rule,
        enum tk_verdict_status status, const char *reason)
{
	w->acks = rule;
	w->ack_count = 1;
	struct tk_diff_report r = world_diff(w, 10);
	const struct tk_diff_row *row = world_row(&r, "b", "p");
	if (row->verdict.status != status)
		fail_msg("%s", tk_verdict_status_name(row->verdict.status));
	assert_int_equal(row->verdict.status_before_ack, TK_VERDICT_REGRESSED);
	if (!strstr(world_reason(row), reason))
		fail_msg("`%s` is not in `%s`", reason, world_reason(row));
	tk_diff_report_free(&r);
	w->acks = NULL;
	w->ack_count = 0;
}

static void a_rule_accepts_what_it_matches(void **state)
{
	static const char *const of_backend[] = {"backend:b", NULL},
	                         *const of_other[] = {"backend:c", NULL},
	                         *const of_both[] = {"backend:b", "op:conv", NULL};
	struct world *w = *state;
	struct tk_ack_rule rule = {.filters = of_backend,
	        .action = TK_ACTION_EXPECT,
	        .author = "ann",
	        .note = "wanted"};

	write_step(w, 1.1);
	expect_status(w, &rule, TK_VERDICT_ACKED, "regressed, expected by ann: wanted");
	rule.note = "";
	rule.action = TK_ACTION_ACK;
	expect_status(w, &rule, TK_VERDICT_ACKED, "regressed, acked by ann");
	rule.filters = of_other;
	expect_status(w, &rule, TK_VERDICT_REGRESSED, "");
	rule.filters = of_both;
	expect_status(w, &rule, TK_VERDICT_REGRESSED, "");
}

/* The first digits of the first bad revision; and only until its day. */
static void a_rule_is_about_a_revision_and_ends(void **state)
{
	static const char *const all[] = {"backend:*", NULL};
	struct world *w = *state;
	struct tk_ack_rule rule = {
	        .filters = all, .rev = "r2", .action = TK_ACTION_ACK, .author = "a", .note = ""};

	write_step(w, 1.1);
	expect_status(w, &rule, TK_VERDICT_ACKED, "acked");
	rule.rev = "r";
	expect_status(w, &rule, TK_VERDICT_ACKED, "acked");
	rule.rev = "r1";
	expect_status(w, &rule, TK_VERDICT_REGRESSED, "");
	rule.rev = NULL;
	rule.until_s = w->as_of_s + WORLD_DAY; /* the clock of world_options() */
	expect_status(w, &rule, TK_VERDICT_REGRESSED, "");
	rule.until_s++;
	expect_status(w, &rule, TK_VERDICT_ACKED, "acked");
}

static void good_news_needs_no_acknowledgement(void **state)
{
	static const char *const all[] = {"backend:*", NULL};
	struct world *w = *state;
	const struct tk_ack_rule rule = {
	        .filters = all, .action = TK_ACTION_ACK, .author = "a", .note = ""};

	write_step(w, 0.8);
	w->acks = &rule;
	w->ack_count = 1;
	struct tk_diff_report r = world_diff(w, 10);
	assert_int_equal(world_row(&r, "b", "p")->verdict.status, TK_VERDICT_IMPROVED);
	tk_diff_report_free(&r);
}

/* ---- what is stored of a verdict ---- */

static void a_stored_verdict_is_read_again(void **state)
{
	struct tk_diff_row row = {.good_rev = "r1",
	        .bad_rev = "r2",
	        .commits_between = 3,
	        .samples_before = 100,
	        .samples_after = 30,
	        .same_code = true};
	struct tk_verdict read;

	(void)state;
	tk_verdict_init(&row.verdict);
	row.verdict.decided_by = TK_RULE_REGRESSED;
	row.verdict.cause = TK_CAUSE_CODE;
	row.verdict.last_good_run_id = 11;
	row.verdict.first_bad_run_id = 12;
	tk_verdict_add_fact(&row.verdict,
	        (struct tk_fact){.kind = TK_FACT_WITHIN_NOISE, .number = {0.5, NAN, 3, -4}}, NULL);
	tk_verdict_add_fact(&row.verdict,
	        (struct tk_fact){.kind = TK_FACT_STILL_AT_ALERT, .time_s = 99}, "r\"2\"");
	char *text = tk_verdict_detail_write(&row);
	assert_non_null(text);
	assert_string_equal(text,
	        "{\"bad_rev\":\"r2\",\"cause\":\"code\",\"commits_between\":3,\"facts\":["
	        "{\"kind\":\"within-noise\",\"numbers\":[0.5,null,3.0,-4.0]},"
	        "{\"kind\":\"still-at-alert\",\"numbers\":[0.0,0.0,0.0,0.0],"
	        "\"text\":\"r\\\"2\\\"\",\"time_s\":99}],\"first_bad_run\":12,"
	        "\"good_rev\":\"r1\",\"last_good_run\":11,\"n_after\":30,\"n_before\":100,"
	        "\"rule\":\"regressed\",\"same_code\":true}");
	tk_verdict_init(&read);
	tk_verdict_detail_read(text, "prose", &read);
	free(text);
	assert_int_equal(read.decided_by, TK_RULE_REGRESSED);
	assert_int_equal(read.fact_count, 2);
	assert_true(read.facts[0].number[0] == 0.5 && isnan(read.facts[0].number[1]) &&
	            read.facts[0].number[3] == -4);
	assert_int_equal(read.facts[1].time_s, 99);
	assert_string_equal(tk_fact_text(&read, &read.facts[1]), "r\"2\"");
}

static void pairs_are_stored_where_there_are_any(void **state)
{
	struct tk_diff_row row = {
	        .ab = {.decision = TK_AB_HIGHER, .count = 8, .change = 0.25, .lo = NAN, .hi = 0.5}};

	(void)state;
	tk_verdict_init(&row.verdict);
	char *text = tk_verdict_detail_write(&row);
	assert_non_null(
	        strstr(text, "\"pairs\":{\"change\":0.25,\"count\":8,\"hi\":0.5,\"lo\":null,"
	                     "\"statistic\":\"median\",\"word\":\"higher\"}"));
	free(text);
	row.ab.fastest = true;
	text = tk_verdict_detail_write(&row);
	assert_non_null(strstr(text, "\"statistic\":\"min\""));
	free(text);
	row.ab.count = 0;
	text = tk_verdict_detail_write(&row);
	assert_null(strstr(text, "pairs"));
	free(text);
}

/* Prose of older versions is a fact; what cannot be read is left out. */
static void details_of_other_versions(void **state)
{
	static const struct {
		const char *detail, *reason;
		size_t facts;
		const char *text; /* of the first one */
	} cases[] = {{NULL, "slower by much", 1, "slower by much"}, {"{}", "why", 1, "why"},
	        {"{", "why", 1, "why"}, {"{}", "", 0, ""}, {"{}", NULL, 0, ""},
	        {"{\"facts\":[]}", "why", 0, ""}, {"{\"facts\":7}", "why", 1, "why"},
	        {"{\"facts\":[{\"kind\":\"unheard-of\"},{\"kind\":\"environment\","
	         "\"text\":\"driver\"},7,{}]}",
	                "why", 1, "driver"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_verdict v;
		tk_verdict_init(&v);
		tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_SAME_CODE}, NULL);
		tk_verdict_detail_read(cases[i].detail, cases[i].reason, &v);
		assert_int_equal(v.fact_count, cases[i].facts);
		if (v.fact_count)
			assert_string_equal(tk_fact_text(&v, &v.facts[0]), cases[i].text);
	}
	struct tk_verdict v;
	tk_verdict_init(&v);
	tk_verdict_detail_read("{}", "better since r2", &v);
	assert_int_equal(v.decided_by, TK_RULE_ALREADY_REPORTED);
	tk_verdict_init(&v);
	tk_verdict_detail_read("{\"rule\":\"improved\"}", "", &v);
	assert_int_equal(v.decided_by, TK_RULE_IMPROVED);
}

/* ---- what all series of a device did together ---- */

/* `count` series of unchanged code at 1 ms, which in the night 10 are `shift` times as slow, the
 * first one `own` times more. Role of the last: `role`. */
static void write_shift(struct world *w, int count, double shift, double own, const char *role)
{
	char name[8];

	world_build(w, "r1", 5, "b", "h1", "first");
	for (int day = 0; day <= 10; day++) {
		world_night(w, day, "nightly");
		for (int i = 0; i < count; i++) {
			const double noise = 1 + 0.0004 * ((day * 7 + i * 3) % 5);
			snprintf(name, sizeof name, "p%c", 'a' + i);
			w->role = i == count - 1 ? role : "suite";
			world_point(w, "b", name,
			        1e6 * noise * (day == 10 ? shift : 1) *
			                (day == 10 && i == 0 ? own : 1));
		}
	}
	world_end_night(w);
}

static void load_shifts(struct world *w, struct tk_case_set *c)
{
	const struct tk_detect_options o = world_options(w);
	const struct tk_diff_range range = {
	        .since_s = WORLD_START + 10 * WORLD_DAY, .until_s = INT64_MAX};

	assert_int_equal(tk_case_set_load(w->store, &o, &range, NULL, c, &w->err), 0);
	assert_int_equal(tk_case_set_evaluate(c, &w->err), 0);
}

static void a_shared_shift_is_the_machines(void **state)
{
	struct world *w = *state;
	struct tk_case_set c;

	write_shift(w, 6, 1.1, 1, "suite");
	load_shifts(w, &c);
	const struct tk_common_mode_shift *s = tk_case_set_find_shift(&c, w->device, 11);
	assert_non_null(s);
	assert_int_equal(s->series, 6);
	assert_int_equal(s->controls, 0);
	assert_true(s->significant);
	assert_float_equal(s->shift, log(1.1), 0.003);
	for (size_t i = 0; i < c.count; i++) {
		const struct tk_series_case *k = &c.at[i];
		assert_true(k->unchanged);
		/* what is left of the newest point */
		assert_float_equal(k->adjusted_y[k->count - 1], log(1e6), 0.005);
		assert_float_equal(k->y[k->count - 1], log(1.1e6), 0.005);
	}
	assert_null(tk_case_set_find_shift(&c, w->device, 10));
	assert_null(tk_case_set_find_shift(&c, w->device + 1, 11));
	tk_case_set_free(&c);
}

/* Four series show nothing without a control. */
static void few_series_need_a_control(void **state)
{
	struct world *w = *state;
	struct tk_case_set c;

	write_shift(w, 4, 1.1, 1, "suite");
	load_shifts(w, &c);
	assert_true(tk_case_set_find_shift(&c, w->device, 11)->shift == 0);
	assert_false(tk_case_set_find_shift(&c, w->device, 11)->significant);
	tk_case_set_free(&c);
	world_teardown(state);
	world_setup(state);
	w = *state;
	write_shift(w, 4, 1.1, 1, "control");
	load_shifts(w, &c);
	assert_int_equal(tk_case_set_find_shift(&c, w->device, 11)->controls, 1);
	assert_float_equal(tk_case_set_find_shift(&c, w->device, 11)->shift, log(1.1), 0.003);
	assert_true(tk_case_set_find_shift(&c, w->device, 11)->significant);
	tk_case_set_free(&c);
}

/* Below 0.5 %, a quarter of what is reported at all, nothing is corrected. */
static void small_shifts_are_left_alone(void **state)
{
	struct world *w = *state;
	struct tk_case_set c;

	write_shift(w, 6, 1.004, 1, "suite");
	load_shifts(w, &c);
	assert_false(tk_case_set_find_shift(&c, w->device, 11)->significant);
	assert_true(c.at[0].adjusted_y[c.at[0].count - 1] == c.at[0].y[c.at[0].count - 1]);
	tk_case_set_free(&c);
}

/* One series that moves alone is not the machine. */
static void the_median_series_counts(void **state)
{
	struct world *w = *state;
	struct tk_case_set c;

	write_shift(w, 7, 1, 1.5, "suite");
	load_shifts(w, &c);
	assert_float_equal(tk_case_set_find_shift(&c, w->device, 11)->shift, 0, 0.002);
	assert_float_equal(c.at[0].adjusted_y[c.at[0].count - 1], log(1.5e6), 0.005);
	tk_case_set_free(&c);
}

/* The false-discovery rate of a machine: q is at least p, and without the correction p. */
static void q_corrects_for_the_series_of_a_machine(void **state)
{
	struct world *w = *state;
	struct tk_case_set c;

	write_shift(w, 7, 1, 1.5, "suite");
	load_shifts(w, &c);
	bool is_corrected = false;
	for (size_t i = 0; i < c.count; i++) {
		assert_true(c.at[i].q >= c.at[i].adjusted.best.p);
		is_corrected = is_corrected || c.at[i].q > c.at[i].adjusted.best.p;
	}
	assert_true(is_corrected);
	tk_case_set_free(&c);
	struct tk_detect_options o = world_options(w);
	const struct tk_diff_range range = {
	        .since_s = WORLD_START + 10 * WORLD_DAY, .until_s = INT64_MAX};
	o.uncorrected = true;
	assert_int_equal(tk_case_set_load(w->store, &o, &range, NULL, &c, &w->err), 0);
	assert_int_equal(tk_case_set_evaluate(&c, &w->err), 0);
	for (size_t i = 0; i < c.count; i++)
		assert_true(c.at[i].q == c.at[i].adjusted.best.p);
	tk_case_set_free(&c);
}

/* The noise that a young series probably has: the median of those with a history. */
static void a_prior_is_the_median_of_five_series(void **state)
{
	double noises[] = {0.01, 0.05, 0.02, 0.04, 0.03};
	double least[] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9};

	(void)state;
	assert_float_equal(tk_prior_noise_estimate(noises, 5), 0.03, 1e-12);
	assert_true(tk_prior_noise_estimate(noises, 4) == 0);
	assert_true(tk_prior_noise_estimate(noises, 0) == 0);
	assert_float_equal(tk_prior_noise_estimate(least, 5), 0.0005, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_WORLD(a_row_names_its_series),
	        IN_WORLD(a_step_lies_between_two_revisions),
	        IN_WORLD(commits_between_unordered_revisions_are_unknown),
	        IN_WORLD(a_bisection_of_the_range_names_the_commit),
	        IN_WORLD(a_rule_accepts_what_it_matches),
	        IN_WORLD(a_rule_is_about_a_revision_and_ends),
	        IN_WORLD(good_news_needs_no_acknowledgement),
	        cmocka_unit_test(a_stored_verdict_is_read_again),
	        cmocka_unit_test(pairs_are_stored_where_there_are_any),
	        cmocka_unit_test(details_of_other_versions),
	        IN_WORLD(a_shared_shift_is_the_machines),
	        IN_WORLD(few_series_need_a_control),
	        IN_WORLD(small_shifts_are_left_alone),
	        IN_WORLD(the_median_series_counts),
	        IN_WORLD(q_corrects_for_the_series_of_a_machine),
	        cmocka_unit_test(a_prior_is_the_median_of_five_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
