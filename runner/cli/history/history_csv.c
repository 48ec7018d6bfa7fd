/* Reads histories from CSV: a header, then one row per point. The rows of a series need not be
 * adjacent, nor in the order of their days. */
#include "cli/history/history_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"

#define DAY_S 86400
#define DATE_DAYS_MAX 2000000 /* of five thousand years */

/* ---- names ----------------------------------------------------------------------------------- */

struct name {
	char *text;
	size_t number; /* from 0 in the order of appearance */
};

struct names {
	void *tree;
	size_t count;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The name with this text, which is added if it is new. */
static const struct name *find_name(struct names *names, const char *text)
{
	const struct name key = {(char *)text, 0};
	struct name **found = tfind(&key, &names->tree, by_text), *added;

	if (found)
		return *found;
	added = tk_malloc(sizeof *added);
	*added = (struct name){tk_strdup(text), names->count++};
	tk_check_memory(tsearch(added, &names->tree, by_text));
	return added;
}

static void free_name(void *name)
{
	free(((struct name *)name)->text);
	free(name);
}

/* ---- points ---------------------------------------------------------------------------------- */

struct point {
	int64_t day;
	double value;
	const char *commit;
	size_t row; /* points of one day stay in the order of the file */
};

struct points {
	const char *name;
	struct point *at;
	size_t count, cap;
	double *value;
	int64_t *day;
};

struct setting {
	const char *machine, *driver;
	int64_t day;
};

struct tk_history_csv {
	struct names series_names, words; /* words: commits, machines, drivers */
	struct points *points;
	size_t count; /* of series */
	bool has_dates;
	struct tk_series_history *series;
	struct setting *settings;
	size_t setting_count;
	const char **environments;
};

/* Makes room for one more element in an array that doubles. */
static void *grow(void *array, size_t count, size_t size)
{
	return count & (count - 1) ? array : tk_realloc(array, (count ? 2 * count : 1) * size);
}

/* A number of days, also with a fraction, or a date. */
static int read_day(
        const struct tk_csv *t, const char *text, int64_t *day, bool *is_date, struct tk_error *err)
{
	double fraction;
	char *end;

	errno = 0;
	*day = strtoll(text, &end, 10);
	if (*text && !*end && !errno)
		return TK_OK;
	if (!tk_time_parse(text, day, NULL)) {
		*is_date = true;
		*day = *day / DAY_S - (*day % DAY_S < 0);
		return TK_OK;
	}
	fraction = strtod(text, &end);
	if (!*text || *end || !(fabs(fraction) < 1e15))
		return tk_fail(err, TK_EDATA,
		        "%s:%zu: day: \"%.40s\" is not a number of days or a date (2026-11-21)",
		        t->path, t->line, text);
	*day = (int64_t)floor(fraction);
	return TK_OK;
}

static int read_value(const struct tk_csv *t, const char *text, double *value, struct tk_error *err)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end ? TK_OK
	                      : tk_fail(err, TK_EDATA, "%s:%zu: value: \"%.40s\" is not a number",
	                                t->path, t->line, text);
}

/* column[]: index of series, day, value, commit */
static int add_point(struct tk_history_csv *h, const struct tk_csv *t, const size_t *column,
        struct tk_error *err)
{
	struct point p = {.row = t->line, .commit = ""};
	const struct name *series;
	struct points *of;

	TRY(read_day(t, t->fields[column[1]], &p.day, &h->has_dates, err));
	TRY(read_value(t, t->fields[column[2]], &p.value, err));
	if (column[3] < t->count)
		p.commit = find_name(&h->words, t->fields[column[3]])->text;
	series = find_name(&h->series_names, t->fields[column[0]]);
	if (series->number == h->count) {
		h->points = grow(h->points, h->count, sizeof *h->points);
		h->points[h->count++] = (struct points){.name = series->text};
	}
	of = &h->points[series->number];
	of->at = grow(of->at, of->count, sizeof *of->at);
	of->at[of->count++] = p;
	return TK_OK;
}

