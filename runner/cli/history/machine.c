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
#include "cli/records.h"
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

static const char list_sql[] =
        "SELECT name, (SELECT count(*) FROM device WHERE machine_id = m.id) AS devices,"
        "  (SELECT count(*) FROM series_v WHERE machine_id = m.id) AS series,"
        "  (SELECT count(*) FROM night WHERE machine_id = m.id) AS nights,"
        "  (SELECT max(as_of_s) FROM night WHERE machine_id = m.id) AS \"newest:time\""
        " FROM machine m ORDER BY m.name";

static const struct tk_column columns[] = {
        {"MACHINE", TK_COLUMN_CUT, "name", 0, NULL},
        {"DEVICES", TK_COLUMN_RIGHT, "devices", 0, NULL},
        {"SERIES", TK_COLUMN_RIGHT, "series", 0, NULL},
        {"NIGHTS", TK_COLUMN_RIGHT, "nights", 0, NULL},
        {"NEWEST", TK_COLUMN_LEFT, "newest", TK_SHOW_DAY, NULL},
        {0},
};

static int list(const struct tk_globals *g, struct tk_error *err)
{
	json_t *rows;
	int status = tk_records_select(g->store, list_sql, TK_NO_ARGS, &rows, err);

	if (!status)
		return tk_records_print(g, columns, rows, opt.json, NULL, err);
	json_decref(rows);
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
	return is_rename ? rename_machine(g->store, &opt, err) : list(g, err);
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
