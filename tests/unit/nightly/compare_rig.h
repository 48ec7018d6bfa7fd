/* A comparison of two sides, for `tracker ab` and `tracker tune`. Sides, workers and pairs answer
 * as the test says; the clock moves by a second a pair. A test links with --wrap of the functions
 * below that begin with __wrap_. */
#ifndef TK_TEST_COMPARE_RIG_H
#define TK_TEST_COMPARE_RIG_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../store/history.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "nightly/ab/comparison.h"
#include "nightly/session.h"
#include "worker/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEMS_MAX 10
/* gemm with m = its index + 1. */
struct world_problem {
	double ns[TK_AB_SIDES]; /* of pairs; NAN: they fail */
	enum tk_outcome outcome[TK_AB_SIDES];
	/* Its configurations, the default first; of those, ns and outcome count instead. */
	struct world_config *configs;
	size_t config_count;
};

struct world_config {
	char name[32];
	double ns, pair_ns; /* in the race; in pairs, 0: the same */
	enum tk_outcome outcome;
};

static struct {
	struct world_problem problems[PROBLEMS_MAX];
	double noise;
	int64_t now_ns;
	uint64_t random;
	int pair_status, file_status, load_status;
	int list_status; /* of the configurations */
	bool is_space;
	double run_s; /* what a run takes of the budget */
	size_t workers, verified;
	size_t pairs[PROBLEMS_MAX], checks;
	int order[64]; /* m of each pair */
	size_t order_count;
	struct tk_job_request last_check;
	char last_mode[TK_MODE_WORD_SIZE];
	const char *kinds[TK_AB_SIDES][2]; /* of the backends of a side */
	const char *backends[TK_AB_SIDES][2];
	const char *hash[TK_AB_SIDES];
	struct tk_night_device *devices;
	size_t device_count, progress_calls;
} world;

static inline int problem_number(const char *text)
{
	const char *m = strstr(text, ",m=");

	assert_non_null(m);
	return atoi(m + 3) - 1;
}

/* ---- in place of sessions, sides, workers, pairs and clocks ---- */

int __wrap_tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
void __wrap_tk_session_close(struct tk_session *s);
int __wrap_tk_ab_side_load(
        struct tk_night *n, const char *spec, struct tk_ab_side *side, struct tk_error *err);
int __wrap_tk_ab_side_check_file(struct tk_ab_side *side, struct tk_error *err);
void __wrap_tk_ab_side_close(struct tk_ab_side *side);
int __wrap_tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err);
int __wrap_tk_night_load_limits(
        struct tk_night *n, struct tk_night_device *d, struct tk_error *err);
int __wrap_tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err);
int __wrap_tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err);
int __wrap_tk_worker_query_configs(struct tk_worker *w, const struct tk_job_request *request,
        json_t **out, struct tk_error *err);
void __wrap_tk_worker_free(struct tk_worker *w);
void __wrap_tk_night_device_stop_workers(struct tk_night_device *d);
int64_t __wrap_tk_clock_monotonic_ns(void);

int __wrap_tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	*s = (struct tk_session){.options = *options};
	s->night = (struct tk_night){.config = config,
	        .options = &s->options,
	        .devices = world.devices,
	        .device_count = world.device_count};
	return 0;
}

void __wrap_tk_session_close(struct tk_session *s)
{
	*s = (struct tk_session){0};
}

int __wrap_tk_ab_side_load(
        struct tk_night *n, const char *spec, struct tk_ab_side *side, struct tk_error *err)
{
	static char no_options[] = "";
	const int k = strcmp(spec, "head") == 0;
	struct tk_artifact *a = calloc(1, sizeof *a);

	assert_non_null(a);
	if (world.load_status) {
		free(a);
		return tk_fail(err, world.load_status, "no such side");
	}
	a->backends = calloc(2, sizeof *a->backends);
	assert_non_null(a->backends);
	side->kinds = calloc(2, sizeof *side->kinds);
	assert_non_null(side->kinds);
	for (; a->backend_count < 2 && world.backends[k][a->backend_count]; a->backend_count++) {
		struct tk_artifact_backend *b = &a->backends[a->backend_count];
		snprintf(b->name, sizeof b->name, "%s", world.backends[k][a->backend_count]);
		snprintf(b->code_hash, sizeof b->code_hash, "%s", world.hash[k]);
		b->path = strdup(spec);
		side->kinds[a->backend_count] = strdup(world.kinds[k][a->backend_count]);
	}
	side->artifact = a;
	side->options = no_options;
	return 0;
}

int __wrap_tk_ab_side_check_file(struct tk_ab_side *side, struct tk_error *err)
{
	return world.file_status ? tk_fail(err, world.file_status, "was replaced") : 0;
}

void __wrap_tk_ab_side_close(struct tk_ab_side *side)
{
	for (size_t i = 0; side->artifact && i < side->artifact->backend_count; i++) {
		free(side->artifact->backends[i].path);
		free(side->kinds[i]);
	}
	if (side->artifact)
		free(side->artifact->backends);
	free(side->artifact);
	free(side->kinds);
}

/* The default: NULL. */
static inline const struct world_config *find_config(
        const struct world_problem *p, const char *name)
{
	for (size_t i = 0; i < p->config_count; i++)
		if (!name || strcmp(p->configs[i].name, name) == 0)
			return &p->configs[i];
	return NULL;
}

static inline double pair_ns(
        const struct world_problem *p, enum tk_ab_side_id side, const char *config)
{
	const struct world_config *k = find_config(p, config);

	return !k ? p->ns[side] : k->pair_ns > 0 ? k->pair_ns : k->ns;
}

