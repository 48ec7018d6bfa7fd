/* When to stop sampling: the confidence interval of the median is narrow enough, or a limit is
 * reached. Pure: depends on the samples and the time spent only. */
#ifndef TK_STATS_STOPPING_H
#define TK_STATS_STOPPING_H
#include <stddef.h>

enum tk_stop { TK_STOP_CONTINUE, TK_STOP_TIGHT, TK_STOP_MAX_SAMPLES, TK_STOP_BUDGET };

struct tk_stop_rule {
	double confidence;          /* of the interval, e.g. 0.95 */
	double relative_half_width; /* target: (hi - lo) / 2 / median */
	size_t min_samples, max_samples;
	double budget_s; /* of measured wall time */
};

/* sorted: the samples so far in ascending order. */
enum tk_stop tk_stop_check(
        const struct tk_stop_rule *rule, const double *sorted, size_t n, double spent_s);
const char *tk_stop_name(enum tk_stop s); /* "tight", "max_samples", "budget" */

#endif
