/* `tracker diff` for the terminal: tables, and the details of --explain and --first-bad. */
#include <math.h>

#include "base/base.h"
#include "cli/commands.h"
#include "cli/diff/diff.h"
#include "cli/table.h"

/* ---- --explain and --first-bad --------------------------------------------------------------- */

static void write_details(const struct tk_diff_view *v, size_t i, FILE *out)
{
	struct tk_diff_line l;
	const struct tk_diff_row *r = &l.r;
	const struct tk_verdict *verdict = &r->verdict;
	const struct tk_estimate *change = &verdict->change;
	char day[TK_TIME_ISO_SIZE];

	tk_diff_line_make(v, i, &l);
	fputc('\n', out);
	tk_print_line(out, "%s %s", l.mark, r->series);
	tk_print_line(out, "  %s: %s", l.status,
	        tk_vocabulary_meaning(&tk_verdict_status_words, (int)verdict->status));
	if (!isnan(change->lo))
		tk_print_line(out,
		        "  change %+.2f %% (95 %% CI %+.2f to %+.2f), threshold %.2f %%; p %.3g, "
		        "q %.3g (FDR %.2g); machine code %s",
		        100 * change->value, 100 * change->lo, 100 * change->hi,
		        100 * verdict->threshold, verdict->p, verdict->q, v->report->options.fdr,
		        r->same_code ? "unchanged" : "changed or unknown");
	if (r->ab.count)
		tk_print_line(out,
		        "  A/B runs: %s, %+.2f %% (95 %% CI %+.2f to %+.2f), %s of %u pairs",
		        tk_ab_decision_name(r->ab.decision), 100 * r->ab.change, 100 * r->ab.lo,
		        100 * r->ab.hi, tk_ab_result_statistic_name(&r->ab), r->ab.count);
	if (*r->bad_rev)
		tk_print_line(out, "  first bad %s %s; last good %s", r->bad_rev, r->bad_subject,
		        r->good_rev);
	if (*r->first_bad_commit)
		tk_print_line(out,
		        "  found by bisection: %.12s %s (%s, %s): %+.1f %% against its parent, "
		        "%.1f %% confidence",
		        r->first_bad_commit, r->first_bad_subject, r->first_bad_author,
		        tk_time_format_day(r->first_bad_time_s, day), 100 * r->first_bad_change,
		        100 * r->first_bad_confidence);
	if (*l.reason)
		tk_print_line(out, "  %s", l.reason);
	if (*l.url)
		tk_print_line(out, "  %s", l.url);
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
	return has_range(a) && strcmp(a->upstream, b->upstream) == 0 &&
	       strcmp(a->good_rev, b->good_rev) == 0 && strcmp(a->bad_rev, b->bad_rev) == 0;
}

/* Each range of revisions once, with its most severe series and the commands to bisect it. */
static void write_bisect_hints(const struct tk_diff_view *v, FILE *out)
{
	for (size_t i = 0; i < v->shown; i++) {
		const struct tk_diff_row *r = v->rows[i];
		size_t series =
		        has_range(r) ? tk_diff_count_alike(v, i, v->shown, is_same_range) : 0;

		if (!series)
			continue;
		fputc('\n', out);
		tk_print_line(out, "%s %.12s..%.12s: %zu series%s%.12s%s%s", r->upstream,
		        r->good_rev, r->bad_rev, series,
		        *r->first_bad_commit      ? ", first bad commit "
		        : r->commits_between == 1 ? ", only commit: "
		                                  : "",
		        r->first_bad_commit, *r->first_bad_commit ? " " : "",
		        *r->first_bad_commit      ? r->first_bad_subject
		        : r->commits_between == 1 ? r->bad_subject
		                                  : "");
		tk_git_bisect_hint_print(out, "  ", v->globals, v->first_bad_config, r->upstream,
		        r->series, r->good_rev, r->bad_rev);
	}
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *status_color(const json_t *row)
{
	enum tk_verdict_status status;

	return tk_verdict_status_parse(tk_record_text(row, "status"), &status)
	               ? NULL
	               : tk_diff_looks[status].color;
}

#define NUMBER(order) (TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(order))
static const struct tk_column columns[] = {
        {"", TK_COLUMN_LEFT, "mark"},
        {"STATUS", TK_COLUMN_LEFT, "status", .color = status_color},
        {"PROBLEM", TK_COLUMN_CUT, "problem"},
        {"BACKEND", TK_COLUMN_CUT, "label"},
        {"MACHINE", TK_COLUMN_CUT, "{machine}/{device}"},
        {"METRIC", TK_COLUMN_VARIED, "metric"},
        {"BEFORE", NUMBER(7), "{before.value@unit}[ {before:half}]"},
        {"AFTER", NUMBER(8), "{after.value@unit}[ {after:half}]"},
        {"CHANGE", NUMBER(0), "{change.value:change}[{?ab} A/B]"},
        /* A/B runs have other levels than these nights. */
        {"BY", NUMBER(4), "{!ab}{sign}{by@unit}"},
        {"RATE", NUMBER(2), "gflop_per_s", TK_SHOW_RATE}, /* after */
        {"PEAK", NUMBER(4), "peak_share", TK_SHOW_PERCENT},
        {"X", NUMBER(3), "{?change.value}{x}"},
        {"Q", NUMBER(1), "{?change.value}{q_text}"},
        {"N", NUMBER(2), "{?change.value}{samples_before}/{samples_after}"},
        {"FIRST BAD", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(6), "commits"},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(5), "reason"},
        {0},
};

