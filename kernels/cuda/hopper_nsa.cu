// Native sparse attention forward for sm_90a (Yuan et al., arXiv 2502.11089): branches "selected
// blocks" and "sliding window". Tensors are [b][s][heads][d], f16 or bf16, d = 64 or 128. It adds
// to kernels/gpu/nsa_forward.cu, where each token loads its own blocks:
//  - neighbouring tokens load the union of their lists together by TMA, each block once;
//  - 64 rows of a warpgroup are the heads of a group for several tokens (4 where 16 heads share
//    keys), multiplied by wgmma. A warp whose tokens did not select a block gives it weight 0:
//    wasted products, for the full rate of the matrix units;
//  - a warpgroup skips a block that none of its tokens selected;
//  - a persistent grid; the output of the first branch is spilled to device memory, which leaves
//    registers for a third warpgroup: more tokens in a tile mean fewer bytes loaded for each, and
//    bandwidth is the limit.
// A small kernel runs first and makes the lists: which steps of 64 keys a tile needs, and which of
// its tokens need each step.
#include "hopper_attention.h"
#include "hopper_nsa.h"
#include "trace.h"

#define REGIONS(X) \
	X(LOAD_WAIT, "wait for a free stage", WAIT) \
	X(LOAD, "load", LOAD) \
	X(WAIT_Q, "wait for Q", WAIT) \
	X(WAIT_STEP, "wait for keys and values", WAIT) \
	X(WAIT_PRODUCTS, "wait for products", WAIT) \
	X(SCORES, "scores", TENSOR) \
	X(OUTPUT, "output", TENSOR) \
	X(SOFTMAX, "softmax", COMPUTE) \
	X(SPILL, "spill and reload", STORE) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("hopper_nsa", REGIONS, "producer", "consumer 1", "consumer 2", "consumer 3")

template <int D_, int CONSUMERS_> struct kernel_traits {
	static constexpr int D = D_, CONSUMERS = CONSUMERS_, KEYS = HOPPER_NSA_KEYS,
	                     STAGES = D == 64          ? 8
	                              : CONSUMERS == 3 ? 5
	                                               : 6,
	                     BLOCKS = D / 64;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP, ROWS = CONSUMERS * GROUP_ROWS;
	static constexpr int PRODUCER_REGISTERS = CONSUMERS == 3 ? 32 : 40,
	                     CONSUMER_REGISTERS = CONSUMERS == 3 ? 160 : 232;
	static constexpr int Q_BYTES = GROUP_ROWS * D * 2, KV_BYTES = KEYS * D * 2,
	                     STAGE_BYTES = 2 * KV_BYTES;
	static constexpr int SHARED =
	        CONSUMERS * Q_BYTES + STAGES * (STAGE_BYTES + 24) + CONSUMERS * 16 + 1024;
};

// A tile of tokens of one kv head. Those with the most keys come first.
struct tile {
	int first, kv_head, batch, list;
};

__device__ __forceinline__ tile locate_tile(const hopper_nsa_args &p, int rows, int tile_index)
{
	int heads = p.b * p.hkv, head = tile_index % heads;
	return {(p.tiles - 1 - tile_index / heads) * (rows / p.group), head % p.hkv, head / p.hkv,
	        tile_index};
}

// ---- the lists ----

enum { LIST_THREADS = 128 };

// A step is needed by a token that sees at least one of its keys.
__device__ __forceinline__ void mark_block(
        uint32_t *marked, const hopper_nsa_args &p, int block, int token, uint32_t bit, int steps)
{
	int in_block = p.block_size / HOPPER_NSA_KEYS;
	if (block < 0 || block >= (steps + in_block - 1) / in_block)
		return;
	for (int step = block * in_block; step < min(steps, (block + 1) * in_block); step++)
		if (!p.causal || step * HOPPER_NSA_KEYS <= token)
			atomicOr(marked + step, bit);
}

