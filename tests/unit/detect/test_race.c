/* Races on made-up noise: the winner is that of an exhaustive search, for fewer measurements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "detect/rules/race.h"

#define CONTESTANTS_MAX 64

struct world {
	double ns[CONTESTANTS_MAX]; /* true times */
	size_t count;
	double noise, drift; /* standard deviations of a time and of a round, ratios */
	uint64_t seed;
};

struct outcome {
	size_t winner, evaluations, rounds;
	struct tk_race_contestant contestants[CONTESTANTS_MAX];
};

static struct outcome run(const struct world *w, bool is_exhaustive, double min_effect)
{
	struct outcome o = {0};
	struct tk_race race = {.contestants = o.contestants,
	        .count = w->count,
	        .min_effect = min_effect,
	        .is_exhaustive = is_exhaustive};
	struct tk_rng rng;
	tk_rng_seed(&rng, w->seed);
	while (!race.is_decided) {
		double shift = w->drift * tk_rng_normal(&rng);
		for (size_t i = 0; i < w->count; i++) {
			struct tk_race_contestant *c = &o.contestants[i];
			if (c->is_out)
				continue;
			c->log_ns[c->rounds++] =
			        log(w->ns[i]) + shift + w->noise * tk_rng_normal(&rng);
			o.evaluations++;
		}
		o.rounds++;
		tk_race_evaluate(&race);
	}
	o.winner = race.leader;
	return o;
}

/* Times that grow by a factor from the fastest one on, which is at `best`. */
static struct world ladder(size_t count, size_t best, double step, double noise, uint64_t seed)
{
	struct world w = {.count = count, .noise = noise, .drift = 0.05, .seed = seed};
	for (size_t i = 0; i < count; i++)
		w.ns[i] = 1e6 * pow(1 + step, (double)((i + count - best) % count));
	return w;
}

static void finds_what_an_exhaustive_search_finds(void **state)
{
	const double noises[] = {0.002, 0.01, 0.03};
	for (size_t k = 0; k < 3; k++) {
		size_t raced = 0, exhaustive = 0, same = 0;
		for (uint64_t seed = 1; seed <= 200; seed++) {
			struct world w = ladder(16, seed % 16, 0.04, noises[k], seed);
			struct outcome fast = run(&w, false, 0.01), full = run(&w, true, 0.01);
			assert_int_equal(full.evaluations, 16 * TK_RACE_ROUNDS_MAX);
			raced += fast.evaluations;
			exhaustive += full.evaluations;
			/* one step of the ladder is about the noise of the loudest world */
			same += w.ns[fast.winner] <= w.ns[full.winner] * 1.0401;
			if (k < 2)
				assert_int_equal(fast.winner, w.count ? seed % 16 : 0);
		}
		assert_true(same >= 198);
		assert_true(raced * (k == 2 ? 3 : 4) < exhaustive * 2);
	}
}

static void the_fastest_is_rarely_dropped(void **state)
{
	size_t lost = 0;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct world w = ladder(8, seed % 8, 0.01, 0.03, seed);
		struct outcome o = run(&w, false, 0.001);
		lost += o.contestants[seed % 8].is_out;
	}
	assert_true(lost <= 400 * TK_RACE_ALPHA * TK_RACE_ROUNDS_MAX);
}

static void the_drift_of_a_round_is_not_noise(void **state)
{
	struct world w = ladder(8, 3, 0.05, 0.001, 7);
	struct outcome calm, drifting;
	w.drift = 0;
	calm = run(&w, false, 0.01);
	w.drift = 0.5;
	drifting = run(&w, false, 0.01);
	assert_int_equal(calm.winner, 3);
	assert_int_equal(drifting.winner, 3);
	assert_true(drifting.evaluations <= calm.evaluations + 8);
}

static void equal_contestants_end_early(void **state)
{
	struct world w = ladder(4, 0, 0, 0.001, 3);
	struct outcome o = run(&w, false, 0.05);
	assert_true(o.rounds < TK_RACE_ROUNDS_MAX);
	/* nothing is left to gain, although none is out */
	w.noise = 0.05;
	assert_int_equal(run(&w, false, 0.001).rounds, TK_RACE_ROUNDS_MAX);
}

static void failed_contestants_never_lead(void **state)
{
	struct tk_race_contestant c[3] = {{.is_out = true}, {{log(200)}, 1}, {{log(100)}, 1}};
	struct tk_race race = {.contestants = c, .count = 3, .min_effect = 0.01};
	c[2].is_out = true; /* wrong in its second run */
	tk_race_evaluate(&race);
	assert_int_equal(race.leader, 1);
	assert_true(race.is_decided);
	c[1].is_out = true;
	tk_race_evaluate(&race);
	assert_int_equal(race.leader, 3);
	assert_true(race.is_decided);
}

/* A process that waits for the processor in its first run: 50 times slower, once. */
static void one_disturbed_run_drops_nobody(void **state)
{
	for (size_t victim = 0; victim < 5; victim++) {
		struct tk_race_contestant c[5] = {0};
		struct tk_race race = {.contestants = c, .count = 5, .min_effect = 0.01};
		for (size_t round = 0; round < 2; round++) {
			for (size_t i = 0; i < 5; i++) {
				bool is_disturbed = i == victim && round == 0;
				c[i].log_ns[c[i].rounds++] =
				        log(i == 0 ? 100 : 103) + (is_disturbed ? log(50) : 0);
			}
			tk_race_evaluate(&race);
			assert_false(race.is_decided);
			for (size_t i = 0; i < 5; i++)
				assert_false(c[i].is_out);
		}
	}
}

static void a_broken_round_does_not_count(void **state)
{
	/* the second one was not measured in the second round, in which the machine was slow */
	struct tk_race_contestant c[3] = {
	        {{log(100), log(300)}, 2}, {{log(110)}, 1}, {.rounds = 0}};
	struct tk_race race = {.contestants = c, .count = 3, .min_effect = 0.01};
	tk_race_evaluate(&race);
	assert_int_equal(race.leader, 0);
	assert_false(race.is_decided);
	assert_true(fabs(c[1].slower - 0.1) < 1e-9);
	assert_true(c[1].lo < 0.1 && c[1].hi > 0.1);
	assert_false(c[2].is_out);
}

static void a_single_contestant_needs_one_run(void **state)
{
	struct world w = ladder(1, 0, 0, 0.01, 1);
	assert_int_equal(run(&w, false, 0.01).evaluations, 1);
	assert_int_equal(run(&w, true, 0.01).evaluations, TK_RACE_ROUNDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(finds_what_an_exhaustive_search_finds),
	        cmocka_unit_test(the_fastest_is_rarely_dropped),
	        cmocka_unit_test(the_drift_of_a_round_is_not_noise),
	        cmocka_unit_test(equal_contestants_end_early),
	        cmocka_unit_test(failed_contestants_never_lead),
	        cmocka_unit_test(one_disturbed_run_drops_nobody),
	        cmocka_unit_test(a_broken_round_does_not_count),
	        cmocka_unit_test(a_single_contestant_needs_one_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
