/* The stage "plan": which backend measures which problem on which device, in which mode. Backends
 * answer as the test says; suites are files, the history is a real one. */
#include "../store/history.h"
#include "base/error.h"
#include "nightly/night.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 40

/* What backends declare, by path: kind of device, and an operation, or NULL: all. */
static struct {
	const char *path, *kind, *operation;
} declared[4];
static int query_count;

int __wrap_tk_worker_query_backend(
        struct tk_worker *w, const char *path, json_t **out, struct tk_error *err);

int __wrap_tk_worker_query_backend(
        struct tk_worker *w, const char *path, json_t **out, struct tk_error *err)
{
	query_count++;
	for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
		if (!declared[i].path || strcmp(declared[i].path, path) != 0)
			continue;
		*out = json_pack("{s:s}", "device_kind", declared[i].kind);
		if (declared[i].operation)
			json_object_set_new(
			        *out, "operations", json_pack("[s]", declared[i].operation));
		return 0;
	}
	return tk_fail(err, TK_EDATA, "cannot be loaded");
}

static char blas_name[] = "blas", url[] = "u", suite[] = "s.yml", cpu_hot[] = "cpu:hot",
            cpu_cold[] = "cpu:cold", cuda_hot[] = "cuda:hot";

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_upstream_config upstream;
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_module layers[2];
	struct tk_modules modules;
	struct tk_night_device devices[3]; /* the CPU and two cards of one model */
	struct tk_artifact artifact;
	struct tk_artifact_backend backends[2];
	struct tk_night_upstream night_upstream;
	struct tk_night night;
	char *suites[4], *modes[4];
};

static void write_suite(const struct rig *r, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof path, "%s/%s", r->h.dir, name);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "source: made for this test\n%s", text);
	fclose(f);
}

static void set_backend(struct rig *r, size_t i, const char *name, char *path, const char *kind)
{
	strcpy(r->backends[i].name, name);
	r->backends[i].path = path;
	r->artifact.backend_count = i + 1;
	declared[i].path = path;
	declared[i].kind = kind;
}

static void put_card(struct rig *r, size_t i, const char *slug)
{
	const struct tk_device_row row = {.machine_id = r->h.machine,
	        .kind = "cuda",
	        .name = "Some card",
	        .arch = "sm_90",
	        .slug = slug};

	MUST(tk_store_put_device(r->h.store, &row, &r->devices[i].device_id, &err));
}

static int set_up(void **state)
{
	static char cpu[] = "cpu", cuda[] = "cuda", path[] = "/blas.so";
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	memset(declared, 0, sizeof declared);
	query_count = 0;
	history_new(&r->h);
	history_fill(&r->h);
	r->layers[0].name = cpu;
	r->layers[1].name = cuda;
	for (int i = 0; i < 3; i++) {
		r->devices[i].layer = &r->layers[i > 0];
		strcpy(r->devices[i].slug, i ? "cuda" : "cpu");
		r->devices[i].info = json_pack("{s:s,s:s}", "name", "Some card", "arch", "sm_90");
	}
	r->devices[0].device_id = r->h.device;
	put_card(r, 1, "cuda-0");
	put_card(r, 2, "cuda-1");
	r->upstream = (struct tk_upstream_config){
	        .name = blas_name, .kind = TK_UPSTREAM_GIT, .url = url, .enabled = true};
	set_backend(r, 0, "blas", path, "cpu");
	r->artifact.backends = r->backends;
	r->night_upstream = (struct tk_night_upstream){.config = &r->upstream,
	        .upstream_id = r->h.upstream,
	        .revision_id = r->h.revision,
	        .build_id = r->h.build,
	        .artifacts = {&r->artifact},
	        .artifact_count = 1};
	r->suites[0] = suite;
	r->modes[0] = cpu_hot;
	r->modes[1] = cuda_hot;
	r->config = (struct tk_config){.root = r->h.dir, .suites = r->suites};
	r->config.upstreams = &r->upstream;
	r->config.upstream_count = 1;
	r->config.measure.modes = r->modes;
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .modules = &r->modules,
	        .night_id = r->h.night,
	        .machine_id = r->h.machine,
	        .devices = r->devices,
	        .device_count = 3,
	        .upstreams = &r->night_upstream,
	        .upstream_count = 1,
	        .seed = 5};
	write_suite(r, "s.yml", "problems:\n  - gemm: { m: [1, 2], n: 64, k: 64 }\n");
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *r = *state;

	for (int i = 0; i < 3; i++)
		json_decref(r->devices[i].info);
	history_free(&r->h);
	free(r);
	return 0;
}

