/* Numbers as people see them, and text as scripts see it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "site_gen/model/run_facts.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/format.h"
#include "store/store.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static char text[TK_FORMAT_SIZE];

static void formats_values(void **state)
{
	assert_string_equal(tk_format_value(412, "ns", text), "412.0\u00a0ns");
	assert_string_equal(tk_format_value(5, "", text), "5.000");
	assert_string_equal(tk_format_value(41203, "ns", text), "41.20\u00a0µs");
	assert_string_equal(tk_format_value(999.96e3, "ns", text), "1000\u00a0µs");
	assert_string_equal(tk_format_value(5.2e12, "ns", text), "5200\u00a0s");
	assert_string_equal(tk_format_value(1234, "gflop_per_s", text), "1.234\u00a0TFLOP/s");
	assert_string_equal(tk_format_value(0.00312, "J", text), "3.120\u00a0mJ");
	assert_string_equal(tk_format_value(3, "widgets", text), "3.000\u00a0widgets");
	assert_string_equal(tk_format_value(NAN, "ns", text), "–");
}

static void formats_changes(void **state)
{
	assert_string_equal(tk_format_change(0.031, text), "+3.1\u00a0%");
	assert_string_equal(tk_format_change(-0.124, text), "−12.4\u00a0%");
	assert_string_equal(tk_format_change(0.0001, text), "±0.0\u00a0%");
	assert_string_equal(tk_format_change(2.5, text), "3.5×");
	assert_string_equal(tk_format_change(NAN, text), "–");
	char other[TK_FORMAT_SIZE];
	tk_format_change_pair(0.986, 1.1, text, other); /* never one so and one so */
	assert_string_equal(text, "2.0×");
	assert_string_equal(other, "2.1×");
	tk_format_change_pair(0.03, 0.04, text, other);
	assert_string_equal(text, "+3.0\u00a0%");
	assert_string_equal(tk_format_change_range(7.5, 2.221, 19.392, text), "3.2× to 20×");
	assert_string_equal(tk_format_change_range(0.1, 0.089, 0.12, text), "+8.9 to +12.0\u00a0%");
	assert_string_equal(
	        tk_format_change_range(0.005, -0.0031, 0.012, text), "−0.3 to +1.2\u00a0%");
	assert_string_equal(
	        tk_format_change_range(-0.02, -0.04, -0.0002, text), "−4.0 to ±0.0\u00a0%");
	struct tk_point one = {.value = 100, .lo = 100, .hi = 100, .n = 1},
	                two = {.value = 100, .lo = 99, .hi = 101, .n = 2};
	assert_string_equal(tk_format_point_half_width(&one, text), "");
	assert_string_equal(tk_format_point_half_width(&two, text), "±1.0\u00a0%");
	assert_string_equal(tk_format_half_width(100, 99, 101, text), "±1.0\u00a0%");
	assert_string_equal(tk_format_half_width(NAN, 99, 101, text), "");
	assert_string_equal(tk_format_count(-1234567, text), "-1,234,567");
	assert_string_equal(tk_format_count(999, text), "999");
}

static void writes_integers(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_buf_add_int(&b, 0);
	tk_buf_add_char(&b, ' ');
	tk_buf_add_int(&b, INT64_MIN);
	tk_buf_add_char(&b, ' ');
	tk_buf_add_int(&b, 90);
	assert_string_equal(tk_buf_cstr(&b), "0 -9223372036854775808 90");
	tk_buf_clear(&b);
	tk_buf_add_ints(&b, (const int64_t[]){10, -1, INT64_MAX, 9, -99, 100}, 6);
	assert_string_equal(tk_buf_cstr(&b), "10,-1,9223372036854775807,9,-99,100");
	tk_buf_add_ints(&b, NULL, 0);
	assert_int_equal(b.len, 35);
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

static void clips_at_characters(void **state)
{
	assert_int_equal(tk_utf8_clip_len("abc", 10), 3);
	assert_int_equal(tk_utf8_clip_len("ab\u00e9d", 3), 2);
	assert_int_equal(tk_utf8_clip_len("ab\u00e9d", 4), 4);
}

static void finds_what_a_run_took(void **state)
{
	struct tk_run_facts f = tk_run_facts_parse(
	        "{\"a\":{\"energy_j\":1,\"workspace_bytes\":2},\"energy_j\":12.5,\"launch_ns\" : "
	        "2200, "
	        "\"plan\":{\"kernel\":\"x\\\"}{\",\"workspace_bytes\":1048576,\"deep\":{"
	        "\"workspace_bytes\":3}},"
	        "\"telemetry\":{\"after\":{\"energy_j\":7}},\"device_bytes\":null}");
	assert_true(f.energy_j == 12.5);
	assert_true(f.launch_ns == 2200);
	assert_true(f.workspace_bytes == 1048576);
	assert_true(isnan(f.device_bytes));
	static const char *const none[] = {"", "{}", "{\"energy_j\":", "{\"energy_j", "]]]",
	        "{\"energy_j\":\"12\"}", "[\"energy_j\",12]", "{\"x\":\"\\"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_true(isnan(tk_run_facts_parse(none[i]).energy_j));
}

/* The quick ways say what printf says, also at the borders. */
static void is_as_printf(void **state)
{
	static const double borders[] = {0, 1, -1, 0.1, 0.5, 0.125, 9.5, 99.5, 999.5, 9.9999995,
	        99999.95, 999999, 999999.5, 1e6, 1e15, 1e300, 999.99999999999989, 0.099999999,
	        1234567, 12345675, 123456.5, 1000005, 9999995, 99999949.9, -2.5e7};
	char quick[TK_FORMAT_SIZE], exact[64];
	uint64_t seed = 1;
	for (size_t i = 0; i < 200000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double part = (double)(seed >> 11) / 9007199254740992.0,
		       size = pow(10, (double)(seed % 19) - 3);
		double v = i < sizeof borders / sizeof *borders ? borders[i]
		           : i % 3                              ? part * size
		                                                : rint(part * size * 8) / 8;
		for (int digits = 4; digits <= 6; digits++) {
			snprintf(exact, sizeof exact, "%.*g", digits, v);
			assert_string_equal(tk_format_digits(v, digits, quick), exact);
		}
		if (fabs(v) >= 1e15)
			continue;
		int digits = fabs(v) >= 999.95   ? 0
		             : fabs(v) >= 99.995 ? 1
		             : fabs(v) >= 9.9995 ? 2
		                                 : 3;
		snprintf(exact, sizeof exact, "%.*f", digits, v);
		assert_string_equal(
		        tk_format_scaled(v, (struct tk_format_scale){1, ""}, quick), exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(is_as_printf),
	        cmocka_unit_test(formats_values), cmocka_unit_test(formats_changes),
	        cmocka_unit_test(writes_integers), cmocka_unit_test(escapes_for_scripts),
	        cmocka_unit_test(clips_at_characters), cmocka_unit_test(finds_what_a_run_took)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
