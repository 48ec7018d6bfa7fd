/* The geometric mean of changes: see diff_mean.h. */
#include "decide/report/diff_mean.h"

#include <math.h>
#include <stdio.h>

#include "base/present.h"
#include "core/outcome.h"

/* The change of the code, as a logarithm; positive is worse. *nightly: known from nightly timings
 * alone. */
static double log_change(const struct tk_diff_row *r, bool *nightly)
{
	const double sign = r->lower_is_better ? 1 : -1;

	*nightly = false;
	if (r->same_code || r->ab.decision == TK_AB_SAME)
		return 0;
	if (tk_diff_row_is_ab_confirmed(r))
		return sign * log1p(r->ab.change);
	if (r->verdict.decided_by == TK_RULE_CHANGED_BEFORE)
		return 0;
	*nightly = true;
	return sign * log(r->verdict.after.value / r->verdict.before.value);
}

void tk_diff_mean_add(struct tk_diff_mean *m, const struct tk_diff_row *r)
{
	const enum tk_verdict_status status = r->verdict.status;
	bool nightly;

	if (!tk_diff_row_is_compared(r) || status == TK_VERDICT_ENVIRONMENT ||
	        status == TK_VERDICT_NOT_COMPARABLE)
		return;
	m->rows++;
	m->sum += log_change(r, &nightly);
	m->nightly += nightly;
	m->unstable += nightly && r->unstable;
	m->change = expm1(m->sum / (double)m->rows);
}

bool tk_diff_mean_is_unstable(const struct tk_diff_mean *m)
{
	return tk_outcome_is_night_unreliable(m->unstable, m->nightly);
}

const char *tk_diff_mean_format(const struct tk_diff_mean *m, char out[TK_DIFF_MEAN_TEXT_SIZE])
{
	char caveat[80] = "";

	if (tk_diff_mean_is_unstable(m))
		snprintf(caveat, sizeof caveat, " (unreliable: %zu of %zu timings are unstable)",
		        m->unstable, m->nightly);
	if (isnan(m->change))
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE, "-%s", caveat);
	else
		snprintf(out, TK_DIFF_MEAN_TEXT_SIZE,
		        fabs(m->change) < 1e6 ? "%+.1f %%%s" : "%+.1e %%%s",
		        tk_percent_tenths(m->change), caveat);
	return out;
}
