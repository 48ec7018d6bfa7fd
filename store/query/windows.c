/* What detection reads: of every series the points around a range of time, and how its newest runs
 * ended. One look into the index for each series instead of a list each, so that thousands of
 * series take milliseconds. A reader keeps the points for ranges that move forward in time: each is
 * read once instead of once for each range. */
#include "base/base.h"
#include "store/db/internal.h"
#include "store/store.h"
#include <math.h>

#define AHEAD 32  /* points that are read at once */
#define BEHIND 16 /* that are kept although no range has asked for them: machines take turns */

/* ---- the points of one series ---------------------------------------------------------------- */

struct stretch {
	int64_t series_id;
	struct tk_point *at;        /* by (as_of_s, run_id), without a gap */
	struct tk_point_logs *logs; /* one for each */
	size_t count, capacity;
	bool is_read;    /* something of it, or that there is nothing */
	bool has_first;  /* the oldest point of the series is in it, or there is none */
	bool has_last;   /* the newest one */
	bool has_others; /* points without a positive value have been read */
};

struct tk_point_reader {
	struct stretch *series; /* by id */
	size_t count, capacity;
};

struct tk_point_reader *tk_point_reader_new(void)
{
	return tk_calloc(1, sizeof(struct tk_point_reader));
}

void tk_point_reader_free(struct tk_point_reader *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		free(p->series[i].at);
		free(p->series[i].logs);
	}
	free(p->series);
	free(p);
}

static struct stretch *find_stretch(struct tk_point_reader *p, int64_t series_id)
{
	const size_t first = TK_FIND_FIRST(p->count, i, p->series[i].series_id < series_id);

	if (first < p->count && p->series[first].series_id == series_id)
		return &p->series[first];
	if (p->count == p->capacity) {
		p->capacity = p->capacity ? 2 * p->capacity : 64;
		p->series = tk_reallocarray(p->series, p->capacity, sizeof *p->series);
	}
	memmove(&p->series[first + 1], &p->series[first], (p->count++ - first) * sizeof *p->series);
	p->series[first] = (struct stretch){.series_id = series_id};
	return &p->series[first];
}

struct tk_point_logs tk_point_find_logs(const struct tk_point *p)
{
	const bool has_interval = p->lo > 0 && p->hi >= p->lo && isfinite(p->hi);

	return (struct tk_point_logs){log(p->value), has_interval ? log(p->hi / p->lo) : 0};
}

/* Adds points that are newer than those of the stretch. */
static void add_points(struct stretch *x, const struct tk_rows *points)
{
	if (x->count + points->count > x->capacity) {
		x->capacity += x->capacity / 2 + points->count;
		x->at = tk_reallocarray(x->at, x->capacity, sizeof *x->at);
		x->logs = tk_reallocarray(x->logs, x->capacity, sizeof *x->logs);
	}
	for (size_t i = 0; i < points->count; i++, x->count++) {
		const struct tk_point *p = TK_ROWS_AT(points, struct tk_point, i);

		x->at[x->count] = *p;
		x->logs[x->count] = tk_point_find_logs(p);
		x->has_others |= !(p->value > 0 && p->value < INFINITY);
	}
}

/* The range, and what is before it. */
static int read_first(struct tk_store *s, const struct tk_window_query *w, struct stretch *x,
        struct tk_error *err)
{
	AUTO(tk_rows) before = {0};
	AUTO(tk_rows) within = {0};

	TRY(tk_points_read(s, TK_POINTS("<?2 ORDER BY as_of_s DESC, run_id DESC LIMIT ?3"),
	        TK_ARGS(x->series_id, w->since_s, w->before), &before, err));
	TRY(tk_points_read(s, TK_POINTS(">=?2 AND as_of_s<=?3"),
	        TK_ARGS(x->series_id, w->since_s, w->until_s), &within, err));
	tk_points_reverse(&before);
	add_points(x, &before);
	add_points(x, &within);
	x->is_read = true;
	x->has_first = before.count < w->before;
	return 0;
}

static int read_next(struct tk_store *s, struct stretch *x, struct tk_error *err)
{
	const struct tk_point *last = x->count ? &x->at[x->count - 1] : NULL;
	AUTO(tk_rows) points = {0};

	TRY(tk_points_read(s,
	        TK_POINTS(">=?2 AND (as_of_s>?2 OR run_id>?3) ORDER BY as_of_s, run_id LIMIT ?4"),
	        TK_ARGS(x->series_id, last ? last->as_of_s : INT64_MIN,
	                last ? last->run_id : INT64_MIN, AHEAD),
	        &points, err));
	add_points(x, &points);
	x->has_last = points.count < AHEAD;
	return 0;
}

/* Forgets what no range will ask for. */
static void drop_old(struct stretch *s, const struct tk_window_query *w)
{
	size_t older = 0, drop;

	while (older < s->count && s->at[older].as_of_s < w->since_s)
		older++;
	drop = older > w->before + BEHIND ? older - w->before - BEHIND : 0;
	if (!drop)
		return;
	memmove(s->at, s->at + drop, (s->count - drop) * sizeof *s->at);
	memmove(s->logs, s->logs + drop, (s->count - drop) * sizeof *s->logs);
	s->count -= drop;
	s->has_first = false;
}

