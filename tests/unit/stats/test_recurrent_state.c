/* A level that is visited again and again is a state of the noise. */
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
#include "stats/changepoint/recurrent_state.h"

enum { N = 120 };

static size_t segments_left(const size_t *starts, size_t count)
{
	double sum[N + 1] = {0}, work[N];
	size_t bounds[N + 1], segments = count;

	for (size_t i = 0; i < count; i++)
		bounds[i] = starts[i];
	bounds[count] = N;
	for (size_t i = 0; i < N; i++) {
		size_t k = 0;

		while (k + 1 < count && i >= starts[k + 1])
			k++;
		sum[i + 1] = sum[i] + (k % 2 ? 1.0 : 0.0);
	}
	tk_recurrent_state_remove(sum, bounds, &segments, work);
	assert_int_equal(bounds[segments], N);
	return segments;
}

static void repeated_visits_are_no_changes(void **state)
{
	const size_t starts[] = {0, 20, 26, 50, 57, 80, 86};

	(void)state;
	assert_int_equal(segments_left(starts, 7), 1);
}

static void a_single_visit_is_kept(void **state)
{
	const size_t starts[] = {0, 50, 56};

	(void)state;
	assert_int_equal(segments_left(starts, 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(repeated_visits_are_no_changes),
	        cmocka_unit_test(a_single_visit_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
