/* FLOPs, bytes and tensors against figures worked out by hand or by counting. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/problem.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* clang-format off */
static const struct { const char *text; double flops, bytes; } rows[] = {
	{ "gemm:m=2,n=3,k=5,a=f16", 60, 2 * (10 + 15 + 6) },
	{ "gemm:m=2,n=3,k=5,a=f16,ta=t,tb=t,batch=4", 240, 4 * 2 * (10 + 15 + 6) },
	{ "gemm:m=2,n=3,k=5,a=e4m3", 60, 10 + 15 + 2 * 6 },
	{ "gemm:m=8192,n=8192,k=8192,a=bf16", 2.0 * 8192 * 8192 * 8192, 3.0 * 2 * 8192 * 8192 },
	/* FlashAttention's own count: 4 S^2 D H B, 2.5 times backward; causal: with the diagonal */
	{ "attention:b=2,h=16,sq=512,d=64", 4.0 * 512 * 512 * 64 * 16 * 2,
		2.0 * 4 * 2 * 512 * 16 * 64 },
	{ "attention:b=2,h=16,sq=512,d=64,causal=1", 2.0 * 512 * 513 * 64 * 16 * 2,
		2.0 * 4 * 2 * 512 * 16 * 64 },
	{ "attention:b=2,h=16,sq=512,d=64,dir=bwd", 2.5 * 4.0 * 512 * 512 * 64 * 16 * 2,
		2.0 * 8 * 2 * 512 * 16 * 64 + 4.0 * 2 * 16 * 512 },
	{ "attention:b=1,h=8,hkv=2,sq=4,skv=16,d=32,dv=16,dtype=f32,causal=1",
		2.0 * 8 * (13 + 14 + 15 + 16) * 48,
	  4.0 * (4 * 8 * 32 + 16 * 2 * 48 + 4 * 8 * 16) },
	{ "nsa:b=1,h=16,hkv=1,s=256,d=64,selected_blocks=2,block_size=32",
		4.0 * (7 * 32 * 32 + 8 * 32 * 33 / 2) * 16 * 64,
		2.0 * (2 * 256 * 16 * 64 + 2 * 256 * 64) + 4.0 * 256 * 2 },
	{ "nsa:b=1,h=2,s=8,d=8,selected_blocks=1,block_size=4,causal=0", 4.0 * 8 * 2 * 8 * 4,
		2.0 * 4 * 128 + 4.0 * 16 },
	/* window 3 over 4 queries: 1 + 2 + 3 + 3 = 9 pairs more */
	{ "nsa:b=1,h=1,s=4,d=8,selected_blocks=1,block_size=4,window=3", 4.0 * 8 * (10 + 9),
		2.0 * 4 * 32 + 4.0 * 4 },
	/* a window longer than the sequence: 1 + 2 + 3 + 4 */
	{ "nsa:b=1,h=1,s=4,d=8,selected_blocks=1,block_size=4,window=99", 4.0 * 8 * (10 + 10),
		2.0 * 4 * 32 + 4.0 * 4 },
	{ "copy:bytes=1024", 0, 2048 },
	{ "read:bytes=1024", 0, 1028 },
	{ "read:bytes=1024,cache=l1,passes=10", 0, 10244 },
	{ "fma:count=1000", 2000, 2 * 64 * 4 },
};
/* clang-format on */

static void flops_and_bytes(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tk_problem_spec p;
		struct tk_error err = {0};

		if (tk_problem_parse(&p, rows[i].text, &err))
			fail_msg("%s: %s", rows[i].text, err.message);
		if (tk_problem_flops(&p) != rows[i].flops || tk_problem_bytes(&p) != rows[i].bytes)
			fail_msg("%s: %.17g FLOP, %.17g bytes, expected %.17g and %.17g",
			        rows[i].text, tk_problem_flops(&p), tk_problem_bytes(&p),
			        rows[i].flops, rows[i].bytes);
	}
}

