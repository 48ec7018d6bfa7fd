/* What the tracker would not have written: damaged pages, another schema, rows that were changed by
 * hand. `tracker db check` lists it, a merge refuses it. And upkeep: copy, shrink. */
#include "base/base.h"
#include "store/db/internal.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBLEMS_MAX 1000

struct check {
	struct tk_store *store;
	struct tk_rows_builder list; /* of const char * */
	size_t most;
	bool is_full; /* also what a merge passes over: unknown tables, dangling rows */
};

static bool is_done(const struct check *c)
{
	return c->list.out->count >= c->most;
}

static void add_problem(struct check *c, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
static void add_problem(struct check *c, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	*(const char **)tk_rows_add(&c->list) =
	        tk_rows_add_text(&c->list, message, strlen(message));
}

/* Adds a problem for each row of the query, which is its text. */
static int add_selected(struct check *c, const char *sql, struct tk_error *err)
{
	sqlite3_stmt *stmt = NULL;
	int code = SQLITE_DONE, status = 0;

	TRY(tk_db_prepare(c->store, sql, &stmt, err));
	while (!is_done(c) && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		add_problem(c, "%s", (const char *)sqlite3_column_text(stmt, 0));
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		status = tk_db_fail(c->store, code, err, "cannot check");
	sqlite3_finalize(stmt);
	return status;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* SQLite reports several problems in one text. Pages that are never used are a consequence of the
 * damaged ones. */
static void add_lines(struct check *c, const char *table, const char *text)
{
	for (const char *end; *text; text = end + (*end == '\n')) {
		size_t len = strcspn(text, "\n");

		end = text + len;
		if (strncmp(text, "***", 3) &&
		        !(len > 14 && !strncmp(end - 14, " is never used", 14)) &&
		        !(len == 2 && !strncmp(text, "ok", 2)))
			add_problem(c, "%s: %.*s", table, (int)len, text);
	}
}

static int check_pages_of(struct check *c, const char *table, struct tk_error *err)
{
	sqlite3_stmt *stmt = NULL;
	char sql[128];
	int code;

	snprintf(sql, sizeof(sql), "PRAGMA integrity_check(\"%s\")", table);
	TRY(tk_db_prepare(c->store, sql, &stmt, err));
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
		add_lines(c, table, (const char *)sqlite3_column_text(stmt, 0));
	if (code != SQLITE_DONE)
		add_problem(c, "%s: a page that it needs cannot be read", table);
	sqlite3_finalize(stmt);
	return 0;
}

/* By tables, so that the user sees what is lost. */
static int check_pages(struct check *c, struct tk_error *err)
{
	int64_t is_sound;

	if (tk_store_select_int(c->store,
	            "SELECT integrity_check='ok' FROM pragma_integrity_check(1)", TK_NO_ARGS, 0,
	            &is_sound, NULL))
		is_sound = false;
	c->store->is_damaged |= !is_sound;
	for (int t = 0; t < TK_TABLE_COUNT && !is_sound; t++)
		TRY(check_pages_of(c, tk_tables[t].name, err));
	if (!is_sound && !c->list.out->count)
		add_problem(c, "the file: a page that it needs cannot be read");
	return 0;
}

bool tk_store_is_damaged(const struct tk_store *s)
{
	return s->is_damaged;
}

int tk_store_diagnose_file(const char *path, struct tk_rows *problems, struct tk_error *err)
{
	struct check c = {.list = {problems, sizeof(const char *), 0}};
	unsigned char head[100] = {0};
	sqlite3 *db = NULL;
	struct stat st;
	int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	*problems = (struct tk_rows){0};
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	sqlite3_close(db);
	if ((code & 0xff) != SQLITE_CORRUPT)
		return 0;

	FILE *f = fopen(path, "re");
	size_t got = f ? fread(head, 1, sizeof(head), f) : 0;
	/* The size of a page (1: 65536) and their number, big-endian. */
	int64_t page = head[16] << 8 | head[17],
	        pages = (int64_t)head[28] << 24 | head[29] << 16 | head[30] << 8 | head[31];
	int64_t expected = (page == 1 ? 65536 : page) * pages;

	if (f && got == sizeof(head) && fstat(fileno(f), &st) == 0 && st.st_size < expected)
		add_problem(&c, "%s: is cut off: %lld of %lld bytes are there", path,
		        (long long)st.st_size, (long long)expected);
	else
		add_problem(&c, "%s: the pages that name the tables are damaged", path);
	if (f)
		fclose(f);
	return 0;
}

/* ---- schema ---------------------------------------------------------------------------------- */

/* Another program can add a trigger, replace a table by a view, or give a table a constraint that
 * drops rows. */
struct object {
	const char *type, *name, *table, *sql;
};

/* How a statement is laid out depends on the version of SQLite that changed a table. */
#define SELECT_OBJECTS \
	"SELECT type, name, tbl_name AS \"table\", " \
	"replace(replace(replace(replace(ifnull(sql,'')," \
	"' ',''),char(10),''),char(9),''),'\"','') AS sql FROM sqlite_schema" \
	" WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type!='table', type, name"

static int list_objects(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct object, type),
	        TK_MEMBER(struct object, name), TK_MEMBER(struct object, table),
	        TK_MEMBER(struct object, sql)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct object, columns);

	return tk_store_select(s, SELECT_OBJECTS, TK_NO_ARGS, &type, out, err);
}

static const struct object *find_object(
        const struct tk_rows *objects, const char *type, const char *name)
{
	for (size_t i = 0; i < objects->count; i++) {
		const struct object *o = TK_ROWS_AT(objects, struct object, i);

		if (!strcmp(o->type, type) && !strcmp(o->name, name))
			return o;
	}
	return NULL;
}

/* An object that the tracker does not know and that touches nothing that it reads or writes, such
 * as what `sqlite3 .recover` makes. */
static bool is_unused(const struct object *o, const struct tk_rows *expected)
{
	return (!strcmp(o->type, "table") || !strcmp(o->type, "index")) &&
	       !find_object(expected, "table", o->table);
}

/* *readable: whether the tables are those of the tracker. */
static void compare_schemas(struct check *c, const struct tk_rows *found,
        const struct tk_rows *expected, bool *readable)
{
	for (size_t i = 0; i < expected->count && !is_done(c); i++) {
		const struct object *e = TK_ROWS_AT(expected, struct object, i),
		                    *f = find_object(found, e->type, e->name);

		if (f && !strcmp(f->sql, e->sql))
			continue;
		*readable &= strcmp(e->type, "table") != 0;
		add_problem(c,
		        f ? "the %s \"%s\" is not defined as in a history: another program "
		            "changed it"
		          : "the %s \"%s\" is missing",
		        e->type, e->name);
	}
	for (size_t i = 0; i < found->count && !is_done(c); i++) {
		const struct object *f = TK_ROWS_AT(found, struct object, i);

		if (!find_object(expected, f->type, f->name) &&
		        (c->is_full || !is_unused(f, expected)))
			add_problem(c,
			        "the %s \"%.100s\" does not belong to a history: another program "
			        "made it",
			        f->type, f->name);
	}
}

static int check_schema(struct check *c, bool *readable, struct tk_error *err)
{
	AUTO(tk_rows) found = {0};
	AUTO(tk_rows) expected = {0};
	struct tk_store *fresh = NULL;

	*readable = true;
	if (c->store->is_temporary)
		return 0;
	TRY(tk_db_open_temporary(&fresh, err));
	int status = list_objects(fresh, &expected, err);

	tk_store_close(fresh);
	TRY(status);
	TRY(list_objects(c->store, &found, err));
	compare_schemas(c, &found, &expected, readable);
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The bytes of the longest text of a row. Without the cast SQLite counts characters. */
static int check_texts(struct check *c, enum tk_table_id table, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	AUTO(tk_buf) sql = {0};

	tk_buf_add_printf(&sql,
	        "SELECT '%s%s: a text has '||length||' bytes; at most %d are allowed' FROM "
	        "(SELECT %s max(0",
	        t->name, t->has_uid ? " '||substr(uid,1,32)||'" : "", TK_TEXT_MAX_BYTES,
	        t->has_uid ? "uid," : "");
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *column = &t->columns[i];

		if (column->kind == TK_COL_TEXT || column->kind == TK_COL_UID ||
		        column->kind == TK_COL_WORD)
			tk_buf_add_printf(&sql, ",length(CAST(%s AS BLOB))", column->name);
	}
	tk_buf_add_printf(
	        &sql, ",0) AS length FROM %s) WHERE length>%d", t->name, TK_TEXT_MAX_BYTES);
	return add_selected(c, tk_buf_cstr(&sql), err);
}

/* The uid of a row that refers to a lost one cannot be told. The night that found an alert may have
 * given it its uid, and a machine that was renamed has that of its first name. */
static int check_uids(struct check *c, enum tk_table_id table, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	AUTO(tk_buf) sql = {0};

	if (!t->has_uid || !t->has_id)
		return 0;
	tk_buf_add_printf(&sql,
	        "SELECT '%s '||uid||': its content says '||expected||': it was changed by hand'"
	        " FROM (SELECT *, ",
	        t->name);
	tk_uid_add_sql(&sql, t, false);
	tk_buf_add_printf(&sql, " AS expected FROM %s) r WHERE uid<>expected%s", t->name,
	        table == TK_TABLE_machine ? " AND renamed_s=0" : "");
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].kind == TK_COL_REF && (t->columns[i].flags & TK_COL_KEY))
			tk_buf_add_printf(&sql,
			        " AND (r.%s IS NULL OR EXISTS(SELECT 1 FROM %s p WHERE p.id=r.%s))",
			        t->columns[i].name, tk_tables[t->columns[i].parent].name,
			        t->columns[i].name);
	return add_selected(c, tk_buf_cstr(&sql), err);
}

