/* `tracker doctor`: what this machine has, what disturbs measurements here, and
 * why a backend is or is not available. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/host/inspect.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "nightly/plan/modules.h"
#include "nightly/stages/recipe.h"
#include "worker/worker.h"

#define DEVICES_MAX 64

enum { OPT_FORMAT = 256 };

static const struct argp_option options[] = {
        {"format", OPT_FORMAT, "text|json", 0, "how to print it (default: text)"},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(state, "takes no argument: %s", arg);
	if (key != OPT_FORMAT)
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = tk_option_parse_json(arg, state);
	return 0;
}

const struct argp tk_argp_doctor = {options, parse_option, NULL,
        "What this machine has, what disturbs measurements here, and why a backend "
        "is or is not available.\v"
        "Exit code 0: a night with this configuration can run in full; 3: "
        "something that it needs is missing (see \"missing\").\n\n"
        "Examples:\n  tracker doctor\n  tracker doctor --format=json"};

/* ---- devices and backends, as a worker sees them
 * ------------------------------------------------------------- */

struct doctor {
	const struct tk_globals *globals;
	const struct tk_config *config;
	struct tk_modules *modules;
	json_t *report;
};

static void add_line(struct doctor *d, const char *list, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static void add_line(struct doctor *d, const char *list, const char *fmt, ...)
{
	struct tk_buf text = TK_BUF_INIT, valid = TK_BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	tk_buf_add_vprintf(&text, fmt, ap);
	va_end(ap);
	tk_buf_add_utf8(&valid, tk_buf_cstr(&text), text.len);
	json_array_append_new(json_object_get(d->report, list), json_string(tk_buf_cstr(&valid)));
	tk_buf_free(&text);
	tk_buf_free(&valid);
}

static json_t *json_text(const char *s)
{
	struct tk_buf valid = TK_BUF_INIT;
	json_t *v;

	tk_buf_add_utf8(&valid, s, strlen(s));
	v = json_string(tk_buf_cstr(&valid));
	tk_buf_free(&valid);
	return v;
}

static int open_worker(const struct doctor *d, const struct tk_module *layer, uint32_t index,
        struct tk_worker **w, struct tk_error *err)
{
	struct tk_worker_spec spec = {.program = d->globals->program,
	        .device_kind = layer->name,
	        .device_layer = layer->path,
	        .device_index = index};

	return tk_worker_new(&spec, w, err);
}

/* One device of a layer, also where it is missing. How many there are comes back: 0 where that is
 * not known. */
static json_int_t add_device(struct doctor *d, const struct tk_module *layer, uint32_t index)
{
	struct tk_error err = {0};
	struct tk_worker *w = NULL;
	json_t *device = NULL;
	int status = open_worker(d, layer, index, &w, &err);

	if (!status)
		status = tk_worker_query_device(w, &device, &err);
	tk_worker_free(w);
	if (status)
		device = json_pack("{s:o}", "reason", json_text(err.message));
	json_object_set_new(device, "available", json_boolean(!status));
	json_object_set_new(device, "layer", json_text(layer->name));
	json_object_set_new(device, "index", json_integer(index));
	json_array_append_new(json_object_get(d->report, "devices"), device);
	return json_integer_value(json_object_get(device, "count"));
}

static void add_devices(struct doctor *d)
{
	for (size_t i = 0; d->modules && i < d->modules->device_count; i++) {
		json_int_t count = 1;

		for (uint32_t index = 0; index < count && index < DEVICES_MAX; index++) {
			json_int_t said = add_device(d, &d->modules->devices[i], index);

			count = said > count ? said : count;
		}
	}
}

static const json_t *find_device(const struct doctor *d, const char *kind)
{
	size_t i;
	json_t *device;

	json_array_foreach (json_object_get(d->report, "devices"), i, device) {
		const char *layer = json_string_value(json_object_get(device, "layer"));

		if (layer && strcmp(layer, kind) == 0)
			return device;
	}
	return NULL;
}

static bool is_available(const json_t *entry)
{
	return json_is_true(json_object_get(entry, "available"));
}

/* Any worker that runs can load a backend to ask what it is; which device it
 * needs is in its answer. */
static int ask_backend(
        struct doctor *d, const struct tk_module *m, json_t **said, struct tk_error *err)
{
	const struct tk_module *layer = tk_modules_find_device(d->modules, "cpu");
	struct tk_worker *w = NULL;
	int status;

	if (!layer && d->modules->device_count)
		layer = &d->modules->devices[0];
	if (!layer)
		return tk_fail(err, TK_ENOTFOUND, "there is no device layer to ask it with");
	status = open_worker(d, layer, 0, &w, err);
	if (!status)
		status = tk_worker_query_backend(w, m->path, said, err);
	tk_worker_free(w);
	return status;
}

static void add_backend(struct doctor *d, const struct tk_module *m)
{
	struct tk_error err = {0};
	json_t *said = NULL;
	const char *kind;
	const json_t *device;

	if (ask_backend(d, m, &said, &err)) {
		said = json_pack(
		        "{s:o, s:b}", "reason", json_text(err.message), "available", false);
	} else {
		kind = json_string_value(json_object_get(said, "device_kind"));
		device = kind ? find_device(d, kind) : NULL;
		json_object_set_new(said, "available", json_boolean(is_available(device)));
		if (!device)
			json_object_set_new(said, "reason",
			        json_sprintf("no device layer `%s`", kind ? kind : "?"));
		else if (!is_available(device))
			json_object_set_new(said, "reason",
			        json_sprintf("no %s device: %s", kind,
			                json_string_value(json_object_get(device, "reason"))));
	}
	json_object_set_new(said, "module", json_text(m->name));
	json_object_set_new(said, "path", json_text(m->path));
	json_array_append_new(json_object_get(d->report, "backends"), said);
}

/* ---- can a night run?
 * ----------------------------------------------------------------------------------------
 */

static bool has_tool(const struct doctor *d, const char *name)
{
	size_t i;
	json_t *tool;

	json_array_foreach (json_object_get(d->report, "tools"), i, tool)
		if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
			return json_is_string(json_object_get(tool, "path"));
	return false;
}

/* NULL where the backend may be used, else why not. */
static const char *backend_reason(const struct doctor *d, const char *name)
{
	size_t i;
	json_t *b;

	json_array_foreach (json_object_get(d->report, "backends"), i, b) {
		const char *reason = json_string_value(json_object_get(b, "reason"));

		if (strcmp(json_string_value(json_object_get(b, "module")), name) == 0)
			return is_available(b) ? NULL : reason ? reason : "not available";
	}
	return "it was not built with this tracker";
}

static void check_modules(struct doctor *d, const struct tk_upstream_config *u)
{
	const char *reason;

	if (!u->backends || !u->backends[0]) {
		reason = u->adapter ? backend_reason(d, u->adapter) : NULL;
		if (reason)
			add_line(d, "missing", "upstream %s: backend %s: %s", u->name, u->adapter,
			        reason);
		return;
	}
	for (char **b = u->backends; *b; b++) {
		reason = backend_reason(d, *b);
		if (reason)
			add_line(d, "missing", "upstream %s: backend %s: %s", u->name, *b, reason);
	}
}

static void check_build_tools(struct doctor *d, const struct tk_upstream_config *u)
{
	static const char *const needed[] = {"git", "cmake"};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!has_tool(d, needed[i]))
			add_line(d, "missing",
			        "upstream %s: it is built from source, and there is no %s", u->name,
			        needed[i]);
	if (!has_tool(d, "gcc") && !has_tool(d, "clang"))
		add_line(d, "missing",
		        "upstream %s: it is built from source, and there is neither gcc "
		        "nor clang",
		        u->name);
	if (!has_tool(d, "ninja") && !has_tool(d, "make"))
		add_line(d, "missing",
		        "upstream %s: it is built from source, and there is neither ninja "
		        "nor make",
		        u->name);
}

