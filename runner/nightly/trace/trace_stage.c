/* Stage "trace": where new regressions are inside their kernels. Backends of which both builds, the
 * last good one and the first bad one, record regions are measured by turns, and the comparison is
 * stored as that of `tracker trace --base --head`; the verdicts then say it. Within budgets.trace,
 * the worst regression of each backend first. What had no time follows in the next night, as long
 * as the verdict stands. */
#include "base/base.h"
#include "core/trace_file.h"
#include "nightly/compare/ab_test.h"
#include "nightly/night.h"
#include "nightly/plan/modules.h"
#include "nightly/plan/plan_internal.h"
#include "nightly/trace/recorded_run.h"
#include "profile/trace.h"
#include "store/store.h"
#include "worker/worker.h"
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- one comparison ---- */

#define RUNS TK_TRACE_RUNS_MIN

/* As the verdict of this night has it. */
struct regression {
	int64_t series_id, good_build_id, bad_build_id;
	int64_t last_good_run_id, first_bad_run_id; /* 0: none */
	const char *series, *backend, *device, *device_name, *upstream, *title;
	const char *good_rev, *bad_rev;
};

/* Of two builds of one series, region by region. */
struct comparison {
	const struct regression *row;
	double deadline_s;      /* of the night's time: after it no run begins */
	struct tk_ab_test test; /* series, device and sides; no pair of it is measured */
	struct {
		char *path; /* of the build that records */
		struct tk_worker *worker;
		int fd;
		struct tk_trace_runs runs;
	} side[TK_AB_SIDES];
	json_t *timeline;
	int64_t started_s;
};

/* TK_ENOTFOUND: a build is not in the cache, or does not record. */
static int open_comparison(struct tk_night *n, struct comparison *j, struct tk_error *err)
{
	const struct regression *v = j->row;
	const struct tk_ab_build builds[TK_AB_SIDES] = {
	        {v->good_build_id, v->last_good_run_id}, {v->bad_build_id, v->first_bad_run_id}};
	TRY(tk_ab_test_open(n, n->night_id, j->row->series_id, builds, &j->test, err));
	for (int k = 0; k < TK_AB_SIDES; k++) {
		j->side[k].path = tk_backend_find_traced(j->test.side[k].path);
		if (!j->side[k].path)
			return tk_fail(err, TK_ENOTFOUND, "a build of it does not record");
		TRY(tk_trace_file_open(&j->side[k].fd, err));
	}
	return TK_OK;
}

static void close_comparison(struct comparison *j)
{
	for (int k = 0; k < TK_AB_SIDES; k++) {
		tk_worker_free(j->side[k].worker);
		tk_trace_runs_free(&j->side[k].runs);
		free(j->side[k].path);
		if (j->side[k].fd > 0)
			close(j->side[k].fd);
	}
	json_decref(j->timeline);
	tk_ab_test_close(&j->test);
}

static int keep_timeline(void *arg, const struct tk_trace *t, struct tk_error *err)
{
	struct comparison *j = arg;
	return tk_trace_timeline_list(t, TK_TRACE_SPANS_STORED, &j->timeline, err);
}

static int run_side(
        struct tk_night *n, struct comparison *j, int k, size_t run, struct tk_error *err)
{
	struct tk_ab_worker_spec spec = {.trace_fd = j->side[k].fd};
	struct tk_job_request q = tk_ab_test_make_request(n, &j->test, k);
	q.backend_path = j->side[k].path;
	q.verify = true;
	q.measure_s = fmin(q.measure_s, TK_TRACE_COMPARISON_S);
	q.trace_launches = TK_TRACE_LAUNCHES;
	struct tk_trace_job job = {.request = &q,
	        .fd = j->side[k].fd,
	        .arg = j,
	        .observe = k == TK_AB_HEAD && !run ? keep_timeline : NULL};
	if (tk_night_elapsed_s(n) > j->deadline_s)
		return tk_fail(err, TK_EDATA, "the time of the night is spent");
	if (!j->side[k].worker)
		TRY(tk_night_new_worker(n, j->test.device, &spec, &j->side[k].worker, err));
	job.worker = j->side[k].worker;
	return tk_trace_job_run(&job, &j->side[k].runs, run, err);
}

