/* One table from one history into another: every row is found, inserted or described better. */
#include "base/buf.h"
#include "store/merge/merge_internal.h"
#include <string.h>

/* Kept by the handles. */
struct statements {
	sqlite3_stmt *read;                   /* of `from` */
	sqlite3_stmt *find, *insert, *update; /* of `into`; find and update may be NULL */
};

/* ---- statements ------------------------------------------------------------------------------ */

static int prepare_read(
        struct tk_merge *m, enum tk_table_id table, sqlite3_stmt **out, struct tk_error *err)
{
	return tk_db_prepare_table_statement(
	        m->from, table, TK_STATEMENT_MERGE_READ, tk_merge_select_sql, out, err);
}

static int prepare_writes(
        struct tk_merge *m, enum tk_table_id table, struct statements *st, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int status = tk_db_prepare_table_statement(
	        m->into, table, TK_STATEMENT_MERGE_INSERT, tk_merge_insert_sql, &st->insert, err);

	if (!status && t->has_id)
		status = tk_db_prepare_table_statement(
		        m->into, table, TK_STATEMENT_MERGE_FIND, tk_merge_find_sql, &st->find, err);
	if (!status && tk_merge_has_description(t))
		status = tk_db_prepare_table_statement(m->into, table, TK_STATEMENT_MERGE_UPDATE,
		        tk_merge_update_sql, &st->update, err);
	return status;
}

/* Frees the texts and samples of the last row. */
static void clear_bindings(struct statements *st)
{
	sqlite3_stmt *const all[] = {st->find, st->insert, st->update};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			sqlite3_clear_bindings(all[i]);
}

#define MACHINE_NAME 3 /* the column of the name where rows are read */

/* ---- one row --------------------------------------------------------------------------------- */

/* Binds the row that was read. *dangling: it refers to a row that `from` does not have. */
static int bind_row(struct tk_merge *m, const struct tk_db_table *t, sqlite3_stmt *read,
        sqlite3_stmt *to, bool *dangling, struct tk_error *err)
{
	int code = SQLITE_OK, wanted = sqlite3_bind_parameter_count(to);

	*dangling = false;
	for (int i = 0; i < (int)t->column_count && i < wanted && code == SQLITE_OK; i++) {
		const struct tk_db_column *c = &t->columns[i];

		if (c->kind == TK_COL_REF && sqlite3_column_type(read, i + 1) != SQLITE_NULL) {
			int64_t id = tk_id_map_get(
			        &m->ids[c->parent], sqlite3_column_int64(read, i + 1));

			*dangling |= id == 0;
			code = sqlite3_bind_int64(to, i + 1, id);
		} else {
			code = sqlite3_bind_value(to, i + 1, sqlite3_column_value(read, i + 1));
		}
	}
	return code == SQLITE_OK ? 0 : tk_db_fail(m->into, code, err, "cannot merge a %s", t->name);
}

static int fail_machine(struct tk_merge *m, sqlite3_stmt *read, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA,
	        "the machine \"%.100s\" is another one than that in %s: one of them was renamed; "
	        "rename it back, or import what `tracker export` writes",
	        (const char *)sqlite3_column_text(read, MACHINE_NAME), m->into->path);
}

static int step(struct tk_merge *m, sqlite3_stmt *stmt, const struct tk_db_table *t,
        const struct statements *st, struct tk_error *err)
{
	int code = sqlite3_step(stmt);

	if (code == SQLITE_DONE || code == SQLITE_ROW)
		return 0;
	return t == &tk_tables[TK_TABLE_machine] && (code & 0xff) == SQLITE_CONSTRAINT
	               ? fail_machine(m, st->read, err)
	               : tk_db_fail(m->into, code, err, "cannot merge a %s", t->name);
}

/* *id: of the row in `into`; 0: none. */
static int find_row(struct tk_merge *m, const struct tk_db_table *t, const struct statements *st,
        int64_t *id, struct tk_error *err)
{
	bool dangling;
	int status = bind_row(m, t, st->read, st->find, &dangling, err);

	if (!status)
		status = step(m, st->find, t, st, err);
	*id = !status && sqlite3_data_count(st->find) ? sqlite3_column_int64(st->find, 0) : 0;
	sqlite3_reset(st->find);
	return status;
}

static int insert_row(struct tk_merge *m, const struct tk_db_table *t, const struct statements *st,
        bool *inserted, struct tk_error *err)
{
	bool dangling;
	int status = bind_row(m, t, st->read, st->insert, &dangling, err);

	*inserted = false;
	/* Derived rows can refer to a run that was removed. Other rows cannot: SQLite enforces
	 * it. */
	if (status || dangling)
		return status;
	status = step(m, st->insert, t, st, err);
	*inserted = !status && sqlite3_changes(m->into->db) > 0;
	sqlite3_reset(st->insert);
	return status;
}

static int update_row(struct tk_merge *m, const struct tk_db_table *t, const struct statements *st,
        struct tk_error *err)
{
	bool dangling;
	int status = bind_row(m, t, st->read, st->update, &dangling, err);

	if (status || dangling)
		return status;
	status = step(m, st->update, t, st, err);
	sqlite3_reset(st->update);
	return status;
}

static enum tk_merge_count count_of_table(enum tk_table_id table)
{
	return table == TK_TABLE_night         ? TK_MERGE_NIGHTS
	       : table == TK_TABLE_series      ? TK_MERGE_SERIES
	       : table == TK_TABLE_measurement ? TK_MERGE_POINTS
	                                       : TK_MERGE_OTHERS;
}

static int merge_row(struct tk_merge *m, enum tk_table_id table, const struct statements *st,
        struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	bool inserted = false;
	int64_t id = 0;
	int status = t->has_id ? find_row(m, t, st, &id, err) : 0;

	if (!status && !id)
		status = insert_row(m, t, st, &inserted, err);
	if (!status && !inserted && st->update)
		status = update_row(m, t, st, err);
	if (status)
		return status;
	if (inserted) {
		m->counts->added[count_of_table(table)]++;
		id = sqlite3_last_insert_rowid(m->into->db);
	}
	if (!t->has_id)
		return 0;
	if (!id && table == TK_TABLE_machine)
		return fail_machine(m, st->read, err);
	return tk_id_map_set(&m->ids[table], sqlite3_column_int64(st->read, 0), id, err);
}

int tk_merge_table(struct tk_merge *m, enum tk_table_id table, struct tk_error *err)
{
	struct statements st = {0};
	int code = SQLITE_DONE, status = prepare_read(m, table, &st.read, err);

	if (status)
		return status;
	while (!status && (code = sqlite3_step(st.read)) == SQLITE_ROW) {
		if (!st.insert) /* most tables of small histories are empty */
			status = prepare_writes(m, table, &st, err);
		if (!status)
			status = merge_row(m, table, &st, err);
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(
		        m->from, code, err, "cannot read the table %s", tk_tables[table].name);
	sqlite3_reset(st.read);
	clear_bindings(&st);
	return status;
}
