// The backward pass of attention from Q K V O LSE dO (Dao et al., FlashAttention, 2022, appendix B.2), in three kernels and without a sum in any
// order: equal bits on repeated runs. The scores are computed twice, once for each side of the gradients:
//
//   backward_delta    delta = dO o', a warp a row
//   backward_keys     a block stays with its keys and goes through the queries of all heads of the group:  dV += P' dO,  dK += dS' Q
//   backward_queries  a block stays with its queries and goes through the keys:  dQ += dS K
//
// with P = exp(scale q k' - lse), dS = P (dO v' - delta). backward_keys works on the transposed scores, so that P' and dS' are left operands
// where they were computed, in registers.
#include "flash_launch.h"

static constexpr float LOG2E = 1.4426950408889634f;

template <int D_> struct tiling {
	static constexpr int D = D_, WARPS = 4, STAY = 16 * WARPS, PASS = GPU_HIP ? 16 : 32, THREADS = WARPS * GPU_LANES, LINE = D + FLASH_PAD;
	static constexpr int STAY_ELEMENTS = STAY * LINE, PASS_ELEMENTS = PASS * LINE;
	// What stays, and two pairs of what passes.
	static constexpr int ELEMENTS = 2 * STAY_ELEMENTS + 4 * PASS_ELEMENTS;
};

template <typename T> struct backward_tensors {
	const T *q, *k, *v, *o, *d_o;
	const float *lse;
	float *delta; // [b][h][sq], as lse
	T *dq, *dk, *dv;
};

// Entry (i, head) of a tensor [b][rows][heads][D].
template <int D> GPU_INLINE size_t place(int entry, int rows, int row, int heads, int head)
{
	return (((size_t)entry * rows + row) * heads + head) * D;
}

template <int D, typename T> GPU_KERNEL(128, 1) backward_delta(flash_problem p, backward_tensors<T> t)
{
	size_t row = (size_t)blockIdx.x * (128 / GPU_LANES) + threadIdx.x / GPU_LANES; // of [b][sq][h]
	float sum = 0;
	if (row < (size_t)p.b * p.sq * p.h)
		for (int x = gpu_lane(); x < D; x += GPU_LANES)
			sum += gpu_float(t.o[row * D + x]) * gpu_float(t.d_o[row * D + x]);
	for (int step = GPU_LANES / 2; step > 0; step /= 2)
		sum += gpu_shuffle_xor(sum, step);
	if (row < (size_t)p.b * p.sq * p.h && gpu_lane() == 0) {
		size_t head = row % p.h, query = row / p.h % p.sq, entry = row / p.h / p.sq;
		t.delta[(entry * p.h + head) * p.sq + query] = sum;
	}
}

// 16 rows of what stays, as left operands out of shared memory.
template <class L, typename T> struct rows_of {
	const T *at;
	GPU_INLINE gpu_left<T> operator()(int, int x) const
	{
		gpu_left<T> a;
		gpu_load<true>(a, at + gpu_warp() * 16 * L::LINE + x * 16, L::LINE);
		return a;
	}
};

template <class L, typename T> GPU_INLINE void zero(gpu_sum (*s)[L::D / 16])
{
#pragma unroll
	for (int x = 0; x < L::D / 16; x++)
		gpu_zero(s[0][x]);
}

// Rows [first, ...) of this warp into a tensor, times `factor`; `step` between rows.
template <class L, typename T> GPU_INLINE void write(T *to, size_t step, const gpu_sum (*s)[L::D / 16], int valid, float factor)
{
#pragma unroll
	for (int x = 0; x < L::D / 16; x++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e += 2) {
			int row = gpu_warp() * 16 + gpu_row(gpu_slot(e));
			if (row < valid)
				*(uint32_t *)(to + row * step + x * 16 + gpu_column(e)) =
					gpu_pack(s[0][x].x[e] * factor, s[0][x].x[e + 1] * factor, T());
		}
}

// ---- dK, dV ----------------------------------------------------------------------------------------------------------------------------------

// Turns scores s and dP into P' and dS': rows are keys, columns queries.
template <class L>
GPU_INLINE void weigh_keys(gpu_sum (*s)[L::PASS / 16], gpu_sum (*dp)[L::PASS / 16], const float *lse, const float *delta, float scale, int reach)
{
#pragma unroll
	for (int j = 0; j < L::PASS / 16; j++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e++) {
			int column = j * 16 + gpu_column(e), row = gpu_warp() * 16 + gpu_row(gpu_slot(e));
			float w = row > column + reach ? 0 : gpu_exp2(s[0][j].x[e] * scale - lse[column]);
			s[0][j].x[e] = w;
			dp[0][j].x[e] = w * (dp[0][j].x[e] - delta[column]);
		}
}

// The passing queries, tile after tile, head after head of the group.
struct passing {
	int first, tiles, heads; // first query; tiles in a head
};

