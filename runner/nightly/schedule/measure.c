/* Stage "measure": executes the scheduler's actions with worker processes, the clock and the
 * history. Every result is stored before the device's next job starts. */
#include "base/base.h"
#include "base/process.h"
#include "core/measurement_fields.h"
#include "core/vocabulary.h"
#include "nightly/night.h"
#include "nightly/plan/suites.h"
#include "nightly/schedule/schedule.h"
#include "nightly/tune/tune.h"
#include "worker/worker.h"
#include <math.h>
#include <poll.h>

/* The inputs are the same every night: values change power and clocks, so other values would be
 * another measurement. */
#define INPUT_SEED 1
#define CACHE_MEASURE_S 0.1 /* the bandwidth of a cache is its fastest sample, which comes early */
#define POLL_MS 50          /* deadlines and limits are checked at least this often */

/* One device and the job that it is running. */
struct slot {
	struct tk_worker *worker; /* NULL: idle */
	struct tk_night_job job;
	size_t job_index;
	struct tk_job_result loss;  /* of a device that was lost: what its worker answered */
	struct tk_worker *recheck;  /* a new process that measures the job again; NULL: none */
	struct tk_job_result first; /* of a job that is measured again */
};

struct measurement {
	struct tk_night *n;
	struct tk_rows jobs; /* of struct tk_night_job_row */
	struct tk_scheduler *scheduler;
	struct slot *slots; /* by device */
	struct pollfd *fds;
	size_t started; /* jobs, with those of an earlier part of this night */
};

/* ---- the second measurement ---- */

/* A random share of the jobs is measured again by a new process, with other inputs, and the two
 * results are compared: state that a backend keeps from job to job must not change them. */

/* The interval of the slower measurement must lie wholly above this multiple of the other's. Clocks
 * and caches do less. */
#define TIMES_MAX 2
#define REFEREE_EFFECT 0.03 /* an improvement, where the threshold is the series' own noise */
#define RECHECK_MEASURE_S 0.1
#define RECHECK_SAMPLES_MAX 20

/* The same for a resumed night, and not known to a backend: it has not seen the night's seed. */
static uint64_t draw(const struct tk_night *n, const struct tk_night_job *job, uint64_t what)
{
	return tk_splitmix64(tk_splitmix64(n->seed ^ what << 56) ^ (uint64_t)job->row->seq);
}

/* Whether a job is one of the share (measure.recheck): of a suite, with a timing. */
static bool recheck_is_due(const struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_result *result)
{
	double fraction = (double)(draw(n, job, 1) >> 11) * 0x1p-53;
	return job->series.role == TK_ROLE_SUITE && result->result &&
	       tk_outcome_has_timing(result->outcome) && fraction < n->config->measure.recheck;
}

static struct tk_job_request make_recheck_request(
        const struct tk_night *n, const struct tk_night_job *job, struct tk_job_request request)
{
	request.seed = draw(n, job, 2) >> 33;
	request.measure_s = fmin(request.measure_s, RECHECK_MEASURE_S);
	if (request.max_samples > RECHECK_SAMPLES_MAX)
		request.max_samples = RECHECK_SAMPLES_MAX;
	if (request.min_samples > request.max_samples)
		request.min_samples = request.max_samples;
	return request;
}

/* ---- comparing ---- */

static void describe(struct tk_job_result *first, const struct tk_job_result *again)
{
	static const enum tk_measurement_field fields[] = {TK_MEASUREMENT_MEDIAN, TK_MEASUREMENT_LO,
	        TK_MEASUREMENT_HI, TK_MEASUREMENT_N, TK_MEASUREMENT_CHECK_SEED};
	json_t *o = json_object();
	tk_measurement_set_text(o, TK_MEASUREMENT_OUTCOME, tk_outcome_name(again->outcome));
	tk_measurement_set_text(o, TK_MEASUREMENT_MESSAGE, again->message);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		json_object_set(o, tk_measurement_field_key(fields[i]),
		        tk_measurement_get_field(again->result, fields[i]));
	json_object_set_new(o, "wall_s", json_real(again->wall_s));
	json_object_set_new(first->result, "recheck", o);
}

