// GEMM ladder, step 5: matrix units (gpu_matrix.h), f16 and bf16. Tiles are copied to shared memory
// in the layout of the matrices, 16 bytes at a time, several tiles ahead where the hardware copies
// asynchronously; a warp multiplies 64 x 64 or 32 x 32 of a tile in blocks of 16 x 16 x 16. Blocks
// are numbered in bands of BAND tile rows, so that those that run together share operands in the L2
// cache.
#include "gemm_side.h"
#include "gpu_matrix.h"
#include "trace.h"

enum { BAND = 8, PAD = 8 };

#define REGIONS(X) \
	X(WAIT, "wait for data", WAIT) \
	X(LOAD, "load", LOAD) \
	X(MULTIPLY, "multiply", TENSOR) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("gemm_matrix", REGIONS, "warp 0")

// M x N a block, K deep, STAGES tiles in flight, WM x WN warps.
template <int M_, int N_, int K_, int STAGES_, int WM_, int WN_> struct tiling {
	static constexpr int M = M_, N = N_, K = K_, STAGES = STAGES_, WM = WM_, WN = WN_;
	static constexpr int THREADS = WM * WN * GPU_LANES, ROWS = M / WM / 16,
	                     COLUMNS = N / WN / 16;
};

// A side's tile in shared memory: [COUNT][K + PAD] where k is fast, else [K][COUNT + PAD].
template <int COUNT, int K, bool k_fast> struct side_tile {
	static constexpr int STEP = (k_fast ? K : COUNT) + PAD, LINES = k_fast ? COUNT : K,
	                     CHUNKS = (STEP - PAD) / 8;
	static constexpr int ELEMENTS = STEP * LINES;
};

// Copies 8 elements from (i, l) on one by one, if the rows of the matrix are not aligned.
template <typename T> GPU_INLINE void copy_scalar(T *to, const gemm_side<T> &s, int i, int l)
{
	for (int x = 0; x < 8; x++)
		to[x] = gpu_round(gemm_entry(s, s.k_fast ? i : i + x, s.k_fast ? l + x : l), T());
}

template <class Tile, int THREADS, bool k_fast, typename T>
GPU_INLINE void load_tile(T *tile, const gemm_side<T> &s, bool aligned, int first, int depth)
{
#pragma unroll
	for (int e = (int)gpu_thread(); e < Tile::LINES * Tile::CHUNKS; e += THREADS) {
		int line = e / Tile::CHUNKS, chunk = e % Tile::CHUNKS * 8;
		int i = first + (k_fast ? line : chunk), l = depth + (k_fast ? chunk : line);
		T *to = tile + line * Tile::STEP + chunk;
		if (aligned)
			gpu_copy16(to,
			        s.at + (k_fast ? (size_t)i * s.k + l : (size_t)l * s.count + i),
			        i < s.count && l < s.k);
		else
			copy_scalar(to, s, i, l);
	}
}

template <typename T> GPU_INLINE bool is_aligned(const gemm_side<T> &s)
{
	return (s.k_fast ? s.k : s.count) % 8 == 0 && (uintptr_t)s.at % 16 == 0;
}

// First row and column of this block's tile.
template <class Tiling> GPU_INLINE void locate_block(int m, int n, int *row0, int *col0)
{
	int tiles_m = gpu_ceil_div(m, Tiling::M), tiles_n = gpu_ceil_div(n, Tiling::N),
	    band = (int)blockIdx.x / (BAND * tiles_n);
	int height = min(BAND, tiles_m - band * BAND),
	    in_band = (int)blockIdx.x - band * BAND * tiles_n;
	*row0 = (band * BAND + in_band % height) * Tiling::M;
	*col0 = in_band / height * Tiling::N;
}

template <class Tiling, typename T>
GPU_INLINE void store(const gemm_operands<T> &o, int i, int j, float x, float y)
{
	size_t at = (size_t)i * o.b.count + j;
	if (i < o.a.count && j + 1 < o.b.count && o.b.count % 2 == 0 && !o.c_f32)
		*(uint32_t *)((T *)o.c + at) = gpu_pack(x, y, T());
	else {
		gemm_store(o, i, j, x);
		gemm_store(o, i, j + 1, y);
	}
}

