/* Reads histories from CSV: a header, then one row per point. The rows of a series need not be
 * adjacent, nor in the order of their days. */
#include "cli/history/history_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/memory.h"
#include "cli/history/csv_value.h"
#include "cli/history/name_table.h"

#define DAY_S 86400
#define DATE_DAYS_MAX 2000000 /* of five thousand years */

struct points {
	double *value;
	int64_t *day;
	uint32_t *commit;
	size_t count, cap;
	bool unsorted; /* a day is before that of an earlier row */
};

struct setting {
	const char *machine, *driver;
	int64_t day;
};

struct tk_history_csv {
	struct tk_csv data, env, meta;
	struct tk_name_table series_names, commit_names,
	        setting_names; /* setting_names: machines and drivers */
	struct points *points;
	size_t points_cap, count; /* count: number of series */
	bool has_commit, has_dates;
	struct tk_series_history *series;
	struct setting *settings;
	size_t setting_count;
	const char **environments;
};

/* Makes room for one more point. Grows by a quarter, because there may be thousands of series. */
static bool make_room(struct points *p, bool has_commit)
{
	size_t cap = p->cap + p->cap / 4 + 16;
	double *value;
	int64_t *day;
	uint32_t *commit;

	if (p->count < p->cap)
		return true;
	if ((value = tk_realloc(p->value, cap * sizeof *value)))
		p->value = value;
	if ((day = tk_realloc(p->day, cap * sizeof *day)))
		p->day = day;
	if (!value || !day)
		return false;
	if (has_commit) {
		commit = tk_realloc(p->commit, cap * sizeof *commit);
		p->commit = commit;
	}
	p->cap = cap;
	return true;
}

static struct points *find_points(struct tk_history_csv *h, size_t series)
{
	while (series >= h->points_cap) {
		size_t cap = h->points_cap ? 2 * h->points_cap : 64;
		struct points *points = tk_realloc(h->points, cap * sizeof *points);

		memset(points + h->points_cap, 0, (cap - h->points_cap) * sizeof *points);
		h->points = points;
		h->points_cap = cap;
	}
	return &h->points[series];
}

/* column[]: index of series, day, value, commit */
static int add_point(struct tk_history_csv *h, const size_t *column, struct tk_error *err)
{
	const struct tk_csv *t = &h->data;
	size_t series, commit = 0;
	struct points *p = NULL;
	int64_t day;
	double value;
	bool is_date;
	int status = tk_csv_read_day(t, t->fields[column[1]], &day, &is_date, err);

	h->has_dates |= !status && is_date;
	if (!status)
		status = tk_csv_read_value(t, t->fields[column[2]], &value, err);
	if (status)
		return status;
	if (tk_name_table_add(
	            &h->series_names, t->fields[column[0]], t->lengths[column[0]], &series))
		p = find_points(h, series);
	if (!p || !make_room(p, h->has_commit) ||
	        (h->has_commit && column[3] < t->count &&
	                !tk_name_table_add(&h->commit_names, t->fields[column[3]],
	                        t->lengths[column[3]], &commit)))
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", t->path);
	p->unsorted |= p->count && day < p->day[p->count - 1];
	if (h->has_commit)
		p->commit[p->count] = (uint32_t)commit;
	p->day[p->count] = day;
	p->value[p->count++] = value;
	return TK_OK;
}

struct row {
	int64_t day;
	size_t index;
};

static int by_day_and_index(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->day != y->day ? (x->day > y->day) - (x->day < y->day)
	                        : (x->index > y->index) - (x->index < y->index);
}

/* Brings the points into the order of their days; those of one day stay in the order of the file.
 * False: out of memory. */
static bool sort_points(struct points *p)
{
	struct row *rows = tk_malloc(p->count * sizeof *rows);
	double *value = tk_malloc(p->count * sizeof *value);
	uint32_t *commit = tk_malloc(p->count * sizeof *commit);
	bool ok = rows && value && commit;

	for (size_t i = 0; ok && i < p->count; i++)
		rows[i] = (struct row){p->day[i], i};
	if (ok)
		qsort(rows, p->count, sizeof *rows, by_day_and_index);
	for (size_t i = 0; ok && i < p->count; i++) {
		value[i] = p->value[rows[i].index];
		commit[i] = p->commit ? p->commit[rows[i].index] : 0;
	}
	for (size_t i = 0; ok && i < p->count; i++) {
		p->day[i] = rows[i].day;
		p->value[i] = value[i];
		if (p->commit)
			p->commit[i] = commit[i];
	}
	free(rows);
	free(value);
	free(commit);
	return ok;
}

static int open_table(struct tk_csv *t, const char *path, const char *const *names, size_t *columns,
        struct tk_error *err)
{
	int status = tk_csv_open(t, path, err);

	return status ? status : tk_csv_read_header(t, names, columns, err);
}

static int read_points(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"series_id", "day", "value", NULL};
	size_t column[4];
	bool more;
	int status = open_table(&h->data, path, names, column, err);

	if (status)
		return status;
	column[3] = tk_csv_find_field(&h->data, "commit");
	h->has_commit = column[3] < h->data.count;
	if (h->has_commit && !tk_name_table_add(&h->commit_names, "", 0, &(size_t){0}))
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	while (!status && !(status = tk_csv_read_row(&h->data, &more, err)) && more)
		status = add_point(h, column, err);
	h->count = h->series_names.count < h->points_cap ? h->series_names.count : h->points_cap;
	for (size_t i = 0; !status && i < h->count; i++)
		if (h->points[i].unsorted && !sort_points(&h->points[i]))
			status = tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	return status;
}

