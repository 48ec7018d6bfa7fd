// Attention forward: O = softmax(scale Q K' + mask) V in one pass over the keys, for any length
// (FlashAttention-2, Dao, 2023). Tensors are [b][s][heads][d], f16 or bf16, d = 64, 128, 256. A
// block keeps WARPS times 16 ROWS queries of one head and streams KEYS keys at a time. The values
// of a step are loaded during its scores, the next keys during its output.
#include "flash_launch.h"
#include "trace.h"

#define REGIONS(X) \
	X(LOAD, "load", LOAD) \
	X(WAIT_K, "wait for K", WAIT) \
	X(WAIT_V, "wait for V", WAIT) \
	X(SCORES, "scores", TENSOR) \
	X(SOFTMAX, "softmax", COMPUTE) \
	X(OUTPUT, "output", TENSOR) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("flash_forward", REGIONS, "warp 0")

// KEYS keys a step, ROWS times 16 queries a warp. IN_REGISTERS: queries stay in registers;
// otherwise they are read from shared memory in every step, which leaves registers for the output.
template <int D_, int ROWS_, int KEYS_, int WARPS_, bool HELD_> struct tiling {
	static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, WARPS = WARPS_,
	                     QUERIES = 16 * ROWS * WARPS, THREADS = WARPS * GPU_LANES;
	static constexpr bool IN_REGISTERS = HELD_;
	static constexpr int ROW_ELEMENTS = D + FLASH_PAD, Q_ELEMENTS = QUERIES * ROW_ELEMENTS,
	                     KV_ELEMENTS = KEYS * ROW_ELEMENTS;
	// Queries for registers pass through the buffers of keys and values.
	static constexpr int ELEMENTS =
	        IN_REGISTERS ? (Q_ELEMENTS > 2 * KV_ELEMENTS ? Q_ELEMENTS : 2 * KV_ELEMENTS)
	                     : Q_ELEMENTS + 2 * KV_ELEMENTS;
};

template <class Tiling, typename T> struct queries {
	const T *shared;
	gpu_left<T> registers[Tiling::IN_REGISTERS ? Tiling::ROWS : 1][Tiling::D / 16];

	GPU_INLINE gpu_left<T> read(int i, int x) const
	{
		gpu_left<T> q;
		gpu_load<true>(q,
		        shared + (gpu_warp() * Tiling::ROWS + i) * 16 * Tiling::ROW_ELEMENTS +
		                x * 16,
		        Tiling::ROW_ELEMENTS);
		return q;
	}
	GPU_INLINE void load_registers(void)
	{
		if constexpr (Tiling::IN_REGISTERS)
#pragma unroll
			for (int i = 0; i < Tiling::ROWS; i++)
#pragma unroll
				for (int x = 0; x < Tiling::D / 16; x++)
					registers[i][x] = read(i, x);
	}
	GPU_INLINE gpu_left<T> operator()(int i, int x) const
	{
		if constexpr (Tiling::IN_REGISTERS)
			return registers[i][x];
		else
			return read(i, x);
	}
};

template <class Tiling, typename T>
GPU_INLINE void store_rows(const flash_rows<Tiling::D, Tiling::ROWS> &r, const flash_problem &p,
        const flash_block &b, T *o, float *lse)
{
#pragma unroll
	for (int i = 0; i < Tiling::ROWS; i++)
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
			int row = b.first + (gpu_warp() * Tiling::ROWS + i) * 16 + gpu_row(slot);
			if (row >= p.sq)
				continue;
			T *to = o + ((size_t)(b.batch * p.sq + row) * p.h + b.head) * Tiling::D;
			if (lse && gpu_column(0) == 0)
				lse[(size_t)(b.batch * p.h + b.head) * p.sq + row] = r.sum[i][slot];
#pragma unroll
			for (int x = 0; x < Tiling::D / 16; x++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e += 2)
					if (gpu_slot(e) == slot)
						*(uint32_t *)(to + x * 16 + gpu_column(e)) =
						        gpu_pack(r.o[i][x].x[e], r.o[i][x].x[e + 1],
						                T());
		}
}

