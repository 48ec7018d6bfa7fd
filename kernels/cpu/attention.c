/* Tiled attention, forward: O = softmax(scale Q K^T + mask) V without ever holding Q K^T
 * (FlashAttention, arXiv 2205.14135).
 *
 * A block of queries walks over the keys, panel by panel. It keeps, for each query, the largest
 * score so far, the sum of the exponentials relative to it and the output so far; when a larger
 * score comes, sum and output are shrunk by exp(old - new). The memory needed is O(S), not O(S^2),
 * and everything that is touched often stays in L1 and L2.
 *
 * Query heads that share keys and values (GQA) are stacked: a block is `block` pairs (query, head
 * of the group), so that a panel of keys that is in the cache serves the whole group, and decoding
 * (one query) still fills the vectors.
 *
 * Tasks are blocks of queries; a free thread takes the next one, the longest (the last queries of a
 * causal mask) first. A row is computed by one thread in one order: equal inputs give equal
 * bits. */
#include "attention.h"
#include <stdlib.h>
#include <string.h>

struct tiling {
	const char *name;
	int64_t block, width;
};

/* Queries per block, keys per panel. The scores, block x width x 4 bytes, should fit into L2
 * together with the output. */
static const struct tiling tilings[] = {
        {"q96_k64", 96, 64},
        {"q192_k64", 192, 64},
        {"q96_k128", 96, 128},
        {"q384_k64", 384, 64},
};
enum { TILINGS = sizeof(tilings) / sizeof(tilings[0]) };

const char *const tk_cpu_attention_tilings[] = {
        "q96_k64", "q192_k64", "q96_k128", "q384_k64", NULL};

static const struct tiling *tiling_find(const char *name)
{
	if (!name || !*name)
		return &tilings[0];
	for (size_t i = 0; i < TILINGS; i++)
		if (strcmp(tilings[i].name, name) == 0)
			return &tilings[i];
	return NULL;
}

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Use smaller blocks if there would be fewer than two tasks per thread. */
static int64_t choose_block(const struct tk_cpu_shape *s, const struct tk_cpu_isa *isa,
        int64_t wanted, uint32_t threads)
{
	int64_t rows = s->sq * s->group, heads = s->b * s->hkv;
	int64_t tasks_a_head = (2 * (int64_t)threads + heads - 1) / heads;
	int64_t fair = (rows + tasks_a_head - 1) / tasks_a_head;
	return tk_cpu_round_up(min64(wanted, threads > 1 ? fair : rows), isa->f32.nr);
}

int tk_cpu_attention_init(struct tk_cpu_attention *x, const struct tk_attention *a,
        const struct tk_cpu_isa *isa, const char *tiling, uint32_t threads)
{
	const struct tiling *t = tiling_find(tiling);
	if (!t)
		return TK_ABI_INVALID;
	memset(x, 0, sizeof(*x));
	x->shape = (struct tk_cpu_shape){.b = a->b,
	        .h = a->h,
	        .hkv = a->hkv,
	        .sq = a->sq,
	        .skv = a->skv,
	        .d = a->d,
	        .dv = a->dv,
	        .group = a->h / a->hkv,
	        .dtype = a->dtype,
	        .causal = a->causal,
	        .scale = (float)a->scale};
	x->isa = isa;
	x->tiling = t->name;
	x->threads = threads;
	x->block = choose_block(&x->shape, isa, t->block, threads);
	x->rows = calloc(threads, sizeof(*x->rows));
	int status = x->rows ? tk_cpu_kv_init(&x->kv, &x->shape, isa, t->width, threads)
	                     : TK_ABI_NO_MEMORY;
	for (uint32_t i = 0; status == TK_ABI_OK && i < threads; i++)
		status = tk_cpu_rows_init(&x->rows[i], x->block, &x->kv, a->d);
	if (status)
		tk_cpu_attention_free(x);
	return status;
}

void tk_cpu_attention_free(struct tk_cpu_attention *x)
{
	for (uint32_t i = 0; x->rows && i < x->threads; i++)
		tk_cpu_rows_free(&x->rows[i]);
	free(x->rows);
	free(x->kv.memory);
	x->rows = NULL;
	x->kv.memory = NULL;
}

