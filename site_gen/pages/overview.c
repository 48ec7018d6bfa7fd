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

#define TILES_MAX 6

/* The series with the highest rate; NULL: none was measured. */
static const struct tk_site_series *find_best(const struct tk_model *m,
        const struct tk_site_device *device, const char *op, size_t *count)
{
	const struct tk_site_series *best = NULL;
	double best_rate = 0;
	*count = 0;
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const struct tk_point *last = tk_series_last_point(s);
		const char *unit;
		if (s->device != device || !tk_series_is_ranked(s) || !last || s->failure ||
		        strcmp(s->problem->op, op))
			continue;
		double rate = tk_series_rate(s, last->value, &unit);
		++*count;
		if (rate > best_rate) {
			best = s;
			best_rate = rate;
		}
	}
	return best;
}

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
static void set_index(struct tk_site *site, struct tk_value *o, const struct tk_site_device *device,
        const char *op)
{
	const struct tk_total *parts;
	struct tk_trend t;
	char text[TK_FORMAT_SIZE];
	size_t n = tk_totals_find(&site->totals, device, op, &parts);
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

static void add_tile(struct tk_site *site, struct tk_value *list,
        const struct tk_site_device *device, const struct tk_site_series *of_op, bool *added)
{
	const struct tk_model *m = &site->model;
	struct tk_ceiling_set ceilings;
	size_t count, problems;
	char text[TK_FORMAT_SIZE];
	const char *unit, *op = of_op->problem->op;
	const struct tk_site_series *best = find_best(m, device, op, &count);
	*added = best != NULL;
	if (!best)
		return;
	struct tk_value *o = tk_value_append(list);
	double value = tk_series_last_point(best)->value, rate = tk_series_rate(best, value, &unit);
	tk_ceiling_set_load(m, device, &ceilings);
	double peak = tk_ceiling_set_efficiency_by_source(
	               &ceilings, TK_CEILING_DATASHEET, best, value),
	       measured = tk_ceiling_set_efficiency_by_source(
	               &ceilings, TK_CEILING_MEASURED, best, value);
	tk_value_set_clip(o, "op", tk_op_title(op), 40);
	tk_value_set_fmt(o, "op_href", "kernels/%s.html", of_op->op_file);
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set_clip(o, "device_name", device->row->name, 60);
	tk_value_set_quantity(o, "best_rate", rate, unit, "–");
	tk_value_set_clip(o, "best_backend", best->variant, 40);
	tk_value_set_clip(o, "best_type", best->problem->dtype, 20);
	tk_value_set(o, "peak",
	        isfinite(peak)       ? tk_format_percent(peak, text)
	        : isfinite(measured) ? tk_format_percent(measured, text)
	                             : "");
	tk_value_set(o, "peak_of", isfinite(peak) ? "of datasheet peak" : "of measured ceiling");
	set_index(site, o, device, op);
	double ratio = tk_standing_against_vendor(m, device, op, &problems);
	tk_value_set_fmt(o, "vendor",
	        isfinite(ratio) ? "%.0f %% of the vendor’s speed (%zu problem%s)" : "", 100 * ratio,
	        problems, problems == 1 ? "" : "s");
	tk_value_set_int(o, "count", count);
}

static void set_tiles(struct tk_site *site, struct tk_value *page)
{
	const struct tk_model *m = &site->model;
	struct tk_value *list = tk_value_add_list(page, "tiles");
	size_t tiles = 0;
	for (size_t d = 0; d < m->device_count; d++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, d);
		const char *done = "";
		for (size_t i = 0; i < m->series_count && tiles < TILES_MAX; i++) {
			const struct tk_site_series *s = &m->series[i];
			bool added;
			if (!strcmp(s->problem->op, done) || !tk_series_is_suite_time(s) ||
			        !(s->problem->flops > 0))
				continue;
			done = s->problem->op;
			add_tile(site, list, device, s, &added);
			tiles += added;
		}
	}
}

/* ---- the backends at the key problems, a table for each device ---- */

#define BOARDS_MAX 4
#define COLUMNS_MAX 7

struct board {
	const struct tk_standing *rows;
	size_t count;
	const struct tk_site_series *columns[COLUMNS_MAX]; /* any series of the backend */
	size_t column_count;
};