__global__ void __launch_bounds__(LIST_THREADS)
        hopper_nsa_lists(const __grid_constant__ hopper_nsa_args p, int rows)
{
	__shared__ uint32_t marked[HOPPER_NSA_STEPS];
	tile t = locate_tile(p, rows, (int)blockIdx.x);
	int tokens = min(rows / p.group, p.s - t.first), last = p.causal ? t.first + tokens : p.s,
	    count = 0;
	int steps = (last + HOPPER_NSA_KEYS - 1) / HOPPER_NSA_KEYS, lane = (int)threadIdx.x % 32;
	for (int i = (int)threadIdx.x; i < steps; i += LIST_THREADS)
		marked[i] = 0;
	__syncthreads();
	for (int i = (int)threadIdx.x; i < tokens * p.selected; i += LIST_THREADS) {
		int token = t.first + i / p.selected;
		size_t row = ((size_t)t.batch * p.s + token) * p.hkv + t.kv_head;
		mark_block(marked, p, p.blocks[row * p.selected + i % p.selected], token,
		        1u << i / p.selected, steps);
	}
	__syncthreads();
	if (threadIdx.x >= 32)
		return;
	for (int i = lane; i < (steps + 31) / 32 * 32; i += 32) {
		uint32_t mask = i < steps ? marked[i] : 0,
		         some = __ballot_sync(0xffffffffu, mask != 0);
		if (mask)
			p.lists[(size_t)t.list * p.limit + count +
			        __popc(some & ((1u << lane) - 1))] = {i * HOPPER_NSA_KEYS, mask};
		count += __popc(some);
	}
	if (lane == 0)
		p.counts[t.list] = count;
}

#if HOPPER_CODE

// Shared memory addresses. Consumer g has its queries at q + g Q_BYTES, later its output; a stage
// holds keys, then values.
struct shared_layout {
	uint32_t q, stages, steps, full, empty, q_full, q_empty;
};

template <class Traits> HOPPER_INLINE shared_layout lay_out_shared(unsigned char *memory)
{
	uint32_t q = (shared_address(memory) + 1023) & ~1023u,
	         stages = q + Traits::CONSUMERS * Traits::Q_BYTES,
	         steps = stages + Traits::STAGES * Traits::STAGE_BYTES;
	uint32_t full = steps + 8 * Traits::STAGES, q_full = full + 16 * Traits::STAGES;
	return {q, stages, steps, full, full + 8 * Traits::STAGES, q_full,
	        q_full + 8 * Traits::CONSUMERS};
}

// Special values of consumed_step.key: the branch ends; no step found within the limit.
enum { STEP_END = -1, STEP_NOT_NEAR = -2 };

// ---- the producer: one thread ----

template <class Traits> struct producer {
	const CUtensorMap *k, *v;
	shared_layout s;
	ring<Traits::STAGES> r;
	tk_trace_writer &trace;

	// Waits for a free stage and writes the step that it is for.
	HOPPER_INLINE void begin(int key, uint32_t tokens)
	{
		tk_trace_enter<0>(trace, REGION_LOAD_WAIT);
		barrier_wait(s.empty + r.stage * 8, r.phase ^ 1);
		tk_trace_enter<1>(trace, REGION_LOAD);
		tk_trace_advance<2>(trace);
		asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(s.steps + r.stage * 8),
		             "r"(key), "r"(tokens)
		             : "memory");
	}
	HOPPER_INLINE void load(const tile &t, int key, uint32_t tokens)
	{
		begin(key, tokens);
		uint32_t to = s.stages + r.stage * Traits::STAGE_BYTES, full = s.full + r.stage * 8;
		barrier_expect(full, Traits::STAGE_BYTES);
#pragma unroll
		for (int x = 0; x < Traits::BLOCKS; x++) {
			tma_load_4d(to + x * Traits::KEYS * ROW_BYTES, k, full, x * 64, t.kv_head,
			        key, t.batch);
			tma_load_4d(to + Traits::KV_BYTES + x * Traits::KEYS * ROW_BYTES, v, full,
			        x * 64, t.kv_head, key, t.batch);
		}
		r.next();
	}
	HOPPER_INLINE void end_branch(void)
	{
		begin(STEP_END, 0);
		barrier_arrive(s.full + r.stage * 8);
		r.next();
	}
	HOPPER_INLINE void selected(const hopper_nsa_args &p, const tile &t)
	{
		const hopper_nsa_step *list = p.lists + (size_t)t.list * p.limit;
		int count = p.counts[t.list];
		hopper_nsa_step ahead = count > 0 ? list[0] : hopper_nsa_step{0, 0};
#pragma unroll 1
		for (int i = 0; i < count; i++) {
			hopper_nsa_step now = ahead;
			if (i + 1 < count)
				ahead = list[i + 1];
			load(t, now.key, now.tokens);
		}
		end_branch();
	}
	// Token x sees keys x + 1 - window to x: the keys of a step are seen by tokens from its
	// first key to window - 1 beyond its last.
	HOPPER_INLINE void window(const hopper_nsa_args &p, const tile &t, int tokens)
	{
		for (int key = max(0, t.first + 1 - p.window);
		        p.window > 0 && key < t.first + tokens; key += Traits::KEYS) {
			int low = max(0, key - t.first),
			    high = (int)min((int64_t)tokens,
			            (int64_t)key + Traits::KEYS - 1 + p.window - t.first);
			load(t, key, (high >= 32 ? ~0u : (1u << high) - 1) & ~0u << low);
		}
		end_branch();
	}
};

