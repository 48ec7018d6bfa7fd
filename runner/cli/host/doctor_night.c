/* What a night with this configuration would miss. */
#include "base/error.h"
#include "cli/host/doctor.h"

#include "base/file.h"
#include "config/config.h"
#include "nightly/device.h"
#include "nightly/stages/upstream_build.h"
#include "suite/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