size_t tk_cpu_attention_workspace(const struct tk_cpu_attention *x)
{
	return (size_t)(x->kv.heads * x->kv.head_floats) * sizeof(float) +
	       x->threads * tk_cpu_rows_bytes(&x->rows[0]);
}

struct launch {
	const struct tk_cpu_attention *x;
	const char *q;
	char *o;
	float *lse;
	int64_t first_head, blocks; /* of this round; blocks of queries in a head */
};

/* Row `row` of the stack of a kv head is query row / group, head row % group of the group. */
struct place {
	int64_t token, query, head;
};

static struct place place_of(const struct tk_cpu_shape *s, int64_t kv_head, int64_t row)
{
	int64_t batch = kv_head / s->hkv, query = row / s->group;
	return (struct place){.token = batch * s->sq + query,
	        .query = query,
	        .head = kv_head % s->hkv * s->group + row % s->group};
}

static void load_block(
        const struct launch *l, struct tk_cpu_rows *r, int64_t kv_head, int64_t row0, int64_t row1)
{
	const struct tk_cpu_shape *s = &l->x->shape;
	tk_cpu_rows_reset(r);
	for (int64_t row = row0; row < row1; row++) {
		struct place at = place_of(s, kv_head, row);
		size_t offset =
		        (size_t)((at.token * s->h + at.head) * s->d) * tk_cpu_dtype_bytes(s->dtype);
		tk_cpu_rows_load_query(r, l->x->isa, row - row0, l->q + offset, s->dtype);
		int64_t seen = s->causal ? at.query + 1 + s->skv - s->sq : s->skv;
		r->seen[row - row0] = seen < 0 ? 0 : min64(seen, s->skv);
	}
}

static void store_block(
        const struct launch *l, struct tk_cpu_rows *r, int64_t kv_head, int64_t row0, int64_t row1)
{
	const struct tk_cpu_shape *s = &l->x->shape;
	for (int64_t row = row0; row < row1; row++) {
		int64_t c = row - row0;
		struct place at = place_of(s, kv_head, row);
		size_t offset = (size_t)((at.token * s->h + at.head) * s->dv) *
		                tk_cpu_dtype_bytes(s->dtype);
		tk_cpu_rows_finish(r, l->x->isa, c);
		l->x->isa->narrow(l->o + offset, r->o + c * r->dvp, s->dv, s->dtype);
		if (l->lse)
			l->lse[(kv_head / s->hkv * s->h + at.head) * s->sq + at.query] =
			        tk_cpu_rows_lse(r, c);
	}
}

static void run_block(void *arg, uint32_t thread, int64_t index)
{
	const struct launch *l = arg;
	const struct tk_cpu_attention *x = l->x;
	struct tk_cpu_rows *r = &x->rows[thread];
	int64_t slots = x->shape.sq * x->shape.group;
	int64_t slot = index / l->blocks, block = l->blocks - 1 - index % l->blocks;
	int64_t row0 = block * x->block, row1 = min64(row0 + x->block, slots);
	load_block(l, r, l->first_head + slot, row0, row1);
	int64_t keys = r->seen[row1 - row0 - 1]; /* the last row sees most */
	for (int64_t key = 0; key < keys; key += x->kv.width)
		tk_cpu_rows_attend(r, x->isa, &x->kv, slot, key, min64(key + x->kv.width, keys),
		        x->shape.scale);
	store_block(l, r, l->first_head + slot, row0, row1);
}

void tk_cpu_attention_run(const struct tk_cpu_attention *x, struct tk_cpu_pool *pool, const void *q,
        const void *k, const void *v, void *o, float *lse)
{
	const struct tk_cpu_shape *s = &x->shape;
	struct launch l = {.x = x,
	        .q = q,
	        .o = o,
	        .lse = lse,
	        .blocks = (s->sq * s->group + x->block - 1) / x->block};
	for (int64_t head = 0; head < s->b * s->hkv; head += x->kv.heads) {
		int64_t heads = min64(x->kv.heads, s->b * s->hkv - head);
		l.first_head = head;
		tk_cpu_kv_fill(&x->kv, s, x->isa, pool, x->threads, head, heads, k, v);
		tk_cpu_pool_run_tasks(pool, x->threads, heads * l.blocks, run_block, &l);
	}
}
