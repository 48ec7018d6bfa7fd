/* `tracker tune --list`: the stored tunings, and the rules that they give. The schema of the JSON
 * is in docs/reference/tune.md. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/tune/print.h"
#include "store/tuning.h"

#define SCHEMA "tracker-tunings/1"

/* In the order of the table `tuning`. */
static const char list_sql[] =
        "SELECT p.text AS problem, p.title, m.name AS machine, d.slug AS device,"
        "  d.name AS device_name, e.attributes AS \"environment:json\", t.verdict, t.uid,"
        "  t.started_s AS \"started:time\", t.upstream AS \"upstream:text\","
        "  t.revision AS \"revision:text\", t.artifact_key, t.backend,"
        "  t.options AS \"options:text\", t.mode, t.config AS \"config:text\","
        "  t.winner AS \"winner:text\", t.default_ns, t.winner_ns, t.change AS \"change.value\","
        "  t.change_lo AS \"change.lo\", t.change_hi AS \"change.hi\", t.pair_count AS pairs,"
        "  t.evaluation_count AS evaluations, t.candidates AS \"candidates:json\""
        " FROM tuning t JOIN problem p ON p.id = t.problem_id JOIN device d ON d.id = t.device_id"
        "  JOIN machine m ON m.id = d.machine_id JOIN environment e ON e.id = t.environment_id"
        " ORDER BY t.started_s DESC, t.id DESC";

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        {"BACKEND", TK_COLUMN_CUT, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT, "device", 0, NULL},
        {"REVISION", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "revision", TK_SHOW_SHORT, NULL},
        {"WHEN", TK_COLUMN_DROP(2), "started", TK_SHOW_DAY, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "change", TK_SHOW_ESTIMATE, NULL},
        {"VERDICT", TK_COLUMN_LEFT, "verdict", 0, NULL},
        {"STALE", TK_COLUMN_OPTIONAL, NULL, 0, NULL},
        {"CONFIGURATION", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL, "config", 0, NULL},
        {0},
};

/* What rules name. */
struct names {
	struct tk_id_table problems, devices;
};

static const char *device_name(const struct names *l, const struct tk_tuning_row *row)
{
	return ((const struct tk_device_row *)tk_id_table_find(&l->devices, row->device_id))->slug;
}

/* ---- rules ----------------------------------------------------------------------------------- */

#define TEXT_SIZE 400

/* ---- JSON ---- */

static json_t *steps_array(const struct tk_tune_rule *rule)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < rule->count; i++) {
		const struct tk_tune_step *s = &rule->steps[i];

		json_array_append_new(
		        steps, json_pack("{s:o, s:I, s:I}", "use", tk_json_text(s->choice), "from",
		                       (json_int_t)s->from, "to", (json_int_t)s->to));
	}
	return steps;
}

static json_t *rule_object(const struct names *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rule *rule)
{
	char text[TEXT_SIZE];

	return json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "chooses",
	        by_backend ? "backend" : "config", "backend",
	        by_backend ? json_null() : tk_json_text(of->backend), "upstream",
	        by_backend ? json_null() : tk_json_text(of->upstream), "device", device_name(l, of),
	        "mode", of->mode, "options", by_backend ? json_null() : tk_json_text(of->options),
	        "size", rule->key, "sweep", tk_json_text(rule->sweep), "rule",
	        tk_json_text(tk_tune_rule_format(rule, text, sizeof text)), "steps",
	        steps_array(rule));
}

/* ---- text ---- */

static void print_text(const struct names *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rule *rule)
{
	char text[TEXT_SIZE];

	printf("%s on %s, %s, ", by_backend ? "fastest tuned backend" : of->backend,
	        device_name(l, of), of->mode);
	tk_text_write_sanitized(stdout, rule->sweep, "");
	printf(": ");
	tk_text_write_sanitized(stdout, tk_tune_rule_format(rule, text, sizeof text), "");
	putchar('\n');
}

/* ---- all groups ---- */

/* list: NULL for text. */
static void put_rules(const struct names *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rules *rules, json_t *list)
{
	for (size_t i = 0; i < rules->count; i++)
		if (list)
			json_array_append_new(list, rule_object(l, of, by_backend, &rules->at[i]));
		else
			print_text(l, of, by_backend, &rules->at[i]);
}

