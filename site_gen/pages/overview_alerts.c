/* Open alerts of the overview, the oldest first, with their owners. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "site_gen/pages/alert_groups.h"
#include "site_gen/pages/overview.h"

#define ALERTS_MAX 12
#define DAY_S 86400

/* Counts of open alerts, new ones and the date of the oldest. */
static void set_open(struct tk_site *site, struct tk_value *page)
{
	const struct tk_model *m = &site->model;
	size_t open = 0, is_new = 0;
	int64_t oldest_s = INT64_MAX;
	char day[TK_TIME_ISO_SIZE];
	for (size_t i = 0; i < m->alert_rows.count; i++) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		enum tk_triage_state state = tk_alert_compute_state(&m->triage_rows, alert);
		if (alert->status != TK_ALERT_OPEN ||
		        (state != TK_TRIAGE_NEW && state != TK_TRIAGE_ACKED))
			continue;
		open++;
		is_new += state == TK_TRIAGE_NEW;
		oldest_s = alert->opened_s < oldest_s ? alert->opened_s : oldest_s;
	}
	tk_value_set_fmt(
	        page, "open_alerts", open ? "%zu open alert%s" : "", open, open == 1 ? "" : "s");
	tk_value_set_fmt(page, "new_alerts", is_new < open ? "%zu of them new, " : "", is_new);
	tk_value_set(page, "oldest_alert", open ? tk_time_format_day(oldest_s, day) : "");
}

static int compare_by_age(const void *a, const void *b)
{
	const struct tk_alert_group *x = a, *y = b;
	if (x->open != y->open)
		return x->open ? -1 : 1;
	if (x->opened_s != y->opened_s)
		return x->opened_s < y->opened_s ? -1 : 1;
	return (x->members > y->members) - (x->members < y->members);
}

static void add_alert(struct tk_site *site, struct tk_value *list, const struct tk_alert_group *g)
{
	const struct tk_alert_triage triage =
	        tk_alert_compute_triage(&site->model.triage_rows, g->lead->uid, g->lead->group_uid);
	struct tk_value *o = tk_value_append(list);
	char day[TK_TIME_ISO_SIZE];
	int64_t days = (site->options->now_s - g->opened_s) / DAY_S;
	tk_value_set_clip(o, "alert_title", g->lead->title, 140);
	tk_value_set_clip(o, "alert_uid", g->members[0]->group_uid, 80);
	tk_value_set_fmt(o, "more", g->count > 1 ? "and %zu more series" : "", g->count - 1);
	tk_value_set(o, "opened", tk_time_format_day(g->opened_s, day));
	tk_value_set_fmt(
	        o, "age", days > 0 ? "%lld day%s" : "new", (long long)days, days == 1 ? "" : "s");
	tk_value_set(o, "state", tk_triage_state_name(g->state));
	tk_tone_set(o, "tone", tk_triage_tone(g->state));
	tk_value_set_clip(o, "owner", triage.decision ? triage.decision->author : "", 60);
}

int tk_overview_set_alerts(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	struct tk_alert_groups groups = {0};
	struct tk_value *list = tk_value_add_list(page, "open");
	size_t open = 0;
	set_open(site, page);
	int status = tk_alert_groups_load(site, &groups, err);
	if (groups.count)
		qsort(groups.at, groups.count, sizeof *groups.at, compare_by_age);
	for (size_t i = 0; !status && i < groups.count && groups.at[i].open; i++)
		if (open++ < ALERTS_MAX)
			add_alert(site, list, &groups.at[i]);
	tk_value_set_fmt(page, "open_more", open > ALERTS_MAX ? "%zu" : "", open - ALERTS_MAX);
	tk_alert_groups_free(&groups);
	return status;
}
