/* The monitor over the history: see monitor_session.h. Each device is device_monitor.c. */
#include "decide/monitor/monitor_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/serializer.h"
#include "decide/monitor/device_monitor.h"
#include "decide/monitor/monitor.h"
#include "stats/levels.h"

/* ---- kept monitors ---- */

struct tk_kept_monitor *tk_kept_monitors_find(const struct tk_kept_monitors *k, int64_t device_id)
{
	for (size_t i = 0; k && i < k->count; i++)
		if (k->at[i].state.device_id == device_id)
			return &k->at[i];
	return NULL;
}

int tk_kept_monitors_put(struct tk_kept_monitors *k, const struct tk_monitor_state_row *state,
        struct tk_monitor *monitor, struct tk_error *err)
{
	struct tk_kept_monitor *kept = tk_kept_monitors_find(k, state->device_id), *grown;

	if (!kept) {
		grown = tk_realloc(k->at, (k->count + 1) * sizeof *grown);
		k->at = grown;
		kept = &grown[k->count++];
		*kept = (struct tk_kept_monitor){0};
	}
	tk_monitor_free(kept->monitor);
	kept->state = *state;
	snprintf(kept->options, sizeof kept->options, "%s", state->options);
	kept->state.options = NULL;
	kept->monitor = monitor;
	return TK_OK;
}

int tk_monitor_store_state(struct tk_monitor *monitor, const struct tk_monitor_state_row *state,
        struct tk_store *s, struct tk_error *err)
{
	struct tk_serializer io = {0};
	struct tk_monitor_state_row row = *state;
	int status = tk_monitor_serialize(monitor, &io, err);

	row.numbers = io.at;
	row.count = io.count;
	if (!status)
		status = tk_store_put_monitor_state(s, &row, err);
	tk_serializer_free(&io);
	return status;
}

int tk_kept_monitors_store(
        const struct tk_kept_monitors *k, struct tk_store *s, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < k->count; i++) {
		struct tk_monitor_state_row row = k->at[i].state;

		row.options = k->at[i].options;
		if (k->at[i].monitor)
			status = tk_monitor_store_state(k->at[i].monitor, &row, s, err);
	}
	return status;
}

void tk_kept_monitors_free(struct tk_kept_monitors *k)
{
	for (size_t i = 0; i < k->count; i++)
		tk_monitor_free(k->at[i].monitor);
	free(k->at);
	*k = (struct tk_kept_monitors){0};
}

/* ---- monitor session ---- */

#define FORMAT 1 /* of the stored state: goes up when its meaning changes */

struct tk_monitor_session {
	struct tk_analysis *set;
	const struct tk_night_row *night;
	char options[80];
	struct tk_device_monitor *devices;
	size_t count;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while monitoring series");
}

/* ---- events -> cases ---- */

static void give_event(struct tk_series_case *k, const struct tk_monitor_event_row *event)
{
	switch (event->kind) {
	case TK_MONITOR_STEP:
		k->monitor_step = event;
		break;
	case TK_MONITOR_MACHINE_STEP:
		k->machine_step = event;
		break;
	case TK_MONITOR_RETRACTED:
		if (k->monitor_step && k->monitor_step->first_after_s == event->first_after_s)
			k->monitor_step = NULL;
		k->retracted = event;
		break;
	}
}

/* A step that began before the points of a case makes it read more of them, and A/B runs since. */
static int read_back_to_steps(struct tk_analysis *c, struct tk_error *err)
{
	int64_t earliest_s = c->since_s;
	int status = TK_OK;

	for (size_t i = 0; !status && i < c->count; i++) {
		const struct tk_monitor_event_row *step = c->at[i].monitor_step;

		if (!step)
			continue;
		status = tk_series_case_extend_history(c, &c->at[i], step->last_before_s, err);
		earliest_s = step->first_after_s < earliest_s ? step->first_after_s : earliest_s;
	}
	if (status || earliest_s == c->since_s)
		return status;
	tk_rows_free(&c->ab_pairs);
	return tk_store_list_ab_pairs(c->catalog.store, 0, earliest_s, &c->ab_pairs, err);
}

/* The monitor compares with the nights before: for any other baseline its events do not apply. */
static int give_events(struct tk_analysis *c, struct tk_error *err)
{
	if (c->options.baseline != TK_BASELINE_WINDOW)
		return TK_OK;
	for (size_t i = 0; i < c->monitor_events.count; i++) { /* by time */
		const struct tk_monitor_event_row *event =
		        TK_ROWS_AT(&c->monitor_events, struct tk_monitor_event_row, i);
		struct tk_series_case *k =
		        (struct tk_series_case *)tk_analysis_find(c, event->series_id);

		if (k)
			give_event(k, event);
	}
	return read_back_to_steps(c, err);
}

static void mark_case(struct tk_series_case *k, bool is_monitored)
{
	k->is_monitored = is_monitored && k->count >= TK_MONITOR_NIGHTS_MIN;
}

