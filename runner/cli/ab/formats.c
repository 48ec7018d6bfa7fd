/* How `tracker ab` prints its report for people. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/present.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/ab/format.h"
#include "cli/commands.h"
#include "cli/table.h"

/* ---- terminal -------------------------------------------------------------------------------- */

static const char *verdict_color(const json_t *row)
{
	static const struct {
		const char *verdict, *color;
	} colors[] = {{"slower", "red"}, {"newly-failed", "red"}, {"failing", "red"},
	        {"inconclusive", "yellow"}, {"faster", "green"}, {"fixed", "green"}};

	for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
		if (strcmp(tk_record_text(row, "verdict"), colors[i].verdict) == 0)
			return colors[i].color;
	return "halfbright";
}

#define NUMBER(order) (TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(order))
static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        {"BACKEND", TK_COLUMN_CUT | TK_COLUMN_VARIED, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_VARIED, "device", 0, NULL},
        {"BASE", NUMBER(2), "base.value", TK_SHOW_NS, NULL},
        {"HEAD", NUMBER(3), "head.value", TK_SHOW_NS, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "ab_test.change", TK_SHOW_ESTIMATE, NULL},
        {"PAIRS", NUMBER(1), "ab_test.count", TK_SHOW_COUNT, NULL},
        {"VERDICT", TK_COLUMN_LEFT, "verdict", 0, verdict_color},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4), "message", 0, NULL},
        {0},
};

static void add_row(struct tk_table *t, const struct tk_ab_row *row)
{
	json_t *o = tk_fields_to_json(tk_ab_row_fields, row, NULL);

	tk_table_add_record(t, o);
	json_decref(o);
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
			add_row(t, &r->rows[i]);
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

/* ---- Markdown -------------------------------------------------------------------------------- */

#define MARKER "<!-- tracker-ab -->"
#define COMMENT_MAX 60000 /* GitHub refuses comments over 65,536 characters */

static void put_headline(struct tk_buf *b, const struct tk_ab_report *r)
{
	size_t slower = r->by_verdict[TK_AB_VERDICT_SLOWER],
	       failed = r->by_verdict[TK_AB_VERDICT_NEWLY_FAILED],
	       open = r->by_verdict[TK_AB_VERDICT_INCONCLUSIVE];

	tk_buf_add_str(b, MARKER "\n### ");
	if (slower || failed)
		tk_buf_add_printf(b, "%zu slower, %zu newly failed\n\n", slower, failed);
	else if (open)
		tk_buf_add_printf(b, "No slow-down found, %zu inconclusive\n\n", open);
	else
		tk_buf_add_str(b, "No slow-down\n\n");
}

static void put_side(struct tk_buf *b, const struct tk_ab_side_report *s)
{
	char text[TK_AB_SIDE_TEXT_SIZE];

	tk_buf_add_printf(b, "%s: ", s->name);
	tk_markdown_put_text(b, tk_ab_format_side(s, text));
	tk_buf_add_str(b, "  \n");
}

static void put_row(struct tk_buf *b, const struct tk_ab_row *row)
{
	char base[TK_FORMAT_SIZE], head[TK_FORMAT_SIZE], change[TK_FORMAT_ESTIMATE_SIZE];

	tk_buf_add_str(b, "| ");
	tk_markdown_put_text(b, row->title);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, row->backend);
	tk_buf_add_printf(b, " | %s | %s | %s | %s",
	        tk_format_value(row->level_ns[TK_AB_BASE], "ns", base),
	        tk_format_value(row->level_ns[TK_AB_HEAD], "ns", head),
	        *tk_format_estimate(row->result.change, row->result.lo, row->result.hi, change)
	                ? change
	                : "–",
	        tk_ab_verdict_name(row->verdict));
	if (*row->message) {
		tk_buf_add_str(b, ": ");
		tk_markdown_put_text(b, row->message);
	}
	tk_buf_add_str(b, " |\n");
}

