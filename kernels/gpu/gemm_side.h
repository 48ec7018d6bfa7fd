/* A common view of both operands of a product: A is the side of m, B the side of n; both are `side
 * x k` matrices of which either index may be the fast one in memory. "Row i of op(A)" and "column i
 * of op(B)" are the same, and each step has one loader for both. */
#ifndef GPU_GEMM_SIDE_H
#define GPU_GEMM_SIDE_H
#include "gemm.h"
#include "gpu_runtime.h"

template <typename T> struct gemm_side {
	const T *at;
	int count, k; /* rows of op(A) or columns of op(B), and the depth */
	int k_fast;   /* 1: (i, l) is at[i k + l]; 0: at[l count + i] */
};

/* Entry l of row or column i; 0 outside. */
template <typename T> GPU_INLINE float gemm_entry(const gemm_side<T> &s, int i, int l)
{
	if (i >= s.count || l >= s.k)
		return 0;
	return gpu_float(s.k_fast ? s.at[(size_t)i * s.k + l] : s.at[(size_t)l * s.count + i]);
}

/* Both sides and the result of one matrix of a batch. */
template <typename T> struct gemm_operands {
	gemm_side<T> a, b;
	void *c;
	int c_f32; /* C is f32, else of type T */
};

template <typename T>
static inline gemm_operands<T> gemm_make_operands(
        const struct tk_gemm *g, const void *a, const void *b, void *c)
{
	return {{(const T *)a, (int)g->m, (int)g->k, !g->ta},
	        {(const T *)b, (int)g->n, (int)g->k, g->tb}, c, g->c == TK_F32};
}

/* Selects matrix `index` of the batch. */
template <typename T> GPU_INLINE void gemm_select(gemm_operands<T> &o, int index)
{
	size_t m = (size_t)o.a.count, n = (size_t)o.b.count, k = (size_t)o.a.k;
	o.a.at += index * m * k;
	o.b.at += index * n * k;
	o.c = (char *)o.c + index * m * n * (o.c_f32 ? sizeof(float) : sizeof(T));
}

template <typename T> GPU_INLINE void gemm_store(const gemm_operands<T> &o, int i, int j, float x)
{
	size_t at = (size_t)i * o.b.count + j;
	if (i >= o.a.count || j >= o.b.count)
		return;
	if (o.c_f32)
		((float *)o.c)[at] = x;
	else
		((T *)o.c)[at] = gpu_round(x, T());
}

/* ---- register tiles: 16 x 16 threads with SIDE x SIDE entries each of a square of 16 SIDE ---- */

/* Index in the tile of value x of thread t. */
GPU_INLINE constexpr int gemm_tile_index(int t, int x)
{
	return x / 4 * 64 + t * 4 + x % 4;
}

template <int SIDE> GPU_INLINE void gemm_load_fragment(float *x, const float *row, int t)
{
#pragma unroll
	for (int i = 0; i < SIDE; i += 4)
		*(float4 *)(x + i) = *(const float4 *)(row + gemm_tile_index(t, i));
}

template <int SIDE, typename T>
GPU_INLINE void gemm_store_fragment(const gemm_operands<T> &o, const float (&sum)[SIDE][SIDE],
        int row0, int col0, int tx, int ty)
{
#pragma unroll
	for (int i = 0; i < SIDE; i++)
#pragma unroll
		for (int j = 0; j < SIDE; j++)
			gemm_store(o, row0 + gemm_tile_index(ty, i), col0 + gemm_tile_index(tx, j),
			        sum[i][j]);
}

/* The regions that steps 2 to 4 record. */
#define GEMM_REGIONS(X) \
	X(LOAD, "load", LOAD) \
	X(WAIT, "wait for the block", WAIT) \
	X(MULTIPLY, "multiply", COMPUTE) \
	X(STORE, "store", STORE)

/* The types that a step accepts, and the call of a template by them: launch<T>(...). */
static inline int gemm_is_float(uint32_t dtype)
{
	return dtype == TK_F32 || dtype == TK_F16 || dtype == TK_BF16;
}
static inline int gemm_is_16bit(uint32_t dtype)
{
	return dtype == TK_F16 || dtype == TK_BF16;
}
static inline int gemm_prepare_none(const struct tk_gemm *, uint32_t)
{
	return 0;
}

#define GEMM_BY_TYPE(launch, g, ...) \
	((g)->a == TK_F32          ? launch<float>(g, __VA_ARGS__) \
	        : (g)->a == TK_F16 ? launch<gpu_f16>(g, __VA_ARGS__) \
	                           : launch<gpu_bf16>(g, __VA_ARGS__))

/* Defines launch() of a step with two configurations: enqueue<first, T>(g, operands, stream) and
 * enqueue<second, T>(...). */
#define GEMM_TWO_CONFIGS(first, second) \
	template <typename T> \
	static int launch_as(const struct tk_gemm *g, uint32_t config, const void *a, \
	        const void *b, void *c, void *stream) \
	{ \
		const gemm_operands<T> o = gemm_make_operands<T>(g, a, b, c); \
		if (config == 0) \
			enqueue<first, T>(g, o, (gpu_stream)stream); \
		else \
			enqueue<second, T>(g, o, (gpu_stream)stream); \
		return gpu_launch_status(); \
	} \
	static int launch(const struct tk_gemm *g, uint32_t config, const void *a, const void *b, \
	        void *c, void *stream) \
	{ \
		return GEMM_BY_TYPE(launch_as, g, config, a, b, c, stream); \
	}

#endif
