/* Ranges, ticks and grids. */
#include "site_gen/charts/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "site_gen/render/escape.h"

#define DAY_S 86400
#define MONDAY_S (4 * DAY_S) /* 1970-01-05 */

void tk_axis_add_tick(struct tk_axis *a, double at, const char *label)
{
	if (a->count == TK_TICKS_MAX)
		return;
	struct tk_tick *tick = &a->ticks[a->count++];
	tick->at = at;
	snprintf(tick->label, sizeof tick->label, "%s", label);
}

void tk_axis_widen(double *lo, double *hi, double floor)
{
	double middle = (*lo + *hi) / 2, half = fmax((*hi - *lo) * 0.54, floor);
	*lo = middle - half;
	*hi = middle + half;
}

/* ---- values ---- */

static double choose_step(double range, size_t max)
{
	static const double steps[] = {1, 2, 2.5, 5, 10};
	double power = pow(10, floor(log10(range / (double)max)));
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (range / (power * steps[i]) <= (double)max)
			return power * steps[i];
	return power * 10;
}

void tk_axis_set_values(
        struct tk_axis *a, double lo, double hi, size_t max, struct tk_format_scale scale)
{
	double first = lo / scale.divisor, last = hi / scale.divisor,
	       step = choose_step(last - first, max);
	char text[TK_FORMAT_SIZE];
	*a = (struct tk_axis){.lo = lo, .hi = hi};
	for (double i = ceil(first / step); i * step <= last && a->count < TK_TICKS_MAX; i++)
		/* -0.0 + 0.0 is 0.0: a label is never "-0" */
		tk_axis_add_tick(
		        a, i * step * scale.divisor, tk_format_digits(i * step + 0.0, 6, text));
}

void tk_axis_set_decades(struct tk_axis *a, double lo, double hi, double divisor)
{
	char text[TK_FORMAT_SIZE];
	*a = (struct tk_axis){.lo = lo, .hi = hi, .is_log = true};
	for (int i = (int)ceil(lo); i <= (int)floor(hi); i++)
		tk_axis_add_tick(a, pow(10, i), tk_format_digits(pow(10, i) / divisor, 9, text));
}

/* ---- times ---- */

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

void tk_axis_set_times(struct tk_axis *a, int64_t from_s, int64_t to_s, size_t max)
{
	static const struct step steps[] = {{0, 60, 0}, {0, 120, 0}, {0, 300, 0}, {0, 600, 0},
	        {0, 1800, 0}, {0, 3600, 0}, {0, 7200, 0}, {0, 21600, 0}, {0, 43200, 0},
	        {0, DAY_S, 0}, {0, 2 * DAY_S, 0}, {0, 7 * DAY_S, MONDAY_S},
	        {0, 14 * DAY_S, MONDAY_S}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {6, 0, 0}, {12, 0, 0},
	        {24, 0, 0}, {60, 0, 0}, {120, 0, 0}, {600, 0, 0}};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		bool by_day = steps[i].months || steps[i].seconds >= DAY_S;
		char day[TK_TIME_ISO_SIZE], minute[TK_FORMAT_SIZE];
		int64_t tick = first_tick(&steps[i], from_s);
		*a = (struct tk_axis){.lo = (double)from_s, .hi = (double)to_s};
		for (; tick <= to_s && a->count < max; tick = next_tick(&steps[i], tick))
			tk_axis_add_tick(a, (double)tick,
			        by_day ? tk_time_format_day(tick, day)
			               : tk_format_minute(tick, minute) + strlen("2026-"));
		if (tick > to_s)
			return;
	}
	a->count = 0;
}

/* ---- the plot ---- */

static double part_of(const struct tk_axis *a, double value)
{
	double v = a->is_log ? log10(value) : value, span = a->hi - a->lo;
	return span > 0 ? (v - a->lo) / span : 0;
}

double tk_plot_x(const struct tk_plot *p, double value)
{
	return p->left + part_of(&p->x, value) * (p->width - p->left - p->right);
}

double tk_plot_y(const struct tk_plot *p, double value)
{
	return p->top + (1 - part_of(&p->y, value)) * (p->height - p->top - p->bottom);
}

void tk_plot_begin(struct tk_buf *out, const struct tk_plot *p, const char *class)
{
	tk_buf_add_printf(out, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">",
	        class, p->width, p->height);
}

void tk_plot_draw_x_grid(struct tk_buf *out, const struct tk_plot *p)
{
	for (size_t i = 0; i < p->x.count; i++)
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%.0f %dV%d\"/>",
		        tk_plot_x(p, p->x.ticks[i].at), p->top, p->height - p->bottom);
}

void tk_plot_draw_y_grid(struct tk_buf *out, const struct tk_plot *p)
{
	for (size_t i = 0; i < p->y.count; i++)
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%d %.0fH%d\"/>", p->left,
		        tk_plot_y(p, p->y.ticks[i].at), p->width - p->right);
}

static void draw_label(
        struct tk_buf *out, double x, double y, const char *anchor, const char *label)
{
	tk_buf_add_printf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor);
	tk_escape_html(out, label, strlen(label));
	tk_buf_add_str(out, "</text>");
}

void tk_plot_draw_axes(
        struct tk_buf *out, const struct tk_plot *p, const char *x_title, const char *y_title)
{
	int floor = p->height - p->bottom;
	tk_plot_draw_y_grid(out, p);
	for (size_t i = 0; i < p->y.count; i++)
		draw_label(out, p->left - 6, tk_plot_y(p, p->y.ticks[i].at) + 4, "end",
		        p->y.ticks[i].label);
	for (size_t i = 0; i < p->x.count; i++)
		draw_label(out, tk_plot_x(p, p->x.ticks[i].at), floor + 17, "middle",
		        p->x.ticks[i].label);
	if (x_title)
		draw_label(out, p->left + (p->width - p->left - p->right) / 2.0, p->height - 8,
		        "middle", x_title);
	tk_buf_add_printf(out,
	        "<text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\">",
	        p->top + (floor - p->top) / 2);
	tk_escape_html(out, y_title, strlen(y_title));
	tk_buf_add_str(out, "</text>");
}
