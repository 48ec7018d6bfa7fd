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

static struct tk_regime_model fit(const double *r)
{
	struct tk_regime_fit_job job = {.r = r, .n = N, .sigma = 0.01};

	assert_int_equal(tk_regime_fit_many(&job, 1), TK_OK);
	return job.model;
}

static void one_state_is_enough_for_one_normal(void **state)
{
	double r[N] = {0};
	struct tk_regime_model m;

	(void)state;
	tk_rng_seed(&rng, 11);
	add_noise(r, N, 0.01);
	m = fit(r);
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
	m = fit(r);
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
	m = fit(y);
	assert_true(tk_regime_loglik(&m, y, N, 0, NULL, NULL, NULL) >
	            tk_regime_loglik(&m, y, N, 0.02, NULL, NULL, NULL));
	for (int i = 0; i < 4; i++)
		tk_regime_newton_step(&m, y, N, NULL, &level, &known);
	assert_true(fabs(level) < 0.004);
	assert_true(tk_regime_penalty(&m, N) > 0);
}

/* Series of one state, two clocks or a walk, of several lengths: some fill the lanes. */
static void fits_side_by_side_are_fits_alone(void **state)
{
	enum { SERIES = 23 };
	static double r[SERIES][N];
	struct tk_regime_fit_job jobs[2][SERIES];
	int (*const fits[])(struct tk_regime_fit_job *, size_t) = {
	        tk_regime_fit_many, tk_regime_fit_drift_many};

	(void)state;
	tk_rng_seed(&rng, 12);
	for (size_t s = 0; s < SERIES; s++) {
		for (size_t i = 0; i < N; i++)
			if (s % 3 == 1)
				r[s][i] = tk_rng_below(&rng, 3) ? 0 : 0.05;
			else if (s % 3 == 2 && i)
				r[s][i] = 0.9 * r[s][i - 1] + 0.01 * tk_rng_normal(&rng);
		add_noise(r[s], N, 0.003);
	}
	for (size_t f = 0; f < 2; f++) {
		for (size_t s = 0; s < SERIES; s++)
			jobs[0][s] = jobs[1][s] = (struct tk_regime_fit_job){
			        .r = r[s], .n = s % 5 ? N : 61 + s / 20, .sigma = 0.01};
		assert_int_equal(fits[f](jobs[0], SERIES), TK_OK);
		for (size_t s = 0; s < SERIES; s++) {
			assert_int_equal(fits[f](&jobs[1][s], 1), TK_OK);
			assert_memory_equal(
			        &jobs[0][s].model, &jobs[1][s].model, sizeof jobs[0][s].model);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_state_is_enough_for_one_normal),
	        cmocka_unit_test(two_clocks_are_two_states),
	        cmocka_unit_test(a_better_level_is_likelier),
	        cmocka_unit_test(fits_side_by_side_are_fits_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
