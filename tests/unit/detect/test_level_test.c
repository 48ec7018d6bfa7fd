/* Tests of the level of one series, on arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "detect/rules/level_test.h"

#define N 40

static double y[N], se[N];

/* 0.5 % noise around a level that is `change` higher from point `split` on. */
static void make_series(size_t split, double change)
{
	struct tk_rng rng;

	tk_rng_seed(&rng, 3);
	for (size_t i = 0; i < N; i++) {
		y[i] = (i < split ? 0 : log1p(change)) + 0.005 * tk_rng_normal(&rng);
		se[i] = 0.001;
	}
}

static struct tk_level_test test_range(size_t range)
{
	const struct tk_level_test_input in = {.y = y,
	        .se = se,
	        .n = N,
	        .range = range,
	        .window = 20,
	        .prior_sigma = 0.005,
	        .worse = 1};
	struct tk_level_test out;
	size_t base;

	assert_int_equal(tk_level_find_baseline(y, range, &base), 0);
	assert_int_equal(tk_level_test_run(&in, base, &out), 0);
	return out;
}

static void a_quiet_series(void **state)
{
	make_series(N, 0);
	const struct tk_level_test t = test_range(36);

	assert_true(fabs(t.whole.t) < TK_NOISE_STANDARD_ERRORS && t.best.p > 0.01);
	assert_false(t.earlier || t.spike);
	assert_true(t.sigma > 0.002 && t.sigma < 0.01);
}

static void a_step_in_the_range(void **state)
{
	make_series(37, 0.1);
	const struct tk_level_test t = test_range(36);

	assert_int_equal(t.best.split, 37);
	assert_float_equal(t.best.after - t.best.before, log(1.1), 0.01);
	assert_true(t.best.t > TK_NOISE_STANDARD_ERRORS && t.best.p < 1e-4);
	assert_false(t.earlier || t.spike);
}

static void a_step_before_the_range(void **state)
{
	make_series(35, 0.1);
	assert_true(test_range(36).earlier);
}

/* `change` from point 34 on, and another factor in the last `nights`. */
static struct tk_level_test test_two_changes(double change, size_t nights, double factor)
{
	make_series(34, change);
	for (size_t i = N - nights; i < N; i++)
		y[i] += log(factor);
	return test_range(34);
}

static void a_range_that_ends_worse_again(void **state)
{
	struct tk_level_test t = test_two_changes(-0.3, 2, 2);

	assert_true(t.worse_again);
	assert_int_equal(t.best.split, N - 2);
	assert_float_equal(t.best.after, log(1.4), 0.02);
	assert_true(t.whole.split == t.best.split && t.whole.after == t.best.after);
	t = test_two_changes(-0.3, 1, 2);
	assert_true(t.worse_again);
	assert_int_equal(t.best.split, N - 1);

	assert_false(test_two_changes(-0.3, 0, 1).worse_again);
	assert_false(test_two_changes(-0.3, 2, 0.5).worse_again); /* better still */
	t = test_two_changes(0.3, 2, 2); /* worse from the start of the range */
	assert_false(t.worse_again);
	assert_int_equal(t.whole.split, 34);
}

static void a_spike_like_an_earlier_one(void **state)
{
	make_series(N, 0);
	y[20] += 0.2;
	y[N - 1] += 0.2;
	assert_true(test_range(36).spike);
	make_series(N, 0);
	y[N - 1] += 0.2;
	assert_false(test_range(36).spike); /* the first one */
}

static void a_baseline_starts_at_the_last_change(void **state)
{
	size_t base;

	make_series(15, 0.2);
	assert_int_equal(tk_level_find_baseline(y, 30, &base), 0);
	assert_int_equal(base, 15);
	assert_int_equal(tk_level_find_baseline(y, 3, &base), 0);
	assert_int_equal(base, 0);
}

static void a_chosen_split(void **state)
{
	const struct tk_level_test_input in = {
	        .y = y, .se = se, .n = N, .range = 36, .window = 20, .prior_sigma = 0.005};
	struct tk_level_change change;

	make_series(30, 0.1);
	assert_int_equal(tk_level_test_split(&in, 0, 30, &change), 0);
	assert_int_equal(change.base, 10); /* the window */
	assert_float_equal(change.after - change.before, log(1.1), 0.01);
	assert_true(change.p < 1e-6);
}

static void noise_of_short_series(void **state)
{
	make_series(N, 0);
	assert_float_equal(tk_level_estimate_noise(y, 5), 0, 0);
	assert_true(tk_level_estimate_noise(y, N) > 0.002);
	assert_float_equal(tk_level_estimate((const double[]){1, 2}, 2), 1.5, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_quiet_series),
	        cmocka_unit_test(a_step_in_the_range),
	        cmocka_unit_test(a_step_before_the_range),
	        cmocka_unit_test(a_range_that_ends_worse_again),
	        cmocka_unit_test(a_spike_like_an_earlier_one),
	        cmocka_unit_test(a_baseline_starts_at_the_last_change),
	        cmocka_unit_test(a_chosen_split),
	        cmocka_unit_test(noise_of_short_series),
	};

	return cmocka_run_group_tests_name("level_test", tests, NULL, NULL);
}
