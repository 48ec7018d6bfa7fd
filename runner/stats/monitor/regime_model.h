/* Noise that lives in states: clocks that settle at one of two speeds, a skewed tail, a spike now
 * and then, a level that wanders.
 *
 * A hidden Markov chain over up to three normal distributions about a level and one wide one (a
 * spike: Cauchy), on top of AR(1) where the series needs it. How often a state is entered and how
 * long it is kept is learnt from the series, so that "slow for the third night" is weighed against
 * how long this series used to stay slow. No rare state may be kept for long: that would be a
 * level. The wandering part is followed by a Kalman filter whose states are merged after each point
 * (Blom and Bar-Shalom 1988). */
#ifndef TK_STATS_REGIME_MODEL_H
#define TK_STATS_REGIME_MODEL_H
#include <stddef.h>

#define TK_REGIME_STATES_MAX 4

struct tk_regime_model {
	size_t count; /* with the spike, which is the last one */
	double offset[TK_REGIME_STATES_MAX],
	        sd[TK_REGIME_STATES_MAX]; /* about the level; of the spike: 0 and its scale */
	double share[TK_REGIME_STATES_MAX];
	double to[TK_REGIME_STATES_MAX][TK_REGIME_STATES_MAX]; /* to[i][j]: from i to j */
	double phi,
	        wander; /* memory and standard deviation of the wandering part; 0: there is none */
	double loglik;  /* of what it was fitted to */
};

/* What is believed after a point. */
struct tk_filtered_state {
	double p[TK_REGIME_STATES_MAX];
	double x, variance; /* of the wandering part */
	double taken;       /* what it has taken of an error of the level */
};

/* r: residuals about the level in the order of time, n >= 8; sigma: a robust standard deviation of
 * them. As many states as the Bayesian information criterion asks for, without a wandering part. 0
 * or TK_ENOMEM. */
int tk_regime_fit(const double *r, size_t n, double sigma, struct tk_regime_model *out);
/* The same with a wandering part; r may have steps of level in it, which cost likelihood. sigma: by
 * differences of neighbours. */
int tk_regime_fit_drift(const double *r, size_t n, double sigma, struct tk_regime_model *out);
/* Half the criterion's price of the parameters of a model of n points. */
double tk_regime_penalty(const struct tk_regime_model *m, size_t n);

/* Log-likelihood of y[0 .. n) about `level`, after the belief *from (NULL: nothing known). each
 * (may be NULL) gets the belief after each point, sum (may be NULL) the log-likelihood of the
 * points up to and with each. */
double tk_regime_loglik(const struct tk_regime_model *m, const double *y, size_t n, double level,
        const struct tk_filtered_state *from, struct tk_filtered_state *each, double *sum);
/* What points tell of levels: inverse variances. */
struct tk_level_information {
	double own;    /* of a level that starts with them */
	double past;   /* of one that was there before them, as far as the wandering part has not
	                  taken it */
	double shared; /* what each tells of the other */
};
/* One step of Newton's from *level towards the likeliest. Returns the log-likelihood after it, as
 * its parabola has it; *information is about the level before it. */
double tk_regime_newton_step(const struct tk_regime_model *m, const double *y, size_t n,
        const struct tk_filtered_state *from, double *level,
        struct tk_level_information *information);

#endif
