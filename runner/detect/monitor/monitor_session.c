/* Watches the series of the history: see watching.h. */
#include "detect/monitor/monitor_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/serializer.h"
#include "detect/monitor/monitor.h"
#include "stats/monitor/level_monitor.h"
#include "stats/summary/summary.h"

#define FORMAT 1 /* of the numbers: goes up when what they mean changes */
#define REBUILD_NIGHTS 400
#define DAY_S 86400
#define SAME 1e-9 /* relative: two values are one */

struct alarms {
	struct tk_monitor_event_row *at;
	size_t count, cap;
};

struct watched_device {
	int64_t id;
	struct tk_monitor
	        *online; /* NULL: the night is not new, and its alarms are as they were said */
	bool anew;       /* what was said since from_s is said again */
	bool watched;    /* the night is */
	int64_t from_s;
	struct alarms alarms;                  /* to be written */
	struct tk_monitored_night_row *nights; /* the same */
	size_t night_count;
};

struct tk_monitor_session {
	struct tk_case_set *c;
	const struct tk_night_row *night;
	char options[80];
	struct watched_device *at;
	size_t count;
};

/* A point of the history in the order of time. */
struct moment {
	int64_t as_of_s, night_id, run_id;
	struct tk_monitor_point point;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while watching the series");
}

static bool environments_differ(void *context, int64_t a, int64_t b)
{
	char changed[300];
	bool hard;

	tk_catalog_diff_environments(context, a, b, changed, sizeof changed, &hard);
	return hard;
}

static int new_online(struct tk_monitor_session *w, struct tk_monitor **out, struct tk_error *err)
{
	const struct tk_monitor_options o = {.min_effect = w->c->options.min_effect,
	        .fdr = w->c->options.fdr,
	        .differ = environments_differ,
	        .context = &w->c->catalog};

	return tk_monitor_new(&o, out, err);
}

/* ---- nights
 * -------------------------------------------------------------------------------------------------------
 */

/* Of the machine, from a time (exclusive) up to another. */
static size_t nights_between(const struct tk_monitor_session *w, int64_t after_s, int64_t until_s)
{
	const struct tk_rows *nights = &w->c->catalog.nights.rows;
	size_t count = 0;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		count += n->machine_id == w->night->machine_id && n->as_of_s > after_s &&
		         n->as_of_s <= until_s;
	}
	return count;
}

/* The time of the machine's night that is `back` nights before tonight; nights are newest first by
 * their start, not by what they are of. */
static int rebuild_from(const struct tk_monitor_session *w, int64_t *from_s, struct tk_error *err)
{
	const struct tk_rows *nights = &w->c->catalog.nights.rows;
	double *times = malloc((nights->count + 1) * sizeof *times);
	size_t count = 0;

	if (!times)
		return out_of_memory(err);
	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == w->night->machine_id && n->as_of_s < w->night->as_of_s)
			times[count++] = (double)n->as_of_s;
	}
	tk_sort_values(times, count);
	*from_s = count > REBUILD_NIGHTS ? (int64_t)times[count - REBUILD_NIGHTS] : INT64_MIN;
	free(times);
	return TK_OK;
}

/* ---- what is said
 * --------------------------------------------------------------------------------------------------
 */

static int add_alarm(struct alarms *list, const struct tk_monitor_event_row *a)
{
	if (list->count == list->cap) {
		size_t cap = list->cap ? 2 * list->cap : 16;
		struct tk_monitor_event_row *grown = realloc(list->at, cap * sizeof *grown);

		if (!grown)
			return TK_ENOMEM;
		list->at = grown;
		list->cap = cap;
	}
	list->at[list->count++] = *a;
	return TK_OK;
}

static int take_events(struct watched_device *d, const struct tk_monitor_events *events,
        int64_t night_id, int64_t as_of_s, struct tk_error *err)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct tk_monitor_event *e = &events->at[i];
		const struct tk_monitor_event_row a = {e->series, night_id, as_of_s,
		        tk_monitor_event_kind_name(e->word), e->first, e->last_good, e->before,
		        e->after, e->evidence, e->q};

		if (add_alarm(&d->alarms, &a))
			return out_of_memory(err);
	}
	return TK_OK;
}

