/* Rows of the store with the values that matter to the tests. */
#include "seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/problem.h"

struct tk_store *seed_db;
struct tk_error seed_err;

void seed_check(int status)
{
	if (!status)
		return;
	fprintf(stderr, "site_seed: %s\n", seed_err.message);
	exit(1);
}

/* The value of a word; -1, which no list has, where it is unknown. */
int seed_word(const struct tk_vocabulary *v, const char *name)
{
	int value = -1;
	tk_vocabulary_parse(v, name, &value);
	return value;
}

int64_t seed_machine(const char *name, const char *attributes)
{
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_machine,
	        &(struct tk_machine_row){.name = name, .attributes = attributes}, &id, &seed_err));
	return id;
}

int64_t seed_device(
        int64_t machine_id, const char *kind, const char *name, const char *arch, const char *slug)
{
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_device,
	        &(struct tk_device_row){.machine_id = machine_id,
	                .kind = kind,
	                .name = name,
	                .uuid = slug,
	                .arch = arch,
	                .slug = slug},
	        &id, &seed_err));
	return id;
}

int64_t seed_environment(int64_t device_id, const char *attributes)
{
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_environment,
	        &(struct tk_environment_row){.device_id = device_id, .attributes = attributes}, &id,
	        &seed_err));
	return id;
}

int64_t seed_upstream(const char *name, const char *kind, const char *url)
{
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_upstream,
	        &(struct tk_upstream_row){.name = name, .kind = kind, .url = url}, &id, &seed_err));
	return id;
}

int64_t seed_revision(int64_t upstream_id, const char *rev, int64_t position, const char *subject)
{
	int64_t id, t = FIRST_S + position * DAY_S - 7200;
	seed_check(tk_store_put(seed_db, TK_TABLE_revision,
	        &(struct tk_revision_row){.upstream_id = upstream_id,
	                .rev = rev,
	                .parent = "",
	                .position = position,
	                .author_time_s = t,
	                .commit_time_s = t,
	                .author = "Somebody",
	                .subject = subject},
	        &id, &seed_err));
	return id;
}

int64_t seed_build(int64_t revision_id, const char *key, const char *status, const char *message,
        const char *log)
{
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_build,
	        &(struct tk_build_row){.revision_id = revision_id,
	                .artifact_key = key,
	                .adapter = "cmake",
	                .toolchain = "gcc 12.2.0",
	                .flags = "-O3",
	                .arch = "x86-64",
	                .status = seed_word(&tk_build_status_words, status),
	                .message = message,
	                .log = log,
	                .wall_s = 34.5,
	                .size_bytes = 4000000,
	                .built_s = FIRST_S},
	        &id, &seed_err));
	return id;
}

int64_t seed_problem(const char *text, const char *title)
{
	struct tk_problem_spec spec;
	char made[200];
	int64_t id;
	seed_check(tk_problem_parse(&spec, text, &seed_err));
	tk_problem_format_title(&spec, made, sizeof made);
	seed_check(tk_store_put(seed_db, TK_TABLE_problem,
	        &(struct tk_problem_row){.text = spec.text,
	                .op = tk_problem_op_name(&spec),
	                .dtype = tk_problem_dtype_name(&spec),
	                .title = title ? title : made,
	                .flops = tk_problem_flops(&spec),
	                .bytes = tk_problem_bytes(&spec),
	                .source = "tests/site/seed.c",
	                .family = title ? "hostile" : ""},
	        &id, &seed_err));
	return id;
}

int64_t seed_series_of_metric(int64_t device_id, int64_t upstream_id, const char *backend,
        const char *config, int64_t problem_id, const char *role, const char *mode,
        const char *metric)
{
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_series,
	        &(struct tk_series_row){.device_id = device_id,
	                .upstream_id = upstream_id,
	                .problem_id = problem_id,
	                .backend = backend,
	                .config = config,
	                .mode = mode,
	                .metric = metric,
	                .unit = "ns",
	                .better = TK_BETTER_LOWER,
	                .role = seed_word(&tk_series_role_words, role)},
	        &id, &seed_err));
	return id;
}

int64_t seed_series(int64_t device_id, int64_t upstream_id, const char *backend, const char *config,
        int64_t problem_id, const char *role, const char *mode)
{
	return seed_series_of_metric(
	        device_id, upstream_id, backend, config, problem_id, role, mode, "time");
}

