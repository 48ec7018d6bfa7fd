// Attention backward for sm_90a, in three kernels and without a sum in any order: equal bits on repeated runs. The scores are computed twice,
// once for each side of the gradients, so that seven matrices are multiplied where an order left to chance would need five:
//
//   hopper_rows       lse times log2(e), and delta = sum(dO o), a warp a row
//   hopper_keys       a warpgroup stays with 64 keys and goes through the queries of all heads of the group:  dV += P' dO,  dK += dS' Q
//   hopper_queries    a warpgroup stays with 64 queries and goes through the keys:  dQ += dS K
//
// with P = exp(scale q k' - lse), dS = P (dO v' - delta). What it adds to kernels/gpu/flash_backward.cu: the copy engine fetches for two
// warpgroups, wgmma multiplies 64 rows at a time, and each product runs beside the exponentials of another.
#include "hopper_attention.h"
#include "hopper_backward.h"

// KEYS: rows that pass at a time, be they keys or queries.
template <int D_> struct layout {
	static constexpr int D = D_, KEYS = HOPPER_BACKWARD_ROWS, CONSUMERS = 2, TILE = CONSUMERS * GROUP_ROWS, BLOCKS = D / 64, STAGES = D == 64 ? 8 : 4;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP, PIECE = GROUP_ROWS * D * 2, LINE = KEYS * 4;
	static constexpr int SHARED = CONSUMERS * 2 * PIECE + STAGES * (2 * PIECE + 2 * LINE + 16) + CONSUMERS * 16 + 1024;
};

// ---- what each query's row needs --------------------------------------------------------------------------------------------------------------

enum { ROWS_THREADS = 256 };

__device__ __forceinline__ float2 pair_of(uint32_t x, type_bf16 *)
{
	return {__uint_as_float(x << 16), __uint_as_float(x & 0xffff0000u)};
}
__device__ __forceinline__ float2 pair_of(uint32_t x, type_f16 *)
{
	return __half22float2(*(__half2 *)&x);
}

// Rows that are not there, or see nothing, get weight 0.
template <int D, class T> __global__ void __launch_bounds__(ROWS_THREADS) hopper_rows(const __grid_constant__ hopper_backward_args p)
{
	size_t row = (size_t)blockIdx.x * (ROWS_THREADS / 32) + threadIdx.x / 32; // of [b][padded][h]
	int lane = (int)threadIdx.x % 32, head = (int)(row % p.h), query = (int)(row / p.h % p.padded), entry = (int)(row / p.h / p.padded);
	if (entry >= p.b)
		return;
	float sum = 0, lse = -INFINITY;
	if (query < p.sq) {
		size_t at = (((size_t)entry * p.sq + query) * p.h + head) * D / 2 + lane;
#pragma unroll
		for (int i = 0; i < D / 64; i++) {
			float2 x = pair_of(((const uint32_t *)p.o)[at + 32 * i], (T *)0), y = pair_of(((const uint32_t *)p.d_o)[at + 32 * i], (T *)0);
			sum += x.x * y.x + x.y * y.y;
		}
		lse = p.lse[((size_t)entry * p.h + head) * p.sq + query];
	}
	for (int step = 16; step > 0; step /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, step);
	if (lane == 0) {
		size_t to = ((size_t)entry * p.h + head) * p.padded + query;
		p.rows[to] = lse == -INFINITY ? INFINITY : lse * 1.4426950408889634f;
		p.rows[(size_t)p.b * p.h * p.padded + to] = sum;
	}
}

#if HOPPER_CODE

// Addresses in shared memory: two pieces of each consumer that stay (and become its output), two of each stage that pass, and the rows' numbers.
struct places {
	uint32_t stay, pass, lines, full, empty, stay_full, stay_empty;
};

