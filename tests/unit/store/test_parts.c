/* Parts of store/db and store/catalog by themselves: lists of rows, texts, slugs, the errors of
 * SQLite, and writes of several rows. */
#include "base/rng.h"
#include "query_rig.h"
#include "store/db/internal.h"
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lists ----------------------------------------------------------------------------------- */

static void lists_grow(void **state)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(int64_t), 0};

	(void)state;
	for (int64_t i = 0; i < 1000; i++) {
		int64_t *row = tk_rows_add(&list);

		assert_non_null(row);
		assert_int_equal(*row, 0); /* a new row is zeroed */
		*row = i + 1;
	}
	assert_int_equal(rows.count, 1000);
	tk_rows_shrink(&list);
	for (int64_t i = 0; i < 1000; i++)
		assert_int_equal(*TK_ROWS_AT(&rows, int64_t, i), i + 1);
	tk_rows_free(&rows);
	assert_null(rows.rows);
	assert_int_equal(rows.count, 0);
	tk_rows_free(&rows); /* twice is harmless */
	tk_rows_free(NULL);
}

static void room_for_rows_to_come(void **state)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(int64_t), 0};

	(void)state;
	*(int64_t *)tk_rows_add(&list) = 7;
	tk_rows_reserve(&list, 500);
	assert_int_equal(list.cap, 500);
	const void *before = rows.rows;

	for (int i = 1; i < 500; i++)
		tk_rows_add(&list);
	assert_ptr_equal(rows.rows, before); /* it did not move */
	tk_rows_reserve(&list, 3);           /* never less */
	assert_int_equal(list.cap, 500);
	assert_int_equal(*TK_ROWS_AT(&rows, int64_t, 0), 7);
	tk_rows_free(&rows);
	/* An empty list keeps nothing. */
	tk_rows_reserve(&(struct tk_rows_builder){&rows, 8, 0}, 10);
	list = (struct tk_rows_builder){&rows, 8, 10};
	tk_rows_shrink(&list);
	assert_null(rows.rows);
}

/* Texts of any length, in blocks: all stay where they are. */
static void texts_of_a_list(void **state)
{
	enum { TEXTS = 400 };
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, 1, 0};
	struct tk_rng rng;
	static char data[200000];
	const char *texts[TEXTS];
	size_t lengths[TEXTS];

	(void)state;
	memset(data, 'x', sizeof data);
	tk_rng_seed(&rng, 1);
	for (size_t i = 0; i < TEXTS; i++) {
		lengths[i] = (size_t)tk_rng_below(&rng, i % 50 ? 300 : sizeof data);
		data[0] = (char)('a' + i % 26);
		texts[i] = tk_rows_add_text(&list, data, lengths[i]);
		assert_non_null(texts[i]);
	}
	for (size_t i = 0; i < TEXTS; i++) {
		assert_int_equal(strlen(texts[i]), lengths[i]);
		assert_true(!lengths[i] || texts[i][0] == (char)('a' + i % 26));
	}
	assert_string_equal(tk_rows_add_text(&list, NULL, 0), "");
	tk_rows_free(&rows);
}

static void texts_are_made_valid(void **state)
{
	static const struct {
		const char *text, *repaired; /* NULL: it is well-formed */
	} cases[] = {
	        {"", NULL}, {"plain", NULL}, {"\xc2\xb5s", NULL}, {"\xf0\x9f\x98\x80", NULL},
	        {"a\xff", "a\xef\xbf\xbd"}, {"\xc2", "\xef\xbf\xbd"},
	        {"\xed\xa0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"}, /* a surrogate */
	        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},                   /* overlong */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool failed = true;
		char *got = tk_text_repair_utf8(cases[i].text, &failed);

		assert_false(failed);
		if (!cases[i].repaired)
			assert_null(got);
		else
			assert_string_equal(got, cases[i].repaired);
		free(got);
	}
}

/* ---- slugs ----------------------------------------------------------------------------------- */

static void slugs_of_a_history(void **state)
{
	char text[160];

	(void)state;
	static const char *const valid[] = {"a", "box.cpu-1.x_2", "0", "a.b.c-d", "_"},
	                         *const invalid[] = {"", ".a", "-a", "a.", "a..b", "A", "a b",
	                                 "a/b", "\xc2\xb5", "a\nb"};

	for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
		assert_true(tk_slug_is_valid(valid[i]));
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
		if (tk_slug_is_valid(invalid[i]))
			fail_msg("\"%s\" is a slug", invalid[i]);
	memset(text, 'a', sizeof text);
	text[TK_SLUG_MAX_LEN + TK_SLUG_TAIL_LEN] = '\0';
	assert_true(tk_slug_is_valid(text));
	text[TK_SLUG_MAX_LEN + TK_SLUG_TAIL_LEN] = 'a';
	text[TK_SLUG_MAX_LEN + TK_SLUG_TAIL_LEN + 1] = '\0';
	assert_false(tk_slug_is_valid(text));
}