static void set_outcome(
        struct tk_job_result *first, enum tk_outcome outcome, const char *text, const char *detail)
{
	snprintf(first->message, sizeof first->message, "%s%.800s", text, detail);
	first->outcome = outcome;
	tk_measurement_set_text(first->result, TK_MEASUREMENT_OUTCOME, tk_outcome_name(outcome));
	tk_measurement_set_text(first->result, TK_MEASUREMENT_MESSAGE, first->message);
}

static bool compare_times(
        struct tk_job_result *first, const struct tk_job_result *again, double min_ns)
{
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE], text[128];
	const struct tk_job_result *fast = first->time.lo < again->time.lo ? first : again,
	                           *slow = fast == first ? again : first;
	/* intervals, so that a few scattered samples are no difference */
	if (!(slow->time.lo > TIMES_MAX * fast->time.hi) ||
	        !(slow->time.lo - fast->time.hi > min_ns))
		return false;
	snprintf(text, sizeof text, "a new process took %s instead of %s",
	        tk_format_value(again->time.median, "ns", a),
	        tk_format_value(first->time.median, "ns", b));
	set_outcome(first, TK_OUTCOME_UNSTABLE, text, "");
	return true;
}

/* Makes `first` wrong or implausible if `again` is, and unstable if the medians differ by far more
 * than noise (docs/explanation/verification.md); differences below min_ns never count. `again` may
 * have ended in any way: "recheck" of the first result says how. Returns whether the outcome or its
 * message has changed. */
static bool recheck_compare(
        struct tk_job_result *first, const struct tk_job_result *again, double min_ns)
{
	describe(first, again);
	if (again->outcome == TK_OUTCOME_WRONG || again->outcome == TK_OUTCOME_IMPLAUSIBLE) {
		json_object_set(first->result, tk_measurement_field_key(TK_MEASUREMENT_VERIFY),
		        tk_measurement_get_field(again->result, TK_MEASUREMENT_VERIFY));
		set_outcome(first, again->outcome, "in a new process: ", again->message);
		return true;
	}
	return tk_outcome_has_timing(again->outcome) && compare_times(first, again, min_ns);
}

/* ---- one job ---- */

static bool is_cache_ceiling(const struct tk_series_row *series)
{
	return series->role == TK_ROLE_CEILING &&
	       strcmp(series->mode, tk_mode_name(TK_MODE_HOT)) == 0;
}

struct tk_job_request tk_night_job_request(struct tk_night *n, const struct tk_series_row *series,
        const struct tk_problem_row *problem, const char *backend_path, const char *options)
{
	const struct tk_measure_config *m = &n->config->measure;
	double measure_s = n->config->budgets.measure_s;
	const struct tk_job_text *text = NULL;
	/* the worker reports a text that is missing */
	tk_texts_find(&n->texts, n->config->root, problem->text, &text, NULL);
	return (struct tk_job_request){.backend_path = backend_path,
	        .backend_options = options,
	        .problem = problem->text,
	        .config = *series->config && strcmp(series->config, TK_TUNE_CONFIG) != 0
	                          ? series->config
	                          : NULL,
	        .mode = series->mode,
	        .text = text,
	        .sequence = tk_night_find_sequence(n, series->device_id, series->mode),
	        .seed = INPUT_SEED,
	        .deadline_s = n->config->budgets.job_s,
	        .measure_s =
	                is_cache_ceiling(series) ? fmin(measure_s, CACHE_MEASURE_S) : measure_s,
	        .relative_half_width = m->relative_half_width,
	        .confidence = m->confidence,
	        .min_samples = m->min_samples,
	        .max_samples = m->max_samples,
	        .verify = true};
}

static const struct tk_night_job_row *job_at(const struct measurement *m, size_t index)
{
	return TK_ROWS_AT(&m->jobs, struct tk_night_job_row, index);
}

/* The job as the device runs it: if it was planned for another device, the point belongs to this
 * device's series. */
