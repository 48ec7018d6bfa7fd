/* See alert_groups.h. */
#include "cli/triage/alert_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "detect/rules/ab_result.h"
#include "store/kernel_report.h"

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while reading the alerts");
}

static bool is_written(const struct tk_alerts *a, const char *uid)
{
	for (size_t i = 0; i < a->rows.count; i++)
		if (strcmp(TK_ROWS_AT(&a->rows, struct tk_alert_row, i)->uid, uid) == 0)
			return true;
	return false;
}

/* Stoppages that no night has written down: the machine that would have is the one that stopped. */
static size_t add_unwritten(struct tk_alerts *a, size_t count, int64_t now_s)
{
	for (size_t i = 0; i < a->missing_data.count; i++) {
		const struct tk_missing_data *p = &a->missing_data.at[i];

		if (is_written(a, p->uid))
			continue;
		a->unsaved_alerts[i] = (struct tk_alert_row){.uid = p->uid,
		        .kind = TK_ALERT_MISSING_DATA,
		        .group_uid = p->group_uid,
		        .machine_id = p->machine_id,
		        .upstream_id = p->upstream_id,
		        .series_id = p->series_id,
		        .night_id = p->night_id,
		        .status = TK_ALERT_OPEN,
		        .opened_s = now_s,
		        .cause = TK_CAUSE_MISSING_DATA,
		        .good_rev = "",
		        .bad_rev = "",
		        .title = p->title};
		a->memory[count++] = &a->unsaved_alerts[i];
	}
	return count;
}

static int by_group(const void *x, const void *y)
{
	const struct tk_alert_row *a = *(const struct tk_alert_row *const *)x,
	                          *b = *(const struct tk_alert_row *const *)y;
	int order = strcmp(a->group_uid, b->group_uid);
	double da = fabs(a->change), db = fabs(b->change);

	if (!order)
		order = (da < db) - (da > db);
	return order ? order : strcmp(a->uid, b->uid);
}

static int newest_first(const void *x, const void *y)
{
	const struct tk_alert_group *a = x, *b = y;

	if (a->opened_s != b->opened_s)
		return a->opened_s < b->opened_s ? 1 : -1;
	return strcmp(a->uid, b->uid);
}

/* A group is as urgent as its most urgent alert. */
static void describe(const struct tk_alerts *a, struct tk_alert_group *g)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct tk_alert_row *alert = g->alerts[i];
		struct tk_alert_triage triage =
		        tk_alert_compute_triage(&a->triage, alert->uid, alert->group_uid);
		enum tk_triage_state state = tk_alert_compute_state(&a->triage, alert);

		if (!i || state < g->state) /* states are listed by urgency */
			g->state = state;
		g->open |= alert->status == TK_ALERT_OPEN;
		g->opened_s = !g->opened_s || alert->opened_s < g->opened_s ? alert->opened_s
		                                                            : g->opened_s;
		g->closed_s = alert->closed_s > g->closed_s ? alert->closed_s : g->closed_s;
		if (triage.decision && (!g->decision || triage.decision->at_s > g->decision->at_s))
			g->decision = triage.decision;
		if (triage.link && (!g->link || triage.link->at_s > g->link->at_s))
			g->link = triage.link;
	}
}

struct tk_alert_group tk_alert_group_from_one(
        const struct tk_alerts *a, const struct tk_alert_row **one)
{
	struct tk_alert_group g = {.uid = (*one)->group_uid, .alerts = one, .count = 1};

	describe(a, &g);
	return g;
}

static int make_groups(struct tk_alerts *a, size_t count, struct tk_error *err)
{
	a->groups = tk_calloc(count + 1, sizeof *a->groups);
	if (!a->groups)
		return out_of_memory(err);
	if (count)
		qsort(a->memory, count, sizeof(*a->memory), by_group);
	for (size_t i = 0; i < count; i++) {
		struct tk_alert_group *g = a->count ? &a->groups[a->count - 1] : NULL;

		if (!g || strcmp(g->uid, a->memory[i]->group_uid) != 0) {
			g = &a->groups[a->count++];
			g->uid = a->memory[i]->group_uid;
			g->alerts = &a->memory[i];
		}
		g->count++;
	}
	for (size_t i = 0; i < a->count; i++)
		describe(a, &a->groups[i]);
	if (a->count)
		qsort(a->groups, a->count, sizeof *a->groups, newest_first);
	return TK_OK;
}

int tk_alerts_load(struct tk_store *s, const struct tk_detect_options *options,
        struct tk_alerts *out, struct tk_error *err)
{
	struct tk_alerts a = {.options = *options};
	size_t count;
	int status = tk_store_list_alerts(s, &a.rows, err);

	if (!status)
		status = tk_store_list(s, TK_TABLE_triage, NULL, TK_NO_ARGS, &a.triage, err);
	if (!status)
		status = tk_lookup_load(s, &a.names, err);
	if (!status)
		status = tk_missing_data_find(s, options, 0, &a.missing_data, err);
	if (status)
		goto out;
	a.unsaved_alerts = tk_calloc(a.missing_data.count + 1, sizeof *a.unsaved_alerts);
	a.memory = tk_calloc(a.rows.count + a.missing_data.count + 1, sizeof(*a.memory));
	if (!a.unsaved_alerts || !a.memory) {
		status = out_of_memory(err);
		goto out;
	}
	for (size_t i = 0; i < a.rows.count; i++)
		a.memory[i] = TK_ROWS_AT(&a.rows, struct tk_alert_row, i);
	count = add_unwritten(&a, a.rows.count, options->now_s);
	status = make_groups(&a, count, err);
out:
	if (status)
		tk_alerts_free(&a);
	else
		*out = a;
	return status;
}

