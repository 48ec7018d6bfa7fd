/* Small parts of the model: rows by id, points of a sweep, facts of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "site_gen/model/axes.h"
#include "site_gen/model/index.h"
#include "site_gen/model/run_facts.h"
#include "store/store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
	int64_t id;
	int payload;
};

static void finds_rows_by_id(void **state)
{
	static const struct row rows[] = {{7, 70}, {3, 30}, {4, 40}, {INT64_MAX, 1}, {5, 50}};
	struct tk_index index = {0};
	struct tk_error err;
	assert_int_equal(tk_index_build(&index, rows, 5, sizeof *rows, &err), 0);
	for (size_t i = 0; i < 5; i++) {
		const struct row *found = tk_index_find(&index, rows[i].id);
		assert_non_null(found);
		assert_int_equal(found->payload, rows[i].payload);
	}
	assert_null(tk_index_find(&index, 6));
	assert_null(tk_index_find(&index, 0));
	assert_null(tk_index_find(&index, -1));
	assert_null(tk_index_find(&index, INT64_MIN));
	free(index.entries);
}

static void finds_nothing_in_an_empty_index(void **state)
{
	struct tk_index index = {0};
	struct tk_error err;
	assert_null(tk_index_find(&index, 1));
	assert_int_equal(tk_index_build(&index, NULL, 0, sizeof(struct row), &err), 0);
	assert_null(tk_index_find(&index, 1));
	free(index.entries);
}

static struct tk_axes axes_of(const char *op, const char *text)
{
	struct tk_axes axes;
	struct tk_problem_row p = {.op = op, .text = text, .dtype = "f32"};
	assert_true(tk_axes_from_problem(&p, &axes));
	return axes;
}

static void places_problems_in_sweeps(void **state)
{
	struct tk_axes a = axes_of("attention", "attention:b=2,d=64,h=16,skv=512,sq=512");
	struct tk_axes b = axes_of("attention", "attention:b=2,d=64,h=16,skv=1024,sq=1024");
	assert_true(a.x == 512 && b.x == 1024);
	assert_string_equal(a.row, "512");
	assert_string_equal(a.column, "2");
	assert_string_equal(a.rest, b.rest);
	assert_string_equal(a.sweep, b.sweep);
	struct tk_axes c = axes_of("attention", "attention:b=2,d=128,h=16,skv=512,sq=512");
	assert_string_not_equal(a.rest, c.rest);
	assert_string_equal(tk_axes_names("gemm")->x, "m");
	assert_null(tk_axes_names("copy"));
}

static void parses_run_facts(void **state)
{
	struct tk_run_facts f = tk_run_facts_parse(
	        "{\"a\":{\"energy_j\":1,\"workspace_bytes\":2},\"energy_j\":12.5,\"launch_ns\" : "
	        "2200, \"plan\":{\"kernel\":\"x\\\"}{\",\"workspace_bytes\":1048576,\"deep\":"
	        "{\"workspace_bytes\":3}},\"telemetry\":{\"after\":{\"energy_j\":7}},"
	        "\"device_bytes\":null}");
	assert_true(f.energy_j == 12.5);
	assert_true(f.launch_ns == 2200);
	assert_true(f.workspace_bytes == 1048576);
	assert_true(isnan(f.device_bytes));
}

static void ignores_broken_run_facts(void **state)
{
	static const char *const none[] = {"", "{}", "{\"energy_j\":", "{\"energy_j", "]]]",
	        "{\"energy_j\":\"12\"}", "[\"energy_j\",12]", "{\"x\":\"\\"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_true(isnan(tk_run_facts_parse(none[i]).energy_j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finds_rows_by_id),
	        cmocka_unit_test(finds_nothing_in_an_empty_index),
	        cmocka_unit_test(places_problems_in_sweeps), cmocka_unit_test(parses_run_facts),
	        cmocka_unit_test(ignores_broken_run_facts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
