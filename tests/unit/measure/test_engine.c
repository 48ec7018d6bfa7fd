/* The timing engine: results, outcomes, limits. */
#include "engine_rig.h"
#include "null_options.h"
#include "null_time.h"
#include <math.h>

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
	static const char *const problems[] =
	{"attention:b=2,h=4,hkv=2,sq=9,skv=17,d=8,causal=1,dtype=bf16",
		"nsa:b=1,h=4,hkv=2,s=64,d=8,block_size=8,selected_blocks=3,window=10,dtype=f32",
		"copy:bytes=4096", "read:bytes=4096",
		"fma:count=1000", "gemm:m=5,n=6,k=7,ta=t,tb=t,a=e4m3",
		"gemm:m=5,n=6,k=7,batch=2,a=f64,dist=outliers"};
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
	static const char *const problems[] = {"read:bytes=4194304", "read:bytes=8388608",
		"read:bytes=2097152", "read:bytes=8388608,dist=uniform",
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
		{"fail=lie", "wrong", "expected"}, {"fail=nan", "wrong", "C[0][8][0] is"},
		{"fail=idle", "wrong", "never written"},
		{"fail=unsupported,at=supports", "unsupported", "told not to"},
		{"fail=unsupported,at=plan", "unsupported", "told not to"},
		{"fail=no_memory,at=plan", "out_of_memory", "plan: told to be out"},
		{"fail=no_memory,at=bind", "out_of_memory", "bind:"},
		{"fail=invalid,at=bind", "failed", "bind: told"},
		{"fail=device", "failed", "launch: told that the device"},
		{"fail=internal,at=fetch", "failed", "fetch: told"}, {"fail=internal,after=20",
			"failed", "launch: told to fail inside"},
		{"fail=unknown_status", "failed", "launch: unknown status 4711"},
		{"fail=unended", "failed", "launch: xxxxx"}, {"fail=late,late_s=0.01,after=5", "ok",
			""},
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
	assert_non_null(strstr(r.m.message, "\"no such\" is not key=value"));
	rig_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_job_has_every_figure),
	        cmocka_unit_test(every_operation_is_verified),
	        cmocka_unit_test(samples_are_repeatable_and_follow_the_formula),
	        cmocka_unit_test(inputs_are_reused),
	        cmocka_unit_test(sampling_has_limits),
	        cmocka_unit_test(throttling_is_reported),
	        cmocka_unit_test(faults_become_outcomes),
	        cmocka_unit_test(without_verification_wrong_results_are_timed),
	        cmocka_unit_test(size_limits),
	        cmocka_unit_test(configs_change_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
