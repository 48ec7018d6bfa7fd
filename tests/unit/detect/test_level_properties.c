/* Properties of the test of a level and of a race: what another unit, direction or order must not
 * change, how the evidence grows, and their definitions, computed plainly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "detect/rules/level_test.h"
#include "detect/rules/race.h"
#include "stats/summary/student.h"

#define N_MAX 120

struct series {
	double y[N_MAX], se[N_MAX];
	size_t n, range;
};

/* 0.5 % noise; the level changes by `step` at `at`. */
static struct series make_series(uint64_t seed, size_t n, size_t range, size_t at, double step)
{
	struct series s = {.n = n, .range = range};
	struct tk_rng r;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < n; i++) {
		s.y[i] = 13 + 0.005 * tk_rng_normal(&r) + (i >= at ? step : 0);
		s.se[i] = 0.001;
	}
	return s;
}

static struct tk_level_test_input input_of(const struct series *s, int worse)
{
	return (struct tk_level_test_input){.y = s->y,
	        .se = s->se,
	        .n = s->n,
	        .range = s->range,
	        .window = 20,
	        .prior_sigma = 0.005,
	        .worse = worse};
}

static struct tk_level_test run(const struct series *s, int worse)
{
	const struct tk_level_test_input in = input_of(s, worse);
	struct tk_level_test out;
	size_t base;

	assert_int_equal(tk_level_find_baseline(s->y, s->range, &base), 0);
	assert_int_equal(tk_level_test_run(&in, base, &out), 0);
	return out;
}

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-7 * (1 + fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

static void expect_change(
        const struct tk_level_change *a, const struct tk_level_change *b, double sign, double shift)
{
	assert_int_equal(a->split, b->split);
	assert_int_equal(a->base, b->base);
	near(a->before, shift + sign * b->before);
	near(a->after, shift + sign * b->after);
	near(a->se, b->se);
	near(a->t, sign * b->t);
	near(a->p, b->p);
}

/* ---- invariance ---- */

/* A unit shifts the logarithms; a rate instead of a time turns them upside down. */
static void units_and_directions_do_not_count(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const size_t range = 40 + seed, at = range - 2 + seed % 7;
		const struct series s =
		        make_series(seed, range + 6, range, at, 0.01 * (double)(seed % 8) - 0.03);
		struct series moved = s, rates = s;

		for (size_t i = 0; i < s.n; i++)
			moved.y[i] += log(1e-9), rates.y[i] = -s.y[i];
		const struct tk_level_test a = run(&s, 1), b = run(&moved, 1), c = run(&rates, -1);
		expect_change(&b.best, &a.best, 1, log(1e-9));
		expect_change(&b.whole, &a.whole, 1, log(1e-9));
		expect_change(&c.best, &a.best, -1, 0);
		expect_change(&c.whole, &a.whole, -1, 0);
		near(b.sigma, a.sigma), near(c.sigma, a.sigma);
		assert_int_equal(a.earlier, c.earlier);
		assert_int_equal(a.spike, c.spike);
		assert_int_equal(a.worse_again, c.worse_again);
	}
}

/* The order of the nights of the range does not change the range as a whole. */
static void the_order_within_the_range_does_not_count(void **state)
{
	const struct series s = make_series(3, 48, 40, 40, 0.03);
	const struct tk_level_test_input in = input_of(&s, 1);
	struct series other = s;
	struct tk_level_change a, b;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		other.y[40 + i] = s.y[47 - i];
	const struct tk_level_test_input in_other = input_of(&other, 1);
	assert_int_equal(tk_level_test_split(&in, 0, 40, &a), 0);
	assert_int_equal(tk_level_test_split(&in_other, 0, 40, &b), 0);
	near(b.before, a.before), near(b.after, a.after);
}

/* ---- size ---- */

