/* The only file that knows libsmartcols. */
#include <errno.h>
#include <libsmartcols.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/commands.h"
#include "cli/table.h"

#define COLUMNS_MAX 32
#define WRAP_MIN 30 /* a column of prose that is narrower cannot be read */
#define SHORTEN_MIN 16
#define WRAP_LEAST 12 /* where nothing is left to drop */

struct column_state {
	bool used, varies, dropped;
	char *first;           /* value of a VARIED column */
	size_t width, heading; /* of the widest text, and of the heading alone */
};

struct tk_table {
	struct libscols_table *scols;
	struct libscols_line *line;
	const struct tk_column *columns;
	struct column_state states[COLUMNS_MAX];
	size_t rows;
	bool color, failed, may_cut_all; /* texts of any column */
};

/* Columns that the text takes on a terminal. */
static size_t text_width(const char *text)
{
	wchar_t wide[1024];
	size_t n = mbstowcs(wide, text, sizeof wide / sizeof *wide);
	int width = n < sizeof wide / sizeof *wide ? wcswidth(wide, n) : -1;

	return width < 0 ? strlen(text) : (size_t)width;
}

struct tk_table *tk_table_new(const struct tk_globals *g, const struct tk_column *columns)
{
	struct tk_table *t = tk_calloc(1, sizeof *t);

	t->columns = columns;
	t->color = !g->no_color;
	t->scols = tk_check_memory(scols_new_table());
	for (size_t i = 0; columns[i].name; i++) {
		unsigned flags = columns[i].flags;

		t->states[i].width = t->states[i].heading = text_width(columns[i].name);
		tk_check_memory(scols_table_new_column(t->scols, columns[i].name, 0,
		        (flags & TK_COLUMN_RIGHT ? SCOLS_FL_RIGHT : 0) |
		                (flags & (TK_COLUMN_CUT | TK_COLUMN_SHORTEN) ? SCOLS_FL_TRUNC : 0) |
		                (flags & TK_COLUMN_WRAP ? SCOLS_FL_WRAP : 0)));
	}
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

void tk_table_add_row(struct tk_table *t)
{
	t->line = tk_check_memory(scols_table_new_line(t->scols, NULL));
	t->rows++;
}

/* Replaces, in place, the signs that a terminal with one byte per character (cron, LC_ALL=C) cannot
 * show. */
static void make_plain(char *s)
{
	static const struct {
		const char *sign, *instead;
	} signs[] = {{"\u00a0", " "}, {"\u00b5", "u"}, {"\u00b1", "+-"}, {"\u00d7", "x"},
	        {"\u2013", "-"}, {"\u2212", "-"}};
	char *to = s;

	if (MB_CUR_MAX > 1)
		return;
	for (const char *p = s; *p;) {
		size_t i = 0;

		while (i < sizeof signs / sizeof *signs &&
		        strncmp(p, signs[i].sign, strlen(signs[i].sign)) != 0)
			i++;
		if (i == sizeof signs / sizeof *signs) {
			*to++ = *p++;
			continue;
		}
		p += strlen(signs[i].sign);
		/* No NUL: after a sign of two bytes it would end the text. */
		const size_t len = strlen(signs[i].instead);

		memcpy(to, signs[i].instead, len);
		to += len;
	}
	*to = '\0';
}

void tk_table_set_cell(struct tk_table *t, const char *column, const char *fmt, ...)
{
	const size_t i = column_index(t, column), old = t->states[i].width;
	struct column_state *c = &t->states[i];
	va_list ap;

	va_start(ap, fmt);
	char *text = tk_plain_vsprintf(fmt, ap);
	va_end(ap);
	make_plain(text);
	if (!t->columns[i].name || scols_line_refer_data(t->line, i, text) != 0) {
		t->failed = true;
		free(text);
		return;
	}
	if (!*text)
		return;
	c->used = true;
	c->first = c->first ? c->first : tk_strdup(text);
	c->varies |= strcmp(c->first, text) != 0;
	c->width = text_width(text) > old ? text_width(text) : old;
}

const char *tk_word_color_find(const struct tk_word_color *colors, const char *word)
{
	while (colors->word && strcmp(word, colors->word))
		colors++;
	return colors->word ? colors->color : "halfbright";
}

static void set_color(struct tk_table *t, const char *column, const char *color)
{
	struct libscols_cell *cell = scols_line_get_cell(t->line, column_index(t, column));

	if (t->color && cell)
		scols_cell_set_color(cell, color);
}

void tk_table_add_record(struct tk_table *t, const json_t *row)
{
	tk_table_add_row(t);
	for (const struct tk_column *c = t->columns; c->name; c++) {
		AUTO_TEXT text = c->path ? tk_record_format(c->path, c->show, row) : NULL;

		if (text)
			tk_table_set_cell(t, c->name, "%s", text);
		const char *color = c->color ? c->color(row) : NULL;
		if (color)
			set_color(t, c->name, color);
	}
}

void tk_table_set_value(struct tk_table *t, const char *column, double value, const char *unit)
{
	char text[TK_FORMAT_SIZE];

	if (isfinite(value))
		tk_table_set_cell(t, column, "%s",
		        strcmp(unit, "%") == 0 ? tk_format_percent(value, text)
		                               : tk_format_value(value, unit, text));
}

static bool is_hidden(const struct tk_table *t, size_t i)
{
	const unsigned flags = t->columns[i].flags;
	const struct column_state *c = &t->states[i];

	return c->dropped || ((flags & TK_COLUMN_OPTIONAL) && !c->used) ||
	       ((flags & TK_COLUMN_VARIED) && !c->varies);
}

static void set_flags(struct tk_table *t)
{
	for (size_t i = 0; t->columns[i].name; i++) {
		struct libscols_column *column = scols_table_get_column(t->scols, i);

		if (is_hidden(t, i))
			scols_column_set_flags(column, SCOLS_FL_HIDDEN);
		else if (t->may_cut_all && !(t->columns[i].flags & TK_COLUMN_RIGHT))
			scols_column_set_flags(column, SCOLS_FL_TRUNC);
	}
}

static size_t terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	size_t width = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size = {0};

