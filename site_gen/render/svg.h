/* Drawings that need no JavaScript. Colours and strokes come from the style sheet by class. */
#ifndef TK_SITE_SVG_H
#define TK_SITE_SVG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_site_series;

/* The y range of a trend: of the values, but never less than 5 % of the median to either side, so
 * that noise looks like noise. */
struct tk_svg_range {
	double lo, hi;
};

/* There are points of at least two nights. */
bool tk_svg_has_trend(const struct tk_site_series *s);
/* 60 newest points, 120 x 28, with the steps of the last change points marked. Nothing without a
 * trend. */
void tk_svg_draw_sparkline(struct tk_buf *out, const struct tk_site_series *s);
/* All points held with their intervals, stretched to its box: labels are the page's. Tells the
 * range that was drawn. */
struct tk_svg_range tk_svg_draw_trend(struct tk_buf *out, const struct tk_site_series *s);
/* A bar from the middle: to the right where the value grew (after / before > 1), full at a factor
 * of 1.25. */
void tk_svg_draw_change(struct tk_buf *out, double ratio, bool worse);
/* A bar of width ratio (0..1). class_suffix: a literal. */
void tk_svg_draw_bar(struct tk_buf *out, double ratio, const char *class_suffix);

#endif
