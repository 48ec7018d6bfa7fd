/* Alerts of a night, their groups by commit, and what people accepted. An alert opens for each
 * regression and each new failure, and closes when the series is back. A line of acks.yml is stored
 * as triage of its alert, for pages and other machines. */
#include <math.h>

#include "core/verdict.h"
#include "decide/internal.h"

void tk_alert_uid_hash(const char *const *parts, size_t count, char uid[TK_ALERT_UID_SIZE])
{
	struct tk_hash *h = tk_hash_new();

	for (size_t i = 0; i < count; i++)
		tk_hash_add_str(h, parts[i]);
	tk_hash_finish(h, uid);
}

/* ---- groups by commit ---- */

struct span {
	bool known;
	int64_t after,
	        until; /* ]after, until]: positions of revisions, or the times of their commits */
};

struct tk_commit_group {
	char uid[TK_ALERT_UID_SIZE];
	bool failure;
	int64_t upstream_id;
	const struct tk_device_row *device; /* any of them: their models are the same */
	struct span common;                 /* overlap of its alerts whose revisions are known */
};

/* Ids 0: unknown. */
static struct span find_span(const struct tk_catalog *c, int64_t good_id, int64_t bad_id)
{
	const struct tk_revision_row *good = tk_id_table_find(&c->revisions, good_id),
	                             *bad = tk_id_table_find(&c->revisions, bad_id);
	struct span s = {0};

	if (!good || !bad || (good->position > 0) != (bad->position > 0))
		return s;
	s.after = good->position > 0 ? good->position : good->commit_time_s;
	s.until = good->position > 0 ? bad->position : bad->commit_time_s;
	s.known = s.after < s.until;
	return s;
}

static bool overlap(const struct span *a, const struct span *b)
{
	return a->known && b->known && a->after < b->until && b->after < a->until;
}

static bool is_comparable(const struct tk_commit_group *g, bool failure,
        const struct tk_device_row *device, int64_t upstream_id)
{
	return g->failure == failure && g->upstream_id == upstream_id &&
	       strcmp(g->device->kind, device->kind) == 0 &&
	       strcmp(g->device->name, device->name) == 0;
}

static struct tk_commit_group *find_group(const struct tk_commit_groups *g, const char *uid)
{
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->at[i].uid, uid) == 0)
			return &g->at[i];
	return NULL;
}

static void add_to_group(struct tk_commit_groups *g, const char *uid, bool failure,
        const struct tk_device_row *device, int64_t upstream_id, const struct span *span)
{
	struct tk_commit_group *at = find_group(g, uid);

	if (!at) {
		g->at = tk_realloc(g->at, (g->count + 1) * sizeof *at);
		at = &g->at[g->count++];
		*at = (struct tk_commit_group){.failure = failure,
		        .upstream_id = upstream_id,
		        .device = device,
		        .common = *span};
		TK_COPY(at->uid, uid);
		return;
	}
	if (!at->common.known)
		at->common = *span;
	if (!overlap(&at->common, span))
		return;
	at->common.after = at->common.after > span->after ? at->common.after : span->after;
	at->common.until = at->common.until < span->until ? at->common.until : span->until;
}

void tk_commit_groups_load(struct tk_analysis *c)
{
	for (size_t i = 0; i < c->catalog.alerts.count; i++) {
		const struct tk_alert_row *a =
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i);
		const struct tk_series_row *series =
		        tk_id_table_find(&c->catalog.series, a->series_id);
		const struct tk_device_row *device =
		        series ? tk_id_table_find(&c->catalog.devices, series->device_id) : NULL;

		if (!device || a->kind == TK_ALERT_MISSING_DATA ||
		        strlen(a->group_uid) >= TK_ALERT_UID_SIZE)
			continue;

		const struct span span =
		        find_span(&c->catalog, a->good_revision_id, a->bad_revision_id);

		add_to_group(&c->groups, a->group_uid, a->kind == TK_ALERT_FAILURE, device,
		        series->upstream_id, &span);
	}
}

/* The group whose range overlaps; NULL: none, or several, so that the choice is ambiguous. */
static const struct tk_commit_group *only_overlapping_group(const struct tk_commit_groups *g,
        const struct tk_series_case *k, bool failure, const struct span *span)
{
	const struct tk_commit_group *found = NULL;

	for (size_t i = 0; i < g->count; i++)
		if (is_comparable(&g->at[i], failure, k->device, k->upstream->id) &&
		        overlap(&g->at[i].common, span)) {
			if (found)
				return NULL;
			found = &g->at[i];
		}
	return found;
}

/* The group that the alert about a row belongs to, or the uid of a new one. */
static void find_group_uid(const struct tk_analysis *c, const struct tk_series_case *k,
        bool failure, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE])
{
	const char *const parts[] = {"group", failure ? "failure" : "alert", k->upstream->name,
	        row->bad_rev, k->device->kind, k->device->name, row->good_rev};
	const size_t count = sizeof parts / sizeof *parts;
	const struct span span =
	        find_span(&c->catalog, row->good_revision_id, row->bad_revision_id);

	tk_alert_uid_hash(parts, count - 1, uid);

	const struct tk_commit_group *same = find_group(&c->groups, uid);
	if (same && (!same->common.known || !span.known || overlap(&same->common, &span)))
		return;
	const struct tk_commit_group *other = only_overlapping_group(&c->groups, k, failure, &span);

	if (other)
		memcpy(uid, other->uid, sizeof other->uid);
	else if (same) /* its group is about an earlier commit; a series measured rarely named it */
		tk_alert_uid_hash(parts, count, uid);
}

/* ---- acknowledgements ---- */

