/* The monitor over the history: the state of each device after its last night is stored, brought up
 * to a night, and its events go to the cases of an analysis. */
#include <math.h>

#include "base/base.h"
#include "decide/internal.h"
#include "decide/monitor/monitor.h"
#include "stats/levels.h"

#define DAY_S 86400
#define EQUAL_VALUES 1e-9  /* relative difference */
#define REBUILD_NIGHTS 400 /* at most, from which a state is rebuilt */
#define FORMAT 2           /* of the stored state: goes up when its meaning changes */
#define OPTIONS_SIZE 80

struct events {
	struct tk_monitor_event_row *at;
	size_t count;
};

/* One device on one night. */
struct device {
	struct tk_analysis *set;
	const struct tk_night_row *night;
	const char *options; /* what the stored state depends on */
	int64_t device_id;

	struct tk_monitor *monitor; /* NULL: the night is not the newest, its events are stored */
	bool is_monitored;          /* the night was, or is now */
	bool is_rebuilt;            /* events since from_s replace the stored ones */
	int64_t from_s;
	struct events events;                  /* to be stored */
	struct tk_monitored_night_row *nights; /* to be stored */
	size_t night_count;
};

struct tk_monitor_session {
	struct tk_analysis *set;
	const struct tk_night_row *night;
	char options[OPTIONS_SIZE];
	struct device *devices;
	size_t count;
};

/* A point of the history in the order of time. */
struct timed_point {
	int64_t as_of_s, series_id, run_id, night_id, environment_id, flags;
	double value;
};
static const struct tk_db_column point_columns[] = {TK_MEMBER(struct timed_point, as_of_s),
        TK_MEMBER(struct timed_point, series_id), TK_MEMBER(struct timed_point, run_id),
        TK_MEMBER(struct timed_point, night_id), TK_MEMBER(struct timed_point, environment_id),
        TK_MEMBER(struct timed_point, flags), TK_MEMBER(struct timed_point, value)};
static const struct tk_row_type point_type = TK_ROW_TYPE(struct timed_point, point_columns);

static void write_options(const struct tk_detect_options *o, char out[OPTIONS_SIZE])
{
	snprintf(out, OPTIONS_SIZE, "%d %.17g %.17g", FORMAT, tk_detect_least_effect(o), o->fdr);
}

/* What a point was measured in, for the monitor: its environment, and above it the version of the
 * benchmark. */
#define ENVIRONMENTS (INT64_C(1) << 32)
static int64_t find_surroundings(const struct timed_point *p)
{
	return p->environment_id + (p->flags >> TK_POINT_VERSION_SHIFT) * ENVIRONMENTS;
}

static bool environments_differ(void *context, int64_t a, int64_t b)
{
	char changed[300];
	bool hard;

	if (a / ENVIRONMENTS != b / ENVIRONMENTS && a / ENVIRONMENTS && b / ENVIRONMENTS)
		return true;
	tk_catalog_diff_environments(
	        context, a % ENVIRONMENTS, b % ENVIRONMENTS, changed, sizeof changed, &hard);
	return hard;
}

static struct tk_monitor *new_monitor(struct device *d)
{
	struct tk_replay_memory *memory = d->set->scope.memory;
	const struct tk_monitor_options o = {.min_effect = tk_detect_least_effect(&d->set->options),
	        .fdr = d->set->options.fdr,
	        .differ = environments_differ,
	        .context = memory ? &memory->catalog : &d->set->catalog};

	return tk_monitor_new(&o);
}

static void add_event(struct events *list, const struct tk_monitor_event_row *event)
{
	list->at = tk_realloc(list->at, (list->count + 1) * sizeof *list->at);
	list->at[list->count++] = *event;
}

/* ---- nights ---- */

/* Nights of the machine in ]after_s, until_s]. */
static size_t count_nights(const struct device *d, int64_t after_s, int64_t until_s)
{
	const struct tk_rows *nights = &d->set->catalog.nights.rows;
	size_t count = 0;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		count += n->machine_id == d->night->machine_id && n->as_of_s > after_s &&
		         n->as_of_s <= until_s;
	}
	return count;
}

