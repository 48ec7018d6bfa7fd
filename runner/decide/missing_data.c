/* Data that did not arrive. A tracker without news looks like one without data: a machine that
 * stores no nights, an upstream that was dropped from the configuration, and a series that never
 * fits the budget are reported once. */
#include "base/base.h"
#include "core/night.h"
#include "decide/internal.h"

#define DAY_S INT64_C(86400)
#define GAPS_MAX 15      /* newest nights that show how often a machine measures */
#define REPORTED_DAYS 90 /* data that is missing for longer is history */

struct night {
	int64_t id, machine_id, as_of_s;
	const char *machine, *machine_uid, *summary;
	bool is_turn; /* of all upstreams; set here */
};
static const struct tk_db_column night_columns[] = {TK_MEMBER(struct night, id),
        TK_MEMBER(struct night, machine_id), TK_MEMBER(struct night, as_of_s),
        TK_MEMBER(struct night, machine), TK_MEMBER(struct night, machine_uid),
        TK_MEMBER(struct night, summary)};
static const struct tk_row_type night_type = TK_ROW_TYPE(struct night, night_columns);

/* A series that has points, with the newest one. */
struct subject {
	int64_t series_id, upstream_id, machine_id, rotate_nights, as_of_s, night_id;
	const char *series, *series_uid, *upstream, *machine, *machine_uid;
};
static const struct tk_db_column subject_columns[] = {TK_MEMBER(struct subject, series_id),
        TK_MEMBER(struct subject, upstream_id), TK_MEMBER(struct subject, machine_id),
        TK_MEMBER(struct subject, rotate_nights), TK_MEMBER(struct subject, as_of_s),
        TK_MEMBER(struct subject, night_id), TK_MEMBER(struct subject, series),
        TK_MEMBER(struct subject, series_uid), TK_MEMBER(struct subject, upstream),
        TK_MEMBER(struct subject, machine), TK_MEMBER(struct subject, machine_uid)};
static const struct tk_row_type subject_type = TK_ROW_TYPE(struct subject, subject_columns);

/* Full nights of one machine, newest first. Of split nights one part, the most frequent one. */
struct calendar {
	struct night *nights;
	size_t count;
	bool has_parts;
	bool is_silent; /* the whole machine has no data */
};

struct search {
	struct tk_store *store;
	const struct tk_detect_options *options;
	struct tk_rows nights, subjects;
	struct calendar *calendars; /* one for each machine */
	size_t calendar_count;
	struct tk_missing_data_list found;
};

/* ---- calendars ---- */

/* Keeps one part of the split nights, and marks the turns. */
static void keep_one_part(struct calendar *c)
{
	struct tk_night_tally tally = {0};
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		tk_night_tally_add(&tally, tk_night_read_coverage(c->nights[i].summary));
	c->has_parts = tally.most_frequent_part != 0;
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_night_coverage coverage =
		        tk_night_read_coverage(c->nights[i].summary);

		if (coverage.part && coverage.part != tally.most_frequent_part)
			continue;
		c->nights[kept] = c->nights[i];
		c->nights[kept++].is_turn = coverage.has_all_upstreams;
	}
	c->count = kept;
}

static void make_calendars(struct search *s)
{
	struct night *n = s->nights.rows;

	s->calendars = tk_calloc(s->nights.count + 1, sizeof *s->calendars);
	for (size_t i = 0, next; i < s->nights.count; i = next) {
		struct calendar *c = &s->calendars[s->calendar_count++];

		for (next = i; next < s->nights.count && n[next].machine_id == n[i].machine_id;)
			next++;
		*c = (struct calendar){.nights = n + i, .count = next - i};
		keep_one_part(c);
	}
}

