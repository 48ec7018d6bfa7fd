// GEMM ladder, step 3: register tiles. A thread computes SIDE x SIDE entries, so that 2 SIDE values
// from shared memory serve SIDE^2 multiply-adds. A block's tile is 16 SIDE square; a thread's rows
// and columns come in groups of 4, a quarter or half of the tile apart, so that reads are 16 bytes
// wide and those of a warp use different banks.
#include "gemm_side.h"
#include "trace.h"

enum { DEPTH = 16, THREADS = 256 };

TK_TRACE_KERNEL("gemm_register", GEMM_REGIONS, "warp 0")

template <int TILE, typename T>
GPU_INLINE void load_tile(float (*tile)[TILE + 4], const gemm_side<T> &s, int first, int depth)
{
	for (int e = (int)threadIdx.x; e < TILE * DEPTH; e += THREADS) {
		int i = s.k_fast ? e / DEPTH : e % TILE, l = s.k_fast ? e % DEPTH : e / TILE;
		tile[l][i] = gemm_entry(s, first + i, depth + l);
	}
}

template <int SIDE, typename T> GPU_KERNEL(THREADS, 1) gemm_register(gemm_operands<T> o)
{
	constexpr int TILE = 16 * SIDE;
	__shared__ __align__(16) float as[DEPTH][TILE + 4], bs[DEPTH][TILE + 4];
	int row0 = (int)blockIdx.y * TILE, col0 = (int)blockIdx.x * TILE,
	    tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;
	float sum[SIDE][SIDE] = {};
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	gemm_select(o, (int)blockIdx.z);
	for (int l0 = 0; l0 < o.a.k; l0 += DEPTH) {
		tk_trace_enter<0>(trace, REGION_LOAD);
		load_tile<TILE>(as, o.a, row0, l0);
		load_tile<TILE>(bs, o.b, col0, l0);
		tk_trace_enter<1>(trace, REGION_WAIT);
		__syncthreads();
		tk_trace_enter<2>(trace, REGION_MULTIPLY);
#pragma unroll
		for (int l = 0; l < DEPTH; l++) {
			__align__(16) float x[SIDE], y[SIDE];
			gemm_load_fragment<SIDE>(x, as[l], ty);
			gemm_load_fragment<SIDE>(y, bs[l], tx);
#pragma unroll
			for (int i = 0; i < SIDE; i++)
#pragma unroll
				for (int j = 0; j < SIDE; j++)
					sum[i][j] += x[i] * y[j];
		}
		tk_trace_enter<3>(trace, REGION_WAIT);
		tk_trace_advance<4>(trace);
		__syncthreads();
	}
	tk_trace_enter(trace, REGION_STORE);
	gemm_store_fragment(o, sum, row0, col0, tx, ty);
	tk_trace_close(trace);
}

static const char *const configs[] = {"tile-128x128", "tile-64x64"};
static const int64_t block_rows[] = {128, 64};

template <int SIDE, typename T>
static void enqueue(const struct tk_gemm *g, const gemm_operands<T> &o, gpu_stream stream)
{
	dim3 grid(gpu_ceil_div((unsigned)g->n, 16u * SIDE),
	        gpu_ceil_div((unsigned)g->m, 16u * SIDE), (unsigned)g->batch);
	gemm_register<SIDE, T><<<grid, THREADS, 0, stream>>>(o);
}

GEMM_TWO_CONFIGS(8, 4)

#if GPU_HOST_PASS
const struct gpu_gemm_step gpu_gemm_step = {"gemm_register_" TK_GPU_KIND,
        "GEMM, step 3: 8 x 8 entries a thread in registers", configs, 2, block_rows, gemm_is_float,
        gemm_prepare_none, launch, gpu_status_text};
#endif
