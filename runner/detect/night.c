/* After a night: verdicts of all its series, alerts, and the change points of the series it
 * touched, in one transaction. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "detect/history/series_case.h"
#include "detect/monitor/monitor_session.h"
#include "detect/rules/ab_result.h"
#include "stats/changepoint/changepoint.h"

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while judging a night");
}

int64_t tk_night_find_range(
        const struct tk_rows *nights, const struct tk_night_row *night, int64_t *previous)
{
	int64_t since = night->as_of_s, found;

	*previous = 0;
	for (int back = 1; back < TK_NIGHT_WINDOW; back++, since = found) {
		const struct tk_night_row *best = NULL;

		for (size_t i = 0; i < nights->count; i++) {
			const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

			if (n->machine_id == night->machine_id && n->as_of_s < since &&
			        strcmp(n->kind, "run") != 0 &&
			        (!best || n->as_of_s > best->as_of_s))
				best = n;
		}
		if (!best)
			break;
		found = best->as_of_s;
		if (back == 1)
			*previous = best->id;
	}
	return since;
}

static bool was_good_news(const struct tk_verdict_row *v)
{
	return strcmp(v->status, tk_verdict_status_name(TK_VERDICT_IMPROVED)) == 0 ||
	       strcmp(v->status, tk_verdict_status_name(TK_VERDICT_RECOVERED)) == 0 ||
	       strncmp(v->reason, "better since", 12) == 0;
}

int tk_diff_report_suppress_repeats(struct tk_store *s, const struct tk_case_set *c,
        int64_t previous, struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_rows verdicts = {0};
	int rc = previous ? tk_store_list_verdicts(s, previous, &verdicts, err) : TK_OK;

	for (size_t i = 0; !rc && i < r->count; i++) {
		struct tk_diff_row *row = &r->rows[i];

		if (row->first_bad_run_id == c->at[i].window->last_within.run_id)
			continue;
		for (size_t j = 0; row->status == TK_VERDICT_IMPROVED && j < verdicts.count; j++) {
			const struct tk_verdict_row *v =
			        TK_ROWS_AT(&verdicts, struct tk_verdict_row, j);

			if (v->series_id == row->series_id && was_good_news(v)) {
				row->status = TK_VERDICT_SAME;
				snprintf(row->reason, sizeof row->reason,
				        "better since %.40s, reported then", row->bad_rev);
			}
		}
	}
	tk_rows_free(&verdicts);
	return rc;
}

static char *verdict_detail(const struct tk_diff_row *row)
{
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "good_rev", row->good_rev,
	        "bad_rev", row->bad_rev, "commits_between", (json_int_t)row->commits_between,
	        "last_good_run", (json_int_t)row->last_good_run_id, "first_bad_run",
	        (json_int_t)row->first_bad_run_id, "n_before", (json_int_t)row->n_before, "n_after",
	        (json_int_t)row->n_after, "same_code", row->same_code);
	char *text;

	if (o && row->pairs.count)
		json_object_set_new(o, "pairs",
		        json_pack("{s:s, s:I, s:f, s:f, s:f, s:s}", "word",
		                tk_ab_decision_name(row->pairs.word), "count",
		                (json_int_t)row->pairs.count, "change", row->pairs.change, "lo",
		                row->pairs.lo, "hi", row->pairs.hi, "statistic",
		                tk_ab_result_statistic_name(&row->pairs)));
	text = o ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(o);
	return text;
}

static int put_verdicts(
        struct tk_store *s, int64_t night_id, const struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_verdict_row *rows = calloc(r->count + 1, sizeof *rows);
	char **details = calloc(r->count + 1, sizeof *details);
	int rc = rows && details ? TK_OK : out_of_memory(err);

	for (size_t i = 0; !rc && i < r->count; i++) {
		const struct tk_diff_row *row = &r->rows[i];

		details[i] = verdict_detail(row);
		if (!details[i])
			rc = out_of_memory(err);
		rows[i] = (struct tk_verdict_row){night_id, row->series_id,
		        tk_verdict_status_name(row->status), row->before, row->after, row->change,
		        row->change_lo, row->change_hi, row->threshold, row->p, row->q, row->reason,
		        details[i]};
	}
	if (!rc)
		rc = tk_store_replace_verdicts(s, night_id, rows, r->count, err);
	for (size_t i = 0; details && i < r->count; i++)
		free(details[i]);
	free(details);
	free(rows);
	return rc;
}

static int cause_of(struct tk_catalog *c, const struct tk_point *good, const struct tk_point *bad,
        const char *backend, const char **cause, struct tk_error *err)
{
	bool same, moved = good->environment_id != bad->environment_id;
	int rc = tk_catalog_is_same_code(c, good->build_id, bad->build_id, backend, &same, err);

	if (!rc)
		*cause = same    ? (moved ? "environment" : "unknown")
		         : moved ? "code-or-environment"
		                 : "code";
	return rc;
}

static int put_change_points(struct tk_store *s, struct tk_catalog *c,
        const struct tk_series_row *series, const struct tk_rows *points,
        const struct tk_changepoint *found, size_t count, struct tk_error *err)
{
	struct tk_change_point_row *rows = calloc(count + 1, sizeof *rows);
	int rc = rows ? TK_OK : out_of_memory(err);

	for (size_t i = 0; !rc && i < count; i++) {
		const struct tk_point *bad = TK_ROWS_AT(points, struct tk_point, found[i].index),
		                      *good = bad - 1;
		const char *cause = "unknown";

		rc = cause_of(c, good, bad, series->backend, &cause, err);
		rows[i] = (struct tk_change_point_row){series->id, bad->as_of_s, bad->run_id,
		        good->run_id, found[i].before, found[i].after, found[i].lo, found[i].hi,
		        found[i].p, cause, 1 - found[i].p, "{}"};
	}
	if (!rc)
		rc = tk_store_replace_change_points(s, series->id, rows, count, err);
	free(rows);
	return rc;
}

int tk_detect_change_points(struct tk_store *s, struct tk_catalog *c,
        const struct tk_series_row *series, double min_effect, struct tk_error *err)
{
	struct tk_changepoint_options o = tk_changepoint_defaults;
	struct tk_changepoint *found = NULL;
	struct tk_rows points;
	double *values;
	int64_t *days;
	size_t count = 0;
	int rc = tk_store_list_points(s, series->id, INT64_MIN, 0, &points, err);

	if (rc)
		return rc;
	o.min_effect = min_effect;
	values = calloc(points.count + 1, sizeof *values);
	days = calloc(points.count + 1, sizeof *days);
	for (size_t i = 0; values && days && i < points.count; i++) {
		values[i] = TK_ROWS_AT(&points, struct tk_point, i)->value;
		days[i] = TK_ROWS_AT(&points, struct tk_point, i)->as_of_s / 86400;
	}
	if (!values || !days || tk_changepoint_find(values, days, points.count, &o, &found, &count))
		rc = out_of_memory(err);
	if (!rc)
		rc = put_change_points(s, c, series, &points, found, count, err);
	free(found);
	free(days);
	free(values);
	tk_rows_free(&points);
	return rc;
}

static int put_all(struct tk_store *s, struct tk_case_set *c, const struct tk_night_row *night,
        const struct tk_monitor_session *watching, bool past, const struct tk_diff_report *r,
        struct tk_error *err)
{
	int rc = tk_store_begin(s, err);

	if (rc)
		return rc;
	rc = tk_monitor_session_save(watching, s, err);
	if (!rc)
		rc = put_verdicts(s, night->id, r, err);
	if (!rc)
		rc = tk_alerts_update(s, c, night, r, err);
	for (size_t i = 0; !rc && !past && i < c->count; i++)
		if (c->at[i].window->last_within.night_id == night->id && c->at[i].count)
			rc = tk_detect_change_points(
			        s, &c->catalog, c->at[i].series, c->options.min_effect, err);
	if (!rc && !past)
		rc = tk_missing_data_update_alerts(s, &c->options, night->id, err);
	if (!rc)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return rc;
}

static int judge_night(struct tk_store *s, const struct tk_night_row *night, int64_t since_s,
        int64_t previous, const char *machine, const struct tk_detect_options *options,
        enum tk_detect_mode purpose, struct tk_diff_report *report, struct tk_error *err)
{
	const struct tk_diff_range range = {
	        .since_s = since_s, .until_s = night->as_of_s, .machine = machine};
	const struct tk_night_scope scope = {.night_id = night->id,
	        .touched_only = strcmp(night->kind, "nightly") != 0,
	        .as_of_s = night->as_of_s};
	struct tk_monitor_session *watching = NULL;
	struct tk_case_set c;
	int rc = tk_case_set_load(s, options, &range, &scope, &c, err);

	if (!rc)
		rc = tk_monitor_session_run(&c, night, &watching, err);
	if (!rc)
		rc = tk_case_set_evaluate(&c, err);
	if (!rc)
		rc = tk_case_set_decide(&c, report, err);
	if (!rc)
		rc = tk_diff_report_suppress_repeats(s, &c, previous, report, err);
	if (!rc && purpose != TK_DETECT_PREVIEW)
		rc = put_all(s, &c, night, watching, purpose == TK_DETECT_REPLAY, report, err);
	tk_monitor_session_free(watching);
	tk_case_set_free(&c);
	return rc;
}

static const char *machine_name(const struct tk_rows *machines, int64_t id)
{
	for (size_t i = 0; i < machines->count; i++)
		if (TK_ROWS_AT(machines, struct tk_machine_row, i)->id == id)
			return TK_ROWS_AT(machines, struct tk_machine_row, i)->name;
	return NULL;
}

int tk_detect_run_night(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, enum tk_detect_mode purpose,
        struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_diff_report own = {0};
	struct tk_rows nights = {0}, machines = {0};
	const struct tk_night_row *night = NULL;
	int64_t previous, since;
	int rc = tk_store_list_nights(s, &nights, err);

	if (!rc)
		rc = tk_store_list_machines(s, &machines, err);
	for (size_t i = 0; !rc && i < nights.count; i++)
		if (TK_ROWS_AT(&nights, struct tk_night_row, i)->id == night_id)
			night = TK_ROWS_AT(&nights, struct tk_night_row, i);
	if (!rc && !night)
		rc = tk_fail(err, TK_ENOTFOUND, "no night has the id %lld", (long long)night_id);
	if (rc)
		goto out;
	since = tk_night_find_range(&nights, night, &previous);
	rc = judge_night(s, night, since, previous, machine_name(&machines, night->machine_id),
	        options, purpose, &own, err);
	if (rc)
		goto out;
	tk_diff_report_finish(&own);
	if (report) {
		*report = own;
		own = (struct tk_diff_report){0};
	}
out:
	tk_diff_report_free(&own);
	tk_rows_free(&nights);
	tk_rows_free(&machines);
	return rc;
}

int tk_detect_night(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err)
{
	return tk_detect_run_night(s, night_id, options, TK_DETECT_NIGHT, report, err);
}

int tk_detect_preview(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err)
{
	return tk_detect_run_night(s, night_id, options, TK_DETECT_PREVIEW, report, err);
}
