/* The driver of GEMM: five loops around the micro-kernel, after Goto and van de Geijn (TOMS 34(3),
 * 2008) and BLIS (Van Zee and van de Geijn, TOMS 41(3), 2015).
 *
 * A multiply-add needs two operands, a core can do dozens of them in a cycle, and memory delivers a
 * fraction of a number in that time: every number that is loaded must be used many times before it
 * is replaced. So each level of the memory holds one block that is reused by the loop around it:
 *
 *   registers   an mr x nr tile of C                        for all of k in the block
 *   L1          a panel of A, mr x kc                       while the panels of B stream by
 *   L2          a block of B, kc x nc, packed               while the panels of A change
 *   L3          a block of A, mc x kc, packed               while the blocks of B change
 *
 * The paper stores matrices by columns; ours are stored by rows, so that everything is mirrored:
 * A there is B here. "Packed" means copied into the order in which the
 * micro-kernel reads it: unit stride, no TLB misses, any transposition and any 16-bit type undone
 * on the way. Packing costs O(mk + kn), computing O(mnk).
 *
 * Threads: C is cut into one rectangle a thread (or whole matrices of the batch), and each thread
 * runs all the loops on its own. Nothing is shared, every element of C is summed by one thread in
 * one order: equal inputs give equal bits with any number of threads. The price is that a panel of
 * B is packed by every thread of a column of rectangles. */
#include "gemm.h"
#include "tracker_space.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blocking {
	const char *name;
	int64_t mc, kc, nc;
};

/* kc * 4 bytes * mr should be about a third of L1, kc * nc * 4 bytes about half of L2. */
static const struct blocking blockings[] = {
        {"mc3072_kc384_nc384", 3072, 384, 384},
        {"mc3072_kc256_nc512", 3072, 256, 512},
        {"mc1536_kc512_nc256", 1536, 512, 256},
        {"mc3072_kc256_nc128", 3072, 256, 128},
        {"mc768_kc128_nc1024", 768, 128, 1024},
};
enum { BLOCKINGS = sizeof(blockings) / sizeof(blockings[0]) };

const char *const tk_cpu_gemm_blockings[] = {"mc3072_kc384_nc384", "mc3072_kc256_nc512",
        "mc1536_kc512_nc256", "mc3072_kc256_nc128", "mc768_kc128_nc1024", NULL};

static const int64_t mc_values[] = {96, 192, 384, 768, 1536, 3072},
                     kc_values[] = {64, 96, 128, 192, 256, 384, 512, 768},
                     nc_values[] = {64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048},
                     best_values[] = {3072, 384, 384};
static const struct tk_parameter parameters[] = {
        TK_PARAMETER(mc), TK_PARAMETER(kc), TK_PARAMETER(nc)};

#define B_BLOCK_BYTES_MAX (2 << 20)
#define A_BLOCK_BYTES_MAX (8 << 20)

/* Whether a value is the same block as a smaller one: the whole problem. */
static int is_beyond(const struct tk_parameter *p, int64_t value, int64_t size)
{
	for (uint32_t i = 0; i < p->count && p->values[i] < value; i++)
		if (p->values[i] >= size)
			return 1;
	return 0;
}

static int allows_blocking(const struct tk_gemm *g, const int64_t *values)
{
	const int64_t mc = values[0], kc = values[1], nc = values[2], size[] = {g->m, g->k, g->n};
	if (!memcmp(values, best_values, sizeof best_values))
		return 1;
	for (int i = 0; i < 3; i++)
		if (is_beyond(&parameters[i], values[i], size[i]))
			return 0;
	return kc * nc * 4 <= B_BLOCK_BYTES_MAX && mc * kc * 4 <= A_BLOCK_BYTES_MAX;
}

static int allows(struct tk_backend_ctx *ctx, const struct tk_problem *p, const int64_t *values)
{
	return allows_blocking(p->gemm, values);
}

const struct tk_space tk_cpu_gemm_space = {.size = sizeof tk_cpu_gemm_space,
        .count = 3,
        .parameters = parameters,
        .best = best_values,
        .allows = allows};

