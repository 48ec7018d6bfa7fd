/* Uids and checksums: hashes over values of a row and the uids of what it refers to, so they are
 * the same in every history that has the row. A uid is over the KEY columns, a checksum over all.
 * SQL functions compute them; the expressions are made from the descriptors of the tables. */
#include "base/base.h"
#include "store/db/internal.h"

/* ---- the SQL functions ----------------------------------------------------------------------- */

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

static void hash_values(int count, sqlite3_value **values, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_hash *h = tk_hash_new();

	for (int i = 0; i < count; i++)
		add_value(h, values[i]);
	tk_hash_finish(h, hex);
}

/* tk_uid(table, key...) */
static void uid_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	char hex[TK_HASH_HEX_SIZE];

	hash_values(count, values, hex);
	sqlite3_result_text(context, hex, TK_UID_SIZE - 1, SQLITE_TRANSIENT);
}

/* tk_checksum(table, column...): the first 64 bits of the hash, never 0. */
static void checksum_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	char hex[TK_HASH_HEX_SIZE];

	hash_values(count, values, hex);
	hex[TK_CHECKSUM_DIGITS] = '\0';
	uint64_t checksum = strtoull(hex, NULL, 16);

	sqlite3_result_int64(context, checksum ? (int64_t)checksum : 1);
}

/* tk_known_uid(table, id): NULL where it is not kept; tk_known_uid(table, id, uid) keeps it. */
static void known_uid_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct tk_store *s = sqlite3_user_data(context);
	const int64_t id = sqlite3_value_int64(values[1]);
	struct tk_known_uid none = {0}, *known = &none;

	if (s->known_uids)
		known = &s->known_uids[sqlite3_value_int(values[0])][(uint64_t)id % TK_KNOWN_UIDS];
	if (count == 3) {
		if (sqlite3_value_bytes(values[2]) == TK_UID_SIZE - 1) {
			known->id = id;
			memcpy(known->uid, sqlite3_value_text(values[2]), TK_UID_SIZE - 1);
		}
		sqlite3_result_value(context, values[2]);
	} else if (*known->uid && known->id == id) {
		sqlite3_result_text(context, known->uid, TK_UID_SIZE - 1, SQLITE_TRANSIENT);
	}
}

int tk_checksum_register(struct tk_store *s, struct tk_error *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int code = sqlite3_create_function_v2(s->db, "tk_checksum", -1,
	        flags | SQLITE_DETERMINISTIC, NULL, checksum_function, NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(s->db, "tk_uid", -1, flags | SQLITE_DETERMINISTIC,
		        NULL, uid_function, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(
		        s->db, "tk_known_uid", -1, flags, s, known_uid_function, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : tk_db_fail(s, code, err, "cannot register tk_checksum");
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* A reference counts as the uid of its row. One that may be missing is an empty text where its row
 * does not exist, so that it differs from none. */
static void add_reference(
        struct tk_buf *sql, const struct tk_db_column *c, const char *value, bool of_parameters)
{
	const bool may_miss = c->flags & TK_COL_NULLABLE;

	tk_buf_add_str(sql, may_miss ? "ifnull(" : "");
	if (of_parameters)
		tk_buf_add_printf(sql, "ifnull(tk_known_uid(%d,%s),tk_known_uid(%d,%s,",
		        (int)c->parent, value, (int)c->parent, value);
	tk_buf_add_printf(
	        sql, "(SELECT uid FROM %s WHERE id=%s)", tk_tables[c->parent].name, value);
	tk_buf_add_str(sql, of_parameters ? "))" : "");
	if (may_miss)
		tk_buf_add_printf(sql, ",CASE WHEN %s IS NOT NULL THEN '' END)", value);
}

/* flags: of the columns that are hashed; 0: all. */
static void add_hash_sql(struct tk_buf *sql, const char *function, const struct tk_db_table *t,
        unsigned flags, bool of_parameters)
{
	tk_buf_add_printf(sql, "%s('%s'", function, t->name);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char value[96];

		if (c->kind == TK_COL_CHECKSUM || (c->flags & flags) != flags)
			continue;
		if (of_parameters)
			snprintf(value, sizeof(value), "?%zu", i + 1);
		else
			snprintf(value, sizeof(value), "%s.%s", t->name, c->name);
		tk_buf_add_char(sql, ',');
		if (c->kind == TK_COL_UID && of_parameters)
			tk_uid_add_sql(sql, t, true);
		else if (c->kind == TK_COL_REF)
			add_reference(sql, c, value, of_parameters);
		else
			tk_buf_add_str(sql, value);
	}
	tk_buf_add_char(sql, ')');
}

void tk_checksum_add_sql(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters)
{
	add_hash_sql(sql, "tk_checksum", t, 0, of_parameters);
}

void tk_uid_add_sql(struct tk_buf *sql, const struct tk_db_table *t, bool of_parameters)
{
	add_hash_sql(sql, "tk_uid", t, TK_COL_KEY, of_parameters);
}
