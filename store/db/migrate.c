/* Checks that a file is a history and which version it has, and migrates older versions. */
#include "base/hash.h"
#include "store/db/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "tkhi" in the header of the file: `file` and the tracker recognise a history by it. */
#define APPLICATION_ID 0x746b6869

int tk_db_read_version(struct tk_store *s, int64_t *version, struct tk_error *err)
{
	int64_t application, tables;
	int status = tk_db_get_int(s, "PRAGMA application_id", &application, err);

	if (!status)
		status = tk_db_get_int(s, "PRAGMA user_version", version, err);
	if (!status)
		status = tk_db_get_int(s, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (status)
		return status;
	if (application != APPLICATION_ID && (application || *version || tables))
		return tk_fail(err, TK_EDATA,
		        "%s: is an SQLite database, but not a history of tracker", s->path);
	if (application == APPLICATION_ID && (*version < 1 || tables == 0))
		return tk_fail(
		        err, TK_EDATA, "%s: is damaged: a history without a version", s->path);
	if (*version > TK_STORE_SCHEMA)
		return tk_fail(err, TK_EVERSION,
		        "%s: written by a newer tracker (history version %lld, this one knows up "
		        "to %d): update the "
		        "tracker",
		        s->path, (long long)*version, TK_STORE_SCHEMA);
	return 0;
}

static int back_up(struct tk_store *s, int64_t version, struct tk_error *err)
{
	char *to = NULL;
	struct stat st;
	int status = 0;

	for (int n = 0; !status; n++) {
		char again[16] = "";

		if (n)
			snprintf(again, sizeof(again), ".%d", n);
		if (asprintf(&to, "%s.v%lld%s.backup", s->path, (long long)version, again) < 0)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		if (stat(to, &st) != 0)
			break;
		free(to);
		to = NULL;
	}
	status = tk_db_copy_file(s, to, err);
	free(to);
	return status ? tk_error_add_context(
	                        err, "cannot back up the history before bringing it up to date")
	              : 0;
}

static int set_version(struct tk_store *s, int64_t version, struct tk_error *err)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%lld;",
	        APPLICATION_ID, (long long)version);
	return tk_db_exec(s, sql, err);
}

static int check_references(struct tk_store *s, struct tk_error *err)
{
	int64_t broken;
	int status =
	        tk_db_get_int(s, "SELECT count(*) FROM pragma_foreign_key_check", &broken, err);

	if (!status && broken)
		status = tk_fail(err, TK_EDATA, "%s: %lld rows would refer to nothing", s->path,
		        (long long)broken);
	return status;
}

/* tk_uid(table, key...) for migrations that change what identifies a row. */
static void uid_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	char hex[TK_HASH_HEX_SIZE];

	if (tk_db_hash_values(count, values, hex))
		sqlite3_result_text(context, hex, TK_UID_SIZE - 1, SQLITE_TRANSIENT);
	else
		sqlite3_result_error_nomem(context);
}

static int migrate_one(
        struct tk_store *s, const struct tk_migration *migration, int64_t to, struct tk_error *err)
{
	int64_t now;
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	/* Another process may have been faster. */
	status = tk_db_get_int(s, "PRAGMA user_version", &now, err);
	if (!status && now < to) {
		status = tk_db_exec(s, migration->sql, err);
		if (!status)
			status = check_references(s, err);
		if (!status)
			status = set_version(s, to, err);
		if (status)
			tk_error_add_context(err, "migration %s", migration->name);
	}
	return tk_db_end_transaction(s, status, err);
}

int tk_db_migrate(struct tk_store *s, int64_t from, const struct tk_migration *migrations,
        int64_t to, struct tk_error *err)
{
	int status = from > 0 ? back_up(s, from, err) : 0;

	/* Off, so that a migration may rebuild a table that others refer to; references are checked
	 * before each commit. */
	if (!status)
		status = tk_db_exec(s, "PRAGMA foreign_keys=OFF", err);
	if (!status && sqlite3_create_function_v2(s->db, "tk_uid", -1,
	                       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
	                       uid_function, NULL, NULL, NULL) != SQLITE_OK)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	/* A new history is created in one transaction: a partial one would look like that of an
	 * older tracker. */
	bool whole = !status && from == 0;

	if (whole)
		status = tk_store_begin(s, err);
	bool begun = whole && !status;

	for (int64_t v = from; v < to && !status; v++)
		status = migrate_one(s, &migrations[v], v + 1, err);
	return begun ? tk_db_end_transaction(s, status, err) : status;
}
