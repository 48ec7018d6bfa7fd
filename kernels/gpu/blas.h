/* A vendor's BLAS for the backends on it, under common names: cuBLAS (kernels/cuda/cublas_handle.h)
 * or rocBLAS (kernels/hip/rocblas_handle.h).
 *
 *   blas_open, blas_close        the handle
 *   blas_check_device            TK_ABI_UNSUPPORTED: the device lacks the types
 *   blas_set_plan                before a plan's calls: its workspace, math mode and stream
 *   blas_clear_plan              when a plan is freed: a new one may get its address
 *   blas_multiply                one product, or a batch
 *
 * Row-major matrices for a column-major library: a matrix X stored by rows reads as X transposed by
 * columns. C = op(A) op(B) becomes C' = op(B)' op(A)': operands and m, n are swapped,
 * transpositions are unchanged. */
#ifndef TK_GPU_BLAS_H
#define TK_GPU_BLAS_H
#include "gpu_backend.h"

/* Column-major: C = alpha op(A) op(B), `count` times, the next operands `step` elements further (0:
 * the same again). */
struct blas_product {
	const char *what; /* for errors */
	int ta, tb, m, n, k, count, is_batched;
	double alpha;
	uint32_t type, type_c, acc; /* enum tk_dtype: of A and B, of C, of the sums */
	const void *a, *b;
	void *c;
	int lda, ldb, ldc;
	int64_t step_a, step_b, step_c;
	int32_t solution; /* 0: the library chooses */
};

union blas_scalar { /* alpha and beta have the type of the accumulator */
	double f64;
	float f32;
	uint16_t f16;
};

/* In f16 only 0 and 1. */
static inline union blas_scalar blas_scalar(uint32_t acc, double value)
{
	union blas_scalar out = {0};
	if (acc == TK_F64)
		out.f64 = value;
	else if (acc == TK_F16)
		out.f16 = value != 0 ? 0x3c00 : 0;
	else
		out.f32 = (float)value;
	return out;
}

#if TK_GPU_HIP
#include "../hip/rocblas_handle.h"
#else
#include "../cuda/cublas_handle.h"
#endif

/* Defines prefix_open and prefix_close of a context with the members `gpu` and `blas`; `stop`
 * closes what it has besides. */
#define BLAS_CONTEXT(prefix, stop) \
	static int prefix##_blas_open(struct tk_backend_ctx *ctx, const struct tk_open_args *args, \
	        struct tk_abi_error *err) \
	{ \
		return blas_open(&ctx->blas, &ctx->gpu, args, err); \
	} \
	static void prefix##_blas_close(struct tk_backend_ctx *ctx) \
	{ \
		blas_close(&ctx->blas); \
		stop(ctx); \
	} \
	GPU_CONTEXT_WITH(prefix, prefix##_blas_open, prefix##_blas_close)

static inline void blas_clear_plan(struct blas *b)
{
	b->current = NULL;
}

#endif
