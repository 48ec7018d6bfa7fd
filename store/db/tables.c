/* The tables of the history, as data. KEY columns identify a row, in this database and in every
 * other: the uid of a row is the hash of its table's name and its KEY columns, where a reference
 * counts as the uid of the row it names. */
#include "core/mode.h"
#include "store/db/internal.h"
#include <stddef.h>

#define UID(type) \
	{ \
		"uid", TK_COL_UID, 0, offsetof(struct type, uid), 0, 0, NULL \
	}
#define TEXT(type, field, flags) \
	{ \
#field, TK_COL_TEXT, flags, offsetof(struct type, field), 0, 0, NULL \
	}
/* Text that may be a name from a vocabulary, or another one. */
#define TEXT_OF(type, field, flags, vocabulary) \
	{ \
#field, TK_COL_TEXT, flags, offsetof(struct type, field), 0, 0, \
		        &tk_##vocabulary##_words \
	}
/* A column with a name from a vocabulary: an enum in the row. */
#define WORD(type, field, flags, vocabulary) \
	{ \
#field, TK_COL_WORD, flags, offsetof(struct type, field), 0, 0, \
		        &tk_##vocabulary##_words \
	}
#define INT(type, field, flags) \
	{ \
#field, TK_COL_INT, flags, offsetof(struct type, field), 0, 0, NULL \
	}
#define REAL(type, field, flags) \
	{ \
#field, TK_COL_REAL, flags, offsetof(struct type, field), 0, 0, NULL \
	}
#define U32(type, field) \
	{ \
#field, TK_COL_U32, 0, offsetof(struct type, field), 0, 0, NULL \
	}
#define REF(type, field, flags, table) \
	{ \
#field, TK_COL_REF, flags, offsetof(struct type, field), 0, TK_TABLE_##table, NULL \
	}
/* An integer; the value `none` means that there is none. */
#define MAYBE(type, field, none) \
	{ \
#field, TK_COL_INT, TK_COL_NULLABLE, offsetof(struct type, field), none, 0, NULL \
	}

#define KEY TK_COL_KEY
#define NEWEST TK_COL_NEWEST
#define NULLABLE TK_COL_NULLABLE
#define LONG TK_COL_LONG
#define RANKED TK_COL_RANKED

static const struct tk_db_column machine_columns[] = {
        UID(tk_machine_row),
        INT(tk_machine_row, renamed_s, 0),
        TEXT(tk_machine_row, name, KEY),
        TEXT(tk_machine_row, attributes, NEWEST),
};

/* If a device reports no uuid, its slug replaces it (put.c), so that two cards of one kind remain
 * two devices. */
static const struct tk_db_column device_columns[] = {
        UID(tk_device_row),
        REF(tk_device_row, machine_id, KEY, machine),
        TEXT(tk_device_row, kind, KEY),
        TEXT(tk_device_row, name, KEY),
        TEXT(tk_device_row, uuid, KEY),
        TEXT(tk_device_row, arch, NEWEST),
        TEXT(tk_device_row, slug, 0),
};

static const struct tk_db_column environment_columns[] = {
        UID(tk_environment_row),
        REF(tk_environment_row, device_id, KEY, device),
        TEXT(tk_environment_row, attributes, KEY),
};

static const struct tk_db_column upstream_columns[] = {
        UID(tk_upstream_row),
        TEXT(tk_upstream_row, name, KEY),
        TEXT(tk_upstream_row, kind, NEWEST),
        TEXT(tk_upstream_row, url, NEWEST),
};

static const struct tk_db_column revision_columns[] = {
        UID(tk_revision_row),
        REF(tk_revision_row, upstream_id, KEY, upstream),
        TEXT(tk_revision_row, rev, KEY),
        TEXT(tk_revision_row, parent, NEWEST),
        INT(tk_revision_row, position, NEWEST),
        INT(tk_revision_row, author_time_s, NEWEST),
        INT(tk_revision_row, commit_time_s, NEWEST),
        TEXT(tk_revision_row, author, NEWEST),
        TEXT(tk_revision_row, subject, NEWEST),
};

