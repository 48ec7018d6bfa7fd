/* GEMM of every backend against the reference: transposes, odd sizes, types, batches, blockings,
 * equal bits. */
#include "reference.h"
#include "subject.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct subject *subjects;

struct result {
	struct tk_tensor t[3];
	double *want;
};

static struct tk_tensor matrices_new(
        uint32_t dtype, bool output, int64_t batch, int64_t rows, int64_t columns)
{
	struct tk_tensor t = tensor_new(dtype, output, batch * rows * columns);
	t.ndim = 3;
	memcpy(t.dim, (int64_t[]){batch, rows, columns}, 3 * sizeof(int64_t));
	return t;
}

static struct result prepare(const struct tk_gemm *g)
{
	struct result r = {
	        .t = {matrices_new(g->a, false, g->batch, g->ta ? g->k : g->m, g->ta ? g->m : g->k),
	                matrices_new(
	                        g->b, false, g->batch, g->tb ? g->n : g->k, g->tb ? g->k : g->n),
	                matrices_new(g->c, true, g->batch, g->m, g->n)}};
	tensor_random(&r.t[TK_T_A], 1);
	tensor_random(&r.t[TK_T_B], 2);
	r.want = malloc((size_t)(g->batch * g->m * g->n) * sizeof(double));
	double *to = r.want;
	for (int64_t x = 0; x < g->batch; x++)
		for (int64_t i = 0; i < g->m; i++)
			for (int64_t j = 0; j < g->n; j++)
				*to++ = tk_reference_gemm_entry(g, r.t, x, i, j);
	return r;
}

static void forget(struct result *r)
{
	for (int i = 0; i < 3; i++)
		tensor_free(&r->t[i]);
	free(r->want);
}

/* Products of numbers below 1 with mean size 1/4, k of them, summed in f32; then rounded to the
 * type of C. */
static void compare(const struct tk_gemm *g, const struct result *r, const char *who)
{
	for (int64_t i = 0; i < g->batch * g->m * g->n; i++) {
		double got = tk_element_load(g->c, r->t[TK_T_C].data, i), want = r->want[i];
		double allowed =
		        2.5e-7 * (double)(g->k + 4) + 1.01 * tk_element_roundoff(g->c) * fabs(want);
		if (!(fabs(got - want) <= allowed))
			fail_msg("%s: m=%d n=%d k=%d batch=%d ta=%d tb=%d types %u %u %u: element "
			         "%d is %.9g, expected "
			         "%.9g",
			        who, (int)g->m, (int)g->n, (int)g->k, (int)g->batch, g->ta, g->tb,
			        g->a, g->b, g->c, (int)i, got, want);
	}
}

/* On every backend that supports it; returns how many did. */
static int check(const struct tk_gemm *g, const char *config)
{
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_GEMM, .text = "gemm:test", .gemm = g};
	struct result r = prepare(g);
	int ran = 0;
	for (struct subject *s = subjects; s->module; s++) {
		if (config && strcmp(s->module, "cpu") != 0)
			continue;
		int rc = subject_run(s, &p, config, r.t, 3);
		assert_true(rc == TK_ABI_OK || (rc == TK_ABI_UNSUPPORTED && !config));
		if (rc == TK_ABI_OK) {
			compare(g, &r, *s->options ? s->options : s->module);
			ran++;
		}
	}
	forget(&r);
	return ran;
}

static struct tk_gemm gemm(int64_t m, int64_t n, int64_t k, uint32_t in, uint32_t out)
{
	return (struct tk_gemm){.size = sizeof(struct tk_gemm),
	        .m = m,
	        .n = n,
	        .k = k,
	        .batch = 1,
	        .a = in,
	        .b = in,
	        .c = out,
	        .acc = TK_F32};
}

static const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {12, 32, 1}, {13, 33, 17}, {1, 200, 64},
        {200, 1, 31}, {25, 70, 2}, {64, 64, 64}, {97, 130, 59}, {7, 600, 40}};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void all_transposes(void **state)
{
	static const uint32_t types[][2] = {{TK_F32, TK_F32}, {TK_BF16, TK_BF16}, {TK_F16, TK_F16},
	        {TK_BF16, TK_F32}, {TK_F16, TK_F32}};
	for (size_t type = 0; type < 5; type++)
		for (size_t i = 0; i < SIZES; i++)
			for (int t = 0; t < 4; t++) {
				struct tk_gemm g = gemm(sizes[i][0], sizes[i][1], sizes[i][2],
				        types[type][0], types[type][1]);
				g.ta = t & 1;
				g.tb = t >> 1;
				assert_true(check(&g, NULL) >= 2);
			}
}

static void mixed_types(void **state)
{
	struct tk_gemm g = gemm(19, 45, 33, TK_F32, TK_F16);
	g.b = TK_BF16;
	assert_true(check(&g, NULL) >= 2);
	g.a = TK_F16;
	g.ta = g.tb = 1;
	assert_true(check(&g, NULL) >= 2);
}

