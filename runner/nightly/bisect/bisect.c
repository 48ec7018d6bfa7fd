/* See bisect.h. On which side of the step a revision is, is asked by half of the whole change: so a
 * range with several steps in it still ends at one of them, and noise has to be twice as large to
 * deceive. */
#include "nightly/bisect/bisect.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "detect/rules/ab_result.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/session.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/stages/recipe.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_PAIRS_MAX 128   /* a revision that these cannot place is passed over */
#define WRONG_PER_LOOK 0.002 /* two statistics at the error of stats/paired.h */

enum side { UNKNOWN, GOOD, BAD, SKIPPED };

struct step {
	enum side side;
	struct tk_revision_build build; /* build_id 0: not asked for */
};

struct bisection {
	struct tk_night *n;
	const struct tk_upstream_config *upstream;
	struct tk_bisect_report *r;
	struct tk_detect_options thresholds;
	struct tk_revision *revs; /* [0] good .. [last] bad */
	struct step *steps;
	size_t last;
	int64_t series_id, night_id, started_ns;
	char *options, *backend;
	const char *hint;
	double budget_s, level; /* half of the whole change, a ratio - 1 */
};

/* ---- what is asked about ---- */

static int find_series(struct bisection *b, struct tk_error *err)
{
	struct tk_rows series = {0}, upstreams = {0}, points = {0};
	const struct tk_series_row *s = NULL;
	const char *name = NULL;
	int status = tk_store_list_series(b->n->store, &series, err);
	if (status == TK_OK)
		status = tk_store_list_upstreams(b->n->store, &upstreams, err);
	if (status == TK_OK)
		status =
		        tk_store_list_points(b->n->store, b->series_id, INT64_MIN, 1, &points, err);
	for (size_t i = 0; status == TK_OK && i < series.count; i++)
		if (TK_ROWS_AT(&series, struct tk_series_row, i)->id == b->series_id)
			s = TK_ROWS_AT(&series, struct tk_series_row, i);
	for (size_t i = 0; s && i < upstreams.count; i++)
		if (TK_ROWS_AT(&upstreams, struct tk_upstream_row, i)->id == s->upstream_id)
			name = TK_ROWS_AT(&upstreams, struct tk_upstream_row, i)->name;
	if (status == TK_OK && (!name || !points.count))
		status = tk_fail(err, TK_EUSAGE, "this series was never measured");
	if (status == TK_OK) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, 0);
		snprintf(b->r->series, sizeof b->r->series, "%s", s->slug);
		snprintf(b->r->upstream, sizeof b->r->upstream, "%s", name);
		b->upstream = tk_config_find_upstream(b->n->config, name);
		b->night_id = p->night_id;
		b->backend = strdup(s->backend);
		status = b->backend ? tk_night_job_options(
		                              b->n, b->series_id, p->run_id, &b->options, err)
		                    : tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (status == TK_OK && (!b->upstream || !tk_upstream_kind_has_commits(b->upstream->kind)))
		status = tk_fail(err, TK_EUSAGE,
		        "%s: upstream %s has no revisions to go through: only `git` and `self` "
		        "have",
		        b->r->series, b->r->upstream);
	tk_rows_free(&series);
	tk_rows_free(&upstreams);
	tk_rows_free(&points);
	return status;
}

static int find_ends(struct bisection *b, const struct tk_bisect_request *q, struct tk_error *err)
{
	struct tk_repo source;
	int status = tk_recipe_check_adapter(b->n->config, b->upstream, err);
	if (status != TK_OK)
		return tk_error_add_context(err, "%s", b->upstream->name);
	tk_recipe_init_repo(b->n->config, b->upstream, &source);
	status = tk_repo_find_revision(&source, q->good, &b->r->good, err);
	if (status == TK_OK)
		status = tk_repo_find_revision(&source, q->bad, &b->r->bad, err);
	if (status == TK_ENOTFOUND)
		err->status = status = TK_EUSAGE;
	return status;
}

