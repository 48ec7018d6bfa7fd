/* False-discovery rates against R's p.adjust. */
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
#include "stats/summary/fdr.h"

static void near_by(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

static void near(double a, double b)
{
	near_by(a, b, 1e-9 * (1 + fabs(b)));
}

static void q_values(void **state)
{
	const double p[] = {0.01, NAN, 0.04, 0.03, 0.005, 0.5};
	double q[6];

	assert_int_equal(tk_fdr_adjust(p, 6, q), TK_OK);
	near(q[0], 0.025), near(q[2], 0.05), near(q[3], 0.05), near(q[4], 0.025), near(q[5], 0.5);
	assert_true(isnan(q[1]));
	assert_int_equal(tk_fdr_adjust(NULL, 0, NULL), TK_OK);
	assert_int_equal(tk_fdr_adjust(p + 1, 1, q), TK_OK);
	assert_true(isnan(q[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(q_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
