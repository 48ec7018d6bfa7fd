/* See bisect.h. The search itself; bisection.c decides about one revision. */
#include "nightly/bisect/bisect.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/try.h"
#include "decide/rules/ab_result.h"
#include "nightly/bisect/bisection.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/stages/upstream_build.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_PER_COMPARISON 0.002 /* two statistics, each at the error of stats/compare.h */

static struct tk_bisection begin(
        struct tk_night *n, const struct tk_bisect_request *q, struct tk_bisect_report *report)
{
	*report = (struct tk_bisect_report){0};
	return (struct tk_bisection){.n = n,
	        .report = report,
	        .thresholds = tk_detect_policy_thresholds(n->config),
	        .series_id = q->series_id,
	        .started_ns = tk_clock_monotonic_ns(),
	        .hint = q->hint,
	        .budget_s = q->budget_s};
}

static void end(struct tk_bisection *b)
{
	b->report->night_id = b->night_id;
	b->report->wall_s = (double)(tk_clock_monotonic_ns() - b->started_ns) / 1e9;
	free(b->candidates);
	free(b->backend);
}

/* ---- the ends ---- */

static int build_end(struct tk_bisection *b, size_t end, const char *name, struct tk_error *err)
{
	const struct tk_bisect_candidate *c = &b->candidates[end];
	TRY(tk_bisection_build(b, end, err));
	if (!c->build.ok)
		return tk_fail(err, TK_EUSAGE, "the %s revision %.12s does not build: %s", name,
		        c->revision.id, c->build.message);
	return TK_OK;
}

static int measure_ends(struct tk_bisection *b, struct tk_error *err)
{
	struct tk_ab_result *range = &b->report->range_result;
	TRY(build_end(b, 0, "good", err));
	TRY(build_end(b, b->last, "bad", err));
	TRY(tk_bisection_compare(b, 0, b->last, NULL, TK_AB_PAIRS_MAX, range, err));
	b->candidates[0].side = TK_SIDE_GOOD;
	b->candidates[b->last].side = TK_SIDE_BAD;
	b->level = expm1(log1p(range->change) / 2);
	return TK_OK;
}

/* ---- halving ---- */

static bool is_skipped(const struct tk_bisection *b, size_t candidate)
{
	return b->candidates[candidate].side == TK_SIDE_SKIPPED;
}

/* The candidate nearest to the middle of (lo, hi) that is not skipped; 0: none. */
static size_t find_middle(const struct tk_bisection *b, size_t lo, size_t hi)
{
	size_t middle = lo + (hi - lo) / 2;
	for (size_t away = 0; away < hi - lo; away++) {
		if (middle + away < hi && !is_skipped(b, middle + away))
			return middle + away;
		if (middle > lo + away && !is_skipped(b, middle - away))
			return middle - away;
	}
	return 0;
}

static bool has_id(const struct tk_bisection *b, size_t candidate, const char *id)
{
	return strcmp(b->candidates[candidate].revision.id, id) == 0;
}

/* The hint and its parent come first: if the hint is right, they end the search. 0: none is
 * left. */
static size_t choose_next(const struct tk_bisection *b, size_t lo, size_t hi)
{
	for (size_t i = hi; b->hint && i-- > lo + 1;)
		if (b->candidates[i].side == TK_SIDE_UNKNOWN &&
		        (has_id(b, i, b->hint) || has_id(b, i + 1, b->hint)))
			return i;
	return find_middle(b, lo, hi);
}

static int halve(struct tk_bisection *b, size_t *lo, size_t *hi, struct tk_error *err)
{
	int status = TK_OK;
	*lo = 0;
	*hi = b->last;
	while (!status && *hi - *lo > 1 && !tk_bisection_is_budget_spent(b)) {
		size_t i = choose_next(b, *lo, *hi);
		if (!i)
			break;
		status = tk_bisection_classify(b, i, err);
		if (!status && b->candidates[i].side == TK_SIDE_GOOD)
			*lo = i;
		else if (!status && b->candidates[i].side == TK_SIDE_BAD)
			*hi = i;
	}
	return status;
}

/* ---- the result ---- */

static void set_inconclusive(struct tk_bisect_report *r, const char *explanation)
{
	r->outcome = TK_BISECT_INCONCLUSIVE;
	snprintf(r->explanation, sizeof r->explanation, "%s", explanation);
}

