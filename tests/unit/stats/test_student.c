/* The t distribution against published tables, far into its tail. */
#include "stats_checks.h"

#include "stats/summary/compare.h"
#include "stats/summary/student.h"

static void student_deviates(void **state)
{
	/* SciPy 1.17: 2 * t.sf(t, df) */
	near(tk_student_p(2.5, 6), 0.0465282322841673);
	near(tk_student_p(-5, 27) / 3.045565443594607e-05, 1);
	near(tk_student_p(30, 6) / 9.099147044443378e-08, 1);
	near(tk_student_p(0.1, 1), 0.936548965138893);
	near(tk_student_p(12, 4.5) / 0.00013783197653273045, 1);
	near(tk_student_p(0, 3), 1), near(tk_student_p(INFINITY, 3), 0);
	near_by(tk_student_t(0.0465282322841673, 6), 2.5, 1e-9);
	near_by(tk_student_t(0.936548965138893, 1), 0.1, 1e-9);
	near_by(tk_student_t(0.7, 4), 0.414163260093106, 1e-9);
}

static void critical_values_are_those_of_the_tables(void **state)
{
	/* SciPy 1.17: t.isf(p / 2, df); rounded, the table of any textbook */
	static const struct {
		double p, df, t;
	} known[] = {{0.05, 1, 12.706204736174705}, {0.01, 2, 9.924843200918293},
	        {0.05, 10, 2.2281388519862753}, {0.001, 30, 3.645958635042021},
	        {0.05, 120, 1.9799304050824411}, {1e-10, 5, 180.14910084827105},
	        {0.2, 4.5, 1.5008853175085575}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		near_by(tk_student_t(known[i].p, known[i].df) / known[i].t, 1, 1e-8);
}

static void extreme_degrees_of_freedom(void **state)
{
	/* SciPy 1.17: 2 * t.sf(t, df); with 10^6 degrees the normal distribution */
	near_by(tk_student_p(1.96, 1e6), 0.04999606758526985, 1e-8);
	near_by(tk_student_p(2, 0.5), 0.4455148901831313, 1e-8);
	near_by(tk_student_p(40, 100) / 2.462107602140071e-63, 1, 1e-8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(student_deviates),
	        cmocka_unit_test(critical_values_are_those_of_the_tables),
	        cmocka_unit_test(extreme_degrees_of_freedom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
