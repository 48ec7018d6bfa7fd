/* The only file that knows libsmartcols. */
#include <errno.h>
#include <libsmartcols.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "core/limits.h"
#include "core/problem.h"
#include "core/vocabulary.h"

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
	char *text;

	va_start(ap, fmt);
	text = tk_vsprintf(fmt, ap);
	va_end(ap);
	tk_text_sanitize(text, "", '?');
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

static void show_number(double x, enum tk_show show, char out[TK_FORMAT_SIZE])
{
	switch (show) {
	case TK_SHOW_COUNT:
		snprintf(out, TK_FORMAT_SIZE, x > 0 ? "%.0f" : "", x);
		return;
	case TK_SHOW_DURATION:
		if (x < 1)
			snprintf(out, TK_FORMAT_SIZE, "< 1 s");
		else
			tk_duration_format(x, out, TK_FORMAT_SIZE);
		return;
	case TK_SHOW_NS:
		tk_format_value(x, "ns", out);
		return;
	case TK_SHOW_BYTES:
		tk_format_value(x, "bytes", out);
		return;
	case TK_SHOW_PERCENT:
		tk_format_percent(x, out);
		return;
	default:
		snprintf(out, TK_FORMAT_SIZE, "%.10g", x);
	}
}

static void show_estimate(struct tk_table *t, const struct tk_column *c, const json_t *o)
{
	char text[TK_FORMAT_ESTIMATE_SIZE];

	if (*tk_format_estimate(tk_record_number(o, "value"), tk_record_number(o, "lo"),
	            tk_record_number(o, "hi"), text))
		tk_table_set_cell(t, c->name, "%s", text);
}

static void show_text(struct tk_table *t, const struct tk_column *c, const char *text)
{
	int digits = c->show == TK_SHOW_SHORT ? 12 : c->show == TK_SHOW_UID ? 8 : 0;

	if (c->show == TK_SHOW_DAY)
		tk_table_set_cell(t, c->name, "%.10s", text);
	else if (c->show == TK_SHOW_MINUTE)
		tk_table_set_cell(t, c->name, "%.10s %.5s", text, text + 11);
	else
		tk_table_set_cell(t, c->name, "%.*s", digits ? digits : (int)strlen(text), text);
}

