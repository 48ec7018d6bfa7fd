#include "cli/globals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cli/options.h"

enum { OPT_CONFIG = 0x1000, OPT_DB, OPT_LOG, OPT_COLOR };

const struct argp_option tk_global_options[] = {
        {NULL, 'C', "DIR", 0, "Work in DIR instead of the current folder", 0},
        {"color", OPT_COLOR, "auto|never|always", 0,
                "Colour the tables (default: auto, on a terminal unless NO_COLOR is set)", 0},
        {"config", OPT_CONFIG, "FILE", 0,
                "Read the configuration from FILE (default: tracker.yml if it exists, else "
                "built-in values)",
                0},
        {"db", OPT_DB, "FILE", 0, "Use FILE as the history (default: as configured, tracker.db)",
                0},
        {"log", OPT_LOG, "FILE", 0, "Append every event to FILE as a JSON line", 0},
        {"quiet", 'q', NULL, 0, "Print no progress, only warnings and errors", 0},
        {"verbose", 'v', NULL, 0, "Print details of what is being done", 0},
        {0},
};

#define OPTION_COUNT (sizeof tk_global_options / sizeof tk_global_options[0])
#define NAMES_MAX 64

static struct tk_globals globals;
static const char *color = "auto";

struct tk_globals *tk_globals_get(void)
{
	return &globals;
}

error_t tk_globals_parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'C':
		if (chdir(arg) != 0)
			argp_failure(state, argp_err_exit_status, errno, "-C %s", arg);
		return 0;
	case OPT_CONFIG:
		globals.config_path = arg;
		return 0;
	case OPT_DB:
		globals.db_path = arg;
		return 0;
	case OPT_LOG:
		globals.log_path = arg;
		return 0;
	case OPT_COLOR:
		tk_option_parse_choice(arg, "color", "auto|never|always", state);
		color = arg;
		return 0;
	case 'q':
		globals.quiet = true;
		return 0;
	case 'v':
		globals.verbose = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool is_color_off(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(color, "auto") != 0)
		return strcmp(color, "never") == 0;
	return (no && *no) || !isatty(STDOUT_FILENO) || (term && strcmp(term, "dumb") == 0);
}

static void apply_globals(const char *command)
{
	struct tk_error err = {0};

	globals.no_color = is_color_off();
	tk_log_set_level(globals.quiet     ? TK_LOG_WARN
	                 : globals.verbose ? TK_LOG_DEBUG
	                                   : TK_LOG_INFO);
	if (!globals.log_path || !tk_log_open(globals.log_path, &err))
		return;
	fprintf(stderr, "%s: %s\n", command, err.message);
	exit(argp_err_exit_status);
}

/* The visible long names of a table, added to `names`. Returns the new count. */
static size_t add_names(const struct argp_option *options, const char **names, size_t count)
{
	for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++)
		if (o->name && !(o->flags & OPTION_HIDDEN) && count < NAMES_MAX)
			names[count++] = o->name;
	return count;
}

/* As getopt_long: a name may be shortened to any prefix. */
static bool is_option_name(const char *name, const struct argp_option *options)
{
	for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++)
		if (o->name && strncmp(o->name, name, strlen(name)) == 0)
			return true;
	return false;
}

/* argp reports an unknown option without a suggestion; report it here if a known one is near. */
static void check_option_name(const char *program, const char *arg, const struct argp_option *own)
{
	static const struct argp_option of_argp[] = {{.name = "help"}, {.name = "usage"},
	        {.name = "version"}, {.name = "program-name"}, {.name = "HANG"}, {0}};
	const char *names[NAMES_MAX + 1], *near;
	char name[64];
	size_t count = add_names(own, names, 0);

	snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
	if (!*name || is_option_name(name, own) || is_option_name(name, tk_global_options) ||
	        is_option_name(name, of_argp))
		return;
	count = add_names(tk_global_options, names, count);
	names[count] = NULL;
	near = tk_suggest_name(name, names);
	if (!near)
		return;
	fprintf(stderr, "%s: unknown option \"--%s\"; did you mean \"--%s\"?\n", program, name,
	        near);
	exit(argp_err_exit_status);
}

static bool is_option(const struct argp_option *o, const char *arg)
{
	return arg[1] == '-' ? o->name && strncmp(o->name, arg + 2, strlen(arg + 2)) == 0
	                     : arg[1] == o->key && !arg[2];
}

/* Whether `arg` is an option whose value is the next argument: "--note", "-C". */
static bool takes_next(const char *arg, const struct argp_option *options)
{
	for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++)
		if (*arg == '-' && arg[1] && is_option(o, arg))
			return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
	return false;
}

/* Not of the values of options, which may be any text. */
static void check_option_names(int argc, char **argv, const struct argp_option *own)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "--", 2) == 0)
			check_option_name(argv[0], argv[i] + 2, own);
		i += takes_next(argv[i], own) || takes_next(argv[i], tk_global_options);
	}
}

void tk_globals_check_names(int argc, char **argv)
{
	static const struct argp_option none[] = {{0}};

	for (int i = 1; i < argc && *argv[i] == '-' && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "--", 2) == 0)
			check_option_name("tracker", argv[i] + 2, none);
		i += takes_next(argv[i], tk_global_options);
	}
}

void tk_command_parse(const struct argp *argp, int argc, char **argv, void *options)
{
	/* Hidden, because `tracker --help` and tracker(1) list them once for all commands. */
	struct argp_option hidden[OPTION_COUNT];
	const struct argp global_argp = {.options = hidden, .parser = tk_globals_parse_option};
	const struct argp_child children[] = {{&global_argp, 0, NULL, 0}, {0}};
	struct argp whole = *argp;

	memcpy(hidden, tk_global_options, sizeof hidden);
	for (struct argp_option *o = hidden; o->name || o->key; o++) {
		o->flags |= OPTION_HIDDEN;
		o->group = -1; /* that of --help: another one would leave a blank line */
	}
	whole.children = children;
	check_option_names(argc, argv, argp->options);
	argp_parse(&whole, argc, argv, 0, NULL, options);
	apply_globals(argv[0]);
}
