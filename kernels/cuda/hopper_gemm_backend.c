/* The backend of hopper_gemm.cu: f16 and bf16 with all transposes, 8-bit floats where both operands
 * have k as the fast index. 8-bit products keep their running sum as the matrix unit does, in fewer
 * bits than f32 (cublasLt calls that fast accumulation). */
#include "cuda_backend.h"
#include "hopper_gemm.h"
#include "hopper_tensor_map.h"
#include "tracker_space.h"
#include <math.h>

struct tk_backend_ctx {
	struct gpu_context gpu;
	const char *names[16];
	struct tk_space space; /* the answer of space() */
	int64_t best[TK_SPACE_PARAMETERS_MAX];
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	void *partial, *arrived;
	struct hopper_gemm_call call[]; /* one for each set */
};

GPU_CONTEXT(backend)

static int64_t fast_side(int k_fast, int64_t side, int64_t k)
{
	return k_fast ? k : side;
}

static int check_types(const struct tk_gemm *g, struct tk_abi_error *err)
{
	int bits8 = type_bytes(g->a) == 1;
	if (g->a != TK_F16 && g->a != TK_BF16 && !bits8)
		return fail(err, TK_ABI_UNSUPPORTED, "only f16, bf16, e4m3 and e5m2");
	if (bits8 ? type_bytes(g->b) != 1 || (g->a == TK_E5M2 && g->b == TK_E5M2) : g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "not this pair of types");
	if (g->acc != TK_F32 ||
	        (g->c != TK_F32 && (bits8 ? g->c != TK_F16 && g->c != TK_BF16 : g->c != g->a)))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "sums are kept in f32; C is f32 or the type of A, after 8-bit operands f16 "
		        "or bf16");
	if (bits8 && (g->ta || !g->tb))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "8-bit operands must have k as the fast index: ta=n,tb=t");
	return TK_ABI_OK;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (ctx->gpu.capability != 90)
		return fail(err, TK_ABI_UNSUPPORTED, "for sm_90 alone, this device has sm_%d",
		        ctx->gpu.capability);
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	int status = check_types(g, err);
	if (status)
		return status;
	int64_t unit = 16 / (int64_t)type_bytes(g->a), pad = tk_problem_row_padding(p);
	if ((fast_side(!g->ta, g->m, g->k) + pad) % unit ||
	        (fast_side(g->tb, g->n, g->k) + pad) % unit)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "rows in memory must be multiples of 16 bytes for the copy engine");
	if (g->m > INT_MAX / 2 || g->n > INT_MAX / 2 || g->k > INT_MAX / 2 ||
	        g->batch > INT_MAX / 2 ||
	        (double)g->m * (double)g->n * (double)g->batch > 64.0 * 128 * INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side or the number of tiles does not fit into 32 bits");
	return TK_ABI_OK;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* 128-byte steps along k. */
static int64_t steps_of(const struct tk_gemm *g)
{
	return ceil_div(g->k, 128 / (int64_t)type_bytes(g->a));
}

/* How long a problem takes with a configuration, in steps of the matrix units at their full rate:
 * rounds of tiles over the chip, each as long as its arithmetic or its memory traffic allows. */
static double estimate(
        const struct tk_gemm *g, const struct hopper_gemm_config *c, int multiprocessors)
{
	double tiles = (double)ceil_div(ceil_div(g->m, c->tile_m), c->cluster) * c->cluster *
	               (double)ceil_div(g->n, c->tile_n) * (double)g->batch;
	double rounds = ceil(tiles * c->splits / multiprocessors),
	       steps = ceil((double)steps_of(g) / c->splits);
	/* Shares of the peak that were measured in long products; a single row of small tiles waits
	 * for memory. */
	double small = g->m > 64 ? 0.55 : 0.75;
	double rate = c->tile_m == 64    ? small
	              : c->tile_n == 256 ? 1
	              : c->tile_n == 192 ? 0.95
	                                 : 0.9;
	double step = (double)c->tile_m * c->tile_n / rate,
	       write = (double)c->tile_m * c->tile_n * 4;
	double join = c->splits > 1 ? write * (4 + 3 * c->splits)
	                            : 0; /* fits what was measured with 16 rows */
	return rounds * (steps * step + write + join);
}

static uint32_t best_config(const struct tk_gemm *g, int multiprocessors)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < hopper_gemm_config_count; i++)
		if (hopper_gemm_configs[i].splits <= steps_of(g) &&
		        estimate(g, &hopper_gemm_configs[i], multiprocessors) <
		                estimate(g, &hopper_gemm_configs[best], multiprocessors))
			best = i;
	return best;
}

