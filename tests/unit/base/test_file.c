/* Files and folders on the real disk: atomic replacement, links that are not followed, locks. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

static char *dir;
static struct tk_error err;

static int set_up(void **state)
{
	return tk_dir_create_temp("/tmp", "tk-file-", &dir, &err);
}

static int tear_down(void **state)
{
	int status = tk_dir_remove(dir, &err);

	free(dir);
	return status;
}

/* A path below the scratch folder; a few live at a time. */
static const char *in(const char *name)
{
	static char paths[4][4096];
	static int next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof paths[0], "%s/%s", dir, name);
	return p;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(tk_file_write(in(name), text, strlen(text), &err), TK_OK);
}

static void expect(const char *name, const char *text)
{
	struct tk_buf b = TK_BUF_INIT;

	assert_int_equal(tk_file_read(in(name), 0, &b, &err), TK_OK);
	assert_string_equal(tk_buf_cstr(&b), text);
	tk_buf_free(&b);
}

static void write_and_read(void **state)
{
	char **names;
	size_t count;

	put("a", "one");
	expect("a", "one");
	put("a", "two");
	expect("a", "two");
	put("empty", "");
	expect("empty", "");
	assert_int_equal(tk_dir_list(dir, &names, &count, &err), TK_OK);
	assert_int_equal(count, 2); /* no temporary file stays */
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "empty");
	tk_names_free(names, count);
}

