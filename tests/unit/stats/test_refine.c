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

/* A series of autocorrelated noise and `extra`; returns the number of segments. */
static size_t refine_with(uint64_t seed, const double *extra, size_t *bounds)
{
	double y[N], r[N], x = 0;
	size_t segments = 1;
	bool holds = false;

	tk_rng_seed(&rng, seed);
	for (size_t i = 0; i < N; i++) {
		x = 0.9 * x + 0.004 * tk_rng_normal(&rng);
		r[i] = x;
	}
	add_noise(r, N, 0.001);
	for (size_t i = 0; i < N; i++)
		y[i] = r[i] + extra[i];
	bounds[0] = 0, bounds[1] = N;
	assert_int_equal(tk_changepoint_refine(y, r, N, 0.005, bounds, &segments, &holds), TK_OK);
	assert_true(holds);
	return segments;
}

/* Four of seven nights are slow, each by another amount: the median of the seven is slow too. */
static void spikes_side_by_side_are_no_level(void **state)
{
	static const size_t at[][4] = {{0, 1, 3, 5}, {0, 2, 4, 6}, {0, 2, 3, 5}, {1, 2, 4, 5}};
	static const double height[] = {0.05, 0.4, 0.2, 0.6};
	size_t bounds[N + 1], found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		for (size_t k = 0; k < 4; k++) {
			double extra[N] = {0};

			for (size_t i = 0; i < 4; i++)
				extra[150 + at[k][i]] = height[i];
			found += refine_with(seed, extra, bounds) > 1;
		}
	assert_in_range(found, 0, 6); /* of 40, each of which has a change without this */
}

/* A short level is kept, and at least one of two steps up within two nights. */
static void a_short_level_is_kept(void **state)
{
	size_t bounds[N + 1];

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		double extra[N] = {0};

		for (size_t i = 150; i < 155; i++)
			extra[i] = 0.1;
		assert_int_equal(refine_with(seed, extra, bounds), 3);
		assert_in_range(bounds[1], 149, 151);
		assert_in_range(bounds[2], 154, 156);
		for (size_t i = 150; i < N; i++)
			extra[i] = i < 152 ? 0.06 : 0.12;
		assert_in_range(refine_with(seed, extra, bounds), 2, 3);
		assert_in_range(bounds[1], 149, 153);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(white_noise_is_left_alone),
	        cmocka_unit_test(a_jump_of_a_drifting_series_is_added),
	        cmocka_unit_test(spikes_side_by_side_are_no_level),
	        cmocka_unit_test(a_short_level_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
