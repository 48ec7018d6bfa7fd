/* What pages ask for of many rows at once: the builds and environments on both sides of every step. */
#include "internal.h"

#define STEPS \
	"SELECT c.series_id, c.as_of_s, c.run_id, a.build_id, b.build_id, a.environment_id, b.environment_id " \
	"FROM change_point c LEFT JOIN run a ON a.id=c.run_id LEFT JOIN run b ON b.id=c.previous_run_id " \
	"ORDER BY c.series_id, c.as_of_s, c.run_id"

int tk_store_steps(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_list list = {&rows, sizeof(struct tk_step_row), 0};
	sqlite3_stmt *q;
	int rc, status = tk_db_query(s, TK_TABLE_COUNT, STEPS, NULL, 0, &q, err);

	if (status)
		return status;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		struct tk_step_row *row = tk_list_add(&list);

		if (!row) {
			status = tk_fail(err, TK_ENOMEM, "out of memory while reading the steps");
			break;
		}
		*row = (struct tk_step_row){.series_id = sqlite3_column_int64(q, 0),
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
