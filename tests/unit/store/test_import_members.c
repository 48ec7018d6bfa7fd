/* What the formats have in common: members of objects, times, repetitions, attributes, lines. */
#include "base/rng.h"
#include "import_groups.h"
#include "import_rig.h"
#include "store/import/import.h"

#include "../quoted_json.h"
#include <math.h>
#include <stdlib.h>

static void values_for_people(void **state)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
	        {"'fast'", "\"fast\""},
	        {"'two\\nlines'", "\"two lines\""},
	        {"''", "\"\""},
	        {"12", "12"},
	        {"-9223372036854775808", "-9223372036854775808"},
	        {"0.1", "0.1"},
	        {"1e300", "1e+300"},
	        {"0.12345678901234567", "0.123456789012"},
	        {"true", "true"},
	        {"false", "false"},
	        {"null", "null"},
	        {"[]", "an empty list"},
	        {"[0]", "a list"},
	        {"{}", "an empty object"},
	        {"{'a': 1}", "an object"},
	};
	char out[TK_IMPORT_DESCRIPTION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *value = read_quoted(cases[i].json);

		assert_string_equal(tk_import_describe_value(value, out), cases[i].text);
		json_decref(value);
	}
	assert_string_equal(tk_import_describe_value(NULL, out), "nothing");
	/* A long text is cut, and stays in quotes. */
	json_t *text = json_string("0123456789012345678901234567890123456789012345678901234567890");

	tk_import_describe_value(text, out);
	assert_int_equal(strlen(out), TK_IMPORT_DESCRIPTION_SIZE - 1);
	assert_true(out[0] == '"' && out[strlen(out) - 1] == '"');
	json_decref(text);
}

static void times_as_programs_write_them(void **state)
{
	static const struct {
		const char *text;
		int64_t time_s;
	} cases[] = {
	        {"2020-09-13T12:26:40Z", 1600000000},
	        {"2020-09-13 12:26:40", 1600000000},
	        {"2020-09-13T12:26:40", 1600000000},
	        {"2020-09-13T12:26:40.123456", 1600000000},
	        {"2020-09-13T12:26:40,999Z", 1600000000},
	        {"2020-09-13T14:26:40+02:00", 1600000000},
	        {"2020-09-13T14:26:40+0200", 1600000000},
	        {"2020-09-13 14:26:40.5+0200", 1600000000},
	        {"2020-09-13T07:56:40-0430", 1600000000},
	        {"2020-09-13T07:56:40.000-04:30", 1600000000},
	        {"2020-09-13", 1599955200},
	};
	static const char *const none[] = {"", "soon", "2020-13-01T00:00:00Z",
	        "2020-09-13T25:00:00Z", "12:26:40", "2020-09-13T12:26:40Zebra",
	        "2020-09-13T12:26:40Z.................................................1"};
	int64_t got;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (!tk_import_parse_time(cases[i].text, &got) || got != cases[i].time_s)
			fail_msg("%s", cases[i].text);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (i + 1 < sizeof none / sizeof *none && tk_import_parse_time(none[i], &got))
			fail_msg("\"%s\" is a time", none[i]);
}

static void numbers_and_texts_of_an_object(void **state)
{
	static const struct tk_import_file file = {.path = "f.json"};
	static const struct tk_import_path path = {.line = 3, .text = "list[2]"};
	json_t *object = read_quoted("{'n': 1.5, 'i': 7, 't': 'x', 'null': null, 'l': []}");
	double number = 0;
	const char *text = "kept";

	(void)state;
	MUST(tk_import_get_number(&file, &path, object, "n", &number, &err));
	assert_float_equal(number, 1.5, 0);
	MUST(tk_import_get_number(&file, &path, object, "i", &number, &err));
	assert_float_equal(number, 7, 0);
	MUST(tk_import_get_number(&file, &path, object, "null", &number, &err));
	assert_true(isnan(number));
	number = 0;
	MUST(tk_import_get_number(&file, &path, object, "missing", &number, &err));
	assert_true(isnan(number));
	MUST_FAIL(TK_EDATA, "f.json:3: list[2].t: expected a number, found \"x\"",
	        tk_import_get_number(&file, &path, object, "t", &number, &err));
	MUST(tk_import_get_text(&file, &path, object, "t", &text, &err));
	assert_string_equal(text, "x");
	MUST_FAIL(TK_EDATA, "f.json:3: list[2].l: expected a string, found an empty list",
	        tk_import_get_text(&file, &path, object, "l", &text, &err));
	MUST(tk_import_get_text(&file, &path, object, "null", &text, &err));
	assert_null(text);
	text = "kept";
	MUST(tk_import_get_text(&file, &path, object, "missing", &text, &err));
	assert_null(text);
	json_decref(object);
}

static void attributes_of_results(void **state)
{
	static const char *const known[] = {"name", "value", NULL};
	json_t *to = NULL, *attributes = json_object(), *from;

	(void)state;
	from = read_quoted("{'name': 'a', 'value': 1, 'none': null}");
	tk_import_copy_unknown(&to, from, known);
	assert_null(to); /* nothing to keep, no object */
	json_decref(from);
	from = read_quoted("{'name': 'a', 'label': 'l', 'sizes': [1], 'none': null}");
	tk_import_copy_unknown(&to, from, known);
	json_decref(from);
	from = read_quoted("{'label': 'newer', 'more': 2}");
	tk_import_copy_unknown(&to, from, known);
	json_decref(from);
	tk_import_set_attribute(attributes, "results", "a", NULL);
	assert_int_equal(json_object_size(attributes), 0);
	tk_import_set_attribute(attributes, "results", "a", to);
	tk_import_set_attribute(attributes, "results", "b", json_integer(1));
	tk_import_set_attribute(attributes, "results", "b", json_integer(2));
	tk_import_set_attribute(attributes, "failed", "a", json_true());
	char *text = json_dumps(attributes, JSON_COMPACT | JSON_SORT_KEYS);

	assert_string_equal(
	        text, quoted("{'failed':{'a':true},'results':{'a':{'label':'newer','more':2,"
	                     "'sizes':[1]},'b':2}}"));
	free(text);
	json_decref(attributes);
}

