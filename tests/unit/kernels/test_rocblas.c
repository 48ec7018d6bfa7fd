/* The backend of rocBLAS with a library that only records its calls: which solutions of a problem
 * there are, and which one a launch asks for. */
#include "tracker_abi.h"
#include <rocblas/rocblas.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct {
	rocblas_int solutions[8], solution_count;
	rocblas_gemm_algo algo;
	int32_t solution, batch;
	int launches;
} fake;

/* ---- the library ---- */

rocblas_status rocblas_create_handle(rocblas_handle *out)
{
	*out = (rocblas_handle)&fake;
	return rocblas_status_success;
}
rocblas_status rocblas_destroy_handle(rocblas_handle handle)
{
	return rocblas_status_success;
}
rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode)
{
	return rocblas_status_success;
}
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream)
{
	return rocblas_status_success;
}
rocblas_status rocblas_set_workspace(rocblas_handle handle, void *at, size_t bytes)
{
	return at ? rocblas_status_success : rocblas_status_invalid_value;
}
rocblas_status rocblas_set_math_mode(rocblas_handle handle, rocblas_math_mode mode)
{
	return rocblas_status_success;
}
rocblas_status rocblas_get_version_string(char *out, size_t size)
{
	snprintf(out, size, "4.4.1.");
	return rocblas_status_success;
}
const char *rocblas_status_to_string(rocblas_status status)
{
	return "fake";
}

static rocblas_status launch(rocblas_gemm_algo algo, int32_t solution, int32_t batch)
{
	fake.algo = algo;
	fake.solution = solution;
	fake.batch = batch;
	fake.launches++;
	return rocblas_status_success;
}

/* As the library: without a list it writes the count, else at most as many as *count says. */
static rocblas_status list_solutions(const void *a, rocblas_int *list, rocblas_int *count)
{
	if (!a)
		return rocblas_status_invalid_value;
	if (!list)
		*count = fake.solution_count;
	for (rocblas_int i = 0; list && i < *count; i++)
		list[i] = fake.solutions[i];
	return rocblas_status_success;
}

rocblas_status rocblas_gemm_ex(FAKE_GEMM_OPERANDS, const void *a, rocblas_datatype a_type,
        rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta,
        const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type,
        rocblas_int ldd, FAKE_GEMM_REST, int32_t solution, uint32_t flags)
{
	return launch(algo, solution, 1);
}
rocblas_status rocblas_gemm_ex_get_solutions(FAKE_GEMM_OPERANDS, const void *a,
        rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type,
        rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc,
        void *d, rocblas_datatype d_type, rocblas_int ldd, FAKE_GEMM_REST, uint32_t flags,
        rocblas_int *list, rocblas_int *count)
{
	return list_solutions(a, list, count);
}
rocblas_status rocblas_gemm_strided_batched_ex(FAKE_GEMM_OPERANDS, const void *a,
        rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b,
        rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta,
        const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d,
        rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch,
        FAKE_GEMM_REST, int32_t solution, uint32_t flags)
{
	return launch(algo, solution, batch);
}
rocblas_status rocblas_gemm_strided_batched_ex_get_solutions(FAKE_GEMM_OPERANDS, const void *a,
        rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b,
        rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta,
        const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d,
        rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch,
        FAKE_GEMM_REST, uint32_t flags, rocblas_int *list, rocblas_int *count)
{
	return list_solutions(a, list, count);
}

/* ---- the backend ---- */

struct rig {
	struct tk_backend_ctx *ctx;
	struct tk_gemm gemm;
	struct tk_problem problem;
};

static int alloc(struct tk_device *dev, size_t bytes, void **out, struct tk_abi_error *err)
{
	*out = malloc(64);
	return *out ? TK_ABI_OK : TK_ABI_NO_MEMORY;
}
static void release(struct tk_device *dev, void *at)
{
	free(at);
}

