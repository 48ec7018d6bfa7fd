// Attention forward for sm_90a: O = softmax(scale Q K' + mask) V, after FlashAttention-3 (Shah et
// al., arXiv 2407.08608). Tensors are [b][s][heads][d], f16 or bf16, d = 64, 128, 256. It adds to
// kernels/gpu/flash_forward.cu:
//  - warp specialization: a producer warp loads Q, K and V by TMA; K and V have rings of their own;
//  - each consumer warpgroup has 64 queries and multiplies by wgmma: scores from shared memory, O
//    with P in registers;
//  - intra-warpgroup pipelining: the scores of the next keys are computed beside the output of the
//    last ones;
//  - ping-pong scheduling by named barriers: one warpgroup multiplies during the softmax of the
//    other;
//  - a persistent grid: tiles with the most keys first, in sections of heads whose K and V fit into
//    the L2 cache.
#include "hopper_attention.h"
#include "hopper_flash.h"
#include "trace.h"

enum { STAGES = 2 };

// Of two consumers; recording needs a few registers of the producer's.
#ifdef TK_TRACE
enum { PRODUCER_BUDGET = 40, CONSUMER_BUDGET = 232 };
#else
enum { PRODUCER_BUDGET = 24, CONSUMER_BUDGET = 240 };
#endif

// A record stops the compiler from mixing the instructions around it, which costs 15 to 40 ns where
// nothing else does: records stand beside waits, and narrow heads have fewer.
#define REGIONS(X) \
	X(LOAD_WAIT, "wait for a free stage", WAIT) \
	X(LOAD, "load", LOAD) \
	X(WAIT_Q, "wait for Q", WAIT) \
	X(WAIT_K, "wait for K or the turn", WAIT) \
	X(WAIT_V, "wait for V", WAIT) \
	X(WAIT_OUTPUT, "wait for the output", WAIT) \
	X(SCORES, "scores", TENSOR) \
	X(OUTPUT, "output", TENSOR) \
	X(SOFTMAX, "softmax", COMPUTE) \
	X(RESCALE, "rescale", COMPUTE) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("hopper_flash", REGIONS, "producer", "consumer 1", "consumer 2", "consumer 3")

template <int D_, int KEYS_, int CONSUMERS_> struct kernel_traits {
	static constexpr int D = D_, KEYS = KEYS_, CONSUMERS = CONSUMERS_,
	                     QUERIES = CONSUMERS * GROUP_ROWS, BLOCKS = D / 64;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP;
	static constexpr bool PING_PONG =
	        D < 256; // with wide heads there are too few exponentials to hide
	static constexpr int PRODUCER_REGISTERS = CONSUMERS == 3 ? 32 : PRODUCER_BUDGET,
	                     CONSUMER_REGISTERS = CONSUMERS == 3 ? 160 : CONSUMER_BUDGET;
	static constexpr int Q_BYTES = GROUP_ROWS * D * 2,
	                     KV_BYTES = KEYS * D * 2; // Q_BYTES: of one consumer
	static constexpr int BARRIERS = 2 * CONSUMERS + 4 * STAGES;
	static constexpr int SHARED =
	        CONSUMERS * Q_BYTES + 2 * STAGES * KV_BYTES + BARRIERS * 8 + 1024;
};

#if HOPPER_CODE

// Shared memory addresses. Consumer g has its queries at q + g Q_BYTES, later its output.
struct shared_layout {
	uint32_t q, k, v, q_full, q_empty, k_full, v_full, k_empty, v_empty;
};

template <class Traits> HOPPER_INLINE shared_layout lay_out_shared(unsigned char *memory)
{
	uint32_t q = (shared_address(memory) + 1023) & ~1023u,
	         k = q + Traits::CONSUMERS * Traits::Q_BYTES, v = k + STAGES * Traits::KV_BYTES;
	uint32_t b = v + STAGES * Traits::KV_BYTES, kb = b + 16 * Traits::CONSUMERS;
	return {q, k, v, b, b + 8 * Traits::CONSUMERS, kb, kb + 8 * STAGES, kb + 16 * STAGES,
	        kb + 24 * STAGES};
}

struct tile {
	int first, head, kv_head, batch, blocks; // first query; blocks of keys that any query sees
};

template <class Traits> HOPPER_INLINE tile locate_tile(const hopper_flash_args &p, int tile_index)
{
	tile_assignment d = assign_tile(tile_index, p.tiles, p.b * p.h, p.section);
	int first = (p.tiles - 1 - d.number) * Traits::QUERIES, head = d.head % p.h;
	int end = p.causal ? min(p.skv, first + Traits::QUERIES + p.skv - p.sq) : p.skv;
	return {first, head, head / (p.h / p.hkv), d.head / p.h,
	        (end + Traits::KEYS - 1) / Traits::KEYS};
}

