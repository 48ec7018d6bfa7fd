/* Any row into its table and out of it, by the descriptors of tables.c. */
#include "base/buf.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/db/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
	enum { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT, VALUE_BLOB } type;
	int64_t i;
	double r;
	const char *text;
	size_t size;
	char *owned;
};

struct values {
	struct value at[TK_COLUMNS_MAX];
	char uid[TK_UID_SIZE];
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory");
}

static void values_free(const struct tk_db_table *t, struct values *v)
{
	for (size_t i = 0; i < t->column_count; i++)
		free(v->at[i].owned);
}

/* ---- from a struct to values ----------------------------------------------------------------- */

static int value_of_text(
        const struct tk_db_column *c, const char *text, struct value *out, struct tk_error *err)
{
	bool failed;

	if (!text)
		text = "";
	out->owned = tk_text_repair_utf8(text, &failed);
	if (failed)
		return out_of_memory(err);
	out->type = VALUE_TEXT;
	out->text = out->owned ? out->owned : text;
	out->size = strlen(out->text);
	return out->size <= TK_TEXT_MAX_BYTES
	               ? 0
	               : tk_fail(err, TK_EDATA, "%s: a text of %zu bytes; at most %d are allowed",
	                         c->name, out->size, TK_TEXT_MAX_BYTES);
}

static int value_of(
        const struct tk_db_column *c, const void *row, struct value *out, struct tk_error *err)
{
	const void *field = (const char *)row + c->offset;

	switch (c->kind) {
	case TK_COL_UID:
	case TK_COL_CHECKSUM:
		break;
	case TK_COL_TEXT:
		return value_of_text(c, *(const char *const *)field, out, err);
	case TK_COL_WORD:
		out->type = VALUE_TEXT;
		out->text = tk_vocabulary_name(c->words, *(const int *)field);
		out->size = strlen(out->text);
		break;
	case TK_COL_INT:
	case TK_COL_REF:
		out->i = *(const int64_t *)field;
		out->type =
		        (c->flags & TK_COL_NULLABLE) && out->i == c->none ? VALUE_NULL : VALUE_INT;
		break;
	case TK_COL_BOOL:
		out->i = *(const bool *)field;
		out->type = VALUE_INT;
		break;
	case TK_COL_U32:
		out->i = *(const uint32_t *)field;
		out->type = VALUE_INT;
		break;
	case TK_COL_REAL:
		out->r = *(const double *)field;
		out->type = isfinite(out->r) ? VALUE_REAL : VALUE_NULL;
		break;
	case TK_COL_BLOB:
		out->type = VALUE_BLOB;
		out->text = ((const struct tk_bytes *)field)->data;
		out->size = ((const struct tk_bytes *)field)->size;
		break;
	}
	return 0;
}

static int add_key(struct tk_store *s, struct tk_hash *h, const struct tk_db_column *c,
        const struct value *v, struct tk_error *err)
{
	char parent[TK_UID_SIZE];

	if (v->type == VALUE_NULL) {
		tk_hash_add_str(h, NULL);
		return 0;
	}
	switch (c->kind) {
	case TK_COL_REF:
		TRY(tk_row_find_uid(s, c->parent, v->i, parent, err));
		tk_hash_add_str(h, parent);
		break;
	case TK_COL_TEXT:
	case TK_COL_WORD:
		tk_hash_add_str(h, v->text);
		break;
	default:
		tk_hash_add_i64(h, v->i);
	}
	return 0;
}

static int make_uid(
        struct tk_store *s, const struct tk_db_table *t, struct values *v, struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	char hex[TK_HASH_HEX_SIZE];
	int status = 0;

	if (!h)
		return out_of_memory(err);
	tk_hash_add_str(h, t->name);
	for (size_t i = 0; i < t->column_count && !status; i++)
		if (t->columns[i].flags & TK_COL_KEY)
			status = add_key(s, h, &t->columns[i], &v->at[i], err);
	if (status) {
		tk_hash_free(h);
		return status;
	}
	tk_hash_finish(h, hex);
	memcpy(v->uid, hex, TK_UID_SIZE - 1);
	v->uid[TK_UID_SIZE - 1] = '\0';
	return 0;
}

