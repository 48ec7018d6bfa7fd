/* What the tracker would not have written: `tracker db check` lists it, a merge and a new name of a
 * machine refuse it. */
#include "base/buf.h"
#include "store/db/internal.h"
#include <stdio.h>
#include <string.h>

#define PROBLEMS_MAX 1000
#define ROWS_AT_ONCE 4096 /* in memory */

struct check {
	struct tk_store *store;
	struct tk_rows_builder *list;
	size_t most;  /* problems */
	bool is_full; /* also what a merge passes over: unknown tables, dangling rows */
};

static bool is_done(const struct check *c)
{
	return c->list->out->count >= c->most;
}

/* Adds a problem for each row of the query, which is its text. */
static int add_selected(struct check *c, const char *sql, struct tk_error *err)
{
	sqlite3_stmt *stmt = NULL;
	int code = SQLITE_DONE, status = tk_db_prepare(c->store, sql, &stmt, err);

	while (!status && !is_done(c) && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);

		status = tk_db_add_problem(c->list, err, "%s", text ? text : "");
	}
	if (!status && code != SQLITE_DONE && code != SQLITE_ROW)
		status = tk_db_fail(c->store, code, err, "cannot check");
	sqlite3_finalize(stmt);
	return status;
}

/* ---- schema and references ------------------------------------------------------------------- */

/* Sets *readable to whether the tables that the other checks read are as expected. */
static int check_schema(struct check *c, bool *readable, struct tk_error *err)
{
	return tk_schema_list_differences(c->store, !c->is_full, c->list, c->most, readable, err);
}

static int check_references(struct check *c, struct tk_error *err)
{
	return c->is_full ? add_selected(c,
	                            "SELECT count(*)||' rows of '||\"table\"||' refer to no row "
	                            "of '||parent FROM pragma_foreign_key_check GROUP BY "
	                            "\"table\", parent",
	                            err)
	                  : 0;
}

/* ---- texts and times ------------------------------------------------------------------------- */

/* The bytes of the longest text of a row. Without the cast SQLite counts characters. */
static void add_longest_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_str(sql, "max(0");
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *column = &t->columns[i];

		if (column->kind == TK_COL_TEXT || column->kind == TK_COL_UID ||
		        column->kind == TK_COL_WORD)
			tk_buf_add_printf(sql, ",length(CAST(%s AS BLOB))", column->name);
	}
	tk_buf_add_str(sql, ",0)");
}

static int check_texts_of(struct check *c, const struct tk_db_table *t, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;

	tk_buf_add_printf(&sql,
	        "SELECT '%s%s: a text has '||bytes||' bytes; at most %d are "
	        "allowed' FROM (SELECT ",
	        t->name, t->has_uid ? " '||substr(uid,1,32)||'" : "", TK_TEXT_MAX_BYTES);
	tk_buf_add_str(&sql, t->has_uid ? "uid, " : "");
	add_longest_sql(&sql, t);
	tk_buf_add_printf(&sql, " AS bytes FROM %s) WHERE bytes>%d", t->name, TK_TEXT_MAX_BYTES);
	int status = tk_buf_status(&sql, err);

	if (!status)
		status = add_selected(c, sql.data, err);
	tk_buf_free(&sql);
	return status;
}

static int check_texts(struct check *c, struct tk_error *err)
{
	int status = 0;

	for (int t = 0; t < TK_TABLE_COUNT && !status && !is_done(c); t++)
		status = check_texts_of(c, &tk_tables[t], err);
	return status;
}

/* Those that order the nights and the points of a series. */
static int check_times(struct check *c, struct tk_error *err)
{
	static const char *const columns[][2] = {
	        {"night", "as_of_s"}, {"night", "started_s"}, {"run", "as_of_s"}};
	int status = 0;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && !status; i++) {
		const char *table = columns[i][0], *column = columns[i][1];
		char sql[320];

		snprintf(sql, sizeof(sql),
		        "SELECT '%s '||uid||': %s is '||%s||'; expected a time between 1970 and "
		        "2200, in seconds' FROM %s WHERE %s NOT BETWEEN %lld AND %lld",
		        table, column, column, table, column, (long long)TK_TIME_MIN_S,
		        (long long)TK_TIME_END_S - 1);
		status = add_selected(c, sql, err);
	}
	return status;
}

/* ---- uids ------------------------------------------------------------------------------------ */

