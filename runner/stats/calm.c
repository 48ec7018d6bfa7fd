/* Spikes pulled in: see calm.h. */
#include "stats/calm.h"

#include <string.h>

#include "stats/scale.h"

#define SIDE 3

/* The median of seven, by a network of exchanges. */
static double median_of_seven(const double *x)
{
	double a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], t;

#define ORDER(p, q) (t = p < q ? p : q, q = p < q ? q : p, p = t)
	ORDER(a, f), ORDER(a, d), ORDER(b, g), ORDER(c, e), ORDER(a, b), ORDER(d, f), ORDER(c, g);
	ORDER(c, d), ORDER(d, g), ORDER(b, e), ORDER(b, d), ORDER(e, f), ORDER(d, e);
#undef ORDER
	return d;
}

static double median_near(const double *y, size_t n, size_t i)
{
	size_t from = i < SIDE ? 0 : i - SIDE, to = i + SIDE + 1 > n ? n : i + SIDE + 1;
	double near[2 * SIDE + 1];

	if (to - from == 2 * SIDE + 1)
		return median_of_seven(y + from);
	memcpy(near, y + from, (to - from) * sizeof *near);
	return tk_select(near, to - from, 0.5);
}

void tk_calm(const double *y, size_t n, double reach, double *out)
{
	for (size_t i = 0; i < n; i++) {
		double median = median_near(y, n, i), lo = median - reach, hi = median + reach;

		out[i] = y[i] < lo ? lo : y[i] > hi ? hi : y[i];
	}
}
