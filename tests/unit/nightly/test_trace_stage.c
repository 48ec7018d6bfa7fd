/* Stage "trace" of a night: which regressions are compared inside their kernels, in which order,
 * and what is stored. History, cache and files of records are real; processes are not. */
#include "../trace/ring_file.h"
#include "cached_build.h"
#include "core/diff_row.h"
#include "nightly/night.h"
#include "nightly/trace/trace_job.h"
#include "store/kernel_report.h"
#include "worker/worker.h"

#include <fcntl.h>

#define ROWS_MAX 8
#define WORKERS_MAX 32

struct worker {
	int fd;
	bool is_freed;
};

static struct {
	struct tk_diff_row rows[ROWS_MAX];
	size_t row_count;
	struct worker workers[WORKERS_MAX];
	size_t worker_count, ended, stopped, detections;
	char order[400]; /* the key's digit of each measured build */
	size_t measured;
	struct tk_job_request last;
	double run_s;
	int64_t now_ns;
	enum tk_outcome outcome; /* of the build with this digit; 0: of none */
	int status;
	char fails;
	bool writes_nothing;
	int detect_status;
} world;

int __wrap_tk_detect_preview(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, struct tk_diff_report *report,
        struct tk_error *err);
int __wrap_tk_night_detect(struct tk_night *n, struct tk_error *err);
int __wrap_tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err);
int __wrap_tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err);
void __wrap_tk_worker_end_process(struct tk_worker *w);
void __wrap_tk_worker_free(struct tk_worker *w);
void __wrap_tk_night_device_stop_workers(struct tk_night_device *d);
int64_t __wrap_tk_clock_monotonic_ns(void);

int __wrap_tk_detect_preview(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, struct tk_diff_report *report,
        struct tk_error *err)
{
	*report = (struct tk_diff_report){.count = world.row_count};
	report->rows = calloc(world.row_count + 1, sizeof *report->rows);
	assert_non_null(report->rows);
	memcpy(report->rows, world.rows, world.row_count * sizeof *report->rows);
	return 0;
}

int __wrap_tk_night_detect(struct tk_night *n, struct tk_error *err)
{
	world.detections++;
	return world.detect_status ? tk_fail(err, world.detect_status, "no verdicts") : 0;
}

int __wrap_tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err)
{
	assert_true(world.worker_count < WORKERS_MAX);
	struct worker *w = &world.workers[world.worker_count++];
	*w = (struct worker){.fd = ab->trace_fd};
	*out = (struct tk_worker *)(void *)w;
	return 0;
}

/* The digit of the key in ".../artifacts/aaaa.../lib/trace/...". */
static char digit_of(const char *path)
{
	const char *key = strstr(path, "/artifacts/");

	assert_non_null(key);
	assert_non_null(strstr(path, "/lib/trace/"));
	return key[strlen("/artifacts/")];
}

/* Builds with a later digit take 100 ns more of softmax. */
int __wrap_tk_worker_measure(struct tk_worker *worker, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err)
{
	const struct worker *w = (const struct worker *)(const void *)worker;
	const char digit = request->trace_launches ? digit_of(request->backend_path) : 'a';
	const struct file f = typical_file(100 * (uint32_t)(digit - 'a'));
	const bool fails = digit == world.fails;

	assert_false(w->is_freed);
	world.last = *request;
	assert_true(world.measured + 1 < sizeof world.order);
	world.order[world.measured++] = digit;
	world.now_ns += (int64_t)(world.run_s * 1e9);
	if (fails && world.status)
		return tk_fail(err, world.status, "no process");
	*out = (struct tk_job_result){.outcome = fails ? world.outcome : TK_OUTCOME_OK};
	if (tk_outcome_has_timing(out->outcome))
		out->result = json_pack("{s:f}", "median", 350.0);
	strcpy(out->message, "as the test says");
	if (w->fd && !(fails && world.writes_nothing))
		assert_int_equal(pwrite(w->fd, &f, sizeof f, 0), (ssize_t)sizeof f);
	return 0;
}

