/* See device_compare.h. */
#include "device_compare.h"
#include "gpu_runtime.h"

#define THREADS 256
#define BLOCKS_MAX 1024

/* Bytes [head, head + 16 * wide) of both ranges are compared as vectors, the others one by one. */
GPU_KERNEL(THREADS, 1)
compare_kernel(const unsigned char *a, const unsigned char *b, size_t bytes, size_t head,
        size_t wide, unsigned *differs)
{
	size_t step = (size_t)gridDim.x * THREADS, at = (size_t)blockIdx.x * THREADS + threadIdx.x;
	const uint4 *p = (const uint4 *)(a + head), *q = (const uint4 *)(b + head);
	unsigned found = 0;
	for (size_t i = at; i < head; i += step)
		found |= a[i] ^ b[i];
	for (size_t i = at; i < wide; i += step) {
		uint4 x = p[i], y = q[i];
		found |= (x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w);
	}
	for (size_t i = head + wide * 16 + at; i < bytes; i += step)
		found |= a[i] ^ b[i];
	if (found)
		*differs = 1;
}

/* Vectors are loaded from multiples of 16 bytes. Two ranges that reach such an address at different
 * bytes are compared byte by byte. */
extern "C" int device_compare_enqueue(
        const void *a, const void *b, size_t bytes, unsigned *differs, void *stream)
{
	const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
	size_t head = (x ^ y) % 16 ? bytes : (16 - x % 16) % 16;
	if (head > bytes)
		head = bytes;
	size_t blocks = (bytes / 16 + THREADS) / THREADS;
	if (blocks > BLOCKS_MAX)
		blocks = BLOCKS_MAX;
	compare_kernel<<<(unsigned)blocks, THREADS, 0, (gpu_stream)stream>>>(
	        p, q, bytes, head, (bytes - head) / 16, differs);
	return gpu_launch_status();
}
