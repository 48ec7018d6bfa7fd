/* `tracker diff --format=json`, `ndjson` and `csv`: every count, raw numbers and the method, from
 * one table of fields. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/try.h"
#include "cli/diff/view.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "core/verdict_text.h"
#include "decide/rules/ab_result.h"

#define SCHEMA "tracker-diff/2"
#define ROW_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* ---- a row ----------------------------------------------------------------------------------- */

static json_t *make_mark(const void *row, const void *view)
{
	(void)view;
	return json_string(
	        tk_verdict_status_mark(((const struct tk_diff_row *)row)->verdict.status));
}

static json_t *make_better(const void *row, const void *view)
{
	(void)view;
	return json_string(((const struct tk_diff_row *)row)->lower_is_better ? "lower" : "higher");
}

static json_t *make_evidence(const void *row, const void *view)
{
	(void)view;
	return tk_json_text(tk_diff_evidence_name(row));
}

static json_t *make_rate(const void *row, const void *view)
{
	(void)view;
	return tk_json_number(tk_diff_row_rate(row).gflop_per_s);
}

static json_t *make_peak_share(const void *row, const void *view)
{
	(void)view;
	return tk_json_number(tk_diff_row_rate(row).peak_share);
}

static json_t *make_reason(const void *row, const void *view)
{
	char reason[TK_REASON_SIZE];

	(void)view;
	return tk_json_text(
	        tk_verdict_format_reason(&((const struct tk_diff_row *)row)->verdict, reason));
}

static json_t *make_facts(const void *row, const void *view)
{
	(void)view;
	return tk_verdict_facts_to_json(&((const struct tk_diff_row *)row)->verdict);
}

static json_t *make_link(const void *row, const void *view)
{
	char link[512];

	return tk_json_text(tk_diff_series_url(view, row, link, sizeof link));
}

static json_t *make_accepted(const void *row, const void *view)
{
	const struct tk_verdict *v = &((const struct tk_diff_row *)row)->verdict;

	(void)view;
	return v->status == TK_VERDICT_ACKED
	               ? json_string(tk_verdict_status_name(v->status_before_ack))
	               : json_null();
}

static json_t *make_first_bad(const void *row, const void *view)
{
	const struct tk_diff_row *r = row;
	const struct tk_first_bad_commit c = {r->first_bad_commit, r->first_bad_subject,
	        r->first_bad_author, r->first_bad_time_s, r->first_bad_change,
	        r->first_bad_confidence};

	(void)view;
	return *c.rev ? tk_fields_to_json(tk_first_bad_commit_fields, &c, NULL) : json_null();
}

