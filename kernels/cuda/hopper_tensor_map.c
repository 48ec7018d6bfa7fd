/* See hopper_tensor_map.h. */
#include "hopper_tensor_map.h"
#include "cuda_backend.h"

typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
        const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_function encoder(void)
{
	static encode_function found;
	void *symbol = NULL;
	enum cudaDriverEntryPointQueryResult result;
	if (!found &&
	        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &symbol, 12000,
	                cudaEnableDefault, &result) == cudaSuccess &&
	        result == cudaDriverEntryPointSuccess)
		found = (encode_function)symbol;
	return found;
}

static CUtensorMapDataType map_type(uint32_t dtype)
{
	return dtype == TK_F16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
	       : dtype == TK_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
	                          : CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

int hopper_encode_tensor_map(
        const struct hopper_tensor *t, CUtensorMap *out, struct tk_abi_error *err)
{
	static const cuuint32_t every[5] = {1, 1, 1, 1, 1};
	encode_function encode = encoder();
	if (!encode)
		return fail(err, TK_ABI_UNSUPPORTED, "the driver has no cuTensorMapEncodeTiled");
	CUresult code = encode(out, map_type(t->dtype), t->rank, (void *)t->at,
	        (const cuuint64_t *)t->size, (const cuuint64_t *)t->step + 1, t->box, every,
	        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
	        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (code != CUDA_SUCCESS)
		return fail(err, TK_ABI_INVALID,
		        "cuTensorMapEncodeTiled refuses a tensor (code %d)", (int)code);
	return TK_ABI_OK;
}
