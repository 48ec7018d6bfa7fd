/* What the launcher gives to the CUDA driver, with the library of fake_cuda.c in its place. */
#include "arguments.h"
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

extern CUlaunchConfig fake_config;
extern CUlaunchAttribute fake_attributes[4];
extern void **fake_params;
extern int fake_shared_bytes, fake_result, fake_cache_config;
extern cuuint64_t fake_dims[5], fake_strides[5];
extern int fake_swizzle;

static const struct launcher_driver *d = &launcher_driver;
static struct tk_abi_error err = {.size = sizeof err};

static int set_up(void **state)
{
	fake_result = CUDA_SUCCESS;
	fake_shared_bytes = 0;
	int status = d->start(NULL, &err);
	if (status)
		print_error("%s\n", err.message);
	return status;
}

static struct launcher_launch launch(void)
{
	return (struct launcher_launch){.entry = "gemm",
	        .grid = {8, 2, 3},
	        .block = {128, 2, 1},
	        .cluster = {2, 1, 1},
	        .shared_bytes = 147456};
}

static void code_runs_on_its_processors(void **state)
{
	static const struct {
		const char *target, *arch;
		bool runs;
	} cases[] = {{"sm_90a", "sm_90", true}, {"sm_90a", "sm_100", false},
	        {"sm_80", "sm_80", true}, {"sm_80", "sm_86", true}, {"sm_86", "sm_80", false},
	        {"sm_80", "sm_90", false}, {"sm_100a", "sm_100", true}, {"gfx942", "sm_90", false},
	        {"sm_90a", "gfx942", false}, {"", "sm_90", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (d->runs_on(cases[i].target, cases[i].arch) != cases[i].runs)
			fail_msg("%s on %s", cases[i].target, cases[i].arch);
}

static void a_launch_has_its_sizes_and_attributes(void **state)
{
	struct launcher_launch l = launch();
	void *module = NULL, *function = NULL, *params[2] = {&l, NULL};
	const struct launcher_arguments arguments = {.params = params};
	assert_int_equal(d->load("code", 4, &module, &err), TK_ABI_OK);
	assert_int_equal(d->find(module, "gemm", &function, &err), TK_ABI_OK);
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_OK);
	assert_int_equal(fake_shared_bytes, 147456);
	assert_int_equal(d->launch(function, &l, &arguments, &l, &err), TK_ABI_OK);
	assert_int_equal(fake_config.gridDimX, 8);
	assert_int_equal(fake_config.gridDimZ, 3);
	assert_int_equal(fake_config.blockDimY, 2);
	assert_int_equal(fake_config.sharedMemBytes, 147456);
	assert_ptr_equal(fake_config.hStream, &l);
	assert_ptr_equal(fake_params, params);
	assert_int_equal(fake_config.numAttrs, 1);
	assert_int_equal(fake_attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	assert_int_equal(fake_attributes[0].value.clusterDim.x, 2);
	l.cluster[0] = 1;
	l.cooperative = true;
	assert_int_equal(d->launch(function, &l, &arguments, NULL, &err), TK_ABI_OK);
	assert_int_equal(fake_config.numAttrs, 1);
	assert_int_equal(fake_attributes[0].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
	d->unload(module);
}

static void shared_memory_is_preferred_where_the_manifest_says_so(void **state)
{
	struct launcher_launch l = launch();
	fake_cache_config = CU_FUNC_CACHE_PREFER_NONE;
	assert_int_equal(d->prepare(&fake_params, &l, &err), TK_ABI_OK);
	assert_int_equal(fake_cache_config, CU_FUNC_CACHE_PREFER_NONE);
	l.prefer_shared = true;
	assert_int_equal(d->prepare(&fake_params, &l, &err), TK_ABI_OK);
	assert_int_equal(fake_cache_config, CU_FUNC_CACHE_PREFER_SHARED);
}

static void parameters_are_read(void **state)
{
	size_t bytes = 0;
	assert_int_equal(d->param(&fake_params, 1, &bytes), LAUNCHER_PARAM_SIZE);
	assert_int_equal(bytes, 8);
	assert_int_equal(d->param(&fake_params, 2, &bytes), LAUNCHER_PARAM_NONE);
}

static void errors_are_named(void **state)
{
	struct launcher_launch l = launch();
	void *out = NULL;
	const struct launcher_arguments arguments = {0};
	assert_int_equal(d->find(&l, "other", &out, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "no kernel \"other\": a fake error"));
	l.block[0] = 512;
	assert_int_equal(d->prepare(&fake_params, &l, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "can have 256 threads in a block"));
	l.block[0] = 128;
	l.shared_bytes = 300000;
	assert_int_equal(d->prepare(&fake_params, &l, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "300000 bytes of shared memory"));
	fake_result = CUDA_ERROR_OUT_OF_MEMORY;
	assert_int_equal(d->load("code", 4, &out, &err), TK_ABI_NO_MEMORY);
	assert_int_equal(d->launch(&fake_params, &l, &arguments, NULL, &err), TK_ABI_DEVICE);
	assert_null(out);
}

static void tensor_maps_are_encoded(void **state)
{
	struct launcher_tensor_map m = {.dtype = TK_BF16,
	        .rank = 2,
	        .dims = {64, 128},
	        .strides_bytes = {2, 256},
	        .box = {64, 64},
	        .swizzle_bytes = 128};
	CUtensorMap map;
	assert_int_equal(d->encode_map(&m, &m, &map, &err), TK_ABI_OK);
	assert_int_equal(fake_dims[1], 128);
	assert_int_equal(fake_strides[0], 256); /* the driver knows the size of an element */
	assert_int_equal(fake_swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
	m.dtype = TK_F16;
	assert_int_equal(d->encode_map(&m, &m, &map, &err), TK_ABI_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(code_runs_on_its_processors),
	        cmocka_unit_test_setup(a_launch_has_its_sizes_and_attributes, set_up),
	        cmocka_unit_test_setup(
	                shared_memory_is_preferred_where_the_manifest_says_so, set_up),
	        cmocka_unit_test_setup(parameters_are_read, set_up),
	        cmocka_unit_test_setup(errors_are_named, set_up),
	        cmocka_unit_test_setup(tensor_maps_are_encoded, set_up)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