// ---- the producer: one thread ----

template <class Traits>
HOPPER_INLINE void load_block(const CUtensorMap *map, uint32_t to, uint32_t full, uint32_t empty,
        ring<STAGES> &r, const tile &t, int block, tk_trace_ref trace)
{
	tk_trace_enter<0>(trace, REGION_LOAD_WAIT);
	barrier_wait(empty + r.stage * 8, r.phase ^ 1);
	tk_trace_enter<1>(trace, REGION_LOAD);
	tk_trace_advance<2>(trace);
	barrier_expect(full + r.stage * 8, Traits::KV_BYTES);
#pragma unroll
	for (int x = 0; x < Traits::BLOCKS; x++)
		tma_load_4d(to + r.stage * Traits::KV_BYTES + x * Traits::KEYS * ROW_BYTES, map,
		        full + r.stage * 8, x * 64, t.kv_head, block * Traits::KEYS, t.batch);
	r.next();
}

template <class Traits>
HOPPER_INLINE void produce(const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v,
        const hopper_flash_args &p, const shared_layout &s, int tile_count, tk_trace_ref trace)
{
	ring<STAGES> kr = {0, 0}, vr = {0, 0};
	int parity = 1;
	for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
	        tile_index += (int)gridDim.x, parity ^= 1) {
		tile t = locate_tile<Traits>(p, tile_index);
		load_block<Traits>(k, s.k, s.k_full, s.k_empty, kr, t, t.blocks - 1, trace);
		for (int g = 0; g < Traits::CONSUMERS; g++) {
			barrier_wait(s.q_empty + g * 8, parity);
			barrier_expect(s.q_full + g * 8, Traits::Q_BYTES);
			for (int x = 0; x < Traits::BLOCKS; x++)
				tma_load_4d(s.q + g * Traits::Q_BYTES + x * GROUP_ROWS * ROW_BYTES,
				        q, s.q_full + g * 8, x * 64, t.head,
				        t.first + g * GROUP_ROWS, t.batch);
		}
		for (int block = t.blocks - 1; block > 0; block--) {
			load_block<Traits>(k, s.k, s.k_full, s.k_empty, kr, t, block - 1, trace);
			load_block<Traits>(v, s.v, s.v_full, s.v_empty, vr, t, block, trace);
		}
		load_block<Traits>(v, s.v, s.v_full, s.v_empty, vr, t, 0, trace);
	}
}

// ---- the consumers ----

// Masks what a thread's two rows (`row` and 8 further) do not see in a block of keys.
template <class Traits>
HOPPER_INLINE void apply_mask(float *s, const hopper_flash_args &p, int row, int key)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int visible = (p.causal ? min(p.skv, row + half * 8 + p.skv - p.sq + 1) : p.skv) -
		              key - (int)threadIdx.x % 4 * 2;
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 8; i++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				if (i * 8 + e >= visible)
					s[4 * i + 2 * half + e] = -INFINITY;
	}
}

template <class Traits> HOPPER_INLINE void ping_pong_wait(int group)
{
	if (Traits::PING_PONG)
		named_barrier(1 + group, 2 * WARPGROUP);
}
template <class Traits> HOPPER_INLINE void ping_pong_signal(int group)
{
	if (Traits::PING_PONG)
		named_arrive(1 + (group + 1) % Traits::CONSUMERS, 2 * WARPGROUP);
}

// Epilogue: O and log-sum-exp of a tile. The buffer of the queries becomes that of the output.
template <class Traits, class T>
HOPPER_INLINE void store_tile(float *o, softmax &m, const CUtensorMap *map,
        const hopper_flash_args &p, const tile &t, const shared_layout &s, int group)
{
	int thread = (int)threadIdx.x % WARPGROUP, lane = thread % 32;
	int query = t.first + group * GROUP_ROWS + thread / 32 * 16 + lane / 4;
	float normalizer[2];
#pragma unroll
	for (int half = 0; half < 2; half++) {
		float sum = quad_sum(m.sum[half]);
		normalizer[half] = sum > 0 ? 1 / sum : 0;
		if (p.lse && lane % 4 == 0 && query + half * 8 < p.sq)
			p.lse[((size_t)t.batch * p.h + t.head) * p.sq + query + half * 8] =
			        sum > 0 ? (m.max[half] * p.scale + __log2f(sum)) * 0.69314718056f
			                : -INFINITY;
	}
	scale_rows<Traits::D / 2>(o, normalizer);
	uint32_t at = s.q + group * Traits::Q_BYTES;
	store_output<Traits, T>(o, at);
	fence_async();
	named_barrier(8 + group, WARPGROUP);
	if (thread == 0) {
		for (int x = 0; x < Traits::BLOCKS; x++)
			tma_store_4d(map, at + x * GROUP_ROWS * ROW_BYTES, x * 64, t.head,
			        t.first + group * GROUP_ROWS, t.batch);
		tma_store_commit();
		tma_store_wait_read<0>();
		barrier_arrive(s.q_empty + group * 8);
	}
}

