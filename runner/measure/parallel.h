/* Plain loops on several cores: inputs and checks of large problems take longer than their timing
 * otherwise. Private to measure/. Nothing of this runs while something is timed. */
#ifndef TK_MEASURE_PARALLEL_H
#define TK_MEASURE_PARALLEL_H
#include <stdint.h>

/* Calls fn(arg, first, count) on parts of [0, n), none smaller than `grain`, from several threads;
 * returns when all are done. The parts must be independent of each other. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg);

#endif
