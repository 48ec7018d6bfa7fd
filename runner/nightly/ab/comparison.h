/* The state of one `tracker ab`, and of one `tracker tune`. Private to nightly/. */
#ifndef TK_COMPARISON_H
#define TK_COMPARISON_H
#include "detect/detect.h"
#include "nightly/ab/side.h"
#include "nightly/confirm/ab_test.h"

/* One problem on one backend and device, while it is measured. test.good is base. */
struct tk_ab_trial {
	struct tk_ab_row row;
	struct tk_ab_test test;
	bool is_checked; /* both sides have computed the result once, verified */
	bool is_decided; /* nothing more is measured */
	double spent_s;  /* in pairs */
};

struct tk_comparison {
	struct tk_night *n;
	const struct tk_ab_request *request;
	struct tk_ab_report *report;
	struct tk_ab_side side[TK_AB_SIDES];
	struct tk_detect_options thresholds;
	struct tk_ab_trial *trials;
	size_t count;
	int64_t started_ns; /* of the measurements */
};

struct tk_session;

/* Opens the session. The caller may rename the sides in `out` before the next step. Close in any
 * case. */
int tk_comparison_open(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_session *s,
        struct tk_comparison *c, struct tk_error *err);
/* Builds or loads both sides, and plans. */
int tk_comparison_prepare(struct tk_comparison *c, struct tk_error *err);
void tk_comparison_close(struct tk_comparison *c, struct tk_session *s);
/* Makes a trial of each problem on each pair of backends. TK_EUSAGE: there is none. */
int tk_comparison_plan(struct tk_comparison *c, struct tk_error *err);
/* TK_EDATA: the file of a side is no longer the one that was loaded. */
int tk_comparison_check_files(struct tk_comparison *c, struct tk_error *err);
/* Measures until every trial is decided or the budget is spent, and sets the verdicts. */
int tk_comparison_measure(struct tk_comparison *c, struct tk_error *err);

#endif
