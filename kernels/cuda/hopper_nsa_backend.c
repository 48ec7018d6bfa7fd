/* The backend of hopper_nsa.cu: native sparse attention, f16 and bf16, head dimensions 64 and 128,
 * blocks of a multiple of 64 keys, 8 to 64 heads a group. */
#include "cuda_backend.h"
#include "hopper_nsa.h"
#include "hopper_tensor_map.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	void *workspace;
	struct hopper_nsa_call call[]; /* one for each set */
};

GPU_CONTEXT(backend)

static int64_t group_of(const struct tk_nsa *n)
{
	return n->h / n->hkv;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (ctx->gpu.capability != 90)
		return fail(err, TK_ABI_UNSUPPORTED, "for sm_90 alone, this device has sm_%d",
		        ctx->gpu.capability);
	if (p->op != TK_OP_NSA)
		return fail(err, TK_ABI_UNSUPPORTED, "only nsa");
	const struct tk_nsa *n = p->nsa;
	if (n->dtype != TK_F16 && n->dtype != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED, "only f16 and bf16");
	if (n->d != 64 && n->d != 128)
		return fail(err, TK_ABI_UNSUPPORTED, "only head dimensions 64 and 128");
	if (group_of(n) < HOPPER_NSA_MIN_GROUP || 64 % group_of(n))
		return fail(err, TK_ABI_UNSUPPORTED, "only groups of 8, 16, 32 or 64 heads");
	if (n->block_size % HOPPER_NSA_KEYS)
		return fail(err, TK_ABI_UNSUPPORTED, "only blocks of a multiple of %d keys",
		        HOPPER_NSA_KEYS);
	if (n->s > HOPPER_NSA_STEPS * HOPPER_NSA_KEYS || n->window > 1 << 30 ||
	        n->block_size > 1 << 20 || n->selected_blocks > 1 << 20 ||
	        (double)n->b * (double)n->hkv * (double)n->s > 1 << 30)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "more tokens than %d, or more than 32 bits count",
		        HOPPER_NSA_STEPS * HOPPER_NSA_KEYS);
	return TK_ABI_OK;
}

KIT_CONFIGS(backend, hopper_nsa_configs, hopper_nsa_config_count)

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *name,
        uint32_t *out, struct tk_abi_error *err)
{
	return find_config(name, hopper_nsa_configs, hopper_nsa_config_count, out, err);
}

static void fill_call(struct hopper_nsa_call *call, const struct tk_backend_ctx *ctx,
        const struct tk_nsa *n, uint32_t config)
{
	int64_t tokens = hopper_nsa_rows(config) / group_of(n),
	        steps = (n->s + HOPPER_NSA_KEYS - 1) / HOPPER_NSA_KEYS;
	int64_t named = tokens * n->selected_blocks * (n->block_size / HOPPER_NSA_KEYS);
	*call = (struct hopper_nsa_call){.dtype = n->dtype,
	        .config = config,
	        .d = (int)n->d,
	        .multiprocessors = ctx->gpu.multiprocessors,
	        .args = {.b = (int)n->b,
	                .h = (int)n->h,
	                .hkv = (int)n->hkv,
	                .s = (int)n->s,
	                .group = (int)group_of(n),
	                .tokens = (int)(64 / group_of(n)),
	                .block_size = (int)n->block_size,
	                .selected = (int)n->selected_blocks,
	                .window = (int)(n->window < n->s ? n->window : n->s),
	                .causal = n->causal,
	                .scale = (float)(n->scale * 1.4426950408889634),
	                .tiles = (int)((n->s + tokens - 1) / tokens),
	                .limit = (int)(named < steps ? named : steps)}};
}

static void backend_unplan(struct tk_plan *plan)
{
	workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

/* Sums, lists, then the lists' lengths. */
static int make_workspace(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct hopper_nsa_call *first = &plan->call[0];
	const struct hopper_nsa_args *a = &first->args;
	size_t works = (size_t)a->tiles * (size_t)a->b * (size_t)a->hkv;
	size_t rows = (size_t)first->multiprocessors * (size_t)hopper_nsa_rows(first->config);
	size_t sums = rows * (size_t)first->d * sizeof *a->sums;
	size_t lists = works * (size_t)a->limit * sizeof *a->lists;
	info->workspace_bytes = sums + lists + works * sizeof *a->counts;
	int status = workspace_new(&plan->ctx->gpu, info->workspace_bytes, &plan->workspace, err);
	for (uint32_t i = 0; status == TK_ABI_OK && i < plan->sets; i++) {
		char *at = plan->workspace;
		plan->call[i].args.sums = plan->workspace;
		plan->call[i].args.lists = (struct hopper_nsa_step *)(at + sums);
		plan->call[i].args.counts = (int *)(at + sums + lists);
	}
	return status;
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		fill_call(&plan->call[i], plan->ctx, plan->problem->nsa, plan->config);
	TRY(check_launch(err, "hopper_nsa", hopper_nsa_prepare(&plan->call[0])));
	snprintf(info->kernel, sizeof info->kernel, "hopper_nsa");
	snprintf(info->algorithm, sizeof info->algorithm, "%s", hopper_nsa_configs[plan->config]);
	info->capturable = info->deterministic = 1;
	return make_workspace(plan, info, err);
}

KIT_PLAN(backend, call, choose, fill_plan)

/* [b][tokens][heads][d], of which a copy brings 64 of d, `heads_in` heads and `rows` tokens. */
static int map_tokens(const struct tk_nsa *n, int64_t heads, int64_t heads_in, int64_t rows,
        const void *at, CUtensorMap *out, struct tk_abi_error *err)
{
	uint64_t d = (uint64_t)n->d, h = (uint64_t)heads, s = (uint64_t)n->s;
	struct hopper_tensor t = {.at = at,
	        .dtype = n->dtype,
	        .rank = 4,
	        .size = {d, h, s, (uint64_t)n->b},
	        .step = {2, d * 2, h * d * 2, s * h * d * 2},
	        .box = {64, (uint32_t)heads_in, (uint32_t)rows, 1}};
	return hopper_encode_tensor_map(&t, out, err);
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	const struct tk_nsa *n = plan->problem->nsa;
	if (set >= plan->sets || count <= TK_T_BLOCKS)
		return fail(err, TK_ABI_INVALID, "set %u with %u tensors", set, count);
	struct hopper_nsa_call *call = &plan->call[set];
	call->args.blocks = t[TK_T_BLOCKS].data;
	int64_t group = group_of(n);
	TRY(map_tokens(n, n->h, group, 64 / group, t[TK_T_Q].data, &call->q, err));
	TRY(map_tokens(n, n->hkv, 1, HOPPER_NSA_KEYS, t[TK_T_K].data, &call->k, err));
	TRY(map_tokens(n, n->hkv, 1, HOPPER_NSA_KEYS, t[TK_T_V].data, &call->v, err));
	return map_tokens(n, n->h, group, 64 / group, t[TK_T_NSA_O].data, &call->o, err);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	return check_launch(err, "hopper_nsa", hopper_nsa_launch(&plan->call[set], stream));
}

KIT_BACKEND(backend, "hopper_nsa", "cuda", no_version,
        "native sparse attention by Hopper's copy engine and warpgroup products", TK_OPERATION_NSA,
        .configs = backend_configs)
