/* A libcuda.so.1 without a device, for test_launcher_cuda.c: it keeps the last launch in variables
 * that the test reads. */
#include <cuda.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN CUlaunchConfig fake_config;
SHOWN CUlaunchAttribute fake_attributes[4];
SHOWN void **fake_params;
SHOWN int fake_shared_bytes, fake_result, fake_cache_config;
SHOWN cuuint64_t fake_dims[5], fake_strides[5];
SHOWN int fake_swizzle;

SHOWN CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
	*text = "a fake error";
	return CUDA_SUCCESS;
}

SHOWN CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	*module = (CUmodule)&fake_config;
	return (CUresult)fake_result;
}

SHOWN CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	return CUDA_SUCCESS;
}

SHOWN CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	*function = (CUfunction)&fake_params;
	return strcmp(name, "gemm") ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

SHOWN CUresult CUDAAPI cuFuncGetAttribute(
        int *value, CUfunction_attribute which, CUfunction function)
{
	*value = 256;
	return CUDA_SUCCESS;
}

SHOWN CUresult CUDAAPI cuFuncSetAttribute(
        CUfunction function, CUfunction_attribute which, int value)
{
	if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		fake_shared_bytes = value;
	return value > 232448 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SHOWN CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
	fake_cache_config = (int)config;
	return CUDA_SUCCESS;
}

SHOWN CUresult CUDAAPI cuFuncGetParamInfo(
        CUfunction function, size_t index, size_t *offset, size_t *size)
{
	*offset = 8 * index;
	*size = 8;
	return index < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SHOWN CUresult CUDAAPI cuLaunchKernelEx(
        const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
	fake_config = *config;
	memcpy(fake_attributes, config->attrs, config->numAttrs * sizeof(*fake_attributes));
	fake_params = params;
	return (CUresult)fake_result;
}

SHOWN CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type,
        cuuint32_t rank, void *address, const cuuint64_t *dims, const cuuint64_t *strides,
        const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave interleave,
        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
	memcpy(fake_dims, dims, rank * sizeof(*dims));
	memcpy(fake_strides, strides, (rank - 1) * sizeof(*strides));
	fake_swizzle = (int)swizzle;
	return type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
