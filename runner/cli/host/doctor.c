/* `tracker doctor`: what this machine has, its noise sources, and why a backend is or is not
 * available. */
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/try.h"
#include "cli/host/doctor.h"
#include "cli/host/inspect.h"
#include "cli/host/survey.h"
#include "cli/table.h"
#include "config/config.h"

/* ---- what is printed ------------------------------------------------------------------------- */

static const char *get_text(const json_t *object, const char *key, const char *otherwise)
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
		const char *type = get_text(c, "type", "");

		printf("%sL%lld%s %lld %s", i ? ", " : "",
		        (long long)json_integer_value(json_object_get(c, "level")),
		        strcmp(type, "Data") == 0          ? "d"
		        : strcmp(type, "Instruction") == 0 ? "i"
		                                           : "",
		        (long long)(bytes >= 1 << 20 ? bytes >> 20 : bytes >> 10),
		        bytes >= 1 << 20 ? "MiB" : "KiB");
	}
}

static const char *smt_name(const json_t *cpu)
{
	const char *word = get_text(cpu, "smt", "unknown");

	return strcmp(word, "notsupported") == 0 || strcmp(word, "notimplemented") == 0 ? "off"
	                                                                                : word;
}

static void print_cpu(const json_t *cpu)
{
	const json_t *turbo = json_object_get(cpu, "turbo");
	json_int_t nodes = json_integer_value(json_object_get(cpu, "numa_nodes"));

	printf("CPU       %s, %lld cores, %lld threads, %lld usable",
	        get_text(cpu, "model", "unknown"),
	        (long long)json_integer_value(json_object_get(cpu, "cores")),
	        (long long)json_integer_value(json_object_get(cpu, "logical")),
	        (long long)json_integer_value(json_object_get(cpu, "usable")));
	if (nodes > 1)
		printf(", %lld NUMA nodes", (long long)nodes);
	fputs("\nCaches    ", stdout);
	print_caches(cpu);
	printf("\nClocks    governor %s, turbo %s, SMT %s, load %.2f\n",
	        get_text(cpu, "governor", "unknown"),
	        json_is_null(turbo)   ? "unknown"
	        : json_is_true(turbo) ? "on"
	                              : "off",
	        smt_name(cpu), json_number_value(json_object_get(cpu, "load_1m")));
}

