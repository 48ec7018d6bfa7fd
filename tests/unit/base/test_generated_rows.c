/* Rows, numbers, times and versions at random, with a fixed seed: what is written is read back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/serializer.h"
#include "base/version.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- CSV ------------------------------------------------------------------------------------- */

#define FIELDS_MAX 6
#define ROWS 200

struct table {
	char *field[ROWS][FIELDS_MAX];
	size_t count[ROWS];
};

static char *make_field(struct tk_rng *rng)
{
	static const char *const pieces[] = {"a", "1.5", " ", ",", ";", "\t", "\"", "\"\"", "\n",
	        "\xc2\xb5", "=", "'", "\\", "long enough to cross the border of a block "};
	struct tk_buf text = TK_BUF_INIT;

	for (size_t n = tk_rng_below(rng, 6); n; n--)
		tk_buf_add_str(&text, pieces[tk_rng_below(rng, COUNT(pieces))]);
	return tk_buf_detach(&text, NULL);
}

/* As RFC 4180 writes it: in quotes where it must be, and sometimes where it need not. */
static void write_field(struct tk_buf *out, const char *field, bool quoted)
{
	if (!quoted && !strpbrk(field, ",;\t\"\r\n")) {
		tk_buf_add_str(out, field);
		return;
	}
	tk_buf_add_char(out, '"');
	for (; *field; field++) {
		if (*field == '"')
			tk_buf_add_char(out, '"');
		tk_buf_add_char(out, *field);
	}
	tk_buf_add_char(out, '"');
}

static void make_table(struct table *t, struct tk_buf *out, struct tk_rng *rng, char separator)
{
	for (size_t i = 0; i < ROWS; i++) {
		t->count[i] = i ? 1 + tk_rng_below(rng, FIELDS_MAX) : FIELDS_MAX;
		for (size_t k = 0; k < t->count[i]; k++) {
			/* the first line decides the separator, and an empty line is no row */
			t->field[i][k] =
			        i && !(t->count[i] == 1) ? make_field(rng) : strdup("head");
			if (k)
				tk_buf_add_char(out, separator);
			write_field(out, t->field[i][k], tk_rng_below(rng, 3) == 0);
		}
		if (i + 1 < ROWS || tk_rng_below(rng, 2))
			tk_buf_add_str(out, tk_rng_below(rng, 2) ? "\r\n" : "\n");
	}
}

static void expect_table(struct table *t, FILE *f, enum tk_csv_dialect dialect)
{
	struct tk_error err = {0};
	struct tk_csv c;
	bool more;

	tk_csv_attach(&c, f, "x.csv", dialect);
	for (size_t i = 0; i < ROWS; i++) {
		if (tk_csv_read_row(&c, &more, &err))
			fail_msg("row %zu: %s", i, err.message);
		assert_true(more);
		assert_int_equal(c.count, t->count[i]);
		for (size_t k = 0; k < c.count; k++) {
			assert_string_equal(c.fields[k], t->field[i][k]);
			assert_int_equal(c.lengths[k], strlen(t->field[i][k]));
		}
	}
	assert_int_equal(tk_csv_read_row(&c, &more, &err), TK_OK);
	assert_false(more);
	tk_csv_close(&c);
}

static void rows_are_read_as_they_were_written(void **state)
{
	static const char separators[] = ",,;\t";
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 1);
	for (size_t n = 0; n < 8; n++) {
		const char separator = separators[n % 4];
		struct tk_buf text = TK_BUF_INIT;
		struct table t;

		make_table(&t, &text, &rng, separator);
		FILE *f = fmemopen(text.data, text.len, "r");

		assert_non_null(f);
		expect_table(&t, f, n % 4 ? TK_CSV_LENIENT : TK_CSV_STRICT);
		fclose(f);
		tk_buf_free(&text);
		for (size_t i = 0; i < ROWS; i++)
			for (size_t k = 0; k < t.count[i]; k++)
				free(t.field[i][k]);
	}
}

