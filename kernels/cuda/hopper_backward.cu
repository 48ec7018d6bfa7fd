// Attention backward for sm_90a: dQ dK dV from Q K V O LSE dO (Dao et al., FlashAttention, 2022,
// appendix B.2). Three kernels without atomics: repeated runs give equal bits. The price is that
// the scores are computed twice, once for each side of the gradients: seven products instead of
// five.
//
//   hopper_rows       row statistics: lse times log2(e), and delta = sum(dO o); a warp a row
//   hopper_keys       a warpgroup keeps 64 keys and streams the queries of all heads of the group:
//                     dV += P' dO,  dK += dS' Q
//   hopper_queries    a warpgroup keeps 64 queries and streams the keys:  dQ += dS K
//
// with P = exp(scale q k' - lse), dS = P (dO v' - delta). It adds to kernels/gpu/flash_backward.cu:
// TMA loads for two warpgroups, wgmma on 64 rows, and each product beside the exponentials of
// another.
#include "hopper_attention.h"
#include "hopper_flash.h"
#include "trace.h"

// Of hopper_keys, which takes longest. Its producer has no register for a writer, and where all
// sums, scores and weights are alive its consumers have none for a record: dP is not seen, which
// is multiplied beside the weights, nor the wait for it.
#define REGIONS(X) \
	X(WAIT_KEYS, "wait for K and V", WAIT) \
	X(WAIT_STEP, "wait for Q and dO", WAIT) \
	X(WAIT_PRODUCTS, "wait for products", WAIT) \
	X(SCORES, "scores", TENSOR) \
	X(GRADIENTS, "dV and dK", TENSOR) \
	X(WEIGHTS, "weights and dS", COMPUTE) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("hopper_keys", REGIONS, "consumer 1", "consumer 2")

// KEYS: rows of a streamed tile, keys or queries.
template <int D_> struct kernel_traits {
	static constexpr int D = D_, KEYS = HOPPER_BACKWARD_ROWS, CONSUMERS = 2,
	                     TILE = CONSUMERS * GROUP_ROWS, BLOCKS = D / 64,
	                     STAGES = D == 64 ? 8 : 4;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP,
	                     PIECE_BYTES = GROUP_ROWS * D * 2, ROW_STATS_BYTES = KEYS * 4;
	static constexpr int SHARED = CONSUMERS * 2 * PIECE_BYTES +
	                              STAGES * (2 * PIECE_BYTES + 2 * ROW_STATS_BYTES + 16) +
	                              CONSUMERS * 16 + 1024;
};

// ---- what each query's row needs ----

enum { ROWS_THREADS = 256 };

__device__ __forceinline__ float2 unpack(uint32_t x, type_bf16 *)
{
	return {__uint_as_float(x << 16), __uint_as_float(x & 0xffff0000u)};
}
__device__ __forceinline__ float2 unpack(uint32_t x, type_f16 *)
{
	return __half22float2(*(__half2 *)&x);
}

// Padding rows, and rows that see no key, get weight 0.
template <int D, class T>
__global__ void __launch_bounds__(ROWS_THREADS)
        hopper_rows(const __grid_constant__ hopper_backward_args p)
{
	size_t row =
	        (size_t)blockIdx.x * (ROWS_THREADS / 32) + threadIdx.x / 32; // of [b][padded][h]
	int lane = (int)threadIdx.x % 32, head = (int)(row % p.h),
	    query = (int)(row / p.h % p.padded), batch = (int)(row / p.h / p.padded);
	if (batch >= p.b)
		return;
	float sum = 0, lse = -INFINITY;
	if (query < p.sq) {
		size_t at = (((size_t)batch * p.sq + query) * p.h + head) * D / 2 + lane;
#pragma unroll
		for (int i = 0; i < D / 64; i++) {
			float2 x = unpack(((const uint32_t *)p.o)[at + 32 * i], (T *)0),
			       y = unpack(((const uint32_t *)p.d_o)[at + 32 * i], (T *)0);
			sum += x.x * y.x + x.y * y.y;
		}
		lse = p.lse[((size_t)batch * p.h + head) * p.sq + query];
	}
	for (int step = 16; step > 0; step /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, step);
	if (lane == 0) {
		size_t to = ((size_t)batch * p.h + head) * p.padded + query;
		p.rows[to] = lse == -INFINITY ? INFINITY : lse * 1.4426950408889634f;
		p.rows[(size_t)p.b * p.h * p.padded + to] = sum;
	}
}

