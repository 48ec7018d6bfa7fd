/* State of the monitor of one series. Private to level_monitor.c and level_noise.c. */
#ifndef TK_STATS_LEVEL_MONITOR_INTERNAL_H
#define TK_STATS_LEVEL_MONITOR_INTERNAL_H
#include "stats/monitor/level_monitor.h"
#include "stats/monitor/regime_model.h"

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
	double level, old_level, information;
	size_t informed;    /* nights that `information` about the level comes from */
	size_t settled;     /* no split up to this one is tried any more */
	double last_log_lr; /* of the night before */
	size_t pending;     /* the split that was suspected, and how strongly */
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
int tk_level_monitor_fit(
        const struct tk_level_monitor_night *night, struct tk_level_monitor_workspace *workspace);
/* The step of a young series, without a model of its noise. */
struct tk_changepoint_candidate tk_level_monitor_find_young_step(
        struct tk_level_monitor *w, const struct tk_level_monitor_night *night);

#endif
