/* The history: the only access to SQLite. Nothing outside store/ includes sqlite3.h or writes SQL.
 *
 * Rows are plain structs. Strings in a row that is read belong to the list or row that was returned
 * and live until it is freed; strings in a row that is put belong to the caller. `put` functions
 * return the id of the equal row if there is one (rows with the same uid are equal), so putting
 * twice is harmless. A result is one transaction. */
#ifndef TK_STORE_H
#define TK_STORE_H
#include "core/kernel_report.h"
#include "core/night.h"
#include "core/verdict.h"
#include "core/vocabulary.h"
#include "store/select.h"

struct tk_lock;
struct tk_store;

enum tk_store_mode { TK_STORE_READ, TK_STORE_WRITE, TK_STORE_CREATE };
#define TK_STORE_SCHEMA 1

/* CREATE makes the file if it is missing and, as WRITE, migrates an older one; READ opens read-only
 * and never creates. TK_ENOTFOUND: no such file; TK_EVERSION: made by a newer tracker; TK_EDATA:
 * not one of ours; TK_EBUSY: locked. */
int tk_store_open(
        const char *path, enum tk_store_mode mode, struct tk_store **out, struct tk_error *err);
void tk_store_close(struct tk_store *s);
static inline void tk_store_free_at(struct tk_store **at) /* AUTO_PTR(tk_store) */
{
	tk_store_close(*at);
}
const char *tk_store_path(const struct tk_store *s);
/* How long a write waits while another process is writing: until `deadline_ns` on the monotonic
 * clock, and at least `least_s` (without this call: 10 s, and no deadline). Then it fails with
 * TK_EBUSY; a request to stop ends the wait with TK_ECANCELED. */
void tk_store_set_lock_wait(struct tk_store *s, int64_t deadline_ns, double least_s);

int tk_store_begin(
        struct tk_store *s, struct tk_error *err); /* nests: only the outermost commits */
int tk_store_commit(struct tk_store *s, struct tk_error *err);
void tk_store_rollback(struct tk_store *s);
/* Commits where status is TK_OK, else rolls back. Returns status, or that of the commit. */
int tk_store_end(struct tk_store *s, int status, struct tk_error *err);
/* Reads between the two see one snapshot, and thousands of queries lock the file only once. Does
 * nothing within a transaction; begin no transaction in between. */
int tk_store_begin_read(struct tk_store *s, struct tk_error *err);
void tk_store_end_read(struct tk_store *s);

/* Read-only connections to a history for threads that read it at once; they see what has been
 * committed. */
struct tk_store_readers;
struct tk_store_readers *tk_store_readers_new(const struct tk_store *s);
void tk_store_readers_free(struct tk_store_readers *r);
/* One that no other thread uses; NULL: none can be opened. */
struct tk_store *tk_store_readers_take(struct tk_store_readers *r);
void tk_store_readers_give(struct tk_store_readers *r, struct tk_store *s);

/* ---- its lock ------------------------------------------------------------------------------- */

/* A file beside it: a night, and a command that analyses or renames, exclude each other. */

/* Of the history at `path`, which need not exist. TK_EBUSY: another process holds it. Release it
 * with tk_lock_release(). */
int tk_store_lock(const char *path, struct tk_lock **out, struct tk_error *err);

/* Whether a process holds the lock of this history. */
bool tk_store_is_locked(struct tk_store *s);

/* Marks a `running` night that no process is executing as `stopped`. The history does not record
 * that a night was killed; the lock of the executing process shows it, and only the newest
 * unfinished night can be executing. `confirm` and `bisect` take the same lock: while one of them
 * runs, that night still counts as running. nights: newest first. */
void tk_store_mark_stopped(struct tk_store *s, struct tk_rows *nights);

/* ---- rows ------------------------------------------------------------------------------------ */

