/* Two histories become one. Rows are the same fact where their uid (or, without one, their key) is
 * the same; of two that describe the same fact differently each column takes the greater value in
 * an order of its own (join_sql), so that it does not matter which history came first, how often,
 * or in which groups: a+b = b+a, a+a = a, (a+b)+c = a+(b+c). Nothing of either is lost but a
 * description that was improved.
 *
 * Rows are read through one handle and written through another; references are carried over by
 * arrays of ids. */
#include "base/buf.h"
#include "store/db/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct id_map {
	int64_t *to; /* by the id in the source; 0: none */
	size_t cap;
};

struct merge {
	struct tk_store *from, *into;
	struct id_map maps[TK_TABLE_COUNT];
	struct tk_merge_counts *counts;
	int64_t newest_night_id, newest_build_id; /* of `into`, before */
	bool says_other;                          /* of what was there before */
};

/* ---- ids
 * ----------------------------------------------------------------------------------------------------
 */

static int64_t id_of(const struct id_map *m, int64_t id)
{
	return id > 0 && (size_t)id < m->cap ? m->to[id] : 0;
}

static int id_set(struct id_map *m, int64_t from, int64_t to, struct tk_error *err)
{
	if (from <= 0 || from > (int64_t)1 << 32)
		return tk_fail(err, TK_EDATA, "the row id %lld is out of range", (long long)from);
	if ((size_t)from >= m->cap) {
		size_t cap = (size_t)from + (size_t)from / 2 + 256;
		int64_t *grown = realloc(m->to, cap * sizeof(*grown));

		if (!grown)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		memset(grown + m->cap, 0, (cap - m->cap) * sizeof(*grown));
		m->to = grown;
		m->cap = cap;
	}
	m->to[from] = to;
	return 0;
}

/* ---- what was there
 * ------------------------------------------------------------------------------------------ */

/* What every site writes anew, and what none shows. */
static bool is_told_anew(const struct tk_db_table *t)
{
	static const enum tk_table_id tables[] = {TK_TABLE_machine, TK_TABLE_device,
	        TK_TABLE_environment, TK_TABLE_job, TK_TABLE_confirmation, TK_TABLE_triage,
	        TK_TABLE_notification, TK_TABLE_change_point, TK_TABLE_alert, TK_TABLE_culprit,
	        TK_TABLE_alarm, TK_TABLE_watched};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (t == &tk_tables[tables[i]])
			return true;
	return false;
}

/* Nights, series and builds that come with all that is theirs are an addition. A row that joins a
 * night or a build that was there says something else of it. */
static void note_joined(struct merge *m, const struct tk_db_table *t, sqlite3_stmt *read)
{
	if (m->says_other || is_told_anew(t))
		return;
	for (int i = 0; i < (int)t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		bool of_night = c->kind == TK_COL_REF && c->parent == TK_TABLE_night,
		     of_build = t == &tk_tables[TK_TABLE_kernel] && c->parent == TK_TABLE_build;

		if (!of_night && !of_build)
			continue;
		int64_t id = id_of(&m->maps[c->parent], sqlite3_column_int64(read, i + 1));

		m->says_other |= id && id <= (of_night ? m->newest_night_id : m->newest_build_id);
	}
}

/* Whoever has shown those nights learns of it as of a night that was judged again. */
static int tell_readers(struct merge *m, struct tk_error *err)
{
	if (!m->says_other)
		return 0;
	return tk_db_run_cached(m->into,
	        "INSERT INTO judged(night_id, times) SELECT id, 1 FROM night WHERE id<=?1 ON "
	        "CONFLICT DO UPDATE SET "
	        "times=times+1",
	        &m->newest_night_id, 1, err);
}

/* ---- statements from descriptors
 * ----------------------------------------------------------------------------- */

/* The order of words for how something ended: what is later, or worse, wins. */
#define RANK \
	"CASE %s WHEN 'running' THEN 0 WHEN 'open' THEN 0 WHEN 'skipped' THEN 1 WHEN 'done' THEN " \
	"2 WHEN 'complete' " \
	"THEN 2 " \
	"WHEN 'incomplete' THEN 3 ELSE 4 END"