void __wrap_tk_worker_end_process(struct tk_worker *w)
{
	world.ended++;
}

void __wrap_tk_worker_free(struct tk_worker *w)
{
	if (w)
		((struct worker *)(void *)w)->is_freed = true;
}

void __wrap_tk_night_device_stop_workers(struct tk_night_device *d)
{
	world.stopped++;
}

int64_t __wrap_tk_clock_monotonic_ns(void)
{
	return world.now_ns;
}

/* ---- a night with builds that record ---- */

static char cpu_name[] = "cpu";

struct rig {
	struct history h;
	char cache[80];
	struct tk_config config;
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_module layer;
	struct tk_night_device device;
	struct tk_night night;
	int64_t builds[3]; /* a, b and c */
};

/* The build that records lies beside the other one. */
static void put_traced(const struct history *h, char digit, const char *backend)
{
	char dir[300], folder[320], file[400];

	format_artifact_dir(h, digit, dir, sizeof dir);
	snprintf(folder, sizeof folder, "%s/lib/trace", dir);
	snprintf(file, sizeof file, "%s/tk_backend_%s.so", folder, backend);
	MUST(tk_dir_create(folder, &err));
	MUST(tk_file_write(file, "code", 4, &err));
}

static int stage_set_up(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	memset(&world, 0, sizeof world);
	world.now_ns = 1;
	history_new(&r->h);
	history_fill(&r->h);
	snprintf(r->cache, sizeof r->cache, "%s/cache", r->h.dir);
	r->config = (struct tk_config){.cache_dir = r->cache, .root = r->h.dir};
	r->config.budgets.trace_s = 1000;
	r->config.budgets.measure_s = 2;
	r->layer.name = cpu_name;
	r->device = (struct tk_night_device){
	        .layer = &r->layer, .device_id = r->h.device, .environment_id = r->h.environment};
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .night_id = r->h.night,
	        .started_mono_ns = 1,
	        .devices = &r->device,
	        .device_count = 1};
	r->report.by_status[TK_VERDICT_REGRESSED] = 1;
	for (int i = 0; i < 3; i++) {
		r->builds[i] = put_cached_build(&r->h, (char)('a' + i), "blas");
		put_traced(&r->h, (char)('a' + i), "blas");
	}
	*state = r;
	return 0;
}

static int stage_tear_down(void **state)
{
	struct rig *r = *state;

	for (size_t i = 0; i < world.worker_count; i++)
		assert_true(world.workers[i].is_freed);
	history_free(&r->h);
	free(r);
	return 0;
}

/* A regression of a mode's series from build `good` to build `bad`; most severe first. */
static struct tk_diff_row *add_row(struct rig *r, const char *mode, int good, int bad)
{
	struct tk_diff_row *row = &world.rows[world.row_count++];

	*row = (struct tk_diff_row){.series_id = history_put_series(&r->h, "blas", mode, "time"),
	        .upstream = "blas",
	        .backend = "blas",
	        .device = "cpu",
	        .metric = "time"};
	snprintf(row->series, sizeof row->series, "series of %s", mode);
	snprintf(row->good_rev, sizeof row->good_rev, "r%c", 'a' + good);
	snprintf(row->bad_rev, sizeof row->bad_rev, "r%c", 'a' + bad);
	tk_verdict_init(&row->verdict);
	row->verdict.status = TK_VERDICT_REGRESSED;
	row->verdict.good_build_id = r->builds[good];
	row->verdict.bad_build_id = r->builds[bad];
	return row;
}

static void begin_stage(void)
{
	memset(world.order, 0, sizeof world.order);
	world.measured = world.detections = world.stopped = world.ended = 0;
}

static void trace_night(struct rig *r)
{
	begin_stage();
	MUST(tk_night_trace(&r->night, &err));
}

#define REPORTS(r) history_count(&(r)->h, "kernel_report")

