/* Inputs: the same bits for ever, and the distributions that their names promise. */
#include "element.h"
#include "host.h"
#include "measure/measure.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void filled(struct host *h, const char *text, uint64_t seed)
{
	struct tk_error err = {0};
	host_shape(h, text);
	for (uint32_t i = 0; i < h->count; i++)
		if (!h->t[i].output)
			assert_int_equal(
			        tk_inputs_fill(&h->problem, i, seed, h->t[i].data, &err), 0);
}

static void moments(const struct tk_tensor *t, double *mean, double *variance, double *largest)
{
	int64_t n = (int64_t)(t->bytes / tk_element_bytes(t->dtype));
	*mean = *variance = *largest = 0;
	for (int64_t i = 0; i < n; i++) {
		double x = tk_element_load(t->dtype, t->data, i);
		*mean += x / (double)n;
		*variance += x * x / (double)n;
		*largest = fmax(*largest, fabs(x));
	}
}

static void normal_is_normal(void **state)
{
	struct host h;
	double mean, variance, largest;
	int64_t beyond[4] = {0}, n = 256 * 256;
	filled(&h, "gemm:m=256,n=256,k=256,a=f64", 1);
	moments(&h.t[0], &mean, &variance, &largest);
	assert_true(
	        fabs(mean) < 0.015 && fabs(variance - 1) < 0.02 && largest > 3.5 && largest < 4.8);
	for (int64_t i = 0; i < n; i++)
		for (int s = 1; s < 4; s++)
			beyond[s] += fabs(tk_element_load(TK_F64, h.t[0].data, i)) > s;
	assert_true(fabs((double)beyond[1] / (double)n - 0.3173) < 0.006);
	assert_true(fabs((double)beyond[2] / (double)n - 0.0455) < 0.003);
	assert_true(fabs((double)beyond[3] / (double)n - 0.0027) < 0.001);
	host_free(&h);
}

static void filling_continues_where_it_ended(void **state)
{
	static const char *const problems[] = {
	        "gemm:m=512,n=16,k=300,a=bf16", "gemm:m=3,n=16,k=5,a=f32,dist=uniform"};
	struct tk_error err = {0};
	for (size_t p = 0; p < 2; p++) {
		struct host whole, parts;
		filled(&whole, problems[p], 1);
		host_shape(&parts, problems[p]);
		size_t bytes = whole.t[0].bytes, half = bytes / 8 * 4;
		memcpy(parts.t[0].data, whole.t[0].data, half);
		assert_int_equal(
		        tk_inputs_fill_from(&parts.problem, 0, 1, half, parts.t[0].data, &err), 0);
		assert_memory_equal(parts.t[0].data, whole.t[0].data, bytes);
		memset(parts.t[0].data, 0xee, bytes);
		assert_int_equal(
		        tk_inputs_fill_from(&parts.problem, 0, 1, bytes + 4, parts.t[0].data, &err),
		        0);
		assert_int_equal(((unsigned char *)parts.t[0].data)[bytes - 1],
		        0xee); /* nothing was left to do */
		host_free(&whole);
		host_free(&parts);
	}
}

static void bits_are_pinned(void **state)
{
	/* A change of these numbers makes every stored history incomparable with what is measured
	 * after it. */
	static const char *const dists[] = {"normal", "uniform", "trig", "outliers"};
	static const double want[][3] = {
	        {0x1.db83530aa6201p-1, -0x1.84c123eb0b5cdp+0, 0x1.f5111c49e26ecp+0},
	        {0x1.4b4035017012cp-1, -0x1.be04b69835b0ep-1, 0x1.e63d599b02acp-1},
	        {0x1.fffffffff2c12p-1, 0x1.14a280fb5068cp-1, -0x1.aa22657537205p-2},
	        {0x1.db83530aa6201p-1, -0x1.84c123eb0b5cdp+0, 0x1.f5111c49e26ecp+0},
	};
	for (size_t d = 0; d < sizeof dists / sizeof *dists; d++) {
		struct host h;
		char text[96];
		snprintf(text, sizeof text, "gemm:m=1,n=1,k=3,a=f64,dist=%s", dists[d]);
		filled(&h, text, 42);
		for (int i = 0; i < 3; i++) {
			double got = tk_element_load(TK_F64, h.t[TK_T_B].data, i);
			if (got != want[d][i])
				fail_msg("%s value %d is %a, expected %a", dists[d], i, got,
				        want[d][i]);
		}
		host_free(&h);
	}
}

