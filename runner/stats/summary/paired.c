/* Wilcoxon's signed ranks and when to stop: see paired.h. */
#include "stats/summary/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/summary/summary.h"

#define SAME_ALPHA 0.01 /* significance level of one look for SAME */
#define SHOWN_CONFIDENCE 0.95

static const size_t looks[] = {
        12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, TK_PAIRED_COUNT_MAX};

/* The largest c with P(T < c) <= tail, T the sum of the positive ranks of n differences: how many
 * of the means of pairs lie outside the interval on each side. By the exact distribution: each rank
 * is in the sum or not. */
static int critical(size_t n, double tail, size_t *c)
{
	size_t total = n * (n + 1) / 2;
	double *p = calloc(total + 1, sizeof *p), sum = 0;

	if (!p)
		return TK_ENOMEM;
	p[0] = 1;
	for (size_t rank = 1, top = 0; rank <= n; rank++) {
		top += rank;
		for (size_t t = top + 1; t-- > 0;)
			p[t] = (p[t] + (t >= rank ? p[t - rank] : 0)) / 2;
	}
	for (*c = 0; *c <= total / 2 && sum + p[*c] <= tail; ++*c)
		sum += p[*c];
	free(p);
	return TK_OK;
}

/* The means of all pairs of differences, each with itself too, sorted. */
static double *walsh(const double *d, size_t n)
{
	double *w = malloc((n * (n + 1) / 2) * sizeof *w);
	size_t count = 0;

	for (size_t i = 0; w && i < n; i++)
		for (size_t j = i; j < n; j++)
			w[count++] = (d[i] + d[j]) / 2;
	if (w)
		tk_sort_values(w, count);
	return w;
}

static int interval_of(
        const double *sorted, size_t n, double confidence, struct tk_paired_shift *out)
{
	size_t total = n * (n + 1) / 2, c;
	int status = critical(n, (1 - confidence) / 2, &c);

	if (status)
		return status;
	out->n = n;
	out->shift = tk_quantile_sorted(sorted, total, 0.5);
	out->reached = c > 0;
	out->lo = sorted[c ? c - 1 : 0];
	out->hi = sorted[c ? total - c : total - 1];
	return TK_OK;
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
	double *sorted;
	int status;

	if (!all_finite(d, n))
		return TK_EDATA;
	sorted = walsh(d, n);
	status = sorted ? interval_of(sorted, n, confidence, out) : TK_ENOMEM;
	free(sorted);
	return status;
}

static int look(
        const double *d, size_t n, size_t number, double least, enum tk_paired_decision *word)
{
	double *sorted = walsh(d, n), k = (double)number + 1;
	struct tk_paired_shift strict, loose;
	bool last = n == TK_PAIRED_COUNT_MAX, narrow, beyond;
	int status = sorted ? interval_of(sorted, n, 1 - TK_PAIRED_ALPHA / (k * (k + 1)), &strict)
	                    : TK_ENOMEM;

	if (!status)
		status = interval_of(sorted, n, 1 - SAME_ALPHA, &loose);
	free(sorted);
	if (status)
		return status;
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
