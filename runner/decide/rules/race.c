/* See race.h. */
#include "decide/rules/race.h"
#include "stats/summary.h"
#include <math.h>

static bool is_racing(const struct tk_race_contestant *c)
{
	return !c->is_out && c->rounds > 0;
}

/* Rounds that all contestants that are left were measured in. */
static size_t complete_rounds(const struct tk_race *race, size_t *left)
{
	size_t rounds = TK_RACE_ROUNDS_MAX;
	*left = 0;
	for (size_t i = 0; i < race->count; i++)
		if (is_racing(&race->contestants[i])) {
			++*left;
			if (race->contestants[i].rounds < rounds)
				rounds = race->contestants[i].rounds;
		}
	return rounds;
}

double tk_race_level(const struct tk_race_contestant *c, size_t rounds)
{
	double sum = 0;
	for (size_t r = 0; r < rounds; r++)
		sum += c->log_ns[r];
	return sum / (double)rounds;
}

static size_t find_leader(const struct tk_race *race, size_t rounds)
{
	size_t leader = race->count;
	double least = INFINITY;
	for (size_t i = 0; i < race->count; i++)
		if (is_racing(&race->contestants[i]) &&
		        tk_race_level(&race->contestants[i], rounds) < least) {
			least = tk_race_level(&race->contestants[i], rounds);
			leader = i;
		}
	return leader;
}

static double round_mean(const struct tk_race *race, size_t round, size_t left)
{
	double sum = 0;
	for (size_t i = 0; i < race->count; i++)
		if (is_racing(&race->contestants[i]))
			sum += race->contestants[i].log_ns[round];
	return sum / (double)left;
}

/* Standard deviation of one time, from the residuals of levels and rounds and the assumption. */
static double noise(const struct tk_race *race, size_t rounds, size_t left, double *df)
{
	double squares = TK_RACE_PRIOR_DF * TK_RACE_PRIOR_SD * TK_RACE_PRIOR_SD, mean = 0;
	for (size_t r = 0; r < rounds; r++)
		mean += round_mean(race, r, left) / (double)rounds;
	for (size_t r = 0; r < rounds; r++) {
		double of_round = round_mean(race, r, left) - mean;
		for (size_t i = 0; i < race->count; i++) {
			const struct tk_race_contestant *c = &race->contestants[i];
			double residual =
			        is_racing(c) ? c->log_ns[r] - tk_race_level(c, rounds) - of_round
			                     : 0;
			squares += residual * residual;
		}
	}
	*df = TK_RACE_PRIOR_DF + (double)((rounds - 1) * (left - 1));
	return sqrt(squares / *df);
}

void tk_race_evaluate(struct tk_race *race)
{
	size_t left, rounds = complete_rounds(race, &left);
	race->leader = left ? find_leader(race, rounds) : race->count;
	race->is_decided = !left;
	if (!left)
		return;
	double df, sd = noise(race, rounds, left, &df);
	double margin = tk_student_t(TK_RACE_ALPHA / (double)race->count, df) * sd *
	                sqrt(2 / (double)rounds);
	double least = tk_race_level(&race->contestants[race->leader], rounds), gain = 0;
	bool can_drop = !race->is_exhaustive && rounds >= TK_RACE_ROUNDS_MIN;
	size_t stay = 0;
	for (size_t i = 0; i < race->count; i++) {
		struct tk_race_contestant *c = &race->contestants[i];
		if (!is_racing(c))
			continue;
		double difference = tk_race_level(c, rounds) - least;
		double half = i == race->leader ? 0 : margin;
		c->slower = expm1(difference);
		c->lo = expm1(difference - half);
		c->hi = expm1(difference + half);
		c->is_out = can_drop && difference > half;
		stay += !c->is_out;
		if (!c->is_out)
			gain = fmax(gain, half - difference);
	}
	bool is_enough = stay == 1 || (can_drop && gain < log1p(race->min_effect));
	race->is_decided = rounds == TK_RACE_ROUNDS_MAX || (!race->is_exhaustive && is_enough);
}
