/* A CSV file row by row, in constant memory: quotes as RFC 4180 has them, a header that names the
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
	struct tk_buf text; /* what is read and not yet cut */
	size_t at;
	bool ended;
	size_t line, lines; /* of the row: its first line, its number of lines */
	size_t columns;
	char *fields[TK_CSV_COLUMNS_MAX]; /* of the row: until the next one */
	size_t length[TK_CSV_COLUMNS_MAX];
};

/* columns[i]: where names[i] (NULL ends them) is; TK_EDATA where it is not. Close in any case. */
int tk_csv_table_open(struct tk_csv_table *t, const char *path, const char *const *names,
        size_t *columns, struct tk_error *err);
/* The next row that is not empty, with more than `last_column` fields; *more false at the end. */
int tk_csv_table_next_row(
        struct tk_csv_table *t, size_t last_column, bool *more, struct tk_error *err);
void tk_csv_table_close(struct tk_csv_table *t);

#endif
