/* Student's t by the incomplete beta function: see student.h. */
#include "stats/summary/student.h"

#include <math.h>
#include <stddef.h>

#define KNOWN 256

/* Continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m <= 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

static double incomplete_beta(double x, double a, double b)
{
	int sign;
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
	            b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double tk_student_p(double t, double df)
{
	if (isinf(t))
		return 0;
	return incomplete_beta(df / (df + t * t), df / 2, 0.5);
}

static double density(double t, double df)
{
	int sign;

	return exp(lgamma_r((df + 1) / 2, &sign) - lgamma_r(df / 2, &sign) -
	               (df + 1) / 2 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/* Newton's method from below, from the largest of 0, 0.5, 1, 2 ... that is below: p falls and is
 * convex, so that no step goes too far. */
static double solve(double p, double df)
{
	double t = tk_student_p(0.5, df) > p ? 0.5 : 0, over;

	while (t > 0 && tk_student_p(2 * t, df) > p && t < 1e100)
		t *= 2;
	for (int i = 0; i < 200 && (over = tk_student_p(t, df) - p) > 0; i++) {
		double step = over / (2 * density(t, df));

		t += step;
		if (step < 1e-12 * t)
			break;
	}
	return t;
}

/* The series of a night have few different numbers of points, and ask for each again and again. */
double tk_student_t(double p, double df)
{
	static _Thread_local struct known {
		double p, df, t;
	} known[KNOWN];
	struct known *k = &known[df > 0 && df < 1e9 ? (size_t)(df * 5) % KNOWN : 0];

	if (k->p != p || k->df != df)
		*k = (struct known){p, df, solve(p, df)};
	return k->t;
}
