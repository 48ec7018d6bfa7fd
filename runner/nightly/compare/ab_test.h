/* An A/B test: two builds of one series, measured in pairs of fresh processes, in random order,
 * until the pairs decide. Every pair is stored at once, so that a test continues where it was
 * stopped; in a session without a history, nothing is stored. Private to nightly/. */
#ifndef TK_AB_TEST_H
#define TK_AB_TEST_H
#include "base/base.h"
#include "core/vocabulary.h"
#include "decide/decide.h"
#include "store/store.h"
#include <math.h>

#define TK_AB_FAILURES_MAX 4 /* in a row: the test cannot be measured tonight */
#define TK_AB_PAIRS_MAX 256  /* with timings; after them the test is inconclusive */
#define TK_AB_STARTED_MAX 4

struct tk_ab_pair;
struct tk_ab_result;
struct tk_job_request;
struct tk_night;
struct tk_night_device;
struct tk_worker;

/* What is measured as base or head. Strings are owned. */
struct tk_ab_side {
	int64_t build_id;
	char artifact_key[TK_HASH_HEX_SIZE];
	char *path;       /* of the backend */
	char *options;    /* that the backend is opened with */
	char *config;     /* one of the backend's own; NULL: that of the series */
	uint32_t threads; /* of a CPU backend; 0: as configured */
};

struct tk_ab_test {
	int64_t night_id; /* that the pairs are stored with */
	struct tk_series_row series;
	struct tk_problem_row problem;
	struct tk_night_device *device;
	struct tk_ab_side side[TK_AB_SIDES];
	struct tk_detect_options thresholds; /* of its device and mode */
	struct tk_ab_pair_row *rows; /* all pairs in order, also of earlier tests; without texts */
	size_t count;
	size_t timed;           /* of count: both runs have a timing */
	size_t failed_in_a_row; /* since it was opened */
	double wall_s;          /* of the pairs of this night */
	bool is_sequential;     /* both processes at once fail, one after the other works */
	/* pairs whose processes have been started, the next one first; and what is
	 * left of the pair before */
	struct tk_ab_pair *started[TK_AB_STARTED_MAX], *ending;
	size_t started_count;
};

static inline bool tk_ab_pair_is_timed(const struct tk_ab_pair_row *pair)
{
	return isfinite(pair->base_median) && isfinite(pair->head_median);
}

/* A stored build, and a run whose options and configuration its side uses; 0: none. */
struct tk_ab_build {
	int64_t build_id, run_id;
};

/* Finds both builds in the cache, and the pairs that are stored. TK_ENOTFOUND says what is
 * missing: an artifact, its backend, or the device. Close in any case. */
int tk_ab_test_open(struct tk_night *n, int64_t night_id, int64_t series_id,
        const struct tk_ab_build builds[TK_AB_SIDES], struct tk_ab_test *t, struct tk_error *err);
/* Measures and stores one more pair. One without two timings counts as failed; that is no error. */
int tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err);

struct tk_ab_goal {
	/* on which side of it (head / base - 1) is head? NULL: do they differ at all? */
	const double *level;
	size_t pairs_max;    /* with timings */
	int64_t deadline_ns; /* of the monotonic clock; 0: none */
};
/* Measures pairs until they decide, or until one of the limits. */
int tk_ab_test_run(struct tk_night *n, struct tk_ab_test *t, const struct tk_ab_goal *goal,
        struct tk_ab_result *out, struct tk_error *err);
void tk_ab_test_close(struct tk_ab_test *t);

/* How a side is measured on the device of its test, without verification. */
struct tk_job_request tk_ab_test_make_request(
        struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side);

/* Ends all processes that were started. */
void tk_ab_pair_end_processes(struct tk_ab_test *t);

#endif
