/* Whole tensors are converted to double first, so that the loops are short and
 * quick. */
#include "element.h"
#include "null.h"
#include <math.h>

static double *all_of(const struct tk_tensor *t)
{
	int64_t n = (int64_t)(t->bytes / tk_element_bytes(t->dtype));
	double *x = malloc((size_t)n * sizeof *x + 1);
	if (x)
		tk_elements_load(t->dtype, t->data, 0, n, x);
	return x;
}

/* One row of C: the sum of rows of op(B), weighted with a row of op(A). */
static void gemm_row(
        const struct tk_gemm *p, const double *a, const double *b, int64_t i, double *c)
{
	memset(c, 0, (size_t)p->n * sizeof *c);
	for (int64_t l = 0; l < p->k; l++) {
		double weight = p->ta ? a[l * p->m + i] : a[i * p->k + l];
		for (int64_t j = 0; j < p->n; j++)
			c[j] += weight * (p->tb ? b[j * p->k + l] : b[l * p->n + j]);
	}
}

static int gemm(const struct tk_gemm *p, const struct tk_tensor *t)
{
	double *a = all_of(&t[TK_T_A]), *b = all_of(&t[TK_T_B]),
	       *c = malloc((size_t)p->n * sizeof *c);
	int64_t rows = a && b && c ? p->batch * p->m : 0;
	for (int64_t r = 0; r < rows; r++) {
		gemm_row(p, a + r / p->m * p->m * p->k, b + r / p->m * p->k * p->n, r % p->m, c);
		for (int64_t j = 0; j < p->n; j++)
			tk_element_store(p->c, t[TK_T_C].data, r * p->n + j, c[j]);
	}
	int status = a && b && c ? TK_ABI_OK : TK_ABI_NO_MEMORY;
	free(a);
	free(b);
	free(c);
	return status;
}

/* Online softmax over one list of keys: out is scaled whenever a larger score turns up. */
struct running {
	const double *q, *k, *v; /* of this batch and kv head: k, v at key j are k + j * k_step, v +
	                            j * v_step */
	int64_t k_step, v_step, d, dv;
	double scale, top, sum;
};

static void see_key(struct running *r, int64_t key, double *out)
{
	double score = 0;
	for (int64_t x = 0; x < r->d; x++)
		score += r->q[x] * r->k[key * r->k_step + x];
	score *= r->scale;
	double keep = score > r->top ? exp(r->top - score) : 1;
	r->top = fmax(r->top, score);
	double weight = exp(score - r->top);
	r->sum = r->sum * keep + weight;
	for (int64_t x = 0; x < r->dv; x++)
		out[x] = out[x] * keep + weight * r->v[key * r->v_step + x];
}

static void add_branch(struct running *r, double *branch, double *total)
{
	for (int64_t x = 0; x < r->dv; x++) {
		total[x] += r->sum > 0 ? branch[x] / r->sum : 0;
		branch[x] = 0;
	}
}

struct buffers {
	double *q, *k, *v, *branch, *total;
};

static int buffers_make(struct buffers *m, const struct tk_tensor *t, int64_t width)
{
	*m = (struct buffers){all_of(&t[TK_T_Q]), all_of(&t[TK_T_K]), all_of(&t[TK_T_V]),
	        calloc((size_t)width, sizeof(double)), calloc((size_t)width, sizeof(double))};
	return m->q && m->k && m->v && m->branch && m->total ? TK_ABI_OK : TK_ABI_NO_MEMORY;
}

static void buffers_free(struct buffers *m)
{
	free(m->q);
	free(m->k);
	free(m->v);
	free(m->branch);
	free(m->total);
}

static void attention_row(const struct tk_attention *p, const struct buffers *m,
        const struct tk_tensor *t, int64_t b, int64_t i, int64_t h)
{
	int64_t row = (b * p->sq + i) * p->h + h, kv = h / (p->h / p->hkv);
	struct running r = {m->q + row * p->d, m->k + (b * p->skv * p->hkv + kv) * p->d,
	        m->v + (b * p->skv * p->hkv + kv) * p->dv, p->hkv * p->d, p->hkv * p->dv, p->d,
	        p->dv, p->scale, -INFINITY, 0};
	memset(m->total, 0, (size_t)p->dv * sizeof(double));
	for (int64_t j = 0; j < p->skv; j++)
		if (!p->causal || j <= i + p->skv - p->sq)
			see_key(&r, j, m->branch);
	double lse = r.top + log(r.sum);
	add_branch(&r, m->branch, m->total);
	for (int64_t x = 0; x < p->dv; x++)
		tk_element_store(p->dtype, t[TK_T_O].data, row * p->dv + x, m->total[x]);
	if (t[TK_T_LSE].data)
		tk_element_store(
		        t[TK_T_LSE].dtype, t[TK_T_LSE].data, (b * p->h + h) * p->sq + i, lse);
}