/* The configurations that the problem has steps for, best guess first. */
static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	int status = backend_supports(ctx, p, err);
	if (status)
		return status;
	uint32_t n = 0, best = best_config(p->gemm, ctx->gpu.multiprocessors);
	ctx->names[n++] = hopper_gemm_configs[best].name;
	for (uint32_t i = 0; i < hopper_gemm_config_count; i++)
		if (i != best && hopper_gemm_configs[i].splits <= steps_of(p->gemm))
			ctx->names[n++] = hopper_gemm_configs[i].name;
	*names = ctx->names;
	*count = n;
	return TK_ABI_OK;
}

static const int64_t tile_m_values[] = {64, 128}, tile_n_values[] = {128, 192, 256},
                     cluster_values[] = {1, 2}, split_values[] = {1, 2, 4, 8};
static const struct tk_parameter parameters[] = {
        TK_PARAMETER(tile_m), TK_PARAMETER(tile_n), TK_PARAMETER(cluster), TK_PARAMETER(split)};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static void list_values(const struct hopper_gemm_config *c, int64_t values[PARAMETERS])
{
	const int64_t all[PARAMETERS] = {c->tile_m, c->tile_n, c->cluster, c->splits};
	memcpy(values, all, sizeof all);
}

/* hopper_gemm_config_count: no instance has these values. */
static uint32_t find_instance(const int64_t *values)
{
	uint32_t i = 0;
	for (; i < hopper_gemm_config_count; i++) {
		int64_t own[PARAMETERS];
		list_values(&hopper_gemm_configs[i], own);
		if (!memcmp(own, values, sizeof own))
			break;
	}
	return i;
}

static int allows(struct tk_backend_ctx *ctx, const struct tk_problem *p, const int64_t *values)
{
	return find_instance(values) < hopper_gemm_config_count && values[3] <= steps_of(p->gemm);
}

static int backend_space(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const struct tk_space **out, struct tk_abi_error *err)
{
	int status = backend_supports(ctx, p, err);
	if (status)
		return status;
	list_values(
	        &hopper_gemm_configs[best_config(p->gemm, ctx->gpu.multiprocessors)], ctx->best);
	ctx->space = (struct tk_space){.size = sizeof ctx->space,
	        .count = PARAMETERS,
	        .parameters = parameters,
	        .best = ctx->best,
	        .allows = allows};
	*out = &ctx->space;
	return TK_ABI_OK;
}

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t *out, struct tk_abi_error *err)
{
	const struct tk_gemm *g = p->gemm;
	*out = best_config(g, ctx->gpu.multiprocessors);
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	const struct tk_space space = {.count = PARAMETERS, .parameters = parameters};
	int64_t values[PARAMETERS];
	uint32_t point = tk_space_parse(&space, config, values) ? find_instance(values)
	                                                        : hopper_gemm_config_count;
	for (uint32_t i = 0; i < hopper_gemm_config_count; i++)
		if (i == point || strcmp(config, hopper_gemm_configs[i].name) == 0) {
			*out = i;
			return hopper_gemm_configs[i].splits <= steps_of(g)
			               ? TK_ABI_OK
			               : fail(err, TK_ABI_UNSUPPORTED,
			                         "k is too short to be split");
		}
	return fail(err, TK_ABI_INVALID,
	        "unknown configuration \"%.100s\", expected for example \"%s\"", config,
	        hopper_gemm_configs[0].name);
}

static void fill_call(struct hopper_gemm_call *call, const struct tk_backend_ctx *ctx,
        const struct tk_problem *p, uint32_t config)
{
	const struct tk_gemm *g = p->gemm;
	int64_t ldc = g->n + tk_problem_row_padding(p);
	const struct hopper_gemm_config *c = &hopper_gemm_configs[config];
	int copies = g->c != TK_F32 && ldc % 8 == 0;
	*call = (struct hopper_gemm_call){
	        .a_type = g->a,
	        .b_type = g->b,
	        .a_fast = !g->ta,
	        .b_fast = g->tb,
	        .config = config,
	        .multiprocessors = ctx->gpu.multiprocessors,
	        .args = {.m = (int)g->m,
	                .n = (int)g->n,
	                .batch = (int)g->batch,
	                .ldc = (int)ldc,
	                .steps = (int)steps_of(g),
	                .rows = (int)ceil_div(ceil_div(g->m, c->tile_m), c->cluster),
	                .columns = (int)ceil_div(g->n, c->tile_n),
	                .splits = c->splits,
	                .out = copies           ? HOPPER_OUT_COPY
	                       : g->c == TK_F32 ? HOPPER_OUT_F32
	                                        : HOPPER_OUT_PLAIN,
	                .c_type = g->c},
	};
}

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	workspace_free(&plan->ctx->gpu, plan->partial);
	workspace_free(&plan->ctx->gpu, plan->arrived);
	free(plan);
}

