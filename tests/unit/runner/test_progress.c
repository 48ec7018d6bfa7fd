/* Progress on a pipe and on a real (pseudo) terminal. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "commands.h"
#include "progress.h"

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

static const char *seen(void)
{
	static char text[65536];
	ssize_t n;

	fflush(stderr);
	n = read(reader, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

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
	assert_string_equal(seen(), "[measure]  12 problems\n[site]\n");
}

static void quiet_says_nothing(void **state)
{
	struct tk_globals g = {.quiet = true};
	struct tk_progress *p = tk_progress_new(&g);

	assert_null(p);
	assert_null(tk_progress_observer(p));
	tk_progress_free(p);
	assert_string_equal(seen(), "");
}

static void terminal_gets_one_live_line(void **state)
{
	struct tk_globals g = {0};
	struct tk_progress *p = tk_progress_new(&g);
	const struct tk_night_observer *o = tk_progress_observer(p);
	static const char after_log[] = "\r\033[Ktracker: warning: careful\r\n\r[measure] 4/4";
	const char *text;

	o->stage(o->arg, "measure", "");
	assert_string_equal(seen(), "\r[measure]\033[K");
	o->progress(o->arg, 4, 4, "a name\033[31m that is much longer than the forty columns of this terminal");
	text = seen();
	assert_string_equal(text, "\r[measure] 4/4  100 %  a name?[31m that \033[K");
	assert_null(strchr(text, '\n'));
	/* A line of the log wipes it and brings it back. */
	tk_log(TK_LOG_WARN, "x", NULL, "careful");
	text = seen();
	assert_memory_equal(text, after_log, sizeof after_log - 1);
	tk_progress_free(p);
	assert_string_equal(seen(), "\r\033[K");
	tk_log(TK_LOG_WARN, "x", NULL, "after");
	assert_string_equal(seen(), "tracker: warning: after\r\n");
}

static void wide_characters_are_not_cut_in_half(void **state)
{
	struct tk_globals g = {0};
	struct tk_progress *p = tk_progress_new(&g);
	const struct tk_night_observer *o = tk_progress_observer(p);

	o->stage(o->arg, "x",
	        "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
	        "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
	        "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3"
	        "\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc");
	assert_int_equal(strlen(seen()), 1 + 5 + 34 * 2 + 3); /* 39 columns */
	tk_progress_free(p);
	seen();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(pipe_gets_few_plain_lines, with_pipe, tear_down),
	        cmocka_unit_test_setup_teardown(quiet_says_nothing, with_pipe, tear_down),
	        cmocka_unit_test_setup_teardown(terminal_gets_one_live_line, with_terminal, tear_down),
	        cmocka_unit_test_setup_teardown(wide_characters_are_not_cut_in_half, with_terminal, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
