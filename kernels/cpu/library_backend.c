/* See library.h. */
#include "kit.h"
#include "library.h"

#define TENSORS_MAX 5

struct tk_backend_ctx {
	uint32_t threads;
};

struct input_set {
	void *bound; /* by the library */
	struct tk_tensor tensors[TENSORS_MAX];
};

struct tk_plan {
	void *prepared; /* by the library */
	uint32_t sets;
	struct input_set set[];
};

static const char *const only_default[] = {"default", NULL};

int tk_library_fail(struct tk_abi_error *err, int status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	return status;
}

size_t tk_library_type_bytes(uint32_t dtype)
{
	return dtype == TK_F32 ? 4 : 2;
}

int tk_library_check_gemm_types(const struct tk_gemm *g, uint32_t types, struct tk_abi_error *err)
{
	const uint32_t known = types & (1u << TK_F32 | 1u << TK_BF16 | 1u << TK_F16);
	if (g->a > 31 || !(known & 1u << g->a))
		return fail(err, TK_ABI_UNSUPPORTED, "not this type of operands");
	if (g->a != g->b || g->acc != TK_F32 || (g->c != g->a && g->c != TK_F32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "only operands of one type, acc=f32, and c of that type or f32");
	return TK_ABI_OK;
}

int tk_library_check_attention(
        const struct tk_attention *a, uint32_t types, struct tk_abi_error *err)
{
	if (a->dir != TK_FWD)
		return fail(err, TK_ABI_UNSUPPORTED, "only the forward direction");
	if (a->dtype > 31 || !(types & 1u << a->dtype))
		return fail(err, TK_ABI_UNSUPPORTED, "not this type of operands");
	if (a->d != a->dv)
		return fail(err, TK_ABI_UNSUPPORTED, "only dv = d");
	return TK_ABI_OK;
}

struct tk_library_strides tk_library_gemm_strides(const struct tk_gemm *g)
{
	struct tk_library_strides s = {{g->k, 1}, {g->n, 1}};
	if (g->ta)
		s.a[0] = 1, s.a[1] = g->m;
	if (g->tb)
		s.b[0] = 1, s.b[1] = g->k;
	return s;
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	(void)err;
	ctx->threads = args->threads ? args->threads : 1;
	tk_library.set_threads(ctx->threads);
	return TK_ABI_OK;
}

static void stop(struct tk_backend_ctx *ctx)
{
	(void)ctx;
}

KIT_CONTEXT(backend, start, stop)

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	const uint32_t backward =
	                       problem->op == TK_OP_ATTENTION && problem->attention->dir == TK_BWD,
	               bit = backward ? TK_OPERATION_ATTENTION_BACKWARD : 1u << problem->op;
	(void)ctx;
	if (problem->op > 15 || !(tk_library.operations & bit))
		return fail(err, TK_ABI_UNSUPPORTED, "not this operation");
	return tk_library.check(problem, err);
}

static const char *const *list_configs(const struct tk_problem *problem)
{
	return tk_library.configs ? tk_library.configs(problem) : only_default;
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *const **out, uint32_t *count, struct tk_abi_error *err)
{
	const int status = backend_supports(ctx, problem, err);
	if (status)
		return status;
	*out = list_configs(problem);
	for (*count = 0; (*out)[*count];)
		++*count;
	return TK_ABI_OK;
}

static void unbind(struct tk_plan *plan, uint32_t set)
{
	if (plan->set[set].bound)
		tk_library.unbind(plan->set[set].bound);
	plan->set[set].bound = NULL;
}

static void backend_unplan(struct tk_plan *plan)
{
	for (uint32_t i = 0; i < plan->sets; i++)
		unbind(plan, i);
	tk_library.release(plan->prepared);
	free(plan);
}

static int backend_plan(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
        const char *config, uint32_t sets, struct tk_plan **out, struct tk_plan_info *info,
        struct tk_abi_error *err)
{
	int status = backend_supports(ctx, problem, err);
	if (status)
		return status;
	const char *const *known = list_configs(problem);
	for (; config && *config && *known && strcmp(config, *known) != 0; known++)
		;
	if (!*known)
		return fail(err, TK_ABI_INVALID, "unknown configuration \"%.100s\"", config);
	struct tk_plan *plan = plan_new(sizeof *plan + sets * sizeof plan->set[0], err);
	if (!plan)
		return TK_ABI_NO_MEMORY;
	plan->sets = sets;
	info->deterministic = 1;
	status = tk_library.prepare(problem, *known, &plan->prepared, info, err);
	if (status) {
		free(plan);
		return status;
	}
	*out = plan;
	return TK_ABI_OK;
}

static int backend_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count <= TK_T_C)
		return fail(err, TK_ABI_INVALID, "no such set, or too few tensors");
	for (uint32_t i = 0; i < count && i < TENSORS_MAX; i++)
		plan->set[set].tensors[i] = tensors[i];
	if (!tk_library.bind)
		return TK_ABI_OK;
	unbind(plan, set);
	return tk_library.bind(plan->prepared, plan->set[set].tensors, &plan->set[set].bound, err);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	(void)stream;
	return tk_library.run(plan->prepared, plan->set[set].bound, plan->set[set].tensors, err);
}

KIT_BACKEND(backend, tk_library.name, "cpu", tk_library.version, tk_library.description,
        tk_library.operations, .configs = backend_configs)
