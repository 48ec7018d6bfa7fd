/* `tracker tune --list`: the stored tunings. The schema of the JSON is in
 * docs/reference/tune.md. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/markup.h"
#include "cli/stored_place.h"
#include "cli/table.h"
#include "cli/tune/print.h"
#include "cli/tune/print_rules.h"
#include "store/tuning.h"
#include "store/tuning_state.h"

#define SCHEMA "tracker-tunings/1"

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT},
        {"BACKEND", TK_COLUMN_CUT},
        {"DEVICE", TK_COLUMN_CUT},
        {"REVISION", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"WHEN", TK_COLUMN_DROP(2)},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"VERDICT", TK_COLUMN_LEFT},
        {"STALE", TK_COLUMN_OPTIONAL},
        {"CONFIGURATION", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL},
        {0},
};

static void add_row(struct tk_table *t, const struct tk_lookup *l, const struct tk_tuning_row *row,
        enum tk_tune_state state)
{
	char day[TK_TIME_ISO_SIZE], change[TK_FORMAT_SIZE], range[TK_FORMAT_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "PROBLEM", "%s", tk_lookup_problem(l, row->problem_id)->title);
	tk_table_set_cell(t, "BACKEND", "%s", row->backend);
	tk_table_set_cell(t, "DEVICE", "%s", tk_lookup_device(l, row->device_id)->slug);
	tk_table_set_cell(t, "REVISION", "%.12s", row->revision);
	tk_table_set_cell(t, "WHEN", "%s", tk_time_format_day(row->started_s, day));
	if (!isnan(row->change)) {
		tk_format_change(row->change, change);
		tk_format_change_range(row->change, row->change_lo, row->change_hi, range);
		tk_table_set_cell(t, "CHANGE", "%s (%s)", change, range);
	}
	tk_table_set_cell(t, "VERDICT", "%s", tk_tune_verdict_name(row->verdict));
	if (tk_tune_state_is_stale(state))
		tk_table_set_cell(t, "STALE", "%s", tk_tune_state_name(state));
	tk_table_set_cell(t, "CONFIGURATION", "%s", row->config);
}

static json_t *change_object(const struct tk_tuning_row *row)
{
	return isnan(row->change)
	               ? json_null()
	               : json_pack("{s:o, s:o, s:o, s:I}", "value", tk_json_number(row->change),
	                         "lo", tk_json_number(row->change_lo), "hi",
	                         tk_json_number(row->change_hi), "pairs",
	                         (json_int_t)row->pair_count);
}

static json_t *row_object(
        const struct tk_lookup *l, const struct tk_tuning_row *row, enum tk_tune_state state)
{
	char when[TK_TIME_ISO_SIZE];
	json_t *o = tk_stored_place_json(l, row->device_id, row->environment_id, row->problem_id);
	json_t *result = json_pack(
	        "{s:s, s:s, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
	        "uid", row->uid, "started", tk_time_format_iso(row->started_s, when), "upstream",
	        tk_json_text(row->upstream), "revision", tk_json_text(row->revision),
	        "artifact_key", row->artifact_key, "backend", row->backend, "options",
	        tk_json_text(row->options), "mode", row->mode, "config", tk_json_text(row->config),
	        "winner", tk_json_text(row->winner), "default_ns", tk_json_number(row->default_ns),
	        "winner_ns", tk_json_number(row->winner_ns), "change", change_object(row),
	        "evaluations", (json_int_t)row->evaluation_count, "candidates",
	        tk_stored_json(row->candidates));

	json_object_set_new(o, "state", json_string(tk_tune_state_name(state)));
	json_object_set_new(o, "verdict", json_string(tk_tune_verdict_name(row->verdict)));
	json_object_update(o, result);
	json_decref(result);
	return o;
}

static int print_json(const struct tk_lookup *l, const struct tk_tuning_history *h,
        const struct tk_rows *rows, const char *of, struct tk_error *err)
{
	json_t *list = json_array(), *rules = NULL;
	int status = TK_OK;

	for (size_t i = 0; !status && i < rows->count; i++) {
		const struct tk_tuning_row *row = TK_ROWS_AT(rows, struct tk_tuning_row, i);
		enum tk_tune_state state = TK_TUNE_STATE_UNKNOWN;

		if (!tk_tune_is_chosen(row, of))
			continue;
		status = tk_tuning_state(h, row, &state, err);
		json_array_append_new(list, row_object(l, row, state));
	}
	if (!status)
		status = tk_tune_rules_json(l, rows, of, &rules, err);
	if (!status)
		return tk_command_print_json(json_pack("{s:s, s:o, s:o}", "schema", SCHEMA, "rows",
		                                     list, "rules", rules),
		        err);
	json_decref(list);
	json_decref(rules);
	return status;
}

static int print_text(const struct tk_globals *g, const struct tk_lookup *l,
        const struct tk_tuning_history *h, const struct tk_rows *rows, const char *of,
        struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	int status = TK_OK;

	for (size_t i = 0; !status && i < rows->count; i++) {
		const struct tk_tuning_row *row = TK_ROWS_AT(rows, struct tk_tuning_row, i);
		enum tk_tune_state state = TK_TUNE_STATE_UNKNOWN;

		if (!tk_tune_is_chosen(row, of))
			continue;
		status = tk_tuning_state(h, row, &state, err);
		add_row(t, l, row, state);
	}
	if (!status && !tk_table_row_count(t))
		puts("nothing is stored; `tracker tune BACKEND PROBLEM` tunes a kernel");
	if (!status)
		status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status ? status : tk_tune_print_rules(l, rows, of, err);
}

int tk_tune_list(const struct tk_globals *g, struct tk_store *s, const char *of, bool json,
        struct tk_error *err)
{
	struct tk_lookup l = {0};
	struct tk_tuning_history h = {0};
	struct tk_rows rows = {0};
	int status = tk_lookup_load(s, &l, err);

	if (!status)
		status = tk_tuning_history_load(s, &h, err);
	if (!status)
		status = tk_store_list(s, TK_TABLE_tuning, NULL, TK_NO_ARGS, &rows, err);
	if (!status)
		status = json ? print_json(&l, &h, &rows, of, err)
		              : print_text(g, &l, &h, &rows, of, err);
	tk_rows_free(&rows);
	tk_tuning_history_free(&h);
	tk_lookup_free(&l);
	return status;
}
