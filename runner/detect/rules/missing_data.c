/* Data that did not come. A tracker that is silent looks like one that has nothing to say: a
 * machine that sends no nights, an upstream that was lost from the configuration and a series that
 * never fits the budget are said, once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "detect/detect.h"
#include "detect/history/catalog.h"

#define DAY_S INT64_C(86400)
#define GAPS 15      /* newest nights that say how often a machine measures */
#define FORGOTTEN 90 /* days after which what stopped is history, and opens no alert any more */

/* Nights of one machine that measure everything, newest first. */
struct calendar {
	int64_t machine_id;
	const struct tk_night_row **nights;
	size_t count;
	bool stopped;
};

struct search {
	struct tk_store *store;
	struct tk_catalog catalog;
	const struct tk_detect_options *options;
	int64_t night_id;
	struct tk_rows newest;
	struct calendar *calendars; /* one for each machine */
	struct tk_missing_data_list found;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while looking for data that did not come");
}

static int newest_first(const void *a, const void *b)
{
	const struct tk_night_row *x = *(const struct tk_night_row *const *)a,
	                          *y = *(const struct tk_night_row *const *)b;

	return x->as_of_s != y->as_of_s ? (x->as_of_s < y->as_of_s ? 1 : -1)
	                                : (x->id < y->id) - (x->id > y->id);
}

