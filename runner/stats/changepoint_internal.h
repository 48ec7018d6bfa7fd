/* Candidate change points, and the piecewise constant fit of least cost. Private to stats/. */
#ifndef TK_STATS_CHANGEPOINT_INTERNAL_H
#define TK_STATS_CHANGEPOINT_INTERNAL_H
#include <stdbool.h>
#include <stddef.h>

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

/* ---- ar1 ---- */

/* AR(1) noise under white noise, and the estimate of a step of level in it.
 *
 * In autocorrelated noise a mean over many points is worth little and a jump between two neighbours
 * is worth much. Generalised least squares, computed by a Kalman filter, weighs both (Willsky and
 * Jones 1976; the noise model of Romano et al. 2022). */

struct tk_ar1_model {
	double phi; /* autocorrelation of the wandering part from one point to the next; 0: there is
	               none */
	double drift_sd; /* standard deviation of the AR(1) part */
	double white;    /* standard deviation of the white part */
};

/* The filter's gains and its answers to a level and to a step, for all lengths. */
struct tk_ar1_table {
	struct tk_ar1_model model;
	double *gain, *share, *plain, *fading, *square; /* n + 1 of each: of the first points */
	double *power, *step;                           /* of the last ones */
	double s, theta, c; /* variance of an innovation, and the answer to a step, once the gain
	                       has settled */
	void *memory;
};

struct tk_ar1_step {
	double shift, error, z;
};

/* From robust scales of the differences at lags 1 to 28 (a variogram). r: residuals about the
 * levels, in the order of time. */
void tk_ar1_fit(const double *r, size_t n, struct tk_ar1_model *out);
/* Whether the model is worth using: the series remembers, and its innovations have the tails of a
 * normal distribution (two clock states do not). */
bool tk_ar1_check_fit(const struct tk_ar1_model *m, const double *r, size_t n);
/* The step at y[split] of y[0 .. n); 0 < split < n. */
void tk_ar1_step(const struct tk_ar1_model *m, const double *y, size_t n, size_t split,
        struct tk_ar1_step *out);
/* Computes what does not depend on the values, for up to n points. */
void tk_ar1_table_init(const struct tk_ar1_model *m, size_t n, struct tk_ar1_table *t);
void tk_ar1_table_free(struct tk_ar1_table *t);
/* The split of y[0 .. n) with the largest |z|, at least `least` points on both sides; 0 if there is
 * none. work: n values. */
size_t tk_ar1_scan_steps(const struct tk_ar1_table *t, const double *y, size_t n, size_t least,
        double *work, double *z);

/* ---- locate ---- */

/* The exact night of a step that spikes have blurred. Private to stats/. */

/* y: values with their spikes; sum: prefix sums of (the same winsorized, less y[0]), from which the
 * bounds (see partition.h) were computed. A spike between two levels makes the seven nights around
 * a good one mostly bad, and so winsorizing pulls the good one to the bad level. Next to winsorized
 * nights, the step is shifted by a few nights to where the nights fit the level of their side best.
 * A night counts for a level if it is within half a step, or `outlier` tau, of it; a night that is
 * further from both counts for neither, and a step comes after it. */
void tk_changepoint_locate(const double *y, const double *sum, double tau, double outlier,
        size_t *bounds, size_t segments);

/* ---- recurrent state ---- */

/* A level that is visited again and again for a few nights is a state, not a change. Private to
 * stats/. */

/* sum: of the logarithms before each night, without spikes. bounds[0 .. *segments]: 0 first, n
 * last. If segments of up to three weeks, after which the level returns, have the same direction
 * and size twice, all such segments are removed. work: *segments values. */
void tk_recurrent_state_remove(const double *sum, size_t *bounds, size_t *segments, double *work);

/* ---- refine ---- */

/* A second search for changes in segments with autocorrelated noise. Private to stats/. */

/* y: logarithms; r: their residuals about the levels of the segments, used as scratch. bounds[0 ..
 * *segments] are the segments' ends, 0 first, n last, with room for n + 1. Changed only where r is
 * AR(1) under white noise (*holds): then changes are added, moved and dropped by generalised least
 * squares, and segments of spikes side by side are dropped. */
void tk_changepoint_refine(const double *y, double *r, size_t n, double min_effect, size_t *bounds,
        size_t *segments, bool *holds);

/* ---- season ---- */

/* Patterns of any period: moves from night to night that repeat those of a period before. Removed
 * only where the pattern is beyond doubt. Private to stats/. */

/* Removes the pattern of the one period that y[0 .. n) certainly has: *period points, 0 if there is
 * none. */
void tk_season_remove(double *y, size_t n, size_t *period);

/* ---- trend ---- */

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