/* The uids of the alert of a row and of its group, existing or new. An existing alert stays in its
 * group even if better information has arrived: people may have triaged it. */
static void make_uids(const struct tk_analysis *c, const struct tk_series_case *k,
        enum tk_verdict_status status, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE],
        char group_uid[TK_ALERT_UID_SIZE])
{
	bool failure = status == TK_VERDICT_NEWLY_FAILED;
	const struct tk_alert_row *known;

	tk_alert_uid_hash(
	        (const char *const[]){failure ? "failure" : "alert", k->series->uid, row->bad_rev},
	        3, uid);
	known = tk_catalog_find_alert(&c->catalog, uid);
	if (known && strlen(known->group_uid) < TK_ALERT_UID_SIZE)
		strcpy(group_uid, known->group_uid);
	else
		find_group_uid(c, k, failure, row, group_uid);
}

static bool is_bad_news(enum tk_verdict_status s)
{
	return s == TK_VERDICT_REGRESSED || s == TK_VERDICT_NEWLY_FAILED || s == TK_VERDICT_MISSING;
}

/* The line of acks.yml that is about this row; NULL: none. */
static const struct tk_ack_rule *find_rule(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, const struct tk_diff_row *row)
{
	for (size_t i = 0; i < options->ack_count; i++) {
		const struct tk_ack_rule *rule = &options->acks[i];

		if (rule->until_s && options->now_s >= rule->until_s)
			continue;
		if (rule->rev && (!*row->bad_rev ||
		                         strncmp(row->bad_rev, rule->rev, strlen(rule->rev)) != 0))
			continue;
		if (tk_filter_match(rule->filters, fields))
			return rule;
	}
	return NULL;
}

void tk_diff_row_apply_ack_rules(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, struct tk_diff_row *row)
{
	const bool is_open = row->verdict.status != TK_VERDICT_ACKED &&
	                     is_bad_news(row->verdict.status_before_ack);
	const struct tk_ack_rule *rule = is_open ? find_rule(options, fields, row) : NULL;
	enum tk_triage_state state = TK_TRIAGE_ACKED;

	if (!rule)
		return;
	tk_triage_action_state(rule->action, &state);
	tk_verdict_accept(&row->verdict, state, rule->author, rule->note);
	row->state = TK_STATE_ACKNOWLEDGED;
}

void tk_series_case_apply_ack(
        const struct tk_analysis *c, const struct tk_series_case *k, struct tk_diff_row *row)
{
	const enum tk_verdict_status status = row->verdict.status_before_ack;
	char uid[TK_ALERT_UID_SIZE], group_uid[TK_ALERT_UID_SIZE];

	if (!is_bad_news(status))
		return;
	make_uids(c, k, status, row, uid, group_uid);

	const struct tk_alert_triage triage =
	        tk_alert_compute_triage(&c->catalog.triage, uid, group_uid);

	if (triage.decision) {
		tk_verdict_accept(&row->verdict, triage.state, triage.decision->author,
		        triage.decision->note);
		row->state = TK_STATE_ACKNOWLEDGED;
	} else {
		const struct tk_filter_fields fields = tk_series_case_filter_fields(k);

		tk_diff_row_apply_ack_rules(&c->options, &fields, row);
	}
}
/* ---- opening ---- */

static bool is_new_failure(const struct tk_diff_row *row)
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
	if (is_new_failure(row))
		snprintf(out, size, "%s", tk_outcome_name(k->window->last_within.outcome));
	else if (tk_diff_row_is_ab_confirmed(row))
		snprintf(out, size, "A/B confirmed: %s", tk_ab_result_format(&row->ab, text));
	else if (isnan(row->verdict.change.value))
		snprintf(out, size, "no longer 0");
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
	        triage.decision ? NULL : find_rule(&c->options, &fields, row);

	if (!rule)
		return TK_OK;

	const struct tk_triage_row t = {.alert_uid = a->uid,
	        .at_s = a->opened_s,
	        .author = rule->author,
	        .action = rule->action,
	        .note = rule->note};
	return tk_store_put(s, TK_TABLE_triage, &t, NULL, err);
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
	const bool failure = is_new_failure(row);
	char uid[TK_ALERT_UID_SIZE], group_uid[TK_ALERT_UID_SIZE], title[512];

	make_uids(c, k, row->verdict.status_before_ack, row, uid, group_uid);
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
	TRY(tk_store_put(s, TK_TABLE_alert, &a, NULL, err));

	/* Later ones of the night find its group. */
	const struct span span =
	        find_span(&c->catalog, row->good_revision_id, row->bad_revision_id);

	add_to_group(&c->groups, group_uid, failure, k->device, k->upstream->id, &span);
	return put_ack_rule(s, c, k, row, &a, err);
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
	const double sign = row->better == TK_BETTER_HIGHER ? -1 : 1;
	double before, change;
	TRY(tk_alert_read_levels(c, a, now_s, &before, &change, err));

	*over = isfinite(before) && v->after.value > 0 &&
	        sign * (log(v->after.value) - before) <= log1p(v->threshold);
	return TK_OK;
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
	tk_sort(bad, count, sizeof(*bad), by_precision);
	for (size_t i = 0; !status && i < count; i++)
		status = open_alert(s, c, &c->at[bad[i] - r->rows], night, bad[i], err);
	free(bad);
	return status;
}

int tk_alerts_update(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_diff_report *r, struct tk_error *err)
{
	for (size_t i = 0; i < c->catalog.alerts.count; i++)
		TRY(close_alert(s, c, night, r,
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i), err));
	return open_alerts(s, c, night, r, err);
}