/* What a value is ordered by: its rank, its length and itself; a reference by the uid that it
 * names. NULL is the least.
 */
static void order_sql(struct tk_buf *sql, const struct tk_db_column *c, const char *value)
{
	if (c->flags & TK_COL_RANKED) {
		tk_buf_add_printf(sql, RANK, value);
		tk_buf_add_printf(sql, ",%s", value);
	} else if (c->kind == TK_COL_TEXT || c->kind == TK_COL_BLOB) {
		tk_buf_add_printf(sql, "length(%s),%s", value, value);
	} else if (c->kind == TK_COL_REF) {
		tk_buf_add_printf(sql, "%s IS NOT NULL,ifnull((SELECT uid FROM %s WHERE id=%s),'')",
		        value, tk_tables[c->parent].name, value);
	} else {
		tk_buf_add_printf(sql, "%s IS NOT NULL,ifnull(%s,0)", value, value);
	}
}

static bool is_name(const struct tk_db_table *t, const struct tk_db_column *c)
{
	return c->kind == TK_COL_UID || (c->flags & TK_COL_KEY) ||
	       ((t == &tk_tables[TK_TABLE_device] || t == &tk_tables[TK_TABLE_series]) &&
	               !strcmp(c->name, "slug"));
}

/* Rows that are one statement as a whole: mixing the columns of two would say what neither said. */
static bool is_whole(const struct tk_db_table *t)
{
	return t == &tk_tables[TK_TABLE_resolution] || t == &tk_tables[TK_TABLE_verdict] ||
	       t == &tk_tables[TK_TABLE_change_point] || t == &tk_tables[TK_TABLE_culprit] ||
	       t == &tk_tables[TK_TABLE_alarm];
}

static void add_row_order(struct tk_buf *sql, const struct tk_db_table *t, bool incoming)
{
	const char *lead = "";

	for (size_t i = 0; i < t->column_count; i++)
		if (!is_name(t, &t->columns[i])) {
			char value[80];

			if (incoming)
				snprintf(value, sizeof(value), "?%zu", i + 1);
			else
				snprintf(
				        value, sizeof(value), "%s.%s", t->name, t->columns[i].name);
			tk_buf_add_str(sql, lead);
			order_sql(sql, &t->columns[i], value);
			lead = ",";
		}
}

/* SET of the columns that describe, WHERE something would change. */
static void join_sql(struct tk_buf *sql, const struct tk_db_table *t)
{
	const char *lead = " SET ";
	struct tk_buf where = TK_BUF_INIT;

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char old[80], new[24];

		if (is_name(t, c))
			continue;
		snprintf(old, sizeof(old), "%s.%s", t->name, c->name);
		snprintf(new, sizeof(new), "?%zu", i + 1);
		if (is_whole(t)) {
			tk_buf_add_printf(sql, "%s%s=%s", lead, c->name, new);
		} else {
			struct tk_buf greater = TK_BUF_INIT;

			tk_buf_add_char(&greater, '(');
			order_sql(&greater, c, new);
			tk_buf_add_str(&greater, ")>(");
			order_sql(&greater, c, old);
			tk_buf_add_char(&greater, ')');
			tk_buf_add_printf(sql, "%s%s=CASE WHEN %s THEN %s ELSE %s END", lead,
			        c->name, tk_buf_cstr(&greater), new, old);
			tk_buf_add_printf(
			        &where, "%s%s", where.len ? " OR " : "", tk_buf_cstr(&greater));
			tk_buf_free(&greater);
		}
		lead = ",";
	}
	if (is_whole(t)) {
		tk_buf_add_str(&where, "(");
		add_row_order(&where, t, true);
		tk_buf_add_str(&where, ")>(");
		add_row_order(&where, t, false);
		tk_buf_add_str(&where, ")");
	}
	tk_buf_add_printf(sql, " WHERE (%s)", tk_buf_cstr(&where));
	tk_buf_free(&where);
}

static bool describes(const struct tk_db_table *t)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (!is_name(t, &t->columns[i]))
			return true;
	return false;
}

