/* The state of one `tracker ab`. Private to nightly/ab/. */
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

/* Makes a trial of each problem on each pair of backends. TK_EUSAGE: there is none. */
int tk_comparison_plan(struct tk_comparison *c, struct tk_error *err);
/* Measures until every trial is decided or the budget is spent, and sets the verdicts. */
int tk_comparison_measure(struct tk_comparison *c, struct tk_error *err);

#endif
