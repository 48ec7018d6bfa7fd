// Native sparse attention forward for sm_90a. What it adds to kernels/gpu/nsa_forward.cu, where each token fetches its blocks for itself:
//  - neighbouring tokens fetch the union of their lists together, each block once, with the copy engine;
//  - 64 rows of a warpgroup are the heads of a group for several tokens (4 where 16 heads share keys), multiplied with wgmma. A warp whose
//    tokens did not select a block has weight 0 for it: products that are thrown away, in exchange for the matrix units' full rate;
//  - a warpgroup none of whose tokens selected a block passes it by;
//  - blocks stay and take one tile after the other; the sum of the first branch waits in device memory, which leaves registers to a third
//    warpgroup: the more tokens a tile has, the fewer bytes come in for each of them, and these are the limit.
// A first, small kernel makes the lists: which steps of 64 keys a tile looks at, and which of its tokens each step is for.
#include "hopper_attention.h"
#include "hopper_nsa.h"

template <int D_, int CONSUMERS_> struct layout {
	static constexpr int D = D_, CONSUMERS = CONSUMERS_, KEYS = HOPPER_NSA_KEYS, STAGES = D == 64 ? 8 : CONSUMERS == 3 ? 5 : 6, BLOCKS = D / 64;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP, ROWS = CONSUMERS * GROUP_ROWS;
	static constexpr int GIVE = CONSUMERS == 3 ? 32 : 40, TAKE = CONSUMERS == 3 ? 160 : 232;
	static constexpr int Q_BYTES = GROUP_ROWS * D * 2, KV_BYTES = KEYS * D * 2, STAGE_BYTES = 2 * KV_BYTES;
	static constexpr int SHARED = CONSUMERS * Q_BYTES + STAGES * (STAGE_BYTES + 24) + CONSUMERS * 16 + 1024;
};

// A tile of tokens of one kv head; those with the most keys come first.
struct tile {
	int first, kv_head, entry, list;
};

__device__ __forceinline__ tile place_tile(const hopper_nsa_args &p, int rows, int work)
{
	int heads = p.b * p.hkv, head = work % heads;
	return {(p.tiles - 1 - work / heads) * (rows / p.group), head % p.hkv, head / p.hkv, work};
}

// ---- the lists -------------------------------------------------------------------------------------------------------------------------------

enum { LIST_THREADS = 128 };

// A step counts for a token if it sees at least one of its keys.
__device__ __forceinline__ void mark_block(uint32_t *marked, const hopper_nsa_args &p, int block, int token, uint32_t bit, int steps)
{
	int in_block = p.block_size / HOPPER_NSA_KEYS;
	if (block < 0 || block >= (steps + in_block - 1) / in_block)
		return;
	for (int step = block * in_block; step < min(steps, (block + 1) * in_block); step++)
		if (!p.causal || step * HOPPER_NSA_KEYS <= token)
			atomicOr(marked + step, bit);
}

__global__ void __launch_bounds__(LIST_THREADS) hopper_nsa_lists(const __grid_constant__ hopper_nsa_args p, int rows)
{
	__shared__ uint32_t marked[HOPPER_NSA_STEPS];
	tile t = place_tile(p, rows, (int)blockIdx.x);
	int tokens = min(rows / p.group, p.s - t.first), last = p.causal ? t.first + tokens : p.s, count = 0;
	int steps = (last + HOPPER_NSA_KEYS - 1) / HOPPER_NSA_KEYS, lane = (int)threadIdx.x % 32;
	for (int i = (int)threadIdx.x; i < steps; i += LIST_THREADS)
		marked[i] = 0;
	__syncthreads();
	for (int i = (int)threadIdx.x; i < tokens * p.selected; i += LIST_THREADS) {
		int token = t.first + i / p.selected;
		size_t row = ((size_t)t.entry * p.s + token) * p.hkv + t.kv_head;
		mark_block(marked, p, p.blocks[row * p.selected + i % p.selected], token, 1u << i / p.selected, steps);
	}
	__syncthreads();
	if (threadIdx.x >= 32)
		return;
	for (int i = lane; i < (steps + 31) / 32 * 32; i += 32) {
		uint32_t mask = i < steps ? marked[i] : 0, some = __ballot_sync(0xffffffffu, mask != 0);
		if (mask)
			p.lists[(size_t)t.list * p.limit + count + __popc(some & ((1u << lane) - 1))] = {i * HOPPER_NSA_KEYS, mask};
		count += __popc(some);
	}
	if (lane == 0)
		p.counts[t.list] = count;
}

#if HOPPER_CODE

// Addresses in shared memory. Queries of consumer g at q + g Q_BYTES, later its output; a stage has keys, then values.
struct places {
	uint32_t q, stages, steps, full, empty, q_full, q_empty;
};

