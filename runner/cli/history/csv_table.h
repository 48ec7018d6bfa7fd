/* A CSV file row by row, in constant memory, with quotes as in RFC 4180 and a header that names the
 * columns. */
#ifndef TK_CSV_TABLE_H
#define TK_CSV_TABLE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TK_CSV_COLUMNS_MAX 64

struct tk_error;

struct tk_csv_table {
	const char *path;
	int file;
	struct tk_buf text; /* read but not yet cut into rows */
	size_t at;
	bool ended;
	size_t line, lines; /* of the current row: its first line and its number of lines */
	size_t columns;
	char *fields[TK_CSV_COLUMNS_MAX]; /* of the current row; valid until the next one */
	size_t length[TK_CSV_COLUMNS_MAX];
};

/* Opens a file and finds its columns: columns[i] is the index of names[i] (NULL ends them).
 * TK_EDATA: one is missing. Close in any case. */
int tk_csv_table_open(struct tk_csv_table *t, const char *path, const char *const *names,
        size_t *columns, struct tk_error *err);
/* Reads the next row that is not empty. It must have more than `last_column` fields. *more: false
 * at the end. */
int tk_csv_table_next_row(
        struct tk_csv_table *t, size_t last_column, bool *more, struct tk_error *err);
void tk_csv_table_close(struct tk_csv_table *t);

#endif
