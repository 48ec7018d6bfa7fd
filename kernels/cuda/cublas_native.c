/* The products of native attention by cuBLAS (kernels/gpu/native_blas.h). */
#include "cublas_handle.h"
#include "native_blas.h"

const char native_blas_backend[] = "cublas_native",
           native_blas_call[] = "cublasGemmStridedBatchedEx";

struct native_blas {
	struct cublas cublas;
};

int native_blas_open(
        const struct tk_open_args *args, struct native_blas **out, struct tk_abi_error *err)
{
	struct gpu_context gpu;
	struct native_blas *b = plan_new(sizeof *b, err);
	if (!b)
		return TK_ABI_NO_MEMORY;
	context_init(&gpu, args);
	int status = cublas_open(&b->cublas, gpu.capability, args->options, err);
	if (status) {
		free(b);
		return status;
	}
	*out = b;
	return TK_ABI_OK;
}

void native_blas_close(struct native_blas *b)
{
	cublasDestroy(b->cublas.handle);
	free(b);
}

const char *native_blas_version(void)
{
	return cublas_version_text();
}

size_t native_blas_workspace(const struct native_blas *b)
{
	return b->cublas.workspace_bytes;
}

int native_blas_set_plan(struct native_blas *b, const void *plan, void *workspace, void *stream,
        struct tk_abi_error *err)
{
	return cublas_set_plan(&b->cublas, plan, workspace, stream, err);
}

void native_blas_clear_plan(struct native_blas *b)
{
	cublas_clear_plan(&b->cublas);
}

int native_blas_multiply(
        struct native_blas *b, const struct native_product *p, struct tk_abi_error *err)
{
	const float beta = 0;
	cudaDataType_t type = cuda_type(p->type);
	return cublas_check(err, p->what,
	        cublasGemmStridedBatchedEx(b->cublas.handle,
	                p->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p->m, p->n, p->k,
	                &p->alpha, p->a, type, p->lda, p->step_a, p->b, type, p->ldb, p->step_b,
	                &beta, p->c, cuda_type(p->type_c), p->ldc, p->step_c, p->count,
	                CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
