/* Reports: the rows of a range, counted and sorted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "decide/report/diff_row.h"

/* The verdicts of all cases, by several threads. */
struct decisions {
	struct tk_case_set *set;
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

static int decide_all(struct tk_case_set *c, struct tk_diff_row *rows, struct tk_error *err)
{
	struct decisions d = {.set = c, .rows = rows};

	tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, decide_part, &d);
	return tk_parallel_get_failure(&d.failure, err);
}

int tk_case_set_decide(struct tk_case_set *c, struct tk_diff_report *out, struct tk_error *err)
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
