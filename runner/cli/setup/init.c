/* `tracker init`: writes the commented default configuration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "config/reference.h"

enum { OPT_FORCE = 256, OPT_PRINT };

struct init_options {
	bool force, print;
};

static const struct argp_option options[] = {
        {"force", OPT_FORCE, NULL, 0, "Overwrite an existing file", 1},
        {"print", OPT_PRINT, NULL, 0, "Write to the standard output instead of a file", 1},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct init_options *o = state->input;

	switch (key) {
	case OPT_FORCE:
		o->force = true;
		return 0;
	case OPT_PRINT:
		o->print = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"; --config=FILE names the file", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_init = {options, parse_option, NULL,
        "Write a commented tracker.yml (or the file of --config) with every default, for the "
        "devices, libraries and modules of this machine.\v"
        "Without a configuration the tracker works with the same text.\n\n"
        "Examples:\n"
        "  tracker init\n"
        "  tracker init --print | less"};

/* The modules may be missing: then nothing is known of this machine. */
static int write_default(
        const struct tk_globals *g, const char *path, struct tk_buf *out, struct tk_error *err)
{
	char *root = tk_path_join(path, "..");
	struct tk_survey *survey = NULL;
	struct tk_error why = {0};

	if (!root)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	if (tk_survey_new(g, strchr(path, '/') ? root : ".", &survey, &why))
		tk_log(TK_LOG_WARN, "init", NULL,
		        "%s: the file does not depend on the devices of this machine", why.message);
	if (survey)
		tk_survey_find_packages(survey);
	tk_config_write_default_file(out, survey ? tk_survey_host(survey) : NULL);
	tk_survey_free(survey);
	free(root);
	return tk_buf_status(out, err);
}

int tk_cmd_init(const struct tk_globals *g, int argc, char **argv)
{
	struct init_options o = {0};
	struct tk_buf text = TK_BUF_INIT;
	struct tk_error err = {0};
	int status;

	tk_command_parse(&tk_argp_init, argc, argv, &o);
	/* --config may follow the command */
	const char *path = g->config_path ? g->config_path : "tracker.yml";
	status = write_default(g, path, &text, &err);
	if (!status && o.print)
		fputs(tk_buf_cstr(&text), stdout);
	else if (!status && !o.force && tk_file_exists(path))
		status = tk_fail(&err, TK_EUSAGE,
		        "%s already exists; --force overwrites it, --print shows what would be "
		        "written",
		        path);
	else if (!status)
		status = tk_file_write(path, tk_buf_cstr(&text), text.len, &err);
	tk_buf_free(&text);
	if (status)
		return tk_command_fail("init", &err);
	if (!g->quiet && !o.print)
		printf("%s: written; docs/reference/configuration.md explains every key\n", path);
	return TK_EXIT_OK;
}
