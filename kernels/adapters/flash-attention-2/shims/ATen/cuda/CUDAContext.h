/* What FlashAttention before 2.7.3 includes of PyTorch: the properties of the current device. */
#pragma once
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAException.h>

namespace at
{
namespace cuda
{
inline const cudaDeviceProp *getCurrentDeviceProperties()
{
	static thread_local cudaDeviceProp properties;
	static thread_local int known = -1;
	int device = 0;
	C10_CUDA_CHECK(cudaGetDevice(&device));
	if (device != known && cudaGetDeviceProperties(&properties, device) == cudaSuccess)
		known = device;
	return &properties;
}
} // namespace cuda
} // namespace at
