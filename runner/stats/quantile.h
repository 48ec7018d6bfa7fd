/* Quantiles by selection instead of sorting, and the robust scale of differences. Private to
 * stats/. */
#ifndef TK_STATS_QUANTILE_H
#define TK_STATS_QUANTILE_H
#include <stddef.h>

/* Where two halves meet: x[lo .. j] <= pivot <= x[j + 1 .. hi]; i == j is the pivot itself. */
struct tk_hoare_split {
	size_t i, j;
};

static inline void tk_swap_values(double *x, size_t i, size_t j)
{
	double keep = x[i];

	x[i] = x[j];
	x[j] = keep;
}

/* Hoare's partition of x[lo .. hi] about a pivot that is one of them; no NaN. */
static inline struct tk_hoare_split tk_hoare_partition(
        double *x, size_t lo, size_t hi, double pivot)
{
	size_t i = lo, j = hi;

	for (;;) {
		while (x[i] < pivot)
			i++;
		while (x[j] > pivot)
			j--;
		if (i >= j)
			return (struct tk_hoare_split){i, j};
		tk_swap_values(x, i++, j--);
	}
}

/* Quantiles p of n > 0 finite values, as tk_quantile_sorted has them, without sorting; x is
 * reordered. */
void tk_quantile_select_many(double *x, size_t n, const double *p, size_t count, double *out);
/* The same to within a hundredth of the middle half's width, in one pass: for values that are
 * estimates anyway. */
void tk_quantile_estimate_many(double *x, size_t n, const double *p, size_t count, double *out);
double tk_quantile_select(double *x, size_t n, double p); /* one of them */
/* Standard deviation of one point by the differences `lag` apart: the largest that their median, 80
 * % or 90 % quantile says. 0: too few. */
double tk_noise_lag_scale(const double *x, size_t n, size_t lag, double *work);

/* ---- winsorize ---- */

/* Winsorizing: spikes are limited to a distance from their neighbours. Private to stats/. */

/* out[i]: y[i], but no further than `reach` from the median of the seven around it (fewer at the
 * ends). out is not y.
 */
void tk_winsorize(const double *y, size_t n, double reach, double *out);

#endif
