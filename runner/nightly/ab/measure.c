/* Measures the trials of a comparison: verifies both sides once, then A/B pairs until each trial
 * is decided. Every trial gets an equal share of the time: the next pair is of the undecided trial
 * that has used the least. */
#include "base/clock.h"
#include "base/error.h"
#include "detect/rules/ab_result.h"
#include "nightly/ab/comparison.h"
#include "worker/worker.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK_MEASURE_S 0.02 /* only the result is of interest */
#define FIRST_LOOK 12        /* pairs before which nothing is decided: stats/summary/paired.h */

static double elapsed_s(const struct tk_comparison *c)
{
	return (double)(tk_clock_monotonic_ns() - c->started_ns) / 1e9;
}

static bool is_budget_spent(const struct tk_comparison *c)
{
	return c->request->budget_s > 0 && elapsed_s(c) >= c->request->budget_s;
}

/* ---- progress ---- */

/* Pairs until the next look at which a trial can be decided. */
static size_t expected_pairs(const struct tk_ab_trial *t)
{
	size_t look = FIRST_LOOK;
	if (t->is_decided)
		return t->test.count;
	while (look <= t->test.timed)
		look += look < 24 ? 4 : look < 48 ? 8 : look / 3;
	return look + t->test.count - t->test.timed;
}

/* Not more pairs than the rest of the budget has room for. */
static void show_progress(const struct tk_comparison *c, const struct tk_ab_trial *current)
{
	const struct tk_night_observer *o = c->n->options->observer;
	size_t done = 0, total = 0;
	for (size_t i = 0; i < c->count; i++) {
		done += c->trials[i].test.count;
		total += expected_pairs(&c->trials[i]);
	}
	if (c->request->budget_s > 0 && done) {
		double room = (double)done * c->request->budget_s / elapsed_s(c);
		total = (double)total > room ? (size_t)room : total;
	}
	if (o && o->progress)
		o->progress(o->arg, done, total > done ? total : done + 1, current->row.title);
}

/* ---- verification ---- */

static int check_side(struct tk_comparison *c, struct tk_ab_trial *t, enum tk_ab_side_id side,
        struct tk_error *err)
{
	const struct tk_ab_variant *v = side == TK_AB_BASE ? &t->test.good : &t->test.bad;
	struct tk_ab_worker_spec spec = {.threads = v->threads};
	struct tk_worker *worker = NULL;
	struct tk_job_result r = {0};
	struct tk_job_request q =
	        tk_night_job_request(c->n, &t->test.series, &t->test.problem, v->path, v->options);
	if (v->config)
		q.config = v->config;
	q.verify = !c->request->no_verify;
	q.measure_s = fmin(q.measure_s, CHECK_MEASURE_S);
	int status = tk_night_load_limits(c->n, t->test.device, err);
	q.limits = &t->test.device->limits;
	if (!status)
		status = tk_night_new_ab_worker(c->n, t->test.device, &spec, &worker, err);
	if (!status)
		status = tk_worker_measure(worker, &q, &r, err);
	if (!status) {
		t->row.outcome[side] = r.outcome;
		if (!tk_outcome_has_timing(r.outcome))
			snprintf(t->row.message, sizeof t->row.message, "%s: %s: %.400s",
			        c->side[side].report->name, tk_outcome_name(r.outcome), r.message);
	}
	tk_job_result_free(&r);
	tk_worker_free(worker);
	return status;
}

/* A verdict from how the two sides ended; INCONCLUSIVE: both have a timing. */
static enum tk_ab_verdict judge_outcomes(const struct tk_ab_row *row)
{
	enum tk_outcome base = row->outcome[TK_AB_BASE], head = row->outcome[TK_AB_HEAD];
	if (base == TK_OUTCOME_UNSUPPORTED && head == TK_OUTCOME_UNSUPPORTED)
		return TK_AB_VERDICT_UNSUPPORTED;
	if (tk_outcome_has_timing(base))
		return tk_outcome_has_timing(head) ? TK_AB_VERDICT_INCONCLUSIVE
		                                   : TK_AB_VERDICT_NEWLY_FAILED;
	return tk_outcome_has_timing(head) ? TK_AB_VERDICT_FIXED : TK_AB_VERDICT_FAILING;
}

static int check(struct tk_comparison *c, struct tk_ab_trial *t, struct tk_error *err)
{
	int status = check_side(c, t, TK_AB_BASE, err);
	if (!status)
		status = check_side(c, t, TK_AB_HEAD, err);
	if (status)
		return status;
	t->is_checked = true;
	t->row.verdict = judge_outcomes(&t->row);
	t->is_decided = t->row.verdict != TK_AB_VERDICT_INCONCLUSIVE;
	return TK_OK;
}

