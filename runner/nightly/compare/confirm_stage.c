/* Stage "confirm": measures suspected changes again, the last good build against the new one,
 * until A/B pairs decide or the budget is spent. decide/rules/ab_result.h decides what the pairs
 * say. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/try.h"
#include "decide/rules/ab_result.h"
#include "nightly/compare/ab_test.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pairs per suspect: each gets the first number before any gets the next one. */
static const size_t rounds[] = {24, 64, 128, TK_AB_PAIRS_MAX};

struct suspect {
	const struct tk_diff_row *row;
	int priority; /* 0 is the highest */
	struct tk_ab_test test;
	struct tk_ab_result result;
	bool is_open; /* the test */
};

struct confirmation {
	struct tk_night *n;
	struct tk_detect_options options;
	struct tk_diff_report report;
	struct suspect *suspects;
	size_t count;
	double spent_s;
};

/* Alarms first, then possible alarms, then changes that the nights cannot exclude. -1: no
 * suspect. */
static int find_priority(const struct confirmation *d, const struct tk_diff_row *r)
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
	case TK_VERDICT_ENVIRONMENT: /* a change of the machine hides that of the code */
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

static int compare_priority(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;
	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	if (x->row->verdict.p != y->row->verdict.p)
		return x->row->verdict.p < y->row->verdict.p ? -1 : 1;
	return strcmp(x->row->series, y->row->series);
}

static int list_suspects(struct confirmation *d, struct tk_error *err)
{
	TRY(tk_detect_preview(d->n->store, d->n->night_id, &d->options, &d->report, err));
	d->suspects = tk_calloc(d->report.count + 1, sizeof *d->suspects);
	for (size_t i = 0; i < d->report.count; i++) {
		int priority = find_priority(d, &d->report.rows[i]);
		if (priority >= 0)
			d->suspects[d->count++] =
			        (struct suspect){.row = &d->report.rows[i], .priority = priority};
	}
	qsort(d->suspects, d->count, sizeof *d->suspects, compare_priority);
	return TK_OK;
}

/* A series that cannot be measured keeps the verdict of the nights. */
static int open_test(struct confirmation *d, struct suspect *s, struct tk_error *err)
{
	const struct tk_diff_row *r = s->row;
	const struct tk_ab_build builds[TK_AB_SIDES] = {
	        {r->good_build_id, r->verdict.last_good_run_id}, {r->new_build_id, r->new_run_id}};
	struct tk_error reason = {0};
	int status = tk_ab_test_open(d->n, d->n->night_id, r->series_id, builds, &s->test, &reason);
	s->is_open = !status;
	if (status == TK_ENOTFOUND) {
		tk_log(TK_LOG_DEBUG, "confirm", NULL, "%s cannot be confirmed: %s", r->series,
		        reason.message);
		return TK_OK;
	}
	return status ? tk_fail(err, status, "%s", reason.message) : TK_OK;
}

/* What is left of the budgets of the stage and of the night. */
static double time_left_s(const struct confirmation *d)
{
	const struct tk_budgets *b = &d->n->config->budgets;
	double left_s = b->confirm_s - d->spent_s;
	return b->night_s > 0 ? fmin(left_s, b->night_s - tk_night_elapsed_s(d->n)) : left_s;
}

static bool is_decided(const struct suspect *s)
{
	return s->result.decision != TK_AB_NONE && s->result.decision != TK_AB_INCONCLUSIVE;
}

static void announce(const struct confirmation *d, const struct suspect *s, size_t number)
{
	char what[300];
	snprintf(what, sizeof what, "%zu of %zu: %s", number + 1, d->count, s->row->series);
	tk_night_announce_stage(d->n, "confirm", what);
}

static int measure_suspect(
        struct confirmation *d, struct suspect *s, size_t target, struct tk_error *err)
{
	const struct tk_ab_goal goal = {.thresholds = &d->options,
	        .pairs_max = target,
	        .deadline_ns = tk_clock_monotonic_ns() + (int64_t)(time_left_s(d) * 1e9)};
	double before_s = s->test.wall_s;
	TRY(tk_ab_test_run(d->n, &s->test, &goal, &s->result, err));
	d->spent_s += s->test.wall_s - before_s;
	return TK_OK;
}

static int run_round(struct confirmation *d, size_t target, struct tk_error *err)
{
	for (size_t i = 0; i < d->count && time_left_s(d) > 0; i++) {
		if (!d->suspects[i].is_open || is_decided(&d->suspects[i]))
			continue;
		announce(d, &d->suspects[i], i);
		TRY(measure_suspect(d, &d->suspects[i], target, err));
	}
	return TK_OK;
}

static void count_results(struct confirmation *d)
{
	struct tk_night_report *r = d->n->report;
	for (size_t i = 0; i < d->count; i++) {
		const struct suspect *s = &d->suspects[i];
		r->suspects += s->is_open;
		r->confirmed += tk_ab_result_is_changed(&s->result);
		r->refuted += s->result.decision == TK_AB_SAME;
		r->pairs += s->result.count + s->result.failed;
	}
}

static void free_confirmation(struct confirmation *d)
{
	for (size_t i = 0; i < d->count; i++)
		tk_ab_test_close(&d->suspects[i].test);
	free(d->suspects);
	tk_diff_report_free(&d->report);
}

/* Pairs of an earlier part of this night count for the budget and for the result. */
static int open_tests(struct confirmation *d, struct tk_error *err)
{
	TRY(list_suspects(d, err));
	for (size_t i = 0; i < d->count; i++) {
		struct suspect *s = &d->suspects[i];
		TRY(open_test(d, s, err));
		if (!s->is_open)
			continue;
		d->spent_s += s->test.wall_s;
		s->result = tk_ab_result_evaluate(s->test.rows, s->test.count, &d->options);
	}
	return TK_OK;
}

static int confirm(struct confirmation *d, struct tk_error *err)
{
	TRY(open_tests(d, err));
	for (size_t i = 0; d->count && i < d->n->device_count; i++)
		tk_night_device_stop_workers(&d->n->devices[i]);
	for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
		TRY(run_round(d, rounds[i], err));
	count_results(d);
	return TK_OK;
}

int tk_night_confirm(struct tk_night *n, struct tk_error *err)
{
	struct confirmation d = {.n = n, .options = tk_detect_policy_thresholds(n->config)};
	if (n->config->budgets.confirm_s <= 0 || n->options->backfill_revision)
		return TK_OK;
	int status = confirm(&d, err);
	free_confirmation(&d);
	return status;
}