static inline double measured_ns(double ns)
{
	world.random = tk_splitmix64(world.random);
	return ns * (1 + world.noise * ((double)(world.random >> 11) * 0x1p-52 - 1));
}

int __wrap_tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	const int number = problem_number(t->problem.text);
	const struct world_problem *p = &world.problems[number];

	world.now_ns += INT64_C(1000000000);
	if (world.pair_status)
		return tk_fail(err, world.pair_status, "no worker");
	if (t->count == t->cap) {
		t->cap = 2 * t->cap + 32;
		t->rows = realloc(t->rows, t->cap * sizeof *t->rows);
		assert_non_null(t->rows);
	}
	struct tk_ab_pair_row *row = &t->rows[t->count++];
	*row = (struct tk_ab_pair_row){
	        .good_median = measured_ns(pair_ns(p, TK_AB_BASE, t->good.config)),
	        .bad_median = measured_ns(pair_ns(p, TK_AB_HEAD, t->bad.config))};
	row->good_min = row->good_median;
	row->bad_min = row->bad_median;
	const bool timed = tk_ab_pair_is_timed(row);
	t->timed += timed;
	t->failed_in_a_row = timed ? 0 : t->failed_in_a_row + 1;
	world.pairs[number]++;
	if (world.order_count < sizeof world.order / sizeof *world.order)
		world.order[world.order_count++] = number + 1;
	return 0;
}

int __wrap_tk_night_load_limits(struct tk_night *n, struct tk_night_device *d, struct tk_error *err)
{
	return 0;
}

int __wrap_tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err)
{
	*out = (struct tk_worker *)(void *)&world;
	world.workers++;
	return 0;
}

int __wrap_tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err)
{
	const struct world_problem *p = &world.problems[problem_number(request->problem)];
	const struct world_config *k = find_config(p, request->config);
	const int side = strcmp(request->backend_path, "head") == 0;

	world.now_ns += (int64_t)(world.run_s * 1e9);
	world.checks++;
	world.verified += request->verify;
	world.last_check = *request;
	snprintf(world.last_mode, sizeof world.last_mode, "%s", request->mode);
	*out = (struct tk_job_result){.outcome = k ? k->outcome : p->outcome[side]};
	if (k && tk_outcome_has_timing(k->outcome))
		out->result = json_pack("{s:f}", "median", measured_ns(k->ns));
	strcpy(out->message, "as the test says");
	return 0;
}

int __wrap_tk_worker_query_configs(struct tk_worker *w, const struct tk_job_request *request,
        json_t **out, struct tk_error *err)
{
	const struct world_problem *p = &world.problems[problem_number(request->problem)];

	if (world.list_status)
		return tk_fail(err, world.list_status, "no list");
	*out = json_pack("{s:[], s:b}", "configs", "space", world.is_space);
	for (size_t i = 0; i < p->config_count; i++)
		json_array_append_new(
		        json_object_get(*out, "configs"), json_string(p->configs[i].name));
	return 0;
}

void __wrap_tk_worker_free(struct tk_worker *w)
{
	assert_true(!w || (void *)w == (void *)&world);
}

void __wrap_tk_night_device_stop_workers(struct tk_night_device *d)
{
	assert_non_null(d);
}

int64_t __wrap_tk_clock_monotonic_ns(void)
{
	return world.now_ns;
}

/* ---- a comparison ---- */

struct rig {
	struct tk_config config;
	struct tk_night_options options;
	struct tk_ab_request request;
	struct tk_ab_report report;
	struct tk_module layers[2];
	struct tk_night_device devices[3]; /* the CPU and two cards */
	char *problems[PROBLEMS_MAX];
};

static inline int set_up(void **state)
{
	static char machine[] = "rig", root[] = "/nonexistent", cpu[] = "cpu", cuda[] = "cuda";
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	memset(&world, 0, sizeof world);
	world.noise = 0.002;
	world.now_ns = 1;
	for (int i = 0; i < PROBLEMS_MAX; i++)
		world.problems[i].ns[0] = world.problems[i].ns[1] = 1000;
	for (int k = 0; k < TK_AB_SIDES; k++) {
		world.backends[k][0] = "blas";
		world.kinds[k][0] = "cpu";
		world.hash[k] = k ? "new" : "old";
	}
	r->layers[0].name = cpu;
	r->layers[1].name = cuda;
	for (int i = 0; i < 3; i++) {
		r->devices[i].layer = &r->layers[i > 0];
		snprintf(r->devices[i].slug, sizeof r->devices[i].slug, i ? "cuda-%d" : "cpu",
		        i - 1);
	}
	world.devices = r->devices;
	world.device_count = 3;
	r->config = (struct tk_config){.machine = machine, .root = root};
	r->config.thresholds.min_effect = 0.01;
	r->config.budgets.measure_s = 2;
	r->request = (struct tk_ab_request){.side = {"base", "head"},
	        .mode = TK_MODE_COUNT,
	        .min_effect = NAN,
	        .problems = r->problems};
	*state = r;
	return 0;
}

static inline int tear_down(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < PROBLEMS_MAX; i++)
		free(r->problems[i]);
	tk_ab_report_free(&r->report);
	free(r);
	return 0;
}

static inline void request_problems(struct rig *r, int count)
{
	for (int i = 0; i < count; i++)
		if (asprintf(&r->problems[i], "gemm:m=%d,n=64,k=64", i + 1) < 0)
			fail();
	r->request.problem_count = (size_t)count;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
