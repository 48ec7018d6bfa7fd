/* The handle: opening, transactions, kept statements, and SQLite's codes as the project's errors.
 */
#include "base/buf.h"
#include "store/db/internal.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BUSY_TIMEOUT_MS 10000

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
		return TK_EBUSY;
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
	if (status == TK_EBUSY)
		return "another process is writing to it";
	if ((rc & 0xff) == SQLITE_READONLY)
		return "the file or its folder is read-only";
	if ((rc & 0xff) == SQLITE_NOTADB)
		return "not a database, or its beginning is damaged";
	if ((rc & 0xff) == SQLITE_CORRUPT)
		return "the file is damaged: `tracker db check` says what, and what can be done";
	return db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
}

int tk_db_fail(struct tk_store *s, int rc, struct tk_error *err, const char *fmt, ...)
{
	int status = status_of(s->db, rc);
	const char *reason = reason_of(s->db, rc, status);
	char what[256];
	va_list ap;

	s->damaged = s->damaged || (rc & 0xff) == SQLITE_CORRUPT;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if ((rc & 0xff) == SQLITE_READONLY)
		snprintf(what, sizeof(what), "cannot be written");
	/* SQLite rolls back by itself after some errors; what follows must not be written alone. */
	if (s->depth && s->db && sqlite3_get_autocommit(s->db)) {
		s->doomed = true;
		s->doomed_status = status;
	}
	return tk_fail(err, status, "%s: %s: %s", s->path, what, reason);
}

/* ---- statements
 * ------------------------------------------------------------------------------------------ */

int tk_db_exec(struct tk_store *s, const char *sql, struct tk_error *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : tk_db_fail(s, rc, err, "%.40s", sql);
}

int tk_db_prepare(struct tk_store *s, const char *sql, sqlite3_stmt **out, struct tk_error *err)
{
	int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);

	return rc == SQLITE_OK ? 0 : tk_db_fail(s, rc, err, "cannot read the history");
}

int tk_db_get_int(struct tk_store *s, const char *sql, int64_t *out, struct tk_error *err)
{
	sqlite3_stmt *stmt = NULL;
	int status = tk_db_prepare(s, sql, &stmt, err), rc;

	if (status)
		return status;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	else
		status = tk_db_fail(s, rc, err, "cannot read the history");
	sqlite3_finalize(stmt);
	return status;
}

static int query_sql(enum tk_table_id id, const char *tail, struct tk_buf *sql)
{
	const struct tk_db_table *t = &tk_tables[id];

	tk_buf_add_str(sql, "SELECT ");
	if (t->has_id)
		tk_buf_add_printf(sql, "%s.id", t->name);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		const char *comma = i || t->has_id ? "," : "";

		if (c->flags & TK_COL_LONG)
			tk_buf_add_printf(sql, "%s''", comma);
		else
			tk_buf_add_printf(sql, "%s%s.%s", comma, t->name, c->name);
	}
	tk_buf_add_printf(sql, " FROM %s %s", t->name, tail);
	return tk_buf_status(sql, NULL);
}

static int keep_query(struct tk_store *s, enum tk_table_id table, const char *tail,
        struct tk_cached_query **out, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int status = 0;

	if (s->query_count == s->query_cap) {
		size_t cap = s->query_cap ? s->query_cap * 2 : 32;
		struct tk_cached_query *queries = realloc(s->queries, cap * sizeof(*queries));

		if (!queries)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		s->queries = queries;
		s->query_cap = cap;
	}
	if (table != TK_TABLE_COUNT && query_sql(table, tail, &sql))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = tk_db_prepare(s, table == TK_TABLE_COUNT ? tail : sql.data, &stmt, err);
	if (!status) {
		s->queries[s->query_count] = (struct tk_cached_query){table, tail, stmt};
		*out = &s->queries[s->query_count++];
	}
	tk_buf_free(&sql);
	return status;
}

int tk_db_prepare_cached(struct tk_store *s, enum tk_table_id table, const char *tail,
        const int64_t *args, int arg_count, sqlite3_stmt **out, struct tk_error *err)
{
	struct tk_cached_query *q = NULL;

	for (size_t i = 0; i < s->query_count && !q; i++)
		if (s->queries[i].table == table && !strcmp(s->queries[i].tail, tail))
			q = &s->queries[i];
	if (!q) {
		int status = keep_query(s, table, tail, &q, err);

		if (status)
			return status;
	}
	for (int i = 0; i < arg_count; i++)
		sqlite3_bind_int64(q->stmt, i + 1, args[i]);
	*out = q->stmt;
	return 0;
}

