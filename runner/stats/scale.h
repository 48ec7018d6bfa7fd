/* Robust scale of what is made from differences. Private to stats/. */
#ifndef TK_STATS_SCALE_H
#define TK_STATS_SCALE_H
#include <stddef.h>

/* Quantiles p of n > 0 finite values, as tk_quantile_sorted has them, without sorting; x is reordered. */
void tk_quantiles(double *x, size_t n, const double *p, size_t count, double *out);
/* The same to within a hundredth of the middle half's width, in one pass: for what is an estimate anyway. */
void tk_quantiles_near(double *x, size_t n, const double *p, size_t count, double *out);
double tk_select(double *x, size_t n, double p); /* one of them */
/* Standard deviation of one point by the differences `lag` apart: the largest that their median, 80 % or 90 % quantile
 * says. 0: too few. */
double tk_lag_scale(const double *x, size_t n, size_t lag, double *work);

#endif
