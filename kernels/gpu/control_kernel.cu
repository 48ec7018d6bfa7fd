// The kernel of control.c: C = A B in f32, tiles of 64 x 64 in shared memory, 4 x 4 values a
// thread. Do not improve it: any change of its code breaks the history of every machine.
#if TK_GPU_HIP
#include <hip/hip_runtime.h>
#endif
#include "gpu_host.h"

#define TILE 64
#define DEPTH 16

__global__ void __launch_bounds__(256)
        control_gemm(const float *a, const float *b, float *c, int m, int n, int k)
{
	__shared__ float as[DEPTH][TILE], bs[DEPTH][TILE];
	int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, tx = threadIdx.x % 16,
	    ty = threadIdx.x / 16;
	float sum[4][4] = {};
	for (int l0 = 0; l0 < k; l0 += DEPTH) {
		for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
			int row = row0 + i / DEPTH, al = l0 + i % DEPTH, bl = l0 + i / TILE,
			    col = col0 + i % TILE;
			as[i % DEPTH][i / DEPTH] = row < m && al < k ? a[(size_t)row * k + al] : 0;
			bs[i / TILE][i % TILE] = bl < k && col < n ? b[(size_t)bl * n + col] : 0;
		}
		__syncthreads();
#pragma unroll
		for (int l = 0; l < DEPTH; l++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					sum[i][j] += as[l][ty * 4 + i] * bs[l][tx * 4 + j];
		__syncthreads();
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			if (row0 + ty * 4 + i < m && col0 + tx * 4 + j < n)
				c[(size_t)(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = sum[i][j];
}

extern "C" int control_gemm_launch(
        const float *a, const float *b, float *c, int m, int n, int k, void *stream)
{
	dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
	control_gemm<<<grid, 256, 0, (gpu_stream)stream>>>(a, b, c, m, n, k);
	return (int)gpu_peek_error();
}