#if HOPPER_CODE

// Shared memory addresses: two resident pieces of each consumer (later its output), two streamed
// ones of each stage, and the row statistics of a stage.
struct shared_layout {
	uint32_t resident, pass, row_stats, full, empty, resident_full, resident_empty;
};

template <class Traits> HOPPER_INLINE shared_layout lay_out_shared(unsigned char *memory)
{
	uint32_t resident = (shared_address(memory) + 1023) & ~1023u,
	         pass = resident + Traits::CONSUMERS * 2 * Traits::PIECE_BYTES,
	         row_stats = pass + Traits::STAGES * 2 * Traits::PIECE_BYTES;
	uint32_t full = row_stats + Traits::STAGES * 2 * Traits::ROW_STATS_BYTES,
	         resident_full = full + 16 * Traits::STAGES;
	return {resident, pass, row_stats, full, full + 8 * Traits::STAGES, resident_full,
	        resident_full + 8 * Traits::CONSUMERS};
}

// 128 resident rows of one head, and the rows streamed past them: `tiles` tiles of 64 rows from
// number `begin` on, once for each of `heads` heads from `head` on.
struct tile {
	int first, kv_head, head, batch, begin, tiles, heads;
};

HOPPER_INLINE int shift_of(const hopper_backward_args &p)
{
	return p.skv - p.sq;
}

// Resident keys; those that most queries see come first.
template <class Traits>
HOPPER_INLINE tile locate_keys_tile(const hopper_backward_args &p, int tile_index)
{
	int tiles = (p.skv + Traits::TILE - 1) / Traits::TILE, group = p.h / p.hkv;
	tile_assignment d = assign_tile(tile_index, tiles, p.b * p.hkv, p.section_keys);
	int first = d.number * Traits::TILE;
	int begin = p.causal ? max(0, first - shift_of(p)) / Traits::KEYS : 0;
	return {first, d.head % p.hkv, d.head % p.hkv * group, d.head / p.hkv, begin,
	        max(0, p.padded / Traits::KEYS - begin), group};
}

// Resident queries; those that see most keys come first.
template <class Traits>
HOPPER_INLINE tile locate_queries_tile(const hopper_backward_args &p, int tile_index)
{
	int tiles = (p.sq + Traits::TILE - 1) / Traits::TILE;
	tile_assignment d = assign_tile(tile_index, tiles, p.b * p.h, p.section_queries);
	int first = (tiles - 1 - d.number) * Traits::TILE;
	int end = p.causal ? min(p.skv, max(0, first + Traits::TILE + shift_of(p))) : p.skv;
	return {first, d.head % p.h / (p.h / p.hkv), d.head % p.h, d.head / p.h, 0,
	        (end + Traits::KEYS - 1) / Traits::KEYS, 1};
}

// ---- the producer: one thread ----

template <class Traits>
HOPPER_INLINE void load_piece(
        uint32_t to, const CUtensorMap *map, uint32_t full, int head, int row, int batch)
{
#pragma unroll
	for (int x = 0; x < Traits::BLOCKS; x++)
		tma_load_4d(to + x * GROUP_ROWS * ROW_BYTES, map, full, x * 64, head, row, batch);
}