#define ROW struct tk_diff_row
const struct tk_field tk_diff_row_fields[] = {
        {TK_FIELD_WORDS("status", ROW, verdict.status, tk_verdict_status_words,
                "What the night says of the series")},
        {TK_FIELD(TEXT, "series", ROW, series, "Its name")},
        {TK_FIELD(TEXT, "problem", ROW, title, "Title of its problem")},
        {TK_FIELD(TEXT, "backend", ROW, backend, "The backend that ran")},
        {TK_FIELD(TEXT, "upstream", ROW, upstream, "The upstream that was built")},
        {TK_FIELD(TEXT, "machine", ROW, machine, "The machine that measured")},
        {TK_FIELD(TEXT, "device", ROW, device, "Its device")},
        {TK_FIELD(TEXT, "op", ROW, op, "The operation: gemm, attention, ...")},
        {TK_FIELD(TEXT, "metric", ROW, metric, "What was measured")},
        {TK_FIELD(TEXT, "unit", ROW, unit, "Unit of `before` and `after`")},
        {TK_FIELD_MAKE(MADE, "mark", make_mark, "The sign of the status in the table")},
        {TK_FIELD_MAKE(MADE, "better", make_better, "`lower` or `higher`")},
        {TK_FIELD_MEMBERS(
                "before", ROW, verdict.before, tk_estimate_fields, "Level of the baseline")},
        {TK_FIELD_MEMBERS(
                "after", ROW, verdict.after, tk_estimate_fields, "Level of the newest nights")},
        {TK_FIELD_MEMBERS("change", ROW, verdict.change, tk_estimate_fields,
                "After / before - 1; that of A/B runs where they found a change")},
        {TK_FIELD_MAKE(
                MADE, "change_by", make_evidence, "`nights` or `ab`: what the change rests on")},
        {TK_FIELD_MAKE(MADE, "gflop_per_s", make_rate, "Rate of `after`")},
        {TK_FIELD_MAKE(
                MADE, "peak_share", make_peak_share, "Its share of the peak by the data sheet")},
        {TK_FIELD(REAL, "threshold", ROW, verdict.threshold, "What the change had to exceed")},
        {TK_FIELD(REAL, "severity", ROW, verdict.severity, "The change as a multiple of it")},
        {TK_FIELD(REAL, "p", ROW, verdict.p, "Its p value")},
        {TK_FIELD(REAL, "q", ROW, verdict.q, "Its false discovery rate")},
        {TK_FIELD(INT, "samples_before", ROW, samples_before, "Samples of the baseline")},
        {TK_FIELD(INT, "samples_after", ROW, samples_after, "Samples of the newest nights")},
        {TK_FIELD(TEXT, "good_rev", ROW, good_rev, "Last revision at the old level")},
        {TK_FIELD(TEXT, "bad_rev", ROW, bad_rev, "First revision at the new level")},
        {TK_FIELD(TEXT, "bad_subject", ROW, bad_subject, "Its subject")},
        {TK_FIELD_INT_FROM("commits_between", ROW, commits_between, 0, "Commits from good to bad")},
        {TK_FIELD_INT_FROM("last_good_run", ROW, verdict.last_good_run_id, 1,
                "Newest run at the old level (`tracker show`)")},
        {TK_FIELD_INT_FROM(
                "first_bad_run", ROW, verdict.first_bad_run_id, 1, "First run at the new level")},
        {TK_FIELD(BOOL, "same_code", ROW, same_code,
                "Nothing but the code of the last good run was measured since")},
        {TK_FIELD(BOOL, "unstable", ROW, unstable,
                "Most timings before, or after, have an interval wider than the target")},
        {TK_FIELD_MAKE(LIST, "first_bad_commit", make_first_bad,
                "[Commit](#first-bad-commit) that a bisection found, or null")},
        {TK_FIELD_MEMBERS("ab_test", ROW, ab, tk_ab_result_fields, "A/B runs of both builds")},
        {TK_FIELD_MAKE(MADE, "reason", make_reason, "The facts as a sentence")},
        {TK_FIELD_WORDS(
                "rule", ROW, verdict.decided_by, tk_rule_id_words, "The rule that decided")},
        {TK_FIELD_WORDS("cause", ROW, verdict.cause, tk_cause_words,
                "`code`, `environment`, `code-or-environment`, `failure`, `missing-data` or "
                "`unknown`")},
        {TK_FIELD_MAKE(LIST, "facts", make_facts,
                "What the verdict rests on: `kind`, `numbers`, `time_s`, `text`")},
        {TK_FIELD_WORDS("state", ROW, state, tk_verdict_state_words,
                "Where the change stands: `none`, `new`, `open`, `recovered`, `acknowledged`")},
        {TK_FIELD(TEXT, "alert", ROW, alert_uid,
                "Alert that it opened, that lasts, or that it closed (`tracker alert show`)")},
        {TK_FIELD(TIME, "alert_opened", ROW, alert_opened_s, "When that was opened")},
        {TK_FIELD(TIME, "newest", ROW, newest_s, "Time of its newest run")},
        {TK_FIELD_MAKE(MADE, "link", make_link, "Its page, with --site-url")},
        {TK_FIELD_MAKE(MADE, "accepted", make_accepted,
                "The status of an `acked` row without the acknowledgement")},
        {0},
};
#undef ROW

/* ---- documents ------------------------------------------------------------------------------- */

