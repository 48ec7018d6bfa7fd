/* `tracker changepoints`: the level changes of histories in a CSV file, so that the detector can be
 * scored. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/csv.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "decide/decide.h"
#include "stats/levels.h"

static struct {
	const char *path, *env, *meta;
	bool online, json;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_TEXT("env", 0, "FILE", &opt.env,
                "Read machine,day,driver from the CSV FILE: a change together with the driver "
                "is not reported")},
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_TEXT("meta", 0, "FILE", &opt.meta,
                "Read series_id,machine from the CSV FILE: the series of one machine belong "
                "together")},
        {TK_OPT_FLAG("online", 0, &opt.online,
                "Report what each night would have reported, from the data up to that night")},
        {TK_OPT_ARGUMENT(&opt.path,
                "missing FILE; expected a CSV file with the columns series_id, day, value")},
        {0},
};

static const struct tk_column columns[] = {
        {"SERIES", TK_COLUMN_CUT},
        {"REPORTED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"DAY", TK_COLUMN_RIGHT},
        {"COMMIT", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"BEFORE", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1)},
        {"AFTER", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2)},
        {"CHANGE", TK_COLUMN_RIGHT},
        {"RETRACTED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {0},
};

/* ---- reading --------------------------------------------------------------------------------- */

#define DAY_S 86400
#define DATE_DAYS_MAX 2000000 /* of five thousand years */

struct point {
	size_t series, row; /* points of one day stay in the order of the file */
	int64_t day;
	double value;
	const char *commit;
};

struct setting {
	const char *machine, *driver;
	int64_t day;
};

/* As after `tracker import`, the days order a series, not the rows of the file. */
struct histories {
	/* {TEXT: position}, in the order of appearance: series; commits, machines and drivers */
	json_t *names, *words;
	struct point *points; /* of the first series, of the second one, ... */
	size_t point_count;
	bool has_dates;
	struct tk_series_history *series;
	size_t count;
	struct setting *settings;
	size_t setting_count;
	double *value; /* of the points */
	int64_t *day;
	const char **environment;
};

/* The text as `set` keeps it; added where it is new. */
static const char *intern(json_t *set, const char *text)
{
	if (!json_object_get(set, text))
		json_object_set_new_nocheck(
		        set, text, json_integer((json_int_t)json_object_size(set)));
	return json_object_iter_key(json_object_iter_at(set, text));
}

static size_t position(const json_t *set, const char *text)
{
	const json_t *at = json_object_get(set, text);

	return at ? (size_t)json_integer_value(at) : SIZE_MAX;
}

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
static int add_point(
        struct histories *h, const struct tk_csv *t, const size_t *column, struct tk_error *err)
{
	struct point p = {.row = t->line, .commit = ""};

	TRY(read_day(t, t->fields[column[1]], &p.day, &h->has_dates, err));
	TRY(read_value(t, t->fields[column[2]], &p.value, err));
	if (column[3] < t->count)
		p.commit = intern(h->words, t->fields[column[3]]);
	p.series = position(h->names, intern(h->names, t->fields[column[0]]));
	h->points = grow(h->points, h->point_count, sizeof *h->points);
	h->points[h->point_count++] = p;
	return TK_OK;
}

/* A series without points is ignored. */
static int add_machine(
        struct histories *h, const struct tk_csv *t, const size_t *column, struct tk_error *err)
{
	size_t series = position(h->names, t->fields[column[0]]);

	if (series < h->count)
		h->series[series].machine = intern(h->words, t->fields[column[1]]);
	return TK_OK;
}

static int add_setting(
        struct histories *h, const struct tk_csv *t, const size_t *column, struct tk_error *err)
{
	struct setting s = {.machine = intern(h->words, t->fields[column[0]]),
	        .driver = intern(h->words, t->fields[column[2]])};
	bool is_date = false;

	TRY(read_day(t, t->fields[column[1]], &s.day, &is_date, err));
	h->settings = grow(h->settings, h->setting_count, sizeof *h->settings);
	h->settings[h->setting_count++] = s;
	return TK_OK;
}

