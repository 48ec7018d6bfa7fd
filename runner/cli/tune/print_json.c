/* `tracker tune --format=json`. The schema is in docs/reference/tune.md. */
#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "cli/ab/format.h"
#include "cli/markup.h"
#include "cli/tune/print.h"

#define SCHEMA "tracker-tune/1"

static json_t *config_name(const struct tk_tune_row *row, size_t index)
{
	return index < row->count ? tk_json_text(row->candidates[index].config) : json_null();
}

static json_t *change_object(const struct tk_ab_result *r)
{
	json_t *o = tk_ab_change_json(r);

	if (json_is_object(o))
		json_object_set_new(o, "pairs", json_integer((json_int_t)r->count));
	return o;
}

static json_t *row_object(const struct tk_tune_row *row)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "verdict",
	        tk_tune_verdict_name(row->verdict), "problem", tk_json_text(row->ab.problem),
	        "title", tk_json_text(row->ab.title), "backend", tk_json_text(row->ab.backend),
	        "device", tk_json_text(row->ab.device), "mode", tk_json_text(row->ab.mode));

	json_object_set_new(o, "config", config_name(row, row->chosen));
	json_object_set_new(o, "winner", config_name(row, row->winner));
	json_object_set_new(o, "default_ns", tk_json_number(row->ab.level_ns[TK_AB_BASE]));
	json_object_set_new(o, "winner_ns", tk_json_number(row->ab.level_ns[TK_AB_HEAD]));
	json_object_set_new(o, "change", change_object(&row->ab.result));
	json_object_set_new(o, "message", tk_json_text(row->ab.message));
	json_object_set_new(o, "evaluations", json_integer((json_int_t)row->evaluations));
	json_object_set_new(
	        o, "exhaustive_evaluations", json_integer((json_int_t)row->exhaustive_evaluations));
	json_object_set_new(o, "race_s", tk_json_number(row->race_s));
	json_object_set_new(o, "budget_spent", json_boolean(row->budget_spent));
	json_object_set_new(o, "candidates", tk_tune_candidates_json(row));
	return o;
}

int tk_tune_write_json(const struct tk_tune_report *r, FILE *out, struct tk_error *err)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(rows, row_object(&r->rows[i]));
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
