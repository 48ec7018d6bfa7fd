/* What `tracker doctor` finds out: devices and backends, what a night would miss, noise. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "cli/host/doctor.h"
#include "cli/host/survey.h"
#include "config/config.h"
#include "nightly/night.h"
#include "nightly/stages/upstream_build.h"
#include "suite/suite.h"
#include "worker/worker.h"

/* ---- devices and backends, as a worker sees them --------------------------------------------- */

#define DEVICES_MAX 64

static int open_worker(const struct tk_doctor *d, const struct tk_module *layer, uint32_t index,
        struct tk_worker **w, struct tk_error *err)
{
	struct tk_worker_spec spec = {.program = d->globals->program,
	        .device_kind = layer->name,
	        .device_layer = layer->path,
	        .modules_dir = d->modules->dir,
	        .device_index = index};

	return tk_worker_new(&spec, w, err);
}

/* Adds one device of a layer, also if it is missing. Returns how many the layer has; 0: unknown. */
static json_int_t add_device(struct tk_doctor *d, const struct tk_module *layer, uint32_t index)
{
	struct tk_error err = {0};
	struct tk_worker *w = NULL;
	json_t *device = NULL;
	int status = open_worker(d, layer, index, &w, &err);

	if (!status)
		status = tk_worker_query_device(w, &device, &err);
	tk_worker_free(w);
	if (status)
		device = json_pack("{s:o}", "reason", tk_doctor_text(err.message));
	json_object_set_new(device, "available", json_boolean(!status));
	json_object_set_new(device, "layer", tk_doctor_text(layer->name));
	json_object_set_new(device, "index", json_integer(index));
	json_array_append_new(json_object_get(d->report, "devices"), device);
	return json_integer_value(json_object_get(device, "count"));
}

static void add_devices(struct tk_doctor *d)
{
	for (size_t i = 0; d->modules && i < d->modules->device_count; i++) {
		json_int_t count = 1;

		for (uint32_t index = 0; index < count && index < DEVICES_MAX; index++) {
			json_int_t found = add_device(d, &d->modules->devices[i], index);

			count = found > count ? found : count;
		}
	}
}

const json_t *tk_doctor_find_device(const struct tk_doctor *d, const char *kind)
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

bool tk_doctor_is_available(const json_t *entry)
{
	return json_is_true(json_object_get(entry, "available"));
}

/* A worker of any device can load a backend; the answer says which device it needs. */
static int query_backend(
        struct tk_doctor *d, const struct tk_module *m, json_t **answer, struct tk_error *err)
{
	const struct tk_module *layer = tk_modules_find_device(d->modules, "cpu");
	struct tk_worker *w = NULL;
	int status;

	if (!layer && d->modules->device_count)
		layer = &d->modules->devices[0];
	if (!layer)
		return tk_fail(err, TK_ENOTFOUND, "no device layer can load it");
	status = open_worker(d, layer, 0, &w, err);
	if (!status)
		status = tk_worker_query_backend(w, m->path, answer, err);
	tk_worker_free(w);
	return status;
}

static void add_backend(struct tk_doctor *d, const struct tk_module *m)
{
	struct tk_error err = {0};
	json_t *answer = NULL;
	const char *kind;
	const json_t *device;

	if (query_backend(d, m, &answer, &err)) {
		answer = json_pack(
		        "{s:o, s:b}", "reason", tk_doctor_text(err.message), "available", false);
	} else {
		kind = json_string_value(json_object_get(answer, "device_kind"));
		device = kind ? tk_doctor_find_device(d, kind) : NULL;
		json_object_set_new(
		        answer, "available", json_boolean(tk_doctor_is_available(device)));
		if (!device)
			json_object_set_new(answer, "reason",
			        json_sprintf("no device layer \"%s\"", kind ? kind : "?"));
		else if (!tk_doctor_is_available(device))
			json_object_set_new(answer, "reason", json_sprintf("no %s device", kind));
	}
	json_object_set_new(answer, "module", tk_doctor_text(m->name));
	json_object_set_new(answer, "path", tk_doctor_text(m->path));
	json_array_append_new(json_object_get(d->report, "backends"), answer);
}