/* 0: there is no such blocking. */
static int find_blocking(const char *name, const struct tk_gemm *g, struct blocking *out)
{
	int64_t values[3];
	*out = blockings[0];
	if (!name || !*name)
		return 1;
	if (tk_space_parse(&tk_cpu_gemm_space, name, values)) {
		*out = (struct blocking){name, values[0], values[1], values[2]};
		return allows_blocking(g, values);
	}
	for (size_t i = 0; i < BLOCKINGS; i++)
		if (strcmp(blockings[i].name, name) == 0) {
			*out = blockings[i];
			return 1;
		}
	return 0;
}

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- how the work is cut ---- */

/* Cuts m x n into `parts` rectangles with the smallest sum of sides, which is what packing
 * costs. */
static void cut(struct tk_cpu_gemm *x, int64_t parts)
{
	double best = 0;
	for (int64_t rows = 1; rows <= parts; rows++) {
		if (parts % rows)
			continue;
		double cost =
		        (double)x->g->m / (double)rows + (double)x->g->n / (double)(parts / rows);
		if (rows == 1 || cost < best) {
			best = cost;
			x->row_parts = rows;
			x->column_parts = parts / rows;
		}
	}
}

/* A megaflop a thread at least: waking one costs microseconds. */
static uint32_t useful_threads(const struct tk_gemm *g, uint32_t threads)
{
	double useful = 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch / 1e6;
	return useful < 1 ? 1 : useful < threads ? (uint32_t)useful : threads;
}

/* Part `i` of `parts` of n lines, cut at multiples of `unit`. */
static void range(int64_t i, int64_t parts, int64_t n, int64_t unit, int64_t *begin, int64_t *end)
{
	int64_t units = (n + unit - 1) / unit;
	*begin = min64(n, units * i / parts * unit);
	*end = min64(n, units * (i + 1) / parts * unit);
}

static int64_t widest(int64_t parts, int64_t n, int64_t unit)
{
	int64_t units = (n + unit - 1) / unit;
	return (units + parts - 1) / parts * unit;
}

static void choose_sizes(struct tk_cpu_gemm *x, const struct blocking *b)
{
	const struct tk_gemm *g = x->g;
	const int mr = x->engine->mr, nr = x->engine->nr;
	int64_t rows = widest(x->row_parts, g->m, mr), columns = widest(x->column_parts, g->n, nr);
	snprintf(x->blocking, sizeof x->blocking, "%s", b->name);
	x->mc = min64(tk_cpu_round_up(b->mc, mr), rows);
	x->nc = min64(tk_cpu_round_up(b->nc, nr), columns);
	x->kc = min64(b->kc * x->engine->k_unit, tk_cpu_round_up(g->k, x->engine->k_unit));
	x->a_floats = (size_t)(x->mc * (x->kc / x->engine->k_unit));
	x->b_floats = (size_t)(x->nc * (x->kc / x->engine->k_unit));
	x->c_floats = g->c == TK_F32 ? 0 : (size_t)(x->mc * columns);
}

int tk_cpu_gemm_init(struct tk_cpu_gemm *x, const struct tk_problem *p,
        const struct tk_cpu_isa *isa, const char *blocking, uint32_t threads)
{
	const struct tk_gemm *g = p->gemm;
	const int64_t pad = tk_problem_row_padding(p);
	struct blocking b;
	const struct tk_cpu_gemm_isa *pairs =
	        g->a == TK_BF16 && g->b == TK_BF16 ? tk_cpu_isa_bf16(isa) : NULL;
	if (!find_blocking(blocking, g, &b))
		return TK_ABI_INVALID;
	memset(x, 0, sizeof(*x));
	x->g = g;
	x->lda = (g->ta ? g->m : g->k) + pad;
	x->ldb = (g->tb ? g->k : g->n) + pad;
	x->ldc = g->n + pad;
	x->isa = isa;
	x->engine = pairs ? pairs : &isa->f32;
	x->threads = useful_threads(g, threads);
	cut(x, g->batch >= x->threads ? 1 : (x->threads + g->batch - 1) / g->batch);
	choose_sizes(x, &b);
	x->work = aligned_alloc(64, (size_t)tk_cpu_round_up((int64_t)tk_cpu_gemm_workspace(x), 64));
	return x->work ? TK_ABI_OK : TK_ABI_NO_MEMORY;
}

