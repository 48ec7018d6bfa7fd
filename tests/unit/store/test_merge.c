/* What a merge does with files that no tracker would write: huge ids, and values that SQLite
 * refuses. */
#include "history.h"
#include "store/db/id_map.h"
#include "store/db/internal.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct two {
	struct history a, b;
};

static int set_up(void **state)
{
	struct two *t = calloc(1, sizeof(*t));

	history_new(&t->a);
	history_new(&t->b);
	history_fill(&t->a);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct two *t = *state;

	history_free(&t->a);
	history_free(&t->b);
	free(t);
	return 0;
}

static void id_map_holds_any_positive_id(void **state)
{
	struct tk_id_map map = {0};

	assert_int_equal(tk_id_map_get(&map, 1), 0);
	for (int64_t i = 1; i <= 10000; i++)
		MUST(tk_id_map_set(&map, i * 7, i, &err));
	MUST(tk_id_map_set(&map, INT64_MAX, 5, &err));
	MUST(tk_id_map_set(&map, 7, 99, &err));
	assert_int_equal(map.count, 10001);
	assert_int_equal(tk_id_map_get(&map, 7), 99);
	assert_int_equal(tk_id_map_get(&map, 70000), 10000);
	assert_int_equal(tk_id_map_get(&map, 70001), 0);
	assert_int_equal(tk_id_map_get(&map, INT64_MAX), 5);
	assert_true(map.cap <= 65536);
	MUST_FAIL(TK_EDATA, "out of range", tk_id_map_set(&map, 0, 1, &err));
	MUST_FAIL(TK_EDATA, "out of range", tk_id_map_set(&map, -3, 1, &err));
	assert_int_equal(tk_id_map_get(&map, -3), 0);
	tk_id_map_free(&map);
}

/* An array by id would need 75 GB for this row. */
static void a_huge_row_id_costs_no_memory(void **state)
{
	struct two *t = *state;
	struct tk_rows machines;

	const struct tk_machine_row far_away = {.name = "far", .attributes = "{}"};
	int64_t id;

	MUST(tk_store_put_machine(t->a.store, &far_away, &id, &err));
	history_run_sql(&t->a, "UPDATE machine SET id=9223372036854775806 WHERE name='far'");
	MUST(tk_store_merge(t->b.store, t->a.store, NULL, &err));
	MUST(tk_store_list_machines(t->b.store, &machines, &err));
	assert_int_equal(machines.count, 2);
	tk_rows_free(&machines);
}

/* A text that does not fit was bound as NULL before, or as that of the row before. */
static void a_value_that_cannot_be_bound_ends_the_merge(void **state)
{
	struct two *t = *state;
	struct tk_rows nights;

	history_run_sql(&t->a, "UPDATE night SET summary=hex(zeroblob(100000))");
	sqlite3_limit(t->b.store->db, SQLITE_LIMIT_LENGTH, 50000);
	MUST_FAIL(TK_EDATA, "too big", tk_store_merge(t->b.store, t->a.store, NULL, &err));
	MUST(tk_store_list_nights(t->b.store, &nights, &err));
	assert_int_equal(nights.count, 0);
	tk_rows_free(&nights);
}

static void a_kept_statement_reports_parameters_that_it_does_not_have(void **state)
{
	struct two *t = *state;
	const int64_t args[] = {1, 2};
	sqlite3_stmt *stmt;

	MUST_FAIL(TK_EINTERNAL, "cannot bind",
	        tk_db_prepare_cached(
	                t->a.store, TK_TABLE_COUNT, "SELECT ?1", args, 2, &stmt, &err));
	MUST(tk_db_prepare_cached(t->a.store, TK_TABLE_COUNT, "SELECT ?1", args, 1, &stmt, &err));
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	sqlite3_reset(stmt);
}

/* One history has the greater value, the other the greater n: a merge keeps one row whole, and the
 * same one in both directions. */
static void a_measurement_is_merged_as_a_whole(void **state)
{
	const char *kept = "measurement WHERE value=2000 AND n=1";
	struct two *t = *state;
	int64_t id;

	history_fill(&t->b);
	MUST(history_put_run(&t->a, 1, 1000, 9, &id, &err));
	MUST(history_put_run(&t->b, 1, 2000, 1, &id, &err));
	MUST(tk_store_merge(t->b.store, t->a.store, NULL, &err));
	assert_int_equal(history_count(&t->b, kept), 1);
	MUST(tk_store_merge(t->a.store, t->b.store, NULL, &err));
	assert_int_equal(history_count(&t->a, kept), 1);
	assert_int_equal(history_count(&t->a, "measurement"), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(id_map_holds_any_positive_id),
	        TEST(a_huge_row_id_costs_no_memory),
	        TEST(a_value_that_cannot_be_bound_ends_the_merge),
	        TEST(a_measurement_is_merged_as_a_whole),
	        TEST(a_kept_statement_reports_parameters_that_it_does_not_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
