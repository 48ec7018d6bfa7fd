/* Building blocks of one-pass attention (Dao et al., FlashAttention, 2022; FlashAttention-2, 2023)
 * for one warp: ROWS times 16 query rows go through the keys, KEYS at a time, and keep the largest
 * score, the sum of the weights and the output so far, both relative to that score.
 *
 *   flash_begin; for each block of keys: flash_scores, flash_mask at the mask's edge,
 *   flash_softmax, flash_accumulate; flash_finish
 *
 * Keys and values are in shared memory, KEYS rows of D + FLASH_PAD. Scores are unscaled; `scale` is
 * the problem's times log2(e), because the hardware computes powers of two. */
#ifndef GPU_FLASH_H
#define GPU_FLASH_H
#include "gpu_matrix.h"

enum { FLASH_PAD = 8 };

template <int D, int ROWS> struct flash_rows {
	gpu_sum o[ROWS][D / 16];
	float max[ROWS][GPU_SUM_ROWS],
	        sum[ROWS][GPU_SUM_ROWS]; /* sum: of this lane's columns until flash_finish */
};

template <int D, int ROWS> GPU_INLINE void flash_begin(flash_rows<D, ROWS> &r)
{
#pragma unroll
	for (int i = 0; i < ROWS; i++) {
#pragma unroll
		for (int x = 0; x < D / 16; x++)
			gpu_zero(r.o[i][x]);
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
			r.max[i][slot] = -INFINITY;
			r.sum[i][slot] = 0;
		}
	}
}

/* s = q k', 16 of d at a time; query(i, x) returns block x of row block i as a left operand. */
template <int D, int ROWS, int KEYS, typename T, class Query>
GPU_INLINE void flash_scores(gpu_sum (*s)[KEYS / 16], Query query, const T *keys)
{
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < KEYS / 16; j++)
			gpu_zero(s[i][j]);
#pragma unroll
	for (int x = 0; x < D / 16; x++) {
		gpu_left<T> q[ROWS];
#pragma unroll
		for (int i = 0; i < ROWS; i++)
			q[i] = query(i, x);
#pragma unroll
		for (int j = 0; j < KEYS / 16; j++) {
			gpu_right<T> k;
			gpu_load<true>(k, keys + j * 16 * (D + FLASH_PAD) + x * 16, D + FLASH_PAD);
#pragma unroll
			for (int i = 0; i < ROWS; i++)
				gpu_multiply(s[i][j], q[i], k);
		}
	}
}

/* Masks the keys of this block from number limit_of(row) on, or those before it; row: 0 .. 16 ROWS
 * - 1 of this warp. */
template <int ROWS, int KEYS, bool before, class Limit>
GPU_INLINE void flash_mask(gpu_sum (*s)[KEYS / 16], Limit limit_of)
{
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
			int limit = limit_of(i * 16 + gpu_row(slot));
#pragma unroll
			for (int j = 0; j < KEYS / 16; j++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e++)
					if (gpu_slot(e) == slot &&
					        (j * 16 + gpu_column(e) < limit) == before)
						s[i][j].x[e] = -INFINITY;
		}
}

/* Online softmax: scores become weights relative to the largest score so far; earlier sums are
 * rescaled to it. */
template <int D, int ROWS, int KEYS>
GPU_INLINE void flash_softmax(flash_rows<D, ROWS> &r, gpu_sum (*s)[KEYS / 16], float scale)
{
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
			float row_max = r.max[i][slot];
#pragma unroll
			for (int j = 0; j < KEYS / 16; j++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e++)
					if (gpu_slot(e) == slot)
						row_max = fmaxf(row_max, s[i][j].x[e]);
			row_max = gpu_row_max(row_max);
			/* no visible key yet: all weights are 0 */
			float base = row_max == -INFINITY ? 0 : row_max * scale;
			float rescale = gpu_exp2(r.max[i][slot] * scale - base), sum = 0;
			r.max[i][slot] = row_max;
#pragma unroll
			for (int j = 0; j < KEYS / 16; j++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e++)
					if (gpu_slot(e) == slot)
						sum += s[i][j].x[e] =
						        gpu_exp2(s[i][j].x[e] * scale - base);
			r.sum[i][slot] = r.sum[i][slot] * rescale + sum;
#pragma unroll
			for (int x = 0; x < D / 16; x++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e++)
					if (gpu_slot(e) == slot)
						r.o[i][x].x[e] *= rescale;
		}
}

/* o += p v. */
template <int D, int ROWS, int KEYS, typename T>
GPU_INLINE void flash_accumulate(
        gpu_sum (*o)[D / 16], const gpu_sum (*p)[KEYS / 16], const T *values)
{
#pragma unroll
	for (int j = 0; j < KEYS / 16; j++) {
		gpu_left<T> weights[ROWS];
#pragma unroll
		for (int i = 0; i < ROWS; i++)
			weights[i] = gpu_as_left<T>(p[i][j]);
#pragma unroll
		for (int x = 0; x < D / 16; x++) {
			gpu_right<T> v;
			gpu_load<false>(
			        v, values + j * 16 * (D + FLASH_PAD) + x * 16, D + FLASH_PAD);
#pragma unroll
			for (int i = 0; i < ROWS; i++)
				gpu_multiply(o[i][x], weights[i], v);
		}
	}
}

/* Sums over the lanes and normalizes; sum becomes the natural log of the sum of exponentials. A row
 * without keys is 0 and -infinity. */
template <int D, int ROWS> GPU_INLINE void flash_finish(flash_rows<D, ROWS> &r, float scale)
{
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int slot = 0; slot < GPU_SUM_ROWS; slot++) {
			float sum = gpu_row_sum(r.sum[i][slot]), normalizer = sum > 0 ? 1 / sum : 0;
			r.sum[i][slot] =
			        sum > 0 ? (r.max[i][slot] * scale + gpu_log2(sum)) * 0.69314718056f
			                : -INFINITY;
#pragma unroll
			for (int x = 0; x < D / 16; x++)
#pragma unroll
				for (int e = 0; e < GPU_SUM; e++)
					if (gpu_slot(e) == slot)
						r.o[i][x].x[e] *= normalizer;
		}
}

/* Loads COUNT rows of D, `step` elements apart, into shared memory by THREADS threads; zeros from
 * row `valid` on. */
template <int COUNT, int D, int THREADS, typename T>
GPU_INLINE void flash_load_tile(T *to, const T *from, size_t step, int valid)
{
	constexpr int CHUNKS = D / 8;
#pragma unroll
	for (int e = (int)gpu_thread() % THREADS; e < COUNT * CHUNKS; e += THREADS) {
		int row = e / CHUNKS, x = e % CHUNKS * 8;
		gpu_copy16(to + row * (D + FLASH_PAD) + x, from + row * step + x, row < valid);
	}
}

#endif
