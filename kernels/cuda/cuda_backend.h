/* Shared by the backends of this folder beyond gpu_backend.h: NVIDIA's names of types, and failed
 * launches.
 *
 * Every module links a runtime of its own statically. All work in the primary context that the
 * device layer made current, so they share streams and pointers. Memory comes from the device
 * layer, which accounts for it. */
#ifndef TK_CUDA_BACKEND_H
#define TK_CUDA_BACKEND_H
#include "gpu_backend.h"
#include <cuda_runtime_api.h>
#include <library_types.h>

/* TK_ABI_OK if the last launch was accepted. */
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
