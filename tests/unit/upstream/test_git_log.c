/* Parsing of `git log`. */
#include "base/error.h"
#include "upstream/git_log.h"
#include "upstream/repo.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define H1 "1111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222"
#define H3 "3333333333333333333333333333333333333333"

static struct tk_revision *parse(const char *data, size_t len, size_t *count)
{
	struct tk_revision *list = NULL;
	struct tk_error err = {0};
	if (tk_git_log_parse(data, len, &list, count, &err))
		fail_msg("%s", err.message);
	return list;
}

static void records(void **state)
{
	static const char two[] = H1 "\0" H2 " " H3 "\0"
	                             "100\0"
	                             "200\0"
	                             "A \"B\" <c>\0"
	                             "one\0" H2 "\0\0"
	                             "-5\0"
	                             "0\0\0\0";
	size_t n = 0;
	struct tk_revision *list = parse(two, sizeof(two) - 1, &n);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].id, H1);
	assert_string_equal(list[0].parent, H2);
	assert_int_equal(list[0].author_time_s, 100);
	assert_int_equal(list[0].commit_time_s, 200);
	assert_string_equal(list[0].author, "A \"B\" <c>");
	assert_string_equal(list[0].subject, "one");
	assert_string_equal(list[1].parent, "");
	assert_int_equal(list[1].author_time_s, -5);
	assert_string_equal(list[1].subject, "");
	free(list);
	assert_null(parse("", 0, &n));
	assert_int_equal(n, 0);
}

static void long_subject(void **state)
{
	const size_t len = 10240;
	char *data = malloc(len + 200);
	size_t n = 0;
	memcpy(data,
	        H1 "\0\0"
	           "1\0"
	           "2\0"
	           "x",
	        48);
	char *subject = data + 40 + 1 + 1 + 2 + 2 + 2;
	data[46] = 'x';
	data[47] = '\0';
	memset(subject, 's', len);
	subject[len] = '\0';
	struct tk_revision *list = parse(data, (size_t)(subject - data) + len + 1, &n);
	assert_int_equal(n, 1);
	assert_int_equal(strlen(list[0].subject), sizeof(list[0].subject) - 1);
	assert_string_equal(list[0].subject + sizeof(list[0].subject) - 5, "s...");
	free(list);
	free(data);
}

static void expect_failure(const char *data, size_t len, const char *message)
{
	struct tk_revision *list = NULL;
	size_t n = 0;
	struct tk_error err = {0};
	assert_int_equal(tk_git_log_parse(data, len, &list, &n, &err), TK_EDATA);
	assert_string_equal(err.message, message);
	assert_null(list);
}

static void malformed(void **state)
{
	static const char not_hash[] = "--upload-pack=x\0\0"
	                               "1\0"
	                               "2\0a\0b";
	static const char bad_parent[] = H1 "\0$(x)\0"
	                                    "1\0"
	                                    "2\0a\0b";
	static const char bad_time[] = H1 "\0\0soon\0"
	                                  "2\0a\0b";
	static const char huge_time[] = H1 "\0\0"
	                                   "99999999999999999999\0"
	                                   "2\0a\0b";
	static const char part[] = H1 "\0\0"
	                              "1\0"
	                              "2\0a\0b\0extra";
	expect_failure("abc", 3, "git log: truncated output");
	expect_failure(H1 "\0\0"
	                  "1",
	        43, "git log: truncated output");
	expect_failure(not_hash, sizeof(not_hash), "git log: \"--upload-pack=x\" is not a commit");
	expect_failure(bad_parent, sizeof(bad_parent), "git log: \"$(x)\" is not a commit");
	expect_failure(bad_time, sizeof(bad_time), "git log: \"soon\" is not a time");
	expect_failure(
	        huge_time, sizeof(huge_time), "git log: \"99999999999999999999\" is not a time");
	expect_failure(part, sizeof(part), "git log: the output has a part of a record at its end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(records),
	        cmocka_unit_test(long_subject), cmocka_unit_test(malformed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
