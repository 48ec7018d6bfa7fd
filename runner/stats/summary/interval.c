/* The interval of the median from order statistics: see interval.h. */
#include "stats/summary/interval.h"

#include <math.h>

/* ln of the probability that a fair coin shows k heads in n throws. */
static double log_binomial_half(size_t n, size_t k)
{
	int sign;

	return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
	       lgamma_r((double)(n - k) + 1, &sign) - (double)n * M_LN2;
}

bool tk_median_ranks(size_t n, double confidence, size_t *lo, size_t *hi)
{
	double half_alpha = (1 - confidence) / 2, tail = 0;
	double first = (double)n / 2 -
	               6 * sqrt((double)n); /* below 12 standard deviations the tail is nothing */
	size_t k = first > 0 ? (size_t)first : 0, found = 0;
	bool any = false;

	/* x_(k+1) is below the median's interval as long as P(fewer than k + 1 samples lie below
	 * the median) fits in half of alpha. */
	for (; k < n / 2; k++) {
		tail += exp(log_binomial_half(n, k));
		if (!(tail <= half_alpha))
			break;
		found = k;
		any = true;
	}
	if (!any)
		return false;
	*lo = found;
	*hi = n - 1 - found;
	return true;
}

bool tk_median_interval(const double *sorted, size_t n, double confidence, double *lo, double *hi)
{
	size_t i, j;
	bool reached = tk_median_ranks(n, confidence, &i, &j);

	if (n == 0) {
		*lo = *hi = NAN;
		return false;
	}
	*lo = sorted[reached ? i : 0];
	*hi = sorted[reached ? j : n - 1];
	return reached;
}
