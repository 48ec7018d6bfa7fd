/* `tracker diff --format=md`: for issues, pull requests and step summaries. Starts with a marker,
 * by which a bot finds its own comment; cut by rows to stay below GitHub's limit. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "cli/diff/view.h"
#include "cli/markup.h"
#include "core/verdict_text.h"

#define MARKER "<!-- tracker-diff -->"
#define COMMENT_MAX 60000 /* GitHub refuses comments over 65,536 characters */

static void put_problem(struct tk_buf *b, const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	char link[512];

	if (!*tk_diff_series_url(v, r, link, sizeof link)) {
		tk_markdown_put_text(b, r->title);
		return;
	}
	tk_buf_add_char(b, '[');
	tk_markdown_put_text(b, r->title);
	tk_buf_add_str(b, "](<");
	for (const char *p = link; *p; p++)
		if ((unsigned char)*p > 0x20 && !strchr("<>\\|`", *p))
			tk_buf_add_char(b, *p);
	tk_buf_add_str(b, ">)");
}

static void put_row(struct tk_buf *b, const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	char reason[TK_REASON_SIZE];
	char before[TK_FORMAT_SIZE], after[TK_FORMAT_SIZE], change[TK_FORMAT_SIZE], commits[320],
	        backend[200];

	tk_buf_add_printf(b, "| %s%s | ", r->verdict.status == TK_VERDICT_SAME ? "&#126; " : "",
	        tk_verdict_status_name(r->verdict.status));
	put_problem(b, v, r);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, tk_diff_describe_backend(v, r, backend, sizeof backend));
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, r->machine);
	tk_buf_add_printf(b, " | %s | %s | %s%s | ",
	        tk_format_value(r->verdict.before.value, r->unit, before),
	        tk_format_value(r->verdict.after.value, r->unit, after),
	        isnan(r->verdict.change.value) ? "–"
	                                       : tk_format_change(r->verdict.change.value, change),
	        tk_diff_ab_suffix(r));
	tk_markdown_put_text(b, tk_diff_describe_commits(r, commits, sizeof commits));
	if (*tk_diff_first_bad_subject(r)) {
		tk_buf_add_str(b, " ");
		tk_markdown_put_text(b, tk_diff_first_bad_subject(r));
	}
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, tk_verdict_format_reason(&r->verdict, reason));
	tk_buf_add_str(b, " |\n");
}

static bool is_headline(const struct tk_diff_view *v, enum tk_verdict_status s)
{
	return s == TK_VERDICT_REGRESSED || v->fail_on[s];
}

/* Writes the rows of one kind until the text is too long; returns how many were left out. */
static size_t put_table(struct tk_buf *b, const struct tk_diff_view *v, bool headline)
{
	size_t shown = tk_diff_shown_count(v), left_out = 0, rows = 0;

	for (size_t i = 0; i < shown; i++) {
		size_t len = b->len;

		if (is_headline(v, v->rows[i]->verdict.status) != headline)
			continue;
		if (!rows++)
			tk_buf_add_str(b,
			        "| status | problem | backend | machine | before | after | change "
			        "| first bad | why |\n"
			        "| --- | --- | --- | --- | ---: | ---: | ---: | --- | --- |\n");
		if (!left_out)
			put_row(b, v, v->rows[i]);
		if (left_out || b->len > COMMENT_MAX) {
			if (!left_out) {
				b->len = len;
				b->data[len] = '\0';
			}
			left_out++;
		}
	}
	return left_out;
}

static size_t count_kind(const struct tk_diff_view *v, bool headline)
{
	size_t count = 0, shown = tk_diff_shown_count(v);

	for (size_t i = 0; i < shown; i++)
		count += is_headline(v, v->rows[i]->verdict.status) == headline;
	return count;
}

static void put_headline(struct tk_buf *b, const struct tk_diff_view *v)
{
	const struct tk_diff_report *r = v->report;

	tk_buf_add_str(b, MARKER "\n### ");
	if (!r->compared && !tk_diff_has_fail_on(v))
		tk_buf_add_str(b, "Nothing was compared");
	else if (r->by_status[TK_VERDICT_REGRESSED] || r->by_status[TK_VERDICT_NEWLY_FAILED])
		tk_buf_add_printf(b, "%zu regressed, %zu newly failed",
		        r->by_status[TK_VERDICT_REGRESSED], r->by_status[TK_VERDICT_NEWLY_FAILED]);
	else
		tk_buf_add_str(b, "No regression");
	tk_buf_add_str(b, "\n\n");
}

int tk_diff_write_markdown(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	size_t left_out;
	char line[1024];
	int status;

	put_headline(&b, v);
	tk_diff_describe_direction(v->report, line, sizeof line);
	tk_markdown_put_text(&b, line);
	tk_buf_add_str(&b, "\n\n");
	left_out = put_table(&b, v, true);
	if (count_kind(v, false)) {
		tk_buf_add_printf(&b, "\n<details><summary>%zu more series</summary>\n\n",
		        count_kind(v, false));
		left_out += put_table(&b, v, false);
		tk_buf_add_str(&b, "\n</details>\n");
	}
	left_out += v->count - tk_diff_shown_count(v);
	if (left_out)
		tk_buf_add_printf(&b, "\n... and %zu more\n", left_out);
	if (v->report->compared || tk_diff_has_fail_on(v))
		tk_diff_summarize(v, line, sizeof line);
	else
		tk_diff_explain_empty(v->report, line, sizeof line);
	tk_buf_add_str(&b, "\n");
	tk_markdown_put_text(&b, line);
	tk_buf_add_str(&b, "\n");
	status = tk_markup_write(&b, out, err);
	tk_buf_free(&b);
	return status;
}
