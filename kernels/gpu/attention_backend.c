/* The backend around a kernel of attention (attention.h). Nothing here knows CUDA or HIP. */
#include "attention.h"
#include "gpu_backend.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
};

struct tk_plan {
	const struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t config, sets;
	void *workspace;
	struct bound bound[];
};

GPU_CONTEXT(backend)

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != gpu_attention_kernel.op)
		return fail(err, TK_ABI_UNSUPPORTED, "only %s",
		        gpu_attention_kernel.op == TK_OP_NSA ? "native sparse attention"
		                                             : "attention");
	const char *why = gpu_attention_kernel.reject_reason(p);
	return why ? fail(err, TK_ABI_UNSUPPORTED, "%s", why) : TK_ABI_OK;
}

KIT_CONFIGS(backend, gpu_attention_kernel.configs, gpu_attention_kernel.config_count)

static void backend_unplan(struct tk_plan *plan)
{
	if (plan)
		workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int code = gpu_attention_kernel.prepare(plan->problem, plan->config);
	if (code)
		return fail(err, TK_ABI_UNSUPPORTED, "configuration %s: %s",
		        gpu_attention_kernel.configs[plan->config],
		        gpu_attention_kernel.status_text(code));
	size_t bytes =
	        gpu_attention_kernel.workspace ? gpu_attention_kernel.workspace(plan->problem) : 0;
	info->workspace_bytes = bytes;
	snprintf(info->kernel, sizeof info->kernel, "%s", gpu_attention_kernel.backend);
	snprintf(info->algorithm, sizeof info->algorithm, "%s",
	        gpu_attention_kernel.configs[plan->config]);
	info->capturable = info->deterministic = 1;
	return workspace_new(&plan->ctx->gpu, bytes, &plan->workspace, err);
}

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *name,
        uint32_t *out, struct tk_abi_error *err)
{
	return find_config(
	        name, gpu_attention_kernel.configs, gpu_attention_kernel.config_count, out, err);
}

KIT_PLAN(backend, bound, choose, fill_plan)

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	uint32_t need = plan->problem->op == TK_OP_NSA            ? TK_T_BLOCKS + 1
	                : plan->problem->attention->dir == TK_FWD ? TK_T_LSE + 1
	                                                          : TK_T_MAX;
	return bind_set(plan->bound, plan->sets, set, t, count, need, err);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	int code = gpu_attention_kernel.launch(
	        plan->problem, plan->config, plan->bound[set].data, plan->workspace, stream);
	if (code)
		return fail(err, TK_ABI_DEVICE, "%s could not be launched: %s",
		        gpu_attention_kernel.backend, gpu_attention_kernel.status_text(code));
	return TK_ABI_OK;
}

KIT_BACKEND(backend, gpu_attention_kernel.backend, TK_GPU_KIND, no_version,
        gpu_attention_kernel.description,
        gpu_attention_kernel.op == TK_OP_NSA
                ? TK_OPERATION_NSA
                : TK_OPERATION_ATTENTION | TK_OPERATION_ATTENTION_BACKWARD,
        .configs = backend_configs)
