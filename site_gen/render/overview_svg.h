/* Drawings of the overview. Colours come from the style sheets by class. */
#ifndef TK_SITE_OVERVIEW_SVG_H
#define TK_SITE_OVERVIEW_SVG_H
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_model;
struct tk_perf_index;
struct tk_site_machine;

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
void tk_svg_draw_index(struct tk_buf *out, const struct tk_perf_index *index);

#endif