// Measured on an H200: converging first costs 8 % with heads of 64 and gains 1 to 3 % with wider
// ones.
template <class Traits> HOPPER_INLINE void release_tile(uint32_t empty)
{
	if (Traits::D > 64)
		release_converged(empty);
	else
		release(empty);
}

template <class Traits, class T>
HOPPER_INLINE void consume_tile(float *o, softmax &m, const hopper_flash_args &p,
        const shared_layout &s, const tile &t, int group, ring<STAGES> &kr, ring<STAGES> &vr,
        tk_trace_ref trace)
{
	// records of a turn: that of the wait is made at the end of the turn before
	constexpr int SCORES = Traits::D > 64 ? 1 : 0,
	              RESCALE = SCORES + (Traits::PING_PONG ? 2 : 3);
	float score[Traits::KEYS / 2];
	uint32_t weight[Traits::KEYS / 4], q = s.q + group * Traits::Q_BYTES;
	int row = t.first + group * GROUP_ROWS + (int)threadIdx.x % WARPGROUP / 32 * 16 +
	          (int)threadIdx.x % 32 / 4;
	int all = p.causal ? min(p.skv, t.first + group * GROUP_ROWS + p.skv - p.sq + 1)
	                   : p.skv; // keys that all queries see
	tk_trace_enter(trace, REGION_WAIT_K);
	barrier_wait(s.k_full + kr.stage * 8, kr.phase);
	wgmma_fence();
	tk_trace_enter(trace, REGION_SCORES);
	issue_scores<Traits, T>(score, q, s.k + kr.stage * Traits::KV_BYTES);
	wgmma_wait<0>();
	tk_trace_enter(trace, REGION_SOFTMAX);
	release_tile<Traits>(s.k_empty + kr.stage * 8);
	kr.next();
	if (t.blocks * Traits::KEYS > all)
		apply_mask<Traits>(score, p, row, (t.blocks - 1) * Traits::KEYS);
	online_softmax<Traits>(m, score, p.scale);
	pack_weights<Traits, T>(weight, score);
	if constexpr (Traits::D > 64)
		tk_trace_enter<0>(trace, REGION_WAIT_K);
	for (int block = t.blocks - 2; block >= 0; block--) {
		ping_pong_wait<Traits>(group);
		barrier_wait(s.k_full + kr.stage * 8, kr.phase);
		tk_trace_begin<SCORES>(trace, REGION_OUTPUT, vr.stage, REGION_SCORES);
		wgmma_fence();
		issue_scores<Traits, T>(score, q, s.k + kr.stage * Traits::KV_BYTES);
		barrier_wait(s.v_full + vr.stage * 8, vr.phase);
		issue_output<Traits, T>(o, weight, s.v + vr.stage * Traits::KV_BYTES, 1);
		ping_pong_signal<Traits>(group);
		wgmma_wait<1>();
		tk_trace_enter<SCORES + 1>(trace, REGION_SOFTMAX);
		release_tile<Traits>(s.k_empty + kr.stage * 8);
		kr.next();
		if ((block + 1) * Traits::KEYS > all)
			apply_mask<Traits>(score, p, row, block * Traits::KEYS);
		online_softmax<Traits>(m, score, p.scale);
		if constexpr (!Traits::PING_PONG)
			tk_trace_enter<SCORES + 2>(trace, REGION_WAIT_OUTPUT);
		wgmma_wait<0>();
		tk_trace_end<RESCALE>(trace, REGION_OUTPUT, vr.stage, REGION_RESCALE);
		release_tile<Traits>(s.v_empty + vr.stage * 8);
		vr.next();
		scale_rows<Traits::D / 2>(o, m.rescale);
		pack_weights<Traits, T>(weight, score);
		tk_trace_advance<RESCALE + 1>(trace);
		if constexpr (Traits::D > 64)
			tk_trace_enter<0>(trace, REGION_WAIT_K);
	}
	tk_trace_enter<1>(trace, REGION_WAIT_V);
	tk_trace_advance<2>(trace);
	barrier_wait(s.v_full + vr.stage * 8, vr.phase);
	wgmma_fence();
	tk_trace_begin(trace, REGION_OUTPUT, vr.stage, REGION_WAIT_OUTPUT);
	issue_output<Traits, T>(o, weight, s.v + vr.stage * Traits::KV_BYTES, 1);
	wgmma_wait<0>();
	tk_trace_end(trace, REGION_OUTPUT, vr.stage, TK_TRACE_NOTHING);
	release_tile<Traits>(s.v_empty + vr.stage * 8);
	vr.next();
}