/* ---- pairs ---- */

static enum tk_ab_verdict judge_pairs(const struct tk_ab_result *r)
{
	switch (r->decision) {
	case TK_AB_HIGHER:
		return TK_AB_VERDICT_SLOWER;
	case TK_AB_LOWER:
		return TK_AB_VERDICT_FASTER;
	case TK_AB_SAME:
		return TK_AB_VERDICT_SAME;
	default:
		return TK_AB_VERDICT_INCONCLUSIVE;
	}
}

/* Each pair of the last ones failed: the side without timings is to blame. */
static void judge_failures(struct tk_ab_trial *t)
{
	const struct tk_ab_pair_row *last = &t->test.rows[t->test.count - 1];
	bool base_failed = !isfinite(last->good_median), head_failed = !isfinite(last->bad_median);
	t->row.verdict = base_failed && head_failed ? TK_AB_VERDICT_FAILING
	                 : head_failed              ? TK_AB_VERDICT_NEWLY_FAILED
	                                            : TK_AB_VERDICT_FIXED;
	snprintf(t->row.message, sizeof t->row.message, "%s: %d A/B runs in a row failed",
	        base_failed && head_failed ? "both"
	        : head_failed              ? "head"
	                                   : "base",
	        TK_AB_FAILURES_MAX);
	t->is_decided = true;
}

static int run_pair(struct tk_comparison *c, struct tk_ab_trial *t, struct tk_error *err)
{
	int64_t started_ns = tk_clock_monotonic_ns();
	int status = tk_ab_test_run_pair(c->n, &t->test, err);
	t->spent_s += (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	if (status)
		return status;
	if (tk_ab_result_evaluate(t->test.rows, t->test.count, &c->thresholds, &t->row.result) ||
	        tk_ab_result_levels(t->test.rows, t->test.count, &t->row.result,
	                &t->row.level_ns[TK_AB_BASE], &t->row.level_ns[TK_AB_HEAD]))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	c->report->pairs++;
	t->row.verdict = judge_pairs(&t->row.result);
	t->is_decided =
	        t->row.verdict != TK_AB_VERDICT_INCONCLUSIVE || t->test.timed >= TK_AB_PAIRS_MAX;
	if (t->test.failed_in_a_row >= TK_AB_FAILURES_MAX)
		judge_failures(t);
	return TK_OK;
}

/* NULL: all are decided. */
static struct tk_ab_trial *choose_next(struct tk_comparison *c)
{
	struct tk_ab_trial *next = NULL;
	for (size_t i = 0; i < c->count; i++) {
		struct tk_ab_trial *t = &c->trials[i];
		if (t->is_decided)
			continue;
		if (!t->is_checked || t->test.count < c->request->first_pairs)
			return t;
		if (!next || t->spent_s < next->spent_s)
			next = t;
	}
	return next;
}

int tk_comparison_check_files(struct tk_comparison *c, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < TK_AB_SIDES; i++)
		status = tk_ab_side_check_file(&c->side[i], err);
	return status;
}

/* What the pairs show that the budget had room for. */
static int decide_rest(struct tk_comparison *c, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < c->count; i++) {
		struct tk_ab_trial *t = &c->trials[i];
		if (t->row.verdict != TK_AB_VERDICT_INCONCLUSIVE || !t->test.timed)
			continue;
		status = tk_ab_result_evaluate_last(
		        t->test.rows, t->test.count, &c->thresholds, &t->row.result);
		t->row.verdict = judge_pairs(&t->row.result);
	}
	return status ? tk_fail(err, status, "out of memory") : TK_OK;
}

int tk_comparison_measure(struct tk_comparison *c, struct tk_error *err)
{
	struct tk_ab_trial *t;
	int status = TK_OK;
	c->started_ns = tk_clock_monotonic_ns();
	tk_night_announce_stage(c->n, "compare", NULL);
	for (size_t i = 0; i < c->n->device_count; i++)
		tk_night_device_stop_workers(&c->n->devices[i]);
	while (!status && !is_budget_spent(c) && (t = choose_next(c))) {
		int64_t started_ns = tk_clock_monotonic_ns();
		show_progress(c, t);
		status = t->is_checked ? run_pair(c, t, err) : check(c, t, err);
		if (!status)
			status = tk_comparison_check_files(c, err);
		t->row.wall_s += (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	}
	c->report->budget_spent = choose_next(c) != NULL;
	if (!status && c->request->first_pairs)
		status = decide_rest(c, err);
	c->report->wall_s = elapsed_s(c);
	return status;
}
