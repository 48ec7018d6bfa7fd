/* What the computations of a regime model share: by states of one series and by lanes of several,
 * whose results are equal to the last bit. Private to stats/monitor. */
#ifndef TK_STATS_REGIME_CONSTANTS_H
#define TK_STATS_REGIME_CONSTANTS_H

#define TK_REGIME_SQRT_2PI 2.5066282746310002
#define TK_REGIME_TINY 1e-300 /* at least this likely is any point */
#define TK_REGIME_RESCALE 8   /* points: eight densities stay far from what a double holds */

#endif
