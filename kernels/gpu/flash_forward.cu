// Attention forward in one pass over the keys, for any length: a block has WARPS times 16 ROWS queries of one head, which stay, and looks at KEYS
// keys at a time. While the scores of a block of keys are computed its values are on their way, while the values are used the next keys.
#include "flash_launch.h"

// KEYS keys a step, ROWS times 16 queries a warp. HELD: queries in registers (else read from shared memory again and again, which leaves
// registers to the output).
template <int D_, int ROWS_, int KEYS_, int WARPS_, bool HELD_> struct tiling {
	static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, WARPS = WARPS_, QUERIES = 16 * ROWS * WARPS, THREADS = WARPS * GPU_LANES;
	static constexpr bool HELD = HELD_;
	static constexpr int LINE = D + FLASH_PAD, Q_ELEMENTS = QUERIES * LINE, KV_ELEMENTS = KEYS * LINE;
	// Held queries pass through the room of keys and values.
	static constexpr int ELEMENTS = HELD ? (Q_ELEMENTS > 2 * KV_ELEMENTS ? Q_ELEMENTS : 2 * KV_ELEMENTS) : Q_ELEMENTS + 2 * KV_ELEMENTS;
};

template <class L, typename T> struct queries {
	const T *shared;
	gpu_left<T> held[L::HELD ? L::ROWS : 1][L::D / 16];

	GPU_INLINE gpu_left<T> read(int i, int x) const
	{
		gpu_left<T> q;
		gpu_load<true>(q, shared + (gpu_warp() * L::ROWS + i) * 16 * L::LINE + x * 16, L::LINE);
		return q;
	}
	GPU_INLINE void hold(void)
	{
		if constexpr (L::HELD)
#pragma unroll
			for (int i = 0; i < L::ROWS; i++)
#pragma unroll
				for (int x = 0; x < L::D / 16; x++)
					held[i][x] = read(i, x);
	}
	GPU_INLINE gpu_left<T> operator()(int i, int x) const
	{
		if constexpr (L::HELD)
			return held[i][x];
		else
			return read(i, x);
	}
};

template <class L, typename T> GPU_INLINE void write(const flash_rows<L::D, L::ROWS> &r, const flash_problem &p, const flash_block &b, T *o, float *lse)
{
#pragma unroll
	for (int i = 0; i < L::ROWS; i++)
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
			int row = b.first + (gpu_warp() * L::ROWS + i) * 16 + gpu_row(slot);
			if (row >= p.sq)
				continue;
			T *to = o + ((size_t)(b.entry * p.sq + row) * p.h + b.head) * L::D;
			if (lse && gpu_column(0) == 0)
				lse[(size_t)(b.entry * p.h + b.head) * p.sq + row] = r.sum[i][slot];
#pragma unroll
			for (int x = 0; x < L::D / 16; x++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e += 2)
					if (gpu_slot(e) == slot)
						*(uint32_t *)(to + x * 16 + gpu_column(e)) = gpu_pack(r.o[i][x].x[e], r.o[i][x].x[e + 1], T());
		}
}

