/* Wilcoxon's signed ranks and when to stop: see paired.h. */
#include "stats/summary/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "stats/summary/summary.h"

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

int tk_paired_decide_last(const double *d, size_t n, double least,
        enum tk_paired_decision *decision, struct tk_paired_shift *out)
{
	*decision = TK_PAIRED_INCONCLUSIVE;
	TRY(tk_paired_estimate(d, n, SHOWN_CONFIDENCE, out));
	if (!out->reached)
		return TK_OK;
	if (out->lo * out->hi > 0 && fabs(out->shift) > least)
		*decision = out->shift > 0 ? TK_PAIRED_HIGHER : TK_PAIRED_LOWER;
	else if (out->lo > -least && out->hi < least)
		*decision = TK_PAIRED_SAME;
	return TK_OK;
}
