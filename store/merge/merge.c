/* Two histories become one. Rows are the same fact if their uid (or, without one, their key) is the
 * same. If two rows describe the same fact differently, each column takes the greater value in a
 * fixed order of values (merge_sql.c), so the order of merging does not matter: a+b = b+a, a+a = a,
 * (a+b)+c = a+(b+c). Only descriptions that were replaced are lost.
 *
 * Rows are read through one handle and written through another; references are translated by maps
 * of ids. */
#include "base/base.h"
#include "store/db/internal.h"
#include "store/renaming.h"

struct merge {
	struct tk_store *from, *into;
	struct tk_id_map ids[TK_TABLE_COUNT]; /* from ids of `from` to ids of `into` */
	struct tk_merge_counts *counts;
};

/* ---- statements from descriptors: parameter i + 1 is column i -------------------------------- */

/* The order of outcomes and states: a later or worse one wins. */
#define RANK \
	"CASE %s WHEN 'running' THEN 0 WHEN 'open' THEN 0 WHEN 'skipped' THEN 1 WHEN 'done' THEN " \
	"2" \
	" WHEN 'complete' THEN 2 WHEN 'incomplete' THEN 3 ELSE 4 END"

/* What a value is ordered by: its rank, its length and itself; a reference by the uid of its row.
 * NULL is the least. */
static void add_order(struct tk_buf *sql, const struct tk_db_column *c, const char *value)
{
	if (c->flags & TK_COL_RANKED) {
		tk_buf_add_printf(sql, RANK, value);
		tk_buf_add_printf(sql, ",%s", value);
	} else if (c->kind == TK_COL_TEXT || c->kind == TK_COL_WORD || c->kind == TK_COL_BLOB) {
		tk_buf_add_printf(sql, "length(%s),%s", value, value);
	} else if (c->kind == TK_COL_REF) {
		tk_buf_add_printf(sql, "%s IS NOT NULL,ifnull((SELECT uid FROM %s WHERE id=%s),'')",
		        value, tk_tables[c->parent].name, value);
	} else {
		tk_buf_add_printf(sql, "%s IS NOT NULL,ifnull(%s,0)", value, value);
	}
}

/* The slugs of series follow from other columns. The uid of a machine does not depend on its newest
 * name. */
static bool is_identity(const struct tk_db_table *t, const struct tk_db_column *c)
{
	if (t == &tk_tables[TK_TABLE_machine])
		return c->kind == TK_COL_UID;
	return c->kind == TK_COL_UID || (c->flags & TK_COL_KEY) ||
	       (t == &tk_tables[TK_TABLE_series] && !strcmp(c->name, "slug"));
}

static bool has_description(const struct tk_db_table *t)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (!is_identity(t, &t->columns[i]))
			return true;
	return false;
}

/* Columns that belong together: mixing those of two rows would create a third, false statement. */
static bool is_atomic(const struct tk_db_table *t)
{
	return t == &tk_tables[TK_TABLE_resolution] || t == &tk_tables[TK_TABLE_measurement] ||
	       t == &tk_tables[TK_TABLE_verdict] || t == &tk_tables[TK_TABLE_change_point] ||
	       t == &tk_tables[TK_TABLE_bisection] || t == &tk_tables[TK_TABLE_tuning] ||
	       t == &tk_tables[TK_TABLE_kernel_report] || t == &tk_tables[TK_TABLE_monitor_event];
}

static void format_parameter(size_t column, char out[24])
{
	snprintf(out, 24, "?%zu", column + 1);
}

/* The stored value; of the slug of a device without what makes it unique. */
static void format_stored(const struct tk_db_table *t, const struct tk_db_column *c, char out[80])
{
	if (!strcmp(c->name, "slug"))
		snprintf(out, 80, "device_root(device.slug,device.uid)");
	else
		snprintf(out, 80, "%s.%s", t->name, c->name);
}

/* The order of a whole row: of the parameters, or of the stored one. */
static void add_row_order(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters)
{
	const char *separator = "";

	for (size_t i = 0; i < t->column_count; i++) {
		char value[80];

		if (is_identity(t, &t->columns[i]))
			continue;
		if (of_parameters)
			format_parameter(i, value);
		else
			format_stored(t, &t->columns[i], value);
		tk_buf_add_str(sql, separator);
		add_order(sql, &t->columns[i], value);
		separator = ",";
	}
}

