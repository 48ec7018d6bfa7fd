/* The matrix units of both vendors behind one interface: a warp multiplies blocks of 16 x 16 x 16
 * in f16 or bf16, with sums in f32.
 *
 *   gpu_left<T>   16 rows x 16 of k
 *   gpu_right<T>  16 of k x 16 columns
 *   gpu_sum       16 rows x 16 columns, f32
 *
 * NVIDIA: mma.sync m16n8k16, operands by ldmatrix (PTX ISA). AMD: v_mfma_f32_16x16x16 (ISA of CDNA2
 * and later), operands by plain loads.
 *
 * Attention needs what the vendors' own interfaces hide: which entries of a gpu_sum a lane holds
 * (gpu_row(), gpu_column()), a sum or maximum along a row (gpu_row_max(), gpu_row_sum()), and a sum
 * as the left operand of the next product without a detour through shared memory (gpu_as_left()).
 * On AMD the operands are swapped, so that a lane holds one row there too.
 *
 * Operands come from shared memory; `k_fast` says that neighbours along k are neighbours in memory.
 * Rows start 16-byte aligned. A row stride of 8 elements more than a multiple of 64 avoids bank
 * conflicts. */
#ifndef GPU_MATRIX_H
#define GPU_MATRIX_H
#include "gpu_runtime.h"

template <typename T> struct gpu_left {
	uint32_t x[GPU_HIP ? 2 : 4];
};
template <typename T> struct gpu_right {
	uint32_t x[GPU_HIP ? 2 : 4];
};

/* Entries of a block in a lane, and the number of rows that they are in. */
enum { GPU_SUM = GPU_HIP ? 4 : 8, GPU_SUM_ROWS = GPU_HIP ? 1 : 2 };

struct gpu_sum {
	float x[GPU_SUM];
};

GPU_INLINE void gpu_zero(gpu_sum &s)
{
#pragma unroll
	for (int i = 0; i < GPU_SUM; i++)
		s.x[i] = 0;
}

/* Entry i is in the lane's row number gpu_slot(i), which is row gpu_row(slot) of the block, and in
 * column gpu_column(i). Entries 2 i and 2 i + 1 are neighbours in a row. */
GPU_INLINE constexpr int gpu_slot(int i)
{
	return GPU_HIP ? 0 : i / 2 % 2;
}
GPU_INLINE int gpu_row(int slot)
{
	return GPU_HIP ? gpu_lane() % 16 : gpu_lane() / 4 + slot * 8;
}
GPU_INLINE int gpu_column(int i)
{
	return GPU_HIP ? gpu_lane() / 16 * 4 + i : gpu_lane() % 4 * 2 + i % 2 + i / 4 * 8;
}

/* Over the lanes that hold the same row. */
GPU_INLINE float gpu_row_max(float x)
{
	x = fmaxf(x, gpu_shuffle_xor(x, GPU_HIP ? 16 : 1));
	return fmaxf(x, gpu_shuffle_xor(x, GPU_HIP ? 32 : 2));
}
GPU_INLINE float gpu_row_sum(float x)
{
	x += gpu_shuffle_xor(x, GPU_HIP ? 16 : 1);
	return x + gpu_shuffle_xor(x, GPU_HIP ? 32 : 2);
}

#if GPU_HIP

typedef float gpu_f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 gpu_f16x4 __attribute__((ext_vector_type(4)));
typedef short gpu_i16x4 __attribute__((ext_vector_type(4)));

struct gpu_pair {
	uint32_t x[2];
};

GPU_INLINE gpu_f32x4 gpu_mfma(gpu_pair a, gpu_pair b, gpu_f32x4 c, gpu_f16)
{
	return __builtin_amdgcn_mfma_f32_16x16x16f16(
	        __builtin_bit_cast(gpu_f16x4, a), __builtin_bit_cast(gpu_f16x4, b), c, 0, 0, 0);
}
GPU_INLINE gpu_f32x4 gpu_mfma(gpu_pair a, gpu_pair b, gpu_f32x4 c, gpu_bf16)
{
	return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
	        __builtin_bit_cast(gpu_i16x4, a), __builtin_bit_cast(gpu_i16x4, b), c, 0, 0, 0);
}

/* s += a b. The unit returns a lane one column of its first operand's rows; with the operands
 * exchanged that is one row of s. */