/* The first parents from good to bad. */
static int list_range(struct bisection *b, struct tk_error *err)
{
	struct tk_repo source;
	struct tk_revision *all = NULL;
	size_t count = 0, good = SIZE_MAX, bad = SIZE_MAX;
	tk_recipe_init_repo(b->n->config, b->upstream, &source);
	int status = tk_repo_list_revisions(&source, 0, 1, 0, &all, &count, err);
	for (size_t i = 0; i < count; i++) { /* newest first */
		if (strcmp(all[i].id, b->r->good.id) == 0)
			good = i;
		if (strcmp(all[i].id, b->r->bad.id) == 0)
			bad = i;
	}
	if (status == TK_OK && (good == SIZE_MAX || bad == SIZE_MAX))
		status = tk_fail(err, TK_EUSAGE,
		        "%.12s is not in the first-parent history of upstream %s%s%s",
		        good == SIZE_MAX ? b->r->good.id : b->r->bad.id, b->upstream->name,
		        b->upstream->path ? " that touches " : "",
		        b->upstream->path ? b->upstream->path : "");
	if (status == TK_OK && good <= bad)
		status = tk_fail(err, TK_EUSAGE,
		        "the good revision %.12s is not older than the bad one, %.12s",
		        b->r->good.id, b->r->bad.id);
	if (status == TK_OK) {
		b->last = good - bad;
		b->revs = calloc(b->last + 1, sizeof *b->revs);
		b->steps = calloc(b->last + 1, sizeof *b->steps);
		if (!b->revs || !b->steps)
			status = tk_fail(err, TK_ENOMEM, "out of memory");
		for (size_t i = 0; status == TK_OK && i <= b->last; i++)
			b->revs[i] = all[good - i];
	}
	free(all);
	b->r->revisions = b->last;
	return status;
}

/* ---- one revision ---- */

static bool is_over(const struct bisection *b)
{
	return b->budget_s > 0 &&
	       (double)(tk_clock_monotonic_ns() - b->started_ns) / 1e9 > b->budget_s;
}

static void say(const struct bisection *b, const char *what, size_t i)
{
	char text[200];
	snprintf(text, sizeof text, "%s %.12s %.80s", what, b->revs[i].id, b->revs[i].subject);
	tk_night_announce_stage(b->n, "bisect", text);
}

/* What cannot be built is known not to be built: its row stays in the history. */
static int build(struct bisection *b, size_t i, struct tk_error *err)
{
	struct step *s = &b->steps[i];
	struct tk_error why = {0};
	if (s->build.build_id)
		return TK_OK;
	say(b, "build", i);
	int status = tk_night_build_revision(b->n, b->upstream, &b->revs[i], &s->build, &why);
	if (status == TK_ECANCELED || status == TK_ENOMEM || status == TK_ENOSPC)
		return tk_fail(err, status, "%s", why.message);
	if (status != TK_OK)
		snprintf(s->build.message, sizeof s->build.message, "%.*s",
		        (int)sizeof s->build.message - 1, why.message);
	b->r->builds++;
	b->r->built += s->build.ok && !s->build.cached;
	if (!s->build.ok) {
		b->r->builds_failed++;
		s->side = SKIPPED;
		tk_log(TK_LOG_INFO, "bisect", NULL, "%.12s does not build: %s", b->revs[i].id,
		        s->build.message);
	}
	return TK_OK;
}