static void name_candidates(struct tk_bisection *b, size_t lo, size_t hi)
{
	struct tk_bisect_report *r = b->report;
	r->last_good = b->candidates[lo].revision;
	r->first_bad = b->candidates[hi].revision;
	r->candidates = hi - lo;
	r->outcome = hi - lo == 1 ? TK_BISECT_FOUND : TK_BISECT_RANGE;
	if (hi - lo == 1)
		return;
	if (find_middle(b, lo, hi)) {
		r->outcome = TK_BISECT_INCONCLUSIVE;
		snprintf(r->explanation, sizeof r->explanation,
		        "the budget was spent with %zu revisions left", hi - lo);
	} else {
		snprintf(r->explanation, sizeof r->explanation,
		        "one of %zu revisions; those before %.12s do not build or cannot be "
		        "measured",
		        hi - lo, r->first_bad.id);
	}
}

/* Measures last_good against first_bad: this proves the step and gives its size. */
static int measure_step(struct tk_bisection *b, size_t lo, size_t hi, struct tk_error *err)
{
	struct tk_bisect_report *r = b->report;
	if (lo == 0 && hi == b->last) {
		r->step_result = r->range_result;
		return TK_OK;
	}
	return tk_bisection_compare(b, lo, hi, NULL, TK_AB_PAIRS_MAX, &r->step_result, err);
}

static void set_confidence(struct tk_bisection *b)
{
	struct tk_bisect_report *r = b->report;
	const struct tk_ab_result *step = &r->step_result;
	bool is_spent = tk_bisection_is_budget_spent(b);
	if (step->decision <= TK_AB_INCONCLUSIVE && (!step->count || is_spent)) {
		set_inconclusive(r, is_spent ? "the last two revisions could not be compared: the "
		                               "budget was spent"
		                             : "the last two revisions could not be compared: no "
		                               "pair has timings");
		return;
	}
	if (tk_ab_result_is_changed(step) && (step->change > 0) == (r->range_result.change > 0)) {
		r->confidence = pow(1 - ERROR_PER_COMPARISON, (double)r->comparisons);
		return;
	}
	r->confidence = 0.5;
	snprintf(r->explanation, sizeof r->explanation,
	        "low confidence: compared with its parent it does not show the change of the "
	        "range");
}

static int conclude(struct tk_bisection *b, size_t lo, size_t hi, struct tk_error *err)
{
	name_candidates(b, lo, hi);
	if (b->report->outcome == TK_BISECT_INCONCLUSIVE)
		return TK_OK;
	TRY(measure_step(b, lo, hi, err));
	set_confidence(b);
	return TK_OK;
}

static void conclude_without_change(struct tk_bisection *b)
{
	struct tk_bisect_report *r = b->report;
	bool is_same = r->range_result.decision == TK_AB_SAME;
	char text[TK_AB_RESULT_TEXT_SIZE];
	r->outcome = is_same ? TK_BISECT_NO_CHANGE : TK_BISECT_INCONCLUSIVE;
	r->candidates = b->last;
	snprintf(r->explanation, sizeof r->explanation, "A/B runs of good and bad %s: %s",
	        is_same ? "show no change" : "are inconclusive",
	        tk_ab_result_format(&r->range_result, text));
}

static int put_bisection(const struct tk_bisection *b, struct tk_error *err)
{
	const struct tk_bisect_report *r = b->report;
	bool named = r->outcome == TK_BISECT_FOUND || r->outcome == TK_BISECT_RANGE;
	struct tk_bisection_row row = {.series_id = b->series_id,
	        .night_id = b->night_id,
	        .good_rev = r->good.id,
	        .bad_rev = r->bad.id,
	        .outcome = r->outcome,
	        .first_bad_rev = named ? r->first_bad.id : "",
	        .last_good_rev = named ? r->last_good.id : "",
	        .subject = named ? r->first_bad.subject : "",
	        .author = named ? r->first_bad.author : "",
	        .author_time_s = named ? r->first_bad.author_time_s : 0,
	        .change = named ? r->step_result.change : NAN,
	        .change_lo = named ? r->step_result.lo : NAN,
	        .change_hi = named ? r->step_result.hi : NAN,
	        .confidence = named ? r->confidence : NAN,
	        .build_count = (int64_t)r->builds,
	        .failed_build_count = (int64_t)r->builds_failed,
	        .comparison_count = (int64_t)r->comparisons,
	        .pair_count = (int64_t)r->pairs,
	        .finished_s = tk_clock_now_s()};
	return tk_store_put(b->n->store, TK_TABLE_bisection, &row, NULL, err);
}

