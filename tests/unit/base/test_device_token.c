/* The device token between real processes: they alternate, and none waits for one that died, hangs
 * or is stopped. */
#include "base/clock.h"
#include "base/device_token.h"
#include "base/error.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_S 20.0
#define TURNS 50

static void open_end(struct tk_device_token *b, int fd, double begin_s, double wait_s)
{
	struct tk_error err = {0};
	if (tk_device_token_open(b, fd, begin_s, wait_s, &err))
		fail_msg("%s", err.message);
}

/* A process with the second end, and nothing of the first one. */
static pid_t fork_second(int ends[2], void (*act)(struct tk_device_token *b, int out), int out)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct tk_device_token b;
		close(ends[0]);
		tk_device_token_open(&b, ends[1], LONG_S, LONG_S, NULL);
		act(&b, out);
		_exit(0);
	}
	close(ends[1]);
	return pid;
}

static void take_turns(struct tk_device_token *b, const char *name, int out)
{
	for (int i = 0; i < TURNS; i++) {
		tk_device_token_acquire(b);
		tk_device_token_acquire(b); /* it is here */
		if (write(out, name, 1) != 1)
			_exit(1);
		tk_device_token_release(b, i == TURNS - 1);
	}
}

static void be_second(struct tk_device_token *b, int out)
{
	take_turns(b, "b", out);
}

static void two_alternate(void **state)
{
	int ends[2], p[2];
	char told[2 * TURNS];
	struct tk_device_token b;
	assert_int_equal(tk_device_token_new_pair(ends, NULL), 0);
	assert_int_equal(pipe(p), 0);
	pid_t pid = fork_second(ends, be_second, p[1]);
	open_end(&b, ends[0], LONG_S, LONG_S);
	take_turns(&b, "a", p[1]);
	tk_device_token_acquire(&b);
	assert_true(b.is_held);
	assert_true(tk_device_token_can_stop(&b)); /* the last thing that the other one said */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read(p[0], told, sizeof told), sizeof told);
	for (int i = 0; i < 2 * TURNS; i++)
		assert_int_equal(told[i], i % 2 ? 'b' : 'a');
	assert_true(b.waited_ns > 0);
	tk_device_token_close(&b);
	close(p[0]);
	close(p[1]);
}

static void die(struct tk_device_token *b, int out)
{
	tk_device_token_acquire(b);
	kill(getpid(), SIGKILL);
}

static void a_death_frees_the_other(void **state)
{
	int ends[2];
	struct tk_device_token b;
	assert_int_equal(tk_device_token_new_pair(ends, NULL), 0);
	pid_t pid = fork_second(ends, die, -1);
	open_end(&b, ends[0], LONG_S, LONG_S);
	int64_t start = tk_clock_monotonic_ns();
	tk_device_token_acquire(&b);
	assert_true(b.is_held);
	assert_false(tk_device_token_can_stop(&b));
	tk_device_token_release(&b, false);
	tk_device_token_acquire(&b); /* its peer died with the token */
	assert_true(b.fd < 0 && tk_device_token_can_stop(&b));
	assert_true(tk_clock_monotonic_ns() - start <
	            (int64_t)(LONG_S * 1e9)); /* not by waiting it out */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	tk_device_token_acquire(&b);
	tk_device_token_release(&b, true);
	tk_device_token_close(&b);
}

/* Stopped while it holds the token; exits with 0 only if it finds that it was left behind. */
static void stop_with_it(struct tk_device_token *b, int out)
{
	tk_device_token_acquire(b);
	raise(SIGSTOP);
	tk_device_token_release(b, false);
	_exit(tk_device_token_acquire(b) ? 1 : 7);
}

/* Stopped before its first turn, so that the token waits for it. */
static void stop_without_it(struct tk_device_token *b, int out)
{
	raise(SIGSTOP);
	stop_with_it(b, out);
}

static void left_behind(void (*act)(struct tk_device_token *b, int out), int stops)
{
	int ends[2], status;
	struct tk_device_token b;
	assert_int_equal(tk_device_token_new_pair(ends, NULL), 0);
	pid_t pid = fork_second(ends, act, -1);
	open_end(&b, ends[0], 0.2, LONG_S);
	assert_true(tk_device_token_acquire(&b));
	tk_device_token_release(&b, false);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_true(tk_device_token_acquire(&b)); /* after so long a wait without it */
	assert_true(b.fd < 0 && tk_device_token_can_stop(&b));
	assert_true(b.waited_ns >= 200000000);
	for (; stops > 0; stops--) {
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void one_that_is_stopped_is_left_behind(void **state)
{
	left_behind(stop_with_it, 1);
	left_behind(stop_without_it, 2);
}

/* Begins after more than a turn's wait, and stops in its second turn. */
static void begin_late(struct tk_device_token *b, int out)
{
	tk_clock_sleep_ns(500000000);
	tk_device_token_acquire(b);
	tk_device_token_release(b, false);
	stop_with_it(b, out);
}

static void a_start_may_take_longer_than_a_turn(void **state)
{
	int ends[2], status;
	struct tk_device_token b;
	assert_int_equal(tk_device_token_new_pair(ends, NULL), 0);
	pid_t pid = fork_second(ends, begin_late, -1);
	open_end(&b, ends[0], LONG_S, 0.2);
	assert_true(tk_device_token_acquire(&b));
	tk_device_token_release(&b, false);
	assert_true(tk_device_token_acquire(&b));
	assert_true(b.fd >= 0); /* it was waited for */
	tk_device_token_release(&b, false);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(tk_device_token_acquire(&b));
	assert_true(b.fd < 0);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void a_descriptor_that_is_not_a_socket_is_refused(void **state)
{
	struct tk_device_token b;
	struct tk_error err = {0};
	int fd = open("/dev/null", O_RDONLY);
	assert_int_equal(tk_device_token_open(&b, fd, 1, 1, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "is not a socket"));
	assert_int_equal(tk_device_token_open(&b, 9999, 1, 1, &err), TK_EDATA);
	close(fd);
	assert_int_equal(tk_device_token_open(&b, 0, 1, 1, &err), 0); /* alone */
	tk_device_token_acquire(&b);
	tk_device_token_release(&b, false);
	assert_true(tk_device_token_can_stop(&b));
	assert_int_equal(b.waited_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(two_alternate),
	        cmocka_unit_test(a_death_frees_the_other),
	        cmocka_unit_test(one_that_is_stopped_is_left_behind),
	        cmocka_unit_test(a_start_may_take_longer_than_a_turn),
	        cmocka_unit_test(a_descriptor_that_is_not_a_socket_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
