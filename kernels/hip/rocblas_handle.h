/* rocBLAS as the BLAS of kernels/gpu/blas.h: explicit math mode, our own workspace (nothing is
 * allocated during a capture), and the stream set only when it changes. By default the library
 * chooses the kernel by itself on every call, as it does for nearly every user. */
#ifndef TK_ROCBLAS_HANDLE_H
#define TK_ROCBLAS_HANDLE_H
#include "hip_backend.h"
#define ROCBLAS_BETA_FEATURES_API /* lists of solutions */
#include <rocblas/rocblas.h>

#define BLAS_NAME "rocblas"
#define BLAS_NARROW_NAME "hipblaslt"
#define BLAS_CALL "rocblas_gemm_ex"
#define BLAS_BATCHED_CALL "rocblas_gemm_strided_batched_ex"
#define BLAS_DESCRIPTION "GEMM by rocBLAS, its choice of a kernel or any of its solutions"

struct blas {
	rocblas_handle handle;
	unsigned gfx;
	size_t workspace_bytes; /* of a plan: 128 MiB on CDNA3, 32 before, what rocBLAS takes for
	                           itself */
	const void *current;    /* the plan whose workspace and mode are set, and the stream */
	void *stream;
};

static inline int blas_check(struct tk_abi_error *err, const char *what, rocblas_status code)
{
	switch (code) {
	case rocblas_status_success:
		return TK_ABI_OK;
	case rocblas_status_not_implemented:
	case rocblas_status_arch_mismatch:
	case rocblas_status_excluded_from_build:
		return fail(
		        err, TK_ABI_UNSUPPORTED, "%s: %s", what, rocblas_status_to_string(code));
	case rocblas_status_memory_error:
		return fail(err, TK_ABI_NO_MEMORY, "%s: %s", what, rocblas_status_to_string(code));
	default:
		return fail(err, TK_ABI_DEVICE, "%s: %s", what, rocblas_status_to_string(code));
	}
}

static inline void blas_close(struct blas *b)
{
	rocblas_destroy_handle(b->handle);
}

static inline int blas_open(struct blas *b, const struct gpu_context *gpu,
        const struct tk_open_args *args, struct tk_abi_error *err)
{
	(void)gpu;
	TRY(blas_check(err, "rocblas_create_handle", rocblas_create_handle(&b->handle)));
	b->gfx = gfx_of(args);
	b->workspace_bytes =
	        (size_t)option_number(args->options, "workspace_mib", is_cdna3(b->gfx) ? 128 : 32) *
	        MIB;
	b->stream = (void *)-1;
	/* Sums that are split are added in a fixed order. (Deprecated only because it shall become
	 * the default.) */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	int status = blas_check(err, "rocblas_set_atomics_mode",
	        rocblas_set_atomics_mode(b->handle, rocblas_atomics_not_allowed));
#pragma GCC diagnostic pop
	if (status)
		blas_close(b);
	return status;
}

static inline int blas_check_device(
        const struct blas *b, const struct tk_gemm *g, struct tk_abi_error *err)
{
	if (g->a == TK_TF32 && b->gfx && !is_cdna3(b->gfx))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "tf32 (AMD: xf32) is there on gfx942 only, this device has gfx%x", b->gfx);
	return TK_ABI_OK;
}

/* tf32: allow fewer bits for f32 operands; only on request. */
static inline int rocblas_set_xf32(struct blas *b, int tf32, struct tk_abi_error *err)
{
	return blas_check(err, "rocblas_set_math_mode",
	        rocblas_set_math_mode(
	                b->handle, tf32 ? rocblas_xf32_xdl_math_op : rocblas_default_math));
}

static inline int blas_set_plan(struct blas *b, const void *plan, void *workspace, int tf32,
        void *stream, struct tk_abi_error *err)
{
	if (b->current == plan && b->stream == stream)
		return TK_ABI_OK;
	int status = blas_check(
	        err, "rocblas_set_stream", rocblas_set_stream(b->handle, (hipStream_t)stream));
	if (status == TK_ABI_OK)
		status = blas_check(err, "rocblas_set_workspace",
		        rocblas_set_workspace(b->handle, workspace, b->workspace_bytes));
	if (status == TK_ABI_OK)
		status = rocblas_set_xf32(b, tf32, err);
	b->current = status ? NULL : plan;
	b->stream = stream;
	return status;
}

