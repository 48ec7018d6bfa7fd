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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_far_point_is_a_spike),
	        cmocka_unit_test(products_do_not_underflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