void tk_cpu_gemm_free(struct tk_cpu_gemm *x)
{
	free(x->work);
	x->work = NULL;
}

/* Every part begins at a cache line. */
static size_t thread_floats(const struct tk_cpu_gemm *x)
{
	return (size_t)tk_cpu_round_up((int64_t)x->a_floats, 16) +
	       (size_t)tk_cpu_round_up((int64_t)x->b_floats, 16) +
	       (size_t)tk_cpu_round_up((int64_t)x->c_floats, 16);
}

size_t tk_cpu_gemm_workspace(const struct tk_cpu_gemm *x)
{
	return thread_floats(x) * x->threads * sizeof(float);
}

/* ---- the loops ---- */

/* The input of one task. Element (i, p) of A is at a + i * a_row + p * a_step, element (p, j) of
 * B at b + p * b_step + j * b_column. */
struct task {
	const struct tk_cpu_gemm *x;
	const char *a, *b;
	char *c;
	int64_t a_row, a_step, b_column, b_step;
	float *pa, *pb, *pc; /* workspace: packed A, packed B, sums of C where C is not f32 */
	int64_t row0, row1, column0, column1; /* rectangle of C */
	int direct; /* B is read where it lies: too few rows to make packing worthwhile */
};

static const char *element(const char *base, int64_t index, uint32_t dtype)
{
	return base + (size_t)index * tk_cpu_dtype_bytes(dtype);
}

/* Where the sums of C[i][j] go: C itself or, for 16-bit results, the workspace (rows of the block,
 * whole columns of the rectangle). */
static float *sums(const struct task *t, int64_t row_in_block, int64_t i, int64_t j, int64_t *ld)
{
	if (t->x->g->c == TK_F32) {
		*ld = t->x->ldc;
		return (float *)(void *)t->c + i * *ld + j;
	}
	*ld = tk_cpu_round_up(t->column1 - t->column0, t->x->engine->nr);
	return t->pc + row_in_block * *ld + (j - t->column0);
}

/* A tile at the right edge of C: computed aside, then the columns that exist are copied. */
static void edge_tile(const struct task *t, int rows, int columns, int64_t steps, const float *a,
        const float *b, float *c, int64_t ldc, int accumulate)
{
	const struct tk_cpu_gemm_isa *e = t->x->engine;
	float tile[12 * 32];
	e->tile(rows, steps, a, e->mr, b, e->nr, tile, e->nr, 0);
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			c[i * ldc + j] = accumulate ? c[i * ldc + j] + tile[i * e->nr + j]
			                            : tile[i * e->nr + j];
}

/* Loops 2 and 1: the packed block of A (mc x kc) times the block of B (kc x nc). */
static void multiply_block(const struct task *t, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
        int64_t p0, int64_t steps)
{
	const struct tk_cpu_gemm_isa *e = t->x->engine;
	const int in_f32 = t->x->g->c == TK_F32;
	for (int64_t i = i0; i < i1; i += e->mr) {
		const float *a = t->pa + (i - i0) * steps;
		int rows = (int)min64(e->mr, i1 - i);
		for (int64_t j = j0; j < j1; j += e->nr) {
			int columns = (int)min64(e->nr, j1 - j);
			int64_t ldc;
			float *c = sums(t, i - i0, i, j, &ldc);
			const float *b = t->pb + (j - j0) * steps;
			if (columns < e->nr && in_f32)
				edge_tile(t, rows, columns, steps, a, b, c, ldc, p0 > 0);
			else if (t->direct && columns == e->nr)
				e->tile(rows, steps, a, e->mr,
				        (const float *)(const void *)t->b + p0 * t->b_step + j,
				        t->b_step, c, ldc, p0 > 0);
			else
				e->tile(rows, steps, a, e->mr, b, e->nr, c, ldc, p0 > 0);
		}
	}
}

