/* GEMM by rocBLAS: rocblas_gemm_ex, and rocblas_gemm_strided_batched_ex for batches. By default the
 * library chooses the kernel by itself on every call, as it does for nearly every user. Its
 * kernels, called solutions, are a space of one parameter, their index in the library: "solution=0"
 * is the library's choice. An index is of one version and one architecture. */
#include "rocblas_handle.h"
#include "tracker_space.h"

#define SOLUTIONS_MAX 4000 /* of a problem: the first ones */

struct tk_backend_ctx {
	struct gpu_context gpu;
	unsigned gfx;
	struct rocblas rocblas;
	int64_t *solutions; /* the values of the space */
	struct tk_parameter parameter;
	struct tk_space space; /* the answer of space() */
};

/* Inputs, accumulator and results of rocblas_gemm_ex (rocBLAS documentation, "rocblas_gemm_ex"). */
struct types {
	uint32_t in, acc, out;
	rocblas_datatype type_in, type_out, compute;
};
#define TYPES(in, acc, out, type_in, type_out, compute) \
	{ \
		TK_##in, TK_##acc, TK_##out, rocblas_datatype_##type_in##_r, \
		        rocblas_datatype_##type_out##_r, rocblas_datatype_##compute##_r \
	}
static const struct types types[] = {
        TYPES(F64, F64, F64, f64, f64, f64),
        TYPES(F32, F32, F32, f32, f32, f32),
        TYPES(TF32, F32, F32, f32, f32, f32),
        TYPES(F16, F32, F16, f16, f16, f32),
        TYPES(F16, F32, F32, f16, f32, f32),
        TYPES(F16, F16, F16, f16, f16, f16),
        TYPES(BF16, F32, BF16, bf16, bf16, f32),
        TYPES(BF16, F32, F32, bf16, f32, f32),
};

union scalar { /* alpha and beta have the type of the accumulator */
	double f64;
	float f32;
	uint16_t f16;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	const struct types *types;
	uint32_t sets;
	uint32_t config; /* the solution; 0: the library chooses */
	void *workspace;
	union scalar alpha, beta;
	struct bound bound[];
};

/* ---- open, supports ---- */

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	ctx->gfx = gfx_of(args);
	return rocblas_open(&ctx->rocblas, ctx->gfx, args->options, err);
}

static void stop(struct tk_backend_ctx *ctx)
{
	rocblas_destroy_handle(ctx->rocblas.handle);
	free(ctx->solutions);
}

GPU_CONTEXT_WITH(backend, start, stop)

static const struct types *find_types(const struct tk_gemm *g)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (g->a == types[i].in && g->b == types[i].in && g->acc == types[i].acc &&
		        g->c == types[i].out)
			return &types[i];
	return NULL;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op != TK_OP_GEMM)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm");
	const struct tk_gemm *g = p->gemm;
	if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->batch > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side is larger than the library's 32-bit integers");
	if (g->a == TK_TF32 && ctx->gfx && !is_cdna3(ctx->gfx))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "tf32 (AMD: xf32) is there on gfx942 only, this device has gfx%x",
		        ctx->gfx);
	if (g->a == TK_E4M3 || g->a == TK_E5M2)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "rocblas_gemm_ex has no 8-bit floats; hipblaslt has");
	if (g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "A and B have different types");
	return find_types(g) ? TK_ABI_OK
	                     : fail(err, TK_ABI_UNSUPPORTED,
	                               "this accumulator or result does not go with these inputs: "
	                               "f64, f32 and tf32 "
	                               "stay what they are, f16 and bf16 accumulate in f32 (f16 "
	                               "also in f16) and "
	                               "return f32 or their own type");
}

/* ---- solutions ---- */

static union scalar make_scalar(const struct types *types, int value)
{
	union scalar out = {0};
	if (types->compute == rocblas_datatype_f64_r)
		out.f64 = value;
	else if (types->compute == rocblas_datatype_f16_r)
		out.f16 = value ? 0x3c00 : 0;
	else
		out.f32 = (float)value;
	return out;
}

/* A problem in the library's terms. a and b are exchanged: row-major matrices are column-major ones
 * with their sides exchanged. */
struct operands {
	rocblas_operation ta, tb;
	int m, n, k, lda, ldb;
};

static struct operands find_operands(const struct tk_gemm *g)
{
	int m = (int)g->m, n = (int)g->n, k = (int)g->k;
	return (struct operands){.ta = g->ta ? rocblas_operation_transpose : rocblas_operation_none,
	        .tb = g->tb ? rocblas_operation_transpose : rocblas_operation_none,
	        .m = m,
	        .n = n,
	        .k = k,
	        .lda = g->ta ? m : k,
	        .ldb = g->tb ? k : n};
}

/* The indices of the solutions, at most *count; out = NULL: only counts them. The library checks
 * that pointers are not NULL and reads nothing. */
