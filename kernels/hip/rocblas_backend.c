/* GEMM by rocBLAS: rocblas_gemm_ex, and rocblas_gemm_strided_batched_ex for batches. The library
 * chooses the kernel by itself on every call, as it does for nearly every user; hipblaslt_backend.c
 * shows what there is to choose from. */
#include "rocblas_handle.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	unsigned gfx;
	struct rocblas rocblas;
};

/* Inputs, accumulator and results of rocblas_gemm_ex (rocBLAS documentation, "rocblas_gemm_ex"). */
struct types {
	uint32_t in, acc, out;
	rocblas_datatype type_in, type_out, compute;
};
static const struct types types[] = {
        {TK_F64, TK_F64, TK_F64, rocblas_datatype_f64_r, rocblas_datatype_f64_r,
                rocblas_datatype_f64_r},
        {TK_F32, TK_F32, TK_F32, rocblas_datatype_f32_r, rocblas_datatype_f32_r,
                rocblas_datatype_f32_r},
        {TK_TF32, TK_F32, TK_F32, rocblas_datatype_f32_r, rocblas_datatype_f32_r,
                rocblas_datatype_f32_r},
        {TK_F16, TK_F32, TK_F16, rocblas_datatype_f16_r, rocblas_datatype_f16_r,
                rocblas_datatype_f32_r},
        {TK_F16, TK_F32, TK_F32, rocblas_datatype_f16_r, rocblas_datatype_f32_r,
                rocblas_datatype_f32_r},
        {TK_F16, TK_F16, TK_F16, rocblas_datatype_f16_r, rocblas_datatype_f16_r,
                rocblas_datatype_f16_r},
        {TK_BF16, TK_F32, TK_BF16, rocblas_datatype_bf16_r, rocblas_datatype_bf16_r,
                rocblas_datatype_f32_r},
        {TK_BF16, TK_F32, TK_F32, rocblas_datatype_bf16_r, rocblas_datatype_f32_r,
                rocblas_datatype_f32_r},
};

union scalar { /* alpha and beta have the type of the accumulator */
	double f64;
	float f32;
	uint16_t f16;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	const struct types *types;
	uint32_t sets;
	void *workspace;
	union scalar alpha, beta;
	struct bound bound[];
};

/* ---- open, supports ---- */

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	ctx->gfx = gfx_of(args);
	return rocblas_open(&ctx->rocblas, ctx->gfx, args->options, err);
}

static void stop(struct tk_backend_ctx *ctx)
{
	rocblas_destroy_handle(ctx->rocblas.handle);
}

GPU_CONTEXT_WITH(backend, start, stop)

static const struct types *find_types(const struct tk_gemm *g)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (g->a == types[i].in && g->b == types[i].in && g->acc == types[i].acc &&
		        g->c == types[i].out)
			return &types[i];
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->batch > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side is larger than the library's 32-bit integers");
	if (g->a == TK_TF32 && ctx->gfx && !is_cdna3(ctx->gfx))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "tf32 (AMD: xf32) is there on gfx942 only, this device has gfx%x",
		        ctx->gfx);
	if (g->a == TK_E4M3 || g->a == TK_E5M2)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "rocblas_gemm_ex has no 8-bit floats; hipblaslt has");
	if (g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "A and B have different types");
	return find_types(g) ? TK_ABI_OK
	                     : fail(err, TK_ABI_UNSUPPORTED,
	                               "this accumulator or result does not go with these inputs: "
	                               "f64, f32 and tf32 "
	                               "stay what they are, f16 and bf16 accumulate in f32 (f16 "
	                               "also in f16) and "
	                               "return f32 or their own type");
}

/* ---- plan, bind, launch ---- */

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	rocblas_clear_plan(&plan->ctx->rocblas);
	workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

static void set_scalars(struct tk_plan *plan)
{
	if (plan->types->compute == rocblas_datatype_f64_r)
		plan->alpha.f64 = 1;
	else if (plan->types->compute == rocblas_datatype_f16_r)
		plan->alpha.f16 = 0x3c00; /* 1 */
	else
		plan->alpha.f32 = 1;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	size_t bytes = plan->ctx->rocblas.workspace_bytes;
	int status = workspace_new(&plan->ctx->gpu, bytes, &plan->workspace, err);
	if (status)
		return status;
	plan->types = find_types(plan->problem->gemm);
	set_scalars(plan);
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        plan->problem->gemm->batch > 1 ? "rocblas_gemm_strided_batched_ex"
	                                       : "rocblas_gemm_ex");
	info->workspace_bytes = bytes;
	info->capturable = 1;
	info->deterministic = 1; /* atomics are not allowed */
	return TK_ABI_OK;
}

GPU_PLAN(backend, fill_plan)

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	return bind_set(plan->bound, plan->sets, set, t, count, 3, err);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	const struct types *y = plan->types;
	void *const *t = plan->bound[set].data;
	struct rocblas *r = &plan->ctx->rocblas;
	rocblas_operation ta = g->ta ? rocblas_operation_transpose : rocblas_operation_none,
	                  tb = g->tb ? rocblas_operation_transpose : rocblas_operation_none;
	int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = g->ta ? m : k, ldb = g->tb ? k : n;
	int status = rocblas_set_plan(r, plan, plan->workspace, g->a == TK_TF32, stream, err);
	if (status)
		return status;
	if (g->batch == 1)
		return rocblas_check(err, "rocblas_gemm_ex",
		        rocblas_gemm_ex(r->handle, tb, ta, n, m, k, &plan->alpha, t[TK_T_B],
		                y->type_in, ldb, t[TK_T_A], y->type_in, lda, &plan->beta, t[TK_T_C],
		                y->type_out, n, t[TK_T_C], y->type_out, n, y->compute,
		                rocblas_gemm_algo_standard, 0, rocblas_gemm_flags_none));
	return rocblas_check(err, "rocblas_gemm_strided_batched_ex",
	        rocblas_gemm_strided_batched_ex(r->handle, tb, ta, n, m, k, &plan->alpha, t[TK_T_B],
	                y->type_in, ldb, (rocblas_stride)n * k, t[TK_T_A], y->type_in, lda,
	                (rocblas_stride)m * k, &plan->beta, t[TK_T_C], y->type_out, n,
	                (rocblas_stride)m * n, t[TK_T_C], y->type_out, n, (rocblas_stride)m * n,
	                (int)g->batch, y->compute, rocblas_gemm_algo_standard, 0,
	                rocblas_gemm_flags_none));
}

GPU_BACKEND(backend, "rocblas", "hip", rocblas_version_text,
        "GEMM by rocBLAS, which chooses the kernel itself", TK_OPERATION_GEMM, .configs = NULL)