static int code_hash(
        struct bisection *b, int64_t build_id, char out[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_rows kernels = {0};
	int status = tk_store_list_kernels(b->n->store, build_id, &kernels, err);
	out[0] = '\0';
	for (size_t i = 0; status == TK_OK && i < kernels.count; i++) {
		const struct tk_kernel_row *k = TK_ROWS_AT(&kernels, struct tk_kernel_row, i);
		if (!*k->name && strcmp(k->backend, b->backend) == 0)
			snprintf(out, TK_HASH_HEX_SIZE, "%s", k->code_hash);
	}
	tk_rows_free(&kernels);
	return status;
}

/* The same machine code as a revision that is placed already: nothing need be measured. */
static int place_by_code(struct bisection *b, size_t i, struct tk_error *err)
{
	char own[TK_HASH_HEX_SIZE], other[TK_HASH_HEX_SIZE];
	int status = code_hash(b, b->steps[i].build.build_id, own, err);
	for (size_t k = 0; status == TK_OK && *own && k <= b->last && b->steps[i].side == UNKNOWN;
	        k++) {
		if (k == i || (b->steps[k].side != GOOD && b->steps[k].side != BAD))
			continue;
		status = code_hash(b, b->steps[k].build.build_id, other, err);
		if (status == TK_OK && strcmp(own, other) == 0) {
			b->steps[i].side = b->steps[k].side;
			b->r->same_code++;
		}
	}
	return status;
}

static int open_trial(
        struct bisection *b, size_t old, size_t new, struct tk_ab_test *t, struct tk_error *err)
{
	struct tk_ab_test_spec spec = {.night_id = b->night_id,
	        .series_id = b->series_id,
	        .good_build_id = b->steps[old].build.build_id,
	        .bad_build_id = b->steps[new].build.build_id,
	        .good_options = b->options,
	        .bad_options = b->options};
	return tk_ab_test_open(b->n, &spec, t, err);
}

/* Pairs of two revisions until they differ, or do not; with a level, until they are on one side of
 * it. */
static int compare(struct bisection *b, size_t old, size_t new, const double *level, size_t most,
        struct tk_ab_result *out, struct tk_error *err)
{
	struct tk_ab_test t;
	int status = open_trial(b, old, new, &t, err);
	say(b, "measure", new);
	while (status == TK_OK) {
		int rc = level ? tk_ab_result_compare_level(t.rows, t.count, *level, out)
		               : tk_ab_result_evaluate(t.rows, t.count, &b->thresholds, out);
		if (rc != TK_OK)
			status = tk_fail(err, TK_ENOMEM, "out of memory");
		if (rc != TK_OK || out->decision > TK_AB_INCONCLUSIVE || t.timed >= most ||
		        t.failed_in_a_row >= TK_AB_FAILURES_MAX || is_over(b))
			break;
		status = tk_ab_test_run_pair(b->n, &t, err);
	}
	b->r->comparisons++;
	b->r->pairs += t.count;
	tk_ab_test_close(&t);
	return status;
}

/* Where pairs cannot tell on which side of the middle it is, because it is there (two steps of one
 * size), but tell that it is at neither end, either half has a step. */
static enum side lean(const struct bisection *b, const struct tk_ab_result *p)
{
	double half = (log1p(p->hi) - log1p(p->lo)) / 2, middle = log1p(b->level);
	if (!isfinite(half) || half > fabs(middle) / 4)
		return SKIPPED;
	return fabs(log1p(p->change)) > fabs(middle) ? BAD : GOOD;
}

static int place(struct bisection *b, size_t i, struct tk_error *err)
{
	struct step *s = &b->steps[i];
	struct tk_ab_result p;
	int status = build(b, i, err);
	if (status == TK_OK && s->side == UNKNOWN)
		status = place_by_code(b, i, err);
	if (status != TK_OK || s->side != UNKNOWN)
		return status;
	status = compare(b, 0, i, &b->level, SIDE_PAIRS_MAX, &p, err);
	if (status == TK_ENOTFOUND) { /* it builds, but without this backend */
		*err = (struct tk_error){0};
		s->side = SKIPPED;
		return TK_OK;
	}
	if (status != TK_OK)
		return status;
	if (tk_ab_result_is_changed(&p))
		s->side = (p.decision == TK_AB_HIGHER) == (b->level > 0) ? BAD : GOOD;
	else if (!is_over(b))
		s->side = lean(b, &p);
	b->r->skipped += s->side == SKIPPED;
	return TK_OK;
}

/* ---- the whole range ---- */

/* The one nearest to the middle of (lo, hi) that was not passed over; 0: none. */
static size_t middle_of(const struct bisection *b, size_t lo, size_t hi)
{
	size_t middle = lo + (hi - lo) / 2;
	for (size_t away = 0; away < hi - lo; away++) {
		if (middle + away < hi && b->steps[middle + away].side != SKIPPED)
			return middle + away;
		if (middle > lo + away && b->steps[middle - away].side != SKIPPED)
			return middle - away;
	}
	return 0;
}

static int prepare_ends(struct bisection *b, struct tk_error *err)
{
	int status = build(b, 0, err);
	if (status == TK_OK)
		status = build(b, b->last, err);
	for (int end = 0; status == TK_OK && end < 2; end++) {
		const size_t i = end ? b->last : 0;
		if (!b->steps[i].build.ok)
			status = tk_fail(err, TK_EUSAGE, "the %s revision %.12s does not build: %s",
			        end ? "bad" : "good", b->revs[i].id, b->steps[i].build.message);
	}
	if (status == TK_OK)
		status = compare(b, 0, b->last, NULL, TK_AB_PAIRS_MAX, &b->r->whole, err);
	b->steps[0].side = GOOD;
	b->steps[b->last].side = BAD;
	b->level = expm1(log1p(b->r->whole.change) / 2);
	return status;
}

/* The revision that is asked next: the hint and the one before it, then the middle. 0: none is
 * left. */
static size_t next_of(const struct bisection *b, size_t lo, size_t hi)
{
	for (size_t i = hi; b->hint && i-- > lo + 1;)
		if (b->steps[i].side == UNKNOWN && (strcmp(b->revs[i].id, b->hint) == 0 ||
		                                           strcmp(b->revs[i + 1].id, b->hint) == 0))
			return i;
	return middle_of(b, lo, hi);
}

static int halve(struct bisection *b, size_t *lo, size_t *hi, struct tk_error *err)
{
	int status = TK_OK;
	*lo = 0;
	*hi = b->last;
	while (status == TK_OK && *hi - *lo > 1 && !is_over(b)) {
		size_t i = next_of(b, *lo, *hi);
		if (!i)
			break;
		status = place(b, i, err);
		if (status == TK_OK && b->steps[i].side == GOOD)
			*lo = i;
		else if (status == TK_OK && b->steps[i].side == BAD)
			*hi = i;
	}
	return status;
}

/* The neighbours of the step are measured against each other: that is the proof, and the size of
 * it. */
static int conclude(struct bisection *b, size_t lo, size_t hi, struct tk_error *err)
{
	struct tk_bisect_report *r = b->r;
	r->last_good = b->revs[lo];
	r->first_bad = b->revs[hi];
	r->left = hi - lo;
	r->word = hi - lo == 1 ? TK_BISECT_FOUND : TK_BISECT_RANGE;
	if (hi - lo > 1 && middle_of(b, lo, hi)) {
		r->word = TK_BISECT_INCONCLUSIVE;
		snprintf(r->why, sizeof r->why, "the budget was spent with %zu revisions left",
		        hi - lo);
		return TK_OK;
	}
	if (hi - lo > 1)
		snprintf(r->why, sizeof r->why,
		        "one of %zu revisions: those before %.12s do not build or cannot be "
		        "measured",
		        hi - lo, r->first_bad.id);
	int status = lo == 0 && hi == b->last
	                     ? TK_OK
	                     : compare(b, lo, hi, NULL, TK_AB_PAIRS_MAX, &r->step, err);
	if (lo == 0 && hi == b->last)
		r->step = r->whole;
	if (status != TK_OK)
		return status;
	if (r->step.decision <= TK_AB_INCONCLUSIVE && (!r->step.count || is_over(b))) {
		r->word = TK_BISECT_INCONCLUSIVE;
		snprintf(r->why, sizeof r->why, "the last two are not told apart: %s",
		        is_over(b) ? "the budget was spent" : "no pair of them has timings");
		return TK_OK;
	}
	bool agrees =
	        tk_ab_result_is_changed(&r->step) && (r->step.change > 0) == (r->whole.change > 0);
	r->confidence = agrees ? pow(1 - WRONG_PER_LOOK, (double)r->comparisons) : 0.5;
	if (!agrees)
		snprintf(r->why, sizeof r->why,
		        "its neighbour before it does not differ from it as the ends of the range "
		        "do: not sure");
	return TK_OK;
}

static int store_culprit(const struct bisection *b, struct tk_error *err)
{
	const struct tk_bisect_report *r = b->r;
	bool named = r->word == TK_BISECT_FOUND || r->word == TK_BISECT_RANGE;
	struct tk_bisection_row row = {.series_id = b->series_id,
	        .night_id = b->night_id,
	        .good_rev = r->good.id,
	        .bad_rev = r->bad.id,
	        .outcome = r->word,
	        .first_bad_rev = named ? r->first_bad.id : "",
	        .last_good_rev = named ? r->last_good.id : "",
	        .subject = named ? r->first_bad.subject : "",
	        .author = named ? r->first_bad.author : "",
	        .author_time_s = named ? r->first_bad.author_time_s : 0,
	        .change = named ? r->step.change : NAN,
	        .change_lo = named ? r->step.lo : NAN,
	        .change_hi = named ? r->step.hi : NAN,
	        .confidence = named ? r->confidence : NAN,
	        .build_count = (int64_t)r->builds,
	        .failed_build_count = (int64_t)r->builds_failed,
	        .comparison_count = (int64_t)r->comparisons,
	        .pair_count = (int64_t)r->pairs,
	        .finished_s = tk_clock_now_s()};
	return tk_store_put_bisection(b->n->store, &row, err);
}

static int search(struct bisection *b, struct tk_error *err)
{
	struct tk_bisect_report *r = b->r;
	size_t lo, hi;
	int status = prepare_ends(b, err);
	if (status != TK_OK)
		return status;
	if (r->whole.decision != TK_AB_HIGHER && r->whole.decision != TK_AB_LOWER) {
		char text[TK_AB_RESULT_TEXT_SIZE];
		r->word = r->whole.decision == TK_AB_SAME ? TK_BISECT_NO_CHANGE
		                                          : TK_BISECT_INCONCLUSIVE;
		r->left = b->last;
		snprintf(r->why, sizeof r->why, "A/B runs of good and bad %s: %s",
		        r->whole.decision == TK_AB_SAME ? "show no change" : "are inconclusive",
		        tk_ab_result_format(&r->whole, text));
		return store_culprit(b, err);
	}
	status = halve(b, &lo, &hi, err);
	if (status == TK_OK)
		status = conclude(b, lo, hi, err);
	return status == TK_OK ? store_culprit(b, err) : status;
}

static int prepare(struct bisection *b, const struct tk_bisect_request *q, struct tk_error *err)
{
	int status = find_series(b, err);
	if (status == TK_OK)
		status = find_ends(b, q, err);
	return status == TK_OK ? list_range(b, err) : status;
}

static struct bisection begin(
        struct tk_night *n, const struct tk_bisect_request *q, struct tk_bisect_report *out)
{
	*out = (struct tk_bisect_report){0};
	return (struct bisection){.n = n,
	        .r = out,
	        .thresholds = tk_detect_policy_thresholds(n->config),
	        .series_id = q->series_id,
	        .started_ns = tk_clock_monotonic_ns(),
	        .hint = q->hint,
	        .budget_s = q->budget_s};
}

static void end(struct bisection *b)
{
	b->r->night_id = b->night_id;
	b->r->wall_s = (double)(tk_clock_monotonic_ns() - b->started_ns) / 1e9;
	free(b->revs);
	free(b->steps);
	free(b->options);
	free(b->backend);
}

int tk_bisect_run_in_night(struct tk_night *n, const struct tk_bisect_request *q,
        struct tk_bisect_report *out, struct tk_error *err)
{
	struct bisection b = begin(n, q, out);
	int status = prepare(&b, q, err);
	if (status == TK_OK)
		status = search(&b, err);
	end(&b);
	return status;
}

/* Its pairs are of builds that a verdict is about: whoever asks for the size is told one. */
static void judge_again(struct tk_night *n, struct tk_bisect_report *r)
{
	struct tk_diff_report report = {0};
	if (r->pairs)
		tk_night_rerun_detection(n, r->night_id, &report, &r->unjudged);
	tk_diff_report_free(&report);
}

int tk_bisect_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *q,
        struct tk_bisect_report *out, struct tk_error *err)
{
	struct tk_session s;
	int status = tk_session_open(config, store, options, &s, err);
	if (status == TK_OK)
		status = tk_bisect_run_in_night(&s.night, q, out, err);
	if (status == TK_OK)
		judge_again(&s.night, out);
	tk_session_close(&s);
	return status;
}

