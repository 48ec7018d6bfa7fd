/* The launcher's driver table for AMD: hipModule, from the runtime that the module links. No AMD
 * device has run it yet. */
#include "launcher.h"
#include <hip/hip_runtime_api.h>

static int hip_start(const struct tk_open_args *args, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

/* Code for "gfx942" runs on "gfx942" and on "gfx942:sramecc+:xnack-". */
static bool hip_runs_on(const char *target, const char *arch)
{
	size_t len = strcspn(target, ":");
	return strncmp(target, arch, len) == 0 && strchr(":", arch[len]) != NULL;
}

static int hip_load(const void *code, size_t bytes, void **module, struct tk_abi_error *err)
{
	hipModule_t loaded = NULL;
	hipError_t status = hipModuleLoadData(&loaded, code);
	if (status != hipSuccess)
		return fail(err, status == hipErrorOutOfMemory ? TK_ABI_NO_MEMORY : TK_ABI_INVALID,
		        "the runtime cannot load the code object: %s", hipGetErrorString(status));
	*module = loaded;
	return TK_ABI_OK;
}

static void hip_unload(void *module)
{
	if (hipModuleUnload(module) != hipSuccess)
		(void)hipGetLastError();
}

static int hip_find(void *module, const char *entry, void **function, struct tk_abi_error *err)
{
	hipFunction_t found = NULL;
	hipError_t status = hipModuleGetFunction(&found, module, entry);
	if (status != hipSuccess)
		return fail(err, TK_ABI_INVALID, "the code object has no kernel \"%.200s\": %s",
		        entry, hipGetErrorString(status));
	*function = found;
	return TK_ABI_OK;
}

static enum launcher_param hip_param(void *function, uint32_t index, size_t *bytes)
{
	return LAUNCHER_PARAM_UNKNOWN;
}

static int hip_prepare(void *function, const struct launcher_launch *l, struct tk_abi_error *err)
{
	const int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
	int most = 0;
	if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1)
		return fail(err, TK_ABI_INVALID, "%.200s: this vendor has no clusters", l->entry);
	if (l->cooperative) /* hipModuleLaunchCooperativeKernel needs ROCm 5.5 */
		return fail(err, TK_ABI_UNSUPPORTED,
		        "%.200s: cooperative launches are for CUDA only", l->entry);
	hipError_t status =
	        hipFuncGetAttribute(&most, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
	if (status == hipSuccess && threads > most)
		return fail(err, TK_ABI_INVALID,
		        "%.200s can have %d threads in a block, its manifest says %d", l->entry,
		        most, threads);
	return TK_ABI_OK;
}

static int hip_encode_map(
        const struct launcher_tensor_map *m, void *data, void *out, struct tk_abi_error *err)
{
	return fail(err, TK_ABI_INVALID, "this vendor has no tensor maps");
}

static int hip_launch(void *function, const struct launcher_launch *l,
        const struct launcher_arguments *arguments, void *stream, struct tk_abi_error *err)
{
	hipError_t status =
	        hipModuleLaunchKernel(function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
	                l->block[1], l->block[2], l->shared_bytes, stream, arguments->params, NULL);
	return status == hipSuccess ? TK_ABI_OK
	                            : fail(err, TK_ABI_DEVICE, "%.200s could not be launched: %s",
	                                      l->entry, hipGetErrorString(status));
}

const struct launcher_driver launcher_driver = {
        .device_kind = "hip",
        .backend_name = "launcher_hip",
        .start = hip_start,
        .runs_on = hip_runs_on,
        .load = hip_load,
        .unload = hip_unload,
        .find = hip_find,
        .param = hip_param,
        .prepare = hip_prepare,
        .encode_map = hip_encode_map,
        .launch = hip_launch,
};
