/* Durations, percentages, sizes, counts and switches: what is read, what is refused and with which
 * hint, and that what is written can be read again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void values(void **state)
{
	static const struct {
		enum tk_quantity kind;
		const char *text;
		double value;
	} rows[] = {
	        {TK_QUANTITY_COUNT, "0", 0},
	        {TK_QUANTITY_COUNT, "123456789012345", 123456789012345},
	        {TK_QUANTITY_DURATION, "200ns", 200e-9},
	        {TK_QUANTITY_DURATION, "50us", 50e-6},
	        {TK_QUANTITY_DURATION, "50µs", 50e-6},
	        {TK_QUANTITY_DURATION, "1.5h", 5400},
	        {TK_QUANTITY_DURATION, "15min", 900},
	        {TK_QUANTITY_DURATION, "2w", 1209600},
	        {TK_QUANTITY_DURATION, "7 d", 604800},
	        {TK_QUANTITY_DURATION, "45", 45},
	        {TK_QUANTITY_FRACTION, "2%", 0.02},
	        {TK_QUANTITY_FRACTION, "2 %", 0.02},
	        {TK_QUANTITY_FRACTION, "0.02", 0.02},
	        {TK_QUANTITY_FRACTION, "7%", 0.07},
	        {TK_QUANTITY_FRACTION, "0.5", 0.5},
	        {TK_QUANTITY_FRACTION, "100%", 1},
	        {TK_QUANTITY_FRACTION, "300%", 3},
	        {TK_QUANTITY_FRACTION, "0", 0},
	        {TK_QUANTITY_TIME, "500ns", 500e-9},
	        {TK_QUANTITY_TIME, "1s", 1},
	        {TK_QUANTITY_TIME, "0", 0},
	        {TK_QUANTITY_SIZE, "1.5KiB", 1536},
	        {TK_QUANTITY_SIZE, "4GiB", 4294967296},
	        {TK_QUANTITY_SIZE, "100GB", 1e11},
	        {TK_QUANTITY_SIZE, "17", 17},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tk_error err = {0};
		double v = -1;

		if (tk_units_parse(rows[i].kind, rows[i].text, 0, INFINITY, &v, &err))
			fail_msg("%s", err.message);
		if (v != rows[i].value)
			fail_msg("%s gives %.17g", rows[i].text, v);
	}
}

static void refusals(void **state)
{
	static const struct {
		enum tk_quantity kind;
		const char *text, *phrase;
		double min, max;
	} rows[] = {
	        {TK_QUANTITY_COUNT, "", "\"\" is not a whole number", 0, 9},
	        {TK_QUANTITY_COUNT, "1.5", "not a whole number", 0, 9},
	        {TK_QUANTITY_COUNT, "-1", "not a whole number", 0, 9},
	        {TK_QUANTITY_COUNT, "0x10", "not a whole number", 0, 99},
	        {TK_QUANTITY_COUNT, "10", "expected 1 to 9", 1, 9},
	        {TK_QUANTITY_COUNT, "0", "expected at least 1", 1, INFINITY},
	        {TK_QUANTITY_DURATION, "soon", "\"soon\" is not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "1h30m", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "1.h", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "h", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "7q", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "+5s", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "1e3s", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "nan", "not a duration", 0, 9},
	        {TK_QUANTITY_DURATION, "30d", "expected 1s to 7d", 1, 7 * 86400},
	        {TK_QUANTITY_DURATION, "500", "(a number without a unit is in seconds)", 0, 60},
	        {TK_QUANTITY_FRACTION, "two", "\"two\" is not a percentage", 0, 1},
	        {TK_QUANTITY_FRACTION, "2percent", "not a percentage", 0, 1},
	        {TK_QUANTITY_FRACTION, "200%", "expected 0% to 100%", 0, 1},
	        {TK_QUANTITY_FRACTION, "5", "expected 5% or a fraction below 1", 0, 10},
	        {TK_QUANTITY_FRACTION, "1", "expected 1% or a fraction below 1", 0, 1},
	        {TK_QUANTITY_TIME, "500", "\"500\" is not a time", 0, 1},
	        {TK_QUANTITY_TIME, "2s", "expected 0 to 1s", 0, 1},
	        {TK_QUANTITY_SIZE, "4 gb", "not a size", 0, INFINITY},
	        {TK_QUANTITY_SIZE, "1.5B", "not a size", 0, INFINITY},
	        {TK_QUANTITY_SIZE, "9999999999999TiB", "not a size", 0, INFINITY},
	        {TK_QUANTITY_SIZE, "1MiB", "expected 64MiB to 1024TiB", 0x1p26, 0x1p50},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tk_error err = {0};
		double v = 77;

		assert_int_equal(tk_units_parse(rows[i].kind, rows[i].text, rows[i].min,
		                         rows[i].max, &v, &err),
		        TK_EDATA);
		if (!strstr(err.message, rows[i].phrase))
			fail_msg("%s: no \"%s\" in: %s", rows[i].text, rows[i].phrase, err.message);
		assert_true(v == 77);
	}
}

static void whole_seconds(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} rows[] = {{"90", 90}, {"15m", 900}, {"500ms", 1}, {"1.5h", 5400}, {"0", 0}, {"0.1s", 1}};
	int64_t s = 77;

	assert_int_equal(tk_units_parse_seconds("d", &s, NULL), TK_EDATA);
	assert_int_equal(tk_units_parse_seconds("999999999999999w", &s, NULL), TK_EDATA);
	assert_int_equal(s, 77);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(tk_units_parse_seconds(rows[i].text, &s, NULL), TK_OK);
		assert_int_equal(s, rows[i].seconds);
	}
}

static void switches(void **state)
{
	struct tk_error err = {0};
	bool value = false;

	assert_int_equal(tk_units_parse_bool("on", &value, &err), TK_OK);
	assert_true(value);
	assert_int_equal(tk_units_parse_bool("no", &value, &err), TK_OK);
	assert_false(value);
	assert_int_equal(tk_units_parse_bool("maybe", &value, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "\"maybe\""));
}

static void written_values(void **state)
{
	static const struct {
		enum tk_quantity kind;
		double value;
		const char *text;
	} rows[] = {
	        {TK_QUANTITY_COUNT, 1000000, "1000000"},
	        {TK_QUANTITY_DURATION, 0, "0"},
	        {TK_QUANTITY_DURATION, 100e-9, "100ns"},
	        {TK_QUANTITY_DURATION, 0.1, "100ms"},
	        {TK_QUANTITY_DURATION, 5400, "1.5h"},
	        {TK_QUANTITY_DURATION, 604800, "7d"},
	        {TK_QUANTITY_FRACTION, 0, "0%"},
	        {TK_QUANTITY_FRACTION, 0.0001, "0.01%"},
	        {TK_QUANTITY_FRACTION, 0.9999, "99.99%"},
	        {TK_QUANTITY_TIME, 1, "1s"},
	        {TK_QUANTITY_SIZE, 100, "100B"},
	        {TK_QUANTITY_SIZE, 0x1p26, "64MiB"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char out[TK_UNITS_TEXT_SIZE];
		double v;

		assert_string_equal(
		        tk_units_format(rows[i].kind, rows[i].value, out), rows[i].text);
		assert_int_equal(tk_units_parse(rows[i].kind, out, 0, INFINITY, &v, NULL), TK_OK);
		assert_true(fabs(v - rows[i].value) <= 1e-12 * v);
	}
}

/* ---- generated values ------------------------------------------------------------------------ */

