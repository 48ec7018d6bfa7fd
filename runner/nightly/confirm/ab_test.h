/* Two builds of one series, measured in pairs of fresh processes (pair.h), in drawn order, as often
 * as it takes. Every pair is stored when it is there, so that a trial goes on where it was stopped.
 * Private to nightly/. */
#ifndef TK_AB_TEST_H
#define TK_AB_TEST_H
#include "store/store.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TK_AB_FAILURES_MAX 4 /* in a row: this cannot be measured tonight */
#define TK_AB_PAIRS_MAX 256  /* timed ones, after which it stays open */

struct tk_error;
struct tk_night;
struct tk_night_device;

struct tk_ab_variant {
	int64_t build_id;
	char *path;          /* of the backend */
	const char *options; /* what it is opened with; lives as long as the trial */
};

struct tk_ab_test {
	int64_t night_id; /* whose verdict is meant */
	struct tk_series_row series;
	struct tk_problem_row problem;
	struct tk_rows series_rows, problem_rows;
	struct tk_night_device *device;
	struct tk_ab_variant good, bad; /* the old build, the new one */
	struct tk_ab_pair_row *rows; /* the pairs that there are, in their order; without texts */
	size_t count, cap, timed;    /* timed: of count; the others have no two timings */
	size_t failed_in_a_row;      /* since it was opened: another day it may go */
	double wall_s;               /* of those of this night */
	bool apart; /* what fails with two processes at once goes with one after the other */
};

/* Both of its processes have a timing. */
static inline bool tk_ab_pair_is_timed(const struct tk_ab_pair_row *pair)
{
	return isfinite(pair->good_median) && isfinite(pair->bad_median);
}

/* What is tried: builds by id, and what each was opened with (NULL: nothing). */
struct tk_ab_test_spec {
	int64_t night_id, series_id, good_build_id, bad_build_id;
	const char *good_options, *bad_options;
};

/* Finds the artifacts in the cache and what was measured before. TK_ENOTFOUND says what is missing:
 * an artifact, the backend in it, the device. Free with tk_ab_test_close in any case. */
int tk_ab_test_open(struct tk_night *n, const struct tk_ab_test_spec *spec, struct tk_ab_test *t,
        struct tk_error *err);
/* One more pair. One that has no two timings is a pair too (failed_in_a_row). */
int tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err);
void tk_ab_test_close(struct tk_ab_test *t);

/* The options of the job that made a run, new string; "" where there is none (an import). */
int tk_night_job_options(
        struct tk_night *n, int64_t series_id, int64_t run_id, char **out, struct tk_error *err);

#endif
