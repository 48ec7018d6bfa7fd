/* The devices of `tracker run`, `profile` and `trace`, one worker each, and the reports of kernels
 * that are stored. */
#include "cli/host/run.h"

#include "core/kernel_package.h"
#include "core/problem.h"
#include "nightly/night.h"
#include "nightly/plan/modules.h"
#include "nightly/plan/suites.h"
#include "nightly/trace/recorded_run.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

/* A worker without a device can load the backend and report the kind of device it needs, and its
 * name. A package is named after itself, not after what launches it. */
static int query_backend(
        struct tk_run_session *r, const struct tk_worker_spec *spec, struct tk_error *err)
{
	bool is_package = tk_kernel_package_device_kind(r->backend_path) != TK_DEVICE_OTHER;
	AUTO_PTR(tk_worker) w = NULL;
	json_auto_t *about = NULL;
	int status = tk_worker_new(spec, &w, err);
	if (!status)
		status = tk_worker_query_backend(w, r->backend_path, &about, err);
	snprintf(r->device_kind, sizeof r->device_kind, "%s", tk_record_text(about, "device_kind"));
	r->backend_name = is_package ? tk_kernel_package_backend(r->backend_path)
	                             : tk_strdup(tk_record_text(about, "name"));
	return status;
}

/* By --device or --devices, whose words are those of `tracker nightly --devices`, or numbers of the
 * backend's kind. */
static bool is_wanted(const char *list, const char *kind, uint32_t index, const char *uuid)
{
	char word[128], number[16];
	char *const names[] = {word, NULL};

	if (!list)
		return index == 0;
	snprintf(number, sizeof number, "%u", index);
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		snprintf(word, sizeof word, "%.*s", (int)len, list);
		if (strcmp(word, "all") == 0 || strcmp(word, number) == 0 ||
		        tk_device_is_selected(names, kind, index, uuid))
			return true;
	}
	return false;
}

/* Opens one device if it is wanted. *count: how many devices of the kind exist. */
static int open_device(struct tk_run_session *r, const struct tk_worker_spec *spec,
        json_int_t *count, struct tk_error *err)
{
	struct tk_run_device p = {.index = spec->device_index};
	struct tk_error why = {0};
	TRY(tk_worker_new(spec, &p.worker, err));
	int status = tk_worker_query_device(p.worker, &p.info, &why);
	if (status && (r->o->devices || status == TK_ECANCELED)) {
		tk_worker_free(p.worker);
		return tk_fail(err, status, "device %u of kind %s: %s", spec->device_index,
		        spec->device_kind, why.message);
	}
	const char *uuid = tk_record_text(p.info, "uuid");
	*count = json_integer_value(json_object_get(p.info, "count"));
	p.count = (uint32_t)*count;
	if (!is_wanted(r->o->devices, spec->device_kind, spec->device_index, uuid)) {
		tk_worker_free(p.worker);
		json_decref(p.info);
		return TK_OK;
	}
	snprintf(p.name, sizeof p.name, "%s:%u", spec->device_kind, spec->device_index);
	if (*uuid)
		snprintf(p.name, sizeof p.name, "%s", uuid);
	snprintf(p.model, sizeof p.model, "%s", tk_record_text(p.info, "name"));
	snprintf(p.arch, sizeof p.arch, "%s", tk_record_text(p.info, "arch"));
	tk_limits_init(&p.limits, tk_device_kind_from_name(spec->device_kind), p.info);
	r->devices_open =
	        tk_realloc(r->devices_open, (r->device_count + 1) * sizeof *r->devices_open);
	r->devices_open[r->device_count++] = p;
	/* the first job reports how this failed */
	status = tk_worker_start_open(
	        p.worker, r->backend_path, r->o->backend_options, TK_WORKER_OPEN_TIMEOUT_S, &why);
	if (!status)
		status = tk_worker_wait_open(p.worker, &why);
	return status == TK_ECANCELED ? tk_fail(err, TK_ECANCELED, "%s", why.message) : TK_OK;
}

static int open_devices(struct tk_run_session *r, struct tk_worker_spec *spec, struct tk_error *err)
{
	json_int_t count = 1;
	for (json_int_t i = 0; i < (r->o->devices ? count : 1); i++) {
		spec->device_index = (uint32_t)i;
		TRY(open_device(r, spec, &count, err));
	}
	if (r->device_count == 0)
		return tk_fail(err, TK_ENOTFOUND, "no device \"%s\" of kind %s; found %lld",
		        r->o->devices, spec->device_kind, (long long)count);
	return TK_OK;
}

