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

/* Also beside the points where the integer part of the power of two changes, and at the bound. */
static void exponentials_at_the_seams(void **state)
{
	(void)state;
	for (int k = 0; k <= 1008; k++) {
		double seam = -(k + 0.5) * M_LN2;
		tk_simd_f64 v = {seam, nextafter(seam, 0), nextafter(seam, -1e3), -k * M_LN2},
		            e = v;

		tk_simd_exp(&e);
		for (int i = 0; i < TK_SIMD_WIDTH; i++)
			assert_true(fabs(e[i] / exp(v[i]) - 1) < 1e-13);
	}
	tk_simd_f64 v = {-700, nextafter(-700, -1e3), -1e300, -708};

	tk_simd_exp(&v);
	for (int i = 0; i < TK_SIMD_WIDTH; i++)
		assert_true(fabs(v[i] / exp(-700) - 1) < 1e-13);
}

/* What one lane has does not depend on the others, and no smaller value has a larger power. */
static void lanes_are_independent(void **state)
{
	static const double others[] = {0, -1e-300, -690, -INFINITY};
	struct tk_rng rng;
	double before = 1;

	(void)state;
	tk_rng_seed(&rng, 3);
	for (double x = 0; x > -60; x -= 0.02 * tk_rng_uniform(&rng)) {
		double known = 0;

		for (int lane = 0; lane < TK_SIMD_WIDTH; lane++)
			for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
				tk_simd_f64 v = {others[k], others[k], others[k], others[k]};

				v[lane] = x;
				tk_simd_exp(&v);
				assert_true(!known || v[lane] == known);
				known = v[lane];
			}
		assert_true(known <= before * (1 + 1e-14));
		before = known;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(exponentials_of_four),
	        cmocka_unit_test(exponentials_at_the_seams),
	        cmocka_unit_test(lanes_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