/* What names a row for people. */
static const char *const checked[TK_TABLE_COUNT] = {
        [TK_TABLE_measurement] = "'measurement of run '||run_id||', series '||ifnull((SELECT slug "
                                 "FROM series WHERE id=series_id),'unknown')",
        [TK_TABLE_tuning] = "'tuning '||uid||', backend '||backend",
        [TK_TABLE_kernel_report] = "kind||' '||uid||', backend '||backend",
};

static int check_checksums(struct check *c, enum tk_table_id table, struct tk_error *err)
{
	AUTO(tk_buf) sql = {0};

	if (!checked[table])
		return 0;
	tk_buf_add_printf(&sql,
	        "SELECT %s||iif(checksum=0, ': has no checksum: it was not written by tracker',"
	        " printf(': was changed by hand: its checksum is %%016x, its content has %%016x',"
	        " checksum, expected)) FROM (SELECT *, ",
	        checked[table]);
	tk_checksum_add_sql(&sql, &tk_tables[table], false);
	tk_buf_add_printf(
	        &sql, " AS expected FROM %s) WHERE checksum<>expected", tk_tables[table].name);
	return add_selected(c, tk_buf_cstr(&sql), err);
}

/* Times are those that order the nights and the points of a series. */
static int check_others(struct check *c, struct tk_error *err)
{
#define BAD_TIME(table, column) \
	"SELECT '" table " '||uid||': " column " is '||" column \
	"||'; expected a time between 1970 and 2200, in seconds' FROM " table " WHERE " column \
	" NOT BETWEEN 1 AND 7258118399"
	if (c->is_full)
		TRY(add_selected(c,
		        "SELECT count(*)||' rows of '||\"table\"||' refer to no row of '||parent"
		        " FROM pragma_foreign_key_check GROUP BY \"table\", parent",
		        err));
	TRY(add_selected(c,
	        BAD_TIME("night", "as_of_s") " UNION ALL " BAD_TIME(
	                "night", "started_s") " UNION ALL " BAD_TIME("run", "as_of_s"),
	        err));
#define BAD_SLUG(table) \
	"SELECT '" table " '||uid||': the slug \"'||substr(slug,1,100)||'\" was changed by hand'" \
	" FROM " table " WHERE NOT slug_is_valid(slug)"
	return add_selected(c, BAD_SLUG("device") " UNION ALL " BAD_SLUG("series"), err);
}