/* Any bytes are rows, or an error with its line; the reader ends. */
static void any_bytes_are_rows_or_an_error(void **state)
{
	static const char letters[] = "a,\"\n\r;\t\0x";
	size_t failed = 0;
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 2);
	for (int i = 0; i < 5000; i++) {
		char text[24];
		size_t len = 1 + tk_rng_below(&rng, sizeof text - 1), lines = 1, rows = 0, line = 0;
		struct tk_error err = {0};
		struct tk_csv c;
		bool more;
		int status;

		for (size_t k = 0; k < len; k++) {
			text[k] = letters[tk_rng_below(&rng, sizeof letters - 1)];
			lines += text[k] == '\n';
		}
		FILE *f = fmemopen(text, len, "r");

		tk_csv_attach(&c, f, "x.csv", i % 2 ? TK_CSV_LENIENT : TK_CSV_STRICT);
		while (!(status = tk_csv_read_row(&c, &more, &err)) && more) {
			assert_true(c.line > line && c.line <= lines && c.count >= 1);
			line = c.line;
			assert_true(++rows <= lines);
		}
		if (status) {
			assert_int_equal(status, TK_EDATA);
			assert_memory_equal(err.message, "x.csv:", 6);
			failed++;
		}
		tk_csv_close(&c);
		fclose(f);
	}
	assert_true(failed > 100);
}

/* ---- the state of an object ------------------------------------------------------------------ */

struct object {
	double real;
	int64_t number;
	size_t size;
	bool flag;
};

static void visit(struct tk_serializer *n, struct object *o)
{
	tk_serialize_double(n, &o->real);
	tk_serialize_int(n, &o->number);
	tk_serialize_size(n, &o->size, 1000);
	tk_serialize_bool(n, &o->flag);
}

static void an_object_is_read_as_it_was_written(void **state)
{
	static const int64_t numbers[] = {0, 1, -1, INT64_C(1) << 53, -(INT64_C(1) << 53)};
	static const double reals[] = {0, -0.0, 0.1, 5e-324, INFINITY, -1.7976931348623157e308};
	struct tk_serializer n = {0};

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		struct object o = {reals[i % COUNT(reals)], numbers[i % COUNT(numbers)], i, i % 2};

		visit(&n, &o);
	}
	assert_false(n.failed);
	assert_int_equal(n.count, 300 * 4);
	n.reading = true;
	for (size_t i = 0; i < 300; i++) {
		struct object o = {7, 7, 7, true};

		visit(&n, &o);
		assert_memory_equal(&o.real, &reals[i % COUNT(reals)], sizeof o.real);
		assert_int_equal(o.number, numbers[i % COUNT(numbers)]);
		assert_int_equal(o.size, i);
		assert_int_equal(o.flag, i % 2);
	}
	assert_false(n.failed);
	assert_int_equal(n.next, n.count);
	/* Behind the end there is nothing, and the fields keep their values. */
	struct object o = {7, 8, 9, true};

	visit(&n, &o);
	assert_true(n.failed);
	assert_true(o.real == 7 && o.number == 8 && o.size == 9 && o.flag);
	tk_serializer_free(&n);
	assert_null(n.at);
}

/* A row of each length: the fields before its end are read, the others keep their values. */
static void a_row_that_ends_in_an_object(void **state)
{
	(void)state;
	for (size_t count = 0; count < 4; count++) {
		struct object o = {1.5, 2, 3, true}, out = {7, 8, 9, false};
		struct tk_serializer n = {0};

		visit(&n, &o);
		n.count = count;
		n.reading = true;
		visit(&n, &out);
		assert_true(n.failed);
		assert_true(out.real == (count > 0 ? 1.5 : 7));
		assert_int_equal(out.number, count > 1 ? 2 : 8);
		assert_int_equal(out.size, count > 2 ? 3 : 9);
		assert_false(out.flag);
		tk_serializer_free(&n);
	}
}

