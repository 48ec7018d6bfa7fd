/* `tracker changepoints`: the level changes of histories in a CSV file, so that the detector can be
 * scored. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/history/history_csv.h"
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

/* The result: a table for people or an object for programs. */
struct report {
	const struct tk_history_csv *histories;
	const struct tk_series_history *series;
	size_t count, changes;
	struct tk_table *table;
	json_t *object;
};

static void set_day(struct report *r, const char *column, size_t i, size_t index)
{
	char day[TK_TIME_ISO_SIZE];

	tk_table_set_cell(r->table, column, "%s",
	        tk_history_csv_format_day(r->histories, r->series[i].day[index], day));
}

static void add_row(struct report *r, size_t i, size_t index, double before, double after)
{
	r->changes++;
	if (!r->table)
		return;
	tk_table_add_row(r->table);
	tk_table_set_cell(r->table, "SERIES", "%s", r->series[i].id);
	set_day(r, "DAY", i, index);
	tk_table_set_cell(
	        r->table, "COMMIT", "%.12s", tk_history_csv_commit(r->histories, i, index));
	tk_table_set_cell(r->table, "BEFORE", "%.6g", before);
	tk_table_set_cell(r->table, "AFTER", "%.6g", after);
	tk_table_set_cell(r->table, "CHANGE", "%+.1f %%", 100 * (after / before - 1));
}

static int add_list(struct report *r, size_t i, json_t *list, struct tk_error *err)
{
	if (!r->object) {
		json_decref(list);
		return TK_OK;
	}
	if (json_object_set_new(r->object, r->series[i].id, list))
		return tk_fail(
		        err, TK_EDATA, "series %.80s: its name is not UTF-8", r->series[i].id);
	return TK_OK;
}

static int report_all(struct report *r, struct tk_error *err)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_series_history *s = &r->series[i];
		struct tk_changepoint *found;
		size_t count;
		json_t *list = json_array();

		tk_changepoint_find(s->value, s->day, s->n, NULL, &found, &count);
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
	        .min_effect = tk_changepoint_defaults.min_effect, .fdr = 0.05, .window = 20};
	struct tk_alarms *alarms = tk_calloc(r->count + 1, sizeof *alarms);
	int status = tk_series_history_replay(r->series, r->count, &o, alarms, err);

	for (size_t i = 0; !status && i < r->count; i++) {
		json_t *list = json_array();

		for (size_t k = 0; k < alarms[i].count; k++) {
			const struct tk_alarm *a = &alarms[i].at[k];

			json_array_append_new(list,
			        json_pack("[I, I]", (json_int_t)a->night, (json_int_t)a->index));
			add_row(r, i, a->index, a->before, a->after);
			if (!r->table)
				continue;
			set_day(r, "REPORTED", i, a->night);
			if (a->retracted)
				set_day(r, "RETRACTED", i, a->retracted);
		}
		status = add_list(r, i, list, err);
	}
	tk_alarms_free(alarms, r->count);
	free(alarms);
	return status;
}

static int print(const struct report *r, struct tk_error *err)
{
	if (r->object) {
		json_dumpf(r->object, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		TRY(tk_table_print(r->table, stdout, err));
		printf("changepoints: %zu series, %zu level change%s\n", r->count, r->changes,
		        r->changes == 1 ? "" : "s");
	}
	return fflush(stdout) == 0 ? TK_OK : tk_fail_errno(err, "cannot write to stdout");
}

static int run_changepoints(struct tk_globals *g, struct tk_error *err)
{
	struct tk_history_csv *histories = NULL;
	struct report r = {0};
	int status;

	status = tk_history_csv_read(opt.path, opt.env, opt.meta, &histories, err);
	if (!status) {
		r.histories = histories;
		r.series = tk_history_csv_series(histories, &r.count);
		r.table = opt.json ? NULL : tk_table_new(g, columns);
		r.object = opt.json ? json_object() : NULL;
		status = opt.online ? report_nights(&r, err) : report_all(&r, err);
	}
	if (!status)
		status = print(&r, err);
	tk_table_free(r.table);
	json_decref(r.object);
	tk_history_csv_free(histories);
	return status;
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
