/* Steps in a series that is too young for a model of its noise: two levels in white noise are
 * compared with one level, and with a level that drifts. The variance of the noise is shrunk
 * towards that of the machine's other series (Smyth 2004). */
#ifndef TK_STATS_YOUNG_LEVEL_H
#define TK_STATS_YOUNG_LEVEL_H
#include <stddef.h>

/* What the other series of a machine tell about the noise of one. */
struct tk_noise_prior {
	double variance; /* of one night, of logarithms */
	double df;       /* nights that it is worth; 0: nothing is known */
};

struct tk_young_step {
	size_t split;         /* of y: the first night at the new level */
	double before, after; /* levels */
	double log_lr;        /* log-likelihood ratio; 0: no candidate */
};

#define TK_YOUNG_NIGHTS_MAX 60 /* a series with as many nights has a model of its own */
#define TK_YOUNG_BEFORE_MIN 6  /* nights at the old level */
#define TK_YOUNG_AFTER_MIN 4   /* nights at the new level */

/* The best split of y[0 .. n) into two levels that differ by more than min_shift. */
struct tk_young_step tk_young_step_find(
        const double *y, size_t n, double min_shift, const struct tk_noise_prior *prior);

/* Nights of a series that tk_noise_log_variance uses. */
#define TK_NOISE_PRIOR_NIGHTS_MIN 6
#define TK_NOISE_PRIOR_NIGHTS_MAX 31

/* Logarithm of the variance of one night of y[0 .. n), n in the range above, and its degrees of
 * freedom. One step of level is not part of it. */
double tk_noise_log_variance(const double *y, size_t n, double *df);
/* The prior of a machine by its series: their median, worth more the better they agree. Fewer than
 * five series tell nothing. Overwrites log_variance. */
struct tk_noise_prior tk_noise_prior_estimate(double *log_variance, const double *df, size_t count);

#endif
