/* Draws a chart over versions. */
#include "site_gen/render/version_chart.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/line_chart.h"
#include "site_gen/render/mark.h"

#define WIDTH 560
#define HEIGHT 260
#define LEFT 58
#define RIGHT 14
#define TOP 12
#define BOTTOM 26
#define LABEL_BYTES 10 /* of a version */
#define LABEL_WIDTH 48 /* between the middles of two labels */
#define Y_FLOOR 2      /* of the range to either side of the middle, so that noise is small */

struct frame {
	size_t count;
	double lo, hi;
};

static double to_x(const struct frame *f, double version)
{
	return LEFT + version / (double)f->count * (WIDTH - LEFT - RIGHT);
}

static int middle_x(const struct frame *f, size_t version)
{
	return (int)lround(to_x(f, (double)version + 0.5));
}

static int to_y(const struct frame *f, double y)
{
	return TOP + (int)lround((f->hi - y) / (f->hi - f->lo) * (HEIGHT - TOP - BOTTOM));
}

static struct frame make_frame(
        const struct tk_version_line *lines, size_t count, const struct tk_version_axes *axes)
{
	struct frame f = {axes->count, INFINITY, -INFINITY};
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < axes->count; k++) {
			f.lo = fmin(f.lo, lines[i].y[k]);
			f.hi = fmax(f.hi, lines[i].y[k]);
		}
	if (isfinite(axes->reference)) {
		f.lo = fmin(f.lo, axes->reference);
		f.hi = fmax(f.hi, axes->reference);
	}
	double middle = (f.lo + f.hi) / 2, half = fmax((f.hi - f.lo) * 0.54, Y_FLOOR);
	f.hi = axes->unit ? f.hi * 1.05 : middle + half;
	f.lo = axes->unit ? 0 : middle - half;
	return f;
}

static void draw_y_axis(
        struct tk_buf *out, const struct frame *f, const struct tk_version_axes *axes)
{
	struct tk_format_scale scale = {1, ""};
	char text[TK_FORMAT_SIZE];
	if (axes->unit)
		scale = tk_format_choose_scale(f->hi, axes->unit);
	double ticks[TK_CHART_TICKS_MAX];
	size_t count =
	        tk_chart_choose_ticks(f->lo / scale.divisor, f->hi / scale.divisor, 5, ticks);
	for (size_t i = 0; i < count; i++) {
		int y = to_y(f, ticks[i] * scale.divisor);
		tk_buf_add_printf(out,
		        "<path class=\"grid\" d=\"M%d %dH%d\"/><text x=\"%d\" y=\"%d\" "
		        "text-anchor=\"end\">%s</text>",
		        LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4,
		        tk_format_digits(ticks[i], 6, text));
	}
	tk_buf_add_printf(out,
	        "<text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\">",
	        TOP + (HEIGHT - TOP - BOTTOM) / 2);
	tk_escape_html(out, axes->y_title, strlen(axes->y_title));
	if (axes->unit) {
		tk_buf_add_str(out, ", ");
		tk_escape_html(out, scale.unit, strlen(scale.unit));
	}
	tk_buf_add_str(out, "</text>");
}

/* The newest version has a label, and of the others as many as have room. */
static void draw_x_axis(
        struct tk_buf *out, const struct frame *f, const struct tk_version_axes *axes)
{
	size_t stride = (size_t)ceil(LABEL_WIDTH / (to_x(f, 1) - to_x(f, 0)));
	for (size_t i = 0; i < axes->count; i++) {
		const char *name = axes->versions[i];
		if (i)
			tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%d %dV%d\"/>",
			        (int)lround(to_x(f, (double)i)), TOP, HEIGHT - BOTTOM);
		if ((axes->count - 1 - i) % stride)
			continue;
		tk_buf_add_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
		        middle_x(f, i), HEIGHT - 8);
		tk_escape_html(out, name, tk_utf8_clip_len(name, LABEL_BYTES));
		tk_buf_add_str(out, strlen(name) > LABEL_BYTES ? "…</text>" : "</text>");
	}
}

/* One step for each version; a version that was not measured leaves a gap. */
static void draw_line(struct tk_buf *out, const struct frame *f, const struct tk_version_line *line)
{
	bool joined = false;
	tk_buf_add_printf(out, "<path class=\"sized-line mark-%zu\" d=\"", line->look % TK_LOOKS);
	for (size_t k = 0; k < f->count; k++) {
		bool known = isfinite(line->y[k]);
		if (known && !joined)
			tk_buf_add_printf(out, "M%d %d", (int)lround(to_x(f, (double)k)),
			        to_y(f, line->y[k]));
		else if (known)
			tk_buf_add_printf(out, "V%d", to_y(f, line->y[k]));
		if (known)
			tk_buf_add_printf(out, "H%d", (int)lround(to_x(f, (double)k + 1)));
		joined = known;
	}
	tk_buf_add_str(out, "\"/>");
	tk_mark_begin(out, line->look, false);
	for (size_t k = 0; k < f->count; k++)
		if (isfinite(line->y[k]))
			tk_mark_add(out, line->look, middle_x(f, k), to_y(f, line->y[k]));
	tk_buf_add_str(out, "\"/>");
}

void tk_version_chart_draw(struct tk_buf *out, const struct tk_version_line *lines, size_t count,
        const struct tk_version_axes *axes)
{
	struct frame f = make_frame(lines, count, axes);
	if (axes->count < 2 || !(f.hi > f.lo))
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"roofline\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">", WIDTH,
	        HEIGHT);
	draw_y_axis(out, &f, axes);
	draw_x_axis(out, &f, axes);
	if (isfinite(axes->reference))
		tk_buf_add_printf(out, "<path class=\"peak\" d=\"M%d %dH%d\"/>", LEFT,
		        to_y(&f, axes->reference), WIDTH - RIGHT);
	for (size_t i = 0; i < count; i++)
		draw_line(out, &f, &lines[i]);
	tk_buf_add_str(out, "</svg>");
}
