/* The kernels of the device layer: see device.h. */
#if TK_GPU_HIP
#include <hip/hip_runtime.h>
#endif
#include "device.h"

#if TK_GPU_HIP

/* s_memrealtime counts at a constant rate (hipDeviceAttributeWallClockRate, 100 MHz on CDNA). */
static __device__ unsigned long long timer_ticks()
{
	return (unsigned long long)wall_clock64();
}
/* HIP's __smid(): on gfx942 die << 6 | shader engine << 4 | compute unit, before it engine << 4 |
 * unit. Not every number below the largest stands for a unit. */
static __device__ unsigned unit_index()
{
	return __smid();
}
static __device__ void pause_briefly()
{
	__builtin_amdgcn_s_sleep(2); /* 128 cycles */
}
#define TURN_TICKS 5 /* a turn of hold_kernel takes at least this long */

#else

/* PTX ISA: %smid; %globaltimer (nanoseconds, the same on all multiprocessors). */
static __device__ unsigned long long timer_ticks()
{
	unsigned long long ns;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
static __device__ unsigned unit_index()
{
	unsigned sm;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}
static __device__ void pause_briefly()
{
	__nanosleep(100);
}
#define TURN_TICKS 50

#endif

/* NVIDIA's scheduler fills empty multiprocessors first, so a grid of twice as many blocks reaches
 * all of them; the last block on each writes its stamp. clock64() counts cycles of one
 * multiprocessor (AMD: s_memtime). */
static __global__ void stamp_kernel(
        struct device_stamp *slots, unsigned count, unsigned long long sequence)
{
	unsigned unit = unit_index();
	if (unit >= count)
		return;
	unsigned long long ticks = timer_ticks();
	slots[unit].cycles = (unsigned long long)clock64();
	slots[unit].ticks = ticks;
	slots[unit].sequence = sequence;
}

/* A timer that does not advance must not block the device: each iteration sleeps for a minimum
 * time, and their number is bounded. */
static __global__ void hold_kernel(unsigned long long ticks)
{
	unsigned long long start = timer_ticks();
	for (unsigned long long turn = 0;
	        turn < ticks / TURN_TICKS + 1000 && timer_ticks() - start < ticks; turn++)
		pause_briefly();
}

gpu_error device_stamp_enqueue(struct device_stamp *slots, unsigned count, unsigned units,
        unsigned long long sequence, gpu_stream stream)
{
	stamp_kernel<<<2 * units, 1, 0, stream>>>(slots, count, sequence);
	return gpu_last_error();
}

/* splitmix64 */
static __device__ unsigned long long mix(unsigned long long x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* `last`: the last byte of the first element, which has its highest bit. */
static __global__ void flip_kernel(
        unsigned char *last, size_t count, size_t element_bytes, unsigned long long seed)
{
	size_t step = (size_t)gridDim.x * blockDim.x;
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		if (mix(seed + i / 64) >> (i % 64) & 1)
			last[i * element_bytes] ^= 0x80;
}

gpu_error device_flip_enqueue(void *memory, size_t count, size_t element_bytes,
        unsigned long long seed, gpu_stream stream)
{
	flip_kernel<<<1024, 256, 0, stream>>>(
	        (unsigned char *)memory + element_bytes - 1, count, element_bytes, seed);
	return gpu_last_error();
}

gpu_error device_block_enqueue(double ticks, gpu_stream stream)
{
	hold_kernel<<<1, 1, 0, stream>>>(ticks > 0 && ticks < 1e9 ? (unsigned long long)ticks : 0);
	return gpu_last_error();
}
