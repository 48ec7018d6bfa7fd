/* Any row into its table, by the descriptors of tables.c. Maps of row ids. */
#include "base/base.h"
#include "store/db/internal.h"
#include <math.h>

/* ---- from a struct to parameters: ?1 is the first column ------------------------------------- */

/* Foreign strings: this is the one place that replaces what is not UTF-8 by U+FFFD. */
static int bind_text(sqlite3_stmt *stmt, int at, const struct tk_db_column *c, const char *text,
        struct tk_error *err)
{
	if (!text)
		text = "";
	size_t size = strlen(text);

	if (size > TK_TEXT_MAX_BYTES)
		return tk_fail(err, TK_EDATA, "%s: a text of %zu bytes; at most %d are allowed",
		        c->name, size, TK_TEXT_MAX_BYTES);
	if (tk_utf8_is_valid(text)) {
		sqlite3_bind_text64(stmt, at, text, size, SQLITE_STATIC, SQLITE_UTF8);
		return 0;
	}
	AUTO(tk_buf) repaired = {0};

	tk_buf_add_utf8(&repaired, text, size);
	sqlite3_bind_text64(stmt, at, repaired.data, repaired.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	return 0;
}

static int bind_column(sqlite3_stmt *stmt, int at, const struct tk_db_column *c, const void *row,
        struct tk_error *err)
{
	const void *field = (const char *)row + c->offset;
	const struct tk_bytes *bytes = field;
	double real;
	int64_t number;

	switch (c->kind) {
	case TK_COL_UID:
	case TK_COL_TEXT:
		return bind_text(stmt, at, c, *(const char *const *)field, err);
	case TK_COL_WORD:
		return bind_text(
		        stmt, at, c, tk_vocabulary_name(c->words, *(const int *)field), err);
	case TK_COL_INT:
	case TK_COL_REF:
		number = *(const int64_t *)field;
		if (!(c->flags & TK_COL_NULLABLE) || number != c->none)
			sqlite3_bind_int64(stmt, at, number);
		break;
	case TK_COL_U32:
		sqlite3_bind_int64(stmt, at, *(const uint32_t *)field);
		break;
	case TK_COL_BOOL:
		sqlite3_bind_int64(stmt, at, *(const bool *)field);
		break;
	case TK_COL_REAL:
		real = *(const double *)field;
		if (isfinite(real))
			sqlite3_bind_double(stmt, at, real);
		break;
	case TK_COL_BLOB:
		sqlite3_bind_blob64(stmt, at, bytes->data, bytes->size, SQLITE_STATIC);
		break;
	case TK_COL_CHECKSUM:
		break;
	}
	return 0;
}

/* Columns that are not bound are NULL. */
static int bind_row(
        sqlite3_stmt *stmt, const struct tk_db_table *t, const void *row, struct tk_error *err)
{
	const int wanted = sqlite3_bind_parameter_count(stmt);

	sqlite3_clear_bindings(stmt);
	for (int i = 0; i < wanted && (size_t)i < t->column_count; i++)
		TRY(bind_column(stmt, i + 1, &t->columns[i], row, err));
	return 0;
}

/* ---- statements from descriptors ------------------------------------------------------------- */

/* Only few rows bring a uid: alerts, whose uid the detector chooses, and machines, whose name may
 * be another one than that in the uid. */
static void add_uid(struct tk_buf *sql, const struct tk_db_table *t)
{
	bool may_be_given = !t->has_id || t == &tk_tables[TK_TABLE_machine];

	tk_buf_add_str(sql, may_be_given ? "ifnull(nullif(?1,'')," : "");
	tk_uid_add_sql(sql, t, true);
	tk_buf_add_str(sql, may_be_given ? ")" : "");
}

static void add_newest(const struct tk_db_table *t, struct tk_buf *sql)
{
	const char *lead = " ON CONFLICT DO UPDATE SET ";

	for (size_t i = 0; i < t->column_count; i++) {
		const char *c = t->columns[i].name;

		if (!(t->columns[i].flags & TK_COL_NEWEST))
			continue;
		tk_buf_add_printf(sql,
		        "%s%s=CASE WHEN excluded.%s IN ('',0,'{}','unknown') THEN %s.%s ELSE "
		        "excluded.%s END",
		        lead, c, c, t->name, c, c);
		lead = ",";
	}
	lead = " WHERE ";
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].flags & TK_COL_NEWEST) {
			const char *c = t->columns[i].name;

			tk_buf_add_printf(sql, "%sexcluded.%s IS NOT %s.%s", lead, c, t->name, c);
			lead = " OR ";
		}
}

static void add_replace(const struct tk_db_table *t, struct tk_buf *sql)
{
	const char *lead = " ON CONFLICT DO UPDATE SET ";

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];

		if (c->kind == TK_COL_UID || (!t->has_uid && (c->flags & TK_COL_KEY)))
			continue;
		tk_buf_add_printf(sql, "%s%s=excluded.%s", lead, c->name, c->name);
		lead = ",";
	}
}

