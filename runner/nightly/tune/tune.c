/* See tune.h. */
#include "nightly/tune/tune.h"
#include "base/base.h"
#include "core/tune_rule.h"
#include "decide/rules/ab_result.h"
#include "decide/rules/race.h"
#include "decide/rules/space_search.h"
#include "nightly/compare/ab_session.h"
#include "nightly/plan/plan_internal.h"
#include "store/tuning.h"
#include "worker/worker.h"
#include <math.h>

/* One worker for consecutive races of a backend on a device: on a GPU a process takes about as long
 * to start as a dozen runs. Starts as zeros. */
struct race_worker {
	struct tk_worker *worker;
	const struct tk_night_device *device;
	const struct tk_ab_side *side; /* whose backend and threads it has */
};

/* ---- the race of one problem ---- */

/* Of an evaluation in the first round; it doubles with each round, because fewer are left and
 * their differences are smaller. */
#define FIRST_MEASURE_S 0.02
/* A space with more configurations is searched by a model first; the best ones that it finds race
 * each other and the default. */
#define SPACE_COUNT_MIN 24
#define FINALISTS 8
#define SEARCH_SHARE 0.6 /* of the time of a race that has a deadline */

struct search {
	struct tk_ab_session *c;
	const struct tk_ab_problem *t;
	int64_t race_deadline_ns; /* of the monotonic clock; 0: none */
	struct tk_tune_row *row;
	struct tk_race race;
	struct tk_worker *worker;
	size_t *order, round; /* of a round; its number */
	bool is_space;        /* the configurations are points of a space */
	double *search_ns;    /* of each configuration in the search of the space; NAN: none */
	int64_t deadline_ns;  /* of what is going on; 0: none */
};

static bool is_late(const struct search *s)
{
	return s->deadline_ns && tk_clock_monotonic_ns() >= s->deadline_ns;
}

/* ---- candidates ---- */

static void take_names(struct search *s, const json_t *list)
{
	size_t n = json_array_size(list);
	s->row->candidates = tk_calloc(n + 1, sizeof *s->row->candidates);
	s->race.contestants = tk_calloc(n + 1, sizeof *s->race.contestants);
	s->order = tk_calloc(n + 1, sizeof *s->order);
	s->search_ns = tk_calloc(n + 1, sizeof *s->search_ns);
	s->row->count = s->race.count = n;
	for (size_t i = 0; i < n; i++) {
		struct tk_tune_candidate *k = &s->row->candidates[i];
		*k = (struct tk_tune_candidate){.outcome = TK_OUTCOME_SKIPPED,
		        .median_ns = NAN,
		        .slower = NAN,
		        .lo = NAN,
		        .hi = NAN};
		snprintf(k->config, sizeof k->config, "%s",
		        json_string_value(json_array_get(list, i)));
		s->race.contestants[i] =
		        (struct tk_race_contestant){.slower = NAN, .lo = NAN, .hi = NAN};
		s->order[i] = i;
		s->search_ns[i] = NAN;
	}
}

/* A backend that cannot list them has none: the comparison measures its default and reports how
 * that fails. */
static int list_candidates(struct search *s, struct tk_error *err)
{
	struct tk_error why = {0};
	struct tk_job_request q = tk_ab_test_make_request(s->c->n, &s->t->test, TK_AB_BASE);
	json_auto_t *answer = NULL;
	int status = tk_worker_query_configs(s->worker, &q, &answer, &why);
	if (status == TK_ECANCELED)
		return tk_fail(err, status, "%s", why.message);
	if (status && status != TK_EUNSUPPORTED)
		tk_log(TK_LOG_WARN, "tune", NULL, "%s: the configurations cannot be listed: %s",
		        s->row->ab.title, why.message);
	json_t *list = json_object_get(answer, "configs");
	if (list && !json_array_size(list))
		json_array_append_new(list, json_string("default"));
	s->is_space = json_is_true(json_object_get(answer, "space"));
	take_names(s, list);
	return TK_OK;
}

/* ---- one run ---- */

/* *ns: its time; NAN: none. The first run of each candidate is verified; what is wrong is an
 * outcome and out of the race. */
