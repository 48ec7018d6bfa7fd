// Attention forward for sm_90a, along the lines of FlashAttention-3 (Shah et al., arXiv 2407.08608). What it adds to kernels/gpu/flash_forward.cu:
//  - a producer warp fetches queries, keys and values with the copy engine; keys and values have rings of their own;
//  - each consumer warpgroup has 64 queries and multiplies with wgmma: scores from shared memory, the output with the weights in registers;
//  - within a warpgroup the scores of the next keys are computed while the output of the last ones is, and their softmax runs beside the latter;
//  - the warpgroups take turns (named barriers): one multiplies while the other is at its exponentials;
//  - blocks stay and take one tile after the other, those with the most keys first, in sections of heads that the L2 cache holds.
#include "hopper_flash.h"
#include "hopper_attention.h"

enum { STAGES = 2 };

template <int D_, int KEYS_, int CONSUMERS_> struct layout {
	static constexpr int D = D_, KEYS = KEYS_, CONSUMERS = CONSUMERS_, QUERIES = CONSUMERS * GROUP_ROWS, BLOCKS = D / 64;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP;
	static constexpr bool TURNS = D < 256; // with wide heads the exponentials are too few to be worth waiting for
	static constexpr int GIVE = CONSUMERS == 3 ? 32 : 24, TAKE = CONSUMERS == 3 ? 160 : 240;
	static constexpr int Q_BYTES = GROUP_ROWS * D * 2, KV_BYTES = KEYS * D * 2; // Q: of one consumer
	static constexpr int BARRIERS = 2 * CONSUMERS + 4 * STAGES;
	static constexpr int SHARED = CONSUMERS * Q_BYTES + 2 * STAGES * KV_BYTES + BARRIERS * 8 + 1024;
};

#if HOPPER_CODE

// Addresses in shared memory. Queries of consumer g at q + g Q_BYTES, later its output.
struct places {
	uint32_t q, k, v, q_full, q_empty, k_full, v_full, k_empty, v_empty;
};

template <class L> HOPPER_INLINE places divide_shared(unsigned char *memory)
{
	uint32_t q = (shared_address(memory) + 1023) & ~1023u, k = q + L::CONSUMERS * L::Q_BYTES, v = k + STAGES * L::KV_BYTES;
	uint32_t b = v + STAGES * L::KV_BYTES, kb = b + 16 * L::CONSUMERS;
	return {q, k, v, b, b + 8 * L::CONSUMERS, kb, kb + 8 * STAGES, kb + 16 * STAGES, kb + 24 * STAGES};
}

struct tile {
	int first, head, kv_head, entry, blocks; // first query; blocks of keys that some query sees
};

template <class L> HOPPER_INLINE tile place_tile(const hopper_flash_args &p, int work)
{
	deal d = assign_tile(work, p.tiles, p.b * p.h, p.section);
	int first = (p.tiles - 1 - d.number) * L::QUERIES, head = d.head % p.h;
	int end = p.causal ? min(p.skv, first + L::QUERIES + p.skv - p.sq) : p.skv;
	return {first, head, head / (p.h / p.hkv), d.head / p.h, (end + L::KEYS - 1) / L::KEYS};
}

// ---- the producer: one thread --------------------------------------------------------------------------------------------------------------

template <class L>
HOPPER_INLINE void fetch_block(const CUtensorMap *map, uint32_t to, uint32_t full, uint32_t empty, ring<STAGES> &r, const tile &t, int block)
{
	barrier_wait(empty + r.stage * 8, r.phase ^ 1);
	barrier_expect(full + r.stage * 8, L::KV_BYTES);
#pragma unroll
	for (int x = 0; x < L::BLOCKS; x++)
		tma_load_4d(to + r.stage * L::KV_BYTES + x * L::KEYS * ROW_BYTES, map, full + r.stage * 8, x * 64, t.kv_head, block * L::KEYS, t.entry);
	r.next();
}

template <class L>
HOPPER_INLINE void produce(const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v, const hopper_flash_args &p, const places &s, int works)
{
	ring<STAGES> kr = {0, 0}, vr = {0, 0};
	int parity = 1;
	for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
		tile t = place_tile<L>(p, work);
		fetch_block<L>(k, s.k, s.k_full, s.k_empty, kr, t, t.blocks - 1);
		for (int g = 0; g < L::CONSUMERS; g++) {
			barrier_wait(s.q_empty + g * 8, parity);
			barrier_expect(s.q_full + g * 8, L::Q_BYTES);
			for (int x = 0; x < L::BLOCKS; x++)
				tma_load_4d(s.q + g * L::Q_BYTES + x * GROUP_ROWS * ROW_BYTES, q, s.q_full + g * 8, x * 64, t.head,
					t.first + g * GROUP_ROWS, t.entry);
		}
		for (int block = t.blocks - 1; block > 0; block--) {
			fetch_block<L>(k, s.k, s.k_full, s.k_empty, kr, t, block - 1);
			fetch_block<L>(v, s.v, s.v_full, s.v_empty, vr, t, block);
		}
		fetch_block<L>(v, s.v, s.v_full, s.v_empty, vr, t, 0);
	}
}