int tk_db_run_cached(struct tk_store *s, const char *sql, const int64_t *args, int arg_count,
        struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_cached(s, TK_TABLE_COUNT, sql, args, arg_count, &stmt, err), rc;

	if (status)
		return status;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot write");
	sqlite3_reset(stmt);
	return status;
}

void tk_db_finalize_statements(struct tk_store *s)
{
	for (size_t i = 0; i < s->query_count; i++)
		sqlite3_finalize(s->queries[i].stmt);
	s->query_count = 0;
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (int v = 0; v < TK_ROW_STATEMENT_COUNT; v++) {
			sqlite3_finalize(s->verbs[t][v]);
			s->verbs[t][v] = NULL;
		}
}

/* ---- opening
 * --------------------------------------------------------------------------------------------- */

static int look_at_path(const char *path, enum tk_store_mode mode, struct tk_error *err)
{
	struct stat st;

	if (stat(path, &st) == 0) {
		if (S_ISREG(st.st_mode))
			return 0;
		return tk_fail(err, TK_EDATA, "%s: is not a file", path);
	}
	if (errno != ENOENT)
		return tk_fail_errno(err, "%s", path);
	if (mode == TK_STORE_CREATE)
		return 0;
	return tk_fail(err, TK_ENOTFOUND,
	        "%s: there is no history yet (`tracker nightly` makes one)", path);
}

static int connect_plain(struct tk_store *s, enum tk_store_mode mode, struct tk_error *err)
{
	int flags = mode == TK_STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int rc = sqlite3_open_v2(s->path, &s->db,
	        flags | SQLITE_OPEN_NOMUTEX | (mode == TK_STORE_CREATE ? SQLITE_OPEN_CREATE : 0),
	        NULL);

	if (rc != SQLITE_OK)
		return tk_db_fail(s, rc, err, "cannot open");
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
	return 0;
}

/* A history on a medium where nothing can be written (no -shm file beside it) can only be read as
 * one that nobody changes. */
static int connect_immutable(struct tk_store *s, struct tk_error *err)
{
	struct tk_buf uri = TK_BUF_INIT;
	int rc, status;

	sqlite3_close(s->db);
	s->db = NULL;
	tk_buf_add_str(&uri, "file:");
	for (const unsigned char *p = (const unsigned char *)s->path; *p; p++)
		tk_buf_add_printf(
		        &uri, strchr("?#%", *p) || *p < 0x21 || *p > 0x7e ? "%%%02X" : "%c", *p);
	tk_buf_add_str(&uri, "?immutable=1");
	status = tk_buf_status(&uri, err);
	if (!status) {
		rc = sqlite3_open_v2(uri.data, &s->db,
		        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
		if (rc != SQLITE_OK)
			status = tk_db_fail(s, rc, err, "cannot open");
		else
			sqlite3_extended_result_codes(s->db, 1);
	}
	tk_buf_free(&uri);
	return status;
}

/* Whether reading fails because the folder cannot be written. A log with content would be ignored:
 * then the failure stands. */
static bool needs_immutable(struct tk_store *s)
{
	int rc = sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) & 0xff;
	struct tk_buf wal = TK_BUF_INIT;
	struct stat st;
	bool pending;

	if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY)
		return false;
	tk_buf_add_printf(&wal, "%s-wal", s->path);
	pending = tk_buf_status(&wal, NULL) || (stat(wal.data, &st) == 0 && st.st_size > 0);
	tk_buf_free(&wal);
	return !pending;
}

