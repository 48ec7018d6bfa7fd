/* The newest night of each machine as that night reported it: analysed again from what is stored,
 * beside the two nights before it, with the alerts that were open then. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/night.h"
#include "detect/detect_night.h"
#include "detect/monitor/monitor_session.h"
#include "detect/report/verdict_detail.h"
#include "detect/triage/triage.h"

#define DAY_S INT64_C(86400)

static const struct tk_night_row *find_newest(const struct tk_rows *nights, int64_t machine_id)
{
	const struct tk_night_row *newest = NULL;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && tk_night_has_ended(n) &&
		        n->kind != TK_NIGHT_RUN && n->status != TK_NIGHT_FAILED &&
		        (!newest || n->as_of_s > newest->as_of_s))
			newest = n;
	}
	return newest;
}

static const struct tk_verdict_row *find_verdict(const struct tk_rows *verdicts, int64_t series_id)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (TK_ROWS_AT(verdicts, struct tk_verdict_row, i)->series_id == series_id)
			return TK_ROWS_AT(verdicts, struct tk_verdict_row, i);
	return NULL;
}

/* A night that finds a regression raises the alert to the new level. Compared with that alert, the
 * same night would show no news: its stored verdict is reported instead. */
static int restore_regressions(struct tk_store *s, struct tk_case_set *c, int64_t night_id,
        struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_rows verdicts;
	int status = tk_store_list(
	        s, TK_TABLE_verdict, "night_id=?1", TK_ARGS(night_id), &verdicts, err);

	if (status)
		return status;
	for (size_t i = 0; i < r->count; i++) {
		struct tk_diff_row *row = &r->rows[i];
		const struct tk_verdict_row *stored;

		if (row->verdict.status != TK_VERDICT_SAME ||
		        !tk_verdict_find_fact(&row->verdict, TK_FACT_STILL_AT_ALERT))
			continue;
		stored = find_verdict(&verdicts, row->series_id);
		if (!stored || stored->status != TK_VERDICT_REGRESSED)
			continue;
		tk_diff_row_set_status(row, TK_VERDICT_REGRESSED);
		tk_verdict_detail_read(stored->detail, stored->reason, &row->verdict);
		tk_series_case_apply_ack(c, &c->at[i], row);
	}
	tk_rows_free(&verdicts);
	return TK_OK;
}

static int detect_again(struct tk_store *s, const struct tk_rows *nights,
        const struct tk_night_row *night, const struct tk_detect_options *o,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	const int64_t age_s = o->now_s - night->as_of_s;
	const struct tk_night_scope scope = {.night_id = night->id,
	        .touched_only = night->kind != TK_NIGHT_NIGHTLY,
	        .as_of_s = night->as_of_s,
	        .open_ended = o->stale_days && age_s > (int64_t)o->stale_days * DAY_S};
	struct tk_diff_range night_range = *range;
	struct tk_case_set c;
	int64_t previous;

	night_range.since_s = tk_night_find_range(nights, night, &previous);
	night_range.until_s = night->as_of_s;

	int status = tk_case_set_load(s, o, &night_range, &scope, &c, err);

	if (!status)
		status = tk_case_set_load_monitor_events(&c, err);
	if (!status)
		status = tk_case_set_evaluate(&c, err);
	if (!status) {
		tk_case_set_filter(&c, range);
		status = tk_case_set_decide(&c, out, err);
	}
	if (!status)
		status = tk_diff_report_suppress_repeats(s, &c, previous, out, err);
	if (!status)
		status = restore_regressions(s, &c, night->id, out, err);
	tk_case_set_free(&c);
	return status;
}

static int append(
        struct tk_diff_report *all, const struct tk_diff_report *one, struct tk_error *err)
{
	struct tk_diff_row *grown =
	        tk_realloc(all->rows, (all->count + one->count + 1) * sizeof *grown);

	if (!grown)
		return tk_fail(err, TK_ENOMEM, "out of memory while writing the report");
	all->rows = grown;
	for (size_t i = 0; i < one->count; i++)
		grown[all->count++] = one->rows[i];
	return TK_OK;
}

static int detect_machines(struct tk_store *s, const struct tk_rows *machines,
        const struct tk_rows *nights, const struct tk_detect_options *o,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t m = 0; !status && m < machines->count; m++) {
		const struct tk_machine_row *machine =
		        TK_ROWS_AT(machines, struct tk_machine_row, m);
		const struct tk_night_row *night = find_newest(nights, machine->id);
		struct tk_diff_range machine_range = *range;
		struct tk_diff_report one = {0};

		if (!night || (range->machine && strcmp(range->machine, machine->name) != 0))
			continue;
		machine_range.machine = machine->name;
		status = detect_again(s, nights, night, o, &machine_range, &one, err);
		if (!status)
			status = append(out, &one, err);
		if (night->as_of_s < out->since_s)
			out->since_s = night->as_of_s;
		tk_diff_report_free(&one);
	}
	return status;
}

int tk_detect_latest_nights(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	struct tk_diff_report report = {.since_s = range->since_s,
	        .until_s = INT64_MAX,
	        .window = options->window,
	        .options = *options};
	struct tk_rows nights = {0}, machines = {0};
	int status = tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err);

	if (!status)
		status = tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, err);
	if (!status)
		status = tk_diff_range_check(&machines, range, err);
	if (!status)
		status = detect_machines(s, &machines, &nights, options, range, &report, err);
	if (status) {
		tk_diff_report_free(&report);
	} else {
		tk_diff_report_finish(&report);
		*out = report;
	}
	tk_rows_free(&nights);
	tk_rows_free(&machines);
	return status;
}
