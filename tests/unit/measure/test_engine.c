/* The engine on the null device: its clock is virtual, so everything but wall times is exactly
 * repeatable. */
#include "base/error.h"
#include "measure/engine.h"
#include "null_options.h"
#include "null_time.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct rig {
	const struct tk_device_ops *ops;
	struct tk_device *device;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
	struct tk_measurement m;
};

static const struct tk_measure_options defaults = {
        .seed = 1,
        .mode = TK_MODE_COLD,
        .stop = {0.95, 0.01, 10, 100, 5},
        .max_warmup_s = 5,
        .min_sample_ns = 1,
        .verify = true,
};

static void rig_up(struct rig *r, const char *options)
{
	struct tk_abi_error err = {.size = sizeof err};
	*r = (struct rig){.ops = tk_device_entry(), .backend = tk_backend_entry()};
	assert_int_equal(r->ops->open(0, &r->device, &err), 0);
	struct tk_open_args args = {
	        .size = sizeof args, .device = r->device, .device_ops = r->ops, .options = options};
	if (r->backend->open(&args, &r->ctx, &err))
		fail_msg("%s: %s", options, err.message);
}

static void rig_down(struct rig *r)
{
	tk_measurement_free(&r->m);
	r->backend->close(r->ctx);
	r->ops->close(r->device);
}

static void measure(struct rig *r, const char *problem, const struct tk_measure_options *o)
{
	struct tk_problem_spec p;
	struct tk_error err = {0};
	assert_int_equal(tk_problem_parse(&p, problem, &err), 0);
	tk_measurement_free(&r->m);
	if (tk_measure(r->ops, r->device, r->backend, r->ctx, &p, o, &r->m, &err))
		fail_msg("%s: %s", problem, err.message);
}

static void a_job_has_every_figure(void **state)
{
	struct rig r;
	rig_up(&r, "");
	measure(&r, "gemm:m=16,n=24,k=32,a=f16", &defaults);
	assert_string_equal(tk_outcome_name(r.m.outcome), "ok");
	assert_true(r.m.verdict.done && r.m.verdict.passed);
	assert_int_equal(r.m.stop, TK_STOP_TIGHT);
	assert_true(r.m.sample_count >= 10 && r.m.sample_count <= 100);
	assert_int_equal(r.m.launches_per_sample, 1);
	assert_true(r.m.lo <= r.m.summary.median && r.m.summary.median <= r.m.hi);
	assert_float_equal(r.m.flops, 2.0 * 16 * 24 * 32, 0);
	assert_float_equal(r.m.bytes, 2.0 * (16 * 32 + 32 * 24 + 16 * 24), 0);
	assert_string_equal(r.m.plan.kernel, "null");
	rig_down(&r);
}

static void every_operation_is_verified(void **state)
{
	/* clang-format off */
	static const char *const problems[] = {"attention:b=2,h=4,hkv=2,sq=9,skv=17,d=8,causal=1,dtype=bf16",
		"nsa:b=1,h=4,hkv=2,s=64,d=8,block_size=8,selected_blocks=3,window=10,dtype=f32", "copy:bytes=4096", "read:bytes=4096",
		"fma:count=1000", "gemm:m=5,n=6,k=7,ta=t,tb=t,a=e4m3", "gemm:m=5,n=6,k=7,batch=2,a=f64,dist=outliers"};
	/* clang-format on */
	struct rig r;
	rig_up(&r, "");
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		measure(&r, problems[i], &defaults);
		if (r.m.outcome != TK_OUTCOME_OK)
			fail_msg("%s: %s: %s", problems[i], tk_outcome_name(r.m.outcome),
			        r.m.message);
		assert_true(r.m.verdict.passed && r.m.verdict.checked > 0);
	}
	rig_down(&r);
}