template <class L> HOPPER_INLINE places divide_shared(unsigned char *memory)
{
	uint32_t stay = (shared_address(memory) + 1023) & ~1023u, pass = stay + L::CONSUMERS * 2 * L::PIECE, lines = pass + L::STAGES * 2 * L::PIECE;
	uint32_t full = lines + L::STAGES * 2 * L::LINE, stay_full = full + 16 * L::STAGES;
	return {stay, pass, lines, full, full + 8 * L::STAGES, stay_full, stay_full + 8 * L::CONSUMERS};
}

// 128 rows of one head that stay, and what passes them: tiles of 64 rows from number `begin` on, once for each of `heads` heads from `head` on.
struct tile {
	int first, kv_head, head, entry, begin, tiles, heads;
};

HOPPER_INLINE int shift_of(const hopper_backward_args &p)
{
	return p.skv - p.sq;
}

// Keys stay; those that most queries see come first.
template <class L> HOPPER_INLINE tile place_keys(const hopper_backward_args &p, int work)
{
	int tiles = (p.skv + L::TILE - 1) / L::TILE, group = p.h / p.hkv;
	deal d = assign_tile(work, tiles, p.b * p.hkv, p.section_keys);
	int first = d.number * L::TILE;
	int begin = p.causal ? max(0, first - shift_of(p)) / L::KEYS : 0;
	return {first, d.head % p.hkv, d.head % p.hkv * group, d.head / p.hkv, begin, max(0, p.padded / L::KEYS - begin), group};
}

// Queries stay; those that see most keys come first.
template <class L> HOPPER_INLINE tile place_queries(const hopper_backward_args &p, int work)
{
	int tiles = (p.sq + L::TILE - 1) / L::TILE;
	deal d = assign_tile(work, tiles, p.b * p.h, p.section_queries);
	int first = (tiles - 1 - d.number) * L::TILE;
	int end = p.causal ? min(p.skv, max(0, first + L::TILE + shift_of(p))) : p.skv;
	return {first, d.head % p.h / (p.h / p.hkv), d.head % p.h, d.head / p.h, 0, (end + L::KEYS - 1) / L::KEYS, 1};
}

// ---- the producer: one thread ----------------------------------------------------------------------------------------------------------------

template <class L> HOPPER_INLINE void fetch_piece(uint32_t to, const CUtensorMap *map, uint32_t full, int head, int row, int entry)
{
#pragma unroll
	for (int x = 0; x < L::BLOCKS; x++)
		tma_load_4d(to + x * GROUP_ROWS * ROW_BYTES, map, full, x * 64, head, row, entry);
}

template <class L>
HOPPER_INLINE void fetch_stay(const CUtensorMap *a, const CUtensorMap *b, const places &s, const tile &t, int head, int parity)
{
	for (int g = 0; g < L::CONSUMERS; g++) {
		uint32_t to = s.stay + g * 2 * L::PIECE, full = s.stay_full + g * 8;
		barrier_wait(s.stay_empty + g * 8, parity);
		barrier_expect(full, 2 * L::PIECE);
		fetch_piece<L>(to, a, full, head, t.first + g * GROUP_ROWS, t.entry);
		fetch_piece<L>(to + L::PIECE, b, full, head, t.first + g * GROUP_ROWS, t.entry);
	}
}

