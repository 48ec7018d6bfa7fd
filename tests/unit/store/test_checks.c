/* What is told of a damaged file, of one that another program changed, and of a night that was
 * killed. */
#include "base/clock.h"
#include "base/file.h"
#include "query_rig.h"
#include "store/db/internal.h"
#include "store/lock.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

/* ---- damaged files --------------------------------------------------------------------------- */

static void poke(struct history *h, long at, const void *bytes, size_t n)
{
	FILE *f = fopen(h->path, "r+e");

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void peek_bytes(struct history *h, long at, unsigned char *to, size_t n)
{
	FILE *f = fopen(h->path, "re");

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fread(to, 1, n, f), n);
	fclose(f);
}

static uint32_t peek(struct history *h, long at, size_t n)
{
	unsigned char bytes[4];
	uint32_t value = 0;

	peek_bytes(h, at, bytes, n);
	for (size_t i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	return value;
}

/* The store is closed first: SQLite keeps pages in memory. */
static void close_store(struct history *h)
{
	tk_store_close(h->store);
	h->store = NULL;
}

/* text NULL: nothing is found. */
static void expect_diagnosis(struct history *h, const char *text)
{
	struct tk_rows problems = {0};

	MUST(tk_store_diagnose_file(h->path, &problems, &err));
	assert_int_equal(problems.count, text ? 1 : 0);
	if (text && !strstr(*TK_ROWS_AT(&problems, char *, 0), text))
		fail_msg("\"%s\" instead of \"%s\"", *TK_ROWS_AT(&problems, char *, 0), text);
	tk_rows_free(&problems);
}

static void a_whole_file_has_no_damage(void **state)
{
	struct history *h = *state;
	static const char text[] = "no database";

	close_store(h);
	expect_diagnosis(h, NULL);
	MUST(tk_file_write(h->path, text, sizeof text - 1, &err));
	expect_diagnosis(h, NULL);
	assert_int_equal(unlink(h->path), 0);
	expect_diagnosis(h, NULL);
}

static void a_file_that_is_cut_off(void **state)
{
	struct history *h = *state;
	struct stat st;
	char text[64];

	close_store(h);
	assert_int_equal(stat(h->path, &st), 0);
	snprintf(text, sizeof text, "is cut off: %lld of %lld bytes are there",
	        (long long)st.st_size - 3 * PAGE, (long long)st.st_size);
	assert_int_equal(truncate(h->path, st.st_size - 3 * PAGE), 0);
	expect_diagnosis(h, text);
}

/* The first page locates the others that name tables, each with a number of four bytes. */
static void the_first_page_is_damaged(void **state)
{
	static const struct {
		long at;
		unsigned char bytes[4];
		size_t n;
	} table[] = {
	        {100, {0}, 1},                      /* no kind of page */
	        {100, {10}, 1},                     /* that of an index */
	        {103, {0xff, 0xff}, 2},             /* more cells than it has room for */
	        {108, {0, 0, 0, 0}, 4},             /* the last page: none */
	        {108, {0, 0, 0, 1}, 4},             /* itself */
	        {108, {0x7f, 0xff, 0xff, 0xff}, 4}, /* behind the end of the file */
	};
	struct history *h = *state;
	unsigned char first[PAGE];

	close_store(h);
	assert_int_equal(peek(h, 16, 2), PAGE);
	assert_int_equal(peek(h, 100, 1), 5); /* the schema needs more than one page */
	peek_bytes(h, 0, first, PAGE);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		poke(h, table[i].at, table[i].bytes, table[i].n);
		expect_diagnosis(h, "page 1, which names all tables, is damaged");
		poke(h, 0, first, PAGE);
	}
	expect_diagnosis(h, NULL);
}

