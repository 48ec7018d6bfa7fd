/* Sums of the hashes of all rows, and a chain over the nights.
 *
 * Temporary triggers of a connection that writes keep `digest`, so that whatever else changes a row
 * does not. `seal` gets the sums of each night that a transaction left finished, and a hash over
 * them and the entry before. A night that is continued or merged gets another entry. */
#include "base/base.h"
#include "store/db/internal.h"

/* Sums are modulo 2^62, which SQL computes without an overflow. */
#define MASK 0x3fffffffffffffff
#define MASK_TEXT "0x3fffffffffffffff"

/* What a night saw. What is decided from it is decided again by other rules, and acknowledged. */
#define SEEN "('night','stage','resolution','run','job','measurement','ceiling','ab_pair')"
/* The sums of the night `id`. */
#define CONTENT(id) \
	"(SELECT group_concat(name||' '||sum) FROM (SELECT name, sum FROM digest WHERE " \
	"night_id=" id " AND name IN " SEEN " ORDER BY name))"

/* ---- sums of rows ---------------------------------------------------------------------------- */

/* tk_touched(night[, hash]): the same night; the transaction's end makes an entry of the chain for
 * it. The hash is that of a new measurement: there are millions, and a sum for each night. */
static void touched_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct tk_store *s = sqlite3_user_data(context);
	const int64_t id = sqlite3_value_int64(values[0]);

	if (id && (!s->touched_count || s->touched[s->touched_count - 1].night_id != id)) {
		if (s->touched_count == s->touched_cap) {
			s->touched_cap = s->touched_cap ? 2 * s->touched_cap : 64;
			s->touched =
			        tk_reallocarray(s->touched, s->touched_cap, sizeof *s->touched);
		}
		s->touched[s->touched_count++] = (struct tk_touched){.night_id = id};
	}
	if (id && count > 1) {
		int64_t *sum = &s->touched[s->touched_count - 1].sum;
		*sum = (*sum + sqlite3_value_int64(values[1])) & MASK;
	}
	sqlite3_result_int64(context, id);
}

/* tk_link(text...): a hash in hex. */
static void link_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct tk_hash *h = tk_hash_new();
	char hex[TK_HASH_HEX_SIZE];

	for (int i = 0; i < count; i++)
		tk_hash_add_str(h, (const char *)sqlite3_value_text(values[i]));
	tk_hash_finish(h, hex);
	sqlite3_result_text(context, hex, -1, SQLITE_TRANSIENT);
}

/* A table; the column with the night ("0": none) and all columns, behind a dot. */
struct digested {
	const char *name, *night, *columns;
};

#define SELECT_TABLES \
	"SELECT m.name, CASE WHEN m.name='night' THEN '.id' ELSE ifnull((SELECT '.night_id' FROM " \
	"pragma_table_info(m.name) WHERE name='night_id'),'0') END AS night, (SELECT " \
	"group_concat('.\"'||name||'\"') FROM pragma_table_info(m.name)) AS columns FROM " \
	"sqlite_schema m WHERE type='table' AND name NOT IN ('digest','seal') AND name NOT LIKE " \
	"'sqlite!_%' ESCAPE '!' ORDER BY m.name"

static int list_tables(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct digested, name),
	        TK_MEMBER(struct digested, night), TK_MEMBER(struct digested, columns)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct digested, columns);

	return tk_store_select(s, SELECT_TABLES, TK_NO_ARGS, &type, out, err);
}

/* The text with each '.' behind `row`. */
static void add_qualified(struct tk_buf *sql, const char *text, const char *row)
{
	for (; *text; text++)
		if (*text == '.')
			tk_buf_add_printf(sql, "%s.", row);
		else
			tk_buf_add_char(sql, *text);
}

/* "NIGHT, HASH" of a row. Its checksum, which `db check` compares with the other columns, is a
 * hash. */
