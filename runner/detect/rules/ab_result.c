/* See confirm.h. */
#include "detect/rules/ab_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "stats/summary/paired.h"
#include "stats/summary/summary.h"

struct differences {
	double *median, *fastest, *good; /* logarithms of new / old; medians of the old one */
	size_t count, failed;
	bool has_fastest; /* every pair has them */
};

static bool has_timing(double x)
{
	return isfinite(x) && x > 0;
}

static int take(const struct tk_ab_pair_row *rows, size_t count, struct differences *d)
{
	double *memory = malloc((3 * count + 1) * sizeof *memory);

	*d = (struct differences){.median = memory, .has_fastest = true};
	if (!memory)
		return TK_ENOMEM;
	d->fastest = memory + count;
	d->good = memory + 2 * count;
	for (size_t i = 0; i < count; i++) {
		const struct tk_ab_pair_row *r = &rows[i];

		if (!has_timing(r->good_value) || !has_timing(r->bad_value)) {
			d->failed++;
			continue;
		}
		d->has_fastest &= has_timing(r->good_min) && has_timing(r->bad_min);
		d->median[d->count] = log(r->bad_value / r->good_value);
		d->fastest[d->count] = d->has_fastest ? log(r->bad_min / r->good_min) : 0;
		d->good[d->count++] = r->good_value;
	}
	return TK_OK;
}

static void show(const struct tk_paired_shift *p, double from, struct tk_ab_result *out)
{
	out->change = expm1(p->shift + from);
	out->lo = expm1(p->lo + from);
	out->hi = expm1(p->hi + from);
}

static void use(enum tk_paired_decision word, bool fastest, const struct tk_paired_shift *p,
        double from, struct tk_ab_result *out)
{
	static const enum tk_ab_decision words[] = {[TK_PAIRED_INCONCLUSIVE] = TK_AB_INCONCLUSIVE,
	        [TK_PAIRED_SAME] = TK_AB_SAME,
	        [TK_PAIRED_HIGHER] = TK_AB_HIGHER,
	        [TK_PAIRED_LOWER] = TK_AB_LOWER};

	out->word = words[word];
	out->fastest = fastest;
	show(p, from, out);
}

static const enum tk_paired_decision against[] = {
        [TK_PAIRED_HIGHER] = TK_PAIRED_LOWER, [TK_PAIRED_LOWER] = TK_PAIRED_HIGHER};

/* The medians have found a change. Where the fastest samples have found one that is certainly
 * smaller, its size is theirs: other work on the machine only adds time, and to long launches more
 * often than to short ones. Where they have found the opposite, nothing is known. */
static int heed_fastest(const struct differences *d, double least, double from,
        enum tk_paired_decision found, const struct tk_paired_shift *median,
        struct tk_ab_result *out)
{
	struct tk_paired_shift fastest;
	enum tk_paired_decision word;
	int rc = tk_paired_decide(d->fastest, d->count, least, &word, &fastest);

	if (rc)
		return rc;
	if (word == against[found])
		use(TK_PAIRED_INCONCLUSIVE, false, median, from, out);
	else if (word == found && (fastest.hi < median->lo || fastest.lo > median->hi) &&
	         fabs(fastest.shift + from) < fabs(median->shift + from))
		use(word, true, &fastest, from, out);
	return TK_OK;
}

/* The fastest samples, where the medians are open: not against what these lean to. */
static int ask_fastest(
        const struct differences *d, double least, double from, struct tk_ab_result *out)
{
	struct tk_paired_shift fastest;
	enum tk_paired_decision word, leaning;
	int rc = tk_paired_decide(d->fastest, d->count, least, &word, &fastest);

	if (!rc)
		rc = tk_paired_decide(d->median, d->count, 0, &leaning, NULL);
	if (rc || word == TK_PAIRED_INCONCLUSIVE)
		return rc;
	if (word == TK_PAIRED_SAME ? leaning == TK_PAIRED_INCONCLUSIVE : leaning != against[word])
		use(word, true, &fastest, from, out);
	return TK_OK;
}

/* d: differences less `from`. */
static int decide(const struct differences *d, double least, double from, struct tk_ab_result *out)
{
	struct tk_paired_shift median;
	enum tk_paired_decision word;
	int rc;

	*out = (struct tk_ab_result){.word = TK_AB_INCONCLUSIVE,
	        .count = (uint32_t)d->count,
	        .failed = (uint32_t)d->failed,
	        .change = NAN,
	        .lo = NAN,
	        .hi = NAN};
	if (!d->count)
		return TK_OK;
	rc = tk_paired_decide(d->median, d->count, least, &word, &median);
	if (rc)
		return rc;
	use(word, false, &median, from, out);
	if (!d->has_fastest || word == TK_PAIRED_SAME)
		return TK_OK;
	return word == TK_PAIRED_INCONCLUSIVE ? ask_fastest(d, least, from, out)
	                                      : heed_fastest(d, least, from, word, &median, out);
}

int tk_ab_result_evaluate(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_detect_options *options, struct tk_ab_result *out)
{
	struct differences d;
	double least = log1p(options->min_effect);
	int rc = take(rows, count, &d);

	if (!rc && d.count)
		least = fmax(least, log1p(options->min_effect_ns / tk_median(d.good, d.count)));
	if (!rc)
		rc = decide(&d, least, 0, out);
	if (!rc && !count)
		out->word = TK_AB_NONE;
	free(d.median);
	return rc;
}

int tk_ab_result_compare_level(
        const struct tk_ab_pair_row *rows, size_t count, double level, struct tk_ab_result *out)
{
	struct differences d;
	int rc = take(rows, count, &d);

	for (size_t i = 0; !rc && i < d.count; i++) {
		d.median[i] -= log1p(level);
		d.fastest[i] -= log1p(level);
	}
	if (!rc)
		rc = decide(&d, 0, log1p(level), out);
	free(d.median);
	return rc;
}

/* In percent; what is nothing has no sign. */
static double percent(double ratio)
{
	return fabs(ratio) < 0.0005 ? 0 : 100 * ratio;
}

const char *tk_ab_result_format(const struct tk_ab_result *p, char out[TK_AB_RESULT_TEXT_SIZE])
{
	if (isnan(p->change))
		snprintf(out, TK_AB_RESULT_TEXT_SIZE, "no timings");
	else
		snprintf(out, TK_AB_RESULT_TEXT_SIZE, "%+.1f %% [%.1f, %.1f]%s", percent(p->change),
		        percent(p->lo), percent(p->hi), p->fastest ? ", fastest samples" : "");
	return out;
}

const char *tk_ab_result_statistic_name(const struct tk_ab_result *pairs)
{
	return pairs->fastest ? "min" : "median";
}
