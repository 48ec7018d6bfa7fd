/* roofline/DEVICE.html: what the last measurements reach of what the device allows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "site_gen/escape.h"
#include "site_gen/format.h"
#include "site_gen/page.h"
#include "site_gen/roofs.h"
#include "site_gen/shard.h"
#include "site_gen/svg.h"

#define WIDTH 960
#define HEIGHT 420
#define MARGIN 46

struct spot {
	const struct tk_site_series *series;
	double intensity, rate, share;
};
struct spots {
	struct spot *at;
	size_t count;
};
struct plot {
	double x0, x1, y0, y1;
}; /* decades, log10 */

/* Points of the device's last night only: an old number says nothing of tonight's ceilings. */
static int collect(const struct tk_site *site, const struct tk_site_device *device, const struct tk_roofs *roofs,
        struct spots *out, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	out->at = malloc((m->series_count + 1) * sizeof *out->at);
	if (!out->at)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const struct tk_point *last = tk_series_last(s);
		if (s->device != device || !tk_series_is_ranked(s) || !last || !(s->problem->flops > 0) ||
		        !(s->problem->bytes > 0) || !(last->value > 0) ||
		        last->night_id != device->machine->last_night->id)
			continue;
		double intensity = s->problem->flops / s->problem->bytes, rate = s->problem->flops / last->value;
		out->at[out->count++] =
		        (struct spot){s, intensity, rate, rate / tk_roofs_limit(roofs, s->problem->dtype, intensity)};
	}
	return 0;
}

static int by_share(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	if (x->share != y->share && isfinite(x->share) && isfinite(y->share))
		return x->share < y->share ? 1 : -1;
	return x->series < y->series ? -1 : x->series > y->series;
}

/* ---- the drawing that needs no script -------------------------------------------------------------------------------
 */

/* log10 of the highest ceiling of a unit; -INFINITY: none. */
static double top_of(const struct tk_roofs *roofs, const char *unit)
{
	double top = -INFINITY;
	for (size_t i = 0; i < roofs->count; i++)
		if (!strcmp(roofs->rows[i]->unit, unit))
			top = fmax(top, log10(roofs->rows[i]->value));
	return top;
}

/* All points, the highest ceiling and its ridge, with some room around. */
static struct plot plot_of(const struct spots *spots, const struct tk_roofs *roofs)
{
	double rate = top_of(roofs, "gflop_per_s"), ridge = rate - top_of(roofs, "gb_per_s");
	struct plot p = {INFINITY, -INFINITY, INFINITY, -INFINITY};
	for (size_t i = 0; i < spots->count; i++) {
		p.x0 = fmin(p.x0, log10(spots->at[i].intensity));
		p.x1 = fmax(p.x1, log10(spots->at[i].intensity));
		p.y0 = fmin(p.y0, log10(spots->at[i].rate));
		p.y1 = fmax(p.y1, log10(spots->at[i].rate));
	}
	p.x0 = fmin(p.x0, isfinite(ridge) ? ridge : p.x0) - 0.6;
	p.x1 = fmax(p.x1, isfinite(ridge) ? ridge : p.x1) + 0.3;
	p.y0 -= 0.3;
	p.y1 = fmax(p.y1, rate) + 0.2;
	return spots->count ? p : (struct plot){0, 2, 0, 2};
}

static double plot_x(const struct plot *p, double log_x)
{
	return MARGIN + (log_x - p->x0) / (p->x1 - p->x0) * (WIDTH - MARGIN - 8);
}

static double plot_y(const struct plot *p, double log_y)
{
	return 8 + (p->y1 - log_y) / (p->y1 - p->y0) * (HEIGHT - MARGIN - 8);
}

