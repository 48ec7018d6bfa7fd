// GEMM for sm_90a: C = op(A) op(B), sums in f32. The last step of the GEMM ladder. It adds to
// gemm_5_matrix.cu:
//  - warp specialization: a producer warp loads tiles by TMA, swizzled, into a ring of stages whose
//    barriers count bytes;
//  - one or two consumer warpgroups multiply 64 rows each by wgmma, operands from shared memory,
//    sums in registers that the producer's warpgroup has released (setmaxnreg);
//  - a persistent grid: each block takes tile after tile, in bands that share operands in the L2
//    cache; the next tile is loaded during the epilogue;
//  - clusters of two blocks share the tiles of B: each loads half of them by multicast;
//  - the epilogue stores C through shared memory by TMA. Where there are few tiles, several blocks
//    split the k of one (split-K); the last one to arrive adds up the partial sums in a fixed
//    order.
// Source of the instructions: PTX ISA 8.0; of the design: CUTLASS 3 (sm90 warp-specialized
// persistent kernels).
#include "hopper_gemm.h"
#include "hopper_wgmma.h"
#include "trace.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { ROW_BYTES = 128, GROUP_ROWS = 64, BAND = 8, STAGING_BYTES = 8192 };

// Of two consumers; recording needs a few registers of the producer's.
#ifdef TK_TRACE
enum { PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232 };
#else
enum { PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240 };
#endif

#define REGIONS(X) \
	X(LOAD_WAIT, "wait for a free stage", WAIT) \
	X(LOAD, "load", LOAD) \
	X(WAIT, "wait for data", WAIT) \
	X(WAIT_MULTIPLY, "wait for products", WAIT) \
	X(MULTIPLY, "multiply", TENSOR) \
	X(REDUCE, "add the splits", COMPUTE) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("hopper_gemm", REGIONS, "producer", "consumer 1", "consumer 2")

template <int CONSUMERS_, int N_, int STAGES_, int CLUSTER_> struct kernel_traits {
	static constexpr int CONSUMERS = CONSUMERS_, M = 64 * CONSUMERS, N = N_, STAGES = STAGES_,
	                     CLUSTER = CLUSTER_;
	static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP;
	static constexpr int A_BYTES = M * ROW_BYTES, B_BYTES = N * ROW_BYTES,
	                     STAGE_BYTES = A_BYTES + B_BYTES;
	// Stages, two staging buffers of C for each consumer, barriers, and alignment to 1024
	// bytes.
	static constexpr int SHARED =
	        STAGES * STAGE_BYTES + CONSUMERS * 2 * STAGING_BYTES + 2 * STAGES * 8 + 1024;
};

struct operands {
	uint32_t stages, staging, full, empty; // shared memory addresses
};

#if HOPPER_CODE

struct tile {
	int row, column, z, first, last, split,
	        index; // first, last: steps along k; index: in this launch
};

// The tile of this block in cluster `tile_index`: bands of BAND rows of clusters, column by column.
template <class Traits> HOPPER_INLINE tile locate_tile(const hopper_gemm_args &p, int tile_index)
{
	int in_batch = p.rows * p.columns * p.splits, z = tile_index / in_batch,
	    rest = tile_index % in_batch;
	int split = rest % p.splits, flat = rest / p.splits;
	int band = flat / (BAND * p.columns), in_band = flat - band * BAND * p.columns,
	    height = min(BAND, p.rows - band * BAND);
	int row = band * BAND + in_band % height, column = in_band / height;
	int block_row = row * Traits::CLUSTER + (Traits::CLUSTER > 1 ? (int)cluster_rank() : 0);
	return {block_row * Traits::M, column * Traits::N, z,
	        (int)((int64_t)p.steps * split / p.splits),
	        (int)((int64_t)p.steps * (split + 1) / p.splits), split,
	        (z * p.rows * Traits::CLUSTER + block_row) * p.columns + column};
}

// ---- the producer: one thread ----

