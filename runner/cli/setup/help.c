/* `tracker help [COMMAND]`: the overview, or the same text as `tracker COMMAND --help`. */
#include <stdio.h>

#include "cli/commands.h"

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (state->arg_num > 0)
		argp_error(state, "expected one command");
	*(const char **)state->input = arg;
	return 0;
}

const struct argp tk_argp_help = {NULL, parse_option, "[COMMAND]",
        "Show help on a command, or list the commands.\vExample:\n  tracker help diff"};

/* argp adds these itself when it parses, but not when it only prints. */
static const struct argp_option common_options[] = {
        {"help", '?', NULL, 0, "Give this help list", -1},
        {"usage", 0x100, NULL, 0, "Give a short usage message", 0},
        {"version", 'V', NULL, 0, "Print program version", -1},
        {0},
};
static const struct argp common = {.options = common_options};
static const struct argp_child children[] = {{&common, 0, NULL, 0}, {0}};

int tk_cmd_help(const struct tk_globals *g, int argc, char **argv)
{
	const char *topic = NULL;
	const struct tk_command *c;
	struct tk_error err = {0};
	struct argp whole;
	char text[256];

	(void)g;
	tk_command_parse(&tk_argp_help, argc, argv, &topic);
	if (!topic) {
		tk_command_print_overview(stdout);
		return TK_EXIT_OK;
	}
	c = tk_command_find(topic);
	if (!c) {
		tk_fail(&err, TK_EUSAGE, "%s",
		        tk_command_describe_unknown(topic, text, sizeof text));
		return tk_command_fail("help", &err);
	}
	snprintf(text, sizeof text, "tracker %s", c->name);
	whole = *c->argp;
	whole.children = children;
	argp_help(&whole, stdout, ARGP_HELP_STD_HELP, text);
	return TK_EXIT_OK;
}
