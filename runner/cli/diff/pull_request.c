/* `tracker diff --format=md`, `github` and `junit`: for pull requests and CI systems. */
#include "cli/commands.h"
#include "cli/diff/diff.h"

/* ---- Markdown -------------------------------------------------------------------------------- */

#define MARKER "<!-- tracker-diff -->"
#define COMMENT_MAX 60000 /* GitHub refuses comments over 65,536 characters */

static void put_problem(struct tk_buf *b, const struct tk_diff_line *l)
{
	if (!*l->url) {
		tk_markdown_put_text(b, l->r.title);
		return;
	}
	tk_buf_add_char(b, '[');
	tk_markdown_put_text(b, l->r.title);
	tk_buf_add_str(b, "](<");
	for (const char *p = l->url; *p; p++)
		if ((unsigned char)*p > 0x20 && !strchr("<>\\|`", *p))
			tk_buf_add_char(b, *p);
	tk_buf_add_str(b, ">)");
}

static void put_row(struct tk_buf *b, const struct tk_diff_view *v, size_t i)
{
	struct tk_diff_line l;

	tk_diff_line_make(v, i, &l);
	tk_buf_add_printf(
	        b, "| %s%s | ", l.r.verdict.status == TK_VERDICT_SAME ? "&#126; " : "", l.status);
	put_problem(b, &l);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, l.backend);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, l.r.machine);
	tk_buf_add_printf(b, " | %s | %s | %s%s | ", l.before, l.after, *l.change ? l.change : "–",
	        l.ab_suffix);
	tk_markdown_put_text(b, l.commits);
	tk_buf_add_str(b, *l.subject ? " " : "");
	tk_markdown_put_text(b, l.subject);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, l.reason);
	tk_buf_add_str(b, " |\n");
}

static bool is_headline(const struct tk_diff_view *v, enum tk_verdict_status s)
{
	return s == TK_VERDICT_REGRESSED || v->fail_on[s];
}

