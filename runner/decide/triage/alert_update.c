/* Alerts of a night. One opens for each regression and each new failure, and closes when the series
 * is back. A line of acks.yml is stored as triage of its alert, for pages and other machines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/try.h"
#include "core/verdict_text.h"
#include "decide/report/diff_row.h"
#include "decide/triage/triage.h"

/* ---- opening ---- */

static bool is_failure(const struct tk_diff_row *row)
{
	return row->verdict.status_before_ack == TK_VERDICT_NEWLY_FAILED;
}

static void write_title(
        const struct tk_diff_row *row, const struct tk_series_case *k, char *out, size_t size)
{
	char text[TK_AB_RESULT_TEXT_SIZE];
	int length = snprintf(out, size, "%s %s on %s: ", row->backend, row->title, row->machine);

	if (length < 0 || (size_t)length >= size)
		return;
	out += length, size -= (size_t)length;
	if (is_failure(row))
		snprintf(out, size, "%s", tk_outcome_name(k->window->last_within.outcome));
	else if (tk_diff_row_is_ab_confirmed(row))
		snprintf(out, size, "A/B confirmed: %s", tk_ab_result_format(&row->ab, text));
	else
		snprintf(out, size, "%+.1f %%", tk_percent_tenths(row->verdict.change.value));
}

/* Stored with the time of the alert: a later night that stores it again changes nothing. */
static int put_ack_rule(struct tk_store *s, const struct tk_analysis *c,
        const struct tk_series_case *k, const struct tk_diff_row *row, const struct tk_alert_row *a,
        struct tk_error *err)
{
	const struct tk_alert_triage triage =
	        tk_alert_compute_triage(&c->catalog.triage, a->uid, a->group_uid);
	const struct tk_filter_fields fields = tk_series_case_filter_fields(k);
	const struct tk_ack_rule *rule =
	        triage.decision ? NULL : tk_ack_rule_find(&c->options, &fields, row);
	struct tk_triage_row t;
	int64_t id;

	if (!rule)
		return TK_OK;
	t = (struct tk_triage_row){.alert_uid = a->uid,
	        .at_s = a->opened_s,
	        .author = rule->author,
	        .action = rule->action,
	        .note = rule->note};
	return tk_store_put(s, TK_TABLE_triage, &t, &id, err);
}

static void set_state(
        struct tk_diff_row *row, enum tk_verdict_state state, const char *uid, int64_t opened_s)
{
	if (row->state != TK_STATE_ACKNOWLEDGED)
		row->state = state;
	TK_COPY(row->alert_uid, uid);
	row->alert_opened_s = opened_s;
}

static int open_alert(struct tk_store *s, struct tk_analysis *c, const struct tk_series_case *k,
        const struct tk_night_row *night, struct tk_diff_row *row, struct tk_error *err)
{
	const bool failure = is_failure(row);
	char uid[TK_ALERT_UID_SIZE], group_uid[TK_ALERT_UID_SIZE], title[512];
	int status;

	tk_series_case_make_alert_uids(c, k, row->verdict.status_before_ack, row, uid, group_uid);
	write_title(row, k, title, sizeof title);

	/* A replay can find with an earlier night what a later one has opened. */
	const struct tk_alert_row *known = tk_catalog_find_alert(&c->catalog, uid);
	if (known && known->opened_s > night->as_of_s)
		known = NULL;
	const struct tk_alert_row a = {.uid = uid,
	        .kind = failure ? TK_ALERT_FAILURE : TK_ALERT_CHANGE,
	        .group_uid = group_uid,
	        .machine_id = k->machine->id,
	        .upstream_id = k->upstream->id,
	        .series_id = row->series_id,
	        .night_id = known ? known->night_id : night->id,
	        .status = TK_ALERT_OPEN,
	        .opened_s = known ? known->opened_s : night->as_of_s,
	        .verdict_night_id = night->id,
	        .good_revision_id = row->good_revision_id,
	        .bad_revision_id = row->bad_revision_id,
	        .title = title};

	set_state(row, a.opened_s < night->as_of_s ? TK_STATE_OPEN : TK_STATE_NEW, uid, a.opened_s);
	status = tk_store_put(s, TK_TABLE_alert, &a, NULL, err);
	if (!status)
		status = tk_commit_groups_add(c, k, failure, row, group_uid, err);
	return status ? status : put_ack_rule(s, c, k, row, &a, err);
}

/* ---- closing ---- */

/* A/B runs do not find the step again that nights reported. */
static bool is_retracted(
        const struct tk_series_case *k, const struct tk_diff_row *row, const struct tk_alert_row *a)
{
	int64_t since_s = INT64_MAX;

	for (size_t i = 0; i < k->count; i++)
		if (k->points[i].run_id == row->verdict.first_bad_run_id)
			since_s = k->points[i].as_of_s;
	return row->ab.decision == TK_AB_SAME && a->opened_s >= since_s;
}

