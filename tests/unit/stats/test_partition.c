/* Least squares with a penalty for each change: steps are found, noise is not cut. */
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
#include "stats/changepoint/partition.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { N = 200 };

static size_t fit(const double *y, size_t *bounds)
{
	double sum[N + 1] = {0}, numbers[5][N + 1];
	bool may_start[N + 1];
	size_t indices[3][N + 1];
	struct tk_partition_workspace w = {.may_start = may_start,
	        .start = indices[0],
	        .from = indices[1],
	        .open = indices[2],
	        .contrast = numbers[0],
	        .at = numbers[1],
	        .sum = numbers[2],
	        .before = numbers[3],
	        .cost = numbers[4]};

	for (size_t i = 0; i < N; i++)
		sum[i + 1] = sum[i] + y[i];
	return tk_partition_fit(&w, sum, N, 1, 1.5, 4 * log(N), bounds);
}

static void steps_are_cut_where_they_are(void **state)
{
	double y[N];
	size_t bounds[N + 1];

	(void)state;
	tk_rng_seed(&rng, 6);
	for (size_t i = 0; i < N; i++)
		y[i] = i < 60 ? 0 : i < 130 ? 8 : 3;
	add_noise(y, N, 1);
	assert_int_equal(fit(y, bounds), 3);
	assert_int_equal(bounds[0], 0);
	assert_int_equal(bounds[1], 60);
	assert_int_equal(bounds[2], 130);
	assert_int_equal(bounds[3], N);
}

static void a_level_is_one_segment(void **state)
{
	double y[N] = {0};
	size_t bounds[N + 1];

	(void)state;
	tk_rng_seed(&rng, 6);
	add_noise(y, N, 1);
	assert_int_equal(fit(y, bounds), 1);
	assert_int_equal(bounds[1], N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(steps_are_cut_where_they_are),
	        cmocka_unit_test(a_level_is_one_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