template <class L> HOPPER_INLINE places divide_shared(unsigned char *memory)
{
	uint32_t q = (shared_address(memory) + 1023) & ~1023u, stages = q + L::CONSUMERS * L::Q_BYTES, steps = stages + L::STAGES * L::STAGE_BYTES;
	uint32_t full = steps + 8 * L::STAGES, q_full = full + 16 * L::STAGES;
	return {q, stages, steps, full, full + 8 * L::STAGES, q_full, q_full + 8 * L::CONSUMERS};
}

// Keys of a step that is none: the branch ends; none is near.
enum { END = -1, FAR = -2 };

// ---- the producer: one thread ----------------------------------------------------------------------------------------------------------------

template <class L> struct producer {
	const CUtensorMap *k, *v;
	places s;
	ring<L::STAGES> r;

	// A stage that may be written, with what it is for.
	HOPPER_INLINE void begin(int key, uint32_t tokens)
	{
		barrier_wait(s.empty + r.stage * 8, r.phase ^ 1);
		asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(s.steps + r.stage * 8), "r"(key), "r"(tokens) : "memory");
	}
	HOPPER_INLINE void fetch(const tile &t, int key, uint32_t tokens)
	{
		begin(key, tokens);
		uint32_t to = s.stages + r.stage * L::STAGE_BYTES, full = s.full + r.stage * 8;
		barrier_expect(full, L::STAGE_BYTES);
#pragma unroll
		for (int x = 0; x < L::BLOCKS; x++) {
			tma_load_4d(to + x * L::KEYS * ROW_BYTES, k, full, x * 64, t.kv_head, key, t.entry);
			tma_load_4d(to + L::KV_BYTES + x * L::KEYS * ROW_BYTES, v, full, x * 64, t.kv_head, key, t.entry);
		}
		r.next();
	}
	HOPPER_INLINE void end_branch(void)
	{
		begin(END, 0);
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
			fetch(t, now.key, now.tokens);
		}
		end_branch();
	}
	// Token x sees keys x + 1 - window to x, so those of a step count for tokens from its first key to window - 1 beyond its last.
	HOPPER_INLINE void window(const hopper_nsa_args &p, const tile &t, int tokens)
	{
		for (int key = max(0, t.first + 1 - p.window); p.window > 0 && key < t.first + tokens; key += L::KEYS) {
			int low = max(0, key - t.first), high = (int)min((int64_t)tokens, (int64_t)key + L::KEYS - 1 + p.window - t.first);
			fetch(t, key, (high >= 32 ? ~0u : (1u << high) - 1) & ~0u << low);
		}
		end_branch();
	}
};

template <class L>
HOPPER_INLINE void produce(const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v, const hopper_nsa_args &p, const places &s, int works)
{
	producer<L> source = {k, v, s, {0, 0}};
	int parity = 1;
	for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
		tile t = place_tile(p, L::ROWS, work);
		for (int g = 0; g < L::CONSUMERS; g++) {
			barrier_wait(s.q_empty + g * 8, parity);
			barrier_expect(s.q_full + g * 8, L::Q_BYTES);
			for (int x = 0; x < L::BLOCKS; x++)
				tma_load_4d(s.q + g * L::Q_BYTES + x * GROUP_ROWS * ROW_BYTES, q, s.q_full + g * 8, x * 64, t.kv_head * p.group,
					t.first + g * p.tokens, t.entry);
		}
		source.selected(p, t);
		source.window(p, t, min(L::ROWS / p.group, p.s - t.first));
	}
}

// ---- the consumers ---------------------------------------------------------------------------------------------------------------------------

// What a warpgroup looks at. A thread's two rows are of the warp's two tokens, or both of one.
struct viewer {
	int token[2];              // of all, and their bits in a step
	uint32_t bit[2], together; // together: those of the warpgroup's tokens
	uint32_t q;
};

struct taken {
	int key, stage;
	uint32_t tokens;
};

// The next step that is for one of this warpgroup's tokens; END where the branch ends, FAR where none of the next `limit` is. A warpgroup that
// still holds a stage must not look further than the ring goes without it: the producer waits for that stage.
template <class L> HOPPER_INLINE taken take_step(const places &s, ring<L::STAGES> &r, uint32_t together, int limit)
{
#pragma unroll 1
	for (int i = 0; i < limit; i++) {
		taken step = {0, r.stage, 0};
		barrier_wait(s.full + r.stage * 8, r.phase);
		if (threadIdx.x % 32 == 0) // the lane that releases the stage
			asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(step.key), "=r"(step.tokens) : "r"(s.steps + r.stage * 8) : "memory");
		step.key = __shfl_sync(0xffffffffu, step.key, 0);
		step.tokens = __shfl_sync(0xffffffffu, step.tokens, 0);
		r.next();
		if (step.key < 0 || step.tokens & together)
			return step;
		release(s.empty + step.stage * 8);
	}
	return {FAR, 0, 0};
}

