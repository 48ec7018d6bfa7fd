/* Verification: right results pass in every type and shape, wrong ones of every kind are found. */
#include "host.h"
#include "measure/measure.h"
#include "reference.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SEED 11

/* What a decent kernel would give: operands as they are, sums in f32, the result rounded. */
static void kernel_gemm(
        const struct tk_gemm *p, struct tk_tensor *t, int64_t k_used, double input_step)
{
	for (int64_t e = 0; e < p->batch * p->m * p->n; e++) {
		int64_t b = e / (p->m * p->n), i = e / p->n % p->m, j = e % p->n;
		float sum = 0;
		for (int64_t l = 0; l < k_used; l++) {
			double x = tk_element_get(
			        &t[0], b * p->m * p->k + (p->ta ? l * p->m + i : i * p->k + l));
			double y = tk_element_get(
			        &t[1], b * p->k * p->n + (p->tb ? j * p->k + l : l * p->n + j));
			if (input_step > 0) {
				x = nearbyint(x / input_step) * input_step;
				y = nearbyint(y / input_step) * input_step;
			}
			sum += (float)x * (float)y;
		}
		tk_element_set(&t[2], e, sum);
	}
}

static void prepare(struct host *h, const char *text)
{
	struct tk_error err = {0};
	host_shape(h, text);
	for (uint32_t i = 0; i < h->count; i++)
		if (!h->t[i].output)
			assert_int_equal(
			        tk_inputs_fill(&h->problem, i, SEED, h->t[i].data, &err), 0);
	if (h->problem.abi.op == TK_OP_GEMM && h->problem.gemm.acc == TK_F64)
		tk_reference_gemm(&h->problem.gemm, h->t);
	else if (h->problem.abi.op == TK_OP_GEMM)
		kernel_gemm(&h->problem.gemm, h->t, h->problem.gemm.k, 0);
	else if (h->problem.abi.op == TK_OP_ATTENTION)
		assert_int_equal(tk_reference_attention(&h->problem.attention, h->t), 0);
	else if (h->problem.abi.op == TK_OP_NSA)
		assert_int_equal(tk_reference_nsa(&h->problem.nsa, h->t), 0);
	else if (h->problem.abi.op == TK_OP_COPY)
		tk_reference_copy(h->t);
	else if (h->problem.abi.op == TK_OP_READ)
		tk_reference_read(h->t, h->problem.ceiling.passes);
}

static struct tk_verify_result verdict(struct host *h)
{
	struct tk_verify_result v;
	struct tk_error err = {0};
	if (tk_verify_outputs(&h->problem, h->t, SEED, &v, &err))
		fail_msg("%s: %s", h->problem.text, err.message);
	assert_true(v.done);
	return v;
}

static void must_pass(struct host *h)
{
	struct tk_verify_result v = verdict(h);
	if (!v.passed)
		fail_msg("%s: %s (error %g, tolerance %g)", h->problem.text, v.detail, v.max_error,
		        v.tolerance);
	assert_true(v.max_error <= v.tolerance);
	assert_true(v.checked > 0);
}

static void must_fail(struct host *h, const char *detail)
{
	struct tk_verify_result v = verdict(h);
	if (v.passed)
		fail_msg("%s: a wrong result passed (error %g, tolerance %g)", h->problem.text,
		        v.max_error, v.tolerance);
	if (!strstr(v.detail, detail))
		fail_msg("%s: \"%s\" does not say \"%s\"", h->problem.text, v.detail, detail);
}

static void right_gemms_pass(void **state)
{
	/* clang-format off */
	static const char *const problems[] = {
		"gemm:m=40,n=50,k=60", "gemm:m=40,n=50,k=60,ta=t", "gemm:m=50,n=40,k=60,tb=t",
		"gemm:m=33,n=70,k=20,ta=t,tb=t",
		"gemm:m=1,n=300,k=64", "gemm:m=300,n=1,k=64", "gemm:m=1,n=1,k=1",
		"gemm:m=17,n=19,k=23,batch=3,ta=t",
		"gemm:m=64,n=64,k=64,a=f64", "gemm:m=64,n=600,k=64,a=f16",
		"gemm:m=600,n=64,k=64,a=bf16", "gemm:m=64,n=64,k=64,a=tf32",
		"gemm:m=64,n=64,k=64,a=e4m3", "gemm:m=64,n=64,k=64,a=e5m2,c=f16",
		"gemm:m=64,n=64,k=64,a=f16,c=f32",
		"gemm:m=64,n=64,k=64,a=e4m3,c=e4m3",
		"gemm:m=64,n=64,k=512,dist=uniform", "gemm:m=64,n=64,k=512,dist=trig,a=f16",
		"gemm:m=64,n=64,k=512,dist=trig,ta=t,tb=t",
		"gemm:m=64,n=64,k=64,dist=zeros", "gemm:m=64,n=64,k=512,dist=outliers",
		"gemm:m=64,n=64,k=512,dist=outliers,a=bf16",
		"gemm:m=32,n=32,k=4096", "gemm:m=710,n=2,k=710,dist=trig",
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct host h;
		prepare(&h, problems[i]);
		must_pass(&h);
		host_free(&h);
	}
}