/* Borrows the points of a window. *is_known false: the range begins before what is kept. */
static int find_points(struct tk_store *s, const struct tk_window_query *query, struct stretch *x,
        struct tk_history_window *w, bool *is_known, struct tk_error *err)
{
	if (!x->is_read)
		TRY(read_first(s, query, x, err));
	while (!x->has_last && !(x->count && x->at[x->count - 1].as_of_s > query->until_s)) {
		drop_old(x, query);
		TRY(read_next(s, x, err));
	}
	size_t end = x->count, most;

	w->within = 0;
	while (end && x->at[end - 1].as_of_s > query->until_s)
		end--;
	while (w->within < end && x->at[end - 1 - w->within].as_of_s >= query->since_s)
		w->within++;
	/* Of a series without a point in the range the newest one is enough. */
	most = w->within || !query->before ? query->before : 1;
	w->before = end - w->within < most ? end - w->within : most;
	w->points = x->at + end - w->within - w->before;
	w->logs = x->logs + end - w->within - w->before;
	w->is_borrowed = !x->has_others;
	*is_known = x->has_first || (end > w->within && w->before == most);
	return 0;
}

/* ---- how the runs ended ---------------------------------------------------------------------- */

#define SUMMARY(join) \
	"SELECT r.id AS run_id, r.as_of_s, r.night_id, r.build_id, r.environment_id, r.outcome," \
	" substr(r.message, 1, 200) AS message FROM " join
#define RUN_OF_SERIES(condition) \
	SUMMARY("run r WHERE r.id=(SELECT id FROM run WHERE series_id=?1 AND " condition \
	        " LIMIT 1)")
/* A run that was skipped gives no information about the earlier state. */
#define LAST_BEFORE \
	RUN_OF_SERIES("as_of_s<?2 AND outcome NOT IN ('skipped', 'no_device')" \
	              " ORDER BY as_of_s DESC, id DESC")
#define FIRST_WITHIN RUN_OF_SERIES("as_of_s>=?2 AND as_of_s<=?3 ORDER BY as_of_s, id")
/* A night measures a control several times: where it had no time for the last of them, the newest
 * run that was not skipped says how the night ended. */
#define LAST_WITHIN \
	RUN_OF_SERIES("as_of_s>=?2 AND as_of_s<=?3 ORDER BY as_of_s DESC," \
	              " outcome IN ('skipped', 'no_device'), id DESC")

/* Runs of many series (import) are looked up once: direct-mapped by id. */
#define SUMMARIES 4096

struct reader {
	struct tk_store *s;
	const struct tk_window_query *query;
	struct tk_point_reader *points; /* of the query, or for this one alone */
	int64_t runs_have_series;
	struct tk_rows_builder copies, texts;
	struct tk_run_summary *known;
};

static int select_summary(struct reader *r, const char *sql, const struct tk_arg *args,
        struct tk_run_summary *out, struct tk_error *err)
{
#define FIELD(name) TK_MEMBER(struct tk_run_summary, name)
	static const struct tk_db_column columns[] = {FIELD(run_id), FIELD(as_of_s),
	        FIELD(night_id), FIELD(build_id), FIELD(environment_id), FIELD(message),
	        TK_MEMBER_WORD(struct tk_run_summary, outcome, outcome)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_run_summary, columns);
	AUTO(tk_rows) rows = {0};

	TRY(tk_store_select(r->s, sql, args, &type, &rows, err));
	if (rows.count) {
		*out = *TK_ROWS_AT(&rows, struct tk_run_summary, 0);
		out->message = tk_rows_add_text(&r->texts, out->message, strlen(out->message));
	}
	return 0;
}

/* The run of the point, where the series has no run of its own, or an older one (`first`: a newer
 * one): imported points share a run, failures have one. point NULL: none. */
static int read_summary(struct reader *r, const char *sql, const struct tk_arg *args,
        const struct tk_point *point, bool first, struct tk_run_summary *out, struct tk_error *err)
{
	const int64_t run_id = point ? point->run_id : 0;
	struct tk_run_summary *known = &r->known[(uint64_t)run_id % SUMMARIES];

	*out = (struct tk_run_summary){.outcome = TK_OUTCOME_COUNT, .message = ""};
	if (r->runs_have_series)
		TRY(select_summary(r, sql, args, out, err));
	if (!run_id || (out->run_id && (out->as_of_s == point->as_of_s ||
	                                       (out->as_of_s < point->as_of_s) == first)))
		return 0;
	if (known->run_id != run_id)
		TRY(select_summary(r, SUMMARY("run r WHERE r.id=?1"), TK_ARGS(run_id), known, err));
	*out = *known;
	return 0;
}

