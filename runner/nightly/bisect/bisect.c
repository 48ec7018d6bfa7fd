/* A revision is bad when it has more than half of the whole change. So a range with several steps
 * still ends at one of them, and noise has to be twice as large to mislead. */
#include "nightly/bisect/bisect.h"
#include "decide/rules/ab_result.h"
#include "nightly/compare/ab_test.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/stages/upstream_build.h"
#include <math.h>

enum bisect_side { SIDE_UNKNOWN, SIDE_GOOD, SIDE_BAD, SIDE_SKIPPED };

struct candidate {
	struct tk_revision revision;
	enum bisect_side side;
	int64_t build_id; /* 0: not requested yet */
	bool ok;          /* the build */
	enum tk_build_status status;
	char message[256]; /* why it failed */
};

struct bisection {
	struct tk_night *n;
	const struct tk_upstream_config *upstream;
	struct tk_repo repo;
	struct tk_bisect_report *report;
	struct candidate *candidates; /* [0] is good, [last] is bad */
	size_t last;
	int64_t series_id, night_id, started_ns, run_id; /* run_id: newest; all are measured so */
	const char *backend, *hint;
	double budget_s, level; /* level: half of the change between good and bad, as a ratio - 1 */
	bool is_by_build;       /* the series failed because its kernel was not built */
};

/* ---- the range ---- */

static int find_series(struct bisection *b, struct tk_error *err)
{
	struct tk_bisect_report *r = b->report;
	struct tk_series_row series;
	struct tk_upstream_row upstream;
	struct tk_run_row run;
	int64_t run_id, is_not_built;
	TRY(tk_store_get(b->n->store, TK_TABLE_series, b->series_id, &series, err));
	TRY(tk_store_get(b->n->store, TK_TABLE_upstream, series.upstream_id, &upstream, err));
	TRY(tk_store_select_int(b->n->store,
	        "SELECT run_id FROM measurement WHERE series_id=?1"
	        " ORDER BY as_of_s DESC, run_id DESC LIMIT 1",
	        TK_ARGS(b->series_id), 0, &run_id, err));
	if (!run_id)
		return tk_fail(err, TK_EUSAGE, "this series has no measurements");
	TRY(tk_store_get(b->n->store, TK_TABLE_run, run_id, &run, err));
	snprintf(r->series, sizeof r->series, "%s", series.slug);
	snprintf(r->upstream, sizeof r->upstream, "%s", upstream.name);
	b->upstream = tk_config_find_upstream(b->n->config, upstream.name);
	b->night_id = run.night_id;
	b->run_id = run_id;
	b->backend = series.backend;
	TRY(tk_store_select_int(b->n->store,
	        "SELECT outcome='build_failed' FROM run WHERE series_id=?1"
	        " ORDER BY as_of_s DESC, id DESC LIMIT 1",
	        TK_ARGS(b->series_id), 0, &is_not_built, err));
	b->is_by_build = is_not_built;
	if (!b->upstream || !tk_upstream_kind_is_built(b->upstream->kind))
		return tk_fail(err, TK_EUSAGE,
		        "%s: upstream %s has no revisions to bisect; only the kinds git, "
		        "package and self have",
		        r->series, r->upstream);
	return TK_OK;
}

static int find_ends(struct bisection *b, const struct tk_bisect_request *q, struct tk_error *err)
{
	TRY(find_series(b, err));
	if (tk_upstream_check_adapter(b->n->config, b->upstream, err))
		return tk_error_add_context(err, "%s", b->upstream->name);
	tk_upstream_init_repo(b->n->config, b->upstream, &b->repo);
	int status = tk_repo_find_revision(&b->repo, q->good, &b->report->good, err);
	if (!status)
		status = tk_repo_find_revision(&b->repo, q->bad, &b->report->bad, err);
	return status == TK_ENOTFOUND ? err->status = TK_EUSAGE : status;
}

/* SIZE_MAX: not there. */
static size_t find_revision(const struct tk_revision *all, size_t count, const char *id)
{
	size_t i = 0;
	while (i < count && strcmp(all[i].id, id) != 0)
		i++;
	return i < count ? i : SIZE_MAX;
}