/* A kind of GPU without modules: something is missing where such a GPU is here, else it is a
 * note. */
static void explain_missing_modules(struct tk_doctor *d)
{
	static const char *const kinds[] = {"cuda", "hip"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct tk_buf why = TK_BUF_INIT;

		if (tk_modules_find_device(d->modules, kinds[i]))
			continue;
		tk_gpu_explain_missing(d->modules, kinds[i], &why);
		tk_doctor_add_line(d, tk_gpu_is_present(kinds[i]) ? "missing" : "notes", "%s",
		        tk_buf_cstr(&why));
		tk_buf_free(&why);
	}
}

static void note_hip(struct tk_doctor *d)
{
	if (tk_modules_find_device(d->modules, "hip"))
		tk_doctor_add_line(d, "notes",
		        "hip: these modules were compiled and linked, but no AMD GPU has run them "
		        "yet: look at the first figures as docs/explanation/kernels-hip.md says");
}

void tk_doctor_probe(struct tk_doctor *d)
{
	add_devices(d);
	for (size_t i = 0; i < d->modules->backend_count; i++)
		add_backend(d, &d->modules->backends[i]);
	explain_missing_modules(d);
	note_hip(d);
}

/* ---- what a night with this configuration would miss ----------------------------------------- */

/* Why the backend cannot be used; NULL: it can. */
static const char *backend_reason(const struct tk_doctor *d, const char *name)
{
	size_t i;
	json_t *b;

	json_array_foreach (json_object_get(d->report, "backends"), i, b) {
		const char *reason = json_string_value(json_object_get(b, "reason"));

		if (strcmp(json_string_value(json_object_get(b, "module")), name) == 0)
			return tk_doctor_is_available(b) ? NULL : reason ? reason : "not available";
	}
	return "not built with this tracker";
}

static void check_modules(struct tk_doctor *d, const struct tk_upstream_config *u)
{
	const char *reason;

	if (!u->backends || !u->backends[0]) {
		reason = u->adapter ? backend_reason(d, u->adapter) : NULL;
		if (reason)
			tk_doctor_add_line(d, "missing", "upstream %s: backend %s: %s", u->name,
			        u->adapter, reason);
		return;
	}
	for (char **b = u->backends; *b; b++) {
		reason = backend_reason(d, *b);
		if (reason)
			tk_doctor_add_line(
			        d, "missing", "upstream %s: backend %s: %s", u->name, *b, reason);
	}
}

static void check_build_tools(struct tk_doctor *d, const struct tk_upstream_config *u)
{
	static const char *const needed[] = {"git", "cmake"};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!tk_doctor_has_tool(d, needed[i]))
			tk_doctor_add_line(d, "missing",
			        "upstream %s: building from source needs %s", u->name, needed[i]);
	if (!tk_doctor_has_tool(d, "gcc") && !tk_doctor_has_tool(d, "clang"))
		tk_doctor_add_line(d, "missing",
		        "upstream %s: building from source needs gcc or clang", u->name);
	if (!tk_doctor_has_tool(d, "ninja") && !tk_doctor_has_tool(d, "make"))
		tk_doctor_add_line(d, "missing",
		        "upstream %s: building from source needs ninja or make", u->name);
}

static void check_adapter(struct tk_doctor *d, const struct tk_upstream_config *u)
{
	struct tk_error err = {0};

	if (tk_upstream_check_adapter(d->config, u, &err))
		tk_doctor_add_line(d, "missing", "upstream %s: %s", u->name, err.message);
}

/* Only local repositories are checked; the doctor uses no network. */
static void check_repository(struct tk_doctor *d, const struct tk_upstream_config *u)
{
	if (u->url && u->url[0] == '/' && access(u->url, R_OK) != 0)
		tk_doctor_add_line(
		        d, "missing", "upstream %s: repository %s does not exist", u->name, u->url);
}

