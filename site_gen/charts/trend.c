/* Trends of series, and small drawings without labels. Sparklines are paths in relative integer
 * steps: about 300 bytes each. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "stats/summary.h"

#define SPARK_POINTS 60
#define TREND_Y_TICKS 7
#define TREND_X_TICKS 6
#define END_PERCENT 6.0 /* a label this near to an end does not reach over it */
#define RANGE_FLOOR 0.05
#define INDEX_NIGHTS 90
#define INDEX_FLOOR 0.02 /* of the range to either side, so that noise looks like noise */

/* The points that are drawn. */
struct points {
	const struct tk_sparkline_point *at;
	size_t count;
};

/* Whether there are points of at least two nights. */
static bool is_drawn(const struct tk_site_series *s)
{
	const struct tk_sparkline *t = &s->sparkline;
	return t->count > 1 && t->at[t->count - 1].as_of_s > t->at[0].as_of_s;
}

/* ---- the frame ---- */

/* The range of the newest points: at least 5 % of the median to either side, so that noise looks
 * like noise. templates/assets/trend_view.js has the same rule. */
static struct points set_ranges(
        struct tk_plot *p, const struct tk_site_series *s, size_t newest, bool intervals)
{
	size_t count = s->sparkline.count < newest ? s->sparkline.count : newest;
	const struct tk_sparkline_point *at = s->sparkline.at + (s->sparkline.count - count);
	double values[TK_SITE_WINDOW_POINTS];
	double lo = INFINITY, hi = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		values[i] = at[i].value;
		lo = fmin(lo, intervals ? fminf(at[i].lo, at[i].value) : at[i].value);
		hi = fmax(hi, intervals ? fmaxf(at[i].hi, at[i].value) : at[i].value);
	}
	double median = tk_median(values, count), floor_half = fabs(median) * RANGE_FLOOR;
	lo = fmin(lo, median - floor_half);
	hi = fmax(hi, median + floor_half);
	p->y = (struct tk_axis){.lo = lo, .hi = hi > lo ? hi : lo + 1};
	p->x = (struct tk_axis){.lo = at[0].as_of_s, .hi = at[count - 1].as_of_s};
	return (struct points){at, count};
}

/* Rounds a coordinate; lround() is a call. */
static int to_x(const struct tk_plot *p, double t)
{
	return (int)(tk_plot_x(p, t) + 0.5);
}

static int to_y(const struct tk_plot *p, double v)
{
	return (int)(tk_plot_y(p, fmin(fmax(v, p->y.lo), p->y.hi)) + 0.5);
}

static void step(struct tk_buf *out, int dx, int dy)
{
	tk_buf_add_int(out, dx);
	if (dy >= 0)
		tk_buf_add_char(out, ' ');
	tk_buf_add_int(out, dy);
}

static void draw_line(struct tk_buf *out, const struct tk_plot *p, struct points points)
{
	int x = to_x(p, points.at[0].as_of_s), y = to_y(p, points.at[0].value);
	tk_buf_add_str(out, "<path class=\"line\" d=\"M");
	step(out, x, y);
	tk_buf_add_char(out, 'l');
	char *start = tk_buf_reserve(out, points.count * 2 * (TK_FORMAT_INT + 1)), *at = start;
	for (size_t i = 1; i < points.count; i++) {
		int nx = to_x(p, points.at[i].as_of_s), ny = to_y(p, points.at[i].value);
		if (i > 1 && nx >= x) /* a sign separates numbers as well */
			*at++ = ' ';
		at += tk_format_int(at, nx - x);
		if (ny >= y)
			*at++ = ' ';
		at += tk_format_int(at, ny - y);
		x = nx;
		y = ny;
	}
	tk_buf_commit(out, (size_t)(at - start));
	tk_buf_add_str(out, "\"/>");
}

static void draw_step(struct tk_buf *out, const struct tk_plot *p, int64_t at_s, bool worse)
{
	tk_buf_add_printf(out, "<path class=\"%s\" d=\"M%d 0v%d\"/>",
	        worse ? "step-bad" : "step-good", to_x(p, (double)at_s), p->height);
}

static void draw_changes(
        struct tk_buf *out, const struct tk_plot *p, const struct tk_site_series *s)
{
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_site_change *c = &s->changes[i];
		if ((double)c->as_of_s > p->x.lo && (double)c->as_of_s <= p->x.hi)
			draw_step(out, p, c->as_of_s, c->is_worse);
	}
}

/* ---- sparklines ---- */

void tk_sparkline_draw(struct tk_buf *out, const struct tk_site_series *s)
{
	struct tk_plot p = {120, 28, 3, 3, 3, 3, {0}, {0}};
	if (!is_drawn(s))
		return;
	struct points points = set_ranges(&p, s, SPARK_POINTS, false);
	const struct tk_sparkline_point *last = &points.at[points.count - 1];
	tk_buf_add_str(out, "<svg class=\"spark\" viewBox=\"0 0 120 28\" width=\"120\" "
	                    "height=\"28\" aria-hidden=\"true\">");
	draw_changes(out, &p, s);
	draw_line(out, &p, points);
	tk_buf_add_str(out, "<circle cx=\"");
	tk_buf_add_int(out, to_x(&p, last->as_of_s));
	tk_buf_add_str(out, "\" cy=\"");
	tk_buf_add_int(out, to_y(&p, last->value));
	tk_buf_add_str(out, "\" r=\"2\"/></svg>");
}

