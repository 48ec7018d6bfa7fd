/* The backend `ceiling`: memory bandwidth and arithmetic rate that this machine reaches with all
 * threads. The pages draw them as the ceilings of the roofline.
 *
 *   copy   memcpy of one slice per thread: the C library chooses vector instructions and, for large
 *          sizes, stores that bypass the caches; a single byte by the calling thread: the shortest
 *          launch
 *   read   a sum over f32, one slice per thread; with several passes each thread rereads its slice,
 *          so a slice that fits into a cache is read from it
 *   fma    independent multiply-adds in registers: f32, and bf16 pairs if the processor has
 *          vdpbf16ps */
#include "ceiling.h"
#include "kit.h"
#include "pool.h"

struct tk_backend_ctx {
	struct tk_cpu_pool *pool;
	const struct tk_cpu_ceiling_isa *isa;
	int has_bf16;
};

/* Each thread's result has its own cache line, to avoid false sharing. */
struct slot {
	double sum;
	float value[TK_CEILING_VALUES];
	uint16_t bits[TK_CEILING_VALUES];
	char pad[64];
};

struct tk_plan {
	const struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t op, dtype, sets, config, threads;
	int64_t bytes, passes;
	struct slot *slot;
	const char *in; /* of the launch that runs */
	char *out;
	struct tk_tensor bound[][2];
};

static const char *ceiling_version(void)
{
	return "1";
}

static void choose_isa(struct tk_backend_ctx *ctx)
{
	ctx->isa = &tk_cpu_ceiling_generic;
#ifdef TK_CPU_X86
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		ctx->isa = &tk_cpu_ceiling_avx2;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		ctx->isa = &tk_cpu_ceiling_avx512;
	ctx->has_bf16 = ctx->isa == &tk_cpu_ceiling_avx512 && __builtin_cpu_supports("avx512bf16");
#endif
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	choose_isa(ctx);
	ctx->pool = tk_cpu_pool_open(args->threads);
	return ctx->pool ? TK_ABI_OK
	                 : fail(err, TK_ABI_INTERNAL, "cannot start %u threads", args->threads);
}

static void stop(struct tk_backend_ctx *ctx)
{
	tk_cpu_pool_close(ctx->pool);
}

KIT_CONTEXT(ceiling, start, stop)

static int ceiling_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op == TK_OP_COPY)
		return TK_ABI_OK;
	if (p->op == TK_OP_READ)
		return p->ceiling->dtype == TK_F32
		               ? TK_ABI_OK
		               : fail(err, TK_ABI_UNSUPPORTED, "read sums f32 only");
	if (p->op != TK_OP_FMA)
		return fail(err, TK_ABI_UNSUPPORTED, "only copy, read and fma");
	if (p->ceiling->dtype == TK_F32 || (p->ceiling->dtype == TK_BF16 && ctx->has_bf16))
		return TK_ABI_OK;
	return fail(err, TK_ABI_UNSUPPORTED, "fma on this processor: f32%s only",
	        ctx->has_bf16 ? " and bf16" : "");
}

static void ceiling_unplan(struct tk_plan *plan)
{
	free(plan->slot);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_ceiling_op *c = plan->problem->ceiling;
	plan->threads = tk_cpu_pool_threads(plan->ctx->pool);
	plan->op = plan->problem->op;
	plan->dtype = c->dtype;
	plan->bytes = c->bytes;
	plan->passes = c->size >= sizeof *c ? c->passes : 1;
	snprintf(info->kernel, sizeof(info->kernel), "%s",
	        plan->op == TK_OP_COPY   ? "memcpy"
	        : plan->dtype == TK_BF16 ? "avx512_bf16"
	                                 : plan->ctx->isa->name);
	snprintf(info->algorithm, sizeof(info->algorithm), "%u threads", plan->threads);
	info->workspace_bytes = plan->threads * sizeof(*plan->slot);
	info->deterministic = 1;
	plan->slot = calloc(plan->threads, sizeof(*plan->slot));
	return plan->slot ? TK_ABI_OK : fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
}

KIT_PLAN(ceiling, bound, choose_default, fill_plan)

static int ceiling_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count < 2)
		return fail(err, TK_ABI_INVALID, "no such input set, or fewer than two tensors");
	size_t values =
	        plan->dtype == TK_BF16 ? sizeof(plan->slot->bits) : sizeof(plan->slot->value);
	if (plan->op == TK_OP_FMA && (t[TK_T_IN].bytes < values || t[TK_T_OUT].bytes < values))
		return fail(err, TK_ABI_INVALID, "fma wants %d start values and as many results",
		        (int)TK_CEILING_VALUES);
	memcpy(plan->bound[set], t, sizeof(plan->bound[set]));
	return TK_ABI_OK;
}

/* One slice a thread, cut at cache lines. */
static void run_slice(void *arg, uint32_t thread)
{
	struct tk_plan *plan = arg;
	struct slot *slot = &plan->slot[thread];
	int64_t lines = (plan->bytes + 63) / 64, begin = lines * thread / plan->threads * 64,
	        end = lines * (thread + 1) / plan->threads * 64;
	end = end < plan->bytes ? end : plan->bytes;
	if (plan->op == TK_OP_COPY)
		memcpy(plan->out + begin, plan->in + begin, (size_t)(end - begin));
	else if (plan->op == TK_OP_READ)
		slot->sum = plan->ctx->isa->sum((const float *)(const void *)(plan->in + begin),
		        (end - begin) / (int64_t)sizeof(float), plan->passes);
	else if (plan->dtype == TK_F32)
		plan->ctx->isa->fma(plan->bytes / plan->threads,
		        (const float *)(const void *)plan->in, slot->value);
#ifdef TK_CPU_X86
	else
		tk_cpu_ceiling_fma_bf16(plan->bytes / plan->threads,
		        (const uint16_t *)(const void *)plan->in, slot->bits);
#endif
}

static int ceiling_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	plan->in = plan->bound[set][TK_T_IN].data;
	plan->out = plan->bound[set][TK_T_OUT].data;
	if (plan->op == TK_OP_COPY && plan->bytes == 1) {
		*plan->out = *plan->in;
		return TK_ABI_OK;
	}
	tk_cpu_pool_run(plan->ctx->pool, plan->threads, run_slice, plan);
	if (plan->op == TK_OP_READ) {
		double sum = 0;
		for (uint32_t i = 0; i < plan->threads; i++)
			sum += plan->slot[i].sum;
		*(float *)(void *)plan->out = (float)sum;
	} else if (plan->op == TK_OP_FMA) {
		const struct slot *first = &plan->slot[0];
		if (plan->dtype == TK_F32)
			memcpy(plan->out, first->value, sizeof(first->value));
		else
			memcpy(plan->out, first->bits, sizeof(first->bits));
	}
	return TK_ABI_OK;
}

KIT_BACKEND(ceiling, "ceiling", "cpu", ceiling_version,
        "what the machine itself reaches: copy and read bandwidth, multiply-adds",
        TK_OPERATION_COPY | TK_OPERATION_READ | TK_OPERATION_FMA, .configs = NULL)
