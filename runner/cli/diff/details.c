/* --explain and --first-bad of `tracker diff --format=text`. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/diff/view.h"
#include "cli/night/git_bisect_hint.h"
#include "core/verdict_text.h"
#include "detect/rules/ab_result.h"

static void write_change(const struct tk_diff_view *v, const struct tk_diff_row *r, FILE *out)
{
	const struct tk_estimate *change = &r->verdict.change;

	if (isnan(change->value))
		return;
	fprintf(out,
	        "  change %+.2f %% (95 %% CI %+.2f to %+.2f), threshold %.2f %%; p %.3g, q %.3g "
	        "(FDR %.2g); "
	        "machine code %s\n",
	        100 * change->value, 100 * change->lo, 100 * change->hi, 100 * r->verdict.threshold,
	        r->verdict.p, r->verdict.q, v->report->options.fdr,
	        r->same_code ? "unchanged" : "changed or unknown");
}

static void write_ab_result(const struct tk_diff_row *r, FILE *out)
{
	if (r->ab.count)
		fprintf(out, "  A/B runs: %s, %+.2f %% (95 %% CI %+.2f to %+.2f), %s of %u pairs\n",
		        tk_ab_decision_name(r->ab.decision), 100 * r->ab.change, 100 * r->ab.lo,
		        100 * r->ab.hi, tk_ab_result_statistic_name(&r->ab), r->ab.count);
}

static void write_revisions(const struct tk_diff_row *r, FILE *out)
{
	if (!*r->bad_rev)
		return;
	fputs("  first bad ", out);
	tk_text_write_sanitized(out, r->bad_rev, "");
	fputc(' ', out);
	tk_text_write_sanitized(out, r->bad_subject, "");
	fputs("; last good ", out);
	tk_text_write_sanitized(out, r->good_rev, "");
	fputc('\n', out);
}

static void write_bisection(const struct tk_diff_row *r, FILE *out)
{
	char day[TK_TIME_ISO_SIZE];

	if (!*r->first_bad_commit)
		return;
	fprintf(out, "  found by bisection: %.12s ", r->first_bad_commit);
	tk_text_write_sanitized(out, r->first_bad_subject, "");
	fputs(" (", out);
	tk_text_write_sanitized(out, r->first_bad_author, "");
	fprintf(out, ", %s): %+.1f %% against its parent, %.1f %% confidence\n",
	        tk_time_format_day(r->first_bad_time_s, day), 100 * r->first_bad_change,
	        100 * r->first_bad_confidence);
}

void tk_diff_write_details(const struct tk_diff_view *v, FILE *out)
{
	char url[512], reason[TK_REASON_SIZE];

	for (size_t i = 0; i < tk_diff_shown_count(v); i++) {
		const struct tk_diff_row *r = v->rows[i];

		fprintf(out, "\n%s ", tk_verdict_status_mark(r->verdict.status));
		tk_text_write_sanitized(out, r->series, "");
		fprintf(out, "\n  %s: %s\n", tk_verdict_status_name(r->verdict.status),
		        tk_verdict_status_meaning(r->verdict.status));
		write_change(v, r, out);
		write_ab_result(r, out);
		write_revisions(r, out);
		write_bisection(r, out);
		if (*tk_verdict_format_reason(&r->verdict, reason)) {
			fputs("  ", out);
			tk_text_write_sanitized(out, reason, "");
			fputc('\n', out);
		}
		if (*tk_diff_series_url(v, r, url, sizeof url))
			fprintf(out, "  %s\n", url);
	}
}

static bool has_range(const struct tk_diff_row *r)
{
	return (r->verdict.status == TK_VERDICT_REGRESSED ||
	               r->verdict.status == TK_VERDICT_ACKED ||
	               r->verdict.status == TK_VERDICT_NEWLY_FAILED) &&
	       *r->good_rev && *r->bad_rev && strcmp(r->good_rev, r->bad_rev) != 0;
}

static bool is_same_range(const struct tk_diff_row *a, const struct tk_diff_row *b)
{
	return strcmp(a->upstream, b->upstream) == 0 && strcmp(a->good_rev, b->good_rev) == 0 &&
	       strcmp(a->bad_rev, b->bad_rev) == 0;
}

void tk_diff_write_bisect_hints(const struct tk_diff_view *v, FILE *out)
{
	size_t shown = tk_diff_shown_count(v);

	for (size_t i = 0; i < shown; i++) {
		const struct tk_diff_row *r = v->rows[i];
		size_t before = 0, series = 0;

		if (!has_range(r))
			continue;
		for (size_t j = 0; j < shown; j++)
			if (has_range(v->rows[j]) && is_same_range(v->rows[j], r)) {
				series++;
				before += j < i;
			}
		if (before)
			continue;
		fprintf(out, "\n");
		tk_text_write_sanitized(out, r->upstream, "");
		fprintf(out, " %.12s..%.12s: %zu series", r->good_rev, r->bad_rev, series);
		if (*r->first_bad_commit) {
			fprintf(out, ", first bad commit %.12s ", r->first_bad_commit);
			tk_text_write_sanitized(out, r->first_bad_subject, "");
		} else if (r->commits_between == 1) {
			fprintf(out, ", only commit: ");
			tk_text_write_sanitized(out, r->bad_subject, "");
		}
		fputc('\n', out);
		tk_git_bisect_hint_print(out, "  ", v->globals, v->first_bad_config, r->upstream,
		        r->series, r->good_rev, r->bad_rev);
	}
}
