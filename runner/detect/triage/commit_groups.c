/* Groups alerts by commit: see commit_groups.h. */
#include "detect/triage/commit_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/history/case_set.h"

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

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while grouping alerts");
}

/* ---- ranges of revisions
 * ---------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct tk_revision_row *x = *(const struct tk_revision_row *const *)a,
	                             *y = *(const struct tk_revision_row *const *)b;

	if (x->upstream_id != y->upstream_id)
		return x->upstream_id < y->upstream_id ? -1 : 1;
	return strcmp(x->rev, y->rev);
}

static int sort_revisions(
        struct tk_commit_groups *g, const struct tk_rows *revisions, struct tk_error *err)
{
	if (g->revisions)
		return TK_OK;
	g->revisions = malloc((revisions->count + 1) * sizeof *g->revisions);
	if (!g->revisions)
		return out_of_memory(err);
	for (g->revision_count = 0; g->revision_count < revisions->count; g->revision_count++)
		g->revisions[g->revision_count] =
		        TK_ROWS_AT(revisions, struct tk_revision_row, g->revision_count);
	if (g->revision_count)
		qsort(g->revisions, g->revision_count, sizeof *g->revisions, by_name);
	return TK_OK;
}

static const struct tk_revision_row *find_revision(
        const struct tk_commit_groups *g, int64_t upstream_id, const char *rev)
{
	const struct tk_revision_row key = {.upstream_id = upstream_id, .rev = rev}, *wanted = &key,
	                             **found;

	found = g->revision_count ? bsearch(&wanted, g->revisions, g->revision_count,
	                                    sizeof *g->revisions, by_name)
	                          : NULL;
	return found ? *found : NULL;
}

static struct span find_span(const struct tk_commit_groups *g, int64_t upstream_id,
        const char *good_rev, const char *bad_rev)
{
	const struct tk_revision_row *good = find_revision(g, upstream_id, good_rev),
	                             *bad = find_revision(g, upstream_id, bad_rev);
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

/* ---- groups ---- */

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
	grown = realloc(g->at, (g->count + 1) * sizeof *grown);
	if (!grown)
		return out_of_memory(err);
	g->at = grown;
	grown[g->count] = (struct tk_commit_group){
	        .failure = failure, .upstream_id = upstream_id, .device = device, .common = *span};
	memcpy(grown[g->count++].uid, uid, strlen(uid) + 1);
	return TK_OK;
}

int tk_commit_groups_load(struct tk_case_set *c, struct tk_error *err)
{
	int status = c->catalog.alerts.count
	                     ? sort_revisions(&c->groups, &c->catalog.revisions.rows, err)
	                     : TK_OK;

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
		span = find_span(&c->groups, series->upstream_id, a->good_rev, a->bad_rev);
		status = add(&c->groups, a->group_uid, a->kind == TK_ALERT_FAILURE, device,
		        series->upstream_id, &span, err);
	}
	return status;
}

void tk_commit_groups_free(struct tk_commit_groups *g)
{
	free(g->at);
	free(g->revisions);
	*g = (struct tk_commit_groups){0};
}

int tk_commit_groups_add(struct tk_case_set *c, const struct tk_series_case *k, bool failure,
        const char *good_rev, const char *bad_rev, const char *group_uid, struct tk_error *err)
{
	int status = sort_revisions(&c->groups, &c->catalog.revisions.rows, err);
	struct span span;

	if (status)
		return status;
	span = find_span(&c->groups, k->upstream->id, good_rev, bad_rev);
	return add(&c->groups, group_uid, failure, k->device, k->upstream->id, &span, err);
}

/* The group whose range overlaps; NULL: none, or several, and then it is not known which. */
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

void tk_commit_groups_find_uid(const struct tk_case_set *c, const struct tk_series_case *k,
        bool failure, const char *good_rev, const char *bad_rev, char uid[TK_ALERT_UID_SIZE])
{
	const char *const parts[] = {"group", failure ? "failure" : "alert", k->upstream->name,
	        bad_rev, k->device->kind, k->device->name, good_rev};
	const size_t count = sizeof parts / sizeof *parts;
	const struct tk_commit_group *same;
	struct span span;

	tk_alert_uid_hash(parts, count - 1, uid);
	if (!c->groups.count)
		return;
	span = find_span(&c->groups, k->upstream->id, good_rev, bad_rev);
	same = find_group(&c->groups, uid);
	if (same && (!same->common.known || !span.known || overlap(&same->common, &span)))
		return;
	const struct tk_commit_group *other = only_overlapping_group(&c->groups, k, failure, &span);

	if (other)
		memcpy(uid, other->uid, sizeof other->uid);
	else if (same) /* it is about an earlier commit, and was named by a series that was measured
	                  at fewer */
		tk_alert_uid_hash(parts, count, uid);
}