/* Writes the rows of one kind until the text is too long; returns how many were left out. */
static size_t put_table(struct tk_buf *b, const struct tk_diff_view *v, bool headline)
{
	size_t left_out = 0, rows = 0;

	for (size_t i = 0; i < v->shown; i++) {
		size_t len = b->len;

		if (is_headline(v, v->rows[i]->verdict.status) != headline)
			continue;
		if (!rows++)
			tk_buf_add_str(b,
			        "| status | problem | backend | machine | before | after | change "
			        "| first bad | why |\n"
			        "| --- | --- | --- | --- | ---: | ---: | ---: | --- | --- |\n");
		if (!left_out)
			put_row(b, v, i);
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
	size_t count = 0;

	for (size_t i = 0; i < v->shown; i++)
		count += is_headline(v, v->rows[i]->verdict.status) == headline;
	return count;
}

static void put_headline(struct tk_buf *b, const struct tk_diff_view *v)
{
	const struct tk_diff_report *r = v->report;

	tk_buf_add_str(b, MARKER "\n### ");
	if (v->is_empty)
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

	put_headline(&b, v);
	tk_markdown_put_text(&b, v->direction);
	tk_buf_add_str(&b, "\n\n");
	left_out = put_table(&b, v, true);
	if (count_kind(v, false)) {
		tk_buf_add_printf(&b, "\n<details><summary>%zu more series</summary>\n\n",
		        count_kind(v, false));
		left_out += put_table(&b, v, false);
		tk_buf_add_str(&b, "\n</details>\n");
	}
	left_out += v->count - v->shown;
	if (left_out)
		tk_buf_add_printf(&b, "\n... and %zu more\n", left_out);
	tk_buf_add_str(&b, "\n");
	tk_markdown_put_text(&b, v->summary);
	tk_buf_add_str(&b, "\n");
	return tk_markup_write(&b, out, err);
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

static void put_family(
        const struct tk_diff_view *v, size_t first, size_t members, const char *level, FILE *out)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	struct tk_diff_line l, member;
	char title[400];
	size_t named = 0;

	tk_diff_line_make(v, first, &l);
	json_auto_t *texts = tk_diff_line_to_texts(&l);

	snprintf(title, sizeof title, "%zu %s: %s on %s", members, l.status, l.r.backend,
	        l.r.machine);
	fprintf(out, "::%s title=", level);
	tk_github_put_escaped(out, title, true);
	fputs("::", out);
	for (size_t i = first; i < v->count && named < NAMES_MAX; i++) {
		if (!same_family(&l.r, v->rows[i]))
			continue;
		tk_diff_line_make(v, i, &member);
		tk_buf_add_printf(&text, "%s%s", named++ ? ", " : "", member.r.title);
		if (*member.change)
			tk_buf_add_printf(&text, " %+.1f %%%s", 100 * member.r.verdict.change.value,
			        member.ab_suffix);
	}
	if (members > named)
		tk_buf_add_printf(&text, " and %zu more", members - named);
	AUTO_TEXT rest = tk_record_format(
	        "[; first bad {commits}[ {subject}]][; {reason}]", TK_SHOW_PLAIN, texts);

	tk_buf_add_str(&text, rest);
	tk_github_put_escaped(out, tk_buf_cstr(&text), false);
	fputc('\n', out);
}

static void put_commands(const struct tk_diff_view *v, FILE *out)
{
	size_t families[3] = {0}, more = 0;

	for (size_t i = 0; i < v->count; i++) {
		const enum tk_verdict_status s = v->rows[i]->verdict.status;
		const char *level = v->fail_on[s] ? "error" : tk_diff_looks[s].github;
		size_t kind = !level          ? 0
		              : *level == 'e' ? 0
		              : *level == 'w' ? 1
		                              : 2,
		       members = level ? tk_diff_count_alike(v, i, v->count, same_family) : 0;

		if (members && families[kind]++ < FAMILIES_MAX)
			put_family(v, i, members, level, out);
		else
			more += members > 0;
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

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		fprintf(out, "%s=%zu\n", tk_verdict_status_name((enum tk_verdict_status)i),
		        v->report->by_status[i]);
	fprintf(out, "series=%zu\ncompared=%zu\nfound=%s\n", v->report->count, v->report->compared,
	        v->is_found ? "true" : "false");
	return TK_OK;
}

int tk_diff_write_github(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	put_commands(v, out);
	if (v->is_empty) {
		fputs("::error title=tracker::", out);
		tk_github_put_escaped(out, v->summary, false);
		fputc('\n', out);
	}
	fprintf(out, "%s\n", v->summary);
	TRY(tk_github_append("GITHUB_STEP_SUMMARY", put_summary, v, err));
	return tk_github_append("GITHUB_OUTPUT", put_outputs, v, err);
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* Characters that XML 1.0 forbids, and marks of direction, become '?'. Returns the bytes of the
 * character. */
static size_t put_char(FILE *out, const char *s)
{
	bool unprintable;
	size_t n = tk_text_next_char(s, &unprintable);
	/* U+FFFE and U+FFFF are not XML characters */
	if (unprintable || (n == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (unsigned char)s[2] >= 0xbe))
		fputc('?', out);
	else
		fwrite(s, 1, n, out);
	return n;
}

/* Escapes an attribute or a text. */
static void put_text(FILE *out, const char *s)
{
	static const struct {
		char c;
		const char *escaped;
	} escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"},
	        {'\n', "&#10;"}, {'\t', "&#9;"}};
	while (*s) {
		size_t i = 0;
		while (i < sizeof escapes / sizeof *escapes && escapes[i].c != *s)
			i++;
		bool is_escaped = i < sizeof escapes / sizeof *escapes;
		if (is_escaped)
			fputs(escapes[i].escaped, out);
		s += is_escaped ? 1 : put_char(out, s);
	}
}

/* The element of a row's case; NULL: it passed. */
static const char *choose_element(const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	const struct tk_diff_look *look = &tk_diff_looks[r->verdict.status];

	return v->fail_on[r->verdict.status] && !look->is_bad ? "failure" : look->junit;
}

static size_t count_cases(const struct tk_diff_view *v, const char *element)
{
	size_t count = 0;

	for (size_t i = 0; i < v->shown; i++) {
		const char *e = choose_element(v, v->rows[i]);

		count += e && strcmp(e, element) == 0;
	}
	return count;
}

/* The reason of a failed run starts with the outcome, which may repeat the status. */
static const char *skip_status(const struct tk_diff_line *l)
{
	const size_t n = strlen(l->status);

	return !strncmp(l->reason, l->status, n) && !strncmp(l->reason + n, ": ", 2)
	               ? l->reason + n + 2
	               : l->reason;
}

static void put_body(const struct tk_diff_line *l, const char *element, FILE *out)
{
	const char *reason = skip_status(l);

	fprintf(out, "<%s message=\"%s", element, l->status);
	if (*l->change) {
		fprintf(out, " %+.1f %%%s (%s", 100 * l->r.verdict.change.value, l->ab_suffix,
		        *l->ab_suffix ? "nights " : "");
		put_text(out, l->before);
		put_text(out, " -> ");
		put_text(out, l->after);
		fputc(')', out);
	}
	fputs(*reason ? ": " : "", out);
	put_text(out, reason);
	if (strcmp(element, "skipped") != 0)
		fprintf(out, "\" type=\"%s", l->status);
	fputs("\">", out);
	if (*l->commits) {
		fputs("first bad ", out);
		put_text(out, l->commits);
		fputc(' ', out);
		put_text(out, l->subject);
	}
	fprintf(out, "</%s>", element);
}

static void put_case(const struct tk_diff_view *v, size_t i, FILE *out)
{
	struct tk_diff_line l;
	const char *element = choose_element(v, v->rows[i]);

	tk_diff_line_make(v, i, &l);
	fputs("    <testcase classname=\"", out);
	put_text(out, l.r.machine);
	fputc('.', out);
	put_text(out, l.r.device);
	fputc('.', out);
	put_text(out, l.r.backend);
	fputs("\" name=\"", out);
	put_text(out, l.r.title);
	fputc(' ', out);
	put_text(out, l.r.metric);
	fputs("\">", out);
	if (element)
		put_body(&l, element, out);
	fputs("</testcase>\n", out);
}

int tk_diff_write_junit(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	fprintf(out,
	        "  <testsuite name=\"tracker diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	        "skipped=\"%zu\">\n",
	        v->shown, count_cases(v, "failure"), count_cases(v, "error"),
	        count_cases(v, "skipped"));
	for (size_t i = 0; i < v->shown; i++)
		put_case(v, i, out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}