/* The least work: shared keys of both branches once, what a backward pass can compute again not at
 * all. */
static void least_work(void **state)
{
	static const struct {
		const char *text;
		double flops, bytes;
	} least[] = {
	        {"gemm:m=2,n=3,k=5,a=f16", 60, 2 * (10 + 15 + 6)},
	        {"nsa:b=1,h=1,s=4,d=8,selected_blocks=1,block_size=2,window=99", 4.0 * 8 * 10,
	                2.0 * 4 * 32 + 4.0 * 4},
	        {"attention:b=1,h=1,sq=4,d=8", 4.0 * 16 * 8, 2.0 * 4 * 32},
	        {"attention:b=1,h=1,sq=4,d=8,dir=bwd", 2.5 * 4.0 * 16 * 8, 2.0 * 7 * 32},
	        {"read:bytes=1024,cache=l1,passes=10", 0, 1028},
	};

	for (size_t i = 0; i < COUNT(least); i++) {
		struct tk_problem_spec p;

		assert_int_equal(tk_problem_parse(&p, least[i].text, NULL), 0);
		if (tk_problem_min_flops(&p) != least[i].flops ||
		        tk_problem_min_bytes(&p) != least[i].bytes)
			fail_msg("%s: %.17g FLOP, %.17g bytes, expected %.17g and %.17g",
			        least[i].text, tk_problem_min_flops(&p), tk_problem_min_bytes(&p),
			        least[i].flops, least[i].bytes);
	}
}

static void check_tensor(const struct tk_tensor *t, const char *name, uint32_t dtype, bool output,
        const int64_t *dim)
{
	size_t bytes = tk_dtype_bytes(dtype);
	uint32_t n = 0;

	assert_string_equal(t->name, name);
	assert_int_equal(t->size, sizeof *t);
	assert_int_equal(t->dtype, dtype);
	assert_int_equal(t->output, output);
	assert_null(t->data);
	for (; dim[n]; n++) {
		assert_int_equal(t->dim[n], dim[n]);
		bytes *= (size_t)dim[n];
	}
	assert_int_equal(t->ndim, n);
	assert_int_equal(t->bytes, bytes);
}

/* clang-format off */
#define DIMS(...) (const int64_t[6]){ __VA_ARGS__ }
/* clang-format on */

