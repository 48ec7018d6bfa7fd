/* Winsorizing: spikes are limited to a distance from their neighbours. Private to stats/. */
#ifndef TK_STATS_WINSORIZE_H
#define TK_STATS_WINSORIZE_H
#include <stddef.h>

/* out[i]: y[i], but no further than `reach` from the median of the seven around it (fewer at the
 * ends). out is not y.
 */
void tk_winsorize(const double *y, size_t n, double reach, double *out);

#endif