static int play(struct watched_device *d, const struct moment *m, size_t count,
        struct tk_monitor_point *points, struct tk_error *err)
{
	struct tk_monitor_events events = {0};
	struct tk_monitored_night_row *grown =
	        realloc(d->nights, (d->night_count + 1) * sizeof *grown);
	int rc;

	if (!grown)
		return out_of_memory(err);
	d->nights = grown;
	d->nights[d->night_count++] = (struct tk_monitored_night_row){m->night_id, (int64_t)count};
	for (size_t i = 0; i < count; i++)
		points[i] = m[i].point;
	rc = tk_monitor_add_night(d->online, points, count, &events, err);
	if (!rc)
		rc = take_events(d, &events, m->night_id, m->as_of_s, err);
	tk_monitor_events_free(&events);
	return rc;
}

static struct moment moment_of(const struct tk_point *p)
{
	return (struct moment){p->as_of_s, p->night_id, p->run_id,
	        {p->series_id, p->value, p->as_of_s, p->as_of_s / DAY_S, p->environment_id}};
}

static int in_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->as_of_s != y->as_of_s)
		return x->as_of_s < y->as_of_s ? -1 : 1;
	if (x->point.series != y->point.series)
		return x->point.series < y->point.series ? -1 : 1;
	return (x->run_id > y->run_id) - (x->run_id < y->run_id);
}

static int read_past(const struct tk_monitor_session *w, int64_t device_id, int64_t after_s,
        struct moment **out, size_t *count, struct tk_error *err)
{
	const struct tk_rows *series = &w->c->catalog.series.rows;
	size_t n = 0, cap = 0;
	int rc = TK_OK;

	*out = NULL;
	for (size_t i = 0; !rc && i < series->count; i++) {
		const struct tk_series_row *s = TK_ROWS_AT(series, struct tk_series_row, i);
		struct tk_rows points;
		struct moment *grown;

		if (s->device_id != device_id)
			continue;
		rc = tk_store_list_points(w->c->catalog.store, s->id, after_s, 0, &points, err);
		if (rc)
			break;
		if (n + points.count > cap) {
			cap = n + points.count + cap / 2;
			grown = realloc(*out, cap * sizeof *grown);
			if (!grown)
				rc = out_of_memory(err);
			*out = grown ? grown : *out;
		}
		for (size_t k = 0; !rc && k < points.count; k++)
			if (TK_ROWS_AT(&points, struct tk_point, k)->as_of_s < w->night->as_of_s)
				(*out)[n++] = moment_of(TK_ROWS_AT(&points, struct tk_point, k));
		tk_rows_free(&points);
	}
	*count = n;
	return rc;
}

/* Nights since a time that nobody has watched, up to tonight. */
static int make_up(struct tk_monitor_session *w, struct watched_device *d, int64_t from_s,
        struct tk_error *err)
{
	struct moment *m;
	struct tk_monitor_point *points;
	size_t count;
	int rc = read_past(w, d->id, from_s, &m, &count, err);

	points = malloc((count + 1) * sizeof *points);
	if (!rc && !points)
		rc = out_of_memory(err);
	if (!rc && count)
		qsort(m, count, sizeof *m, in_time);
	for (size_t i = 0, next; !rc && i < count; i = next) {
		for (next = i; next < count && m[next].as_of_s == m[i].as_of_s; next++)
			;
		rc = play(d, m + i, next - i, points, err);
	}
	free(points);
	free(m);
	return rc;
}

/* ---- tonight
 * -------------------------------------------------------------------------------------------------------
 */

static bool is_tonight(const struct tk_monitor_session *w, const struct tk_series_case *k,
        const struct tk_point *p)
{
	return p->as_of_s == w->night->as_of_s && p->night_id == w->night->id && !k->owned_points;
}

static int play_tonight(
        struct tk_monitor_session *w, struct watched_device *d, struct tk_error *err)
{
	size_t count = 0;
	struct moment *m = malloc((w->c->points.count + 1) * sizeof *m);
	struct tk_monitor_point *points = malloc((w->c->points.count + 1) * sizeof *points);
	int rc = m && points ? TK_OK : out_of_memory(err);

