/* The stage "measure" with workers that answer by a script: which jobs start where and in which
 * order, what is stored of each answer, and when the stage ends. The history is a real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../quoted_json.h"
#include "../store/history.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "core/tune.h"
#include "nightly/night.h"
#include "store/tuning.h"
#include "worker/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 3 /* two cards of one model, and the CPU */
#define JOBS_MAX 12
#define ABSENT DEVICES /* a device that this night does not have */

static const char timing[] = "{'outcome':'ok','message':'','median':100,'lo':99,'hi':101,'min':95,"
                             "'q25':97,'q75':103,'p95':110,'n':4,'samples':[95,97,103,110],"
                             "'stop':'tight','verify':{'done':true,'passed':true}}";
static const char slower[] = "{'outcome':'ok','message':'','median':300,'lo':299,'hi':301,"
                             "'min':295,'q25':297,'q75':303,'p95':310,'n':4,"
                             "'samples':[295,297,303,310],'stop':'tight',"
                             "'verify':{'done':true,'passed':true}}";

/* What a worker answers to one job. */
struct answer {
	const char
	        *problem; /* to the first job of this problem that has no answer yet; NULL: none */
	enum tk_outcome outcome;
	const char *message, *json;
	int polls; /* without an answer, before it */
	bool is_given;
};

struct fake {
	struct answer *answer; /* to the running job; NULL: idle */
	int polls_left;
	bool is_freed;
};

static struct {
	struct fake workers[DEVICES], recheck;
	struct answer answers[16];
	struct tk_buf log; /* "0:p1 " for each job that starts: device and problem */
	struct tk_job_request last;
	char config[32]; /* of the last request */
	int stop_after;  /* started jobs, then a stop is requested; 0: never */
	int started;
	int fail_start, fail_poll, fail_new_worker; /* statuses; 0: none */
	int running, most_running;
} fakes;

static int device_of(const struct tk_worker *w)
{
	const struct fake *f = (const struct fake *)(const void *)w;

	return f == &fakes.recheck ? 9 : (int)(f - fakes.workers);
}

static struct answer *find_answer(const char *problem)
{
	static struct answer ok = {.outcome = TK_OUTCOME_OK, .message = "", .json = timing};

	for (size_t i = 0; i < sizeof fakes.answers / sizeof *fakes.answers; i++) {
		struct answer *a = &fakes.answers[i];
		if (!a->problem || a->is_given || strcmp(a->problem, problem))
			continue;
		a->is_given = true;
		return a;
	}
	return &ok;
}

/* ---- in place of the worker processes ---- */

int __wrap_tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err);
int __wrap_tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_worker **out, struct tk_error *err);
int __wrap_tk_night_prestart_worker(struct tk_night *n, struct tk_night_device *d,
        const char *backend, const char *options, struct tk_error *err);
int __wrap_tk_night_device_await_workers(struct tk_night_device *d, struct tk_error *err);
int __wrap_tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err);
int __wrap_tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err);
int __wrap_tk_worker_fd(const struct tk_worker *w);
void __wrap_tk_worker_free(struct tk_worker *w);
bool __wrap_tk_cancel_is_requested(void);

int __wrap_tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err)
{
	assert_true(*backend);
	*out = (struct tk_worker *)(void *)&fakes.workers[d - n->devices];
	return 0;
}

int __wrap_tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_worker **out, struct tk_error *err)
{
	if (fakes.fail_new_worker)
		return tk_fail(err, fakes.fail_new_worker, "no new process");
	fakes.recheck = (struct fake){0};
	*out = (struct tk_worker *)(void *)&fakes.recheck;
	return 0;
}

int __wrap_tk_night_prestart_worker(struct tk_night *n, struct tk_night_device *d,
        const char *backend, const char *options, struct tk_error *err)
{
	tk_buf_add_printf(&fakes.log, "prestart %d %s;", (int)(d - n->devices), backend);
	return 0;
}

int __wrap_tk_night_device_await_workers(struct tk_night_device *d, struct tk_error *err)
{
	tk_buf_add_str(&fakes.log, "await;");
	return 0;
}