static void batches(void **state)
{
	for (int64_t batch = 2; batch <= 5; batch += 3) {
		struct tk_gemm g = gemm(33, 70, 21, TK_F32, TK_F32);
		g.batch = batch;
		assert_true(check(&g, NULL) >= 3);
		g = gemm(33, 70, 21, TK_BF16, TK_BF16);
		g.batch = batch;
		assert_true(check(&g, NULL) >= 2);
	}
}

/* Sizes beyond one block in every direction, so that sums are continued and blocks have edges. */
static void all_blockings(void **state)
{
	struct tk_gemm g = gemm(150, 70, 1030, TK_F32, TK_F32);
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_GEMM, .gemm = &g};
	const char *const *names;
	uint32_t count;
	struct tk_abi_error err = {.size = sizeof(err)};
	assert_int_equal(
	        subjects->backend->configs(subjects->ctx, &p, &names, &count, &err), TK_ABI_OK);
	assert_true(count > 1);
	for (uint32_t i = 0; i < count; i++) {
		static const int64_t big[][3] = {{90, 50, 1030}, {5, 1100, 9}, {3100, 5, 3}};
		for (size_t j = 0; j < 3; j++) {
			struct tk_gemm f32 = gemm(big[j][0], big[j][1], big[j][2], TK_F32, TK_F32);
			assert_true(check(&f32, names[i]) >= 2);
			struct tk_gemm f16 = gemm(big[j][0], big[j][1], big[j][2], TK_BF16, TK_F16);
			f16.tb = 1;
			assert_true(check(&f16, names[i]) >= 2);
		}
	}
}

/* C is summed in one order whatever the number of threads. */
static void equal_bits_for_any_threads(void **state)
{
	struct tk_gemm g = gemm(129, 301, 400, TK_F32, TK_F32);
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_GEMM, .gemm = &g};
	struct tk_tensor t[3] = {tensor_new(TK_F32, false, g.m * g.k),
	        tensor_new(TK_F32, false, g.k * g.n), tensor_new(TK_F32, true, g.m * g.n)};
	void *first = NULL;
	tensor_random(&t[0], 5);
	tensor_random(&t[1], 6);
	for (uint32_t threads = 1; threads <= 5; threads++) {
		struct subject s;
		struct tk_abi_error err;
		assert_int_equal(subject_open(&s, "cpu", "", threads, &err), TK_ABI_OK);
		assert_int_equal(subject_run(&s, &p, NULL, t, 3), TK_ABI_OK);
		if (!first)
			first = memcpy(malloc(t[2].bytes), t[2].data, t[2].bytes);
		assert_memory_equal(first, t[2].data, t[2].bytes);
		subject_close(&s);
	}
	free(first);
	for (int i = 0; i < 3; i++)
		tensor_free(&t[i]);
}

/* x * 1 for all 65536 values of a 16-bit type: what goes in comes out. vdpbf16ps takes subnormal
 * bf16 as zero. */
static void all_16_bit_values(void **state)
{
	for (uint32_t dtype = TK_F16; dtype <= TK_BF16; dtype++) {
		struct tk_gemm g = gemm(65536, 1, 1, dtype, dtype);
		struct tk_problem p = {.size = sizeof(p), .op = TK_OP_GEMM, .gemm = &g};
		struct tk_tensor t[3] = {tensor_new(dtype, false, 65536),
		        tensor_new(dtype, false, 1), tensor_new(dtype, true, 65536)};
		uint16_t *in = t[0].data, *out = t[2].data;
		for (int i = 0; i < 65536; i++)
			in[i] = (uint16_t)i;
		tk_element_store(dtype, t[1].data, 0, 1);
		for (struct subject *s = subjects; s->module; s++) {
			if (subject_run(s, &p, NULL, t, 3))
				continue;
			for (int i = 0; i < 65536; i++) {
				double x = tk_element_load(dtype, in, i),
				       y = tk_element_load(dtype, out, i);
				if (!(isnan(x) ? isnan(y) : x == y) &&
				        !(dtype == TK_BF16 && y == 0 && fabs(x) < 0x1p-126))
					fail_msg("%s: type %u: %04x became %04x", s->options, dtype,
					        in[i], out[i]);
			}
		}
		for (int i = 0; i < 3; i++)
			tensor_free(&t[i]);
	}
}

static int open_all(void **state)
{
	subjects = subjects_open();
	return 0;
}

static int close_all(void **state)
{
	subjects_close(subjects);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_transposes),
	        cmocka_unit_test(mixed_types),
	        cmocka_unit_test(batches),
	        cmocka_unit_test(all_blockings),
	        cmocka_unit_test(equal_bits_for_any_threads),
	        cmocka_unit_test(all_16_bit_values),
	};
	return cmocka_run_group_tests_name("kernels_gemm", tests, open_all, close_all);
}
