/* History -> one word for every series: reading, judging, the false-discovery rate, the report. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/history/series_case.h"
#include "detect/monitor/monitor_session.h"
#include "stats/summary/fdr.h"

static int judge_case(struct tk_case_set *c, struct tk_series_case *k, double prior)
{
	struct tk_level_test_input in = {.y = k->net,
	        .se = k->se,
	        .n = k->count,
	        .range = k->range,
	        .window = c->options.window ? c->options.window : 1,
	        .prior_sigma = prior};
	int rc = tk_level_test_run(&in, k->base, &k->own);

	if (rc)
		return rc;
	if (c->options.baseline != TK_BASELINE_WINDOW)
		k->own.earlier =
		        false; /* the question is another one: how it is now, beside then */
	k->raw = k->own;
	if (memcmp(k->net, k->y, k->count * sizeof *k->y) == 0)
		return TK_OK;
	in.y = k->y;
	rc = tk_level_test_run(&in, k->base, &k->raw);
	k->raw.earlier &= c->options.baseline == TK_BASELINE_WINDOW;
	return rc;
}

/* q over the series of each machine. */
static int control_fdr(struct tk_case_set *c, struct tk_error *err)
{
	double *p = calloc(c->count + 1, sizeof *p), *q = calloc(c->count + 1, sizeof *q);
	int rc = p && q ? TK_OK
	                : tk_fail(err, TK_ENOMEM,
	                          "out of memory while controlling the false-discovery rate");

	for (size_t i = 0; !rc && c->options.uncorrected && i < c->count; i++)
		c->at[i].q = c->at[i].range ? c->at[i].own.best.p : NAN;
	for (size_t m = 0; !rc && !c->options.uncorrected && m < c->catalog.machines.rows.count;
	        m++) {
		int64_t machine =
		        TK_ROWS_AT(&c->catalog.machines.rows, struct tk_machine_row, m)->id;

		for (size_t i = 0; i < c->count; i++)
			p[i] = c->at[i].machine->id == machine && c->at[i].range
			               ? c->at[i].own.best.p
			               : NAN;
		rc = tk_fdr_adjust(p, c->count, q);
		for (size_t i = 0; !rc && i < c->count; i++)
			if (!isnan(q[i]))
				c->at[i].q = q[i];
	}
	free(p);
	free(q);
	return rc;
}

int tk_case_set_evaluate(struct tk_case_set *c, struct tk_error *err)
{
	double *prior = calloc(c->count + 1, sizeof *prior);
	int rc = prior ? tk_case_set_remove_common_mode(c, err)
	               : tk_fail(err, TK_ENOMEM, "out of memory while judging");

	if (!rc)
		rc = tk_case_set_estimate_priors(c, prior, err);
	for (size_t i = 0; !rc && i < c->count; i++)
		if (c->at[i].range && judge_case(c, &c->at[i], prior[i]))
			rc = tk_fail(err, TK_ENOMEM, "out of memory while judging %s",
			        c->at[i].series->slug);
	if (!rc)
		rc = control_fdr(c, err);
	free(prior);
	return rc;
}

int tk_case_set_decide(struct tk_case_set *c, struct tk_diff_report *out, struct tk_error *err)
{
	*out = (struct tk_diff_report){.since_s = c->since_s,
	        .until_s = c->until_s,
	        .window = c->options.window,
	        .options = c->options};
	out->rows = calloc(c->count + 1, sizeof *out->rows);
	if (!out->rows)
		return tk_fail(err, TK_ENOMEM, "out of memory while writing the report");
	out->count = c->count;
	for (size_t i = 0; i < c->count; i++) {
		int rc = tk_series_case_decide(c, &c->at[i], &out->rows[i], err);

		if (rc)
			return rc;
	}
	return TK_OK;
}

/* By word first, in the order of the list of words, then by size. */
static int by_severity(const void *a, const void *b)
{
	const struct tk_diff_row *x = a, *y = b;
	double sx = isnan(x->severity) ? -1 : x->severity,
	       sy = isnan(y->severity) ? -1 : y->severity;

	if (x->status != y->status)
		return x->status < y->status ? -1 : 1;
	if (sx != sy)
		return sx > sy ? -1 : 1;
	return strcmp(x->series, y->series);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_machines(const struct tk_diff_report *r)
{
	const char **names = calloc(r->count + 1, sizeof *names);
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

void tk_diff_report_finish(struct tk_diff_report *r)
{
	r->mean = (struct tk_diff_mean){.change = NAN};
	memset(r->by_status, 0, sizeof r->by_status);
	r->compared = 0;
	r->newest_s = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_diff_row *row = &r->rows[i];

		r->by_status[row->status]++;
		if (row->newest_s > r->newest_s)
			r->newest_s = row->newest_s;
		r->compared += tk_diff_row_is_compared(row);
		tk_diff_mean_add(&r->mean, row);
	}
	r->machines = count_machines(r);
	if (r->count)
		qsort(r->rows, r->count, sizeof *r->rows, by_severity);
}

int tk_detect_diff(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	struct tk_case_set c;
	int rc = tk_case_set_load(s, options, range, NULL, &c, err);

	if (!rc)
		rc = tk_case_set_load_alarms(&c, err);
	if (!rc)
		rc = tk_case_set_evaluate(&c, err);
	if (!rc)
		tk_case_set_filter(&c, range);
	if (!rc)
		rc = tk_case_set_decide(&c, &report, err);
	tk_case_set_free(&c);
	if (rc) {
		tk_diff_report_free(&report);
		return rc;
	}
	tk_diff_report_finish(&report);
	*out = report;
	return TK_OK;
}

void tk_diff_report_free(struct tk_diff_report *r)
{
	if (!r)
		return;
	free(r->rows);
	*r = (struct tk_diff_report){0};
}
