/* alerts.html: every reported change, open ones first, grouped by commit, with first bad commit and
 * triage; and feed.xml where the address of the site is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/try.h"
#include "site_gen/model/ab_plot.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/alert_groups.h"
#include "site_gen/pages/kernel_trace.h"
#include "site_gen/pages/page.h"
#include "site_gen/charts/bars.h"
#include "store/kernel_report.h"
#include "store/query/code_facts.h"

#define FEED_MAX 50
#define CLOSED_MAX 100 /* groups */
#define MEMBERS_MAX 50 /* listed members of a group */

static bool is_worse(const struct tk_site_series *s, const struct tk_alert_row *alert)
{
	return !tk_alert_is_change(alert) || !s ||
	       (alert->change > 0) == (s->row->better == TK_BETTER_LOWER);
}

static void set_size(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s,
        const struct tk_alert_row *alert)
{
	if (s && tk_alert_is_change(alert)) {
		tk_page_set_change(o, s, alert->change);
		return;
	}
	for (size_t i = 0; i < 3; i++)
		tk_value_set(o, (const char *const[]){"change", "direction", "glyph"}[i], "");
}

static void set_revisions(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s,
        const struct tk_alert_row *alert)
{
	const struct tk_model *m = &site->model;
	const int64_t upstream = s ? s->upstream->id : alert->upstream_id;
	tk_page_set_revision_range(site, o, tk_model_find_revision(m, upstream, alert->good_rev),
	        tk_model_find_revision(m, upstream, alert->bad_rev));
}

static void set_alert(struct tk_site *site, struct tk_value *o, const struct tk_alert_row *alert)
{
	const struct tk_site_series *s = tk_alert_series(site, alert);
	char iso[TK_TIME_ISO_SIZE];
	tk_value_set(o, "label", "");
	if (s) {
		tk_page_set_series(site, o, s, "");
		tk_page_set_sparkline(site, o, s);
	} else {
		tk_value_set_fmt(o, "href", "alerts.html#%s", alert->uid);
		tk_value_set(o, "spark_markup", "");
	}
	set_size(site, o, s, alert);
	tk_tone_set(o, "alert_tone", is_worse(s, alert) ? TK_TONE_BAD : TK_TONE_GOOD);
	tk_value_set_clip(o, "uid", alert->uid, 80);
	tk_value_set(o, "state",
	        tk_triage_state_name(tk_alert_compute_state(&site->model.triage_rows, alert)));
	tk_value_set_clip(o, "alert_title", alert->title, 200);
	tk_value_set_time(o, "opened", alert->opened_s);
	tk_value_set(o, "opened_iso", tk_time_format_iso(alert->opened_s, iso));
	set_revisions(site, o, s, alert);
	tk_value_set(o, "between", strcmp(alert->good_rev, alert->bad_rev) ? "Between" : "At");
}

/* The values on both sides: of the change point that begins with its commit, else of the last
 * verdict. */
static void set_values(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s,
        const struct tk_alert_row *alert)
{
	const struct tk_site_changes *changes = &site->model.revision_changes;
	double before = NAN, after = NAN;
	for (size_t i = 0; i < changes->count; i++) {
		const struct tk_site_change *change = &changes->all[i];
		if (change->series == s && change->bad &&
		        !strcmp(change->bad->rev, alert->bad_rev)) {
			before = change->change_point->before_value;
			after = change->change_point->after_value;
		}
	}
	if (!isfinite(before) && s->verdict && alert->status == TK_ALERT_OPEN) {
		before = s->verdict->before_value;
		after = s->verdict->after_value;
	}
	tk_value_set_quantity(o, "before", before, s->row->unit, "");
	tk_value_set_quantity(o, "after", after, s->row->unit, "–");
}

static void set_interval(struct tk_value *o, const char *key, const char *key_interval,
        struct tk_ab_result_compare_level side)
{
	char text[TK_FORMAT_SIZE];
	bool known = isfinite(side.change);
	tk_value_set_change(o, key, known ? side.change : NAN, "");
	tk_value_set(o, key_interval,
	        known ? tk_format_change_range(side.change, side.lo, side.hi, text) : "");
}

/* The A/B pairs of its two revisions. The fastest samples are shown if the medians are
 * inconclusive. */
