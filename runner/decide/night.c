/* Nights: analysed when they end, again in a replay, and read; and ranges of nights.
 *
 * After a night: verdicts of all its series, alerts, and the change points of the series that it
 * measured, in one transaction. */
#include "core/night.h"
#include "base/base.h"
#include "decide/internal.h"

#define DAY_S INT64_C(86400)

/* Evidence that comes late still counts: a night is analysed with the two before it. */
#define NIGHTS_ANALYSED 3

/* A replay leaves out change points and missing data: later nights decide about them. */
enum mode { PREVIEW, NIGHT, REPLAY };

struct timed_night {
	int64_t id, as_of_s;
};
static const struct tk_db_column timed_night_columns[] = {
        TK_MEMBER(struct timed_night, id), TK_MEMBER(struct timed_night, as_of_s)};
static const struct tk_row_type timed_night_type =
        TK_ROW_TYPE(struct timed_night, timed_night_columns);

/* Start of the range of a night: the third newest night of its machine that is not a single run.
 * *previous: the night before it; 0: none. */
static int find_range(struct tk_store *s, const struct tk_night_row *night, int64_t *since_s,
        int64_t *previous, struct tk_error *err)
{
	AUTO(tk_rows) before = {0};
	TRY(tk_store_select(s,
	        "SELECT min(id) AS id, as_of_s FROM night WHERE machine_id=?1 AND as_of_s<?2 AND "
	        "kind<>'run'"
	        " GROUP BY as_of_s ORDER BY as_of_s DESC LIMIT ?3",
	        TK_ARGS(night->machine_id, night->as_of_s, NIGHTS_ANALYSED - 1), &timed_night_type,
	        &before, err));
	const struct timed_night *n = before.rows;

	*since_s = before.count ? n[before.count - 1].as_of_s : night->as_of_s;
	*previous = before.count ? n[0].id : 0;
	return TK_OK;
}

/* ---- what opens no alert is reported once ---- */

static bool was_reported(const struct tk_verdict_row *stored)
{
	return stored->status == TK_VERDICT_IMPROVED || stored->status == TK_VERDICT_CHANGED ||
	       stored->status == TK_VERDICT_RECOVERED ||
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

/* Not again if the night `previous` reported it. rows[i] is of case i. */
static int suppress_repeats(struct tk_store *s, const struct tk_analysis *c, int64_t previous,
        struct tk_diff_report *r, struct tk_error *err)
{
	for (size_t i = 0; previous && i < r->count; i++) {
		struct tk_diff_row *row = &r->rows[i];
		AUTO(tk_rows) verdicts = {0};

		if ((row->verdict.status != TK_VERDICT_IMPROVED &&
		            row->verdict.status != TK_VERDICT_CHANGED) ||
		        row->verdict.first_bad_run_id == c->at[i].window->last_within.run_id)
			continue;
		TRY(tk_store_find_verdict(s, previous, row->series_id, &verdicts, err));
		if (verdicts.count && was_reported(verdicts.rows))
			suppress(row);
	}
	return TK_OK;
}

/* ---- one night ---- */

/* What a night decides about all of the history, not only about itself. */
static int put_history(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_error *err)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_series_case *k = &c->at[i];

		if (k->window->last_within.night_id == night->id && k->count)
			TRY(tk_detect_change_points(
			        &c->catalog, k->series, tk_detect_least_effect(&c->options), err));
	}
	return tk_missing_data_update_alerts(s, &c->options, night->id, err);
}

static int put_night(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session *session, enum mode mode, struct tk_diff_report *r,
        struct tk_error *err)
{
	TRY(tk_monitor_session_save(session, s, err));
	TRY(tk_alerts_update(s, c, night, r, err));
	TRY(tk_diff_report_store(r, s, night->id, err));
	TRY(tk_analysis_store_sensitivity(c, s, night->id, err));
	return mode == NIGHT ? put_history(s, c, night, err) : TK_OK;
}

