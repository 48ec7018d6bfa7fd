/* Stage "measure": runs what is left of the plan, one job at a time on each device, and stores each
 * result before the device's next begins. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "core/problem.h"
#include "nightly/night.h"
#include "worker/worker.h"
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The inputs are the same every night: values change power and clocks, so other values would be
 * another measurement. */
#define INPUT_SEED 1
#define CACHE_S 0.1 /* for the bandwidth of a cache */
#define SLICE_MS 50 /* how often workers are looked at that say nothing */

/* What the jobs refer to, read once. */
struct book {
	struct tk_rows series, problems, jobs, builds;
};

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
	int status = tk_store_list_series(n->store, &b->series, err);
	if (status == TK_OK)
		status = tk_store_list_problems(n->store, &b->problems, err);
	if (status == TK_OK)
		status = tk_store_list_builds(n->store, &b->builds, err);
	if (status == TK_OK)
		status = tk_store_list_jobs(n->store, n->night_id, true, &b->jobs, err);
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

/* A job on its way. What it belongs to is copied where the job has moved to another device. */
struct seat {
	struct tk_night_device *device;
	struct tk_worker *worker; /* NULL: nothing is running */
	struct tk_job_row job;
	struct tk_series_row series;
	const struct tk_problem_row *problem;
	const struct tk_build_row *build;
	int64_t started_s;
};

