/* One series in an analysis: its points, its statistical tests, what the monitor and earlier alerts
 * say of it. Private to decide/. */
#ifndef TK_DECIDE_SERIES_CASE_H
#define TK_DECIDE_SERIES_CASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/decide.h"
#include "decide/history/filter.h"
#include "decide/rules/level_test.h"
#include "store/store.h"

struct tk_analysis;

struct tk_series_case {
	const struct tk_series_row *series;
	const struct tk_device_row *device;
	const struct tk_machine_row *machine;
	const struct tk_upstream_row *upstream;
	const struct tk_problem_row *problem;
	const struct tk_history_window *window;

	/* Points with a positive value, oldest first: points[range ..] are compared with those
	 * before. range 0: there is nothing to compare with. */
	const struct tk_point *points;
	size_t count, range;
	size_t earlier;                /* points before the range of time */
	struct tk_point *owned_points; /* memory of its own for points, y, adjusted_y and se; NULL:
	                                  borrowed from the set */
	bool lacks_baseline;           /* the chosen baseline was never measured */
	double *y;                     /* logarithms of the values */
	double *adjusted_y;            /* the same without the common-mode shifts of the machine */
	double *se;                    /* standard errors of the logarithms */
	size_t base;                   /* where the level before the range starts */
	bool unchanged;                /* the newest point has the machine code of the baseline */

	/* Where range is not 0. */
	struct tk_level_test raw, adjusted; /* of y, of adjusted_y */
	double q;

	const struct tk_alert_row *alert; /* the newest one from before; open, or closed since */
	const struct tk_alert_row *ended; /* the newest that began and ended in the range */
	double alert_baseline;            /* logarithm of the level before it; NAN: unknown */
	double alert_change;              /* a ratio - 1 */

	bool is_monitored; /* the monitor has seen its newest point, and enough points before */
	const struct tk_monitor_event_row *monitor_step, *machine_step, *retracted; /* NULL: none */
	double level; /* by the monitor's model; NAN: not known here */
};

struct tk_catalog;

/* Sets series, device, machine, upstream and problem. False: one of them is not known. */
bool tk_series_case_find_names(
        const struct tk_catalog *c, int64_t series_id, struct tk_series_case *k);
/* Sets y, adjusted_y and se from the points. */
void tk_series_case_compute_logs(struct tk_series_case *k);
/* baseline.c: puts the chosen baseline between the history and the range. */
int tk_series_case_set_baseline(
        struct tk_analysis *c, struct tk_series_case *k, struct tk_error *err);
/* Reads all points since some time before `at_s` if the window does not reach back that far. */
int tk_series_case_extend_history(
        struct tk_analysis *c, struct tk_series_case *k, int64_t at_s, struct tk_error *err);
/* The run has a point. */
bool tk_series_case_has_timing(const struct tk_series_case *k, const struct tk_run_summary *run);
/* By the filters of the range. */
bool tk_series_case_is_chosen(const struct tk_series_case *k, const struct tk_diff_range *range);
struct tk_filter_fields tk_series_case_filter_fields(const struct tk_series_case *k);
/* ab_evidence.c: the stored A/B runs of the code before a step and the newest code. */
int tk_series_case_evaluate_ab(struct tk_analysis *c, const struct tk_series_case *k,
        const struct tk_level_change *step, struct tk_ab_result *out, struct tk_error *err);

#endif