static void one_wrong_entry_is_found(void **state)
{
	/* clang-format off */
	static const char *const problems[] = {"gemm:m=128,n=96,k=64", "gemm:m=96,n=128,k=64,a=f16",
		"gemm:m=64,n=700,k=64,a=bf16",
		"gemm:m=40,n=40,k=64,batch=2"};
	/* clang-format on */
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct host h;
		prepare(&h, problems[i]);
		int64_t n = (int64_t)(h.t[2].bytes / tk_element_bytes(h.t[2].dtype)),
		        at = n * 5 / 7;
		tk_element_set(&h.t[2], at, tk_element_get(&h.t[2], at) + 8);
		must_fail(&h, "expected");
		host_free(&h);
	}
}

static void swapped_rows_are_found(void **state)
{
	for (int columns = 0; columns < 2; columns++) {
		struct host h;
		prepare(&h, columns ? "gemm:m=300,n=200,k=16" : "gemm:m=200,n=300,k=16");
		const struct tk_gemm *p = &h.problem.gemm;
		for (int64_t i = 0; i < (columns ? p->m : p->n); i++) {
			int64_t x = columns ? i * p->n + 3 : 3 * p->n + i,
			        y = columns ? i * p->n + 4 : 4 * p->n + i;
			double keep = tk_element_get(&h.t[2], x);
			tk_element_set(&h.t[2], x, tk_element_get(&h.t[2], y));
			tk_element_set(&h.t[2], y, keep);
		}
		must_fail(&h, "expected");
		host_free(&h);
	}
}

/* Rows of C are compared where they are, and what is between them has to stay. */
static void padded_rows(void **state)
{
	for (int wide = 0; wide < 2; wide++) {
		struct host h;
		prepare(&h, wide ? "gemm:m=20,n=30,k=16,pad=5,batch=2,ta=t"
		                 : "gemm:m=30,n=20,k=16,pad=5,batch=2,tb=t,a=bf16");
		const struct tk_gemm *p = &h.problem.gemm;
		int64_t last = (2 * p->m - 1) * (p->n + 5);
		memset(h.t[2].data, 0, h.t[2].bytes); /* as the engine does between rows */
		tk_reference_gemm(p, h.t);
		must_pass(&h);
		tk_element_set(&h.t[2], last + p->n, 1);
		must_fail(&h, "wrote into the padding of row");
		tk_element_set(&h.t[2], last + p->n, 0);
		tk_element_set(&h.t[2], last + p->n - 1, 100);
		must_fail(&h, "expected");
		host_free(&h);
	}
}

static void too_little_precision_is_found(void **state)
{
	struct host h;
	prepare(&h, "gemm:m=48,n=48,k=512");
	kernel_gemm(&h.problem.gemm, h.t, 512, 0x1p-10); /* as if the operands were tf32 */
	must_fail(&h, "expected");
	host_free(&h);
	prepare(&h, "gemm:m=48,n=48,k=512,a=f16,c=f32");
	kernel_gemm(&h.problem.gemm, h.t, 512, 0x1p-7); /* as if they were bf16 */
	must_fail(&h, "expected");
	host_free(&h);
	prepare(&h, "gemm:m=48,n=48,k=64,a=f64");
	kernel_gemm(&h.problem.gemm, h.t, 64, 0); /* sums in f32 */
	must_fail(&h, "expected");
	host_free(&h);
}

static void a_missing_step_of_k_is_found(void **state)
{
	struct host h;
	prepare(&h, "gemm:m=48,n=48,k=512,a=bf16");
	kernel_gemm(&h.problem.gemm, h.t, 511, 0);
	must_fail(&h, "expected");
	host_free(&h);
}

static void unwritten_outputs_are_named(void **state)
{
	struct host h;
	prepare(&h, "gemm:m=8,n=16,k=4,batch=2");
	memset((char *)h.t[2].data + (16 * 8 + 3 * 16 + 5) * 4, 0xff, 4);
	must_fail(&h, "C[1][3][5] is");
	must_fail(&h, "never written");
	host_free(&h);
	prepare(&h, "attention:b=1,h=2,sq=8,d=4");
	tk_element_set(&h.t[TK_T_O], 9, INFINITY);
	must_fail(&h, "O[0][1][0][1] is inf");
	host_free(&h);
}

static void right_attention_passes(void **state)
{
	/* clang-format off */
	static const char *const problems[] = {
		"attention:b=2,h=4,hkv=2,sq=33,skv=65,d=16,dtype=f32,causal=1",
		"attention:b=1,h=2,sq=64,d=32,dtype=f16",
		"attention:b=1,h=8,hkv=1,sq=1,skv=200,d=32,dtype=bf16,causal=1",
		"attention:b=1,h=1,sq=3,d=2,dtype=f64",
		"attention:b=5,h=2,sq=2,skv=7,d=16,dv=24,dtype=f16",
		"attention:b=1,h=2,sq=64,d=32,dtype=e4m3",
		"attention:b=1,h=2,sq=64,d=32,dtype=f32,dist=outliers",
		"attention:b=1,h=2,sq=64,d=32,dtype=f16,dist=zeros",
		"nsa:b=1,h=4,hkv=2,s=96,d=16,block_size=16,selected_blocks=3,window=20,dtype=f32",
		"nsa:b=2,h=2,s=64,d=16,block_size=16,selected_blocks=2,dtype=bf16",
		"copy:bytes=4096", "read:bytes=40000",
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct host h;
		prepare(&h, problems[i]);
		must_pass(&h);
		host_free(&h);
	}
}

