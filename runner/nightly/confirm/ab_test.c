/* See ab_test.h. */
#include "nightly/confirm/ab_test.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/try.h"
#include "core/metric.h"
#include "core/tune.h"
#include "nightly/confirm/ab_pair.h"
#include "nightly/night.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- series, device and builds ---- */

static int read_series(struct tk_night *n, int64_t id, struct tk_ab_test *t, struct tk_error *err)
{
	int status = tk_store_list_series(n->store, &t->series_rows, err);
	if (!status)
		status = tk_store_list_problems(n->store, &t->problem_rows, err);
	for (size_t i = 0; !status && i < t->series_rows.count; i++)
		if (TK_ROWS_AT(&t->series_rows, struct tk_series_row, i)->id == id)
			t->series = *TK_ROWS_AT(&t->series_rows, struct tk_series_row, i);
	for (size_t i = 0; !status && i < t->problem_rows.count; i++)
		if (TK_ROWS_AT(&t->problem_rows, struct tk_problem_row, i)->id ==
		        t->series.problem_id)
			t->problem = *TK_ROWS_AT(&t->problem_rows, struct tk_problem_row, i);
	if (!status && !t->problem.text)
		status = tk_fail(err, TK_EDATA, "no series has the id %lld", (long long)id);
	return status;
}

static int find_device(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	for (size_t i = 0; i < n->device_count; i++)
		if (n->devices[i].device_id == t->series.device_id && !n->devices[i].lost)
			t->device = &n->devices[i];
	if (!t->device)
		return tk_fail(
		        err, TK_ENOTFOUND, "the device of %s is not present", t->series.slug);
	return TK_OK;
}

static int find_series(struct tk_night *n, int64_t id, struct tk_ab_test *t, struct tk_error *err)
{
	TRY(read_series(n, id, t, err));
	if (tk_metric_from_name(t->series.metric) != TK_METRIC_TIME)
		return tk_fail(err, TK_ENOTFOUND, "A/B runs measure times, which %s is not",
		        t->series.slug);
	return find_device(n, t, err);
}

static int copy_backend_path(
        const struct tk_artifact *a, const char *name, char **path, struct tk_error *err)
{
	for (size_t i = 0; i < a->backend_count; i++)
		if (strcmp(a->backends[i].name, name) == 0) {
			*path = tk_strdup(a->backends[i].path);
			return *path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
		}
	return tk_fail(err, TK_ENOTFOUND, "build %.12s has no backend %s", a->key, name);
}

/* The cache may have lost it, or keep a damaged one; an imported build never was there. */
static int load_artifact(
        const struct tk_night *n, const char *key, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_error why = {0};
	int status = tk_artifact_load(n->config->cache_dir, key, out, &why);
	if (status && !tk_night_is_fatal(status))
		status = TK_ENOTFOUND;
	return status ? tk_fail(err, status, "%s", why.message) : TK_OK;
}

static int open_variant(struct tk_night *n, struct tk_ab_test *t, int64_t build_id,
        const struct tk_job_setup *setup, struct tk_ab_variant *variant, struct tk_error *err)
{
	struct tk_rows builds = {0};
	struct tk_artifact *a = NULL;
	int status = tk_store_list_builds(n->store, &builds, err);
	const char *key = NULL;
	variant->build_id = build_id;
	variant->options = setup->options ? setup->options : "";
	variant->config = setup->config;
	for (size_t i = 0; !status && i < builds.count; i++)
		if (TK_ROWS_AT(&builds, struct tk_build_row, i)->id == build_id)
			key = TK_ROWS_AT(&builds, struct tk_build_row, i)->artifact_key;
	if (!status)
		status = key ? load_artifact(n, key, &a, err)
		             : tk_fail(err, TK_ENOTFOUND, "no build has the id %lld",
		                       (long long)build_id);
	if (!status)
		status = copy_backend_path(a, t->series.backend, &variant->path, err);
	if (!status)
		snprintf(variant->artifact_key, sizeof variant->artifact_key, "%s", a->key);
	tk_artifact_free(a);
	tk_rows_free(&builds);
	return status;
}

static int append_pair(struct tk_ab_test *t, const struct tk_ab_pair_row *row, struct tk_error *err)
{
	if (t->count == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 32;
		t->rows = tk_realloc(t->rows, cap * sizeof *t->rows);
		t->cap = cap;
	}
	bool timed = tk_ab_pair_is_timed(row);
	t->timed += timed;
	t->failed_in_a_row = timed ? 0 : t->failed_in_a_row + 1;
	t->wall_s += row->night_id == t->night_id ? row->wall_s : 0;
	t->rows[t->count] = *row;
	t->rows[t->count].uid = t->rows[t->count].first = t->rows[t->count].message = NULL;
	t->rows[t->count].good_outcome = t->rows[t->count].bad_outcome = NULL;
	t->count++;
	return TK_OK;
}