static void samples_are_repeatable_and_follow_the_formula(void **state)
{
	struct rig r;
	double first[10];
	struct tk_measure_options o = defaults;
	o.stop.max_samples = 10;
	for (int round = 0; round < 2; round++) {
		rig_up(&r, "seed=3,noise=0.1");
		measure(&r, "gemm:m=16,n=16,k=16", &o);
		assert_int_equal(r.m.sample_count, 10);
		assert_true(round == 0 || memcmp(first, r.m.samples, sizeof first) == 0);
		memcpy(first, r.m.samples, sizeof first);
		rig_down(&r);
	}
	rig_up(&r, "seed=3,noise=0,slow=2");
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	struct tk_problem_spec p;
	struct null_options want = {.seed = 3, .slow = 2, .step = 1};
	assert_int_equal(tk_problem_parse(&p, "gemm:m=16,n=16,k=16", NULL), 0);
	assert_true(fabs(r.m.summary.median / null_time_ns(&want, &p.abi, 1, 0) - 1) < 1e-9);
	rig_down(&r);
}

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
	for (int mode = 0; mode < TK_MODE_COUNT; mode++) {
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

static struct {
	const char *problem;
	uint64_t seed;
	int seen;
} expected;

/* Bind sees what is on the device, which here is ordinary memory. */
static int bind_and_look(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	struct tk_problem_spec p;
	void *want = malloc(t[0].bytes);
	if (tk_problem_parse(&p, expected.problem, NULL) ||
	        tk_inputs_fill(&p, 0, expected.seed, want, NULL))
		fail_msg("%s cannot be filled", expected.problem);
	assert_memory_equal(t[0].data, want, t[0].bytes);
	free(want);
	expected.seen++;
	return tk_backend_entry()->bind(plan, set, t, count, err);
}

/* Host memory is used again, and what it holds: another size, seed, type and distribution each get
 * their own values. */
static void inputs_are_reused(void **state)
{
	/* clang-format off */
	static const char *const problems[] = {"read:bytes=4194304", "read:bytes=8388608", "read:bytes=2097152", "read:bytes=8388608,dist=uniform",
		"read:bytes=8388608", "copy:bytes=4194304,dtype=bf16", "read:bytes=8388608"};
	/* clang-format on */
	struct rig r;
	struct tk_measure_options o = defaults;
	rig_up(&r, "");
	struct tk_backend spy = *r.backend;
	spy.bind = bind_and_look;
	r.backend = &spy;
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		for (o.seed = 1; o.seed < 3; o.seed++) {
			expected.problem = problems[i];
			expected.seed = o.seed;
			measure(&r, problems[i], &o);
			if (r.m.outcome != TK_OUTCOME_OK)
				fail_msg("%s: %s", problems[i], r.m.message);
		}
	assert_true(expected.seen >= 28); /* two sets each */
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

static void sampling_has_limits(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	o.stop.relative_half_width = 1e-6;
	rig_up(&r, "noise=0.2");
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_string_equal(tk_outcome_name(r.m.outcome), "unstable");
	assert_int_equal(r.m.stop, TK_STOP_MAX_SAMPLES);
	assert_int_equal(r.m.sample_count, 100);
	assert_non_null(strstr(r.m.message, "target ±0.0001 %"));
	rig_down(&r);
	rig_up(&r, "noise=6"); /* more than 100 %: no exponent in it */
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_non_null(strstr(r.m.message, "confidence interval ±"));
	assert_true((r.m.hi - r.m.lo) / 2 > r.m.summary.median);
	assert_null(strstr(r.m.message, "e+"));
	o.stop.budget_s = 0;
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_int_equal(r.m.stop, TK_STOP_BUDGET);
	assert_int_equal(r.m.sample_count, 1);
	assert_string_equal(tk_outcome_name(r.m.outcome), "unstable");
	assert_non_null(strstr(r.m.message, "1 in"));
	assert_non_null(strstr(r.m.message, "too few samples for a confidence interval at 95 %"));
	rig_down(&r);
}

static void throttling_is_reported(void **state)
{
	struct rig r;
	rig_up(&r, "throttle=1");
	measure(&r, "gemm:m=16,n=16,k=16", &defaults);
	assert_string_equal(tk_outcome_name(r.m.outcome), "throttled");
	assert_int_equal(r.m.throttled_samples, r.m.sample_count);
	assert_non_null(strstr(r.m.message, "told_so"));
	rig_down(&r);
}

static void faults_become_outcomes(void **state)
{
	/* clang-format off */
	static const struct { const char *options, *outcome, *message; } cases[] = {
		{"fail=lie", "wrong", "expected"}, {"fail=nan", "wrong", "C[0][8][0] is"}, {"fail=idle", "wrong", "never written"},
		{"fail=unsupported,at=supports", "unsupported", "told not to"}, {"fail=unsupported,at=plan", "unsupported", "told not to"},
		{"fail=no_memory,at=plan", "out_of_memory", "plan: told to be out"}, {"fail=no_memory,at=bind", "out_of_memory", "bind:"},
		{"fail=invalid,at=bind", "failed", "bind: told"}, {"fail=device", "failed", "launch: told that the device"},
		{"fail=internal,at=fetch", "failed", "fetch: told"}, {"fail=internal,after=20", "failed", "launch: told to fail inside"},
		{"fail=unknown_status", "failed", "launch: unknown status 4711"},
		{"fail=unended", "failed", "launch: xxxxx"}, {"fail=late,late_s=0.01,after=5", "ok", ""},
		{"fail=segv,only=m=17", "ok", ""},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rig r;
		struct tk_measure_options o = defaults;
		o.stop.max_samples = 20;
		rig_up(&r, cases[i].options);
		measure(&r, "gemm:m=16,n=16,k=16", &o);
		if (strcmp(tk_outcome_name(r.m.outcome), cases[i].outcome) != 0 ||
		        !strstr(r.m.message, cases[i].message))
			fail_msg("%s: %s: %s", cases[i].options, tk_outcome_name(r.m.outcome),
			        r.m.message);
		rig_down(&r);
	}
}

static void without_verification_wrong_results_are_timed(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	o.verify = false;
	rig_up(&r, "fail=lie");
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_string_equal(tk_outcome_name(r.m.outcome), "ok");
	assert_false(r.m.verdict.done);
	rig_down(&r);
}

static void size_limits(void **state)
{
	struct rig r;
	rig_up(&r, "");
	measure(&r, "gemm:m=4096,n=4096,k=4096", &defaults);
	assert_string_equal(tk_outcome_name(r.m.outcome), "unsupported");
	measure(&r, "copy:bytes=34359738368", &defaults);
	assert_string_equal(tk_outcome_name(r.m.outcome), "out_of_memory");
	assert_string_equal(r.m.message, "the tensors take 64.0 GiB, the device has 16.0 GiB");
	rig_down(&r);
}

static void configs_change_times(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	rig_up(&r, "noise=0");
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	double base = r.m.summary.median;
	o.config = "slow";
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_true(fabs(r.m.summary.median / base - 1.2) < 1e-9);
	assert_string_equal(r.m.plan.algorithm, "slow");
	o.config = "no such";
	measure(&r, "gemm:m=16,n=16,k=16", &o);
	assert_string_equal(tk_outcome_name(r.m.outcome), "failed");
	assert_non_null(strstr(r.m.message, "`no such` is not key=value"));
	rig_down(&r);
}

static void invalid_options_are_named(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {{"nosie=1", "there is no option `nosie`"}, {"noise", "`noise` is not key=value"},
		{"noise=x", "noise cannot be `x`"}, {"noise=-1", "noise cannot be `-1`"}, {"fail=sing", "fail cannot be `sing`"},
		{"step=3", "step cannot be `3`"}, {"seed=", "seed cannot be ``"}, {"at=home", "at cannot be `home`"}};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct null_options o;
		struct tk_abi_error err = {.size = sizeof err};
		null_options_default(&o);
		assert_int_equal(null_options_parse(&o, cases[i][0], &err), TK_ABI_INVALID);
		if (!strstr(err.message, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.message);
	}
}

static void times_step_and_drift(void **state)
{
	struct tk_problem_spec p;
	struct null_options o;
	assert_int_equal(tk_problem_parse(&p, "gemm:m=512,n=512,k=512", NULL), 0);
	null_options_default(&o);
	o.noise = 0;
	double base = null_time_ns(&o, &p.abi, 1, 0);
	o.step_at = 5;
	o.step = 1.5;
	o.revision = 4;
	assert_float_equal(null_time_ns(&o, &p.abi, 1, 7) / base, 1, 1e-12);
	o.revision = 5;
	assert_float_equal(null_time_ns(&o, &p.abi, 1, 7) / base, 1.5, 1e-12);
	o.drift = 0.01;
	assert_float_equal(null_time_ns(&o, &p.abi, 1, 7) / base, 1.5 * pow(1.01, 5), 1e-9);
	o.seed = 9;
	assert_true(fabs(null_time_ns(&o, &p.abi, 1, 7) / base - 1.5 * pow(1.01, 5)) > 1e-6);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_has_every_figure), cmocka_unit_test(every_operation_is_verified),
		cmocka_unit_test(samples_are_repeatable_and_follow_the_formula), cmocka_unit_test(cold_rotates_over_twice_the_cache),
		cmocka_unit_test(each_mode_times_as_documented), cmocka_unit_test(bursts_cover_many_locations), cmocka_unit_test(wrong_results_are_found_in_paced_mode), cmocka_unit_test(inputs_are_reused),
		cmocka_unit_test(long_launches_get_as_many_samples_as_an_interval_needs),
	        cmocka_unit_test(short_launches_are_batched), cmocka_unit_test(capturable_plans_use_graphs), cmocka_unit_test(sampling_has_limits),
		cmocka_unit_test(throttling_is_reported), cmocka_unit_test(faults_become_outcomes),
		cmocka_unit_test(without_verification_wrong_results_are_timed), cmocka_unit_test(size_limits), cmocka_unit_test(configs_change_times),
		cmocka_unit_test(invalid_options_are_named), cmocka_unit_test(times_step_and_drift),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
