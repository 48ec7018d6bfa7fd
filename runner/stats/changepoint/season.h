/* Patterns of any period: moves from night to night that repeat those of a period before. Removed
 * only where the pattern is beyond doubt. Private to stats/. */
#ifndef TK_STATS_SEASON_H
#define TK_STATS_SEASON_H
#include <stddef.h>

/* Removes the pattern of the one period that y[0 .. n) certainly has: *period points, 0 if there is
 * none. 0 or TK_ENOMEM. */
int tk_season_remove(double *y, size_t n, size_t *period);

#endif
