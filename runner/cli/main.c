/* `tracker`: global options, then one command of the table. */
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"

enum { OPT_CONFIG = 256, OPT_DB, OPT_LOG, OPT_COLOR };

static const struct argp_option options[] = {
        {NULL, 'C', "DIR", 0, "work in DIR instead of the current folder", 1},
        {"config", OPT_CONFIG, "FILE", 0,
                "configuration (default: tracker.yml where there is one, else built-in values)", 1},
        {"db", OPT_DB, "FILE", 0, "history (default: as configured, tracker.db)", 1},
        {"log", OPT_LOG, "FILE", 0, "append every event to FILE as a JSON line", 2},
        {"quiet", 'q', NULL, 0, "no progress, only warnings and errors", 2},
        {"verbose", 'v', NULL, 0, "say what is done in detail", 2},
        {"color", OPT_COLOR, "auto|never|always", 0,
                "colours of tables (default: auto: on a terminal where NO_COLOR is not set)", 2},
        {0},
};

struct globals_parse {
	struct tk_globals globals;
	const char *command; /* the first word that is no option */
	int command_at;
	const char *color;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct globals_parse *p = state->input;

	switch (key) {
	case 'C':
		if (chdir(arg) != 0)
			argp_failure(state, TK_EXIT_USAGE, errno, "-C %s", arg);
		return 0;
	case OPT_CONFIG:
		p->globals.config_path = arg;
		return 0;
	case OPT_DB:
		p->globals.db_path = arg;
		return 0;
	case OPT_LOG:
		p->globals.log_path = arg;
		return 0;
	case OPT_COLOR:
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "never") != 0 &&
		        strcmp(arg, "always") != 0)
			argp_error(state, "--color=%s: expected auto, never or always", arg);
		p->color = arg;
		return 0;
	case 'q':
		p->globals.quiet = true;
		return 0;
	case 'v':
		p->globals.verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		p->command = arg;
		p->command_at = state->next - 1;
		state->next = state->argc; /* the rest is the command's */
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The commands are part of the program's help; argp frees what is returned. */
static char *help_filter(int key, const char *text, void *input)
{
	char *out = NULL;
	size_t size;
	FILE *f;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = open_memstream(&out, &size);
	if (!f)
		return (char *)text;
	fputs("Commands:\n", f);
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			fprintf(f, "  %-11s %s\n", c->name, c->summary);
	fputs("\n`tracker help COMMAND` has the options of a command. The options above may also "
	      "follow the command.",
	        f);
	fclose(f);
	return out;
}

const struct argp tk_argp_globals = {options, parse_option, "COMMAND [OPTION...]",
        "A nightly performance tracker for GPU kernels.\v ", NULL, help_filter, NULL};

static void print_version(FILE *stream, struct argp_state *state)
{
	fputs("tracker " TK_VERSION "\n", stream);
}

/* ---- global options behind the command
 * ----------------------------------------------------------------------- */

static const struct argp_option *find_option(const struct argp *argp, const char *arg)
{
	size_t n = strcspn(arg + (arg[1] == '-' ? 2 : 0), "=");

	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
		if (arg[1] == '-' && o->name && strlen(o->name) == n &&
		        strncmp(o->name, arg + 2, n) == 0)
			return o;
		if (arg[1] != '-' && arg[1] == o->key && !arg[2])
			return o;
	}
	for (const struct argp_child *c = argp->children; c && c->argp; c++) {
		const struct argp_option *o = find_option(c->argp, arg);

		if (o)
			return o;
	}
	return NULL;
}

/* Moves global options out of the command's argv (from argv[1] on) into `moved`, except those that
 * the command has itself. */