	for (size_t i = 0; !rc && i < w->c->count; i++) {
		const struct tk_series_case *k = &w->c->at[i];

		for (size_t j = 0; k->device->id == d->id && j < k->count; j++)
			if (is_tonight(w, k, &k->points[j]))
				m[count++] = moment_of(&k->points[j]);
	}
	if (!rc && count)
		qsort(m, count, sizeof *m, in_time);
	if (!rc && count)
		rc = play(d, m, count, points, err);
	free(m);
	free(points);
	return rc;
}

/* The night was watched before, and has the same points still. */
static bool is_known(const struct tk_monitor_session *w, const struct watched_device *d)
{
	for (size_t i = 0; i < w->c->count; i++) {
		const struct tk_series_case *k = &w->c->at[i];
		const struct tk_point *p = k->count ? &k->points[k->count - 1] : NULL;
		int64_t at;
		double value;

		if (k->device->id != d->id || !p || !is_tonight(w, k, p))
			continue;
		if (!tk_monitor_find_last_point(d->online, k->series->id, &at, &value) ||
		        at != p->as_of_s || fabs(value / p->value - 1) > SAME)
			return false;
	}
	return true;
}

/* What was kept, where it is of this history and of these options. */
static int recall(struct tk_monitor_session *w, struct watched_device *d, int64_t *as_of_s,
        struct tk_error *err)
{
	struct tk_monitor_state_row row = {0};
	struct tk_serializer io = {.reading = true};
	struct tk_error why = {0};
	int rc = tk_store_read_monitor_state(w->c->catalog.store, d->id, &row, &why);
	bool fits = !rc && strcmp(row.options, w->options) == 0 &&
	            nights_between(w, INT64_MIN, row.as_of_s) == (size_t)row.nights;

	*as_of_s = rc ? INT64_MIN : row.as_of_s;
	io.at = (double *)row.numbers;
	io.count = row.count;
	if (fits) {
		rc = new_online(w, &d->online, err);
		if (!rc && tk_monitor_serialize(d->online, &io, &why)) {
			tk_monitor_free(d->online);
			d->online = NULL;
		}
	} else if (rc) {
		rc = rc == TK_ENOTFOUND ? TK_OK : tk_fail(err, rc, "%s", why.message);
	}
	free((void *)row.options);
	free((void *)row.numbers);
	return rc;
}

static int start_anew(struct tk_monitor_session *w, struct watched_device *d, struct tk_error *err)
{
	int rc = rebuild_from(w, &d->from_s, err);

	tk_monitor_free(d->online);
	d->online = NULL;
	d->anew = true;
	if (!rc)
		rc = new_online(w, &d->online, err);
	return rc ? rc : make_up(w, d, d->from_s, err);
}

static int by_night(const void *a, const void *b)
{
	const struct tk_monitored_night_row *x = a, *y = b;

	return (x->night_id > y->night_id) - (x->night_id < y->night_id);
}

static bool was_watched(const struct tk_rows *nights, int64_t night_id)
{
	const struct tk_monitored_night_row key = {.night_id = night_id};

	return nights->count && bsearch(&key, nights->rows, nights->count, sizeof key, by_night);
}

/* The night is not the newest: what was said of it, if anything. */
static int leave_as_it_is(
        struct tk_monitor_session *w, struct watched_device *d, struct tk_error *err)
{
	struct tk_rows nights = {0};
	int rc = tk_store_list_monitored_nights(w->c->catalog.store, &nights, err);

	d->watched = !rc && was_watched(&nights, w->night->id);
	tk_rows_free(&nights);
	tk_monitor_free(d->online);
	d->online = NULL;
	return rc;
}

static int watch_device(
        struct tk_monitor_session *w, struct watched_device *d, struct tk_error *err)
{
	int64_t known_s;
	int rc = recall(w, d, &known_s, err);

	if (rc)
		return rc;
	d->watched = true;
	if (known_s > w->night->as_of_s ||
	        (d->online && known_s == w->night->as_of_s && is_known(w, d)))
		return leave_as_it_is(w, d, err);
	if (!d->online || known_s == w->night->as_of_s)
		rc = start_anew(w, d, err);
	else if (nights_between(w, known_s, w->night->as_of_s - 1))
		rc = make_up(w, d, known_s + 1, err);
	return rc ? rc : play_tonight(w, d, err);
}

