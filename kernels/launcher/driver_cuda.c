/* The launcher's driver table for NVIDIA: the CUDA driver API, found when a package is opened, so
 * that the module loads on a machine without a driver. The device layer has made the primary
 * context current. */
#include "launcher.h"
#include <cuda.h>
#include <dlfcn.h>

/* Optional: drivers before CUDA 12.4 do not tell parameters, before 12.0 they have no tensor
 * maps. */
static struct {
	CUresult (*text)(CUresult, const char **);
	CUresult (*load)(CUmodule *, const void *);
	CUresult (*unload)(CUmodule);
	CUresult (*find)(CUfunction *, CUmodule, const char *);
	CUresult (*get)(int *, CUfunction_attribute, CUfunction);
	CUresult (*set)(CUfunction, CUfunction_attribute, int);
	CUresult (*prefer)(CUfunction, CUfunc_cache);
	CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **);
	CUresult (*param)(CUfunction, size_t, size_t *, size_t *);
	CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
	        const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
	        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
	        CUtensorMapFloatOOBfill);
} api;

static int cuda_start(const struct tk_open_args *args, struct tk_abi_error *err)
{
	static const struct {
		const char *name;
		void *to;
		bool optional;
	} symbols[] = {
	        {"cuGetErrorString", &api.text, false},
	        {"cuModuleLoadData", &api.load, false},
	        {"cuModuleUnload", &api.unload, false},
	        {"cuModuleGetFunction", &api.find, false},
	        {"cuFuncGetAttribute", &api.get, false},
	        {"cuFuncSetAttribute", &api.set, false},
	        {"cuFuncSetCacheConfig", &api.prefer, false},
	        {"cuLaunchKernelEx", &api.launch, false},
	        {"cuFuncGetParamInfo", &api.param, true},
	        {"cuTensorMapEncodeTiled", &api.encode, true},
	};
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return fail(err, TK_ABI_DEVICE, "no CUDA driver: %.300s", dlerror());
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *symbol = dlsym(library, symbols[i].name);
		if (!symbol && !symbols[i].optional)
			return fail(err, TK_ABI_DEVICE, "the CUDA driver is too old: it has no %s",
			        symbols[i].name);
		memcpy(symbols[i].to, &symbol, sizeof symbol);
	}
	return TK_ABI_OK;
}

static const char *error_text(CUresult code)
{
	const char *text = NULL;
	return api.text(code, &text) == CUDA_SUCCESS && text ? text : "unknown error";
}

/* "sm_90a" runs on sm_90 alone, "sm_80" on sm_80, sm_86 and sm_89. */
static bool cuda_runs_on(const char *target, const char *arch)
{
	unsigned built, have;
	char suffix = '\0';
	if (sscanf(target, "sm_%u%c", &built, &suffix) < 1 || sscanf(arch, "sm_%u", &have) != 1)
		return false;
	return suffix == 'a' ? built == have : built / 10 == have / 10 && built <= have;
}

static int cuda_load(const void *code, size_t bytes, void **module, struct tk_abi_error *err)
{
	CUmodule loaded = NULL;
	CUresult code_ = api.load(&loaded, code);
	if (code_ != CUDA_SUCCESS)
		return fail(err,
		        code_ == CUDA_ERROR_OUT_OF_MEMORY ? TK_ABI_NO_MEMORY : TK_ABI_INVALID,
		        "the driver cannot load the code object: %s", error_text(code_));
	*module = loaded;
	return TK_ABI_OK;
}

static void cuda_unload(void *module)
{
	api.unload(module);
}

static int cuda_find(void *module, const char *entry, void **function, struct tk_abi_error *err)
{
	CUfunction found = NULL;
	CUresult code = api.find(&found, module, entry);
	if (code != CUDA_SUCCESS)
		return fail(err, TK_ABI_INVALID, "the code object has no kernel \"%.200s\": %s",
		        entry, error_text(code));
	*function = found;
	return TK_ABI_OK;
}

static enum launcher_param cuda_param(void *function, uint32_t index, size_t *bytes)
{
	size_t offset;
	if (!api.param)
		return LAUNCHER_PARAM_UNKNOWN;
	return api.param(function, index, &offset, bytes) == CUDA_SUCCESS ? LAUNCHER_PARAM_SIZE
	                                                                  : LAUNCHER_PARAM_NONE;
}

