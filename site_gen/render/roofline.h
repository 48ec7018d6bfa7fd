/* The roofline as SVG. */
#ifndef TK_SITE_ROOFLINE_H
#define TK_SITE_ROOFLINE_H
#include <stdbool.h>
#include <stddef.h>

#include "site_gen/model/ceilings.h"

struct tk_buf;
struct tk_error;
struct tk_site_series;

struct tk_roofline_point {
	const struct tk_site_series *series;
	double intensity, rate, efficiency; /* FLOP per byte, GFLOP/s, of its ceiling */
	bool old;                           /* of an earlier night than the last */
};
struct tk_roofline_points {
	struct tk_roofline_point *at;
	size_t count;
	const char **labels; /* each once, sorted */
	size_t label_count;
};

int tk_roofline_draw(struct tk_buf *out, const struct tk_roofline_points *points,
        const struct tk_ceiling_set *ceilings, struct tk_error *err);
/* The mark of the mark-th label alone, for a legend; as in series_style.js. */
void tk_roofline_draw_mark(struct tk_buf *out, size_t mark);

#endif
