/* `tracker ab` for the terminal: both sides, one table, the counts last. */
#include <math.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/ab/format.h"
#include "cli/table.h"

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT},
        {"BACKEND", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"BASE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"HEAD", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PAIRS", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"VERDICT", TK_COLUMN_LEFT},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)},
        {0},
};

static const char *verdict_color(enum tk_ab_verdict v)
{
	switch (v) {
	case TK_AB_VERDICT_SLOWER:
	case TK_AB_VERDICT_NEWLY_FAILED:
	case TK_AB_VERDICT_FAILING:
		return "red";
	case TK_AB_VERDICT_INCONCLUSIVE:
		return "yellow";
	case TK_AB_VERDICT_FASTER:
	case TK_AB_VERDICT_FIXED:
		return "green";
	default:
		return "halfbright";
	}
}

static void add_row(struct tk_table *t, const struct tk_ab_report *r, const struct tk_ab_row *row)
{
	char change[TK_AB_TEXT_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "PROBLEM", "%s", row->title);
	if (tk_ab_has_several_backends(r))
		tk_table_set_cell(t, "BACKEND", "%s", row->backend);
	if (tk_ab_has_several_devices(r))
		tk_table_set_cell(t, "DEVICE", "%s", row->device);
	tk_table_set_time(t, "BASE", row->level_ns[TK_AB_BASE]);
	tk_table_set_time(t, "HEAD", row->level_ns[TK_AB_HEAD]);
	if (*tk_ab_format_change(row, change))
		tk_table_set_cell(t, "CHANGE", "%s", change);
	if (row->result.count)
		tk_table_set_cell(t, "PAIRS", "%u", row->result.count);
	tk_table_set_cell(t, "VERDICT", "%s", tk_ab_verdict_name(row->verdict));
	tk_table_set_color(t, "VERDICT", verdict_color(row->verdict));
	if (*row->message)
		tk_table_set_cell(t, "WHY", "%s", row->message);
}

/* Same code and unsupported problems are counted in the last line, not listed. */
static bool is_listed(const struct tk_ab_row *row)
{
	return row->verdict != TK_AB_VERDICT_SAME_CODE && row->verdict != TK_AB_VERDICT_UNSUPPORTED;
}

static void print_side(const struct tk_ab_side_report *s, FILE *out)
{
	char text[TK_AB_SIDE_TEXT_SIZE];

	fprintf(out, "%s: ", s->name);
	tk_text_write_sanitized(out, tk_ab_format_side(s, text), "");
	fputc('\n', out);
}

static void print_same_code(const struct tk_ab_report *r, FILE *out)
{
	size_t same = r->by_verdict[TK_AB_VERDICT_SAME_CODE];

	if (same == r->count)
		fputs("base and head have the same machine code: nothing was measured (--all "
		      "measures it)\n",
		        out);
}

int tk_ab_write_text(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	char line[TK_AB_SUMMARY_SIZE];
	int status;

	for (int k = 0; k < TK_AB_SIDES; k++)
		print_side(&r->side[k], out);
	for (size_t i = 0; i < r->count; i++)
		if (is_listed(&r->rows[i]))
			add_row(t, r, &r->rows[i]);
	status = tk_table_print(t, out, err);
	for (size_t i = 0; !status && tk_table_is_dropped(t, "WHY") && i < r->count; i++) {
		if (!is_listed(&r->rows[i]) || !*r->rows[i].message)
			continue;
		fprintf(out, "%s: ", r->rows[i].title);
		tk_text_write_sanitized(out, r->rows[i].message, "");
		fputc('\n', out);
	}
	tk_table_free(t);
	print_same_code(r, out);
	fprintf(out, "%s\n", tk_ab_summarize(r, line));
	return status;
}