/* A point from the worker's answer; false where the answer has no timing. */
static bool point_of(
        const json_t *result, enum tk_outcome outcome, int64_t series_id, struct tk_point *out)
{
	if (!result || !tk_outcome_has_timing(outcome) ||
	        !json_is_number(json_object_get(result, "median")))
		return false;
	double median = number_of(result, "median", NAN);
	*out = (struct tk_point){.series_id = series_id,
	        .value = median,
	        .lo = number_of(result, "lo", median),
	        .hi = number_of(result, "hi", median),
	        .min = number_of(result, "min", median),
	        .q25 = number_of(result, "q25", median),
	        .q75 = number_of(result, "q75", median),
	        .p95 = number_of(result, "p95", median),
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

/* What a run took beside time is a metric of its own, and so a series of its own, where it is asked
 * for and known. */
struct more {
	const char *metric, *unit, *key;
	bool wanted;
};
#define MORE_MAX 3

static int put_more(struct tk_night *n, const struct tk_series_row *series, const struct more *more,
        double value, struct tk_point *out, struct tk_error *err)
{
	struct tk_series_row row = *series;
	row.slug = NULL;
	row.metric = more->metric;
	row.unit = more->unit;
	int status = tk_store_put_series(n->store, &row, &row.id, err);
	if (status)
		return status;
	*out = (struct tk_point){.series_id = row.id,
	        .value = value,
	        .lo = NAN,
	        .hi = NAN,
	        .min = NAN,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = NAN,
	        .n = 1};
	return TK_OK;
}

static int more_points(struct tk_night *n, const struct tk_series_row *series, const json_t *result,
        struct tk_point *out, size_t *points, struct tk_error *err)
{
	const struct tk_measure_config *wanted = &n->config->measure;
	const struct more all[MORE_MAX] = {{"launch", "ns", "launch_ns", wanted->launch_cost},
	        {"energy", "J", "energy_j", wanted->energy},
	        {"memory", "bytes", "device_bytes", wanted->memory}};
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < MORE_MAX; i++) {
		double value = number_of(result, all[i].key, NAN);
		if (!all[i].wanted || strcmp(series->role, "suite") != 0 || !(value > 0))
			continue;
		status = put_more(n, series, &all[i], value, &out[*points], err);
		*points += status == TK_OK;
	}
	return status;
}

static int put_result(struct tk_night *n, const struct seat *s, const struct tk_job_result *r,
        struct tk_error *err)
{
	struct tk_point points[1 + MORE_MAX];
	const struct tk_job_row *job = &s->job;
	size_t sample_count[1 + MORE_MAX] = {0},
	                        count = point_of(r->result, r->outcome, job->series_id, &points[0]);
	double *samples = count ? samples_of(r->result, &sample_count[0]) : NULL;
	int status = count ? more_points(n, &s->series, r->result, points, &count, err) : TK_OK;
	char *attributes = attributes_of(r->result);
	struct tk_run_row run = {.night_id = n->night_id,
	        .seq = job->seq,
	        .series_id = job->series_id,
	        .build_id = job->build_id,
	        .environment_id = s->device ? s->device->environment_id : 0,
	        .as_of_s = n->as_of_s,
	        .started_s = s->started_s,
	        .wall_s = r->wall_s,
	        .outcome = tk_outcome_name(r->outcome),
	        .message = r->message,
	        .attributes = attributes ? attributes : "{}"};
	const double *const sample_list[1 + MORE_MAX] = {samples};
	int64_t id;
	if (status == TK_OK)
		status = tk_store_put_run(
		        n->store, &run, points, sample_list, sample_count, count, &id, err);
	free(attributes);
	free(samples);
	return status;
}

/* "copy", "read", and "l2 read" where that is what a cache is read with; of rates the type. */
static void name_ceiling(const struct tk_problem_row *p, bool memory, char *out, size_t size)
{
	struct tk_problem_spec spec;
	bool cache = strcmp(p->op, "read") == 0 &&
	             tk_problem_parse(&spec, p->text, NULL) == TK_OK && spec.ceiling.cache;
	if (cache)
		snprintf(out, size, "l%u read", spec.ceiling.cache);
	else
		snprintf(out, size, "%s", memory ? p->op : p->dtype);
}

/* Copy and read, fma and gemm problems become the roofs of this night: bandwidths by operation,
 * rates by type. A roof is what the device can do, so it is the fastest sample: other work on the
 * machine cannot lower it. */
static int put_ceiling(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_problem_row *p, const struct tk_job_result *r, struct tk_error *err)
{
	double fastest_ns = r->result ? number_of(r->result, "min", NAN) : NAN;
	bool memory = strcmp(p->op, "copy") == 0 || strcmp(p->op, "read") == 0;
	char name[32];
	if (!d || !tk_outcome_has_timing(r->outcome) || !(fastest_ns > 0))
		return TK_OK;
	name_ceiling(p, memory, name, sizeof name);
	struct tk_ceiling_row row = {.night_id = n->night_id,
	        .device_id = d->device_id,
	        .name = name,
	        .source = "measured",
	        .unit = memory ? "gb_per_s" : "gflop_per_s",
	        .value = (memory ? p->bytes : p->flops) / fastest_ns};
	return tk_store_put_ceiling(n->store, &row, err);
}

static void count_result(struct tk_night_report *report, const struct tk_job_result *r)
{
	const json_t *verify = r->result ? json_object_get(r->result, "verify") : NULL;
	report->jobs++;
	report->verified += json_is_true(json_object_get(verify, "done")) &&
	                    json_is_true(json_object_get(verify, "passed"));
	report->unstable += r->outcome == TK_OUTCOME_UNSTABLE;
	if (tk_outcome_has_timing(r->outcome))
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

static void outcome_without_run(
        struct tk_job_result *r, enum tk_outcome outcome, const char *message)
{
	r->outcome = outcome;
	snprintf(r->message, sizeof r->message, "%s", message);
}

/* What a problem may take. The bandwidth of a cache is its fastest sample, and that shows soon. */
static double measuring_s(const struct tk_night *n, const struct tk_series_row *series)
{
	double budget = n->config->budgets.measure_s;
	bool cache = strcmp(series->role, "ceiling") == 0 &&
	             strcmp(series->mode, tk_mode_name(TK_MODE_HOT)) == 0;
	return cache ? fmin(budget, CACHE_S) : budget;
}

struct tk_job_request tk_night_job_request(const struct tk_night *n,
        const struct tk_series_row *series, const struct tk_problem_row *problem,
        const char *backend_path, const char *options)
{
	const struct tk_measure_config *m = &n->config->measure;
	return (struct tk_job_request){.backend_path = backend_path,
	        .backend_options = options,
	        .problem = problem->text,
	        .config = *series->config ? series->config : NULL,
	        .mode = series->mode,
	        .seed = INPUT_SEED,
	        .deadline_s = n->config->budgets.job_s,
	        .measure_s = measuring_s(n, series),
	        .relative_half_width = m->relative_half_width,
	        .confidence = m->confidence,
	        .min_samples = m->min_samples,
	        .max_samples = m->max_samples,
	        .verify = true};
}

static int ask_worker(struct tk_night *n, struct seat *s, struct tk_error *err)
{
	struct tk_worker *worker = NULL;
	struct tk_job_request request = tk_night_job_request(
	        n, &s->series, s->problem, s->job.backend_path, s->job.options);
	int status = tk_night_get_worker(n, s->device, s->job.backend_path, &worker, err);
	if (status == TK_OK)
		status = tk_worker_start_measure(worker, &request, err);
	if (status == TK_OK)
		s->worker = worker;
	return status;
}

static int end_job(
        struct tk_night *n, struct seat *s, struct tk_job_result *r, struct tk_error *err)
{
	int status = put_result(n, s, r, err);
	s->worker = NULL;
	if (status == TK_OK && strcmp(s->series.role, "ceiling") == 0)
		status = put_ceiling(n, s->device, s->problem, r, err);
	if (status == TK_OK)
		count_result(n->report, r);
	if (status == TK_OK && !tk_outcome_has_timing(r->outcome) &&
	        r->outcome != TK_OUTCOME_UNSUPPORTED)
		tk_log(TK_LOG_WARN, tk_outcome_name(r->outcome), NULL, "%s: %s%s%s", s->series.slug,
		        tk_outcome_name(r->outcome), *r->message ? ": " : "", r->message);
	tk_job_result_free(r);
	return status;
}

static bool planned(const struct book *b, int64_t series_id, int64_t but_job_id)
{
	for (size_t i = 0; i < b->jobs.count; i++) {
		const struct tk_job_row *job = TK_ROWS_AT(&b->jobs, struct tk_job_row, i);
		if (job->series_id == series_id && job->id != but_job_id)
			return true;
	}
	return false;
}

/* A job goes to another device, `to` or (NULL) any that is like its own, as a point of that one's
 * series, unless that has a job for it of its own. */
static int move_job(struct tk_night *n, const struct book *b, struct tk_night_device *to,
        struct seat *s, struct tk_error *err)
{
	for (size_t i = 0; i < n->device_count; i++) {
		struct tk_night_device *d = &n->devices[i];
		struct tk_series_row row = s->series;
		if (d->lost || d == s->device || (to && d != to) ||
		        !tk_night_device_is_same_model(d, s->device))
			continue;
		row.device_id = d->device_id;
		row.slug = NULL;
		int status = tk_store_put_series(n->store, &row, &row.id, err);
		if (status)
			return status;
		if (planned(b, row.id, s->job.id))
			continue;
		row.slug = s->series.slug;
		s->series = row;
		s->job.series_id = row.id;
		s->device = d;
		return TK_OK;
	}
	return TK_OK;
}

/* Fills the seat; it has no worker where the job ended at once, which is then stored. `to`: the
 * device that has taken the job over; NULL: none. */
static int begin_job(struct tk_night *n, const struct book *b, const struct tk_job_row *job,
        struct tk_night_device *to, struct seat *s, struct tk_error *err)
{
	const struct tk_series_row *series = FIND(&b->series, struct tk_series_row, job->series_id);
	*s = (struct seat){.job = *job,
	        .problem = series ? FIND(&b->problems, struct tk_problem_row, series->problem_id)
	                          : NULL,
	        .build = FIND(&b->builds, struct tk_build_row, job->build_id),
	        .started_s = tk_clock_now_s()};
	if (!s->problem || !s->build)
		return tk_fail(err, TK_EDATA,
		        "job %lld of this night refers to a series that is not there",
		        (long long)job->seq);
	s->series = *series;
	s->device = device_of(n, series);
	struct tk_job_result r = {0};
	double spent_s = (double)(tk_clock_monotonic_ns() - n->started_mono_ns) / 1e9;
	int status = s->device && (s->device->lost || to) ? move_job(n, b, to, s, err) : TK_OK;
	if (status)
		return status;
	if (!*job->backend_path)
		outcome_without_run(&r, TK_OUTCOME_BUILD_FAILED, s->build->message);
	else if (!s->device || s->device->lost)
		outcome_without_run(&r, TK_OUTCOME_NO_DEVICE,
		        s->device ? "the device was lost in this night"
		                  : "the device of this series is not there tonight");
	else if (n->config->budgets.night_s > 0 && spent_s > n->config->budgets.night_s)
		outcome_without_run(
		        &r, TK_OUTCOME_SKIPPED, "the night's budget (budgets.night) was spent");
	else
		return ask_worker(n, s, err);
	return end_job(n, s, &r, err);
}

/* Jobs that an earlier part of this night has done count in the summary too. */
static int count_done(struct tk_night *n, struct tk_error *err)
{
	struct tk_rows runs = {0};
	int status = tk_store_list_night_runs(n->store, n->night_id, &runs, err);
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

/* ---- all jobs ---- */

/* The queue, and who is working on it. */
struct hall {
	struct tk_night *n;
	struct book book;
	struct seat *seats;                  /* one for each device */
	bool *taken;                         /* of book.jobs */
	const struct tk_series_row **series; /* of book.jobs */
	struct tk_night_device *
	        *moved; /* of book.jobs: the device that has taken the job over, NULL: none */
	size_t before, begun;
	bool cpu; /* whose turn it is: nothing may run beside a measurement on the CPU */
};

static bool is_cpu(const struct tk_night_device *d)
{
	return d && strcmp(d->layer->name, "cpu") == 0;
}

/* The device that a job is for as things stand: the first like one where its own is lost. */
static struct tk_night_device *place_of(const struct hall *h, size_t job)
{
	const struct tk_series_row *series = h->series[job];
	struct tk_night_device *d = h->moved[job] ? h->moved[job]
	                            : series      ? device_of(h->n, series)
	                                          : NULL;
	for (size_t i = 0; d && d->lost && i < h->n->device_count; i++)
		if (!h->n->devices[i].lost && tk_night_device_is_same_model(&h->n->devices[i], d))
			return &h->n->devices[i];
	return d;
}

static bool is_suite(const struct tk_series_row *series)
{
	return series && strcmp(series->role, "suite") == 0;
}

/* How many jobs of the suites a device has left. */
static size_t left_for(const struct hall *h, const struct tk_night_device *d)
{
	size_t left = 0;
	for (size_t i = 0; i < h->book.jobs.count; i++)
		left += !h->taken[i] && place_of(h, i) == d && is_suite(h->series[i]);
	return left;
}

static bool is_suite_of(const struct tk_series_row *series, int64_t problem_id)
{
	return is_suite(series) && series->problem_id == problem_id;
}

/* Whether all that `from` has of a problem may go to another device: none of it has begun, `to` has
 * no jobs of its own for it, and neither has a point of it, of another night or of this one before
 * it was resumed. */
static int is_untouched(struct hall *h, const struct tk_night_device *from,
        const struct tk_night_device *to, int64_t problem_id, bool *out, struct tk_error *err)
{
	int status = TK_OK;
	*out = true;
	for (size_t i = 0; *out && i < h->book.jobs.count; i++)
		*out = !is_suite_of(h->series[i], problem_id) ||
		       (place_of(h, i) != to && (place_of(h, i) != from || !h->taken[i]));
	for (size_t i = 0; status == TK_OK && *out && i < h->book.series.count; i++) {
		const struct tk_series_row *series =
		        TK_ROWS_AT(&h->book.series, struct tk_series_row, i);
		bool has_points;
		if (!is_suite_of(series, problem_id))
			continue;
		const struct tk_night_device *of = device_of(h->n, series);
		if (of != from && of != to)
			continue;
		status = tk_night_series_has_points(h->n, series->id, &has_points, err);
		*out = !has_points;
	}
	return status;
}

/* Where like devices share the problems, what is new belongs to none of them yet: one that has
 * nothing left but controls takes over the last problem that the busiest of the others has not
 * begun, all of it. How long problems take is only estimated when they are shared out. */
static int take_over(struct hall *h, struct tk_night_device *d, struct tk_error *err)
{
	struct tk_night_device *from = NULL;
	size_t most = 0;
	for (size_t k = 0; k < h->n->device_count; k++) {
		struct tk_night_device *o = &h->n->devices[k];
		size_t left = o != d && !o->lost && tk_night_device_is_same_model(o, d)
		                      ? left_for(h, o)
		                      : 0;
		if (left > most) {
			from = o;
			most = left;
		}
	}
	for (size_t i = h->book.jobs.count; from && i-- > 0;) {
		const struct tk_series_row *series = h->series[i];
		bool free_to_go = false;
		if (h->taken[i] || place_of(h, i) != from || !is_suite(series))
			continue;
		int status = is_untouched(h, from, d, series->problem_id, &free_to_go, err);
		if (status || !free_to_go) /* what comes before it in the order is not more likely
		                              to be untouched */
			return status;
		for (size_t k = 0; k <= i; k++) {
			const struct tk_series_row *other = h->series[k];
			if (!h->taken[k] && place_of(h, k) == from &&
			        is_suite_of(other, series->problem_id))
				h->moved[k] = d;
		}
		return TK_OK;
	}
	return TK_OK;
}

/* Begins the next job of a device; of device NULL, every one that has none. */
static int serve_device(
        struct hall *h, struct tk_night_device *d, struct seat *seat, struct tk_error *err)
{
	const struct tk_night_observer *o = h->n->options->observer;
	int status = TK_OK;
	if (h->n->options->split && d && !d->lost && left_for(h, d) == 0)
		status = take_over(h, d, err);
	for (size_t i = 0; status == TK_OK && !seat->worker && i < h->book.jobs.count; i++) {
		const struct tk_job_row *job = TK_ROWS_AT(&h->book.jobs, struct tk_job_row, i);
		const struct tk_series_row *series = h->series[i];
		if (h->taken[i] || place_of(h, i) != d)
			continue;
		h->taken[i] = true;
		if (o && o->progress)
			o->progress(o->arg, h->before + h->begun, h->before + h->book.jobs.count,
			        series ? series->slug : "");
		h->begun++;
		status = begin_job(h->n, &h->book, job, h->moved[i], seat, err);
		if (tk_cancel_is_requested())
			break;
	}
	return status;
}

/* A device that cannot be opened any more is lost, and so is its job: to another one if there is a
 * like one. */
static int collect(struct hall *h, struct seat *s, struct tk_error *err)
{
	struct tk_job_result r = {0};
	bool done = false;
	int status = tk_worker_poll_measure(s->worker, &done, &r, err);
	if (status || !done)
		return status;
	if (r.outcome == TK_OUTCOME_NO_DEVICE && !is_cpu(s->device)) {
		s->device->lost = true;
		for (size_t i = 0; i < h->book.jobs.count;
		        i++) /* back to where they were planned */
			if (h->moved[i] == s->device)
				h->moved[i] = NULL;
		tk_log(TK_LOG_WARN, "lost", NULL, "device %s was lost: %s", s->device->slug,
		        r.message);
		struct seat moved = *s;
		moved.worker = NULL;
		if ((status = move_job(h->n, &h->book, NULL, &moved, err)))
			return status;
		if (moved.device != s->device) {
			struct seat *other = &h->seats[moved.device - h->n->devices];
			s->worker = NULL;
			tk_job_result_free(&r);
			if (!other->worker) {
				*other = moved;
				return ask_worker(h->n, other, err);
			}
			for (size_t i = 0; i < h->book.jobs.count;
			        i++) /* that one is busy: back into the queue */
				if (TK_ROWS_AT(&h->book.jobs, struct tk_job_row, i)->id ==
				        s->job.id)
					h->taken[i] = false;
			return TK_OK;
		}
	}
	return end_job(h->n, s, &r, err);
}

static size_t wait_for_workers(struct hall *h)
{
	struct pollfd fds[64];
	nfds_t count = 0;
	size_t busy = 0;
	for (size_t i = 0; i < h->n->device_count; i++) {
		busy += h->seats[i].worker != NULL;
		if (h->seats[i].worker && count < sizeof fds / sizeof *fds &&
		        tk_worker_fd(h->seats[i].worker) >= 0)
			fds[count++] = (struct pollfd){
			        .fd = tk_worker_fd(h->seats[i].worker), .events = POLLIN};
	}
	if (busy)
		poll(fds, count, SLICE_MS);
	return busy;
}

/* The processes of all backends of a device start beside each other: one after the other, as jobs
 * ask for them, they take as long as many a job. None of them is at work any more when the first
 * job begins. */
static int send_for_workers(struct hall *h, struct tk_error *err)
{
	struct tk_night *n = h->n;
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < h->book.jobs.count; i++) {
		const struct tk_job_row *job = TK_ROWS_AT(&h->book.jobs, struct tk_job_row, i);
		struct tk_night_device *d = place_of(h, i);
		if (d && *job->backend_path)
			status = tk_night_prestart_worker(
			        n, d, job->backend_path, job->options, err);
	}
	for (size_t i = 0; status == TK_OK && i < n->device_count; i++)
		status = tk_night_device_await_workers(&n->devices[i], err);
	return status;
}

/* All jobs of the devices whose turn it is, each device one job at a time. */
static int run_jobs(struct hall *h, struct tk_error *err)
{
	int status = TK_OK;
	for (;;) {
		for (size_t i = 0;
		        status == TK_OK && i < h->n->device_count && !tk_cancel_is_requested(); i++)
			if (is_cpu(&h->n->devices[i]) == h->cpu && !h->seats[i].worker)
				status = serve_device(h, &h->n->devices[i], &h->seats[i], err);
		if (status || wait_for_workers(h) == 0)
			break;
		for (size_t i = 0; status == TK_OK && i < h->n->device_count; i++)
			if (h->seats[i].worker)
				status = collect(h, &h->seats[i], err);
	}
	if (status == TK_OK && tk_cancel_is_requested())
		status = tk_fail(err, TK_ECANCELED,
		        "stopped on request; `tracker nightly --resume` goes on from here");
	return status;
}

int tk_night_measure(struct tk_night *n, struct tk_error *err)
{
	struct hall h = {.n = n};
	struct seat nowhere = {0};
	int status = count_done(n, err);
	h.before = n->report->jobs;
	if (status == TK_OK)
		status = open_book(n, &h.book, err);
	h.seats = calloc(n->device_count + 1, sizeof *h.seats);
	h.taken = calloc(h.book.jobs.count + 1, sizeof *h.taken);
	h.moved = calloc(h.book.jobs.count + 1, sizeof *h.moved);
	h.series = calloc(h.book.jobs.count + 1, sizeof *h.series);
	if (status == TK_OK && (!h.seats || !h.taken || !h.moved || !h.series))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; status == TK_OK && i < h.book.jobs.count; i++)
		h.series[i] = FIND(&h.book.series, struct tk_series_row,
		        TK_ROWS_AT(&h.book.jobs, struct tk_job_row, i)->series_id);
	if (status == TK_OK)
		status = serve_device(&h, NULL, &nowhere, err);
	if (status == TK_OK)
		status = send_for_workers(&h, err);
	for (int turn = 0; status == TK_OK && turn < 2; turn++) {
		h.cpu = turn == 1;
		status = run_jobs(&h, err);
	}
	free(h.seats);
	free(h.taken);
	free(h.moved);
	free(h.series);
	close_book(&h.book);
	return status;
}
