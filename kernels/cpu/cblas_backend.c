/* GEMM and "native" attention on any library that has the C interface of the BLAS. One
 * file that needs kit.h alone, so that it can be compiled against the system's library and, by
 * kernels/adapters/, against every commit of OpenBLAS or BLIS.
 *
 *   gemm       f32, f64: cblas_sgemm, cblas_dgemm, one call per matrix of the batch.
 *              bf16 inputs: cblas_sbgemm if the library has it; it accumulates and returns f32, and
 *              this file rounds a bf16 result.
 *   attention  forward, f32: S = scale Q K^T, a softmax over the rows, O = P V. The whole matrix S
 *              is in memory, sq x skv floats for one head at a time: this is the baseline for
 *              tiled attention, like PyTorch's "math" path on GPUs.
 *
 * Compile with -DTK_CBLAS_NAME="\"openblas\"" (the backend's name) and, for the number of threads
 * and the version, -DTK_CBLAS_VENDOR_OPENBLAS, _BLIS or _MKL; with -DTK_CBLAS_HAS_SBGEMM
 * where cblas_sbgemm links. */
#include "kit.h"
#include <math.h>
#ifdef TK_CBLAS_VENDOR_BLIS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wtype-limits"
#include <blis.h> /* brings its cblas.h */
#pragma GCC diagnostic pop
#elif defined(TK_CBLAS_VENDOR_MKL)
#include <mkl.h>
#else
#include <cblas.h>
#endif

#ifndef TK_CBLAS_NAME
#error "name the backend: -DTK_CBLAS_NAME=\"\\\"openblas\\\"\""
#endif

struct tk_backend_ctx {
	uint32_t threads;
};

struct tk_plan {
	const struct tk_backend_ctx *ctx;
	const struct tk_problem *problem;
	uint32_t sets, config;
	float *work; /* attention: S of one head; sbgemm with a bf16 result: the f32 result of one
	                matrix */
	struct bound bound[];
};

/* ---- the library's own interface ---- */

/* The text with the version, such as "OpenBLAS 0.3.21 DYNAMIC_ARCH Zen MAX_THREADS=64" or
 * "0.9.0-41-g1234abc"; the kernels in use; the number of threads. */
#if defined(TK_CBLAS_VENDOR_OPENBLAS)
#define VERSION_TEXT() openblas_get_config()
#define KERNEL() openblas_get_corename()
#define SET_THREADS(n) openblas_set_num_threads((int)(n))
#elif defined(TK_CBLAS_VENDOR_BLIS)
#define VERSION_TEXT() bli_info_get_version_str()
#define KERNEL() bli_arch_string(bli_arch_query_id())
#define SET_THREADS(n) bli_thread_set_num_threads((dim_t)(n))
#elif defined(TK_CBLAS_VENDOR_MKL)
static const char *mkl_version_text(void)
{
	static char text[64];
	MKLVersion v;
	mkl_get_version(&v);
	snprintf(text, sizeof text, "%d.%d.%d", v.MajorVersion, v.MinorVersion, v.UpdateVersion);
	return text;
}
#define VERSION_TEXT() mkl_version_text()
#define KERNEL() ""
#define SET_THREADS(n) mkl_set_num_threads((int)(n))
#else
#define VERSION_TEXT() ""
#define KERNEL() ""
#define SET_THREADS(n) (void)(n)
#endif

/* The first word that starts with a digit, as the library spells it. */
static const char *library_version(void)
{
	static char version[64];
	const char *p = VERSION_TEXT();
	while (*p && !(*p >= '0' && *p <= '9')) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	snprintf(version, sizeof(version), "%.*s", (int)strcspn(p, " "), p);
	return version;
}

/* ---- open, supports ---- */

static int start(
        struct tk_backend_ctx *ctx, const struct tk_open_args *args, struct tk_abi_error *err)
{
	ctx->threads = args->threads;
	if (args->threads)
		SET_THREADS(args->threads);
	return TK_ABI_OK;
}

static void stop(struct tk_backend_ctx *ctx)
{
}

KIT_CONTEXT(backend, start, stop)

static int supports_gemm(const struct tk_problem *p, struct tk_abi_error *err)
{
	const struct tk_gemm *g = p->gemm;
	const int64_t most = INT_MAX - tk_problem_row_padding(p);
	if (g->m > most || g->n > most || g->k > most)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side is larger than the library's 32-bit integers");
	if (g->a == g->b && g->a == g->c && g->acc == g->a && (g->a == TK_F32 || g->a == TK_F64))
		return TK_ABI_OK;
	if (g->a != TK_BF16 || g->b != TK_BF16)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "only f32, f64 and bf16 matrices, all operands of one type");
#ifdef TK_CBLAS_HAS_SBGEMM
	if (g->acc == TK_F32 && (g->c == TK_F32 || g->c == TK_BF16))
		return TK_ABI_OK;
	return fail(err, TK_ABI_UNSUPPORTED, "bf16 inputs need acc=f32 and c=f32 or c=bf16");