static void draw_grid(struct tk_buf *out, const struct plot *p)
{
	for (int x = (int)ceil(p->x0); x <= (int)floor(p->x1); x++)
		tk_buf_printf(out,
		        "<path class=\"grid\" d=\"M%.1f 8V%d\"/><text x=\"%.1f\" y=\"%d\" "
		        "text-anchor=\"middle\">%g</text>",
		        plot_x(p, x), HEIGHT - MARGIN + 8 - 8, plot_x(p, x), HEIGHT - MARGIN + 18, pow(10, x));
	for (int y = (int)ceil(p->y0); y <= (int)floor(p->y1); y++)
		tk_buf_printf(out,
		        "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
		        "text-anchor=\"end\">%g</text>",
		        MARGIN, plot_y(p, y), WIDTH - 8, MARGIN - 6, plot_y(p, y) + 4, pow(10, y));
}

static void draw_roof(
        struct tk_buf *out, const struct plot *p, const struct tk_roofs *roofs, const struct tk_ceiling_row *c)
{
	bool flat = !strcmp(c->unit, "gflop_per_s");
	double v = log10(c->value), xa = p->x0, xb = p->x1, rate = top_of(roofs, "gflop_per_s"),
	       bandwidth = top_of(roofs, "gb_per_s");
	if (flat) { /* from where the memory no longer limits it */
		xa = isfinite(bandwidth) ? fmax(xa, v - bandwidth) : xa;
	} else { /* y = v + x, up to the highest rate */
		xa = fmax(xa, p->y0 - v);
		xb = fmin(xb, fmin(p->y1, isfinite(rate) ? rate : p->y1) - v);
	}
	if ((flat && (v < p->y0 || v > p->y1)) || xa >= xb)
		return;
	tk_buf_printf(out, "<path class=\"roof roof-%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
	        strcmp(c->source, "measured") ? "datasheet" : "measured", plot_x(p, xa), plot_y(p, flat ? v : v + xa),
	        plot_x(p, xb), plot_y(p, flat ? v : v + xb));
}

static void draw(struct tk_buf *out, const struct spots *spots, const struct tk_roofs *roofs)
{
	struct plot p = plot_of(spots, roofs);
	tk_buf_printf(out, "<svg class=\"roofline\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">", WIDTH, HEIGHT);
	draw_grid(out, &p);
	for (size_t i = 0; i < roofs->count; i++)
		draw_roof(out, &p, roofs, roofs->rows[i]);
	for (size_t i = 0; i < spots->count; i++)
		tk_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>",
		        plot_x(&p, log10(spots->at[i].intensity)), plot_y(&p, log10(spots->at[i].rate)));
	tk_buf_str(out, "</svg>");
}

/* ---- data for the chart ---------------------------------------------------------------------------------------------
 */

static void add_text(struct tk_buf *out, const char *key, const char *text)
{
	tk_buf_printf(out, ",\"%s\":", key);
	tk_escape_json(out, text, tk_utf8_clip(text, 120));
}

static int write_data(struct tk_site *site, const struct tk_roofs *roofs, const struct spots *spots, const char *path,
        struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_str(out, "KD.add(\"roofline\",{\"roofs\":[");
	for (size_t i = 0; i < roofs->count; i++) {
		tk_buf_printf(out, "%s\n{\"value\":", i ? "," : "");
		tk_shard_number(out, roofs->rows[i]->value);
		add_text(out, "name", roofs->rows[i]->name);
		add_text(out, "unit", roofs->rows[i]->unit);
		add_text(out, "source", roofs->rows[i]->source);
		tk_buf_char(out, '}');
	}
	tk_buf_str(out, "],\"points\":[");
	for (size_t i = 0; i < spots->count; i++) {
		const struct spot *s = &spots->at[i];
		char href[160];
		snprintf(href, sizeof href, "series/%s.html", s->series->file);
		tk_buf_printf(out, "%s\n{\"x\":", i ? "," : "");
		tk_shard_number(out, s->intensity);
		tk_buf_str(out, ",\"y\":");
		tk_shard_number(out, s->rate);
		tk_buf_str(out, ",\"share\":");
		tk_shard_number(out, s->share);
		add_text(out, "title", s->series->problem->title);
		add_text(out, "label", s->series->label);
		add_text(out, "href", href);
		tk_buf_char(out, '}');
	}
	tk_buf_str(out, "]});\n");
	return tk_output_put(site->out, path, out, err);
}

