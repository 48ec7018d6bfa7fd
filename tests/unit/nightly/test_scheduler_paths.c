/* The scheduler of a night in every order of events: jobs that end, devices that are lost, busy or
 * idle, and a request to stop, each at every moment at which it can happen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "nightly/schedule/scheduler.h"

#define DEVICES 3 /* two cards of one model, and the CPU, which is exclusive */
#define CPU 2
#define JOBS 4
#define DEPTH_MAX 24
#define NOWHERE TK_SCHEDULER_NOWHERE

/* One way through a night: which of the possible events came at each wait. */
static struct {
	size_t choice[DEPTH_MAX], options[DEPTH_MAX];
	size_t depth;
} path;

struct event {
	enum tk_scheduler_event kind;
	size_t device;
};

static struct {
	size_t running[DEVICES]; /* job; NOWHERE: none */
	bool is_lost[DEVICES], is_stopped;
	size_t owner[JOBS], runs[JOBS], ends[JOBS], failures[JOBS];
} night;

static struct tk_scheduled_job jobs[JOBS];
static struct tk_schedule schedule;

static size_t count_running(void)
{
	size_t count = 0;

	for (size_t d = 0; d < DEVICES; d++)
		count += night.running[d] != NOWHERE;
	return count;
}

/* ---- what must always hold ---- */

static void check_run(const struct tk_scheduler *s, const struct tk_scheduler_action *a)
{
	const size_t job = a->jobs[0];

	assert_int_equal(a->job_count, 1);
	assert_false(night.is_stopped);
	assert_false(night.is_lost[a->device]);
	assert_int_equal(night.running[a->device], NOWHERE);
	assert_int_equal(night.owner[job], a->device);
	assert_int_equal(tk_scheduler_device(s, job), a->device);
	assert_false(jobs[job].is_done);
	assert_int_equal(night.ends[job] + night.failures[job], 0);
	night.running[a->device] = job;
	night.runs[job]++;
	if (night.running[CPU] != NOWHERE)
		assert_int_equal(count_running(), 1); /* the CPU is alone */
}

static void check_assign(const struct tk_scheduler_action *a)
{
	assert_true(a->job_count > 0);
	assert_false(night.is_lost[a->device]);
	for (size_t i = 0; i < a->job_count; i++) {
		const size_t job = a->jobs[i], from = night.owner[job];
		assert_int_equal(night.ends[job] + night.failures[job], 0);
		assert_int_equal(from == CPU, a->device == CPU); /* of the same model */
		assert_int_not_equal(from, a->device);
		/* nobody takes the work of a device that is there, unless it may steal */
		assert_true(night.is_lost[from] || schedule.can_steal);
		night.owner[job] = a->device;
	}
}

/* A job fails where no device of its model is left. */
static void check_fail(const struct tk_scheduler_action *a)
{
	const size_t job = a->jobs[0];

	assert_int_equal(a->job_count, 1);
	assert_int_equal(night.ends[job] + night.failures[job], 0);
	if (night.owner[job] == NOWHERE)
		assert_int_equal(a->device, NOWHERE);
	else
		assert_true(night.owner[job] == CPU ? night.is_lost[CPU]
		                                    : night.is_lost[0] && night.is_lost[1]);
	night.failures[job]++;
}

/* Each job has ended once: measured, or failed. After a stop some are left for the next part. */
static void check_end(void)
{
	assert_int_equal(count_running(), 0);
	for (size_t i = 0; i < JOBS; i++) {
		const size_t outcomes = night.ends[i] + night.failures[i];
		if (jobs[i].is_done)
			assert_int_equal(outcomes + night.runs[i], 0);
		else
			assert_true(outcomes == 1 || (night.is_stopped && outcomes == 0));
	}
}

/* ---- one path ---- */

static size_t list_events(struct event out[3 * DEVICES + 1])
{
	size_t count = 0;

	for (size_t d = 0; d < DEVICES; d++) {
		if (night.running[d] != NOWHERE)
			out[count++] = (struct event){TK_EVENT_JOB_FINISHED, d};
		if (!night.is_lost[d])
			out[count++] = (struct event){TK_EVENT_DEVICE_LOST, d};
	}
	if (!night.is_stopped)
		out[count++] = (struct event){TK_EVENT_STOP, 0};
	return count;
}

static void pass_event(struct tk_scheduler *s, struct event e)
{
	if (e.kind == TK_EVENT_STOP)
		night.is_stopped = true;
	if (e.kind == TK_EVENT_DEVICE_LOST)
		night.is_lost[e.device] = true;
	if (e.kind == TK_EVENT_JOB_FINISHED)
		night.ends[night.running[e.device]]++;
	if (e.kind != TK_EVENT_STOP)
		night.running[e.device] = NOWHERE;
	tk_scheduler_handle(s, e.kind, e.device);
}

/* The event that this path has at this wait. */
static struct event next_event(void)
{
	struct event events[3 * DEVICES + 1];
	const size_t count = list_events(events);

	assert_true(count > 0 && path.depth < DEPTH_MAX);
	path.options[path.depth] = count;
	return events[path.choice[path.depth++]];
}