static int read_stored_pairs(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	struct tk_rows rows = {0};
	int status = tk_store_list_ab_pairs(n->store, t->series.id, INT64_MIN, &rows, err);
	for (size_t i = 0; !status && i < rows.count; i++) {
		const struct tk_ab_pair_row *r = TK_ROWS_AT(&rows, struct tk_ab_pair_row, i);
		if (r->good_build_id == t->good.build_id && r->bad_build_id == t->bad.build_id)
			status = append_pair(t, r, err);
	}
	t->failed_in_a_row = 0;
	tk_rows_free(&rows);
	return status;
}

int tk_ab_test_open(struct tk_night *n, const struct tk_ab_test_spec *spec, struct tk_ab_test *t,
        struct tk_error *err)
{
	*t = (struct tk_ab_test){.night_id = spec->night_id};
	int status = find_series(n, spec->series_id, t, err);
	if (!status)
		status = open_variant(n, t, spec->good_build_id, &spec->good, &t->good, err);
	if (!status)
		status = open_variant(n, t, spec->bad_build_id, &spec->bad, &t->bad, err);
	return status ? status : read_stored_pairs(n, t, err);
}

void tk_ab_test_close(struct tk_ab_test *t)
{
	tk_rows_free(&t->series_rows);
	tk_rows_free(&t->problem_rows);
	free(t->good.path);
	free(t->bad.path);
	free(t->rows);
	*t = (struct tk_ab_test){0};
}

static int copy_text(const char *text, char **out, struct tk_error *err)
{
	*out = tk_strdup(text);
	return *out ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

static int read_run(struct tk_night *n, int64_t series_id, int64_t run_id, int64_t *night_id,
        char **config, struct tk_error *err)
{
	struct tk_rows runs = {0};
	int status = tk_store_list_series_runs(n->store, series_id, &runs, err);
	*night_id = 0;
	for (size_t i = runs.count; !status && i-- > 0 && !*night_id;) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		if (run->id != run_id)
			continue;
		json_t *attributes = json_loads(run->attributes, 0, NULL);
		const char *used = json_string_value(json_object_get(attributes, TK_RUN_CONFIG));
		*night_id = run->night_id;
		status = used ? copy_text(used, config, err) : TK_OK;
		json_decref(attributes);
	}
	tk_rows_free(&runs);
	return status;
}

int tk_job_setup_load(struct tk_night *n, int64_t series_id, int64_t run_id,
        struct tk_job_setup *out, struct tk_error *err)
{
	struct tk_rows jobs = {0};
	int64_t night_id;
	*out = (struct tk_job_setup){0};
	int status = read_run(n, series_id, run_id, &night_id, &out->config, err);
	const char *found = "";
	if (!status && night_id)
		status = tk_store_list_jobs(n->store, night_id, false, &jobs, err);
	for (size_t i = 0; !status && i < jobs.count; i++)
		if (TK_ROWS_AT(&jobs, struct tk_job_row, i)->run_id == run_id)
			found = TK_ROWS_AT(&jobs, struct tk_job_row, i)->options;
	if (!status)
		status = copy_text(found, &out->options, err);
	tk_rows_free(&jobs);
	return status;
}

void tk_job_setup_free(struct tk_job_setup *s)
{
	free(s->options);
	free(s->config);
	*s = (struct tk_job_setup){0};
}

/* ---- one pair ---- */

/* Blocks of two pairs, old-new-new-old or new-old-old-new at random, so that drift cancels out. */
static bool good_is_first(const struct tk_night *n, const struct tk_ab_test *t)
{
	uint64_t block = tk_splitmix64(n->seed ^ (uint64_t)t->series.id << 32 ^ t->count / 2);
	return (block & 1) ^ (t->count & 1);
}

static int put_pair(struct tk_night *n, struct tk_ab_test *t, bool good_first, int64_t started_s,
        double wall_s, const struct tk_ab_run *good, const struct tk_ab_run *bad,
        struct tk_error *err)
{
	struct tk_ab_pair_row row = {.night_id = t->night_id,
	        .series_id = t->series.id,
	        .good_build_id = t->good.build_id,
	        .bad_build_id = t->bad.build_id,
	        .pair = (int64_t)t->count,
	        .started_s = started_s,
	        .wall_s = wall_s,
	        .first = good_first ? "good" : "bad",
	        .good_outcome = tk_outcome_name(good->outcome),
	        .bad_outcome = tk_outcome_name(bad->outcome),
	        .message = *good->message ? good->message : bad->message,
	        .good_median = good->median,
	        .bad_median = bad->median,
	        .good_min = good->min,
	        .bad_min = bad->min};
	int64_t id;
	int status = n->store ? tk_store_put_ab_pair(n->store, &row, &id, err) : TK_OK;
	return status ? status : append_pair(t, &row, err);
}

int tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	bool good_first = good_is_first(n, t);
	int64_t started_s = tk_clock_now_s(), started_ns = tk_clock_monotonic_ns();
	struct tk_ab_run good = {.variant = &t->good, .name = "good"},
	                 bad = {.variant = &t->bad, .name = "bad"};
	int status =
	        tk_ab_pair_measure(n, t, good_first ? &good : &bad, good_first ? &bad : &good, err);
	double wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	return status ? status : put_pair(n, t, good_first, started_s, wall_s, &good, &bad, err);
}
