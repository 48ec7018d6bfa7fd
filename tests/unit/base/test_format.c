/* Numbers with units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
	tk_format_change_pair(0.986, 1.1, text, other); /* both in one notation */
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
	assert_string_equal(tk_format_half_width(100, 99, 101, text), "±1.0\u00a0%");
	assert_string_equal(tk_format_half_width(NAN, 99, 101, text), "");
	assert_string_equal(tk_format_count(-1234567, text), "-1,234,567");
	assert_string_equal(tk_format_count(999, text), "999");
}

/* What is printed with one decimal digit is never "-0.0". */
static void percents_that_round_to_zero_have_no_sign(void **state)
{
	static const struct {
		double ratio;
		const char *text;
	} cases[] = {{0.012, "+1.2"}, {-0.012, "-1.2"}, {0, "+0.0"}, {-0.0, "+0.0"},
	        {-0.00049, "+0.0"}, {0.00049, "+0.0"}, {-0.00051, "-0.1"}, {0.00051, "+0.1"},
	        {-1, "-100.0"}, {2.5, "+250.0"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text, "%+.1f", tk_percent_tenths(cases[i].ratio));
		assert_string_equal(text, cases[i].text);
	}
	assert_true(isnan(tk_percent_tenths(NAN)));
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

/* The fast formatters agree with printf, also at the limits. */
static void equals_printf(void **state)
{
	static const double limits[] = {0, 1, -1, 0.1, 0.5, 0.125, 9.5, 99.5, 999.5, 9.9999995,
	        99999.95, 999999, 999999.5, 1e6, 1e15, 1e300, 999.99999999999989, 0.099999999, 1e-4,
	        1e-3, 1e-2, 0.00099999999, 0.0099999999, 0.000099999999, -0.0123, 0.001005, 1234567,
	        12345675, 123456.5, 1000005, 9999995, 99999949.9, -2.5e7};
	char quick[TK_FORMAT_SIZE], exact[64];
	uint64_t seed = 1;
	for (size_t i = 0; i < 200000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double part = (double)(seed >> 11) / 9007199254740992.0,
		       size = pow(10, (double)(seed % 21) - 5);
		double v = i < sizeof limits / sizeof *limits ? limits[i]
		           : i % 3                            ? part * size
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

/* The arguments of one case, up to `count`. */
static void read_numbers(char *const *fields, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = strtod(fields[i], NULL);
}

static const char *format_case(char *const *fields)
{
	double v[3];
	if (!strcmp(fields[0], "value")) {
		read_numbers(fields + 1, 1, v);
		return tk_format_value(v[0], fields[2], text);
	}
	if (!strcmp(fields[0], "half_width")) {
		read_numbers(fields + 1, 3, v);
		return tk_format_half_width(v[0], v[1], v[2], text);
	}
	read_numbers(fields + 1, 1, v);
	if (!strcmp(fields[0], "change"))
		return tk_format_change(v[0], text);
	assert_string_equal(fields[0], "percent");
	return tk_format_percent(v[0], text);
}

/* "_" as a no-break space. */
static void expand_spaces(const char *field, struct tk_buf *out)
{
	tk_buf_clear(out);
	for (; *field; field++)
		tk_buf_add_str(out, *field == '_' ? "\u00a0" : (char[]){*field, 0});
}

/* tests/site/format.mjs holds the scripts of the site against the same table. */
static void passes_the_shared_cases(void **state)
{
	FILE *file = fopen(TK_TEST_DATA "/format_cases.tsv", "re");
	assert_non_null(file);
	char line[256];
	struct tk_buf expected = TK_BUF_INIT;
	size_t cases = 0;
	while (fgets(line, sizeof line, file)) {
		char *fields[6] = {0}, *rest = line;
		size_t count = 0;
		line[strcspn(line, "\n")] = 0;
		if (*line == '#')
			continue;
		while (rest && count < 6)
			fields[count++] = strsep(&rest, "\t");
		expand_spaces(fields[count - 1], &expected);
		assert_string_equal(format_case(fields), tk_buf_cstr(&expected));
		cases++;
	}
	assert_true(cases > 30);
	tk_buf_free(&expected);
	fclose(file);
}

static void durations_are_written(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{4.2, "4.2 s"}, {0.012, "12 ms"}, {3.5e-5, "35 us"}, {0.9996, "1.0 s"},
	        {9.97, "10 s"}, {59.4, "59 s"}, {59.7, "1 min"}, {200, "3 min 20 s"},
	        {7500, "2 h 5 min"}, {7200, "2 h"}, {432000, "5 d"}, {435600, "5 d 1 h"},
	        {-3, "0 s"}, {NAN, "?"}, {0, "0 s"}};
	char out[32];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(
		        tk_duration_format(cases[i].seconds, out, sizeof out), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(passes_the_shared_cases),
	        cmocka_unit_test(equals_printf), cmocka_unit_test(formats_values),
	        cmocka_unit_test(formats_changes), cmocka_unit_test(durations_are_written),
	        cmocka_unit_test(percents_that_round_to_zero_have_no_sign),
	        cmocka_unit_test(writes_integers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
