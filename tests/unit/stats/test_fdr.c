/* False-discovery rates against R's p.adjust. */
#include "stats_checks.h"

#include "stats/summary/fdr.h"

static void q_values(void **state)
{
	const double p[] = {0.01, NAN, 0.04, 0.03, 0.005, 0.5};
	double q[6];

	assert_int_equal(tk_fdr_adjust(p, 6, q), TK_OK);
	near(q[0], 0.025), near(q[2], 0.05), near(q[3], 0.05), near(q[4], 0.025), near(q[5], 0.5);
	assert_true(isnan(q[1]));
	assert_int_equal(tk_fdr_adjust(NULL, 0, NULL), TK_OK);
	assert_int_equal(tk_fdr_adjust(p + 1, 1, q), TK_OK);
	assert_true(isnan(q[0]));
}

static void the_example_of_benjamini_and_hochberg(void **state)
{
	/* their 15 p-values of 1995, section 3; q: SciPy 1.17: stats.false_discovery_control(p).
	 * Four are discoveries at 0.05, in any order of the tests. */
	const double p[] = {0.0344, 0.0001, 0.0004, 0.0095, 0.0019, 0.0201, 0.0278, 0.0298, 0.0459,
	        0.3240, 1, 0.4262, 0.5719, 0.6528, 0.7590};
	const double known[] = {0.0645, 0.0015, 0.003, 0.035625, 0.0095, 0.0603, 0.447 / 7,
	        0.447 / 7, 0.0765, 0.486, 1, 6.393 / 11, 0.714875, 9.792 / 13, 11.385 / 14};
	double q[15];
	int discoveries = 0;

	assert_int_equal(tk_fdr_adjust(p, 15, q), TK_OK);
	for (size_t i = 0; i < 15; i++) {
		near(q[i], known[i]);
		discoveries += q[i] <= 0.05;
	}
	assert_int_equal(discoveries, 4);
}

static void equal_and_extreme_p_values(void **state)
{
	const double same[] = {0.2, 0.2, 0.2}, extreme[] = {0, 1};
	double q[3];

	assert_int_equal(tk_fdr_adjust(same, 3, q), TK_OK);
	near(q[0], 0.2), near(q[1], 0.2), near(q[2], 0.2);
	assert_int_equal(tk_fdr_adjust(extreme, 2, q), TK_OK);
	near(q[0], 0), near(q[1], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(q_values),
	        cmocka_unit_test(the_example_of_benjamini_and_hochberg),
	        cmocka_unit_test(equal_and_extreme_p_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