/* ---- one comparison ---- */

/* Six runs of each build, by turns; the next one begins with the other. */
static void a_regression_is_compared_and_stored(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	add_row(r, "cold", 0, 1);
	trace_night(r);
	assert_string_equal(world.order, "abbaabbaabba");
	assert_int_equal(world.ended, 12); /* the memory of the next process lies elsewhere */
	assert_int_equal(world.worker_count, 2);
	assert_int_equal(world.stopped, 1);
	assert_int_equal(world.last.trace_launches, TK_TRACE_LAUNCHES);
	assert_float_equal(world.last.measure_s, TK_TRACE_COMPARISON_S, 1e-9);
	assert_ptr_equal(world.last.limits, &r->device.limits);
	assert_int_equal(world.detections, 1); /* the verdicts then say it */
	MUST(tk_store_list_kernel_reports(r->h.store, &rows, &err));
	assert_int_equal(rows.count, 1);
	const struct tk_kernel_report_row *row = TK_ROWS_AT(&rows, struct tk_kernel_report_row, 0);
	assert_int_equal(row->kind, TK_KERNEL_REPORT_TRACE);
	assert_string_equal(row->base, "ra");
	assert_string_equal(row->revision, "rb");
	assert_string_equal(row->backend, "blas");
	assert_string_equal(row->mode, "cold");
	assert_int_equal(row->device_id, r->h.device);
	assert_int_equal(row->environment_id, r->h.environment);
	json_t *result = json_loads(row->result, 0, NULL);
	const json_t *kernel = json_array_get(json_object_get(result, "kernels"), 0);
	assert_string_equal(
	        json_string_value(json_object_get(result, "schema")), "tracker-trace/1");
	assert_string_equal(json_string_value(json_object_get(kernel, "cause")), "softmax");
	assert_int_equal(json_integer_value(json_object_get(result, "runs")), 6);
	json_decref(result);
	tk_rows_free(&rows);
}

/* A night that is resumed, or the next one, finds it. */
static void what_was_compared_is_not_compared_again(void **state)
{
	struct rig *r = *state;

	add_row(r, "cold", 0, 1);
	trace_night(r);
	trace_night(r);
	assert_int_equal(world.measured, 0);
	assert_int_equal(world.detections, 0);
	assert_int_equal(REPORTS(r), 1);
	strcpy(world.rows[0].bad_rev, "rc"); /* another revision is another comparison */
	world.rows[0].verdict.bad_build_id = r->builds[2];
	trace_night(r);
	assert_int_equal(world.measured, 12);
	assert_int_equal(REPORTS(r), 2);
}

/* ---- which ones ---- */

static void some_nights_trace_nothing(void **state)
{
	struct rig *r = *state;

	add_row(r, "cold", 0, 1);
	r->config.budgets.trace_s = 0;
	trace_night(r);
	r->config.budgets.trace_s = 10;
	r->options.backfill_revision = "ra";
	trace_night(r);
	r->options.backfill_revision = NULL;
	r->report.by_status[TK_VERDICT_REGRESSED] = 0;
	trace_night(r);
	assert_int_equal(world.measured, 0);
	assert_int_equal(world.stopped, 0);
}

static void regressions_of_times_alone_are_compared(void **state)
{
	struct rig *r = *state;
	struct tk_diff_row *row = add_row(r, "cold", 0, 1), whole = *row;

	for (int s = 0; s < TK_VERDICT_STATUS_COUNT; s++)
		if (s != TK_VERDICT_REGRESSED) {
			row->verdict.status = (enum tk_verdict_status)s;
			trace_night(r);
			assert_int_equal(world.measured, 0);
		}
	*row = whole;
	strcpy(row->metric, "energy");
	trace_night(r);
	*row = whole;
	row->good_rev[0] = 0;
	trace_night(r);
	*row = whole;
	row->bad_rev[0] = 0;
	trace_night(r);
	*row = whole;
	row->verdict.bad_build_id = row->verdict.good_build_id;
	trace_night(r);
	*row = whole;
	row->series_id = 4711;
	trace_night(r);
	assert_int_equal(REPORTS(r), 0);
	*row = whole;
	trace_night(r);
	assert_int_equal(REPORTS(r), 1);
}

