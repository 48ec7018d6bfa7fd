/* One point of the filter: probabilities, and products of likelihoods. */
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
#include "stats/monitor/regime_filter.h"

static const struct tk_regime_model model = {.count = 2,
        .offset = {0, 0},
        .sd = {0.01, 0.1},
        .share = {0.99, 0.01},
        .to = {{0.99, 0.01}, {0.75, 0.25}}};

static void a_far_point_is_a_spike(void **state)
{
	struct tk_filtered_state near = tk_regime_filter_init(&model), far = near;
	struct tk_regime_update a = tk_regime_filter_update(&model, &near, 0.002, false),
	                        b = tk_regime_filter_update(&model, &far, 0.5, false);

	(void)state;
	assert_true(a.likelihood > b.likelihood);
	assert_true(fabs(near.p[0] + near.p[1] - 1) < 1e-12);
	assert_true(near.p[0] > 0.9 && far.p[1] > 0.99);
}

static void products_do_not_underflow(void **state)
{
	struct tk_likelihood_product p = {0, 1};

	(void)state;
	for (int i = 0; i < 10000; i++)
		tk_likelihood_multiply(&p, i % 2 ? 1e-40 : 1e10);
	assert_true(fabs(tk_likelihood_log(&p) - 5000 * log(1e-30)) < 1e-6 * 5000 * log(1e30));
}

/* A model of `count` states, the last of them the spike; drift 0: none. */
static struct tk_regime_model make_model(struct tk_rng *rng, size_t count, double drift)
{
	struct tk_regime_model m = {.count = count, .phi = drift > 0 ? 0.9 : 0, .drift_sd = drift};

	for (size_t k = 0; k < count; k++) {
		m.offset[k] = k + 1 < count ? 0.02 * tk_rng_normal(rng) : 0;
		m.sd[k] = k + 1 < count ? 0.002 + 0.01 * tk_rng_uniform(rng) : 0.1;
		m.share[k] = 1.0 / (double)count;
		for (size_t j = 0; j < count; j++)
			m.to[k][j] = 1.0 / (double)(count + 1) * (j == k ? 2 : 1);
	}
	return m;
}

static void expect_point_by_point(const struct tk_regime_model *m, const double *y, size_t n)
{
	enum { MAX = 200 };
	struct tk_filtered_state b = tk_regime_filter_init(m), each[MAX];
	struct tk_likelihood_product so_far[MAX], p = {0, 1};
	struct tk_level_information known, expected = {0};
	double pull = 0, level = 0.01, follows = 0, loglik, after;

	loglik = tk_regime_loglik(m, y, n, level, NULL, each, so_far);
	after = tk_regime_newton_step(m, y, n, NULL, &level, &known);
	for (size_t i = 0; i < n; i++) {
		double seen = 1 - m->phi * follows, old = 1 - m->phi * b.drift_share;
		struct tk_regime_update o = tk_regime_filter_update(m, &b, y[i] - 0.01, false);

		expected.new_level += seen * seen * o.weight;
		expected.old_level += old * old * o.weight;
		expected.cross += seen * old * o.weight;
		pull += seen * o.pull;
		follows = m->phi * follows + o.gain * seen;
		tk_likelihood_multiply(&p, o.likelihood);
		assert_memory_equal(each[i].p, b.p, m->count * sizeof *b.p);
		assert_true(each[i].x == b.x && each[i].variance == b.variance);
		assert_true(so_far[i].sum == p.sum && so_far[i].factors == p.factors);
	}
	assert_true(loglik == tk_likelihood_log(&p));
	assert_true(known.new_level == expected.new_level && known.cross == expected.cross);
	assert_true(known.old_level == expected.old_level);
	assert_true(level == 0.01 + pull / known.new_level);
	assert_true(after == loglik + 0.5 * pull * pull / known.new_level);
}

/* To the last bit: a replay must give what the nights gave, whichever code ran. */
static void many_points_are_one_after_the_other(void **state)
{
	struct tk_rng rng;
	double y[200];

	(void)state;
	tk_rng_seed(&rng, 8);
	for (int round = 0; round < 20; round++)
		for (size_t count = 2; count <= TK_REGIME_STATES_MAX; count++) {
			const struct tk_regime_model still = make_model(&rng, count, 0),
			                             drifts = make_model(&rng, count, 0.01);

			for (size_t i = 0; i < 200; i++)
				y[i] = 0.01 * tk_rng_normal(&rng) + (i % 37 == 5 ? 0.4 : 0);
			expect_point_by_point(&still, y, 200);
			expect_point_by_point(&drifts, y, 200);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_far_point_is_a_spike),
	        cmocka_unit_test(products_do_not_underflow),
	        cmocka_unit_test(many_points_are_one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