// ---- the consumers -------------------------------------------------------------------------------------------------------------------------

// Hides what row (that of the thread, or 8 further) does not see in a block of keys.
template <class L> HOPPER_INLINE void hide(float *s, const hopper_flash_args &p, int row, int key)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int seen = (p.causal ? min(p.skv, row + half * 8 + p.skv - p.sq + 1) : p.skv) - key - (int)threadIdx.x % 4 * 2;
#pragma unroll
		for (int i = 0; i < L::KEYS / 8; i++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				if (i * 8 + e >= seen)
					s[4 * i + 2 * half + e] = -INFINITY;
	}
}

template <class L> HOPPER_INLINE void take_turn(int group)
{
	if (L::TURNS)
		named_barrier(1 + group, 2 * WARPGROUP);
}
template <class L> HOPPER_INLINE void pass_turn(int group)
{
	if (L::TURNS)
		named_arrive(1 + (group + 1) % L::CONSUMERS, 2 * WARPGROUP);
}

// Output and log-sum-exp of a tile; the room of the queries becomes that of the output.
template <class L, class T>
HOPPER_INLINE void write_tile(float *o, softmax &m, const CUtensorMap *map, const hopper_flash_args &p, const tile &t, const places &s, int group)
{
	int thread = (int)threadIdx.x % WARPGROUP, lane = thread % 32;
	int query = t.first + group * GROUP_ROWS + thread / 32 * 16 + lane / 4;
	float share[2];
#pragma unroll
	for (int half = 0; half < 2; half++) {
		float sum = quad_sum(m.sum[half]);
		share[half] = sum > 0 ? 1 / sum : 0;
		if (p.lse && lane % 4 == 0 && query + half * 8 < p.sq)
			p.lse[((size_t)t.entry * p.h + t.head) * p.sq + query + half * 8] =
				sum > 0 ? (m.max[half] * p.scale + __log2f(sum)) * 0.69314718056f : -INFINITY;
	}
	multiply_rows<L::D / 2>(o, share);
	uint32_t at = s.q + group * L::Q_BYTES;
	store_output<L, T>(o, at);
	fence_async();
	named_barrier(8 + group, WARPGROUP);
	if (thread == 0) {
		for (int x = 0; x < L::BLOCKS; x++)
			tma_store_4d(map, at + x * GROUP_ROWS * ROW_BYTES, x * 64, t.head, t.first + group * GROUP_ROWS, t.entry);
		tma_store_commit();
		tma_store_wait_read<0>();
		barrier_arrive(s.q_empty + group * 8);
	}
}

// With the barrier's instruction heads of 64 take 8 % more, wider ones 1 to 3 % less (H200).
template <class L> HOPPER_INLINE void release_tile(uint32_t empty)
{
	if (L::D > 64)
		release_converged(empty);
	else
		release(empty);
}

template <class L, class T>
HOPPER_INLINE void consume_tile(float *o, softmax &m, const hopper_flash_args &p, const places &s, const tile &t, int group,
	ring<STAGES> &kr, ring<STAGES> &vr)
{
	float score[L::KEYS / 2];
	uint32_t weight[L::KEYS / 4], q = s.q + group * L::Q_BYTES;
	int row = t.first + group * GROUP_ROWS + (int)threadIdx.x % WARPGROUP / 32 * 16 + (int)threadIdx.x % 32 / 4;
	int all = p.causal ? min(p.skv, t.first + group * GROUP_ROWS + p.skv - p.sq + 1) : p.skv; // the first query sees them all
	barrier_wait(s.k_full + kr.stage * 8, kr.phase);
	wgmma_fence();
	issue_scores<L, T>(score, q, s.k + kr.stage * L::KV_BYTES);
	wgmma_wait<0>();
	release_tile<L>(s.k_empty + kr.stage * 8);
	kr.next();
	if (t.blocks * L::KEYS > all)
		hide<L>(score, p, row, (t.blocks - 1) * L::KEYS);
	weigh<L>(m, score, p.scale);
	pack_weights<L, T>(weight, score);
	for (int block = t.blocks - 2; block >= 0; block--) {
		take_turn<L>(group);
		barrier_wait(s.k_full + kr.stage * 8, kr.phase);
		wgmma_fence();
		issue_scores<L, T>(score, q, s.k + kr.stage * L::KV_BYTES);
		barrier_wait(s.v_full + vr.stage * 8, vr.phase);
		issue_output<L, T>(o, weight, s.v + vr.stage * L::KV_BYTES, 1);
		pass_turn<L>(group);
		wgmma_wait<1>();
		release_tile<L>(s.k_empty + kr.stage * 8);
		kr.next();
		if ((block + 1) * L::KEYS > all)
			hide<L>(score, p, row, block * L::KEYS);
		weigh<L>(m, score, p.scale);
		wgmma_wait<0>();
		release_tile<L>(s.v_empty + vr.stage * 8);
		vr.next();
		multiply_rows<L::D / 2>(o, m.shrink);
		pack_weights<L, T>(weight, score);
	}
	barrier_wait(s.v_full + vr.stage * 8, vr.phase);
	wgmma_fence();
	issue_output<L, T>(o, weight, s.v + vr.stage * L::KV_BYTES, 1);
	wgmma_wait<0>();
	release_tile<L>(s.v_empty + vr.stage * 8);
	vr.next();
}

