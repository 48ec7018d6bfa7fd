/* From the result of a job to the history: a run with its points, and the ceiling that it
 * measured. Private to nightly/. */
#ifndef TK_NIGHTLY_RESULT_H
#define TK_NIGHTLY_RESULT_H
#include "core/outcome.h"
#include "nightly/schedule/night_jobs.h"

struct tk_error;
struct tk_job_result;
struct tk_night;

/* Stores and counts it, logs what failed, and frees what the result refers to. */
int tk_night_store_result(struct tk_night *n, const struct tk_night_job *job,
        struct tk_job_result *result, struct tk_error *err);
/* The same for a job that was not run. */
int tk_night_store_outcome(struct tk_night *n, const struct tk_night_job *job,
        enum tk_outcome outcome, const char *message, struct tk_error *err);
/* Adds the results of an earlier part of this night to the report. */
int tk_night_count_stored_results(struct tk_night *n, struct tk_error *err);

#endif
