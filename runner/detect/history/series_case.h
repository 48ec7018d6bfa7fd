/* The cases of a diff: what is known of each series, before and while it is judged. Private to
 * detect/. */
#ifndef TK_DETECT_CASE_H
#define TK_DETECT_CASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/detect.h"
#include "detect/history/catalog.h"
#include "detect/history/filter.h"
#include "detect/report/commit_groups.h"
#include "detect/rules/level_test.h"

struct tk_series_case {
	const struct tk_series_row *series;
	const struct tk_device_row *device;
	const struct tk_machine_row *machine;
	const struct tk_upstream_row *upstream;
	const struct tk_problem_row *problem;
	const struct tk_history_window *window;
	const struct tk_point *points; /* with a value that has a logarithm */
	size_t count, range; /* points[range ..] are judged against those before; range 0: nothing
	                        to compare with */
	size_t earlier;      /* points before the range of time */
	struct tk_point *owned_points; /* where `points` and what belongs to them are its own:
	                                another baseline; NULL: they are not */
	bool lacks_baseline; /* there is nothing of the revision that it should be compared with */
	double *y, *net,
	        *se;    /* logarithms, the same less what the machine moved, standard errors */
	size_t base;    /* where the level before the range starts */
	bool unchanged; /* the newest point has the machine code of the baseline */
	struct tk_level_test raw, own; /* of y, of net; where range is not 0 */
	double q;
	const struct tk_alert_row
	        *alert;        /* the newest one from before, open or closed in the range */
	double alert_baseline; /* logarithm of the level before that alert; NAN: unknown */
	bool watched;          /* its newest point was asked about by the model of its noise */
	/* What that said in the nights in question: a step that stands, one that was the machine's,
	   one that was taken back; NULL: nothing. */
	const struct tk_monitor_event_row *said, *machines, *retracted;
	double level; /* that it is at by that model; NAN: not known here */
};

/* What a machine's series moved together on one night. */
struct tk_common_mode_shift {
	int64_t device_id, night_id;
	double shift, se;        /* logarithm */
	size_t series, controls; /* that say so */
	bool significant;
};

/* The newest night of a machine in the range that measures everything, and which upstreams it
 * asked. */
struct tk_expected_series {
	int64_t machine_id;
	const struct tk_night_row *night;
	struct tk_rows resolutions;
};

/* Where a night is judged instead of a range that somebody asked for; all 0: no night. */
struct tk_night_scope {
	int64_t night_id;  /* a series without a run in it is missing */
	bool touched_only; /* series without a run in it are left out */
	int64_t as_of_s;   /* runs and alerts of earlier nights are what was known before */
	bool open_ended;   /* what is too old by now is stale */
};

struct tk_case_set {
	struct tk_catalog catalog;
	struct tk_commit_groups groups; /* of alerts */
	struct tk_rows windows, points,
	        confirmations; /* the last: of nights since the range began */
	struct tk_rows culprits;
	struct tk_rows alarms; /* of the nights in question, by time and series */
	struct tk_series_case *at;
	size_t count;
	double *memory;                      /* of y, net and se */
	struct tk_common_mode_shift *shifts; /* by device and night */
	size_t shift_count;
	struct tk_expected_series *due; /* one for each machine */
	int64_t since_s, until_s;       /* the range */
	bool open_ended;
	struct tk_night_scope scope;
	struct tk_detect_options options;
};

/* cases.c: reads and prepares; the range may hold nights instead of times. scope may be NULL. Free
 * in any case. */
int tk_case_set_load(struct tk_store *s, const struct tk_detect_options *o,
        const struct tk_diff_range *range, const struct tk_night_scope *scope,
        struct tk_case_set *out, struct tk_error *err);
void tk_case_set_free(struct tk_case_set *c);
/* That its filters and its machine are ones. */
int tk_diff_range_check(
        const struct tk_rows *machines, const struct tk_diff_range *range, struct tk_error *err);
/* When all are judged: leaves out those that the filters of the range do not mean. */
void tk_case_set_filter(struct tk_case_set *c, const struct tk_diff_range *range);

/* One that goes on, or was killed, has not been asked about all its series. */
bool tk_night_has_ended(const struct tk_night_row *n);

void tk_series_case_compute_logs(struct tk_series_case *k);
/* baseline.c: puts what was asked for between the history and the range. */
int tk_series_case_set_baseline(
        struct tk_case_set *c, struct tk_series_case *k, struct tk_error *err);

/* common_mode.c: finds the shifts and takes them out of `net`. */
int tk_case_set_remove_common_mode(struct tk_case_set *c, struct tk_error *err);
const struct tk_common_mode_shift *tk_case_set_find_shift(
        const struct tk_case_set *c, int64_t device_id, int64_t night_id); /* NULL: none known */

#define TK_NIGHT_WINDOW \
	3 /* evidence that comes late still counts: a night is judged together with the two before \
	     it */
#define TK_HISTORY_POINTS_MIN \
	48 /* points before the range that are read for the noise, whatever the window */
