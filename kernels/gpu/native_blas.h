/* What native_attention.c needs of a vendor's BLAS. Implemented by kernels/cuda/cublas_native.c and
 * kernels/hip/rocblas_native.c; a module has one of the two. */
#ifndef GPU_NATIVE_BLAS_H
#define GPU_NATIVE_BLAS_H
#include "tracker_abi.h"
#include <stddef.h>

/* Column-major: C = alpha op(A) B, `count` times, the next operands `step` elements further (0: the
 * same again). Accumulates in f32. */
struct native_product {
	const char *what; /* for errors */
	int transpose_a, m, n, k, count;
	float alpha;
	uint32_t type, type_c; /* enum tk_dtype: of A and B, of C */
	const void *a, *b;
	void *c;
	int lda, ldb, ldc;
	int64_t step_a, step_b, step_c;
};

extern const char native_blas_backend[]; /* name of the backend, "cublas_native" */
extern const char native_blas_call[];    /* the function that multiplies, for results */

struct native_blas;
int native_blas_open(
        const struct tk_open_args *args, struct native_blas **out, struct tk_abi_error *err);
void native_blas_close(struct native_blas *b);
const char *native_blas_version(void);
size_t native_blas_workspace(const struct native_blas *b); /* bytes of a plan */
/* set_plan: before a plan's products. clear_plan: when the plan is freed. */
int native_blas_set_plan(struct native_blas *b, const void *plan, void *workspace, void *stream,
        struct tk_abi_error *err);
void native_blas_clear_plan(struct native_blas *b);
int native_blas_multiply(
        struct native_blas *b, const struct native_product *p, struct tk_abi_error *err);

#endif
