/* One round of expectation maximisation over a chain without a wandering part. Private to stats/: nearly all of what it
 * costs to learn a series' noise is spent here. */
#ifndef TK_STATS_EXPECT_H
#define TK_STATS_EXPECT_H
#include "stats/monitor/states.h"

struct tk_counts {
	double state[TK_STATES_MAX], sum[TK_STATES_MAX], square[TK_STATES_MAX], to[TK_STATES_MAX][TK_STATES_MAX];
};

#define TK_EXPECT_STRIDE(n) (((n) + 8) / 4 * 4)
#define TK_EXPECT_WORK(n) ((3 * TK_STATES_MAX + 3) * TK_EXPECT_STRIDE(n)) /* doubles that it works in */

/* How often each state is expected, of which points, and after which one, in r[0 .. n). Returns the log-likelihood. */
double tk_expect(const struct tk_states *m, const double *r, size_t n, double *work, struct tk_counts *c);

/* Log-likelihoods of r[0 .. n) under four chains of one normal state about 0 and a spike, with wandering parts of their
 * own that may be anywhere after a spike: what tk_chain_advance says of each with `jumps`. They differ in nothing but
 * deviations and the wandering part, which each of them has. */
void tk_wander_logliks(const struct tk_states *m, const double *r, size_t n, double *loglik);

#endif