/* Indices count from the newest revision. */
static int check_range(const struct bisection *b, size_t good, size_t bad, struct tk_error *err)
{
	const struct tk_bisect_report *r = b->report;
	const char *path = b->upstream->path;
	if (good == SIZE_MAX || bad == SIZE_MAX)
		return tk_fail(err, TK_EUSAGE,
		        "%.12s is not in the first-parent history of upstream %s%s%s",
		        good == SIZE_MAX ? r->good.id : r->bad.id, b->upstream->name,
		        path ? " that touches " : "", path ? path : "");
	if (good <= bad)
		return tk_fail(err, TK_EUSAGE,
		        "the good revision %.12s is not older than the bad one, %.12s", r->good.id,
		        r->bad.id);
	return TK_OK;
}

static int list_range(struct bisection *b, struct tk_error *err)
{
	struct tk_revision *all = NULL;
	size_t count = 0;
	TRY(tk_repo_list_revisions(&b->repo, 0, 0, &all, &count, err));
	size_t good = find_revision(all, count, b->report->good.id);
	size_t bad = find_revision(all, count, b->report->bad.id);
	int status = check_range(b, good, bad, err);
	if (!status) {
		b->report->revisions = b->last = good - bad;
		b->candidates = tk_calloc(b->last + 1, sizeof *b->candidates);
		for (size_t i = 0; i <= b->last; i++)
			b->candidates[i].revision = all[good - i];
	}
	free(all);
	return status;
}

#define CLASSIFY_PAIRS_MAX 128 /* a revision that is still undecided is skipped */

static double spent_s(const struct bisection *b)
{
	return (double)(tk_clock_monotonic_ns() - b->started_ns) / 1e9;
}

static bool is_budget_spent(const struct bisection *b)
{
	return b->budget_s > 0 && spent_s(b) > b->budget_s;
}

static void announce(const struct bisection *b, const char *what, size_t candidate)
{
	const struct tk_revision *r = &b->candidates[candidate].revision;
	char text[200];
	snprintf(text, sizeof text, "%s %.12s %.80s", what, r->id, r->subject);
	tk_night_announce_stage(b->n, "bisect", text);
}

/* ---- build ---- */

/* Builds it, or takes it from the cache, and stores the build, also a failed one. */
static int build_revision(struct bisection *b, struct candidate *c, struct tk_error *err)
{
	struct tk_night_upstream u = {.config = b->upstream};
	TRY(tk_night_put_revision(b->n, &u, &c->revision, err));
	int status = tk_night_build_upstream(b->n, &u, err);
	const struct tk_artifact *a = u.artifacts[0];
	if (!status) {
		c->build_id = u.build_id;
		c->status = a->status;
		c->ok = tk_build_status_is_usable(a->status);
		b->report->built += c->ok && !a->cached;
		snprintf(c->message, sizeof c->message, "%.255s", a->message ? a->message : "");
	}
	for (size_t i = 0; i < u.artifact_count; i++)
		tk_artifact_free(u.artifacts[i]);
	return status;
}

static int build_candidate(struct bisection *b, size_t candidate, struct tk_error *err)
{
	struct candidate *c = &b->candidates[candidate];
	struct tk_error reason = {0};
	if (c->build_id)
		return TK_OK;
	announce(b, "build", candidate);
	int status = build_revision(b, c, &reason);
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", reason.message);
	if (status)
		snprintf(c->message, sizeof c->message, "%.255s", reason.message);
	b->report->builds++;
	if (c->ok)
		return TK_OK;
	b->report->builds_failed++;
	c->side = SIDE_SKIPPED;
	tk_log(TK_LOG_INFO, "bisect", NULL, "%.12s does not build: %s", c->revision.id, c->message);
	return TK_OK;
}

/* ---- machine code ---- */

