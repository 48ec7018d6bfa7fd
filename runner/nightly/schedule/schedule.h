/* The jobs of a night, as they are stored, scheduled and run; and their results. Private to
 * nightly/. */
#ifndef TK_NIGHTLY_SCHEDULE_H
#define TK_NIGHTLY_SCHEDULE_H
#include "core/vocabulary.h"
#include "store/tuning.h"

struct tk_job_result;
struct tk_night;
struct tk_night_device;

/* A stored job, with what the scheduler needs of its series. */
struct tk_night_job_row {
	int64_t id, seq, series_id, build_id;
	int64_t device_id; /* that it was given to; 0: none */
	int64_t run_id;    /* 0: not done */
	const char *backend_path, *options;
	int64_t series_device_id, problem_id;
	int64_t work; /* jobs with the same number measure the same thing, on several devices */
	bool is_suite;
};

/* A job as it is run: `series` is that of the device, which need not be the one it was planned
 * for. */
struct tk_night_job {
	const struct tk_night_job_row *row;
	struct tk_series_row series;
	struct tk_problem_row problem;
	struct tk_build_row build;
	struct tk_night_device *device; /* NULL: not present */
	/* Of a series with TK_TUNE_CONFIG: what it is measured with. NULL: the default */
	const struct tk_tuning_row *tuning;
	struct tk_tuning_row tuning_row;
	int64_t started_s;
};

/* All jobs of a night, also those that are done, in their order: rows of struct tk_night_job_row. A
 * job is named by its index. */
int tk_night_jobs_list(struct tk_night *n, struct tk_rows *out, struct tk_error *err);

/* ---- scheduler.c ---- */

/* Which job of a night runs on which device: the caller does what is next, and says what happened.
 * The clock, processes and the history are in measure.c.
 *
 *   - A job stays on the device it is planned for (or was given to), in the order of the list. A
 *     device has one job at a time. Exclusive devices (the CPU) start when all others are done,
 *     because a measurement there must be alone.
 *   - Where a device is lost, each of its jobs goes to the first device of the same model that has
 *     no job of its own for the same work; a job that no device can take fails.
 *   - With --split, an idle device that has no suite job left takes the last problem of the
 *     busiest device of its model: all jobs of it, and only where none has started and neither
 *     device has measured the problem before. */

#define TK_SCHEDULER_NOWHERE SIZE_MAX /* no device, no job */

struct tk_scheduler;

/* Of rows of struct tk_night_job_row, which must outlive it. */
struct tk_scheduler *tk_scheduler_new(struct tk_night *n, const struct tk_rows *jobs);
void tk_scheduler_free(struct tk_scheduler *s);

/* What is next, in this order. Jobs are indices of the rows. */

/* Jobs that belong to *device now: to store, all of them or none. Returns how many; *jobs is the
 * scheduler's until the next call. A stolen problem comes as a whole. */
size_t tk_scheduler_assign(struct tk_scheduler *s, size_t *device, const size_t **jobs);
/* A job that no device can take, which is done then. *device: the one that was lost, or NOWHERE. */
bool tk_scheduler_fail(struct tk_scheduler *s, size_t *device, size_t *job);
/* A job to start, which is running then. NOWHERE: work was stolen, which is to be stored first. */
bool tk_scheduler_start(struct tk_scheduler *s, size_t *device, size_t *job);
bool tk_scheduler_is_running(const struct tk_scheduler *s);

/* The device's job ended and its result is stored. */
void tk_scheduler_finish(struct tk_scheduler *s, size_t device);
/* The device cannot be opened any more; its job, if any, did not run. */
void tk_scheduler_lose(struct tk_scheduler *s, size_t device);

size_t tk_scheduler_device(const struct tk_scheduler *s, size_t job); /* that has the job now */

/* ---- result.c: from the result of a job to a run with its points, and its ceiling ---- */

/* Stores and counts it, logs what failed, and frees what the result refers to. */
int tk_night_store_result(struct tk_night *n, const struct tk_night_job *job,
        struct tk_job_result *result, struct tk_error *err);
/* The same for a job that was not run. */
int tk_night_store_outcome(struct tk_night *n, const struct tk_night_job *job,
        enum tk_outcome outcome, const char *message, struct tk_error *err);
/* Adds the results of an earlier part of this night to the report. */
int tk_night_count_stored_results(struct tk_night *n, struct tk_error *err);

#endif