struct tk_machine_row {
	int64_t id, renamed_s; /* 0: never */
	const char *uid, *name, *attributes;
};
struct tk_device_row {
	int64_t id, machine_id;
	const char *uid, *kind, *name, *uuid, *arch, *slug;
};
struct tk_environment_row {
	int64_t id, device_id;
	const char *uid, *attributes;
};
struct tk_upstream_row {
	int64_t id;
	const char *uid, *name, *kind, *url;
};
struct tk_revision_row {
	int64_t id, upstream_id;
	const char *uid, *rev, *parent;
	int64_t position, author_time_s, commit_time_s;
	const char *author, *subject;
};
struct tk_build_row {
	int64_t id, revision_id;
	const char *uid, *artifact_key, *adapter, *toolchain, *flags, *arch;
	enum tk_build_status status;
	const char *message, *log;
	double wall_s;
	int64_t size_bytes, built_s;
};
struct tk_kernel_row {
	int64_t id, build_id;
	const char *backend, *name, *code_hash;
	int64_t size_bytes;
	int64_t registers, spill_bytes, shared_bytes, threads, occupancy_percent; /* -1: unknown */
	const char *instructions; /* "total=816 LDL=143 BAR=1"; "": not counted */
};
struct tk_problem_row {
	int64_t id;
	const char *uid, *text, *op, *dtype, *title;
	double flops, bytes;
	const char *source, *family;
};
#define TK_SERIES_RETIRED (-1) /* no night measures it any more */
struct tk_series_row {
	int64_t id, device_id, upstream_id, problem_id;
	const char *uid, *slug, *backend, *config, *mode, *metric, *unit;
	enum tk_better better;
	enum tk_series_role role;
	/* one of these many nights in a row measures it; 0: every night; TK_SERIES_RETIRED */
	int64_t rotate_nights;
};
struct tk_night_row {
	int64_t id, machine_id;
	const char *uid;
	enum tk_night_kind kind;
	int64_t as_of_s, started_s, finished_s; /* finished_s 0: not yet */
	enum tk_night_status status;
	int64_t seed;
	const char *config_hash, *tracker_version, *summary;
};
struct tk_stage_row {
	int64_t night_id;
	const char *name;
	enum tk_stage_status status;
	int64_t started_s, finished_s;
	const char *detail;
};
struct tk_resolution_row {
	int64_t night_id, upstream_id, revision_id, build_id;
	enum tk_resolution_status status;
	const char *message;
}; /* ids 0: none */
struct tk_job_row {
	int64_t id, night_id, seq, series_id, build_id;
	int64_t device_id; /* that has taken the job over; 0: the device of its series */
	int64_t run_id;    /* 0: not done yet */
	const char *backend_path, *options;
};
struct tk_run_row { /* series_id 0: its points are of many series (import) */
	int64_t id, night_id, seq, series_id, build_id, environment_id;
	const char *uid;
	int64_t as_of_s, started_s;
	double wall_s;
	enum tk_outcome outcome;
	const char *message, *attributes;
};

/* One point of a series. flags: TK_POINT_...; NAN: not known (imported points often have the value
 * alone). */
#define TK_POINT_THROTTLED 1u
#define TK_POINT_UNSTABLE 2u
#define TK_POINT_VERSION_SHIFT 16 /* above: a hash of the benchmark's version; 0: not known */
struct tk_point {
	int64_t series_id, as_of_s, run_id, night_id, build_id, environment_id;
	double value, lo, hi, min, q25, q75, p95;
	int64_t n;
	uint32_t flags;
};
static inline bool tk_point_is_new_version(uint32_t before, uint32_t after)
{
	return before >> TK_POINT_VERSION_SHIFT && after >> TK_POINT_VERSION_SHIFT &&
	       before >> TK_POINT_VERSION_SHIFT != after >> TK_POINT_VERSION_SHIFT;
}
struct tk_ceiling_row {
	int64_t night_id, device_id;
	const char *name;
	enum tk_ceiling_source source;
	const char *unit;
	double value;
};
/* An A/B pair: two builds of a series, measured one right after the other. NAN: that side has no
 * timing. */
struct tk_ab_pair_row {
	int64_t id, night_id, series_id, base_build_id, head_build_id, pair;
	const char *uid;
	int64_t started_s;
	double wall_s;
	const char *first; /* "base" or "head": the one that was measured first */
	const char *base_outcome, *head_outcome, *message;
	double base_median, head_median, base_min, head_min; /* min: of the fastest sample */
};
struct tk_change_point_row {
	int64_t series_id, as_of_s, run_id, previous_run_id;
	double before_value, after_value, change_lo, change_hi, p;
	enum tk_cause cause;
	double confidence;
	const char *detail;
};
/* What a night decided about a series: everything that is printed of it. NAN: no such number, id 0:
 * none. tk_store_list_verdicts() reads it with what other tables add. */