/* The slug of a series of the history's device and problem, with these parts. */
static const char *slug_of(
        struct history *h, const char *backend, const char *config, const char *metric)
{
	static char slug[200];
	struct tk_series_row row = {.device_id = h->device,
	        .upstream_id = h->upstream,
	        .problem_id = h->problem,
	        .backend = backend,
	        .config = config,
	        .mode = "cold",
	        .metric = metric,
	        .unit = "ns"};
	struct tk_rows rows = {0};
	int64_t id;

	MUST(tk_store_put_series(h->store, &row, &id, &err));
	MUST(tk_store_list_series(h->store, &rows, &err));
	for (size_t i = 0; i < rows.count; i++)
		if (TK_ROWS_AT(&rows, struct tk_series_row, i)->id == id)
			snprintf(slug, sizeof slug, "%s",
			        TK_ROWS_AT(&rows, struct tk_series_row, i)->slug);
	tk_rows_free(&rows);
	assert_true(tk_slug_is_valid(slug));
	return slug;
}

#define START "box.cpu.blas"
#define PROBLEM ".gemm-f32-512x512x512-nn"

static void slugs_are_made_of_parts(void **state)
{
	struct history *h = *state;

	assert_string_equal(slug_of(h, "BLAS", "", "time"), START PROBLEM ".cold");
	assert_string_equal(slug_of(h, "own", "", "time"), START ".own" PROBLEM ".cold");
	/* The default configuration has no part, so that this one would be equal to the last. */
	assert_memory_equal(slug_of(h, "own", "default", "time"), START ".own" PROBLEM ".cold",
	        strlen(START ".own" PROBLEM ".cold"));
	assert_string_equal(
	        slug_of(h, "own", "128x64", "time"), START ".own" PROBLEM ".128x64.cold");
	assert_string_equal(
	        slug_of(h, "own", "", "cpu_time"), START ".own" PROBLEM ".cold.cpu_time");
	/* Runs of other characters are one dash, none at an end; nothing at all is an x. */
	assert_string_equal(slug_of(h, "  A // b!", "", "time"), START ".a-b" PROBLEM ".cold");
	assert_string_equal(slug_of(h, "\xc3\xa4", "", "time"), START ".x" PROBLEM ".cold");
}

/* Two that differ by more than their slug says: one has the start of its uid behind it. */
static void slugs_that_would_be_equal(void **state)
{
	struct history *h = *state;
	char first[200], second[200];

	snprintf(first, sizeof first, "%s", slug_of(h, "a-b", "", "time"));
	snprintf(second, sizeof second, "%s", slug_of(h, "a b", "", "time"));
	snprintf(first, sizeof first, "%s", slug_of(h, "a-b", "", "time")); /* may have changed */
	assert_string_not_equal(first, second);
	const char *longer = strlen(first) > strlen(second) ? first : second,
	           *shorter = longer == first ? second : first;

	assert_int_equal(strlen(longer), strlen(shorter) + TK_SLUG_TAIL_LEN);
	assert_memory_equal(longer, shorter, strlen(shorter));
}

static void slugs_that_are_too_long(void **state)
{
	struct history *h = *state;
	char name[300];

	memset(name, 'n', sizeof name);
	name[250] = '\0';
	const char *slug = slug_of(h, name, "", "time");

	assert_int_equal(strlen(slug), TK_SLUG_MAX_LEN);
	assert_true(slug[TK_SLUG_MAX_LEN - TK_SLUG_TAIL_LEN] == '-');
	assert_memory_equal(slug, START ".nnnn", strlen(START ".nnnn"));
}

/* ---- errors of SQLite ------------------------------------------------------------------------ */

