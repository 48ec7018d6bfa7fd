/* Attention without tiling, the baseline that tiled kernels have to beat: S = scale Q K', a softmax
 * over the rows, O = P V. All of S is in memory, O(N^2) bytes in f32 and once more for P where the
 * tensors have 16 bits: what PyTorch's "math" path does. Two products by the vendor's BLAS
 * (blas.h) and one kernel of our own (softmax.cu) for each entry of the batch.
 *
 * A product for each (batch entry, kv head): the heads of a group are a strided batch that shares K
 * and V (stride 0); without groups, all heads are one such batch. */
#include "blas.h"
#include "softmax.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	struct blas blas;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	void *workspace; /* of the BLAS */
	float *scores;   /* [b][h][sq][skv] */
	void *weights;   /* the same in the type of the tensors; the scores themselves where that is
	                    f32 */
	struct bound bound[];
};

BLAS_CONTEXT(backend, context_stop_none)

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_ATTENTION)
		return fail(err, TK_ABI_UNSUPPORTED, "only attention");
	const struct tk_attention *a = p->attention;
	if (a->dir != TK_FWD)
		return fail(err, TK_ABI_UNSUPPORTED, "only the forward direction");
	if (a->dtype != TK_F32 && a->dtype != TK_F16 && a->dtype != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED, "only f32, f16 and bf16");
	if ((double)a->b * (double)a->h * (double)a->sq > INT_MAX || a->h * a->d > INT_MAX ||
	        a->h * a->dv > INT_MAX || a->skv > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "more rows than a grid of blocks or the library's 32-bit integers can "
		        "count");
	return TK_ABI_OK;
}

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	const struct gpu_context *c = &plan->ctx->gpu;
	blas_clear_plan(&plan->ctx->blas);
	workspace_free(c, plan->workspace);
	workspace_free(c, plan->weights == plan->scores ? NULL : plan->weights);
	workspace_free(c, plan->scores);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->problem->attention;
	const struct gpu_context *c = &plan->ctx->gpu;
	size_t scores = (size_t)a->b * (size_t)a->h * (size_t)a->sq * (size_t)a->skv,
	       narrow = a->dtype == TK_F32 ? 0 : 2, workspace = plan->ctx->blas.workspace_bytes;
	int status = workspace_new(c, workspace, &plan->workspace, err);
	if (status == TK_ABI_OK)
		status = workspace_new(c, scores * sizeof(float), (void **)&plan->scores, err);
	if (status == TK_ABI_OK)
		status = workspace_new(c, scores * narrow, &plan->weights, err);
	if (!narrow)
		plan->weights = plan->scores;
	info->workspace_bytes = workspace + scores * (sizeof(float) + narrow);
	snprintf(info->kernel, sizeof info->kernel,
	        BLAS_BATCHED_CALL "+softmax_kernel+" BLAS_BATCHED_CALL);
	info->capturable = 1;
	info->deterministic = 1;
	return status;
}

GPU_PLAN(backend, fill_plan)

KIT_BIND(backend, 4)

/* Heads [first, first + count) of one batch entry that share a kv head, or all heads with a kv head
 * each. */
struct heads {
	int64_t entry, first, count, kv_head, kv_step;
};

/* Row-major S[head] (sq x skv) = scale Q[head] (sq x d, rows h d apart) K' (skv x d, rows hkv d
 * apart). */
