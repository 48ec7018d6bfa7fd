/* The interface of the backend `cpu`: options, supported problems, configurations, plans. The
 * kernels are in gemm.c and attention.c.
 *
 * Options of tracker.yml: isa=generic|avx2|avx512 forces an instruction set (the best that the
 * processor has is the default). */
#include "attention.h"
#include "gemm.h"
#include "isa.h"
#include "kit.h"
#include "pool.h"

struct tk_backend_ctx {
	struct tk_cpu_pool *pool;
	const struct tk_cpu_isa *isa;
};

struct tk_plan {
	const struct tk_backend_ctx *ctx;
	uint32_t op, sets;
	union {
		struct tk_cpu_gemm gemm;
		struct tk_cpu_attention attention;
		struct tk_cpu_nsa nsa;
	};
	struct bound bound[];
};

static const char *backend_version(void)
{
	return TK_CPU_VERSION;
}

/* ---- open ---- */

/* The only option is isa=NAME. */
static int read_options(const char *options, struct tk_backend_ctx *ctx, struct tk_abi_error *err)
{
	const char *name = "";
	size_t length = 0;
	for (const char *p = options ? options : ""; *p;) {
		size_t n = strcspn(p, ",");
		if (strncmp(p, "isa=", 4) != 0)
			return fail(err, TK_ABI_INVALID,
			        "unknown option \"%.*s\" of the backend cpu, expected isa=NAME",
			        n > 100 ? 100 : (int)n, p);
		name = p + 4;
		length = n - 4;
		p += n + (p[n] == ',');
	}
	ctx->isa = tk_cpu_isa_find(name, length);
	if (!ctx->isa)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "isa=%.*s: this processor or this build has no such instruction set",
		        length > 100 ? 100 : (int)length, name);
	return TK_ABI_OK;
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	TRY(read_options(args->options, ctx, err));
	ctx->pool = tk_cpu_pool_open(args->threads);
	return ctx->pool ? TK_ABI_OK
	                 : fail(err, TK_ABI_INTERNAL, "cannot start %u threads", args->threads);
}

static void stop(struct tk_backend_ctx *ctx)
{
	tk_cpu_pool_close(ctx->pool);
}

KIT_CONTEXT(backend, start, stop)

/* ---- supports, configs ---- */

static int is_ours(uint32_t dtype)
{
	return dtype == TK_F32 || dtype == TK_BF16 || dtype == TK_F16;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	switch (p->op) {
	case TK_OP_GEMM:
		if (!is_ours(p->gemm->a) || !is_ours(p->gemm->b) || !is_ours(p->gemm->c))
			return fail(err, TK_ABI_UNSUPPORTED, "operands must be f32, bf16 or f16");
		if (p->gemm->acc != TK_F32)
			return fail(err, TK_ABI_UNSUPPORTED, "only accumulation in f32");
		return TK_ABI_OK;
	case TK_OP_ATTENTION:
		if (p->attention->dir != TK_FWD)
			return fail(err, TK_ABI_UNSUPPORTED, "only the forward direction");
		if (!is_ours(p->attention->dtype))
			return fail(err, TK_ABI_UNSUPPORTED, "tensors must be f32, bf16 or f16");
		return TK_ABI_OK;
	case TK_OP_NSA:
		if (!is_ours(p->nsa->dtype))
			return fail(err, TK_ABI_UNSUPPORTED, "tensors must be f32, bf16 or f16");
		return TK_ABI_OK;
	default:
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm, attention and nsa");
	}
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	static const char *const only[] = {"default", NULL};
	const char *const *list = p->op == TK_OP_GEMM        ? tk_cpu_gemm_blockings
	                          : p->op == TK_OP_ATTENTION ? tk_cpu_attention_tilings
	                                                     : only;
	uint32_t n = 0;
	while (list[n])
		n++;
	*names = list;
	*count = n;
	return TK_ABI_OK;
}

static int backend_space(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const struct tk_space **out, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm has a space");
	*out = &tk_cpu_gemm_space;
	return TK_ABI_OK;
}

/* ---- plan, bind, launch ---- */