static int read_summaries(struct reader *r, struct tk_history_window *w, struct tk_error *err)
{
	const struct tk_arg *args = TK_ARGS(w->series_id, r->query->runs_s, r->query->until_s);
	const struct tk_point *p = w->points;
	const struct tk_point *first_within = NULL, *last_within = NULL, *last_before = NULL;
	size_t i = w->before + w->within;

	if (i && p[i - 1].as_of_s >= r->query->runs_s)
		last_within = &p[i - 1];
	for (; i && p[i - 1].as_of_s >= r->query->runs_s; i--)
		first_within = &p[i - 1];
	if (i)
		last_before = &p[i - 1];
	w->first_within = (struct tk_run_summary){.outcome = TK_OUTCOME_COUNT, .message = ""};
	TRY(read_summary(r, LAST_BEFORE, TK_ARGS(w->series_id, r->query->runs_s), last_before,
	        false, &w->last_before, err));
	if (!w->last_before.run_id)
		TRY(read_summary(r, FIRST_WITHIN, args, first_within, true, &w->first_within, err));
	return read_summary(r, LAST_WITHIN, args, last_within, false, &w->last_within, err);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Points that are not borrowed from the reader of the query are copied. */
static int read_window(struct reader *r, struct tk_history_window *w, struct tk_error *err)
{
	struct tk_point_reader *own = NULL;
	bool is_known;

	TRY(find_points(r->s, r->query, find_stretch(r->points, w->series_id), w, &is_known, err));
	if (!is_known) {
		own = tk_point_reader_new();
		int status = find_points(
		        r->s, r->query, find_stretch(own, w->series_id), w, &is_known, err);

		if (status) {
			tk_point_reader_free(own);
			return status;
		}
	}
	w->is_borrowed &= !own && r->query->reader;
	int status = read_summaries(r, w, err);

	for (size_t i = 0; !w->is_borrowed && i < w->before + w->within; i++)
		*(struct tk_point *)tk_rows_add(&r->copies) = w->points[i];
	if (!w->is_borrowed)
		w->logs = NULL;
	tk_point_reader_free(own);
	return status;
}

static int read_windows(struct reader *r, struct tk_rows *windows, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct tk_history_window, series_id)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_history_window, columns);

	TRY(tk_store_select(r->s, "SELECT id AS series_id FROM series ORDER BY id", TK_NO_ARGS,
	        &type, windows, err));
	TRY(tk_store_select_int(r->s,
	        "SELECT EXISTS(SELECT 1 FROM run WHERE series_id IS NOT NULL)", TK_NO_ARGS, 0,
	        &r->runs_have_series, err));
	r->texts.out = windows;
	for (size_t i = 0; i < windows->count; i++)
		TRY(read_window(r, (struct tk_history_window *)windows->rows + i, err));
	/* The list of points has moved while it grew. */
	const struct tk_point *next = r->copies.out->rows;
	size_t first = 0;

	for (size_t i = 0; i < windows->count; i++) {
		struct tk_history_window *w = (struct tk_history_window *)windows->rows + i;

		w->first = first;
		first += w->before + w->within;
		if (w->is_borrowed)
			continue;
		w->points = next;
		next = next ? next + w->before + w->within : NULL;
	}
	return 0;
}

int tk_store_list_windows(struct tk_store *s, const struct tk_window_query *query,
        struct tk_rows *windows, struct tk_rows *points, struct tk_error *err)
{
	struct tk_rows w = {0}, p = {0};
	struct reader r = {.s = s, .query = query, .copies = {&p, sizeof(struct tk_point), 0}};

	/* One transaction: one state of the history, and one lock instead of thousands. */
	if (s->depth == 0)
		TRY(tk_store_begin_read(s, err));
	r.points = query->reader ? query->reader : tk_point_reader_new();
	r.known = tk_calloc(SUMMARIES, sizeof *r.known);
	int status = read_windows(&r, &w, err);

	if (s->depth == 0)
		tk_store_end_read(s);
	if (!query->reader)
		tk_point_reader_free(r.points);
	free(r.known);
	if (status) {
		tk_rows_free(&w);
		tk_rows_free(&p);
		return status;
	}
	*windows = w;
	*points = p;
	return 0;
}

/* ---- single answers -------------------------------------------------------------------------- */

int tk_store_has_executed_run(
        struct tk_store *s, int64_t series_id, int64_t since_s, bool *out, struct tk_error *err)
{
	int64_t found;

	TRY(tk_store_select_int(s,
	        "SELECT 1 FROM run WHERE series_id=?1 AND as_of_s>=?2"
	        " AND outcome NOT IN ('skipped', 'no_device') LIMIT 1",
	        TK_ARGS(series_id, since_s), 0, &found, err));
	*out = found;
	return 0;
}

int tk_store_find_revision_night(
        struct tk_store *s, int64_t revision_id, int64_t *night_id, struct tk_error *err)
{
	return tk_store_select_int(s,
	        "SELECT id FROM (SELECT n.id, n.as_of_s FROM resolution r"
	        " JOIN night n ON n.id = r.night_id WHERE r.revision_id=?1"
	        " UNION ALL SELECT night_id, as_of_s FROM run"
	        " WHERE build_id IN (SELECT id FROM build WHERE revision_id=?1))"
	        " ORDER BY as_of_s, id LIMIT 1",
	        TK_ARGS(revision_id), 0, night_id, err);
}
