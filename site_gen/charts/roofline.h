/* The roofline as SVG. */
#ifndef TK_SITE_ROOFLINE_H
#define TK_SITE_ROOFLINE_H
#include <stdbool.h>
#include <stddef.h>

#include "site_gen/model/ceilings.h"
#include "site_gen/model/kernel_reports.h"

struct tk_buf;
struct tk_site_series;

struct tk_roofline_point {
	const struct tk_site_series *series;
	double intensity, rate, efficiency;  /* FLOP per byte, GFLOP/s, of its ceiling */
	bool old;                            /* of an earlier night than the last */
	double measured[TK_PROFILED_LEVELS]; /* FLOP per byte that was counted; NAN: not */
};
struct tk_roofline_points {
	struct tk_roofline_point *at;
	size_t count;
	const char **labels; /* each once, sorted */
	size_t *styles;      /* of the backend of each label */
	size_t label_count;
};

void tk_roofline_draw(struct tk_buf *out, const struct tk_roofline_points *points,
        const struct tk_ceiling_set *ceilings);
#endif
