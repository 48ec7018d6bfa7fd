/* What `tracker trace` and `tracker profile` record: one process of a build that records, and how
 * its result is stored with where it was measured. */
#ifndef TK_NIGHTLY_RECORDED_RUN_H
#define TK_NIGHTLY_RECORDED_RUN_H
#include "base/base.h"
#include "profile/trace.h"
#include "store/store.h"

struct tk_config;
struct tk_job_request;
struct tk_modules;
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

/* ---- stored reports ---- */

struct tk_kernel_report_place {
	const struct tk_config *config;
	const struct tk_modules *modules;
	const char *device_kind;             /* of which `modules` has the layer */
	uint32_t device_index, device_count; /* devices of its kind */
	json_t *device_info;                 /* as the device layer describes it */
	const char *problem;                 /* canonical text */
	const char *backend, *backend_path;  /* its name; its file, which does not record */
};

/* Stores the machine, the device, its environment, the problem and the report. Of `report` the
 * caller sets what is not in *place: kind, options, config, mode, base, started_s, result,
 * timeline. */
int tk_kernel_report_store(struct tk_store *store, const struct tk_kernel_report_place *place,
        const struct tk_kernel_report_row *report, struct tk_error *err);

/* A result or a timeline as stored text, "" without one. The caller frees it. NULL: out of
 * memory. */
char *tk_kernel_report_dump(const json_t *o);

#endif
