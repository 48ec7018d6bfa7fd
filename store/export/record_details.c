/* The details of a record: the rows that belong to its night or build, with the rows that they
 * refer to. */
#include "store/export/export_internal.h"
#include <stdio.h>

/* A detail of a night can refer to a build that no run of the night has. The details of that build
 * are written inside it. */
static bool is_nested_build(const struct tk_record_detail *d, enum tk_table_id table)
{
	return table == TK_TABLE_build && d->owner != TK_TABLE_build;
}

/* The row of a detail, or one that it refers to, as columns and joins, in the order in which
 * read_row() reads them. */
static void add_row_sql(struct tk_buf *columns, struct tk_buf *joins,
        const struct tk_record_detail *d, enum tk_table_id table, const char *alias,
        const char *lead)
{
	const struct tk_db_table *t = &tk_tables[table];

	tk_record_add_columns(columns, table, alias, &lead);
	if (is_nested_build(d, table))
		tk_buf_add_printf(columns, ",%s.id", alias);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE], nested[2 * TK_RECORD_NAME_SIZE];

		if (!tk_record_has_nested_row(d->table, d->owner, table, c))
			continue;
		snprintf(nested, sizeof(nested), "%.60s_%s", alias, tk_record_nested_name(c, name));
		tk_buf_add_printf(joins, " LEFT JOIN %s %s ON %s.id=%s.%s",
		        tk_tables[c->parent].name, nested, nested, alias, c->name);
		add_row_sql(columns, joins, d, c->parent, nested, ",");
	}
}

/* By the key of the table, where references count as uids: the same in every database. */
static void add_order_sql(struct tk_buf *sql, const struct tk_record_detail *d)
{
	const struct tk_db_table *t = &tk_tables[d->table];
	const char *lead = " ORDER BY ";

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];

		if (!(c->flags & TK_COL_KEY) || c->parent == d->owner)
			continue;
		if (c->kind == TK_COL_REF)
			tk_buf_add_printf(
			        sql, "%s%s_%s.uid", lead, t->name, tk_record_nested_name(c, name));
		else
			tk_buf_add_printf(sql, "%s%s.%s", lead, t->name, c->name);
		lead = ",";
	}
}

static void make_detail_sql(struct tk_buf *sql, const struct tk_record_detail *d)
{
	const char *table = tk_tables[d->table].name;
	struct tk_buf joins = TK_BUF_INIT;

	add_row_sql(sql, &joins, d, d->table, table, "SELECT ");
	tk_buf_add_printf(sql, " FROM %s%s WHERE %s.%s_id=?1", table, tk_buf_cstr(&joins), table,
	        tk_tables[d->owner].name);
	if (d->owner == TK_TABLE_device)
		tk_buf_add_printf(sql, " AND %s.problem_id=?2", table);
	add_order_sql(sql, d);
	if (!sql->status)
		sql->status = joins.status;
	tk_buf_free(&joins);
}

/* *is_first: the id was not marked before. */
static int mark(struct tk_id_map *marked, int64_t id, bool *is_first, struct tk_error *err)
{
	*is_first = !tk_id_map_get(marked, id);
	return *is_first ? tk_id_map_set(marked, id, 1, err) : 0;
}

static int add_build_details(
        struct tk_record_export *x, int64_t build_id, json_t *build, struct tk_error *err);

/* *out: the row with the rows that it refers to, null where there is none. A new reference. */
static int read_row(struct tk_record_export *x, sqlite3_stmt *stmt,
        const struct tk_record_detail *d, enum tk_table_id table, int *column, json_t **out,
        struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int status = 0;
	json_t *row = tk_record_read_group(stmt, table, column, &status);
	int64_t build_id = is_nested_build(d, table) ? sqlite3_column_int64(stmt, (*column)++) : 0;
	bool is_first = false;

	*out = row;
	if (status)
		return tk_export_fail(status, "a detail of a run", err);
	for (size_t i = 0; i < t->column_count && !status; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];
		json_t *nested;

		if (!tk_record_has_nested_row(d->table, d->owner, table, c))
			continue;
		status = read_row(x, stmt, d, c->parent, column, &nested, err);
		if (!status && json_is_object(row) &&
		        json_object_set(row, tk_record_nested_name(c, name), nested))
			status = tk_export_fail(TK_ENOMEM, NULL, err);
		json_decref(nested);
	}
	if (!status && build_id)
		status = mark(&x->builds, build_id, &is_first, err);
	return is_first && !status ? add_build_details(x, build_id, row, err) : status;
}