/* Both the pages that a cell leads to, and the last one, which the header of the page holds. */
static void another_page_of_the_schema_is_damaged(void **state)
{
	struct history *h = *state;
	char text[64];

	close_store(h);
	uint32_t cell = peek(h, 112, 2);
	const uint32_t pages[] = {peek(h, cell, 4), peek(h, 108, 4)};

	for (size_t i = 0; i < 2; i++) {
		const long at = (long)(pages[i] - 1) * PAGE;
		const unsigned char leaf = 13, none = 0;

		assert_int_equal(peek(h, at, 1), leaf);
		poke(h, at, &none, 1);
		snprintf(text, sizeof text, "page %u, which names tables, is damaged", pages[i]);
		expect_diagnosis(h, text);
		poke(h, at, &leaf, 1);
	}
}

/* The page of a table where its rows begin. */
static long page_of(struct history *h, const char *table)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_open_v2(h->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name=?1",
	                         -1, &stmt, NULL),
	        SQLITE_OK);
	sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	long page = (long)sqlite3_column_int64(stmt, 0);

	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return page;
}

static void expect_problems(struct history *h, size_t count, const char *const *texts)
{
	struct tk_rows problems = {0};

	MUST(tk_store_check(h->store, &problems, &err));
	for (size_t i = 0; i < problems.count && i < count; i++)
		if (!strstr(*TK_ROWS_AT(&problems, char *, i), texts[i]))
			fail_msg("\"%s\" instead of \"%s\"", *TK_ROWS_AT(&problems, char *, i),
			        texts[i]);
	assert_int_equal(problems.count, count);
	tk_rows_free(&problems);
}

/* The tables are told by name; what is in the others is not looked at, as it may be wrong. */
static void pages_of_a_table_are_damaged(void **state)
{
	static const char none[PAGE];
	struct history *h = *state;
	struct tk_rows problems = {0};

	MUST(history_put_run(h, 1, 5, 3, NULL, &err));
	history_run_sql(h, "UPDATE machine SET name='somebody else'");
	long page = page_of(h, "measurement");

	close_store(h);
	poke(h, (page - 1) * PAGE, none, PAGE);
	MUST(tk_store_open(h->path, TK_STORE_READ, &h->store, &err));
	assert_false(tk_store_is_damaged(h->store));
	MUST(tk_store_check(h->store, &problems, &err));
	assert_true(tk_store_is_damaged(h->store));
	assert_true(problems.count > 0);
	for (size_t i = 0; i < problems.count; i++) {
		const char *text = *TK_ROWS_AT(&problems, char *, i);

		if (strncmp(text, "measurement: ", 13) || strstr(text, "never used") ||
		        strchr(text, '\n'))
			fail_msg("%s", text);
	}
	tk_rows_free(&problems);
	expect_diagnosis(h, NULL); /* it can be opened */
}

/* ---- what another program changed ------------------------------------------------------------ */

/* How a table is laid out does not count. A merge refuses only what touches what it reads; where a
 * table is missing, the other checks are left out. The order is that of kinds, then names. */
static void another_schema(void **state)
{
	static const char *const expected[] = {
	        "the index \"aa\" does not belong to a history: another program made it",
	        "the index \"fast\" does not belong", "the table \"a\" does not belong",
	        "the table \"job\" is not defined as in a history: another program changed it",
	        "the table \"notification\" is missing", "the trigger \"t\" does not belong",
	        "the view \"b\" does not belong"};
	struct history *h = *state;

	history_run_sql(h,
	        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET "
	        "sql=replace(replace(sql, ',', ' ,' || char(10, 9)), 'author', '\"author\"') "
	        "WHERE name='triage'; PRAGMA writable_schema=OFF;"
	        "CREATE TABLE a(x); CREATE INDEX aa ON a(x)");
	history_reopen(h, TK_STORE_WRITE);
	MUST(tk_schema_verify(h->store, &err));
	history_run_sql(h, "CREATE INDEX fast ON run(seq)");
	MUST_FAIL(TK_EDATA,
	        "the index \"fast\" does not belong to a history: another program made "
	        "it; `tracker db check` lists all such problems",
	        tk_schema_verify(h->store, &err));
	history_run_sql(h, "DROP TABLE notification; ALTER TABLE job ADD COLUMN more TEXT;"
	                   "UPDATE machine SET name='somebody else'; CREATE VIEW b AS SELECT 1;"
	                   "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END");
	expect_problems(h, sizeof expected / sizeof *expected, expected);
}

