/* Paths as text. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

static void check(char *got, const char *expected)
{
	assert_non_null(got);
	assert_string_equal(got, expected);
	free(got);
}

static void joining(void **state)
{
	check(tk_path_join("a", "b"), "a/b");
	check(tk_path_join("a/", "b"), "a/b");
	check(tk_path_join("a", "/b"), "/b");
	check(tk_path_join("", "b"), "b");
	check(tk_path_join("/", "b"), "/b");
	check(tk_path_join3("a", "b", "c"), "a/b/c");
}

static void absolute(void **state)
{
	char cwd[PATH_MAX], expected[PATH_MAX + 16];

	check(tk_path_make_absolute("/a/./b/../c//d/"), "/a/c/d");
	check(tk_path_make_absolute("/../../x"), "/x");
	check(tk_path_make_absolute("/"), "/");
	check(tk_path_make_absolute("/a/.."), "/");
	assert_non_null(getcwd(cwd, sizeof cwd));
	snprintf(expected, sizeof expected, "%s/new/file", cwd);
	check(tk_path_make_absolute("./new/file"), expected);
	check(tk_path_make_absolute("."), cwd);
}

static void slugs(void **state)
{
	char longer[10001], *a, *b;

	check(tk_path_make_slug("openblas-0.3.21_x"), "openblas-0.3.21_x");
	a = tk_path_make_slug("../../etc/passwd");
	assert_null(strchr(a, '/'));
	assert_true(*a != '.');
	b = tk_path_make_slug("..-..-etc-passwd");
	assert_string_not_equal(a, b);
	free(a);
	free(b);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	a = tk_path_make_slug(longer);
	longer[5000] = 'y';
	b = tk_path_make_slug(longer);
	assert_int_equal(strlen(a), 80);
	assert_string_not_equal(a, b);
	free(a);
	free(b);
	a = tk_path_make_slug("");
	assert_true(*a);
	free(a);
	a = tk_path_make_slug(".");
	assert_true(strcmp(a, ".") != 0);
	free(a);
	a = tk_path_make_slug("-rf");
	assert_true(*a != '-');
	free(a);
	a = tk_path_make_slug("\xc3\xa9 <script>\n");
	assert_true(
	        strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
	        strlen(a));
	free(a);
}

static void cache_folder(void **state)
{
	setenv("TRACKER_CACHE", "/c", 1);
	check(tk_path_cache_dir("artifacts"), "/c/artifacts");
	unsetenv("TRACKER_CACHE");
	setenv("XDG_CACHE_HOME", "/xdg", 1);
	check(tk_path_cache_dir("artifacts"), "/xdg/tracker/artifacts");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "/home/me", 1);
	check(tk_path_cache_dir("artifacts"), "/home/me/.cache/tracker/artifacts");
}

static void paths_of_users(void **state)
{
	setenv("HOME", "/home/me", 1);
	check(tk_path_resolve("/srv", "x/../y"), "/srv/y");
	check(tk_path_resolve("/srv", "/abs"), "/abs");
	check(tk_path_resolve("/srv", "~/x"), "/home/me/x");
	check(tk_path_resolve("/srv", "~x"), "/srv/~x");
}

static void data_folder(void **state)
{
	setenv("TRACKER_DATADIR", "/data", 1);
	assert_string_equal(tk_path_data_dir(), "/data");
	unsetenv("TRACKER_DATADIR");
	assert_true(tk_dir_exists(tk_path_data_dir()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(joining),
	        cmocka_unit_test(absolute),
	        cmocka_unit_test(slugs),
	        cmocka_unit_test(cache_folder),
	        cmocka_unit_test(paths_of_users),
	        cmocka_unit_test(data_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
