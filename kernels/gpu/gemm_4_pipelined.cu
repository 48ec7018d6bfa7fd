// GEMM ladder, step 4: double buffering. While a tile is multiplied, the next one is loaded from
// device memory to registers, 16 bytes at a time where the matrices are aligned, and then stored
// into the other half of shared memory: one barrier a tile, and memory latency hides behind
// arithmetic. Now limited by the rate of the ordinary multiply-add units.
#include "gemm_side.h"
#include "trace.h"

TK_TRACE_KERNEL("gemm_pipelined", GEMM_REGIONS, "warp 0")

enum { DEPTH = 16, SIDE = 8, TILE = 16 * SIDE, THREADS = 256, RUN = TILE * DEPTH / THREADS };

// RUN neighbours in memory: along k where k is the fast index, else along the side.
template <typename T> struct run {
	T x[RUN];
};

template <typename T> struct run_index {
	int i, l;
};

template <typename T> GPU_INLINE run_index<T> run_position(const gemm_side<T> &s)
{
	int e = (int)threadIdx.x * RUN;
	return s.k_fast ? run_index<T>{e / DEPTH, e % DEPTH} : run_index<T>{e % TILE, e / TILE};
}

template <typename T> GPU_INLINE bool is_aligned(const gemm_side<T> &s)
{
	int fast = s.k_fast ? s.k : s.count;
	return fast % (16 / (int)sizeof(T)) == 0 && (uintptr_t)s.at % 16 == 0;
}

template <typename T>
GPU_INLINE void load_tile(run<T> &r, const gemm_side<T> &s, bool aligned, int first, int depth)
{
	run_index<T> p = run_position(s);
	int i = first + p.i, l = depth + p.l;
	constexpr int WIDE = 16 / (int)sizeof(T);
	const T *from = s.at + (s.k_fast ? (size_t)i * s.k + l : (size_t)l * s.count + i);
#pragma unroll
	for (int x = 0; x < RUN; x += WIDE) {
		int ii = s.k_fast ? i : i + x, ll = s.k_fast ? l + x : l;
		if (aligned)
			*(uint4 *)(r.x + x) = ii < s.count && ll < s.k ? *(const uint4 *)(from + x)
			                                               : uint4{0, 0, 0, 0};
		else
#pragma unroll
			for (int y = 0; y < WIDE; y++)
				r.x[x + y] = gpu_round(gemm_entry(s, s.k_fast ? i : i + x + y,
				                               s.k_fast ? l + x + y : l),
				        T());
	}
}

template <typename T>
GPU_INLINE void store_tile(float (*tile)[TILE + 4], const run<T> &r, const gemm_side<T> &s)
{
	run_index<T> p = run_position(s);
#pragma unroll
	for (int x = 0; x < RUN; x++)
		tile[s.k_fast ? p.l + x : p.l][s.k_fast ? p.i : p.i + x] = gpu_float(r.x[x]);
}

GPU_INLINE void multiply(float (*sum)[SIDE], const float (*as)[TILE + 4],
        const float (*bs)[TILE + 4], int tx, int ty)
{
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
}

template <typename T> GPU_KERNEL(THREADS, 2) gemm_pipelined(gemm_operands<T> o)
{
	__shared__ __align__(16) float as[2][DEPTH][TILE + 4], bs[2][DEPTH][TILE + 4];
	int row0 = (int)blockIdx.y * TILE, col0 = (int)blockIdx.x * TILE,
	    tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;
	float sum[SIDE][SIDE] = {};
	run<T> next_a, next_b;
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	gemm_select(o, (int)blockIdx.z);
	bool a_aligned = is_aligned(o.a), b_aligned = is_aligned(o.b);
	tk_trace_enter(trace, REGION_LOAD);
	load_tile(next_a, o.a, a_aligned, row0, 0);
	load_tile(next_b, o.b, b_aligned, col0, 0);
	for (int l0 = 0, half = 0; l0 < o.a.k; l0 += DEPTH, half ^= 1) {
		tk_trace_enter<0>(trace, REGION_WAIT); // for the entries, then for the block
		store_tile(as[half], next_a, o.a);
		store_tile(bs[half], next_b, o.b);
		__syncthreads();
		tk_trace_enter<1>(trace, REGION_LOAD);
		if (l0 + DEPTH < o.a.k) {
			load_tile(next_a, o.a, a_aligned, row0, l0 + DEPTH);
			load_tile(next_b, o.b, b_aligned, col0, l0 + DEPTH);
		}
		tk_trace_enter<2>(trace, REGION_MULTIPLY);
		tk_trace_advance<3>(trace);
		multiply(sum, as[half], bs[half], tx, ty);
	}
	tk_trace_enter(trace, REGION_STORE);
	gemm_store_fragment(o, sum, row0, col0, tx, ty);
	tk_trace_close(trace);
}

static const char *const configs[] = {"tile-128x128"};
static const int64_t block_rows[] = {128};

template <typename T>
static int launch_as(const struct tk_gemm *g, const void *a, const void *b, void *c, void *stream)
{
	dim3 grid(gpu_ceil_div((unsigned)g->n, (unsigned)TILE),
	        gpu_ceil_div((unsigned)g->m, (unsigned)TILE), (unsigned)g->batch);
	gemm_pipelined<T>
	        <<<grid, THREADS, 0, (gpu_stream)stream>>>(gemm_make_operands<T>(g, a, b, c));
	return gpu_launch_status();
}

static int launch(
        const struct tk_gemm *g, uint32_t, const void *a, const void *b, void *c, void *stream)
{
	return GEMM_BY_TYPE(launch_as, g, a, b, c, stream);
}

#if GPU_HOST_PASS
const struct gpu_gemm_step gpu_gemm_step = {"gemm_pipelined_" TK_GPU_KIND,
        "GEMM, step 4: the next tile is fetched while one is multiplied", configs, 1, block_rows,
        gemm_is_float, gemm_prepare_none, launch, gpu_status_text};
#endif
