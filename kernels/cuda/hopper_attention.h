/* Building blocks of attention for one warpgroup, shared by hopper_flash.cu, hopper_backward.cu and
 * hopper_nsa.cu: 64 rows of queries against Traits::KEYS keys of Traits::D. Operands are in shared
 * memory as TMA writes them, swizzled, in pieces of 64 columns one after the other. */
#ifndef HOPPER_ATTENTION_H
#define HOPPER_ATTENTION_H
#include "hopper_wgmma.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { ROW_BYTES = 128, GROUP_ROWS = 64 };

#if HOPPER_CODE

/* The order of tiles for a persistent grid: index by index, of `section` heads at a time, whose
 * tensors fit into the L2 cache. Taking the heads one by one would give each of the 132 blocks
 * every 132nd tile: with 128 tiles and a mask, always long ones or always short ones. */
struct tile_assignment {
	int number, head;
};
HOPPER_INLINE tile_assignment assign_tile(int tile_index, int tiles, int heads, int section)
{
	int per_section = section * tiles, first = tile_index / per_section * section,
	    rest = tile_index % per_section;
	int width = min(section, heads - first);
	return {rest / width, first + rest % width};
}

/* The next stage of a ring and the parity to wait for at its barriers. */
template <int STAGES> struct ring {
	int stage, phase;
	HOPPER_INLINE void next(void)
	{
		if (++stage == STAGES) {
			stage = 0;
			phase ^= 1;
		}
	}
};

/* Releases a stage once all lanes of the warp have read it; one lane signals. */
HOPPER_INLINE void release(uint32_t empty)
{
	__syncwarp();
	if (threadIdx.x % 32 == 0)
		barrier_arrive(empty);
}

/* The same with an explicit convergence instruction. With a constant mask the compiler omits it
 * where it knows the lanes to be converged, so this mask comes from two registers. It changes the
 * schedule of the products around it: on an H200 the backward pass takes 3 to 5 % less with it,
 * hopper_nsa 19 % more. */
HOPPER_INLINE void release_converged(uint32_t empty)
{
	uint32_t to_key, beyond;
	asm("mov.u32 %0, %%lanemask_le;" : "=r"(to_key));
	asm("mov.u32 %0, %%lanemask_gt;" : "=r"(beyond));
	__syncwarp(to_key | beyond);
	if (threadIdx.x % 32 == 0)
		barrier_arrive(empty);
}

/* Initializes the barriers before the roles of a block diverge: those of each consumer, and those
 * of the stages, which all consumers release, by warps or by lanes. */
template <class Traits, int STAGES, int RELEASES = WARPGROUP / 32>
HOPPER_INLINE void init_barriers(
        uint32_t own_full, uint32_t own_empty, uint32_t full, uint32_t empty)
{
	if (threadIdx.x == 0) {
		barrier_init_pairs<Traits::CONSUMERS>(own_full, own_empty, 1);
		barrier_init_pairs<STAGES>(full, empty, Traits::CONSUMERS * RELEASES);
		barrier_publish();
	}
	__syncthreads();
}

template <class Traits, class T> HOPPER_INLINE void issue_scores(float *s, uint32_t q, uint32_t k)
{
#pragma unroll
	for (int i = 0; i < Traits::D / 16; i++)
		wgmma<Traits::KEYS, T, T, true, true>(s,
		        wgmma_descriptor(q + i / 4 * GROUP_ROWS * ROW_BYTES + i % 4 * 32, 0),
		        wgmma_descriptor(k + i / 4 * Traits::KEYS * ROW_BYTES + i % 4 * 32, 0), i);
	wgmma_commit();
}

template <class Traits, class T>
HOPPER_INLINE void issue_output(float *o, const uint32_t *p, uint32_t v, int accumulate)
{
#pragma unroll
	for (int i = 0; i < Traits::KEYS / 16; i++)
		wgmma_from<Traits::D, T, false>(o, p + 4 * i,
		        wgmma_descriptor(v + i * 16 * ROW_BYTES, Traits::KEYS * ROW_BYTES),
		        accumulate | i);
	wgmma_commit();
}

HOPPER_INLINE uint32_t pack(float x, float y, type_bf16 *)
{
	__nv_bfloat162 b = __floats2bfloat162_rn(x, y);
	return *(uint32_t *)&b;
}
HOPPER_INLINE uint32_t pack(float x, float y, type_f16 *)
{
	__half2 h = __floats2half2_rn(x, y);
	return *(uint32_t *)&h;
}

HOPPER_INLINE float exp2_approx(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

HOPPER_INLINE float quad_max(float x)
{
	x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
	return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
HOPPER_INLINE float quad_sum(float x)
{
	x += __shfl_xor_sync(0xffffffffu, x, 1);
	return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// The running softmax of a thread's two rows.
struct softmax {
	float max[2], sum[2], rescale[2];
};

// Scores to weights; m.rescale: what the output so far must be multiplied with.
template <class Traits> HOPPER_INLINE void online_softmax(softmax &m, float *s, float scale)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		float row_max = m.max[half], sum = 0;
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 8; i++)
			row_max =
			        fmaxf(row_max, fmaxf(s[4 * i + 2 * half], s[4 * i + 2 * half + 1]));
		row_max = quad_max(row_max);
		float base = row_max == -INFINITY ? 0 : row_max * scale;
		m.rescale[half] = exp2_approx(m.max[half] * scale - base);
		m.max[half] = row_max;
#pragma unroll
		for (int i = 0; i < Traits::KEYS / 8; i++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				sum += s[4 * i + 2 * half + e] =
				        exp2_approx(s[4 * i + 2 * half + e] * scale - base);
		m.sum[half] = m.sum[half] * m.rescale[half] + sum;
	}
}

template <int COUNT> HOPPER_INLINE void scale_rows(float *o, const float *factor)
{
#pragma unroll
	for (int i = 0; i < COUNT; i++)
		o[i] *= factor[i / 2 % 2];
}

template <class Traits, class T> HOPPER_INLINE void pack_weights(uint32_t *w, const float *s)
{
#pragma unroll
	for (int i = 0; i < Traits::KEYS / 4; i++)
		w[i] = pack(s[2 * i], s[2 * i + 1], (T *)0);
}

// A finished output into shared memory at `at`, for the copy engine; fence_async() and a barrier
// follow.
template <class Traits, class T> HOPPER_INLINE void store_output(const float *o, uint32_t at)
{
	int thread = (int)threadIdx.x % WARPGROUP, lane = thread % 32,
	    row = thread / 32 * 16 + lane % 16;
#pragma unroll
	for (int i = 0; i < Traits::D / 16; i++) {
		const float *x = o + i * 8;
		store_matrix(at + i / 4 * GROUP_ROWS * ROW_BYTES + row * ROW_BYTES +
		                     ((i % 4 * 2 + lane / 16) ^ row % 8) * 16,
		        pack(x[0], x[1], (T *)0), pack(x[2], x[3], (T *)0),
		        pack(x[4], x[5], (T *)0), pack(x[6], x[7], (T *)0));
	}
}

#endif
#endif