template <typename T>
GPU_INLINE void gpu_multiply(gpu_sum &s, const gpu_left<T> &a, const gpu_right<T> &b)
{
	gpu_f32x4 c = {s.x[0], s.x[1], s.x[2], s.x[3]};
	c = gpu_mfma(gpu_pair{b.x[0], b.x[1]}, gpu_pair{a.x[0], a.x[1]}, c, T());
#pragma unroll
	for (int i = 0; i < 4; i++)
		s.x[i] = c[i];
}

/* Lane l holds index l % 16 of the long side and k = l / 16 * 4 .. + 3, in both operands. */
template <bool k_fast, typename T>
GPU_INLINE void gpu_load_fragment(uint32_t *x, const T *from, int step)
{
	int other = gpu_lane() % 16, k = gpu_lane() / 16 * 4;
	if (k_fast) {
		uint2 v = *(const uint2 *)(from + other * step + k);
		x[0] = v.x;
		x[1] = v.y;
		return;
	}
#pragma unroll
	for (int i = 0; i < 2; i++)
		x[i] = from[(k + 2 * i) * step + other].bits |
		       (uint32_t)from[(k + 2 * i + 1) * step + other].bits << 16;
}

template <bool k_fast, typename T> GPU_INLINE void gpu_load(gpu_left<T> &a, const T *from, int step)
{
	gpu_load_fragment<k_fast>(a.x, from, step);
}
template <bool k_fast, typename T>
GPU_INLINE void gpu_load(gpu_right<T> &b, const T *from, int step)
{
	gpu_load_fragment<k_fast>(b.x, from, step);
}

template <typename T> GPU_INLINE gpu_left<T> gpu_as_left(const gpu_sum &s)
{
	return {{gpu_pack(s.x[0], s.x[1], T()), gpu_pack(s.x[2], s.x[3], T())}};
}

#else

GPU_INLINE void gpu_mma(float *c, const uint32_t *a, uint32_t b0, uint32_t b1, gpu_f16)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
	    "{%8,%9}, {%0,%1,%2,%3};"
	        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
GPU_INLINE void gpu_mma(float *c, const uint32_t *a, uint32_t b0, uint32_t b1, gpu_bf16)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
	    "{%8,%9}, {%0,%1,%2,%3};"
	        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* s += a b: two instructions of 8 columns. */
template <typename T>
GPU_INLINE void gpu_multiply(gpu_sum &s, const gpu_left<T> &a, const gpu_right<T> &b)
{
	gpu_mma(s.x, a.x, b.x[0], b.x[1], T());
	gpu_mma(s.x + 4, a.x, b.x[2], b.x[3], T());
}

/* Four 8 x 8 blocks; lane l gives the address of row l % 8 of block l / 8. */
template <bool transpose> GPU_INLINE void gpu_ldmatrix(uint32_t *x, const void *row)
{
	uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
	if (transpose)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
		             : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
		             : "r"(at)
		             : "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		             : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
		             : "r"(at)
		             : "memory");
}

/* Blocks in the order (row, k): (0, 0) (8, 0) (0, 8) (8, 8). `from` is entry (0, 0), `step` the
 * distance of rows in memory: of rows of a where k is fast, else of k. */
template <bool k_fast, typename T> GPU_INLINE void gpu_load(gpu_left<T> &a, const T *from, int step)
{
	int block = gpu_lane() / 8, i = gpu_lane() % 8, row = block % 2 * 8, k = block / 2 * 8;
	gpu_ldmatrix<!k_fast>(
	        a.x, k_fast ? from + (row + i) * step + k : from + (k + i) * step + row);
}

/* Blocks in the order (k, column): (0, 0) (8, 0) (0, 8) (8, 8). */
template <bool k_fast, typename T>
GPU_INLINE void gpu_load(gpu_right<T> &b, const T *from, int step)
{
	int block = gpu_lane() / 8, i = gpu_lane() % 8, k = block % 2 * 8, column = block / 2 * 8;
	gpu_ldmatrix<!k_fast>(
	        b.x, k_fast ? from + (column + i) * step + k : from + (k + i) * step + column);
}

template <typename T> GPU_INLINE gpu_left<T> gpu_as_left(const gpu_sum &s)
{
	return {{gpu_pack(s.x[0], s.x[1], T()), gpu_pack(s.x[2], s.x[3], T()),
	        gpu_pack(s.x[4], s.x[5], T()), gpu_pack(s.x[6], s.x[7], T())}};
}

#endif
#endif
