/* See tune.h. */
#include "nightly/tune/tune.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/try.h"
#include "decide/rules/ab_result.h"
#include "nightly/plan/plan_internal.h"
#include "nightly/tune/tune_race.h"
#include "store/tuning.h"
#include <math.h>
#include <stdlib.h>

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
static void set_winner(struct tk_ab_problem *p, const struct tk_tune_row *row, bool no_ab)
{
	struct tk_ab_side *head = &p->test.side[TK_AB_HEAD];
	if (row->winner < row->count) {
		free(head->config);
		head->config = tk_strdup(row->candidates[row->winner].config);
	}
	p->is_decided = row->winner < row->count && (row->winner == 0 || no_ab);
}

static int run_race(struct tk_ab_session *c, size_t i, const struct tk_tune_request *q,
        int64_t end_ns, struct tk_tune_race_worker *worker, struct tk_tune_report *out,
        struct tk_error *err)
{
	struct tk_tune_row *row = &out->rows[out->count++];
	struct tk_tune_race_spec spec = {.deadline_ns = race_deadline_ns(q, end_ns, c->count - i),
	        .is_exhaustive = q->is_exhaustive};
	row->ab = c->problems[i].row;
	TRY(tk_tune_race(c, &c->problems[i], &spec, worker, row, err));
	TRY(tk_ab_session_check_files(c, err));
	set_winner(&c->problems[i], row, q->no_ab);
	out->evaluations += row->evaluations;
	out->failed_candidates += row->failed;
	return TK_OK;
}

static int run_races(struct tk_ab_session *c, const struct tk_tune_request *q,
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
	for (size_t i = 0; !status && i < c->count; i++)
		status = run_race(c, i, q, end_ns, &worker, out, err);
	tk_tune_race_worker_stop(&worker);
	return status;
}

/* ---- result ---- */

static enum tk_tune_verdict find_verdict(const struct tk_tune_row *row, bool no_ab)
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

static void write_report(const struct tk_ab_session *c, bool no_ab, struct tk_tune_report *out)
{
	for (size_t i = 0; i < out->count; i++) {
		struct tk_tune_row *row = &out->rows[i];
		row->ab = c->problems[i].row;
		row->verdict = find_verdict(row, no_ab);
		row->chosen = choose(row);
		out->by_verdict[row->verdict]++;
		out->ab.budget_spent |= row->budget_spent;
	}
}

/* ---- stored ---- */

static json_t *candidate_object(const struct tk_tune_candidate *k)
{
	return json_pack("{s:o, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:b}", "config",
	        tk_json_text(k->config), "outcome", tk_outcome_name(k->outcome), "message",
	        tk_json_text(k->message), "evaluations", (json_int_t)k->evaluations, "median_ns",
	        tk_json_number(k->median_ns), "slower", tk_json_number(k->slower), "lo",
	        tk_json_number(k->lo), "hi", tk_json_number(k->hi), "dropped", k->is_dropped);
}

json_t *tk_tune_candidates_json(const struct tk_tune_row *row)
{
	json_t *list = json_array();
	for (size_t i = 0; i < row->count; i++)
		json_array_append_new(list, candidate_object(&row->candidates[i]));
	return list;
}

static const char *config_of(const struct tk_tune_row *row, size_t index)
{
	return index < row->count ? row->candidates[index].config : "";
}

/* As after the colon of BACKEND:KEY=VALUE,... */
static char *format_options(const struct tk_ab_source *side)
{
	const char *options = side->options ? side->options : "";
	return side->threads
	               ? tk_sprintf("threads=%u%s%s", side->threads, *options ? "," : "", options)
	               : tk_strdup(options);
}