int __wrap_tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err)
{
	struct fake *f = (struct fake *)(void *)w;

	assert_null(f->answer); /* one job at a time */
	if (fakes.fail_start)
		return tk_fail(err, fakes.fail_start, "cannot start");
	fakes.last = *request;
	snprintf(fakes.config, sizeof fakes.config, "%s",
	        request->config ? request->config : "(none)");
	tk_buf_add_printf(&fakes.log, "%d:%s ", device_of(w), request->problem);
	f->answer = find_answer(request->problem);
	f->polls_left = f->answer->polls;
	fakes.started++;
	fakes.running++;
	if (fakes.running > fakes.most_running)
		fakes.most_running = fakes.running;
	return 0;
}

int __wrap_tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	struct fake *f = (struct fake *)(void *)w;
	const struct answer *a = f->answer;

	assert_non_null(a);
	if (fakes.fail_poll)
		return tk_fail(err, fakes.fail_poll, "cannot poll");
	*done = f->polls_left-- <= 0;
	if (!*done)
		return 0;
	out->outcome = a->outcome;
	out->wall_s = 1;
	snprintf(out->message, sizeof out->message, "%s", a->message);
	out->result = a->json ? read_quoted(a->json) : NULL;
	f->answer = NULL;
	fakes.running--;
	return 0;
}

int __wrap_tk_worker_fd(const struct tk_worker *w)
{
	return -1;
}

void __wrap_tk_worker_free(struct tk_worker *w)
{
	if (w)
		((struct fake *)(void *)w)->is_freed = true;
}

bool __wrap_tk_cancel_is_requested(void)
{
	return fakes.stop_after && fakes.started >= fakes.stop_after;
}

/* ---- a night with its jobs ---- */

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_night night;
	struct tk_night_device devices[DEVICES];
	int64_t device_ids[DEVICES + 1], problems[JOBS_MAX];
	struct tk_job_row jobs[JOBS_MAX];
	size_t job_count;
	int64_t failed_build;
};

static char cuda_name[] = "cuda", cpu_name[] = "cpu";
static const struct tk_module cuda = {.name = cuda_name}, cpu = {.name = cpu_name};

static void put_devices(struct rig *r)
{
	static const char *const slugs[] = {"cuda-0", "cuda-1", "cpu-0", "gone"};

	for (int d = 0; d <= DEVICES; d++) {
		const struct tk_device_row row = {.machine_id = r->h.machine,
		        .kind = d == 2 ? "cpu" : "cuda",
		        .name = slugs[d],
		        .arch = "x",
		        .slug = slugs[d]};
		MUST(tk_store_put_device(r->h.store, &row, &r->device_ids[d], &err));
		if (d == ABSENT)
			break;
		const struct tk_environment_row e = {
		        .device_id = r->device_ids[d], .attributes = "{}"};
		r->devices[d] = (struct tk_night_device){.layer = d == 2 ? &cpu : &cuda,
		        .info = json_pack(
		                "{s:s, s:s}", "name", d == 2 ? "processor" : "card", "arch", "x"),
		        .device_id = r->device_ids[d],
		        .has_limits = true};
		snprintf(r->devices[d].slug, sizeof r->devices[d].slug, "%s", slugs[d]);
		MUST(tk_store_put_environment(r->h.store, &e, &r->devices[d].environment_id, &err));
	}
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	tk_buf_free(&fakes.log);
	memset(&fakes, 0, sizeof fakes);
	history_new(&r->h);
	history_fill(&r->h);
	put_devices(r);
	const struct tk_build_row failed = {.revision_id = r->h.revision,
	        .artifact_key = "bad",
	        .adapter = "",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .status = TK_BUILD_FAILED,
	        .message = "no compiler",
	        .log = ""};
	MUST(tk_store_put_build(r->h.store, &failed, &r->failed_build, &err));
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .night_id = r->h.night,
	        .as_of_s = 1000,
	        .started_mono_ns = tk_clock_monotonic_ns(),
	        .devices = r->devices,
	        .device_count = DEVICES};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	for (int d = 0; d < DEVICES; d++)
		json_decref(r->devices[d].info);
	history_free(&r->h);
	tk_buf_free(&fakes.log);
	free(r);
	return 0;
}

