/* `tracker manual` (internal): writes the manual for the build and for the repository. */
#include "cli/setup/manual.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "config/reference.h"

struct manual_options {
	const char *form, *dir;
};

static bool is_complete(const struct manual_options *o)
{
	if (o->dir)
		return strcmp(o->form, "man") == 0;
	return strcmp(o->form, "markdown") == 0 || strcmp(o->form, "configuration") == 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct manual_options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->dir)
			argp_error(state, "unexpected argument \"%s\"", arg);
		*(o->form ? &o->dir : &o->form) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->form || !is_complete(o))
			argp_usage(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_manual = {NULL, parse_option, "markdown\nconfiguration\nman DIR",
        "Write the manual: docs/reference/commands.md or docs/reference/configuration.md to the "
        "standard output, or the man pages to DIR.\v"
        "Example:\n  tracker manual man build/man"};

const struct tk_manual_entry tk_manual_environment[] = {
        {"NO_COLOR", "Set to anything: no colours, as with --color=never"},
        {"TRACKER_BACKENDS",
                "The folder of the modules tk_backend_*.so and tk_device_*.so (default: "
                "backends/ beside the program, else ../lib/tracker/backends)"},
        {"TRACKER_CACHE",
                "The folder of work trees and built artifacts (default: $XDG_CACHE_HOME/tracker, "
                "else ~/.cache/tracker)"},
        {"TRACKER_DATADIR", "The folder that has suites/, templates/ and kernels/adapters/"},
        {"TRACKER_NOW", "The time that counts as now, for reproducible runs"},
        {0},
};

static char *filter_doc(const struct argp *argp, int key, const char *text)
{
	char *filtered = argp->help_filter ? argp->help_filter(key, text, NULL) : (char *)text;

	if (!filtered)
		return tk_strdup("");
	return filtered == text ? tk_strdup(text) : filtered;
}

char *tk_manual_doc_before(const struct tk_command *c)
{
	const char *doc = c->argp->doc ? c->argp->doc : "";

	return tk_strndup(doc, strcspn(doc, "\v"));
}

char *tk_manual_doc_after(const struct tk_command *c)
{
	const char *after = c->argp->doc ? strchr(c->argp->doc, '\v') : NULL;

	return filter_doc(c->argp, ARGP_KEY_HELP_POST_DOC, after ? after + 1 : "");
}

static int write_page(const char *dir, const char *name, int section,
        void (*write)(const struct tk_command *, FILE *), const struct tk_command *c,
        struct tk_error *err)
{
	char *text = NULL, *path = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int status = TK_OK;

	if (!f)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	write(c, f);
	if (fclose(f) || asprintf(&path, "%s/%s.%d", dir, name, section) < 0)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	else
		status = tk_file_write(path, text, size, err);
	free(text);
	free(path);
	return status;
}

static void write_overview(const struct tk_command *c, FILE *out)
{
	(void)c;
	tk_manual_write_man_overview(out);
}

static int write_config_page(const char *dir, struct tk_error *err)
{
	char *path = tk_path_join(dir, "tracker.yml.5");
	struct tk_buf text = TK_BUF_INIT;
	int status = path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	tk_config_write_man_page(&text);
	if (!status)
		status = tk_buf_status(&text, err);
	if (!status)
		status = tk_file_write(path, tk_buf_cstr(&text), text.len, err);
	tk_buf_free(&text);
	free(path);
	return status;
}

static int print_config_reference(struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	int status;

	tk_config_write_reference(&text);
	status = tk_buf_status(&text, err);
	if (!status)
		fputs(tk_buf_cstr(&text), stdout);
	tk_buf_free(&text);
	return status;
}

static int write_man_pages(const char *dir, struct tk_error *err)
{
	int status = tk_dir_create(dir, err);

	if (!status)
		status = write_page(dir, "tracker", 1, write_overview, NULL, err);
	if (!status)
		status = write_config_page(dir, err);
	for (const struct tk_command *c = tk_commands; !status && c->name; c++) {
		char name[64];

		snprintf(name, sizeof name, "tracker-%s", c->name);
		if (!c->hidden)
			status = write_page(dir, name, 1, tk_manual_write_man_command, c, err);
	}
	return status;
}

int tk_cmd_manual(const struct tk_globals *g, int argc, char **argv)
{
	struct manual_options o = {0};
	struct tk_error err = {0};
	int status = TK_OK;

	(void)g;
	tk_command_parse(&tk_argp_manual, argc, argv, &o);
	if (strcmp(o.form, "man") == 0)
		status = write_man_pages(o.dir, &err);
	else if (strcmp(o.form, "configuration") == 0)
		status = print_config_reference(&err);
	else
		tk_manual_write_markdown(stdout);
	return status ? tk_command_fail("manual", &err) : TK_EXIT_OK;
}