static int put_row(struct tk_ab_session *c, const struct tk_ab_problem *p,
        const struct tk_tune_row *row, struct tk_tuning_row *out, struct tk_error *err)
{
	const struct tk_ab_result *r = &row->ab.result;
	int64_t id;
	json_t *candidates = tk_tune_candidates_json(row);
	AUTO_TEXT text = tk_check_memory(json_dumps(candidates, JSON_COMPACT));
	json_decref(candidates);
	TRY(tk_plan_put_problem(c->n, row->ab.problem, "", "", &out->problem_id, err));
	out->device_id = p->test.device->device_id;
	out->environment_id = p->test.device->environment_id;
	out->backend = row->ab.backend;
	out->mode = row->ab.mode;
	out->verdict = row->verdict;
	out->config = config_of(row, row->chosen);
	out->winner = config_of(row, row->winner);
	out->default_ns = row->ab.level_ns[TK_AB_BASE];
	out->winner_ns = row->ab.level_ns[TK_AB_HEAD];
	out->change = r->change;
	out->change_lo = r->lo;
	out->change_hi = r->hi;
	out->pair_count = r->count;
	out->evaluation_count = (int64_t)row->evaluations;
	out->candidates = text;
	return tk_store_put(c->n->store, TK_TABLE_tuning, out, &id, err);
}

/* Rows that no configuration was listed for are left out. */
static int put_rows(struct tk_ab_session *c, int64_t started_s, const struct tk_tune_report *report,
        struct tk_error *err)
{
	const struct tk_ab_source *source = &c->source[TK_AB_BASE];
	AUTO_TEXT options = format_options(source);
	TRY(tk_night_put_machine(c->n, err));
	for (size_t i = 0; i < c->n->device_count; i++)
		TRY(tk_night_put_device(c->n, &c->n->devices[i], err));
	for (size_t i = 0; i < report->count; i++) {
		struct tk_tuning_row row = {.upstream = report->ab.upstream,
		        .revision = report->ab.side[TK_AB_BASE].revision.id,
		        .artifact_key = source->artifact->key,
		        .options = options,
		        .started_s = started_s};
		if (report->rows[i].count)
			TRY(put_row(c, &c->problems[i], &report->rows[i], &row, err));
	}
	return TK_OK;
}

/* With devices and problems, in one transaction. */
static int store(struct tk_ab_session *c, struct tk_store *s, int64_t started_s,
        const struct tk_tune_report *report, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	c->n->store = s; /* the session has none: its A/B pairs are of no night */
	int status = put_rows(c, started_s, report, err);
	c->n->store = NULL;
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}

/* ---- all of it ---- */

static int tune(struct tk_ab_session *c, struct tk_ab_request *request,
        const struct tk_tune_request *q, struct tk_tune_report *out, int64_t *started_ns,
        struct tk_error *err)
{
	TRY(tk_ab_session_prepare(c, err));
	*started_ns = tk_clock_monotonic_ns(); /* the budget is for measuring */
	TRY(run_races(c, q, out, err));
	double spent_s = (double)(tk_clock_monotonic_ns() - *started_ns) / 1e9;
	if (q->ab.budget_s > 0)
		request->budget_s = fmax(1e-9, q->ab.budget_s - spent_s);
	TRY(tk_ab_session_measure(c, err));
	write_report(c, q->no_ab, out);
	out->is_complete = true;
	return TK_OK;
}

int tk_tune(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_tune_request *q, struct tk_tune_report *out, struct tk_error *err)
{
	struct tk_ab_request request = make_request(config, q);
	struct tk_ab_session c;
	*out = (struct tk_tune_report){0};
	int64_t started_ns = tk_clock_monotonic_ns(), started_s = tk_clock_now_s();
	int status = tk_ab_session_open(config, options, &request, &out->ab, &c, err);
	name_sides(&out->ab);
	if (!status)
		status = tune(&c, &request, q, out, &started_ns, err);
	if (!status && q->store)
		status = store(&c, q->store, started_s, out, err);
	out->ab.budget_s = q->ab.budget_s;
	out->ab.wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	tk_ab_session_close(&c);
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
