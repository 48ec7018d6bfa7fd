/* Stage "tidy": drops artifacts and samples that the configured limits do not keep. */
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "nightly/night.h"
#include <stdlib.h>
#include <string.h>

static int64_t find_upstream_id(const struct tk_rows *revisions, int64_t revision_id)
{
	for (size_t i = 0; i < revisions->count; i++) {
		const struct tk_revision_row *r = TK_ROWS_AT(revisions, struct tk_revision_row, i);
		if (r->id == revision_id)
			return r->upstream_id;
	}
	return 0;
}

/* The key of the newest good build of an upstream; NULL: there is none. */
static const char *find_newest_key(
        const struct tk_rows *builds, const struct tk_rows *revisions, int64_t upstream_id)
{
	const char *key = NULL;
	int64_t newest_s = INT64_MIN;
	for (size_t i = 0; i < builds->count; i++) {
		const struct tk_build_row *b = TK_ROWS_AT(builds, struct tk_build_row, i);
		if (b->status != TK_BUILD_OK || b->built_s < newest_s ||
		        find_upstream_id(revisions, b->revision_id) != upstream_id)
			continue;
		key = b->artifact_key;
		newest_s = b->built_s;
	}
	return key;
}

/* The builds that changes are compared with stay in the cache: the newest good one of each
 * upstream. */
static int list_kept_keys(const struct tk_rows *builds, const struct tk_rows *revisions,
        const struct tk_rows *upstreams, const char ***keys, size_t *count, struct tk_error *err)
{
	*count = 0;
	*keys = tk_calloc(upstreams->count + 1, sizeof **keys);
	for (size_t u = 0; u < upstreams->count; u++) {
		int64_t id = TK_ROWS_AT(upstreams, struct tk_upstream_row, u)->id;
		const char *key = find_newest_key(builds, revisions, id);
		if (key)
			(*keys)[(*count)++] = key;
	}
	return TK_OK;
}

static int evict_artifacts(struct tk_night *n, struct tk_error *err)
{
	struct tk_rows builds = {0}, revisions = {0}, upstreams = {0};
	const char **keys = NULL;
	size_t count = 0;
	int status = tk_store_list(n->store, TK_TABLE_build, NULL, TK_NO_ARGS, &builds, err);
	if (!status)
		status = tk_store_list(
		        n->store, TK_TABLE_revision, NULL, TK_NO_ARGS, &revisions, err);
	if (!status)
		status = tk_store_list(
		        n->store, TK_TABLE_upstream, NULL, TK_NO_ARGS, &upstreams, err);
	if (!status)
		status = list_kept_keys(&builds, &revisions, &upstreams, &keys, &count, err);
	if (!status)
		status = tk_artifact_evict(
		        n->config->cache_dir, n->config->budgets.cache_bytes, keys, count, err);
	free(keys);
	tk_rows_free(&builds);
	tk_rows_free(&revisions);
	tk_rows_free(&upstreams);
	return status;
}

int tk_night_tidy(struct tk_night *n, struct tk_error *err)
{
	int64_t keep_s = (int64_t)n->config->keep_samples_days * 86400;
	int status = n->config->budgets.cache_bytes ? evict_artifacts(n, err) : TK_OK;
	if (!status && keep_s)
		status = tk_store_drop_samples(n->store, tk_clock_now_s() - keep_s, err);
	return status;
}
