/* `tracker init`: the commented default configuration, as a file. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "config/config.h"

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
        "Write a commented tracker.yml (or the file of --config) with every default.\v"
        "Without a configuration the tracker works with these defaults.\n\n"
        "Examples:\n"
        "  tracker init\n"
        "  tracker init --print | less"};

int tk_cmd_init(const struct tk_globals *g, int argc, char **argv)
{
	const char *path = g->config_path ? g->config_path : "tracker.yml",
	           *text = tk_config_default_text();
	struct init_options o = {0};
	struct tk_error err = {0};

	tk_command_parse(&tk_argp_init, argc, argv, &o);
	if (o.print) {
		fputs(text, stdout);
		return TK_EXIT_OK;
	}
	if (!o.force && tk_file_exists(path))
		tk_fail(&err, TK_EUSAGE,
		        "%s already exists; --force overwrites it, --print shows what would be "
		        "written",
		        path);
	if (err.status || tk_file_write(path, text, strlen(text), &err))
		return tk_command_fail("init", &err);
	if (!g->quiet)
		printf("%s: written; docs/reference/configuration.md explains every key\n", path);
	return TK_EXIT_OK;
}