static int search(struct tk_bisection *b, struct tk_error *err)
{
	size_t lo, hi;
	int status = measure_ends(b, err);
	if (status)
		return status;
	if (!tk_ab_result_is_changed(&b->report->range_result)) {
		conclude_without_change(b);
		return put_bisection(b, err);
	}
	status = halve(b, &lo, &hi, err);
	if (!status)
		status = conclude(b, lo, hi, err);
	return status ? status : put_bisection(b, err);
}

int tk_bisect_run_in_night(struct tk_night *n, const struct tk_bisect_request *q,
        struct tk_bisect_report *out, struct tk_error *err)
{
	struct tk_bisection b = begin(n, q, out);
	int status = tk_bisection_find_ends(&b, q, err);
	if (!status)
		status = tk_bisection_list_range(&b, err);
	if (!status)
		status = search(&b, err);
	end(&b);
	return status;
}

/* The pairs may be of the builds that the verdict is about, which must then show their size. */
static void update_verdict(struct tk_night *n, struct tk_bisect_report *r)
{
	struct tk_diff_report report = {0};
	if (r->pairs)
		tk_night_rerun_detection(n, r->night_id, &report, &r->detection_error);
	tk_diff_report_free(&report);
}

int tk_bisect_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *q,
        struct tk_bisect_report *out, struct tk_error *err)
{
	struct tk_session s;
	int status = tk_session_open(config, store, options, &s, err);
	if (!status)
		status = tk_bisect_run_in_night(&s.night, q, out, err);
	if (!status)
		update_verdict(&s.night, out);
	tk_session_close(&s);
	return status;
}

/* ---- one step of git bisect ---- */

/* Good, the revision, bad: git may test a revision that is not a first parent. */
static int list_three(struct tk_bisection *b, const struct tk_bisect_request *q, const char *rev,
        struct tk_error *err)
{
	struct tk_repo repo;
	TRY(tk_bisection_find_ends(b, q, err));
	b->last = 2;
	b->candidates = tk_calloc(3, sizeof *b->candidates);
	b->candidates[0].revision = b->report->good;
	b->candidates[2].revision = b->report->bad;
	tk_upstream_init_repo(b->n->config, b->upstream, &repo);
	return tk_repo_find_revision(&repo, rev, &b->candidates[1].revision, err);
}

static int mark_middle(struct tk_bisection *b, enum tk_bisect_mark *mark, struct tk_error *err)
{
	static const enum tk_bisect_mark marks[] = {[TK_SIDE_UNKNOWN] = TK_BISECT_MARK_SKIP,
	        [TK_SIDE_GOOD] = TK_BISECT_MARK_GOOD,
	        [TK_SIDE_BAD] = TK_BISECT_MARK_BAD,
	        [TK_SIDE_SKIPPED] = TK_BISECT_MARK_SKIP};
	int status = measure_ends(b, err);
	if (status)
		return status;
	if (!tk_ab_result_is_changed(&b->report->range_result))
		return tk_fail(err, TK_EUSAGE,
		        "good and bad do not differ on this machine; there is nothing to bisect");
	status = tk_bisection_classify(b, 1, err);
	if (!status)
		*mark = marks[b->candidates[1].side];
	return status;
}

int tk_bisect_mark_revision(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *q, const char *rev,
        enum tk_bisect_mark *mark, struct tk_bisect_report *out, struct tk_error *err)
{
	struct tk_session s;
	int status = tk_session_open(config, store, options, &s, err);
	struct tk_bisection b = begin(&s.night, q, out);
	if (!status)
		status = list_three(&b, q, rev, err);
	if (!status)
		status = mark_middle(&b, mark, err);
	end(&b);
	if (!status)
		update_verdict(&s.night, out);
	tk_session_close(&s);
	return status;
}
