/* What tiled attention and sparse attention have in common: keys and values in the micro-kernel's
 * order, and the processing of a panel of keys for a block of queries.
 *
 * Scores are computed transposed, S^T = K Q^T: keys are the rows of the micro-kernel's tile,
 * queries its columns. Then
 *  - the softmax runs down the keys with one query in each lane: no horizontal maximum, no
 *    horizontal sum;
 *  - S^T [key][query] already has the layout of the packed A operand of O += P V: no data is copied
 *    between the two products. */
#include "attention.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *floats_new(int64_t n)
{
	return aligned_alloc(64, (size_t)tk_cpu_round_up(n * (int64_t)sizeof(float), 64));
}

/* ---- keys and values ---- */

/* A round of heads is converted, then used: enough heads for all threads, and as many as 64 MB
 * hold. */
enum { ROUND_BYTES = 64 << 20 };

int tk_cpu_kv_init(struct tk_cpu_kv *kv, const struct tk_cpu_shape *shape,
        const struct tk_cpu_isa *isa, int64_t width, uint32_t threads)
{
	kv->width = width;
	kv->panels = (shape->skv + width - 1) / width;
	kv->dvp = tk_cpu_round_up(shape->dv, isa->f32.nr);
	kv->head_floats = kv->panels * width * (shape->d + kv->dvp);
	int64_t fit = ROUND_BYTES / (kv->head_floats * (int64_t)sizeof(float));
	kv->heads = min64(fit > threads ? fit : threads, shape->b * shape->hkv);
	kv->memory = floats_new(kv->heads * kv->head_floats);
	return kv->memory ? TK_ABI_OK : TK_ABI_NO_MEMORY;
}

struct fill {
	const struct tk_cpu_kv *kv;
	const struct tk_cpu_shape *shape;
	const struct tk_cpu_isa *isa;
	int64_t first;
	const char *k, *v;
};

static void fill_panel(void *arg, uint32_t thread, int64_t index)
{
	const struct fill *f = arg;
	const struct tk_cpu_shape *s = f->shape;
	const struct tk_cpu_kv *kv = f->kv;
	int64_t slot = index / kv->panels, panel = index % kv->panels, head = f->first + slot;
	int64_t key = panel * kv->width, keys = min64(kv->width, s->skv - key);
	int64_t token = head / s->hkv * s->skv + key; /* of the first key, over all batches */
	size_t bytes = tk_cpu_dtype_bytes(s->dtype);
	float *to_k = kv->memory + slot * kv->head_floats + key * s->d;
	float *to_v =
	        kv->memory + slot * kv->head_floats + kv->panels * kv->width * s->d + key * kv->dvp;

	f->isa->f32.pack(to_k, (int)kv->width, keys, s->d,
	        f->k + (size_t)((token * s->hkv + head % s->hkv) * s->d) * bytes, s->hkv * s->d, 1,
	        s->dtype);
	for (int64_t i = 0; i < keys; i++, to_v += kv->dvp) {
		f->isa->widen(to_v,
		        f->v + (size_t)(((token + i) * s->hkv + head % s->hkv) * s->dv) * bytes,
		        s->dv, s->dtype);
		memset(to_v + s->dv, 0, (size_t)(kv->dvp - s->dv) * sizeof(*to_v));
	}
}

void tk_cpu_kv_fill(const struct tk_cpu_kv *kv, const struct tk_cpu_shape *shape,
        const struct tk_cpu_isa *isa, struct tk_cpu_pool *pool, uint32_t threads, int64_t first,
        int64_t count, const void *k, const void *v)
{
	struct fill f = {kv, shape, isa, first, k, v};
	tk_cpu_pool_run_tasks(pool, threads, count * kv->panels, fill_panel, &f);
}

/* ---- queries ---- */

int tk_cpu_rows_init(struct tk_cpu_rows *r, int64_t columns, const struct tk_cpu_kv *kv, int64_t d)
{
	*r = (struct tk_cpu_rows){.columns = columns, .width = kv->width, .d = d, .dvp = kv->dvp};
	r->q = floats_new(columns * d);
	r->s = floats_new(columns * kv->width);
	r->o = floats_new(columns * kv->dvp);
	r->max = floats_new(columns);
	r->sum = floats_new(columns);
	r->shrink = floats_new(columns);
	r->seen = calloc((size_t)columns, sizeof(*r->seen));
	return r->q && r->s && r->o && r->max && r->sum && r->shrink && r->seen ? TK_ABI_OK
	                                                                        : TK_ABI_NO_MEMORY;
}

