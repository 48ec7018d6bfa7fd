/* Which jobs start where and in which order, what is stored of each answer, and when the stage
 * ends. */
#include "measure_rig.h"

/* ---- order ---- */

static void a_night_without_jobs_ends(void **state)
{
	struct rig *r = *state;

	must_run(r);
	assert_string_equal(started(), "");
	assert_int_equal(r->report.jobs, 0);
}

static void jobs_of_a_device_run_one_after_the_other(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < 3; i++)
		add_job(r, 0, i);
	fakes.answers[0] = (struct answer){.problem = "p1",
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .json = timing,
	        .polls = 2};
	must_run(r);
	assert_string_equal(started(), "0:p0 0:p1 0:p2 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 0\n");
	assert_int_equal(fakes.most_running, 1);
	assert_int_equal(r->report.jobs, 3);
	assert_int_equal(r->report.measured, 3);
	assert_int_equal(r->report.verified, 3);
}

static void devices_run_at_the_same_time(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 1, 2);
	must_run(r);
	assert_string_equal(started(), "0:p0 1:p2 0:p1 ");
	assert_int_equal(fakes.most_running, 2);
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 1\n");
}

/* Nothing else runs while the CPU measures. */
static void the_cpu_is_measured_alone(void **state)
{
	struct rig *r = *state;

	add_job(r, 2, 0);
	add_job(r, 0, 1);
	add_job(r, 2, 2);
	must_run(r);
	assert_string_equal(started(), "0:p1 2:p0 2:p2 ");
	assert_int_equal(fakes.most_running, 1);
}

static void workers_start_before_the_first_job(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0)->backend_path = "/first.so";
	add_job(r, 1, 1)->backend_path = "/second.so";
	add_job(r, ABSENT, 2);
	struct tk_job_row *failed = add_job(r, 0, 3);
	failed->build_id = r->failed_build;
	failed->backend_path = "";
	must_run(r);
	assert_string_equal(tk_buf_cstr(&fakes.log),
	        "prestart 0 /first.so;prestart 1 /second.so;await;await;await;0:p0 1:p1 ");
}

/* ---- outcomes ---- */

static void a_failed_job_is_stored_and_the_next_one_runs(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 0, 2);
	answer("p0", TK_OUTCOME_CRASHED, "signal 11");
	answer("p1", TK_OUTCOME_UNSUPPORTED, "f8");
	must_run(r);
	expect_runs(r, "1 crashed 0: signal 11\n2 unsupported 0: f8\n3 ok 0\n");
	assert_int_equal(r->report.jobs, 3);
	assert_int_equal(r->report.failed, 1);
	assert_int_equal(r->report.unsupported, 1);
	assert_int_equal(r->report.measured, 1);
}

static void a_failed_build_has_nothing_to_run(void **state)
{
	struct rig *r = *state;
	struct tk_job_row *job = add_job(r, 0, 0);

	job->build_id = r->failed_build;
	job->backend_path = "";
	add_job(r, 0, 1);
	must_run(r);
	assert_string_equal(started(), "0:p1 ");
	expect_runs(r, "1 build_failed 0: no compiler\n2 ok 0\n");
}

static void jobs_after_the_budget_are_skipped(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	r->config.budgets.night_s = 10;
	r->night.started_mono_ns -= INT64_C(11000000000);
	must_run(r);
	assert_string_equal(started(), "");
	expect_runs(r, "1 skipped 0: the night's budget (budgets.night) was spent\n"
	               "2 skipped 0: the night's budget (budgets.night) was spent\n");
	assert_int_equal(r->report.skipped, 2);
}

static void a_budget_of_zero_is_none(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	r->night.started_mono_ns -= INT64_C(11000000000);
	must_run(r);
	expect_runs(r, "1 ok 0\n");
}

static void a_budget_that_is_left_is_used(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	r->config.budgets.night_s = 1000;
	r->night.started_mono_ns -= INT64_C(11000000000);
	must_run(r);
	expect_runs(r, "1 ok 0\n");
}

/* ---- devices ---- */

static void jobs_of_an_absent_device_fail(void **state)
{
	struct rig *r = *state;

	add_job(r, ABSENT, 0);
	struct tk_job_row *failed = add_job(r, ABSENT, 1);
	failed->build_id = r->failed_build;
	failed->backend_path = "";
	add_job(r, 0, 2);
	must_run(r);
	assert_string_equal(started(), "0:p2 ");
	expect_runs(r, "1 no_device 3: the device of this series is not present\n"
	               "2 build_failed 3: no compiler\n3 ok 0\n");
}

/* The other card of the model takes its jobs, as jobs of its own series. */
static void jobs_of_a_lost_device_move_to_its_twin(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 1, 2);
	answer("p0", TK_OUTCOME_NO_DEVICE, "fell off the bus");
	must_run(r);
	assert_string_equal(started(), "0:p0 1:p2 1:p0 1:p1 ");
	expect_runs(r, "1 ok 1\n2 ok 1\n3 ok 1\n");
	assert_true(r->devices[0].lost);
	assert_false(r->devices[1].lost);
}