template <class Traits>
HOPPER_INLINE void load_resident(const CUtensorMap *a, const CUtensorMap *b, const shared_layout &s,
        const tile &t, int head, int parity)
{
	for (int g = 0; g < Traits::CONSUMERS; g++) {
		uint32_t to = s.resident + g * 2 * Traits::PIECE_BYTES,
		         full = s.resident_full + g * 8;
		barrier_wait(s.resident_empty + g * 8, parity);
		barrier_expect(full, 2 * Traits::PIECE_BYTES);
		load_piece<Traits>(to, a, full, head, t.first + g * GROUP_ROWS, t.batch);
		load_piece<Traits>(
		        to + Traits::PIECE_BYTES, b, full, head, t.first + g * GROUP_ROWS, t.batch);
	}
}

// `keys_resident`: queries are streamed, with their row statistics.
template <class Traits, bool keys_resident>
HOPPER_INLINE void produce(const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v,
        const CUtensorMap *d_o, const hopper_backward_args &p, const shared_layout &s,
        int tile_count)
{
	ring<Traits::STAGES> r = {0, 0};
	int parity = 1;
	for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
	        tile_index += (int)gridDim.x, parity ^= 1) {
		tile t = keys_resident ? locate_keys_tile<Traits>(p, tile_index)
		                       : locate_queries_tile<Traits>(p, tile_index);
		load_resident<Traits>(keys_resident ? k : q, keys_resident ? v : d_o, s, t,
		        keys_resident ? t.kv_head : t.head, parity);
		for (int head = t.head; head < t.head + t.heads; head++)
			for (int i = t.begin; i < t.begin + t.tiles; i++, r.next()) {
				uint32_t to = s.pass + r.stage * 2 * Traits::PIECE_BYTES,
				         full = s.full + r.stage * 8;
				barrier_wait(s.empty + r.stage * 8, r.phase ^ 1);
				barrier_expect(full,
				        2 * Traits::PIECE_BYTES +
				                (keys_resident ? 2 * Traits::ROW_STATS_BYTES : 0));
				load_piece<Traits>(to, keys_resident ? q : k, full,
				        keys_resident ? head : t.kv_head, i * Traits::KEYS,
				        t.batch);
				load_piece<Traits>(to + Traits::PIECE_BYTES,
				        keys_resident ? d_o : v, full,
				        keys_resident ? head : t.kv_head, i * Traits::KEYS,
				        t.batch);
				if (keys_resident) {
					const float *stats =
					        p.rows + ((size_t)t.batch * p.h + head) * p.padded +
					        i * Traits::KEYS;
					bulk_load(
					        s.row_stats + r.stage * 2 * Traits::ROW_STATS_BYTES,
					        stats, Traits::ROW_STATS_BYTES, full);
					bulk_load(s.row_stats +
					                  r.stage * 2 * Traits::ROW_STATS_BYTES +
					                  Traits::ROW_STATS_BYTES,
					        stats + (size_t)p.b * p.h * p.padded,
					        Traits::ROW_STATS_BYTES, full);
				}
			}
	}
}

// ---- the consumers ----

// With streamed queries every lane reads row statistics, so every lane releases the stage.
template <bool keys_resident> HOPPER_INLINE void release_stage(uint32_t empty)
{
	if (keys_resident)
		barrier_arrive(empty);
	else
		release_converged(empty);
}

// The tiles streamed past a warpgroup, without those that the mask hides from all of its rows.
template <class Traits, bool keys_resident> struct streamed_tiles {
	const shared_layout &s;
	ring<Traits::STAGES> &r;
	// tiles left; tiles of a head; index in it; first tile; limits of the mask: see is_masked()
	int left, count, at, begin, first, last;
	int row, stage; // the current tile

	// Queries before row `first` see none of the keys; no query sees keys after row `last`.
	HOPPER_INLINE bool is_masked(void) const
	{
		return keys_resident ? row + Traits::KEYS <= first : row > last;
	}
	HOPPER_INLINE bool next(void)
	{
		for (; left > 0; left--) {
			barrier_wait(s.full + r.stage * 8, r.phase);
			row = (begin + at) * Traits::KEYS;
			stage = r.stage;
			at = at + 1 == count ? 0 : at + 1;
			r.next();
			if (!is_masked()) {
				left--;
				return true;
			}
			release_stage<keys_resident>(s.empty + stage * 8);
		}
		return false;
	}
};

