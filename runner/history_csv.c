/* Reads histories from CSV: one header, then a row for each point; the rows of a series need not be neighbours. */
#include "history_csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

#define COLUMNS_MAX 64

/* A file cut into fields in place. */
struct table {
	const char *path;
	struct tk_buf text;
	char *at;
	size_t line, columns;
	char *fields[COLUMNS_MAX];
};

struct row {
	const char *series, *commit;
	int64_t day;
	double value;
	size_t line;
};

struct setting {
	const char *machine, *driver;
	int64_t day;
};

struct tk_history_csv {
	struct table data, env, meta;
	struct row *rows;
	size_t row_count, series_count, setting_count;
	struct tk_history *series;
	struct setting *settings;
	double *values;
	int64_t *days;
	const char **environments;
};

/* One field, quoted or not, ended by a comma or the end of the line; returns what ended it, '?' where a quote is never
 * closed. */
static char cut_field(struct table *t, char **out)
{
	char *from = t->at, *to = t->at, end;
	bool quoted = *from == '"';

	*out = to;
	if (!quoted) {
		from += strcspn(from, ",\r\n");
	} else {
		for (from++; *from && (*from != '"' || from[1] == '"'); *to++ = *from++)
			from += *from == '"';
		if (*from != '"')
			return '?';
		from++;
	}
	to = quoted ? to : from;
	if (*from == '\r' && from[1] == '\n')
		*from++ = '\0';
	end = *from;
	t->at = end ? from + 1 : from;
	*to = '\0';
	return end;
}

/* false at the end of the file. An empty line has no columns. */
static bool next_row(struct table *t, bool *wrong)
{
	char end = ',';

	if (!*t->at)
		return false;
	t->line++;
	t->columns = 0;
	while (end == ',' && t->columns < COLUMNS_MAX)
		end = cut_field(t, &t->fields[t->columns++]);
	*wrong = end != '\n' && end != '\0';
	if (t->columns == 1 && !*t->fields[0])
		t->columns = 0;
	return true;
}

static int wrong_row(const struct table *t, const char *what, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s", t->path, t->line, what);
}

/* Opens a file and finds its columns; columns[i] is where names[i] is. */
static int open_table(
        struct table *t, const char *path, const char *const *names, size_t *columns, struct tk_error *err)
{
	bool wrong = false;
	int rc = tk_file_read(path, 0, &t->text, err);

	if (rc)
		return rc;
	t->path = path;
	t->at = t->text.data;
	if (t->text.len && memchr(t->text.data, '\0', t->text.len))
		return tk_fail(err, TK_EDATA, "%s: not a text file", path);
	if (!t->text.len || !next_row(t, &wrong) || wrong)
		return tk_fail(err, TK_EDATA, "%s: no header line", path);
	for (size_t n = 0; names[n]; n++) {
		for (columns[n] = 0; columns[n] < t->columns && strcmp(t->fields[columns[n]], names[n]) != 0;
		        columns[n]++)
			;
		if (columns[n] == t->columns)
			return tk_fail(err, TK_EDATA, "%s:1: there is no column %s", path, names[n]);
	}
	return TK_OK;
}

/* The next row that is not empty; *more false at the end. */
static int read_row(struct table *t, size_t last_column, bool *more, struct tk_error *err)
{
	bool wrong = false;

	do {
		*more = next_row(t, &wrong);
		if (wrong)
			return wrong_row(t, "a quote is not closed, or there are too many fields", err);
	} while (*more && !t->columns);
	return *more && t->columns <= last_column ? wrong_row(t, "too few fields", err) : TK_OK;
}

static int read_day(const struct table *t, const char *text, int64_t *day, struct tk_error *err)
{
	char *end;

	errno = 0;
	*day = strtoll(text, &end, 10);
	return *text && !*end && !errno
	               ? TK_OK
	               : tk_fail(err, TK_EDATA, "%s:%zu: day: `%.40s` is not a whole number", t->path, t->line, text);
}

/* Room for one more in an array that doubles. */
static void *grow(void *array, size_t count, size_t size)
{
	return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

static int read_points(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"series_id", "day", "value", NULL};
	size_t column[3], last = 0, commit = 0;
	bool more;
	int rc = open_table(&h->data, path, names, column, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < 3; i++)
		last = column[i] > last ? column[i] : last;
	while (commit < h->data.columns && strcmp(h->data.fields[commit], "commit") != 0)
		commit++;
	while (!(rc = read_row(&h->data, last, &more, err)) && more) {
		struct row r = {.series = h->data.fields[column[0]],
		        .commit = commit < h->data.columns ? h->data.fields[commit] : "",
		        .line = h->data.line};
		const char *value = h->data.fields[column[2]];
		struct row *rows = grow(h->rows, h->row_count, sizeof *rows);
		char *end;

		if (!rows)
			return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
		h->rows = rows;
		rc = read_day(&h->data, h->data.fields[column[1]], &r.day, err);
		r.value = strtod(value, &end);
		if (!rc && (!*value || *end))
			rc = tk_fail(err, TK_EDATA, "%s:%zu: value: `%.40s` is not a number", path, r.line, value);
		if (rc)
			return rc;
		rows[h->row_count++] = r;
	}
	return rc;
}

static int by_series(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->series, y->series);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_first_line(const void *a, const void *b, void *arg)
{
	const struct tk_history_csv *h = arg;
	const struct tk_history *x = a, *y = b;
	size_t lx = h->rows[x->value - h->values].line, ly = h->rows[y->value - h->values].line;

	return (lx > ly) - (lx < ly);
}

