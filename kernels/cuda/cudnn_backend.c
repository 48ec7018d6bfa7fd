/* Attention by cuDNN: forward with log-sum-exp, backward, causal masks, grouped kv heads, f16 and
 * bf16. The library chooses the engine by its heuristic (mode A); its choice is reported as
 * `algorithm`. What it supports depends on its version and the device: `supports` checks the rules
 * that never change; plan() reports everything else that is unsupported. */
#include "cuda_backend.h"
#include "cudnn_sdpa.h"
#include <cudnn.h>

struct tk_backend_ctx {
	struct gpu_context cuda;
	cudnnHandle_t handle;
	void *stream; /* set last */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	struct cudnn_sdpa *sdpa;
	void *workspace;
	struct bound bound[];
};

static int check(struct tk_abi_error *err, const char *what, cudnnStatus_t code)
{
	return code == CUDNN_STATUS_SUCCESS
	               ? TK_ABI_OK
	               : fail(err, TK_ABI_DEVICE, "%s: %s", what, cudnnGetErrorString(code));
}

static const char *backend_version(void)
{
	static char text[32];
	size_t v = cudnnGetVersion();
	snprintf(text, sizeof text, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
	return text;
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	ctx->stream = (void *)-1;
	return check(err, "cudnnCreate", cudnnCreate(&ctx->handle));
}

static void stop(struct tk_backend_ctx *ctx)
{
	cudnnDestroy(ctx->handle);
}

GPU_CONTEXT_WITH(backend, start, stop)

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_ATTENTION)
		return fail(err, TK_ABI_UNSUPPORTED, "only attention");
	const struct tk_attention *a = p->attention;
	if (ctx->cuda.capability && ctx->cuda.capability < 80)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "attention needs compute capability 8.0, this device has sm_%d",
		        ctx->cuda.capability);
	if (a->dtype != TK_F16 && a->dtype != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED, "only f16 and bf16");
	if (a->d % 8 || a->dv % 8)
		return fail(err, TK_ABI_UNSUPPORTED, "head dimensions must be multiples of 8");
	if (a->d > 256 || a->dv > 256)
		return fail(err, TK_ABI_UNSUPPORTED, "head dimensions over 256");
	return TK_ABI_OK;
}

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	cudnn_sdpa_free(plan->sdpa);
	workspace_free(&plan->ctx->cuda, plan->workspace);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->problem->attention;
	size_t bytes = 0;
	int status =
	        cudnn_sdpa_new(plan->ctx->handle, a, &plan->sdpa, &bytes, info->algorithm, err);
	if (status == TK_ABI_OK)
		status = workspace_new(&plan->ctx->cuda, bytes, &plan->workspace, err);
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        a->dir == TK_FWD ? "cudnn sdpa" : "cudnn sdpa backward");
	info->workspace_bytes = bytes;
	info->capturable = 1;
	info->deterministic = a->dir == TK_FWD; /* backward adds up dQ in any order */
	return status;
}

GPU_PLAN(backend, fill_plan)

KIT_BIND(backend, plan->problem->attention->dir == TK_FWD ? TK_T_LSE + 1 : TK_T_MAX)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = plan->ctx;
	if (ctx->stream != stream) {
		int status = check(
		        err, "cudnnSetStream", cudnnSetStream(ctx->handle, (cudaStream_t)stream));
		if (status)
			return status;
		ctx->stream = stream;
	}
	return cudnn_sdpa_run(plan->sdpa, ctx->handle, plan->bound[set].data, plan->workspace, err);
}

KIT_BACKEND(backend, "cudnn", "cuda", backend_version, "attention by cuDNN, forward and backward",
        TK_OPERATION_ATTENTION | TK_OPERATION_ATTENTION_BACKWARD, .configs = NULL)