/* The status belongs to the identity: a build that failed and later succeeds is two facts. */
static const struct tk_db_column build_columns[] = {
        UID(tk_build_row),
        REF(tk_build_row, revision_id, KEY, revision),
        TEXT(tk_build_row, artifact_key, KEY),
        TEXT(tk_build_row, adapter, KEY),
        TEXT(tk_build_row, toolchain, 0),
        TEXT(tk_build_row, flags, 0),
        TEXT(tk_build_row, arch, 0),
        WORD(tk_build_row, status, KEY, build_status),
        TEXT(tk_build_row, message, 0),
        TEXT(tk_build_row, log, LONG),
        REAL(tk_build_row, wall_s, 0),
        INT(tk_build_row, size_bytes, 0),
        INT(tk_build_row, built_s, 0),
};

static const struct tk_db_column kernel_columns[] = {
        REF(tk_kernel_row, build_id, KEY, build),
        TEXT(tk_kernel_row, backend, KEY),
        TEXT(tk_kernel_row, name, KEY),
        TEXT(tk_kernel_row, code_hash, 0),
        INT(tk_kernel_row, size_bytes, 0),
        MAYBE(tk_kernel_row, registers, -1),
        MAYBE(tk_kernel_row, spill_bytes, -1),
        MAYBE(tk_kernel_row, shared_bytes, -1),
        MAYBE(tk_kernel_row, threads, -1),
        MAYBE(tk_kernel_row, occupancy_percent, -1),
        TEXT(tk_kernel_row, instructions, 0),
};

static const struct tk_db_column problem_columns[] = {
        UID(tk_problem_row),
        TEXT(tk_problem_row, text, KEY),
        TEXT(tk_problem_row, op, NEWEST),
        TEXT(tk_problem_row, dtype, NEWEST),
        TEXT(tk_problem_row, title, NEWEST),
        REAL(tk_problem_row, flops, NEWEST),
        REAL(tk_problem_row, bytes, NEWEST),
        TEXT(tk_problem_row, source, NEWEST),
        TEXT(tk_problem_row, family, NEWEST),
};

static const struct tk_db_column series_columns[] = {
        UID(tk_series_row),
        TEXT(tk_series_row, slug, 0),
        REF(tk_series_row, device_id, KEY, device),
        REF(tk_series_row, upstream_id, KEY, upstream),
        TEXT(tk_series_row, backend, KEY),
        TEXT(tk_series_row, config, KEY),
        REF(tk_series_row, problem_id, KEY, problem),
        TEXT_OF(tk_series_row, mode, KEY, mode),
        TEXT(tk_series_row, metric, KEY),
        TEXT(tk_series_row, unit, NEWEST),
        WORD(tk_series_row, better, NEWEST, better),
        WORD(tk_series_row, role, NEWEST, series_role),
        INT(tk_series_row, rotate_nights, NEWEST),
};

static const struct tk_db_column night_columns[] = {
        UID(tk_night_row),
        REF(tk_night_row, machine_id, KEY, machine),
        WORD(tk_night_row, kind, KEY, night_kind),
        INT(tk_night_row, as_of_s, KEY),
        INT(tk_night_row, started_s, KEY),
        MAYBE(tk_night_row, finished_s, 0),
        WORD(tk_night_row, status, RANKED, night_status),
        INT(tk_night_row, seed, KEY),
        TEXT(tk_night_row, config_hash, 0),
        TEXT(tk_night_row, tracker_version, 0),
        TEXT(tk_night_row, summary, 0),
};

static const struct tk_db_column stage_columns[] = {
        REF(tk_stage_row, night_id, KEY, night),
        TEXT(tk_stage_row, name, KEY),
        WORD(tk_stage_row, status, RANKED, stage_status),
        INT(tk_stage_row, started_s, 0),
        MAYBE(tk_stage_row, finished_s, 0),
        TEXT(tk_stage_row, detail, 0),
};

static const struct tk_db_column resolution_columns[] = {
        REF(tk_resolution_row, night_id, KEY, night),
        REF(tk_resolution_row, upstream_id, KEY, upstream),
        REF(tk_resolution_row, revision_id, NULLABLE, revision),
        REF(tk_resolution_row, build_id, NULLABLE, build),
        WORD(tk_resolution_row, status, 0, resolution_status),
        TEXT(tk_resolution_row, message, 0),
};