static int decide_night(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        int64_t previous, enum mode mode, struct tk_diff_report *r, struct tk_error *err)
{
	AUTO_PTR(tk_monitor_session) session = NULL;
	TRY(tk_monitor_session_run(c, night, &session, err));
	tk_analysis_evaluate(c);
	TRY(tk_analysis_decide(c, r, err));
	TRY(suppress_repeats(s, c, previous, r, err));
	if (mode == PREVIEW)
		return TK_OK;
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, put_night(s, c, night, session, mode, r, err), err);
}

/* Of *report only the rows, in any order. Free it in any case. */
static int detect_night(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, enum mode mode, struct tk_replay_memory *memory,
        struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_night_row night;
	struct tk_machine_row machine;
	AUTO(tk_analysis) c = {0};
	int64_t previous;

	TRY(tk_store_get(s, TK_TABLE_night, night_id, &night, err));
	TRY(tk_store_get(s, TK_TABLE_machine, night.machine_id, &machine, err));

	struct tk_diff_range range = {.until_s = night.as_of_s, .machine = machine.name};
	const struct tk_night_scope scope = {.night_id = night_id,
	        .touched_only = night.kind != TK_NIGHT_NIGHTLY,
	        .as_of_s = night.as_of_s,
	        .memory = memory};

	TRY(find_range(s, &night, &range.since_s, &previous, err));
	TRY(tk_analysis_load(s, options, &range, &scope, &c, err));
	return decide_night(s, &c, &night, previous, mode, report, err);
}

static int detect_and_finish(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, enum mode mode, struct tk_diff_report *report,
        struct tk_error *err)
{
	struct tk_diff_report made = {0};
	int status = detect_night(s, night_id, options, mode, NULL, &made, err);

	if (!status)
		tk_diff_report_finish(&made);
	if (!status && report)
		*report = made;
	else
		tk_diff_report_free(&made);
	return status;
}

int tk_detect_night(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err)
{
	return detect_and_finish(s, night_id, options, NIGHT, report, err);
}

int tk_detect_preview(struct tk_store *s, int64_t night_id, const struct tk_detect_options *options,
        struct tk_diff_report *report, struct tk_error *err)
{
	return detect_and_finish(s, night_id, options, PREVIEW, report, err);
}

/* ---- replay: after an import, after a merge, after the thresholds changed ---- */

/* Resets the monitor of all devices: the first of these nights rebuilds it from the nights
 * before. */
static int reset_monitors(struct tk_store *s, struct tk_error *err)
{
	AUTO(tk_rows) devices = {0};
	TRY(tk_store_list(s, TK_TABLE_device, NULL, TK_NO_ARGS, &devices, err));
	TRY(tk_store_begin(s, err));
	int status = TK_OK;

	for (size_t i = 0; !status && i < devices.count; i++)
		status = tk_store_reset_monitor(
		        s, TK_ROWS_AT(&devices, struct tk_device_row, i)->id, INT64_MIN, err);
	return tk_store_end(s, status, err);
}

/* In one transaction: each of its thousands of reads would lock the file otherwise. */
static int replay_night(struct tk_store *s, const struct timed_night *night,
        const struct tk_detect_options *options, struct tk_replay_memory *memory,
        struct tk_detect_replay_counts *out, struct tk_error *err)
{
	struct tk_detect_options then = *options;
	struct tk_diff_report report = {0};

	then.now_s = night->as_of_s;
	TRY(tk_store_begin(s, err));
	int status = tk_store_end(
	        s, detect_night(s, night->id, &then, REPLAY, memory, &report, err), err);

	if (!status)
		tk_diff_report_count(&report);
	for (size_t k = 0; k < TK_VERDICT_STATUS_COUNT; k++)
		out->by_status[k] += report.by_status[k];
	tk_diff_report_free(&report);
	return status;
}