static int choose_mode(struct tk_run_session *r, const char *kind, struct tk_error *err)
{
	const struct tk_sequence_entry *e = NULL;
	r->mode = r->o->mode == TK_MODE_COUNT ? tk_mode_default(kind) : r->o->mode;
	if (r->mode == TK_MODE_SEQUENCE) {
		int status = tk_sequence_load(
		        &r->sequences, r->config->root, r->modules, kind, r->o->sequence, &e, err);
		if (status)
			return status == TK_ENOTFOUND ? (err->status = TK_EUSAGE) : status;
		r->sequence = &e->job;
	}
	snprintf(
	        r->mode_word, sizeof r->mode_word, "%s", e ? e->suite.mode : tk_mode_name(r->mode));
	return TK_OK;
}

static int open_workers(struct tk_run_session *r, const struct tk_globals *g, struct tk_error *err)
{
	AUTO_TEXT logs = tk_path_join(r->config->cache_dir, "logs");
	char *kind = r->device_kind;
	TRY(tk_dir_create(logs, err));
	r->log_path = tk_path_join(logs, "run.log");
	struct stat st;
	r->log_bytes = stat(r->log_path, &st) == 0 ? st.st_size : 0;
	struct tk_worker_spec spec = {.program = g->program,
	        .device_kind = "",
	        .modules_dir = r->modules->dir,
	        .log_path = r->log_path,
	        .trace_fd = r->trace_fd,
	        .cpu_list = r->o->cores,
	        .threads = r->o->threads < 0 ? r->config->measure.threads : (uint32_t)r->o->threads,
	        .memory_limit_bytes = r->config->budgets.job_memory_bytes};
	TRY(query_backend(r, &spec, err));
	const struct tk_module *layer = tk_modules_find_device(r->modules, kind);
	if (!layer)
		return tk_fail(err, TK_ENOTFOUND,
		        "backend %s needs a device of kind %s, but tk_device_%s.so is not in %s",
		        r->o->backend, kind, kind, r->modules->dir);
	spec.device_kind = kind;
	spec.device_layer = layer->path;
	TRY(choose_mode(r, kind, err));
	if (r->profile) {
		TRY(tk_run_prepare_profile(r, kind, err));
		spec.profiler = r->profile->command.words;
	}
	return open_devices(r, &spec, err);
}

int tk_run_open_devices(struct tk_run_session *r, const struct tk_globals *g, struct tk_error *err)
{
	r->started_s = tk_clock_now_s();
	TRY(tk_modules_load(g->program, &r->modules, err));
	TRY(tk_backend_find(r->config, r->modules, r->o->backend, &r->backend_path, err));
	char *traced = r->trace_fd ? tk_backend_find_traced(r->backend_path) : NULL;
	if (traced) { /* where there is none, the worker says whether this one records */
		r->plain_path = r->backend_path;
		r->backend_path = traced;
	}
	return open_workers(r, g, err);
}

void tk_run_close_devices(struct tk_run_session *r)
{
	for (size_t i = 0; i < r->device_count; i++) {
		tk_worker_free(r->devices_open[i].worker);
		json_decref(r->devices_open[i].info);
	}
	free(r->devices_open);
	free(r->backend_path);
	free(r->plain_path);
	free(r->backend_name);
	free(r->log_path);
	tk_sequence_free_list(r->sequences);
	tk_texts_free(r->texts);
	tk_modules_free(r->modules);
}

/* ---- stored reports -------------------------------------------------------------------------- */

#define SCHEMA "tracker-kernel-reports/1" /* docs/reference/kernel-reports.md */

int tk_run_store_report(const struct tk_run_session *r, struct tk_store *s,
        enum tk_kernel_report kind, const struct tk_problem_spec *problem, const char *base,
        const json_t *result, const json_t *timeline, struct tk_error *err)
{
	const struct tk_run_device *d = &r->devices_open[0];
	const struct tk_kernel_report_place place = {.config = r->config,
	        .modules = r->modules,
	        .device_kind = r->device_kind,
	        .device_index = d->index,
	        .device_count = d->count,
	        .device_info = d->info,
	        .problem = problem->text,
	        .backend = r->backend_name,
	        .backend_path = r->plain_path ? r->plain_path : r->backend_path};
	AUTO_TEXT result_text = tk_kernel_report_dump(result);
	AUTO_TEXT timeline_text = tk_kernel_report_dump(timeline);
	const struct tk_kernel_report_row row = {.kind = kind,
	        .options = r->o->backend_options ? r->o->backend_options : "",
	        .config = r->o->config_name ? r->o->config_name : "",
	        .mode = tk_mode_name(r->mode),
	        .base = base ? base : "",
	        .started_s = r->started_s,
	        .result = result_text,
	        .timeline = timeline_text};

	return tk_kernel_report_store(s, &place, &row, err);
}

