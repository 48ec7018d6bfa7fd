/* `tracker`: parses the global options, then runs one command of the table. */
#include <argp.h>
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "cli/commands.h"

struct line {
	const char *command; /* the first word that is not an option */
	int command_at;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct line *line = state->input;

	if (key != ARGP_KEY_ARG)
		return tk_globals_parse_option(key, arg, state);
	line->command = arg;
	line->command_at = state->next - 1;
	state->next = state->argc; /* the command parses the rest */
	return 0;
}

/* Adds the commands to the help of the program. argp frees what is returned. */
static char *filter_help(int key, const char *text, void *input)
{
	char *out = NULL;
	size_t size;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = open_memstream(&out, &size);
	if (!f)
		return (char *)text;
	fputs("Commands:\n", f);
	tk_commands_print(f);
	fputs("\nRun `tracker help COMMAND` for the options of a command. The options above may "
	      "also "
	      "follow the command.",
	        f);
	fclose(f);
	return out;
}

static const struct argp argp = {tk_global_options, parse_option, "COMMAND [OPTION...]",
        "A nightly performance tracker for GPU kernels.\v ", NULL, filter_help, NULL};

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fputs("tracker " TK_VERSION "\n", stream);
}

static char *find_program(const char *argv0)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return realpath(argv0, NULL);
	path[n] = '\0';
	return tk_strdup(path);
}

static int run_command(const char *name, int argc, char **argv)
{
	const struct tk_command *c = tk_command_find(name);
	char program[64];

	if (!c) {
		char message[256];

		fprintf(stderr, "tracker: %s\n",
		        tk_command_describe_unknown(name, message, sizeof message));
		return TK_EXIT_USAGE;
	}
	snprintf(program, sizeof program, "tracker %s", c->name);
	argv[0] = program;
	return c->run(tk_globals_get(), argc, argv);
}

/* A result that was not written completely is a failure. A reader that closed the pipe (`| head`)
 * has enough: then we end by SIGPIPE like other programs. */
static int finish_output(int code)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	int failed = fflush(stdout) != 0, error = errno;

	if (!failed && !ferror(stdout))
		return code;
	if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR)) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	fprintf(stderr, "tracker: cannot write the output%s%s\n", failed ? ": " : "",
	        failed ? strerror(error) : "");
	return code == TK_EXIT_OK ? TK_EXIT_FAILED : code;
}

/* Pages of megabytes come and go while a site is written: their memory stays in the process. Not
 * for the worker, whose memory is measured. A matter of the program: libraries leave the allocator
 * alone. */
static void keep_freed_memory(const char *command)
{
#ifdef __GLIBC__
	if (command && strcmp(command, "worker") != 0) {
		mallopt(M_MMAP_THRESHOLD, 1 << 28);
		mallopt(M_TRIM_THRESHOLD, 1 << 28);
	}
#endif
}

int main(int argc, char **argv)
{
	struct line line = {0};
	int code = TK_EXIT_USAGE;

	if (tk_spawn_open_stdio(NULL))
		return TK_EXIT_FAILED;
	/* cron runs us in the C locale, where a table cannot print "µs" */
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN); /* writing to a dead worker must not end the night */
	argp_program_version_hook = print_version;
	argp_err_exit_status = TK_EXIT_USAGE;
	tk_globals_get()->program = find_program(argv[0]);
	tk_globals_check_names(argc, argv);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &line);
	keep_freed_memory(line.command);
	if (line.command)
		code = run_command(line.command, argc - line.command_at, argv + line.command_at);
	else
		tk_command_print_overview(stderr);
	code = finish_output(code);
	tk_log_close();
	free(tk_globals_get()->program);
	return code;
}