template <class Traits> HOPPER_INLINE void zero(float *x)
{
#pragma unroll
	for (int i = 0; i < Traits::D / 2; i++)
		x[i] = 0;
}

// Weight 0 where key - query > reach; rows of s are keys, columns queries.
template <class Traits> HOPPER_INLINE void mask_queries(float *s, int reach)
{
	int thread = (int)threadIdx.x % WARPGROUP, row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
	for (int i = 0; i < Traits::KEYS / 2; i++)
		if (row + i / 2 % 2 * 8 - (i / 4 * 8 + thread % 4 * 2 + i % 2) > reach)
			s[i] = -INFINITY;
}

// The row statistics of columns 8 i + lane % 4 * 2 and the next one.
HOPPER_INLINE float2 load_row_stats(uint32_t stats, int i)
{
	float2 x;
	asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
	             : "=f"(x.x), "=f"(x.y)
	             : "r"(stats + i * 32 + threadIdx.x % 4 * 8));
	return x;
}

// P = exp(s - lse); dS = P (dP - delta). Row statistics are those of the columns.
template <class Traits> HOPPER_INLINE void exp_columns(float *s, uint32_t stats, float scale)
{
#pragma unroll
	for (int i = 0; i < Traits::KEYS / 8; i++) {
		float2 lse = load_row_stats(stats, i);
		s[4 * i] = exp2_approx(s[4 * i] * scale - lse.x);
		s[4 * i + 1] = exp2_approx(s[4 * i + 1] * scale - lse.y);
		s[4 * i + 2] = exp2_approx(s[4 * i + 2] * scale - lse.x);
		s[4 * i + 3] = exp2_approx(s[4 * i + 3] * scale - lse.y);
	}
}
template <class Traits>
HOPPER_INLINE void multiply_by_delta(float *dp, const float *p, uint32_t stats)
{
#pragma unroll
	for (int i = 0; i < Traits::KEYS / 8; i++) {
		float2 delta = load_row_stats(stats, i);
		dp[4 * i] = p[4 * i] * (dp[4 * i] - delta.x);
		dp[4 * i + 1] = p[4 * i + 1] * (dp[4 * i + 1] - delta.y);
		dp[4 * i + 2] = p[4 * i + 2] * (dp[4 * i + 2] - delta.x);
		dp[4 * i + 3] = p[4 * i + 3] * (dp[4 * i + 3] - delta.y);
	}
}

template <class Traits, class T>
HOPPER_INLINE void consume_keys(float *dk, float *dv, const hopper_backward_args &p,
        const shared_layout &s, const tile &t, int group, ring<Traits::STAGES> &r,
        tk_trace_ref trace)
{
	uint32_t weight[Traits::KEYS / 4], d_score[Traits::KEYS / 4],
	        k = s.resident + group * 2 * Traits::PIECE_BYTES;
	int key = t.first + group * GROUP_ROWS, last = -1;
	streamed_tiles<Traits, true> q = {s, r, t.tiles * t.heads, t.tiles, 0, t.begin,
	        p.causal ? key - shift_of(p) : 0, 0, 0, 0};
	tk_trace_enter(trace, REGION_WAIT_STEP);
	while (q.next()) {
		uint32_t at = s.pass + q.stage * 2 * Traits::PIECE_BYTES,
		         stats = s.row_stats + q.stage * 2 * Traits::ROW_STATS_BYTES;
		float score[Traits::KEYS / 2],
		        dp[Traits::KEYS /
		                2]; // declared here, so that no product depends on earlier values
		wgmma_fence();
		tk_trace_begin<0>(trace, REGION_SCORES, q.stage, REGION_WAIT_PRODUCTS);
		issue_scores<Traits, T>(score, k, at);
		issue_scores<Traits, T>(dp, k + Traits::PIECE_BYTES, at + Traits::PIECE_BYTES);
		wgmma_wait<1>();
		tk_trace_end<1>(trace, REGION_SCORES, q.stage, REGION_WEIGHTS);
		if (last >= 0)
			release_stage<true>(s.empty + last * 8);
		if (p.causal && q.row + shift_of(p) < key + GROUP_ROWS - 1)
			mask_queries<Traits>(score, q.row + shift_of(p) - key);
		exp_columns<Traits>(score, stats, p.scale_log2);
		pack_weights<Traits, T>(weight, score);
		wgmma_wait<0>();
		multiply_by_delta<Traits>(dp, score, stats + Traits::ROW_STATS_BYTES);
		pack_weights<Traits, T>(d_score, dp);
		wgmma_fence();
		tk_trace_begin<2>(trace, REGION_GRADIENTS, q.stage, REGION_WAIT_PRODUCTS);
		issue_output<Traits, T>(dv, weight, at + Traits::PIECE_BYTES, 1);
		issue_output<Traits, T>(dk, d_score, at, 1);
		wgmma_wait<1>(); // frees the weights' registers for the next scores; dK still runs
		tk_trace_end<3>(trace, REGION_GRADIENTS, q.stage, REGION_WAIT_STEP);
		tk_trace_advance<4>(trace);
		last = q.stage;
	}
	wgmma_wait<0>();
	if (last >= 0)
		release_stage<true>(s.empty + last * 8);
}

