/* `tracker ab --format=json`. The schema is in docs/reference/json.md. */
#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "cli/ab/format.h"
#include "cli/markup.h"
#include "detect/rules/ab_result.h"

#define SCHEMA "tracker-ab/1"

#define ROW struct tk_ab_row
#define SIDE_FIELDS(side) \
	{ \
		{TK_FIELD_WORDS("outcome", ROW, outcome[side], tk_outcome_words, \
		        "How its runs ended")}, \
		        {TK_FIELD(REAL, "value", ROW, level_ns[side], "Its level in ns")}, {0}, \
	}
static const struct tk_field base_fields[] = SIDE_FIELDS(TK_AB_BASE),
                             head_fields[] = SIDE_FIELDS(TK_AB_HEAD);

const struct tk_field tk_ab_row_fields[] = {
        {TK_FIELD_WORDS("verdict", ROW, verdict, tk_ab_verdict_words, "Head against base")},
        {TK_FIELD(TEXT, "problem", ROW, problem, "The problem")},
        {TK_FIELD(TEXT, "title", ROW, title, "Its title")},
        {TK_FIELD(TEXT, "backend", ROW, backend, "The backend that ran")},
        {TK_FIELD(TEXT, "device", ROW, device, "The device")},
        {TK_FIELD(TEXT, "mode", ROW, mode, "The mode of measuring")},
        {TK_FIELD_GROUP("base", base_fields, "What base gave")},
        {TK_FIELD_GROUP("head", head_fields, "What head gave")},
        {TK_FIELD_MEMBERS("ab_test", ROW, result, tk_ab_result_fields, "The pairs")},
        {TK_FIELD(TEXT, "message", ROW, message, "Why a side failed")},
        {TK_FIELD(REAL, "wall_s", ROW, wall_s, "Seconds that it took")},
        {0},
};
#undef ROW

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
		json_array_append_new(rows, tk_fields_to_json(tk_ab_row_fields, &r->rows[i], NULL));
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

int tk_ab_write_csv(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	(void)g;
	tk_fields_write_csv_head(tk_ab_row_fields, out);
	for (size_t i = 0; i < r->count; i++) {
		json_t *row = tk_fields_to_json(tk_ab_row_fields, &r->rows[i], NULL);

		tk_fields_write_csv_row(tk_ab_row_fields, row, out);
		json_decref(row);
	}
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}
