/* Order statistics without sorting: bins find where a rank is, a partition finds it there. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/summary.h"

#define BINS 256
#define SAMPLE 31    /* values that say where the bins should be */
#define FEW 96       /* up to this many values, bins are slower */
#define SORTED 8     /* up to this many, sorting is faster than selecting */
#define NEAR_MAX 128 /* of one bin, that are copied; more are partitioned where they are */
#define STRETCH 256  /* values whose bins are found, or that are moved, at once */

static size_t move_smaller_in_place(double *x, size_t n, double pivot)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const double v = x[i];

		x[i] = x[count];
		x[count] = v;
		count += v < pivot;
	}
	return count;
}

/* Moves the values below the pivot to the front, and returns how many there are. Without a branch:
 * nobody could predict it. */
static size_t move_smaller(double *x, size_t n, double pivot)
{
	double rest[STRETCH];
	size_t count = 0, others = 0;

	if (n > STRETCH)
		return move_smaller_in_place(x, n, pivot);
	for (size_t i = 0; i < n; i++) { /* no value is read where one was just written */
		const double v = x[i];
		const bool is_smaller = v < pivot;

		x[count] = rest[others] = v;
		count += is_smaller;
		others += !is_smaller;
	}
	memcpy(x + count, rest, others * sizeof *x);
	return count;
}

static size_t move_equal(double *x, size_t n, double pivot)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (x[i] == pivot)
			tk_swap_values(x, i, count++);
	return count;
}

static double median_of_three(double a, double b, double c)
{
	/* by a < b, b < c and a < c; of these eight two cannot be */
	static const unsigned char middle[] = {1, 0, 2, 0, 0, 2, 0, 1};
	const double values[] = {a, b, c};

	return values[middle[(a < b) << 2 | (b < c) << 1 | (a < c)]];
}

/* Sorts up to SORTED finite values by counting what comes before each: no branch depends on a
 * value. */
static void sort_few(double *x, size_t n)
{
	double v[SORTED];
	size_t before[SORTED] = {0};

	for (size_t i = 0; i < SORTED; i++)
		v[i] = i < n ? x[i] : INFINITY;
	for (size_t i = 1; i < SORTED; i++)
		for (size_t j = 0; j < i; j++) {
			const bool in_order = v[j] <= v[i];

			before[i] += in_order;
			before[j] += !in_order;
		}
	for (size_t i = 0; i < n; i++)
		x[before[i]] = v[i];
}

/* x[k] becomes the k-th smallest (from 0) of the finite x, values before it are not larger, values
 * after it not smaller. This holds for x[0 .. from) already; from <= k. */
static void select_kth(double *x, size_t n, size_t from, size_t k)
{
	size_t lo = from, hi = n;

	while (hi - lo > SORTED) {
		const double pivot = median_of_three(x[lo], x[lo + (hi - lo) / 2], x[hi - 1]);
		const size_t smaller = move_smaller(x + lo, hi - lo, pivot);

		if (k - lo < smaller) {
			hi = lo + smaller;
			continue;
		}
		/* The pivot is the least of the rest. */
		lo += smaller ? smaller : move_equal(x + lo, hi - lo, pivot);
		if (k < lo)
			return;
	}
	sort_few(x + lo, hi - lo);
}

/* Quantile of few values, as select_kth. */
static double select_few(double *x, size_t n, size_t from, double at)
{
	double next = INFINITY;
	size_t k = (size_t)at;

	select_kth(x, n, from, k);
	if (k + 1 >= n || at == (double)k)
		return x[k];
	for (size_t i = k + 1; i < n; i++)
		next = x[i] < next ? x[i] : next;
	return x[k] + (at - (double)k) * (next - x[k]);
}

/* Bins of equal width over the middle of x; the first and the last take the rest. */
struct bins {
	double lo, per;
	uint32_t count[BINS];
};

static int bin_of(const struct bins *b, double x)
{
	double at = (x - b->lo) * b->per;

	at = at > 0 ? at : 0;
	at = at < BINS - 1 ? at : BINS - 1;
	return (int)at;
}

static bool make_bins(struct bins *b, const double *x, size_t n)
{
	double some[SAMPLE];
	size_t step = n / SAMPLE;

	for (size_t i = 0; i < SAMPLE; i++)
		some[i] = x[i * step];
	tk_sort_values(some, SAMPLE);
	b->lo = some[SAMPLE / 8] - (some[SAMPLE / 2] - some[SAMPLE / 8]);
	b->per = (BINS - 1) / (some[SAMPLE - 1 - SAMPLE / 16] - b->lo);
	if (!isfinite(b->per))
		return false;
	memset(b->count, 0, sizeof b->count);
	for (size_t from = 0; from < n; from += STRETCH) {
		size_t count = n - from < STRETCH ? n - from : STRETCH;
		int at[STRETCH];

		for (size_t i = 0; i < count; i++)
			at[i] = bin_of(b, x[from + i]);
		for (size_t i = 0; i < count; i++)
			b->count[at[i]]++;
	}
	return true;
}

/* The smallest of what is in a later bin. */
static double least_behind(const struct bins *b, const double *x, size_t n, size_t bin)
{
	double least = INFINITY;

	for (size_t i = 0; i < n; i++)
		if ((size_t)bin_of(b, x[i]) > bin && x[i] < least)
			least = x[i];
	return least;
}

static double select_binned(const struct bins *b, double *x, size_t n, double at)
{
	double near[NEAR_MAX + 1], value;
	size_t k = (size_t)at, bin = 0, before = 0, count = 0;

	while (before + b->count[bin] <= k)
		before += b->count[bin++];
	if (b->count[bin] > NEAR_MAX)
		return select_few(x, n, 0, at);
	for (size_t i = 0; i < n; i++) {
		near[count] = x[i];
		count += (size_t)bin_of(b, x[i]) == bin;
	}
	if (k - before + 1 < count || at == (double)k || k + 1 >= n)
		return select_few(near, count, 0, at - (double)before);
	value = select_few(near, count, 0, (double)(k - before));
	return value + (at - (double)k) * (least_behind(b, x, n, bin) - value);
}

void tk_quantile_select_many(double *x, size_t n, const double *p, size_t count, double *out)
{
	struct bins b;
	bool binned = n > FEW && make_bins(&b, x, n);
	size_t from = 0; /* what is before it is not larger, by the quantiles so far */

	for (size_t i = 0; i < count; i++) {
		double at = p[i] * (double)(n - 1);

		from = (size_t)at < from ? 0 : from;
		out[i] = binned ? select_binned(&b, x, n, at) : select_few(x, n, from, at);
		from = (size_t)at;
	}
}

/* Within the bin as if it were evenly filled. */
static double interpolate(const struct bins *b, double at, double *x, size_t n)
{
	double before = 0;
	size_t bin = 0;

	while (before + b->count[bin] <= at)
		before += b->count[bin++];
	if (bin == 0 || bin == BINS - 1)
		return select_binned(b, x, n, at);
	return b->lo + ((double)bin + (at - before + 0.5) / b->count[bin]) / b->per;
}

void tk_quantile_estimate_many(double *x, size_t n, const double *p, size_t count, double *out)
{
	struct bins b;

	if (n <= FEW || !make_bins(&b, x, n)) {
		tk_quantile_select_many(x, n, p, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = interpolate(&b, p[i] * (double)(n - 1), x, n);
}

double tk_quantile_select(double *x, size_t n, double p)
{
	double out;

	tk_quantile_select_many(x, n, &p, 1, &out);
	return out;
}

/* ---- winsorize ---- */

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