static void larger_steps_are_surer(void **state)
{
	double t = 0, p = 1;

	(void)state;
	for (double step = 0; step < 0.3; step += 0.02) {
		const struct series s = make_series(4, 46, 40, 40, step);
		const struct tk_level_test out = run(&s, 1);

		assert_true(out.whole.t > t - 1e-9 || step == 0);
		assert_true(out.whole.p <= p);
		t = out.whole.t, p = out.whole.p;
	}
	assert_true(t > 20 && p < 1e-12);
}

static void more_nights_make_a_level_surer(void **state)
{
	double se = INFINITY;

	(void)state;
	for (size_t nights = 1; nights <= 40; nights = nights * 2 + 1) {
		const struct series s = make_series(5, 40 + nights, 40, N_MAX, 0);
		const struct tk_level_test_input in = input_of(&s, 1);
		struct tk_level_change c;

		assert_int_equal(tk_level_test_split(&in, 0, 40, &c), 0);
		assert_true(c.se_after <= se * 1.25); /* the noise is estimated anew */
		assert_true(c.se_after <= c.se && c.se_before <= c.se);
		near(c.se, hypot(c.se_before, c.se_after));
		se = c.se_after;
	}
	assert_true(se < 0.003);
}

/* The samples of a night are a floor: their error does not vanish with a quiet machine. */
static void samples_limit_what_is_known(void **state)
{
	struct series s = make_series(6, 46, 40, N_MAX, 0);
	const struct tk_level_test_input in = input_of(&s, 1);
	struct tk_level_change quiet, loud;

	(void)state;
	assert_int_equal(tk_level_test_split(&in, 0, 40, &quiet), 0);
	for (size_t i = 0; i < s.n; i++)
		s.se[i] = 0.1;
	assert_int_equal(tk_level_test_split(&in, 0, 40, &loud), 0);
	near(loud.se_after, 0.1 / sqrt(6));
	near(loud.se_before, 0.1 / sqrt(20)); /* the window */
	assert_true(quiet.se_after < loud.se_after / 5);
}

/* ---- definitions ---- */