static json_t *summary_object(const struct tk_diff_view *v)
{
	const struct tk_diff_report *r = v->report;
	char line[1024];

	tk_diff_summarize(v, line, sizeof line);
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:o, s:o}", "series",
	        (json_int_t)r->count, "machines", (json_int_t)r->machines, "compared",
	        (json_int_t)r->compared, "waiting", (json_int_t)r->waiting, "counts",
	        tk_json_counts(&tk_verdict_status_words, r->by_status), "geomean_change",
	        tk_json_number(r->mean.change), "geomean_unstable",
	        tk_diff_mean_is_unstable(&r->mean), "found", tk_diff_has_fail_on(v), "newest",
	        tk_time_to_json(r->newest_s), "text", tk_json_text(line));
}

static json_t *method_object(const struct tk_diff_report *r)
{
	const char *test = r->options.uncorrected
	                           ? "moderated t on logarithms of nightly medians, p uncorrected"
	                           : "moderated t on logarithms of nightly medians, "
	                             "Benjamini-Hochberg per machine";

	return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:f}", "test", test,
	        "baseline", r->options.baseline_name ? r->options.baseline_name : "window",
	        "min_samples", (json_int_t)r->options.min_samples, "confirm_nights",
	        (json_int_t)r->options.confirm_nights, "min_effect",
	        tk_json_number(r->options.min_effect), "min_effect_ns",
	        tk_json_number(r->options.min_effect_ns), "fdr", tk_json_number(r->options.fdr),
	        "window_nights", (json_int_t)r->window, "stale_days",
	        (json_int_t)r->options.stale_days, "confidence", 0.95);
}

static json_t *group_object(const struct tk_diff_view *v, const char *name)
{
	const struct tk_diff_group_totals sum = tk_diff_group_totals(v, name);

	return json_pack("{s:o, s:I, s:I, s:o, s:b}", "name", tk_json_text(name), "series",
	        (json_int_t)sum.series, "compared", (json_int_t)sum.compared, "geomean_change",
	        tk_json_number(sum.mean.change), "geomean_unstable",
	        tk_diff_mean_is_unstable(&sum.mean));
}

/* The groups of --group-by with a shown row, in the order of the rows. */
static json_t *groups_array(const struct tk_diff_view *v, size_t shown)
{
	json_t *groups = json_array();
	char a[TK_DIFF_GROUP_SIZE], b[TK_DIFF_GROUP_SIZE];

	for (size_t i = 0; v->group != TK_DIFF_GROUP_NONE && i < shown; i++) {
		const char *name = tk_diff_group_name(v, v->rows[i], a);

		if (!i || strcmp(name, tk_diff_group_name(v, v->rows[i - 1], b)) != 0)
			json_array_append_new(groups, group_object(v, name));
	}
	return groups;
}

/* The document without its rows. */
static json_t *head_object(const struct tk_diff_view *v, size_t shown)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:o}", "schema", SCHEMA, "since",
	        tk_time_to_json(v->report->since_s), "until", tk_time_to_json(v->report->until_s),
	        "method", method_object(v->report), "rows_left_out", (json_int_t)(v->count - shown),
	        "summary", summary_object(v), "groups", groups_array(v, shown));
}

int tk_diff_write_json(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	json_t *rows = json_array(), *document;
	size_t shown = tk_diff_shown_count(v);

	for (size_t i = 0; i < shown; i++)
		json_array_append_new(rows, tk_fields_to_json(tk_diff_row_fields, v->rows[i], v));
	document = head_object(v, shown);
	json_object_set_new(document, "rows", rows);
	return tk_json_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, err);
}

/* One line per row, then one line with the rest, which has "summary". */
int tk_diff_write_ndjson(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	size_t shown = tk_diff_shown_count(v);
	for (size_t i = 0; i < shown; i++)
		TRY(tk_json_write(
		        tk_fields_to_json(tk_diff_row_fields, v->rows[i], v), ROW_FLAGS, out, err));
	return tk_json_write(head_object(v, shown), ROW_FLAGS, out, err);
}

int tk_diff_write_csv(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	size_t shown = tk_diff_shown_count(v);

	tk_fields_write_csv_head(tk_diff_row_fields, out);
	for (size_t i = 0; i < shown; i++) {
		json_t *row = tk_fields_to_json(tk_diff_row_fields, v->rows[i], v);

		tk_fields_write_csv_row(tk_diff_row_fields, row, out);
		json_decref(row);
	}
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}