/* ---- the page
 * --------------------------------------------------------------------------------------------------------- */

static void set_tables(
        struct tk_site *site, struct tk_value *page, const struct tk_roofs *roofs, const struct spots *spots)
{
	struct tk_arena *a = site->arena;
	char text[TK_FORMAT_SIZE];
	struct tk_value *list = tk_set_list(a, page, "roofs");
	for (size_t i = 0; i < roofs->count; i++) {
		struct tk_value *o = tk_add_object(a, list);
		tk_set_clipped(site, o, "name", roofs->rows[i]->name, 40);
		tk_set_clipped(site, o, "source", roofs->rows[i]->source, 20);
		tk_set(a, o, "value", tk_format_value(roofs->rows[i]->value, roofs->rows[i]->unit, text));
	}
	struct tk_value *rows = tk_set_list(a, page, "rows");
	for (size_t i = 0; i < spots->count; i++) {
		const struct spot *s = &spots->at[i];
		struct tk_value *o = tk_add_object(a, rows);
		tk_set_fmt(a, o, "href", "../series/%s.html", s->series->file);
		tk_set_clipped(site, o, "title", s->series->problem->title, 110);
		tk_set_clipped(site, o, "label", s->series->label, 60);
		tk_set_fmt(a, o, "intensity", "%.*f", s->intensity < 9.95 ? 1 : 0, s->intensity);
		tk_set(a, o, "rate", tk_format_value(s->rate, "gflop_per_s", text));
		tk_set(a, o, "share", tk_format_percent(s->share, text));
		tk_set_flag(a, o, "over", s->share > 1.02);
		tk_svg_bar(&site->markup, s->share, s->share > 1.02 ? "over" : "rest");
		tk_set_markup_of(site, o, "bar_markup");
	}
}

static void set_tabs(struct tk_site *site, struct tk_value *page, const struct tk_site_device *current)
{
	struct tk_value *tabs = tk_set_list(site->arena, page, "tabs");
	for (size_t i = 0; i < site->model.device_count; i++) {
		struct tk_value *tab = tk_add_object(site->arena, tabs);
		tk_set_clipped(site, tab, "name", site->model.devices[i].name, 60);
		tk_set_fmt(site->arena, tab, "href", "%s.html", site->model.devices[i].file);
		tk_set_flag(site->arena, tab, "current", &site->model.devices[i] == current);
	}
}

static int write_device(struct tk_site *site, const struct tk_site_device *device, struct tk_error *err)
{
	char path[128], data[128], title[200];
	struct tk_roofs roofs;
	struct spots spots = {0};
	snprintf(path, sizeof path, "roofline/%s.html", device->file);
	snprintf(data, sizeof data, "data/roofline-%s.js", device->file);
	snprintf(title, sizeof title, "Roofline of %.*s", (int)tk_utf8_clip(device->name, 100), device->name);
	tk_roofs_of(&site->model, device, &roofs);
	int status = device->machine->last_night ? collect(site, device, &roofs, &spots, err) : 0;
	if (spots.count)
		qsort(spots.at, spots.count, sizeof *spots.at, by_share);
	if (!status)
		status = write_data(site, &roofs, &spots, data, err);
	if (!status) {
		struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_ROOFLINE);
		set_tabs(site, page, device);
		tk_set_clipped(site, page, "device_name", device->row->name, 100);
		tk_set_time(
		        site, page, "night", device->machine->last_night ? device->machine->last_night->as_of_s : 0);
		tk_set(site->arena, page, "data", data);
		tk_set_flag(site->arena, page, "any", spots.count > 0);
		draw(&site->markup, &spots, &roofs);
		tk_set_markup_of(site, page, "roofline_markup");
		set_tables(site, page, &roofs, &spots);
		status = tk_page_end(site, "roofline", path, err);
	}
	free(spots.at);
	return status;
}

int tk_page_rooflines(struct tk_site *site, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; !status && i < site->model.device_count; i++)
		status = write_device(site, &site->model.devices[i], err);
	return status;
}