static const struct calendar *find_calendar(const struct search *s, int64_t machine_id)
{
	for (size_t m = 0; m < s->calendar_count; m++)
		if (s->calendars[m].count && s->calendars[m].nights->machine_id == machine_id)
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
		gaps[n++] = c->nights[i].as_of_s - c->nights[i + 1].as_of_s;
	if (!n)
		return DAY_S;
	tk_sort(gaps, n, sizeof *gaps, ascending);
	return gaps[n / 2] > DAY_S ? gaps[n / 2] : DAY_S;
}

/* The time of the newest night that is too late for a timing of the series. One whose turn comes
 * every K nights may lack data for K nights more; a night of one upstream is no turn. The parts of
 * a split night do not end together: one night more. false: there are fewer nights. */
static bool find_latest_due(
        const struct search *s, const struct calendar *c, const struct subject *x, int64_t *as_of_s)
{
	const bool rotates = x->rotate_nights > 1;
	size_t left = s->options->missing_data_nights +
	              (rotates ? (size_t)x->rotate_nights - 1 : 0) + c->has_parts;

	for (size_t i = 0; i < c->count; i++) {
		left -= !rotates || c->nights[i].is_turn;
		*as_of_s = c->nights[i].as_of_s;
		if (!left)
			return true;
	}
	return false;
}

/* ---- what is missing ---- */

/* machine, series: uids. upstream, series: what is missing is an upstream on the machine, or this
 * series of it; NULL: the machine, the upstream. */
static struct tk_missing_data *add(struct search *s, const struct tk_missing_data *missing,
        const char *machine, const char *upstream, const char *series)
{
	char last[32], group[512];

	s->found.at = tk_realloc(s->found.at, (s->found.count + 1) * sizeof *s->found.at);

	struct tk_missing_data *added = &s->found.at[s->found.count++];

	*added = *missing;
	snprintf(last, sizeof last, "%lld", (long long)missing->last_s);
	snprintf(group, sizeof group, "%s%s%s", machine, upstream ? "/" : "",
	        upstream ? upstream : "");
	tk_alert_uid_hash(
	        (const char *const[]){"stoppage", series ? series : group, last}, 3, added->uid);
	tk_alert_uid_hash((const char *const[]){"stoppages", group, last}, 3, added->group_uid);
	return added;
}

static void search_machine(struct search *s, struct calendar *c)
{
	const struct night *newest = c->nights;
	const int64_t age_s = c->count ? s->options->now_s - newest->as_of_s : 0;
	char day[TK_TIME_ISO_SIZE], age[64];

	c->is_silent =
	        c->count && age_s > (int64_t)s->options->missing_data_nights * usual_gap_s(c);
	if (!c->is_silent)
		return;

	const struct tk_missing_data missing = {.machine_id = newest->machine_id,
	        .night_id = newest->id,
	        .last_s = newest->as_of_s};
	struct tk_missing_data *m = add(s, &missing, newest->machine_uid, NULL, NULL);

	snprintf(m->title, sizeof m->title, "%s: no night for %s (last: %s)", newest->machine,
	        tk_duration_format((double)age_s, age, sizeof age),
	        tk_time_format_day(newest->as_of_s, day));
}

/* The newest timing of all series of the upstream on the machine. */
static const struct subject *newest_of_upstream(const struct search *s, const struct subject *x)
{
	const struct subject *newest = x;

	for (size_t i = 0; i < s->subjects.count; i++) {
		const struct subject *y = TK_ROWS_AT(&s->subjects, struct subject, i);

		if (y->upstream_id == x->upstream_id && y->machine_id == x->machine_id &&
		        y->as_of_s > newest->as_of_s)
			newest = y;
	}
	return newest;
}

static bool has_upstream(const struct search *s, const struct subject *x)
{
	for (size_t i = 0; i < s->found.count; i++) {
		const struct tk_missing_data *m = &s->found.at[i];

		if (m->machine_id == x->machine_id && m->upstream_id == x->upstream_id &&
		        !m->series_id)
			return true;
	}
	return false;
}

