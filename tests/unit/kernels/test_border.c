/* The border of the CPU backends: messages of what is refused, options, inherited pinning,
 * ceilings. */
#include "reference.h"
#include "subject.h"
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuses_unknown_options(void **state)
{
	struct subject s;
	struct tk_abi_error err;
	assert_int_equal(subject_open(&s, "cpu", "isa=pdp11", 1, &err), TK_ABI_UNSUPPORTED);
	assert_string_equal(
	        err.message, "isa=pdp11: this processor or this build has no such instruction set");
	assert_int_equal(subject_open(&s, "cpu", "isa=generic,speed=11", 1, &err), TK_ABI_INVALID);
	assert_string_equal(
	        err.message, "unknown option \"speed=11\" of the backend cpu, expected isa=NAME");
	assert_int_equal(subject_open(&s, "cpu", "", 1, &err), TK_ABI_OK);
	subject_close(&s);
}

static void refuses_unsupported_problems(void **state)
{
	static const char *const modules[] = {"cpu", "control", "ceiling"};
	struct tk_gemm g = {.size = sizeof(g),
	        .m = 4,
	        .n = 4,
	        .k = 4,
	        .batch = 1,
	        .a = TK_F64,
	        .b = TK_F64,
	        .c = TK_F64,
	        .acc = TK_F64};
	struct tk_attention a = {.size = sizeof(a),
	        .b = 1,
	        .h = 1,
	        .hkv = 1,
	        .sq = 4,
	        .skv = 4,
	        .d = 4,
	        .dv = 4,
	        .dtype = TK_F32,
	        .dir = TK_BWD};
	struct tk_problem problems[] = {{.size = sizeof(g), .op = TK_OP_GEMM, .gemm = &g},
	        {.size = sizeof(a), .op = TK_OP_ATTENTION, .attention = &a},
	        {.size = sizeof(g), .op = 999}};
	for (int i = 0; i < 3; i++) {
		struct subject s;
		struct tk_abi_error err;
		assert_int_equal(subject_open(&s, modules[i], "", 1, &err), TK_ABI_OK);
		for (int j = 0; j < 3; j++) {
			struct tk_plan *plan = NULL;
			struct tk_plan_info info = {.size = sizeof(info)};
			err.message[0] = '\0';
			assert_int_equal(
			        s.backend->plan(s.ctx, &problems[j], NULL, 1, &plan, &info, &err),
			        TK_ABI_UNSUPPORTED);
			assert_null(plan);
			assert_true(err.message[0] != '\0');
		}
		subject_close(&s);
	}
}

static void refuses_unknown_configurations_and_sets(void **state)
{
	struct tk_gemm g = {.size = sizeof(g),
	        .m = 4,
	        .n = 4,
	        .k = 4,
	        .batch = 1,
	        .a = TK_F32,
	        .b = TK_F32,
	        .c = TK_F32,
	        .acc = TK_F32};
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_GEMM, .gemm = &g};
	struct tk_plan_info info = {.size = sizeof(info)};
	struct tk_plan *plan = NULL;
	struct tk_tensor t[3] = {{0}};
	struct subject s;
	struct tk_abi_error err;
	assert_int_equal(subject_open(&s, "cpu", "", 2, &err), TK_ABI_OK);
	assert_int_equal(
	        s.backend->plan(s.ctx, &p, "mc1_kc1_nc1", 1, &plan, &info, &err), TK_ABI_INVALID);
	assert_string_equal(err.message, "unknown configuration \"mc1_kc1_nc1\"");
	assert_int_equal(s.backend->plan(s.ctx, &p, "", 2, &plan, &info, &err), TK_ABI_OK);
	assert_int_equal(s.backend->bind(plan, 2, t, 3, &err), TK_ABI_INVALID);
	assert_string_equal(
	        err.message, "set 2 with 3 tensors, expected a set below 2 with at least 3");
	assert_int_equal(s.backend->bind(plan, 0, t, 2, &err), TK_ABI_INVALID);
	s.backend->unplan(plan);
	subject_close(&s);
}

/* Checks the affinity of every thread of this process. */
static int threads_on(const char *cpus)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;
	assert_non_null(tasks);
	for (struct dirent *d; (d = readdir(tasks));) {
		char path[300], line[256];
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", d->d_name);
		FILE *f = d->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			n += strncmp(line, "Cpus_allowed_list:", 18) == 0 &&
			     strcmp(strtok(line + 18, " \t\n"), cpus) == 0;
		if (f)
			fclose(f);
	}
	closedir(tasks);
	return n;
}

