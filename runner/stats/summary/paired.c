/* Wilcoxon's signed ranks and when to stop: see paired.h. */
#include "stats/summary/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "stats/summary/summary.h"

#define SAME_ALPHA 0.01 /* significance level of one look for SAME */
#define SHOWN_CONFIDENCE 0.95

static const size_t looks[] = {
        12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, TK_PAIRED_COUNT_MAX};

/* P(T = t) for t up to half of its largest value, T the sum of the positive ranks of n differences:
 * each rank is in the sum or not. NULL without memory. */
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

	for (size_t i = 0; w && i < n; i++)
		for (size_t j = i; j < n; j++)
			w[count++] = (d[i] + d[j]) / 2;
	if (w)
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

static int ranks_init(struct ranks *r, const double *d, size_t n)
{
	*r = (struct ranks){n, walsh(d, n), rank_sum_distribution(n)};
	if (r->means && r->distribution)
		return TK_OK;
	ranks_free(r);
	return TK_ENOMEM;
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
	TRY(ranks_init(&r, d, n));
	*out = interval_of(&r, confidence);
	ranks_free(&r);
	return TK_OK;
}

static int look(
        const double *d, size_t n, size_t number, double least, enum tk_paired_decision *word)
{
	const double k = (double)number + 1;
	struct tk_paired_shift strict, loose;
	const bool last = n == TK_PAIRED_COUNT_MAX;
	bool narrow, beyond;
	struct ranks r;
	TRY(ranks_init(&r, d, n));
	strict = interval_of(&r, 1 - TK_PAIRED_ALPHA / (k * (k + 1)));
	loose = interval_of(&r, 1 - SAME_ALPHA);
	ranks_free(&r);
	narrow = (last || (strict.hi - strict.lo) / 2 < least / 4) && fabs(strict.shift) > least;
	beyond = strict.lo > least || strict.hi < -least;
	if (strict.reached && (beyond || (narrow && strict.lo * strict.hi > 0)))
		*word = strict.shift > 0 ? TK_PAIRED_HIGHER : TK_PAIRED_LOWER;
	else if (loose.reached && loose.lo > -least && loose.hi < least)
		*word = TK_PAIRED_SAME;
	return TK_OK;
}

int tk_paired_decide(const double *d, size_t n, double least, enum tk_paired_decision *word,
        struct tk_paired_shift *out)
{
	int status = TK_OK;

	*word = TK_PAIRED_INCONCLUSIVE;
	if (!all_finite(d, n))
		return TK_EDATA;
	for (size_t i = 0; !status && *word == TK_PAIRED_INCONCLUSIVE &&
	                   i < sizeof looks / sizeof *looks && looks[i] <= n;
	        i++)
		status = look(d, looks[i], i, least, word);
	if (!status && out)
		status = tk_paired_estimate(d, n, SHOWN_CONFIDENCE, out);
	return status;
}

int tk_paired_decide_last(const double *d, size_t n, double least, enum tk_paired_decision *word,
        struct tk_paired_shift *out)
{
	int status = tk_paired_estimate(d, n, SHOWN_CONFIDENCE, out);

	*word = TK_PAIRED_INCONCLUSIVE;
	if (status || !out->reached)
		return status;
	if (out->lo * out->hi > 0 && fabs(out->shift) > least)
		*word = out->shift > 0 ? TK_PAIRED_HIGHER : TK_PAIRED_LOWER;
	else if (out->lo > -least && out->hi < least)
		*word = TK_PAIRED_SAME;
	return TK_OK;
}
