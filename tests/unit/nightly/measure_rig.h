/* The stage "measure" with workers that answer by a script. The history is a real one. A test links
 * with --wrap of the functions below that begin with __wrap_. */
#ifndef TK_TEST_MEASURE_RIG_H
#define TK_TEST_MEASURE_RIG_H
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

static inline int device_of(const struct tk_worker *w)
{
	const struct fake *f = (const struct fake *)(const void *)w;

	return f == &fakes.recheck ? 9 : (int)(f - fakes.workers);
}

static inline struct answer *find_answer(const char *problem)
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

static inline void put_devices(struct rig *r)
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

static inline int setup(void **state)
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

static inline int teardown(void **state)
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
static inline int64_t problem_id(struct rig *r, int number)
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

static inline int64_t put_series(struct rig *r, int device, int problem, const char *config)
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

static inline struct tk_job_row *add_job_of(struct rig *r, int64_t series)
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

static inline struct tk_job_row *add_job(struct rig *r, int device, int problem)
{
	return add_job_of(r, put_series(r, device, problem, ""));
}

static inline void answer(const char *problem, enum tk_outcome outcome, const char *message)
{
	size_t i = 0;

	while (fakes.answers[i].problem)
		i++;
	fakes.answers[i] = (struct answer){.problem = problem,
	        .outcome = outcome,
	        .message = message,
	        .json = tk_outcome_has_timing(outcome) ? timing : NULL};
}

static inline int run(struct rig *r, struct tk_error *failure)
{
	if (r->job_count)
		MUST(tk_store_put_jobs(r->h.store, r->jobs, r->job_count, &err));
	tk_buf_clear(&fakes.log);
	return tk_night_measure(&r->night, failure);
}

static inline void must_run(struct rig *r)
{
	struct tk_error failure = {0};

	if (run(r, &failure))
		fail_msg("%s", failure.message);
}

/* What started after the workers were ready. */
static inline const char *started(void)
{
	const char *text = tk_buf_cstr(&fakes.log), *at = text;

	for (const char *next = at; (next = strstr(next, ";"));)
		at = ++next;
	return at;
}

/* The runs of the night in the order of the jobs: "SEQ outcome device: message\n". */
static inline void expect_runs(struct rig *r, const char *expected)
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