/* All columns of a run identify it: two processes that measured halves of one night both number
 * their jobs from 0. */
static const struct tk_db_column run_columns[] = {
        UID(tk_run_row),
        REF(tk_run_row, night_id, KEY, night),
        INT(tk_run_row, seq, KEY),
        REF(tk_run_row, series_id, KEY | NULLABLE, series),
        REF(tk_run_row, build_id, KEY, build),
        REF(tk_run_row, environment_id, NULLABLE, environment),
        INT(tk_run_row, as_of_s, 0),
        INT(tk_run_row, started_s, KEY),
        REAL(tk_run_row, wall_s, 0),
        WORD(tk_run_row, outcome, KEY, outcome),
        TEXT(tk_run_row, message, KEY),
        TEXT(tk_run_row, attributes, KEY),
};

static const struct tk_db_column job_columns[] = {
        REF(tk_job_row, night_id, KEY, night),
        INT(tk_job_row, seq, KEY),
        REF(tk_job_row, series_id, KEY, series),
        REF(tk_job_row, build_id, KEY, build),
        TEXT(tk_job_row, backend_path, 0),
        TEXT(tk_job_row, options, 0),
        REF(tk_job_row, device_id, NULLABLE, device),
        REF(tk_job_row, run_id, NULLABLE, run),
};

static const struct tk_db_column measurement_columns[] = {
        REF(tk_point, series_id, KEY, series),
        INT(tk_point, as_of_s, KEY),
        REF(tk_point, run_id, KEY, run),
        REAL(tk_point, value, 0),
        REAL(tk_point, lo, NULLABLE),
        REAL(tk_point, hi, NULLABLE),
        INT(tk_point, n, 0),
        REAL(tk_point, min, NULLABLE),
        REAL(tk_point, q25, NULLABLE),
        REAL(tk_point, q75, NULLABLE),
        REAL(tk_point, p95, NULLABLE),
        REF(tk_point, night_id, 0, night),
        REF(tk_point, build_id, 0, build),
        REF(tk_point, environment_id, NULLABLE, environment),
        {"flags", TK_COL_U32, 0, offsetof(struct tk_point, flags), 0, 0, NULL},
        {"checksum", TK_COL_CHECKSUM},
};

static const struct tk_db_column sample_columns[] = {
        REF(tk_sample_row, run_id, KEY, run),
        REF(tk_sample_row, series_id, KEY, series),
        {"data", TK_COL_BLOB, 0, offsetof(struct tk_sample_row, data), 0, 0, NULL},
};

static const struct tk_db_column ceiling_columns[] = {
        REF(tk_ceiling_row, night_id, KEY, night),
        REF(tk_ceiling_row, device_id, KEY, device),
        TEXT(tk_ceiling_row, name, KEY),
        WORD(tk_ceiling_row, source, KEY, ceiling_source),
        REAL(tk_ceiling_row, value, 0),
        TEXT(tk_ceiling_row, unit, 0),
};

static const struct tk_db_column ab_pair_columns[] = {
        UID(tk_ab_pair_row),
        REF(tk_ab_pair_row, night_id, KEY, night),
        REF(tk_ab_pair_row, series_id, KEY, series),
        REF(tk_ab_pair_row, base_build_id, KEY, build),
        REF(tk_ab_pair_row, head_build_id, KEY, build),
        INT(tk_ab_pair_row, pair, KEY),
        INT(tk_ab_pair_row, started_s, KEY),
        REAL(tk_ab_pair_row, wall_s, 0),
        TEXT(tk_ab_pair_row, first, KEY),
        TEXT(tk_ab_pair_row, base_outcome, 0),
        TEXT(tk_ab_pair_row, head_outcome, 0),
        TEXT(tk_ab_pair_row, message, 0),
        REAL(tk_ab_pair_row, base_median, NULLABLE),
        REAL(tk_ab_pair_row, head_median, NULLABLE),
        REAL(tk_ab_pair_row, base_min, NULLABLE),
        REAL(tk_ab_pair_row, head_min, NULLABLE),
};

