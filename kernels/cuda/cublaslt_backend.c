/* GEMM by cublasLt: its heuristic list, made visible. The library ranks its kernels for a problem;
 * each place in that ranking is a configuration here ("rank=0" or "heuristic-0" is the library's
 * own choice), and a plan reports its tile, stages and split. Most regressions after an update of
 * the library are changes of that choice.
 *
 * 8-bit floats: e4m3 and e5m2 with one scale for each operand (both 1: the inputs of the tracker
 * are in range), to bf16, f16 or f32.
 *
 * Options: workspace_mib=N limits the workspace of an algorithm (default 32 from Hopper on, 4
 * before); fast_accum=1 lets 8-bit products keep fewer bits of the running sum (default 0: partial
 * sums are carried over in f32). */
#include "cuda_backend.h"
#include "tracker_space.h"
#include <cublasLt.h>

struct tk_backend_ctx {
	struct gpu_context cuda;
	cublasLtHandle_t handle;
	size_t workspace_limit;
	int8_t fast_accum;
	float *one; /* on the device: the scale of 8-bit operands */
	struct tk_parameter parameter;
	struct tk_space space; /* the answer of space() */
};

/* A problem in the library's terms. a and b are exchanged: see blas.h on row-major
 * matrices. */
struct operation {
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a, b, c;
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config; /* config: place in the ranking */
	struct operation op;
	cublasLtMatmulAlgo_t algo;
	void *workspace;
	size_t workspace_bytes;
	int f64, f16; /* type of alpha and beta, else f32 */
	struct bound bound[];
};

static int check(struct tk_abi_error *err, const char *what, cublasStatus_t code)
{
	if (code == CUBLAS_STATUS_SUCCESS)
		return TK_ABI_OK;
	int status = code == CUBLAS_STATUS_NOT_SUPPORTED  ? TK_ABI_UNSUPPORTED
	             : code == CUBLAS_STATUS_ALLOC_FAILED ? TK_ABI_NO_MEMORY
	                                                  : TK_ABI_DEVICE;
	return fail(err, status, "%s: %s", what, cublasLtGetStatusString(code));
}

static int narrow(uint32_t dtype)
{
	return dtype == TK_E4M3 || dtype == TK_E5M2;
}

/* ---- open, supports ---- */

static const char *backend_version(void)
{
	static char text[32];
	size_t v = cublasLtGetVersion();
	snprintf(text, sizeof text, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
	return text;
}

static void stop(struct tk_backend_ctx *ctx)
{
	workspace_free(&ctx->cuda, ctx->one);
	if (ctx->handle)
		cublasLtDestroy(ctx->handle);
}

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	static const float one = 1;
	ctx->workspace_limit = (size_t)option_number(args->options, "workspace_mib",
	                               ctx->cuda.capability >= 90 ? 32 : 4) *
	                       MIB;
	ctx->fast_accum = option_number(args->options, "fast_accum", 0) != 0;
	int status = check(err, "cublasLtCreate", cublasLtCreate(&ctx->handle));
	if (status == TK_ABI_OK)
		status = workspace_new(&ctx->cuda, 256, (void **)&ctx->one, err);
	if (status == TK_ABI_OK)
		status = ctx->cuda.ops->upload(ctx->cuda.device, ctx->one, &one, sizeof one, err);
	if (status)
		stop(ctx);
	return status;
}

GPU_CONTEXT_WITH(backend, start, stop)

