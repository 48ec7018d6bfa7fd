/* The only file that knows libsmartcols. */
#include "table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "commands.h"

struct tk_table {
	struct libscols_table *scols;
	struct libscols_line *line;
	const struct tk_column *columns;
	size_t rows;
	bool color, failed;
	bool used[32]; /* columns that have a value */
};

static int column_flags(unsigned flags)
{
	return (flags & TK_COLUMN_RIGHT ? SCOLS_FL_RIGHT : 0) | (flags & TK_COLUMN_CUT ? SCOLS_FL_TRUNC : 0) |
	       (flags & TK_COLUMN_WRAP ? SCOLS_FL_WRAP : 0);
}

struct tk_table *tk_table_new(const struct tk_globals *g, const struct tk_column *columns)
{
	struct tk_table *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->columns = columns;
	t->color = !g->no_color;
	t->scols = scols_new_table();
	if (!t->scols) {
		free(t);
		return NULL;
	}
	for (const struct tk_column *c = columns; c->name; c++)
		if (!scols_table_new_column(t->scols, c->name, 0, column_flags(c->flags)))
			t->failed = true;
	scols_table_enable_colors(t->scols, t->color);
	return t;
}

static size_t column_index(const struct tk_table *t, const char *name)
{
	size_t i = 0;

	while (t->columns[i].name && strcmp(t->columns[i].name, name) != 0)
		i++;
	return i;
}

void tk_table_row(struct tk_table *t)
{
	if (!t)
		return;
	t->line = scols_table_new_line(t->scols, NULL);
	t->failed = t->failed || !t->line;
	t->rows++;
}

void tk_table_set(struct tk_table *t, const char *column, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;
	size_t i;

	if (!t || !t->line)
		return;
	i = column_index(t, column);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (!text || !t->columns[i].name || scols_line_refer_data(t->line, i, text) != 0) {
		t->failed = true;
		free(text);
		return;
	}
	if (*text && i < sizeof t->used)
		t->used[i] = true;
}

void tk_table_color(struct tk_table *t, const char *column, const char *color)
{
	struct libscols_cell *cell;

	if (!t || !t->line || !t->color)
		return;
	cell = scols_line_get_cell(t->line, column_index(t, column));
	if (cell)
		scols_cell_set_color(cell, color);
}

size_t tk_table_rows(const struct tk_table *t)
{
	return t ? t->rows : 0;
}

static void drop_unused(struct tk_table *t)
{
	size_t n = 0;

	for (const struct tk_column *c = t->columns; c->name; c++, n++)
		if ((c->flags & TK_COLUMN_OPTIONAL) && n < sizeof t->used && !t->used[n])
			scols_column_set_flags(scols_table_get_column(t->scols, n), SCOLS_FL_HIDDEN);
}

int tk_table_print(struct tk_table *t, FILE *out, struct tk_error *err)
{
	if (!t || t->failed)
		return tk_fail(err, TK_EINTERNAL, "a table could not be made: out of memory, or an unknown column");
	if (t->rows == 0)
		return TK_OK;
	drop_unused(t);
	scols_table_set_stream(t->scols, out);
	scols_table_set_termforce(t->scols, isatty(fileno(out)) ? SCOLS_TERMFORCE_AUTO : SCOLS_TERMFORCE_NEVER);
	if (scols_print_table(t->scols) != 0)
		return tk_fail_errno(err, "printing a table");
	return TK_OK;
}

void tk_table_free(struct tk_table *t)
{
	if (!t)
		return;
	scols_unref_table(t->scols);
	free(t);
}
