/* A chart of lines over size as SVG: logarithmic x, linear y from 0, both axes with a title. */
#ifndef TK_SITE_LINE_CHART_H
#define TK_SITE_LINE_CHART_H
#include <stddef.h>

struct tk_buf;

struct tk_chart_point {
	double x, y;
};
struct tk_chart_line {
	size_t look;
	const struct tk_chart_point *points; /* by x */
	size_t count;
};

struct tk_chart_axes {
	const char *x_title, *unit; /* unit: of y, as in base/format.h */
	/* y reaches at least this, so that panels share an axis; 0: as the lines need */
	double top;
	double peak; /* a dashed line; NAN: none */
};
void tk_line_chart_draw(struct tk_buf *out, const struct tk_chart_line *lines, size_t count,
        const struct tk_chart_axes *axes);
/* The distance of round ticks (1, 2, 2.5 or 5 times a power of ten), so that at most `max` fit. */
double tk_chart_choose_step(double range, int max);
/* The ticks within lo to hi at such a distance; max < TK_CHART_TICKS_MAX. Zero is never negative:
 * its label would be "-0". */
#define TK_CHART_TICKS_MAX 10
size_t tk_chart_choose_ticks(double lo, double hi, int max, double ticks[TK_CHART_TICKS_MAX]);

#endif
