/* See job_catalog.h. */
#include "nightly/schedule/job_catalog.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include "nightly/schedule/scheduler.h"

#include <stdlib.h>
#include <string.h>

/* Every row starts with its id. */
static const void *find_row(const struct tk_rows *list, size_t row_size, int64_t id)
{
	for (size_t i = 0; i < list->count; i++) {
		const void *row = (const char *)list->rows + i * row_size;
		if (*(const int64_t *)row == id)
			return row;
	}
	return NULL;
}

struct tk_catalog_job tk_job_catalog_get(const struct tk_job_catalog *c, size_t job)
{
	const struct tk_job_row *row = TK_ROWS_AT(&c->jobs, struct tk_job_row, job);
	const struct tk_series_row *series =
	        find_row(&c->series, sizeof(struct tk_series_row), row->series_id);
	return (struct tk_catalog_job){.row = row,
	        .series = series,
	        .problem = series ? find_row(&c->problems, sizeof(struct tk_problem_row),
	                                    series->problem_id)
	                          : NULL,
	        .build = find_row(&c->builds, sizeof(struct tk_build_row), row->build_id)};
}

static int check_references(const struct tk_job_catalog *c, struct tk_error *err)
{
	for (size_t i = 0; i < c->jobs.count; i++) {
		struct tk_catalog_job job = tk_job_catalog_get(c, i);
		if (!job.problem || !job.build)
			return tk_fail(err, TK_EDATA,
			        "job %lld of this night refers to a series or build that does not "
			        "exist",
			        (long long)job.row->seq);
	}
	return TK_OK;
}

int tk_job_catalog_load(struct tk_night *n, struct tk_job_catalog *out, struct tk_error *err)
{
	*out = (struct tk_job_catalog){0};
	int status = tk_store_list(n->store, TK_TABLE_series, NULL, TK_NO_ARGS, &out->series, err);
	if (!status)
		status = tk_store_list(
		        n->store, TK_TABLE_problem, NULL, TK_NO_ARGS, &out->problems, err);
	if (!status)
		status = tk_store_list(
		        n->store, TK_TABLE_build, NULL, TK_NO_ARGS, &out->builds, err);
	if (!status)
		status = tk_store_list(n->store, TK_TABLE_job, "night_id=?1", TK_ARGS(n->night_id),
		        &out->jobs, err);
	return status ? status : check_references(out, err);
}

void tk_job_catalog_free(struct tk_job_catalog *c)
{
	tk_rows_free(&c->series);
	tk_rows_free(&c->problems);
	tk_rows_free(&c->builds);
	tk_rows_free(&c->jobs);
}

/* ---- the schedule ---- */

struct draft {
	struct tk_night *n;
	const struct tk_job_catalog *catalog;
	struct tk_scheduled_device *devices;
	struct tk_scheduled_job *jobs;
	bool *has_history;
};

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
static size_t find_owner(const struct tk_night *n, const struct tk_catalog_job *job)
{
	size_t owner =
	        job->row->device_id ? find_device(n, job->row->device_id) : TK_SCHEDULER_NOWHERE;
	return owner != TK_SCHEDULER_NOWHERE ? owner : find_device(n, job->series->device_id);
}

static int compare_ids(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Everything that identifies a series, but for its device. */
static int compare_work(const struct tk_series_row *a, const struct tk_series_row *b)
{
	int order = compare_ids(a->problem_id, b->problem_id);
	if (!order)
		order = compare_ids(a->upstream_id, b->upstream_id);
	if (!order)
		order = strcmp(a->backend, b->backend);
	if (!order)
		order = strcmp(a->config, b->config);
	if (!order)
		order = strcmp(a->mode, b->mode);
	return order ? order : strcmp(a->metric, b->metric);
}

struct numbered_series {
	const struct tk_series_row *series;
	size_t job;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered_series *x = a, *y = b;
	return compare_work(x->series, y->series);
}

static int number_work(const struct draft *draft, struct tk_error *err)
{
	size_t count = draft->catalog->jobs.count, number = 0;
	struct numbered_series *list = tk_calloc(count + 1, sizeof *list);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct numbered_series){tk_job_catalog_get(draft->catalog, i).series, i};
	qsort(list, count, sizeof *list, compare_numbered);
	for (size_t i = 0; i < count; i++) {
		number += i && compare_numbered(&list[i - 1], &list[i]) != 0;
		draft->jobs[list[i].job].work = number;
	}
	free(list);
	return TK_OK;
}

static void add_history(const struct draft *draft, size_t device, int64_t problem_id)
{
	for (size_t i = 0; i < draft->catalog->jobs.count; i++)
		if (draft->jobs[i].problem_id == problem_id)
			draft->has_history[i * draft->n->device_count + device] = true;
}

/* Only suite problems are stolen, so only their history matters. */
static int read_history(const struct draft *draft, struct tk_error *err)
{
	const struct tk_rows *all = &draft->catalog->series;
	for (size_t i = 0; i < all->count; i++) {
		const struct tk_series_row *series = TK_ROWS_AT(all, struct tk_series_row, i);
		size_t device = find_device(draft->n, series->device_id);
		bool has_points = false;
		if (device == TK_SCHEDULER_NOWHERE || series->role != TK_ROLE_SUITE)
			continue;
		TRY(tk_night_series_has_points(draft->n, series->id, &has_points, err));
		if (has_points)
			add_history(draft, device, series->problem_id);
	}
	return TK_OK;
}

static int fill(const struct draft *draft, struct tk_error *err)
{
	const struct tk_night *n = draft->n;
	for (size_t d = 0; d < n->device_count; d++)
		draft->devices[d] = (struct tk_scheduled_device){.model = find_model(n, d),
		        .is_exclusive = tk_night_device_is_cpu(&n->devices[d])};
	for (size_t i = 0; i < draft->catalog->jobs.count; i++) {
		struct tk_catalog_job job = tk_job_catalog_get(draft->catalog, i);
		draft->jobs[i] = (struct tk_scheduled_job){.device = find_owner(n, &job),
		        .problem_id = job.series->problem_id,
		        .is_suite = job.series->role == TK_ROLE_SUITE,
		        .is_done = job.row->run_id != 0};
	}
	int status = number_work(draft, err);
	return status || !n->options->split ? status : read_history(draft, err);
}

int tk_job_catalog_schedule(struct tk_night *n, const struct tk_job_catalog *c,
        struct tk_scheduler **out, struct tk_error *err)
{
	struct draft draft = {.n = n,
	        .catalog = c,
	        .devices = tk_calloc(n->device_count + 1, sizeof *draft.devices),
	        .jobs = tk_calloc(c->jobs.count + 1, sizeof *draft.jobs),
	        .has_history =
	                tk_calloc(c->jobs.count * n->device_count + 1, sizeof *draft.has_history)};
	int status = draft.devices && draft.jobs && draft.has_history
	                     ? fill(&draft, err)
	                     : tk_fail(err, TK_ENOMEM, "out of memory");
	struct tk_schedule schedule = {.devices = draft.devices,
	        .device_count = n->device_count,
	        .jobs = draft.jobs,
	        .job_count = c->jobs.count,
	        .has_history = draft.has_history,
	        .can_steal = n->options->split};
	if (!status)
		status = tk_scheduler_new(&schedule, out, err);
	free(draft.devices);
	free(draft.jobs);
	free(draft.has_history);
	return status;
}
