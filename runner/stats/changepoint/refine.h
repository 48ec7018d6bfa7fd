/* A second search for changes in segments with autocorrelated noise. Private to stats/. */
#ifndef TK_STATS_REFINE_H
#define TK_STATS_REFINE_H
#include <stdbool.h>
#include <stddef.h>

/* y: logarithms; r: their residuals about the levels of the segments, used as scratch. bounds[0 ..
 * *segments] are the segments' ends, 0 first, n last, with room for n + 1. Changed only where r is
 * AR(1) under white noise (*holds): then changes are added, moved and dropped by generalised least
 * squares, and segments of spikes side by side are dropped. 0 or TK_ENOMEM. */
int tk_changepoint_refine(const double *y, double *r, size_t n, double min_effect, size_t *bounds,
        size_t *segments, bool *holds);

#endif
