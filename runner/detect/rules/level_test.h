/* One series, one question: is its level in the range another one than before? Pure functions on
 * arrays of logarithms.
 *
 * Noise between nights is estimated from the series' own successive differences and shrunk towards
 * what is known of the machine (a moderated t, Smyth 2004), so that a series of two points can be
 * judged at all and one of sixty is judged by itself. */
#ifndef TK_DETECT_JUDGE_H
#define TK_DETECT_JUDGE_H
#include <stdbool.h>
#include <stddef.h>

/* Noise of a series of which nothing is known yet: 1 % between nights, worth as much as six degrees
 * of freedom of its own. */
#define TK_NOISE_DEFAULT 0.01
#define TK_NOISE_DEFAULT_DF 6.0
#define TK_NOISE_STANDARD_ERRORS 3.0 /* the series' own threshold */

struct tk_level_test_input {
	const double *y;    /* logarithms in the order of time */
	const double *se;   /* standard error of each by its own samples */
	size_t n, range;    /* y[range ..] are in the range; 1 <= range < n */
	size_t window;      /* the baseline has at most so many points */
	double prior_sigma; /* noise between nights of a series of this machine */
};

struct tk_level_change {
	size_t base, split;   /* levels of y[base .. split) and y[split .. n) */
	double before, after; /* those levels */
	double se_before, se_after, se;
	double t, p; /* of after - before; p counts every split that was tried */
};

struct tk_level_test {
	double sigma, df;             /* noise of one night, and what its estimate is worth */
	struct tk_level_change whole; /* split at the range */
	struct tk_level_change best;  /* split where two levels fit best, in the range */
	bool earlier;                 /* the change is there, but happened before the range */
	bool spike; /* one night only, and no larger than a spike that this series had before */
};

/* Where the level that precedes the range starts: the last change point among y[0 .. range). 0 or
 * TK_ENOMEM. */
int tk_level_find_baseline(const double *y, size_t range, size_t *base);
#define TK_LEVEL_POINTS_MAX 64 /* more points do not make a level better: the newest count */
double tk_level_estimate(const double *y, size_t n); /* median; mean of one or two */
/* Noise of one night by the series alone; 0 where it has fewer than six points. */
double tk_level_estimate_noise(const double *y, size_t n);
/* Two levels with this split, whatever fits best; p of this one split. 0 or TK_ENOMEM. */
int tk_level_test_split(const struct tk_level_test_input *in, size_t base, size_t split,
        struct tk_level_change *out);
int tk_level_test_run(const struct tk_level_test_input *in, size_t base, struct tk_level_test *out);

#endif