static int evaluate(struct search *s, size_t index, double *ns, struct tk_error *err)
{
	struct tk_job_request q = tk_ab_test_make_request(s->c->n, &s->t->test, TK_AB_BASE);
	AUTO(tk_job_result) r = {0};
	struct tk_tune_candidate *k = &s->row->candidates[index];
	q.config = k->config;
	q.verify = !k->evaluations;
	q.measure_s = fmin(q.measure_s, ldexp(FIRST_MEASURE_S, (int)s->round));
	TRY(tk_worker_measure(s->worker, &q, &r, err));
	k->evaluations++;
	s->row->evaluations++;
	k->outcome = r.outcome;
	snprintf(k->message, sizeof k->message, "%.255s", r.message);
	*ns = r.time.median > 0 ? r.time.median : NAN;
	return TK_OK;
}

static void show_progress(const struct search *s)
{
	const struct tk_night_observer *o = s->c->n->options->observer;
	if (o && o->progress)
		o->progress(o->arg, s->row->evaluations, s->row->count * TK_RACE_ROUNDS_MAX,
		        s->row->ab.title);
}

/* ---- large spaces ---- */

/* The values of all configurations, point by point. */
static int list_values(
        const struct search *s, int64_t **values, size_t *dimensions, struct tk_error *err)
{
	struct tk_tune_parameter p[TK_TUNE_PARAMETERS_MAX];
	*dimensions = tk_tune_config_parse(s->row->candidates[0].config, p);
	*values = tk_calloc(s->row->count * *dimensions + 1, sizeof **values);
	for (size_t i = 0; i < s->row->count; i++) {
		const char *config = s->row->candidates[i].config;
		if (tk_tune_config_parse(config, p) != *dimensions)
			return tk_fail(err, TK_EDATA, "\"%s\" is not a point of its space", config);
		for (size_t d = 0; d < *dimensions; d++)
			(*values)[i * *dimensions + d] = p[d].value;
	}
	return TK_OK;
}

/* The others are not measured again. */
static void choose_finalists(struct search *s, const struct tk_space_search *space)
{
	size_t best[FINALISTS], count = tk_space_search_list_best(space, best, FINALISTS);
	for (size_t i = 0; i < s->race.count; i++)
		s->race.contestants[i].is_out = i != 0 || isnan(s->search_ns[0]);
	for (size_t i = 0; i < count; i++)
		s->race.contestants[best[i]].is_out = false;
}

static int search_space(struct search *s, struct tk_error *err)
{
	struct tk_space_search space = {0};
	int64_t *values = NULL, now_ns = tk_clock_monotonic_ns();
	size_t dimensions, index;
	int status = list_values(s, &values, &dimensions, err);
	if (!status)
		status = tk_space_search_open(
		        &space, values, s->row->count, dimensions, s->c->n->seed);
	if (s->race_deadline_ns)
		s->deadline_ns =
		        now_ns + (int64_t)((double)(s->race_deadline_ns - now_ns) * SEARCH_SHARE);
	while (!status && !is_late(s) && tk_space_search_next(&space, &index)) {
		show_progress(s);
		status = evaluate(s, index, &s->search_ns[index], err);
		if (!status)
			tk_space_search_put(&space, index, s->search_ns[index]);
	}
	if (!status)
		choose_finalists(s, &space);
	tk_space_search_close(&space);
	free(values);
	s->deadline_ns = s->race_deadline_ns;
	return status;
}

/* ---- rounds ---- */

static int evaluate_contestant(struct search *s, size_t index, struct tk_error *err)
{
	struct tk_race_contestant *c = &s->race.contestants[index];
	double ns = NAN;
	TRY(evaluate(s, index, &ns, err));
	if (ns > 0)
		c->log_ns[c->rounds++] = log(ns);
	else
		c->is_out = true;
	return TK_OK;
}

/* In random order, so that what drifts during a round favours nobody. */
static int run_round(struct search *s, struct tk_rng *rng, struct tk_error *err)
{
	tk_rng_shuffle(rng, s->order, s->row->count, sizeof *s->order);
	for (size_t i = 0; i < s->row->count && !is_late(s); i++) {
		show_progress(s);
		if (!s->race.contestants[s->order[i]].is_out)
			TRY(evaluate_contestant(s, s->order[i], err));
	}
	return TK_OK;
}

