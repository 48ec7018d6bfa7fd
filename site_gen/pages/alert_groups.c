/* Alerts by group, most urgent first. */
#include "site_gen/pages/alert_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/pages/page.h"

const struct tk_site_series *tk_alert_series(
        const struct tk_site *site, const struct tk_alert_row *alert)
{
	return alert->series_id ? tk_model_find_series(&site->model, alert->series_id) : NULL;
}

bool tk_alert_is_change(const struct tk_alert_row *alert)
{
	return alert->kind == TK_ALERT_CHANGE;
}

static int compare_members(const void *a, const void *b)
{
	const struct tk_alert_row *x = *(const struct tk_alert_row *const *)a,
	                          *y = *(const struct tk_alert_row *const *)b;
	int d = strcmp(x->group_uid, y->group_uid);
	double cx = isfinite(x->change) ? fabs(x->change) : 0,
	       cy = isfinite(y->change) ? fabs(y->change) : 0;
	if (!d)
		d = cx != cy ? (cx < cy ? 1 : -1) : strcmp(x->uid, y->uid);
	return d;
}

/* Open ones by triage state, new first; then the newest. */
static int compare_groups(const void *a, const void *b)
{
	const struct tk_alert_group *x = a, *y = b;
	if (x->open != y->open)
		return x->open ? -1 : 1;
	if (x->open && x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->opened_s != y->opened_s)
		return x->opened_s < y->opened_s ? 1 : -1;
	double cx = fabs(x->members[0]->change), cy = fabs(y->members[0]->change);
	if (isfinite(cx) && isfinite(cy) && cx != cy)
		return cx < cy ? 1 : -1;
	return strcmp(x->members[0]->group_uid, y->members[0]->group_uid);
}

static struct tk_alert_group make_group(
        const struct tk_site *site, const struct tk_alert_row *const *members, size_t count)
{
	struct tk_alert_group g = {.members = members, .count = count, .opened_s = INT64_MAX};
	for (size_t i = 0; i < count; i++) {
		bool open = members[i]->status == TK_ALERT_OPEN;
		if (!i || (open && !g.open))
			g.lead = members[i];
		g.open = g.open || open;
		g.opened_s = members[i]->opened_s < g.opened_s ? members[i]->opened_s : g.opened_s;
		g.closed_s = members[i]->closed_s > g.closed_s ? members[i]->closed_s : g.closed_s;
	}
	g.state = tk_alert_compute_state(&site->model.triage_rows, g.lead);
	return g;
}

void tk_alert_groups_free(struct tk_alert_groups *g)
{
	free(g->alerts);
	free(g->at);
}

int tk_alert_groups_load(
        const struct tk_site *site, struct tk_alert_groups *out, struct tk_error *err)
{
	const struct tk_rows *rows = &site->model.alert_rows;
	size_t count = 0;
	*out = (struct tk_alert_groups){tk_malloc((rows->count + 1) * sizeof *out->alerts),
	        tk_malloc((rows->count + 1) * sizeof *out->at), 0};
	for (size_t i = 0; i < rows->count; i++) {
		const struct tk_alert_row *alert = TK_ROWS_AT(rows, struct tk_alert_row, i);
		if (tk_alert_series(site, alert) || alert->kind == TK_ALERT_MISSING_DATA)
			out->alerts[count++] = alert;
	}
	if (count)
		qsort(out->alerts, count, sizeof *out->alerts, compare_members);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && !strcmp(out->alerts[end]->group_uid,
		                                             out->alerts[first]->group_uid);
		        end++)
			;
		out->at[out->count++] = make_group(site, &out->alerts[first], end - first);
	}
	if (out->count)
		qsort(out->at, out->count, sizeof *out->at, compare_groups);
	return 0;
}
