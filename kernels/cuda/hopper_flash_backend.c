/* The backend of hopper_flash.cu and hopper_backward.cu: attention forward with log-sum-exp, head
 * dimensions 64, 128 and 256, and backward, 64 and 128; f16 and bf16, causal masks, grouped kv
 * heads. */
#include "cuda_backend.h"
#include "hopper_flash.h"
#include "hopper_tensor_map.h"

/* The keys and values of a section of heads should take about half of the L2 cache. */
#define SECTION_BYTES (24 * MIB)

struct tk_backend_ctx {
	struct gpu_context gpu;
};

/* The call of one direction, for one input set. */
union call {
	struct hopper_flash_call forward;
	struct hopper_backward_call backward;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	void *workspace;
	union call call[];
};

GPU_CONTEXT(backend)

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (ctx->gpu.capability != 90)
		return fail(err, TK_ABI_UNSUPPORTED, "for sm_90 alone, this device has sm_%d",
		        ctx->gpu.capability);
	if (p->op != TK_OP_ATTENTION)
		return fail(err, TK_ABI_UNSUPPORTED, "only attention");
	const struct tk_attention *a = p->attention;
	if (a->dtype != TK_F16 && a->dtype != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED, "only f16 and bf16");
	if (a->d != a->dv || (a->d != 64 && a->d != 128 && a->d != 256))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "only head dimensions 64, 128 and 256, the same for values");
	if (a->dir == TK_BWD && a->d > 128)
		return fail(
		        err, TK_ABI_UNSUPPORTED, "backward only with head dimensions 64 and 128");
	if ((double)a->b * (double)a->h * (double)(a->sq + 256) > INT_MAX || a->skv > INT_MAX / 2)
		return fail(err, TK_ABI_UNSUPPORTED, "more queries or keys than 32 bits count");
	return TK_ABI_OK;
}

/* Heads whose tiles are taken in turn: whole groups of `group`, each with two tensors of rows x d.
 * With a mask, tiles differ in length, and few heads would distribute them unevenly
 * (assign_tile()). With 16 heads, enough blocks work on each head to share its data anyway. */
static int section_of(const struct tk_attention *a, int64_t rows, int64_t group, int64_t heads)
{
	int64_t groups = (int64_t)(SECTION_BYTES / (size_t)(rows * a->d * 4)),
	        least = a->causal ? 16 / group : 1;
	if (groups < least)
		groups = least;
	int64_t section = (groups > 0 ? groups : 1) * group;
	return (int)(section < heads ? section : heads);
}

/* The members that the arguments of both directions have in common. */
#define SIZES_OF(a) \
	.b = (int)(a)->b, .h = (int)(a)->h, .hkv = (int)(a)->hkv, .sq = (int)(a)->sq, \
	.skv = (int)(a)->skv, .causal = (a)->causal

static void fill_call(struct hopper_flash_call *call, const struct tk_backend_ctx *ctx,
        const struct tk_attention *a)
{
	int queries = hopper_flash_queries((int)a->d);
	*call = (struct hopper_flash_call){.dtype = a->dtype,
	        .d = (int)a->d,
	        .multiprocessors = ctx->gpu.multiprocessors,
	        .args = {SIZES_OF(a), .scale = (float)(a->scale * 1.4426950408889634),
	                .tiles = (int)((a->sq + queries - 1) / queries),
	                .section = section_of(a, a->skv, a->h / a->hkv, a->b * a->h)}};
}

static void fill_backward(struct hopper_backward_call *call, const struct tk_backend_ctx *ctx,
        const struct tk_attention *a)
{
	int64_t rows = HOPPER_BACKWARD_ROWS;
	*call = (struct hopper_backward_call){.dtype = a->dtype,
	        .d = (int)a->d,
	        .multiprocessors = ctx->gpu.multiprocessors,
	        .args = {SIZES_OF(a), .scale = (float)a->scale,
	                .scale_log2 = (float)(a->scale * 1.4426950408889634),
	                .section_keys = section_of(a, a->sq * (a->h / a->hkv), 1, a->b * a->hkv),
	                .section_queries = section_of(a, a->skv, a->h / a->hkv, a->b * a->h),
	                .padded = (int)((a->sq + rows - 1) / rows * rows)}};
}