/* Without an error: most backends do not record. */
static void builds_that_do_not_record_are_left_out(void **state)
{
	struct rig *r = *state;
	char dir[300], traced[320];

	add_row(r, "cold", 0, 2);
	add_row(r, "hot", 0, 1);
	format_artifact_dir(&r->h, 'c', dir, sizeof dir);
	snprintf(traced, sizeof traced, "%s/lib/trace", dir);
	MUST(tk_dir_remove(traced, &err));
	trace_night(r);
	assert_string_equal(world.order, "abbaabbaabba");
	remove_cached_artifact(&r->h, 'c');
	trace_night(r);
	assert_int_equal(world.measured, 0);
	r->device.lost = true;
	world.row_count = 0;
	add_row(r, "paced", 0, 1);
	trace_night(r);
	assert_int_equal(world.measured, 0);
}

/* The worst of each backend before the second one of any. */
static void each_backend_has_its_turn(void **state)
{
	struct rig *r = *state;

	add_row(r, "cold", 0, 1);
	add_row(r, "hot", 0, 1);
	add_row(r, "paced", 0, 2); /* of another revision */
	trace_night(r);
	assert_int_equal(world.measured, 36);
	assert_memory_equal(world.order + 12, "acca", 4);
	assert_memory_equal(world.order + 24, "abba", 4);
	assert_int_equal(world.detections, 1);
}

/* ---- time ---- */

/* A comparison that the budget ends is none; the next night begins it anew. */
static void the_budget_ends_the_stage(void **state)
{
	struct rig *r = *state;

	world.run_s = 1;
	r->config.budgets.trace_s = 11;
	add_row(r, "cold", 0, 1);
	add_row(r, "hot", 0, 1);
	trace_night(r);
	assert_int_equal(world.measured, 12); /* the last run began in time */
	assert_int_equal(REPORTS(r), 1);
	r->config.budgets.trace_s = 10;
	world.now_ns = 1;
	trace_night(r);
	assert_int_equal(world.measured, 11);
	assert_int_equal(REPORTS(r), 1);
	assert_int_equal(world.detections, 0);
	world.now_ns = 1;
	r->config.budgets.night_s = 5; /* less than that is left of the night */
	trace_night(r);
	assert_int_equal(world.measured, 6);
}

/* ---- failures ---- */

static void a_comparison_that_fails_costs_itself(void **state)
{
	static const enum tk_outcome outcomes[] = {TK_OUTCOME_CRASHED, TK_OUTCOME_TIMEOUT,
	        TK_OUTCOME_WRONG, TK_OUTCOME_UNSUPPORTED, TK_OUTCOME_OUT_OF_MEMORY};
	struct rig *r = *state;

	add_row(r, "cold", 0, 2);
	add_row(r, "hot", 0, 1);
	world.fails = 'c';
	for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
		history_run_sql(&r->h, "DELETE FROM kernel_report");
		world.outcome = outcomes[i];
		trace_night(r);
		assert_string_equal(world.order, "acabbaabbaabba");
		assert_int_equal(REPORTS(r), 1);
	}
	history_run_sql(&r->h, "DELETE FROM kernel_report");
	world.outcome = TK_OUTCOME_OK; /* it runs, and leaves no trace */
	world.writes_nothing = true;
	trace_night(r);
	assert_string_equal(world.order, "acabbaabbaabba");
	assert_int_equal(REPORTS(r), 1);
}