/* Each is told with the row, and refused where histories are merged. A text may be a MiB long. */
static void rows_that_were_changed(void **state)
{
	static const struct {
		const char *sql, *problem;
	} table[] = {
	        {"UPDATE device SET name='x'", ": its content says "},
	        {"UPDATE series SET slug='A B'", ": the slug \"A B\" was changed by hand"},
	        {"UPDATE night SET as_of_s=-1, started_s=7258118400",
	                ": as_of_s is -1; expected a time between 1970 and 2200, in seconds"},
	        {"UPDATE run SET as_of_s=7258118400", ": as_of_s is 7258118400; expected"},
	        {"SELECT 1", ": started_s is 7258118400; expected"}, /* of the night, above */
	        {"UPDATE upstream SET name=hex(zeroblob(524288))||'x'",
	                ": a text has 1048577 bytes; at most 1048576 are allowed"},
	        {"UPDATE measurement SET q25=q25+1", "measurement"},
	};
	struct history *h = *state;
	struct tk_rows problems = {0};

	MUST(history_put_run(h, 1, 5, 3, NULL, &err));
	history_run_sql(h, "UPDATE machine SET attributes=hex(zeroblob(524288))");
	MUST(tk_store_verify(h->store, &err));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		history_run_sql(h, table[i].sql);
	MUST(tk_store_check(h->store, &problems, &err));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		bool is_told = false;

		for (size_t j = 0; j < problems.count; j++)
			is_told = is_told ||
			          strstr(*TK_ROWS_AT(&problems, char *, j), table[i].problem);
		if (!is_told)
			fail_msg("%s: not told among %zu", table[i].sql, problems.count);
	}
	tk_rows_free(&problems);
	MUST_FAIL(TK_EDATA, "lists all such problems", tk_store_verify(h->store, &err));
}

/* Rows that refer to nothing are told with their number, and do not keep a merge from the rest. */
static void rows_that_refer_to_nothing(void **state)
{
	static const char *const expected[] = {"1 rows of device refer to no row of machine",
	        "2 rows of stage refer to no row of night"};
	struct history *h = *state;
	struct tk_rows problems = {0};

	history_run_sql(h, "PRAGMA foreign_keys=OFF; INSERT INTO stage(night_id, name, status, "
	                   "started_s) VALUES (77, 'a', 'done', 1), (78, 'b', 'done', 1);"
	                   "UPDATE device SET machine_id=99");
	MUST(tk_store_check(h->store, &problems, &err));
	assert_true(problems.count >= 3);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(*TK_ROWS_AT(&problems, char *, i), expected[i]);
	for (size_t i = 2; i < problems.count; i++)
		assert_memory_equal(*TK_ROWS_AT(&problems, char *, i), "device ", 7);
	tk_rows_free(&problems);
}

/* A history of thousands of wrong rows has a report of bounded length. */
static void a_thousand_problems_are_enough(void **state)
{
	struct history *h = *state;
	struct tk_rows problems = {0};

	history_run_sql(h, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
	                   "i<1500) INSERT INTO machine(uid, name) SELECT printf('%032d', i), "
	                   "'m'||i FROM n");
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 1000);
	tk_rows_free(&problems);
}

/* Rows are read some thousands at a time; none is read twice, and the last is read. */
static void rows_behind_the_first_thousands(void **state)
{
	struct history *h = *state;
	struct tk_machine_row machine = {.attributes = "{}"};
	char name[16];
	int64_t id;

	MUST(tk_store_begin(h->store, &err));
	for (int i = 0; i < 4096; i++) { /* and the one that is there */
		snprintf(name, sizeof name, "m%d", i);
		machine.name = name;
		MUST(tk_store_put_machine(h->store, &machine, &id, &err));
	}
	MUST(tk_store_commit(h->store, &err));
	history_run_sql(h, "UPDATE machine SET name='other' WHERE name='m4095'");
	expect_problems(h, 1, (const char *const[]){"its content says"});
}

