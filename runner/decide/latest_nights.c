/* The newest night of each machine, as that night decided: its stored verdicts. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/night.h"
#include "decide/monitor/monitor_session.h"
#include "decide/night.h"
#include "decide/report/diff_row.h"
#include "decide/triage/triage.h"

/* ---- latest nights ---- */

#define DAY_S INT64_C(86400)

struct selection {
	struct tk_store *store;
	const struct tk_detect_options *options;
	const struct tk_diff_range *range;
	struct tk_catalog catalog;
};

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

/* Of an old night nothing but its age is of interest. */
static void set_stale(struct tk_diff_row *row, int64_t age_s)
{
	if (!(row->verdict.after.value > 0))
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
static int read_night(struct selection *q, const struct tk_night_row *night, bool decide,
        struct tk_diff_report *out, struct tk_error *err)
{
	struct tk_rows stored = {0};

	if (!decide)
		TRY(tk_store_list_verdicts(q->store, night->id, &stored, err));
	if (!stored.count)
		return tk_detect_preview(q->store, night->id, q->options, out, err);
	out->rows = tk_calloc(stored.count, sizeof *out->rows);
	for (size_t i = 0; i < stored.count; i++)
		out->count += tk_diff_row_read(&q->catalog,
		        TK_ROWS_AT(&stored, struct tk_verdict_row, i), &out->rows[out->count]);
	tk_rows_free(&stored);
	return TK_OK;
}

static int add_night(struct selection *q, const struct tk_night_row *night, bool decide,
        struct tk_diff_report *all, struct tk_error *err)
{
	const int64_t age_s = q->options->now_s - night->as_of_s;
	struct tk_diff_report one = {0};
	TRY(read_night(q, night, decide, &one, err));

	all->rows = tk_realloc(all->rows, (all->count + one.count + 1) * sizeof *all->rows);
	for (size_t i = 0; i < one.count; i++)
		if (take_row(q, age_s, &one.rows[i]))
			all->rows[all->count++] = one.rows[i];
	if (night->as_of_s < all->since_s)
		all->since_s = night->as_of_s;
	tk_diff_report_free(&one);
	return TK_OK;
}

static int add_machines(
        struct selection *q, bool decide, struct tk_diff_report *out, struct tk_error *err)
{
	const struct tk_rows *machines = &q->catalog.machines.rows;

	for (size_t m = 0; m < machines->count; m++) {
		const struct tk_machine_row *machine =
		        TK_ROWS_AT(machines, struct tk_machine_row, m);
		const struct tk_night_row *night =
		        find_newest(&q->catalog.nights.rows, machine->id);

		if (!night || (q->range->machine && strcmp(q->range->machine, machine->name) != 0))
			continue;
		TRY(add_night(q, night, decide, out, err));
	}
	return TK_OK;
}

int tk_detect_latest_nights(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, bool decide, struct tk_diff_report *out,
        struct tk_error *err)
{
	struct selection q = {.store = s, .options = options, .range = range};
	struct tk_diff_report report = {.since_s = range->since_s,
	        .until_s = INT64_MAX,
	        .window = options->window,
	        .options = *options};
	TRY(tk_catalog_load(s, &q.catalog, err));
	int status = tk_diff_range_check(&q.catalog.machines.rows, range, err);

	if (!status)
		status = add_machines(&q, decide, &report, err);
	tk_catalog_free(&q.catalog);
	if (status) {
		tk_diff_report_free(&report);
		return status;
	}
	tk_diff_report_finish(&report);
	*out = report;
	return TK_OK;
}

/* ---- range ---- */

int tk_detect_diff(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	struct tk_analysis c;
	int status = tk_analysis_load(s, options, range, NULL, &c, err);

	if (!status)
		status = tk_analysis_load_monitor_events(&c, err);
	if (!status)
		status = tk_analysis_evaluate(&c, err);
	if (!status)
		tk_analysis_filter(&c, range);
	if (!status)
		status = tk_analysis_decide(&c, &report, err);
	tk_analysis_free(&c);
	if (status) {
		tk_diff_report_free(&report);
		return status;
	}
	tk_diff_report_finish(&report);
	*out = report;
	return TK_OK;
}
