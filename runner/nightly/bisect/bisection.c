/* On which side of the change a revision is: building it, and measuring it against the good one.
 *
 * A revision is bad when it has more than half of the whole change. So a range with several steps
 * still ends at one of them, and noise has to be twice as large to mislead. */
#include "nightly/bisect/bisection.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "decide/rules/ab_result.h"
#include "nightly/stages/upstream_build.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the range ---- */

static int find_series(struct tk_bisection *b, struct tk_error *err)
{
	struct tk_bisect_report *r = b->report;
	struct tk_series_row series;
	struct tk_upstream_row upstream;
	struct tk_run_row run;
	int64_t run_id;
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
	b->backend = tk_strdup(series.backend);
	if (!b->upstream || !tk_upstream_kind_is_built(b->upstream->kind))
		return tk_fail(err, TK_EUSAGE,
		        "%s: upstream %s has no revisions to bisect; only the kinds git, "
		        "package and self have",
		        r->series, r->upstream);
	return TK_OK;
}

int tk_bisection_find_ends(
        struct tk_bisection *b, const struct tk_bisect_request *q, struct tk_error *err)
{
	struct tk_repo repo;
	int status = find_series(b, err);
	if (status)
		return status;
	status = tk_upstream_check_adapter(b->n->config, b->upstream, err);
	if (status)
		return tk_error_add_context(err, "%s", b->upstream->name);
	tk_upstream_init_repo(b->n->config, b->upstream, &repo);
	status = tk_repo_find_revision(&repo, q->good, &b->report->good, err);
	if (!status)
		status = tk_repo_find_revision(&repo, q->bad, &b->report->bad, err);
	if (status == TK_ENOTFOUND)
		err->status = status = TK_EUSAGE;
	return status;
}

/* SIZE_MAX: not there. */
static size_t find_revision(const struct tk_revision *all, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].id, id) == 0)
			return i;
	return SIZE_MAX;
}

/* Indices count from the newest revision. */
static int check_range(const struct tk_bisection *b, size_t good, size_t bad, struct tk_error *err)
{
	const struct tk_bisect_report *r = b->report;
	if (good == SIZE_MAX || bad == SIZE_MAX)
		return tk_fail(err, TK_EUSAGE,
		        "%.12s is not in the first-parent history of upstream %s%s%s",
		        good == SIZE_MAX ? r->good.id : r->bad.id, b->upstream->name,
		        b->upstream->path ? " that touches " : "",
		        b->upstream->path ? b->upstream->path : "");
	if (good <= bad)
		return tk_fail(err, TK_EUSAGE,
		        "the good revision %.12s is not older than the bad one, %.12s", r->good.id,
		        r->bad.id);
	return TK_OK;
}

int tk_bisection_list_range(struct tk_bisection *b, struct tk_error *err)
{
	struct tk_repo repo;
	struct tk_revision *all = NULL;
	size_t count = 0;
	tk_upstream_init_repo(b->n->config, b->upstream, &repo);
	int status = tk_repo_list_revisions(&repo, 0, 1, 0, &all, &count, err);
	if (status)
		return status;
	size_t good = find_revision(all, count, b->report->good.id);
	size_t bad = find_revision(all, count, b->report->bad.id);
	status = check_range(b, good, bad, err);
	if (!status) {
		b->report->revisions = b->last = good - bad;
		b->candidates = tk_calloc(b->last + 1, sizeof *b->candidates);
	}
	for (size_t i = 0; !status && i <= b->last; i++)
		b->candidates[i].revision = all[good - i];
	free(all);
	return status;
}

#define CLASSIFY_PAIRS_MAX 128 /* a revision that is still undecided is skipped */

bool tk_bisection_is_budget_spent(const struct tk_bisection *b)
{
	double spent_s = (double)(tk_clock_monotonic_ns() - b->started_ns) / 1e9;
	return b->budget_s > 0 && spent_s > b->budget_s;
}

static void announce(const struct tk_bisection *b, const char *what, size_t candidate)
{
	const struct tk_revision *r = &b->candidates[candidate].revision;
	char text[200];
	snprintf(text, sizeof text, "%s %.12s %.80s", what, r->id, r->subject);
	tk_night_announce_stage(b->n, "bisect", text);
}

/* ---- build ---- */

