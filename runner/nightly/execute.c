/* Stage "measure": runs what is left of the plan, one job after the other, and stores each result before the next begins. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/proc.h"
#include "nightly/night.h"
#include "problem/problem.h"
#include "worker/worker.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The inputs are the same every night: values change power and clocks, so other values would be another measurement. */
#define INPUT_SEED 1

/* What the jobs refer to, read once. */
struct book { struct tk_rows series, problems, jobs, builds; };

#define FIND(list, type, wanted_id) find_row((list)->rows, (list)->count, sizeof(type), (wanted_id))

/* All rows begin with their id; lists are short beside the time of one job. */
static const void *find_row(const void *rows, size_t count, size_t size, int64_t id)
{
	for (size_t i = 0; i < count; i++) {
		const void *row = (const char *)rows + i * size;
		if (*(const int64_t *)row == id)
			return row;
	}
	return NULL;
}

static int open_book(struct tk_night *n, struct book *b, struct tk_error *err)
{
	int status = tk_store_all_series(n->store, &b->series, err);
	if (status == TK_OK)
		status = tk_store_problems(n->store, &b->problems, err);
	if (status == TK_OK)
		status = tk_store_builds(n->store, &b->builds, err);
	if (status == TK_OK)
		status = tk_store_jobs(n->store, n->night_id, true, &b->jobs, err);
	return status;
}

static void close_book(struct book *b)
{
	tk_rows_free(&b->series);
	tk_rows_free(&b->problems);
	tk_rows_free(&b->builds);
	tk_rows_free(&b->jobs);
}

static double number_of(const json_t *object, const char *key, double otherwise)
{
	const json_t *v = json_object_get(object, key);
	return json_is_number(v) ? json_number_value(v) : otherwise;
}

static struct tk_night_device *device_of(struct tk_night *n, const struct tk_series_row *series)
{
	for (size_t i = 0; i < n->device_count; i++)
		if (n->devices[i].device_id == series->device_id)
			return &n->devices[i];
	return NULL;
}

/* A point from the worker's answer; false where the answer has no timing. */
static bool point_of(const json_t *result, enum tk_outcome outcome, int64_t series_id, struct tk_point *out)
{
	if (!result || !tk_outcome_counts(outcome) || !json_is_number(json_object_get(result, "median")))
		return false;
	double median = number_of(result, "median", NAN);
	*out = (struct tk_point){.series_id = series_id, .value = median, .lo = number_of(result, "lo", median),
		.hi = number_of(result, "hi", median), .min = number_of(result, "min", median), .q25 = number_of(result, "q25", median),
		.q75 = number_of(result, "q75", median), .p95 = number_of(result, "p95", median),
		.n = json_integer_value(json_object_get(result, "n"))};
	if (outcome == TK_OUTCOME_THROTTLED)
		out->flags |= TK_POINT_THROTTLED;
	if (outcome == TK_OUTCOME_UNSTABLE)
		out->flags |= TK_POINT_UNSTABLE;
	return true;
}

static double *samples_of(const json_t *result, size_t *count)
{
	const json_t *list = json_object_get(result, "samples");
	size_t n = json_array_size(list);
	double *samples = n ? malloc(n * sizeof *samples) : NULL;
	*count = samples ? n : 0;
	for (size_t i = 0; i < *count; i++)
		samples[i] = json_number_value(json_array_get(list, i));
	return samples;
}

/* Everything of the answer but the samples, as the run's attributes. */
static char *attributes_of(json_t *result)
{
	json_t *copy = result ? json_copy(result) : json_object();
	if (copy)
		json_object_del(copy, "samples");
	char *text = copy ? json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(copy);
	return text;
}

static int put_result(struct tk_night *n, const struct tk_job_row *job, const struct tk_night_device *d, int64_t started_s,
	const struct tk_job_result *r, struct tk_error *err)
{
	struct tk_point point;
	size_t sample_count = 0;
	bool has_point = point_of(r->result, r->outcome, job->series_id, &point);
	double *samples = has_point ? samples_of(r->result, &sample_count) : NULL;
	char *attributes = attributes_of(r->result);
	struct tk_run_row run = {.night_id = n->night_id, .seq = job->seq, .series_id = job->series_id, .build_id = job->build_id,
		.environment_id = d ? d->environment_id : 0, .as_of_s = n->as_of_s, .started_s = started_s, .wall_s = r->wall_s,
		.outcome = tk_outcome_word(r->outcome), .message = r->message, .attributes = attributes ? attributes : "{}"};
	const double *const sample_list[] = {samples};
	int64_t id;
	int status = tk_store_put_run(n->store, &run, &point, sample_list, &sample_count, has_point ? 1 : 0, &id, err);
	free(attributes);
	free(samples);
	return status;
}

/* Copy and read, fma and gemm problems become the roofs of this night: bandwidths by operation, rates by type. A roof is what the device
 * can do, so it is the fastest sample: other work on the machine cannot lower it. */
static int put_ceiling(struct tk_night *n, const struct tk_night_device *d, const struct tk_problem_row *p,
	const struct tk_job_result *r, struct tk_error *err)
{
	double fastest_ns = r->result ? number_of(r->result, "min", NAN) : NAN;
	bool memory = strcmp(p->op, "copy") == 0 || strcmp(p->op, "read") == 0;
	if (!d || !tk_outcome_counts(r->outcome) || !(fastest_ns > 0))
		return TK_OK;
	struct tk_ceiling_row row = {.night_id = n->night_id, .device_id = d->device_id, .name = memory ? p->op : p->dtype,
		.source = "measured", .unit = memory ? "gb_per_s" : "gflop_per_s", .value = (memory ? p->bytes : p->flops) / fastest_ns};
	return tk_store_put_ceiling(n->store, &row, err);
}