static void numbers_that_are_not_of_the_object(void **state)
{
	static const struct {
		double row[4];
		bool is_valid;
	} cases[] = {{{0, 0, 0, 0}, true}, {{NAN, 1, 1000, 1}, true}, {{0, 0.5, 0, 0}, false},
	        {{0, NAN, 0, 0}, false}, {{0, INFINITY, 0, 0}, false},
	        {{0, 0x1p53 + 2, 0, 0}, false}, {{0, 0, -1, 0}, false}, {{0, 0, 1001, 0}, false},
	        {{0, 0, 1.5, 0}, false}, {{0, 0, 0, 2}, false}, {{0, 0, 0, -1}, false},
	        {{0, 0, 0, 0.5}, false}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double row[4];
		struct tk_serializer n = {.at = row, .count = 4, .reading = true};
		struct object o = {0};

		memcpy(row, cases[i].row, sizeof row);
		visit(&n, &o);
		if (n.failed == cases[i].is_valid)
			fail_msg("row %zu", i);
	}
}

/* A number that a double cannot hold is not written as its neighbour. */
static void numbers_that_are_too_large_to_write(void **state)
{
	static const int64_t numbers[] = {
	        (INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 1, INT64_MAX, INT64_MIN};

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct tk_serializer n = {0};
		int64_t number = numbers[i];

		tk_serialize_int(&n, &number);
		assert_true(n.failed);
		assert_int_equal(number, numbers[i]);
		tk_serializer_free(&n);
	}
}

/* ---- times ----------------------------------------------------------------------------------- */

static void times_are_read_as_they_were_written(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 3);
	for (int i = 0; i < 20000; i++) {
		const int64_t t = (int64_t)tk_rng_below(&rng, 253402300800);
		char iso[TK_TIME_ISO_SIZE], day[TK_TIME_ISO_SIZE], expected[96];
		struct tm tm;
		time_t seconds = t;
		int64_t back = -1;

		tk_time_format_iso(t, iso);
		gmtime_r(&seconds, &tm);
		strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%SZ", &tm);
		assert_string_equal(iso, expected);
		assert_int_equal(tk_time_parse(iso, &back, NULL), TK_OK);
		assert_int_equal(back, t);
		/* a day is its beginning */
		assert_int_equal(tk_time_parse(tk_time_format_day(t, day), &back, NULL), TK_OK);
		assert_int_equal(back, t - t % 86400);
		/* the local time of a zone is that much later */
		const int zone = (int)tk_rng_below(&rng, 2 * 1439 + 1) - 1439;

		iso[19] = '\0';
		snprintf(expected, sizeof expected, "%s%c%02d%s%02d", iso, zone < 0 ? '-' : '+',
		        abs(zone) / 60, i % 2 ? ":" : "", abs(zone) % 60);
		assert_int_equal(tk_time_parse(expected, &back, NULL), TK_OK);
		assert_int_equal(back, t - 60 * zone);
	}
}

