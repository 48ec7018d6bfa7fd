/* States of noise are learnt from a series, as many as the criterion asks for. */
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
#include "stats/monitor/regime_model.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { N = 200 };

static void one_state_is_enough_for_one_normal(void **state)
{
	double r[N] = {0};
	struct tk_regime_model m;

	(void)state;
	tk_rng_seed(&rng, 11);
	add_noise(r, N, 0.01);
	assert_int_equal(tk_regime_fit(r, N, 0.01, &m), TK_OK);
	assert_int_equal(m.count, 2); /* and the spike */
	assert_true(fabs(m.offset[0]) < 0.003 && fabs(m.sd[0] - 0.01) < 0.003);
	assert_true(m.drift_sd == 0);
}

static void two_clocks_are_two_states(void **state)
{
	double r[N];
	struct tk_regime_model m;

	(void)state;
	tk_rng_seed(&rng, 11);
	for (size_t i = 0; i < N; i++)
		r[i] = tk_rng_below(&rng, 3) ? 0 : 0.05;
	add_noise(r, N, 0.003);
	assert_int_equal(tk_regime_fit(r, N, 0.01, &m), TK_OK);
	assert_int_equal(m.count, 3);
	assert_true(fabs(fabs(m.offset[0] - m.offset[1]) - 0.05) < 0.005);
}

static void a_better_level_is_likelier(void **state)
{
	double y[N] = {0}, level = 0.02;
	struct tk_regime_model m;
	struct tk_level_information known;

	(void)state;
	tk_rng_seed(&rng, 11);
	add_noise(y, N, 0.01);
	assert_int_equal(tk_regime_fit(y, N, 0.01, &m), TK_OK);
	assert_true(tk_regime_loglik(&m, y, N, 0, NULL, NULL, NULL) >
	            tk_regime_loglik(&m, y, N, 0.02, NULL, NULL, NULL));
	for (int i = 0; i < 4; i++)
		tk_regime_newton_step(&m, y, N, NULL, &level, &known);
	assert_true(fabs(level) < 0.004);
	assert_true(tk_regime_penalty(&m, N) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_state_is_enough_for_one_normal),
	        cmocka_unit_test(two_clocks_are_two_states),
	        cmocka_unit_test(a_better_level_is_likelier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