static int replay_nights(struct tk_store *s, const struct tk_rows *nights,
        const struct tk_detect_options *options, const struct tk_detect_replay *what,
        struct tk_replay_memory *memory, struct tk_detect_replay_counts *out, struct tk_error *err)
{
	for (size_t i = 0; i < nights->count; i++) {
		TRY(replay_night(
		        s, TK_ROWS_AT(nights, struct timed_night, i), options, memory, out, err));
		if (what->progress)
			what->progress(what->context, i + 1, nights->count);
	}
	/* Without them, after a replay that was interrupted, the next night rebuilds its
	 * monitors. */
	TRY(tk_store_begin(s, err));
	TRY(tk_store_end(s, tk_kept_monitors_store(&memory->monitors, options, s, err), err));
	TRY(tk_store_begin(s, err));
	out->series = memory->catalog.series.rows.count;
	return tk_store_end(s,
	        tk_detect_all_change_points(&memory->catalog, tk_detect_least_effect(options), err),
	        err);
}

static int replay(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_detect_replay *what, struct tk_detect_replay_counts *out,
        struct tk_error *err)
{
	AUTO(tk_rows) nights = {0};
	struct tk_replay_memory memory = {0};
	int64_t machines;

	TRY(tk_store_select(s,
	        "SELECT id, as_of_s FROM night n WHERE kind<>'run' AND status<>'running'"
	        " AND as_of_s >= CASE ?1 WHEN 0 THEN (SELECT max(as_of_s) FROM night o WHERE"
	        " o.machine_id=n.machine_id AND o.kind<>'run' AND o.status<>'running') - ?2"
	        " ELSE ?1 END ORDER BY as_of_s, id",
	        TK_ARGS(what->since_s, what->days * DAY_S), &timed_night_type, &nights, err));
	out->nights = nights.count;
	TRY(tk_store_select_int(s,
	        "SELECT count(DISTINCT machine_id) FROM night n WHERE kind<>'run'"
	        " AND status<>'running' AND as_of_s >= ?1",
	        TK_ARGS(what->since_s), 0, &machines, err));
	out->machines = (size_t)machines;
	TRY(reset_monitors(s, err));
	TRY(tk_catalog_load(s, &memory.catalog, err));
	memory.reader = tk_point_reader_new();
	const int status = replay_nights(s, &nights, options, what, &memory, out, err);

	tk_kept_monitors_free(&memory.monitors);
	tk_point_reader_free(memory.reader);
	tk_catalog_free(&memory.catalog);
	return status;
}

int tk_detect_replay(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_detect_replay *what, struct tk_detect_replay_counts *out,
        struct tk_error *err)
{
	*out = (struct tk_detect_replay_counts){0};
	return replay(s, options, what, out, err);
}

/* ---- the newest night of each machine ---- */

struct selection {
	struct tk_store *store;
	const struct tk_detect_options *options;
	const struct tk_diff_range *range;
	struct tk_catalog catalog;
	bool decide;
};

/* Of an old night nothing but its age is of interest. */
static void set_stale(struct tk_diff_row *row, int64_t age_s)
{
	if (!(row->verdict.after.value >= 0))
		return;
	tk_diff_row_set_status(row, TK_VERDICT_STALE);
	row->verdict.decided_by = TK_RULE_STALE;
	tk_verdict_add_fact(&row->verdict,
	        (struct tk_fact){.kind = TK_FACT_DATA_AGE, .number = {(double)age_s}}, NULL);
}

/* What may have changed since the night ended: the time, and acks.yml. */
static bool take_row(const struct selection *q, int64_t age_s, struct tk_diff_row *row)
{
	struct tk_series_case k = {0};

	if (!tk_series_case_find_names(&q->catalog, row->series_id, &k) ||
	        !tk_series_case_is_chosen(&k, q->range))
		return false;

	const struct tk_filter_fields fields = tk_series_case_filter_fields(&k);

	if (q->options->stale_days && age_s > (int64_t)q->options->stale_days * DAY_S)
		set_stale(row, age_s);
	tk_diff_row_apply_ack_rules(q->options, &fields, row);
	return true;
}