void tk_index_draw(struct tk_buf *out, const struct tk_trend *t)
{
	struct tk_plot p = {180, 36, 2, 2, 2, 2, {0}, {.lo = -INDEX_FLOOR, .hi = INDEX_FLOOR}};
	const struct tk_total *all = &t->all;
	size_t first = all->count > INDEX_NIGHTS ? all->count - INDEX_NIGHTS : 0;
	if (all->count < 2)
		return;
	for (size_t i = first; i < all->count; i++) {
		p.y.lo = fmin(p.y.lo, t->levels[i] - t->levels[first]);
		p.y.hi = fmax(p.y.hi, t->levels[i] - t->levels[first]);
	}
	p.x.lo = (double)all->nights[first].as_of_s;
	p.x.hi = (double)all->nights[all->count - 1].as_of_s;
	tk_buf_add_printf(out,
	        "<svg class=\"spark index-line\" viewBox=\"0 0 %d %d\" "
	        "preserveAspectRatio=\"xMinYMid\" aria-hidden=\"true\"><path "
	        "class=\"middle\" d=\"M0 %.1fH%d\"/><path class=\"line\" d=\"",
	        p.width, p.height, tk_plot_y(&p, 0), p.width);
	for (size_t i = first; i < all->count; i++)
		tk_buf_add_printf(out, "%c%.0f %.1f", i > first ? 'L' : 'M',
		        tk_plot_x(&p, (double)all->nights[i].as_of_s),
		        tk_plot_y(&p, t->levels[i] - t->levels[first]));
	tk_buf_add_str(out, "\"/></svg>");
}

/* ---- the trend of a page ---- */

/* Of no width at a point whose interval is unknown. */
static void draw_band(struct tk_buf *out, const struct tk_plot *p, struct points points)
{
	tk_buf_add_str(out, "<path class=\"band\" d=\"M");
	for (size_t i = 0; i < points.count; i++) {
		tk_buf_add_str(out, i ? "L" : "");
		step(out, to_x(p, points.at[i].as_of_s),
		        to_y(p, fmaxf(points.at[i].hi, points.at[i].value)));
	}
	for (size_t i = points.count; i-- > 0;) {
		tk_buf_add_char(out, 'L');
		step(out, to_x(p, points.at[i].as_of_s),
		        to_y(p, fminf(points.at[i].lo, points.at[i].value)));
	}
	tk_buf_add_str(out, "z\"/>");
}

/* Nights without a timing as crosses at the lower edge; the newest verdict as a line. */
static void draw_nights(struct tk_buf *out, const struct tk_plot *p, const json_t *marks)
{
	const json_t *mark;
	size_t i;
	json_array_foreach (marks, i, mark) {
		int64_t at_s = json_integer_value(json_object_get(mark, "time"));
		bool worse = json_is_true(json_object_get(mark, "isWorse"));
		if (json_is_true(json_object_get(mark, "isVerdict")))
			draw_step(out, p, at_s, worse);
		else
			tk_buf_add_printf(out,
			        "<path class=\"night-mark text-%s\" d=\"M%d %dl8 -8m-8 0l8 8\"/>",
			        worse ? "bad" : "note", to_x(p, (double)at_s) - 4, p->height - 2);
	}
}

bool tk_trend_draw(struct tk_buf *out, struct tk_plot *p, const struct tk_site_series *s,
        const json_t *marks, struct tk_format_scale scale)
{
	*p = (struct tk_plot){1000, 240, 4, 4, 4, 4, {0}, {0}};
	if (!is_drawn(s))
		return false;
	struct points points = set_ranges(p, s, TK_SITE_WINDOW_POINTS, true);
	const json_t *mark = json_array_get(marks, json_array_size(marks) - 1);
	int64_t newest_s = json_integer_value(json_object_get(mark, "time"));
	tk_axis_set_times(&p->x, (int64_t)p->x.lo,
	        newest_s > (int64_t)p->x.hi ? newest_s : (int64_t)p->x.hi, TREND_X_TICKS);
	tk_axis_set_values(&p->y, p->y.lo, p->y.hi, TREND_Y_TICKS, scale);
	tk_buf_add_printf(out,
	        "<svg class=\"trend\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">",
	        p->width, p->height);
	tk_plot_draw_y_grid(out, p);
	tk_plot_draw_x_grid(out, p);
	draw_band(out, p, points);
	draw_changes(out, p, s);
	draw_nights(out, p, marks);
	draw_line(out, p, points);
	tk_buf_add_str(out, "</svg>");
	return true;
}

