/* What detection reads: of every series the points around a range of time, and how its newest runs
 * ended. One pass over the index for each series instead of a list each, so that thousands of
 * series take milliseconds. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/try.h"
#include "store/db/internal.h"
#include "store/query/point_reader.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARK_COLUMNS \
	"SELECT id, as_of_s, night_id, build_id, environment_id, outcome, substr(message, 1, " \
	"200) FROM run "
/* A run that was skipped gives no information about the earlier state. */
#define LAST_BEFORE \
	MARK_COLUMNS \
	"WHERE series_id=?1 AND as_of_s<?2 AND outcome NOT IN ('skipped', 'no_device') " \
	"ORDER BY as_of_s DESC, id DESC LIMIT 1"
#define FIRST_WITHIN \
	MARK_COLUMNS \
	"WHERE series_id=?1 AND as_of_s>=?2 AND as_of_s<=?3 ORDER BY as_of_s, id LIMIT 1"
/* A night measures a control several times: where it had no time for the last of them, the newest
 * run that was not skipped says how the night ended. */
#define LAST_WITHIN \
	MARK_COLUMNS "WHERE series_id=?1 AND as_of_s>=?2 AND as_of_s<=?3 ORDER BY as_of_s DESC, " \
	             "outcome IN ('skipped', 'no_device'), id DESC LIMIT 1"

/* An imported run has no series: use the run of the point. */
#define MARK_OF_RUN MARK_COLUMNS "WHERE id=?1"
#define HAS_SERIES "SELECT EXISTS(SELECT 1 FROM run WHERE series_id IS NOT NULL)"

/* Runs of many series are looked up once: direct-mapped by id. */
#define MARKS 4096

#define WINDOWS_PER_PART 64 /* at least: a thread is not worth it for fewer */

struct reader {
	struct tk_store *s;
	const struct tk_window_query *query;
	bool runs_have_series;
	struct tk_rows_builder *windows, *points;
	struct tk_run_summary *marks;
	struct tk_error *err;
};

static int no_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while reading the history");
}

static double number_or_nan(sqlite3_stmt *q, int at)
{
	return sqlite3_column_type(q, at) == SQLITE_NULL ? NAN : sqlite3_column_double(q, at);
}

void tk_point_read(sqlite3_stmt *q, int64_t series_id, struct tk_point *p)
{
	p->series_id = series_id;
	p->as_of_s = sqlite3_column_int64(q, 0);
	p->run_id = sqlite3_column_int64(q, 1);
	p->night_id = sqlite3_column_int64(q, 2);
	p->build_id = sqlite3_column_int64(q, 3);
	p->environment_id = sqlite3_column_int64(q, 4);
	p->value = sqlite3_column_double(q, 5);
	p->lo = number_or_nan(q, 6);
	p->hi = number_or_nan(q, 7);
	p->min = p->q25 = p->q75 = p->p95 = NAN;
	p->n = sqlite3_column_int64(q, 8);
	p->flags = (uint32_t)sqlite3_column_int64(q, 9);
}

void tk_points_reverse(struct tk_point *p, size_t n)
{
	for (size_t i = 0; i + 1 < n - i; i++) {
		struct tk_point keep = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = keep;
	}
}

/* Reads backwards from the newest point: one index lookup per series. */
static int read_points(struct reader *r, struct tk_history_window *w)
{
	const size_t first = r->points->out->count;
	sqlite3_stmt *q;
	int rc = SQLITE_DONE, status = tk_db_prepare_args(r->s, TK_POINTS_NEWEST_FIRST,
	                              TK_ARGS(w->series_id, r->query->until_s), &q, r->err);

	if (status)
		return status;
	while (!status && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		bool within = sqlite3_column_int64(q, 0) >= r->query->since_s;
		struct tk_point *p;

		if (!within && w->before >= tk_window_before_max(r->query, w->within))
			break;
		p = tk_rows_add(r->points);
		if (!p) {
			status = no_memory(r->err);
			break;
		}
		tk_point_read(q, w->series_id, p);
		w->within += within;
		w->before += !within;
	}
	if (!status && rc != SQLITE_DONE && rc != SQLITE_ROW)
		status = tk_db_fail(r->s, rc, r->err, "cannot read the points of a series");
	sqlite3_reset(q);
	tk_points_reverse((struct tk_point *)r->points->out->rows + first, w->before + w->within);
	return status;
}

