/* `tracker doctor`: what this machine has, its noise sources, and why a backend is or is not
 * available. */
#include <unistd.h>

#include "base/sandbox.h"
#include "cli/host/survey.h"
#include "cli/table.h"
#include "config/suite.h"
#include "nightly/night.h"
#include "nightly/stages/upstream_build.h"

struct doctor {
	const struct tk_globals *g;
	struct tk_modules *modules; /* NULL: they could not be found */
	json_t *report;
};

/* Appends a sentence to a list of the report: "missing", "advice", "notes". */
__attribute__((format(printf, 3, 4))) static void add_line(
        struct doctor *d, const char *list, const char *fmt, ...)
{
	AUTO_TEXT text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = tk_vsprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(json_object_get(d->report, list), tk_json_valid_text(text));
}

static bool has_tool(const struct doctor *d, const char *name)
{
	const json_t *tools = json_object_get(d->report, "tools");

	return *tk_record_text(tk_records_find(tools, "name", name), "path");
}

/* ---- devices and backends -------------------------------------------------------------------- */

/* A kind of GPU without modules: something is missing where such a GPU is here, else it is a
 * note. */
static void probe(struct doctor *d)
{
	json_t *devices = tk_survey_devices(d->g, d->modules, true);

	json_object_set_new(d->report, "devices", devices);
	json_object_set_new(d->report, "backends", tk_survey_backends(d->g, d->modules, devices));
	for (size_t i = 0; i < TK_GPU_KINDS; i++) {
		bool is_present;
		AUTO_TEXT why = tk_gpu_explain_missing(d->modules, i, &is_present);

		if (why)
			add_line(d, is_present ? "missing" : "notes", "%s", why);
	}
	if (tk_modules_find_device(d->modules, "hip"))
		add_line(d, "notes",
		        "hip: these modules were compiled and linked, but no AMD GPU has run them "
		        "yet: look at the first figures as docs/explanation/kernels-hip.md says");
}

/* ---- what a night with this configuration would miss ----------------------------------------- */

/* Why the backend cannot be used; NULL: it can. */
static const char *backend_reason(const struct doctor *d, const char *name)
{
	const json_t *b = tk_records_find(json_object_get(d->report, "backends"), "module", name);
	const char *reason = json_string_value(json_object_get(b, "reason"));

	return !b                          ? "not built with this tracker"
	       : tk_survey_is_available(b) ? NULL
	       : reason                    ? reason
	                                   : "not available";
}

static void check_modules(struct doctor *d, const struct tk_upstream_config *u)
{
	char *const adapter[] = {u->adapter, NULL};
	const char *reason;

	for (char *const *b = u->backends && u->backends[0] ? u->backends : adapter; *b; b++)
		if ((reason = backend_reason(d, *b)))
			add_line(d, "missing", "upstream %s: backend %s: %s", u->name, *b, reason);
}

static void check_build_tools(struct doctor *d, const struct tk_upstream_config *u)
{
	static const struct {
		const char *one, *other;
	} needed[] = {{"git", NULL}, {"cmake", NULL}, {"gcc", "clang"}, {"ninja", "make"}};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!has_tool(d, needed[i].one) &&
		        (!needed[i].other || !has_tool(d, needed[i].other)))
			add_line(d, "missing", "upstream %s: building from source needs %s%s%s",
			        u->name, needed[i].one, needed[i].other ? " or " : "",
			        needed[i].other ? needed[i].other : "");
}

static void check_adapter(struct doctor *d, const struct tk_upstream_config *u)
{
	struct tk_error err = {0};

	if (tk_upstream_check_adapter(d->g->config, u, &err))
		add_line(d, "missing", "upstream %s: %s", u->name, err.message);
}

/* Only local repositories are checked; the doctor uses no network. */
static void check_repository(struct doctor *d, const struct tk_upstream_config *u)
{
	if (u->url && u->url[0] == '/' && access(u->url, R_OK) != 0)
		add_line(
		        d, "missing", "upstream %s: repository %s does not exist", u->name, u->url);
}

/* A folder that does not exist yet is fine if its nearest existing parent can be written. */
static void check_folder(struct doctor *d, const char *what, const char *path)
{
	AUTO_TEXT at = tk_path_make_absolute(path);

	while (access(at, F_OK) != 0 && at[1]) {
		char *slash = strrchr(at, '/');

		slash[slash == at] = '\0';
	}
	if (!tk_dir_exists(at) || access(at, W_OK | X_OK) != 0)
		add_line(d, "missing", "%s %s: %s %s", what, path, at,
		        tk_dir_exists(at) ? "cannot be written" : "is not a folder");
}