/* Returns how many rows were left out because the text is too long. */
static size_t put_table(struct tk_buf *b, const struct tk_ab_report *r)
{
	size_t rows = 0, left_out = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (r->rows[i].verdict >= TK_AB_VERDICT_SAME_CODE)
			continue;
		if (!rows++)
			tk_buf_add_str(b,
			        "\n| problem | backend | base | head | change | verdict |\n"
			        "| --- | --- | ---: | ---: | ---: | --- |\n");
		if (b->len < COMMENT_MAX)
			put_row(b, &r->rows[i]);
		else
			left_out++;
	}
	return left_out;
}

int tk_ab_write_markdown(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	AUTO(tk_buf) b = TK_BUF_INIT;
	char line[TK_AB_SUMMARY_SIZE];
	size_t left_out;
	int status;

	(void)g;
	put_headline(&b, r);
	for (int k = 0; k < TK_AB_SIDES; k++)
		put_side(&b, &r->side[k]);
	left_out = put_table(&b, r);
	if (left_out)
		tk_buf_add_printf(&b, "\n... and %zu more\n", left_out);
	tk_buf_add_str(&b, "\n");
	tk_markdown_put_text(&b, tk_ab_summarize(r, line));
	tk_buf_add_str(&b, "\n");
	status = tk_markup_write(&b, out, err);
	return status;
}

/* ---- GitHub ---------------------------------------------------------------------------------- */

#define COMMANDS_MAX 10

/* NULL: no news. */
static const char *choose_level(enum tk_ab_verdict v)
{
	switch (v) {
	case TK_AB_VERDICT_SLOWER:
	case TK_AB_VERDICT_NEWLY_FAILED:
		return "error";
	case TK_AB_VERDICT_INCONCLUSIVE:
	case TK_AB_VERDICT_FAILING:
		return "warning";
	case TK_AB_VERDICT_FASTER:
	case TK_AB_VERDICT_FIXED:
		return "notice";
	default:
		return NULL;
	}
}

static void put_command(const struct tk_ab_row *row, const char *level, FILE *out)
{
	char title[256], text[TK_FORMAT_ESTIMATE_SIZE];

	snprintf(title, sizeof title, "%s: %s on %s", tk_ab_verdict_name(row->verdict),
	        row->backend, row->device);
	fprintf(out, "::%s title=", level);
	tk_github_put_escaped(out, title, true);
	fputs("::", out);
	tk_github_put_escaped(out, row->title, false);
	if (*tk_format_estimate(row->result.change, row->result.lo, row->result.hi, text)) {
		fputc(' ', out);
		tk_github_put_escaped(out, text, false);
	}
	if (*row->message) {
		fputs("; ", out);
		tk_github_put_escaped(out, row->message, false);
	}
	fputc('\n', out);
}

static void put_commands(const struct tk_ab_report *r, FILE *out)
{
	size_t shown[TK_AB_VERDICT_COUNT] = {0}, more = 0;

	for (size_t i = 0; i < r->count; i++) {
		const char *level = choose_level(r->rows[i].verdict);

		if (!level)
			continue;
		if (shown[r->rows[i].verdict]++ < COMMANDS_MAX)
			put_command(&r->rows[i], level, out);
		else
			more++;
	}
	if (more)
		fprintf(out, "... and %zu more: see the summary\n", more);
}

static int put_outputs(const void *report, FILE *out, struct tk_error *err)
{
	const struct tk_ab_report *r = report;

	(void)err;
	for (int v = 0; v < TK_AB_VERDICT_COUNT; v++)
		fprintf(out, "%s=%zu\n", tk_ab_verdict_name((enum tk_ab_verdict)v),
		        r->by_verdict[v]);
	return TK_OK;
}

static int put_summary(const void *report, FILE *out, struct tk_error *err)
{
	return tk_ab_write_markdown(NULL, report, out, err);
}

int tk_ab_write_github(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	char line[TK_AB_SUMMARY_SIZE];

	(void)g;
	put_commands(r, out);
	fprintf(out, "%s\n", tk_ab_summarize(r, line));
	TRY(tk_github_append("GITHUB_STEP_SUMMARY", put_summary, r, err));
	return tk_github_append("GITHUB_OUTPUT", put_outputs, r, err);
}
