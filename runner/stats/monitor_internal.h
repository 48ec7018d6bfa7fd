/* State of the monitor of one series. Private to level_monitor.c and level_noise.c. */
#ifndef TK_STATS_MONITOR_INTERNAL_H
#define TK_STATS_MONITOR_INTERNAL_H
#include <stddef.h>

#include "stats/levels.h"
#include "stats/regime_model.h"

#define FIRST TK_MONITOR_NIGHTS_MIN
#define MEMORY TK_MONITOR_WINDOW_NIGHTS

/* The newest nights are not part of the level that they are compared with; at most a third. */
#define HOLD 20
#define PENDING 2.0 /* log-likelihood ratio of a split that is remembered */

struct tk_level_monitor {
	double min_shift; /* of a level, logarithm */
	struct tk_regime_model noise;
	bool known;           /* the noise is */
	size_t fitted, count; /* when, to how many nights */
	double pattern[7];    /* of the week */
	size_t level_start,
	        old_level_start; /* where the present level starts, and the one before it */
	double level, old_level, information; /* level: after TK_MONITOR_NIGHTS_MIN nights */
	size_t information_nights; /* nights that `information` about the level comes from */
	size_t closed_split;       /* no split up to this one is tried any more */
	double last_log_lr;        /* of the night before */
	size_t pending;            /* the split that was suspected, and how strongly */
	double pending_log_lr;
	double levels[MEMORY]; /* of each night before level_start, at its number modulo MEMORY */
	size_t from,
	        n; /* what is looked at tonight: workspace->y[0 .. n) are the nights from `from` on,
	                   without the pattern */
	struct tk_level_monitor_workspace *workspace; /* of the update that runs */
	/* The step of the night that the noise was fitted on: found before, by the noise before. */
	struct tk_changepoint_candidate young;
	size_t young_n; /* nights then */
};

struct tk_level_monitor_workspace {
	double y[MEMORY], r[MEMORY], work[2 * MEMORY];
	struct tk_likelihood_product so_far[MEMORY]; /* of y[.. i] about the present level */
	double loglik;                               /* of all of them */
	struct tk_filtered_state belief[MEMORY];
};

static inline double tk_level_monitor_level_at(const struct tk_level_monitor *w, size_t night)
{
	return w->levels[night % MEMORY];
}

static inline size_t tk_level_monitor_held_back(size_t nights)
{
	return nights / 3 < HOLD ? nights / 3 : HOLD;
}

/* The noise is to be fitted before night n is added. */
bool tk_level_monitor_is_fit_due(const struct tk_level_monitor *w, size_t n);
void tk_level_monitor_fit(
        const struct tk_level_monitor_night *night, struct tk_level_monitor_workspace *workspace);
/* The step of a young series, without a model of its noise. */
struct tk_changepoint_candidate tk_level_monitor_find_young_step(
        struct tk_level_monitor *w, const struct tk_level_monitor_night *night);

/* ---- young level ---- */

/* Steps in a series that is too young for a model of its noise: two levels in white noise are
 * compared with one level, and with a level that drifts. The variance of the noise is shrunk
 * towards that of the machine's other series (Smyth 2004). */

/* What the other series of a machine tell about the noise of one. */
struct tk_noise_prior {
	double variance; /* of one night, of logarithms */
	double df;       /* nights that it is worth; 0: nothing is known */
};

#define TK_YOUNG_NIGHTS_MAX 60 /* a series with as many nights has a model of its own */
#define TK_YOUNG_BEFORE_MIN 6  /* nights at the old level */
#define TK_YOUNG_AFTER_MIN 4   /* nights at the new level */

/* The best split of y[0 .. n) into two levels that differ by more than min_shift. */
struct tk_changepoint_candidate tk_young_step_find(
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
