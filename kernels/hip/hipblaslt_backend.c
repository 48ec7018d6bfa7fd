/* GEMM by hipBLASLt: its heuristic list, made visible. The library ranks its kernels for a problem;
 * each place in that ranking is a configuration here ("heuristic-0" is the library's own choice),
 * and a plan reports its kernel.
 *
 * 8-bit floats: e4m3 and e5m2 to bf16, f16 or f32. CDNA3 reads them as FNUZ (narrow.h), later parts
 * as OCP.
 *
 * Option: workspace_mib=N limits the workspace of an algorithm (default 128 on CDNA3, 32
 * before). */
#include "hip_backend.h"
#include "hipblaslt_matmul.h"
#include "narrow.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	unsigned gfx;
	void *library;
	size_t workspace_limit;
	float *scale; /* on the device: of 8-bit operands */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	struct matmul *matmul;
	void *workspace;
	int fnuz;             /* operands are copied in bind() */
	struct bound bound[]; /* copies of the operands are the plan's own */
};

static int is_narrow(uint32_t dtype)
{
	return dtype == TK_E4M3 || dtype == TK_E5M2;
}

/* ---- open, supports ---- */

static void stop(struct tk_backend_ctx *ctx)
{
	workspace_free(&ctx->gpu, ctx->scale);
	matmul_library_close(ctx->library);
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	ctx->gfx = gfx_of(args);
	ctx->workspace_limit = (size_t)option_number(args->options, "workspace_mib",
	                               is_cdna3(ctx->gfx) ? 128 : 32) *
	                       MIB;
	float scale = is_cdna3(ctx->gfx) ? NARROW_FNUZ_SCALE : 1;
	int status = matmul_library_open(&ctx->library, err);
	if (status == TK_ABI_OK)
		status = workspace_new(&ctx->gpu, 256, (void **)&ctx->scale, err);
	if (status == TK_ABI_OK)
		status = ctx->gpu.ops->upload(
		        ctx->gpu.device, ctx->scale, &scale, sizeof scale, err);
	if (status)
		stop(ctx);
	return status;
}

GPU_CONTEXT_WITH(backend, start, stop)

static int supports_narrow(
        const struct tk_backend_ctx *ctx, const struct tk_gemm *g, struct tk_abi_error *err)
{
	if (ctx->gfx && ctx->gfx < 0x940)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "8-bit floats need gfx942 or later, this device has gfx%x", ctx->gfx);
	if (!is_narrow(g->a) || !is_narrow(g->b) || g->acc != TK_F32 ||
	        (g->c != TK_BF16 && g->c != TK_F16 && g->c != TK_F32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "8-bit floats multiply each other, accumulate in f32 and return bf16, f16 "
		        "or f32");
	return TK_ABI_OK;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->batch > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "the batch is larger than the library's 32-bit integers");
	if (is_narrow(g->a) || is_narrow(g->b))
		return supports_narrow(ctx, g, err);
	if (g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "A and B have different types");
	if (g->a == TK_TF32 && ctx->gfx && !is_cdna3(ctx->gfx))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "tf32 (AMD: xf32) is there on gfx942 only, this device has gfx%x",
		        ctx->gfx);
	if (g->acc == TK_F32 &&
	        (g->c == TK_F32 || ((g->a == TK_F16 || g->a == TK_BF16) && g->c == g->a)) &&
	        (g->a == TK_F32 || g->a == TK_TF32 || g->a == TK_F16 || g->a == TK_BF16))
		return TK_ABI_OK;
	return fail(err, TK_ABI_UNSUPPORTED,
	        "hipBLASLt accumulates in f32: f32 and tf32 return f32, f16 and bf16 return f32 or "
	        "their own type, "
	        "and there is no f64");
}

static const char *const config_names[HEURISTICS_MAX] = HEURISTIC_NAMES;

static struct matmul_narrow narrow_of(const struct tk_backend_ctx *ctx, const struct tk_gemm *g)
{
	if (!is_narrow(g->a))
		return (struct matmul_narrow){0};
	return (struct matmul_narrow){.fnuz = is_cdna3(ctx->gfx), .scale = ctx->scale};
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	unsigned found = 0;
	int status = backend_supports(ctx, p, err);
	if (status)
		return status;
	struct matmul_narrow narrow = narrow_of(ctx, p->gemm);
	status = matmul_new(
	        ctx->library, p->gemm, &narrow, ctx->workspace_limit, 0, NULL, &found, err);
	if (status == TK_ABI_OK) {
		*names = config_names;
		*count = found;
	}
	return status;
}

/* ---- plan, bind, launch ---- */

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	const struct gpu_context *c = &plan->ctx->gpu;
	for (uint32_t i = 0; plan->fnuz && i < plan->sets; i++) {
		workspace_free(c, plan->bound[i].data[TK_T_A]);
		workspace_free(c, plan->bound[i].data[TK_T_B]);
	}
	workspace_free(c, plan->workspace);
	matmul_free(plan->matmul);
	free(plan);
}

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *name,
        uint32_t *out, struct tk_abi_error *err)
{
	return find_config(name, config_names, HEURISTICS_MAX, out, err);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = plan->ctx;
	const struct tk_gemm *g = plan->problem->gemm;
	struct matmul_narrow narrow = narrow_of(ctx, g);
	unsigned count = 0;
	plan->fnuz = narrow.fnuz;
	TRY(matmul_new(ctx->library, g, &narrow, ctx->workspace_limit, plan->config, &plan->matmul,
	        &count, err));
	TRY(workspace_new(&ctx->gpu, matmul_workspace(plan->matmul), &plan->workspace, err));
	matmul_describe(plan->matmul, info);
	info->capturable = info->deterministic = 1;
	return TK_ABI_OK;
}

KIT_PLAN(backend, bound, choose, fill_plan)

/* Takes the copy of an operand in the place of the tracker's own. */
static int copy_narrow(
        struct tk_plan *plan, void **own, const struct tk_tensor *t, struct tk_abi_error *err)
{
	const struct gpu_context *c = &plan->ctx->gpu;
	int status = *own ? TK_ABI_OK : workspace_new(c, t->bytes, own, err);
	if (status)
		return status;
	int code = narrow_to_fnuz(t->data, *own, t->bytes, NULL);
	if (code)
		return fail(err, TK_ABI_DEVICE, "narrow_kernel could not be launched: HIP error %d",
		        code);
	return c->ops->synchronize(c->device, NULL, err);
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	if (!plan->fnuz || set >= plan->sets || count < 3)
		return bind_set(plan->bound, plan->sets, set, t, count, 3, err);
	void **own = plan->bound[set].data;
	TRY(copy_narrow(plan, &own[TK_T_A], &t[TK_T_A], err));
	own[TK_T_C] = t[TK_T_C].data;
	return copy_narrow(plan, &own[TK_T_B], &t[TK_T_B], err);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	void *const *t = plan->bound[set].data;
	return matmul_launch(
	        plan->matmul, t[TK_T_A], t[TK_T_B], t[TK_T_C], plan->workspace, stream, err);
}

KIT_BACKEND(backend, "hipblaslt", "hip", matmul_version,
        "GEMM by hipBLASLt, every kernel of its ranking a configuration", TK_OPERATION_GEMM,
        .configs = backend_configs)
