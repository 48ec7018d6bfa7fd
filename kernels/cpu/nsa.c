/* Native sparse attention, forward (Yuan et al., arXiv 2502.11089, section 3.4): the branches
 * "selected blocks" and "sliding window".
 *
 * Each query has its own list of blocks of keys, so queries cannot share a block of rows as in
 * dense attention. The heads of a group can: they share keys, values and, by design of the method,
 * the list. So a block of rows is one query with all heads of its group. The keys of each listed
 * block are fetched once for all of them, and the online softmax runs over the list. The window is
 * a second, independent softmax; both outputs are added.
 *
 * Keys and values are converted to the micro-kernel's order once for all queries. A block that is
 * listed twice counts twice. */
#include "nsa.h"
#include <stdlib.h>
#include <string.h>

enum { KEYS = 64, QUERIES = 16 }; /* keys in a panel, queries in a task */

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* A group of up to 16 heads would leave half of an AVX-512 tile empty. */
static const struct tk_cpu_isa *fitting(const struct tk_cpu_isa *isa, int64_t group)
{
	const struct tk_cpu_isa *narrower =
	        isa == tk_cpu_isa_find("avx512", 6) && group <= isa->f32.nr / 2
	                ? tk_cpu_isa_find("avx2", 4)
	                : NULL;
	return narrower ? narrower : isa;
}

int tk_cpu_nsa_init(struct tk_cpu_nsa *x, const struct tk_nsa *n, const struct tk_cpu_isa *isa,
        uint32_t threads)
{
	memset(x, 0, sizeof(*x));
	x->n = n;
	x->shape = (struct tk_cpu_shape){.b = n->b,
	        .h = n->h,
	        .hkv = n->hkv,
	        .sq = n->s,
	        .skv = n->s,
	        .d = n->d,
	        .dv = n->d,
	        .group = n->h / n->hkv,
	        .dtype = n->dtype,
	        .causal = n->causal,
	        .scale = (float)n->scale};
	x->isa = fitting(isa, x->shape.group);
	x->threads = threads;
	x->rows = calloc(threads, sizeof(*x->rows));
	x->both = calloc((size_t)threads * (size_t)(x->shape.group * n->d), sizeof(*x->both));
	int status = x->rows && x->both ? tk_cpu_kv_init(&x->kv, &x->shape, x->isa, KEYS, threads)
	                                : TK_ABI_NO_MEMORY;
	for (uint32_t i = 0; status == TK_ABI_OK && i < threads; i++)
		status = tk_cpu_rows_init(
		        &x->rows[i], tk_cpu_round_up(x->shape.group, x->isa->f32.nr), &x->kv, n->d);
	if (status)
		tk_cpu_nsa_free(x);
	return status;
}

void tk_cpu_nsa_free(struct tk_cpu_nsa *x)
{
	for (uint32_t i = 0; x->rows && i < x->threads; i++)
		tk_cpu_rows_free(&x->rows[i]);
	free(x->rows);
	free(x->both);
	free(x->kv.memory);
	x->rows = NULL;
	x->both = NULL;
	x->kv.memory = NULL;
}

size_t tk_cpu_nsa_workspace(const struct tk_cpu_nsa *x)
{
	return (size_t)(x->kv.heads * x->kv.head_floats) * sizeof(float) +
	       x->threads * tk_cpu_rows_bytes(&x->rows[0]) +
	       x->threads * (size_t)(x->shape.group * x->n->d) * sizeof(float);
}

struct launch {
	const struct tk_cpu_nsa *x;
	const char *q;
	char *o;
	const int32_t *blocks;
	int64_t first_head, chunks; /* of this round; chunks of queries in a head */
};

/* Processes the keys begin .. end-1, which may span several panels. */
static void look(
        const struct launch *l, struct tk_cpu_rows *r, int64_t slot, int64_t begin, int64_t end)
{
	for (int64_t next; begin < end; begin = next) {
		next = min64((begin / KEYS + 1) * KEYS, end);
		tk_cpu_rows_attend(r, l->x->isa, &l->x->kv, slot, begin, next, l->x->shape.scale);
	}
}

/* Adds the finished output of a branch to `both` and makes the rows ready for the next. */
static void take(const struct launch *l, struct tk_cpu_rows *r, float *both)
{
	const struct tk_cpu_shape *s = &l->x->shape;
	for (int64_t c = 0; c < s->group; c++) {
		tk_cpu_rows_finish(r, l->x->isa, c);
		for (int64_t i = 0; i < s->d; i++)
			both[c * s->d + i] += r->o[c * r->dvp + i];
	}
	tk_cpu_rows_clear_sums(r);
}

static void run_query(
        const struct launch *l, struct tk_cpu_rows *r, float *both, int64_t slot, int64_t query)
{
	const struct tk_cpu_shape *s = &l->x->shape;
	const struct tk_nsa *n = l->x->n;
	int64_t kv_head = l->first_head + slot, token = kv_head / s->hkv * s->sq + query;
	int64_t row = (token * s->h + kv_head % s->hkv * s->group) * s->d,
	        end = s->causal ? query + 1 : s->skv;
	const int32_t *list = l->blocks + (token * s->hkv + kv_head % s->hkv) * n->selected_blocks;
	size_t bytes = tk_cpu_dtype_bytes(s->dtype);

	tk_cpu_rows_reset(r);
	for (int64_t c = 0; c < s->group; c++) {
		tk_cpu_rows_load_query(
		        r, l->x->isa, c, l->q + (size_t)(row + c * s->d) * bytes, s->dtype);
		r->seen[c] = s->skv; /* ranges are clipped before they are processed */
	}
	memset(both, 0, (size_t)(s->group * s->d) * sizeof(*both));
	for (int64_t i = 0; i < n->selected_blocks; i++)
		if (list[i] >= 0)
			look(l, r, slot, list[i] * n->block_size,
			        min64(((int64_t)list[i] + 1) * n->block_size, end));
	take(l, r, both);
	if (n->window > 0) {
		look(l, r, slot, query + 1 > n->window ? query + 1 - n->window : 0, query + 1);
		take(l, r, both);
	}
	l->x->isa->narrow(l->o + (size_t)row * bytes, both, s->group * s->d, s->dtype);
}

static void run_chunk(void *arg, uint32_t thread, int64_t index)
{
	const struct launch *l = arg;
	const struct tk_cpu_shape *s = &l->x->shape;
	int64_t first = index % l->chunks * QUERIES;
	for (int64_t query = first; query < min64(first + QUERIES, s->sq); query++)
		run_query(l, &l->x->rows[thread], l->x->both + thread * s->group * s->d,
		        index / l->chunks, query);
}

void tk_cpu_nsa_run(const struct tk_cpu_nsa *x, struct tk_cpu_pool *pool, const void *q,
        const void *k, const void *v, void *o, const int32_t *blocks)
{
	const struct tk_cpu_shape *s = &x->shape;
	struct launch l = {.x = x,
	        .q = q,
	        .o = o,
	        .blocks = blocks,
	        .chunks = (s->sq + QUERIES - 1) / QUERIES};
	for (int64_t head = 0; head < s->b * s->hkv; head += x->kv.heads) {
		int64_t heads = min64(x->kv.heads, s->b * s->hkv - head);
		l.first_head = head;
		tk_cpu_kv_fill(&x->kv, s, x->isa, pool, x->threads, head, heads, k, v);
		tk_cpu_pool_run_tasks(pool, x->threads, heads * l.chunks, run_chunk, &l);
	}
}
