/* The state of one bisection. Private to nightly/bisect/. */
#ifndef TK_BISECTION_H
#define TK_BISECTION_H
#include "nightly/bisect/bisect.h"
#include "nightly/compare/ab_test.h"
#include "nightly/session.h"

enum tk_bisect_side { TK_SIDE_UNKNOWN, TK_SIDE_GOOD, TK_SIDE_BAD, TK_SIDE_SKIPPED };

struct tk_bisect_candidate {
	struct tk_revision revision;
	enum tk_bisect_side side;
	struct tk_revision_build build; /* build_id 0: not requested yet */
};

struct tk_bisection {
	struct tk_night *n;
	const struct tk_upstream_config *upstream;
	struct tk_bisect_report *report;
	struct tk_detect_options thresholds;
	struct tk_bisect_candidate *candidates; /* [0] is good, [last] is bad */
	size_t last;
	int64_t series_id, night_id, started_ns;
	int64_t run_id; /* newest of the series: all builds are measured as it was */
	char *backend;
	const char *hint;
	double budget_s;
	double level; /* half of the change between good and bad, as a ratio - 1 */
};

bool tk_bisection_is_budget_spent(const struct tk_bisection *b);

/* Finds the series and its upstream, good and bad. */
int tk_bisection_find_ends(
        struct tk_bisection *b, const struct tk_bisect_request *q, struct tk_error *err);
/* Lists the first parents from good to bad as candidates. */
int tk_bisection_list_range(struct tk_bisection *b, struct tk_error *err);

/* A build that fails is no error: the candidate is skipped, and the failed build is stored. */
int tk_bisection_build(struct tk_bisection *b, size_t candidate, struct tk_error *err);
/* A/B runs of two candidates until they differ, or do not; with a level, until the second is on
 * one side of it. */
int tk_bisection_compare(struct tk_bisection *b, size_t old, size_t new, const double *level,
        size_t pairs_max, struct tk_ab_result *out, struct tk_error *err);
/* Decides the side of a candidate, by its machine code or by A/B runs. It stays unknown if the
 * budget ends. */
int tk_bisection_classify(struct tk_bisection *b, size_t candidate, struct tk_error *err);

#endif