static int check_slug(struct check *c, const struct tk_db_table *t, const char *row,
        const char *uid, struct tk_error *err)
{
	for (size_t i = 0; i < t->column_count; i++) {
		const void *field = row + t->columns[i].offset;

		if (!strcmp(t->columns[i].name, "slug") &&
		        !tk_slug_is_valid(*(const char *const *)field))
			return tk_db_add_problem(c->list, err,
			        "%s %s: the slug \"%.100s\" was changed by hand", t->name, uid,
			        *(const char *const *)field);
	}
	return 0;
}

/* The uid of such a machine is that of its first name. */
static bool is_renamed(enum tk_table_id table, const char *row)
{
	return table == TK_TABLE_machine &&
	       ((const struct tk_machine_row *)(const void *)row)->renamed_s > 0;
}

static int check_row(struct check *c, enum tk_table_id table, const char *row, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	const char *uid = *(const char *const *)(const void *)(row + t->columns[0].offset);
	char expected[TK_UID_SIZE];
	struct tk_error why = {0};
	int status = tk_row_compute_uid(c->store, table, row, expected, &why);

	if (status == TK_EDATA) /* it refers to a row that does not exist */
		return c->is_full ? tk_db_add_problem(
		                            c->list, err, "%s %s: %s", t->name, uid, why.message)
		                  : 0;
	if (status)
		return tk_fail(err, status, "%s", why.message);
	if (strcmp(uid, expected) && !is_renamed(table, row))
		return tk_db_add_problem(c->list, err,
		        "%s %s: its content says %s: it was changed by hand", t->name, uid,
		        expected);
	return check_slug(c, t, row, uid, err);
}

static int check_uids_of(struct check *c, enum tk_table_id table, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int64_t after[] = {INT64_MIN, ROWS_AT_ONCE};
	struct tk_rows rows = {0};
	int status = 0;

	do {
		tk_rows_free(&rows);
		status = tk_rows_select(c->store, table, "WHERE id>?1 ORDER BY id LIMIT ?2",
		        TK_ARGS(after[0], after[1]), &rows, err);
		for (size_t i = 0; !status && i < rows.count && !is_done(c); i++) {
			const char *row = (const char *)rows.rows + i * t->row_size;

			after[0] = *(const int64_t *)(const void *)row;
			status = check_row(c, table, row, err);
		}
	} while (!status && rows.count == ROWS_AT_ONCE && !is_done(c));
	tk_rows_free(&rows);
	return status;
}

/* The night that found an alert may have given it its uid. */
static int check_uids(struct check *c, struct tk_error *err)
{
	int status = 0;

	for (int t = 0; t < TK_TABLE_COUNT && !status && !is_done(c); t++)
		if (tk_tables[t].has_uid && tk_tables[t].has_id)
			status = check_uids_of(c, (enum tk_table_id)t, err);
	return status;
}

static int check_checksums(struct check *c, struct tk_error *err)
{
	return tk_checksum_list_changed(c->store, c->list, c->most, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The schema first: the others select from its tables. Texts before the checks that read them into
 * memory. */
static int check_all(struct check *c, struct tk_error *err)
{
	static int (*const checks[])(struct check *, struct tk_error *) = {
	        check_references, check_texts, check_times, check_uids, check_checksums};
	bool readable;
	int status = check_schema(c, &readable, err);

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !status && readable; i++)
		status = checks[i](c, err);
	return status;
}

int tk_store_check(struct tk_store *s, struct tk_rows *problems, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(const char *), 0};
	struct check c = {s, &list, PROBLEMS_MAX, true};
	struct tk_error why = {0};
	int status = tk_db_check_pages(s, &list, &why);

	/* The content of damaged pages is not worth reading. */
	if (!status && !s->is_damaged)
		status = check_all(&c, &why);
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

static int verify(
        struct tk_store *s, int (*check)(struct check *, struct tk_error *), struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(const char *), 0};
	struct check c = {s, &list, 1, false};
	int status = check(&c, err);

	if (!status && rows.count)
		status = tk_fail(err, TK_EDATA, "%s; `tracker db check` lists all such problems",
		        *TK_ROWS_AT(&rows, char *, 0));
	tk_rows_free(&rows);
	return status;
}

int tk_store_verify(struct tk_store *s, struct tk_error *err)
{
	return verify(s, check_all, err);
}

static int check_schema_alone(struct check *c, struct tk_error *err)
{
	bool readable;

	return check_schema(c, &readable, err);
}

int tk_schema_verify(struct tk_store *s, struct tk_error *err)
{
	return verify(s, check_schema_alone, err);
}
