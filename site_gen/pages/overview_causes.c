/* What changed: one row for each cause, with its series inside. */
#include <math.h>

#include "base/clock.h"
#include "base/format.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/pages/overview.h"
#include "site_gen/charts/bars.h"

#define CAUSES_MAX 24
#define EVENTS_MAX 40 /* of a cause */

static enum tk_tone tone_of(enum tk_site_cause_kind kind)
{
	static const enum tk_tone tones[TK_SITE_CAUSE_KINDS] = {[TK_SITE_CAUSE_WORSE] = TK_TONE_BAD,
	        [TK_SITE_CAUSE_FAILED] = TK_TONE_BAD,
	        [TK_SITE_CAUSE_MISSING] = TK_TONE_BAD,
	        [TK_SITE_CAUSE_BETTER] = TK_TONE_GOOD,
	        [TK_SITE_CAUSE_FIXED] = TK_TONE_GOOD,
	        [TK_SITE_CAUSE_ENVIRONMENT] = TK_TONE_NOTE};
	return tones[kind];
}

static bool has_change(const struct tk_site_event *e)
{
	return isfinite(e->change) && isfinite(e->before) && isfinite(e->after);
}

static void add_event(struct tk_site *site, struct tk_value *list, const struct tk_site_event *e)
{
	struct tk_value *o = tk_value_append(list);
	tk_page_set_series(site, o, e->series, "");
	tk_page_set_change(o, e->series, has_change(e) ? e->change : NAN);
	tk_value_set_quantity(
	        o, "before", has_change(e) ? e->before : NAN, e->series->row->unit, "");
	tk_value_set_quantity(o, "after", e->after, e->series->row->unit, "–");
}

static void set_since(struct tk_site *site, struct tk_value *o, const struct tk_site_event *e)
{
	const struct tk_alert_row *alert = tk_series_find_open_alert(&site->model, e->series);
	enum tk_triage_state state =
	        alert ? tk_alert_compute_state(&site->model.triage_rows, alert) : TK_TRIAGE_NEW;
	const struct tk_night_row *night = e->series->device->machine->analysed_night;
	char day[TK_TIME_ISO_SIZE];
	int64_t since_s = alert ? alert->opened_s : e->at_s;
	bool is_new = night && since_s >= night->as_of_s;
	tk_value_set(o, "since",
	        is_new    ? "last night"
	        : since_s ? tk_time_format_day(since_s, day)
	                  : "");
	tk_value_set(o, "alert_state", state != TK_TRIAGE_NEW ? tk_triage_state_name(state) : "");
	tk_value_set_clip(o, "alert_uid", alert ? alert->uid : "", 80);
}

static void set_devices(struct tk_value *o, const struct tk_site_cause *c)
{
	const struct tk_site_device *device = c->events[0].series->device;
	size_t others = 0;
	for (size_t i = 1; i < c->count; i++)
		others += c->events[i].series->device != device;
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set(o, "other_devices", others ? " and others" : "");
}

static void add_cause(struct tk_site *site, struct tk_value *list, const struct tk_site_cause *c,
        const struct tk_interval_axis *axis)
{
	struct tk_value *o = tk_value_append(list);
	const struct tk_site_event *e = &c->events[0];
	enum tk_tone tone = tone_of(c->kind);
	struct tk_ceiling_set ceilings;
	tk_page_set_series(site, o, e->series, "");
	tk_page_set_sparkline(site, o, e->series);
	tk_page_set_change(o, e->series, has_change(e) ? e->change : NAN);
	tk_value_set(o, "kind", tk_site_cause_word(c->kind, 1));
	tk_tone_set(o, "tone", tone);
	tk_value_set_flag(o, "numbers", has_change(e));
	tk_value_set_flag(o, "ab_confirmed", e->has_ab_result);
	tk_value_set_quantity(o, "before", e->before, e->series->row->unit, "–");
	tk_value_set_quantity(o, "after", e->after, e->series->row->unit, "–");
	tk_value_set_reason(o, e->reason);
	tk_value_set_fmt(o, "more", c->count > 1 ? "%zu series" : "", c->count);
	tk_ceiling_set_load(&site->model, e->series->device, &ceilings);
	double share = tk_ceiling_set_efficiency(&ceilings, e->series, e->after);
	tk_value_set_percent(o, "efficiency", share, "");
	set_devices(o, c);
	set_since(site, o, e);
	tk_page_set_revision_range(site, o, c->good, c->bad);
	tk_value_set_clip(o, "author", c->bad ? c->bad->author : "", 60);
	tk_page_set_first_bad(site, o, e->series, c->good, c->bad);
	if (has_change(e))
		tk_svg_draw_interval(&site->markup, axis, e->change, e->change_lo, e->change_hi,
		        tk_tone_name(tone));
	tk_page_set_markup(site, o, "interval_markup");
	struct tk_value *events = tk_value_add_list(o, "events");
	for (size_t i = 0; c->count > 1 && i < c->count && i < EVENTS_MAX; i++)
		add_event(site, events, &c->events[i]);
	tk_value_set_fmt(
	        o, "events_more", c->count > EVENTS_MAX ? "%zu" : "", c->count - EVENTS_MAX);
}

void tk_overview_set_causes(
        struct tk_site *site, struct tk_value *page, const struct tk_site_causes *causes)
{
	struct tk_value *list = tk_value_add_list(page, "causes");
	struct tk_interval_axis axis = {-0.005, 0.005};
	for (size_t i = 0; i < causes->count; i++) {
		const struct tk_site_event *e = &causes->at[i].events[0];
		if (has_change(e))
			tk_interval_axis_add(&axis, e->change, e->change_lo, e->change_hi);
	}
	for (size_t i = 0; i < causes->count && i < CAUSES_MAX; i++)
		add_cause(site, list, &causes->at[i], &axis);
	tk_value_set_fmt(page, "causes_more", causes->count > CAUSES_MAX ? "%zu" : "",
	        causes->count - CAUSES_MAX);
}
