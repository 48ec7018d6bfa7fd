/* The ceilings of this GPU, which kernels are compared with: `copy` and `read` at full bandwidth,
 * `fma` in registers. A `copy` of a few bytes takes as long as its launch. The rate of matrix units
 * depends on the values of the operands, so those are random. On NVIDIA from Hopper on a warp's own
 * instructions do not reach the rate of a warpgroup's: there a large product by cublaslt is the
 * ceiling. */
#include "ceiling_kernels.h"
#include "gpu_backend.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	unsigned units;  /* multiprocessors */
	unsigned blocks; /* of the reading kernel: all that run at once */
	unsigned small;  /* of the one that reads again, which has smaller ones */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	float *partial; /* sums of blocks, then the ticket */
	struct bound bound[];
};

static const char *ceiling_version(void)
{
	return "1";
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	ctx->units = ctx->gpu.multiprocessors > 0 ? (unsigned)ctx->gpu.multiprocessors : 128;
	ctx->blocks = ctx->units * 4 < CEILING_BLOCKS_MAX ? ctx->units * 4 : CEILING_BLOCKS_MAX;
	ctx->small = ctx->units * 8 < CEILING_BLOCKS_MAX ? ctx->units * 8 : CEILING_BLOCKS_MAX;
	return TK_ABI_OK;
}

GPU_CONTEXT_WITH(ceiling, start, context_stop_none)

static int reads_again(const struct tk_problem *p)
{
	return p->op == TK_OP_READ && p->ceiling->size >= sizeof *p->ceiling &&
	       (p->ceiling->passes > 1 || p->ceiling->cache);
}

static int ceiling_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_COPY && p->op != TK_OP_READ && p->op != TK_OP_FMA)
		return fail(err, TK_ABI_UNSUPPORTED, "only copy, read and fma");
	uint32_t dtype = p->ceiling->dtype;
	if (p->op == TK_OP_READ && dtype != TK_F32)
		return fail(err, TK_ABI_UNSUPPORTED, "read sums f32 only");
	if (reads_again(p) && p->ceiling->bytes % CEILING_CHUNK_BYTES != 0)
		return fail(err, TK_ABI_UNSUPPORTED, "what is read again is a multiple of %d bytes",
		        CEILING_CHUNK_BYTES);
	if (p->op == TK_OP_FMA && dtype != TK_F32 && dtype != TK_F16 && dtype != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED, "fma on f32, f16 and bf16 only");
	if (p->ceiling->bytes > (int64_t)1 << 42)
		return fail(err, TK_ABI_UNSUPPORTED,
		        p->op == TK_OP_FMA ? "more than 2^42" : "more than 4 TiB");
	return TK_ABI_OK;
}

static int clear_ticket(struct tk_plan *plan, struct tk_abi_error *err)
{
	unsigned zero = 0;
	const struct gpu_context *c = &plan->ctx->gpu;
	return c->ops->upload(
	        c->device, plan->partial + CEILING_BLOCKS_MAX, &zero, sizeof zero, err);
}

static void ceiling_unplan(struct tk_plan *plan)
{
	if (plan)
		workspace_free(&plan->ctx->gpu, plan->partial);
	free(plan);
}

static const char *kernel_name(const struct tk_problem *p)
{
	if (p->op == TK_OP_FMA)
		return p->ceiling->dtype == TK_F32 ? "vector_rate_kernel" : "matrix_rate_kernel";
	if (reads_again(p))
		return p->ceiling->cache == 1 ? "read_own_kernel" : "read_shared_kernel";
	return p->op == TK_OP_COPY ? "copy_kernel" : "read_kernel";
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	size_t bytes =
	        plan->problem->op == TK_OP_READ ? (CEILING_BLOCKS_MAX + 1) * sizeof(float) : 0;
	int status = workspace_new(&plan->ctx->gpu, bytes, (void **)&plan->partial, err);
	if (status == TK_ABI_OK && bytes)
		status = clear_ticket(plan, err);
	snprintf(info->kernel, sizeof info->kernel, "%s", kernel_name(plan->problem));
	info->workspace_bytes = bytes;
	info->capturable = info->deterministic = 1;
	return status;
}

GPU_PLAN(ceiling, fill_plan)

KIT_BIND(ceiling, 2)

static int launch_kernel(const struct tk_plan *plan, void *const *t, void *stream)
{
	const struct tk_backend_ctx *ctx = plan->ctx;
	const struct tk_ceiling_op *c = plan->problem->ceiling;
	if (plan->problem->op == TK_OP_COPY)
		return ceiling_copy(t[TK_T_IN], t[TK_T_OUT], (size_t)c->bytes, stream);
	if (plan->problem->op == TK_OP_FMA)
		return ceiling_rate(
		        c->dtype, t[TK_T_IN], t[TK_T_OUT], c->bytes, ctx->units, stream);
	unsigned *ticket = (unsigned *)(void *)(plan->partial + CEILING_BLOCKS_MAX);
	size_t n = (size_t)c->bytes / sizeof(float);
	if (!reads_again(plan->problem))
		return ceiling_read(
		        t[TK_T_IN], n, t[TK_T_OUT], plan->partial, ticket, ctx->blocks, stream);
	return ceiling_read_passes(t[TK_T_IN], n, c->passes, c->cache == 1, t[TK_T_OUT],
	        plan->partial, ticket, c->cache == 1 ? CEILING_BLOCKS_MAX : ctx->small, stream);
}

static int ceiling_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	int code = launch_kernel(plan, plan->bound[set].data, stream);
	return code ? fail(err, TK_ABI_DEVICE, "%s could not be launched: %s",
	                      kernel_name(plan->problem), ceiling_status_text(code))
	            : TK_ABI_OK;
}

KIT_BACKEND(ceiling, "ceiling_" TK_GPU_KIND, TK_GPU_KIND, ceiling_version,
        "the GPU's own limits: bandwidth of copy and read, rate of multiply-adds",
        TK_OPERATION_COPY | TK_OPERATION_READ | TK_OPERATION_FMA, .configs = NULL)