static void check_history(struct doctor *d)
{
	const char *path = d->g->db_path ? d->g->db_path : d->g->config->db;
	AUTO_TEXT up = tk_path_join(path, "..");

	if (tk_file_exists(path) && access(path, W_OK) != 0)
		add_line(d, "missing", "history %s: cannot be written", path);
	else
		check_folder(d, "folder of the history", up);
}

/* What the newest night of each device and mode could tell apart. */
static int read_sensitivity(struct doctor *d, struct tk_error *err)
{
	const char *path = d->g->db_path ? d->g->db_path : d->g->config->db;
	AUTO_PTR(tk_store) history = NULL;

	if (!tk_file_exists(path))
		return TK_OK;
	TRY(tk_store_open(path, TK_STORE_READ, &history, err));
	return tk_records_select_member(history,
	        "SELECT device, mode, noise, pairs, min_effect FROM"
	        " (SELECT d.slug AS device, mode, noise, pair_count AS pairs, min_effect,"
	        " max(n.as_of_s) FROM sensitivity JOIN night n ON n.id=night_id"
	        " JOIN device d ON d.id=device_id JOIN machine m ON m.id=d.machine_id"
	        " WHERE m.name=?1 GROUP BY device_id, mode ORDER BY device, mode)",
	        TK_ARGS(d->g->config->machine), d->report, "sensitivity", err);
}

static void note_sensitivity(struct doctor *d)
{
	struct tk_error err = {0};

	if (read_sensitivity(d, &err))
		add_line(d, "missing", "history: %s", err.message);
}

static void check_suites(struct doctor *d)
{
	for (char **name = d->g->config->suites; name && *name; name++) {
		struct tk_error err = {0};
		struct tk_suite *suite = NULL;
		enum tk_device_kind kind;
		const char *suite_name = tk_config_suite_name(*name, &kind);

		if (tk_suite_load(d->g->config->root, suite_name, &suite, &err))
			add_line(d, "missing", "suite %s: %s", *name, err.message);
		else
			tk_suite_free(suite);
	}
}

/* An upstream that is built from a repository and names no backends may measure any. */
static bool is_configured(const struct doctor *d, const char *backend)
{
	for (size_t i = 0; i < d->g->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &d->g->config->upstreams[i];
		bool named = u->backends && u->backends[0];

		if (!u->enabled)
			continue;
		if (!named && (tk_upstream_kind_has_commits(u->kind) ||
		                      (u->adapter && strcmp(u->adapter, backend) == 0)))
			return true;
		for (char **b = u->backends; named && *b; b++)
			if (strcmp(*b, backend) == 0)
				return true;
	}
	return false;
}

static bool is_wanted(const struct doctor *d, const json_t *device)
{
	return tk_device_is_selected(d->g->config->devices, tk_record_text(device, "layer"),
	        (uint32_t)json_integer_value(json_object_get(device, "index")),
	        tk_record_text(device, "uuid"));
}

/* A GPU that is available, selected, and of which no upstream's backend is. */
static void check_measured(struct doctor *d, const char *kind)
{
	const json_t *device =
	        tk_records_find(json_object_get(d->report, "devices"), "layer", kind);
	size_t i;
	json_t *b;

	if (!tk_survey_is_available(device) || !is_wanted(d, device))
		return;
	json_array_foreach (json_object_get(d->report, "backends"), i, b) {
		if (strcmp(tk_record_text(b, "device_kind"), kind) == 0 &&
		        tk_survey_is_available(b) && is_configured(d, tk_record_text(b, "module")))
			return;
	}
	add_line(d, "missing",
	        "%s: no upstream measures this device; `tracker init --force` writes a tracker.yml "
	        "that does",
	        kind);
}

static void check_night(struct doctor *d)
{
	bool any = false;
	size_t i;
	json_t *device;

	json_array_foreach (json_object_get(d->report, "devices"), i, device)
		any = any || (tk_survey_is_available(device) && is_wanted(d, device));
	if (!any)
		add_line(d, "missing",
		        "no configured device (`devices`) is available; nothing can be measured");
	for (i = 0; i < d->g->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &d->g->config->upstreams[i];

		if (!u->enabled)
			continue;
		if (tk_upstream_kind_is_built(u->kind)) {
			if (u->kind != TK_UPSTREAM_PACKAGE)
				check_build_tools(d, u);
			check_adapter(d, u);
			check_repository(d, u);
		} else {
			check_modules(d, u);
		}
	}
	check_measured(d, "cuda");
	check_measured(d, "hip");
	check_suites(d);
	check_folder(d, "cache", d->g->config->cache_dir);
	check_history(d);
}

/* ---- packages of Python that nothing measures ------------------------------------------------ */

