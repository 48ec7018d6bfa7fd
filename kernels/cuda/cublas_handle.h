/* cuBLAS as the BLAS of kernels/gpu/blas.h: explicit math mode, our own workspace, and the stream
 * set only when it changes. The library chooses the kernel by itself on every call, as it does for
 * nearly every user; its choice is unknown (cublaslt_backend.c shows what there is to choose
 * from). */
#ifndef TK_CUBLAS_HANDLE_H
#define TK_CUBLAS_HANDLE_H
#include "cuda_backend.h"
#include <cublas_v2.h>

#define BLAS_NAME "cublas"
#define BLAS_NARROW_NAME "cublaslt"
#define BLAS_CALL "cublasGemmEx"
#define BLAS_BATCHED_CALL "cublasGemmStridedBatchedEx"
#define BLAS_DESCRIPTION "GEMM by cuBLAS, which chooses the kernel itself"

struct blas {
	cublasHandle_t handle;
	int capability;
	/* Of a plan: 32 MiB from Hopper on, 4 MiB before, as NVIDIA's documentation recommends. */
	size_t workspace_bytes;
	const void *current; /* the plan whose workspace and stream are set */
	void *stream;
};

static inline int blas_check(struct tk_abi_error *err, const char *what, cublasStatus_t code)
{
	if (code == CUBLAS_STATUS_SUCCESS)
		return TK_ABI_OK;
	int status = code == CUBLAS_STATUS_NOT_SUPPORTED  ? TK_ABI_UNSUPPORTED
	             : code == CUBLAS_STATUS_ALLOC_FAILED ? TK_ABI_NO_MEMORY
	                                                  : TK_ABI_DEVICE;
	return fail(err, status, "%s: %s (%s)", what, cublasGetStatusString(code),
	        cublasGetStatusName(code));
}

static inline void blas_close(struct blas *b)
{
	cublasDestroy(b->handle);
}

static inline int blas_open(struct blas *b, const struct gpu_context *gpu,
        const struct tk_open_args *args, struct tk_abi_error *err)
{
	TRY(blas_check(err, "cublasCreate", cublasCreate(&b->handle)));
	b->capability = gpu->capability;
	b->workspace_bytes = (size_t)option_number(args->options, "workspace_mib",
	                             gpu->capability >= 90 ? 32 : 4) *
	                     MIB;
	b->stream = (void *)-1;
	/* f32 stays f32 (tf32 only if the compute type says so), and split sums are added in the
	 * requested type. */
	int status = blas_check(err, "cublasSetMathMode",
	        cublasSetMathMode(b->handle,
	                (cublasMath_t)(CUBLAS_DEFAULT_MATH |
	                               CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
	if (status)
		blas_close(b);
	return status;
}

static inline int blas_check_device(
        const struct blas *b, const struct tk_gemm *g, struct tk_abi_error *err)
{
	if (b->capability && b->capability < 80 && (g->a == TK_BF16 || g->a == TK_TF32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "bf16 and tf32 need compute capability 8.0, this device has sm_%d",
		        b->capability);
	return TK_ABI_OK;
}

/* Setting the stream resets the workspace, so both are set together. */
static inline int blas_set_plan(struct blas *b, const void *plan, void *workspace, int tf32,
        void *stream, struct tk_abi_error *err)
{
	(void)tf32; /* is part of the compute type */
	if (b->current == plan && b->stream == stream)
		return TK_ABI_OK;
	int status = blas_check(
	        err, "cublasSetStream", cublasSetStream(b->handle, (cudaStream_t)stream));
	if (status == TK_ABI_OK)
		status = blas_check(err, "cublasSetWorkspace",
		        cublasSetWorkspace(b->handle, workspace, b->workspace_bytes));
	b->current = status ? NULL : plan;
	b->stream = stream;
	return status;
}

static inline const char *blas_version(void)
{
	static char text[32];
	int major = 0, minor = 0, patch = 0;
	if (cublasGetProperty(MAJOR_VERSION, &major) || cublasGetProperty(MINOR_VERSION, &minor) ||
	        cublasGetProperty(PATCH_LEVEL, &patch))
		return "";
	snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
	return text;
}

static inline int blas_multiply(
        struct blas *b, const struct blas_product *p, struct tk_abi_error *err)
{
	const union blas_scalar alpha = blas_scalar(p->acc, p->alpha),
	                        beta = blas_scalar(p->acc, 0);
	const cublasOperation_t ta = p->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
	                        tb = p->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
	const cudaDataType_t type = cuda_type(p->type), type_c = cuda_type(p->type_c);
	const cublasComputeType_t compute = p->acc == TK_F64     ? CUBLAS_COMPUTE_64F
	                                    : p->acc == TK_F16   ? CUBLAS_COMPUTE_16F
	                                    : p->type == TK_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
	                                                         : CUBLAS_COMPUTE_32F;
	if (!p->is_batched)
		return blas_check(err, p->what,
		        cublasGemmEx(b->handle, ta, tb, p->m, p->n, p->k, &alpha, p->a, type,
		                p->lda, p->b, type, p->ldb, &beta, p->c, type_c, p->ldc, compute,
		                CUBLAS_GEMM_DEFAULT));
	return blas_check(err, p->what,
	        cublasGemmStridedBatchedEx(b->handle, ta, tb, p->m, p->n, p->k, &alpha, p->a, type,
	                p->lda, p->step_a, p->b, type, p->ldb, p->step_b, &beta, p->c, type_c,
	                p->ldc, p->step_c, p->count, compute, CUBLAS_GEMM_DEFAULT));
}

#endif