static int set_ab_result(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s,
        const struct tk_alert_row *alert, struct tk_error *err)
{
	struct tk_ab_plot pairs;
	TRY(tk_ab_plot_load(&site->model, s, alert->good_rev, alert->bad_rev, &pairs, err));
	bool open = !(pairs.median.lo > 0 || pairs.median.hi < 0);
	tk_value_set_fmt(o, "pairs", pairs.count ? "%zu" : "", pairs.count);
	tk_value_set_fmt(o, "pairs_failed", pairs.failed ? "%zu" : "", pairs.failed);
	set_interval(o, "pairs_change", "pairs_interval", pairs.median);
	set_interval(o, "fastest_change", "fastest_interval",
	        open ? pairs.fastest : (struct tk_ab_result_compare_level){NAN, NAN, NAN});
	tk_svg_draw_pairs(&site->markup, &pairs);
	tk_page_set_markup(site, o, "pairs_markup");
	tk_ab_plot_free(&pairs);
	return 0;
}

/* state: of the group; a member shows only a different one. */
static int add_member(struct tk_site *site, struct tk_value *list, const struct tk_alert_row *alert,
        enum tk_triage_state state, struct tk_error *err)
{
	const struct tk_site_series *s = tk_alert_series(site, alert);
	struct tk_value *o = tk_value_append(list);
	char day[TK_TIME_ISO_SIZE];
	set_alert(site, o, alert);
	enum tk_triage_state own = tk_alert_compute_state(&site->model.triage_rows, alert);
	tk_value_set(o, "own_state", own != state ? tk_triage_state_name(own) : "");
	tk_value_set(o, "anchor", strcmp(alert->uid, alert->group_uid) ? alert->uid : "");
	tk_value_set(o, "opened_day", tk_time_format_day(alert->opened_s, day));
	tk_value_set(
	        o, "closed_day", alert->closed_s ? tk_time_format_day(alert->closed_s, day) : "");
	tk_value_set_flag(o, "has_series", s != NULL);
	if (!s)
		return 0;
	set_values(site, o, s, alert);
	return set_ab_result(site, o, s, alert, err);
}

/* Triage of the group and of its members. */
static void set_notes(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g)
{
	struct tk_value *notes = tk_value_add_list(o, "notes");
	for (size_t i = 0; i < site->model.triage_rows.count; i++) {
		const struct tk_triage_row *t =
		        TK_ROWS_AT(&site->model.triage_rows, struct tk_triage_row, i);
		bool of_group = !strcmp(t->alert_uid, g->members[0]->group_uid);
		size_t k = 0;
		while (!of_group && k < g->count && strcmp(t->alert_uid, g->members[k]->uid))
			k++;
		if (k == g->count)
			continue;
		const struct tk_site_series *s =
		        of_group || g->count == 1 ? NULL : tk_alert_series(site, g->members[k]);
		struct tk_value *note = tk_value_append(notes);
		bool address = !strncmp(t->note, "https://", 8) || !strncmp(t->note, "http://", 7);
		tk_value_set_time(note, "at", t->at_s);
		tk_value_set_clip(note, "author", t->author, 60);
		tk_value_set_clip(note, "action", tk_triage_action_name(t->action), 30);
		tk_value_set_clip(note, "note", t->note, 500);
		tk_value_set(
		        note, "note_href", address && t->action == TK_ACTION_LINK ? t->note : "");
		tk_value_set_clip(note, "of", s ? s->problem->title : "", 110);
	}
}

static const struct tk_bisection_row *find_bisection(
        const struct tk_site *site, const struct tk_alert_group *g)
{
	const struct tk_rows *rows = &site->model.bisection_rows;
	for (size_t k = 0; k < g->count; k++)
		for (size_t i = 0; i < rows->count; i++) {
			const struct tk_bisection_row *c =
			        TK_ROWS_AT(rows, struct tk_bisection_row, i);
			if (c->series_id == g->members[k]->series_id &&
			        !strcmp(c->good_rev, g->members[k]->good_rev) &&
			        !strcmp(c->bad_rev, g->members[k]->bad_rev))
				return c;
		}
	return NULL;
}

