/* The checks of timed launches, on backends whose launches write at once: honest ones pass on every
 * kind of device and in every mode, and those that skip work do not. Graphs are played back launch
 * by launch, as a GPU does. */
#include "core/mode.h"
#include "engine_rig.h"
#include "null_device.h"
#include "null_outputs.h"
#include "tracker_abi.h"
#include <math.h>
#include <stdio.h>

#define LAUNCH_NS 2e4
#define SUSTAINED_LAUNCH_NS 4e5 /* its samples are of 0.1 s: few launches are enough here */
#define GRAPH_MAX 100000
#define SETS_SEEN 16384

static struct {
	bool is_capturable;
	/* what the backend does */
	bool skips_known, is_noisy, has_no_lse;
	uint64_t stops_after;
	double launch_ns;
	/* its state */
	uint64_t launches;
	bool is_known[SETS_SEEN];
	uint32_t *recording, recorded; /* NULL: launches run */
} now;

struct tk_plan {
	const struct tk_problem *problem;
	struct tk_tensor (*tensors)[TK_T_MAX];
};

static struct tk_device *device;
static struct tk_plan *current_plan;

/* Other bits each time, as from additions in no fixed order. */
static void add_noise(struct tk_tensor *t)
{
	for (int64_t i = 0; i < (int64_t)(t->bytes / tk_dtype_bytes(t->dtype)); i++)
		tk_element_set(
		        t, i, tk_element_get(t, i) * (1 + 1e-7 * (double)(now.launches % 7)));
}

static void execute(struct tk_plan *plan, uint32_t set)
{
	struct tk_tensor *t = plan->tensors[set];
	null_device_advance(device, now.launch_ns);
	now.launches++;
	if ((now.skips_known && now.is_known[set]) ||
	        (now.stops_after && now.launches > now.stops_after))
		return;
	now.is_known[set] = true;
	assert_int_equal(null_compute_outputs(plan->problem, t), 0);
	for (int i = 0; i < TK_T_MAX; i++) {
		if (now.is_noisy && t[i].output && t[i].data)
			add_noise(&t[i]);
		if (now.has_no_lse && i == TK_T_LSE && t[i].output)
			memset(t[i].data, 0xff, t[i].bytes);
	}
}

static int plan_new(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct tk_plan *plan = calloc(1, sizeof *plan);
	plan->problem = p;
	plan->tensors = calloc(sets, sizeof *plan->tensors);
	info->capturable = now.is_capturable;
	assert_true(sets <= SETS_SEEN);
	*out = current_plan = plan;
	return TK_ABI_OK;
}

static int plan_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t, uint32_t count,
        struct tk_abi_error *err)
{
	memcpy(plan->tensors[set], t, count * sizeof *t);
	return TK_ABI_OK;
}

static int plan_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	if (!now.recording)
		execute(plan, set);
	else
		now.recording[++now.recorded] = set;
	return TK_ABI_OK;
}

static void plan_free(struct tk_plan *plan)
{
	free(plan->tensors);
	free(plan);
}

static int supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static const struct tk_backend direct = {.size = sizeof direct,
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .name = "direct",
        .device_kind = "null",
        .supports = supports,
        .plan = plan_new,
        .bind = plan_bind,
        .launch = plan_launch,
        .unplan = plan_free};

/* A graph is the list of its sets; element 0 is their number. */
static int graph_begin(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	now.recording = calloc(GRAPH_MAX + 1, sizeof *now.recording);
	now.recorded = 0;
	return TK_ABI_OK;
}

static int graph_end(struct tk_device *dev, void *stream, void **graph, struct tk_abi_error *err)
{
	now.recording[0] = now.recorded;
	*graph = now.recording;
	now.recording = NULL;
	return TK_ABI_OK;
}

static int graph_launch(struct tk_device *dev, void *graph, void *stream, struct tk_abi_error *err)
{
	const uint32_t *sets = graph;
	for (uint32_t i = 1; i <= sets[0]; i++)
		execute(current_plan, sets[i]);
	return TK_ABI_OK;
}

static void graph_free(struct tk_device *dev, void *graph)
{
	free(graph);
}

/* A GPU has all of these operations, a CPU none. */
static struct tk_device_ops operations(bool is_gpu)
{
	struct tk_device_ops ops = *tk_device_entry();
	ops.graph_begin = is_gpu ? graph_begin : NULL;
	ops.graph_end = graph_end;
	ops.graph_launch = graph_launch;
	ops.graph_free = graph_free;
	if (!is_gpu) {
		ops.block_stream = NULL;
		ops.copy = NULL;
		ops.fill = NULL;
		ops.same = NULL;
		ops.memory_load = NULL;
		ops.stamp_new = NULL;
	}
	return ops;
}