static int prepare_job(struct measurement *m, size_t index, struct tk_night_device *device,
        struct tk_night_job *out, struct tk_error *err)
{
	struct tk_store *store = m->n->store;
	*out = (struct tk_night_job){
	        .row = job_at(m, index), .device = device, .started_s = tk_clock_now_s()};
	TRY(tk_store_get(store, TK_TABLE_series, out->row->series_id, &out->series, err));
	TRY(tk_store_get(store, TK_TABLE_problem, out->row->problem_id, &out->problem, err));
	TRY(tk_store_get(store, TK_TABLE_build, out->row->build_id, &out->build, err));
	if (device && device->device_id != out->series.device_id) {
		struct tk_series_row row = out->series;
		row.device_id = out->series.device_id = device->device_id;
		row.slug = NULL;
		TRY(tk_store_put(store, TK_TABLE_series, &row, &out->series.id, err));
	}
	bool found = false;
	if (strcmp(out->series.config, TK_TUNE_CONFIG) == 0)
		TRY(tk_tuned_find(store, out->series.id, out->row->options, true, &out->tuning_row,
		        &found, err));
	/* without a configuration that works the default is used */
	out->tuning = found && *out->tuning_row.config ? &out->tuning_row : NULL;
	return TK_OK;
}

static void show_progress(struct measurement *m, const struct tk_night_job *job)
{
	const struct tk_night_observer *o = m->n->options->observer;
	if (o && o->progress)
		o->progress(o->arg, m->started, m->jobs.count, job->series.slug);
	m->started++;
}

static bool is_night_budget_spent(const struct tk_night *n)
{
	return n->config->budgets.night_s > 0 && tk_night_elapsed_s(n) > n->config->budgets.night_s;
}

static struct tk_job_request make_request(
        const struct measurement *m, const struct tk_night_job *job)
{
	struct tk_job_request request = tk_night_job_request(
	        m->n, &job->series, &job->problem, job->row->backend_path, job->row->options);
	request.limits = &job->device->limits;
	if (job->tuning)
		request.config = job->tuning->config;
	return request;
}

/* A referee judges every new series, every new best, every improvement that would be reported, and
 * a random share of the other jobs (measure.referee). */
static int choose_referee(const struct tk_night *n, const struct tk_night_job *job,
        struct tk_job_request *request, struct tk_error *err)
{
	const double fraction = (double)(draw(n, job, 3) >> 11) * 0x1p-53,
	             effect = n->config->thresholds.min_effect;
	int64_t picoseconds = -1;
	/* GPUs: `tracker run --referee` alone, until more devices have been tried */
	if (job->series.role != TK_ROLE_SUITE || !tk_night_device_is_cpu(job->device))
		return TK_OK;
	TRY(tk_store_select_int(n->store,
	        "SELECT CAST(1000 * max((SELECT min(value) FROM measurement WHERE series_id=?1),"
	        " ?2 * (SELECT value FROM measurement WHERE series_id=?1"
	        "  ORDER BY as_of_s DESC LIMIT 1)) AS INTEGER)",
	        TK_ARGS(job->series.id, 1 - (isfinite(effect) ? effect : REFEREE_EFFECT)), -1,
	        &picoseconds, err));
	request->referee_below_ns = picoseconds < 0 || fraction < n->config->measure.referee
	                                    ? INFINITY
	                                    : (double)picoseconds / 1000;
	return TK_OK;
}

static int start_worker(struct measurement *m, struct slot *slot, const struct tk_night_job *job,
        struct tk_error *err)
{
	struct tk_worker *worker = NULL;
	struct tk_job_request request = make_request(m, job);
	TRY(tk_night_load_limits(m->n, job->device, err));
	TRY(choose_referee(m->n, job, &request, err));
	TRY(tk_night_get_worker(m->n, job->device, job->row->backend_path, &worker, err));
	TRY(tk_worker_start_measure(worker, &request, err));
	slot->worker = worker;
	return TK_OK;
}

/* A job that ends without being run is stored at once. */
static int start_job(struct measurement *m, size_t device, size_t index, struct tk_error *err)
{
	struct slot *slot = &m->slots[device];
	struct tk_night_job *job = &slot->job;
	slot->job_index = index;
	TRY(prepare_job(m, index, &m->n->devices[device], job, err));
	show_progress(m, job);
	if (!*job->row->backend_path)
		TRY(tk_night_store_outcome(
		        m->n, job, TK_OUTCOME_BUILD_FAILED, job->build.message, err));
	else if (is_night_budget_spent(m->n))
		TRY(tk_night_store_outcome(m->n, job, TK_OUTCOME_SKIPPED,
		        "the night's budget (budgets.night) was spent", err));
	else
		return start_worker(m, slot, job, err);
	tk_scheduler_finish(m->scheduler, device);
	return TK_OK;
}

/* The job that was running when a device was lost gets its worker's answer; the other jobs only get
 * the fact that the device was lost. */
