/* Mann-Whitney and Hodges-Lehmann: see compare.h. */
#include <float.h>
#include <math.h>

#include "base/base.h"
#include "stats/compare.h"
#include "stats/summary.h"

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

/* P(U <= u) for u = 0 .. na * nb. How many of the C(na + nb, na) orders have U = u is the Gaussian
 * binomial coefficient, multiplied out factor by factor, (1 - q^(nb + i)) / (1 - q^i). Caller
 * frees. */
static double *distribute_u(size_t na, size_t nb)
{
	const size_t top = na * nb;
	double *f = tk_calloc(top + 1, sizeof *f), sum = 0, total = 0;

	f[0] = 1;
	for (size_t i = 1; i <= na; i++) {
		for (size_t u = top; u >= nb + i && u <= top; u--)
			f[u] -= f[u - nb - i];
		for (size_t u = i; u <= top; u++)
			f[u] += f[u - i];
	}
	for (size_t u = 0; u <= top; u++)
		total += f[u];
	for (size_t u = 0; u <= top; u++)
		f[u] = (sum += f[u]) / total;
	return f;
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

/* All b - a, sorted; those that are too large for a double count as the largest one. */
static double *list_differences(const double *a, size_t na, const double *b, size_t nb)
{
	double *d = tk_malloc(na * nb * sizeof *d);

	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			d[i * nb + j] = fmax(-DBL_MAX, fmin(DBL_MAX, b[j] - a[i]));
	tk_sort_values(d, na * nb);
	return d;
}

static void compare_sorted(const double *a, size_t na, const double *b, size_t nb,
        double confidence, const double *cumulative, struct tk_shift *out)
{
	const size_t pairs = na * nb, k = lower_rank(cumulative, na, nb, confidence);
	const double ties = tie_term(a, na, b, nb);
	double *d = list_differences(a, na, b, nb);

	*out = (struct tk_shift){.shift = d[(pairs - 1) / 2] / 2 + d[pairs / 2] / 2,
	        .lo = d[k ? k - 1 : 0],
	        .hi = d[k ? pairs - k : pairs - 1],
	        .exact = cumulative && ties == 0,
	        .reached = k > 0};
	for (size_t i = 0; i < pairs; i++)
		out->u += d[i] > 0 ? 1 : d[i] == 0 ? 0.5 : 0;
	out->p = out->exact ? fmin(1, 2 * cumulative[(size_t)fmin(out->u, (double)pairs - out->u)])
	                    : approximate_p(out->u, na, nb, ties);
	free(d);
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

double tk_hodges_lehmann(const double *a, size_t na, const double *b, size_t nb, double tolerance)
{
	double lo = b[0] - a[na - 1], hi = b[nb - 1] - a[0];
	const double half = (double)na * (double)nb / 2;

	while (hi - lo > tolerance) {
		const double mid = lo + (hi - lo) / 2;

		if (mid <= lo || mid >= hi)
			break;
		if ((double)pairs_up_to(a, na, b, nb, mid) >= half)
			hi = mid;
		else
			lo = mid;
	}
	return lo + (hi - lo) / 2;
}

int tk_shift_estimate(const double *a, size_t na, const double *b, size_t nb, double confidence,
        struct tk_shift *out)
{
	double *cumulative = na + nb <= EXACT_MAX ? distribute_u(na, nb) : NULL,
	       *work = tk_malloc((na + nb + 1) * sizeof *work);
	int status = na && nb ? take(work, a, na) : TK_EDATA;

	if (!status)
		status = take(work + na, b, nb);
	if (!status)
		compare_sorted(work, na, work + na, nb, confidence, cumulative, out);
	free(cumulative);
	free(work);
	return status;
}

/* ---- paired ---- */

#define SAME_ALPHA 0.01 /* error of the equivalence test at one interim analysis */
#define SHOWN_CONFIDENCE 0.95

/* Numbers of pairs after which the data are analysed. Each analysis costs part of the error, so
 * that their distance grows with the number of pairs. */
static const size_t interim_analyses[] = {
        12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, TK_PAIRED_COUNT_MAX};
#define ANALYSES (sizeof interim_analyses / sizeof *interim_analyses)

size_t tk_paired_next_analysis(size_t n)
{
	size_t i = 0;

	while (i < ANALYSES - 1 && interim_analyses[i] <= n)
		i++;
	return interim_analyses[i];
}

/* P(T = t) for t up to half of its largest value, T the sum of the positive ranks of n differences:
 * each rank is in the sum or not. */
static double *rank_sum_distribution(size_t n)
{
	const size_t half = n * (n + 1) / 4;
	double *p = tk_calloc(half + 1, sizeof *p);

	p[0] = 1;
	for (size_t rank = 1, top = 0; rank <= n; rank++) {
		top = top + rank < half ? top + rank : half;
		for (size_t t = top + 1; t-- > 0;)
			p[t] = (p[t] + (t >= rank ? p[t - rank] : 0)) / 2;
	}
	return p;
}

/* The largest c with P(T < c) <= tail: how many of the means of pairs lie outside the interval on
 * each side. */
static size_t critical(const double *distribution, size_t n, double tail)
{
	const size_t half = n * (n + 1) / 4;
	double sum = 0;
	size_t c = 0;

	for (; c <= half && sum + distribution[c] <= tail; c++)
		sum += distribution[c];
	return c;
}

/* The means of all pairs of differences, each with itself too, sorted. */
static double *walsh(const double *d, size_t n)
{
	double *w = tk_malloc((n * (n + 1) / 2) * sizeof *w);
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			w[count++] = (d[i] + d[j]) / 2;
	tk_sort_values(w, count);
	return w;
}

/* What intervals of n differences are made from. */
struct ranks {
	size_t n;
	double *means, *distribution;
};

static void ranks_free(struct ranks *r)
{
	free(r->means);
	free(r->distribution);
}

static struct ranks ranks_new(const double *d, size_t n)
{
	return (struct ranks){n, walsh(d, n), rank_sum_distribution(n)};
}

static struct tk_paired_shift interval_of(const struct ranks *r, double confidence)
{
	const size_t total = r->n * (r->n + 1) / 2,
	             c = critical(r->distribution, r->n, (1 - confidence) / 2);

	return (struct tk_paired_shift){.n = r->n,
	        .shift = tk_quantile_sorted(r->means, total, 0.5),
	        .reached = c > 0,
	        .lo = r->means[c ? c - 1 : 0],
	        .hi = r->means[c ? total - c : total - 1]};
}

static bool all_finite(const double *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(d[i]))
			return false;
	return n > 0;
}

int tk_paired_estimate(const double *d, size_t n, double confidence, struct tk_paired_shift *out)
{
	struct ranks r;

	if (!all_finite(d, n))
		return TK_EDATA;
	r = ranks_new(d, n);
	*out = interval_of(&r, confidence);
	ranks_free(&r);
	return TK_OK;
}

/* One interim analysis, the index-th. Three conditions, because a test that stops when the data
 * look decided is wrong more often than its level says (Armitage, McPherson, Rowe 1969):
 *
 * 1. Changed, beyond the limit: the whole interval is. Analysis k spends the share 1 / k(k + 1) of
 *    TK_PAIRED_ALPHA; the shares sum to 1, so that by Bonferroni all analyses together keep the
 *    error, whatever the dependence between them (error spending: Lan, DeMets 1983).
 * 2. Changed, near the limit: for a true shift of about `least` the interval always covers it, and
 *    1. would measure until the end and say nothing. Here the same interval has to exclude 0, so
 *    that equal builds keep the error of 1.; that the estimate is beyond `least` is decided once
 *    the interval is so narrow that more pairs would hardly change it.
 * 3. Same: the interval lies within (-least, least), the inclusion of an interval as a test of
 *    equivalence (Westlake 1976; Schuirmann 1987). It spends nothing of ALPHA, since it cannot
 *    report a change, and the level of one analysis is enough: a shift beyond `least` has to look
 *    small, not merely uncertain. */
static enum tk_paired_decision analyse(const double *d, size_t n, size_t index, double least)
{
	const double k = (double)index + 1;
	struct ranks r = ranks_new(d, n);
	const struct tk_paired_shift spent = interval_of(&r, 1 - TK_PAIRED_ALPHA / (k * (k + 1))),
	                             single = interval_of(&r, 1 - SAME_ALPHA);
	const bool excludes_0 = spent.lo * spent.hi > 0,
	           is_beyond = spent.lo > least || spent.hi < -least,
	           is_precise = n == TK_PAIRED_COUNT_MAX || (spent.hi - spent.lo) / 2 < least / 4;

	ranks_free(&r);
	if (spent.reached && (is_beyond || (excludes_0 && is_precise && fabs(spent.shift) > least)))
		return spent.shift > 0 ? TK_PAIRED_HIGHER : TK_PAIRED_LOWER;
	if (single.reached && single.lo > -least && single.hi < least)
		return TK_PAIRED_SAME;
	return TK_PAIRED_INCONCLUSIVE;
}

int tk_paired_decide(const double *d, size_t n, double least, enum tk_paired_decision *decision,
        struct tk_paired_shift *out)
{
	*decision = TK_PAIRED_INCONCLUSIVE;
	if (!all_finite(d, n))
		return TK_EDATA;
	for (size_t i = 0;
	        i < ANALYSES && interim_analyses[i] <= n && *decision == TK_PAIRED_INCONCLUSIVE;
	        i++)
		*decision = analyse(d, interim_analyses[i], i, least);
	return out ? tk_paired_estimate(d, n, SHOWN_CONFIDENCE, out) : TK_OK;
}

int tk_paired_decide_last(const double *d, size_t n, double least, double confidence,
        enum tk_paired_decision *decision, struct tk_paired_shift *out)
{
	struct tk_paired_shift s;

	*decision = TK_PAIRED_INCONCLUSIVE;
	TRY(tk_paired_estimate(d, n, SHOWN_CONFIDENCE, out));
	TRY(tk_paired_estimate(d, n, confidence, &s));
	if (!s.reached)
		return TK_OK;
	if (s.lo * s.hi > 0 && fabs(s.shift) > least)
		*decision = s.shift > 0 ? TK_PAIRED_HIGHER : TK_PAIRED_LOWER;
	else if (s.lo > -least && s.hi < least)
		*decision = TK_PAIRED_SAME;
	return TK_OK;
}

/* ---- fdr ---- */

struct ranked {
	double p;
	size_t at;
};

static int descending(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;

	return (x < y) - (x > y);
}

void tk_fdr_adjust(const double *p, size_t n, double *q)
{
	struct ranked *r;
	size_t tests = 0;
	double least = 1;

	if (n == 0)
		return;
	r = tk_malloc(n * sizeof *r);
	for (size_t i = 0; i < n; i++) {
		q[i] = NAN;
		if (!isnan(p[i]))
			r[tests++] = (struct ranked){p[i], i};
	}
	tk_sort(r, tests, sizeof *r, descending);
	for (size_t i = 0; i < tests; i++) {
		least = fmin(least, r[i].p * (double)tests / (double)(tests - i));
		q[r[i].at] = least;
	}
	free(r);
}
