/* Did the level of one series change? Pure functions on arrays of logarithms.
 *
 * The noise between nights is estimated from the successive differences of the series and shrunk
 * towards that of the other series of its device (a moderated t test, Smyth 2004): a series of two
 * points can be tested, and one of sixty is tested by its own noise. */
#ifndef TK_DECIDE_LEVEL_TEST_H
#define TK_DECIDE_LEVEL_TEST_H
#include <stdbool.h>
#include <stddef.h>

/* The noise of a series without a history: 1 % between nights, with the weight of six degrees of
 * freedom. */
#define TK_NOISE_DEFAULT 0.01
#define TK_NOISE_DEFAULT_DF 6.0
#define TK_NOISE_STANDARD_ERRORS 3.0 /* a change must exceed this many */

struct tk_level_test_input {
	const double *y;    /* logarithms in the order of time */
	const double *se;   /* standard error of each point, from its samples */
	size_t n, range;    /* y[range ..] are in the range; 1 <= range < n */
	size_t window;      /* points of the baseline, at most */
	double prior_sigma; /* noise between nights of the series of this device */
	int worse;          /* sign of a change for the worse */
};

struct tk_level_change {
	size_t base, split;   /* levels of y[base .. split) and y[split .. n) */
	double before, after; /* those levels */
	double se_before, se_after, se;
	double t, p; /* of after - before; p is corrected for the splits that were tried */
};

struct tk_level_test {
	double sigma, df;             /* noise of one night, degrees of freedom of its estimate */
	struct tk_level_change whole; /* split at the range; worse_again: at its newest nights */
	struct tk_level_change best;  /* split where two levels fit best; worse_again: as `whole` */
	bool worse_again;             /* the newest nights are worse than a level of the range that
	                                 was not worse than before */
	bool earlier;                 /* the change happened before the range */
	bool spike;                   /* one night, no larger than an earlier spike */
};

/* Where the level before the range starts: the last change point among y[0 .. range). */
void tk_level_find_baseline(const double *y, size_t range, size_t *base);
/* A level is the median of at most this many of the newest points. */
#define TK_LEVEL_POINTS_MAX 64
double tk_level_estimate(const double *y, size_t n);
/* Noise of one night by the series alone; 0: fewer than six points. */
double tk_level_estimate_noise(const double *y, size_t n);
/* Tests this one split, whichever fits best. */
void tk_level_test_split(const struct tk_level_test_input *in, size_t base, size_t split,
        struct tk_level_change *out);
/* Tests all splits in the range; the level before it starts at `base`. */
void tk_level_test_run(
        const struct tk_level_test_input *in, size_t base, struct tk_level_test *out);

#endif
