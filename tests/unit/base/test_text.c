/* Errors, buffers, suggestions, text of others. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

static void error_message_and_context(void **state)
{
	struct tk_error err = {0};

	assert_int_equal(tk_fail(&err, TK_EDATA, "line %d is bad\n", 3), TK_EDATA);
	assert_string_equal(err.message, "line 3 is bad");
	assert_int_equal(tk_error_add_context(&err, "%s", "file.yml"), TK_EDATA);
	assert_string_equal(err.message, "file.yml: line 3 is bad");
	assert_int_equal(tk_fail(&err, TK_EIO, "again: %s", err.message), TK_EIO);
	assert_string_equal(err.message, "again: file.yml: line 3 is bad");
	assert_int_equal(tk_fail(NULL, TK_EIO, "nobody listens"), TK_EIO);
	assert_int_equal(tk_error_add_context(NULL, "x"), TK_EINTERNAL);
}

static void error_from_errno(void **state)
{
	static const struct {
		int number, status;
	} cases[] = {{ENOSPC, TK_ENOSPC}, {EDQUOT, TK_ENOSPC}, {ENOENT, TK_ENOTFOUND},
	        {ENOMEM, TK_ENOMEM}, {EACCES, TK_EIO}};
	struct tk_error err;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		errno = cases[i].number;
		assert_int_equal(tk_fail_errno(&err, "writing %s", "x"), cases[i].status);
	}
	errno = ENOENT;
	tk_fail_errno(&err, "reading %s", "a.txt");
	assert_string_equal(err.message, "reading a.txt: No such file or directory");
}

static void error_long_message_is_cut(void **state)
{
	struct tk_error err;
	char text[5000];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	tk_fail(&err, TK_EDATA, "%s", text);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	tk_error_add_context(&err, "in front");
	assert_memory_equal(err.message, "in front: xxx", 13);
}

static void every_status_has_a_word(void **state)
{
	for (int s = 0; s >= TK_ECANCELED; s--)
		assert_string_not_equal(tk_status_name(s), "unknown");
	assert_string_equal(tk_status_name(TK_ECANCELED), "canceled");
	assert_string_equal(tk_status_name(TK_ECANCELED - 1), "unknown");
	assert_string_equal(tk_status_name(7), "unknown");
}

static void buffer_grows(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	char *s;

	assert_string_equal(tk_buf_cstr(&b), "");
	for (int i = 0; i < 10000; i++)
		tk_buf_add_printf(&b, "%d,", i % 10);
	assert_int_equal(b.len, 20000);
	assert_int_equal(tk_buf_status(&b, NULL), TK_OK);
	tk_buf_clear(&b);
	tk_buf_add_printf(&b, "%0500d|", 7);
	assert_int_equal(b.len, 501);
	tk_buf_add_char(&b, '!');
	s = tk_buf_detach(&b, NULL);
	assert_string_equal(s + 498, "07|!");
	assert_null(b.data);
	free(s);
	s = tk_buf_detach(&b, NULL);
	assert_string_equal(s, "");
	free(s);
}

static void buffer_remembers_its_limit(void **state)
{
	struct tk_buf b = {.max = 10};
	struct tk_error err;

	tk_buf_add_str(&b, "0123456789");
	assert_int_equal(tk_buf_status(&b, &err), TK_OK);
	tk_buf_add_char(&b, 'x');
	tk_buf_add_str(&b, "");
	assert_int_equal(tk_buf_status(&b, &err), TK_EDATA);
	assert_string_equal(err.message, "more than 10 bytes");
	assert_string_equal(tk_buf_cstr(&b), "");
	assert_null(tk_buf_detach(&b, &err));
	tk_buf_add_str(&b, "new");
	assert_string_equal(tk_buf_cstr(&b), "new");
	tk_buf_free(&b);
	tk_buf_free(NULL);
}

static void check_utf8(const char *in, size_t len, const char *expected)
{
	struct tk_buf b = TK_BUF_INIT;

	tk_buf_add_utf8(&b, in, len);
	assert_string_equal(tk_buf_cstr(&b), expected);
	tk_buf_free(&b);
}

static void utf8_is_made_valid(void **state)
{
	assert_true(tk_utf8_is_valid("") && tk_utf8_is_valid("gr\xc3\xbc\xc3\x9f"));
	assert_false(tk_utf8_is_valid("gr\xc3") || tk_utf8_is_valid("a\xff") ||
	             tk_utf8_is_valid("\xc0\xaf"));
	check_utf8("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f");
	check_utf8("\xf0\x9f\x9a\x80", 4, "\xf0\x9f\x9a\x80");
	check_utf8("a\xff"
	           "b",
	        3,
	        "a\xef\xbf\xbd"
	        "b");
	check_utf8("\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong */
	check_utf8("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
	check_utf8("x\xe2\x82", 3, "x\xef\xbf\xbd\xef\xbf\xbd");               /* cut */
	check_utf8("\xf4\x90\x80\x80", 4,
	        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* above U+10FFFF */
	check_utf8("", 0, "");
}

static void nearest_name(void **state)
{
	static const char *const names[] = {"nightly", "diff", "doctor", "site", NULL};
	char longer[200];

	assert_string_equal(tk_suggest_name("nigthly", names), "nightly");
	assert_string_equal(tk_suggest_name("dif", names), "diff");
	assert_string_equal(tk_suggest_name("docktor", names), "doctor");
	char hint[TK_SUGGEST_HINT_SIZE];
	static const char *const two[] = {"list", "rename", NULL};

	assert_string_equal(
	        tk_suggest_hint("renme", two, NULL, hint), "; did you mean \"rename\"?");
	assert_string_equal(
	        tk_suggest_hint("zzzz", two, NULL, hint), "; expected one of list, rename");
	assert_string_equal(tk_suggest_hint("zzzz", two, "; see x", hint), "; see x");
	assert_string_equal(tk_suggest_list(names, hint), "nightly, diff, doctor or site");
	assert_string_equal(tk_suggest_list(two, hint), "list or rename");
	assert_string_equal(tk_suggest_list(two + 1, hint), "rename");
	assert_string_equal(tk_suggest_list(two + 2, hint), "");
	assert_string_equal(tk_suggest_name("sites", names), "site");
	assert_null(tk_suggest_name("completely", names));
	assert_null(tk_suggest_name("xy", names));
	assert_null(tk_suggest_name("", names));
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_null(tk_suggest_name(longer, names));
}

static void expect_clean(const char *in, size_t size, const char *wanted)
{
	char out[64];
	assert_true(size <= sizeof(out));
	tk_text_copy_line(out, size, in);
	assert_string_equal(out, wanted);
}

static void clean_text(void **state)
{
	expect_clean("plain", 64, "plain");
	expect_clean("", 64, "");
	expect_clean("a\tb\x1b[31m\nc\x7f", 64, "a b [31m c ");
	expect_clean("caf\xc3\xa9", 64, "caf\xc3\xa9");
	expect_clean("bad \xff\xc3 end", 64, "bad \xef\xbf\xbd\xef\xbf\xbd end");
	expect_clean("overlong \xc0\xaf", 64, "overlong \xef\xbf\xbd\xef\xbf\xbd");
	expect_clean(
	        "surrogate \xed\xa0\x80", 64, "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	expect_clean("rtl \xe2\x80\xae"
	             "evil",
	        64, "rtl  evil");
	expect_clean("c1 \xc2\x85 end", 64, "c1   end");
	expect_clean("0123456789", 11, "0123456789");
	expect_clean("0123456789", 10, "012345...");
	expect_clean("0123\xc3\xa9\xc3\xa9\xc3\xa9", 10, "0123\xc3\xa9...");
	expect_clean("<script>alert('\"&')</script>", 64,
	        "<script>alert('\"&')</script>"); /* escaping is the page's work */
}

static void decoding_says_what_is_utf8(void **state)
{
	uint32_t code = 0;

	assert_int_equal(tk_utf8_decode("\xf0\x9f\x9a\x80", 4, &code), 4);
	assert_int_equal(code, 0x1f680);
	assert_int_equal(tk_utf8_decode("\xf0\x9f\x9a\x80", 3, &code), 0);
	assert_int_equal(tk_utf8_decode("\xe2\x82", SIZE_MAX, NULL), 0);
	assert_int_equal(tk_utf8_decode("\xc1\xbf", 2, NULL), 0);
	assert_int_equal(tk_utf8_decode("\xf8\x88\x80\x80\x80", 5, NULL), 0);
	assert_int_equal(tk_utf8_decode("", 1, &code), 1);
}

/* Escapes of both kinds, marks of direction, and bytes that an 8-bit terminal would obey. */
static void characters_are_counted(void **state)
{
	(void)state;
	assert_int_equal(tk_utf8_count(""), 0);
	assert_int_equal(tk_utf8_count("12 ns"), 5);
	assert_int_equal(tk_utf8_count("12 \u00b5s"), 5);
	assert_int_equal(tk_utf8_count("\u2212\u20ac\U0001d11e"), 3);
}

static void nothing_steers_a_terminal(void **state)
{
	static const struct {
		const char *in, *keep, *out;
	} cases[] = {
	        {"plain \xc3\xa9\xe2\x96\x81", "", "plain \xc3\xa9\xe2\x96\x81"},
	        {"a\x1b[31mb\nc\td", "", "a?[31mb?c?d"},
	        {"a\nb\tc\r", "\n\t", "a\nb\tc?"},
	        {"csi \xc2\x9b"
	         "31m",
	                "", "csi ??31m"},
	        {"raw \x9b"
	         "31m \xff",
	                "", "raw ?31m ?"},
	        {"rtl \xe2\x80\xae"
	         "x",
	                "", "rtl ???x"},
	        {"del \x7f", "", "del ?"},
	        {"cut \xe2\x80", "", "cut ??"},
	        {"", "", ""},
	};
	char text[64], *printed = NULL;
	size_t size = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FILE *f = open_memstream(&printed, &size);

		strcpy(text, cases[i].in);
		tk_text_sanitize(text, cases[i].keep, '?');
		assert_string_equal(text, cases[i].out);
		tk_text_write_sanitized(f, cases[i].in, cases[i].keep);
		fclose(f);
		/* on the way out one sign stands for a whole character */
		assert_true(strlen(printed) <= strlen(cases[i].out));
		assert_null(strpbrk(printed, "\x1b\x7f\x9b"));
		free(printed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(error_message_and_context),
	        cmocka_unit_test(error_from_errno),
	        cmocka_unit_test(error_long_message_is_cut),
	        cmocka_unit_test(every_status_has_a_word),
	        cmocka_unit_test(buffer_grows),
	        cmocka_unit_test(buffer_remembers_its_limit),
	        cmocka_unit_test(utf8_is_made_valid),
	        cmocka_unit_test(clean_text),
	        cmocka_unit_test(decoding_says_what_is_utf8),
	        cmocka_unit_test(characters_are_counted),
	        cmocka_unit_test(nothing_steers_a_terminal),
	        cmocka_unit_test(nearest_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