static inline const char *blas_version(void)
{
	static char text[64];
	if (rocblas_get_version_string(text, sizeof text) != rocblas_status_success)
		return "";
	size_t len = strlen(text);
	if (len && text[len - 1] == '.') /* "4.4.1.": the commit that would follow is unknown */
		text[len - 1] = 0;
	return text;
}

static inline rocblas_datatype rocblas_type(uint32_t dtype)
{
	return dtype == TK_F64    ? rocblas_datatype_f64_r
	       : dtype == TK_F16  ? rocblas_datatype_f16_r
	       : dtype == TK_BF16 ? rocblas_datatype_bf16_r
	                          : rocblas_datatype_f32_r;
}

static inline rocblas_operation blas_operation(int transpose)
{
	return transpose ? rocblas_operation_transpose : rocblas_operation_none;
}

static inline int blas_multiply(
        struct blas *b, const struct blas_product *p, struct tk_abi_error *err)
{
	const union blas_scalar alpha = blas_scalar(p->acc, p->alpha),
	                        beta = blas_scalar(p->acc, 0);
	const rocblas_datatype type = rocblas_type(p->type), type_c = rocblas_type(p->type_c),
	                       compute = rocblas_type(p->acc);
	const rocblas_gemm_algo algo =
	        p->solution ? rocblas_gemm_algo_solution_index : rocblas_gemm_algo_standard;
	if (!p->is_batched)
		return blas_check(err, p->what,
		        rocblas_gemm_ex(b->handle, blas_operation(p->ta), blas_operation(p->tb),
		                p->m, p->n, p->k, &alpha, p->a, type, p->lda, p->b, type, p->ldb,
		                &beta, p->c, type_c, p->ldc, p->c, type_c, p->ldc, compute, algo,
		                p->solution, rocblas_gemm_flags_none));
	return blas_check(err, p->what,
	        rocblas_gemm_strided_batched_ex(b->handle, blas_operation(p->ta),
	                blas_operation(p->tb), p->m, p->n, p->k, &alpha, p->a, type, p->lda,
	                p->step_a, p->b, type, p->ldb, p->step_b, &beta, p->c, type_c, p->ldc,
	                p->step_c, p->c, type_c, p->ldc, p->step_c, p->count, compute, algo,
	                p->solution, rocblas_gemm_flags_none));
}

/* The indices of the solutions of a product, at most *count; out = NULL: only counts them. The
 * library checks that pointers are not NULL and reads nothing. */
static inline rocblas_status rocblas_list_solutions(
        struct blas *b, const struct blas_product *p, rocblas_int *out, rocblas_int *count)
{
	const union blas_scalar alpha = blas_scalar(p->acc, p->alpha),
	                        beta = blas_scalar(p->acc, 0);
	const rocblas_datatype type = rocblas_type(p->type), type_c = rocblas_type(p->type_c),
	                       compute = rocblas_type(p->acc);
	void *any = b;
	/* marked as deprecated because they may still change */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	if (!p->is_batched)
		return rocblas_gemm_ex_get_solutions(b->handle, blas_operation(p->ta),
		        blas_operation(p->tb), p->m, p->n, p->k, &alpha, any, type, p->lda, any,
		        type, p->ldb, &beta, any, type_c, p->ldc, any, type_c, p->ldc, compute,
		        rocblas_gemm_algo_solution_index, rocblas_gemm_flags_none, out, count);
	return rocblas_gemm_strided_batched_ex_get_solutions(b->handle, blas_operation(p->ta),
	        blas_operation(p->tb), p->m, p->n, p->k, &alpha, any, type, p->lda, p->step_a, any,
	        type, p->ldb, p->step_b, &beta, any, type_c, p->ldc, p->step_c, any, type_c, p->ldc,
	        p->step_c, p->count, compute, rocblas_gemm_algo_solution_index,
	        rocblas_gemm_flags_none, out, count);
#pragma GCC diagnostic pop
}

#endif
