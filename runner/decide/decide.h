/* History -> change points, verdicts, alerts. Reads and writes through store.h, decides with
 * decide/rules and stats/. */
#ifndef TK_DECIDE_H
#define TK_DECIDE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/problem.h"
#include "core/verdict.h"

struct tk_error;
struct tk_store;

/* One series of a comparison: what it is, what was decided about it, and what that rests on. */
struct tk_diff_row {
	int64_t series_id;
	char series[160], device[96], machine[96], upstream[96], backend[64];
	char op[32], metric[32], unit[16];
	char mode[TK_MODE_WORD_SIZE]; /* "": the default mode of its device */
	char title[160];              /* of the problem */
	enum tk_better better;
	char problem[TK_PROBLEM_TEXT_MAX], device_name[96];
	double flops;     /* of the problem */
	int64_t newest_s; /* time of its newest run */

	struct tk_verdict verdict;
	enum tk_verdict_state state; /* over time */
	char alert_uid[65];          /* that it opened, that lasts or that it closed; "": none */
	int64_t alert_opened_s;
	uint32_t samples_before, samples_after;
	double min_effect; /* of its device and mode, a ratio; 0: read from a stored verdict */
	bool same_code;    /* nothing but the code of the last good run was measured since */
	bool new_code;     /* the newest build is known to have other code than the last good run */
	bool unstable; /* most timings before, or after, have an interval wider than the target */
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
	return r->verdict.before.value >= 0 && r->verdict.after.value >= 0;
}

/* Its change is the one that A/B runs found; `before` and `after` are still those of the nights. */
static inline bool tk_diff_row_is_ab_confirmed(const struct tk_diff_row *r)
{
	return tk_ab_result_is_changed(&r->ab);
}

/* A line of acks.yml: what somebody accepted before or after it happened. */
struct tk_ack_rule {
	const char *const *filters;   /* "key:glob", NULL-terminated: which series */
	const char *rev;              /* first digits of the first bad revision; NULL: any */
	enum tk_triage_action action; /* ACK, EXPECT or IGNORE */
	const char *author, *note;
	int64_t until_s; /* expires then; 0: never */
};

/* What the range is compared with: the nights before it; the first nights of the series; its best
 * level before the range; the nights of certain revisions. */
enum tk_baseline { TK_BASELINE_WINDOW, TK_BASELINE_FIRST, TK_BASELINE_BEST, TK_BASELINE_PINNED };

struct tk_detect_options {
	/* NAN: three times the noise of equal code, between these two; the larger one where that
	 * noise is not known. */
	double min_effect;
#define TK_MIN_EFFECT_LEAST 0.005
#define TK_MIN_EFFECT_UNKNOWN 0.02
	double min_effect_ns, fdr; /* see struct tk_threshold_config */
	uint32_t window;           /* points of the baseline */
	uint32_t stale_days;
	uint32_t missing_data_nights; /* nights without data that are reported; 0: never */
	enum tk_baseline baseline;
	const char *baseline_name;         /* as the user wrote it; NULL: window */
	const int64_t *baseline_revisions; /* ids, of TK_BASELINE_PINNED */
	size_t baseline_revision_count;
	bool uncorrected;        /* compare p, not q, with fdr */
	uint32_t min_samples;    /* fewer before or after: unsure */
	uint32_t confirm_nights; /* seen on fewer nights: unsure; 0, 1: one is enough */
	const struct tk_ack_rule *acks;
	size_t ack_count;
	int64_t now_s;
};

/* For models that learn the noise themselves. */
double tk_detect_least_effect(const struct tk_detect_options *o);
/* Where no history tells the noise. */
double tk_detect_usual_effect(double min_effect);
/* Sets min_effect, if it is NAN, to what the newest night of a device, by its slug, used. */
int tk_detect_use_stored_sensitivity(struct tk_store *s, const char *machine, const char *device,
        const char *mode, struct tk_detect_options *options, struct tk_error *err);

struct tk_diff_range {
	int64_t since_s, until_s;             /* [since, until]; INT64_MAX: open */
	int64_t base_night_id, head_night_id; /* instead of times; 0: none */
	const char *machine;                  /* its name; NULL: all */
	/* Machines are analysed whole; these choose the rows that are reported. */
	const char *const *filters; /* "key:glob", see below; NULL-terminated, or NULL */
	const char *const *ignored; /* a row that matches one is left out */
};

/* How much faster or slower the code became: the geometric mean of the changes of several series.
 * Rows that the environment changed, that cannot be compared or are unsure, or whose direction is
 * not known do not count. Equal code, changes from before the range and changes below a floor count
 * as no change; A/B runs count by what they measured. */
struct tk_diff_mean {
	double change;   /* positive is worse; NAN: no row counts */
	size_t rows;     /* that count */
	size_t nightly;  /* of them, rows known by nightly timings alone */
	size_t unstable; /* of these, rows whose timings are unstable */
	double sum;      /* of logarithms */
};
void tk_diff_mean_add(struct tk_diff_mean *m, const struct tk_diff_row *r); /* from {NAN} */
/* Most of its timings are unstable, which makes the mean unreliable. */
bool tk_diff_mean_is_unstable(const struct tk_diff_mean *m);
#define TK_DIFF_MEAN_TEXT_SIZE 128
/* "+1.2 %", with a caveat if it is unreliable; "-" if no row counts. */
const char *tk_diff_mean_format(const struct tk_diff_mean *m, char out[TK_DIFF_MEAN_TEXT_SIZE]);