/* The time of the REBUILD_NIGHTS-th night before tonight; INT64_MIN: there are fewer. */
static int find_rebuild_start(const struct device *d, int64_t *from_s, struct tk_error *err)
{
	return tk_store_select_int(d->set->catalog.store,
	        "SELECT as_of_s FROM night WHERE machine_id=?1 AND as_of_s<?2"
	        " ORDER BY as_of_s DESC LIMIT 1 OFFSET ?3",
	        TK_ARGS(d->night->machine_id, d->night->as_of_s, REBUILD_NIGHTS - 1), INT64_MIN,
	        from_s, err);
}

static bool contains(const struct tk_rows *nights, int64_t night_id)
{
	const struct tk_monitored_night_row *n = nights->rows;

	for (size_t i = 0; i < nights->count; i++)
		if (n[i].night_id == night_id)
			return true;
	return false;
}

/* ---- points ---- */

/* All points of one night. */
static int add_night(
        struct device *d, const struct timed_point *m, size_t count, struct tk_error *err)
{
	AUTO(tk_monitor_events) events = {0};
	struct tk_monitor_point *points = tk_malloc(count * sizeof *points);

	d->nights = tk_realloc(d->nights, (d->night_count + 1) * sizeof *d->nights);
	d->nights[d->night_count++] = (struct tk_monitored_night_row){m->night_id, (int64_t)count};
	for (size_t i = 0; i < count; i++)
		points[i] = (struct tk_monitor_point){m[i].series_id, m[i].value, m[i].as_of_s,
		        m[i].as_of_s / DAY_S, find_surroundings(&m[i]),
		        tk_analysis_find_min_effect(d->set, m[i].series_id)};
	const int status = tk_monitor_add_night(d->monitor, points, count, &events, err);

	free(points);
	for (size_t i = 0; !status && i < events.count; i++) {
		const struct tk_monitor_event *e = &events.at[i];

		add_event(&d->events, &(struct tk_monitor_event_row){.series_id = e->series,
		                              .night_id = m->night_id,
		                              .as_of_s = m->as_of_s,
		                              .kind = e->kind,
		                              .first_after_s = e->first,
		                              .last_before_s = e->last_good,
		                              .before_value = e->before,
		                              .after_value = e->after,
		                              .log_lr = e->log_lr,
		                              .q = e->q});
	}
	return status;
}

/* Adds the nights since a time up to tonight that the monitor has not seen. */
static int catch_up(struct device *d, int64_t since_s, struct tk_error *err)
{
	AUTO(tk_rows) points = {0};
	TRY(tk_store_select(d->set->catalog.store,
	        "SELECT m.as_of_s, m.series_id, m.run_id, m.night_id, m.environment_id, m.flags,"
	        " m.value"
	        " FROM series s JOIN measurement m ON m.series_id=s.id AND m.as_of_s>=?2"
	        " AND m.as_of_s<?3 WHERE s.device_id=?1 ORDER BY m.as_of_s, m.series_id, m.run_id",
	        TK_ARGS(d->device_id, since_s, d->night->as_of_s), &point_type, &points, err));
	const struct timed_point *m = points.rows;

	for (size_t i = 0, next; i < points.count; i = next) {
		for (next = i; next < points.count && m[next].as_of_s == m[i].as_of_s; next++)
			;
		TRY(add_night(d, m + i, next - i, err));
	}
	return TK_OK;
}

/* ---- tonight ---- */

static bool is_tonight(
        const struct tk_night_row *night, const struct tk_series_case *k, const struct tk_point *p)
{
	return p->as_of_s == night->as_of_s && p->night_id == night->id && !k->owned_points;
}

