/* See scheduler.h. */
#include "nightly/schedule/scheduler.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum job_state { QUEUED, RUNNING, UNPLACED, DONE }; /* UNPLACED: no device can take it */

struct job {
	struct tk_scheduled_job spec; /* spec.device: where it was planned */
	size_t device;                /* that has it now */
	enum job_state state;
	bool is_reassigned; /* an ASSIGN action is due */
};

struct device {
	struct tk_scheduled_device spec;
	size_t job; /* that is running; TK_SCHEDULER_NOWHERE: none */
	bool is_lost;
};

struct tk_scheduler {
	struct device *devices;
	size_t device_count;
	struct job *jobs;
	size_t job_count;
	bool *has_history;
	size_t *batch; /* of the current action */
	bool can_steal, is_stopping;
};

static bool is_idle(const struct device *d)
{
	return !d->is_lost && d->job == TK_SCHEDULER_NOWHERE;
}

/* ---- lost devices ---- */

/* Repeated jobs of one device (controls) do not exclude each other. */
static bool has_job_for_same_work(
        const struct tk_scheduler *s, size_t device, const struct job *job)
{
	for (size_t i = 0; i < s->job_count; i++) {
		const struct job *other = &s->jobs[i];
		if (other->device == device && other->spec.work == job->spec.work &&
		        other->spec.device != job->spec.device)
			return true;
	}
	return false;
}

static size_t find_replacement(const struct tk_scheduler *s, const struct job *job)
{
	for (size_t d = 0; d < s->device_count; d++)
		if (!s->devices[d].is_lost &&
		        s->devices[d].spec.model == s->devices[job->device].spec.model &&
		        !has_job_for_same_work(s, d, job))
			return d;
	return TK_SCHEDULER_NOWHERE;
}

/* A job that was stolen goes back to where it was planned, so that its series continues there. */
static void replace_device(struct tk_scheduler *s, struct job *job)
{
	size_t to = job->spec.device;
	if (to == TK_SCHEDULER_NOWHERE || s->devices[to].is_lost)
		to = find_replacement(s, job);
	job->state = to == TK_SCHEDULER_NOWHERE ? UNPLACED : QUEUED;
	job->is_reassigned = to != TK_SCHEDULER_NOWHERE;
	if (job->is_reassigned)
		job->device = to;
}

static void lose_device(struct tk_scheduler *s, size_t device)
{
	s->devices[device].is_lost = true;
	s->devices[device].job = TK_SCHEDULER_NOWHERE;
	for (size_t i = 0; i < s->job_count; i++)
		if (s->jobs[i].device == device && s->jobs[i].state != DONE)
			replace_device(s, &s->jobs[i]);
}

/* ---- stealing ---- */

static size_t count_queued_suite_jobs(const struct tk_scheduler *s, size_t device)
{
	size_t count = 0;
	for (size_t i = 0; i < s->job_count; i++)
		count += s->jobs[i].state == QUEUED && s->jobs[i].device == device &&
		         s->jobs[i].spec.is_suite;
	return count;
}

static size_t find_busiest(const struct tk_scheduler *s, size_t thief)
{
	size_t busiest = TK_SCHEDULER_NOWHERE, most = 0;
	for (size_t d = 0; d < s->device_count; d++) {
		if (d == thief || s->devices[d].is_lost ||
		        s->devices[d].spec.model != s->devices[thief].spec.model)
			continue;
		size_t count = count_queued_suite_jobs(s, d);
		if (count > most) {
			busiest = d;
			most = count;
		}
	}
	return busiest;
}

static size_t find_last_suite_job(const struct tk_scheduler *s, size_t device)
{
	for (size_t i = s->job_count; i-- > 0;)
		if (s->jobs[i].state == QUEUED && s->jobs[i].device == device &&
		        s->jobs[i].spec.is_suite)
			return i;
	return TK_SCHEDULER_NOWHERE;
}

static bool is_job_of_problem(const struct job *job, int64_t problem_id)
{
	return job->spec.is_suite && job->spec.problem_id == problem_id;
}

/* A problem is reassigned as a whole or not at all: results from two devices are not comparable. */
static bool can_move_problem(const struct tk_scheduler *s, size_t last, size_t from, size_t to)
{
	const bool *has_history = &s->has_history[last * s->device_count];
	if (has_history[from] || has_history[to])
		return false;
	for (size_t i = 0; i < s->job_count; i++) {
		const struct job *job = &s->jobs[i];
		if (!is_job_of_problem(job, s->jobs[last].spec.problem_id))
			continue;
		if (job->device == to || (job->device == from && job->state != QUEUED))
			return false;
	}
	return true;
}

static void steal_work(struct tk_scheduler *s, size_t thief)
{
	size_t from = find_busiest(s, thief);
	size_t last = from == TK_SCHEDULER_NOWHERE ? from : find_last_suite_job(s, from);
	if (last == TK_SCHEDULER_NOWHERE || !can_move_problem(s, last, from, thief))
		return; /* earlier problems are even less likely to be untouched */
	for (size_t i = 0; i <= last; i++) {
		struct job *job = &s->jobs[i];
		if (job->device != from || !is_job_of_problem(job, s->jobs[last].spec.problem_id))
			continue;
		job->device = thief;
		job->is_reassigned = true;
	}
}

/* ---- actions ---- */