static int allocate(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct hopper_gemm_args *a = &plan->call[0].args;
	const struct hopper_gemm_config *c = &hopper_gemm_configs[plan->call[0].config];
	const struct gpu_context *gpu = &plan->ctx->gpu;
	if (a->splits == 1)
		return TK_ABI_OK;
	size_t tiles = (size_t)a->batch * (size_t)a->rows * (size_t)c->cluster * (size_t)a->columns;
	size_t partial =
	        tiles * (size_t)a->splits * (size_t)c->tile_m * (size_t)c->tile_n * sizeof(float);
	size_t arrived = tiles * (size_t)(c->tile_m / 64) * sizeof(unsigned);
	info->workspace_bytes = partial + arrived;
	TRY(workspace_new(gpu, partial, &plan->partial, err));
	TRY(workspace_new(gpu, arrived, &plan->arrived, err));
	return gpu->ops->fill(gpu->device, plan->arrived, 0, arrived, err);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		fill_call(&plan->call[i], plan->ctx, plan->problem, plan->config);
	snprintf(info->kernel, sizeof info->kernel, "hopper_gemm");
	snprintf(info->algorithm, sizeof info->algorithm, "%s",
	        hopper_gemm_configs[plan->config].name);
	info->capturable = info->deterministic = 1;
	TRY(allocate(plan, info, err));
	return check_launch(err, "hopper_gemm", hopper_gemm_prepare(&plan->call[0]));
}

KIT_PLAN(backend, call, choose, fill_plan)

/* A side of the product: `count` rows of op(A) or columns of op(B), of which one copy brings
 * `rows`. */
static int map_side(const struct tk_plan *plan, uint32_t dtype, int k_fast, int64_t count, int rows,
        const void *at, CUtensorMap *out, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	uint64_t fast = (uint64_t)(k_fast ? g->k : count), slow = (uint64_t)(k_fast ? count : g->k),
	         bytes = type_bytes(dtype),
	         row = (fast + (uint64_t)tk_problem_row_padding(plan->problem)) * bytes;
	struct hopper_tensor t = {.at = at,
	        .dtype = dtype,
	        .rank = 3,
	        .size = {fast, slow, (uint64_t)g->batch},
	        .step = {bytes, row, row * slow},
	        .box = {(uint32_t)(128 / bytes), k_fast ? (uint32_t)rows : 64, 1}};
	return hopper_encode_tensor_map(&t, out, err);
}

static int map_result(
        const struct tk_plan *plan, void *at, CUtensorMap *out, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	uint64_t row = (uint64_t)(g->n + tk_problem_row_padding(plan->problem)) * 2;
	struct hopper_tensor t = {.at = at,
	        .dtype = g->c,
	        .rank = 3,
	        .size = {(uint64_t)g->n, (uint64_t)g->m, (uint64_t)g->batch},
	        .step = {2, row, row * (uint64_t)g->m},
	        .box = {64, 64, 1}};
	return hopper_encode_tensor_map(&t, out, err);
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	if (set >= plan->sets || count < 3)
		return fail(err, TK_ABI_INVALID, "set %u with %u tensors", set, count);
	struct hopper_gemm_call *call = &plan->call[set];
	const struct hopper_gemm_config *c = &hopper_gemm_configs[call->config];
	call->args.c = t[TK_T_C].data;
	call->args.partial = plan->partial;
	call->args.arrived = plan->arrived;
	TRY(map_side(plan, g->a, !g->ta, g->m, c->tile_m, t[TK_T_A].data, &call->a, err));
	TRY(map_side(
	        plan, g->b, g->tb, g->n, c->tile_n / c->cluster, t[TK_T_B].data, &call->b, err));
	return call->args.out == HOPPER_OUT_COPY ? map_result(plan, t[TK_T_C].data, &call->c, err)
	                                         : TK_ABI_OK;
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	return check_launch(err, "hopper_gemm", hopper_gemm_launch(&plan->call[set], stream));
}

KIT_BACKEND(backend, "hopper_gemm", "cuda", no_version,
        "GEMM by Hopper's copy engine and warpgroup products",
        TK_OPERATION_GEMM | TK_OPERATION_PADDED_ROWS, .configs = backend_configs,
        .space = backend_space)