int tk_bisection_build(struct tk_bisection *b, size_t candidate, struct tk_error *err)
{
	struct tk_bisect_candidate *c = &b->candidates[candidate];
	struct tk_error reason = {0};
	if (c->build.build_id)
		return TK_OK;
	announce(b, "build", candidate);
	int status = tk_night_build_revision(b->n, b->upstream, &c->revision, &c->build, &reason);
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", reason.message);
	if (status)
		snprintf(c->build.message, sizeof c->build.message, "%.*s",
		        (int)sizeof c->build.message - 1, reason.message);
	b->report->builds++;
	b->report->built += c->build.ok && !c->build.cached;
	if (c->build.ok)
		return TK_OK;
	b->report->builds_failed++;
	c->side = TK_SIDE_SKIPPED;
	tk_log(TK_LOG_INFO, "bisect", NULL, "%.12s does not build: %s", c->revision.id,
	        c->build.message);
	return TK_OK;
}

/* ---- machine code ---- */

/* "": unknown. */
static int read_code_hash(
        struct tk_bisection *b, int64_t build_id, char out[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	AUTO(tk_rows) kernels = {0};
	TRY(tk_store_list(b->n->store, TK_TABLE_kernel, "build_id=?1 AND backend=?2 AND name=''",
	        TK_ARGS(build_id, b->backend), &kernels, err));
	snprintf(out, TK_HASH_HEX_SIZE, "%s",
	        kernels.count ? TK_ROWS_AT(&kernels, struct tk_kernel_row, 0)->code_hash : "");
	return TK_OK;
}

static bool is_classified(const struct tk_bisect_candidate *c)
{
	return c->side == TK_SIDE_GOOD || c->side == TK_SIDE_BAD;
}

/* A revision with the machine code of a classified one is on the same side. */
static int classify_by_code(struct tk_bisection *b, size_t candidate, struct tk_error *err)
{
	struct tk_bisect_candidate *c = &b->candidates[candidate];
	char hash[TK_HASH_HEX_SIZE], other[TK_HASH_HEX_SIZE];
	int status = read_code_hash(b, c->build.build_id, hash, err);
	for (size_t k = 0; !status && *hash && k <= b->last; k++) {
		if (k == candidate || !is_classified(&b->candidates[k]))
			continue;
		status = read_code_hash(b, b->candidates[k].build.build_id, other, err);
		if (status || strcmp(hash, other) != 0)
			continue;
		c->side = b->candidates[k].side;
		b->report->same_code++;
		return TK_OK;
	}
	return status;
}

/* ---- A/B runs ---- */

int tk_bisection_compare(struct tk_bisection *b, size_t old, size_t new, const double *level,
        size_t pairs_max, struct tk_ab_result *out, struct tk_error *err)
{
	const struct tk_ab_build builds[TK_AB_SIDES] = {
	        {b->candidates[old].build.build_id, b->run_id},
	        {b->candidates[new].build.build_id, b->run_id}};
	const struct tk_ab_goal goal = {.thresholds = &b->thresholds,
	        .level = level,
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
static enum tk_bisect_side guess_side(struct tk_bisection *b, const struct tk_ab_result *p)
{
	double half_width = (log1p(p->hi) - log1p(p->lo)) / 2, middle = log1p(b->level);
	if (!isfinite(half_width) || half_width > fabs(middle) / 4)
		return TK_SIDE_SKIPPED;
	b->level = expm1(log1p(p->change) / 2);
	return TK_SIDE_BAD;
}

static int classify_by_ab_runs(struct tk_bisection *b, size_t candidate, struct tk_error *err)
{
	struct tk_bisect_candidate *c = &b->candidates[candidate];
	struct tk_ab_result result;
	int status =
	        tk_bisection_compare(b, 0, candidate, &b->level, CLASSIFY_PAIRS_MAX, &result, err);
	if (status == TK_ENOTFOUND) { /* it builds, but without this backend */
		*err = (struct tk_error){0};
		c->side = TK_SIDE_SKIPPED;
		return TK_OK;
	}
	if (status)
		return status;
	if (tk_ab_result_is_changed(&result))
		c->side = (result.decision == TK_AB_HIGHER) == (b->level > 0) ? TK_SIDE_BAD
		                                                              : TK_SIDE_GOOD;
	else if (!tk_bisection_is_budget_spent(b))
		c->side = guess_side(b, &result);
	b->report->skipped += c->side == TK_SIDE_SKIPPED;
	return TK_OK;
}

int tk_bisection_classify(struct tk_bisection *b, size_t candidate, struct tk_error *err)
{
	const struct tk_bisect_candidate *c = &b->candidates[candidate];
	TRY(tk_bisection_build(b, candidate, err));
	if (c->side == TK_SIDE_UNKNOWN)
		TRY(classify_by_code(b, candidate, err));
	if (c->side == TK_SIDE_UNKNOWN)
		TRY(classify_by_ab_runs(b, candidate, err));
	return TK_OK;
}
