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