static void backend_unplan(struct tk_plan *plan)
{
	workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

static int prepare_forward(
        struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	int d = (int)plan->problem->attention->d;
	for (uint32_t i = 0; i < plan->sets; i++)
		fill_call(&plan->call[i].forward, plan->ctx, plan->problem->attention);
	snprintf(info->algorithm, sizeof info->algorithm, "queries-%d-keys-%d",
	        hopper_flash_queries(d), hopper_flash_keys(d));
	return check_launch(err, "hopper_flash", hopper_flash_prepare(&plan->call[0].forward));
}

/* Two numbers for each row of queries. */
static int prepare_backward(
        struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		fill_backward(&plan->call[i].backward, plan->ctx, plan->problem->attention);
	const struct hopper_backward_args *args = &plan->call[0].backward.args;
	info->workspace_bytes =
	        (size_t)args->b * (size_t)args->h * (size_t)args->padded * 2 * sizeof(float);
	snprintf(info->algorithm, sizeof info->algorithm, "tile-128-pass-%d", HOPPER_BACKWARD_ROWS);
	TRY(check_launch(err, "hopper_backward", hopper_backward_prepare(&plan->call[0].backward)));
	TRY(workspace_new(&plan->ctx->gpu, info->workspace_bytes, &plan->workspace, err));
	for (uint32_t i = 0; i < plan->sets; i++)
		plan->call[i].backward.args.rows = plan->workspace;
	return TK_ABI_OK;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const int is_forward = plan->problem->attention->dir == TK_FWD;
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        is_forward ? "hopper_flash" : "hopper_keys, hopper_queries");
	info->capturable = info->deterministic = 1;
	return is_forward ? prepare_forward(plan, info, err) : prepare_backward(plan, info, err);
}

KIT_PLAN(backend, call, choose_default, fill_plan)

/* [b][tokens][heads][d], of which a copy brings 64 of d, one head and `rows` tokens. */
static int map_tokens(const struct tk_attention *a, int64_t tokens, int64_t heads, int rows,
        const void *at, CUtensorMap *out, struct tk_abi_error *err)
{
	uint64_t d = (uint64_t)a->d, h = (uint64_t)heads, s = (uint64_t)tokens;
	struct hopper_tensor t = {.at = at,
	        .dtype = a->dtype,
	        .rank = 4,
	        .size = {d, h, s, (uint64_t)a->b},
	        .step = {2, d * 2, h * d * 2, s * h * d * 2},
	        .box = {64, 1, (uint32_t)rows, 1}};
	return hopper_encode_tensor_map(&t, out, err);
}

/* Tensors of queries and of keys: which, where their map goes, tokens of a copy. */
struct mapping {
	uint32_t tensor, rows;
	CUtensorMap *map;
};

static int map_all(const struct tk_attention *a, const struct tk_tensor *t, const struct mapping *m,
        uint32_t count, struct tk_abi_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = m[i].tensor;
		int of_keys = id == TK_T_K || id == TK_T_V || id == TK_T_DK || id == TK_T_DV;
		TRY(map_tokens(a, of_keys ? a->skv : a->sq, of_keys ? a->hkv : a->h, (int)m[i].rows,
		        t[id].data, m[i].map, err));
	}
	return TK_ABI_OK;
}

static int bind_forward(struct hopper_flash_call *call, const struct tk_attention *a,
        const struct tk_tensor *t, struct tk_abi_error *err)
{
	uint32_t keys = (uint32_t)hopper_flash_keys((int)a->d);
	call->args.lse = t[TK_T_LSE].data;
	return map_all(a, t,
	        (const struct mapping[]){{TK_T_Q, 64, &call->q}, {TK_T_K, keys, &call->k},
	                {TK_T_V, keys, &call->v}, {TK_T_O, 64, &call->o}},
	        4, err);
}

static int bind_backward(struct hopper_backward_call *call, const struct tk_attention *a,
        const struct tk_tensor *t, struct tk_abi_error *err)
{
	enum { ROWS = HOPPER_BACKWARD_ROWS };
	call->args.lse = t[TK_T_LSE].data;
	call->args.o = t[TK_T_O].data;
	call->args.d_o = t[TK_T_DO].data;
	return map_all(a, t,
	        (const struct mapping[]){{TK_T_Q, ROWS, &call->q}, {TK_T_K, ROWS, &call->k},
	                {TK_T_V, ROWS, &call->v}, {TK_T_DO, ROWS, &call->d_o},
	                {TK_T_DQ, ROWS, &call->dq}, {TK_T_DK, ROWS, &call->dk},
	                {TK_T_DV, ROWS, &call->dv}},
	        7, err);
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	int backward = plan->problem->attention->dir == TK_BWD;
	if (set >= plan->sets || count <= (backward ? TK_T_DV : TK_T_LSE))
		return fail(err, TK_ABI_INVALID, "set %u with %u tensors", set, count);
	return backward ? bind_backward(&plan->call[set].backward, plan->problem->attention, t, err)
	                : bind_forward(&plan->call[set].forward, plan->problem->attention, t, err);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	if (plan->problem->attention->dir == TK_BWD)
		return check_launch(err, "hopper_backward",
		        hopper_backward_launch(&plan->call[set].backward, stream));
	return check_launch(
	        err, "hopper_flash", hopper_flash_launch(&plan->call[set].forward, stream));
}

KIT_BACKEND(backend, "hopper_flash", "cuda", no_version,
        "attention by Hopper's copy engine and warpgroup products",
        TK_OPERATION_ATTENTION | TK_OPERATION_ATTENTION_BACKWARD, .configs = NULL)