static int make_series(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	if (h->row_count)
		qsort(h->rows, h->row_count, sizeof *h->rows, by_series);
	h->series = calloc(h->row_count + 1, sizeof *h->series);
	h->values = malloc((h->row_count + 1) * sizeof *h->values);
	h->days = malloc((h->row_count + 1) * sizeof *h->days);
	if (!h->series || !h->values || !h->days)
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	for (size_t i = 0; i < h->row_count; i++) {
		const struct row *r = &h->rows[i];

		if (i == 0 || strcmp(r->series, r[-1].series) != 0)
			h->series[h->series_count++] = (struct tk_history){
			        .id = r->series, .machine = "", .value = h->values + i, .day = h->days + i};
		else if (r->day < r[-1].day)
			return tk_fail(err, TK_EDATA,
			        "%s:%zu: day: %lld is before the %lld of the row before it of series %.80s", path,
			        r->line, (long long)r->day, (long long)r[-1].day, r->series);
		h->series[h->series_count - 1].n++;
		h->values[i] = r->value;
		h->days[i] = r->day;
	}
	qsort_r(h->series, h->series_count, sizeof *h->series, by_first_line, h);
	return TK_OK;
}

static int by_id(const void *a, const void *b)
{
	return strcmp((*(struct tk_history *const *)a)->id, (*(struct tk_history *const *)b)->id);
}

static int read_machines(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"series_id", "machine", NULL};
	size_t column[2];
	struct tk_history **sorted = malloc((h->series_count + 1) * sizeof *sorted);
	bool more;
	int rc = sorted ? open_table(&h->meta, path, names, column, err)
	                : tk_fail(err, TK_ENOMEM, "%s: out of memory", path);

	for (size_t i = 0; !rc && i < h->series_count; i++)
		sorted[i] = &h->series[i];
	if (!rc)
		qsort(sorted, h->series_count, sizeof *sorted, by_id);
	while (!rc && !(rc = read_row(&h->meta, column[0] > column[1] ? column[0] : column[1], &more, err)) && more) {
		struct tk_history key = {.id = h->meta.fields[column[0]]}, *look_for = &key, **found;

		found = bsearch(&look_for, sorted, h->series_count, sizeof *sorted, by_id);
		if (found)
			(*found)->machine = h->meta.fields[column[1]];
	}
	free(sorted);
	return rc;
}

static int by_machine_and_day(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	int order = strcmp(x->machine, y->machine);

	return order ? order : (x->day > y->day) - (x->day < y->day);
}

/* The driver of a machine on a day: of the newest row up to it. */
static const char *driver_of(const struct tk_history_csv *h, const char *machine, int64_t day)
{
	size_t lo = 0, hi = h->setting_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int order = strcmp(h->settings[mid].machine, machine);

		if (order < 0 || (order == 0 && h->settings[mid].day <= day))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && strcmp(h->settings[lo - 1].machine, machine) == 0 ? h->settings[lo - 1].driver : "";
}

static int read_environments(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"machine", "day", "driver", NULL};
	size_t column[3], last = 0;
	bool more;
	int rc = open_table(&h->env, path, names, column, err);

	for (size_t i = 0; !rc && i < 3; i++)
		last = column[i] > last ? column[i] : last;
	while (!rc && !(rc = read_row(&h->env, last, &more, err)) && more) {
		struct setting *settings = grow(h->settings, h->setting_count, sizeof *settings);

		if (!settings)
			return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
		h->settings = settings;
		settings[h->setting_count] =
		        (struct setting){.machine = h->env.fields[column[0]], .driver = h->env.fields[column[2]]};
		rc = read_day(&h->env, h->env.fields[column[1]], &settings[h->setting_count++].day, err);
	}
	if (rc)
		return rc;
	if (h->setting_count)
		qsort(h->settings, h->setting_count, sizeof *h->settings, by_machine_and_day);
	h->environments = malloc((h->row_count + 1) * sizeof *h->environments);
	if (!h->environments)
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	for (size_t s = 0; s < h->series_count; s++) {
		struct tk_history *series = &h->series[s];
		size_t first = (size_t)(series->value - h->values);

		for (size_t i = 0; i < series->n; i++)
			h->environments[first + i] = driver_of(h, series->machine, series->day[i]);
		series->environment = h->environments + first;
	}
	return TK_OK;
}

int tk_history_csv_read(const char *path, const char *env_path, const char *meta_path, struct tk_history_csv **out,
        struct tk_error *err)
{
	struct tk_history_csv *h = *out = calloc(1, sizeof *h);
	int rc = h ? read_points(h, path, err) : tk_fail(err, TK_ENOMEM, "%s: out of memory", path);

	if (!rc)
		rc = make_series(h, path, err);
	if (!rc && meta_path)
		rc = read_machines(h, meta_path, err);
	if (!rc && env_path)
		rc = read_environments(h, env_path, err);
	return rc;
}

const struct tk_history *tk_history_csv_series(const struct tk_history_csv *h, size_t *count)
{
	*count = h->series_count;
	return h->series;
}

const char *tk_history_csv_commit(const struct tk_history_csv *h, size_t series, size_t index)
{
	return h->rows[(size_t)(h->series[series].value - h->values) + index].commit;
}

void tk_history_csv_free(struct tk_history_csv *h)
{
	if (!h)
		return;
	tk_buf_free(&h->data.text);
	tk_buf_free(&h->env.text);
	tk_buf_free(&h->meta.text);
	free(h->rows);
	free(h->series);
	free(h->settings);
	free(h->values);
	free(h->days);
	free(h->environments);
	free(h);
}
