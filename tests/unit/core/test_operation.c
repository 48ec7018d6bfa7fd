/* Operations of problems, and their names. */
#include "base/error.h"
#include "core/operation.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_problem_has_an_operation(void **state)
{
	static const struct {
		const char *problem, *operation;
	} cases[] = {
	        {"gemm:m=4,n=4,k=4", "gemm"},
	        {"attention:b=1,h=1,sq=4,d=64", "attention"},
	        {"attention:b=1,h=1,sq=4,d=64,dir=bwd", "attention-backward"},
	        {"nsa:b=1,h=1,s=64,d=64,block_size=16,selected_blocks=2", "nsa"},
	        {"copy:bytes=1024", "copy"},
	        {"read:bytes=1024", "read"},
	        {"fma:count=1024", "fma"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_problem_spec p;
		struct tk_error err = {0};
		if (tk_problem_parse(&p, cases[i].problem, &err))
			fail_msg("%s", err.message);
		assert_string_equal(
		        tk_operation_name(tk_problem_operation(&p)), cases[i].operation);
		assert_int_equal(tk_operation_parse(cases[i].operation), tk_problem_operation(&p));
	}
}

static void unknown_operations(void **state)
{
	assert_null(tk_operation_name(0));
	assert_null(tk_operation_name(1u << 31));
	assert_null(tk_operation_name(TK_OPERATION_GEMM | TK_OPERATION_NSA));
	assert_int_equal(tk_operation_parse("convolution"), 0);
	assert_int_equal(tk_operation_parse(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_problem_has_an_operation),
	        cmocka_unit_test(unknown_operations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
