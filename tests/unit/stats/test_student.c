/* The t distribution against published tables, far into its tail. */
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
#include "stats/summary/compare.h"
#include "stats/summary/student.h"

static void near_by(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

static void near(double a, double b)
{
	near_by(a, b, 1e-9 * (1 + fabs(b)));
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(student_deviates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
