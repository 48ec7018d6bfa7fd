/* Simulated times: a pure function of (options, problem, config, number of the launch).
 *
 *   t = base * slow * (1 + drift)^revision * (revision >= R ? F : 1) * config * e^(noise z)
 *       * outlier
 *
 *   base     2 us + max(flops / 1 TFLOP/s, bytes / 100 GB/s), times a factor in [0.75, 1.25) from
 *            (seed, problem)
 *   z        standard normal, from (seed, problem, revision, run, launch)
 *   outlier  1, or a factor in [1, 4) for the share `outliers` of the launches
 *   config   default 1, fast 0.9, slow 1.2 */
#ifndef TK_NULL_TIME_H
#define TK_NULL_TIME_H
#include "null_options.h"

/* What all launches of a plan share. */
struct null_times {
	uint64_t run; /* of (seed, problem, revision, run) */
	double typical_ns;
};

struct null_times null_times_make(
        const struct null_options *o, const struct tk_problem *p, double config);
double null_time_ns(const struct null_options *o, const struct null_times *t, uint64_t launch);
/* Multiply-adds of a problem (0 for copies), and the bytes that it has to move. */
double null_problem_work(const struct tk_problem *p, double *bytes);

#endif
