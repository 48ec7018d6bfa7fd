/* Draws a chart of lines over dates. */
#include "site_gen/render/date_chart.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/format.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/line_chart.h"

#define WIDTH 760
#define HEIGHT 240
#define LEFT 58
#define RIGHT 14
#define TOP 22
#define BOTTOM 26
#define DAY_S 86400
#define MONDAY_S (4 * DAY_S) /* 1970-01-05 */
#define Y_FLOOR 2            /* of the range to either side of the middle, so that noise is small */

struct frame {
	int64_t t0, t1;
	double lo, hi;
};

/* ---- ticks ---- */

/* A step of `months`, or of `seconds` from an anchor. */
struct step {
	int months;
	int64_t seconds, anchor_s;
};

static int64_t month_start(int64_t month)
{
	struct tm date = {.tm_year = (int)(month / 12 - 1900), .tm_mon = (int)(month % 12)};
	date.tm_mday = 1;
	return (int64_t)timegm(&date);
}

static int64_t month_of(int64_t at_s)
{
	time_t t = (time_t)at_s;
	struct tm date;
	gmtime_r(&t, &date);
	return (int64_t)(date.tm_year + 1900) * 12 + date.tm_mon;
}

/* The first tick at or after a time. */
static int64_t first_tick(const struct step *step, int64_t from_s)
{
	if (!step->months) {
		int64_t past = (from_s - step->anchor_s) % step->seconds;
		return past ? from_s - past + step->seconds : from_s;
	}
	int64_t month = month_of(from_s) / step->months * step->months;
	return month_start(month) < from_s ? month_start(month + step->months) : month_start(month);
}

static int64_t next_tick(const struct step *step, int64_t tick_s)
{
	return step->months ? month_start(month_of(tick_s) + step->months) : tick_s + step->seconds;
}

size_t tk_date_choose_ticks(
        int64_t from_s, int64_t to_s, size_t max, int64_t ticks[TK_DATE_TICKS_MAX], bool *by_day)
{
	static const struct step steps[] = {{0, 60, 0}, {0, 120, 0}, {0, 300, 0}, {0, 600, 0},
	        {0, 1800, 0}, {0, 3600, 0}, {0, 7200, 0}, {0, 21600, 0}, {0, 43200, 0},
	        {0, DAY_S, 0}, {0, 2 * DAY_S, 0}, {0, 7 * DAY_S, MONDAY_S},
	        {0, 14 * DAY_S, MONDAY_S}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {6, 0, 0}, {12, 0, 0},
	        {24, 0, 0}, {60, 0, 0}, {120, 0, 0}, {600, 0, 0}};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		size_t count = 0;
		int64_t tick = first_tick(&steps[i], from_s);
		for (; tick <= to_s && count < max; tick = next_tick(&steps[i], tick))
			ticks[count++] = tick;
		*by_day = steps[i].months || steps[i].seconds >= DAY_S;
		if (tick > to_s)
			return count;
	}
	return 0;
}

/* ---- drawing ---- */

static int to_x(const struct frame *f, int64_t at_s)
{
	double part = (double)(at_s - f->t0) / (double)(f->t1 - f->t0);
	return LEFT + (int)lround(part * (WIDTH - LEFT - RIGHT));
}

static int to_y(const struct frame *f, double y)
{
	return TOP + (int)lround((f->hi - y) / (f->hi - f->lo) * (HEIGHT - TOP - BOTTOM));
}

static struct frame make_frame(const struct tk_date_line *lines, size_t count)
{
	struct frame f = {INT64_MAX, INT64_MIN, INFINITY, -INFINITY};
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lines[i].count; k++) {
			const struct tk_date_point *p = &lines[i].points[k];
			f.t0 = p->at_s < f.t0 ? p->at_s : f.t0;
			f.t1 = p->at_s > f.t1 ? p->at_s : f.t1;
			f.lo = fmin(f.lo, p->y);
			f.hi = fmax(f.hi, p->y);
		}
	double middle = (f.lo + f.hi) / 2, half = fmax((f.hi - f.lo) * 0.54, Y_FLOOR);
	f.lo = middle - half;
	f.hi = middle + half;
	return f;
}

