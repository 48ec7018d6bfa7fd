/* Pairs of an old and a new build of one series -> a word. The same rule tells the night when to
 * stop measuring and the verdict what to say, from what is stored alone.
 *
 * Two statistics of each process are compared: the median, which is what the series is made of, and
 * the fastest sample. Whatever else runs on the machine only ever adds time, so where neighbours
 * make the medians jump, the fastest samples still tell; they count where the medians cannot decide
 * and do not contradict. */
#ifndef TK_DETECT_CONFIRM_H
#define TK_DETECT_CONFIRM_H
#include <stddef.h>

#include "detect/detect.h"
#include "store/store.h"

/* What must be exceeded is min_effect, and min_effect_ns of the old build's median. Rows without
 * two timings are counted as failed. UP and DOWN are of the value, whatever direction is better. 0
 * or TK_ENOMEM. */
int tk_ab_result_evaluate(const struct tk_ab_pair_row *rows, size_t count,
        const struct tk_detect_options *options, struct tk_ab_result *out);

/* On which side of a level between the two (a ratio - 1) the new build is: what a bisection asks.
 */
int tk_ab_result_compare_level(
        const struct tk_ab_pair_row *rows, size_t count, double level, struct tk_ab_result *out);

/* "+1.2 % [0.9, 1.5]"; with ", fastest samples" where they decided; "no timings" where no pair has
 * them. */
#define TK_AB_RESULT_TEXT_SIZE 80
const char *tk_ab_result_format(const struct tk_ab_result *p, char out[TK_AB_RESULT_TEXT_SIZE]);

#endif
