/* `tracker machine`: the machines of the history, and another name for one of them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "detect/detect.h"
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
	const struct tk_machine_row *row;
	size_t devices, series, nights;
	int64_t newest_s; /* 0: no night */
};

static void summarize(const struct tk_lookup *l, const struct tk_rows *nights,
        const struct tk_machine_row *row, struct machine_summary *out)
{
	*out = (struct machine_summary){.row = row};
	for (size_t i = 0; i < l->devices.rows.count; i++)
		out->devices += TK_ROWS_AT(&l->devices.rows, struct tk_device_row, i)->machine_id ==
		                row->id;
	for (size_t i = 0; i < l->series.rows.count; i++) {
		const struct tk_device_row *device = tk_lookup_device(
		        l, TK_ROWS_AT(&l->series.rows, struct tk_series_row, i)->device_id);

		out->series += device && device->machine_id == row->id;
	}
	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *night = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (night->machine_id != row->id)
			continue;
		out->nights++;
		if (night->as_of_s > out->newest_s)
			out->newest_s = night->as_of_s;
	}
}

static void add_row(struct tk_table *t, const struct machine_summary *m)
{
	char day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "MACHINE", "%s", m->row->name);
	tk_table_set_cell(t, "DEVICES", "%zu", m->devices);
	tk_table_set_cell(t, "SERIES", "%zu", m->series);
	tk_table_set_cell(t, "NIGHTS", "%zu", m->nights);
	if (m->newest_s)
		tk_table_set_cell(t, "NEWEST", "%s", tk_time_format_day(m->newest_s, day));
}

static json_t *to_json(const struct machine_summary *m)
{
	char time[TK_TIME_ISO_SIZE];

	return json_pack("{s:s,s:I,s:I,s:I,s:o}", "name", m->row->name, "devices",
	        (json_int_t)m->devices, "series", (json_int_t)m->series, "nights",
	        (json_int_t)m->nights, "newest",
	        m->newest_s ? json_string(tk_time_format_iso(m->newest_s, time)) : json_null());
}

static int print_list(const struct tk_globals *g, const struct machine_options *o,
        const struct tk_lookup *l, const struct tk_rows *nights, struct tk_error *err)
{
	static const struct tk_column columns[] = {{"MACHINE", TK_COLUMN_CUT},
	        {"DEVICES", TK_COLUMN_RIGHT}, {"SERIES", TK_COLUMN_RIGHT},
	        {"NIGHTS", TK_COLUMN_RIGHT}, {"NEWEST", TK_COLUMN_LEFT}, {NULL, 0}};
	struct tk_table *table = o->json ? NULL : tk_table_new(g, columns);
	json_t *json = o->json ? json_array() : NULL;
	int status;

	for (size_t i = 0; i < l->machines.rows.count; i++) {
		struct machine_summary m;

		summarize(l, nights, TK_ROWS_AT(&l->machines.rows, struct tk_machine_row, i), &m);
		if (o->json)
			json_array_append_new(json, to_json(&m));
		else
			add_row(table, &m);
	}
	status = o->json ? tk_command_print_json(json, err) : tk_table_print(table, stdout, err);
	tk_table_free(table);
	return status;
}

static int list(const struct tk_globals *g, const struct machine_options *o, struct tk_store *s,
        struct tk_error *err)
{
	struct tk_lookup lookup = {0};
	struct tk_rows nights = {0};
	int status = tk_lookup_load(s, &lookup, err);

	if (!status)
		status = tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err);
	if (!status)
		status = print_list(g, o, &lookup, &nights, err);
	tk_rows_free(&nights);
	tk_lookup_free(&lookup);
	return status;
}

/* ---- rename ---------------------------------------------------------------------------------- */

static int check_known(struct tk_store *s, const char *name, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];
	struct tk_rows machines = {0};
	int status = tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, err);
	const char **names = status ? NULL : tk_calloc(machines.count + 1, sizeof *names);
	bool is_known = false;

	if (!status && !names)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < machines.count; i++) {
		names[i] = TK_ROWS_AT(&machines, struct tk_machine_row, i)->name;
		is_known = is_known || strcmp(names[i], name) == 0;
	}
	if (!status && !is_known)
		status = tk_fail(err, TK_EUSAGE, "unknown machine \"%.100s\"%s", name,
		        tk_suggest_hint(name, names,
		                machines.count ? NULL : "; the history has none", hint));
	free(names);
	tk_rows_free(&machines);
	return status;
}

/* Takes the lock of the history: a running night writes rows of the machine. */
static int rename_locked(struct tk_store *s, const struct machine_options *o, struct tk_error *err)
{
	struct tk_lock *lock = NULL;
	int status = tk_store_lock(tk_store_path(s), &lock, err);

	if (!status)
		status = tk_detect_rename_machine(s, o->old_name, o->new_name, err);
	tk_lock_release(lock);
	return status;
}

static int rename_machine(struct tk_store *s, const struct tk_config *config,
        const struct machine_options *o, struct tk_error *err)
{
	int status = check_known(s, o->old_name, err);

	if (!status)
		status = rename_locked(s, o, err);
	if (status)
		return status;
	printf("renamed %s to %s; run `tracker site` to update the pages\n", o->old_name,
	        o->new_name);
	if (strcmp(config->machine, o->old_name) == 0)
		fprintf(stderr,
		        "tracker machine: this machine is still called \"%s\"; set \"machine: %s\" "
		        "in tracker.yml, or its next night starts a new history\n",
		        o->old_name, o->new_name);
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
	return is_rename ? rename_machine(g->store, g->config, &opt, err)
	                 : list(g, &opt, g->store, err);
}

const struct tk_command tk_command_machine = {.name = "machine",
        .summary = "list the machines of the history, rename one",
        .usage = {.options = options,
                .arguments = "[list]\nrename OLD NEW",
                .help = "List the machines of the history, or rename one.\v"
                        "A renamed machine keeps its history: nights, series, alerts and what "
                        "people decided about them. Names of series start with the machine's "
                        "name and change with it. Set `machine: NEW` in tracker.yml of that "
                        "machine too, unless its host name is NEW. A night that is running must "
                        "end first.\n\n"
                        "A file of another history or a bundle that still has the old name is "
                        "merged as another machine; rename it there first.\n\n"
                        "Examples:\n"
                        "  tracker machine\n"
                        "  tracker machine rename bench-01 bench-02\n"
                        "  tracker --db=old.db machine rename bench-01 bench-02"},
        .run = run_machine};