#define TK_PRIOR_POINTS_MIN \
	10 /* points that make the noise of a series known to the others of its device */

/* prior.c: noise between nights that a series of this device probably has. */
double tk_prior_noise_estimate(
        double *noises, size_t count); /* of series that have a history; reordered; 0: too few */
int tk_case_set_estimate_priors(
        struct tk_case_set *c, double *prior, struct tk_error *err); /* prior[i] of case i */

/* pairs.c: what was measured pair by pair of the code before the split and the newest one. */
int tk_series_case_evaluate_ab(struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_level_change *e, struct tk_ab_result *out, struct tk_error *err);

const struct tk_series_case *tk_case_set_find(
        const struct tk_case_set *c, int64_t series_id); /* NULL: none */
bool tk_series_case_has_timing(
        const struct tk_series_case *k, const struct tk_run_summary *m); /* that run gave a point */
struct tk_filter_fields tk_series_case_filter_fields(const struct tk_series_case *k);
/* Logarithm of the level that a series had before an alert; NAN: unknown. */
int tk_alert_read_baseline(const struct tk_case_set *c, const struct tk_alert_row *a, double *level,
        struct tk_error *err);

/* night.c. Of a past night the change points and the stoppages of what came later are not looked
 * for. */
enum tk_detect_mode { TK_DETECT_PREVIEW, TK_DETECT_NIGHT, TK_DETECT_REPLAY };
/* Start of the range of a night: the third newest night of this machine up to this one. *previous:
 * the one before it, 0 where there is none. */
int64_t tk_night_find_range(
        const struct tk_rows *nights, const struct tk_night_row *night, int64_t *previous);
/* An improvement is news once: not again after the night `previous`. rows[i] is of case i. */
int tk_diff_report_suppress_repeats(struct tk_store *s, const struct tk_case_set *c,
        int64_t previous, struct tk_diff_report *r, struct tk_error *err);
int tk_detect_run_night(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, enum tk_detect_mode purpose,
        struct tk_diff_report *report, struct tk_error *err);
int tk_detect_change_points(struct tk_store *s, struct tk_catalog *c,
        const struct tk_series_row *series, double min_effect, struct tk_error *err);

/* Every point of a series, where its window of points does not reach as far back as what is said of
 * it. */
int tk_series_case_extend_history(
        struct tk_case_set *c, struct tk_series_case *k, int64_t at_s, struct tk_error *err);

/* accept.c: alerts are found again by these uids. */
void tk_series_case_make_alert_uids(const struct tk_case_set *c, const struct tk_series_case *k,
        enum tk_verdict_status status, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE],
        char group_uid[TK_ALERT_UID_SIZE]);
const struct tk_alert_row *tk_catalog_find_alert(
        const struct tk_catalog *c, const char *uid); /* NULL: it is new */
/* The line of acks.yml that is about this row; NULL: none. */
const struct tk_ack_rule *tk_series_case_find_ack_rule(
        const struct tk_case_set *c, const struct tk_series_case *k, const struct tk_diff_row *row);
/* What is bad news, and accepted, is `acked`. */
void tk_series_case_apply_ack(
        const struct tk_case_set *c, const struct tk_series_case *k, struct tk_diff_row *row);

/* alerts.c: opens what is bad, closes what is back; rows[i] is of case i. */
int tk_alerts_update(struct tk_store *s, struct tk_case_set *c, const struct tk_night_row *night,
        const struct tk_diff_report *r, struct tk_error *err);

/* Of a reason: known, and no worse than it was said. */
#define TK_REASON_STILL_AT_ALERT "still at the level of the alert"

/* verdict.c: the word, the numbers and the reason of one case. */
int tk_series_case_decide(struct tk_case_set *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err);

/* row.c: what a row says beside its word. */
void tk_diff_row_set_identity(const struct tk_series_case *k, struct tk_diff_row *row);
void tk_diff_row_set_levels(const struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_level_change *e, double threshold, struct tk_diff_row *row);
void tk_diff_row_set_revisions(const struct tk_case_set *c, int64_t good_build, int64_t bad_build,
        struct tk_diff_row *row);
/* Where its range was bisected. */
void tk_diff_row_set_first_bad(const struct tk_case_set *c, struct tk_diff_row *row);
void tk_diff_row_add_reason(struct tk_diff_row *row, const char *fmt, ...)
        __attribute__((format(printf, 2, 3))); /* "; " between two */
/* How a run ended, "wrong: max error 3 > 1"; of a message one line is taken, without control
 * characters. */
void tk_diff_row_add_outcome(
        struct tk_diff_row *row, const char *prefix, const struct tk_run_summary *mark);

/* diff.c: everything between reading and the words; rows[i] is of case i. */
int tk_case_set_evaluate(struct tk_case_set *c, struct tk_error *err);
int tk_case_set_decide(struct tk_case_set *c, struct tk_diff_report *out,
        struct tk_error *err);                        /* rows in the order of the cases */
void tk_diff_report_finish(struct tk_diff_report *r); /* counts, most severe first */

#endif
