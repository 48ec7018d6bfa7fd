/* What `tracker tune` prints of its report, and of the stored results. */
#include "../store/history.h"
#include "capture.h"

#include <jansson.h>
#include <math.h>

#include "cli/globals.h"
#include "cli/tune/print.h"
#include "cli/tune/print_rules.h"
#include "store/tuning.h"

static const struct tk_globals globals = {.no_color = true};

/* ---- the report ---- */

struct report {
	struct tk_tune_candidate candidates[3];
	struct tk_tune_row rows[2];
	struct tk_tune_report report;
};

/* A problem with three configurations, whose second one is faster, and one that nobody does. */
static void make_report(struct report *r)
{
	*r = (struct report){0};
	for (int i = 0; i < 3; i++) {
		snprintf(r->candidates[i].config, sizeof r->candidates[i].config, "c%d", i);
		r->candidates[i].median_ns = 1000 - 100 * i;
		r->candidates[i].slower = r->candidates[i].lo = r->candidates[i].hi = NAN;
	}
	r->candidates[2].outcome = TK_OUTCOME_WRONG;
	strcpy(r->candidates[2].message, "off by\033 one");
	const struct tk_ab_result none = {.change = NAN, .lo = NAN, .hi = NAN};
	r->rows[0] = (struct tk_tune_row){
	        .ab = {.title = "gemm",
	                .problem = "gemm:m=1",
	                .backend = "blas",
	                .device = "cpu",
	                .mode = "hot",
	                .result = {.change = -0.1, .lo = -0.11, .hi = -0.09, .count = 16},
	                .level_ns = {1000, 900}},
	        .verdict = TK_TUNE_VERDICT_FASTER,
	        .candidates = r->candidates,
	        .count = 3,
	        .winner = 1,
	        .chosen = 1,
	        .evaluations = 9,
	        .exhaustive_evaluations = 13,
	        .failed = 1};
	r->rows[1] =
	        (struct tk_tune_row){.ab = {.title = "fft", .result = none, .level_ns = {NAN, NAN}},
	                .verdict = TK_TUNE_VERDICT_UNSUPPORTED};
	r->report = (struct tk_tune_report){.rows = r->rows, .count = 2, .evaluations = 9};
	r->report.ab.pairs = 16;
	r->report.ab.wall_s = 30;
	r->report.by_verdict[TK_TUNE_VERDICT_FASTER] = 1;
	r->report.by_verdict[TK_TUNE_VERDICT_UNSUPPORTED] = 1;
}

static void a_row_has_its_winner(void **state)
{
	struct report r;
	struct capture c;

	make_report(&r);
	MUST(tk_tune_write_text(&globals, &r.report, capture_open(&c), &err));
	const char *text = capture_text(&c);
	expect_contains(text, "1.000 us 900.0 ns -10.0 % (-11.0 to -9.0 %)");
	expect_contains(text, "3, 1 failed 9 of 13 faster      c1");
	expect_contains(text, "gemm, c2: wrong: off by? one\n"); /* nothing steers a terminal */
	expect_contains(text, "1 faster, 1 unsupported; 9 runs, 16 A/B pairs in 30 s\n");
	capture_free(&c);
}

/* Where no A/B runs were made, the levels are those of the race. */
static void without_pairs_the_race_has_the_times(void **state)
{
	struct report r;
	struct capture c;

	make_report(&r);
	r.rows[0].ab.level_ns[0] = r.rows[0].ab.level_ns[1] = NAN;
	r.rows[0].ab.result = r.rows[1].ab.result;
	r.rows[0].verdict = TK_TUNE_VERDICT_UNCONFIRMED;
	r.rows[0].failed = 0;
	r.report.ab.pairs = r.report.evaluations = 1;
	r.report.ab.budget_spent = true;
	MUST(tk_tune_write_text(&globals, &r.report, capture_open(&c), &err));
	expect_contains(capture_text(&c), "1.000 us 900.0 ns ");
	expect_lacks(capture_text(&c), "CHANGE");
	expect_lacks(capture_text(&c), "failed");
	expect_contains(capture_text(&c), "; 1 run, 1 A/B pair in 30 s; the budget was spent\n");
	capture_free(&c);
}

