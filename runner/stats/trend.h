/* Series that have no levels: they rise or fall most of the time, and what changes is how fast.
 *
 * Straight lines, each with its own start, are fitted by optimal partitioning (Jackson et al. 2005), in units of what
 * is left of them, widened by its autocorrelation. */
#ifndef TK_STATS_TREND_H
#define TK_STATS_TREND_H
#include <stddef.h>

/* y[0 .. n) with its levels bounds[0 .. segments), bounds[segments] = n. Where lines leave a third of the squares that
 * the levels leave, and most of the nights are on one that certainly rises or falls, bounds (room for n + 1) and
 * *segments become those of the lines, and *tau the long-run noise about them; else they stay. 0 or TK_ENOMEM. */
int tk_trend_fit(const double *y, size_t n, size_t *bounds, size_t *segments, double *tau);

#endif