static int run_rounds(struct search *s, struct tk_error *err)
{
	struct tk_rng rng;
	tk_rng_seed(&rng, s->c->n->seed);
	for (; !s->race.is_decided && !is_late(s); s->round++) {
		TRY(run_round(s, &rng, err));
		tk_race_evaluate(&s->race);
	}
	return TK_OK;
}

/* ---- result ---- */

/* The median of its rounds, else that of the search. */
static double find_level(const struct search *s, size_t index)
{
	const struct tk_race_contestant *c = &s->race.contestants[index];
	return c->rounds ? exp(tk_race_level(c, c->rounds)) : s->search_ns[index];
}

static void write_row(struct search *s)
{
	struct tk_tune_row *row = s->row;
	for (size_t i = 0; i < row->count; i++) {
		const struct tk_race_contestant *c = &s->race.contestants[i];
		struct tk_tune_candidate *k = &row->candidates[i];
		bool is_timed = tk_outcome_has_timing(k->outcome);
		k->median_ns = find_level(s, i);
		k->slower = c->rounds || s->race.leader >= row->count
		                    ? c->slower
		                    : k->median_ns / find_level(s, s->race.leader) - 1;
		k->lo = c->lo;
		k->hi = c->hi;
		k->is_dropped = c->is_out && is_timed;
		row->failed += !is_timed && k->outcome != TK_OUTCOME_UNSUPPORTED &&
		               k->outcome != TK_OUTCOME_SKIPPED;
		if (is_timed || k->outcome == TK_OUTCOME_SKIPPED)
			row->exhaustive_evaluations += TK_RACE_ROUNDS_MAX;
		else
			row->exhaustive_evaluations += k->evaluations;
	}
	row->winner = s->race.leader;
	row->budget_spent = !s->race.is_decided;
}

/* ---- worker ---- */

static int start_worker(struct tk_ab_session *c, const struct tk_ab_test *test,
        struct race_worker *w, struct tk_error *err)
{
	const struct tk_ab_side *side = &test->side[TK_AB_BASE];
	struct tk_ab_worker_spec spec = {.threads = side->threads};
	if (w->worker && w->device == test->device && w->side->threads == side->threads &&
	        strcmp(w->side->path, side->path) == 0)
		return TK_OK;
	tk_worker_free(w->worker);
	*w = (struct race_worker){.device = test->device, .side = side};
	return tk_night_new_worker(c->n, test->device, &spec, &w->worker, err);
}

/* ---- one race ---- */

static int search(struct search *s, struct race_worker *worker, struct tk_error *err)
{
	TRY(tk_night_load_limits(s->c->n, s->t->test.device, err));
	TRY(start_worker(s->c, &s->t->test, worker, err));
	s->worker = worker->worker;
	TRY(list_candidates(s, err));
	if (s->is_space && s->row->count > SPACE_COUNT_MIN && !s->race.is_exhaustive)
		TRY(search_space(s, err));
	TRY(run_rounds(s, err));
	write_row(s);
	return TK_OK;
}

static int race_problem(struct tk_ab_session *c, const struct tk_ab_problem *t, int64_t deadline_ns,
        bool is_exhaustive, struct race_worker *worker, struct tk_tune_row *row,
        struct tk_error *err)
{
	struct search s = {.c = c,
	        .t = t,
	        .race_deadline_ns = deadline_ns,
	        .row = row,
	        .deadline_ns = deadline_ns,
	        .race = {.min_effect = t->test.thresholds.min_effect,
	                .is_exhaustive = is_exhaustive}};
	int64_t started_ns = tk_clock_monotonic_ns();
	int status = search(&s, worker, err);
	row->race_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	free(s.race.contestants);
	free(s.order);
	free(s.search_ns);
	return status;
}

/* ---- all of them ---- */

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