/* Borrows the points where all of them are positive. */
static void borrow(const struct tk_point_span *span, struct tk_history_window *w)
{
	w->before = span->before;
	w->within = span->within;
	if (!span->all_positive)
		return;
	w->points = span->at;
	w->logs = span->logs;
	w->is_borrowed = true;
}

static int add_points(struct reader *r, struct tk_history_window *w)
{
	struct tk_point_span span = {0};
	int status = r->query->reader
	                     ? tk_point_reader_find(r->s, r->query, w->series_id, &span, r->err)
	                     : TK_OK;

	if (status || !span.is_known)
		return status ? status : read_points(r, w);
	borrow(&span, w);
	for (size_t i = 0; !w->is_borrowed && i < span.before + span.within; i++) {
		struct tk_point *p = tk_rows_add(r->points);

		if (!p)
			return no_memory(r->err);
		*p = span.at[i];
	}
	return TK_OK;
}

static int read_mark(struct tk_store *s, const char *sql, const struct tk_arg *args,
        struct tk_rows_builder *windows, struct tk_run_summary *mark, struct tk_error *err)
{
	sqlite3_stmt *q;
	int rc, status = TK_OK;

	TRY(tk_db_prepare_args(s, sql, args, &q, err));
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW) {
		mark->run_id = sqlite3_column_int64(q, 0);
		mark->as_of_s = sqlite3_column_int64(q, 1);
		mark->night_id = sqlite3_column_int64(q, 2);
		mark->build_id = sqlite3_column_int64(q, 3);
		mark->environment_id = sqlite3_column_int64(q, 4);
		if (tk_outcome_parse((const char *)sqlite3_column_text(q, 5), &mark->outcome))
			mark->outcome = TK_OUTCOME_COUNT;
		mark->message = tk_rows_add_text(windows, (const char *)sqlite3_column_text(q, 6),
		        (size_t)sqlite3_column_bytes(q, 6));
		if (!mark->message)
			status = no_memory(err);
	} else if (rc != SQLITE_DONE) {
		status = tk_db_fail(s, rc, err, "cannot read the runs of a series");
	}
	sqlite3_reset(q);
	return status;
}

static int mark_of_run(struct reader *r, int64_t run_id, struct tk_run_summary *mark)
{
	struct tk_run_summary *known = &r->marks[(uint64_t)run_id % MARKS];
	int status = 0;

	if (known->run_id != run_id)
		status = read_mark(r->s, MARK_OF_RUN, TK_ARGS(run_id), r->windows, known, r->err);
	if (!status)
		*mark = *known;
	return status;
}

/* run_id: run of the point, used if the series has no run; 0: none. */
static int add_mark(struct reader *r, const char *sql, const struct tk_arg *args, int64_t run_id,
        struct tk_run_summary *mark)
{
	int status = r->runs_have_series ? read_mark(r->s, sql, args, r->windows, mark, r->err) : 0;

	return !status && !mark->run_id && run_id ? mark_of_run(r, run_id, mark) : status;
}

/* The runs of the points in the ranges where the marks are searched. */
struct point_runs {
	int64_t last_before, first_within, last_within;
};

static const struct tk_point *points_of(const struct reader *r, const struct tk_history_window *w)
{
	const struct tk_rows *points = r->points->out;

	return w->is_borrowed ? w->points
	                      : (const struct tk_point *)points->rows + points->count - w->before -
	                                w->within;
}

static struct point_runs runs_of_points(const struct reader *r, const struct tk_history_window *w)
{
	const struct tk_point *p = points_of(r, w);
	struct point_runs runs = {0};
	size_t i = w->before + w->within;

	if (i && p[i - 1].as_of_s >= r->query->runs_s)
		runs.last_within = p[i - 1].run_id;
	for (; i && p[i - 1].as_of_s >= r->query->runs_s; i--)
		runs.first_within = p[i - 1].run_id;
	if (i)
		runs.last_before = p[i - 1].run_id;
	return runs;
}

static int read_marks(struct reader *r, const struct point_runs *runs, struct tk_history_window *w)
{
	const struct tk_arg *args = TK_ARGS(w->series_id, r->query->runs_s, r->query->until_s);
	int status = add_mark(r, LAST_BEFORE, TK_ARGS(w->series_id, r->query->runs_s),
	        runs->last_before, &w->last_before);

	if (!status && !w->last_before.run_id)
		status = add_mark(r, FIRST_WITHIN, args, runs->first_within, &w->first_within);
	return status ? status : add_mark(r, LAST_WITHIN, args, runs->last_within, &w->last_within);
}

