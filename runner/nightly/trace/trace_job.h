/* One process of a build that records, and what it left. */
#ifndef TK_TRACE_JOB_H
#define TK_TRACE_JOB_H
#include "profile/trace.h"

struct tk_error;
struct tk_job_request;
struct tk_worker;

#define TK_TRACE_LAUNCHES 4        /* recorded in each run, if not said otherwise */
#define TK_TRACE_COMPARISON_S 0.02 /* of sampling: the recorded launches count, not the samples */

/* A file that the worker can fill and not make longer, for its `trace_fd`. */
int tk_trace_file_open(int *fd, struct tk_error *err);

struct tk_trace_job {
	struct tk_worker *worker; /* its process ends with the job: the next one's memory lies
	                             elsewhere */
	const struct tk_job_request *request;
	int fd; /* 0: it does not record */
	/* gets what was recorded; NULL: nobody */
	int (*observe)(void *arg, const struct tk_trace *t, struct tk_error *err);
	void *arg;
	bool failed; /* set: the kernel failed, or its result is wrong */
};

/* Adds the run of this number to *out. TK_EDATA: no timing, or no trace. */
int tk_trace_job_run(
        struct tk_trace_job *job, struct tk_trace_runs *out, size_t run, struct tk_error *err);

#endif
