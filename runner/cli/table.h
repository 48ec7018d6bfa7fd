/* Tables for people, by libsmartcols: columns by name, as wide as the terminal, control characters
 * made harmless.
 *
 * On a pipe or file nothing is cut. A table that is empty prints nothing. */
#ifndef TK_TABLE_H
#define TK_TABLE_H
#include <stdbool.h>
#include <stdio.h>

struct tk_error;
struct tk_globals;
struct tk_table;

enum {
	TK_COLUMN_LEFT = 0,
	TK_COLUMN_RIGHT = 1,    /* numbers */
	TK_COLUMN_CUT = 2,      /* may be cut where the terminal is too narrow */
	TK_COLUMN_WRAP = 4,     /* may be wrapped, between words where there are 30 characters */
	TK_COLUMN_OPTIONAL = 8, /* left out where no row has a value */
};
/* Goes where a terminal is too narrow for all columns, the lowest number first. */
#define TK_COLUMN_DROP(order) ((order) << 8)

struct tk_column {
	const char *name; /* the heading; ends with name == NULL */
	unsigned flags;
};

/* Never NULL in use: out of memory is reported by tk_table_print(). Columns must outlive the table.
 */
struct tk_table *tk_table_new(const struct tk_globals *g, const struct tk_column *columns);
void tk_table_add_row(struct tk_table *t); /* starts a row; the following calls fill it */
void tk_table_set_cell(struct tk_table *t, const char *column, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* colour of the cell just described: "red", "green", "yellow", "bold", "halfbright"...
 * (terminal-colors.d names); ignored without colour */
void tk_table_set_color(struct tk_table *t, const char *column, const char *color);
size_t tk_table_row_count(const struct tk_table *t);
int tk_table_print(struct tk_table *t, FILE *out, struct tk_error *err);
/* Of a table that was printed: the column had values, and no room. */
bool tk_table_is_dropped(const struct tk_table *t, const char *column);
void tk_table_free(struct tk_table *t);

#endif
