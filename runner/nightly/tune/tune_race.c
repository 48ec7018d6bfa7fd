/* See tune_race.h. */
#include "nightly/tune/tune_race.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/try.h"
#include "core/tune_config.h"
#include "decide/rules/race.h"
#include "decide/rules/space_search.h"
#include "worker/worker.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	const struct tk_tune_race_spec *spec;
	struct tk_tune_row *row;
	struct tk_race race;
	struct tk_worker *worker;
	size_t *order; /* of a round */
	size_t round;
	bool is_space;       /* the configurations are points of a space */
	double *search_ns;   /* of each configuration in the search of the space; NAN: none */
	int64_t deadline_ns; /* of what is going on; 0: none */
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

/* Its time; NAN: none. */
static double take_result(struct search *s, size_t index, const struct tk_job_result *r)
{
	struct tk_tune_candidate *k = &s->row->candidates[index];
	double ns = r->time.median;
	k->evaluations++;
	s->row->evaluations++;
	k->outcome = r->outcome;
	snprintf(k->message, sizeof k->message, "%.255s", r->message);
	return ns > 0 ? ns : NAN;
}

/* The first run of each candidate is verified; what is wrong is an outcome and out of the race. */
static int evaluate(struct search *s, size_t index, double *ns, struct tk_error *err)
{
	struct tk_job_request q = tk_ab_test_make_request(s->c->n, &s->t->test, TK_AB_BASE);
	AUTO(tk_job_result) r = {0};
	q.config = s->row->candidates[index].config;
	q.verify = !s->row->candidates[index].evaluations;
	q.measure_s = fmin(q.measure_s, ldexp(FIRST_MEASURE_S, (int)s->round));
	TRY(tk_worker_measure(s->worker, &q, &r, err));
	*ns = take_result(s, index, &r);
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
	if (s->spec->deadline_ns)
		s->deadline_ns =
		        now_ns + (int64_t)((double)(s->spec->deadline_ns - now_ns) * SEARCH_SHARE);
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
	s->deadline_ns = s->spec->deadline_ns;
	return status;
}

/* ---- rounds ---- */

static int evaluate_contestant(struct search *s, size_t index, struct tk_error *err)
{
	struct tk_race_contestant *c = &s->race.contestants[index];
	double ns = NAN;
	int status = evaluate(s, index, &ns, err);
	if (!status && ns > 0)
		c->log_ns[c->rounds++] = log(ns);
	else
		c->is_out = true;
	return status;
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
	int status = TK_OK;
	tk_rng_seed(&rng, s->c->n->seed);
	while (!status && !s->race.is_decided && !is_late(s)) {
		status = run_round(s, &rng, err);
		tk_race_evaluate(&s->race);
		s->round++;
	}
	return status;
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
        struct tk_tune_race_worker *w, struct tk_error *err)
{
	const struct tk_ab_side *side = &test->side[TK_AB_BASE];
	struct tk_ab_worker_spec spec = {.threads = side->threads};
	if (w->worker && w->device == test->device && w->threads == spec.threads &&
	        strcmp(w->path, side->path) == 0)
		return TK_OK;
	tk_tune_race_worker_stop(w);
	w->device = test->device;
	w->path = side->path;
	w->threads = spec.threads;
	return tk_night_new_worker(c->n, test->device, &spec, &w->worker, err);
}

void tk_tune_race_worker_stop(struct tk_tune_race_worker *w)
{
	tk_worker_free(w->worker);
	w->worker = NULL;
}

/* ---- one race ---- */

int tk_tune_race(struct tk_ab_session *c, const struct tk_ab_problem *t,
        const struct tk_tune_race_spec *spec, struct tk_tune_race_worker *worker,
        struct tk_tune_row *row, struct tk_error *err)
{
	struct search s = {.c = c,
	        .t = t,
	        .spec = spec,
	        .row = row,
	        .deadline_ns = spec->deadline_ns,
	        .race = {.min_effect = c->thresholds.min_effect,
	                .is_exhaustive = spec->is_exhaustive}};
	int64_t started_ns = tk_clock_monotonic_ns();
	int status = tk_night_load_limits(c->n, t->test.device, err);
	if (!status)
		status = start_worker(c, &t->test, worker, err);
	s.worker = worker->worker;
	if (!status)
		status = list_candidates(&s, err);
	if (!status && s.is_space && row->count > SPACE_COUNT_MIN && !spec->is_exhaustive)
		status = search_space(&s, err);
	if (!status)
		status = run_rounds(&s, err);
	if (!status)
		write_row(&s);
	row->race_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	free(s.race.contestants);
	free(s.order);
	free(s.search_ns);
	return status;
}
