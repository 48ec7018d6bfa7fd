/* Order statistics of a sample. Quantiles are type 7 of Hyndman and Fan (1996), R's and NumPy's
 * default. */
#ifndef TK_STATS_SUMMARY_H
#define TK_STATS_SUMMARY_H
#include <stdbool.h>
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

#endif