static void add_atomic_update(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *separator = "";

	for (size_t i = 0; i < t->column_count; i++)
		if (!is_identity(t, &t->columns[i])) {
			tk_buf_add_printf(sql, "%s%s=?%zu", separator, t->columns[i].name, i + 1);
			separator = ",";
		}
	tk_buf_add_str(sql, " WHERE ((");
	add_row_order(sql, t, true);
	tk_buf_add_str(sql, ")>(");
	add_row_order(sql, t, false);
	tk_buf_add_str(sql, "))");
}

/* Each column takes the greater value of the two. */
static void add_column_updates(struct tk_buf *sql, const struct tk_db_table *t)
{
	AUTO(tk_buf) where = {0};
	AUTO(tk_buf) is_greater = {0};
	const char *separator = "";

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char stored[80], given[24];

		if (is_identity(t, c))
			continue;
		format_stored(t, c, stored);
		format_parameter(i, given);
		tk_buf_clear(&is_greater);
		tk_buf_add_char(&is_greater, '(');
		/* The newest name of a machine, which its first two columns tell. */
		if (c->flags & TK_COL_KEY)
			tk_buf_add_str(&is_greater, "?2,");
		add_order(&is_greater, c, given);
		tk_buf_add_str(&is_greater, ")>(");
		if (c->flags & TK_COL_KEY)
			tk_buf_add_str(&is_greater, "machine.renamed_s,");
		add_order(&is_greater, c, stored);
		tk_buf_add_char(&is_greater, ')');
		tk_buf_add_printf(sql, "%s%s=CASE WHEN %s THEN %s ELSE %s END", separator, c->name,
		        tk_buf_cstr(&is_greater), given, stored);
		tk_buf_add_printf(
		        &where, "%s%s", where.len ? " OR " : "", tk_buf_cstr(&is_greater));
		separator = ",";
	}
	tk_buf_add_printf(sql, " WHERE (%s)", tk_buf_cstr(&where));
}

/* `lead` and what identifies a row: its uid, or its key. */
static void add_identity(struct tk_buf *sql, const struct tk_db_table *t, const char *lead)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(
			        sql, "%s%s.%s=?%zu", lead, t->name, t->columns[i].name, i + 1);
			lead = " AND ";
		}
}

static void update_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "UPDATE %s SET ", t->name);
	if (is_atomic(t))
		add_atomic_update(sql, t);
	else
		add_column_updates(sql, t);
	add_identity(sql, t, " AND ");
}

static void find_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "SELECT id FROM %s", t->name);
	add_identity(sql, t, " WHERE ");
}

static void insert_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "INSERT INTO %s(", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		tk_buf_add_printf(sql, "%s%s", i ? "," : "", t->columns[i].name);
	tk_buf_add_str(sql, ") VALUES (");
	for (size_t i = 0; i < t->column_count; i++)
		tk_buf_add_printf(sql, "%s?%zu", i ? "," : "", i + 1);
	tk_buf_add_str(sql, ") ON CONFLICT DO NOTHING");
}

static void select_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "SELECT %s", t->has_id ? "id" : "0");
	for (size_t i = 0; i < t->column_count; i++)
		if (t == &tk_tables[TK_TABLE_device] && !strcmp(t->columns[i].name, "slug"))
			tk_buf_add_str(sql, ",device_root(slug,uid)");
		else
			tk_buf_add_printf(sql, ",%s", t->columns[i].name);
	tk_buf_add_printf(sql, " FROM %s", t->name);
}

/* ---- one row --------------------------------------------------------------------------------- */

#define MACHINE_NAME 3 /* the column of the name where rows are read */

/* Kept by the handles. */
struct statements {
	sqlite3_stmt *read;                   /* of `from` */
	sqlite3_stmt *find, *insert, *update; /* of `into`; find and update may be NULL */
};

/* Binds the row that was read. *dangling: it refers to a row that `from` does not have. */
static int bind_row(struct merge *m, const struct tk_db_table *t, sqlite3_stmt *read,
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

static int fail_machine(struct merge *m, sqlite3_stmt *read, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA,
	        "the machine \"%.100s\" is another one than that in %s: one of them was renamed; "
	        "rename it back, or import what `tracker export` writes",
	        (const char *)sqlite3_column_text(read, MACHINE_NAME), m->into->path);
}

/* Runs find, insert or update with the row that was read. *id, where it is not NULL: of the row
 * that is found. *changed: a row was written. */