// `keys_stay`: queries pass, with their rows' numbers.
template <class L, bool keys_stay>
HOPPER_INLINE void produce(const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v, const CUtensorMap *d_o, const hopper_backward_args &p,
	const places &s, int works)
{
	ring<L::STAGES> r = {0, 0};
	int parity = 1;
	for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
		tile t = keys_stay ? place_keys<L>(p, work) : place_queries<L>(p, work);
		fetch_stay<L>(keys_stay ? k : q, keys_stay ? v : d_o, s, t, keys_stay ? t.kv_head : t.head, parity);
		for (int head = t.head; head < t.head + t.heads; head++)
			for (int i = t.begin; i < t.begin + t.tiles; i++, r.next()) {
				uint32_t to = s.pass + r.stage * 2 * L::PIECE, full = s.full + r.stage * 8;
				barrier_wait(s.empty + r.stage * 8, r.phase ^ 1);
				barrier_expect(full, 2 * L::PIECE + (keys_stay ? 2 * L::LINE : 0));
				fetch_piece<L>(to, keys_stay ? q : k, full, keys_stay ? head : t.kv_head, i * L::KEYS, t.entry);
				fetch_piece<L>(to + L::PIECE, keys_stay ? d_o : v, full, keys_stay ? head : t.kv_head, i * L::KEYS, t.entry);
				if (keys_stay) {
					const float *line = p.rows + ((size_t)t.entry * p.h + head) * p.padded + i * L::KEYS;
					bulk_load(s.lines + r.stage * 2 * L::LINE, line, L::LINE, full);
					bulk_load(s.lines + r.stage * 2 * L::LINE + L::LINE, line + (size_t)p.b * p.h * p.padded, L::LINE, full);
				}
			}
	}
}

// ---- the consumers ---------------------------------------------------------------------------------------------------------------------------

// Where queries pass, every lane read numbers of their rows, and says for itself that it has.
template <bool keys_stay> HOPPER_INLINE void release_stage(uint32_t empty)
{
	if (keys_stay)
		barrier_arrive(empty);
	else
		release_converged(empty);
}

// The tiles that pass a warpgroup, without those that the mask hides from all of its rows.
template <class L, bool keys_stay> struct passing {
	const places &s;
	ring<L::STAGES> &r;
	int left, count, at, begin, first, last; // tiles left; tiles of a head; number in it; rows that the mask needs: see skip()
	int row, stage;                          // the one that was taken

	// Queries before row `first` see none of the keys; keys after row `last` are seen by none of the queries.
	HOPPER_INLINE bool skip(void) const
	{
		return keys_stay ? row + L::KEYS <= first : row > last;
	}
	HOPPER_INLINE bool next(void)
	{
		for (; left > 0; left--) {
			barrier_wait(s.full + r.stage * 8, r.phase);
			row = (begin + at) * L::KEYS;
			stage = r.stage;
			at = at + 1 == count ? 0 : at + 1;
			r.next();
			if (!skip()) {
				left--;
				return true;
			}
			release_stage<keys_stay>(s.empty + stage * 8);
		}
		return false;
	}
};

template <class L> HOPPER_INLINE void zero(float *x)
{
#pragma unroll
	for (int i = 0; i < L::D / 2; i++)
		x[i] = 0;
}

// Weights 0 where key - query > reach; rows of s are keys, columns queries.
template <class L> HOPPER_INLINE void hide_queries(float *s, int reach)
{
	int thread = (int)threadIdx.x % WARPGROUP, row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
	for (int i = 0; i < L::KEYS / 2; i++)
		if (row + i / 2 % 2 * 8 - (i / 4 * 8 + thread % 4 * 2 + i % 2) > reach)
			s[i] = -INFINITY;
}

// The two numbers of columns 8 i + lane % 4 * 2 and the next.
HOPPER_INLINE float2 line_at(uint32_t line, int i)
{
	float2 x;
	asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(line + i * 32 + threadIdx.x % 4 * 8));
	return x;
}

// p = exp(s - lse); dS = p (dP - delta). The numbers are of the columns.
template <class L> HOPPER_INLINE void weigh_columns(float *s, uint32_t line, float scale)
{
#pragma unroll
	for (int i = 0; i < L::KEYS / 8; i++) {
		float2 lse = line_at(line, i);
		s[4 * i] = power_of_2(s[4 * i] * scale - lse.x);
		s[4 * i + 1] = power_of_2(s[4 * i + 1] * scale - lse.y);
		s[4 * i + 2] = power_of_2(s[4 * i + 2] * scale - lse.x);
		s[4 * i + 3] = power_of_2(s[4 * i + 3] * scale - lse.y);
	}
}
template <class L> HOPPER_INLINE void differ_columns(float *dp, const float *p, uint32_t line)
{
#pragma unroll
	for (int i = 0; i < L::KEYS / 8; i++) {
		float2 delta = line_at(line, i);
		dp[4 * i] = p[4 * i] * (dp[4 * i] - delta.x);
		dp[4 * i + 1] = p[4 * i + 1] * (dp[4 * i + 1] - delta.y);
		dp[4 * i + 2] = p[4 * i + 2] * (dp[4 * i + 2] - delta.x);
		dp[4 * i + 3] = p[4 * i + 3] * (dp[4 * i + 3] - delta.y);
	}
}