static void check_adapter(struct doctor *d, const struct tk_upstream_config *u)
{
	struct tk_error err = {0};

	if (tk_recipe_check_adapter(d->config, u, &err))
		add_line(d, "missing", "upstream %s: %s", u->name, err.message);
}

/* A repository of this machine has to be there; one of another machine is not asked. */
static void check_repository(struct doctor *d, const struct tk_upstream_config *u)
{
	if (u->url && u->url[0] == '/' && access(u->url, R_OK) != 0)
		add_line(d, "missing", "upstream %s: there is no repository %s", u->name, u->url);
}

/* Whether it can be written, or made: then the nearest folder above it that is there tells. Nothing
 * is made here. */
static void check_folder(struct doctor *d, const char *what, const char *path)
{
	char *at = tk_path_make_absolute(path);

	while (at && access(at, F_OK) != 0 && at[1]) {
		char *slash = strrchr(at, '/');

		slash[slash == at] = '\0';
	}
	if (at && (!tk_dir_exists(at) || access(at, W_OK | X_OK) != 0))
		add_line(d, "missing", "%s %s: %s %s", what, path, at,
		        tk_dir_exists(at) ? "cannot be written" : "is no folder");
	free(at);
}

static void check_history(struct doctor *d)
{
	const char *path = d->globals->db_path ? d->globals->db_path : d->config->db;
	char *up = tk_path_join(path, "..");

	if (tk_file_exists(path) && access(path, W_OK) != 0)
		add_line(d, "missing", "the history %s cannot be written", path);
	else if (up)
		check_folder(d, "the folder of the history", up);
	free(up);
}

