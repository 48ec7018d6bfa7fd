/* Keeping a history healthy: check, copy, shrink. */
#include "store/db/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- check ----------------------------------------------------------------------------------- */

#define PROBLEMS_MAX 1000

static int check_references(struct tk_store *s, struct tk_rows_builder *list, struct tk_error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc, status = tk_db_prepare(s,
	                "SELECT \"table\", count(*), parent FROM pragma_foreign_key_check GROUP BY "
	                "1, 3",
	                &stmt, err);

	if (status)
		return status;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !status)
		status = tk_db_add_problem(list, err, "%lld rows of %s refer to no row of %s",
		        (long long)sqlite3_column_int64(stmt, 1), sqlite3_column_text(stmt, 0),
		        sqlite3_column_text(stmt, 2));
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot check the references");
	sqlite3_finalize(stmt);
	return status;
}

static int check_uids(struct tk_store *s, enum tk_table_id table, struct tk_rows_builder *list,
        struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	struct tk_rows rows = {0};
	int status;

	/* The night that found an alert may have given it its uid. */
	if (!t->has_uid || !t->has_id)
		return 0;
	status = tk_rows_select(s, table, "ORDER BY id", NULL, 0, &rows, err);
	for (size_t i = 0; !status && i < rows.count && list->out->count < PROBLEMS_MAX; i++) {
		const char *row = (const char *)rows.rows + i * t->row_size;
		const char *uid = *(const char *const *)(row + t->columns[0].offset);
		char expected[TK_UID_SIZE];
		struct tk_error why;

		if (tk_row_compute_uid(s, table, row, expected, &why))
			status = tk_db_add_problem(
			        list, err, "%s %s: %s", t->name, uid, why.message);
		else if (strcmp(uid, expected))
			status = tk_db_add_problem(list, err,
			        "%s %s: its content says %s: it was changed by hand", t->name, uid,
			        expected);
	}
	tk_rows_free(&rows);
	return status;
}

int tk_store_check(struct tk_store *s, struct tk_rows *problems, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(const char *), 0};
	struct tk_error why = {0};
	int status = tk_db_check_pages(s, &list, &why);

	/* The content of damaged pages is not worth reading. */
	if (!status && !s->is_damaged)
		status = check_references(s, &list, &why);
	for (int t = 0;
	        t < TK_TABLE_COUNT && !status && !s->is_damaged && rows.count < PROBLEMS_MAX; t++)
		status = check_uids(s, (enum tk_table_id)t, &list, &why);
	if (!status && !s->is_damaged)
		status = tk_checksum_list_changed(s, &list, PROBLEMS_MAX, &why);
	if (status == TK_EDATA) /* damage that only reading reveals is a result, not an error */
		status = tk_db_add_problem(&list, err, "%s", why.message);
	else if (status)
		tk_fail(err, status, "%s", why.message);
	if (status) {
		tk_rows_free(&rows);
		return status;
	}
	*problems = rows;
	return 0;
}

/* ---- copy ------------------------------------------------------------------------------------ */

static int copy_pages(struct tk_store *s, const char *to, struct tk_error *err)
{
	sqlite3 *db = NULL;
	sqlite3_backup *backup = NULL;
	int status = 0,
	    rc = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc == SQLITE_OK)
		backup = sqlite3_backup_init(db, "main", s->db, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		rc = sqlite3_backup_finish(backup);
	} else if (rc == SQLITE_OK) {
		rc = sqlite3_errcode(db);
	}
	if (rc != SQLITE_OK) {
		struct tk_store other = {.db = db, .path = (char *)to};

		status = tk_db_fail(&other, rc, err, "cannot write the backup");
	}
	sqlite3_close(db);
	return status;
}

int tk_db_copy_file(struct tk_store *s, const char *to, struct tk_error *err)
{
	char *temporary = NULL;
	int status;

	if (asprintf(&temporary, "%s.%ld.part", to, (long)getpid()) < 0)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	unlink(temporary);
	status = copy_pages(s, temporary, err);
	if (!status && rename(temporary, to) != 0)
		status = tk_fail_errno(err, "cannot rename %s to %s", temporary, to);
	if (status)
		unlink(temporary);
	free(temporary);
	return status;
}

int tk_store_backup(struct tk_store *s, const char *to, struct tk_error *err)
{
	struct stat here, there;

	if (stat(s->path, &here) == 0 && stat(to, &there) == 0) {
		if (here.st_dev == there.st_dev && here.st_ino == there.st_ino)
			return tk_fail(err, TK_EUSAGE, "%s: is the history itself", to);
		if (!S_ISREG(there.st_mode))
			return tk_fail(err, TK_EUSAGE, "%s: is not a file", to);
	}
	return tk_db_copy_file(s, to, err);
}

/* ---- shrink ---------------------------------------------------------------------------------- */

int tk_store_drop_samples(struct tk_store *s, int64_t before_s, struct tk_error *err)
{
	int status = tk_db_check_writable(s, err);

	if (!status)
		status = tk_db_run_cached(s,
		        "DELETE FROM sample WHERE run_id IN (SELECT id FROM run WHERE "
		        "started_s<?1)",
		        &before_s, 1, err);
	return status;
}

int tk_store_vacuum(struct tk_store *s, int64_t drop_samples_before_s, struct tk_error *err)
{
	int status = tk_store_drop_samples(s, drop_samples_before_s, err);

	if (!status)
		status = tk_db_exec(s, "VACUUM", err);
	if (!status)
		status = tk_db_exec(s, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	if (!status)
		status = tk_db_exec(s, "PRAGMA optimize", err);
	return status;
}
