/* The points of one series. A row that SQLite hands out costs as much as finding it, a call of a
 * function with its values half of that. So a condition that is never true collects millions of
 * points. The primary key is the only way to them, so that they come in order. */
#include "store/query/points.h"
#include "base/try.h"
#include "store/db/internal.h"
#include <math.h>
#include <string.h>

#define COLLECT "SELECT 1 FROM measurement WHERE series_id=?1 AND as_of_s>=?2 AND "
#define COLUMNS \
	"series_id, as_of_s, run_id, value, lo, hi, n, min, q25, q75, p95, night_id, build_id, " \
	"environment_id, flags"
#define COLUMN_COUNT 15
#define ALL COLLECT "tk_collect(" COLUMNS ") ORDER BY as_of_s, run_id"
#define NEWEST COLLECT "tk_collect(" COLUMNS ") ORDER BY as_of_s DESC, run_id DESC LIMIT 1"
#define PAST_COLUMNS "as_of_s, value, lo, hi, p95, night_id, build_id, environment_id, flags"
#define PAST COLLECT "as_of_s<?3 AND tk_collect(" PAST_COLUMNS ")"

#define PAST_COLUMN_COUNT 9

/* Most series have no more points: their list grows once. */
#define FIRST_CAP 1024

struct tk_point_collector {
	struct tk_rows_builder list;
	int64_t series_id;
	size_t most; /* the search ends when there are so many */
};

static double real_or_nan(sqlite3_value *v)
{
	double real = sqlite3_value_double(v);

	return real == 0 && sqlite3_value_type(v) == SQLITE_NULL ? NAN : real;
}

static struct tk_point *add_point(struct tk_point_collector *g)
{
	struct tk_rows *rows = g->list.out;

	return rows->count < g->list.cap ? (struct tk_point *)rows->rows + rows->count++
	                                 : tk_rows_add(&g->list);
}

/* The collector of the query that calls the function; NULL, with the error set: it is not one of
 * this file. */
static struct tk_point *begin_point(sqlite3_context *context, struct tk_point_collector **g)
{
	*g = ((struct tk_store *)sqlite3_user_data(context))->point_collector;
	struct tk_point *p = *g ? add_point(*g) : NULL;

	if (!p)
		sqlite3_result_error_nomem(context);
	return p;
}

static void collect(sqlite3_context *context, int count, sqlite3_value **v)
{
	struct tk_point_collector *g;
	struct tk_point *p = begin_point(context, &g);

	if (!p)
		return;
	*p = (struct tk_point){.series_id = sqlite3_value_int64(v[0]),
	        .as_of_s = sqlite3_value_int64(v[1]),
	        .run_id = sqlite3_value_int64(v[2]),
	        .value = real_or_nan(v[3]),
	        .lo = real_or_nan(v[4]),
	        .hi = real_or_nan(v[5]),
	        .n = sqlite3_value_int64(v[6]),
	        .min = real_or_nan(v[7]),
	        .q25 = real_or_nan(v[8]),
	        .q75 = real_or_nan(v[9]),
	        .p95 = real_or_nan(v[10]),
	        .night_id = sqlite3_value_int64(v[11]),
	        .build_id = sqlite3_value_int64(v[12]),
	        .environment_id = sqlite3_value_int64(v[13]),
	        .flags = (uint32_t)sqlite3_value_int64(v[14])};
	if (g->list.out->count == g->most)
		sqlite3_result_int(context, 1);
}

static void collect_past(sqlite3_context *context, int count, sqlite3_value **v)
{
	struct tk_point_collector *g;
	struct tk_point *p = begin_point(context, &g);

	if (!p)
		return;
	*p = (struct tk_point){.series_id = g->series_id,
	        .as_of_s = sqlite3_value_int64(v[0]),
	        .value = sqlite3_value_double(v[1]),
	        .lo = real_or_nan(v[2]),
	        .hi = real_or_nan(v[3]),
	        .p95 = real_or_nan(v[4]),
	        .night_id = sqlite3_value_int64(v[5]),
	        .build_id = sqlite3_value_int64(v[6]),
	        .environment_id = sqlite3_value_int64(v[7]),
	        .flags = (uint32_t)sqlite3_value_int64(v[8]),
	        .min = NAN,
	        .q25 = NAN,
	        .q75 = NAN};
}

