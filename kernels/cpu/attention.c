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

/* Use smaller blocks if there would be fewer than two tasks per thread. */
static int64_t choose_block(const struct tk_cpu_shape *s, const struct tk_cpu_isa *isa,
        int64_t wanted, uint32_t threads)
{
	int64_t rows = s->sq * s->group, heads = s->b * s->hkv;
	int64_t tasks_a_head = (2 * (int64_t)threads + heads - 1) / heads;
	int64_t fair = (rows + tasks_a_head - 1) / tasks_a_head;
	return tk_cpu_round_up(min64(wanted, threads > 1 ? fair : rows), isa->f32.nr);
}

/* Allocates what a call of this shape needs. */
static int start(struct tk_cpu_attention *x, const struct tk_cpu_isa *isa, int64_t width,
        int64_t columns, uint32_t threads)
{
	x->isa = isa;
	x->threads = threads;
	x->rows = calloc(threads, sizeof(*x->rows));
	int status =
	        x->rows ? tk_cpu_kv_init(&x->kv, &x->shape, isa, width, threads) : TK_ABI_NO_MEMORY;
	for (uint32_t i = 0; status == TK_ABI_OK && i < threads; i++)
		status = tk_cpu_rows_init(&x->rows[i], columns, &x->kv, x->shape.d);
	if (status)
		tk_cpu_attention_free(x);
	return status;
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
	x->tiling = t->name;
	x->block = choose_block(&x->shape, isa, t->block, threads);
	return start(x, isa, t->width, x->block, threads);
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

/* ---- sparse ---- */

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

enum { KEYS = 64, QUERIES = 16 }; /* keys in a panel, queries in a task */

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
	const int64_t group = n->h / n->hkv;
	memset(x, 0, sizeof(*x));
	x->n = n;
	x->attention.shape = (struct tk_cpu_shape){.b = n->b,
	        .h = n->h,
	        .hkv = n->hkv,
	        .sq = n->s,
	        .skv = n->s,
	        .d = n->d,
	        .dv = n->d,
	        .group = group,
	        .dtype = n->dtype,
	        .causal = n->causal,
	        .scale = (float)n->scale};
	isa = fitting(isa, group);
	x->both = calloc((size_t)threads * (size_t)(group * n->d), sizeof(*x->both));
	int status = x->both ? start(&x->attention, isa, KEYS, tk_cpu_round_up(group, isa->f32.nr),
	                               threads)
	                     : TK_ABI_NO_MEMORY;
	if (status)
		tk_cpu_nsa_free(x);
	return status;
}

void tk_cpu_nsa_free(struct tk_cpu_nsa *x)
{
	tk_cpu_attention_free(&x->attention);
	free(x->both);
	x->both = NULL;
}

size_t tk_cpu_nsa_workspace(const struct tk_cpu_nsa *x)
{
	const struct tk_cpu_attention *a = &x->attention;
	return tk_cpu_attention_workspace(a) +
	       a->threads * (size_t)(a->shape.group * x->n->d) * sizeof(float);
}

struct sparse_launch {
	const struct tk_cpu_nsa *sparse;
	const struct tk_cpu_attention *x; /* of it */
	const char *q;
	char *o;
	const int32_t *blocks;
	int64_t first_head, chunks; /* of this round; chunks of queries in a head */
};

/* Processes the keys begin .. end-1, which may span several panels. */
static void look(const struct sparse_launch *l, struct tk_cpu_rows *r, int64_t slot, int64_t begin,
        int64_t end)
{
	for (int64_t next; begin < end; begin = next) {
		next = min64((begin / KEYS + 1) * KEYS, end);
		tk_cpu_rows_attend(r, l->x->isa, &l->x->kv, slot, begin, next, l->x->shape.scale);
	}
}

/* Adds the finished output of a branch to `both` and makes the rows ready for the next. */
static void take(const struct sparse_launch *l, struct tk_cpu_rows *r, float *both)
{
	const struct tk_cpu_shape *s = &l->x->shape;
	for (int64_t c = 0; c < s->group; c++) {
		tk_cpu_rows_finish(r, l->x->isa, c);
		for (int64_t i = 0; i < s->d; i++)
			both[c * s->d + i] += r->o[c * r->dvp + i];
	}
	tk_cpu_rows_clear_sums(r);
}

static void run_query(const struct sparse_launch *l, struct tk_cpu_rows *r, float *both,
        int64_t slot, int64_t query)
{
	const struct tk_cpu_shape *s = &l->x->shape;
	const struct tk_nsa *n = l->sparse->n;
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
	const struct sparse_launch *l = arg;
	const struct tk_cpu_shape *s = &l->x->shape;
	int64_t first = index % l->chunks * QUERIES;
	for (int64_t query = first; query < min64(first + QUERIES, s->sq); query++)
		run_query(l, &l->x->rows[thread], l->sparse->both + thread * s->group * s->d,
		        index / l->chunks, query);
}

void tk_cpu_nsa_run(const struct tk_cpu_nsa *x, struct tk_cpu_pool *pool, const void *q,
        const void *k, const void *v, void *o, const int32_t *blocks)
{
	const struct tk_cpu_attention *a = &x->attention;
	const struct tk_cpu_shape *s = &a->shape;
	struct sparse_launch l = {.sparse = x,
	        .x = a,
	        .q = q,
	        .o = o,
	        .blocks = blocks,
	        .chunks = (s->sq + QUERIES - 1) / QUERIES};
	for (int64_t head = 0; head < s->b * s->hkv; head += a->kv.heads) {
		int64_t heads = min64(a->kv.heads, s->b * s->hkv - head);
		l.first_head = head;
		tk_cpu_kv_fill(&a->kv, s, a->isa, pool, a->threads, head, heads, k, v);
		tk_cpu_pool_run_tasks(pool, a->threads, heads * l.chunks, run_chunk, &l);
	}
}