void tk_cpu_rows_free(struct tk_cpu_rows *r)
{
	free(r->q);
	free(r->s);
	free(r->o);
	free(r->max);
	free(r->sum);
	free(r->shrink);
	free(r->seen);
	*r = (struct tk_cpu_rows){0};
}

size_t tk_cpu_rows_bytes(const struct tk_cpu_rows *r)
{
	return (size_t)(r->columns * (r->d + r->width + r->dvp + 3)) * sizeof(float) +
	       (size_t)r->columns * sizeof(*r->seen);
}

void tk_cpu_rows_clear_sums(struct tk_cpu_rows *r)
{
	memset(r->o, 0, (size_t)(r->columns * r->dvp) * sizeof(*r->o));
	memset(r->sum, 0, (size_t)r->columns * sizeof(*r->sum));
	for (int64_t i = 0; i < r->columns; i++)
		r->max[i] = -INFINITY;
}

void tk_cpu_rows_reset(struct tk_cpu_rows *r)
{
	memset(r->q, 0, (size_t)(r->columns * r->d) * sizeof(*r->q));
	memset(r->seen, 0, (size_t)r->columns * sizeof(*r->seen));
	r->used = 0;
	tk_cpu_rows_clear_sums(r);
}

void tk_cpu_rows_load_query(struct tk_cpu_rows *r, const struct tk_cpu_isa *isa, int64_t column,
        const void *q, uint32_t dtype)
{
	int nr = isa->f32.nr;
	float *to = r->q + column / nr * nr * r->d + column % nr;
	float piece[64];
	if (column >= r->used)
		r->used = column + 1;
	for (int64_t p = 0; p < r->d; p += 64) {
		int64_t n = min64(64, r->d - p);
		isa->widen(
		        piece, (const char *)q + (size_t)p * tk_cpu_dtype_bytes(dtype), n, dtype);
		for (int64_t i = 0; i < n; i++)
			to[(p + i) * nr] = piece[i];
	}
}

/* S^T of the keys begin .. end-1; masked scores get a value that is -inf after scaling. */
static void scores(struct tk_cpu_rows *r, const struct tk_cpu_isa *isa, const float *k,
        int64_t begin, int64_t end, float unseen)
{
	const struct tk_cpu_gemm_isa *e = &isa->f32;
	const float *panel = k + begin / r->width * r->width * r->d + begin % r->width;
	for (int64_t i = 0; i < end - begin; i += e->mr)
		for (int64_t c = 0; c < r->columns; c += e->nr)
			e->tile((int)min64(e->mr, end - begin - i), r->d, panel + i, r->width,
			        r->q + c * r->d, e->nr, r->s + i * r->columns + c, r->columns, 0);
	for (int64_t c = 0; c < r->columns; c++)
		for (int64_t j = r->seen[c] > begin ? r->seen[c] : begin; j < end; j++)
			r->s[(j - begin) * r->columns + c] = unseen;
}

void tk_cpu_rows_attend(struct tk_cpu_rows *r, const struct tk_cpu_isa *isa,
        const struct tk_cpu_kv *kv, int64_t slot, int64_t begin, int64_t end, float scale)
{
	const struct tk_cpu_gemm_isa *e = &isa->f32;
	const float *k = kv->memory + slot * kv->head_floats;
	const float *v = k + kv->panels * kv->width * r->d + begin * kv->dvp;
	const float log2_e = 1.44269504f;

	scores(r, isa, k, begin, end, scale < 0 ? INFINITY : -INFINITY);
	isa->softmax(r->s, end - begin, r->columns, scale * log2_e, r->max, r->sum, r->shrink);
	for (int64_t c = 0; c < r->used; c++)
		if (r->shrink[c] != 1.0f)
			isa->scale(r->o + c * r->dvp, r->dvp, r->shrink[c]);
	for (int64_t c = 0; c < r->used; c += e->mr)
		for (int64_t j = 0; j < r->dvp; j += e->nr)
			e->tile((int)min64(e->mr, r->used - c), end - begin, r->s + c, r->columns,
			        v + j, kv->dvp, r->o + c * r->dvp + j, r->dvp, 1);
}

void tk_cpu_rows_finish(struct tk_cpu_rows *r, const struct tk_cpu_isa *isa, int64_t column)
{
	isa->scale(r->o + column * r->dvp, r->dvp, r->sum[column] > 0 ? 1 / r->sum[column] : 0);
}

float tk_cpu_rows_lse(const struct tk_cpu_rows *r, int64_t column)
{
	const float ln_2 = 0.693147181f;
	return r->sum[column] > 0 ? r->max[column] * ln_2 + logf(r->sum[column]) : -INFINITY;
}