/* A folder that does not exist yet is fine if its nearest existing parent can be written. */
static void check_folder(struct tk_doctor *d, const char *what, const char *path)
{
	char *at = tk_path_make_absolute(path);

	while (at && access(at, F_OK) != 0 && at[1]) {
		char *slash = strrchr(at, '/');

		slash[slash == at] = '\0';
	}
	if (at && (!tk_dir_exists(at) || access(at, W_OK | X_OK) != 0))
		tk_doctor_add_line(d, "missing", "%s %s: %s %s", what, path, at,
		        tk_dir_exists(at) ? "cannot be written" : "is not a folder");
	free(at);
}

static void check_history(struct tk_doctor *d)
{
	const char *path = d->globals->db_path ? d->globals->db_path : d->config->db;
	char *up = tk_path_join(path, "..");

	if (tk_file_exists(path) && access(path, W_OK) != 0)
		tk_doctor_add_line(d, "missing", "history %s: cannot be written", path);
	else if (up)
		check_folder(d, "folder of the history", up);
	free(up);
}

static void check_suites(struct tk_doctor *d)
{
	for (char **name = d->config->suites; name && *name; name++) {
		struct tk_error err = {0};
		struct tk_suite *suite = NULL;
		enum tk_device_kind kind;
		const char *suite_name = tk_config_suite_name(*name, &kind);

		if (tk_suite_load(d->config->root, suite_name, &suite, &err))
			tk_doctor_add_line(d, "missing", "suite %s: %s", *name, err.message);
		else
			tk_suite_free(suite);
	}
}