template <class Traits, class T>
HOPPER_INLINE void consume(const CUtensorMap *o_map, const hopper_flash_args &p,
        const shared_layout &s, int group, int tile_count, tk_trace_ref trace)
{
	ring<STAGES> kr = {0, 0}, vr = {0, 0};
	int parity = 0;
	if (group == Traits::CONSUMERS - 1)
		ping_pong_signal<Traits>(group);
	for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
	        tile_index += (int)gridDim.x, parity ^= 1) {
		tile t = locate_tile<Traits>(p, tile_index);
		float o[Traits::D / 2];
		softmax m = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
		for (int i = 0; i < Traits::D / 2; i++)
			o[i] = 0;
		tk_trace_enter_tile(trace, REGION_WAIT_Q);
		barrier_wait(s.q_full + group * 8, parity);
		consume_tile<Traits, T>(o, m, p, s, t, group, kr, vr, trace);
		tk_trace_enter(trace, REGION_STORE);
		store_tile<Traits, T>(o, m, o_map, p, t, s, group);
	}
	if (group == 0)
		ping_pong_wait<Traits>(group); // consumes the signal of the last turn
	if (threadIdx.x % WARPGROUP == 0)
		tma_store_wait<0>();
}

#endif

template <class Traits, class T>
__global__ void __launch_bounds__(Traits::THREADS, 1)
        hopper_flash(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o,
                const __grid_constant__ hopper_flash_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	shared_layout s = lay_out_shared<Traits>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0),
	    tile_count = p.tiles * p.b * p.h;
	init_barriers<Traits, 2 * STAGES>(
	        s.q_full, s.q_empty, s.k_full, s.k_empty); // and v_full, v_empty, which follow them
	tk_trace_writer trace = tk_trace_open(
	        group == Traits::CONSUMERS ? 0 : group + 1, threadIdx.x % WARPGROUP == 0);
	if (group == Traits::CONSUMERS) {
		registers_release<Traits::PRODUCER_REGISTERS>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<Traits>(&q, &k, &v, p, s, tile_count, trace);
	} else {
		registers_acquire<Traits::CONSUMER_REGISTERS>();
		consume<Traits, T>(&o, p, s, group, tile_count, trace);
	}
	tk_trace_close(trace);
#endif
}

// ---- the host's side ----

using layout_64 = kernel_traits<64, 128, 3>;
using layout_128 = kernel_traits<128, 128, 2>;
using layout_256 = kernel_traits<256, 64, 2>;

extern "C" int hopper_flash_queries(int d)
{
	return d == 64 ? layout_64::QUERIES : d == 128 ? layout_128::QUERIES : layout_256::QUERIES;
}
extern "C" int hopper_flash_keys(int d)
{
	return d == 64 ? layout_64::KEYS : d == 128 ? layout_128::KEYS : layout_256::KEYS;
}

template <class T, class F> static int with_traits(const struct hopper_flash_call *call, F f)
{
	return call->d == 64    ? f(hopper_flash<layout_64, T>, layout_64())
	       : call->d == 128 ? f(hopper_flash<layout_128, T>, layout_128())
	                        : f(hopper_flash<layout_256, T>, layout_256());
}

template <class F> static int with_kernel(const struct hopper_flash_call *call, F f)
{
	return call->dtype == TK_F16 ? with_traits<struct type_f16>(call, f)
	                             : with_traits<struct type_bf16>(call, f);
}

HOPPER_PREPARE(hopper_flash)

extern "C" int hopper_flash_launch(const struct hopper_flash_call *call, void *stream)
{
	return with_kernel(call, [=](auto kernel, auto l) {
		using Traits = decltype(l);
		int tile_count = call->args.tiles * call->args.b * call->args.h;
		kernel<<<hopper_blocks(tile_count, call->multiprocessors), Traits::THREADS,
		        Traits::SHARED, (cudaStream_t)stream>>>(
		        call->q, call->k, call->v, call->o, call->args);
		return (int)cudaGetLastError();
	});
}
