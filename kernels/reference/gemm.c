/* C[b] = op(A[b]) op(B[b]), one dot product an entry. */
#include "reference.h"

double tk_reference_gemm_entry(
        const struct tk_gemm *p, const struct tk_tensor *t, int64_t batch, int64_t i, int64_t j)
{
	double sum = 0;
	for (int64_t l = 0; l < p->k; l++) {
		int64_t a = p->ta ? l * p->m + i : i * p->k + l;
		int64_t b = p->tb ? j * p->k + l : l * p->n + j;
		sum += tk_element_load(p->a, t[TK_T_A].data, batch * p->m * p->k + a) *
		       tk_element_load(p->b, t[TK_T_B].data, batch * p->k * p->n + b);
	}
	return sum;
}

void tk_reference_gemm(const struct tk_gemm *p, const struct tk_tensor *t)
{
	for (int64_t batch = 0; batch < p->batch; batch++)
		for (int64_t i = 0; i < p->m; i++)
			for (int64_t j = 0; j < p->n; j++)
				tk_element_store(p->c, t[TK_T_C].data,
				        (batch * p->m + i) * p->n + j,
				        tk_reference_gemm_entry(p, t, batch, i, j));
}
