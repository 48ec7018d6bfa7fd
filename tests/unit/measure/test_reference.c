/* The reference against numbers worked out by hand, and against formulas written in another way. */
#include "host.h"
#include "reference.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void fill(struct tk_tensor *t, const double *values, int n)
{
	for (int i = 0; i < n; i++)
		tk_element_store(t->dtype, t->data, i, values[i]);
}

static double at(const struct tk_tensor *t, int64_t i)
{
	return tk_element_load(t->dtype, t->data, i);
}

/* A repeatable value that is not symmetric in anything. */
static void fill_any(struct tk_tensor *t, double phase)
{
	for (size_t i = 0; i < t->bytes / tk_element_bytes(t->dtype); i++)
		tk_element_store(t->dtype, t->data, (int64_t)i, sin(1.7 * (double)i + phase) * 1.5);
}

static void gemm_by_hand(void **state)
{
	/* A = [1 2 3; 4 5 6], B = [7 8; 9 10; 11 12]: C = [58 64; 139 154] */
	static const double a[2][6] = {{1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6}},
	                    b[2][6] = {{7, 8, 9, 10, 11, 12}, {7, 9, 11, 8, 10, 12}};
	static const double c[4] = {58, 64, 139, 154};
	static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
	for (int i = 0; i < 16; i++) {
		struct host h;
		char text[128];
		int ta = i & 1, tb = i >> 1 & 1;
		snprintf(text, sizeof text, "gemm:m=2,n=2,k=3,ta=%s,tb=%s,a=%s,c=f32",
		        ta ? "t" : "n", tb ? "t" : "n", dtypes[i >> 2]);
		host_shape(&h, text);
		fill(&h.t[TK_T_A], a[ta], 6);
		fill(&h.t[TK_T_B], b[tb], 6);
		tk_reference_gemm(&h.problem.gemm, h.t);
		for (int j = 0; j < 4; j++)
			assert_float_equal(at(&h.t[TK_T_C], j), c[j], 0);
		host_free(&h);
	}
}

static void gemm_batch_is_separate(void **state)
{
	struct host h;
	host_shape(&h, "gemm:m=1,n=1,k=2,batch=3,a=f64");
	fill(&h.t[TK_T_A], (const double[]){1, 2, 3, 4, 5, 6}, 6);
	fill(&h.t[TK_T_B], (const double[]){1, 1, 2, 2, 3, 3}, 6);
	tk_reference_gemm(&h.problem.gemm, h.t);
	assert_float_equal(at(&h.t[TK_T_C], 0), 3, 0);
	assert_float_equal(at(&h.t[TK_T_C], 1), 14, 0);
	assert_float_equal(at(&h.t[TK_T_C], 2), 33, 0);
	host_free(&h);
}

static void attention_by_hand(void **state)
{
	/* scores of the one query: 0 and ln 3, so the weights are 1/4 and 3/4 */
	struct host h;
	host_shape(&h, "attention:b=1,h=1,sq=1,skv=2,d=1,dv=2,dtype=f64,scale=1");
	fill(&h.t[TK_T_Q], (const double[]){1}, 1);
	fill(&h.t[TK_T_K], (const double[]){0, log(3)}, 2);
	fill(&h.t[TK_T_V], (const double[]){4, 8, 0, 16}, 4);
	assert_int_equal(tk_reference_attention(&h.problem.attention, h.t), 0);
	assert_float_equal(at(&h.t[TK_T_O], 0), 1, 1e-12);
	assert_float_equal(at(&h.t[TK_T_O], 1), 14, 1e-12);
	assert_float_equal(at(&h.t[TK_T_LSE], 0), log(4), 1e-6);
	host_free(&h);
}

/* O and LSE by the definition: the whole score row, without the maximum taken out, masks as
 * conditions. */
static void naive_attention(
        const struct tk_attention *p, const struct tk_tensor *t, double *o, double *lse)
{
	for (int64_t b = 0; b < p->b; b++)
		for (int64_t h = 0; h < p->h; h++)
			for (int64_t i = 0; i < p->sq; i++) {
				double sum = 0, *out = o + ((b * p->sq + i) * p->h + h) * p->dv;
				memset(out, 0, (size_t)p->dv * sizeof *out);
				for (int64_t j = 0; j < p->skv; j++) {
					double s = 0;
					if (p->causal && j - i > p->skv - p->sq)
						continue;
					for (int64_t x = 0; x < p->d; x++)
						s += at(&t[0], ((b * p->sq + i) * p->h + h) * p->d +
						                       x) *
						     at(&t[1], ((b * p->skv + j) * p->hkv +
						                       h * p->hkv / p->h) *
						                               p->d +
						                       x);
					sum += exp(s * p->scale);
					for (int64_t x = 0; x < p->dv; x++)
						out[x] += exp(s * p->scale) *
						          at(&t[2], ((b * p->skv + j) * p->hkv +
						                            h * p->hkv / p->h) *
						                                    p->dv +
						                            x);
				}
				for (int64_t x = 0; x < p->dv; x++)
					out[x] /= sum;
				lse[(b * p->h + h) * p->sq + i] = log(sum);
			}
}

