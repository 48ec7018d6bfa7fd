/* `tracker diff --format=md` and `github`: for pull requests. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/present.h"
#include "base/try.h"
#include "cli/diff/view.h"
#include "cli/markup.h"
#include "core/verdict_text.h"

/* ---- Markdown -------------------------------------------------------------------------------- */

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
	AUTO(tk_buf) b = TK_BUF_INIT;
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
	tk_diff_summarize(v, line, sizeof line);
	tk_buf_add_str(&b, "\n");
	tk_markdown_put_text(&b, line);
	tk_buf_add_str(&b, "\n");
	status = tk_markup_write(&b, out, err);
	return status;
}

/* ---- GitHub ---------------------------------------------------------------------------------- */

#define FAMILIES_MAX 10
#define NAMES_MAX 3

static bool same_family(const struct tk_diff_row *a, const struct tk_diff_row *b)
{
	return a->verdict.status == b->verdict.status && strcmp(a->backend, b->backend) == 0 &&
	       strcmp(a->machine, b->machine) == 0 && strcmp(a->bad_rev, b->bad_rev) == 0 &&
	       strcmp(a->first_bad_commit, b->first_bad_commit) == 0;
}

static const char *choose_level(const struct tk_diff_view *v, enum tk_verdict_status s)
{
	if (v->fail_on[s])
		return "error";
	switch (s) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_MISSING:
	case TK_VERDICT_NOT_COMPARABLE:
	case TK_VERDICT_ENVIRONMENT:
		return "warning";
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return "notice";
	default:
		return NULL;
	}
}

static void put_title(const struct tk_diff_row *r, size_t members, FILE *out)
{
	char title[400];

	snprintf(title, sizeof title, "%zu %s: %s on %s", members,
	        tk_verdict_status_name(r->verdict.status), r->backend, r->machine);
	tk_github_put_escaped(out, title, true);
}

static void put_family(const struct tk_diff_view *v, size_t first, const char *level, FILE *out)
{
	const struct tk_diff_row *r = v->rows[first];
	size_t members = 0, named = 0;
	char commits[320], reason[TK_REASON_SIZE];

	for (size_t i = first; i < v->count; i++)
		members += same_family(r, v->rows[i]);
	fprintf(out, "::%s title=", level);
	put_title(r, members, out);
	fputs("::", out);
	for (size_t i = first; i < v->count && named < NAMES_MAX; i++) {
		if (!same_family(r, v->rows[i]))
			continue;
		fputs(named++ ? ", " : "", out);
		tk_github_put_escaped(out, v->rows[i]->title, false);
		if (!isnan(v->rows[i]->verdict.change.value))
			fprintf(out, " %+.1f %%25%s", 100 * v->rows[i]->verdict.change.value,
			        tk_diff_ab_suffix(v->rows[i]));
	}
	if (members > named)
		fprintf(out, " and %zu more", members - named);
	if (*tk_diff_describe_commits(r, commits, sizeof commits)) {
		fputs("; first bad ", out);
		tk_github_put_escaped(out, commits, false);
		fputs(*tk_diff_first_bad_subject(r) ? " " : "", out);
		tk_github_put_escaped(out, tk_diff_first_bad_subject(r), false);
	}
	if (*tk_verdict_format_reason(&r->verdict, reason)) {
		fputs("; ", out);
		tk_github_put_escaped(out, reason, false);
	}
	fputc('\n', out);
}

static void put_commands(const struct tk_diff_view *v, FILE *out)
{
	size_t families[3] = {0}, more = 0;

	for (size_t i = 0; i < v->count; i++) {
		const char *level = choose_level(v, v->rows[i]->verdict.status);
		bool first = level;
		size_t kind = !level ? 0 : *level == 'e' ? 0 : *level == 'w' ? 1 : 2;

		for (size_t j = 0; j < i && first; j++)
			first = !same_family(v->rows[j], v->rows[i]);
		if (first && families[kind]++ < FAMILIES_MAX)
			put_family(v, i, level, out);
		else
			more += first;
	}
	if (more)
		fprintf(out, "... and %zu more kinds of change: see the summary\n", more);
}

static int put_summary(const void *view, FILE *out, struct tk_error *err)
{
	return tk_diff_write_markdown(view, out, err);
}

static int put_outputs(const void *view, FILE *out, struct tk_error *err)
{
	const struct tk_diff_view *v = view;

	(void)err;
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		fprintf(out, "%s=%zu\n", tk_verdict_status_name((enum tk_verdict_status)i),
		        v->report->by_status[i]);
	fprintf(out, "series=%zu\ncompared=%zu\nfound=%s\n", v->report->count, v->report->compared,
	        tk_diff_has_fail_on(v) ? "true" : "false");
	return TK_OK;
}

int tk_diff_write_github(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	char line[1024];

	put_commands(v, out);
	tk_diff_summarize(v, line, sizeof line);
	if (!v->report->compared && !tk_diff_has_fail_on(v)) {
		fputs("::error title=tracker::", out);
		tk_github_put_escaped(out, line, false);
		fputc('\n', out);
	}
	fprintf(out, "%s\n", line);
	TRY(tk_github_append("GITHUB_STEP_SUMMARY", put_summary, v, err));
	return tk_github_append("GITHUB_OUTPUT", put_outputs, v, err);
}