static bool is_measured(const struct doctor *d, const char *name)
{
	if (d->modules && tk_modules_find_backend(d->modules, name))
		return true;
	for (size_t i = 0; i < d->g->config->upstream_count; i++)
		if (!strcmp(tk_text_or(d->g->config->upstreams[i].adapter, ""), name))
			return true;
	return false;
}

static void note_python(struct doctor *d)
{
	AUTO(tk_python_packages) found = {0};

	tk_python_packages_find(&found);
	for (const struct tk_config_host_package *p = found.list; p->name; p++)
		if (!is_measured(d, p->name))
			add_line(d, "notes",
			        "python3 has %s %s, which nothing measures: see docs/how-to/%s.md",
			        p->package, p->version,
			        p->is_compiler ? "track-a-compiler" : "track-a-python-library");
}

/* ---- the sandbox ----------------------------------------------------------------------------- */

/* What code in the sandbox can still do; docs/explanation/sandbox.md has the whole table. */
static const char *const gaps[] = {
        [TK_SANDBOX_NONE] = "builds and backends run with all rights of this user: adapters and "
                            "backends are trusted code",
        [TK_SANDBOX_LIMITS] = "builds and backends can read and write all files of this user; only "
                              "network sockets and signals to the tracker are stopped",
        [TK_SANDBOX_LANDLOCK] = "builds and backends see the processes of this machine and can "
                                "connect to services on Unix sockets",
        [TK_SANDBOX_BUBBLEWRAP] = NULL,
};

static void check_sandbox(struct doctor *d)
{
	enum tk_sandbox_method method = tk_sandbox_method();
	const char *no_groups = tk_cgroup_reason();

	json_object_set_new(d->report, "sandbox",
	        json_pack("{s:s, s:s, s:o}", "mode", tk_sandbox_mode_name(tk_sandbox_mode()),
	                "method", tk_sandbox_method_name(method), "reason",
	                tk_json_valid_text(tk_sandbox_reason())));
	json_object_set_new(d->report, "control_groups",
	        json_pack("{s:b, s:o}", "available", !no_groups, "reason",
	                tk_json_valid_text(no_groups ? no_groups : "")));
	if (gaps[method])
		add_line(d, "notes", "sandbox: %s (%s)", gaps[method], tk_sandbox_reason());
	if (!tk_sandbox_is_sufficient(method))
		add_line(d, "missing",
		        "sandbox: required, and neither bubblewrap nor Landlock works here: %s",
		        tk_sandbox_reason());
}

/* ---- what makes measurements noisy ----------------------------------------------------------- */

static void check_noise(struct doctor *d)
{
	const json_t *r = d->report;
	const char *governor = tk_record_text(r, "cpu.governor");
	double load = tk_record_number(r, "cpu.load_1m"),
	       usable = tk_record_number(r, "cpu.usable");
	const struct {
		bool applies;
		const char *template;
	} advice[] = {{*governor && strcmp(governor, "performance") != 0,
	                      "CPU governor \"{cpu.governor}\" changes the clocks with the load; "
	                      "fix them with `cpupower frequency-set -g performance`"},
	        {json_is_true(tk_record_get(r, "cpu.turbo")),
	                "turbo is on: clocks depend on temperature and on other cores; turn it off "
	                "to compare nights"},
	        {strcmp(tk_record_text(r, "cpu.smt"), "on") == 0,
	                "SMT is on: two threads share a core; set `threads` to the number of "
	                "cores"},
	        {load > 0.5 * usable, "load average {cpu.load_1m} on {cpu.usable} CPUs: other "
	                              "processes disturb the measurements"},
	        {usable < tk_record_number(r, "cpu.logical"),
	                "only {cpu.usable} of {cpu.logical} CPUs are usable"},
	        {tk_record_number(r, "limits.cpus") < usable,
	                "the control group allows {limits.cpus} CPUs: kernels are throttled when "
	                "the quota is spent"},
	        {json_is_true(tk_record_get(r, "system.virtual")),
	                "virtual machine: host clocks and other guests are invisible; rely on the "
	                "control problem"},
	        {!has_tool(d, "ccache"),
	                "ccache is not installed: building neighbouring revisions takes longer"}};

	for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
		AUTO_TEXT text = tk_record_format(advice[i].template, TK_SHOW_PLAIN, r);

		if (advice[i].applies)
			add_line(d, "advice", "%s", text ? text : advice[i].template);
	}
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *color_available(const json_t *row)
{
	return tk_survey_is_available(row) ? "green" : "yellow";
}

#define AVAILABLE "[{?available}yes][{!available}no]"
#define DETAIL(of) "[{?available}[{" of "}]][{!available}[{reason}]]"
static const struct tk_column device_columns[] = {{"DEVICE", 0, "{layer}:{index}"},
        {"AVAILABLE", 0, AVAILABLE, .color = color_available}, {"ARCH", TK_COLUMN_OPTIONAL, "arch"},
        {"DRIVER", TK_COLUMN_OPTIONAL, "driver"}, {"DETAIL", TK_COLUMN_WRAP, DETAIL("name")}, {0}};
