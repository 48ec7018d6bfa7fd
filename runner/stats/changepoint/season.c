/* The pattern of a period, whatever its length: see season.h. */
#include "stats/changepoint/season.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/summary/quantile.h"

#define PERIOD_MIN 2
#define PERIOD_MAX 100
#define TIMES 5   /* the pattern is seen, at least */
#define CLOSE 0.5 /* correlation of differences a period apart */
#define SURE 5.0  /* standard errors of that */
#define AS_GOOD \
	0.85 /* of the best correlation: the shortest such period, others are multiples of it */
#define LEFT \
	0.5 /* of the squares about the mean of the period around each night, at most, without the \
	       pattern */
#define SPIKE 3 /* differences are winsorized to this many standard deviations */

static double clamp(double v, double reach)
{
	return fmax(-reach, fmin(reach, v));
}

/* Winsorized differences from night to night, about their mean, into d[0 .. n - 1); returns their
 * variance. */
static double moves(const double *y, size_t n, double *work, double *d)
{
	double reach = SPIKE * M_SQRT2 * tk_noise_lag_scale(y, n, 1, work), mean = 0, squares = 0;

	for (size_t i = 1; i < n; i++) {
		d[i - 1] = clamp(y[i] - y[i - 1], reach);
		mean += d[i - 1] / (double)(n - 1);
	}
	for (size_t i = 0; i + 1 < n; i++) {
		d[i] -= mean;
		squares += d[i] * d[i];
	}
	return squares / (double)(n - 1);
}

static double product(const double *d, size_t n, size_t lag)
{
	double sum[8] = {0};
	size_t i = lag;

	for (; i + 8 <= n; i += 8)
		for (size_t k = 0; k < 8; k++)
			sum[k] += d[i + k] * d[i + k - lag];
	for (; i < n; i++)
		sum[0] += d[i] * d[i - lag];
	return ((sum[0] + sum[1]) + (sum[2] + sum[3]) + ((sum[4] + sum[5]) + (sum[6] + sum[7]))) /
	       (double)(n - lag);
}

/* The shortest period that is about as good as any, and is better than its neighbours; 0: none. r:
 * room for the correlations. */
static size_t period_of(const double *d, size_t n, double variance, double *r)
{
	size_t most = n / TIMES < PERIOD_MAX ? n / TIMES : PERIOD_MAX;
	double best = 0;

	if (!(variance > 0))
		return 0;
	for (size_t p = PERIOD_MIN - 1; p <= most + 1; p++) {
		r[p] = product(d, n, p) / variance;
		if (p >= PERIOD_MIN && p <= most && r[p] > best)
			best = r[p];
	}
	for (size_t p = PERIOD_MIN; p <= most; p++)
		if (r[p] >= fmax(fmax(CLOSE, AS_GOOD * best), SURE / sqrt((double)(n - p))) &&
		        r[p] > r[p - 1] && r[p] > r[p + 1])
			return p;
	return 0;
}

/* Medians of the nights of each phase about the mean of the period around them, into out, about
 * their mean; returns the part of the squares that is left without them. */
static double pattern_of(const double *y, size_t n, size_t period, double *work, double *out)
{
	double mean = 0, *sum = work, *same = work + n + 1, with = 0, without = 0;

	sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + (y[i] - y[0]);
	for (size_t phase = 0; phase < period; phase++) {
		size_t count = 0, half = period / 2;

		for (size_t i = phase; i < n; i += period)
			if (i >= half && i + half < n) {
				/* of an even period both ends count half */
				double around =
				        sum[i + half + 1] - sum[i - half] -
				        (period % 2 ? 0
				                    : (y[i - half] + y[i + half] - 2 * y[0]) / 2);

				same[count++] = y[i] - y[0] - around / (double)period;
			}
		out[phase] = tk_quantile_select(same, count, 0.5);
		for (size_t i = 0; i < count; i++) {
			with += same[i] * same[i];
			without += (same[i] - out[phase]) * (same[i] - out[phase]);
		}
		mean += out[phase] / (double)period;
	}
	for (size_t phase = 0; phase < period; phase++)
		out[phase] -= mean;
	return with > 0 ? without / with : 1;
}

int tk_season_remove(double *y, size_t n, size_t *period)
{
	double *work, *d, pattern[PERIOD_MAX + 2];

	*period = 0;
	if (n < TIMES * PERIOD_MIN + 2)
		return TK_OK;
	if (!(work = tk_malloc((3 * n + 2) * sizeof *work)))
		return TK_ENOMEM;
	d = work + 2 * n + 2;
	*period = period_of(d, n - 1, moves(y, n, work, d), pattern);
	if (*period && pattern_of(y, n, *period, work, pattern) > LEFT)
		*period = 0;
	for (size_t i = 0; *period && i < n; i++)
		y[i] -= pattern[i % *period];
	free(work);
	return TK_OK;
}
