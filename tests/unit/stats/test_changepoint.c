/* Change points on seeded series: steps of known size and noise are found where they are, flat
 * series stay flat. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "stats/changepoint/changepoint.h"

#define N 400

/* Around 1 ms, relative noise `noise` with autocorrelation `rho`, a step of `step` at `at`. */
static void make(
        double *x, size_t n, uint64_t seed, double noise, double rho, size_t at, double step)
{
	struct tk_rng r;
	double e = 0;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < n; i++) {
		e = rho * e + sqrt(1 - rho * rho) * tk_rng_normal(&r);
		x[i] = 1e6 * (1 + noise * e) * (i >= at ? 1 + step : 1);
	}
}

static size_t find(const double *x, size_t n, struct tk_changepoint *first)
{
	struct tk_changepoint *found;
	size_t count;

	assert_int_equal(tk_changepoint_find(x, NULL, n, NULL, &found, &count), TK_OK);
	if (count && first)
		*first = found[0];
	free(found);
	return count;
}

static void steps_are_found(void **state)
{
	/* step, noise: twenty series each */
	static const double cases[][2] = {
	        {0.01, 0.003}, {0.02, 0.006}, {0.05, 0.01}, {-0.05, 0.01}, {0.01, 0.0005}};
	static double x[N];

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		int found = 0, covered = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct tk_changepoint c = {0};

			make(x, N, seed, cases[k][1], 0, 250, cases[k][0]);
			if (find(x, N, &c) != 1 || labs((long)c.index - 250) > 3)
				continue;
			found++;
			covered += c.lo <= cases[k][0] && cases[k][0] <= c.hi;
			assert_true(c.p < 1e-3 && (c.after > c.before) == (cases[k][0] > 0));
			assert_true(fabs(c.change - cases[k][0]) < 0.3 * fabs(cases[k][0]));
		}
		assert_in_range(found, 19, 20);
		assert_in_range(covered, 16, 20);
	}
}

static int false_alarms(size_t n, double noise, double rho, int series)
{
	static double x[N];
	int alarms = 0;

	for (int i = 0; i < series; i++) {
		make(x, n, 1000 + (uint64_t)i, noise, rho, n, 0);
		alarms += (int)find(x, n, NULL);
	}
	return alarms;
}

static void flat_series_stay_flat(void **state)
{
	assert_in_range(
	        false_alarms(N, 0.01, 0, 400), 0, 8); /* 2 % of the series, over 400 nights each */
	assert_in_range(false_alarms(N, 0.002, 0, 200), 0, 4);
	assert_in_range(false_alarms(60, 0.01, 0, 400), 0, 20);
	assert_in_range(false_alarms(12, 0.01, 0, 400), 0, 40);
	assert_in_range(false_alarms(N, 0.01, 0.5, 200), 0, 10);
	assert_in_range(false_alarms(N, 0.01, 0.8, 200), 0, 40);
}

static void spikes_are_no_steps(void **state)
{
	static double x[N];
	struct tk_rng r;
	int alarms = 0;

	tk_rng_seed(&r, 5);
	for (uint64_t seed = 1; seed <= 100; seed++) {
		make(x, N, seed, 0.005, 0, N, 0);
		for (int i = 0; i < 12; i++)
			x[tk_rng_below(&r, N)] *= 1 + 0.5 * tk_rng_uniform(&r);
		alarms += (int)find(x, N, NULL);
	}
	assert_in_range(alarms, 0, 5);
}

/* Four spikes of seven nights drag the median of the seven along; they are no level, as no two of
 * them are alike. */
static void many_spikes_are_no_level(void **state)
{
	static const size_t at[] = {200, 201, 203, 205};
	static const double height[] = {0.05, 0.4, 0.2, 0.6};
	static double x[N];

	for (uint64_t seed = 1; seed <= 300; seed++) {
		make(x, N, seed, 0.005, 0, N, 0);
		for (int i = 0; i < 4; i++)
			x[at[i]] *= 1 + height[i];
		assert_int_equal(find(x, N, NULL), 0);
	}
}

