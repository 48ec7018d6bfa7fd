/* `tracker ab --format=json`. The schema is in docs/reference/ab.md. */
#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "cli/ab/format.h"
#include "cli/markup.h"
#include "detect/rules/ab_result.h"

#define SCHEMA "tracker-ab/1"

json_t *tk_ab_change_json(const struct tk_ab_result *r)
{
	return isnan(r->change) ? json_null()
	                        : json_pack("{s:o, s:o, s:o}", "value", tk_json_number(r->change),
	                                  "lo", tk_json_number(r->lo), "hi", tk_json_number(r->hi));
}

static json_t *side_value(const struct tk_ab_row *row, enum tk_ab_side_id side)
{
	return json_pack("{s:o, s:s}", "value", tk_json_number(row->level_ns[side]), "outcome",
	        tk_outcome_name(row->outcome[side]));
}

static json_t *row_object(const struct tk_ab_row *row)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:s, s:I, s:I, s:o, "
	                 "s:o}",
	        "verdict", tk_ab_verdict_name(row->verdict), "problem", tk_json_text(row->problem),
	        "title", tk_json_text(row->title), "backend", tk_json_text(row->backend), "device",
	        tk_json_text(row->device), "mode", tk_json_text(row->mode), "unit", "ns", "base",
	        side_value(row, TK_AB_BASE), "head", side_value(row, TK_AB_HEAD), "change",
	        tk_ab_change_json(&row->result), "statistic",
	        tk_ab_result_statistic_name(&row->result), "pairs", (json_int_t)row->result.count,
	        "failed_pairs", (json_int_t)row->result.failed, "message",
	        tk_json_text(row->message), "wall_s", tk_json_number(row->wall_s));
}

static json_t *side_object(const struct tk_ab_side_report *s)
{
	return json_pack("{s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "spec", tk_json_text(s->spec),
	        "revision", tk_json_text(s->revision.id), "subject",
	        tk_json_text(s->revision.subject), "worktree", s->is_worktree, "dirty",
	        s->revision.dirty, "backend", tk_json_text(s->backend), "toolchain",
	        tk_json_text(s->toolchain));
}

static json_t *rows_array(const struct tk_ab_report *r)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(rows, row_object(&r->rows[i]));
	return rows;
}

int tk_ab_write_json(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:b, s:o, s:o}",
	        "schema", SCHEMA, "upstream", tk_json_text(r->upstream), "machine",
	        tk_json_text(r->machine), "base", side_object(&r->side[TK_AB_BASE]), "head",
	        side_object(&r->side[TK_AB_HEAD]), "min_effect", tk_json_number(r->min_effect),
	        "pairs", (json_int_t)r->pairs, "wall_s", tk_json_number(r->wall_s), "budget_s",
	        r->budget_s > 0 ? tk_json_number(r->budget_s) : json_null(), "budget_spent",
	        r->budget_spent, "counts", tk_json_counts(&tk_ab_verdict_words, r->by_verdict),
	        "rows", rows_array(r));

	(void)g;
	return tk_json_write(o, JSON_INDENT(2), out, err);
}
