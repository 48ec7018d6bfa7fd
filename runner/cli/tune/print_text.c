/* `tracker tune` for the terminal: one row per problem, the counts last. */
#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/ab/format.h"
#include "cli/table.h"
#include "cli/tune/print.h"

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT},
        {"BACKEND", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"DEFAULT", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"WINNER", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PAIRS", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"TRIED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"RUNS", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"VERDICT", TK_COLUMN_LEFT},
        {"CONFIGURATION", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)},
        {0},
};

static const char *verdict_color(enum tk_tune_verdict v)
{
	switch (v) {
	case TK_TUNE_VERDICT_FASTER:
	case TK_TUNE_VERDICT_FIXED:
		return "green";
	case TK_TUNE_VERDICT_INCONCLUSIVE:
	case TK_TUNE_VERDICT_SLOWER:
		return "yellow";
	case TK_TUNE_VERDICT_FAILING:
		return "red";
	default:
		return "halfbright";
	}
}

/* Of the A/B runs; of the race where there were none. */
static double level(const struct tk_tune_row *row, enum tk_ab_side_id side)
{
	size_t index = side == TK_AB_BASE ? 0 : row->winner;

	if (!isnan(row->ab.level_ns[side]) || index >= row->count)
		return row->ab.level_ns[side];
	return row->candidates[index].median_ns;
}

static void set_candidates(struct tk_table *t, const struct tk_tune_row *row)
{
	if (!row->count)
		return;
	if (row->failed)
		tk_table_set_cell(t, "TRIED", "%zu, %zu failed", row->count, row->failed);
	else
		tk_table_set_cell(t, "TRIED", "%zu", row->count);
	tk_table_set_cell(t, "RUNS", "%zu of %zu", row->evaluations, row->exhaustive_evaluations);
	if (row->chosen < row->count)
		tk_table_set_cell(t, "CONFIGURATION", "%s", row->candidates[row->chosen].config);
}

static void add_row(struct tk_table *t, const struct tk_tune_row *row)
{
	char change[TK_AB_TEXT_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "PROBLEM", "%s", row->ab.title);
	tk_table_set_cell(t, "BACKEND", "%s", row->ab.backend); /* an upstream may have several */
	tk_table_set_cell(t, "DEVICE", "%s", row->ab.device);
	tk_table_set_time(t, "DEFAULT", level(row, TK_AB_BASE));
	if (row->winner)
		tk_table_set_time(t, "WINNER", level(row, TK_AB_HEAD));
	if (*tk_ab_format_change(&row->ab, change))
		tk_table_set_cell(t, "CHANGE", "%s", change);
	if (row->ab.result.count)
		tk_table_set_cell(t, "PAIRS", "%u", row->ab.result.count);
	set_candidates(t, row);
	tk_table_set_cell(t, "VERDICT", "%s", tk_tune_verdict_name(row->verdict));
	tk_table_set_color(t, "VERDICT", verdict_color(row->verdict));
	if (*row->ab.message)
		tk_table_set_cell(t, "WHY", "%s", row->ab.message);
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
	status = tk_table_print(t, out, err);
	tk_table_free(t);
	for (size_t i = 0; i < r->count; i++)
		print_failures(&r->rows[i], out);
	print_summary(r, out);
	return status;
}