static int read_rows(struct tk_record_export *x, sqlite3_stmt *stmt,
        const struct tk_record_detail *d, json_t *array, struct tk_error *err)
{
	int code = SQLITE_DONE, status = 0;

	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		int column = 0;
		json_t *row;

		status = read_row(x, stmt, d, d->table, &column, &row, err);
		if (json_array_append_new(array, row) && !status)
			status = tk_export_fail(TK_ENOMEM, NULL, err);
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(
		        x->store, code, err, "cannot read the table %s", tk_tables[d->table].name);
	return status;
}

static int add_detail(struct tk_record_export *x, const struct tk_record_detail *d,
        int64_t owner_id, int64_t problem_id, json_t *record, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	json_t *array = json_array();
	sqlite3_stmt *stmt = NULL;

	make_detail_sql(&sql, d);
	int status = tk_buf_status(&sql, err);

	if (!status)
		status = tk_db_prepare(x->store, sql.data, &stmt, err);
	if (!status)
		sqlite3_bind_int64(stmt, 1, owner_id);
	if (!status && d->owner == TK_TABLE_device)
		sqlite3_bind_int64(stmt, 2, problem_id);
	if (!status)
		status = read_rows(x, stmt, d, array, err);
	sqlite3_finalize(stmt);
	tk_buf_free(&sql);
	if (json_object_set_new(
	            record, d->name, json_array_size(array) ? json_incref(array) : json_null()) &&
	        !status)
		status = tk_export_fail(TK_ENOMEM, NULL, err);
	json_decref(array);
	return status;
}

static int add_build_details(
        struct tk_record_export *x, int64_t build_id, json_t *build, struct tk_error *err)
{
	int status = 0;

	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT && !status; i++)
		if (tk_record_details[i].owner == TK_TABLE_build)
			status = add_detail(x, &tk_record_details[i], build_id, 0, build, err);
	return status;
}

/* A line of a record holds what is known of one problem on one device, not of all of them. */
static int mark_place(struct tk_record_export *x, const struct tk_record_owners *o, bool *is_first,
        struct tk_error *err)
{
	*is_first = false;
	return o->device_id && o->problem_id
	               ? mark(&x->places, o->device_id << 32 | o->problem_id, is_first, err)
	               : 0;
}

int tk_record_add_details(struct tk_record_export *x, const struct tk_record_owners *o,
        json_t *record, struct tk_error *err)
{
	struct {
		int64_t id;
		bool is_new;
	} owners[TK_TABLE_COUNT] = {[TK_TABLE_night] = {.id = o->night_id},
	        [TK_TABLE_build] = {.id = o->build_id},
	        [TK_TABLE_device] = {.id = o->device_id}};
	int status = mark(&x->nights, o->night_id, &owners[TK_TABLE_night].is_new, err);

	if (!status && o->build_id)
		status = mark(&x->builds, o->build_id, &owners[TK_TABLE_build].is_new, err);
	if (!status)
		status = mark_place(x, o, &owners[TK_TABLE_device].is_new, err);
	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT && !status; i++) {
		const struct tk_record_detail *d = &tk_record_details[i];

		if (owners[d->owner].is_new)
			status = add_detail(x, d, owners[d->owner].id, o->problem_id, record, err);
		else if (json_object_set_new(record, d->name, json_null()))
			status = tk_export_fail(TK_ENOMEM, NULL, err);
	}
	return status;
}
