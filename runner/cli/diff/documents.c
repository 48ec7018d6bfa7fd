/* `tracker diff --format=json`, `ndjson` and `csv`: every count, raw numbers and the method, from
 * one table of fields; and `sarif`. */
#include <math.h>

#include "cli/commands.h"
#include "cli/diff/diff.h"

#define SCHEMA "tracker-diff/2"
#define ROW_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* ---- a row ----------------------------------------------------------------------------------- */

static json_t *make_facts(const void *line, const void *context)
{
	return tk_verdict_facts_to_json(&((const struct tk_diff_line *)line)->r.verdict);
}

static json_t *make_first_bad(const void *line, const void *context)
{
	const struct tk_first_bad_commit *c = &((const struct tk_diff_line *)line)->first_bad;

	return *c->rev ? tk_fields_to_json(tk_first_bad_commit_fields, c, NULL) : json_null();
}

#define LINE struct tk_diff_line
static const struct tk_field fields[] = {
        {TK_FIELD_WORDS("status", LINE, r.verdict.status, tk_verdict_status_words)},
        {TK_FIELD(TEXT, "series", LINE, r.series)},
        {TK_FIELD(TEXT, "problem", LINE, r.title)},
        {TK_FIELD(TEXT, "backend", LINE, r.backend)},
        {TK_FIELD(TEXT, "upstream", LINE, r.upstream)},
        {TK_FIELD(TEXT, "machine", LINE, r.machine)},
        {TK_FIELD(TEXT, "device", LINE, r.device)},
        {TK_FIELD(TEXT, "op", LINE, r.op)},
        {TK_FIELD(TEXT, "metric", LINE, r.metric)},
        {TK_FIELD(TEXT, "unit", LINE, r.unit)},
        {TK_FIELD(TEXT, "mark", LINE, mark)},
        {TK_FIELD(TEXT, "better", LINE, better)},
        {TK_FIELD_MEMBERS("before", LINE, r.verdict.before, tk_estimate_fields)},
        {TK_FIELD_MEMBERS("after", LINE, r.verdict.after, tk_estimate_fields)},
        {TK_FIELD_MEMBERS("change", LINE, r.verdict.change, tk_estimate_fields)},
        {TK_FIELD(TEXT, "change_by", LINE, evidence)},
        {TK_FIELD(REAL, "gflop_per_s", LINE, rate.gflop_per_s)},
        {TK_FIELD(REAL, "peak_share", LINE, rate.peak_share)},
        {TK_FIELD(REAL, "threshold", LINE, r.verdict.threshold)},
        {TK_FIELD(REAL, "severity", LINE, r.verdict.severity)},
        {TK_FIELD(REAL, "p", LINE, r.verdict.p)},
        {TK_FIELD(REAL, "q", LINE, r.verdict.q)},
        {TK_FIELD(INT, "samples_before", LINE, r.samples_before)},
        {TK_FIELD(INT, "samples_after", LINE, r.samples_after)},
        {TK_FIELD(TEXT, "good_rev", LINE, r.good_rev)},
        {TK_FIELD(TEXT, "bad_rev", LINE, r.bad_rev)},
        {TK_FIELD(TEXT, "bad_subject", LINE, r.bad_subject)},
        {TK_FIELD_INT_FROM("commits_between", LINE, r.commits_between, 0)},
        {TK_FIELD_INT_FROM("last_good_run", LINE, r.verdict.last_good_run_id, 1)},
        {TK_FIELD_INT_FROM("first_bad_run", LINE, r.verdict.first_bad_run_id, 1)},
        {TK_FIELD(BOOL, "same_code", LINE, r.same_code)},
        {TK_FIELD(BOOL, "unstable", LINE, r.unstable)},
        {TK_FIELD_MAKE(LIST, "first_bad_commit", make_first_bad)},
        {TK_FIELD_MEMBERS("ab_test", LINE, r.ab, tk_ab_result_fields)},
        {TK_FIELD(TEXT, "reason", LINE, reason)},
        {TK_FIELD_WORDS("rule", LINE, r.verdict.decided_by, tk_rule_id_words)},
        {TK_FIELD_WORDS("cause", LINE, r.verdict.cause, tk_cause_words)},
        {TK_FIELD_MAKE(LIST, "facts", make_facts)},
        {TK_FIELD_WORDS("state", LINE, r.state, tk_verdict_state_words)},
        {TK_FIELD(TEXT, "alert", LINE, r.alert_uid)},
        {TK_FIELD(TIME, "alert_opened", LINE, r.alert_opened_s)},
        {TK_FIELD(TIME, "newest", LINE, r.newest_s)},
        {TK_FIELD(TEXT, "link", LINE, url)},
        {TK_FIELD(TEXT, "accepted", LINE, accepted)},
        {0},
};
#undef LINE