static void check_suites(struct doctor *d)
{
	for (char **name = d->config->suites; name && *name; name++) {
		struct tk_error err = {0};
		struct tk_suite *suite = NULL;

		if (tk_suite_load(d->config->root, *name, &suite, &err))
			add_line(d, "missing", "suite %s: %s", *name, err.message);
		else
			tk_suite_free(suite);
	}
}

static bool is_wanted(const struct doctor *d, const json_t *device)
{
	const char *layer = json_string_value(json_object_get(device, "layer")),
	           *uuid = json_string_value(json_object_get(device, "uuid"));

	return tk_device_is_selected(d->config->devices, layer,
	        (uint32_t)json_integer_value(json_object_get(device, "index")), uuid ? uuid : "");
}

static void check_night(struct doctor *d)
{
	bool any = false;
	size_t i;
	json_t *device;

	json_array_foreach (json_object_get(d->report, "devices"), i, device)
		any = any || (is_available(device) && is_wanted(d, device));
	if (!any)
		add_line(d, "missing",
		        "none of the configured devices (`devices`) is here: nothing can be "
		        "measured");
	for (i = 0; i < d->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &d->config->upstreams[i];

		if (!u->enabled)
			continue;
		if (u->kind == TK_UPSTREAM_SELF || u->kind == TK_UPSTREAM_GIT) {
			check_build_tools(d, u);
			check_adapter(d, u);
			check_repository(d, u);
		} else {
			check_modules(d, u);
		}
	}
	check_suites(d);
	check_folder(d, "the cache", d->config->cache_dir);
	check_history(d);
}

/* ---- what disturbs
 * -------------------------------------------------------------------------------------------
 */

static void advise_on_cpu(struct doctor *d)
{
	const json_t *cpu = json_object_get(d->report, "cpu");
	const char *governor = json_string_value(json_object_get(cpu, "governor")),
	           *smt = json_string_value(json_object_get(cpu, "smt"));
	double load = json_number_value(json_object_get(cpu, "load_1m"));
	json_int_t usable = json_integer_value(json_object_get(cpu, "usable")),
	           logical = json_integer_value(json_object_get(cpu, "logical"));

	if (governor && strcmp(governor, "performance") != 0)
		add_line(d, "advice",
		        "the governor is `%s`: clocks follow the load; `cpupower "
		        "frequency-set -g performance` holds them",
		        governor);
	if (json_is_true(json_object_get(cpu, "turbo")))
		add_line(d, "advice",
		        "turbo is on: clocks depend on temperature and on the neighbours; "
		        "turn it off for comparisons between nights");
	if (smt && strcmp(smt, "on") == 0)
		add_line(d, "advice",
		        "SMT is on: a busy sibling halves a core; set `threads` to the "
		        "number of cores");
	if (load > 0.5 * (double)usable)
		add_line(d, "advice",
		        "load average %.1f on %lld CPUs: other work disturbs the measurements",
		        load, (long long)usable);
	if (usable < logical)
		add_line(d, "advice", "only %lld of %lld CPUs may be used here", (long long)usable,
		        (long long)logical);
}