/* ---- the jobs of a night as text ---- */

static const void *by_id(const struct tk_rows *rows, size_t size, int64_t id)
{
	for (size_t i = 0; i < rows->count; i++) {
		const char *row = (const char *)rows->rows + i * size;
		if (*(const int64_t *)(const void *)row == id)
			return row;
	}
	return NULL;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* "device backend m mode;" for each job, sorted: the stage orders them at random. */
static void expect_jobs(struct rig *r, const char *expected)
{
	struct tk_rows jobs, series, problems, devices;
	char lines[JOBS_MAX][100], text[JOBS_MAX * 100] = "";
	size_t count = 0;

	MUST(tk_store_list_jobs(r->h.store, r->night.night_id, false, &jobs, &err));
	MUST(tk_store_list_series(r->h.store, &series, &err));
	MUST(tk_store_list_problems(r->h.store, &problems, &err));
	MUST(tk_store_list_devices(r->h.store, &devices, &err));
	assert_true(jobs.count <= JOBS_MAX);
	for (size_t i = 0; i < jobs.count; i++) {
		const struct tk_job_row *job = TK_ROWS_AT(&jobs, struct tk_job_row, i);
		const struct tk_series_row *s = by_id(&series, sizeof *s, job->series_id);
		const struct tk_problem_row *p = by_id(&problems, sizeof *p, s->problem_id);
		const struct tk_device_row *d = by_id(&devices, sizeof *d, s->device_id);
		const char *m = strstr(p->text, ",m=");
		snprintf(lines[count++], sizeof *lines, "%s %s %d %s%s%s;", d->slug, s->backend,
		        m ? atoi(m + 3) : 0, s->mode, *s->config ? " " : "", s->config);
	}
	qsort(lines, count, sizeof *lines, compare_texts);
	for (size_t i = 0; i < count; i++)
		strcat(text, lines[i]);
	assert_string_equal(text, expected);
	tk_rows_free(&jobs);
	tk_rows_free(&series);
	tk_rows_free(&problems);
	tk_rows_free(&devices);
}

static void plan(struct rig *r)
{
	MUST(tk_night_plan(&r->night, &err));
}

static void next_night(struct rig *r)
{
	const struct tk_night_row row = {.machine_id = r->h.machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 90000,
	        .started_s = 90000,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};

	MUST(tk_store_finish_night(
	        r->h.store, r->night.night_id, TK_NIGHT_COMPLETE, "{}", 2000, &err));
	MUST(tk_store_begin_night(r->h.store, &row, &r->night.night_id, &err));
}

/* ---- problems, devices and modes ---- */

static void each_problem_is_a_job_in_each_mode(void **state)
{
	struct rig *r = *state;

	r->modes[2] = cpu_cold;
	plan(r);
	expect_jobs(r, "cpu blas 1 cold;cpu blas 1 hot;cpu blas 2 cold;cpu blas 2 hot;");
	assert_int_equal(query_count, 1); /* a query starts a process */
}

static void backends_run_on_their_kind_of_device(void **state)
{
	static char path[] = "/cards.so";
	struct rig *r = *state;

	set_backend(r, 1, "cards", path, "cuda");
	plan(r);
	expect_jobs(r, "cpu blas 1 hot;cpu blas 2 hot;cuda-0 cards 1 hot;cuda-0 cards 2 hot;"
	               "cuda-1 cards 1 hot;cuda-1 cards 2 hot;");
}

/* Its failure becomes a row of each job. */
static void a_backend_that_cannot_be_loaded_is_for_all_devices(void **state)
{
	struct rig *r = *state;

	declared[0].path = NULL;
	r->night.device_count = 2;
	plan(r);
	expect_jobs(r, "cpu blas 1 hot;cpu blas 2 hot;cuda-0 blas 1 hot;cuda-0 blas 2 hot;");
}

static void only_configured_backends_are_measured(void **state)
{
	static char path[] = "/more.so", more[] = "more";
	static char *chosen[] = {more, NULL};
	struct rig *r = *state;

	set_backend(r, 1, "more", path, "cpu");
	r->upstream.backends = chosen;
	plan(r);
	expect_jobs(r, "cpu more 1 hot;cpu more 2 hot;");
}

static void backends_get_the_operations_that_they_do(void **state)
{
	struct rig *r = *state;

	write_suite(r, "s.yml",
	        "problems:\n  - gemm: { m: 3, n: 64, k: 64 }\n  - attention: { b: 1, h: 1, sq: 64, "
	        "d: 64 }\n");
	declared[0].operation = "gemm";
	plan(r);
	expect_jobs(r, "cpu blas 3 hot;");
	next_night(r);
	declared[0].operation = "attention";
	plan(r);
	expect_jobs(r, "cpu blas 0 hot;");
}

static void a_suite_may_be_for_one_kind_of_device(void **state)
{
	static char path[] = "/cards.so", for_cards[] = "cuda:t.yml";
	struct rig *r = *state;

	set_backend(r, 1, "cards", path, "cuda");
	write_suite(r, "t.yml", "problems:\n  - gemm: { m: 9, n: 64, k: 64 }\n");
	r->suites[1] = for_cards;
	r->night.device_count = 2;
	plan(r);
	expect_jobs(r, "cpu blas 1 hot;cpu blas 2 hot;cuda-0 cards 1 hot;cuda-0 cards 2 hot;"
	               "cuda-0 cards 9 hot;");
}

static void tuned_upstreams_have_series_of_their_own(void **state)
{
	struct rig *r = *state;

	r->upstream.is_tuned = true;
	plan(r);
	expect_jobs(r, "cpu blas 1 hot tuned;cpu blas 2 hot tuned;");
}

/* ---- upstreams ---- */

static void an_upstream_without_a_build_has_no_jobs(void **state)
{
	struct rig *r = *state;

	r->night_upstream.build_id = 0;
	plan(r);
	expect_jobs(r, "");
	r->night_upstream.build_id = r->h.build;
	r->upstream.kind = TK_UPSTREAM_BUILTIN; /* its backends measure the machine */
	plan(r);
	expect_jobs(r, "");
}

static void configured_backends_of_a_failed_build_fail(void **state)
{
	static char *chosen[] = {blas_name, NULL};
	struct rig *r = *state;
	struct tk_rows jobs;

	r->night_upstream.failed = true;
	r->upstream.backends = chosen;
	r->night.device_count = 1;
	plan(r);
	expect_jobs(r, "cpu blas 1 hot;cpu blas 2 hot;");
	MUST(tk_store_list_jobs(r->h.store, r->h.night, false, &jobs, &err));
	assert_string_equal(TK_ROWS_AT(&jobs, struct tk_job_row, 0)->backend_path, "");
	tk_rows_free(&jobs);
}

/* Without configured backends, the series that the upstream had. */
static void known_series_of_a_failed_build_fail(void **state)
{
	struct rig *r = *state;
	int64_t id;

	plan(r);
	next_night(r);
	write_suite(r, "s.yml", "problems:\n  - gemm: { m: 2, n: 64, k: 64 }\n");
	r->night_upstream.failed = true;
	plan(r);
	expect_jobs(r, "cpu blas 2 hot;"); /* of the problems that are still configured */
	next_night(r);
	const struct tk_run_row unsupported = {.night_id = r->h.night,
	        .seq = 1,
	        .series_id = r->h.series + 2,
	        .build_id = r->h.build,
	        .environment_id = r->h.environment,
	        .outcome = TK_OUTCOME_UNSUPPORTED,
	        .message = "",
	        .attributes = "{}"};
	MUST(tk_store_put_run(r->h.store, &unsupported, NULL, NULL, NULL, 0, &id, &err));
	plan(r);
	expect_jobs(r, ""); /* the backend does not do it */
}

/* ---- what is due ---- */

static void rotated_suites_are_measured_part_by_part(void **state)
{
	struct rig *r = *state;
	size_t jobs = 0;

	write_suite(r, "s.yml",
	        "rotate: 3\nproblems:\n  - gemm: { m: [1, 2, 3, 4, 5, 6], n: 64, k: 64 }\n");
	for (int night = 0; night < 3; night++) {
		struct tk_rows rows;
		plan(r);
		MUST(tk_store_list_jobs(r->h.store, r->night.night_id, false, &rows, &err));
		assert_true(rows.count < 6);
		jobs += rows.count;
		tk_rows_free(&rows);
		next_night(r);
	}
	assert_int_equal(jobs, 6); /* three nights in a row measure all of it once */
}

static void the_shortest_rotation_of_a_problem_counts(void **state)
{
	static char often[] = "t.yml";
	struct rig *r = *state;
	struct tk_rows series;

	write_suite(r, "s.yml", "rotate: 7\nproblems:\n  - gemm: { m: 1, n: 64, k: 64 }\n");
	write_suite(r, "t.yml", "problems:\n  - gemm: { m: 1, n: 64, k: 64 }\n");
	r->suites[1] = often;
	plan(r);
	expect_jobs(r, "cpu blas 1 hot;");
	MUST(tk_store_list_series(r->h.store, &series, &err));
	for (size_t i = 0; i < series.count; i++)
		assert_true(TK_ROWS_AT(&series, struct tk_series_row, i)->rotate_nights <= 1);
	tk_rows_free(&series);
}

static void parts_of_a_night_measure_everything_once(void **state)
{
	struct rig *r = *state;
	size_t jobs = 0;

	write_suite(r, "s.yml", "problems:\n  - gemm: { m: [1, 2, 3, 4, 5, 6], n: 64, k: 64 }\n");
	r->options.parts = 2;
	for (r->options.part = 1; r->options.part <= 2; r->options.part++) {
		struct tk_rows rows;
		plan(r);
		MUST(tk_store_list_jobs(r->h.store, r->night.night_id, false, &rows, &err));
		jobs += rows.count;
		tk_rows_free(&rows);
		next_night(r);
	}
	assert_int_equal(jobs, 6);
}

/* Cards of one model share the problems of --split. */
static void a_split_night_measures_each_problem_on_one_card(void **state)
{
	struct rig *r = *state;
	struct tk_rows jobs;

	declared[0].kind = "cuda";
	write_suite(r, "s.yml", "problems:\n  - gemm: { m: [1, 2, 3, 4, 5, 6], n: 64, k: 64 }\n");
	r->options.split = true;
	plan(r);
	MUST(tk_store_list_jobs(r->h.store, r->night.night_id, false, &jobs, &err));
	assert_int_equal(jobs.count, 6);
	tk_rows_free(&jobs);
}

/* ---- failures ---- */

static void a_wrong_suite_leaves_no_plan(void **state)
{
	static char wrong[] = "wrong.yml", none[] = "none.yml";
	struct rig *r = *state;

	write_suite(r, "wrong.yml", "problems:\n  - gemm: { m: 0, n: 64, k: 64 }\n");
	r->suites[1] = wrong;
	MUST_FAIL(TK_ECONFIG, "wrong.yml:3:", tk_night_plan(&r->night, &err));
	expect_jobs(r, "");
	r->suites[1] = none;
	MUST_FAIL(TK_ENOTFOUND, "none.yml", tk_night_plan(&r->night, &err));
	expect_jobs(r, "");
	r->suites[1] = NULL;
	plan(r); /* the store is not within a transaction */
	expect_jobs(r, "cpu blas 1 hot;cpu blas 2 hot;");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(each_problem_is_a_job_in_each_mode),
	        TEST(backends_run_on_their_kind_of_device),
	        TEST(a_backend_that_cannot_be_loaded_is_for_all_devices),
	        TEST(only_configured_backends_are_measured),
	        TEST(backends_get_the_operations_that_they_do),
	        TEST(a_suite_may_be_for_one_kind_of_device),
	        TEST(tuned_upstreams_have_series_of_their_own),
	        TEST(an_upstream_without_a_build_has_no_jobs),
	        TEST(configured_backends_of_a_failed_build_fail),
	        TEST(known_series_of_a_failed_build_fail),
	        TEST(rotated_suites_are_measured_part_by_part),
	        TEST(the_shortest_rotation_of_a_problem_counts),
	        TEST(parts_of_a_night_measure_everything_once),
	        TEST(a_split_night_measures_each_problem_on_one_card),
	        TEST(a_wrong_suite_leaves_no_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