/* A revision with the machine code of a classified one is on the same side. */
static int classify_by_code(struct bisection *b, size_t candidate, struct tk_error *err)
{
	struct candidate *c = &b->candidates[candidate];
	for (size_t k = 0; k <= b->last; k++) {
		const struct candidate *other = &b->candidates[k];
		int64_t is_same;
		if (k == candidate || other->side == SIDE_UNKNOWN || other->side == SIDE_SKIPPED)
			continue;
		TRY(tk_store_select_int(b->n->store,
		        "SELECT 1 FROM kernel a JOIN kernel b USING (backend, name, code_hash)"
		        " WHERE a.build_id=?1 AND b.build_id=?2 AND backend=?3 AND name=''"
		        " AND code_hash<>''",
		        TK_ARGS(c->build_id, other->build_id, b->backend), 0, &is_same, err));
		if (!is_same)
			continue;
		c->side = other->side;
		b->report->same_code++;
		return TK_OK;
	}
	return TK_OK;
}

/* ---- A/B runs ---- */

static int compare(struct bisection *b, size_t old, size_t new, const double *level,
        size_t pairs_max, struct tk_ab_result *out, struct tk_error *err)
{
	const struct tk_ab_build builds[TK_AB_SIDES] = {
	        {b->candidates[old].build_id, b->run_id}, {b->candidates[new].build_id, b->run_id}};
	const struct tk_ab_goal goal = {.level = level,
	        .pairs_max = pairs_max,
	        .deadline_ns = b->budget_s > 0 ? b->started_ns + (int64_t)(b->budget_s * 1e9) : 0};
	struct tk_ab_test t;
	int status = tk_ab_test_open(b->n, b->night_id, b->series_id, builds, &t, err);
	announce(b, "measure", new);
	if (!status)
		status = tk_ab_test_run(b->n, &t, &goal, out, err);
	b->report->comparisons++;
	b->report->pairs += t.count;
	tk_ab_test_close(&t);
	return status;
}

/* Between two steps of the same size, a revision is at the level itself, and pairs cannot decide.
 * Where they still show that it is at neither end, both halves have a step. It is then the bad end
 * of what is left, and the level is half of its own change: other revisions between the same steps
 * must not be guessed to be on the other side, where no step is. */
static enum bisect_side guess_side(struct bisection *b, const struct tk_ab_result *p)
{
	double half_width = (log1p(p->hi) - log1p(p->lo)) / 2, middle = log1p(b->level);
	if (!isfinite(half_width) || half_width > fabs(middle) / 4)
		return SIDE_SKIPPED;
	b->level = expm1(log1p(p->change) / 2);
	return SIDE_BAD;
}

static int classify_by_ab_runs(struct bisection *b, size_t candidate, struct tk_error *err)
{
	struct candidate *c = &b->candidates[candidate];
	struct tk_ab_result result;
	int status = compare(b, 0, candidate, &b->level, CLASSIFY_PAIRS_MAX, &result, err);
	if (status == TK_ENOTFOUND) { /* it builds, but without this backend */
		*err = (struct tk_error){0};
		c->side = SIDE_SKIPPED;
		return TK_OK;
	}
	if (status)
		return status;
	if (tk_ab_result_is_changed(&result))
		c->side =
		        (result.decision == TK_AB_HIGHER) == (b->level > 0) ? SIDE_BAD : SIDE_GOOD;
	else if (!is_budget_spent(b))
		c->side = guess_side(b, &result);
	b->report->skipped += c->side == SIDE_SKIPPED;
	return TK_OK;
}

/* Bad, as the bad end is: its build is worse than that of the good end. */
static void classify_by_build(struct bisection *b, struct candidate *c)
{
	if (!c->build_id)
		c->side = SIDE_SKIPPED;
	else
		c->side = c->status > b->candidates[0].status ? SIDE_BAD : SIDE_GOOD;
}

static int classify(struct bisection *b, size_t candidate, struct tk_error *err)
{
	struct candidate *c = &b->candidates[candidate];
	TRY(build_candidate(b, candidate, err));
	if (b->is_by_build) {
		classify_by_build(b, c);
		return TK_OK;
	}
	if (c->side == SIDE_UNKNOWN)
		TRY(classify_by_code(b, candidate, err));
	if (c->side == SIDE_UNKNOWN)
		TRY(classify_by_ab_runs(b, candidate, err));
	return TK_OK;
}

/* ---- the search ---- */

#define ERROR_PER_COMPARISON 0.002 /* two statistics, each at the error of stats/compare.h */