static rocblas_status list_solutions(
        struct tk_backend_ctx *ctx, const struct tk_gemm *g, rocblas_int *out, rocblas_int *count)
{
	const struct types *y = find_types(g);
	union scalar alpha = make_scalar(y, 1), beta = make_scalar(y, 0);
	const struct operands o = find_operands(g);
	void *any = &ctx->space;
	/* marked as deprecated because they may still change */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	if (g->batch == 1)
		return rocblas_gemm_ex_get_solutions(ctx->rocblas.handle, o.tb, o.ta, o.n, o.m, o.k,
		        &alpha, any, y->type_in, o.ldb, any, y->type_in, o.lda, &beta, any,
		        y->type_out, o.n, any, y->type_out, o.n, y->compute,
		        rocblas_gemm_algo_solution_index, rocblas_gemm_flags_none, out, count);
	return rocblas_gemm_strided_batched_ex_get_solutions(ctx->rocblas.handle, o.tb, o.ta, o.n,
	        o.m, o.k, &alpha, any, y->type_in, o.ldb, (rocblas_stride)o.n * o.k, any,
	        y->type_in, o.lda, (rocblas_stride)o.m * o.k, &beta, any, y->type_out, o.n,
	        (rocblas_stride)o.m * o.n, any, y->type_out, o.n, (rocblas_stride)o.m * o.n,
	        (int)g->batch, y->compute, rocblas_gemm_algo_solution_index,
	        rocblas_gemm_flags_none, out, count);
#pragma GCC diagnostic pop
}

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
	rocblas_int found[SOLUTIONS_MAX], count = 0;
	/* solutions depend on the math mode; the next launch sets that of its own plan */
	rocblas_clear_plan(&ctx->rocblas);
	int status = rocblas_set_xf32(&ctx->rocblas, g->a == TK_TF32, err);
	if (!status)
		status = rocblas_check(
		        err, "list of solutions", list_solutions(ctx, g, NULL, &count));
	count = count < SOLUTIONS_MAX ? count : SOLUTIONS_MAX;
	if (!status && count)
		status = rocblas_check(
		        err, "list of solutions", list_solutions(ctx, g, found, &count));
	if (!status && !ctx->solutions &&
	        !(ctx->solutions = calloc(SOLUTIONS_MAX + 1, sizeof *ctx->solutions)))
		status = fail(err, TK_ABI_NO_MEMORY, "no memory for the list of solutions");
	if (status)
		return status;
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
	int status = backend_supports(ctx, p, err);
	if (!status)
		status = make_space(ctx, p->gemm, err);
	if (!status)
		*out = &ctx->space;
	return status;
}

static int choose(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t *out, struct tk_abi_error *err)
{
	int64_t value = 0;
	*out = 0;
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

/* ---- plan, bind, launch ---- */

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	rocblas_clear_plan(&plan->ctx->rocblas);
	workspace_free(&plan->ctx->gpu, plan->workspace);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	size_t bytes = plan->ctx->rocblas.workspace_bytes;
	TRY(workspace_new(&plan->ctx->gpu, bytes, &plan->workspace, err));
	plan->types = find_types(plan->problem->gemm);
	plan->alpha = make_scalar(plan->types, 1);
	if (plan->config)
		snprintf(info->algorithm, sizeof info->algorithm, "solution %u", plan->config);
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        plan->problem->gemm->batch > 1 ? "rocblas_gemm_strided_batched_ex"
	                                       : "rocblas_gemm_ex");
	info->workspace_bytes = bytes;
	info->capturable = 1;
	info->deterministic = 1; /* atomics are not allowed */
	return TK_ABI_OK;
}

KIT_PLAN(backend, bound, choose, fill_plan)

KIT_BIND(backend, 3)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	const struct types *y = plan->types;
	void *const *t = plan->bound[set].data;
	struct rocblas *r = &plan->ctx->rocblas;
	const struct operands o = find_operands(g);
	const rocblas_int solution = (rocblas_int)plan->config;
	rocblas_gemm_algo algo =
	        plan->config ? rocblas_gemm_algo_solution_index : rocblas_gemm_algo_standard;
	int status = rocblas_set_plan(r, plan, plan->workspace, g->a == TK_TF32, stream, err);
	if (status)
		return status;
	if (g->batch == 1)
		return rocblas_check(err, "rocblas_gemm_ex",
		        rocblas_gemm_ex(r->handle, o.tb, o.ta, o.n, o.m, o.k, &plan->alpha,
		                t[TK_T_B], y->type_in, o.ldb, t[TK_T_A], y->type_in, o.lda,
		                &plan->beta, t[TK_T_C], y->type_out, o.n, t[TK_T_C], y->type_out,
		                o.n, y->compute, algo, solution, rocblas_gemm_flags_none));
	return rocblas_check(err, "rocblas_gemm_strided_batched_ex",
	        rocblas_gemm_strided_batched_ex(r->handle, o.tb, o.ta, o.n, o.m, o.k, &plan->alpha,
	                t[TK_T_B], y->type_in, o.ldb, (rocblas_stride)o.n * o.k, t[TK_T_A],
	                y->type_in, o.lda, (rocblas_stride)o.m * o.k, &plan->beta, t[TK_T_C],
	                y->type_out, o.n, (rocblas_stride)o.m * o.n, t[TK_T_C], y->type_out, o.n,
	                (rocblas_stride)o.m * o.n, (int)g->batch, y->compute, algo, solution,
	                rocblas_gemm_flags_none));
}

KIT_BACKEND(backend, "rocblas", "hip", rocblas_version_text,
        "GEMM by rocBLAS, its choice of a kernel or any of its solutions", TK_OPERATION_GEMM,
        .space = backend_space)
