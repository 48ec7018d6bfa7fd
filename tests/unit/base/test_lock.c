/* The lock of a history between processes: who waits, how long, and what a killed holder leaves. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

static char dir[64], path[96];

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/tracker-lock-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/lock", dir);
	return 0;
}

static int tear_down(void **state)
{
	struct tk_error err = {0};

	(void)state;
	return tk_dir_remove(dir, &err);
}

/* A process that holds the lock until it is told to end it (*release is closed), or is killed. */
static pid_t start_holder(int *release)
{
	int held[2], go[2];
	char byte;

	assert_int_equal(pipe(held), 0);
	assert_int_equal(pipe(go), 0);
	pid_t child = fork();

	if (child == 0) {
		struct tk_lock *lock;

		close(go[1]);
		if (tk_lock_acquire(path, &lock, NULL) || write(held[1], "x", 1) != 1)
			_exit(1);
		if (read(go[0], &byte, 1) != 0)
			_exit(2);
		tk_lock_release(lock);
		_exit(0);
	}
	close(held[1]);
	close(go[0]);
	assert_int_equal(read(held[0], &byte, 1), 1);
	close(held[0]);
	*release = go[1];
	return child;
}

static void wait_for(pid_t child, int expected)
{
	int raw;

	assert_int_equal(waitpid(child, &raw, 0), child);
	assert_int_equal(raw, expected);
}

static void the_holder_is_named(void **state)
{
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;
	char expected[64];
	int release;
	pid_t child = start_holder(&release);

	(void)state;
	snprintf(expected, sizeof expected, "(process %ld)", (long)child);
	assert_int_equal(tk_lock_acquire(path, &lock, &err), TK_EBUSY);
	assert_non_null(strstr(err.message, expected));
	assert_non_null(strstr(err.message, path));
	assert_null(lock);
	assert_true(tk_lock_is_held(path));
	close(release);
	wait_for(child, 0);
	assert_false(tk_lock_is_held(path));
}

static void a_wait_ends_at_its_deadline(void **state)
{
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;
	int release;
	pid_t child = start_holder(&release);
	const int64_t start = tk_clock_monotonic_ns();

	(void)state;
	assert_int_equal(tk_lock_wait(path, 0, &lock, &err), TK_EBUSY);
	assert_int_equal(tk_lock_wait(path, 0.02, &lock, &err), TK_EBUSY);
	assert_true(tk_clock_monotonic_ns() - start >= 20 * 1000 * 1000);
	assert_null(lock);
	close(release);
	wait_for(child, 0);
	assert_int_equal(tk_lock_wait(path, 0, &lock, &err), TK_OK);
	tk_lock_release(lock);
}

static void a_wait_ends_when_the_holder_does(void **state)
{
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;
	int release;
	pid_t child = start_holder(&release);
	pid_t closer = fork();

	(void)state;
	if (closer == 0) {
		close(release);
		_exit(0); /* its copy of the pipe was one of two */
	}
	close(release);
	assert_int_equal(tk_lock_wait(path, 60, &lock, &err), TK_OK);
	wait_for(closer, 0);
	wait_for(child, 0);
	assert_true(tk_lock_is_held(path));
	tk_lock_release(lock);
	assert_false(tk_lock_is_held(path));
}

/* The file of a killed holder still has its number; the kernel has let go. */
static void a_killed_holder_holds_nothing(void **state)
{
	struct tk_buf left = TK_BUF_INIT;
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;
	char number[32];
	int release;
	pid_t child = start_holder(&release);

	(void)state;
	assert_int_equal(kill(child, SIGKILL), 0);
	wait_for(child, SIGKILL);
	close(release);
	assert_int_equal(tk_file_read(path, 0, &left, &err), TK_OK);
	snprintf(number, sizeof number, "%ld\n", (long)child);
	assert_string_equal(tk_buf_cstr(&left), number);
	tk_buf_free(&left);
	assert_false(tk_lock_is_held(path));
	assert_int_equal(tk_lock_acquire(path, &lock, &err), TK_OK);
	tk_lock_release(lock);
}

/* A file that is there is emptied, not added to. */
static void the_file_has_the_number_of_the_holder(void **state)
{
	static const char old[] = "123456789012345678901234567890 and more than a number\n";
	struct tk_buf text = TK_BUF_INIT;
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;
	char number[32];

	(void)state;
	assert_int_equal(tk_file_write(path, old, sizeof old - 1, &err), TK_OK);
	assert_false(tk_lock_is_held(path));
	assert_int_equal(tk_lock_acquire(path, &lock, &err), TK_OK);
	assert_int_equal(tk_file_read(path, 0, &text, &err), TK_OK);
	snprintf(number, sizeof number, "%ld\n", (long)getpid());
	assert_string_equal(tk_buf_cstr(&text), number);
	tk_lock_release(lock);
	assert_int_equal(tk_file_read(path, 0, &text, &err), TK_OK);
	assert_int_equal(text.len, 0);
	tk_buf_free(&text);
}

/* A lock is a file of its own: a link could lead anywhere. */
static void a_link_is_no_lock(void **state)
{
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;
	char target[96];

	(void)state;
	snprintf(target, sizeof target, "%s/target", dir);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(tk_lock_acquire(path, &lock, &err), TK_EIO);
	assert_non_null(strstr(err.message, path));
	assert_false(tk_file_exists(target));
	assert_false(tk_lock_is_held(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(tk_lock_acquire(path, &lock, &err), TK_EIO);
	assert_int_equal(tk_lock_wait(path, 60, &lock, &err), TK_EIO); /* at once */
	assert_null(lock);
}

static void a_folder_that_is_missing(void **state)
{
	struct tk_error err = {0};
	struct tk_lock *lock = NULL;

	(void)state;
	assert_int_equal(tk_lock_acquire("/nonexistent/lock", &lock, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "/nonexistent/lock"));
	assert_int_equal(tk_lock_wait("/nonexistent/lock", 60, &lock, &err), TK_ENOTFOUND);
	assert_false(tk_lock_is_held("/nonexistent/lock"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(the_holder_is_named),
	        T(a_wait_ends_at_its_deadline),
	        T(a_wait_ends_when_the_holder_does),
	        T(a_killed_holder_holds_nothing),
	        T(the_file_has_the_number_of_the_holder),
	        T(a_link_is_no_lock),
	        T(a_folder_that_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