static void write_keeps_mode_and_link(void **state)
{
	struct stat st;

	put("real", "1");
	assert_int_equal(chmod(in("real"), 0640), 0);
	assert_int_equal(symlink("real", in("link")), 0);
	put("link", "2");
	expect("real", "2");
	assert_int_equal(stat(in("real"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(lstat(in("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void write_failures(void **state)
{
	struct stat st;

	assert_int_equal(tk_file_write(in("none/file"), "x", 1, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "none/file: No such file or directory"));
	/* /dev/full is what a full disk looks like; it must stay a device. */
	assert_int_equal(tk_file_write("/dev/full", "x", 1, &err), TK_ENOSPC);
	assert_string_equal(err.message, "writing /dev/full: No space left on device");
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

/* A limit of the size of files ends a write in its middle, as a full disk does. */
static void a_write_that_ends_in_its_middle(void **state)
{
	static char large[100000];
	struct rlimit before, limit;
	void (*handler)(int);
	char **names;
	size_t count;

	put("file", "old");
	assert_int_equal(tk_dir_create(in("from"), &err), TK_OK);
	assert_int_equal(tk_file_write(in("from/large"), large, sizeof large, &err), TK_OK);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 70000;
	handler = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	int whole = tk_file_write(in("file"), large, sizeof large, NULL),
	    nosync = tk_file_write_nosync(in("file"), large, sizeof large, NULL),
	    copy = tk_dir_copy(in("from"), in("to"), &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_true(whole && nosync && copy);
	assert_non_null(strstr(err.message, "from/large to "));
	expect("file", "old");
	assert_int_equal(tk_dir_list(dir, &names, &count, &err), TK_OK);
	assert_int_equal(count, 3); /* file, from, to: no temporary file is left */
	tk_names_free(names, count);
}

/* What is opened for reading is a regular file; nothing else is waited for or followed. */
static void only_regular_files_are_opened(void **state)
{
	static const char *const others[] = {"fifo", "link", "folder", "device"};
	int at = open(dir, O_RDONLY | O_DIRECTORY), fd;

	assert_true(at >= 0);
	put("file", "text");
	assert_int_equal(mkfifo(in("fifo"), 0600), 0);
	assert_int_equal(symlink("file", in("link")), 0);
	assert_int_equal(mkdir(in("folder"), 0700), 0);
	assert_int_equal(symlink("/dev/full", in("device")), 0);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_int_equal(tk_file_open_regular(at, others[i], &err), TK_EDATA);
		assert_non_null(strstr(err.message, "is not a regular file"));
	}
	assert_int_equal(tk_file_open_regular(at, "absent", &err), TK_ENOTFOUND);
	fd = tk_file_open_regular(at, "file", &err);
	assert_true(fd >= 0);
	close(fd);
	close(at);
}

static void folders_that_are_none(void **state)
{
	char **names, *path = NULL;
	size_t count;
	int fd;

	put("file", "text");
	assert_int_equal(tk_dir_list(in("absent"), &names, &count, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "absent"));
	assert_true(tk_dir_list(in("file"), &names, &count, &err));
	assert_true(tk_dir_copy(in("file"), in("to"), &err));
	assert_true(tk_dir_create_temp(in("file"), "x-", &path, &err) && !path);
	assert_true(tk_dir_create_temp(in("absent"), "x-", &path, &err) && !path);
	assert_true(tk_dir_disk_bytes(in("file")) == 0 && tk_dir_disk_bytes(in("absent")) == 0);
	fd = open(in("file"), O_RDONLY);
	assert_true(tk_dir_list_fd(fd, &names, &count, &err));
	assert_int_equal(fcntl(fd, F_GETFD), 0); /* still open, and the caller's */
	close(fd);
}

/* Deeper than removing goes: an error, and the rest can be removed from below. */
static void a_tree_that_is_too_deep(void **state)
{
	char *deep = malloc(4096), *middle = malloc(4096);
	size_t len = (size_t)snprintf(deep, 4096, "%s", in("deep"));

	assert_int_equal(mkdir(deep, 0700), 0);
	for (size_t i = 0; i < 810; i++) {
		len += (size_t)snprintf(deep + len, 4096 - len, "/d");
		assert_int_equal(mkdir(deep, 0700), 0);
		if (i == 400)
			strcpy(middle, deep);
	}
	assert_true(tk_dir_disk_bytes(in("deep")) < 1 << 30);
	assert_true(tk_dir_remove(in("deep"), &err));
	assert_non_null(strstr(err.message, "removing "));
	assert_true(tk_dir_exists(deep));
	assert_int_equal(tk_dir_remove(middle, &err), TK_OK);
	assert_int_equal(tk_dir_remove(in("deep"), &err), TK_OK);
	free(middle);
	free(deep);
}

static void read_limits(void **state)
{
	struct tk_buf b = TK_BUF_INIT;

	put("ten", "0123456789");
	assert_int_equal(tk_file_read(in("ten"), 10, &b, &err), TK_OK);
	assert_int_equal(tk_file_read(in("ten"), 9, &b, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "ten: larger than 9 bytes"));
	assert_int_equal(tk_file_read(in("missing"), 9, &b, &err), TK_ENOTFOUND);
	assert_int_equal(tk_file_read(dir, 9, &b, &err), TK_EIO);
	assert_int_equal(tk_file_read("/dev/zero", 100000, &b, &err), TK_EDATA);
	tk_buf_free(&b);
}

static void folders(void **state)
{
	assert_int_equal(tk_dir_create(in("p/q/r"), &err), TK_OK);
	assert_int_equal(tk_dir_create(in("p/q/r/"), &err), TK_OK);
	assert_true(tk_dir_exists(in("p/q/r")));
	assert_false(tk_file_exists(in("p/q/r")));
	put("file", "x");
	assert_true(tk_file_exists(in("file")));
	assert_int_equal(tk_dir_create(in("file/below"), &err), TK_EIO);
	assert_int_equal(tk_dir_create(in("file"), &err), TK_EIO);
}

static void remove_does_not_follow_links(void **state)
{
	tk_dir_create(in("outside"), &err);
	put("outside/keep", "kept");
	tk_dir_create(in("tree/sub"), &err);
	put("tree/sub/file", "x");
	assert_int_equal(symlink("../outside", in("tree/link")), 0);
	assert_int_equal(symlink("nowhere", in("tree/dangling")), 0);
	assert_int_equal(chmod(in("tree/sub"), 0500), 0);
	assert_int_equal(tk_dir_remove(in("tree"), &err), TK_OK);
	assert_false(tk_dir_exists(in("tree")));
	expect("outside/keep", "kept");
	assert_int_equal(tk_dir_remove(in("tree"), &err), TK_OK);
	assert_int_equal(symlink("outside", in("link")), 0);
	assert_int_equal(tk_dir_remove(in("link/"), &err), TK_OK);
	assert_false(tk_dir_exists(in("link")));
	expect("outside/keep", "kept");
}

static void copy_keeps_modes_and_links(void **state)
{
	struct stat st;
	char target[64] = "";

	tk_dir_create(in("from/sub"), &err);
	put("from/sub/run.sh", "#!/bin/sh\n");
	assert_int_equal(chmod(in("from/sub/run.sh"), 0750), 0);
	assert_int_equal(symlink("sub/run.sh", in("from/link")), 0);
	assert_int_equal(mkfifo(in("from/pipe"), 0600), 0);
	assert_int_equal(tk_dir_copy(in("from"), in("to/here"), &err), TK_OK);
	assert_int_equal(stat(in("to/here/sub/run.sh"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0750);
	assert_int_equal(readlink(in("to/here/link"), target, sizeof target - 1), 10);
	assert_string_equal(target, "sub/run.sh");
	assert_int_equal(lstat(in("to/here/pipe"), &st), -1);
	assert_int_equal(tk_dir_size(in("to")), 10);
	assert_int_equal(tk_dir_size(in("nowhere")), 0);
	assert_int_equal(tk_dir_copy(in("nowhere"), in("to2"), &err), TK_ENOTFOUND);
}

static int stop_at_b(void *arg, const char *relative, const struct stat *st, struct tk_error *e)
{
	tk_buf_add_printf(arg, "%s ", relative);
	return strcmp(relative, "b/c") == 0 ? tk_fail(e, TK_ECANCELED, "enough") : TK_OK;
}

static void walk_is_sorted_and_can_be_stopped(void **state)
{
	struct tk_buf seen = TK_BUF_INIT;

	tk_dir_create(in("w/b/c"), &err);
	tk_dir_create(in("w/z"), &err);
	put("w/a", "");
	put("w/b/a", "");
	assert_int_equal(tk_dir_walk(in("w"), stop_at_b, &seen, &err), TK_ECANCELED);
	assert_string_equal(tk_buf_cstr(&seen), "a b b/a b/c ");
	tk_buf_free(&seen);
}

/* What a build uses: not the length of a sparse file, not a file for each of its links. */
static void disk_space_is_counted(void **state)
{
	uint64_t one, both;
	char *block = calloc(1, 1 << 20);

	assert_int_equal(tk_dir_create(in("used/below"), NULL), TK_OK);
	assert_int_equal(tk_file_write(in("used/below/one"), block, 1 << 20, NULL), TK_OK);
	one = tk_dir_disk_bytes(in("used"));
	assert_true(one >= 1 << 20 && one < 2 << 20);
	assert_int_equal(link(in("used/below/one"), in("used/two")), 0);
	assert_int_equal(symlink("below", in("used/link")), 0);
	assert_int_equal(truncate(in("used/two"), 100 << 20), 0);
	both = tk_dir_disk_bytes(in("used"));
	assert_true(both >= one - 8192 && both <= one + 8192);
	assert_int_equal(tk_dir_disk_bytes(in("nowhere")), 0);
	free(block);
}

static void lock_is_exclusive(void **state)
{
	struct tk_lock *lock, *second;
	char expected[64];
	int raw;
	pid_t child;

	assert_int_equal(tk_lock_acquire(in("lock"), &lock, &err), TK_OK);
	assert_int_equal(tk_lock_acquire(in("lock"), &second, &err), TK_EBUSY);
	snprintf(expected, sizeof expected, "another tracker (process %ld) is at work here",
	        (long)getpid());
	assert_memory_equal(err.message, expected, strlen(expected));
	tk_lock_release(lock);
	assert_int_equal(tk_lock_acquire(in("lock"), &lock, &err), TK_OK);
	tk_lock_release(lock);
	tk_lock_release(NULL);
	/* A holder that dies leaves no lock behind. */
	child = fork();
	if (child == 0)
		_exit(!tk_lock_acquire(in("lock"), &lock, NULL) ? 0 : 1);
	assert_int_equal(waitpid(child, &raw, 0), child);
	assert_int_equal(raw, 0);
	assert_int_equal(tk_lock_acquire(in("lock"), &lock, &err), TK_OK);
	tk_lock_release(lock);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(write_and_read),
	        T(write_keeps_mode_and_link),
	        T(write_failures),
	        T(a_write_that_ends_in_its_middle),
	        T(only_regular_files_are_opened),
	        T(folders_that_are_none),
	        T(a_tree_that_is_too_deep),
	        T(read_limits),
	        T(folders),
	        T(remove_does_not_follow_links),
	        T(copy_keeps_modes_and_links),
	        T(walk_is_sorted_and_can_be_stopped),
	        T(disk_space_is_counted),
	        T(lock_is_exclusive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
