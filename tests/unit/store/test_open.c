/* Which files are taken for a history, how an older one becomes a new one, and what is left after
 * every end of a transaction. */
#include "base/buf.h"
#include "base/file.h"
#include "history.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state)
{
	struct history *h = calloc(1, sizeof(*h));

	history_new(h);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	history_free(*state);
	free(*state);
	return 0;
}

/* Runs SQL on a database of its own and returns its path. */
static const char *database(struct history *h, const char *name, const char *sql)
{
	static char path[128];
	char *why = NULL;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	sqlite3_close(db);
	return path;
}

static void what_is_not_a_history_is_refused(void **state)
{
	struct history *h = *state;
	struct tk_store *s;
	char path[128];

	MUST_FAIL(TK_EDATA, "not a history of tracker",
	        tk_store_open(database(h, "foreign", "CREATE TABLE users(name)"), TK_STORE_CREATE,
	                &s, &err));
	MUST_FAIL(TK_EDATA, "not a history of tracker",
	        tk_store_open(database(h, "other", "PRAGMA application_id=17"), TK_STORE_CREATE, &s,
	                &err));
	MUST_FAIL(TK_EDATA, "not a history of tracker",
	        tk_store_open(
	                database(h, "numbered", "PRAGMA user_version=3"), TK_STORE_READ, &s, &err));
	MUST_FAIL(TK_EDATA, "without a version",
	        tk_store_open(database(h, "void", "PRAGMA application_id=0x746b6869"),
	                TK_STORE_CREATE, &s, &err));
	snprintf(path, sizeof(path), "%s/text", h->dir);
	const char *text = "this is a text that is long enough to be taken for the header of a "
	                   "database file, which "
	                   "has 100 bytes or more";
	MUST(tk_file_write(path, text, strlen(text), &err));
	MUST_FAIL(TK_EDATA, "not a database", tk_store_open(path, TK_STORE_CREATE, &s, &err));
	MUST_FAIL(TK_EDATA, "not a database", tk_store_open(path, TK_STORE_READ, &s, &err));
	MUST_FAIL(TK_EDATA, "is not a file", tk_store_open(h->dir, TK_STORE_CREATE, &s, &err));
	snprintf(path, sizeof(path), "%s/absent", h->dir);
	MUST_FAIL(TK_ENOTFOUND, "no history yet", tk_store_open(path, TK_STORE_READ, &s, &err));
	MUST_FAIL(TK_ENOTFOUND, "no history yet", tk_store_open(path, TK_STORE_WRITE, &s, &err));
	assert_false(tk_file_exists(path));
	snprintf(path, sizeof(path), "%s/no/such/folder", h->dir);
	MUST_FAIL(TK_EIO, "cannot open", tk_store_open(path, TK_STORE_CREATE, &s, &err));
	MUST(tk_file_write((snprintf(path, sizeof(path), "%s/empty", h->dir), path), "", 0, &err));
	MUST_FAIL(TK_EVERSION, "is empty", tk_store_open(path, TK_STORE_READ, &s, &err));
	MUST(tk_store_open(path, TK_STORE_CREATE, &s, &err));
	tk_store_close(s);
}

static void a_newer_history_is_refused(void **state)
{
	struct history *h = *state;
	struct tk_store *s;

	tk_store_close(h->store);
	h->store = NULL;
	database(h, "tracker.db", "PRAGMA user_version=4711");
	MUST_FAIL(TK_EVERSION, "newer tracker (history version 4711",
	        tk_store_open(h->path, TK_STORE_CREATE, &s, &err));
	MUST_FAIL(
	        TK_EVERSION, "update the tracker", tk_store_open(h->path, TK_STORE_READ, &s, &err));
}

/* A history as the first version of the schema made it, with one row. */
static const char *old_history(struct history *h)
{
	struct tk_buf sql = TK_BUF_INIT;
	const char *path;

	MUST(tk_file_read(
	        TK_SOURCE_ROOT "/store/migrations/0001_initial.sql", 1 << 20, &sql, &err));
	tk_buf_add_str(&sql, "PRAGMA application_id=0x746b6869; PRAGMA user_version=1;"
	                     "INSERT INTO machine(uid, name) VALUES ('u', 'old box');");
	path = database(h, "old.db", tk_buf_cstr(&sql));
	tk_buf_free(&sql);
	return path;
}

