/* Order statistics of a sample: see summary.h. */
#include "stats/summary/summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/summary/quantile.h"

#define FEW 32 /* values that are sorted by insertion */

/* Ascending; NaN sorts last, so that the order stays total. */
static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return (x > y) - (x < y);
}

static void insertion_sort(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double v = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

/* Hoare's quicksort about the middle of three; qsort sorts ranges that it splits badly. No NaN. */
static void quick_sort(double *x, size_t n, int depth)
{
	while (n > FEW && depth-- > 0) {
		size_t last = n - 1, mid = n / 2;

		if (x[mid] < x[0])
			tk_swap_values(x, mid, 0);
		if (x[last] < x[0])
			tk_swap_values(x, last, 0);
		if (x[last] < x[mid])
			tk_swap_values(x, last, mid);
		n = tk_hoare_partition(x, 0, last, x[mid]).j + 1;
		quick_sort(x + n, last + 1 - n, depth);
	}
	if (n > FEW)
		qsort(x, n, sizeof *x, compare_doubles);
	else
		insertion_sort(x, n);
}

void tk_sort_values(double *x, size_t n)
{
	size_t numbers = 0;
	int depth = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			tk_swap_values(x, i, numbers++);
	for (size_t left = n; left; left /= 2)
		depth += 2;
	quick_sort(x, numbers, depth);
}

double tk_quantile_sorted(const double *sorted, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double tk_median(double *x, size_t n)
{
	bool numbers = true;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++)
		numbers &= isnan(x[i]) == 0;
	if (numbers)
		return tk_quantile_select(x, n, 0.5);
	tk_sort_values(x, n);
	return tk_quantile_sorted(x, n, 0.5);
}

/* Welford (1962): one pass, no cancellation. */
static void set_moments(const double *x, size_t n, struct tk_summary *out)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double d = x[i] - mean;

		mean += d / (double)(i + 1);
		squares += d * (x[i] - mean);
	}
	out->mean = mean;
	out->stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

int tk_summary_compute(const double *x, size_t n, struct tk_summary *out)
{
	struct tk_summary s = {.n = n};
	double *work;

	if (n == 0)
		return TK_EDATA;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return TK_EDATA;
	work = tk_malloc(n * sizeof *work);
	memcpy(work, x, n * sizeof *work);
	tk_sort_values(work, n);
	s.min = work[0];
	s.p05 = tk_quantile_sorted(work, n, 0.05);
	s.q25 = tk_quantile_sorted(work, n, 0.25);
	s.median = tk_quantile_sorted(work, n, 0.5);
	s.q75 = tk_quantile_sorted(work, n, 0.75);
	s.p95 = tk_quantile_sorted(work, n, 0.95);
	s.max = work[n - 1];
	set_moments(x, n, &s);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(x[i] - s.median);
	s.mad = tk_median(work, n);
	free(work);
	*out = s;
	return TK_OK;
}