json_t *tk_run_encode_head(const struct tk_run_session *r, const char *backend, const char *schema,
        const struct tk_problem_spec *problem)
{
	char title[TK_PROBLEM_TEXT_MAX];

	tk_problem_format_title(problem, title, sizeof title);
	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}", "schema", schema, "backend",
	        tk_json_text(backend), "device", tk_json_text(r->devices_open[0].name),
	        "device_model", tk_json_text(r->devices_open[0].model), "problem", problem->text,
	        "title", title);
}

static const char list_sql[] =
        "SELECT p.text AS problem, p.title, m.name AS machine, d.slug AS device,"
        "  d.name AS device_name, e.attributes AS \"environment:json\", k.uid, k.kind,"
        "  k.started_s AS \"started:time\", k.upstream AS \"upstream:text\","
        "  k.revision AS \"revision:text\", k.artifact_key, k.backend,"
        "  k.options AS \"options:text\", k.config AS \"config:text\", k.mode,"
        "  k.base AS \"base:text\", k.result AS \"result:json\""
        " FROM kernel_report k JOIN problem p ON p.id = k.problem_id"
        "  JOIN device d ON d.id = k.device_id JOIN machine m ON m.id = d.machine_id"
        "  JOIN environment e ON e.id = k.environment_id"
        " WHERE k.kind = ?1 AND (?2 IS NULL OR ?2 IN (k.backend, k.upstream))"
        " ORDER BY k.started_s DESC, k.id DESC";

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title"},
        {"BACKEND", TK_COLUMN_CUT, "{backend}[, {config}]"},
        {"DEVICE", TK_COLUMN_CUT, "device"},
        {"REVISION", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "revision", TK_SHOW_SHORT},
        {"WHEN", TK_COLUMN_DROP(2), "started", TK_SHOW_DAY},
        {"TIME", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL,
                "[{result.time_ns:ns}][{result.untraced_ns:ns}][{!result.untraced_ns}"
                "[{result.traced_ns:ns}]]"},
        {"RECORDING", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "recording", TK_SHOW_SIGNED},
        {"TENSOR", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "result.tensor_share", TK_SHOW_PERCENT},
        {"DRAM", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "result.dram_bytes", TK_SHOW_BYTES},
        {"COMPARED WITH", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "base"},
        {0},
};

int tk_run_list_reports(struct tk_globals *g, enum tk_kernel_report kind,
        const struct tk_run_options *o, struct tk_error *err)
{
	const char *word = tk_kernel_report_name(kind);
	json_auto_t *rows = NULL;
	json_t *row;
	size_t i;

	TRY(tk_command_open(g, TK_OPENS_READ, err));
	TRY(tk_records_select(g->store, list_sql, TK_ARGS(word, o->backend), &rows, err));
	if (o->json)
		return tk_command_print_json(
		        json_pack("{s:s,s:O}", "schema", SCHEMA, "rows", rows), err);
	if (!json_array_size(rows))
		printf("nothing is stored; `tracker %s BACKEND PROBLEM` records a kernel\n", word);
	json_array_foreach (rows, i, row)
		json_object_set_new(row, "recording",
		        tk_json_number(tk_record_number(row, "result.traced_ns") /
		                               tk_record_number(row, "result.untraced_ns") -
		                       1));
	return tk_records_print(g, columns, json_incref(rows), false, err);
}

/* ---- tracker worker -------------------------------------------------------------------------- */

/* The process that loads backends, so that a crash of a backend is not one of the tracker. Started
 * by the tracker, not by people. */

static struct {
	int in, out;
} descriptors = {0, 1};

static int parse_descriptor(const char *text, void *to, struct tk_error *err)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (!*text || *end || v < 0 || v > 1 << 20 || fcntl((int)v, F_GETFD) < 0)
		return tk_fail(err, TK_EUSAGE, "expected an open descriptor");
	*(int *)to = (int)v;
	return TK_OK;
}

static const struct tk_option worker_options[] = {
        {TK_OPT_PARSED("in-fd", 0, "N", parse_descriptor, &descriptors.in,
                "descriptor that requests come from (default 0)")},
        {TK_OPT_PARSED("out-fd", 0, "N", parse_descriptor, &descriptors.out,
                "descriptor that answers go to (default 1)")},
        {0},
};

static int run_worker(struct tk_globals *g, struct tk_error *err)
{
	return tk_worker_serve(descriptors.in, descriptors.out);
}

const struct tk_command tk_command_worker = {.name = "worker",
        .summary = "serve a parent tracker (internal)",
        .usage = {.options = worker_options,
                .help = "Serve a parent tracker: JSON lines in, JSON lines out "
                        "(docs/reference/worker-protocol.md). Started by the tracker itself."},
        .run = run_worker,
        .hidden = true};
