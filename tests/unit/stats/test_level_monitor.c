/* Night after night on seeded series: flat ones stay silent, steps are said within days, clock
 * states and a wandering level are learnt, a short excursion is not a new level. */
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
#include "base/serializer.h"
#include "stats/monitor/level_monitor.h"
#include "stats/monitor/regime_model.h"
#include "stats/monitor/young_level.h"

#define N 240

static int64_t days[N];

struct noise {
	double sigma, phi, drift_sd, state, share,
	        stay; /* white; AR(1); a slow state: how much, how often, how long */
};

static void make(
        double *y, uint64_t seed, const struct noise *k, size_t at, size_t until, double step)
{
	struct tk_rng r;
	double x = 0;
	bool slow = false;

	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < N; i++) {
		days[i] = (int64_t)i;
		x = k->phi * x + k->drift_sd * sqrt(1 - k->phi * k->phi) * tk_rng_normal(&r);
		slow = tk_rng_uniform(&r) <
		       (slow ? k->stay : k->share * (1 - k->stay) / (1 - k->share));
		y[i] = 7 + k->sigma * tk_rng_normal(&r) + x + (slow ? k->state : 0) +
		       (i >= at && i < until ? step : 0);
	}
}

struct said {
	size_t count, night, split, returns;
	double log_lr; /* of all nights */
};

static struct tk_level_monitor_workspace *workspace;
static const struct tk_noise_prior no_prior;

/* Another watch that knows the same. */
static struct tk_level_monitor *move(struct tk_level_monitor *w, size_t n)
{
	struct tk_level_monitor *moved = tk_level_monitor_new(0.005);
	struct tk_serializer io = {0};

	assert_non_null(moved);
	assert_int_equal(tk_level_monitor_serialize(w, n, &io), TK_OK);
	io.reading = true;
	assert_int_equal(tk_level_monitor_serialize(moved, n, &io), TK_OK);
	assert_int_equal(io.next, io.count);
	tk_serializer_free(&io);
	tk_level_monitor_free(w);
	return moved;
}

static void update(
        struct tk_level_monitor *w, const double *y, size_t n, struct tk_changepoint_candidate *out)
{
	const struct tk_level_monitor_night night = {
	        .monitor = w, .y = y, .day = days, .n = n, .prior = &no_prior};

	assert_int_equal(tk_level_monitor_update(&night, workspace, out), TK_OK);
}

/* moving: every night in another process. */
static struct said play_as(const double *y, bool moving)
{
	struct tk_level_monitor *w = tk_level_monitor_new(0.005);
	struct said said = {0};

	assert_non_null(w);
	for (size_t n = 1; n <= N; n++) {
		struct tk_changepoint_candidate s;
		size_t nights;

		update(w, y, n, &s);
		said.log_lr += s.log_lr;
		if (moving)
			w = move(w, n);
		if (s.log_lr < TK_MONITOR_LOG_LR_MIN)
			continue;
		assert_in_range(s.split, 1, n - 1);
		if (said.count++ == 0)
			said.night = n - 1, said.split = s.split;
		said.returns += !tk_level_monitor_accept(w, &s, &nights);
	}
	tk_level_monitor_free(w);
	return said;
}

static struct said play(const double *y)
{
	return play_as(y, false);
}

static size_t alarms(const struct noise *k, int series)
{
	static double y[N];
	size_t count = 0;

	for (int i = 0; i < series; i++) {
		make(y, 500 + (uint64_t)i, k, N, N, 0);
		count += play(y).count;
	}
	return count;
}

static void flat_series_stay_silent(void **state)
{
	assert_in_range(
	        alarms(&(struct noise){.sigma = 0.01}, 20), 0, 1); /* 4,800 series-nights each */
	assert_in_range(alarms(&(struct noise){.sigma = 0.0005}, 20), 0, 1);
	assert_in_range(
	        alarms(&(struct noise){.sigma = 0.004, .phi = 0.9, .drift_sd = 0.01}, 20), 0, 6);
	assert_in_range(
	        alarms(&(struct noise){.sigma = 0.004, .state = 0.03, .share = 0.3, .stay = 0.6},
	                20),
	        0, 12); /* in young series the first long stay in a state looks like a step */
	assert_in_range(
	        alarms(&(struct noise){.sigma = 0.004, .state = 0.03, .share = 0.3, .stay = 0.75},
	                20),
	        0, 23); /* 25 without a penalty for the second state */
}