static void add_row(struct tk_table *t, const struct tk_diff_line *l)
{
	const struct tk_verdict *verdict = &l->r.verdict;
	json_auto_t *row = tk_diff_line_to_texts(l);

	json_object_update_new(
	        row, json_pack("{s:o, s:s, s:o, s:o}", "by",
	                     tk_json_number(fabs(verdict->change.value * verdict->before.value)),
	                     "sign", verdict->change.value < 0 ? "−" : "+", "x",
	                     isnan(verdict->severity) ? json_string("")
	                                              : json_sprintf("%.1f", verdict->severity),
	                     "q_text",
	                     isnan(verdict->q) ? json_null() : json_sprintf("%.2g", verdict->q)));
	tk_table_add_record(t, row);
}

/* Changes of a whole machine are one line, unless --only or --all requests the rows. */
static bool is_folded(const struct tk_diff_view *v, const struct tk_diff_row *row)
{
	return row->verdict.status == TK_VERDICT_ENVIRONMENT && !v->explicit_statuses;
}

static void print_heading(
        const struct tk_diff_view *v, const struct tk_diff_row *first, size_t shown, FILE *out)
{
	char name[TK_DIFF_GROUP_SIZE], mean[TK_DIFF_MEAN_TEXT_SIZE], of[32] = "";
	const char *group = tk_diff_group_name(v, first, name);
	struct tk_diff_group_totals sum = tk_diff_group_totals(v, group);
	bool has_mean = !isnan(sum.mean.change);

	if (shown < sum.series)
		snprintf(of, sizeof of, " of %zu", sum.series);
	tk_print_line(out, "%s: %zu series%s%s%s", group, shown, of, has_mean ? ", geomean " : "",
	        has_mean ? tk_diff_mean_format(&sum.mean, mean) : "");
}

/* The columns that did not fit into the table, one line per row. */
static void print_reasons(
        const struct tk_diff_view *v, size_t from, size_t to, bool commits, FILE *out)
{
	struct tk_diff_line l;

	for (size_t i = from; i < to; i++) {
		tk_diff_line_make(v, i, &l);
		const bool has_range = commits && *l.commits;

		if (!is_folded(v, &l.r) && (*l.reason || has_range))
			tk_print_line(out, "%s %s, %s: %s%s%s%s", l.mark, l.r.title, l.backend,
			        has_range ? "first bad " : "", has_range ? l.commits : "",
			        has_range && *l.reason ? "; " : "", l.reason);
	}
}

static int print_group(
        const struct tk_diff_view *v, size_t from, size_t to, FILE *out, struct tk_error *err)
{
	AUTO_PTR(tk_table) t = tk_table_new(v->globals, columns);
	struct tk_diff_line l;

	if (v->group != TK_DIFF_GROUP_NONE)
		print_heading(v, v->rows[from], to - from, out);
	for (size_t i = from; i < to; i++)
		if (!is_folded(v, v->rows[i])) {
			tk_diff_line_make(v, i, &l);
			add_row(t, &l);
		}
	TRY(tk_table_print(t, out, err));
	if (tk_table_is_dropped(t, "WHY"))
		print_reasons(v, from, to, tk_table_is_dropped(t, "FIRST BAD"), out);
	if (v->group != TK_DIFF_GROUP_NONE)
		fputc('\n', out);
	return TK_OK;
}

static bool is_same_environment(const struct tk_diff_row *a, const struct tk_diff_row *b)
{
	return a->verdict.status == b->verdict.status && strcmp(a->machine, b->machine) == 0 &&
	       strcmp(a->device, b->device) == 0;
}

static void print_environment(const struct tk_diff_view *v, size_t i, FILE *out)
{
	const size_t count = tk_diff_count_alike(v, i, v->shown, is_same_environment);
	double least = v->rows[i]->verdict.change.value, most = least;
	struct tk_diff_line l;
	char to[32] = "";

	if (!count)
		return;
	for (size_t j = i; j < v->shown; j++)
		if (is_same_environment(v->rows[j], v->rows[i])) {
			least = fmin(least, v->rows[j]->verdict.change.value);
			most = fmax(most, v->rows[j]->verdict.change.value);
		}
	if (count > 1)
		snprintf(to, sizeof to, " to %+.1f", 100 * most);
	tk_diff_line_make(v, i, &l);
	tk_print_line(out,
	        "%s environment: %zu series on %s/%s changed with the machine (%+.1f%s %%)%s: %s",
	        l.mark, count, l.r.machine, l.r.device, 100 * least, to,
	        count > 1 ? "; the first" : "", l.reason);
}

static void print_header(const struct tk_diff_view *v, FILE *out)
{
	bool has_ab = false;

	for (size_t i = 0; i < v->shown; i++)
		has_ab |= tk_diff_row_is_ab_confirmed(v->rows[i]);
	fprintf(out, "%s; CHANGE is after/before - 1%s, X is CHANGE over its threshold\n",
	        v->direction, has_ab ? " (A/B: by A/B runs)" : "");
}

int tk_diff_write_text(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	if (v->shown)
		print_header(v, out);
	for (size_t i = 0, next; i < v->shown; i = next) {
		next = tk_diff_group_end(v, i);
		TRY(print_group(v, i, next, out, err));
	}
	for (size_t i = 0; i < v->shown; i++)
		if (is_folded(v, v->rows[i]))
			print_environment(v, i, out);
	if (v->shown < v->count)
		fprintf(out, "... and %zu more (--limit=0 shows all)\n", v->count - v->shown);
	for (size_t i = 0; v->explain && i < v->shown; i++)
		write_details(v, i, out);
	if (v->first_bad_config)
		write_bisect_hints(v, out);
	fprintf(out, "%s\n", v->summary);
	return TK_OK;
}
