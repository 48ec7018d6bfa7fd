/* `tracker diff --format=json` and `ndjson`: every count, raw numbers and the method. The schema is
 * in docs/reference/diff.md. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/diff/view.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "core/verdict_text.h"
#include "detect/rules/ab_result.h"

#define SCHEMA "tracker-diff/2"
#define ROW_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

static json_t *interval(double value, double lo, double hi)
{
	return isnan(value) ? json_null()
	                    : json_pack("{s:o, s:o, s:o}", "value", tk_json_number(value), "lo",
	                              tk_json_number(lo), "hi", tk_json_number(hi));
}

static json_t *day_time(int64_t t_s)
{
	char iso[TK_TIME_ISO_SIZE];

	return t_s && t_s != INT64_MAX ? json_string(tk_time_format_iso(t_s, iso)) : json_null();
}

static json_t *ab_test_object(const struct tk_ab_result *p)
{
	return p->decision == TK_AB_NONE
	               ? json_null()
	               : json_pack("{s:s, s:I, s:I, s:s, s:o}", "decision",
	                         tk_ab_decision_name(p->decision), "count", (json_int_t)p->count,
	                         "failed", (json_int_t)p->failed, "statistic",
	                         tk_ab_result_statistic_name(p), "change",
	                         interval(p->change, p->lo, p->hi));
}

static json_t *first_bad_commit_object(const struct tk_diff_row *r)
{
	return !*r->first_bad_commit ? json_null()
	                             : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rev",
	                                       tk_json_text(r->first_bad_commit), "subject",
	                                       tk_json_text(r->first_bad_subject), "author",
	                                       tk_json_text(r->first_bad_author), "author_time",
	                                       day_time(r->first_bad_time_s), "change",
	                                       tk_json_number(r->first_bad_change), "confidence",
	                                       tk_json_number(r->first_bad_confidence));
}

static json_t *row_object(const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	char link[512], reason[TK_REASON_SIZE];
	json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "status",
	        tk_verdict_status_name(r->verdict.status), "mark",
	        tk_verdict_status_mark(r->verdict.status), "series", tk_json_text(r->series),
	        "problem", tk_json_text(r->title), "backend", tk_json_text(r->backend), "upstream",
	        tk_json_text(r->upstream), "machine", tk_json_text(r->machine), "device",
	        tk_json_text(r->device), "metric", tk_json_text(r->metric), "unit",
	        tk_json_text(r->unit), "better", r->lower_is_better ? "lower" : "higher");

	if (!o)
		return NULL;
	json_object_set_new(o, "before",
	        interval(r->verdict.before.value, r->verdict.before.lo, r->verdict.before.hi));
	json_object_set_new(o, "after",
	        interval(r->verdict.after.value, r->verdict.after.lo, r->verdict.after.hi));
	json_object_set_new(o, "change",
	        interval(r->verdict.change.value, r->verdict.change.lo, r->verdict.change.hi));
	const struct tk_rate rate = tk_diff_row_rate(r);
	tk_rate_set_members(o, &rate);
	json_object_set_new(o, "change_by", tk_json_text(tk_diff_evidence_name(r)));
	json_object_set_new(o, "threshold", tk_json_number(r->verdict.threshold));
	json_object_set_new(o, "severity", tk_json_number(r->verdict.severity));
	json_object_set_new(o, "p", tk_json_number(r->verdict.p));
	json_object_set_new(o, "q", tk_json_number(r->verdict.q));
	json_object_set_new(o, "samples_before", json_integer(r->samples_before));
	json_object_set_new(o, "samples_after", json_integer(r->samples_after));
	json_object_set_new(o, "good_rev", tk_json_text(r->good_rev));
	json_object_set_new(o, "bad_rev", tk_json_text(r->bad_rev));
	json_object_set_new(o, "bad_subject", tk_json_text(r->bad_subject));
	json_object_set_new(o, "commits_between",
	        r->commits_between < 0 ? json_null() : json_integer(r->commits_between));
	json_object_set_new(o, "last_good_run",
	        r->verdict.last_good_run_id ? json_integer(r->verdict.last_good_run_id)
	                                    : json_null());
	json_object_set_new(o, "first_bad_run",
	        r->verdict.first_bad_run_id ? json_integer(r->verdict.first_bad_run_id)
	                                    : json_null());
	json_object_set_new(o, "same_code", json_boolean(r->same_code));
	json_object_set_new(o, "unstable", json_boolean(r->unstable));
	json_object_set_new(o, "first_bad_commit", first_bad_commit_object(r));
	json_object_set_new(o, "ab_test", ab_test_object(&r->ab));
	json_object_set_new(
	        o, "reason", tk_json_text(tk_verdict_format_reason(&r->verdict, reason)));
	json_object_set_new(o, "rule", json_string(tk_rule_id_name(r->verdict.decided_by)));
	json_object_set_new(o, "cause", json_string(tk_cause_name(r->verdict.cause)));
	json_object_set_new(o, "facts", tk_verdict_facts_to_json(&r->verdict));
	json_object_set_new(o, "newest", day_time(r->newest_s));
	json_object_set_new(o, "link", tk_json_text(tk_diff_series_url(v, r, link, sizeof link)));
	json_object_set_new(o, "op", tk_json_text(r->op));
	json_object_set_new(o, "accepted",
	        r->verdict.status == TK_VERDICT_ACKED
	                ? tk_json_text(tk_verdict_status_name(r->verdict.status_before_ack))
	                : json_null());
	return o;
}

static json_t *summary_object(const struct tk_diff_view *v)
{
	const struct tk_diff_report *r = v->report;
	char line[1024];

	if (r->compared || tk_diff_has_fail_on(v))
		tk_diff_summarize(v, line, sizeof line);
	else
		tk_diff_explain_empty(r, line, sizeof line);
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:o, s:o}", "series",
	        (json_int_t)r->count, "machines", (json_int_t)r->machines, "compared",
	        (json_int_t)r->compared, "waiting", (json_int_t)r->waiting, "counts",
	        tk_json_counts(&tk_verdict_status_words, r->by_status), "geomean_change",
	        tk_json_number(r->mean.change), "geomean_unstable",
	        tk_diff_mean_is_unstable(&r->mean), "found", tk_diff_has_fail_on(v), "newest",
	        day_time(r->newest_s), "text", tk_json_text(line));
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
	        day_time(v->report->since_s), "until", day_time(v->report->until_s), "method",
	        method_object(v->report), "rows_left_out", (json_int_t)(v->count - shown),
	        "summary", summary_object(v), "groups", groups_array(v, shown));
}

int tk_diff_write_json(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	json_t *rows = json_array(), *document;
	size_t shown = tk_diff_shown_count(v);

	for (size_t i = 0; i < shown; i++)
		json_array_append_new(rows, row_object(v, v->rows[i]));
	document = json_array_size(rows) == shown ? head_object(v, shown) : NULL;
	if (!document || json_object_set(document, "rows", rows)) {
		json_decref(document);
		document = NULL;
	}
	json_decref(rows);
	return tk_json_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, err);
}

/* One line per row, then one line with the rest, which has "summary". */
int tk_diff_write_ndjson(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	size_t shown = tk_diff_shown_count(v);
	int status = TK_OK;

	for (size_t i = 0; !status && i < shown; i++)
		status = tk_json_write(row_object(v, v->rows[i]), ROW_FLAGS, out, err);
	return status ? status : tk_json_write(head_object(v, shown), ROW_FLAGS, out, err);
}
