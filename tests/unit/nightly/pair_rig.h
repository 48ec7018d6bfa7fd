/* The two processes of an A/B pair: each answers by a script, and the calls that start, pause and
 * end them are logged. A test links with --wrap of the functions below that begin with __wrap_. */
#ifndef TK_TEST_PAIR_RIG_H
#define TK_TEST_PAIR_RIG_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "nightly/confirm/ab_pair.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"
#include "worker/worker.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 8

/* What one process does. The next of a build takes the next of its answers; the last one is for
 * all that follow. */
struct pair_answer {
	enum tk_outcome outcome;
	double median, min; /* NAN: the answer has none */
	int polls;          /* in which it works, before it has answered */
	const char *message;
};

struct pair_process {
	char side; /* 'g', 'b'; 0: the place is free */
	struct pair_answer answer;
	int polls_left;
	bool is_started, is_paused, has_answered, is_ended;
};

static struct {
	struct pair_answer answers[2][2]; /* of good and bad, by turns */
	size_t processes_of[2];
	struct pair_process processes[PROCESSES_MAX];
	size_t count;
	struct tk_buf log;
	struct tk_job_request request[2]; /* the last one of good and bad */
	struct tk_ab_worker_spec newest_spec, spec[2];
	int new_status, start_status, poll_status, limits_status, measure_status;
	size_t fail_at;      /* number of the process, from 1 on, that a status above is for */
	int longest_poll_ms; /* that was waited for */
	size_t most_at_once; /* that run and are not paused */
} pair_world;

static inline int side_index(char side)
{
	return side == 'b';
}

static inline struct pair_process *pair_process_of(const struct tk_worker *w)
{
	const struct pair_process *p = (const struct pair_process *)(const void *)w;

	assert_true(p >= pair_world.processes && p < pair_world.processes + pair_world.count);
	assert_false(p->is_ended);
	return &pair_world.processes[p - pair_world.processes];
}

static inline void log_call(const char *what, const struct pair_process *p)
{
	tk_buf_add_printf(&pair_world.log, "%s %c;", what, p->side);
}

static inline void count_running(void)
{
	size_t running = 0;

	for (size_t i = 0; i < pair_world.count; i++) {
		const struct pair_process *p = &pair_world.processes[i];
		running += p->is_started && !p->is_paused && !p->is_ended && !p->has_answered;
	}
	if (running > pair_world.most_at_once)
		pair_world.most_at_once = running;
}

static inline bool fails(const struct pair_process *p)
{
	return pair_world.fail_at == (size_t)(p - pair_world.processes) + 1;
}

static inline void fill_result(const struct pair_process *p, struct tk_job_result *out)
{
	const struct pair_answer *a = &p->answer;

	*out = (struct tk_job_result){.outcome = a->outcome, .result = json_object()};
	assert_non_null(out->result);
	if (!isnan(a->median))
		json_object_set_new(out->result, "median", json_real(a->median));
	if (!isnan(a->min))
		json_object_set_new(out->result, "min", json_real(a->min));
	snprintf(out->message, sizeof out->message, "%s", a->message ? a->message : "");
}

/* ---- in place of the processes ---- */

int __wrap_tk_night_load_limits(
        struct tk_night *n, struct tk_night_device *d, struct tk_error *err);
int __wrap_tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err);
int __wrap_tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err);
int __wrap_tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err);
int __wrap_tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err);
int __wrap_tk_worker_fd(const struct tk_worker *w);
void __wrap_tk_worker_set_paused(struct tk_worker *w, bool paused);
void __wrap_tk_worker_free(struct tk_worker *w);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_tk_night_load_limits(struct tk_night *n, struct tk_night_device *d, struct tk_error *err)
{
	return pair_world.limits_status ? tk_fail(err, pair_world.limits_status, "no limits") : 0;
}

/* The log files tell which side it is; one after the other they have none, and the request does. */
int __wrap_tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err)
{
	assert_true(pair_world.count < PROCESSES_MAX);
	struct pair_process *p = &pair_world.processes[pair_world.count];
	if (fails(p) && pair_world.new_status)
		return tk_fail(err, pair_world.new_status, "no new process");
	*p = (struct pair_process){.side = '?'};
	pair_world.count++;
	pair_world.newest_spec = *ab;
	*out = (struct tk_worker *)(void *)p;
	return 0;
}

static inline void take_request(struct pair_process *p, const struct tk_job_request *request)
{
	p->side = request->backend_path[1]; /* "/good", "/bad" */
	const int side = side_index(p->side);
	const size_t number = pair_world.processes_of[side]++;
	p->answer = pair_world.answers[side][number > 0];
	p->polls_left = p->answer.polls;
	pair_world.request[side] = *request;
	pair_world.spec[side] = pair_world.newest_spec;
}

int __wrap_tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err)
{
	struct pair_process *p = pair_process_of(w);

	take_request(p, request);
	log_call("measure", p);
	if (fails(p) && pair_world.measure_status)
		return tk_fail(err, pair_world.measure_status, "no process");
	fill_result(p, out);
	return 0;
}

int __wrap_tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err)
{
	struct pair_process *p = pair_process_of(w);

	take_request(p, request);
	log_call("start", p);
	if (fails(p) && pair_world.start_status)
		return tk_fail(err, pair_world.start_status, "cannot start");
	p->is_started = true;
	return 0;
}

