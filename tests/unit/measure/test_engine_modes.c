/* The timing engine: modes, input sets, batches and graphs. */
#include "engine_rig.h"
#include <math.h>

static void cold_rotates_over_twice_the_cache(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	rig_up(&r, "");
	measure(&r, "gemm:m=64,n=64,k=64", &o); /* 48 KiB a set, the cache is 1 MiB */
	assert_int_equal(r.m.sets, 43);
	measure(&r, "copy:bytes=8388608", &o);
	assert_int_equal(r.m.sets, 2);
	o.mode = TK_MODE_HOT;
	measure(&r, "gemm:m=64,n=64,k=64", &o);
	assert_int_equal(r.m.sets, 1);
	rig_down(&r);
}

static void each_mode_times_as_documented(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	double cold, ns[TK_MODE_COUNT];
	rig_up(&r, "noise=0,capturable=1");
	for (int mode = 0; mode < TK_MODE_SEQUENCE; mode++) {
		o.mode = (enum tk_mode)mode;
		measure(&r, "gemm:m=16,n=16,k=16", &o);
		if (r.m.outcome != TK_OUTCOME_OK)
			fail_msg("%s: %s", tk_mode_name(o.mode), r.m.message);
		ns[mode] = r.m.summary.median;
		bool rests = o.mode != TK_MODE_COLD && o.mode != TK_MODE_SUSTAINED;
		/* its clock never gives way: short rests */
		assert_true(rests ? r.m.idle_gap_ns == 3e6 : r.m.idle_gap_ns == 0);
		assert_float_equal(r.m.clock_mhz, 1000, 0);
		assert_float_equal(r.m.cycles, ns[mode], 1e-6 * ns[mode]);
		assert_true(r.m.device_bytes > 0);
	}
	cold = ns[TK_MODE_COLD];
	assert_float_equal(ns[TK_MODE_PACED] / cold, 1, 1e-9);
	assert_float_equal(ns[TK_MODE_SUSTAINED] / cold, 1, 1e-9);
	assert_float_equal(ns[TK_MODE_CONTENDED] / cold, 1.5, 1e-9);
	o.mode = TK_MODE_PACED;
	o.idle_gap_ns = 7e6;
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_float_equal(r.m.idle_gap_ns, 7e6, 0);
	rig_down(&r);
}

/* The null device's clock is virtual: a kernel takes as long between others as alone. */
static void a_sequence_times_one_kernel_between_others(void **state)
{
	static const char *const texts[] = {
	        "gemm:m=64,n=64,k=64", "gemm:m=16,n=16,k=16", "copy:bytes=65536"};
	struct tk_sequence_kernel kernels[3];
	struct tk_sequence sequence = {kernels, 3, 1};
	struct tk_measure_options o = defaults;
	struct rig r;
	double alone[3];
	memset(kernels, 0, sizeof kernels);
	rig_up(&r, "noise=0,capturable=1");
	for (int i = 0; i < 3; i++) {
		measure(&r, texts[i], &o);
		alone[i] = r.m.summary.median;
		assert_true(isnan(r.m.sequence.ratio));
		assert_int_equal(tk_problem_parse(&kernels[i].problem, texts[i], NULL), 0);
		kernels[i].backend = r.backend;
		kernels[i].ctx = r.ctx;
	}
	o.mode = TK_MODE_SEQUENCE;
	o.sequence = &sequence;
	measure(&r, texts[1], &o); /* takes the place of its equal */
	if (r.m.outcome != TK_OUTCOME_OK)
		fail_msg("%s", r.m.message);
	assert_int_equal(r.m.mode, TK_MODE_SEQUENCE);
	assert_int_equal(r.m.sequence.kernels, 2);
	assert_float_equal(r.m.summary.median, alone[1], 1e-6 * alone[1]);
	assert_float_equal(r.m.sequence.ratio, 1, 1e-6);
	assert_true(r.m.sequence.ratio_lo <= r.m.sequence.ratio);
	assert_true(r.m.sequence.ratio_hi >= r.m.sequence.ratio);
	assert_float_equal(r.m.sequence.round_ns, alone[0] + alone[1] + alone[2], 1e-6 * alone[2]);
	assert_true(r.m.verdict.passed);
	assert_true(isnan(r.m.energy_j)); /* the counter has that of the others as well */

	sequence.position = 3; /* not one of them: after the last one */
	measure(&r, "gemm:m=32,n=32,k=32", &o);
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	assert_int_equal(r.m.sequence.kernels, 3);
	assert_float_equal(r.m.sequence.ratio, 1, 1e-6);
	rig_down(&r);
}

/* A kernel that skips its work between others is found, and one of them that fails ends the job. */
static void a_sequence_is_checked(void **state)
{
	struct tk_sequence_kernel kernel;
	struct tk_sequence sequence = {&kernel, 1, 1};
	struct tk_measure_options o = defaults;
	struct rig r;
	memset(&kernel, 0, sizeof kernel);
	o.mode = TK_MODE_SEQUENCE;
	rig_up(&r, "noise=0,fail=internal,only=m=64");
	assert_int_equal(tk_problem_parse(&kernel.problem, "gemm:m=64,n=64,k=64", NULL), 0);
	kernel.backend = r.backend;
	kernel.ctx = r.ctx;
	struct tk_error err = {0};
	assert_int_equal(
	        tk_measure(r.ops, r.device, r.backend, r.ctx, &kernel.problem, &o, &r.m, &err),
	        TK_EDATA); /* no sequence */
	o.sequence = &sequence;
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_int_equal(r.m.outcome, TK_OUTCOME_FAILED);
	assert_non_null(strstr(r.m.message, "kernel of the sequence"));
	rig_down(&r);
}