static void advise(struct doctor *d)
{
	const json_t *system = json_object_get(d->report, "system"),
	             *limits = json_object_get(d->report, "limits");
	const json_t *quota = json_object_get(limits, "cpus");
	double usable =
	        json_number_value(json_object_get(json_object_get(d->report, "cpu"), "usable"));

	advise_on_cpu(d);
	if (json_is_real(quota) && json_real_value(quota) < usable)
		add_line(d, "advice",
		        "the control group allows %.2g CPUs: kernels are stopped in the "
		        "middle when it is used up",
		        json_real_value(quota));
	if (json_is_true(json_object_get(system, "virtual")))
		add_line(d, "advice",
		        "a virtual machine: clocks and neighbours cannot be seen from "
		        "here; trust the control problem");
	if (!has_tool(d, "ccache"))
		add_line(d, "advice",
		        "ccache is not installed: builds of neighbouring revisions take "
		        "longer");
}

/* ---- printing
 * ------------------------------------------------------------------------------------------------
 */

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s ? s : otherwise;
}

static void print_caches(const json_t *cpu)
{
	size_t i;
	json_t *c;

	json_array_foreach (json_object_get(cpu, "caches"), i, c) {
		json_int_t bytes = json_integer_value(json_object_get(c, "bytes"));
		const char *type = text_of(c, "type", "");

		printf("%sL%lld%s %lld %s", i ? ", " : "",
		        (long long)json_integer_value(json_object_get(c, "level")),
		        strcmp(type, "Data") == 0          ? "d"
		        : strcmp(type, "Instruction") == 0 ? "i"
		                                           : "",
		        (long long)(bytes >= 1 << 20 ? bytes >> 20 : bytes >> 10),
		        bytes >= 1 << 20 ? "MiB" : "KiB");
	}
}

static const char *smt_word(const json_t *cpu)
{
	const char *word = text_of(cpu, "smt", "not visible");

	return strcmp(word, "notsupported") == 0 || strcmp(word, "notimplemented") == 0 ? "off"
	                                                                                : word;
}

static void print_cpu(const json_t *cpu)
{
	const json_t *turbo = json_object_get(cpu, "turbo");
	json_int_t nodes = json_integer_value(json_object_get(cpu, "numa_nodes"));

	printf("CPU       %s, %lld cores, %lld threads, %lld usable",
	        text_of(cpu, "model", "unknown"),
	        (long long)json_integer_value(json_object_get(cpu, "cores")),
	        (long long)json_integer_value(json_object_get(cpu, "logical")),
	        (long long)json_integer_value(json_object_get(cpu, "usable")));
	if (nodes > 1)
		printf(", %lld NUMA nodes", (long long)nodes);
	fputs("\nCaches    ", stdout);
	print_caches(cpu);
	printf("\nClocks    governor %s, turbo %s, SMT %s, load %.2f\n",
	        text_of(cpu, "governor", "not visible"),
	        json_is_null(turbo)   ? "not visible"
	        : json_is_true(turbo) ? "on"
	                              : "off",
	        smt_word(cpu), json_number_value(json_object_get(cpu, "load_1m")));
}

static void print_machine(const json_t *r)
{
	const json_t *system = json_object_get(r, "system"), *memory = json_object_get(r, "memory"),
	             *limits = json_object_get(r, "limits");
	const json_t *quota = json_object_get(limits, "cpus");
	bool contained = json_is_string(json_object_get(system, "container"));

	printf("System    %s, Linux %s, %s%s%s%s\n", text_of(system, "os", "unknown"),
	        text_of(system, "kernel", ""), text_of(system, "arch", ""),
	        json_is_true(json_object_get(system, "virtual")) ? ", virtual machine" : "",
	        contained ? ", container: " : "", text_of(system, "container", ""));
	print_cpu(json_object_get(r, "cpu"));
	printf("Memory    %.1f GiB, %.1f GiB available",
	        json_number_value(json_object_get(memory, "total_bytes")) / 0x1p30,
	        json_number_value(json_object_get(memory, "available_bytes")) / 0x1p30);
	if (json_is_integer(json_object_get(limits, "memory_bytes")))
		printf(", limited to %.1f GiB",
		        json_number_value(json_object_get(limits, "memory_bytes")) / 0x1p30);
	if (json_is_real(quota))
		printf("\nQuota     %.2g CPUs", json_real_value(quota));
	puts("");
}