/* ---- the cases
 * -----------------------------------------------------------------------------------------------------
 */

/* To the cases; what is said of points that a case does not have makes it read them. */
static int hand_over(struct tk_case_set *c, struct tk_error *err)
{
	int64_t earliest_s = c->since_s;
	int rc = TK_OK;

	for (size_t i = 0; i < c->alarms.count; i++) { /* in the order of time */
		const struct tk_monitor_event_row *a =
		        TK_ROWS_AT(&c->alarms, struct tk_monitor_event_row, i);
		struct tk_series_case *k =
		        (struct tk_series_case *)tk_case_set_find(c, a->series_id);

		if (!k || c->options.baseline != TK_BASELINE_WINDOW)
			continue;
		if (strcmp(a->word, tk_monitor_event_kind_name(TK_MONITOR_STEP)) == 0) {
			k->said = a;
		} else if (strcmp(a->word, tk_monitor_event_kind_name(TK_MONITOR_MACHINE_STEP)) ==
		           0) {
			k->machines = a;
		} else {
			k->said = k->said && k->said->first_s == a->first_s ? NULL : k->said;
			k->retracted = a;
		}
	}
	for (size_t i = 0; !rc && i < c->count; i++)
		if (c->at[i].said) {
			rc = tk_series_case_extend_history(
			        c, &c->at[i], c->at[i].said->last_good_s, err);
			earliest_s = c->at[i].said->first_s < earliest_s ? c->at[i].said->first_s
			                                                 : earliest_s;
		}
	if (rc || earliest_s == c->since_s)
		return rc;
	tk_rows_free(&c->confirmations); /* pairs of the nights since that step */
	return tk_store_list_ab_pairs(c->catalog.store, 0, earliest_s, &c->confirmations, err);
}

static void mark_watched(struct tk_series_case *k, bool watched)
{
	k->watched = watched && k->count >= TK_MONITOR_NIGHTS_MIN;
}

/* What was said before of a night that is judged again, and what is said now. */
static int collect(struct tk_monitor_session *w, struct tk_error *err)
{
	struct tk_rows stored = {0};
	struct alarms all = {0};
	int rc = tk_store_list_monitor_events(
	        w->c->catalog.store, w->night->as_of_s, w->night->as_of_s, &stored, err);

	for (size_t i = 0; !rc && i < w->count; i++) {
		const struct watched_device *d = &w->at[i];

		for (size_t k = 0; !d->online && k < stored.count && !rc; k++) {
			const struct tk_monitor_event_row *a =
			        TK_ROWS_AT(&stored, struct tk_monitor_event_row, k);
			const struct tk_series_case *of = tk_case_set_find(w->c, a->series_id);

			if (of && of->device->id == d->id && a->night_id == w->night->id)
				rc = add_alarm(&all, a);
		}
		for (size_t k = 0; d->online && k < d->alarms.count && !rc; k++)
			if (d->alarms.at[k].night_id == w->night->id)
				rc = add_alarm(&all, &d->alarms.at[k]);
	}
	if (rc) {
		free(all.at);
		tk_rows_free(&stored);
		return rc == TK_ENOMEM ? out_of_memory(err) : rc;
	}
	for (size_t i = 0; i < all.count; i++) /* the words of the rows that go away */
		for (enum tk_monitor_event_kind word = TK_MONITOR_STEP;
		        word <= TK_MONITOR_RETRACTED; word++)
			if (strcmp(all.at[i].word, tk_monitor_event_kind_name(word)) == 0)
				all.at[i].word = tk_monitor_event_kind_name(word);
	tk_rows_free(&stored);
	w->c->alarms = (struct tk_rows){.rows = all.at, .count = all.count};
	return TK_OK;
}

static void mark_cases(struct tk_monitor_session *w)
{
	for (size_t i = 0; i < w->c->count; i++) {
		struct tk_series_case *k = &w->c->at[i];

		for (size_t d = 0; d < w->count && k->count; d++)
			if (w->at[d].id == k->device->id) {
				mark_watched(k, w->at[d].watched &&
				                        is_tonight(w, k, &k->points[k->count - 1]));
				if (w->at[d].online)
					k->level = tk_monitor_level(w->at[d].online, k->series->id);
			}
	}
}

