/* Robust noise of a series: see summary.h. */
#include <math.h>

#include "base/base.h"
#include "stats/summary.h"

#define SPIKE 3          /* sigmas from the median of the seven around it */
#define MAD_TO_SD 1.4826 /* 1 / Phi^-1(3/4) */
#define Q90_TO_SD 0.6080 /* 1 / Phi^-1(0.95): two clock states */
#define ENOUGH 1000      /* differences for a quantile */
#define WIDE_MIN 40      /* differences for the 90 % quantile */
#define Q80_TO_SD 0.7803 /* 1 / Phi^-1(0.9): the median of mostly equal values is 0 */

/* ---- winsorize ---- */

#define SIDE 3
#define STRETCH 256 /* points whose medians are computed at once */

/* The medians of the seven around x[0 .. n), by a network of exchanges, many at a time. */
static void medians_of_seven(const double *x, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++) {
		const double *y = x + i;
		double a = y[-3], b = y[-2], c = y[-1], d = y[0], e = y[1], f = y[2], g = y[3], t;

#define ORDER(p, q) (t = p < q ? p : q, q = p < q ? q : p, p = t)
		ORDER(a, f), ORDER(a, d), ORDER(b, g), ORDER(c, e), ORDER(a, b), ORDER(d, f),
		        ORDER(c, g);
		ORDER(c, d), ORDER(d, g), ORDER(e, f), ORDER(b, e), ORDER(b, d), ORDER(d, e);
#undef ORDER
		out[i] = d;
	}
}

static double median_at_end(const double *y, size_t n, size_t i)
{
	size_t from = i < SIDE ? 0 : i - SIDE, to = i + SIDE + 1 > n ? n : i + SIDE + 1;
	double near[2 * SIDE + 1];

	memcpy(near, y + from, (to - from) * sizeof *near);
	return tk_quantile_select(near, to - from, 0.5);
}

static void pull(const double *y, const double *median, size_t n, double reach, double *out)
{
	for (size_t i = 0; i < n; i++) {
		double lo = median[i] - reach, hi = median[i] + reach, v = y[i] < lo ? lo : y[i];

		out[i] = v > hi ? hi : v;
	}
}

void tk_winsorize(const double *y, size_t n, double reach, double *out)
{
	double median[STRETCH];

	for (size_t from = 0, count; from < n; from += count) {
		count = n - from < STRETCH ? n - from : STRETCH;
		for (size_t i = from; i < from + count; i++)
			if (i < SIDE || i + SIDE >= n)
				median[i - from] = median_at_end(y, n, i);
		/* all the others have seven */
		size_t first = from < SIDE ? SIDE : from,
		       last = from + count + SIDE > n ? n - SIDE : from + count;

		if (n > 2 * SIDE && last > first)
			medians_of_seven(y + first, last - first, median + (first - from));
		pull(y + from, median, count, reach, out + from);
	}
}

/* ---- noise ---- */

/* Scale of d, n absolute values, which are reordered: the largest that its first so many quantiles
 * say. */
static double scale_of(double *d, size_t n, size_t quantiles)
{
	static const double parts[] = {0.5, 0.8, 0.9}, to_sd[] = {MAD_TO_SD, Q80_TO_SD, Q90_TO_SD};
	double at[3], scale = 0;

	quantiles = n == 0 ? 0 : n < 10 ? 1 : quantiles;
	tk_quantile_select_many(d, n, parts, quantiles, at);
	for (size_t i = 0; i < quantiles; i++)
		scale = fmax(scale, to_sd[i] * at[i]);
	return scale;
}

/* Scale of differences between means of neighbouring blocks of b points, as that of one independent
 * point. sum has n + 1 prefix sums. */
static double block_scale(const double *sum, size_t n, size_t b, double *work)
{
	size_t count = 0, stride = (b + 1) / 2; /* nearer neighbours say nothing new */

	for (size_t i = 0; i + 2 * b <= n; i += stride)
		work[count++] = fabs(sum[i + 2 * b] - 2 * sum[i + b] + sum[i]) / (double)b;
	return scale_of(work, count, 2) * sqrt((double)b / 2);
}

/* By the differences `lag` apart of every step-th point. */
static double lag_scale(
        const double *x, size_t n, size_t lag, size_t step, size_t quantiles, double *work)
{
	size_t count = 0;

	for (size_t i = 0; i + lag < n; i += step)
		work[count++] = fabs(x[i + lag] - x[i]);
	return scale_of(work, count, quantiles) / M_SQRT2;
}

