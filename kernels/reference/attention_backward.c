/* The backward pass of attention, one pair of query and key at a time, from the inputs of a kernel:
 * Q K V O LSE dO.
 *
 *   P = exp(scale q k' - lse)    dP = dO v'    delta = dO o'    dS = P (dP - delta)
 *   dQ = scale sum over keys of dS k
 *   dK = scale sum over queries (of all heads of the group) of dS q
 *   dV = the same sum of P dO
 *
 * (Dao et al., FlashAttention, 2022, section 3.1 and appendix B.2.) */
#include "reference.h"
#include <math.h>
#include <stdlib.h>

int tk_reference_pair_init(struct tk_reference_pair *r, const struct tk_attention *p)
{
	size_t d = (size_t)p->d, dv = (size_t)p->dv;
	*r = (struct tk_reference_pair){.q = calloc(d, sizeof(double)),
	        .k = calloc(d, sizeof(double)),
	        .v = calloc(dv, sizeof(double)),
	        .o = calloc(dv, sizeof(double)),
	        .d_o = calloc(dv, sizeof(double))};
	if (r->q && r->k && r->v && r->o && r->d_o)
		return 0;
	tk_reference_pair_free(r);
	return -1;
}

void tk_reference_pair_free(struct tk_reference_pair *r)
{
	if (!r)
		return;
	free(r->q);
	free(r->k);
	free(r->v);
	free(r->o);
	free(r->d_o);
	*r = (struct tk_reference_pair){0};
}

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t x = 0; x < n; x++)
		sum += a[x] * b[x];
	return sum;
}

void tk_reference_pair_query(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t h, int64_t i, struct tk_reference_pair *r)
{
	int64_t row = (b * p->sq + i) * p->h + h;
	tk_elements_load(p->dtype, t[TK_T_Q].data, row * p->d, p->d, r->q);
	tk_elements_load(p->dtype, t[TK_T_O].data, row * p->dv, p->dv, r->o);
	tk_elements_load(p->dtype, t[TK_T_DO].data, row * p->dv, p->dv, r->d_o);
	r->lse = tk_element_load(t[TK_T_LSE].dtype, t[TK_T_LSE].data, (b * p->h + h) * p->sq + i);
	r->delta = dot(r->d_o, r->o, p->dv);
}

void tk_reference_pair_key(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t kv_head, int64_t j, struct tk_reference_pair *r)
{
	int64_t row = (b * p->skv + j) * p->hkv + kv_head;
	tk_elements_load(p->dtype, t[TK_T_K].data, row * p->d, p->d, r->k);
	tk_elements_load(p->dtype, t[TK_T_V].data, row * p->dv, p->dv, r->v);
}

bool tk_reference_pair_visible(const struct tk_attention *p, int64_t i, int64_t j)
{
	return !p->causal || j <= i + p->skv - p->sq;
}

void tk_reference_pair_compute(const struct tk_attention *p, struct tk_reference_pair *r)
{
	r->score = p->scale * dot(r->q, r->k, p->d);
	r->weight = exp(r->score - r->lse);
	double d_weight = dot(r->d_o, r->v, p->dv);
	r->d_score = r->weight * (d_weight - r->delta);
	r->reach = r->weight * (fabs(d_weight) + fabs(r->delta));
}

/* One row of dQ: over all keys. */
static void query_row(const struct tk_attention *p, const struct tk_tensor *t, int64_t b, int64_t h,
        int64_t i, struct tk_reference_pair *r, double *sum)
{
	for (int64_t x = 0; x < p->d; x++)
		sum[x] = 0;
	tk_reference_pair_query(p, t, b, h, i, r);
	for (int64_t j = 0; j < p->skv && tk_reference_pair_visible(p, i, j); j++) {
		tk_reference_pair_key(p, t, b, h / (p->h / p->hkv), j, r);
		tk_reference_pair_compute(p, r);
		for (int64_t x = 0; x < p->d; x++)
			sum[x] += p->scale * r->d_score * r->k[x];
	}
	for (int64_t x = 0; x < p->d; x++)
		tk_element_store(
		        p->dtype, t[TK_T_DQ].data, ((b * p->sq + i) * p->h + h) * p->d + x, sum[x]);
}

/* One row of dK and of dV: over all queries of the heads that share it. */
static void key_row(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t kv_head, int64_t j, struct tk_reference_pair *r, double *dk, double *dv)
{
	int64_t group = p->h / p->hkv, row = (b * p->skv + j) * p->hkv + kv_head;
	for (int64_t x = 0; x < p->d; x++)
		dk[x] = 0;
	for (int64_t x = 0; x < p->dv; x++)
		dv[x] = 0;
	tk_reference_pair_key(p, t, b, kv_head, j, r);
	for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++)
		for (int64_t i = 0; i < p->sq; i++) {
			if (!tk_reference_pair_visible(p, i, j))
				continue;
			tk_reference_pair_query(p, t, b, h, i, r);
			tk_reference_pair_compute(p, r);
			for (int64_t x = 0; x < p->d; x++)
				dk[x] += p->scale * r->d_score * r->q[x];
			for (int64_t x = 0; x < p->dv; x++)
				dv[x] += r->weight * r->d_o[x];
		}
	for (int64_t x = 0; x < p->d; x++)
		tk_element_store(p->dtype, t[TK_T_DK].data, row * p->d + x, dk[x]);
	for (int64_t x = 0; x < p->dv; x++)
		tk_element_store(p->dtype, t[TK_T_DV].data, row * p->dv + x, dv[x]);
}

int tk_reference_attention_backward(const struct tk_attention *p, const struct tk_tensor *t)
{
	struct tk_reference_pair r = {0};
	double *sum = calloc((size_t)(p->d + p->dv), sizeof *sum);
	int status = !sum || tk_reference_pair_init(&r, p) ? -1 : 0;
	for (int64_t b = 0; !status && b < p->b; b++) {
		for (int64_t h = 0; h < p->h; h++)
			for (int64_t i = 0; i < p->sq; i++)
				query_row(p, t, b, h, i, &r, sum);
		for (int64_t h = 0; h < p->hkv; h++)
			for (int64_t j = 0; j < p->skv; j++)
				key_row(p, t, b, h, j, &r, sum, sum + p->d);
	}
	tk_reference_pair_free(&r);
	free(sum);
	return status;
}