static int compare_values(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double plain_median(const double *y, size_t n)
{
	double sorted[N_MAX];

	memcpy(sorted, y, n * sizeof *y);
	qsort(sorted, n, sizeof *sorted, compare_values);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void a_level_is_the_median_of_its_newest_points(void **state)
{
	const struct series s = make_series(7, N_MAX, 40, 50, 1);

	(void)state;
	for (size_t n = 1; n <= N_MAX; n++) {
		const size_t used = n > TK_LEVEL_POINTS_MAX ? TK_LEVEL_POINTS_MAX : n;

		near(tk_level_estimate(s.y, n), plain_median(s.y + n - used, used));
	}
}

static void levels_and_p_follow_from_the_split(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		for (size_t split = 5; split < 60; split += 6) {
			const struct series s = make_series(seed, 60, 50, 30, 0.02);
			const struct tk_level_test_input in = input_of(&s, 1);
			const size_t base = split > 20 ? split - 20 : 0;
			struct tk_level_test test;
			struct tk_level_change c;

			assert_int_equal(tk_level_test_split(&in, 0, split, &c), 0);
			assert_int_equal(c.base, base);
			near(c.before, plain_median(s.y + base, split - base));
			near(c.after, plain_median(s.y + split, 60 - split));
			near(c.t, (c.after - c.before) / c.se);
			test = run(&s, 1);
			near(c.p, tk_student_p(c.t, test.df));
			near(test.df, TK_NOISE_DEFAULT_DF + 0.4 * 59);
		}
}

/* p of the best split is corrected for all splits that were tried, that of the range is not. */
static void many_splits_cost_evidence(void **state)
{
	(void)state;
	for (size_t within = 1; within <= 12; within++) {
		const struct series s = make_series(8, 40 + within, 40, 40, 0.02);
		const struct tk_level_test out = run(&s, 1);

		near(out.whole.p, tk_student_p(out.whole.t, out.df));
		near(out.best.p, fmin(1, (double)within * tk_student_p(out.best.t, out.df)));
		assert_int_equal(out.whole.split, 40);
		assert_in_range(out.best.split, 40, 40 + within - 1);
	}
}

/* Two points can be tested: the noise is that of the other series. */
static void a_series_of_two_points(void **state)
{
	static const double values[] = {0, 0.05}, errors[] = {0.001, 0.001};

	(void)state;
	for (double sigma = 0.005; sigma < 0.05; sigma *= 2) {
		const struct tk_level_test_input in = {.y = values,
		        .se = errors,
		        .n = 2,
		        .range = 1,
		        .window = 20,
		        .prior_sigma = sigma,
		        .worse = 1};
		struct tk_level_test out;

		assert_int_equal(tk_level_test_run(&in, 0, &out), 0);
		near(out.sigma, sigma);
		near(out.df, TK_NOISE_DEFAULT_DF);
		near(out.best.se, sigma * sqrt(2));
		near(out.best.p, tk_student_p(0.05 / (sigma * sqrt(2)), TK_NOISE_DEFAULT_DF));
		assert_false(out.spike || out.earlier);
	}
}

/* A step just before the range is an earlier one; further back, the baseline begins with it. */
static void steps_before_the_range(void **state)
{
	(void)state;
	for (size_t back = 0; back <= 8; back++) {
		const struct series s = make_series(9, 46, 40, 40 - back, 0.1);
		const struct tk_level_test out = run(&s, 1);

		const bool is_seen = fabs(out.whole.t) > TK_NOISE_STANDARD_ERRORS;

		if (back == 0)
			assert_true(is_seen && !out.earlier);
		else if (back == 1)
			assert_true(out.earlier);
		else
			assert_true(out.earlier || !is_seen);
		if (back > 6)
			assert_true(!is_seen && !out.earlier);
	}
}

/* The newest night is compared with earlier spikes of its own direction. */
static void spikes_of_the_other_direction_do_not_count(void **state)
{
	static const struct {
		double earlier, newest;
		bool spike;
	} cases[] = {{0.2, 0.2, true}, {-0.2, -0.2, true}, {0.2, -0.2, false}, {-0.2, 0.2, false},
	        {0.2, 0.22, true}, {0.2, 0.29, false}, {0.01, 0.1, false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct series s = make_series(10, 42, 41, N_MAX, 0);

		s.y[20] += cases[i].earlier;
		s.y[41] += cases[i].newest;
		if (run(&s, 1).spike != cases[i].spike)
			fail_msg("case %zu", i);
	}
}

/* ---- races ---- */

#define CONTESTANTS 7

static void fill_race(struct tk_race_contestant *c, uint64_t seed, size_t rounds)
{
	struct tk_rng r;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < CONTESTANTS; i++)
		c[i] = (struct tk_race_contestant){.rounds = rounds};
	for (size_t k = 0; k < rounds; k++) {
		const double shift = 0.2 * tk_rng_normal(&r);

		for (size_t i = 0; i < CONTESTANTS; i++)
			c[i].log_ns[k] = 10 + 0.02 * (double)i + shift + 0.02 * tk_rng_normal(&r);
	}
}

static struct tk_race evaluate(struct tk_race_contestant *c)
{
	struct tk_race race = {.contestants = c, .count = CONTESTANTS, .min_effect = 0.01};

	tk_race_evaluate(&race);
	return race;
}

/* The residuals of levels and rounds, in one pass over all times. */
static double residual_squares(const struct tk_race_contestant *c, size_t rounds)
{
	double all = 0, by_round[TK_RACE_ROUNDS_MAX] = {0}, level[CONTESTANTS] = {0}, squares = 0;

	for (size_t i = 0; i < CONTESTANTS; i++)
		for (size_t k = 0; k < rounds; k++) {
			all += c[i].log_ns[k] / (CONTESTANTS * (double)rounds);
			by_round[k] += c[i].log_ns[k] / CONTESTANTS;
			level[i] += c[i].log_ns[k] / (double)rounds;
		}
	for (size_t i = 0; i < CONTESTANTS; i++)
		for (size_t k = 0; k < rounds; k++)
			squares += pow(c[i].log_ns[k] - level[i] - by_round[k] + all, 2);
	return squares;
}

static void intervals_of_a_race_are_those_of_two_way_layouts(void **state)
{
	(void)state;
	for (size_t rounds = 1; rounds <= TK_RACE_ROUNDS_MAX; rounds++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			struct tk_race_contestant c[CONTESTANTS];
			const double df =
			        TK_RACE_PRIOR_DF + (double)((rounds - 1) * (CONTESTANTS - 1));
			struct tk_race race;

			fill_race(c, seed, rounds);
			const double variance = (TK_RACE_PRIOR_DF * TK_RACE_PRIOR_SD *
			                                        TK_RACE_PRIOR_SD +
			                                residual_squares(c, rounds)) /
			                        df,
			             half = tk_student_t(TK_RACE_ALPHA / CONTESTANTS, df) *
			                    sqrt(2 * variance / (double)rounds);
			race = evaluate(c);
			for (size_t i = 0; i < CONTESTANTS; i++) {
				const double d = tk_race_level(&c[i], rounds) -
				                 tk_race_level(&c[race.leader], rounds);
				const double margin = i == race.leader ? 0 : half;

				assert_true(d >= 0);
				near(c[i].slower, expm1(d));
				near(c[i].lo, expm1(d - margin));
				near(c[i].hi, expm1(d + margin));
				assert_int_equal(
				        c[i].is_out, rounds >= TK_RACE_ROUNDS_MIN && d > margin);
			}
			assert_false(c[race.leader].is_out);
			if (rounds == TK_RACE_ROUNDS_MAX)
				assert_true(race.is_decided);
		}
}

/* What all have in common, and in which order they stand, does not count. */
static void units_and_lanes_of_a_race_do_not_count(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct tk_race_contestant c[CONTESTANTS], moved[CONTESTANTS], reversed[CONTESTANTS];

		fill_race(c, seed, 3);
		memcpy(moved, c, sizeof c);
		for (size_t i = 0; i < CONTESTANTS; i++) {
			reversed[CONTESTANTS - 1 - i] = c[i];
			for (size_t k = 0; k < 3; k++)
				moved[i].log_ns[k] += log(1e-9);
		}
		const struct tk_race a = evaluate(c), b = evaluate(moved), d = evaluate(reversed);
		assert_int_equal(b.leader, a.leader);
		assert_int_equal(d.leader, CONTESTANTS - 1 - a.leader);
		assert_true(a.is_decided == b.is_decided && a.is_decided == d.is_decided);
		for (size_t i = 0; i < CONTESTANTS; i++) {
			near(moved[i].lo, c[i].lo);
			near(reversed[CONTESTANTS - 1 - i].hi, c[i].hi);
			assert_int_equal(moved[i].is_out, c[i].is_out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(units_and_directions_do_not_count),
	        cmocka_unit_test(the_order_within_the_range_does_not_count),
	        cmocka_unit_test(larger_steps_are_surer),
	        cmocka_unit_test(more_nights_make_a_level_surer),
	        cmocka_unit_test(samples_limit_what_is_known),
	        cmocka_unit_test(a_level_is_the_median_of_its_newest_points),
	        cmocka_unit_test(levels_and_p_follow_from_the_split),
	        cmocka_unit_test(many_splits_cost_evidence),
	        cmocka_unit_test(a_series_of_two_points),
	        cmocka_unit_test(steps_before_the_range),
	        cmocka_unit_test(spikes_of_the_other_direction_do_not_count),
	        cmocka_unit_test(intervals_of_a_race_are_those_of_two_way_layouts),
	        cmocka_unit_test(units_and_lanes_of_a_race_do_not_count),
	};

	return cmocka_run_group_tests_name("properties of levels", tests, NULL, NULL);
}