int tk_analysis_load_monitor_events(struct tk_analysis *c, struct tk_error *err)
{
	const bool by_window = c->options.baseline == TK_BASELINE_WINDOW;
	const int64_t since_s = c->scope.night_id ? c->scope.as_of_s : c->since_s;
	struct tk_rows nights = {0};
	int status = tk_store_list(c->catalog.store, TK_TABLE_monitor_event,
	        "as_of_s>=?1 AND as_of_s<=?2", TK_ARGS(since_s, c->until_s), &c->monitor_events,
	        err);

	if (!status)
		status = tk_store_list(
		        c->catalog.store, TK_TABLE_monitored_night, NULL, TK_NO_ARGS, &nights, err);
	for (size_t i = 0; !status && i < c->count; i++) {
		struct tk_series_case *k = &c->at[i];

		mark_case(k, by_window && k->count &&
		                     tk_monitored_nights_contain(
		                             &nights, k->points[k->count - 1].night_id));
	}
	tk_rows_free(&nights);
	return status ? status : give_events(c, err);
}

/* ---- one night ---- */

static bool is_tonight(const struct tk_monitor_session *w, const struct tk_series_case *k)
{
	return k->count && tk_device_monitor_is_tonight(w->night, k, &k->points[k->count - 1]);
}

static struct tk_device_monitor *find_device(const struct tk_monitor_session *w, int64_t device_id)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->devices[i].device_id == device_id)
			return &w->devices[i];
	return NULL;
}

static int list_devices(struct tk_monitor_session *w, struct tk_error *err)
{
	w->devices = tk_calloc(w->set->catalog.devices.rows.count + 1, sizeof *w->devices);
	for (size_t i = 0; i < w->set->count; i++) {
		const struct tk_series_case *k = &w->set->at[i];

		if (is_tonight(w, k) && !find_device(w, k->device->id))
			w->devices[w->count++] = (struct tk_device_monitor){.set = w->set,
			        .night = w->night,
			        .options = w->options,
			        .device_id = k->device->id};
	}
	return TK_OK;
}

/* Stored events of the night, of a device that was not monitored again. */
static int add_stored(const struct tk_monitor_session *w, const struct tk_device_monitor *d,
        const struct tk_rows *stored, struct tk_event_list *all)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < stored->count; i++) {
		const struct tk_monitor_event_row *event =
		        TK_ROWS_AT(stored, struct tk_monitor_event_row, i);
		const struct tk_series_case *k = tk_analysis_find(w->set, event->series_id);

		if (k && k->device->id == d->device_id && event->night_id == w->night->id)
			status = tk_event_list_add(all, event);
	}
	return status;
}

static int add_new(const struct tk_monitor_session *w, const struct tk_device_monitor *d,
        struct tk_event_list *all)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < d->events.count; i++)
		if (d->events.at[i].night_id == w->night->id)
			status = tk_event_list_add(all, &d->events.at[i]);
	return status;
}

/* All events of the night, into the set. */
static int collect_events(struct tk_monitor_session *w, struct tk_error *err)
{
	struct tk_rows stored = {0};
	struct tk_event_list all = {0};
	int status = tk_store_list(w->set->catalog.store, TK_TABLE_monitor_event,
	        "as_of_s>=?1 AND as_of_s<=?2", TK_ARGS(w->night->as_of_s, w->night->as_of_s),
	        &stored, err);

	if (status)
		return status;
	for (size_t i = 0; !status && i < w->count; i++) {
		const struct tk_device_monitor *d = &w->devices[i];

		status = d->monitor ? add_new(w, d, &all) : add_stored(w, d, &stored, &all);
	}
	tk_rows_free(&stored);
	if (status) {
		free(all.at);
		return out_of_memory(err);
	}
	w->set->monitor_events = (struct tk_rows){.rows = all.at, .count = all.count};
	return TK_OK;
}

static void mark_cases(struct tk_monitor_session *w)
{
	for (size_t i = 0; i < w->set->count; i++) {
		struct tk_series_case *k = &w->set->at[i];
		const struct tk_device_monitor *d = k->count ? find_device(w, k->device->id) : NULL;

		if (!d)
			continue;
		mark_case(k, d->is_monitored && is_tonight(w, k));
		if (d->monitor)
			k->level = tk_monitor_level(d->monitor, k->series->id);
	}
}

int tk_monitor_session_run(struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err)
{
	struct tk_monitor_session *w = tk_calloc(1, sizeof *w);
	int status;

	w->set = c;
	w->night = night;
	snprintf(w->options, sizeof w->options, "%d %.17g %.17g", FORMAT, c->options.min_effect,
	        c->options.fdr);
	status = list_devices(w, err);
	for (size_t i = 0; !status && i < w->count; i++)
		status = tk_device_monitor_run(&w->devices[i], err);
	if (!status)
		status = collect_events(w, err);
	if (!status) {
		mark_cases(w);
		status = give_events(c, err);
	}
	if (status)
		tk_monitor_session_free(w);
	else
		*out = w;
	return status;
}

int tk_monitor_session_save(struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < w->count; i++)
		if (w->devices[i].monitor)
			status = tk_device_monitor_save(&w->devices[i], s, err);
	return status;
}

void tk_monitor_session_free(struct tk_monitor_session *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++)
		tk_device_monitor_free(&w->devices[i]);
	free(w->devices);
	free(w);
}