static struct bisection begin(
        struct tk_night *n, const struct tk_bisect_request *q, struct tk_bisect_report *report)
{
	*report = (struct tk_bisect_report){0};
	return (struct bisection){.n = n,
	        .report = report,
	        .series_id = q->series_id,
	        .started_ns = tk_clock_monotonic_ns(),
	        .hint = q->hint,
	        .budget_s = q->budget_s};
}

static void end(struct bisection *b)
{
	b->report->night_id = b->night_id;
	b->report->wall_s = spent_s(b);
	free(b->candidates);
}

/* ---- the ends ---- */

static int measure_ends(struct bisection *b, struct tk_error *err)
{
	struct tk_ab_result *range = &b->report->range_result;
	for (int k = 0; k < 2; k++) {
		const struct candidate *c = &b->candidates[k ? b->last : 0];
		TRY(build_candidate(b, k ? b->last : 0, err));
		if (!c->ok)
			return tk_fail(err, TK_EUSAGE, "the %s revision %.12s does not build: %s",
			        k ? "bad" : "good", c->revision.id, c->message);
	}
	TRY(compare(b, 0, b->last, NULL, TK_AB_PAIRS_MAX, range, err));
	b->candidates[0].side = SIDE_GOOD;
	b->candidates[b->last].side = SIDE_BAD;
	b->level = expm1(log1p(range->change) / 2);
	return TK_OK;
}

/* ---- halving ---- */

/* The candidate nearest to the middle of (lo, hi) that is not skipped; 0: none. */
static size_t find_middle(const struct bisection *b, size_t lo, size_t hi)
{
	size_t middle = lo + (hi - lo) / 2;
	for (size_t away = 0; away < hi - lo; away++) {
		if (middle + away < hi && b->candidates[middle + away].side != SIDE_SKIPPED)
			return middle + away;
		if (middle > lo + away && b->candidates[middle - away].side != SIDE_SKIPPED)
			return middle - away;
	}
	return 0;
}

static bool has_id(const struct bisection *b, size_t candidate, const char *id)
{
	return strcmp(b->candidates[candidate].revision.id, id) == 0;
}

/* The hint and its parent come first: if the hint is right, they end the search. 0: none is
 * left. */
static size_t choose_next(const struct bisection *b, size_t lo, size_t hi)
{
	for (size_t i = hi; b->hint && i-- > lo + 1;)
		if (b->candidates[i].side == SIDE_UNKNOWN &&
		        (has_id(b, i, b->hint) || has_id(b, i + 1, b->hint)))
			return i;
	return find_middle(b, lo, hi);
}

static int halve(struct bisection *b, size_t *lo, size_t *hi, struct tk_error *err)
{
	*lo = 0;
	*hi = b->last;
	while (*hi - *lo > 1 && !is_budget_spent(b)) {
		size_t i = choose_next(b, *lo, *hi);
		if (!i)
			break;
		TRY(classify(b, i, err));
		if (b->candidates[i].side == SIDE_GOOD)
			*lo = i;
		else if (b->candidates[i].side == SIDE_BAD)
			*hi = i;
	}
	return TK_OK;
}

/* ---- the result ---- */

static void name_candidates(struct bisection *b, size_t lo, size_t hi)
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