static void run(struct tk_measurement *m, bool is_gpu, const char *problem, enum tk_mode mode,
        uint64_t check_seed)
{
	struct tk_device_ops ops = operations(is_gpu);
	struct tk_measure_options o = defaults;
	struct tk_problem_spec p;
	struct tk_error err = {0};
	struct tk_abi_error abi = {.size = sizeof abi};
	o.mode = mode;
	o.check_seed = check_seed;
	now.launches = 0;
	now.launch_ns = mode == TK_MODE_SUSTAINED ? SUSTAINED_LAUNCH_NS : LAUNCH_NS;
	memset(now.is_known, 0, sizeof now.is_known);
	assert_int_equal(ops.open(0, &device, &abi), 0);
	assert_int_equal(tk_problem_parse(&p, problem, &err), 0);
	if (tk_measure(&ops, device, &direct, NULL, &p, &o, m, &err))
		fail_msg("%s: %s", problem, err.message);
	ops.close(device);
}

static const char *const problems[] = {
        "gemm:m=16,n=24,k=32",
        "gemm:m=48,n=40,k=8,a=bf16,ta=t,tb=t,batch=2",
        "gemm:m=5,n=6,k=7,a=e4m3",
        "attention:b=2,h=4,hkv=2,sq=9,skv=17,d=8,causal=1",
        "nsa:b=1,h=4,hkv=2,s=64,d=8,block_size=8,selected_blocks=3,window=10,dtype=f32",
        "copy:bytes=40960",
        "read:bytes=4096",
};
#define PROBLEMS (sizeof problems / sizeof *problems)

/* Wall time may end a job before its interval is narrow. */
static void expect(const char *problem, enum tk_mode mode, int kind, bool is_right)
{
	struct tk_measurement m;
	now.is_capturable = kind == 2;
	run(&m, kind > 0, problem, mode, 0);
	if (tk_outcome_has_timing(m.outcome) != is_right ||
	        (!is_right && m.outcome != TK_OUTCOME_WRONG))
		fail_msg("%s, %s, %d, check seed %llu: %s: %s", problem, tk_mode_name(mode), kind,
		        (unsigned long long)m.check_seed, tk_outcome_name(m.outcome), m.message);
	tk_measurement_free(&m);
}

/* Every problem on both kinds of device, with and without graphs; the first in every mode. */
static void expect_all(bool is_right)
{
	for (size_t i = 0; i < PROBLEMS; i++)
		for (int mode = 0; mode < TK_MODE_COUNT; mode++)
			for (int kind = 0; kind < 3; kind++) {
				if (i > 0 && mode != TK_MODE_COLD && mode != TK_MODE_PACED)
					continue;
				if (mode == TK_MODE_SEQUENCE) /* see test_engine_modes.c */
					continue;
				if (kind > 0 || mode != TK_MODE_CONTENDED)
					expect(problems[i], (enum tk_mode)mode, kind, is_right);
			}
}

static void honest_backends_pass(void **state)
{
	memset(&now, 0, sizeof now);
	expect_all(true);
	now.has_no_lse = true;
	expect_all(true);
}

static void results_may_differ_in_their_last_bits(void **state)
{
	struct tk_measurement m;
	memset(&now, 0, sizeof now);
	now.is_noisy = true;
	for (int round = 0; round < 50; round++) {
		run(&m, round % 2, "gemm:m=16,n=24,k=32", TK_MODE_COLD, 0);
		assert_true(tk_outcome_has_timing(m.outcome));
		assert_true(m.marks > 0);
		tk_measurement_free(&m);
	}
}

static void skipping_known_sets_is_found(void **state)
{
	memset(&now, 0, sizeof now);
	now.skips_known = true;
	expect_all(false);
}

static void stopping_is_found(void **state)
{
	memset(&now, 0, sizeof now);
	now.stops_after = 9;
	expect_all(false);
}

/* The seed that is stored makes the same checks again. */
static void a_finding_can_be_repeated(void **state)
{
	memset(&now, 0, sizeof now);
	now.skips_known = true;
	for (int round = 0; round < 20; round++) {
		struct tk_measurement first, again;
		run(&first, true, problems[0], TK_MODE_HOT, 0);
		run(&again, true, problems[0], TK_MODE_HOT, first.check_seed);
		assert_true(first.check_seed > 0 && first.check_seed < UINT64_C(1) << 53);
		assert_true(first.check_seed == again.check_seed);
		assert_string_equal(first.message, again.message);
		assert_int_equal(first.marks, again.marks);
		tk_measurement_free(&first);
		tk_measurement_free(&again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(honest_backends_pass),
	        cmocka_unit_test(results_may_differ_in_their_last_bits),
	        cmocka_unit_test(skipping_known_sets_is_found),
	        cmocka_unit_test(stopping_is_found),
	        cmocka_unit_test(a_finding_can_be_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