static int by_series(const void *a, const void *b)
{
	const struct timed_point *x = a, *y = b;

	if (x->series_id != y->series_id)
		return x->series_id < y->series_id ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

static int add_tonight(struct device *d, struct tk_error *err)
{
	struct timed_point *m = tk_malloc((d->set->point_count + 1) * sizeof *m);
	size_t count = 0;

	for (size_t i = 0; i < d->set->count; i++) {
		const struct tk_series_case *k = &d->set->at[i];
		size_t first = k->count;

		if (k->device->id != d->device_id)
			continue;
		while (first && k->points[first - 1].as_of_s >= d->night->as_of_s)
			first--; /* they are by time */
		for (const struct tk_point *p = k->points + first; p < k->points + k->count; p++)
			if (is_tonight(d->night, k, p))
				m[count++] =
				        (struct timed_point){p->as_of_s, p->series_id, p->run_id,
				                p->night_id, p->environment_id, p->flags, p->value};
	}
	tk_sort(m, count, sizeof *m, by_series);
	const int status = count ? add_night(d, m, count, err) : TK_OK;

	free(m);
	return status;
}

/* The monitor has seen the night before, with the points that it has now. */
static bool has_seen_tonight(const struct device *d)
{
	for (size_t i = 0; i < d->set->count; i++) {
		const struct tk_series_case *k = &d->set->at[i];
		const struct tk_point *p = k->count ? &k->points[k->count - 1] : NULL;
		int64_t at;
		double value;

		if (!p || k->device->id != d->device_id || !is_tonight(d->night, k, p))
			continue;
		if (!tk_monitor_find_last_point(d->monitor, k->series->id, &at, &value) ||
		        at != p->as_of_s || fabs(value / p->value - 1) > EQUAL_VALUES)
			return false;
	}
	return true;
}

/* ---- the stored state, and that which a replay keeps ---- */

static struct tk_kept_monitor *find_kept(const struct device *d)
{
	struct tk_replay_memory *memory = d->set->scope.memory;

	for (size_t i = 0; memory && i < memory->monitors.count; i++)
		if (memory->monitors.at[i].device_id == d->device_id)
			return &memory->monitors.at[i];
	return NULL;
}

void tk_kept_monitors_free(struct tk_kept_monitors *k)
{
	for (size_t i = 0; i < k->count; i++)
		tk_monitor_free(k->at[i].monitor);
	free(k->at);
	*k = (struct tk_kept_monitors){0};
}

static int store_state(const struct tk_kept_monitor *m, const char *options, struct tk_store *s,
        struct tk_error *err)
{
	struct tk_serializer io = {0};
	int status = tk_monitor_serialize(m->monitor, &io, err);

	if (!status)
		status = tk_store_put_monitor_state(s,
		        &(struct tk_monitor_state_row){.device_id = m->device_id,
		                .as_of_s = m->as_of_s,
		                .nights = m->nights,
		                .options = options,
		                .numbers = io.at,
		                .count = io.count},
		        err);
	tk_serializer_free(&io);
	return status;
}

int tk_kept_monitors_store(const struct tk_kept_monitors *k,
        const struct tk_detect_options *options, struct tk_store *s, struct tk_error *err)
{
	char text[OPTIONS_SIZE];

	write_options(options, text);
	for (size_t i = 0; i < k->count; i++)
		if (k->at[i].monitor)
			TRY(store_state(&k->at[i], text, s, err));
	return TK_OK;
}

/* Sets d->monitor if the stored state is of this history and of these options. *as_of_s: its
 * night. */
static int resume(struct device *d, int64_t *as_of_s, struct tk_error *err)
{
	struct tk_monitor_state_row row = {0};
	struct tk_error why = {0};
	int status = tk_store_read_monitor_state(d->set->catalog.store, d->device_id, &row, &why);
	struct tk_serializer io = {
	        .reading = true, .at = (double *)row.numbers, .count = row.count};

	*as_of_s = status ? INT64_MIN : row.as_of_s;
	if (!status && strcmp(row.options, d->options) == 0 &&
	        count_nights(d, INT64_MIN, row.as_of_s) == (size_t)row.nights) {
		d->monitor = new_monitor(d);
		if (tk_monitor_serialize(d->monitor, &io, &why)) {
			tk_monitor_free(d->monitor);
			d->monitor = NULL;
		}
	}
	free((void *)row.options);
	free((void *)row.numbers);
	return status && status != TK_ENOTFOUND ? tk_fail(err, status, "%s", why.message) : TK_OK;
}

static int rebuild(struct device *d, struct tk_error *err)
{
	TRY(find_rebuild_start(d, &d->from_s, err));
	tk_monitor_free(d->monitor);
	d->is_rebuilt = true;
	d->monitor = new_monitor(d);
	return catch_up(d, d->from_s, err);
}

/* The night is not the newest: its stored events hold, if there are any. A replay goes on with the
 * monitor as it is. */
static int use_stored_events(struct device *d, struct tk_kept_monitor *kept, struct tk_error *err)
{
	AUTO(tk_rows) nights = {0};

	if (kept)
		kept->monitor = d->monitor;
	else
		tk_monitor_free(d->monitor);
	d->monitor = NULL;
	TRY(tk_store_list(d->set->catalog.store, TK_TABLE_monitored_night, "night_id=?1",
	        TK_ARGS(d->night->id), &nights, err));
	d->is_monitored = nights.count != 0;
	return TK_OK;
}

/* Resumes from the kept or stored state, or rebuilds it, and adds the night. */
static int run_device(struct device *d, struct tk_error *err)
{
	struct tk_kept_monitor *kept = find_kept(d);
	int64_t known_s;

	if (kept) {
		known_s = kept->as_of_s;
		d->monitor = kept->monitor;
		kept->monitor = NULL;
	} else {
		TRY(resume(d, &known_s, err));
	}
	d->is_monitored = true;
	if (known_s > d->night->as_of_s ||
	        (d->monitor && known_s == d->night->as_of_s && has_seen_tonight(d)))
		return use_stored_events(d, kept, err);
	if (!d->monitor || known_s == d->night->as_of_s)
		TRY(rebuild(d, err));
	else if (count_nights(d, known_s, d->night->as_of_s - 1))
		TRY(catch_up(d, known_s + 1, err));
	return add_tonight(d, err);
}

/* Its state too, or keeps the monitor for the next night of a replay. */
static int save_device(struct device *d, struct tk_store *s, struct tk_error *err)
{
	struct tk_replay_memory *memory = d->set->scope.memory;
	const struct tk_kept_monitor now = {.device_id = d->device_id,
	        .as_of_s = d->night->as_of_s,
	        .nights = (int64_t)count_nights(d, INT64_MIN, d->night->as_of_s),
	        .monitor = d->monitor};

	if (d->is_rebuilt)
		TRY(tk_store_reset_monitor(s, d->device_id, d->from_s, err));
	for (size_t i = 0; i < d->night_count; i++)
		TRY(tk_store_put(s, TK_TABLE_monitored_night, &d->nights[i], NULL, err));
	for (size_t i = 0; i < d->events.count; i++)
		TRY(tk_store_put(s, TK_TABLE_monitor_event, &d->events.at[i], NULL, err));
	if (!memory)
		return store_state(&now, d->options, s, err);

	struct tk_kept_monitor *kept = find_kept(d);

	if (!kept) {
		struct tk_kept_monitors *k = &memory->monitors;

		k->at = tk_realloc(k->at, (k->count + 1) * sizeof *k->at);
		kept = &k->at[k->count++];
	}
	*kept = now;
	d->monitor = NULL;
	return TK_OK;
}

/* ---- events -> cases ---- */

static void give_event(const struct tk_analysis *c, struct tk_series_case *k,
        const struct tk_monitor_event_row *event)
{
	switch (event->kind) {
	case TK_MONITOR_STEP:
	case TK_MONITOR_DRIFT:
		if (!k->monitor_step || tk_monitor_event_is_reported(c, event) ||
		        !tk_monitor_event_is_reported(c, k->monitor_step))
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

	for (size_t i = 0; i < c->count; i++) {
		const struct tk_monitor_event_row *step = c->at[i].monitor_step;

		if (!step)
			continue;
		TRY(tk_series_case_extend_history(c, &c->at[i], step->last_before_s, err));
		earliest_s = step->first_after_s < earliest_s ? step->first_after_s : earliest_s;
	}
	if (earliest_s == c->since_s)
		return TK_OK;
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
		struct tk_series_case *k = tk_analysis_find(c, event->series_id);

		/* The first point of a new version is no step. */
		if (k && !(k->skipped && event->first_after_s <= k->points[0].as_of_s))
			give_event(c, k, event);
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
	AUTO(tk_rows) nights = {0};

	TRY(tk_store_list(c->catalog.store, TK_TABLE_monitor_event, "as_of_s>=?1 AND as_of_s<=?2",
	        TK_ARGS(since_s, c->until_s), &c->monitor_events, err));
	TRY(tk_store_list(
	        c->catalog.store, TK_TABLE_monitored_night, NULL, TK_NO_ARGS, &nights, err));
	for (size_t i = 0; i < c->count; i++) {
		struct tk_series_case *k = &c->at[i];

		mark_case(k, by_window && k->count &&
		                     contains(&nights, k->points[k->count - 1].night_id));
	}
	return give_events(c, err);
}

/* ---- one night ---- */

static bool is_measured_tonight(const struct tk_monitor_session *w, const struct tk_series_case *k)
{
	return k->count && is_tonight(w->night, k, &k->points[k->count - 1]);
}

static struct device *find_device(const struct tk_monitor_session *w, int64_t device_id)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->devices[i].device_id == device_id)
			return &w->devices[i];
	return NULL;
}