/* The problem with this number, "p0" to "p11". */
static int64_t problem_id(struct rig *r, int number)
{
	static const char *const texts[JOBS_MAX] = {
	        "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11"};
	const struct tk_problem_row row = {.text = texts[number],
	        .op = "gemm",
	        .dtype = "f32",
	        .title = texts[number],
	        .source = "",
	        .family = ""};

	if (!r->problems[number])
		MUST(tk_store_put_problem(r->h.store, &row, &r->problems[number], &err));
	return r->problems[number];
}

static int64_t put_series(struct rig *r, int device, int problem, const char *config)
{
	const struct tk_series_row row = {.device_id = r->device_ids[device],
	        .upstream_id = r->h.upstream,
	        .problem_id = problem_id(r, problem),
	        .backend = "blas",
	        .config = config,
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	int64_t id;

	MUST(tk_store_put_series(r->h.store, &row, &id, &err));
	return id;
}

static struct tk_job_row *add_job_of(struct rig *r, int64_t series)
{
	struct tk_job_row *job = &r->jobs[r->job_count++];

	*job = (struct tk_job_row){.night_id = r->h.night,
	        .seq = (int64_t)r->job_count,
	        .series_id = series,
	        .build_id = r->h.build,
	        .backend_path = "/b.so",
	        .options = ""};
	return job;
}

static struct tk_job_row *add_job(struct rig *r, int device, int problem)
{
	return add_job_of(r, put_series(r, device, problem, ""));
}

static void answer(const char *problem, enum tk_outcome outcome, const char *message)
{
	size_t i = 0;

	while (fakes.answers[i].problem)
		i++;
	fakes.answers[i] = (struct answer){.problem = problem,
	        .outcome = outcome,
	        .message = message,
	        .json = tk_outcome_has_timing(outcome) ? timing : NULL};
}

static int run(struct rig *r, struct tk_error *failure)
{
	if (r->job_count)
		MUST(tk_store_put_jobs(r->h.store, r->jobs, r->job_count, &err));
	tk_buf_clear(&fakes.log);
	return tk_night_measure(&r->night, failure);
}

static void must_run(struct rig *r)
{
	struct tk_error failure = {0};

	if (run(r, &failure))
		fail_msg("%s", failure.message);
}

/* What started after the workers were ready. */
static const char *started(void)
{
	const char *text = tk_buf_cstr(&fakes.log), *at = text;

	for (const char *next = at; (next = strstr(next, ";"));)
		at = ++next;
	return at;
}

/* The runs of the night in the order of the jobs: "SEQ outcome device: message\n". */
static void expect_runs(struct rig *r, const char *expected)
{
	struct tk_rows runs = {0}, series = {0};
	struct tk_buf text = TK_BUF_INIT;

	MUST(tk_store_list_night_runs(r->h.store, r->h.night, &runs, &err));
	MUST(tk_store_list_series(r->h.store, &series, &err));
	for (int64_t seq = 0; seq <= JOBS_MAX; seq++)
		for (size_t i = 0; i < runs.count; i++) {
			const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
			int device = 0;
			if (run->seq != seq)
				continue;
			for (size_t k = 0; k < series.count; k++) {
				const struct tk_series_row *s =
				        TK_ROWS_AT(&series, struct tk_series_row, k);
				while (s->id == run->series_id &&
				        r->device_ids[device] != s->device_id)
					device++;
			}
			tk_buf_add_printf(&text, "%d %s %d%s%s\n", (int)seq,
			        tk_outcome_name(run->outcome), device, *run->message ? ": " : "",
			        run->message);
		}
	assert_string_equal(tk_buf_cstr(&text), expected);
	tk_buf_free(&text);
	tk_rows_free(&runs);
	tk_rows_free(&series);
}

/* ---- order ---- */

static void a_night_without_jobs_ends(void **state)
{
	struct rig *r = *state;

	must_run(r);
	assert_string_equal(started(), "");
	assert_int_equal(r->report.jobs, 0);
}

static void jobs_of_a_device_run_one_after_the_other(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < 3; i++)
		add_job(r, 0, i);
	fakes.answers[0] = (struct answer){.problem = "p1",
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .json = timing,
	        .polls = 2};
	must_run(r);
	assert_string_equal(started(), "0:p0 0:p1 0:p2 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 0\n");
	assert_int_equal(fakes.most_running, 1);
	assert_int_equal(r->report.jobs, 3);
	assert_int_equal(r->report.measured, 3);
	assert_int_equal(r->report.verified, 3);
}

