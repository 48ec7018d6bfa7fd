/* The jobs of a night as the scheduler sees them: which device has a job when a night goes on, and
 * which jobs of several devices are the same work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "job_rows.h"
#include "nightly/night.h"
#include "nightly/schedule/scheduler.h"

enum { FIRST = 11, SECOND = 12, GONE = 13 }; /* ids of devices; the third is not present */

static char cuda_name[] = "cuda", cpu_name[] = "cpu";
static const struct tk_module cuda = {.name = cuda_name}, cpu = {.name = cpu_name};

static struct tk_series_row series[] = {
        SERIES(41, FIRST, 21), SERIES(42, SECOND, 21), SERIES(43, GONE, 21), SERIES(44, FIRST, 22)};

#define JOB(number, of_series, on_device, run) \
	{ \
		.seq = (number), .series_id = (of_series), .build_id = 31, \
		.device_id = (on_device), .run_id = (run) \
	}

struct rig {
	struct tk_night_device devices[2];
	struct tk_night_options options;
	struct tk_night night;
	struct tk_scheduler *scheduler;
};

/* The schedule of two devices of one model, unless the rig has others. */
static void start(struct rig *r, struct tk_job_row *jobs, size_t count)
{
	struct tk_job_catalog catalog = {.jobs = {.rows = jobs, .count = count},
	        .series = ROWS(series),
	        .problems = ROWS(problems),
	        .builds = ROWS(builds)};

	for (int d = 0; d < 2; d++) {
		if (!r->devices[d].info)
			r->devices[d].info =
			        json_pack("{s:s, s:s}", "name", "card", "arch", "sm_90");
		if (!r->devices[d].layer)
			r->devices[d].layer = &cuda;
		r->devices[d].device_id = FIRST + d;
	}
	r->night =
	        (struct tk_night){.options = &r->options, .devices = r->devices, .device_count = 2};
	assert_int_equal(tk_job_catalog_schedule(&r->night, &catalog, &r->scheduler, NULL), TK_OK);
}

static void stop(struct rig *r)
{
	for (int d = 0; d < 2; d++)
		json_decref(r->devices[d].info);
	tk_scheduler_free(r->scheduler);
}

static void a_job_is_on_the_device_of_its_series(void **state)
{
	struct tk_job_row jobs[] = {JOB(1, 41, 0, 0), JOB(2, 42, 0, 0), JOB(3, 43, 0, 0)};
	struct rig r = {0};

	start(&r, jobs, 3);
	assert_int_equal(tk_scheduler_device(r.scheduler, 0), 0);
	assert_int_equal(tk_scheduler_device(r.scheduler, 1), 1);
	assert_int_equal(tk_scheduler_device(r.scheduler, 2), TK_SCHEDULER_NOWHERE);
	stop(&r);
}

static void a_job_that_was_taken_over_stays_there(void **state)
{
	struct tk_job_row jobs[] = {
	        JOB(1, 41, SECOND, 0), JOB(2, 42, GONE, 0), JOB(3, 43, FIRST, 0)};
	struct rig r = {0};

	start(&r, jobs, 3);
	assert_int_equal(tk_scheduler_device(r.scheduler, 0), 1);
	assert_int_equal(tk_scheduler_device(r.scheduler, 1), 1); /* its own: the other is gone */
	assert_int_equal(tk_scheduler_device(r.scheduler, 2), 0);
	stop(&r);
}

static void what_has_a_run_is_done(void **state)
{
	struct tk_job_row jobs[] = {JOB(1, 41, 0, 77), JOB(2, 44, 0, 0)};
	struct rig r = {0};
	struct tk_scheduler_action action;

	start(&r, jobs, 2);
	action = tk_scheduler_next(r.scheduler);
	assert_int_equal(action.kind, TK_ACTION_RUN);
	assert_int_equal(action.jobs[0], 1);
	tk_scheduler_handle(r.scheduler, TK_EVENT_JOB_FINISHED, 0);
	assert_int_equal(tk_scheduler_next(r.scheduler).kind, TK_ACTION_DONE);
	stop(&r);
}

/* Lost with its device, a job goes to another one that does not have the same work anyway. */
static void the_same_work_is_not_done_twice(void **state)
{
	struct tk_job_row jobs[] = {JOB(1, 41, 0, 0), JOB(2, 42, 0, 0), JOB(3, 44, 0, 0)};
	struct rig r = {0};
	struct tk_scheduler_action action;
	size_t moved = 0, failed = 0;

	start(&r, jobs, 3);
	tk_scheduler_handle(r.scheduler, TK_EVENT_DEVICE_LOST, 0);
	for (int i = 0; i < 10; i++) {
		action = tk_scheduler_next(r.scheduler);
		if (action.kind == TK_ACTION_ASSIGN) {
			assert_int_equal(action.jobs[0], 2);
			assert_int_equal(action.device, 1);
			moved++;
		} else if (action.kind == TK_ACTION_FAIL) {
			assert_int_equal(action.jobs[0], 0);
			failed++;
		} else if (action.kind == TK_ACTION_RUN) {
			tk_scheduler_handle(r.scheduler, TK_EVENT_JOB_FINISHED, action.device);
		}
	}
	assert_int_equal(moved, 1);
	assert_int_equal(failed, 1);
	stop(&r);
}

/* The only job is lost with its device. */
static void expect_no_successor(struct rig *r)
{
	struct tk_job_row jobs[] = {JOB(1, 41, 0, 0)};

	start(r, jobs, 1);
	tk_scheduler_handle(r->scheduler, TK_EVENT_DEVICE_LOST, 0);
	assert_int_equal(tk_scheduler_next(r->scheduler).kind, TK_ACTION_FAIL);
	assert_int_equal(tk_scheduler_next(r->scheduler).kind, TK_ACTION_DONE);
	stop(r);
}

static void devices_of_another_kind_take_nothing_over(void **state)
{
	expect_no_successor(&(struct rig){.devices = {{.layer = &cuda}, {.layer = &cpu}}});
}

static void devices_without_a_name_are_models_of_their_own(void **state)
{
	struct rig r = {0};

	r.devices[0].info = json_object();
	r.devices[1].info = json_object();
	expect_no_successor(&r);
}

static void a_job_has_what_it_refers_to(void **state)
{
	struct tk_job_row jobs[] = {JOB(1, 44, 0, 0), JOB(2, 99, 0, 0)};
	struct tk_job_catalog catalog = {.jobs = ROWS(jobs),
	        .series = ROWS(series),
	        .problems = ROWS(problems),
	        .builds = ROWS(builds)};
	struct tk_catalog_job job = tk_job_catalog_get(&catalog, 0);

	assert_ptr_equal(job.series, &series[3]);
	assert_ptr_equal(job.problem, &problems[1]);
	assert_ptr_equal(job.build, &builds[0]);
	job = tk_job_catalog_get(&catalog, 1);
	assert_null(job.series);
	assert_null(job.problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_job_is_on_the_device_of_its_series),
	        cmocka_unit_test(a_job_that_was_taken_over_stays_there),
	        cmocka_unit_test(what_has_a_run_is_done),
	        cmocka_unit_test(the_same_work_is_not_done_twice),
	        cmocka_unit_test(devices_of_another_kind_take_nothing_over),
	        cmocka_unit_test(devices_without_a_name_are_models_of_their_own),
	        cmocka_unit_test(a_job_has_what_it_refers_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
