/* `tracker ab --format=md`: for comments and step summaries. */

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "cli/ab/format.h"
#include "cli/markup.h"

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
	char base[TK_FORMAT_SIZE], head[TK_FORMAT_SIZE], change[TK_AB_TEXT_SIZE];

	tk_buf_add_str(b, "| ");
	tk_markdown_put_text(b, row->title);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, row->backend);
	tk_buf_add_printf(b, " | %s | %s | %s | %s",
	        tk_format_value(row->level_ns[TK_AB_BASE], "ns", base),
	        tk_format_value(row->level_ns[TK_AB_HEAD], "ns", head),
	        *tk_ab_format_change(row, change) ? change : "–", tk_ab_verdict_name(row->verdict));
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
	struct tk_buf b = TK_BUF_INIT;
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
	tk_buf_free(&b);
	return status;
}
