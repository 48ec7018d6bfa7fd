/* Data that did not arrive. A tracker without news looks like one without data: a machine that
 * stores no nights, an upstream that was dropped from the configuration, and a series that never
 * fits the budget are reported once. */
#include "decide/triage/missing_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "core/night.h"
#include "decide/decide.h"
#include "decide/history/catalog.h"

/* ---- missing data ---- */

#define DAY_S INT64_C(86400)
#define GAPS_MAX 15      /* newest nights that show how often a machine measures */
#define REPORTED_DAYS 90 /* data that is missing for longer is history */

/* Full nights of one machine, newest first. Of split nights one part, the most frequent one. */
struct calendar {
	int64_t machine_id;
	const struct tk_night_row **nights, **turns; /* turns: those of all upstreams */
	size_t count, turn_count;
	bool has_parts;
	bool is_silent; /* the whole machine has no data */
};

struct search {
	struct tk_store *store;
	struct tk_catalog catalog;
	const struct tk_detect_options *options;
	int64_t night_id; /* counts although it is unfinished */
	struct tk_rows newest;
	struct calendar *calendars; /* one for each machine */
	size_t calendar_count;
	struct tk_missing_data_list found;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while searching missing data");
}

/* ---- calendars ---- */

static int newest_first(const void *a, const void *b)
{
	const struct tk_night_row *x = *(const struct tk_night_row *const *)a,
	                          *y = *(const struct tk_night_row *const *)b;

	if (x->as_of_s != y->as_of_s)
		return x->as_of_s < y->as_of_s ? 1 : -1;
	return (x->id < y->id) - (x->id > y->id);
}

/* Keeps one part of the split nights, and lists the turns. */
static void list_turns(struct calendar *c, struct tk_night_coverage *coverages)
{
	struct tk_night_tally count = {0};
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		coverages[i] = tk_night_read_coverage(c->nights[i]->summary);
		tk_night_tally_add(&count, coverages[i]);
	}
	c->has_parts = count.most_frequent_part != 0;
	for (size_t i = 0; i < c->count; i++) {
		if (coverages[i].part && coverages[i].part != count.most_frequent_part)
			continue;
		if (coverages[i].has_all_upstreams)
			c->turns[c->turn_count++] = c->nights[i];
		c->nights[kept++] = c->nights[i];
	}
	c->count = kept;
}

static int fill_calendar(const struct search *s, struct calendar *c, struct tk_error *err)
{
	const struct tk_rows *nights = &s->catalog.nights.rows;
	struct tk_night_coverage *coverages = tk_calloc(nights->count + 1, sizeof *coverages);

	c->nights = tk_calloc(nights->count + 1, sizeof(*c->nights));
	c->turns = tk_calloc(nights->count + 1, sizeof(*c->turns));
	if (!coverages || !c->nights || !c->turns) {
		free(coverages);
		return out_of_memory(err);
	}
	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == c->machine_id && n->kind == TK_NIGHT_NIGHTLY &&
		        (n->finished_s || n->id == s->night_id))
			c->nights[c->count++] = n;
	}
	qsort(c->nights, c->count, sizeof(*c->nights), newest_first);
	list_turns(c, coverages);
	free(coverages);
	return TK_OK;
}

static int read_calendars(struct search *s, struct tk_error *err)
{
	const struct tk_rows *machines = &s->catalog.machines.rows;
	int status = TK_OK;

	s->calendars = tk_calloc(machines->count + 1, sizeof *s->calendars);
	for (size_t m = 0; !status && m < machines->count; m++) {
		struct calendar *c = &s->calendars[s->calendar_count++];

		c->machine_id = TK_ROWS_AT(machines, struct tk_machine_row, m)->id;
		status = fill_calendar(s, c, err);
	}
	return status;
}

static const struct calendar *find_calendar(
        const struct search *s, const struct tk_series_row *series)
{
	const struct tk_device_row *device =
	        tk_id_table_find(&s->catalog.devices, series->device_id);

	for (size_t m = 0; device && m < s->calendar_count; m++)
		if (s->calendars[m].machine_id == device->machine_id)
			return &s->calendars[m];
	return NULL;
}

