// See softmax.h. A block has one row: it reads the row twice (maximum and sum of exponentials in
// one pass, weights in the other, mostly from the cache then) and writes it once.
#include "gpu_runtime.h"
#include "softmax.h"
#include "tracker_abi.h"

#define LOG2E 1.44269504f
#define LN2 0.69314718f

enum { THREADS = 256, WARPS = THREADS / GPU_LANES };
static const int64_t ROWS_MAX = GPU_GRID_THREADS / THREADS;

// A sum of exponentials and the maximum that it is relative to; combines two of them.
struct running {
	float max, sum;
};

static GPU_INLINE running join(running a, running b)
{
	float max = fmaxf(a.max, b.max);
	if (max == -INFINITY)
		return a;
	return {max, a.sum * exp2f((a.max - max) * LOG2E) + b.sum * exp2f((b.max - max) * LOG2E)};
}

template <int lanes> static GPU_INLINE running join_lanes(running r)
{
#pragma unroll
	for (int step = lanes / 2; step > 0; step /= 2) {
		running other = {gpu_shuffle_xor(r.max, step), gpu_shuffle_xor(r.sum, step)};
		r = join(r, other);
	}
	return r;
}

// Over all threads of the block; every thread gets the result.
static GPU_INLINE running join_block(running r)
{
	__shared__ running warps[WARPS];
	r = join_lanes<GPU_LANES>(r);
	if (gpu_lane() == 0)
		warps[threadIdx.x / GPU_LANES] = r;
	__syncthreads();
	return join_lanes<WARPS>(warps[threadIdx.x % WARPS]);
}

template <typename T>
GPU_KERNEL(THREADS, 1)
softmax_kernel(const float *scores, T *weights, float *lse, int64_t first, int64_t sq, int64_t skv,
        int causal)
{
	int64_t row = first + blockIdx.x, seen = causal ? row % sq + skv - sq + 1 : skv;
	const float *s = scores + row * skv;
	T *w = weights + row * skv;
	running r = {-INFINITY, 0};
	seen = seen < 0 ? 0 : seen > skv ? skv : seen;
	for (int64_t j = threadIdx.x; j < seen; j += THREADS) {
		running one = {s[j], 1};
		r = join(r, one);
	}
	r = join_block(r);
	float scale = seen > 0 ? 1 / r.sum : 0;
	for (int64_t j = threadIdx.x; j < skv; j += THREADS)
		w[j] = gpu_round(j < seen ? exp2f((s[j] - r.max) * LOG2E) * scale : 0, T());
	if (lse && threadIdx.x == 0)
		lse[row] = seen > 0 ? r.max + log2f(r.sum) * LN2 : -INFINITY;
}

template <typename T>
static int launch_rows(const float *scores, T *weights, float *lse, int64_t rows, int64_t sq,
        int64_t skv, int causal, gpu_stream stream)
{
	int status = 0;
	for (int64_t first = 0; !status && first < rows; first += ROWS_MAX) {
		unsigned blocks = (unsigned)(rows - first < ROWS_MAX ? rows - first : ROWS_MAX);
		softmax_kernel<T><<<blocks, THREADS, 0, stream>>>(
		        scores, weights, lse, first, sq, skv, causal);
		status = gpu_launch_status();
	}
	return status;
}

extern "C" int softmax_rows(const float *scores, void *weights, float *lse, int64_t rows,
        int64_t sq, int64_t skv, int causal, uint32_t dtype, void *stream)
{
	gpu_stream s = (gpu_stream)stream;
	if (dtype == TK_F16)
		return launch_rows(scores, (gpu_f16 *)weights, lse, rows, sq, skv, causal, s);
	if (dtype == TK_BF16)
		return launch_rows(scores, (gpu_bf16 *)weights, lse, rows, sq, skv, causal, s);
	return launch_rows(scores, (float *)weights, lse, rows, sq, skv, causal, s);
}

extern "C" const char *softmax_status_text(int status)
{
	return gpu_status_text(status);
}