static int store(struct tk_night *n, const struct comparison *j,
        const struct tk_trace_results *results, struct tk_error *err)
{
	const struct tk_series_row *series = &j->test.series;
	const struct regression *r = j->row;
	/* as `tracker trace --format=json` prints it */
	json_auto_t *o = json_pack("{s:s,s:o,s:o,s:o,s:s,s:o,s:o,s:o}", "schema", "tracker-trace/1",
	        "backend", tk_json_text(r->backend), "device", tk_json_text(r->device),
	        "device_model", tk_json_text(r->device_name), "problem", j->test.problem.text,
	        "title", tk_json_text(r->title), "base", tk_json_text(r->good_rev), "head",
	        tk_json_text(r->bad_rev));
	tk_trace_results_encode(results, o);
	AUTO_TEXT result = tk_kernel_report_dump(o);
	AUTO_TEXT timeline = tk_kernel_report_dump(j->timeline);
	struct tk_kernel_report_row row = {.kind = TK_KERNEL_REPORT_TRACE,
	        .device_id = series->device_id,
	        .environment_id = j->test.device->environment_id,
	        .problem_id = series->problem_id,
	        .upstream = r->upstream,
	        .revision = r->bad_rev,
	        .artifact_key = j->test.side[TK_AB_HEAD].artifact_key,
	        .backend = series->backend,
	        .options = j->test.side[TK_AB_HEAD].options,
	        .config = series->config,
	        .mode = series->mode,
	        .base = r->good_rev,
	        .started_s = j->started_s,
	        .result = result,
	        .timeline = timeline};
	int64_t id;
	return tk_store_put(n->store, TK_TABLE_kernel_report, &row, &id, err);
}

/* Measures and stores it. TK_EDATA: it cannot be measured, or the deadline came. */
static int run_comparison(struct tk_night *n, struct comparison *j, struct tk_error *err)
{
	TRY(tk_night_load_limits(n, j->test.device, err));
	j->started_s = tk_clock_now_s();
	for (size_t run = 0; run < RUNS; run++) {
		int first = run % 2 ? TK_AB_HEAD : TK_AB_BASE;
		TRY(run_side(n, j, first, run, err));
		TRY(run_side(n, j, TK_AB_SIDES - 1 - first, run, err));
	}
	struct tk_trace_results *results = tk_calloc(1, sizeof *results);
	int status = tk_trace_results_fill(
	        &j->side[TK_AB_BASE].runs, &j->side[TK_AB_HEAD].runs, RUNS, results, err);
	if (!status)
		status = store(n, j, results, err);
	free(results);
	return status;
}

/* ---- the stage ---- */

struct search {
	struct tk_night *n;
	double deadline_s; /* of the night's time */
	size_t stored;
};

/* The worst regression of each backend and first bad revision comes first. */
static int list_regressions(struct tk_night *n, struct tk_rows *out, struct tk_error *err)
{
#define COLUMN(member) TK_MEMBER(struct regression, member)
	static const struct tk_db_column columns[] = {COLUMN(series_id), COLUMN(good_build_id),
	        COLUMN(bad_build_id), COLUMN(last_good_run_id), COLUMN(first_bad_run_id),
	        COLUMN(series), COLUMN(backend), COLUMN(device), COLUMN(device_name),
	        COLUMN(upstream), COLUMN(title), COLUMN(good_rev), COLUMN(bad_rev)};
#undef COLUMN
	static const struct tk_row_type type = TK_ROW_TYPE(struct regression, columns);
	return tk_store_select(n->store,
	        "SELECT series_id, good_build_id, bad_build_id, last_good_run_id, first_bad_run_id,"
	        " series, backend, device, device_name, upstream, title, good_rev, bad_rev,"
	        " severity, row_number() OVER (PARTITION BY backend, upstream, device_id, bad_rev"
	        " ORDER BY severity DESC, series_id)>1 AS later"
	        " FROM verdict_v WHERE night_id=?1 AND status='regressed' AND metric='time'"
	        " AND good_build_id<>bad_build_id ORDER BY later, severity DESC, series_id",
	        TK_ARGS(n->night_id), &type, out, err);
}