static void devices_run_at_the_same_time(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 1, 2);
	must_run(r);
	assert_string_equal(started(), "0:p0 1:p2 0:p1 ");
	assert_int_equal(fakes.most_running, 2);
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 1\n");
}

/* Nothing else runs while the CPU measures. */
static void the_cpu_is_measured_alone(void **state)
{
	struct rig *r = *state;

	add_job(r, 2, 0);
	add_job(r, 0, 1);
	add_job(r, 2, 2);
	must_run(r);
	assert_string_equal(started(), "0:p1 2:p0 2:p2 ");
	assert_int_equal(fakes.most_running, 1);
}

static void workers_start_before_the_first_job(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0)->backend_path = "/first.so";
	add_job(r, 1, 1)->backend_path = "/second.so";
	add_job(r, ABSENT, 2);
	struct tk_job_row *failed = add_job(r, 0, 3);
	failed->build_id = r->failed_build;
	failed->backend_path = "";
	must_run(r);
	assert_string_equal(tk_buf_cstr(&fakes.log),
	        "prestart 0 /first.so;prestart 1 /second.so;await;await;await;0:p0 1:p1 ");
}

/* ---- outcomes ---- */

static void a_failed_job_is_stored_and_the_next_one_runs(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 0, 2);
	answer("p0", TK_OUTCOME_CRASHED, "signal 11");
	answer("p1", TK_OUTCOME_UNSUPPORTED, "f8");
	must_run(r);
	expect_runs(r, "1 crashed 0: signal 11\n2 unsupported 0: f8\n3 ok 0\n");
	assert_int_equal(r->report.jobs, 3);
	assert_int_equal(r->report.failed, 1);
	assert_int_equal(r->report.unsupported, 1);
	assert_int_equal(r->report.measured, 1);
}

static void a_failed_build_has_nothing_to_run(void **state)
{
	struct rig *r = *state;
	struct tk_job_row *job = add_job(r, 0, 0);

	job->build_id = r->failed_build;
	job->backend_path = "";
	add_job(r, 0, 1);
	must_run(r);
	assert_string_equal(started(), "0:p1 ");
	expect_runs(r, "1 build_failed 0: no compiler\n2 ok 0\n");
}

static void jobs_after_the_budget_are_skipped(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	r->config.budgets.night_s = 10;
	r->night.started_mono_ns -= INT64_C(11000000000);
	must_run(r);
	assert_string_equal(started(), "");
	expect_runs(r, "1 skipped 0: the night's budget (budgets.night) was spent\n"
	               "2 skipped 0: the night's budget (budgets.night) was spent\n");
	assert_int_equal(r->report.skipped, 2);
}

static void a_budget_of_zero_is_none(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	r->night.started_mono_ns -= INT64_C(11000000000);
	must_run(r);
	expect_runs(r, "1 ok 0\n");
}

static void a_budget_that_is_left_is_used(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	r->config.budgets.night_s = 1000;
	r->night.started_mono_ns -= INT64_C(11000000000);
	must_run(r);
	expect_runs(r, "1 ok 0\n");
}

/* ---- devices ---- */

