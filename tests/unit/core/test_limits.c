/* Which times are possible: what a data sheet and measured ceilings allow, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/limits.h"

#define MIB 1048576.0

/* Whether the time is allowed; `reason` is that of a refusal. */
static bool allows(const struct tk_limits *l, const char *text, double median_ns, double sets,
        char reason[256])
{
	struct tk_problem_spec p;
	struct tk_limits_timing t = {median_ns, sets};

	assert_int_equal(tk_problem_parse(&p, text, NULL), 0);
	*reason = 0;
	return tk_limits_allow(l, &p, &t, reason, 256);
}

static double time_at(const char *text, double gflop_per_s)
{
	struct tk_problem_spec p;

	assert_int_equal(tk_problem_parse(&p, text, NULL), 0);
	return tk_problem_flops(&p) / gflop_per_s;
}

static void rates_end_at_the_data_sheet(void **state)
{
	static const struct {
		const char *text;
		double possible, impossible; /* TFLOP/s */
	} rows[] = {
	        {"gemm:m=8192,n=8192,k=8192,a=bf16", 1070, 1080},
	        {"gemm:m=8192,n=8192,k=8192,a=e4m3,c=bf16", 2100, 2200},
	        {"gemm:m=8192,n=8192,k=8192,a=tf32", 530, 550},
	        /* three products of bf16 can be as exact as f32 */
	        {"gemm:m=8192,n=8192,k=8192", 350, 370},
	        {"attention:b=4,h=16,sq=8192,d=128,causal=1", 1070, 1080},
	        /* what counting masked keys once made of 870 */
	        {"nsa:b=1,h=64,hkv=4,s=8192,d=128,dtype=f16", 1070, 1105},
	};
	struct tk_limits l;
	char reason[256];

	tk_limits_init(&l, TK_DEVICE_CUDA, "NVIDIA H200", 50 * MIB);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *text = rows[i].text;

		assert_true(allows(&l, text, time_at(text, rows[i].possible * 1e3), 8, reason));
		assert_false(allows(&l, text, time_at(text, rows[i].impossible * 1e3), 8, reason));
		assert_non_null(strstr(reason, "TFLOP/s in "));
		assert_non_null(strstr(reason, "this device can do at most "));
	}
}

/* 4096 x 4096 bf16 matrix and a vector: 32 MiB from a memory of 4.8 TB/s take at least 6.4 us. */
static void memory_is_a_bound_beyond_the_caches(void **state)
{
	static const char text[] = "gemm:m=1,n=4096,k=4096,a=bf16";
	struct tk_limits l;
	char reason[256];

	tk_limits_init(&l, TK_DEVICE_CUDA, "NVIDIA H200", 50 * MIB);
	assert_true(allows(&l, text, 7000, 64, reason));
	assert_false(allows(&l, text, 6000, 64, reason));
	assert_non_null(strstr(reason, "TB/s from memory"));
	/* one set stays in the cache */
	assert_true(allows(&l, text, 1000, 1, reason));
	/* two sets of 32 MiB: 62.5 MiB of them may stay in the caches */
	assert_true(allows(&l, text, 1000, 2, reason));
	assert_false(allows(&l, "copy:bytes=1073741824", 390e3, 1, reason));
}

static void caches_are_a_bound_where_measured(void **state)
{
	static const char text[] = "gemm:m=1,n=2048,k=2048,a=bf16"; /* 8 MiB */
	struct tk_limits l;
	char reason[256];

	tk_limits_init(&l, TK_DEVICE_CUDA, "NVIDIA H200", 50 * MIB);
	assert_true(allows(&l, text, 200, 1, reason));
	tk_limits_add_ceiling(&l, "l2 read", "gb_per_s", 7000);
	assert_true(allows(&l, text, 700, 1, reason));
	assert_false(allows(&l, text, 500, 1, reason));
	assert_non_null(strstr(reason, "from caches"));
}