static int list_devices(struct tk_monitor_session *w, struct tk_error *err)
{
	w->at = calloc(w->c->catalog.devices.rows.count + 1, sizeof *w->at);
	if (!w->at)
		return out_of_memory(err);
	for (size_t i = 0; i < w->c->count; i++) {
		const struct tk_series_case *k = &w->c->at[i];
		bool known = !k->count || !is_tonight(w, k, &k->points[k->count - 1]);

		for (size_t d = 0; d < w->count; d++)
			known |= w->at[d].id == k->device->id;
		if (!known)
			w->at[w->count++].id = k->device->id;
	}
	return TK_OK;
}

int tk_monitor_session_run(struct tk_case_set *c, const struct tk_night_row *night,
        struct tk_monitor_session **out, struct tk_error *err)
{
	struct tk_monitor_session *w = calloc(1, sizeof *w);
	int rc;

	if (!w)
		return out_of_memory(err);
	w->c = c;
	w->night = night;
	snprintf(w->options, sizeof w->options, "%d %.17g %.17g", FORMAT, c->options.min_effect,
	        c->options.fdr);
	rc = list_devices(w, err);
	for (size_t i = 0; !rc && i < w->count; i++)
		rc = watch_device(w, &w->at[i], err);
	if (!rc)
		rc = collect(w, err);
	if (!rc) {
		mark_cases(w);
		rc = hand_over(c, err);
	}
	if (rc) {
		tk_monitor_session_free(w);
		return rc;
	}
	*out = w;
	return TK_OK;
}

static int put_device(const struct tk_monitor_session *w, const struct watched_device *d,
        struct tk_store *s, struct tk_error *err)
{
	struct tk_serializer io = {0};
	struct tk_monitor_state_row row = {.device_id = d->id,
	        .as_of_s = w->night->as_of_s,
	        .nights = (int64_t)nights_between(w, INT64_MIN, w->night->as_of_s),
	        .options = w->options};
	int rc = d->anew ? tk_store_reset_monitor(s, d->id, d->from_s, err) : TK_OK;

	for (size_t i = 0; !rc && i < d->night_count; i++)
		rc = tk_store_put_monitored_night(s, &d->nights[i], err);
	for (size_t i = 0; !rc && i < d->alarms.count; i++)
		rc = tk_store_put_monitor_event(s, &d->alarms.at[i], err);
	if (!rc)
		rc = tk_monitor_serialize(d->online, &io, err);
	row.numbers = io.at;
	row.count = io.count;
	if (!rc)
		rc = tk_store_put_monitor_state(s, &row, err);
	tk_serializer_free(&io);
	return rc;
}

int tk_monitor_session_save(
        const struct tk_monitor_session *w, struct tk_store *s, struct tk_error *err)
{
	int rc = TK_OK;

	for (size_t i = 0; !rc && i < w->count; i++)
		if (w->at[i].online)
			rc = put_device(w, &w->at[i], s, err);
	return rc;
}

static void forget_device(struct watched_device *d)
{
	tk_monitor_free(d->online);
	free(d->alarms.at);
	free(d->nights);
}

void tk_monitor_session_free(struct tk_monitor_session *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++)
		forget_device(&w->at[i]);
	free(w->at);
	free(w);
}

int tk_case_set_load_alarms(struct tk_case_set *c, struct tk_error *err)
{
	struct tk_rows nights = {0};
	const int64_t since_s = c->scope.night_id ? c->scope.as_of_s : c->since_s;
	int rc = tk_store_list_monitor_events(
	        c->catalog.store, since_s, c->until_s, &c->alarms, err);

	if (!rc)
		rc = tk_store_list_monitored_nights(c->catalog.store, &nights, err);
	for (size_t i = 0; !rc && i < c->count; i++) {
		struct tk_series_case *k = &c->at[i];

		mark_watched(k, c->options.baseline == TK_BASELINE_WINDOW && k->count &&
		                        was_watched(&nights, k->points[k->count - 1].night_id));
	}
	tk_rows_free(&nights);
	return rc ? rc : hand_over(c, err);
}