static void print_machine(const json_t *r)
{
	const json_t *system = json_object_get(r, "system"), *memory = json_object_get(r, "memory"),
	             *limits = json_object_get(r, "limits");
	const json_t *quota = json_object_get(limits, "cpus");
	bool contained = json_is_string(json_object_get(system, "container"));

	printf("System    %s, Linux %s, %s%s%s%s\n", get_text(system, "os", "unknown"),
	        get_text(system, "kernel", ""), get_text(system, "arch", ""),
	        json_is_true(json_object_get(system, "virtual")) ? ", virtual machine" : "",
	        contained ? ", container: " : "", get_text(system, "container", ""));
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

/* In lines of at most 60 columns, the narrowest terminal that tables are made for. */
static void print_absent(const json_t *list)
{
	int column = 0;
	size_t i;
	json_t *e;

	json_array_foreach (list, i, e) {
		const char *name = get_text(e, "name", "");

		if (get_text(e, "path", NULL))
			continue;
		if (!column)
			column = printf("not found: %s", name);
		else if (column + (int)strlen(", ,") + (int)strlen(name) > 60)
			column = printf(",\n%11s%s", "", name) - (int)strlen(",\n");
		else
			column += printf(", %s", name);
	}
	if (column)
		puts("");
}

/* Tools or libraries; the missing ones are listed below the table. */
static int print_found(
        const struct tk_globals *g, const char *title, const json_t *list, struct tk_error *err)
{
	static const struct tk_column columns[] = {{"NAME", 0, "name", 0, NULL},
	        {"VERSION", 0, "version", 0, NULL}, {"PATH", TK_COLUMN_CUT, "path", 0, NULL}, {0}};
	struct tk_table *t = tk_table_new(g, columns);
	size_t i;
	json_t *e;
	int status;

	json_array_foreach (list, i, e)
		if (get_text(e, "path", NULL)) {
			tk_table_add_record(t, e);
			tk_table_set_cell(t, "VERSION", "%s", get_text(e, "version", "?"));
		}
	printf("\n%s\n", title);
	status = tk_table_finish(t, stdout, err);
	print_absent(list);
	return status;
}

static const struct tk_column device_columns[] = {{"DEVICE", 0, NULL, 0, NULL},
        {"AVAILABLE", 0, NULL, 0, NULL}, {"ARCH", TK_COLUMN_OPTIONAL, "arch", 0, NULL},
        {"DRIVER", TK_COLUMN_OPTIONAL, "driver", 0, NULL},
        {"DETAIL", TK_COLUMN_WRAP, NULL, 0, NULL}, {0}};
static const struct tk_column backend_columns[] = {{"BACKEND", 0, "module", 0, NULL},
        {"AVAILABLE", 0, NULL, 0, NULL}, {"DEVICE", TK_COLUMN_OPTIONAL, "device_kind", 0, NULL},
        {"VERSION", TK_COLUMN_OPTIONAL, "version", 0, NULL},
        {"DETAIL", TK_COLUMN_WRAP, NULL, 0, NULL}, {0}};

/* Devices or backends: what they are, or why they are unavailable. The null device is left out: it
 * is for trying the tracker itself, and its backend says so. */
static int print_available(const struct tk_globals *g, const json_t *list,
        const struct tk_column *columns, struct tk_error *err)
{
	bool are_devices = columns == device_columns;
	struct tk_table *t = tk_table_new(g, columns);
	size_t i;
	json_t *e;

	json_array_foreach (list, i, e) {
		bool yes = tk_doctor_is_available(e);

		if (are_devices && strcmp(get_text(e, "layer", ""), "null") == 0)
			continue;
		tk_table_add_record(t, e);
		if (are_devices)
			tk_table_set_cell(t, "DEVICE", "%s:%.0f", get_text(e, "layer", ""),
			        tk_record_number(e, "index"));
		tk_table_set_cell(t, "AVAILABLE", "%s", yes ? "yes" : "no");
		tk_table_set_color(t, "AVAILABLE", yes ? "green" : "yellow");
		tk_table_set_cell(t, "DETAIL", "%s",
		        get_text(e,
		                !yes          ? "reason"
		                : are_devices ? "name"
		                              : "description",
		                ""));
	}
	return tk_table_finish(t, stdout, err);
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

static void print_limits(const json_t *groups)
{
	if (json_is_true(json_object_get(groups, "available")))
		puts("Limits    of each build and worker as a whole, by control groups");
	else
		printf("Limits    of each process: no control groups: %s\n",
		        get_text(groups, "reason", ""));
}

int tk_doctor_print(const struct tk_doctor *d, struct tk_error *err)
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
	printf("\nSandbox   %s (`sandbox: %s`)\n",
	        get_text(json_object_get(r, "sandbox"), "method", "none"),
	        get_text(json_object_get(r, "sandbox"), "mode", "auto"));
	print_limits(json_object_get(r, "control_groups"));
	puts("\nDevices");
	TRY(print_available(d->globals, json_object_get(r, "devices"), device_columns, err));
	puts("\nBackends of this tracker");
	status = print_available(d->globals, json_object_get(r, "backends"), backend_columns, err);
	print_lines("Noise sources", json_object_get(r, "advice"));
	print_lines("Notes", json_object_get(r, "notes"));
	print_lines(
	        "Missing for a full night with this configuration", json_object_get(r, "missing"));
	if (json_array_size(json_object_get(r, "missing")) == 0)
		puts("\nReady: a night can run here (`tracker nightly`)");
	return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static bool as_json;

static const struct tk_option options[] = {
        {TK_OPT_JSON(&as_json, "Print text (default) or JSON")},
        {0},
};

void tk_doctor_add_line(struct tk_doctor *d, const char *list, const char *fmt, ...)
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

json_t *tk_doctor_text(const char *s)
{
	struct tk_buf valid = TK_BUF_INIT;
	json_t *v;

	tk_buf_add_utf8(&valid, s, strlen(s));
	v = json_string(tk_buf_cstr(&valid));
	tk_buf_free(&valid);
	return v;
}

bool tk_doctor_has_tool(const struct tk_doctor *d, const char *name)
{
	size_t i;
	json_t *tool;

	json_array_foreach (json_object_get(d->report, "tools"), i, tool)
		if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
			return json_is_string(json_object_get(tool, "path"));
	return false;
}

static json_t *new_report(const struct tk_globals *g, const struct tk_config *config)
{
	json_t *r = json_object();

	json_object_set_new(r, "version", json_string(TK_VERSION));
	json_object_set_new(r, "program", tk_doctor_text(g->program));
	json_object_set_new(r, "config", config->path ? tk_doctor_text(config->path) : json_null());
	json_object_set_new(r, "data_dir", tk_doctor_text(tk_path_data_dir()));
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

static void examine(struct tk_doctor *d)
{
	struct tk_error err = {0};

	if (tk_modules_load(d->globals->program, &d->modules, &err)) {
		tk_doctor_add_line(d, "missing", "%s", err.message);
	} else {
		json_object_set_new(d->report, "backends_dir", tk_doctor_text(d->modules->dir));
		tk_doctor_probe(d);
	}
	tk_doctor_find_python(d);
	tk_doctor_check_sandbox(d);
	tk_doctor_check_noise(d);
	tk_doctor_check_night(d);
	json_object_set_new(d->report, "ready",
	        json_boolean(json_array_size(json_object_get(d->report, "missing")) == 0));
}

static int run_doctor(struct tk_globals *g, struct tk_error *err)
{
	struct tk_doctor d = {.globals = g};
	int result;

	if (tk_survey_apply_defaults(g, &g->config, err))
		memset(err, 0, sizeof *err); /* the report names what is missing */
	d.config = g->config;
	d.report = new_report(g, g->config);
	examine(&d);
	result = json_is_true(json_object_get(d.report, "ready")) ? TK_EXIT_OK : TK_EXIT_INCOMPLETE;
	if (as_json) {
		json_dumpf(d.report, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		int status = tk_doctor_print(&d, err);
		result = status ? status : result;
	}
	json_decref(d.report);
	tk_modules_free(d.modules);
	return result;
}

const struct tk_command tk_command_doctor = {.name = "doctor",
        .summary = "show what this machine has, and why a backend is unavailable",
        .usage = {.options = options,
                .help = "Show what this machine has (CPU, caches, clocks, compilers, libraries, "
                        "drivers, devices), its noise sources, and why a backend is or is not "
                        "available.\v"
                        "Exit code: 0 a night with this configuration can run in full, 3 "
                        "something is missing (see \"missing\").\n\n"
                        "Examples:\n"
                        "  tracker doctor\n"
                        "  tracker doctor --format=json | jq .missing"},
        .opens = TK_OPENS_CONFIG,
        .run = run_doctor};
