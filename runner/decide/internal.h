/* An analysis: the tables and series that it reads, what it decides of each series, and what it
 * stores. Private to decide/. */
#ifndef TK_DECIDE_INTERNAL_H
#define TK_DECIDE_INTERNAL_H
#include "base/base.h"
#include "decide/decide.h"
#include "decide/rules/rules.h"
#include "store/catalog/row_index.h"
#include "store/query/code_facts.h"
#include "store/store.h"

/* ---- catalog.c: the small tables of the history by id, read once for an analysis ------------- */

/* Two neighbouring timings of a series with the same code in the same environment. */
struct tk_code_pair {
	int64_t device_id, started_s; /* of the later night */
	const char *mode;
	double difference; /* of logarithms, absolute */
	bool is_one_night; /* both are of it */
};

struct tk_catalog {
	struct tk_store *store;
	struct tk_id_table machines, devices, environments, upstreams, revisions, builds, problems,
	        series, nights;
	struct tk_rows alerts, triage;
	struct tk_rows code; /* hashes of the machine code of backends, by build and backend */
	struct tk_code_pair *pairs; /* by device, mode and time; NULL: not loaded */
	size_t pair_count;
	struct tk_rows timings; /* owns the texts of `pairs` */
};

int tk_catalog_load(struct tk_store *s, struct tk_catalog *out, struct tk_error *err);
void tk_catalog_free(struct tk_catalog *c);
/* What a night changes in a catalog that is kept for the next one: alerts and triage. */
int tk_catalog_reload_alerts(struct tk_catalog *c, struct tk_error *err);
/* NULL: the build or its revision is not known. */
const struct tk_revision_row *tk_catalog_find_revision(
        const struct tk_catalog *c, int64_t build_id);
const struct tk_alert_row *tk_catalog_find_alert(
        const struct tk_catalog *c, const char *uid); /* NULL: it is new */
/* Two builds have the same machine code for a backend: they are the same build, or the hashes of
 * the whole backend are equal. Is new: both hashes are known, and differ. Two builds may be
 * neither. */
bool tk_catalog_is_same_code(
        const struct tk_catalog *c, int64_t build_a, int64_t build_b, const char *backend);
bool tk_catalog_is_new_code(
        const struct tk_catalog *c, int64_t build_a, int64_t build_b, const char *backend);
/* The differences of two environments, "driver 550 -> 555, governor ..."; "": none. *hard: one of
 * them changes what is measured (card, driver, clock policy, method). */
void tk_catalog_diff_environments(
        const struct tk_catalog *c, int64_t from, int64_t to, char *out, size_t size, bool *hard);

/* code_change.c: what is known to differ in the kernel of a series between the two builds of a
 * verdict: "registers 168 -> 255"; "": nothing, or it is not known which kernel ran. */
int tk_code_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CODE_CHANGE_SIZE], struct tk_error *err);
/* Of a series that is measured with the stored winner: "default -> tile=128x64" where the two runs
 * of a verdict used different configurations; "": they did not, or it is not known. */
#define TK_CONFIG_CHANGE_SIZE 300
int tk_config_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CONFIG_CHANGE_SIZE], struct tk_error *err);

/* ---- series_case.c: one series, its points and tests, and what the monitor and alerts say ---- */

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
	size_t earlier;               /* points before the range of time */
	const struct tk_point *zeros; /* points of the window whose value is 0 */
	size_t zero_count;
	struct tk_zero_step zero;
	size_t skipped;                /* points of the window before them, of an older version */
	struct tk_point *owned_points; /* memory of its own for points, y, adjusted_y and se; NULL:
	                                  borrowed from the analysis */
	bool lacks_baseline;           /* the chosen baseline was never measured */
	double *y;                     /* logarithms of the values */
	double *adjusted_y;            /* the same without the common-mode shifts of the machine */
	double *se;                    /* standard errors of the logarithms */
	size_t base;                   /* where the level before the range starts */
	bool unchanged;                /* the newest point has the machine code of the baseline */
	size_t sensitivity;            /* of its device and mode, in that list of the analysis */

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

/* zero_step.c: p[range ..] are in the range; `window` of those before count. */
struct tk_zero_step tk_zero_step_find(
        const struct tk_point *p, size_t n, size_t range, uint32_t window);
/* Sets series, device, machine, upstream and problem. False: one of them is not known. */
bool tk_series_case_find_names(
        const struct tk_catalog *c, int64_t series_id, struct tk_series_case *k);
/* Sets y, adjusted_y and se from the points. */
void tk_series_case_compute_logs(struct tk_series_case *k);
/* Puts the chosen baseline between the history and the range. */
struct tk_analysis;
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

