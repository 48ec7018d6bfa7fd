/* What the search for change points must keep: another unit, missing nights, a larger step. */
#include "stats_checks.h"

#include "stats/levels.h"

#define N_MAX 240

static size_t find(const double *x, size_t n, struct tk_changepoint **out)
{
	size_t count;

	tk_changepoint_find(x, NULL, n, TK_CHANGEPOINT_MIN_EFFECT, out, &count);
	assert_true((count == 0) == (*out == NULL));
	return count;
}

/* Timings with two steps. */
static void make_series(double *x, size_t n, uint64_t seed)
{
	fill_normal(x, n, seed, 0, 0.006);
	for (size_t i = 0; i < n; i++)
		x[i] = 1e5 * exp(x[i] + (i >= n / 3 ? 0.06 : 0) - (i >= 2 * n / 3 ? 0.1 : 0));
}

/* A rate instead of a time is the inverse: the same nights, the opposite changes. So do nanoseconds
 * and seconds have the same changes. */
static void units_do_not_count(void **state)
{
	static double x[N_MAX], other[N_MAX];

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		for (int inverse = 0; inverse < 2; inverse++) {
			struct tk_changepoint *a, *b;
			size_t count;

			make_series(x, N_MAX, seed);
			for (size_t i = 0; i < N_MAX; i++)
				other[i] = inverse ? 1e15 / x[i] : x[i] * 1e-9;
			count = find(x, N_MAX, &a);
			assert_int_equal(count, 2);
			assert_int_equal(find(other, N_MAX, &b), count);
			for (size_t i = 0; i < count; i++) {
				const double change =
				        inverse ? 1 / (1 + a[i].change) - 1 : a[i].change;

				assert_int_equal(b[i].index, a[i].index);
				near_by(b[i].change, change, 2e-4);
				near_by(b[i].lo, inverse ? 1 / (1 + a[i].hi) - 1 : a[i].lo, 2e-4);
				near_by(b[i].before /
				                (inverse ? 1e15 / a[i].before : a[i].before * 1e-9),
				        1, 1e-4);
			}
			free(a), free(b);
		}
}

/* What was not measured is as if the night had not been, but it is counted. */
static void gaps_shift_the_index_alone(void **state)
{
	static const double gaps[] = {NAN, 0, -5, INFINITY};
	static double x[N_MAX], with[2 * N_MAX];
	size_t place[N_MAX];

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct tk_changepoint *a, *b;
		struct tk_rng r;
		size_t n = 0, count;

		make_series(x, N_MAX, seed);
		tk_rng_seed(&r, seed);
		for (size_t i = 0; i < N_MAX; i++) {
			if (tk_rng_below(&r, 3) == 0)
				with[n++] = gaps[tk_rng_below(&r, 4)];
			place[i] = n;
			with[n++] = x[i];
		}
		count = find(x, N_MAX, &a);
		assert_int_equal(find(with, n, &b), count);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(b[i].index, place[a[i].index]);
			near(b[i].change, a[i].change);
			near(b[i].p, a[i].p);
		}
		free(a), free(b);
	}
}

/* Every night is one of seven weekdays or unknown: without a pattern it does not matter. */
static void days_do_not_count_without_a_pattern(void **state)
{
	static double x[N_MAX];
	int64_t day[N_MAX];

	(void)state;
	for (size_t i = 0; i < N_MAX; i++)
		day[i] = 20000 + (int64_t)(i * 2);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct tk_changepoint *a, *b;
		size_t count, count2;

		make_series(x, N_MAX, seed);
		count = find(x, N_MAX, &a);
		tk_changepoint_find(x, day, N_MAX, TK_CHANGEPOINT_MIN_EFFECT, &b, &count2);
		assert_int_equal(count2, count);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(a[i].index, b[i].index);
		free(a), free(b);
	}
}

/* The larger a step, the larger what is reported and the surer it is; below the noise it is not
 * reported. */
static void larger_steps_are_surer(void **state)
{
	static double noise[N_MAX], x[N_MAX];
	double p = 1, change = 0;
	size_t reported = 0;

	(void)state;
	fill_normal(noise, N_MAX, 6, 0, 0.01);
	for (double step = 0.001; step < 0.5; step *= 1.5) {
		struct tk_changepoint *c;
		size_t count;

		for (size_t i = 0; i < N_MAX; i++)
			x[i] = exp(noise[i] + (i >= 120 ? step : 0));
		count = find(x, N_MAX, &c);
		assert_true(count <= 1 && count >= reported); /* once seen, never lost */
		reported = count;
		if (count) {
			if (step > 0.02) /* smaller than two nights' noise: it may be off */
				assert_in_range(c->index, 117, 123);
			assert_true(c->change > change && c->p <= p);
			assert_true(c->lo < c->change && c->change < c->hi);
			assert_true(c->after > c->before);
			change = c->change, p = c->p;
		}
		free(c);
	}
	assert_int_equal(reported, 1);
	assert_true(p < 1e-100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(units_do_not_count),
	        cmocka_unit_test(gaps_shift_the_index_alone),
	        cmocka_unit_test(days_do_not_count_without_a_pattern),
	        cmocka_unit_test(larger_steps_are_surer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
