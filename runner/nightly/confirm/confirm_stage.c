/* Stage "confirm": what the nights seem to say of a series whose code is new is asked again, the
 * last good build against the new one, until pairs of both have decided or the budget is spent.
 * What they say is the verdict's (detect/pairs.c); here they are measured. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "detect/rules/ab_result.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every suspect has its turn before the stubborn ones go on. */
static const size_t sweeps[] = {24, 64, 128, TK_AB_PAIRS_MAX};

struct suspect {
	const struct tk_diff_row *row;
	int rank; /* how much depends on it */
	char *good_options, *new_options;
	struct tk_ab_test trial;
	struct tk_ab_result pairs;
	bool open; /* the trial */
};

struct docket {
	struct tk_night *n;
	struct tk_detect_options options;
	struct tk_diff_report report;
	struct suspect *at;
	size_t count;
	double spent_s;
};

/* Alarms first, then what might be one, then what the nights cannot rule out. -1: no suspect. */
static int rank_of(const struct docket *d, const struct tk_diff_row *r)
{
	if (!r->new_code || r->newest_s != d->n->as_of_s)
		return -1;
	switch (r->verdict.status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_ACKED:
		return 0;
	case TK_VERDICT_UNSURE:
	case TK_VERDICT_NOT_COMPARABLE:
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_ENVIRONMENT: /* the machine moved, and hides what the code did */
		return 1;
	case TK_VERDICT_SAME:
		return fmax(fabs(r->verdict.change.lo), fabs(r->verdict.change.hi)) >
		                       d->options.min_effect
		               ? 2
		               : -1;
	default:
		return -1;
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->row->verdict.p != y->row->verdict.p)
		return x->row->verdict.p < y->row->verdict.p ? -1 : 1;
	return strcmp(x->row->series, y->row->series);
}

static int list_suspects(struct docket *d, struct tk_error *err)
{
	int status = tk_detect_preview(d->n->store, d->n->night_id, &d->options, &d->report, err);
	if (status != TK_OK)
		return status;
	d->at = calloc(d->report.count + 1, sizeof *d->at);
	if (!d->at)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < d->report.count; i++) {
		int rank = rank_of(d, &d->report.rows[i]);
		if (rank >= 0)
			d->at[d->count++] =
			        (struct suspect){.row = &d->report.rows[i], .rank = rank};
	}
	qsort(d->at, d->count, sizeof *d->at, by_rank);
	return TK_OK;
}

/* Both builds must be there. What cannot be tried keeps the word of the nights. */
static int open_trial(struct docket *d, struct suspect *s, struct tk_error *err)
{
	const struct tk_diff_row *r = s->row;
	struct tk_error why = {0};
	int status = tk_night_job_options(
	        d->n, r->series_id, r->verdict.last_good_run_id, &s->good_options, err);
	if (status == TK_OK)
		status = tk_night_job_options(
		        d->n, r->series_id, r->new_run_id, &s->new_options, err);
	if (status != TK_OK)
		return status;
	struct tk_ab_test_spec spec = {.night_id = d->n->night_id,
	        .series_id = r->series_id,
	        .good_build_id = r->good_build_id,
	        .bad_build_id = r->new_build_id,
	        .good_options = s->good_options,
	        .bad_options = s->new_options};
	status = tk_ab_test_open(d->n, &spec, &s->trial, &why);
	s->open = status == TK_OK;
	if (status == TK_ENOTFOUND) {
		tk_log(TK_LOG_DEBUG, "confirm", NULL, "%s cannot be confirmed: %s", r->series,
		        why.message);
		return TK_OK;
	}
	return status == TK_OK ? TK_OK : tk_fail(err, status, "%s", why.message);
}

static bool is_over(const struct docket *d)
{
	double night_s = (double)(tk_clock_monotonic_ns() - d->n->started_mono_ns) / 1e9,
	       most_s = d->n->config->budgets.night_s;
	return d->spent_s >= d->n->config->budgets.confirm_s || (most_s > 0 && night_s > most_s);
}

static int judge(const struct docket *d, struct suspect *s, struct tk_error *err)
{
	if (tk_ab_result_evaluate(s->trial.rows, s->trial.count, &d->options, &s->pairs) != TK_OK)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	return TK_OK;
}

static bool is_decided(const struct suspect *s)
{
	return s->pairs.decision != TK_AB_NONE && s->pairs.decision != TK_AB_INCONCLUSIVE;
}

static void say(const struct docket *d, const struct suspect *s, size_t number)
{
	char what[300];
	snprintf(what, sizeof what, "%zu of %zu: %s", number + 1, d->count, s->row->series);
	tk_night_announce_stage(d->n, "confirm", what);
}

static int go_on(struct docket *d, struct suspect *s, size_t target, struct tk_error *err)
{
	int status = judge(d, s, err);
	while (status == TK_OK && !is_decided(s) && s->trial.timed < target &&
	        s->trial.failed_in_a_row < TK_AB_FAILURES_MAX && !is_over(d)) {
		double before_s = s->trial.wall_s;
		status = tk_ab_test_run_pair(d->n, &s->trial, err);
		d->spent_s += s->trial.wall_s - before_s;
		if (status == TK_OK)
			status = judge(d, s, err);
	}
	return status;
}

static int sweep(struct docket *d, size_t target, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < d->count && !is_over(d); i++) {
		if (!d->at[i].open || is_decided(&d->at[i]))
			continue;
		say(d, &d->at[i], i);
		status = go_on(d, &d->at[i], target, err);
	}
	return status;
}

static void count(struct docket *d)
{
	struct tk_night_report *r = d->n->report;
	for (size_t i = 0; i < d->count; i++) {
		const struct suspect *s = &d->at[i];
		r->suspects += s->open;
		r->confirmed += tk_ab_result_is_changed(&s->pairs);
		r->refuted += s->pairs.decision == TK_AB_SAME;
		r->pairs += s->pairs.count + s->pairs.failed;
	}
}

static void free_docket(struct docket *d)
{
	for (size_t i = 0; i < d->count; i++) {
		tk_ab_test_close(&d->at[i].trial);
		free(d->at[i].good_options);
		free(d->at[i].new_options);
	}
	free(d->at);
	tk_diff_report_free(&d->report);
}

int tk_night_confirm(struct tk_night *n, struct tk_error *err)
{
	struct docket d = {.n = n, .options = tk_detect_policy_thresholds(n->config)};
	if (n->config->budgets.confirm_s <= 0 || n->options->backfill_revision)
		return TK_OK;
	int status = list_suspects(&d, err);
	for (size_t i = 0; status == TK_OK && i < d.count; i++) {
		status = open_trial(&d, &d.at[i], err);
		if (status == TK_OK && d.at[i].open) {
			d.spent_s += d.at[i].trial.wall_s;
			status = judge(&d, &d.at[i], err);
		}
	}
	for (size_t i = 0; status == TK_OK && d.count && i < n->device_count; i++)
		tk_night_device_stop_workers(&n->devices[i]);
	for (size_t i = 0; status == TK_OK && i < sizeof sweeps / sizeof *sweeps; i++)
		status = sweep(&d, sweeps[i], err);
	if (status == TK_OK)
		count(&d);
	free_docket(&d);
	return status;
}
