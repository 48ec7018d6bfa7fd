/* After a night: verdicts of all its series, alerts, and the change points of the series that it
 * measured, in one transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/try.h"
#include "core/night.h"
#include "decide/monitor/monitor_session.h"
#include "decide/night.h"
#include "decide/triage/triage.h"

/* The newest night of the same machine before a time that is not a single run; NULL: none. */
static const struct tk_night_row *night_before(
        const struct tk_rows *nights, int64_t machine_id, int64_t before_s)
{
	const struct tk_night_row *newest = NULL;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && n->as_of_s < before_s &&
		        n->kind != TK_NIGHT_RUN && (!newest || n->as_of_s > newest->as_of_s))
			newest = n;
	}
	return newest;
}

int64_t tk_night_find_range(
        const struct tk_rows *nights, const struct tk_night_row *night, int64_t *previous)
{
	int64_t since_s = night->as_of_s;

	*previous = 0;
	for (int back = 1; back < TK_NIGHT_WINDOW; back++) {
		const struct tk_night_row *before =
		        night_before(nights, night->machine_id, since_s);

		if (!before)
			break;
		since_s = before->as_of_s;
		if (back == 1)
			*previous = before->id;
	}
	return since_s;
}

/* ---- improvements are reported once ---- */

static bool reported_improvement(const struct tk_verdict_row *stored)
{
	return stored->status == TK_VERDICT_IMPROVED || stored->status == TK_VERDICT_RECOVERED ||
	       (stored->status == TK_VERDICT_SAME && stored->rule == TK_RULE_ALREADY_REPORTED);
}

static void suppress(struct tk_diff_row *row)
{
	char rev[41];

	memcpy(rev, row->bad_rev, sizeof rev - 1);
	rev[sizeof rev - 1] = '\0';
	tk_diff_row_set_status(row, TK_VERDICT_SAME);
	row->state = TK_STATE_NONE;
	row->verdict.decided_by = TK_RULE_ALREADY_REPORTED;
	tk_verdict_add_fact(&row->verdict, (struct tk_fact){.kind = TK_FACT_ALREADY_REPORTED}, rev);
}

/* *out: the verdict of that night on the series of a row reported it. */
static int was_reported(struct tk_store *s, int64_t night_id, const struct tk_diff_row *row,
        bool *out, struct tk_error *err)
{
	struct tk_rows verdicts = {0};
	int status = tk_store_find_verdict(s, night_id, row->series_id, &verdicts, err);

	*out = !status && verdicts.count && reported_improvement(verdicts.rows);
	tk_rows_free(&verdicts);
	return status;
}

int tk_diff_report_suppress_repeats(struct tk_store *s, const struct tk_analysis *c,
        int64_t previous, struct tk_diff_report *r, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; previous && !status && i < r->count; i++) {
		struct tk_diff_row *row = &r->rows[i];
		bool reported = false;

		if (row->verdict.status == TK_VERDICT_IMPROVED &&
		        row->verdict.first_bad_run_id != c->at[i].window->last_within.run_id)
			status = was_reported(s, previous, row, &reported, err);
		if (reported)
			suppress(row);
	}
	return status;
}

/* ---- storing ---- */

/* What a night decides about all of the history, not only about itself. */
static int put_history(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < c->count; i++) {
		const struct tk_series_case *k = &c->at[i];

		if (k->window->last_within.night_id == night->id && k->count)
			status = tk_detect_change_points(
			        s, &c->catalog, k->series, c->options.min_effect, err);
	}
	return status ? status : tk_missing_data_update_alerts(s, &c->options, night->id, err);
}

static int put_verdicts(
        struct tk_store *s, int64_t night_id, const struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_verdict_rows rows;
	int status;

	tk_verdict_rows_make(night_id, r, &rows);
	status = tk_verdict_rows_store(&rows, s, err);
	tk_verdict_rows_free(&rows);
	return status;
}

static int put_all(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session *session, enum tk_detect_mode mode, struct tk_diff_report *r,
        struct tk_error *err)
{
	TRY(tk_monitor_session_save(session, s, err));
	TRY(tk_alerts_update(s, c, night, r, err));
	TRY(put_verdicts(s, night->id, r, err));
	return mode == TK_DETECT_NIGHT ? put_history(s, c, night, err) : TK_OK;
}

