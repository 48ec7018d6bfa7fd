/* A reader that keeps points finds what reading them again would find, wherever the ranges are. */
#include "base/parallel.h"
#include "base/rng.h"
#include "row_fixture.h"
#include "store/point_logs.h"
#include <math.h>
#include <sqlite3.h>

#define DAY 86400
#define POINTS 400
#define SERIES 300 /* enough for several threads */

/* Points of the series: on most days one, on some none or two. Without runs: only the points count
 * here. */
static void add_points(struct history *h, struct tk_rng *rng)
{
	sqlite3 *db;
	sqlite3_stmt *q;
	int64_t day = 0;

	assert_int_equal(sqlite3_open(h->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM measurement; BEGIN", 0, 0, 0), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
	                         "INSERT INTO measurement (series_id, as_of_s, run_id, value, lo, "
	                         "hi, n, min, q25, q75, p95, night_id, build_id, environment_id) "
	                         "VALUES (?1, ?2, ?3, ?3, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1)",
	                         -1, &q, NULL),
	        SQLITE_OK);
	for (int i = 0; i < POINTS; i++) {
		day += (int64_t)tk_rng_below(rng, 3);
		sqlite3_bind_int64(q, 1, h->series);
		sqlite3_bind_int64(q, 2, day * DAY);
		sqlite3_bind_int64(q, 3, 1000 + (i * 7) % POINTS); /* not in the order of time */
		assert_int_equal(sqlite3_step(q), SQLITE_DONE);
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	assert_int_equal(sqlite3_exec(db, "COMMIT", 0, 0, 0), SQLITE_OK);
	sqlite3_close(db);
}

static size_t expect_equal(struct history *h, struct tk_window_query query)
{
	struct tk_rows windows[2] = {{0}}, points[2] = {{0}};
	size_t count;

	MUST(tk_store_list_windows(h->store, &query, &windows[0], &points[0], &err));
	query.reader = NULL;
	MUST(tk_store_list_windows(h->store, &query, &windows[1], &points[1], &err));
	count = points[1].count;
	assert_int_equal(windows[0].count, windows[1].count);
	for (size_t i = 0; i < windows[0].count; i++) {
		const struct tk_history_window *a = TK_ROWS_AT(
		                                       &windows[0], struct tk_history_window, i),
		                               *b = TK_ROWS_AT(
		                                       &windows[1], struct tk_history_window, i);

		assert_int_equal(a->series_id, b->series_id);
		assert_int_equal(a->first, b->first);
		assert_int_equal(a->before, b->before);
		assert_int_equal(a->within, b->within);
		if (a->before + a->within)
			assert_memory_equal(a->points, b->points,
			        (a->before + a->within) * sizeof(struct tk_point));
	}
	for (size_t i = 0; i < 2; i++) {
		tk_rows_free(&windows[i]);
		tk_rows_free(&points[i]);
	}
	return count;
}

static void walk_by(
        struct history *h, struct tk_rng *rng, int64_t from, size_t before, int64_t step)
{
	struct tk_point_reader *reader = tk_point_reader_new();
	size_t points = 0;

	assert_non_null(reader);
	for (int64_t day = from; day < POINTS + 30; day += step) {
		int64_t nights = (int64_t)tk_rng_below(rng, 4);
		struct tk_window_query query = {.since_s = (day - nights) * DAY,
		        .until_s = day * DAY,
		        .runs_s = day * DAY,
		        .before = before,
		        .reader = reader};

		points += expect_equal(h, query);
		if (tk_rng_below(rng, 20) == 0) /* another machine, which is not measured often */
			query.since_s -= 100 * DAY;
		points += expect_equal(h, query);
	}
	assert_true(points > POINTS / 2);
	tk_point_reader_free(reader);
}

static void walk(struct history *h, struct tk_rng *rng, int64_t from, size_t before)
{
	walk_by(h, rng, from, before, 1);
}

static void a_reader_finds_what_is_stored(void **state)
{
	struct history *h = *state;
	struct tk_rng rng;

	tk_rng_seed(&rng, 3);
	add_points(h, &rng);
	walk(h, &rng, -5, 48);
	walk(h, &rng, 200, 48);
	walk(h, &rng, 0, 1);
	walk(h, &rng, 0, 0);
	walk(h, &rng, 100, 2 * POINTS);
}

static void ranges_may_go_back(void **state)
{
	struct history *h = *state;
	struct tk_point_reader *reader = tk_point_reader_new();
	struct tk_rng rng;

	tk_rng_seed(&rng, 4);
	add_points(h, &rng);
	for (int i = 0; i < 200; i++) {
		int64_t day = (int64_t)tk_rng_below(&rng, POINTS);

		expect_equal(h, (struct tk_window_query){.since_s = (day - 3) * DAY,
		                        .until_s = day * DAY,
		                        .runs_s = day * DAY,
		                        .before = 20,
		                        .reader = reader});
	}
	tk_point_reader_free(reader);
	tk_point_reader_free(NULL);
}

/* Copies of the series and of its points; those of every seventh are older than the others, and
 * every eleventh has a point without a logarithm. */
static void add_series(struct history *h)
{
	char sql[1500];
	sqlite3 *db;

	snprintf(sql, sizeof sql,
	        "BEGIN; CREATE TEMP TABLE number AS WITH RECURSIVE n(i) AS "
	        "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n; "
	        "CREATE TEMP TABLE copy AS SELECT number.i, series.* FROM series, number "
	        "WHERE series.id = %lld; "
	        "UPDATE copy SET id = id + i, uid = uid || i, slug = slug || i; "
	        "ALTER TABLE copy DROP COLUMN i; "
	        "INSERT INTO series SELECT * FROM copy; "
	        "CREATE TEMP TABLE points AS SELECT number.i, measurement.* "
	        "FROM measurement, number; "
	        "UPDATE points SET series_id = series_id + i, "
	        "as_of_s = as_of_s - CASE WHEN i %% 7 THEN 0 ELSE 250 * %d END, "
	        "value = CASE WHEN i %% 11 = 0 AND run_id %% 50 = 0 THEN -1 ELSE value + i END; "
	        "ALTER TABLE points DROP COLUMN i; "
	        "INSERT INTO measurement SELECT * FROM points; COMMIT",
	        SERIES, (long long)h->series, DAY);
	assert_int_equal(sqlite3_open(h->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, 0, 0, 0), SQLITE_OK);
	sqlite3_close(db);
}

static void many_series_are_read_by_several_threads(void **state)
{
	struct history *h = *state;
	struct tk_kept_threads threads;
	struct tk_rng rng;

	tk_rng_seed(&rng, 5);
	add_points(h, &rng);
	add_series(h);
	walk_by(h, &rng, 100, 20, 23);
	tk_parallel_keep_threads(&threads);
	walk_by(h, &rng, 150, 20, 7);
	tk_parallel_end_threads(&threads);
}

static void logarithms_belong_to_their_points(void **state)
{
	struct history *h = *state;
	struct tk_point_reader *reader = tk_point_reader_new();
	struct tk_rng rng;

	tk_rng_seed(&rng, 6);
	add_points(h, &rng);
	for (int64_t day = 40; day < POINTS; day += 11) {
		const struct tk_window_query query = {.since_s = (day - 2) * DAY,
		        .until_s = day * DAY,
		        .runs_s = day * DAY,
		        .before = 20,
		        .reader = reader};
		struct tk_rows windows, points;

		MUST(tk_store_list_windows(h->store, &query, &windows, &points, &err));
		const struct tk_history_window *w = windows.rows;

		assert_true(w->is_borrowed);
		for (size_t i = 0; i < w->before + w->within; i++) {
			assert_true(w->logs[i].value == log(w->points[i].value));
			assert_true(w->logs[i].interval == log(2));
		}
		tk_rows_free(&windows);
		tk_rows_free(&points);
	}
	tk_point_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_reader_finds_what_is_stored),
	        TEST(ranges_may_go_back),
	        TEST(many_series_are_read_by_several_threads),
	        TEST(logarithms_belong_to_their_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