/* One that an earlier night compared, or of which a build does not record or is not in the cache,
 * is left out. A comparison that fails, or has no time, is none. */
static int compare(struct search *s, const struct regression *r, struct tk_error *err)
{
	struct comparison j = {.row = r, .deadline_s = s->deadline_s};
	struct tk_series_row series;
	struct tk_error reason = {0};
	AUTO_TEXT stored = NULL;
	TRY(tk_store_get(s->n->store, TK_TABLE_series, r->series_id, &series, err));
	TRY(tk_store_find_comparison(
	        s->n->store, &series, r->upstream, r->good_rev, r->bad_rev, &stored, err));
	if (stored)
		return TK_OK;
	int status = open_comparison(s->n, &j, &reason);
	bool is_fatal = status && status != TK_ENOTFOUND;
	if (status == TK_ENOTFOUND) {
		tk_log(TK_LOG_DEBUG, "trace", NULL, "%s is not traced: %s", r->series,
		        reason.message);
	} else if (!status) {
		tk_night_announce_stage(s->n, "trace", r->series);
		status = run_comparison(s->n, &j, &reason);
		s->stored += !status;
		is_fatal = tk_night_is_fatal(status);
		if (status && !is_fatal)
			tk_log(TK_LOG_WARN, "trace", NULL, "%s: no comparison: %s", r->series,
			        reason.message);
	}
	close_comparison(&j);
	return is_fatal ? tk_fail(err, status, "%s", reason.message) : TK_OK;
}

static int compare_all(struct search *s, struct tk_error *err)
{
	AUTO(tk_rows) regressions = {0};
	TRY(list_regressions(s->n, &regressions, err));
	for (size_t i = 0; i < s->n->device_count; i++)
		tk_night_device_stop_workers(&s->n->devices[i]);
	for (size_t i = 0; i < regressions.count && tk_night_elapsed_s(s->n) < s->deadline_s; i++)
		TRY(compare(s, TK_ROWS_AT(&regressions, struct regression, i), err));
	return TK_OK;
}

int tk_night_trace(struct tk_night *n, struct tk_error *err)
{
	double share_s = tk_night_find_share_s(n, n->config->budgets.trace_s);
	struct search s = {.n = n, .deadline_s = tk_night_elapsed_s(n) + share_s};
	if (n->config->budgets.trace_s <= 0 || n->options->backfill_revision ||
	        !n->report->by_status[TK_VERDICT_REGRESSED])
		return TK_OK;
	TRY(compare_all(&s, err));
	if (s.stored && tk_night_detect(n, err))
		return tk_error_add_context(err,
		        "the comparisons are stored, but the verdicts of the night do not name "
		        "them; run `tracker detect`");
	return TK_OK;
}

/* ---- one run ---- */

