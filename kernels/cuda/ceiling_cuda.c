/* What the memory of this GPU can do: `copy` and `read` at full bandwidth, the roofs that kernels are judged by. The
 * arithmetic roofs are measured with cublaslt: large matrix products on random data, because what tensor cores can do
 * depends on the values they are fed. */
#include "ceiling_cuda_kernels.h"
#include "cuda_backend.h"

struct tk_backend_ctx {
	struct gpu_context cuda;
	unsigned blocks; /* of the reading kernel: all that run at once */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets;
	float *partial; /* sums of blocks, and behind them the ticket */
	struct bound bound[];
};

static const char *ceiling_version(void)
{
	return "1";
}

static int ceiling_open(const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = context_new(sizeof *ctx, args, err);
	if (!ctx)
		return TK_ABI_NO_MEMORY;
	ctx->blocks = ctx->cuda.multiprocessors ? (unsigned)ctx->cuda.multiprocessors * 4 : 512;
	if (ctx->blocks > CEILING_BLOCKS_MAX)
		ctx->blocks = CEILING_BLOCKS_MAX;
	*out = ctx;
	return TK_ABI_OK;
}

static void ceiling_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int ceiling_supports(struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op == TK_OP_FMA)
		return fail(err, TK_ABI_UNSUPPORTED, "on GPUs the arithmetic roofs are measured with gemm on cublaslt");
	if (p->op != TK_OP_COPY && p->op != TK_OP_READ)
		return fail(err, TK_ABI_UNSUPPORTED, "only copy and read");
	if (p->op == TK_OP_READ && p->ceiling->dtype != TK_F32)
		return fail(err, TK_ABI_UNSUPPORTED, "read sums f32 only");
	if (p->ceiling->bytes > (int64_t)1 << 42)
		return fail(err, TK_ABI_UNSUPPORTED, "more than 4 TiB");
	return TK_ABI_OK;
}

static int clear_ticket(struct tk_plan *plan, struct tk_abi_error *err)
{
	unsigned zero = 0;
	const struct gpu_context *c = &plan->ctx->cuda;
	return c->ops->upload(c->device, plan->partial + CEILING_BLOCKS_MAX, &zero, sizeof zero, err);
}

static void ceiling_unplan(struct tk_plan *plan)
{
	if (plan)
		workspace_free(&plan->ctx->cuda, plan->partial);
	free(plan);
}

static int ceiling_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config, uint32_t sets,
        struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	size_t bytes = p->op == TK_OP_READ ? (CEILING_BLOCKS_MAX + 1) * sizeof(float) : 0;
	int status = ceiling_supports(ctx, p, err);
	if (status || (status = check_config(config, err)))
		return status;
	struct tk_plan *plan = plan_new(sizeof *plan + sets * sizeof plan->bound[0], err);
	if (!plan)
		return TK_ABI_NO_MEMORY;
	plan->ctx = ctx;
	plan->problem = p;
	plan->sets = sets;
	status = workspace_new(&ctx->cuda, bytes, (void **)&plan->partial, err);
	if (status == TK_ABI_OK && bytes)
		status = clear_ticket(plan, err);
	if (status) {
		ceiling_unplan(plan);
		return status;
	}
	snprintf(info->kernel, sizeof info->kernel, "%s", p->op == TK_OP_COPY ? "copy_kernel" : "read_kernel");
	info->workspace_bytes = bytes;
	info->capturable = info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int ceiling_bind(
        struct tk_plan *plan, uint32_t set, const struct tk_tensor *t, uint32_t count, struct tk_abi_error *err)
{
	return bind_set(plan->bound, plan->sets, set, t, count, 2, err);
}

static int ceiling_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	void *const *t = plan->bound[set].data;
	size_t bytes = (size_t)plan->problem->ceiling->bytes;
	if (plan->problem->op == TK_OP_COPY)
		return check_launch(err, "copy_kernel", ceiling_copy(t[TK_T_IN], t[TK_T_OUT], bytes, stream));
	return check_launch(err, "read_kernel",
	        ceiling_read(t[TK_T_IN], bytes / sizeof(float), t[TK_T_OUT], plan->partial,
	                (unsigned *)(void *)(plan->partial + CEILING_BLOCKS_MAX), plan->ctx->blocks, stream));
}

GPU_BACKEND(ceiling, "ceiling_cuda", "cuda", ceiling_version, "the GPU's own limits: copy and read bandwidth",
        .configs = NULL)
