/* `tracker diff --format=junit`: one test case per series, for the test reports of CI systems. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/diff/view.h"
#include "core/verdict_text.h"

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

enum kind { PASSED, FAILURE, ERROR, SKIPPED, KINDS };

static enum kind case_kind(const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	switch (r->verdict.status) {
	case TK_VERDICT_REGRESSED:
		return FAILURE;
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_FAILING:
		return ERROR;
	case TK_VERDICT_SAME:
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return v->fail_on[r->verdict.status] ? FAILURE : PASSED;
	default:
		return v->fail_on[r->verdict.status] ? FAILURE : SKIPPED;
	}
}

/* The reason of a failed run starts with the outcome, which may repeat the status. */
static const char *format_reason(const struct tk_diff_row *r, char reason[TK_REASON_SIZE])
{
	const char *word = tk_verdict_status_name(r->verdict.status);
	const size_t n = strlen(word);

	tk_verdict_format_reason(&r->verdict, reason);
	return !strncmp(reason, word, n) && !strncmp(reason + n, ": ", 2) ? reason + n + 2 : reason;
}

static void put_body(const struct tk_diff_row *r, enum kind kind, FILE *out)
{
	static const char *const elements[KINDS] = {
	        [FAILURE] = "failure", [ERROR] = "error", [SKIPPED] = "skipped"};
	char before[TK_FORMAT_SIZE], after[TK_FORMAT_SIZE], commits[320], message[1400];
	char text[TK_REASON_SIZE];
	const char *reason = format_reason(r, text);

	snprintf(message, sizeof message, "%s%s%s", tk_verdict_status_name(r->verdict.status),
	        *reason ? ": " : "", reason);
	if (!isnan(r->verdict.change.value))
		snprintf(message, sizeof message, "%s %+.1f %%%s (%s%s -> %s)%s%s",
		        tk_verdict_status_name(r->verdict.status), 100 * r->verdict.change.value,
		        tk_diff_ab_suffix(r), tk_diff_row_is_ab_confirmed(r) ? "nights " : "",
		        tk_format_value(r->verdict.before.value, r->unit, before),
		        tk_format_value(r->verdict.after.value, r->unit, after),
		        *reason ? ": " : "", reason);
	fprintf(out, "<%s message=\"", elements[kind]);
	put_text(out, message);
	if (kind != SKIPPED)
		fprintf(out, "\" type=\"%s", tk_verdict_status_name(r->verdict.status));
	fputs("\">", out);
	if (*tk_diff_describe_commits(r, commits, sizeof commits)) {
		fputs("first bad ", out);
		put_text(out, commits);
		fputc(' ', out);
		put_text(out, tk_diff_first_bad_subject(r));
	}
	fprintf(out, "</%s>", elements[kind]);
}

static void put_case(const struct tk_diff_view *v, const struct tk_diff_row *r, FILE *out)
{
	enum kind kind = case_kind(v, r);

	fputs("    <testcase classname=\"", out);
	put_text(out, r->machine);
	fputc('.', out);
	put_text(out, r->device);
	fputc('.', out);
	put_text(out, r->backend);
	fputs("\" name=\"", out);
	put_text(out, r->title);
	fputc(' ', out);
	put_text(out, r->metric);
	fputs("\">", out);
	if (kind != PASSED)
		put_body(r, kind, out);
	fputs("</testcase>\n", out);
}

int tk_diff_write_junit(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	size_t shown = tk_diff_shown_count(v), counts[KINDS] = {0};

	for (size_t i = 0; i < shown; i++)
		counts[case_kind(v, v->rows[i])]++;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	fprintf(out,
	        "  <testsuite name=\"tracker diff\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	        "skipped=\"%zu\">\n",
	        shown, counts[FAILURE], counts[ERROR], counts[SKIPPED]);
	for (size_t i = 0; i < shown; i++)
		put_case(v, v->rows[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}
