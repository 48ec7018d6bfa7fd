// Attention backward: dQ dK dV from Q K V O LSE dO (Dao et al., FlashAttention, 2022, appendix
// B.2). Tensors are [b][s][heads][d], f16 or bf16, d = 64 or 128. Three kernels without atomics:
// repeated runs give equal bits. The scores are computed twice, once for each side of the
// gradients:
//
//   backward_delta    delta = sum(dO o), a warp a row
//   backward_keys     a block keeps its keys and streams the queries of all heads of the group:
//                     dV += P' dO,  dK += dS' Q
//   backward_queries  a block keeps its queries and streams the keys:  dQ += dS K
//
// with P = exp(scale q k' - lse), dS = P (dO v' - delta). backward_keys computes transposed scores,
// so that P' and dS' are left operands in the registers where they were computed.
#include "flash_launch.h"
#include "trace.h"

// Of backward_keys, the longest of the three.
#define REGIONS(X) \
	X(LOAD, "load", LOAD) \
	X(WAIT, "wait for queries", WAIT) \
	X(SCORES, "scores and dP", TENSOR) \
	X(SOFTMAX, "softmax and its gradient", COMPUTE) \
	X(OUTPUT, "dV and dK", TENSOR) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("flash_backward_keys", REGIONS, "warp 0")

static constexpr float LOG2E = 1.4426950408889634f;

template <int D_> struct tiling {
	static constexpr int D = D_, WARPS = 4, RESIDENT = 16 * WARPS, STREAMED = GPU_HIP ? 16 : 32,
	                     THREADS = WARPS * GPU_LANES, ROW_ELEMENTS = D + FLASH_PAD;
	static constexpr int RESIDENT_ELEMENTS = RESIDENT * ROW_ELEMENTS,
	                     STREAMED_ELEMENTS = STREAMED * ROW_ELEMENTS;
	// The resident operands, and two stages of two streamed ones.
	static constexpr int ELEMENTS = 2 * RESIDENT_ELEMENTS + 4 * STREAMED_ELEMENTS;
};

template <typename T> struct backward_tensors {
	const T *q, *k, *v, *o, *d_o;
	const float *lse;
	float *delta; // [b][h][sq], like lse
	T *dq, *dk, *dv;
};

// Offset of row `row` of a head in a tensor [b][rows][heads][D].
template <int D> GPU_INLINE size_t tensor_offset(int batch, int rows, int row, int heads, int head)
{
	return (((size_t)batch * rows + row) * heads + head) * D;
}

template <int D, typename T>
GPU_KERNEL(128, 1)
backward_delta(flash_problem p, backward_tensors<T> t)
{
	size_t row =
	        (size_t)blockIdx.x * (128 / GPU_LANES) + threadIdx.x / GPU_LANES; // of [b][sq][h]
	float sum = 0;
	if (row < (size_t)p.b * p.sq * p.h)
		for (int x = gpu_lane(); x < D; x += GPU_LANES)
			sum += gpu_float(t.o[row * D + x]) * gpu_float(t.d_o[row * D + x]);
	for (int step = GPU_LANES / 2; step > 0; step /= 2)
		sum += gpu_shuffle_xor(sum, step);
	if (row < (size_t)p.b * p.sq * p.h && gpu_lane() == 0) {
		size_t head = row % p.h, query = row / p.h % p.sq, batch = row / p.h / p.sq;
		t.delta[(batch * p.h + head) * p.sq + query] = sum;
	}
}

// 16 resident rows as left operands, from shared memory.
template <class Tiling, typename T> struct shared_rows {
	const T *at;
	GPU_INLINE gpu_left<T> operator()(int, int x) const
	{
		gpu_left<T> a;
		gpu_load<true>(a, at + gpu_warp() * 16 * Tiling::ROW_ELEMENTS + x * 16,
		        Tiling::ROW_ELEMENTS);
		return a;
	}
};

template <class Tiling, typename T> GPU_INLINE void zero(gpu_sum (*s)[Tiling::D / 16])
{
#pragma unroll
	for (int x = 0; x < Tiling::D / 16; x++)
		gpu_zero(s[0][x]);
}

// Stores this warp's rows of a tile, times `factor`; `step` elements between rows.
template <class Tiling, typename T>
GPU_INLINE void store_rows(
        T *to, size_t step, const gpu_sum (*s)[Tiling::D / 16], int valid, float factor)
{
#pragma unroll
	for (int x = 0; x < Tiling::D / 16; x++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e += 2) {
			int row = gpu_warp() * 16 + gpu_row(gpu_slot(e));
			if (row < valid)
				*(uint32_t *)(to + row * step + x * 16 + gpu_column(e)) = gpu_pack(
				        s[0][x].x[e] * factor, s[0][x].x[e + 1] * factor, T());
		}
}

