/* Statements: run once, or prepared once and kept for the life of the handle. Transactions, which
 * nest: only the outermost commits. Functions of SQL that other rooms compute. Result codes of
 * SQLite as the errors of the project. */
#include "base/process.h"
#include "store/db/internal.h"
#include <errno.h>
#include <math.h>

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

static int bind_arg(sqlite3_stmt *stmt, int at, const struct tk_arg *arg)
{
	switch (arg->kind) {
	case TK_ARG_INT:
		return sqlite3_bind_int64(stmt, at, arg->i);
	case TK_ARG_REAL:
		return sqlite3_bind_double(stmt, at, arg->real);
	case TK_ARG_TEXT:
		return sqlite3_bind_text(stmt, at, arg->text, -1, SQLITE_STATIC);
	case TK_ARG_NULL:
	case TK_ARG_END:
		break;
	}
	return sqlite3_bind_null(stmt, at);
}

/* A kept statement with this text that nobody is stepping through; NULL: there is none. Pages ask
 * for hundreds of texts, thousands of times: most are where they were. */
static sqlite3_stmt *find_kept(const struct tk_store *s, const char *sql, bool is_at_same_place)
{
	for (size_t i = 0; i < s->query_count; i++) {
		const struct tk_cached_query *q = &s->queries[i];

		if ((!is_at_same_place || q->given == sql) && !strcmp(q->sql, sql) &&
		        !sqlite3_stmt_busy(q->stmt))
			return q->stmt;
	}
	return NULL;
}

static int find_statement(
        struct tk_store *s, const char *sql, sqlite3_stmt **out, struct tk_error *err)
{
	*out = find_kept(s, sql, true);
	if (!*out)
		*out = find_kept(s, sql, false);
	if (*out)
		return 0;
	TRY(tk_db_prepare(s, sql, out, err));
	if (s->query_count == s->query_cap) {
		s->query_cap = s->query_cap ? s->query_cap * 2 : 32;
		s->queries = tk_reallocarray(s->queries, s->query_cap, sizeof(*s->queries));
	}
	s->queries[s->query_count++] = (struct tk_cached_query){tk_strdup(sql), sql, *out};
	return 0;
}

int tk_db_prepare_args(struct tk_store *s, const char *sql, const struct tk_arg *args,
        sqlite3_stmt **out, struct tk_error *err)
{
	TRY(find_statement(s, sql, out, err));
	for (int i = 0; args && args[i].kind != TK_ARG_END; i++) {
		int code = bind_arg(*out, i + 1, &args[i]);

		if (code != SQLITE_OK)
			return tk_db_fail(s, code, err, "cannot bind the parameters of a query");
	}
	return 0;
}

int tk_db_end_write(struct tk_store *s, struct tk_error *err)
{
	return s->touched_count && sqlite3_get_autocommit(s->db) ? tk_digest_seal(s, err) : 0;
}

int tk_store_run(
        struct tk_store *s, const char *sql, const struct tk_arg *args, struct tk_error *err)
{
	sqlite3_stmt *stmt;

	TRY(tk_db_prepare_args(s, sql, args, &stmt, err));
	int code = sqlite3_step(stmt),
	    status = code == SQLITE_DONE ? 0 : tk_db_fail(s, code, err, "cannot write");

	sqlite3_reset(stmt);
	return status ? status : tk_db_end_write(s, err);
}

int tk_db_prepare_table_statement(struct tk_store *s, enum tk_table_id table,
        enum tk_table_statement which,
        void (*add_sql)(struct tk_buf *sql, const struct tk_db_table *t), sqlite3_stmt **out,
        struct tk_error *err)
{
	sqlite3_stmt **kept = &s->table_statements[table][which];
	AUTO(tk_buf) sql = {0};

	if (!*kept) {
		add_sql(&sql, &tk_tables[table]);
		TRY(tk_db_prepare(s, tk_buf_cstr(&sql), kept, err));
	}
	*out = *kept;
	return 0;
}

void tk_db_finalize_statements(struct tk_store *s)
{
	for (size_t i = 0; i < s->query_count; i++) {
		sqlite3_finalize(s->queries[i].stmt);
		free(s->queries[i].sql);
	}
	s->query_count = 0;
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (int v = 0; v < TK_STATEMENT_COUNT; v++) {
			sqlite3_finalize(s->table_statements[t][v]);
			s->table_statements[t][v] = NULL;
		}
}

/* ---- transactions ---------------------------------------------------------------------------- */

int tk_db_check_writable(struct tk_store *s, struct tk_error *err)
{
	if (s->read_only)
		return tk_fail(err, TK_EIO, "%s: was opened for reading only", s->path);
	if (s->depth && s->doomed)
		return tk_fail(
		        err, s->doomed_status, "%s: the transaction has failed already", s->path);
	return 0;
}

