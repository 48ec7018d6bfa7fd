/* The whole history as JSON lines in an order that does not depend on ids: two databases with the
 * same facts give the same text. */
#include "store/export/export_internal.h"
#include "store/export/output.h"
#include <stdio.h>
#include <string.h>

/* References are selected as uids. A table without uids is ordered by its key. */
static void add_select_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *lead = " ORDER BY ";

	tk_buf_add_str(sql, "SELECT ");
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		const char *parent = tk_tables[c->parent].name;

		tk_buf_add_str(sql, i ? "," : "");
		if (c->kind != TK_COL_REF)
			tk_export_add_column_sql(sql, c, "t");
		else
			tk_buf_add_printf(sql, "(SELECT uid FROM %s WHERE %s.id=t.%s)", parent,
			        parent, c->name);
	}
	tk_buf_add_printf(sql, " FROM %s t", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(sql, "%s%zu", lead, i + 1);
			lead = ",";
		}
}

/* The uid that "series_id" refers to is written as "series". */
static void add_column(json_t *line, const struct tk_db_column *c, json_t *value, int *status)
{
	char name[64];
	size_t len = strlen(c->name);

	if (c->kind == TK_COL_REF)
		len -= strlen("_id");
	memcpy(name, c->name, len);
	name[len] = '\0';
	tk_export_set(line, name, value, status);
}

static int export_row(sqlite3_stmt *stmt, const struct tk_db_table *t, struct tk_export_output *o,
        struct tk_error *err)
{
	json_t *line = json_pack("{s:s}", "table", t->name);
	int status = line ? 0 : TK_ENOMEM;
	char what[64];

	for (size_t i = 0; !status && i < t->column_count; i++) {
		json_t *value = tk_export_column(stmt, (int)i, &status);

		add_column(line, &t->columns[i], value, &status);
	}
	if (!status && !tk_export_add_json(o, line))
		status = TK_ENOMEM;
	json_decref(line);
	snprintf(what, sizeof(what), "a row of %s", t->name);
	if (status)
		return tk_export_fail(status, what, err);
	tk_buf_add_char(&o->buf, '\n');
	return tk_export_flush_if_large(o, err);
}

int tk_export_prepare_table(
        struct tk_store *s, enum tk_table_id table, sqlite3_stmt **out, struct tk_error *err)
{
	return tk_db_prepare_table_statement(
	        s, table, TK_STATEMENT_EXPORT, add_select_sql, out, err);
}

static int export_table(struct tk_store *s, enum tk_table_id table, struct tk_export_output *o,
        struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	sqlite3_stmt *stmt;
	int code = SQLITE_DONE, status = tk_export_prepare_table(s, table, &stmt, err);

	if (status)
		return status;
	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		status = export_row(stmt, t, o, err);
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot read the table %s", t->name);
	sqlite3_reset(stmt);
	return status;
}

int tk_store_export(struct tk_store *s, int fd, struct tk_error *err)
{
	struct tk_export_output o = {fd, TK_BUF_INIT};
	/* One snapshot of all tables, also while a night is being written. */
	int status = tk_store_begin_read(s, err);

	if (status)
		return status;
	for (int t = 0; t < TK_TABLE_COUNT && !status; t++)
		status = export_table(s, (enum tk_table_id)t, &o, err);
	if (!status)
		status = tk_export_flush(&o, err);
	tk_buf_free(&o.buf);
	tk_store_end_read(s);
	return status;
}
