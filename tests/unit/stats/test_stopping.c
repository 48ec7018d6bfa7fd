/* When to stop sampling: each reason in its turn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "stats/summary/interval.h"
#include "stats/summary/stopping.h"
#include "stats/summary/summary.h"

static void stops_for_the_right_reason(void **state)
{
	const struct tk_stop_rule rule = {0.95, 0.01, 8, 20, 1.0};
	double tight[20], loose[20];

	for (int i = 0; i < 20; i++)
		tight[i] = 100 + i * 0.01, loose[i] = 100 + i * 5;
	assert_int_equal(tk_stop_check(&rule, tight, 7, 0.1), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, tight, 8, 0.1), TK_STOP_TIGHT);
	assert_int_equal(tk_stop_check(&rule, loose, 19, 0.1), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, loose, 20, 0.1), TK_STOP_MAX_SAMPLES);
	assert_int_equal(tk_stop_check(&rule, loose, 19, 1.0), TK_STOP_BUDGET);
	assert_int_equal(tk_stop_check(&rule, NULL, 0, 2.0), TK_STOP_BUDGET);
	assert_string_equal(tk_stop_name(TK_STOP_TIGHT), "tight");
	assert_string_equal(tk_stop_name(TK_STOP_MAX_SAMPLES), "max_samples");
	assert_string_equal(tk_stop_name(TK_STOP_BUDGET), "budget");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(stops_for_the_right_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