/* What names a row: its uid, or its key. */
static void name_sql(struct tk_buf *sql, const struct tk_db_table *t, const char *lead)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->has_uid ? t->columns[i].kind == TK_COL_UID
		               : t->columns[i].flags & TK_COL_KEY) {
			tk_buf_add_printf(
			        sql, "%s%s.%s=?%zu", lead, t->name, t->columns[i].name, i + 1);
			lead = " AND ";
		}
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
		tk_buf_add_printf(sql, ",%s", t->columns[i].name);
	tk_buf_add_printf(sql, " FROM %s", t->name);
}

/* ---- one table
 * -----------------------------------------------------------------------------------------------
 */

struct statements {
	sqlite3_stmt *read, *insert, *find, *join;
};

static int prepare(struct tk_store *s, struct tk_buf *sql, sqlite3_stmt **out, struct tk_error *err)
{
	int status = tk_buf_status(sql, err);

	if (!status)
		status = tk_db_prepare(s, sql->data, out, err);
	tk_buf_free(sql);
	return status;
}

static int prepare_all(
        struct merge *m, const struct tk_db_table *t, struct statements *st, struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	int status;

	select_sql(&sql, t);
	status = prepare(m->from, &sql, &st->read, err);
	if (status)
		return status;
	insert_sql(&sql, t);
	status = prepare(m->into, &sql, &st->insert, err);
	if (!status && t->has_id) {
		tk_buf_add_printf(&sql, "SELECT id FROM %s WHERE ", t->name);
		name_sql(&sql, t, "");
		status = prepare(m->into, &sql, &st->find, err);
	}
	if (!status && describes(t)) {
		tk_buf_add_printf(&sql, "UPDATE %s", t->name);
		join_sql(&sql, t);
		name_sql(&sql, t, " AND ");
		status = prepare(m->into, &sql, &st->join, err);
	}
	return status;
}

/* The values of the row that is read, as parameters. *dangling: it refers to a row that is not
 * there. */
static int bind_row(struct merge *m, const struct tk_db_table *t, sqlite3_stmt *read,
        sqlite3_stmt *to, bool *dangling)
{
	int rc = SQLITE_OK, wanted = sqlite3_bind_parameter_count(to);

	for (int i = 0; i < (int)t->column_count && i < wanted && rc == SQLITE_OK; i++) {
		const struct tk_db_column *c = &t->columns[i];

		if (c->kind == TK_COL_REF && sqlite3_column_type(read, i + 1) != SQLITE_NULL) {
			int64_t id = id_of(&m->maps[c->parent], sqlite3_column_int64(read, i + 1));

			*dangling |= id == 0;
			rc = sqlite3_bind_int64(to, i + 1, id);
		} else {
			rc = sqlite3_bind_value(to, i + 1, sqlite3_column_value(read, i + 1));
		}
	}
	return rc;
}

static int step(
        struct merge *m, sqlite3_stmt *stmt, const struct tk_db_table *t, struct tk_error *err)
{
	int rc = sqlite3_step(stmt), status = 0;

	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		status = tk_db_fail(m->into, rc, err, "cannot merge a %s", t->name);
	return status;
}

/* The id of the row in `into`, 0 where it is not there. */
static int find_row(struct merge *m, const struct tk_db_table *t, const struct statements *st,
        int64_t *id, struct tk_error *err)
{
	bool dangling = false;
	int status;

	bind_row(m, t, st->read, st->find, &dangling);
	status = step(m, st->find, t, err);
	*id = !status && sqlite3_data_count(st->find) ? sqlite3_column_int64(st->find, 0) : 0;
	sqlite3_reset(st->find);
	return status;
}

/* A name that nobody has, until names are given to all (name_rows). */
static void bind_own_slug(const struct tk_db_table *t, sqlite3_stmt *read, sqlite3_stmt *insert)
{
	for (int i = 0; i < (int)t->column_count; i++)
		if (is_name(t, &t->columns[i]) && !strcmp(t->columns[i].name, "slug"))
			sqlite3_bind_value(insert, i + 1, sqlite3_column_value(read, 1));
}