struct tk_verdict_row {
	int64_t night_id, series_id;
	enum tk_verdict_status status; /* stored as if nobody had accepted it */
	enum tk_verdict_state state;
	enum tk_rule_id rule;
	enum tk_cause cause;
	double before_value, before_lo, before_hi, after_value, after_lo, after_hi;
	double change, change_lo, change_hi; /* after / before - 1 */
	double threshold, severity, p, q;
	int64_t good_build_id, bad_build_id;               /* the change lies between them */
	int64_t last_good_run_id, first_bad_run_id;        /* on both sides of what was compared */
	int64_t base_build_id, head_build_id, head_run_id; /* the last good, the newest */
	uint32_t samples_before, samples_after, same_code, new_code, unstable;
	enum tk_ab_decision ab_decision; /* of A/B runs of these two builds */
	uint32_t ab_count, ab_failed, ab_fastest;
	double ab_change, ab_lo, ab_hi;
	int64_t newest_s;      /* time of the newest run */
	uint32_t accepted;     /* by a line of acks.yml, of what has no alert */
	const char *alert_uid; /* that it opened, that lasts or that it closed; "": none */
	const char *facts;     /* JSON, see core/verdict.h */

	/* Read only. */
	enum tk_verdict_status status_before_ack;
	int64_t alert_opened_s;                         /* 0: no alert */
	const char *ack_action, *ack_author, *ack_note; /* of the triage that accepted it; "" */
	int64_t good_revision_id, bad_revision_id, commits_between; /* -1: unknown */
	const char *good_rev, *bad_rev, *bad_subject;
	/* That a bisection found between them; "": none. */
	const char *first_bad_rev, *first_bad_subject, *first_bad_author;
	int64_t first_bad_time_s;
	double first_bad_change, first_bad_confidence;
	const char *reason; /* the facts as a sentence */
};
/* group_uid: shared by alerts of the same commit on like machines, and by data that went missing
 * together; NULL: the alert is alone. Ids 0: missing data of all series of the upstream, or of the
 * machine. */
struct tk_alert_row {
	const char *uid, *group_uid;
	enum tk_alert_kind kind;
	int64_t machine_id, upstream_id, series_id, night_id;
	enum tk_alert_status status;
	int64_t opened_s, closed_s;
	/* The night whose verdict on the series describes it: the newest that reported it; 0: the
	 * one that opened it. */
	int64_t verdict_night_id;
	const char *title;
	int64_t good_revision_id, bad_revision_id; /* last good, first bad; 0: unknown */
	/* The names of those revisions. Where an alert is put without ids, they are looked up. */
	const char *good_rev, *bad_rev;

	/* Read only: of that verdict. NAN, "": not known. */
	enum tk_cause cause;
	double before_value, after_value, change, change_lo,
	        change_hi; /* change of a failure: NAN */
	enum tk_ab_decision ab_decision;
	uint32_t ab_count, ab_failed, ab_fastest;
	double ab_change, ab_lo, ab_hi;
	/* The commit that a bisection found between its revisions. */
	const char *first_bad_rev, *first_bad_subject, *first_bad_author;
	int64_t first_bad_time_s;
	double first_bad_change, first_bad_confidence;
};
/* What a bisection of good_rev..bad_rev found. NAN: not known. */
struct tk_bisection_row {
	const char *uid;
	int64_t series_id, night_id;
	enum tk_bisect_outcome outcome;
	const char *good_rev, *bad_rev, *first_bad_rev, *last_good_rev, *subject, *author;
	int64_t author_time_s;
	double change, change_lo, change_hi, confidence; /* first_bad_rev against last_good_rev */
	int64_t build_count, failed_build_count, comparison_count, pair_count, finished_s;
};
/* What a device could tell apart in a night, in one mode. */
struct tk_sensitivity_row {
	int64_t night_id, device_id;
	const char *mode;
	double noise; /* of one timing, relative, by `pair_count` pairs of equal code */
	int64_t pair_count;
	double min_effect; /* the smallest change that was reported, relative */
};
/* What the monitor reported for a series in a night. */
struct tk_monitor_event_row {
	int64_t series_id, night_id, as_of_s;
	enum tk_monitor_event_kind kind;
	int64_t first_after_s, last_before_s; /* first point at the new level, last at the old */
	double before_value, after_value, log_lr, q;
};
/* A night in which the monitor evaluated every point. */
struct tk_monitored_night_row {
	int64_t night_id, series_count;
};
/* The state of the monitor after the newest night of a device. */
struct tk_monitor_state_row {
	int64_t device_id, as_of_s, nights;
	const char *options;
	const double *numbers;
	size_t count;
};
struct tk_triage_row {
	int64_t id;
	const char *uid, *alert_uid;
	int64_t at_s;
	const char *author;
	enum tk_triage_action action;
	const char *note;
};
/* An alert that was delivered: sink "webhook" or "file"; target: a hash of the address. */
struct tk_notification_row {
	const char *alert_uid, *sink, *target;
	int64_t sent_s;
};

