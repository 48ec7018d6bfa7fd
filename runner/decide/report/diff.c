/* Reports: the rows of a range, counted and sorted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/present.h"
#include "core/outcome.h"
#include "decide/report/diff_mean.h"
#include "decide/report/diff_row.h"

/* ---- diff mean ---- */

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

/* ---- diff ---- */

/* The verdicts of all cases, by several threads. */
struct decisions {
	struct tk_analysis *set;
	struct tk_diff_row *rows;
	struct tk_parallel_failure failure;
};

static void decide_part(void *arg, int64_t first, int64_t count)
{
	struct decisions *d = arg;
	struct tk_error err = {0};
	int status = TK_OK;

	for (int64_t i = first; !status && i < first + count; i++)
		status = tk_series_case_decide(d->set, &d->set->at[i], &d->rows[i], &err);
	tk_parallel_set_failure(&d->failure, status, &err);
}

static int decide_all(struct tk_analysis *c, struct tk_diff_row *rows, struct tk_error *err)
{
	struct decisions d = {.set = c, .rows = rows};

	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, decide_part, &d);
	return tk_parallel_get_failure(&d.failure, err);
}

int tk_analysis_decide(struct tk_analysis *c, struct tk_diff_report *out, struct tk_error *err)
{
	int status;

	*out = (struct tk_diff_report){.since_s = c->since_s,
	        .until_s = c->until_s,
	        .window = c->options.window,
	        .options = c->options};
	out->rows = tk_calloc(c->count + 1, sizeof *out->rows);
	out->count = c->count;
	status = decide_all(c, out->rows, err);
	for (size_t i = 0; !status && i < c->count; i++)
		status = tk_series_case_explain(c, &c->at[i], &out->rows[i], err);
	return status;
}

/* By status, in the order of their list, then by size. */
static int by_severity(const void *a, const void *b)
{
	const struct tk_diff_row *x = a, *y = b;
	const struct tk_verdict *v = &x->verdict, *w = &y->verdict;
	const double severity_v = isnan(v->severity) ? -1 : v->severity,
	             severity_w = isnan(w->severity) ? -1 : w->severity;

	if (v->status != w->status)
		return v->status < w->status ? -1 : 1;
	if (severity_v != severity_w)
		return severity_v > severity_w ? -1 : 1;
	return strcmp(x->series, y->series);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_machines(const struct tk_diff_report *r)
{
	const char **names = tk_calloc(r->count + 1, sizeof *names);
	size_t count = 0;

	for (size_t i = 0; names && i < r->count; i++)
		names[i] = r->rows[i].machine;
	if (names)
		qsort(names, r->count, sizeof *names, by_name);
	for (size_t i = 0; names && i < r->count; i++)
		count += i == 0 || strcmp(names[i], names[i - 1]) != 0;
	free(names);
	return count;
}

void tk_diff_report_count(struct tk_diff_report *r)
{
	memset(r->by_status, 0, sizeof r->by_status);
	for (size_t i = 0; i < r->count; i++)
		r->by_status[r->rows[i].verdict.status]++;
}

static void count_waiting(struct tk_diff_report *r)
{
	r->waiting = 0;
	r->waiting_nights = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_fact *last =
		        tk_verdict_find_fact(&r->rows[i].verdict, TK_FACT_LAST_MEASURED);

		if (!last || !(last->number[0] > 0) || !(last->number[0] < last->number[1]))
			continue;
		r->waiting++;
		if (last->number[0] > r->waiting_nights)
			r->waiting_nights = (uint32_t)last->number[0];
	}
}

void tk_diff_report_finish(struct tk_diff_report *r)
{
	tk_diff_report_count(r);
	count_waiting(r);
	r->mean = (struct tk_diff_mean){.change = NAN};
	r->compared = 0;
	r->newest_s = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_diff_row *row = &r->rows[i];

		if (row->newest_s > r->newest_s)
			r->newest_s = row->newest_s;
		r->compared += tk_diff_row_is_compared(row);
		tk_diff_mean_add(&r->mean, row);
	}
	r->machines = count_machines(r);
	if (r->count)
		qsort(r->rows, r->count, sizeof *r->rows, by_severity);
}

void tk_diff_report_free(struct tk_diff_report *r)
{
	if (!r)
		return;
	free(r->rows);
	*r = (struct tk_diff_report){0};
}
