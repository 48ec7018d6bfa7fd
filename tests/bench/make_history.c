/* Writes a history of N series x M nights through store.h, with the seeded simulated times of the
 * null backend, for the benchmarks of `diff` and `site`. The same arguments make the same history.
 * An existing history is continued where it ends. */
#include "core/problem.h"
#include "decide/decide.h"
#include "null.h"
#include "stats/summary.h"
#include "store/store.h"
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 2
#define UPSTREAMS_MAX 10
#define SAMPLES 11
#define DAY_S 86400
#define FIRST_S 1700000000
#define NIGHTS_PER_COMMIT 25 /* nights in one transaction */

struct series {
	int64_t id;
	size_t device, upstream, problem;
};

struct maker {
	const char *path;
	size_t series_wanted, nights_wanted, keep_samples, upstream_count;
	bool detect;
	struct tk_store *store;
	int64_t machine, device[DEVICES], environment[DEVICES], upstream[UPSTREAMS_MAX],
	        build[UPSTREAMS_MAX];
	uint64_t revision[UPSTREAMS_MAX];
	struct tk_problem_spec *problems;
	int64_t *problem_ids;
	size_t problem_count;
	struct series *series;
	size_t series_count, night, last;
};

static const struct argp_option options[] = {
        {"series", 's', "N", 0, "number of series (2000)", 0},
        {"nights", 'n', "M", 0, "number of nights to add (500)", 0},
        {"upstreams", 'u', "N", 0, "each problem on the backends of so many, at most 10 (10)", 0},
        {"keep-samples", 'k', "K", 0, "raw samples for the last K of them (7)", 0},
        {"detect", 'd', NULL, 0, "decide what moved in the last night", 0},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct maker *m = state->input;

	switch (key) {
	case 's':
		m->series_wanted = strtoul(arg, NULL, 10);
		return 0;
	case 'n':
		m->nights_wanted = strtoul(arg, NULL, 10);
		return 0;
	case 'u':
		m->upstream_count = strtoul(arg, NULL, 10);
		if (!m->upstream_count || m->upstream_count > UPSTREAMS_MAX)
			argp_error(state, "--upstreams=%s: expected 1 to %d", arg, UPSTREAMS_MAX);
		return 0;
	case 'k':
		m->keep_samples = strtoul(arg, NULL, 10);
		return 0;
	case 'd':
		m->detect = true;
		return 0;
	case ARGP_KEY_ARG:
		m->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!m->path || !m->series_wanted)
			argp_usage(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
        options, parse_option, "FILE", "Makes a history of fake nights in FILE.", NULL, NULL, NULL};

/* ---- what is measured ------------------------------------------------------------------------ */

static int put_problem(struct maker *m, size_t i, struct tk_error *err)
{
	static const char *const dtypes[] = {"f32", "bf16", "f16"};
	struct tk_problem_spec *p = &m->problems[i];
	char text[128], title[160];
	int status;

	if (i % 3 == 0)
		snprintf(text, sizeof text, "attention:b=%zu,h=%zu,sq=%d,d=%d,dtype=%s,causal=%zu",
		        1 + i % 8, 8 + i / 3, 128 << (i / 3 % 6), 64 << (i / 2 % 2),
		        dtypes[1 + i / 3 % 2], i / 6 % 2);
	else
		snprintf(text, sizeof text, "gemm:m=%zu,n=%d,k=%d,a=%s,tb=%c", 64 * (1 + i),
		        256 << (i % 5), 512 << (i % 4), dtypes[i % 2], i % 2 ? 't' : 'n');
	status = tk_problem_parse(p, text, err);
	if (status)
		return status;
	tk_problem_format_title(p, title, sizeof title);
	struct tk_problem_row row = {.text = p->text,
	        .op = tk_problem_op_name(p),
	        .dtype = tk_problem_dtype_name(p),
	        .title = title,
	        .flops = tk_problem_flops(p),
	        .bytes = tk_problem_bytes(p),
	        .source = "bench",
	        .family = i % 3 ? "gemm sweep" : "attention sweep"};

	return tk_store_put(m->store, TK_TABLE_problem, &row, &m->problem_ids[i], err);
}

static int put_machine(struct maker *m, struct tk_error *err)
{
	struct tk_machine_row machine = {.name = "bench", .attributes = "{\"hostname\":\"bench\"}"};
	int status = tk_store_put(m->store, TK_TABLE_machine, &machine, &m->machine, err);

	for (size_t i = 0; i < DEVICES && !status; i++) {
		char slug[16];
		struct tk_device_row device = {.machine_id = m->machine,
		        .kind = "null",
		        .name = "Null device",
		        .arch = "null",
		        .slug = slug};
		struct tk_environment_row environment = {
		        .attributes = "{\"driver\":\"1.0\",\"governor\":\"performance\"}"};

		snprintf(slug, sizeof slug, "null-%zu", i);
		status = tk_store_put(m->store, TK_TABLE_device, &device, &m->device[i], err);
		environment.device_id = m->device[i];
		if (!status)
			status = tk_store_put(m->store, TK_TABLE_environment, &environment,
			        &m->environment[i], err);
	}
	return status;
}

static void name_of_upstream(size_t i, char name[16])
{
	if (i)
		snprintf(name, 16, "kernels-%zu", i % 1000000);
	else
		strcpy(name, "control");
}

static int put_series(struct maker *m, struct tk_error *err)
{
	int status = 0;

	for (size_t i = 0; i < m->series_count && !status; i++) {
		struct series *s = &m->series[i];
		char backend[16];

		s->device = i % DEVICES;
		s->upstream = i / DEVICES % m->upstream_count;
		s->problem = i / DEVICES / m->upstream_count;
		name_of_upstream(s->upstream, backend);
		struct tk_series_row row = {.device_id = m->device[s->device],
		        .upstream_id = m->upstream[s->upstream],
		        .problem_id = m->problem_ids[s->problem],
		        .backend = backend,
		        .config = "",
		        .mode = "cold",
		        .metric = "time",
		        .unit = "ns",
		        .better = TK_BETTER_LOWER,
		        .role = s->upstream ? TK_ROLE_SUITE : TK_ROLE_CONTROL};

		status = tk_store_put(m->store, TK_TABLE_series, &row, &s->id, err);
	}
	return status;
}

static int set_up(struct maker *m, struct tk_error *err)
{
	int status;

	m->series_count = m->series_wanted;
	m->problem_count =
	        (m->series_count + DEVICES * m->upstream_count - 1) / (DEVICES * m->upstream_count);
	m->problems = calloc(m->problem_count, sizeof *m->problems);
	m->problem_ids = calloc(m->problem_count, sizeof *m->problem_ids);
	m->series = calloc(m->series_count, sizeof *m->series);
	if (!m->problems || !m->problem_ids || !m->series)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	status = tk_store_begin(m->store, err);
	if (status)
		return status;
	status = put_machine(m, err);
	for (size_t i = 0; i < m->upstream_count && !status; i++) {
		char name[16];
		struct tk_upstream_row row = {
		        .name = name, .kind = "git", .url = "https://example.org/kernels.git"};

		name_of_upstream(i, name);
		status = tk_store_put(m->store, TK_TABLE_upstream, &row, &m->upstream[i], err);
	}
	for (size_t i = 0; i < m->problem_count && !status; i++)
		status = put_problem(m, i, err);
	if (!status)
		status = put_series(m, err);
	if (status)
		tk_store_rollback(m->store);
	return status ? status : tk_store_commit(m->store, err);
}

/* ---- nights ---------------------------------------------------------------------------------- */

/* Every upstream has a commit every few nights; the control has one for ever. */
static int put_build(struct maker *m, size_t u, int64_t night, int64_t at_s, struct tk_error *err)
{
	uint64_t revision = u ? m->night / (1 + u % 4) : 0;
	char rev[48], parent[48], key[64], subject[64];
	int64_t revision_id;
	bool fresh = !m->build[u] || revision != m->revision[u];

	snprintf(rev, sizeof rev, "%08llx%032zx", (unsigned long long)revision, u);
	snprintf(parent, sizeof parent, "%08llx%032zx", (unsigned long long)revision - 1, u);
	snprintf(key, sizeof key, "artifact-%s", rev);
	snprintf(subject, sizeof subject, "gemm: change number %llu", (unsigned long long)revision);
	struct tk_revision_row row = {.upstream_id = m->upstream[u],
	        .rev = rev,
	        .parent = parent,
	        .position = (int64_t)revision + 1,
	        .author_time_s = at_s - 7200,
	        .commit_time_s = at_s - 3600,
	        .author = "Somebody",
	        .subject = subject};
	int status = tk_store_put(m->store, TK_TABLE_revision, &row, &revision_id, err);
	struct tk_build_row build = {.revision_id = revision_id,
	        .artifact_key = key,
	        .adapter = "null",
	        .toolchain = "gcc 12.2.0",
	        .arch = "native",
	        .status = TK_BUILD_OK,
	        .wall_s = 3,
	        .size_bytes = 65536,
	        .built_s = at_s};

	if (!status)
		status = tk_store_put(m->store, TK_TABLE_build, &build, &m->build[u], err);
	m->revision[u] = revision;
	struct tk_resolution_row answer = {.night_id = night,
	        .upstream_id = m->upstream[u],
	        .revision_id = revision_id,
	        .build_id = m->build[u],
	        .status = fresh ? TK_RESOLUTION_NEW : TK_RESOLUTION_UNCHANGED};

	return status ? status : tk_store_put(m->store, TK_TABLE_resolution, &answer, NULL, err);
}

/* Each upstream has a step of its own in some of its problems, half of them up, half of them down;
 * two have it in the week before night 500, so that there is something to be found in it. */
static void options_of(const struct maker *m, const struct series *s, struct null_options *o)
{
	null_options_default(o);
	o->seed = 1;
	o->revision = m->revision[s->upstream];
	o->run = m->night;
	o->noise = 0.004 + 0.001 * (double)(s->problem % 8);
	o->outliers = 0.01;
	if (s->upstream && s->problem % 7 == s->upstream % 7) {
		o->step_at = s->upstream % 4 ? 40 * s->upstream : 496;
		o->step = s->problem % 2 ? 1.07 : 0.94;
	}
}

static int put_run(struct maker *m, const struct series *s, int64_t night, int64_t at_s,
        int64_t seq, struct tk_error *err)
{
	double samples[SAMPLES], sorted[SAMPLES];
	const double *const lists[] = {samples};
	const size_t counts[] = {m->night + m->keep_samples >= m->last ? SAMPLES : 0};
	struct null_options o;
	struct tk_summary summary;
	struct tk_point point = {.series_id = s->id, .n = SAMPLES};
	struct tk_run_row run = {.night_id = night,
	        .seq = seq,
	        .series_id = s->id,
	        .build_id = m->build[s->upstream],
	        .environment_id = m->environment[s->device],
	        .as_of_s = at_s,
	        .started_s = at_s + seq,
	        .wall_s = 0.4,
	        .outcome = TK_OUTCOME_OK,
	        .attributes = "{\"confidence\":0.95,\"launches_per_sample\":1,\"measure_s\":0.2,"
	                      "\"plan\":{\"algorithm\":\"\","
	                      "\"capturable\":false,"
	                      "\"kernel\":\"null\",\"workspace_bytes\":0},\"sets\":4,\"stop\":"
	                      "\"tight\",\"verify\":{"
	                      "\"checked\":128,\"done\":true,"
	                      "\"max_error\":0.1,\"method\":\"rows\",\"passed\":true,\"tolerance\":"
	                      "1.0},\"warmup_s\":0.05}"};

	options_of(m, s, &o);
	struct null_times times = null_times_make(&o, &m->problems[s->problem].abi, 1.0);
	for (size_t i = 0; i < SAMPLES; i++)
		sorted[i] = samples[i] = null_time_ns(&o, &times, i);
	tk_sort_values(sorted, SAMPLES);
	if (tk_summary_compute(samples, SAMPLES, &summary))
		return tk_fail(err, TK_EINTERNAL, "a fake time is no number");
	tk_median_interval(sorted, SAMPLES, 0.95, &point.lo, &point.hi);
	point.value = summary.median;
	point.min = summary.min;
	point.q25 = summary.q25;
	point.q75 = summary.q75;
	point.p95 = summary.p95;
	return tk_store_put_run(m->store, &run, &point, lists, counts, 1, NULL, err);
}

static int put_ceilings(struct maker *m, int64_t night, struct tk_error *err)
{
	int status = 0;

	for (size_t i = 0; i < DEVICES && !status; i++) {
		struct tk_ceiling_row copy = {.night_id = night,
		        .device_id = m->device[i],
		        .name = "copy",
		        .source = TK_CEILING_MEASURED,
		        .unit = "gb_per_s",
		        .value = 100};
		struct tk_ceiling_row f32 = {.night_id = night,
		        .device_id = m->device[i],
		        .name = "f32",
		        .source = TK_CEILING_MEASURED,
		        .unit = "gflop_per_s",
		        .value = 1000};

		status = tk_store_put(m->store, TK_TABLE_ceiling, &copy, NULL, err);
		if (!status)
			status = tk_store_put(m->store, TK_TABLE_ceiling, &f32, NULL, err);
	}
	return status;
}

static int put_night(struct maker *m, int64_t *id, struct tk_error *err)
{
	int64_t at_s = FIRST_S + (int64_t)m->night * DAY_S;
	struct tk_night_row row = {.machine_id = m->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = at_s,
	        .started_s = at_s,
	        .status = TK_NIGHT_RUNNING,
	        .seed = (int64_t)m->night,
	        .config_hash = "bench",
	        .tracker_version = "bench"};
	int status = tk_store_begin_night(m->store, &row, id, err);

	for (size_t u = 0; u < m->upstream_count && !status; u++)
		status = put_build(m, u, *id, at_s, err);
	if (!status)
		status = put_ceilings(m, *id, err);
	for (size_t i = 0; i < m->series_count && !status; i++)
		status = put_run(m, &m->series[i], *id, at_s, (int64_t)i, err);
	return status ? status
	              : tk_store_finish_night(
	                        m->store, *id, TK_NIGHT_COMPLETE, "{}", at_s + 3600, err);
}

static int put_nights(struct maker *m, int64_t *last_id, struct tk_error *err)
{
	int status = 0;

	while (m->night < m->last && !status) {
		status = tk_store_begin(m->store, err);
		if (status)
			return status;
		for (size_t i = 0; i < NIGHTS_PER_COMMIT && m->night < m->last && !status;
		        i++, m->night++)
			status = put_night(m, last_id, err);
		if (status)
			tk_store_rollback(m->store);
		else
			status = tk_store_commit(m->store, err);
	}
	return status;
}

static int decide(struct maker *m, int64_t night, struct tk_error *err)
{
	struct tk_detect_options options_detect = {.min_effect = 0.02,
	        .min_effect_ns = 50,
	        .fdr = 0.05,
	        .window = 10,
	        .stale_days = 7,
	        .now_s = FIRST_S + (int64_t)m->last * DAY_S};
	int64_t from_ns = tk_clock_monotonic_ns();
	int status = tk_detect_night(m->store, night, &options_detect, NULL, err);

	if (!status)
		printf("decided in %.2f s\n", (double)(tk_clock_monotonic_ns() - from_ns) * 1e-9);
	return status;
}

static int make(struct maker *m, struct tk_error *err)
{
	struct tk_rows nights;
	int64_t from_ns = tk_clock_monotonic_ns(), night = 0;
	int status = tk_store_open(m->path, TK_STORE_CREATE, &m->store, err);

	if (!status)
		status = set_up(m, err);
	if (!status)
		status = tk_store_list(m->store, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err);
	if (status)
		return status;
	m->night = nights.count;
	m->last = m->night + m->nights_wanted;
	tk_rows_free(&nights);
	status = put_nights(m, &night, err);
	if (!status)
		printf("%zu series x %zu nights in %.2f s\n", m->series_count, m->nights_wanted,
		        (double)(tk_clock_monotonic_ns() - from_ns) * 1e-9);
	if (!status && m->detect && night)
		status = decide(m, night, err);
	return status;
}

int main(int argc, char **argv)
{
	struct maker m = {.series_wanted = 2000,
	        .nights_wanted = 500,
	        .keep_samples = 7,
	        .upstream_count = UPSTREAMS_MAX};
	struct tk_error err = {0};
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &m);
	status = make(&m, &err);
	tk_store_close(m.store);
	free(m.problems);
	free(m.problem_ids);
	free(m.series);
	if (status)
		fprintf(stderr, "make_history: %s\n", err.message);
	return status ? 1 : 0;
}