static void workers_keep_the_pinning(void **state)
{
	cpu_set_t before, one;
	char cpu_text[16];
	int cpu = 0;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	int others = threads_on(cpu_text);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);

	struct subject s;
	struct tk_abi_error err;
	assert_int_equal(subject_open(&s, "cpu", "", 3, &err), TK_ABI_OK);
	assert_true(threads_on(cpu_text) >= others + (CPU_COUNT(&before) > 1 ? 3 : 2));
	subject_close(&s);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static int run_passes(struct subject *s, uint32_t op, uint32_t dtype, int64_t bytes, int64_t passes,
        struct tk_tensor t[2])
{
	struct tk_ceiling_op c = {
	        .size = sizeof(c), .bytes = bytes, .dtype = dtype, .passes = passes};
	struct tk_problem p = {.size = sizeof(p), .op = op, .ceiling = &c};
	return subject_run(s, &p, NULL, t, 2);
}

static int run_ceiling(
        struct subject *s, uint32_t op, uint32_t dtype, int64_t bytes, struct tk_tensor t[2])
{
	return run_passes(s, op, dtype, bytes, 1, t);
}

static void ceilings(void **state)
{
	struct subject s;
	struct tk_abi_error err;
	assert_int_equal(subject_open(&s, "ceiling", "", 3, &err), TK_ABI_OK);
	for (int64_t n = 1; n < 200000; n = n * 7 + 3) {
		struct tk_tensor t[2] = {tensor_new(TK_F32, false, n), tensor_new(TK_F32, true, n)};
		tensor_random(&t[0], 3);
		assert_int_equal(run_ceiling(&s, TK_OP_COPY, TK_F32, n * 4, t), TK_ABI_OK);
		assert_memory_equal(t[0].data, t[1].data, t[0].bytes);
		struct tk_tensor sum[2] = {t[0], tensor_new(TK_F32, true, 1)};
		double want = 0;
		for (int64_t i = 0; i < n; i++)
			want += tk_element_load(TK_F32, t[0].data, i);
		assert_int_equal(run_ceiling(&s, TK_OP_READ, TK_F32, n * 4, sum), TK_ABI_OK);
		assert_true(fabs(want - tk_element_load(TK_F32, sum[1].data, 0)) <=
		            1e-3 + 1e-6 * fabs(want));
		/* more numbers than are added up in f32 before they are gathered */
		int64_t passes = 1 + 3000000 / n;
		assert_int_equal(run_passes(&s, TK_OP_READ, TK_F32, n * 4, passes, sum), TK_ABI_OK);
		want *= (double)passes;
		assert_true(fabs(want - tk_element_load(TK_F32, sum[1].data, 0)) <=
		            (double)passes * 1e-3 + 1e-6 * fabs(want));
		for (int i = 0; i < 2; i++)
			tensor_free(&t[i]);
		tensor_free(&sum[1]);
	}
	subject_close(&s);
}

/* The shortest launch is a copy, too. */
static void one_byte_is_copied(void **state)
{
	struct subject s;
	struct tk_abi_error err;
	assert_int_equal(subject_open(&s, "ceiling", "", 2, &err), TK_ABI_OK);
	struct tk_tensor t[2] = {tensor_new(TK_E4M3, false, 1), tensor_new(TK_E4M3, true, 1)};
	*(unsigned char *)t[0].data = 0x31;
	assert_int_equal(run_ceiling(&s, TK_OP_COPY, TK_E4M3, 1, t), TK_ABI_OK);
	assert_int_equal(*(unsigned char *)t[1].data, 0x31);
	for (int i = 0; i < 2; i++)
		tensor_free(&t[i]);
	subject_close(&s);
}

static void multiply_adds(void **state)
{
	static const uint32_t types[] = {TK_F32, TK_BF16};
	struct subject s;
	struct tk_abi_error err;
	assert_int_equal(subject_open(&s, "ceiling", "", 2, &err), TK_ABI_OK);
	for (int type = 0; type < 2; type++) {
		struct tk_tensor t[2] = {
		        tensor_new(types[type], false, 64), tensor_new(types[type], true, 64)};
		int nonzero = 0;
		tensor_random(&t[0], 4);
		int rc = run_ceiling(&s, TK_OP_FMA, types[type], 1000000, t);
		assert_true(
		        rc == TK_ABI_OK || (rc == TK_ABI_UNSUPPORTED && types[type] == TK_BF16));
		for (int i = 0; rc == TK_ABI_OK && i < 64; i++) {
			assert_true(isfinite(tk_element_load(types[type], t[1].data, i)));
			nonzero += tk_element_load(types[type], t[1].data, i) != 0;
		}
		assert_true(rc || nonzero >= 32);
		for (int i = 0; i < 2; i++)
			tensor_free(&t[i]);
	}
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(refuses_unknown_options),
	        cmocka_unit_test(refuses_unsupported_problems),
	        cmocka_unit_test(refuses_unknown_configurations_and_sets),
	        cmocka_unit_test(workers_keep_the_pinning),
	        cmocka_unit_test(ceilings),
	        cmocka_unit_test(one_byte_is_copied),
	        cmocka_unit_test(multiply_adds),
	};
	return cmocka_run_group_tests_name("kernels_border", tests, NULL, NULL);
}
