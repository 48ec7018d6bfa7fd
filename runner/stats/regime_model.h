/* A noise model with states: clocks that settle at one of two speeds, a skewed tail, occasional
 * spikes, a level that drifts.
 *
 * A hidden Markov model of up to three normal states and one wide Cauchy state (spikes) about a
 * level, on top of an AR(1) drift where the series needs one. Transition probabilities are learnt,
 * so that "slow for the third night" is compared with how long this series used to stay slow. A
 * rare state must not last long: that would be a new level. The drift is tracked by a Kalman filter
 * whose states are merged after each point (Blom and Bar-Shalom 1988). */
#ifndef TK_STATS_REGIME_MODEL_H
#define TK_STATS_REGIME_MODEL_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define TK_REGIME_STATES_MAX 4

struct tk_regime_model {
	size_t count; /* with the spike, which is the last one */
	double offset[TK_REGIME_STATES_MAX],
	        sd[TK_REGIME_STATES_MAX]; /* about the level; of the spike: 0 and its scale */
	double share[TK_REGIME_STATES_MAX];
	double to[TK_REGIME_STATES_MAX][TK_REGIME_STATES_MAX]; /* to[i][j]: from i to j */
	double phi,
	        /* autocorrelation and standard deviation of the drift; 0: there is none */
	        drift_sd;
	double loglik; /* of the data that it was fitted to */
};

/* The filtered state after a point. */
struct tk_filtered_state {
	double p[TK_REGIME_STATES_MAX];
	double x, variance; /* of the wandering part */
	double drift_share; /* of an error of the level that the drift has absorbed */
};

/* As many states as the Bayesian information criterion selects, without AR(1) drift. r: residuals
 * about the level in the order of time, 8 to TK_REGIME_POINTS_MAX; sigma: a robust standard
 * deviation of them. */
struct tk_regime_model tk_regime_fit(const double *r, size_t n, double sigma);
/* The same with a wandering part; r may have steps of level in it, which cost likelihood. sigma: by
 * differences of neighbours. */
struct tk_regime_model tk_regime_fit_drift(const double *r, size_t n, double sigma);
/* Half the criterion's price of the parameters of a model of n points. */
double tk_regime_penalty(const struct tk_regime_model *m, size_t n);

/* A log-likelihood whose logarithm is not taken yet: that would be most of the work. Starts with
 * {0, 1}. */
struct tk_likelihood_product {
	double sum, factors;
};
double tk_likelihood_log(const struct tk_likelihood_product *p);

/* Log-likelihood of y[0 .. n) about `level`, after the filtered state *from (NULL: unknown). each
 * (may be NULL) gets the filtered state after each point, so_far (may be NULL) the log-likelihood
 * of the points up to and with each. */
double tk_regime_loglik(const struct tk_regime_model *m, const double *y, size_t n, double level,
        const struct tk_filtered_state *from, struct tk_filtered_state *each,
        struct tk_likelihood_product *so_far);
/* Information of points about levels, as inverse variances. */
struct tk_level_information {
	double new_level; /* of a level that starts with these points */
	double old_level; /* of a level from before, less what the drift absorbs */
	double cross;     /* between the two */
};
/* One step of Newton's from *level towards the likeliest. Returns the log-likelihood after it, as
 * its parabola has it; *information is about the level before it. */
double tk_regime_newton_step(const struct tk_regime_model *m, const double *y, size_t n,
        const struct tk_filtered_state *from, double *level,
        struct tk_level_information *information);

/* ---- regime_em.c: the expectation step without drift: most of the time of a fit ---- */

struct tk_regime_counts {
	double state[TK_REGIME_STATES_MAX], sum[TK_REGIME_STATES_MAX], square[TK_REGIME_STATES_MAX],
	        to[TK_REGIME_STATES_MAX][TK_REGIME_STATES_MAX];
};
/* Points about their level, and what is known of each by those before and behind it. */
#define TK_REGIME_POINTS_MAX 200
struct tk_regime_points {
	size_t n;
	double r[TK_REGIME_POINTS_MAX];
	/* [state][point]: density of the point; with all before it; of all behind it */
	double density[TK_REGIME_STATES_MAX][TK_REGIME_POINTS_MAX],
	        before[TK_REGIME_STATES_MAX][TK_REGIME_POINTS_MAX],
	        behind[TK_REGIME_STATES_MAX][TK_REGIME_POINTS_MAX];
	double scale[TK_REGIME_POINTS_MAX]; /* before[..][point] was multiplied by */
};
/* Sets all but n and r. Returns the log-likelihood of r. */
double tk_regime_smooth(const struct tk_regime_model *m, struct tk_regime_points *w);
/* After tk_regime_smooth(): how often each state is expected, of which points, and after which
 * one. */
void tk_regime_count(const struct tk_regime_model *m, const struct tk_regime_points *w,
        struct tk_regime_counts *c);

/* Log-likelihoods of r[0 .. n) under this many models of one normal state about 0 and a spike, each
 * with its own deviations and AR(1) drift, which may jump after a spike; the moves between the
 * states are those of m[0]. */
#define TK_REGIME_DRIFTS 20
void tk_regime_drift_logliks(
        const struct tk_regime_model *m, const double *r, size_t n, double *loglik);

#define TK_REGIME_SQRT_2PI 2.5066282746310002
/* A count of states that is constant makes a loop straight code where this is inlined. */
#define TK_REGIME_INLINE static inline __attribute__((always_inline))

#endif