/* Ends a transaction that could not be ended when it failed: a rollback needs memory too. */
static void end_left_over(struct tk_store *s)
{
	if (!s->depth && !s->read_depth && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int tk_store_begin(struct tk_store *s, struct tk_error *err)
{
	TRY(tk_db_check_writable(s, err));
	end_left_over(s);
	if (s->depth == 0) {
		if (tk_store_run(s, "BEGIN IMMEDIATE", TK_NO_ARGS, err))
			return tk_error_add_context(err, "cannot begin to write");
		s->doomed = false;
	}
	s->depth++;
	return 0;
}

static void undo(struct tk_store *s)
{
	s->touched_count = 0;
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int tk_store_begin_read(struct tk_store *s, struct tk_error *err)
{
	end_left_over(s);
	if (!s->depth && !s->read_depth)
		TRY(tk_store_run(s, "BEGIN", TK_NO_ARGS, err));
	s->read_depth += !s->depth;
	return 0;
}

void tk_store_end_read(struct tk_store *s)
{
	if (s->read_depth && --s->read_depth == 0)
		tk_store_run(s, "COMMIT", TK_NO_ARGS, NULL);
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
		status = tk_digest_seal(s, err);
	if (!status)
		status = tk_store_run(s, "COMMIT", TK_NO_ARGS, err);
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

int tk_store_end(struct tk_store *s, int status, struct tk_error *err)
{
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}

/* ---- any columns, and functions -------------------------------------------------------------- */

#define ARGS_MAX 12

static struct tk_arg read_value(sqlite3_value *v)
{
	struct tk_arg a = {.kind = TK_ARG_NULL, .text = "", .real = NAN};

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER:
		a.kind = TK_ARG_INT;
		a.i = sqlite3_value_int64(v);
		a.real = (double)a.i;
		break;
	case SQLITE_FLOAT:
		a.kind = TK_ARG_REAL;
		a.real = sqlite3_value_double(v);
		break;
	case SQLITE_NULL:
		break;
	default:
		a.kind = TK_ARG_TEXT;
		a.text = (const char *)sqlite3_value_text(v);
	}
	return a;
}

int tk_store_query_next(struct tk_store *s, const char *sql, const struct tk_arg *args,
        void **statement, struct tk_query_row *row, struct tk_error *err)
{
	sqlite3_stmt *q = *statement;

	if (!q)
		TRY(tk_db_prepare_args(s, sql, args, &q, err));
	*statement = q;
	if (sqlite3_column_count(q) > TK_QUERY_COLUMNS_MAX)
		return tk_fail(err, TK_EUSAGE, "a query with %d columns", sqlite3_column_count(q));
	int code = sqlite3_step(q);

	row->count = code == SQLITE_ROW ? sqlite3_column_count(q) : 0;
	for (int i = 0; i < row->count; i++) {
		row->names[i] = sqlite3_column_name(q, i);
		row->values[i] = read_value(sqlite3_column_value(q, i));
	}
	return row->count || code == SQLITE_DONE
	               ? 0
	               : tk_db_fail(s, code, err, "cannot read the history");
}

void tk_store_query_end(void *statement)
{
	sqlite3_reset(statement);
}

int tk_store_query(struct tk_store *s, const char *sql, const struct tk_arg *args,
        int (*each)(void *user, const struct tk_query_row *row, struct tk_error *err), void *user,
        struct tk_error *err)
{
	struct tk_query_row row;
	void *statement = NULL;
	int status = tk_store_query_next(s, sql, args, &statement, &row, err);

	while (!status && row.count && !(status = each(user, &row, err)))
		status = tk_store_query_next(s, sql, args, &statement, &row, err);
	tk_store_query_end(statement);
	return status;
}

static void call_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct tk_sql_function *f = sqlite3_user_data(context);
	struct tk_arg args[ARGS_MAX];

	for (int i = 0; i < count; i++)
		args[i] = read_value(values[i]);
	double number = f->number ? f->number(args) : NAN;
	char *text = f->number ? NULL : f->compute(args);

	if (isfinite(number))
		sqlite3_result_double(context, number);
	if (text)
		sqlite3_result_text(context, text, -1, free);
}

int tk_store_add_function(struct tk_store *s, const struct tk_sql_function *f, struct tk_error *err)
{
	int code = f->arg_count > ARGS_MAX
	                   ? SQLITE_MISUSE
	                   : sqlite3_create_function_v2(s->db, f->name, f->arg_count,
	                             SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)f, call_function,
	                             NULL, NULL, NULL);

	return code == SQLITE_OK
	               ? 0
	               : tk_db_fail(s, code, err, "cannot define the function %s", f->name);
}

/* ---- errors ---------------------------------------------------------------------------------- */

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