/* ---- the lock -------------------------------------------------------------------------------- */

static void expect_marks(struct history *h, struct tk_night_row *nights, size_t count,
        const enum tk_night_status *expected)
{
	struct tk_rows rows = {.rows = nights, .count = count};

	tk_store_mark_stopped(h->store, &rows);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(nights[i].status, expected[i]);
}

/* The newest night that is not finished may be at work; those before it were killed. */
static void nights_that_were_killed(void **state)
{
	static const enum tk_night_status before[] = {TK_NIGHT_COMPLETE, TK_NIGHT_RUNNING,
	        TK_NIGHT_FAILED, TK_NIGHT_RUNNING},
	                                  at_work[] = {TK_NIGHT_COMPLETE, TK_NIGHT_RUNNING,
	                                          TK_NIGHT_FAILED, TK_NIGHT_STOPPED},
	                                  idle[] = {TK_NIGHT_COMPLETE, TK_NIGHT_STOPPED,
	                                          TK_NIGHT_FAILED, TK_NIGHT_STOPPED};
	struct history *h = *state;
	struct tk_night_row nights[4] = {0};
	struct tk_lock *lock, *other;
	char path[112];

	MUST(tk_store_lock(h->path, &lock, &err));
	snprintf(path, sizeof path, "%s.lock", h->path);
	assert_true(tk_file_exists(path));
	MUST_FAIL(TK_EBUSY, "", tk_store_lock(h->path, &other, &err));
	for (int held = 1; held >= 0; held--) {
		for (size_t i = 0; i < 4; i++)
			nights[i].status = before[i];
		expect_marks(h, nights, 4, held ? at_work : idle);
		if (held)
			tk_lock_release(lock);
	}
	MUST(tk_store_lock(h->path, &lock, &err));
	tk_lock_release(lock);
}

/* A write waits for that of another program, as long as it was told. */
static void a_write_waits(void **state)
{
	struct history *h = *state;
	struct tk_machine_row machine = {.name = "m", .attributes = "{}"};
	sqlite3 *other;
	int64_t id;

	assert_int_equal(sqlite3_open(h->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);

	int64_t begin = tk_clock_monotonic_ns();

	tk_store_set_lock_wait(h->store, 0, 0);
	MUST_FAIL(TK_EBUSY, h->path, tk_store_put_machine(h->store, &machine, &id, &err));
	tk_store_set_lock_wait(h->store, 0, 0.03);
	MUST_FAIL(TK_EBUSY, h->path, tk_store_put_machine(h->store, &machine, &id, &err));
	assert_true(tk_clock_monotonic_ns() - begin >= 30000000);
	begin = tk_clock_monotonic_ns();
	tk_store_set_lock_wait(h->store, begin + 30000000, 0);
	MUST_FAIL(TK_EBUSY, h->path, tk_store_put_machine(h->store, &machine, &id, &err));
	assert_true(tk_clock_monotonic_ns() - begin >= 30000000);
	sqlite3_close(other);
	MUST(tk_store_put_machine(h->store, &machine, &id, &err));
}

int check_tests(void)
{
	const struct CMUnitTest tests[] = {
	        QUERY_TEST(a_whole_file_has_no_damage),
	        QUERY_TEST(a_file_that_is_cut_off),
	        QUERY_TEST(the_first_page_is_damaged),
	        QUERY_TEST(another_page_of_the_schema_is_damaged),
	        QUERY_TEST(pages_of_a_table_are_damaged),
	        QUERY_TEST(another_schema),
	        QUERY_TEST(rows_that_were_changed),
	        QUERY_TEST(rows_that_refer_to_nothing),
	        QUERY_TEST(a_thousand_problems_are_enough),
	        QUERY_TEST(rows_behind_the_first_thousands),
	        QUERY_TEST(nights_that_were_killed),
	        QUERY_TEST(a_write_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