static void draw_y_axis(struct tk_buf *out, const struct frame *f, const char *title)
{
	double ticks[TK_CHART_TICKS_MAX];
	size_t count = tk_chart_choose_ticks(f->lo, f->hi, 7, ticks);
	char text[TK_FORMAT_SIZE];
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(out,
		        "<path class=\"grid\" d=\"M%d %dH%d\"/><text x=\"%d\" y=\"%d\" "
		        "text-anchor=\"end\">%s</text>",
		        LEFT, to_y(f, ticks[i]), WIDTH - RIGHT, LEFT - 6, to_y(f, ticks[i]) + 4,
		        tk_format_digits(ticks[i], 6, text));
	tk_buf_add_printf(out,
	        "<text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\">",
	        TOP + (HEIGHT - TOP - BOTTOM) / 2);
	tk_escape_html(out, title, strlen(title));
	tk_buf_add_str(out, "</text>");
}

static void draw_x_axis(struct tk_buf *out, const struct frame *f)
{
	int64_t ticks[TK_DATE_TICKS_MAX];
	bool by_day;
	char day[TK_TIME_ISO_SIZE], minute[TK_FORMAT_SIZE];
	size_t count = tk_date_choose_ticks(f->t0, f->t1, 7, ticks, &by_day);
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(out,
		        "<path class=\"grid\" d=\"M%d %dV%d\"/><text x=\"%d\" y=\"%d\" "
		        "text-anchor=\"middle\">%s</text>",
		        to_x(f, ticks[i]), TOP, HEIGHT - BOTTOM, to_x(f, ticks[i]), HEIGHT - 8,
		        by_day ? tk_time_format_day(ticks[i], day)
		               : tk_format_minute(ticks[i], minute) + 5);
}

static void draw_mark(struct tk_buf *out, const struct frame *f, const struct tk_date_mark *mark)
{
	if (mark->at_s < f->t0 || mark->at_s > f->t1)
		return;
	tk_buf_add_printf(out,
	        "<path class=\"step-%s\" d=\"M%d %dV%d\"/><text x=\"%d\" y=\"%d\" "
	        "text-anchor=\"middle\" class=\"text-%s\">%zu</text>",
	        mark->worse ? "bad" : "good", to_x(f, mark->at_s), TOP, HEIGHT - BOTTOM,
	        to_x(f, mark->at_s), TOP - 6, mark->worse ? "bad" : "good", mark->number);
}

static void draw_line(struct tk_buf *out, const struct frame *f, const struct tk_date_line *line)
{
	int before = -1;
	tk_buf_add_printf(out, "<path class=\"sized-line mark-%zu\" d=\"", line->look % TK_LOOKS);
	for (size_t k = 0; k < line->count; k++) {
		int x = to_x(f, line->points[k].at_s);
		if (x == before && k + 1 < line->count)
			continue; /* no more than one point for each pixel */
		tk_buf_add_char(out, before >= 0 ? 'L' : 'M');
		tk_buf_add_int(out, x);
		tk_buf_add_char(out, ' ');
		tk_buf_add_int(out, to_y(f, line->points[k].y));
		before = x;
	}
	tk_buf_add_str(out, "\"/>");
}

void tk_date_chart_draw(struct tk_buf *out, const struct tk_date_line *lines, size_t count,
        const struct tk_date_mark *marks, size_t mark_count, const char *y_title)
{
	struct frame f = make_frame(lines, count);
	if (f.t1 <= f.t0)
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"roofline dates\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">", WIDTH,
	        HEIGHT);
	draw_y_axis(out, &f, y_title);
	draw_x_axis(out, &f);
	for (size_t i = 0; i < mark_count; i++)
		draw_mark(out, &f, &marks[i]);
	for (size_t i = 0; i < count; i++)
		draw_line(out, &f, &lines[i]);
	tk_buf_add_str(out, "</svg>");
}