static int supports_narrow(
        const struct tk_backend_ctx *ctx, const struct tk_gemm *g, struct tk_abi_error *err)
{
	int capability = ctx->cuda.capability;
	if (capability && capability < 89)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "8-bit floats need compute capability 8.9, this device has sm_%d",
		        capability);
	if (g->a == TK_E5M2 && g->b == TK_E5M2)
		return fail(err, TK_ABI_UNSUPPORTED, "cublasLt does not multiply e5m2 by e5m2");
	if (!narrow(g->a) || !narrow(g->b) || g->acc != TK_F32 ||
	        (g->c != TK_BF16 && g->c != TK_F16 && g->c != TK_F32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "8-bit floats multiply each other, accumulate in f32 and return bf16, f16 "
		        "or f32");
	if (g->m % 16 || g->n % 16 || g->k % 16)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "with 8-bit floats m, n and k must be multiples of 16");
	if (capability < 100 && (g->ta || !g->tb))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "before sm_100, 8-bit floats need A as m x k and B as n x k (ta=n, tb=t)");
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
	if (narrow(g->a) || narrow(g->b))
		return supports_narrow(ctx, g, err);
	if (g->a != g->b)
		return fail(err, TK_ABI_UNSUPPORTED, "A and B have different types");
	if (ctx->cuda.capability && ctx->cuda.capability < 80 &&
	        (g->a == TK_BF16 || g->a == TK_TF32))
		return fail(err, TK_ABI_UNSUPPORTED,
		        "bf16 and tf32 need compute capability 8.0, this device has sm_%d",
		        ctx->cuda.capability);
	if (g->a == TK_F64 ? g->acc == TK_F64 && g->c == TK_F64
	                   : g->acc == TK_F32 && g->c == TK_F32)
		return TK_ABI_OK;
	if ((g->a == TK_F16 || g->a == TK_BF16) && g->c == g->a &&
	        (g->acc == TK_F32 || (g->acc == TK_F16 && g->a == TK_F16)))
		return TK_ABI_OK;
	return fail(err, TK_ABI_UNSUPPORTED,
	        "this accumulator or result does not go with these inputs: f64, f32 and tf32 stay "
	        "what they are, f16 "
	        "and bf16 "
	        "accumulate in f32 (f16 also in f16) and return f32 or their own type");
}

/* ---- the library's description of a problem ---- */

static void operation_free(struct operation *o)
{
	if (o->desc)
		cublasLtMatmulDescDestroy(o->desc);
	if (o->a)
		cublasLtMatrixLayoutDestroy(o->a);
	if (o->b)
		cublasLtMatrixLayoutDestroy(o->b);
	if (o->c)
		cublasLtMatrixLayoutDestroy(o->c);
	*o = (struct operation){0};
}

/* A row-major matrix of `rows` x `columns`, as stored: column-major with the sides exchanged.
 * pad: elements between two rows. */
