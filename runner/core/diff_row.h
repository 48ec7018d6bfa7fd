/* One series of a comparison: what it is, what was decided about it, and what that rests on. */
#ifndef TK_CORE_DIFF_ROW_H
#define TK_CORE_DIFF_ROW_H
#include <stdbool.h>
#include <stdint.h>

#include "core/mode.h"
#include "core/problem.h"
#include "core/verdict.h"

struct tk_diff_row {
	int64_t series_id;
	char series[160], device[96], machine[96], upstream[96], backend[64];
	char op[32], metric[32], unit[16];
	char mode[TK_MODE_WORD_SIZE]; /* "": the default mode of its device */
	char title[160];              /* of the problem */
	bool lower_is_better;
	char problem[TK_PROBLEM_TEXT_MAX], device_name[96];
	double flops;     /* of the problem */
	int64_t newest_s; /* time of its newest run */

	struct tk_verdict verdict;
	enum tk_verdict_state state; /* over time */
	char alert_uid[65];          /* that it opened, that lasts or that it closed; "": none */
	int64_t alert_opened_s;
	uint32_t samples_before, samples_after;
	bool same_code; /* nothing but the code of the last good run was measured since */
	bool new_code;  /* the newest build is known to have other code than the last good run */
	bool unstable;  /* most timings before, or after, have an interval wider than the target */
	int64_t good_build_id, new_build_id, new_run_id; /* last good, newest; 0: none */
	struct tk_ab_result ab;                          /* of these two builds */

	char good_rev[128], bad_rev[128]; /* last good, first bad measured revision */
	char bad_subject[256];
	int64_t good_revision_id, bad_revision_id; /* 0: none */
	int64_t commits_between;                   /* -1: unknown */

	/* The commit between them that a bisection found; "": none. */
	char first_bad_commit[128], first_bad_subject[256], first_bad_author[128];
	int64_t first_bad_time_s;
	double first_bad_change;     /* against the commit before it */
	double first_bad_confidence; /* that it is the one */
};

static inline bool tk_diff_row_is_compared(const struct tk_diff_row *r)
{
	return r->verdict.before.value > 0 && r->verdict.after.value > 0;
}

/* Its change is the one that A/B runs found; `before` and `after` are still those of the nights. */
static inline bool tk_diff_row_is_ab_confirmed(const struct tk_diff_row *r)
{
	return tk_ab_result_is_changed(&r->ab);
}

#endif