static const struct tk_column backend_columns[] = {{"BACKEND", 0, "module"},
        {"AVAILABLE", 0, AVAILABLE, .color = color_available},
        {"DEVICE", TK_COLUMN_OPTIONAL, "device_kind"}, {"VERSION", TK_COLUMN_OPTIONAL, "version"},
        {"DETAIL", TK_COLUMN_WRAP, DETAIL("description")}, {0}};

/* Without the null device, which is for trying the tracker itself; its backend says so. */
static int print_devices(const struct tk_globals *g, const json_t *list, struct tk_error *err)
{
	json_t *devices = json_array(), *device;
	size_t i;

	json_array_foreach (list, i, device)
		if (strcmp(tk_record_text(device, "layer"), "null") != 0)
			json_array_append(devices, device);
	return tk_records_print(g, device_columns, devices, false, err);
}

static void print_lines(const char *title, const json_t *lines)
{
	size_t i;
	json_t *line;

	if (json_array_size(lines))
		printf("\n%s\n", title);
	json_array_foreach (lines, i, line)
		printf("  %s\n", json_string_value(line));
}

static void print_sensitivity(const json_t *list)
{
	const json_t *s;
	size_t i;

	if (json_array_size(list))
		puts("\nTonight");
	json_array_foreach ((json_t *)list, i, s)
		tk_record_write(stdout,
		        "  {device}, {mode}: changes over {min_effect:percent} (equal code "
		        "differs by {noise:percent}, {pairs} pair{pairs:plural})\n",
		        s);
}

static int print_report(const struct tk_globals *g, const json_t *r, struct tk_error *err)
{
	const json_t *missing = json_object_get(r, "missing");

	TRY(tk_doctor_print_machine(g, r, err));
	tk_record_write(stdout,
	        "\nSandbox   {sandbox.method} (`sandbox: {sandbox.mode}`)\nLimits    of each "
	        "[{?control_groups.available}build and worker as a whole, by control groups]"
	        "[{!control_groups.available}process: no control groups: {control_groups.reason}]\n"
	        "\nDevices\n",
	        r);
	TRY(print_devices(g, json_object_get(r, "devices"), err));
	puts("\nBackends of this tracker");
	TRY(tk_records_print(
	        g, backend_columns, json_incref(json_object_get(r, "backends")), false, err));
	print_lines("Noise sources", json_object_get(r, "advice"));
	print_sensitivity(json_object_get(r, "sensitivity"));
	print_lines("Notes", json_object_get(r, "notes"));
	print_lines("Missing for a full night with this configuration", missing);
	if (!json_array_size(missing))
		puts("\nReady: a night can run here (`tracker nightly`)");
	return TK_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

static bool as_json;

static const struct tk_option options[] = {
        {TK_OPT_JSON(&as_json, "Print text (default) or JSON")},
        {0},
};

static json_t *new_report(const struct tk_globals *g)
{
	const char *config = g->config->path;
	json_t *r = json_pack("{s:s, s:o, s:o, s:o, s:[], s:[], s:[], s:[], s:[], s:[]}", "version",
	        TK_VERSION, "program", tk_json_valid_text(g->program), "config",
	        config ? tk_json_valid_text(config) : json_null(), "data_dir",
	        tk_json_valid_text(tk_path_data_dir()), "devices", "backends", "advice", "notes",
	        "missing", "sensitivity");

	tk_doctor_inspect(r);
	return r;
}

static int run_doctor(struct tk_globals *g, struct tk_error *err)
{
	struct doctor d = {.g = g};
	struct tk_error why = {0};
	bool is_ready;
	int status;

	tk_survey_apply_defaults(g, &g->config, &why); /* the report names what is missing */
	d.report = new_report(g);
	if (tk_modules_load(g->program, &d.modules, &why)) {
		add_line(&d, "missing", "%s", why.message);
	} else {
		json_object_set_new(d.report, "backends_dir", tk_json_valid_text(d.modules->dir));
		probe(&d);
	}
	note_python(&d);
	check_sandbox(&d);
	check_noise(&d);
	note_sensitivity(&d);
	check_night(&d);
	is_ready = !json_array_size(json_object_get(d.report, "missing"));
	json_object_set_new(d.report, "ready", json_boolean(is_ready));
	status = as_json ? tk_command_print_json(json_incref(d.report), err)
	                 : print_report(g, d.report, err);
	json_decref(d.report);
	tk_modules_free(d.modules);
	return status ? status : is_ready ? TK_EXIT_OK : TK_EXIT_INCOMPLETE;
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
