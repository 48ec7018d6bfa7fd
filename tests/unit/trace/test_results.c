/* The runs of one or two builds that record, and the document that is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/runs.h"

enum { LOAD, MULTIPLY, SOFTMAX, WAIT, REGIONS, RUNS = 8 };

static struct tk_trace_file_kernel kernel(const char *name)
{
	struct tk_trace_file_kernel k = {.groups = 1,
	        .regions = REGIONS,
	        .blocks = 2,
	        .launched = 2,
	        .region = {"load", "multiply", "softmax", "wait"},
	        .kind = {TK_TRACE_LOAD, TK_TRACE_TENSOR, TK_TRACE_COMPUTE, TK_TRACE_WAIT}};

	strcpy(k.name, name);
	return k;
}

/* Runs of a kernel with these times of its regions, a little different each time. */
static void fill(struct tk_trace_runs *r, const char *name, const double time_ns[REGIONS])
{
	double sum = 0;

	*r = (struct tk_trace_runs){.kernel_count = 1,
	        .kernels = calloc(1, sizeof *r->kernels),
	        .summaries = calloc(1, sizeof *r->summaries)};
	assert_true(r->kernels && r->summaries);
	r->kernels[0] = kernel(name);
	for (int i = 0; i < REGIONS; i++)
		sum += time_ns[i];
	for (int run = 0; run < RUNS; run++) {
		struct tk_trace_summary *s = &r->summaries[0][run];
		const double noise = 1 + 0.001 * (run * 5 % RUNS);
		s->region_count = REGIONS;
		s->duration_ns = sum * noise;
		s->corrected_ns = sum;
		s->record_ns = NAN;
		for (int i = 0; i < REGIONS; i++)
			s->regions[i] = (struct tk_trace_region_time){.time_ns = time_ns[i] * noise,
			        .exposed_ns = time_ns[i] * noise / 2,
			        .share = 0.25,
			        .calls = 3};
		r->median_ns[run] = sum * noise + 100;
	}
}

static const double times[REGIONS] = {100, 400, 300, 200};

static struct tk_trace_results *results_of(
        const double base_ns[REGIONS], const double head_ns[REGIONS])
{
	struct tk_trace_results *out = calloc(1, sizeof *out);
	struct tk_trace_runs base, head;
	struct tk_error err = {0};

	assert_non_null(out);
	fill(&base, "k", base_ns);
	fill(&head, "k", head_ns);
	if (tk_trace_results_fill(&base, &head, RUNS, out, &err))
		fail_msg("%s", err.message);
	tk_trace_runs_free(&base);
	tk_trace_runs_free(&head);
	return out;
}

/* ---- the cause of a change ---- */

/* What waits, waits for what has changed; products that nobody awaits last as long as what is done
 * meanwhile. */
static void the_cause_is_the_work_that_changed(void **state)
{
	static const struct {
		double head[REGIONS];
		int cause;
	} cases[] = {
	        {{100, 400, 300, 200}, -1},   /* nothing */
	        {{100, 400, 300.5, 200}, -1}, /* too little */
	        {{100, 400, 400, 200}, SOFTMAX},
	        {{100, 400, 400, 400}, SOFTMAX},  /* the wait is longer, because of it */
	        {{100, 600, 400, 200}, SOFTMAX},  /* so is the product */
	        {{100, 600, 301, 200}, MULTIPLY}, /* no other work changed enough */
	        {{100, 450, 300, 400}, MULTIPLY}, /* the wait is for the product */
	        {{100, 400, 300, 300}, WAIT},     /* nothing else changed: another block */
	        {{180, 400, 380.1, 200}, SOFTMAX}, {{180.1, 400, 380, 200}, LOAD},
	        {{100, 400, 200, 200}, SOFTMAX}, /* faster */
	        {{150, 400, 150, 200}, SOFTMAX}, /* as a whole: the load got slower */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_trace_results *r = results_of(times, cases[i].head);
		if (r->at[0].comparison.cause != cases[i].cause)
			fail_msg("case %zu: region %d", i, r->at[0].comparison.cause);
		free(r);
	}
}

static void a_change_has_its_size(void **state)
{
	const double head[REGIONS] = {100, 400, 400, 200};
	struct tk_trace_results *r = results_of(times, head);
	const struct tk_trace_comparison *c = &r->at[0].comparison;

	assert_true(c->duration.is_changed);
	assert_float_equal(c->duration.change_ns, 100, 5);
	assert_true(c->duration.lo_ns <= c->duration.change_ns);
	assert_true(c->duration.hi_ns >= c->duration.change_ns);
	assert_true(c->regions[SOFTMAX].is_changed);
	assert_float_equal(c->regions[SOFTMAX].base_ns, 301, 1.5);
	assert_float_equal(c->exposed[SOFTMAX].change_ns, 50, 3);
	assert_false(c->regions[LOAD].is_changed);
	assert_float_equal(r->at[0].head.duration_ns - r->at[0].base.duration_ns, 100, 5);
	assert_true(tk_trace_results_compare(r));
	assert_true(isnan(r->untraced_ns));
	free(r);
}

static void too_few_runs_are_not_compared(void **state)
{
	struct tk_trace_results *out = calloc(1, sizeof *out);
	struct tk_trace_runs runs;
	struct tk_error err = {0};

	assert_non_null(out);
	fill(&runs, "k", times);
	assert_int_equal(
	        tk_trace_results_fill(&runs, &runs, TK_TRACE_RUNS_MIN - 1, out, &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "a comparison needs 6 to 64 runs of each side"));
	assert_int_equal(tk_trace_results_fill(&runs, &runs, TK_TRACE_RUNS_MIN, out, &err), TK_OK);
	tk_trace_runs_free(&runs);
	free(out);
}

