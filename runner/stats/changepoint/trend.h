/* Series that have no levels in white noise: they rise or fall most of the time, or wander.
 *
 * Segments, all with a level or all with a straight line, in noise of which a part is left the
 * night after (AR(1), up to a random walk) are fitted by optimal partitioning (Jackson et al. 2005)
 * of what each night adds. How much is remembered, and whether they are lines, is decided by
 * Schwarz's criterion at a higher price. */
#ifndef TK_STATS_TREND_H
#define TK_STATS_TREND_H
#include <stddef.h>

/* y[0 .. n) with its levels bounds[0 .. segments), bounds[segments] = n. Where a few lines leave a
 * third of the squares that the levels leave, bounds (room for n + 1) and *segments become those of
 * the best such fit, and *tau its long-run noise; else they stay. 0 or TK_ENOMEM. */
int tk_trend_fit(const double *y, size_t n, size_t *bounds, size_t *segments, double *tau);

#endif