static void an_older_history_is_migrated_with_a_backup(void **state)
{
	struct history *h = *state;
	const char *path = old_history(h);
	char backup[160];
	struct tk_store *s;
	struct tk_rows list;

	MUST_FAIL(TK_EVERSION, "older tracker (history version 1",
	        tk_store_open(path, TK_STORE_READ, &s, &err));
	snprintf(backup, sizeof(backup), "%s.v1.backup", path);
	assert_false(tk_file_exists(backup));
	MUST(tk_store_open(path, TK_STORE_WRITE, &s, &err));
	MUST(tk_store_list_machines(s, &list, &err));
	assert_int_equal(list.count, 1);
	assert_string_equal(TK_ROWS_AT(&list, struct tk_machine_row, 0)->name, "old box");
	tk_rows_free(&list);
	MUST(tk_store_list_notifications(s, &list, &err));
	tk_rows_free(&list);
	tk_store_close(s);
	MUST_FAIL(TK_EVERSION, "older tracker", tk_store_open(backup, TK_STORE_READ, &s, &err));
	MUST(tk_store_open(path, TK_STORE_READ, &s, &err));
	tk_store_close(s);
	/* A second one does not write over the first. */
	unlink(path);
	old_history(h);
	MUST(tk_store_open(path, TK_STORE_CREATE, &s, &err));
	tk_store_close(s);
	snprintf(backup, sizeof(backup), "%s.v1.1.backup", path);
	assert_true(tk_file_exists(backup));
}

static void a_migration_that_fails_changes_nothing(void **state)
{
	struct history *h = *state;
	const char *path = old_history(h);
	struct tk_store *s;

	/* What the migration makes is there already, as something else. */
	database(h, "old.db", "CREATE VIEW notification AS SELECT 1");
	MUST_FAIL(TK_EDATA, "migration 0002_notification",
	        tk_store_open(path, TK_STORE_WRITE, &s, &err));
	MUST_FAIL(TK_EDATA, "\"notification\" is a view",
	        tk_store_open(path, TK_STORE_WRITE, &s, &err));
	MUST_FAIL(TK_EVERSION, "history version 1", tk_store_open(path, TK_STORE_READ, &s, &err));
}

static void reading_needs_no_writable_folder(void **state)
{
	struct history *h = *state;
	int how;
	pid_t child;

	history_fill(h);
	tk_store_close(h->store);
	h->store = NULL;
	assert_int_equal(chmod(h->path, 0444), 0);
	assert_int_equal(chmod(h->dir, 0555), 0);
	child = fork();
	if (child == 0) {
		struct tk_error err = {0};
		struct tk_store *s;
		struct tk_rows list;
		struct tk_machine_row row = {.name = "x", .attributes = "{}"};
		int64_t id;

		/* root may write anywhere */
		if (getuid() == 0 && setuid(65534) != 0)
			_exit(2);
		if (tk_store_open(h->path, TK_STORE_READ, &s, &err) ||
		        tk_store_list_machines(s, &list, &err) || list.count != 1) {
			fprintf(stderr, "%s\n", err.message);
			_exit(3);
		}
		tk_rows_free(&list);
		if (tk_store_put_machine(s, &row, &id, &err) != TK_EIO ||
		        !strstr(err.message, "reading only"))
			_exit(4);
		tk_store_close(s);
		_exit(tk_store_open(h->path, TK_STORE_WRITE, &s, &err) == TK_EIO ? 0 : 5);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how));
	assert_int_equal(WEXITSTATUS(how), 0);
	assert_int_equal(chmod(h->dir, 0755), 0);
}

static void transactions_nest(void **state)
{
	struct history *h = *state;

	history_fill(h);
	MUST(tk_store_begin(h->store, &err));
	MUST(history_put_run(h, 1, 1, 3, NULL, &err));
	MUST(history_put_run(h, 2, 2, 3, NULL, &err));
	assert_int_equal(history_count(h, "run"), 0);
	MUST(tk_store_commit(h->store, &err));
	assert_int_equal(history_count(h, "run"), 2);
	MUST_FAIL(TK_EINTERNAL, "no transaction", tk_store_commit(h->store, &err));
}