template <class Traits, int K, bool a_fast>
HOPPER_INLINE void load_a(
        const CUtensorMap *map, uint32_t to, uint32_t barrier, const tile &t, int step)
{
	if (a_fast)
		tma_load_3d(to, map, barrier, step * K, t.row, t.z);
	else
#pragma unroll
		for (int i = 0; i < Traits::CONSUMERS; i++)
			tma_load_3d(to + i * GROUP_ROWS * ROW_BYTES, map, barrier, t.row + i * 64,
			        step * K, t.z);
}

template <class Traits, int K, bool b_fast>
HOPPER_INLINE void load_b(
        const CUtensorMap *map, uint32_t to, uint32_t barrier, const tile &t, int step)
{
	constexpr int PART =
	        Traits::N /
	        Traits::CLUSTER; // rows of op(B)' that this block loads for the whole cluster
	int first = Traits::CLUSTER > 1 ? (int)cluster_rank() * PART : 0;
	uint16_t all = (1 << Traits::CLUSTER) - 1;
	to += first * ROW_BYTES;
#pragma unroll
	for (int i = 0; i < (b_fast ? 1 : PART / 64); i++) {
		int x = b_fast ? step * K : t.column + first + i * 64,
		    y = b_fast ? t.column + first : step * K;
		if (Traits::CLUSTER > 1)
			tma_load_3d_multicast(
			        to + i * 64 * ROW_BYTES, map, barrier, x, y, t.z, all);
		else
			tma_load_3d(to + i * 64 * ROW_BYTES, map, barrier, x, y, t.z);
	}
}

template <class Traits, int K, bool a_fast, bool b_fast>
HOPPER_INLINE void produce(const CUtensorMap *a, const CUtensorMap *b, const hopper_gemm_args &p,
        const operands &s, int tile_count, tk_trace_ref trace)
{
	int stage = 0, phase = 1;
	for (int tile_index = (int)blockIdx.x / Traits::CLUSTER; tile_index < tile_count;
	        tile_index += (int)gridDim.x / Traits::CLUSTER) {
		tile t = locate_tile<Traits>(p, tile_index);
		for (int step = t.first; step < t.last; step++) {
			uint32_t to = s.stages + stage * Traits::STAGE_BYTES,
			         full = s.full + stage * 8;
			tk_trace_enter<0>(trace, REGION_LOAD_WAIT);
			barrier_wait(s.empty + stage * 8, phase);
			tk_trace_enter<1>(trace, REGION_LOAD);
			tk_trace_advance<2>(trace);
			barrier_expect(full, Traits::STAGE_BYTES);
			load_a<Traits, K, a_fast>(a, to, full, t, step);
			load_b<Traits, K, b_fast>(b, to + Traits::A_BYTES, full, t, step);
			if (++stage == Traits::STAGES) {
				stage = 0;
				phase ^= 1;
			}
		}
	}
}

// ---- the consumers ----

template <class Traits> HOPPER_INLINE void release(uint32_t empty)
{
	if (Traits::CLUSTER > 1) {
		if (threadIdx.x % 32 < Traits::CLUSTER)
			barrier_arrive_remote(empty, threadIdx.x % 32);
	} else if (threadIdx.x % 32 == 0)
		barrier_arrive(empty);
}

template <class Traits, class A, class B, bool a_fast, bool b_fast>
HOPPER_INLINE void multiply_stage(float *sum, uint32_t at, int group, int accumulate)
{
	uint64_t a = wgmma_descriptor(at + group * GROUP_ROWS * ROW_BYTES, 0),
	         b = wgmma_descriptor(at + Traits::A_BYTES, 64 * ROW_BYTES);
	wgmma_fence();
#pragma unroll
	for (int i = 0; i < 4; i++) {
		wgmma<Traits::N, A, B, a_fast, b_fast>(sum, a, b, accumulate | i);
		a += wgmma_descriptor_step(a_fast);
		b += wgmma_descriptor_step(b_fast);
	}
	wgmma_commit();
}

struct ring {
	int stage, phase;
};

