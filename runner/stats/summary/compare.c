/* Mann-Whitney and Hodges-Lehmann: see compare.h. */
#include "stats/summary/compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/summary/summary.h"

#define STRAIGHT 8   /* steps along a straight line */
#define NEARLY 2e-3  /* of the pairs: near enough to half of them */
#define EXACT_MAX 50 /* C(50, 25) and all before it are exact in a double */
#define ROUNDING 1e-12

double tk_normal_p(double z)
{
	return erfc(fabs(z) / M_SQRT2);
}

double tk_normal_z(double p)
{
	double lo = 0, hi = 40;

	if (!(p < 1))
		return 0;
	for (int i = 0; i < 80; i++) {
		double mid = (lo + hi) / 2;

		if (tk_normal_p(mid) > p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* How many of the C(na + nb, na) orders have U = u, for u = 0 .. na * nb: the Gaussian binomial
 * coefficient, multiplied out factor by factor, (1 - q^(nb + i)) / (1 - q^i). Caller frees. */
static double *count_orders(size_t na, size_t nb)
{
	size_t top = na * nb;
	double *f = tk_calloc(top + 1, sizeof *f);

	f[0] = 1;
	for (size_t i = 1; i <= na; i++) {
		for (size_t u = top; u >= nb + i && u <= top; u--)
			f[u] -= f[u - nb - i];
		for (size_t u = i; u <= top; u++)
			f[u] += f[u - i];
	}
	return f;
}

/* P(U <= u) for u = 0 .. na * nb in place of the counts. */
static void accumulate(double *f, size_t top)
{
	double sum = 0, total = 0;

	for (size_t u = 0; u <= top; u++)
		total += f[u];
	for (size_t u = 0; u <= top; u++)
		f[u] = (sum += f[u]) / total;
}

/* Pairs with b - a <= t, both sorted. */
static size_t pairs_up_to(const double *a, size_t na, const double *b, size_t nb, double t)
{
	size_t count = 0, j = 0;

	for (size_t i = 0; i < na; i++) {
		while (j < nb && b[j] - a[i] <= t)
			j++;
		count += j;
	}
	return count;
}

static double make_finite(double difference)
{
	return fmax(-DBL_MAX, fmin(DBL_MAX, difference));
}

/* The k-th smallest (from 1) of all b - a without making them all: bisection on the value.
 * Differences that are too large for a double count as the largest one. */
static double kth_difference(const double *a, size_t na, const double *b, size_t nb, size_t k)
{
	double lo = make_finite(b[0] - a[na - 1]), hi = make_finite(b[nb - 1] - a[0]);

	if (pairs_up_to(a, na, b, nb, lo) >= k)
		return lo;
	for (;;) {
		double mid = lo / 2 + hi / 2;

		if (mid <= lo || mid >= hi)
			return hi;
		if (pairs_up_to(a, na, b, nb, mid) >= k)
			hi = mid;
		else
			lo = mid;
	}
}

/* Sum over groups of equal values of t^3 - t, on the merged sample. */
static double tie_term(const double *a, size_t na, const double *b, size_t nb)
{
	double sum = 0;
	size_t i = 0, j = 0;

	while (i < na || j < nb) {
		double v = j >= nb || (i < na && a[i] <= b[j]) ? a[i] : b[j], t = 0;

		for (; i < na && a[i] == v; i++)
			t++;
		for (; j < nb && b[j] == v; j++)
			t++;
		sum += t * t * t - t;
	}
	return sum;
}

static double mann_whitney_u(const double *a, size_t na, const double *b, size_t nb)
{
	double u = 0;
	size_t below = 0, up_to = 0;

	for (size_t j = 0; j < nb; j++) {
		while (below < na && a[below] < b[j])
			below++;
		while (up_to < na && a[up_to] <= b[j])
			up_to++;
		u += (double)below + (double)(up_to - below) / 2;
	}
	return u;
}

/* Normal approximation with ties and continuity corrected (Lehmann 1975, 1.5). */
static double approximate_p(double u, size_t na, size_t nb, double ties)
{
	double n = (double)(na + nb), pairs = (double)na * (double)nb;
	double variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
	double away = fabs(u - pairs / 2) - 0.5;

	return variance > 0 && away > 0 ? tk_normal_p(away / sqrt(variance)) : 1;
}

/* Rank (from 1) of the lower end of the interval among the differences; 0 if the confidence cannot
 * be reached. */
static size_t lower_rank(const double *cumulative, size_t na, size_t nb, double confidence)
{
	/* 1 - 0.9 is less than 0.1 */
	double half_alpha = (1 - confidence) / 2 * (1 + ROUNDING), pairs = (double)na * (double)nb,
	       rank;
	size_t k = 0;

	if (cumulative) {
		while (k < na * nb && cumulative[k] <= half_alpha)
			k++;
		return k;
	}
	rank = floor(
	        pairs / 2 - tk_normal_z(1 - confidence) * sqrt(pairs * (double)(na + nb + 1) / 12));
	return rank >= 1 ? (size_t)rank : 0;
}

static void compare_sorted(const double *a, size_t na, const double *b, size_t nb,
        double confidence, const double *cumulative, struct tk_shift *out)
{
	size_t pairs = na * nb, k = lower_rank(cumulative, na, nb, confidence);
	double ties = tie_term(a, na, b, nb);

	out->u = mann_whitney_u(a, na, b, nb);
	out->exact = cumulative && ties == 0;
	if (out->exact) {
		size_t less = (size_t)fmin(out->u, (double)pairs - out->u);

		out->p = fmin(1, 2 * cumulative[less]);
	} else {
		out->p = approximate_p(out->u, na, nb, ties);
	}
	out->shift = kth_difference(a, na, b, nb, (pairs + 1) / 2) / 2 +
	             kth_difference(a, na, b, nb, pairs / 2 + 1) / 2;
	out->reached = k > 0;
	out->lo = kth_difference(a, na, b, nb, k ? k : 1);
	out->hi = kth_difference(a, na, b, nb, k ? pairs + 1 - k : pairs);
}

/* Copies and sorts; TK_EDATA for values that the scale does not allow. */
static int take(double *to, const double *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		if (!isfinite(to[i]))
			return TK_EDATA;
	}
	tk_sort_values(to, n);
	return TK_OK;
}

/* Where the median of the differences b - a is: near the difference of the medians, as far as the
 * quartiles are wide.
 */
static void bracket(const double *a, size_t na, const double *b, size_t nb, double *lo, double *hi,
        double *below, double *above)
{
	double middle = b[nb / 2] - a[na / 2], pairs = (double)na * (double)nb,
	       reach = (a[na - 1 - na / 4] - a[na / 4] + b[nb - 1 - nb / 4] - b[nb / 4]) / 8, count;

	*lo = b[0] - a[na - 1];
	*hi = b[nb - 1] - a[0];
	*below = 0;
	*above = pairs;
	count = (double)pairs_up_to(a, na, b, nb, middle + reach);
	if (middle + reach < *hi && count >= pairs / 2) {
		*hi = middle + reach;
		*above = count;
	}
	count = (double)pairs_up_to(a, na, b, nb, middle - reach);
	if (middle - reach > *lo && count < pairs / 2) {
		*lo = middle - reach;
		*below = count;
	}
}

/* The count of pairs is nearly a straight line there: between its ends first, then by halves. */
double tk_hodges_lehmann(const double *a, size_t na, const double *b, size_t nb, double tolerance)
{
	double lo, hi, half = (double)na * (double)nb / 2, below, above;

	bracket(a, na, b, nb, &lo, &hi, &below, &above);
	for (int i = 0; hi - lo > tolerance; i++) {
		double part = i < STRAIGHT
		                      ? fmin(0.95, fmax(0.05, (half - below) / (above - below)))
		                      : 0.5,
		       mid = lo + (hi - lo) * part, count;

		if (mid <= lo || mid >= hi)
			break;
		count = (double)pairs_up_to(a, na, b, nb, mid);
		if (fabs(count - half) < NEARLY * half)
			return mid;
		if (count >= half) {
			hi = mid;
			above = count;
		} else {
			lo = mid;
			below = count;
		}
	}
	return lo + (hi - lo) / 2;
}

int tk_shift_estimate(const double *a, size_t na, const double *b, size_t nb, double confidence,
        struct tk_shift *out)
{
	double *work, *cumulative = NULL;
	int status = TK_ENOMEM;

	if (!na || !nb)
		return TK_EDATA;
	work = tk_malloc((na + nb) * sizeof *work);
	if (na + nb <= EXACT_MAX) {
		cumulative = count_orders(na, nb);
		if (!cumulative)
			goto out;
		accumulate(cumulative, na * nb);
	}
	status = take(work, a, na);
	if (!status)
		status = take(work + na, b, nb);
	if (!status)
		compare_sorted(work, na, work + na, nb, confidence, cumulative, out);
out:
	free(cumulative);
	free(work);
	return status;
}
