/* What pages ask for of many rows at once: the builds and environments on both sides of every step,
 * and the newest points of thousands of series. */
#include "store/db/internal.h"
#include "store/db/point_columns.h"
#include <math.h>
#include <string.h>

#define STEPS \
	"SELECT c.series_id, c.as_of_s, c.run_id, a.build_id, b.build_id, a.environment_id, " \
	"b.environment_id " \
	"FROM change_point c LEFT JOIN run a ON a.id=c.run_id LEFT JOIN run b ON " \
	"b.id=c.previous_run_id " \
	"ORDER BY c.series_id, c.as_of_s, c.run_id"

int tk_store_list_change_point_builds(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(struct tk_change_point_builds_row), 0};
	sqlite3_stmt *q;
	int rc, status = tk_db_prepare_cached(s, TK_TABLE_COUNT, STEPS, NULL, 0, &q, err);

	if (status)
		return status;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct tk_change_point_builds_row *row = tk_rows_add(&list);

		if (!row) {
			status = tk_fail(err, TK_ENOMEM, "out of memory while reading the steps");
			break;
		}
		*row = (struct tk_change_point_builds_row){.series_id = sqlite3_column_int64(q, 0),
		        .as_of_s = sqlite3_column_int64(q, 1),
		        .run_id = sqlite3_column_int64(q, 2),
		        .build_id = sqlite3_column_int64(q, 3),
		        .previous_build_id = sqlite3_column_int64(q, 4),
		        .environment_id = sqlite3_column_int64(q, 5),
		        .previous_environment_id = sqlite3_column_int64(q, 6)};
	}
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot read the steps");
	sqlite3_reset(q);
	if (status)
		tk_rows_free(&rows);
	else
		*out = rows;
	return status;
}

static double number_or_nan(sqlite3_stmt *q, int at)
{
	double v = sqlite3_column_double(q, at);

	return v == 0 && sqlite3_column_type(q, at) == SQLITE_NULL ? NAN : v;
}

#define READ_COLUMN(name, kind, flags, parent) out->name = READ_##kind(q, at++);
#define READ_REF sqlite3_column_int64
#define READ_INT sqlite3_column_int64
#define READ_U32 (uint32_t) sqlite3_column_int64
#define READ_REAL number_or_nan

static void read_point(sqlite3_stmt *q, struct tk_point *out)
{
	int at = 0;

	TK_POINT_COLUMNS(READ_COLUMN, READ_COLUMN)
}

#define NEWEST \
	"SELECT " TK_POINT_COLUMN_NAMES " FROM measurement " \
	"WHERE series_id=?1 ORDER BY as_of_s DESC, run_id DESC LIMIT ?2"

int tk_store_read_newest_points(struct tk_store *s, int64_t series_id, struct tk_point *out,
        size_t want, size_t *count, struct tk_error *err)
{
	const int64_t args[] = {series_id, (int64_t)want};
	sqlite3_stmt *q;
	size_t n = 0;
	int rc = SQLITE_DONE,
	    status = tk_db_prepare_cached(s, TK_TABLE_COUNT, NEWEST, args, 2, &q, err);

	if (status)
		return status;
	while (n < want && (rc = sqlite3_step(q)) == SQLITE_ROW)
		read_point(q, &out[want - ++n]); /* from the end, so that the oldest is the first */
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		status = tk_db_fail(s, rc, err, "cannot read the newest points of a series");
	sqlite3_reset(q);
	memmove(out, out + (want - n), n * sizeof *out);
	*count = status ? 0 : n;
	return status;
}

int tk_store_get_first_time(struct tk_store *s, int64_t series_id, int64_t from_s, int64_t before_s,
        int64_t *as_of_s, struct tk_error *err)
{
	const int64_t args[] = {series_id, from_s, before_s};
	int64_t found = before_s;
	int status = tk_db_read_cached(s,
	        "SELECT as_of_s FROM measurement WHERE series_id=?1 AND as_of_s>=?2"
	        " AND as_of_s<?3 ORDER BY as_of_s LIMIT 1",
	        args, 3, "the times of a series", &found, err);

	if (!status)
		*as_of_s = found;
	return status;
}

int tk_store_get_verdict_version(
        struct tk_store *s, int64_t until_night_id, int64_t *times, struct tk_error *err)
{
	return tk_db_read_cached(s,
	        "SELECT coalesce(sum(version), 0) FROM verdict_version WHERE night_id<=?1",
	        &until_night_id, 1, "the versions of the verdicts", times, err);
}

/* By the ids of runs: the index by night would be all of the past. */
int tk_store_find_late_runs(struct tk_store *s, int64_t known_run_id, int64_t from_night_id,
        int64_t until_night_id, bool *late, int64_t *newest_run_id, struct tk_error *err)
{
	const int64_t args[] = {known_run_id, from_night_id, until_night_id};
	sqlite3_stmt *q;
	int rc, status = tk_db_prepare_cached(s, TK_TABLE_COUNT,
	                "SELECT EXISTS(SELECT 1 FROM run WHERE id>?1 AND +night_id BETWEEN ?2 AND "
	                "?3), "
	                "(SELECT max(id) FROM run)",
	                args, 3, &q, err);

	if (status)
		return status;
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW) {
		*late = sqlite3_column_int(q, 0) != 0;
		*newest_run_id = sqlite3_column_int64(q, 1);
	} else {
		status = tk_db_fail(s, rc, err, "cannot read the newest runs");
	}
	sqlite3_reset(q);
	return status;
}