static const struct tk_db_column tuning_columns[] = {
        UID(tk_tuning_row),
        REF(tk_tuning_row, device_id, KEY, device),
        REF(tk_tuning_row, environment_id, KEY, environment),
        REF(tk_tuning_row, problem_id, KEY, problem),
        TEXT(tk_tuning_row, upstream, KEY),
        TEXT(tk_tuning_row, revision, KEY),
        TEXT(tk_tuning_row, artifact_key, KEY),
        TEXT(tk_tuning_row, backend, KEY),
        TEXT(tk_tuning_row, options, KEY),
        TEXT_OF(tk_tuning_row, mode, KEY, mode),
        INT(tk_tuning_row, started_s, KEY),
        WORD(tk_tuning_row, verdict, 0, tune_verdict),
        TEXT(tk_tuning_row, config, 0),
        TEXT(tk_tuning_row, winner, 0),
        REAL(tk_tuning_row, default_ns, NULLABLE),
        REAL(tk_tuning_row, winner_ns, NULLABLE),
        REAL(tk_tuning_row, change, NULLABLE),
        REAL(tk_tuning_row, change_lo, NULLABLE),
        REAL(tk_tuning_row, change_hi, NULLABLE),
        INT(tk_tuning_row, pair_count, 0),
        INT(tk_tuning_row, evaluation_count, 0),
        TEXT(tk_tuning_row, candidates, 0),
        {"checksum", TK_COL_CHECKSUM},
};

static const struct tk_db_column kernel_report_columns[] = {
        UID(tk_kernel_report_row),
        REF(tk_kernel_report_row, device_id, KEY, device),
        REF(tk_kernel_report_row, environment_id, KEY, environment),
        REF(tk_kernel_report_row, problem_id, KEY, problem),
        WORD(tk_kernel_report_row, kind, KEY, kernel_report),
        TEXT(tk_kernel_report_row, upstream, KEY),
        TEXT(tk_kernel_report_row, revision, KEY),
        TEXT(tk_kernel_report_row, artifact_key, KEY),
        TEXT(tk_kernel_report_row, backend, KEY),
        TEXT(tk_kernel_report_row, options, KEY),
        TEXT(tk_kernel_report_row, config, KEY),
        TEXT_OF(tk_kernel_report_row, mode, KEY, mode),
        TEXT(tk_kernel_report_row, base, KEY),
        INT(tk_kernel_report_row, started_s, KEY),
        TEXT(tk_kernel_report_row, result, 0),
        TEXT(tk_kernel_report_row, timeline, LONG),
        {"checksum", TK_COL_CHECKSUM},
};

static const struct tk_db_column triage_columns[] = {
        UID(tk_triage_row),
        TEXT(tk_triage_row, alert_uid, KEY),
        INT(tk_triage_row, at_s, KEY),
        TEXT(tk_triage_row, author, KEY),
        WORD(tk_triage_row, action, KEY, triage_action),
        TEXT(tk_triage_row, note, KEY),
};

static const struct tk_db_column notification_columns[] = {
        TEXT(tk_notification_row, alert_uid, KEY),
        TEXT(tk_notification_row, sink, KEY),
        TEXT(tk_notification_row, target, KEY),
        INT(tk_notification_row, sent_s, 0),
};

/* run_id and previous_run_id are not enforced: derived rows may be older than a run that was taken
 * out. */
static const struct tk_db_column change_point_columns[] = {
        REF(tk_change_point_row, series_id, KEY, series),
        INT(tk_change_point_row, as_of_s, KEY),
        REF(tk_change_point_row, run_id, KEY, run),
        REF(tk_change_point_row, previous_run_id, 0, run),
        REAL(tk_change_point_row, before_value, 0),
        REAL(tk_change_point_row, after_value, 0),
        REAL(tk_change_point_row, change_lo, 0),
        REAL(tk_change_point_row, change_hi, 0),
        REAL(tk_change_point_row, p, 0),
        WORD(tk_change_point_row, cause, 0, cause),
        REAL(tk_change_point_row, confidence, 0),
        TEXT(tk_change_point_row, detail, 0),
};