static void steps_are_said_within_days(void **state)
{
	static const double cases[][2] = {
	        {0.01, 0.003}, {0.02, 0.005}, {-0.05, 0.01}, {0.1, 0.02}}; /* step, noise */
	static double y[N];

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		int found = 0;

		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct said said;

			make(y, seed, &(struct noise){.sigma = cases[k][1]}, 150, N, cases[k][0]);
			said = play(y);
			found += said.count == 1 && said.night >= 150 && said.night <= 157 &&
			         labs((long)said.split - 150) <= 2;
		}
		assert_in_range(found, 9, 10);
	}
}

/* What a machine's noise was months ago is no measure of what it is now. */
static void a_series_that_has_become_calm_is_judged_by_that(void **state)
{
	static double y[N], loud[N];
	int found = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct said said;

		make(loud, seed + 50, &(struct noise){.sigma = 0.03}, N, N, 0);
		make(y, seed, &(struct noise){.sigma = 0.004}, 190, N, 0.015);
		memcpy(y, loud, 110 * sizeof *y);
		said = play(y);
		found += said.count == 1 && said.night >= 190 && said.night <= 194;
	}
	assert_in_range(found, 8, 10);
}

static void a_jump_of_a_wandering_level_is_found(void **state)
{
	static double y[N];
	int found = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct said said;

		make(y, seed, &(struct noise){.sigma = 0.002, .phi = 0.95, .drift_sd = 0.015}, 150,
		        N, 0.06);
		said = play(y);
		found += said.count >= 1 && said.night >= 150 && said.night <= 160 &&
		         labs((long)said.split - 150) <= 2;
	}
	assert_in_range(found, 8, 10);
}

/* Four nights at a level are enough to say, three nights later, that it was left. */
static void a_step_soon_after_another_is_found(void **state)
{
	static double y[N];
	int found = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct tk_level_monitor *w = tk_level_monitor_new(0.005);
		bool said = false;

		assert_non_null(w);
		make(y, seed, &(struct noise){.sigma = 0.005}, 150, N, -0.05);
		for (size_t i = 154; i < N; i++)
			y[i] += 0.08;
		for (size_t n = 1; n <= 157; n++) {
			struct tk_changepoint_candidate s;
			size_t nights;

			update(w, y, n, &s);
			if (s.log_lr < TK_MONITOR_LOG_LR_MIN)
				continue;
			said |= s.split == 154;
			tk_level_monitor_accept(w, &s, &nights);
		}
		tk_level_monitor_free(w);
		found += said;
	}
	assert_in_range(found, 9, 10);
}

static void who_comes_back_has_not_moved(void **state)
{
	static double y[N];
	struct said said;

	make(y, 3, &(struct noise){.sigma = 0.004}, 120, 128, 0.05);
	said = play(y);
	assert_int_equal(said.count, 2);
	assert_int_equal(said.returns, 1);
	assert_in_range(said.split, 119, 121);
}

static void what_is_known_can_be_kept(void **state)
{
	static const struct noise kinds[] = {{.sigma = 0.004},
	        {.sigma = 0.002, .phi = 0.95, .drift_sd = 0.015},
	        {.sigma = 0.003, .state = 0.03, .share = 0.2, .stay = 0.6}};
	static double y[N];

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct said here, there;

		make(y, 21 + k, &kinds[k], 90, k ? N : 97, 0.06); /* the first comes back */
		here = play_as(y, false);
		there = play_as(y, true);
		assert_true(here.count >= 1 && here.log_lr > TK_MONITOR_LOG_LR_MIN);
		assert_memory_equal(&here, &there, sizeof here);
	}
}

