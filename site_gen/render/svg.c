/* Paths in relative integer steps: a sparkline is about 300 bytes. */
#include "site_gen/render/svg.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/model/model.h"
#include "site_gen/render/date_chart.h"
#include "site_gen/render/line_chart.h"

#define SPARK_POINTS 60
#define SPARK_WIDTH 120
#define SPARK_HEIGHT 28
#define SPARK_SIZE "120 28\" width=\"120\" height=\"28\"" /* in every row of a list */
#define TREND_WIDTH 1000
#define TREND_HEIGHT 240
#define TREND_MARGIN 4
#define TREND_TICKS 7
#define RANGE_FLOOR 0.05
#define STEP_FULL 1.25 /* the change that fills half of its bar */

struct frame {
	const struct tk_sparkline_point *points;
	size_t count;
	int64_t t0, t1;
	struct tk_svg_range y;
	int width, height, margin;
};

/* The lower median of a few numbers, which it reorders (N. Wirth's selection). */
static float find_median(float *v, int count)
{
	int lo = 0, hi = count - 1, k = hi / 2;
	while (lo < hi) {
		float pivot = v[k];
		int i = lo, j = hi;
		do {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i <= j) {
				float t = v[i];
				v[i++] = v[j];
				v[j--] = t;
			}
		} while (i <= j);
		lo = j < k ? i : lo;
		hi = k < i ? j : hi;
	}
	return v[k];
}

static struct frame make_frame(const struct tk_site_series *s, size_t newest, bool intervals,
        int width, int height, int margin)
{
	size_t count = s->sparkline.count < newest ? s->sparkline.count : newest;
	const struct tk_sparkline_point *p = s->sparkline.at + (s->sparkline.count - count);
	struct frame f = {p, count, p[0].as_of_s, p[count - 1].as_of_s,
	        {.lo = INFINITY, .hi = -INFINITY}, width, height, margin};
	float values[TK_SITE_WINDOW_POINTS];
	for (size_t i = 0; i < count; i++) {
		values[i] = p[i].value;
		f.y.lo = fmin(f.y.lo, intervals ? fminf(p[i].lo, p[i].value) : p[i].value);
		f.y.hi = fmax(f.y.hi, intervals ? fmaxf(p[i].hi, p[i].value) : p[i].value);
	}
	double median = find_median(values, (int)count), floor_half = fabs(median) * RANGE_FLOOR;
	f.y.lo = fmin(f.y.lo, median - floor_half);
	f.y.hi = fmax(f.y.hi, median + floor_half);
	if (!(f.y.hi > f.y.lo))
		f.y.hi = f.y.lo + 1;
	return f;
}

/* Rounds a value >= 0; lround() is a call. */
static int nearest(double v)
{
	return (int)(v + 0.5);
}

static int to_x(const struct frame *f, int64_t t)
{
	double span = (double)(f->t1 - f->t0);
	return f->margin +
	       nearest(span > 0 ? (double)(t - f->t0) / span * (f->width - 2 * f->margin) : 0);
}

static int to_y(const struct frame *f, double v)
{
	double part = (f->y.hi - v) / (f->y.hi - f->y.lo);
	part = !(part > 0) ? 0 : part > 1 ? 1 : part;
	return f->margin + nearest(part * (f->height - 2 * f->margin));
}

static void step(struct tk_buf *out, int dx, int dy)
{
	tk_buf_add_int(out, dx);
	if (dy >= 0)
		tk_buf_add_char(out, ' ');
	tk_buf_add_int(out, dy);
}

static void line_path(struct tk_buf *out, const struct frame *f, const char *class)
{
	int x = to_x(f, f->points[0].as_of_s), y = to_y(f, f->points[0].value);
	tk_buf_add_str(out, "<path class=\"");
	tk_buf_add_str(out, class);
	tk_buf_add_str(out, "\" d=\"M");
	step(out, x, y);
	tk_buf_add_char(out, 'l');
	char *start = tk_buf_reserve(out, f->count * 2 * (TK_FORMAT_INT + 1)), *p = start;
	for (size_t i = 1; start && i < f->count; i++) {
		int nx = to_x(f, f->points[i].as_of_s), ny = to_y(f, f->points[i].value);
		if (i > 1 && nx >= x) /* a sign separates numbers as well */
			*p++ = ' ';
		p += tk_format_int(p, nx - x);
		if (ny >= y)
			*p++ = ' ';
		p += tk_format_int(p, ny - y);
		x = nx;
		y = ny;
	}
	if (start)
		tk_buf_commit(out, (size_t)(p - start));
	tk_buf_add_str(out, "\"/>");
}

/* Of no width at a point whose interval is unknown. */
static void band_path(struct tk_buf *out, const struct frame *f)
{
	tk_buf_add_str(out, "<path class=\"band\" d=\"M");
	for (size_t i = 0; i < f->count; i++) {
		tk_buf_add_str(out, i ? "L" : "");
		step(out, to_x(f, f->points[i].as_of_s),
		        to_y(f, fmaxf(f->points[i].hi, f->points[i].value)));
	}
	for (size_t i = f->count; i-- > 0;) {
		tk_buf_add_char(out, 'L');
		step(out, to_x(f, f->points[i].as_of_s),
		        to_y(f, fminf(f->points[i].lo, f->points[i].value)));
	}
	tk_buf_add_str(out, "z\"/>");
}