static int insert_row(struct merge *m, const struct tk_db_table *t, const struct statements *st,
        bool *inserted, struct tk_error *err)
{
	bool dangling = false;
	int status;

	*inserted = false;
	bind_row(m, t, st->read, st->insert, &dangling);
	bind_own_slug(t, st->read, st->insert);
	/* Derived rows may be older than a run that was taken out. Nothing else dangles: foreign
	 * keys are enforced. */
	if (dangling)
		return 0;
	status = step(m, st->insert, t, err);
	*inserted = !status && sqlite3_changes(m->into->db) > 0;
	sqlite3_reset(st->insert);
	return status;
}

static int merge_row(
        struct merge *m, enum tk_table_id table, const struct statements *st, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	bool dangling = false, inserted = false;
	int64_t id = 0;
	int status = 0;

	if (t->has_id)
		status = find_row(m, t, st, &id, err);
	if (!status && !id)
		status = insert_row(m, t, st, &inserted, err);
	if (!status && !inserted && st->join) {
		bind_row(m, t, st->read, st->join, &dangling);
		if (!dangling)
			status = step(m, st->join, t, err);
		m->says_other |= !dangling && !status && !is_told_anew(t) &&
		                 sqlite3_changes(m->into->db) > 0;
		sqlite3_reset(st->join);
	}
	if (inserted) {
		note_joined(m, t, st->read);
		m->counts->added[table == TK_TABLE_night         ? TK_MERGE_NIGHTS
		                 : table == TK_TABLE_series      ? TK_MERGE_SERIES
		                 : table == TK_TABLE_measurement ? TK_MERGE_POINTS
		                                                 : TK_MERGE_OTHERS]++;
	}
	if (!status && t->has_id)
		status = id_set(&m->maps[table], sqlite3_column_int64(st->read, 0),
		        inserted ? sqlite3_last_insert_rowid(m->into->db) : id, err);
	return status;
}

static int merge_table(struct merge *m, enum tk_table_id table, struct tk_error *err)
{
	struct statements st = {0};
	int rc = SQLITE_DONE, status = prepare_all(m, &tk_tables[table], &st, err);

	while (!status && (rc = sqlite3_step(st.read)) == SQLITE_ROW)
		status = merge_row(m, table, &st, err);
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(
		        m->from, rc, err, "cannot read the table %s", tk_tables[table].name);
	sqlite3_finalize(st.read);
	sqlite3_finalize(st.insert);
	sqlite3_finalize(st.find);
	sqlite3_finalize(st.join);
	return status;
}

/* ---- names
 * ---------------------------------------------------------------------------------------------------
 */

/* A slug without the end of the row's own uid. One that was cut keeps it: what was before is not
 * known any more. */
#define ROOT \
	"CASE WHEN length(slug)<100 AND substr(slug,-7)='-'||substr(uid,1,6) THEN " \
	"substr(slug,1,length(slug)-7) ELSE " \
	"slug END"
/* One that came in with this merge has its uid for a slug. */
#define GATHER(table, owner) "SELECT uid, " owner ", " ROOT " FROM " table " t WHERE slug<>uid"
#define OWNER_OF_DEVICE "(SELECT uid FROM machine WHERE machine.id=t.machine_id)"

struct name_sql {
	const char *gather, *rename[2];
};

/* Where roots of the same fact differ the longer, then the later one counts; of facts of one root
 * the one with the least uid has it bare. */
#define KEEP_ROOT \
	"INSERT INTO temp.slugs(uid,owner,root) VALUES(?1,?2,?3) ON CONFLICT(uid) DO UPDATE SET " \
	"root=excluded.root " \
	"WHERE (length(excluded.root),excluded.root)>(length(slugs.root),slugs.root)"
#define FINAL \
	"UPDATE temp.slugs SET slug=CASE WHEN uid=(SELECT min(o.uid) FROM temp.slugs o WHERE " \
	"o.owner=slugs.owner AND " \
	"o.root=slugs.root) " \
	"THEN root ELSE rtrim(substr(root,1,113),'.-')||'-'||substr(uid,1,6) END"
