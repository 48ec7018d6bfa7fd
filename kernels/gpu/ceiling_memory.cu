// Ceilings of memory: copy and read bandwidth. A large GPU reaches its bandwidth by many bytes in
// flight. Copying is fastest at its simplest: one 16-byte vector a thread and as many small blocks
// as it takes (H200, 1 GiB: 4.25 TB/s; four vectors a thread 4.06, a persistent grid 3.95). Reading
// keeps a sum, so its threads persist, with four loads in flight each.
#include "ceiling_kernels.h"
#include "gpu_runtime.h"

#define COPY_THREADS 256
#define THREADS 512
#define UNROLL 4
#define PIECE_THREADS 128 // x UNROLL x 16 bytes: CEILING_CHUNK_BYTES

GPU_KERNEL(COPY_THREADS, 1)
copy_kernel(const float4 *__restrict__ in, float4 *__restrict__ out, size_t n)
{
	size_t i = (size_t)blockIdx.x * COPY_THREADS + threadIdx.x;
	if (i < n)
		out[i] = in[i];
}

// The bytes after the last whole vector.
GPU_KERNEL(16, 1) copy_tail_kernel(const char *in, char *out)
{
	out[threadIdx.x] = in[threadIdx.x];
}

// A copy that takes as long as its launch: no kernel takes less time. As with no other kernel here,
// the next one may begin while it runs, which is the fastest that kernels can follow each other.
GPU_KERNEL(16, 1) copy_few_kernel(const char *in, char *out)
{
	gpu_let_next_begin();
	out[threadIdx.x] = in[threadIdx.x];
	gpu_await_previous();
}

extern "C" int ceiling_copy(const void *in, void *out, size_t bytes, void *stream)
{
	size_t n = bytes / 16, tail = bytes % 16;
	gpu_stream s = (gpu_stream)stream;
	for (size_t at = 0; at < n; at += GPU_GRID_THREADS) {
		size_t some = n - at < GPU_GRID_THREADS ? n - at : GPU_GRID_THREADS;
		copy_kernel<<<(unsigned)gpu_ceil_div(some, (size_t)COPY_THREADS), COPY_THREADS, 0,
		        s>>>((const float4 *)in + at, (float4 *)out + at, some);
	}
	if (!n && tail)
		gpu_launch_early(copy_few_kernel, (unsigned)tail, s, (const char *)in, (char *)out);
	else if (tail)
		copy_tail_kernel<<<1, (unsigned)tail, 0, s>>>(
		        (const char *)in + n * 16, (char *)out + n * 16);
	return gpu_launch_status();
}

static GPU_INLINE float warp_sum(float x)
{
#pragma unroll
	for (int step = GPU_LANES / 2; step > 0; step /= 2)
		x += gpu_shuffle_xor(x, step);
	return x;
}

// The sum of a block's values, in its first warp, always in the same order.
static GPU_INLINE float block_sum(float x)
{
	__shared__ float warp[THREADS / GPU_LANES];
	x = warp_sum(x);
	if (gpu_lane() == 0)
		warp[threadIdx.x / GPU_LANES] = x;
	__syncthreads();
	x = threadIdx.x < blockDim.x / GPU_LANES ? warp[threadIdx.x] : 0;
	if (threadIdx.x < GPU_LANES)
		x = warp_sum(x);
	__syncthreads();
	return x;
}

// The sum of all blocks' values: the last block to finish adds up the partial sums in order.
static GPU_INLINE void grid_sum(float mine, float *out, float *partial, unsigned *ticket)
{
	__shared__ bool last;
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
	for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
		mine += ((volatile float *)partial)[i];
	mine = block_sum(mine);
	if (threadIdx.x == 0) {
		*out = mine;
		*ticket = 0;
	}
}