static void change_marks(struct tk_buf *out, const struct frame *f, const struct tk_site_series *s)
{
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_change_point_row *c = s->changes[i];
		if (c->as_of_s <= f->t0 || c->as_of_s > f->t1)
			continue;
		bool worse =
		        (c->after_value > c->before_value) == (s->row->better == TK_BETTER_LOWER);
		tk_buf_add_printf(out, "<path class=\"%s\" d=\"M%d 0v%d\"/>",
		        worse ? "step-bad" : "step-good", to_x(f, c->as_of_s), f->height);
	}
}

bool tk_svg_has_trend(const struct tk_site_series *s)
{
	const struct tk_sparkline *t = &s->sparkline;
	return t->count > 1 && t->at[t->count - 1].as_of_s > t->at[0].as_of_s;
}

void tk_svg_draw_sparkline(struct tk_buf *out, const struct tk_site_series *s)
{
	if (!tk_svg_has_trend(s))
		return;
	struct frame f = make_frame(s, SPARK_POINTS, false, SPARK_WIDTH, SPARK_HEIGHT, 3);
	const struct tk_sparkline_point *last = &f.points[f.count - 1];
	tk_buf_add_str(
	        out, "<svg class=\"spark\" viewBox=\"0 0 " SPARK_SIZE " aria-hidden=\"true\">");
	change_marks(out, &f, s);
	line_path(out, &f, "line");
	tk_buf_add_str(out, "<circle cx=\"");
	tk_buf_add_int(out, to_x(&f, last->as_of_s));
	tk_buf_add_str(out, "\" cy=\"");
	tk_buf_add_int(out, to_y(&f, last->value));
	tk_buf_add_str(out, "\" r=\"2\"/></svg>");
}

/* Nights without a timing as crosses at the lower edge; the newest verdict as a line. */
static void night_marks(struct tk_buf *out, const struct frame *f, const json_t *marks)
{
	const json_t *mark;
	size_t i;
	json_array_foreach (marks, i, mark) {
		int64_t at_s = json_integer_value(json_object_get(mark, "time"));
		bool worse = json_is_true(json_object_get(mark, "isWorse"));
		int x = to_x(f, at_s);
		if (json_is_true(json_object_get(mark, "isVerdict")))
			tk_buf_add_printf(out, "<path class=\"%s\" d=\"M%d 0v%d\"/>",
			        worse ? "step-bad" : "step-good", x, f->height);
		else
			tk_buf_add_printf(out,
			        "<path class=\"night-mark text-%s\" d=\"M%d %dl8 -8m-8 0l8 8\"/>",
			        worse ? "bad" : "note", x - 4, f->height - 2);
	}
}

static int64_t newest_mark(const json_t *marks, int64_t at_least_s)
{
	const json_t *last = json_array_get(marks, json_array_size(marks) - 1);
	int64_t at_s = json_integer_value(json_object_get(last, "time"));
	return at_s > at_least_s ? at_s : at_least_s;
}

size_t tk_svg_choose_ticks(
        const struct tk_svg_range *range, double divisor, double ticks[TK_CHART_TICKS_MAX])
{
	size_t count =
	        tk_chart_choose_ticks(range->lo / divisor, range->hi / divisor, TREND_TICKS, ticks);
	for (size_t i = 0; i < count; i++)
		ticks[i] *= divisor;
	return count;
}

double tk_svg_y_percent(const struct tk_svg_range *range, double value)
{
	double part = (range->hi - value) / (range->hi - range->lo);
	return 100 * (TREND_MARGIN + part * (TREND_HEIGHT - 2 * TREND_MARGIN)) / TREND_HEIGHT;
}

double tk_svg_x_percent(const struct tk_svg_range *range, int64_t at_s)
{
	double part = (double)(at_s - range->t0) / (double)(range->t1 - range->t0);
	return 100 * (TREND_MARGIN + part * (TREND_WIDTH - 2 * TREND_MARGIN)) / TREND_WIDTH;
}

static void draw_grid(struct tk_buf *out, const struct tk_svg_range *range, double divisor)
{
	double values[TK_CHART_TICKS_MAX];
	int64_t dates[TK_DATE_TICKS_MAX];
	bool by_day;
	size_t count = tk_svg_choose_ticks(range, divisor, values);
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M0 %.0fh%d\"/>",
		        tk_svg_y_percent(range, values[i]) * TREND_HEIGHT / 100, TREND_WIDTH);
	count = tk_date_choose_ticks(range->t0, range->t1, TREND_TICKS - 1, dates, &by_day);
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%.0f 0v%d\"/>",
		        tk_svg_x_percent(range, dates[i]) * TREND_WIDTH / 100, TREND_HEIGHT);
}

struct tk_svg_range tk_svg_draw_trend(
        struct tk_buf *out, const struct tk_site_series *s, const json_t *marks, double divisor)
{
	if (!tk_svg_has_trend(s))
		return (struct tk_svg_range){NAN, NAN, 0, 0};
	struct frame f =
	        make_frame(s, TK_SITE_WINDOW_POINTS, true, TREND_WIDTH, TREND_HEIGHT, TREND_MARGIN);
	f.t1 = newest_mark(marks, f.t1);
	f.y.t0 = f.t0;
	f.y.t1 = f.t1;
	tk_buf_add_printf(out,
	        "<svg class=\"trend\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">",
	        TREND_WIDTH, TREND_HEIGHT);
	draw_grid(out, &f.y, divisor);
	band_path(out, &f);
	change_marks(out, &f, s);
	night_marks(out, &f, marks);
	line_path(out, &f, "line");
	tk_buf_add_str(out, "</svg>");
	return f.y;
}

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