#define RENAME(table) \
	{ \
		"UPDATE " table " SET slug=uid WHERE slug<>uid AND slug<>(SELECT n.slug FROM " \
		"temp.slugs n WHERE n.uid=" table ".uid)", \
		        "UPDATE " table \
		        " SET slug=(SELECT n.slug FROM temp.slugs n WHERE n.uid=" table \
		        ".uid) WHERE slug=uid" \
	}

static int gather_roots(
        struct tk_store *from, struct tk_store *into, const char *sql, struct tk_error *err)
{
	sqlite3_stmt *read = NULL, *keep = NULL;
	int rc = SQLITE_DONE, status = tk_db_prepare(from, sql, &read, err);

	if (!status)
		status = tk_db_prepare(into, KEEP_ROOT, &keep, err);
	while (!status && (rc = sqlite3_step(read)) == SQLITE_ROW) {
		for (int i = 0; i < 3; i++)
			sqlite3_bind_value(keep, i + 1, sqlite3_column_value(read, i));
		if (sqlite3_step(keep) != SQLITE_DONE)
			status = tk_db_fail(
			        into, sqlite3_errcode(into->db), err, "cannot keep a name");
		sqlite3_reset(keep);
	}
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(from, rc, err, "cannot read the names");
	sqlite3_finalize(read);
	sqlite3_finalize(keep);
	return status;
}

static int name_rows(struct merge *m, const struct name_sql *sql, struct tk_error *err)
{
	int status = tk_db_exec(m->into,
	        "CREATE TEMP TABLE slugs(uid TEXT PRIMARY KEY, owner TEXT, root TEXT, slug TEXT); "
	        "CREATE INDEX "
	        "temp.slug_roots ON slugs(owner, root)",
	        err);

	if (status)
		return status;
	status = gather_roots(m->into, m->into, sql->gather, err);
	if (!status)
		status = gather_roots(m->from, m->into, sql->gather, err);
	if (!status)
		status = tk_db_exec(m->into, FINAL, err);
	for (int i = 0; i < 2 && !status; i++) {
		status = tk_db_exec(m->into, sql->rename[i], err);
		/* the second only gives names to what came */
		m->says_other |= i == 0 && !status && sqlite3_changes(m->into->db) > 0;
	}
	sqlite3_exec(m->into->db, "DROP TABLE temp.slugs", NULL, NULL, NULL);
	return status;
}

static int name_all(struct merge *m, struct tk_error *err)
{
	static const struct name_sql devices = {
	        GATHER("device", OWNER_OF_DEVICE), RENAME("device")};
	static const struct name_sql series = {GATHER("series", "''"), RENAME("series")};
	int status = name_rows(m, &devices, err);

	return status ? status : name_rows(m, &series, err);
}

/* ---- the whole
 * ------------------------------------------------------------------------------------------------
 */

static int merge_all(struct merge *m, struct tk_error *err)
{
	int status = tk_store_begin(m->into, err);

	if (status)
		return status;
	status = tk_db_get_int(
	        m->into, "SELECT ifnull(max(id),0) FROM night", &m->newest_night_id, err);
	if (!status)
		status = tk_db_get_int(
		        m->into, "SELECT ifnull(max(id),0) FROM build", &m->newest_build_id, err);
	for (int t = 0; t < TK_TABLE_COUNT && !status; t++)
		status = merge_table(m, (enum tk_table_id)t, err);
	if (!status)
		status = name_all(m, err);
	if (!status)
		status = tell_readers(m, err);
	return tk_db_end_transaction(m->into, status, err);
}

int tk_store_merge(struct tk_store *into, struct tk_store *from, struct tk_merge_counts *counts,
        struct tk_error *err)
{
	struct tk_merge_counts unwanted = {{0}};
	struct merge m = {.from = from, .into = into, .counts = counts ? counts : &unwanted};
	/* One state of the source, also while a night is written to it. */
	bool alone = from->depth == 0;
	int status = alone ? tk_db_exec(from, "BEGIN", err) : 0;

	if (status)
		return status;
	status = merge_all(&m, err);
	if (alone)
		tk_db_exec(from, "ROLLBACK", NULL);
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		free(m.maps[t].to);
	return status ? tk_error_add_context(err, "%s", from->path) : 0;
}
