/* The null backend: its options and simulated times. */
#include "core/problem.h"
#include "null_options.h"
#include "null_time.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void invalid_options_are_named(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {{"nosie=1", "there is no option \"nosie\""},
		{"noise", "\"noise\" is not key=value"},
		{"noise=x", "noise cannot be \"x\""}, {"noise=-1", "noise cannot be \"-1\""},
		{"fail=sing", "fail cannot be \"sing\""},
		{"step=3", "step cannot be \"3\""}, {"seed=", "seed cannot be \"\""},
		{"at=home", "at cannot be \"home\""}};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct null_options o;
		struct tk_abi_error err = {.size = sizeof err};
		null_options_default(&o);
		assert_int_equal(null_options_parse(&o, cases[i][0], &err), TK_ABI_INVALID);
		if (!strstr(err.message, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.message);
	}
}

static void times_step_and_drift(void **state)
{
	struct tk_problem_spec p;
	struct null_options o;
	assert_int_equal(tk_problem_parse(&p, "gemm:m=512,n=512,k=512", NULL), 0);
	null_options_default(&o);
	o.noise = 0;
	double base = null_time_ns(&o, &p.abi, 1, 0);
	o.step_at = 5;
	o.step = 1.5;
	o.revision = 4;
	assert_float_equal(null_time_ns(&o, &p.abi, 1, 7) / base, 1, 1e-12);
	o.revision = 5;
	assert_float_equal(null_time_ns(&o, &p.abi, 1, 7) / base, 1.5, 1e-12);
	o.drift = 0.01;
	assert_float_equal(null_time_ns(&o, &p.abi, 1, 7) / base, 1.5 * pow(1.01, 5), 1e-9);
	o.seed = 9;
	assert_true(fabs(null_time_ns(&o, &p.abi, 1, 7) / base - 1.5 * pow(1.01, 5)) > 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(invalid_options_are_named),
	        cmocka_unit_test(times_step_and_drift),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
