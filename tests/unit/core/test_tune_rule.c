/* Parameters from the names of configurations, and rules from tuned problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "core/problem.h"
#include "core/tune_config.h"
#include "core/tune_rule.h"

/* "name=value;..." */
static void has(const char *config, const char *expected)
{
	struct tk_tune_parameter p[TK_TUNE_PARAMETERS_MAX];
	char text[400] = "";
	size_t count = tk_tune_config_parse(config, p), len = 0;

	for (size_t i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s=%lld;", p[i].name,
		        (long long)p[i].value);
	assert_string_equal(text, expected);
}

static void names_have_parameters(void **state)
{
	has("mc=768,kc=128,nc=1024", "mc=768;kc=128;nc=1024;");
	has("split=-1", "split=-1;");
	has("mc768_kc128_nc1024", "mc=768;kc=128;nc=1024;");
	has("tile-64x128-split-4", "tile 1=64;tile 2=128;split=4;");
	has("128x256x64", "size 1=128;size 2=256;size 3=64;");
	has("heuristic-3", "heuristic=3;");
	has("num_warps8_stages2", "num_warps=8;stages=2;");
	has("default", "");
	has("", "");
	has("a=1,b", "a=1;");
	has("1_2_3_4_5_6_7_8_9_10_11_12_13_14_15_16_17_18",
	        "size 1=1;size 2=2;size 3=3;size 4=4;size 5=5;size 6=6;size 7=7;size 8=8;size 9=9;"
	        "size 10=10;size 11=11;size 12=12;size 13=13;size 14=14;size 15=15;size 16=16;");
}

static struct tk_tune_rules find(const struct tk_tune_fact *written, size_t count)
{
	static struct tk_problem_spec specs[16];
	struct tk_tune_fact facts[16];
	struct tk_tune_rules rules;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(tk_problem_parse(&specs[i], written[i].problem, NULL), TK_OK);
		facts[i] = (struct tk_tune_fact){specs[i].text, written[i].choice};
	}
	assert_int_equal(tk_tune_rules_find(facts, count, &rules, NULL), TK_OK);
	return rules;
}

static void is_rule(const struct tk_tune_rule *rule, const char *sweep, const char *expected)
{
	char text[300];

	assert_string_equal(rule->sweep, sweep);
	assert_string_equal(tk_tune_rule_format(rule, text, sizeof text), expected);
}

static void a_sweep_has_a_rule(void **state)
{
	const struct tk_tune_fact facts[] = {
	        {"gemm:m=4096,n=4096,k=4096,a=bf16", "big"},
	        {"gemm:m=16,n=4096,k=4096,a=bf16", "split"},
	        {"gemm:m=128,n=4096,k=4096,a=bf16", "tile"},
	        {"gemm:m=64,n=4096,k=4096,a=bf16", "split"},
	        {"gemm:m=16,n=4096,k=8192,a=bf16", "split"},
	};
	struct tk_tune_rules rules = find(facts, 5);

	assert_int_equal(rules.count, 1);
	assert_int_equal(rules.at[0].sizes, 4);
	is_rule(&rules.at[0], "gemm bf16 *x4096x4096 nn",
	        "split up to m = 64, tile at m = 128, big from m = 4096");
	tk_tune_rules_free(&rules);
}

static void sizes_that_change_together_are_one(void **state)
{
	const struct tk_tune_fact facts[] = {
	        {"attention:b=1,h=8,sq=128,d=64,dtype=f32", "q192"},
	        {"attention:b=1,h=8,sq=256,d=64,dtype=f32", "q192"},
	        {"attention:b=1,h=8,sq=512,d=64,dtype=f32", "q96"},
	        {"attention:b=1,h=8,sq=1024,d=64,dtype=f32", "q96"},
	        {"gemm:m=512,n=512,k=512", "a"},
	        {"gemm:m=1024,n=1024,k=1024", "a"},
	        {"gemm:m=2048,n=2048,k=2048", "a"},
	};
	struct tk_tune_rules rules = find(facts, 7);

	assert_int_equal(rules.count, 2);
	is_rule(&rules.at[0], "attention f32 B1 H8 S* D64", "q192 up to S = 256, q96 from S = 512");
	is_rule(&rules.at[1], "gemm f32 *x*x* nn", "a from m = n = k = 512 to 2048");
	tk_tune_rules_free(&rules);
}

static void few_sizes_have_none(void **state)
{
	const struct tk_tune_fact facts[] = {
	        {"gemm:m=16,n=64,k=64", "a"}, {"gemm:m=32,n=64,k=64", "b"}};
	struct tk_tune_rules rules = find(facts, 2);

	assert_int_equal(rules.count, 0);
	tk_tune_rules_free(&rules);
	rules = find(facts, 0);
	assert_int_equal(rules.count, 0);
	tk_tune_rules_free(&rules);
}

/* A text that does not fit is cut, not written beyond its end. */
static void long_rules_are_cut(void **state)
{
	const struct tk_tune_fact facts[] = {{"gemm:m=16,n=64,k=64", "first"},
	        {"gemm:m=32,n=64,k=64", "second"}, {"gemm:m=48,n=64,k=64", "third"}};
	struct tk_tune_rules rules = find(facts, 3);
	char text[12];

	assert_string_equal(tk_tune_rule_format(&rules.at[0], text, sizeof text), "first up to");
	tk_tune_rules_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names_have_parameters),
	        cmocka_unit_test(a_sweep_has_a_rule),
	        cmocka_unit_test(sizes_that_change_together_are_one),
	        cmocka_unit_test(few_sizes_have_none),
	        cmocka_unit_test(long_rules_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