/* Rows of `list` in columns that are named like its members; what is not there
 * is not shown. */
static int print_found(
        const struct tk_globals *g, const char *title, const json_t *list, struct tk_error *err)
{
	static const struct tk_column columns[] = {
	        {"NAME", 0}, {"VERSION", 0}, {"PATH", TK_COLUMN_CUT}, {0}};
	struct tk_table *t = tk_table_new(g, columns);
	struct tk_buf absent = TK_BUF_INIT;
	size_t i;
	json_t *e;
	int status;

	json_array_foreach (list, i, e) {
		const char *path = text_of(e, "path", NULL);

		if (!path) {
			tk_buf_add_printf(
			        &absent, "%s%s", absent.len ? ", " : "", text_of(e, "name", ""));
			continue;
		}
		tk_table_add_row(t);
		tk_table_set_cell(t, "NAME", "%s", text_of(e, "name", ""));
		tk_table_set_cell(t, "VERSION", "%s", text_of(e, "version", "?"));
		tk_table_set_cell(t, "PATH", "%s", path);
	}
	printf("\n%s\n", title);
	status = tk_table_print(t, stdout, err);
	if (absent.len)
		printf("not found: %s\n", tk_buf_cstr(&absent));
	tk_table_free(t);
	tk_buf_free(&absent);
	return status;
}

/* Devices and backends have the same shape: a name, two members of their own,
 * and what they are or why they are not. */
struct listing {
	const char *keys[2];
	struct tk_column columns[6];
};

static const struct listing device_listing = {{"arch", "driver"},
        {{"DEVICE", 0}, {"AVAILABLE", 0}, {"ARCH", TK_COLUMN_OPTIONAL},
                {"DRIVER", TK_COLUMN_OPTIONAL}, {"DETAIL", TK_COLUMN_WRAP}, {0}}};
static const struct listing backend_listing = {{"device_kind", "version"},
        {{"BACKEND", 0}, {"AVAILABLE", 0}, {"DEVICE", TK_COLUMN_OPTIONAL},
                {"VERSION", TK_COLUMN_OPTIONAL}, {"DETAIL", TK_COLUMN_WRAP}, {0}}};

