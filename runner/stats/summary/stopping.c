/* When to stop sampling: see stopping.h. */
#include "stats/summary/stopping.h"

#include <math.h>

#include "stats/summary/interval.h"
#include "stats/summary/summary.h"

static int is_tight(const struct tk_stop_rule *rule, const double *sorted, size_t n)
{
	double lo, hi;

	if (n < rule->min_samples || !tk_median_interval(sorted, n, rule->confidence, &lo, &hi))
		return 0;
	return (hi - lo) / 2 <=
	       rule->relative_half_width * fabs(tk_quantile_sorted(sorted, n, 0.5));
}

enum tk_stop tk_stop_check(
        const struct tk_stop_rule *rule, const double *sorted, size_t n, double spent_s)
{
	if (is_tight(rule, sorted, n))
		return TK_STOP_TIGHT;
	if (n >= rule->max_samples)
		return TK_STOP_MAX_SAMPLES;
	if (spent_s >= rule->budget_s)
		return TK_STOP_BUDGET;
	return TK_STOP_CONTINUE;
}

const char *tk_stop_name(enum tk_stop s)
{
	static const char *const words[] = {
	        [TK_STOP_CONTINUE] = "continue",
	        [TK_STOP_TIGHT] = "tight",
	        [TK_STOP_MAX_SAMPLES] = "max_samples",
	        [TK_STOP_BUDGET] = "budget",
	};

	return (size_t)s < sizeof words / sizeof *words ? words[s] : "continue";
}
