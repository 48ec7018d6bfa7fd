/* A random share of the jobs is measured again by a new process, with other inputs, and the two
 * results are compared: state that a backend keeps from job to job must not change them. Private to
 * nightly/. */
#ifndef TK_NIGHTLY_RECHECK_H
#define TK_NIGHTLY_RECHECK_H
#include <stdbool.h>

struct tk_error;
struct tk_job_request;
struct tk_job_result;
struct tk_night;
struct tk_night_job;
struct tk_worker;

/* Whether a job is one of the share (measure.recheck): of a suite, with a timing. */
bool tk_recheck_is_due(const struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_result *result);
/* Starts it in a new worker, which the caller frees. `request` is that of the job. */
int tk_recheck_start(struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_request *request, struct tk_worker **out, struct tk_error *err);

/* Makes `first` wrong or implausible if `again` is, and unstable if the medians differ by far more
 * than noise (docs/explanation/verification.md); differences below min_ns never count. `again` may
 * have ended in any way: "recheck" of the first result says how. Returns whether the outcome or its
 * message has changed. */
bool tk_recheck_compare(
        struct tk_job_result *first, const struct tk_job_result *again, double min_ns);

#endif
