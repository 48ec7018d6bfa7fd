/* Decides what A/B runs show: see ab_result.h. */
#include "decide/rules/ab_result.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "base/try.h"
#include "decide/decide.h"
#include "stats/summary/paired.h"
#include "stats/summary/summary.h"
#include "store/store.h"

struct differences {
	double *median, *fastest, *good; /* logarithms of new / old; the old medians */
	size_t count, failed;
	bool has_fastest; /* every pair has them */
};

static bool has_timing(double x)
{
	return isfinite(x) && x > 0;
}

static int take_differences(const struct tk_ab_pair_row *rows, size_t count, struct differences *d)
{
	double *memory = tk_malloc((3 * count + 1) * sizeof *memory);

	*d = (struct differences){.median = memory, .has_fastest = true};
	if (!memory)
		return TK_ENOMEM;
	d->fastest = memory + count;
	d->good = memory + 2 * count;
	for (size_t i = 0; i < count; i++) {
		const struct tk_ab_pair_row *r = &rows[i];

		if (!has_timing(r->base_median) || !has_timing(r->head_median)) {
			d->failed++;
			continue;
		}
		d->has_fastest &= has_timing(r->base_min) && has_timing(r->head_min);
		d->median[d->count] = log(r->head_median / r->base_median);
		d->fastest[d->count] = d->has_fastest ? log(r->head_min / r->base_min) : 0;
		d->good[d->count++] = r->base_median;
	}
	return TK_OK;
}

/* The threshold of the pairs, and the level that their differences are relative to. */
struct question {
	double least, level;
};

static void set_result(enum tk_paired_decision decision, bool fastest,
        const struct tk_paired_shift *shift, const struct question *q, struct tk_ab_result *out)
{
	static const enum tk_ab_decision decisions[] = {
	        [TK_PAIRED_INCONCLUSIVE] = TK_AB_INCONCLUSIVE,
	        [TK_PAIRED_SAME] = TK_AB_SAME,
	        [TK_PAIRED_HIGHER] = TK_AB_HIGHER,
	        [TK_PAIRED_LOWER] = TK_AB_LOWER};

	out->decision = decisions[decision];
	out->fastest = fastest;
	out->change = expm1(shift->shift + q->level);
	out->lo = expm1(shift->lo + q->level);
	out->hi = expm1(shift->hi + q->level);
}

static const enum tk_paired_decision opposite[] = {
        [TK_PAIRED_HIGHER] = TK_PAIRED_LOWER, [TK_PAIRED_LOWER] = TK_PAIRED_HIGHER};

/* The medians found a change. If the fastest samples found one that is certainly smaller, they give
 * the size: other work adds time, and to long launches more often than to short ones. If they found
 * the opposite, the test is inconclusive. */
static int refine_by_fastest(const struct differences *d, const struct question *q,
        enum tk_paired_decision found, const struct tk_paired_shift *median,
        struct tk_ab_result *out)
{
	struct tk_paired_shift fastest;
	enum tk_paired_decision decision;
	TRY(tk_paired_decide(d->fastest, d->count, q->least, &decision, &fastest));
	if (decision == opposite[found])
		set_result(TK_PAIRED_INCONCLUSIVE, false, median, q, out);
	else if (decision == found && (fastest.hi < median->lo || fastest.lo > median->hi) &&
	         fabs(fastest.shift + q->level) < fabs(median->shift + q->level))
		set_result(decision, true, &fastest, q, out);
	return TK_OK;
}

/* The medians are inconclusive: the fastest samples decide, unless the medians lean the other
 * way. */
static int decide_by_fastest(
        const struct differences *d, const struct question *q, struct tk_ab_result *out)
{
	struct tk_paired_shift fastest;
	enum tk_paired_decision decision, leaning;
	bool agrees;
	int status = tk_paired_decide(d->fastest, d->count, q->least, &decision, &fastest);

	if (!status)
		status = tk_paired_decide(d->median, d->count, 0, &leaning, NULL);
	if (status || decision == TK_PAIRED_INCONCLUSIVE)
		return status;
	agrees = decision == TK_PAIRED_SAME ? leaning == TK_PAIRED_INCONCLUSIVE
	                                    : leaning != opposite[decision];
	if (agrees)
		set_result(decision, true, &fastest, q, out);
	return TK_OK;
}

static_assert(TK_AB_RESULT_LAST_COUNT_MIN == TK_PAIRED_LAST_COUNT_MIN, "one rule");

/* is_last: there are no more pairs; the medians alone decide, and with fewer of them. */
static int decide(const struct differences *d, const struct question *q, bool is_last,
        struct tk_ab_result *out)
{
	struct tk_paired_shift median;
	enum tk_paired_decision decision;

	*out = (struct tk_ab_result){.decision = TK_AB_INCONCLUSIVE,
	        .count = (uint32_t)d->count,
	        .failed = (uint32_t)d->failed,
	        .change = NAN,
	        .lo = NAN,
	        .hi = NAN};
	if (!d->count)
		return TK_OK;
	TRY((is_last ? tk_paired_decide_last : tk_paired_decide)(
	        d->median, d->count, q->least, &decision, &median));
	set_result(decision, false, &median, q, out);
	if (is_last || !d->has_fastest || decision == TK_PAIRED_SAME)
		return TK_OK;
	return decision == TK_PAIRED_INCONCLUSIVE ? decide_by_fastest(d, q, out)
	                                          : refine_by_fastest(d, q, decision, &median, out);
}

static int evaluate(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_detect_options *options, bool is_last, struct tk_ab_result *out)
{
	struct differences d;
	struct question q = {.least = log1p(options->min_effect)};
	int status = take_differences(rows, count, &d);

	if (!status && d.count)
		q.least = fmax(q.least, log1p(options->min_effect_ns / tk_median(d.good, d.count)));
	if (!status)
		status = decide(&d, &q, is_last, out);
	if (!status && !count)
		out->decision = TK_AB_NONE;
	free(d.median);
	return status;
}

int tk_ab_result_evaluate(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_detect_options *options, struct tk_ab_result *out)
{
	return evaluate(rows, count, options, false, out);
}

int tk_ab_result_evaluate_last(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_detect_options *options, struct tk_ab_result *out)
{
	return evaluate(rows, count, options, true, out);
}

int tk_ab_result_compare_level(
        const struct tk_ab_pair_row *rows, size_t count, double level, struct tk_ab_result *out)
{
	const struct question q = {.level = log1p(level)};
	struct differences d;
	int status = take_differences(rows, count, &d);

	for (size_t i = 0; !status && i < d.count; i++) {
		d.median[i] -= q.level;
		d.fastest[i] -= q.level;
	}
	if (!status)
		status = decide(&d, &q, false, out);
	free(d.median);
	return status;
}

int tk_ab_result_levels(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_ab_result *result, double *good, double *bad)
{
	double *memory = tk_malloc((2 * count + 1) * sizeof *memory);
	size_t n = 0;

	*good = *bad = NAN;
	if (!memory)
		return TK_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct tk_ab_pair_row *r = &rows[i];

		if (!has_timing(r->base_median) || !has_timing(r->head_median))
			continue;
		memory[n] = result->fastest ? r->base_min : r->base_median;
		memory[count + n++] = result->fastest ? r->head_min : r->head_median;
	}
	if (n) {
		*good = tk_median(memory, n);
		*bad = tk_median(memory + count, n);
	}
	free(memory);
	return TK_OK;
}