#else
	return fail(err, TK_ABI_UNSUPPORTED, "this build of the library has no cblas_sbgemm");
#endif
}

static int supports_attention(const struct tk_attention *a, struct tk_abi_error *err)
{
	if (a->dir != TK_FWD)
		return fail(err, TK_ABI_UNSUPPORTED, "only the forward direction");
	if (a->dtype != TK_F32)
		return fail(err, TK_ABI_UNSUPPORTED, "only f32");
	if (a->sq > INT_MAX || a->skv > INT_MAX || a->h * a->d > INT_MAX || a->h * a->dv > INT_MAX)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "a side is larger than the library's 32-bit integers");
	return TK_ABI_OK;
}

static int backend_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if (p->op == TK_OP_GEMM)
		return supports_gemm(p, err);
	if (p->op == TK_OP_ATTENTION)
		return supports_attention(p->attention, err);
	return fail(err, TK_ABI_UNSUPPORTED, "only gemm and attention");
}

/* ---- plan, bind ---- */

/* Floats of workspace, 0 = none. */
static size_t workspace_floats(const struct tk_problem *p)
{
	if (p->op == TK_OP_ATTENTION)
		return (size_t)p->attention->sq * (size_t)p->attention->skv;
	if (p->gemm->c == TK_BF16)
		return (size_t)p->gemm->m * (size_t)p->gemm->n;
	return 0;
}

static void backend_unplan(struct tk_plan *plan)
{
	free(plan->work);
	free(plan);
}

static int fill_plan(struct tk_plan *plan, struct tk_plan_info *info, struct tk_abi_error *err)
{
	const struct tk_problem *p = plan->problem;
	const size_t bytes = workspace_floats(p) * sizeof(float);
	const char *name = "sgemm+softmax+sgemm";
	if (p->op == TK_OP_GEMM)
		name = p->gemm->a == TK_F32 ? "sgemm" : p->gemm->a == TK_F64 ? "dgemm" : "sbgemm";
	if (bytes && !(plan->work = aligned_alloc(64, (bytes + 63) / 64 * 64)))
		return fail(err, TK_ABI_NO_MEMORY, "no memory for a workspace of %zu bytes", bytes);
	snprintf(info->kernel, sizeof(info->kernel), "%s", name);
	snprintf(info->algorithm, sizeof(info->algorithm), "%s", KERNEL());
	info->workspace_bytes = bytes;
	info->deterministic = 1;
	return TK_ABI_OK;
}

KIT_PLAN(backend, bound, choose_default, fill_plan)

KIT_BIND(backend, plan->problem->op == TK_OP_GEMM ? TK_T_C + 1 : TK_T_O + 1)

/* ---- gemm ---- */

#ifdef TK_CBLAS_HAS_SBGEMM
static uint16_t bf16_round(float x)
{
	uint32_t u;
	memcpy(&u, &x, sizeof(u));
	if ((u & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(u >> 16 | 0x40);              /* keep NaN a NaN */
	return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16); /* to nearest, ties to even */
}

static void gemm_bf16(const struct tk_gemm *g, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb,
        int lda, int ldb, int ldc, const void *a, const void *b, void *c, float *work)
{
	float *result = g->c == TK_BF16 ? work : c;
	cblas_sbgemm(CblasRowMajor, ta, tb, (int)g->m, (int)g->n, (int)g->k, 1, a, lda, b, ldb, 0,
	        result, g->c == TK_BF16 ? (int)g->n : ldc);
	if (g->c != TK_BF16)
		return;
	for (size_t i = 0; i < (size_t)g->m; i++) {
		uint16_t *to = (uint16_t *)c + i * (size_t)ldc;
		for (size_t j = 0; j < (size_t)g->n; j++)
			to[j] = bf16_round(work[i * (size_t)g->n + j]);
	}
}
#endif

static void run_gemm(const struct tk_problem *p, const struct bound *t, float *work)
{
	const struct tk_gemm *g = p->gemm;
	const int pad = (int)tk_problem_row_padding(p);
	enum CBLAS_TRANSPOSE ta = g->ta ? CblasTrans : CblasNoTrans,
	                     tb = g->tb ? CblasTrans : CblasNoTrans;
	int m = (int)g->m, n = (int)g->n, k = (int)g->k;
	int lda = (g->ta ? m : k) + pad, ldb = (g->tb ? k : n) + pad, ldc = n + pad;
	size_t step_a = (size_t)(g->ta ? k : m) * (size_t)lda * type_bytes(g->a),
	       step_b = (size_t)(g->tb ? n : k) * (size_t)ldb * type_bytes(g->b);
	size_t step_c = (size_t)m * (size_t)ldc * type_bytes(g->c);
	for (size_t i = 0; i < (size_t)g->batch; i++) {
		const char *a = (const char *)t->data[TK_T_A] + i * step_a,
		           *b = (const char *)t->data[TK_T_B] + i * step_b;
		char *c = (char *)t->data[TK_T_C] + i * step_c;
		if (g->a == TK_F32)
			cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1,
			        (const float *)(const void *)a, lda, (const float *)(const void *)b,
			        ldb, 0, (float *)(void *)c, ldc);
		else if (g->a == TK_F64)
			cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1,
			        (const double *)(const void *)a, lda,
			        (const double *)(const void *)b, ldb, 0, (double *)(void *)c, ldc);
#ifdef TK_CBLAS_HAS_SBGEMM
		else
			gemm_bf16(g, ta, tb, lda, ldb, ldc, a, b, c, work);
#endif
	}
}

