/* The roofline as SVG: logarithmic axes, ceilings with their names, a mark for each series. */
#include "site_gen/charts/charts.h"

#include <math.h>

#include "base/base.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"

static const char *const level_names[TK_PROFILED_LEVELS] = {"DRAM", "L2", "L1"};

#define LETTER 6.2 /* about the width of one in the style sheet */

/* log10 of the highest ceiling of a unit, of caches or not; -INFINITY: none. */
static double find_top(const struct tk_ceiling_set *ceilings, const char *unit, bool cache)
{
	double top = -INFINITY;
	for (size_t i = 0; i < ceilings->count; i++)
		if (!strcmp(ceilings->rows[i]->unit, unit) &&
		        tk_ceiling_is_cache(ceilings->rows[i]) == cache)
			top = fmax(top, log10(ceilings->rows[i]->value));
	return top;
}

/* The range of all points, the highest ceiling and the ridges, with a margin. */
static struct tk_plot make_plot(
        const struct tk_roofline_points *points, const struct tk_ceiling_set *ceilings)
{
	double rate = find_top(ceilings, "gflop_per_s", false),
	       ridge = rate - find_top(ceilings, "gb_per_s", false);
	double first = fmin(ridge, rate - find_top(ceilings, "gb_per_s", true));
	double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
	struct tk_plot p = {960, 436, 62, 8, 8, 54, {0}, {0}};
	for (size_t i = 0; i < points->count; i++) {
		x0 = fmin(x0, log10(points->at[i].intensity));
		x1 = fmax(x1, log10(points->at[i].intensity));
		for (int k = 0; k < TK_PROFILED_LEVELS; k++) { /* fmin() passes over NAN */
			x0 = fmin(x0, log10(points->at[i].measured[k]));
			x1 = fmax(x1, log10(points->at[i].measured[k]));
		}
		y0 = fmin(y0, log10(points->at[i].rate));
		y1 = fmax(y1, log10(points->at[i].rate));
	}
	x0 = points->count ? fmin(x0, isfinite(first) ? first : x0) - 0.6 : 0;
	x1 = points->count ? fmax(x1, isfinite(ridge) ? ridge : x1) + 0.3 : 2;
	y0 = points->count ? y0 - 0.3 : 0;
	y1 = points->count ? fmax(y1, rate) + 0.2 : 2;
	tk_axis_set_decades(&p.x, x0, x1, 1);
	tk_axis_set_decades(
	        &p.y, y0, y1, tk_format_choose_scale(pow(10, y1), "gflop_per_s").divisor);
	return p;
}

/* Names of rates are at the right end, names of bandwidths at the left. Overlapping names are
 * shifted. Slopes are parallel: `height` is their distance from the origin. */
struct names {
	double y[TK_CEILING_SET_MAX], left[TK_CEILING_SET_MAX], height[TK_CEILING_SET_MAX],
	        end[TK_CEILING_SET_MAX];
	size_t count, slopes;
};

static void name_flat(struct tk_buf *out, struct names *names, double y, const char *text)
{
	double right = 950, width = LETTER * (double)strlen(text);
	for (size_t i = 0; i < names->count; i++)
		if (fabs(names->y[i] - y) < 13)
			right = fmin(right, names->left[i] - 12);
	names->y[names->count] = y;
	names->left[names->count++] = right - width;
	tk_buf_add_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", right, y - 4);
	tk_escape_html(out, text, strlen(text));
	tk_buf_add_str(out, "</text>");
}

static void name_slope(struct tk_buf *out, struct names *names, double x, double y, double angle,
        bool below, const char *text)
{
	double height = y * cos(angle) - x * sin(angle), at = 14;
	for (size_t i = 0; i < names->slopes; i++)
		if (fabs(names->height[i] - height) < 26)
			at = fmax(at, names->end[i]);
	tk_buf_add_printf(out,
	        "<text transform=\"translate(%.1f %.1f) rotate(%.1f)\" x=\"%.1f\" y=\"%d\">", x, y,
	        angle * 57.29578, at, below ? 14 : -5);
	tk_escape_html(out, text, strlen(text));
	tk_buf_add_str(out, "</text>");
	names->height[names->slopes] = height;
	names->end[names->slopes++] = at + LETTER * (double)strlen(text) + 14;
}