template <class Traits>
HOPPER_INLINE void produce(const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v,
        const hopper_nsa_args &p, const shared_layout &s, int tile_count, tk_trace_ref trace)
{
	producer<Traits> source = {k, v, s, {0, 0}, trace};
	int parity = 1;
	for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
	        tile_index += (int)gridDim.x, parity ^= 1) {
		tile t = locate_tile(p, Traits::ROWS, tile_index);
		for (int g = 0; g < Traits::CONSUMERS; g++) {
			tk_trace_enter(trace, REGION_LOAD_WAIT);
			barrier_wait(s.q_empty + g * 8, parity);
			tk_trace_enter(trace, REGION_LOAD);
			barrier_expect(s.q_full + g * 8, Traits::Q_BYTES);
			for (int x = 0; x < Traits::BLOCKS; x++)
				tma_load_4d(s.q + g * Traits::Q_BYTES + x * GROUP_ROWS * ROW_BYTES,
				        q, s.q_full + g * 8, x * 64, t.kv_head * p.group,
				        t.first + g * p.tokens, t.batch);
		}
		source.selected(p, t);
		source.window(p, t, min(Traits::ROWS / p.group, p.s - t.first));
	}
}

// ---- the consumers ----

// What a warpgroup computes. A thread's two rows belong to the warp's two tokens, or to the same
// one.
struct row_tokens {
	int token[2];                  // in the sequence, and their bits in a step
	uint32_t bit[2], group_tokens; // group_tokens: bits of all tokens of the warpgroup
	uint32_t q;
};

struct consumed_step {
	int key, stage;
	uint32_t tokens;
};

// The next step that one of this warpgroup's tokens needs; STEP_END at the end of the branch,
// STEP_NOT_NEAR if none of the next `limit` is. A warpgroup that still holds a stage must not
// search further than the ring: the producer waits for that stage.
template <class Traits>
HOPPER_INLINE consumed_step next_step(
        const shared_layout &s, ring<Traits::STAGES> &r, uint32_t group_tokens, int limit)
{
#pragma unroll 1
	for (int i = 0; i < limit; i++) {
		consumed_step step = {0, r.stage, 0};
		barrier_wait(s.full + r.stage * 8, r.phase);
		if (threadIdx.x % 32 == 0) // the lane that releases the stage
			asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
			             : "=r"(step.key), "=r"(step.tokens)
			             : "r"(s.steps + r.stage * 8)
			             : "memory");
		step.key = __shfl_sync(0xffffffffu, step.key, 0);
		step.tokens = __shfl_sync(0xffffffffu, step.tokens, 0);
		r.next();
		if (step.key < 0 || step.tokens & group_tokens)
			return step;
		release(s.empty + step.stage * 8);
	}
	return {STEP_NOT_NEAR, 0, 0};
}

// Masks keys outside [from, to_key) of a step, for each of a thread's two rows.
template <class Traits> HOPPER_INLINE void apply_mask(float *s, const int *from, const int *to_key)
{
#pragma unroll
	for (int half = 0; half < 2; half++)
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 8; i++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				int x = i * 8 + e + (int)threadIdx.x % 4 * 2;
				if (x < from[half] || x >= to_key[half])
					s[4 * i + 2 * half + e] = -INFINITY;
			}
}

// Scores of a step to weights. width: keys that a token sees, up to its own; 0: all of them.
template <class Traits>
HOPPER_INLINE void softmax_step(softmax &m, float *s, const hopper_nsa_args &p, const row_tokens &v,
        const consumed_step &step, int width)
{
	int from[2], to_key[2];
#pragma unroll
	for (int half = 0; half < 2; half++) {
		bool there = step.tokens & v.bit[half];
		from[half] = there && width > 0 ? v.token[half] + 1 - width - step.key : 0;
		to_key[half] = !there ? 0
		                      : min(Traits::KEYS,
		                                (p.causal || width > 0 ? v.token[half] + 1 : p.s) -
		                                        step.key);
	}
	if (to_key[0] <= 0 && to_key[1] <= 0) {
		m.rescale[0] = m.rescale[1] = 1;
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 2; i++)
			s[i] = 0;
		return;
	}
	if (from[0] > 0 || from[1] > 0 || to_key[0] < Traits::KEYS || to_key[1] < Traits::KEYS)
		apply_mask<Traits>(s, from, to_key);
	online_softmax<Traits>(m, s, p.scale);
}

