/* Order statistics of a sample. Quantiles are type 7 of Hyndman and Fan (1996), R's and NumPy's
 * default. */
#ifndef TK_STATS_SUMMARY_H
#define TK_STATS_SUMMARY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* Quantiles p of n > 0 finite values, as tk_quantile_sorted has them, by selection instead of
 * sorting; x is reordered. */
void tk_quantile_select_many(double *x, size_t n, const double *p, size_t count, double *out);
double tk_quantile_select(double *x, size_t n, double p); /* one of them */

/* ---- interval ---- */

/* A distribution-free interval of the median from order statistics (David and Nagaraja 2003,
 * section 7.1; Le Boudec 2010, theorem 2.1): [x_(j), x_(k)] covers the median with at least
 * `confidence` for every continuous distribution. */

/* Zero-based ranks of the interval's ends. false where n is too small to reach the confidence (n <
 * 6 at 0.95). */
bool tk_median_ranks(size_t n, double confidence, size_t *lo, size_t *hi);

/* As above on sorted values. Where n is too small, lo and hi are the extremes and false is
 * returned. */
bool tk_median_interval(const double *sorted, size_t n, double confidence, double *lo, double *hi);

/* ---- stopping ---- */

/* When to stop sampling: the confidence interval of the median is narrow enough, or a limit is
 * reached. Pure: depends on the samples and the time spent only. */

enum tk_stop { TK_STOP_CONTINUE, TK_STOP_TIGHT, TK_STOP_MAX_SAMPLES, TK_STOP_BUDGET };

struct tk_stop_rule {
	double confidence;          /* of the interval, e.g. 0.95 */
	double relative_half_width; /* target: (hi - lo) / 2 / median */
	size_t min_samples, max_samples;
	double budget_s; /* of measured wall time */
};

/* sorted: the samples so far in ascending order. */
enum tk_stop tk_stop_check(
        const struct tk_stop_rule *rule, const double *sorted, size_t n, double spent_s);
const char *tk_stop_name(enum tk_stop s); /* "tight", "max_samples", "budget" */

/* ---- student ---- */

/* Student's t distribution, for levels whose noise is estimated from few nights. */

double tk_student_p(
        double t, double df); /* two-sided; df > 0, need not be whole; accurate far into the tail */
double tk_student_t(double p, double df); /* the t that a two-sided p in (0, 1) belongs to */

/* ---- noise ---- */

/* The noise of a series, with or without steps in it: computed from differences, so that a few
 * steps and a few spikes do not count as noise. */

struct tk_noise {
	double sigma; /* standard deviation of one point, from successive differences (their scaled
	                 median absolute value) */
	double rho;   /* lag-1 autocorrelation by the ratio of lag-2 to lag-1 differences (Chakar et
	                 al. 2017, AR1Seg), in
	                 [-0.9, 0.99] */
	double tau;   /* long-run scale: sqrt(b) times the standard deviation of a mean of b points,
	                 the largest over b =   1 .. 28; tau >= sigma */
};

/* x in the order of time, with 2 n + 1 values of scratch. All finite; fewer than 3
 * points: all 0. */
void tk_noise_estimate(const double *x, size_t n, double *work, struct tk_noise *out);
/* Sigma and tau alone. */
void tk_noise_estimate_scale(const double *x, size_t n, double *work, double *sigma, double *tau);
/* Sigma alone, with n values of scratch. */
double tk_noise_estimate_sigma(const double *x, size_t n, double *work);
/* 1.4826 * median absolute deviation from the median: has steps in it. n values of scratch; 0:
 * fewer than 3 points. */
double tk_noise_mad(const double *x, size_t n, double *work);

/* Standard deviation of one point by the differences `lag` apart: the largest that their median, 80
 * % or 90 % quantile says. 0: too few. */
double tk_noise_lag_scale(const double *x, size_t n, size_t lag, double *work);

/* Spikes are limited. out[i]: y[i], but no further than `reach` from the median of the seven around
 * it (fewer at the ends). out is not y. */
void tk_winsorize(const double *y, size_t n, double reach, double *out);

/* ---- weekday ---- */

/* A weekly pattern, for instance quieter machines at weekends. Removed only where it is beyond
 * doubt. */

size_t tk_weekday_from_day(int64_t day); /* 0 to 6 */
/* y: logarithms, day: the number of the day of each. The pattern of the seven weekdays: all 0
 * unless the medians of the weekdays, each about the mean of its week, differ beyond doubt
 * (chi-square over 25 with six degrees of freedom, p = 0.0003) over at least six weeks. work: 2 * n
 * values. */
void tk_weekday_estimate(
        const double *y, const int64_t *day, size_t n, double *work, double pattern[7]);

#endif
