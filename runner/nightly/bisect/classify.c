/* On which side of the change a revision is: building it, and measuring it against the good one.
 *
 * A revision is bad when it has more than half of the whole change. So a range with several steps
 * still ends at one of them, and noise has to be twice as large to mislead. */
#include "base/clock.h"
#include "base/log.h"
#include "base/try.h"
#include "decide/rules/ab_result.h"
#include "nightly/bisect/bisection.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

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