static const struct tk_site_series *find_backend(
        const struct tk_standing *row, const struct tk_site_series *backend, size_t *place)
{
	for (*place = 0; *place < row->count; ++*place)
		if (!strcmp(row->at[*place]->variant, backend->variant))
			return row->at[*place];
	return NULL;
}

static void choose_columns(struct board *b)
{
	for (size_t i = 0; i < b->count; i++)
		for (size_t k = 0; k < b->rows[i].count; k++) {
			size_t c = 0;
			while (c < b->column_count &&
			        strcmp(b->columns[c]->variant, b->rows[i].at[k]->variant))
				c++;
			if (c == b->column_count && c < COLUMNS_MAX)
				b->columns[b->column_count++] = b->rows[i].at[k];
		}
}

static void add_cell(struct tk_value *cells, const struct tk_standing *row,
        const struct tk_site_series *backend, const struct tk_ceiling_set *ceilings)
{
	struct tk_value *o = tk_value_append(cells);
	size_t place;
	const struct tk_site_series *s = find_backend(row, backend, &place);
	const char *unit;
	char text[TK_FORMAT_SIZE];
	tk_value_set_flag(o, "any", s != NULL);
	if (!s)
		return;
	double value = tk_series_last_point(s)->value, rate = tk_series_rate(s, value, &unit);
	double peak = tk_ceiling_set_efficiency_by_source(ceilings, TK_CEILING_DATASHEET, s, value);
	bool first = place < row->first_count && row->count > 1;
	tk_value_set_fmt(o, "href", "series/%s.html", s->file);
	tk_value_set(o, "rate",
	        isfinite(rate) ? tk_format_value(rate, unit, text)
	                       : tk_format_value(value, s->row->unit, text));
	tk_value_set_percent(o, "peak", peak, "");
	tk_value_set_flag(o, "first", first);
	tk_value_set(o, "word", !first ? "" : row->first_count > 1 ? "tie" : "best");
}

static void add_board(struct tk_site *site, struct tk_value *boards, struct board *b)
{
	const struct tk_site_device *device = b->rows[0].at[0]->device;
	struct tk_value *o = tk_value_append(boards);
	struct tk_ceiling_set ceilings;
	choose_columns(b);
	tk_ceiling_set_load(&site->model, device, &ceilings);
	tk_value_set_clip(o, "device", device->name, 60);
	tk_value_set_clip(o, "device_name", device->row->name, 60);
	struct tk_value *heads = tk_value_add_list(o, "heads"),
	                *rows = tk_value_add_list(o, "rows");
	for (size_t c = 0; c < b->column_count; c++) {
		struct tk_value *head = tk_value_append(heads);
		tk_value_set_clip(head, "name", b->columns[c]->variant, 40);
		tk_mark_draw_key(&site->markup, b->columns[c]->style);
		tk_page_set_markup(site, head, "mark_markup");
	}
	for (size_t i = 0; i < b->count; i++) {
		const struct tk_site_series *first = b->rows[i].at[0];
		struct tk_value *row = tk_value_append(rows),
		                *cells = tk_value_add_list(row, "cells");
		tk_value_set_clip(row, "problem", first->problem->title, 110);
		tk_value_set_fmt(row, "op_href", "kernels/%s.html", first->op_file);
		for (size_t c = 0; c < b->column_count; c++)
			add_cell(cells, &b->rows[i], b->columns[c], &ceilings);
	}
}

static void set_standings(struct tk_site *site, struct tk_value *page)
{
	struct tk_standings standings;
	struct tk_value *boards = tk_value_add_list(page, "boards");
	tk_standings_load(&site->model, site->options->tie, &standings);
	for (size_t first = 0, end, count = 0; first < standings.count && count < BOARDS_MAX;
	        first = end, count++) {
		for (end = first + 1;
		        end < standings.count &&
		        standings.at[end].at[0]->device == standings.at[first].at[0]->device;
		        end++)
			;
		struct board b = {.rows = &standings.at[first], .count = end - first};
		add_board(site, boards, &b);
	}
	free(standings.at);
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
	set_tiles(site, page);
	set_standings(site, page);
	return 0;
}
