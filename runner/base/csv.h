/* Reads CSV row by row (RFC 4180): fields in quotes may hold separators, line ends and doubled
 * quotes. Memory is bounded by the longest row. Empty lines and a byte order mark are skipped.
 * Lines may end in LF alone, and a quote within an unquoted field is an ordinary character.
 *
 * The first line decides between comma, semicolon and tab. Text after a closing quote belongs to
 * the field, CR LF within quotes is read as LF. */
#ifndef TK_BASE_CSV_H
#define TK_BASE_CSV_H
#include "base/base.h"

#define TK_CSV_ROW_MAX ((size_t)64 << 20) /* bytes */

struct tk_csv {
	/* The current row, valid until the next one is read. */
	size_t line; /* its first line in the file, from 1 */
	size_t count;
	char **fields; /* [count], each with a NUL behind it */
	size_t *lengths;

	const char *path;

	/* Private. */
	FILE *in;
	bool owns_file, started, ended;
	char separator;          /* 0: not known yet */
	struct tk_buf text;      /* read but not yet cut into rows, from `at` on */
	size_t at, scanned;      /* scanned: bytes after `at` without the end of the row */
	bool has_quotes, quoted; /* of the scanned bytes: any quotes; ends within quotes */
	size_t lines, cap;       /* lines: of the current row */
	size_t min_count;        /* rows with fewer fields are refused */
};

/* Opens a file. `path` is borrowed. Close in any case. */
int tk_csv_open(struct tk_csv *c, const char *path, struct tk_error *err);
/* Reads from an open file, at its start, that the caller closes; `path` names it in messages. Both
 * are borrowed. */
void tk_csv_attach(struct tk_csv *c, FILE *in, const char *path);
/* Frees the memory. A zeroed struct is allowed. */
void tk_csv_close(struct tk_csv *c);

/* Reads the header and finds columns: columns[i] is the index of names[i] (NULL ends them). From
 * then on, a row without one of these columns is an error. TK_EDATA: a column is missing. */
int tk_csv_read_header(
        struct tk_csv *c, const char *const *names, size_t *columns, struct tk_error *err);
/* The index of the field `name` in the current row; c->count if there is none. */
size_t tk_csv_find_field(const struct tk_csv *c, const char *name);
/* Reads the next row. *more: false at the end of the file. Errors are TK_EDATA with "FILE:LINE: "
 * for malformed text, else TK_EIO or TK_ENOMEM. */
int tk_csv_read_row(struct tk_csv *c, bool *more, struct tk_error *err);

/* Adds a field in quotes. A text that a spreadsheet would read as a formula gets a ' in front;
 * control characters become '?'. */
void tk_csv_add_text(struct tk_buf *out, const char *s);

#endif