static int init_work(struct tk_plan *plan, const struct tk_problem *p, const char *config)
{
	const struct tk_backend_ctx *ctx = plan->ctx;
	uint32_t threads = tk_cpu_pool_threads(ctx->pool);
	if (config && strcmp(config, "default") == 0)
		config = "";
	if (p->op == TK_OP_GEMM)
		return tk_cpu_gemm_init(&plan->gemm, p, ctx->isa, config, threads);
	if (p->op == TK_OP_ATTENTION)
		return tk_cpu_attention_init(
		        &plan->attention, p->attention, ctx->isa, config, threads);
	return config && *config ? TK_ABI_INVALID
	                         : tk_cpu_nsa_init(&plan->nsa, p->nsa, ctx->isa, threads);
}

static void describe(const struct tk_plan *plan, struct tk_plan_info *info)
{
	if (plan->op == TK_OP_GEMM) {
		const struct tk_cpu_gemm *g = &plan->gemm;
		snprintf(info->kernel, sizeof(info->kernel), "gemm_%s_%dx%d", g->engine->name,
		        g->engine->mr, g->engine->nr);
		snprintf(info->algorithm, sizeof(info->algorithm), "%s, %u threads as %dx%d",
		        g->blocking, g->threads, (int)g->row_parts, (int)g->column_parts);
		info->workspace_bytes = tk_cpu_gemm_workspace(g);
	} else if (plan->op == TK_OP_ATTENTION) {
		const struct tk_cpu_attention *a = &plan->attention;
		snprintf(info->kernel, sizeof(info->kernel), "attention_%s", a->isa->name);
		snprintf(info->algorithm, sizeof(info->algorithm), "%s, %d rows, %u threads",
		        a->tiling, (int)a->block, a->threads);
		info->workspace_bytes = tk_cpu_attention_workspace(a);
	} else {
		snprintf(info->kernel, sizeof(info->kernel), "nsa_%s",
		        plan->nsa.attention.isa->name);
		snprintf(info->algorithm, sizeof(info->algorithm), "%u threads",
		        plan->nsa.attention.threads);
		info->workspace_bytes = tk_cpu_nsa_workspace(&plan->nsa);
	}
	info->capturable = 0;
	info->deterministic = 1;
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	TRY(backend_supports(ctx, p, err));
	struct tk_plan *plan = plan_new(sizeof(*plan) + sets * sizeof(plan->bound[0]), err);
	if (!plan)
		return TK_ABI_NO_MEMORY;
	plan->ctx = ctx;
	plan->op = p->op;
	plan->sets = sets;
	const int status = init_work(plan, p, config);
	if (status) {
		free(plan);
		return status == TK_ABI_INVALID
		               ? fail(err, status, "unknown configuration \"%.100s\"", config)
		               : fail(err, status, "no memory for the workspace");
	}
	describe(plan, info);
	*out = plan;
	return TK_ABI_OK;
}

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	if (plan->op == TK_OP_GEMM)
		tk_cpu_gemm_free(&plan->gemm);
	else if (plan->op == TK_OP_ATTENTION)
		tk_cpu_attention_free(&plan->attention);
	else
		tk_cpu_nsa_free(&plan->nsa);
	free(plan);
}

KIT_BIND(backend, plan->op == TK_OP_GEMM        ? TK_T_C + 1
                  : plan->op == TK_OP_ATTENTION ? TK_T_O + 1
                                                : TK_T_BLOCKS + 1)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	void *const *t = plan->bound[set].data;
	struct tk_cpu_pool *pool = plan->ctx->pool;
	if (plan->op == TK_OP_GEMM)
		tk_cpu_gemm_run(&plan->gemm, pool, t[TK_T_A], t[TK_T_B], t[TK_T_C]);
	else if (plan->op == TK_OP_ATTENTION)
		tk_cpu_attention_run(&plan->attention, pool, t[TK_T_Q], t[TK_T_K], t[TK_T_V],
		        t[TK_T_O], t[TK_T_LSE]);
	else
		tk_cpu_nsa_run(&plan->nsa, pool, t[TK_T_Q], t[TK_T_K], t[TK_T_V], t[TK_T_NSA_O],
		        t[TK_T_BLOCKS]);
	return TK_ABI_OK;
}

KIT_BACKEND(backend, "cpu", "cpu", backend_version,
        "in-tree kernels: packed GEMM, tiled attention and sparse attention, vectors chosen by "
        "cpuid",
        TK_OPERATION_GEMM | TK_OPERATION_ATTENTION | TK_OPERATION_NSA | TK_OPERATION_UNALIGNED |
                TK_OPERATION_PADDED_ROWS,
        .configs = backend_configs, .space = backend_space)
