/* The pieces of attention for one warpgroup, of which hopper_flash.cu, hopper_backward.cu and
 * hopper_nsa.cu are made: 64 rows of queries look at L::KEYS keys of L::D at a time. Queries, keys
 * and values lie in shared memory as the copy engine leaves them, in pieces of 64 columns one after
 * the other. */
#ifndef HOPPER_ATTENTION_H
#define HOPPER_ATTENTION_H
#include "hopper_wgmma.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { ROW_BYTES = 128, GROUP_ROWS = 64 };

#if HOPPER_CODE

/* Tiles of all heads, in the order in which blocks take them: number by number, of `section` heads
 * at a time, whose tensors the L2 cache holds. Of one head alone each block would get every 132nd
 * tile: of 128 with a mask, always long ones or always short ones. */
struct deal {
	int number, head;
};
HOPPER_INLINE deal assign_tile(int work, int tiles, int heads, int section)
{
	int per_section = section * tiles, first = work / per_section * section,
	    rest = work % per_section;
	int width = min(section, heads - first);
	return {rest / width, first + rest % width};
}

/* The stage that comes next, and the parity that its barriers are waited for with. */
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

/* All that the warp's lanes read before is read; one of them says so. */
HOPPER_INLINE void release(uint32_t empty)
{
	__syncwarp();
	if (threadIdx.x % 32 == 0)
		barrier_arrive(empty);
}

/* The same with an instruction for the warp to meet at: of a constant mask the compiler leaves none
 * where it sees that the lanes are together, so this one comes from two registers of which it knows
 * nothing. That changes what it makes of the products around it, for better or worse: on an H200
 * the backward pass takes 3 to 5 % less with it, hopper_nsa 19 % more. */
HOPPER_INLINE void release_converged(uint32_t empty)
{
	uint32_t upto, beyond;
	asm("mov.u32 %0, %%lanemask_le;" : "=r"(upto));
	asm("mov.u32 %0, %%lanemask_gt;" : "=r"(beyond));
	__syncwarp(upto | beyond);
	if (threadIdx.x % 32 == 0)
		barrier_arrive(empty);
}

/* Before a block's roles part: barriers of what each consumer has for itself, and of the stages
 * that all of them read and release, by warps or by lanes. */
template <class L, int STAGES, int RELEASES = WARPGROUP / 32>
HOPPER_INLINE void init_barriers(
        uint32_t own_full, uint32_t own_empty, uint32_t full, uint32_t empty)
{
	if (threadIdx.x == 0) {
		barrier_init_pairs<L::CONSUMERS>(own_full, own_empty, 1);
		barrier_init_pairs<STAGES>(full, empty, L::CONSUMERS * RELEASES);
		barrier_publish();
	}
	__syncthreads();
}

template <class L, class T> HOPPER_INLINE void issue_scores(float *s, uint32_t q, uint32_t k)
{
#pragma unroll
	for (int i = 0; i < L::D / 16; i++)
		wgmma<L::KEYS, T, T, true, true>(s,
		        wgmma_descriptor(q + i / 4 * GROUP_ROWS * ROW_BYTES + i % 4 * 32, 0),
		        wgmma_descriptor(k + i / 4 * L::KEYS * ROW_BYTES + i % 4 * 32, 0), i);
	wgmma_commit();
}

template <class L, class T>
HOPPER_INLINE void issue_output(float *o, const uint32_t *p, uint32_t v, int keep)
{
#pragma unroll
	for (int i = 0; i < L::KEYS / 16; i++)
		wgmma_from<L::D, T, false>(o, p + 4 * i,
		        wgmma_descriptor(v + i * 16 * ROW_BYTES, L::KEYS * ROW_BYTES), keep | i);
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

HOPPER_INLINE float power_of_2(float x)
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
	float max[2], sum[2], shrink[2];
};

// Scores to weights; m.shrink: what the output so far must be multiplied with.
template <class L> HOPPER_INLINE void weigh(softmax &m, float *s, float scale)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		float top = m.max[half], sum = 0;
#pragma unroll
		for (int i = 0; i < L::KEYS / 8; i++)
			top = fmaxf(top, fmaxf(s[4 * i + 2 * half], s[4 * i + 2 * half + 1]));
		top = quad_max(top);
		float base = top == -INFINITY ? 0 : top * scale;
		m.shrink[half] = power_of_2(m.max[half] * scale - base);
		m.max[half] = top;
#pragma unroll
		for (int i = 0; i < L::KEYS / 8; i++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				sum += s[4 * i + 2 * half + e] =
				        power_of_2(s[4 * i + 2 * half + e] * scale - base);
		m.sum[half] = m.sum[half] * m.shrink[half] + sum;
	}
}

template <int COUNT> HOPPER_INLINE void multiply_rows(float *o, const float *factor)
{
#pragma unroll
	for (int i = 0; i < COUNT; i++)
		o[i] *= factor[i / 2 % 2];
}

template <class L, class T> HOPPER_INLINE void pack_weights(uint32_t *w, const float *s)
{
#pragma unroll
	for (int i = 0; i < L::KEYS / 4; i++)
		w[i] = pack(s[2 * i], s[2 * i + 1], (T *)0);
}

// A finished output into shared memory at `at`, for the copy engine; fence_async() and a barrier
// follow.
template <class L, class T> HOPPER_INLINE void store_output(const float *o, uint32_t at)
{
	int thread = (int)threadIdx.x % WARPGROUP, lane = thread % 32,
	    row = thread / 32 * 16 + lane % 16;
#pragma unroll
	for (int i = 0; i < L::D / 16; i++) {
		const float *x = o + i * 8;
		store_matrix(at + i / 4 * GROUP_ROWS * ROW_BYTES + row * ROW_BYTES +
		                     ((i % 4 * 2 + lane / 16) ^ row % 8) * 16,
		        pack(x[0], x[1], (T *)0), pack(x[2], x[3], (T *)0),
		        pack(x[4], x[5], (T *)0), pack(x[6], x[7], (T *)0));
	}
}

#endif
#endif
