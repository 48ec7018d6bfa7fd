/* Progress on a pipe and on a real (pseudo) terminal. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/progress.h"

static int real_stderr = -1, reader = -1;

/* Everything that is written to stderr from here on can be read from `reader`. */
static void redirect(int to, int from)
{
	fflush(stderr);
	real_stderr = dup(2);
	dup2(to, 2);
	close(to);
	reader = from;
}

static int tear_down(void **state)
{
	fflush(stderr);
	dup2(real_stderr, 2);
	close(real_stderr);
	close(reader);
	return 0;
}

static int with_pipe(void **state)
{
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) != 0)
		return -1;
	redirect(ends[1], ends[0]);
	return 0;
}

static int with_terminal(void **state)
{
	struct winsize size = {.ws_row = 25, .ws_col = 40};
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), terminal;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		return -1;
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	ioctl(terminal, TIOCSWINSZ, &size);
	setenv("TERM", "xterm", 1);
	redirect(terminal, master);
	return 0;
}

/* What was written since the last call. A terminal hands it on in pieces and when it likes: waits
 * (5 s at most) until `at_least` bytes are there. */
static const char *seen(size_t at_least)
{
	static char text[65536];
	size_t n = 0;
	struct pollfd ready = {.fd = reader, .events = POLLIN};

	fflush(stderr);
	do {
		ssize_t more = read(reader, text + n, sizeof text - 1 - n);
		n += more > 0 ? (size_t)more : 0;
	} while (n < at_least && poll(&ready, 1, 5000) > 0);
	text[n] = '\0';
	return text;
}

#define assert_seen(expected) assert_string_equal(seen(strlen(expected)), expected)

static void pipe_gets_few_plain_lines(void **state)
{
	struct tk_globals g = {0};
	struct tk_progress *p = tk_progress_new(&g);
	const struct tk_night_observer *o = tk_progress_observer(p);

	o->stage(o->arg, "measure", "12 problems");
	for (size_t i = 0; i <= 1000; i++)
		o->progress(o->arg, i, 1000, "gemm");
	o->stage(o->arg, "site", NULL);
	tk_progress_free(p);
	assert_seen("[measure]  12 problems\n[site]\n");
}

static void quiet_says_nothing(void **state)
{
	struct tk_globals g = {.quiet = true};
	struct tk_progress *p = tk_progress_new(&g);

	assert_null(p);
	assert_null(tk_progress_observer(p));
	tk_progress_free(p);
	assert_seen("");
}

static void terminal_gets_one_live_line(void **state)
{
	struct tk_globals g = {0};
	struct tk_progress *p = tk_progress_new(&g);
	const struct tk_night_observer *o = tk_progress_observer(p);

	o->stage(o->arg, "measure", "");
	assert_seen("\r[measure]\033[K");
	o->progress(o->arg, 4, 4,
	        "a name\033[31m that is much longer than the forty columns of this terminal");
	assert_seen("\r[measure] 4/4  100 %  a name?[31m that \033[K");
	/* A line of the log wipes it and brings it back. */
	tk_log(TK_LOG_WARN, "x", NULL, "careful");
	assert_seen("\r\033[Ktracker: warning: careful\r\n\r[measure] 4/4  100 %  a name?[31m that "
	            "\033[K");
	tk_progress_free(p);
	assert_seen("\r\033[K");
	tk_log(TK_LOG_WARN, "x", NULL, "after");
	assert_seen("tracker: warning: after\r\n");
}

static void wide_characters_are_not_cut_in_half(void **state)
{
	struct tk_globals g = {0};
	struct tk_progress *p = tk_progress_new(&g);
	const struct tk_night_observer *o = tk_progress_observer(p);

	o->stage(o->arg, "x",
	        "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
	        "\xc3\xbc\xc3\xbc\xc3"
	        "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
	        "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
	        "\xc3\xbc\xc3\xbc\xc3"
	        "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc");
	enum { SIZE = 1 + 5 + 34 * 2 + 3 }; /* bytes in 39 columns */
	assert_int_equal(strlen(seen(SIZE)), SIZE);
	tk_progress_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(pipe_gets_few_plain_lines, with_pipe, tear_down),
	        cmocka_unit_test_setup_teardown(quiet_says_nothing, with_pipe, tear_down),
	        cmocka_unit_test_setup_teardown(
	                terminal_gets_one_live_line, with_terminal, tear_down),
	        cmocka_unit_test_setup_teardown(
	                wide_characters_are_not_cut_in_half, with_terminal, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
