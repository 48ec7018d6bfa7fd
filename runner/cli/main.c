/* `tracker`: parses the global options, then runs one command of the table. */
#include <argp.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/commands.h"

static void print_version(FILE *stream, struct argp_state *state)
{
	fputs("tracker " TK_VERSION "\n", stream);
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

int main(int argc, char **argv)
{
	int code;

	if (tk_spawn_open_stdio(NULL))
		return TK_EXIT_FAILED;
	if (argc < 2 || strcmp(argv[1], "worker") != 0)
		tk_process_hide();
	/* cron runs us in the C locale, where a table cannot print "µs" */
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN); /* writing to a dead worker must not end the night */
	argp_program_version_hook = print_version;
	argp_err_exit_status = TK_EXIT_USAGE;
	code = finish_output(tk_command_main(argc, argv));
	tk_log_close();
	return code;
}
