/* The log of a worker: the last line of a request, floods, rotation. */
#include "base/error.h"
#include "worker/worker_log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/tracker-worker-log-XXXXXX";
static char path[128], old_path[160];

static void append(const struct tk_worker_log *log, const char *text)
{
	assert_int_equal(write(log->fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void only_lines_of_the_request_count(void **state)
{
	struct tk_worker_log log;
	char line[64];
	assert_int_equal(tk_worker_log_open(&log, path, NULL), TK_OK);
	append(&log, "from an earlier job\n");
	tk_worker_log_mark(&log);
	tk_worker_log_last_line(&log, line, sizeof line);
	assert_string_equal(line, "");
	append(&log, "first\nlast\x1b[31m words\n\n");
	tk_worker_log_last_line(&log, line, sizeof line);
	assert_string_equal(line, "last [31m words");
	assert_false(tk_worker_log_is_flooded(&log));
	tk_worker_log_close(&log);
}

static void a_flood_is_found_and_truncated(void **state)
{
	struct tk_worker_log log;
	struct stat st;
	assert_int_equal(tk_worker_log_open(&log, path, NULL), TK_OK);
	tk_worker_log_mark(&log);
	assert_int_equal(ftruncate(log.fd, log.start_bytes + TK_WORKER_LOG_MAX_BYTES + 1), 0);
	assert_true(tk_worker_log_is_flooded(&log));
	tk_worker_log_truncate(&log);
	assert_int_equal(fstat(log.fd, &st), 0);
	assert_true(st.st_size == log.start_bytes + (1 << 20));
	assert_false(tk_worker_log_is_flooded(&log));
	tk_worker_log_close(&log);
}

/* What an earlier request printed does not count. */
static void a_flood_is_one_of_the_request(void **state)
{
	const int64_t before = TK_WORKER_LOG_MAX_BYTES / 2;
	struct tk_worker_log log;
	assert_int_equal(tk_worker_log_open(&log, path, NULL), TK_OK);
	assert_int_equal(ftruncate(log.fd, before), 0);
	tk_worker_log_mark(&log);
	assert_int_equal(ftruncate(log.fd, before + TK_WORKER_LOG_MAX_BYTES), 0);
	assert_false(tk_worker_log_is_flooded(&log));
	assert_int_equal(ftruncate(log.fd, before + TK_WORKER_LOG_MAX_BYTES + 1), 0);
	assert_true(tk_worker_log_is_flooded(&log));
	assert_int_equal(ftruncate(log.fd, 0), 0);
	tk_worker_log_close(&log);
}

static void a_large_log_is_rotated(void **state)
{
	struct tk_worker_log log;
	struct stat st;
	assert_int_equal(truncate(path, 17 << 20), 0);
	assert_int_equal(tk_worker_log_open(&log, path, NULL), TK_OK);
	assert_int_equal(fstat(log.fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(stat(old_path, &st), 0);
	tk_worker_log_close(&log);
}

static void without_a_path_nothing_is_kept(void **state)
{
	struct tk_worker_log log;
	char line[64] = "x";
	assert_int_equal(tk_worker_log_open(&log, NULL, NULL), TK_OK);
	append(&log, "lost\n");
	tk_worker_log_last_line(&log, line, sizeof line);
	assert_string_equal(line, "");
	tk_worker_log_close(&log);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
	struct tk_worker_log log;
	struct tk_error err = {0};
	assert_int_not_equal(tk_worker_log_open(&log, "/no/such/folder/log", &err), TK_OK);
	assert_non_null(strstr(err.message, "/no/such/folder/log"));
}

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/log", folder);
	snprintf(old_path, sizeof old_path, "%s.1", path);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	unlink(old_path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_lines_of_the_request_count),
	        cmocka_unit_test(a_flood_is_found_and_truncated),
	        cmocka_unit_test(a_flood_is_one_of_the_request),
	        cmocka_unit_test(a_large_log_is_rotated),
	        cmocka_unit_test(without_a_path_nothing_is_kept),
	        cmocka_unit_test(a_folder_that_is_missing_is_an_error),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
