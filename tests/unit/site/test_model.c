/* Small parts of the model: points of a sweep, facts of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_gen/model/axes.h"
#include "site_gen/model/label.h"
#include "site_gen/model/model.h"
#include "site_gen/model/run_facts.h"
#include "site_gen/model/sweeps.h"
#include "store/store.h"
#include <math.h>
#include <stdlib.h>
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

/* Three batches of three lengths, and one number of tokens that two of them share. */
static void a_line_is_one_sweep(void **state)
{
	static const char *const texts[] = {"attention:b=1,d=64,h=2,hkv=2,skv=512,sq=512",
	        "attention:b=1,d=64,h=2,hkv=2,skv=1024,sq=1024",
	        "attention:b=1,d=64,h=2,hkv=2,skv=2048,sq=2048",
	        "attention:b=2,d=64,h=2,hkv=2,skv=1024,sq=1024",
	        "attention:b=4,d=64,h=2,hkv=2,skv=512,sq=512",
	        "attention:b=9,d=128,h=2,hkv=2,skv=512,sq=512"};
	struct tk_axes axes[6];
	struct tk_sweeps sweeps;
	for (size_t i = 0; i < 6; i++)
		axes[i] = axes_of("attention", texts[i]);
	assert_int_equal(tk_sweeps_find(axes, 6, false, 9, &sweeps, NULL), 0);
	assert_int_equal(sweeps.count, 2);
	for (size_t i = 0; i < sweeps.count; i++) {
		assert_int_equal(sweeps.at[i].count, 3);
		for (size_t k = 0; k < 3; k++) {
			const struct tk_axes *at = &axes[sweeps.at[i].members[k]];
			if (sweeps.at[i].tokens > 0)
				assert_true(at->x * at->column_order == 2048);
			else
				assert_true(at->column_order == sweeps.at[i].batch);
			assert_true(at->x == 512 << k);
		}
	}
	tk_sweeps_free(&sweeps);
}

/* Of two lengths, one with three batches; then a line over the length. */
static void a_line_over_the_batch_has_one_length(void **state)
{
	static const char *const texts[] = {"attention:b=1,d=64,h=2,hkv=2,skv=512,sq=512",
	        "attention:b=8,d=64,h=2,hkv=2,skv=512,sq=512",
	        "attention:b=2,d=64,h=2,hkv=2,skv=512,sq=512",
	        "attention:b=1,d=64,h=2,hkv=2,skv=1024,sq=1024",
	        "attention:b=4,d=80,h=2,hkv=2,skv=512,sq=512",
	        "attention:b=4,d=80,h=2,hkv=2,skv=1024,sq=1024",
	        "attention:b=4,d=80,h=2,hkv=2,skv=2048,sq=2048"};
	struct tk_axes axes[7];
	struct tk_sweeps sweeps;
	for (size_t i = 0; i < 7; i++)
		axes[i] = axes_of("attention", texts[i]);
	assert_int_equal(tk_sweeps_find(axes, 7, true, 9, &sweeps, NULL), 0);
	assert_int_equal(sweeps.count, 2);
	assert_true(sweeps.at[1].length == 0 && sweeps.at[1].batch == 0);
	assert_true(tk_sweep_place(&sweeps.at[1], &axes[6]) == 2048);
	assert_true(sweeps.at[0].length == 512);
	assert_int_equal(sweeps.at[0].count, 3);
	static const double batches[] = {1, 2, 8};
	for (size_t k = 0; k < 3; k++)
		assert_true(tk_sweep_place(&sweeps.at[0], &axes[sweeps.at[0].members[k]]) ==
		            batches[k]);
	tk_sweeps_free(&sweeps);
	assert_int_equal(tk_sweeps_find(axes, 4, false, 9, &sweeps, NULL), 0);
	assert_int_equal(sweeps.count, 0);
	tk_sweeps_free(&sweeps);
}

static void titles_sweeps_in_words(void **state)
{
	char title[TK_SWEEP_TITLE_SIZE];
	assert_string_equal(
	        tk_sweep_format_title("causal=1 d=256 dir=fwd dtype=f16 h=16 hkv=16", title),
	        "Forward, causal, head dimension 256, f16, 16 heads");
	assert_string_equal(
	        tk_sweep_format_title("causal=0 d=64 dir=bwd dtype=bf16 h=64 hkv=8", title),
	        "Backward, full, head dimension 64, bf16, 64 heads, 8 key-value heads");
	assert_string_equal(tk_sweep_format_title("a=e4m3 acc=f32 b=e4m3 c=bf16 ta=n tb=t", title),
	        "e4m3, result bf16, nt");
	assert_string_equal(tk_sweep_format_title("dtype=f32 speed=9", title), "f32, speed=9");
}

static void a_backend_is_named_once(void **state)
{
	static struct tk_upstream_row own = {.id = 1, .name = "self", .kind = "local", .url = ""},
	                              library = {.id = 2,
	                                      .name = "cublaslt",
	                                      .kind = "system",
	                                      .url = ""};
	static const struct tk_site_device device = {.mode = "cold"};
	const struct {
		struct tk_upstream_row *upstream;
		const char *backend, *variant;
	} expected[] = {{&own, "cublaslt", "cublaslt (self)"}, {&library, "cublaslt", "cublaslt"},
	        {&own, "hopper_gemm", "hopper_gemm"}};
	struct tk_series_row rows[3];
	struct tk_site_series series[3];
	struct tk_model m = {.series = series, .series_count = 3};

	for (size_t i = 0; i < 3; i++) {
		rows[i] = (struct tk_series_row){
		        .backend = expected[i].backend, .config = "", .mode = "cold"};
		series[i] = (struct tk_site_series){.row = &rows[i],
		        .device = &device,
		        .upstream = expected[i].upstream,
		        .metric = TK_METRIC_TIME};
	}
	assert_int_equal(tk_labels_assign(&m, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(series[i].variant, expected[i].variant);
		assert_string_equal(series[i].label, expected[i].variant);
		free(series[i].variant);
		free(series[i].label);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_backend_is_named_once),
	        cmocka_unit_test(places_problems_in_sweeps), cmocka_unit_test(parses_run_facts),
	        cmocka_unit_test(ignores_broken_run_facts), cmocka_unit_test(a_line_is_one_sweep),
	        cmocka_unit_test(a_line_over_the_batch_has_one_length),
	        cmocka_unit_test(titles_sweeps_in_words)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
