/* usage: terminal_attack METHOD
 * A program in that sandbox tries to type into the terminal that the tracker was started from, and
 * to become its foreground. Exit code 77 where this machine does not have the method. The same is
 * tried by a plain child in a process group of its own, where it must work, so that none of it is
 * refused for another reason. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox.h"

/* Bits of an exit code: what worked. */
enum { OPENED = 1, TYPED = 2, TAKEN = 4, TYPED_BY_NAME = 8, ADOPTED = 16 };

/* ---- the attack, in a process of its own ---- */

static int attack(const char *terminal)
{
	int worked = 0, fd = open("/dev/tty", O_RDWR | O_NOCTTY);

	signal(SIGTTOU, SIG_IGN); /* otherwise stops a background process */
	if (fd >= 0)
		worked |= OPENED | (ioctl(fd, TIOCSTI, "x") == 0 ? TYPED : 0) |
		          (tcsetpgrp(fd, getpgrp()) == 0 ? TAKEN : 0);
	fd = open(terminal, O_RDWR | O_NOCTTY);
	if (fd >= 0)
		worked |= (ioctl(fd, TIOCSTI, "y") == 0 ? TYPED_BY_NAME : 0) |
		          (ioctl(fd, TIOCSCTTY, 1) == 0 ? ADOPTED : 0);
	return worked;
}

/* ---- the process whose terminal it is ---- */

static int run_plainly(char *const argv[])
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		setpgid(0, 0);
		execv(argv[0], argv);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_inside(char *const argv[], bool signals_itself_only)
{
	/* The sandbox hides folders where this program may be. */
	const char *const readable[] = {getenv("TK_BUILD_ROOT"), NULL};
	const struct tk_sandbox_policy policy = {
	        .readable = readable, .signals_itself_only = signals_itself_only};
	struct tk_process_spec spec = {.argv = (const char *const *)argv, .deadline_s = 20};
	struct tk_process_result result = {0};
	struct tk_error err = {0};
	int code = -1;

	if (tk_sandbox_new(&policy, &spec.sandbox, &err) || tk_process_run(&spec, &result, &err))
		fprintf(stderr, "%s\n", err.message);
	else
		code = result.exit_code;
	tk_process_result_free(&result);
	tk_sandbox_free(spec.sandbox);
	return code;
}

/* Characters that wait to be read, as if somebody had typed them; they are taken away. */
static int count_typed(int terminal)
{
	int count = 0;

	ioctl(terminal, FIONREAD, &count);
	tcflush(terminal, TCIFLUSH);
	return count;
}

static int expect_nothing(int terminal, char *const argv[], bool signals_itself_only)
{
	const int worked = run_inside(argv, signals_itself_only), typed = count_typed(terminal);

	if (worked == 0 && typed == 0 && tcgetpgrp(terminal) == getpgrp())
		return 0;
	fprintf(stderr, "worked: %d, typed: %d, foreground: %d of %d\n", worked, typed,
	        (int)tcgetpgrp(terminal), (int)getpgrp());
	return 1;
}

static int attack_all(int terminal, char *name, const char *method)
{
	char self[PATH_MAX], what[] = "attack", no_name[] = "/dev/null";
	char *argv[] = {self, what, name, NULL};
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int worked;

	self[n > 0 ? n : 0] = '\0';
	worked = run_plainly(argv);
	tcsetpgrp(terminal, getpgrp());
	/* Some systems have turned typing off (dev.tty.legacy_tiocsti). */
	if (worked < 0 || (worked & (OPENED | TAKEN)) != (OPENED | TAKEN) ||
	        (worked & TYPED && !count_typed(terminal))) {
		fprintf(stderr, "the attack does not work by itself: %d\n", worked);
		return 1;
	}
	if (strcmp(method, "none") == 0) /* root may type into each terminal that it can name */
		argv[2] = no_name;
	return expect_nothing(terminal, argv, false) | expect_nothing(terminal, argv, true);
}

/* In a session of its own with a new terminal, as a shell. */
static int lead_session(char *terminal_name, const char *method)
{
	struct termios settings;
	int terminal;

	setsid();
	terminal = open(terminal_name, O_RDWR);
	if (terminal < 0 || tcgetattr(terminal, &settings) != 0)
		return 2;
	settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* each character counts at once */
	tcsetattr(terminal, TCSANOW, &settings);
	signal(SIGTTOU, SIG_IGN);
	return attack_all(terminal, terminal_name, method);
}

int main(int argc, char **argv)
{
	int controller, status;
	pid_t child;

	if (argc == 3)
		return attack(argv[2]);
	if (argc != 2)
		return 2;
	setenv("TRACKER_SANDBOX_METHOD", argv[1], 1);
	tk_sandbox_configure(strcmp(argv[1], "none") == 0 ? TK_SANDBOX_OFF : TK_SANDBOX_AUTO, NULL);
	if (strcmp(tk_sandbox_method_name(tk_sandbox_method()), argv[1]) != 0)
		return 77;
	controller = posix_openpt(O_RDWR | O_NOCTTY);
	if (controller < 0 || grantpt(controller) != 0 || unlockpt(controller) != 0)
		return 2;
	child = fork();
	if (child == 0)
		_exit(lead_session(ptsname(controller), argv[1]));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
