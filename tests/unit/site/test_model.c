/* Small parts of the model: points of a sweep, facts of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_gen/model/axes.h"
#include "site_gen/model/run_facts.h"
#include "store/store.h"
#include <math.h>
#include <string.h>

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
	static const enum tk_measurement_field fields[] = {TK_MEASUREMENT_ENERGY_J,
	        TK_MEASUREMENT_LAUNCH_NS, TK_MEASUREMENT_PLAN_WORKSPACE_BYTES,
	        TK_MEASUREMENT_DEVICE_BYTES};
	double values[4];
	tk_run_facts_parse(
	        "{\"a\":{\"energy_j\":1,\"workspace_bytes\":2},\"energy_j\":12.5,\"launch_ns\" : "
	        "2200, \"plan\":{\"kernel\":\"x\\\"}{\",\"workspace_bytes\":1048576,\"deep\":"
	        "{\"workspace_bytes\":3}},\"telemetry\":{\"after\":{\"energy_j\":7}},"
	        "\"device_bytes\":null}",
	        fields, 4, values);
	assert_true(values[0] == 12.5);
	assert_true(values[1] == 2200);
	assert_true(values[2] == 1048576);
	assert_true(isnan(values[3]));
}

static void ignores_broken_run_facts(void **state)
{
	static const char *const none[] = {"", "{}", "{\"energy_j\":", "{\"energy_j", "]]]",
	        "{\"energy_j\":\"12\"}", "[\"energy_j\",12]", "{\"x\":\"\\"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		enum tk_measurement_field field = TK_MEASUREMENT_ENERGY_J;
		double value = 0;
		tk_run_facts_parse(none[i], &field, 1, &value);
		assert_true(isnan(value));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {

	        cmocka_unit_test(places_problems_in_sweeps), cmocka_unit_test(parses_run_facts),
	        cmocka_unit_test(ignores_broken_run_facts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