// sum = the product over a tile's steps. One wgmma is in flight while the next stage is awaited.
template <class Traits, class A, class B, bool a_fast, bool b_fast>
HOPPER_INLINE void multiply_tile(
        float *sum, const operands &s, const tile &t, int group, ring &r, tk_trace_ref trace)
{
	int last = -1;
	tk_trace_enter_tile(trace, REGION_WAIT);
	for (int step = t.first; step < t.last; step++) {
		barrier_wait(s.full + r.stage * 8, r.phase);
		tk_trace_begin<0>(trace, REGION_MULTIPLY, r.stage, REGION_WAIT_MULTIPLY);
		multiply_stage<Traits, A, B, a_fast, b_fast>(
		        sum, s.stages + r.stage * Traits::STAGE_BYTES, group, step > t.first);
		wgmma_wait<1>();
		if (last >= 0) {
			tk_trace_end<1>(trace, REGION_MULTIPLY, last, REGION_WAIT);
			release<Traits>(s.empty + last * 8);
		}
		tk_trace_advance<2>(trace);
		last = r.stage;
		if (++r.stage == Traits::STAGES) {
			r.stage = 0;
			r.phase ^= 1;
		}
	}
	wgmma_wait<0>();
	if (last >= 0) {
		tk_trace_end(trace, REGION_MULTIPLY, last, TK_TRACE_NOTHING);
		release<Traits>(s.empty + last * 8);
	}
}

HOPPER_INLINE uint32_t pack(float x, float y, uint32_t type)
{
	if (type == TK_BF16) {
		__nv_bfloat162 b = __floats2bfloat162_rn(x, y);
		return *(uint32_t *)&b;
	}
	__half2 h = __floats2half2_rn(x, y);
	return *(uint32_t *)&h;
}

// Epilogue by TMA through two buffers of 64 x 64: one is written while the other is stored.
template <class Traits>
HOPPER_INLINE void store_tile_tma(const float *sum, const CUtensorMap *map, uint32_t type,
        uint32_t staging, const tile &t, int group)
{
	int thread = (int)threadIdx.x % WARPGROUP, lane = thread % 32,
	    row = thread / 32 * 16 + lane % 16;
	staging += group * 2 * STAGING_BYTES;
#pragma unroll
	for (int piece = 0; piece < Traits::N / 64; piece++) {
		uint32_t to = staging + piece % 2 * STAGING_BYTES + row * ROW_BYTES;
		if (thread == 0)
			tma_store_wait_read<1>();
		named_barrier(1 + group, WARPGROUP);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const float *x = sum + piece * 32 + i * 8;
			store_matrix(to + ((i * 2 + lane / 16) ^ row % 8) * 16,
			        pack(x[0], x[1], type), pack(x[2], x[3], type),
			        pack(x[4], x[5], type), pack(x[6], x[7], type));
		}
		fence_async();
		named_barrier(1 + group, WARPGROUP);
		if (thread == 0) {
			tma_store_3d(map, staging + piece % 2 * STAGING_BYTES,
			        t.column + piece * 64, t.row + group * 64, t.z);
			tma_store_commit();
		}
	}
}

HOPPER_INLINE void store_element(const hopper_gemm_args &p, size_t at, float x)
{
	if (p.c_type == TK_F32)
		((float *)p.c)[at] = x;
	else
		((uint16_t *)p.c)[at] = (uint16_t)pack(x, x, p.c_type);
}

template <class Traits>
HOPPER_INLINE void store_tile_direct(
        const float *sum, const hopper_gemm_args &p, const tile &t, int group)
{
	int thread = (int)threadIdx.x % WARPGROUP,
	    row = t.row + group * 64 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
	for (int i = 0; i < Traits::N / 2; i += 2) {
		int r = row + i / 2 % 2 * 8, column = t.column + i / 4 * 8 + thread % 4 * 2;
		size_t at = ((size_t)t.z * p.m + r) * p.ldc + column;
		if (r < p.m && column < p.n)
			store_element(p, at, sum[i]);
		if (r < p.m && column + 1 < p.n)
			store_element(p, at + 1, sum[i + 1]);
	}
}

