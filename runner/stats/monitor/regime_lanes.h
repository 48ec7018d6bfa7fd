/* The expectation step for several series at once, each in a lane of its own. Private to stats/.
 *
 * The recursions over one series are a chain in which each step waits for the one before; those of
 * several series do not wait for each other. Each lane has the results of tk_regime_smooth() and
 * tk_regime_count() bit for bit: the same operations in the same order. */
#ifndef TK_STATS_REGIME_LANES_H
#define TK_STATS_REGIME_LANES_H
#include "stats/monitor/regime_em.h"

#define TK_REGIME_LANES 8

struct tk_regime_lanes; /* series of the same length, models with the same number of states */

/* NULL: out of memory. */
struct tk_regime_lanes *tk_regime_lanes_new(size_t n);
void tk_regime_lanes_free(struct tk_regime_lanes *w);
void tk_regime_lanes_set_points(struct tk_regime_lanes *w, size_t lane, const double *r);
void tk_regime_lanes_set_model(
        struct tk_regime_lanes *w, size_t lane, const struct tk_regime_model *m);
/* All lanes have points and a model of `states` states. */
void tk_regime_lanes_smooth(
        struct tk_regime_lanes *w, size_t states, double loglik[TK_REGIME_LANES]);
/* After tk_regime_lanes_smooth(). */
void tk_regime_lanes_count(
        struct tk_regime_lanes *w, size_t states, struct tk_regime_counts c[TK_REGIME_LANES]);

#endif
