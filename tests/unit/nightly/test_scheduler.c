/* The scheduler of a night: lost devices, stolen work, resume and stop, without a clock, a
 * process or a database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "nightly/schedule/scheduler.h"

#define DEVICES_MAX 4
#define JOBS_MAX 64
#define NOWHERE TK_SCHEDULER_NOWHERE

static struct tk_scheduled_device devices[DEVICES_MAX];
static struct tk_scheduled_job jobs[JOBS_MAX];
static bool has_history[JOBS_MAX * DEVICES_MAX];
static struct tk_schedule schedule;
static struct tk_scheduler *s;

/* All devices are of model 0 until a test says otherwise. */
static int reset(void **state)
{
	memset(devices, 0, sizeof devices);
	memset(jobs, 0, sizeof jobs);
	memset(has_history, 0, sizeof has_history);
	schedule = (struct tk_schedule){
	        .devices = devices, .device_count = 2, .jobs = jobs, .has_history = has_history};
	s = NULL;
	return 0;
}

static int free_scheduler(void **state)
{
	tk_scheduler_free(s);
	return 0;
}

/* A suite job; `work` is the problem's unless a test changes it. */
static struct tk_scheduled_job *add_job(size_t device, int64_t problem_id)
{
	struct tk_scheduled_job *job = &jobs[schedule.job_count++];
	*job = (struct tk_scheduled_job){.device = device,
	        .problem_id = problem_id,
	        .work = (size_t)problem_id,
	        .is_suite = true};
	return job;
}

static void begin(void)
{
	assert_int_equal(tk_scheduler_new(&schedule, &s, NULL), TK_OK);
}

static void finish(size_t device)
{
	tk_scheduler_handle(s, TK_EVENT_JOB_FINISHED, device);
}

static void lose(size_t device)
{
	tk_scheduler_handle(s, TK_EVENT_DEVICE_LOST, device);
}

static void expect(enum tk_scheduler_action_kind kind, size_t device)
{
	struct tk_scheduler_action action = tk_scheduler_next(s);
	assert_int_equal(action.kind, kind);
	assert_int_equal(action.device, device);
	assert_int_equal(action.job_count, 0);
}

static void expect_job(enum tk_scheduler_action_kind kind, size_t device, size_t job)
{
	struct tk_scheduler_action action = tk_scheduler_next(s);
	assert_int_equal(action.kind, kind);
	assert_int_equal(action.device, device);
	assert_int_equal(action.job_count, 1);
	assert_int_equal(action.jobs[0], job);
}

static void expect_assign(size_t device, size_t count, const size_t *expected)
{
	struct tk_scheduler_action action = tk_scheduler_next(s);
	assert_int_equal(action.kind, TK_ACTION_ASSIGN);
	assert_int_equal(action.device, device);
	assert_int_equal(action.job_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(action.jobs[i], expected[i]);
		assert_int_equal(tk_scheduler_device(s, expected[i]), device);
	}
}

#define EXPECT_ASSIGN(device, ...) \
	expect_assign( \
	        device, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), (size_t[]){__VA_ARGS__})

/* ---- order ---- */

static void nothing_to_do_is_done(void **state)
{
	begin();
	expect(TK_ACTION_DONE, NOWHERE);
}

static void each_device_runs_its_jobs_in_order_one_at_a_time(void **state)
{
	add_job(0, 1);
	add_job(1, 2);
	add_job(0, 3);
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect_job(TK_ACTION_RUN, 1, 1);
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(0);
	expect_job(TK_ACTION_RUN, 0, 2);
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(1);
	finish(0);
	expect(TK_ACTION_DONE, NOWHERE);
}

static void exclusive_device_waits_for_all_others(void **state)
{
	devices[0] = (struct tk_scheduled_device){.model = 7, .is_exclusive = true};
	add_job(0, 1);
	add_job(1, 2);
	add_job(1, 3);
	begin();
	expect_job(TK_ACTION_RUN, 1, 1);
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(1);
	expect_job(TK_ACTION_RUN, 1, 2);
	finish(1);
	expect_job(TK_ACTION_RUN, 0, 0);
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(0);
	expect(TK_ACTION_DONE, NOWHERE);
}

static void job_of_an_absent_device_fails(void **state)
{
	add_job(NOWHERE, 1);
	add_job(0, 2);
	begin();
	expect_job(TK_ACTION_FAIL, NOWHERE, 0);
	expect_job(TK_ACTION_RUN, 0, 1);
}

static void stop_starts_nothing_more(void **state)
{
	add_job(0, 1);
	add_job(0, 2);
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	tk_scheduler_handle(s, TK_EVENT_STOP, NOWHERE);
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(0);
	expect(TK_ACTION_DONE, NOWHERE);
}

/* ---- lost devices ---- */

