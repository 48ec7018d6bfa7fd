/* GEMM of the backend `cpu`: C[b] = op(A[b]) op(B[b]), f32, bf16 and f16 operands, f32
 * accumulation. */
#ifndef TK_CPU_GEMM_H
#define TK_CPU_GEMM_H
#include "isa.h"
#include "pool.h"

struct tk_cpu_gemm {
	const struct tk_gemm *g; /* outlives this */
	int64_t lda, ldb, ldc;   /* elements from one row, as stored, to the next */
	const struct tk_cpu_isa *isa;
	const struct tk_cpu_gemm_isa
	        *engine;    /* micro-kernel and packing: isa->f32 or the one on pairs of bf16 */
	char blocking[48];  /* name of the configuration */
	int64_t mc, kc, nc; /* block sizes in elements */
	uint32_t threads;
	int64_t row_parts, column_parts;     /* how C is cut into tasks */
	size_t a_floats, b_floats, c_floats; /* of one thread's workspace */
	float *work;
};

extern const char *const tk_cpu_gemm_blockings[]; /* names, best guess first, ends with NULL */

/* All blockings, by mc, kc and nc. Values beyond the size of the problem are one with the first of
 * them, and the packed blocks fit into the caches of most processors. */
extern const struct tk_space tk_cpu_gemm_space;

/* TK_ABI_OK, TK_ABI_INVALID for an unknown blocking ("" = the first), or TK_ABI_NO_MEMORY. */
int tk_cpu_gemm_init(struct tk_cpu_gemm *x, const struct tk_problem *p,
        const struct tk_cpu_isa *isa, const char *blocking, uint32_t threads);
void tk_cpu_gemm_free(struct tk_cpu_gemm *x);
size_t tk_cpu_gemm_workspace(const struct tk_cpu_gemm *x);
void tk_cpu_gemm_run(const struct tk_cpu_gemm *x, struct tk_cpu_pool *pool, const void *a,
        const void *b, void *c);

#endif
