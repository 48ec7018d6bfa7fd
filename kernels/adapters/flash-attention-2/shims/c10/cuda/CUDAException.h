/* What FlashAttention includes of PyTorch: the first error of a launch is kept for the backend. */
#pragma once
#include <cstdio> /* hardware_info.h relies on PyTorch's for these two */
#include <cstdlib>
#include <cuda_runtime.h>

inline cudaError_t &tk_first_error()
{
	static thread_local cudaError_t error = cudaSuccess;
	return error;
}

#define C10_CUDA_CHECK(call) \
	do { \
		const cudaError_t tk_error = (call); \
		if (tk_error != cudaSuccess && tk_first_error() == cudaSuccess) \
			tk_first_error() = tk_error; \
	} while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
