/* One point of a hidden Markov chain. Private to stats/. */
#ifndef TK_STATS_CHAIN_H
#define TK_STATS_CHAIN_H
#include <stdbool.h>

#include "stats/states.h"

struct tk_reading {
	double likelihood, emission[TK_STATES_MAX];
	double gain;         /* of the wandering part, over the states */
	double pull, weight; /* derivative of the log-likelihood by the level, and its information */
};

struct tk_belief tk_chain_start(const struct tk_states *m);
/* Moves *b over one point about the level. jumps: after a spike the wandering part may be anywhere, so that it follows
 * a step of level. */
struct tk_reading tk_chain_advance(const struct tk_states *m, struct tk_belief *b, double y, bool jumps);

#endif
