// Ceilings of arithmetic: independent multiply-adds in registers; f16 and bf16 on the matrix units
// of a warp (gpu_matrix.h), f32 on the ordinary ones. Operands are random and change from one
// instruction to the next, as in a matrix product: units that get the same bits again take less
// power and would show a rate that no kernel reaches.
#include "ceiling_kernels.h"
#include "gpu_matrix.h"
#include "tracker_abi.h"

enum { THREADS = 256, BLOCKS_OF_UNIT = 4, SIDE = 4, STEP = 24, CHAINS = 16, TURNS = 4 };

// Multiply-adds of a block in one round.
enum {
	MATRIX_ROUND = THREADS / GPU_LANES * SIDE * SIDE * 16 * 16 * 16,
	VECTOR_ROUND = THREADS * CHAINS * TURNS
};

template <typename T> GPU_KERNEL(THREADS, 1) matrix_rate_kernel(const T *in, T *out, int rounds)
{
	__shared__ __align__(16) T tile[2 * SIDE * 16 * STEP];
	gpu_left<T> a[SIDE];
	gpu_right<T> b[SIDE];
	gpu_sum sum[SIDE][SIDE];
	float all = 0;
	for (int i = (int)threadIdx.x; i < 2 * SIDE * 16 * STEP; i += THREADS)
		tile[i] = in[(i + i / CEILING_VALUES * 5) % CEILING_VALUES];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < SIDE; i++) {
		gpu_load<true>(a[i], tile + i * 16 * STEP, STEP);
		gpu_load<true>(b[i], tile + (SIDE + i) * 16 * STEP, STEP);
#pragma unroll
		for (int j = 0; j < SIDE; j++)
			gpu_zero(sum[i][j]);
	}
	for (int round = 0; round < rounds; round++)
#pragma unroll
		for (int i = 0; i < SIDE; i++)
#pragma unroll
			for (int j = 0; j < SIDE; j++)
				gpu_multiply(sum[i][j], a[i], b[j]);
#pragma unroll
	for (int i = 0; i < SIDE; i++)
#pragma unroll
		for (int j = 0; j < SIDE; j++)
#pragma unroll
			for (int e = 0; e < GPU_SUM; e++)
				all += sum[i][j].x[e];
	// Never true for the other blocks, which the compiler cannot know.
	if ((blockIdx.x == 0 && threadIdx.x < CEILING_VALUES) || all != all)
		out[threadIdx.x % CEILING_VALUES] = gpu_round(all / (256.0f * (float)rounds), T());
}

// x = x m + s with rotating m and s: the values stay small and their bits keep changing.
static GPU_KERNEL(THREADS, 1) vector_rate_kernel(const float *in, float *out, int rounds)
{
	float x[CHAINS], s[TURNS], all = 0;
#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		x[i] = in[(threadIdx.x + i) % CEILING_VALUES];
#pragma unroll
	for (int i = 0; i < TURNS; i++)
		s[i] = in[(threadIdx.x * 3 + i) % CEILING_VALUES];
	for (int round = 0; round < rounds; round++)
#pragma unroll
		for (int turn = 0; turn < TURNS; turn++)
#pragma unroll
			for (int i = 0; i < CHAINS; i++)
				x[i] = fmaf(x[i], turn % 2 ? 0.5f : -0.75f, s[turn]);
#pragma unroll
	for (int i = 0; i < CHAINS; i++)
		all += x[i];
	if ((blockIdx.x == 0 && threadIdx.x < CEILING_VALUES) || all != all)
		out[threadIdx.x % CEILING_VALUES] = all;
}

extern "C" int ceiling_rate(
        uint32_t dtype, const void *in, void *out, int64_t count, unsigned units, void *stream)
{
	unsigned blocks = units * BLOCKS_OF_UNIT;
	int64_t of_round = (int64_t)blocks * (dtype == TK_F32 ? VECTOR_ROUND : MATRIX_ROUND);
	int rounds = (int)gpu_ceil_div(count, of_round);
	gpu_stream s = (gpu_stream)stream;
	if (dtype == TK_F32)
		vector_rate_kernel<<<blocks, THREADS, 0, s>>>(
		        (const float *)in, (float *)out, rounds);
	else if (dtype == TK_F16)
		matrix_rate_kernel<gpu_f16>
		        <<<blocks, THREADS, 0, s>>>((const gpu_f16 *)in, (gpu_f16 *)out, rounds);
	else
		matrix_rate_kernel<gpu_bf16>
		        <<<blocks, THREADS, 0, s>>>((const gpu_bf16 *)in, (gpu_bf16 *)out, rounds);
	return gpu_launch_status();
}

extern "C" const char *ceiling_status_text(int status)
{
	return gpu_status_text(status);
}
