/* The series of an analysis, with the tables that they share. Load, evaluate (statistics), decide
 * (report/diff_row.h), free. Private to decide/. */
#ifndef TK_DECIDE_ANALYSIS_H
#define TK_DECIDE_ANALYSIS_H
#include "decide/history/catalog.h"
#include "decide/history/series_case.h"
#include "decide/triage/commit_groups.h"

/* Points before the range that are read to estimate the noise, whatever the window. */
#define TK_HISTORY_POINTS_MIN 48
/* Points of a series whose noise is used as a prior for the others of its device. */
#define TK_PRIOR_POINTS_MIN 10
/* Cases that a thread takes at least: it is not worth it for fewer. */
#define TK_CASES_PER_PART 32

struct tk_kept_monitors;

/* By how much the series of a device shifted together on one night. */
struct tk_common_mode_shift {
	int64_t device_id, night_id;
	double shift, se;        /* logarithm */
	size_t series, controls; /* that show it */
	bool significant;
};

/* The newest full night of a machine in the range, and the upstreams that it resolved. Series of
 * these that it did not measure are missing. */
struct tk_expected_series {
	int64_t machine_id;
	const struct tk_night_row *night; /* NULL: none */
	struct tk_rows resolutions;
};

/* One night is analysed instead of a range of time; all 0: a range. */
struct tk_night_scope {
	int64_t night_id;  /* a series without a run in it is missing */
	bool touched_only; /* leave out series without a run in it */
	int64_t as_of_s;   /* runs and alerts of earlier nights were known before */
	bool open_ended;   /* data that is too old by now is stale */
	/* Kept from night to night; NULL: read from the history, and stored in it. */
	struct tk_catalog *catalog;
	struct tk_kept_monitors *monitors;
	struct tk_point_reader *reader;
};

struct tk_analysis {
	struct tk_catalog catalog;
	struct tk_commit_groups groups; /* of alerts */
	struct tk_rows windows, points; /* points: of windows that do not borrow theirs */
	size_t point_count;             /* of all windows */
	struct tk_rows ab_pairs;        /* of the nights since the range began, by series */
	struct tk_rows bisections;
	bool has_comparisons;          /* of kernels: most histories have none */
	struct tk_rows monitor_events; /* of the nights in the range, by time and series */
	struct tk_series_case *at;     /* by series id */
	size_t count;
	double *memory;                      /* of y, adjusted_y and se */
	struct tk_common_mode_shift *shifts; /* by device and night */
	size_t shift_count;
	struct tk_expected_series *expected; /* one for each machine */
	size_t expected_count;
	int64_t since_s, until_s; /* the range */
	bool open_ended;
	struct tk_night_scope scope;
	struct tk_detect_options options;
};

/* scope may be NULL. Free in any case. */
int tk_analysis_load(struct tk_store *s, const struct tk_detect_options *o,
        const struct tk_diff_range *range, const struct tk_night_scope *scope,
        struct tk_analysis *out, struct tk_error *err);
void tk_analysis_free(struct tk_analysis *c);
/* Filters are valid, and the machine exists. */
int tk_diff_range_check(
        const struct tk_rows *machines, const struct tk_diff_range *range, struct tk_error *err);
/* Removes the cases that the filters of the range do not choose. After evaluation: machines are
 * evaluated whole. */
void tk_analysis_filter(struct tk_analysis *c, const struct tk_diff_range *range);
const struct tk_series_case *tk_analysis_find(
        const struct tk_analysis *c, int64_t series_id); /* NULL: none */
const struct tk_expected_series *tk_analysis_find_expected(
        const struct tk_analysis *c, int64_t machine_id); /* NULL: none */

/* Full nights of a machine after a time, up to the one that is expected to measure. */
size_t tk_analysis_count_nights_since(
        const struct tk_analysis *c, int64_t machine_id, int64_t since_s);

/* Statistical tests of all cases, with the false-discovery rate controlled per machine. */
int tk_analysis_evaluate(struct tk_analysis *c, struct tk_error *err);

/* common_mode.c: finds the common-mode shifts and removes them from adjusted_y. */
int tk_analysis_remove_common_mode(struct tk_analysis *c, struct tk_error *err);
const struct tk_common_mode_shift *tk_analysis_find_shift(
        const struct tk_analysis *c, int64_t device_id, int64_t night_id); /* NULL: none */

/* prior_noise.c: the noise between nights that a series of its device probably has; prior[i] of
 * case i. */
void tk_analysis_estimate_priors(struct tk_analysis *c, double *prior);
/* Of series with a history; reordered; 0: too few. */
double tk_prior_noise_estimate(double *noises, size_t count);

/* alert_baseline.c: gives each case the newest alert that was open, or not closed yet, at a
 * time. */
int tk_analysis_add_alerts(struct tk_analysis *c, int64_t known_before_s, struct tk_error *err);
/* By the newest verdict before a time that reported the alert: logarithm of the level before it,
 * and its change; NAN: unknown. */
int tk_alert_read_levels(const struct tk_analysis *c, const struct tk_alert_row *a,
        int64_t before_s, double *baseline, double *change, struct tk_error *err);

/* The night completed; one that was killed may not have measured all its series. */
bool tk_night_has_ended(const struct tk_night_row *n);

#endif