static bool is_chosen(const struct tk_tuning_row *row, const char *of)
{
	return !of || !strcmp(row->backend, of) || !strcmp(row->upstream, of);
}

static int put_group(const struct names *l, const struct tk_tuning_groups *groups, size_t index,
        const char *of, json_t *list, struct tk_error *err)
{
	const struct tk_tuning_group *group = &groups->at[index];
	struct tk_tune_rules rules = {0};
	int status = TK_OK;

	if (is_chosen(group->rows[0], of)) {
		status = tk_tuning_find_rules(NULL, group, &l->problems.by_id, &rules, err);
		put_rules(l, group->rows[0], false, &rules, list);
		tk_tune_rules_free(&rules);
	}
	if (status || of || !tk_tuning_groups_is_first_at_place(groups, index))
		return status;
	status = tk_tuning_find_rules(groups, group, &l->problems.by_id, &rules, err);
	put_rules(l, group->rows[0], true, &rules, list);
	tk_tune_rules_free(&rules);
	return status;
}

static int put_all(const struct names *l, const struct tk_rows *tunings, const char *of,
        json_t *list, struct tk_error *err)
{
	AUTO(tk_tuning_groups) groups = {0};
	tk_tuning_groups_make(tunings, &groups);
	for (size_t i = 0; i < groups.count; i++)
		TRY(put_group(l, &groups, i, of, list, err));
	return TK_OK;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Keeps the rows of `of`, each with the state of its tuning, which is the one at the same place. */
static int add_states(struct tk_store *s, const struct tk_rows *tunings, const char *of,
        json_t *all, json_t *chosen, struct tk_error *err)
{
	for (size_t i = 0; i < tunings->count; i++) {
		const struct tk_tuning_row *row = TK_ROWS_AT(tunings, struct tk_tuning_row, i);
		json_t *record = json_array_get(all, i);
		enum tk_tune_state state;

		if (!is_chosen(row, of))
			continue;
		TRY(tk_tuning_state(s, row, &state, err));
		json_object_set_new(record, "state", json_string(tk_tune_state_name(state)));
		json_object_set_new(record, "stale", json_boolean(tk_tune_state_is_stale(state)));
		json_array_append(chosen, record);
	}
	return TK_OK;
}

static int print_table(const struct tk_globals *g, const json_t *rows, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		tk_table_add_record(t, row);
		if (json_is_true(json_object_get(row, "stale")))
			tk_table_set_cell(t, "STALE", "%s", tk_record_text(row, "state"));
	}
	if (!json_array_size(rows))
		puts("nothing is stored; `tracker tune BACKEND PROBLEM` tunes a kernel");
	return tk_table_finish(t, stdout, err);
}

struct list {
	struct names names;
	struct tk_rows tunings;
	json_t *all, *chosen;
};

static void list_free(struct list *l)
{
	tk_id_table_free(&l->names.problems);
	tk_id_table_free(&l->names.devices);
	tk_rows_free(&l->tunings);
	json_decref(l->all);
	json_decref(l->chosen);
}

int tk_tune_list(const struct tk_globals *g, struct tk_store *s, const char *of, bool json,
        struct tk_error *err)
{
	__attribute__((cleanup(list_free))) struct list l = {.chosen = json_array()};
	json_t *rules;

	TRY(tk_id_table_load(&l.names.problems, s, TK_TABLE_problem, err));
	TRY(tk_id_table_load(&l.names.devices, s, TK_TABLE_device, err));
	TRY(tk_store_list(s, TK_TABLE_tuning, NULL, TK_NO_ARGS, &l.tunings, err));
	TRY(tk_records_select(s, list_sql, TK_NO_ARGS, &l.all, err));
	TRY(add_states(s, &l.tunings, of, l.all, l.chosen, err));
	if (!json) {
		TRY(print_table(g, l.chosen, err));
		return put_all(&l.names, &l.tunings, of, NULL, err);
	}
	rules = json_array();
	int status = put_all(&l.names, &l.tunings, of, rules, err);
	if (!status)
		return tk_command_print_json(json_pack("{s:s, s:O, s:o}", "schema", SCHEMA, "rows",
		                                     l.chosen, "rules", rules),
		        err);
	json_decref(rules);
	return status;
}