static void put_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	bool newest = false;

	tk_buf_add_printf(sql, "INSERT INTO %s(", t->name);
	for (size_t i = 0; i < t->column_count; i++) {
		tk_buf_add_printf(sql, "%s%s", i ? "," : "", t->columns[i].name);
		newest |= t->columns[i].flags & TK_COL_NEWEST;
	}
	tk_buf_add_str(sql, ") VALUES (");
	for (size_t i = 0; i < t->column_count; i++) {
		tk_buf_add_str(sql, i ? "," : "");
		if (t->columns[i].kind == TK_COL_CHECKSUM)
			tk_checksum_add_sql(sql, t, true);
		else if (t->columns[i].kind == TK_COL_UID)
			add_uid(sql, t);
		else
			tk_buf_add_printf(sql, "?%zu", i + 1);
	}
	tk_buf_add_char(sql, ')');
	if (t->rule == TK_PUT_REPLACE)
		add_replace(t, sql);
	else if (newest)
		add_newest(t, sql);
	else
		tk_buf_add_str(sql, " ON CONFLICT DO NOTHING");
}

/* The id by the columns that name a row. */
static void find_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *lead = " WHERE ";

	tk_buf_add_printf(sql, "SELECT id FROM %s", t->name);
	if (t->has_uid) {
		tk_buf_add_str(sql, " WHERE uid=");
		add_uid(sql, t);
		return;
	}
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(sql, "%s%s=?%zu", lead, t->columns[i].name, i + 1);
			lead = " AND ";
		}
}

/* ---- putting --------------------------------------------------------------------------------- */

/* *id, which may be NULL: of the new row. *inserted: false where an equal row was there. */
static int insert(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        bool *inserted, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	const int64_t before = sqlite3_last_insert_rowid(s->db);
	sqlite3_stmt *stmt;

	TRY(tk_db_prepare_table_statement(s, table, TK_STATEMENT_PUT, put_sql, &stmt, err));
	sqlite3_set_last_insert_rowid(s->db, 0);
	int status = bind_row(stmt, t, row, err);
	int code = status ? SQLITE_DONE : sqlite3_step(stmt);

	if (code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot store a %s", t->name);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	*inserted = t->has_id && sqlite3_last_insert_rowid(s->db) != 0;
	if (*inserted && id)
		*id = sqlite3_last_insert_rowid(s->db);
	else if (!*inserted)
		sqlite3_set_last_insert_rowid(s->db, before);
	return status;
}

static int find(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	sqlite3_stmt *stmt;

	TRY(tk_db_prepare_table_statement(s, table, TK_STATEMENT_FIND, find_sql, &stmt, err));
	int status = bind_row(stmt, t, row, err);
	int code = status ? SQLITE_DONE : sqlite3_step(stmt);

	if (code == SQLITE_ROW)
		*id = sqlite3_column_int64(stmt, 0);
	else if (!status && code == SQLITE_DONE)
		status = tk_fail(err, TK_EDATA, "%s: another %s has the same name or place already",
		        s->path, t->name);
	else if (!status)
		status = tk_db_fail(s, code, err, "cannot read a %s", t->name);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return status;
}

int tk_row_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        bool *fresh, struct tk_error *err)
{
	bool inserted;

	TRY(tk_db_check_writable(s, err));
	TRY(insert(s, table, row, id, &inserted, err));
	if (!inserted && id && tk_tables[table].has_id)
		TRY(find(s, table, row, id, err));
	if (fresh)
		*fresh = inserted;
	return tk_db_end_write(s, err);
}

/* ---- maps of ids ----------------------------------------------------------------------------- */

#define CAP_MIN 256

/* The slot that holds `from`, or the empty one where it belongs. */
static struct tk_id_entry *find_slot(const struct tk_id_map *map, int64_t from)
{
	size_t slot =
	        (size_t)(((uint64_t)from * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (map->cap - 1);

	while (map->slots[slot].from && map->slots[slot].from != from)
		slot = (slot + 1) & (map->cap - 1);
	return &map->slots[slot];
}

int64_t tk_id_map_get(const struct tk_id_map *map, int64_t from)
{
	return map->cap && from > 0 ? find_slot(map, from)->to : 0;
}

static void grow(struct tk_id_map *map)
{
	struct tk_id_map grown = {.count = map->count, .cap = map->cap ? 2 * map->cap : CAP_MIN};

	grown.slots = tk_calloc(grown.cap, sizeof *grown.slots);
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].from)
			*find_slot(&grown, map->slots[i].from) = map->slots[i];
	free(map->slots);
	*map = grown;
}

int tk_id_map_set(struct tk_id_map *map, int64_t from, int64_t to, struct tk_error *err)
{
	if (from <= 0)
		return tk_fail(err, TK_EDATA, "the row id %lld is out of range", (long long)from);
	if (2 * map->count >= map->cap)
		grow(map);
	struct tk_id_entry *slot = find_slot(map, from);

	map->count += !slot->from;
	*slot = (struct tk_id_entry){from, to};
	return 0;
}

void tk_id_map_free(struct tk_id_map *map)
{
	free(map->slots);
	*map = (struct tk_id_map){0};
}
