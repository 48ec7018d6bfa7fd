// See softmax.h. A block owns a row: it reads it twice (maximum and sum of exponentials in one pass, weights in the other; the second time
// mostly from the cache) and writes it once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "softmax.h"
#include "tracker_abi.h"

#define THREADS 256
#define LOG2E 1.44269504f
#define LN2 0.69314718f

static __device__ float to(float x, float)
{
	return x;
}
static __device__ __half to(float x, __half)
{
	return __float2half_rn(x);
}
static __device__ __nv_bfloat16 to(float x, __nv_bfloat16)
{
	return __float2bfloat16_rn(x);
}

// Sum of exponentials relative to a maximum: two of them become one.
struct running {
	float max, sum;
};

static __device__ running join(running a, running b)
{
	float max = fmaxf(a.max, b.max);
	if (max == -INFINITY)
		return a;
	return {max, a.sum * exp2f((a.max - max) * LOG2E) + b.sum * exp2f((b.max - max) * LOG2E)};
}

static __device__ running join_warp(running r)
{
	for (int step = 16; step > 0; step /= 2)
		r = join(r, {__shfl_xor_sync(0xffffffffu, r.max, step), __shfl_xor_sync(0xffffffffu, r.sum, step)});
	return r;
}

static __device__ running join_block(running r)
{
	__shared__ running warps[THREADS / 32];
	r = join_warp(r);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = r;
	__syncthreads();
	r = warps[threadIdx.x % (THREADS / 32)];
	for (int step = THREADS / 64; step > 0; step /= 2)
		r = join(r, {__shfl_xor_sync(0xffffffffu, r.max, step), __shfl_xor_sync(0xffffffffu, r.sum, step)});
	return r;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) softmax_kernel(const float *scores, T *weights, float *lse, int64_t sq, int64_t skv, int causal)
{
	int64_t row = blockIdx.x, seen = causal ? row % sq + skv - sq + 1 : skv;
	const float *s = scores + row * skv;
	T *w = weights + row * skv;
	running r = {-INFINITY, 0};
	seen = seen < 0 ? 0 : seen > skv ? skv : seen;
	for (int64_t j = threadIdx.x; j < seen; j += THREADS)
		r = join(r, {s[j], 1});
	r = join_block(r);
	float scale = seen > 0 ? 1 / r.sum : 0;
	for (int64_t j = threadIdx.x; j < skv; j += THREADS)
		w[j] = to(j < seen ? exp2f((s[j] - r.max) * LOG2E) * scale : 0, T());
	if (lse && threadIdx.x == 0)
		lse[row] = seen > 0 ? r.max + log2f(r.sum) * LN2 : -INFINITY;
}

extern "C" int softmax_rows(const float *scores, void *weights, float *lse, int64_t rows, int64_t sq, int64_t skv, int causal, uint32_t dtype,
	void *stream)
{
	unsigned grid = (unsigned)rows;
	cudaStream_t s = (cudaStream_t)stream;
	if (dtype == TK_F16)
		softmax_kernel<<<grid, THREADS, 0, s>>>(scores, (__half *)weights, lse, sq, skv, causal);
	else if (dtype == TK_BF16)
		softmax_kernel<<<grid, THREADS, 0, s>>>(scores, (__nv_bfloat16 *)weights, lse, sq, skv, causal);
	else
		softmax_kernel<<<grid, THREADS, 0, s>>>(scores, (float *)weights, lse, sq, skv, causal);
	return (int)cudaPeekAtLastError();
}
