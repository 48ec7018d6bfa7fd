/* The exact night of a step that spikes have blurred. Private to stats/. */
#ifndef TK_STATS_LOCATE_H
#define TK_STATS_LOCATE_H
#include <stddef.h>

/* y: values with their spikes; sum: prefix sums of (the same winsorized, less y[0]), from which the
 * bounds (see partition.h) were computed. A spike between two levels makes the seven nights around
 * a good one mostly bad, and so winsorizing pulls the good one to the bad level. Next to winsorized
 * nights, the step is shifted by a few nights to where the nights fit the level of their side best.
 * A night counts for a level if it is within half a step, or `outlier` tau, of it; a night that is
 * further from both counts for neither, and a step comes after it. */
void tk_changepoint_locate(const double *y, const double *sum, double tau, double outlier,
        size_t *bounds, size_t segments);

#endif
