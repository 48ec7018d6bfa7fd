/* The products of native attention by rocBLAS (kernels/gpu/native_blas.h). */
#include "native_blas.h"
#include "rocblas_handle.h"

const char native_blas_backend[] = "rocblas_native",
           native_blas_call[] = "rocblas_gemm_strided_batched_ex";

struct native_blas {
	struct rocblas rocblas;
};

int native_blas_open(
        const struct tk_open_args *args, struct native_blas **out, struct tk_abi_error *err)
{
	struct native_blas *b = plan_new(sizeof *b, err);
	if (!b)
		return TK_ABI_NO_MEMORY;
	int status = rocblas_open(&b->rocblas, gfx_of(args), args->options, err);
	if (status) {
		free(b);
		return status;
	}
	*out = b;
	return TK_ABI_OK;
}

void native_blas_close(struct native_blas *b)
{
	rocblas_destroy_handle(b->rocblas.handle);
	free(b);
}

const char *native_blas_version(void)
{
	return rocblas_version_text();
}

size_t native_blas_workspace(const struct native_blas *b)
{
	return b->rocblas.workspace_bytes;
}

int native_blas_set_plan(struct native_blas *b, const void *plan, void *workspace, void *stream,
        struct tk_abi_error *err)
{
	return rocblas_set_plan(&b->rocblas, plan, workspace, 0, stream, err);
}

void native_blas_clear_plan(struct native_blas *b)
{
	rocblas_clear_plan(&b->rocblas);
}

static rocblas_datatype rocblas_type(uint32_t dtype)
{
	return dtype == TK_F16    ? rocblas_datatype_f16_r
	       : dtype == TK_BF16 ? rocblas_datatype_bf16_r
	                          : rocblas_datatype_f32_r;
}

int native_blas_multiply(
        struct native_blas *b, const struct native_product *p, struct tk_abi_error *err)
{
	const float beta = 0;
	rocblas_datatype type = rocblas_type(p->type), type_c = rocblas_type(p->type_c);
	return rocblas_check(err, p->what,
	        rocblas_gemm_strided_batched_ex(b->rocblas.handle,
	                p->transpose_a ? rocblas_operation_transpose : rocblas_operation_none,
	                rocblas_operation_none, p->m, p->n, p->k, &p->alpha, p->a, type, p->lda,
	                p->step_a, p->b, type, p->ldb, p->step_b, &beta, p->c, type_c, p->ldc,
	                p->step_c, p->c, type_c, p->ldc, p->step_c, p->count,
	                rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0,
	                rocblas_gemm_flags_none));
}
