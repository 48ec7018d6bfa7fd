/* Attention of every backend against the reference: causal at the bottom right, GQA, decoding, odd
 * sizes, tilings, LSE. */
#include "reference.h"
#include "subject.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct subject *subjects;

static int64_t elements(const struct tk_attention *a, int tensor)
{
	switch (tensor) {
	case TK_T_Q:
		return a->b * a->sq * a->h * a->d;
	case TK_T_K:
		return a->b * a->skv * a->hkv * a->d;
	case TK_T_V:
		return a->b * a->skv * a->hkv * a->dv;
	case TK_T_O:
		return a->b * a->sq * a->h * a->dv;
	default:
		return a->b * a->h * a->sq;
	}
}

static void compare(const struct tk_tensor *got, const struct tk_tensor *want, double allowed,
        const char *who, const char *text)
{
	for (int64_t i = 0; i < want->dim[0]; i++) {
		double x = tk_element_load(got->dtype, got->data, i),
		       y = tk_element_load(want->dtype, want->data, i);
		double tolerance = allowed + 2.02 * tk_element_roundoff(got->dtype) * fabs(y);
		if (isinf(y) ? x != y : !(fabs(x - y) <= tolerance))
			fail_msg("%s: %s: element %d is %.9g, expected %.9g", who, text, (int)i, x,
			        y);
	}
}

/* Values are below 1, so the output is; scores up to `peak` lose peak * 2^-24 in f32 before they
 * are exponentiated. */
static int check(const struct tk_attention *a, const char *config, bool with_lse, double peak)
{
	char text[160];
	struct tk_problem p = {
	        .size = sizeof(p), .op = TK_OP_ATTENTION, .text = "attention:test", .attention = a};
	struct tk_tensor t[5], want[5];
	int ran = 0;
	snprintf(text, sizeof(text), "b%d h%d/%d s%d/%d d%d/%d causal=%d type=%u", (int)a->b,
	        (int)a->h, (int)a->hkv, (int)a->sq, (int)a->skv, (int)a->d, (int)a->dv, a->causal,
	        a->dtype);
	for (int i = 0; i < 5; i++) {
		t[i] = tensor_new(i == TK_T_LSE ? TK_F32 : a->dtype, i >= TK_T_O, elements(a, i));
		if (i < TK_T_O)
			tensor_random(&t[i], (uint64_t)(10 + i));
		want[i] = t[i];
		if (i >= TK_T_O)
			want[i] = tensor_new(TK_F64, true, elements(a, i));
	}
	assert_int_equal(tk_reference_attention(a, want), 0);
	for (struct subject *s = subjects; s->module; s++) {
		if (config && strcmp(s->module, "cpu") != 0)
			continue;
		if (subject_run(s, &p, config, t, with_lse ? 5 : 4))
			continue;
		const char *who = *s->options ? s->options : s->module;
		compare(&t[TK_T_O], &want[TK_T_O], 4e-6 + peak * 4e-7, who, text);
		if (with_lse)
			compare(&t[TK_T_LSE], &want[TK_T_LSE], 4e-6 + peak * 4e-7, who, text);
		ran++;
	}
	for (int i = 0; i < 5; i++) {
		tensor_free(&t[i]);
		if (i >= TK_T_O)
			tensor_free(&want[i]);
	}
	return ran;
}

static struct tk_attention attention(const int64_t shape[7], int causal, uint32_t dtype)
{
	return (struct tk_attention){.size = sizeof(struct tk_attention),
	        .b = shape[0],
	        .h = shape[1],
	        .hkv = shape[2],
	        .sq = shape[3],
	        .skv = shape[4],
	        .d = shape[5],
	        .dv = shape[6],
	        .dtype = dtype,
	        .causal = causal,
	        .dir = TK_FWD,
	        .scale = 1 / sqrt((double)shape[5])};
}

/* b h hkv sq skv d dv */
static const int64_t shapes[][7] = {
        {1, 1, 1, 1, 1, 1, 1},
        {1, 1, 1, 64, 64, 64, 64},
        {2, 4, 2, 37, 53, 24, 24},  /* GQA, sq < skv, nothing is a multiple of anything */
        {1, 6, 1, 65, 129, 40, 40}, /* MQA, one more than a panel */
        {1, 2, 1, 20, 7, 16, 16},   /* sq > skv: under the causal mask 13 rows see nothing */
        {2, 8, 2, 1, 130, 32, 32},  /* decoding */
        {1, 3, 3, 33, 70, 20, 36},  /* dv != d */
        {1, 2, 2, 200, 200, 8, 8},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void all_shapes(void **state)
{
	static const uint32_t types[] = {TK_F32, TK_F16, TK_BF16};
	for (size_t i = 0; i < SHAPES; i++)
		for (int causal = 0; causal < 2; causal++)
			for (int type = 0; type < 3; type++) {
				struct tk_attention a = attention(shapes[i], causal, types[type]);
				assert_true(check(&a, NULL, true, 4) >= 2);
			}
}

static void all_tilings(void **state)
{
	static const int64_t shape[] = {1, 4, 2, 150, 210, 16, 16};
	struct tk_attention a = attention(shape, 1, TK_F32);
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_ATTENTION, .attention = &a};
	const char *const *names;
	uint32_t count;
	struct tk_abi_error err = {.size = sizeof(err)};
	assert_int_equal(
	        subjects->backend->configs(subjects->ctx, &p, &names, &count, &err), TK_ABI_OK);
	assert_true(count > 1);
	for (uint32_t i = 0; i < count; i++)
		assert_true(check(&a, names[i], false, 4) >= 2);
}

/* Scores of thousands: exp() would overflow without the running maximum; a negative scale turns the
 * order round. */
static void large_scores(void **state)
{
	struct tk_attention a = attention(shapes[2], 1, TK_F32);
	a.scale = 1000;
	assert_true(check(&a, NULL, true, 10000) >= 2);
	a.scale = -30;
	assert_true(check(&a, NULL, true, 300) >= 2);
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
	        cmocka_unit_test(all_shapes),
	        cmocka_unit_test(all_tilings),
	        cmocka_unit_test(large_scores),
	};
	return cmocka_run_group_tests_name("kernels_attention", tests, open_all, close_all);
}