#define VERDICT_COLUMNS \
	REF(tk_verdict_row, night_id, KEY, night), REF(tk_verdict_row, series_id, KEY, series), \
	        WORD(tk_verdict_row, status, 0, verdict_status), \
	        WORD(tk_verdict_row, state, 0, verdict_state), \
	        WORD(tk_verdict_row, rule, 0, rule_id), WORD(tk_verdict_row, cause, 0, cause), \
	        REAL(tk_verdict_row, before_value, NULLABLE), \
	        REAL(tk_verdict_row, before_lo, NULLABLE), \
	        REAL(tk_verdict_row, before_hi, NULLABLE), \
	        REAL(tk_verdict_row, after_value, NULLABLE), \
	        REAL(tk_verdict_row, after_lo, NULLABLE), \
	        REAL(tk_verdict_row, after_hi, NULLABLE), REAL(tk_verdict_row, change, NULLABLE), \
	        REAL(tk_verdict_row, change_lo, NULLABLE), \
	        REAL(tk_verdict_row, change_hi, NULLABLE), \
	        REAL(tk_verdict_row, threshold, NULLABLE), \
	        REAL(tk_verdict_row, severity, NULLABLE), REAL(tk_verdict_row, p, NULLABLE), \
	        REAL(tk_verdict_row, q, NULLABLE), \
	        REF(tk_verdict_row, good_build_id, NULLABLE, build), \
	        REF(tk_verdict_row, bad_build_id, NULLABLE, build), \
	        REF(tk_verdict_row, last_good_run_id, NULLABLE, run), \
	        REF(tk_verdict_row, first_bad_run_id, NULLABLE, run), \
	        REF(tk_verdict_row, base_build_id, NULLABLE, build), \
	        REF(tk_verdict_row, head_build_id, NULLABLE, build), \
	        REF(tk_verdict_row, head_run_id, NULLABLE, run), \
	        U32(tk_verdict_row, samples_before), U32(tk_verdict_row, samples_after), \
	        U32(tk_verdict_row, same_code), U32(tk_verdict_row, new_code), \
	        U32(tk_verdict_row, unstable), WORD(tk_verdict_row, ab_decision, 0, ab_decision), \
	        U32(tk_verdict_row, ab_count), U32(tk_verdict_row, ab_failed), \
	        U32(tk_verdict_row, ab_fastest), REAL(tk_verdict_row, ab_change, NULLABLE), \
	        REAL(tk_verdict_row, ab_lo, NULLABLE), REAL(tk_verdict_row, ab_hi, NULLABLE), \
	        INT(tk_verdict_row, newest_s, 0), U32(tk_verdict_row, accepted), \
	        TEXT(tk_verdict_row, alert_uid, 0), TEXT(tk_verdict_row, facts, 0),

static const struct tk_db_column verdict_columns[] = {VERDICT_COLUMNS};

/* With what other tables add: see views.sql. */
static const struct tk_db_column verdict_v_columns[] = {
        VERDICT_COLUMNS WORD(tk_verdict_row, status_before_ack, 0, verdict_status),
        INT(tk_verdict_row, alert_opened_s, 0),
        TEXT(tk_verdict_row, ack_action, 0),
        TEXT(tk_verdict_row, ack_author, 0),
        TEXT(tk_verdict_row, ack_note, 0),
        INT(tk_verdict_row, good_revision_id, 0),
        INT(tk_verdict_row, bad_revision_id, 0),
        INT(tk_verdict_row, commits_between, 0),
        TEXT(tk_verdict_row, good_rev, 0),
        TEXT(tk_verdict_row, bad_rev, 0),
        TEXT(tk_verdict_row, bad_subject, 0),
        TEXT(tk_verdict_row, reason, 0),
        TEXT(tk_verdict_row, first_bad_rev, 0),
        TEXT(tk_verdict_row, first_bad_subject, 0),
        TEXT(tk_verdict_row, first_bad_author, 0),
        INT(tk_verdict_row, first_bad_time_s, 0),
        REAL(tk_verdict_row, first_bad_change, NULLABLE),
        REAL(tk_verdict_row, first_bad_confidence, NULLABLE),
};
const struct tk_row_type tk_verdict_v_type = TK_ROW_TYPE(struct tk_verdict_row, verdict_v_columns);

/* An alert's uid is the hash of its series and its first bad revision: one step is one alert,
 * however often it is found. */