static cublasStatus_t layout(cublasLtMatrixLayout_t *out, uint32_t dtype, int64_t rows,
        int64_t columns, int64_t pad, int64_t batch)
{
	int32_t count = (int32_t)batch;
	int64_t stride = rows * (columns + pad);
	cublasStatus_t code = cublasLtMatrixLayoutCreate(
	        out, cuda_type(dtype), (uint64_t)columns, (uint64_t)rows, columns + pad);
	if (code || batch == 1)
		return code;
	code = cublasLtMatrixLayoutSetAttribute(
	        *out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
	return code ? code
	            : cublasLtMatrixLayoutSetAttribute(*out,
	                      CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
}

static cublasStatus_t set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
        const void *value, size_t size)
{
	return cublasLtMatmulDescSetAttribute(desc, attribute, value, size);
}

static cublasStatus_t describe(
        const struct tk_backend_ctx *ctx, const struct tk_problem *p, struct operation *o)
{
	const struct tk_gemm *g = p->gemm;
	const int64_t pad = tk_problem_row_padding(p);
	cublasOperation_t ta = g->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
	                  tb = g->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
	cudaDataType_t scale = CUDA_R_32F;
	cublasStatus_t code;
	if (g->a == TK_TF32)
		compute = CUBLAS_COMPUTE_32F_FAST_TF32;
	else if (g->acc == TK_F64)
		compute = CUBLAS_COMPUTE_64F, scale = CUDA_R_64F;
	else if (g->acc == TK_F16)
		compute = CUBLAS_COMPUTE_16F, scale = CUDA_R_16F;
	if ((code = cublasLtMatmulDescCreate(&o->desc, compute, scale)) ||
	        (code = set(o->desc, CUBLASLT_MATMUL_DESC_TRANSA, &tb, sizeof tb)) ||
	        (code = set(o->desc, CUBLASLT_MATMUL_DESC_TRANSB, &ta, sizeof ta)))
		return code;
	if (narrow(g->a) && ((code = set(o->desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &ctx->one,
	                              sizeof ctx->one)) ||
	                            (code = set(o->desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
	                                     &ctx->one, sizeof ctx->one)) ||
	                            (code = set(o->desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM,
	                                     &ctx->fast_accum, sizeof ctx->fast_accum))))
		return code;
	if ((code = layout(&o->a, g->b, g->tb ? g->n : g->k, g->tb ? g->k : g->n, pad, g->batch)) ||
	        (code = layout(
	                 &o->b, g->a, g->ta ? g->k : g->m, g->ta ? g->m : g->k, pad, g->batch)))
		return code;
	return layout(&o->c, g->c, g->m, g->n, pad, g->batch);
}

/* The library takes all addresses for aligned unless it is told otherwise. */
static cublasStatus_t set_alignment(cublasLtMatmulPreference_t wish, uint32_t offset)
{
	static const cublasLtMatmulPreferenceAttributes_t attributes[] = {
	        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
	        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
	        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
	        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
	uint32_t bytes = offset & -offset; /* the largest power of 2 that divides it */
	cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
	for (size_t i = 0; offset && code == CUBLAS_STATUS_SUCCESS &&
	                   i < sizeof attributes / sizeof *attributes;
	        i++)
		code = cublasLtMatmulPreferenceSetAttribute(
		        wish, attributes[i], &bytes, sizeof bytes);
	return code;
}

/* Algorithms that split k may keep the partial sums in the type of C, against the problem's type of
 * sums. Some of the library's first choices do: f16 16000x4x8192 nt by cublasLt 13.1 is off by 0.03
 * in results of 4. */
static cublasStatus_t set_reduction(cublasLtMatmulPreference_t wish, const struct tk_gemm *g)
{
	uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
	if (g->c == g->acc)
		return CUBLAS_STATUS_SUCCESS;
	return cublasLtMatmulPreferenceSetAttribute(
	        wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
}

/* The library's ranking, best guess first. */
static int rank(struct tk_backend_ctx *ctx, const struct tk_problem *p, struct operation *o,
        cublasLtMatmulHeuristicResult_t list[HEURISTICS_MAX], int *count, struct tk_abi_error *err)
{
	cublasLtMatmulPreference_t wish = NULL;
	uint64_t limit = ctx->workspace_limit;
	*count = 0;
	cublasStatus_t code = describe(ctx, p, o);
	if (!code)
		code = cublasLtMatmulPreferenceCreate(&wish);
	if (!code)
		code = cublasLtMatmulPreferenceSetAttribute(
		        wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
	if (!code)
		code = set_alignment(wish, p->offset_bytes);
	if (!code)
		code = set_reduction(wish, p->gemm);
	int status = check(err, "description of the problem", code);
	if (!code)
		code = cublasLtMatmulAlgoGetHeuristic(ctx->handle, o->desc, o->a, o->b, o->c, o->c,
		        wish, HEURISTICS_MAX, list, count);
	if (!status && (code == CUBLAS_STATUS_NOT_SUPPORTED || (!code && !*count)))
		status = fail(err, TK_ABI_UNSUPPORTED,
		        "cublasLt %s has no kernel for this problem on this device",
		        backend_version());
	else if (!status)
		status = check(err, "cublasLtMatmulAlgoGetHeuristic", code);
	if (wish)
		cublasLtMatmulPreferenceDestroy(wish);
	return status;
}

static const char *const config_names[HEURISTICS_MAX] = HEURISTIC_NAMES;

static const int64_t ranks[HEURISTICS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static int count_ranks(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, int *out, struct tk_abi_error *err)
{
	cublasLtMatmulHeuristicResult_t list[HEURISTICS_MAX];
	struct operation o = {0};
	TRY(backend_supports(ctx, p, err));
	int status = rank(ctx, p, &o, list, out, err);
	operation_free(&o);
	return status;
}

static int backend_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *const **names, uint32_t *count, struct tk_abi_error *err)
{
	int found = 0;
	TRY(count_ranks(ctx, p, &found, err));
	*names = config_names;
	*count = (uint32_t)found;
	return TK_ABI_OK;
}

static struct tk_parameter rank_parameter(int count)
{
	return (struct tk_parameter){.name = "rank", .values = ranks, .count = (uint32_t)count};
}

static int backend_space(struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const struct tk_space **out, struct tk_abi_error *err)
{
	int found = 0;
	TRY(count_ranks(ctx, p, &found, err));
	ctx->parameter = rank_parameter(found);
	ctx->space = (struct tk_space){.size = sizeof ctx->space,
	        .count = 1,
	        .parameters = &ctx->parameter,
	        .best = ranks};
	*out = &ctx->space;
	return TK_ABI_OK;
}

/* ---- plan ---- */

static int choose(const struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t *out, struct tk_abi_error *err)
{
	const struct tk_parameter parameter = rank_parameter(HEURISTICS_MAX);
	const struct tk_space space = {.count = 1, .parameters = &parameter};
	int64_t value = 0;
	if (config && tk_space_parse(&space, config, &value)) {
		*out = (uint32_t)value;
		return TK_ABI_OK;
	}
	return find_config(config, config_names, HEURISTICS_MAX, out, NULL)
	               ? fail(err, TK_ABI_INVALID,
	                         "unknown configuration \"%.100s\", expected rank=0 to rank=%d",
	                         config, HEURISTICS_MAX - 1)
	               : TK_ABI_OK;
}

/* The kernel at a place in the ranking. Tile, stages and cluster are the library's numbers for them
 * (cublasLtMatmulTile_t and so on). */
static void tell_algorithm(const cublasLtMatmulAlgo_t *algo,
        const cublasLtMatmulHeuristicResult_t *r, struct tk_plan_info *info)
{
	static const struct {
		cublasLtMatmulAlgoConfigAttributes_t attribute;
		size_t size;
		const char *name;
	} parts[] = {
	        {CUBLASLT_ALGO_CONFIG_ID, 4, "id"},
	        {CUBLASLT_ALGO_CONFIG_TILE_ID, 4, "tile"},
	        {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, "stages"},
	        {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, "splitk"},
	        {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, "reduction"},
	        {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, "swizzle"},
	        {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, "option"},
	        {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, "inner"},
	        {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, "cluster"},
	};
	size_t used = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		uint32_t value = 0;
		uint16_t small = 0;
		size_t written = 0;
		void *to = parts[i].size == 2 ? (void *)&small : (void *)&value;
		if (cublasLtMatmulAlgoConfigGetAttribute(
		            algo, parts[i].attribute, to, parts[i].size, &written) ||
		        used >= sizeof info->algorithm)
			continue;
		used += (size_t)snprintf(info->algorithm + used, sizeof info->algorithm - used,
		        "%s%s %u", used ? " " : "", parts[i].name,
		        parts[i].size == 2 ? small : value);
	}
	snprintf(info->kernel, sizeof info->kernel, "cublasLtMatmul");
	info->workspace_bytes = r->workspaceSize;
}

static void backend_unplan(struct tk_plan *plan)
{
	if (!plan)
		return;
	operation_free(&plan->op);
	workspace_free(&plan->ctx->cuda, plan->workspace);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_gemm *g = plan->problem->gemm;
	cublasLtMatmulHeuristicResult_t list[HEURISTICS_MAX];
	int count = 0;
	TRY(rank(plan->ctx, plan->problem, &plan->op, list, &count, err));
	if ((int)plan->config >= count)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "the library lists only %d kernels for this problem", count);
	plan->algo = list[plan->config].algo;
	plan->workspace_bytes = list[plan->config].workspaceSize;
	plan->f64 = g->acc == TK_F64;
	plan->f16 = g->acc == TK_F16;
	tell_algorithm(&plan->algo, &list[plan->config], info);
	info->capturable = info->deterministic = 1;
	return workspace_new(&plan->ctx->cuda, plan->workspace_bytes, &plan->workspace, err);
}

KIT_PLAN(backend, bound, choose, fill_plan)

KIT_BIND(backend, 3)

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	static const float one = 1, zero = 0;
	static const double one64 = 1, zero64 = 0;
	static const uint16_t one16 = 0x3c00, zero16 = 0;
	const void *const alphas[] = {&one, &one16, &one64}, *const betas[] = {
	                                                             &zero, &zero16, &zero64};
	const void *alpha = alphas[plan->f64 ? 2 : plan->f16],
	           *beta = betas[plan->f64 ? 2 : plan->f16];
	void *const *t = plan->bound[set].data;
	const struct operation *o = &plan->op;
	return check(err, "cublasLtMatmul",
	        cublasLtMatmul(plan->ctx->handle, o->desc, alpha, t[TK_T_B], o->a, t[TK_T_A], o->b,
	                beta, t[TK_T_C], o->c, t[TK_T_C], o->c, &plan->algo, plan->workspace,
	                plan->workspace_bytes, (cudaStream_t)stream));
}

KIT_BACKEND(backend, "cublaslt", "cuda", backend_version,
        "GEMM by cublasLt, every kernel of its ranking a configuration",
        TK_OPERATION_GEMM | TK_OPERATION_UNALIGNED | TK_OPERATION_PADDED_ROWS,
        .configs = backend_configs, .space = backend_space)