// Hides keys outside [from, upto) of a step, for each of a thread's two rows.
template <class L> HOPPER_INLINE void hide(float *s, const int *from, const int *upto)
{
#pragma unroll
	for (int half = 0; half < 2; half++)
#pragma unroll
		for (int i = 0; i < L::KEYS / 8; i++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				int x = i * 8 + e + (int)threadIdx.x % 4 * 2;
				if (x < from[half] || x >= upto[half])
					s[4 * i + 2 * half + e] = -INFINITY;
			}
}

// Scores of a step to weights. width: keys that a token sees, itself the last; 0: all of them.
template <class L> HOPPER_INLINE void weigh_step(softmax &m, float *s, const hopper_nsa_args &p, const viewer &v, const taken &step, int width)
{
	int from[2], upto[2];
#pragma unroll
	for (int half = 0; half < 2; half++) {
		bool there = step.tokens & v.bit[half];
		from[half] = there && width > 0 ? v.token[half] + 1 - width - step.key : 0;
		upto[half] = !there ? 0 : min(L::KEYS, (p.causal || width > 0 ? v.token[half] + 1 : p.s) - step.key);
	}
	if (upto[0] <= 0 && upto[1] <= 0) {
		m.shrink[0] = m.shrink[1] = 1;
#pragma unroll
		for (int i = 0; i < L::KEYS / 2; i++)
			s[i] = 0;
		return;
	}
	if (from[0] > 0 || from[1] > 0 || upto[0] < L::KEYS || upto[1] < L::KEYS)
		hide<L>(s, from, upto);
	weigh<L>(m, s, p.scale);
}

// One branch: o from nothing to all its steps.
template <class L, class T>
HOPPER_INLINE void consume_branch(float *o, const hopper_nsa_args &p, const places &s, const viewer &v, ring<L::STAGES> &r, int width)
{
	float score[L::KEYS / 2];
	uint32_t weight[L::KEYS / 4];
	softmax m = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
	for (int i = 0; i < L::D / 2; i++)
		o[i] = 0;
	taken next = take_step<L>(s, r, v.together, 1 << 30);
	while (next.key >= 0) {
		taken now = next;
		wgmma_fence();
		issue_scores<L, T>(score, v.q, s.stages + now.stage * L::STAGE_BYTES);
		wgmma_wait<0>();
		weigh_step<L>(m, score, p, v, now, width);
		multiply_rows<L::D / 2>(o, m.shrink);
		pack_weights<L, T>(weight, score);
		while ((next = take_step<L>(s, r, v.together, L::STAGES - 1)).key >= 0) {
			wgmma_fence();
			issue_scores<L, T>(score, v.q, s.stages + next.stage * L::STAGE_BYTES);
			issue_output<L, T>(o, weight, s.stages + now.stage * L::STAGE_BYTES + L::KV_BYTES, 1);
			wgmma_wait<1>();
			weigh_step<L>(m, score, p, v, next, width);
			wgmma_wait<0>();
			release(s.empty + now.stage * 8);
			multiply_rows<L::D / 2>(o, m.shrink);
			pack_weights<L, T>(weight, score);
			now = next;
		}
		wgmma_fence();
		issue_output<L, T>(o, weight, s.stages + now.stage * L::STAGE_BYTES + L::KV_BYTES, 1);
		wgmma_wait<0>();
		release(s.empty + now.stage * 8);
		if (next.key == FAR)
			next = take_step<L>(s, r, v.together, 1 << 30);
	}
	release(s.empty + next.stage * 8);
	float share[2];
#pragma unroll
	for (int half = 0; half < 2; half++) {
		float sum = quad_sum(m.sum[half]);
		share[half] = sum > 0 ? 1 / sum : 0;
	}
	multiply_rows<L::D / 2>(o, share);
}

template <class L> HOPPER_INLINE viewer place_viewer(const hopper_nsa_args &p, const places &s, const tile &t, int group)
{
	int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32 % 4, 0), first = group * p.tokens;
	viewer v;
	v.q = s.q + group * L::Q_BYTES;
	v.together = ((1u << p.tokens) - 1) << first;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int token = first + (warp * 16 + half * 8) / p.group;
		v.token[half] = t.first + token;
		v.bit[half] = 1u << token;
	}
	return v;
}