void tk_table_add_record(struct tk_table *t, const json_t *row)
{
	char text[TK_FORMAT_SIZE];

	tk_table_add_row(t);
	for (const struct tk_column *c = t->columns; c->name; c++) {
		const json_t *value = c->path ? tk_record_get(row, c->path) : NULL;

		if (c->show == TK_SHOW_ESTIMATE) {
			show_estimate(t, c, value);
		} else if (json_is_number(value)) {
			show_number(json_number_value(value), c->show, text);
			if (*text)
				tk_table_set_cell(t, c->name, "%s", text);
		} else if (json_is_string(value)) {
			show_text(t, c, json_string_value(value));
		}
		if (c->color && c->color(row))
			tk_table_set_color(t, c->name, c->color(row));
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

void tk_table_set_color(struct tk_table *t, const char *column, const char *color)
{
	struct libscols_cell *cell = scols_line_get_cell(t->line, column_index(t, column));

	if (t->color && cell)
		scols_cell_set_color(cell, color);
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

int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		tk_table_add_record(t, row);
	return tk_records_finish(t, rows, as_json, err);
}

int tk_records_finish(struct tk_table *t, json_t *rows, bool as_json, struct tk_error *err)
{
	int status = as_json ? tk_command_print_json(json_incref(rows), err)
	                     : tk_table_print(t, stdout, err);

	tk_table_free(t);
	json_decref(rows);
	return status;
}

int tk_records_select_one(struct tk_store *s, const char *sql, const struct tk_arg *args,
        json_t **out, struct tk_error *err)
{
	json_auto_t *rows = NULL;
	int status = tk_records_select(s, sql, args, &rows, err);

	*out = json_incref(json_array_get(rows, 0));
	return status;
}

int tk_records_select_member(struct tk_store *s, const char *sql, const struct tk_arg *args,
        json_t *object, const char *member, struct tk_error *err)
{
	json_t *rows;
	int status = tk_records_select(s, sql, args, &rows, err);

	json_object_set_new(object, member, rows);
	return status;
}

int tk_records_fail_unknown(const json_t *rows, const char *member, const char *name,
        const char *what, const char *otherwise, struct tk_error *err)
{
	const char **names = tk_calloc(json_array_size(rows) + 1, sizeof *names);
	char hint[TK_SUGGEST_HINT_SIZE];

	for (size_t i = 0; i < json_array_size(rows); i++)
		names[i] = tk_record_text(json_array_get(rows, i), member);
	tk_fail(err, TK_EUSAGE, "%s \"%.100s\"%s", what, name,
	        tk_suggest_hint(name, names, otherwise, hint));
	free(names);
	return TK_EUSAGE;
}

int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err)
{
	static const char sql[] = "SELECT id FROM night WHERE CASE"
	                          " WHEN ?1 = 'last' THEN id = (SELECT id FROM night"
	                          " ORDER BY as_of_s DESC, id DESC LIMIT 1)"
	                          " WHEN EXISTS (SELECT 1 FROM night WHERE CAST(id AS TEXT) = ?1)"
	                          " THEN CAST(id AS TEXT) = ?1"
	                          " ELSE ?1 <> '' AND substr(uid, 1, length(?1)) = ?1 END";
	json_t *found;
	int status = tk_records_select(s, sql, TK_ARGS(text), &found, err);
	size_t count = json_array_size(found);

	*night_id = json_integer_value(json_object_get(json_array_get(found, 0), "id"));
	json_decref(found);
	if (status || count == 1)
		return status;
	if (strcmp(text, "last") == 0)
		return tk_fail(
		        err, TK_EUSAGE, "no night \"%s\": the history has no nights yet", text);
	return tk_fail(err, TK_EUSAGE,
	        count ? "\"%s\" is ambiguous: %zu nights start with it"
	              : "no night \"%s\"; `tracker log` lists the nights",
	        text, count);
}

struct tk_rate tk_rate_compute(double flops, double peak_gflop_per_s, double median_ns)
{
	struct tk_rate r = {NAN, NAN};

	if (flops > 0 && median_ns > 0)
		r.gflop_per_s = flops / median_ns;
	if (peak_gflop_per_s > 0)
		r.peak_share = r.gflop_per_s / peak_gflop_per_s;
	return r;
}

/* 0: not known. An imported history may have problems of other languages. */
static double find_peak(const char *problem, const char *device_name)
{
	struct tk_problem_spec spec;

	return tk_problem_parse(&spec, problem, NULL) ? 0
	                                              : tk_datasheet_find_peak(device_name, &spec);
}

struct tk_rate tk_rate_from_problem(
        const char *problem, double flops, const char *device_name, double value, const char *unit)
{
	if (tk_unit_from_name(unit) != TK_UNIT_NS)
		return (struct tk_rate){NAN, NAN};
	return tk_rate_compute(flops, find_peak(problem, device_name), value);
}

static char *compute_peak(const struct tk_arg *args)
{
	double peak = find_peak(args[0].text, args[1].text);

	return peak > 0 ? tk_sprintf("%.17g", peak) : NULL;
}

int tk_rate_define_function(struct tk_store *s, struct tk_error *err)
{
	static const struct tk_sql_function f = {"peak_gflop_per_s", 2, compute_peak};

	return tk_store_add_function(s, &f, err);
}

void tk_rate_set_cells(struct tk_table *t, const struct tk_rate *r)
{
	tk_table_set_value(t, "RATE", r->gflop_per_s, "gflop_per_s");
	tk_table_set_value(t, "PEAK", r->peak_share, "%");
}
