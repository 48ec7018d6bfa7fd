/* The noise of a series, with or without steps in it: computed from differences, so that a few
 * steps and a few spikes do not count as noise. */
#ifndef TK_STATS_NOISE_H
#define TK_STATS_NOISE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* Subtracts that pattern from y. */
void tk_weekday_remove(double *y, const int64_t *day, size_t n);

#endif
