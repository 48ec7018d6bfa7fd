/* Order statistics of a sample. Quantiles are type 7 of Hyndman and Fan (1996), R's and NumPy's
 * default. */
#ifndef TK_STATS_SUMMARY_H
#define TK_STATS_SUMMARY_H
#include <stddef.h>

struct tk_summary {
	size_t n;
	double min, p05, q25, median, q75, p95, max;
	double mean, stddev; /* stddev with n - 1; 0 for n = 1 */
	double mad;          /* median absolute deviation from the median, unscaled */
};

/* x is not changed. 0, TK_ENOMEM, or TK_EDATA where n is 0 or a value is not finite. */
int tk_summary_compute(const double *x, size_t n, struct tk_summary *out);

double tk_quantile_sorted(const double *sorted, size_t n, double p); /* n >= 1, p in [0, 1] */
void tk_sort_values(double *x, size_t n);
double tk_median(double *x, size_t n); /* reorders x; NAN for n = 0 */

#endif
