/* See bundle_revisions.h. */
#include "nightly/stages/bundle_revisions.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/signature.h"
#include "build/build.h"
#include "config/config.h"
#include <stdlib.h>
#include <string.h>

/* Newest first; commits of the same second by position. */
static int compare_age(const void *a, const void *b)
{
	const struct tk_revision *x = a, *y = b;
	if (x->commit_time_s != y->commit_time_s)
		return x->commit_time_s < y->commit_time_s ? 1 : -1;
	if (x->position != y->position)
		return x->position < y->position ? 1 : -1;
	return strcmp(x->id, y->id);
}

static int add_revision(
        const struct tk_artifact *a, struct tk_revision *list, size_t *n, struct tk_error *err)
{
	if (!*a->commit.id)
		return tk_fail(err, TK_EDATA,
		        "the build of %s at %.12s lacks the time of its commit; build it again "
		        "with "
		        "this version",
		        a->upstream, a->revision);
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i].id, a->commit.id) == 0)
			return TK_OK; /* of two builds of one revision, the first is measured */
	list[(*n)++] = a->commit;
	return TK_OK;
}

static int import_bundle(const struct tk_config *config, const char *file, char ***keys,
        size_t *count, struct tk_error *err)
{
	size_t imported = 0;
	int status = tk_signature_verify(config->signing.allowed_signers, file, err);
	return status ? status
	              : tk_artifact_import(config->cache_dir, file, &imported, keys, count, err);
}

int tk_bundle_list_revisions(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *file, struct tk_revision **out, size_t *count, struct tk_error *err)
{
	char **keys = NULL;
	size_t key_count = 0, n = 0;
	int status = import_bundle(config, file, &keys, &key_count, err);
	if (status)
		return status;
	struct tk_revision *list = tk_calloc(key_count + 1, sizeof *list);
	for (size_t i = 0; !status && i < key_count; i++) {
		struct tk_artifact *a = NULL;
		status = tk_artifact_load(config->cache_dir, keys[i], &a, err);
		if (!status && strcmp(a->upstream, u->name) == 0)
			status = add_revision(a, list, &n, err);
		tk_artifact_free(a);
	}
	tk_names_free(keys, key_count);
	if (!status && !n)
		status = tk_fail(err, TK_ENOTFOUND, "%s has no build of %s", file, u->name);
	if (status) {
		free(list);
		return status;
	}
	qsort(list, n, sizeof *list, compare_age);
	*out = list;
	*count = n;
	return TK_OK;
}

int tk_bundle_load_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *file, const char *revision, struct tk_artifact **out, struct tk_error *err)
{
	char **keys = NULL;
	size_t count = 0;
	int status = import_bundle(config, file, &keys, &count, err);
	*out = NULL;
	for (size_t i = 0; !status && i < count && !*out; i++) {
		struct tk_artifact *a = NULL;
		status = tk_artifact_load(config->cache_dir, keys[i], &a, err);
		if (!status && strcmp(a->upstream, u->name) == 0 &&
		        strcmp(a->revision, revision) == 0)
			*out = a;
		else
			tk_artifact_free(a);
	}
	tk_names_free(keys, count);
	return status || *out ? status
	                      : tk_fail(err, TK_ENOTFOUND, "%s has no build of %s at %.12s", file,
	                                u->name, revision);
}
