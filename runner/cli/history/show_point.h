/* What showing one series and several series share. */
#ifndef TK_CLI_SHOW_POINT_H
#define TK_CLI_SHOW_POINT_H
#include <jansson.h>

#include "base/buf.h"
#include "cli/lookup.h"

#define TK_SPARKLINE_POINTS 60

/* "▁▂▅█" of the newest TK_SPARKLINE_POINTS points. */
void tk_show_add_sparkline(struct tk_buf *b, const struct tk_rows *points);
/* The members lo, hi, min, q25, q75 and p95. */
void tk_show_set_distribution(json_t *object, const struct tk_point *p);
json_t *tk_show_point_json(const struct tk_lookup *l, const struct tk_point *p);
/* What the series is: its name, problem, upstream, device, unit. */
json_t *tk_show_identity_json(const struct tk_lookup *l, const struct tk_series_row *series);

#endif
