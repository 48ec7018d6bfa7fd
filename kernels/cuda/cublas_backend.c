/* GEMM by cuBLAS: cublasGemmEx, and cublasGemmStridedBatchedEx for batches. The library chooses the
 * kernel by itself on every call, as it does for nearly every user; its choice is unknown
 * (cublaslt_backend.c shows what there is to choose from). */
#include "cublas_handle.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	struct cublas cublas;
};

union scalar { /* alpha and beta have the type of the accumulator */
	double f64;
	float f32;
	uint16_t f16;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	void *workspace;
	cublasComputeType_t compute;
	union scalar alpha, beta;
	struct bound bound[];
};

/* ---- open, supports ---- */

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	return cublas_open(&ctx->cublas, ctx->gpu.capability, args->options, err);
}

static void stop(struct tk_backend_ctx *ctx)
{
	cublasDestroy(ctx->cublas.handle);
}

GPU_CONTEXT_WITH(backend, start, stop)

/* Inputs, accumulator and results that cublasGemmEx has kernels for (cuBLAS documentation,
 * section 2.8.13). */
static const struct {
	uint32_t in, acc, out;
	cublasComputeType_t compute;
} types[] = {
        {TK_F64, TK_F64, TK_F64, CUBLAS_COMPUTE_64F},
        {TK_F32, TK_F32, TK_F32, CUBLAS_COMPUTE_32F},
        {TK_TF32, TK_F32, TK_F32, CUBLAS_COMPUTE_32F_FAST_TF32},
        {TK_F16, TK_F32, TK_F16, CUBLAS_COMPUTE_32F},
        {TK_F16, TK_F32, TK_F32, CUBLAS_COMPUTE_32F},
        {TK_F16, TK_F16, TK_F16, CUBLAS_COMPUTE_16F},
        {TK_BF16, TK_F32, TK_BF16, CUBLAS_COMPUTE_32F},
        {TK_BF16, TK_F32, TK_F32, CUBLAS_COMPUTE_32F},
};

static int find_types(
        const struct tk_gemm *g, cublasComputeType_t *compute, struct tk_abi_error *err)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (g->a == types[i].in && g->b == types[i].in && g->acc == types[i].acc &&
		        g->c == types[i].out) {
			*compute = types[i].compute;
			return TK_ABI_OK;
		}
	if (g->a == TK_E4M3 || g->a == TK_E5M2)
		return fail(
		        err, TK_ABI_UNSUPPORTED, "cublasGemmEx has no 8-bit floats; cublaslt has");
	if (g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "A and B have different types");
	return fail(err, TK_ABI_UNSUPPORTED,
	        "this accumulator or result does not go with these inputs: f64, f32 and tf32 stay "
	        "what they are, f16 "
	        "and bf16 "
	        "accumulate in f32 (f16 also in f16) and return f32 or their own type");
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	cublasComputeType_t compute;
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->batch > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side is larger than the library's 32-bit integers");
	if (ctx->gpu.capability && ctx->gpu.capability < 80 && (g->a == TK_BF16 || g->a == TK_TF32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "bf16 and tf32 need compute capability 8.0, this device has sm_%d",
		        ctx->gpu.capability);
	return find_types(g, &compute, err);
}

/* ---- plan, bind, launch ---- */

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	cublas_clear_plan(&plan->ctx->cublas);
	workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

static void set_scalars(struct tk_plan *plan)
{
	if (plan->compute == CUBLAS_COMPUTE_64F)
		plan->alpha.f64 = 1;
	else if (plan->compute == CUBLAS_COMPUTE_16F)
		plan->alpha.f16 = 0x3c00; /* 1 */
	else
		plan->alpha.f32 = 1;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	size_t bytes = plan->ctx->cublas.workspace_bytes;
	int status = workspace_new(&plan->ctx->gpu, bytes, &plan->workspace, err);
	if (status || (status = find_types(g, &plan->compute, err)))
		return status;
	set_scalars(plan);
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        g->batch > 1 ? "cublasGemmStridedBatchedEx" : "cublasGemmEx");
	info->workspace_bytes = bytes;
	info->capturable = 1;
	info->deterministic = 1; /* one stream at a time, and a workspace of its own (documentation,
	                            section 2.1.4) */
	return TK_ABI_OK;
}

GPU_PLAN(backend, fill_plan)

KIT_BIND(backend, 3)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	void *const *t = plan->bound[set].data;
	cublasHandle_t handle = plan->ctx->cublas.handle;
	cublasOperation_t ta = g->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
	                  tb = g->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
	cudaDataType_t type = cuda_type(g->a), type_c = cuda_type(g->c);
	int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = g->ta ? m : k, ldb = g->tb ? k : n;
	int status = cublas_set_plan(&plan->ctx->cublas, plan, plan->workspace, stream, err);
	if (status)
		return status;
	if (g->batch == 1)
		return cublas_check(err, "cublasGemmEx",
		        cublasGemmEx(handle, tb, ta, n, m, k, &plan->alpha, t[TK_T_B], type, ldb,
		                t[TK_T_A], type, lda, &plan->beta, t[TK_T_C], type_c, n,
		                plan->compute, CUBLAS_GEMM_DEFAULT));
	return cublas_check(err, "cublasGemmStridedBatchedEx",
	        cublasGemmStridedBatchedEx(handle, tb, ta, n, m, k, &plan->alpha, t[TK_T_B], type,
	                ldb, (long long)n * k, t[TK_T_A], type, lda, (long long)m * k, &plan->beta,
	                t[TK_T_C], type_c, n, (long long)m * n, (int)g->batch, plan->compute,
	                CUBLAS_GEMM_DEFAULT));
}

KIT_BACKEND(backend, "cublas", "cuda", cublas_version_text,
        "GEMM by cuBLAS, which chooses the kernel itself", TK_OPERATION_GEMM, .configs = NULL)
