/* After a night: verdicts of all its series, alerts, and the change points of the series that it
 * measured, in one transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "core/night.h"
#include "detect/detect_night.h"
#include "detect/monitor/monitor_session.h"
#include "detect/report/reason.h"
#include "detect/report/verdict_detail.h"
#include "detect/triage/triage.h"

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while analysing a night");
}

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
	struct tk_verdict v;

	if (stored->status == TK_VERDICT_IMPROVED || stored->status == TK_VERDICT_RECOVERED)
		return true;
	if (stored->status != TK_VERDICT_SAME)
		return false;
	tk_verdict_init(&v);
	tk_verdict_detail_read(stored->detail, stored->reason, &v);
	return v.decided_by == TK_RULE_ALREADY_REPORTED;
}

static void suppress(struct tk_diff_row *row)
{
	char rev[41];

	memcpy(rev, row->bad_rev, sizeof rev - 1);
	rev[sizeof rev - 1] = '\0';
	tk_diff_row_set_status(row, TK_VERDICT_SAME);
	row->verdict.decided_by = TK_RULE_ALREADY_REPORTED;
	tk_verdict_add_fact(&row->verdict, (struct tk_fact){.kind = TK_FACT_ALREADY_REPORTED}, rev);
}

static bool has_improvement(const struct tk_diff_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->rows[i].verdict.status == TK_VERDICT_IMPROVED)
			return true;
	return false;
}

int tk_diff_report_suppress_repeats(struct tk_store *s, const struct tk_case_set *c,
        int64_t previous, struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_rows verdicts = {0};
	int status = previous && has_improvement(r)
	                     ? tk_store_list_verdicts(s, previous, &verdicts, err)
	                     : TK_OK;

	for (size_t i = 0; !status && i < r->count; i++) {
		struct tk_diff_row *row = &r->rows[i];

		if (row->verdict.first_bad_run_id == c->at[i].window->last_within.run_id)
			continue;
		for (size_t j = 0; row->verdict.status == TK_VERDICT_IMPROVED && j < verdicts.count;
		        j++) {
			const struct tk_verdict_row *v =
			        TK_ROWS_AT(&verdicts, struct tk_verdict_row, j);

			if (v->series_id == row->series_id && reported_improvement(v))
				suppress(row);
		}
	}
	tk_rows_free(&verdicts);
	return status;
}

/* ---- storing ---- */

/* What a stored verdict points at. */
struct verdict_texts {
	char *detail, *reason;
};

static struct tk_verdict_row verdict_row(
        int64_t night_id, const struct tk_diff_row *row, struct verdict_texts *texts)
{
	const struct tk_verdict *v = &row->verdict;
	char reason[TK_REASON_SIZE];

	texts->detail = tk_verdict_detail_write(row);
	texts->reason = strdup(tk_verdict_format_reason(v, reason));
	return (struct tk_verdict_row){.night_id = night_id,
	        .series_id = row->series_id,
	        .status = v->status,
	        .before_value = v->before.value,
	        .after_value = v->after.value,
	        .change = v->change.value,
	        .change_lo = v->change.lo,
	        .change_hi = v->change.hi,
	        .threshold = v->threshold,
	        .p = v->p,
	        .q = v->q,
	        .reason = texts->reason,
	        .detail = texts->detail};
}

/* The verdicts of a night as rows, written by several threads. */
struct verdict_rows {
	int64_t night_id;
	const struct tk_diff_report *report;
	struct tk_verdict_row *rows;
	struct verdict_texts *texts;
	_Atomic bool no_memory;
};

static void write_part(void *arg, int64_t first, int64_t count)
{
	struct verdict_rows *w = arg;

	for (int64_t i = first; i < first + count; i++) {
		w->rows[i] = verdict_row(w->night_id, &w->report->rows[i], &w->texts[i]);
		if (!w->texts[i].detail || !w->texts[i].reason)
			w->no_memory = true;
	}
}

static int put_verdicts(
        struct tk_store *s, int64_t night_id, const struct tk_diff_report *r, struct tk_error *err)
{
	struct verdict_rows w = {.night_id = night_id,
	        .report = r,
	        .rows = calloc(r->count + 1, sizeof *w.rows),
	        .texts = calloc(r->count + 1, sizeof *w.texts)};
	int status = w.rows && w.texts ? TK_OK : out_of_memory(err);

	if (!status)
		tk_parallel_for((int64_t)r->count, TK_CASES_PER_PART, write_part, &w);
	if (!status && w.no_memory)
		status = out_of_memory(err);
	if (!status)
		status = tk_store_replace_verdicts(s, night_id, w.rows, r->count, err);
	for (size_t i = 0; w.texts && i < r->count; i++) {
		free(w.texts[i].detail);
		free(w.texts[i].reason);
	}
	free(w.texts);
	free(w.rows);
	return status;
}

/* What a night decides about all of the history, not only about itself. */
static int put_history(struct tk_store *s, struct tk_case_set *c, const struct tk_night_row *night,
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

static int put_all(struct tk_store *s, struct tk_case_set *c, const struct tk_night_row *night,
        struct tk_monitor_session *session, enum tk_detect_mode mode,
        const struct tk_diff_report *r, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = tk_monitor_session_save(session, s, err);
	if (!status)
		status = put_verdicts(s, night->id, r, err);
	if (!status)
		status = tk_alerts_update(s, c, night, r, err);
	if (!status && mode == TK_DETECT_NIGHT)
		status = put_history(s, c, night, err);
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
	        .reader = memory ? memory->reader : NULL,
	        .alert_levels = memory ? &memory->alert_levels : NULL};
	struct tk_monitor_session *session = NULL;
	struct tk_case_set c;
	int status = tk_case_set_load(s, options, &range, &scope, &c, err);

	if (!status)
		status = tk_monitor_session_run(&c, n->night, &session, err);
	if (!status)
		status = tk_case_set_evaluate(&c, err);
	if (!status)
		status = tk_case_set_decide(&c, report, err);
	if (!status)
		status = tk_diff_report_suppress_repeats(s, &c, n->previous, report, err);
	if (!status && mode != TK_DETECT_PREVIEW)
		status = put_all(s, &c, n->night, session, mode, report, err);
	tk_monitor_session_free(session);
	tk_case_set_free(&c);
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
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = run_night(s, night_id, &memory->catalog.machines.rows,
	        &memory->catalog.nights.rows, options, TK_DETECT_REPLAY, memory, report, err);
	if (status) {
		tk_store_rollback(s);
		return status;
	}
	tk_diff_report_finish(report);
	return tk_store_commit(s, err);
}

static int read_and_run(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, enum tk_detect_mode mode,
        struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_rows nights = {0}, machines = {0};
	struct tk_diff_report made = {0};
	int status = tk_store_list_nights(s, &nights, err);

	if (!status)
		status = tk_store_list_machines(s, &machines, err);
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
