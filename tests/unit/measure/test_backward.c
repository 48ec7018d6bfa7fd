/* The backward pass of attention: its reference against differences of the forward pass, its check
 * against right and wrong kernels, and the engine's way to O and LSE. */
#include "host.h"
#include "measure/measure.h"
#include "reference.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SEED 5

static void with_forward(struct host *h)
{
	struct tk_error err = {0};
	for (uint32_t i = 0; i < h->count; i++)
		if (!h->t[i].output)
			assert_int_equal(
			        tk_inputs_fill(&h->problem, i, SEED, h->t[i].data, &err), 0);
	assert_int_equal(tk_reference_attention(&h->problem.attention, h->t), 0);
}

static void prepare(struct host *h, const char *text)
{
	host_shape(h, text);
	with_forward(h);
	assert_int_equal(tk_reference_attention_backward(&h->problem.attention, h->t), 0);
}

static struct tk_verify_result verdict(struct host *h)
{
	struct tk_verify_result v;
	struct tk_error err = {0};
	if (tk_verify_outputs(&h->problem, h->t, SEED, &v, &err))
		fail_msg("%s: %s", h->problem.text, err.message);
	return v;
}

static void must_fail(struct host *h, const char *detail)
{
	struct tk_verify_result v = verdict(h);
	if (v.passed || !strstr(v.detail, detail))
		fail_msg("%s: passed %d, \"%s\" does not say \"%s\"", h->problem.text, v.passed,
		        v.detail, detail);
}

/* sum of dO O: what the gradients are the derivatives of */
static double loss(struct host *h)
{
	double sum = 0;
	assert_int_equal(tk_reference_attention(&h->problem.attention, h->t), 0);
	for (int64_t i = 0; i < (int64_t)(h->t[TK_T_O].bytes / 8); i++)
		sum += tk_element_get(&h->t[TK_T_O], i) * tk_element_get(&h->t[TK_T_DO], i);
	return sum;
}

static void the_reference_is_the_derivative(void **state)
{
	static const char *const problems[] = {
	        "attention:b=2,h=4,hkv=2,sq=5,skv=7,d=3,dv=4,dtype=f64,causal=1,dir=bwd",
	        "attention:b=1,h=2,sq=6,d=4,dtype=f64,scale=0.3,dir=bwd"};
	for (size_t n = 0; n < 2; n++) {
		struct host h;
		prepare(&h, problems[n]);
		for (int part = 0; part < 3; part++)
			for (int64_t i = 0; i < (int64_t)(h.t[part].bytes / 8); i += 5) {
				double x = tk_element_get(&h.t[part], i), step = 1e-5;
				tk_element_set(&h.t[part], i, x + step);
				double up = loss(&h);
				tk_element_set(&h.t[part], i, x - step);
				double slope = (up - loss(&h)) / (2 * step),
				       got = tk_element_get(&h.t[TK_T_DQ + part], i);
				tk_element_set(&h.t[part], i, x);
				/* the log-sum-exp is f32: 2^-24 of the weights */
				if (fabs(slope - got) > 1e-5 * (1 + fabs(slope)))
					fail_msg("%s: %s %lld: %g, by differences %g", problems[n],
					        h.t[TK_T_DQ + part].name, (long long)i, got, slope);
			}
		host_free(&h);
	}
}

static const char *const shapes[] = {
        "attention:b=2,h=4,hkv=2,sq=33,skv=65,d=16,dtype=f32,causal=1,dir=bwd",
        "attention:b=1,h=2,sq=64,d=32,dtype=f16,dir=bwd",
        "attention:b=3,h=4,hkv=1,sq=17,skv=40,d=16,dv=24,dtype=bf16,causal=1,dir=bwd",
        "attention:b=1,h=2,sq=1,skv=50,d=8,dtype=bf16,dir=bwd",
        "attention:b=1,h=2,sq=48,d=16,dtype=f16,dist=outliers,dir=bwd",
        "attention:b=1,h=2,sq=48,d=16,dtype=f64,dist=zeros,dir=bwd",
};

static void right_gradients_pass(void **state)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct host h;
		prepare(&h, shapes[i]);
		struct tk_verify_result v = verdict(&h);
		if (!v.passed)
			fail_msg("%s: %s (error %g, tolerance %g)", shapes[i], v.detail,
			        v.max_error, v.tolerance);
		assert_true(v.checked > 0);
		assert_string_equal(v.method, "rows");
		host_free(&h);
	}
}

/* A decent kernel: weights and their gradients rounded to the type of the tensors, heads of a group
 * added up in it. */
