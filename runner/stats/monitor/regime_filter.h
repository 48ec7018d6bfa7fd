/* One step of the filter of a regime model. Private to stats/. */
#ifndef TK_STATS_REGIME_FILTER_H
#define TK_STATS_REGIME_FILTER_H
#include <math.h>
#include <stdbool.h>

#include "stats/monitor/regime_model.h"

struct tk_regime_update {
	double likelihood;
	double gain; /* of the wandering part, over the states */
	double pull,
	        weight; /* derivative of the log-likelihood by the level, and its information */
};

struct tk_filtered_state tk_regime_filter_init(const struct tk_regime_model *m);
/* Moves *b over one point about the level. jumps: after a spike the AR(1) drift may have any value,
 * so that it follows a step of level. */
struct tk_regime_update tk_regime_filter_update(
        const struct tk_regime_model *m, struct tk_filtered_state *b, double y, bool jumps);

#define TK_LIKELIHOOD_MIN 1e-300

static inline void tk_likelihood_multiply(struct tk_likelihood_product *p, double likelihood)
{
	p->factors *= likelihood;
	if (p->factors < 1e-100 || p->factors > 1e100) {
		p->sum += log(fmax(p->factors, TK_LIKELIHOOD_MIN));
		p->factors = 1;
	}
}

#endif