static int select_problems(void *check, const char *sql, struct tk_error *err)
{
	return is_done(check) ? 0 : add_selected(check, sql, err);
}

static int check_rows(struct check *c, struct tk_error *err)
{
	static int (*const checks[])(struct check *, enum tk_table_id, struct tk_error *) = {
	        check_texts, check_uids, check_checksums};

	TRY(check_others(c, err));
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		for (int t = 0; t < TK_TABLE_COUNT && !is_done(c); t++)
			TRY(checks[i](c, (enum tk_table_id)t, err));
	return c->store->is_temporary ? 0 : tk_digest_check(c->store, select_problems, c, err);
}

static int check_all(struct check *c, struct tk_error *err)
{
	bool readable;

	TRY(check_schema(c, &readable, err));
	return readable && !is_done(c) ? check_rows(c, err) : 0;
}

/* ---- who asks -------------------------------------------------------------------------------- */

int tk_store_check(struct tk_store *s, struct tk_rows *problems, struct tk_error *err)
{
	struct check c = {s, {problems, sizeof(const char *), 0}, PROBLEMS_MAX, true};
	struct tk_error why = {0};
	int status;

	*problems = (struct tk_rows){0};
	status = check_pages(&c, &why);
	/* The content of damaged pages is not worth reading. */
	if (!status && !s->is_damaged)
		status = check_all(&c, &why);
	if (status == TK_EDATA) /* damage that only reading reveals is a result, not an error */
		add_problem(&c, "%s", why.message);
	if (!status || status == TK_EDATA)
		return 0;
	tk_rows_free(problems);
	return tk_fail(err, status, "%s", why.message);
}

