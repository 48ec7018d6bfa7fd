/* A level that is visited again and again for a few nights is a state, not a change. Private to
 * stats/. */
#ifndef TK_STATS_RECURRENT_STATE_H
#define TK_STATS_RECURRENT_STATE_H
#include <stddef.h>

/* sum: of the logarithms before each night, without spikes. bounds[0 .. *segments]: 0 first, n
 * last. If segments of up to three weeks, after which the level returns, have the same direction
 * and size twice, all such segments are removed. work: *segments values. */
void tk_recurrent_state_remove(const double *sum, size_t *bounds, size_t *segments, double *work);

#endif
