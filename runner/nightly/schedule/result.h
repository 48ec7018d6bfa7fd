/* From the result of a job to the history: a run with its points, and the ceiling that it
 * measured. Private to nightly/. */
#ifndef TK_NIGHTLY_RESULT_H
#define TK_NIGHTLY_RESULT_H
#include "core/outcome.h"
#include "store/store.h"

struct tk_error;
struct tk_job_result;
struct tk_night;
struct tk_night_device;
struct tk_tuning_row;

/* A job as it is run: `series` is that of the device, which need not be the one it was planned
 * for. */
struct tk_night_job {
	const struct tk_job_row *row;
	struct tk_series_row series;
	const struct tk_problem_row *problem;
	const struct tk_build_row *build;
	struct tk_night_device *device; /* NULL: not present */
	/* Of a series with TK_TUNE_CONFIG: what it is measured with. NULL: the default */
	const struct tk_tuning_row *tuning;
	int64_t started_s;
};

/* Stores and counts it, logs what failed, and frees what the result refers to. */
int tk_night_store_result(struct tk_night *n, const struct tk_night_job *job,
        struct tk_job_result *result, struct tk_error *err);
/* The same for a job that was not run. */
int tk_night_store_outcome(struct tk_night *n, const struct tk_night_job *job,
        enum tk_outcome outcome, const char *message, struct tk_error *err);
/* Adds the results of an earlier part of this night to the report. */
int tk_night_count_stored_results(struct tk_night *n, struct tk_error *err);

#endif
