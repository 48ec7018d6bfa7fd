/* Whole tensors are converted to double first, so that the loops are short and
 * quick. */
#include "null.h"
#include "reference.h"

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
	int failed = 0;
	switch (p->op) {
	case TK_OP_GEMM:
		return gemm(p->gemm, t);
	case TK_OP_ATTENTION:
		if (p->attention->dir == TK_FWD)
			failed = tk_reference_attention(p->attention, t);
		break;
	case TK_OP_NSA:
		failed = tk_reference_nsa(p->nsa, t);
		break;
	default:
		ceiling(p->op, p->ceiling, t);
	}
	return failed ? TK_ABI_NO_MEMORY : TK_ABI_OK;
}