// Masks keys that a query does not see; rows of s are queries.
template <class Traits>
HOPPER_INLINE void mask_keys(float *s, const hopper_backward_args &p, int row, int key)
{
#pragma unroll
	for (int i = 0; i < Traits::KEYS / 2; i++) {
		int visible =
		        (p.causal ? min(p.skv, row + i / 2 % 2 * 8 + shift_of(p) + 1) : p.skv) -
		        key;
		if (i / 4 * 8 + (int)threadIdx.x % 4 * 2 + i % 2 >= visible)
			s[i] = -INFINITY;
	}
}

template <class Traits, class T>
HOPPER_INLINE void consume_queries(float *dq, const hopper_backward_args &p, const shared_layout &s,
        const tile &t, int group, ring<Traits::STAGES> &r)
{
	float lse[2], delta[2];
	uint32_t d_score[Traits::KEYS / 4], q = s.resident + group * 2 * Traits::PIECE_BYTES;
	int first = t.first + group * GROUP_ROWS,
	    row = first + (int)threadIdx.x % WARPGROUP / 32 * 16 + (int)threadIdx.x % 32 / 4,
	    last = -1;
	int all =
	        p.causal ? min(p.skv, first + shift_of(p) + 1) : p.skv; // keys that all queries see
	const float *stats = p.rows + ((size_t)t.batch * p.h + t.head) * p.padded;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		bool there = row + half * 8 < p.sq;
		lse[half] = there ? stats[row + half * 8] : INFINITY;
		delta[half] = there ? stats[(size_t)p.b * p.h * p.padded + row + half * 8] : 0;
	}
	streamed_tiles<Traits, false> k = {s, r, t.tiles, t.tiles, 0, 0, 0,
	        p.causal ? first + GROUP_ROWS - 1 + shift_of(p) : p.skv, 0, 0};
	while (k.next()) {
		uint32_t at = s.pass + k.stage * 2 * Traits::PIECE_BYTES;
		float score[Traits::KEYS / 2], dp[Traits::KEYS / 2];
		wgmma_fence();
		issue_scores<Traits, T>(score, q, at);
		issue_scores<Traits, T>(dp, q + Traits::PIECE_BYTES, at + Traits::PIECE_BYTES);
		wgmma_wait<1>();
		if (last >= 0)
			release_stage<false>(s.empty + last * 8);
		if (k.row + Traits::KEYS > all)
			mask_keys<Traits>(score, p, row, k.row);
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 2; i++)
			score[i] = exp2_approx(score[i] * p.scale_log2 - lse[i / 2 % 2]);
		wgmma_wait<0>();
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 2; i++)
			dp[i] = score[i] * (dp[i] - delta[i / 2 % 2]);
		pack_weights<Traits, T>(d_score, dp);
		wgmma_fence();
		issue_output<Traits, T>(dq, d_score, at, 1);
		last = k.stage;
	}
	wgmma_wait<0>();
	if (last >= 0)
		release_stage<false>(s.empty + last * 8);
}

