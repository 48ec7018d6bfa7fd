/* See tune.h. */
#include "nightly/tune/tune.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "detect/rules/ab_result.h"
#include "nightly/session.h"
#include "nightly/tune/tune_race.h"
#include "nightly/tune/tune_store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RACE_SHARE 0.5 /* of the budget; the rest is for the A/B runs */

/* Both sides are the same build: they differ in the configuration, which the race finds. */
static struct tk_ab_request make_request(
        const struct tk_config *config, const struct tk_tune_request *q)
{
	const struct tk_upstream_config *u = tk_config_find_upstream(config, q->target);
	bool is_built = u && tk_upstream_kind_is_built(u->kind);
	const char *revision = q->revision ? q->revision : "HEAD";
	const char *side = is_built ? revision : q->target;
	struct tk_ab_request request = q->ab;
	request.upstream = is_built ? q->target : NULL;
	request.side[TK_AB_BASE] = request.side[TK_AB_HEAD] = side;
	request.all = true;
	request.first_pairs = TK_AB_RESULT_LAST_COUNT_MIN;
	return request;
}

static void name_sides(struct tk_ab_report *r)
{
	static const char *const names[TK_AB_SIDES] = {"default", "winner"};
	for (int k = 0; k < TK_AB_SIDES; k++) {
		r->side[k].name = names[k];
		r->side[k].option = "";
	}
}

/* ---- races ---- */

/* Each race may use its share of the time that is left for races. */
static int64_t race_deadline_ns(const struct tk_tune_request *q, int64_t end_ns, size_t races_left)
{
	int64_t now_ns = tk_clock_monotonic_ns();
	return q->ab.budget_s > 0 ? now_ns + (end_ns - now_ns) / (int64_t)races_left : 0;
}

/* The winner is what the A/B runs compare with the default. */
static void set_winner(struct tk_ab_trial *t, const struct tk_tune_row *row, bool no_ab)
{
	if (row->winner < row->count)
		t->test.bad.config = row->candidates[row->winner].config;
	t->is_decided = row->winner < row->count && (row->winner == 0 || no_ab);
}

static int run_races(struct tk_comparison *c, const struct tk_tune_request *q,
        struct tk_tune_report *out, struct tk_error *err)
{
	double races_s = q->ab.budget_s * (q->no_ab ? 1 : RACE_SHARE);
	int64_t end_ns = tk_clock_monotonic_ns() + (int64_t)(races_s * 1e9);
	struct tk_tune_race_worker worker = {0};
	int status = TK_OK;
	out->rows = tk_calloc(c->count + 1, sizeof *out->rows);
	tk_night_announce_stage(c->n, "race", NULL);
	for (size_t i = 0; i < c->n->device_count; i++)
		tk_night_device_stop_workers(&c->n->devices[i]);
	for (size_t i = 0; !status && i < c->count; i++) {
		struct tk_tune_row *row = &out->rows[out->count++];
		struct tk_tune_race_spec spec = {
		        .deadline_ns = race_deadline_ns(q, end_ns, c->count - i),
		        .is_exhaustive = q->is_exhaustive};
		row->ab = c->trials[i].row;
		status = tk_tune_race(c, &c->trials[i], &spec, &worker, row, err);
		if (!status)
			status = tk_comparison_check_files(c, err);
		if (!status)
			set_winner(&c->trials[i], row, q->no_ab);
		out->evaluations += row->evaluations;
		out->failed_candidates += row->failed;
	}
	tk_tune_race_worker_stop(&worker);
	return status;
}

/* ---- result ---- */

static enum tk_tune_verdict judge(const struct tk_tune_row *row, bool no_ab)
{
	if (row->count && row->winner == 0)
		return row->budget_spent ? TK_TUNE_VERDICT_INCONCLUSIVE : TK_TUNE_VERDICT_DEFAULT;
	if (row->winner < row->count && no_ab)
		return TK_TUNE_VERDICT_UNCONFIRMED;
	switch (row->ab.verdict) {
	case TK_AB_VERDICT_FASTER:
		return TK_TUNE_VERDICT_FASTER;
	case TK_AB_VERDICT_FIXED:
		return TK_TUNE_VERDICT_FIXED;
	case TK_AB_VERDICT_SLOWER:
	case TK_AB_VERDICT_NEWLY_FAILED:
		return TK_TUNE_VERDICT_SLOWER;
	case TK_AB_VERDICT_SAME:
		return row->winner < row->count ? TK_TUNE_VERDICT_SAME : TK_TUNE_VERDICT_DEFAULT;
	case TK_AB_VERDICT_FAILING:
		return TK_TUNE_VERDICT_FAILING;
	case TK_AB_VERDICT_UNSUPPORTED:
		return TK_TUNE_VERDICT_UNSUPPORTED;
	default:
		return TK_TUNE_VERDICT_INCONCLUSIVE;
	}
}

static size_t choose(const struct tk_tune_row *row)
{
	switch (row->verdict) {
	case TK_TUNE_VERDICT_FASTER:
	case TK_TUNE_VERDICT_FIXED:
	case TK_TUNE_VERDICT_UNCONFIRMED:
		return row->winner;
	case TK_TUNE_VERDICT_FAILING:
	case TK_TUNE_VERDICT_UNSUPPORTED:
		return row->count;
	default:
		return 0; /* the default; where there are no names, `count` too */
	}
}

static void write_report(const struct tk_comparison *c, bool no_ab, struct tk_tune_report *out)
{
	for (size_t i = 0; i < out->count; i++) {
		struct tk_tune_row *row = &out->rows[i];
		row->ab = c->trials[i].row;
		row->verdict = judge(row, no_ab);
		row->chosen = choose(row);
		out->by_verdict[row->verdict]++;
		out->ab.budget_spent |= row->budget_spent;
	}
}

int tk_tune(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_tune_request *q, struct tk_tune_report *out, struct tk_error *err)
{
	struct tk_ab_request request = make_request(config, q);
	struct tk_session s;
	struct tk_comparison c;
	*out = (struct tk_tune_report){0};
	int64_t started_ns = tk_clock_monotonic_ns(), started_s = tk_clock_now_s();
	int status = tk_comparison_open(config, options, &request, &out->ab, &s, &c, err);
	name_sides(&out->ab);
	if (!status)
		status = tk_comparison_prepare(&c, err);
	if (!status)
		started_ns = tk_clock_monotonic_ns(); /* the budget is for measuring */
	if (!status)
		status = run_races(&c, q, out, err);
	if (q->ab.budget_s > 0)
		request.budget_s = fmax(1e-9,
		        q->ab.budget_s - (double)(tk_clock_monotonic_ns() - started_ns) / 1e9);
	if (!status)
		status = tk_comparison_measure(&c, err);
	if (!status)
		write_report(&c, q->no_ab, out);
	out->is_complete = !status;
	if (!status && q->store)
		status = tk_tune_store(&c, q->store, started_s, out, err);
	out->ab.budget_s = q->ab.budget_s;
	out->ab.wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	tk_comparison_close(&c, &s);
	return status;
}

void tk_tune_report_free(struct tk_tune_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->rows[i].candidates);
	free(r->rows);
	tk_ab_report_free(&r->ab);
	*r = (struct tk_tune_report){0};
}