/* Only two tables take the uid of the given row: alerts, whose uid the detector chooses, and
 * machines, whose name may be another one than that in the uid. */
static int set_uid(struct tk_store *s, const struct tk_db_table *t, const void *row,
        struct values *v, struct tk_error *err)
{
	const char *given = *(const char *const *)((const char *)row + t->columns[0].offset);

	if ((!t->has_id || t == &tk_tables[TK_TABLE_machine]) && given && *given)
		return value_of_text(&t->columns[0], given, &v->at[0], err);
	int status = make_uid(s, t, v, err);

	v->at[0].type = VALUE_TEXT;
	v->at[0].text = v->uid;
	v->at[0].size = TK_UID_SIZE - 1;
	return status;
}

/* Call values_free even if it fails. */
static int gather(struct tk_store *s, const struct tk_db_table *t, const void *row,
        struct values *v, struct tk_error *err)
{
	int status = 0;

	memset(v->at, 0, t->column_count * sizeof(v->at[0]));
	for (size_t i = 0; i < t->column_count && !status; i++)
		status = value_of(&t->columns[i], row, &v->at[i], err);
	if (!status && t->has_uid)
		status = set_uid(s, t, row, v, err);
	return status;
}

int tk_row_compute_uid(struct tk_store *s, enum tk_table_id table, const void *row,
        char uid[TK_UID_SIZE], struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	struct values v;
	int status = gather(s, t, row, &v, err);

	if (!status)
		status = make_uid(s, t, &v, err);
	if (!status)
		memcpy(uid, v.uid, TK_UID_SIZE);
	values_free(t, &v);
	return status;
}

/* ---- statements from descriptors ------------------------------------------------------------- */

static void add_newest(const struct tk_db_table *t, struct tk_buf *sql)
{
	const char *lead = "";

	tk_buf_add_str(sql, " ON CONFLICT DO UPDATE SET ");
	for (size_t i = 0; i < t->column_count; i++) {
		const char *c = t->columns[i].name;

		if (!(t->columns[i].flags & TK_COL_NEWEST))
			continue;
		tk_buf_add_printf(sql,
		        "%s%s=CASE WHEN excluded.%s IN ('',0,'{}') THEN %s.%s ELSE excluded.%s END",
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

/* The id by the columns that name a row; bound under the numbers that they have in PUT. */
static void find_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *lead = " WHERE ";

	tk_buf_add_printf(sql, "SELECT id FROM %s", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(sql, "%s%s=?%zu", lead, t->columns[i].name, i + 1);
			lead = " AND ";
		}
}

static void uid_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	tk_buf_add_printf(sql, "SELECT uid FROM %s WHERE id=?1", t->name);
}

/* ---- uids by id ------------------------------------------------------------------------------ */

void tk_db_forget_uids(struct tk_store *s)
{
	s->uid_generation++;
}

void tk_db_free_uids(struct tk_store *s)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		free(s->known_uids[t]);
}

static int read_uid(struct tk_store *s, enum tk_table_id table, int64_t id, char uid[TK_UID_SIZE],
        struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_table_statement(s, table, TK_STATEMENT_UID, uid_sql, &stmt, err),
	    rc;
	const char *text;

	if (status)
		return status;
	sqlite3_bind_int64(stmt, 1, id);
	rc = sqlite3_step(stmt);
	text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
	if (text)
		snprintf(uid, TK_UID_SIZE, "%s", text);
	else if (rc == SQLITE_ROW)
		status = out_of_memory(err);
	else if (rc == SQLITE_DONE)
		status = tk_fail(err, TK_EDATA, "%s: there is no %s with the id %lld", s->path,
		        tk_tables[table].name, (long long)id);
	else
		status = tk_db_fail(s, rc, err, "cannot read a %s", tk_tables[table].name);
	sqlite3_reset(stmt);
	return status;
}

int tk_row_find_uid(struct tk_store *s, enum tk_table_id table, int64_t id, char uid[TK_UID_SIZE],
        struct tk_error *err)
{
	struct tk_known_uid *known;
	int status = 0;