/* What was recorded inside the kernels of one problem on one backend and device. */
struct tk_kernel_report_row {
	int64_t id, device_id, environment_id, problem_id;
	const char *uid;
	enum tk_kernel_report kind;
	const char *upstream, *revision; /* "": an installed backend */
	const char *artifact_key;        /* of the build */
	const char *backend, *options, *config, *mode;
	const char *base; /* that a trace was compared with; "": nothing */
	int64_t started_s;
	const char *result;   /* JSON: docs/reference/kernel-reports.md */
	const char *timeline; /* JSON: the same page; "": none; NULL in lists */
};

/* ---- writing: id and uid of the given row are ignored, the id is returned -------------------- */

/* tk_store_put() (select.h) stores one row. A machine is found by its name; its uid, where one is
 * given, is that of a new row. The slug of a series is made:
 * machine.device.upstream[.backend].problem[.config].mode[.metric], [a-z0-9._-], at most 120
 * characters, unique. The uid of an alert may be NULL: it is made from the series and bad_rev,
 * which is what a uid should be; revisions that it names and the history does not have become rows.
 */

/* A night is always new (started_s is increased by a second if an equal night exists). Finishing
 * sets finished_s, status and summary. */
int tk_store_begin_night(
        struct tk_store *s, const struct tk_night_row *row, int64_t *id, struct tk_error *err);
int tk_store_finish_night(struct tk_store *s, int64_t night_id, enum tk_night_status status,
        const char *summary, int64_t finished_s, struct tk_error *err);
int tk_store_put_jobs(struct tk_store *s, const struct tk_job_row *rows, size_t count,
        struct tk_error *err); /* all or none */
/* Gives jobs to another device, all or none. TK_EDATA: one of them does not exist or is done. */
int tk_store_assign_jobs(struct tk_store *s, const int64_t *job_ids, size_t count,
        int64_t device_id, struct tk_error *err);

/* A run with its points and samples in one transaction; marks the job (night_id, seq) done, whose
 * series or device is that of the run.
 * samples[i] belong to points[i]; sample_counts[i] may be 0. series_id and the values of each point
 * are read, the rest is filled from the run. */
int tk_store_put_run(struct tk_store *s, const struct tk_run_row *run,
        const struct tk_point *points, const double *const *samples, const size_t *sample_counts,
        size_t point_count, int64_t *id, struct tk_error *err);

int tk_store_replace_change_points(struct tk_store *s, int64_t series_id,
        const struct tk_change_point_row *rows, size_t count, struct tk_error *err);
int tk_store_replace_verdicts(struct tk_store *s, int64_t night_id,
        const struct tk_verdict_row *rows, size_t count, struct tk_error *err);
int tk_store_put_monitor_state(struct tk_store *s, const struct tk_monitor_state_row *row,
        struct tk_error *err); /* replaces */
/* Deletes the events of a device since a time, and the state of its monitor. */
int tk_store_reset_monitor(
        struct tk_store *s, int64_t device_id, int64_t since_s, struct tk_error *err);

