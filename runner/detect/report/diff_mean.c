/* The geometric mean of a report, or of some of its rows. */
#include <math.h>
#include <stdio.h>

#include "core/outcome.h"
#include "detect/detect.h"

/* What became of its code, a logarithm, more is worse; *by_nights: no more than its timings say so.
 */
static double part_of(const struct tk_diff_row *r, bool *by_nights)
{
	double sign = r->lower_is_better ? 1 : -1;

	*by_nights = false;
	if (r->same_code || r->pairs.word == TK_AB_SAME)
		return 0;
	if (tk_diff_row_is_ab_confirmed(r))
		return sign * log1p(r->pairs.change);
	if (r->changed_before_range)
		return 0;
	*by_nights = true;
	return sign * log(r->after / r->before);
}

void tk_diff_mean_add(struct tk_diff_mean *m, const struct tk_diff_row *r)
{
	bool by_nights;

	if (!tk_diff_row_is_compared(r) || r->status == TK_VERDICT_ENVIRONMENT ||
	        r->status == TK_VERDICT_NOT_COMPARABLE)
		return;
	m->rows++;
	m->sum += part_of(r, &by_nights);
	m->timed += by_nights;
	m->unstable += by_nights && r->unstable;
	m->change = expm1(m->sum / (double)m->rows);
}

bool tk_diff_mean_is_unstable(const struct tk_diff_mean *m)
{
	return tk_outcome_is_night_unreliable(m->unstable, m->timed);
}

const char *tk_diff_mean_format(const struct tk_diff_mean *m, char out[TK_DIFF_MEAN_TEXT_SIZE])
{
	char doubt[80] = "";

	if (tk_diff_mean_is_unstable(m))
		snprintf(doubt, sizeof doubt, " (a guess: the timings of %zu of %zu are unstable)",
		        m->unstable, m->timed);
	if (isnan(m->change))
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE, "-%s", doubt);
	else if (fabs(m->change) < 1e6)
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE, "%+.1f%%%s", 100 * m->change, doubt);
	else
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE, "%+.1e%%%s", 100 * m->change, doubt);
	return out;
}
