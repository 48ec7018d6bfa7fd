/* Spikes are pulled in; steps and noise are left as they are. */
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
#include "stats/summary/winsorize.h"

static void only_spikes_are_pulled_in(void **state)
{
	double y[20], out[20];

	(void)state;
	for (size_t i = 0; i < 20; i++)
		y[i] = i >= 10;
	y[4] = 9;
	tk_winsorize(y, 20, 0.5, out);
	for (size_t i = 0; i < 20; i++)
		assert_true(fabs(out[i] - (i == 4 ? 0.5 : i >= 10)) < 1e-12);
}

static void short_series_are_fine(void **state)
{
	const double y[] = {5, 1};
	double out[2];

	(void)state;
	tk_winsorize(y, 0, 1, out);
	tk_winsorize(y, 1, 1, out);
	assert_true(out[0] == 5);
	tk_winsorize(y, 2, 100, out);
	assert_true(out[0] == 5 && out[1] == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_spikes_are_pulled_in),
	        cmocka_unit_test(short_series_are_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
