/* index.html: the last night in a sentence, the machines, what changed by cause, open alerts, and
 * the standings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/report/report.h"

static int set_headline(struct tk_site *site, struct tk_value *page,
        const struct tk_site_causes *causes, struct tk_error *err)
{
	const char *title = site->options->title;
	const struct tk_report_options options = {.title = title && *title ? title : "tracker",
	        .tie = site->options->tie,
	        .now_s = site->options->now_s,
	        .format = TK_DOCUMENT_MARKDOWN,
	        .brief = true};
	AUTO(tk_buf) text = TK_BUF_INIT;
	tk_report_add_headline(&site->model, &options, causes, &text);
	const char *whole = tk_buf_cstr(&text), *end = strstr(whole, ". ");
	size_t first_len = end ? (size_t)(end - whole) + 1 : strlen(whole);
	tk_value_set_fmt(page, "headline", "%.*s", (int)first_len, whole);
	tk_value_set(page, "headline_rest", whole + first_len);
	tk_value_set_clip(page, "description", whole, 300);
	tk_buf_clear(&text);
	TRY(tk_report_add(&site->model, &options, &text, err));
	tk_value_set(page, "summary", tk_buf_cstr(&text));
	return 0;
}

static void set_flags(
        struct tk_site *site, struct tk_value *page, const struct tk_site_causes *causes)
{
	const struct tk_model *m = &site->model;
	bool analysed = tk_model_has_verdicts(m);
	bool past = !analysed && m->night_count > 1, compared = analysed && causes->compared;
	tk_value_set_flag(page, "compared", compared);
	tk_value_set_flag(page, "nothing_analysed", m->series_count && past);
	tk_value_set_flag(page, "nothing_compared", m->series_count && !past && !compared);
}

/* ---- what changed: a row for each cause, with its series inside ---- */

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

static void set_since(struct tk_value *o, const struct tk_site_event *e)
{
	const struct tk_night_row *night = e->series->device->machine->analysed_night;
	const int64_t opened_s = e->series->verdict->alert_opened_s,
	              since_s = opened_s ? opened_s : e->at_s;
	char day[TK_TIME_ISO_SIZE];
	tk_value_set(o, "since",
	        night && since_s >= night->as_of_s ? "last night"
	        : since_s                          ? tk_time_format_day(since_s, day)
	                                           : "");
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
	tk_page_set_verdict(site, o, e->series);
	tk_value_set(o, "kind", tk_site_cause_word(c->kind, 1));
	tk_tone_set(o, "tone", tone);
	tk_value_set_flag(o, "numbers", has_change(e));
	tk_value_set_reason(o, e->reason);
	tk_value_set_fmt(o, "more", c->count > 1 ? "%zu series" : "", c->count);
	tk_ceiling_set_load(&site->model, e->series->device, &ceilings);
	tk_value_set_percent(
	        o, "efficiency", tk_ceiling_set_efficiency(&ceilings, e->series, e->after), "");
	set_devices(o, c);
	set_since(o, e);
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

static void set_causes(
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

/* ---- tiles: a kernel on a device, its index, best rate and share of the peak ---- */

/* "3.0 % slower than", "as fast as"; "" for NAN. change: of the speed. */
static void set_speed(
        struct tk_site *site, struct tk_value *o, const char *key, const char *tone, double change)
{
	bool is_even = !isfinite(change) || fabs(change) < site->options->tie;
	tk_value_set_fmt(o, key,
	        !isfinite(change) ? ""
	        : is_even         ? "as fast as"
	        : change > 0      ? "%.1f %% faster than"
	                          : "%.1f %% slower than",
	        100 * fabs(change));
	tk_tone_set(o, tone, is_even ? TK_TONE_QUIET : change > 0 ? TK_TONE_GOOD : TK_TONE_BAD);
}

/* The index, as on the page of its trend. */
static void set_index(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	const struct tk_total *parts;
	struct tk_trend t;
	char text[TK_FORMAT_SIZE];
	size_t n = tk_totals_find(&site->totals, s->device, s->problem->op, &parts);
	tk_trend_load(parts, n, &t);
	size_t count = t.all.count;
	tk_value_set_fmt(o, "index", count > 1 ? "%.1f" : "",
	        count > 1 ? 100 * exp(t.levels[count - 1]) : 0);
	tk_value_set_fmt(o, "index_noise", isfinite(t.noise) ? "±%s" : "",
	        isfinite(t.noise) ? tk_format_change(expm1(t.noise), text) + 1 : "");
	tk_value_set_int(o, "index_nights", count);
	set_speed(site, o, "week", "week_tone", tk_trend_change(&t, 7));
	set_speed(site, o, "month", "month_tone", tk_trend_change(&t, 30));
	tk_index_draw(&site->markup, &t);
	tk_page_set_markup(site, o, "index_markup");
	tk_trend_free(&t);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void draw_nights(struct tk_site *site, struct tk_value *page)
{
	const struct tk_model *m = &site->model;
	struct tk_value *o = tk_value_find_list(page, "machines")->first;
	for (; o; o = o->next) {
		for (size_t i = 0; i < m->machine_count; i++)
			if (m->machines[i].row->id == o->id)
				tk_svg_draw_nights(&site->markup, m, &m->machines[i]);
		tk_page_set_markup(site, o, "squares_markup");
	}
}

int tk_page_add_overview(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err)
{
	const struct tk_site_period newest = {0};
	AUTO(tk_site_causes) causes = {0};
	TRY(tk_site_causes_load(&site->model, &newest, &causes, err));
	tk_value_set_time(page, "made", site->options->now_s);
	tk_value_set_count(page, "series_count", site->model.series_count);
	set_flags(site, page, &causes);
	TRY(set_headline(site, page, &causes, err));
	set_causes(site, page, &causes);
	draw_nights(site, page);
	struct tk_value *tile = tk_value_find_list(page, "tiles")->first;
	for (; tile; tile = tile->next)
		set_index(site, tile, tk_model_find_series(&site->model, tile->id));
	return 0;
}
