/* A machine gets another name. Its name is part of what identifies its rows, so the uids and slugs
 * of all of them change: the history becomes what it would be had the machine always had the new
 * name, and merges with histories that know it by that name. */
#include "base/buf.h"
#include "store/db/internal.h"
#include <stdlib.h>
#include <string.h>

static int bind_texts(sqlite3_stmt *stmt, const char *const *texts, int count)
{
	int code = SQLITE_OK;

	for (int i = 0; i < count && code == SQLITE_OK; i++)
		code = sqlite3_bind_text(stmt, i + 1, texts[i], -1, SQLITE_STATIC);
	return code;
}

static int run(struct tk_store *s, const char *sql, const char *const *texts, int count,
        struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_args(s, sql, TK_NO_ARGS, &stmt, err);

	if (status)
		return status;
	int code = bind_texts(stmt, texts, count);

	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot rename");
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return status;
}

/* ---- uids ------------------------------------------------------------------------------------ */

#define OF_DEVICES " WHERE device_id IN (SELECT id FROM device WHERE machine_id=?1)"
#define OF_SERIES \
	" WHERE series_id IN (SELECT s.id FROM series s JOIN device d ON d.id=s.device_id" \
	" WHERE d.machine_id=?1)"

/* The tables whose uids depend on the name of a machine, parents first: a uid contains the uids of
 * the rows it refers to. */
static const struct {
	enum tk_table_id table;
	const char *tail, *update;
} dependent[] = {
#define DEPENDENT(table, tail) \
	{ \
		TK_TABLE_##table, tail, "UPDATE " #table " SET uid=?1 WHERE uid=?2" \
	}
        DEPENDENT(machine, "WHERE id=?1"),
        DEPENDENT(device, "WHERE machine_id=?1"),
        DEPENDENT(environment, OF_DEVICES),
        DEPENDENT(series, OF_DEVICES),
        DEPENDENT(night, "WHERE machine_id=?1"),
        DEPENDENT(ab_pair, OF_SERIES),
        DEPENDENT(bisection, OF_SERIES),
        DEPENDENT(tuning, OF_DEVICES),
        DEPENDENT(kernel_report, OF_DEVICES),
};

static const char *uid_of(enum tk_table_id table, const void *row)
{
	return *(const char *const *)((const char *)row + tk_tables[table].columns[0].offset);
}

static int update_uids(struct tk_store *s, enum tk_table_id table, const char *tail,
        const char *update, int64_t parent_id, struct tk_error *err)
{
	struct tk_rows rows = {0};
	int status = tk_rows_select(s, table, tail, TK_ARGS(parent_id), &rows, err);

	for (size_t i = 0; i < rows.count && !status; i++) {
		const char *row = (const char *)rows.rows + i * tk_tables[table].row_size;
		char uid[TK_UID_SIZE];

		status = tk_row_compute_uid(s, table, row, uid, err);
		if (!status)
			status = run(
			        s, update, (const char *const[]){uid, uid_of(table, row)}, 2, err);
	}
	tk_rows_free(&rows);
	tk_db_forget_uids(s);
	return status;
}

/* Night by night: the runs of a whole history may not fit into memory. */
static int update_run_uids(struct tk_store *s, int64_t machine_id, struct tk_error *err)
{
	struct tk_rows nights = {0};
	int status = tk_rows_select(
	        s, TK_TABLE_night, "WHERE machine_id=?1", TK_ARGS(machine_id), &nights, err);

	for (size_t i = 0; i < nights.count && !status; i++)
		status = update_uids(s, TK_TABLE_run, "WHERE night_id=?1",
		        "UPDATE run SET uid=?1 WHERE uid=?2",
		        TK_ROWS_AT(&nights, struct tk_night_row, i)->id, err);
	tk_rows_free(&nights);
	return status;
}

/* Checksums cover the uids of what a row refers to. */
static int update_checksums(struct tk_store *s, enum tk_table_id table, const char *tail,
        int64_t machine_id, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	sqlite3_stmt *stmt = NULL;

	tk_buf_add_printf(&sql, "UPDATE %s SET checksum=", tk_tables[table].name);
	tk_checksum_add_sql(&sql, &tk_tables[table], false);
	tk_buf_add_str(&sql, tail);
	int status = tk_buf_status(&sql, err);

	if (!status)
		status = tk_db_prepare(s, sql.data, &stmt, err);
	if (!status) {
		sqlite3_bind_int64(stmt, 1, machine_id);
		int code = sqlite3_step(stmt);

		if (code != SQLITE_DONE)
			status = tk_db_fail(s, code, err, "cannot write the checksums");
	}
	sqlite3_finalize(stmt);
	tk_buf_free(&sql);
	return status;
}

/* ---- slugs ----------------------------------------------------------------------------------- */

/* `series`: with its former slug and uid. */
static int update_slug(struct tk_store *s, const struct tk_series_row *series, const char *old_name,
        const char *old_uid, struct tk_error *err)
{
	char *slug = tk_slug_rename_series(s, series, old_name, old_uid, err);
	int status;

	if (!slug)
		return err && err->status ? err->status : TK_EINTERNAL;
	status = run(s, "UPDATE series SET slug=?1 WHERE uid=?2",
	        (const char *const[]){slug, series->uid}, 2, err);
	free(slug);
	return status;
}

