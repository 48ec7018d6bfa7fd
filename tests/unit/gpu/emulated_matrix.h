/* Stands in for kernels/gpu/gpu_matrix.h: the same entries in the same lanes, on both vendors'
 * layouts. A lane loads the whole rows and columns that its entries need; where the hardware has
 * them does not matter to the kernels. */
#ifndef EMULATED_MATRIX_H
#define EMULATED_MATRIX_H
#include "gpu_runtime.h"

enum { GPU_SUM = GPU_HIP ? 4 : 8, GPU_SUM_ROWS = GPU_HIP ? 1 : 2 };

struct gpu_sum {
	float x[GPU_SUM];
};
template <typename T> struct gpu_left {
	float row[GPU_SUM_ROWS][16];
};
template <typename T> struct gpu_right {
	float column[GPU_SUM][16];
};

inline void gpu_zero(gpu_sum &s)
{
	for (float &x : s.x)
		x = 0;
}
constexpr int gpu_slot(int i)
{
	return GPU_HIP ? 0 : i / 2 % 2;
}
inline int gpu_row(int slot)
{
	return GPU_HIP ? gpu_lane() % 16 : gpu_lane() / 4 + slot * 8;
}
inline int gpu_column(int i)
{
	return GPU_HIP ? gpu_lane() / 16 * 4 + i : gpu_lane() % 4 * 2 + i % 2 + i / 4 * 8;
}
inline float gpu_row_max(float x)
{
	x = fmaxf(x, gpu_shuffle_xor(x, GPU_HIP ? 16 : 1));
	return fmaxf(x, gpu_shuffle_xor(x, GPU_HIP ? 32 : 2));
}
inline float gpu_row_sum(float x)
{
	x += gpu_shuffle_xor(x, GPU_HIP ? 16 : 1);
	return x + gpu_shuffle_xor(x, GPU_HIP ? 32 : 2);
}

extern long emulated_multiply_adds; /* of all lanes */

template <typename T> void gpu_multiply(gpu_sum &s, const gpu_left<T> &a, const gpu_right<T> &b)
{
	emulated_multiply_adds += GPU_SUM * 16;
	for (int i = 0; i < GPU_SUM; i++)
		for (int k = 0; k < 16; k++)
			s.x[i] += a.row[gpu_slot(i)][k] * b.column[i][k];
}
template <bool k_fast, typename T> void gpu_load(gpu_left<T> &a, const T *from, int step)
{
	for (int slot = 0; slot < GPU_SUM_ROWS; slot++)
		for (int k = 0; k < 16; k++)
			a.row[slot][k] = gpu_float(k_fast ? from[gpu_row(slot) * step + k]
			                                  : from[k * step + gpu_row(slot)]);
}
template <bool k_fast, typename T> void gpu_load(gpu_right<T> &b, const T *from, int step)
{
	for (int i = 0; i < GPU_SUM; i++)
		for (int k = 0; k < 16; k++)
			b.column[i][k] = gpu_float(k_fast ? from[gpu_column(i) * step + k]
			                                  : from[k * step + gpu_column(i)]);
}

/* The lanes of a row tell each other their entries. */
template <typename T> gpu_left<T> gpu_as_left(const gpu_sum &s)
{
	gpu_left<T> a;
	for (int i = 0; i < GPU_SUM; i++)
		emulated_warp()[gpu_lane()][i] = gpu_float(gpu_round(s.x[i], T()));
	emulated_warp_barrier();
	for (int slot = 0; slot < GPU_SUM_ROWS; slot++)
		for (int k = 0; k < 16; k++) {
			int lane = GPU_HIP ? gpu_lane() % 16 + k / 4 * 16
			                   : gpu_lane() / 4 * 4 + k % 8 / 2;
			a.row[slot][k] =
			        emulated_warp()[lane]
			                       [GPU_HIP ? k % 4 : k / 8 * 4 + slot * 2 + k % 2];
		}
	emulated_warp_barrier();
	return a;
}

#endif
