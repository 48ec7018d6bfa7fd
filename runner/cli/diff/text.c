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
	if (!isnan(change->value))
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

static void set_level(struct tk_table *t, const char *column, const struct tk_estimate *e,
        const char *value, uint32_t n)
{
	char width[TK_FORMAT_SIZE] = "";

	if (isnan(e->value))
		return;
	if (n != 1)
		tk_format_half_width(e->value, e->lo, e->hi, width);
	tk_table_set_cell(t, column, "%s%s%s", value, *width ? " " : "", width);
}

static void set_change(struct tk_table *t, const struct tk_diff_line *l)
{
	const struct tk_verdict *verdict = &l->r.verdict;
	char text[TK_FORMAT_SIZE];

	if (!*l->change)
		return;
	tk_table_set_cell(t, "CHANGE", "%s%s", l->change, *l->ab_suffix ? " A/B" : "");
	if (!*l->ab_suffix) /* A/B runs have other levels than these nights */
		tk_table_set_cell(t, "BY", "%s%s", verdict->change.value < 0 ? "−" : "+",
		        tk_format_value(fabs(verdict->change.value * verdict->before.value),
		                l->r.unit, text));
	tk_table_set_cell(t, "X", "%.1f", verdict->severity);
	if (!isnan(verdict->q))
		tk_table_set_cell(t, "Q", "%.2g", verdict->q);
	tk_table_set_cell(t, "N", "%u/%u", l->r.samples_before, l->r.samples_after);
}

static bool has_several_metrics(const struct tk_diff_view *v)
{
	for (size_t i = 1; i < v->count; i++)
		if (strcmp(v->rows[i]->metric, v->rows[0]->metric) != 0)
			return true;
	return false;
}

static void add_row(struct tk_table *t, const struct tk_diff_line *l, bool metrics)
{
	const struct tk_diff_row *r = &l->r;

	tk_table_add_row(t);
	tk_table_set_cell(t, "", "%s", l->mark);
	tk_table_set_cell(t, "STATUS", "%s", l->status);
	tk_table_set_color(t, "STATUS", status_color(r->verdict.status));
	tk_table_set_cell(t, "PROBLEM", "%s", r->title);
	tk_table_set_cell(t, "BACKEND", "%s", l->backend);
	tk_table_set_cell(t, "MACHINE", "%s/%s", r->machine, r->device);
	if (metrics)
		tk_table_set_cell(t, "METRIC", "%s", r->metric);
	set_level(t, "BEFORE", &r->verdict.before, l->before, r->samples_before);
	set_level(t, "AFTER", &r->verdict.after, l->after, r->samples_after);
	set_change(t, l);
	tk_rate_set_cells(t, &l->rate);
	tk_table_set_cell(t, "FIRST BAD", "%s", l->commits);
	tk_table_set_cell(t, "WHY", "%s", l->reason);
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
	struct tk_table *t = tk_table_new(v->globals, columns);
	bool metrics = has_several_metrics(v);
	struct tk_diff_line l;
	int status;

	if (v->group != TK_DIFF_GROUP_NONE)
		print_heading(v, v->rows[from], to - from, out);
	for (size_t i = from; i < to; i++)
		if (!is_folded(v, v->rows[i])) {
			tk_diff_line_make(v, i, &l);
			add_row(t, &l, metrics);
		}
	status = tk_table_print(t, out, err);
	if (!status && tk_table_is_dropped(t, "WHY"))
		print_reasons(v, from, to, tk_table_is_dropped(t, "FIRST BAD"), out);
	tk_table_free(t);
	if (v->group != TK_DIFF_GROUP_NONE)
		fputc('\n', out);
	return status;
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
