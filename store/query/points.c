/* The points of one series. Pages read millions: a row that SQLite hands out costs as much as
 * finding it, a call of a function with its values half of that. So an aggregate collects them. The
 * primary key is the only way to them, so that they come in its order. */
#include "store/db/internal.h"
#include "store/store.h"
#include <math.h>

#define SHORT_COUNT 9 /* columns of TK_POINT_SHORT */

static double real_of(sqlite3_value *v)
{
	double real = sqlite3_value_double(v);

	return real == 0 && sqlite3_value_type(v) == SQLITE_NULL ? NAN : real;
}

static void collect_point(sqlite3_context *context, int count, sqlite3_value **v)
{
	const struct tk_point_collector *c = sqlite3_user_data(context);
	struct tk_point *p = tk_rows_add(c->points);

	p->series_id = c->series_id;
	p->as_of_s = sqlite3_value_int64(v[0]);
	p->value = sqlite3_value_double(v[1]);
	p->lo = real_of(v[2]);
	p->hi = real_of(v[3]);
	p->p95 = real_of(v[4]);
	p->night_id = sqlite3_value_int64(v[5]);
	p->build_id = sqlite3_value_int64(v[6]);
	p->environment_id = sqlite3_value_int64(v[7]);
	p->flags = (uint32_t)sqlite3_value_int64(v[8]);
	const bool is_whole = count > SHORT_COUNT;

	p->run_id = is_whole ? sqlite3_value_int64(v[9]) : 0;
	p->n = is_whole ? sqlite3_value_int64(v[10]) : 0;
	p->min = is_whole ? real_of(v[11]) : NAN;
	p->q25 = is_whole ? real_of(v[12]) : NAN;
	p->q75 = is_whole ? real_of(v[13]) : NAN;
}

static void end_points(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

/* args: the series first. */
static int collect(struct tk_store *s, const char *sql, const struct tk_arg *args,
        struct tk_rows_builder *points, struct tk_error *err)
{
	sqlite3_stmt *stmt;

	if (!s->collector.is_known) {
		int code = sqlite3_create_function_v2(s->db, "tk_collect_point", -1,
		        SQLITE_UTF8 | SQLITE_DIRECTONLY, &s->collector, NULL, collect_point,
		        end_points, NULL);

		if (code != SQLITE_OK)
			return tk_db_fail(s, code, err, "cannot read points");
		s->collector.is_known = true;
	}
	TRY(tk_db_prepare_args(s, sql, args, &stmt, err));
	s->collector.points = points;
	s->collector.series_id = args[0].i;
	int code = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return code == SQLITE_ROW ? 0 : tk_db_fail(s, code, err, "cannot read measurement");
}

void tk_points_reverse(struct tk_rows *points)
{
	struct tk_point *p = points->rows;

	for (size_t i = 0, n = points->count; i + 1 < n - i; i++) {
		struct tk_point keep = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = keep;
	}
}

int tk_points_read(struct tk_store *s, const char *sql, const struct tk_arg *args,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(struct tk_point), 0};
	int status = collect(s, sql, args, &list, err);

	if (status)
		tk_rows_free(&rows);
	*out = rows;
	return status;
}

int tk_store_list_points(struct tk_store *s, int64_t series_id, int64_t from_s, size_t last,
        struct tk_rows *out, struct tk_error *err)
{
	if (!last)
		return tk_points_read(s, TK_POINTS(">=?2"), TK_ARGS(series_id, from_s), out, err);
	TRY(tk_points_read(s, TK_POINTS(">=?2 ORDER BY as_of_s DESC, run_id DESC LIMIT ?3"),
	        TK_ARGS(series_id, from_s, last), out, err));
	tk_points_reverse(out);
	return 0;
}

int tk_store_list_all_points(struct tk_store *s, int64_t series_id, int64_t whole_from_s,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(struct tk_point), 0};
	const struct tk_arg *args = TK_ARGS(series_id, whole_from_s);
	int status = collect(s,
	        "SELECT tk_collect_point(" TK_POINT_SHORT ") FROM measurement"
	        " WHERE series_id=?1 AND as_of_s<?2",
	        args, &list, err);

	if (!status)
		status = collect(s, TK_POINTS(">=?2"), args, &list, err);
	if (status)
		tk_rows_free(&rows);
	*out = rows;
	return status;
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
	return tk_points_read(s,
	        TK_POINTS("<?2 " WITH_LOGARITHM "ORDER BY as_of_s, run_id LIMIT ?3"),
	        TK_ARGS(series_id, before_s, most), out, err);
}

int tk_store_list_last_points(struct tk_store *s, int64_t series_id, int64_t until_s, size_t skip,
        size_t most, struct tk_rows *out, struct tk_error *err)
{
	TRY(tk_points_read(s,
	        TK_POINTS("<=?2 " WITH_LOGARITHM
	                  "ORDER BY as_of_s DESC, run_id DESC LIMIT ?3 OFFSET ?4"),
	        TK_ARGS(series_id, until_s, most, skip), out, err));
	tk_points_reverse(out);
	return 0;
}
