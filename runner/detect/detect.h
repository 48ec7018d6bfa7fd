/* History -> change points, verdicts, alerts. Reads and writes through store.h, decides with
 * stats/. */
#ifndef TK_DETECT_H
#define TK_DETECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ab.h"
#include "core/status.h"

struct tk_error;
struct tk_store;

/* A line of acks.yml: what somebody accepted before or after it happened. */
struct tk_ack_rule {
	const char *const *filters; /* "key:glob", NULL-terminated: which series */
	const char *rev;            /* the first digits of the first bad revision; NULL: any */
	const char *action;         /* of TK_TRIAGE_ACTIONS: ack, expect, ignore */
	const char *author, *note;  /* who, and why */
	int64_t until_s;            /* not from then on; 0: for ever */
};

/* What the range is compared with: the nights before it; the first ones of the series; its best
 * level before the range; what was measured of certain revisions. */
enum tk_baseline { TK_BASELINE_WINDOW, TK_BASELINE_FIRST, TK_BASELINE_BEST, TK_BASELINE_PINNED };

struct tk_detect_options {
	double min_effect, min_effect_ns, fdr; /* see struct tk_threshold_config */
	uint32_t window;                       /* baseline: so many points before the range */
	uint32_t stale_days;
	uint32_t stoppage_nights; /* nights without data that are a stoppage; 0: none is */
	enum tk_baseline baseline;
	const char *baseline_name;         /* as it was asked for; NULL: window */
	const int64_t *baseline_revisions; /* ids, of TK_BASELINE_PINNED */
	size_t baseline_revision_count;
	bool uncorrected;        /* p decides, not q */
	uint32_t min_samples;    /* fewer before or after are `unsure` */
	uint32_t confirm_nights; /* so is what was seen on fewer nights; 0, 1: one is enough */
	const struct tk_ack_rule *acks;
	size_t ack_count;
	int64_t now_s;
};

struct tk_diff_range {
	int64_t since_s, until_s; /* the range that is judged: [since, until]; INT64_MAX: open */
	int64_t base_night_id, head_night_id; /* instead of times; 0: none */
	const char *machine;                  /* slug or name; NULL: all */
	/* Of what was judged whole, these are reported. */
	const char *const *filters; /* "key:glob" (backend, problem, op, dtype, device, machine,
	                               upstream, metric, series); NULL-terminated or NULL */
	const char *const *ignored; /* the same: one that matches is left out */
};

/* What pairs of an old and a new build, measured one right after the other, say of a series: see
 * confirm.h. */
struct tk_ab_result {
	enum tk_ab_decision word;
	uint32_t count, failed; /* pairs with two timings; others */
	bool fastest; /* it is the fastest samples that say so: the medians are too noisy */
	double change, lo, hi; /* new / old - 1, and its 95 % interval; NAN where there is none */
};
/* They found a change, either way. */
static inline bool tk_ab_result_is_changed(const struct tk_ab_result *p)
{
	return p->word == TK_AB_HIGHER || p->word == TK_AB_LOWER;
}
const char *tk_ab_result_statistic_name(const struct tk_ab_result *pairs); /* "median", "min" */

struct tk_diff_row {
	int64_t series_id;
	enum tk_verdict_status status,
	        was; /* was: what it would be called, had nobody accepted it */
	char series[160], device[96], machine[96], upstream[96], backend[64], op[32], metric[32],
	        unit[16];
	char mode[16];   /* "": the usual one of its device */
	char title[160]; /* of the problem */
	bool lower_is_better;
	double before, before_lo, before_hi, after, after_lo,
	        after_hi;                    /* NAN where there is none */
	double change, change_lo, change_hi; /* after / before - 1, and its interval */
	double threshold, severity;          /* what had to be exceeded; |change| / threshold */
	double p, q;
	uint32_t n_before, n_after;
	char good_rev[128], bad_rev[128],
	        bad_subject[256]; /* last good, first bad measured revision */
	int64_t commits_between;  /* -1: unknown */
	bool same_code; /* since the last good run nothing else was measured than its machine code
	                 */
	char reason[512];
	int64_t newest_s, first_bad_run_id, last_good_run_id;
	int64_t good_build_id, new_build_id,
	        new_run_id; /* of the last good run, of the newest one; 0: none */
	bool new_code; /* the newest build has other machine code than the last good one, as far as
	                  is known */
	bool changed_before_range; /* its last step is from before the range: within it nothing
	                              moved */
	bool unstable; /* of its timings before, or after, most have an interval wider than asked */
	struct tk_ab_result pairs; /* of these two builds */
	/* the commit of good_rev..bad_rev that a bisection found; "" where there was none, or it
	 * found nothing */
	char culprit[128], culprit_subject[256], culprit_author[128];
	int64_t culprit_author_time_s;
	double culprit_change, culprit_confidence; /* against the commit before it; that it is it */
};