/* What ends a night ends the stage; other errors cost their comparison. */
static void errors_of_a_process(void **state)
{
	static const int statuses[] = {TK_ECANCELED, TK_ENOSPC, TK_ENOMEM, TK_EIO, TK_EDATA};
	struct rig *r = *state;

	add_row(r, "cold", 0, 1);
	world.fails = 'b';
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		struct tk_error failure = {0};
		world.status = statuses[i];
		begin_stage();
		assert_int_equal(tk_night_trace(&r->night, &failure), i < 3 ? statuses[i] : TK_OK);
		if (i < 3)
			assert_string_equal(failure.message, "no process");
		assert_int_equal(REPORTS(r), 0);
	}
}

static void verdicts_that_cannot_be_written_are_named(void **state)
{
	struct rig *r = *state;

	add_row(r, "cold", 0, 1);
	world.detect_status = TK_EIO;
	MUST_FAIL(TK_EIO, "the comparisons are stored", tk_night_trace(&r->night, &err));
	assert_int_equal(REPORTS(r), 1);
}

/* ---- one process ---- */

static int observed;

static int observe(void *arg, const struct tk_trace *t, struct tk_error *err)
{
	assert_ptr_equal(arg, &observed);
	observed++;
	return t->launch_count == 1 ? TK_OK : tk_fail(err, TK_EDATA, "launches");
}

/* Without a file of records there is a timing alone; the failure of a kernel is told from one that
 * does not do the problem. */
static void a_job_leaves_its_timing_and_its_trace(void **state)
{
	struct worker w = {0};
	struct tk_trace_runs runs = {0};
	const struct tk_job_request q = {.backend_path = "x"};
	struct tk_trace_job job = {.worker = (struct tk_worker *)(void *)&w,
	        .request = &q,
	        .observe = observe,
	        .arg = &observed};

	observed = 0;
	MUST(tk_trace_job_run(&job, &runs, 2, &err));
	assert_float_equal(runs.median_ns[2], 350, 1e-9);
	assert_true(isnan(runs.clock_mhz[2]));
	assert_int_equal(runs.kernel_count, 0);
	assert_int_equal(observed, 0);
	MUST(tk_trace_file_open(&job.fd, &err));
	w.fd = job.fd;
	MUST(tk_trace_job_run(&job, &runs, 0, &err));
	assert_int_equal(runs.kernel_count, 1);
	assert_int_equal(observed, 1);
	world.fails = 'a';
	world.writes_nothing = true; /* nothing of the run before is left in the file */
	MUST_FAIL(TK_EDATA, "the worker has written none", tk_trace_job_run(&job, &runs, 1, &err));
	assert_int_equal(world.ended, 3);
	for (int o = 0; o < TK_OUTCOME_COUNT; o++) {
		struct tk_error failure = {0};
		world.outcome = (enum tk_outcome)o;
		world.writes_nothing = false;
		job.failed = false;
		const int status = tk_trace_job_run(&job, &runs, 1, &failure);
		const bool is_timed = tk_outcome_has_timing(world.outcome);
		assert_int_equal(status, is_timed ? TK_OK : TK_EDATA);
		assert_int_equal(job.failed, !is_timed && o != TK_OUTCOME_UNSUPPORTED);
	}
	/* a worker can fill the file, and not make it longer */
	assert_int_equal(ftruncate(job.fd, 10), -1);
	assert_true(fcntl(job.fd, F_GET_SEALS) & F_SEAL_GROW);
	close(job.fd);
	tk_trace_runs_free(&runs);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, stage_set_up, stage_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_regression_is_compared_and_stored),
	        TEST(what_was_compared_is_not_compared_again),
	        TEST(some_nights_trace_nothing),
	        TEST(regressions_of_times_alone_are_compared),
	        TEST(builds_that_do_not_record_are_left_out),
	        TEST(each_backend_has_its_turn),
	        TEST(the_budget_ends_the_stage),
	        TEST(a_comparison_that_fails_costs_itself),
	        TEST(errors_of_a_process),
	        TEST(verdicts_that_cannot_be_written_are_named),
	        TEST(a_job_leaves_its_timing_and_its_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