/* ---- races ---- */

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
        int64_t end_ns, struct race_worker *worker, struct tk_tune_report *out,
        struct tk_error *err)
{
	struct tk_tune_row *row = &out->rows[out->count++];
	/* each race may use its share of the time that is left for races */
	int64_t now_ns = tk_clock_monotonic_ns(),
	        share_ns = (end_ns - now_ns) / (int64_t)(c->count - i);
	row->ab = c->problems[i].row;
	TRY(race_problem(c, &c->problems[i], q->ab.budget_s > 0 ? now_ns + share_ns : 0,
	        q->is_exhaustive, worker, row, err));
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
	struct race_worker worker = {0};
	int status = TK_OK;
	out->rows = tk_calloc(c->count + 1, sizeof *out->rows);
	tk_night_announce_stage(c->n, "race", NULL);
	for (size_t i = 0; i < c->n->device_count; i++)
		tk_night_device_stop_workers(&c->n->devices[i]);
	for (size_t i = 0; !status && i < c->count; i++)
		status = run_race(c, i, q, end_ns, &worker, out, err);
	tk_worker_free(worker.worker);
	return status;
}

/* ---- result ---- */

static enum tk_tune_verdict find_verdict(const struct tk_tune_row *row, bool no_ab)
{
	static const enum tk_tune_verdict of_ab_runs[TK_AB_VERDICT_COUNT] = {
	        [TK_AB_VERDICT_FASTER] = TK_TUNE_VERDICT_FASTER,
	        [TK_AB_VERDICT_FIXED] = TK_TUNE_VERDICT_FIXED,
	        [TK_AB_VERDICT_SLOWER] = TK_TUNE_VERDICT_SLOWER,
	        [TK_AB_VERDICT_NEWLY_FAILED] = TK_TUNE_VERDICT_SLOWER,
	        [TK_AB_VERDICT_SAME] = TK_TUNE_VERDICT_SAME,
	        [TK_AB_VERDICT_FAILING] = TK_TUNE_VERDICT_FAILING,
	        [TK_AB_VERDICT_UNSUPPORTED] = TK_TUNE_VERDICT_UNSUPPORTED,
	        [TK_AB_VERDICT_INCONCLUSIVE] = TK_TUNE_VERDICT_INCONCLUSIVE,
	        [TK_AB_VERDICT_SAME_CODE] = TK_TUNE_VERDICT_INCONCLUSIVE};
	bool has_winner = row->winner < row->count;
	if (row->count && row->winner == 0)
		return row->budget_spent ? TK_TUNE_VERDICT_INCONCLUSIVE : TK_TUNE_VERDICT_DEFAULT;
	if (has_winner && no_ab)
		return TK_TUNE_VERDICT_UNCONFIRMED;
	return row->ab.verdict == TK_AB_VERDICT_SAME && !has_winner ? TK_TUNE_VERDICT_DEFAULT
	                                                            : of_ab_runs[row->ab.verdict];
}

/* The configuration to use: where there are no names, `count`. */
static size_t choose(const struct tk_tune_row *row)
{
	enum tk_tune_verdict v = row->verdict;
	bool has_won = v == TK_TUNE_VERDICT_FASTER || v == TK_TUNE_VERDICT_FIXED ||
	               v == TK_TUNE_VERDICT_UNCONFIRMED;
	bool has_none = v == TK_TUNE_VERDICT_FAILING || v == TK_TUNE_VERDICT_UNSUPPORTED;
	return has_won ? row->winner : has_none ? row->count : 0;
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

json_t *tk_tune_candidates_json(const struct tk_tune_row *row)
{
	json_t *list = json_array();
	for (size_t i = 0; i < row->count; i++) {
		const struct tk_tune_candidate *k = &row->candidates[i];
		json_array_append_new(list,
		        json_pack("{s:o, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:b}", "config",
		                tk_json_text(k->config), "outcome", tk_outcome_name(k->outcome),
		                "message", tk_json_text(k->message), "evaluations",
		                (json_int_t)k->evaluations, "median_ns",
		                tk_json_number(k->median_ns), "slower", tk_json_number(k->slower),
		                "lo", tk_json_number(k->lo), "hi", tk_json_number(k->hi), "dropped",
		                k->is_dropped));
	}
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
	json_auto_t *candidates = tk_tune_candidates_json(row);
	AUTO_TEXT text = tk_check_memory(json_dumps(candidates, JSON_COMPACT));
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
	for (int k = 0; k < TK_AB_SIDES; k++) {
		out->ab.side[k].name = k == TK_AB_BASE ? "default" : "winner";
		out->ab.side[k].option = "";
	}
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
