/* One point of a hidden Markov chain. Private to stats/. */
#ifndef TK_STATS_CHAIN_H
#define TK_STATS_CHAIN_H
#include <math.h>
#include <stdbool.h>

#include "stats/monitor/states.h"

struct tk_reading {
	double likelihood;
	double gain;         /* of the wandering part, over the states */
	double pull, weight; /* derivative of the log-likelihood by the level, and its information */
};

struct tk_belief tk_chain_start(const struct tk_states *m);
/* Moves *b over one point about the level. jumps: after a spike the wandering part may be anywhere, so that it follows
 * a step of level. */
struct tk_reading tk_chain_advance(const struct tk_states *m, struct tk_belief *b, double y, bool jumps);

/* Logarithms are dear: of products, then. Starts with {0, 1}. */
struct tk_product {
	double sum, factors;
};
#define TK_TINY 1e-300

static inline void tk_multiply(struct tk_product *p, double likelihood)
{
	p->factors *= likelihood;
	if (p->factors < 1e-100 || p->factors > 1e100) {
		p->sum += log(fmax(p->factors, TK_TINY));
		p->factors = 1;
	}
}

static inline double tk_logarithm(const struct tk_product *p)
{
	return p->sum + log(p->factors);
}

#endif
