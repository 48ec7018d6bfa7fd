/* The control of a GPU: a matrix product that never changes, so that a change of its time is the machine's (its clock,
 * its power limit, its driver) and nobody's code. The kernel is in control_cuda_kernel.cu; a new nvcc may compile it
 * differently, which its code hash shows. */
#include "cuda_backend.h"

int control_gemm_launch(const float *a, const float *b, float *c, int m, int n, int k, void *stream);

struct tk_backend_ctx {
	int unused;
};

struct tk_plan {
	const struct tk_gemm *g;
	uint32_t sets;
	struct bound bound[];
};

static const char *control_version(void)
{
	return "1";
}

static int control_open(const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	*out = calloc(1, sizeof **out);
	return *out ? TK_ABI_OK : fail(err, TK_ABI_NO_MEMORY, "no memory for the context");
}

static void control_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int control_supports(struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->acc != TK_F32 || g->ta || g->tb || g->batch != 1)
		return fail(err, TK_ABI_UNSUPPORTED, "only one f32 matrix product with nothing transposed");
	if (g->m > 65535 * 64 || g->n > INT_MAX || g->k > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED, "a side is too large for the grid");
	return TK_ABI_OK;
}

static int control_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config, uint32_t sets,
        struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int status = control_supports(ctx, p, err);
	if (status || (status = check_config(config, err)))
		return status;
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->bound[0]);
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	plan->g = p->gemm;
	plan->sets = sets;
	snprintf(info->kernel, sizeof info->kernel, "control_gemm");
	info->capturable = info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int control_bind(
        struct tk_plan *plan, uint32_t set, const struct tk_tensor *t, uint32_t count, struct tk_abi_error *err)
{
	return bind_set(plan->bound, plan->sets, set, t, count, 3, err);
}

static int control_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->g;
	void *const *t = plan->bound[set].data;
	return check_launch(err, "control_gemm",
	        control_gemm_launch(t[TK_T_A], t[TK_T_B], t[TK_T_C], (int)g->m, (int)g->n, (int)g->k, stream));
}

static void control_unplan(struct tk_plan *plan)
{
	free(plan);
}

const struct tk_backend *tk_backend_entry(void)
{
	static const struct tk_backend backend = {
	        .size = sizeof backend,
	        .abi_major = TK_ABI_MAJOR,
	        .abi_minor = TK_ABI_MINOR,
	        .name = "control_cuda",
	        .device_kind = "cuda",
	        .description = "a matrix product that never changes",
	        .version = control_version,
	        .open = control_open,
	        .close = control_close,
	        .supports = control_supports,
	        .plan = control_plan,
	        .bind = control_bind,
	        .launch = control_launch,
	        .unplan = control_unplan,
	};
	return &backend;
}