static int verify(
        struct tk_store *s, int (*check)(struct check *, struct tk_error *), struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	struct check c = {s, {&rows, sizeof(const char *), 0}, 1, false};

	TRY(check(&c, err));
	return rows.count ? tk_fail(err, TK_EDATA, "%s; `tracker db check` lists all such problems",
	                            *TK_ROWS_AT(&rows, char *, 0))
	                  : 0;
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

/* ---- upkeep: copy, shrink -------------------------------------------------------------------- */

int tk_store_remove_pending(const char *path, struct tk_error *err)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		AUTO_TEXT name = tk_sprintf("%s%s", path, ends[i]);

		if (unlink(name) && errno != ENOENT)
			return tk_fail_errno(err, "%s", name);
	}
	return 0;
}

/* ---- copy ------------------------------------------------------------------------------------ */

static int copy_pages(struct tk_store *s, const char *to, struct tk_error *err)
{
	sqlite3 *db = NULL;
	sqlite3_backup *backup = NULL;
	int status = 0,
	    rc = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc == SQLITE_OK)
		backup = sqlite3_backup_init(db, "main", s->db, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		rc = sqlite3_backup_finish(backup);
	} else if (rc == SQLITE_OK) {
		rc = sqlite3_errcode(db);
	}
	if (rc != SQLITE_OK) {
		struct tk_store other = {.db = db, .path = (char *)to};

		status = tk_db_fail(&other, rc, err, "cannot write the backup");
	}
	sqlite3_close(db);
	return status;
}

static int copy_file(struct tk_store *s, const char *to, struct tk_error *err)
{
	AUTO_TEXT temporary = tk_sprintf("%s.%ld.part", to, (long)getpid());

	unlink(temporary);
	int status = copy_pages(s, temporary, err);

	if (!status && rename(temporary, to) != 0)
		status = tk_fail_errno(err, "cannot rename %s to %s", temporary, to);
	if (status)
		unlink(temporary);
	return status;
}

int tk_store_backup(struct tk_store *s, const char *to, struct tk_error *err)
{
	struct stat here, there;

	if (stat(s->path, &here) == 0 && stat(to, &there) == 0) {
		if (here.st_dev == there.st_dev && here.st_ino == there.st_ino)
			return tk_fail(err, TK_EUSAGE, "%s: is the history itself", to);
		if (!S_ISREG(there.st_mode))
			return tk_fail(err, TK_EUSAGE, "%s: is not a file", to);
	}
	return copy_file(s, to, err);
}

/* ---- shrink ---------------------------------------------------------------------------------- */

int tk_store_drop_samples(struct tk_store *s, int64_t before_s, struct tk_error *err)
{
	TRY(tk_db_check_writable(s, err));
	/* Of the two tables this is the small one: it has the newest nights alone. */
	return tk_store_run(s,
	        "DELETE FROM sample WHERE (SELECT started_s FROM run WHERE id=sample.run_id)<?1",
	        TK_ARGS(before_s), err);
}

int tk_store_vacuum(struct tk_store *s, int64_t drop_samples_before_s, struct tk_error *err)
{
	TRY(tk_store_drop_samples(s, drop_samples_before_s, err));
	TRY(tk_db_exec(s, "VACUUM", err));
	TRY(tk_db_exec(s, "PRAGMA wal_checkpoint(TRUNCATE)", err));
	return tk_db_exec(s, "PRAGMA optimize", err);
}
