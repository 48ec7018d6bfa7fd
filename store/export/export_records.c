/* Nights as records (record.h), for other programs and for `tracker import` elsewhere. */
#include "store/export/export_internal.h"

void tk_record_add_columns(
        struct tk_buf *sql, enum tk_table_id table, const char *alias, const char **lead)
{
	const struct tk_db_table *t = &tk_tables[table];

	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i])) {
			tk_buf_add_str(sql, *lead);
			tk_export_add_column_sql(sql, &t->columns[i], alias);
			*lead = ",";
		}
}

json_t *tk_record_read_group(sqlite3_stmt *stmt, enum tk_table_id table, int *column, int *status)
{
	const struct tk_db_table *t = &tk_tables[table];
	bool is_null = sqlite3_column_type(stmt, *column) == SQLITE_NULL;
	json_t *object = is_null ? json_null() : json_object();

	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i])) {
			if (!is_null)
				tk_export_set(object, t->columns[i].name,
				        tk_export_column(stmt, *column, status), status);
			++*column;
		}
	return object;
}

/* ---- queries --------------------------------------------------------------------------------- */

#define JOINS \
	" LEFT JOIN build ON build.id=run.build_id" \
	" LEFT JOIN revision ON revision.id=build.revision_id" \
	" LEFT JOIN upstream ON upstream.id=revision.upstream_id" \
	" LEFT JOIN environment ON environment.id=run.environment_id" \
	" LEFT JOIN device ON device.id=series.device_id" \
	" LEFT JOIN problem ON problem.id=series.problem_id" \
	" LEFT JOIN sample ON sample.run_id=run.id AND sample.series_id=series.id"
#define IS_SELECTED " WHERE night.as_of_s>=?1 AND (?2=0 OR night.id=?2)"

/* Every run of one series, with or without a point, and nights without runs. */
#define OWN_POINTS \
	" FROM night JOIN machine ON machine.id=night.machine_id" \
	" LEFT JOIN run ON run.night_id=night.id AND run.series_id IS NOT NULL" \
	" LEFT JOIN series ON series.id=run.series_id" \
	" LEFT JOIN measurement ON measurement.series_id=run.series_id" \
	" AND measurement.as_of_s=run.as_of_s AND measurement.run_id=run.id" JOINS IS_SELECTED \
	" AND (run.id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM run r WHERE r.night_id=night.id))" \
	" ORDER BY night.as_of_s, night.id, run.seq, run.id"
/* The points of other series than that of their run. */
#define OTHER_POINTS \
	" FROM measurement JOIN run ON run.id=measurement.run_id" \
	" AND run.series_id IS NOT measurement.series_id" \
	" JOIN night ON night.id=run.night_id JOIN machine ON machine.id=night.machine_id" \
	" JOIN series ON series.id=measurement.series_id" JOINS IS_SELECTED

static void make_record_sql(struct tk_buf *sql, const char *source)
{
	const char *lead = "SELECT ";

	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++)
		tk_record_add_columns(
		        sql, tk_record_groups[g], tk_tables[tk_record_groups[g]].name, &lead);
	tk_buf_add_printf(sql,
	        ",(SELECT o.uid FROM series o WHERE o.id=run.series_id),sample.data,night.id,"
	        "build.id,device.id,problem.id%s",
	        source);
}

static int write_record(struct tk_record_export *x, sqlite3_stmt *stmt, struct tk_error *err)
{
	json_t *record = json_object();
	int column = 0, status = 0;

	tk_export_set(record, TK_RECORD_FORMAT, json_integer(TK_RECORD_FORMAT_VERSION), &status);
	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++)
		tk_export_set(record, tk_tables[tk_record_groups[g]].name,
		        tk_record_read_group(stmt, tk_record_groups[g], &column, &status), &status);
	tk_export_set(
	        record, TK_RECORD_RUN_SERIES, tk_export_column(stmt, column, &status), &status);
	tk_export_set(
	        record, TK_RECORD_SAMPLES, tk_export_column(stmt, column + 1, &status), &status);
	const struct tk_record_owners owners = {sqlite3_column_int64(stmt, column + 2),
	        sqlite3_column_int64(stmt, column + 3), sqlite3_column_int64(stmt, column + 4),
	        sqlite3_column_int64(stmt, column + 5)};
	if (status)
		tk_export_fail(status, "a run", err);
	else
		status = tk_record_add_details(x, &owners, record, err);
	if (!status)
		status = tk_record_write(&x->writer, record, err);
	json_decref(record);
	return status;
}

static int write_source(struct tk_record_export *x, const char *source, int64_t since_s,
        int64_t night_id, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	sqlite3_stmt *stmt = NULL;

	make_record_sql(&sql, source);
	int status = tk_buf_status(&sql, err), code = SQLITE_DONE;

	if (!status)
		status = tk_db_prepare(x->store, sql.data, &stmt, err);
	if (!status) {
		sqlite3_bind_int64(stmt, 1, since_s);
		sqlite3_bind_int64(stmt, 2, night_id);
	}
	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		status = write_record(x, stmt, err);
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(x->store, code, err, "cannot read the runs");
	sqlite3_finalize(stmt);
	tk_buf_free(&sql);
	return status;
}

int tk_store_export_records(struct tk_store *s, int64_t since_s, int64_t night_id,
        enum tk_record_format format, int fd, struct tk_error *err)
{
	struct tk_record_export x = {.store = s, .writer = {.out.fd = fd, .format = format}};
	int status = tk_store_begin_read(s, err);

	if (status)
		return status;
	status = write_source(&x, OWN_POINTS, since_s, night_id, err);
	if (!status)
		status = write_source(&x, OTHER_POINTS, since_s, night_id, err);
	if (!status)
		status = tk_record_write_end(&x.writer, err);
	tk_store_end_read(s);
	tk_buf_free(&x.writer.out.buf);
	tk_id_map_free(&x.nights);
	tk_id_map_free(&x.builds);
	tk_id_map_free(&x.places);
	return status;
}