template <class L, class T>
HOPPER_INLINE void consume_keys(float *dk, float *dv, const hopper_backward_args &p, const places &s, const tile &t, int group, ring<L::STAGES> &r)
{
	uint32_t weight[L::KEYS / 4], slope[L::KEYS / 4], k = s.stay + group * 2 * L::PIECE;
	int key = t.first + group * GROUP_ROWS, last = -1;
	passing<L, true> q = {s, r, t.tiles * t.heads, t.tiles, 0, t.begin, p.causal ? key - shift_of(p) : 0, 0, 0, 0};
	while (q.next()) {
		uint32_t at = s.pass + q.stage * 2 * L::PIECE, line = s.lines + q.stage * 2 * L::LINE;
		float score[L::KEYS / 2], dp[L::KEYS / 2]; // in here: what a product starts from is nothing that was before
		wgmma_fence();
		issue_scores<L, T>(score, k, at);
		issue_scores<L, T>(dp, k + L::PIECE, at + L::PIECE);
		wgmma_wait<1>();
		if (last >= 0)
			release_stage<true>(s.empty + last * 8);
		if (p.causal && q.row + shift_of(p) < key + GROUP_ROWS - 1)
			hide_queries<L>(score, q.row + shift_of(p) - key);
		weigh_columns<L>(score, line, p.scale_log2);
		pack_weights<L, T>(weight, score);
		wgmma_wait<0>();
		differ_columns<L>(dp, score, line + L::LINE);
		pack_weights<L, T>(slope, dp);
		wgmma_fence();
		issue_output<L, T>(dv, weight, at + L::PIECE, 1);
		issue_output<L, T>(dk, slope, at, 1);
		wgmma_wait<1>(); // the weights' registers are free for the next scores, which dK still covers
		last = q.stage;
	}
	wgmma_wait<0>();
	if (last >= 0)
		release_stage<true>(s.empty + last * 8);
}

// Hides keys that a query does not see; rows of s are queries.
template <class L> HOPPER_INLINE void hide_keys(float *s, const hopper_backward_args &p, int row, int key)
{
#pragma unroll
	for (int i = 0; i < L::KEYS / 2; i++) {
		int seen = (p.causal ? min(p.skv, row + i / 2 % 2 * 8 + shift_of(p) + 1) : p.skv) - key;
		if (i / 4 * 8 + (int)threadIdx.x % 4 * 2 + i % 2 >= seen)
			s[i] = -INFINITY;
	}
}

