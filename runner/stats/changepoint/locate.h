/* The exact night of a step that spikes have blurred. Private to stats/. */
#ifndef TK_STATS_LOCATE_H
#define TK_STATS_LOCATE_H
#include <stddef.h>

/* y: values with their spikes; sum: prefix sums of (the same with spikes pulled in, less y[0]),
 * which the bounds (as of stats/partition.h) are from. A spike between two levels makes the seven
 * nights around a good one mostly bad, and so the good one is pulled in to the bad level. Where
 * something was pulled in, the step is moved by a few nights to where they are nearest the level of
 * their side. A night counts for the level that it is within half a step, or `outlier` tau, of; one
 * that is further off both says nothing, and a step comes after it. */
void tk_changepoint_locate(const double *y, const double *sum, double tau, double outlier,
        size_t *bounds, size_t segments);

#endif