static void a_rollback_takes_all(void **state)
{
	struct history *h = *state;
	struct tk_machine_row machine = {.name = "gone", .attributes = "{}"},
	                      other = {.name = "kept", .attributes = "{}"};
	struct tk_device_row device = {.kind = "cpu", .name = "c", .arch = "", .slug = "cpu"};
	struct tk_rows problems;
	int64_t id;

	history_fill(h);
	MUST(tk_store_begin(h->store, &err));
	MUST(tk_store_put_machine(h->store, &machine, &device.machine_id, &err));
	MUST(tk_store_put_device(h->store, &device, &id, &err));
	tk_store_rollback(h->store);
	assert_int_equal(history_count(h, "machine"), 1);
	/* The id of what was rolled back is given to another: its uid must not be remembered. */
	MUST(tk_store_put_machine(h->store, &other, &device.machine_id, &err));
	MUST(tk_store_put_device(h->store, &device, &id, &err));
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
	/* An inner one dooms the outer one, and says so. */
	MUST(tk_store_begin(h->store, &err));
	MUST(tk_store_begin(h->store, &err));
	MUST(history_put_run(h, 1, 1, 3, NULL, &err));
	tk_store_rollback(h->store);
	MUST_FAIL(TK_ECANCELED, "failed already", history_put_run(h, 2, 1, 3, NULL, &err));
	MUST_FAIL(TK_ECANCELED, "failed already", tk_store_commit(h->store, &err));
	assert_int_equal(history_count(h, "run"), 0);
	MUST(history_put_run(h, 1, 1, 3, NULL, &err));
	assert_int_equal(history_count(h, "run"), 1);
}

/* The mode of the series that is not `cold`. */
static void expect_mode(struct history *h, const char *mode, size_t series_count)
{
	struct tk_rows series, problems;

	MUST(tk_store_list_series(h->store, &series, &err));
	assert_int_equal(series.count, series_count);
	assert_string_equal(
	        TK_ROWS_AT(&series, struct tk_series_row, series_count - 1)->mode, mode);
	tk_rows_free(&series);
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
}

static void a_new_name_of_a_mode_keeps_its_series(void **state)
{
	struct history *h = *state;
	struct tk_series_row series = {.backend = "blas",
	        .config = "",
	        .mode = "loaded",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	struct tk_buf migration = TK_BUF_INIT;
	int64_t by_former_name, by_name;

	history_fill(h);
	series.device_id = h->device;
	series.upstream_id = h->upstream;
	series.problem_id = h->problem;
	MUST(tk_store_put_series(h->store, &series, &by_former_name, &err));
	expect_mode(h, "contended", 2);
	series.mode = "contended";
	MUST(tk_store_put_series(h->store, &series, &by_name, &err));
	assert_int_equal(by_name, by_former_name);
	expect_mode(h, "contended", 2);
	/* As the tracker before the migration left it. */
	database(h, "tracker.db", "UPDATE series SET mode='loaded' WHERE mode='contended'");
	expect_mode(h, "loaded", 2);
	MUST(tk_file_read(TK_SOURCE_ROOT "/store/migrations/0014_mode_contended.sql", 1 << 20,
	        &migration, &err));
	database(h, "tracker.db", tk_buf_cstr(&migration));
	tk_buf_free(&migration);
	expect_mode(h, "contended", 2);
}

static void check_finds_what_is_wrong(void **state)
{
	struct history *h = *state;
	struct tk_rows problems;

	history_fill(h);
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
	database(h, "tracker.db",
	        "UPDATE machine SET name='somebody else'; PRAGMA foreign_keys=OFF;"
	        "INSERT INTO stage(night_id, name, status, started_s) VALUES (77, 'plan', 'done', "
	        "1)");
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 2);
	assert_string_equal(
	        *TK_ROWS_AT(&problems, char *, 0), "1 rows of stage refer to no row of night");
	assert_non_null(strstr(*TK_ROWS_AT(&problems, char *, 1), "changed by hand"));
	tk_rows_free(&problems);
}

/* Neither runs: not where rows are stored, not where they are read. */
static void triggers_and_views_do_not_run(void **state)
{
	struct history *h = *state;
	struct tk_rows problems, list = {0};
	int64_t id;

	history_fill(h);
	database(h, "tracker.db",
	        "CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM measurement; END;"
	        "CREATE TRIGGER u BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'no'); END");
	MUST(history_put_run(h, 1, 100, 0, &id, &err));
	assert_int_equal(history_count(h, "measurement"), 1);
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 2);
	assert_string_equal(*TK_ROWS_AT(&problems, char *, 0),
	        "the trigger \"t\" does not belong to a history: another program made it");
	tk_rows_free(&problems);
	database(h, "tracker.db",
	        "CREATE VIEW a AS SELECT 1; ALTER TABLE machine RENAME TO m;"
	        "CREATE VIEW machine AS SELECT * FROM m");
	MUST_FAIL(TK_EDATA, "\"machine\" is a view, and a history has none",
	        tk_store_list_machines(h->store, &list, &err));
	MUST_FAIL(TK_EDATA, "\"machine\" is a view",
	        tk_store_put_machine(h->store,
	                &(struct tk_machine_row){.name = "x", .attributes = "{}"}, &id, &err));
}