static void set_confidence(struct bisection *b)
{
	struct tk_bisect_report *r = b->report;
	const struct tk_ab_result *step = &r->step_result;
	bool is_spent = is_budget_spent(b);
	if (step->decision <= TK_AB_INCONCLUSIVE && (!step->count || is_spent)) {
		r->outcome = TK_BISECT_INCONCLUSIVE;
		snprintf(r->explanation, sizeof r->explanation,
		        "the last two revisions could not be compared: %s",
		        is_spent ? "the budget was spent" : "no pair has timings");
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

static int conclude(struct bisection *b, size_t lo, size_t hi, struct tk_error *err)
{
	name_candidates(b, lo, hi);
	if (b->report->outcome == TK_BISECT_INCONCLUSIVE)
		return TK_OK;
	/* last_good against first_bad: this proves the step and gives its size */
	if (lo == 0 && hi == b->last)
		b->report->step_result = b->report->range_result;
	else
		TRY(compare(b, lo, hi, NULL, TK_AB_PAIRS_MAX, &b->report->step_result, err));
	set_confidence(b);
	return TK_OK;
}

static void conclude_without_change(struct bisection *b)
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

static int put_bisection(const struct bisection *b, struct tk_error *err)
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

/* A build failure: no measurement, and no doubt. */
static int search_by_build(struct bisection *b, struct tk_error *err)
{
	size_t lo, hi;
	for (int k = 0; k < 2; k++)
		TRY(build_candidate(b, k ? b->last : 0, err));
	const struct candidate *good = &b->candidates[0], *bad = &b->candidates[b->last];
	if (!good->ok || !bad->build_id || bad->status <= good->status)
		return tk_fail(err, TK_EUSAGE,
		        "the good revision %.12s builds no better than the bad one, %.12s: %s",
		        good->revision.id, bad->revision.id,
		        good->ok ? "both build" : good->message);
	b->candidates[0].side = SIDE_GOOD;
	b->candidates[b->last].side = SIDE_BAD;
	TRY(halve(b, &lo, &hi, err));
	name_candidates(b, lo, hi);
	b->report->step_result.change = b->report->step_result.lo = b->report->step_result.hi = NAN;
	b->report->confidence = 1;
	if (b->report->outcome == TK_BISECT_FOUND)
		snprintf(b->report->explanation, sizeof b->report->explanation, "its build: %.200s",
		        b->candidates[hi].message);
	return put_bisection(b, err);
}

static int search(struct bisection *b, struct tk_error *err)
{
	size_t lo, hi;
	if (b->is_by_build)
		return search_by_build(b, err);
	TRY(measure_ends(b, err));
	if (tk_ab_result_is_changed(&b->report->range_result)) {
		TRY(halve(b, &lo, &hi, err));
		TRY(conclude(b, lo, hi, err));
	} else {
		conclude_without_change(b);
	}
	return put_bisection(b, err);
}

int tk_bisect_run_in_night(struct tk_night *n, const struct tk_bisect_request *q,
        struct tk_bisect_report *out, struct tk_error *err)
{
	struct bisection b = begin(n, q, out);
	int status = find_ends(&b, q, err);
	if (!status)
		status = list_range(&b, err);
	if (!status)
		status = search(&b, err);
	end(&b);
	return status;
}

/* The pairs may be of the builds that the verdict is about, which must then show their size. */
static void update_verdict(struct tk_night *n, struct tk_bisect_report *r)
{
	AUTO(tk_diff_report) report = {0};
	if (r->pairs)
		tk_night_rerun_detection(n, r->night_id, &report, &r->detection_error);
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
static int list_three(struct bisection *b, const struct tk_bisect_request *q, const char *rev,
        struct tk_error *err)
{
	TRY(find_ends(b, q, err));
	b->last = 2;
	b->candidates = tk_calloc(3, sizeof *b->candidates);
	b->candidates[0].revision = b->report->good;
	b->candidates[2].revision = b->report->bad;
	return tk_repo_find_revision(&b->repo, rev, &b->candidates[1].revision, err);
}

static int mark_middle(struct bisection *b, enum tk_bisect_mark *mark, struct tk_error *err)
{
	static const enum tk_bisect_mark marks[] = {[SIDE_UNKNOWN] = TK_BISECT_MARK_SKIP,
	        [SIDE_GOOD] = TK_BISECT_MARK_GOOD,
	        [SIDE_BAD] = TK_BISECT_MARK_BAD,
	        [SIDE_SKIPPED] = TK_BISECT_MARK_SKIP};
	TRY(measure_ends(b, err));
	if (!tk_ab_result_is_changed(&b->report->range_result))
		return tk_fail(err, TK_EUSAGE,
		        "good and bad do not differ on this machine; there is nothing to bisect");
	TRY(classify(b, 1, err));
	*mark = marks[b->candidates[1].side];
	return TK_OK;
}

int tk_bisect_mark_revision(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *q, const char *rev,
        enum tk_bisect_mark *mark, struct tk_bisect_report *out, struct tk_error *err)
{
	struct tk_session s;
	int status = tk_session_open(config, store, options, &s, err);
	struct bisection b = begin(&s.night, q, out);
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