static int score(
        struct tk_plan *plan, void *const *t, const struct heads *n, struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->problem->attention;
	size_t e = type_bytes(a->dtype);
	struct blas_product p = {.what = "Q K'",
	        .ta = 1,
	        .m = (int)a->skv,
	        .n = (int)a->sq,
	        .k = (int)a->d,
	        .count = (int)n->count,
	        .is_batched = 1,
	        .acc = TK_F32,
	        .alpha = a->scale,
	        .type = a->dtype,
	        .type_c = TK_F32,
	        .a = (const char *)t[TK_T_K] +
	             (size_t)((n->entry * a->skv * a->hkv + n->kv_head) * a->d) * e,
	        .lda = (int)(a->hkv * a->d),
	        .step_a = n->kv_step * a->d,
	        .b = (const char *)t[TK_T_Q] +
	             (size_t)((n->entry * a->sq * a->h + n->first) * a->d) * e,
	        .ldb = (int)(a->h * a->d),
	        .step_b = a->d,
	        .c = plan->scores + (n->entry * a->h + n->first) * a->sq * a->skv,
	        .ldc = (int)a->skv,
	        .step_c = a->sq * a->skv};
	return blas_multiply(&plan->ctx->blas, &p, err);
}

/* Row-major O[head] (sq x dv, rows h dv apart) = P[head] (sq x skv) V (skv x dv, rows hkv dv
 * apart). */
static int combine(
        struct tk_plan *plan, void *const *t, const struct heads *n, struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->problem->attention;
	size_t e = type_bytes(a->dtype);
	struct blas_product p = {.what = "P V",
	        .m = (int)a->dv,
	        .n = (int)a->sq,
	        .k = (int)a->skv,
	        .count = (int)n->count,
	        .is_batched = 1,
	        .acc = TK_F32,
	        .alpha = 1,
	        .type = a->dtype,
	        .type_c = a->dtype,
	        .a = (const char *)t[TK_T_V] +
	             (size_t)((n->entry * a->skv * a->hkv + n->kv_head) * a->dv) * e,
	        .lda = (int)(a->hkv * a->dv),
	        .step_a = n->kv_step * a->dv,
	        .b = (const char *)plan->weights +
	             (size_t)((n->entry * a->h + n->first) * a->sq * a->skv) * e,
	        .ldb = (int)a->skv,
	        .step_b = a->sq * a->skv,
	        .c = (char *)t[TK_T_O] + (size_t)((n->entry * a->sq * a->h + n->first) * a->dv) * e,
	        .ldc = (int)(a->h * a->dv),
	        .step_c = a->dv};
	return blas_multiply(&plan->ctx->blas, &p, err);
}

static int for_all_heads(struct tk_plan *plan, void *const *t,
        int (*f)(struct tk_plan *plan, void *const *t, const struct heads *n,
                struct tk_abi_error *err),
        struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->problem->attention;
	int64_t group = a->h / a->hkv, calls = group == 1 ? 1 : a->hkv;
	int status = TK_ABI_OK;
	for (int64_t entry = 0; status == TK_ABI_OK && entry < a->b; entry++)
		for (int64_t i = 0; status == TK_ABI_OK && i < calls; i++) {
			struct heads n = group == 1 ? (struct heads){entry, 0, a->h, 0, 1}
			                            : (struct heads){entry, i * group, group, i, 0};
			status = f(plan, t, &n, err);
		}
	return status;
}

static int weigh(const struct tk_plan *plan, void *const *t, void *stream, struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->problem->attention;
	int code = softmax_rows(plan->scores, plan->weights, t[TK_T_LSE], a->b * a->h * a->sq,
	        a->sq, a->skv, a->causal, a->dtype, stream);
	return code ? fail(err, TK_ABI_DEVICE, "softmax_kernel could not be launched: %s",
	                      softmax_status_text(code))
	            : TK_ABI_OK;
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	void *const *t = plan->bound[set].data;
	int status = blas_set_plan(&plan->ctx->blas, plan, plan->workspace, 0, stream, err);
	if (status == TK_ABI_OK)
		status = for_all_heads(plan, t, score, err);
	if (status == TK_ABI_OK)
		status = weigh(plan, t, stream, err);
	return status ? status : for_all_heads(plan, t, combine, err);
}

KIT_BACKEND(backend, BLAS_NAME "_native", TK_GPU_KIND, blas_version,
        "attention as two products of the vendor's BLAS and a softmax, all scores in memory",
        TK_OPERATION_ATTENTION, .configs = NULL)