static int run(struct merge *m, const struct tk_db_table *t, const struct statements *st,
        sqlite3_stmt *stmt, int64_t *id, bool *changed, struct tk_error *err)
{
	bool dangling;
	int code, status = 0;

	*changed = false;
	TRY(bind_row(m, t, st->read, stmt, &dangling, err));
	/* Derived rows can refer to a run that was removed. Other rows cannot: SQLite enforces
	 * it. */
	if (dangling && !id)
		return 0;
	code = sqlite3_step(stmt);
	if (code == SQLITE_ROW && id)
		*id = sqlite3_column_int64(stmt, 0);
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		status = t == &tk_tables[TK_TABLE_machine] && (code & 0xff) == SQLITE_CONSTRAINT
		                 ? fail_machine(m, st->read, err)
		                 : tk_db_fail(m->into, code, err, "cannot merge a %s", t->name);
	*changed = code == SQLITE_DONE && !id && sqlite3_changes(m->into->db) > 0;
	sqlite3_reset(stmt);
	return status;
}

static enum tk_merge_count count_of_table(enum tk_table_id table)
{
	return table == TK_TABLE_night         ? TK_MERGE_NIGHTS
	       : table == TK_TABLE_series      ? TK_MERGE_SERIES
	       : table == TK_TABLE_measurement ? TK_MERGE_POINTS
	                                       : TK_MERGE_OTHERS;
}

static int merge_row(
        struct merge *m, enum tk_table_id table, const struct statements *st, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	bool inserted = false, changed;
	int64_t id = 0;

	if (t->has_id)
		TRY(run(m, t, st, st->find, &id, &changed, err));
	if (!id)
		TRY(run(m, t, st, st->insert, NULL, &inserted, err));
	if (!inserted && st->update)
		TRY(run(m, t, st, st->update, NULL, &changed, err));
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

/* ---- tables ---------------------------------------------------------------------------------- */

static int prepare_writes(
        struct tk_store *into, enum tk_table_id table, struct statements *st, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];

	TRY(tk_db_prepare_table_statement(
	        into, table, TK_STATEMENT_MERGE_INSERT, insert_sql, &st->insert, err));
	if (t->has_id)
		TRY(tk_db_prepare_table_statement(
		        into, table, TK_STATEMENT_MERGE_FIND, find_sql, &st->find, err));
	if (has_description(t))
		TRY(tk_db_prepare_table_statement(
		        into, table, TK_STATEMENT_MERGE_UPDATE, update_sql, &st->update, err));
	return 0;
}

static int merge_table(struct merge *m, enum tk_table_id table, struct tk_error *err)
{
	struct statements st = {0};
	int code = SQLITE_DONE, status = 0;

	TRY(tk_db_prepare_table_statement(
	        m->from, table, TK_STATEMENT_MERGE_READ, select_sql, &st.read, err));
	while (!status && (code = sqlite3_step(st.read)) == SQLITE_ROW) {
		if (!st.insert) /* most tables of small histories are empty */
			status = prepare_writes(m->into, table, &st, err);
		if (!status)
			status = merge_row(m, table, &st, err);
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(
		        m->from, code, err, "cannot read the table %s", tk_tables[table].name);
	sqlite3_reset(st.read);
	/* Frees the texts and samples of the last row. */
	sqlite3_stmt *const written[] = {st.find, st.insert, st.update};

	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++)
		if (written[i])
			sqlite3_clear_bindings(written[i]);
	return status;
}

static int merge_all(struct merge *m, struct tk_error *err)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		TRY(merge_table(m, (enum tk_table_id)t, err));
	TRY(tk_store_apply_renamings(m->into, err));
	return tk_slug_update_all(m->into, err);
}

static int merge(struct merge *m, struct tk_error *err)
{
	if (!m->from->is_trusted)
		TRY(tk_store_verify(m->from, err));
	TRY(tk_store_begin(m->into, err));
	return tk_store_end(m->into, merge_all(m, err), err);
}

int tk_store_merge(struct tk_store *into, struct tk_store *from, struct tk_merge_counts *counts,
        struct tk_error *err)
{
	struct tk_merge_counts ignored = {{0}};
	struct merge m = {.from = from, .into = into, .counts = counts ? counts : &ignored};
	/* One snapshot of the source, also while a night is being written to it. */
	const bool own_transaction = from->depth == 0;

	if (!from->is_trusted && tk_schema_verify(into, err))
		return tk_error_add_context(err, "%s", into->path);
	if (own_transaction)
		TRY(tk_store_begin_read(from, err));
	int status = merge(&m, err);

	if (own_transaction)
		tk_store_end_read(from);
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		tk_id_map_free(&m.ids[t]);
	return status ? tk_error_add_context(err, "%s", from->path) : 0;
}