template <class Tiling, bool a_fast, bool b_fast, typename T> struct tiles {
	using A = side_tile<Tiling::M, Tiling::K, a_fast>;
	using B = side_tile<Tiling::N, Tiling::K, b_fast>;
	static constexpr size_t BYTES =
	        (size_t)(A::ELEMENTS + B::ELEMENTS) * Tiling::STAGES * sizeof(T);
};

template <class Tiling, bool a_fast, bool b_fast, typename T>
GPU_INLINE void multiply(gpu_sum (*sum)[Tiling::COLUMNS], const T *as, const T *bs, int wm, int wn)
{
	using A = typename tiles<Tiling, a_fast, b_fast, T>::A;
	using B = typename tiles<Tiling, a_fast, b_fast, T>::B;
#pragma unroll
	for (int l = 0; l < Tiling::K; l += 16) {
		gpu_left<T> a[Tiling::ROWS];
		gpu_right<T> b[Tiling::COLUMNS];
#pragma unroll
		for (int i = 0; i < Tiling::ROWS; i++) {
			int row = (wm * Tiling::ROWS + i) * 16;
			gpu_load<a_fast>(a[i],
			        as + (a_fast ? row * A::STEP + l : l * A::STEP + row), A::STEP);
		}
#pragma unroll
		for (int j = 0; j < Tiling::COLUMNS; j++) {
			int column = (wn * Tiling::COLUMNS + j) * 16;
			gpu_load<b_fast>(b[j],
			        bs + (b_fast ? column * B::STEP + l : l * B::STEP + column),
			        B::STEP);
		}
#pragma unroll
		for (int i = 0; i < Tiling::ROWS; i++)
#pragma unroll
			for (int j = 0; j < Tiling::COLUMNS; j++)
				gpu_multiply(sum[i][j], a[i], b[j]);
	}
}

template <class Tiling, bool a_fast, bool b_fast, typename T>
GPU_KERNEL(Tiling::THREADS, 1)
gemm_matrix(gemm_operands<T> o)
{
	using A = typename tiles<Tiling, a_fast, b_fast, T>::A;
	using B = typename tiles<Tiling, a_fast, b_fast, T>::B;
	GPU_DYNAMIC_SHARED(memory);
	T *as = (T *)memory, *bs = as + A::ELEMENTS * Tiling::STAGES;
	int row0, col0, wm = gpu_warp() / Tiling::WN, wn = gpu_warp() % Tiling::WN;
	gpu_sum sum[Tiling::ROWS][Tiling::COLUMNS];
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	locate_block<Tiling>(o.a.count, o.b.count, &row0, &col0);
	gemm_select(o, (int)blockIdx.z);
	bool a_aligned = is_aligned(o.a), b_aligned = is_aligned(o.b);
#pragma unroll
	for (int i = 0; i < Tiling::ROWS; i++)
#pragma unroll
		for (int j = 0; j < Tiling::COLUMNS; j++)
			gpu_zero(sum[i][j]);
	auto prefetch = [&](int tile) {
		int stage = tile % Tiling::STAGES;
		if (tile * Tiling::K < o.a.k) {
			load_tile<A, Tiling::THREADS, a_fast>(
			        as + stage * A::ELEMENTS, o.a, a_aligned, row0, tile * Tiling::K);
			load_tile<B, Tiling::THREADS, b_fast>(
			        bs + stage * B::ELEMENTS, o.b, b_aligned, col0, tile * Tiling::K);
		}
		gpu_copy_commit();
	};
	tk_trace_enter(trace, REGION_LOAD);
	for (int tile = 0; tile < Tiling::STAGES - 1; tile++)
		prefetch(tile);
	for (int tile = 0; tile * Tiling::K < o.a.k; tile++) {
		int stage = tile % Tiling::STAGES;
		tk_trace_enter<0>(trace, REGION_WAIT);
		gpu_copy_wait<Tiling::STAGES - 2>();
		__syncthreads();
		// Starting the copies counts as multiplying: the compiler mixes both.
		tk_trace_enter<1>(trace, REGION_MULTIPLY);
		tk_trace_advance<2>(trace);
		prefetch(tile + Tiling::STAGES - 1);
		multiply<Tiling, a_fast, b_fast, T>(
		        sum, as + stage * A::ELEMENTS, bs + stage * B::ELEMENTS, wm, wn);
	}
	gpu_copy_wait<0>();
	tk_trace_enter(trace, REGION_STORE);
#pragma unroll
	for (int i = 0; i < Tiling::ROWS; i++)
#pragma unroll
		for (int j = 0; j < Tiling::COLUMNS; j++)
#pragma unroll
			for (int e = 0; e < GPU_SUM; e += 2)
				store<Tiling>(o,
				        row0 + (wm * Tiling::ROWS + i) * 16 + gpu_row(gpu_slot(e)),
				        col0 + (wn * Tiling::COLUMNS + j) * 16 + gpu_column(e),
				        sum[i][j].x[e], sum[i][j].x[e + 1]);
	tk_trace_close(trace);
}