template <class Traits, class T>
HOPPER_INLINE void stage_output(float *x, float factor, uint32_t at)
{
#pragma unroll
	for (int i = 0; i < Traits::D / 2; i++)
		x[i] *= factor;
	store_output<Traits, T>(x, at);
}

template <class Traits>
HOPPER_INLINE void store_piece(uint32_t at, const CUtensorMap *map, int head, int row, int batch)
{
	for (int x = 0; x < Traits::BLOCKS; x++)
		tma_store_4d(map, at + x * GROUP_ROWS * ROW_BYTES, x * 64, head, row, batch);
}

// The buffers of the resident operands become those of their gradients. `b` may be NULL.
template <class Traits>
HOPPER_INLINE void store_gradients(const CUtensorMap *a, const CUtensorMap *b,
        const shared_layout &s, const tile &t, int head, int group)
{
	uint32_t at = s.resident + group * 2 * Traits::PIECE_BYTES;
	int row = t.first + group * GROUP_ROWS;
	fence_async();
	named_barrier(1 + group, WARPGROUP);
	if (threadIdx.x % WARPGROUP)
		return;
	store_piece<Traits>(at, a, head, row, t.batch);
	if (b)
		store_piece<Traits>(at + Traits::PIECE_BYTES, b, head, row, t.batch);
	tma_store_commit();
	tma_store_wait_read<0>();
	barrier_arrive(s.resident_empty + group * 8);
}

#endif

template <class Traits, class T>
__global__ void __launch_bounds__(Traits::THREADS, 1)
        hopper_keys(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o,
                const __grid_constant__ CUtensorMap dk, const __grid_constant__ CUtensorMap dv,
                const __grid_constant__ hopper_backward_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	shared_layout s = lay_out_shared<Traits>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0),
	    tile_count = (p.skv + Traits::TILE - 1) / Traits::TILE * p.b * p.hkv;
	init_barriers<Traits, Traits::STAGES, WARPGROUP>(
	        s.resident_full, s.resident_empty, s.full, s.empty);
	if (group == Traits::CONSUMERS) {
		registers_release<24>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<Traits, true>(&q, &k, &v, &d_o, p, s, tile_count);
	} else {
		registers_acquire<240>();
		tk_trace_writer trace =
		        tk_trace_open((uint32_t)group, threadIdx.x % WARPGROUP == 0);
		ring<Traits::STAGES> r = {0, 0};
		int parity = 0;
		for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
		        tile_index += (int)gridDim.x, parity ^= 1) {
			tile t = locate_keys_tile<Traits>(p, tile_index);
			float sums_k[Traits::D / 2], sums_v[Traits::D / 2];
			zero<Traits>(sums_k);
			zero<Traits>(sums_v);
			tk_trace_enter_tile(trace, REGION_WAIT_KEYS);
			barrier_wait(s.resident_full + group * 8, parity);
			consume_keys<Traits, T>(sums_k, sums_v, p, s, t, group, r, trace);
			tk_trace_enter(trace, REGION_STORE);
			stage_output<Traits, T>(
			        sums_k, p.scale, s.resident + group * 2 * Traits::PIECE_BYTES);
			stage_output<Traits, T>(sums_v, 1,
			        s.resident + group * 2 * Traits::PIECE_BYTES + Traits::PIECE_BYTES);
			store_gradients<Traits>(&dk, &dv, s, t, t.kv_head, group);
		}
		if (threadIdx.x % WARPGROUP == 0)
			tma_store_wait<0>();
		tk_trace_close(trace);
	}
#endif
}

