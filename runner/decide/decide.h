/* History -> change points, verdicts, alerts. Reads and writes through store.h, decides with
 * decide/rules and stats/. */
#ifndef TK_DETECT_H
#define TK_DETECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diff_row.h"
#include "core/triage.h"
#include "decide/report/diff_mean.h"
#include "decide/triage/missing_data.h"

struct tk_error;
struct tk_store;

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
	double min_effect, min_effect_ns, fdr; /* see struct tk_threshold_config */
	uint32_t window;                       /* points of the baseline */
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

struct tk_diff_range {
	int64_t since_s, until_s;             /* [since, until]; INT64_MAX: open */
	int64_t base_night_id, head_night_id; /* instead of times; 0: none */
	const char *machine;                  /* its name; NULL: all */
	/* Machines are analysed whole; these choose the rows that are reported. */
	const char *const *filters; /* "key:glob", see filter.h; NULL-terminated, or NULL */
	const char *const *ignored; /* a row that matches one is left out */
};

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

#endif