// One branch, from zero to the normalized output.
template <class Traits, class T>
HOPPER_INLINE void consume_branch(float *o, const hopper_nsa_args &p, const shared_layout &s,
        const row_tokens &v, ring<Traits::STAGES> &r, int width, tk_trace_ref trace)
{
	float score[Traits::KEYS / 2];
	uint32_t weight[Traits::KEYS / 4];
	softmax m = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
	for (int i = 0; i < Traits::D / 2; i++)
		o[i] = 0;
	tk_trace_enter(trace, REGION_WAIT_STEP);
	consumed_step next = next_step<Traits>(s, r, v.group_tokens, 1 << 30);
	while (next.key >= 0) {
		consumed_step now = next;
		tk_trace_enter<0>(trace, REGION_SCORES);
		wgmma_fence();
		issue_scores<Traits, T>(score, v.q, s.stages + now.stage * Traits::STAGE_BYTES);
		wgmma_wait<0>();
		tk_trace_enter<1>(trace, REGION_SOFTMAX);
		softmax_step<Traits>(m, score, p, v, now, width);
		scale_rows<Traits::D / 2>(o, m.rescale);
		pack_weights<Traits, T>(weight, score);
		tk_trace_enter<2>(trace, REGION_WAIT_STEP);
		tk_trace_advance<3>(trace);
		while ((next = next_step<Traits>(s, r, v.group_tokens, Traits::STAGES - 1)).key >=
		        0) {
			tk_trace_begin<0>(trace, REGION_OUTPUT, now.stage, REGION_SCORES);
			wgmma_fence();
			issue_scores<Traits, T>(
			        score, v.q, s.stages + next.stage * Traits::STAGE_BYTES);
			issue_output<Traits, T>(o, weight,
			        s.stages + now.stage * Traits::STAGE_BYTES + Traits::KV_BYTES, 1);
			wgmma_wait<1>();
			tk_trace_enter<1>(trace, REGION_SOFTMAX);
			tk_trace_advance<2>(trace);
			softmax_step<Traits>(m, score, p, v, next, width);
			wgmma_wait<0>();
			tk_trace_end<0>(trace, REGION_OUTPUT, now.stage, REGION_SOFTMAX);
			release(s.empty + now.stage * 8);
			scale_rows<Traits::D / 2>(o, m.rescale);
			pack_weights<Traits, T>(weight, score);
			tk_trace_enter<1>(trace, REGION_WAIT_STEP);
			tk_trace_advance<2>(trace);
			now = next;
		}
		wgmma_fence();
		issue_output<Traits, T>(o, weight,
		        s.stages + now.stage * Traits::STAGE_BYTES + Traits::KV_BYTES, 1);
		tk_trace_begin(trace, REGION_OUTPUT, now.stage, REGION_WAIT_PRODUCTS);
		wgmma_wait<0>();
		tk_trace_end(trace, REGION_OUTPUT, now.stage, REGION_WAIT_STEP);
		release(s.empty + now.stage * 8);
		if (next.key == STEP_NOT_NEAR)
			next = next_step<Traits>(s, r, v.group_tokens, 1 << 30);
	}
	release(s.empty + next.stage * 8);
	tk_trace_enter(trace, REGION_SOFTMAX);
	float normalizer[2];
#pragma unroll
	for (int half = 0; half < 2; half++) {
		float sum = quad_sum(m.sum[half]);
		normalizer[half] = sum > 0 ? 1 / sum : 0;
	}
	scale_rows<Traits::D / 2>(o, normalizer);
}

template <class Traits>
HOPPER_INLINE row_tokens locate_rows(
        const hopper_nsa_args &p, const shared_layout &s, const tile &t, int group)
{
	int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32 % 4, 0), first = group * p.tokens;
	row_tokens v;
	v.q = s.q + group * Traits::Q_BYTES;
	v.group_tokens = ((1u << p.tokens) - 1) << first;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int token = first + (warp * 16 + half * 8) / p.group;
		v.token[half] = t.first + token;
		v.bit[half] = 1u << token;
	}
	return v;
}

// Spills a thread's part of an output: D / 2 numbers in pieces of four, those of a warpgroup side
// by side.
template <class Traits> HOPPER_INLINE void spill_sum(const float *o, float4 *spill)
{
#pragma unroll
	for (int i = 0; i < Traits::D / 8; i++)
		__stcg(spill + i * WARPGROUP,
		        make_float4(o[4 * i], o[4 * i + 1], o[4 * i + 2], o[4 * i + 3]));
}
template <class Traits> HOPPER_INLINE void reload_sum(float *o, const float4 *spill)
{
#pragma unroll
	for (int i = 0; i < Traits::D / 8; i++) {
		float4 x = __ldcg(spill + i * WARPGROUP);
		o[4 * i] += x.x;
		o[4 * i + 1] += x.y;
		o[4 * i + 2] += x.z;
		o[4 * i + 3] += x.w;
	}
}

