/* See ab_test.h. */
#include "nightly/compare/ab_test.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/metric.h"
#include "core/tune.h"
#include "decide/rules/ab_result.h"
#include "nightly/night.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- series and device ---- */

static int read_series(struct tk_night *n, int64_t id, struct tk_ab_test *t, struct tk_error *err)
{
	TRY(tk_store_get(n->store, TK_TABLE_series, id, &t->series, err));
	return tk_store_get(n->store, TK_TABLE_problem, t->series.problem_id, &t->problem, err);
}

static int find_series(struct tk_night *n, int64_t id, struct tk_ab_test *t, struct tk_error *err)
{
	TRY(read_series(n, id, t, err));
	if (tk_metric_from_name(t->series.metric) != TK_METRIC_TIME)
		return tk_fail(err, TK_ENOTFOUND, "A/B runs measure times, which %s is not",
		        t->series.slug);
	t->device = tk_night_find_device(n, t->series.device_id);
	if (t->device && !t->device->lost)
		return TK_OK;
	return tk_fail(err, TK_ENOTFOUND, "the device of %s is not present", t->series.slug);
}

/* ---- sides ---- */

static int use_backend(struct tk_ab_side *side, const struct tk_artifact *a, const char *name,
        struct tk_error *err)
{
	for (size_t i = 0; i < a->backend_count; i++)
		if (strcmp(a->backends[i].name, name) == 0) {
			side->path = tk_strdup(a->backends[i].path);
			snprintf(side->artifact_key, sizeof side->artifact_key, "%s", a->key);
			return TK_OK;
		}
	return tk_fail(err, TK_ENOTFOUND, "build %.12s has no backend %s", a->key, name);
}

/* The cache may have lost it, or keep a damaged one; an imported build never was there. */
static int load_artifact(
        const struct tk_night *n, int64_t id, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_error why = {0};
	struct tk_build_row build;
	TRY(tk_store_get(n->store, TK_TABLE_build, id, &build, err));
	int status = tk_artifact_load(n->config->cache_dir, build.artifact_key, out, &why);
	if (status && !tk_night_is_fatal(status))
		status = TK_ENOTFOUND;
	return status ? tk_fail(err, status, "%s", why.message) : TK_OK;
}

static int load_build(struct tk_night *n, int64_t build_id, const char *backend,
        struct tk_ab_side *side, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	side->build_id = build_id;
	TRY(load_artifact(n, build_id, &a, err));
	int status = use_backend(side, a, backend, err);
	tk_artifact_free(a);
	return status;
}

/* As the run was measured. Without a run, or without a job of it because it was imported, there are
 * no options. */
static int load_setup(
        struct tk_night *n, int64_t run_id, struct tk_ab_side *side, struct tk_error *err)
{
	struct setup {
		const char *options, *config;
	};
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct setup, options), TK_MEMBER(struct setup, config)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct setup, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(n->store,
	        "SELECT j.options, CASE WHEN json_valid(r.attributes)"
	        " THEN r.attributes ->> '$." TK_RUN_CONFIG "' END AS config"
	        " FROM run r LEFT JOIN job j ON j.run_id=r.id WHERE r.id=?1",
	        TK_ARGS(run_id), &type, &rows, err));
	const struct setup *s = rows.count ? TK_ROWS_AT(&rows, struct setup, 0) : NULL;
	side->options = tk_strdup(s ? s->options : "");
	side->config = s && *s->config ? tk_strdup(s->config) : NULL;
	return TK_OK;
}

static void free_side(struct tk_ab_side *s)
{
	free(s->path);
	free(s->options);
	free(s->config);
	*s = (struct tk_ab_side){0};
}

/* ---- pairs ---- */

static void append_pair(struct tk_ab_test *t, const struct tk_ab_pair_row *row)
{
	if (t->count == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 32;
		t->rows = tk_reallocarray(t->rows, t->cap, sizeof *t->rows);
	}
	struct tk_ab_pair_row *copy = &t->rows[t->count++];
	bool timed = tk_ab_pair_is_timed(row);
	t->timed += timed;
	t->failed_in_a_row = timed ? 0 : t->failed_in_a_row + 1;
	t->wall_s += row->night_id == t->night_id ? row->wall_s : 0;
	*copy = *row;
	copy->uid = copy->first = copy->message = copy->base_outcome = copy->head_outcome = NULL;
}

