/* What a job is measured with and again, and what happens where that cannot be stored. */
#include "measure_rig.h"

static const char slower[] = "{'outcome':'ok','message':'','median':300,'lo':299,'hi':301,"
                             "'min':295,'q25':297,'q75':303,'p95':310,'n':4,"
                             "'samples':[295,297,303,310],'stop':'tight',"
                             "'verify':{'done':true,'passed':true}}";

/* ---- tuned configurations ---- */

/* The series p0 with the configuration that `tracker tune` found, by a build with this key. */
static void add_tuned_job(struct rig *r, const char *artifact_key)
{
	const struct tk_tuning_row row = {.device_id = r->device_ids[0],
	        .environment_id = r->devices[0].environment_id,
	        .problem_id = problem_id(r, 0),
	        .upstream = "blas",
	        .revision = "abc",
	        .artifact_key = artifact_key,
	        .backend = "blas",
	        .options = "",
	        .mode = "cold",
	        .started_s = 900,
	        .verdict = TK_TUNE_VERDICT_FASTER,
	        .config = "fast",
	        .winner = "fast",
	        .default_ns = 200,
	        .winner_ns = 100,
	        .change = -0.5,
	        .change_lo = -0.51,
	        .change_hi = -0.49,
	        .pair_count = 12,
	        .evaluation_count = 6,
	        .candidates = "[]"};
	int64_t id;

	MUST(tk_store_put_tuning(r->h.store, &row, &id, &err));
	add_job_of(r, put_series(r, 0, 0, TK_TUNE_CONFIG));
}

static void a_tuned_series_is_measured_with_its_winner(void **state)
{
	struct rig *r = *state;

	add_tuned_job(r, "key");
	must_run(r);
	assert_string_equal(fakes.config, "fast");
	expect_runs(r, "1 ok 0\n");
}

static void a_tuned_series_without_a_result_is_measured_with_the_default(void **state)
{
	struct rig *r = *state;

	add_job_of(r, put_series(r, 0, 0, TK_TUNE_CONFIG));
	must_run(r);
	assert_string_equal(fakes.config, "(none)");
}

static void another_configuration_is_passed_on(void **state)
{
	struct rig *r = *state;

	add_job_of(r, put_series(r, 0, 0, "tile=64"));
	must_run(r);
	assert_string_equal(fakes.config, "tile=64");
}

/* A build newer than the winner may lack its configuration: the default is measured instead. */
static void a_newer_build_without_the_winner_is_measured_with_the_default(void **state)
{
	static const enum tk_outcome lacking[] = {TK_OUTCOME_FAILED, TK_OUTCOME_UNSUPPORTED};
	struct rig *r = *state;

	add_tuned_job(r, "an older one");
	for (size_t i = 0; i < 2; i++) {
		answer("p0", lacking[i], "no configuration \"fast\"");
		must_run(r);
		assert_string_equal(started(), "0:p0 0:p0 ");
		assert_string_equal(fakes.config, "(none)");
		expect_runs(r, "1 ok 0\n");
		history_run_sql(&r->h, "UPDATE job SET run_id = NULL");
		history_run_sql(&r->h, "DELETE FROM sample");
		history_run_sql(&r->h, "DELETE FROM measurement");
		history_run_sql(&r->h, "DELETE FROM run");
		r->job_count = 0;
	}
}

/* Of the winner's own build, or of another kind, the failure is what is stored. */
static void other_failures_of_a_winner_are_findings(void **state)
{
	static const struct {
		const char *key;
		enum tk_outcome outcome;
		const char *runs;
	} cases[] = {{"key", TK_OUTCOME_FAILED, "1 failed 0: why\n"},
	        {"an older one", TK_OUTCOME_WRONG, "1 wrong 0: why\n"},
	        {"an older one", TK_OUTCOME_CRASHED, "1 crashed 0: why\n"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		struct rig *r = *state;
		add_tuned_job(r, cases[i].key);
		answer("p0", cases[i].outcome, "why");
		must_run(r);
		assert_string_equal(started(), "0:p0 ");
		expect_runs(r, cases[i].runs);
	}
}

/* ---- rechecks ---- */

static void answer_with(const char *problem, const char *json)
{
	answer(problem, TK_OUTCOME_OK, "");
	for (size_t i = 0; i < sizeof fakes.answers / sizeof *fakes.answers; i++)
		if (fakes.answers[i].problem && !fakes.answers[i + 1].problem)
			fakes.answers[i].json = json;
}

static void a_recheck_that_agrees_leaves_the_result(void **state)
{
	struct rig *r = *state;

	r->config.measure.recheck = 1;
	add_job(r, 0, 0);
	add_job(r, 0, 1);
	must_run(r);
	assert_string_equal(started(), "0:p0 9:p0 0:p1 9:p1 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n");
	assert_true(fakes.recheck.is_freed);
}

static void a_recheck_that_differs_makes_the_result_unstable(void **state)
{
	struct rig *r = *state;

	r->config.measure.recheck = 1;
	add_job(r, 0, 0);
	answer_with("p0", timing);
	answer_with("p0", slower);
	must_run(r);
	expect_runs(r, "1 unstable 0: a new process took 300.0\u00a0ns instead of 100.0\u00a0ns\n");
}

static void a_failure_is_not_rechecked(void **state)
{
	struct rig *r = *state;

	r->config.measure.recheck = 1;
	add_job(r, 0, 0);
	answer("p0", TK_OUTCOME_CRASHED, "");
	must_run(r);
	assert_string_equal(started(), "0:p0 ");
}

/* ---- errors ---- */

static void an_error_of_a_worker_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	add_job(r, 0, 0);
	fakes.fail_start = TK_EIO;
	assert_int_equal(run(r, &failure), TK_EIO);
	assert_string_equal(failure.message, "cannot start");
	r->job_count = 0;
	fakes.fail_start = 0;
	fakes.fail_poll = TK_EDATA;
	assert_int_equal(run(r, &failure), TK_EDATA);
	assert_string_equal(failure.message, "cannot poll");
	expect_runs(r, "");
}