void tk_trend_draw_y_labels(struct tk_buf *out, const struct tk_plot *p)
{
	if (!p->y.count)
		return;
	tk_buf_add_str(out, "<svg class=\"y-labels\" aria-hidden=\"true\">");
	for (size_t i = 0; i < p->y.count; i++)
		tk_buf_add_printf(out,
		        "<text x=\"100%%\" y=\"%.1f%%\" dy=\"4\" text-anchor=\"end\">%s</text>",
		        100 * tk_plot_y(p, p->y.ticks[i].at) / p->height, p->y.ticks[i].label);
	tk_buf_add_str(out, "</svg>");
}

void tk_trend_draw_x_labels(struct tk_buf *out, const struct tk_plot *p)
{
	if (!p->x.count)
		return;
	tk_buf_add_str(out, "<svg class=\"x-labels\" aria-hidden=\"true\">");
	for (size_t i = 0; i < p->x.count; i++) {
		double x = 100 * tk_plot_x(p, p->x.ticks[i].at) / p->width;
		tk_buf_add_printf(out, "<text x=\"%.1f%%\" y=\"13\" text-anchor=\"%s\">%s</text>",
		        x,
		        x < END_PERCENT         ? "start"
		        : x > 100 - END_PERCENT ? "end"
		                                : "middle",
		        p->x.ticks[i].label);
	}
	tk_buf_add_str(out, "</svg>");
}

#define STEP_FULL 1.25 /* the change that fills half of its bar */
#define DAY_S 86400

void tk_svg_draw_bar(struct tk_buf *out, double ratio, const char *class_suffix)
{
	double width = isfinite(ratio) ? fmin(fmax(ratio, 0), 1) * 100 : 0;
	tk_buf_add_printf(out,
	        "<svg class=\"bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">"
	        "<rect class=\"bar-%s\" width=\"%.1f\" height=\"4\"/></svg>",
	        class_suffix, width);
}

void tk_svg_draw_change(struct tk_buf *out, double ratio, bool worse)
{
	double part =
	        isfinite(ratio) && ratio > 0 ? fmin(fmax(log(ratio) / log(STEP_FULL), -1), 1) : 0;
	tk_buf_add_printf(out,
	        "<svg class=\"step\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">"
	        "<path class=\"middle\" d=\"M50 0V8\"/><path class=\"%s\" d=\"M50 "
	        "2H%.1fV6H50z\"/></svg>",
	        worse ? "bad" : "good", 50 + part * 50);
}

/* ---- intervals ---- */

#define BAR_WIDTH 160
#define BAR_HEIGHT 14

static double log_of(double change)
{
	return change > -1 ? log1p(change) : NAN;
}

void tk_svg_draw_interval(struct tk_buf *out, double axis_lo, double axis_hi, double change,
        double lo, double hi, const char *class)
{
	double span = axis_hi - axis_lo, scale = span > 0 ? (BAR_WIDTH - 8) / span : 0,
	       zero = 4 - axis_lo * scale, at = zero + log_of(change) * scale;
	if (!isfinite(at))
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"interval-bar\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
	        "aria-hidden=\"true\"><path class=\"middle\" d=\"M%.1f 0V%d\"/>",
	        BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT, zero, BAR_HEIGHT);
	tk_buf_add_printf(
	        out, "<path class=\"%s\" d=\"M%.1f 4H%.1fV10H%.1fz\"/>", class, zero, at, zero);
	if (isfinite(log_of(lo)) && isfinite(log_of(hi)))
		tk_buf_add_printf(out,
		        "<path class=\"ends\" d=\"M%.1f 7H%.1fM%.1f 3V11M%.1f 3V11\"/>",
		        zero + log_of(lo) * scale, zero + log_of(hi) * scale,
		        zero + log_of(lo) * scale, zero + log_of(hi) * scale);
	tk_buf_add_str(out, "</svg>");
}

/* ---- A/B pairs ---- */

#define PAIRS_WIDTH 160
#define PAIRS_HEIGHT 24
#define PAIRS_MARGIN 4

static double pair_x(double d, double lo, double hi)
{
	return PAIRS_MARGIN + (d - lo) / (hi - lo) * (PAIRS_WIDTH - 2 * PAIRS_MARGIN);
}

void tk_svg_draw_pairs(struct tk_buf *out, const double *d, size_t count, double lo, double hi)
{
	double first = 0, last = 0;
	for (size_t i = 0; i < count; i++) {
		first = fmin(first, d[i]);
		last = fmax(last, d[i]);
	}
	if (!(last > first))
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"ab-pairs\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
	        "aria-hidden=\"true\">"
	        "<path class=\"zero\" d=\"M%.1f 0V%d\"/><path class=\"interval\" d=\"M%.1f "
	        "%dH%.1f\"/>",
	        PAIRS_WIDTH, PAIRS_HEIGHT, PAIRS_WIDTH, PAIRS_HEIGHT, pair_x(0, first, last),
	        PAIRS_HEIGHT, pair_x(lo, first, last), PAIRS_HEIGHT - 4, pair_x(hi, first, last));
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(out, "<circle cx=\"%.1f\" cy=\"%d\" r=\"2\"/>",
		        pair_x(d[i], first, last), 4 + (int)(i % 4) * 4);
	tk_buf_add_str(out, "</svg>");
}