static struct tk_import_point summary_of(const double *values, size_t count)
{
	struct tk_import_point p = TK_IMPORT_POINT("x", "ns", 99);
	double copy[64];

	assert_true(count <= 64);
	memcpy(copy, values, count * sizeof *copy);
	tk_import_summarize(&p, copy, count);
	return p;
}

static void repetitions(void **state)
{
	const double values[] = {5, 1, 4, 2, 3};
	struct tk_import_point p = summary_of(values, 0);

	(void)state;
	assert_float_equal(p.value, 99, 0);
	assert_int_equal(p.n, 0);
	p = summary_of(values, 1);
	assert_float_equal(p.value, 5, 0);
	assert_int_equal(p.n, 1);
	assert_true(isnan(p.min) && isnan(p.q25) && isnan(p.q75) && isnan(p.p95));
	p = summary_of(values, 2);
	assert_float_equal(p.value, 3, 0);
	assert_float_equal(p.min, 1, 0);
	assert_float_equal(p.q25, 2, 0);
	assert_float_equal(p.q75, 4, 0);
	assert_float_equal(p.p95, 4.8, 1e-12);
	assert_int_equal(p.n, 2);
	p = summary_of(values, 5);
	assert_float_equal(p.value, 3, 0);
	assert_float_equal(p.q25, 2, 0);
	assert_float_equal(p.q75, 4, 0);
	assert_float_equal(p.p95, 4.8, 1e-12);
}

/* For any values: in order, within them, and the same in any order of the repetitions. */
static void repetitions_of_any_values(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 7);
	for (int round = 0; round < 200; round++) {
		double values[64], turned[64], least = INFINITY, greatest = -INFINITY;
		size_t count = 2 + (size_t)tk_rng_below(&rng, 62);

		for (size_t i = 0; i < count; i++) {
			values[i] = (double)tk_rng_below(&rng, 1000);
			least = fmin(least, values[i]);
			greatest = fmax(greatest, values[i]);
		}
		for (size_t i = 0; i < count; i++)
			turned[i] = values[count - 1 - i];
		const struct tk_import_point p = summary_of(values, count),
		                             q = summary_of(turned, count);

		assert_float_equal(p.min, least, 0);
		assert_true(p.min <= p.q25 && p.q25 <= p.value && p.value <= p.q75);
		assert_true(p.q75 <= p.p95 && p.p95 <= greatest);
		assert_int_equal(p.n, count);
		assert_memory_equal(&p.value, &q.value, sizeof p.value);
		assert_float_equal(p.p95, q.p95, 0);
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The lines of a text with their numbers, "1:a|3:b|", or the message. */
static char *lines_of(const char *text, size_t len)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	const struct tk_import_file file = {.path = "f", .in = in};
	struct tk_import_lines lines = {.file = &file};
	struct tk_buf out = TK_BUF_INIT;
	struct tk_error err = {0};
	bool more = false;
	int status;

	assert_non_null(in);
	tk_buf_add_str(&out, "");
	while (!(status = tk_import_read_line(&lines, &more, &err)) && more)
		if (!lines.skip)
			tk_buf_add_printf(&out, "%zu:%s|", lines.number, lines.line.data);
	if (status)
		tk_buf_add_printf(&out, "%s", err.message);
	tk_buf_free(&lines.line);
	fclose(in);
	return tk_buf_detach(&out, NULL);
}

static void lines_and_their_ends(void **state)
{
	static const struct {
		const char *text, *lines;
		size_t len;
	} cases[] = {
	        {"a", "1:a|", 1},
	        {"a\n", "1:a|", 2},
	        {"a\r\nb\r\n", "1:a|2:b|", 6},
	        {"\n\na\n\r\n b", "3:a|5: b|", 8},
	        {"a\rb\n", "1:a\rb|", 4},
	        {"a\nb\0c\n", "1:a|f:2: has a zero byte", 6},
	        {"a\n\0", "1:a|f:2: has a zero byte", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		EXPECT_TEXT(lines_of(cases[i].text, cases[i].len), cases[i].lines);
}

/* A line is read in pieces of 64 KiB: wherever they end, nothing is lost. */
static void lines_longer_than_a_block(void **state)
{
	(void)state;
	for (size_t len = 65533; len <= 65538; len++) {
		char *text = malloc(len + 3), *got;

		assert_non_null(text);
		memset(text, 'x', len);
		memcpy(text + len, "\ny", 3);
		got = lines_of(text, len + 2);
		assert_int_equal(strlen(got), len + strlen("1:||2:y"));
		assert_string_equal(got + 2 + len, "|2:y|");
		free(got);
		free(text);
	}
}

int import_member_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_for_people),
	        cmocka_unit_test(times_as_programs_write_them),
	        cmocka_unit_test(numbers_and_texts_of_an_object),
	        cmocka_unit_test(attributes_of_results),
	        cmocka_unit_test(repetitions),
	        cmocka_unit_test(repetitions_of_any_values),
	        cmocka_unit_test(lines_and_their_ends),
	        cmocka_unit_test(lines_longer_than_a_block),
	};

	return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}