/* Gives a machine another name, and its series other slugs. Where histories meet, the newest name
 * counts. TK_ENOTFOUND: there is no machine old_name; TK_EUSAGE: there is a machine new_name, or it
 * is empty. */
int tk_store_rename_machine(
        struct tk_store *s, const char *old_name, const char *new_name, struct tk_error *err);

/* ---- reading: lists own their rows and strings ----------------------------------------------- */

/* Runs whose id is the number `text` or whose uid starts with it: at most 8; none if `text` is
 * neither. */
int tk_store_find_runs(
        struct tk_store *s, const char *text, struct tk_rows *out, struct tk_error *err);
/* Points of one series by (as_of_s, run_id); from_s inclusive, INT64_MIN: all. `last`: at most that
 * many newest ones, 0: all. */
int tk_store_list_points(struct tk_store *s, int64_t series_id, int64_t from_s, size_t last,
        struct tk_rows *out, struct tk_error *err);
/* All of them; those before a time without run, number of samples, minimum and quartiles. */
int tk_store_list_all_points(struct tk_store *s, int64_t series_id, int64_t whole_from_s,
        struct tk_rows *out, struct tk_error *err);
int tk_store_list_ceilings(struct tk_store *s, int64_t night_id, struct tk_rows *out,
        struct tk_error *err); /* 0: the newest of each device and name */
/* By series, builds and pair; of the nights since a time. series_id 0: all. */
int tk_store_list_ab_pairs(struct tk_store *s, int64_t series_id, int64_t since_s,
        struct tk_rows *out, struct tk_error *err);
/* TK_ENOTFOUND: no state is stored, or it cannot be read. free() its numbers and its options. */
int tk_store_read_monitor_state(struct tk_store *s, int64_t device_id,
        struct tk_monitor_state_row *out, struct tk_error *err);
/* Of the newest verdict before a time that reported a change as this alert; NAN: there is none. */
int tk_store_find_alert_levels(struct tk_store *s, const char *uid, int64_t before_s,
        double *before_value, double *change, struct tk_error *err);
/* Status and facts of a row that was read, with who accepted it. */
void tk_verdict_row_read_facts(const struct tk_verdict_row *row, struct tk_verdict *v);
int tk_store_list_verdicts(
        struct tk_store *s, int64_t night_id, struct tk_rows *out, struct tk_error *err);
int tk_store_find_verdict(struct tk_store *s, int64_t night_id, int64_t series_id,
        struct tk_rows *out, struct tk_error *err);
/* Rows of the views verdict_v and alert_v: struct tk_verdict_row, struct tk_alert_row. */
extern const struct tk_row_type tk_verdict_v_type, tk_alert_v_type;
int tk_store_list_alerts(struct tk_store *s, struct tk_rows *out, struct tk_error *err);
int tk_store_read_samples(struct tk_store *s, int64_t run_id, int64_t series_id, double **samples,
        size_t *count, struct tk_error *err); /* caller frees; 0 where dropped */

/* Whether there is any trace that compares two revisions. */
int tk_store_has_comparisons(struct tk_store *s, bool *out, struct tk_error *err);
/* The result of the newest trace that compares these two revisions of the kernels of a series, the
 * caller's; NULL: there is none. */
int tk_store_find_comparison(struct tk_store *s, const struct tk_series_row *series,
        const char *upstream, const char *good_rev, const char *bad_rev, char **result,
        struct tk_error *err);

/* ---- triage of alerts ------------------------------------------------------------------------ */

/* What people decided about an alert: rows of `triage`. A row is about one alert or a whole group.
 * decision: the newest row that changed the state, NULL while it is new; link: the newest one,
 * NULL: none. */
struct tk_alert_triage {
	enum tk_triage_state state; /* never RECOVERED */
	const struct tk_triage_row *decision, *link;
};
/* triage: in the order of time. group_uid may be NULL. */
struct tk_alert_triage tk_alert_compute_triage(
        const struct tk_rows *triage, const char *alert_uid, const char *group_uid);
/* Appends a row. at_s is moved behind earlier rows of the alert, of its group, and of the alerts of
 * the group that it is: the order is then the same in every history. */
