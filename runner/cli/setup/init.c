/* `tracker init`: the commented default configuration, as a file. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "config/config.h"

struct init_options {
	bool force, print;
};

/* clang-format off */
static const struct argp_option options[] = {
	{"force", 'f', NULL, 0, "overwrite a file that is there", 1},
	{"print", 'p', NULL, 0, "write to the standard output, not to a file", 1},
	{0},
};
/* clang-format on */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct init_options *o = state->input;

	switch (key) {
	case 'f':
		o->force = true;
		return 0;
	case 'p':
		o->print = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "one argument too many: %s; --config=FILE names the file", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_init = {options, parse_option, NULL,
        "Write a commented tracker.yml (or what --config names) with every default.\v"
        "Without a file the tracker works with these defaults.\n\n"
        "Examples:\n"
        "  tracker init\n"
        "  tracker init --print | less"};

int tk_cmd_init(const struct tk_globals *g, int argc, char **argv)
{
	const char *path = g->config_path ? g->config_path : "tracker.yml",
	           *text = tk_config_default_text();
	struct init_options o = {0};
	struct tk_error err = {0};

	argp_parse(&tk_argp_init, argc, argv, 0, NULL, &o);
	if (o.print) {
		fputs(text, stdout);
		return TK_EXIT_OK;
	}
	if (!o.force && tk_file_exists(path))
		tk_fail(&err, TK_EUSAGE,
		        "%s is there already; --force overwrites it, --print shows what would be "
		        "written",
		        path);
	if (err.status || tk_file_write(path, text, strlen(text), &err))
		return tk_command_fail("init", &err);
	if (!g->quiet)
		printf("%s: written; docs/reference/configuration.md explains every key\n", path);
	return TK_EXIT_OK;
}
