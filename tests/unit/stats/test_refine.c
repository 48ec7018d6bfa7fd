/* Changes are looked for again only where the noise has a memory. */
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
#include "stats/changepoint/refine.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { N = 300 };

static void white_noise_is_left_alone(void **state)
{
	double y[N] = {0}, r[N];
	size_t bounds[N + 1] = {0, N}, segments = 1;
	bool holds = true;

	(void)state;
	tk_rng_seed(&rng, 3);
	add_noise(y, N, 0.01);
	memcpy(r, y, sizeof r);
	assert_int_equal(tk_changepoint_refine(y, r, N, 0.005, bounds, &segments, &holds), TK_OK);
	assert_false(holds);
	assert_int_equal(segments, 1);
}

static void a_jump_of_a_drifting_series_is_added(void **state)
{
	double y[N], r[N], x = 0;
	size_t bounds[N + 1] = {0, N}, segments = 1;
	bool holds = false;

	(void)state;
	tk_rng_seed(&rng, 3);
	for (size_t i = 0; i < N; i++) {
		x = 0.9 * x + 0.004 * tk_rng_normal(&rng);
		y[i] = x + (i >= 150 ? 0.06 : 0);
	}
	add_noise(y, N, 0.001);
	for (size_t i = 0; i < N; i++)
		r[i] = y[i] - (i >= 150 ? 0.06 : 0);
	assert_int_equal(tk_changepoint_refine(y, r, N, 0.005, bounds, &segments, &holds), TK_OK);
	assert_true(holds);
	assert_int_equal(segments, 2);
	assert_true(bounds[1] >= 149 && bounds[1] <= 151);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(white_noise_is_left_alone),
	        cmocka_unit_test(a_jump_of_a_drifting_series_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