static int fail_job(struct measurement *m, size_t device, size_t index, struct tk_error *err)
{
	struct slot *slot = device == TK_SCHEDULER_NOWHERE ? NULL : &m->slots[device];
	struct tk_night_job job;
	TRY(prepare_job(m, index, slot ? &m->n->devices[device] : NULL, &job, err));
	show_progress(m, &job);
	if (slot && slot->job_index == index && slot->loss.outcome == TK_OUTCOME_NO_DEVICE)
		return tk_night_store_result(m->n, &slot->job, &slot->loss, err);
	if (!*job.row->backend_path)
		return tk_night_store_outcome(
		        m->n, &job, TK_OUTCOME_BUILD_FAILED, job.build.message, err);
	return tk_night_store_outcome(m->n, &job, TK_OUTCOME_NO_DEVICE,
	        slot ? "the device was lost during this night"
	             : "the device of this series is not present",
	        err);
}

/* Stored before any of the jobs starts, so that a resumed night does not give them back. */
static int assign_jobs(struct measurement *m, size_t device, const size_t *jobs, size_t count,
        struct tk_error *err)
{
	int64_t *ids = tk_calloc(count, sizeof *ids);
	for (size_t i = 0; i < count; i++)
		ids[i] = job_at(m, jobs[i])->id;
	int status =
	        tk_store_assign_jobs(m->n->store, ids, count, m->n->devices[device].device_id, err);
	free(ids);
	return status;
}

/* ---- waiting ---- */

static int finish_job(
        struct measurement *m, size_t device, struct tk_job_result *result, struct tk_error *err)
{
	struct slot *slot = &m->slots[device];
	struct tk_night_device *d = &m->n->devices[device];
	slot->worker = NULL;
	if (result->outcome != TK_OUTCOME_NO_DEVICE || tk_night_device_is_cpu(d)) {
		int status = tk_night_store_result(m->n, &slot->job, result, err);
		tk_scheduler_finish(m->scheduler, device);
		return status;
	}
	d->lost = true;
	tk_log(TK_LOG_WARN, "lost", NULL, "device %s was lost: %s", d->slug, result->message);
	slot->loss = *result;
	tk_scheduler_lose(m->scheduler, device);
	return TK_OK;
}

/* The device stays with the job until its second measurement has ended. */
static int start_recheck(struct measurement *m, struct slot *slot,
        const struct tk_job_result *first, struct tk_error *err)
{
	struct tk_job_request request =
	        make_recheck_request(m->n, &slot->job, make_request(m, &slot->job));
	slot->first = *first;
	TRY(tk_night_new_worker(m->n, slot->job.device, NULL, &slot->recheck, err));
	TRY(tk_worker_start_measure(slot->recheck, &request, err));
	slot->worker = slot->recheck;
	return TK_OK;
}

static int finish_recheck(
        struct measurement *m, size_t device, struct tk_job_result *again, struct tk_error *err)
{
	struct slot *slot = &m->slots[device];
	struct tk_job_result first = slot->first;
	if (recheck_compare(&first, again, m->n->config->thresholds.min_effect_ns) &&
	        first.outcome == TK_OUTCOME_UNSTABLE)
		tk_log(TK_LOG_WARN, "recheck", NULL, "%s: %s", slot->job.series.slug,
		        first.message);
	slot->first = (struct tk_job_result){0};
	tk_job_result_free(again);
	tk_worker_free(slot->recheck);
	slot->recheck = NULL;
	return finish_job(m, device, &first, err);
}

/* A build newer than the winner may lack its configuration. What computes wrong results stays a
 * finding. */
static bool lacks_winner(const struct tk_night_job *job, const struct tk_job_result *r)
{
	return job->tuning && strcmp(job->tuning->artifact_key, job->build.artifact_key) != 0 &&
	       (r->outcome == TK_OUTCOME_FAILED || r->outcome == TK_OUTCOME_UNSUPPORTED);
}

static int start_default(struct measurement *m, struct slot *slot, struct tk_job_result *result,
        struct tk_error *err)
{
	tk_log(TK_LOG_WARN, "tuned", NULL, "%s: configuration %s: %s: %s; the default is measured",
	        slot->job.series.slug, slot->job.tuning->config, tk_outcome_name(result->outcome),
	        result->message);
	tk_job_result_free(result);
	slot->worker = NULL;
	slot->job.tuning = NULL;
	return start_worker(m, slot, &slot->job, err);
}