/* Any four of seven nights, with spikes of any heights. */
static void random_spikes_side_by_side(void **state)
{
	static double x[N];
	struct tk_rng r;
	int alarms = 0;

	tk_rng_seed(&r, 5);
	for (uint64_t seed = 1; seed <= 300; seed++) {
		size_t left = 4;

		make(x, N, seed, 0.005, 0, N, 0);
		for (size_t k = 0; k < 7; k++)
			if (tk_rng_below(&r, 7 - k) < left) {
				left--;
				x[200 + k] *= 1.03 + 0.5 * tk_rng_uniform(&r);
			}
		alarms += find(x, N, NULL) > 0;
	}
	assert_in_range(alarms, 0, 3);
}

/* Longer than one stretch of every loop, with more steps than fit between two prunings. */
static void a_long_history(void **state)
{
	static double x[5000];
	struct tk_changepoint *c;
	size_t count;

	make(x, 5000, 21, 0.005, 0, 5000, 0);
	for (size_t i = 0; i < 5000; i++)
		x[i] *= i / 100 % 2 ? 1.03 : 1;
	assert_int_equal(tk_changepoint_find(x, NULL, 5000, NULL, &c, &count), TK_OK);
	assert_int_equal(count, 49);
	for (size_t i = 0; i < count; i++)
		assert_in_range(c[i].index, 100 * (i + 1) - 2, 100 * (i + 1) + 2);
	free(c);
}

static void a_revert_is_two_changes(void **state)
{
	static double x[N];
	struct tk_changepoint *c;
	size_t count;

	make(x, N, 77, 0.005, 0, 100, 0.05);
	for (size_t i = 140; i < N; i++)
		x[i] /= 1.05;
	assert_int_equal(tk_changepoint_find(x, NULL, N, NULL, &c, &count), TK_OK);
	assert_int_equal(count, 2);
	assert_in_range(c[0].index, 99, 101);
	assert_in_range(c[1].index, 139, 141);
	assert_true(c[0].change > 0.04 && c[1].change < -0.04);
	free(c);
}

static void the_minimum_effect_is_kept(void **state)
{
	struct tk_changepoint_options o = tk_changepoint_defaults;
	static double x[N];
	struct tk_changepoint *c;
	size_t count;

	make(x, N, 8, 0.001, 0, 200, 0.01);
	o.min_effect = 0.02;
	assert_int_equal(tk_changepoint_find(x, NULL, N, &o, &c, &count), TK_OK);
	assert_int_equal(count, 0);
	assert_null(c);
}

static void missing_nights_count_but_do_not_decide(void **state)
{
	static double x[N];
	struct tk_changepoint c = {0};

	make(x, N, 9, 0.005, 0, 200, 0.05);
	for (size_t i = 0; i < 200; i += 3)
		x[i] = i % 2 ? NAN : i % 4 ? 0 : -INFINITY;
	assert_int_equal(find(x, N, &c), 1);
	assert_in_range(c.index, 199, 201);
}

static void little_or_nothing(void **state)
{
	const double nan[] = {NAN, NAN, NAN, NAN, NAN, NAN}, few[] = {1, 2, 1};
	double constant[40];

	assert_int_equal(find(NULL, 0, NULL), 0);
	assert_int_equal(find(few, 1, NULL), 0);
	assert_int_equal(find(few, 3, NULL), 0);
	assert_int_equal(find(nan, 6, NULL), 0);
	for (int i = 0; i < 40; i++)
		constant[i] = 1234;
	assert_int_equal(find(constant, 40, NULL), 0);
	for (int i = 20; i < 40; i++)
		constant[i] = 1300;
	assert_int_equal(find(constant, 40, NULL), 1);
	for (int i = 0; i < 40; i++)
		constant[i] = i % 2 ? 1e300 : 1e-300;
	find(constant, 40, NULL);
}

/* Every seventh and sixth day is 3 % slower: no change where the days are known; a step is seen all
 * the same. */
static void a_weekly_pattern_is_no_change(void **state)
{
	static double x[N];
	static int64_t day[N];

	for (int step = 0; step < 2; step++)
		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct tk_changepoint *found;
			size_t count;

			make(x, N, seed, 0.005, 0, 250, step ? 0.02 : 0);
			for (size_t i = 0; i < N; i++) {
				day[i] = (int64_t)i - 100;
				x[i] *= i % 7 >= 5 ? 1.03 : 1;
			}
			assert_int_equal(
			        tk_changepoint_find(x, day, N, NULL, &found, &count), TK_OK);
			assert_int_equal(count, step);
			assert_true(!step || labs((long)found[0].index - 250) <= 3);
			free(found);
		}
}