// The blocks go through the input together.
GPU_KERNEL(THREADS, 1)
read_kernel(const float4 *__restrict__ in, size_t n, const float *rest, unsigned rest_count,
        float *out, float *partial, unsigned *ticket)
{
	float sum[UNROLL] = {0};
	size_t stride = (size_t)gridDim.x * THREADS * UNROLL;
	size_t at = (size_t)blockIdx.x * THREADS * UNROLL + threadIdx.x;
	for (; at + (UNROLL - 1) * THREADS < n; at += stride) {
		float4 v[UNROLL];
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			v[i] = gpu_load_streaming(in + at + i * THREADS);
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			sum[i] += (v[i].x + v[i].y) + (v[i].z + v[i].w);
	}
	for (int i = 0; i < UNROLL; i++) // the remainder
		if (at + i * THREADS < n) {
			float4 v = in[at + i * THREADS];
			sum[i] += (v.x + v.y) + (v.z + v.w);
		}
	float mine = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	if (blockIdx.x == 0 && threadIdx.x < rest_count)
		mine += rest[threadIdx.x];
	grid_sum(mine, out, partial, ticket);
}

extern "C" int ceiling_read(const float *in, size_t n, float *out, float *partial, unsigned *ticket,
        unsigned blocks, void *stream)
{
	size_t vectors = n / 4;
	read_kernel<<<blocks, THREADS, 0, (gpu_stream)stream>>>((const float4 *)in, vectors,
	        in + vectors * 4, (unsigned)(n % 4), out, partial, ticket);
	return gpu_launch_status();
}

// Reads from a cache. A piece is 8 KiB; a block starts at piece `at` and advances by `step` within
// [begin, end), `turns` pieces in all.
template <bool own>
GPU_INLINE float read_pieces(
        const float4 *in, unsigned at, unsigned step, unsigned begin, unsigned end, int64_t turns)
{
	float sum[UNROLL] = {0};
	for (; turns > 0; turns--) {
		const float4 *from = in + (size_t)at * (PIECE_THREADS * UNROLL) + threadIdx.x;
		float4 v[UNROLL];
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			v[i] = own ? from[i * PIECE_THREADS]
			           : gpu_load_l2(from + i * PIECE_THREADS);
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			sum[i] += (v[i].x + v[i].y) + (v[i].z + v[i].w);
		at += step;
		at = at < end ? at : at - end + begin;
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Every block reads `each` pieces of its own.
GPU_KERNEL(PIECE_THREADS, 8)
read_own_kernel(const float4 *in, unsigned pieces, unsigned each, int64_t passes, float *out,
        float *partial, unsigned *ticket)
{
	unsigned begin = blockIdx.x * each, end = begin + each < pieces ? begin + each : pieces;
	float mine = begin < end
	                     ? read_pieces<true>(in, begin, 1, begin, end, passes * (end - begin))
	                     : 0;
	grid_sum(mine, out, partial, ticket);
}

// All blocks read all pieces, `passes` times.
GPU_KERNEL(PIECE_THREADS, 8)
read_shared_kernel(const float4 *in, unsigned pieces, int64_t passes, float *out, float *partial,
        unsigned *ticket)
{
	int64_t all = passes * pieces, left = all - blockIdx.x, blocks = gridDim.x;
	float mine = read_pieces<false>(in, blockIdx.x % pieces, gridDim.x % pieces, 0, pieces,
	        left > 0 ? (left + blocks - 1) / blocks : 0);
	grid_sum(mine, out, partial, ticket);
}

static unsigned common_divisor(unsigned a, unsigned b)
{
	return b ? common_divisor(b, a % b) : a;
}

extern "C" int ceiling_read_passes(const float *in, size_t n, int64_t passes, int own, float *out,
        float *partial, unsigned *ticket, unsigned blocks, void *stream)
{
	unsigned pieces = (unsigned)(n / (CEILING_CHUNK_BYTES / sizeof(float)));
	const float4 *from = (const float4 *)in;
	gpu_stream s = (gpu_stream)stream;
	if (own) {
		unsigned each = gpu_ceil_div(pieces, blocks);
		read_own_kernel<<<gpu_ceil_div(pieces, each), PIECE_THREADS, 0, s>>>(
		        from, pieces, each, passes, out, partial, ticket);
		return gpu_launch_status();
	}
	// With this many blocks each one reads all pieces before it reads any of them again.
	while (common_divisor(blocks, pieces) > 1)
		blocks--;
	read_shared_kernel<<<blocks, PIECE_THREADS, 0, s>>>(
	        from, pieces, passes, out, partial, ticket);
	return gpu_launch_status();
}
