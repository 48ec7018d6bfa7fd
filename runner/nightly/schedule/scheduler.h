/* Which job of a night runs on which device, as a pure state machine: the caller passes events and
 * executes the returned actions. The clock, processes and the history are in measure.c.
 *
 *   - A job stays on the device it is planned for (or was given to), in the order of the list. A
 *     device has one job at a time. Exclusive devices (the CPU) start when all others are done,
 *     because a measurement there must be alone.
 *   - Where a device is lost, each of its jobs goes to the first device of the same model that has
 *     no job of its own for the same work; a job that no device can take fails.
 *   - With `can_steal`, an idle device that has no suite job left takes the last problem of the
 *     busiest device of its model: all jobs of it, and only where none has started and neither
 *     device has measured the problem before. */
#ifndef TK_NIGHTLY_SCHEDULER_H
#define TK_NIGHTLY_SCHEDULER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TK_SCHEDULER_NOWHERE SIZE_MAX /* no device, no job */

struct tk_scheduler;

struct tk_scheduled_device {
	size_t model;      /* devices with the same number can do each other's jobs */
	bool is_exclusive; /* nothing else may run at the same time */
};

struct tk_scheduled_job {
	size_t device; /* index; TK_SCHEDULER_NOWHERE: not present, the job fails */
	int64_t problem_id;
	size_t work;   /* jobs of several devices with the same number measure the same thing */
	bool is_suite; /* only problems of the suites are stolen */
	bool is_done;  /* by an earlier part of this night */
};

struct tk_schedule {
	const struct tk_scheduled_device *devices;
	size_t device_count;
	const struct tk_scheduled_job *jobs;
	size_t job_count;
	/* [job * device_count + device]: the device has measured the job's problem before. Only
	 * read with can_steal. */
	const bool *has_history;
	bool can_steal;
};

enum tk_scheduler_event {
	TK_EVENT_JOB_FINISHED, /* the device's job ended and its result is stored */
	/* the device cannot be opened any more; its job, if any, did not run */
	TK_EVENT_DEVICE_LOST,
	TK_EVENT_STOP /* start no more jobs; the device is ignored */
};

enum tk_scheduler_action_kind {
	TK_ACTION_ASSIGN, /* store that `jobs` belong to `device` now, all of them or none */
	TK_ACTION_RUN,    /* start jobs[0] on `device` */
	/* store that jobs[0] has no device; `device`: the one that was lost, or NOWHERE */
	TK_ACTION_FAIL,
	TK_ACTION_WAIT, /* jobs are running: call again after an event */
	TK_ACTION_DONE  /* nothing runs, and nothing is left to start */
};

struct tk_scheduler_action {
	enum tk_scheduler_action_kind kind;
	size_t device;
	const size_t *jobs; /* indices, the scheduler's until the next call */
	size_t job_count;
};

/* Copies the schedule. */
struct tk_scheduler *tk_scheduler_new(const struct tk_schedule *schedule);
void tk_scheduler_free(struct tk_scheduler *s);

void tk_scheduler_handle(struct tk_scheduler *s, enum tk_scheduler_event event, size_t device);
/* The next thing to do. A job counts as running after its RUN action, and as done after its FAIL
 * action. */
struct tk_scheduler_action tk_scheduler_next(struct tk_scheduler *s);

size_t tk_scheduler_device(const struct tk_scheduler *s, size_t job); /* that has the job now */

#endif