static int attention(const struct tk_attention *p, const struct tk_tensor *t)
{
	struct buffers m;
	int status = buffers_make(&m, t, p->dv);
	for (int64_t b = 0; status == TK_ABI_OK && b < p->b; b++)
		for (int64_t i = 0; i < p->sq; i++)
			for (int64_t h = 0; h < p->h; h++)
				attention_row(p, &m, t, b, i, h);
	buffers_free(&m);
	return status;
}

static void nsa_row(const struct tk_nsa *p, const struct buffers *m, const struct tk_tensor *t,
        int64_t b, int64_t i, int64_t h)
{
	int64_t row = (b * p->s + i) * p->h + h, kv = h / (p->h / p->hkv),
	        start = (b * p->s * p->hkv + kv) * p->d;
	const int32_t *blocks = (const int32_t *)t[TK_T_BLOCKS].data +
	                        ((b * p->s + i) * p->hkv + kv) * p->selected_blocks;
	struct running r = {m->q + row * p->d, m->k + start, m->v + start, p->hkv * p->d,
	        p->hkv * p->d, p->d, p->d, p->scale, -INFINITY, 0};
	memset(m->total, 0, (size_t)p->d * sizeof(double));
	for (int64_t n = 0; n < p->selected_blocks * p->block_size; n++) {
		int64_t block = blocks[n / p->block_size],
		        j = block * p->block_size + n % p->block_size;
		if (block >= 0 && j < p->s && (!p->causal || j <= i))
			see_key(&r, j, m->branch);
	}
	add_branch(&r, m->branch, m->total);
	r.top = -INFINITY;
	r.sum = 0;
	for (int64_t j = i; j >= 0 && j > i - p->window; j--)
		see_key(&r, j, m->branch);
	add_branch(&r, m->branch, m->total);
	for (int64_t x = 0; x < p->d; x++)
		tk_element_store(p->dtype, t[TK_T_NSA_O].data, row * p->d + x, m->total[x]);
}

static int nsa(const struct tk_nsa *p, const struct tk_tensor *t)
{
	struct buffers m;
	int status = buffers_make(&m, t, p->d);
	for (int64_t b = 0; status == TK_ABI_OK && b < p->b; b++)
		for (int64_t i = 0; i < p->s; i++)
			for (int64_t h = 0; h < p->h; h++)
				nsa_row(p, &m, t, b, i, h);
	buffers_free(&m);
	return status;
}

static void ceiling(uint32_t op, const struct tk_ceiling_op *c, const struct tk_tensor *t)
{
	int64_t n = (int64_t)(t[TK_T_IN].bytes / tk_element_bytes(t[TK_T_IN].dtype));
	double sum = 0;
	if (op == TK_OP_READ) {
		for (int64_t i = 0; i < n; i++)
			sum += tk_element_load(t[TK_T_IN].dtype, t[TK_T_IN].data, i);
		tk_element_store(t[TK_T_OUT].dtype, t[TK_T_OUT].data, 0, sum * (double)c->passes);
	} else {
		memcpy(t[TK_T_OUT].data, t[TK_T_IN].data, t[TK_T_OUT].bytes);
	}
}

int null_compute_outputs(const struct tk_problem *p, const struct tk_tensor *t)
{
	switch (p->op) {
	case TK_OP_GEMM:
		return gemm(p->gemm, t);
	case TK_OP_ATTENTION:
		return p->attention->dir == TK_FWD ? attention(p->attention, t) : TK_ABI_OK;
	case TK_OP_NSA:
		return nsa(p->nsa, t);
	default:
		ceiling(p->op, p->ceiling, t);
		return TK_ABI_OK;
	}
}
