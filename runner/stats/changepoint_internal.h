/* The piecewise constant fit of least cost, and what is no change. Private to stats/. */
#ifndef TK_STATS_CHANGEPOINT_INTERNAL_H
#define TK_STATS_CHANGEPOINT_INTERNAL_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* bounds[0 .. *segments]: the segments' ends, 0 first, n last. Removes `gone` of them from `at`. */
static inline void tk_bounds_remove(size_t *bounds, size_t *segments, size_t at, size_t gone)
{
	memmove(bounds + at, bounds + at + gone, (*segments + 1 - at - gone) * sizeof *bounds);
	*segments -= gone;
}

/* Scratch for n points: n + 1 of each. */
struct tk_partition_workspace {
	bool *may_start;
	size_t *start, *from, *open; /* candidates, where the segment before each starts, those that
	                                are still in it */
	double *contrast, *at, *sum, *before, *cost;
};

/* sum: n + 1 prefix sums, the first is 0. Least squares with a `penalty` for each change, and
 * changes only where the means of neighbouring points, of a few or of many, differ by
 * `min_contrast` standard errors at noise tau, and by more than one point earlier or later. bounds
 * gets the starts of the segments in ascending order, 0 first, and n after them; returns the number
 * of segments. */
size_t tk_partition_fit(struct tk_partition_workspace *w, const double *sum, size_t n, double tau,
        double min_contrast, double penalty, size_t *bounds);

/* A level that is visited again and again for a few nights is a state, not a change. sum: of the
 * logarithms before each night, without spikes. If segments of up to three weeks, after which the
 * level returns, have the same direction and size twice, all such segments are removed.
 * work: *segments values. */
void tk_recurrent_state_remove(const double *sum, size_t *bounds, size_t *segments, double *work);

/* ar1.c: a second search for changes. y: logarithms; r: their residuals about the levels of the
 * segments, used as scratch. bounds has room for n + 1; changed only where r is AR(1) under white
 * noise (*holds): then changes are added, moved and dropped by generalised least squares, and
 * segments of spikes side by side are dropped. */
void tk_changepoint_refine(const double *y, double *r, size_t n, double min_effect, size_t *bounds,
        size_t *segments, bool *holds);

/* ar1.c: -2 log-likelihood of residuals r[0 .. n) as AR(1) under white noise, with Schwarz's price
 * of its parameters: which of two sets of levels leaves likelier noise. Less is better. */
double tk_changepoint_score(const double *r, size_t n);

/* Removes the pattern of the one period that y[0 .. n) has beyond doubt, if there is one: moves
 * from night to night that repeat those of a period before. */
void tk_season_remove(double *y, size_t n);

/* Series without constant levels: they rise or fall most of the time, or drift.
 *
 * Segments that all have a level, or all a straight line, in AR(1) noise (up to a random walk) are
 * fitted by optimal partitioning (Jackson et al. 2005) of the night-to-night innovations. The
 * autocorrelation, and whether lines are used, is chosen by Schwarz's criterion with a higher
 * penalty. */

/* y[0 .. n) with its levels bounds[0 .. segments), bounds[segments] = n. If a few lines reduce the
 * sum of squares to a third of that of the levels, bounds (room for n + 1) and *segments become
 * those of the best such fit, and *tau its long-run noise; else they are unchanged. */
void tk_trend_fit(const double *y, size_t n, size_t *bounds, size_t *segments, double *tau);

#endif
