/* The input of a bisection: the series, its upstream, and the revisions between good and bad. */
#include "base/memory.h"
#include "base/try.h"
#include "nightly/bisect/bisection.h"
#include "nightly/stages/upstream_build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
