/* docs/examples/skeleton_backend.c, loaded and led through its whole life as the contract says. */
#include "tracker_abi.h"
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct tk_backend *load(void)
{
	void *module = dlopen(TK_SKELETON, RTLD_NOW | RTLD_LOCAL);
	const struct tk_backend *(*entry)(void);
	if (!module)
		fail_msg("%s", dlerror());
	*(void **)&entry = dlsym(module, "tk_backend_entry");
	assert_non_null(entry);
	return entry();
}

static void describes_itself(void **state)
{
	const struct tk_backend *b = load();
	assert_int_equal(b->size, sizeof(*b));
	assert_int_equal(b->abi_major, TK_ABI_MAJOR);
	assert_string_equal(b->name, "skeleton");
	assert_string_equal(b->device_kind, "cpu");
	assert_string_equal(b->version(), "1.0");
}

static struct tk_tensor tensor(void *data, int64_t rows, int64_t columns)
{
	return (struct tk_tensor){.size = sizeof(struct tk_tensor),
	        .dtype = TK_F32,
	        .ndim = 3,
	        .dim = {1, rows, columns},
	        .data = data,
	        .bytes = (size_t)(rows * columns) * sizeof(float)};
}

/* [1 2 3; 4 5 6] x [1 0; 0 1; 1 1] in all four ways to store it. */
static void multiplies(void **state)
{
	static float a[2][6] = {{1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6}},
	             b[2][6] = {{1, 0, 0, 1, 1, 1}, {1, 0, 1, 0, 1, 1}};
	static const float wanted[4] = {4, 5, 10, 11};
	const struct tk_backend *k = load();
	struct tk_abi_error err = {.size = sizeof(err)};
	const struct tk_open_args args = {.size = sizeof(args), .threads = 1, .options = ""};
	struct tk_backend_ctx *ctx = NULL;
	assert_int_equal(k->open(&args, &ctx, &err), TK_ABI_OK);
	for (int i = 0; i < 4; i++) {
		const struct tk_gemm g = {.size = sizeof(g),
		        .m = 2,
		        .n = 2,
		        .k = 3,
		        .batch = 1,
		        .ta = i & 1,
		        .tb = i >> 1,
		        .a = TK_F32,
		        .b = TK_F32,
		        .c = TK_F32,
		        .acc = TK_F32};
		const struct tk_problem p = {
		        .size = sizeof(p), .op = TK_OP_GEMM, .text = "gemm", .gemm = &g};
		struct tk_plan_info info = {.size = sizeof(info)};
		struct tk_plan *plan = NULL;
		float c[2][4] = {{0}};
		assert_int_equal(k->supports(ctx, &p, &err), TK_ABI_OK);
		assert_int_equal(k->plan(ctx, &p, NULL, 2, &plan, &info, &err), TK_ABI_OK);
		assert_string_equal(info.kernel, "skeleton_gemm");
		for (uint32_t set = 0; set < 2; set++) {
			const struct tk_tensor t[] = {tensor(a[i & 1], 2, 3),
			        tensor(b[i >> 1], 3, 2), tensor(c[set], 2, 2)};
			assert_int_equal(k->bind(plan, set, t, 3, &err), TK_ABI_OK);
		}
		assert_int_equal(k->launch(plan, NULL, 1, &err), TK_ABI_OK);
		assert_memory_equal(c[1], wanted, sizeof(wanted));
		assert_true(c[0][0] == 0.0f); /* only the set that was launched */
		k->unplan(plan);
	}
	k->close(ctx);
}

static void refuses(void **state)
{
	const struct tk_backend *k = load();
	struct tk_abi_error err = {.size = sizeof(err)};
	struct tk_gemm g = {.size = sizeof(g),
	        .m = 1,
	        .n = 1,
	        .k = 1,
	        .batch = 1,
	        .a = TK_F16,
	        .b = TK_F16,
	        .c = TK_F16,
	        .acc = TK_F32};
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_GEMM, .gemm = &g};
	struct tk_plan_info info = {.size = sizeof(info)};
	struct tk_plan *plan = NULL;
	assert_int_equal(k->supports(NULL, &p, &err), TK_ABI_UNSUPPORTED);
	assert_string_equal(err.message, "only f32");
	assert_int_equal(k->plan(NULL, &p, "", 1, &plan, &info, &err), TK_ABI_UNSUPPORTED);
	p.op = TK_OP_COPY;
	assert_int_equal(k->supports(NULL, &p, &err), TK_ABI_UNSUPPORTED);
	assert_string_equal(err.message, "only gemm");
	assert_int_equal(k->plan(NULL, &p, "fast", 1, &plan, &info, &err), TK_ABI_INVALID);
	assert_null(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(describes_itself),
	        cmocka_unit_test(multiplies), cmocka_unit_test(refuses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