template <class Traits, class T>
__global__ void __launch_bounds__(Traits::THREADS, 1) hopper_queries(
        const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
        const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o,
        const __grid_constant__ CUtensorMap dq, const __grid_constant__ hopper_backward_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	shared_layout s = lay_out_shared<Traits>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0),
	    tile_count = (p.sq + Traits::TILE - 1) / Traits::TILE * p.b * p.h;
	init_barriers<Traits, Traits::STAGES>(s.resident_full, s.resident_empty, s.full, s.empty);
	if (group == Traits::CONSUMERS) {
		registers_release<24>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<Traits, false>(&q, &k, &v, &d_o, p, s, tile_count);
	} else {
		registers_acquire<240>();
		ring<Traits::STAGES> r = {0, 0};
		int parity = 0;
		for (int tile_index = (int)blockIdx.x; tile_index < tile_count;
		        tile_index += (int)gridDim.x, parity ^= 1) {
			tile t = locate_queries_tile<Traits>(p, tile_index);
			float sums[Traits::D / 2];
			zero<Traits>(sums);
			barrier_wait(s.resident_full + group * 8, parity);
			consume_queries<Traits, T>(sums, p, s, t, group, r);
			stage_output<Traits, T>(
			        sums, p.scale, s.resident + group * 2 * Traits::PIECE_BYTES);
			store_gradients<Traits>(&dq, NULL, s, t, t.head, group);
		}
		if (threadIdx.x % WARPGROUP == 0)
			tma_store_wait<0>();
	}
#endif
}

// ---- the host's side ----

template <class F> static int with_kernels(const struct hopper_backward_call *call, F f)
{
	if (call->dtype == TK_F16)
		return call->d == 64 ? f(kernel_traits<64>(), (struct type_f16 *)0)
		                     : f(kernel_traits<128>(), (struct type_f16 *)0);
	return call->d == 64 ? f(kernel_traits<64>(), (struct type_bf16 *)0)
	                     : f(kernel_traits<128>(), (struct type_bf16 *)0);
}

extern "C" int hopper_backward_prepare(const struct hopper_backward_call *call)
{
	return with_kernels(call, [](auto l, auto *type) {
		using Traits = decltype(l);
		using T = typename std::remove_pointer<decltype(type)>::type;
		int code = (int)cudaFuncSetAttribute(hopper_keys<Traits, T>,
		        cudaFuncAttributeMaxDynamicSharedMemorySize, Traits::SHARED);
		return code ? code
		            : (int)cudaFuncSetAttribute(hopper_queries<Traits, T>,
		                      cudaFuncAttributeMaxDynamicSharedMemorySize, Traits::SHARED);
	});
}

extern "C" int hopper_backward_launch(const struct hopper_backward_call *call, void *stream)
{
	return with_kernels(call, [=](auto l, auto *type) {
		using Traits = decltype(l);
		using T = typename std::remove_pointer<decltype(type)>::type;
		const hopper_backward_args &p = call->args;
		size_t rows = (size_t)p.b * p.h * p.padded, in_block = ROWS_THREADS / 32;
		int keys = (p.skv + Traits::TILE - 1) / Traits::TILE * p.b * p.hkv,
		    queries = (p.sq + Traits::TILE - 1) / Traits::TILE * p.b * p.h;
		hopper_rows<Traits::D, T><<<(unsigned)((rows + in_block - 1) / in_block),
		        ROWS_THREADS, 0, (cudaStream_t)stream>>>(p);
		hopper_keys<Traits, T><<<hopper_blocks(keys, call->multiprocessors),
		        Traits::THREADS, Traits::SHARED, (cudaStream_t)stream>>>(
		        call->q, call->k, call->v, call->d_o, call->dk, call->dv, p);
		hopper_queries<Traits, T><<<hopper_blocks(queries, call->multiprocessors),
		        Traits::THREADS, Traits::SHARED, (cudaStream_t)stream>>>(
		        call->q, call->k, call->v, call->d_o, call->dq, p);
		return (int)cudaGetLastError();
	});
}
