/* Statements: run once, or prepared once and kept for the life of the handle. */
#include "base/buf.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/db/internal.h"
#include <stdlib.h>
#include <string.h>

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

/* The kept statement with this text that nobody is stepping through; else a new one. */
static int find_statement(
        struct tk_store *s, const char *sql, sqlite3_stmt **out, struct tk_error *err)
{
	for (size_t i = 0; i < s->query_count; i++)
		if (!strcmp(s->queries[i].sql, sql) && !sqlite3_stmt_busy(s->queries[i].stmt)) {
			*out = s->queries[i].stmt;
			return 0;
		}
	TRY(tk_db_prepare(s, sql, out, err));
	if (s->query_count == s->query_cap) {
		s->query_cap = s->query_cap ? s->query_cap * 2 : 32;
		s->queries = tk_reallocarray(s->queries, s->query_cap, sizeof(*s->queries));
	}
	s->queries[s->query_count++] = (struct tk_cached_query){tk_strdup(sql), *out};
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

int tk_store_run(
        struct tk_store *s, const char *sql, const struct tk_arg *args, struct tk_error *err)
{
	sqlite3_stmt *stmt;

	TRY(tk_db_prepare_args(s, sql, args, &stmt, err));
	int code = sqlite3_step(stmt),
	    status = code == SQLITE_DONE ? 0 : tk_db_fail(s, code, err, "cannot write");

	sqlite3_reset(stmt);
	return status;
}

int tk_db_prepare_table_statement(struct tk_store *s, enum tk_table_id table,
        enum tk_table_statement which,
        void (*add_sql)(struct tk_buf *sql, const struct tk_db_table *t), sqlite3_stmt **out,
        struct tk_error *err)
{
	sqlite3_stmt **kept = &s->table_statements[table][which];
	struct tk_buf sql = TK_BUF_INIT;
	int status = 0;

	if (!*kept) {
		add_sql(&sql, &tk_tables[table]);
		status = tk_buf_status(&sql, err);
		if (!status)
			status = tk_db_prepare(s, sql.data, kept, err);
		tk_buf_free(&sql);
	}
	*out = *kept;
	return status;
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
