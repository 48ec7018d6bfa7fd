/* The tables of the history, as data. KEY columns identify a row, in this database and in every
 * other: the uid of a row is the hash of its table's name and its KEY columns, where a reference
 * counts as the uid of the row it names. */
#include "core/vocabulary.h"
#include "store/db/internal.h"
#include "store/renaming.h"

/* The columns of a table, which is named like its struct. The type of the member gives the kind. */
#define MEMBER(table, field) ((struct tk_##table##_row *)0)->field
#define COLUMN(table, field, kind, flags, none, parent, words) \
	{ \
#field, kind, flags, offsetof(struct tk_##table##_row, field), none, parent, words \
	}
#define C(table, field, flags) \
	COLUMN(table, field, \
	        _Generic(MEMBER(table, field), const char *: TK_COL_TEXT, int64_t: TK_COL_INT, \
			double: TK_COL_REAL, uint32_t: TK_COL_U32, struct tk_bytes: TK_COL_BLOB), \
	        flags, 0, 0, NULL)
#define UID(table) COLUMN(table, uid, TK_COL_UID, 0, 0, 0, NULL)
#define REF(table, field, flags, parent) \
	COLUMN(table, field, TK_COL_REF, flags, 0, TK_TABLE_##parent, NULL)
/* A name from a vocabulary, an enum in the row; TEXT_OF: a text that may be such a name. */
#define WORD(table, field, flags, vocabulary) \
	COLUMN(table, field, TK_COL_WORD, flags, 0, 0, &tk_##vocabulary##_words)
#define TEXT_OF(table, field, flags, vocabulary) \
	COLUMN(table, field, TK_COL_TEXT, flags, 0, 0, &tk_##vocabulary##_words)
/* An integer; the value `none` means that there is none. */
#define MAYBE(table, field, none) COLUMN(table, field, TK_COL_INT, NULLABLE, none, 0, NULL)
#define CHECKSUM \
	{ \
		"checksum", TK_COL_CHECKSUM \
	}
#define tk_measurement_row tk_point

#define KEY TK_COL_KEY
#define NEWEST TK_COL_NEWEST
#define NULLABLE TK_COL_NULLABLE
#define LONG TK_COL_LONG
#define RANKED TK_COL_RANKED

static const struct tk_db_column machine_columns[] = {UID(machine), C(machine, renamed_s, 0),
        C(machine, name, KEY), C(machine, attributes, NEWEST)};

/* If a device reports no uuid, its slug replaces it (put.c), so that two cards of one kind remain
 * two devices. */
static const struct tk_db_column device_columns[] = {UID(device),
        REF(device, machine_id, KEY, machine), C(device, kind, KEY), C(device, name, KEY),
        C(device, uuid, KEY), C(device, arch, NEWEST), C(device, slug, 0)};

static const struct tk_db_column environment_columns[] = {UID(environment),
        REF(environment, device_id, KEY, device), C(environment, attributes, KEY)};

static const struct tk_db_column upstream_columns[] = {
        UID(upstream), C(upstream, name, KEY), C(upstream, kind, NEWEST), C(upstream, url, NEWEST)};

static const struct tk_db_column revision_columns[] = {UID(revision),
        REF(revision, upstream_id, KEY, upstream), C(revision, rev, KEY),
        C(revision, parent, NEWEST), C(revision, position, NEWEST),
        C(revision, author_time_s, NEWEST), C(revision, commit_time_s, NEWEST),
        C(revision, author, NEWEST), C(revision, subject, NEWEST)};

/* The status belongs to the identity: a build that failed and later succeeds is two facts. */
static const struct tk_db_column build_columns[] = {UID(build),
        REF(build, revision_id, KEY, revision), C(build, artifact_key, KEY), C(build, adapter, KEY),
        C(build, toolchain, 0), C(build, flags, 0), C(build, arch, 0),
        WORD(build, status, KEY, build_status), C(build, message, 0), C(build, log, LONG),
        C(build, wall_s, 0), C(build, size_bytes, 0), C(build, built_s, 0)};

static const struct tk_db_column kernel_columns[] = {REF(kernel, build_id, KEY, build),
        C(kernel, backend, KEY), C(kernel, name, KEY), C(kernel, code_hash, 0),
        C(kernel, size_bytes, 0), MAYBE(kernel, registers, -1), MAYBE(kernel, spill_bytes, -1),
        MAYBE(kernel, shared_bytes, -1), MAYBE(kernel, threads, -1),
        MAYBE(kernel, occupancy_percent, -1), C(kernel, instructions, 0)};

static const struct tk_db_column problem_columns[] = {UID(problem), C(problem, text, KEY),
        C(problem, op, NEWEST), C(problem, dtype, NEWEST), C(problem, title, NEWEST),
        C(problem, flops, NEWEST), C(problem, bytes, NEWEST), C(problem, source, NEWEST),
        C(problem, family, NEWEST)};

static const struct tk_db_column series_columns[] = {UID(series), C(series, slug, 0),
        REF(series, device_id, KEY, device), REF(series, upstream_id, KEY, upstream),
        C(series, backend, KEY), C(series, config, KEY), REF(series, problem_id, KEY, problem),
        TEXT_OF(series, mode, KEY, mode), C(series, metric, KEY), C(series, unit, NEWEST),
        WORD(series, better, NEWEST, better), WORD(series, role, NEWEST, series_role),
        C(series, rotate_nights, NEWEST)};

static const struct tk_db_column night_columns[] = {UID(night),
        REF(night, machine_id, KEY, machine), WORD(night, kind, KEY, night_kind),
        C(night, as_of_s, KEY), C(night, started_s, KEY), MAYBE(night, finished_s, 0),
        WORD(night, status, RANKED, night_status), C(night, seed, KEY), C(night, config_hash, 0),
        C(night, tracker_version, 0), C(night, summary, 0)};

static const struct tk_db_column stage_columns[] = {REF(stage, night_id, KEY, night),
        C(stage, name, KEY), WORD(stage, status, RANKED, stage_status), C(stage, started_s, 0),
        MAYBE(stage, finished_s, 0), C(stage, detail, 0)};

static const struct tk_db_column resolution_columns[] = {REF(resolution, night_id, KEY, night),
        REF(resolution, upstream_id, KEY, upstream),
        REF(resolution, revision_id, NULLABLE, revision),
        REF(resolution, build_id, NULLABLE, build), WORD(resolution, status, 0, resolution_status),
        C(resolution, message, 0)};

/* All columns of a run identify it: two processes that measured halves of one night both number
 * their jobs from 0. */
static const struct tk_db_column run_columns[] = {UID(run), REF(run, night_id, KEY, night),
        C(run, seq, KEY), REF(run, series_id, KEY | NULLABLE, series),
        REF(run, build_id, KEY, build), REF(run, environment_id, NULLABLE, environment),
        C(run, as_of_s, 0), C(run, started_s, KEY), C(run, wall_s, 0),
        WORD(run, outcome, KEY, outcome), C(run, message, KEY), C(run, attributes, KEY)};

static const struct tk_db_column job_columns[] = {REF(job, night_id, KEY, night), C(job, seq, KEY),
        REF(job, series_id, KEY, series), REF(job, build_id, KEY, build), C(job, backend_path, 0),
        C(job, options, 0), REF(job, device_id, NULLABLE, device), REF(job, run_id, NULLABLE, run)};

static const struct tk_db_column measurement_columns[] = {REF(measurement, series_id, KEY, series),
        C(measurement, as_of_s, KEY), REF(measurement, run_id, KEY, run), C(measurement, value, 0),
        C(measurement, lo, NULLABLE), C(measurement, hi, NULLABLE), C(measurement, n, 0),
        C(measurement, min, NULLABLE), C(measurement, q25, NULLABLE), C(measurement, q75, NULLABLE),
        C(measurement, p95, NULLABLE), REF(measurement, night_id, 0, night),
        REF(measurement, build_id, 0, build),
        REF(measurement, environment_id, NULLABLE, environment), C(measurement, flags, 0),
        CHECKSUM};

static const struct tk_db_column sample_columns[] = {
        REF(sample, run_id, KEY, run), REF(sample, series_id, KEY, series), C(sample, data, 0)};

static const struct tk_db_column ceiling_columns[] = {REF(ceiling, night_id, KEY, night),
        REF(ceiling, device_id, KEY, device), C(ceiling, name, KEY),
        WORD(ceiling, source, KEY, ceiling_source), C(ceiling, value, 0), C(ceiling, unit, 0)};

static const struct tk_db_column ab_pair_columns[] = {UID(ab_pair),
        REF(ab_pair, night_id, KEY, night), REF(ab_pair, series_id, KEY, series),
        REF(ab_pair, base_build_id, KEY, build), REF(ab_pair, head_build_id, KEY, build),
        C(ab_pair, pair, KEY), C(ab_pair, started_s, KEY), C(ab_pair, wall_s, 0),
        C(ab_pair, first, KEY), C(ab_pair, base_outcome, 0), C(ab_pair, head_outcome, 0),
        C(ab_pair, message, 0), C(ab_pair, base_median, NULLABLE),
        C(ab_pair, head_median, NULLABLE), C(ab_pair, base_min, NULLABLE),
        C(ab_pair, head_min, NULLABLE)};

static const struct tk_db_column tuning_columns[] = {UID(tuning),
        REF(tuning, device_id, KEY, device), REF(tuning, environment_id, KEY, environment),
        REF(tuning, problem_id, KEY, problem), C(tuning, upstream, KEY), C(tuning, revision, KEY),
        C(tuning, artifact_key, KEY), C(tuning, backend, KEY), C(tuning, options, KEY),
        TEXT_OF(tuning, mode, KEY, mode), C(tuning, started_s, KEY),
        WORD(tuning, verdict, 0, tune_verdict), C(tuning, config, 0), C(tuning, winner, 0),
        C(tuning, default_ns, NULLABLE), C(tuning, winner_ns, NULLABLE),
        C(tuning, change, NULLABLE), C(tuning, change_lo, NULLABLE), C(tuning, change_hi, NULLABLE),
        C(tuning, pair_count, 0), C(tuning, evaluation_count, 0), C(tuning, candidates, 0),
        CHECKSUM};

static const struct tk_db_column kernel_report_columns[] = {UID(kernel_report),
        REF(kernel_report, device_id, KEY, device),
        REF(kernel_report, environment_id, KEY, environment),
        REF(kernel_report, problem_id, KEY, problem), WORD(kernel_report, kind, KEY, kernel_report),
        C(kernel_report, upstream, KEY), C(kernel_report, revision, KEY),
        C(kernel_report, artifact_key, KEY), C(kernel_report, backend, KEY),
        C(kernel_report, options, KEY), C(kernel_report, config, KEY),
        TEXT_OF(kernel_report, mode, KEY, mode), C(kernel_report, base, KEY),
        C(kernel_report, started_s, KEY), C(kernel_report, result, 0),
        C(kernel_report, timeline, LONG), CHECKSUM};

static const struct tk_db_column triage_columns[] = {UID(triage), C(triage, alert_uid, KEY),
        C(triage, at_s, KEY), C(triage, author, KEY), WORD(triage, action, KEY, triage_action),
        C(triage, note, KEY)};

static const struct tk_db_column renaming_columns[] = {UID(renaming), C(renaming, old_name, KEY),
        C(renaming, new_name, KEY), C(renaming, at_s, KEY)};

static const struct tk_db_column notification_columns[] = {C(notification, alert_uid, KEY),
        C(notification, sink, KEY), C(notification, target, KEY), C(notification, sent_s, 0)};

/* run_id and previous_run_id are not enforced: derived rows may be older than a run that was taken
 * out. */
static const struct tk_db_column change_point_columns[] = {
        REF(change_point, series_id, KEY, series), C(change_point, as_of_s, KEY),
        REF(change_point, run_id, KEY, run), REF(change_point, previous_run_id, 0, run),
        C(change_point, before_value, 0), C(change_point, after_value, 0),
        C(change_point, change_lo, 0), C(change_point, change_hi, 0), C(change_point, p, 0),
        WORD(change_point, cause, 0, cause), C(change_point, confidence, 0),
        C(change_point, detail, 0)};

#define VERDICT_COLUMNS \
	REF(verdict, night_id, KEY, night), REF(verdict, series_id, KEY, series), \
	        WORD(verdict, status, 0, verdict_status), WORD(verdict, state, 0, verdict_state), \
	        WORD(verdict, rule, 0, rule_id), WORD(verdict, cause, 0, cause), \
	        C(verdict, before_value, NULLABLE), C(verdict, before_lo, NULLABLE), \
	        C(verdict, before_hi, NULLABLE), C(verdict, after_value, NULLABLE), \
	        C(verdict, after_lo, NULLABLE), C(verdict, after_hi, NULLABLE), \
	        C(verdict, change, NULLABLE), C(verdict, change_lo, NULLABLE), \
	        C(verdict, change_hi, NULLABLE), C(verdict, threshold, NULLABLE), \
	        C(verdict, severity, NULLABLE), C(verdict, p, NULLABLE), C(verdict, q, NULLABLE), \
	        REF(verdict, good_build_id, NULLABLE, build), \
	        REF(verdict, bad_build_id, NULLABLE, build), \
	        REF(verdict, last_good_run_id, NULLABLE, run), \
	        REF(verdict, first_bad_run_id, NULLABLE, run), \
	        REF(verdict, base_build_id, NULLABLE, build), \
	        REF(verdict, head_build_id, NULLABLE, build), \
	        REF(verdict, head_run_id, NULLABLE, run), C(verdict, samples_before, 0), \
	        C(verdict, samples_after, 0), C(verdict, same_code, 0), C(verdict, new_code, 0), \
	        C(verdict, unstable, 0), WORD(verdict, ab_decision, 0, ab_decision), \
	        C(verdict, ab_count, 0), C(verdict, ab_failed, 0), C(verdict, ab_fastest, 0), \
	        C(verdict, ab_change, NULLABLE), C(verdict, ab_lo, NULLABLE), \
	        C(verdict, ab_hi, NULLABLE), C(verdict, newest_s, 0), C(verdict, accepted, 0), \
	        C(verdict, alert_uid, 0), C(verdict, facts, 0)

static const struct tk_db_column verdict_columns[] = {VERDICT_COLUMNS};

/* With what other tables add: see views.sql. */
static const struct tk_db_column verdict_v_columns[] = {VERDICT_COLUMNS,
        WORD(verdict, status_before_ack, 0, verdict_status), C(verdict, alert_opened_s, 0),
        C(verdict, ack_action, 0), C(verdict, ack_author, 0), C(verdict, ack_note, 0),
        C(verdict, good_revision_id, 0), C(verdict, bad_revision_id, 0),
        C(verdict, commits_between, 0), C(verdict, good_rev, 0), C(verdict, bad_rev, 0),
        C(verdict, bad_subject, 0), C(verdict, reason, 0), C(verdict, first_bad_rev, 0),
        C(verdict, first_bad_subject, 0), C(verdict, first_bad_author, 0),
        C(verdict, first_bad_time_s, 0), C(verdict, first_bad_change, NULLABLE),
        C(verdict, first_bad_confidence, NULLABLE)};
const struct tk_row_type tk_verdict_v_type = TK_ROW_TYPE(struct tk_verdict_row, verdict_v_columns);

/* An alert's uid is the hash of its series and its first bad revision: one step is one alert,
 * however often it is found. */
static const struct tk_db_column sensitivity_columns[] = {REF(sensitivity, night_id, KEY, night),
        REF(sensitivity, device_id, KEY, device), C(sensitivity, mode, KEY),
        C(sensitivity, noise, 0), C(sensitivity, pair_count, 0), C(sensitivity, min_effect, 0)};

#define ALERT_COLUMNS \
	UID(alert), WORD(alert, kind, 0, alert_kind), C(alert, group_uid, 0), \
	        REF(alert, machine_id, NULLABLE, machine), \
	        REF(alert, upstream_id, NULLABLE, upstream), \
	        REF(alert, series_id, KEY | NULLABLE, series), REF(alert, night_id, 0, night), \
	        WORD(alert, status, RANKED, alert_status), C(alert, opened_s, 0), \
	        MAYBE(alert, closed_s, 0), REF(alert, verdict_night_id, NULLABLE, night), \
	        REF(alert, good_revision_id, NULLABLE, revision), \
	        REF(alert, bad_revision_id, KEY | NULLABLE, revision), C(alert, title, 0)

static const struct tk_db_column alert_columns[] = {ALERT_COLUMNS};

static const struct tk_db_column alert_v_columns[] = {ALERT_COLUMNS, C(alert, good_rev, 0),
        C(alert, bad_rev, 0), WORD(alert, cause, 0, cause), C(alert, before_value, NULLABLE),
        C(alert, after_value, NULLABLE), C(alert, change, NULLABLE), C(alert, change_lo, NULLABLE),
        C(alert, change_hi, NULLABLE), WORD(alert, ab_decision, 0, ab_decision),
        C(alert, ab_count, 0), C(alert, ab_failed, 0), C(alert, ab_fastest, 0),
        C(alert, ab_change, NULLABLE), C(alert, ab_lo, NULLABLE), C(alert, ab_hi, NULLABLE),
        C(alert, first_bad_rev, 0), C(alert, first_bad_subject, 0), C(alert, first_bad_author, 0),
        C(alert, first_bad_time_s, 0), C(alert, first_bad_change, NULLABLE),
        C(alert, first_bad_confidence, NULLABLE)};
const struct tk_row_type tk_alert_v_type = TK_ROW_TYPE(struct tk_alert_row, alert_v_columns);

static const struct tk_db_column bisection_columns[] = {UID(bisection),
        REF(bisection, series_id, KEY, series), REF(bisection, night_id, 0, night),
        C(bisection, good_rev, KEY), C(bisection, bad_rev, KEY),
        WORD(bisection, outcome, 0, bisect_outcome), C(bisection, first_bad_rev, 0),
        C(bisection, last_good_rev, 0), C(bisection, subject, 0), C(bisection, author, 0),
        C(bisection, author_time_s, 0), C(bisection, change, NULLABLE),
        C(bisection, change_lo, NULLABLE), C(bisection, change_hi, NULLABLE),
        C(bisection, confidence, NULLABLE), C(bisection, build_count, 0),
        C(bisection, failed_build_count, 0), C(bisection, comparison_count, 0),
        C(bisection, pair_count, 0), C(bisection, finished_s, 0)};

static const struct tk_db_column monitor_event_columns[] = {
        REF(monitor_event, series_id, KEY, series), REF(monitor_event, night_id, KEY, night),
        C(monitor_event, as_of_s, 0), WORD(monitor_event, kind, 0, monitor_event_kind),
        C(monitor_event, first_after_s, 0), C(monitor_event, last_before_s, 0),
        C(monitor_event, before_value, 0), C(monitor_event, after_value, 0),
        C(monitor_event, log_lr, 0), C(monitor_event, q, NULLABLE)};

static const struct tk_db_column monitored_night_columns[] = {
        REF(monitored_night, night_id, KEY, night), C(monitored_night, series_count, 0)};

/* Several stages begin within one second: then in the order of a night. */
#define STAGE_WORD(id, word, meaning) word " "
#define STAGE_ORDER "started_s, instr('" TK_STAGES(STAGE_WORD) "', name), name"
#define TABLE(table, id, uid, rule, order) \
	[TK_TABLE_##table] = {#table, table##_columns, \
	        sizeof(table##_columns) / sizeof(table##_columns[0]), \
	        sizeof(struct tk_##table##_row), order, id, uid, rule}

const struct tk_db_table tk_tables[TK_TABLE_COUNT] = {
        TABLE(machine, true, true, TK_PUT_KEEP, "name"),
        TABLE(device, true, true, TK_PUT_KEEP, "machine_id, slug"),
        TABLE(environment, true, true, TK_PUT_KEEP, "id"),
        TABLE(upstream, true, true, TK_PUT_KEEP, "name"),
        TABLE(revision, true, true, TK_PUT_KEEP, "upstream_id, position, commit_time_s, id"),
        TABLE(build, true, true, TK_PUT_KEEP, "id"),
        TABLE(kernel, true, false, TK_PUT_KEEP, "backend, name"),
        TABLE(problem, true, true, TK_PUT_KEEP, "text"),
        TABLE(series, true, true, TK_PUT_KEEP, "slug"),
        TABLE(night, true, true, TK_PUT_KEEP, "started_s DESC, id DESC"),
        TABLE(stage, false, false, TK_PUT_REPLACE, STAGE_ORDER),
        TABLE(resolution, false, false, TK_PUT_REPLACE, "upstream_id"),
        TABLE(run, true, true, TK_PUT_KEEP, "as_of_s, id"),
        TABLE(job, true, false, TK_PUT_KEEP, "seq"),
        TABLE(measurement, false, false, TK_PUT_KEEP, "series_id, as_of_s, run_id"),
        TABLE(sample, false, false, TK_PUT_KEEP, "run_id, series_id"),
        TABLE(ceiling, false, false, TK_PUT_REPLACE, "device_id, name, source"),
        TABLE(ab_pair, true, true, TK_PUT_KEEP,
                "series_id, base_build_id, head_build_id, night_id, pair, id"),
        TABLE(tuning, true, true, TK_PUT_KEEP, "started_s DESC, id DESC"),
        TABLE(kernel_report, true, true, TK_PUT_KEEP, "started_s DESC, id DESC"),
        TABLE(triage, true, true, TK_PUT_KEEP, "at_s, uid"),
        TABLE(renaming, true, true, TK_PUT_KEEP, "at_s, uid"),
        TABLE(notification, false, false, TK_PUT_KEEP, "sent_s, alert_uid, sink, target"),
        TABLE(change_point, false, false, TK_PUT_REPLACE, "series_id, as_of_s, run_id"),
        TABLE(verdict, false, false, TK_PUT_REPLACE, "series_id"),
        TABLE(sensitivity, false, false, TK_PUT_REPLACE, "night_id, device_id, mode"),
        TABLE(alert, false, true, TK_PUT_REPLACE, "opened_s DESC, uid"),
        TABLE(bisection, false, true, TK_PUT_REPLACE, "finished_s, uid"),
        TABLE(monitor_event, false, false, TK_PUT_REPLACE, "as_of_s, series_id"),
        TABLE(monitored_night, false, false, TK_PUT_REPLACE, "night_id")};