/* ---- documents ------------------------------------------------------------------------------- */

static json_t *summary_object(const struct tk_diff_view *v)
{
	const struct tk_diff_report *r = v->report;

	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:o, s:o}", "series",
	        (json_int_t)r->count, "machines", (json_int_t)r->machines, "compared",
	        (json_int_t)r->compared, "waiting", (json_int_t)r->waiting, "counts",
	        tk_json_counts(&tk_verdict_status_words, r->by_status), "geomean_change",
	        tk_json_number(r->mean.change), "geomean_unstable",
	        tk_diff_mean_is_unstable(&r->mean), "found", v->is_found, "newest",
	        tk_time_to_json(r->newest_s), "text", tk_json_text(v->summary));
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
static json_t *groups_array(const struct tk_diff_view *v)
{
	json_t *groups = json_array();
	char name[TK_DIFF_GROUP_SIZE];

	for (size_t i = 0; v->group != TK_DIFF_GROUP_NONE && i < v->shown;
	        i = tk_diff_group_end(v, i))
		json_array_append_new(
		        groups, group_object(v, tk_diff_group_name(v, v->rows[i], name)));
	return groups;
}

/* The document without its rows. */
static json_t *head_object(const struct tk_diff_view *v)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:o}", "schema", SCHEMA, "since",
	        tk_time_to_json(v->report->since_s), "until", tk_time_to_json(v->report->until_s),
	        "method", method_object(v->report), "rows_left_out",
	        (json_int_t)(v->count - v->shown), "summary", summary_object(v), "groups",
	        groups_array(v));
}

json_t *tk_diff_line_to_texts(const struct tk_diff_line *l)
{
	json_t *row = tk_fields_to_json(fields, l, NULL);

	json_object_update_new(row,
	        json_pack("{s:o, s:o, s:o, s:b, s:s}", "label", tk_json_text(l->backend), "commits",
	                tk_json_text(l->commits), "subject", tk_json_text(l->subject), "ab",
	                *l->ab_suffix != '\0', "ab_suffix", l->ab_suffix));
	return row;
}

static json_t *row_object(const struct tk_diff_view *v, size_t i)
{
	struct tk_diff_line l;

	tk_diff_line_make(v, i, &l);
	return tk_fields_to_json(fields, &l, NULL);
}

int tk_diff_write_json(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	json_t *rows = json_array(), *document;

	for (size_t i = 0; i < v->shown; i++)
		json_array_append_new(rows, row_object(v, i));
	document = head_object(v);
	json_object_set_new(document, "rows", rows);
	return tk_json_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, err);
}

/* One line per row, then one line with the rest, which has "summary". */
int tk_diff_write_ndjson(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	for (size_t i = 0; i < v->shown; i++)
		TRY(tk_json_write(row_object(v, i), ROW_FLAGS, out, err));
	return tk_json_write(head_object(v), ROW_FLAGS, out, err);
}

int tk_diff_write_csv(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	tk_fields_write_csv_row(fields, NULL, out);
	for (size_t i = 0; i < v->shown; i++) {
		json_auto_t *row = row_object(v, i);

		tk_fields_write_csv_row(fields, row, out);
	}
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}