/* The result of a bisection: the first bad commit, or the range that is left. */
static void set_bisection(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g)
{
	const struct tk_bisection_row *c = find_bisection(site, g);
	const struct tk_site_series *s =
	        c ? tk_model_find_series(&site->model, c->series_id) : NULL;
	char link[TK_LINK_SIZE], when[TK_TIME_ISO_SIZE];
	bool found = s && c->outcome == TK_BISECT_FOUND,
	     narrowed = s && c->outcome == TK_BISECT_RANGE;
	tk_value_set(o, "first_bad", found ? tk_rev_abbreviate(c->first_bad_rev, link) : "");
	tk_value_set(o, "bisected",
	        !s || found                         ? ""
	        : narrowed                          ? "narrowed the range to"
	        : c->outcome == TK_BISECT_NO_CHANGE ? "did not reproduce the change"
	                                            : "is unfinished");
	tk_value_set(o, "narrowed", "");
	if (narrowed) {
		char other[TK_LINK_SIZE];
		tk_value_set_fmt(o, "narrowed", "%s → %s",
		        tk_rev_abbreviate(c->last_good_rev, link),
		        tk_rev_abbreviate(c->first_bad_rev, other));
		tk_value_set(o, "narrowed_href",
		        tk_link_range(s->upstream->url, c->last_good_rev, c->first_bad_rev, link));
	}
	if (!found)
		return;
	tk_value_set(o, "first_bad_href", tk_link_commit(s->upstream->url, c->first_bad_rev, link));
	tk_value_set_clip(o, "first_bad_subject", c->subject, 120);
	tk_value_set_clip(o, "first_bad_author", c->author, 60);
	tk_value_set(o, "first_bad_day", tk_time_format_day(c->author_time_s, when));
	tk_value_set_change(o, "first_bad_change", c->change, "–");
	char range[TK_FORMAT_SIZE];
	tk_value_set_fmt(o, "first_bad_interval", isfinite(c->change_lo) ? " (%s)" : "",
	        tk_format_change_range(c->change, c->change_lo, c->change_hi, range));
	tk_value_set_fmt(o, "first_bad_confidence", "%.1f", 100 * c->confidence);
	tk_value_set_int(o, "bisection_pairs", c->pair_count);
	tk_value_set_int(o, "bisection_builds", c->build_count);
}

/* What a trace found inside the kernel: of the member that changed most, of those that have one. */
static int set_inside(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g,
        struct tk_error *err)
{
	char text[TK_KERNEL_CHANGE_SIZE] = "", path[TK_PAGE_PATH_SIZE] = "";
	int status = 0;
	size_t count = site->model.kernel_report_rows.count ? g->count : 0;
	for (size_t i = 0; !status && !*text && i < count && i < MEMBERS_MAX; i++) {
		const struct tk_alert_row *alert = g->members[i];
		const struct tk_site_series *s = tk_alert_series(site, alert);
		char *result = NULL;
		if (!s || !*alert->good_rev)
			continue;
		status = tk_store_find_comparison(site->model.store, s->row, s->upstream->name,
		        alert->good_rev, alert->bad_rev, &result, err);
		if (result)
			tk_kernel_report_summarize(result, text);
		if (*text && s->kernel_trace)
			tk_kernel_trace_path(s->kernel_trace, path);
		free(result);
	}
	tk_value_set_clip(o, "inside", text, 300);
	tk_value_set(o, "inside_href", path);
	return status;
}

/* How the machine code changed: of the member that changed most, of those where it is known. */
static int set_code_change(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g,
        struct tk_error *err)
{
	char text[TK_CODE_CHANGE_SIZE] = "";
	int status = 0;
	for (size_t i = 0; !status && !*text && i < g->count && i < MEMBERS_MAX; i++)
		if (tk_alert_is_change(g->members[i]))
			status = tk_store_find_code_change(
			        site->model.store, g->members[i], text, err);
	tk_value_set_arrows(o, "code_change", text, TK_CODE_CHANGE_SIZE);
	return status;
}

/* "+5.8 % to +9.3 %"; "" where no member has a size. Members are sorted by it. */
static void set_sizes(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g)
{
	char most[TK_FORMAT_SIZE], least[TK_FORMAT_SIZE];
	size_t last = 0;
	bool sized = tk_alert_is_change(g->members[0]) && tk_alert_series(site, g->members[0]);
	for (size_t i = 0; i < g->count; i++)
		last = tk_alert_is_change(g->members[i]) ? i : last;
	tk_format_change_pair(g->members[0]->change, g->members[last]->change, most, least);
	tk_value_set_fmt(o, "sizes",
	        !sized                ? ""
	        : strcmp(most, least) ? "%s to %s"
	                              : "%s",
	        last ? least : most, most);
}

/* The devices, at most three. */
static void set_devices(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g)
{
	const struct tk_site_device *seen[3];
	size_t count = 0, more = 0;
	struct tk_value *list = tk_value_add_list(o, "on");
	for (size_t i = 0; i < g->count; i++) {
		const struct tk_site_series *s = tk_alert_series(site, g->members[i]);
		size_t k = 0;
		while (s && k < count && seen[k] != s->device)
			k++;
		if (!s || k < count)
			continue;
		if (count == 3) {
			more = 1;
			break;
		}
		seen[count++] = s->device;
		struct tk_value *device = tk_value_append(list);
		tk_value_set_clip(device, "on_device", s->device->name, 60);
		tk_value_set_fmt(device, "on_href", "machines/%s.html", s->device->machine->file);
		tk_value_set(device, "comma", count > 1 ? ", " : "");
	}
	tk_value_set(o, "on_more", more ? " and more" : "");
}