static void list_devices(struct tk_monitor_session *w)
{
	w->devices = tk_calloc(w->set->catalog.devices.rows.count + 1, sizeof *w->devices);
	for (size_t i = 0; i < w->set->count; i++) {
		const struct tk_series_case *k = &w->set->at[i];

		if (is_measured_tonight(w, k) && !find_device(w, k->device->id))
			w->devices[w->count++] = (struct device){.set = w->set,
			        .night = w->night,
			        .options = w->options,
			        .device_id = k->device->id};
	}
}

/* All events of the night, into the analysis: new ones, and the stored ones of devices that were
 * not monitored again. */
static int collect_events(struct tk_monitor_session *w, struct tk_error *err)
{
	AUTO(tk_rows) stored = {0};
	struct events all = {0};

	TRY(tk_store_list(w->set->catalog.store, TK_TABLE_monitor_event, "night_id=?1",
	        TK_ARGS(w->night->id), &stored, err));
	for (size_t i = 0; i < w->count; i++) {
		const struct device *d = &w->devices[i];

		for (size_t k = 0; d->monitor && k < d->events.count; k++)
			if (d->events.at[k].night_id == w->night->id)
				add_event(&all, &d->events.at[k]);
		for (size_t k = 0; !d->monitor && k < stored.count; k++) {
			const struct tk_monitor_event_row *event =
			        TK_ROWS_AT(&stored, struct tk_monitor_event_row, k);
			const struct tk_series_case *c = tk_analysis_find(w->set, event->series_id);

			if (c && c->device->id == d->device_id)
				add_event(&all, event);
		}
	}
	w->set->monitor_events = (struct tk_rows){.rows = all.at, .count = all.count};
	return TK_OK;
}