/* A table of other tools, as `.recover` makes one, hides nothing else that is wrong. */
static void check_compares_the_schema(void **state)
{
	static const char *const expected[] = {"the index \"found\" does not belong",
	        "the table \"lost_and_found\" does not belong", "changed by hand"};
	struct history *h = *state;
	struct tk_rows problems;

	history_fill(h);
	database(h, "tracker.db",
	        "CREATE TABLE lost_and_found(a); CREATE INDEX found ON lost_and_found(a);"
	        "UPDATE machine SET name='somebody else'");
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 3);
	for (size_t i = 0; i < problems.count; i++)
		assert_non_null(strstr(*TK_ROWS_AT(&problems, char *, i), expected[i]));
	tk_rows_free(&problems);
}

static void a_damaged_file_is_told(void **state)
{
	struct history *h = *state;
	struct tk_rows problems = {0};
	struct tk_error why = {0};
	struct tk_store *s;
	FILE *f;

	history_fill(h);
	for (int64_t seq = 0; seq < 500; seq++)
		MUST(history_put_run(h, seq, 1, 10, NULL, &err));
	tk_store_close(h->store);
	h->store = NULL;
	f = fopen(h->path, "r+");
	assert_non_null(f);
	for (long page = 3; page < 40; page++) {
		fseek(f, page * 4096, SEEK_SET);
		for (int i = 0; i < 512; i++)
			fputs("garbage ", f);
	}
	fclose(f);
	if (tk_store_open(h->path, TK_STORE_READ, &s, &why) == 0) {
		MUST(tk_store_check(s, &problems, &err));
		assert_true(problems.count > 0);
		tk_rows_free(&problems);
		MUST_FAIL(TK_EDATA, "damaged", tk_store_list_series_runs(s, 1, &problems, &err));
		tk_store_close(s);
	} else {
		assert_int_equal(why.status, TK_EDATA);
	}
}

static void backup_and_vacuum(void **state)
{
	struct history *h = *state;
	char to[128];
	struct tk_store *s;
	struct tk_rows list;

	history_fill(h);
	for (int64_t seq = 0; seq < 20; seq++)
		MUST(history_put_run(h, seq, 1, 100, NULL, &err));
	snprintf(to, sizeof(to), "%s/copy.db", h->dir);
	MUST(tk_store_backup(h->store, to, &err));
	MUST(tk_store_backup(h->store, to, &err));
	MUST_FAIL(TK_EUSAGE, "the history itself", tk_store_backup(h->store, h->path, &err));
	MUST_FAIL(TK_EUSAGE, "is not a file", tk_store_backup(h->store, h->dir, &err));
	MUST_FAIL(TK_EIO, "cannot write the backup",
	        tk_store_backup(h->store, "/nonexistent/x.db", &err));
	MUST(tk_store_open(to, TK_STORE_READ, &s, &err));
	MUST(tk_store_list_points(s, h->series, INT64_MIN, 0, &list, &err));
	assert_int_equal(list.count, 20);
	tk_rows_free(&list);
	tk_store_close(s);
	MUST(tk_store_vacuum(h->store, 1110, &err));
	assert_int_equal(history_count(h, "sample"), 10);
	assert_int_equal(history_count(h, "measurement"), 20);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_is_not_a_history_is_refused),
	        TEST(a_newer_history_is_refused),
	        TEST(an_older_history_is_migrated_with_a_backup),
	        TEST(a_migration_that_fails_changes_nothing),
	        TEST(reading_needs_no_writable_folder),
	        TEST(transactions_nest),
	        TEST(a_rollback_takes_all),
	        TEST(a_new_name_of_a_mode_keeps_its_series),
	        TEST(check_finds_what_is_wrong),
	        TEST(triggers_and_views_do_not_run),
	        TEST(check_compares_the_schema),
	        TEST(a_damaged_file_is_told),
	        TEST(backup_and_vacuum),
	};

	return cmocka_run_group_tests_name("store open", tests, NULL, NULL);
}