/* Before: the same series with their former uids, in the order of their ids. */
static int update_slugs(struct tk_store *s, int64_t machine_id, const struct tk_rows *before,
        const char *old_name, struct tk_error *err)
{
	struct tk_rows series = {0};
	int status = tk_rows_select(
	        s, TK_TABLE_series, OF_DEVICES " ORDER BY id", TK_ARGS(machine_id), &series, err);

	for (size_t i = 0; i < series.count && !status; i++)
		status = update_slug(s, TK_ROWS_AT(&series, struct tk_series_row, i), old_name,
		        TK_ROWS_AT(before, struct tk_series_row, i)->uid, err);
	tk_rows_free(&series);
	return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int find_machine(struct tk_store *s, const char *name, int64_t *id, struct tk_error *err)
{
	struct tk_rows machines;
	int status = tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, err);

	*id = 0;
	if (status)
		return status;
	for (size_t i = 0; i < machines.count; i++)
		if (strcmp(TK_ROWS_AT(&machines, struct tk_machine_row, i)->name, name) == 0)
			*id = TK_ROWS_AT(&machines, struct tk_machine_row, i)->id;
	tk_rows_free(&machines);
	return 0;
}

static int check_names(struct tk_store *s, const char *old_name, const char *new_name,
        int64_t *machine_id, struct tk_error *err)
{
	int64_t other_id;
	int status = find_machine(s, old_name, machine_id, err);

	if (!status)
		status = find_machine(s, new_name, &other_id, err);
	if (status)
		return status;
	if (!*machine_id)
		return tk_fail(err, TK_ENOTFOUND, "unknown machine \"%s\"", old_name);
	if (other_id)
		return tk_fail(err, TK_EUSAGE,
		        "the history has a machine \"%s\" already; expected a new name", new_name);
	return *new_name ? 0 : tk_fail(err, TK_EUSAGE, "the new name is empty");
}

static int rename_machine(struct tk_store *s, int64_t machine_id, const char *old_name,
        const char *new_name, struct tk_error *err)
{
	struct tk_rows series = {0};
	int status = tk_rows_select(
	        s, TK_TABLE_series, OF_DEVICES " ORDER BY id", TK_ARGS(machine_id), &series, err);

	if (!status)
		status = run(s, "UPDATE machine SET name=?1 WHERE name=?2",
		        (const char *const[]){new_name, old_name}, 2, err);
	for (size_t i = 0; i < sizeof dependent / sizeof *dependent && !status; i++)
		status = update_uids(s, dependent[i].table, dependent[i].tail, dependent[i].update,
		        machine_id, err);
	if (!status)
		status = update_run_uids(s, machine_id, err);
	if (!status)
		status = update_checksums(s, TK_TABLE_measurement,
		        OF_SERIES " OR night_id IN (SELECT id FROM night WHERE machine_id=?1)",
		        machine_id, err);
	if (!status)
		status = update_checksums(s, TK_TABLE_tuning, OF_DEVICES, machine_id, err);
	if (!status)
		status = update_checksums(s, TK_TABLE_kernel_report, OF_DEVICES, machine_id, err);
	if (!status)
		status = update_slugs(s, machine_id, &series, old_name, err);
	/* Every page that was written names the machine. */
	if (!status)
		status = tk_store_run(s,
		        "INSERT INTO verdict_version(night_id, version) SELECT id, 1 FROM night"
		        " WHERE true ON CONFLICT DO UPDATE SET version=version+1",
		        TK_NO_ARGS, err);
	tk_rows_free(&series);
	return status;
}

int tk_store_rename_machine(
        struct tk_store *s, const char *old_name, const char *new_name, struct tk_error *err)
{
	int64_t machine_id;
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = check_names(s, old_name, new_name, &machine_id, err);
	/* A row that was changed by hand must not get a checksum that says otherwise. */
	if (!status)
		status = tk_store_verify(s, err);
	if (!status)
		status = rename_machine(s, machine_id, old_name, new_name, err);
	return tk_db_end_transaction(s, status, err);
}

/* ---- alerts ---------------------------------------------------------------------------------- */

static int rename_triage(
        struct tk_store *s, const char *old_uid, const char *new_uid, struct tk_error *err)
{
	const char *const texts[] = {new_uid, old_uid};
	struct tk_rows triage = {0};
	int status = run(s, "UPDATE triage SET alert_uid=?1 WHERE alert_uid=?2", texts, 2, err);

	if (!status)
		status = run(s, "UPDATE notification SET alert_uid=?1 WHERE alert_uid=?2", texts, 2,
		        err);
	if (!status)
		status = tk_rows_select(s, TK_TABLE_triage, "", TK_NO_ARGS, &triage, err);
	for (size_t i = 0; i < triage.count && !status; i++) {
		const struct tk_triage_row *row = TK_ROWS_AT(&triage, struct tk_triage_row, i);
		char uid[TK_UID_SIZE];

		if (strcmp(row->alert_uid, new_uid) != 0)
			continue;
		status = tk_row_compute_uid(s, TK_TABLE_triage, row, uid, err);
		if (!status)
			status = run(s, "UPDATE triage SET uid=?1 WHERE uid=?2",
			        (const char *const[]){uid, row->uid}, 2, err);
	}
	tk_rows_free(&triage);
	return status;
}

int tk_store_rename_alert(struct tk_store *s, const char *old_uid, const char *new_uid,
        const char *title, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = run(s, "UPDATE alert SET uid=?1, title=?3 WHERE uid=?2",
	        (const char *const[]){new_uid, old_uid, title}, 3, err);
	if (!status)
		status = rename_triage(s, old_uid, new_uid, err);
	return tk_db_end_transaction(s, status, err);
}

int tk_store_rename_alert_group(
        struct tk_store *s, const char *old_uid, const char *new_uid, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = run(s, "UPDATE alert SET group_uid=?1 WHERE group_uid=?2",
	        (const char *const[]){new_uid, old_uid}, 2, err);
	if (!status)
		status = rename_triage(s, old_uid, new_uid, err);
	return tk_db_end_transaction(s, status, err);
}
