/* The expectation step for a regime model without drift. Private to stats/: nearly all of the time
 * of learning a series' noise is spent here. */
#ifndef TK_STATS_REGIME_EM_H
#define TK_STATS_REGIME_EM_H
#include "stats/monitor/regime_model.h"

struct tk_regime_counts {
	double state[TK_REGIME_STATES_MAX], sum[TK_REGIME_STATES_MAX], square[TK_REGIME_STATES_MAX],
	        to[TK_REGIME_STATES_MAX][TK_REGIME_STATES_MAX];
};

#define TK_REGIME_STRIDE(n) (((n) + 8) / 4 * 4)
#define TK_REGIME_WORK_COUNT(n) \
	((3 * TK_REGIME_STATES_MAX + 3) * TK_REGIME_STRIDE(n)) /* doubles that it works in */

/* Every point in the light of those before and after it, kept in `work`. Returns the log-likelihood
 * of r[0 .. n). */
double tk_regime_smooth(const struct tk_regime_model *m, const double *r, size_t n, double *work);
/* After tk_regime_smooth() with the same `work`: how often each state is expected, of which points,
 * and after which one. */
void tk_regime_count(
        const struct tk_regime_model *m, size_t n, double *work, struct tk_regime_counts *c);

#define TK_REGIME_GROUPS_MAX 5

/* Log-likelihoods of r[0 .. n) under groups of four chains of one normal state about 0 and a spike,
 * each with its own AR(1) drift, which may jump after a spike: the results of
 * tk_regime_filter_update for each with `jumps`. The chains of a group differ only in the
 * deviations and the drift, which each of them has. A step of one group waits for its step before:
 * several groups take hardly longer than one. */
void tk_regime_drift_logliks(
        const struct tk_regime_model *m, size_t groups, const double *r, size_t n, double *loglik);

#endif
