/* What an adapter in Python reads: every problem and tensor is JSON with the documented members. */
#include "python_text.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs the above */
#include <cmocka.h>

static json_t *parse(const char *text)
{
	json_error_t at;
	json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &at);
	if (!o)
		fail_msg("%s: %s", at.text, text);
	return o;
}

static void assert_number(const json_t *o, const char *key, double expected)
{
	assert_true(json_is_number(json_object_get(o, key)));
	assert_true(json_number_value(json_object_get(o, key)) == expected);
}

static void assert_text(const json_t *o, const char *key, const char *expected)
{
	assert_string_equal(json_string_value(json_object_get(o, key)), expected);
}

static json_t *write_problem(const struct tk_problem *p)
{
	struct tk_abi_error err = {.size = sizeof err};
	char text[PYTHON_PROBLEM_SIZE];
	assert_int_equal(python_problem_write(p, text, &err), TK_ABI_OK);
	return parse(text);
}

static void gemm_has_its_members(void **state)
{
	struct tk_gemm g = {sizeof g, 1, INT64_MAX, 3, 2, 1, 0, TK_BF16, TK_E4M3, TK_F16, TK_F32};
	json_t *o = write_problem(
	        &(struct tk_problem){.op = TK_OP_GEMM, .text = "gemm:m=1", .gemm = &g});
	assert_text(o, "op", "gemm");
	assert_text(o, "text", "gemm:m=1");
	assert_text(o, "a", "bf16");
	assert_text(o, "b", "e4m3");
	assert_text(o, "acc", "f32");
	assert_true(json_integer_value(json_object_get(o, "n")) == INT64_MAX);
	assert_number(o, "batch", 2);
	assert_number(o, "ta", 1);
	assert_number(o, "tb", 0);
	json_decref(o);
}

static void attention_has_its_members(void **state)
{
	struct tk_attention a = {.b = 1, .h = 8, .hkv = 2, .sq = 5, .skv = 7, .d = 64, .dv = 32};
	a.dtype = TK_F16;
	a.causal = 1;
	a.dir = TK_BWD;
	a.scale = 0.1;
	json_t *o = write_problem(
	        &(struct tk_problem){.op = TK_OP_ATTENTION, .text = "attention:", .attention = &a});
	assert_text(o, "dtype", "f16");
	assert_number(o, "hkv", 2);
	assert_number(o, "dv", 32);
	assert_number(o, "backward", 1);
	assert_number(o, "scale", 0.1); /* every digit */
	json_decref(o);
}

static void nsa_has_its_members(void **state)
{
	struct tk_nsa n = {.b = 1, .selected_blocks = 16, .block_size = 64, .dtype = TK_BF16};
	json_t *o = write_problem(&(struct tk_problem){.op = TK_OP_NSA, .text = "nsa:", .nsa = &n});
	assert_number(o, "selected_blocks", 16);
	assert_text(o, "op", "nsa");
	json_decref(o);
}

static void other_operations_are_unsupported(void **state)
{
	struct tk_ceiling_op c = {.bytes = 1};
	struct tk_abi_error err = {.size = sizeof err};
	char text[PYTHON_PROBLEM_SIZE];
	const struct tk_problem p = {.op = TK_OP_COPY, .text = "copy:", .ceiling = &c};
	assert_int_equal(python_problem_write(&p, text, &err), TK_ABI_UNSUPPORTED);
}

static void the_largest_tensors_fit(void **state)
{
	struct tk_tensor tensors[TK_T_MAX + 1];
	char text[PYTHON_TENSORS_SIZE];
	for (size_t i = 0; i <= TK_T_MAX; i++) {
		tensors[i] = (struct tk_tensor){.dtype = TK_BF16,
		        .ndim = 5,
		        .output = i % 2,
		        .dim = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
		        .name = "a name of thirty-two characters!",
		        .data = (void *)(UINTPTR_MAX / 2),
		        .bytes = SIZE_MAX / 2};
	}
	tensors[2].data = NULL; /* optional, and not there */
	python_tensors_write(tensors, TK_T_MAX + 1, text);
	json_t *list = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(list), TK_T_MAX - 1);
	const json_t *first = json_array_get(list, 0);
	assert_text(first, "dtype", "bf16");
	assert_true(json_is_false(json_object_get(first, "output")));
	assert_int_equal(json_array_size(json_object_get(first, "shape")), 5);
	json_decref(list);
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_has_its_members),
        cmocka_unit_test(attention_has_its_members),
        cmocka_unit_test(nsa_has_its_members),
        cmocka_unit_test(other_operations_are_unsupported),
        cmocka_unit_test(the_largest_tensors_fit),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