/* ---- analysis.c: load, evaluate (statistics), decide, free ----------------------------------- */

/* Points before the range that are read to estimate the noise, whatever the window. */
#define TK_HISTORY_POINTS_MIN 48
/* Cases that a thread takes at least: it is not worth it for fewer. */
#define TK_CASES_PER_PART 32

/* By how much the series of a device shifted together on one night. */
struct tk_common_mode_shift {
	int64_t device_id, night_id;
	double shift, se;        /* logarithm */
	size_t series, controls; /* that show it */
	bool unknown_code;       /* of series whose code is not known, as in imported histories */
	bool significant;
};

/* The newest full night of a machine in the range, and the upstreams that it resolved. Series of
 * these that it did not measure are missing. */
struct tk_expected_series {
	int64_t machine_id;
	const struct tk_night_row *night; /* NULL: none */
	struct tk_rows resolutions;
};

/* The monitors of devices between the nights of a replay: their state is long, and writing and
 * reading it for each night takes longer than the night. */
struct tk_kept_monitor {
	int64_t device_id, as_of_s, nights;
	struct tk_monitor *monitor; /* NULL: in use */
};
struct tk_kept_monitors {
	struct tk_kept_monitor *at;
	size_t count;
};

/* What a replay keeps from night to night instead of reading and storing it for each of them: the
 * tables that no night changes, the points and the monitors. The states of monitors are stored at
 * its end. */
struct tk_replay_memory {
	struct tk_catalog catalog;
	struct tk_kept_monitors monitors;
	struct tk_point_reader *reader;
};

/* One night is analysed instead of a range of time; all 0: a range. */
struct tk_night_scope {
	int64_t night_id;                /* a series without a run in it is missing */
	bool touched_only;               /* leave out series without a run in it */
	int64_t as_of_s;                 /* runs and alerts of earlier nights were known before */
	struct tk_replay_memory *memory; /* NULL: no replay */
};

/* Alerts about the same commit of an upstream, on devices of the same model, form a group: their
 * ranges of revisions, last good to first bad, overlap. A series that is measured at every fourth
 * revision narrows a step to four commits; other series of the group narrow it further. */