template <class L, class T>
HOPPER_INLINE void consume_queries(float *dq, const hopper_backward_args &p, const places &s, const tile &t, int group, ring<L::STAGES> &r)
{
	float lse[2], delta[2];
	uint32_t slope[L::KEYS / 4], q = s.stay + group * 2 * L::PIECE;
	int first = t.first + group * GROUP_ROWS, row = first + (int)threadIdx.x % WARPGROUP / 32 * 16 + (int)threadIdx.x % 32 / 4, last = -1;
	int all = p.causal ? min(p.skv, first + shift_of(p) + 1) : p.skv; // the first query sees them all
	const float *line = p.rows + ((size_t)t.entry * p.h + t.head) * p.padded;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		bool there = row + half * 8 < p.sq;
		lse[half] = there ? line[row + half * 8] : INFINITY;
		delta[half] = there ? line[(size_t)p.b * p.h * p.padded + row + half * 8] : 0;
	}
	passing<L, false> k = {s, r, t.tiles, t.tiles, 0, 0, 0, p.causal ? first + GROUP_ROWS - 1 + shift_of(p) : p.skv, 0, 0};
	while (k.next()) {
		uint32_t at = s.pass + k.stage * 2 * L::PIECE;
		float score[L::KEYS / 2], dp[L::KEYS / 2];
		wgmma_fence();
		issue_scores<L, T>(score, q, at);
		issue_scores<L, T>(dp, q + L::PIECE, at + L::PIECE);
		wgmma_wait<1>();
		if (last >= 0)
			release_stage<false>(s.empty + last * 8);
		if (k.row + L::KEYS > all)
			hide_keys<L>(score, p, row, k.row);
#pragma unroll
		for (int i = 0; i < L::KEYS / 2; i++)
			score[i] = power_of_2(score[i] * p.scale_log2 - lse[i / 2 % 2]);
		wgmma_wait<0>();
#pragma unroll
		for (int i = 0; i < L::KEYS / 2; i++)
			dp[i] = score[i] * (dp[i] - delta[i / 2 % 2]);
		pack_weights<L, T>(slope, dp);
		wgmma_fence();
		issue_output<L, T>(dq, slope, at, 1);
		last = k.stage;
	}
	wgmma_wait<0>();
	if (last >= 0)
		release_stage<false>(s.empty + last * 8);
}

template <class L, class T> HOPPER_INLINE void write_piece(float *x, float factor, uint32_t at)
{
#pragma unroll
	for (int i = 0; i < L::D / 2; i++)
		x[i] *= factor;
	store_output<L, T>(x, at);
}

template <class L> HOPPER_INLINE void send_piece(uint32_t at, const CUtensorMap *map, int head, int row, int entry)
{
	for (int x = 0; x < L::BLOCKS; x++)
		tma_store_4d(map, at + x * GROUP_ROWS * ROW_BYTES, x * 64, head, row, entry);
}

// The room of what stayed becomes that of its gradients. `b` may be NULL.
template <class L>
HOPPER_INLINE void send_tile(const CUtensorMap *a, const CUtensorMap *b, const places &s, const tile &t, int head, int group)
{
	uint32_t at = s.stay + group * 2 * L::PIECE;
	int row = t.first + group * GROUP_ROWS;
	fence_async();
	named_barrier(1 + group, WARPGROUP);
	if (threadIdx.x % WARPGROUP)
		return;
	send_piece<L>(at, a, head, row, t.entry);
	if (b)
		send_piece<L>(at + L::PIECE, b, head, row, t.entry);
	tma_store_commit();
	tma_store_wait_read<0>();
	barrier_arrive(s.stay_empty + group * 8);
}

#endif

template <class L, class T>
__global__ void __launch_bounds__(L::THREADS, 1) hopper_keys(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
	const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o, const __grid_constant__ CUtensorMap dk,
	const __grid_constant__ CUtensorMap dv, const __grid_constant__ hopper_backward_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	places s = divide_shared<L>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0), works = (p.skv + L::TILE - 1) / L::TILE * p.b * p.hkv;
	init_barriers<L, L::STAGES, WARPGROUP>(s.stay_full, s.stay_empty, s.full, s.empty);
	if (group == L::CONSUMERS) {
		registers_release<24>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<L, true>(&q, &k, &v, &d_o, p, s, works);
	} else {
		registers_acquire<240>();
		ring<L::STAGES> r = {0, 0};
		int parity = 0;
		for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
			tile t = place_keys<L>(p, work);
			float sums_k[L::D / 2], sums_v[L::D / 2];
			zero<L>(sums_k);
			zero<L>(sums_v);
			barrier_wait(s.stay_full + group * 8, parity);
			consume_keys<L, T>(sums_k, sums_v, p, s, t, group, r);
			write_piece<L, T>(sums_k, p.scale, s.stay + group * 2 * L::PIECE);
			write_piece<L, T>(sums_v, 1, s.stay + group * 2 * L::PIECE + L::PIECE);
			send_tile<L>(&dk, &dv, s, t, t.kv_head, group);
		}
		if (threadIdx.x % WARPGROUP == 0)
			tma_store_wait<0>();
	}
