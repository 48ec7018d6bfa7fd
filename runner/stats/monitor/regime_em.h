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

/* How often each state is expected, of which points, and after which one, in r[0 .. n). Returns the
 * log-likelihood. */
double tk_regime_expect(const struct tk_regime_model *m, const double *r, size_t n, double *work,
        struct tk_regime_counts *c);

/* Log-likelihoods of r[0 .. n) under four chains of one normal state about 0 and a spike, each with
 * its own AR(1) drift, which may jump after a spike: the results of tk_regime_filter_update for
 * each with `jumps`. They differ only in the deviations and the drift, which each of them has. */
void tk_regime_drift_logliks(
        const struct tk_regime_model *m, const double *r, size_t n, double *loglik);

#endif
