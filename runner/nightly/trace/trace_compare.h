/* The comparison of two builds of one series, region by region. Private to nightly/. */
#ifndef TK_TRACE_COMPARE_H
#define TK_TRACE_COMPARE_H
#include "nightly/confirm/ab_test.h"
#include "trace/runs.h"

struct tk_diff_row;
struct tk_night;

struct tk_trace_comparison_side {
	char *path;                /* of the build that records */
	struct tk_job_setup setup; /* options and configuration of the series' run */
	struct tk_worker *worker;
	int fd;
	struct tk_trace_runs runs;
};

enum { TK_TRACE_BASE, TK_TRACE_HEAD, TK_TRACE_SIDES };

struct tk_trace_comparison_job {
	double deadline_s; /* of the night's time; set by the caller: after it no run begins */
	const struct tk_diff_row *row;
	struct tk_ab_test test; /* series, device and builds; no pair of it is measured */
	struct tk_trace_comparison_side side[TK_TRACE_SIDES];
	json_t *timeline;
	int64_t started_s;
};

/* TK_ENOTFOUND: a build is not in the cache, or does not record. Close in any case. */
int tk_trace_comparison_open(struct tk_night *n, const struct tk_diff_row *row,
        struct tk_trace_comparison_job *j, struct tk_error *err);
/* Measures and stores it. TK_EDATA: it cannot be measured, or the deadline came. */
int tk_trace_comparison_run(
        struct tk_night *n, struct tk_trace_comparison_job *j, struct tk_error *err);
void tk_trace_comparison_close(struct tk_trace_comparison_job *j);

#endif
