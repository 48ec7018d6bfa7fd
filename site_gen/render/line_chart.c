/* Draws a chart of lines. */
#include "site_gen/render/line_chart.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/mark.h"

#define WIDTH 420 /* about as wide as a panel is on the page: its text keeps its size */
#define HEIGHT 260
#define LEFT 58
#define RIGHT 14
#define TOP 10
#define BOTTOM 42
#define TICKS_MAX 7 /* of x */

struct frame {
	double x0, x1;       /* log10 */
	double highest, top; /* of y: the data, and the end of the axis */
};

double tk_chart_choose_step(double range, int max)
{
	static const double steps[] = {1, 2, 2.5, 5, 10};
	double power = pow(10, floor(log10(range / max)));
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (range / (power * steps[i]) <= max)
			return power * steps[i];
	return power * 10;
}

size_t tk_chart_choose_ticks(double lo, double hi, int max, double ticks[TK_CHART_TICKS_MAX])
{
	double step = tk_chart_choose_step(hi - lo, max);
	size_t count = 0;
	for (double i = ceil(lo / step); i * step <= hi && count < TK_CHART_TICKS_MAX; i++)
		ticks[count++] = i * step + 0.0; /* -0.0 + 0.0 is 0.0 */
	return count;
}

static int to_x(const struct frame *f, double x)
{
	double span = f->x1 > f->x0 ? f->x1 - f->x0 : 1;
	return (int)lround(LEFT + (log10(x) - f->x0) / span * (WIDTH - LEFT - RIGHT));
}

static int to_y(const struct frame *f, double y)
{
	return (int)lround(TOP + (1 - y / f->top) * (HEIGHT - TOP - BOTTOM));
}

static struct frame make_frame(const struct tk_chart_line *lines, size_t count, double top)
{
	struct frame f = {INFINITY, -INFINITY, top, 0};
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lines[i].count; k++) {
			const struct tk_chart_point *p = &lines[i].points[k];
			f.x0 = fmin(f.x0, log10(p->x) - 0.06);
			f.x1 = fmax(f.x1, log10(p->x) + 0.06);
			f.highest = fmax(f.highest, p->y);
		}
	f.top = f.highest * 1.05;
	return f;
}

static void draw_y_axis(struct tk_buf *out, const struct frame *f, const char *unit)
{
	struct tk_format_scale scale = tk_format_choose_scale(f->highest, unit);
	double step = tk_chart_choose_step(f->top / scale.divisor, 5);
	char text[TK_FORMAT_SIZE];
	for (int i = 0; i * step * scale.divisor <= f->top; i++)
		tk_buf_add_printf(out,
		        "<path class=\"grid\" d=\"M%d %dH%d\"/><text x=\"%d\" y=\"%d\" "
		        "text-anchor=\"end\">%s</text>",
		        LEFT, to_y(f, i * step * scale.divisor), WIDTH - RIGHT, LEFT - 6,
		        to_y(f, i * step * scale.divisor) + 4, tk_format_digits(i * step, 6, text));
	tk_buf_add_printf(out,
	        "<text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\">",
	        TOP + (HEIGHT - TOP - BOTTOM) / 2);
	tk_escape_html(out, scale.unit, strlen(scale.unit));
	tk_buf_add_str(out, "</text>");
}

/* The sizes of the longest line, as far as they have room. */
static void draw_x_axis(struct tk_buf *out, const struct frame *f,
        const struct tk_chart_line *lines, size_t count, const char *title)
{
	const struct tk_chart_line *longest = lines;
	char text[TK_FORMAT_SIZE];
	double before = -INFINITY;
	for (size_t i = 1; i < count; i++)
		longest = lines[i].count > longest->count ? &lines[i] : longest;
	for (size_t k = 0; k < longest->count; k++) {
		double x = longest->points[k].x;
		if (log10(x) - before < (f->x1 - f->x0) / TICKS_MAX)
			continue;
		before = log10(x);
		tk_buf_add_printf(out,
		        "<path class=\"grid\" d=\"M%d %dV%d\"/><text x=\"%d\" y=\"%d\" "
		        "text-anchor=\"middle\">%s</text>",
		        to_x(f, x), TOP, HEIGHT - BOTTOM, to_x(f, x), HEIGHT - BOTTOM + 16,
		        tk_format_digits(x, 9, text));
	}
	tk_buf_add_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
	        LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 8);
	tk_escape_html(out, title, strlen(title));
	tk_buf_add_str(out, "</text>");
}

static void draw_line(struct tk_buf *out, const struct frame *f, const struct tk_chart_line *line)
{
	tk_buf_add_printf(out, "<path class=\"sized-line mark-%zu\" d=\"", line->look % TK_LOOKS);
	for (size_t k = 0; k < line->count; k++)
		tk_buf_add_printf(out, "%c%d %d", k ? 'L' : 'M', to_x(f, line->points[k].x),
		        to_y(f, line->points[k].y));
	tk_buf_add_str(out, "\"/>");
	tk_mark_begin(out, line->look, false);
	for (size_t k = 0; k < line->count; k++)
		tk_mark_add(
		        out, line->look, to_x(f, line->points[k].x), to_y(f, line->points[k].y));
	tk_buf_add_str(out, "\"/>");
}

static void draw_peak(struct tk_buf *out, const struct frame *f, double peak)
{
	tk_buf_add_printf(
	        out, "<path class=\"peak\" d=\"M%d %dH%d\"/>", LEFT, to_y(f, peak), WIDTH - RIGHT);
}

void tk_line_chart_draw(struct tk_buf *out, const struct tk_chart_line *lines, size_t count,
        const struct tk_chart_axes *axes)
{
	struct frame f = make_frame(lines, count, axes->top);
	if (!count || !(f.top > 0))
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"roofline\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">", WIDTH,
	        HEIGHT);
	draw_y_axis(out, &f, axes->unit);
	draw_x_axis(out, &f, lines, count, axes->x_title);
	if (axes->peak <= f.top)
		draw_peak(out, &f, axes->peak);
	for (size_t i = 0; i < count; i++)
		draw_line(out, &f, &lines[i]);
	tk_buf_add_str(out, "</svg>");
}
