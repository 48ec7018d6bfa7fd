/* What a child gets when it starts: its descriptors, whatever their numbers, and a parent to die
 * with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/spawn.h"

extern char **environ;

/* -1, or where a child says that it is about to ask for its parent's death signal. */
static int prctl_reached = -1;

int __real_prctl(int option, unsigned long arg, ...);
int __wrap_prctl(int option, unsigned long arg, ...);

/* The worst case: the parent dies after the fork, before the child has asked. */
int __wrap_prctl(int option, unsigned long arg, ...)
{
	pid_t parent = getppid();

	if (option == PR_SET_PDEATHSIG && prctl_reached >= 0) {
		if (write(prctl_reached, "", 1) != 1)
			_exit(99);
		while (getppid() == parent)
			usleep(1000);
	}
	return __real_prctl(option, arg);
}

static bool refuse_dup2; /* in the child */

int __real_dup2(int from, int to);
int __wrap_dup2(int from, int to);

int __wrap_dup2(int from, int to)
{
	if (!refuse_dup2)
		return __real_dup2(from, to);
	errno = EBUSY;
	return -1;
}

/* Runs a function in a process of its own, which may close its standard descriptors. */
static int exit_code_of(int (*body)(void))
{
	int raw;
	pid_t child = fork();

	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &raw, 0), child);
	return WIFEXITED(raw) ? WEXITSTATUS(raw) : 100 + WTERMSIG(raw);
}

/* 0 where `cat` answers "hello" by these descriptors. */
static int cat_answers(int in_read, int in_write, int out_read, int out_write)
{
	static const char *const argv[] = {"cat", NULL};
	struct tk_spawn_spec spec = {
	        .path = "/bin/cat", .argv = argv, .env = environ, .stdio = {in_read, out_write, 2}};
	char text[16] = "";
	pid_t child;
	int raw;

	if (tk_spawn(&spec, &child, NULL))
		return 1;
	close(in_read);
	close(out_write);
	if (write(in_write, "hello", 5) != 5)
		return 2;
	close(in_write);
	if (read(out_read, text, sizeof text - 1) != 5 || strcmp(text, "hello") != 0)
		return 3;
	return waitpid(child, &raw, 0) == child && raw == 0 ? 0 : 4;
}

static int cat_with_stdin_closed(void)
{
	int in[2], out[2];

	close(0);
	if (tk_spawn_pipe(in, NULL) || tk_spawn_pipe(out, NULL) || in[0] != 0)
		return 10;
	return cat_answers(in[0], in[1], out[0], out[1]);
}

/* The pipes take the numbers 0 and 1 in the wrong order. */
static int cat_with_crossed_descriptors(void)
{
	int in[2], out[2];

	if (tk_spawn_pipe(in, NULL) || tk_spawn_pipe(out, NULL))
		return 10;
	if (dup2(in[0], 1) != 1 || dup2(out[1], 0) != 0)
		return 11;
	close(in[0]);
	close(out[1]);
	return cat_answers(1, in[1], out[0], 0);
}

static void stdin_is_not_lost(void **state)
{
	(void)state;
	assert_int_equal(exit_code_of(cat_with_stdin_closed), 0);
	assert_int_equal(exit_code_of(cat_with_crossed_descriptors), 0);
}

