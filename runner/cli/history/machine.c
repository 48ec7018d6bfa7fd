/* `tracker machine`: the machines of the history, and another name for one of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "store/lock.h"
#include "store/store.h"

static struct machine_options {
	const char *action, *old_name, *new_name;
	bool json;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_JSON(&opt.json, "list: print text (default) or JSON")},
        {TK_OPT_ARGUMENT(&opt.action, NULL)},
        {TK_OPT_ARGUMENT(&opt.old_name, NULL)},
        {TK_OPT_ARGUMENT(&opt.new_name, NULL)},
        {0},
};

/* ---- list ------------------------------------------------------------------------------------ */

struct machine_summary {
	const char *name;
	int64_t devices, series, nights, newest_s; /* newest_s 0: no night */
};
#define SUMMARY(member) TK_MEMBER(struct machine_summary, member)
static const struct tk_db_column summary_columns[] = {
        SUMMARY(name), SUMMARY(devices), SUMMARY(series), SUMMARY(nights), SUMMARY(newest_s)};
static const struct tk_row_type summary_type = TK_ROW_TYPE(struct machine_summary, summary_columns);

static const char summary_sql[] =
        "SELECT m.name, (SELECT count(*) FROM device WHERE machine_id=m.id) AS devices,"
        " (SELECT count(*) FROM series_v WHERE machine_id=m.id) AS series,"
        " (SELECT count(*) FROM night WHERE machine_id=m.id) AS nights,"
        " (SELECT max(as_of_s) FROM night WHERE machine_id=m.id) AS newest_s"
        " FROM machine m ORDER BY m.name";

static void add_row(struct tk_table *t, const struct machine_summary *m)
{
	char day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "MACHINE", "%s", m->name);
	tk_table_set_cell(t, "DEVICES", "%" PRId64, m->devices);
	tk_table_set_cell(t, "SERIES", "%" PRId64, m->series);
	tk_table_set_cell(t, "NIGHTS", "%" PRId64, m->nights);
	if (m->newest_s)
		tk_table_set_cell(t, "NEWEST", "%s", tk_time_format_day(m->newest_s, day));
}

static json_t *to_json(const struct machine_summary *m)
{
	char time[TK_TIME_ISO_SIZE];

	return json_pack("{s:s,s:I,s:I,s:I,s:o}", "name", m->name, "devices",
	        (json_int_t)m->devices, "series", (json_int_t)m->series, "nights",
	        (json_int_t)m->nights, "newest",
	        m->newest_s ? json_string(tk_time_format_iso(m->newest_s, time)) : json_null());
}

static int list(const struct tk_globals *g, const struct machine_options *o, struct tk_store *s,
        struct tk_error *err)
{
	static const struct tk_column columns[] = {{"MACHINE", TK_COLUMN_CUT},
	        {"DEVICES", TK_COLUMN_RIGHT}, {"SERIES", TK_COLUMN_RIGHT},
	        {"NIGHTS", TK_COLUMN_RIGHT}, {"NEWEST", TK_COLUMN_LEFT}, {NULL, 0}};
	AUTO(tk_rows) rows = {0};

	TRY(tk_store_select(s, summary_sql, TK_NO_ARGS, &summary_type, &rows, err));
	struct tk_table *table = o->json ? NULL : tk_table_new(g, columns);
	json_t *json = o->json ? json_array() : NULL;

	for (size_t i = 0; i < rows.count; i++) {
		const struct machine_summary *m = TK_ROWS_AT(&rows, struct machine_summary, i);

		if (o->json)
			json_array_append_new(json, to_json(m));
		else
			add_row(table, m);
	}
	int status =
	        o->json ? tk_command_print_json(json, err) : tk_table_print(table, stdout, err);

	tk_table_free(table);
	return status;
}

/* ---- rename ---------------------------------------------------------------------------------- */

static int check_known(struct tk_store *s, const char *name, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];
	AUTO(tk_rows) machines = {0};
	bool is_known = false;

	TRY(tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, err));
	const char **names = tk_calloc(machines.count + 1, sizeof *names);

	for (size_t i = 0; i < machines.count; i++) {
		names[i] = TK_ROWS_AT(&machines, struct tk_machine_row, i)->name;
		is_known = is_known || strcmp(names[i], name) == 0;
	}
	int status =
	        is_known ? 0
	                 : tk_fail(err, TK_EUSAGE, "unknown machine \"%.100s\"%s", name,
	                           tk_suggest_hint(name, names,
	                                   machines.count ? NULL : "; the history has none", hint));

	free(names);
	return status;
}

/* Takes the lock of the history: a running night writes rows of the machine. */
static int rename_locked(struct tk_store *s, const struct machine_options *o, struct tk_error *err)
{
	struct tk_lock *lock = NULL;
	int status = tk_store_lock(tk_store_path(s), &lock, err);

	if (!status)
		status = tk_store_rename_machine(s, o->old_name, o->new_name, err);
	tk_lock_release(lock);
	return status;
}

static int rename_machine(struct tk_store *s, const struct machine_options *o, struct tk_error *err)
{
	TRY(check_known(s, o->old_name, err));
	TRY(rename_locked(s, o, err));
	printf("renamed %s to %s; run `tracker site` to update the pages\n", o->old_name,
	        o->new_name);
	return TK_OK;
}

/* ---- command --------------------------------------------------------------------------------- */

static int check_arguments(const struct machine_options *o, bool is_rename, struct tk_error *err)
{
	static const char *const actions[] = {"list", "rename", NULL};

	if (o->action && !is_rename && strcmp(o->action, "list") != 0)
		return tk_options_fail_action(o->action, actions, err);
	if (is_rename && !o->new_name)
		return tk_fail(err, TK_EUSAGE, "rename: expected the old and the new name");
	if (is_rename && o->json)
		return tk_fail(err, TK_EUSAGE, "rename: --format belongs to list");
	if (!is_rename && o->old_name)
		return tk_fail(err, TK_EUSAGE, "list: unexpected argument \"%s\"", o->old_name);
	return TK_OK;
}

static int run_machine(struct tk_globals *g, struct tk_error *err)
{
	bool is_rename = opt.action && strcmp(opt.action, "rename") == 0;

	TRY(check_arguments(&opt, is_rename, err));
	TRY(tk_command_open(g, is_rename ? TK_OPENS_WRITE : TK_OPENS_READ, err));
	return is_rename ? rename_machine(g->store, &opt, err) : list(g, &opt, g->store, err);
}

const struct tk_command tk_command_machine = {.name = "machine",
        .summary = "list the machines of the history, rename one",
        .usage = {.options = options,
                .arguments = "[list]\nrename OLD NEW",
                .help = "List the machines of the history, or rename one.\v"
                        "A renamed machine keeps its history: nights, series, alerts and what "
                        "people decided about them. Names of series start with the machine's "
                        "name and change with it. A host that still has the old name in "
                        "tracker.yml goes on as the renamed machine, and where histories are "
                        "merged the newest name counts. A night that is running must end "
                        "first.\n\n"
                        "Examples:\n"
                        "  tracker machine\n"
                        "  tracker machine rename bench-01 bench-02"},
        .run = run_machine};