static int read_stored_pairs(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_list_ab_pairs(n->store, t->series.id, INT64_MIN, &rows, err));
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_ab_pair_row *r = TK_ROWS_AT(&rows, struct tk_ab_pair_row, i);
		if (r->base_build_id == t->side[TK_AB_BASE].build_id &&
		        r->head_build_id == t->side[TK_AB_HEAD].build_id)
			append_pair(t, r);
	}
	t->failed_in_a_row = 0;
	return TK_OK;
}

int tk_ab_test_open(struct tk_night *n, int64_t night_id, int64_t series_id,
        const struct tk_ab_build builds[TK_AB_SIDES], struct tk_ab_test *t, struct tk_error *err)
{
	*t = (struct tk_ab_test){.night_id = night_id};
	TRY(find_series(n, series_id, t, err));
	for (int k = 0; k < TK_AB_SIDES; k++) {
		TRY(load_setup(n, builds[k].run_id, &t->side[k], err));
		TRY(load_build(n, builds[k].build_id, t->series.backend, &t->side[k], err));
	}
	return read_stored_pairs(n, t, err);
}

void tk_ab_test_close(struct tk_ab_test *t)
{
	tk_ab_pair_end_processes(t);
	for (int k = 0; k < TK_AB_SIDES; k++)
		free_side(&t->side[k]);
	free(t->rows);
	*t = (struct tk_ab_test){0};
}

struct tk_job_request tk_ab_test_make_request(
        struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side)
{
	const struct tk_ab_side *s = &t->side[side];
	struct tk_job_request q =
	        tk_night_job_request(n, &t->series, &t->problem, s->path, s->options);
	if (s->config)
		q.config = s->config;
	q.verify = false;
	q.limits = &t->device->limits;
	return q;
}

int tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	enum tk_ab_side_id first;
	int64_t id, started_s = tk_clock_now_s(), started_ns = tk_clock_monotonic_ns();
	struct tk_ab_run runs[TK_AB_SIDES] = {0};
	const struct tk_ab_run *base = &runs[TK_AB_BASE], *head = &runs[TK_AB_HEAD];
	TRY(tk_ab_pair_measure(n, t, &first, runs, err));
	struct tk_ab_pair_row row = {.night_id = t->night_id,
	        .series_id = t->series.id,
	        .base_build_id = t->side[TK_AB_BASE].build_id,
	        .head_build_id = t->side[TK_AB_HEAD].build_id,
	        .pair = (int64_t)t->count,
	        .started_s = started_s,
	        .wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9,
	        .first = first == TK_AB_BASE ? "base" : "head",
	        .base_outcome = tk_outcome_name(base->outcome),
	        .head_outcome = tk_outcome_name(head->outcome),
	        .message = *base->message ? base->message : head->message,
	        .base_median = base->median,
	        .head_median = head->median,
	        .base_min = base->min,
	        .head_min = head->min};
	if (n->store)
		TRY(tk_store_put(n->store, TK_TABLE_ab_pair, &row, &id, err));
	append_pair(t, &row);
	return TK_OK;
}

static struct tk_ab_result evaluate(const struct tk_ab_test *t, const struct tk_ab_goal *goal)
{
	return goal->level ? tk_ab_result_compare_level(t->rows, t->count, *goal->level)
	                   : tk_ab_result_evaluate(t->rows, t->count, goal->thresholds);
}

static bool is_finished(const struct tk_ab_test *t, const struct tk_ab_goal *goal,
        const struct tk_ab_result *result)
{
	return result->decision > TK_AB_INCONCLUSIVE || t->timed >= goal->pairs_max ||
	       t->failed_in_a_row >= TK_AB_FAILURES_MAX ||
	       (goal->deadline_ns && tk_clock_monotonic_ns() >= goal->deadline_ns);
}

int tk_ab_test_run(struct tk_night *n, struct tk_ab_test *t, const struct tk_ab_goal *goal,
        struct tk_ab_result *out, struct tk_error *err)
{
	int status = TK_OK;
	for (*out = evaluate(t, goal); !status && !is_finished(t, goal, out);
	        *out = evaluate(t, goal))
		status = tk_ab_test_run_pair(n, t, err);
	tk_ab_pair_end_processes(t);
	return status;
}