static void add_hash(struct tk_buf *sql, const struct digested *t, const char *row, bool touches)
{
	tk_buf_add_str(sql, touches ? "tk_touched(" : "(");
	add_qualified(sql, t->night, row);
	if (strstr(t->columns, ".\"checksum\"")) {
		tk_buf_add_printf(sql, "),%s.checksum&" MASK_TEXT, row);
		return;
	}
	tk_buf_add_printf(sql, "),tk_checksum('%s',", t->name);
	add_qualified(sql, t->columns, row);
	tk_buf_add_str(sql, ")&" MASK_TEXT);
}

/* The hash of row `new` is added to the sum, that of row `old` subtracted. */
static void add_statement(struct tk_buf *sql, const struct digested *t, const char *row)
{
	if (!strcmp(t->name, "measurement") && *row == 'n') {
		tk_buf_add_str(
		        sql, " SELECT tk_touched(new.night_id, new.checksum&" MASK_TEXT ");");
		return;
	}
	tk_buf_add_printf(sql, " INSERT INTO digest(name,night_id,sum) VALUES('%s',", t->name);
	add_hash(sql, t, row, true);
	tk_buf_add_printf(sql,
	        ") ON CONFLICT(name,night_id) DO UPDATE SET sum=(sum+%s)&" MASK_TEXT ";",
	        *row == 'n' ? "excluded.sum" : "(" MASK_TEXT "-excluded.sum)+1");
}

int tk_digest_watch(struct tk_store *s, struct tk_error *err)
{
	static const struct {
		const char *event, *first, *second;
	} events[] = {{"INSERT", "new", NULL}, {"UPDATE", "old", "new"}, {"DELETE", "old", NULL}};
	AUTO(tk_rows) tables = {0};
	AUTO(tk_buf) sql = {0};

	TRY(list_tables(s, &tables, err));
	for (size_t i = 0; i < tables.count; i++)
		for (size_t e = 0; e < sizeof events / sizeof *events; e++) {
			const struct digested *t = TK_ROWS_AT(&tables, struct digested, i);

			tk_buf_add_printf(&sql,
			        "CREATE TEMP TRIGGER digest_%s_%s AFTER %s ON main.%s BEGIN",
			        t->name, events[e].event, events[e].event, t->name);
			add_statement(&sql, t, events[e].first);
			if (events[e].second)
				add_statement(&sql, t, events[e].second);
			tk_buf_add_str(&sql, " END;");
		}
	tk_buf_add_str(&sql, "PRAGMA recursive_triggers=ON"); /* REPLACE deletes rows */
	return tk_db_exec(s, tk_buf_cstr(&sql), err);
}

