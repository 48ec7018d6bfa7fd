/* CSV row by row: quotes, line ends, separators, the borders of blocks, and malformed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/csv.h"

static FILE *open_text(const char *text, size_t len)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	rewind(f);
	return f;
}

/* Reads all rows: fields end with "|", rows with their line and "\n". */
static int read_all(const char *text, size_t len, struct tk_buf *out, struct tk_error *err)
{
	FILE *f = open_text(text, len);
	struct tk_csv c;
	bool more;
	int status;

	tk_csv_attach(&c, f, "x.csv");
	while (!(status = tk_csv_read_row(&c, &more, err)) && more) {
		for (size_t i = 0; i < c.count; i++) {
			assert_int_equal(strlen(c.fields[i]), c.lengths[i]);
			tk_buf_add_printf(out, "%s|", c.fields[i]);
		}
		tk_buf_add_printf(out, "%zu\n", c.line);
	}
	tk_csv_close(&c);
	fclose(f);
	return status;
}

static void check(const char *text, const char *rows)
{
	struct tk_buf out = TK_BUF_INIT;
	struct tk_error err = {0};

	if (read_all(text, strlen(text), &out, &err))
		fail_msg("%s", err.message);
	assert_string_equal(tk_buf_cstr(&out), rows);
	tk_buf_free(&out);
}

static void rows_have_quotes_and_lines_as_in_rfc_4180(void **state)
{
	check("a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\n2,\n", "a|b|1\n1|x, \"y\"\nz|2\n2||5\n");
	check("\"\"\"\",\"\"\n", "\"||1\n");
	check("\"a\r\nb\",c", "a\nb|c|1\n");
	check("a\r", "a|1\n");
	check(",", "||1\n");
	check("", "");
	check("\n\r\n", "");
}

static void quotes_of_careless_programs_are_accepted(void **state)
{
	check("5\" disk,a\"b\n6\" disk,c\n", "5\" disk|a\"b|1\n6\" disk|c|2\n");
	check("\"a\"b\"c,d\n", "ab\"c|d|1\n");
	check("\"a\"x\"y\nz\n", "ax\"y|1\nz|2\n");
}

static void separator_is_that_of_the_first_line(void **state)
{
	check("\n\r\na;b,c;d\n1;2;3\n", "a|b,c|d|3\n1|2|3|4\n");
	check("a\tb\n1,2\t3\n", "a|b|1\n1,2|3|2\n");
	check("\"a\";b\n\"1\n2\";3", "a|b|1\n1\n2|3|2\n");
	check("a,b\n1;2,3\n", "a|b|1\n1;2|3|2\n");
}

static void byte_order_mark_is_skipped(void **state)
{
	check("\xef\xbb\xbf\"a\",b\n", "a|b|1\n");
	check("\xef\xbb\xbf", "");
}

/* A row of every kind at every position relative to the end of a block of 256 KiB. */
static void rows_go_over_the_borders_of_blocks(void **state)
{
	static const char row[] = "\"a\"\"b\",\"c\nd\"\r\ne,f\r\n";
	const size_t block = 1 << 18;
	char *text = malloc(2 * block);
	struct tk_buf out = TK_BUF_INIT;
	struct tk_error err = {0};

	assert_non_null(text);
	for (size_t before = 0; before <= sizeof row; before++) {
		size_t len = block - before - 1;

		memset(text, 'x', len);
		text[len++] = '\n';
		memcpy(text + len, row, sizeof row - 1);
		len += sizeof row - 1;
		tk_buf_clear(&out);
		assert_int_equal(read_all(text, len, &out, &err), TK_OK);
		assert_string_equal(
		        tk_buf_cstr(&out) + block - before - 1, "|1\na\"b|c\nd|2\ne|f|4\n");
	}
	tk_buf_free(&out);
	free(text);
}

static void rows_have_any_number_of_fields(void **state)
{
	struct tk_buf text = TK_BUF_INIT, out = TK_BUF_INIT;
	struct tk_error err = {0};

	for (int i = 0; i < 1000; i++)
		tk_buf_add_printf(&text, i % 2 ? ",%d" : ",\"%d\"", i);
	assert_int_equal(read_all(text.data, text.len, &out, &err), TK_OK);
	assert_non_null(strstr(tk_buf_cstr(&out), "|998|999|1\n"));
	tk_buf_free(&text);
	tk_buf_free(&out);
}

