/* CSV as spreadsheets and scripts write it (RFC 4180): quotes, quotes in quotes, line ends in
 * quotes; `,`, `;` or a tab, as the first line has it. */
#include "store/import/import.h"
#include <stdlib.h>
#include <string.h>

static char separator_of(const char *line)
{
	size_t counts[128] = {0};

	for (const unsigned char *p = (const unsigned char *)line; *p; p++)
		if (*p < 128)
			counts[*p]++;
	if (counts['\t'] > counts[','] && counts['\t'] >= counts[';'])
		return '\t';
	return counts[';'] > counts[','] ? ';' : ',';
}

static int add_cell(struct tk_import_csv_reader *csv, size_t start, struct tk_error *err)
{
	if (csv->count == csv->cap) {
		size_t cap = csv->cap ? csv->cap * 2 : 32;
		char **grown = realloc(csv->cells, cap * sizeof(*grown));

		if (!grown)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		csv->cells = grown;
		csv->cap = cap;
	}
	tk_buf_add_char(&csv->text, '\0');
	/* The text may still move: positions now, pointers at the end of the row. */
	csv->cells[csv->count++] = (char *)start;
	return tk_buf_status(&csv->text, err);
}

/* The inside of quotes, which may span lines. *p is just after the opening quote, on return just
 * after the closing one. */
static int quoted(struct tk_import_csv_reader *csv, const char **p, struct tk_error *err)
{
	for (;;) {
		bool more;
		int status;

		for (; **p; ++*p) {
			if (**p == '"' && *++*p != '"')
				return 0;
			tk_buf_add_char(&csv->text, **p);
		}
		tk_buf_add_char(&csv->text, '\n');
		status = tk_import_read_line(&csv->lines, &more, err);
		if (!status && (!more || csv->text.len > TK_IMPORT_LINE_MAX))
			status = tk_fail(err, TK_EDATA, "%s:%zu: a quote is not closed",
			        csv->lines.file->path, csv->line);
		if (status)
			return status;
		*p = tk_buf_cstr(&csv->lines.line);
	}
}

static int split(struct tk_import_csv_reader *csv, struct tk_error *err)
{
	const char *p = tk_buf_cstr(&csv->lines.line);
	int status = 0;

	for (bool more = true; more && !status;) {
		size_t start = csv->text.len;

		if (*p == '"') {
			p++;
			status = quoted(csv, &p, err);
		}
		while (!status && *p && *p != csv->separator)
			tk_buf_add_char(&csv->text, *p++);
		more = !status && *p == csv->separator;
		p += more;
		if (!status)
			status = add_cell(csv, start, err);
	}
	for (size_t i = 0; i < csv->count && !status; i++)
		csv->cells[i] = csv->text.data + (size_t)csv->cells[i];
	return status;
}

int tk_import_read_csv_row(struct tk_import_csv_reader *csv, bool *more, struct tk_error *err)
{
	int status;

	do {
		status = tk_import_read_line(&csv->lines, more, err);
	} while (!status && *more && csv->lines.skip);
	if (status || !*more)
		return status;
	if (!csv->separator) {
		static const char mark[] = "\xef\xbb\xbf";

		csv->separator = separator_of(csv->lines.line.data);
		if (!strncmp(csv->lines.line.data, mark, 3)) {
			memmove(csv->lines.line.data, csv->lines.line.data + 3,
			        csv->lines.line.len - 2);
			csv->lines.line.len -= 3;
		}
	}
	csv->line = csv->lines.number;
	csv->count = 0;
	tk_buf_clear(&csv->text);
	return split(csv, err);
}

void tk_import_csv_free(struct tk_import_csv_reader *csv)
{
	free(csv->cells);
	tk_buf_free(&csv->text);
	tk_buf_free(&csv->lines.line);
}