double tk_noise_lag_scale(const double *x, size_t n, size_t lag, double *work)
{
	const size_t step = 1 + n / ENOUGH;

	return lag_scale(x, n, lag, step, n < lag + WIDE_MIN * step ? 2 : 3, work);
}

static double autocorrelation(double lag1, double lag2)
{
	double rho = lag1 > 0 ? lag2 * lag2 / (lag1 * lag1) - 1 : 0;

	return fmin(0.99, fmax(-0.9, rho));
}

double tk_noise_estimate_sigma(const double *x, size_t n, double *work)
{
	return n < 3 ? 0 : lag_scale(x, n, 1, 1, 2, work);
}

double tk_noise_mad(const double *x, size_t n, double *work)
{
	double median;

	if (n < 3)
		return 0;
	memcpy(work, x, n * sizeof *x);
	median = tk_quantile_select(work, n, 0.5);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(x[i] - median);
	return MAD_TO_SD * tk_quantile_select(work, n, 0.5);
}

void tk_noise_estimate_scale(const double *x, size_t n, double *work, double *sigma, double *tau)
{
	static const size_t blocks[] = {2, 3, 5, 7, 14, 28};
	double origin = n ? x[0] : 0, *sum = work + n;

	*tau = *sigma = tk_noise_estimate_sigma(x, n, work);
	if (n < 3)
		return;
	/* a spike would be in every block of its size */
	tk_winsorize(x, n, SPIKE * *sigma, sum + 1);
	sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + (sum[i + 1] - origin);
	/* at least five independent differences, else the estimate is useless */
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks && n >= 12 * blocks[i]; i++)
		*tau = fmax(*tau, block_scale(sum, n, blocks[i], work));
}

void tk_noise_estimate(const double *x, size_t n, double *work, struct tk_noise *out)
{
	*out = (struct tk_noise){0};
	tk_noise_estimate_scale(x, n, work, &out->sigma, &out->tau);
	if (n >= 3)
		out->rho = autocorrelation(out->sigma, lag_scale(x, n, 2, 1, 2, work));
}

/* ---- weekday ---- */

#define WEEK 7
#define POINTS_MIN 42
#define PER_DAY_MIN 4
#define CHI_SQUARE 25
#define MEDIAN_ERROR 1.2533 /* standard error of a median in units of that of a mean */

size_t tk_weekday_from_day(int64_t day)
{
	return (size_t)(((day % WEEK) + WEEK) % WEEK);
}

/* Each value about the mean of the seven around it, in which every weekday is once. */
static void take_level_out(const double *y, size_t n, double *r)
{
	double sum = 0;

	for (size_t i = 0; i < WEEK; i++)
		sum += y[i];
	for (size_t i = 0, from = 0; i < n; i++) {
		if (i > WEEK / 2 && from + WEEK < n) {
			sum += y[from + WEEK] - y[from];
			from++;
		}
		r[i] = y[i] - sum / WEEK;
	}
}

/* Medians of the weekdays, about the middle one of them; returns their chi-square. */
static double profile(const double *r, const int64_t *day, size_t n, double *work, double out[WEEK])
{
	size_t count[WEEK] = {0}, end[WEEK], first = 0;
	double sigma, chi = 0, sorted[WEEK], middle;

	for (size_t i = 0; i < n; i++) {
		work[i] = fabs(r[i]);
		count[tk_weekday_from_day(day[i])]++;
	}
	sigma = MAD_TO_SD * tk_quantile_select(work, n, 0.5);
	for (size_t d = 0; d < WEEK; d++) {
		end[d] = first;
		first += count[d];
	}
	for (size_t i = 0; i < n; i++)
		work[end[tk_weekday_from_day(day[i])]++] = r[i];
	for (size_t d = 0; d < WEEK; d++) {
		out[d] = count[d] >= PER_DAY_MIN
		                 ? tk_quantile_select(work + end[d] - count[d], count[d], 0.5)
		                 : 0;
		if (count[d] >= PER_DAY_MIN && sigma > 0)
			chi += pow(out[d] / (MEDIAN_ERROR * sigma), 2) * (double)count[d];
	}
	memcpy(sorted, out, sizeof sorted);
	middle = tk_median(sorted, WEEK);
	for (size_t d = 0; d < WEEK; d++)
		out[d] -= middle;
	return chi;
}

void tk_weekday_estimate(
        const double *y, const int64_t *day, size_t n, double *work, double pattern[WEEK])
{
	if (n >= POINTS_MIN) {
		take_level_out(y, n, work);
		if (profile(work, day, n, work + n, pattern) > CHI_SQUARE)
			return;
	}
	memset(pattern, 0, WEEK * sizeof *pattern);
}