/* A result that cannot be stored, be it the first or one that was measured again. */
static void a_result_that_cannot_be_stored_ends_the_stage(void **state)
{
	for (int with_recheck = 0; with_recheck < 2; with_recheck++) {
		if (with_recheck) {
			teardown(state);
			setup(state);
		}
		struct rig *r = *state;
		struct tk_error failure = {0};
		r->config.measure.recheck = with_recheck;
		add_job(r, 0, 0);
		MUST(tk_store_put_jobs(r->h.store, r->jobs, 1, &err));
		r->job_count = 0;
		history_reopen(&r->h, TK_STORE_READ);
		r->night.store = r->h.store;
		assert_int_not_equal(run(r, &failure), 0);
		assert_true(*failure.message);
		assert_int_equal(fakes.started, 1 + with_recheck);
	}
}

static void a_recheck_that_cannot_start_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	r->config.measure.recheck = 1;
	fakes.fail_new_worker = TK_EIO;
	add_job(r, 0, 0);
	assert_int_equal(run(r, &failure), TK_EIO);
	assert_string_equal(failure.message, "no new process");
	expect_runs(r, "");
}

static void a_job_of_a_missing_build_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	add_job(r, 0, 0);
	MUST(tk_store_put_jobs(r->h.store, r->jobs, 1, &err));
	r->job_count = 0;
	history_run_sql(&r->h, "PRAGMA foreign_keys = OFF; UPDATE job SET build_id = 4711");
	assert_int_equal(run(r, &failure), TK_EDATA);
	assert_non_null(strstr(failure.message, "job 1 of this night"));
}

/* ---- requests ---- */

static void a_request_is_as_configured(void **state)
{
	struct rig *r = *state;
	const struct tk_problem_row problem = {.text = "p0"};
	struct tk_series_row series = {
	        .device_id = r->device_ids[0], .config = "", .mode = "hot", .role = TK_ROLE_SUITE};
	struct tk_job_request q;

	r->config.budgets.measure_s = 2;
	r->config.budgets.job_s = 60;
	r->config.measure = (struct tk_measure_config){.relative_half_width = 0.01,
	        .confidence = 0.95,
	        .min_samples = 10,
	        .max_samples = 1000};
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "threads=1");
	assert_string_equal(q.backend_path, "/b.so");
	assert_string_equal(q.backend_options, "threads=1");
	assert_string_equal(q.problem, "p0");
	assert_string_equal(q.mode, "hot");
	assert_null(q.config);
	assert_int_equal(q.seed, 1);
	assert_true(q.verify);
	assert_true(q.deadline_s == 60 && q.measure_s == 2 && q.relative_half_width == 0.01 &&
	            q.confidence == 0.95);
	assert_int_equal(q.min_samples, 10);
	assert_int_equal(q.max_samples, 1000);
	/* the ceiling of a cache needs a tenth of a second */
	series.role = TK_ROLE_CEILING;
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_true(q.measure_s == 0.1);
	r->config.budgets.measure_s = 0.05;
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_true(q.measure_s == 0.05);
	r->config.budgets.measure_s = 2;
	series.mode = "cold"; /* of memory */
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_true(q.measure_s == 2);
	series.config = "tile=64";
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_string_equal(q.config, "tile=64");
	series.config = TK_TUNE_CONFIG;
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_null(q.config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_tuned_series_is_measured_with_its_winner),
	        TEST(a_tuned_series_without_a_result_is_measured_with_the_default),
	        TEST(another_configuration_is_passed_on),
	        TEST(a_newer_build_without_the_winner_is_measured_with_the_default),
	        TEST(other_failures_of_a_winner_are_findings),
	        TEST(a_recheck_that_agrees_leaves_the_result),
	        TEST(a_recheck_that_differs_makes_the_result_unstable),
	        TEST(a_failure_is_not_rechecked),
	        TEST(an_error_of_a_worker_ends_the_stage),
	        TEST(a_result_that_cannot_be_stored_ends_the_stage),
	        TEST(a_recheck_that_cannot_start_ends_the_stage),
	        TEST(a_job_of_a_missing_build_ends_the_stage),
	        TEST(a_request_is_as_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
