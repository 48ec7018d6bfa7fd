// See ceiling_cuda_kernels.h. Every thread has four 16-byte loads in flight before it stores anything: what keeps the memory of a
// large GPU busy is the number of bytes under way, not the number of threads. Streaming loads and stores, because nothing is used twice.
#include "ceiling_cuda_kernels.h"

#define THREADS 512
#define UNROLL 4

__global__ void __launch_bounds__(THREADS) copy_kernel(const float4 *__restrict__ in, float4 *__restrict__ out, size_t n, const char *tail_in, char *tail_out,
	unsigned tail)
{
	size_t first = (size_t)blockIdx.x * THREADS * UNROLL + threadIdx.x;
	if (first + (UNROLL - 1) * THREADS < n) {
		float4 v[UNROLL];
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			v[i] = __ldcs(in + first + i * THREADS);
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			__stcs(out + first + i * THREADS, v[i]);
	} else {
		for (size_t i = first; i < n; i += THREADS)
			out[i] = in[i];
	}
	if (blockIdx.x == 0 && threadIdx.x < tail)
		tail_out[threadIdx.x] = tail_in[threadIdx.x];
}

extern "C" int ceiling_copy(const void *in, void *out, size_t bytes, void *stream)
{
	size_t n = bytes / 16, per_block = (size_t)THREADS * UNROLL, blocks = (n + per_block - 1) / per_block;
	const char *from = (const char *)in + n * 16;
	char *to = (char *)out + n * 16;
	copy_kernel<<<(unsigned)(blocks ? blocks : 1), THREADS, 0, (cudaStream_t)stream>>>((const float4 *)in, (float4 *)out, n, from, to,
		(unsigned)(bytes % 16));
	return (int)cudaPeekAtLastError();
}

// The sum of a block's values, in thread 0, always added in the same order.
static __device__ float block_sum(float x)
{
	__shared__ float warp[THREADS / 32];
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_down_sync(0xffffffffu, x, step);
	if (threadIdx.x % 32 == 0)
		warp[threadIdx.x / 32] = x;
	__syncthreads();
	x = threadIdx.x < THREADS / 32 ? warp[threadIdx.x] : 0;
	if (threadIdx.x < 32)
		for (int step = 16; step > 0; step /= 2)
			x += __shfl_down_sync(0xffffffffu, x, step);
	__syncthreads();
	return x;
}

// Blocks walk through the input together; the one that finishes last adds the partial sums up, in their order.
__global__ void __launch_bounds__(THREADS) read_kernel(const float4 *__restrict__ in, size_t n, const float *rest, unsigned rest_count, float *out,
	float *partial, unsigned *ticket)
{
	__shared__ bool last;
	float sum[UNROLL] = {0};
	size_t stride = (size_t)gridDim.x * THREADS * UNROLL;
	size_t at = (size_t)blockIdx.x * THREADS * UNROLL + threadIdx.x;
	for (; at + (UNROLL - 1) * THREADS < n; at += stride) {
		float4 v[UNROLL];
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			v[i] = __ldcs(in + at + i * THREADS);
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			sum[i] += (v[i].x + v[i].y) + (v[i].z + v[i].w);
	}
	for (int i = 0; i < UNROLL; i++)         // the ragged end
		if (at + i * THREADS < n) {
			float4 v = in[at + i * THREADS];
			sum[i] += (v.x + v.y) + (v.z + v.w);
		}
	float mine = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	if (blockIdx.x == 0 && threadIdx.x < rest_count)
		mine += rest[threadIdx.x];
	mine = block_sum(mine);
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = mine;
		__threadfence();
		last = atomicAdd(ticket, 1u) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last)
		return;
	__threadfence();
	mine = 0;
	for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS)
		mine += ((volatile float *)partial)[i];
	mine = block_sum(mine);
	if (threadIdx.x == 0) {
		*out = mine;
		*ticket = 0;
	}
}

extern "C" int ceiling_read(const float *in, size_t n, float *out, float *partial, unsigned *ticket, unsigned blocks, void *stream)
{
	size_t vectors = n / 4;
	read_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>((const float4 *)in, vectors, in + vectors * 4, (unsigned)(n % 4), out, partial, ticket);
	return (int)cudaPeekAtLastError();
}