/* A processor has no data sheet here: its ceilings count, with a margin. */
static void measured_ceilings_are_bounds(void **state)
{
	static const char f32[] = "gemm:m=64,n=64,k=64", f64[] = "gemm:m=64,n=64,k=64,a=f64";
	struct tk_limits l;
	char reason[256];

	tk_limits_init(&l, TK_DEVICE_CPU, "AMD EPYC 9654", 512 * MIB);
	assert_true(allows(&l, f32, 4.6, 1366, reason));
	tk_limits_add_ceiling(&l, "f32", "gflop_per_s", 100);
	tk_limits_add_ceiling(&l, "f32", "gflop_per_s", 90); /* never lowers one */
	assert_true(allows(&l, f32, time_at(f32, 590), 1, reason));
	assert_false(allows(&l, f32, time_at(f32, 610), 1, reason));
	assert_true(allows(&l, f64, time_at(f64, 190), 1, reason));
	assert_false(allows(&l, f64, time_at(f64, 210), 1, reason));
	assert_false(allows(&l, f32, 4.6, 1366, reason));
	/* nothing is known of bf16, which matrix units do many times faster */
	assert_true(allows(&l, "gemm:m=64,n=64,k=64,a=bf16", 4.6, 1, reason));
}

/* A machine may have larger caches than it reports: only its fastest one is a bound. */
static void memory_is_no_bound_on_a_processor(void **state)
{
	struct tk_limits l;
	char reason[256];

	tk_limits_init(&l, TK_DEVICE_CPU, "AMD EPYC 9654", 512 * MIB);
	tk_limits_add_ceiling(&l, "read", "gb_per_s", 10);
	tk_limits_add_ceiling(&l, "l2 read", "gb_per_s", 50);
	assert_true(allows(&l, "copy:bytes=1048576", 1e3, 100, reason));
	tk_limits_add_ceiling(&l, "l1 read", "gb_per_s", 200);
	assert_true(allows(&l, "copy:bytes=1048576", 6e3, 100, reason));
	assert_false(allows(&l, "copy:bytes=1048576", 5e3, 100, reason));
}

/* A GPU has to start each kernel, whatever it computes, also one that nothing is known of. */
static void a_gpu_needs_time_for_a_launch(void **state)
{
	static const char tiny[] = "gemm:m=16,n=16,k=16";
	static const struct {
		enum tk_device_kind kind;
		const char *name;
	} gpus[] = {{TK_DEVICE_CUDA, "NVIDIA H200"}, {TK_DEVICE_CUDA, "unknown"},
	        {TK_DEVICE_HIP, "AMD Instinct MI300X"}, {TK_DEVICE_HIP, NULL}};
	struct tk_limits l;
	char reason[256];

	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
		tk_limits_init(&l, gpus[i].kind, gpus[i].name, 50 * MIB);
		assert_true(allows(&l, tiny, 700, 1000, reason));
		assert_false(allows(&l, tiny, 150, 1000, reason));
		assert_non_null(strstr(reason, " for a launch; this device needs at least 200"));
		assert_false(allows(&l, tiny, 0.004, 1000, reason));
	}
}

/* Half of the shortest launch that was measured; never less than is certain without it. */
static void a_measured_launch_is_a_bound(void **state)
{
	static const char tiny[] = "gemm:m=1,n=1,k=1";
	static const struct {
		enum tk_device_kind kind;
		double measured_ns, possible_ns, impossible_ns, again_ns;
	} rows[] = {{TK_DEVICE_CUDA, 1000, 501, 499, 300}, {TK_DEVICE_HIP, 3000, 1501, 1499, 1000},
	        {TK_DEVICE_CUDA, 300, 201, 199, 201}, {TK_DEVICE_CPU, 3, 1.6, 1.4, 0.7}};
	struct tk_limits l;
	char reason[256];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		tk_limits_init(&l, rows[i].kind, "unknown", 50 * MIB);
		tk_limits_add_ceiling(&l, "copy", "ns", 1e6); /* of another meaning */
		tk_limits_add_ceiling(&l, "launch", "gb_per_s", 1e6);
		tk_limits_add_ceiling(&l, "launch", "ns", rows[i].measured_ns);
		tk_limits_add_ceiling(&l, "launch", "ns", 0);
		assert_true(allows(&l, tiny, rows[i].possible_ns, 1, reason));
		assert_false(allows(&l, tiny, rows[i].impossible_ns, 1, reason));
		assert_non_null(strstr(reason, " for a launch; this device needs at least "));
		/* the next measurement of the same may be faster */
		assert_true(allows(&l, TK_LIMITS_LAUNCH_PROBLEM, rows[i].again_ns, 1, reason));
	}
}