int tk_store_append_triage(
        struct tk_store *s, const struct tk_triage_row *row, struct tk_error *err);

/* ---- what detection reads, of every series at once ------------------------------------------- */

/* How the newest run of a series ended; run_id 0: there is none. */
struct tk_run_summary {
	int64_t run_id, as_of_s, night_id, build_id, environment_id;
	enum tk_outcome outcome;
	const char *message;
};

/* Natural logarithms of points, which are computed once where points are kept. */
struct tk_point_logs {
	double value;
	double interval; /* of hi / lo; 0: the point has no interval */
};
struct tk_point_logs tk_point_find_logs(const struct tk_point *p);

struct tk_history_window { /* the newest `before` points before the range, then `within` in it */
	int64_t series_id;
	bool is_borrowed; /* points and logs: from the reader */
	const struct tk_point *points;
	const struct tk_point_logs *logs; /* one for each; NULL: not known */
	size_t first, before, within;     /* first: points of the windows before this one */
	struct tk_run_summary last_before, first_within, last_within;
};

/* Keeps the committed points that were read, for ranges that move forward in time, as those of a
 * replay do. Points that are added while it lives may be missed. */
struct tk_point_reader *tk_point_reader_new(void);
void tk_point_reader_free(struct tk_point_reader *reader);

struct tk_window_query {
	int64_t since_s, until_s; /* the range, both ends included */
	int64_t runs_s;
	size_t before;                  /* points of each series from before it, at most */
	struct tk_point_reader *reader; /* NULL: none */
};
/* windows: struct tk_history_window, one for each series, by id; struct tk_point: in *points, or
 * all positive in the reader, valid until its next query. last_before and last_within: newest runs
 * before and since runs_s, in the newest night of last_within one that was not skipped, if there is
 * one; first_within: the oldest since runs_s, if none is before. */
int tk_store_list_windows(struct tk_store *s, const struct tk_window_query *query,
        struct tk_rows *windows, struct tk_rows *points, struct tk_error *err);

/* Points of a series before a time, oldest first: only values that have a logarithm. The second and
 * the third are struct tk_point: the first `most`; the newest `most` up to a
 * time, but for the `skip` newest. */
struct tk_timed_value {
	int64_t as_of_s;
	double value;
};
int tk_store_list_values(struct tk_store *s, int64_t series_id, int64_t before_s,
        struct tk_rows *out, struct tk_error *err);
int tk_store_list_first_points(struct tk_store *s, int64_t series_id, int64_t before_s, size_t most,
        struct tk_rows *out, struct tk_error *err);
int tk_store_list_last_points(struct tk_store *s, int64_t series_id, int64_t until_s, size_t skip,
        size_t most, struct tk_rows *out, struct tk_error *err);

/* The earliest night that measured a revision, or resolved to it; 0: none. */
int tk_store_find_revision_night(
        struct tk_store *s, int64_t revision_id, int64_t *night_id, struct tk_error *err);
/* Whether a run of the series since a time ended for a reason other than lack of time or of a
 * device. */
int tk_store_has_executed_run(
        struct tk_store *s, int64_t series_id, int64_t since_s, bool *out, struct tk_error *err);

/* ---- upkeep ---------------------------------------------------------------------------------- */

int tk_store_check(struct tk_store *s, struct tk_rows *problems,
        struct tk_error *err); /* rows of const char *: integrity, foreign keys, uids, checksums */
/* Whether a page of it could not be read since it was opened, by the check or by any other
 * function. */
bool tk_store_is_damaged(const struct tk_store *s);
/* What is damaged (rows of const char *) in a file that cannot be opened because of it; no rows if
 * that is not the reason. */
int tk_store_diagnose_file(const char *path, struct tk_rows *problems, struct tk_error *err);
/* Removes what SQLite keeps beside a history, which it would read as changes of another one under
 * the same name. */
int tk_store_remove_pending(const char *path, struct tk_error *err);
int tk_store_backup(struct tk_store *s, const char *to, struct tk_error *err);
int tk_store_vacuum(struct tk_store *s, int64_t drop_samples_before_s, struct tk_error *err);
int tk_store_drop_samples(struct tk_store *s, int64_t before_s,
        struct tk_error *err); /* of runs that were started before; without a vacuum */