static void jobs_of_an_absent_device_fail(void **state)
{
	struct rig *r = *state;

	add_job(r, ABSENT, 0);
	struct tk_job_row *failed = add_job(r, ABSENT, 1);
	failed->build_id = r->failed_build;
	failed->backend_path = "";
	add_job(r, 0, 2);
	must_run(r);
	assert_string_equal(started(), "0:p2 ");
	expect_runs(r, "1 no_device 3: the device of this series is not present\n"
	               "2 build_failed 3: no compiler\n3 ok 0\n");
}

/* The other card of the model takes its jobs, as jobs of its own series. */
static void jobs_of_a_lost_device_move_to_its_twin(void **state)
{
	struct rig *r = *state;

	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 1, 2);
	answer("p0", TK_OUTCOME_NO_DEVICE, "fell off the bus");
	must_run(r);
	assert_string_equal(started(), "0:p0 1:p2 1:p0 1:p1 ");
	expect_runs(r, "1 ok 1\n2 ok 1\n3 ok 1\n");
	assert_true(r->devices[0].lost);
	assert_false(r->devices[1].lost);
}

/* The job that ran has the worker's answer, the others the fact alone. */
static void jobs_of_a_lost_device_without_a_twin_fail(void **state)
{
	struct rig *r = *state;

	r->night.device_count = 1;
	add_job(r, 0, 0);
	add_job(r, 0, 1);
	add_job(r, 0, 2);
	answer("p1", TK_OUTCOME_NO_DEVICE, "fell off the bus");
	must_run(r);
	assert_string_equal(started(), "0:p0 0:p1 ");
	expect_runs(r, "1 ok 0\n2 no_device 0: fell off the bus\n"
	               "3 no_device 0: the device was lost during this night\n");
}

/* A CPU is there as long as the night is. */
static void a_cpu_is_not_lost(void **state)
{
	struct rig *r = *state;

	add_job(r, 2, 0);
	add_job(r, 2, 1);
	answer("p0", TK_OUTCOME_NO_DEVICE, "no such core");
	must_run(r);
	expect_runs(r, "1 no_device 2: no such core\n2 ok 2\n");
	assert_false(r->devices[2].lost);
}

/* An idle card takes the last problem of the busy one; who has it is stored first. */
static void an_idle_device_steals_a_problem(void **state)
{
	struct rig *r = *state;
	struct tk_rows jobs = {0};

	r->options.split = true;
	for (int i = 0; i < 4; i++)
		add_job(r, 0, i);
	must_run(r);
	assert_string_equal(started(), "0:p0 1:p3 0:p1 1:p2 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 1\n4 ok 1\n");
	MUST(tk_store_list_jobs(r->h.store, r->h.night, false, &jobs, &err));
	assert_int_equal(jobs.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(TK_ROWS_AT(&jobs, struct tk_job_row, i)->device_id,
		        i < 2 ? 0 : r->device_ids[1]);
	tk_rows_free(&jobs);
}

static void nothing_is_stolen_without_split(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < 4; i++)
		add_job(r, 0, i);
	must_run(r);
	assert_string_equal(started(), "0:p0 0:p1 0:p2 0:p3 ");
}

/* ---- stopping and resuming ---- */

static void a_stop_ends_after_the_jobs_that_run(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	for (int i = 0; i < 4; i++)
		add_job(r, i % 2, i);
	fakes.stop_after = 2;
	assert_int_equal(run(r, &failure), TK_ECANCELED);
	assert_non_null(strstr(failure.message, "--resume"));
	assert_string_equal(started(), "0:p0 1:p1 ");
	expect_runs(r, "1 ok 0\n2 ok 1\n");
}

static void a_resumed_night_runs_what_is_left(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	for (int i = 0; i < 3; i++)
		add_job(r, 0, i);
	fakes.stop_after = 1;
	assert_int_equal(run(r, &failure), TK_ECANCELED);
	fakes.stop_after = 0;
	r->report = (struct tk_night_report){0};
	r->job_count = 0; /* they are stored */
	must_run(r);
	assert_string_equal(started(), "0:p1 0:p2 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n3 ok 0\n");
	assert_int_equal(r->report.jobs, 3); /* with that of the first part */
	assert_int_equal(r->report.measured, 3);
}

/* ---- progress ---- */