static int check_worker(struct measurement *m, size_t device, struct tk_error *err)
{
	struct slot *slot = &m->slots[device];
	struct tk_job_result result = {0};
	bool is_done = false;
	int status = tk_worker_poll_measure(slot->worker, &is_done, &result, err);
	if (status || !is_done)
		return status;
	if (slot->recheck)
		return finish_recheck(m, device, &result, err);
	if (lacks_winner(&slot->job, &result))
		return start_default(m, slot, &result, err);
	if (recheck_is_due(m->n, &slot->job, &result) && !is_night_budget_spent(m->n))
		return start_recheck(m, slot, &result, err);
	return finish_job(m, device, &result, err);
}

static int wait_for_workers(struct measurement *m, struct tk_error *err)
{
	nfds_t count = 0;
	for (size_t d = 0; d < m->n->device_count; d++) {
		int fd = m->slots[d].worker ? tk_worker_fd(m->slots[d].worker) : -1;
		if (fd >= 0)
			m->fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	poll(m->fds, count, POLL_MS);
	for (size_t d = 0; d < m->n->device_count; d++)
		if (m->slots[d].worker)
			TRY(check_worker(m, d, err));
	return TK_OK;
}

/* ---- the stage ---- */

static int run_jobs(struct measurement *m, struct tk_error *err)
{
	size_t device, job, count;
	const size_t *jobs;
	for (;;) {
		bool is_stopping = tk_cancel_is_requested();
		if ((count = tk_scheduler_assign(m->scheduler, &device, &jobs)))
			TRY(assign_jobs(m, device, jobs, count, err));
		else if (!is_stopping && tk_scheduler_fail(m->scheduler, &device, &job))
			TRY(fail_job(m, device, job, err));
		else if (!is_stopping && tk_scheduler_start(m->scheduler, &device, &job))
			TRY(job == TK_SCHEDULER_NOWHERE ? TK_OK : start_job(m, device, job, err));
		else if (tk_scheduler_is_running(m->scheduler))
			TRY(wait_for_workers(m, err));
		else
			break;
	}
	return tk_cancel_is_requested()
	               ? tk_fail(err, TK_ECANCELED,
	                         "stopped on request; `tracker nightly --resume` continues")
	               : TK_OK;
}

/* Starting a process, its driver context and its library takes as long as many a job, so the
 * workers of all backends start in parallel, before the first job, and all of them are ready when
 * that job begins. */
static int prestart_workers(struct measurement *m, struct tk_error *err)
{
	struct tk_night *n = m->n;
	for (size_t i = 0; i < m->jobs.count; i++) {
		const struct tk_night_job_row *job = job_at(m, i);
		size_t device = tk_scheduler_device(m->scheduler, i);
		if (!job->run_id && device != TK_SCHEDULER_NOWHERE && *job->backend_path)
			TRY(tk_night_prestart_worker(
			        n, &n->devices[device], job->backend_path, job->options, err));
	}
	for (size_t d = 0; d < n->device_count; d++)
		TRY(tk_night_device_await_workers(&n->devices[d], err));
	return TK_OK;
}

static int prepare(struct measurement *m, struct tk_error *err)
{
	struct tk_night *n = m->n;
	TRY(tk_night_count_stored_results(n, err));
	m->started = n->report->jobs;
	TRY(tk_night_jobs_list(n, &m->jobs, err));
	m->scheduler = tk_scheduler_new(n, &m->jobs);
	return prestart_workers(m, err);
}

int tk_night_measure(struct tk_night *n, struct tk_error *err)
{
	struct measurement m = {.n = n,
	        .slots = tk_calloc(n->device_count + 1, sizeof *m.slots),
	        .fds = tk_calloc(n->device_count + 1, sizeof *m.fds)};
	int status = prepare(&m, err);
	if (!status)
		status = run_jobs(&m, err);
	for (size_t d = 0; d < n->device_count; d++) {
		tk_worker_free(m.slots[d].recheck);
		tk_job_result_free(&m.slots[d].first);
		tk_job_result_free(&m.slots[d].loss);
	}
	tk_scheduler_free(m.scheduler);
	tk_rows_free(&m.jobs);
	free(m.slots);
	free(m.fds);
	return status;
}
