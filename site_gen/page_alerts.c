/* alerts.html: every change that was reported, open ones first, with what people said of it; feed.xml where the site's
 * address is known. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "site_gen/format.h"
#include "site_gen/links.h"
#include "site_gen/page.h"

#define FEED_MAX 50

/* What was said of it, or of all that moved with it. */
static void set_notes(struct tk_site *site, struct tk_value *o, const struct tk_alert_row *alert)
{
	struct tk_value *notes = tk_set_list(site->arena, o, "notes");
	for (size_t i = 0; i < site->model.triage_rows.count; i++) {
		const struct tk_triage_row *t = TK_ROWS_AT(&site->model.triage_rows, struct tk_triage_row, i);
		if (strcmp(t->alert_uid, alert->uid) && strcmp(t->alert_uid, alert->group_uid))
			continue;
		struct tk_value *note = tk_add_object(site->arena, notes);
		tk_set_time(site, note, "at", t->at_s);
		tk_set_clipped(site, note, "author", t->author, 60);
		tk_set_clipped(site, note, "action", t->action, 30);
		tk_set_clipped(site, note, "note", t->note, 500);
	}
}

/* "new", "acked", "expected", "ignored", or "recovered" where it closed itself; and how many moved with it. */
static void set_state(struct tk_site *site, struct tk_value *o, const struct tk_alert_row *alert)
{
	const struct tk_alert_state state = tk_alert_state_of(&site->model.triage_rows, alert->uid, alert->group_uid);
	size_t others = 0;
	char text[64];
	for (size_t i = 0; i < site->model.alert_rows.count; i++)
		others += !strcmp(
		        TK_ROWS_AT(&site->model.alert_rows, struct tk_alert_row, i)->group_uid, alert->group_uid);
	snprintf(text, sizeof text, "%zu", others - 1);
	tk_set(site->arena, o, "state", tk_alert_word(&site->model.triage_rows, alert));
	tk_set(site->arena, o, "others", others > 1 ? text : "");
	tk_set_clipped(site, o, "link", state.link ? state.link->note : "", 300);
	tk_set_clipped(site, o, "group", alert->group_uid, 8);
}

/* Of one series; a stoppage may be of a whole machine. */
static void set_moved(
        struct tk_site *site, struct tk_value *o, const struct tk_site_series *s, const struct tk_alert_row *alert)
{
	bool change = !strcmp(alert->kind, "change");
	bool worse = !change || (alert->change > 0) == !strcmp(s->row->better, "lower");
	tk_set(site->arena, o, "alert_tone", worse ? "bad" : "good");
	if (s) {
		tk_set_series(site, o, s, "");
		tk_set_sparkline(site, o, s);
	} else {
		tk_set_fmt(site->arena, o, "href", "alerts.html#%s", alert->uid);
	}
	for (size_t i = 0; !change && i < 3; i++) /* what failed or stopped has no size */
		tk_set(site->arena, o, (const char *const[]){"change", "direction", "glyph"}[i], "");
	if (!s)
		return;
	if (change)
		tk_set_change(site, o, s, alert->change);
	tk_set_range(site, o, tk_model_revision_named(&site->model, s->upstream->id, alert->good_rev),
	        tk_model_revision_named(&site->model, s->upstream->id, alert->bad_rev));
}

/* What a bisection of the alert's range found. */
static void set_culprit(
        struct tk_site *site, struct tk_value *o, const struct tk_site_series *s, const struct tk_alert_row *alert)
{
	tk_set(site->arena, o, "culprit", "");
	for (size_t i = 0; i < site->model.culprit_rows.count; i++) {
		const struct tk_culprit_row *c = TK_ROWS_AT(&site->model.culprit_rows, struct tk_culprit_row, i);
		char link[TK_LINK_SIZE], text[TK_FORMAT_SIZE], when[TK_TIME_ISO_SIZE];
		if (c->series_id != alert->series_id || strcmp(c->word, "found") ||
		        strcmp(c->good_rev, alert->good_rev) || strcmp(c->bad_rev, alert->bad_rev))
			continue;
		tk_set(site->arena, o, "culprit", tk_rev_short(c->first_bad, link));
		tk_set(site->arena, o, "culprit_href", tk_link_commit(s->upstream->url, c->first_bad, link));
		tk_set_clipped(site, o, "culprit_subject", c->subject, 120);
		tk_set_clipped(site, o, "culprit_author", c->author, 60);
		tk_set(site->arena, o, "culprit_day", tk_time_day(c->author_time_s, when));
		tk_set(site->arena, o, "culprit_change", tk_format_change(c->change, text));
		tk_set_fmt(site->arena, o, "culprit_sure", "%.1f", 100 * c->confidence);
	}
}

static bool set_alert(struct tk_site *site, struct tk_value *list, const struct tk_alert_row *alert)
{
	const struct tk_site_series *s = alert->series_id ? tk_model_series(&site->model, alert->series_id) : NULL;
	char iso[TK_TIME_ISO_SIZE];
	if (!s && strcmp(alert->kind, "stoppage"))
		return false;
	struct tk_value *o = tk_add_object(site->arena, list);
	set_moved(site, o, s, alert);
	if (s)
		set_culprit(site, o, s, alert);
	tk_set_clipped(site, o, "uid", alert->uid, 80);
	set_state(site, o, alert);
	tk_set_clipped(site, o, "alert_title", alert->title, 200);
	tk_set_time(site, o, "opened", alert->opened_s);
	tk_set(site->arena, o, "opened_iso", tk_time_iso(alert->opened_s, iso));
	tk_set_flag(site->arena, o, "is_closed", alert->closed_s != 0);
	tk_set_time(site, o, "closed", alert->closed_s);
	tk_set_clipped(site, o, "cause", alert->cause, 60);
	set_notes(site, o, alert);
	return true;
}

static void set_all(struct tk_site *site, struct tk_value *page, const char *key, const char *state, size_t max)
{
	struct tk_value *list = tk_set_list(site->arena, page, key);
	size_t count = 0;
	for (size_t i = 0; i < site->model.alert_rows.count && count < max; i++) {
		const struct tk_alert_row *alert = TK_ROWS_AT(&site->model.alert_rows, struct tk_alert_row, i);
		if (!strcmp(alert->status, state))
			count += set_alert(site, list, alert);
	}
}

static int write_feed(struct tk_site *site, struct tk_error *err)
{
	char iso[TK_TIME_ISO_SIZE];
	struct tk_value *page = tk_page_begin(site, "feed.xml", "Alerts", TK_SECTION_ALERTS);
	size_t len = strlen(site->options->base_url);
	while (len && site->options->base_url[len - 1] == '/')
		len--;
	tk_set_len(site->arena, page, "base", site->options->base_url, len);
	tk_set(site->arena, page, "updated", tk_time_iso(site->options->now_s, iso));
	set_all(site, page, "open", "open", FEED_MAX);
	return tk_page_end(site, "feed", "feed.xml", err);
}

int tk_page_alerts(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, "alerts.html", "Alerts", TK_SECTION_ALERTS);
	set_all(site, page, "open", "open", SIZE_MAX);
	set_all(site, page, "closed", "closed", 200);
	int status = tk_page_end(site, "alerts", "alerts.html", err);
	if (!status && site->options->base_url && *site->options->base_url)
		status = write_feed(site, err);
	return status;
}