/* *runs: of a window that has borrowed its points. */
static int read_window(struct reader *r, struct point_runs *runs, struct tk_history_window *w)
{
	w->last_before = w->first_within = w->last_within =
	        (struct tk_run_summary){.outcome = TK_OUTCOME_COUNT, .message = ""};
	if (!w->is_borrowed) {
		const int status = add_points(r, w);

		if (status)
			return status;
		*runs = runs_of_points(r, w);
	}
	return read_marks(r, runs, w);
}

/* ---- windows that borrow points, found by several threads ---- */

struct search {
	const struct reader *r;
	struct tk_store_readers *connections;
	struct tk_history_window *windows;
	struct point_runs *runs; /* of each window */
	struct tk_parallel_failure failure;
};

/* Without a connection, points that have not been read are left to add_points(). */
static int find_window(struct search *f, size_t i, struct tk_store **own, struct tk_error *err)
{
	struct tk_history_window *w = &f->windows[i];
	const bool is_read = tk_point_reader_has(f->r->query, w->series_id);
	struct tk_point_span span;
	int status;

	if (!is_read && !*own)
		*own = tk_store_readers_take(f->connections);
	if (!is_read && !*own)
		return TK_OK;
	status = tk_point_reader_find(*own, f->r->query, w->series_id, &span, err);
	if (!status && span.is_known && span.all_positive) {
		borrow(&span, w);
		f->runs[i] = runs_of_points(f->r, w);
	}
	return status;
}

static void find_part(void *arg, int64_t first, int64_t count)
{
	struct search *f = arg;
	struct tk_store *own = NULL;
	struct tk_error err = {0};
	int status = TK_OK;

	for (int64_t i = first; !status && i < first + count; i++)
		status = find_window(f, (size_t)i, &own, &err);
	tk_parallel_set_failure(&f->failure, status, &err);
	tk_store_readers_give(f->connections, own);
}

/* runs: room for those of each window. */
static int find_windows(struct reader *r, struct point_runs *runs)
{
	const struct tk_rows *windows = r->windows->out;
	struct search f = {.r = r, .windows = windows->rows, .runs = runs};
	int status = TK_OK;

	if (windows->count < 2 * WINDOWS_PER_PART)
		return TK_OK;
	f.connections = tk_point_reader_connections(r->query->reader, r->s);
	if (!f.connections)
		return no_memory(r->err);
	for (size_t i = 0; !status && i < windows->count; i++)
		status = tk_point_reader_add(r->query->reader, f.windows[i].series_id, r->err);
	if (status)
		return status;
	tk_parallel_for((int64_t)windows->count, WINDOWS_PER_PART, find_part, &f);
	return tk_parallel_get_failure(&f.failure, r->err);
}

static int add_windows(struct tk_store *s, struct tk_rows *windows, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct tk_history_window, series_id)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_history_window, columns);

	return tk_store_select(s, "SELECT id AS series_id FROM series ORDER BY id", TK_NO_ARGS,
	        &type, windows, err);
}

/* The list of points moves while it grows. */
static void set_points(struct reader *r)
{
	struct tk_history_window *w = r->windows->out->rows;
	const struct tk_point *next = r->points->out->rows;
	size_t first = 0;

	for (size_t i = 0; i < r->windows->out->count; i++) {
		const size_t count = w[i].before + w[i].within;

		w[i].first = first;
		first += count;
		if (w[i].is_borrowed)
			continue;
		w[i].points = next;
		next = next ? next + count : NULL;
	}
}

static int read_windows(struct reader *r)
{
	int64_t exists = 0;
	int status = add_windows(r->s, r->windows->out, r->err);
	struct tk_history_window *w = r->windows->out->rows;
	const size_t count = r->windows->out->count;
	struct point_runs *runs = tk_calloc(count + 1, sizeof *runs);

	if (!status)
		status = tk_store_select_int(r->s, HAS_SERIES, TK_NO_ARGS, 0, &exists, r->err);
	r->runs_have_series = exists;
	if (!status && !runs)
		status = no_memory(r->err);
	if (!status && r->query->reader)
		status = find_windows(r, runs);
	for (size_t i = 0; !status && i < count; i++)
		status = read_window(r, &runs[i], &w[i]);
	if (!status)
		set_points(r);
	free(runs);
	return status;
}

