/* Suites of public benchmark runners, key by key; sequences; which names of suites are paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/suite.h"
#include "config/suite_internal.h"
#include "core/problem.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int load(const char *text, struct tk_suite **s, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	int status;

	tk_buf_add_str(&b, text);
	status = tk_suite_load_text("s.json", "s.json", &b, s, err);
	tk_buf_free(&b);
	return status;
}

/* The one problem of a file; written with ' for ". */
static void expect_problem(const char *kernel, const char *object, const char *problem)
{
	struct tk_problem_spec expected;
	struct tk_suite *s = NULL;
	struct tk_error err = {0};
	char text[512];

	snprintf(text, sizeof text, "{'%s': [{%s}]}", kernel, object);
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	if (load(text, &s, &err))
		fail_msg("%s: %s", text, err.message);
	if (tk_problem_parse(&expected, problem, &err))
		fail_msg("%s: %s", problem, err.message);
	assert_int_equal(s->count, 1);
	if (strcmp(s->problems[0].text, expected.text))
		fail_msg("%s is %s, not %s", text, s->problems[0].text, expected.text);
	tk_suite_free(s);
}

#define GEMM "'m': 64, 'n': 32, 'k': 16"
#define MHA "'batch': 2, 'heads': 8, 'seq_len': 128, 'dim': 64"
#define NSA \
	"'batch': 1, 'heads': 32, 'heads_kv': 2, 'seq_len': 1024, 'dim': 128, 'block_size': 64, " \
	"'selected_blocks': 4"

