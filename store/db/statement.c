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

/* Selects all columns of a table; long texts are left out. */
static int make_select(enum tk_table_id id, const char *tail, struct tk_buf *sql)
{
	const struct tk_db_table *t = &tk_tables[id];

	tk_buf_add_str(sql, "SELECT ");
	if (t->has_id)
		tk_buf_add_printf(sql, "%s.id", t->name);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		const char *separator = i || t->has_id ? "," : "";

		if (c->kind == TK_COL_CHECKSUM)
			continue;
		if (c->flags & TK_COL_LONG)
			tk_buf_add_printf(sql, "%s''", separator);
		else
			tk_buf_add_printf(sql, "%s%s.%s", separator, t->name, c->name);
	}
	tk_buf_add_printf(sql, " FROM %s %s", t->name, tail);
	return tk_buf_status(sql, NULL);
}

static int prepare_query(struct tk_store *s, enum tk_table_id table, const char *tail,
        struct tk_cached_query **out, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int status = 0;

	if (s->query_count == s->query_cap) {
		size_t cap = s->query_cap ? s->query_cap * 2 : 32;
		struct tk_cached_query *queries = tk_realloc(s->queries, cap * sizeof(*queries));

		s->queries = queries;
		s->query_cap = cap;
	}
	if (table != TK_TABLE_COUNT && make_select(table, tail, &sql))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = tk_db_prepare(s, table == TK_TABLE_COUNT ? tail : sql.data, &stmt, err);
	if (!status) {
		s->queries[s->query_count] =
		        (struct tk_cached_query){table, tk_strdup(tail), stmt};
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
		TRY(prepare_query(s, table, tail, &q, err));
	}
	for (int i = 0; i < arg_count; i++) {
		int code = sqlite3_bind_int64(q->stmt, i + 1, args[i]);

		if (code != SQLITE_OK)
			return tk_db_fail(s, code, err, "cannot bind the parameters of a query");
	}
	*out = q->stmt;
	return 0;
}

int tk_db_read_cached(struct tk_store *s, const char *sql, const int64_t *args, int arg_count,
        const char *what, int64_t *out, struct tk_error *err)
{
	sqlite3_stmt *q;
	int status = tk_db_prepare_cached(s, TK_TABLE_COUNT, sql, args, arg_count, &q, err), rc;

	if (status)
		return status;
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW) {
		*out = sqlite3_column_int64(q, 0);
	} else if (rc != SQLITE_DONE) {
		status = tk_db_fail(s, rc, err, "cannot read %s", what);
	}
	sqlite3_reset(q);
	return status;
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
		free(s->queries[i].tail);
	}
	s->query_count = 0;
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (int v = 0; v < TK_STATEMENT_COUNT; v++) {
			sqlite3_finalize(s->table_statements[t][v]);
			s->table_statements[t][v] = NULL;
		}
}

int tk_db_select_ints(struct tk_store *s, const char *sql, const int64_t *args, int arg_count,
        int64_t *out, int out_count, bool *found, struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_cached(s, TK_TABLE_COUNT, sql, args, arg_count, &stmt, err);

	if (status)
		return status;
	int code = sqlite3_step(stmt);

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot read the history");
	for (int i = 0; code == SQLITE_ROW && i < out_count; i++)
		out[i] = sqlite3_column_int64(stmt, i);
	*found = code == SQLITE_ROW;
	sqlite3_reset(stmt);
	return status;
}
