/* The trend of a series: its sparkline, and the drawing of its page. Colours and strokes come from
 * the style sheets by class. */
#ifndef TK_SITE_TREND_H
#define TK_SITE_TREND_H
#include <stdbool.h>

#include "base/present.h"

struct json_t;
struct tk_buf;
struct tk_plot;
struct tk_site_series;
struct tk_trend;

/* The 60 newest points, 120 x 28, with the last change points. Draws nothing without a trend. */
void tk_sparkline_draw(struct tk_buf *out, const struct tk_site_series *s);
/* The line of an index over the newest nights. */
void tk_index_draw(struct tk_buf *out, const struct tk_trend *t);
/* All loaded points with their intervals, stretched to the box, over a grid; *plot has its axes.
 * marks: of pages/series.c. false: there is nothing to draw. */
bool tk_trend_draw(struct tk_buf *out, struct tk_plot *plot, const struct tk_site_series *s,
        const struct json_t *marks, struct tk_format_scale scale);
/* The labels are boxes of their own, because the drawing is stretched. */
void tk_trend_draw_y_labels(struct tk_buf *out, const struct tk_plot *plot);
void tk_trend_draw_x_labels(struct tk_buf *out, const struct tk_plot *plot);

#endif
