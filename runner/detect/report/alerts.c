/* Alerts of a night: one opens for each step that got worse and for each series that fails now, and
 * closes when the series is back. What acks.yml accepts is entered into the history of the alert,
 * so that pages and other machines see it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/history/series_case.h"
#include "detect/rules/ab_result.h"

static void write_title(
        const struct tk_diff_row *row, const struct tk_series_case *k, char *out, size_t size)
{
	char confirmed[TK_AB_RESULT_TEXT_SIZE];

	if (row->was == TK_VERDICT_NEWLY_FAILED)
		snprintf(out, size, "%s %s on %s: %s", row->backend, row->title, row->machine,
		        k->window->last_within.outcome);
	else if (tk_diff_row_is_ab_confirmed(row))
		snprintf(out, size, "%s %s on %s: confirmed %s", row->backend, row->title,
		        row->machine, tk_ab_result_format(&row->pairs, confirmed));
	else
		snprintf(out, size, "%s %s on %s: %+.1f %%", row->backend, row->title, row->machine,
		        100 * row->change);
}

/* The file's word is said at the time the alert was opened: saying it again every night adds
 * nothing. */
static int say_rule(struct tk_store *s, const struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_diff_row *row, const struct tk_alert_row *a, struct tk_error *err)
{
	const struct tk_alert_state said =
	        tk_alert_state_compute(&c->catalog.triage, a->uid, a->group_uid);
	const struct tk_ack_rule *rule = said.said ? NULL : tk_series_case_find_ack_rule(c, k, row);
	struct tk_triage_row t;
	int64_t id;

	if (!rule)
		return TK_OK;
	t = (struct tk_triage_row){.alert_uid = a->uid,
	        .at_s = a->opened_s,
	        .author = rule->author,
	        .action = rule->action,
	        .note = rule->note};
	return tk_store_put_triage(s, &t, &id, err);
}

static int open_alert(struct tk_store *s, struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_night_row *night, const struct tk_diff_row *row, struct tk_error *err)
{
	char uid[TK_ALERT_UID_SIZE], group_uid[TK_ALERT_UID_SIZE], title[512];
	const struct tk_alert_row *known;
	struct tk_alert_row a;
	bool failure = row->was == TK_VERDICT_NEWLY_FAILED;
	int rc;

	tk_series_case_make_alert_uids(c, k, row->was, row, uid, group_uid);
	if (!*uid || !*group_uid)
		return tk_fail(err, TK_ENOMEM, "out of memory while judging a night");
	known = tk_catalog_find_alert(&c->catalog, uid);
	write_title(row, k, title, sizeof title);
	a = (struct tk_alert_row){.uid = uid,
	        .kind = failure ? "failure" : "change",
	        .group_uid = group_uid,
	        .machine_id = k->machine->id,
	        .upstream_id = k->upstream->id,
	        .series_id = row->series_id,
	        .night_id = known ? known->night_id : night->id,
	        .status = "open",
	        .opened_s = known ? known->opened_s : night->as_of_s,
	        .change = failure ? 0 : row->change,
	        .cause = failure ? "failure" : "code",
	        .good_rev = row->good_rev,
	        .bad_rev = row->bad_rev,
	        .title = title};
	rc = tk_store_put_alert(s, &a, err);
	if (!rc)
		rc = tk_commit_groups_add(
		        c, k, failure, row->good_rev, row->bad_rev, group_uid, err);
	return rc ? rc : say_rule(s, c, k, row, &a, err);
}

/* What nights said of this step, and pairs of its two builds did not find again, is taken back. */
static bool is_retracted(
        const struct tk_series_case *k, const struct tk_diff_row *row, const struct tk_alert_row *a)
{
	int64_t since = INT64_MAX;

	for (size_t i = 0; i < k->count; i++)
		if (k->points[i].run_id == row->first_bad_run_id)
			since = k->points[i].as_of_s;
	return row->pairs.word == TK_AB_SAME && a->opened_s >= since;
}

/* A failure is over when there is a timing again; a step when its series is at the level it had
 * before it. The newest step of a series was judged with it (`recovered`); older ones may have
 * stayed open below it. */
static int is_over(const struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_diff_row *row, const struct tk_alert_row *a, bool *over,
        struct tk_error *err)
{
	double before, sign = row->lower_is_better ? 1 : -1;
	int rc;

	*over = strcmp(a->kind, "failure") == 0;
	if (*over || strcmp(a->kind, "change") != 0)
		return TK_OK;
	*over = (a == k->alert && row->status == TK_VERDICT_RECOVERED) || is_retracted(k, row, a);
	if (*over || a == k->alert ||
	        (row->status != TK_VERDICT_RECOVERED && row->status != TK_VERDICT_IMPROVED))
		return TK_OK;
	rc = tk_alert_read_baseline(c, a, &before, err);
	if (!rc)
		*over = isfinite(before) && row->after > 0 &&
		        sign * (log(row->after) - before) <= log1p(row->threshold);
	return rc;
}

static int close_alert(struct tk_store *s, const struct tk_case_set *c,
        const struct tk_night_row *night, const struct tk_diff_report *r,
        const struct tk_alert_row *a, struct tk_error *err)
{
	const struct tk_series_case *k = a->series_id ? tk_case_set_find(c, a->series_id) : NULL;
	struct tk_alert_row closed = *a;
	bool over;
	int rc;

	if (strcmp(a->status, "open") != 0 || !k || k->window->last_within.night_id != night->id ||
	        !tk_series_case_has_timing(k, &k->window->last_within))
		return TK_OK;
	rc = is_over(c, k, &r->rows[k - c->at], a, &over, err);
	if (rc || !over)
		return rc;
	closed.status = "closed";
	closed.closed_s = night->as_of_s;
	return tk_store_put_alert(s, &closed, err);
}

/* Who knows best which commit it was comes first, and gives the group its name. */
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

static int open_alerts(struct tk_store *s, struct tk_case_set *c, const struct tk_night_row *night,
        const struct tk_diff_report *r, struct tk_error *err)
{
	const struct tk_diff_row **bad = malloc((r->count + 1) * sizeof(*bad));
	size_t count = 0;
	int rc = bad ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory while judging a night");

	for (size_t i = 0; !rc && i < r->count; i++)
		if (r->rows[i].was == TK_VERDICT_REGRESSED ||
		        r->rows[i].was == TK_VERDICT_NEWLY_FAILED)
			bad[count++] = &r->rows[i];
	if (count)
		qsort(bad, count, sizeof(*bad), by_precision);
	for (size_t i = 0; !rc && i < count; i++)
		rc = open_alert(s, c, &c->at[bad[i] - r->rows], night, bad[i], err);
	free(bad);
	return rc;
}

int tk_alerts_update(struct tk_store *s, struct tk_case_set *c, const struct tk_night_row *night,
        const struct tk_diff_report *r, struct tk_error *err)
{
	int rc = TK_OK;

	for (size_t i = 0; !rc && i < c->catalog.alerts.count; i++)
		rc = close_alert(s, c, night, r,
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i), err);
	return rc ? rc : open_alerts(s, c, night, r, err);
}