#endif
}

template <class L, class T>
__global__ void __launch_bounds__(L::THREADS, 1) hopper_queries(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
	const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o, const __grid_constant__ CUtensorMap dq,
	const __grid_constant__ hopper_backward_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	places s = divide_shared<L>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0), works = (p.sq + L::TILE - 1) / L::TILE * p.b * p.h;
	init_barriers<L, L::STAGES>(s.stay_full, s.stay_empty, s.full, s.empty);
	if (group == L::CONSUMERS) {
		registers_release<24>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<L, false>(&q, &k, &v, &d_o, p, s, works);
	} else {
		registers_acquire<240>();
		ring<L::STAGES> r = {0, 0};
		int parity = 0;
		for (int work = (int)blockIdx.x; work < works; work += (int)gridDim.x, parity ^= 1) {
			tile t = place_queries<L>(p, work);
			float sums[L::D / 2];
			zero<L>(sums);
			barrier_wait(s.stay_full + group * 8, parity);
			consume_queries<L, T>(sums, p, s, t, group, r);
			write_piece<L, T>(sums, p.scale, s.stay + group * 2 * L::PIECE);
			send_tile<L>(&dq, NULL, s, t, t.head, group);
		}
		if (threadIdx.x % WARPGROUP == 0)
			tma_store_wait<0>();
	}
#endif
}

// ---- the host's side -------------------------------------------------------------------------------------------------------------------------

template <class F> static int with_kernels(const struct hopper_backward_call *call, F f)
{
	if (call->dtype == TK_F16)
		return call->d == 64 ? f(layout<64>(), (struct type_f16 *)0) : f(layout<128>(), (struct type_f16 *)0);
	return call->d == 64 ? f(layout<64>(), (struct type_bf16 *)0) : f(layout<128>(), (struct type_bf16 *)0);
}

extern "C" int hopper_backward_prepare(const struct hopper_backward_call *call)
{
	return with_kernels(call, [](auto l, auto *type) {
		using L = decltype(l);
		using T = typename std::remove_pointer<decltype(type)>::type;
		int code = (int)cudaFuncSetAttribute(hopper_keys<L, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::SHARED);
		return code ? code : (int)cudaFuncSetAttribute(hopper_queries<L, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::SHARED);
	});
}

extern "C" int hopper_backward_launch(const struct hopper_backward_call *call, void *stream)
{
	return with_kernels(call, [=](auto l, auto *type) {
		using L = decltype(l);
		using T = typename std::remove_pointer<decltype(type)>::type;
		const hopper_backward_args &p = call->args;
		size_t rows = (size_t)p.b * p.h * p.padded, in_block = ROWS_THREADS / 32;
		int keys = (p.skv + L::TILE - 1) / L::TILE * p.b * p.hkv, queries = (p.sq + L::TILE - 1) / L::TILE * p.b * p.h;
		auto blocks = [=](int works) { return (unsigned)(works < call->multiprocessors ? works : call->multiprocessors); };
		hopper_rows<L::D, T><<<(unsigned)((rows + in_block - 1) / in_block), ROWS_THREADS, 0, (cudaStream_t)stream>>>(p);
		hopper_keys<L, T><<<blocks(keys), L::THREADS, L::SHARED, (cudaStream_t)stream>>>(call->q, call->k, call->v, call->d_o, call->dk, call->dv, p);
		hopper_queries<L, T><<<blocks(queries), L::THREADS, L::SHARED, (cudaStream_t)stream>>>(call->q, call->k, call->v, call->d_o, call->dq, p);
		return (int)cudaGetLastError();
	});
}
