/* See night_jobs.h. */
#include "nightly/schedule/night_jobs.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include "nightly/plan/selection.h"
#include "nightly/schedule/scheduler.h"
#include <stdlib.h>

int tk_night_jobs_list(struct tk_night *n, struct tk_rows *out, struct tk_error *err)
{
#define COLUMN(member) TK_MEMBER(struct tk_night_job_row, member)
	static const struct tk_db_column columns[] = {COLUMN(id), COLUMN(seq), COLUMN(series_id),
	        COLUMN(build_id), COLUMN(device_id), COLUMN(run_id), COLUMN(backend_path),
	        COLUMN(options), COLUMN(series_device_id), COLUMN(problem_id), COLUMN(work),
	        COLUMN(is_suite)};
#undef COLUMN
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_night_job_row, columns);
	return tk_store_select(n->store,
	        "SELECT j.id, j.seq, j.series_id, j.build_id, j.device_id, j.run_id,"
	        " j.backend_path, j.options, s.device_id AS series_device_id, s.problem_id,"
	        " s.role='suite' AS is_suite, dense_rank() OVER (ORDER BY s.problem_id,"
	        " s.upstream_id, s.backend, s.config, s.mode, s.metric) AS work"
	        " FROM job j JOIN series s ON s.id=j.series_id WHERE j.night_id=?1 ORDER BY j.seq",
	        TK_ARGS(n->night_id), &type, out, err);
}

/* ---- the schedule ---- */

static size_t find_device(const struct tk_night *n, int64_t device_id)
{
	const size_t d = tk_night_find_device_index(n, device_id);
	return d < n->device_count ? d : TK_SCHEDULER_NOWHERE;
}

/* The number of a model is the index of its first device. */
static size_t find_model(const struct tk_night *n, size_t device)
{
	size_t first = 0;
	while (first < device &&
	        !tk_night_device_is_same_model(&n->devices[first], &n->devices[device]))
		first++;
	return first;
}

/* The device that has taken a job over, in an earlier part of this night, keeps it while it is
 * present. */
static size_t find_owner(const struct tk_night *n, const struct tk_night_job_row *job)
{
	size_t owner = job->device_id ? find_device(n, job->device_id) : TK_SCHEDULER_NOWHERE;
	return owner != TK_SCHEDULER_NOWHERE ? owner : find_device(n, job->series_device_id);
}

/* Only suite problems are stolen, so only their history matters. */
static int read_history(struct tk_night *n, const struct tk_scheduled_job *jobs, size_t job_count,
        bool *has_history, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	TRY(tk_plan_list_history(n, &rows, err));
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_plan_history *h = TK_ROWS_AT(&rows, struct tk_plan_history, i);
		size_t device = find_device(n, h->device_id);
		for (size_t k = 0; device != TK_SCHEDULER_NOWHERE && h->has_points && k < job_count;
		        k++)
			if (jobs[k].problem_id == h->problem_id)
				has_history[k * n->device_count + device] = true;
	}
	return TK_OK;
}

int tk_night_jobs_schedule(struct tk_night *n, const struct tk_rows *rows,
        struct tk_scheduler **out, struct tk_error *err)
{
	struct tk_scheduled_device *devices = tk_calloc(n->device_count + 1, sizeof *devices);
	struct tk_scheduled_job *jobs = tk_calloc(rows->count + 1, sizeof *jobs);
	bool *has_history = tk_calloc(rows->count * n->device_count + 1, sizeof *has_history);
	for (size_t d = 0; d < n->device_count; d++)
		devices[d] = (struct tk_scheduled_device){.model = find_model(n, d),
		        .is_exclusive = tk_night_device_is_cpu(&n->devices[d])};
	for (size_t i = 0; i < rows->count; i++) {
		const struct tk_night_job_row *r = TK_ROWS_AT(rows, struct tk_night_job_row, i);
		jobs[i] = (struct tk_scheduled_job){.device = find_owner(n, r),
		        .problem_id = r->problem_id,
		        .work = (size_t)r->work,
		        .is_suite = r->is_suite,
		        .is_done = r->run_id != 0};
	}
	int status =
	        n->options->split ? read_history(n, jobs, rows->count, has_history, err) : TK_OK;
	struct tk_schedule schedule = {.devices = devices,
	        .device_count = n->device_count,
	        .jobs = jobs,
	        .job_count = rows->count,
	        .has_history = has_history,
	        .can_steal = n->options->split};
	if (!status)
		*out = tk_scheduler_new(&schedule);
	free(devices);
	free(jobs);
	free(has_history);
	return status;
}