static void size_of_the_tensor_does_not_matter(void **state)
{
	/* large tensors go through a table, small ones do not */
	struct host small, large;
	filled(&small, "gemm:m=1,n=1,k=1000,a=f32", 5);
	filled(&large, "gemm:m=10,n=1,k=1000,a=f32", 5);
	assert_memory_equal(small.t[0].data, large.t[0].data, small.t[0].bytes);
	host_free(&small);
	host_free(&large);
}

static void seed_and_tensor_matter(void **state)
{
	struct host a, b;
	filled(&a, "gemm:m=8,n=8,k=8", 1);
	filled(&b, "gemm:m=8,n=8,k=8", 2);
	assert_memory_not_equal(a.t[0].data, b.t[0].data, a.t[0].bytes);
	assert_memory_not_equal(a.t[0].data, a.t[1].data, a.t[0].bytes);
	host_free(&a);
	host_free(&b);
}

static void other_distributions(void **state)
{
	struct host h;
	double mean, variance, largest;
	filled(&h, "gemm:m=256,n=1,k=256,a=f64,dist=uniform", 1);
	moments(&h.t[0], &mean, &variance, &largest);
	assert_true(fabs(mean) < 0.01 && fabs(variance - 1.0 / 3) < 0.01 && largest <= 1);
	host_free(&h);
	filled(&h, "gemm:m=256,n=1,k=256,a=f64,dist=zeros", 1);
	moments(&h.t[0], &mean, &variance, &largest);
	assert_true(largest == 0);
	host_free(&h);
	filled(&h, "gemm:m=256,n=1,k=256,a=f64,dist=outliers", 1);
	moments(&h.t[0], &mean, &variance, &largest);
	assert_true(largest > 40 && fabs(variance - 2) < 0.7);
	host_free(&h);
	filled(&h, "gemm:m=256,n=1,k=256,a=f64,dist=trig", 1);
	for (int64_t i = 0; i < 65536; i++)
		assert_true(fabs(tk_element_load(TK_F64, h.t[0].data, i) - sin((double)i)) < 1e-7);
	for (int64_t i = 0; i < 256; i++)
		assert_true(fabs(tk_element_load(TK_F64, h.t[1].data, i) - cos((double)i)) < 1e-7);
	host_free(&h);
}

static void rounded_to_the_type(void **state)
{
	struct host wide, narrow;
	filled(&wide, "gemm:m=64,n=1,k=64,a=f64", 9);
	filled(&narrow, "gemm:m=64,n=1,k=64,a=bf16", 9);
	for (int64_t i = 0; i < 4096; i++) {
		uint16_t want;
		tk_element_store(TK_BF16, &want, 0, tk_element_load(TK_F64, wide.t[0].data, i));
		assert_int_equal(((uint16_t *)narrow.t[0].data)[i], want);
	}
	host_free(&wide);
	host_free(&narrow);
}

static void check_list(const struct tk_nsa *p, const int32_t *list, int64_t query)
{
	int64_t open = p->causal ? query / p->block_size + 1
	                         : (p->s + p->block_size - 1) / p->block_size,
	        n = 0;
	bool own = false;
	while (n < p->selected_blocks && list[n] >= 0) {
		assert_true(list[n] < open);
		assert_true(n == 0 || list[n] > list[n - 1]);
		own |= list[n] == query / p->block_size;
		n++;
	}
	assert_int_equal(n, open < p->selected_blocks ? open : p->selected_blocks);
	assert_true(own);
	for (; n < p->selected_blocks; n++)
		assert_int_equal(list[n], -1);
}