static int make_series(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	h->series = tk_calloc(h->series_names.count + 1, sizeof *h->series);
	for (size_t i = 0; i < h->series_names.count; i++)
		h->series[i] = (struct tk_series_history){.id = h->series_names.at[i],
		        .machine = "",
		        .n = h->points[i].count,
		        .value = h->points[i].value,
		        .day = h->points[i].day};
	return TK_OK;
}

static int keep_name(struct tk_history_csv *h, const struct tk_csv *t, size_t column,
        const char **word, struct tk_error *err)
{
	size_t number;

	if (!tk_name_table_add(&h->setting_names, t->fields[column], t->lengths[column], &number))
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", t->path);
	*word = h->setting_names.at[number];
	return TK_OK;
}

static int read_machines(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"series_id", "machine", NULL};
	size_t column[2], series;
	bool more;
	int status = open_table(&h->meta, path, names, column, err);

	while (!status && !(status = tk_csv_read_row(&h->meta, &more, err)) && more) {
		/* a series without points is appended and ignored */
		if (!tk_name_table_add(&h->series_names, h->meta.fields[column[0]],
		            h->meta.lengths[column[0]], &series))
			status = tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
		else if (series < h->count)
			status = keep_name(h, &h->meta, column[1], &h->series[series].machine, err);
	}
	return status;
}

static int by_machine_and_day(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	int order = strcmp(x->machine, y->machine);

	return order ? order : (x->day > y->day) - (x->day < y->day);
}

/* The driver of a machine on a day: that of the newest row up to it. */
static const char *find_driver(const struct tk_history_csv *h, const char *machine, int64_t day)
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
	return lo && strcmp(h->settings[lo - 1].machine, machine) == 0 ? h->settings[lo - 1].driver
	                                                               : "";
}

/* Makes room for one more element in an array that doubles. */
static void *grow(void *array, size_t count, size_t size)
{
	return count & (count - 1) ? array : tk_realloc(array, (count ? 2 * count : 1) * size);
}

static int read_settings(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"machine", "day", "driver", NULL};
	size_t column[3];
	bool more;
	int status = open_table(&h->env, path, names, column, err);

	while (!status && !(status = tk_csv_read_row(&h->env, &more, err)) && more) {
		struct setting *settings = grow(h->settings, h->setting_count, sizeof *settings),
		               *s;
		bool is_date;

		if (!settings)
			return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
		h->settings = settings;
		s = &settings[h->setting_count++];
		status = keep_name(h, &h->env, column[0], &s->machine, err);
		if (!status)
			status = keep_name(h, &h->env, column[2], &s->driver, err);
		if (!status)
			status = tk_csv_read_day(
			        &h->env, h->env.fields[column[1]], &s->day, &is_date, err);
	}
	return status;
}

static int read_environments(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	size_t points = 0, at = 0;
	int status = read_settings(h, path, err);

	if (status)
		return status;
	if (h->setting_count)
		qsort(h->settings, h->setting_count, sizeof *h->settings, by_machine_and_day);
	for (size_t s = 0; s < h->count; s++)
		points += h->series[s].n;
	h->environments = tk_malloc((points + 1) * sizeof *h->environments);
	for (size_t s = 0; s < h->count; s++) {
		struct tk_series_history *series = &h->series[s];

		series->environment = h->environments + at;
		for (size_t i = 0; i < series->n; i++)
			h->environments[at++] = find_driver(h, series->machine, series->day[i]);
	}
	return status;
}

int tk_history_csv_read(const char *path, const char *env_path, const char *meta_path,
        struct tk_history_csv **out, struct tk_error *err)
{
	struct tk_history_csv *h = *out = tk_calloc(1, sizeof *h);
	int status =
	        h ? read_points(h, path, err) : tk_fail(err, TK_ENOMEM, "%s: out of memory", path);

	if (!status)
		status = make_series(h, path, err);
	if (!status && meta_path)
		status = read_machines(h, meta_path, err);
	if (!status && env_path)
		status = read_environments(h, env_path, err);
	return status;
}

const struct tk_series_history *tk_history_csv_series(const struct tk_history_csv *h, size_t *count)
{
	*count = h->count;
	return h->series;
}

const char *tk_history_csv_format_day(
        const struct tk_history_csv *h, int64_t day, char out[TK_TIME_ISO_SIZE])
{
	if (h->has_dates && day > -DATE_DAYS_MAX && day < DATE_DAYS_MAX)
		return tk_time_format_day(day * DAY_S, out);
	snprintf(out, TK_TIME_ISO_SIZE, "%" PRId64, day);
	return out;
}

const char *tk_history_csv_commit(const struct tk_history_csv *h, size_t series, size_t index)
{
	return h->has_commit ? h->commit_names.at[h->points[series].commit[index]] : "";
}

void tk_history_csv_free(struct tk_history_csv *h)
{
	if (!h)
		return;
	tk_csv_close(&h->data);
	tk_csv_close(&h->env);
	tk_csv_close(&h->meta);
	for (size_t i = 0; i < h->count; i++)
		free(h->points[i].value), free(h->points[i].day), free(h->points[i].commit);
	tk_name_table_free(&h->series_names);
	tk_name_table_free(&h->commit_names);
	tk_name_table_free(&h->setting_names);
	free(h->points);
	free(h->series);
	free(h->settings);
	free(h->environments);
	free(h);
}