int tk_digest_register(struct tk_store *s, struct tk_error *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int code = sqlite3_create_function_v2(
	        s->db, "tk_touched", -1, flags, s, touched_function, NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(
		        s->db, "tk_link", -1, flags, NULL, link_function, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : tk_db_fail(s, code, err, "cannot register tk_link");
}

/* ---- the chain ------------------------------------------------------------------------------- */

static int by_night(const void *a, const void *b)
{
	const struct tk_touched *x = a, *y = b;

	return (x->night_id > y->night_id) - (x->night_id < y->night_id);
}

/* Lists each touched night once, and stores the sum of its new measurements. */
static int store_sums(struct tk_store *s, struct tk_error *err)
{
	size_t kept = 0;

	tk_sort(s->touched, s->touched_count, sizeof *s->touched, by_night);
	for (size_t i = 0; i < s->touched_count; i++)
		if (kept && s->touched[kept - 1].night_id == s->touched[i].night_id)
			s->touched[kept - 1].sum =
			        (s->touched[kept - 1].sum + s->touched[i].sum) & MASK;
		else
			s->touched[kept++] = s->touched[i];
	s->touched_count = kept;
	for (size_t i = 0; i < kept; i++) {
		const struct tk_touched t = s->touched[i];

		s->touched[i].sum = 0; /* the statement below ends here too */
		if (t.sum)
			TRY(tk_store_run(s,
			        "INSERT INTO digest(name,night_id,sum) VALUES('measurement',?1,?2)"
			        " ON CONFLICT(name,night_id) DO UPDATE SET"
			        " sum=(sum+excluded.sum)&" MASK_TEXT,
			        TK_ARGS(t.night_id, t.sum), err));
	}
	return 0;
}

/* A running night changes with each of its results. */
int tk_digest_seal(struct tk_store *s, struct tk_error *err)
{
	static const char sql[] =
	        "WITH newest(id, hash) AS (SELECT id, hash FROM seal UNION ALL SELECT 0, ''"
	        " ORDER BY id DESC LIMIT 1), next AS (SELECT newest.id+1 AS entry, hash, night.id,"
	        " uid, " CONTENT("night.id") " AS content FROM newest, night WHERE night.id=?1 AND"
	                                     " status<>'running') INSERT INTO seal(id, night_id, "
	                                     "content, hash) SELECT entry,"
	                                     " id, content, tk_link(hash, entry, uid, content) "
	                                     "FROM next WHERE content IS NOT"
	                                     " (SELECT content FROM seal WHERE night_id=?1 ORDER "
	                                     "BY id DESC LIMIT 1)";

	TRY(store_sums(s, err));
	const size_t count = s->touched_count;

	s->touched_count = 0; /* the statements below end here too */
	for (size_t i = 0; i < count; i++)
		TRY(tk_store_run(s, sql, TK_ARGS(s->touched[i].night_id), err));
	return 0;
}

/* ---- what does not match --------------------------------------------------------------------- */

#define NIGHT \
	"ifnull((SELECT 'night '||substr(uid,1,12) FROM night WHERE id=night_id)," \
	"'a night that is gone')"

static void add_table_check(struct tk_buf *sql, const struct digested *t)
{
	tk_buf_add_str(sql, "WITH row(night_id,hash) AS (SELECT ");
	add_hash(sql, t, t->name, false);
	tk_buf_add_printf(sql,
	        " FROM %s), found AS (SELECT night_id, (((sum(hash>>31)&0x7fffffff)<<31)+"
	        "sum(hash&0x7fffffff))&" MASK_TEXT " AS sum FROM row GROUP BY night_id),"
	        " stored AS (SELECT night_id, sum FROM digest WHERE name='%s')"
	        " SELECT iif(night_id, " NIGHT "||': ', '')||'rows of %s were changed by hand'"
	        " FROM (SELECT night_id FROM found UNION SELECT night_id FROM stored)"
	        " LEFT JOIN found USING(night_id) LEFT JOIN stored USING(night_id)"
	        " WHERE ifnull(found.sum,0)<>ifnull(stored.sum,0)",
	        t->name, t->name, t->name);
}

int tk_digest_check(struct tk_store *s,
        int (*each)(void *user, const char *sql, struct tk_error *err), void *user,
        struct tk_error *err)
{
	AUTO(tk_rows) tables = {0};

	TRY(list_tables(s, &tables, err));
	for (size_t i = 0; i < tables.count; i++) {
		AUTO(tk_buf) sql = {0};

		add_table_check(&sql, TK_ROWS_AT(&tables, struct digested, i));
		TRY(each(user, tk_buf_cstr(&sql), err));
	}
	TRY(each(user,
	        "SELECT 'the chain of nights is broken at entry '||id||', '||" NIGHT
	        " FROM (SELECT *, tk_link(lag(hash,1,'') OVER (ORDER BY id), id, (SELECT uid FROM "
	        "night"
	        " WHERE id=night_id), content) AS expected FROM seal) WHERE hash IS NOT expected",
	        err));
	return each(user,
	        "SELECT 'night '||substr(uid,1,12)||': is not what the chain of nights has: it was "
	        "changed by hand' FROM night WHERE status<>'running' AND " CONTENT(
	                "night.id") " IS NOT (SELECT content FROM seal WHERE night_id=night.id "
	                            "ORDER BY id DESC LIMIT 1)",
	        err);
}