static struct tk_scheduler_action act_on_job(
        struct tk_scheduler *s, enum tk_scheduler_action_kind kind, size_t device, size_t job)
{
	s->batch[0] = job;
	return (struct tk_scheduler_action){
	        .kind = kind, .device = device, .jobs = s->batch, .job_count = 1};
}

/* All reassigned jobs of one device in one action, so that a stolen problem is stored as a
 * whole. */
static bool assign(struct tk_scheduler *s, struct tk_scheduler_action *out)
{
	size_t count = 0, device = TK_SCHEDULER_NOWHERE;
	for (size_t i = 0; i < s->job_count; i++) {
		struct job *job = &s->jobs[i];
		if (!job->is_reassigned || (count && job->device != device))
			continue;
		device = job->device;
		job->is_reassigned = false;
		s->batch[count++] = i;
	}
	*out = (struct tk_scheduler_action){
	        .kind = TK_ACTION_ASSIGN, .device = device, .jobs = s->batch, .job_count = count};
	return count > 0;
}

static bool fail(struct tk_scheduler *s, struct tk_scheduler_action *out)
{
	for (size_t i = 0; i < s->job_count; i++)
		if (s->jobs[i].state == UNPLACED) {
			s->jobs[i].state = DONE;
			*out = act_on_job(s, TK_ACTION_FAIL, s->jobs[i].device, i);
			return true;
		}
	return false;
}

static bool is_anything_running(const struct tk_scheduler *s)
{
	for (size_t d = 0; d < s->device_count; d++)
		if (s->devices[d].job != TK_SCHEDULER_NOWHERE)
			return true;
	return false;
}

static bool run_next_job(struct tk_scheduler *s, size_t device, struct tk_scheduler_action *out)
{
	for (size_t i = 0; i < s->job_count; i++)
		if (s->jobs[i].state == QUEUED && s->jobs[i].device == device) {
			s->jobs[i].state = RUNNING;
			s->devices[device].job = i;
			*out = act_on_job(s, TK_ACTION_RUN, device, i);
			return true;
		}
	return false;
}

static bool start(struct tk_scheduler *s, bool exclusive, struct tk_scheduler_action *out)
{
	for (size_t d = 0; d < s->device_count; d++) {
		if (!is_idle(&s->devices[d]) || s->devices[d].spec.is_exclusive != exclusive)
			continue;
		if (s->can_steal && count_queued_suite_jobs(s, d) == 0)
			steal_work(s, d);
		if (assign(s, out) || run_next_job(s, d, out))
			return true;
	}
	return false;
}

struct tk_scheduler_action tk_scheduler_next(struct tk_scheduler *s)
{
	struct tk_scheduler_action action;
	if (assign(s, &action))
		return action;
	if (!s->is_stopping) {
		if (fail(s, &action) || start(s, false, &action))
			return action;
		if (!is_anything_running(s) && start(s, true, &action))
			return action;
	}
	return (struct tk_scheduler_action){
	        .kind = is_anything_running(s) ? TK_ACTION_WAIT : TK_ACTION_DONE,
	        .device = TK_SCHEDULER_NOWHERE};
}

void tk_scheduler_handle(struct tk_scheduler *s, enum tk_scheduler_event event, size_t device)
{
	switch (event) {
	case TK_EVENT_JOB_FINISHED:
		s->jobs[s->devices[device].job].state = DONE;
		s->devices[device].job = TK_SCHEDULER_NOWHERE;
		break;
	case TK_EVENT_DEVICE_LOST:
		lose_device(s, device);
		break;
	case TK_EVENT_STOP:
		s->is_stopping = true;
		break;
	}
}

size_t tk_scheduler_device(const struct tk_scheduler *s, size_t job)
{
	return s->jobs[job].device;
}

/* ---- construction ---- */

static void copy_schedule(struct tk_scheduler *s, const struct tk_schedule *from)
{
	for (size_t d = 0; d < from->device_count; d++)
		s->devices[d] =
		        (struct device){.spec = from->devices[d], .job = TK_SCHEDULER_NOWHERE};
	for (size_t i = 0; i < from->job_count; i++) {
		const struct tk_scheduled_job *job = &from->jobs[i];
		s->jobs[i] = (struct job){.spec = *job,
		        .device = job->device,
		        .state = job->is_done                          ? DONE
		                 : job->device == TK_SCHEDULER_NOWHERE ? UNPLACED
		                                                       : QUEUED};
	}
	if (from->can_steal)
		memcpy(s->has_history, from->has_history,
		        from->job_count * from->device_count * sizeof(bool));
}

struct tk_scheduler *tk_scheduler_new(const struct tk_schedule *schedule)
{
	size_t devices = schedule->device_count, jobs = schedule->job_count;
	struct tk_scheduler *s = tk_malloc(sizeof *s);
	*s = (struct tk_scheduler){.devices = tk_calloc(devices + 1, sizeof *s->devices),
	        .device_count = devices,
	        .jobs = tk_calloc(jobs + 1, sizeof *s->jobs),
	        .job_count = jobs,
	        .has_history = tk_calloc(jobs * devices + 1, sizeof *s->has_history),
	        .batch = tk_calloc(jobs + 1, sizeof *s->batch),
	        .can_steal = schedule->can_steal};
	copy_schedule(s, schedule);
	return s;
}

void tk_scheduler_free(struct tk_scheduler *s)
{
	if (!s)
		return;
	free(s->devices);
	free(s->jobs);
	free(s->has_history);
	free(s->batch);
	free(s);
}
