/* `tracker diff` for the terminal: tables, and the details of --explain and --first-bad. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/present.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/diff/view.h"
#include "cli/night/git_bisect_hint.h"
#include "cli/rate.h"
#include "cli/table.h"
#include "core/verdict_text.h"
#include "decide/rules/ab_result.h"

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

static const struct tk_column columns[] = {
        {"", TK_COLUMN_LEFT},
        {"STATUS", TK_COLUMN_LEFT},
        {"PROBLEM", TK_COLUMN_CUT},
        {"BACKEND", TK_COLUMN_CUT},
        {"MACHINE", TK_COLUMN_CUT},
        {"METRIC", TK_COLUMN_OPTIONAL},
        {"BEFORE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(7)},
        {"AFTER", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(8)},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"BY", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)}, /* after */
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)},
        {"X", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"Q", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"FIRST BAD", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(6)},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(5)},
        {0},
};

static const char *status_color(enum tk_verdict_status s)
{
	switch (s) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_FAILING:
		return "red";
	case TK_VERDICT_MISSING:
	case TK_VERDICT_UNSURE:
	case TK_VERDICT_NOT_COMPARABLE:
	case TK_VERDICT_STALE:
		return "yellow";
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return "green";
	default:
		return "halfbright";
	}
}

static void set_value(struct tk_table *t, const char *column, double value, double lo, double hi,
        uint32_t n, const char *unit)
{
	char text[TK_FORMAT_SIZE], width[TK_FORMAT_SIZE] = "";

	if (isnan(value))
		return;
	if (n != 1)
		tk_format_half_width(value, lo, hi, width);
	tk_format_value(value, unit, text);
	tk_table_set_cell(t, column, "%s%s%s", text, *width ? " " : "", width);
}

static void set_change(struct tk_table *t, const struct tk_diff_row *row)
{
	char text[TK_FORMAT_SIZE];

	if (isnan(row->verdict.change.value))
		return;
	tk_format_change(row->verdict.change.value, text);
	tk_table_set_cell(
	        t, "CHANGE", "%s%s", text, tk_diff_row_is_ab_confirmed(row) ? " A/B" : "");
	if (!tk_diff_row_is_ab_confirmed(row)) { /* A/B runs have other levels than these nights */
		tk_format_value(fabs(row->verdict.change.value * row->verdict.before.value),
		        row->unit, text);
		tk_table_set_cell(t, "BY", "%s%s", row->verdict.change.value < 0 ? "−" : "+", text);
	}
	tk_table_set_cell(t, "X", "%.1f", row->verdict.severity);
	if (!isnan(row->verdict.q))
		tk_table_set_cell(t, "Q", "%.2g", row->verdict.q);
	tk_table_set_cell(t, "N", "%u/%u", row->samples_before, row->samples_after);
}

static bool has_several_metrics(const struct tk_diff_view *v)
{
	for (size_t i = 1; i < v->count; i++)
		if (strcmp(v->rows[i]->metric, v->rows[0]->metric) != 0)
			return true;
	return false;
}

static void add_row(struct tk_table *t, const struct tk_diff_view *v, const struct tk_diff_row *row,
        bool metrics)
{
	char commits[320], backend[200], reason[TK_REASON_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "", "%s", tk_verdict_status_mark(row->verdict.status));
	tk_table_set_cell(t, "STATUS", "%s", tk_verdict_status_name(row->verdict.status));
	tk_table_set_color(t, "STATUS", status_color(row->verdict.status));
	tk_table_set_cell(t, "PROBLEM", "%s", row->title);
	tk_table_set_cell(
	        t, "BACKEND", "%s", tk_diff_describe_backend(v, row, backend, sizeof backend));
	tk_table_set_cell(t, "MACHINE", "%s/%s", row->machine, row->device);
	if (metrics)
		tk_table_set_cell(t, "METRIC", "%s", row->metric);
	set_value(t, "BEFORE", row->verdict.before.value, row->verdict.before.lo,
	        row->verdict.before.hi, row->samples_before, row->unit);
	set_value(t, "AFTER", row->verdict.after.value, row->verdict.after.lo,
	        row->verdict.after.hi, row->samples_after, row->unit);
	set_change(t, row);
	const struct tk_rate rate = tk_diff_row_rate(row);
	tk_rate_set_cells(t, &rate);
	if (*tk_diff_describe_commits(row, commits, sizeof commits))
		tk_table_set_cell(t, "FIRST BAD", "%s", commits);
	if (*tk_verdict_format_reason(&row->verdict, reason))
		tk_table_set_cell(t, "WHY", "%s", reason);
}

/* Changes of a whole machine are one line, unless --only or --all requests the rows. */
static bool is_folded(const struct tk_diff_view *v, const struct tk_diff_row *row)
{
	return row->verdict.status == TK_VERDICT_ENVIRONMENT && !v->explicit_statuses;
}

static void print_heading(
        const struct tk_diff_view *v, const struct tk_diff_row *first, size_t shown, FILE *out)
{
	char name[TK_DIFF_GROUP_SIZE], mean[TK_DIFF_MEAN_TEXT_SIZE];
	const char *group = tk_diff_group_name(v, first, name);
	struct tk_diff_group_totals sum = tk_diff_group_totals(v, group);

	tk_text_write_sanitized(out, group, "");
	fprintf(out, ": %zu series", shown);
	if (shown < sum.series)
		fprintf(out, " of %zu", sum.series);
	if (!isnan(sum.mean.change))
		fprintf(out, ", geomean %s", tk_diff_mean_format(&sum.mean, mean));
	fputc('\n', out);
}

