/* Drawings as SVG. Colours and strokes come from the style sheets by class. */
#ifndef TK_SITE_SVG_H
#define TK_SITE_SVG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site_gen/render/line_chart.h"

struct json_t;
struct tk_buf;
struct tk_site_series;

/* The y range of a trend: at least 5 % of the median to either side, so that noise looks like
 * noise. templates/assets/trend_view.js has the same rule. */
struct tk_svg_range {
	double lo, hi;
	int64_t t0, t1; /* of the drawing */
};

/* Whether there are points of at least two nights. */
bool tk_svg_has_trend(const struct tk_site_series *s);
/* The 60 newest points, 120 x 28, with the last change points. Draws nothing without a trend. */
void tk_svg_draw_sparkline(struct tk_buf *out, const struct tk_site_series *s);
/* All loaded points with their intervals, stretched to the box, with a line at each round number of
 * units of `divisor` and each round date. Returns the range drawn, for labels. marks: of
 * pages/series_marks.h. */
struct tk_svg_range tk_svg_draw_trend(struct tk_buf *out, const struct tk_site_series *s,
        const struct json_t *marks, double divisor);
/* Round values of a range, at least three; returns their number. */
size_t tk_svg_choose_ticks(
        const struct tk_svg_range *range, double divisor, double ticks[TK_CHART_TICKS_MAX]);
/* Where a value or a time is in the box of a trend, in percent from its upper left corner. */
double tk_svg_y_percent(const struct tk_svg_range *range, double value);
double tk_svg_x_percent(const struct tk_svg_range *range, int64_t at_s);
/* A bar from the middle, to the right if the value grew (after / before > 1); full at a factor of
 * 1.25. */
void tk_svg_draw_change(struct tk_buf *out, double ratio, bool worse);
/* A bar of width ratio (0..1). class_suffix: a literal. */
void tk_svg_draw_bar(struct tk_buf *out, double ratio, const char *class_suffix);

#endif