static int ascending(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median time between two nights, at least a day: a machine that measures on Sundays is not
 * silent on Wednesday. */
static int64_t usual_gap_s(const struct calendar *c)
{
	int64_t gaps[GAPS_MAX];
	size_t n = 0;

	for (size_t i = 0; i + 1 < c->count && n < GAPS_MAX; i++)
		gaps[n++] = c->nights[i]->as_of_s - c->nights[i + 1]->as_of_s;
	if (!n)
		return DAY_S;
	qsort(gaps, n, sizeof *gaps, ascending);
	return gaps[n / 2] > DAY_S ? gaps[n / 2] : DAY_S;
}

/* The time of the newest night that is too late for a timing of the series. One whose turn comes
 * every K nights may lack data for K nights more; a night of one upstream is no turn. The parts of
 * a split night do not end together: one night more. false: there are fewer nights. */
static bool find_latest_due(const struct search *s, const struct calendar *c,
        const struct tk_series_row *series, int64_t *as_of_s)
{
	const bool rotates = series->rotate_nights > 1;
	const struct tk_night_row **nights = rotates ? c->turns : c->nights;
	const size_t allowed = s->options->missing_data_nights +
	                       (rotates ? (size_t)series->rotate_nights - 1 : 0) + c->has_parts;

	if ((rotates ? c->turn_count : c->count) < allowed)
		return false;
	*as_of_s = nights[allowed - 1]->as_of_s;
	return true;
}

/* ---- what is missing ---- */

/* machine, series: uids. upstream, series: what is missing is an upstream on the machine, or this
 * series of it; NULL: the machine, the upstream. */
static void make_uids(const char *machine, const char *upstream, const char *series, int64_t last_s,
        char uid[TK_ALERT_UID_SIZE], char group_uid[TK_ALERT_UID_SIZE])
{
	char last[32], group[512];

	snprintf(last, sizeof last, "%lld", (long long)last_s);
	snprintf(group, sizeof group, "%s%s%s", machine, upstream ? "/" : "",
	        upstream ? upstream : "");
	tk_alert_uid_hash((const char *const[]){"stoppage", series ? series : group, last}, 3, uid);
	tk_alert_uid_hash((const char *const[]){"stoppages", group, last}, 3, group_uid);
}

/* machine, upstream, series: as for make_uids(). */
static int add(struct search *s, const struct tk_missing_data *missing, const char *machine,
        const char *upstream, const char *series, struct tk_error *err)
{
	struct tk_missing_data *grown =
	        tk_realloc(s->found.at, (s->found.count + 1) * sizeof *grown);
	struct tk_missing_data *added;

	s->found.at = grown;
	added = &grown[s->found.count];
	*added = *missing;
	make_uids(machine, upstream, series, missing->last_s, added->uid, added->group_uid);
	if (!*added->uid || !*added->group_uid)
		return out_of_memory(err);
	s->found.count++;
	return TK_OK;
}

static int search_machine(struct search *s, struct calendar *c, struct tk_error *err)
{
	const struct tk_machine_row *machine =
	        tk_id_table_find(&s->catalog.machines, c->machine_id);
	struct tk_missing_data missing = {.machine_id = c->machine_id};
	char day[TK_TIME_ISO_SIZE], age[64];

	if (!c->count || !machine)
		return TK_OK;
	missing.night_id = c->nights[0]->id;
	missing.last_s = c->nights[0]->as_of_s;

	const int64_t age_s = s->options->now_s - missing.last_s;

	if (age_s <= (int64_t)s->options->missing_data_nights * usual_gap_s(c))
		return TK_OK;
	c->is_silent = true;
	snprintf(missing.title, sizeof missing.title, "%s: no night for %s (last: %s)",
	        machine->name, tk_duration_format((double)age_s, age, sizeof age),
	        tk_time_format_day(missing.last_s, day));
	return add(s, &missing, machine->uid, NULL, NULL, err);
}

struct subject {
	const struct tk_series_row *series;
	const struct calendar *calendar;
	const struct tk_upstream_row *upstream;
	const struct tk_machine_row *machine;
};

static bool find_subject(
        const struct search *s, const struct tk_newest_point *p, struct subject *out)
{
	out->series = tk_id_table_find(&s->catalog.series, p->series_id);
	out->calendar = out->series ? find_calendar(s, out->series) : NULL;
	if (!out->calendar)
		return false;
	out->upstream = tk_id_table_find(&s->catalog.upstreams, out->series->upstream_id);
	out->machine = tk_id_table_find(&s->catalog.machines, out->calendar->machine_id);
	if (!out->upstream || !out->machine)
		return false;
	return true;
}

/* The newest timing of all series of the upstream on the machine. */
static const struct tk_newest_point *newest_of_upstream(
        const struct search *s, const struct subject *x)
{
	const struct tk_newest_point *newest = NULL;

	for (size_t i = 0; i < s->newest.count; i++) {
		const struct tk_newest_point *p = TK_ROWS_AT(&s->newest, struct tk_newest_point, i);
		const struct tk_series_row *series =
		        tk_id_table_find(&s->catalog.series, p->series_id);

		if (series && series->upstream_id == x->series->upstream_id &&
		        find_calendar(s, series) == x->calendar &&
		        (!newest || p->as_of_s > newest->as_of_s))
			newest = p;
	}
	return newest;
}

static bool has_upstream(const struct search *s, const struct subject *x)
{
	for (size_t i = 0; i < s->found.count; i++) {
		const struct tk_missing_data *m = &s->found.at[i];

		if (m->machine_id == x->machine->id && m->upstream_id == x->upstream->id &&
		        !m->series_id)
			return true;
	}
	return false;
}

/* *whole: all series of the upstream are missing, and it has been added. */
static int search_upstream(
        struct search *s, const struct subject *x, bool *whole, struct tk_error *err)
{
	struct tk_missing_data missing = {
	        .machine_id = x->machine->id, .upstream_id = x->upstream->id};
	const struct tk_newest_point *newest;
	char day[TK_TIME_ISO_SIZE];
	int64_t due_s;

	*whole = has_upstream(s, x);
	if (*whole)
		return TK_OK;
	newest = newest_of_upstream(s, x);
	*whole = newest && find_latest_due(s, x->calendar, x->series, &due_s) &&
	         newest->as_of_s < due_s;
	if (!*whole)
		return TK_OK;
	missing.night_id = newest->night_id;
	missing.last_s = newest->as_of_s;
	snprintf(missing.title, sizeof missing.title, "%s on %s: no timing of any series since %s",
	        x->upstream->name, x->machine->name, tk_time_format_day(missing.last_s, day));
	return add(s, &missing, x->machine->uid, x->upstream->name, NULL, err);
}

static int search_series(struct search *s, const struct tk_newest_point *p, struct tk_error *err)
{
	struct subject x;
	char day[TK_TIME_ISO_SIZE];
	bool whole = false, has_outcome = false;
	int64_t due_s;
	int status;

	if (!find_subject(s, p, &x) || x.calendar->is_silent)
		return TK_OK;
	if (!find_latest_due(s, x.calendar, x.series, &due_s) || p->as_of_s >= due_s)
		return TK_OK;
	status = tk_store_has_executed_run(s->store, p->series_id, due_s, &has_outcome, err);
	if (!status && !has_outcome)
		status = search_upstream(s, &x, &whole, err);
	if (status || has_outcome || whole)
		return status;

	struct tk_missing_data missing = {.machine_id = x.machine->id,
	        .upstream_id = x.upstream->id,
	        .series_id = p->series_id,
	        .night_id = p->night_id,
	        .last_s = p->as_of_s};

	snprintf(missing.title, sizeof missing.title, "%s: no timing since %s", x.series->slug,
	        tk_time_format_day(p->as_of_s, day));
	return add(s, &missing, x.machine->uid, x.upstream->name, x.series->uid, err);
}

static void free_search(struct search *s)
{
	for (size_t m = 0; m < s->calendar_count; m++) {
		free(s->calendars[m].nights);
		free(s->calendars[m].turns);
	}
	free(s->calendars);
	tk_rows_free(&s->newest);
	tk_catalog_free(&s->catalog);
}

static int search_all(struct search *s, struct tk_error *err)
{
	int status = tk_catalog_load(s->store, &s->catalog, err);

	if (!status)
		status = tk_store_list_newest_points(s->store, &s->newest, err);
	if (!status)
		status = read_calendars(s, err);
	for (size_t m = 0; !status && m < s->calendar_count; m++)
		status = search_machine(s, &s->calendars[m], err);
	for (size_t i = 0; !status && i < s->newest.count; i++)
		status = search_series(s, TK_ROWS_AT(&s->newest, struct tk_newest_point, i), err);
	return status;
}

static int find_all(struct tk_store *s, const struct tk_detect_options *options, int64_t night_id,
        struct tk_missing_data_list *out, struct tk_error *err)
{
	struct search search = {.store = s, .options = options, .night_id = night_id};
	int status = options->missing_data_nights ? search_all(&search, err) : TK_OK;

	free_search(&search);
	if (status)
		tk_missing_data_list_free(&search.found);
	else
		*out = search.found;
	return status;
}

static bool is_history(const struct tk_missing_data *m, int64_t now_s)
{
	return now_s - m->last_s > REPORTED_DAYS * DAY_S;
}

int tk_missing_data_find(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_missing_data_list *out, struct tk_error *err)
{
	int status = find_all(s, options, night_id, out, err);
	size_t kept = 0;

	for (size_t i = 0; !status && i < out->count; i++)
		if (!is_history(&out->at[i], options->now_s))
			out->at[kept++] = out->at[i];
	if (!status)
		out->count = kept;
	return status;
}

void tk_missing_data_list_free(struct tk_missing_data_list *list)
{
	free(list->at);
	*list = (struct tk_missing_data_list){0};
}

/* ---- missing data alerts ---- */

static const struct tk_missing_data *find(const struct tk_missing_data_list *list, const char *uid)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->at[i].uid, uid) == 0)
			return &list->at[i];
	return NULL;
}