#define ALERT_COLUMNS \
	UID(tk_alert_row), WORD(tk_alert_row, kind, 0, alert_kind), \
	        TEXT(tk_alert_row, group_uid, 0), \
	        REF(tk_alert_row, machine_id, NULLABLE, machine), \
	        REF(tk_alert_row, upstream_id, NULLABLE, upstream), \
	        REF(tk_alert_row, series_id, KEY | NULLABLE, series), \
	        REF(tk_alert_row, night_id, 0, night), \
	        WORD(tk_alert_row, status, RANKED, alert_status), INT(tk_alert_row, opened_s, 0), \
	        MAYBE(tk_alert_row, closed_s, 0), \
	        REF(tk_alert_row, verdict_night_id, NULLABLE, night), \
	        REF(tk_alert_row, good_revision_id, NULLABLE, revision), \
	        REF(tk_alert_row, bad_revision_id, KEY | NULLABLE, revision), \
	        TEXT(tk_alert_row, title, 0),

static const struct tk_db_column alert_columns[] = {ALERT_COLUMNS};

static const struct tk_db_column alert_v_columns[] = {
        ALERT_COLUMNS TEXT(tk_alert_row, good_rev, 0),
        TEXT(tk_alert_row, bad_rev, 0),
        WORD(tk_alert_row, cause, 0, cause),
        REAL(tk_alert_row, before_value, NULLABLE),
        REAL(tk_alert_row, after_value, NULLABLE),
        REAL(tk_alert_row, change, NULLABLE),
        REAL(tk_alert_row, change_lo, NULLABLE),
        REAL(tk_alert_row, change_hi, NULLABLE),
        WORD(tk_alert_row, ab_decision, 0, ab_decision),
        U32(tk_alert_row, ab_count),
        U32(tk_alert_row, ab_failed),
        U32(tk_alert_row, ab_fastest),
        REAL(tk_alert_row, ab_change, NULLABLE),
        REAL(tk_alert_row, ab_lo, NULLABLE),
        REAL(tk_alert_row, ab_hi, NULLABLE),
        TEXT(tk_alert_row, first_bad_rev, 0),
        TEXT(tk_alert_row, first_bad_subject, 0),
        TEXT(tk_alert_row, first_bad_author, 0),
        INT(tk_alert_row, first_bad_time_s, 0),
        REAL(tk_alert_row, first_bad_change, NULLABLE),
        REAL(tk_alert_row, first_bad_confidence, NULLABLE),
};
const struct tk_row_type tk_alert_v_type = TK_ROW_TYPE(struct tk_alert_row, alert_v_columns);

static const struct tk_db_column bisection_columns[] = {
        UID(tk_bisection_row),
        REF(tk_bisection_row, series_id, KEY, series),
        REF(tk_bisection_row, night_id, 0, night),
        TEXT(tk_bisection_row, good_rev, KEY),
        TEXT(tk_bisection_row, bad_rev, KEY),
        WORD(tk_bisection_row, outcome, 0, bisect_outcome),
        TEXT(tk_bisection_row, first_bad_rev, 0),
        TEXT(tk_bisection_row, last_good_rev, 0),
        TEXT(tk_bisection_row, subject, 0),
        TEXT(tk_bisection_row, author, 0),
        INT(tk_bisection_row, author_time_s, 0),
        REAL(tk_bisection_row, change, NULLABLE),
        REAL(tk_bisection_row, change_lo, NULLABLE),
        REAL(tk_bisection_row, change_hi, NULLABLE),
        REAL(tk_bisection_row, confidence, NULLABLE),
        INT(tk_bisection_row, build_count, 0),
        INT(tk_bisection_row, failed_build_count, 0),
        INT(tk_bisection_row, comparison_count, 0),
        INT(tk_bisection_row, pair_count, 0),
        INT(tk_bisection_row, finished_s, 0),
};

static const struct tk_db_column monitor_event_columns[] = {
        REF(tk_monitor_event_row, series_id, KEY, series),
        REF(tk_monitor_event_row, night_id, KEY, night),
        INT(tk_monitor_event_row, as_of_s, 0),
        WORD(tk_monitor_event_row, kind, 0, monitor_event_kind),
        INT(tk_monitor_event_row, first_after_s, 0),
        INT(tk_monitor_event_row, last_before_s, 0),
        REAL(tk_monitor_event_row, before_value, 0),
        REAL(tk_monitor_event_row, after_value, 0),
        REAL(tk_monitor_event_row, log_lr, 0),
        REAL(tk_monitor_event_row, q, NULLABLE),
};

