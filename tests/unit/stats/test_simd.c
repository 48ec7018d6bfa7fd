/* What is computed four numbers at a time is what one after the other gives. */
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
#include "stats/monitor/simd.h"

static void exponentials_of_four(void **state)
{
	(void)state;
	for (double x = 0; x > -690; x -= 0.37) {
		tk_simd_f64 v = {x, x - 0.1, x - 0.2, x - 0.3};

		tk_simd_exp(&v);
		for (int k = 0; k < TK_SIMD_WIDTH; k++)
			assert_true(fabs(v[k] / exp(x - 0.1 * k) - 1) < 1e-13);
	}
	tk_simd_f64 v = {0, -0.0, -1e6, -INFINITY};

	tk_simd_exp(&v);
	assert_true(
	        v[0] == 1 && v[1] == 1 && v[2] < 1e-300 && v[3] < 1e-300 && v[2] >= 0 && v[3] >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(exponentials_of_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
