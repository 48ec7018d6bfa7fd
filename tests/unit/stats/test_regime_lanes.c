/* Series side by side have the same expectations as each alone, to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "stats/monitor/regime_lanes.h"

#define N_MAX 70

static struct tk_rng rng;

static struct tk_regime_model chain(size_t count)
{
	struct tk_regime_model m = {.count = count};

	for (size_t k = 0; k < count; k++) {
		m.offset[k] = k + 1 == count ? 0 : 0.02 * tk_rng_uniform(&rng);
		m.sd[k] = k + 1 == count ? 0.1 : 0.004 * (1 + tk_rng_uniform(&rng));
		m.share[k] = 1.0 / (double)count;
		for (size_t j = 0; j < count; j++)
			m.to[k][j] = (j == k ? 0.7 : 0.3 / ((double)count - 1)) *
			             (1 + 0.1 * tk_rng_uniform(&rng));
	}
	return m;
}

/* Normal points, and a spike whose normal densities are next to nothing. */
static void make_points(double *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r[i] = i % 17 == 5 ? 3 * tk_rng_uniform(&rng) : 0.01 * tk_rng_normal(&rng);
}

static void compare(size_t n, size_t states)
{
	static double r[TK_REGIME_LANES][N_MAX];
	struct tk_regime_model m[TK_REGIME_LANES];
	struct tk_regime_lanes *w = tk_regime_lanes_new(n);
	double loglik[TK_REGIME_LANES], *work = malloc(TK_REGIME_WORK_COUNT(n) * sizeof *work);
	struct tk_regime_counts counts[TK_REGIME_LANES];

	assert_true(w && work);
	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++) {
		m[lane] = chain(states);
		make_points(r[lane], n);
		tk_regime_lanes_set_points(w, lane, r[lane]);
		tk_regime_lanes_set_model(w, lane, &m[lane]);
	}
	tk_regime_lanes_smooth(w, states, loglik);
	tk_regime_lanes_count(w, states, counts);
	for (size_t lane = 0; lane < TK_REGIME_LANES; lane++) {
		struct tk_regime_counts alone;

		assert_true(tk_regime_smooth(&m[lane], r[lane], n, work) == loglik[lane]);
		tk_regime_count(&m[lane], n, work, &alone);
		for (size_t k = 0; k < states; k++) {
			assert_true(alone.state[k] == counts[lane].state[k]);
			assert_true(alone.sum[k] == counts[lane].sum[k]);
			assert_true(alone.square[k] == counts[lane].square[k]);
			for (size_t j = 0; j < states; j++)
				assert_true(alone.to[j][k] == counts[lane].to[j][k]);
		}
	}
	tk_regime_lanes_free(w);
	free(work);
}

static void lanes_are_series_alone(void **state)
{
	(void)state;
	tk_rng_seed(&rng, 3);
	for (size_t n = 1; n <= N_MAX; n++)
		for (size_t states = 2; states <= TK_REGIME_STATES_MAX; states++)
			compare(n, states);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_are_series_alone)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
