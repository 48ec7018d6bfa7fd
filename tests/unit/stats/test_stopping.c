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

/* The width counts in proportion to the median's size, whatever its sign; values that are not
 * finite never look tight. */
static void tight_is_relative_to_the_median(void **state)
{
	const struct tk_stop_rule rule = {0.95, 0.01, 8, 100, 1.0};
	double below[20], zero[20], holes[20];

	for (int i = 0; i < 20; i++) {
		below[i] = -100.2 + i * 0.01;
		zero[i] = -0.1 + i * 0.01;
		holes[i] = NAN;
	}
	assert_int_equal(tk_stop_check(&rule, below, 20, 0.1), TK_STOP_TIGHT);
	assert_int_equal(tk_stop_check(&rule, zero, 20, 0.1), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, holes, 20, 0.1), TK_STOP_CONTINUE);
}

/* Fewer samples than the interval needs never stop it, even if the rule would accept them. */
static void an_interval_is_required(void **state)
{
	const struct tk_stop_rule rule = {0.95, 0.01, 2, 100, 1.0};
	const double same[] = {5, 5, 5, 5, 5, 5};

	assert_int_equal(tk_stop_check(&rule, same, 5, 0.1), TK_STOP_CONTINUE);
	assert_int_equal(tk_stop_check(&rule, same, 6, 0.1), TK_STOP_TIGHT);
	assert_string_equal(tk_stop_name(TK_STOP_CONTINUE), "continue");
	assert_string_equal(tk_stop_name((enum tk_stop)99), "continue");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(stops_for_the_right_reason),
	        cmocka_unit_test(tight_is_relative_to_the_median),
	        cmocka_unit_test(an_interval_is_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
