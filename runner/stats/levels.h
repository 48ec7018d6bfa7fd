/* Where the level of a series changes: over a whole series in hindsight, and night by night with
 * what is known that night. */
#ifndef TK_STATS_LEVELS_H
#define TK_STATS_LEVELS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- offline: a whole series in hindsight ---- */

/* Change points of a whole series in hindsight: where its level changed, and by how much.
 *
 * 1. Values become logarithms; spikes are winsorized; weekly and other periodic patterns are
 *    removed (noise.c, partition.c).
 * 2. Piecewise constant levels are fitted by optimal partitioning, at nights where neighbouring
 *    means differ (partition.c). Loss and penalty are in units of the long-run noise of the series
 *    (summary.h), so that neither a loud nor an autocorrelated series has more changes. Steps are
 *    removed from the noise estimate, and the fit is repeated.
 * 3. Changes that the biweight loss (Fearnhead and Rigaill 2019) does not support are dropped, and
 *    so are steps below `min_effect` or within the error of their segments, weakest first.
 * 4. In autocorrelated noise changes are searched again with that model (ar1.c). A series that
 *    has trends or drifts instead of levels is cut where these change. Repeated visits of one level
 *    are a state, not changes (partition.c).
 * 5. The night of a step beside a spike is located at the end (changepoint.c). */

#define TK_CHANGEPOINT_MIN_EFFECT 0.005 /* relative, where the user asks for none */

struct tk_changepoint {
	size_t index;          /* the first point that shows the new level */
	double before, after;  /* medians of the segments */
	double change, lo, hi; /* after / before - 1 (Hodges-Lehmann on logarithms) and its
	                          interval, widened by the autocorrelation */
	double p;              /* of no change here */
};

/* day: the number of the day of each, so that a weekly pattern is not reported as a change if
 * nights are missing; NULL: unknown. x: positive values in the order of time; others (a missing
 * night, NaN, 0) are skipped, but indices count them. Smaller changes than min_effect are none. The
 * caller frees *out (NULL: no change points). */
void tk_changepoint_find(const double *x, const int64_t *day, size_t n, double min_effect,
        struct tk_changepoint **out, size_t *count);

/* ---- online: night by night ---- */

/* The monitor of one series: has its level changed, given all nights up to this one?
 *
 * Before a series has a model of its noise, and until it is TK_YOUNG_NIGHTS_MAX nights old, two
 * levels are compared with one (level_noise.c).
 *
 * The noise model (regime_model.h) is learnt from the series' residuals about its earlier levels,
 * after a weekly pattern is removed. Each night the log-likelihood of "a new level since night s"
 * is compared with that of "the old level", for splits 3 to about 50 nights back, at the best new
 * level, less the uncertainty of the old level and of the fitted model. The caller decides which
 * candidate is a change. */

struct tk_serializer;
struct tk_noise_prior;
struct tk_level_monitor;
struct tk_level_monitor_workspace; /* memory of an update: one for each thread */

struct tk_changepoint_candidate {
	size_t split;         /* of y: the first night at the new level */
	double before, after; /* levels, logarithms */
	double log_lr;        /* log-likelihood ratio; 0: no candidate */
	double newest;        /* level of the last week, if it has left `before`; NAN */
};

#define TK_MONITOR_LOG_LR_MIN 10.0   /* that makes a change */
#define TK_MONITOR_WINDOW_NIGHTS 200 /* nights that are looked at */
#define TK_MONITOR_NIGHTS_MIN 20     /* nights that a model of the noise needs */

/* min_effect: relative. free() it. */
struct tk_level_monitor *tk_level_monitor_new(double min_effect);
/* One night of one series. y[0 .. n): logarithms of all nights so far, day: their numbers; of more
 * than TK_MONITOR_WINDOW_NIGHTS only the last so many are looked at. prior: the noise of other
 * series. */
struct tk_level_monitor_night {
	struct tk_level_monitor *monitor;
	const double *y;
	const int64_t *day;
	size_t n;
	const struct tk_noise_prior *prior;
	bool may_drift; /* find `newest` */
};
/* To be called once a night; fits the noise where that is due. Monitors of different series
 * from several threads at once. */
void tk_level_monitor_update(const struct tk_level_monitor_night *night,
        struct tk_level_monitor_workspace *workspace, struct tk_changepoint_candidate *out);
/* Accepts the last candidate. False: it is not a new level, but the end of an excursion of at most
 * two weeks from the level before, which continues; the nights between count as its noise. *nights:
 * length of the excursion. */
bool tk_level_monitor_accept(
        struct tk_level_monitor *w, const struct tk_changepoint_candidate *s, size_t *nights);
/* p-value of a log-likelihood ratio on one night, corrected for the splits that were tried. */
double tk_level_monitor_p_value(double log_lr);

/* Writes or reads the state after n nights, so that another process can continue with night n + 1.
 * 0 or TK_EDATA: the numbers are not such a state; free a monitor whose state
 * could not be read. */
int tk_level_monitor_serialize(struct tk_level_monitor *w, size_t n, struct tk_serializer *io);

#endif