/* ---- attention ---- */

/* exp(x) for x <= 0 to about 2 ulp, without a branch, so that the compiler can use vectors:
 * 2^i p(f), where x / ln 2 = i + f and |f| <= 1/2. p is the Taylor polynomial of degree 7, with a
 * relative error below 2^-27. */
static inline float exp_negative(float x)
{
	x = x < -87.0f ? -87.0f : x;
	const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
	float shifted = x * 1.44269504f + magic, i = shifted - magic;
	float f = x - i * 0.693359375f + i * 2.12194440e-4f; /* ln 2 in two parts */
	float p = 1.98412698e-4f;
	p = p * f + 1.38888889e-3f;
	p = p * f + 8.33333333e-3f;
	p = p * f + 4.16666667e-2f;
	p = p * f + 1.66666667e-1f;
	p = p * f + 0.5f;
	p = p * f + 1.0f;
	p = p * f + 1.0f;
	union {
		int32_t i;
		float f;
	} scale = {.i = ((int32_t)i + 127) * (1 << 23)};
	return p * scale.f;
}

/* Turns row[0 .. seen) into its softmax, the rest of the row into zeros; returns the logarithm of
 * the sum of exponentials. */
static float softmax_row(float *row, int64_t seen, int64_t width)
{
	float max = -INFINITY, sum = 0;
	for (int64_t j = 0; j < seen; j++)
		max = row[j] > max ? row[j] : max;
	for (int64_t j = 0; j < seen; j++)
		row[j] = exp_negative(row[j] - max);
	for (int64_t j = 0; j < seen; j++)
		sum += row[j];
	float inverse = 1 / sum;
	for (int64_t j = 0; j < seen; j++)
		row[j] *= inverse;
	memset(row + seen, 0, (size_t)(width - seen) * sizeof(*row));
	return max + logf(sum);
}

static void run_head(
        const struct tk_attention *a, const struct bound *t, float *s, int64_t batch, int64_t head)
{
	int64_t kv_head = head / (a->h / a->hkv);
	const float *q = (const float *)t->data[TK_T_Q] + (batch * a->sq * a->h + head) * a->d;
	const float *k =
	        (const float *)t->data[TK_T_K] + (batch * a->skv * a->hkv + kv_head) * a->d;
	const float *v =
	        (const float *)t->data[TK_T_V] + (batch * a->skv * a->hkv + kv_head) * a->dv;
	float *o = (float *)t->data[TK_T_O] + (batch * a->sq * a->h + head) * a->dv;
	float *lse = t->data[TK_T_LSE];
	lse = lse ? lse + (batch * a->h + head) * a->sq : NULL;
	int sq = (int)a->sq, skv = (int)a->skv, d = (int)a->d, dv = (int)a->dv, h = (int)a->h,
	    hkv = (int)a->hkv;

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, sq, skv, d, (float)a->scale, q, h * d,
	        k, hkv * d, 0, s, skv);
	for (int64_t i = 0; i < a->sq; i++) {
		int64_t seen = a->causal ? i + 1 + a->skv - a->sq
		                         : a->skv; /* aligned to the bottom right */
		seen = seen < 0 ? 0 : seen > a->skv ? a->skv : seen;
		float l = seen ? softmax_row(s + i * a->skv, seen, a->skv) : -INFINITY;
		if (!seen)
			memset(s + i * a->skv, 0, (size_t)a->skv * sizeof(*s));
		if (lse)
			lse[i] = l;
	}
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, sq, dv, skv, 1, s, skv, v, hkv * dv,
	        0, o, h * dv);
}

static int backend_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	const struct bound *t = &plan->bound[set];
	if (plan->problem->op == TK_OP_GEMM) {
		run_gemm(plan->problem, t, plan->work);
		return TK_ABI_OK;
	}
	const struct tk_attention *a = plan->problem->attention;
	for (int64_t batch = 0; batch < a->b; batch++)
		for (int64_t head = 0; head < a->h; head++)
			run_head(a, t, plan->work, batch, head);
	return TK_ABI_OK;
}

KIT_BACKEND(backend, TK_CBLAS_NAME, "cpu", library_version,
        "C interface of the BLAS: GEMM, and attention as two GEMMs and a softmax",
        TK_OPERATION_GEMM | TK_OPERATION_ATTENTION | TK_OPERATION_UNALIGNED |
                TK_OPERATION_PADDED_ROWS,
        .configs = NULL)