static const struct tk_alert_row *find_alert(const struct tk_rows *alerts, const char *uid)
{
	for (size_t i = 0; i < alerts->count; i++)
		if (strcmp(TK_ROWS_AT(alerts, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(alerts, struct tk_alert_row, i);
	return NULL;
}

static bool is_machine_silent(const struct tk_missing_data_list *list, int64_t machine_id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].machine_id == machine_id && !list->at[i].upstream_id)
			return true;
	return false;
}

/* While the whole machine reports nothing, the state of its parts is unknown: their alerts stay
 * open. */
static bool is_over(const struct tk_alert_row *a, const struct tk_missing_data_list *list)
{
	return a->kind == TK_ALERT_MISSING_DATA && a->status == TK_ALERT_OPEN &&
	       !find(list, a->uid) && !(a->upstream_id && is_machine_silent(list, a->machine_id));
}

static int close_alerts(struct tk_store *s, const struct tk_rows *alerts,
        const struct tk_missing_data_list *list, int64_t now_s, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < alerts->count; i++) {
		struct tk_alert_row a = *TK_ROWS_AT(alerts, struct tk_alert_row, i);

		if (!is_over(&a, list))
			continue;
		a.status = TK_ALERT_CLOSED;
		a.closed_s = now_s;
		status = tk_store_put(s, TK_TABLE_alert, &a, NULL, err);
	}
	return status;
}

