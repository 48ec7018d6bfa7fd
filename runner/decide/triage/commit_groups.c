/* Groups alerts by commit: see commit_groups.h. */
#include "decide/triage/commit_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "decide/history/analysis.h"

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

/* ---- ranges of revisions --------------------------------------------------------------------- */

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

/* ---- groups ---------------------------------------------------------------------------------- */

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

static int add(struct tk_commit_groups *g, const char *uid, bool failure,
        const struct tk_device_row *device, int64_t upstream_id, const struct span *span,
        struct tk_error *err)
{
	struct tk_commit_group *at = find_group(g, uid), *grown;

	if (at) {
		if (!at->common.known)
			at->common = *span;
		if (!overlap(&at->common, span))
			return TK_OK;
		at->common.after = at->common.after > span->after ? at->common.after : span->after;
		at->common.until = at->common.until < span->until ? at->common.until : span->until;
		return TK_OK;
	}
	grown = tk_realloc(g->at, (g->count + 1) * sizeof *grown);
	g->at = grown;
	grown[g->count] = (struct tk_commit_group){
	        .failure = failure, .upstream_id = upstream_id, .device = device, .common = *span};
	memcpy(grown[g->count++].uid, uid, strlen(uid) + 1);
	return TK_OK;
}

int tk_commit_groups_load(struct tk_analysis *c, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < c->catalog.alerts.count; i++) {
		const struct tk_alert_row *a =
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i);
		const struct tk_series_row *series =
		        tk_id_table_find(&c->catalog.series, a->series_id);
		const struct tk_device_row *device =
		        series ? tk_id_table_find(&c->catalog.devices, series->device_id) : NULL;
		struct span span;

		if (!device || a->kind == TK_ALERT_MISSING_DATA ||
		        strlen(a->group_uid) >= TK_ALERT_UID_SIZE)
			continue;
		span = find_span(&c->catalog, a->good_revision_id, a->bad_revision_id);
		status = add(&c->groups, a->group_uid, a->kind == TK_ALERT_FAILURE, device,
		        series->upstream_id, &span, err);
	}
	return status;
}

void tk_commit_groups_free(struct tk_commit_groups *g)
{
	free(g->at);
	*g = (struct tk_commit_groups){0};
}

int tk_commit_groups_add(struct tk_analysis *c, const struct tk_series_case *k, bool failure,
        const struct tk_diff_row *row, const char *group_uid, struct tk_error *err)
{
	const struct span span =
	        find_span(&c->catalog, row->good_revision_id, row->bad_revision_id);

	return add(&c->groups, group_uid, failure, k->device, k->upstream->id, &span, err);
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

void tk_commit_groups_find_uid(const struct tk_analysis *c, const struct tk_series_case *k,
        bool failure, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE])
{
	const char *const parts[] = {"group", failure ? "failure" : "alert", k->upstream->name,
	        row->bad_rev, k->device->kind, k->device->name, row->good_rev};
	const size_t count = sizeof parts / sizeof *parts;
	const struct tk_commit_group *same;
	struct span span;

	tk_alert_uid_hash(parts, count - 1, uid);
	if (!c->groups.count)
		return;
	span = find_span(&c->catalog, row->good_revision_id, row->bad_revision_id);
	same = find_group(&c->groups, uid);
	if (same && (!same->common.known || !span.known || overlap(&same->common, &span)))
		return;
	const struct tk_commit_group *other = only_overlapping_group(&c->groups, k, failure, &span);

	if (other)
		memcpy(uid, other->uid, sizeof other->uid);
	else if (same) /* its group is about an earlier commit; a series measured rarely named it */
		tk_alert_uid_hash(parts, count, uid);
}
