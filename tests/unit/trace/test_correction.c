/* What records cost, and the times without it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "base/error.h"
#include "trace/runs.h"

enum { WAIT, MULTIPLY, SOFTMAX, REGIONS };

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) < 1e-6))
		fail_msg("%g is not %g", a, b);
}

/* 1,000 ns: 200 of waiting, 500 of products with 4 records, 250 of softmax with 6, 50 of none. */
static const struct tk_trace_path path = {.region_ns = {200, 500, 250},
        .region_records = {0, 4, 6},
        .other_ns = 50,
        .duration_ns = 1000,
        .records = 10};

static void test_path(void **state)
{
	double ns[TK_TRACE_REGIONS_MAX];
	assert_near(tk_trace_path_correct(&path, REGIONS, 10, ns), 50);
	assert_near(ns[WAIT], 200);
	assert_near(ns[MULTIPLY], 460);
	assert_near(ns[SOFTMAX], 190);
	assert_near(tk_trace_path_correct(&path, REGIONS, 0, ns), 50);
	assert_near(ns[MULTIPLY], 500);
	/* a build that records may be the faster one */
	assert_near(tk_trace_path_correct(&path, REGIONS, -10, ns), 50);
	assert_near(ns[SOFTMAX], 310);
}

/* What is more than a region takes is the others' cost: the sum is what it has to be. */
static void test_path_of_costly_records(void **state)
{
	double ns[TK_TRACE_REGIONS_MAX];
	double other_ns = tk_trace_path_correct(&path, REGIONS, 50, ns);
	assert_near(ns[SOFTMAX], 0);
	assert_near(other_ns + ns[WAIT] + ns[MULTIPLY] + ns[SOFTMAX], 500);
	assert_near(ns[MULTIPLY] / ns[WAIT], 300 / 200.0);
	other_ns = tk_trace_path_correct(&path, REGIONS, 1000, ns);
	assert_near(other_ns + ns[WAIT] + ns[MULTIPLY] + ns[SOFTMAX], 0);
}

static struct tk_trace_runs new_runs(double median_ns, size_t kernels)
{
	struct tk_trace_runs r = {.median_ns = {median_ns}, .kernel_count = kernels};
	if (!kernels)
		return r;
	r.kernels = calloc(kernels, sizeof *r.kernels);
	r.summaries = calloc(kernels, sizeof *r.summaries);
	assert_true(r.kernels && r.summaries);
	for (size_t i = 0; i < kernels; i++) {
		strcpy(r.kernels[i].name, "gemm");
		r.kernels[i].regions = REGIONS;
		r.summaries[i][0] = (struct tk_trace_summary){.region_count = REGIONS,
		        .duration_ns = 2000,
		        .corrected_ns = 1990,
		        .record_ns = 1,
		        .critical.block = path};
	}
	return r;
}

static struct tk_trace_results *fill(double untraced_ns, double traced_ns, size_t kernels)
{
	struct tk_trace_results *out = calloc(1, sizeof *out);
	struct tk_trace_runs base = new_runs(untraced_ns, 0), head = new_runs(traced_ns, kernels);
	assert_non_null(out);
	assert_int_equal(tk_trace_results_fill(&base, &head, 1, out, NULL), TK_OK);
	tk_trace_runs_free(&head);
	return out;
}

/* Two blocks one after the other, of 10 records each: 20 of them cost what the launch takes longer,
 * 100 ns, and not 1 ns each as in a row. */
static void test_cost_in_place(void **state)
{
	struct tk_trace_results *r = fill(1950, 2050, 1);
	assert_near(r->at[0].record_in_place_ns, 5);
	assert_near(r->at[0].head.record_ns, 1);
	assert_near(r->at[0].head.corrected_ns, 1900);
	json_t *o = tk_trace_result_encode(&r->at[0], false);
	json_t *softmax = json_array_get(json_object_get(o, "regions"), SOFTMAX);
	assert_near(json_number_value(json_object_get(o, "record_in_place_ns")), 5);
	assert_near(json_number_value(json_object_get(o, "corrected_ns")), 1900);
	assert_near(json_number_value(json_object_get(softmax, "critical_ns")), 250);
	assert_near(json_number_value(json_object_get(softmax, "critical_corrected_ns")), 220);
	json_decref(o);
	free(r);
}

static void test_kernels_share_the_cost(void **state)
{
	struct tk_trace_results *r = fill(1950, 2050, 2);
	assert_near(r->at[0].record_in_place_ns, 2.5);
	assert_near(r->at[1].head.corrected_ns, 1950);
	free(r);
}

static void test_faster_while_recording(void **state)
{
	struct tk_trace_results *r = fill(2050, 1950, 1);
	assert_near(r->at[0].record_in_place_ns, -5);
	assert_near(r->at[0].head.corrected_ns, 2100);
	free(r);
}

/* Without a build that does not record: by records in a row. */
static void test_unknown_cost(void **state)
{
	struct tk_trace_results *r = fill(NAN, 2050, 1);
	assert_true(isnan(r->at[0].record_in_place_ns));
	assert_near(r->at[0].head.corrected_ns, 1990);
	assert_near(tk_trace_result_record_ns(&r->at[0]), 1);
	free(r);
	struct tk_trace_summary s = {.duration_ns = 100, .critical.block = path};
	tk_trace_summary_correct(&s, NAN);
	assert_true(isnan(s.corrected_ns));
	s.critical.block.records = 0;
	tk_trace_summary_correct(&s, 5);
	assert_near(s.corrected_ns, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_path),
	        cmocka_unit_test(test_path_of_costly_records), cmocka_unit_test(test_cost_in_place),
	        cmocka_unit_test(test_kernels_share_the_cost),
	        cmocka_unit_test(test_faster_while_recording), cmocka_unit_test(test_unknown_cost)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