/* In one transaction. */
static int put_night(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session *session, enum tk_detect_mode mode, struct tk_diff_report *r,
        struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	int status = put_all(s, c, night, session, mode, r, err);

	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}

/* ---- one night ---- */

struct night_range {
	const struct tk_night_row *night;
	int64_t since_s, previous; /* previous: id of the night before; 0: none */
	const char *machine;
};

static int detect_night(struct tk_store *s, const struct night_range *n,
        const struct tk_detect_options *options, enum tk_detect_mode mode,
        struct tk_replay_memory *memory, struct tk_diff_report *report, struct tk_error *err)
{
	const struct tk_diff_range range = {
	        .since_s = n->since_s, .until_s = n->night->as_of_s, .machine = n->machine};
	const struct tk_night_scope scope = {.night_id = n->night->id,
	        .touched_only = n->night->kind != TK_NIGHT_NIGHTLY,
	        .as_of_s = n->night->as_of_s,
	        .catalog = memory ? &memory->catalog : NULL,
	        .monitors = memory ? &memory->monitors : NULL,
	        .reader = memory ? memory->reader : NULL};
	struct tk_monitor_session *session = NULL;
	struct tk_analysis c;
	int status = tk_analysis_load(s, options, &range, &scope, &c, err);

	if (!status)
		status = tk_monitor_session_run(&c, n->night, &session, err);
	if (!status)
		status = tk_analysis_evaluate(&c, err);
	if (!status)
		status = tk_analysis_decide(&c, report, err);
	if (!status)
		status = tk_diff_report_suppress_repeats(s, &c, n->previous, report, err);
	if (!status && mode != TK_DETECT_PREVIEW)
		status = put_night(s, &c, n->night, session, mode, report, err);
	tk_monitor_session_free(session);
	tk_analysis_free(&c);
	return status;
}

static const char *machine_name(const struct tk_rows *machines, int64_t id)
{
	for (size_t i = 0; i < machines->count; i++)
		if (TK_ROWS_AT(machines, struct tk_machine_row, i)->id == id)
			return TK_ROWS_AT(machines, struct tk_machine_row, i)->name;
	return NULL;
}

static const struct tk_night_row *find_night(const struct tk_rows *nights, int64_t id)
{
	for (size_t i = 0; i < nights->count; i++)
		if (TK_ROWS_AT(nights, struct tk_night_row, i)->id == id)
			return TK_ROWS_AT(nights, struct tk_night_row, i);
	return NULL;
}

static int run_night(struct tk_store *s, int64_t night_id, const struct tk_rows *machines,
        const struct tk_rows *nights, const struct tk_detect_options *options,
        enum tk_detect_mode mode, struct tk_replay_memory *memory, struct tk_diff_report *report,
        struct tk_error *err)
{
	struct night_range n = {.night = find_night(nights, night_id)};

	if (!n.night)
		return tk_fail(err, TK_ENOTFOUND, "no night has the id %lld", (long long)night_id);
	n.since_s = tk_night_find_range(nights, n.night, &n.previous);
	n.machine = machine_name(machines, n.night->machine_id);
	return detect_night(s, &n, options, mode, memory, report, err);
}

/* In one transaction: each of its thousands of reads would lock the file otherwise. */
int tk_detect_replay_night(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, struct tk_replay_memory *memory,
        struct tk_diff_report *report, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	int status = run_night(s, night_id, &memory->catalog.machines.rows,
	        &memory->catalog.nights.rows, options, TK_DETECT_REPLAY, memory, report, err);

	if (status) {
		tk_store_rollback(s);
		return status;
	}
	tk_diff_report_count(report);
	return tk_store_commit(s, err);
}

static int read_and_run(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, enum tk_detect_mode mode,
        struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_rows nights = {0}, machines = {0};
	struct tk_diff_report made = {0};
	int status = tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err);

	if (!status)
		status = tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, err);
	if (!status)
		status =
		        run_night(s, night_id, &machines, &nights, options, mode, NULL, &made, err);
	if (!status)
		tk_diff_report_finish(&made);
	if (!status && report)
		*report = made;
	else
		tk_diff_report_free(&made);
	tk_rows_free(&nights);
	tk_rows_free(&machines);
	return status;
}

int tk_detect_night(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err)
{
	return read_and_run(s, night_id, options, TK_DETECT_NIGHT, report, err);
}

int tk_detect_preview(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err)
{
	return read_and_run(s, night_id, options, TK_DETECT_PREVIEW, report, err);
}