static void bursts_cover_many_locations(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	o.mode = TK_MODE_PACED;
	rig_up(&r, "noise=0,capturable=1");
	measure(&r, "gemm:m=16,n=16,k=16", &o); /* twice the cache would be 683 sets */
	assert_int_equal(r.m.sets, 683);
	measure(&r, "gemm:m=128,n=128,k=128", &o); /* 192 KiB a set: twice the cache would be 11 */
	uint64_t burst = r.m.launches_per_sample;
	assert_true(burst >= 64 && burst < 256);
	assert_int_equal(
	        r.m.sets, 256); /* many short launches: more places than one burst reaches */
	assert_true(fabs((double)burst * r.m.summary.median / 1e6 - 1) < 0.1);
	o.sets = 5;
	measure(&r, "gemm:m=128,n=128,k=128", &o);
	assert_int_equal(r.m.sets, 5);
	assert_int_equal(r.m.launches_per_sample, burst);
	o.sets = 0;
	measure(&r, "copy:bytes=4194304",
	        &o); /* 8 MiB a set, twice the cache: 2; few launches a burst */
	if (r.m.sets != r.m.launches_per_sample || r.m.sets < 2 || r.m.sets > 31)
		fail_msg("%u sets, %d launches of %g ns", r.m.sets, (int)r.m.launches_per_sample,
		        r.m.summary.median);
	rig_down(&r);
}

/* Verified beside the warm-up, and still never timed where it is wrong. */
static void wrong_results_are_found_in_paced_mode(void **state)
{
	static const char *const faults[] = {"fail=lie", "fail=nan", "fail=idle"};
	struct rig r;
	struct tk_measure_options o = defaults;
	o.mode = TK_MODE_PACED;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		rig_up(&r, faults[i]);
		measure(&r, "gemm:m=16,n=16,k=16", &o);
		assert_string_equal(tk_outcome_name(r.m.outcome), "wrong");
		assert_int_equal(r.m.sample_count, 0);
		rig_down(&r);
	}
}

static void long_launches_get_as_many_samples_as_an_interval_needs(void **state)
{
	struct tk_measure_options o = defaults;
	struct tk_engine e = {
	        .options = &o, .launch_ns = 0.1e9, .batch = 1, .bursts = 1, .idle_gap_ns = 0.1e9};
	o.mode = TK_MODE_PACED;
	assert_float_equal(tk_engine_stop_rule(&e).budget_s, 5.5 * 0.2,
	        1e-9); /* five are begun within it, the sixth ends it */
	o.stop.confidence = 0.99;
	assert_float_equal(tk_engine_stop_rule(&e).budget_s, 7.5 * 0.2, 1e-9);
	e.launch_ns = 60e9;
	assert_float_equal(tk_engine_stop_rule(&e).budget_s, 10, 0);
	e.launch_ns = 1e6;
	e.idle_gap_ns = 6e6;
	assert_true(tk_engine_stop_rule(&e).budget_s < 0.35);
}

static void short_launches_are_batched(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	o.min_sample_ns = 1e6;
	rig_up(&r, "noise=0");
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_true(r.m.launches_per_sample > 300 && r.m.launches_per_sample < 700);
	assert_true(r.m.launches_per_sample * r.m.summary.median >= 1e6);
	rig_down(&r);
}

static void capturable_plans_use_graphs(void **state)
{
	struct rig plain, graph;
	struct tk_measure_options o = defaults;
	rig_up(&plain, "noise=0");
	rig_up(&graph, "noise=0,capturable=1");
	measure(&plain, "gemm:m=64,n=64,k=64", &o);
	measure(&graph, "gemm:m=64,n=64,k=64", &o);
	assert_string_equal(tk_outcome_name(graph.m.outcome), "ok");
	assert_int_equal(plain.m.launches_per_sample, 1);
	assert_int_equal(graph.m.launches_per_sample, 43); /* one turn through the sets */
	assert_true(fabs(graph.m.summary.median / plain.m.summary.median - 1) < 1e-9);
	rig_down(&plain);
	rig_down(&graph);
}

/* Two of three samples at 1000 MHz, the others at 400: the mean is 800. */
static int stamp_changing_mhz(
        struct tk_device *dev, void *from, void *to, double *mhz, struct tk_abi_error *err)
{
	static unsigned sample;
	(void)dev, (void)from, (void)to, (void)err;
	*mhz = sample++ % 3 == 1 ? 400 : 1000;
	return TK_ABI_OK;
}

static void clock_mhz_is_a_median(void **state)
{
	struct rig r;
	rig_up(&r, "noise=0");
	struct tk_device_ops ops = *r.ops;
	ops.stamp_mhz = stamp_changing_mhz;
	r.ops = &ops;
	measure(&r, "gemm:m=16,n=16,k=16", &defaults);
	assert_float_equal(r.m.clock_mhz, 1000, 0);
	assert_float_equal(r.m.clock_min_mhz, 400, 0);
	assert_float_equal(r.m.cycles, r.m.summary.median, 1e-6 * r.m.summary.median);
	rig_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(cold_rotates_over_twice_the_cache),
	        cmocka_unit_test(each_mode_times_as_documented),
	        cmocka_unit_test(a_sequence_times_one_kernel_between_others),
	        cmocka_unit_test(a_sequence_is_checked),
	        cmocka_unit_test(bursts_cover_many_locations),
	        cmocka_unit_test(wrong_results_are_found_in_paced_mode),
	        cmocka_unit_test(long_launches_get_as_many_samples_as_an_interval_needs),
	        cmocka_unit_test(short_launches_are_batched),
	        cmocka_unit_test(capturable_plans_use_graphs),
	        cmocka_unit_test(clock_mhz_is_a_median),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
