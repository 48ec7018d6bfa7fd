/* A parallel loop for filling inputs and verifying outputs: on one core these would take longer
 * than the timing of a large problem. Private to measure/. Never runs while something is timed. */
#ifndef TK_MEASURE_PARALLEL_H
#define TK_MEASURE_PARALLEL_H
#include <stdint.h>

/* Calls fn(arg, first, count) on parts of [0, n), each of at least `grain` iterations, from several
 * threads; returns when all are done. The parts must be independent of each other. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg);

#endif