/* A geometric mean of what became of the code, of all rows that have a part in it. */
struct tk_diff_mean {
	double change; /* more is worse; NAN: no row has a part */
	size_t rows;   /* that have */
	size_t timed;  /* those of which no more is known than the timings of nights: neither pairs
	                  nor equal code */
	size_t unstable; /* those of them whose timings are */
	double sum;      /* of logarithms */
};

struct tk_diff_report {
	struct tk_diff_row *rows; /* most severe first */
	size_t count;
	size_t by_status[TK_VERDICT_STATUS_COUNT];
	size_t machines, compared; /* compared: rows with a before and an after */
	struct tk_diff_mean mean;
	int64_t since_s, until_s, newest_s;
	uint32_t window;
	struct tk_detect_options options;
};

static inline bool tk_diff_row_is_compared(const struct tk_diff_row *r)
{
	return r->before > 0 && r->after > 0;
}

/* Its change is what pairs of both builds say; before and after are of nights all the same, and may
 * differ otherwise.
 */
static inline bool tk_diff_row_is_ab_confirmed(const struct tk_diff_row *r)
{
	return tk_ab_result_is_changed(&r->pairs);
}

/* What the environment moved, or what cannot be compared, has no part; what has the machine code of
 * before, or moved before the range, did not move; what pairs decided moved by what they say.
 * Begins with {.change = NAN}. */
void tk_diff_mean_add(struct tk_diff_mean *m, const struct tk_diff_row *r);
/* Most of what it is of is no better than a guess, and it neither: that is said beside it. */
bool tk_diff_mean_is_unstable(const struct tk_diff_mean *m);
/* "+1.2%", with what speaks against believing it; "-" where nothing was compared. */
#define TK_DIFF_MEAN_TEXT_SIZE 128
const char *tk_diff_mean_format(const struct tk_diff_mean *m, char out[TK_DIFF_MEAN_TEXT_SIZE]);

int tk_detect_diff(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err);
/* The same of the newest night of each machine that has ended, as the night itself was judged; of
 * the range the machine and the filters count. */
int tk_detect_latest_nights(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err);
void tk_diff_report_free(struct tk_diff_report *r);

/* After a night: change points of the series it touched, verdicts of all series, alerts. `report`
 * (may be NULL) is what was decided. */
int tk_detect_night(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err);
/* The same without writing anything: whom to suspect. */
int tk_detect_preview(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err);

/* Judges stored nights again, oldest first, as if each had just ended: those since a time of each
 * machine, or of its last `days` days where that is 0. What was known of the series is made anew,
 * and so are all change points. */
struct tk_detect_replay {
	int64_t since_s; /* INT64_MIN: all; 0: see days */
	int64_t days;
	void (*progress)(void *context, size_t done, size_t of); /* NULL: none */
	void *context;
};
struct tk_detect_replay_counts {
	size_t nights, machines, series; /* series: with change points looked for */
	size_t by_status[TK_VERDICT_STATUS_COUNT];
};
int tk_detect_replay(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_detect_replay *what, struct tk_detect_replay_counts *out,
        struct tk_error *err);

/* Data that did not come: a machine that has sent no night, an upstream or a series that the newest
 * nights of its machine have no timing of, options->stoppage_nights times in a row. One row for
 * each, the whole instead of its parts. Strings belong to the list. What has a run that ended in
 * another way (crashed, wrong) is no stoppage: that is said the night it begins. */
struct tk_missing_data {
	char uid[65], group_uid[65], title[512];
	int64_t machine_id, upstream_id, series_id; /* 0: all of them */
	int64_t night_id, last_s;                   /* the last night with data */
};
struct tk_missing_data_list {
	struct tk_missing_data *at;
	size_t count;
};
/* night_id: a night that counts although it is not finished; 0: none. Without what stopped more
 * than 90 days ago: that is history. */
int tk_missing_data_find(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_missing_data_list *out, struct tk_error *err);
void tk_missing_data_list_free(struct tk_missing_data_list *list);
/* Opens an alert for each, and closes those whose data came again; one that is open stays so beyond
 * the 90 days. */
int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err);

#endif
