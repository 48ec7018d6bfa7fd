/* Change points of a whole series in hindsight: where its level changed, and by how much.
 *
 * 1. Values become logarithms; spikes are winsorized; weekly and other periodic patterns are
 *    removed (weekday.h, season.h).
 * 2. Piecewise constant levels are fitted by optimal partitioning, at nights where neighbouring
 *    means differ (partition.h). Loss and penalty are in units of the long-run noise of the series
 *    (noise.h), so that neither a loud nor an autocorrelated series has more changes. Steps are
 *    removed from the noise estimate, and the fit is repeated.
 * 3. Changes that the biweight loss (Fearnhead and Rigaill 2019) does not support are dropped, and
 *    so are steps below `min_effect` or within the error of their segments, weakest first.
 * 4. In autocorrelated noise changes are searched again with that model (refine.h). A series that
 *    has trends or drifts instead of levels is cut where these change (trend.h). Repeated visits of
 *    one level are a state, not changes (recurrent_state.h).
 * 5. The night of a step beside a spike is located at the end (locate.h). */
#ifndef TK_STATS_CHANGEPOINT_H
#define TK_STATS_CHANGEPOINT_H
#include <stddef.h>
#include <stdint.h>

struct tk_changepoint_options {
	double min_effect; /* relative: 0.005 = 0.5 % */
	double penalty;    /* of a change, in units of 2 * tau^2 * ln(n) */
	double outlier;    /* residuals beyond so many tau cost no more */
	double z;          /* minimum size of a change in standard errors */
	double confidence; /* of the interval of its size */
};
extern const struct tk_changepoint_options tk_changepoint_defaults;

struct tk_changepoint {
	size_t index;          /* the first point that shows the new level */
	double before, after;  /* medians of the segments */
	double change, lo, hi; /* after / before - 1 (Hodges-Lehmann on logarithms) and its
	                          interval, widened by the autocorrelation */
	double p;              /* of no change here */
};

/* day: the number of the day of each, so that a weekly pattern is not reported as a change if
 * nights are missing; NULL: unknown. x: positive values in the order of time; others (a missing
 * night, NaN, 0) are skipped, but indices count them. options NULL: the defaults. The caller frees
 * *out (NULL: no change points). 0 or TK_ENOMEM. */
int tk_changepoint_find(const double *x, const int64_t *day, size_t n,
        const struct tk_changepoint_options *options, struct tk_changepoint **out, size_t *count);

#endif