static void note_progress(void *arg, size_t done, size_t total, const char *current)
{
	tk_buf_add_printf(arg, "%zu/%zu %s;", done, total, strrchr(current, 'p'));
}

static void progress_counts_all_jobs_of_the_night(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};
	struct tk_buf shown = TK_BUF_INIT;
	const struct tk_night_observer observer = {.arg = &shown, .progress = note_progress};

	r->options.observer = &observer;
	for (int i = 0; i < 3; i++)
		add_job(r, 0, i);
	fakes.stop_after = 1;
	assert_int_equal(run(r, &failure), TK_ECANCELED);
	assert_string_equal(tk_buf_cstr(&shown), "0/3 p0.cold;");
	fakes.stop_after = 0;
	r->report = (struct tk_night_report){0};
	r->job_count = 0;
	must_run(r);
	assert_string_equal(tk_buf_cstr(&shown), "0/3 p0.cold;1/3 p1.cold;2/3 p2.cold;");
	tk_buf_free(&shown);
}

/* ---- tuned configurations ---- */

/* The series p0 with the configuration that `tracker tune` found, by a build with this key. */
static void add_tuned_job(struct rig *r, const char *artifact_key)
{
	const struct tk_tuning_row row = {.device_id = r->device_ids[0],
	        .environment_id = r->devices[0].environment_id,
	        .problem_id = problem_id(r, 0),
	        .upstream = "blas",
	        .revision = "abc",
	        .artifact_key = artifact_key,
	        .backend = "blas",
	        .options = "",
	        .mode = "cold",
	        .started_s = 900,
	        .verdict = TK_TUNE_VERDICT_FASTER,
	        .config = "fast",
	        .winner = "fast",
	        .default_ns = 200,
	        .winner_ns = 100,
	        .change = -0.5,
	        .change_lo = -0.51,
	        .change_hi = -0.49,
	        .pair_count = 12,
	        .evaluation_count = 6,
	        .candidates = "[]"};
	int64_t id;

	MUST(tk_store_put_tuning(r->h.store, &row, &id, &err));
	add_job_of(r, put_series(r, 0, 0, TK_TUNE_CONFIG));
}

static void a_tuned_series_is_measured_with_its_winner(void **state)
{
	struct rig *r = *state;

	add_tuned_job(r, "key");
	must_run(r);
	assert_string_equal(fakes.config, "fast");
	expect_runs(r, "1 ok 0\n");
}

static void a_tuned_series_without_a_result_is_measured_with_the_default(void **state)
{
	struct rig *r = *state;

	add_job_of(r, put_series(r, 0, 0, TK_TUNE_CONFIG));
	must_run(r);
	assert_string_equal(fakes.config, "(none)");
}

static void another_configuration_is_passed_on(void **state)
{
	struct rig *r = *state;

	add_job_of(r, put_series(r, 0, 0, "tile=64"));
	must_run(r);
	assert_string_equal(fakes.config, "tile=64");
}

/* A build newer than the winner may lack its configuration: the default is measured instead. */
static void a_newer_build_without_the_winner_is_measured_with_the_default(void **state)
{
	static const enum tk_outcome lacking[] = {TK_OUTCOME_FAILED, TK_OUTCOME_UNSUPPORTED};
	struct rig *r = *state;

	add_tuned_job(r, "an older one");
	for (size_t i = 0; i < 2; i++) {
		answer("p0", lacking[i], "no configuration \"fast\"");
		must_run(r);
		assert_string_equal(started(), "0:p0 0:p0 ");
		assert_string_equal(fakes.config, "(none)");
		expect_runs(r, "1 ok 0\n");
		history_run_sql(&r->h, "UPDATE job SET run_id = NULL");
		history_run_sql(&r->h, "DELETE FROM sample");
		history_run_sql(&r->h, "DELETE FROM measurement");
		history_run_sql(&r->h, "DELETE FROM run");
		r->job_count = 0;
	}
}