/* ---- SARIF ----------------------------------------------------------------------------------- */

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define FINGERPRINT "trackerStep/v1"

static const char *choose_level(const struct tk_diff_view *v, enum tk_verdict_status s)
{
	return v->fail_on[s] ? "error" : tk_diff_looks[s].sarif;
}

static json_t *rules(const struct tk_diff_view *v)
{
	json_t *list = json_array();

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++) {
		enum tk_verdict_status s = (enum tk_verdict_status)i;

		json_array_append_new(list,
		        json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "id", tk_verdict_status_name(s),
		                "name", tk_verdict_status_name(s), "shortDescription", "text",
		                tk_vocabulary_meaning(&tk_verdict_status_words, (int)s),
		                "defaultConfiguration", "level", choose_level(v, s)));
	}
	return list;
}

/* A series has no source file; the location is the configuration that makes it measured. */
static json_t *locations(const struct tk_diff_view *v, const struct tk_diff_row *r)
{
	const char *file =
	        v->globals && v->globals->config_path ? v->globals->config_path : "tracker.yml";
	char title[sizeof r->title];

	strcpy(title, r->title);
	tk_text_sanitize(title, "", '?');

	return json_pack("[{s:{s:{s:s}, s:{s:i}}, s:[{s:o, s:s, s:o}]}]", "physicalLocation",
	        "artifactLocation", "uri", *file == '/' ? "tracker.yml" : file, "region",
	        "startLine", 1, "logicalLocations", "fullyQualifiedName",
	        tk_json_valid_text(r->series), "kind", "function", "name",
	        tk_json_valid_text(title));
}

static json_t *result(const struct tk_diff_view *v, size_t i)
{
	char uid[TK_ALERT_UID_SIZE];
	struct tk_diff_line l;
	const struct tk_diff_row *r = &l.r;
	json_t *o;

	tk_diff_line_make(v, i, &l);
	json_auto_t *texts = tk_diff_line_to_texts(&l);

	if (r->better == TK_BETTER_UNKNOWN)
		json_object_del(texts, "better");
	AUTO_TEXT text = tk_record_format("{status}: {problem} on {machine}, {label}"
	                                  "[: {change.value:signed} of {metric}[{ab_suffix}]"
	                                  "[, {better} is better]]"
	                                  "[; first bad {commits} [{subject}]][; {reason}]",
	        TK_SHOW_PLAIN, texts);

	tk_alert_uid_hash(
	        (const char *const[]){"step", r->series, r->machine, r->bad_rev, l.status}, 5, uid);
	o = json_pack("{s:s, s:s, s:{s:o}, s:o, s:{s:s}, s:{s:o, s:o, s:o}}", "ruleId", l.status,
	        "level", choose_level(v, r->verdict.status), "message", "text",
	        tk_json_valid_text(text), "locations", locations(v, r), "partialFingerprints",
	        FINGERPRINT, uid, "properties", "change", tk_json_number(r->verdict.change.value),
	        "q", tk_json_number(r->verdict.q), "bad_rev", tk_json_valid_text(r->bad_rev));
	if (*l.url)
		json_object_set_new(o, "hostedViewerUri", tk_json_valid_text(l.url));
	if (r->verdict.status == TK_VERDICT_ACKED)
		json_object_set_new(o, "suppressions",
		        json_pack("[{s:s, s:s, s:o}]", "kind", "external", "status", "accepted",
		                "justification", tk_json_valid_text(l.reason)));
	return o;
}

int tk_diff_write_sarif(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	json_t *results = json_array();

	for (size_t i = 0; i < v->shown; i++)
		json_array_append_new(results, result(v, i));
	return tk_json_write(
	        json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o, s:{s:o, s:I}}]}", "$schema",
	                SARIF_SCHEMA, "version", "2.1.0", "runs", "tool", "driver", "name",
	                "tracker", "version", TK_VERSION, "rules", rules(v), "results", results,
	                "properties", "summary", tk_json_valid_text(v->summary), "left_out",
	                (json_int_t)(v->count - v->shown)),
	        JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, err);
}
