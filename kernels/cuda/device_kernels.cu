/* See device_kernels.h. PTX ISA: %smid, %globaltimer (nanoseconds, the same on all multiprocessors), clock64 (cycles of
 * one multiprocessor). */
#include "device_kernels.h"

static __device__ unsigned long long global_ns()
{
	unsigned long long ns;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* The scheduler fills empty multiprocessors first, so twice as many blocks as there are reach all of them; the last one
 * stays. */
static __global__ void stamp_kernel(struct device_stamp *slots, unsigned count, unsigned long long sequence)
{
	unsigned sm;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	if (sm >= count)
		return;
	unsigned long long ns = global_ns();
	slots[sm].cycles = (unsigned long long)clock64();
	slots[sm].ns = ns;
	slots[sm].sequence = sequence;
}

/* A timer that stands still must not hold the device: each turn sleeps at least a little, and their number is bounded.
 */
static __global__ void hold_kernel(unsigned long long wait_ns)
{
	unsigned long long start = global_ns();
	for (unsigned long long turn = 0; turn < wait_ns / 50 + 1000 && global_ns() - start < wait_ns; turn++)
		__nanosleep(100);
}

static __global__ void compare_kernel(const unsigned char *a, const unsigned char *b, size_t bytes, unsigned *differs)
{
	size_t step = (size_t)gridDim.x * blockDim.x, at = (size_t)blockIdx.x * blockDim.x + threadIdx.x,
	       wide = bytes / 16;
	unsigned found = 0;
	for (size_t i = at; i < wide; i += step) {
		uint4 x = reinterpret_cast<const uint4 *>(a)[i], y = reinterpret_cast<const uint4 *>(b)[i];
		found |= (x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w);
	}
	for (size_t i = wide * 16 + at; i < bytes; i += step)
		found |= a[i] ^ b[i];
	if (found)
		*differs = 1;
}

cudaError_t device_stamp_enqueue(
        struct device_stamp *slots, unsigned count, unsigned long long sequence, cudaStream_t stream)
{
	stamp_kernel<<<2 * count, 1, 0, stream>>>(slots, count, sequence);
	return cudaGetLastError();
}

cudaError_t device_hold_enqueue(double ns, cudaStream_t stream)
{
	hold_kernel<<<1, 1, 0, stream>>>(ns > 0 && ns < 1e9 ? (unsigned long long)ns : 0);
	return cudaGetLastError();
}

/* Both are 16-byte aligned, as everything is that the tracker allocates. */
cudaError_t device_compare_enqueue(const void *a, const void *b, size_t bytes, unsigned *differs, cudaStream_t stream)
{
	compare_kernel<<<1024, 256, 0, stream>>>(
	        static_cast<const unsigned char *>(a), static_cast<const unsigned char *>(b), bytes, differs);
	return cudaGetLastError();
}