template <class L, class T>
HOPPER_INLINE void consume(const CUtensorMap *o_map, const hopper_flash_args &p, const places &s, int group, int works)
{
	ring<STAGES> kr = {0, 0}, vr = {0, 0};
	int parity = 0;
	if (group == L::CONSUMERS - 1)
		pass_turn<L>(group);
	for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
		tile t = place_tile<L>(p, work);
		float o[L::D / 2];
		softmax m = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
		for (int i = 0; i < L::D / 2; i++)
			o[i] = 0;
		barrier_wait(s.q_full + group * 8, parity);
		consume_tile<L, T>(o, m, p, s, t, group, kr, vr);
		write_tile<L, T>(o, m, o_map, p, t, s, group);
	}
	if (group == 0)
		take_turn<L>(group); // the turn that the last one passed on
	if (threadIdx.x % WARPGROUP == 0)
		tma_store_wait<0>();
}

#endif

template <class L, class T>
__global__ void __launch_bounds__(L::THREADS, 1) hopper_flash(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
	const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o, const __grid_constant__ hopper_flash_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	places s = divide_shared<L>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0), works = p.tiles * p.b * p.h;
	init_barriers<L, 2 * STAGES>(s.q_full, s.q_empty, s.k_full, s.k_empty); // and those of the values behind them
	if (group == L::CONSUMERS) {
		registers_release<L::GIVE>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<L>(&q, &k, &v, p, s, works);
	} else {
		registers_acquire<L::TAKE>();
		consume<L, T>(&o, p, s, group, works);
	}
#endif
}

// ---- the host's side -----------------------------------------------------------------------------------------------------------------------

using layout_64 = layout<64, 128, 3>;
using layout_128 = layout<128, 128, 2>;
using layout_256 = layout<256, 64, 2>;

extern "C" int hopper_flash_queries(int d)
{
	return d == 64 ? layout_64::QUERIES : d == 128 ? layout_128::QUERIES : layout_256::QUERIES;
}
extern "C" int hopper_flash_keys(int d)
{
	return d == 64 ? layout_64::KEYS : d == 128 ? layout_128::KEYS : layout_256::KEYS;
}

template <class T, class F> static int with_layout(const struct hopper_flash_call *call, F f)
{
	return call->d == 64 ? f(hopper_flash<layout_64, T>, layout_64()) : call->d == 128 ? f(hopper_flash<layout_128, T>, layout_128())
											       : f(hopper_flash<layout_256, T>, layout_256());
}

template <class F> static int with_kernel(const struct hopper_flash_call *call, F f)
{
	return call->dtype == TK_F16 ? with_layout<struct type_f16>(call, f) : with_layout<struct type_bf16>(call, f);
}

extern "C" int hopper_flash_prepare(const struct hopper_flash_call *call)
{
	return with_kernel(call, [](auto kernel, auto l) {
		return (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, decltype(l)::SHARED);
	});
}

extern "C" int hopper_flash_launch(const struct hopper_flash_call *call, void *stream)
{
	return with_kernel(call, [=](auto kernel, auto l) {
		using L = decltype(l);
		int works = call->args.tiles * call->args.b * call->args.h;
		unsigned grid = (unsigned)(works < call->multiprocessors ? works : call->multiprocessors);
		kernel<<<grid, L::THREADS, L::SHARED, (cudaStream_t)stream>>>(call->q, call->k, call->v, call->o, call->args);
		return (int)cudaGetLastError();
	});
}