/* An upstream that is built from a repository and names no backends may measure any. */
static bool is_configured(const struct tk_doctor *d, const char *backend)
{
	for (size_t i = 0; i < d->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &d->config->upstreams[i];
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

static bool is_wanted(const struct tk_doctor *d, const json_t *device)
{
	const char *layer = json_string_value(json_object_get(device, "layer")),
	           *uuid = json_string_value(json_object_get(device, "uuid"));

	return tk_device_is_selected(d->config->devices, layer,
	        (uint32_t)json_integer_value(json_object_get(device, "index")), uuid ? uuid : "");
}

/* A GPU that is available, selected, and of which no upstream's backend is. */
static void check_measured(struct tk_doctor *d, const char *kind)
{
	const json_t *device = tk_doctor_find_device(d, kind);
	size_t i;
	json_t *b;

	if (!tk_doctor_is_available(device) || !is_wanted(d, device))
		return;
	json_array_foreach (json_object_get(d->report, "backends"), i, b) {
		const char *of = json_string_value(json_object_get(b, "device_kind"));

		if (of && strcmp(of, kind) == 0 && tk_doctor_is_available(b) &&
		        is_configured(d, json_string_value(json_object_get(b, "module"))))
			return;
	}
	tk_doctor_add_line(d, "missing",
	        "%s: no upstream measures this device; `tracker init --force` writes a tracker.yml "
	        "that does",
	        kind);
}

void tk_doctor_check_night(struct tk_doctor *d)
{
	bool any = false;
	size_t i;
	json_t *device;

	json_array_foreach (json_object_get(d->report, "devices"), i, device)
		any = any || (tk_doctor_is_available(device) && is_wanted(d, device));
	if (!any)
		tk_doctor_add_line(d, "missing",
		        "no configured device (`devices`) is available; nothing can be measured");
	for (i = 0; i < d->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &d->config->upstreams[i];

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
	check_folder(d, "cache", d->config->cache_dir);
	check_history(d);
}

/* ---- packages of Python that nothing measures ------------------------------------------------ */

static bool is_measured(const struct tk_doctor *d, const char *name)
{
	if (d->modules && tk_modules_find_backend(d->modules, name))
		return true;
	for (size_t i = 0; i < d->config->upstream_count; i++)
		if (strcmp(d->config->upstreams[i].adapter, name) == 0)
			return true;
	return false;
}

void tk_doctor_find_python(struct tk_doctor *d)
{
	struct tk_python_packages *found = d->config ? tk_python_packages_find() : NULL;
	if (!found)
		return;
	for (const struct tk_config_host_package *p = tk_python_packages_list(found); p->name; p++)
		if (!is_measured(d, p->name))
			tk_doctor_add_line(d, "notes",
			        "python3 has %s %s, which nothing measures: docs/how-to/%s.md says "
			        "how",
			        p->package, p->version,
			        p->is_compiler ? "track-a-compiler" : "track-a-python-library");
	tk_python_packages_free(found);
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

void tk_doctor_check_sandbox(struct tk_doctor *d)
{
	enum tk_sandbox_method method = tk_sandbox_method();
	const char *no_groups = tk_cgroup_reason();

	json_object_set_new(d->report, "sandbox",
	        json_pack("{s:s, s:s, s:o}", "mode", tk_sandbox_mode_name(tk_sandbox_mode()),
	                "method", tk_sandbox_method_name(method), "reason",
	                tk_doctor_text(tk_sandbox_reason())));
	json_object_set_new(d->report, "control_groups",
	        json_pack("{s:b, s:o}", "available", !no_groups, "reason",
	                tk_doctor_text(no_groups ? no_groups : "")));
	if (gaps[method])
		tk_doctor_add_line(
		        d, "notes", "sandbox: %s (%s)", gaps[method], tk_sandbox_reason());
	if (!tk_sandbox_is_sufficient(method))
		tk_doctor_add_line(d, "missing",
		        "sandbox: required, and neither bubblewrap nor Landlock works here: %s",
		        tk_sandbox_reason());
}

/* ---- what makes measurements noisy ----------------------------------------------------------- */

static void advise_cpu(struct tk_doctor *d)
{
	const json_t *cpu = json_object_get(d->report, "cpu");
	const char *governor = json_string_value(json_object_get(cpu, "governor")),
	           *smt = json_string_value(json_object_get(cpu, "smt"));
	double load = json_number_value(json_object_get(cpu, "load_1m"));
	json_int_t usable = json_integer_value(json_object_get(cpu, "usable")),
	           logical = json_integer_value(json_object_get(cpu, "logical"));

	if (governor && strcmp(governor, "performance") != 0)
		tk_doctor_add_line(d, "advice",
		        "CPU governor \"%s\" changes the clocks with the load; fix them with "
		        "`cpupower frequency-set -g performance`",
		        governor);
	if (json_is_true(json_object_get(cpu, "turbo")))
		tk_doctor_add_line(d, "advice",
		        "turbo is on: clocks depend on temperature and on other cores; turn it off "
		        "to compare nights");
	if (smt && strcmp(smt, "on") == 0)
		tk_doctor_add_line(d, "advice",
		        "SMT is on: two threads share a core; set `threads` to the number of "
		        "cores");
	if (load > 0.5 * (double)usable)
		tk_doctor_add_line(d, "advice",
		        "load average %.1f on %lld CPUs: other processes disturb the measurements",
		        load, (long long)usable);
	if (usable < logical)
		tk_doctor_add_line(d, "advice", "only %lld of %lld CPUs are usable",
		        (long long)usable, (long long)logical);
}

void tk_doctor_check_noise(struct tk_doctor *d)
{
	const json_t *system = json_object_get(d->report, "system"),
	             *limits = json_object_get(d->report, "limits");
	const json_t *quota = json_object_get(limits, "cpus");
	double usable =
	        json_number_value(json_object_get(json_object_get(d->report, "cpu"), "usable"));

	advise_cpu(d);
	if (json_is_real(quota) && json_real_value(quota) < usable)
		tk_doctor_add_line(d, "advice",
		        "the control group allows %.2g CPUs: kernels are throttled when the quota "
		        "is spent",
		        json_real_value(quota));
	if (json_is_true(json_object_get(system, "virtual")))
		tk_doctor_add_line(d, "advice",
		        "virtual machine: host clocks and other guests are invisible; rely on the "
		        "control problem");
	if (!tk_doctor_has_tool(d, "ccache"))
		tk_doctor_add_line(d, "advice",
		        "ccache is not installed: building neighbouring revisions takes longer");
}