static int open_alert(struct tk_store *s, const struct tk_missing_data *m,
        const struct tk_alert_row *known, int64_t now_s, struct tk_error *err)
{
	const struct tk_alert_row a = {.uid = m->uid,
	        .kind = TK_ALERT_MISSING_DATA,
	        .group_uid = m->group_uid,
	        .machine_id = m->machine_id,
	        .upstream_id = m->upstream_id,
	        .series_id = m->series_id,
	        .night_id = m->night_id,
	        .status = TK_ALERT_OPEN,
	        .opened_s = known ? known->opened_s : now_s,
	        .cause = TK_CAUSE_MISSING_DATA,
	        .good_rev = "",
	        .bad_rev = "",
	        .title = m->title};

	if (!known && is_history(m, now_s))
		return TK_OK;
	return tk_store_put(s, TK_TABLE_alert, &a, NULL, err);
}

static int update(struct tk_store *s, const struct tk_rows *alerts,
        const struct tk_missing_data_list *list, int64_t now_s, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = close_alerts(s, alerts, list, now_s, err);
	for (size_t i = 0; !status && i < list->count; i++)
		status = open_alert(
		        s, &list->at[i], find_alert(alerts, list->at[i].uid), now_s, err);
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}

int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err)
{
	struct tk_missing_data_list list = {0};
	struct tk_rows alerts = {0};
	int status = find_all(s, options, night_id, &list, err);

	if (!status)
		status = tk_store_list_alerts(s, &alerts, err);
	if (!status)
		status = update(s, &alerts, &list, options->now_s, err);
	tk_rows_free(&alerts);
	tk_missing_data_list_free(&list);
	return status;
}
