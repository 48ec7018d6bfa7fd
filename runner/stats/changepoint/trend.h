/* Series without constant levels: they rise or fall most of the time, or drift.
 *
 * Segments that all have a level, or all a straight line, in AR(1) noise (up to a random walk) are
 * fitted by optimal partitioning (Jackson et al. 2005) of the night-to-night innovations. The
 * autocorrelation, and whether lines are used, is chosen by Schwarz's criterion with a higher
 * penalty. */
#ifndef TK_STATS_TREND_H
#define TK_STATS_TREND_H
#include <stddef.h>

/* y[0 .. n) with its levels bounds[0 .. segments), bounds[segments] = n. If a few lines reduce the
 * sum of squares to a third of that of the levels, bounds (room for n + 1) and *segments become
 * those of the best such fit, and *tau its long-run noise; else they are unchanged. 0 or
 * TK_ENOMEM. */
int tk_trend_fit(const double *y, size_t n, size_t *bounds, size_t *segments, double *tau);

#endif