static void jobs_of_a_lost_device_move_to_its_model(void **state)
{
	schedule.device_count = 3;
	devices[1].model = 9; /* another model: takes nothing */
	add_job(0, 1);
	add_job(0, 2);
	add_job(2, 3);
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect_job(TK_ACTION_RUN, 2, 2);
	lose(0);
	EXPECT_ASSIGN(2, 0, 1); /* also the one that was running */
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(2);
	expect_job(TK_ACTION_RUN, 2, 0);
	finish(2);
	expect_job(TK_ACTION_RUN, 2, 1);
	finish(2);
	expect(TK_ACTION_DONE, NOWHERE);
}

static void job_is_not_measured_twice_on_one_device(void **state)
{
	add_job(0, 1);
	add_job(1, 1)->is_done = true; /* by an earlier part of the night */
	add_job(0, 2);
	add_job(1, 2);
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect_job(TK_ACTION_RUN, 1, 3);
	lose(0);
	expect_job(TK_ACTION_FAIL, 0, 0);
	expect_job(TK_ACTION_FAIL, 0, 2);
	finish(1);
	expect(TK_ACTION_DONE, NOWHERE);
}

static void second_device_with_free_hands_takes_what_the_first_cannot(void **state)
{
	schedule.device_count = 3;
	add_job(0, 1);
	add_job(1, 1);
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect_job(TK_ACTION_RUN, 1, 1);
	lose(0);
	EXPECT_ASSIGN(2, 0);
	expect_job(TK_ACTION_RUN, 2, 0);
}

static void repeated_controls_move_together(void **state)
{
	add_job(0, 9)->is_suite = false;
	add_job(0, 1);
	add_job(0, 9)->is_suite = false;
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	lose(0);
	EXPECT_ASSIGN(1, 0, 1, 2);
}

static void all_devices_lost_fails_what_is_left(void **state)
{
	add_job(0, 1);
	add_job(1, 2);
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect_job(TK_ACTION_RUN, 1, 1);
	lose(0);
	lose(1);
	expect_job(TK_ACTION_FAIL, 1, 0);
	expect_job(TK_ACTION_FAIL, 1, 1);
	expect(TK_ACTION_DONE, NOWHERE);
}

/* ---- stealing ---- */

/* Device 0 has problems 1, 2 and 3 with two backends each, device 1 has nothing. */
static void plan_unequal_shares(void)
{
	for (int64_t problem = 1; problem <= 3; problem++)
		for (size_t backend = 0; backend < 2; backend++)
			add_job(0, problem)->work = (size_t)problem * 10 + backend;
	schedule.can_steal = true;
}

static void idle_device_steals_the_last_problem_as_a_whole(void **state)
{
	plan_unequal_shares();
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	EXPECT_ASSIGN(1, 4, 5);
	expect_job(TK_ACTION_RUN, 1, 4);
	finish(1);
	expect_job(TK_ACTION_RUN, 1, 5);
	finish(1);
	EXPECT_ASSIGN(1, 2, 3);
	expect_job(TK_ACTION_RUN, 1, 2);
}

static void nothing_is_stolen_unless_allowed(void **state)
{
	plan_unequal_shares();
	schedule.can_steal = false;
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect(TK_ACTION_WAIT, NOWHERE);
}

static void a_problem_that_has_started_stays(void **state)
{
	add_job(0, 1);
	add_job(0, 1)->work = 2;
	schedule.can_steal = true;
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect(TK_ACTION_WAIT, NOWHERE);
	finish(0);
	expect_job(TK_ACTION_RUN, 0, 1);
	expect(TK_ACTION_WAIT, NOWHERE);
}

static void a_problem_with_history_stays(void **state)
{
	plan_unequal_shares();
	has_history[5 * 2 + 0] = true; /* the last job's problem, on the device that has it */
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect(TK_ACTION_WAIT, NOWHERE);
}

static void only_the_same_model_steals(void **state)
{
	plan_unequal_shares();
	devices[1].model = 3;
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect(TK_ACTION_WAIT, NOWHERE);
}

static void controls_stay_and_do_not_keep_a_device_from_stealing(void **state)
{
	add_job(0, 1);
	add_job(0, 2);
	add_job(0, 9)->is_suite = false;
	add_job(1, 9)->is_suite = false;
	schedule.can_steal = true;
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	EXPECT_ASSIGN(1, 1);
	expect_job(TK_ACTION_RUN, 1, 1);
}

static void work_goes_back_when_the_thief_is_lost(void **state)
{
	plan_unequal_shares();
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	EXPECT_ASSIGN(1, 4, 5);
	expect_job(TK_ACTION_RUN, 1, 4);
	lose(1);
	EXPECT_ASSIGN(0, 4, 5);
	expect(TK_ACTION_WAIT, NOWHERE);
}