static double read_back(enum tk_quantity kind, const char *text)
{
	struct tk_error err = {0};
	double v = -1;

	if (tk_units_parse(kind, text, 0, INFINITY, &v, &err))
		fail_msg("%s", err.message);
	return v;
}

static void whole_numbers_are_read_as_they_were_written(void **state)
{
	static const uint64_t edges[] = {1, 1023, 1024, 1025, 1234567, 1000000000000000,
	        (UINT64_C(1) << 50) - 1, (UINT64_C(1) << 53) - 1, UINT64_C(1) << 53};
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 1);
	for (size_t i = 0; i < 20000; i++) {
		const double v = (double)(i < COUNT(edges) ? edges[i]
		                                           : tk_rng_below(&rng,
		                                                     UINT64_C(1) << (1 + i % 53)));
		char out[TK_UNITS_TEXT_SIZE];

		if (read_back(TK_QUANTITY_SIZE, tk_units_format(TK_QUANTITY_SIZE, v, out)) != v ||
		        read_back(TK_QUANTITY_COUNT, tk_units_format(TK_QUANTITY_COUNT, v, out)) !=
		                v)
			fail_msg("%.17g is written as %s", v, out);
	}
}

static void other_numbers_are_read_to_six_digits(void **state)
{
	static const enum tk_quantity kinds[] = {
	        TK_QUANTITY_DURATION, TK_QUANTITY_FRACTION, TK_QUANTITY_TIME};
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 2);
	for (size_t i = 0; i < 20000; i++) {
		const enum tk_quantity kind = kinds[i % COUNT(kinds)];
		/* 1 ns to 1e11 s; fractions from a millionth of a percent on */
		const double v = exp10(-9 + 20 * tk_rng_uniform(&rng));
		char out[TK_UNITS_TEXT_SIZE];
		const double back = read_back(kind, tk_units_format(kind, v, out));

		if (fabs(back - v) > 1e-5 * v)
			fail_msg("%.17g is written as %s", v, out);
		assert_null(strpbrk(out, "eE+-"));
	}
}