template <class L, typename T> GPU_KERNEL(L::THREADS, 1) backward_keys(flash_problem p, backward_tensors<T> t, float factor)
{
	GPU_DYNAMIC_SHARED(memory);
	__shared__ float lse[2][L::PASS], delta[2][L::PASS];
	T *ks = (T *)memory, *vs = ks + L::STAY_ELEMENTS, *ring = vs + L::STAY_ELEMENTS;
	int key = (int)blockIdx.x * L::STAY, kv_head = (int)blockIdx.y, entry = (int)blockIdx.z, group = p.h / p.hkv, shift = p.skv - p.sq;
	int first = p.causal ? max(0, key - shift) / L::PASS * L::PASS : 0, tiles = max(0, gpu_ceil_div(p.sq - first, (int)L::PASS));
	size_t kv = place<L::D>(entry, p.skv, key, p.hkv, kv_head), kv_step = (size_t)p.hkv * L::D, q_step = (size_t)p.h * L::D;
	gpu_sum dk[1][L::D / 16], dv[1][L::D / 16];
	float next_lse = 0, next_delta = 0;
	zero<L, T>(dk);
	zero<L, T>(dv);
	flash_load_tile<L::STAY, L::D, L::THREADS>(ks, t.k + kv, kv_step, p.skv - key);
	flash_load_tile<L::STAY, L::D, L::THREADS>(vs, t.v + kv, kv_step, p.skv - key);
	auto ask = [&](int tile) {
		int head = kv_head * group + tile / tiles, query = first + tile % tiles * L::PASS, mine = query + (int)threadIdx.x;
		T *to = ring + tile % 2 * 2 * L::PASS_ELEMENTS;
		size_t from = place<L::D>(entry, p.sq, query, p.h, head), row = ((size_t)entry * p.h + head) * p.sq + mine;
		flash_load_tile<L::PASS, L::D, L::THREADS>(to, t.q + from, q_step, p.sq - query);
		flash_load_tile<L::PASS, L::D, L::THREADS>(to + L::PASS_ELEMENTS, t.d_o + from, q_step, p.sq - query);
		if ((int)threadIdx.x < L::PASS) { // a query that is not there has weight 0
			next_lse = mine < p.sq ? t.lse[row] * LOG2E : INFINITY;
			next_delta = mine < p.sq ? t.delta[row] : 0;
		}
		gpu_copy_commit();
	};
	auto keep = [&](int tile) {
		if ((int)threadIdx.x < L::PASS) {
			lse[tile % 2][threadIdx.x] = next_lse;
			delta[tile % 2][threadIdx.x] = next_delta;
		}
	};
	if (tiles > 0) {
		ask(0);
		keep(0);
	}
	for (int tile = 0; tile < tiles * group; tile++) {
		const T *qs = ring + tile % 2 * 2 * L::PASS_ELEMENTS, *d_os = qs + L::PASS_ELEMENTS;
		gpu_sum s[1][L::PASS / 16], dp[1][L::PASS / 16];
		gpu_copy_wait<0>();
		__syncthreads();
		if (tile + 1 < tiles * group)
			ask(tile + 1);
		flash_scores<L::D, 1, L::PASS, T>(s, rows_of<L, T>{ks}, qs);
		flash_scores<L::D, 1, L::PASS, T>(dp, rows_of<L, T>{vs}, d_os);
		weigh_keys<L>(s, dp, lse[tile % 2], delta[tile % 2], p.scale, p.causal ? first + tile % tiles * L::PASS + shift - key : 1 << 30);
		flash_accumulate<L::D, 1, L::PASS, T>(dv, s, d_os);
		flash_accumulate<L::D, 1, L::PASS, T>(dk, dp, qs);
		if (tile + 1 < tiles * group)
			keep(tile + 1);
	}
	gpu_copy_wait<0>();
	write<L>(t.dk + kv, kv_step, dk, p.skv - key, factor);
	write<L>(t.dv + kv, kv_step, dv, p.skv - key, 1);
}

// ---- dQ --------------------------------------------------------------------------------------------------------------------------------------

// dP becomes dS; rows are queries, columns keys.
template <class L>
GPU_INLINE void weigh_queries(const gpu_sum (*s)[L::PASS / 16], gpu_sum (*dp)[L::PASS / 16], const float *lse, const float *delta, float scale, const int *seen)
{
#pragma unroll
	for (int j = 0; j < L::PASS / 16; j++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e++) {
			int slot = gpu_slot(e);
			float w = j * 16 + gpu_column(e) >= seen[slot] ? 0 : gpu_exp2(s[0][j].x[e] * scale - lse[slot]);
			dp[0][j].x[e] = w * (dp[0][j].x[e] - delta[slot]);
		}
}

