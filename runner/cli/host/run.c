/* `tracker run`: measures problems on one backend now, and prints what came out. Nothing is stored.
 */
#include "base/file.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/mode.h"
#include "core/problem.h"
#include "nightly/plan/modules.h"
#include "site_gen/render/format.h"
#include "worker/worker.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	OPT_SUITE = 256,
	OPT_OPTIONS,
	OPT_CONFIG,
	OPT_HOT,
	OPT_SAMPLES,
	OPT_NO_VERIFY,
	OPT_DEVICE,
	OPT_DEVICES,
	OPT_SETS,
	OPT_SECONDS,
	OPT_THREADS,
	OPT_CORES,
	OPT_SEED,
	OPT_MODE,
	OPT_REST
};

struct run_options {
	const char *backend, *suite, *backend_options, *config_name, *cores;
	const char *devices; /* NULL: the first */
	char **problems;
	int problem_count;
	enum tk_mode mode; /* TK_MODE_COUNT: as the device's kind is measured */
	bool samples, no_verify, json;
	double seconds, threads, seed, rest, sets; /* negative: not given */
};

/* clang-format off */
static const struct argp_option options[] = {
	{"suite", OPT_SUITE, "NAME|FILE", 0, "every problem of a suite, after those that are named", 1},
	{"options", OPT_OPTIONS, "KEY=VALUE,...", 0, "options for the backend", 2},
	{"config-of-backend", OPT_CONFIG, "NAME", 0, "one of the backend's own configurations (default: its best guess)", 2},
	{"device", OPT_DEVICE, "N|UUID", 0, "which device of the backend's kind (default: 0)", 2},
	{"devices", OPT_DEVICES, "LIST", 0, "several of them, one after the other: all, numbers (0,2), names (cuda:1), UUIDs", 2},
	{"threads", OPT_THREADS, "N", 0, "threads of a CPU backend (default: as configured, else all cores)", 2},
	{"cores", OPT_CORES, "LIST", 0, "pin the worker to these cores, for instance 0-3,8", 2},
	{"mode", OPT_MODE, "MODE", 0, "cold, hot, paced, sustained or loaded (default: paced on a GPU, else cold)", 3},
	{"hot", OPT_HOT, NULL, 0, "the same as --mode=hot: one input set that stays in the caches", 3},
	{"rest", OPT_REST, "TIME", 0, "paced, loaded: idle gap between two bursts, for instance 3ms (default: found for each kernel)", 3},
	{"sets", OPT_SETS, "N", 0, "input sets to rotate over (default: as many as keep the caches cold)", 3},
	{"seconds", OPT_SECONDS, "TIME", 0, "sampling time of one problem: 2, 500ms (default: as configured)", 3},
	{"seed", OPT_SEED, "N", 0, "seed of the inputs (default: 1)", 3},
	{"no-verify", OPT_NO_VERIFY, NULL, 0, "do not check the results: only for looking at a kernel that is known to be wrong", 3},
	{"samples", OPT_SAMPLES, NULL, 0, "print every sample as well", 4},
	{"format", 'f', "text|json", 0, "a table, or JSON", 4},
	{0},
};
/* clang-format on */