int __wrap_tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	struct pair_process *p = pair_process_of(w);

	assert_true(p->is_started);
	assert_false(p->has_answered); /* nobody waits for a second answer */
	assert_false(p->is_paused);    /* nobody waits for one that cannot answer */
	count_running();
	if (fails(p) && pair_world.poll_status)
		return tk_fail(err, pair_world.poll_status, "stopped");
	*done = p->has_answered = p->polls_left-- <= 0;
	if (*done) {
		log_call("answer", p);
		fill_result(p, out);
	}
	return 0;
}

int __wrap_tk_worker_fd(const struct tk_worker *w)
{
	return pair_process_of(w)->is_started ? STDIN_FILENO : -1;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (count != 1 || fds->fd != STDIN_FILENO)
		return __real_poll(fds, count, timeout_ms);
	if (timeout_ms > pair_world.longest_poll_ms)
		pair_world.longest_poll_ms = timeout_ms;
	return 0;
}

void __wrap_tk_worker_set_paused(struct tk_worker *w, bool paused)
{
	struct pair_process *p = pair_process_of(w);

	p->is_paused = paused;
	log_call(paused ? "pause" : "go", p);
}

void __wrap_tk_worker_free(struct tk_worker *w)
{
	if (!w)
		return;
	struct pair_process *p = pair_process_of(w);
	p->is_ended = true;
	log_call("end", p);
}

/* ---- a test of two builds ---- */

struct pair_rig {
	struct tk_config config;
	struct tk_night_options options;
	struct tk_night night;
	struct tk_module layer;
	struct tk_night_device device;
	struct tk_ab_test test;
	struct tk_ab_pair_row last; /* the pair before this one */
	struct tk_ab_run good, bad;
	char mode[32], kind[32];
};

static inline void use_mode(struct pair_rig *r, const char *kind, const char *mode)
{
	snprintf(r->kind, sizeof r->kind, "%s", kind);
	snprintf(r->mode, sizeof r->mode, "%s", mode);
}

/* The pair before this one: both timings; NAN: it failed; 0: there is none. */
static inline void use_last(struct pair_rig *r, double good_ns, double bad_ns)
{
	const bool is_there = good_ns != 0 || bad_ns != 0;

	r->last = (struct tk_ab_pair_row){.good_median = good_ns, .bad_median = bad_ns};
	r->test.rows = is_there ? &r->last : NULL;
	r->test.count = is_there ? 1 : 0;
}

static inline void clear_pair_world(void)
{
	tk_buf_free(&pair_world.log);
	memset(&pair_world, 0, sizeof pair_world);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 2; i++)
			pair_world.answers[side][i] = (struct pair_answer){
			        .outcome = TK_OUTCOME_OK, .median = 1000 + side, .min = 900 + side};
}

static inline int pair_set_up(void **state)
{
	static char root[] = "/nonexistent", good[] = "/good", bad[] = "/bad";
	struct pair_rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	clear_pair_world();
	r->config.root = root;
	r->config.budgets.job_s = 60;
	r->config.budgets.measure_s = 2;
	r->night = (struct tk_night){.config = &r->config, .options = &r->options};
	r->layer.name = r->kind;
	r->device.layer = &r->layer;
	r->test.device = &r->device;
	r->test.good = (struct tk_ab_variant){.path = good, .options = "o=1", .threads = 2};
	r->test.bad = (struct tk_ab_variant){.path = bad, .options = "o=2", .config = "tile"};
	r->test.series = (struct tk_series_row){
	        .id = 7, .config = "own", .mode = r->mode, .metric = "time", .backend = "blas"};
	r->test.problem = (struct tk_problem_row){.text = "gemm:m=1,n=1,k=1"};
	r->good = (struct tk_ab_run){.variant = &r->test.good, .name = "good"};
	r->bad = (struct tk_ab_run){.variant = &r->test.bad, .name = "bad"};
	use_mode(r, "cpu", "cold");
	*state = r;
	return 0;
}

static inline size_t live_processes(void)
{
	size_t live = 0;

	for (size_t i = 0; i < pair_world.count; i++)
		live += !pair_world.processes[i].is_ended;
	return live;
}

static inline int pair_tear_down(void **state)
{
	assert_int_equal(live_processes(), 0);
	tk_buf_free(&pair_world.log);
	free(*state);
	return 0;
}

/* One pair; the good build is the first one. Its calls are in the log. */
static inline int measure_pair(struct pair_rig *r, struct tk_error *err)
{
	tk_buf_clear(&pair_world.log);
	pair_world.count = pair_world.processes_of[0] = pair_world.processes_of[1] = 0;
	pair_world.most_at_once = 0;
	pair_world.longest_poll_ms = 0;
	return tk_ab_pair_measure(&r->night, &r->test, &r->good, &r->bad, err);
}

static inline void must_measure_pair(struct pair_rig *r)
{
	struct tk_error err = {0};

	if (measure_pair(r, &err))
		fail_msg("%s", err.message);
}

static inline void expect_calls(const char *expected)
{
	assert_string_equal(tk_buf_cstr(&pair_world.log), expected);
}

#define PAIR_TEST(f) cmocka_unit_test_setup_teardown(f, pair_set_up, pair_tear_down)

#endif
