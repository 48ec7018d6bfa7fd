/* Winsorizing of spikes: see winsorize.h. */
#include "stats/summary/winsorize.h"

#include <string.h>

#include "stats/summary/quantile.h"

#define SIDE 3
#define STRETCH 256 /* points whose medians are computed at once */

/* The medians of the seven around x[0 .. n), by a network of exchanges, many at a time. */
static void medians_of_seven(const double *x, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++) {
		const double *y = x + i;
		double a = y[-3], b = y[-2], c = y[-1], d = y[0], e = y[1], f = y[2], g = y[3], t;

#define ORDER(p, q) (t = p < q ? p : q, q = p < q ? q : p, p = t)
		ORDER(a, f), ORDER(a, d), ORDER(b, g), ORDER(c, e), ORDER(a, b), ORDER(d, f),
		        ORDER(c, g);
		ORDER(c, d), ORDER(d, g), ORDER(e, f), ORDER(b, e), ORDER(b, d), ORDER(d, e);
#undef ORDER
		out[i] = d;
	}
}

static double median_at_end(const double *y, size_t n, size_t i)
{
	size_t from = i < SIDE ? 0 : i - SIDE, to = i + SIDE + 1 > n ? n : i + SIDE + 1;
	double near[2 * SIDE + 1];

	memcpy(near, y + from, (to - from) * sizeof *near);
	return tk_quantile_select(near, to - from, 0.5);
}

static void pull(const double *y, const double *median, size_t n, double reach, double *out)
{
	for (size_t i = 0; i < n; i++) {
		double lo = median[i] - reach, hi = median[i] + reach, v = y[i] < lo ? lo : y[i];

		out[i] = v > hi ? hi : v;
	}
}

void tk_winsorize(const double *y, size_t n, double reach, double *out)
{
	double median[STRETCH];

	for (size_t from = 0, count; from < n; from += count) {
		count = n - from < STRETCH ? n - from : STRETCH;
		for (size_t i = from; i < from + count; i++)
			if (i < SIDE || i + SIDE >= n)
				median[i - from] = median_at_end(y, n, i);
		/* all the others have seven */
		size_t first = from < SIDE ? SIDE : from,
		       last = from + count + SIDE > n ? n - SIDE : from + count;

		if (n > 2 * SIDE && last > first)
			medians_of_seven(y + first, last - first, median + (first - from));
		pull(y + from, median, count, reach, out + from);
	}
}
