/* The labels beside a drawing of a trend, which is stretched to its box: SVGs of their own, in
 * percent of the box. */
#ifndef TK_SITE_TREND_AXES_H
#define TK_SITE_TREND_AXES_H
#include "site_gen/render/svg.h"

struct tk_format_scale;

/* Round values, at least three. */
void tk_trend_axes_draw_y(
        struct tk_buf *out, const struct tk_svg_range *range, struct tk_format_scale scale);
/* Where a day, a week, a month, ... begins. */
void tk_trend_axes_draw_x(struct tk_buf *out, const struct tk_svg_range *range);

#endif
