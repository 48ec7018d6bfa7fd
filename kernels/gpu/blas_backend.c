/* GEMM by the vendor's BLAS (blas.h): one call of a product, or of a strided batch. rocBLAS's
 * kernels, called solutions, are a space of one parameter, their index in the library: "solution=0"
 * is the library's choice. An index is of one version and one architecture. */
#include "blas.h"
#include "tracker_space.h"

struct tk_backend_ctx {
	struct gpu_context gpu;
	struct blas blas;
	int64_t *solutions; /* the values of the space */
	struct tk_parameter parameter;
	struct tk_space space; /* the answer of space() */
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config; /* config: the solution */
	void *workspace;
	struct bound bound[];
};

static void free_solutions(struct tk_backend_ctx *ctx)
{
	free(ctx->solutions);
}

BLAS_CONTEXT(backend, free_solutions)

/* Inputs, accumulator and results that there are kernels for (cuBLAS documentation, section 2.8.13;
 * rocBLAS documentation, "rocblas_gemm_ex"). */
static const struct {
	uint32_t in, acc, out;
} types[] = {
        {TK_F64, TK_F64, TK_F64},
        {TK_F32, TK_F32, TK_F32},
        {TK_TF32, TK_F32, TK_F32},
        {TK_F16, TK_F32, TK_F16},
        {TK_F16, TK_F32, TK_F32},
        {TK_F16, TK_F16, TK_F16},
        {TK_BF16, TK_F32, TK_BF16},
        {TK_BF16, TK_F32, TK_F32},
};

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->batch > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side is larger than the library's 32-bit integers");
	TRY(blas_check_device(&ctx->blas, g, err));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (g->a == types[i].in && g->b == types[i].in && g->acc == types[i].acc &&
		        g->c == types[i].out)
			return TK_ABI_OK;
	if (g->a == TK_E4M3 || g->a == TK_E5M2)
		return fail(err, TK_ABI_UNSUPPORTED,
		        BLAS_CALL " has no 8-bit floats; " BLAS_NARROW_NAME " has");
	if (g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "A and B have different types");
	return fail(err, TK_ABI_UNSUPPORTED,
	        "this accumulator or result does not go with these inputs: f64, f32 and tf32 stay "
	        "what they are, f16 and bf16 accumulate in f32 (f16 also in f16) and return f32 or "
	        "their own type");
}

/* In the library's terms: A and B are exchanged. */
static struct blas_product make_product(const struct tk_gemm *g, void *const *t, uint32_t solution)
{
	const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
	return (struct blas_product){.what = g->batch > 1 ? BLAS_BATCHED_CALL : BLAS_CALL,
	        .ta = g->tb,
	        .tb = g->ta,
	        .m = n,
	        .n = m,
	        .k = k,
	        .count = (int)g->batch,
	        .is_batched = g->batch > 1,
	        .alpha = 1,
	        .type = g->a,
	        .type_c = g->c,
	        .acc = g->acc,
	        .a = t[TK_T_B],
	        .b = t[TK_T_A],
	        .c = t[TK_T_C],
	        .lda = g->tb ? k : n,
	        .ldb = g->ta ? m : k,
	        .ldc = n,
	        .step_a = (int64_t)n * k,
	        .step_b = (int64_t)m * k,
	        .step_c = (int64_t)m * n,
	        .solution = (int32_t)solution};
}

/* ---- solutions ---- */

#if TK_GPU_HIP
#define SOLUTIONS_MAX 4000 /* of a problem: the first ones */

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Distinct values in ascending order, 0 for the library's choice among them. */
static uint32_t sort_solutions(const rocblas_int *found, rocblas_int count, int64_t *out)
{
	uint32_t distinct = 0;
	out[0] = 0;
	for (rocblas_int i = 0; i < count; i++)
		out[i + 1] = found[i];
	qsort(out, (size_t)count + 1, sizeof *out, compare_values);
	for (rocblas_int i = 0; i <= count; i++)
		if (!distinct || out[distinct - 1] != out[i])
			out[distinct++] = out[i];
	return distinct;
}

static int make_space(struct tk_backend_ctx *ctx, const struct tk_gemm *g, struct tk_abi_error *err)
{
	static const int64_t best[] = {0};
	static const char what[] = "list of solutions";
	void *none[TK_T_MAX] = {NULL};
	const struct blas_product p = make_product(g, none, 0);
	rocblas_int found[SOLUTIONS_MAX], count = 0;
	/* solutions depend on the math mode; the next launch sets that of its own plan */
	blas_clear_plan(&ctx->blas);
	TRY(rocblas_set_xf32(&ctx->blas, g->a == TK_TF32, err));
	TRY(blas_check(err, what, rocblas_list_solutions(&ctx->blas, &p, NULL, &count)));
	count = count < SOLUTIONS_MAX ? count : SOLUTIONS_MAX;
	if (count)
		TRY(blas_check(err, what, rocblas_list_solutions(&ctx->blas, &p, found, &count)));
	if (!ctx->solutions &&
	        !(ctx->solutions = calloc(SOLUTIONS_MAX + 1, sizeof *ctx->solutions)))
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the list of solutions");
	ctx->parameter = (struct tk_parameter){.name = "solution",
	        .values = ctx->solutions,
	        .count = sort_solutions(found, count, ctx->solutions)};
	ctx->space = (struct tk_space){
	        .size = sizeof ctx->space, .count = 1, .parameters = &ctx->parameter, .best = best};
	return TK_ABI_OK;
}

static int backend_space(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const struct tk_space **out, struct tk_abi_error *err)
{
	TRY(backend_supports(ctx, p, err));
	TRY(make_space(ctx, p->gemm, err));
	*out = &ctx->space;
	return TK_ABI_OK;
}

static int choose(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t *out, struct tk_abi_error *err)
{
	int64_t value = 0;
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	TRY(make_space(ctx, p->gemm, err));
	if (!tk_space_parse(&ctx->space, config, &value))
		return fail(err, TK_ABI_INVALID,
		        "unknown configuration \"%.100s\", expected \"solution=N\" with an index "
		        "that this rocBLAS has for the problem; 0 is its own choice",
		        config);
	*out = (uint32_t)value;
	return TK_ABI_OK;
}
#else
#define choose choose_default
#define backend_space NULL
#endif

/* ---- plan, bind, launch ---- */

static void backend_unplan(struct tk_plan *plan)
{
	blas_clear_plan(&plan->ctx->blas);
	workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	if (plan->config)
		snprintf(info->algorithm, sizeof info->algorithm, "solution %u", plan->config);
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        plan->problem->gemm->batch > 1 ? BLAS_BATCHED_CALL : BLAS_CALL);
	info->workspace_bytes = plan->ctx->blas.workspace_bytes;
	/* cuBLAS: one stream at a time, and a workspace of its own (documentation, section 2.1.4);
	 * rocBLAS: atomics are not allowed */
	info->capturable = info->deterministic = 1;
	return workspace_new(&plan->ctx->gpu, info->workspace_bytes, &plan->workspace, err);
}

KIT_PLAN(backend, bound, choose, fill_plan)

KIT_BIND(backend, 3)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	const struct blas_product p = make_product(g, plan->bound[set].data, plan->config);
	struct blas *b = &plan->ctx->blas;
	TRY(blas_set_plan(b, plan, plan->workspace, g->a == TK_TF32, stream, err));
	return blas_multiply(b, &p, err);
}

KIT_BACKEND(backend, BLAS_NAME, TK_GPU_KIND, blas_version, BLAS_DESCRIPTION, TK_OPERATION_GEMM,
        .space = backend_space)