static int register_functions(struct tk_store *s, struct tk_error *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int rc = SQLITE_OK;

	if (s->has_collect_functions)
		return 0;
	rc = sqlite3_create_function_v2(
	        s->db, "tk_collect", COLUMN_COUNT, flags, s, collect, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function_v2(s->db, "tk_collect", PAST_COLUMN_COUNT, flags, s,
		        collect_past, NULL, NULL, NULL);
	s->has_collect_functions = rc == SQLITE_OK;
	return rc == SQLITE_OK ? 0 : tk_db_fail(s, rc, err, "cannot read the points of a series");
}

/* args: series, first time, further ones. */
static int list_points(struct tk_store *s, const char *sql, const struct tk_arg *args, size_t most,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_point_collector g = {{&rows, sizeof(struct tk_point), 0}, args[0].i, most};
	sqlite3_stmt *q;
	int rc, status = register_functions(s, err);

	if (!status)
		status = tk_db_prepare_args(s, sql, args, &q, err);
	if (status)
		return status;
	if (most >= FIRST_CAP)
		tk_rows_reserve(&g.list, FIRST_CAP);
	s->point_collector = &g;
	rc = sqlite3_step(q);
	s->point_collector = NULL;
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		status = tk_db_fail(s, rc, err, "cannot read the points of a series");
	sqlite3_reset(q);
	if (status)
		tk_rows_free(&rows);
	else
		*out = rows;
	return status;
}

int tk_store_list_points(struct tk_store *s, int64_t series_id, int64_t from_s, size_t last,
        struct tk_rows *out, struct tk_error *err)
{
	int status = list_points(s, last ? NEWEST : ALL, TK_ARGS(series_id, from_s),
	        last ? last : SIZE_MAX, out, err);

	if (!status && last)
		tk_points_reverse(out->rows, out->count);
	return status;
}

int tk_store_list_points_between(struct tk_store *s, int64_t series_id, int64_t from_s,
        int64_t before_s, struct tk_rows *out, struct tk_error *err)
{
	return list_points(s, PAST, TK_ARGS(series_id, from_s, before_s), SIZE_MAX, out, err);
}

int tk_store_read_newest_points(struct tk_store *s, int64_t series_id, struct tk_point *out,
        size_t want, size_t *count, struct tk_error *err)
{
	AUTO(tk_rows) points = {0};

	TRY(tk_store_list_points(s, series_id, INT64_MIN, want, &points, err));
	if (points.count)
		memcpy(out, points.rows, points.count * sizeof *out);
	*count = points.count;
	return 0;
}

/* ---- without run details: min and quantiles are NAN ------------------------------------------ */

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

#define WITH_LOGARITHM "AND value>0 AND value<9e999 " /* the last is infinity */
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

int tk_store_list_first_points(struct tk_store *s, int64_t series_id, int64_t before_s, size_t most,
        struct tk_rows *out, struct tk_error *err)
{
	return tk_store_list(s, TK_TABLE_measurement,
	        "series_id=?1 AND as_of_s<?2 " WITH_LOGARITHM "ORDER BY as_of_s, run_id LIMIT ?3",
	        TK_ARGS(series_id, before_s, most), out, err);
}

int tk_store_list_last_points(struct tk_store *s, int64_t series_id, int64_t until_s, size_t skip,
        size_t most, struct tk_rows *out, struct tk_error *err)
{
	TRY(tk_store_list(s, TK_TABLE_measurement,
	        "series_id=?1 AND as_of_s<=?2 " WITH_LOGARITHM
	        "ORDER BY as_of_s DESC, run_id DESC LIMIT ?3 OFFSET ?4",
	        TK_ARGS(series_id, until_s, most, skip), out, err));
	tk_points_reverse(out->rows, out->count);
	return 0;
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