static void begin_night(void)
{
	memset(&night, 0, sizeof night);
	for (size_t d = 0; d < DEVICES; d++)
		night.running[d] = NOWHERE;
	for (size_t i = 0; i < JOBS; i++)
		night.owner[i] = jobs[i].device;
	path.depth = 0;
}

static void walk_path(void)
{
	struct tk_scheduler *s = NULL;
	struct tk_scheduler_action a;
	size_t actions = 0;

	begin_night();
	assert_int_equal(tk_scheduler_new(&schedule, &s, NULL), TK_OK);
	while ((a = tk_scheduler_next(s)).kind != TK_ACTION_DONE) {
		assert_true(++actions < 100);
		if (a.kind == TK_ACTION_RUN)
			check_run(s, &a);
		else if (a.kind == TK_ACTION_ASSIGN)
			check_assign(&a);
		else if (a.kind == TK_ACTION_FAIL)
			check_fail(&a);
		else {
			assert_true(count_running() > 0); /* or it would wait for ever */
			pass_event(s, next_event());
		}
	}
	check_end();
	assert_int_equal(tk_scheduler_next(s).kind, TK_ACTION_DONE); /* and stays so */
	tk_scheduler_free(s);
}

/* ---- all paths ---- */

static bool next_path(void)
{
	while (path.depth && path.choice[path.depth - 1] + 1 >= path.options[path.depth - 1])
		path.depth--;
	if (!path.depth)
		return false;
	path.choice[path.depth - 1]++;
	memset(path.choice + path.depth, 0, sizeof path.choice - path.depth * sizeof *path.choice);
	return true;
}

static size_t walk_all_paths(void)
{
	size_t count = 0;

	memset(&path, 0, sizeof path);
	do {
		walk_path();
		count++;
	} while (next_path());
	return count;
}

static void set_jobs(const size_t devices[JOBS])
{
	static const struct tk_scheduled_device all[DEVICES] = {{0, false}, {0, false}, {1, true}};
	static const bool has_history[JOBS * DEVICES];

	for (size_t i = 0; i < JOBS; i++)
		jobs[i] = (struct tk_scheduled_job){.device = devices[i],
		        .problem_id = (int64_t)i,
		        .work = i,
		        .is_suite = true};
	schedule = (struct tk_schedule){.devices = all,
	        .device_count = DEVICES,
	        .jobs = jobs,
	        .job_count = JOBS,
	        .has_history = has_history};
}

/* Jobs on both cards and on the CPU, on one card alone, on a device that is not there; with and
 * without stealing, and with one that an earlier part of the night has done. */
static void every_order_of_events_ends_each_job_once(void **state)
{
	static const size_t plans[][JOBS] = {{0, 1, CPU, 0}, {0, 0, 0, CPU}, {0, NOWHERE, CPU, 1}};
	size_t paths = 0;

	for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
		for (int variant = 0; variant < 4; variant++) {
			set_jobs(plans[p]);
			schedule.can_steal = variant & 1;
			jobs[0].is_done = variant & 2;
			paths += walk_all_paths();
		}
	assert_true(paths > 5000);
}

/* Two jobs measure the same on both cards, as in a night that measures all devices: where a card is
 * lost, the other one does not measure it twice. */
static void equal_work_is_measured_once_on_a_card(void **state)
{
	static const size_t plan[JOBS] = {0, 1, 0, 1};
	struct tk_scheduler *s = NULL;
	struct tk_scheduler_action a;
	size_t failed = 0, ran = 0;

	set_jobs(plan);
	jobs[1].work = jobs[0].work;
	jobs[3].work = jobs[2].work;
	begin_night();
	assert_int_equal(tk_scheduler_new(&schedule, &s, NULL), TK_OK);
	tk_scheduler_handle(s, TK_EVENT_DEVICE_LOST, 1);
	while ((a = tk_scheduler_next(s)).kind != TK_ACTION_DONE)
		if (a.kind == TK_ACTION_RUN) {
			assert_int_equal(a.device, 0);
			ran++;
		} else if (a.kind == TK_ACTION_FAIL) {
			failed++;
		} else if (a.kind == TK_ACTION_WAIT) {
			tk_scheduler_handle(s, TK_EVENT_JOB_FINISHED, 0);
		}
	assert_int_equal(ran, 2);
	assert_int_equal(failed, 2);
	tk_scheduler_free(s);
}

/* A stop before the first action starts nothing, whatever is planned. */
static void a_stop_at_the_begin_runs_nothing(void **state)
{
	static const size_t plan[JOBS] = {0, 1, CPU, 0};
	struct tk_scheduler *s = NULL;

	set_jobs(plan);
	assert_int_equal(tk_scheduler_new(&schedule, &s, NULL), TK_OK);
	tk_scheduler_handle(s, TK_EVENT_STOP, 0);
	tk_scheduler_handle(s, TK_EVENT_STOP, 0);
	assert_int_equal(tk_scheduler_next(s).kind, TK_ACTION_DONE);
	tk_scheduler_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_order_of_events_ends_each_job_once),
	        cmocka_unit_test(equal_work_is_measured_once_on_a_card),
	        cmocka_unit_test(a_stop_at_the_begin_runs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