static void blocks_are_distinct_and_visible(void **state)
{
	/* clang-format off */
	static const char *const problems[] =
	{"nsa:b=2,h=4,hkv=2,s=300,d=2,block_size=16,selected_blocks=5",
		"nsa:b=1,h=1,s=64,d=2,block_size=16,selected_blocks=4,causal=0",
		"nsa:b=1,h=1,s=40,d=2,block_size=8,selected_blocks=1"};
	/* clang-format on */
	for (size_t n = 0; n < sizeof problems / sizeof *problems; n++) {
		struct host h;
		filled(&h, problems[n], 3);
		const struct tk_nsa *p = &h.problem.nsa;
		for (int64_t row = 0; row < p->b * p->s * p->hkv; row++)
			check_list(p,
			        (const int32_t *)h.t[TK_T_BLOCKS].data + row * p->selected_blocks,
			        row / p->hkv % p->s);
		host_free(&h);
	}
}

static void an_unknown_tensor_is_refused(void **state)
{
	struct host h;
	struct tk_error err = {0};
	host_shape(&h, "gemm:m=1,n=1,k=1");
	assert_int_not_equal(tk_inputs_fill(&h.problem, 3, 1, h.t[0].data, &err), 0);
	assert_non_null(strstr(err.message, "has no tensor 3"));
	host_free(&h);
}

/* Query-key pairs by the lists themselves and the mask. */
static double count_pairs(const struct tk_nsa *a, const int32_t *blocks)
{
	double pairs = 0;

	for (int64_t row = 0; row < a->b * a->s * a->hkv; row++) {
		int64_t query = row / a->hkv % a->s, end = a->causal ? query + 1 : a->s;

		for (int64_t n = 0; n < a->selected_blocks; n++)
			for (int64_t j = blocks[row * a->selected_blocks + n] * a->block_size,
			             k = 0;
			        j >= 0 && k < a->block_size && j + k < end; k++)
				pairs++;
		for (int64_t j = 0; j <= query; j++)
			pairs += query - j < a->window;
	}
	return pairs * (double)(a->h / a->hkv);
}

/* The work of nsa is the pairs that its lists and masks leave. */
static void work_of_nsa_is_counted_pairs(void **state)
{
	static const char *const exact[] = {
	        "nsa:b=1,h=4,hkv=2,s=256,d=8,selected_blocks=4,block_size=16",
	        "nsa:b=2,h=2,hkv=2,s=250,d=8,selected_blocks=4,block_size=16,window=33",
	        "nsa:b=1,h=2,hkv=1,s=100,d=8,selected_blocks=7,block_size=16,window=500",
	        "nsa:b=1,h=2,hkv=1,s=100,d=8,selected_blocks=7,block_size=16,causal=0",
	        "nsa:b=1,h=2,hkv=1,s=128,d=8,selected_blocks=3,block_size=16,causal=0",
	        "nsa:b=1,h=1,s=7,d=8,selected_blocks=1,block_size=16",
	        "nsa:b=1,h=1,s=33,d=8,selected_blocks=1,block_size=8",
	        "nsa:b=1,h=1,s=9,d=8,selected_blocks=9,block_size=1,window=1",
	};
	static const char in_the_mean[] =
	        "nsa:b=1,h=1,s=4090,d=8,selected_blocks=9,block_size=16,causal=0";
	static int32_t blocks[1 << 17];

	for (size_t i = 0; i <= sizeof exact / sizeof *exact; i++) {
		bool is_exact = i < sizeof exact / sizeof *exact;
		struct tk_problem_spec p;

		assert_int_equal(tk_problem_parse(&p, is_exact ? exact[i] : in_the_mean, NULL), 0);
		assert_int_equal(tk_inputs_fill(&p, TK_T_BLOCKS, 1, blocks, NULL), 0);
		double pairs = count_pairs(&p.nsa, blocks);
		assert_float_equal(
		        tk_problem_flops(&p) / (4.0 * 8 * pairs), 1, is_exact ? 1e-12 : 1e-3);
	}
}

