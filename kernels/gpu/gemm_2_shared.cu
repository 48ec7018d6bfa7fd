// GEMM ladder, step 2: tiles in shared memory. A block of TILE x TILE threads loads a tile of A and
// one of B, then every thread reads its row and column from there: each value is loaded from device
// memory once for TILE uses. Now limited by shared memory: two reads for each multiply-add.
#include "gemm_side.h"
#include "trace.h"

TK_TRACE_KERNEL("gemm_shared", GEMM_REGIONS, "warp 0")

// tile[l][i] of one side, whatever its layout in memory: neighbouring threads read neighbouring
// elements.
template <int TILE, typename T>
GPU_INLINE void load_tile(float (*tile)[TILE + 1], const gemm_side<T> &s, int first, int depth)
{
	int fast = (int)threadIdx.x % TILE, slow = (int)threadIdx.x / TILE;
	if (s.k_fast)
		tile[fast][slow] = gemm_entry(s, first + slow, depth + fast);
	else
		tile[slow][fast] = gemm_entry(s, first + fast, depth + slow);
}

// The registers of the records must not cost a block of a multiprocessor of Hopper.
#ifdef TK_TRACE
#define BLOCKS(TILE, T) ((TILE) == 16 ? 4 : sizeof(T) == 4 ? 1 : 2)
#else
#define BLOCKS(TILE, T) 1
#endif

template <int TILE, typename T>
GPU_KERNEL(TILE *TILE, BLOCKS(TILE, T))
gemm_shared(gemm_operands<T> o)
{
	__shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
	int row0 = (int)blockIdx.y * TILE, col0 = (int)blockIdx.x * TILE,
	    x = (int)threadIdx.x % TILE, y = (int)threadIdx.x / TILE;
	float sum = 0;
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	gemm_select(o, (int)blockIdx.z);
	for (int l0 = 0; l0 < o.a.k; l0 += TILE) {
		tk_trace_enter<0>(trace, REGION_LOAD);
		load_tile<TILE>(as, o.a, row0, l0);
		load_tile<TILE>(bs, o.b, col0, l0);
		tk_trace_enter<1>(trace, REGION_WAIT);
		__syncthreads();
		tk_trace_enter<2>(trace, REGION_MULTIPLY);
#pragma unroll
		for (int l = 0; l < TILE; l++)
			sum += as[l][y] * bs[l][x];
		tk_trace_enter<3>(trace, REGION_WAIT);
		tk_trace_advance<4>(trace);
		__syncthreads();
	}
	tk_trace_enter(trace, REGION_STORE);
	gemm_store(o, row0 + y, col0 + x, sum);
	tk_trace_close(trace);
}

static const char *const configs[] = {"tile-32x32", "tile-16x16"};
static const int64_t block_rows[] = {32, 16};

template <int TILE, typename T>
static void enqueue(const struct tk_gemm *g, const gemm_operands<T> &o, gpu_stream stream)
{
	dim3 grid(gpu_ceil_div((unsigned)g->n, (unsigned)TILE),
	        gpu_ceil_div((unsigned)g->m, (unsigned)TILE), (unsigned)g->batch);
	gemm_shared<TILE, T><<<grid, TILE * TILE, 0, stream>>>(o);
}

GEMM_TWO_CONFIGS(32, 16)

#if GPU_HOST_PASS
const struct gpu_gemm_step gpu_gemm_step = {"gemm_shared_" TK_GPU_KIND,
        "GEMM, step 2: tiles in shared memory", configs, 2, block_rows, gemm_is_float,
        gemm_prepare_none, launch, gpu_status_text};
#endif
