/* Decides what A/B runs show: see ab_result.h. */
#include "decide/rules/ab_result.h"

#include <assert.h>
#include <math.h>

#include "base/base.h"
#include "decide/decide.h"
#include "stats/compare.h"
#include "stats/summary.h"
#include "store/store.h"

/* Of the pairs with two timings. */
struct differences {
	double *median, *fastest; /* logarithms of head / base */
	double *base;             /* medians */
	size_t count, failed;
	bool has_fastest; /* every pair has them */
};

static bool has_timing(double x)
{
	return isfinite(x) && x > 0;
}

static bool is_timed(const struct tk_ab_pair_row *r)
{
	return has_timing(r->base_median) && has_timing(r->head_median);
}

/* Free d.median. */
static struct differences take_differences(const struct tk_ab_pair_row *rows, size_t count)
{
	double *memory = tk_malloc((3 * count + 1) * sizeof *memory);
	struct differences d = {.median = memory,
	        .fastest = memory + count,
	        .base = memory + 2 * count,
	        .has_fastest = true};

	for (size_t i = 0; i < count; i++) {
		const struct tk_ab_pair_row *r = &rows[i];

		if (!is_timed(r)) {
			d.failed++;
			continue;
		}
		d.has_fastest &= has_timing(r->base_min) && has_timing(r->head_min);
		d.median[d.count] = log(r->head_median / r->base_median);
		d.fastest[d.count] = d.has_fastest ? log(r->head_min / r->base_min) : 0;
		d.base[d.count++] = r->base_median;
	}
	return d;
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
static void refine_by_fastest(const struct differences *d, const struct question *q,
        enum tk_paired_decision found, const struct tk_paired_shift *median,
        struct tk_ab_result *out)
{
	struct tk_paired_shift fastest;
	enum tk_paired_decision decision;
	tk_paired_decide(d->fastest, d->count, q->least, &decision, &fastest);
	if (decision == opposite[found])
		set_result(TK_PAIRED_INCONCLUSIVE, false, median, q, out);
	else if (decision == found && (fastest.hi < median->lo || fastest.lo > median->hi) &&
	         fabs(fastest.shift + q->level) < fabs(median->shift + q->level))
		set_result(decision, true, &fastest, q, out);
}

/* The medians are inconclusive: the fastest samples decide, unless the medians lean the other
 * way. */
static void decide_by_fastest(
        const struct differences *d, const struct question *q, struct tk_ab_result *out)
{
	struct tk_paired_shift fastest;
	enum tk_paired_decision decision, leaning;

	tk_paired_decide(d->fastest, d->count, q->least, &decision, &fastest);
	tk_paired_decide(d->median, d->count, 0, &leaning, NULL);
	if (decision == TK_PAIRED_SAME
	                ? leaning == TK_PAIRED_INCONCLUSIVE
	                : decision != TK_PAIRED_INCONCLUSIVE && leaning != opposite[decision])
		set_result(decision, true, &fastest, q, out);
}

static_assert(TK_AB_RESULT_LAST_COUNT_MIN == TK_PAIRED_LAST_COUNT_MIN, "one rule");

/* last > 0: there are no more pairs; the medians alone decide, at that confidence, and with fewer
 * of them. The differences are finite, so that no step fails. */
static struct tk_ab_result decide(
        const struct differences *d, const struct question *q, double last)
{
	struct tk_paired_shift median;
	enum tk_paired_decision decision;
	struct tk_ab_result out = {.decision = TK_AB_INCONCLUSIVE,
	        .count = (uint32_t)d->count,
	        .failed = (uint32_t)d->failed,
	        .change = NAN,
	        .lo = NAN,
	        .hi = NAN};

	if (!d->count)
		return out;
	if (last > 0)
		tk_paired_decide_last(d->median, d->count, q->least, last, &decision, &median);
	else
		tk_paired_decide(d->median, d->count, q->least, &decision, &median);
	set_result(decision, false, &median, q, &out);
	if (last > 0 || !d->has_fastest || decision == TK_PAIRED_SAME)
		return out;
	if (decision == TK_PAIRED_INCONCLUSIVE)
		decide_by_fastest(d, q, &out);
	else
		refine_by_fastest(d, q, decision, &median, &out);
	return out;
}

static struct tk_ab_result evaluate(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_detect_options *options, double last)
{
	struct differences d = take_differences(rows, count);
	struct question q = {.least = log1p(options->min_effect)};

	if (d.count)
		q.least = fmax(q.least, log1p(options->min_effect_ns / tk_median(d.base, d.count)));
	struct tk_ab_result out = decide(&d, &q, last);
	if (!count)
		out.decision = TK_AB_NONE;
	free(d.median);
	return out;
}

struct tk_ab_result tk_ab_result_evaluate(
        const struct tk_ab_pair_row *rows, size_t count, const struct tk_detect_options *options)
{
	return evaluate(rows, count, options, 0);
}

struct tk_ab_result tk_ab_result_evaluate_last(
        const struct tk_ab_pair_row *rows, size_t count, const struct tk_detect_options *options)
{
	return evaluate(rows, count, options, 0.95);
}

struct tk_ab_result tk_ab_result_evaluate_stored(
        const struct tk_ab_pair_row *rows, size_t count, const struct tk_detect_options *options)
{
	return evaluate(rows, count, options, count < tk_paired_next_analysis(0) ? 0.99 : 0);
}

struct tk_ab_result tk_ab_result_compare_level(
        const struct tk_ab_pair_row *rows, size_t count, double level)
{
	const struct question q = {.level = log1p(level)};
	struct differences d = take_differences(rows, count);

	for (size_t i = 0; i < d.count; i++) {
		d.median[i] -= q.level;
		d.fastest[i] -= q.level;
	}
	struct tk_ab_result out = decide(&d, &q, 0);
	free(d.median);
	return out;
}

void tk_ab_result_levels(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_ab_result *result, double levels[TK_AB_SIDES])
{
	double *memory = tk_malloc((2 * count + 1) * sizeof *memory);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tk_ab_pair_row *r = &rows[i];

		if (!is_timed(r))
			continue;
		memory[n] = result->fastest ? r->base_min : r->base_median;
		memory[count + n++] = result->fastest ? r->head_min : r->head_median;
	}
	levels[TK_AB_BASE] = n ? tk_median(memory, n) : NAN;
	levels[TK_AB_HEAD] = n ? tk_median(memory + count, n) : NAN;
	free(memory);
}