static void the_report_as_json(void **state)
{
	struct report r;
	struct capture c;

	make_report(&r);
	MUST(tk_tune_write_json(&r.report, capture_open(&c), &err));
	json_t *o = json_loads(capture_text(&c), 0, NULL);
	const json_t *row = json_array_get(json_object_get(o, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "tracker-tune/1");
	assert_true(json_is_null(json_object_get(o, "budget_s")));
	assert_string_equal(json_string_value(json_object_get(row, "config")), "c1");
	assert_int_equal(json_array_size(json_object_get(row, "candidates")), 3);
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(row, "change"), "pairs")), 16);
	row = json_array_get(json_object_get(o, "rows"), 1);
	assert_true(json_is_null(json_object_get(row, "config")));
	assert_true(json_is_null(json_object_get(row, "change")));
	json_decref(o);
	capture_free(&c);
}

/* ---- stored results ---- */

static const char *listed(struct history *h, const char *of, bool json, struct capture *c)
{
	FILE *terminal = stdout;
	struct tk_error err = {0};

	stdout = capture_open(c);
	const int status = tk_tune_list(&globals, h->store, of, json, &err);
	stdout = terminal;
	if (status)
		fail_msg("%s", err.message);
	return capture_text(c);
}

static void stored_results_are_listed(void **state)
{
	struct history *h = *state;
	struct capture c;
	int64_t id;

	expect_contains(listed(h, NULL, false, &c), "nothing is stored; `tracker tune BACKEND");
	capture_free(&c);
	MUST(history_put_tuning(h, 86400, &id, &err));
	const char *text = listed(h, NULL, false, &c);
	expect_contains(text, "gemm f32 512x512x512 nn blas");
	expect_contains(text, "1970-01-02");
	expect_contains(text, "-50.0 %");
	expect_contains(text, "fast\n");
	capture_free(&c);
	expect_contains(listed(h, "blas", false, &c), "1970-01-02");
	capture_free(&c);
	expect_contains(listed(h, "other", false, &c), "nothing is stored");
	capture_free(&c);
}

static void stored_results_as_json(void **state)
{
	struct history *h = *state;
	struct capture c;
	int64_t id;

	MUST(history_put_tuning(h, 86400, &id, &err));
	json_t *o = json_loads(listed(h, NULL, true, &c), 0, NULL);
	capture_free(&c);
	const json_t *row = json_array_get(json_object_get(o, "rows"), 0),
	             *change = json_object_get(row, "change");
	assert_string_equal(json_string_value(json_object_get(row, "device")), "cpu");
	assert_string_equal(json_string_value(json_object_get(row, "config")), "fast");
	assert_string_equal(json_string_value(json_object_get(row, "verdict")), "faster");
	assert_string_equal(
	        json_string_value(json_object_get(row, "started")), "1970-01-02T00:00:00Z");
	assert_float_equal(json_real_value(json_object_get(change, "value")), -0.5, 1e-6);
	assert_true(json_is_null(json_object_get(change, "hi")));
	assert_true(json_is_array(json_object_get(row, "candidates")));
	assert_true(json_is_array(json_object_get(o, "rules")));
	json_decref(o);
	o = json_loads(listed(h, "other", true, &c), 0, NULL);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 0);
	json_decref(o);
	capture_free(&c);
}

static void results_are_chosen_by_backend_or_upstream(void **state)
{
	const struct tk_tuning_row row = {.backend = "cublaslt", .upstream = "nvidia"};

	assert_true(tk_tune_is_chosen(&row, NULL));
	assert_true(tk_tune_is_chosen(&row, "cublaslt"));
	assert_true(tk_tune_is_chosen(&row, "nvidia"));
	assert_false(tk_tune_is_chosen(&row, "cublas"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_row_has_its_winner),
	        cmocka_unit_test(without_pairs_the_race_has_the_times),
	        cmocka_unit_test(the_report_as_json),
	        TEST(stored_results_are_listed),
	        TEST(stored_results_as_json),
	        cmocka_unit_test(results_are_chosen_by_backend_or_upstream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