static int read_calendars(struct search *s, struct tk_error *err)
{
	const struct tk_rows *machines = &s->catalog.machines.rows,
	                     *nights = &s->catalog.nights.rows;

	s->calendars = calloc(machines->count + 1, sizeof *s->calendars);
	for (size_t m = 0; s->calendars && m < machines->count; m++) {
		struct calendar *c = &s->calendars[m];

		c->machine_id = TK_ROWS_AT(machines, struct tk_machine_row, m)->id;
		c->nights = calloc(nights->count + 1, sizeof(*c->nights));
		if (!c->nights)
			return out_of_memory(err);
		for (size_t i = 0; i < nights->count; i++) {
			const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

			if (n->machine_id == c->machine_id && strcmp(n->kind, "nightly") == 0 &&
			        (n->finished_s || n->id == s->night_id))
				c->nights[c->count++] = n;
		}
		qsort(c->nights, c->count, sizeof(*c->nights), newest_first);
	}
	return s->calendars ? TK_OK : out_of_memory(err);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The usual time between two nights of a machine, at least a day: a machine that measures on
 * Sundays is not stopped on Wednesday. */
static int64_t usual_gap(const struct calendar *c)
{
	int64_t gaps[GAPS];
	size_t n = 0;

	for (size_t i = 0; i + 1 < c->count && n < GAPS; i++)
		gaps[n++] = c->nights[i]->as_of_s - c->nights[i + 1]->as_of_s;
	if (!n)
		return DAY_S;
	qsort(gaps, n, sizeof *gaps, ascending);
	return gaps[n / 2] > DAY_S ? gaps[n / 2] : DAY_S;
}

static int add(struct search *s, const struct tk_missing_data *what, const char *name,
        const char *group, struct tk_error *err)
{
	struct tk_missing_data *grown = realloc(s->found.at, (s->found.count + 1) * sizeof *grown),
	                       *p;
	char last[32];

	if (!grown)
		return out_of_memory(err);
	s->found.at = grown;
	p = &grown[s->found.count];
	*p = *what;
	snprintf(last, sizeof last, "%lld", (long long)what->last_s);
	tk_alert_uid_hash((const char *const[]){"stoppage", name, last}, 3, p->uid);
	tk_alert_uid_hash((const char *const[]){"stoppages", group, last}, 3, p->group_uid);
	if (!*p->uid || !*p->group_uid)
		return out_of_memory(err);
	s->found.count++;
	return TK_OK;
}

static int look_at_machine(
        struct search *s, struct calendar *c, const char *machine, struct tk_error *err)
{
	char day[TK_TIME_ISO_SIZE], age[64];
	struct tk_missing_data what = {.machine_id = c->machine_id};

	if (!c->count)
		return TK_OK;
	what.night_id = c->nights[0]->id;
	what.last_s = c->nights[0]->as_of_s;
	if (s->options->now_s - what.last_s <= (int64_t)s->options->stoppage_nights * usual_gap(c))
		return TK_OK;
	c->stopped = true;
	snprintf(what.title, sizeof what.title, "%s has sent no night for %s (last: %s)", machine,
	        tk_duration_format((double)(s->options->now_s - what.last_s), age, sizeof age),
	        tk_time_format_day(what.last_s, day));
	return add(s, &what, machine, machine, err);
}

/* None of the machine's newest nights has a timing. */
static bool is_overdue(const struct search *s, const struct calendar *c, int64_t last_s)
{
	return c->count >= s->options->stoppage_nights &&
	       last_s < c->nights[s->options->stoppage_nights - 1]->as_of_s;
}

static const struct calendar *calendar_of(
        const struct search *s, const struct tk_series_row *series)
{
	const struct tk_device_row *device =
	        tk_id_table_find(&s->catalog.devices, series->device_id);
	size_t m = 0;

	while (m < s->catalog.machines.rows.count &&
	        (!device || s->calendars[m].machine_id != device->machine_id))
		m++;
	return m < s->catalog.machines.rows.count ? &s->calendars[m] : NULL;
}

struct subject {
	const struct tk_series_row *series;
	const struct calendar *calendar;
	const struct tk_upstream_row *upstream;
	const struct tk_machine_row *machine;
	const struct tk_newest_point *last;
};

static struct subject subject_of(const struct search *s, const struct tk_newest_point *p)
{
	struct subject x = {
	        .series = tk_id_table_find(&s->catalog.series, p->series_id), .last = p};

	x.calendar = x.series ? calendar_of(s, x.series) : NULL;
	x.upstream =
	        x.series ? tk_id_table_find(&s->catalog.upstreams, x.series->upstream_id) : NULL;
	x.machine =
	        x.calendar ? tk_id_table_find(&s->catalog.machines, x.calendar->machine_id) : NULL;
	return x;
}

/* The newest timing of an upstream on a machine; it stands for all its series where that is old. */
static const struct tk_newest_point *newest_of(const struct search *s, const struct subject *x)
{
	const struct tk_newest_point *best = NULL;

	for (size_t i = 0; i < s->newest.count; i++) {
		const struct tk_newest_point *p = TK_ROWS_AT(&s->newest, struct tk_newest_point, i);
		const struct tk_series_row *series =
		        tk_id_table_find(&s->catalog.series, p->series_id);

		if (series && series->upstream_id == x->series->upstream_id &&
		        calendar_of(s, series) == x->calendar &&
		        (!best || p->as_of_s > best->as_of_s))
			best = p;
	}
	return best;
}

static bool is_found(const struct search *s, int64_t machine_id, int64_t upstream_id)
{
	for (size_t i = 0; i < s->found.count; i++)
		if (s->found.at[i].machine_id == machine_id &&
		        s->found.at[i].upstream_id == upstream_id && !s->found.at[i].series_id)
			return true;
	return false;
}

static int look_at_upstream(
        struct search *s, const struct subject *x, bool *whole, struct tk_error *err)
{
	const struct tk_newest_point *newest;
	struct tk_missing_data what = {
	        .machine_id = x->machine->id, .upstream_id = x->upstream->id};
	char day[TK_TIME_ISO_SIZE], name[512];

	*whole = is_found(s, x->machine->id, x->upstream->id);
	if (*whole)
		return TK_OK;
	newest = newest_of(s, x);
	*whole = is_overdue(s, x->calendar, newest->as_of_s);
	if (!*whole)
		return TK_OK;
	what.night_id = newest->night_id;
	what.last_s = newest->as_of_s;
	snprintf(name, sizeof name, "%s/%s", x->machine->name, x->upstream->name);
	snprintf(what.title, sizeof what.title, "%s on %s: no timing of any series since %s",
	        x->upstream->name, x->machine->name, tk_time_format_day(what.last_s, day));
	return add(s, &what, name, name, err);
}

static int look_at_series(struct search *s, const struct tk_newest_point *p, struct tk_error *err)
{
	struct subject x = subject_of(s, p);
	struct tk_missing_data what = {
	        .series_id = p->series_id, .night_id = p->night_id, .last_s = p->as_of_s};
	char day[TK_TIME_ISO_SIZE], group[512];
	bool whole = false, said = false;
	int rc;

	if (!x.machine || !x.upstream || x.calendar->stopped ||
	        !is_overdue(s, x.calendar, p->as_of_s))
		return TK_OK;
	rc = tk_store_has_executed_run(s->store, p->series_id,
	        x.calendar->nights[s->options->stoppage_nights - 1]->as_of_s, &said, err);
	if (!rc && !said)
		rc = look_at_upstream(s, &x, &whole, err);
	if (rc || said || whole)
		return rc;
	what.machine_id = x.machine->id;
	what.upstream_id = x.upstream->id;
	snprintf(group, sizeof group, "%s/%s", x.machine->name, x.upstream->name);
	snprintf(what.title, sizeof what.title, "%s: no timing since %s", x.series->slug,
	        tk_time_format_day(p->as_of_s, day));
	return add(s, &what, x.series->slug, group, err);
}

static void search_free(struct search *s)
{
	for (size_t m = 0; s->calendars && m < s->catalog.machines.rows.count; m++)
		free(s->calendars[m].nights);
	free(s->calendars);
	tk_rows_free(&s->newest);
	tk_catalog_free(&s->catalog);
}

static int look(struct search *s, struct tk_error *err)
{
	int rc = tk_catalog_load(s->store, &s->catalog, err);

	if (!rc)
		rc = tk_store_list_newest_points(s->store, &s->newest, err);
	if (!rc)
		rc = read_calendars(s, err);
	for (size_t m = 0; !rc && m < s->catalog.machines.rows.count; m++)
		rc = look_at_machine(s, &s->calendars[m],
		        TK_ROWS_AT(&s->catalog.machines.rows, struct tk_machine_row, m)->name, err);
	for (size_t i = 0; !rc && i < s->newest.count; i++)
		rc = look_at_series(s, TK_ROWS_AT(&s->newest, struct tk_newest_point, i), err);
	return rc;
}

/* Whatever its age. */
static int find_all(struct tk_store *s, const struct tk_detect_options *options, int64_t night_id,
        struct tk_missing_data_list *out, struct tk_error *err)
{
	struct search search = {.store = s, .options = options, .night_id = night_id};
	int rc = options->stoppage_nights ? look(&search, err) : TK_OK;

	search_free(&search);
	if (rc)
		tk_missing_data_list_free(&search.found);
	else
		*out = search.found;
	return rc;
}

static bool is_forgotten(const struct tk_missing_data *p, int64_t now_s)
{
	return now_s - p->last_s > FORGOTTEN * DAY_S;
}

int tk_missing_data_find(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_missing_data_list *out, struct tk_error *err)
{
	int rc = find_all(s, options, night_id, out, err);
	size_t kept = 0;

	for (size_t i = 0; !rc && i < out->count; i++)
		if (!is_forgotten(&out->at[i], options->now_s))
			out->at[kept++] = out->at[i];
	if (!rc)
		out->count = kept;
	return rc;
}

void tk_missing_data_list_free(struct tk_missing_data_list *list)
{
	free(list->at);
	*list = (struct tk_missing_data_list){0};
}

static const struct tk_missing_data *find(const struct tk_missing_data_list *list, const char *uid)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->at[i].uid, uid) == 0)
			return &list->at[i];
	return NULL;
}

