/* The roofline as a drawing that needs no script. */
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
	double intensity, rate, efficiency; /* FLOP per byte, GFLOP/s, of its roof */
	bool old;                           /* of a night before the last one */
};
struct tk_roofline_points {
	struct tk_roofline_point *at;
	size_t count;
	const char **labels; /* each once, sorted */
	size_t label_count;
};

int tk_roofline_draw(struct tk_buf *out, const struct tk_roofline_points *points,
        const struct tk_ceiling_set *ceilings, struct tk_error *err);
/* The colour and shape of the mark-th label alone, for a legend: those of marks.js. */
void tk_roofline_draw_mark(struct tk_buf *out, size_t mark);

#endif