static void the_largest_unit_is_chosen(void **state)
{
	static const struct {
		enum tk_quantity kind;
		double value;
		const char *text;
	} rows[] = {
	        {TK_QUANTITY_SIZE, 1024, "1KiB"},
	        {TK_QUANTITY_SIZE, 1023, "1023B"},
	        {TK_QUANTITY_SIZE, 1025, "1025B"},
	        {TK_QUANTITY_SIZE, 1536, "1.5KiB"},
	        {TK_QUANTITY_SIZE, 1234567, "1234567B"},
	        {TK_QUANTITY_SIZE, 0x1p50, "1024TiB"},
	        {TK_QUANTITY_SIZE, 0x1.8p30, "1.5GiB"},
	        {TK_QUANTITY_COUNT, 9007199254740992, "9007199254740992"},
	        {TK_QUANTITY_DURATION, 59.5, "59.5s"},
	        {TK_QUANTITY_DURATION, 60, "1m"},
	        {TK_QUANTITY_DURATION, 3599, "59.9833m"},
	        {TK_QUANTITY_DURATION, 1e11, "1157407d"},
	        {TK_QUANTITY_DURATION, 0.5e-9, "0.5ns"},
	        {TK_QUANTITY_FRACTION, 1e-8, "0.000001%"},
	        {TK_QUANTITY_FRACTION, 3, "300%"},
	        {TK_QUANTITY_TIME, 999.4e-9, "999.4ns"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char out[TK_UNITS_TEXT_SIZE];

		assert_string_equal(
		        tk_units_format(rows[i].kind, rows[i].value, out), rows[i].text);
	}
}

/* 2^53 is the last number whose neighbours a double can tell apart. */
static void more_digits_than_a_double_holds_are_refused(void **state)
{
	static const char *const texts[] = {"9007199254740993", "99999999999999999",
	        "0.12345678901234567", "10000000000000000000"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		for (int kind = TK_QUANTITY_COUNT; kind <= TK_QUANTITY_SIZE; kind++) {
			double v = 77;

			assert_int_equal(tk_units_parse((enum tk_quantity)kind, texts[i], 0,
			                         INFINITY, &v, NULL),
			        TK_EDATA);
			assert_true(v == 77);
		}
	assert_true(read_back(TK_QUANTITY_SIZE, "9007199254740992") == 0x1p53);
	assert_true(read_back(TK_QUANTITY_SIZE, "9007199254740992B") == 0x1p53);
	assert_true(read_back(TK_QUANTITY_SIZE, "8192TiB") == 0x1p53);
	assert_int_equal(
	        tk_units_parse(TK_QUANTITY_SIZE, "8193TiB", 0, INFINITY, &(double){0}, NULL),
	        TK_EDATA);
}

/* Bytes at random are refused or read; a value is never outside of its range. */
static void any_text_ends(void **state)
{
	static const char letters[] = "0123456789.. %nusmhdwKMGTiB-+e\t\xc2\xb5";
	struct tk_rng rng;
	size_t read = 0;

	(void)state;
	tk_rng_seed(&rng, 3);
	for (size_t i = 0; i < 50000; i++) {
		const enum tk_quantity kind = (enum tk_quantity)(i % (TK_QUANTITY_SIZE + 1));
		struct tk_error err = {0};
		char text[12] = "";
		double v = -1;
		size_t len = 1 + tk_rng_below(&rng, 4);

		for (size_t k = 0; k < len; k++)
			text[k] = letters[tk_rng_below(&rng, sizeof letters - 1)];
		if (tk_units_parse(kind, text, 1e-9, 1000, &v, &err)) {
			assert_true(v == -1);
			assert_non_null(strstr(err.message, "expected"));
			continue;
		}
		assert_true(v >= 1e-9 && v <= 1000);
		read++;
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values),
	        cmocka_unit_test(refusals),
	        cmocka_unit_test(whole_seconds),
	        cmocka_unit_test(switches),
	        cmocka_unit_test(written_values),
	        cmocka_unit_test(whole_numbers_are_read_as_they_were_written),
	        cmocka_unit_test(other_numbers_are_read_to_six_digits),
	        cmocka_unit_test(the_largest_unit_is_chosen),
	        cmocka_unit_test(more_digits_than_a_double_holds_are_refused),
	        cmocka_unit_test(any_text_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
