/* Lines: limits, depth, duplicates, bytes that are no text. */
#include "base/base.h"
#include "worker/wire.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void refused(const char *line, size_t len, const char *message)
{
	json_t *out = NULL;
	struct tk_error err = {0};
	assert_int_equal(tk_wire_parse(line, len, &out, &err), TK_EDATA);
	assert_null(out);
	if (!strstr(err.message, message))
		fail_msg("\"%s\" does not say \"%s\"", err.message, message);
}

static void invalid_lines_are_refused(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {{"", "invalid JSON"}, {"{", "invalid JSON"},
		{"{\"id\":1", "invalid JSON"}, {"[1]", "expected a JSON object"},
		{"7", "invalid JSON"},
		{"{\"a\":1,\"a\":2}", "duplicate"}, {"{\"a\":NaN}", "invalid JSON"},
		{"{\"a\":Infinity}", "invalid JSON"}, {"{\"a\":1e999}", "invalid JSON"},
		{"{\"a\":99999999999999999999}", "invalid JSON"}, {"{} {}", "invalid JSON"},
		{"{\"a\":\"\xff\"}", "invalid JSON"}, {"{\"a\":\"\\ud800\"}", "invalid JSON"},
		{"{\"a\":\"\\u0000\"}", "invalid JSON"}};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refused(cases[i][0], strlen(cases[i][0]), cases[i][1]);
	refused("{\"a\":\0}", 7, "invalid JSON");
}

static void depth_is_limited(void **state)
{
	char line[100000];
	json_t *out = NULL;
	memset(line, '[', sizeof line);
	memcpy(line, "{\"a\":", 5);
	refused(line, sizeof line, "nested deeper than 16 levels");
	memset(line + 5, '"', 1);
	memset(line + sizeof line - 2, '"', 1);
	memset(line + sizeof line - 1, '}', 1);
	assert_int_equal(tk_wire_parse(line, sizeof line, &out, NULL),
	        0); /* brackets in a text are no depth */
	json_decref(out);
	assert_int_equal(tk_wire_parse("{\"a\":\"\\\"[[[[[[[[[[[[[[[[[[[[\"}", 30, &out, NULL), 0);
	json_decref(out);
}

static void length_is_limited(void **state)
{
	char *line = calloc(1, TK_WIRE_LINE_MAX + 1);
	refused(line, TK_WIRE_LINE_MAX + 1, "at most 16777216");
	free(line);
}

static void lines_come_in_pieces(void **state)
{
	int fds[2];
	struct tk_wire_reader r = {0};
	enum tk_wire_read what;
	json_t *out = NULL;
	struct tk_error err = {0};
	assert_int_equal(pipe(fds), 0);
	r.fd = fds[0];
	assert_int_equal(write(fds[1], "{\"a\":1", 6), 6);
	assert_int_equal(tk_wire_read_more(&r, &what, &err), 0);
	assert_int_equal(tk_wire_next_line(&r, &what, &out, &err), 0);
	assert_int_equal(what, TK_WIRE_READ_MORE);
	assert_int_equal(write(fds[1], "}\n{\"b\":2}\nx", 11), 11);
	assert_int_equal(tk_wire_read_more(&r, &what, &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tk_wire_next_line(&r, &what, &out, &err), 0);
		assert_int_equal(what, TK_WIRE_READ_LINE);
		assert_int_equal(json_integer_value(json_object_get(out, i ? "b" : "a")), i + 1);
		json_decref(out);
	}
	assert_int_equal(tk_wire_next_line(&r, &what, &out, &err), 0);
	assert_int_equal(what, TK_WIRE_READ_MORE);
	close(fds[1]);
	assert_int_equal(tk_wire_read_more(&r, &what, &err), 0);
	assert_int_equal(what, TK_WIRE_READ_END);
	close(fds[0]);
	tk_wire_reader_free(&r);
}

static void any_bytes_become_text(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {{"plain", "plain"},
		{"a\nb\tc\x1b[31m\x7f", "a b c [31m "}, {"\xff\xfe", "??"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"}, {"\xc0\xaf", "??"},
		{"\xed\xa0\x80", "???"}, {"\xf4\x90\x80\x80", "????"},
		{"\xe2\x82", "??"}, {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *v = tk_wire_json_string(cases[i][0], 100);
		assert_string_equal(json_string_value(v), cases[i][1]);
		json_decref(v);
	}
	json_t *v = tk_wire_json_string("12345\xc3\xbc", 6); /* cut in the middle of a character */
	assert_string_equal(json_string_value(v), "12345?");
	json_decref(v);
	v = tk_wire_json_string(NULL, 10);
	assert_string_equal(json_string_value(v), "");
	json_decref(v);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_lines_are_refused), cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(length_is_limited),
		cmocka_unit_test(lines_come_in_pieces), cmocka_unit_test(any_bytes_become_text),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
