/* What tests of statistics share: comparisons of numbers, seeded noise, and series made from
 * another one. */
#ifndef TK_TEST_STATS_CHECKS_H
#define TK_TEST_STATS_CHECKS_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static inline void near_by(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

static inline void near(double a, double b)
{
	near_by(a, b, 1e-9 * (1 + fabs(b)));
}

/* Independent normal values about a level. */
static inline void fill_normal(double *x, size_t n, uint64_t seed, double level, double sd)
{
	struct tk_rng r;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < n; i++)
		x[i] = level + sd * tk_rng_normal(&r);
}

/* out[i] = shift + factor * x[i] */
static inline void transform(const double *x, size_t n, double factor, double shift, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = shift + factor * x[i];
}

static inline void reverse(const double *x, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[n - 1 - i] = x[i];
}

static inline int compare_values(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts with the C library, and so independently of runner/stats. */
static inline void sort_plainly(double *x, size_t n)
{
	if (n)
		qsort(x, n, sizeof *x, compare_values);
}

/* Median of a copy, at most 4096 values. */
static inline double plain_median(const double *x, size_t n)
{
	double sorted[4096];

	assert_true(n > 0 && n <= 4096);
	memcpy(sorted, x, n * sizeof *x);
	sort_plainly(sorted, n);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

#endif
