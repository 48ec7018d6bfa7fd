/* Gathers the evidence of one case: see gather.h. The step itself is gather_step.c. */
#include "decide/history/gather.h"

#include <math.h>

#include "base/error.h"
#include "core/metric.h"
#include "core/night.h"
#include "decide/history/case_set.h"
#include "decide/history/gather_step.h"
#include "decide/rules/evidence.h"

/* ---- runs ---- */

static struct tk_run_evidence run_evidence(
        const struct tk_series_case *k, const struct tk_run_summary *run)
{
	return (struct tk_run_evidence){.exists = run->run_id != 0,
	        .has_timing = tk_series_case_has_timing(k, run),
	        .outcome = run->outcome,
	        .message = run->message,
	        .as_of_s = run->as_of_s,
	        .run_id = run->run_id,
	        .build_id = run->build_id};
}

/* The run before the range, or the first one of the range where that is all there is. */
static const struct tk_run_summary *previous_run(const struct tk_series_case *k)
{
	const struct tk_history_window *w = k->window;
	bool use_before = w->last_before.run_id || w->first_within.run_id == w->last_within.run_id;

	return use_before ? &w->last_before : &w->first_within;
}

/* The newest full night of the machine measured this upstream, and not this series. */
static bool was_left_out(const struct tk_case_set *set, const struct tk_series_case *k)
{
	const struct tk_expected_series *expected = tk_case_set_find_expected(set, k->machine->id);
	const struct tk_run_summary *last = &k->window->last_within;

	if (!expected || !expected->night ||
	        (last->run_id && last->as_of_s >= expected->night->as_of_s))
		return false;
	for (size_t i = 0; i < expected->resolutions.count; i++)
		if (TK_ROWS_AT(&expected->resolutions, struct tk_resolution_row, i)->upstream_id ==
		        k->upstream->id)
			return true;
	return expected->resolutions.count == 0;
}

/* Its turn comes again within the nights of a round, counted from its newest run. `is_part`: the
 * newest night measured a part of the problems, and the part of this series may be one night older:
 * the parts of a night do not end at the same time. */
static bool is_not_due(const struct tk_evidence *e, bool is_part)
{
	const uint32_t round = e->rotate_nights > 1 ? e->rotate_nights : 1;

	return e->newest.exists && (round > 1 || is_part) && e->nights_ago < round + is_part;
}

static bool is_newest_night_part(const struct tk_case_set *set, const struct tk_series_case *k)
{
	const struct tk_expected_series *expected = tk_case_set_find_expected(set, k->machine->id);

	return expected && expected->night && tk_night_read_coverage(expected->night->summary).part;
}

/* Of a series that waits for its turn, the newest night must not be too old. */
static bool is_too_old(const struct tk_case_set *set, const struct tk_series_case *k,
        const struct tk_evidence *e, bool is_not_due)
{
	const struct tk_expected_series *expected = tk_case_set_find_expected(set, k->machine->id);
	const int64_t as_of_s = is_not_due && expected && expected->night ? expected->night->as_of_s
	                                                                  : e->newest.as_of_s;
	const int64_t age_s = set->options.now_s - as_of_s;

	return e->newest.exists && set->open_ended && set->options.stale_days &&
	       age_s > (int64_t)set->options.stale_days * 86400;
}

static void gather_runs(
        const struct tk_case_set *set, const struct tk_series_case *k, struct tk_evidence *e)
{
	e->within = run_evidence(k, &k->window->last_within);
	e->newest = e->within.exists ? e->within : run_evidence(k, &k->window->last_before);
	e->previous = run_evidence(k, previous_run(k));
	const bool is_part = is_newest_night_part(set, k);
	e->rotate_nights = (uint32_t)k->series->rotate_nights;
	if ((e->rotate_nights > 1 || is_part) && e->newest.exists)
		e->nights_ago = (uint32_t)tk_case_set_count_nights_since(
		        set, k->machine->id, e->newest.as_of_s);
	const bool waits = is_not_due(e, is_part);
	e->was_left_out = was_left_out(set, k);
	if (e->was_left_out && waits) {
		e->was_left_out = false; /* its runs in the range, if any, are compared */
		e->is_not_due = !e->within.exists;
	}
	e->is_too_old = is_too_old(set, k, e, waits);
}

static void gather_last_point(const struct tk_series_case *k, struct tk_evidence *e)
{
	const struct tk_point *p = k->count ? &k->points[k->count - 1] : NULL;

	e->point_count = k->count;
	e->last_value = (struct tk_estimate){NAN, NAN, NAN};
	if (!p)
		return;
	e->last_value = (struct tk_estimate){p->value, p->lo, p->hi};
	e->last_point_s = p->as_of_s;
	e->last_point_build_id = p->build_id;
	e->last_point_run_id = p->run_id;
	e->last_point_samples = (uint32_t)p->n;
}

/* ---- alert and monitor ---- */

static void gather_alert(const struct tk_series_case *k, struct tk_evidence *e)
{
	const struct tk_alert_row *a = k->alert;

	e->alert.baseline = k->alert_baseline;
	if (k->ended)
		e->ended = (struct tk_alert_evidence){.exists = true,
		        .is_closed = true,
		        .opened_s = k->ended->opened_s,
		        .bad_rev = k->ended->bad_rev};
	if (!a)
		return;
	e->alert.exists = true;
	e->alert.is_closed = a->status == TK_ALERT_CLOSED;
	e->alert.opened_s = a->opened_s;
	e->alert.bad_rev = a->bad_rev;
	e->alert.change = k->alert_change;
}

static struct tk_monitor_step monitor_step(const struct tk_monitor_event_row *event)
{
	if (!event)
		return (struct tk_monitor_step){.exists = false};
	return (struct tk_monitor_step){.exists = true,
	        .first_s = event->first_after_s,
	        .before = event->before_value,
	        .after = event->after_value,
	        .log_lr = event->log_lr,
	        .q = event->q};
}

static void gather_monitor(const struct tk_series_case *k, struct tk_evidence *e)
{
	e->monitor = (struct tk_monitor_evidence){.is_monitored = k->is_monitored,
	        .level = k->level,
	        .step = monitor_step(k->monitor_step),
	        .machine_step = monitor_step(k->machine_step),
	        .retracted = monitor_step(k->retracted)};
}

int tk_evidence_gather(struct tk_case_set *set, const struct tk_series_case *k,
        struct tk_evidence *out, struct tk_error *err)
{
	*out = (struct tk_evidence){.options = &set->options,
	        .lower_is_better = k->series->better != TK_BETTER_HIGHER,
	        .is_time_ns = tk_unit_from_name(k->series->unit) == TK_UNIT_NS,
	        .is_night = set->scope.night_id != 0,
	        .lacks_baseline = k->lacks_baseline,
	        .has_baseline = k->range != 0};
	gather_runs(set, k, out);
	gather_last_point(k, out);
	gather_alert(k, out);
	gather_monitor(k, out);
	if (!k->range || !out->within.has_timing || out->was_left_out || out->is_too_old ||
	        k->lacks_baseline)
		return TK_OK;
	out->raw = k->raw;
	out->adjusted = k->adjusted;
	return tk_evidence_gather_step(set, k, out, err);
}