/* Of the winner's own build, or of another kind, the failure is what is stored. */
static void other_failures_of_a_winner_are_findings(void **state)
{
	static const struct {
		const char *key;
		enum tk_outcome outcome;
		const char *runs;
	} cases[] = {{"key", TK_OUTCOME_FAILED, "1 failed 0: why\n"},
	        {"an older one", TK_OUTCOME_WRONG, "1 wrong 0: why\n"},
	        {"an older one", TK_OUTCOME_CRASHED, "1 crashed 0: why\n"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		struct rig *r = *state;
		add_tuned_job(r, cases[i].key);
		answer("p0", cases[i].outcome, "why");
		must_run(r);
		assert_string_equal(started(), "0:p0 ");
		expect_runs(r, cases[i].runs);
	}
}

/* ---- rechecks ---- */

static void answer_with(const char *problem, const char *json)
{
	answer(problem, TK_OUTCOME_OK, "");
	for (size_t i = 0; i < sizeof fakes.answers / sizeof *fakes.answers; i++)
		if (fakes.answers[i].problem && !fakes.answers[i + 1].problem)
			fakes.answers[i].json = json;
}

static void a_recheck_that_agrees_leaves_the_result(void **state)
{
	struct rig *r = *state;

	r->config.measure.recheck = 1;
	add_job(r, 0, 0);
	add_job(r, 0, 1);
	must_run(r);
	assert_string_equal(started(), "0:p0 9:p0 0:p1 9:p1 ");
	expect_runs(r, "1 ok 0\n2 ok 0\n");
	assert_true(fakes.recheck.is_freed);
}

static void a_recheck_that_differs_makes_the_result_unstable(void **state)
{
	struct rig *r = *state;

	r->config.measure.recheck = 1;
	add_job(r, 0, 0);
	answer_with("p0", timing);
	answer_with("p0", slower);
	must_run(r);
	expect_runs(r, "1 unstable 0: a new process took 300.0\u00a0ns instead of 100.0\u00a0ns\n");
}

static void a_failure_is_not_rechecked(void **state)
{
	struct rig *r = *state;

	r->config.measure.recheck = 1;
	add_job(r, 0, 0);
	answer("p0", TK_OUTCOME_CRASHED, "");
	must_run(r);
	assert_string_equal(started(), "0:p0 ");
}

/* ---- errors ---- */

static void an_error_of_a_worker_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	add_job(r, 0, 0);
	fakes.fail_start = TK_EIO;
	assert_int_equal(run(r, &failure), TK_EIO);
	assert_string_equal(failure.message, "cannot start");
	r->job_count = 0;
	fakes.fail_start = 0;
	fakes.fail_poll = TK_EDATA;
	assert_int_equal(run(r, &failure), TK_EDATA);
	assert_string_equal(failure.message, "cannot poll");
	expect_runs(r, "");
}

/* A result that cannot be stored, be it the first or one that was measured again. */
static void a_result_that_cannot_be_stored_ends_the_stage(void **state)
{
	for (int with_recheck = 0; with_recheck < 2; with_recheck++) {
		if (with_recheck) {
			teardown(state);
			setup(state);
		}
		struct rig *r = *state;
		struct tk_error failure = {0};
		r->config.measure.recheck = with_recheck;
		add_job(r, 0, 0);
		MUST(tk_store_put_jobs(r->h.store, r->jobs, 1, &err));
		r->job_count = 0;
		history_reopen(&r->h, TK_STORE_READ);
		r->night.store = r->h.store;
		assert_int_not_equal(run(r, &failure), 0);
		assert_true(*failure.message);
		assert_int_equal(fakes.started, 1 + with_recheck);
	}
}

static void a_recheck_that_cannot_start_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	r->config.measure.recheck = 1;
	fakes.fail_new_worker = TK_EIO;
	add_job(r, 0, 0);
	assert_int_equal(run(r, &failure), TK_EIO);
	assert_string_equal(failure.message, "no new process");
	expect_runs(r, "");
}

