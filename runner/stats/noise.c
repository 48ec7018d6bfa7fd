/* Robust noise of a series: see noise.h. */
#include "stats/noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "stats/calm.h"
#include "stats/scale.h"
#include "stats/summary.h"

#define SPIKE 3          /* sigmas from the median of the seven around it */
#define MAD_TO_SD 1.4826 /* 1 / Phi^-1(3/4) */
#define Q90_TO_SD 0.6080 /* 1 / Phi^-1(0.95): two clock states */
#define Q80_TO_SD 0.7803 /* 1 / Phi^-1(0.9): a series of mostly equal values has a median difference of 0 */

static void exchange(double *x, size_t i, size_t j)
{
	double keep = x[i];

	x[i] = x[j];
	x[j] = keep;
}

/* Hoare's selection: x[k] becomes the k-th smallest (from 0) of the finite x, what is before it is not larger, what is
 * behind it not smaller. */
static void select_kth(double *x, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = x[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			exchange(x, i++, j--);
		}
		/* x[lo .. j] <= pivot <= x[j + 1 .. hi]; i == j stands on the pivot itself */
		if (i == j && k == i)
			return;
		if (k <= j)
			hi = i == j ? j - 1 : j;
		else
			lo = j + 1;
	}
}

/* As tk_quantile_sorted, without sorting; x is reordered. */
double tk_select(double *x, size_t n, double p)
{
	double at = p * (double)(n - 1), next = INFINITY;
	size_t k = (size_t)at;

	select_kth(x, n, k);
	if (k + 1 >= n || at == (double)k)
		return x[k];
	for (size_t i = k + 1; i < n; i++)
		next = fmin(next, x[i]);
	return x[k] + (at - (double)k) * (next - x[k]);
}

/* Scale of d, n values of which are given as absolute values; they are reordered. */
static double scale_of(double *d, size_t n)
{
	double middle, upper;
	size_t half;

	if (n == 0)
		return 0;
	middle = tk_select(d, n, 0.5);
	if (n < 10)
		return MAD_TO_SD * middle;
	half = (n - 1) / 2; /* what is behind it is not smaller */
	upper = tk_select(d + half, n - half, (0.8 * (double)(n - 1) - (double)half) / (double)(n - half - 1));
	return fmax(MAD_TO_SD * middle, Q80_TO_SD * upper);
}

/* Scale of differences between means of neighbouring blocks of b points, as that of one independent point. sum has n +
 * 1 prefix sums. */
static double block_scale(const double *sum, size_t n, size_t b, double *work)
{
	size_t count = 0, stride = (b + 1) / 2; /* nearer neighbours say nothing new */

	for (size_t i = 0; i + 2 * b <= n; i += stride)
		work[count++] = fabs(sum[i + 2 * b] - 2 * sum[i + b] + sum[i]) / (double)b;
	return scale_of(work, count) * sqrt((double)b / 2);
}

static double lag_scale(const double *x, size_t n, size_t lag, double *work)
{
	for (size_t i = 0; i + lag < n; i++)
		work[i] = fabs(x[i + lag] - x[i]);
	return n > lag ? scale_of(work, n - lag) / M_SQRT2 : 0;
}

double tk_lag_scale(const double *x, size_t n, size_t lag, double *work)
{
	size_t count = n > lag ? n - lag : 0;
	double scale;

	for (size_t i = 0; i < count; i++)
		work[i] = fabs(x[i + lag] - x[i]);
	scale = scale_of(work, count);
	if (count >= 40)
		scale = fmax(scale, Q90_TO_SD * tk_select(work, count, 0.9));
	return scale / M_SQRT2;
}

static double autocorrelation(double lag1, double lag2)
{
	double rho = lag1 > 0 ? lag2 * lag2 / (lag1 * lag1) - 1 : 0;

	return fmin(0.99, fmax(-0.9, rho));
}

static double mad_of(const double *x, size_t n, double *work)
{
	double median;

	for (size_t i = 0; i < n; i++)
		work[i] = x[i];
	median = tk_select(work, n, 0.5);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(x[i] - median);
	return MAD_TO_SD * tk_select(work, n, 0.5);
}

static void fill(const double *x, size_t n, double *work, double *sum, struct tk_noise *out)
{
	static const size_t blocks[] = {2, 3, 5, 7, 14, 28};
	double origin = x[0];

	out->sigma = lag_scale(x, n, 1, work);
	out->rho = autocorrelation(out->sigma, lag_scale(x, n, 2, work));
	out->mad = mad_of(x, n, work);
	out->tau = out->sigma;
	/* a spike would be in every block of its size */
	tk_calm(x, n, SPIKE * out->sigma, sum + 1);
	sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + (sum[i + 1] - origin);
	/* at least five independent differences, else the estimate is worth nothing */
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks && n >= 12 * blocks[i]; i++)
		out->tau = fmax(out->tau, block_scale(sum, n, blocks[i], work));
}

int tk_noise_of(const double *x, size_t n, struct tk_noise *out)
{
	double *work;

	*out = (struct tk_noise){0};
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return TK_EDATA;
	if (n < 3)
		return TK_OK;
	work = malloc((2 * n + 1) * sizeof *work);
	if (!work)
		return TK_ENOMEM;
	fill(x, n, work, work + n, out);
	free(work);
	return TK_OK;
}