static void errors_have_a_status(void **state)
{
	static const struct {
		int code, status;
		const char *words;
	} cases[] = {
	        {SQLITE_FULL, TK_ENOSPC, "no space left for the history"},
	        {SQLITE_BUSY, TK_EBUSY, "another process is writing to it"},
	        {SQLITE_LOCKED, TK_EBUSY, "another process is writing to it"},
	        {SQLITE_BUSY_SNAPSHOT, TK_EBUSY, "another process"},
	        {SQLITE_NOMEM, TK_ENOMEM, "cannot do it"},
	        {SQLITE_CORRUPT, TK_EDATA, "the file is damaged; `tracker db check`"},
	        {SQLITE_NOTADB, TK_EDATA, "not a database"},
	        {SQLITE_CONSTRAINT, TK_EDATA, "cannot do it"},
	        {SQLITE_TOOBIG, TK_EDATA, "cannot do it"},
	        {SQLITE_MISMATCH, TK_EDATA, "cannot do it"},
	        {SQLITE_READONLY, TK_EIO, "cannot be written: the file or its folder is read-only"},
	        {SQLITE_CANTOPEN, TK_EIO, "cannot do it"},
	        {SQLITE_PERM, TK_EIO, "cannot do it"},
	        {SQLITE_IOERR, TK_EIO, "cannot do it"},
	        {SQLITE_MISUSE, TK_EINTERNAL, "cannot do it"},
	};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_error err = {0};
		int status = tk_db_fail(h->store, cases[i].code, &err, "cannot do %s", "it");

		if (status != cases[i].status || !strstr(err.message, cases[i].words))
			fail_msg("%d: %s, %s", cases[i].code, tk_status_name(status), err.message);
		assert_memory_equal(err.message, h->path, strlen(h->path));
	}
	assert_true(tk_store_is_damaged(h->store)); /* SQLITE_CORRUPT was among them */
}

/* Constant SQL fails where another program changed the tables: the message says so. */
static void tables_that_are_missing(void **state)
{
	struct history *h = *state;
	struct tk_rows rows = {0};

	history_run_sql(h, "ALTER TABLE notification RENAME TO elsewhere");
	MUST_FAIL(TK_EDATA, "the table \"notification\" is missing: another program removed it",
	        tk_store_list_notifications(h->store, &rows, &err));
	history_run_sql(h, "CREATE VIEW notification AS SELECT 1");
	MUST_FAIL(TK_EDATA, "\"notification\" is a view, and a history has none",
	        tk_store_list_notifications(h->store, &rows, &err));
}

/* ---- writes ---------------------------------------------------------------------------------- */

/* A night is named by its seed too; of one seed, the second to start takes the next second. */
static void nights_of_one_second(void **state)
{
	struct history *h = *state;
	static const int64_t starts[] = {1001, 1000, 1000}; /* the newest night first */
	struct tk_rows nights = {0};

	query_begin_night(h, 1000); /* the history's own has another seed */
	query_begin_night(h, 1000);
	MUST(tk_store_list_nights(h->store, &nights, &err));
	assert_int_equal(nights.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct tk_night_row *night = TK_ROWS_AT(&nights, struct tk_night_row, i);

		assert_int_equal(night->started_s, starts[i]);
		assert_int_equal(night->id, h->night - (int64_t)i);
		assert_int_equal(night->as_of_s, 1000);
	}
	tk_rows_free(&nights);
}

static void the_end_of_a_night(void **state)
{
	struct history *h = *state;
	struct tk_rows nights = {0};

	MUST(tk_store_finish_night(
	        h->store, h->night, TK_NIGHT_COMPLETE, "{\"a\":\"\xff\"}", 2000, &err));
	MUST(tk_store_list_nights(h->store, &nights, &err));
	const struct tk_night_row *night = TK_ROWS_AT(&nights, struct tk_night_row, 0);

	assert_int_equal(night->status, TK_NIGHT_COMPLETE);
	assert_int_equal(night->finished_s, 2000);
	assert_string_equal(night->summary, "{\"a\":\"\xef\xbf\xbd\"}");
	tk_rows_free(&nights);
	MUST(tk_store_finish_night(h->store, h->night, TK_NIGHT_FAILED, NULL, 3000, &err));
	MUST(tk_store_list_nights(h->store, &nights, &err));
	assert_string_equal(TK_ROWS_AT(&nights, struct tk_night_row, 0)->summary, "{}");
	tk_rows_free(&nights);
	MUST_FAIL(TK_EDATA, "there is no night with the id 99",
	        tk_store_finish_night(h->store, 99, TK_NIGHT_COMPLETE, "{}", 1, &err));
	history_reopen(h, TK_STORE_READ);
	struct tk_error err = {0};

	assert_int_not_equal(
	        tk_store_finish_night(h->store, h->night, TK_NIGHT_COMPLETE, "{}", 1, &err), 0);
}