static void draw_ceiling(struct tk_buf *out, const struct tk_plot *p,
        const struct tk_ceiling_set *ceilings, const struct tk_ceiling_row *c, struct names *names)
{
	bool flat = tk_unit_from_name(c->unit) == TK_UNIT_GFLOP_PER_S,
	     measured = c->source == TK_CEILING_MEASURED;
	double v = log10(c->value), xa = p->x.lo, xb = p->x.hi,
	       rate = find_top(ceilings, "gflop_per_s", false),
	       bandwidth = find_top(ceilings, "gb_per_s", false);
	char value[TK_FORMAT_SIZE], text[160];
	if (flat) { /* from the ridge on */
		xa = isfinite(bandwidth) ? fmax(xa, v - bandwidth) : xa;
	} else { /* y = v + x, up to the highest rate */
		xa = fmax(xa, p->y.lo - v);
		xb = fmin(xb, fmin(p->y.hi, isfinite(rate) ? rate : p->y.hi) - v);
	}
	if ((flat && (v < p->y.lo || v > p->y.hi)) || xa >= xb)
		return;
	double x1 = tk_plot_x(p, pow(10, xa)), y1 = tk_plot_y(p, pow(10, flat ? v : v + xa)),
	       x2 = tk_plot_x(p, pow(10, xb)), y2 = tk_plot_y(p, pow(10, flat ? v : v + xb));
	tk_buf_add_printf(out, "<path class=\"ceiling ceiling-%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
	        tk_ceiling_is_cache(c) ? "cache"
	        : measured             ? "measured"
	                               : "datasheet",
	        x1, y1, x2, y2);
	snprintf(text, sizeof text, "%.40s %s%s", c->name,
	        tk_format_value(c->value, c->unit, value), measured ? "" : ", datasheet");
	if (flat)
		name_flat(out, names, y1, text);
	else
		name_slope(out, names, x1, y1, atan2(y2 - y1, x2 - x1),
		        measured && !tk_ceiling_is_cache(c), text);
}

struct place {
	int x, y;
};

static int place_order(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

/* One path for all marks of one style, because thousands of elements are slow. Marks less than two
 * apart are drawn once; a mark is ten wide. */
static void draw_marks(struct tk_buf *out, const struct tk_plot *p,
        const struct tk_roofline_points *points, size_t mark, bool old, struct place *places)
{
	size_t count = 0, style = 0;
	for (size_t i = 0; i < points->count; i++) {
		const struct tk_roofline_point *s = &points->at[i];
		if (s->old != old || s->mark != mark)
			continue;
		style = s->series->style;
		places[count++] = (struct place){2 * (int)lround(tk_plot_x(p, s->intensity) / 2),
		        2 * (int)lround(tk_plot_y(p, s->rate) / 2)};
	}
	if (!count)
		return;
	tk_sort(places, count, sizeof *places, place_order);
	tk_mark_begin(out, style, old);
	for (size_t i = 0; i < count; i++)
		if (!i || place_order(&places[i - 1], &places[i]))
			tk_mark_add(out, style, places[i].x, places[i].y);
	tk_buf_add_str(out, "\"/>");
}

/* From the counted to the measured intensities: a line with a tick and a name for each level. */
static void draw_measured(
        struct tk_buf *out, const struct tk_plot *p, const struct tk_roofline_point *s)
{
	double y = tk_plot_y(p, s->rate), first = tk_plot_x(p, s->intensity), last = first;
	for (int i = 0; i < TK_PROFILED_LEVELS; i++) {
		double x = tk_plot_x(p, s->measured[i]);
		if (!isfinite(x))
			continue;
		first = fmin(first, x);
		last = fmax(last, x);
		tk_buf_add_printf(out,
		        "<path class=\"measured\" d=\"M%.1f %.1fv12\"/><text x=\"%.1f\" "
		        "y=\"%.1f\" text-anchor=\"middle\">%s</text>",
		        x, y - 6, x, y + 19, level_names[i]);
	}
	if (last > first)
		tk_buf_add_printf(
		        out, "<path class=\"measured\" d=\"M%.1f %.1fH%.1f\"/>", first, y, last);
}

/* The rates of the types among the points, and all bandwidths. A type without a rate uses the
 * highest one. */
static bool is_drawn(
        const struct tk_ceiling_row *c, const struct tk_roofline_points *points, double top)
{
	bool seen = tk_unit_from_name(c->unit) != TK_UNIT_GFLOP_PER_S || log10(c->value) >= top;
	for (size_t i = 0; i < points->count && !seen; i++)
		seen = !strcmp(points->at[i].series->problem->dtype, c->name);
	return seen;
}

void tk_roofline_draw(struct tk_buf *out, const struct tk_roofline_points *points,
        const struct tk_ceiling_set *ceilings)
{
	struct place *places = tk_malloc((points->count + 1) * sizeof *places);
	struct tk_plot p = make_plot(points, ceilings);
	struct names names = {.count = 0};
	tk_plot_begin(out, &p, "roofline");
	tk_plot_draw_x_grid(out, &p);
	tk_plot_draw_axes(out, &p, "FLOP per byte",
	        tk_format_choose_scale(pow(10, p.y.hi), "gflop_per_s").unit);
	for (size_t i = 0; i < ceilings->count; i++)
		if (is_drawn(ceilings->rows[i], points, find_top(ceilings, "gflop_per_s", false)))
			draw_ceiling(out, &p, ceilings, ceilings->rows[i], &names);
	size_t mark_count = 0;
	for (size_t i = 0; i < points->count; i++) {
		draw_measured(out, &p, &points->at[i]);
		mark_count = mark_count > points->at[i].mark ? mark_count : points->at[i].mark + 1;
	}
	for (size_t mark = 0; mark < mark_count; mark++) {
		draw_marks(out, &p, points, mark, true, places);
		draw_marks(out, &p, points, mark, false, places);
	}
	tk_buf_add_str(out, "</svg>");
	free(places);
}