int tk_alerts_load_evidence(struct tk_store *s, struct tk_alerts *a, struct tk_error *err)
{
	a->store = s;
	return tk_store_list(s, TK_TABLE_bisection, NULL, TK_NO_ARGS, &a->bisections, err);
}

const struct tk_bisection_row *tk_alert_find_first_bad(
        const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	for (size_t i = 0; i < a->bisections.count; i++) {
		const struct tk_bisection_row *c =
		        TK_ROWS_AT(&a->bisections, struct tk_bisection_row, i);

		if (alert->series_id && c->series_id == alert->series_id &&
		        c->outcome == TK_BISECT_FOUND &&
		        strcmp(c->good_rev, alert->good_rev) == 0 &&
		        strcmp(c->bad_rev, alert->bad_rev) == 0)
			return c;
	}
	return NULL;
}

static int64_t revision_of(
        const struct tk_alerts *a, const struct tk_alert_row *alert, const char *rev)
{
	for (size_t i = 0; i < a->names.revisions.rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&a->names.revisions.rows, struct tk_revision_row, i);

		if (r->upstream_id == alert->upstream_id && strcmp(r->rev, rev) == 0)
			return r->id;
	}
	return 0;
}

int tk_alert_load_ab_result(const struct tk_alerts *a, const struct tk_alert_row *alert,
        struct tk_ab_result *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	int status = tk_store_list_ab_pairs_between(a->store, alert->series_id,
	        revision_of(a, alert, alert->good_rev), revision_of(a, alert, alert->bad_rev),
	        &rows, err);

	*out = (struct tk_ab_result){.decision = TK_AB_NONE};
	if (!status && rows.count && tk_ab_result_evaluate(rows.rows, rows.count, &a->options, out))
		status = out_of_memory(err);
	tk_rows_free(&rows);
	return status;
}

int tk_alert_summarize_regions(const struct tk_alerts *a, const struct tk_alert_row *alert,
        char out[TK_KERNEL_CHANGE_SIZE], struct tk_error *err)
{
	const struct tk_series_row *series = tk_lookup_series(&a->names, alert->series_id);
	const struct tk_upstream_row *upstream = tk_lookup_upstream(&a->names, alert->upstream_id);
	char *result = NULL;

	*out = '\0';
	if (!series || !upstream || !*alert->good_rev || !*alert->bad_rev)
		return TK_OK;
	int status = tk_store_find_comparison(
	        a->store, series, upstream->name, alert->good_rev, alert->bad_rev, &result, err);
	if (result)
		tk_kernel_report_summarize(result, out);
	free(result);
	return status;
}

int tk_alert_describe_code(const struct tk_alerts *a, const struct tk_alert_row *alert,
        char out[TK_CODE_CHANGE_SIZE], struct tk_error *err)
{
	return tk_store_find_code_change(a->store, alert, out, err);
}

void tk_alerts_free(struct tk_alerts *a)
{
	tk_rows_free(&a->bisections);
	free(a->groups);
	free(a->memory);
	free(a->unsaved_alerts);
	tk_missing_data_list_free(&a->missing_data);
	tk_lookup_free(&a->names);
	tk_rows_free(&a->rows);
	tk_rows_free(&a->triage);
	*a = (struct tk_alerts){0};
}

int tk_alerts_find(const struct tk_alerts *a, const char *id, const struct tk_alert_group **group,
        const struct tk_alert_row **one, struct tk_error *err)
{
	size_t len = strlen(id), found = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct tk_alert_group *g = &a->groups[i];

		if (len && strncmp(g->uid, id, len) == 0) {
			*group = g;
			*one = NULL;
			found++;
			continue;
		}
		for (size_t k = 0; len && k < g->count; k++)
			if (strncmp(g->alerts[k]->uid, id, len) == 0) {
				*group = g;
				*one = g->alerts[k];
				found++;
			}
	}
	if (found == 1)
		return TK_OK;
	return tk_fail(err, found ? TK_EUSAGE : TK_ENOTFOUND,
	        found ? "\"%.80s\" is ambiguous: %zu alerts start with it"
	              : "no alert \"%.80s\"; `tracker alert list --all` lists all alerts",
	        id, found);
}

const char *tk_alert_group_title(const struct tk_alert_group *g, char *out, size_t size)
{
	if (g->count == 1)
		snprintf(out, size, "%s", g->alerts[0]->title);
	else
		snprintf(out, size, "%zu series, %s: %s", g->count,
		        g->alerts[0]->kind == TK_ALERT_CHANGE ? "worst" : "including",
		        g->alerts[0]->title);
	return out;
}

const char *tk_alert_group_machines(
        const struct tk_alerts *a, const struct tk_alert_group *g, char *out, size_t size)
{
	size_t len = 0;

	*out = '\0';
	for (size_t i = 0; i < g->count && len < size; i++) {
		const struct tk_machine_row *m =
		        tk_lookup_machine(&a->names, g->alerts[i]->machine_id);
		bool listed = !m;

		for (size_t k = 0; k < i && !listed; k++)
			listed = g->alerts[k]->machine_id == g->alerts[i]->machine_id;
		if (!listed)
			len += (size_t)snprintf(
			        out + len, size - len, "%s%s", len ? ", " : "", m->name);
	}
	return out;
}
