/* A/B runs of an old and a new build of one series -> a decision. The night uses the same rule to
 * decide when to stop measuring; the verdict uses it on the stored pairs.
 *
 * Two statistics of each process are compared: the median, which is the value of the series, and
 * the fastest sample. Other work on the machine only adds time: if it makes the medians noisy, the
 * fastest samples remain comparable. They count if the medians cannot decide and do not contradict
 * them. */
#ifndef TK_DECIDE_AB_RESULT_H
#define TK_DECIDE_AB_RESULT_H
#include "core/verdict.h"

struct tk_ab_pair_row;
struct tk_detect_options;

/* The change must exceed min_effect, and min_effect_ns of the base's median. Rows without two
 * timings count as failed. HIGHER and LOWER are about the value, whichever direction is better. */
struct tk_ab_result tk_ab_result_evaluate(
        const struct tk_ab_pair_row *rows, size_t count, const struct tk_detect_options *options);

/* The same where no more pairs can be measured and a wrong decision costs little: one analysis of
 * the medians of all pairs, at 95 % confidence (tk_paired_decide_last). Fewer pairs than
 * TK_AB_RESULT_LAST_COUNT_MIN are inconclusive. */
#define TK_AB_RESULT_LAST_COUNT_MIN 6
struct tk_ab_result tk_ab_result_evaluate_last(
        const struct tk_ab_pair_row *rows, size_t count, const struct tk_detect_options *options);

/* Of the pairs that a night had time for. Fewer than the first interim analysis waits for were
 * never analysed: one analysis at 99 %. */
struct tk_ab_result tk_ab_result_evaluate_stored(
        const struct tk_ab_pair_row *rows, size_t count, const struct tk_detect_options *options);

/* For a bisection: is head above or below a level (head / base - 1) between the two? */
struct tk_ab_result tk_ab_result_compare_level(
        const struct tk_ab_pair_row *rows, size_t count, double level);

/* Medians over the pairs of what the result rests on: the processes' medians, or their fastest
 * samples. NAN: no pair has timings. */
void tk_ab_result_levels(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_ab_result *result, double levels[TK_AB_SIDES]);

#endif
