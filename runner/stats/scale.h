/* Robust scale of what is made from differences. Private to stats/. */
#ifndef TK_STATS_SCALE_H
#define TK_STATS_SCALE_H
#include <stddef.h>

double tk_select(double *x, size_t n, double p); /* quantile p of n > 0 finite values without sorting; x is reordered */
/* Standard deviation of one point by the differences `lag` apart: the largest that their median, 80 % or 90 % quantile
 * says. 0: too few. */
double tk_lag_scale(const double *x, size_t n, size_t lag, double *work);

#endif