	if (!width && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	return width ? width : 80;
}

/* Width of the visible columns, counting at most `wrapped` for those that may be wrapped. */
static size_t width_needed(const struct tk_table *t, size_t wrapped)
{
	size_t sum = 0;

	for (size_t i = 0; t->columns[i].name; i++) {
		unsigned flags = t->columns[i].flags;
		size_t most = flags & TK_COLUMN_WRAP      ? wrapped
		              : flags & TK_COLUMN_SHORTEN ? SHORTEN_MIN
		                                          : SIZE_MAX,
		       width = t->states[i].width;

		if (!is_hidden(t, i))
			sum += 1 + (width > most ? most : width);
	}
	return sum ? sum - 1 : 0;
}

/* A number is never cut, a text to its heading at most. 0: hidden. */
static size_t least_width(const struct tk_table *t, size_t i)
{
	const struct column_state *c = &t->states[i];

	return is_hidden(t, i) ? 0 : t->columns[i].flags & TK_COLUMN_RIGHT ? c->width : c->heading;
}

/* Drops columns, but not the first, until the others fit if their texts are cut. The widest goes
 * first, so that few are lost. */
static void drop_widest_columns(struct tk_table *t, size_t width)
{
	for (;;) {
		size_t sum = 0, widest = 0;

		for (size_t i = 0; t->columns[i].name; i++) {
			size_t least = least_width(t, i);

			sum += least + (least > 0 && i > 0);
			if (i > 0 && least > 0 && (!widest || least > least_width(t, widest)))
				widest = i;
		}
		if (sum <= width || !widest)
			return;
		t->states[widest].dropped = true;
	}
}

/* The column to drop first; the index of the end of the list: none. */
static size_t least_wanted(const struct tk_table *t)
{
	size_t found = SIZE_MAX, i;

	for (i = 0; t->columns[i].name; i++) {
		unsigned order = t->columns[i].flags >> 8;

		if (!is_hidden(t, i) && order &&
		        (found == SIZE_MAX || order < t->columns[found].flags >> 8))
			found = i;
	}
	return found == SIZE_MAX ? i : found;
}

/* Breaks lines between words, in place, so that each fits into `width` if its words do. */
static void wrap(char *text, size_t width)
{
	char *line = text, *space = NULL;

	for (char *p = text; *p; p++) {
		if (*p != ' ')
			continue;
		*p = '\0';
		if (space && text_width(line) > width) {
			*space = '\n';
			line = space + 1;
		}
		*p = ' ';
		space = p;
	}
	if (space && text_width(line) > width)
		*space = '\n';
}

static void wrap_column(struct tk_table *t, size_t i, size_t width)
{
	struct libscols_column *column = scols_table_get_column(t->scols, i);

	scols_column_set_safechars(column, "\n");
	scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
	for (size_t row = 0; row < t->rows; row++) {
		struct libscols_line *line = scols_table_get_line(t->scols, row);
		const char *text = scols_line_get_column_data(line, column);
		char *wrapped = text ? tk_strdup(text) : NULL;

		if (!wrapped)
			continue;
		wrap(wrapped, width);
		scols_line_refer_column_data(line, column, wrapped);
	}
}

/* A narrow terminal first loses columns that have an order for it, then the longest texts are
 * wrapped. */
static void fit(struct tk_table *t, size_t width)
{
	size_t others = 0, drop;

	while (width_needed(t, WRAP_MIN) > width && t->columns[drop = least_wanted(t)].name)
		t->states[drop].dropped = true;
	scols_table_set_termwidth(t->scols, width);
	t->may_cut_all = width_needed(t, WRAP_LEAST) > width;
	if (t->may_cut_all) {
		drop_widest_columns(t, width);
		return;
	}
	others = width_needed(t, 0);
	for (size_t i = 0; t->columns[i].name; i++)
		if ((t->columns[i].flags & TK_COLUMN_WRAP) && !is_hidden(t, i) &&
		        others + WRAP_LEAST <= width && others + t->states[i].width > width) {
			wrap_column(t, i, width - others);
			return;
		}
}

bool tk_table_is_dropped(const struct tk_table *t, const char *column)
{
	return t->states[column_index(t, column)].dropped;
}

int tk_table_print(struct tk_table *t, FILE *out, struct tk_error *err)
{
	if (t->failed)
		return tk_fail(err, TK_EINTERNAL, "a table has no such column");
	if (t->rows == 0)
		return TK_OK;
	if (isatty(fileno(out)))
		fit(t, terminal_width(out));
	set_flags(t);
	scols_table_set_stream(t->scols, out);
	scols_table_set_termforce(
	        t->scols, isatty(fileno(out)) ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (scols_print_table(t->scols) != 0)
		return tk_fail_errno(err, "printing a table");
	return TK_OK;
}

void tk_table_free(struct tk_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		free(t->states[i].first);
	scols_unref_table(t->scols);
	free(t);
}

int tk_table_finish(struct tk_table *t, FILE *out, struct tk_error *err)
{
	int status = tk_table_print(t, out, err);

	tk_table_free(t);
	return status;
}
