/* An A/B test: two builds of one series, measured in pairs of fresh processes (ab_pair.h), in
 * random order, until the caller has enough. Every pair is stored at once, so that a test
 * continues where it was stopped; in a session without a history, nothing is stored. Private to
 * nightly/. */
#ifndef TK_AB_TEST_H
#define TK_AB_TEST_H
#include "base/hash.h"
#include "store/store.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TK_AB_FAILURES_MAX 4 /* in a row: the test cannot be measured tonight */
#define TK_AB_PAIRS_MAX 256  /* with timings; after them the test is inconclusive */

struct tk_error;
struct tk_night;
struct tk_night_device;

struct tk_ab_variant {
	int64_t build_id;
	char artifact_key[TK_HASH_HEX_SIZE];
	char *path;          /* of the backend */
	const char *options; /* of the backend; the caller's, as long as the test */
	const char *config;  /* one of the backend's own; likewise; NULL: that of the series */
	uint32_t threads;    /* of a CPU backend; 0: as configured */
};

struct tk_ab_test {
	int64_t night_id; /* that the pairs are stored with */
	struct tk_series_row series;
	struct tk_problem_row problem;
	struct tk_rows series_rows, problem_rows; /* own the strings of the two */
	struct tk_night_device *device;
	struct tk_ab_variant good, bad; /* the old build, the new one */
	struct tk_ab_pair_row *rows; /* all pairs in order, also of earlier tests; without texts */
	size_t count, cap;
	size_t timed;           /* of count: both runs have a timing */
	size_t failed_in_a_row; /* since it was opened */
	double wall_s;          /* of the pairs of this night */
	bool is_sequential;     /* both processes at once fail, one after the other works */
};

static inline bool tk_ab_pair_is_timed(const struct tk_ab_pair_row *pair)
{
	return isfinite(pair->good_median) && isfinite(pair->bad_median);
}

/* How a run was measured, new strings. */
struct tk_job_setup {
	char *options; /* that the backend was opened with; NULL: none */
	char *config;  /* of a series with TK_TUNE_CONFIG; NULL: that of the series */
};

struct tk_ab_test_spec {
	int64_t night_id, series_id, good_build_id, bad_build_id;
	struct tk_job_setup good, bad; /* the caller's, as long as the test */
};

/* Finds both builds in the cache, and the pairs that are stored. TK_ENOTFOUND says what is
 * missing: an artifact, its backend, or the device. Close in any case. */
int tk_ab_test_open(struct tk_night *n, const struct tk_ab_test_spec *spec, struct tk_ab_test *t,
        struct tk_error *err);
/* Measures and stores one more pair. One without two timings counts as failed; that is no error. */
int tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err);
void tk_ab_test_close(struct tk_ab_test *t);

/* The options are "" if the run has no job (imported). Free in any case. */
int tk_job_setup_load(struct tk_night *n, int64_t series_id, int64_t run_id,
        struct tk_job_setup *out, struct tk_error *err);
void tk_job_setup_free(struct tk_job_setup *s);

#endif