static void only_named_descriptors_are_inherited(void **state)
{
	static const char *const argv[] = {
	        "sh", "-c", "for fd in /proc/self/fd/*; do printf '%s ' ${fd##*/}; done", NULL};
	int out[2], extra[2], kept;
	char text[256] = "", expected[64];
	struct tk_error err = {0};
	pid_t child;

	(void)state;
	assert_int_equal(tk_spawn_pipe(out, &err), TK_OK);
	assert_int_equal(pipe(extra), 0); /* not close-on-exec */
	kept = fcntl(extra[0], F_DUPFD_CLOEXEC, 40);
	struct tk_spawn_spec spec = {.path = "/bin/sh",
	        .argv = argv,
	        .env = environ,
	        .stdio = {0, out[1], 2},
	        .keep_fd = kept};

	assert_int_equal(tk_spawn(&spec, &child, &err), TK_OK);
	close(out[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(read(out[0], text, sizeof text - 1) > 0);
	/* The shell's own descriptor of the folder is beside them. */
	snprintf(expected, sizeof expected, " %d ", kept);
	assert_non_null(strstr(text, expected));
	snprintf(expected, sizeof expected, " %d ", extra[1]);
	assert_null(extra[1] > 3 ? strstr(text, expected) : NULL);
	close(out[0]);
	close(extra[0]);
	close(extra[1]);
	close(kept);
}

static void what_failed_is_named(void **state)
{
	static const char *const argv[] = {"true", NULL};
	struct tk_spawn_spec spec = {
	        .path = "/bin/true", .argv = argv, .env = environ, .stdio = {0, 1, 999}};
	struct tk_error err = {0};
	cpu_set_t none;
	pid_t child = 0;

	(void)state;
	assert_int_equal(tk_spawn(&spec, &child, &err), TK_EIO);
	assert_non_null(strstr(err.message, "starting true: its descriptors"));
	spec.stdio[2] = 2;
	refuse_dup2 = true;
	assert_int_equal(tk_spawn(&spec, &child, &err), TK_EIO);
	refuse_dup2 = false;
	assert_non_null(strstr(err.message, "starting true: its descriptors"));
	assert_non_null(strstr(err.message, strerror(EBUSY)));
	spec.keep_fd = 999;
	assert_int_equal(tk_spawn(&spec, &child, &err), TK_EIO);
	assert_non_null(strstr(err.message, "starting true: its descriptors"));
	spec.keep_fd = 2;
	assert_int_equal(tk_spawn(&spec, &child, &err), TK_EINTERNAL);
	spec.keep_fd = 0;
	CPU_ZERO(&none);
	spec.cores = &none;
	assert_int_equal(tk_spawn(&spec, &child, &err), TK_EIO);
	assert_non_null(strstr(err.message, "starting true: its cores"));
	assert_int_equal(child, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

static _Noreturn void spawn_sleep(void)
{
	static const char *const argv[] = {"sleep", "1000", NULL};
	struct tk_spawn_spec spec = {
	        .path = "/bin/sleep", .argv = argv, .env = environ, .stdio = {0, 1, 2}};
	pid_t child;

	if (tk_spawn(&spec, &child, NULL))
		_exit(1);
	pause();
	_exit(0);
}

/* A parent is killed while its child starts, or once it runs: no `sleep` may be left either way. */
static void no_child_outlives_its_parent(void **state)
{
	int reached[2], raw;
	char byte;

	(void)state;
	assert_int_equal(__real_prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(tk_spawn_pipe(reached, NULL), TK_OK);
	pid_t parent = fork();
	if (parent == 0) {
		prctl_reached = reached[1];
		spawn_sleep();
	}
	assert_int_equal(read(reached[0], &byte, 1), 1);
	kill(parent, SIGKILL);
	for (int ended = 0; ended < 2; ended++) {
		pid_t pid = waitpid(-1, &raw, 0);

		assert_true(pid > 0);
		if (pid != parent)
			assert_true(WIFEXITED(raw) && WEXITSTATUS(raw) >= 126);
	}
	close(reached[0]);
	close(reached[1]);
}

static int reopen_stdio(void)
{
	int fd;

	close(0);
	close(1);
	if (tk_spawn_open_stdio(NULL) || fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0)
		return 1;
	fd = open("/dev/null", O_RDONLY);
	return fd > 2 ? 0 : 2;
}

static int open_stdio_without_descriptors(void)
{
	const struct rlimit none = {0};
	struct tk_error err = {0};

	close(0);
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		return 1;
	if (tk_spawn_open_stdio(&err) != TK_EIO || !strstr(err.message, "/dev/null"))
		return 2;
	return 0;
}

static void closed_standard_descriptors_are_opened(void **state)
{
	(void)state;
	assert_int_equal(exit_code_of(open_stdio_without_descriptors), 0);
	assert_int_equal(exit_code_of(reopen_stdio), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(stdin_is_not_lost),
	        cmocka_unit_test(only_named_descriptors_are_inherited),
	        cmocka_unit_test(what_failed_is_named),
	        cmocka_unit_test(no_child_outlives_its_parent),
	        cmocka_unit_test(closed_standard_descriptors_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