/* ---- one step of git's own bisection ---- */

/* Three revisions: git may ask for one that is no first parent. */
static int take_three(struct bisection *b, const struct tk_bisect_request *q, const char *rev,
        struct tk_error *err)
{
	struct tk_repo source;
	int status = find_series(b, err);
	if (status == TK_OK)
		status = find_ends(b, q, err);
	b->last = 2;
	b->revs = calloc(3, sizeof *b->revs);
	b->steps = calloc(3, sizeof *b->steps);
	if (status == TK_OK && (!b->revs || !b->steps))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (status != TK_OK)
		return status;
	tk_recipe_init_repo(b->n->config, b->upstream, &source);
	b->revs[0] = b->r->good;
	b->revs[2] = b->r->bad;
	return tk_repo_find_revision(&source, rev, &b->revs[1], err);
}

int tk_bisect_mark_revision(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *q, const char *rev,
        enum tk_bisect_mark *side, struct tk_bisect_report *out, struct tk_error *err)
{
	static const enum tk_bisect_mark sides[] = {
	        TK_BISECT_MARK_SKIP, TK_BISECT_MARK_GOOD, TK_BISECT_MARK_BAD, TK_BISECT_MARK_SKIP};
	struct tk_session s;
	int status = tk_session_open(config, store, options, &s, err);
	struct bisection b = begin(&s.night, q, out);
	if (status == TK_OK)
		status = take_three(&b, q, rev, err);
	if (status == TK_OK)
		status = prepare_ends(&b, err);
	if (status == TK_OK && out->whole.decision != TK_AB_HIGHER &&
	        out->whole.decision != TK_AB_LOWER)
		status = tk_fail(err, TK_EUSAGE,
		        "good and bad do not differ here: there is nothing to look for");
	if (status == TK_OK)
		status = place(&b, 1, err);
	if (status == TK_OK)
		*side = sides[b.steps[1].side];
	end(&b);
	if (status == TK_OK)
		judge_again(&s.night, out);
	tk_session_close(&s);
	return status;
}
