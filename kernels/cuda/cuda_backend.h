/* What the backends of this folder share beyond gpu_backend.h: types by NVIDIA's names, and
 * launches that failed.
 *
 * Every module has a runtime of its own (linked statically); they all work in the one primary
 * context that the device layer made current, so streams and pointers of one are good for all.
 * Memory comes from the device layer, which keeps count of it. */
#ifndef TK_CUDA_BACKEND_H
#define TK_CUDA_BACKEND_H
#include "gpu_backend.h"
#include <cuda_runtime_api.h>
#include <library_types.h>

/* 0 where the last launch of a kernel was accepted. */
static inline int check_launch(struct tk_abi_error *err, const char *kernel, int code)
{
	if (code == cudaSuccess)
		return TK_ABI_OK;
	return fail(err, TK_ABI_DEVICE, "%s could not be launched: %s", kernel,
	        cudaGetErrorString((cudaError_t)code));
}

static inline cudaDataType_t cuda_type(uint32_t dtype)
{
	switch (dtype) {
	case TK_F64:
		return CUDA_R_64F;
	case TK_F16:
		return CUDA_R_16F;
	case TK_BF16:
		return CUDA_R_16BF;
	case TK_E4M3:
		return CUDA_R_8F_E4M3;
	case TK_E5M2:
		return CUDA_R_8F_E5M2;
	default:
		return CUDA_R_32F; /* f32, tf32 */
	}
}

#endif
