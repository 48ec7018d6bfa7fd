/* The backend around a step of the GEMM ladder (gemm.h): one module for each step, so that each is
 * a series of its own. Nothing here knows CUDA or HIP. */
#include "gemm.h"
#include "gpu_backend.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
};

struct tk_plan {
	const struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t config, sets;
	struct bound bound[];
};

GPU_CONTEXT(backend)

static int grid_counts(const struct tk_gemm *g, uint32_t config)
{
	return !gpu_gemm_step.block_rows || g->m <= 65535 * gpu_gemm_step.block_rows[config];
}

static int too_many(struct tk_abi_error *err)
{
	return fail(
	        err, TK_ABI_UNSUPPORTED, "more rows or matrices than a grid of blocks can count");
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->a != g->b || !gpu_gemm_step.accepts(g->a))
		return fail(err, TK_ABI_UNSUPPORTED, "not these types of A and B");
	if (g->acc != TK_F32 || (g->c != g->a && g->c != TK_F32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "sums are kept in f32 and returned in it or in the type of A");
	if (g->m > INT_MAX / 2 || g->n > INT_MAX / 2 || g->k > INT_MAX / 2)
		return fail(err, TK_ABI_UNSUPPORTED, "a side above 2^30");
	uint32_t config = 0;
	while (config < gpu_gemm_step.config_count && !grid_counts(g, config))
		config++;
	return g->batch > 65535 || config == gpu_gemm_step.config_count ? too_many(err) : TK_ABI_OK;
}

KIT_CONFIGS(backend, gpu_gemm_step.configs, gpu_gemm_step.config_count)

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *name,
        uint32_t *out, struct tk_abi_error *err)
{
	TRY(find_config(name, gpu_gemm_step.configs, gpu_gemm_step.config_count, out, err));
	return grid_counts(p->gemm, *out) ? TK_ABI_OK : too_many(err);
}

static void backend_unplan(struct tk_plan *plan)
{
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int code = gpu_gemm_step.prepare(plan->problem->gemm, plan->config);
	snprintf(info->kernel, sizeof info->kernel, "%s", gpu_gemm_step.backend);
	snprintf(
	        info->algorithm, sizeof info->algorithm, "%s", gpu_gemm_step.configs[plan->config]);
	info->capturable = info->deterministic = 1;
	return code ? fail(err, TK_ABI_UNSUPPORTED, "configuration %s: %s", info->algorithm,
	                      gpu_gemm_step.status_text(code))
	            : TK_ABI_OK;
}

KIT_PLAN(backend, bound, choose, fill_plan)

KIT_BIND(backend, 3)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	void *const *t = plan->bound[set].data;
	int code = gpu_gemm_step.launch(
	        plan->problem->gemm, plan->config, t[TK_T_A], t[TK_T_B], t[TK_T_C], stream);
	if (code)
		return fail(err, TK_ABI_DEVICE, "%s could not be launched: %s",
		        gpu_gemm_step.backend, gpu_gemm_step.status_text(code));
	return TK_ABI_OK;
}

KIT_BACKEND(backend, gpu_gemm_step.backend, TK_GPU_KIND, no_version, gpu_gemm_step.description,
        TK_OPERATION_GEMM, .configs = backend_configs)