static void other_regions_are_not_compared(void **state)
{
	struct tk_trace_results *out = calloc(1, sizeof *out);
	struct tk_trace_runs base, head;
	struct tk_error err = {0};

	assert_non_null(out);
	fill(&base, "k", times);
	fill(&head, "k", times);
	strcpy(base.kernels[0].region[2], "other");
	assert_int_equal(tk_trace_results_fill(&base, &head, RUNS, out, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "k: base and head record different regions"));
	base.kernels[0] = head.kernels[0];
	base.kernels[0].kind[0] = TK_TRACE_STORE;
	assert_int_equal(tk_trace_results_fill(&base, &head, RUNS, out, &err), TK_EDATA);
	base.kernels[0] = head.kernels[0];
	base.kernels[0].regions--;
	assert_int_equal(tk_trace_results_fill(&base, &head, RUNS, out, &err), TK_EDATA);
	tk_trace_runs_free(&base);
	tk_trace_runs_free(&head);
	free(out);
}

/* A base that does not record shows what recording costs. */
static void without_records_the_base_is_the_time(void **state)
{
	struct tk_trace_results *out = calloc(1, sizeof *out);
	struct tk_trace_runs base = {0}, head;
	struct tk_error err = {0};

	assert_non_null(out);
	fill(&head, "k", times);
	for (int i = 0; i < RUNS; i++)
		base.median_ns[i] = 900 + i;
	assert_int_equal(tk_trace_results_fill(&base, &head, RUNS, out, &err), TK_OK);
	assert_float_equal(out->untraced_ns, 903.5, 1e-3);
	assert_float_equal(out->traced_ns, 1103.5, 1e-3);
	assert_false(tk_trace_results_compare(out));
	assert_int_equal(out->count, 1);
	assert_float_equal(out->at[0].head.regions[SOFTMAX].share, 0.25, 1e-6);
	assert_float_equal(out->at[0].head.regions[SOFTMAX].calls, 3, 1e-6);
	tk_trace_runs_free(&head);
	free(out);
}

/* ---- the document ---- */

static double number_at(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void a_comparison_as_json(void **state)
{
	const double head[REGIONS] = {100, 400, 400, 200};
	struct tk_trace_results *r = results_of(times, head);
	json_t *o = json_object();

	tk_trace_results_encode(r, o);
	assert_int_equal(number_at(o, "runs"), RUNS);
	assert_true(json_is_null(json_object_get(o, "untraced_ns")));
	const json_t *k = json_array_get(json_object_get(o, "kernels"), 0), *region;
	assert_string_equal(json_string_value(json_object_get(k, "name")), "k");
	assert_string_equal(json_string_value(json_object_get(k, "cause")), "softmax");
	assert_true(json_is_true(json_object_get(json_object_get(k, "change"), "changed")));
	assert_true(number_at(k, "block_ns") == 0 && json_object_get(k, "block_ns"));
	assert_true(json_is_null(json_object_get(k, "record_ns")));
	assert_true(json_is_null(json_object_get(k, "tiles")));
	assert_int_equal(number_at(k, "blocks_launched"), 2);
	assert_int_equal(json_array_size(json_object_get(k, "regions")), REGIONS);
	region = json_array_get(json_object_get(k, "regions"), SOFTMAX);
	assert_string_equal(json_string_value(json_object_get(region, "name")), "softmax");
	assert_string_equal(json_string_value(json_object_get(region, "kind")), "compute");
	assert_float_equal(number_at(region, "entered"), 3, 1e-6);
	assert_float_equal(
	        number_at(json_object_get(region, "exposed_change"), "change_ns"), 50, 3);
	assert_float_equal(number_at(json_object_get(region, "change"), "change_ns"), 100, 5);
	assert_null(json_object_get(region, "tile_critical_ns"));
	json_decref(o);
	free(r);
}

static void tiles_have_their_own_members(void **state)
{
	struct tk_trace_result *r = calloc(1, sizeof *r);

	assert_non_null(r);
	r->kernel = kernel("k");
	r->kernel.launched = 0;
	r->comparison.cause = -1;
	r->head.critical = (struct tk_trace_critical_path){.tiles = 12,
	        .shortest_tile_ns = 5,
	        .longest_tile_ns = 9,
	        .tile = {.duration_ns = 7, .other_ns = 1, .region_ns = {[MULTIPLY] = 4}}};
	json_t *o = tk_trace_result_encode(r, true);
	assert_true(json_is_null(json_object_get(o, "cause")));
	assert_true(json_is_null(json_object_get(o, "blocks_launched")));
	const json_t *tiles = json_object_get(o, "tiles");
	assert_float_equal(number_at(tiles, "count"), 12, 0);
	assert_float_equal(number_at(tiles, "mean_ns"), 7, 0);
	assert_float_equal(number_at(tiles, "longest_ns"), 9, 0);
	assert_float_equal(number_at(json_array_get(json_object_get(o, "regions"), MULTIPLY),
	                           "tile_critical_ns"),
	        4, 0);
	json_decref(o);
	o = tk_trace_result_encode(r, false);
	assert_null(json_object_get(o, "cause"));
	assert_null(json_object_get(o, "change"));
	json_decref(o);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_cause_is_the_work_that_changed),
	        cmocka_unit_test(a_change_has_its_size),
	        cmocka_unit_test(too_few_runs_are_not_compared),
	        cmocka_unit_test(other_regions_are_not_compared),
	        cmocka_unit_test(without_records_the_base_is_the_time),
	        cmocka_unit_test(a_comparison_as_json),
	        cmocka_unit_test(tiles_have_their_own_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
