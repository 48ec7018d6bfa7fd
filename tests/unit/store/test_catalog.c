/* Rows by id, and the names of machines. */
#include "history.h"
#include "store/catalog/row_index.h"
#include <stdlib.h>
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

static int64_t put_series(
        struct history *h, const char *machine, const char *title, const char *backend)
{
	const struct tk_machine_row m = {.name = machine, .attributes = "{}"};
	struct tk_device_row d = {.kind = "cpu", .name = "x", .arch = "x86", .slug = "cpu"};
	const struct tk_problem_row p = {.text = title,
	        .op = "gemm",
	        .dtype = "f32",
	        .title = title,
	        .flops = 1,
	        .bytes = 1};
	struct tk_series_row s = {.upstream_id = h->upstream,
	        .backend = backend,
	        .config = "default",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	int64_t id;

	MUST(tk_store_put_machine(h->store, &m, &d.machine_id, &err));
	MUST(tk_store_put_device(h->store, &d, &s.device_id, &err));
	MUST(tk_store_put_problem(h->store, &p, &s.problem_id, &err));
	MUST(tk_store_put_series(h->store, &s, &id, &err));
	return id;
}

static char *read_slug(struct history *h, int64_t id)
{
	struct tk_rows rows;
	char *slug = NULL;

	MUST(tk_store_list_series(h->store, &rows, &err));
	for (size_t i = 0; i < rows.count; i++)
		if (TK_ROWS_AT(&rows, struct tk_series_row, i)->id == id)
			slug = strdup(TK_ROWS_AT(&rows, struct tk_series_row, i)->slug);
	tk_rows_free(&rows);
	assert_non_null(slug);
	return slug;
}

/* Whether the history reads like one where the machine had the name from the start. */
static void assert_slug_as_named_so(struct history *renamed, int64_t id, const char *machine,
        const char *title, const char *backend)
{
	struct history named;

	history_new(&named);
	history_fill(&named);
	int64_t other = put_series(&named, machine, title, backend);
	char *got = read_slug(renamed, id), *expected = read_slug(&named, other);

	assert_string_equal(got, expected);
	free(got);
	free(expected);
	history_free(&named);
}

static void renamed_machine_has_the_slugs_of_its_new_name(void **state)
{
	static const char long_title[] =
	        "attention-bf16-b1-h128-s65536-d128-causal-window-4096-with-a-title-that-fills-"
	        "the-whole-length-of-a-name";
	struct tk_rows problems;
	struct history h;

	history_new(&h);
	history_fill(&h);
	int64_t plain = put_series(&h, "Old Name", "gemm 512", "naive"),
	        cut = put_series(&h, "Old Name", long_title, "naive");

	MUST(tk_store_rename_machine(h.store, "Old Name", "n2", &err));
	assert_slug_as_named_so(&h, plain, "n2", "gemm 512", "naive");
	assert_slug_as_named_so(&h, cut, "n2", long_title, "naive");
	MUST(tk_store_rename_machine(
	        h.store, "n2", "a-much-longer-name-than-before.example.org", &err));
	assert_slug_as_named_so(
	        &h, cut, "a-much-longer-name-than-before.example.org", long_title, "naive");
	MUST(tk_store_check(h.store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
	history_free(&h);
}

/* "n.2" and "n-2" are the same in a slug: one of the two gets a suffix, and loses it again. */
static void renaming_settles_equal_slugs(void **state)
{
	struct history h;

	history_new(&h);
	history_fill(&h);
	int64_t one = put_series(&h, "first", "gemm 512", "naive"),
	        two = put_series(&h, "n-2", "gemm 512", "naive");

	MUST(tk_store_rename_machine(h.store, "first", "n.2", &err));
	char *a = read_slug(&h, one), *b = read_slug(&h, two);

	assert_string_not_equal(a, b);
	assert_true(strcmp(a, "n-2.cpu.blas.naive.gemm-512.cold") == 0 ||
	            strcmp(b, "n-2.cpu.blas.naive.gemm-512.cold") == 0);
	free(a);
	free(b);
	MUST(tk_store_rename_machine(h.store, "n.2", "third", &err));
	assert_slug_as_named_so(&h, one, "third", "gemm 512", "naive");
	history_free(&h);
}

static void renaming_refuses_unknown_and_taken_names(void **state)
{
	struct history h;

	history_new(&h);
	history_fill(&h);
	put_series(&h, "other", "gemm 512", "naive");
	MUST_FAIL(
	        TK_ENOTFOUND, "\"nobody\"", tk_store_rename_machine(h.store, "nobody", "x", &err));
	MUST_FAIL(TK_EUSAGE, "\"other\"", tk_store_rename_machine(h.store, "box", "other", &err));
	MUST_FAIL(TK_EUSAGE, "\"box\"", tk_store_rename_machine(h.store, "box", "box", &err));
	MUST_FAIL(TK_EUSAGE, "empty", tk_store_rename_machine(h.store, "box", "", &err));
	history_free(&h);
}

/* Decisions about a group follow it; those about others stay. */
static void renamed_group_keeps_its_decisions(void **state)
{
	struct history h;
	struct tk_rows alerts, decisions;

	history_new(&h);
	history_fill(&h);
	const struct tk_alert_row alert = {.group_uid = "old",
	        .series_id = h.series,
	        .night_id = h.night,
	        .title = "box: no night for 3 d"};
	const struct tk_triage_row known = {.alert_uid = "old",
	                                   .at_s = 1,
	                                   .author = "me",
	                                   .action = TK_ACTION_ACK,
	                                   .note = "known"},
	                           other = {.alert_uid = "other",
	                                   .at_s = 2,
	                                   .author = "me",
	                                   .action = TK_ACTION_IGNORE,
	                                   .note = ""};
	int64_t id;
	MUST(tk_store_put_alert(h.store, &alert, &err));
	MUST(tk_store_put_triage(h.store, &known, &id, &err));
	MUST(tk_store_put_triage(h.store, &other, &id, &err));
	MUST(tk_store_rename_alert_group(h.store, "old", "new", &err));

	MUST(tk_store_list_alerts(h.store, &alerts, &err));
	assert_int_equal(alerts.count, 1);
	assert_string_equal(TK_ROWS_AT(&alerts, struct tk_alert_row, 0)->group_uid, "new");
	MUST(tk_store_list_triage(h.store, &decisions, &err));
	assert_int_equal(decisions.count, 2);
	assert_string_equal(TK_ROWS_AT(&decisions, struct tk_triage_row, 0)->alert_uid, "new");
	assert_string_equal(TK_ROWS_AT(&decisions, struct tk_triage_row, 1)->alert_uid, "other");
	/* The uids are those that the rows would have if they had been put with the new name. */
	const struct tk_triage_row again = {.alert_uid = "new",
	        .at_s = 1,
	        .author = "me",
	        .action = TK_ACTION_ACK,
	        .note = "known"};
	MUST(tk_store_put_triage(h.store, &again, &id, &err));
	assert_int_equal(id, TK_ROWS_AT(&decisions, struct tk_triage_row, 0)->id);
	tk_rows_free(&alerts);
	tk_rows_free(&decisions);
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(index_finds_rows_whatever_the_gaps),
	        cmocka_unit_test(table_keeps_the_order_of_its_query),
	        cmocka_unit_test(renamed_machine_has_the_slugs_of_its_new_name),
	        cmocka_unit_test(renaming_settles_equal_slugs),
	        cmocka_unit_test(renaming_refuses_unknown_and_taken_names),
	        cmocka_unit_test(renamed_group_keeps_its_decisions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
