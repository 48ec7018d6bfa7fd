/* Intervals of measurements. The formatters of plain numbers are in base/present.c. */
#include "site_gen/render/format_point.h"

#include <math.h>
#include <string.h>

#include "store/store.h"

bool tk_point_has_interval(const struct tk_point *p)
{
	return isfinite(p->lo) && isfinite(p->hi) && (p->n > 1 || p->hi > p->lo);
}

enum tk_point_difference tk_point_compare(
        const struct tk_point *best, const struct tk_point *other, double tie)
{
	if (other->value < best->value * (1 + tie))
		return TK_POINTS_TIE;
	if (!tk_point_has_interval(best) || !tk_point_has_interval(other))
		return TK_POINTS_NO_INTERVAL;
	return best->hi < other->lo ? TK_POINTS_DIFFER : TK_POINTS_TIE;
}

const char *tk_format_point_half_width(const struct tk_point *p, char out[TK_FORMAT_SIZE])
{
	return tk_point_has_interval(p) ? tk_format_half_width(p->value, p->lo, p->hi, out)
	                                : strcpy(out, "");
}