// A thread's part of a sum, to where it finds it again: L::D / 2 numbers in pieces of four, those of a warpgroup side by side.
template <class L> HOPPER_INLINE void keep_sum(const float *o, float4 *room)
{
#pragma unroll
	for (int i = 0; i < L::D / 8; i++)
		__stcg(room + i * WARPGROUP, make_float4(o[4 * i], o[4 * i + 1], o[4 * i + 2], o[4 * i + 3]));
}
template <class L> HOPPER_INLINE void add_sum(float *o, const float4 *room)
{
#pragma unroll
	for (int i = 0; i < L::D / 8; i++) {
		float4 x = __ldcg(room + i * WARPGROUP);
		o[4 * i] += x.x;
		o[4 * i + 1] += x.y;
		o[4 * i + 2] += x.z;
		o[4 * i + 3] += x.w;
	}
}

template <class L, class T>
HOPPER_INLINE void consume(const CUtensorMap *o_map, const hopper_nsa_args &p, const places &s, int group, int works)
{
	ring<L::STAGES> r = {0, 0};
	int parity = 0, thread = (int)threadIdx.x % WARPGROUP;
	float4 *room = (float4 *)p.sums + (size_t)((int)blockIdx.x * L::CONSUMERS + group) * (L::D / 8) * WARPGROUP + thread;
	for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
		tile t = place_tile(p, L::ROWS, work);
		viewer v = place_viewer<L>(p, s, t, group);
		float o[L::D / 2];
		barrier_wait(s.q_full + group * 8, parity);
		consume_branch<L, T>(o, p, s, v, r, 0);
		keep_sum<L>(o, room);
		consume_branch<L, T>(o, p, s, v, r, p.window);
		add_sum<L>(o, room);
		store_output<L, T>(o, v.q);
		fence_async();
		named_barrier(1 + group, WARPGROUP);
		if (thread == 0) {
			for (int x = 0; x < L::BLOCKS; x++)
				tma_store_4d(o_map, v.q + x * GROUP_ROWS * ROW_BYTES, x * 64, t.kv_head * p.group, t.first + group * p.tokens, t.entry);
			tma_store_commit();
			tma_store_wait_read<0>();
			barrier_arrive(s.q_empty + group * 8);
		}
	}
	if (thread == 0)
		tma_store_wait<0>();
}

#endif

template <class L, class T>
__global__ void __launch_bounds__(L::THREADS, 1)
	hopper_nsa(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v,
		const __grid_constant__ CUtensorMap o, const __grid_constant__ hopper_nsa_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	places s = divide_shared<L>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0), works = p.tiles * p.b * p.hkv;
	init_barriers<L, L::STAGES>(s.q_full, s.q_empty, s.full, s.empty);
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

// ---- the host's side -------------------------------------------------------------------------------------------------------------------------

const char *const hopper_nsa_configs[] = {"warpgroups-3", "warpgroups-2"};
const uint32_t hopper_nsa_config_count = sizeof hopper_nsa_configs / sizeof *hopper_nsa_configs;

template <class T, class F> static int with_layout(const struct hopper_nsa_call *call, F f)
{
	if (call->config == 0)
		return call->d == 64 ? f(hopper_nsa<layout<64, 3>, T>, layout<64, 3>()) : f(hopper_nsa<layout<128, 3>, T>, layout<128, 3>());
	return call->d == 64 ? f(hopper_nsa<layout<64, 2>, T>, layout<64, 2>()) : f(hopper_nsa<layout<128, 2>, T>, layout<128, 2>());
}

template <class F> static int with_kernel(const struct hopper_nsa_call *call, F f)
{
	return call->dtype == TK_F16 ? with_layout<struct type_f16>(call, f) : with_layout<struct type_bf16>(call, f);
}

extern "C" int hopper_nsa_rows(uint32_t config)
{
	return config == 0 ? layout<64, 3>::ROWS : layout<64, 2>::ROWS;
}

extern "C" int hopper_nsa_prepare(const struct hopper_nsa_call *call)
{
	return with_kernel(call, [](auto kernel, auto l) {
		return (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, decltype(l)::SHARED);
	});
}

extern "C" int hopper_nsa_launch(const struct hopper_nsa_call *call, void *stream)
{
	return with_kernel(call, [=](auto kernel, auto l) {
		using L = decltype(l);
		int works = call->args.tiles * call->args.b * call->args.hkv;
		unsigned grid = (unsigned)(works < call->multiprocessors ? works : call->multiprocessors);
		hopper_nsa_lists<<<(unsigned)works, LIST_THREADS, 0, (cudaStream_t)stream>>>(call->args, L::ROWS);
		kernel<<<grid, L::THREADS, L::SHARED, (cudaStream_t)stream>>>(call->q, call->k, call->v, call->o, call->args);
		return (int)cudaGetLastError();
	});
}