template <class Tiling, typename T>
GPU_KERNEL(Tiling::THREADS, 1)
flash_forward(flash_problem p, const T *q, const T *k, const T *v, T *o, float *lse)
{
	GPU_DYNAMIC_SHARED(memory);
	T *qs = (T *)memory, *ks = Tiling::IN_REGISTERS ? qs : qs + Tiling::Q_ELEMENTS,
	  *vs = ks + Tiling::KV_ELEMENTS;
	flash_block b = flash_assign_block(p, Tiling::QUERIES);
	size_t q_step = (size_t)p.h * Tiling::D, kv_step = (size_t)p.hkv * Tiling::D;
	q += ((size_t)(b.batch * p.sq + b.first) * p.h + b.head) * Tiling::D;
	k += ((size_t)b.batch * p.skv * p.hkv + b.kv_head) * Tiling::D;
	v += ((size_t)b.batch * p.skv * p.hkv + b.kv_head) * Tiling::D;
	// The first query sees keys below `all`, the last one keys below `end`.
	int end = p.causal ? min(p.skv, max(0, b.first + Tiling::QUERIES + p.skv - p.sq)) : p.skv;
	int all = p.causal ? b.first + p.skv - p.sq + 1 : p.skv,
	    warp_row = b.first + gpu_warp() * Tiling::ROWS * 16;
	queries<Tiling, T> query;
	flash_rows<Tiling::D, Tiling::ROWS> r;
	query.shared = qs;
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	tk_trace_enter(trace, REGION_LOAD);
	flash_begin(r);
	flash_load_tile<Tiling::QUERIES, Tiling::D, Tiling::THREADS>(qs, q, q_step, p.sq - b.first);
	gpu_copy_commit();
	if (Tiling::IN_REGISTERS) {
		gpu_copy_wait<0>();
		__syncthreads();
		query.load_registers();
		__syncthreads();
	}
	flash_load_tile<Tiling::KEYS, Tiling::D, Tiling::THREADS>(ks, k, kv_step, end);
	gpu_copy_commit();
	for (int key = 0; key < end; key += Tiling::KEYS) {
		gpu_sum s[Tiling::ROWS][Tiling::KEYS / 16];
		tk_trace_enter<0>(trace, REGION_WAIT_K);
		gpu_copy_wait<0>();
		__syncthreads();
		tk_trace_enter<1>(trace, REGION_LOAD);
		flash_load_tile<Tiling::KEYS, Tiling::D, Tiling::THREADS>(
		        vs, v + key * kv_step, kv_step, end - key);
		gpu_copy_commit();
		tk_trace_enter<2>(trace, REGION_SCORES);
		flash_scores<Tiling::D, Tiling::ROWS, Tiling::KEYS, T>(s, query, ks);
		tk_trace_enter<3>(trace, REGION_WAIT_V);
		gpu_copy_wait<0>();
		__syncthreads();
		tk_trace_enter<4>(trace, REGION_LOAD);
		if (key + Tiling::KEYS < end)
			flash_load_tile<Tiling::KEYS, Tiling::D, Tiling::THREADS>(ks,
			        k + (key + Tiling::KEYS) * kv_step, kv_step,
			        end - key - Tiling::KEYS);
		gpu_copy_commit();
		tk_trace_enter<5>(trace, REGION_SOFTMAX);
		if (key + Tiling::KEYS > min(all, end))
			flash_mask<Tiling::ROWS, Tiling::KEYS, false>(s, [&](int row) {
				return (p.causal ? min(p.skv, warp_row + row + p.skv - p.sq + 1)
				                 : p.skv) -
				       key;
			});
		flash_softmax<Tiling::D, Tiling::ROWS, Tiling::KEYS>(r, s, p.scale);
		tk_trace_enter<6>(trace, REGION_OUTPUT);
		tk_trace_advance<7>(trace);
		flash_accumulate<Tiling::D, Tiling::ROWS, Tiling::KEYS, T>(r.o, s, vs);
	}
	gpu_copy_wait<0>();
	tk_trace_enter(trace, REGION_STORE);
	flash_finish(r, p.scale);
	store_rows<Tiling>(r, p, b, o, lse);
	tk_trace_close(trace);
}

#if GPU_HIP // 64 KiB of shared memory; twice the lanes share a tile's registers
template <int D, int config> using tiling_of = tiling<D, 1, D == 256 ? 32 : 64, 4, true>;
#else
// Configuration 0 has 64 keys a step with heads of 64, else 32; configuration 1 the other number.
template <int D, int config>
using tiling_of = tiling<D, D == 256 || config == 2 ? 1 : 2, (D == 64) != (config == 1) ? 64 : 32,
        4, (D == 64 || (D == 128 && config == 2))>;
#endif

template <int D, int config, typename T> static int prepare_as(void)
{
	using Tiling = tiling_of<D, config>;
	return gpu_allow_shared(flash_forward<Tiling, T>, Tiling::ELEMENTS * sizeof(T));
}

template <int D, int config, typename T>
static int launch_as(const struct tk_attention *a, void *const *t, void *stream)
{
	using Tiling = tiling_of<D, config>;
	dim3 grid((unsigned)gpu_ceil_div(a->sq, (int64_t)Tiling::QUERIES), (unsigned)a->h,
	        (unsigned)a->b);
	flash_forward<Tiling, T>
	        <<<grid, Tiling::THREADS, Tiling::ELEMENTS * sizeof(T), (gpu_stream)stream>>>(
	                flash_make_problem(a), (const T *)t[TK_T_Q], (const T *)t[TK_T_K],
	                (const T *)t[TK_T_V], (T *)t[TK_T_O], (float *)t[TK_T_LSE]);
	return gpu_launch_status();
}

template <int config> static int prepare_config(const struct tk_attention *a)
{
	return FLASH_BY_SHAPE(a, prepare_as, config);
}
template <int config>
static int launch_config(const struct tk_attention *a, void *const *t, void *stream)
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

int flash_forward_launch(
        const struct tk_attention *a, uint32_t config, void *const *t, void *stream)
{
#if !GPU_HIP
	if (config)
		return config == 1 ? launch_config<1>(a, t, stream)
		                   : launch_config<2>(a, t, stream);
#endif
	return launch_config<0>(a, t, stream);
}