#if GPU_HIP // 64 KiB of shared memory and no asynchronous copies
using large = tiling<128, 128, 32, 2, 2, 2>;
using small = tiling<64, 64, 32, 2, 2, 2>;
static const char *const configs[] = {"tile-128x128x32-stages-2", "tile-64x64x32-stages-2"};
#else
using large = tiling<128, 256, 32, 4, 2, 4>;
using small = tiling<64, 64, 64, 4, 2, 2>;
static const char *const configs[] = {"tile-128x256x32-stages-4", "tile-64x64x64-stages-4"};
#endif

// Calls f with the kernel for a problem and its tiling.
template <class Tiling, typename T, class F> static int with_tiling(const struct tk_gemm *g, F f)
{
	if (g->ta)
		return g->tb ? f(gemm_matrix<Tiling, false, true, T>, Tiling(),
		                       tiles<Tiling, false, true, T>::BYTES)
		             : f(gemm_matrix<Tiling, false, false, T>, Tiling(),
		                       tiles<Tiling, false, false, T>::BYTES);
	return g->tb ? f(gemm_matrix<Tiling, true, true, T>, Tiling(),
	                       tiles<Tiling, true, true, T>::BYTES)
	             : f(gemm_matrix<Tiling, true, false, T>, Tiling(),
	                       tiles<Tiling, true, false, T>::BYTES);
}

template <typename T, class F> static int with_kernel(const struct tk_gemm *g, uint32_t config, F f)
{
	return config == 0 ? with_tiling<large, T>(g, f) : with_tiling<small, T>(g, f);
}

template <typename T> static int prepare_as(const struct tk_gemm *g, uint32_t config)
{
	return with_kernel<T>(g, config,
	        [](auto kernel, auto, size_t bytes) { return gpu_allow_shared(kernel, bytes); });
}

static int prepare(const struct tk_gemm *g, uint32_t config)
{
	return g->a == TK_F16 ? prepare_as<gpu_f16>(g, config) : prepare_as<gpu_bf16>(g, config);
}

template <typename T>
static int launch_as(const struct tk_gemm *g, uint32_t config, const void *a, const void *b,
        void *c, void *stream)
{
	return with_kernel<T>(g, config, [=](auto kernel, auto l, size_t bytes) {
		using Tiling = decltype(l);
		dim3 grid(gpu_ceil_div((unsigned)g->n, (unsigned)Tiling::N) *
		                  gpu_ceil_div((unsigned)g->m, (unsigned)Tiling::M),
		        1, (unsigned)g->batch);
		kernel<<<grid, Tiling::THREADS, bytes, (gpu_stream)stream>>>(
		        gemm_make_operands<T>(g, a, b, c));
		return gpu_launch_status();
	});
}

static int launch(const struct tk_gemm *g, uint32_t config, const void *a, const void *b, void *c,
        void *stream)
{
	return g->a == TK_F16 ? launch_as<gpu_f16>(g, config, a, b, c, stream)
	                      : launch_as<gpu_bf16>(g, config, a, b, c, stream);
}

#if GPU_HOST_PASS
const struct gpu_gemm_step gpu_gemm_step = {"gemm_matrix_" TK_GPU_KIND,
        "GEMM, step 5: matrix units", configs, 2, NULL, gemm_is_16bit, prepare, launch,
        gpu_status_text};
#endif