/* The job that ran has the worker's answer, the others the fact alone. */
static void jobs_of_a_lost_device_without_a_twin_fail(void **state)
{
	struct rig *r = *state;

	r->night.device_count = 1;
	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 0, 2);
	answer("p1", TK_OUTCOME_NO_DEVICE, "fell off the bus");
	must_run(r);
	assert_string_equal(started(), "0:p0 0:p1 ");
	expect_runs(r, "1 ok 0\n2 no_device 0: fell off the bus\n"
	               "3 no_device 0: the device was lost during this night\n");
}

/* A CPU is there as long as the night is. */
static void a_cpu_is_not_lost(void **state)
{
	struct rig *r = *state;

	add_job(r, 2, 0);
	add_job(r, 2, 1);
	answer("p0", TK_OUTCOME_NO_DEVICE, "no such core");
	must_run(r);
	expect_runs(r, "1 no_device 2: no such core\n2 ok 2\n");
	assert_false(r->devices[2].lost);
}

/* An idle card takes the last problem of the busy one; who has it is stored first. */
static void an_idle_device_steals_a_problem(void **state)
{
	struct rig *r = *state;
	struct tk_rows jobs = {0};

	r->options.split = true;
	for (int i = 0; i < 4; i++)
		add_job(r, 0, i);
	must_run(r);
	assert_string_equal(started(), "0:p0 1:p3 0:p1 1:p2 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 1\n4 ok 1\n");
	MUST(tk_store_list_jobs(r->h.store, r->h.night, false, &jobs, &err));
	assert_int_equal(jobs.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(TK_ROWS_AT(&jobs, struct tk_job_row, i)->device_id,
		        i < 2 ? 0 : r->device_ids[1]);
	tk_rows_free(&jobs);
}

static void nothing_is_stolen_without_split(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < 4; i++)
		add_job(r, 0, i);
	must_run(r);
	assert_string_equal(started(), "0:p0 0:p1 0:p2 0:p3 ");
}

/* ---- stopping and resuming ---- */

static void a_stop_ends_after_the_jobs_that_run(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	for (int i = 0; i < 4; i++)
		add_job(r, i % 2, i);
	fakes.stop_after = 2;
	assert_int_equal(run(r, &failure), TK_ECANCELED);
	assert_non_null(strstr(failure.message, "--resume"));
	assert_string_equal(started(), "0:p0 1:p1 ");
	expect_runs(r, "1 ok 0\n2 ok 1\n");
}

static void a_resumed_night_runs_what_is_left(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	for (int i = 0; i < 3; i++)
		add_job(r, 0, i);
	fakes.stop_after = 1;
	assert_int_equal(run(r, &failure), TK_ECANCELED);
	fakes.stop_after = 0;
	r->report = (struct tk_night_report){0};
	r->job_count = 0; /* they are stored */
	must_run(r);
	assert_string_equal(started(), "0:p1 0:p2 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 0\n");
	assert_int_equal(r->report.jobs, 3); /* with that of the first part */
	assert_int_equal(r->report.measured, 3);
}

/* ---- progress ---- */

static void note_progress(void *arg, size_t done, size_t total, const char *current)
{
	tk_buf_add_printf(arg, "%zu/%zu %s;", done, total, strrchr(current, 'p'));
}

static void progress_counts_all_jobs_of_the_night(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};
	struct tk_buf shown = TK_BUF_INIT;
	const struct tk_night_observer observer = {.arg = &shown, .progress = note_progress};

	r->options.observer = &observer;
	for (int i = 0; i < 3; i++)
		add_job(r, 0, i);
	fakes.stop_after = 1;
	assert_int_equal(run(r, &failure), TK_ECANCELED);
	assert_string_equal(tk_buf_cstr(&shown), "0/3 p0.cold;");
	fakes.stop_after = 0;
	r->report = (struct tk_night_report){0};
	r->job_count = 0;
	must_run(r);
	assert_string_equal(tk_buf_cstr(&shown), "0/3 p0.cold;1/3 p1.cold;2/3 p2.cold;");
	tk_buf_free(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_night_without_jobs_ends),
	        TEST(jobs_of_a_device_run_one_after_the_other),
	        TEST(devices_run_at_the_same_time),
	        TEST(the_cpu_is_measured_alone),
	        TEST(workers_start_before_the_first_job),
	        TEST(a_failed_job_is_stored_and_the_next_one_runs),
	        TEST(a_failed_build_has_nothing_to_run),
	        TEST(jobs_after_the_budget_are_skipped),
	        TEST(a_budget_of_zero_is_none),
	        TEST(a_budget_that_is_left_is_used),
	        TEST(jobs_of_an_absent_device_fail),
	        TEST(jobs_of_a_lost_device_move_to_its_twin),
	        TEST(jobs_of_a_lost_device_without_a_twin_fail),
	        TEST(a_cpu_is_not_lost),
	        TEST(an_idle_device_steals_a_problem),
	        TEST(nothing_is_stolen_without_split),
	        TEST(a_stop_ends_after_the_jobs_that_run),
	        TEST(a_resumed_night_runs_what_is_left),
	        TEST(progress_counts_all_jobs_of_the_night),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
