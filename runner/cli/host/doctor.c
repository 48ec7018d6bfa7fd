/* `tracker doctor`: what this machine has, its noise sources, and why a backend is or is not
 * available. */
#include "cli/host/doctor.h"

#include "base/buf.h"
#include "base/file.h"
#include "cli/host/inspect.h"
#include "cli/host/survey.h"
#include "config/config.h"

#include "cli/options.h"

#include <stdarg.h>
#include <string.h>

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
