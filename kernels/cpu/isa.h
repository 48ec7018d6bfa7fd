/* The functions of one instruction set, for the drivers in gemm.c and attention.c.
 *
 * One source, isa_body.h, is compiled by isa_generic.c, isa_avx2.c and isa_avx512.c with their own
 * flags and vector lengths. cpuid selects one table at run time, so that a build runs on other
 * machines. */
#ifndef TK_CPU_ISA_H
#define TK_CPU_ISA_H
#include "tracker_abi.h"
#include <stddef.h>
#include <stdint.h>

/* The micro-kernel: C = A B in registers, or C += A B. C is rows x nr, row-major with row length
 * ldc; A is read as a[p * lda + i] and B as b[p * ldb + j] for p < steps. rows <= mr; all nr
 * columns of B and C must exist. */
typedef void tk_cpu_tile_fn(int rows, int64_t steps, const float *a, int64_t lda, const float *b,
        int64_t ldb, float *c, int64_t ldc, int accumulate);

/* Packs `count` lines of `k` elements into panels of `width` lines: to[panel][p][line], lines that
 * are missing in the last panel are zeros. Element p of line i is from[i * across + p * along]; so
 * one function serves A and B and all four transposes. */
typedef void tk_cpu_pack_fn(void *to, int width, int64_t count, int64_t k, const void *from,
        int64_t across, int64_t along, uint32_t dtype);

/* A micro-kernel and the packing it reads. k_unit consecutive elements of k make one step and one
 * packed 4-byte unit: 1 for f32, 2 for pairs of bf16. */
struct tk_cpu_gemm_isa {
	const char *name;
	int mr, nr, k_unit;
	tk_cpu_tile_fn *tile;
	tk_cpu_pack_fn *pack;
};

/* One block of keys for `columns` queries (a multiple of nr), s[key * columns + query] holding Q K:
 * turns s into the numerators exp2(s * c - max) and updates max[query], sum[query]; shrink[query]
 * is what older numerators and the output must be multiplied with. */
typedef void tk_cpu_softmax_fn(
        float *s, int64_t keys, int64_t columns, float c, float *max, float *sum, float *shrink);

struct tk_cpu_isa {
	const char *name;           /* "generic", "avx2", "avx512" */
	struct tk_cpu_gemm_isa f32; /* also for bf16 and f16, which packing widens */
	tk_cpu_softmax_fn *softmax;
	void (*widen)(float *to, const void *from, int64_t n, uint32_t dtype);
	void (*narrow)(void *to, const float *from, int64_t n, uint32_t dtype);
	void (*scale)(float *x, int64_t n, float by);
};

/* The named instruction set ("": the best of this processor); NULL if it does not exist or the
 * processor lacks it. */
const struct tk_cpu_isa *tk_cpu_isa_find(const char *name, size_t length);
/* The micro-kernel on pairs of bf16, for the best or the named set; NULL where there is none. */
const struct tk_cpu_gemm_isa *tk_cpu_isa_bf16(const struct tk_cpu_isa *isa);

static inline size_t tk_cpu_dtype_bytes(uint32_t dtype)
{
	return dtype == TK_F32 || dtype == TK_I32 ? 4 : 2;
}

static inline int64_t tk_cpu_round_up(int64_t n, int64_t to)
{
	return (n + to - 1) / to * to;
}

extern const struct tk_cpu_isa tk_cpu_isa_generic, tk_cpu_isa_avx2, tk_cpu_isa_avx512;
extern const struct tk_cpu_gemm_isa tk_cpu_gemm_avx512_bf16;

#endif