/* True if all series of the upstream are missing: then it has been added. */
static bool search_upstream(struct search *s, const struct subject *x, int64_t due_s)
{
	if (has_upstream(s, x))
		return true;

	const struct subject *newest = newest_of_upstream(s, x);
	char day[TK_TIME_ISO_SIZE];

	if (newest->as_of_s >= due_s)
		return false;

	const struct tk_missing_data missing = {.machine_id = x->machine_id,
	        .upstream_id = x->upstream_id,
	        .night_id = newest->night_id,
	        .last_s = newest->as_of_s};
	struct tk_missing_data *m = add(s, &missing, x->machine_uid, x->upstream, NULL);

	snprintf(m->title, sizeof m->title, "%s on %s: no timing of any series since %s",
	        x->upstream, x->machine, tk_time_format_day(newest->as_of_s, day));
	return true;
}

static int search_series(struct search *s, const struct subject *x, struct tk_error *err)
{
	const struct calendar *calendar = find_calendar(s, x->machine_id);
	bool has_outcome;
	char day[TK_TIME_ISO_SIZE];
	int64_t due_s;

	if (!calendar || calendar->is_silent || !find_latest_due(s, calendar, x, &due_s) ||
	        x->as_of_s >= due_s)
		return TK_OK;
	TRY(tk_store_has_executed_run(s->store, x->series_id, due_s, &has_outcome, err));
	if (has_outcome || search_upstream(s, x, due_s))
		return TK_OK;

	const struct tk_missing_data missing = {.machine_id = x->machine_id,
	        .upstream_id = x->upstream_id,
	        .series_id = x->series_id,
	        .night_id = x->night_id,
	        .last_s = x->as_of_s};
	struct tk_missing_data *m = add(s, &missing, x->machine_uid, x->upstream, x->series_uid);

	snprintf(m->title, sizeof m->title, "%s: no timing since %s", x->series,
	        tk_time_format_day(x->as_of_s, day));
	return TK_OK;
}

static int search_all(struct search *s, int64_t night_id, struct tk_error *err)
{
	TRY(tk_store_select(s->store,
	        "SELECT n.id, n.machine_id, n.as_of_s, m.name AS machine, m.uid AS machine_uid,"
	        " n.summary FROM night n JOIN machine m ON m.id = n.machine_id"
	        " WHERE n.kind='nightly' AND (n.finished_s<>0 OR n.id=?1)"
	        " ORDER BY n.machine_id, n.as_of_s DESC, n.id DESC",
	        TK_ARGS(night_id), &night_type, &s->nights, err));
	/* One look into the index for each series: grouping would read them all. */
	TRY(tk_store_select(s->store,
	        "SELECT s.id AS series_id, s.upstream_id, s.machine_id, s.rotate_nights, p.as_of_s,"
	        " p.night_id, s.slug AS series, s.uid AS series_uid, s.upstream, s.machine,"
	        " s.machine_uid FROM series_v s CROSS JOIN measurement p"
	        " ON p.series_id=s.id AND (p.as_of_s, p.run_id)=(SELECT as_of_s, run_id"
	        " FROM measurement WHERE series_id=s.id ORDER BY as_of_s DESC, run_id DESC LIMIT 1)"
	        " WHERE s.rotate_nights <> ?1 ORDER BY s.id",
	        TK_ARGS((int64_t)TK_SERIES_RETIRED), &subject_type, &s->subjects, err));
	make_calendars(s);
	for (size_t m = 0; m < s->calendar_count; m++)
		search_machine(s, &s->calendars[m]);
	for (size_t i = 0; i < s->subjects.count; i++)
		TRY(search_series(s, TK_ROWS_AT(&s->subjects, struct subject, i), err));
	return TK_OK;
}

/* night_id: an unfinished night that counts as finished; 0: none. Free *out in any case. */
static int find_all(struct tk_store *s, const struct tk_detect_options *options, int64_t night_id,
        struct tk_missing_data_list *out, struct tk_error *err)
{
	struct search search = {.store = s, .options = options};
	const int status =
	        options->missing_data_nights ? search_all(&search, night_id, err) : TK_OK;