static void a_job_of_a_missing_build_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	add_job(r, 0, 0);
	MUST(tk_store_put_jobs(r->h.store, r->jobs, 1, &err));
	r->job_count = 0;
	history_run_sql(&r->h, "PRAGMA foreign_keys = OFF; UPDATE job SET build_id = 4711");
	assert_int_equal(run(r, &failure), TK_EDATA);
	assert_non_null(strstr(failure.message, "job 1 of this night"));
}

/* ---- requests ---- */

static void a_request_is_as_configured(void **state)
{
	struct rig *r = *state;
	const struct tk_problem_row problem = {.text = "p0"};
	struct tk_series_row series = {
	        .device_id = r->device_ids[0], .config = "", .mode = "hot", .role = TK_ROLE_SUITE};
	struct tk_job_request q;

	r->config.budgets.measure_s = 2;
	r->config.budgets.job_s = 60;
	r->config.measure = (struct tk_measure_config){.relative_half_width = 0.01,
	        .confidence = 0.95,
	        .min_samples = 10,
	        .max_samples = 1000};
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "threads=1");
	assert_string_equal(q.backend_path, "/b.so");
	assert_string_equal(q.backend_options, "threads=1");
	assert_string_equal(q.problem, "p0");
	assert_string_equal(q.mode, "hot");
	assert_null(q.config);
	assert_int_equal(q.seed, 1);
	assert_true(q.verify);
	assert_true(q.deadline_s == 60 && q.measure_s == 2 && q.relative_half_width == 0.01 &&
	            q.confidence == 0.95);
	assert_int_equal(q.min_samples, 10);
	assert_int_equal(q.max_samples, 1000);
	/* the ceiling of a cache needs a tenth of a second */
	series.role = TK_ROLE_CEILING;
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_true(q.measure_s == 0.1);
	r->config.budgets.measure_s = 0.05;
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_true(q.measure_s == 0.05);
	r->config.budgets.measure_s = 2;
	series.mode = "cold"; /* of memory */
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_true(q.measure_s == 2);
	series.config = "tile=64";
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_string_equal(q.config, "tile=64");
	series.config = TK_TUNE_CONFIG;
	q = tk_night_job_request(&r->night, &series, &problem, "/b.so", "");
	assert_null(q.config);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_night_without_jobs_ends),
	        TEST(jobs_of_a_device_run_one_after_the_other),
	        TEST(devices_run_at_the_same_time),
	        TEST(the_cpu_is_measured_alone),
	        TEST(workers_start_before_the_first_job),
	        TEST(a_failed_job_is_stored_and_the_next_one_runs),
	        TEST(a_failed_build_has_nothing_to_run),
	        TEST(jobs_after_the_budget_are_skipped),
	        TEST(a_budget_of_zero_is_none),
	        TEST(a_budget_that_is_left_is_used),
	        TEST(jobs_of_an_absent_device_fail),
	        TEST(jobs_of_a_lost_device_move_to_its_twin),
	        TEST(jobs_of_a_lost_device_without_a_twin_fail),
	        TEST(a_cpu_is_not_lost),
	        TEST(an_idle_device_steals_a_problem),
	        TEST(nothing_is_stolen_without_split),
	        TEST(a_stop_ends_after_the_jobs_that_run),
	        TEST(a_resumed_night_runs_what_is_left),
	        TEST(progress_counts_all_jobs_of_the_night),
	        TEST(a_tuned_series_is_measured_with_its_winner),
	        TEST(a_tuned_series_without_a_result_is_measured_with_the_default),
	        TEST(another_configuration_is_passed_on),
	        TEST(a_newer_build_without_the_winner_is_measured_with_the_default),
	        TEST(other_failures_of_a_winner_are_findings),
	        TEST(a_recheck_that_agrees_leaves_the_result),
	        TEST(a_recheck_that_differs_makes_the_result_unstable),
	        TEST(a_failure_is_not_rechecked),
	        TEST(an_error_of_a_worker_ends_the_stage),
	        TEST(a_result_that_cannot_be_stored_ends_the_stage),
	        TEST(a_recheck_that_cannot_start_ends_the_stage),
	        TEST(a_job_of_a_missing_build_ends_the_stage),
	        TEST(a_request_is_as_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