/* Jobs change hands all together; one that is done, or is not there, keeps all where they are. */
static void jobs_change_hands(void **state)
{
	struct history *h = *state;
	struct tk_device_row other = {
	        .machine_id = h->machine, .kind = "gpu", .name = "G", .arch = "", .slug = "g"};
	struct tk_job_row jobs[3];
	struct tk_rows rows = {0};
	int64_t device, ids[3];

	MUST(tk_store_put_device(h->store, &other, &device, &err));
	for (int64_t i = 0; i < 3; i++)
		jobs[i] = (struct tk_job_row){.night_id = h->night,
		        .seq = i + 1,
		        .series_id = h->series,
		        .build_id = h->build,
		        .backend_path = "",
		        .options = ""};
	MUST(tk_store_put_jobs(h->store, jobs, 3, &err));
	query_put_run(h, 3, (struct query_run){.value = 1});
	MUST(tk_store_list_jobs(h->store, h->night, false, &rows, &err));
	for (size_t i = 0; i < 3; i++)
		ids[i] = TK_ROWS_AT(&rows, struct tk_job_row, i)->id;
	tk_rows_free(&rows);
	MUST_FAIL(TK_EDATA, "left to do", tk_store_assign_jobs(h->store, ids, 3, device, &err));
	MUST(tk_store_list_jobs(h->store, h->night, true, &rows, &err));
	for (size_t i = 0; i < rows.count; i++)
		assert_int_equal(TK_ROWS_AT(&rows, struct tk_job_row, i)->device_id, 0);
	tk_rows_free(&rows);
	MUST(tk_store_assign_jobs(h->store, ids, 2, device, &err));
	MUST(tk_store_list_jobs(h->store, h->night, true, &rows, &err));
	assert_int_equal(rows.count, 2);
	for (size_t i = 0; i < rows.count; i++)
		assert_int_equal(TK_ROWS_AT(&rows, struct tk_job_row, i)->device_id, device);
	tk_rows_free(&rows);
	MUST(tk_store_assign_jobs(h->store, NULL, 0, device, &err));
}

/* Samples of runs that started before a time are dropped; their points stay. */
static void samples_are_dropped_by_age(void **state)
{
	struct history *h = *state;
	int64_t ids[3];
	double *samples;
	size_t count;

	for (int64_t i = 0; i < 3; i++) /* started at 1101, 1102 and 1103 */
		MUST(history_put_run(h, i + 1, 100, 4, &ids[i], &err));
	MUST(tk_store_drop_samples(h->store, 1102, &err));
	for (size_t i = 0; i < 3; i++) {
		MUST(tk_store_read_samples(h->store, ids[i], h->series, &samples, &count, &err));
		assert_int_equal(count, i == 0 ? 0 : 4);
		assert_true((samples == NULL) == (i == 0));
		free(samples);
	}
	MUST(tk_store_vacuum(h->store, 1104, &err));
	MUST(tk_store_read_samples(h->store, ids[2], h->series, &samples, &count, &err));
	assert_int_equal(count, 0);
	assert_int_equal(history_count(h, "measurement"), 3);
}

static void what_sqlite_keeps_beside_a_file(void **state)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal", "-other"};
	struct history *h = *state;
	char path[200], name[256];
	struct stat st;

	snprintf(path, sizeof path, "%s/other.db", h->dir);
	MUST(tk_store_remove_pending(path, &err)); /* there is nothing */
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "%s%s", path, ends[i]);
		FILE *f = fopen(name, "w");

		assert_non_null(f);
		fclose(f);
	}
	MUST(tk_store_remove_pending(path, &err));
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "%s%s", path, ends[i]);
		assert_int_equal(stat(name, &st), i < 3 ? -1 : 0);
	}
	snprintf(name, sizeof name, "%s-wal", path);
	assert_int_equal(mkdir(name, 0777), 0);
	MUST_FAIL(TK_EIO, "-wal", tk_store_remove_pending(path, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(lists_grow),
	        cmocka_unit_test(room_for_rows_to_come),
	        cmocka_unit_test(texts_of_a_list),
	        cmocka_unit_test(texts_are_made_valid),
	        cmocka_unit_test(slugs_of_a_history),
	        QUERY_TEST(slugs_are_made_of_parts),
	        QUERY_TEST(slugs_that_would_be_equal),
	        QUERY_TEST(slugs_that_are_too_long),
	        QUERY_TEST(errors_have_a_status),
	        QUERY_TEST(tables_that_are_missing),
	        QUERY_TEST(nights_of_one_second),
	        QUERY_TEST(the_end_of_a_night),
	        QUERY_TEST(jobs_change_hands),
	        QUERY_TEST(samples_are_dropped_by_age),
	        QUERY_TEST(what_sqlite_keeps_beside_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + check_tests();
}