/* Each day of two cycles of leap years, also those that no year has. */
static void days_of_the_calendar(void **state)
{
	int64_t expected = 0;

	(void)state;
	for (int year = 1970; year < 2110; year++)
		for (int month = 1; month <= 12; month++)
			for (int day = 1; day <= 31; day++) {
				static const int days[] = {
				        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
				const bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
				char text[48];
				int64_t t = -1;

				snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
				if (day > days[month - 1] + (month == 2 && leap)) {
					assert_int_equal(tk_time_parse(text, &t, NULL), TK_EDATA);
					assert_int_equal(t, -1);
					continue;
				}
				assert_int_equal(tk_time_parse(text, &t, NULL), TK_OK);
				assert_int_equal(t, expected);
				expected += 86400;
			}
}

static void times_that_are_none(void **state)
{
	static const char *const texts[] = {"", " ", "2026", "2026-11", "2026-11-", "2026-1-1",
	        "2026-13-01", "2026-00-01", "2026-01-00", "2026-11-21T", "2026-11-21T24:00",
	        "2026-11-21T09:60", "2026-11-21T09:42:60", "2026-11-21T09:42:", "2026-11-21T9:42",
	        "2026-11-21T09:42+24:00", "2026-11-21T09:42+01:60", "2026-11-21T09:42+1",
	        "2026-11-21T09:42ZZ", "2026-11-21 ", "12026-11-21", "-026-11-21", "@", "@x", "@1x",
	        "@-", "@ 1", "@99999999999999999999", "@1.5", "2026-11-21\n", "2026\0-11-21"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct tk_error err = {0};
		int64_t t = 77;

		if (tk_time_parse(texts[i], &t, &err) != TK_EDATA)
			fail_msg("\"%s\" is %lld", texts[i], (long long)t);
		assert_int_equal(t, 77);
		assert_non_null(strstr(err.message, "is not a time"));
	}
}

/* ---- versions -------------------------------------------------------------------------------- */

static void make_version(struct tk_rng *rng, char out[64])
{
	static const char *const pre[] = {"", "", "a1", "b2", "rc1", "rc10"},
	                         *const post[] = {"", "", ".post1", ".post2"},
	                         *const dev[] = {"", "", ".dev0", ".dev3"},
	                         *const local[] = {"", "", "+1", "+abc", "+abc.2"};

	snprintf(out, 64, "%s%d.%d%s%s%s%s%s", tk_rng_below(rng, 8) ? "" : "1!",
	        (int)tk_rng_below(rng, 3), (int)tk_rng_below(rng, 12),
	        tk_rng_below(rng, 2) ? "" : ".0", pre[tk_rng_below(rng, COUNT(pre))],
	        post[tk_rng_below(rng, COUNT(post))], dev[tk_rng_below(rng, COUNT(dev))],
	        local[tk_rng_below(rng, COUNT(local))]);
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

/* An order: of two, one way round is the other's opposite; of three, it goes on. */
static void versions_have_one_order(void **state)
{
	enum { VERSIONS = 120 };
	struct tk_version v[VERSIONS];
	char text[VERSIONS][64];
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 4);
	for (size_t i = 0; i < VERSIONS; i++) {
		make_version(&rng, text[i]);
		if (!tk_version_parse(text[i], &v[i]))
			fail_msg("%s is refused", text[i]);
		assert_int_equal(tk_version_compare(&v[i], &v[i]), 0);
	}
	for (size_t i = 0; i < VERSIONS; i++)
		for (size_t j = 0; j < VERSIONS; j++) {
			const int ij = sign(tk_version_compare(&v[i], &v[j]));

			if (ij != -sign(tk_version_compare(&v[j], &v[i])))
				fail_msg("%s and %s", text[i], text[j]);
			for (size_t k = 0; k < VERSIONS; k++)
				if (ij <= 0 && tk_version_compare(&v[j], &v[k]) <= 0 &&
				        tk_version_compare(&v[i], &v[k]) > 0)
					fail_msg("%s, %s and %s", text[i], text[j], text[k]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rows_are_read_as_they_were_written),
	        cmocka_unit_test(any_bytes_are_rows_or_an_error),
	        cmocka_unit_test(an_object_is_read_as_it_was_written),
	        cmocka_unit_test(a_row_that_ends_in_an_object),
	        cmocka_unit_test(numbers_that_are_not_of_the_object),
	        cmocka_unit_test(numbers_that_are_too_large_to_write),
	        cmocka_unit_test(times_are_read_as_they_were_written),
	        cmocka_unit_test(days_of_the_calendar),
	        cmocka_unit_test(times_that_are_none),
	        cmocka_unit_test(versions_have_one_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