/* The usual mistakes of attention kernels: the result of another problem, checked as if it were
 * this one. */
static void mistakes_of_attention_are_found(void **state)
{
	struct host h;
	struct tk_attention wrong;
	static const char asked[] = "attention:b=2,h=4,hkv=2,sq=32,skv=48,d=16,dtype=bf16,causal=1";
	for (int mistake = 0; mistake < 4; mistake++) {
		prepare(&h, asked);
		wrong = h.problem.attention;
		if (mistake == 0)
			wrong.scale *= 1.1;
		else if (mistake == 1)
			wrong.causal = 0;
		else if (mistake == 2)
			wrong.skv = 32, wrong.causal = 0; /* the last keys are never looked at, and
			                                     the batch starts in the wrong place */
		else
			wrong.hkv = 1;
		assert_int_equal(tk_reference_attention(&wrong, h.t), 0);
		must_fail(&h, "expected");
		host_free(&h);
	}
}

static void wrong_lse_is_found(void **state)
{
	struct host h;
	prepare(&h, "attention:b=1,h=2,sq=8,d=16,dtype=f16");
	for (int64_t i = 0; i < 16; i++)
		tk_element_set(&h.t[TK_T_LSE], i, tk_element_get(&h.t[TK_T_LSE], i) / M_LN2);
	must_fail(&h, "log-sum-exp of row");
	memset(h.t[TK_T_LSE].data, 0xff, h.t[TK_T_LSE].bytes); /* none at all is allowed */
	must_pass(&h);
	tk_element_set(&h.t[TK_T_LSE], 3, 1); /* some is not */
	must_fail(&h, "lse[0][0][0] is");
	host_free(&h);
}

static void every_kv_head_and_both_ends_are_checked(void **state)
{
	for (int64_t head = 0; head < 40; head++) {
		struct host h;
		prepare(&h, "attention:b=1,h=40,sq=4,skv=64,d=8,dtype=f32");
		for (int64_t i = 0; i < 4; i++)
			for (int64_t x = 0; x < 8; x++)
				tk_element_set(&h.t[TK_T_O], (i * 40 + head) * 8 + x, 0.5);
		must_fail(&h, "expected");
		host_free(&h);
	}
}

static void mistakes_of_sparse_attention_are_found(void **state)
{
	struct host h;
	prepare(&h,
	        "nsa:b=1,h=4,hkv=2,s=96,d=16,block_size=16,selected_blocks=3,window=20,dtype=f32");
	struct tk_nsa wrong = h.problem.nsa;
	wrong.window = 21;
	assert_int_equal(tk_reference_nsa(&wrong, h.t), 0);
	must_fail(&h, "expected");
	wrong = h.problem.nsa;
	wrong.causal = 0;
	assert_int_equal(tk_reference_nsa(&wrong, h.t), 0);
	must_fail(&h, "expected");
	host_free(&h);
}

static void wrong_ceilings_are_found(void **state)
{
	struct host h;
	prepare(&h, "copy:bytes=4096");
	tk_element_set(&h.t[1], 1000, 5);
	must_fail(&h, "out[1000] is 5");
	host_free(&h);
	prepare(&h, "read:bytes=40000");
	tk_element_set(&h.t[1], 0, tk_element_get(&h.t[1], 0) + 100);
	must_fail(&h, "the sum is");
	host_free(&h);
	/* A sum of nothing, and what was read once where five passes were asked for. */
	prepare(&h, "read:bytes=4000000");
	tk_element_set(&h.t[1], 0, 0);
	must_fail(&h, "the sum is");
	host_free(&h);
	prepare(&h, "read:bytes=4000000,cache=l2,passes=5");
	tk_element_set(&h.t[1], 0, tk_element_get(&h.t[1], 0) / 5);
	must_fail(&h, "the sum is");
	host_free(&h);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_gemms_pass), cmocka_unit_test(one_wrong_entry_is_found),
		cmocka_unit_test(swapped_rows_are_found),
		cmocka_unit_test(padded_rows),
		cmocka_unit_test(too_little_precision_is_found),
		cmocka_unit_test(a_missing_step_of_k_is_found),
		cmocka_unit_test(unwritten_outputs_are_named),
		cmocka_unit_test(right_attention_passes),
		cmocka_unit_test(mistakes_of_attention_are_found),
		cmocka_unit_test(wrong_lse_is_found),
		cmocka_unit_test(every_kv_head_and_both_ends_are_checked),
		cmocka_unit_test(mistakes_of_sparse_attention_are_found),
		cmocka_unit_test(wrong_ceilings_are_found),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