static void keys_of_a_gemm(void **state)
{
	static const char *const kernels[] = {"gemm", "matmul"};
	static const struct {
		const char *object, *problem;
	} cases[] = {
	        {GEMM, "gemm:m=64,n=32,k=16,a=f16"},
	        {"'M': 64, 'N': 32, 'K': 16", "gemm:m=64,n=32,k=16,a=f16"},
	        {GEMM ", 'batch': 3", "gemm:m=64,n=32,k=16,batch=3,a=f16"},
	        {GEMM ", 'dtype': 'bf16'", "gemm:m=64,n=32,k=16,a=bf16"},
	        {GEMM ", 'in_dtype': 'bf16'", "gemm:m=64,n=32,k=16,a=bf16"},
	        {GEMM ", 'a': 'bf16'", "gemm:m=64,n=32,k=16,a=bf16"},
	        {GEMM ", 'out_dtype': 'f32'", "gemm:m=64,n=32,k=16,a=f16,c=f32"},
	        {GEMM ", 'c': 'f32'", "gemm:m=64,n=32,k=16,a=f16,c=f32"},
	        {GEMM ", 'accum_dtype': 'f16'", "gemm:m=64,n=32,k=16,a=f16,acc=f16"},
	        {GEMM ", 'acc_dtype': 'f16'", "gemm:m=64,n=32,k=16,a=f16,acc=f16"},
	        {GEMM ", 'acc': 'f16'", "gemm:m=64,n=32,k=16,a=f16,acc=f16"},
	        {GEMM ", 'trans_a': true", "gemm:m=64,n=32,k=16,a=f16,ta=t"},
	        {GEMM ", 'trans_A': true", "gemm:m=64,n=32,k=16,a=f16,ta=t"},
	        {GEMM ", 'transA': 'T'", "gemm:m=64,n=32,k=16,a=f16,ta=t"},
	        {GEMM ", 'ta': 't'", "gemm:m=64,n=32,k=16,a=f16,ta=t"},
	        {GEMM ", 'trans_b': true", "gemm:m=64,n=32,k=16,a=f16,tb=t"},
	        {GEMM ", 'trans_B': false", "gemm:m=64,n=32,k=16,a=f16,tb=n"},
	        {GEMM ", 'transB': 'N'", "gemm:m=64,n=32,k=16,a=f16,tb=n"},
	        {GEMM ", 'tb': 't'", "gemm:m=64,n=32,k=16,a=f16,tb=t"},
	        /* null says nothing */
	        {GEMM ", 'dtype': null, 'trans_a': null", "gemm:m=64,n=32,k=16,a=f16"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect_problem(kernels[i % 2], cases[i].object, cases[i].problem);
}

static void keys_of_attention(void **state)
{
	static const char *const kernels[] = {"mha", "attention", "flash_attention", "gqa"};
	static const struct {
		const char *object, *problem;
	} cases[] = {
	        {MHA, "attention:b=2,h=8,sq=128,d=64,dtype=f16"},
	        {"'b': 2, 'h': 8, 'sq': 128, 'd': 64", "attention:b=2,h=8,sq=128,d=64,dtype=f16"},
	        {"'batch': 2, 'heads': 8, 'seq_len_q': 128, 'dim': 64",
	                "attention:b=2,h=8,sq=128,d=64,dtype=f16"},
	        {"'batch': 2, 'heads': 8, 'seq_q': 128, 'seq_kv': 256, 'dim': 64",
	                "attention:b=2,h=8,sq=128,skv=256,d=64,dtype=f16"},
	        {MHA ", 'seq_len_kv': 256", "attention:b=2,h=8,sq=128,skv=256,d=64,dtype=f16"},
	        {MHA ", 'skv': 256", "attention:b=2,h=8,sq=128,skv=256,d=64,dtype=f16"},
	        {MHA ", 'heads_kv': 2", "attention:b=2,h=8,hkv=2,sq=128,d=64,dtype=f16"},
	        {MHA ", 'kv_heads': 2", "attention:b=2,h=8,hkv=2,sq=128,d=64,dtype=f16"},
	        {MHA ", 'hkv': 2", "attention:b=2,h=8,hkv=2,sq=128,d=64,dtype=f16"},
	        {MHA ", 'groups': 4", "attention:b=2,h=8,hkv=2,sq=128,d=64,dtype=f16"},
	        {MHA ", 'is_causal': true", "attention:b=2,h=8,sq=128,d=64,causal=1,dtype=f16"},
	        {MHA ", 'causal': false", "attention:b=2,h=8,sq=128,d=64,causal=0,dtype=f16"},
	        {MHA ", 'dim_v': 32", "attention:b=2,h=8,sq=128,d=64,dv=32,dtype=f16"},
	        {MHA ", 'dtype': 'bf16'", "attention:b=2,h=8,sq=128,d=64,dtype=bf16"},
	        {MHA ", 'scale': 0.5", "attention:b=2,h=8,sq=128,d=64,scale=0.5,dtype=f16"},
	        {MHA ", 'dir': 'bwd'", "attention:b=2,h=8,sq=128,d=64,dir=bwd,dtype=f16"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect_problem(kernels[i % 4], cases[i].object, cases[i].problem);
}

static void keys_of_nsa(void **state)
{
	static const struct {
		const char *object, *problem;
	} cases[] = {
	        {NSA, "nsa:b=1,h=32,hkv=2,s=1024,d=128,block_size=64,selected_blocks=4,dtype=f16"},
	        {"'b': 1, 'h': 32, 'hkv': 2, 's': 1024, 'd': 128, 'block_size': 64, "
	         "'selected_blocks': 4",
	                "nsa:b=1,h=32,hkv=2,s=1024,d=128,block_size=64,selected_blocks=4,dtype="
	                "f16"},
	        {"'batch': 1, 'heads': 32, 'groups': 16, 'seq_len': 1024, 'dim': 128, "
	         "'block_size': 64, 'selected_blocks': 4",
	                "nsa:b=1,h=32,hkv=2,s=1024,d=128,block_size=64,selected_blocks=4,dtype="
	                "f16"},
	        {NSA ", 'window': 64", "nsa:b=1,h=32,hkv=2,s=1024,d=128,block_size=64,"
	                               "selected_blocks=4,window=64,dtype=f16"},
	        {NSA ", 'window_size': 64", "nsa:b=1,h=32,hkv=2,s=1024,d=128,block_size=64,"
	                                    "selected_blocks=4,window=64,dtype=f16"},
	        {NSA ", 'dtype': 'bf16'", "nsa:b=1,h=32,hkv=2,s=1024,d=128,block_size=64,selected_"
	                                  "blocks=4,dtype=bf16"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect_problem("nsa", cases[i].object, cases[i].problem);
}

static void mistakes_are_named_by_their_place(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"[]", "s.json:1:1: the file is a list; expected an object"},
	        {"{'gemm': {}}", "s.json:1:10: gemm is a mapping; expected an array of objects"},
	        {"{'gemm': [5]}",
	                "s.json:1:11: an item of gemm is a single value; expected an object"},
	        {"{'gem': []}", "s.json:1:2: unknown kernel \"gem\"; expected gemm"},
	        {"{'x': []}", "s.json:1:2: unknown kernel \"x\"; expected gemm, matmul, mha"},
	        {"{'gemm': [{" GEMM ", 'trans': true}]}",
	                "s.json:1:39: unknown key \"trans\" in gemm; did you mean \"transA\"?"},
	        {"{'gemm': [{" GEMM ", 'M': 5}]}", "duplicate key: \"M\" also sets m"},
	        {"{'gemm': [{" GEMM ", 'dtype': 'f32', 'a': 'f32'}]}",
	                "duplicate key: \"a\" also sets a"},
	        {"{'gqa': [{" MHA ", 'groups': 4, 'heads_kv': 2}]}",
	                "both groups and the number of kv heads are given"},
	        {"{'gqa': [{" MHA ", 'groups': 'x'}]}", "groups is not a whole number"},
	        {"{'gqa': [{" MHA ", 'groups': [4]}]}",
	                "groups is a list; expected a whole number"},
	        {"{'gqa': [{" MHA ", 'groups': -4}]}", "groups is not a whole number"},
	        {"{'gqa': [{" MHA ", 'groups': 1234567890}]}", "groups is not a whole number"},
	        {"{'gqa': [{" MHA ", 'groups': 0}]}", "s.json:1:"},
	        {"{'gqa': [{" MHA ", 'groups': 3}]}", "s.json:1:"},
	        {"{'gemm': [{'m': 64}]}", "s.json:1:11: "},
	        {"{'gemm': [{'m': 64, 'n': 0, 'k': 1}]}", "s.json:1:26: "},
	        {"{'gemm': [{'m': 64, 'n': 'many', 'k': 1}]}", "s.json:1:26: "},
	        {"{'gemm': [{'m': 64, 'n': 1, 'k': 1, 'dtype': 'f12'}]}", "s.json:1:46: "},
	        {"{'gemm': [{'m': '1\\u0000', 'n': 1, 'k': 1}]}", "s.json:1:"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};
		char text[512];

		snprintf(text, sizeof text, "%s", cases[i].text);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		if (load(text, &s, &err) != TK_ECONFIG || !strstr(err.message, cases[i].message))
			fail_msg("%s: \"%s\", not \"%s\"", text, err.message, cases[i].message);
		assert_null(s);
	}
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void a_sequence_is_in_the_order_of_its_file(void **state)
{
	static const char text[] = "source: x\nsequence: yes\nproblems:\n"
	                           "  - gemm: { m: 8, n: 8, k: 8 }\n"
	                           "  - fma: { count: 7 }\n"
	                           "  - gemm: { m: 8, n: 8, k: 8 }\n",
	                  other[] = "source: x\nproblems:\n  - fma: { count: 7 }\n";
	char dir[] = "/tmp/tracker-suite-XXXXXX", path[96];
	struct tk_suite_sequence seq;
	struct tk_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/layer.yml", dir);
	assert_int_equal(tk_file_write(path, text, sizeof text - 1, &err), TK_OK);
	if (tk_suite_load_sequence(dir, path, &seq, &err))
		fail_msg("%s", err.message);
	assert_int_equal(seq.count, 3); /* a kernel may be launched twice */
	assert_ptr_equal(seq.kernels[0], seq.kernels[2]);
	assert_memory_equal(seq.kernels[0], "gemm:", 5);
	assert_memory_equal(seq.kernels[1], "fma:", 4);
	assert_memory_equal(seq.mode, "sequence:layer@", 15);
	assert_int_equal(strlen(seq.mode), 15 + 8);
	tk_suite_free_sequence(&seq);
	assert_int_equal(seq.count, 0);
	tk_suite_free_sequence(&seq); /* once more is nothing */
	assert_int_equal(tk_file_write(path, other, sizeof other - 1, &err), TK_OK);
	assert_int_equal(tk_suite_load_sequence(dir, path, &seq, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "layer.yml:1:1: this suite is no sequence"));
	assert_int_equal(tk_suite_load_sequence(dir, "./none.yml", &seq, &err), TK_ENOTFOUND);
	assert_int_equal(tk_dir_remove(dir, &err), TK_OK);
}

static void names_and_paths(void **state)
{
	static const char *const paths[] = {"a.yml", "a.yaml", "a.json", "./a", "/a", "a/b",
	        "..yml", "a.b.json"},
	                         *const names[] = {
	                                 "a", "a.b", "a-yml", "yml", "a.yml2", "a.js", ""};

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++)
		if (!tk_suite_name_is_path(paths[i]))
			fail_msg("%s is no path", paths[i]);
	for (size_t i = 0; i < COUNT(names); i++)
		if (tk_suite_name_is_path(names[i]))
			fail_msg("%s is a path", names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(keys_of_a_gemm),
	        cmocka_unit_test(keys_of_attention),
	        cmocka_unit_test(keys_of_nsa),
	        cmocka_unit_test(mistakes_are_named_by_their_place),
	        cmocka_unit_test(a_sequence_is_in_the_order_of_its_file),
	        cmocka_unit_test(names_and_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