static const struct tk_db_column monitored_night_columns[] = {
        REF(tk_monitored_night_row, night_id, KEY, night),
        INT(tk_monitored_night_row, series_count, 0),
};

/* Several stages begin within one second: then in the order of a night. */
#define STAGE_WORD(id, word, meaning) word " "
#define STAGE_ORDER "started_s, instr('" TK_STAGES(STAGE_WORD) "', name), name"
#define TABLE(table, type, id, uid, rule, order) \
	[TK_TABLE_##table] = {#table, table##_columns, \
	        sizeof(table##_columns) / sizeof(table##_columns[0]), sizeof(struct type), order, \
	        id, uid, rule}

const struct tk_db_table tk_tables[TK_TABLE_COUNT] = {
        TABLE(machine, tk_machine_row, true, true, TK_PUT_KEEP, "name"),
        TABLE(device, tk_device_row, true, true, TK_PUT_KEEP, "machine_id, slug"),
        TABLE(environment, tk_environment_row, true, true, TK_PUT_KEEP, "id"),
        TABLE(upstream, tk_upstream_row, true, true, TK_PUT_KEEP, "name"),
        TABLE(revision, tk_revision_row, true, true, TK_PUT_KEEP,
                "upstream_id, position, commit_time_s, id"),
        TABLE(build, tk_build_row, true, true, TK_PUT_KEEP, "id"),
        TABLE(kernel, tk_kernel_row, true, false, TK_PUT_KEEP, "backend, name"),
        TABLE(problem, tk_problem_row, true, true, TK_PUT_KEEP, "text"),
        TABLE(series, tk_series_row, true, true, TK_PUT_KEEP, "slug"),
        TABLE(night, tk_night_row, true, true, TK_PUT_KEEP, "started_s DESC, id DESC"),
        TABLE(stage, tk_stage_row, false, false, TK_PUT_REPLACE, STAGE_ORDER),
        TABLE(resolution, tk_resolution_row, false, false, TK_PUT_REPLACE, "upstream_id"),
        TABLE(run, tk_run_row, true, true, TK_PUT_KEEP, "as_of_s, id"),
        TABLE(job, tk_job_row, true, false, TK_PUT_KEEP, "seq"),
        TABLE(measurement, tk_point, false, false, TK_PUT_KEEP, "series_id, as_of_s, run_id"),
        TABLE(sample, tk_sample_row, false, false, TK_PUT_KEEP, "run_id, series_id"),
        TABLE(ceiling, tk_ceiling_row, false, false, TK_PUT_REPLACE, "device_id, name, source"),
        TABLE(ab_pair, tk_ab_pair_row, true, true, TK_PUT_KEEP,
                "series_id, base_build_id, head_build_id, night_id, pair, id"),
        TABLE(tuning, tk_tuning_row, true, true, TK_PUT_KEEP, "started_s DESC, id DESC"),
        TABLE(kernel_report, tk_kernel_report_row, true, true, TK_PUT_KEEP,
                "started_s DESC, id DESC"),
        TABLE(triage, tk_triage_row, true, true, TK_PUT_KEEP, "at_s, uid"),
        TABLE(notification, tk_notification_row, false, false, TK_PUT_KEEP,
                "sent_s, alert_uid, sink, target"),
        TABLE(change_point, tk_change_point_row, false, false, TK_PUT_REPLACE,
                "series_id, as_of_s, run_id"),
        TABLE(verdict, tk_verdict_row, false, false, TK_PUT_REPLACE, "series_id"),
        TABLE(alert, tk_alert_row, false, true, TK_PUT_REPLACE, "opened_s DESC, uid"),
        TABLE(bisection, tk_bisection_row, false, true, TK_PUT_REPLACE, "finished_s, uid"),
        TABLE(monitor_event, tk_monitor_event_row, false, false, TK_PUT_REPLACE,
                "as_of_s, series_id"),
        TABLE(monitored_night, tk_monitored_night_row, false, false, TK_PUT_REPLACE, "night_id"),
};
