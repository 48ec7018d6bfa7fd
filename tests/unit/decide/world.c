/* See world.h. */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../store/empty_store.h"
#include "core/verdict.h"

/* The value of a word in a row of a table below; -1, which no list has, where it is unknown. */
static int word_value(const struct tk_vocabulary *v, const char *name)
{
	int value = -1;

	tk_vocabulary_parse(v, name, &value);
	return value;
}

static void must(struct world *w, int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "the history cannot be written: %s\n", w->err.message);
	abort();
}

void world_open(struct world *w, const char *path)
{
	*w = (struct world){.role = "suite",
	        .config = "",
	        .attributes = "{}",
	        .summary = "{}",
	        .status = TK_NIGHT_COMPLETE,
	        .samples = 30};
	if (path) {
		snprintf(w->path, sizeof w->path, "%s", path);
	} else {
		snprintf(w->dir, sizeof w->dir, "%s/tracker-detect-XXXXXX",
		        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* fsync: no time */
		if (!mkdtemp(w->dir))
			abort();
		snprintf(w->path, sizeof w->path, "%s/h.db", w->dir);
	}
	must(w, path ? tk_store_open(w->path, TK_STORE_CREATE, &w->store, &w->err)
	             : empty_store_open(w->path, &w->store, &w->err));
	world_machine(w, "box", "cpu");
	world_upstream(w, "self");
	world_environment(w, "{\"driver\":\"550\"}");
}

void world_close(struct world *w)
{
	world_end_night(w);
	tk_store_close(w->store);
	if (*w->dir)
		tk_dir_remove(w->dir, NULL);
}

int world_setup(void **state)
{
	struct world *w = malloc(sizeof *w);

	if (!w)
		return 1;
	world_open(w, NULL);
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	world_close(*state);
	free(*state);
	return 0;
}

void world_machine(struct world *w, const char *name, const char *device)
{
	const struct tk_machine_row m = {.name = name, .attributes = "{}"};
	struct tk_device_row d = {
	        .kind = "cpu", .name = device, .uuid = name, .arch = "x86-64", .slug = device};

	world_end_night(w);
	must(w, tk_store_put(w->store, TK_TABLE_machine, &m, &w->machine, &w->err));
	d.machine_id = w->machine;
	must(w, tk_store_put(w->store, TK_TABLE_device, &d, &w->device, &w->err));
}

void world_upstream(struct world *w, const char *name)
{
	const struct tk_upstream_row u = {.name = name, .kind = "git", .url = ""};

	must(w, tk_store_put(w->store, TK_TABLE_upstream, &u, &w->upstream, &w->err));
}

void world_environment(struct world *w, const char *attributes)
{
	const struct tk_environment_row e = {.device_id = w->device, .attributes = attributes};

	must(w, tk_store_put(w->store, TK_TABLE_environment, &e, &w->environment, &w->err));
}

void world_build(struct world *w, const char *rev, int64_t position, const char *backend,
        const char *hash, const char *subject)
{
	const struct tk_revision_row r = {.upstream_id = w->upstream,
	        .rev = rev,
	        .parent = "",
	        .position = position,
	        .commit_time_s = WORLD_START,
	        .author_time_s = WORLD_START,
	        .author = "A",
	        .subject = subject};
	struct tk_build_row b = {.artifact_key = rev,
	        .adapter = "a",
	        .toolchain = "cc",
	        .flags = "",
	        .arch = "x86-64",
	        .status = TK_BUILD_OK,
	        .message = "",
	        .log = "",
	        .built_s = WORLD_START};

	must(w, tk_store_put(w->store, TK_TABLE_revision, &r, &b.revision_id, &w->err));
	must(w, tk_store_put(w->store, TK_TABLE_build, &b, &w->build, &w->err));
	if (hash) {
		const struct tk_kernel_row k = {.build_id = w->build,
		        .backend = backend,
		        .name = "",
		        .code_hash = hash,
		        .size_bytes = 1,
		        .registers = -1,
		        .spill_bytes = -1,
		        .shared_bytes = -1,
		        .threads = -1,
		        .occupancy_percent = -1};
		int64_t id;

		must(w, tk_store_put(w->store, TK_TABLE_kernel, &k, &id, &w->err));
	}
}

void world_gpu_kernel(struct world *w, const char *backend, const char *name, const char *hash,
        int64_t registers, int64_t spill_bytes, const char *instructions)
{
	const struct tk_kernel_row k = {.build_id = w->build,
	        .backend = backend,
	        .name = name,
	        .code_hash = hash,
	        .registers = registers,
	        .spill_bytes = spill_bytes,
	        .shared_bytes = -1,
	        .threads = -1,
	        .occupancy_percent = -1,
	        .instructions = instructions};
	int64_t id;

	must(w, tk_store_put(w->store, TK_TABLE_kernel, &k, &id, &w->err));
}

/* A night is one transaction: what is tested is not the disk. */
static void flush(struct world *w)
{
	if (w->open)
		must(w, tk_store_commit(w->store, &w->err));
	w->open = false;
}

void world_end_night(struct world *w)
{
	flush(w);
	if (w->night)
		must(w, tk_store_finish_night(w->store, w->night, w->status, w->summary,
		                w->as_of_s + 60, &w->err));
	w->night = 0;
}

void world_night(struct world *w, int day, const char *kind)
{
	struct tk_night_row n = {.machine_id = w->machine,
	        .kind = word_value(&tk_night_kind_words, kind),
	        .status = TK_NIGHT_RUNNING,
	        .config_hash = "c",
	        .tracker_version = "0",
	        .summary = "{}"};

	world_end_night(w);
	must(w, tk_store_begin(w->store, &w->err));
	w->open = true;
	n.as_of_s = n.started_s = w->as_of_s = WORLD_START + day * WORLD_DAY;
	must(w, tk_store_begin_night(w->store, &n, &w->night, &w->err));
	w->seq = 0;
}

int64_t world_series(struct world *w, const char *backend, const char *problem)
{
	const struct tk_problem_row p = {.text = problem,
	        .op = "gemm",
	        .dtype = "f32",
	        .title = problem,
	        .flops = 1e9,
	        .bytes = 1e6,
	        .source = "",
	        .family = ""};
	struct tk_series_row s = {.device_id = w->device,
	        .upstream_id = w->upstream,
	        .backend = backend,
	        .config = w->config,
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = w->higher_is_better ? TK_BETTER_HIGHER : TK_BETTER_LOWER,
	        .role = word_value(&tk_series_role_words, w->role),
	        .rotate_nights = w->rotate_nights};
	int64_t id;

	must(w, tk_store_put(w->store, TK_TABLE_problem, &p, &s.problem_id, &w->err));
	must(w, tk_store_put(w->store, TK_TABLE_series, &s, &id, &w->err));
	return id;
}

static struct tk_run_row run_of(
        struct world *w, int64_t series, const char *outcome, const char *message)
{
	return (struct tk_run_row){.night_id = w->night,
	        .seq = w->seq++,
	        .series_id = series,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = w->as_of_s,
	        .started_s = w->as_of_s,
	        .wall_s = 1,
	        .outcome = word_value(&tk_outcome_words, outcome),
	        .message = message,
	        .attributes = w->attributes};
}

int64_t world_point(struct world *w, const char *backend, const char *problem, double value)
{
	const struct tk_run_row run = run_of(w, world_series(w, backend, problem), "ok", "");
	const struct tk_point p = {.series_id = run.series_id,
	        .value = value,
	        .lo = w->samples == 1 ? value : value * 0.999,
	        .hi = w->samples == 1 ? value : value * 1.001,
	        .n = w->samples,
	        .min = value * 0.99,
	        .q25 = value * 0.995,
	        .q75 = value * 1.005,
	        .p95 = value * 1.01};
	const double *samples = NULL;
	const size_t none = 0;
	int64_t id;

	must(w, tk_store_put_run(w->store, &run, &p, &samples, &none, 1, &id, &w->err));
	return id;
}

int64_t world_fail(struct world *w, const char *backend, const char *problem, const char *outcome,
        const char *message)
{
	const struct tk_run_row run =
	        run_of(w, world_series(w, backend, problem), outcome, message);
	int64_t id;

	must(w, tk_store_put_run(w->store, &run, NULL, NULL, NULL, 0, &id, &w->err));
	return id;
}

void world_pair(struct world *w, const char *problem, int64_t good_build, int64_t bad_build,
        int number, double good, double bad)
{
	const struct tk_ab_pair_row row = {.night_id = w->night,
	        .series_id = world_series(w, "b", problem),
	        .base_build_id = good_build,
	        .head_build_id = bad_build,
	        .pair = number,
	        .started_s = w->as_of_s,
	        .wall_s = 1,
	        .first = number % 2 ? "base" : "head",
	        .base_outcome = isnan(good) ? "crashed" : "ok",
	        .head_outcome = isnan(bad) ? "crashed" : "ok",
	        .base_median = good,
	        .head_median = bad,
	        .base_min = good,
	        .head_min = bad};
	int64_t id;

	must(w, tk_store_put(w->store, TK_TABLE_ab_pair, &row, &id, &w->err));
}

struct tk_detect_options world_options(const struct world *w)
{
	return (struct tk_detect_options){.min_effect = 0.02,
	        .fdr = 0.05,
	        .window = 20,
	        .stale_days = 14,
	        .missing_data_nights = w->missing_data_nights,
	        .acks = w->acks,
	        .ack_count = w->ack_count,
	        .now_s = w->as_of_s + WORLD_DAY};
}

struct tk_diff_report world_diff(struct world *w, int since)
{
	const struct tk_detect_options o = world_options(w);
	const struct tk_diff_range range = {
	        .since_s = WORLD_START + since * WORLD_DAY, .until_s = INT64_MAX};
	struct tk_diff_report r;

	flush(w);
	if (w->night)
		must(w, tk_store_finish_night(w->store, w->night, w->status, w->summary,
		                w->as_of_s + 60, &w->err));
	must(w, tk_detect_diff(w->store, &o, &range, &r, &w->err));
	return r;
}

struct tk_diff_report world_detect_night(struct world *w)
{
	const struct tk_detect_options o = world_options(w);
	struct tk_diff_report r;

	flush(w);
	must(w, tk_detect_night(w->store, w->night, &o, &r, &w->err));
	return r;
}

const struct tk_diff_row *world_row(
        const struct tk_diff_report *r, const char *backend, const char *problem)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->rows[i].backend, backend) == 0 &&
		        strcmp(r->rows[i].title, problem) == 0)
			return &r->rows[i];
	fprintf(stderr, "no row of %s %s\n", backend, problem);
	abort();
}

const char *world_reason(const struct tk_diff_row *row)
{
	static char reason[TK_REASON_SIZE];

	return tk_verdict_format_reason(&row->verdict, reason);
}