static void rounded_kernel(struct host *h)
{
	const struct tk_attention *p = &h->problem.attention;
	struct tk_reference_pair r;
	struct tk_tensor cell = {.dtype = p->dtype, .data = &(double){0}};
	int64_t group = p->h / p->hkv;
	assert_int_equal(tk_reference_pair_init(&r, p), 0);
	for (int64_t b = 0; b < p->b; b++)
		for (int64_t j = 0; j < p->skv * p->hkv; j++)
			for (int64_t x = 0; x < p->d; x++) {
				double total = 0;
				for (int64_t head = j % p->hkv * group;
				        head < (j % p->hkv + 1) * group; head++) {
					float sum = 0;
					for (int64_t i = 0; i < p->sq; i++) {
						if (!tk_reference_pair_visible(p, i, j / p->hkv))
							continue;
						tk_reference_pair_query(p, h->t, b, head, i, &r);
						tk_reference_pair_key(
						        p, h->t, b, j % p->hkv, j / p->hkv, &r);
						tk_reference_pair_compute(p, &r);
						tk_element_set(&cell, 0, r.d_score);
						sum += (float)(tk_element_get(&cell, 0) * r.q[x]);
					}
					tk_element_set(&cell, 0, p->scale * (double)sum);
					total += tk_element_get(&cell, 0);
				}
				tk_element_set(&h->t[TK_T_DK], (b * p->skv * p->hkv + j) * p->d + x,
				        total);
			}
	tk_reference_pair_free(&r);
}

static void rounded_gradients_pass(void **state)
{
	static const char *const problems[] = {
	        "attention:b=2,h=4,hkv=2,sq=33,skv=40,d=8,dtype=bf16,causal=1,dir=bwd",
	        "attention:b=1,h=2,sq=48,d=8,dtype=f16,dir=bwd"};
	for (size_t i = 0; i < 2; i++) {
		struct host h;
		prepare(&h, problems[i]);
		rounded_kernel(&h);
		struct tk_verify_result v = verdict(&h);
		if (!v.passed)
			fail_msg("%s: %s (error %g, tolerance %g)", problems[i], v.detail,
			        v.max_error, v.tolerance);
		host_free(&h);
	}
}

/* The gradients of another problem, checked as if they were this one's. */
static void mistakes_are_found(void **state)
{
	for (int mistake = 0; mistake < 5; mistake++) {
		struct host h;
		prepare(&h,
		        "attention:b=2,h=4,hkv=2,sq=32,skv=48,d=16,dtype=bf16,causal=1,dir=bwd");
		struct tk_attention wrong = h.problem.attention;
		float keep = 0;
		float *lse = h.t[TK_T_LSE].data;
		if (mistake == 0)
			wrong.scale *= 1.05;
		else if (mistake == 1)
			wrong.causal = 0;
		else if (mistake == 2)
			wrong.h = wrong.hkv = 2;
		else if (mistake == 3)
			keep = lse[3 * 32 + 31],
			lse[3 * 32 + 31] = keep + 1; /* one row of the statistics */
		else
			memset(h.t[TK_T_O].data, 0, h.t[TK_T_O].bytes); /* delta forgotten */
		assert_int_equal(tk_reference_attention_backward(&wrong, h.t), 0);
		if (mistake == 3)
			lse[3 * 32 + 31] = keep;
		if (mistake == 4)
			with_forward(&h);
		must_fail(&h, "expected");
		host_free(&h);
	}
}

static void unwritten_outputs_are_named(void **state)
{
	struct host h;
	prepare(&h, shapes[0]);
	tk_element_set(&h.t[TK_T_DK], 5, NAN);
	must_fail(&h, "dK[0][0][0][5] is");
	host_free(&h);
}

static void the_engine_runs_the_forward_pass_first(void **state)
{
	const struct tk_device_ops *ops = tk_device_entry();
	const struct tk_backend *backend = tk_backend_entry();
	struct tk_abi_error abi = {.size = sizeof abi};
	struct tk_error err = {0};
	struct tk_device *device = NULL;
	struct tk_backend_ctx *ctx = NULL;
	struct tk_problem_spec p;
	struct tk_measurement m;
	const struct tk_measure_options o = {.seed = 1,
	        .stop = {.relative_half_width = 1,
	                .confidence = 0.95,
	                .min_samples = 3,
	                .max_samples = 3,
	                .budget_s = 1},
	        .max_warmup_s = 0.01,
	        .verify = true};
	assert_int_equal(ops->open(0, &device, &abi), 0);
	struct tk_open_args args = {
	        .size = sizeof args, .device = device, .device_ops = ops, .options = ""};
	assert_int_equal(backend->open(&args, &ctx, &abi), 0);
	assert_int_equal(tk_problem_parse(&p, shapes[2], &err), 0);
	assert_int_equal(tk_measure(ops, device, backend, ctx, &p, &o, &m, &err), 0);
	if (!m.verdict.passed)
		fail_msg("%s: %s", shapes[2], m.message);
	assert_true(m.verdict.done && m.verdict.checked > 0);
	tk_measurement_free(&m);
	backend->close(ctx);
	ops->close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_reference_is_the_derivative),
	        cmocka_unit_test(right_gradients_pass),
	        cmocka_unit_test(rounded_gradients_pass),
	        cmocka_unit_test(mistakes_are_found),
	        cmocka_unit_test(unwritten_outputs_are_named),
	        cmocka_unit_test(the_engine_runs_the_forward_pass_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