// ---- dK, dV ----

// Scores s and dP become P' and dS'; rows are keys, columns queries.
template <class Tiling>
GPU_INLINE void softmax_gradient_keys(gpu_sum (*s)[Tiling::STREAMED / 16],
        gpu_sum (*dp)[Tiling::STREAMED / 16], const float *lse, const float *delta, float scale,
        int reach)
{
#pragma unroll
	for (int j = 0; j < Tiling::STREAMED / 16; j++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e++) {
			int column = j * 16 + gpu_column(e),
			    row = gpu_warp() * 16 + gpu_row(gpu_slot(e));
			float w = row > column + reach
			                  ? 0
			                  : gpu_exp2(s[0][j].x[e] * scale - lse[column]);
			s[0][j].x[e] = w;
			dp[0][j].x[e] = w * (dp[0][j].x[e] - delta[column]);
		}
}

// The streamed queries, tile after tile, head after head of the group.
struct streamed_tiles {
	int first, tiles, heads; // first query; tiles in a head
};

template <class Tiling, typename T>
GPU_KERNEL(Tiling::THREADS, 1)
backward_keys(flash_problem p, backward_tensors<T> t, float factor)
{
	GPU_DYNAMIC_SHARED(memory);
	__shared__ float lse[2][Tiling::STREAMED], delta[2][Tiling::STREAMED];
	T *ks = (T *)memory, *vs = ks + Tiling::RESIDENT_ELEMENTS,
	  *ring = vs + Tiling::RESIDENT_ELEMENTS;
	int key = (int)blockIdx.x * Tiling::RESIDENT, kv_head = (int)blockIdx.y,
	    batch = (int)blockIdx.z, group = p.h / p.hkv, shift = p.skv - p.sq;
	int first = p.causal ? max(0, key - shift) / Tiling::STREAMED * Tiling::STREAMED : 0,
	    tiles = max(0, gpu_ceil_div(p.sq - first, (int)Tiling::STREAMED));
	size_t kv = tensor_offset<Tiling::D>(batch, p.skv, key, p.hkv, kv_head),
	       kv_step = (size_t)p.hkv * Tiling::D, q_step = (size_t)p.h * Tiling::D;
	gpu_sum dk[1][Tiling::D / 16], dv[1][Tiling::D / 16];
	float next_lse = 0, next_delta = 0;
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	tk_trace_enter(trace, REGION_LOAD);
	zero<Tiling, T>(dk);
	zero<Tiling, T>(dv);
	flash_load_tile<Tiling::RESIDENT, Tiling::D, Tiling::THREADS>(
	        ks, t.k + kv, kv_step, p.skv - key);
	flash_load_tile<Tiling::RESIDENT, Tiling::D, Tiling::THREADS>(
	        vs, t.v + kv, kv_step, p.skv - key);
	auto prefetch = [&](int tile) {
		int head = kv_head * group + tile / tiles,
		    query = first + tile % tiles * Tiling::STREAMED,
		    mine = query + (int)threadIdx.x;
		T *to = ring + tile % 2 * 2 * Tiling::STREAMED_ELEMENTS;
		size_t from = tensor_offset<Tiling::D>(batch, p.sq, query, p.h, head),
		       row = ((size_t)batch * p.h + head) * p.sq + mine;
		flash_load_tile<Tiling::STREAMED, Tiling::D, Tiling::THREADS>(
		        to, t.q + from, q_step, p.sq - query);
		flash_load_tile<Tiling::STREAMED, Tiling::D, Tiling::THREADS>(
		        to + Tiling::STREAMED_ELEMENTS, t.d_o + from, q_step, p.sq - query);
		if ((int)threadIdx.x < Tiling::STREAMED) { // queries beyond sq get weight 0
			next_lse = mine < p.sq ? t.lse[row] * LOG2E : INFINITY;
			next_delta = mine < p.sq ? t.delta[row] : 0;
		}
		gpu_copy_commit();
	};
	auto publish = [&](int tile) {
		if ((int)threadIdx.x < Tiling::STREAMED) {
			lse[tile % 2][threadIdx.x] = next_lse;
			delta[tile % 2][threadIdx.x] = next_delta;
		}
	};
	if (tiles > 0) {
		prefetch(0);
		publish(0);
	}
	for (int tile = 0; tile < tiles * group; tile++) {
		const T *qs = ring + tile % 2 * 2 * Tiling::STREAMED_ELEMENTS,
		        *d_os = qs + Tiling::STREAMED_ELEMENTS;
		gpu_sum s[1][Tiling::STREAMED / 16], dp[1][Tiling::STREAMED / 16];
		tk_trace_enter<0>(trace, REGION_WAIT);
		gpu_copy_wait<0>();
		__syncthreads();
		tk_trace_enter<1>(trace, REGION_LOAD);
		if (tile + 1 < tiles * group)
			prefetch(tile + 1);
		tk_trace_enter<2>(trace, REGION_SCORES);
		flash_scores<Tiling::D, 1, Tiling::STREAMED, T>(s, shared_rows<Tiling, T>{ks}, qs);
		flash_scores<Tiling::D, 1, Tiling::STREAMED, T>(
		        dp, shared_rows<Tiling, T>{vs}, d_os);
		tk_trace_enter<3>(trace, REGION_SOFTMAX);
		softmax_gradient_keys<Tiling>(s, dp, lse[tile % 2], delta[tile % 2], p.scale,
		        p.causal ? first + tile % tiles * Tiling::STREAMED + shift - key : 1 << 30);
		tk_trace_enter<4>(trace, REGION_OUTPUT);
		tk_trace_advance<5>(trace);
		flash_accumulate<Tiling::D, 1, Tiling::STREAMED, T>(dv, s, d_os);
		flash_accumulate<Tiling::D, 1, Tiling::STREAMED, T>(dk, dp, qs);
		if (tile + 1 < tiles * group)
			publish(tile + 1);
	}
	gpu_copy_wait<0>();
	tk_trace_enter(trace, REGION_STORE);
	store_rows<Tiling>(t.dk + kv, kv_step, dk, p.skv - key, factor);
	store_rows<Tiling>(t.dv + kv, kv_step, dv, p.skv - key, 1);
	tk_trace_close(trace);
}