static void what_is_no_state_is_refused(void **state)
{
	struct tk_level_monitor *w = tk_level_monitor_new(0.005);
	struct tk_serializer io = {0};
	static double y[N];

	make(y, 1, &(struct noise){.sigma = 0.004}, N, N, 0);
	for (size_t n = 1; n <= 60; n++) {
		struct tk_changepoint_candidate s;

		update(w, y, n, &s);
	}
	assert_int_equal(tk_level_monitor_serialize(w, 60, &io), TK_OK);
	io.reading = true;
	io.count--;
	assert_int_equal(tk_level_monitor_serialize(w, 60, &io), TK_EDATA);
	io = (struct tk_serializer){
	        .at = io.at, .count = io.count + 1, .cap = io.cap, .reading = true};
	io.at[0] = TK_REGIME_STATES_MAX + 1;
	assert_int_equal(tk_level_monitor_serialize(w, 60, &io), TK_EDATA);
	tk_serializer_free(&io);
	tk_level_monitor_free(w);
}

static void ties_and_short_series_are_fine(void **state)
{
	static double y[N];
	struct tk_level_monitor *w = tk_level_monitor_new(0.005);
	struct tk_changepoint_candidate s;

	make(y, 3, &(struct noise){.sigma = 0}, N, N, 0);
	assert_int_equal(play(y).count, 0);
	for (size_t i = 100; i < N; i++)
		y[i] += 0.01;
	assert_int_equal(play(y).count, 1);
	for (size_t n = 0; n < 12; n++) {
		update(w, y, n, &s);
		assert_true(s.log_lr == 0);
	}
	tk_level_monitor_free(w);
	tk_level_monitor_free(NULL);
	assert_true(tk_level_monitor_p_value(TK_MONITOR_LOG_LR_MIN) < 1e-3 &&
	            tk_level_monitor_p_value(0) == 1);
}

/* Nights at the new level when the step at `at` is reported; 0: never, or something else is. */
static size_t nights_until_reported(uint64_t seed, size_t at, double step)
{
	static double y[N];
	struct said said;

	make(y, seed, &(struct noise){.sigma = 0.01}, at, N, step);
	said = play(y);
	return said.count == 1 && said.night >= at && labs((long)said.split - (long)at) <= 1
	               ? said.night - at + 1
	               : 0;
}

static void steps_of_young_series_are_reported_at_every_age(void **state)
{
	size_t found = 0, tries = 0;

	for (size_t at = 6; at <= 60; at += 2)
		for (uint64_t seed = 1; seed <= 2; seed++, tries++) {
			const size_t nights = nights_until_reported(100 * at + seed, at, 0.15);

			found += nights >= 1 && nights <= 4;
		}
	assert_in_range(found, tries - 2, tries);
}

/* A step of the first weeks is not learnt as a state of the noise, however late it is reported. */
static void small_steps_of_young_series_are_not_learnt_as_noise(void **state)
{
	size_t found = 0, tries = 0;

	for (size_t at = 10; at <= 40; at += 3)
		for (uint64_t seed = 1; seed <= 3; seed++, tries++)
			found += nights_until_reported(500 * at + seed, at, 0.05) > 0;
	assert_in_range(found, tries * 9 / 10, tries);
}

/* Steps of young series and the state of the monitor: in another process each night. */
static void young_series_can_be_kept(void **state)
{
	static double y[N];
	struct said here, there;

	for (size_t at = 8; at <= 24; at += 4) {
		make(y, at, &(struct noise){.sigma = 0.01}, at, at + 30, 0.15);
		here = play_as(y, false);
		there = play_as(y, true);
		assert_true(here.count >= 2);
		assert_memory_equal(&here, &there, sizeof here);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(flat_series_stay_silent),
	        cmocka_unit_test(steps_are_said_within_days),
	        cmocka_unit_test(a_series_that_has_become_calm_is_judged_by_that),
	        cmocka_unit_test(a_jump_of_a_wandering_level_is_found),
	        cmocka_unit_test(a_step_soon_after_another_is_found),
	        cmocka_unit_test(who_comes_back_has_not_moved),
	        cmocka_unit_test(what_is_known_can_be_kept),
	        cmocka_unit_test(what_is_no_state_is_refused),
	        cmocka_unit_test(ties_and_short_series_are_fine),
	        cmocka_unit_test(steps_of_young_series_are_reported_at_every_age),
	        cmocka_unit_test(small_steps_of_young_series_are_not_learnt_as_noise),
	        cmocka_unit_test(young_series_can_be_kept),
	};
	int failed;

	workspace = tk_level_monitor_workspace_new();
	failed = workspace ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
	tk_level_monitor_workspace_free(workspace);
	return failed;
}