static void count_result(struct tk_night_report *report, const struct tk_job_result *r)
{
	const json_t *verify = r->result ? json_object_get(r->result, "verify") : NULL;
	report->jobs++;
	report->verified += json_is_true(json_object_get(verify, "done")) && json_is_true(json_object_get(verify, "passed"));
	if (tk_outcome_counts(r->outcome))
		report->measured++;
	else if (r->outcome == TK_OUTCOME_UNSUPPORTED)
		report->unsupported++;
	else if (r->outcome == TK_OUTCOME_WRONG)
		report->wrong++;
	else if (r->outcome == TK_OUTCOME_SKIPPED)
		report->skipped++;
	else
		report->failed++;
}

static void outcome_without_run(struct tk_job_result *r, enum tk_outcome outcome, const char *message)
{
	r->outcome = outcome;
	snprintf(r->message, sizeof r->message, "%s", message);
}

static int ask_worker(struct tk_night *n, const struct tk_job_row *job, const struct tk_series_row *series,
	const struct tk_problem_row *problem, struct tk_night_device *d, struct tk_job_result *r, struct tk_error *err)
{
	const struct tk_measure_config *m = &n->config->measure;
	struct tk_job_request request = {.backend_path = job->backend_path, .backend_options = job->options, .problem = problem->text,
		.config = *series->config ? series->config : NULL, .mode = series->mode, .seed = INPUT_SEED,
		.deadline_s = n->config->budgets.job_s, .measure_s = n->config->budgets.measure_s,
		.relative_half_width = m->relative_half_width, .confidence = m->confidence,
		.min_samples = m->min_samples, .max_samples = m->max_samples, .verify = true};
	return tk_worker_measure(d->worker, &request, r, err);
}

static int run_job(struct tk_night *n, const struct book *b, const struct tk_job_row *job, struct tk_error *err)
{
	const struct tk_series_row *series = FIND(&b->series, struct tk_series_row, job->series_id);
	const struct tk_problem_row *problem = series ? FIND(&b->problems, struct tk_problem_row, series->problem_id) : NULL;
	const struct tk_build_row *build = FIND(&b->builds, struct tk_build_row, job->build_id);
	if (!problem || !build)
		return tk_fail(err, TK_EDATA, "job %lld of this night refers to a series that is not there", (long long)job->seq);
	struct tk_night_device *d = device_of(n, series);
	struct tk_job_result r = {0};
	int64_t started_s = tk_clock_now_s();
	int status = TK_OK;
	double spent_s = (double)(tk_clock_mono_ns() - n->started_mono_ns) / 1e9;
	if (!*job->backend_path)
		outcome_without_run(&r, TK_OUTCOME_BUILD_FAILED, build->message);
	else if (!d)
		outcome_without_run(&r, TK_OUTCOME_NO_DEVICE, "the device of this series is not there tonight");
	else if (n->config->budgets.night_s > 0 && spent_s > n->config->budgets.night_s)
		outcome_without_run(&r, TK_OUTCOME_SKIPPED, "the night's budget (budgets.night) was spent");
	else
		status = ask_worker(n, job, series, problem, d, &r, err);
	if (status == TK_OK)
		status = put_result(n, job, d, started_s, &r, err);
	if (status == TK_OK && strcmp(series->role, "ceiling") == 0)
		status = put_ceiling(n, d, problem, &r, err);
	if (status == TK_OK)
		count_result(n->report, &r);
	if (status == TK_OK && !tk_outcome_counts(r.outcome) && r.outcome != TK_OUTCOME_UNSUPPORTED)
		tk_log(TK_LOG_WARN, tk_outcome_word(r.outcome), NULL, "%s: %s%s%s", series->slug, tk_outcome_word(r.outcome),
			*r.message ? ": " : "", r.message);
	tk_job_result_free(&r);
	return status;
}

/* Jobs that an earlier part of this night has done count in the summary too. */
static int count_done(struct tk_night *n, struct tk_error *err)
{
	struct tk_rows runs = {0};
	int status = tk_store_runs_of_night(n->store, n->night_id, &runs, err);
	for (size_t i = 0; status == TK_OK && i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		struct tk_job_result r = {.result = json_loads(run->attributes, 0, NULL)};
		if (tk_outcome_parse(run->outcome, &r.outcome) == TK_OK)
			count_result(n->report, &r);
		json_decref(r.result);
	}
	tk_rows_free(&runs);
	return status;
}

int tk_night_measure(struct tk_night *n, struct tk_error *err)
{
	struct book b = {0};
	int status = count_done(n, err);
	size_t before = n->report->jobs;
	if (status == TK_OK)
		status = open_book(n, &b, err);
	for (size_t i = 0; status == TK_OK && i < b.jobs.count; i++) {
		const struct tk_job_row *job = TK_ROWS_AT(&b.jobs, struct tk_job_row, i);
		const struct tk_series_row *series = FIND(&b.series, struct tk_series_row, job->series_id);
		const struct tk_night_observer *o = n->options->observer;
		if (tk_cancel_requested()) {
			status = tk_fail(err, TK_ECANCELED, "stopped on request; `tracker nightly --resume` goes on from here");
			break;
		}
		if (o && o->progress)
			o->progress(o->arg, before + i, before + b.jobs.count, series ? series->slug : "");
		status = run_job(n, &b, job, err);
	}
	close_book(&b);
	return status;
}