/* A night that was not analysed yet, or is asked about with other thresholds, is decided now. */
static int read_night(
        struct selection *q, int64_t night_id, struct tk_diff_report *out, struct tk_error *err)
{
	AUTO(tk_rows) stored = {0};

	if (!q->decide)
		TRY(tk_store_list_verdicts(q->store, night_id, &stored, err));
	if (!stored.count)
		return tk_detect_preview(q->store, night_id, q->options, out, err);
	out->rows = tk_calloc(stored.count, sizeof *out->rows);
	for (size_t i = 0; i < stored.count; i++)
		out->count += tk_diff_row_read(&q->catalog,
		        TK_ROWS_AT(&stored, struct tk_verdict_row, i), &out->rows[out->count]);
	return TK_OK;
}

static int add_night(struct selection *q, const struct timed_night *night,
        struct tk_diff_report *all, struct tk_error *err)
{
	const int64_t age_s = q->options->now_s - night->as_of_s;
	AUTO(tk_diff_report) one = {0};
	TRY(read_night(q, night->id, &one, err));

	all->rows = tk_realloc(all->rows, (all->count + one.count + 1) * sizeof *all->rows);
	for (size_t i = 0; i < one.count; i++)
		if (take_row(q, age_s, &one.rows[i]))
			all->rows[all->count++] = one.rows[i];
	if (night->as_of_s < all->since_s)
		all->since_s = night->as_of_s;
	return TK_OK;
}

static int add_newest_nights(struct selection *q, struct tk_diff_report *out, struct tk_error *err)
{
	AUTO(tk_rows) nights = {0};

	TRY(tk_diff_range_check(&q->catalog.machines.rows, q->range, err));
	TRY(tk_store_select(q->store,
	        "SELECT n.id, max(n.as_of_s) AS as_of_s FROM night n"
	        " JOIN machine m ON m.id = n.machine_id"
	        " WHERE n.kind<>'run' AND n.status NOT IN ('running', 'failed')"
	        " AND m.name=ifnull(?1, m.name) GROUP BY m.id",
	        TK_ARGS(q->range->machine), &timed_night_type, &nights, err));
	for (size_t i = 0; i < nights.count; i++)
		TRY(add_night(q, TK_ROWS_AT(&nights, struct timed_night, i), out, err));
	return TK_OK;
}

static int finish(int status, struct tk_diff_report *report, struct tk_diff_report *out)
{
	if (status) {
		tk_diff_report_free(report);
		return status;
	}
	tk_diff_report_finish(report);
	*out = *report;
	return TK_OK;
}

int tk_detect_latest_nights(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, bool decide, struct tk_diff_report *out,
        struct tk_error *err)
{
	struct selection q = {.store = s, .options = options, .range = range, .decide = decide};
	struct tk_diff_report report = {.since_s = range->since_s,
	        .until_s = INT64_MAX,
	        .window = options->window,
	        .options = *options};
	TRY(tk_catalog_load(s, &q.catalog, err));
	const int status = add_newest_nights(&q, &report, err);

	tk_catalog_free(&q.catalog);
	return finish(status, &report, out);
}

/* ---- range ---- */

static int diff(struct tk_analysis *c, struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	TRY(tk_analysis_load(s, options, range, NULL, c, err));
	TRY(tk_analysis_load_monitor_events(c, err));
	tk_analysis_evaluate(c);
	tk_analysis_filter(c, range);
	return tk_analysis_decide(c, out, err);
}

int tk_detect_diff(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	AUTO(tk_analysis) c = {0};
	struct tk_diff_report report = {0};

	return finish(diff(&c, s, options, range, &report, err), &report, out);
}
