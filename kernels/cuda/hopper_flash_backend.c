/* The backend of hopper_flash.cu: attention forward with log-sum-exp, f16 and bf16, head dimensions 64, 128 and 256,
 * causal masks, grouped kv heads. */
#include "cuda_backend.h"
#include "hopper_flash.h"
#include "hopper_map.h"

/* Keys and values of a section of heads take about half of the L2 cache. */
#define SECTION_BYTES (24 * MIB)

struct tk_backend_ctx {
	struct gpu_context gpu;
	int multiprocessors;
};

struct tk_plan {
	const struct tk_attention *a;
	uint32_t sets;
	struct hopper_flash_call call[]; /* one for each set */
};

static const char *backend_version(void)
{
	return "";
}

static int backend_open(const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the context");
	context_init(&ctx->gpu, args);
	ctx->multiprocessors = (int)args->device_info.compute_units;
	*out = ctx;
	return TK_ABI_OK;
}

static void backend_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int backend_supports(struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (ctx->gpu.capability != 90)
		return fail(err, TK_ABI_UNSUPPORTED, "for sm_90 alone, this device has sm_%d", ctx->gpu.capability);
	if (p->op != TK_OP_ATTENTION || p->attention->dir != TK_FWD)
		return fail(err, TK_ABI_UNSUPPORTED, "only attention, forward");
	const struct tk_attention *a = p->attention;
	if (a->dtype != TK_F16 && a->dtype != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED, "only f16 and bf16");
	if (a->d != a->dv || (a->d != 64 && a->d != 128 && a->d != 256))
		return fail(err, TK_ABI_UNSUPPORTED, "only head dimensions 64, 128 and 256, the same for values");
	if ((double)a->b * (double)a->h * (double)(a->sq + 256) > INT_MAX || a->skv > INT_MAX / 2)
		return fail(err, TK_ABI_UNSUPPORTED, "more queries or keys than 32 bits count");
	return TK_ABI_OK;
}

/* Heads that are worked on in turn: whole groups that share keys and values, at least one. */
static int section_of(const struct tk_attention *a)
{
	int64_t group = a->h / a->hkv, heads = a->b * a->h;
	int64_t groups = (int64_t)(SECTION_BYTES / (size_t)(a->skv * a->d * 4));
	int64_t section = (groups > 0 ? groups : 1) * group;
	return (int)(section < heads ? section : heads);
}

static void fill_call(struct hopper_flash_call *call, const struct tk_backend_ctx *ctx, const struct tk_attention *a)
{
	int queries = hopper_flash_queries((int)a->d);
	*call = (struct hopper_flash_call){.dtype = a->dtype,
	        .d = (int)a->d,
	        .multiprocessors = ctx->multiprocessors,
	        .args = {.b = (int)a->b,
	                .h = (int)a->h,
	                .hkv = (int)a->hkv,
	                .sq = (int)a->sq,
	                .skv = (int)a->skv,
	                .causal = a->causal,
	                .scale = (float)(a->scale * 1.4426950408889634),
	                .tiles = (int)((a->sq + queries - 1) / queries),
	                .section = section_of(a)}};
}

static void backend_unplan(struct tk_plan *plan)
{
	free(plan);
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config, uint32_t sets,
        struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int status = backend_supports(ctx, p, err);
	if (status || (status = check_config(config, err)))
		return status;
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->call[0]);
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	plan->a = p->attention;
	plan->sets = sets;
	for (uint32_t i = 0; i < sets; i++)
		fill_call(&plan->call[i], ctx, p->attention);
	status = check_launch(err, "hopper_flash", hopper_flash_prepare(&plan->call[0]));
	if (status) {
		backend_unplan(plan);
		return status;
	}
	snprintf(info->kernel, sizeof info->kernel, "hopper_flash");
	snprintf(info->algorithm, sizeof info->algorithm, "queries-%d-keys-%d",
	        hopper_flash_queries((int)p->attention->d), hopper_flash_keys((int)p->attention->d));
	info->capturable = info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

/* [b][tokens][heads][d], of which a copy brings 64 of d, one head and `rows` tokens. */
static int map_tokens(const struct tk_attention *a, int64_t tokens, int64_t heads, int rows, const void *at,
        CUtensorMap *out, struct tk_abi_error *err)
{
	uint64_t d = (uint64_t)a->d, h = (uint64_t)heads, s = (uint64_t)tokens;
	struct hopper_tensor t = {.at = at,
	        .dtype = a->dtype,
	        .rank = 4,
	        .size = {d, h, s, (uint64_t)a->b},
	        .step = {2, d * 2, h * d * 2, s * h * d * 2},
	        .box = {64, 1, (uint32_t)rows, 1}};
	return hopper_map(&t, out, err);
}

static int backend_bind(
        struct tk_plan *plan, uint32_t set, const struct tk_tensor *t, uint32_t count, struct tk_abi_error *err)
{
	const struct tk_attention *a = plan->a;
	if (set >= plan->sets || count <= TK_T_LSE)
		return fail(err, TK_ABI_INVALID, "set %u with %u tensors", set, count);
	struct hopper_flash_call *call = &plan->call[set];
	int keys = hopper_flash_keys((int)a->d);
	call->args.lse = t[TK_T_LSE].data;
	int status = map_tokens(a, a->sq, a->h, 64, t[TK_T_Q].data, &call->q, err);
	if (status == TK_ABI_OK)
		status = map_tokens(a, a->skv, a->hkv, keys, t[TK_T_K].data, &call->k, err);
	if (status == TK_ABI_OK)
		status = map_tokens(a, a->skv, a->hkv, keys, t[TK_T_V].data, &call->v, err);
	if (status == TK_ABI_OK)
		status = map_tokens(a, a->sq, a->h, 64, t[TK_T_O].data, &call->o, err);
	return status;
}

static int backend_launch(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	return check_launch(err, "hopper_flash", hopper_flash_launch(&plan->call[set], stream));
}

const struct tk_backend *tk_backend_entry(void)
{
	static const struct tk_backend backend = {
	        .size = sizeof backend,
	        .abi_major = TK_ABI_MAJOR,
	        .abi_minor = TK_ABI_MINOR,
	        .name = "hopper_flash",
	        .device_kind = "cuda",
	        .description = "attention forward by Hopper's copy engine and warpgroup products",
	        .version = backend_version,
	        .open = backend_open,
	        .close = backend_close,
	        .supports = backend_supports,
	        .plan = backend_plan,
	        .bind = backend_bind,
	        .launch = backend_launch,
	        .unplan = backend_unplan,
	};
	return &backend;
}
