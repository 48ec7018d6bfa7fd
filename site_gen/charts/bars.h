/* Small drawings without labels. Colours come from the style sheets by class. */
#ifndef TK_SITE_BARS_H
#define TK_SITE_BARS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_ab_plot;
struct tk_buf;
struct tk_model;
struct tk_site_machine;
struct tk_timeline;

/* A bar of width ratio (0..1). class_suffix: a literal. */
void tk_svg_draw_bar(struct tk_buf *out, double ratio, const char *class_suffix);
/* A bar from the middle, to the right if the value grew (after / before > 1); full at a factor of
 * 1.25. */
void tk_svg_draw_change(struct tk_buf *out, double ratio, bool worse);

/* A change with its interval on an axis that all bars of a list share. NAN: no interval. */
struct tk_interval_axis {
	double lo, hi; /* log of the ratio; both sides of 0 */
};
void tk_interval_axis_add(struct tk_interval_axis *axis, double change, double lo, double hi);
void tk_svg_draw_interval(struct tk_buf *out, const struct tk_interval_axis *axis, double change,
        double lo, double hi, const char *class);

#define TK_SQUARES 30
/* A square for each of the days up to the last night of a machine: how its night ended, "none"
 * where there was none. Says the counts in its label. */
void tk_svg_draw_nights(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_machine *machine);

/* A dot for each A/B pair, the interval below, a line at no change. Draws nothing without pairs. */
void tk_svg_draw_pairs(struct tk_buf *out, const struct tk_ab_plot *p);

/* The lanes of a timeline from its begin. Returns the time to which it is drawn, 0 for nothing:
 * with many spans, only the first are. */
int64_t tk_svg_draw_timeline(struct tk_buf *out, const struct tk_timeline *t);

#endif