struct tk_diff_report {
	struct tk_diff_row *rows; /* most severe first */
	size_t count;
	size_t by_status[TK_VERDICT_STATUS_COUNT];
	size_t machines, compared; /* compared: rows with a before and an after */
	struct tk_diff_mean mean;
	int64_t since_s, until_s, newest_s;
	/* rows that wait for their turn in a rotation, and how long the longest has */
	size_t waiting;
	uint32_t waiting_nights;
	uint32_t window;
	struct tk_detect_options options;
};
void tk_diff_report_free(struct tk_diff_report *r);

/* Compares a range with its baseline. */
int tk_detect_diff(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err);
/* The newest finished night of each machine, as it was decided when it ended, or, with `decide`, by
 * these options. Of the range only the machine and the filters are used. */
int tk_detect_latest_nights(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, bool decide, struct tk_diff_report *out,
        struct tk_error *err);

/* After a night: stores the change points of the series it measured, the verdicts of all series,
 * and the alerts. `report` (may be NULL) is what was decided. */
int tk_detect_night(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err);
/* The same without writing anything. */
int tk_detect_preview(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err);

/* Analyses stored nights again, oldest first, as if each had just ended. The state of the monitor
 * and all change points are rebuilt. */
struct tk_detect_replay {
	int64_t since_s; /* INT64_MIN: all nights; 0: the last `days` days of each machine */
	int64_t days;
	void (*progress)(void *context, size_t done, size_t total); /* NULL: none */
	void *context;
};
struct tk_detect_replay_counts {
	size_t nights, machines;
	size_t series; /* whose change points were searched */
	size_t by_status[TK_VERDICT_STATUS_COUNT];
};
int tk_detect_replay(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_detect_replay *what, struct tk_detect_replay_counts *out,
        struct tk_error *err);

/* ---- data that did not arrive for some nights ---- */

/* No data for options->missing_data_nights nights: of a machine, of an upstream on a
 * machine, or of a series; the largest of these that applies. A series whose runs end in another
 * outcome (crashed, wrong) is not missing: that is reported the night it begins. */
struct tk_missing_data {
	char uid[65], group_uid[65], title[512];
	int64_t machine_id, upstream_id, series_id; /* 0: all of them */
	int64_t night_id, last_s;                   /* the last night with data */
};
struct tk_missing_data_list {
	struct tk_missing_data *at;
	size_t count;
};
/* Without data that has been missing for more than 90 days. Free *out in any case. */
int tk_missing_data_find(struct tk_store *s, const struct tk_detect_options *options,
        struct tk_missing_data_list *out, struct tk_error *err);
void tk_missing_data_list_free(struct tk_missing_data_list *list);
/* Opens an alert for each, and closes those whose data arrived again. An open alert stays open
 * beyond the 90 days. night_id: an unfinished night that counts as finished; 0: none. */
int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err);

/* The uid of an alert or a group: the hash of these parts, the same on every machine and every
 * night. */
#define TK_ALERT_UID_SIZE 65
void tk_alert_uid_hash(const char *const *parts, size_t count, char uid[TK_ALERT_UID_SIZE]);

/* ---- "key:glob" filters: which series to report ---- */

/* What filters see of a series. No member is NULL. */
struct tk_filter_fields {
	const char *backend, *problem, *title, *op, *dtype, *device, *device_name, *machine,
	        *upstream, *metric, *mode, *config, *role, *series;
};
/* The keys, NULL-terminated. */
const char *const *tk_filter_keys(void);
/* filters: NULL-terminated, or NULL. TK_EUSAGE: no key, an unknown key, or an empty glob. */
int tk_filter_check(const char *const *filters, struct tk_error *err);
/* Filters of one key are alternatives; different keys must all match. Ignores case. */
bool tk_filter_match(const char *const *filters, const struct tk_filter_fields *s);
/* At least one filter matches. */
bool tk_filter_match_any(const char *const *filters, const struct tk_filter_fields *s);

/* ---- the monitor on histories as plain arrays, wherever they came from ---- */

struct tk_series_history {
	const char *id;
	const char *machine; /* "": all of them are on one machine */
	size_t n;
	const double *value;            /* oldest first; values that are not positive are ignored */
	const int64_t *day;             /* of each value, ascending */
	const char *const *environment; /* of each value, for example its driver; NULL: unknown */
};
struct tk_alarm {
	size_t night;     /* position of the night that reported it */
	size_t index;     /* of the first point at the new level */
	size_t retracted; /* of the night that retracted it; 0: none */
	double before, after;
};
struct tk_alarms {
	struct tk_alarm *at;
	size_t count;
};
/* What each night would have reported, with what was known that night: out[i] of series i. Free
 * with tk_alarms_free. */
int tk_series_history_replay(const struct tk_series_history *series, size_t count,
        const struct tk_detect_options *options, struct tk_alarms *out, struct tk_error *err);
void tk_alarms_free(struct tk_alarms *alarms, size_t count);

#endif