template <class L, typename T> GPU_KERNEL(L::THREADS, 1) backward_queries(flash_problem p, backward_tensors<T> t, float factor)
{
	GPU_DYNAMIC_SHARED(memory);
	T *qs = (T *)memory, *d_os = qs + L::STAY_ELEMENTS, *ring = d_os + L::STAY_ELEMENTS;
	flash_block b = flash_assign_block(p, L::STAY);
	int shift = p.skv - p.sq, end = p.causal ? min(p.skv, max(0, b.first + L::STAY + shift)) : p.skv;
	size_t q = place<L::D>(b.entry, p.sq, b.first, p.h, b.head), kv = place<L::D>(b.entry, p.skv, 0, p.hkv, b.kv_head);
	size_t q_step = (size_t)p.h * L::D, kv_step = (size_t)p.hkv * L::D, line = ((size_t)b.entry * p.h + b.head) * p.sq;
	gpu_sum dq[1][L::D / 16];
	float lse[GPU_SUM_ROWS], delta[GPU_SUM_ROWS];
	int last[GPU_SUM_ROWS]; // keys that the row sees
#pragma unroll
	for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
		int row = b.first + gpu_warp() * 16 + gpu_row(slot);
		lse[slot] = row < p.sq ? t.lse[line + row] * LOG2E : INFINITY;
		delta[slot] = row < p.sq ? t.delta[line + row] : 0;
		last[slot] = p.causal ? min(p.skv, row + shift + 1) : p.skv;
	}
	zero<L, T>(dq);
	flash_load_tile<L::STAY, L::D, L::THREADS>(qs, t.q + q, q_step, p.sq - b.first);
	flash_load_tile<L::STAY, L::D, L::THREADS>(d_os, t.d_o + q, q_step, p.sq - b.first);
	auto ask = [&](int key) {
		T *to = ring + key / L::PASS % 2 * 2 * L::PASS_ELEMENTS;
		flash_load_tile<L::PASS, L::D, L::THREADS>(to, t.k + kv + key * kv_step, kv_step, end - key);
		flash_load_tile<L::PASS, L::D, L::THREADS>(to + L::PASS_ELEMENTS, t.v + kv + key * kv_step, kv_step, end - key);
		gpu_copy_commit();
	};
	ask(0);
	for (int key = 0; key < end; key += L::PASS) {
		const T *ks = ring + key / L::PASS % 2 * 2 * L::PASS_ELEMENTS, *vs = ks + L::PASS_ELEMENTS;
		gpu_sum s[1][L::PASS / 16], dp[1][L::PASS / 16];
		int seen[GPU_SUM_ROWS];
		gpu_copy_wait<0>();
		__syncthreads();
		if (key + L::PASS < end)
			ask(key + L::PASS);
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++)
			seen[slot] = last[slot] - key;
		flash_scores<L::D, 1, L::PASS, T>(s, rows_of<L, T>{qs}, ks);
		flash_scores<L::D, 1, L::PASS, T>(dp, rows_of<L, T>{d_os}, vs);
		weigh_queries<L>(s, dp, lse, delta, p.scale, seen);
		flash_accumulate<L::D, 1, L::PASS, T>(dq, dp, ks);
	}
	gpu_copy_wait<0>();
	write<L>(t.dq + q, q_step, dq, p.sq - b.first, factor);
}

// ---- the host's side -------------------------------------------------------------------------------------------------------------------------

template <int D, typename T> static int prepare_as(void)
{
	using L = tiling<D>;
	int status = gpu_allow_shared(backward_keys<L, T>, L::ELEMENTS * sizeof(T));
	return status ? status : gpu_allow_shared(backward_queries<L, T>, L::ELEMENTS * sizeof(T));
}

template <int D, typename T> static int launch_as(const struct tk_attention *a, void *const *t, void *workspace, gpu_stream stream)
{
	using L = tiling<D>;
	constexpr size_t bytes = L::ELEMENTS * sizeof(T);
	flash_problem p = flash_make_problem(a);
	backward_tensors<T> tensors = {(const T *)t[TK_T_Q], (const T *)t[TK_T_K], (const T *)t[TK_T_V], (const T *)t[TK_T_O], (const T *)t[TK_T_DO],
		(const float *)t[TK_T_LSE], (float *)workspace, (T *)t[TK_T_DQ], (T *)t[TK_T_DK], (T *)t[TK_T_DV]};
	size_t rows = (size_t)a->b * (size_t)a->sq * (size_t)a->h, in_block = 128 / GPU_LANES;
	dim3 keys((unsigned)gpu_ceil_div(p.skv, (int)L::STAY), (unsigned)p.hkv, (unsigned)p.b);
	dim3 queries((unsigned)gpu_ceil_div(p.sq, (int)L::STAY), (unsigned)p.h, (unsigned)p.b);
	backward_delta<D, T><<<(unsigned)gpu_ceil_div(rows, in_block), 128, 0, stream>>>(p, tensors);
	backward_keys<L, T><<<keys, L::THREADS, bytes, stream>>>(p, tensors, (float)a->scale);
	backward_queries<L, T><<<queries, L::THREADS, bytes, stream>>>(p, tensors, (float)a->scale);
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

int flash_backward_launch(const struct tk_attention *a, void *const *t, void *workspace, void *stream)
{
	gpu_stream s = (gpu_stream)stream;
	if (a->d == 64)
		return a->dtype == TK_F16 ? launch_as<64, gpu_f16>(a, t, workspace, s) : launch_as<64, gpu_bf16>(a, t, workspace, s);
	return a->dtype == TK_F16 ? launch_as<128, gpu_f16>(a, t, workspace, s) : launch_as<128, gpu_bf16>(a, t, workspace, s);
}