/* Calls `each` for every row of a file that has these columns. `optional`: one that it may have. */
static int read_file(struct histories *h, const char *path, const char *const *names,
        const char *optional,
        int (*each)(struct histories *h, const struct tk_csv *t, const size_t *column,
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

#define COMPARE(a, b) ((a) > (b)) - ((a) < (b))

static int by_series_and_day(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->series != y->series ? COMPARE(x->series, y->series)
	       : x->day != y->day     ? COMPARE(x->day, y->day)
	                              : COMPARE(x->row, y->row);
}

static void make_series(struct histories *h)
{
	const size_t n = h->point_count;
	const char *name;
	json_t *at;

	tk_sort(h->points, n, sizeof *h->points, by_series_and_day);
	h->series = tk_calloc(json_object_size(h->names) + 1, sizeof *h->series);
	h->value = tk_calloc(n + 1, sizeof *h->value);
	h->day = tk_calloc(n + 1, sizeof *h->day);
	json_object_foreach (h->names, name, at)
		h->series[h->count++] = (struct tk_series_history){.id = name, .machine = ""};
	for (size_t i = 0; i < n; i++) {
		struct tk_series_history *s = &h->series[h->points[i].series];

		h->value[i] = h->points[i].value;
		h->day[i] = h->points[i].day;
		if (!s->n++) {
			s->value = &h->value[i];
			s->day = &h->day[i];
		}
	}
}

static int by_machine_and_day(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	int order = strcmp(x->machine, y->machine);

	return order ? order : COMPARE(x->day, y->day);
}

/* The driver of a machine on a day: that of the newest row up to it. */
static const char *find_driver(const struct histories *h, const char *machine, int64_t day)
{
	const struct setting key = {.machine = machine, .day = day};
	const size_t lo =
	        TK_FIND_FIRST(h->setting_count, i, by_machine_and_day(&h->settings[i], &key) <= 0);

	return lo && strcmp(h->settings[lo - 1].machine, machine) == 0 ? h->settings[lo - 1].driver
	                                                               : "";
}

static void set_environments(struct histories *h)
{
	tk_sort(h->settings, h->setting_count, sizeof *h->settings, by_machine_and_day);
	h->environment = tk_calloc(h->point_count + 1, sizeof *h->environment);
	for (size_t i = 0; i < h->point_count; i++) {
		struct tk_series_history *s = &h->series[h->points[i].series];

		h->environment[i] = find_driver(h, s->machine, h->day[i]);
		s->environment = h->environment + (s->day - h->day);
	}
}

static int read_histories(struct histories *h, struct tk_error *err)
{
	static const char *const points[] = {"series_id", "day", "value", NULL},
	                         *const machines[] = {"series_id", "machine", NULL},
	                         *const settings[] = {"machine", "day", "driver", NULL};

	*h = (struct histories){.names = json_object(), .words = json_object()};
	TRY(read_file(h, opt.path, points, "commit", add_point, err));
	make_series(h);
	if (opt.meta)
		TRY(read_file(h, opt.meta, machines, NULL, add_machine, err));
	if (!opt.env)
		return TK_OK;
	TRY(read_file(h, opt.env, settings, NULL, add_setting, err));
	set_environments(h);
	return TK_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* A table for people or an object for programs. */
struct report {
	struct histories h;
	size_t changes;
	struct tk_table *table;
	json_t *object;
};

static void report_free(struct report *r)
{
	json_decref(r->h.names);
	json_decref(r->h.words);
	free(r->h.points);
	free(r->h.series);
	free(r->h.settings);
	free(r->h.value);
	free(r->h.day);
	free(r->h.environment);
	tk_table_free(r->table);
	json_decref(r->object);
}

/* As the file has its days: a date where one of them is a date, else the number. */
static void set_day(struct report *r, const char *column, size_t i, size_t index)
{
	const int64_t day = r->h.series[i].day[index];
	char text[TK_TIME_ISO_SIZE];

	if (r->h.has_dates && day > -DATE_DAYS_MAX && day < DATE_DAYS_MAX)
		tk_time_format_day(day * DAY_S, text);
	else
		snprintf(text, sizeof text, "%" PRId64, day);
	tk_table_set_cell(r->table, column, "%s", text);
}

static void add_row(struct report *r, size_t i, size_t index, double before, double after)
{
	const struct tk_series_history *s = &r->h.series[i];

	r->changes++;
	tk_table_add_row(r->table);
	tk_table_set_cell(r->table, "SERIES", "%s", s->id);
	set_day(r, "DAY", i, index);
	tk_table_set_cell(r->table, "COMMIT", "%.12s",
	        r->h.points[(size_t)(s->day - r->h.day) + index].commit);
	tk_table_set_cell(r->table, "BEFORE", "%.6g", before);
	tk_table_set_cell(r->table, "AFTER", "%.6g", after);
	tk_table_set_cell(r->table, "CHANGE", "%+.1f %%", 100 * (after / before - 1));
}

static int add_list(struct report *r, size_t i, json_t *list, struct tk_error *err)
{
	if (json_object_set_new(r->object, r->h.series[i].id, list) && opt.json)
		return tk_fail(
		        err, TK_EDATA, "series %.80s: its name is not UTF-8", r->h.series[i].id);
	return TK_OK;
}

static int report_all(struct report *r, struct tk_error *err)
{
	for (size_t i = 0; i < r->h.count; i++) {
		const struct tk_series_history *s = &r->h.series[i];
		struct tk_changepoint *found;
		json_t *list = json_array();
		size_t count;

		tk_changepoint_find(
		        s->value, s->day, s->n, TK_CHANGEPOINT_MIN_EFFECT, &found, &count);
		for (size_t k = 0; k < count; k++) {
			json_array_append_new(list, json_integer((json_int_t)found[k].index));
			add_row(r, i, found[k].index, found[k].before, found[k].after);
		}
		free(found);
		TRY(add_list(r, i, list, err));
	}
	return TK_OK;
}

static int report_nights(struct report *r, struct tk_error *err)
{
	const struct tk_detect_options o = {
	        .min_effect = TK_CHANGEPOINT_MIN_EFFECT, .fdr = 0.05, .window = 20};
	struct tk_alarms *alarms = tk_calloc(r->h.count + 1, sizeof *alarms);
	int status = tk_series_history_replay(r->h.series, r->h.count, &o, alarms, err);

	for (size_t i = 0; !status && i < r->h.count; i++) {
		json_t *list = json_array();

		for (size_t k = 0; k < alarms[i].count; k++) {
			const struct tk_alarm *a = &alarms[i].at[k];

			json_array_append_new(list,
			        json_pack("[I, I]", (json_int_t)a->night, (json_int_t)a->index));
			add_row(r, i, a->index, a->before, a->after);
			set_day(r, "REPORTED", i, a->night);
			if (a->retracted)
				set_day(r, "RETRACTED", i, a->retracted);
		}
		status = add_list(r, i, list, err);
	}
	tk_alarms_free(alarms, r->h.count);
	free(alarms);
	return status;
}

static int run_changepoints(struct tk_globals *g, struct tk_error *err)
{
	AUTO(report) r = {.table = tk_table_new(g, columns), .object = json_object()};

	TRY(read_histories(&r.h, err));
	TRY(opt.online ? report_nights(&r, err) : report_all(&r, err));
	if (opt.json)
		return tk_json_write(json_incref(r.object), JSON_COMPACT, stdout, err);
	TRY(tk_table_print(r.table, stdout, err));
	printf("changepoints: %zu series, %zu level change%s\n", r.h.count, r.changes,
	        r.changes == 1 ? "" : "s");
	return TK_OK;
}

const struct tk_command tk_command_changepoints = {.name = "changepoints",
        .summary = "find the level changes of histories in a CSV file",
        .usage = {.options = options,
                .arguments = "FILE.csv",
                .surplus = "expected one FILE",
                .help = "Find the level changes of the histories in FILE with the detector that "
                        "runs after every night, so that it can be scored. FILE has a header "
                        "with series_id, day (a number or a date), value and, optionally, "
                        "commit. Rows may be in any order: the days order a series.\v"
                        "--format=json prints {\"SERIES\": [INDEX, ...]}; with --online "
                        "{\"SERIES\": [[NIGHT, INDEX], ...]}. Positions count the points of a "
                        "series from 0, in the order of their days (those of one day in the "
                        "order of the file): the night of the report and the first point at the "
                        "new level. A value that is not finite or not above 0 is missing; "
                        "positions still count it.\n\n"
                        "Examples:\n"
                        "  tracker changepoints history.csv\n"
                        "  tracker changepoints history.csv --online --env=env.csv "
                        "--meta=meta.csv --format=json"},
        .run = run_changepoints};