template <class L, typename T>
GPU_KERNEL(L::THREADS, 1) flash_forward(flash_problem p, const T *q, const T *k, const T *v, T *o, float *lse)
{
	GPU_DYNAMIC_SHARED(memory);
	T *qs = (T *)memory, *ks = L::HELD ? qs : qs + L::Q_ELEMENTS, *vs = ks + L::KV_ELEMENTS;
	flash_block b = flash_assign_block(p, L::QUERIES);
	size_t q_step = (size_t)p.h * L::D, kv_step = (size_t)p.hkv * L::D;
	q += ((size_t)(b.entry * p.sq + b.first) * p.h + b.head) * L::D;
	k += ((size_t)b.entry * p.skv * p.hkv + b.kv_head) * L::D;
	v += ((size_t)b.entry * p.skv * p.hkv + b.kv_head) * L::D;
	// The first query sees keys below `all`, the last one those below `end`.
	int end = p.causal ? min(p.skv, max(0, b.first + L::QUERIES + p.skv - p.sq)) : p.skv;
	int all = p.causal ? b.first + p.skv - p.sq + 1 : p.skv, warp_row = b.first + gpu_warp() * L::ROWS * 16;
	queries<L, T> query;
	flash_rows<L::D, L::ROWS> r;
	query.shared = qs;
	flash_begin(r);
	flash_load_tile<L::QUERIES, L::D, L::THREADS>(qs, q, q_step, p.sq - b.first);
	gpu_copy_commit();
	if (L::HELD) {
		gpu_copy_wait<0>();
		__syncthreads();
		query.hold();
		__syncthreads();
	}
	flash_load_tile<L::KEYS, L::D, L::THREADS>(ks, k, kv_step, end);
	gpu_copy_commit();
	for (int key = 0; key < end; key += L::KEYS) {
		gpu_sum s[L::ROWS][L::KEYS / 16];
		gpu_copy_wait<0>();
		__syncthreads();
		flash_load_tile<L::KEYS, L::D, L::THREADS>(vs, v + key * kv_step, kv_step, end - key);
		gpu_copy_commit();
		flash_scores<L::D, L::ROWS, L::KEYS, T>(s, query, ks);
		gpu_copy_wait<0>();
		__syncthreads();
		if (key + L::KEYS < end)
			flash_load_tile<L::KEYS, L::D, L::THREADS>(ks, k + (key + L::KEYS) * kv_step, kv_step, end - key - L::KEYS);
		gpu_copy_commit();
		if (key + L::KEYS > min(all, end))
			flash_mask<L::ROWS, L::KEYS, false>(s, [&](int row) {
				return (p.causal ? min(p.skv, warp_row + row + p.skv - p.sq + 1) : p.skv) - key;
			});
		flash_softmax<L::D, L::ROWS, L::KEYS>(r, s, p.scale);
		flash_accumulate<L::D, L::ROWS, L::KEYS, T>(r.o, s, vs);
	}
	gpu_copy_wait<0>();
	flash_finish(r, p.scale);
	write<L>(r, p, b, o, lse);
}

#if GPU_HIP // 64 KiB of shared memory; twice the lanes share a tile's registers
template <int D, int config> using tiling_of = tiling<D, 1, D == 256 ? 32 : 64, 4, true>;
#else
// The first has 64 keys a step where the head dimension is 64, else 32; the second the other number.
template <int D, int config>
using tiling_of = tiling<D, D == 256 || config == 2 ? 1 : 2, (D == 64) != (config == 1) ? 64 : 32, 4, (D == 64 || (D == 128 && config == 2))>;
#endif

template <int D, int config, typename T> static int prepare_as(void)
{
	using L = tiling_of<D, config>;
	return gpu_allow_shared(flash_forward<L, T>, L::ELEMENTS * sizeof(T));
}

template <int D, int config, typename T> static int launch_as(const struct tk_attention *a, void *const *t, void *stream)
{
	using L = tiling_of<D, config>;
	dim3 grid((unsigned)gpu_ceil_div(a->sq, (int64_t)L::QUERIES), (unsigned)a->h, (unsigned)a->b);
	flash_forward<L, T><<<grid, L::THREADS, L::ELEMENTS * sizeof(T), (gpu_stream)stream>>>(
		flash_make_problem(a), (const T *)t[TK_T_Q], (const T *)t[TK_T_K], (const T *)t[TK_T_V], (T *)t[TK_T_O], (float *)t[TK_T_LSE]);
	return gpu_launch_status();
}

template <int config> static int prepare_config(const struct tk_attention *a)
{
	return FLASH_BY_SHAPE(a, prepare_as, config);
}
template <int config> static int launch_config(const struct tk_attention *a, void *const *t, void *stream)
{
	return FLASH_BY_SHAPE(a, launch_as, config, a, t, stream);
}

int flash_forward_prepare(const struct tk_attention *a, uint32_t config)
{
#if !GPU_HIP
	if (config)
		return config == 1 ? prepare_config<1>(a) : prepare_config<2>(a);
#endif
	return prepare_config<0>(a);
}

int flash_forward_launch(const struct tk_attention *a, uint32_t config, void *const *t, void *stream)
{
#if !GPU_HIP
	if (config)
		return config == 1 ? launch_config<1>(a, t, stream) : launch_config<2>(a, t, stream);
#endif
	return launch_config<0>(a, t, stream);
}
