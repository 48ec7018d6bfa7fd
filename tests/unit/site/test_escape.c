/* Text from outside in HTML, scripts and addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "site_gen/render/escape.h"
#include <math.h>
#include <string.h>

static void escapes_for_html(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_escape_html(&b, "<b a=\"1\" c='2'>&\n\x01\xff", 19);
	assert_string_equal(
	        tk_buf_cstr(&b), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\n\uFFFD\uFFFD");
	tk_buf_clear(&b);
	tk_escape_html(&b, "a\u202eb", strlen("a\u202eb")); /* would reverse the text behind it */
	assert_string_equal(tk_buf_cstr(&b), "a\uFFFDb");
	tk_buf_free(&b);
}

static void escapes_for_scripts(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_escape_json(&b, "</script>\"\\\n\x01\xe2\x80\xa8&\xff", 18);
	assert_string_equal(
	        tk_buf_cstr(&b), "\"\\u003c/script\\u003e\\\"\\\\\\n\uFFFD\\u2028\\u0026\uFFFD\"");
	tk_buf_free(&b);
}

static void escapes_for_addresses(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_escape_url(&b, "a-b_c.d~e f&g=h#\xc3\xa9");
	assert_string_equal(tk_buf_cstr(&b), "a-b_c.d~e%20f%26g%3Dh%23%C3%A9");
	tk_buf_free(&b);
}

static void clips_between_characters(void **state)
{
	assert_int_equal(tk_utf8_clip_len("abc", 10), 3);
	assert_int_equal(tk_utf8_clip_len("ab\u00e9d", 3), 2);
	assert_int_equal(tk_utf8_clip_len("ab\u00e9d", 4), 4);
}

static void clips_between_clauses(void **state)
{
	assert_int_equal(tk_utf8_clip_clauses_len("one; two", 8), 8);
	assert_int_equal(tk_utf8_clip_clauses_len("one; two; three", 9), 8);
	assert_int_equal(tk_utf8_clip_clauses_len("one; two; three", 7), 3);
	assert_int_equal(tk_utf8_clip_clauses_len("a sentence; two", 4), 4);
}

static void escapes_for_c(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_c_add_string(&b, "a\"\\\n1\xc3\xa9?"
	                    "?/");
	assert_string_equal(tk_buf_cstr(&b), "\"a\\\"\\\\\\0121\\303\\251\\?\\?/\"");
	tk_buf_clear(&b);
	tk_c_add_string(&b, NULL);
	assert_string_equal(tk_buf_cstr(&b), "\"\"");
	tk_buf_clear(&b);
	tk_c_add_comment(&b, "H200 */ x\n\\\xff");
	assert_string_equal(tk_buf_cstr(&b), "H200 _/ x___");
	tk_buf_clear(&b);
	tk_c_add_name(&b, "lab.cpu-0/\xc3x");
	assert_string_equal(tk_buf_cstr(&b), "lab_cpu_0__x");
	tk_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(escapes_for_html),
	        cmocka_unit_test(escapes_for_scripts), cmocka_unit_test(escapes_for_c),
	        cmocka_unit_test(escapes_for_addresses), cmocka_unit_test(clips_between_characters),
	        cmocka_unit_test(clips_between_clauses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