struct tk_commit_groups {
	struct tk_commit_group *at;
	size_t count;
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
	struct tk_sensitivity_row *sensitivity; /* by device and mode; night_id is not set */
	size_t sensitivity_count;
	struct tk_expected_series *expected; /* one for each machine */
	size_t expected_count;
	int64_t since_s, until_s; /* the range */
	bool open_ended;          /* data that is too old by now is stale */
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
struct tk_series_case *tk_analysis_find(
        const struct tk_analysis *c, int64_t series_id); /* NULL: none */
const struct tk_expected_series *tk_analysis_find_expected(
        const struct tk_analysis *c, int64_t machine_id); /* NULL: none */
/* Full nights of a machine after a time, up to the one that is expected to measure. */
size_t tk_analysis_count_nights_since(
        const struct tk_analysis *c, int64_t machine_id, int64_t since_s);
/* By the newest verdict before a time that reported the alert: logarithm of the level before it,
 * and its change; NAN: unknown. */
int tk_alert_read_levels(const struct tk_analysis *c, const struct tk_alert_row *a,
        int64_t before_s, double *baseline, double *change, struct tk_error *err);

/* evaluate.c: statistical tests of all cases, with the false-discovery rate controlled per
 * machine. */
void tk_analysis_evaluate(struct tk_analysis *c);
const struct tk_common_mode_shift *tk_analysis_find_shift(
        const struct tk_analysis *c, int64_t device_id, int64_t night_id); /* NULL: none */

/* sensitivity.c: what each device and mode can tell apart. `noise` is NAN where it is not known
 * yet. */
int tk_catalog_load_pairs(struct tk_catalog *c, struct tk_error *err);
void tk_analysis_estimate_sensitivity(struct tk_analysis *c);
const struct tk_sensitivity_row *tk_series_case_sensitivity(
        const struct tk_analysis *c, const struct tk_series_case *k);
double tk_analysis_find_min_effect(const struct tk_analysis *c, int64_t series_id);
bool tk_monitor_event_is_reported(
        const struct tk_analysis *c, const struct tk_monitor_event_row *e);
/* Those that are known. */
int tk_analysis_store_sensitivity(
        const struct tk_analysis *c, struct tk_store *s, int64_t night_id, struct tk_error *err);

/* gather.c: history of a case -> evidence for the rules. Strings of *out live as long as the
 * analysis. After tk_analysis_evaluate(). */
void tk_evidence_gather(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_evidence *out);
/* step_evidence.c: the numbers and the circumstances of a step between two points of a case.
 *
 * The points `a` and `b` have the same code. */
bool tk_series_case_is_same_code(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t a, size_t b);
/* Code known to be new, or a build after nights of one, came in at a split. */
bool tk_series_case_is_new_build(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t split);
/* Where the level before a split begins. */
size_t tk_series_case_base(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t split);
/* Levels on both sides of a split. */
void tk_series_case_split(const struct tk_analysis *set, const struct tk_series_case *k,
        size_t base, size_t split, struct tk_level_change *out);
/* `levels`, `threshold` and `q` are set; sets the rest but for `shared` and `environment`. */
void tk_step_evidence_describe(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s);
/* After `levels` and `nights`: sets `nights_back` and `newest_back`. */
void tk_step_evidence_count_back(const struct tk_series_case *k, struct tk_step_evidence *s);
/* Sets `shared` and `environment`. */
void tk_step_evidence_add_context(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s);
/* The stored A/B runs of the code before a step and the newest code. */
struct tk_ab_result tk_series_case_evaluate_ab(const struct tk_analysis *c,
        const struct tk_series_case *k, const struct tk_level_change *step);

/* ---- report.c: cases -> rows ----------------------------------------------------------------- */

/* Decides all cases; rows[i] is of case i. */
int tk_analysis_decide(struct tk_analysis *c, struct tk_diff_report *out, struct tk_error *err);
/* renames.c: facts of rows whose series has perhaps another name now. rows[i] is of case i. */
int tk_renames_suggest(const struct tk_analysis *c, struct tk_diff_report *r, struct tk_error *err);
/* Sets the status and clears the facts, which were about the earlier verdict. */
void tk_diff_row_set_status(struct tk_diff_row *row, enum tk_verdict_status status);
/* Sets by_status alone. */
void tk_diff_report_count(struct tk_diff_report *r);
/* Counts, and sorts the rows: most severe first. */
void tk_diff_report_finish(struct tk_diff_report *r);
/* Copies what fits into an array of characters; a text that was cut in the middle of a character
 * ends with '?' instead. */
void tk_text_copy_valid(char *to, size_t size, const char *from);
#define TK_COPY(field, from) tk_text_copy_valid(field, sizeof(field), from)

/* The row of a report that a stored verdict is. False: its series is not in the catalog. */
bool tk_diff_row_read(
        const struct tk_catalog *c, const struct tk_verdict_row *stored, struct tk_diff_row *row);
/* Replaces the verdicts of the night. */
int tk_diff_report_store(
        const struct tk_diff_report *r, struct tk_store *s, int64_t night_id, struct tk_error *err);

/* ---- alerts.c -------------------------------------------------------------------------------- */

/* A row that a line of acks.yml accepts gets the status ACKED, if it is about bad news. */
void tk_diff_row_apply_ack_rules(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, struct tk_diff_row *row);
/* A regression that people accepted gets the status ACKED. */
void tk_series_case_apply_ack(
        const struct tk_analysis *c, const struct tk_series_case *k, struct tk_diff_row *row);
/* The groups of the stored alerts. */
void tk_commit_groups_load(struct tk_analysis *c);
/* Opens an alert for each regression and new failure, closes those that are over, sets the state
 * and the alert of the rows. rows[i] is of case i. */
int tk_alerts_update(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_diff_report *r, struct tk_error *err);
/* change_points.c: searches the whole history of a series and stores what it finds. */
int tk_detect_change_points(struct tk_catalog *c, const struct tk_series_row *series,
        double min_effect, struct tk_error *err);
/* Of all series of the catalog. */
int tk_detect_all_change_points(struct tk_catalog *c, double min_effect, struct tk_error *err);

/* ---- monitor/session.c: the monitor over the history ----------------------------------------- */

/* What was known after the last night is stored, so that a night costs what its own points cost. */
struct tk_monitor_session;
/* Monitors one night: its events go to c->monitor_events and to the cases. Nights of the machine
 * that were not monitored are added first. Free *out. */
int tk_monitor_session_run(struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err);
int tk_monitor_session_save(struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err);
void tk_monitor_session_free(struct tk_monitor_session *w);
TK_AUTO_PTR(tk_monitor_session)
/* Reads the stored events of the range, or of the one night that the analysis is about. */
int tk_analysis_load_monitor_events(struct tk_analysis *c, struct tk_error *err);
int tk_kept_monitors_store(const struct tk_kept_monitors *k,
        const struct tk_detect_options *options, struct tk_store *s, struct tk_error *err);
void tk_kept_monitors_free(struct tk_kept_monitors *k);

#endif