template <class Traits, class T>
HOPPER_INLINE void consume(const CUtensorMap *o_map, const hopper_nsa_args &p,
        const shared_layout &s, int group, int tile_count, tk_trace_ref trace)
{
	ring<Traits::STAGES> r = {0, 0};
	int parity = 0, thread = (int)threadIdx.x % WARPGROUP;
	float4 *spill = (float4 *)p.sums +
	                (size_t)((int)blockIdx.x * Traits::CONSUMERS + group) * (Traits::D / 8) *
	                        WARPGROUP +
	                thread;
	for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
	        tile_index += (int)gridDim.x, parity ^= 1) {
		tile t = locate_tile(p, Traits::ROWS, tile_index);
		row_tokens v = locate_rows<Traits>(p, s, t, group);
		float o[Traits::D / 2];
		tk_trace_enter_tile(trace, REGION_WAIT_Q);
		barrier_wait(s.q_full + group * 8, parity);
		consume_branch<Traits, T>(o, p, s, v, r, 0, trace);
		tk_trace_enter(trace, REGION_SPILL);
		spill_sum<Traits>(o, spill);
		consume_branch<Traits, T>(o, p, s, v, r, p.window, trace);
		tk_trace_enter(trace, REGION_SPILL);
		reload_sum<Traits>(o, spill);
		tk_trace_enter(trace, REGION_STORE);
		store_output<Traits, T>(o, v.q);
		fence_async();
		named_barrier(1 + group, WARPGROUP);
		if (thread == 0) {
			for (int x = 0; x < Traits::BLOCKS; x++)
				tma_store_4d(o_map, v.q + x * GROUP_ROWS * ROW_BYTES, x * 64,
				        t.kv_head * p.group, t.first + group * p.tokens, t.batch);
			tma_store_commit();
			tma_store_wait_read<0>();
			barrier_arrive(s.q_empty + group * 8);
		}
	}
	if (thread == 0)
		tma_store_wait<0>();
}

#endif

template <class Traits, class T>
__global__ void __launch_bounds__(Traits::THREADS, 1)
        hopper_nsa(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o,
                const __grid_constant__ hopper_nsa_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	shared_layout s = lay_out_shared<Traits>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0),
	    tile_count = p.tiles * p.b * p.hkv;
	init_barriers<Traits, Traits::STAGES>(s.q_full, s.q_empty, s.full, s.empty);
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

const char *const hopper_nsa_configs[] = {"warpgroups-3", "warpgroups-2"};
const uint32_t hopper_nsa_config_count = sizeof hopper_nsa_configs / sizeof *hopper_nsa_configs;

template <class T, class F> static int with_traits(const struct hopper_nsa_call *call, F f)
{
	if (call->config == 0)
		return call->d == 64
		               ? f(hopper_nsa<kernel_traits<64, 3>, T>, kernel_traits<64, 3>())
		               : f(hopper_nsa<kernel_traits<128, 3>, T>, kernel_traits<128, 3>());
	return call->d == 64 ? f(hopper_nsa<kernel_traits<64, 2>, T>, kernel_traits<64, 2>())
	                     : f(hopper_nsa<kernel_traits<128, 2>, T>, kernel_traits<128, 2>());
}

template <class F> static int with_kernel(const struct hopper_nsa_call *call, F f)
{
	return call->dtype == TK_F16 ? with_traits<struct type_f16>(call, f)
	                             : with_traits<struct type_bf16>(call, f);
}

extern "C" int hopper_nsa_rows(uint32_t config)
{
	return config == 0 ? kernel_traits<64, 3>::ROWS : kernel_traits<64, 2>::ROWS;
}

HOPPER_PREPARE(hopper_nsa)

extern "C" int hopper_nsa_launch(const struct hopper_nsa_call *call, void *stream)
{
	return with_kernel(call, [=](auto kernel, auto l) {
		using Traits = decltype(l);
		int tile_count = call->args.tiles * call->args.b * call->args.hkv;
		hopper_nsa_lists<<<(unsigned)tile_count, LIST_THREADS, 0, (cudaStream_t)stream>>>(
		        call->args, Traits::ROWS);
		kernel<<<hopper_blocks(tile_count, call->multiprocessors), Traits::THREADS,
		        Traits::SHARED, (cudaStream_t)stream>>>(
		        call->q, call->k, call->v, call->o, call->args);
		return (int)cudaGetLastError();
	});
}
