/* A reader that keeps points finds what reading them again would find, wherever the ranges are. */
#include "base/rng.h"
#include "row_fixture.h"
#include <sqlite3.h>

#define DAY 86400
#define POINTS 400

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

static void walk(struct history *h, struct tk_rng *rng, int64_t from, size_t before)
{
	struct tk_point_reader *reader = tk_point_reader_new();
	size_t points = 0;

	assert_non_null(reader);
	for (int64_t day = from; day < POINTS + 30; day++) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_reader_finds_what_is_stored),
	        TEST(ranges_may_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
