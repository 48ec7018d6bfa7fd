/* The input of a bisection: the series, its upstream, and the revisions between good and bad. */
#include "base/memory.h"
#include "base/try.h"
#include "nightly/bisect/bisection.h"
#include "nightly/stages/recipe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tk_series_row *find_series_row(const struct tk_rows *all, int64_t id)
{
	for (size_t i = 0; i < all->count; i++)
		if (TK_ROWS_AT(all, struct tk_series_row, i)->id == id)
			return TK_ROWS_AT(all, struct tk_series_row, i);
	return NULL;
}

static const char *find_upstream_name(const struct tk_rows *all, int64_t id)
{
	for (size_t i = 0; i < all->count; i++)
		if (TK_ROWS_AT(all, struct tk_upstream_row, i)->id == id)
			return TK_ROWS_AT(all, struct tk_upstream_row, i)->name;
	return NULL;
}

static int use_series(struct tk_bisection *b, const struct tk_series_row *series,
        const char *upstream, const struct tk_point *newest, struct tk_error *err)
{
	struct tk_bisect_report *r = b->report;
	snprintf(r->series, sizeof r->series, "%s", series->slug);
	snprintf(r->upstream, sizeof r->upstream, "%s", upstream);
	b->upstream = tk_config_find_upstream(b->n->config, upstream);
	b->night_id = newest->night_id;
	b->backend = tk_strdup(series->backend);
	b->run_id = newest->run_id;
	if (!b->upstream || !tk_upstream_kind_is_built(b->upstream->kind))
		return tk_fail(err, TK_EUSAGE,
		        "%s: upstream %s has no revisions to bisect; only the kinds git, "
		        "package and self have",
		        r->series, r->upstream);
	return TK_OK;
}

static int find_series(struct tk_bisection *b, struct tk_error *err)
{
	struct tk_rows all = {0}, upstreams = {0}, points = {0};
	int status = tk_store_list(b->n->store, TK_TABLE_series, NULL, TK_NO_ARGS, &all, err);
	if (!status)
		status = tk_store_list(
		        b->n->store, TK_TABLE_upstream, NULL, TK_NO_ARGS, &upstreams, err);
	if (!status)
		status =
		        tk_store_list_points(b->n->store, b->series_id, INT64_MIN, 1, &points, err);
	const struct tk_series_row *series = find_series_row(&all, b->series_id);
	const char *upstream = series ? find_upstream_name(&upstreams, series->upstream_id) : NULL;
	if (!status && (!upstream || !points.count))
		status = tk_fail(err, TK_EUSAGE, "this series has no measurements");
	if (!status)
		status = use_series(
		        b, series, upstream, TK_ROWS_AT(&points, struct tk_point, 0), err);
	tk_rows_free(&all);
	tk_rows_free(&upstreams);
	tk_rows_free(&points);
	return status;
}

int tk_bisection_find_ends(
        struct tk_bisection *b, const struct tk_bisect_request *q, struct tk_error *err)
{
	struct tk_repo repo;
	int status = find_series(b, err);
	if (status)
		return status;
	status = tk_recipe_check_adapter(b->n->config, b->upstream, err);
	if (status)
		return tk_error_add_context(err, "%s", b->upstream->name);
	tk_recipe_init_repo(b->n->config, b->upstream, &repo);
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
	tk_recipe_init_repo(b->n->config, b->upstream, &repo);
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
