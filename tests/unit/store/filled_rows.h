/* Rows of every table whose columns all have a value that is not the default, made from the
 * descriptors of the tables: a new column is tested without another line here. */
#ifndef TK_TEST_FILLED_ROWS_H
#define TK_TEST_FILLED_ROWS_H
#include "base/base.h"
#include "history.h"
#include "store/db/internal.h"

/* Rows 0 and 1 of each table. In row 0 what may be missing is there, in row 1 it is missing. */
#define FILLED_ROWS 2

struct filled_rows {
	char *row[TK_TABLE_COUNT][FILLED_ROWS]; /* as struct tk_..._row of the table */
	int64_t id[TK_TABLE_COUNT][FILLED_ROWS];
	struct tk_rng rng; /* of what is drawn */
	bool is_drawn;
};

/* Puts them into an empty history; free with filled_rows_free(). */
void filled_rows_put(struct filled_rows *f, struct tk_store *s);
/* The same facts, described in another way for each seed above 0: the columns that identify a row
 * are equal, the others are drawn. */
void filled_rows_put_drawn(struct filled_rows *f, struct tk_store *s, uint64_t seed);
void filled_rows_free(struct filled_rows *f);

/* The member of a row that a column describes. */
#define FILLED_MEMBER(type, row, column) (*(type *)((row) + (column)->offset))

#endif