static void tensors_of_gemm(void **state)
{
	struct tk_problem_spec p;
	struct tk_tensor t[TK_T_MAX];
	uint32_t n;

	assert_int_equal(
	        tk_problem_parse(&p, "gemm:m=2,n=3,k=5,ta=t,tb=t,batch=7,a=e4m3", NULL), 0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	assert_int_equal(n, 3);
	check_tensor(&t[TK_T_A], "A", TK_E4M3, false, DIMS(7, 5, 2));
	check_tensor(&t[TK_T_B], "B", TK_E4M3, false, DIMS(7, 3, 5));
	check_tensor(&t[TK_T_C], "C", TK_BF16, true, DIMS(7, 2, 3));
}

/* Padding is in the dimensions of the tensors, and not in the bytes that a kernel moves. */
static void tensors_with_padded_rows(void **state)
{
	struct tk_problem_spec p, dense;
	struct tk_tensor t[TK_T_MAX];
	uint32_t n;

	assert_int_equal(tk_problem_parse(&p, "gemm:m=2,n=3,k=5,ta=t,batch=7,pad=4", NULL), 0);
	assert_int_equal(tk_problem_parse(&dense, "gemm:m=2,n=3,k=5,ta=t,batch=7", NULL), 0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	check_tensor(&t[TK_T_A], "A", TK_F32, false, DIMS(7, 5, 6));
	check_tensor(&t[TK_T_B], "B", TK_F32, false, DIMS(7, 5, 7));
	check_tensor(&t[TK_T_C], "C", TK_F32, true, DIMS(7, 2, 7));
	assert_int_equal(p.abi.row_padding, 4);
	assert_true(tk_problem_bytes(&p) == tk_problem_bytes(&dense));
	assert_true(tk_problem_min_bytes(&p) == tk_problem_min_bytes(&dense));
	assert_true(tk_problem_flops(&p) == tk_problem_flops(&dense));
}

static void tensors_of_attention(void **state)
{
	struct tk_problem_spec p;
	struct tk_tensor t[TK_T_MAX];
	uint32_t n;

	assert_int_equal(
	        tk_problem_parse(&p, "attention:b=2,h=4,hkv=2,sq=3,skv=5,d=8,dv=6", NULL), 0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	assert_int_equal(n, 5);
	check_tensor(&t[TK_T_Q], "Q", TK_F16, false, DIMS(2, 3, 4, 8));
	check_tensor(&t[TK_T_K], "K", TK_F16, false, DIMS(2, 5, 2, 8));
	check_tensor(&t[TK_T_V], "V", TK_F16, false, DIMS(2, 5, 2, 6));
	check_tensor(&t[TK_T_O], "O", TK_F16, true, DIMS(2, 3, 4, 6));
	check_tensor(&t[TK_T_LSE], "lse", TK_F32, true, DIMS(2, 4, 3));
	assert_int_equal(
	        tk_problem_parse(&p, "attention:b=2,h=4,hkv=2,sq=3,skv=5,d=8,dv=6,dir=bwd", NULL),
	        0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	assert_int_equal(n, TK_T_MAX);
	check_tensor(&t[TK_T_O], "O", TK_F16, false, DIMS(2, 3, 4, 6));
	check_tensor(&t[TK_T_LSE], "lse", TK_F32, false, DIMS(2, 4, 3));
	check_tensor(&t[TK_T_DO], "dO", TK_F16, false, DIMS(2, 3, 4, 6));
	check_tensor(&t[TK_T_DQ], "dQ", TK_F16, true, DIMS(2, 3, 4, 8));
	check_tensor(&t[TK_T_DK], "dK", TK_F16, true, DIMS(2, 5, 2, 8));
	check_tensor(&t[TK_T_DV], "dV", TK_F16, true, DIMS(2, 5, 2, 6));
}

static void tensors_of_the_rest(void **state)
{
	struct tk_problem_spec p;
	struct tk_tensor t[TK_T_MAX];
	struct tk_error err = {0};
	uint32_t n;

	assert_int_equal(tk_problem_parse(&p,
	                         "nsa:b=2,h=4,hkv=2,s=8,d=16,selected_blocks=1,block_size=8", NULL),
	        0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	assert_int_equal(n, 5);
	check_tensor(&t[TK_T_NSA_O], "O", TK_F16, true, DIMS(2, 8, 4, 16));
	check_tensor(&t[TK_T_BLOCKS], "blocks", TK_I32, false, DIMS(2, 8, 2, 1));
	assert_int_equal(tk_problem_parse(&p, "copy:bytes=16", NULL), 0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	assert_int_equal(n, 2);
	check_tensor(&t[TK_T_OUT], "out", TK_F32, true, DIMS(4));
	assert_int_equal(tk_problem_parse(&p, "read:bytes=16", NULL), 0);
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, NULL), 0);
	check_tensor(&t[TK_T_IN], "in", TK_F32, false, DIMS(4));
	check_tensor(&t[TK_T_OUT], "out", TK_F32, true, DIMS(1));
	p.abi.op = 99;
	assert_int_equal(tk_problem_list_tensors(&p, t, &n, &err), TK_EDATA);
	assert_string_equal(err.message, "op 99 is not known");
	assert_true(tk_problem_bytes(&p) == 0);
}

/* ---- counted one pair after the other ---- */

static double parsed_flops(const char *text)
{
	struct tk_problem_spec p;
	struct tk_error err = {0};

	if (tk_problem_parse(&p, text, &err))
		fail_msg("%s: %s", text, err.message);
	return tk_problem_flops(&p);
}

/* Masks are aligned to the bottom right; every query must see a key. */
static void attention_counts_the_pairs_of_its_mask(void **state)
{
	char text[160];

	(void)state;
	for (int sq = 1; sq <= 7; sq++)
		for (int skv = 1; skv <= 7; skv++)
			for (int causal = 0; causal < 2 - (sq > skv); causal++) {
				int pairs = 0;

				for (int q = 0; q < sq; q++)
					for (int k = 0; k < skv; k++)
						pairs += !causal || k <= q + skv - sq;
				snprintf(text, sizeof text,
				        "attention:b=2,h=3,sq=%d,skv=%d,d=16,dv=8,causal=%d", sq,
				        skv, causal);
				assert_float_equal(
				        parsed_flops(text), 2.0 * 2 * 3 * pairs * (16 + 8), 1e-6);
			}
}

/* Each query sees its own block up to itself, and as many earlier blocks as its list has room
 * for. */
static void causal_nsa_counts_the_pairs_of_its_lists(void **state)
{
	char text[160];

	(void)state;
	for (int size = 1; size <= 4; size++)
		for (int s = 1; s <= 13; s++)
			for (int listed = 1; listed <= (s + size - 1) / size; listed++)
				for (int window = 0; window <= 15; window += 5) {
					int pairs = 0;

					for (int q = 0; q < s; q++) {
						int earlier = q / size;

						earlier = earlier < listed ? earlier : listed - 1;
						pairs += earlier * size + q % size + 1;
						pairs += q + 1 < window ? q + 1 : window;
					}
					snprintf(text, sizeof text,
					        "nsa:b=1,h=2,s=%d,d=8,block_size=%d,"
					        "selected_blocks=%d,window=%d",
					        s, size, listed, window);
					if (parsed_flops(text) != 4.0 * 2 * 8 * pairs)
						fail_msg("%s: expected %d pairs", text, pairs);
				}
}

/* Without a mask a query sees whole blocks; the last one is short. Where it is in some lists only,
 * by chance, the mean over the lists counts. */
static void full_nsa_counts_its_short_last_block(void **state)
{
	static const struct {
		int s, size, listed;
		double pairs;
	} cases[] = {
	        {8, 4, 1, 8 * 4},
	        {8, 4, 2, 8 * 8},
	        /* all blocks are in every list */
	        {10, 4, 3, 10 * 10},
	        {7, 2, 4, 7 * 7},
	        /* only the queries of the last block list it */
	        {10, 4, 1, 8 * 4 + 2 * 2},
	        {9, 2, 1, 8 * 2 + 1},
	        /* block 0 lists itself and one of two others, block 1 itself and the first */
	        {10, 4, 2, 4 * (4 + 3) + 4 * 8 + 2 * (2 + 4)},
	        /* of five blocks: 3 of 4 lists of block 0 have the last, 2 of 3 of block 1, half of
	         * blocks 2 and 3 */
	        {9, 2, 4, 9 * 8 - (1 + 2 * 0.75 + 2 * 2 / 3.0 + 4 * 0.5)},
	};
	char text[160];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof text,
		        "nsa:b=1,h=2,s=%d,d=8,block_size=%d,selected_blocks=%d,causal=0",
		        cases[i].s, cases[i].size, cases[i].listed);
		double pairs = parsed_flops(text) / (4.0 * 2 * 8);
		if (fabs(pairs - cases[i].pairs) > 1e-9)
			fail_msg("%s: %.9g pairs, expected %.9g", text, pairs, cases[i].pairs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attention_counts_the_pairs_of_its_mask),
	        cmocka_unit_test(causal_nsa_counts_the_pairs_of_its_lists),
	        cmocka_unit_test(full_nsa_counts_its_short_last_block),
	        cmocka_unit_test(flops_and_bytes),
	        cmocka_unit_test(least_work),
	        cmocka_unit_test(tensors_of_gemm),
	        cmocka_unit_test(tensors_with_padded_rows),
	        cmocka_unit_test(tensors_of_attention),
	        cmocka_unit_test(tensors_of_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
