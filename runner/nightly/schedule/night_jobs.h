/* The jobs of a night, as they are stored, scheduled and run. Private to nightly/. */
#ifndef TK_NIGHTLY_NIGHT_JOBS_H
#define TK_NIGHTLY_NIGHT_JOBS_H
#include "store/tuning.h"

struct tk_error;
struct tk_night;
struct tk_night_device;
struct tk_scheduler;

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
/* The jobs and devices as the scheduler sees them. */
int tk_night_jobs_schedule(struct tk_night *n, const struct tk_rows *jobs,
        struct tk_scheduler **out, struct tk_error *err);

#endif
