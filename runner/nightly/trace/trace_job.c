/* See trace_job.h. */
#include "nightly/trace/trace_job.h"
#include "base/error.h"
#include "base/try.h"
#include "core/trace_file.h"
#include "worker/worker.h"
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

int tk_trace_file_open(int *fd, struct tk_error *err)
{
	*fd = memfd_create("tracker-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, TK_TRACE_FILE_MAX) != 0 ||
	        fcntl(*fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
		return tk_fail_errno(err, "the file of the trace");
	return TK_OK;
}

static int empty_file(int fd, struct tk_error *err)
{
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, TK_TRACE_FILE_MAX) != 0)
		return tk_fail_errno(err, "the file of the trace");
	return TK_OK;
}

static int read_trace(
        struct tk_trace_job *job, struct tk_trace_runs *out, size_t run, struct tk_error *err)
{
	AUTO(tk_trace) t = {0};
	int status = tk_trace_read(job->fd, &t, err);
	if (status)
		return status;
	status = tk_trace_runs_add(out, run, &t, err);
	if (!status && job->observe)
		status = job->observe(job->arg, &t, err);
	return status;
}

int tk_trace_job_run(
        struct tk_trace_job *job, struct tk_trace_runs *out, size_t run, struct tk_error *err)
{
	struct tk_job_result r = {0};
	int status = job->fd ? empty_file(job->fd, err) : TK_OK;
	if (!status)
		status = tk_worker_measure(job->worker, job->request, &r, err);
	if (!status && !tk_outcome_has_timing(r.outcome)) {
		job->failed = r.outcome != TK_OUTCOME_UNSUPPORTED;
		status = tk_fail(err, TK_EDATA, "%s: %s", tk_outcome_name(r.outcome), r.message);
	}
	if (!status) {
		out->median_ns[run] = r.time.median;
		out->clock_mhz[run] = r.time.clock_mhz;
	}
	tk_job_result_free(&r);
	if (!status && job->fd)
		status = read_trace(job, out, run, err);
	tk_worker_end_process(job->worker, 0.5);
	return status;
}
