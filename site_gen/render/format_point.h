/* The interval of a measurement: as text, and compared with that of another one. */
#ifndef TK_SITE_FORMAT_POINT_H
#define TK_SITE_FORMAT_POINT_H
#include "base/base.h"

struct tk_point;

/* As tk_format_half_width; "" for a measurement of one sample. Returns `out`. */
const char *tk_format_point_half_width(const struct tk_point *p, char out[TK_FORMAT_SIZE]);
bool tk_point_has_interval(const struct tk_point *p);
/* Whether two measurements differ: their intervals do not overlap, and `other` is greater by at
 * least `tie` (0.01: 1 %). A smaller difference does not matter in practice. */
enum tk_point_difference { TK_POINTS_DIFFER, TK_POINTS_TIE, TK_POINTS_NO_INTERVAL };
enum tk_point_difference tk_point_compare(
        const struct tk_point *best, const struct tk_point *other, double tie);

#endif