int tk_trace_file_open(int *fd, struct tk_error *err)
{
	*fd = memfd_create("tracker-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, TK_TRACE_FILE_MAX) != 0 ||
	        fcntl(*fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
		return tk_fail_errno(err, "the file of the trace");
	return TK_OK;
}

static int read_trace(
        struct tk_trace_job *job, struct tk_trace_runs *out, size_t run, struct tk_error *err)
{
	AUTO(tk_trace) t = {0};
	TRY(tk_trace_read(job->fd, &t, err));
	TRY(tk_trace_runs_add(out, run, &t, err));
	return job->observe ? job->observe(job->arg, &t, err) : TK_OK;
}

static int run_job(
        struct tk_trace_job *job, struct tk_trace_runs *out, size_t run, struct tk_error *err)
{
	AUTO(tk_job_result) r = {0};
	if (job->fd && fallocate(job->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
	                       TK_TRACE_FILE_MAX) != 0) /* it begins empty */
		return tk_fail_errno(err, "the file of the trace");
	TRY(tk_worker_measure(job->worker, job->request, &r, err));
	if (!tk_outcome_has_timing(r.outcome)) {
		job->failed = r.outcome != TK_OUTCOME_UNSUPPORTED;
		return tk_fail(err, TK_EDATA, "%s: %s", tk_outcome_name(r.outcome), r.message);
	}
	out->median_ns[run] = r.time.median;
	out->clock_mhz[run] = r.time.clock_mhz;
	return job->fd ? read_trace(job, out, run, err) : TK_OK;
}

int tk_trace_job_run(
        struct tk_trace_job *job, struct tk_trace_runs *out, size_t run, struct tk_error *err)
{
	int status = run_job(job, out, run, err);
	tk_worker_end_process(job->worker, 0.5);
	return status;
}

/* ---- stored reports ---- */

char *tk_kernel_report_dump(const json_t *o)
{
	return o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12)) : tk_strdup("");
}

/* A build of an upstream lies in <cache>/artifacts/KEY/. Any other file is an installed backend. */
static int load_reported(
        const struct tk_kernel_report_place *p, struct tk_artifact **out, struct tk_error *err)
{
	char key[TK_HASH_HEX_SIZE];
	AUTO_TEXT folder = tk_path_join(p->config->cache_dir, "artifacts/");
	size_t length = strlen(folder);
	if (strncmp(p->backend_path, folder, length) != 0 ||
	        strlen(p->backend_path + length) < sizeof key)
		return tk_artifact_load_installed(p->backend_path, p->backend, out, err);
	memcpy(key, p->backend_path + length, sizeof key - 1);
	key[sizeof key - 1] = '\0';
	return tk_artifact_load(p->config->cache_dir, key, out, err);
}

static int put_report(struct tk_night *n, const struct tk_kernel_report_place *p,
        const struct tk_artifact *a, struct tk_kernel_report_row *row, struct tk_error *err)
{
	struct tk_night_device device = {
	        .layer = tk_modules_find_device(p->modules, p->device_kind),
	        .index = p->device_index,
	        .info = p->device_info};
	int64_t id;
	if (!device.layer)
		return tk_fail(err, TK_ENOTFOUND, "no device layer for %s", p->device_kind);
	tk_night_device_set_slug(&device, p->device_count > 1);
	TRY(tk_night_put_machine(n, err));
	TRY(tk_night_put_device(n, &device, err));
	TRY(tk_plan_put_problem(n, p->problem, "", "", &row->problem_id, err));
	row->device_id = device.device_id;
	row->environment_id = device.environment_id;
	row->upstream = a->upstream;
	row->revision = a->revision;
	row->artifact_key = a->key;
	row->backend = p->backend;
	return tk_store_put(n->store, TK_TABLE_kernel_report, row, &id, err);
}

int tk_kernel_report_store(struct tk_store *store, const struct tk_kernel_report_place *place,
        const struct tk_kernel_report_row *report, struct tk_error *err)
{
	struct tk_night n = {.config = place->config, .store = store};
	struct tk_kernel_report_row row = *report;
	AUTO_PTR(tk_artifact) artifact = NULL;
	TRY(load_reported(place, &artifact, err));
	TRY(tk_store_begin(store, err));
	int status = put_report(&n, place, artifact, &row, err);
	if (!status)
		return tk_store_commit(store, err);
	tk_store_rollback(store);
	return status;
}