// ---- dQ ----

// dP becomes dS; rows are queries, columns keys.
template <class Tiling>
GPU_INLINE void softmax_gradient_queries(const gpu_sum (*s)[Tiling::STREAMED / 16],
        gpu_sum (*dp)[Tiling::STREAMED / 16], const float *lse, const float *delta, float scale,
        const int *visible)
{
#pragma unroll
	for (int j = 0; j < Tiling::STREAMED / 16; j++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e++) {
			int slot = gpu_slot(e);
			float w = j * 16 + gpu_column(e) >= visible[slot]
			                  ? 0
			                  : gpu_exp2(s[0][j].x[e] * scale - lse[slot]);
			dp[0][j].x[e] = w * (dp[0][j].x[e] - delta[slot]);
		}
}

template <class Tiling, typename T>
GPU_KERNEL(Tiling::THREADS, 1)
backward_queries(flash_problem p, backward_tensors<T> t, float factor)
{
	GPU_DYNAMIC_SHARED(memory);
	T *qs = (T *)memory, *d_os = qs + Tiling::RESIDENT_ELEMENTS,
	  *ring = d_os + Tiling::RESIDENT_ELEMENTS;
	flash_block b = flash_assign_block(p, Tiling::RESIDENT);
	int shift = p.skv - p.sq,
	    end = p.causal ? min(p.skv, max(0, b.first + Tiling::RESIDENT + shift)) : p.skv;
	size_t q = tensor_offset<Tiling::D>(b.batch, p.sq, b.first, p.h, b.head),
	       kv = tensor_offset<Tiling::D>(b.batch, p.skv, 0, p.hkv, b.kv_head);
	size_t q_step = (size_t)p.h * Tiling::D, kv_step = (size_t)p.hkv * Tiling::D,
	       line = ((size_t)b.batch * p.h + b.head) * p.sq;
	gpu_sum dq[1][Tiling::D / 16];
	float lse[GPU_SUM_ROWS], delta[GPU_SUM_ROWS];
	int last[GPU_SUM_ROWS]; // keys that the row sees
#pragma unroll
	for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
		int row = b.first + gpu_warp() * 16 + gpu_row(slot);
		lse[slot] = row < p.sq ? t.lse[line + row] * LOG2E : INFINITY;
		delta[slot] = row < p.sq ? t.delta[line + row] : 0;
		last[slot] = p.causal ? min(p.skv, row + shift + 1) : p.skv;
	}
	zero<Tiling, T>(dq);
	flash_load_tile<Tiling::RESIDENT, Tiling::D, Tiling::THREADS>(
	        qs, t.q + q, q_step, p.sq - b.first);
	flash_load_tile<Tiling::RESIDENT, Tiling::D, Tiling::THREADS>(
	        d_os, t.d_o + q, q_step, p.sq - b.first);
	auto prefetch = [&](int key) {
		T *to = ring + key / Tiling::STREAMED % 2 * 2 * Tiling::STREAMED_ELEMENTS;
		flash_load_tile<Tiling::STREAMED, Tiling::D, Tiling::THREADS>(
		        to, t.k + kv + key * kv_step, kv_step, end - key);
		flash_load_tile<Tiling::STREAMED, Tiling::D, Tiling::THREADS>(
		        to + Tiling::STREAMED_ELEMENTS, t.v + kv + key * kv_step, kv_step,
		        end - key);
		gpu_copy_commit();
	};
	prefetch(0);
	for (int key = 0; key < end; key += Tiling::STREAMED) {
		const T *ks = ring + key / Tiling::STREAMED % 2 * 2 * Tiling::STREAMED_ELEMENTS,
		        *vs = ks + Tiling::STREAMED_ELEMENTS;
		gpu_sum s[1][Tiling::STREAMED / 16], dp[1][Tiling::STREAMED / 16];
		int visible[GPU_SUM_ROWS];
		gpu_copy_wait<0>();
		__syncthreads();
		if (key + Tiling::STREAMED < end)
			prefetch(key + Tiling::STREAMED);
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++)
			visible[slot] = last[slot] - key;
		flash_scores<Tiling::D, 1, Tiling::STREAMED, T>(s, shared_rows<Tiling, T>{qs}, ks);
		flash_scores<Tiling::D, 1, Tiling::STREAMED, T>(
		        dp, shared_rows<Tiling, T>{d_os}, vs);
		softmax_gradient_queries<Tiling>(s, dp, lse, delta, p.scale, visible);
		flash_accumulate<Tiling::D, 1, Tiling::STREAMED, T>(dq, dp, ks);
	}
	gpu_copy_wait<0>();
	store_rows<Tiling>(t.dq + q, q_step, dq, p.sq - b.first, factor);
}

