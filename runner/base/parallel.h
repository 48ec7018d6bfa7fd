/* A parallel loop for work that is independent: filling inputs and verifying outputs, judging
 * thousands of series. Never runs while something is timed. */
#ifndef TK_BASE_PARALLEL_H
#define TK_BASE_PARALLEL_H
#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"

/* Calls fn(arg, first, count) on parts of [0, n), each of at least `grain` iterations, from one
 * thread per core that this process may use (at most 32); returns when all are done. Threads take
 * the next part when they have finished one, so that parts may take different times. The parts must
 * be independent of each other: which thread takes one, and when, is not defined. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg);

/* Of the parts of one loop, how the first that failed has failed; {0} before the loop. */
struct tk_parallel_failure {
	_Atomic int status;
	struct tk_error error;
};
/* By a part. status TK_OK: does nothing. */
void tk_parallel_set_failure(
        struct tk_parallel_failure *f, int status, const struct tk_error *error);
/* After the loop. TK_OK: no part has failed. */
int tk_parallel_get_failure(const struct tk_parallel_failure *f, struct tk_error *err);

/* Threads that wait for loops instead of being started for each of them. */
struct tk_kept_threads {
	void *at;
};
/* Until tk_parallel_end_threads(), the loops of the calling thread run in threads that are started
 * now: for thousands of short loops. Within them and in other threads, loops start their own. A
 * second call before the end changes nothing. Not across a fork. */
void tk_parallel_keep_threads(struct tk_kept_threads *out);
void tk_parallel_end_threads(struct tk_kept_threads *threads);

#endif