/* The columns that did not fit into the table, one line per row. */
static void print_reasons(
        const struct tk_diff_view *v, size_t from, size_t to, bool commits, FILE *out)
{
	char name[200], range[320], reason[TK_REASON_SIZE];

	for (size_t i = from; i < to; i++) {
		const struct tk_diff_row *r = v->rows[i];
		const bool has_range = commits && *tk_diff_describe_commits(r, range, sizeof range);

		if (is_folded(v, r) ||
		        (!*tk_verdict_format_reason(&r->verdict, reason) && !has_range))
			continue;
		fprintf(out, "%s ", tk_verdict_status_mark(r->verdict.status));
		tk_text_write_sanitized(out, r->title, "");
		fputs(", ", out);
		tk_text_write_sanitized(out, tk_diff_describe_backend(v, r, name, sizeof name), "");
		fputs(": ", out);
		if (has_range) {
			fputs("first bad ", out);
			tk_text_write_sanitized(out, range, "");
			fputs(*reason ? "; " : "", out);
		}
		tk_text_write_sanitized(out, reason, "");
		fputc('\n', out);
	}
}

static int print_group(
        const struct tk_diff_view *v, size_t from, size_t to, FILE *out, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(v->globals, columns);
	bool metrics = has_several_metrics(v);
	int status;

	if (v->group != TK_DIFF_GROUP_NONE)
		print_heading(v, v->rows[from], to - from, out);
	for (size_t i = from; i < to; i++)
		if (!is_folded(v, v->rows[i]))
			add_row(t, v, v->rows[i], metrics);
	status = tk_table_print(t, out, err);
	if (!status && tk_table_is_dropped(t, "WHY"))
		print_reasons(v, from, to, tk_table_is_dropped(t, "FIRST BAD"), out);
	tk_table_free(t);
	if (v->group != TK_DIFF_GROUP_NONE)
		fputc('\n', out);
	return status;
}

static void print_environment(const struct tk_diff_view *v, size_t shown, FILE *out)
{
	for (size_t i = 0; i < shown; i++) {
		const struct tk_diff_row *row = v->rows[i];
		size_t count = 0, before = 0;
		char reason[TK_REASON_SIZE];
		double least = row->verdict.change.value, most = row->verdict.change.value;

		if (!is_folded(v, row))
			continue;
		for (size_t j = 0; j < shown; j++)
			if (is_folded(v, v->rows[j]) &&
			        strcmp(v->rows[j]->machine, row->machine) == 0 &&
			        strcmp(v->rows[j]->device, row->device) == 0) {
				count++;
				before += j < i;
				least = fmin(least, v->rows[j]->verdict.change.value);
				most = fmax(most, v->rows[j]->verdict.change.value);
			}
		if (before)
			continue;
		fprintf(out, "%s environment: %zu series on ",
		        tk_verdict_status_mark(row->verdict.status), count);
		tk_text_write_sanitized(out, row->machine, "");
		fputc('/', out);
		tk_text_write_sanitized(out, row->device, "");
		fprintf(out, " changed with the machine (%+.1f", 100 * least);
		if (count > 1)
			fprintf(out, " to %+.1f", 100 * most);
		fprintf(out, " %%)%s: ", count > 1 ? "; the first" : "");
		tk_text_write_sanitized(out, tk_verdict_format_reason(&row->verdict, reason), "");
		fputc('\n', out);
	}
}

static void print_header(const struct tk_diff_view *v, size_t shown, FILE *out)
{
	char line[1024];
	bool has_ab = false;

	for (size_t i = 0; i < shown; i++)
		has_ab |= tk_diff_row_is_ab_confirmed(v->rows[i]);
	tk_diff_describe_direction(v->report, line, sizeof line);
	fprintf(out, "%s; CHANGE is after/before - 1%s, X is CHANGE over its threshold\n", line,
	        has_ab ? " (A/B: by A/B runs)" : "");
}

int tk_diff_write_text(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	size_t shown = tk_diff_shown_count(v);
	char line[1024], a[TK_DIFF_GROUP_SIZE], b[TK_DIFF_GROUP_SIZE];

	if (shown)
		print_header(v, shown, out);
	for (size_t i = 0, next; i < shown; i = next) {

		for (next = i + 1;
		        next < shown && strcmp(tk_diff_group_name(v, v->rows[i], a),
		                                tk_diff_group_name(v, v->rows[next], b)) == 0;
		        next++)
			;
		TRY(print_group(v, i, next, out, err));
	}
	print_environment(v, shown, out);
	if (shown < v->count)
		fprintf(out, "... and %zu more (--limit=0 shows all)\n", v->count - shown);
	if (v->explain)
		tk_diff_write_details(v, out);
	if (v->first_bad_config)
		tk_diff_write_bisect_hints(v, out);
	tk_diff_summarize(v, line, sizeof line);
	fprintf(out, "%s\n", line);
	return TK_OK;
}
