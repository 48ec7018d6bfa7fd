/* Tables on the terminal, by libsmartcols: columns by name, control characters replaced, and signs
 * that a terminal with one byte per character cannot show (markup.h). No table
 * is wider than the terminal: where the flags of its columns are not enough, texts are cut, at most
 * to the width of their headings, and the widest columns dropped. Nothing is cut in a pipe or a
 * file. An empty table prints nothing. */
#ifndef TK_TABLE_H
#define TK_TABLE_H
#include <stdbool.h>
#include <stdio.h>

struct json_t;
struct tk_error;
struct tk_globals;
struct tk_table;

enum {
	TK_COLUMN_LEFT = 0,
	TK_COLUMN_RIGHT = 1, /* numbers */
	TK_COLUMN_CUT = 2,   /* may be cut on a narrow terminal */
	/* May be wrapped between words on a narrow terminal; below 30 characters only where no
	 * column is left to drop. */
	TK_COLUMN_WRAP = 4,
	TK_COLUMN_OPTIONAL = 8, /* hidden if no row has a value */
	TK_COLUMN_VARIED = 32,  /* hidden if all rows have the same value */
	TK_COLUMN_SHORTEN = 16, /* may be cut to 16 characters before other columns are dropped */
};
/* Dropped on a narrow terminal, the lowest order first. */
#define TK_COLUMN_DROP(order) ((order) << 8)

/* How a cell shows the member of a record. */
enum tk_show {
	TK_SHOW_PLAIN, /* a text, a count, a number */
	TK_SHOW_DAY,   /* of a time: 2026-11-21 */
	TK_SHOW_MINUTE,
	TK_SHOW_SHORT,    /* of a hash: 12 digits */
	TK_SHOW_UID,      /* 8 digits */
	TK_SHOW_COUNT,    /* nothing where it is 0 */
	TK_SHOW_DURATION, /* whole seconds */
	TK_SHOW_NS,
	TK_SHOW_BYTES,
	TK_SHOW_PERCENT,  /* a share */
	TK_SHOW_ESTIMATE, /* a change with its interval */
};

struct tk_column {
	const char *name; /* the heading; ends with name == NULL */
	unsigned flags;
	/* Of tables of records: the member ("change.value"), and the colour of the cell. */
	const char *path;
	enum tk_show show;
	const char *(*color)(const struct json_t *row); /* NULL, or it returns NULL: none */
};

/* `columns` must outlive the
 * table. */
struct tk_table *tk_table_new(const struct tk_globals *g, const struct tk_column *columns);
void tk_table_add_row(struct tk_table *t); /* starts a row, which the following calls fill */
void tk_table_set_cell(struct tk_table *t, const char *column, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* A row with the cells of all columns that have a path. */
void tk_table_add_record(struct tk_table *t, const struct json_t *row);
/* As tk_format_value(), or a share with the unit "%"; nothing where it is NAN. */
void tk_table_set_value(struct tk_table *t, const char *column, double value, const char *unit);
/* Colour of a cell of the row: "red", "green", "yellow", "bold", "halfbright"...
 * (terminal-colors.d); ignored without colours. */
void tk_table_set_color(struct tk_table *t, const char *column, const char *color);
int tk_table_print(struct tk_table *t, FILE *out, struct tk_error *err);
/* Prints and frees. */
int tk_table_finish(struct tk_table *t, FILE *out, struct tk_error *err);
/* After printing: the column had values but was dropped. */
bool tk_table_is_dropped(const struct tk_table *t, const char *column);
void tk_table_free(struct tk_table *t);

#endif