int tk_store_list_windows(struct tk_store *s, const struct tk_window_query *query,
        struct tk_rows *windows, struct tk_rows *points, struct tk_error *err)
{
	struct tk_rows w = {0}, p = {0};
	struct tk_rows_builder wl = {&w, sizeof(struct tk_history_window), 0},
	                       pl = {&p, sizeof(struct tk_point), 0};
	struct reader r = {s, query, false, &wl, &pl, NULL, err};
	bool alone = s->depth == 0;
	int status;

	r.marks = tk_calloc(MARKS, sizeof *r.marks);
	if (!r.marks)
		return no_memory(err);
	/* One transaction: one state of the history, and one lock instead of thousands. */
	status = alone ? tk_store_begin_read(s, err) : 0;
	if (status) {
		free(r.marks);
		return status;
	}
	status = read_windows(&r);
	if (alone)
		tk_store_end_read(s);
	free(r.marks);
	if (status) {
		tk_rows_free(&w);
		tk_rows_free(&p);
		return status;
	}
	*windows = w;
	*points = p;
	return 0;
}

#define WITH_LOGARITHM "AND value>0 AND value<9e999 " /* the last is infinity */
#define FIRST_POINTS \
	TK_SELECT_POINTS "WHERE series_id=?1 AND as_of_s<?2 " WITH_LOGARITHM \
	                 "ORDER BY as_of_s, run_id LIMIT ?3"
#define LAST_POINTS \
	TK_SELECT_POINTS "WHERE series_id=?1 AND as_of_s<=?2 " WITH_LOGARITHM \
	                 "ORDER BY as_of_s DESC, run_id DESC LIMIT ?3 OFFSET ?4"

int tk_store_list_values(struct tk_store *s, int64_t series_id, int64_t before_s,
        struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct tk_timed_value, as_of_s), TK_MEMBER(struct tk_timed_value, value)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_timed_value, columns);

	return tk_store_select(s,
	        "SELECT as_of_s, value FROM measurement WHERE series_id=?1 AND "
	        "as_of_s<?2 " WITH_LOGARITHM "ORDER BY as_of_s, run_id",
	        TK_ARGS(series_id, before_s), &type, out, err);
}

/* args[0] is the series. */
static int read_points_of(struct tk_store *s, const char *sql, const struct tk_arg *args,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(struct tk_point), 0};
	sqlite3_stmt *q;
	int rc;

	TRY(tk_db_prepare_args(s, sql, args, &q, err));
	while ((rc = sqlite3_step(q)) == SQLITE_ROW)
		tk_point_read(q, args[0].i, tk_rows_add(&list));
	sqlite3_reset(q);
	if (rc != SQLITE_DONE) {
		tk_rows_free(&rows);
		return tk_db_fail(s, rc, err, "cannot read the points of a series");
	}
	*out = rows;
	return 0;
}

int tk_store_list_first_points(struct tk_store *s, int64_t series_id, int64_t before_s, size_t most,
        struct tk_rows *out, struct tk_error *err)
{
	return read_points_of(s, FIRST_POINTS, TK_ARGS(series_id, before_s, most), out, err);
}

int tk_store_list_last_points(struct tk_store *s, int64_t series_id, int64_t until_s, size_t skip,
        size_t most, struct tk_rows *out, struct tk_error *err)
{
	TRY(read_points_of(s, LAST_POINTS, TK_ARGS(series_id, until_s, most, skip), out, err));
	tk_points_reverse(out->rows, out->count);
	return 0;
}

/* One look into the index for each series: grouping would read them all. */
int tk_store_list_newest_points(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct tk_newest_point, series_id),
	        TK_MEMBER(struct tk_newest_point, as_of_s),
	        TK_MEMBER(struct tk_newest_point, night_id)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_newest_point, columns);

	return tk_store_select(s,
	        "SELECT m.series_id, m.as_of_s, m.night_id FROM series s CROSS JOIN measurement m"
	        " ON m.series_id=s.id AND (m.as_of_s, m.run_id)=(SELECT as_of_s, run_id"
	        " FROM measurement WHERE series_id=s.id ORDER BY as_of_s DESC, run_id DESC LIMIT 1)"
	        " ORDER BY s.id",
	        TK_NO_ARGS, &type, out, err);
}

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
