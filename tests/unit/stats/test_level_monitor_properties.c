/* What must not change what the monitor of a series says: another unit, another direction, series
 * fitted side by side; and what must change it: a larger step, more nights. */
#include "stats_checks.h"

#include "stats/levels.h"
#include "stats/monitor_internal.h"

#define N 90

static struct tk_level_monitor_workspace workspace;
static const struct tk_noise_prior no_prior;
static int64_t days[N];

/* 0.5 % noise, and a step at night 60. */
static void make(double *y, uint64_t seed, double step)
{
	fill_normal(y, N, seed, 5, 0.005);
	for (size_t i = 0; i < N; i++) {
		days[i] = 20000 + (int64_t)i;
		y[i] += i >= 60 ? step : 0;
	}
}

static struct tk_level_monitor_night night_of(struct tk_level_monitor *w, const double *y, size_t n)
{
	return (struct tk_level_monitor_night){
	        .monitor = w, .y = y, .day = days, .n = n, .prior = &no_prior};
}

/* The candidates of all nights; the first one that is large enough is accepted. */
struct played {
	struct tk_changepoint_candidate at[N + 1];
	size_t reported; /* nights by then; 0: never */
	double level;    /* in the end */
};

static void play(const double *y, struct played *p)
{
	struct tk_level_monitor *w = tk_level_monitor_new(0.005);

	assert_non_null(w);
	p->reported = 0;
	for (size_t n = 1; n <= N; n++) {
		const struct tk_level_monitor_night night = night_of(w, y, n);
		size_t nights;

		tk_level_monitor_update(&night, &workspace, &p->at[n]);
		if (p->reported || p->at[n].log_lr < TK_MONITOR_LOG_LR_MIN)
			continue;
		assert_true(tk_level_monitor_accept(w, &p->at[n], &nights));
		p->reported = n;
	}
	p->level = w->level;
	free(w);
}

static void a_unit_moves_the_levels_alone(void **state)
{
	static struct played here, there;
	double y[N], moved[N];

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		make(y, seed, 0.03);
		transform(y, N, 1, 20, moved);
		play(y, &here), play(moved, &there);
		assert_int_equal(here.reported, there.reported);
		assert_in_range(here.reported, 63, 70);
		near_by(there.level, here.level + 20, 1e-6);
		for (size_t n = 1; n <= N; n++) {
			near_by(there.at[n].log_lr, here.at[n].log_lr, 1e-3);
			assert_int_equal(there.at[n].split, here.at[n].split);
		}
	}
}

/* Slower or faster: found on the same night, with the same certainty but for a skewed model. */
static void both_directions_are_found(void **state)
{
	static struct played up, down;
	double y[N], mirrored[N];

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		make(y, seed, 0.03);
		transform(y, N, -1, 10, mirrored);
		play(y, &up), play(mirrored, &down);
		assert_in_range(up.reported, 63, 70);
		assert_true(labs((long)up.reported - (long)down.reported) <= 1);
		near_by(down.level, 10 - up.level, 0.001);
		near_by(up.level, 5.03, 0.006);
		near_by(up.at[up.reported].before, 5, 0.004);
		assert_true(up.at[up.reported].after > up.at[up.reported].before);
		assert_true(down.at[down.reported].after < down.at[down.reported].before);
	}
}

static void larger_steps_are_reported_earlier(void **state)
{
	static struct played p;
	static const double steps[] = {0.01, 0.015, 0.03, 0.1, 0.5};
	double y[N];

	(void)state;
	for (uint64_t seed = 5; seed <= 6; seed++) {
		size_t before = N + 1;

		for (size_t i = 0; i < 5; i++) {
			make(y, seed, steps[i]);
			play(y, &p);
			const size_t nights = p.reported ? p.reported : N;
			assert_true(nights >= 62 && nights <= before);
			before = nights;
		}
		assert_true(before <= 64);
	}
}

/* What is below the minimum effect is no change, however quiet the series. */
static void steps_below_the_minimum_effect_are_none(void **state)
{
	static struct played p;
	double y[N];

	(void)state;
	fill_normal(y, N, 9, 5, 0.0001);
	for (size_t i = 60; i < N; i++)
		y[i] += 0.004;
	play(y, &p);
	assert_int_equal(p.reported, 0);
	for (size_t i = 60; i < N; i++)
		y[i] += 0.004;
	play(y, &p);
	assert_in_range(p.reported, 62, 66);
}

static void p_falls_with_the_ratio(void **state)
{
	double before = 1;

	(void)state;
	near(tk_level_monitor_p_value(-5), 1);
	for (double log_lr = 0; log_lr < 100; log_lr += 0.5) {
		const double p = tk_level_monitor_p_value(log_lr);

		assert_true(p <= before && p >= 0);
		before = p;
	}
	assert_true(before < 1e-30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_unit_moves_the_levels_alone),
	        cmocka_unit_test(both_directions_are_found),
	        cmocka_unit_test(larger_steps_are_reported_earlier),
	        cmocka_unit_test(steps_below_the_minimum_effect_are_none),
	        cmocka_unit_test(p_falls_with_the_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
