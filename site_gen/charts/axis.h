/* The axes of a chart: their range, round ticks with labels, and where a value is in the picture.
 * Every drawing with axes is made from these. */
#ifndef TK_SITE_AXIS_H
#define TK_SITE_AXIS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/present.h"

struct tk_buf;

#define TK_TICKS_MAX 12

struct tk_tick {
	double at;
	char label[24];
};
struct tk_axis {
	double lo, hi; /* log10 of the values where is_log */
	bool is_log;
	struct tk_tick ticks[TK_TICKS_MAX];
	size_t count;
};

/* A linear axis with at most `max` ticks at 1, 2, 2.5 or 5 times a power of ten of the unit. */
void tk_axis_set_values(
        struct tk_axis *a, double lo, double hi, size_t max, struct tk_format_scale scale);
/* Seconds. The ticks begin a minute, an hour, a day, a week (Monday), a month or a year: the finest
 * of these of which at most `max` fit. */
void tk_axis_set_times(struct tk_axis *a, int64_t from_s, int64_t to_s, size_t max);
/* A logarithmic axis from 10^lo to 10^hi with a tick at each power of ten. */
void tk_axis_set_decades(struct tk_axis *a, double lo, double hi, double divisor);
/* Adds a tick; nothing if there is no room for it. */
void tk_axis_add_tick(struct tk_axis *a, double at, const char *label);
/* The range around values: at least `floor` to either side of the middle, so that noise is small.
 */
void tk_axis_widen(double *lo, double *hi, double floor);

/* The picture: its size, the margins around the plot, and both axes. */
struct tk_plot {
	int width, height, left, right, top, bottom;
	struct tk_axis x, y;
};
double tk_plot_x(const struct tk_plot *p, double value);
double tk_plot_y(const struct tk_plot *p, double value);
/* Opens the svg element. */
void tk_plot_begin(struct tk_buf *out, const struct tk_plot *p, const char *class);
void tk_plot_draw_x_grid(struct tk_buf *out, const struct tk_plot *p);
void tk_plot_draw_y_grid(struct tk_buf *out, const struct tk_plot *p);
/* Grid, labels and titles; a title is text, not markup; NULL: none. */
void tk_plot_draw_axes(
        struct tk_buf *out, const struct tk_plot *p, const char *x_title, const char *y_title);

#endif