// Split-K: stores this block's partial sums. The last block of the tile gets all of them, added in
// order of the splits.
template <class Traits>
HOPPER_INLINE bool reduce_splits(float *sum, const hopper_gemm_args &p, const tile &t, int group)
{
	__shared__ unsigned order[Traits::CONSUMERS];
	int thread = (int)threadIdx.x % WARPGROUP, place = t.index * Traits::CONSUMERS + group;
	float4 *partials = (float4 *)p.partial +
	                   (size_t)place * p.splits * (Traits::N / 8) * WARPGROUP + thread;
#pragma unroll
	for (int i = 0; i < Traits::N / 8; i++)
		__stcg(partials + (t.split * (Traits::N / 8) + i) * WARPGROUP,
		        make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]));
	__threadfence();
	named_barrier(1 + group, WARPGROUP);
	if (thread == 0)
		order[group] = atomicAdd(p.arrived + place, 1);
	named_barrier(1 + group, WARPGROUP);
	if (order[group] != (unsigned)p.splits - 1)
		return false;
	__threadfence();
#pragma unroll
	for (int i = 0; i < Traits::N / 2; i++)
		sum[i] = 0;
	for (int split = 0; split < p.splits; split++)
#pragma unroll
		for (int i = 0; i < Traits::N / 8; i++) {
			float4 x = __ldcg(partials + (split * (Traits::N / 8) + i) * WARPGROUP);
			sum[4 * i] += x.x;
			sum[4 * i + 1] += x.y;
			sum[4 * i + 2] += x.z;
			sum[4 * i + 3] += x.w;
		}
	if (thread == 0)
		p.arrived[place] = 0;
	return true;
}

template <class Traits, class A, class B, bool a_fast, bool b_fast>
HOPPER_INLINE void consume(const CUtensorMap *c, const hopper_gemm_args &p, const operands &s,
        int group, int tile_count, tk_trace_ref trace)
{
	float sum[Traits::N / 2];
	ring r = {0, 0};
	for (int tile_index = (int)blockIdx.x / Traits::CLUSTER; tile_index < tile_count;
	        tile_index += (int)gridDim.x / Traits::CLUSTER) {
		tile t = locate_tile<Traits>(p, tile_index);
		multiply_tile<Traits, A, B, a_fast, b_fast>(sum, s, t, group, r, trace);
		if (p.splits > 1) {
			tk_trace_enter(trace, REGION_REDUCE);
			bool is_last = reduce_splits<Traits>(sum, p, t, group);
			if (!is_last)
				continue;
		}
		tk_trace_enter(trace, REGION_STORE);
		if (p.out == HOPPER_OUT_COPY)
			store_tile_tma<Traits>(sum, c, p.c_type, s.staging, t, group);
		else
			store_tile_direct<Traits>(sum, p, t, group);
	}
	if (threadIdx.x % WARPGROUP == 0)
		tma_store_wait<0>();
}

template <class Traits> HOPPER_INLINE operands lay_out_shared(unsigned char *memory)
{
	uint32_t base = (shared_address(memory) + 1023) & ~1023u,
	         staging = base + Traits::STAGES * Traits::STAGE_BYTES;
	uint32_t barriers = staging + Traits::CONSUMERS * 2 * STAGING_BYTES;
	return {base, staging, barriers, barriers + Traits::STAGES * 8};
}

#endif

template <class Traits, class A, class B, int K, bool a_fast, bool b_fast>
__global__ void __cluster_dims__(Traits::CLUSTER, 1, 1) __launch_bounds__(Traits::THREADS, 1)
        hopper_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, const __grid_constant__ hopper_gemm_args p)
{
#if HOPPER_CODE
	extern __shared__ unsigned char memory[];
	operands s = lay_out_shared<Traits>(memory);
	int group = __shfl_sync(0xffffffffu, (int)threadIdx.x / WARPGROUP, 0),
	    tile_count = p.rows * p.columns * p.splits * p.batch;
	if (threadIdx.x == 0) {
		barrier_init_pairs<Traits::STAGES>(
		        s.full, s.empty, Traits::CONSUMERS * 4 * Traits::CLUSTER);
		barrier_publish();
	}
	if (Traits::CLUSTER > 1)
		cluster_sync();
	else
		__syncthreads();
	tk_trace_writer trace = tk_trace_open(
	        group == Traits::CONSUMERS ? 0 : group + 1, threadIdx.x % WARPGROUP == 0);
	if (group == Traits::CONSUMERS) {
		if constexpr (Traits::CONSUMERS > 1)
			registers_release<PRODUCER_REGISTERS>();
		if (threadIdx.x % WARPGROUP == 0)
			produce<Traits, K, a_fast, b_fast>(&a, &b, p, s, tile_count, trace);
	} else {
		if constexpr (Traits::CONSUMERS > 1)
			registers_acquire<CONSUMER_REGISTERS>();
		consume<Traits, A, B, a_fast, b_fast>(&c, p, s, group, tile_count, trace);
	}
	tk_trace_close(trace);
	if (Traits::CLUSTER > 1)
		cluster_sync(); // do not exit while the peer may still signal this block's barriers
#endif
}

