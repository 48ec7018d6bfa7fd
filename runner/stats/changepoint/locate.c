/* Bounded squares about the levels on both sides: see locate.h. */
#include "stats/changepoint/locate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stats/summary/quantile.h"

#define REACH 4  /* nights: a value is pulled in to the median of the three before and after */
#define NEAR 30  /* nights on each side make its level */
#define PULLED 2 /* tau: less is noise */

static double level(const double *y, size_t n)
{
	double near[NEAR];

	memcpy(near, y, n * sizeof *near);
	return tk_quantile_select(near, n, 0.5);
}

static double cost(double distance, double most)
{
	return fmin(distance * distance, most * most);
}

static bool pulled_in(const double *y, const double *sum, size_t from, size_t to, double tau)
{
	for (size_t t = from; t < to; t++)
		if (fabs(y[t] - y[0] - (sum[t + 1] - sum[t])) > PULLED * tau)
			return true;
	return false;
}

/* The step at b, one of first .. last; between `before` and `after` nights of its levels. */
static size_t place(const double *y, size_t first, size_t b, size_t last, size_t before,
        size_t after, double reach)
{
	double old = level(y + b - before, before), new = level(y + b, after),
	       most = fmax(reach, fabs(new - old) / 2), lost = 0, least = 0;
	size_t at = first;

	for (size_t t = first; t < last; t++) {
		lost += cost(y[t] - old, most) - cost(y[t] - new, most);
		if (lost <= least) {
			least = lost;
			at = t + 1;
		}
	}
	return at;
}

void tk_changepoint_locate(const double *y, const double *sum, double tau, double outlier,
        size_t *bounds, size_t segments)
{
	for (size_t i = 1; i < segments; i++) {
		size_t b = bounds[i], before = b - bounds[i - 1], after = bounds[i + 1] - b,
		       first = b - (before > REACH ? REACH : before - 1),
		       last = b + (after > REACH ? REACH : after - 1);

		if (pulled_in(y, sum, first, last, tau))
			bounds[i] = place(y, first, b, last, before < NEAR ? before : NEAR,
			        after < NEAR ? after : NEAR, outlier * tau);
	}
}
