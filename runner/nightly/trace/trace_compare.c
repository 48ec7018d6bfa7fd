/* See trace_compare.h. */
#include "nightly/trace/trace_compare.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "core/diff_row.h"
#include "nightly/kernel_report.h"
#include "nightly/night.h"
#include "nightly/plan/backend_name.h"
#include "nightly/trace/trace_job.h"
#include "store/kernel_report.h"
#include "trace/timeline.h"
#include "worker/worker.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNS TK_TRACE_RUNS_MIN

static int open_side(const struct tk_ab_variant *build, struct tk_trace_comparison_side *side,
        struct tk_error *err)
{
	side->path = tk_backend_find_traced(build->path);
	if (!side->path)
		return tk_fail(err, TK_ENOTFOUND, "a build of it does not record");
	return tk_trace_file_open(&side->fd, err);
}

int tk_trace_comparison_open(struct tk_night *n, const struct tk_diff_row *row,
        struct tk_trace_comparison_job *j, struct tk_error *err)
{
	struct tk_trace_comparison_side *base = &j->side[TK_TRACE_BASE],
	                                *head = &j->side[TK_TRACE_HEAD];
	const struct tk_verdict *v = &row->verdict;
	j->row = row;
	int status = tk_job_setup_load(n, row->series_id, v->last_good_run_id, &base->setup, err);
	if (!status)
		status = tk_job_setup_load(
		        n, row->series_id, v->first_bad_run_id, &head->setup, err);
	if (status)
		return status;
	struct tk_ab_test_spec spec = {.night_id = n->night_id,
	        .series_id = row->series_id,
	        .good_build_id = v->good_build_id,
	        .bad_build_id = v->bad_build_id,
	        .good = base->setup,
	        .bad = head->setup};
	status = tk_ab_test_open(n, &spec, &j->test, err);
	if (!status)
		status = open_side(&j->test.good, base, err);
	return status ? status : open_side(&j->test.bad, head, err);
}

static int keep_timeline(void *arg, const struct tk_trace *t, struct tk_error *err)
{
	struct tk_trace_comparison_job *j = arg;
	return tk_trace_timeline_list(t, TK_TRACE_SPANS_STORED, &j->timeline, err);
}

static int run_side(struct tk_night *n, struct tk_trace_comparison_job *j, int k, size_t run,
        struct tk_error *err)
{
	struct tk_trace_comparison_side *side = &j->side[k];
	struct tk_ab_worker_spec spec = {.trace_fd = side->fd};
	struct tk_job_request q = tk_night_job_request(
	        n, &j->test.series, &j->test.problem, side->path, side->setup.options);
	if (side->setup.config)
		q.config = side->setup.config;
	q.measure_s = fmin(q.measure_s, TK_TRACE_COMPARISON_S);
	q.limits = &j->test.device->limits;
	q.trace_launches = TK_TRACE_LAUNCHES;
	struct tk_trace_job job = {.request = &q,
	        .fd = side->fd,
	        .arg = j,
	        .observe = k == TK_TRACE_HEAD && !run ? keep_timeline : NULL};
	int status = TK_OK;
	if (tk_night_elapsed_s(n) > j->deadline_s)
		return tk_fail(err, TK_EDATA, "the time of the night is spent");
	if (!side->worker)
		status = tk_night_new_ab_worker(n, j->test.device, &spec, &side->worker, err);
	job.worker = side->worker;
	return status ? status : tk_trace_job_run(&job, &side->runs, run, err);
}

/* As `tracker trace --format=json` prints it. */
static json_t *encode(
        const struct tk_trace_comparison_job *j, const struct tk_trace_results *results)
{
	const struct tk_diff_row *r = j->row;
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:s,s:o,s:o,s:o}", "schema", "tracker-trace/1",
	        "backend", tk_json_text(r->backend), "device", tk_json_text(r->device),
	        "device_model", tk_json_text(r->device_name), "problem", j->test.problem.text,
	        "title", tk_json_text(r->title), "base", tk_json_text(r->good_rev), "head",
	        tk_json_text(r->bad_rev));
	tk_trace_results_encode(results, o);
	return o;
}

static int store(struct tk_night *n, const struct tk_trace_comparison_job *j,
        const struct tk_trace_results *results, struct tk_error *err)
{
	const struct tk_series_row *series = &j->test.series;
	json_t *o = encode(j, results);
	char *result = tk_kernel_report_dump(o), *timeline = tk_kernel_report_dump(j->timeline);
	struct tk_kernel_report_row row = {.kind = TK_KERNEL_REPORT_TRACE,
	        .device_id = series->device_id,
	        .environment_id = j->test.device->environment_id,
	        .problem_id = series->problem_id,
	        .upstream = j->row->upstream,
	        .revision = j->row->bad_rev,
	        .artifact_key = j->test.bad.artifact_key,
	        .backend = series->backend,
	        .options = j->side[TK_TRACE_HEAD].setup.options,
	        .config = series->config,
	        .mode = series->mode,
	        .base = j->row->good_rev,
	        .started_s = j->started_s,
	        .result = result,
	        .timeline = timeline};
	int64_t id;
	int status = result && timeline ? tk_store_put_kernel_report(n->store, &row, &id, err)
	                                : tk_fail(err, TK_ENOMEM, "out of memory");
	json_decref(o);
	free(result);
	free(timeline);
	return status;
}

int tk_trace_comparison_run(
        struct tk_night *n, struct tk_trace_comparison_job *j, struct tk_error *err)
{
	struct tk_trace_results *results = tk_calloc(1, sizeof *results);
	int status = results ? tk_night_load_limits(n, j->test.device, err)
	                     : tk_fail(err, TK_ENOMEM, "out of memory");
	j->started_s = tk_clock_now_s();
	for (size_t run = 0; !status && run < RUNS; run++) {
		int first = run % 2 ? TK_TRACE_HEAD : TK_TRACE_BASE;
		status = run_side(n, j, first, run, err);
		if (!status)
			status = run_side(n, j, TK_TRACE_SIDES - 1 - first, run, err);
	}
	if (!status)
		status = tk_trace_results_fill(&j->side[TK_TRACE_BASE].runs,
		        &j->side[TK_TRACE_HEAD].runs, RUNS, results, err);
	if (!status)
		status = store(n, j, results, err);
	free(results);
	return status;
}

void tk_trace_comparison_close(struct tk_trace_comparison_job *j)
{
	for (int k = 0; k < TK_TRACE_SIDES; k++) {
		struct tk_trace_comparison_side *side = &j->side[k];
		tk_worker_free(side->worker);
		tk_trace_runs_free(&side->runs);
		tk_job_setup_free(&side->setup);
		free(side->path);
		if (side->fd > 0)
			close(side->fd);
	}
	json_decref(j->timeline);
	tk_ab_test_close(&j->test);
}