// ---- the host's side ----

using large = kernel_traits<2, 256, 4, 2>;
using wide = kernel_traits<2, 192, 4, 1>;
using middle = kernel_traits<2, 128, 6, 1>;
using flat = kernel_traits<1, 192, 6, 1>;
using small = kernel_traits<1, 128, 8, 1>;

const struct hopper_gemm_config hopper_gemm_configs[] = {
        {"tile-128x256-cluster-2", 128, 256, 2, 1},
        {"tile-128x192", 128, 192, 1, 1},
        {"tile-128x128", 128, 128, 1, 1},
        {"tile-64x192", 64, 192, 1, 1},
        {"tile-64x128", 64, 128, 1, 1},
        {"tile-64x128-split-2", 64, 128, 1, 2},
        {"tile-64x128-split-4", 64, 128, 1, 4},
        {"tile-64x128-split-8", 64, 128, 1, 8},
};
const uint32_t hopper_gemm_config_count = sizeof hopper_gemm_configs / sizeof *hopper_gemm_configs;

// Calls f(kernel, traits) for the operand types and layouts of a call.
template <class Traits, class T, class F>
static int with_traits_16bit(const struct hopper_gemm_call *call, F f)
{
	if (call->a_fast)
		return call->b_fast ? f(hopper_gemm<Traits, T, T, 64, true, true>, Traits())
		                    : f(hopper_gemm<Traits, T, T, 64, true, false>, Traits());
	return call->b_fast ? f(hopper_gemm<Traits, T, T, 64, false, true>, Traits())
	                    : f(hopper_gemm<Traits, T, T, 64, false, false>, Traits());
}

template <class Traits, class F> static int with_types(const struct hopper_gemm_call *call, F f)
{
	if (call->a_type == TK_BF16)
		return with_traits_16bit<Traits, type_bf16>(call, f);
	if (call->a_type == TK_F16)
		return with_traits_16bit<Traits, type_f16>(call, f);
	if (call->a_type == TK_E4M3 && call->b_type == TK_E4M3)
		return f(hopper_gemm<Traits, type_e4m3, type_e4m3, 128, true, true>, Traits());
	if (call->a_type == TK_E4M3)
		return f(hopper_gemm<Traits, type_e4m3, type_e5m2, 128, true, true>, Traits());
	return f(hopper_gemm<Traits, type_e5m2, type_e4m3, 128, true, true>, Traits());
}

template <class F> static int with_kernel(const struct hopper_gemm_call *call, F f)
{
	const struct hopper_gemm_config *c = &hopper_gemm_configs[call->config];
	if (c->tile_n == 256)
		return with_types<large>(call, f);
	if (c->tile_n == 192)
		return c->tile_m == 128 ? with_types<wide>(call, f) : with_types<flat>(call, f);
	return c->tile_m == 128 ? with_types<middle>(call, f) : with_types<small>(call, f);
}

HOPPER_PREPARE(hopper_gemm)

extern "C" int hopper_gemm_launch(const struct hopper_gemm_call *call, void *stream)
{
	return with_kernel(call, [=](auto kernel, auto l) {
		using Traits = decltype(l);
		const hopper_gemm_args &p = call->args;
		unsigned grid = hopper_blocks(p.rows * p.columns * p.splits * p.batch,
		                        call->multiprocessors / Traits::CLUSTER) *
		                Traits::CLUSTER;
		kernel<<<grid, Traits::THREADS, Traits::SHARED, (cudaStream_t)stream>>>(
		        call->a, call->b, call->c, p);
		return (int)cudaGetLastError();
	});
}