static void mark_cases(struct tk_monitor_session *w)
{
	for (size_t i = 0; i < w->set->count; i++) {
		struct tk_series_case *k = &w->set->at[i];
		const struct device *d = k->count ? find_device(w, k->device->id) : NULL;

		if (!d)
			continue;
		mark_case(k, d->is_monitored && is_measured_tonight(w, k));
		if (d->monitor)
			k->level = tk_monitor_level(d->monitor, k->series->id);
	}
}

static int run(struct tk_monitor_session *w, struct tk_error *err)
{
	write_options(&w->set->options, w->options);
	list_devices(w);
	for (size_t i = 0; i < w->count; i++)
		TRY(run_device(&w->devices[i], err));
	TRY(collect_events(w, err));
	mark_cases(w);
	return give_events(w->set, err);
}

int tk_monitor_session_run(struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err)
{
	*out = tk_calloc(1, sizeof **out);
	**out = (struct tk_monitor_session){.set = c, .night = night};
	return run(*out, err);
}

int tk_monitor_session_save(struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->devices[i].monitor)
			TRY(save_device(&w->devices[i], s, err));
	return TK_OK;
}

void tk_monitor_session_free(struct tk_monitor_session *w)
{
	for (size_t i = 0; w && i < w->count; i++) {
		tk_monitor_free(w->devices[i].monitor);
		free(w->devices[i].events.at);
		free(w->devices[i].nights);
	}
	if (w)
		free(w->devices);
	free(w);
}
