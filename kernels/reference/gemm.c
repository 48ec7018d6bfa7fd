/* C[b] = op(A[b]) op(B[b]), one dot product an entry; copy and read, what the bandwidth ceilings
 * compute. */
#include "reference.h"
#include <string.h>

double tk_reference_gemm_entry(
        const struct tk_gemm *p, const struct tk_tensor *t, int64_t batch, int64_t i, int64_t j)
{
	const int64_t lda = t[TK_T_A].dim[2], ldb = t[TK_T_B].dim[2];
	double sum = 0;
	for (int64_t l = 0; l < p->k; l++) {
		int64_t a = p->ta ? l * lda + i : i * lda + l;
		int64_t b = p->tb ? j * ldb + l : l * ldb + j;
		sum += tk_element_load(p->a, t[TK_T_A].data, batch * t[TK_T_A].dim[1] * lda + a) *
		       tk_element_load(p->b, t[TK_T_B].data, batch * t[TK_T_B].dim[1] * ldb + b);
	}
	return sum;
}

void tk_reference_gemm(const struct tk_gemm *p, const struct tk_tensor *t)
{
	for (int64_t batch = 0; batch < p->batch; batch++)
		for (int64_t i = 0; i < p->m; i++)
			for (int64_t j = 0; j < p->n; j++)
				tk_element_store(p->c, t[TK_T_C].data,
				        (batch * p->m + i) * t[TK_T_C].dim[2] + j,
				        tk_reference_gemm_entry(p, t, batch, i, j));
}

void tk_reference_copy(const struct tk_tensor *t)
{
	memcpy(t[TK_T_OUT].data, t[TK_T_IN].data, t[TK_T_IN].bytes);
}

void tk_reference_read(const struct tk_tensor *t, int64_t passes)
{
	int64_t n = (int64_t)(t[TK_T_IN].bytes / tk_element_bytes(t[TK_T_IN].dtype));
	int64_t outputs = (int64_t)(t[TK_T_OUT].bytes / tk_element_bytes(t[TK_T_OUT].dtype));
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += tk_element_load(t[TK_T_IN].dtype, t[TK_T_IN].data, i);
	for (int64_t i = 0; i < outputs; i++)
		tk_element_store(
		        t[TK_T_OUT].dtype, t[TK_T_OUT].data, i, i == 0 ? sum * (double)passes : 0);
}