static void pack_b(const struct task *t, int64_t j0, int64_t j1, int64_t p0, int64_t k)
{
	const struct tk_cpu_gemm_isa *e = t->x->engine;
	const uint32_t dtype = t->x->g->b;
	int64_t from = t->direct ? j0 + (j1 - j0) / e->nr * e->nr
	                         : j0; /* direct: only the panel that is cut off */
	if (from < j1)
		e->pack(t->pb + (from - j0) * ((k + e->k_unit - 1) / e->k_unit), e->nr, j1 - from,
		        k, element(t->b, from * t->b_column + p0 * t->b_step, dtype), t->b_column,
		        t->b_step, dtype);
}

static void narrow_rows(const struct task *t, int64_t i0, int64_t i1)
{
	const struct tk_gemm *g = t->x->g;
	for (int64_t i = i0; i < i1; i++) {
		int64_t ld;
		const float *from = sums(t, i - i0, i, t->column0, &ld);
		t->x->isa->narrow(
		        t->c + (size_t)(i * t->x->ldc + t->column0) * tk_cpu_dtype_bytes(g->c),
		        from, t->column1 - t->column0, g->c);
	}
}

/* Loops 5, 4 and 3: blocks of A, steps of k, blocks of B. */
static void multiply_rectangle(const struct task *t)
{
	const struct tk_cpu_gemm *x = t->x;
	const struct tk_cpu_gemm_isa *e = x->engine;
	for (int64_t i0 = t->row0; i0 < t->row1; i0 += x->mc) {
		int64_t i1 = min64(i0 + x->mc, t->row1);
		for (int64_t p0 = 0; p0 < x->g->k; p0 += x->kc) {
			int64_t k = min64(x->kc, x->g->k - p0),
			        steps = (k + e->k_unit - 1) / e->k_unit;
			e->pack(t->pa, e->mr, i1 - i0, k,
			        element(t->a, i0 * t->a_row + p0 * t->a_step, x->g->a), t->a_row,
			        t->a_step, x->g->a);
			for (int64_t j0 = t->column0; j0 < t->column1; j0 += x->nc) {
				int64_t j1 = min64(j0 + x->nc, t->column1);
				pack_b(t, j0, j1, p0, k);
				multiply_block(t, i0, i1, j0, j1, p0, steps);
			}
		}
		if (x->g->c != TK_F32)
			narrow_rows(t, i0, i1);
	}
}

struct launch {
	const struct tk_cpu_gemm *x;
	const void *a, *b;
	void *c;
};

static void run_task(void *arg, uint32_t thread, int64_t index)
{
	const struct launch *l = arg;
	const struct tk_cpu_gemm *x = l->x;
	const struct tk_gemm *g = x->g;
	int64_t parts = x->row_parts * x->column_parts, matrix = index / parts,
	        part = index % parts;
	struct task t = {.x = x,
	        .a = element(l->a, matrix * (g->ta ? g->k : g->m) * x->lda, g->a),
	        .b = element(l->b, matrix * (g->tb ? g->n : g->k) * x->ldb, g->b),
	        .c = (char *)l->c + (size_t)(matrix * g->m * x->ldc) * tk_cpu_dtype_bytes(g->c),
	        .a_row = g->ta ? 1 : x->lda,
	        .a_step = g->ta ? x->lda : 1,
	        .b_column = g->tb ? x->ldb : 1,
	        .b_step = g->tb ? 1 : x->ldb};
	t.pa = x->work + thread * thread_floats(x);
	t.pb = t.pa + tk_cpu_round_up((int64_t)x->a_floats, 16);
	t.pc = t.pb + tk_cpu_round_up((int64_t)x->b_floats, 16);
	range(part / x->column_parts, x->row_parts, g->m, x->engine->mr, &t.row0, &t.row1);
	range(part % x->column_parts, x->column_parts, g->n, x->engine->nr, &t.column0, &t.column1);
	t.direct = g->b == TK_F32 && !g->tb && t.row1 - t.row0 <= 2 * x->engine->mr;
	multiply_rectangle(&t);
}

void tk_cpu_gemm_run(const struct tk_cpu_gemm *x, struct tk_cpu_pool *pool, const void *a,
        const void *b, void *c)
{
	struct launch l = {x, a, b, c};
	tk_cpu_pool_run_tasks(
	        pool, x->threads, x->g->batch * x->row_parts * x->column_parts, run_task, &l);
}