// ---- the host's side ----

template <int D, typename T> static int prepare_as(void)
{
	using Tiling = tiling<D>;
	int status = gpu_allow_shared(backward_keys<Tiling, T>, Tiling::ELEMENTS * sizeof(T));
	return status ? status
	              : gpu_allow_shared(backward_queries<Tiling, T>, Tiling::ELEMENTS * sizeof(T));
}

template <int D, typename T>
static int launch_as(
        const struct tk_attention *a, void *const *t, void *workspace, gpu_stream stream)
{
	using Tiling = tiling<D>;
	constexpr size_t bytes = Tiling::ELEMENTS * sizeof(T);
	flash_problem p = flash_make_problem(a);
	backward_tensors<T> tensors = {(const T *)t[TK_T_Q], (const T *)t[TK_T_K],
	        (const T *)t[TK_T_V], (const T *)t[TK_T_O], (const T *)t[TK_T_DO],
	        (const float *)t[TK_T_LSE], (float *)workspace, (T *)t[TK_T_DQ], (T *)t[TK_T_DK],
	        (T *)t[TK_T_DV]};
	size_t rows = (size_t)a->b * (size_t)a->sq * (size_t)a->h, in_block = 128 / GPU_LANES;
	dim3 keys((unsigned)gpu_ceil_div(p.skv, (int)Tiling::RESIDENT), (unsigned)p.hkv,
	        (unsigned)p.b);
	dim3 queries(
	        (unsigned)gpu_ceil_div(p.sq, (int)Tiling::RESIDENT), (unsigned)p.h, (unsigned)p.b);
	backward_delta<D, T>
	        <<<(unsigned)gpu_ceil_div(rows, in_block), 128, 0, stream>>>(p, tensors);
	backward_keys<Tiling, T>
	        <<<keys, Tiling::THREADS, bytes, stream>>>(p, tensors, (float)a->scale);
	backward_queries<Tiling, T>
	        <<<queries, Tiling::THREADS, bytes, stream>>>(p, tensors, (float)a->scale);
	return gpu_launch_status();
}

size_t flash_backward_workspace(const struct tk_attention *a)
{
	return (size_t)a->b * (size_t)a->h * (size_t)a->sq * sizeof(float);
}

int flash_backward_prepare(const struct tk_attention *a)
{
	if (a->d == 64)
		return a->dtype == TK_F16 ? prepare_as<64, gpu_f16>() : prepare_as<64, gpu_bf16>();
	return a->dtype == TK_F16 ? prepare_as<128, gpu_f16>() : prepare_as<128, gpu_bf16>();
}

int flash_backward_launch(
        const struct tk_attention *a, void *const *t, void *workspace, void *stream)
{
	gpu_stream s = (gpu_stream)stream;
	if (a->d == 64)
		return a->dtype == TK_F16 ? launch_as<64, gpu_f16>(a, t, workspace, s)
		                          : launch_as<64, gpu_bf16>(a, t, workspace, s);
	return a->dtype == TK_F16 ? launch_as<128, gpu_f16>(a, t, workspace, s)
	                          : launch_as<128, gpu_bf16>(a, t, workspace, s);
}
