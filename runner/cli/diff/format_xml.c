/* `tracker diff --format=junit` and `sarif`: for CI systems. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/diff/view.h"
#include "cli/markup.h"
#include "core/verdict_text.h"
#include "decide/history/catalog.h"

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

/* ---- SARIF ----------------------------------------------------------------------------------- */

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define FINGERPRINT "trackerStep/v1"

static json_t *string(const char *s)
{
	json_t *v = json_string(s);

	return v ? v : json_string("?");
}

static const char *choose_level(const struct tk_diff_view *v, enum tk_verdict_status s)
{
	if (v->fail_on[s])
		return "error";
	return s == TK_VERDICT_REGRESSED || s == TK_VERDICT_NEWLY_FAILED ||
	                       s == TK_VERDICT_MISSING || s == TK_VERDICT_UNSURE ||
	                       s == TK_VERDICT_NOT_COMPARABLE
	               ? "warning"
	               : "note";
}

static json_t *rules(const struct tk_diff_view *v)
{
	json_t *list = json_array();

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++) {
		enum tk_verdict_status s = (enum tk_verdict_status)i;

		json_array_append_new(
		        list, json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "id",
		                      tk_verdict_status_name(s), "name", tk_verdict_status_name(s),
		                      "shortDescription", "text", tk_verdict_status_meaning(s),
		                      "defaultConfiguration", "level", choose_level(v, s)));
	}
	return list;
}

/* A series has no source file; the location is the configuration that makes it measured. */
static json_t *locations(const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	const char *file =
	        v->globals && v->globals->config_path ? v->globals->config_path : "tracker.yml";

	return json_pack("[{s:{s:{s:s}, s:{s:i}}, s:[{s:o, s:s, s:o}]}]", "physicalLocation",
	        "artifactLocation", "uri", *file == '/' ? "tracker.yml" : file, "region",
	        "startLine", 1, "logicalLocations", "fullyQualifiedName", string(r->series), "kind",
	        "function", "name", string(r->title));
}

static void sentence(
        const struct tk_diff_view *v, const struct tk_diff_row *r, char *out, size_t size)
{
	char backend[200], commits[320], reason[TK_REASON_SIZE];
	int n = snprintf(out, size, "%s: %s on %s, %s", tk_verdict_status_name(r->verdict.status),
	        r->title, r->machine, tk_diff_describe_backend(v, r, backend, sizeof backend));

	if (n > 0 && (size_t)n < size && isfinite(r->verdict.change.value))
		n += snprintf(out + n, size - (size_t)n, ": %+.1f %% of %s%s, %s is better",
		        100 * r->verdict.change.value, r->metric, tk_diff_ab_suffix(r),
		        r->lower_is_better ? "lower" : "higher");
	if (n > 0 && (size_t)n < size && *tk_diff_describe_commits(r, commits, sizeof commits))
		n += snprintf(out + n, size - (size_t)n, "; first bad %s %s", commits,
		        tk_diff_first_bad_subject(r));
	if (n > 0 && (size_t)n < size && *tk_verdict_format_reason(&r->verdict, reason))
		snprintf(out + n, size - (size_t)n, "; %s", reason);
	tk_text_sanitize(out, "", ' ');
}

static json_t *result(const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	char text[1400], link[512], reason[TK_REASON_SIZE], uid[TK_ALERT_UID_SIZE];
	json_t *o;

	sentence(v, r, text, sizeof text);
	tk_alert_uid_hash((const char *const[]){"step", r->series, r->machine, r->bad_rev,
	                          tk_verdict_status_name(r->verdict.status)},
	        5, uid);
	o = json_pack("{s:s, s:s, s:{s:o}, s:o, s:{s:s}, s:{s:o, s:o, s:o}}", "ruleId",
	        tk_verdict_status_name(r->verdict.status), "level",
	        choose_level(v, r->verdict.status), "message", "text", string(text), "locations",
	        locations(v, r), "partialFingerprints", FINGERPRINT, uid, "properties", "change",
	        tk_json_number(r->verdict.change.value), "q", tk_json_number(r->verdict.q),
	        "bad_rev", string(r->bad_rev));
	if (o && *tk_diff_series_url(v, r, link, sizeof link))
		json_object_set_new(o, "hostedViewerUri", string(link));
	if (o && r->verdict.status == TK_VERDICT_ACKED)
		json_object_set_new(o, "suppressions",
		        json_pack("[{s:s, s:s, s:o}]", "kind", "external", "status", "accepted",
		                "justification",
		                string(tk_verdict_format_reason(&r->verdict, reason))));
	return o;
}

int tk_diff_write_sarif(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	json_t *results = json_array(), *document;
	size_t shown = tk_diff_shown_count(v);
	char line[1024];

	for (size_t i = 0; i < shown; i++)
		json_array_append_new(results, result(v, v->rows[i]));
	tk_diff_summarize(v, line, sizeof line);
	document = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o, s:{s:o, s:I}}]}",
	        "$schema", SARIF_SCHEMA, "version", "2.1.0", "runs", "tool", "driver", "name",
	        "tracker", "version", TK_VERSION, "rules", rules(v), "results", results,
	        "properties", "summary", string(line), "left_out", (json_int_t)(v->count - shown));
	return tk_json_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, err);
}