/* More than 48 KiB of shared memory and clusters of more than 8 blocks have to be allowed. */
static int cuda_prepare(void *function, const struct launcher_launch *l, struct tk_abi_error *err)
{
	const int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
	const uint32_t cluster = l->cluster[0] * l->cluster[1] * l->cluster[2];
	int most = 0;
	CUresult code = api.get(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
	if (code == CUDA_SUCCESS && threads > most)
		return fail(err, TK_ABI_INVALID,
		        "%.200s can have %d threads in a block, its manifest says %d", l->entry,
		        most, threads);
	if (code == CUDA_SUCCESS && l->prefer_shared)
		code = api.prefer(function, CU_FUNC_CACHE_PREFER_SHARED);
	if (code == CUDA_SUCCESS && l->shared_bytes)
		code = api.set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		        (int)l->shared_bytes);
	if (code != CUDA_SUCCESS)
		return fail(err, TK_ABI_INVALID, "%.200s with %u bytes of shared memory: %s",
		        l->entry, l->shared_bytes, error_text(code));
	if (cluster > 8)
		code = api.set(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
	return code == CUDA_SUCCESS ? TK_ABI_OK
	                            : fail(err, TK_ABI_INVALID, "%.200s with clusters of %u: %s",
	                                      l->entry, cluster, error_text(code));
}

static CUtensorMapDataType map_type(uint32_t dtype)
{
	switch (dtype) {
	case TK_F16:
		return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
	case TK_BF16:
		return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
	case TK_F32:
		return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
	case TK_I32:
		return CU_TENSOR_MAP_DATA_TYPE_INT32;
	default:
		return CU_TENSOR_MAP_DATA_TYPE_UINT8;
	}
}

static int cuda_encode_map(
        const struct launcher_tensor_map *m, void *data, void *out, struct tk_abi_error *err)
{
	static const cuuint32_t every[5] = {1, 1, 1, 1, 1};
	const uint32_t s = m->swizzle_bytes, l2 = m->l2_promotion_bytes;
	if (!api.encode)
		return fail(err, TK_ABI_UNSUPPORTED, "the driver has no cuTensorMapEncodeTiled");
	CUresult code = api.encode(out, map_type(m->dtype), m->rank, data,
	        (const cuuint64_t *)m->dims, (const cuuint64_t *)m->strides_bytes + 1, m->box,
	        every, CU_TENSOR_MAP_INTERLEAVE_NONE,
	        s == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
	        : s == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
	        : s == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
	                  : CU_TENSOR_MAP_SWIZZLE_NONE,
	        l2 == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
	        : l2 == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
	        : l2 == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
	                    : CU_TENSOR_MAP_L2_PROMOTION_NONE,
	        m->nan_fill ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
	                    : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	return code == CUDA_SUCCESS
	               ? TK_ABI_OK
	               : fail(err, TK_ABI_INVALID, "cuTensorMapEncodeTiled refuses the map: %s",
	                         error_text(code));
}

static int cuda_launch(void *function, const struct launcher_launch *l,
        const struct launcher_arguments *arguments, void *stream, struct tk_abi_error *err)
{
	CUlaunchAttribute attributes[2];
	CUlaunchConfig config = {.gridDimX = l->grid[0],
	        .gridDimY = l->grid[1],
	        .gridDimZ = l->grid[2],
	        .blockDimX = l->block[0],
	        .blockDimY = l->block[1],
	        .blockDimZ = l->block[2],
	        .sharedMemBytes = l->shared_bytes,
	        .hStream = stream,
	        .attrs = attributes};
	if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
		CUlaunchAttribute *a = &attributes[config.numAttrs++];
		a->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		a->value.clusterDim.x = l->cluster[0];
		a->value.clusterDim.y = l->cluster[1];
		a->value.clusterDim.z = l->cluster[2];
	}
	if (l->cooperative) {
		CUlaunchAttribute *a = &attributes[config.numAttrs++];
		a->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		a->value.cooperative = 1;
	}
	CUresult code = api.launch(&config, function, arguments->params, NULL);
	return code == CUDA_SUCCESS ? TK_ABI_OK
	                            : fail(err, TK_ABI_DEVICE, "%.200s could not be launched: %s",
	                                      l->entry, error_text(code));
}

const struct launcher_driver launcher_driver = {
        .device_kind = "cuda",
        .backend_name = "launcher_cuda",
        .start = cuda_start,
        .runs_on = cuda_runs_on,
        .load = cuda_load,
        .unload = cuda_unload,
        .find = cuda_find,
        .param = cuda_param,
        .prepare = cuda_prepare,
        .encode_map = cuda_encode_map,
        .launch = cuda_launch,
};