/* The newest alert of a series was evaluated with it (status RECOVERED). Older ones that are still
 * open are over when the series is back at the level before them. */
static int is_older_alert_over(const struct tk_analysis *c, const struct tk_diff_row *row,
        const struct tk_alert_row *a, int64_t now_s, bool *over, struct tk_error *err)
{
	const struct tk_verdict *v = &row->verdict;
	const double sign = row->lower_is_better ? 1 : -1;
	double before, change;
	int status = tk_alert_read_levels(c, a, now_s, &before, &change, err);

	*over = !status && isfinite(before) && v->after.value > 0 &&
	        sign * (log(v->after.value) - before) <= log1p(v->threshold);
	return status;
}

/* A failure is over when there is a timing again. */
static int is_over(const struct tk_analysis *c, const struct tk_series_case *k,
        const struct tk_diff_row *row, const struct tk_alert_row *a, int64_t now_s, bool *over,
        struct tk_error *err)
{
	const enum tk_verdict_status status = row->verdict.status;

	*over = a->kind == TK_ALERT_FAILURE;
	if (a->kind != TK_ALERT_CHANGE)
		return TK_OK;
	*over = (a == k->alert && status == TK_VERDICT_RECOVERED) || is_retracted(k, row, a);
	if (*over || a == k->alert ||
	        (status != TK_VERDICT_RECOVERED && status != TK_VERDICT_IMPROVED))
		return TK_OK;
	return is_older_alert_over(c, row, a, now_s, over, err);
}

/* It was open when this night began. A replay may have seen later nights. */
static bool was_open(const struct tk_alert_row *a, const struct tk_night_row *night)
{
	return a->opened_s <= night->as_of_s &&
	       (a->status == TK_ALERT_OPEN || a->closed_s >= night->as_of_s);
}

static int close_alert(struct tk_store *s, const struct tk_analysis *c,
        const struct tk_night_row *night, struct tk_diff_report *r, const struct tk_alert_row *a,
        struct tk_error *err)
{
	const struct tk_series_case *k = a->series_id ? tk_analysis_find(c, a->series_id) : NULL;
	struct tk_alert_row closed = *a;
	bool over = false;

	if (!k || a->kind == TK_ALERT_MISSING_DATA || !was_open(a, night))
		return TK_OK;

	struct tk_diff_row *row = &r->rows[k - c->at];

	if (k->window->last_within.night_id == night->id &&
	        tk_series_case_has_timing(k, &k->window->last_within)) {
		TRY(is_over(c, k, row, a, night->as_of_s, &over, err));
	}
	if (!over || a->opened_s > row->alert_opened_s)
		set_state(row, over ? TK_STATE_RECOVERED : TK_STATE_OPEN, a->uid, a->opened_s);
	if (over == (a->status == TK_ALERT_CLOSED) ||
	        (!over && a->closed_s != night->as_of_s)) /* a later night closed it */
		return TK_OK;
	closed.status = over ? TK_ALERT_CLOSED : TK_ALERT_OPEN;
	closed.closed_s = over ? night->as_of_s : 0;
	return tk_store_put(s, TK_TABLE_alert, &closed, NULL, err);
}

/* ---- one night ---- */

/* The row with the narrowest range of commits comes first and names the group. */
static int by_precision(const void *a, const void *b)
{
	const struct tk_diff_row *x = *(const struct tk_diff_row *const *)a,
	                         *y = *(const struct tk_diff_row *const *)b;
	uint64_t width_x = (uint64_t)x->commits_between,
	         width_y = (uint64_t)y->commits_between; /* unknown: last */
	int order;

	if (width_x != width_y)
		return width_x < width_y ? -1 : 1;
	order = strcmp(x->bad_rev, y->bad_rev);
	return order ? order : strcmp(x->series, y->series);
}

static bool needs_alert(const struct tk_diff_row *row)
{
	const enum tk_verdict_status status = row->verdict.status_before_ack;

	return status == TK_VERDICT_REGRESSED || status == TK_VERDICT_NEWLY_FAILED;
}

static int open_alerts(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_diff_row **bad = tk_malloc((r->count + 1) * sizeof(*bad));
	size_t count = 0;
	int status = TK_OK;

	for (size_t i = 0; i < r->count; i++)
		if (needs_alert(&r->rows[i]))
			bad[count++] = &r->rows[i];
	if (count)
		qsort(bad, count, sizeof(*bad), by_precision);
	for (size_t i = 0; !status && i < count; i++)
		status = open_alert(s, c, &c->at[bad[i] - r->rows], night, bad[i], err);
	free(bad);
	return status;
}

int tk_alerts_update(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_diff_report *r, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < c->catalog.alerts.count; i++)
		status = close_alert(s, c, night, r,
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i), err);
	return status ? status : open_alerts(s, c, night, r, err);
}