/* Puts everything that `from` has into `into`, in one transaction. Equal rows (by uid, or key) are
 * stored once; if the same fact is described differently, the resulting description does not depend
 * on the order. Counts, which may be NULL, are added to: rows that were new. */
enum tk_merge_count {
	TK_MERGE_NIGHTS,
	TK_MERGE_SERIES,
	TK_MERGE_POINTS,
	TK_MERGE_OTHERS,
	TK_MERGE_COUNTS
};
struct tk_merge_counts {
	int64_t added[TK_MERGE_COUNTS];
};
int tk_store_merge(struct tk_store *into, struct tk_store *from, struct tk_merge_counts *counts,
        struct tk_error *err);
/* Everything, in a stable order, one JSON object a line: {"table":"night","uid":...}. */
int tk_store_export(struct tk_store *s, int fd, struct tk_error *err);

/* One record for each point, or run without a value, of the nights since a time (INT64_MIN: all) or
 * of one night (0: all): the same fields in every format (docs/how-to/import-histories.md). The
 * ndjson can be imported elsewhere, whole nights of it without loss except triage. */
enum tk_record_format { TK_RECORD_NDJSON, TK_RECORD_JSON, TK_RECORD_CSV };
int tk_store_export_records(struct tk_store *s, int64_t since_s, int64_t night_id,
        enum tk_record_format format, int fd, struct tk_error *err);

/* Imports files of other tools (docs/how-to/import-histories.md), all of them or none: one
 * transaction. TK_EDATA: a malformed file; the message names the file, the line or the JSON path,
 * and the field. Where several files are wrong, counts.errors has a line for each. dry_run: does
 * everything but write. Importing the same again adds nothing. *counts is set on failure, too. */
/* A commit of a repository, and its place on the axis of time. */
struct tk_import_commit {
	char rev[65];
	int64_t time_s, position;
};
/* Of commits in the order of their graph, the first one first: sets the positions, and times that
 * are in this order where those of commits are not. Sorts them for a request. */
void tk_import_order_commits(struct tk_import_commit *commits, size_t n);

struct tk_import_request {
	const char *format; /* or a file of a user's own, *.sql; NULL: guessed, for each file */
	const char *const *paths;
	size_t path_count;
	const char *machine, *upstream, *rev; /* NULL: as the file says */
	/* "lower", "higher", or "NAME=lower" for a unit, a metric or the series of a pattern; the
	 * last one that matches counts */
	const char *const *better;
	size_t better_count;
	bool allow_unknown_units; /* stores series without a direction */
	bool keep_going;          /* leaves out files that are wrong */
	const char *identity;     /* columns that name series, too: "a,b"; NULL: none */
	int64_t at_s; /* when it was measured, for files that do not say it; 0: when they were
	                 written */
	const struct tk_import_commit *commits; /* whose order counts, not that of the file */
	size_t commit_count;
	bool dry_run;
};
struct tk_import_counts {
	int64_t files, nights, series, points; /* nights, series, points: new ones */
	int64_t without_value, empty;          /* results without one; files without results */
	int64_t differing;             /* values that differ from the stored ones, which are kept */
	char first_without_value[256]; /* its file and name */
	char first_differing[512];     /* series, revision, both values */
	char first_empty[256];         /* its file */
	int64_t undirected, turned;    /* new series without a direction; that keep another one */
	char first_undirected[256], first_turned[256];
	int64_t misdated;         /* revisions whose times contradict the order of their file */
	char first_misdated[256]; /* its file and name */
	int64_t broken;           /* files that are left out */
	struct tk_buf errors;     /* several of the files, a line each. Free it */
	json_t *unknown; /* columns that are no part of a name, as its keys; NULL: none. Free it */
};
void tk_import_counts_free(struct tk_import_counts *c);
int tk_store_import(struct tk_store *s, const struct tk_import_request *request,
        struct tk_import_counts *counts, struct tk_error *err);
/* NULL after the last one. what (may be NULL): free it. */
const char *tk_import_get_format_name(size_t i, char **what);
bool tk_import_is_own_format(const char *name); /* the path of a user's format */

#endif