static void refuse(const char *text, size_t len, const char *message)
{
	struct tk_buf out = TK_BUF_INIT;
	struct tk_error err = {0};

	assert_int_equal(read_all(text, len, &out, &err), TK_EDATA);
	assert_string_equal(err.message, message);
	tk_buf_free(&out);
}

static void malformed_files_are_refused_by_line(void **state)
{
	char *text = malloc(TK_CSV_ROW_MAX + 2);

	assert_non_null(text);
	refuse("a\n\"b\nc\n\nd", 9, "x.csv:2: a quote is not closed");
	refuse("a\n\"", 3, "x.csv:2: a quote is not closed");
	refuse("a\n\"\"\"", 5, "x.csv:2: a quote is not closed");
	refuse("a\nb\0c\n", 6, "x.csv: not a text file");
	memset(text, 'x', TK_CSV_ROW_MAX + 2);
	refuse(text, TK_CSV_ROW_MAX + 2, "x.csv:1: is longer than 64 MiB");
	memcpy(text, "a\n\"", 3);
	refuse(text, TK_CSV_ROW_MAX + 2, "x.csv:2: a quote is not closed");
	free(text);
}

/* Reads a header with the columns "b" and "a", then one row. */
static int read_header(const char *text, size_t columns[2], struct tk_error *err)
{
	static const char *const names[] = {"b", "a", NULL};
	FILE *f = open_text(text, strlen(text));
	struct tk_csv c;
	bool more;
	int status;

	tk_csv_attach(&c, f, "x.csv");
	status = tk_csv_read_header(&c, names, columns, err);
	if (!status) {
		assert_int_equal(tk_csv_find_field(&c, "b"), columns[0]);
		assert_int_equal(tk_csv_find_field(&c, "none"), c.count);
		status = tk_csv_read_row(&c, &more, err);
	}
	tk_csv_close(&c);
	fclose(f);
	return status;
}

static void header_names_the_columns(void **state)
{
	struct tk_error err = {0};
	size_t columns[2];

	assert_int_equal(read_header("a,x,b,y\n1,2,3\n", columns, &err), TK_OK);
	assert_int_equal(columns[0], 2);
	assert_int_equal(columns[1], 0);
	assert_int_equal(read_header("a,x,b,y\n1,2\n", columns, &err), TK_EDATA);
	assert_string_equal(err.message, "x.csv:2: too few fields");
	assert_int_equal(read_header("b,c\n", columns, &err), TK_EDATA);
	assert_string_equal(err.message, "x.csv:1: there is no column a");
	assert_int_equal(read_header("", columns, &err), TK_EDATA);
	assert_string_equal(err.message, "x.csv: no header line");
}

static void files_that_cannot_be_read_are_errors(void **state)
{
	struct tk_csv c = {0};
	struct tk_error err = {0};
	bool more;

	tk_csv_close(&c);
	assert_int_equal(tk_csv_open(&c, "/nonexistent/x.csv", &err), TK_ENOTFOUND);
	tk_csv_close(&c);
	assert_int_equal(tk_csv_open(&c, "/", &err), TK_OK);
	assert_int_equal(tk_csv_read_row(&c, &more, &err), TK_EIO);
	tk_csv_close(&c);
}

static void fields_are_quoted_and_run_no_formula(void **state)
{
	struct tk_buf b = TK_BUF_INIT;

	tk_csv_add_text(&b, "a,\"b\"\x01\n");
	assert_string_equal(tk_buf_cstr(&b), "\"a,\"\"b\"\"?\n\"");
	tk_buf_clear(&b);
	tk_csv_add_text(&b, "=1+1");
	assert_string_equal(tk_buf_cstr(&b), "\"'=1+1\"");
	tk_buf_clear(&b);
	tk_csv_add_text(&b, "");
	assert_string_equal(tk_buf_cstr(&b), "\"\"");
	tk_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rows_have_quotes_and_lines_as_in_rfc_4180),
	        cmocka_unit_test(quotes_of_careless_programs_are_accepted),
	        cmocka_unit_test(separator_is_that_of_the_first_line),
	        cmocka_unit_test(byte_order_mark_is_skipped),
	        cmocka_unit_test(rows_go_over_the_borders_of_blocks),
	        cmocka_unit_test(rows_have_any_number_of_fields),
	        cmocka_unit_test(malformed_files_are_refused_by_line),
	        cmocka_unit_test(header_names_the_columns),
	        cmocka_unit_test(files_that_cannot_be_read_are_errors),
	        cmocka_unit_test(fields_are_quoted_and_run_no_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