/* A launch of the processor is a call: the smallest problems take a few nanoseconds. */
static void a_processor_needs_no_time_for_a_launch(void **state)
{
	static const enum tk_device_kind kinds[] = {TK_DEVICE_CPU, TK_DEVICE_NULL, TK_DEVICE_OTHER};
	struct tk_limits l;
	char reason[256];

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		tk_limits_init(&l, kinds[i], "AMD EPYC 9654", 0);
		assert_true(allows(&l, "gemm:m=1,n=1,k=1", 2, 1, reason));
		assert_false(allows(&l, "gemm:m=1,n=1,k=1", 0, 1, reason));
		assert_string_equal(reason, "0 ns is not the time of a launch");
		assert_false(allows(&l, "gemm:m=1,n=1,k=1", -3, 1, reason));
		assert_false(allows(&l, "gemm:m=1,n=1,k=1", 0.0 / 0.0, 1, reason));
	}
	/* with measured ceilings: one multiply-add in 2 ns, 12 bytes */
	tk_limits_add_ceiling(&l, "f32", "gflop_per_s", 100);
	tk_limits_add_ceiling(&l, "l1 read", "gb_per_s", 200);
	assert_true(allows(&l, "gemm:m=1,n=1,k=1", 2, 1, reason));
	assert_true(allows(&l, "gemm:m=4,n=4,k=4", 5, 1, reason));
}

/* What a ceiling of memory allows: three times what was measured, and never less than before. */
static void a_measured_bandwidth_is_a_bound(void **state)
{
	static const char *const names[] = {"copy", "read"};
	struct tk_limits l;
	char reason[256];

	for (size_t i = 0; i < 2; i++) {
		tk_limits_init(&l, TK_DEVICE_CUDA, "unknown", 1 * MIB);
		assert_true(l.memory_gb_per_s == 0);
		tk_limits_add_ceiling(&l, names[i], "gb_per_s", 100);
		const double allowed = l.memory_gb_per_s;
		assert_in_range((int)allowed, 101, 1000);
		tk_limits_add_ceiling(&l, names[i], "gb_per_s", 50);
		tk_limits_add_ceiling(&l, names[i], "gflop_per_s", 9999);
		assert_true(l.memory_gb_per_s == allowed);
		/* 2 GiB, of which two caches of 1 MiB may stay */
		const double bytes = 2.0 * 1024 * MIB;
		assert_true(
		        allows(&l, "copy:bytes=1073741824", 1.001 * bytes / allowed, 1, reason));
		assert_false(
		        allows(&l, "copy:bytes=1073741824", 0.99 * bytes / allowed, 1, reason));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_measured_bandwidth_is_a_bound),
	        cmocka_unit_test(rates_end_at_the_data_sheet),
	        cmocka_unit_test(memory_is_a_bound_beyond_the_caches),
	        cmocka_unit_test(caches_are_a_bound_where_measured),
	        cmocka_unit_test(measured_ceilings_are_bounds),
	        cmocka_unit_test(memory_is_no_bound_on_a_processor),
	        cmocka_unit_test(a_gpu_needs_time_for_a_launch),
	        cmocka_unit_test(a_measured_launch_is_a_bound),
	        cmocka_unit_test(a_processor_needs_no_time_for_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