static void attention_by_definition(void **state)
{
	/* clang-format off */
	static const char *const problems[] = {
		"attention:b=2,h=4,hkv=2,sq=5,skv=9,d=3,dv=7,dtype=f64,causal=1",
		"attention:b=1,h=6,hkv=1,sq=4,d=8,dtype=f64",
		"attention:b=3,h=2,sq=1,skv=11,d=4,dtype=f64,causal=1,scale=0.3",
		"attention:b=1,h=2,sq=7,skv=3,d=2,dtype=f64",
	};
	/* clang-format on */
	for (size_t n = 0; n < sizeof problems / sizeof *problems; n++) {
		struct host h;
		host_shape(&h, problems[n]);
		const struct tk_attention *p = &h.problem.attention;
		int64_t rows = p->b * p->h * p->sq;
		double *o = calloc((size_t)(rows * p->dv), sizeof *o),
		       *lse = calloc((size_t)rows, sizeof *lse);
		for (uint32_t i = 0; i < 3; i++)
			fill_any(&h.t[i], i);
		naive_attention(p, h.t, o, lse);
		assert_int_equal(tk_reference_attention(p, h.t), 0);
		for (int64_t i = 0; i < rows * p->dv; i++)
			assert_true(fabs(at(&h.t[TK_T_O], i) - o[i]) < 1e-12);
		for (int64_t i = 0; i < rows; i++)
			assert_true(fabs(at(&h.t[TK_T_LSE], i) - lse[i]) < 1e-6);
		free(o);
		free(lse);
		host_free(&h);
	}
}

static void row_without_keys_is_zero(void **state)
{
	/* the text form refuses this; the contract's struct can still say it */
	struct host h;
	host_shape(&h, "attention:b=1,h=1,sq=3,skv=2,d=1,dtype=f64");
	h.problem.attention.causal = 1;
	for (uint32_t i = 0; i < 3; i++)
		fill_any(&h.t[i], i);
	assert_int_equal(tk_reference_attention(&h.problem.attention, h.t), 0);
	assert_float_equal(at(&h.t[TK_T_O], 0), 0, 0);
	assert_true(isinf(at(&h.t[TK_T_LSE], 0)));
	assert_float_equal(at(&h.t[TK_T_O], 1), at(&h.t[TK_T_V], 0), 1e-15);
	host_free(&h);
}

/* With every block listed, and with a window as long as the sequence, each branch is causal
 * attention. */
static void nsa_of_everything_is_attention(void **state)
{
	struct host dense, sparse;
	host_shape(&dense, "attention:b=2,h=4,hkv=2,sq=8,d=3,dtype=f64,causal=1");
	for (uint32_t i = 0; i < 3; i++)
		fill_any(&dense.t[i], i);
	assert_int_equal(tk_reference_attention(&dense.problem.attention, dense.t), 0);
	for (int window = 0; window < 2; window++) {
		host_shape(&sparse, window ? "nsa:b=2,h=4,hkv=2,s=8,d=3,block_size=4,selected_"
		                             "blocks=2,window=8,dtype=f64"
		                           : "nsa:b=2,h=4,hkv=2,s=8,d=3,block_size=4,selected_"
		                             "blocks=2,dtype=f64");
		for (uint32_t i = 0; i < 3; i++)
			fill_any(&sparse.t[i], i);
		int32_t *blocks = sparse.t[TK_T_BLOCKS].data;
		for (int i = 0; i < 2 * 8 * 2 * 2; i++)
			blocks[i] = i % 2;
		assert_int_equal(tk_reference_nsa(&sparse.problem.nsa, sparse.t), 0);
		for (int64_t i = 0; i < 2 * 8 * 4 * 3; i++)
			assert_true(fabs(at(&sparse.t[TK_T_NSA_O], i) -
			                    (1 + window) * at(&dense.t[TK_T_O], i)) < 1e-12);
		host_free(&sparse);
	}
	host_free(&dense);
}

static void nsa_without_blocks_is_zero(void **state)
{
	struct host h;
	host_shape(&h, "nsa:b=1,h=1,s=4,d=2,block_size=2,selected_blocks=2,dtype=f64");
	for (uint32_t i = 0; i < 3; i++)
		fill_any(&h.t[i], i);
	memset(h.t[TK_T_BLOCKS].data, 0xff, h.t[TK_T_BLOCKS].bytes);
	assert_int_equal(tk_reference_nsa(&h.problem.nsa, h.t), 0);
	for (int i = 0; i < 8; i++)
		assert_float_equal(at(&h.t[TK_T_NSA_O], i), 0, 0);
	host_free(&h);
}

static void ceilings(void **state)
{
	struct host h;
	host_shape(&h, "copy:bytes=40,dtype=f32");
	fill_any(&h.t[0], 0);
	tk_reference_copy(h.t);
	assert_memory_equal(h.t[0].data, h.t[1].data, 40);
	host_free(&h);
	host_shape(&h, "read:bytes=40,dtype=f64");
	fill(&h.t[0], (const double[]){1, 2, 3, 4, 5}, 5);
	tk_reference_read(h.t, 1);
	assert_float_equal(at(&h.t[1], 0), 15, 0);
	tk_reference_read(h.t, 3);
	assert_float_equal(at(&h.t[1], 0), 45, 0);
	host_free(&h);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gemm_by_hand), cmocka_unit_test(gemm_batch_is_separate),
		cmocka_unit_test(attention_by_hand),
		cmocka_unit_test(attention_by_definition),
		cmocka_unit_test(row_without_keys_is_zero),
		cmocka_unit_test(nsa_of_everything_is_attention),
		cmocka_unit_test(nsa_without_blocks_is_zero), cmocka_unit_test(ceilings),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