static void take_words(struct run_options *o, struct argp_state *state)
{
	o->backend = state->argv[state->next];
	o->problems = state->argv + state->next + 1;
	o->problem_count = state->argc - state->next - 1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;
	switch (key) {
	case OPT_SUITE:
		o->suite = arg;
		return 0;
	case OPT_OPTIONS:
		o->backend_options = arg;
		return 0;
	case OPT_CONFIG:
		o->config_name = arg;
		return 0;
	case OPT_CORES:
		o->cores = arg;
		return 0;
	case OPT_HOT:
		o->mode = TK_MODE_HOT;
		return 0;
	case OPT_MODE:
		if (tk_mode_parse(arg, &o->mode))
			argp_error(state,
			        "--mode=%s: expected cold, hot, paced, sustained or loaded", arg);
		return 0;
	case OPT_REST:
		o->rest = tk_option_parse_quantity(TK_QUANTITY_TIME, arg, "rest", 0, 1, state);
		return 0;
	case OPT_SAMPLES:
		o->samples = true;
		return 0;
	case OPT_NO_VERIFY:
		o->no_verify = true;
		return 0;
	case OPT_DEVICE:
	case OPT_DEVICES:
		if (!*arg || (key == OPT_DEVICE && strchr(arg, ',')))
			argp_error(state, "--device%s=%s: expected %s",
			        key == OPT_DEVICE ? "" : "s", arg,
			        key == OPT_DEVICE ? "a number or a UUID" : "all, numbers or UUIDs");
		o->devices = arg;
		return 0;
	case OPT_SETS:
		o->sets = tk_option_parse_quantity(TK_QUANTITY_COUNT, arg, "sets", 0, 4096, state);
		return 0;
	case OPT_THREADS:
		o->threads = tk_option_parse_quantity(
		        TK_QUANTITY_COUNT, arg, "threads", 0, 65536, state);
		return 0;
	case OPT_SEED:
		o->seed =
		        tk_option_parse_quantity(TK_QUANTITY_COUNT, arg, "seed", 0, 0x1p53, state);
		return 0;
	case OPT_SECONDS:
		o->seconds = tk_option_parse_quantity(
		        TK_QUANTITY_DURATION, arg, "seconds", 0, 3600, state);
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* all of them together, below */
	case ARGP_KEY_ARGS:
		take_words(o, state);
		return 0;
	case ARGP_KEY_END:
		if (!o->backend)
			argp_error(state, "which backend? `tracker doctor` lists them");
		if (o->problem_count == 0 && !o->suite)
			argp_error(state, "which problem? for instance gemm:m=512,n=512,k=512 or "
			                  "--suite=smoke");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_run = {options, parse_option, "BACKEND [PROBLEM...]",
        "Measure problems on one backend now and print what came out. Nothing is stored; `tracker "
        "nightly` does that.\v"
        "BACKEND is the name of a backend of this tracker, or the path of a shared object "
        "(tk_backend_NAME.so). A "
        "result that "
        "is wrong is not timed.\n\n"
        "Exit code: 0 every problem was measured or is none for this backend, 2 usage, 3 some jobs "
        "failed, 4 nothing "
        "could be run.\n\n"
        "Examples:\n"
        "  tracker run cpu gemm:m=512,n=512,k=512\n"
        "  tracker run cpu attention:b=1,h=8,sq=1024,d=64,dtype=bf16 --hot --seconds=2\n"
        "  tracker run openblas --suite=smoke --format=json"};

/* ---- what is run
 * -------------------------------------------------------------------------------------------- */

/* A device that is measured, with the worker that serves it. */
struct place {
	struct tk_worker *worker;
	char name[80]; /* its UUID, else "cuda:1" */
};

struct run {
	const struct run_options *o;
	const struct tk_config *config;
	struct tk_modules *modules;
	struct place *places;
	size_t place_count;
	enum tk_mode mode;
	struct tk_suite *suite;
	char *backend_path, *log_path;
	off_t log_bytes; /* what was in it before */
	struct tk_table *table;
	json_t *json;
	size_t measured, unsupported, failed;
};

static int find_backend(struct run *r, struct tk_error *err)
{
	const char *name = r->o->backend;
	if (strchr(name, '/') ||
	        (strlen(name) > 3 && strcmp(name + strlen(name) - 3, ".so") == 0)) {
		if (!tk_file_exists(name))
			return tk_fail(err, TK_EUSAGE, "there is no file %s", name);
		r->backend_path = tk_path_make_absolute(name);
		return r->backend_path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
	}
	const struct tk_module *m = tk_modules_find_backend(r->modules, name);
	if (!m)
		return tk_fail(err, TK_EUSAGE,
		        "there is no backend `%s` in %s: `tracker doctor` lists them", name,
		        r->modules->dir);
	r->backend_path = strdup(m->path);
	return r->backend_path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

/* A worker without a device can still load the backend and say what kind it needs. */
static int ask_kind(struct run *r, const struct tk_worker_spec *spec, char *kind, size_t size,
        struct tk_error *err)
{
	struct tk_worker *w = NULL;
	json_t *about = NULL;
	int status = tk_worker_new(spec, &w, err);
	if (status == TK_OK)
		status = tk_worker_query_backend(w, r->backend_path, &about, err);
	if (status == TK_OK)
		snprintf(
		        kind, size, "%s", json_string_value(json_object_get(about, "device_kind")));
	json_decref(about);
	tk_worker_free(w);
	return status;
}

/* One word of --device or --devices: what `tracker nightly --devices` takes, of the backend's kind
 * alone. */
static bool means(const char *word, size_t len, const char *kind, uint32_t index, const char *uuid)
{
	char copy[128], number[16];
	char *const names[] = {copy, NULL};
	snprintf(number, sizeof number, "%u", index);
	snprintf(copy, sizeof copy, "%.*s", (int)len, word);
	return strcmp(copy, "all") == 0 || strcmp(copy, number) == 0 ||
	       tk_device_is_selected(names, kind, index, uuid);
}

static bool is_wanted(const char *list, const char *kind, uint32_t index, const char *uuid)
{
	if (!list)
		return index == 0;
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (means(list, len, kind, index, uuid))
			return true;
	}
	return false;
}

/* Looks at one device; *count is how many there are. */
static int open_place(
        struct run *r, const struct tk_worker_spec *spec, json_int_t *count, struct tk_error *err)
{
	struct place p = {0};
	json_t *info = NULL;
	struct tk_error why = {0};
	int status = tk_worker_new(spec, &p.worker, err);
	if (status)
		return status;
	if ((status = tk_worker_query_device(p.worker, &info, &why)) != TK_OK &&
	        (r->o->devices || status == TK_ECANCELED)) {
		tk_worker_free(p.worker);
		return tk_fail(err, status, "device %u of kind %s: %s", spec->device_index,
		        spec->device_kind, why.message);
	}
	const char *uuid = json_string_value(json_object_get(info, "uuid"));
	*count = json_integer_value(json_object_get(info, "count"));
	snprintf(p.name, sizeof p.name, "%s:%u", spec->device_kind, spec->device_index);
	bool wanted =
	        is_wanted(r->o->devices, spec->device_kind, spec->device_index, uuid ? uuid : "");
	if (uuid && *uuid)
		snprintf(p.name, sizeof p.name, "%s", uuid);
	json_decref(info);
	struct place *grown =
	        wanted ? realloc(r->places, (r->place_count + 1) * sizeof *grown) : NULL;
	if (!grown) {
		tk_worker_free(p.worker);
		return wanted ? tk_fail(err, TK_ENOMEM, "out of memory") : TK_OK;
	}
	r->places = grown;
	r->places[r->place_count++] = p;
	/* how this fails, the first job says */
	status = tk_worker_start_open(
	        p.worker, r->backend_path, r->o->backend_options, TK_WORKER_OPEN_TIMEOUT_S, &why);
	if (status == TK_OK)
		status = tk_worker_wait_open(p.worker, &why);
	return status == TK_ECANCELED ? tk_fail(err, TK_ECANCELED, "%s", why.message) : TK_OK;
}

static int open_places(struct run *r, struct tk_worker_spec *spec, struct tk_error *err)
{
	json_int_t count = 1;
	int status = TK_OK;
	for (json_int_t i = 0; status == TK_OK && i < (r->o->devices ? count : 1); i++) {
		spec->device_index = (uint32_t)i;
		status = open_place(r, spec, &count, err);
	}
	if (status == TK_OK && r->place_count == 0)
		return tk_fail(err, TK_ENOTFOUND, "there is no device `%s` of kind %s: %lld found",
		        r->o->devices, spec->device_kind, (long long)count);
	return status;
}

static int open_workers(struct run *r, const struct tk_globals *g, struct tk_error *err)
{
	char kind[16], *logs = tk_path_join(r->config->cache_dir, "logs");
	int status = logs ? tk_dir_create(logs, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	r->log_path = logs ? tk_path_join(logs, "run.log") : NULL;
	free(logs);
	if (status)
		return status;
	struct stat st;
	r->log_bytes = stat(r->log_path, &st) == 0 ? st.st_size : 0;
	struct tk_worker_spec spec = {.program = g->program,
	        .device_kind = "",
	        .log_path = r->log_path,
	        .cpu_list = r->o->cores,
	        .threads = r->o->threads < 0 ? r->config->measure.threads : (uint32_t)r->o->threads,
	        .memory_limit_bytes = r->config->budgets.job_memory_bytes};
	if ((status = ask_kind(r, &spec, kind, sizeof kind, err)))
		return status;
	const struct tk_module *layer = tk_modules_find_device(r->modules, kind);
	if (!layer)
		return tk_fail(err, TK_ENOTFOUND,
		        "backend %s needs a device of kind %s, and there is no tk_device_%s.so in "
		        "%s",
		        r->o->backend, kind, kind, r->modules->dir);
	spec.device_kind = kind;
	spec.device_layer = layer->path;
	r->mode = r->o->mode == TK_MODE_COUNT ? tk_mode_default(kind) : r->o->mode;
	return open_places(r, &spec, err);
}

/* ---- how it is shown
 * ---------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct tk_column columns[] = {
	{"PROBLEM", TK_COLUMN_LEFT}, {"DEVICE", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL}, {"MEDIAN", TK_COLUMN_RIGHT}, {"INTERVAL", TK_COLUMN_RIGHT}, {"N", TK_COLUMN_RIGHT},
	{"RATE", TK_COLUMN_RIGHT}, {"VERIFY", TK_COLUMN_LEFT}, {"OUTCOME", TK_COLUMN_LEFT},
	{"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {NULL, 0},
};
/* clang-format on */

static double value(const json_t *result, const char *name)
{
	return json_number_value(json_object_get(result, name));
}

static void set_time(struct tk_table *t, const char *column, double ns)
{
	char text[TK_FORMAT_SIZE];
	tk_table_set_cell(t, column, "%s", tk_format_value(ns, "ns", text));
}

static void set_rate(struct tk_table *t, const json_t *result, double median_ns)
{
	double flops = value(result, "flops"), bytes = value(result, "bytes");
	if (flops > 0)
		tk_table_set_cell(t, "RATE", "%.4g GFLOP/s", flops / median_ns);
	else if (bytes > 0)
		tk_table_set_cell(t, "RATE", "%.4g GB/s", bytes / median_ns);
}

static void set_verify(struct tk_table *t, const json_t *result)
{
	const json_t *v = json_object_get(result, "verify");
	if (!json_is_true(json_object_get(v, "done"))) {
		tk_table_set_cell(t, "VERIFY", "-");
		return;
	}
	bool passed = json_is_true(json_object_get(v, "passed"));
	tk_table_set_cell(t, "VERIFY", "%s %.1e of %.1e", passed ? "ok" : "wrong",
	        value(v, "max_error"), value(v, "tolerance"));
	tk_table_set_color(t, "VERIFY", passed ? "green" : "red");
}

static void add_row(
        struct run *r, const struct place *p, const char *problem, const struct tk_job_result *job)
{
	struct tk_table *t = r->table;
	double median = value(job->result, "median");
	char text[TK_FORMAT_SIZE];
	tk_table_add_row(t);
	tk_table_set_cell(t, "PROBLEM", "%s", problem);
	if (r->place_count > 1)
		tk_table_set_cell(t, "DEVICE", "%s", p->name);
	tk_table_set_cell(t, "OUTCOME", "%s", tk_outcome_name(job->outcome));
	tk_table_set_color(t, "OUTCOME",
	        job->outcome == TK_OUTCOME_OK         ? "green"
	        : tk_outcome_has_timing(job->outcome) ? "yellow"
	                                              : "red");
	tk_table_set_cell(t, "WHY", "%s", job->message);
	set_verify(t, job->result);
	if (!tk_outcome_has_timing(job->outcome))
		return;
	set_time(t, "MEDIAN", median);
	if (value(job->result, "n") > 1) /* one sample has none */
		tk_table_set_cell(t, "INTERVAL", "%s",
		        tk_format_half_width(
		                median, value(job->result, "lo"), value(job->result, "hi"), text));
	tk_table_set_cell(t, "N", "%.0f", value(job->result, "n"));
	set_rate(t, job->result, median);
}

static void add_json(
        struct run *r, const struct place *p, const char *problem, const struct tk_job_result *job)
{
	json_t *o = json_object(), *result = job->result ? json_copy(job->result) : json_null();
	if (!r->o->samples && job->result)
		json_object_del(result, "samples");
	json_object_set_new(o, "backend", json_string(r->o->backend));
	json_object_set_new(o, "device", json_string(p->name));
	json_object_set_new(o, "problem", json_string(problem));
	json_object_set_new(o, "mode", json_string(tk_mode_name(r->mode)));
	json_object_set_new(o, "outcome", json_string(tk_outcome_name(job->outcome)));
	json_object_set_new(o, "message", json_string(job->message));
	json_object_set_new(o, "wall_s", json_real(job->wall_s));
	json_object_set_new(o, "result", result);
	json_array_append_new(r->json, o);
}

/* One line a problem, in time order, after the table's row has been decided. */
static void print_samples(const char *problem, const struct tk_job_result *job)
{
	const json_t *samples = json_object_get(job->result, "samples");
	size_t i;
	json_t *x;
	if (!samples)
		return;
	printf("%s ns:", problem);
	json_array_foreach (samples, i, x)
		printf(" %.10g", json_number_value(x));
	putchar('\n');
}

static int run_one(struct run *r, const struct place *place, const char *text, struct tk_error *err)
{
	struct tk_problem_spec p;
	struct tk_job_result job;
	const struct tk_measure_config *m = &r->config->measure;
	int status = tk_problem_parse(&p, text, err);
	if (status)
		return err->status = TK_EUSAGE;
	struct tk_job_request q = {.backend_path = r->backend_path,
	        .backend_options = r->o->backend_options,
	        .problem = p.text,
	        .config = r->o->config_name,
	        .mode = tk_mode_name(r->mode),
	        .rest_s = r->o->rest < 0 ? 0 : r->o->rest,
	        .sets = r->o->sets < 0 ? 0 : (uint32_t)r->o->sets,
	        .seed = r->o->seed < 0 ? 1 : (uint64_t)r->o->seed,
	        .deadline_s = r->config->budgets.job_s,
	        .measure_s = r->o->seconds < 0 ? r->config->budgets.measure_s : r->o->seconds,
	        .relative_half_width = m->relative_half_width,
	        .confidence = m->confidence,
	        .min_samples = m->min_samples,
	        .max_samples = m->max_samples,
	        .verify = !r->o->no_verify};
	if (q.measure_s > q.deadline_s / 4)
		q.deadline_s = q.measure_s * 4;
	if ((status = tk_worker_measure(place->worker, &q, &job, err)))
		return status;
	r->measured += tk_outcome_has_timing(job.outcome);
	r->unsupported += job.outcome == TK_OUTCOME_UNSUPPORTED;
	r->failed += !tk_outcome_has_timing(job.outcome) && job.outcome != TK_OUTCOME_UNSUPPORTED;
	add_row(r, place, p.text, &job);
	add_json(r, place, p.text, &job);
	if (r->o->samples && !r->o->json)
		print_samples(p.text, &job);
	tk_job_result_free(&job);
	return TK_OK;
}

/* Texts are checked before anything is measured: a typing error in the last one shall not cost the
 * time of the others.
 */
static int check_problems(const struct run_options *o, struct tk_error *err)
{
	struct tk_problem_spec p;
	for (int i = 0; i < o->problem_count; i++)
		if (tk_problem_parse(&p, o->problems[i], err))
			return err->status = TK_EUSAGE;
	return TK_OK;
}

static int prepare(struct run *r, const struct tk_globals *g, struct tk_error *err)
{
	int status = check_problems(r->o, err);
	if (status == TK_OK && r->o->cores)
		status = tk_cpu_list_check(r->o->cores, err);
	if (status == TK_OK && r->o->suite)
		status = tk_suite_load(r->config->root, r->o->suite, &r->suite, err);
	if (status == TK_ENOTFOUND)
		err->status = status = TK_EUSAGE;
	if (status == TK_OK)
		status = tk_modules_load(g->program, &r->modules, err);
	if (status == TK_OK)
		status = find_backend(r, err);
	return status ? status : open_workers(r, g, err);
}

static int run_place(struct run *r, const struct place *place, struct tk_error *err)
{
	int status = TK_OK;
	for (int i = 0; status == TK_OK && i < r->o->problem_count; i++)
		status = run_one(r, place, r->o->problems[i], err);
	for (size_t i = 0; status == TK_OK && r->suite && i < r->suite->count; i++)
		status = run_one(r, place, r->suite->problems[i].text, err);
	return status;
}

static int run_all(struct run *r, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < r->place_count; i++)
		status = run_place(r, &r->places[i], err);
	return status;
}

static int print_all(struct run *r, struct tk_error *err)
{
	if (!r->o->json)
		return tk_table_print(r->table, stdout, err);
	if (json_dumpf(r->json, stdout,
	            JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10)) ||
	        putchar('\n') == EOF)
		return tk_fail(err, TK_EIO, "writing JSON failed");
	return TK_OK;
}

static void close_run(struct run *r)
{
	for (size_t i = 0; i < r->place_count; i++)
		tk_worker_free(r->places[i].worker);
	free(r->places);
	tk_modules_free(r->modules);
	tk_suite_free(r->suite);
	tk_table_free(r->table);
	json_decref(r->json);
	free(r->backend_path);
	free(r->log_path);
}

/* The log of earlier runs is appended to. */
static bool printed_something(const struct run *r)
{
	struct stat st;
	return r->log_path && stat(r->log_path, &st) == 0 && st.st_size != r->log_bytes;
}

int tk_cmd_run(const struct tk_globals *g, int argc, char **argv)
{
	struct run_options o = {.sets = -1,
	        .seconds = -1,
	        .threads = -1,
	        .seed = -1,
	        .rest = -1,
	        .mode = TK_MODE_COUNT};
	struct tk_config *config = NULL;
	struct tk_error err = {0};
	argp_parse(&tk_argp_run, argc, argv, 0, NULL, &o);
	int code = tk_command_open(g, "run", -1, &config, NULL);
	if (code)
		return code;
	tk_cancel_install_handlers();
	struct run r = {
	        .o = &o, .config = config, .table = tk_table_new(g, columns), .json = json_array()};
	int status = prepare(&r, g, &err);
	if (status == TK_OK)
		status = run_all(&r, &err);
	if (r.measured + r.unsupported + r.failed > 0) {
		struct tk_error printing = {0};
		int printed = print_all(&r, &printing);
		if (status == TK_OK && printed)
			status = tk_fail(&err, printed, "%s", printing.message);
	}
	code = status ? tk_command_fail("run", &err) : r.failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
	if (r.failed && !g->quiet && printed_something(&r))
		fprintf(stderr, "tracker run: what the backend printed is in %s\n", r.log_path);
	close_run(&r);
	tk_command_close(config, NULL);
	return code;
}
