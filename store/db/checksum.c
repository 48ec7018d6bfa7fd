/* Checksums of measurements, tunings and kernel reports. Every value of a row and the uids of what
 * it refers to are hashed, so a checksum is the same in every history that has the row. The SQL
 * function tk_checksum() computes it; the statements that insert and check rows are made from the
 * descriptors of the tables. */
#include "base/buf.h"
#include "base/hash.h"
#include "store/db/internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the SQL function ------------------------------------------------------------------------ */

static void add_value(struct tk_hash *h, sqlite3_value *value)
{
	const char *text;
	double real;
	int64_t bits;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		tk_hash_add_i64(h, sqlite3_value_int64(value));
		return;
	case SQLITE_FLOAT:
		/* SQLite stores -0 as 0. */
		real = sqlite3_value_double(value);
		real = real == 0 ? 0 : real;
		memcpy(&bits, &real, sizeof(bits));
		tk_hash_add_i64(h, bits);
		return;
	case SQLITE_NULL:
		tk_hash_add_str(h, NULL);
		return;
	default: /* as tk_hash_add_str(), also of a text with a NUL in it */
		text = (const char *)sqlite3_value_text(value);
		tk_hash_add_i64(h, sqlite3_value_bytes(value));
		tk_hash_add(h, text, (size_t)sqlite3_value_bytes(value));
	}
}

/* tk_checksum(table, column...): the first 64 bits of the hash, never 0. */
static void checksum_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct tk_hash *h = tk_hash_new();
	char hex[TK_HASH_HEX_SIZE];

	for (int i = 0; i < count; i++)
		add_value(h, values[i]);
	tk_hash_finish(h, hex);
	hex[TK_CHECKSUM_DIGITS] = '\0';
	uint64_t checksum = strtoull(hex, NULL, 16);

	sqlite3_result_int64(context, checksum ? (int64_t)checksum : 1);
}

/* tk_row_uid(table, id), with the number of the table: faster than to select it, for rows that are
 * referred to again and again. NULL: there is no such row. */
static void row_uid_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct tk_store *s = sqlite3_user_data(context);
	enum tk_table_id table = (enum tk_table_id)sqlite3_value_int(values[0]);
	char uid[TK_UID_SIZE];
	struct tk_error err = {0};
	int status = tk_row_find_uid(s, table, sqlite3_value_int64(values[1]), uid, &err);

	if (!status)
		sqlite3_result_text(context, uid, -1, SQLITE_TRANSIENT);
	else if (status == TK_ENOMEM)
		sqlite3_result_error_nomem(context);
	else if (status != TK_EDATA)
		sqlite3_result_error(context, err.message, -1);
}

int tk_checksum_register(struct tk_store *s, struct tk_error *err)
{
	int code = sqlite3_create_function_v2(s->db, "tk_checksum", -1,
	        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, checksum_function,
	        NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(s->db, "tk_row_uid", 2,
		        SQLITE_UTF8 | SQLITE_DIRECTONLY, s, row_uid_function, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : tk_db_fail(s, code, err, "cannot register tk_checksum");
}

/* A reference counts as the uid of its row. One that may be missing is an empty text where its row
 * does not exist, so that it differs from none. */
static void add_reference(
        struct tk_buf *sql, const struct tk_db_column *c, const char *value, bool of_parameters)
{
	const char *lead = c->flags & TK_COL_NULLABLE ? "ifnull(" : "";

	if (of_parameters)
		tk_buf_add_printf(sql, "%stk_row_uid(%d,%s)", lead, (int)c->parent, value);
	else
		tk_buf_add_printf(sql, "%s(SELECT uid FROM %s WHERE id=%s)", lead,
		        tk_tables[c->parent].name, value);
	if (c->flags & TK_COL_NULLABLE)
		tk_buf_add_printf(sql, ",CASE WHEN %s IS NOT NULL THEN '' END)", value);
}

void tk_checksum_add_sql(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters)
{
	tk_buf_add_printf(sql, "tk_checksum('%s'", t->name);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char value[96];

		if (c->kind == TK_COL_CHECKSUM)
			continue;
		if (of_parameters)
			snprintf(value, sizeof(value), "?%zu", i + 1);
		else
			snprintf(value, sizeof(value), "%s.%s", t->name, c->name);
		tk_buf_add_char(sql, ',');
		if (c->kind == TK_COL_REF)
			add_reference(sql, c, value, of_parameters);
		else
			tk_buf_add_str(sql, value);
	}
	tk_buf_add_char(sql, ')');
}

/* ---- rows that differ from their checksum ---------------------------------------------------- */

/* The tables that have checksums, and what names a row of them for people. */
static const struct {
	enum tk_table_id table;
	const char *row_name;
} checked[] = {
        {TK_TABLE_measurement, "'measurement of run '||run_id||', series '||ifnull((SELECT slug "
                               "FROM series WHERE id=series_id),'unknown')"},
        {TK_TABLE_tuning, "'tuning '||uid||', backend '||backend"},
        {TK_TABLE_kernel_report, "kind||' '||uid||', backend '||backend"},
};
#define CHECKED_COUNT (sizeof checked / sizeof *checked)

static void add_changed_rows_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	size_t i = 0;

	while (t != &tk_tables[checked[i].table])
		i++;
	tk_buf_add_printf(
	        sql, "SELECT %s, checksum, expected FROM (SELECT *, ", checked[i].row_name);
	tk_checksum_add_sql(sql, t, false);
	tk_buf_add_printf(sql, " AS expected FROM %s) WHERE checksum<>expected", t->name);
}

static int add_changed_row(sqlite3_stmt *stmt, struct tk_rows_builder *list, struct tk_error *err)
{
	const char *text = (const char *)sqlite3_column_text(stmt, 0), *name = text ? text : "";
	uint64_t checksum = (uint64_t)sqlite3_column_int64(stmt, 1);
	uint64_t expected = (uint64_t)sqlite3_column_int64(stmt, 2);

	if (!checksum)
		return tk_db_add_problem(
		        list, err, "%s: has no checksum: it was not written by tracker", name);
	return tk_db_add_problem(list, err,
	        "%s: was changed by hand: its checksum is %016" PRIx64
	        ", its content has %016" PRIx64,
	        name, checksum, expected);
}

static int list_changed_of_table(struct tk_store *s, enum tk_table_id table,
        struct tk_rows_builder *list, size_t most, struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int code = SQLITE_DONE, status = tk_db_prepare_table_statement(s, table,
	                                TK_STATEMENT_CHANGED, add_changed_rows_sql, &stmt, err);

	if (status)
		return status;

	while (!status && list->out->count < most && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		status = add_changed_row(stmt, list, err);
	if (!status && code != SQLITE_DONE && code != SQLITE_ROW)
		status = tk_db_fail(
		        s, code, err, "cannot check the table %s", tk_tables[table].name);
	sqlite3_reset(stmt);
	return status;
}

int tk_checksum_list_changed(
        struct tk_store *s, struct tk_rows_builder *list, size_t most, struct tk_error *err)
{
	int status = 0;

	for (size_t i = 0; i < CHECKED_COUNT && !status; i++)
		status = list_changed_of_table(s, checked[i].table, list, most, err);
	return status;
}
