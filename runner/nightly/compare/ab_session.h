/* What `tracker ab` and `tracker tune` share: two sides and their problems. Private to nightly/. */
#ifndef TK_AB_SESSION_H
#define TK_AB_SESSION_H
#include "decide/decide.h"
#include "nightly/compare/ab_source.h"
#include "nightly/compare/ab_test.h"
#include "nightly/session.h"

/* One problem on one backend and device. */
struct tk_ab_problem {
	struct tk_ab_row row;
	struct tk_ab_test test;
	bool is_checked; /* both sides have computed the result once, verified */
	bool is_decided; /* nothing more is measured */
};

struct tk_ab_session {
	struct tk_session session;
	struct tk_night *n;
	const struct tk_ab_request *request;
	struct tk_ab_report *report;
	struct tk_ab_source source[TK_AB_SIDES];
	struct tk_detect_options thresholds;
	struct tk_ab_problem *problems;
	size_t count;
	int64_t started_ns; /* of the measurements */
};

/* The caller may rename the sides in `out` before the next step. Close in any case. */
int tk_ab_session_open(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_ab_session *c,
        struct tk_error *err);
/* Builds or loads both sides, and plans. */
int tk_ab_session_prepare(struct tk_ab_session *c, struct tk_error *err);
/* ab_plan.c: each problem on each pair of backends. TK_EUSAGE: there is none. */
int tk_ab_session_plan(struct tk_ab_session *c, struct tk_error *err);
/* TK_EDATA: the file of a side is no longer the one that was loaded. */
int tk_ab_session_check_files(struct tk_ab_session *c, struct tk_error *err);
/* Measures until every problem is decided or the budget is spent, and sets the verdicts. */
int tk_ab_session_measure(struct tk_ab_session *c, struct tk_error *err);
void tk_ab_session_close(struct tk_ab_session *c);

#endif