/* A jump between neighbours that are alike is seen, although the series wanders as far by itself.
 */
static void a_jump_in_noise_that_remembers(void **state)
{
	static double x[N];
	int found = 0, more = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tk_changepoint c = {0};
		size_t count;

		make(x, N, seed, 0.012, 0.93, 250, 0.04);
		count = find(x, N, &c);
		found += count == 1 && labs((long)c.index - 250) <= 1;
		make(x, N, seed, 0.012, 0.93, 250, 0);
		more += find(x, N, NULL) > 0;
	}
	assert_true(found >= 15);
	assert_true(more <= 3);
}

/* What rises all the time has no levels; that it rises more slowly from some night on is a change.
 */
static void a_trend_changes_its_pace(void **state)
{
	static double x[N];
	int found = 0, more = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tk_changepoint c = {0};
		size_t count;

		make(x, N, seed, 0.01, 0.3, N, 0);
		for (size_t i = 0; i < N; i++)
			x[i] *= exp(0.002 * (double)i);
		more += find(x, N, NULL) > 0;
		for (size_t i = 250; i < N; i++)
			x[i] *= exp(-0.0018 * (double)(i - 250));
		count = find(x, N, &c);
		found += count == 1 && labs((long)c.index - 250) <= 10;
	}
	assert_true(found >= 18);
	assert_true(more <= 1);
}

/* It drifts, and its pace changes: who gains less than counts between the halves has not moved, who
 * gains more has. */
static void a_drift_below_the_least_effect_is_no_move(void **state)
{
	static const struct {
		double slope;
		size_t least, most; /* series of 20 that have a change */
	} cases[] = {{0.00001, 0, 0}, {0.0001, 18, 20}};
	static double x[N];

	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		size_t moved = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			make(x, N, seed, 1e-5, 0, N, 0);
			for (size_t i = 0; i < N; i++)
				x[i] *= exp(cases[k].slope *
				            (i < N / 2 ? (double)i
				                       : (N / 2 + 0.2 * (double)(i - N / 2))));
			moved += find(x, N, NULL) > 0;
		}
		assert_in_range(moved, cases[k].least, cases[k].most);
	}
}

/* What comes again every twelve nights is neither a change nor noise. */
static void a_pattern_of_any_period_is_no_change(void **state)
{
	static const double pattern[12] = {0, 1, 3, 4, 5, 4, 2, 0, -2, -3, -2, -1};
	static double x[N];
	int found = 0, more = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tk_changepoint c = {0};

		for (int step = 0; step < 2; step++) {
			make(x, N, seed, 0.005, 0, 250, step ? 0.02 : 0);
			for (size_t i = 0; i < N; i++)
				x[i] *= 1 + 0.01 * pattern[i % 12];
			if (step)
				found += find(x, N, &c) == 1 && labs((long)c.index - 250) <= 3;
			else
				more += find(x, N, NULL) > 0;
		}
	}
	assert_true(found >= 18);
	assert_int_equal(more, 0);
}

/* A clock state that lasts for days comes again and is no change; what changes beside it is one. */
static void visits_of_a_state_are_no_changes(void **state)
{
	static const size_t from[] = {60, 104, 135, 310}, to[] = {66, 108, 142, 325};
	static double x[N];
	int more = 0, found = 0;

	for (uint64_t seed = 1; seed <= 20; seed++)
		for (int step = 0; step < 2; step++) {
			struct tk_changepoint c = {0};

			make(x, N, seed, 0.003, 0, 220, step ? 0.04 : 0);
			for (size_t k = 0; k < 4; k++)
				for (size_t i = from[k]; i < to[k]; i++)
					x[i] *= 1.027;
			if (step)
				found += find(x, N, &c) == 1 && labs((long)c.index - 220) <= 1;
			else
				more += find(x, N, NULL) > 0;
		}
	assert_int_equal(found, 20);
	assert_int_equal(more, 0);
}

