/* What `tracker tune` prints of its report: one row per problem, the counts last; or JSON, whose
 * schema is in docs/reference/tune.md. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/present.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/tune/print.h"
#include "core/fields.h"

#define SCHEMA "tracker-tune/1"

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *config_name(const struct tk_tune_row *row, size_t index)
{
	return index < row->count ? tk_json_text(row->candidates[index].config) : json_null();
}

static json_t *make_chosen(const void *row, const void *context)
{
	(void)context;
	return config_name(row, ((const struct tk_tune_row *)row)->chosen);
}

static json_t *make_winner(const void *row, const void *context)
{
	(void)context;
	return config_name(row, ((const struct tk_tune_row *)row)->winner);
}

static json_t *make_candidates(const void *row, const void *context)
{
	(void)context;
	return tk_tune_candidates_json(row);
}

#define ROW struct tk_tune_row
static const struct tk_field row_fields[] = {
        {TK_FIELD_WORDS("verdict", ROW, verdict, tk_tune_verdict_words)},
        {TK_FIELD(TEXT, "problem", ROW, ab.problem)},
        {TK_FIELD(TEXT, "title", ROW, ab.title)},
        {TK_FIELD(TEXT, "backend", ROW, ab.backend)},
        {TK_FIELD(TEXT, "device", ROW, ab.device)},
        {TK_FIELD(TEXT, "mode", ROW, ab.mode)},
        {TK_FIELD_MAKE(MADE, "config", make_chosen)},
        {TK_FIELD_MAKE(MADE, "winner", make_winner)},
        {TK_FIELD(REAL, "default_ns", ROW, ab.level_ns[TK_AB_BASE])},
        {TK_FIELD(REAL, "winner_ns", ROW, ab.level_ns[TK_AB_HEAD])},
        {TK_FIELD_MEMBERS("ab_test", ROW, ab.result, tk_ab_result_fields)},
        {TK_FIELD(TEXT, "message", ROW, ab.message)},
        {TK_FIELD(INT, "evaluations", ROW, evaluations)},
        {TK_FIELD(INT, "exhaustive_evaluations", ROW, exhaustive_evaluations)},
        {TK_FIELD(REAL, "race_s", ROW, race_s)},
        {TK_FIELD(BOOL, "budget_spent", ROW, budget_spent)},
        {TK_FIELD_MAKE(LIST, "candidates", make_candidates)},
        {0},
};
#undef ROW

int tk_tune_write_json(const struct tk_tune_report *r, FILE *out, struct tk_error *err)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(rows, tk_fields_to_json(row_fields, &r->rows[i], NULL));
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:b, s:o, s:o}", "schema",
	        SCHEMA, "machine", tk_json_text(r->ab.machine), "upstream",
	        tk_json_text(r->ab.upstream), "revision",
	        tk_json_text(r->ab.side[TK_AB_BASE].revision.id), "min_effect",
	        tk_json_number(r->ab.min_effect), "evaluations", (json_int_t)r->evaluations,
	        "pairs", (json_int_t)r->ab.pairs, "budget_s",
	        r->ab.budget_s > 0 ? tk_json_number(r->ab.budget_s) : json_null(), "budget_spent",
	        r->ab.budget_spent, "counts", tk_json_counts(&tk_tune_verdict_words, r->by_verdict),
	        "rows", rows);

	return tk_json_write(o, JSON_INDENT(2), out, err);
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *verdict_color(const json_t *row)
{
	static const struct {
		const char *verdict, *color;
	} colors[] = {{"faster", "green"}, {"fixed", "green"}, {"inconclusive", "yellow"},
	        {"slower", "yellow"}, {"failing", "red"}};

	for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
		if (strcmp(tk_record_text(row, "verdict"), colors[i].verdict) == 0)
			return colors[i].color;
	return "halfbright";
}

#define NUMBER(order) (TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(order))
static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        /* an upstream may have several */
        {"BACKEND", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "device", 0, NULL},
        {"DEFAULT", NUMBER(2), NULL, 0, NULL},
        {"WINNER", NUMBER(3), NULL, 0, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "ab_test.change", TK_SHOW_ESTIMATE, NULL},
        {"PAIRS", NUMBER(1), "ab_test.count", TK_SHOW_COUNT, NULL},
        {"TRIED", NUMBER(2), NULL, 0, NULL},
        {"RUNS", NUMBER(1), NULL, 0, NULL},
        {"VERDICT", TK_COLUMN_LEFT, "verdict", 0, verdict_color},
        {"CONFIGURATION", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL, "config", 0, NULL},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4), "message", 0, NULL},
        {0},
};

/* Of the A/B runs; of the race where there were none. */
static double level(const struct tk_tune_row *row, enum tk_ab_side_id side)
{
	size_t index = side == TK_AB_BASE ? 0 : row->winner;

	if (!isnan(row->ab.level_ns[side]) || index >= row->count)
		return row->ab.level_ns[side];
	return row->candidates[index].median_ns;
}

static void add_row(struct tk_table *t, const struct tk_tune_row *row)
{
	json_t *o = tk_fields_to_json(row_fields, row, NULL);

	tk_table_add_record(t, o);
	json_decref(o);
	tk_table_set_value(t, "DEFAULT", level(row, TK_AB_BASE), "ns");
	if (row->winner)
		tk_table_set_value(t, "WINNER", level(row, TK_AB_HEAD), "ns");
	if (!row->count)
		return;
	if (row->failed)
		tk_table_set_cell(t, "TRIED", "%zu, %zu failed", row->count, row->failed);
	else
		tk_table_set_cell(t, "TRIED", "%zu", row->count);
	tk_table_set_cell(t, "RUNS", "%zu of %zu", row->evaluations, row->exhaustive_evaluations);
}

/* Failures of candidates do not fit into a row. */
static void print_failures(const struct tk_tune_row *row, FILE *out)
{
	for (size_t i = 0; i < row->count; i++) {
		const struct tk_tune_candidate *k = &row->candidates[i];

		if (tk_outcome_has_timing(k->outcome) || k->outcome == TK_OUTCOME_SKIPPED ||
		        k->outcome == TK_OUTCOME_UNSUPPORTED)
			continue;
		fprintf(out, "%s, %s: %s: ", row->ab.title, k->config, tk_outcome_name(k->outcome));
		tk_text_write_sanitized(out, k->message, "");
		fputc('\n', out);
	}
}

static void print_summary(const struct tk_tune_report *r, FILE *out)
{
	char took[32];
	const char *separator = "";

	for (int v = 0; v < TK_TUNE_VERDICT_COUNT; v++)
		if (r->by_verdict[v]) {
			fprintf(out, "%s%zu %s", separator, r->by_verdict[v],
			        tk_tune_verdict_name((enum tk_tune_verdict)v));
			separator = ", ";
		}
	fprintf(out, "; %zu run%s, %zu A/B pair%s in %s%s\n", r->evaluations,
	        r->evaluations == 1 ? "" : "s", r->ab.pairs, r->ab.pairs == 1 ? "" : "s",
	        tk_duration_format(r->ab.wall_s, took, sizeof took),
	        r->ab.budget_spent ? "; the budget was spent" : "");
}

int tk_tune_write_text(
        const struct tk_globals *g, const struct tk_tune_report *r, FILE *out, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	int status;

	for (size_t i = 0; i < r->count; i++)
		add_row(t, &r->rows[i]);
	status = tk_table_finish(t, out, err);
	for (size_t i = 0; i < r->count; i++)
		print_failures(&r->rows[i], out);
	print_summary(r, out);
	return status;
}
