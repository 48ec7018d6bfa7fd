/* GEMM of tiles by kernels that LIBXSMM generates: C is cut into tiles, each thread multiplies the
 * blocks of k of a tile by one kernel. LIBXSMM itself has no kernels for large matrices; cutting
 * and threads are ours, as in its blocked_gemm sample. Its matrices are column-major: the kernels
 * compute the transposed product. */
#include "library.h"
#include <libxsmm.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels by their use: at the right border, at the lower border, for the last block of k. */
enum { BORDER_N = 1, BORDER_M = 2, LAST_K = 4, ADD = 8, KERNELS = 16 };

#ifdef XSMM_DISPATCH
typedef libxsmm_gemmfunction kernel_function;
#else
typedef libxsmm_smmfunction kernel_function; /* of the releases 1.x */
#endif

struct plan {
	const struct tk_gemm *gemm;
	int64_t tile_m, tile_n, block_k;
	kernel_function kernel[KERNELS]; /* ADD: to C, otherwise C is overwritten */
};

static const char *const names[] = {"64x64x256", "32x64x512", "64x128x128", NULL};

static const char *version(void)
{
	return LIBXSMM_VERSION;
}

static void set_threads(uint32_t count)
{
	libxsmm_init();
	omp_set_num_threads((int)count);
}

static int check(const struct tk_problem *problem, struct tk_abi_error *err)
{
	const struct tk_gemm *g = problem->gemm;
	if (g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->acc != TK_F32)
		return tk_library_fail(err, TK_ABI_UNSUPPORTED, "only f32");
	if (g->tb)
		return tk_library_fail(err, TK_ABI_UNSUPPORTED,
		        "not with B transposed: LIBXSMM generates no such kernel");
	return TK_ABI_OK;
}

static const char *const *configs(const struct tk_problem *problem)
{
	(void)problem;
	return names;
}

static int64_t size_of(int64_t whole, int64_t tile, int border)
{
	const int64_t rest = whole % tile;
	return border && rest ? rest : whole < tile ? whole : tile;
}

/* LIBXSMM's A is our B and the reverse. */
static kernel_function generate(const struct plan *p, int use)
{
	const struct tk_gemm *g = p->gemm;
	const libxsmm_blasint m = (libxsmm_blasint)size_of(g->n, p->tile_n, use & BORDER_N),
	                      n = (libxsmm_blasint)size_of(g->m, p->tile_m, use & BORDER_M),
	                      k = (libxsmm_blasint)size_of(g->k, p->block_k, use & LAST_K),
	                      lda = (libxsmm_blasint)g->n, ldc = lda,
	                      ldb = (libxsmm_blasint)(g->ta ? g->m : g->k);
	const int flags = g->ta ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
#ifdef XSMM_DISPATCH
	const libxsmm_gemm_shape shape =
	        libxsmm_create_gemm_shape(m, n, k, lda, ldb, ldc, LIBXSMM_DATATYPE_F32,
	                LIBXSMM_DATATYPE_F32, LIBXSMM_DATATYPE_F32, LIBXSMM_DATATYPE_F32);
	return XSMM_DISPATCH(shape,
	        (libxsmm_bitfield)(flags | (use & ADD ? 0 : LIBXSMM_GEMM_FLAG_BETA_0)),
	        LIBXSMM_GEMM_PREFETCH_NONE);
#else
	const float one = 1, beta = use & ADD ? 1.0f : 0.0f;
	return libxsmm_smmdispatch(m, n, k, &lda, &ldb, &ldc, &one, &beta, &flags, NULL);
#endif
}

static void multiply(kernel_function kernel, const float *a, const float *b, float *c)
{
#ifdef XSMM_DISPATCH
	libxsmm_gemm_param args = {0};
	args.a.primary = (void *)(uintptr_t)a;
	args.b.primary = (void *)(uintptr_t)b;
	args.c.primary = c;
	kernel(&args);
#else
	kernel(a, b, c);
#endif
}

static int prepare(const struct tk_problem *problem, const char *config, void **out,
        struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct plan *p = calloc(1, sizeof *p);
	if (!p)
		return tk_library_fail(err, TK_ABI_NO_MEMORY, "out of memory");
	p->gemm = problem->gemm;
	p->tile_m = strtol(config, NULL, 10);
	p->tile_n = strtol(strchr(config, 'x') + 1, NULL, 10);
	p->block_k = strtol(strrchr(config, 'x') + 1, NULL, 10);
	for (int use = 0; use < KERNELS; use++)
		if (!(p->kernel[use] = generate(p, use))) {
			free(p);
			return tk_library_fail(err, TK_ABI_UNSUPPORTED,
			        "LIBXSMM generates no kernel for this shape");
		}
	snprintf(info->kernel, sizeof info->kernel, "libxsmm_smm");
	snprintf(info->algorithm, sizeof info->algorithm, "%s", config);
	*out = p;
	return TK_ABI_OK;
}

static void release(void *plan)
{
	free(plan);
}

static void run_tile(
        const struct plan *p, const float *a, const float *b, float *c, int64_t i, int64_t j)
{
	const struct tk_gemm *g = p->gemm;
	const int use =
	        (i + p->tile_m > g->m ? BORDER_M : 0) | (j + p->tile_n > g->n ? BORDER_N : 0);
	for (int64_t k = 0; k < g->k; k += p->block_k) {
		const int last = k + p->block_k > g->k ? LAST_K : 0, add = k ? ADD : 0;
		multiply(p->kernel[use | last | add], b + k * g->n + j,
		        a + (g->ta ? k * g->m + i : i * g->k + k), c + i * g->n + j);
	}
}

static int run(void *plan, void *set, const struct tk_tensor *t, struct tk_abi_error *err)
{
	const struct plan *p = plan;
	const struct tk_gemm *g = p->gemm;
	const int64_t rows = (g->m + p->tile_m - 1) / p->tile_m,
	              columns = (g->n + p->tile_n - 1) / p->tile_n, tiles = rows * columns;
	(void)set;
	(void)err;
#pragma omp parallel for schedule(dynamic)
	for (int64_t i = 0; i < g->batch * tiles; i++) {
		const int64_t batch = i / tiles, tile = i % tiles;
		run_tile(p, (const float *)t[TK_T_A].data + batch * g->m * g->k,
		        (const float *)t[TK_T_B].data + batch * g->k * g->n,
		        (float *)t[TK_T_C].data + batch * g->m * g->n, tile / columns * p->tile_m,
		        tile % columns * p->tile_n);
	}
	return TK_ABI_OK;
}

const struct tk_library tk_library = {.name = "libxsmm",
        .description = "GEMM from kernels that LIBXSMM generates for tiles",
        .operations = TK_OPERATION_GEMM,
        .version = version,
        .set_threads = set_threads,
        .check = check,
        .configs = configs,
        .prepare = prepare,
        .release = release,
        .run = run};
