/* Rows by id. */
#include "history.h"
#include "store/catalog/row_index.h"
#include <string.h>

struct numbered {
	int64_t id;
	int value;
};

static void index_finds_rows_whatever_the_gaps(void **state)
{
	const struct numbered rows[] = {{5, 50}, {INT64_MAX, 99}, {6, 60}, {1, 10}, {900, 900}};
	struct tk_row_index index;

	MUST(tk_row_index_build(&index, rows, 5, sizeof rows[0], &err));
	for (size_t i = 0; i < 5; i++)
		assert_ptr_equal(tk_row_index_find(&index, rows[i].id), &rows[i]);
	assert_null(tk_row_index_find(&index, 0));
	assert_null(tk_row_index_find(&index, -1));
	assert_null(tk_row_index_find(&index, 7));
	assert_null(tk_row_index_find(&index, INT64_MIN));
	tk_row_index_free(&index);
	MUST(tk_row_index_build(&index, NULL, 0, sizeof rows[0], &err));
	assert_null(tk_row_index_find(&index, 1));
	tk_row_index_free(&index);
}

static void table_keeps_the_order_of_its_query(void **state)
{
	struct history h;
	struct tk_id_table machines = {0};
	int64_t later;
	const struct tk_machine_row row = {.name = "a box", .attributes = "{}"};

	history_new(&h);
	history_fill(&h);
	MUST(tk_store_put_machine(h.store, &row, &later, &err));
	MUST(tk_id_table_load(
	        &machines, h.store, tk_store_list_machines, sizeof(struct tk_machine_row), &err));
	assert_int_equal(machines.rows.count, 2);
	assert_string_equal(TK_ROWS_AT(&machines.rows, struct tk_machine_row, 0)->name, "a box");
	const struct tk_machine_row *found = tk_id_table_find(&machines, h.machine);

	assert_string_equal(found->name, "box");
	assert_null(tk_id_table_find(&machines, later + 1));
	tk_id_table_free(&machines);
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(index_finds_rows_whatever_the_gaps),
	        cmocka_unit_test(table_keeps_the_order_of_its_query),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