static int set_up(void **state)
{
	static const struct tk_device_ops ops = {
	        .size = sizeof ops, .alloc = alloc, .release = release};
	struct rig *r = calloc(1, sizeof *r);
	struct tk_open_args args = {.size = sizeof args, .device_ops = &ops, .options = ""};
	struct tk_abi_error err = {.size = sizeof err};
	memset(&fake, 0, sizeof fake);
	strcpy(args.device_info.arch, "gfx942");
	r->gemm = (struct tk_gemm){.size = sizeof r->gemm,
	        .m = 16,
	        .n = 32,
	        .k = 64,
	        .batch = 1,
	        .a = TK_F16,
	        .b = TK_F16,
	        .c = TK_F16,
	        .acc = TK_F32};
	r->problem = (struct tk_problem){
	        .size = sizeof r->problem, .op = TK_OP_GEMM, .text = "gemm:", .gemm = &r->gemm};
	if (tk_backend_entry()->open(&args, &r->ctx, &err))
		fail_msg("%s", err.message);
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *r = *state;
	tk_backend_entry()->close(r->ctx);
	free(r);
	return 0;
}

static int run(
        struct rig *r, const char *config, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_backend *b = tk_backend_entry();
	struct tk_tensor t[3] = {{.data = &fake}, {.data = &fake}, {.data = &fake}};
	struct tk_plan *plan = NULL;
	*err = (struct tk_abi_error){.size = sizeof *err};
	*info = (struct tk_plan_info){.size = sizeof *info};
	int status = b->plan(r->ctx, &r->problem, config, 1, &plan, info, err);
	if (status)
		return status;
	assert_int_equal(b->bind(plan, 0, t, 3, err), TK_ABI_OK);
	assert_int_equal(b->launch(plan, NULL, 0, err), TK_ABI_OK);
	b->unplan(plan);
	return status;
}

static void solutions_are_a_space(void **state)
{
	static const int64_t expected[] = {-3, 0, 5, 9, 70};
	struct rig *r = *state;
	const struct tk_space *space = NULL;
	struct tk_abi_error err = {.size = sizeof err};
	fake.solution_count = 5;
	memcpy(fake.solutions, (rocblas_int[]){70, 5, 9, -3, 5}, 5 * sizeof(rocblas_int));
	if (tk_backend_entry()->space(r->ctx, &r->problem, &space, &err))
		fail_msg("%s", err.message);
	assert_int_equal(space->count, 1);
	assert_string_equal(space->parameters->name, "solution");
	assert_int_equal(space->parameters->count, 5);
	assert_memory_equal(space->parameters->values, expected, sizeof expected);
	assert_int_equal(*space->best, 0);
}

static void a_launch_asks_for_its_solution(void **state)
{
	struct rig *r = *state;
	struct tk_plan_info info;
	struct tk_abi_error err;
	fake.solution_count = 2;
	memcpy(fake.solutions, (rocblas_int[]){70, 5}, 2 * sizeof(rocblas_int));
	for (r->gemm.batch = 1; r->gemm.batch <= 3; r->gemm.batch += 2) {
		assert_int_equal(run(r, NULL, &info, &err), TK_ABI_OK);
		assert_int_equal(fake.algo, rocblas_gemm_algo_standard);
		assert_string_equal(info.algorithm, "");
		assert_int_equal(run(r, "solution=0", &info, &err), TK_ABI_OK);
		assert_int_equal(fake.algo, rocblas_gemm_algo_standard);
		assert_int_equal(run(r, "solution=70", &info, &err), TK_ABI_OK);
		assert_int_equal(fake.algo, rocblas_gemm_algo_solution_index);
		assert_int_equal(fake.solution, 70);
		assert_int_equal(fake.batch, r->gemm.batch);
		assert_string_equal(info.algorithm, "solution 70");
	}
	assert_int_equal(fake.launches, 6);
}

static void other_solutions_are_refused(void **state)
{
	static const char *const configs[] = {"solution=6", "solution=", "5", "heuristic-0"};
	struct rig *r = *state;
	struct tk_plan_info info;
	struct tk_abi_error err;
	fake.solution_count = 1;
	fake.solutions[0] = 5;
	for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
		assert_int_equal(run(r, configs[i], &info, &err), TK_ABI_INVALID);
		assert_non_null(strstr(err.message, "expected \"solution=N\""));
	}
	assert_int_equal(fake.launches, 0);
}

int main(void)
{
#define WITH_BACKEND(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        WITH_BACKEND(solutions_are_a_space),
	        WITH_BACKEND(a_launch_asks_for_its_solution),
	        WITH_BACKEND(other_solutions_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