	if (!s->known_uids[table])
		s->known_uids[table] = tk_calloc(TK_KNOWN_UIDS, sizeof(*known));
	if (!s->known_uids[table])
		return out_of_memory(err);
	known = &s->known_uids[table][(uint64_t)id % TK_KNOWN_UIDS];
	if (known->id != id || known->generation != s->uid_generation) {
		known->generation = 0;
		status = read_uid(s, table, id, known->uid, err);
	}
	if (status)
		return status;
	known->id = id;
	known->generation = s->uid_generation;
	memcpy(uid, known->uid, TK_UID_SIZE);
	return 0;
}

/* ---- putting --------------------------------------------------------------------------------- */

static int bind(sqlite3_stmt *stmt, int at, const struct value *v)
{
	switch (v->type) {
	case VALUE_NULL:
		return sqlite3_bind_null(stmt, at);
	case VALUE_INT:
		return sqlite3_bind_int64(stmt, at, v->i);
	case VALUE_REAL:
		return sqlite3_bind_double(stmt, at, v->r);
	case VALUE_TEXT:
		return sqlite3_bind_text64(stmt, at, v->text, v->size, SQLITE_STATIC, SQLITE_UTF8);
	case VALUE_BLOB:
		return sqlite3_bind_blob64(stmt, at, v->text, v->size, SQLITE_STATIC);
	}
	return SQLITE_MISUSE;
}

static int bind_all(sqlite3_stmt *stmt, const struct tk_db_table *t, const struct values *v)
{
	int rc = SQLITE_OK, wanted = sqlite3_bind_parameter_count(stmt);

	for (int i = 0; i < wanted && (size_t)i < t->column_count && rc == SQLITE_OK; i++)
		rc = bind(stmt, i + 1, &v->at[i]);
	return rc;
}

int tk_row_exists(struct tk_store *s, enum tk_table_id table, const char *uid, bool *out,
        struct tk_error *err)
{
	struct values v = {0};
	sqlite3_stmt *stmt;
	int rc, status = tk_db_prepare_table_statement(
	                s, table, TK_STATEMENT_FIND, find_sql, &stmt, err);

	if (status)
		return status;
	v.at[0] = (struct value){.type = VALUE_TEXT, .text = uid, .size = strlen(uid)};
	rc = bind_all(stmt, &tk_tables[table], &v);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		*out = rc == SQLITE_ROW;
	else
		status = tk_db_fail(s, rc, err, "cannot read a %s", tk_tables[table].name);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return status;
}

static int find(struct tk_store *s, enum tk_table_id table, const struct values *v, int64_t *id,
        struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_table_statement(
	            s, table, TK_STATEMENT_FIND, find_sql, &stmt, err),
	    rc;

	if (status)
		return status;
	rc = bind_all(stmt, t, v);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*id = sqlite3_column_int64(stmt, 0);
	else if (rc == SQLITE_DONE)
		status = tk_fail(err, TK_EDATA, "%s: another %s has the same name or place already",
		        s->path, t->name);
	else
		status = tk_db_fail(s, rc, err, "cannot read a %s", t->name);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return status;
}

int tk_row_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        bool *fresh, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	struct values v;
	sqlite3_stmt *stmt;
	bool inserted = false;
	int rc, status = tk_db_check_writable(s, err);

	if (status)
		return status;
	status = gather(s, t, row, &v, err);
	if (!status)
		status = tk_db_prepare_table_statement(
		        s, table, TK_STATEMENT_PUT, put_sql, &stmt, err);
	if (!status) {
		int64_t before = sqlite3_last_insert_rowid(s->db);

		sqlite3_set_last_insert_rowid(s->db, 0);
		rc = bind_all(stmt, t, &v);
		if (rc == SQLITE_OK)
			rc = sqlite3_step(stmt);
		if (rc != SQLITE_DONE)
			status = tk_db_fail(s, rc, err, "cannot store a %s", t->name);
		sqlite3_reset(stmt);
		sqlite3_clear_bindings(stmt);
		inserted = t->has_id && sqlite3_last_insert_rowid(s->db) != 0;
		if (inserted && id)
			*id = sqlite3_last_insert_rowid(s->db);
		else if (!inserted)
			sqlite3_set_last_insert_rowid(s->db, before);
	}
	if (!status && t->has_id && !inserted && id)
		status = find(s, table, &v, id, err);
	if (!status && fresh)
		*fresh = inserted;
	values_free(t, &v);
	return status;
}
