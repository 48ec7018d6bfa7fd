/* GEMM and attention by ggml's graphs on the CPU. ggml multiplies by rows of a matrix stored n x k;
 * where the problem stores B k x n, bind() transposes it once, as a model's file does with weights.
 * Results of ggml are f32; others are converted by a node of the graph, which is timed too. */
#include "library.h"
#include <ggml.h>
#ifdef GGML_HAS_CPU_HEADER
#include <ggml-cpu.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 32

static int threads = 1;

/* One graph for all input sets: a launch puts their addresses into it. */
struct plan {
	const struct tk_problem *problem;
	struct ggml_context *ctx;
	struct ggml_cgraph *graph;
	struct ggml_cplan cplan;
	struct ggml_tensor *input[3], *output;
	void *memory[NODES_MAX]; /* of all other tensors, of the mask, of ggml's own work */
	int count;
};

static const char *version(void)
{
#ifdef GGML_HAS_VERSION
	return ggml_version();
#else
	return "";
#endif
}

static void set_threads(uint32_t count)
{
	threads = (int)count;
}

static int check_gemm(const struct tk_gemm *g, struct tk_abi_error *err)
{
	if (g->ta)
		return tk_library_fail(err, TK_ABI_UNSUPPORTED, "not with A transposed");
	if (g->batch != 1 && !g->tb)
		return tk_library_fail(err, TK_ABI_UNSUPPORTED, "batches only with B transposed");
	return tk_library_check_gemm_types(g, 1u << TK_F32 | 1u << TK_BF16 | 1u << TK_F16, err);
}

static int check(const struct tk_problem *problem, struct tk_abi_error *err)
{
	if (problem->op == TK_OP_GEMM)
		return check_gemm(problem->gemm, err);
	return tk_library_check_attention(problem->attention, 1u << TK_F16, err);
}

static enum ggml_type type_of(uint32_t dtype)
{
	return dtype == TK_F32 ? GGML_TYPE_F32 : dtype == TK_BF16 ? GGML_TYPE_BF16 : GGML_TYPE_F16;
}

/* NULL: out of memory. */
static void *keep_memory(struct plan *p, size_t bytes)
{
	void *memory = p->count < NODES_MAX ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
	if (memory)
		p->memory[p->count++] = memory;
	return memory;
}

static void release(void *plan)
{
	struct plan *p = plan;
	for (int i = 0; i < p->count; i++)
		free(p->memory[i]);
	if (p->ctx)
		ggml_free(p->ctx);
	free(p);
}

static struct ggml_tensor *convert(struct plan *p, struct ggml_tensor *t, uint32_t dtype)
{
	return t->type == type_of(dtype) ? t : ggml_cast(p->ctx, t, type_of(dtype));
}

/* ggml's first dimension is the one that varies fastest. Both stored with k last. */
static struct ggml_tensor *add_gemm(struct plan *p, const struct tk_gemm *g)
{
	p->input[TK_T_A] = ggml_new_tensor_3d(p->ctx, type_of(g->a), g->k, g->m, g->batch);
	p->input[TK_T_B] = ggml_new_tensor_3d(p->ctx, type_of(g->b), g->k, g->n, g->batch);
	return convert(p, ggml_mul_mat(p->ctx, p->input[TK_T_B], p->input[TK_T_A]), g->c);
}

/* 0 where query i sees key j, -infinity elsewhere; older versions want whole blocks of 64 rows. */
static struct ggml_tensor *causal_mask(struct plan *p, const struct tk_attention *a)
{
	const int64_t rows = (a->sq + 63) / 64 * 64;
	uint16_t *mask = keep_memory(p, (size_t)(rows * a->skv) * sizeof *mask);
	for (int64_t i = 0; mask && i < rows; i++)
		for (int64_t j = 0; j < a->skv; j++)
			mask[i * a->skv + j] = j <= i + a->skv - a->sq ? 0 : 0xfc00;
	struct ggml_tensor *t = ggml_new_tensor_2d(p->ctx, GGML_TYPE_F16, a->skv, rows);
	t->data = mask;
	return mask ? t : NULL;
}

/* The tensor of the problem, and a view of it as ggml wants it: [b][heads][length][d]. */
static struct ggml_tensor *heads_first(struct plan *p, int index, int64_t length, int64_t heads)
{
	const struct tk_attention *a = p->problem->attention;
	p->input[index] = ggml_new_tensor_4d(p->ctx, type_of(a->dtype), a->d, heads, length, a->b);
	return ggml_permute(p->ctx, p->input[index], 0, 2, 1, 3);
}

static struct ggml_tensor *add_attention(struct plan *p, const struct tk_attention *a)
{
	struct ggml_tensor *mask = a->causal ? causal_mask(p, a) : NULL;
	if (a->causal && !mask)
		return NULL;
	struct ggml_tensor *q = convert(p, heads_first(p, TK_T_Q, a->sq, a->h), TK_F32),
	                   *k = heads_first(p, TK_T_K, a->skv, a->hkv),
	                   *v = heads_first(p, TK_T_V, a->skv, a->hkv);
	return convert(
	        p, ggml_flash_attn_ext(p->ctx, q, k, v, mask, (float)a->scale, 0, 0), a->dtype);
}

