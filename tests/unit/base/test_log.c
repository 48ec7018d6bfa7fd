/* The log: every line of the file is JSON, whatever the bytes; a terminal never gets control
 * characters. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

static char *dir, *path, *stderr_path;
static struct tk_error err;
static int real_stderr;

static int set_up(void **state)
{
	int fd;

	tk_dir_create_temp("/tmp", "tk-log-", &dir, &err);
	path = tk_path_join(dir, "log.jsonl");
	stderr_path = tk_path_join(dir, "stderr");
	setenv("TRACKER_NOW", "2026-11-21T00:00:00Z", 1);
	real_stderr = dup(2);
	fd = open(stderr_path, O_WRONLY | O_CREAT | O_APPEND, 0666);
	dup2(fd, 2);
	close(fd);
	return tk_log_open(path, &err);
}

static int tear_down(void **state)
{
	tk_log_close();
	tk_log_set_level(TK_LOG_INFO);
	dup2(real_stderr, 2);
	close(real_stderr);
	tk_dir_remove(dir, NULL);
	free(dir);
	free(path);
	free(stderr_path);
	return 0;
}

static char *content(const char *file)
{
	struct tk_buf b = TK_BUF_INIT;

	assert_int_equal(tk_file_read(file, 0, &b, &err), TK_OK);
	return tk_buf_detach(&b, NULL);
}

static json_t *only_line(void)
{
	char *text = content(path);
	json_error_t e;
	json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, &e);

	if (!line)
		fail_msg("not JSON: %s: %s", e.text, text);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	return line;
}

static void check_member(json_t *line, const char *key, const char *value)
{
	const char *got = json_string_value(json_object_get(line, key));

	assert_non_null(got);
	assert_string_equal(got, value);
}

static void event_in_both_forms(void **state)
{
	json_t *line;
	char *text;

	tk_log(TK_LOG_WARN, "build_failed", json_pack("{s:s, s:i}", "upstream", "blis", "code", 2),
	        "upstream %s does not build", "blis");
	line = only_line();
	check_member(line, "time", "2026-11-21T00:00:00Z");
	check_member(line, "level", "warning");
	check_member(line, "event", "build_failed");
	check_member(line, "message", "upstream blis does not build");
	check_member(line, "upstream", "blis");
	assert_int_equal(json_integer_value(json_object_get(line, "code")), 2);
	json_decref(line);
	text = content(stderr_path);
	assert_string_equal(text, "tracker: warning: upstream blis does not build\n");
	free(text);
}

static void any_bytes_are_valid_json(void **state)
{
	char bytes[256];
	json_t *line;

	for (int i = 0; i < 255; i++)
		bytes[i] = (char)(i + 1);
	bytes[255] = '\0';
	tk_log(TK_LOG_DEBUG, "bytes", NULL, "%s", bytes);
	line = only_line();
	assert_non_null(
	        strstr(json_string_value(json_object_get(line, "message")), "\xef\xbf\xbd"));
	json_decref(line);
}

static void bad_fields_lose_fields_not_the_line(void **state)
{
	json_t *fields = json_object(), *line;

	json_object_set_new(fields, "name", json_string_nocheck("\xff"));
	tk_log(TK_LOG_DEBUG, "bad", fields, "still here");
	line = only_line();
	check_member(line, "message", "still here");
	json_decref(line);
}

static void fields_cannot_replace_the_frame(void **state)
{
	json_t *line;

	tk_log(TK_LOG_DEBUG, "real", json_pack("{s:s, s:s}", "event", "faked", "level", "error"),
	        "x");
	line = only_line();
	check_member(line, "event", "real");
	check_member(line, "level", "debug");
	json_decref(line);
}

static void terminal_gets_no_control_characters(void **state)
{
	char *text;

	tk_log(TK_LOG_INFO, "x", NULL, "a\033[31mred\r\b\177 tab\t");
	text = content(stderr_path);
	assert_string_equal(text, "tracker: a?[31mred??? tab\t\n");
	free(text);
}

static void level_decides_what_is_shown(void **state)
{
	char *text;

	tk_log_set_level(TK_LOG_WARN);
	tk_log(TK_LOG_INFO, "x", NULL, "hidden");
	tk_log_record(TK_LOG_ERROR, "y", NULL, "file only");
	text = content(stderr_path);
	assert_string_equal(text, "");
	free(text);
	text = content(path);
	assert_non_null(strstr(text, "hidden"));
	assert_non_null(strstr(text, "file only"));
	free(text);
}

static void mark(void *arg)
{
	strcat(arg, "*");
}

static void hooks_surround_a_line(void **state)
{
	char marks[8] = "";

	tk_log_set_hooks(mark, mark, marks);
	tk_log(TK_LOG_INFO, "x", NULL, "line");
	tk_log(TK_LOG_DEBUG, "x", NULL, "not shown");
	tk_log_set_hooks(NULL, NULL, NULL);
	assert_string_equal(marks, "**");
}

static void log_file_that_cannot_be_opened(void **state)
{
	assert_int_equal(tk_log_open("/nowhere/log", &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "log file /nowhere/log: No such file or directory");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(event_in_both_forms),
	        T(any_bytes_are_valid_json),
	        T(bad_fields_lose_fields_not_the_line),
	        T(fields_cannot_replace_the_frame),
	        T(terminal_gets_no_control_characters),
	        T(level_decides_what_is_shown),
	        T(hooks_surround_a_line),
	        T(log_file_that_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
