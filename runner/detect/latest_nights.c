/* The newest night of each machine, judged again from what is stored as the night itself was:
 * beside the two before it, by the alerts that were open then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/history/series_case.h"
#include "detect/monitor/monitor_session.h"

static const struct tk_night_row *newest_of(const struct tk_rows *nights, int64_t machine_id)
{
	const struct tk_night_row *newest = NULL;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && tk_night_has_ended(n) &&
		        strcmp(n->kind, "run") != 0 && strcmp(n->status, "failed") != 0 &&
		        (!newest || n->as_of_s > newest->as_of_s))
			newest = n;
	}
	return newest;
}

/* A night that finds an alert worse than it was raises the alert to what it found: beside that it
 * would be no news. */
static int say_as_then(struct tk_store *s, struct tk_case_set *c, int64_t night_id,
        struct tk_diff_report *r, struct tk_error *err)
{
	struct tk_rows verdicts;
	int rc = tk_store_list_verdicts(s, night_id, &verdicts, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < r->count; i++) {
		struct tk_diff_row *row = &r->rows[i];

		for (size_t j = 0; row->status == TK_VERDICT_SAME && j < verdicts.count; j++) {
			const struct tk_verdict_row *v =
			        TK_ROWS_AT(&verdicts, struct tk_verdict_row, j);

			if (v->series_id != row->series_id ||
			        !strstr(row->reason, TK_REASON_STILL_AT_ALERT) ||
			        strcmp(v->status, tk_verdict_status_name(TK_VERDICT_REGRESSED)) !=
			                0)
				continue;
			row->status = row->was = TK_VERDICT_REGRESSED;
			snprintf(row->reason, sizeof row->reason, "%s", v->reason);
			tk_series_case_apply_ack(c, &c->at[i], row);
		}
	}
	tk_rows_free(&verdicts);
	return TK_OK;
}

static int judge(struct tk_store *s, const struct tk_rows *nights, const struct tk_night_row *night,
        const struct tk_detect_options *o, const struct tk_diff_range *range,
        struct tk_diff_report *out, struct tk_error *err)
{
	const int64_t age_s = o->now_s - night->as_of_s;
	const struct tk_night_scope scope = {.night_id = night->id,
	        .touched_only = strcmp(night->kind, "nightly") != 0,
	        .as_of_s = night->as_of_s,
	        .open_ended = o->stale_days && age_s > (int64_t)o->stale_days * 86400};
	struct tk_diff_range of = *range;
	struct tk_case_set c;
	int64_t previous;
	int rc;

	of.since_s = tk_night_find_range(nights, night, &previous);
	of.until_s = night->as_of_s;
	rc = tk_case_set_load(s, o, &of, &scope, &c, err);
	if (!rc)
		rc = tk_case_set_load_alarms(&c, err);
	if (!rc)
		rc = tk_case_set_evaluate(&c, err);
	if (!rc) {
		tk_case_set_filter(&c, range);
		rc = tk_case_set_decide(&c, out, err);
	}
	if (!rc)
		rc = tk_diff_report_suppress_repeats(s, &c, previous, out, err);
	if (!rc)
		rc = say_as_then(s, &c, night->id, out, err);
	tk_case_set_free(&c);
	return rc;
}

static int append(
        struct tk_diff_report *all, const struct tk_diff_report *one, struct tk_error *err)
{
	struct tk_diff_row *grown =
	        realloc(all->rows, (all->count + one->count + 1) * sizeof *grown);

	if (!grown)
		return tk_fail(err, TK_ENOMEM, "out of memory while writing the report");
	all->rows = grown;
	for (size_t i = 0; i < one->count; i++)
		grown[all->count++] = one->rows[i];
	return TK_OK;
}

static int judge_machines(struct tk_store *s, const struct tk_rows *machines,
        const struct tk_rows *nights, const struct tk_detect_options *o,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	int rc = TK_OK;

	for (size_t m = 0; !rc && m < machines->count; m++) {
		const struct tk_machine_row *machine =
		        TK_ROWS_AT(machines, struct tk_machine_row, m);
		const struct tk_night_row *night = newest_of(nights, machine->id);
		struct tk_diff_range of = *range;
		struct tk_diff_report one = {0};

		if (!night || (range->machine && strcmp(range->machine, machine->name) != 0))
			continue;
		of.machine = machine->name;
		rc = judge(s, nights, night, o, &of, &one, err);
		if (!rc)
			rc = append(out, &one, err);
		if (night->as_of_s < out->since_s)
			out->since_s = night->as_of_s;
		tk_diff_report_free(&one);
	}
	return rc;
}

int tk_detect_latest_nights(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	struct tk_diff_report report = {.since_s = range->since_s,
	        .until_s = INT64_MAX,
	        .window = options->window,
	        .options = *options};
	struct tk_rows nights = {0}, machines = {0};
	int rc = tk_store_list_nights(s, &nights, err);

	if (!rc)
		rc = tk_store_list_machines(s, &machines, err);
	if (!rc)
		rc = tk_diff_range_check(&machines, range, err);
	if (!rc)
		rc = judge_machines(s, &machines, &nights, options, range, &report, err);
	if (rc) {
		tk_diff_report_free(&report);
	} else {
		tk_diff_report_finish(&report);
		*out = report;
	}
	tk_rows_free(&nights);
	tk_rows_free(&machines);
	return rc;
}