static int is_bound_later(const struct plan *p, const struct ggml_tensor *t)
{
	return t == p->input[0] || t == p->input[1] || t == p->input[2] || t == p->output;
}

/* Memory for what the graph computes on the way. */
static int give_memory(struct plan *p)
{
	struct ggml_tensor *t = ggml_get_first_tensor(p->ctx);
	for (; t; t = ggml_get_next_tensor(p->ctx, t))
		if (!t->data && !t->view_src && !is_bound_later(p, t) &&
		        !(t->data = keep_memory(p, ggml_nbytes(t))))
			return 0;
#ifdef GGML_HAS_CPU_HEADER
	p->cplan = ggml_graph_plan(p->graph, threads, NULL);
#else
	p->cplan = ggml_graph_plan(p->graph, threads);
#endif
	return !p->cplan.work_size || (p->cplan.work_data = keep_memory(p, p->cplan.work_size));
}

static int build_graph(struct plan *p)
{
	const struct ggml_init_params params = {
	        .mem_size = NODES_MAX * ggml_tensor_overhead() + ggml_graph_overhead() + 4096,
	        .no_alloc = true};
	if (!(p->ctx = ggml_init(params)))
		return 0;
	p->output = p->problem->op == TK_OP_GEMM ? add_gemm(p, p->problem->gemm)
	                                         : add_attention(p, p->problem->attention);
	if (!p->output)
		return 0;
	p->graph = ggml_new_graph(p->ctx);
	ggml_build_forward_expand(p->graph, p->output);
	return give_memory(p);
}

static int prepare(const struct tk_problem *problem, const char *config, void **out,
        struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct plan *p = calloc(1, sizeof *p);
	(void)config;
	if (p)
		p->problem = problem;
	if (!p || !build_graph(p)) {
		if (p)
			release(p);
		return tk_library_fail(err, TK_ABI_NO_MEMORY, "out of memory");
	}
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        problem->op == TK_OP_GEMM ? "ggml_mul_mat" : "ggml_flash_attn_ext");
	info->workspace_bytes = p->cplan.work_size;
	*out = p;
	return TK_ABI_OK;
}

/* k x n to n x k, in blocks that stay in the cache. */
static void transpose(char *to, const char *from, int64_t k, int64_t n, size_t bytes)
{
	const int64_t block = 32;
	for (int64_t i0 = 0; i0 < k; i0 += block)
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = i0; i < k && i < i0 + block; i++)
				memcpy(to + (size_t)(j * k + i) * bytes,
				        from + (size_t)(i * n + j) * bytes, bytes);
}

/* The set is B with k last where the problem stores it otherwise, else NULL. */
static int bind(void *plan, const struct tk_tensor *t, void **out, struct tk_abi_error *err)
{
	const struct tk_problem *problem = ((struct plan *)plan)->problem;
	*out = NULL;
	if (problem->op != TK_OP_GEMM || problem->gemm->tb)
		return TK_ABI_OK;
	if (!(*out = aligned_alloc(64, (t[TK_T_B].bytes + 63) / 64 * 64)))
		return tk_library_fail(err, TK_ABI_NO_MEMORY, "out of memory");
	transpose(*out, t[TK_T_B].data, problem->gemm->k, problem->gemm->n,
	        tk_library_type_bytes(problem->gemm->b));
	return TK_ABI_OK;
}

static void unbind(void *transposed)
{
	free(transposed);
}

static void put_addresses(struct plan *p, void *transposed, const struct tk_tensor *t)
{
	const int gemm = p->problem->op == TK_OP_GEMM;
	struct ggml_tensor *node;
	for (int i = 0; i < (gemm ? 2 : 3); i++)
		p->input[i]->data = t[i].data;
	if (transposed)
		p->input[TK_T_B]->data = transposed;
	p->output->data = t[gemm ? TK_T_C : TK_T_O].data;
	for (node = ggml_get_first_tensor(p->ctx); node; node = ggml_get_next_tensor(p->ctx, node))
		if (node->view_src && node != p->output)
			node->data = (char *)node->view_src->data + node->view_offs;
}

static int run(void *plan, void *set, const struct tk_tensor *t, struct tk_abi_error *err)
{
	struct plan *p = plan;
	put_addresses(p, set, t);
	if (ggml_graph_compute(p->graph, &p->cplan) != GGML_STATUS_SUCCESS)
		return tk_library_fail(err, TK_ABI_DEVICE, "ggml_graph_compute failed");
	return TK_ABI_OK;
}

const struct tk_library tk_library = {.name = "ggml",
        .description = "GEMM and attention by ggml's operations",
        .operations = TK_OPERATION_GEMM | TK_OPERATION_ATTENTION,
        .version = version,
        .set_threads = set_threads,
        .check = check,
        .prepare = prepare,
        .release = release,
        .bind = bind,
        .unbind = unbind,
        .run = run};
