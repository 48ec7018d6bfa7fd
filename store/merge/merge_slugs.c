/* Slugs of devices and series after a merge. They depend on the rows alone, not on which history
 * came first. Every slug is taken apart into a root and the start of the row's uid; where rows of
 * both histories have the same root, the one with the smallest uid keeps it bare. */
#include "store/merge/merge_internal.h"

/* A slug without the start of the row's own uid. A slug that was cut to length keeps it: its root
 * is not known any more. */
#define ROOT \
	"CASE WHEN length(slug)<100 AND substr(slug,-7)='-'||substr(uid,1,6)" \
	" THEN substr(slug,1,length(slug)-7) ELSE slug END"
/* A row that was inserted by this merge has its uid for a slug. */
#define SELECT_ROOTS(table, owner) \
	"SELECT uid, " owner ", " ROOT " FROM " table " t WHERE slug<>uid"
#define OWNER_OF_DEVICE "(SELECT uid FROM machine WHERE machine.id=t.machine_id)"

/* Of two roots of one row the longer one wins, then the later one in the alphabet. */
#define INSERT_ROOT \
	"INSERT INTO temp.slugs(uid,owner,root) VALUES(?1,?2,?3)" \
	" ON CONFLICT(uid) DO UPDATE SET root=excluded.root" \
	" WHERE (length(excluded.root),excluded.root)>(length(slugs.root),slugs.root)"
#define CHOOSE_SLUGS \
	"UPDATE temp.slugs SET slug=CASE WHEN uid=(SELECT min(o.uid) FROM temp.slugs o" \
	" WHERE o.owner=slugs.owner AND o.root=slugs.root)" \
	" THEN root ELSE rtrim(substr(root,1,113),'.-')||'-'||substr(uid,1,6) END"
/* Kept for the next merge: to make a table takes longer than a small merge. */
#define CREATE_SLUGS \
	"CREATE TEMP TABLE IF NOT EXISTS slugs(" \
	"uid TEXT PRIMARY KEY, owner TEXT, root TEXT, slug TEXT)"
#define CREATE_INDEX "CREATE INDEX IF NOT EXISTS temp.slug_roots ON slugs(owner, root)"
/* Slugs are unique: those that change are freed first. */
#define CLEAR_SLUGS(table) \
	"UPDATE " table " SET slug=uid WHERE slug<>uid AND slug<>" \
	"(SELECT n.slug FROM temp.slugs n WHERE n.uid=" table ".uid)"
#define SET_SLUGS(table) \
	"UPDATE " table " SET slug=(SELECT n.slug FROM temp.slugs n WHERE n.uid=" table ".uid)" \
	" WHERE slug=uid"

struct slug_statements {
	const char *select_roots, *clear, *set;
};

static int insert_root(
        struct tk_store *into, sqlite3_stmt *insert, sqlite3_stmt *root, struct tk_error *err)
{
	int code = SQLITE_OK;

	for (int i = 0; i < 3 && code == SQLITE_OK; i++)
		code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(root, i));
	if (code == SQLITE_OK)
		code = sqlite3_step(insert);
	sqlite3_reset(insert);
	return code == SQLITE_DONE ? 0 : tk_db_fail(into, code, err, "cannot merge a slug");
}

static int run(struct tk_store *into, const char *sql, struct tk_error *err)
{
	return tk_store_run(into, sql, TK_NO_ARGS, err);
}

static int collect_roots(
        struct tk_store *from, struct tk_store *into, const char *sql, struct tk_error *err)
{
	sqlite3_stmt *read, *insert;
	int code = SQLITE_DONE, status = tk_db_prepare_args(from, sql, TK_NO_ARGS, &read, err);

	if (!status)
		status = tk_db_prepare_args(into, INSERT_ROOT, TK_NO_ARGS, &insert, err);
	if (status)
		return status;
	while (!status && (code = sqlite3_step(read)) == SQLITE_ROW)
		status = insert_root(into, insert, read, err);
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(from, code, err, "cannot read the slugs");
	sqlite3_reset(read);
	return status;
}

static int merge_table_slugs(
        struct tk_merge *m, const struct slug_statements *sql, struct tk_error *err)
{
	int status = run(m->into, CREATE_SLUGS, err);

	if (!status)
		status = run(m->into, CREATE_INDEX, err);
	if (!status)
		status = run(m->into, "DELETE FROM temp.slugs", err);
	if (!status)
		status = collect_roots(m->into, m->into, sql->select_roots, err);
	if (!status)
		status = collect_roots(m->from, m->into, sql->select_roots, err);
	if (!status)
		status = run(m->into, CHOOSE_SLUGS, err);
	if (!status)
		status = run(m->into, sql->clear, err);
	if (!status && sqlite3_changes(m->into->db) > 0)
		m->changes_known_nights = true;
	return status ? status : run(m->into, sql->set, err);
}

int tk_merge_slugs(struct tk_merge *m, struct tk_error *err)
{
	static const struct slug_statements devices = {SELECT_ROOTS("device", OWNER_OF_DEVICE),
	        CLEAR_SLUGS("device"), SET_SLUGS("device")};
	static const struct slug_statements series = {
	        SELECT_ROOTS("series", "''"), CLEAR_SLUGS("series"), SET_SLUGS("series")};
	int status = merge_table_slugs(m, &devices, err);

	return status ? status : merge_table_slugs(m, &series, err);
}