/* ---- resume ---- */

/* The night was killed after device 1 had measured one of the two jobs that it had stolen. */
static void resume_leaves_a_stolen_problem_with_its_thief(void **state)
{
	plan_unequal_shares();
	jobs[0].is_done = true;
	jobs[4].device = jobs[5].device = 1;
	jobs[4].is_done = true;
	begin();
	expect_job(TK_ACTION_RUN, 0, 1);
	expect_job(TK_ACTION_RUN, 1, 5);
	finish(1);
	EXPECT_ASSIGN(1, 2, 3); /* problem 2 was not started, so it may still move */
}

static void resume_does_not_split_a_problem_that_was_started(void **state)
{
	plan_unequal_shares();
	jobs[4].is_done = true;
	begin();
	expect_job(TK_ACTION_RUN, 0, 0);
	expect(TK_ACTION_WAIT, NOWHERE);
}

/* ---- whole nights ---- */

struct night {
	size_t running[DEVICES_MAX]; /* job, or NOWHERE */
	size_t runs[JOBS_MAX], failures[JOBS_MAX];
	size_t owner[JOBS_MAX]; /* as assignments have stored it */
	size_t devices_left;
};

static void act(struct night *n, const struct tk_scheduler_action *a)
{
	size_t job = a->jobs[0];
	if (a->kind == TK_ACTION_ASSIGN) {
		for (size_t i = 0; i < a->job_count; i++)
			n->owner[a->jobs[i]] = a->device;
	} else if (a->kind == TK_ACTION_FAIL) {
		n->failures[job]++;
	} else {
		assert_int_equal(n->running[a->device], NOWHERE);
		assert_int_equal(n->owner[job], a->device);
		n->running[a->device] = job;
	}
}

/* Ends the job of some busy device; sometimes its device is lost instead. */
static void end_some_job(struct night *n, struct tk_rng *rng)
{
	size_t d = tk_rng_below(rng, schedule.device_count);
	while (n->running[d] == NOWHERE)
		d = (d + 1) % schedule.device_count;
	if (n->devices_left > 1 && tk_rng_below(rng, 20) == 0) {
		n->running[d] = NOWHERE;
		n->devices_left--;
		lose(d);
		return;
	}
	n->runs[n->running[d]]++;
	n->running[d] = NOWHERE;
	finish(d);
}

static void every_job_ends_exactly_once_whatever_is_lost(void **state)
{
	struct tk_rng rng;
	tk_rng_seed(&rng, 11);
	for (int round = 0; round < 300; round++) {
		struct night n = {
		        .running = {NOWHERE, NOWHERE, NOWHERE, NOWHERE}, .devices_left = 3};
		struct tk_scheduler_action a;
		reset(state);
		schedule.device_count = 3;
		schedule.can_steal = true;
		for (size_t i = 0; i < 30; i++)
			n.owner[i] = add_job(tk_rng_below(&rng, 3), (int64_t)i / 2)->device;
		for (size_t i = 0; i < 30; i++)
			jobs[i].work = i;
		begin();
		while ((a = tk_scheduler_next(s)).kind != TK_ACTION_DONE)
			if (a.kind == TK_ACTION_WAIT)
				end_some_job(&n, &rng);
			else
				act(&n, &a);
		for (size_t i = 0; i < 30; i++) {
			assert_int_equal(n.runs[i], 1); /* one device is always left */
			assert_int_equal(n.failures[i], 0);
		}
		tk_scheduler_free(s);
		s = NULL;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, free_scheduler)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(nothing_to_do_is_done),
	        TEST(each_device_runs_its_jobs_in_order_one_at_a_time),
	        TEST(exclusive_device_waits_for_all_others),
	        TEST(job_of_an_absent_device_fails),
	        TEST(stop_starts_nothing_more),
	        TEST(jobs_of_a_lost_device_move_to_its_model),
	        TEST(job_is_not_measured_twice_on_one_device),
	        TEST(second_device_with_free_hands_takes_what_the_first_cannot),
	        TEST(repeated_controls_move_together),
	        TEST(all_devices_lost_fails_what_is_left),
	        TEST(idle_device_steals_the_last_problem_as_a_whole),
	        TEST(nothing_is_stolen_unless_allowed),
	        TEST(a_problem_that_has_started_stays),
	        TEST(a_problem_with_history_stays),
	        TEST(only_the_same_model_steals),
	        TEST(controls_stay_and_do_not_keep_a_device_from_stealing),
	        TEST(work_goes_back_when_the_thief_is_lost),
	        TEST(resume_leaves_a_stolen_problem_with_its_thief),
	        TEST(resume_does_not_split_a_problem_that_was_started),
	        TEST(every_job_ends_exactly_once_whatever_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
