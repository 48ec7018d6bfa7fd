/* SQLite's result codes as the errors of the project. */
#include "base/process.h"
#include "store/db/internal.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The errno of the last failed write: SQLite keeps one for the file and one for its log. */
static int errno_of(sqlite3 *db)
{
	sqlite3_file *log = NULL;
	int why = 0;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &why);
	if (!why &&
	        sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK &&
	        log && log->pMethods)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &why);
	return why ? why : sqlite3_system_errno(db);
}

/* Why the tracker's constant SQL failed, where another program changed the tables: one was dropped,
 * or a view has taken its place. Other views are not to blame. */
static bool explain_change(sqlite3 *db, char *out, size_t size)
{
	static const char sql[] = "SELECT max(type='view') FROM sqlite_schema"
	                          " WHERE name=?1 AND type IN ('table', 'view')";
	sqlite3_stmt *stmt = NULL;
	bool is_found = false;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return false;
	for (size_t i = 0; !is_found && i < TK_TABLE_COUNT; i++) {
		const char *name = tk_tables[i].name;

		sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
		bool is_missing = sqlite3_step(stmt) == SQLITE_ROW &&
		                  sqlite3_column_type(stmt, 0) == SQLITE_NULL;

		is_found = is_missing || sqlite3_column_int(stmt, 0);
		if (is_found)
			snprintf(out, size,
			        is_missing
			                ? "the table \"%s\" is missing: another program removed "
			                  "it; restore a backup (`tracker db check` lists all "
			                  "such problems)"
			                : "\"%s\" is a view, and a history has none: another "
			                  "program changed it; `tracker db check` lists all such "
			                  "problems",
			        name);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	return is_found;
}

static int status_of(sqlite3 *db, int rc)
{
	int why = db && (rc & 0xff) == SQLITE_IOERR ? errno_of(db) : 0;

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return TK_ENOSPC;
	case SQLITE_IOERR:
		return why == ENOSPC || why == EDQUOT || why == EFBIG ? TK_ENOSPC : TK_EIO;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return tk_cancel_is_requested() ? TK_ECANCELED : TK_EBUSY;
	case SQLITE_NOMEM:
		return TK_ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return TK_EDATA;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return TK_EIO;
	default:
		return TK_EINTERNAL;
	}
}

static const char *reason_of(sqlite3 *db, int rc, int status)
{
	if (status == TK_ENOSPC)
		return "no space left for the history";
	if (status == TK_EBUSY || status == TK_ECANCELED)
		return "another process is writing to it";
	if ((rc & 0xff) == SQLITE_READONLY)
		return "the file or its folder is read-only";
	if ((rc & 0xff) == SQLITE_NOTADB)
		return "not a database, or its beginning is damaged";
	if ((rc & 0xff) == SQLITE_CORRUPT)
		return "the file is damaged; `tracker db check` lists the damage and the remedy";
	return db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
}

int tk_db_fail(struct tk_store *s, int rc, struct tk_error *err, const char *fmt, ...)
{
	int status = status_of(s->db, rc);
	const char *reason = reason_of(s->db, rc, status);
	char what[256], changed[256];
	va_list ap;

	s->is_damaged = s->is_damaged || (rc & 0xff) == SQLITE_CORRUPT;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if ((rc & 0xff) == SQLITE_READONLY)
		snprintf(what, sizeof(what), "cannot be written");
	if ((rc & 0xff) == SQLITE_ERROR && s->db &&
	        explain_change(s->db, changed, sizeof(changed))) {
		reason = changed;
		status = TK_EDATA;
	}
	/* SQLite rolls back by itself after some errors; what follows must not be written alone. */
	if (s->depth && s->db && sqlite3_get_autocommit(s->db)) {
		s->doomed = true;
		s->doomed_status = status;
	}
	return tk_fail(err, status, "%s: %s: %s", s->path, what, reason);
}