static void move_globals(
        const struct tk_command *command, int *argc, char **argv, int *moved_count, char **moved)
{
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		const struct argp_option *o = NULL;

		if (strcmp(argv[i], "--") == 0) {
			while (i < *argc)
				argv[kept++] = argv[i++];
			break;
		}
		if (argv[i][0] == '-' && argv[i][1] &&
		        (!command->argp || !find_option(command->argp, argv[i])))
			o = find_option(&tk_argp_globals, argv[i]);
		if (!o) {
			argv[kept++] = argv[i];
			continue;
		}
		moved[(*moved_count)++] = argv[i];
		if (o->arg && !strchr(argv[i], '=') && i + 1 < *argc)
			moved[(*moved_count)++] = argv[++i];
	}
	argv[kept] = NULL;
	*argc = kept;
}

static int parse_moved(
        struct globals_parse *p, const struct tk_command *command, int *argc, char **argv)
{
	char **moved = calloc((size_t)*argc + 2, sizeof *moved);
	int count = 1;

	if (!moved)
		return TK_EXIT_FAILED;
	moved[0] = argv[0];
	move_globals(command, argc, argv, &count, moved);
	if (count > 1)
		argp_parse(&tk_argp_globals, count, moved, ARGP_IN_ORDER, NULL, p);
	free(moved);
	return 0;
}

/* ---- the program
 * --------------------------------------------------------------------------------------------- */

static bool without_color(const char *color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(color, "auto") != 0)
		return strcmp(color, "never") == 0;
	return (no && *no) || !isatty(STDOUT_FILENO) || (term && strcmp(term, "dumb") == 0);
}

static char *own_path(const char *argv0)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return realpath(argv0, NULL);
	path[n] = '\0';
	return strdup(path);
}

static const struct tk_command *find_command(const char *name)
{
	const struct tk_command *c = tk_command_find(name);
	const char *near = c ? NULL : tk_command_suggest(name);

	if (c)
		return c;
	fprintf(stderr, "tracker: unknown command `%.60s`", name);
	if (near)
		fprintf(stderr, ", did you mean `%s`", near);
	fputs(near ? "?\n" : "; `tracker help` lists them\n", stderr);
	return NULL;
}

static int run_command(struct globals_parse *p, int argc, char **argv)
{
	const struct tk_command *c = find_command(p->command);
	char name[64];
	struct tk_error err = {0};
	int code;

	if (!c)
		return TK_EXIT_USAGE;
	snprintf(name, sizeof name, "tracker %s", c->name);
	argv[0] = name;
	code = parse_moved(p, c, &argc, argv);
	if (code)
		return code;
	p->globals.no_color = without_color(p->color);
	tk_log_set_level(p->globals.quiet     ? TK_LOG_WARN
	                 : p->globals.verbose ? TK_LOG_DEBUG
	                                      : TK_LOG_INFO);
	if (p->globals.log_path && tk_log_open(p->globals.log_path, &err)) {
		err.status = TK_EUSAGE;
		return tk_command_fail(c->name, &err);
	}
	return c->run(&p->globals, argc, argv);
}

/* Results that did not reach their reader are no results. Whoever closed the pipe (`| head`) had
 * enough: we end as programs do. */
static int finish_output(int code)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	int failed = fflush(stdout) != 0, e = errno;

	if (!failed && !ferror(stdout))
		return code;
	if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR)) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	fprintf(stderr, "tracker: writing the output%s%s\n", failed ? ": " : " failed",
	        failed ? strerror(e) : "");
	return code == TK_EXIT_OK ? TK_EXIT_FAILED : code;
}

int main(int argc, char **argv)
{
	struct globals_parse p = {.color = "auto"};
	int code;

	/* cron runs us in the C locale, where a table cannot print "µs" */
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN); /* a worker that dies while it is spoken to must not take the
	                             night with it */
	argp_program_version_hook = print_version;
	argp_err_exit_status = TK_EXIT_USAGE;
	p.globals.program = own_path(argv[0]);
	argp_parse(&tk_argp_globals, argc, argv, ARGP_IN_ORDER, NULL, &p);
	if (p.command) {
		code = run_command(&p, argc - p.command_at, argv + p.command_at);
	} else {
		tk_command_print_overview(stderr);
		code = TK_EXIT_USAGE;
	}
	code = finish_output(code);
	tk_log_close();
	free(p.globals.program);
	return code;
}
