/* AR(1) under white noise: its parameters, and steps of level in it. */
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
#include "stats/changepoint/ar1.h"

static struct tk_rng rng;

static void add_noise(double *x, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] += sd * tk_rng_normal(&rng);
}

enum { N = 600 };

/* Drift with memory `phi` and standard deviation 1, under white noise of 0.3. */
static void fill(double *y, double phi)
{
	double x = 0;

	tk_rng_seed(&rng, 4);
	for (size_t i = 0; i < N; i++) {
		x = phi * x + sqrt(1 - phi * phi) * tk_rng_normal(&rng);
		y[i] = x;
	}
	add_noise(y, N, 0.3);
}

static void memory_is_estimated(void **state)
{
	double y[N] = {0};
	struct tk_ar1_model m;
	bool adequate;

	(void)state;
	fill(y, 0.9);
	assert_int_equal(tk_ar1_fit(y, N, &m), TK_OK);
	assert_true(m.phi > 0.7 && m.phi < 0.99);
	assert_int_equal(tk_ar1_check_fit(&m, y, N, &adequate), TK_OK);
	assert_true(adequate);
}

static void white_noise_has_no_memory(void **state)
{
	double y[N] = {0};
	struct tk_ar1_model m;
	bool adequate;

	(void)state;
	tk_rng_seed(&rng, 4);
	add_noise(y, N, 1);
	assert_int_equal(tk_ar1_fit(y, N, &m), TK_OK);
	assert_int_equal(tk_ar1_check_fit(&m, y, N, &adequate), TK_OK);
	assert_false(adequate);
}

static void a_jump_is_located(void **state)
{
	double y[N], work[N], z;
	const struct tk_ar1_model m = {.phi = 0.9, .drift_sd = 1, .white = 0.3};
	struct tk_ar1_table table;
	struct tk_ar1_step step;

	(void)state;
	fill(y, 0.9);
	for (size_t i = 300; i < N; i++)
		y[i] += 6;
	assert_true(tk_ar1_table_init(&m, N, &table));
	assert_int_equal(tk_ar1_scan_steps(&table, y, N, 10, work, &z), 300);
	tk_ar1_step(&m, y, N, 300, &step);
	assert_true(fabs(step.shift - 6) < 4 * step.error && fabs(step.z) > 5);
	assert_true(fabs(step.z - step.shift / step.error) < 1e-9 * fabs(step.z));
	tk_ar1_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(memory_is_estimated),
	        cmocka_unit_test(white_noise_has_no_memory),
	        cmocka_unit_test(a_jump_is_located),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