	*out = search.found;
	free(search.calendars);
	tk_rows_free(&search.nights);
	tk_rows_free(&search.subjects);
	return status;
}

static bool is_history(const struct tk_missing_data *m, int64_t now_s)
{
	return now_s - m->last_s > REPORTED_DAYS * DAY_S;
}

int tk_missing_data_find(struct tk_store *s, const struct tk_detect_options *options,
        struct tk_missing_data_list *out, struct tk_error *err)
{
	size_t kept = 0;

	TRY(find_all(s, options, 0, out, err));
	for (size_t i = 0; i < out->count; i++)
		if (!is_history(&out->at[i], options->now_s))
			out->at[kept++] = out->at[i];
	out->count = kept;
	return TK_OK;
}

void tk_missing_data_list_free(struct tk_missing_data_list *list)
{
	free(list->at);
	*list = (struct tk_missing_data_list){0};
}

/* ---- alerts ---- */

static bool is_missing(const struct tk_missing_data_list *list, const char *uid)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->at[i].uid, uid) == 0)
			return true;
	return false;
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
static int close_alert(struct tk_store *s, const struct tk_missing_data_list *list,
        const struct tk_alert_row *a, int64_t now_s, struct tk_error *err)
{
	struct tk_alert_row closed = *a;

	if (a->kind != TK_ALERT_MISSING_DATA || a->status != TK_ALERT_OPEN ||
	        is_missing(list, a->uid) ||
	        (a->upstream_id && is_machine_silent(list, a->machine_id)))
		return TK_OK;
	closed.status = TK_ALERT_CLOSED;
	closed.closed_s = now_s;
	return tk_store_put(s, TK_TABLE_alert, &closed, NULL, err);
}

static int open_alert(struct tk_store *s, const struct tk_missing_data *m,
        const struct tk_rows *alerts, int64_t now_s, struct tk_error *err)
{
	struct tk_alert_row a = {.uid = m->uid,
	        .kind = TK_ALERT_MISSING_DATA,
	        .group_uid = m->group_uid,
	        .machine_id = m->machine_id,
	        .upstream_id = m->upstream_id,
	        .series_id = m->series_id,
	        .night_id = m->night_id,
	        .status = TK_ALERT_OPEN,
	        .cause = TK_CAUSE_MISSING_DATA,
	        .good_rev = "",
	        .bad_rev = "",
	        .title = m->title};

	for (size_t i = 0; i < alerts->count; i++)
		if (strcmp(TK_ROWS_AT(alerts, struct tk_alert_row, i)->uid, m->uid) == 0)
			a.opened_s = TK_ROWS_AT(alerts, struct tk_alert_row, i)->opened_s;
	if (!a.opened_s && is_history(m, now_s))
		return TK_OK;
	a.opened_s = a.opened_s ? a.opened_s : now_s;
	return tk_store_put(s, TK_TABLE_alert, &a, NULL, err);
}

static int update(struct tk_store *s, const struct tk_rows *alerts,
        const struct tk_missing_data_list *list, int64_t now_s, struct tk_error *err)
{
	for (size_t i = 0; i < alerts->count; i++)
		TRY(close_alert(s, list, TK_ROWS_AT(alerts, struct tk_alert_row, i), now_s, err));
	for (size_t i = 0; i < list->count; i++)
		TRY(open_alert(s, &list->at[i], alerts, now_s, err));
	return TK_OK;
}

int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err)
{
	AUTO(tk_missing_data_list) list = {0};
	AUTO(tk_rows) alerts = {0};

	TRY(find_all(s, options, night_id, &list, err));
	TRY(tk_store_list_alerts(s, &alerts, err));
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, update(s, &alerts, &list, options->now_s, err), err);
}
