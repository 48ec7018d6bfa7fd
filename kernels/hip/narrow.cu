/* See narrow.h. */
#include "narrow.h"
#include <hip/hip_runtime.h>

static __global__ void narrow_kernel(const unsigned char *from, unsigned char *to, size_t bytes)
{
	size_t step = (size_t)gridDim.x * blockDim.x,
	       at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, words = bytes / 4;
	for (size_t i = at; i < words; i += step)
		((uint32_t *)to)[i] = narrow_clear_minus_zero(((const uint32_t *)from)[i]);
	for (size_t i = words * 4 + at; i < bytes; i += step)
		to[i] = from[i] == 0x80 ? 0 : from[i];
}

extern "C" int narrow_to_fnuz(const void *from, void *to, size_t bytes, void *stream)
{
	narrow_kernel<<<1024, 256, 0, (hipStream_t)stream>>>(
	        (const unsigned char *)from, (unsigned char *)to, bytes);
	return (int)hipGetLastError();
}