static const struct tk_alert_row *alert_of(const struct tk_rows *alerts, const char *uid)
{
	for (size_t i = 0; i < alerts->count; i++)
		if (strcmp(TK_ROWS_AT(alerts, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(alerts, struct tk_alert_row, i);
	return NULL;
}

static bool machine_stopped(const struct tk_missing_data_list *list, int64_t machine_id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].machine_id == machine_id && !list->at[i].upstream_id)
			return true;
	return false;
}

/* While the whole machine is silent nothing is known of its parts: their alerts stay as they are.
 */
static int close_resumed(struct tk_store *s, const struct tk_rows *alerts,
        const struct tk_missing_data_list *list, int64_t now_s, struct tk_error *err)
{
	int rc = TK_OK;

	for (size_t i = 0; !rc && i < alerts->count; i++) {
		struct tk_alert_row a = *TK_ROWS_AT(alerts, struct tk_alert_row, i);

		if (strcmp(a.kind, "stoppage") != 0 || strcmp(a.status, "open") != 0 ||
		        find(list, a.uid) || (a.upstream_id && machine_stopped(list, a.machine_id)))
			continue;
		a.status = "closed";
		a.closed_s = now_s;
		rc = tk_store_put_alert(s, &a, err);
	}
	return rc;
}

static int open_stoppage(struct tk_store *s, const struct tk_missing_data *p,
        const struct tk_alert_row *known, int64_t now_s, struct tk_error *err)
{
	const struct tk_alert_row a = {.uid = p->uid,
	        .kind = "stoppage",
	        .group_uid = p->group_uid,
	        .machine_id = p->machine_id,
	        .upstream_id = p->upstream_id,
	        .series_id = p->series_id,
	        .night_id = p->night_id,
	        .status = "open",
	        .opened_s = known ? known->opened_s : now_s,
	        .cause = "stoppage",
	        .good_rev = "",
	        .bad_rev = "",
	        .title = p->title};

	if (!known && is_forgotten(p, now_s))
		return TK_OK;
	return tk_store_put_alert(s, &a, err);
}

int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err)
{
	struct tk_missing_data_list list = {0};
	struct tk_rows alerts = {0};
	int rc = find_all(s, options, night_id, &list, err);

	if (!rc)
		rc = tk_store_list_alerts(s, &alerts, err);
	if (!rc)
		rc = tk_store_begin(s, err);
	if (rc)
		goto out;
	rc = close_resumed(s, &alerts, &list, options->now_s, err);
	for (size_t i = 0; !rc && i < list.count; i++)
		rc = open_stoppage(
		        s, &list.at[i], alert_of(&alerts, list.at[i].uid), options->now_s, err);
	if (rc)
		tk_store_rollback(s);
	else
		rc = tk_store_commit(s, err);
out:
	tk_rows_free(&alerts);
	tk_missing_data_list_free(&list);
	return rc;
}