/* A level that wanders about a drift: that it turns is a change, that it goes on is none. */
static void a_wandering_level_turns(void **state)
{
	static double x[N];
	int found = 0, more = 0;

	for (uint64_t seed = 1; seed <= 20; seed++)
		for (int turns = 0; turns < 2; turns++) {
			struct tk_changepoint c = {0};
			struct tk_rng r;
			double level = 0;

			tk_rng_seed(&r, seed);
			for (size_t i = 0; i < N; i++) {
				level += 0.002 * tk_rng_normal(&r) +
				         (turns && i >= 250 ? -0.003 : 0.003);
				x[i] = 1e6 * exp(level);
			}
			if (turns)
				found += find(x, N, &c) == 1 && labs((long)c.index - 250) <= 5;
			else
				more += find(x, N, NULL) > 0;
		}
	assert_true(found >= 18);
	assert_int_equal(more, 0);
}

/* Of 60 nights, a step at 30; the night of the change where that is all that was found, else 0. */
static size_t night_of_step(const double *x)
{
	struct tk_changepoint c;

	return find(x, 60, &c) == 1 ? c.index : 0;
}

/* A slow or fast night beside a step does not make the good nights between them bad. Where the
 * first night of the new level is the spike, nobody can tell: the step is said to be at the next
 * one, the first that shows the level. */
static void a_spike_beside_a_step_does_not_move_it(void **state)
{
	static const double steps[] = {0.3, -0.2, 0.05}, spikes[] = {1.6, 0.6};
	static double x[60];

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		for (size_t s = 0; s < 2; s++)
			for (int k = -4; k <= 4; k++)
				for (uint64_t seed = 1; seed <= 5; seed++) {
					make(x, 60, seed, 0.005, 0, 30, steps[i]);
					assert_int_equal(night_of_step(x), 30);
					x[30 + k] *= spikes[s];
					assert_int_equal(night_of_step(x), k ? 30 : 31);
				}
	make(x, 60, 9, 0.005, 0, 30, 0.3);
	x[27] *= 1.6;
	x[28] *= 1.6;
	assert_int_equal(night_of_step(x), 30);
}

/* A level of few nights that comes and goes, with a slow night before it and one after. */
static void a_spike_beside_a_short_level(void **state)
{
	static double x[60];
	struct tk_changepoint *c;
	size_t count;

	for (size_t nights = 4; nights <= 8; nights++) {
		make(x, 60, nights, 0.005, 0, 30, 0.3);
		for (size_t i = 30 + nights; i < 60; i++)
			x[i] /= 1.3;
		x[28] *= 1.6;
		x[31 + nights] *= 1.6;
		assert_int_equal(tk_changepoint_find(x, NULL, 60, NULL, &c, &count), TK_OK);
		assert_int_equal(count, 2);
		assert_int_equal(c[0].index, 30);
		assert_int_equal(c[1].index, 30 + nights);
		free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(steps_are_found),
	        cmocka_unit_test(flat_series_stay_flat),
	        cmocka_unit_test(spikes_are_no_steps),
	        cmocka_unit_test(many_spikes_are_no_level),
	        cmocka_unit_test(random_spikes_side_by_side),
	        cmocka_unit_test(a_long_history),
	        cmocka_unit_test(a_revert_is_two_changes),
	        cmocka_unit_test(the_minimum_effect_is_kept),
	        cmocka_unit_test(missing_nights_count_but_do_not_decide),
	        cmocka_unit_test(little_or_nothing),
	        cmocka_unit_test(a_weekly_pattern_is_no_change),
	        cmocka_unit_test(a_jump_in_noise_that_remembers),
	        cmocka_unit_test(a_trend_changes_its_pace),
	        cmocka_unit_test(a_pattern_of_any_period_is_no_change),
	        cmocka_unit_test(visits_of_a_state_are_no_changes),
	        cmocka_unit_test(a_wandering_level_turns),
	        cmocka_unit_test(a_drift_below_the_least_effect_is_no_move),
	        cmocka_unit_test(a_spike_beside_a_step_does_not_move_it),
	        cmocka_unit_test(a_spike_beside_a_short_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