static void set_head(struct tk_site *site, struct tk_value *o, const struct tk_alert_group *g)
{
	const struct tk_site_series *s = tk_alert_series(site, g->members[0]);
	const struct tk_alert_triage triage =
	        tk_alert_compute_triage(&site->model.triage_rows, g->lead->uid, g->lead->group_uid);
	char count[TK_FORMAT_SIZE];
	set_alert(site, o, g->members[0]);
	tk_value_set_fmt(o, "series_word", "%s series", tk_format_count((int64_t)g->count, count));
	tk_value_set_flag(o, "several", g->count > 1);
	tk_value_set_clip(o, "of_upstream", s ? s->upstream->name : "", 60);
	tk_value_set_clip(o, "group_uid", g->members[0]->group_uid, 80);
	tk_value_set_fmt(o, "id", "%.8s", g->members[0]->group_uid);
	tk_value_set(o, "state", tk_triage_state_name(g->state));
	tk_tone_set(o, "state_tone", g->open ? tk_triage_tone(g->state) : TK_TONE_QUIET);
	tk_value_set_clip(o, "triaged_by", triage.decision ? triage.decision->author : "", 60);
	tk_value_set_clip(o, "cause", tk_cause_name(g->members[0]->cause), 60);
	tk_value_set_time(o, "opened", g->opened_s);
	tk_value_set_time(o, "closed", g->closed_s);
	tk_value_set_flag(o, "is_closed", !g->open && g->closed_s);
}

static int add_group(struct tk_site *site, struct tk_value *list, const struct tk_alert_group *g,
        struct tk_error *err)
{
	struct tk_value *o = tk_value_append(list);
	set_head(site, o, g);
	set_sizes(site, o, g);
	set_devices(site, o, g);
	set_bisection(site, o, g);
	set_notes(site, o, g);
	int status = set_inside(site, o, g, err);
	if (!status)
		status = set_code_change(site, o, g, err);
	struct tk_value *members = tk_value_add_list(o, "members");
	for (size_t i = 0; !status && i < g->count && i < MEMBERS_MAX; i++)
		status = add_member(site, members, g->members[i], g->state, err);
	tk_value_set_fmt(
	        o, "members_more", g->count > MEMBERS_MAX ? "%zu" : "", g->count - MEMBERS_MAX);
	return status;
}

static int set_groups(struct tk_site *site, struct tk_value *page, const struct tk_alert_groups *g,
        struct tk_error *err)
{
	struct tk_value *open = tk_value_add_list(page, "open"),
	                *closed = tk_value_add_list(page, "closed");
	size_t done = 0;
	int status = 0;
	for (size_t i = 0; !status && i < g->count && done < CLOSED_MAX; i++) {
		status = add_group(site, g->at[i].open ? open : closed, &g->at[i], err);
		done += !g->at[i].open;
	}
	return status;
}

/* One entry for each alert: its id never changes, even if alerts join its group later. */
static int write_feed(struct tk_site *site, struct tk_error *err)
{
	char iso[TK_TIME_ISO_SIZE];
	struct tk_value *page = tk_page_begin(site, "feed.xml", "Alerts", TK_SECTION_ALERTS);
	size_t len = strlen(site->options->base_url), count = 0;
	while (len && site->options->base_url[len - 1] == '/')
		len--;
	tk_value_set_len(page, "base", site->options->base_url, len);
	tk_value_set(page, "updated", tk_time_format_iso(site->options->now_s, iso));
	struct tk_value *list = tk_value_add_list(page, "open");
	for (size_t i = 0; i < site->model.alert_rows.count && count < FEED_MAX; i++) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&site->model.alert_rows, struct tk_alert_row, i);
		if (alert->status != TK_ALERT_OPEN ||
		        (!tk_alert_series(site, alert) && alert->kind != TK_ALERT_MISSING_DATA))
			continue;
		set_alert(site, tk_value_append(list), alert);
		count++;
	}
	return tk_page_finish(site, "feed", "feed.xml", err);
}

int tk_page_write_alerts(struct tk_site *site, struct tk_error *err)
{
	struct tk_alert_groups tk_alert_groups = {0};
	struct tk_value *page = tk_page_begin(site, "alerts.html", "Alerts", TK_SECTION_ALERTS);
	int status = tk_alert_groups_load(site, &tk_alert_groups, err);
	if (!status)
		status = set_groups(site, page, &tk_alert_groups, err);
	tk_alert_groups_free(&tk_alert_groups);
	if (!status)
		status = tk_page_finish(site, "alerts", "alerts.html", err);
	if (!status && site->options->base_url && *site->options->base_url)
		status = write_feed(site, err);
	return status;
}