static int set_up(struct tk_store *s, enum tk_store_mode mode, struct tk_error *err)
{
	int64_t version;
	int status;

	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	status = tk_db_read_version(s, &version, err);
	if (!status && mode == TK_STORE_READ && version < TK_STORE_SCHEMA)
		return tk_fail(err, TK_EVERSION,
		        version ? "%s: written by an older tracker (history version %d, this one "
		                  "reads %d): "
		                  "`tracker db migrate` brings it up to date"
		                : "%s: is empty (history version %d of %d): `tracker nightly` "
		                  "fills it",
		        s->path, (int)version, TK_STORE_SCHEMA);
	/* Thousands of series are thousands of pages. A reader sees them where they are instead of
	 * copying each, as far as that counts as little memory; what lies beyond is hardly read
	 * twice, so that little of it is kept. */
	if (!status)
		status = tk_db_exec(s,
		        s->read_only ? "PRAGMA cache_size=-4096; PRAGMA mmap_size=134217728; "
		                       "PRAGMA temp_store=MEMORY;"
		                     : "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;",
		        err);
	if (!status && mode != TK_STORE_READ)
		status = tk_db_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", err);
	if (!status && version < TK_STORE_SCHEMA)
		status = tk_db_migrate(s, version, tk_migrations, TK_STORE_SCHEMA, err);
	if (!status)
		status = tk_db_exec(s, "PRAGMA foreign_keys=ON", err);
	return status;
}

int tk_store_open(
        const char *path, enum tk_store_mode mode, struct tk_store **out, struct tk_error *err)
{
	struct tk_store *s = calloc(1, sizeof(*s));
	int status = look_at_path(path, mode, err);

	if (!s)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	if (status)
		goto out;
	/* ":memory:" is a file name like any other. */
	if (asprintf(&s->path, "%s%s", path[0] == ':' ? "./" : "", path) < 0) {
		s->path = NULL;
		status = tk_fail(err, TK_ENOMEM, "out of memory");
		goto out;
	}
	s->read_only = mode == TK_STORE_READ;
	status = connect_plain(s, mode, err);
	if (!status && s->read_only && needs_immutable(s))
		status = connect_immutable(s, err);
	if (!status)
		status = set_up(s, mode, err);
out:
	if (status) {
		tk_store_close(s);
		return status;
	}
	*out = s;
	return 0;
}

void tk_store_close(struct tk_store *s)
{
	if (!s)
		return;
	tk_db_finalize_statements(s);
	free(s->queries);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

const char *tk_store_path(const struct tk_store *s)
{
	return s->path;
}

/* ---- transactions
 * ---------------------------------------------------------------------------------------- */

int tk_db_check_writable(struct tk_store *s, struct tk_error *err)
{
	if (s->read_only)
		return tk_fail(err, TK_EIO, "%s: was opened for reading only", s->path);
	if (s->depth && s->doomed)
		return tk_fail(
		        err, s->doomed_status, "%s: the transaction has failed already", s->path);
	return 0;
}

int tk_store_begin(struct tk_store *s, struct tk_error *err)
{
	int status = tk_db_check_writable(s, err);

	if (status)
		return status;
	if (s->depth == 0) {
		status = tk_db_run_cached(s, "BEGIN IMMEDIATE", NULL, 0, err);
		if (status)
			return tk_error_add_context(err, "cannot begin to write");
		s->doomed = false;
	}
	s->depth++;
	return 0;
}

static void undo(struct tk_store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	memset(s->seen, 0, sizeof(s->seen));
}

int tk_store_begin_read(struct tk_store *s, struct tk_error *err)
{
	int status = s->depth || s->reading ? 0 : tk_db_run_cached(s, "BEGIN", NULL, 0, err);

	if (!status && !s->depth)
		s->reading++;
	return status;
}

void tk_store_end_read(struct tk_store *s)
{
	if (s->reading && --s->reading == 0)
		tk_db_run_cached(s, "COMMIT", NULL, 0, NULL);
}

int tk_store_commit(struct tk_store *s, struct tk_error *err)
{
	int status;

	if (s->depth == 0)
		return tk_fail(err, TK_EINTERNAL, "%s: there is no transaction to commit", s->path);
	if (s->depth > 1) {
		s->depth--;
		return 0;
	}
	status = tk_db_check_writable(s, err);
	if (!status)
		status = tk_db_run_cached(s, "COMMIT", NULL, 0, err);
	s->depth = 0;
	s->doomed = false;
	if (status)
		undo(s);
	return status;
}

void tk_store_rollback(struct tk_store *s)
{
	if (s->depth == 0)
		return;
	if (--s->depth == 0) {
		undo(s);
		s->doomed = false;
	} else if (!s->doomed) {
		s->doomed = true;
		s->doomed_status = TK_ECANCELED;
	}
}

int tk_db_end_transaction(struct tk_store *s, int status, struct tk_error *err)
{
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}