static int by_day_and_row(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->day != y->day ? (x->day > y->day) - (x->day < y->day)
	                        : (x->row > y->row) - (x->row < y->row);
}

static void make_series(struct tk_history_csv *h)
{
	h->series = tk_calloc(h->count + 1, sizeof *h->series);
	for (size_t i = 0; i < h->count; i++) {
		struct points *p = &h->points[i];

		qsort(p->at, p->count, sizeof *p->at, by_day_and_row);
		p->value = tk_malloc(p->count * sizeof *p->value);
		p->day = tk_malloc(p->count * sizeof *p->day);
		for (size_t k = 0; k < p->count; k++) {
			p->value[k] = p->at[k].value;
			p->day[k] = p->at[k].day;
		}
		h->series[i] = (struct tk_series_history){.id = p->name,
		        .machine = "",
		        .n = p->count,
		        .value = p->value,
		        .day = p->day};
	}
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Calls `each` for every row of a file that has these columns. `optional`: one that it may have. */
static int read_file(struct tk_history_csv *h, const char *path, const char *const *names,
        const char *optional,
        int (*each)(struct tk_history_csv *h, const struct tk_csv *t, const size_t *column,
                struct tk_error *err),
        struct tk_error *err)
{
	struct tk_csv t = {0};
	size_t column[4], count = 0;
	bool more = true;
	int status = tk_csv_open(&t, path, err);

	if (!status)
		status = tk_csv_read_header(&t, names, column, err);
	while (names[count])
		count++;
	if (!status && optional)
		column[count] = tk_csv_find_field(&t, optional);
	if (!status && optional && column[count] == t.count)
		column[count] = SIZE_MAX;
	while (!status && !(status = tk_csv_read_row(&t, &more, err)) && more)
		status = each(h, &t, column, err);
	tk_csv_close(&t);
	return status;
}

static int add_machine(struct tk_history_csv *h, const struct tk_csv *t, const size_t *column,
        struct tk_error *err)
{
	const struct name *series = find_name(&h->series_names, t->fields[column[0]]);

	if (series->number < h->count) /* a series without points is ignored */
		h->series[series->number].machine =
		        find_name(&h->words, t->fields[column[1]])->text;
	return TK_OK;
}

static int add_setting(struct tk_history_csv *h, const struct tk_csv *t, const size_t *column,
        struct tk_error *err)
{
	struct setting s = {.machine = find_name(&h->words, t->fields[column[0]])->text,
	        .driver = find_name(&h->words, t->fields[column[2]])->text};
	bool is_date = false;

	TRY(read_day(t, t->fields[column[1]], &s.day, &is_date, err));
	h->settings = grow(h->settings, h->setting_count, sizeof *h->settings);
	h->settings[h->setting_count++] = s;
	return TK_OK;
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

static void set_environments(struct tk_history_csv *h)
{
	size_t points = 0, at = 0;

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
}

int tk_history_csv_read(const char *path, const char *env_path, const char *meta_path,
        struct tk_history_csv **out, struct tk_error *err)
{
	static const char *const points[] = {"series_id", "day", "value", NULL},
	                         *const machines[] = {"series_id", "machine", NULL},
	                         *const settings[] = {"machine", "day", "driver", NULL};
	struct tk_history_csv *h = *out = tk_calloc(1, sizeof *h);

	TRY(read_file(h, path, points, "commit", add_point, err));
	make_series(h);
	if (meta_path)
		TRY(read_file(h, meta_path, machines, NULL, add_machine, err));
	if (!env_path)
		return TK_OK;
	TRY(read_file(h, env_path, settings, NULL, add_setting, err));
	set_environments(h);
	return TK_OK;
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
	return h->points[series].at[index].commit;
}

void tk_history_csv_free(struct tk_history_csv *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->count; i++)
		free(h->points[i].at), free(h->points[i].value), free(h->points[i].day);
	tdestroy(h->series_names.tree, free_name);
	tdestroy(h->words.tree, free_name);
	free(h->points);
	free(h->series);
	free(h->settings);
	free(h->environments);
	free(h);
}
