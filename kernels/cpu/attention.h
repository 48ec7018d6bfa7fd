/* Attention of the backend `cpu`: the tiled forward pass, native sparse attention, and the rows
 * that both are made of. */
#ifndef TK_CPU_ATTENTION_H
#define TK_CPU_ATTENTION_H
#include "isa.h"
#include "pool.h"

static inline int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Sizes and strides of one call, in elements; tensors are [b][s][heads][d]. */
struct tk_cpu_shape {
	int64_t b, h, hkv, sq, skv, d, dv;
	int64_t group; /* query heads that share one head of keys and values */
	uint32_t dtype;
	int causal;
	float scale;
};

/* Keys and values of some heads as f32, in the order in which the micro-kernel reads them; filled
 * by tk_cpu_kv_fill(). K in panels of `width` keys, [panel][d][width]; V with rows padded to dvp
 * columns. */
struct tk_cpu_kv {
	int64_t width, panels, dvp;
	int64_t head_floats; /* of one head, K and V together */
	int64_t heads;       /* that fit into `memory` at once */
	float *memory;
};

/* Rows of Q that go through the keys together, with the state of their online softmax. `columns`:
 * queries, a multiple of nr. */
struct tk_cpu_rows {
	int64_t columns, used; /* the columns 0 .. used-1 hold a query, the others are padding */
	int64_t width, d, dvp;
	float *q;                  /* packed: [columns / nr][d][nr] */
	float *s;                  /* scores of one panel of keys: [key][column] */
	float *max, *sum, *shrink; /* one a column */
	float *o;                  /* [column][dvp] */
	int64_t *seen;             /* keys below seen[column] are visible */
};

struct tk_cpu_attention {
	struct tk_cpu_shape shape;
	const struct tk_cpu_isa *isa;
	const char *tiling; /* name of the configuration */
	uint32_t threads;
	int64_t block; /* queries x heads of the group in one task */
	struct tk_cpu_kv kv;
	struct tk_cpu_rows *rows; /* one a thread */
};

extern const char *const tk_cpu_attention_tilings[]; /* names, best guess first, ends with NULL */

int tk_cpu_attention_init(struct tk_cpu_attention *x, const struct tk_attention *a,
        const struct tk_cpu_isa *isa, const char *tiling, uint32_t threads);
void tk_cpu_attention_free(struct tk_cpu_attention *x);
size_t tk_cpu_attention_workspace(const struct tk_cpu_attention *x);
void tk_cpu_attention_run(const struct tk_cpu_attention *x, struct tk_cpu_pool *pool, const void *q,
        const void *k, const void *v, void *o, float *lse);

struct tk_cpu_nsa {
	const struct tk_nsa *n;            /* outlives this */
	struct tk_cpu_attention attention; /* shape, keys, values and rows */
	float *both;                       /* one a thread: group x d, the sum of the branches */
};

int tk_cpu_nsa_init(struct tk_cpu_nsa *x, const struct tk_nsa *n, const struct tk_cpu_isa *isa,
        uint32_t threads);
void tk_cpu_nsa_free(struct tk_cpu_nsa *x);
size_t tk_cpu_nsa_workspace(const struct tk_cpu_nsa *x);
void tk_cpu_nsa_run(const struct tk_cpu_nsa *x, struct tk_cpu_pool *pool, const void *q,
        const void *k, const void *v, void *o, const int32_t *blocks);

/* ---- rows, attention_rows.c ---- */

int tk_cpu_kv_init(struct tk_cpu_kv *kv, const struct tk_cpu_shape *shape,
        const struct tk_cpu_isa *isa, int64_t width, uint32_t threads);
/* Converts `count` heads, beginning with head `first` of all b x hkv, in parallel. */
void tk_cpu_kv_fill(const struct tk_cpu_kv *kv, const struct tk_cpu_shape *shape,
        const struct tk_cpu_isa *isa, struct tk_cpu_pool *pool, uint32_t threads, int64_t first,
        int64_t count, const void *k, const void *v);

int tk_cpu_rows_init(
        struct tk_cpu_rows *rows, int64_t columns, const struct tk_cpu_kv *kv, int64_t d);
void tk_cpu_rows_free(struct tk_cpu_rows *rows);
size_t tk_cpu_rows_bytes(const struct tk_cpu_rows *rows);
/* Clears queries and state; no column sees a key until `seen` is set. */
void tk_cpu_rows_reset(struct tk_cpu_rows *rows);
/* Clears the state; keeps the queries and `seen`. */
void tk_cpu_rows_clear_sums(struct tk_cpu_rows *rows);
/* Loads one row of Q into a column. */
void tk_cpu_rows_load_query(struct tk_cpu_rows *rows, const struct tk_cpu_isa *isa, int64_t column,
        const void *q, uint32_t dtype);
/* All columns attend to the keys begin .. end-1 of head `slot` of kv, which are in one panel. */
void tk_cpu_rows_attend(struct tk_cpu_rows *rows, const struct tk_cpu_isa *isa,
        const struct tk_cpu_kv *kv, int64_t slot, int64_t begin, int64_t end, float scale);
/* Normalizes the output of a column; zeros if it saw no key. */
void tk_cpu_rows_finish(struct tk_cpu_rows *rows, const struct tk_cpu_isa *isa, int64_t column);
/* Natural logarithm of the sum of exponentials of a column; -inf if it saw no key. */
float tk_cpu_rows_lse(const struct tk_cpu_rows *rows, int64_t column);

#endif