static int print_available(const struct tk_globals *g, const json_t *list,
        const struct listing *shape, struct tk_error *err)
{
	const struct tk_column *columns = shape->columns;
	struct tk_table *t = tk_table_new(g, columns);
	size_t i;
	json_t *e;
	int status;

	json_array_foreach (list, i, e) {
		bool yes = is_available(e);

		if (!json_object_get(e, "module") && strcmp(text_of(e, "layer", ""), "null") == 0)
			continue; /* no device: it is for trying the tracker itself, and its backend
			             says so */
		tk_table_add_row(t);
		if (json_object_get(e, "module"))
			tk_table_set_cell(t, columns[0].name, "%s", text_of(e, "module", ""));
		else
			tk_table_set_cell(t, columns[0].name, "%s:%lld", text_of(e, "layer", ""),
			        (long long)json_integer_value(json_object_get(e, "index")));
		tk_table_set_cell(t, "AVAILABLE", "%s", yes ? "yes" : "no");
		tk_table_set_color(t, "AVAILABLE", yes ? "green" : "yellow");
		tk_table_set_cell(t, columns[2].name, "%s", text_of(e, shape->keys[0], ""));
		tk_table_set_cell(t, columns[3].name, "%s", text_of(e, shape->keys[1], ""));
		tk_table_set_cell(t, "DETAIL", "%s",
		        yes ? text_of(e, json_object_get(e, "module") ? "description" : "name", "")
		            : text_of(e, "reason", ""));
	}
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static void print_lines(const char *title, const json_t *lines)
{
	size_t i;
	json_t *line;

	if (json_array_size(lines) == 0)
		return;
	printf("\n%s\n", title);
	json_array_foreach (lines, i, line)
		printf("  %s\n", json_string_value(line));
}

static int print_text(const struct doctor *d, struct tk_error *err)
{
	const json_t *r = d->report;
	int status;

	print_machine(r);
	status = print_found(d->globals, "Tools", json_object_get(r, "tools"), err);
	if (!status)
		status = print_found(
		        d->globals, "Libraries and drivers", json_object_get(r, "libraries"), err);
	if (status)
		return status;
	puts("\nDevices");
	status = print_available(d->globals, json_object_get(r, "devices"), &device_listing, err);
	if (status)
		return status;
	puts("\nBackends that came with this tracker");
	status = print_available(d->globals, json_object_get(r, "backends"), &backend_listing, err);
	print_lines("What disturbs measurements here", json_object_get(r, "advice"));
	print_lines("To know", json_object_get(r, "notes"));
	print_lines(
	        "Missing for a full night with this configuration", json_object_get(r, "missing"));
	if (json_array_size(json_object_get(r, "missing")) == 0)
		puts("\nA night can run here: tracker nightly");
	return status;
}

/* ---- the command
 * ---------------------------------------------------------------------------------------------
 */

static json_t *new_report(const struct tk_globals *g, const struct tk_config *config)
{
	json_t *r = json_object();

	json_object_set_new(r, "version", json_string(TK_VERSION));
	json_object_set_new(r, "program", json_text(g->program));
	json_object_set_new(r, "config", config->path ? json_text(config->path) : json_null());
	json_object_set_new(r, "data_dir", json_text(tk_data_dir()));
	json_object_set_new(r, "system", tk_inspect_system());
	json_object_set_new(r, "cpu", tk_inspect_cpu());
	json_object_set_new(r, "memory", tk_inspect_memory());
	json_object_set_new(r, "limits", tk_inspect_limits());
	json_object_set_new(r, "tools", tk_inspect_tools());
	json_object_set_new(r, "libraries", tk_inspect_libraries());
	json_object_set_new(r, "devices", json_array());
	json_object_set_new(r, "backends", json_array());
	json_object_set_new(r, "advice", json_array());
	json_object_set_new(r, "notes", json_array());
	json_object_set_new(r, "missing", json_array());
	return r;
}

/* What nobody could try must be said where it would be used. */
static void note_hip(struct doctor *d)
{
	const json_t *device = find_device(d, "hip");

	if (!device)
		add_line(d, "notes",
		        "hip: this tracker has no modules for AMD GPUs: hipcc was not found when "
		        "it was built, or does "
		        "not "
		        "know their architectures (docs/explanation/kernels-hip.md)");
	else
		add_line(d, "notes",
		        "hip: these modules were compiled and linked, but no AMD GPU has run them "
		        "yet: look at the "
		        "first "
		        "figures as docs/explanation/kernels-hip.md says");
}

static void examine(struct doctor *d)
{
	struct tk_error err = {0};

	if (tk_modules_load(d->globals->program, &d->modules, &err)) {
		add_line(d, "missing", "%s", err.message);
	} else {
		json_object_set_new(d->report, "backends_dir", json_text(d->modules->dir));
		add_devices(d);
		for (size_t i = 0; i < d->modules->backend_count; i++)
			add_backend(d, &d->modules->backends[i]);
		note_hip(d);
	}
	advise(d);
	check_night(d);
	json_object_set_new(d->report, "ready",
	        json_boolean(json_array_size(json_object_get(d->report, "missing")) == 0));
}

int tk_cmd_doctor(const struct tk_globals *g, int argc, char **argv)
{
	struct doctor d = {.globals = g};
	struct tk_config *config = NULL;
	struct tk_error err = {0};
	bool as_json = false;
	int code;

	argp_parse(&tk_argp_doctor, argc, argv, 0, NULL, &as_json);
	code = tk_command_open(g, "doctor", -1, &config, NULL);
	if (code)
		return code;
	d.config = config;
	d.report = new_report(g, config);
	examine(&d);
	code = json_is_true(json_object_get(d.report, "ready")) ? TK_EXIT_OK : TK_EXIT_INCOMPLETE;
	if (as_json) {
		json_dumpf(d.report, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (print_text(&d, &err)) {
		code = tk_command_fail("doctor", &err);
	}
	json_decref(d.report);
	tk_modules_free(d.modules);
	tk_command_close(config, NULL);
	return code;
}