int64_t seed_begin_night(int64_t machine_id, int64_t t_s)
{
	int64_t id;
	seed_check(tk_store_begin_night(seed_db,
	        &(struct tk_night_row){.machine_id = machine_id,
	                .kind = TK_NIGHT_NIGHTLY,
	                .as_of_s = t_s,
	                .started_s = t_s,
	                .status = TK_NIGHT_RUNNING,
	                .seed = 1,
	                .config_hash = "c0ffee",
	                .tracker_version = "0.1.0",
	                .summary = "{}"},
	        &id, &seed_err));
	return id;
}

void seed_stage(int64_t night, const char *name, const char *status, int64_t from_s, int64_t to_s,
        const char *detail)
{
	seed_check(tk_store_put(seed_db, TK_TABLE_stage,
	        &(struct tk_stage_row){.night_id = night,
	                .name = name,
	                .status = seed_word(&tk_stage_status_words, status),
	                .started_s = from_s,
	                .finished_s = to_s,
	                .detail = detail},
	        NULL, &seed_err));
}

void seed_resolution(int64_t night, int64_t upstream_id, int64_t revision_id, int64_t build_id,
        const char *status, const char *message)
{
	seed_check(tk_store_put(seed_db, TK_TABLE_resolution,
	        &(struct tk_resolution_row){.night_id = night,
	                .upstream_id = upstream_id,
	                .revision_id = revision_id,
	                .build_id = build_id,
	                .status = seed_word(&tk_resolution_status_words, status),
	                .message = message},
	        NULL, &seed_err));
}

int64_t seed_run(const struct seed_context *w, int64_t series_id, const char *outcome,
        const char *message, double value, double noise)
{
	int64_t id;
	bool counts = value > 0;
	char attributes[400];
	/* different for each series, so that rankings differ */
	snprintf(attributes, sizeof attributes,
	        "{\"device_bytes\":%d,\"energy_j\":%.4f,\"launch_ns\":%d,\"plan\":{\"algorithm\":"
	        "\"tile "
	        "128x256\",\"kernel\":"
	        "\"gemm_kernel\",\"workspace_bytes\":%d}}",
	        (int)(1 + series_id % 3) << 25,
	        value * 1e-9 * (450 + 100 * (double)(series_id % 3)),
	        (int)(2200 + 300 * (series_id % 4)), (int)(1 + series_id % 4) << 20);
	struct tk_run_row row = {.night_id = w->night,
	        .seq = w->seq,
	        .series_id = series_id,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = w->night_s,
	        .started_s = w->night_s + w->seq * 4,
	        .wall_s = 3.2,
	        .outcome = seed_word(&tk_outcome_words, outcome),
	        .message = message,
	        .attributes = w->samples ? attributes : "{}"};
	struct tk_point point = {.series_id = series_id,
	        .value = value,
	        .lo = value * (1 - noise),
	        .hi = value * (1 + noise),
	        .n = SAMPLES,
	        .min = value * 0.98,
	        .q25 = value * 0.995,
	        .q75 = value * 1.006,
	        .p95 = value * 1.02,
	        .flags = !strcmp(outcome, "unstable") ? TK_POINT_UNSTABLE : 0};
	double list[SAMPLES];
	const double *samples[1] = {list};
	size_t counts_of_samples[1] = {w->samples ? SAMPLES : 0};
	for (size_t i = 0; i < SAMPLES; i++) /* with a tail of slow samples */
		list[i] = value * (1 + noise * ((double)i - SAMPLES / 2) / SAMPLES +
		                          (i > SAMPLES - 4 ? 2 * noise : 0));
	seed_check(tk_store_put_run(
	        seed_db, &row, &point, samples, counts_of_samples, counts ? 1 : 0, &id, &seed_err));
	return id;
}

void seed_ceiling(int64_t night, int64_t device_id, const char *name, const char *source,
        const char *unit, double value)
{
	struct tk_ceiling_row row = {
	        night, device_id, name, seed_word(&tk_ceiling_source_words, source), unit, value};
	seed_check(tk_store_put(seed_db, TK_TABLE_ceiling, &row, NULL, &seed_err));
}