/* Rows of the same token are alike, but not equal: what came before differs. */
static void a_text_gives_its_rows(void **state)
{
	static const uint16_t tokens[] = {7, 9, 7, 0, 7, 9};
	struct tk_error err = {0};
	struct host h, t;
	double mean, variance, largest, same = 0, other = 0;
	assert_int_equal(tk_text_inputs_set("a-00000001", tokens, 6, &err), 0);
	filled(&h, "gemm:m=12,n=8,k=700,a=f64,dist=text:a-00000001", 1);
	const double *a = h.t[TK_T_A].data, *b = h.t[TK_T_B].data;
	moments(&h.t[TK_T_A], &mean, &variance, &largest);
	assert_true(fabs(mean) < 0.2 && variance > 0.6 && variance < 1.6 && largest < 8);
	for (int k = 0; k < 700; k++) {
		assert_true(a[k] == a[6 * 700 + k]); /* the text again */
		same += a[k] * a[2 * 700 + k] / 700;
		other += a[k] * a[3 * 700 + k] / 700;
	}
	assert_true(same > 0.6 && same < 0.999 && fabs(other) < 0.6);
	/* where the matrix is stored transposed, the values are the same; B follows no text */
	filled(&t, "gemm:m=12,n=8,k=700,a=f64,ta=t,dist=text:a-00000001", 1);
	for (int m = 0; m < 12; m++)
		for (int k = 0; k < 700; k++)
			assert_true(((double *)t.t[TK_T_A].data)[k * 12 + m] == a[m * 700 + k]);
	host_free(&t);
	filled(&t, "gemm:m=12,n=8,k=700,a=f64", 1);
	assert_memory_equal(t.t[TK_T_B].data, b, h.t[TK_T_B].bytes);
	host_free(&t);
	host_free(&h);
}

static void a_text_is_known_by_its_name(void **state)
{
	static const uint16_t tokens[] = {7, 9};
	struct tk_error err = {0};
	struct host h;
	assert_int_equal(tk_text_inputs_set("b-00000002", tokens, 2, &err), 0);
	host_shape(&h, "attention:b=1,h=2,sq=8,d=16,dist=text:a-00000001");
	assert_int_equal(tk_inputs_fill(&h.problem, TK_T_Q, 1, h.t[TK_T_Q].data, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "inputs/a-00000001.tokens"));
	host_free(&h);
	assert_int_equal(tk_text_inputs_set("c-00000003", tokens, 0, &err), TK_EDATA);
	/* Q, K and V have projections of their own */
	filled(&h, "attention:b=1,h=2,sq=8,d=16,dtype=f32,dist=text:b-00000002", 1);
	assert_memory_not_equal(h.t[TK_T_Q].data, h.t[TK_T_K].data, h.t[TK_T_K].bytes);
	assert_memory_not_equal(h.t[TK_T_K].data, h.t[TK_T_V].data, h.t[TK_T_V].bytes);
	host_free(&h);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_is_normal), cmocka_unit_test(bits_are_pinned),
		cmocka_unit_test(filling_continues_where_it_ended),
		cmocka_unit_test(size_of_the_tensor_does_not_matter),
		cmocka_unit_test(seed_and_tensor_matter), cmocka_unit_test(other_distributions),
		cmocka_unit_test(rounded_to_the_type),
		cmocka_unit_test(blocks_are_distinct_and_visible),
		cmocka_unit_test(an_unknown_tensor_is_refused),
	        cmocka_unit_test(work_of_nsa_is_counted_pairs),
		cmocka_unit_test(a_text_gives_its_rows),
		cmocka_unit_test(a_text_is_known_by_its_name),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
