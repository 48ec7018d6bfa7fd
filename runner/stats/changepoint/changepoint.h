/* Change points of a whole series, seen afterwards: where its level moved for good, and by how
 * much.
 *
 * On logarithms whose spikes are pulled in, piecewise constant levels are fitted by optimal
 * partitioning over the nights at which neighbouring means differ. What a biweight loss (Fearnhead
 * and Rigaill 2019), in which a spike costs a bounded amount, does not bear out is taken back. Loss
 * and penalty are in units of the series' own long-run noise (stats/noise.h), so that neither
 * loudness nor autocorrelation makes changes; steps that were found are taken out of the noise and
 * the fit is made again. Steps that are smaller than `min_effect`, or that the segments beside them
 * do not bear out, are taken back, weakest first. Where the noise remembers, changes are looked for
 * again with that model (stats/serial.h); a series that has no levels but trends, or wanders, is
 * cut where these change (stats/trend.h). A pattern that comes again after a number of nights is
 * taken out first (stats/season.h), and a level that is visited again and again is a state
 * (stats/visits.h). The night of a step beside a spike is sought at the end (stats/locate.h). */
#ifndef TK_STATS_CHANGEPOINT_H
#define TK_STATS_CHANGEPOINT_H
#include <stddef.h>
#include <stdint.h>

struct tk_changepoint_options {
	double min_effect; /* relative: 0.005 = 0.5 % */
	double penalty;    /* of a change, in units of 2 * tau^2 * ln(n) */
	double outlier;    /* residuals beyond so many tau cost no more */
	double z;          /* a change must be so many standard errors large */
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

/* day: the number of the day of each, so that a weekly pattern is no change where nights are
 * missing; NULL: unknown. x: positive values in the order of time; others (a missing night, NaN, 0)
 * are passed over, an index still counts them. options NULL: the defaults. *out (NULL where there
 * is none) is the caller's to free. 0 or TK_ENOMEM. */
int tk_changepoint_find(const double *x, const int64_t *day, size_t n,
        const struct tk_changepoint_options *options, struct tk_changepoint **out, size_t *count);

#endif
